// matmul.c - MatMul with NumPy's semantics, FusedMatMul, and the views of operands that Gemm and the
// quantized products share.
#include "ops/standard/matmul.h"
#include "ops/spread.h"

#include <math.h>

// ---- views

static HoloDim dim_of(const HoloMatrix *m, int d)
{
    return m->axis[d] < 0 ? 1 : m->t->dim[m->axis[d]];
}

HoloStatus holo_matrix_view(const HoloCall *call, int input, bool right, HoloMatrix *out)
{
    HOLO_TRY(holo_expect_rank(call, input, 1, HOLO_MAX_RANK));
    const HoloTensor *t = holo_in(call, input);
    *out                = (HoloMatrix){.t = t, .rank = t->rank};
    for (int d = 0; d < t->rank; d++) out->axis[d] = d;
    if (t->rank == 1) {
        out->rank    = 2;
        out->axis[0] = right ? 0 : -1;
        out->axis[1] = right ? -1 : 0;
    }
    return HOLO_OK;
}

void holo_matrix_transpose(HoloMatrix *m)
{
    int last             = m->axis[m->rank - 1];
    m->axis[m->rank - 1] = m->axis[m->rank - 2];
    m->axis[m->rank - 2] = last;
}

static HoloStatus broadcast_stack(const HoloCall *call, const HoloMatrix *a, const HoloMatrix *b, int *out_rank,
                                  HoloDim *out_dim)
{
    HoloTensor stack[2] = {{.rank = (int8_t)(a->rank - 2)}, {.rank = (int8_t)(b->rank - 2)}};
    for (int d = 0; d < a->rank - 2; d++) stack[0].dim[d] = dim_of(a, d);
    for (int d = 0; d < b->rank - 2; d++) stack[1].dim[d] = dim_of(b, d);
    const HoloTensor *in[2] = {&stack[0], &stack[1]};
    HoloCall          both  = *call;
    both.in                 = in;
    both.in_count           = 2;
    return holo_broadcast(&both, 0, 2, out_rank, out_dim);
}

HoloStatus holo_matmul_shape(const HoloCall *call, const HoloMatrix *a, const HoloMatrix *b, int *out_rank,
                             HoloDim *out_dim)
{
    HoloDim ka = dim_of(a, a->rank - 1), kb = dim_of(b, b->rank - 2);
    if (holo_dims_differ(ka, kb))
        return holo_call_fail(call, HOLO_BAD_MODEL, "inner sizes %lld and %lld differ", (long long)ka, (long long)kb);
    int rank;
    HOLO_TRY(broadcast_stack(call, a, b, &rank, out_dim));
    if (a->axis[a->rank - 2] >= 0) out_dim[rank++] = dim_of(a, a->rank - 2);
    if (b->axis[b->rank - 1] >= 0) out_dim[rank++] = dim_of(b, b->rank - 1);
    *out_rank = rank;
    return HOLO_OK;
}

HoloStatus holo_matmul_addend(const HoloCall *call, int input, int rank, const HoloDim *dim)
{
    const HoloTensor *c = holo_in(call, input);
    if (!c) return HOLO_OK;
    HOLO_TRY(holo_expect_rank(call, input, 0, rank < 2 ? rank : 2));
    for (int d = 0; d < c->rank; d++) {
        HoloDim have = c->dim[d], want = dim[rank - c->rank + d];
        if (have != 1 && holo_dims_differ(have, want))
            return holo_call_fail(call, HOLO_BAD_MODEL, "C has size %lld, which does not broadcast to %lld",
                                  (long long)have, (long long)want);
    }
    return HOLO_OK;
}

// ---- products

HoloStatus holo_lines_init(const HoloCall *call, int input, int64_t lines, int64_t batch, double fallback,
                           HoloLines *out)
{
    const HoloTensor *t = holo_in(call, input);
    *out                = (HoloLines){.t = t, .fallback = fallback};
    if (!t) return HOLO_OK;
    int64_t count = holo_tensor_count(t);
    if (count == 1) return HOLO_OK;
    if (count != lines && (batch < 1 || count % lines || count / lines != batch))
        return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has %lld entries, expected 1 or %lld", input,
                              (long long)count, (long long)lines);
    out->line  = 1;
    out->batch = count == lines ? 0 : lines;
    return HOLO_OK;
}

