// qlinear.c - products of quantized matrices: MatMulInteger, QLinearMatMul and their relatives; and QLinearConcat.
//
// All products are computed in the same way: integers are shifted by their zero points and summed exactly; then the
// sums are scaled, biased and quantized again where the operator does so.
#include "kernels/kernels.h"
#include "ops/move.h"
#include "ops/spread.h"
#include "ops/standard/matmul.h"

#include <math.h>
#include <string.h>

enum { NONE = INT8_MAX }; // an input that the operator does not have: holo_in finds nothing there

typedef struct QMatmulInputs { // which input is what
    int8_t a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero;
    int8_t bias;     // real
    int8_t c;        // a bias of integers, in units of a_scale * b_scale
    bool   integers; // gives i32; else the type of y_zero, or of a_scale where there is no y_zero
    bool   dynamic;  // a is real and quantized here
} QMatmulInputs;

static const QMatmulInputs matmul_integer   = {0, NONE, 2, 1, NONE, 3, NONE, NONE, NONE, NONE, true, false};
static const QMatmulInputs qlinear_matmul   = {0, 1, 2, 3, 4, 5, 6, 7, NONE, NONE, false, false};
static const QMatmulInputs integer_to_float = {0, 2, 4, 1, 3, 5, NONE, NONE, 6, NONE, false, false};
static const QMatmulInputs dynamic_quantize = {0, NONE, NONE, 1, 2, 3, NONE, NONE, 4, NONE, false, true};
static const QMatmulInputs qgemm            = {0, 1, 2, 3, 4, 5, 7, 8, NONE, 6, false, false};

static const QMatmulInputs *inputs_of(const HoloCall *call)
{
    return call->op->row;
}

static HoloDtype out_dtype(const HoloCall *call)
{
    const QMatmulInputs *q      = inputs_of(call);
    const HoloTensor    *y_zero = holo_in(call, q->y_zero), *a_scale = holo_in(call, q->a_scale);
    if (q->integers) return HOLO_I32;
    if (y_zero) return (HoloDtype)y_zero->dtype;
    return q->dynamic ? HOLO_F32 : (HoloDtype)a_scale->dtype;
}

static HoloStatus view_both(const HoloCall *call, HoloMatrix *a, HoloMatrix *b)
{
    const QMatmulInputs *q = inputs_of(call);
    HOLO_TRY(holo_matrix_view(call, q->a, false, a));
    HOLO_TRY(holo_matrix_view(call, q->b, true, b));
    if (holo_attr_int(call, "transA", 0) && a->t->rank > 1) holo_matrix_transpose(a);
    if (holo_attr_int(call, "transB", 0) && b->t->rank > 1) holo_matrix_transpose(b);
    return HOLO_OK;
}

#define TYPES_8         (HOLO_BIT(I8) | HOLO_BIT(U8))
#define TYPES_QUANTIZED (TYPES_8 | HOLO_TYPES_F8)

static HoloStatus infer(HoloCall *call)
{
    const QMatmulInputs *q = inputs_of(call);
    HoloMatrix           a, b;
    HoloDim              dim[HOLO_MAX_RANK + 2];
    int                  rank;
    HOLO_TRY(view_both(call, &a, &b));
    HOLO_TRY(holo_expect_types(call, q->b, q->integers ? TYPES_8 : TYPES_QUANTIZED));
    HOLO_TRY(holo_matmul_shape(call, &a, &b, &rank, dim));
    HOLO_TRY(holo_expect_types(call, q->c, HOLO_BIT(I32)));
    HOLO_TRY(holo_matmul_addend(call, q->c, rank, dim));
    return holo_out_type(call, 0, out_dtype(call), rank, dim);
}

typedef struct QMatmul {
    HoloMatmul        product;
    HoloLines         a_scale, b_scale, y_scale, y_zero, bias;
    const HoloTensor *c;
    int64_t           c_stride[2];
    double            alpha;
    bool              scaled, quantized, whole, in_f32;
} QMatmul;

