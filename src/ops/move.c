// move.c - lists of whole numbers, and checked offsets of indexed elements. See move.h.
#include "ops/move.h"
#include "kernels/tiles/tiles.h"
#include "ops/spread.h"

enum { DEPTH = 8 }; // how deep expressions are examined

// ---- lists of whole numbers

// Refuses numbers from a file that would read as expressions: they exceed all sizes.
static HoloStatus check_plain(const HoloCall *call, const HoloNumbers *n, const char *what)
{
    for (int64_t i = 0; i < n->count; i++)
        if (holo_dim_is_symbolic(holo_number(n, i)))
            return holo_call_fail(call, HOLO_BAD_MODEL, "%s holds %lld, which is out of range", what,
                                  (long long)holo_number(n, i));
    return HOLO_OK;
}

static HoloStatus numbers_of_attr(const HoloCall *call, const HoloAttr *attr, HoloNumbers *out)
{
    if (attr->kind != HOLO_ATTR_INTS && attr->kind != HOLO_ATTR_INT)
        return holo_call_fail(call, HOLO_BAD_MODEL, "attribute %s is not a list of whole numbers", attr->name);
    out->given = out->known = true;
    out->count              = attr->kind == HOLO_ATTR_INT ? 1 : attr->count;
    out->values             = attr->kind == HOLO_ATTR_INT ? &attr->i : attr->ints;
    return check_plain(call, out, attr->name);
}

HoloStatus holo_numbers(const HoloCall *call, const char *attr, int input, HoloNumbers *out)
{
    *out              = (HoloNumbers){0};
    const HoloAttr *a = attr ? holo_attr_find(call, attr) : NULL;
    if (a) return numbers_of_attr(call, a, out);
    const HoloTensor *t = input >= 0 ? holo_in(call, input) : NULL;
    if (!t) return HOLO_OK;
    uint64_t types = HOLO_TYPES_INT | HOLO_TYPES_UINT;
    if (call->version < 6) types |= HOLO_TYPES_FLOAT; // sizes had the type of the data
    HOLO_TRY(holo_expect_types(call, input, types));
    HOLO_TRY(holo_expect_rank(call, input, 0, 1));
    out->given = true;
    out->count = t->rank ? t->dim[0] : 1;
    if (holo_dim_is_symbolic(out->count)) return HOLO_OK;
    out->known  = true;
    out->values = call->contents ? call->contents[input] : NULL;
    if (out->values || out->count == 0) return HOLO_OK;
    out->tensor = t;
    out->known  = t->data;
    return t->data ? check_plain(call, out, "an input of sizes") : HOLO_OK;
}

HoloStatus holo_numbers_needed(const HoloCall *call, const char *attr, int input, int64_t max, HoloNumbers *out)
{
    HOLO_TRY(holo_numbers(call, attr, input, out));
    if (!out->given)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s must be given", attr ? attr : "a list of whole numbers");
    if (!holo_dim_is_symbolic(out->count) && out->count > max)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s has %lld entries, of at most %lld", attr ? attr : "a list",
                              (long long)out->count, (long long)max);
    return HOLO_OK;
}

bool holo_scalar(const HoloCall *call, int input, HoloDim *out)
{
    return holo_in(call, input) && holo_in_ints(call, input, out, 1) == 1;
}

static bool is_size(const HoloDims *dims, HoloDim d, int depth)
{
    if (!holo_dim_is_symbolic(d)) return d >= 0;
    if (d == HOLO_DIM_UNKNOWN || depth == 0) return false;
    const HoloDimNode *node = holo_dims_node(dims, holo_dim_entry(d));
    if (node->op == HOLO_DIM_SYMBOL) return true;
    bool a = is_size(dims, node->a, depth - 1), b = is_size(dims, node->b, depth - 1);
    return node->op == HOLO_DIM_MAX ? a || b : a && b;
}

bool holo_dim_is_size(const HoloDims *dims, HoloDim d)
{
    return is_size(dims, d, DEPTH);
}

bool holo_dim_agree(HoloDim a, HoloDim b, HoloDim *out)
{
    bool both   = !holo_dim_is_symbolic(a) && !holo_dim_is_symbolic(b);
    bool take_b = holo_dim_is_symbolic(a) && (!holo_dim_is_symbolic(b) || a == HOLO_DIM_UNKNOWN);
    *out        = take_b ? b : a;
    return !both || a == b;
}

