// cuda_index.c - steps that order elements, or find their places by indices: TopK, ScatterElements, ScatterND, GatherND, OneHot.
#include "devices/cuda/code/index_params.h"
#include "devices/cuda/cuda_move.h"
#include "ops/op_id.h"

#include <stddef.h>
#include <string.h>

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands do not fit its kernel");
}

static bool is_index(const HoloTensor *t)
{
    return t && (t->dtype == HOLO_I64 || t->dtype == HOLO_I32);
}

static int32_t index_bytes(const HoloTensor *t)
{
    return t->dtype == HOLO_I64 ? 8 : 4;
}

static int64_t product(const HoloTensor *t, int from, int to)
{
    int64_t all = 1;
    for (int d = from; d < to; d++) all *= t->dim[d];
    return all;
}

// ---- TopK

// What becomes of elements of this type as keys. False: no kernel reads them.
static bool key_set(const HoloCudaMaking *m, HoloCudaTop *p)
{
    static const uint64_t F32 = 0x7f800000, F16 = 0x7c00, BF16 = 0x7f80, F64 = UINT64_C(0x7ff) << 52;
    HoloDtype             dtype = (HoloDtype)m->call->in[0]->dtype;
    uint8_t               store = m->params.store;
    p->element                  = (uint8_t)holo_cuda_element(m, 0);
    p->is_signed                = holo_dtype_class(dtype) == HOLO_CLASS_INT;
    if (p->is_signed || holo_dtype_class(dtype) == HOLO_CLASS_UINT)
        return p->element == 1 || p->element == 2 || p->element == 4 || p->element == 8;
    if (dtype == HOLO_F32) p->infinity = store == HOLO_CUDA_F32 ? F32 : store == HOLO_CUDA_F16 ? F16 : BF16;
    if (dtype == HOLO_F16) p->infinity = F16;
    if (dtype == HOLO_BF16) p->infinity = BF16;
    if (dtype == HOLO_F64) p->infinity = F64;
    return p->infinity != 0;
}

static int64_t power_of_2(int64_t least)
{
    int64_t at = 1;
    while (at < least) at *= 2;
    return at;
}

// A block for each row; of long ones, only as many as the workspace has room for.
static HoloStatus top_add(HoloCudaMaking *m, HoloCudaTop *p)
{
    enum { WORKSPACE = 128 << 20, ITEM = sizeof *p->keys + sizeof *p->places, LEAST = 32, MOST = 1024 };
    bool          is_long = p->room > HOLO_CUDA_TOP_KEPT;
    int64_t       blocks = p->rows, at_once = WORKSPACE / (p->room * ITEM), half = p->room / 2;
    int64_t       threads = p->is_all ? half : MOST;
    HoloCudaStep *step;
    if (is_long && blocks > at_once) blocks = at_once ? at_once : 1;
    HoloCudaShape shape = holo_cuda_blocks(blocks);
    shape.block         = (uint32_t)(threads < LEAST ? LEAST : threads > MOST ? MOST : threads);
    HOLO_TRY(holo_cuda_add(m, "top", "top", &shape, p, sizeof *p, &step));
    holo_cuda_place(step, offsetof(HoloCudaTop, from), 0, 0);
    if (holo_out(m->call, 0)) holo_cuda_place(step, offsetof(HoloCudaTop, values), holo_cuda_out(m, 0), 0);
    if (holo_out(m->call, 1)) holo_cuda_place(step, offsetof(HoloCudaTop, indices), holo_cuda_out(m, 1), 0);
    if (!is_long) return HOLO_OK;
    uint64_t keys = (uint64_t)(blocks * p->room) * sizeof *p->keys;
    holo_cuda_place(step, offsetof(HoloCudaTop, keys), HOLO_CUDA_SCRATCH, 0);
    holo_cuda_place(step, offsetof(HoloCudaTop, places), HOLO_CUDA_SCRATCH, keys);
    m->scratch = (size_t)keys + (size_t)(blocks * p->room) * sizeof *p->places;
    return HOLO_OK;
}

HoloStatus holo_cuda_top(HoloCudaMaking *m)
{
    enum { MOST = 1 << 30 };
    const HoloTensor *x = holo_in(m->call, 0), *values = holo_out(m->call, 0), *indices = holo_out(m->call, 1);
    const HoloTensor *y = values ? values : indices;
    HoloCudaTop       p = {.is_largest = holo_attr_int(m->call, "largest", 1) != 0};
    int               axis;
    if (!x || !y || x->rank < 1 || y->rank != x->rank || holo_cuda_type(m, 0) != m->params.store) return bad(m);
    if ((values && values->dtype != x->dtype) || (indices && indices->dtype != HOLO_I64) || !key_set(m, &p))
        return bad(m);
    HOLO_TRY(holo_attr_axis(m->call, "axis", -1, x->rank, &axis));
    for (int d = 0; d < x->rank; d++)
        if ((d == axis ? y->dim[d] > x->dim[d] : y->dim[d] != x->dim[d]) ||
            (values && indices && values->dim[d] != indices->dim[d]))
            return bad(m);
    p.size  = x->dim[axis];
    p.k     = y->dim[axis];
    p.inner = product(x, axis + 1, x->rank);
    p.rows  = product(x, 0, axis) * p.inner;
    if (!p.k || !p.rows) return HOLO_OK;
    if (p.size > MOST)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: rows of %lld elements", (long long)p.size);
    p.is_all = p.size <= HOLO_CUDA_TOP_KEPT || p.k == p.size;
    p.room   = power_of_2(p.is_all ? p.size : p.k);
    return top_add(m, &p);
}

