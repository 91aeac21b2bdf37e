// fourier.c - the discrete Fourier transform of any number of real numbers, factor by factor (Cooley and Tukey, 1965).
#include "sound/sound.h"

#include <math.h>

typedef struct Complex {
    double re, im;
} Complex;

struct HoloFourier {
    int      count;
    Complex *turn; // the count-th roots of 1
    Complex *work; // the result, and room for one step
};

HoloStatus holo_fourier_create(int count, HoloFourier **out, HoloError *error)
{
    HoloFourier *f = holo_realloc(NULL, sizeof *f);
    *out           = NULL;
    if (!f) return holo_fail_memory(error);
    *f      = (HoloFourier){.count = count};
    f->turn = holo_realloc(NULL, (size_t)count * sizeof *f->turn);
    f->work = holo_realloc(NULL, 2 * (size_t)count * sizeof *f->work);
    if (!f->turn || !f->work) {
        holo_fourier_destroy(f);
        return holo_fail_memory(error);
    }
    for (int i = 0; i < count; i++) {
        double angle = -2 * 3.14159265358979323846 * i / count;
        f->turn[i]   = (Complex){cos(angle), sin(angle)};
    }
    *out = f;
    return HOLO_OK;
}

void holo_fourier_destroy(HoloFourier *f)
{
    if (!f) return;
    holo_free(f->turn);
    holo_free(f->work);
    holo_free(f);
}

static int factor_of(int n)
{
    for (int p = 2; p * p <= n; p++)
        if (n % p == 0) return p;
    return n;
}

// The transform of n numbers that are `stride` apart. `room` holds n numbers. It goes as deep as n has factors.
static void transform(const HoloFourier *f, const double *in, int n, int stride, Complex *out, Complex *room)
{
    int p = factor_of(n), m = n / p, step = f->count / n;
    if (n == 1) {
        out[0] = (Complex){in[0], 0};
        return;
    }
    for (int r = 0; r < p; r++)
        transform(f, in + (size_t)r * stride, m, stride * p, room + (size_t)r * m, out + (size_t)r * m);
    for (int k = 0; k < n; k++) {
        Complex sum = room[k % m];
        for (int r = 1; r < p; r++) {
            Complex a = room[r * m + k % m], t = f->turn[(int64_t)r * k % n * step];
            sum.re += a.re * t.re - a.im * t.im;
            sum.im += a.re * t.im + a.im * t.re;
        }
        out[k] = sum;
    }
}

void holo_fourier_powers(HoloFourier *f, const double *in, double *out_powers)
{
    transform(f, in, f->count, 1, f->work, f->work + f->count);
    for (int i = 0; i <= f->count / 2; i++)
        out_powers[i] = f->work[i].re * f->work[i].re + f->work[i].im * f->work[i].im;
}
