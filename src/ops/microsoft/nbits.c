// nbits.c - weights of a few bits, quantized block by block: MatMulNBits and GatherBlockQuantized of com.microsoft; and
// MatMulNBits of domain hologram, whose first input is rounded to 8 bits block by block, as ONNX Runtime does it where
// accuracy_level allows it.
#include "ops/microsoft/nbits.h"
#include "ops/contract.h"
#include "ops/spread.h"

#include <string.h>

static HoloStatus expect_entries(const HoloCall *call, int input, int64_t want)
{
    const HoloTensor *t = holo_in(call, input);
    if (t && holo_tensor_count(t) != want)
        return holo_call_fail(call, HOLO_BAD_INPUT, "input %d has %lld entries, expected %lld", input,
                              (long long)holo_tensor_count(t), (long long)want);
    return HOLO_OK;
}

// ---- MatMulNBits: A [..., K] times the transposed B [N][blocks][bytes]

enum {
    A      = HOLO_NBITS_A,
    B      = HOLO_NBITS_B,
    SCALES = HOLO_NBITS_SCALES,
    ZEROS  = HOLO_NBITS_ZEROS,
    GROUPS = HOLO_NBITS_GROUPS,
    BIAS   = HOLO_NBITS_BIAS
};
enum { SIZE_LIMIT = 1 << 28, BLOCK_LIMIT = 1 << 16 }; // of K and N, and of a block: products of them fit

typedef struct NBits {
    HoloContract      contract;
    const HoloTensor *scales, *zeros, *groups, *bias;
    const uint8_t    *b;
    HoloNBits         sizes;
} NBits;

bool holo_nbits_is_rounded(const HoloCall *call)
{
    return !strcmp(call->op->domain, "hologram");
}

void holo_nbits_round(int64_t count, const float *a, int8_t *out, float *out_step)
{
    float top = 0, by;
    for (int64_t i = 0; i < count; i++)
        if (!(fabsf(a[i]) <= top)) top = isnan(top) ? top : fabsf(a[i]);
    by        = top > 0 && isfinite(top) ? 127 / top : 0;
    *out_step = top / 127;
    for (int64_t i = 0; i < count; i++) out[i] = isfinite(by) && isfinite(top) ? (int8_t)rintf(a[i] * by) : 0;
}

HoloStatus holo_nbits_sizes(const HoloCall *call, HoloNBits *out)
{
    int64_t bits = holo_attr_int(call, "bits", 4);
    *out         = (HoloNBits){.depth = holo_attr_int(call, "K", 0),
                               .cols  = holo_attr_int(call, "N", 0),
                               .block = holo_attr_int(call, "block_size", 0)};
    if (out->depth < 1 || out->cols < 1 || out->depth > SIZE_LIMIT || out->cols > SIZE_LIMIT)
        return holo_call_fail(call, HOLO_BAD_MODEL, "K and N are %lld and %lld", (long long)out->depth,
                              (long long)out->cols);
    if (out->block < 8 || out->block > BLOCK_LIMIT || out->block & (out->block - 1))
        return holo_call_fail(call, HOLO_BAD_MODEL, "block_size is %lld, expected a power of 2", (long long)out->block);
    if (bits < 2 || bits > 8)
        return holo_call_fail(call, HOLO_BAD_MODEL, "bits is %lld, expected 2 to 8", (long long)bits);
    if (holo_nbits_is_rounded(call) && (out->block < HOLO_NBITS_ROUNDED_LEAST || out->block > HOLO_NBITS_ROUNDED_MOST))
        return holo_call_fail(call, HOLO_BAD_MODEL, "block_size is %lld, expected 16 to 256", (long long)out->block);
    out->bits       = (int)bits;
    out->blocks     = (out->depth + out->block - 1) / out->block;
    out->column     = out->blocks * out->block * bits / 8;
    out->zero_bytes = (out->blocks * bits + 7) / 8;
    return HOLO_OK;
}

