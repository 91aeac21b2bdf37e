// aten_fft.c - Fourier transforms, by ONNX's DFT, and the transforms of short frames that are made of them.
#include "import/torch/aten.h"

#include <math.h>
#include <string.h>

typedef struct Fourier {
    HoloValue *re, *im; // im NULL: real numbers
    HoloValue *count;   // of the numbers that were transformed together, [1]; NULL: known_count
    double     known_count;
} Fourier;

static HoloTv lift(HoloTorch *t, HoloValue *x)
{
    return holo_tv_tensor(t, x);
}

static HoloTv give(HoloTorch *t, const Fourier *f)
{
    return f->im ? holo_tv_complex(t, lift(t, f->re), lift(t, f->im)) : lift(t, f->re);
}

static Fourier take(HoloTorch *t, const HoloTv *v)
{
    HoloTv  re = holo_tv_part(t, v, 0), im = holo_tv_part(t, v, 1);
    Fourier f = {.re = holo_torch_real(t, &re), .known_count = 1};
    if (v->kind == HOLO_TORCH_COMPLEX) f.im = holo_torch_real(t, &im);
    return f;
}

static void note_count(HoloTorch *t, Fourier *f, int axis)
{
    int64_t known;
    if (holo_torch_size_known(f->re, axis, &known)) {
        f->known_count *= (double)known;
    } else {
        HoloValue *size = holo_torch_dim(t, f->re, axis);
        f->count        = f->count ? OP2("Mul", f->count, size) : size;
    }
}

// The pairs of DFT's result.
static void part(HoloTorch *t, HoloValue *pairs, Fourier *f)
{
    int last = holo_torch_rank(t, pairs) - 1;
    f->re    = holo_torch_gather(t, pairs, holo_emit_int(t->e, 0), last);
    f->im    = holo_torch_gather(t, pairs, holo_emit_int(t->e, 1), last);
}

static void dft(HoloTorch *t, Fourier *f, int axis, bool is_inverse, bool is_half)
{
    int        rank = holo_torch_rank(t, f->re);
    HoloValue *x    = holo_torch_unsqueeze(t, f->re, rank);
    if (f->im) x = holo_torch_concat(t, (HoloValue *[]){x, holo_torch_unsqueeze(t, f->im, rank)}, 2, rank);
    x = holo_emit(t->e, "DFT", HOLO_IN(x, NULL, holo_emit_int(t->e, axis)),
                  HOLO_ATTRS(holo_with_int("inverse", is_inverse), holo_with_int("onesided", is_half)));
    part(t, x, f);
}

// Cut off, or filled with zeros, to n numbers.
static HoloValue *fit_one(HoloTorch *t, HoloValue *x, int axis, int64_t n)
{
    int64_t have, pads[2 * HOLO_MAX_RANK] = {0};
    int     rank = holo_torch_rank(t, x);
    if (!holo_torch_size_known(x, axis, &have))
        return holo_emit_fail(t->e, HOLO_UNSUPPORTED,
                              "a Fourier transform of %lld numbers along a size that only a run knows", (long long)n);
    if (have >= n) return have == n ? x : holo_emit_slice(t->e, x, axis, 0, n, 1);
    pads[rank + axis] = n - have;
    return holo_emit(t->e, "Pad", HOLO_IN(x, holo_emit_ints(t->e, pads, 2 * rank)), NULL);
}

static void fit(HoloTorch *t, Fourier *f, int axis, const HoloTv *n)
{
    if (n->kind != HOLO_TORCH_INT || n->i < 0) return; // left out, or the size that it has, which only a run knows
    f->re = fit_one(t, f->re, axis, n->i);
    if (f->im) f->im = fit_one(t, f->im, axis, n->i);
}

