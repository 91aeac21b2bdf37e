// tflite_sparse.c - sparse tensors: their dimensions, and those of blocks inside of them, in the order in which they are
// walked; each is dense, or says which indices are there.
#include "import/tflite/tflite.h"

#include <string.h>

enum { LEVELS_MAX = 2 * HOLO_TF_RANK_MAX };

typedef struct Level {
    int64_t      size; // of a dense one
    bool         is_sparse;
    HoloFlatList segments, indices;
    int          segment_width, index_width;
    int          dim;    // of the tensor
    int64_t      stride; // elements of the tensor for each index
} Level;

typedef struct Walk {
    HoloTf             *im;
    const HoloTfTensor *tensor;
    Level               level[LEVELS_MAX];
    int                 levels;
    const uint8_t      *from;
    int64_t             count, at; // elements that are stored
    HoloTensor         *out;
    int64_t             total;
} Walk;

static HoloStatus wrong(const Walk *w)
{
    return holo_fail(w->im->import->error, HOLO_BAD_MODEL, "tensor '%.200s': what it says of its zeros is wrong",
                     w->tensor->name);
}

static HoloFlatList list_read(HoloFlatTable dim, int type_field, int *out_width)
{
    int64_t       type  = holo_flat_u8(dim, type_field, 0);
    HoloFlatTable table = holo_flat_table(dim, type_field + 1);
    *out_width          = type == INDEX_I32 ? 4 : type == INDEX_U16 ? 2 : 1;
    return holo_flat_list(table, 0, (size_t)*out_width);
}

static int64_t list_at(HoloFlatList list, int width, int64_t i)
{
    const uint8_t *p = holo_flat_list_bytes(list) + i * width;
    uint32_t       x = 0;
    memcpy(&x, p, (size_t)width);
    return x > INT32_MAX ? -1 : (int64_t)x;
}

// Which dimension of the tensor each level walks, and how far a step of it goes.
static HoloStatus levels_read(Walk *w, HoloFlatTable sparsity)
{
    const HoloTensor *t = &w->tensor->shape;
    HoloFlatList order = holo_flat_list(sparsity, SPARSE_ORDER, 4), blocks = holo_flat_list(sparsity, SPARSE_BLOCKS, 4);
    HoloFlatList dims = holo_flat_list(sparsity, SPARSE_DIMENSIONS, 4);
    int64_t      stride[HOLO_MAX_RANK], block[HOLO_MAX_RANK];
    if (order.count != (size_t)t->rank + blocks.count || dims.count != order.count || order.count > LEVELS_MAX)
        return wrong(w);
    w->levels = (int)order.count;
    holo_strides(t->rank, t->dim, stride);
    for (int d = 0; d < t->rank; d++) block[d] = 1;
    for (int i = 0; i < w->levels; i++) {
        HoloFlatTable dim = holo_flat_list_table(dims, (size_t)i);
        Level        *l   = &w->level[i];
        int64_t       at  = holo_flat_list_i32(order, (size_t)i);
        l->is_sparse      = holo_flat_i8(dim, DIM_FORMAT, 0) != 0;
        l->size           = holo_flat_i32(dim, DIM_SIZE, 0);
        l->segments       = list_read(dim, DIM_SEGMENTS_TYPE, &l->segment_width);
        l->indices        = list_read(dim, DIM_INDICES_TYPE, &l->index_width);
        if (at < 0 || at >= w->levels || l->size < 0) return wrong(w);
        int64_t of = at < t->rank ? at : holo_flat_list_i32(blocks, (size_t)(at - t->rank));
        if (of < 0 || of >= t->rank) return wrong(w);
        l->dim = (int)of;
        if (at >= t->rank && l->is_sparse) return wrong(w);
        if (at >= t->rank &&
            (!l->size || !holo_mul(block[of], l->size, &block[of]) || block[of] > t->dim[of] + !t->dim[of]))
            return wrong(w);
        l->stride = at >= t->rank ? stride[of] : -1; // set below, when the size of blocks is known
    }
    for (int i = 0; i < w->levels; i++)
        if (w->level[i].stride < 0) w->level[i].stride = stride[w->level[i].dim] * block[w->level[i].dim];
    return w->im->flat.status;
}

static HoloStatus put(Walk *w, int64_t at)
{
    size_t size = holo_dtype_size(w->tensor->dtype);
    if (at < 0 || at >= w->total || w->at >= w->count) return wrong(w);
    memcpy((char *)w->out->data + (size_t)at * size, w->from + (size_t)w->at++ * size, size);
    return HOLO_OK;
}

// Walks level `i`, of which this is part number `part`, from element `at` on. As deep as there are levels.
static HoloStatus walk(Walk *w, int i, int64_t part, int64_t at)
{
    if (i == w->levels) return put(w, at);
    const Level *l = &w->level[i];
    if (!l->is_sparse) {
        for (int64_t k = 0; k < l->size; k++) HOLO_TRY(walk(w, i + 1, part * l->size + k, at + k * l->stride));
        return HOLO_OK;
    }
    if (part < 0 || (uint64_t)part + 1 >= l->segments.count) return wrong(w);
    int64_t from = list_at(l->segments, l->segment_width, part), to = list_at(l->segments, l->segment_width, part + 1);
    if (from < 0 || to < from || (uint64_t)to > l->indices.count) return wrong(w);
    for (int64_t k = from; k < to; k++) {
        int64_t index = list_at(l->indices, l->index_width, k);
        if (index < 0 || index >= w->total) return wrong(w);
        HOLO_TRY(walk(w, i + 1, k, at + index * l->stride));
    }
    return HOLO_OK;
}

// Are there no more elements, with the dense levels, than the tensor has? Then walking ends soon.
static bool is_bounded(const Walk *w)
{
    int64_t product = 1;
    for (int i = 0; i < w->levels; i++)
        if (!w->level[i].is_sparse &&
            (!holo_mul(product, w->level[i].size + !w->level[i].size, &product) || product > w->total))
            return false;
    return true;
}

HoloStatus holo_tf_dense(HoloTf *im, const HoloTfTensor *tensor, const void *bytes, size_t size, HoloTensor *out)
{
    HoloFlatTable sparsity = holo_flat_table(tensor->table, TENSOR_SPARSITY);
    size_t        each     = holo_dtype_size(tensor->dtype);
    Walk          w        = {.im = im, .tensor = tensor, .from = bytes, .out = out, .total = holo_tensor_count(out)};
    if (tensor->dtype == HOLO_STRING || holo_dtype_bits(tensor->dtype) < 8)
        return holo_fail(im->import->error, HOLO_UNSUPPORTED,
                         "tensor '%.200s' is sparse and of a type that cannot be so", tensor->name);
    w.count = (int64_t)(size / each);
    HOLO_TRY(levels_read(&w, sparsity));
    if (!is_bounded(&w)) return wrong(&w);
    HOLO_TRY(holo_import_take(im->import, (HoloString){tensor->name, strlen(tensor->name)}, w.total, each, &out->data));
    return w.total ? walk(&w, 0, 0, 0) : HOLO_OK;
}
