// float8.c - MatMulFloat8 of domain hologram: a product of floats of 8 bits with scales, for devices that multiply these.
//
//     y = (a * b) * a_scale * b_scale + bias
//
// a: [..., depth]; b: one matrix [depth, columns], or [columns, depth] if transB is 1. a_scale: one number, or one for each row of a, in
// their order, whatever its shape; b_scale: one number, or [columns]; bias: [columns]. Sums are in double, and y is rounded once.
#include "ops/contract.h"
#include "ops/spread.h"

#include <string.h>

#define TYPES (HOLO_BIT(F8E4M3FN) | HOLO_BIT(F8E5M2))

enum { A, B, A_SCALE, B_SCALE, BIAS };

static HoloDim size_of_b(const HoloCall *call, bool of_columns)
{
    bool turned = holo_attr_int(call, "transB", 0) != 0;
    return call->in[B]->dim[of_columns != turned];
}

// Is it of f32, with one element or `many`? A size that is not known yet always fits.
static HoloStatus expect_scale(const HoloCall *call, int input, HoloDim many)
{
    HOLO_TRY(holo_expect_types(call, input, HOLO_BIT(F32)));
    int64_t count = holo_tensor_count(call->in[input]);
    if (count < 0 || count == 1 || !holo_dims_differ(count, many)) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has %lld scales, expected 1 or %lld", input, (long long)count,
                          (long long)many);
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *a = call->in[A];
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_expect_rank(call, A, 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_types(call, B, TYPES));
    HOLO_TRY(holo_expect_rank(call, B, 2, 2));
    HoloDim columns = size_of_b(call, true), depth = size_of_b(call, false);
    if (holo_dims_differ(a->dim[a->rank - 1], depth))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the input has %lld columns, expected %lld",
                              (long long)a->dim[a->rank - 1], (long long)depth);
    int64_t rows = 1;
    for (int d = 0; d + 1 < a->rank && rows >= 0; d++)
        if (a->dim[d] < 0 || !holo_mul(rows, a->dim[d], &rows)) rows = -1;
    HOLO_TRY(rows < 0 ? holo_expect_types(call, A_SCALE, HOLO_BIT(F32)) : expect_scale(call, A_SCALE, rows));
    HOLO_TRY(expect_scale(call, B_SCALE, columns));
    if (holo_in(call, BIAS)) {
        HOLO_TRY(holo_expect_types(call, BIAS, HOLO_BIT(F32)));
        HOLO_TRY(holo_expect_shape(call, BIAS, 1, &columns));
    }
    memcpy(dim, a->dim, sizeof dim);
    dim[a->rank - 1] = columns;
    return holo_out_type(call, 0, HOLO_F32, a->rank, dim);
}

// ---- eval

typedef struct Product {
    const HoloTensor *b;
    int64_t           down, across; // strides of b
    const float      *a_scale, *b_scale, *bias;
    bool              a_scales, b_scales; // there is more than one
} Product;

static void read_b(const HoloContract *c, int64_t batch, int64_t k, int64_t column, int64_t count, HoloCell *out)
{
    const Product *p = c->arg;
    (void)batch;
    holo_cells_read(p->b, false, k * p->down + column * p->across, p->across, count, out);
}

static void read_b_down(const HoloContract *c, int64_t batch, int64_t k, int64_t column, int64_t count, HoloCell *out)
{
    const Product *p = c->arg;
    (void)batch;
    holo_cells_read(p->b, false, k * p->down + column * p->across, p->down, count, out);
}

static void finish(const HoloContract *c, int64_t batch, int64_t row, int64_t column, int64_t count, HoloCell *sums)
{
    const Product *p = c->arg;
    (void)batch;
    for (int64_t i = 0; i < count; i++) {
        double scale = (double)p->a_scale[p->a_scales ? row : 0] * (double)p->b_scale[p->b_scales ? column + i : 0];
        sums[i].f    = sums[i].f * scale + (p->bias ? (double)p->bias[column + i] : 0);
    }
}

static HoloContract contract_of(const HoloCall *call, Product *p)
{
    bool turned    = holo_attr_int(call, "transB", 0) != 0;
    *p             = (Product){.b        = call->in[B],
                               .down     = turned ? 1 : call->in[B]->dim[1],
                               .across   = turned ? call->in[B]->dim[1] : 1,
                               .a_scale  = call->in[A_SCALE]->data,
                               .b_scale  = call->in[B_SCALE]->data,
                               .bias     = holo_in(call, BIAS) ? call->in[BIAS]->data : NULL,
                               .a_scales = holo_tensor_count(call->in[A_SCALE]) > 1,
                               .b_scales = holo_tensor_count(call->in[B_SCALE]) > 1};
    HoloContract c = holo_contract_rows(call, size_of_b(call, false), size_of_b(call, true), p);
    c.b            = read_b;
    c.b_down       = read_b_down;
    c.finish       = finish;
    return c;
}

static HoloStatus eval(HoloCall *call)
{
    Product p;
    if (holo_out_is_empty(call)) return HOLO_OK;
    int64_t rows = holo_tensor_count(call->out[0]) / size_of_b(call, true);
    HOLO_TRY(expect_scale(call, A_SCALE, rows));
    HoloContract c = contract_of(call, &p);
    holo_contract(call, &c);
    return holo_call_continue(call);
}

static double at(const HoloCall *call, int64_t index)
{
    Product      p;
    HoloContract c = contract_of(call, &p);
    return holo_contract_at(&c, index);
}

const HoloOp holo_ops_float8[] = {
    {.name    = "MatMulFloat8",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 4,
     .in_max  = 5,
     .out_min = 1,
     .out_max = 1,
     .types   = TYPES,
     .flags   = HOLO_OP_SCALED,
     .infer   = infer,
     .eval    = eval,
     .at      = at},
    {0},
};
