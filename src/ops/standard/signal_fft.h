// signal_fft.h - the discrete Fourier transform of complex numbers, of any length, in O(n log n).
#ifndef HOLO_OPS_STANDARD_SIGNAL_FFT_H
#define HOLO_OPS_STANDARD_SIGNAL_FFT_H

#include "ops/op.h"

typedef struct HoloFft { // for one length; its tables live as long as the call
    int64_t       n;
    int64_t       m;              // 0: n has small prime factors only; else a power of 2, of a convolution (Bluestein)
    const double *turn;           // exp(-2 pi i k / n) or of m: 2 numbers each
    const double *chirp, *kernel; // exp(-pi i k^2 / n), and the transform of its conjugate, where m is not 0
    int64_t       work;           // numbers of memory that a run needs
} HoloFft;

HOLO_MUST HoloStatus holo_fft_init(const HoloCall *call, int64_t n, HoloFft *out); // n is at least 1

// x[k] = sum of x[j] exp(-2 pi i j k / n), for n complex numbers as pairs; the sign is + where `inverse`. Not divided
// by n.
void holo_fft_run(const HoloFft *fft, bool inverse, double *x, double *work);

#endif