static double wrap_i32(double x)
{
    return (double)(int32_t)(uint32_t)(uint64_t)(int64_t)x;
}

// In float, as those operators do from which it is put together: what comes next is often quantized, and the last bit
// of a largest number moves all its steps.
static double scaled_f32(double sum, float scale, double bias)
{
    float y = (float)sum * scale;
    return (double)(y + (float)bias);
}

static double finish_one(const QMatmul *q, int64_t a_batch, int64_t b_batch, int64_t row, int64_t col, double x)
{
    if (q->c) x += holo_get_f(q->c, row * q->c_stride[0] + col * q->c_stride[1]);
    if (!q->scaled) return wrap_i32(x);
    double a_scale = q->alpha * holo_lines_at(&q->a_scale, a_batch, row);
    double b_scale = holo_lines_at(&q->b_scale, b_batch, col), scale = a_scale * b_scale;
    if (q->in_f32) return scaled_f32(x, (float)a_scale * (float)b_scale, holo_lines_at(&q->bias, 0, col));
    if (!q->quantized) return x * scale + holo_lines_at(&q->bias, 0, col);
    double y_scale = holo_lines_at(&q->y_scale, a_batch, row), y_zero = holo_lines_at(&q->y_zero, a_batch, row);
    return (q->whole ? holo_requantize(x, scale, y_scale) : x * scale / y_scale) + y_zero;
}

static void finish(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    const QMatmul    *q       = c->arg;
    const HoloMatmul *m       = &q->product;
    int64_t           a_batch = m->a.size ? holo_matmul_start(m, &m->a, batch) / m->a.size : 0;
    int64_t           b_batch = m->b.size ? holo_matmul_start(m, &m->b, batch) / m->b.size : 0;
    for (int64_t j = 0; j < count; j++) sums[j].f = finish_one(q, a_batch, b_batch, row, col + j, sums[j].f);
}

// The range of a real operand, 0 always in it, as 256 steps: in f32, as DynamicQuantizeLinear has it.
static void quantize_a(HoloMatmulSide *a)
{
    int64_t count = holo_tensor_count(a->t);
    double  low = 0, high = 0, x[HOLO_TILE];
    for (int64_t start = 0; start < count; start += HOLO_TILE) {
        int64_t run = count - start < HOLO_TILE ? count - start : HOLO_TILE;
        holo_read_f(a->t, start, 1, run, x);
        for (int64_t j = 0; j < run; j++) {
            low  = fmin(low, x[j]);
            high = fmax(high, x[j]);
        }
    }
    float scale = ((float)high - (float)low) / 255;
    if (scale == 0) scale = 1; // all zeros: any scale is right
    a->quantum       = scale;
    a->zero.fallback = fminf(fmaxf(nearbyintf(-(float)low / scale), 0), 255);
}

