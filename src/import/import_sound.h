// import_sound.h - operators on sounds that TensorFlow and TensorFlow Lite share.
#ifndef HOLO_IMPORT_IMPORT_SOUND_H
#define HOLO_IMPORT_IMPORT_SOUND_H

#include "import/emit.h"

// AudioSpectrogram: samples [count, channels] to magnitudes [channels, frames, bins], or to their squares.
HoloValue *holo_sound_spectrogram(HoloEmit *e, HoloValue *x, int64_t window, int64_t stride, bool is_squared);

typedef struct HoloSoundMel {
    double  low, high; // frequencies
    int64_t bands, coefficients;
} HoloSoundMel;

// Mfcc: squares of magnitudes [channels, frames, bins] to [channels, frames, coefficients]. The rate of the samples has one
// element.
HoloValue *holo_sound_mfcc(HoloEmit *e, HoloValue *x, HoloValue *rate, const HoloSoundMel *mel);

#endif