// ---- scatters

static const struct {
    const char *name;
    uint8_t     how;
} reductions[] = {{"none", HOLO_CUDA_PUT},
                  {"add", HOLO_CUDA_PUT_ADD},
                  {"mul", HOLO_CUDA_PUT_MUL},
                  {"min", HOLO_CUDA_PUT_MIN},
                  {"max", HOLO_CUDA_PUT_MAX}};

static bool how_set(const HoloCudaMaking *m, HoloCudaScatter *p)
{
    HoloString have = holo_attr_string(m->call, "reduction", "none");
    unsigned   type = m->call->in[0]->dtype;
    for (int i = 0; i < HOLO_COUNT(reductions); i++) {
        if (have.size != strlen(reductions[i].name) || memcmp(have.data, reductions[i].name, have.size)) continue;
        p->how = reductions[i].how;
        return p->how == HOLO_CUDA_PUT || type == HOLO_F32 || type == HOLO_I32 || type == HOLO_I64;
    }
    return false;
}

// y = x with updates along an axis: the indices say where, and have the sizes of the updates.
static bool elements_set(const HoloCudaMaking *m, HoloCudaScatter *p)
{
    const HoloTensor *x = m->call->in[0], *index = m->call->in[1], *updates = m->call->in[2];
    if (x->rank != index->rank || x->rank != updates->rank || x->rank < 1) return false;
    if (holo_attr_axis(m->call, "axis", 0, x->rank, &p->axis)) return false;
    holo_cuda_strides(x, p->stride);
    for (int d = 0; d < x->rank; d++) {
        if (index->dim[d] != updates->dim[d] || (d != p->axis && index->dim[d] > x->dim[d])) return false;
        p->size[d] = index->dim[d];
    }
    p->rank   = x->rank;
    p->limit  = x->dim[p->axis];
    p->count  = holo_tensor_count(index);
    p->places = holo_tensor_count(x);
    p->run    = 1;
    return true;
}

// Tuples of indices name rows of x.
static bool tuples_set(const HoloCudaMaking *m, HoloCudaScatter *p)
{
    const HoloTensor *x = m->call->in[0], *index = m->call->in[1], *updates = m->call->in[2];
    if (index->rank < 1 || index->dim[index->rank - 1] > x->rank) return false;
    p->axis   = -1;
    p->rank   = (int32_t)index->dim[index->rank - 1];
    p->count  = product(index, 0, index->rank - 1);
    p->places = product(x, 0, p->rank);
    p->run    = product(x, p->rank, x->rank);
    for (int d = 0; d < p->rank; d++) p->size[d] = x->dim[d];
    return holo_tensor_count(updates) == p->count * p->run;
}

static HoloStatus scatter_launch(HoloCudaMaking *m, const char *kernel, int64_t threads, const HoloCudaScatter *p)
{
    HoloCudaStep *step;
    HoloCudaShape shape = holo_cuda_threads(threads);
    HOLO_TRY(holo_cuda_add(m, "scatter", kernel, &shape, p, sizeof *p, &step));
    holo_cuda_place(step, offsetof(HoloCudaScatter, x), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaScatter, index), 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaScatter, updates), 2, 0);
    holo_cuda_place(step, offsetof(HoloCudaScatter, y), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaScatter, status), HOLO_CUDA_STATUS, 0);
    holo_cuda_place(step, offsetof(HoloCudaScatter, head), HOLO_CUDA_SCRATCH, 0);
    holo_cuda_place(step, offsetof(HoloCudaScatter, next), HOLO_CUDA_SCRATCH, (uint64_t)p->places * sizeof *p->head);
    return HOLO_OK;
}

// No list has an update yet.
static HoloStatus lists_empty(HoloCudaMaking *m, const HoloCudaScatter *p)
{
    HoloCudaFill  fill  = {.count = p->places, .value = UINT32_MAX, .element = sizeof *p->head};
    HoloCudaShape shape = holo_cuda_threads(p->places);
    HoloCudaStep *step;
    m->scratch = (size_t)(p->places + p->count) * sizeof *p->head;
    HOLO_TRY(holo_cuda_add(m, "basic", "fill", &shape, &fill, sizeof fill, &step));
    holo_cuda_place(step, offsetof(HoloCudaFill, to), HOLO_CUDA_SCRATCH, 0);
    return HOLO_OK;
}

