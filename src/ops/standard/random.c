// random.c - random tensors, and Dropout.
//
// The attribute `seed` seeds the generator, or a fixed number if there is none: the same model gives the same numbers
// in every run. Other libraries give other numbers.
#include "base/bits.h"
#include "base/math/math.h"
#include "ops/op.h"

#include <math.h>
#include <string.h>

static HoloRandom generator(const HoloCall *call)
{
    double     seed   = holo_attr_float(call, "seed", (double)holo_attr_int(call, "seed", 0)); // of Dropout an integer
    HoloRandom random = {holo_bits_of_f64(seed) ^ UINT64_C(0x486F6C6F6772616D)};
    holo_random_next(&random); // seeds that are near give numbers that are not
    return random;
}

// ---- numbers of a distribution: RandomNormal, RandomUniform, and the same with the shape of an input

typedef struct Distribution {
    double (*draw)(HoloRandom *random, double a, double b);
    const char *a, *b; // attributes
    double      a_default, b_default;
} Distribution;

static double draw_normal(HoloRandom *random, double mean, double scale)
{
    return mean + scale * holo_random_normal(random);
}

static double draw_uniform(HoloRandom *random, double low, double high)
{
    return low + (high - low) * holo_random_unit(random);
}

static HoloStatus fill_infer(HoloCall *call)
{
    const HoloTensor *like = holo_in(call, 0);
    HoloDtype         dtype;
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_attr_dtype(call, "dtype", like ? like->dtype : HOLO_F32, HOLO_TYPES_FLOAT, &dtype));
    if (like) return holo_out_shape_like(call, 0, dtype, like);
    int rank = holo_attr_ints(call, "shape", dim, HOLO_MAX_RANK);
    if (rank < 0 || rank > HOLO_MAX_RANK)
        return holo_call_fail(call, HOLO_BAD_MODEL, "shape is missing or has more than %d sizes", HOLO_MAX_RANK);
    for (int i = 0; i < rank; i++)
        if (dim[i] < 0) return holo_call_fail(call, HOLO_BAD_MODEL, "shape has a negative size");
    return holo_out_type(call, 0, dtype, rank, dim);
}

static HoloStatus fill_eval(HoloCall *call)
{
    HoloTensor         *out = holo_out(call, 0);
    const Distribution *d   = call->op->row;
    double              a = holo_attr_float(call, d->a, d->a_default), b = holo_attr_float(call, d->b, d->b_default);
    HoloRandom          random = generator(call);
    if (!out) return HOLO_OK;
    double  x[HOLO_TILE];
    int64_t count = holo_tensor_count(out);
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        HOLO_TRY(holo_call_continue(call));
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        for (int64_t j = 0; j < n; j++) x[j] = d->draw(&random, a, b);
        holo_write_f(out, k, 1, n, x);
    }
    return HOLO_OK;
}

// ---- Bernoulli: 1 with the probability that the input gives

static HoloStatus bernoulli_infer(HoloCall *call)
{
    HoloDtype dtype;
    uint64_t  types = HOLO_TYPES_NUMBER | HOLO_BIT(BOOL);
    HOLO_TRY(holo_attr_dtype(call, "dtype", call->in[0]->dtype, types, &dtype));
    return holo_out_shape_like(call, 0, dtype, call->in[0]);
}

static HoloStatus bernoulli_eval(HoloCall *call)
{
    const HoloTensor *in     = call->in[0];
    HoloTensor       *out    = holo_out(call, 0);
    HoloRandom        random = generator(call);
    if (!out) return HOLO_OK;
    double  x[HOLO_TILE];
    int64_t count = holo_tensor_count(in);
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        HOLO_TRY(holo_call_continue(call));
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        holo_read_f(in, k, 1, n, x);
        for (int64_t j = 0; j < n; j++) x[j] = holo_random_unit(&random) < x[j];
        holo_write_f(out, k, 1, n, x);
    }
    return HOLO_OK;
}

// ---- Multinomial: classes drawn by log-probabilities that need not be normalized

static HoloStatus multinomial_infer(HoloCall *call)
{
    HoloDtype dtype;
    int64_t   size = holo_attr_int(call, "sample_size", 1);
    HOLO_TRY(holo_expect_rank(call, 0, 2, 2));
    HOLO_TRY(holo_attr_dtype(call, "dtype", HOLO_I32, HOLO_BIT(I32) | HOLO_BIT(I64), &dtype));
    if (size < 0) return holo_call_fail(call, HOLO_BAD_MODEL, "sample_size is %lld", (long long)size);
    return holo_out_type(call, 0, dtype, 2, (HoloDim[]){call->in[0]->dim[0], size});
}

