// hot_rows.c - HotRows of domain "hologram": rows of a table by index, and zeros for an index that names no row. This
// equals a one-hot matrix times the table.
#include "ops/move.h"

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *table = call->in[0], *at = call->in[1];
    HoloDim           dim[HOLO_MAX_RANK + 1];
    HOLO_TRY(holo_expect_rank(call, 0, 2, 2));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_INDEX));
    HOLO_TRY(holo_expect_rank(call, 1, 0, HOLO_MAX_RANK - 1));
    for (int i = 0; i < at->rank; i++) dim[i] = at->dim[i];
    dim[at->rank] = table->dim[1];
    return holo_out_type(call, 0, table->dtype, at->rank + 1, dim);
}

// With the attribute wrap, -1 is the last row, as in OneHot; else it names no row.
static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *table = call->in[0], *at = call->in[1];
    int64_t           rows = table->dim[0], count = holo_tensor_count(at), tile[HOLO_TILE];
    size_t            bytes = (size_t)table->dim[1] * holo_dtype_size(table->dtype);
    bool              wraps = holo_attr_int(call, "wrap", 0) != 0;
    char             *to    = call->out[0]->data;
    for (int64_t start = 0; start < count && bytes; start += HOLO_TILE) {
        int64_t n = count - start < HOLO_TILE ? count - start : HOLO_TILE;
        holo_read_i(at, start, 1, n, tile);
        for (int64_t i = 0; i < n; i++, to += bytes) {
            int64_t row = wraps && tile[i] < 0 && tile[i] >= -rows ? tile[i] + rows : tile[i];
            if (row >= 0 && row < rows)
                memcpy(to, (const char *)table->data + (size_t)row * bytes, bytes);
            else
                memset(to, 0, bytes);
        }
    }
    return HOLO_OK;
}

const HoloOp holo_ops_hot_rows[] = {
    {.name    = "HotRows",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT | HOLO_TYPES_INT | HOLO_TYPES_UINT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
