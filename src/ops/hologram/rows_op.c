// rows_op.c - TakeRows of domain hologram: rows of a table of f32, f16, bf16 or blocks, as f32.
//
// TakeRows(indices, table) is Gather along the first axis with the Cast or DecodeBlocks behind it. Its kernel reads the table as a product packs it, so
// that a model whose embeddings are also its last weights stores them once.
#include "ops/hologram/rows_op.h"
#include "format/small_float.h"
#include "ops/move.h"
#include "ops/spread.h"

#include <string.h>

HoloStatus holo_rows_sizes(const HoloCall *call, const HoloTensor *table, HoloTakenRows *out)
{
    HoloBlocks blocks;
    *out = (HoloTakenRows){.dtype = (HoloDtype)table->dtype, .count = table->dim[1]};
    if (table->dtype != HOLO_U8) return HOLO_OK;
    HOLO_TRY(holo_blocks_sizes(call, &blocks));
    if (holo_dims_differ(table->dim[1], blocks.bytes))
        return holo_call_fail(call, HOLO_BAD_MODEL, "rows of blocks have %lld bytes, expected %lld",
                              (long long)table->dim[1], (long long)blocks.bytes);
    out->type  = blocks.type;
    out->count = blocks.count;
    return HOLO_OK;
}

void holo_rows_read(const HoloTakenRows *rows, const HoloTensor *table, int64_t at, float *out)
{
    if (rows->type) {
        holo_block_decode(rows->type, rows->count / rows->type->count,
                          (const uint8_t *)table->data + at * table->dim[1], out);
        return;
    }
    const uint16_t *few = (const uint16_t *)table->data + at * rows->count;
    if (rows->dtype == HOLO_F32)
        memcpy(out, (const float *)table->data + at * rows->count, (size_t)rows->count * sizeof *out);
    else
        for (int64_t i = 0; i < rows->count; i++)
            out[i] = rows->dtype == HOLO_F16 ? holo_f16_decode(few[i]) : holo_bf16_to_f32(few[i]);
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *at = call->in[HOLO_ROWS_AT];
    HoloDim           dim[HOLO_MAX_RANK];
    HoloTakenRows     rows;
    HOLO_TRY(holo_expect_rank(call, HOLO_ROWS_TABLE, 2, 2));
    HOLO_TRY(holo_expect_rank(call, HOLO_ROWS_AT, 0, HOLO_MAX_RANK - 1));
    HOLO_TRY(holo_expect_types(call, HOLO_ROWS_TABLE, HOLO_BIT(F32) | HOLO_BIT(F16) | HOLO_BIT(BF16) | HOLO_BIT(U8)));
    HOLO_TRY(holo_rows_sizes(call, call->in[HOLO_ROWS_TABLE], &rows));
    memcpy(dim, at->dim, sizeof *dim * (size_t)at->rank);
    dim[at->rank] = rows.count;
    return holo_out_type(call, 0, HOLO_F32, at->rank + 1, dim);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *table = call->in[HOLO_ROWS_TABLE], *at = call->in[HOLO_ROWS_AT];
    HoloTakenRows     rows;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_rows_sizes(call, call->in[HOLO_ROWS_TABLE], &rows));
    float *out = call->out[0]->data;
    for (int64_t i = 0, count = holo_tensor_count(at), row; i < count; i++, out += rows.count) {
        HOLO_TRY(holo_call_continue(call));
        HOLO_TRY(holo_index(call, holo_get_i(at, i), table->dim[0], &row));
        holo_rows_read(&rows, table, row, out);
    }
    return HOLO_OK;
}

const HoloOp holo_ops_rows_op[] = {
    {.name    = "TakeRows",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(I32) | HOLO_BIT(I64),
     .flags   = HOLO_OP_SCALED,
     .infer   = infer,
     .eval    = eval},
    {0},
};
