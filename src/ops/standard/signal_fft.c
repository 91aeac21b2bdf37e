// signal_fft.c - mixed radix for lengths with small prime factors, Bluestein's convolution for the rest.
#include "ops/standard/signal_fft.h"
#include "base/math/math.h"

#include <math.h>
#include <string.h>

enum { RADIX_MAX = 61 }; // sums over a factor up to this are taken plainly

static int64_t smallest_factor(int64_t n)
{
    for (int64_t p = 2; p <= RADIX_MAX; p++)
        if (n % p == 0) return p;
    return 0;
}

static bool is_smooth(int64_t n)
{
    while (n > 1) {
        int64_t p = smallest_factor(n);
        if (!p) return false;
        n /= p;
    }
    return true;
}

static inline void multiply(const double *a, const double *b, double *out)
{
    double re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    out[0] = re;
    out[1] = im;
}

// Joins p transforms of length m, lying one after another in x, to one of length p * m. `step` is how far apart in
// the table of turns the roots of p * m are.
static void butterfly(const double *turn, int64_t step, int64_t p, int64_t m, double *x)
{
    double t[2 * RADIX_MAX];
    for (int64_t k = 0; k < m; k++) {
        for (int64_t q = 0; q < p; q++) multiply(x + 2 * (q * m + k), turn + 2 * (q * k * step), t + 2 * q);
        for (int64_t r = 0; r < p; r++) {
            double re = 0, im = 0;
            for (int64_t q = 0, at = 0; q < p; q++) {
                const double *w = turn + 2 * (at * m * step); // at is q * r modulo p
                re += t[2 * q] * w[0] - t[2 * q + 1] * w[1];
                im += t[2 * q] * w[1] + t[2 * q + 1] * w[0];
                at += r;
                if (at >= p) at -= p;
            }
            x[2 * (r * m + k)]     = re;
            x[2 * (r * m + k) + 1] = im;
        }
    }
}

static void butterfly2(const double *turn, int64_t step, int64_t m, double *x)
{
    for (int64_t k = 0; k < m; k++) {
        double *a = x + 2 * k, *b = x + 2 * (m + k), t[2];
        multiply(b, turn + 2 * k * step, t);
        b[0] = a[0] - t[0];
        b[1] = a[1] - t[1];
        a[0] += t[0];
        a[1] += t[1];
    }
}

// The transform of n numbers of `in`, `stride` apart, to `out`. Each call divides n: the depth is at most 62.
static void transform(const double *turn, int64_t n, int64_t stride, const double *in, double *out)
{
    if (n == 1) {
        memcpy(out, in, 2 * sizeof *out);
        return;
    }
    int64_t p = smallest_factor(n), m = n / p;
    for (int64_t q = 0; q < p; q++) transform(turn, m, stride * p, in + 2 * q * stride, out + 2 * q * m);
    if (p == 2)
        butterfly2(turn, stride, m, out);
    else
        butterfly(turn, stride, p, m, out);
}

static HoloStatus make_turns(const HoloCall *call, int64_t n, double **out)
{
    void *memory;
    HOLO_TRY(holo_call_temp(call, (size_t)n, 2 * sizeof(double), &memory));
    double *turn = memory;
    for (int64_t k = 0; k < n; k++) {
        turn[2 * k]     = holo_cos(2 * M_PI * (double)k / (double)n);
        turn[2 * k + 1] = -holo_sin(2 * M_PI * (double)k / (double)n);
    }
    *out = turn;
    return HOLO_OK;
}

// jk = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution with the chirp, which a transform of length m
// does.
static HoloStatus init_chirp(const HoloCall *call, HoloFft *fft)
{
    void   *chirp_memory, *padded_memory, *kernel_memory;
    int64_t n = fft->n, m = fft->m;
    HOLO_TRY(holo_call_temp(call, (size_t)n, 2 * sizeof(double), &chirp_memory));
    HOLO_TRY(holo_call_temp(call, (size_t)m, 2 * sizeof(double), &padded_memory));
    HOLO_TRY(holo_call_temp(call, (size_t)m, 2 * sizeof(double), &kernel_memory));
    double *chirp = chirp_memory, *padded = padded_memory;
    int64_t square = 0; // k^2 modulo 2n
    for (int64_t k = 0; k < n; k++) {
        double angle     = M_PI * (double)square / (double)n;
        chirp[2 * k]     = holo_cos(angle);
        chirp[2 * k + 1] = -holo_sin(angle);
        for (int side = 0; side < 2; side++) {
            double *to = padded + 2 * (side && k ? m - k : k);
            to[0]      = chirp[2 * k];
            to[1]      = -chirp[2 * k + 1];
        }
        square = (square + 2 * k + 1) % (2 * n);
    }
    transform(fft->turn, m, 1, padded, kernel_memory);
    fft->chirp  = chirp;
    fft->kernel = kernel_memory;
    return HOLO_OK;
}

HoloStatus holo_fft_init(const HoloCall *call, int64_t n, HoloFft *out)
{
    double *turn;
    if (n > INT64_MAX >> 8) return holo_fail_memory(call->error);
    *out = (HoloFft){.n = n, .work = 2 * n};
    if (!is_smooth(n)) {
        for (out->m = 1; out->m < 2 * n - 1;) out->m *= 2;
        out->work = 4 * out->m;
    }
    HOLO_TRY(make_turns(call, out->m ? out->m : n, &turn));
    out->turn = turn;
    return out->m ? init_chirp(call, out) : HOLO_OK;
}

static void conjugate(double *x, int64_t n)
{
    for (int64_t k = 0; k < n; k++) x[2 * k + 1] = -x[2 * k + 1];
}

static void convolve(const HoloFft *fft, double *x, double *work)
{
    double *a = work, *b = work + 2 * fft->m;
    memset(a, 0, (size_t)fft->m * 2 * sizeof *a);
    for (int64_t k = 0; k < fft->n; k++) multiply(x + 2 * k, fft->chirp + 2 * k, a + 2 * k);
    transform(fft->turn, fft->m, 1, a, b);
    for (int64_t k = 0; k < fft->m; k++) multiply(b + 2 * k, fft->kernel + 2 * k, b + 2 * k);
    conjugate(b, fft->m); // the inverse is the conjugate of the transform of the conjugate, divided by m
    transform(fft->turn, fft->m, 1, b, a);
    for (int64_t k = 0; k < fft->n; k++) {
        double back[2] = {a[2 * k] / (double)fft->m, -a[2 * k + 1] / (double)fft->m};
        multiply(back, fft->chirp + 2 * k, x + 2 * k);
    }
}

void holo_fft_run(const HoloFft *fft, bool inverse, double *x, double *work)
{
    if (inverse) conjugate(x, fft->n);
    if (fft->m) {
        convolve(fft, x, work);
    } else {
        memcpy(work, x, (size_t)fft->n * 2 * sizeof *x);
        transform(fft->turn, fft->n, 1, work, x);
    }
    if (inverse) conjugate(x, fft->n);
}