HoloDim holo_dim_product(HoloDims *dims, const HoloDim *dim, int from, int to)
{
    HoloDim product = 1;
    for (int i = from; i < to; i++) product = holo_dim_mul(dims, product, dim[i]);
    return product;
}

// ---- elements

typedef struct Wide {
    int            rank, axis; // the axis that is cut
    int64_t        parts;
    const int64_t *dim, *dst_stride, *src_stride;
    size_t         size;
    char          *dst;
    const char    *src;
} Wide;

static void move_part(void *arg, int64_t part, int worker)
{
    (void)worker;
    const Wide *w   = arg;
    int64_t     all = w->dim[w->axis], from = all * part / w->parts, to = all * (part + 1) / w->parts;
    int64_t     dim[HOLO_MAX_RANK];
    memcpy(dim, w->dim, (size_t)w->rank * sizeof *dim);
    dim[w->axis] = to - from;
    holo_move(w->rank, dim, w->size, w->dst + from * w->dst_stride[w->axis] * (int64_t)w->size, w->dst_stride,
              w->src + from * w->src_stride[w->axis] * (int64_t)w->size, w->src_stride);
}

void holo_move_wide(const HoloCall *call, int rank, const int64_t *dim, size_t size, void *dst,
                    const int64_t *dst_stride, const void *src, const int64_t *src_stride)
{
    enum { PARTS = 32, ENOUGH = 8, LINE = 64 };
    Wide   w     = {rank, -1, 0, dim, dst_stride, src_stride, size, dst, src};
    double bytes = (double)size;
    for (int d = 0; d < rank; d++) {
        bytes *= (double)dim[d];
        // The first dimension that is long enough, or the longest. Two threads should not write to the same cache line.
        bool is_apart = dst_stride[d] * (int64_t)size >= LINE;
        if (is_apart && (w.axis < 0 || (dim[w.axis] < ENOUGH && dim[d] > dim[w.axis]))) w.axis = d;
    }
    if (w.axis < 0 || dim[w.axis] < 2 || bytes < HOLO_SPREAD_COST * 4.0) {
        holo_move(rank, dim, size, dst, dst_stride, src, src_stride);
        return;
    }
    w.parts = dim[w.axis] < PARTS ? dim[w.axis] : PARTS;
    holo_spread(call, w.parts, bytes, move_part, &w);
}

void holo_copy_all(HoloTensor *to, const HoloTensor *from)
{
    size_t bytes = holo_tensor_bytes(to);
    if (bytes > 0 && to->data != from->data) memmove(to->data, from->data, bytes);
}

void holo_fill(const HoloCall *call, HoloTensor *t, const void *value)
{
    enum { FILL_RUN = 1 << 14 };
    size_t bytes = holo_tensor_bytes(t);
    if (bytes == 0) return;
    size_t size = holo_dtype_size(t->dtype);
    char  *to   = t->data;
    if (value)
        memcpy(to, value, size);
    else
        memset(to, 0, size);
    for (size_t done = size, more; done < bytes && !holo_call_is_over(call);
         done += more) { // copies what is there, again and again
        more = done < FILL_RUN ? done : FILL_RUN;
        if (more > bytes - done) more = bytes - done;
        memcpy(to + done, to, more);
    }
}

HoloStatus holo_index(const HoloCall *call, int64_t index, int64_t size, int64_t *out)
{
    *out = index < 0 ? index + size : index;
    if (*out >= 0 && *out < size) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_INPUT, "index %lld is outside a dimension of %lld", (long long)index,
                          (long long)size);
}

static HoloStatus index_tuple(const HoloCall *call, int depth, const int64_t *at, const int64_t *dim, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < depth; i++) {
        int64_t index;
        HOLO_TRY(holo_index(call, at[i], dim[i], &index));
        *out = *out * dim[i] + index;
    }
    return HOLO_OK;
}