// The second half of a spectrum of real numbers is the first one, turned and with other signs.
static void real_from_half(HoloTorch *t, Fourier *f, int axis, const HoloTv *n)
{
    int64_t    one  = 1;
    HoloValue *zero = holo_emit_ints(t->e, &(int64_t){0}, 1), *last, *two = holo_emit_int(t->e, 2), *tail[2];
    bool       is_known = n->kind == HOLO_TORCH_INT && n->i >= 0;
    HoloTv     half     = holo_tv_int(is_known ? n->i / 2 + 1 : -1);
    fit(t, f, axis, &half);
    if (!f->im) f->im = OP2("Sub", f->re, f->re);
    HoloValue *count = is_known ? holo_emit_ints(t->e, &n->i, 1)
                       : n->kind == HOLO_TORCH_NUMBER
                           ? holo_torch_size1(t, n)
                           : OP2("Mul", OP2("Sub", holo_torch_dim(t, f->re, axis), holo_emit_ints(t->e, &one, 1)), two);
    last             = OP2("Div", OP2("Sub", count, holo_emit_ints(t->e, &one, 1)), two);
    tail[0]          = holo_torch_slice(t, f->re, axis, last, zero, -1);
    tail[1]          = OP1("Neg", holo_torch_slice(t, f->im, axis, last, zero, -1));
    f->re            = holo_torch_concat(t, (HoloValue *[]){f->re, tail[0]}, 2, axis);
    f->im            = holo_torch_concat(t, (HoloValue *[]){f->im, tail[1]}, 2, axis);
    note_count(t, f, axis);
    dft(t, f, axis, true, false);
    f->im = NULL;
}

static void scale_by(HoloTorch *t, Fourier *f, double power)
{
    HoloValue *number = NUM(f->re, pow(f->known_count, power));
    if (power == 0) return;
    if (f->count) {
        HoloValue *count = holo_emit_cast(t->e, holo_torch_scalar_of(t, f->count), DTYPE(f->re));
        number           = OP2("Mul", number, OP2("Pow", count, NUM(f->re, power)));
    }
    f->re = OP2("Mul", f->re, number);
    if (f->im) f->im = OP2("Mul", f->im, number);
}

// ---- the transforms of torch.fft

typedef enum FourierKind { BOTH, TO_HALF, TO_REAL } FourierKind;

typedef struct FourierForm {
    FourierKind kind;
    int         dims;       // 1, 2, or 0: all
    bool        is_inverse; // for norm
    bool        is_turned;  // hfft and ihfft: the imaginary parts change their signs
} FourierForm;

static int axes_of(HoloTorch *t, const HoloTv *a, const FourierForm *form, int rank, int *axes)
{
    int64_t given[2 * HOLO_MAX_RANK];
    int     count = holo_torch_ints(t, &a[2], given), sizes = holo_tv_is_list(&a[1]) ? a[1].list->count : 0;
    if (!count) {
        count = form->dims ? form->dims : sizes ? sizes : rank;
        for (int i = 0; i < count; i++) given[i] = i - count;
    }
    for (int i = 0; i < count && !t->e->status; i++) {
        HoloTv axis = holo_tv_int(given[i]);
        axes[i]     = holo_torch_axis(t, &axis, 0, rank);
    }
    return t->e->status ? 0 : count;
}

static HoloTv size_of(const HoloTv *sizes, int i)
{
    if (holo_tv_is_list(sizes)) return i < sizes->list->count ? sizes->list->item[i] : (HoloTv){0};
    return i ? (HoloTv){0} : *sizes;
}

static double norm_power(HoloTorch *t, const HoloTv *norm, bool is_inverse)
{
    if (holo_torch_text_is(t, norm, "backward", "ortho")) return -0.5;
    return holo_torch_text_is(t, norm, "backward", "forward") == is_inverse ? 0 : -1;
}

