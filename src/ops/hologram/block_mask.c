// block_mask.c - BlockMask of domain hologram: which keys the queries of an attention may see, described by blocks.
// With it, SparseAttention of com.microsoft becomes GroupQueryAttention.
//
// A layout has a row for each block of positions: the blocks of keys that its queries see, stored like rows of a sparse
// matrix. Heads use the layouts in turn. It does not hide later positions.
#include "ops/number.h"
#include "ops/spread.h"
#include "ops/standard/attention.h"

enum { QUERY, ROWS, COLUMNS, TOTAL, LENGTHS };

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *query = call->in[QUERY], *rows = call->in[ROWS];
    int64_t           heads = holo_attr_int(call, "num_heads", 0), block = holo_attr_int(call, "block_size", 0);
    HoloDim           total, same;
    HOLO_TRY(holo_expect_rank(call, QUERY, 3, 3));
    for (int i = ROWS; i <= COLUMNS; i++) {
        HOLO_TRY(holo_expect_types(call, i, HOLO_BIT(I32)));
        HOLO_TRY(holo_expect_rank(call, i, 2, 2));
    }
    HOLO_TRY(holo_agree(call, "layouts of rows and columns", rows->dim[0], call->in[COLUMNS]->dim[0], &same));
    HOLO_TRY(holo_expect_types(call, LENGTHS, HOLO_BIT(I32)));
    HOLO_TRY(holo_number_input(call, TOTAL, &total));
    if (heads < 1 || block < 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld heads and blocks of %lld", (long long)heads,
                              (long long)block);
    if (!holo_dim_is_symbolic(rows->dim[0]) && (rows->dim[0] < 1 || heads % rows->dim[0]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld heads are not a multiple of %lld layouts", (long long)heads,
                              (long long)rows->dim[0]);
    if (!holo_dim_is_symbolic(total) && total < 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "total_sequence_length %lld is not positive", (long long)total);
    return holo_out_type(call, 0, HOLO_BOOL, 4, (HoloDim[]){query->dim[0], heads, query->dim[1], total});
}

typedef struct Layout {
    const int32_t *rows, *columns;
    int64_t        blocks, column_count; // of rows, and in all
    int64_t        block, total;
} Layout;

// The keys that the query at `position` sees.
static HoloStatus mark_row(const HoloCall *call, const Layout *l, int64_t position, uint8_t *out)
{
    int64_t row = position / l->block;
    if (position < 0 || row >= l->blocks)
        return holo_call_fail(call, HOLO_BAD_INPUT, "position %lld is in none of %lld blocks", (long long)position,
                              (long long)l->blocks);
    int64_t from = l->rows[row], to = l->rows[row + 1];
    if (from < 0 || to < from || to > l->column_count)
        return holo_call_fail(call, HOLO_BAD_INPUT, "a row has the columns %lld to %lld of %lld", (long long)from,
                              (long long)to, (long long)l->column_count);
    for (int64_t i = from; i < to; i++) {
        int64_t begin = (int64_t)l->columns[i] * l->block;
        if (begin < 0) return holo_call_fail(call, HOLO_BAD_INPUT, "column %lld", (long long)l->columns[i]);
        if (begin < l->total)
            memset(out + begin, 1, (size_t)(l->total - begin < l->block ? l->total - begin : l->block));
    }
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *rows = call->in[ROWS], *columns = call->in[COLUMNS], *lengths = call->in[LENGTHS];
    HoloTensor       *y = call->out[0];
    if (holo_out_is_empty(call)) return HOLO_OK;
    int64_t queries = y->dim[2], total = y->dim[3], block = holo_attr_int(call, "block_size", 0);
    if (holo_tensor_count(lengths) != y->dim[0] || rows->dim[1] < 2 || block > INT32_MAX)
        return holo_call_fail(call, HOLO_BAD_INPUT, "lengths, rows of blocks or their size do not fit the query");
    memset(y->data, 0, (size_t)holo_tensor_count(y));
    for (int64_t i = 0; i < y->dim[0] * y->dim[1]; i++) {
        HOLO_TRY(holo_call_continue(call));
        int64_t batch = i / y->dim[1], layout = i % y->dim[1] % rows->dim[0];
        int64_t first = queries == total ? 0 : holo_get_i(lengths, batch) - queries;
        Layout  l     = {.rows         = (const int32_t *)rows->data + layout * rows->dim[1],
                         .columns      = (const int32_t *)columns->data + layout * columns->dim[1],
                         .blocks       = rows->dim[1] - 1,
                         .column_count = columns->dim[1],
                         .block        = block,
                         .total        = total};
        for (int64_t q = 0; q < queries; q++)
            HOLO_TRY(mark_row(call, &l, first + q, (uint8_t *)y->data + (i * queries + q) * total));
    }
    return HOLO_OK;
}

static const char sparse_attention[] =
    "graph SparseAttention(q, k, v, past_k, past_v, rows, columns, total, lengths, cos, sin) -> (y, now_k, now_v) {\n"
    "    const one: i32[] = {1}\n"
    "    last = Sub@14(lengths, one)\n"
    "    mask = hologram::BlockMask@1(q, rows, columns, total, lengths) {num_heads=@num_heads,\n"
    "        block_size=@sparse_block_size}\n"
    "    y, now_k, now_v = com.microsoft::GroupQueryAttention@1(q, k, v, past_k, past_v, last, total, cos, sin, _, mask)\n"
    "        {num_heads=@num_heads, kv_num_heads=@kv_num_heads, scale=@scale, do_rotary=@do_rotary,\n"
    "        rotary_interleaved=@rotary_interleaved}\n"
    "}";

const HoloOp holo_ops_block_mask[] = {
    {.name    = "BlockMask",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 5,
     .in_max  = 5,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {.name    = "SparseAttention",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 9,
     .in_max  = 11,
     .out_min = 1,
     .out_max = 3,
     .types   = HOLO_TYPES_FLOAT,
     .body    = sparse_attention},
    {0},
};
