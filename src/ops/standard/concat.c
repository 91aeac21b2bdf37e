// concat.c - tensors joined along an axis, and cut along one: Concat and Split.
#include "ops/move.h"

// ---- Concat

static HoloStatus infer_concat(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    if (!x) return holo_call_fail(call, HOLO_BAD_MODEL, "input 0 is missing");
    int     axis;
    HoloDim dim[HOLO_MAX_RANK];
    if (call->version >= 4 && !holo_attr_find(call, "axis"))
        return holo_call_fail(call, HOLO_BAD_MODEL, "attribute axis must be given");
    HOLO_TRY(holo_attr_axis(call, "axis", 1, x->rank, &axis));
    memcpy(dim, x->dim, sizeof dim);
    for (int i = 1; i < call->in_count; i++) {
        const HoloTensor *t = call->in[i];
        if (!t) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << x->dtype));
        HOLO_TRY(holo_expect_rank(call, i, x->rank, x->rank));
        for (int d = 0; d < x->rank; d++) {
            if (d != axis && !holo_dim_agree(dim[d], t->dim[d], &dim[d]))
                return holo_call_fail(call, HOLO_BAD_INPUT, "dimension %d of input %d is %lld, and before it %lld", d,
                                      i, (long long)t->dim[d], (long long)dim[d]);
        }
        dim[axis] = holo_dim_add(call->dims, dim[axis], t->dim[axis]);
    }
    return holo_out_type(call, 0, x->dtype, x->rank, dim);
}

// Copies rows of `chunk` elements; destinations are `to` elements apart, sources `from`.
static void move_rows(const HoloCall *call, int64_t rows, int64_t chunk, size_t size, void *dst, int64_t to,
                      const void *src, int64_t from)
{
    holo_move_wide(call, 2, (int64_t[]){rows, chunk}, size, dst, (int64_t[]){to, 1}, src, (int64_t[]){from, 1});
}

static HoloStatus eval_concat(HoloCall *call)
{
    const HoloTensor *y = call->out[0];
    int               axis;
    HOLO_TRY(holo_attr_axis(call, "axis", 1, y->rank, &axis));
    size_t  size  = holo_dtype_size(y->dtype);
    int64_t rows  = holo_product(axis, y->dim);
    int64_t inner = holo_product(y->rank - axis - 1, y->dim + axis + 1), done = 0;
    for (int i = 0; i < call->in_count; i++) {
        const HoloTensor *t     = call->in[i];
        int64_t           chunk = t->dim[axis] * inner;
        if (rows * chunk == 0) continue;
        char *to = (char *)y->data + (size_t)done * size;
        if (t->data != to) move_rows(call, rows, chunk, size, to, y->dim[axis] * inner, t->data, chunk);
        done += chunk;
    }
    return HOLO_OK;
}

static HoloDim place_joined(const HoloCall *call, int i)
{
    const HoloTensor *y = call->out[0];
    int               axis;
    if (holo_attr_axis(call, "axis", 1, y->rank, &axis) || !holo_axis_is_outer(y, axis)) return HOLO_DIM_UNKNOWN;
    HoloDim before = 0;
    for (int k = 0; k < i; k++) before = holo_dim_add(call->dims, before, call->in[k]->dim[axis]);
    return holo_dim_mul(call->dims, before, holo_dim_product(call->dims, y->dim, axis + 1, y->rank));
}

// ---- Split

// The size of each part: given by attribute (until version 13) or input, or else equal parts of
// which the last may be smaller.
typedef struct Parts {
    HoloNumbers sizes;
    int64_t     count;
    int         axis;
} Parts;

static HoloStatus find_parts(const HoloCall *call, Parts *p)
{
    HOLO_TRY(holo_attr_axis(call, "axis", 0, call->in[0]->rank, &p->axis));
    HOLO_TRY(holo_numbers(call, "split", 1, &p->sizes));
    p->count = holo_attr_int(call, "num_outputs", call->out_count);
    HoloDim agreed;
    if (p->sizes.given && !holo_dim_agree(p->sizes.count, p->count, &agreed))
        return holo_call_fail(call, HOLO_BAD_MODEL, "split has %lld sizes for %lld outputs", (long long)p->sizes.count,
                              (long long)p->count);
    if (p->count < call->out_count || p->count < 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "num_outputs is %lld, and there are %d", (long long)p->count,
                              call->out_count);
    return HOLO_OK;
}