static HoloStatus read_params(const HoloCall *call, QMatmul *q)
{
    const QMatmulInputs *in   = inputs_of(call);
    HoloMatmul          *m    = &q->product;
    int64_t              rows = m->contract.rows, cols = m->contract.cols;
    int64_t              a_batch = m->a.size ? holo_tensor_count(m->a.t) / m->a.size : 0;
    int64_t              b_batch = m->b.size ? holo_tensor_count(m->b.t) / m->b.size : 0;
    HOLO_TRY(holo_lines_init(call, in->a_zero, rows, a_batch, 0, &m->a.zero));
    HOLO_TRY(holo_lines_init(call, in->b_zero, cols, b_batch, 0, &m->b.zero));
    HOLO_TRY(holo_lines_init(call, in->a_scale, rows, a_batch, 1, &q->a_scale));
    HOLO_TRY(holo_lines_init(call, in->b_scale, cols, b_batch, 1, &q->b_scale));
    HOLO_TRY(holo_lines_init(call, in->bias, cols, 1, 0, &q->bias));
    HOLO_TRY(holo_lines_init(call, in->y_scale, rows, a_batch, 1, &q->y_scale));
    HOLO_TRY(holo_lines_init(call, in->y_zero, rows, a_batch, 0, &q->y_zero));
    q->c = holo_in(call, in->c);
    if (q->c) holo_strides_broadcast(q->c, 2, (int64_t[]){rows, cols}, q->c_stride);
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    const QMatmulInputs *in = inputs_of(call);
    QMatmul              q  = {0};
    HoloMatrix           a, b;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(view_both(call, &a, &b));
    HOLO_TRY(holo_matmul_init(call, &a, &b, &q.product));
    HOLO_TRY(read_params(call, &q));
    q.alpha                   = holo_attr_float(call, "alpha", 1);
    q.scaled                  = !in->integers;
    q.quantized               = holo_in(call, in->y_scale) != NULL;
    q.whole                   = holo_dtype_is_integer(out_dtype(call));
    q.in_f32                  = q.scaled && !q.quantized && out_dtype(call) == HOLO_F32;
    q.product.contract.finish = finish;
    if (in->dynamic) {
        quantize_a(&q.product.a);
        q.a_scale.fallback = q.product.a.quantum;
    }
    holo_contract(call, &q.product.contract);
    return HOLO_OK;
}

// ---- QLinearConcat: y_scale, y_zero, then x, x_scale, x_zero of each part

static HoloStatus concat_infer(HoloCall *call)
{
    int axis;
    if (call->in_count < 5 || (call->in_count - 2) % 3)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the inputs after the first two must come in threes");
    for (int i = 0; i < call->in_count; i++)
        if (!call->in[i]) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
    const HoloTensor *first = call->in[2];
    HOLO_TRY(holo_attr_axis(call, "axis", 0, first->rank, &axis));
    HoloDim dim[HOLO_MAX_RANK], sum = 0;
    for (int d = 0; d < first->rank; d++) dim[d] = first->dim[d];
    for (int i = 2; i < call->in_count; i += 3) {
        const HoloTensor *x = call->in[i];
        HOLO_TRY(holo_expect_types(call, i, TYPES_8));
        HOLO_TRY(holo_expect_rank(call, i, first->rank, first->rank));
        for (int d = 0; d < x->rank; d++)
            if (d != axis && holo_dims_differ(x->dim[d], dim[d]))
                return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has size %lld in dimension %d, expected %lld", i,
                                      (long long)x->dim[d], d, (long long)dim[d]);
        sum = holo_dim_add(call->dims, sum, x->dim[axis]);
    }
    dim[axis] = sum;
    return holo_out_type(call, 0, (HoloDtype)call->in[1]->dtype, first->rank, dim);
}

enum { PATTERNS = 256, PREPARED_INPUTS = 32 }; // bits of prepare_in

typedef struct Part {
    bool    stays; // in the steps of the output
    uint8_t table[PATTERNS];
} Part;

// A part's numbers as numbers of the output's scale, for each bit pattern.
static void part_make(const HoloCall *call, int input, HoloDtype to, Part *out)
{
    float   y_scale = (float)holo_get_f(call->in[0], 0), y_zero = (float)holo_get_f(call->in[1], 0);
    float   scale = (float)holo_get_f(call->in[input + 1], 0), zero = (float)holo_get_f(call->in[input + 2], 0);
    uint8_t patterns[PATTERNS];
    double  x[PATTERNS];
    for (int i = 0; i < PATTERNS; i++) patterns[i] = (uint8_t)i;
    holo_read_f(&(HoloTensor){.dtype = call->in[input]->dtype, .data = patterns}, 0, 1, PATTERNS, x);
    for (int i = 0; i < PATTERNS; i++) x[i] = rintf(((float)x[i] - zero) * scale / y_scale) + y_zero;
    holo_write_f(&(HoloTensor){.dtype = (uint8_t)to, .data = out->table}, 0, 1, PATTERNS, x);
    out->stays = memcmp(out->table, patterns, PATTERNS) == 0;
}