HoloStatus holo_nbits_entries(const HoloCall *call, const HoloNBits *v)
{
    const HoloTensor *zeros = holo_in(call, ZEROS);
    HOLO_TRY(expect_entries(call, B, v->cols * v->column));
    HOLO_TRY(expect_entries(call, SCALES, v->cols * v->blocks));
    HOLO_TRY(expect_entries(call, ZEROS, v->cols * (zeros && zeros->dtype == HOLO_U8 ? v->zero_bytes : v->blocks)));
    return expect_entries(call, BIAS, v->cols);
}

static HoloStatus infer_matmul(HoloCall *call)
{
    HoloNBits v;
    HOLO_TRY(holo_nbits_sizes(call, &v));
    HOLO_TRY(holo_expect_rank(call, A, 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_types(call, B, HOLO_BIT(U8)));
    HOLO_TRY(holo_expect_types(call, SCALES, HOLO_TYPES_FLOAT));
    HOLO_TRY(holo_expect_types(call, GROUPS, HOLO_BIT(I32)));
    return holo_contract_infer(call, v.depth, v.cols);
}

// Rows of A, rounded block by block.
static void read_rounded(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    (void)batch;
    const NBits *v     = c->arg;
    int64_t      block = v->sizes.block, end = k + count;
    double       wide[HOLO_NBITS_ROUNDED_MOST];
    float        a[HOLO_NBITS_ROUNDED_MOST], step;
    int8_t       number[HOLO_NBITS_ROUNDED_MOST];
    while (k < end) {
        int64_t first = k / block * block, size = c->depth - first < block ? c->depth - first : block;
        holo_read_f(c->x, row * c->depth + first, 1, size, wide);
        for (int64_t i = 0; i < size; i++) a[i] = (float)wide[i];
        holo_nbits_round(size, a, number, &step);
        for (; k < end && k < first + size; k++) out++->f = (double)number[k - first] * (double)step;
    }
}

static void read_b(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    (void)batch;
    const NBits     *v     = c->arg;
    const HoloNBits *sizes = &v->sizes;
    int64_t          group = v->groups ? holo_get_i(v->groups, k) : k / sizes->block;
    for (int64_t j = col; j < col + count; j++) {
        double q = holo_nbits_at(v->b + j * sizes->column, k, sizes->bits);
        out[j - col].f =
            (q - holo_nbits_zero(sizes, v->zeros, j, group)) * holo_get_f(v->scales, j * sizes->blocks + group);
    }
}

static void add_bias(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    (void)batch, (void)row;
    const NBits *v = c->arg;
    double       bias[HOLO_CONTRACT_COLS];
    holo_read_f(v->bias, col, 1, count, bias);
    for (int64_t j = 0; j < count; j++) sums[j].f += bias[j];
}

static HoloStatus check_groups(const HoloCall *call, const NBits *v)
{
    if (!v->groups) return HOLO_OK;
    int64_t count = holo_tensor_count(v->groups);
    if (count < v->sizes.depth)
        return holo_call_fail(call, HOLO_BAD_INPUT, "g_idx has %lld entries, expected %lld", (long long)count,
                              (long long)v->sizes.depth);
    for (int64_t k = 0; k < v->sizes.depth; k++) {
        int64_t group = holo_get_i(v->groups, k);
        if (group < 0 || group >= v->sizes.blocks)
            return holo_call_fail(call, HOLO_BAD_INPUT, "g_idx has %lld, expected 0 to %lld", (long long)group,
                                  (long long)v->sizes.blocks - 1);
    }
    return HOLO_OK;
}

static HoloStatus init_matmul(const HoloCall *call, NBits *v)
{
    *v = (NBits){.b      = call->in[B]->data,
                 .scales = call->in[SCALES],
                 .zeros  = holo_in(call, ZEROS),
                 .groups = holo_in(call, GROUPS),
                 .bias   = holo_in(call, BIAS)};
    HOLO_TRY(holo_nbits_sizes(call, &v->sizes));
    HOLO_TRY(holo_nbits_entries(call, &v->sizes));
    v->contract   = holo_contract_rows(call, v->sizes.depth, v->sizes.cols, v);
    v->contract.b = read_b;
    if (holo_nbits_is_rounded(call)) v->contract.a = read_rounded;
    if (v->bias) v->contract.finish = add_bias;
    return HOLO_OK;
}

static HoloStatus eval_matmul(HoloCall *call)
{
    NBits v;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(init_matmul(call, &v));
    HOLO_TRY(check_groups(call, &v));
    holo_contract(call, &v.contract);
    return HOLO_OK;
}

static double at_matmul(const HoloCall *call, int64_t index) // of a call that has been evaluated
{
    NBits v;
    return init_matmul(call, &v) ? NAN : holo_contract_at(&v.contract, index);
}

// ---- GatherBlockQuantized: rows of a quantized table, made real

enum { DATA, INDICES, GATHER_SCALES, GATHER_ZEROS };

typedef struct Gather {
    int        axis, quantized; // axes
    int64_t    block;
    int        bits;  // of packed u8 data; 0: one element is one number
    HoloTensor table; // data with its sizes counted in numbers
} Gather;

static HoloStatus read_gather(const HoloCall *call, Gather *g)
{
    const HoloTensor *data = call->in[DATA];
    int64_t           bits = holo_attr_int(call, "bits", 4);
    HOLO_TRY(holo_expect_rank(call, DATA, 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_attr_axis(call, "gather_axis", 0, data->rank, &g->axis));
    HOLO_TRY(holo_attr_axis(call, "quantize_axis", 1, data->rank, &g->quantized));
    g->block = holo_attr_int(call, "block_size", 128);
    if (g->block < 1) return holo_call_fail(call, HOLO_BAD_MODEL, "block_size is %lld", (long long)g->block);
    if (bits != 2 && bits != 4 && bits != 8)
        return holo_call_fail(call, HOLO_BAD_MODEL, "bits is %lld, expected 2, 4 or 8", (long long)bits);
    g->bits  = data->dtype == HOLO_U8 ? (int)bits : 0;
    g->table = *data;
    if (g->bits) {
        HoloDim *last = &g->table.dim[data->rank - 1];
        *last         = holo_dim_mul(call->dims, *last, 8 / g->bits);
        if (g->quantized != data->rank - 1)
            return holo_call_fail(call, HOLO_BAD_MODEL, "packed data must be quantized along the last axis");
        if (*last == HOLO_DIM_UNKNOWN && !holo_dim_is_symbolic(data->dim[data->rank - 1]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the data is too large");
    }
    return HOLO_OK;
}

static HoloStatus infer_gather(HoloCall *call)
{
    Gather  g;
    HoloDim dim[2 * HOLO_MAX_RANK], blocks;
    int     rank = 0;
    HOLO_TRY(read_gather(call, &g));
    const HoloTensor *indices = call->in[INDICES], *scales = call->in[GATHER_SCALES];
    HOLO_TRY(holo_expect_types(call, INDICES, HOLO_BIT(I32) | HOLO_BIT(I64)));
    HOLO_TRY(holo_expect_types(call, GATHER_SCALES, HOLO_TYPES_FLOAT));
    HOLO_TRY(holo_expect_types(call, GATHER_ZEROS, UINT64_C(1) << call->in[DATA]->dtype));
    HOLO_TRY(holo_expect_rank(call, GATHER_SCALES, g.table.rank, g.table.rank));
    blocks = holo_dim_div_ceil(call->dims, g.table.dim[g.quantized], g.block);
    for (int d = 0; d < g.table.rank; d++)
        if (holo_dims_differ(scales->dim[d], d == g.quantized ? blocks : g.table.dim[d]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the scales do not fit the data in dimension %d", d);
    for (int d = 0; d < g.table.rank; d++) {
        if (d != g.axis) dim[rank++] = g.table.dim[d];
        for (int i = 0; d == g.axis && i < indices->rank; i++) dim[rank++] = indices->dim[i];
    }
    return holo_out_type(call, 0, (HoloDtype)scales->dtype, rank, dim);
}

// Packed numbers of one scale, to f32: the product of a few bits and a float is rounded once, here as in double.
static void packed_put(const Gather *g, int64_t at, int64_t count, int zero, float scale, float *out)
{
    const uint8_t *data = g->table.data;
    if (g->bits == 8)
        for (int64_t j = 0; j < count; j++) out[j] = (float)(data[at + j] - zero) * scale;
    else
        for (int64_t j = 0; j < count; j++) out[j] = (float)((int)holo_nbits_at(data, at + j, g->bits) - zero) * scale;
}

// Numbers of the table from `at` on as real ones. Those of a block, where they lie side by side, share a scale.
static void numbers_put(const HoloCall *call, const Gather *g, int64_t inner, int64_t at, int64_t count, int64_t to)
{
    const HoloTensor *zeros = holo_in(call, GATHER_ZEROS);
    int64_t           size = g->table.dim[g->quantized], blocks = size / g->block + (size % g->block != 0);
    for (int64_t next; count > 0; count -= next, at += next, to += next) {
        int64_t outer = at / inner / size, place = at / inner % size, block = place / g->block;
        int64_t entry = (outer * blocks + block) * inner + at % inner, end = (block + 1) * g->block;
        double  zero = g->bits ? 1 << (g->bits - 1) : 0, scale = holo_get_f(call->in[GATHER_SCALES], entry);
        next = inner > 1 ? 1 : (end < size ? end : size) - place;
        if (next > count) next = count;
        if (zeros && g->bits)
            zero = holo_nbits_at((const uint8_t *)zeros->data + outer * ((blocks * g->bits + 7) / 8), block, g->bits);
        else if (zeros)
            zero = holo_get_f(zeros, entry);
        if (g->bits && call->out[0]->dtype == HOLO_F32) {
            packed_put(g, at, next, (int)zero, (float)scale, (float *)call->out[0]->data + to);
            continue;
        }
        for (int64_t j = 0; j < next; j++) {
            double x = g->bits ? holo_nbits_at(g->table.data, at + j, g->bits) : holo_get_f(&g->table, at + j);
            holo_put_f(call->out[0], to + j, (x - zero) * scale);
        }
    }
}

static HoloStatus eval_gather(HoloCall *call)
{
    Gather            g;
    const HoloTensor *indices = call->in[INDICES];
    int64_t           out     = 0;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(read_gather(call, &g));
    int64_t rows = g.table.dim[g.axis], count = holo_tensor_count(indices);
    int64_t outer = holo_product(g.axis, g.table.dim),
            run   = holo_product(g.table.rank - g.axis - 1, g.table.dim + g.axis + 1);
    int64_t inner = holo_product(g.table.rank - g.quantized - 1, g.table.dim + g.quantized + 1);
    int64_t size = g.table.dim[g.quantized], blocks = size / g.block + (size % g.block != 0);
    int64_t stacks = holo_tensor_count(&g.table) / size / inner;
    HOLO_TRY(
        expect_entries(call, GATHER_ZEROS, g.bits ? stacks * ((blocks * g.bits + 7) / 8) : stacks * blocks * inner));
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < count; i++) {
            int64_t row = holo_get_i(indices, i);
            if (row < -rows || row >= rows)
                return holo_call_fail(call, HOLO_BAD_INPUT, "index %lld is outside the %lld rows", (long long)row,
                                      (long long)rows);
            int64_t at = (o * rows + (row < 0 ? row + rows : row)) * run;
            numbers_put(call, &g, inner, at, run, out);
            out += run;
        }
    return HOLO_OK;
}

#define MS .domain = "com.microsoft", .since = 1, .out_min = 1, .out_max = 1

const HoloOp holo_ops_nbits[] = {
    {.name = "MatMulNBits",
     MS,
     .in_min = 3,
     .in_max = 6,
     .types  = HOLO_TYPES_FLOAT,
     .flags  = HOLO_OP_SCALED,
     .infer  = infer_matmul,
     .eval   = eval_matmul,
     .at     = at_matmul},
    {.name    = "MatMulNBits",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 6,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .flags   = HOLO_OP_SCALED,
     .infer   = infer_matmul,
     .eval    = eval_matmul,
     .at      = at_matmul},
    {.name = "GatherBlockQuantized",
     MS,
     .in_min = 3,
     .in_max = 4,
     .types  = HOLO_BIT(U8) | HOLO_BIT(I4) | HOLO_BIT(U4),
     .flags  = HOLO_OP_SCALED,
     .infer  = infer_gather,
     .eval   = eval_gather},
    {0},
};
