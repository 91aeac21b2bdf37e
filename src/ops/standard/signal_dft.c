// signal_dft.c - DFT, with its inverse and one-sided forms, and STFT: Fourier transforms of lines and of frames.
#include "ops/number.h"
#include "ops/spread.h"
#include "ops/standard/signal_fft.h"

enum { LENGTH = 1, AXIS = 2 }; // inputs of DFT

// ---- lines of numbers, real or complex

typedef struct Line { // where numbers lie in a tensor whose last dimension is 1 (real) or 2
    int64_t at, step; // of the real parts
    int     parts;
} Line;

// x = `count` numbers of the line as pairs.
static void read_line(const HoloTensor *t, Line line, int64_t count, double *x)
{
    double part[HOLO_TILE];
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        for (int p = 0; p < 2; p++) {
            if (p < line.parts) holo_read_f(t, line.at + k * line.step + p, line.step, n, part);
            for (int64_t j = 0; j < n; j++) x[2 * (k + j) + p] = p < line.parts ? part[j] : 0;
        }
    }
}

static void write_line(HoloTensor *t, Line line, int64_t count, const double *x)
{
    double part[HOLO_TILE];
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        for (int p = 0; p < line.parts; p++) {
            for (int64_t j = 0; j < n; j++) part[j] = x[2 * (k + j) + p];
            holo_write_f(t, line.at + k * line.step + p, line.step, n, part);
        }
    }
}

typedef struct Work {
    HoloFft           fft;
    const HoloTensor *x, *window; // window NULL: none
    HoloTensor       *y;
    double           *memory; // for each worker: the line, then what the transform needs
    bool              inverse, onesided;
    int64_t           have, give;           // numbers of a line read and written
    int64_t           inner;                // DFT: lines side by side
    int64_t           frames, step, length; // STFT: of frames; and of the signal
} Work;

static double *line_memory(const Work *w, int worker)
{
    return w->memory + worker * (2 * w->fft.n + w->fft.work);
}

static HoloStatus prepare(const HoloCall *call, int64_t n, Work *w)
{
    void *memory;
    HOLO_TRY(holo_fft_init(call, n, &w->fft));
    size_t workers = call->host && call->host->workers > 1 ? (size_t)call->host->workers : 1;
    HOLO_TRY(holo_call_temp(call, workers, (size_t)(2 * n + w->fft.work) * sizeof(double), &memory));
    w->memory = memory;
    return HOLO_OK;
}

static void run_all(const HoloCall *call, Work *w, int64_t lines, void (*work)(void *arg, int64_t i, int worker))
{
    enum { STEPS = 64 }; // about what a number costs
    holo_spread(call, lines, (double)lines * (double)w->fft.n * STEPS, work, w);
}

// The length of the last dimension: 1 for real numbers, 2 for complex ones.
static HoloStatus find_parts(const HoloCall *call, int *out)
{
    const HoloTensor *x    = call->in[0];
    HoloDim           last = x->dim[x->rank - 1];
    *out                   = last == 1 ? 1 : 2;
    if (last == 1 || last == 2 || holo_dim_is_symbolic(last)) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "the last size is %lld, expected 1 (real) or 2 (complex)",
                          (long long)last);
}

static bool is_onesided(const HoloCall *call, int fallback)
{
    return holo_attr_int(call, "onesided", fallback) != 0;
}

// ---- DFT

// The axis along which lines lie. *known: false where it is an input that is not known yet.
static HoloStatus find_axis(const HoloCall *call, int *out, bool *known)
{
    HoloDim axis = call->version < 20 ? holo_attr_int(call, "axis", 1) : -2;
    if (call->version >= 20 && holo_in(call, AXIS)) HOLO_TRY(holo_number_input(call, AXIS, &axis));
    *known = !holo_dim_is_symbolic(axis);
    if (!*known) return HOLO_OK;
    HOLO_TRY(holo_axis(call, axis, call->in[0]->rank, out));
    if (*out < call->in[0]->rank - 1) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "axis %lld holds the real and imaginary parts", (long long)axis);
}