// The first class whose cumulated probability is above x.
static int64_t find_class(const double *cumulated, int64_t count, double x)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (cumulated[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static HoloStatus multinomial_eval(HoloCall *call)
{
    const HoloTensor *in     = call->in[0];
    HoloTensor       *out    = holo_out(call, 0);
    HoloRandom        random = generator(call);
    void             *memory;
    if (!out || holo_tensor_count(out) == 0) return HOLO_OK;
    int64_t classes = in->dim[1];
    if (classes == 0) return holo_call_fail(call, HOLO_BAD_INPUT, "there are no classes to draw from");
    HOLO_TRY(holo_call_temp(call, (size_t)classes, sizeof(double), &memory));
    double *p = memory;
    for (int64_t row = 0; row < in->dim[0]; row++) {
        HOLO_TRY(holo_call_continue(call));
        double top = -INFINITY, sum = 0;
        holo_read_f(in, row * classes, 1, classes, p);
        for (int64_t k = 0; k < classes; k++) top = fmax(top, p[k]);
        for (int64_t k = 0; k < classes; k++) p[k] = sum += holo_exp(p[k] - top);
        for (int64_t k = 0; k < out->dim[1]; k++)
            holo_put_i(out, row * out->dim[1] + k, find_class(p, classes, holo_random_unit(&random) * sum));
    }
    return HOLO_OK;
}

// ---- Dropout

// Whether this node drops elements. Since opset 12 an input says so, before opset 7 an attribute.
static bool is_training(const HoloCall *call)
{
    if (call->version < 7) return !holo_attr_int(call, "is_test", 0);
    return call->version >= 12 && holo_in(call, 2) && holo_get_i(call->in[2], 0) != 0;
}

static HoloStatus dropout_infer(HoloCall *call)
{
    if (call->version >= 12) {
        HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_FLOAT | HOLO_TYPES_F8));
        HOLO_TRY(holo_expect_types(call, 2, HOLO_BIT(BOOL)));
        HOLO_TRY(holo_expect_one(call, 1));
        HOLO_TRY(holo_expect_one(call, 2));
    }
    HOLO_TRY(holo_infer_same(call));
    HoloDtype mask = call->version < 10 ? (HoloDtype)call->in[0]->dtype : HOLO_BOOL;
    return holo_out_shape_like(call, 1, mask, call->in[0]);
}

static HoloStatus dropout_eval(HoloCall *call)
{
    const HoloTensor *in  = call->in[0];
    HoloTensor       *out = holo_out(call, 0), *mask = holo_out(call, 1);
    bool              training = is_training(call);
    double            ratio    = holo_attr_float(call, "ratio", 0.5);
    if (call->version >= 12 && holo_in(call, 1)) ratio = holo_get_f(call->in[1], 0);
    if (training && !(ratio >= 0 && ratio <= 1))
        return holo_call_fail(call, HOLO_BAD_INPUT, "ratio is %g, not between 0 and 1", ratio);
    HoloRandom random = generator(call);
    double     x[HOLO_TILE], kept[HOLO_TILE], scale = ratio < 1 ? 1 / (1 - ratio) : 0;
    int64_t    count = holo_tensor_count(in);
    if (out && count > 0 && !training) memcpy(out->data, in->data, holo_tensor_bytes(in));
    if (!training && !mask) return HOLO_OK;
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        HOLO_TRY(holo_call_continue(call));
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        holo_read_f(in, k, 1, n, x);
        for (int64_t j = 0; j < n; j++) {
            kept[j] = !training || holo_random_unit(&random) >= ratio;
            x[j]    = kept[j] != 0 ? x[j] * scale : 0;
        }
        if (out && training) holo_write_f(out, k, 1, n, x);
        if (mask) holo_write_f(mask, k, 1, n, kept);
    }
    return HOLO_OK;
}

// ---- the operators

static const Distribution normal  = {draw_normal, "mean", "scale", 0, 1};
static const Distribution uniform = {draw_uniform, "low", "high", 0, 1};

#define FILL(text, ins, dtypes, how)                                                                      \
    {                                                                                                     \
        .name = text, .domain = "", .since = 1, .in_min = ins, .in_max = ins, .out_min = 1, .out_max = 1, \
        .types = dtypes, .flags = HOLO_OP_RANDOM, .infer = fill_infer, .eval = fill_eval, .row = &how     \
    }
#define DRAW(text, version, family)                                                                         \
    {                                                                                                       \
        .name = text, .domain = "", .since = version, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_FLOAT, .flags = HOLO_OP_RANDOM, .infer = family##_infer, .eval = family##_eval  \
    }
#define DROPOUT(from, to, ins, bits)                                                                           \
    {                                                                                                          \
        .name = "Dropout", .domain = "", .since = from, .until = to, .in_min = 1, .in_max = ins, .out_min = 1, \
        .out_max = 2, .types = HOLO_TYPES_FLOAT | HOLO_TYPES_F8, .flags = bits, .infer = dropout_infer,        \
        .eval = dropout_eval                                                                                   \
    }

const HoloOp holo_ops_random[] = {
    FILL("RandomNormal", 0, 0, normal),
    FILL("RandomUniform", 0, 0, uniform),
    FILL("RandomNormalLike", 1, HOLO_TYPES_ALL, normal),
    FILL("RandomUniformLike", 1, HOLO_TYPES_ALL, uniform),
    DRAW("Bernoulli", 15, bernoulli),
    DRAW("Multinomial", 7, multinomial),
    DROPOUT(1, 6, 1, HOLO_OP_RANDOM),
    DROPOUT(7, 11, 1, 0), // never in training
    DROPOUT(12, 0, 3, HOLO_OP_RANDOM),
    {0},
};