HoloStatus holo_cuda_scatter(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *index = holo_in(m->call, 1), *updates = holo_in(m->call, 2);
    const HoloTensor *y         = holo_out(m->call, 0);
    HoloCudaScatter   p         = {0};
    bool              by_tuples = holo_op_is(m->call->op, HOLO_ID_ScatterND);
    if (!x || !is_index(index) || !updates || !y || x->rank > HOLO_CUDA_RANK || x->dtype != y->dtype ||
        updates->dtype != x->dtype || holo_tensor_count(x) != holo_tensor_count(y) || !how_set(m, &p))
        return bad(m);
    if (!(by_tuples ? tuples_set(m, &p) : elements_set(m, &p))) return bad(m);
    if (p.count > INT32_MAX || p.places > INT32_MAX)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: these sizes are too large for kernel scatter");
    p.index_bytes = index_bytes(index);
    p.element     = (int32_t)holo_cuda_out_element(m);
    p.is_float    = x->dtype == HOLO_F32;
    p.x_type      = holo_cuda_type(m, 0);
    p.update_type = holo_cuda_type(m, 2);
    p.y_type      = m->params.store;
    if (!p.places || !p.run) return HOLO_OK;
    HOLO_TRY(lists_empty(m, &p));
    HOLO_TRY(scatter_launch(m, "scatter_list", p.count, &p));
    if (p.how != HOLO_CUDA_PUT) HOLO_TRY(scatter_launch(m, "scatter_order", p.count ? p.places : 0, &p));
    return scatter_launch(m, "scatter", p.places * p.run, &p);
}

// ---- lookups

HoloStatus holo_cuda_gather_tuples(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *index = holo_in(m->call, 1), *y = holo_out(m->call, 0);
    HoloCudaTuples    p     = {.unit = 16, .to_type = m->params.store};
    int64_t           batch = holo_attr_int(m->call, "batch_dims", 0);
    HoloCudaStep     *step;
    if (!x || !is_index(index) || !y || x->dtype != y->dtype || x->rank > HOLO_CUDA_RANK || index->rank < 1 ||
        batch < 0 || batch >= index->rank || index->dim[index->rank - 1] > x->rank - batch)
        return bad(m);
    p.depth         = (int32_t)index->dim[index->rank - 1];
    p.index_bytes   = index_bytes(index);
    p.tuples        = product(index, (int)batch, index->rank - 1);
    p.places        = product(x, (int)batch, (int)batch + p.depth);
    p.run           = product(x, (int)batch + p.depth, x->rank);
    p.converts      = x->dtype == HOLO_F32 && holo_cuda_type(m, 0) != m->params.store;
    int64_t element = (int64_t)holo_cuda_out_element(m);
    for (int d = 0; d < p.depth; d++) p.size[d] = x->dim[batch + d];
    if (product(index, 0, (int)batch) != product(x, 0, (int)batch) ||
        product(index, 0, index->rank - 1) * p.run != holo_tensor_count(y))
        return bad(m);
    if (!holo_tensor_count(y)) return HOLO_OK;
    if (!p.places) return bad(m);
    while (p.run * element % p.unit) p.unit /= 2;
    if (!p.converts) p.run = p.run * element / p.unit;
    p.count             = product(index, 0, index->rank - 1) * p.run;
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "scatter", "gather_tuples", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaTuples, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaTuples, index), 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaTuples, to), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaTuples, status), HOLO_CUDA_STATUS, 0);
    return HOLO_OK;
}

HoloStatus holo_cuda_one_hot(HoloCudaMaking *m)
{
    enum { VALUES = 2 };
    const HoloTensor *index = holo_in(m->call, 0), *values = holo_in(m->call, VALUES), *y = holo_out(m->call, 0);
    HoloCudaOneHot    p = {.to_type = m->params.store};
    HoloCudaStep     *step;
    int               axis;
    if (!is_index(index) || !values || !y || values->dtype != y->dtype || holo_tensor_count(values) != 2 ||
        y->rank != index->rank + 1)
        return bad(m);
    HOLO_TRY(holo_attr_axis(m->call, "axis", -1, y->rank, &axis));
    p.count       = holo_tensor_count(y);
    p.depth       = y->dim[axis];
    p.inner       = product(y, axis + 1, y->rank);
    p.index_bytes = index_bytes(index);
    p.element     = (int32_t)holo_cuda_out_element(m);
    p.is_float    = y->dtype == HOLO_F32;
    p.value_type  = holo_cuda_type(m, VALUES);
    if (holo_tensor_count(index) * p.depth != p.count) return bad(m);
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "scatter", "one_hot", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaOneHot, index), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaOneHot, values), VALUES, 0);
    holo_cuda_place(step, offsetof(HoloCudaOneHot, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}