static void init_side(const HoloMatrix *m, int line_dim, int step_dim, int batch_rank, HoloMatmulSide *out)
{
    int64_t stride[HOLO_MAX_RANK];
    holo_strides(m->t->rank, m->t->dim, stride);
    *out      = (HoloMatmulSide){.t = m->t};
    out->line = m->axis[line_dim] < 0 ? 0 : stride[m->axis[line_dim]];
    out->step = m->axis[step_dim] < 0 ? 0 : stride[m->axis[step_dim]];
    out->size = dim_of(m, line_dim) * dim_of(m, step_dim);
    for (int d = 0; d < m->rank - 2; d++)
        if (dim_of(m, d) != 1) out->batch_stride[batch_rank - (m->rank - 2) + d] = stride[m->axis[d]];
}

int64_t holo_matmul_start(const HoloMatmul *m, const HoloMatmulSide *side, int64_t batch)
{
    int64_t start = 0;
    for (int d = m->batch_rank - 1; d >= 0 && batch; d--) {
        start += batch % m->batch_dim[d] * side->batch_stride[d];
        batch /= m->batch_dim[d];
    }
    return start;
}

// Subtracts the operand's zero point from what was read; a real operand is quantized first.
static void shift(const HoloMatmulSide *s, int64_t start, int64_t line, int64_t line_step, int64_t count, HoloCell *x)
{
    if (!s->zero.t && !s->quantum) return;
    int64_t batch = s->size ? start / s->size : 0;
    double  zero  = holo_lines_at(&s->zero, batch, line);
    for (int64_t j = 0; j < count; j++) {
        if (line_step && s->zero.line && j) zero = holo_lines_at(&s->zero, batch, line + j);
        if (s->quantum) x[j].f = fmin(fmax(nearbyintf((float)x[j].f / (float)s->quantum) + zero, 0), 255);
        x[j].f -= zero;
    }
}

// `count` numbers of a line, along the sum.
static void read_line(const HoloContract *c, const HoloMatmulSide *side, int64_t batch, int64_t line, int64_t k,
                      int64_t count, HoloCell *out)
{
    int64_t start = holo_matmul_start(c->arg, side, batch);
    holo_cells_read(side->t, c->integer, start + line * side->line + k * side->step, side->step, count, out);
    shift(side, start, line, 0, count, out);
}

static void read_a(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    const HoloMatmul *m = c->arg;
    read_line(c, &m->a, batch, row, k, count, out);
}

static void read_b(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    const HoloMatmul *m     = c->arg;
    int64_t           start = holo_matmul_start(m, &m->b, batch);
    holo_cells_read(m->b.t, c->integer, start + col * m->b.line + k * m->b.step, m->b.line, count, out);
    shift(&m->b, start, col, 1, count, out);
}

static void read_b_down(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    const HoloMatmul *m = c->arg;
    read_line(c, &m->b, batch, col, k, count, out);
}

HoloStatus holo_matmul_init(const HoloCall *call, const HoloMatrix *a, const HoloMatrix *b, HoloMatmul *out)
{
    int rank;
    *out = (HoloMatmul){0};
    HOLO_TRY(broadcast_stack(call, a, b, &rank, out->batch_dim));
    out->batch_rank = rank;
    init_side(a, a->rank - 2, a->rank - 1, rank, &out->a);
    init_side(b, b->rank - 1, b->rank - 2, rank, &out->b);
    out->contract = (HoloContract){
        .batch  = holo_product(rank, out->batch_dim),
        .rows   = dim_of(a, a->rank - 2),
        .cols   = dim_of(b, b->rank - 1),
        .depth  = dim_of(a, a->rank - 1),
        .a      = read_a,
        .b      = read_b,
        .b_down = read_b_down,
        .arg    = out,
        .out    = call->out[0],
    };
    return HOLO_OK;
}