HoloStatus holo_index_tuples(const HoloCall *call, const HoloTensor *indices, int64_t first, int64_t count, int depth,
                             const int64_t *dim, int64_t *out)
{
    int64_t tile[HOLO_TILE];
    holo_read_i(indices, first * depth, 1, count * depth, tile);
    for (int64_t i = 0; i < count; i++) {
        const int64_t *at    = tile + i * depth;
        uint64_t       place = 0;
        bool           plain = true; // no index counts from the end or is wrong
        for (int d = 0; d < depth; d++) {
            plain = plain && (uint64_t)at[d] < (uint64_t)dim[d];
            place = place * (uint64_t)dim[d] + (uint64_t)at[d];
        }
        out[i] = (int64_t)place;
        if (!plain) HOLO_TRY(index_tuple(call, depth, at, dim, out + i));
    }
    return HOLO_OK;
}

void holo_elements_init(HoloElements *e, const HoloCall *call, const HoloTensor *data, const HoloTensor *indices,
                        int axis)
{
    int last   = data->rank - 1;
    e->call    = call;
    e->indices = indices;
    e->axis    = axis;
    holo_strides(data->rank, data->dim, e->stride);
    e->size          = data->dim[axis];
    e->axis_stride   = e->stride[axis];
    e->stride[axis]  = 0;
    e->column_stride = e->stride[last];
    e->walk          = holo_walk(last, indices->dim);
    e->column        = indices->dim[last];
    e->base = e->start = e->count = 0;
}

// Makes indices at e->offset that count from the end count from the beginning. All are examined before one is refused,
// so the loop has no exit in the middle.
static HoloStatus indices_resolve(HoloElements *e, int64_t count)
{
    uint64_t size = (uint64_t)e->size, signs = 0; // of what must not be negative: comparisons would be slower
    if (holo_tiles()->outside[3](count, e->offset, e->size) == count) return HOLO_OK;
    for (int64_t i = 0; i < count; i++) {
        uint64_t at = (uint64_t)e->offset[i] + ((uint64_t)(e->offset[i] >> 63) & size);
        signs |= at | (size - 1 - at);
        e->offset[i] = (int64_t)at;
    }
    if (!(signs >> 63)) return HOLO_OK;
    holo_read_i(e->indices, e->start, 1, count, e->offset);
    for (int64_t i = 0; i < count; i++) HOLO_TRY(holo_index(e->call, e->offset[i], e->size, &e->offset[i]));
    return HOLO_OK;
}

HoloStatus holo_elements_next(HoloElements *e)
{
    int64_t columns = e->indices->dim[e->walk.rank];
    e->start += e->count;
    e->count = 0;
    if (e->column == columns) {
        if (columns == 0 || !holo_walk_next(&e->walk)) return HOLO_OK;
        e->base   = holo_walk_at(&e->walk, e->stride);
        e->column = 0;
    }
    int64_t count = columns - e->column < HOLO_TILE ? columns - e->column : HOLO_TILE;
    holo_read_i(e->indices, e->start, 1, count, e->offset);
    HOLO_TRY(indices_resolve(e, count));
    const HoloTiles *tiles = holo_tiles();
    int64_t          place[HOLO_TILE];
    tiles->iota[3](count, (uint64_t)(e->base + e->column * e->column_stride), (uint64_t)e->column_stride, place);
    tiles->op[HOLO_TILE_MAD][HOLO_TILE_I64](count, e->offset, &e->axis_stride, place, e->offset, count > 1 ? 2 : 0);
    e->column += count;
    e->count = count;
    return HOLO_OK;
}

HoloStatus holo_elements_check(const HoloCall *call, int data, int indices, int axis)
{
    const HoloTensor *x = holo_in(call, data), *at = holo_in(call, indices);
    HOLO_TRY(holo_expect_types(call, indices, HOLO_TYPES_INDEX));
    HOLO_TRY(holo_expect_rank(call, indices, x->rank, x->rank));
    for (int i = 0; i < x->rank; i++) {
        bool known = !holo_dim_is_symbolic(x->dim[i]) && !holo_dim_is_symbolic(at->dim[i]);
        if (i != axis && known && at->dim[i] > x->dim[i])
            return holo_call_fail(call, HOLO_BAD_MODEL,
                                  "indices have %lld entries in dimension %d, where data has %lld",
                                  (long long)at->dim[i], i, (long long)x->dim[i]);
    }
    return HOLO_OK;
}