static HoloStatus parts_make(const HoloCall *call, Part *parts)
{
    for (int i = 0; i < call->in_count; i++)
        if ((i < 2 || (i - 2) % 3) && holo_tensor_count(call->in[i]) != 1)
            return holo_call_fail(call, HOLO_BAD_INPUT, "input %d must have one entry", i);
    for (int i = 2; i < call->in_count; i += 3) part_make(call, i, (HoloDtype)call->in[1]->dtype, &parts[(i - 2) / 3]);
    return HOLO_OK;
}

// Of so few parts that it can be said which inputs are scales and zero points.
static HoloStatus concat_prepare(HoloCall *call, const void **out)
{
    void *parts;
    if (call->in_count > PREPARED_INPUTS) return HOLO_OK;
    HOLO_TRY(holo_call_hold(call, (size_t)call->in_count / 3, sizeof(Part), &parts));
    HOLO_TRY(parts_make(call, parts));
    *out = parts;
    return HOLO_OK;
}

static HoloStatus concat_eval(HoloCall *call)
{
    HoloTensor *y     = call->out[0];
    const Part *parts = call->prepared;
    int         axis;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_attr_axis(call, "axis", 0, y->rank, &axis));
    if (!parts) {
        void *made;
        HOLO_TRY(holo_call_temp(call, (size_t)call->in_count / 3, sizeof(Part), &made));
        HOLO_TRY(parts_make(call, made));
        parts = made;
    }
    int64_t outer = holo_product(axis, y->dim), inner = holo_product(y->rank - axis - 1, y->dim + axis + 1);
    char   *to = y->data;
    for (int i = 2; i < call->in_count; i += 3, parts++) {
        int64_t     run = call->in[i]->dim[axis] * inner, row = y->dim[axis] * inner;
        const char *from = call->in[i]->data;
        if (parts->stays)
            holo_move_wide(call, 2, (int64_t[]){outer, run}, 1, to, (int64_t[]){row, 1}, from, (int64_t[]){run, 1});
        for (int64_t o = 0; o < outer && !parts->stays; o++)
            holo_kernels(1)->lookup_u8(run, (const uint8_t *)from + o * run, parts->table, (uint8_t *)to + o * row);
        to += run;
    }
    return HOLO_OK;
}

#define MS      .domain = "com.microsoft", .since = 1
#define QMATMUL .out_min = 1, .out_max = 1, .flags = HOLO_OP_SCALED, .infer = infer, .eval = eval

const HoloOp holo_ops_qlinear[] = {
    {.name   = "MatMulInteger",
     .domain = "",
     .since  = 10,
     .in_min = 2,
     .in_max = 4,
     .types  = TYPES_8,
     QMATMUL,
     .row = &matmul_integer},
    {.name   = "QLinearMatMul",
     .domain = "",
     .since  = 10,
     .in_min = 8,
     .in_max = 8,
     .types  = TYPES_QUANTIZED,
     QMATMUL,
     .row = &qlinear_matmul},
    {.name = "MatMulIntegerToFloat", MS, .in_min = 4, .in_max = 7, .types = TYPES_8, QMATMUL, .row = &integer_to_float},
    {.name = "DynamicQuantizeMatMul",
     MS,
     .in_min = 3,
     .in_max = 5,
     .types  = HOLO_BIT(F32),
     QMATMUL,
     .row = &dynamic_quantize},
    {.name = "QGemm", MS, .in_min = 6, .in_max = 9, .types = TYPES_8, QMATMUL, .row = &qgemm},
    {.name = "QLinearConcat",
     MS,
     .in_min  = 5,
     .in_max  = -1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .flags   = HOLO_OP_SCALED,
     .infer   = concat_infer,
     .eval    = concat_eval,
     .prepare = concat_prepare,
     // both of the output, then two of every three
     .prepare_in = 0xdb6db6db},
    {0},
};
