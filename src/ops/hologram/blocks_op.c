// blocks_op.c - weights in blocks (format/blocks.h), of domain hologram: DecodeBlocks makes them real numbers,
// MatMulBlocks multiplies by rows of them.
#include "ops/hologram/blocks_op.h"
#include "ops/contract.h"
#include "ops/hologram/program.h"
#include "ops/microsoft/nbits.h"
#include "ops/spread.h"

#include <string.h>

HoloStatus holo_blocks_sizes(const HoloCall *call, HoloBlocks *out)
{
    HoloString name = holo_attr_string(call, "type", "");
    *out            = (HoloBlocks){.count = holo_attr_int(call, "count", 0)};
    for (int i = 0; holo_block_type_at(i) && !out->type; i++) {
        const char *known = holo_block_type_at(i)->name;
        if (strlen(known) == name.size && !memcmp(known, name.data, name.size)) out->type = holo_block_type_at(i);
    }
    if (!out->type)
        return holo_call_fail(call, HOLO_BAD_MODEL, "'%.*s' is not a block type", name.size < 64 ? (int)name.size : 64,
                              name.size ? name.data : "");
    out->bytes = holo_block_row_bytes(out->type, out->count);
    if (out->count < 1 || out->bytes < 0)
        return holo_call_fail(call, HOLO_BAD_MODEL, "rows have %lld elements, expected a multiple of %d",
                              (long long)out->count, out->type->count);
    out->rounds = holo_attr_int(call, "rounds", 0) != 0;
    return HOLO_OK;
}

static HoloStatus expect_row(const HoloCall *call, int input, const HoloBlocks *v)
{
    const HoloTensor *t = call->in[input];
    if (holo_dims_differ(t->dim[t->rank - 1], v->bytes))
        return holo_call_fail(call, HOLO_BAD_MODEL, "rows of blocks have %lld bytes, expected %lld",
                              (long long)t->dim[t->rank - 1], (long long)v->bytes);
    return HOLO_OK;
}

// ---- DecodeBlocks: u8 [..., bytes] to f32 [..., count]

static HoloStatus infer_decode(HoloCall *call)
{
    HoloBlocks        v;
    HoloDim           dim[HOLO_MAX_RANK];
    const HoloTensor *x = call->in[0];
    HOLO_TRY(holo_blocks_sizes(call, &v));
    HOLO_TRY(holo_expect_rank(call, 0, 1, HOLO_MAX_RANK));
    HOLO_TRY(expect_row(call, 0, &v));
    memcpy(dim, x->dim, sizeof *dim * (size_t)x->rank);
    dim[x->rank - 1] = v.count;
    return holo_out_type(call, 0, HOLO_F32, x->rank, dim);
}

typedef struct Decode {
    HoloBlocks     v;
    const uint8_t *in;
    float         *out;
} Decode;

static void decode_row(void *arg, int64_t i, int worker)
{
    const Decode *d = arg;
    (void)worker;
    holo_block_decode(d->v.type, d->v.count / d->v.type->count, d->in + i * d->v.bytes, d->out + i * d->v.count);
}

static HoloStatus eval_decode(HoloCall *call)
{
    Decode d;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_blocks_sizes(call, &d.v));
    int64_t count = holo_tensor_count(call->out[0]);
    d.in          = call->in[0]->data;
    d.out         = call->out[0]->data;
    holo_spread(call, count / d.v.count, (double)count, decode_row, &d);
    return holo_call_continue(call);
}

// ---- MatMulBlocks: f32 [..., count] times the transposed rows of u8 [n][bytes], maybe plus a bias [n], and a tail

enum { X = HOLO_BLOCKS_X, W = HOLO_BLOCKS_W, BIAS = HOLO_BLOCKS_BIAS };

