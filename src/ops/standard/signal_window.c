// signal_window.c - tensors made from a few numbers: HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix.
#include "base/math/math.h"
#include "ops/number.h"

#include <math.h>

// A size that input i gives: a number, an expression or HOLO_DIM_UNKNOWN.
static HoloStatus find_size(const HoloCall *call, int i, HoloDim *out)
{
    HOLO_TRY(holo_number_input(call, i, out));
    if (*out >= 0 || holo_dim_is_symbolic(*out)) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_INPUT, "input %d is %lld, expected at least 0", i, (long long)*out);
}

// ---- windows: sums of cosines over one turn

typedef struct Window {
    double cosine[3]; // of 0, 1 and 2 times the angle
} Window;

static const Window hann     = {{0.5, -0.5, 0}};
static const Window hamming  = {{25.0 / 46, -21.0 / 46, 0}};
static const Window blackman = {{0.42, -0.5, 0.08}};

static HoloStatus window_infer(HoloCall *call)
{
    HoloDtype dtype;
    HoloDim   size;
    HOLO_TRY(holo_attr_dtype(call, "output_datatype", HOLO_F32, HOLO_TYPES_NUMBER, &dtype));
    HOLO_TRY(find_size(call, 0, &size));
    return holo_out_type(call, 0, dtype, 1, &size);
}

static HoloStatus window_eval(HoloCall *call)
{
    HoloTensor   *y      = holo_out(call, 0);
    const Window *window = call->op->row;
    if (!y) return HOLO_OK;
    int64_t size = y->dim[0], turn = holo_attr_int(call, "periodic", 1) ? size : size - 1;
    for (int64_t start = 0; start < size; start += HOLO_TILE) {
        double  x[HOLO_TILE];
        int64_t count = size - start < HOLO_TILE ? size - start : HOLO_TILE;
        for (int64_t k = 0; k < count; k++) {
            double angle = 2 * M_PI * (double)(start + k) / (double)turn;
            x[k] = window->cosine[0] + window->cosine[1] * holo_cos(angle) + window->cosine[2] * holo_cos(2 * angle);
            if (turn == 0) x[k] = 1; // a symmetric window of one number is its middle
        }
        holo_write_f(y, start, 1, count, x);
    }
    return HOLO_OK;
}

// ---- MelWeightMatrix: triangles over the bins of a spectrum, equally spaced in mel

enum { BINS, LENGTH, RATE, LOWER, UPPER }; // inputs

static HoloStatus mel_infer(HoloCall *call)
{
    HoloDtype dtype;
    HoloDim   bins, length, rate;
    HOLO_TRY(holo_attr_dtype(call, "output_datatype", HOLO_F32, HOLO_TYPES_NUMBER, &dtype));
    HOLO_TRY(find_size(call, BINS, &bins));
    HOLO_TRY(find_size(call, LENGTH, &length));
    HOLO_TRY(find_size(call, RATE, &rate));
    HOLO_TRY(holo_expect_types(call, LOWER, HOLO_TYPES_FLOAT));
    HOLO_TRY(holo_expect_types(call, UPPER, HOLO_TYPES_FLOAT));
    HoloDim dim[2] = {holo_dim_add(call->dims, holo_dim_div(call->dims, length, 2), 1), bins};
    return holo_out_type(call, 0, dtype, 2, dim);
}

static HoloStatus find_hertz(const HoloCall *call, int i, double *out)
{
    if (!holo_in(call, i) || holo_tensor_count(call->in[i]) != 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "input %d is not one number", i);
    *out = holo_get_f(call->in[i], 0);
    if (*out >= 0 && isfinite(*out)) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_INPUT, "the edge %g is not a frequency", *out);
}

// Column `band` of the matrix: up from `low` to `middle`, down to `high`.
static void write_triangle(HoloTensor *y, int64_t band, double low, double middle, double high)
{
    int64_t rows = y->dim[0], first = low > 0 ? (int64_t)fmin(low, (double)rows) : 0;
    for (int64_t j = first; j < rows && (double)j <= fmax(middle, high - 1); j++) {
        double at   = (double)j;
        double up   = middle > low ? (at - low) / (middle - low) : 1,
               down = high > middle ? (high - at) / (high - middle) : 1;
        holo_put_f(y, j * y->dim[1] + band, at <= middle ? up : down);
    }
}

static HoloStatus mel_eval(HoloCall *call)
{
    HoloTensor *y = holo_out(call, 0);
    double      lower, upper;
    HoloDim     length, rate;
    if (!y) return HOLO_OK;
    HOLO_TRY(find_hertz(call, LOWER, &lower));
    HOLO_TRY(find_hertz(call, UPPER, &upper));
    HOLO_TRY(find_size(call, LENGTH, &length));
    HOLO_TRY(find_size(call, RATE, &rate));
    if (rate == 0) return holo_call_fail(call, HOLO_BAD_INPUT, "the sample rate is 0");
    holo_fill(call, y, NULL);
    double from = 2595 * holo_log10(1 + lower / 700), to = 2595 * holo_log10(1 + upper / 700);
    double step = (to - from) / ((double)y->dim[1] + 2), edge[3];
    for (int64_t band = 0; band < y->dim[1]; band++) {
        for (int i = 0; i < 3; i++) {
            double hertz = 700 * (holo_pow(10, ((double)(band + i) * step + from) / 2595) - 1);
            edge[i]      = floor(((double)length + 1) * hertz / (double)rate);
        }
        write_triangle(y, band, edge[0], edge[1], edge[2]);
    }
    return HOLO_OK;
}

#define WINDOW(NAME, ROW)                                                                              \
    {                                                                                                  \
        .name = NAME, .domain = "", .since = 17, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_INDEX, .infer = window_infer, .eval = window_eval, .row = &ROW             \
    }

const HoloOp holo_ops_signal_window[] = {
    WINDOW("HannWindow", hann),
    WINDOW("HammingWindow", hamming),
    WINDOW("BlackmanWindow", blackman),
    {.name    = "MelWeightMatrix",
     .domain  = "",
     .since   = 17,
     .in_min  = 5,
     .in_max  = 5,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_INDEX,
     .infer   = mel_infer,
     .eval    = mel_eval},
    {0},
};