// self, n or s, dim, norm
static void transform(HoloTorch *t, const HoloTv *a, const FourierForm *form, HoloTv *out)
{
    Fourier f     = take(t, &a[0]);
    int     rank  = holo_torch_rank(t, f.re), axes[2 * HOLO_MAX_RANK];
    int     count = axes_of(t, a, form, rank, axes), last = count - 1;
    bool    is_up     = form->kind == TO_REAL || (form->kind == BOTH && form->is_inverse); // ONNX's inverse divides
    HoloTv  last_size = size_of(&a[1], last);
    if (!count) return (void)(*out = a[0]);
    if (form->is_turned && f.im) f.im = OP1("Neg", f.im);
    if (form->kind == TO_HALF) {
        fit(t, &f, axes[last], &last_size);
        note_count(t, &f, axes[last]);
        dft(t, &f, axes[last], false, true);
    }
    for (int i = form->kind == BOTH ? last : last - 1; i >= 0 && !t->e->status; i--) {
        HoloTv size = size_of(&a[1], i);
        fit(t, &f, axes[i], &size);
        note_count(t, &f, axes[i]);
        dft(t, &f, axes[i], is_up, false);
    }
    if (form->kind == TO_REAL) real_from_half(t, &f, axes[last], &last_size);
    if (form->is_turned && f.im) f.im = OP1("Neg", f.im);
    bool is_inverse = form->kind == BOTH ? form->is_inverse : (form->kind == TO_REAL) != form->is_turned;
    scale_by(t, &f, norm_power(t, &a[3], is_inverse) + is_up);
    *out = give(t, &f);
}

#define FORM(f, ...)                                       \
    ANY(f)                                                 \
    {                                                      \
        transform(t, a, &(FourierForm){__VA_ARGS__}, out); \
    }
FORM(fft, .kind = BOTH, .dims = 1)
FORM(fft2, .kind = BOTH, .dims = 2)
FORM(fftn, .kind = BOTH, .dims = 0)
FORM(ifft, .kind = BOTH, .dims = 1, .is_inverse = true)
FORM(ifft2, .kind = BOTH, .dims = 2, .is_inverse = true)
FORM(ifftn, .kind = BOTH, .dims = 0, .is_inverse = true)
FORM(rfft, .kind = TO_HALF, .dims = 1)
FORM(rfft2, .kind = TO_HALF, .dims = 2)
FORM(rfftn, .kind = TO_HALF, .dims = 0)
FORM(irfft, .kind = TO_REAL, .dims = 1)
FORM(irfft2, .kind = TO_REAL, .dims = 2)
FORM(irfftn, .kind = TO_REAL, .dims = 0)
FORM(hfft, .kind = TO_REAL, .dims = 1, .is_turned = true)
FORM(hfft2, .kind = TO_REAL, .dims = 2, .is_turned = true)
FORM(hfftn, .kind = TO_REAL, .dims = 0, .is_turned = true)
FORM(ihfft, .kind = TO_HALF, .dims = 1, .is_turned = true)
FORM(ihfft2, .kind = TO_HALF, .dims = 2, .is_turned = true)
FORM(ihfftn, .kind = TO_HALF, .dims = 0, .is_turned = true)

// ---- what decomposed programs have: normalization is 0 (none), 1 (by the root) or 2 (by the count)

static void plain(HoloTorch *t, const HoloTv *a, FourierKind kind, bool is_inverse, HoloTv size, HoloTv *out)
{
    static const char *const norms[2][3] = {{"backward", "ortho", "forward"}, {"forward", "ortho", "backward"}};
    int64_t                  mode        = holo_torch_int(t, &a[2], 0);
    HoloTv                   sizes       = {0}, args[4];
    if (mode < 0 || mode > 2)
        return (void)holo_emit_fail(t->e, HOLO_BAD_MODEL, "a transform of normalization %d", (int)mode);
    if (holo_tv_is_list(&a[1]) && size.kind != HOLO_TORCH_NONE) {
        sizes = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL);
        for (int i = 0; i < a[1].list->count - 1; i++) holo_tv_append(t, sizes.list, holo_tv_int(-1));
        holo_tv_append(t, sizes.list, size);
    }
    args[0] = a[0], args[1] = sizes, args[2] = a[1];
    args[3] = holo_tv_text(norms[kind == TO_REAL || is_inverse][mode]);
    transform(t, args, &(FourierForm){.kind = kind, .is_inverse = is_inverse}, out);
}

ANY(fft_r2c)
{
    plain(t, a, holo_torch_bool(t, &a[3], true) ? TO_HALF : BOTH, false, (HoloTv){0}, out);
}

ANY(fft_c2c)
{
    plain(t, a, BOTH, !holo_torch_bool(t, &a[3], true), (HoloTv){0}, out);
}

ANY(fft_c2r)
{
    plain(t, a, TO_REAL, true, a[3], out);
}

// ---- frequencies, and spectra with the middle first