static HoloStatus infer_matmul(HoloCall *call)
{
    HoloBlocks v;
    HOLO_TRY(holo_blocks_sizes(call, &v));
    HOLO_TRY(holo_expect_rank(call, X, 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_types(call, W, HOLO_BIT(U8)));
    HOLO_TRY(holo_expect_rank(call, W, 2, 2));
    HOLO_TRY(expect_row(call, W, &v));
    if (holo_in(call, BIAS)) {
        HOLO_TRY(holo_expect_types(call, BIAS, HOLO_BIT(F32)));
        HOLO_TRY(holo_expect_shape(call, BIAS, 1, call->in[W]->dim));
    }
    HOLO_TRY(holo_contract_infer(call, v.count, call->in[W]->dim[0]));
    return holo_program_tail_check(call, 3);
}

typedef struct Product {
    HoloBlocks     v;
    int64_t        rows, columns;
    const uint8_t *w;
    const float   *given, *bias; // x as it comes
    double        *x, *sums;     // x as it is multiplied; a sum for each row, for each worker
    float         *out;
} Product;

static void row_read(void *arg, int64_t i, int worker)
{
    const Product *p  = arg;
    const float   *x  = p->given + i * p->v.count;
    double        *to = p->x + i * p->v.count;
    int8_t         number[HOLO_BLOCKS_ROUNDED];
    float          step;
    (void)worker;
    for (int64_t k = 0; k < p->v.count; k += HOLO_BLOCKS_ROUNDED) {
        if (p->v.rounds) holo_nbits_round(HOLO_BLOCKS_ROUNDED, x + k, number, &step);
        for (int j = 0; j < HOLO_BLOCKS_ROUNDED; j++)
            to[k + j] = p->v.rounds ? (double)number[j] * (double)step : (double)x[k + j];
    }
}

static void column_work(void *arg, int64_t column, int worker)
{
    const Product       *p    = arg;
    const HoloBlockType *type = p->v.type;
    double              *sums = p->sums + worker * p->rows;
    float                w[HOLO_BLOCK_MOST];
    for (int64_t i = 0; i < p->rows; i++) sums[i] = 0;
    for (int64_t k = 0, b = 0; k < p->v.count; k += type->count, b++) {
        holo_block_decode(type, 1, p->w + column * p->v.bytes + b * type->bytes, w);
        for (int64_t i = 0; i < p->rows; i++) {
            const double *x   = p->x + i * p->v.count + k;
            double        sum = sums[i];
            for (int j = 0; j < type->count; j++) sum += x[j] * (double)w[j];
            sums[i] = sum;
        }
    }
    for (int64_t i = 0; i < p->rows; i++)
        p->out[i * p->columns + column] = (float)(sums[i] + (p->bias ? (double)p->bias[column] : 0));
}

static HoloStatus eval_matmul(HoloCall *call)
{
    Product p       = {.columns = call->in[W]->dim[0], .w = call->in[W]->data};
    int     workers = call->host && call->host->workers > 1 ? call->host->workers : 1;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_blocks_sizes(call, &p.v));
    p.rows = holo_tensor_count(call->out[0]) / p.columns;
    p.bias = holo_in(call, BIAS) ? call->in[BIAS]->data : NULL;
    HOLO_TRY(holo_call_temp(call, (size_t)(p.rows * p.v.count), sizeof *p.x, (void **)&p.x));
    HOLO_TRY(holo_call_temp(call, (size_t)p.rows * (size_t)workers, sizeof *p.sums, (void **)&p.sums));
    p.given = call->in[X]->data;
    p.out   = call->out[0]->data;
    holo_spread(call, p.rows, (double)p.rows * (double)p.v.count, row_read, &p);
    holo_spread(call, p.columns, (double)p.rows * (double)p.v.count * (double)p.columns, column_work, &p);
    HOLO_TRY(holo_call_continue(call));
    return holo_program_tail_eval(call, 3);
}

static double at_matmul(const HoloCall *call, int64_t index) // before the tail, which passes make
{
    HoloBlocks v;
    int64_t    columns = call->in[W]->dim[0], column = index % columns;
    float      w[HOLO_BLOCK_MOST], step;
    int8_t     number[HOLO_BLOCKS_ROUNDED];
    double     sum = 0;
    if (holo_blocks_sizes(call, &v)) return NAN;
    const uint8_t *block = (const uint8_t *)call->in[W]->data + column * v.bytes;
    const float   *x     = (const float *)call->in[X]->data + index / columns * v.count;
    for (int64_t k = 0; k < v.count; k++) {
        int j = (int)(k % v.type->count), r = (int)(k % HOLO_BLOCKS_ROUNDED);
        if (!j) holo_block_decode(v.type, 1, block + k / v.type->count * v.type->bytes, w);
        if (!r && v.rounds) holo_nbits_round(HOLO_BLOCKS_ROUNDED, x + k, number, &step);
        sum += (v.rounds ? (double)number[r] * (double)step : (double)x[k]) * (double)w[j];
    }
    const HoloTensor *bias = holo_in(call, BIAS);
    return sum + (bias ? (double)((const float *)bias->data)[column] : 0);
}

const HoloOp holo_ops_blocks_op[] = {
    {.name    = "DecodeBlocks",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(U8),
     .flags   = HOLO_OP_SCALED,
     .infer   = infer_decode,
     .eval    = eval_decode},
    {.name    = "MatMulBlocks",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2 + HOLO_MAP_INPUTS,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .flags   = HOLO_OP_SCALED,
     .infer   = infer_matmul,
     .eval    = eval_matmul,
     .at      = at_matmul},
    {0},
};