static HoloStatus find_length(const HoloCall *call, int axis, HoloDim *out)
{
    bool    half = is_onesided(call, 0) && holo_attr_int(call, "inverse", 0);
    HoloDim size = call->in[0]->dim[axis];
    *out         = half ? holo_dim_mul(call->dims, holo_dim_sub(call->dims, size, 1), 2) : size;
    if (holo_in(call, LENGTH)) HOLO_TRY(holo_number_input(call, LENGTH, out));
    if (holo_dim_is_symbolic(*out) || *out > 0) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_INPUT, "the length %lld is not positive", (long long)*out);
}

static HoloStatus dft_infer(HoloCall *call)
{
    const HoloTensor *x        = call->in[0];
    bool              onesided = is_onesided(call, 0), inverse = holo_attr_int(call, "inverse", 0) != 0, known;
    int               axis, parts;
    HoloDim           dim[HOLO_MAX_RANK], length;
    HOLO_TRY(holo_expect_rank(call, 0, 2, HOLO_MAX_RANK));
    HOLO_TRY(find_parts(call, &parts));
    HOLO_TRY(find_axis(call, &axis, &known));
    if (onesided && !holo_dim_is_symbolic(x->dim[x->rank - 1]) && (parts == 2) != inverse)
        return holo_call_fail(call, HOLO_BAD_MODEL, "one-sided, it needs %s numbers", inverse ? "complex" : "real");
    for (int d = 0; d < x->rank - 1; d++) dim[d] = known ? x->dim[d] : HOLO_DIM_UNKNOWN;
    dim[x->rank - 1] = onesided && inverse ? 1 : 2;
    if (known) {
        HOLO_TRY(find_length(call, axis, &length));
        dim[axis] = length;
        if (onesided && !inverse) dim[axis] = holo_dim_add(call->dims, holo_dim_div(call->dims, length, 2), 1);
    }
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim);
}

// Where the spectrum of a real signal is real: exactly so, since angles tell 0 from -0.
static void real_ends(double *x, int64_t n)
{
    x[1] = 0;
    if (n % 2 == 0) x[n + 1] = 0;
}

// The other half of a spectrum whose signal is real.
static void mirror(double *x, int64_t n)
{
    real_ends(x, n);
    for (int64_t k = n / 2 + 1; k < n; k++) {
        x[2 * k]     = x[2 * (n - k)];
        x[2 * k + 1] = -x[2 * (n - k) + 1];
    }
}

static void dft_line(void *arg, int64_t i, int worker)
{
    const Work *w = arg;
    int64_t     n = w->fft.n, outer = i / w->inner, inside = i % w->inner;
    double     *x     = line_memory(w, worker);
    int         parts = (int)w->x->dim[w->x->rank - 1], gives = (int)w->y->dim[w->y->rank - 1];
    int64_t     used = w->inverse && w->onesided ? n / 2 + 1 : n, count = used < w->have ? used : w->have;
    memset(x, 0, (size_t)n * 2 * sizeof *x);
    read_line(w->x, (Line){(outer * w->have * w->inner + inside) * parts, w->inner * parts, parts}, count, x);
    if (w->inverse && w->onesided) mirror(x, n);
    holo_fft_run(&w->fft, w->inverse, x, x + 2 * n);
    if (parts == 1 && !w->inverse) real_ends(x, n);
    for (int64_t k = 0; k < 2 * n && w->inverse; k++) x[k] /= (double)n;
    write_line(w->y, (Line){(outer * w->give * w->inner + inside) * gives, w->inner * gives, gives}, w->give, x);
}

static HoloStatus dft_eval(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    int               axis;
    bool              known;
    HoloDim           length;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(find_axis(call, &axis, &known));
    HOLO_TRY(find_length(call, axis, &length));
    Work w = {.x        = x,
              .y        = call->out[0],
              .inverse  = holo_attr_int(call, "inverse", 0) != 0,
              .onesided = is_onesided(call, 0),
              .have     = x->dim[axis],
              .give     = call->out[0]->dim[axis],
              .inner    = holo_product(x->rank - axis - 2, x->dim + axis + 1)};
    HOLO_TRY(prepare(call, length, &w));
    run_all(call, &w, holo_product(axis, x->dim) * w.inner, dft_line);
    return HOLO_OK;
}

// ---- STFT