static HoloValue *steps(HoloTorch *t, const HoloTv *a, bool is_half)
{
    int64_t n = holo_torch_int(t, &a[0], 0), from = is_half ? 0 : -(n / 2);
    double  d = holo_torch_float(t, &a[1], 1);
    HOLO_TORCH_CHECK(t, n > 0, "frequencies of %lld numbers", (long long)n);
    HoloDtype  dtype = holo_torch_dtype(t, &a[2], HOLO_F32);
    HoloValue *low   = holo_emit(
          t->e, "Range",
          HOLO_IN(holo_emit_int(t->e, 0), holo_emit_int(t->e, is_half ? n / 2 + 1 : (n + 1) / 2), holo_emit_int(t->e, 1)),
          NULL);
    HoloValue *high =
        from ? holo_emit(t->e, "Range",
                         HOLO_IN(holo_emit_int(t->e, from), holo_emit_int(t->e, 0), holo_emit_int(t->e, 1)), NULL)
             : NULL;
    if (high) low = holo_torch_concat(t, (HoloValue *[]){low, high}, 2, 0);
    low = holo_emit_cast(t->e, low, dtype);
    return OP2("Div", low, NUM(low, (double)n * d));
}

ONE(fftfreq)
{
    return steps(t, a, false);
}

ONE(rfftfreq)
{
    return steps(t, a, true);
}

static HoloValue *shift(HoloTorch *t, const HoloTv *a, int up)
{
    HoloValue *x    = V(0);
    int        rank = holo_torch_rank(t, x);
    int64_t    axes[2 * HOLO_MAX_RANK], size;
    int        count = holo_torch_axes(t, &a[1], rank, axes);
    HoloTv     by = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL), dims = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL);
    for (int i = 0; i < count && !t->e->status; i++) {
        HOLO_TORCH_CHECK(t, holo_torch_size_known(x, (int)axes[i], &size),
                         "fftshift along a size that only a run knows");
        holo_tv_append(t, by.list, holo_tv_int((size + up) / 2));
        holo_tv_append(t, dims.list, holo_tv_int(axes[i]));
    }
    HoloTv args[3] = {a[0], by, dims}, out = holo_torch_apply(t, "roll", 3, args);
    return holo_torch_value(t, &out);
}

ONE(fftshift)
{
    return shift(t, a, 0);
}

ONE(ifftshift)
{
    return shift(t, a, 1);
}

// ---- short frames

enum { SIGNAL, N_FFT, HOP, WIN, WINDOW }; // the first parameters of stft and istft

// The window in the middle of n_fft numbers; NULL: there is none.
static HoloValue *window_of(HoloTorch *t, const HoloTv *a, int64_t n, HoloDtype dtype)
{
    int64_t    win = holo_torch_int(t, &a[WIN], n), left = (n - win) / 2;
    HoloValue *window = V(WINDOW);
    HOLO_TORCH_CHECK(t, win > 0 && win <= n, "a window of %lld numbers for frames of %lld", (long long)win,
                     (long long)n);
    if (!window) {
        if (win == n) return NULL;
        window = holo_torch_expand(t, holo_emit_number(t->e, dtype, 1), holo_emit_ints(t->e, &win, 1));
    }
    window = holo_emit_cast(t->e, window, dtype);
    if (win == n) return window;
    int64_t pads[2] = {left, n - win - left};
    return holo_emit(t->e, "Pad", HOLO_IN(window, holo_emit_ints(t->e, pads, 2)), NULL);
}

