// gemm.c - Gemm: alpha * A * B + beta * C, and FusedGemm with an activation behind it.
#include "ops/spread.h"
#include "ops/standard/fused_activation.h"
#include "ops/standard/matmul.h"

static HoloStatus view_both(const HoloCall *call, HoloMatrix *a, HoloMatrix *b)
{
    HOLO_TRY(holo_expect_rank(call, 0, 2, 2));
    HOLO_TRY(holo_expect_rank(call, 1, 2, 2));
    HOLO_TRY(holo_matrix_view(call, 0, false, a));
    HOLO_TRY(holo_matrix_view(call, 1, true, b));
    if (holo_attr_int(call, "transA", 0)) holo_matrix_transpose(a);
    if (holo_attr_int(call, "transB", 0)) holo_matrix_transpose(b);
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    HoloMatrix a, b;
    HoloDim    dim[HOLO_MAX_RANK + 2];
    int        rank;
    HOLO_TRY(view_both(call, &a, &b));
    uint64_t same = UINT64_C(1) << a.t->dtype;
    HOLO_TRY(holo_expect_types(call, 1, same));
    HOLO_TRY(holo_expect_types(call, 2, same));
    HOLO_TRY(holo_matmul_shape(call, &a, &b, &rank, dim));
    HOLO_TRY(holo_matmul_addend(call, 2, rank, dim));
    if (holo_attr_find(call, "activation") && !holo_activation_find(holo_attr_string(call, "activation", "")))
        return holo_call_fail(call, HOLO_UNSUPPORTED, "the activation is not known");
    return holo_out_type(call, 0, (HoloDtype)a.t->dtype, rank, dim);
}

typedef struct Gemm {
    HoloMatmul            product;
    const HoloTensor     *c;
    int64_t               c_stride[2];
    double                alpha, beta;
    const HoloActivation *activation; // NULL: none
    double                activation_alpha, activation_beta;
} Gemm;

static void finish_f(const Gemm *g, int64_t count, const HoloCell *c, HoloCell *sums)
{
    for (int64_t j = 0; j < count; j++) {
        double x = g->alpha * sums[j].f;
        if (g->c) x += g->beta * c[j].f;
        sums[j].f = g->activation ? g->activation->f(x, g->activation_alpha, g->activation_beta) : x;
    }
}

// The low bits of a double; factors of integers are whole numbers in all but strange models.
static uint64_t whole(double x)
{
    return x > -0x1p63 && x < 0x1p63 ? (uint64_t)(int64_t)x : 0;
}

static void finish_u(const Gemm *g, int64_t count, const HoloCell *c, HoloCell *sums)
{
    for (int64_t j = 0; j < count; j++) {
        if (g->alpha != 1) sums[j].u = whole(g->alpha * (double)sums[j].i);
        if (g->c) sums[j].u += g->beta == 1 ? c[j].u : whole(g->beta * (double)c[j].i);
    }
}

static void finish(const HoloContract *contract, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    (void)batch;
    const Gemm *g = contract->arg;
    HoloCell    c[HOLO_CONTRACT_COLS];
    if (g->c)
        holo_cells_read(g->c, contract->integer, row * g->c_stride[0] + col * g->c_stride[1], g->c_stride[1], count, c);
    (contract->integer ? finish_u : finish_f)(g, count, c, sums);
}

static HoloStatus init(const HoloCall *call, HoloMatmul *m)
{
    Gemm      *g = (Gemm *)m; // its first member
    HoloMatrix a, b;
    HOLO_TRY(view_both(call, &a, &b));
    HOLO_TRY(holo_matmul_init(call, &a, &b, m));
    HoloContract *contract = &m->contract;
    contract->integer      = holo_dtype_is_integer(a.t->dtype);
    contract->finish       = finish;
    g->alpha               = holo_attr_float(call, "alpha", 1);
    g->beta                = holo_attr_float(call, "beta", 1);
    g->c                   = g->beta != 0 ? holo_in(call, 2) : NULL;
    if (g->c) holo_strides_broadcast(g->c, 2, (int64_t[]){contract->rows, contract->cols}, g->c_stride);
    g->activation = holo_activation_find(holo_attr_string(call, "activation", ""));
    if (g->activation) {
        g->activation_alpha = holo_attr_float(call, "activation_alpha", g->activation->alpha);
        g->activation_beta  = holo_attr_float(call, "activation_beta", g->activation->beta);
    }
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Gemm g;
    return holo_matmul_eval(call, init, &g.product);
}

static double at(const HoloCall *call, int64_t index)
{
    Gemm g;
    return holo_matmul_at(call, init, &g.product, index);
}

#define ROW .in_min = 2, .in_max = 3, .out_min = 1, .out_max = 1, .infer = infer, .eval = eval, .at = at

const HoloOp holo_ops_gemm[] = {
    {.name = "Gemm", .domain = "", .since = 1, .types = HOLO_MATMUL_TYPES, ROW},
    {.name = "FusedGemm", .domain = "com.microsoft", .since = 1, .types = HOLO_TYPES_FLOAT, ROW},
    {0},
};
