// mel.c - spectrograms as Whisper's feature extractor makes them: windows of Hann's form around each hop, with the sound
// reflected at both ends; powers gathered by triangles that are even in mels (Slaney's scale and norm); logarithms, of
// which the lowest are cut off 8 below the highest, moved and scaled.
#include "sound/sound.h"

#include <math.h>
#include <string.h>

struct HoloMel {
    HoloMelOptions o;
    int            bins; // frequencies of a window
    double        *hann;
    float         *filters; // [mels, bins]
    HoloFourier   *fourier;
    double        *work; // a window, and its powers
};

// ---- the scale: linear up to 1000 Hz, then logarithmic

static double mel_of(double hz)
{
    return hz < 1000 ? hz * 3 / 200 : 15 + log(hz / 1000) * 27 / log(6.4);
}

static double hz_of(double mel)
{
    return mel < 15 ? mel * 200 / 3 : 1000 * exp((mel - 15) * log(6.4) / 27);
}

// Triangles from each place of the scale to the next but one, each with the same area.
static void filters_fill(HoloMel *mel)
{
    double top = mel_of(mel->o.rate / 2.0), step = top / (mel->o.mels + 1);
    for (int m = 0; m < mel->o.mels; m++) {
        double left = hz_of(m * step), middle = hz_of((m + 1) * step), right = hz_of((m + 2) * step);
        for (int i = 0; i < mel->bins; i++) {
            double hz = (double)i * mel->o.rate / mel->o.window;
            double up = (hz - left) / (middle - left), down = (right - hz) / (right - middle);
            double height                                           = fmax(0, fmin(up, down)) * 2 / (right - left);
            mel->filters[(size_t)m * (size_t)mel->bins + (size_t)i] = (float)height;
        }
    }
}

HoloStatus holo_mel_create(const HoloMelOptions *o, HoloMel **out, HoloError *error)
{
    enum { WINDOW_MAX = 1 << 14, MELS_MAX = 1024 };
    *out = NULL;
    if (o->window < 4 || o->window > WINDOW_MAX || o->hop < 1 || o->hop > o->window || o->mels < 1 ||
        o->mels > MELS_MAX || o->rate < HOLO_SOUND_RATE_MIN || o->rate > HOLO_SOUND_RATE_MAX)
        return holo_fail(
            error, HOLO_BAD_INPUT,
            "a spectrogram of %d mels, windows of %d samples every %d, at %d samples a second, cannot be made", o->mels,
            o->window, o->hop, o->rate);
    HoloMel *mel = holo_realloc(NULL, sizeof *mel);
    if (!mel) return holo_fail_memory(error);
    *mel              = (HoloMel){.o = *o, .bins = o->window / 2 + 1};
    mel->hann         = holo_realloc(NULL, (size_t)o->window * sizeof *mel->hann);
    mel->filters      = holo_realloc(NULL, (size_t)o->mels * (size_t)mel->bins * sizeof *mel->filters);
    mel->work         = holo_realloc(NULL, ((size_t)o->window + (size_t)mel->bins) * sizeof *mel->work);
    HoloStatus status = mel->hann && mel->filters && mel->work ? HOLO_OK : holo_fail_memory(error);
    if (!status) status = holo_fourier_create(o->window, &mel->fourier, error);
    if (status) {
        holo_mel_destroy(mel);
        return status;
    }
    for (int i = 0; i < o->window; i++) mel->hann[i] = 0.5 - 0.5 * cos(2 * 3.14159265358979323846 * i / o->window);
    filters_fill(mel);
    *out = mel;
    return HOLO_OK;
}

void holo_mel_destroy(HoloMel *mel)
{
    if (!mel) return;
    holo_fourier_destroy(mel->fourier);
    holo_free(mel->hann);
    holo_free(mel->filters);
    holo_free(mel->work);
    holo_free(mel);
}

// ---- a sound

// The sample at a place of a sound of `length`, which is silent behind `count` and reflected outside.
static double sample_at(const float *samples, size_t count, int64_t length, int64_t at)
{
    if (at < 0) at = -at;
    if (at >= length) at = 2 * (length - 1) - at;
    return at >= 0 && (size_t)at < count ? (double)samples[at] : 0;
}

// The logarithms of all mels of one frame, to out[m * frames]. Returns the largest.
static double frame_run(const HoloMel *mel, const float *samples, size_t count, int frame, int frames, float *out)
{
    int64_t length = (int64_t)frames * mel->o.hop, from = (int64_t)frame * mel->o.hop - mel->o.window / 2;
    double *window = mel->work, *powers = mel->work + mel->o.window, most = -1e30;
    for (int i = 0; i < mel->o.window; i++) window[i] = mel->hann[i] * sample_at(samples, count, length, from + i);
    holo_fourier_powers(mel->fourier, window, powers);
    for (int m = 0; m < mel->o.mels; m++) {
        const float *filter = mel->filters + (size_t)m * (size_t)mel->bins;
        double       sum    = 0;
        for (int i = 0; i < mel->bins; i++) sum += (double)filter[i] * powers[i];
        double logarithm                = log10(fmax(sum, 1e-10));
        out[(size_t)m * (size_t)frames] = (float)logarithm;
        most                            = fmax(most, logarithm);
    }
    return most;
}

HoloStatus holo_mel_run(const HoloMel *mel, const float *samples, size_t count, int frames, float *out,
                        HoloError *error)
{
    double most = -1e30;
    if (frames < 1 || (int64_t)frames * mel->o.hop <= mel->o.window / 2)
        return holo_fail(error, HOLO_BAD_INPUT, "a spectrogram of %d frames is too short", frames);
    for (int i = 0; i < frames; i++) most = fmax(most, frame_run(mel, samples, count, i, frames, out + i));
    for (size_t i = 0; i < (size_t)mel->o.mels * (size_t)frames; i++)
        out[i] = (float)((fmax((double)out[i], most - 8) + 4) / 4);
    return HOLO_OK;
}
