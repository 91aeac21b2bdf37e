// import_sound.c - spectrograms, and coefficients of their logarithms in bands (MFCC), as TensorFlow computes them.
#include "import/import_sound.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { WINDOW_MAX = 1 << 20, BANDS_MAX = 4096 };

static HoloValue *two(HoloEmit *e, const char *op, HoloValue *a, HoloValue *b)
{
    return holo_emit(e, op, HOLO_IN(a, b), NULL);
}

static HoloValue *num(HoloEmit *e, double x)
{
    return holo_emit_number(e, HOLO_F64, x);
}

static HoloValue *numbers(HoloEmit *e, HoloDtype dtype, double *data, int64_t rows, int64_t columns)
{
    HoloTensor t = {.dtype = HOLO_F64, .rank = rows ? 2 : 1, .dim = {rows ? rows : columns, columns}, .data = data};
    return holo_emit_cast(e, holo_emit_constant(e, NULL, &t), dtype);
}

// Frames are as long as the window; a transform is as long as the next power of two, with zeros behind the window.
HoloValue *holo_sound_spectrogram(HoloEmit *e, HoloValue *x, int64_t window, int64_t stride, bool is_squared)
{
    int64_t swap[] = {1, 0}, last = -1, length = 1;
    if (e->status) return NULL;
    if (holo_emit_rank(x) != 2 || window < 2 || window > WINDOW_MAX || stride < 1 || stride > WINDOW_MAX)
        return holo_emit_fail(e, HOLO_BAD_MODEL, "the samples should have 2 dimensions, or the window is wrong");
    while (length < window) length *= 2;
    double *hann = HOLO_NEW(e->import->arena, double, length);
    if (!hann) return holo_emit_fail(e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int64_t i = 0; i < window; i++) hann[i] = 0.5 - 0.5 * cos(2 * PI * (double)i / (double)window);
    int64_t pads[] = {0, 0, 0, length - window};
    x              = two(e, "Pad", holo_emit_transpose(e, x, swap, 2), holo_emit_ints(e, pads, 4));
    x              = holo_emit(e, "STFT",
                               HOLO_IN(holo_emit_unsqueeze(e, x, &last, 1), holo_emit_int(e, stride),
                                       numbers(e, HOLO_F32, hann, 0, length), holo_emit_int(e, length)),
                               NULL);
    x              = holo_emit(e, "ReduceSumSquare", HOLO_IN(x, holo_emit_ints(e, &last, 1)),
                               HOLO_ATTRS(holo_with_int("keepdims", 0)));
    return is_squared ? x : holo_emit(e, "Sqrt", HOLO_IN(x), NULL);
}

static double mel_of(double frequency)
{
    return 1127 * log1p(frequency / 700);
}

// How much each bin counts in each band, [bins, bands]: bands are triangles between three neighbors of `center`, which are
// equally far from each other in mel. Bin 0, and bins outside of the frequencies, count nowhere.
static HoloValue *bands_of(HoloEmit *e, HoloDim bins, HoloValue *rate, const HoloSoundMel *mel)
{
    int64_t    column = 1;
    double     low = mel_of(mel->low), step = (mel_of(mel->high) - low) / (double)(mel->bands + 1);
    HoloValue *hz  = two(e, "Div", holo_emit_cast(e, rate, HOLO_F64), num(e, 2 * (double)(bins - 1)));
    HoloValue *bin = holo_emit(e, "Range", HOLO_IN(num(e, 0), num(e, (double)bins), num(e, 1)), NULL);
    HoloValue *first =
        holo_emit(e, "Floor", HOLO_IN(two(e, "Add", two(e, "Div", num(e, mel->low), hz), num(e, 1.5))), NULL);
    HoloValue *end   = holo_emit(e, "Floor", HOLO_IN(two(e, "Div", num(e, mel->high), hz)), NULL);
    HoloValue *is_in = two(e, "And", two(e, "GreaterOrEqual", bin, first), two(e, "LessOrEqual", bin, end));
    HoloValue *f     = two(e, "Add", two(e, "Div", two(e, "Mul", bin, hz), num(e, 700)), num(e, 1));
    // Where a bin lies between two centers: 0 is the lower limit, 1 the first center.
    HoloValue *at    = two(e, "Mul", holo_emit(e, "Log", HOLO_IN(f), NULL), num(e, 1127 / step));
    at               = two(e, "Sub", at, num(e, low / step));
    HoloValue *band  = holo_emit(e, "Range", HOLO_IN(num(e, 1), num(e, (double)mel->bands + 1), num(e, 1)), NULL);
    HoloValue *far   = two(e, "Sub", holo_emit_unsqueeze(e, at, &column, 1), band);
    HoloValue *share = two(e, "Max", two(e, "Sub", num(e, 1), holo_emit(e, "Abs", HOLO_IN(far), NULL)), num(e, 0));
    share = holo_emit(e, "Where", HOLO_IN(holo_emit_unsqueeze(e, is_in, &column, 1), share, num(e, 0)), NULL);
    return holo_emit_cast(e, share, HOLO_F32);
}

HoloValue *holo_sound_mfcc(HoloEmit *e, HoloValue *x, HoloValue *rate, const HoloSoundMel *mel)
{
    int64_t all = -1;
    if (e->status) return NULL;
    HoloDim bins = holo_emit_rank(x) == 3 ? x->type.dim[2] : HOLO_DIM_UNKNOWN;
    if (holo_dim_is_symbolic(bins) || bins < 2 || mel->bands < 1 || mel->bands > BANDS_MAX || mel->coefficients < 1 ||
        mel->coefficients > mel->bands || !(mel->low >= 0 && mel->high > mel->low))
        return holo_emit_fail(e, HOLO_BAD_MODEL, "the number of bins must be known, and its options right");
    double *dct = HOLO_NEW(e->import->arena, double, mel->bands * mel->coefficients);
    if (!dct) return holo_emit_fail(e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int64_t k = 0; k < mel->bands; k++)
        for (int64_t i = 0; i < mel->coefficients; i++)
            dct[k * mel->coefficients + i] =
                sqrt(2.0 / (double)mel->bands) * cos((double)i * PI / (double)mel->bands * ((double)k + 0.5));
    rate = holo_emit_reshape(e, rate, &all, 1);
    x    = two(e, "MatMul", holo_emit(e, "Sqrt", HOLO_IN(x), NULL), bands_of(e, bins, rate, mel));
    x    = holo_emit(e, "Log", HOLO_IN(two(e, "Max", x, holo_emit_number(e, HOLO_F32, 1e-12))), NULL);
    return two(e, "MatMul", x, numbers(e, HOLO_F32, dct, mel->bands, mel->coefficients));
}
