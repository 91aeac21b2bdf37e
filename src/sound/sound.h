// sound.h - sounds: WAV files as samples, other rates, and the spectrograms that models of speech read. Knows no model.
#ifndef HOLO_SOUND_H
#define HOLO_SOUND_H

#include "base/base.h"

enum { HOLO_SOUND_RATE_MIN = 1000, HOLO_SOUND_RATE_MAX = 768000 };

typedef struct HoloWave { // of one channel, mostly from -1 to 1; free `at` with holo_free
    float *at;
    size_t count;
    int    rate; // samples a second
} HoloWave;

// Reads a WAV file: PCM of 8, 16, 24 or 32 bits, or floats of 32 or 64, any number of channels, which are mixed.
HOLO_MUST HoloStatus holo_wav_read(const void *bytes, size_t size, HoloWave *out, HoloError *error);
// The same sound at another rate. What is too high for the new rate is filtered out.
HOLO_MUST HoloStatus holo_sound_resample(const HoloWave *from, int rate, HoloWave *out, HoloError *error);

// How Whisper hears: powers of short windows, gathered in mels, as logarithms.
typedef struct HoloMelOptions {
    int rate, window, hop; // samples a second, of a window, and from window to window
    int mels;
} HoloMelOptions;
typedef struct HoloMel HoloMel; // tables for that

HOLO_MUST HoloStatus holo_mel_create(const HoloMelOptions *options, HoloMel **out, HoloError *error);
void                 holo_mel_destroy(HoloMel *mel); // accepts NULL
// The first `frames` windows of a sound, [mels, frames]. Behind its end the sound is silent.
HOLO_MUST HoloStatus holo_mel_run(const HoloMel *mel, const float *samples, size_t count, int frames, float *out,
                                  HoloError *error);

// The power of each frequency of `count` real numbers, count / 2 + 1 of them.
typedef struct HoloFourier HoloFourier;
HOLO_MUST HoloStatus       holo_fourier_create(int count, HoloFourier **out, HoloError *error);
void                       holo_fourier_destroy(HoloFourier *fourier);
void                       holo_fourier_powers(HoloFourier *fourier, const double *in, double *out_powers);

#endif