HoloStatus holo_matmul_eval(HoloCall *call, HoloMatmulInit *init, HoloMatmul *m)
{
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(init(call, m));
    holo_contract(call, &m->contract);
    return HOLO_OK;
}

double holo_matmul_at(const HoloCall *call, HoloMatmulInit *init, HoloMatmul *m, int64_t index)
{
    return init(call, m) ? NAN : holo_contract_at(&m->contract, index);
}

// ---- MatMul and FusedMatMul

// FusedMatMul's transBatch: the first dimension moves behind the stack, [m, ..., k] to [..., m, k].
static void transpose_batch(HoloMatrix *m)
{
    int first = m->axis[0];
    for (int d = 0; d < m->rank - 2; d++) m->axis[d] = m->axis[d + 1];
    m->axis[m->rank - 2] = first;
}

static HoloStatus view_both(const HoloCall *call, HoloMatrix *a, HoloMatrix *b)
{
    HOLO_TRY(holo_matrix_view(call, 0, false, a));
    HOLO_TRY(holo_matrix_view(call, 1, true, b));
    if (holo_attr_int(call, "transBatchA", 0) && a->t->rank > 2) transpose_batch(a);
    if (holo_attr_int(call, "transBatchB", 0) && b->t->rank > 2) transpose_batch(b);
    if (holo_attr_int(call, "transA", 0) && a->t->rank > 1) holo_matrix_transpose(a);
    if (holo_attr_int(call, "transB", 0) && b->t->rank > 1) holo_matrix_transpose(b);
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    HoloMatrix a, b;
    HoloDim    dim[HOLO_MAX_RANK + 2];
    int        rank;
    HOLO_TRY(view_both(call, &a, &b));
    HOLO_TRY(holo_expect_types(call, 1, UINT64_C(1) << a.t->dtype));
    HOLO_TRY(holo_matmul_shape(call, &a, &b, &rank, dim));
    return holo_out_type(call, 0, (HoloDtype)a.t->dtype, rank, dim);
}

typedef struct Scaled {
    HoloMatmul product;
    double     alpha;
    int64_t    whole; // the same of integers
} Scaled;

static void scale(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    (void)batch, (void)row, (void)col;
    const Scaled *s = c->arg;
    for (int64_t j = 0; j < count; j++)
        if (c->integer)
            sums[j].u *= (uint64_t)s->whole;
        else
            sums[j].f *= s->alpha;
}

static HoloStatus init(const HoloCall *call, HoloMatmul *m)
{
    Scaled    *s = (Scaled *)m; // its first member
    HoloMatrix a, b;
    HOLO_TRY(view_both(call, &a, &b));
    HOLO_TRY(holo_matmul_init(call, &a, &b, m));
    m->contract.integer = holo_dtype_is_integer(a.t->dtype);
    s->alpha            = holo_attr_float(call, "alpha", 1);
    s->whole            = fabs(s->alpha) < 0x1p62 ? (int64_t)s->alpha : 0;
    if (s->alpha != 1) m->contract.finish = scale;
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Scaled s;
    return holo_matmul_eval(call, init, &s.product);
}

static double at(const HoloCall *call, int64_t index)
{
    Scaled s;
    return holo_matmul_at(call, init, &s.product, index);
}

#define ROW .in_min = 2, .in_max = 2, .out_min = 1, .out_max = 1, .infer = infer, .eval = eval, .at = at

#define SPARSE_TYPES (HOLO_MATMUL_TYPES & ~(HOLO_BIT(F16) | HOLO_BIT(BF16)))

const HoloOp holo_ops_matmul[] = {
    {.name = "MatMul", .domain = "", .since = 1, .types = HOLO_MATMUL_TYPES, ROW},
    {.name = "FusedMatMul", .domain = "com.microsoft", .since = 1, .types = HOLO_TYPES_FLOAT, ROW},
    {.name = "TransposeMatMul", .domain = "com.microsoft", .since = 1, .types = HOLO_TYPES_FLOAT, ROW},
    {.name = "SparseToDenseMatMul", .domain = "com.microsoft", .since = 1, .types = SPARSE_TYPES, ROW},
    {0},
};