static HoloDim part_size(const HoloCall *call, const Parts *p, int i)
{
    HoloDims *dims = call->dims;
    HoloDim   all  = call->in[0]->dim[p->axis];
    if (p->sizes.given) return p->sizes.known ? holo_number(&p->sizes, i) : HOLO_DIM_UNKNOWN;
    HoloDim part = holo_dim_div_ceil(dims, all, p->count);
    return i < p->count - 1 ? part : holo_dim_sub(dims, all, holo_dim_mul(dims, part, p->count - 1));
}

static HoloStatus check_part(const HoloCall *call, int i, HoloDim part, HoloDim left)
{
    if (holo_dim_is_symbolic(part) || (part >= 0 && (holo_dim_is_symbolic(left) || part <= left))) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_INPUT, "part %d has a size of %lld where %lld are left", i, (long long)part,
                          (long long)left);
}

static HoloStatus infer_split(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    Parts             parts;
    HOLO_TRY(find_parts(call, &parts));
    HoloDim dim[HOLO_MAX_RANK], left = x->dim[parts.axis];
    memcpy(dim, x->dim, sizeof dim);
    for (int i = 0; i < call->out_count; i++) {
        HoloDim part = part_size(call, &parts, i);
        HOLO_TRY(check_part(call, i, part, left));
        left            = holo_dim_sub(call->dims, left, part);
        dim[parts.axis] = part;
        HOLO_TRY(holo_out_type(call, i, x->dtype, x->rank, dim));
    }
    if (call->out_count == parts.count && holo_dims_differ(left, 0))
        return holo_call_fail(call, HOLO_BAD_INPUT, "the parts leave %lld of the axis over", (long long)left);
    return HOLO_OK;
}

static HoloStatus eval_split(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    Parts             parts;
    HOLO_TRY(find_parts(call, &parts));
    size_t  size = holo_dtype_size(x->dtype);
    int64_t rows = holo_product(parts.axis, x->dim), row = holo_product(x->rank - parts.axis, x->dim + parts.axis);
    int64_t inner = holo_product(x->rank - parts.axis - 1, x->dim + parts.axis + 1), done = 0;
    for (int i = 0; i < call->out_count; i++) {
        int64_t     chunk = part_size(call, &parts, i) * inner;
        HoloTensor *y     = call->out[i];
        if (y && rows * chunk > 0)
            move_rows(call, rows, chunk, size, y->data, chunk, (const char *)x->data + (size_t)done * size, row);
        done += chunk;
    }
    return HOLO_OK;
}

static HoloDim place_part(const HoloCall *call, int i)
{
    const HoloTensor *x = call->in[0];
    Parts             parts;
    if (find_parts(call, &parts) || !holo_axis_is_outer(x, parts.axis)) return HOLO_DIM_UNKNOWN;
    HoloDim before = 0;
    for (int k = 0; k < i; k++) before = holo_dim_add(call->dims, before, part_size(call, &parts, k));
    return holo_dim_mul(call->dims, before, holo_dim_product(call->dims, x->dim, parts.axis + 1, x->rank));
}

const HoloOp holo_ops_concat[] = {
    {.name    = "Concat",
     .domain  = "",
     .since   = 1,
     .in_min  = 1,
     .in_max  = -1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .flags   = HOLO_OP_MOVES_ALL | HOLO_OP_JOINS,
     .infer   = infer_concat,
     .eval    = eval_concat,
     .place   = place_joined},
    {.name    = "Split",
     .domain  = "",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 2,
     .out_min = 1,
     .out_max = -1,
     .types   = HOLO_TYPES_ALL,
     .flags   = HOLO_OP_MOVES,
     .infer   = infer_split,
     .eval    = eval_split,
     .place   = place_part},
    {0},
};
