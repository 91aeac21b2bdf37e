// resample.c - a sound at another rate: each new sample is a sum of old ones around it, weighted by a sinc under a window.
#include "sound/sound.h"

#include <math.h>

enum { ZEROS = 24, STEPS = 512 }; // zeros of the sinc on a side; entries of its table between two of them

// The sinc from 0 to ZEROS under half a Hann window, and one entry more.
static float *table_make(void)
{
    const double pi    = 3.14159265358979323846;
    float       *table = holo_realloc(NULL, (ZEROS * STEPS + 2) * sizeof *table);
    for (int i = 0; table && i < ZEROS * STEPS + 2; i++) {
        double x = (double)i / STEPS, window = 0.5 + 0.5 * cos(pi * x / ZEROS);
        table[i] = x >= ZEROS ? 0 : (float)(i ? sin(pi * x) / (pi * x) * window : 1);
    }
    return table;
}

static float weight_of(const float *table, double x)
{
    double at = fabs(x) * STEPS;
    if (at >= ZEROS * STEPS) return 0;
    int   i    = (int)at;
    float part = (float)(at - i);
    return table[i] + part * (table[i + 1] - table[i]);
}

// The new sample at `place`, counted in old samples. `low` is how much of the old frequencies the new rate has room for.
static float sample_at(const HoloWave *from, const float *table, double place, double low)
{
    double  reach = ZEROS / low, sum = 0;
    int64_t first = (int64_t)ceil(place - reach), last = (int64_t)floor(place + reach);
    if (first < 0) first = 0;
    if (last >= (int64_t)from->count) last = (int64_t)from->count - 1;
    for (int64_t i = first; i <= last; i++)
        sum += (double)from->at[i] * (double)weight_of(table, (place - (double)i) * low);
    return (float)(sum * low);
}

HoloStatus holo_sound_resample(const HoloWave *from, int rate, HoloWave *out, HoloError *error)
{
    double ratio = (double)from->rate / rate, low = ratio > 1 ? 1 / ratio : 1;
    *out          = (HoloWave){.rate = rate};
    size_t count  = (size_t)((double)from->count / ratio);
    float *table  = table_make();
    out->at       = holo_realloc(NULL, count * sizeof *out->at + 1);
    bool is_ready = table && out->at;
    for (size_t i = 0; i < count && is_ready; i++) out->at[i] = sample_at(from, table, (double)i * ratio, low);
    holo_free(table);
    if (is_ready) {
        out->count = count;
        return HOLO_OK;
    }
    holo_free(out->at);
    *out = (HoloWave){0};
    return holo_fail_memory(error);
}