// ... normalized onesided return_complex align_to_window center pad_mode
ANY(stft)
{
    Fourier f = take(t, &a[SIGNAL]);
    int64_t n = holo_torch_int(t, &a[N_FFT], 1), hop = holo_torch_int(t, &a[HOP], n / 4);
    int     rank = holo_torch_rank(t, f.re);
    if (f.im || n < 1 || hop < 1 || rank < 1 || rank > 2)
        return (void)holo_emit_fail(t->e, HOLO_UNSUPPORTED, "stft of %s with %d dimensions",
                                    f.im ? "complex numbers" : "numbers", rank);
    HoloTv x = lift(t, f.re);
    if (holo_torch_bool(t, &a[9], false)) {
        HoloTv by      = holo_tv_list(t, HOLO_TORCH_LIST, 2, (HoloTv[]){holo_tv_int(n / 2), holo_tv_int(n / 2)});
        HoloTv args[3] = {x, by, holo_tv_is_none(&a[10]) ? holo_tv_text("reflect") : a[10]};
        x              = holo_torch_apply(t, "pad", 3, args);
    }
    HoloTv frames[4] = {x, holo_tv_int(-1), holo_tv_int(n), holo_tv_int(hop)};
    x                = holo_torch_apply(t, "unfold", 4, frames);
    if (t->e->status) return;
    f.re              = holo_torch_value(t, &x);
    HoloValue *window = window_of(t, a, n, DTYPE(f.re));
    if (window) f.re = OP2("Mul", f.re, window);
    dft(t, &f, rank, false, holo_torch_bool(t, &a[6], true));
    f.known_count = (double)n;
    if (holo_torch_bool(t, &a[5], false)) scale_by(t, &f, -0.5);
    f.re = holo_torch_swap(t, f.re, rank - 1, rank);
    f.im = holo_torch_swap(t, f.im, rank - 1, rank);
    *out = give(t, &f);
    if (!holo_torch_bool(t, &a[7], false)) *out = holo_tv_pairs(t, out);
}

// Sums the frames where they lie on each other: [batch, frames, n] to [batch, n + hop * (frames - 1)].
static HoloValue *lay(HoloTorch *t, HoloValue *frames, int64_t n, int64_t hop)
{
    int64_t    one = 1, kernel[2] = {1, n}, strides[2] = {1, hop}, all[2] = {0, -1};
    HoloValue *count = OP2("Sub", holo_torch_dim(t, frames, 1), holo_emit_ints(t->e, &one, 1));
    HoloValue *size  = OP2("Add", OP2("Mul", count, holo_emit_int(t->e, hop)), holo_emit_ints(t->e, &n, 1));
    size             = holo_torch_concat(t, (HoloValue *[]){holo_emit_ints(t->e, &one, 1), size}, 2, 0);
    HoloValue *y =
        holo_emit(t->e, "Col2Im", HOLO_IN(holo_torch_swap(t, frames, 1, 2), size, holo_emit_ints(t->e, kernel, 2)),
                  HOLO_ATTRS(holo_with_ints("strides", strides, 2)));
    return holo_emit_reshape(t->e, y, all, 2);
}

// The part of the signal that is asked for.
static HoloValue *cut(HoloTorch *t, const HoloTv *a, HoloValue *y, int64_t n, bool is_centered)
{
    int64_t    start = is_centered ? n / 2 : 0, have;
    HoloValue *from  = holo_emit_ints(t->e, &start, 1), *to;
    if (holo_tv_is_none(&a[8])) {
        to = OP2("Sub", holo_torch_dim(t, y, 1), from);
    } else {
        to = OP2("Add", holo_torch_size1(t, &a[8]), from);
        if (a[8].kind == HOLO_TORCH_INT && holo_torch_size_known(y, 1, &have) && a[8].i + start > have) {
            int64_t pads[4] = {0, 0, 0, a[8].i + start - have};
            y               = holo_emit(t->e, "Pad", HOLO_IN(y, holo_emit_ints(t->e, pads, 4)), NULL);
        }
    }
    return holo_torch_slice(t, y, 1, from, to, 1);
}