enum { STEP = 1, WINDOW = 2, FRAME = 3 }; // inputs

static HoloStatus frame_sizes(const HoloCall *call, HoloDim *length, HoloDim *step)
{
    const HoloTensor *window = holo_in(call, WINDOW);
    *length                  = window ? window->dim[0] : call->in[0]->dim[1];
    if (holo_in(call, FRAME)) HOLO_TRY(holo_number_input(call, FRAME, length));
    HOLO_TRY(holo_number_input(call, STEP, step));
    if (*step <= 0 && !holo_dim_is_symbolic(*step))
        return holo_call_fail(call, HOLO_BAD_INPUT, "frame_step %lld is not positive", (long long)*step);
    if (*length <= 0 && !holo_dim_is_symbolic(*length))
        return holo_call_fail(call, HOLO_BAD_INPUT, "frame_length %lld is not positive", (long long)*length);
    return HOLO_OK;
}

static HoloStatus stft_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloDim           length, step;
    int               parts;
    HOLO_TRY(holo_expect_rank(call, 0, 2, 3));
    HOLO_TRY(holo_expect_rank(call, WINDOW, 1, 1));
    HOLO_TRY(holo_expect_types(call, WINDOW, HOLO_TYPES_FLOAT));
    if (x->rank == 3) HOLO_TRY(find_parts(call, &parts)); // two dimensions: real numbers, as exporters write it
    HOLO_TRY(frame_sizes(call, &length, &step));
    HoloDim rest = holo_dim_sub(call->dims, x->dim[1], length);
    if (rest < 0 && !holo_dim_is_symbolic(rest))
        return holo_call_fail(call, HOLO_BAD_INPUT, "a frame of %lld is longer than the signal of %lld",
                              (long long)length, (long long)x->dim[1]);
    HoloDim bins   = is_onesided(call, 1) ? holo_dim_add(call->dims, holo_dim_div(call->dims, length, 2), 1) : length;
    HoloDim dim[4] = {x->dim[0], holo_dim_add(call->dims, holo_dim_div(call->dims, rest, step), 1), bins, 2};
    return holo_out_type(call, 0, (HoloDtype)x->dtype, 4, dim);
}

static void stft_frame(void *arg, int64_t i, int worker)
{
    const Work *w = arg;
    int64_t     n = w->fft.n, start = i % w->frames * w->step, batch = i / w->frames;
    double     *x = line_memory(w, worker), *scale = x + 2 * n;
    int         parts = w->x->rank == 3 ? (int)w->x->dim[2] : 1;
    int64_t     count = w->have < w->length - start ? w->have : w->length - start;
    memset(x, 0, (size_t)n * 2 * sizeof *x);
    read_line(w->x, (Line){(batch * w->length + start) * parts, parts, parts}, count, x);
    if (w->window) holo_read_f(w->window, 0, 1, count, scale);
    for (int64_t k = 0; k < 2 * count && w->window; k++) x[k] *= scale[k / 2];
    holo_fft_run(&w->fft, false, x, x + 2 * n);
    if (parts == 1) real_ends(x, n);
    write_line(w->y, (Line){i * w->give * 2, 2, 2}, w->give, x);
}

static HoloStatus stft_eval(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *window = holo_in(call, WINDOW);
    HoloTensor       *y = holo_out(call, 0);
    HoloDim           length, step;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(frame_sizes(call, &length, &step));
    Work w = {.x      = x,
              .y      = y,
              .window = window,
              .frames = y->dim[1],
              .step   = step,
              .length = x->dim[1],
              .have   = window && window->dim[0] < length ? window->dim[0] : length,
              .give   = y->dim[2]};
    HOLO_TRY(prepare(call, length, &w));
    run_all(call, &w, x->dim[0] * w.frames, stft_frame);
    return HOLO_OK;
}

const HoloOp holo_ops_signal_dft[] = {
    {.name    = "DFT",
     .domain  = "",
     .since   = 17,
     .in_min  = 1,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = dft_infer,
     .eval    = dft_eval},
    {.name    = "STFT",
     .domain  = "",
     .since   = 17,
     .in_min  = 2,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = stft_infer,
     .eval    = stft_eval},
    {0},
};
