// wav.c - fuzzes the reader of WAV files, and what is done with their samples.
#include "hologram_text.h"
#include "sound/sound.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloError       error = {0};
    float          *samples;
    size_t          count;
    volatile double sum  = 0;
    int             rate = size ? data[size - 1] & 1 ? 16000 : 0 : 0;
    if (size > 1 << 16) return 0;
    HoloStatus status = holo_sound_read_memory(data, size, rate, &samples, &count, &error);
    if (status && (!error.text[0] || samples)) abort(); // a failure comes with words
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(samples[i])) abort();
        sum += (double)samples[i];
    }
    holo_samples_free(samples);
    return 0;
}