// ... center normalized onesided length return_complex
ONE(istft)
{
    Fourier f = take(t, &a[SIGNAL]);
    int64_t n = holo_torch_int(t, &a[N_FFT], 1), hop = holo_torch_int(t, &a[HOP], n / 4);
    int     rank = holo_torch_rank(t, f.re);
    HOLO_TORCH_CHECK(t, f.im && n > 0 && hop > 0 && (rank == 2 || rank == 3) && !holo_torch_bool(t, &a[9], false),
                     "istft of %d dimensions, or that gives complex numbers", rank);
    if (rank == 2) f.re = holo_torch_unsqueeze(t, f.re, 0), f.im = holo_torch_unsqueeze(t, f.im, 0);
    f.re = holo_torch_swap(t, f.re, 1, 2), f.im = holo_torch_swap(t, f.im, 1, 2);
    HoloTv count = holo_tv_int(n);
    if (holo_torch_bool(t, &a[7], true))
        real_from_half(t, &f, 2, &count);
    else
        dft(t, &f, 2, true, false);
    f.known_count = (double)n, f.count = NULL, f.im = NULL;
    if (holo_torch_bool(t, &a[6], false)) scale_by(t, &f, 0.5);
    HoloValue *window = window_of(t, a, n, DTYPE(f.re)), *zero = OP2("Mul", f.re, NUM(f.re, 0));
    if (window) f.re = OP2("Mul", f.re, window);
    HoloValue *weight = OP2("Add", zero, window ? OP2("Mul", window, window) : NUM(f.re, 1));
    HoloValue *y = lay(t, f.re, n, hop), *sum = lay(t, weight, n, hop);
    bool       is_centered = holo_torch_bool(t, &a[5], true);
    sum = cut(t, a, sum, n, is_centered), y = cut(t, a, y, n, is_centered);
    sum = holo_torch_where(t, OP2("Greater", sum, NUM(sum, 1e-11)), sum, NUM(sum, 1));
    y   = OP2("Div", y, sum);
    return rank == 2 ? holo_torch_squeeze(t, y, 0) : y;
}

#define COMPLEX_MANY(n, p, f)                                           \
    {                                                                   \
        .name = n, .params = p, .any = f, .flags = HOLO_TORCH_COMPLEXES \
    }
#define COMPLEX_ROW(n, p, f, ...)                     \
    {                                                 \
        .name = n, .params = p, .one = f, __VA_ARGS__ \
    }
const HoloTorchOp holo_torch_ffts[] = {
    COMPLEX_MANY("fft_fft", "self n dim norm", fft),
    COMPLEX_MANY("fft_fft2", "self s dim norm", fft2),
    COMPLEX_MANY("fft_fftn", "self s dim norm", fftn),
    COMPLEX_MANY("fft_ifft", "self n dim norm", ifft),
    COMPLEX_MANY("fft_ifft2", "self s dim norm", ifft2),
    COMPLEX_MANY("fft_ifftn", "self s dim norm", ifftn),
    COMPLEX_MANY("fft_rfft", "self n dim norm", rfft),
    COMPLEX_MANY("fft_rfft2", "self s dim norm", rfft2),
    COMPLEX_MANY("fft_rfftn", "self s dim norm", rfftn),
    COMPLEX_MANY("fft_irfft", "self n dim norm", irfft),
    COMPLEX_MANY("fft_irfft2", "self s dim norm", irfft2),
    COMPLEX_MANY("fft_irfftn", "self s dim norm", irfftn),
    COMPLEX_MANY("fft_hfft", "self n dim norm", hfft),
    COMPLEX_MANY("fft_hfft2", "self s dim norm", hfft2),
    COMPLEX_MANY("fft_hfftn", "self s dim norm", hfftn),
    COMPLEX_MANY("fft_ihfft", "self n dim norm", ihfft),
    COMPLEX_MANY("fft_ihfft2", "self s dim norm", ihfft2),
    COMPLEX_MANY("fft_ihfftn", "self s dim norm", ihfftn),
    COMPLEX_MANY("_fft_r2c", "self dim normalization onesided", fft_r2c),
    COMPLEX_MANY("_fft_c2c", "self dim normalization forward", fft_c2c),
    COMPLEX_MANY("_fft_c2r", "self dim normalization last_dim_size", fft_c2r),
    COMPLEX_ROW("fft_fftfreq", "n d dtype", fftfreq),
    COMPLEX_ROW("fft_rfftfreq", "n d dtype", rfftfreq),
    COMPLEX_ROW("fft_fftshift", "self dim", fftshift),
    COMPLEX_ROW("fft_ifftshift", "self dim", ifftshift),
    COMPLEX_MANY(
        "stft",
        "self n_fft hop_length win_length window normalized onesided return_complex align_to_window center pad_mode",
        stft),
    COMPLEX_ROW("istft", "self n_fft hop_length win_length window center normalized onesided length return_complex",
                istft, .flags = HOLO_TORCH_COMPLEXES),
    {0},
};
