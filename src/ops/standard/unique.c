// unique.c - Unique: the distinct elements of a tensor, or its distinct slices along an axis.
//
// All NaNs are one value, above all numbers. Strings compare by their bytes, complex numbers by the
// real part first.
#include "ops/op.h"
#include "ops/order.h"
#include "ops/rows.h"

#include <string.h>

// What is compared: `rows.size` slices, each of outer * inner elements. An element is `parts` keys.
typedef struct Slices {
    HoloRows          rows;
    int               parts;
    const uint64_t   *key; // NULL: strings
    const HoloString *text;
} Slices;

static HoloStatus find_axis(const HoloCall *call, int *axis) // -1: all elements, flattened
{
    *axis = -1;
    if (!holo_attr_find(call, "axis")) return HOLO_OK;
    return holo_attr_axis(call, "axis", 0, call->in[0]->rank, axis);
}

static HoloStatus set_types(HoloCall *call, int axis, HoloDim found)
{
    const HoloTensor *in                 = call->in[0];
    HoloDim           dim[HOLO_MAX_RANK] = {found}, all = 1;
    for (int i = 0; i < in->rank; i++) {
        if (axis >= 0) dim[i] = i == axis ? found : in->dim[i];
        all = holo_dim_mul(call->dims, all, in->dim[i]);
    }
    HOLO_TRY(holo_out_type(call, 0, (HoloDtype)in->dtype, axis < 0 ? 1 : in->rank, dim));
    HOLO_TRY(holo_out_type(call, 1, HOLO_I64, 1, &found));
    HOLO_TRY(holo_out_type(call, 2, HOLO_I64, 1, axis < 0 ? &all : &in->dim[axis]));
    return holo_out_type(call, 3, HOLO_I64, 1, &found);
}

static HoloStatus infer(HoloCall *call)
{
    int axis;
    HOLO_TRY(find_axis(call, &axis));
    return set_types(call, axis, HOLO_DIM_UNKNOWN);
}

static int compare(const void *context, int64_t a, int64_t b)
{
    const Slices *s = context;
    for (int64_t i = 0; i < s->rows.outer; i++) {
        for (int64_t k = 0; k < s->rows.inner; k++) {
            int64_t x = (i * s->rows.size + a) * s->rows.inner + k, y = (i * s->rows.size + b) * s->rows.inner + k;
            int     order = s->text ? holo_string_compare(s->text[x], s->text[y]) : 0;
            for (int p = 0; !s->text && p < s->parts && order == 0; p++) {
                uint64_t u = s->key[x * s->parts + p], v = s->key[y * s->parts + p];
                order = (u > v) - (u < v);
            }
            if (order) return order;
        }
    }
    return 0;
}

static HoloStatus read_slices(const HoloCall *call, int axis, Slices *out)
{
    const HoloTensor *in    = call->in[0];
    int64_t           count = holo_tensor_count(in);
    void             *keys;
    *out = (Slices){.rows = axis < 0 ? (HoloRows){1, count, 1} : holo_rows(in, axis, axis + 1), .parts = 1};
    if (in->dtype == HOLO_STRING) {
        out->text = in->data;
        return HOLO_OK;
    }
    HoloTensor view = *in;
    if (holo_dtype_class((HoloDtype)in->dtype) == HOLO_CLASS_COMPLEX) {
        view.dtype = in->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        out->parts = 2;
    }
    HOLO_TRY(holo_call_temp(call, (size_t)count, (size_t)out->parts * sizeof(uint64_t), &keys));
    if (count > 0) holo_read_keys(&view, 0, 1, count * out->parts, keys);
    out->key = keys;
    return HOLO_OK;
}

// What is found: for each group its first slice and how many slices it has, for each slice its group.
typedef struct Groups {
    int64_t  count;
    int64_t *first, *size, *group;
} Groups;

static void put_in_order_of_first(Groups *g, int64_t slices, int64_t *scratch)
{
    int64_t *place = scratch, next = 0; // of each sorted group
    for (int64_t i = 0; i < g->count; i++) place[i] = -1;
    for (int64_t s = 0; s < slices; s++) {
        int64_t old = g->group[s];
        if (place[old] < 0) place[old] = next++;
        g->group[s] = place[old];
    }
    memset(g->size, 0, (size_t)g->count * sizeof *g->size);
    for (int64_t s = slices; s-- > 0;) {
        g->first[g->group[s]] = s;
        g->size[g->group[s]]++;
    }
}

static HoloStatus find_groups(const HoloCall *call, const Slices *slices, bool sorted, Groups *out)
{
    int64_t n = slices->rows.size;
    void   *memory;
    HOLO_TRY(holo_call_temp(call, (size_t)n, 5 * sizeof(int64_t), &memory));
    int64_t *index = memory, *scratch = index + n;
    *out = (Groups){0, scratch + n, scratch + 2 * n, scratch + 3 * n};
    for (int64_t i = 0; i < n; i++) index[i] = i;
    bool is_flat = slices->key && slices->parts == 1 && slices->rows.outer == 1 && slices->rows.inner == 1;
    if (is_flat)
        holo_sort_keys(index, scratch, n, slices->key);
    else
        holo_sort(index, scratch, n, compare, slices);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || compare(slices, index[i - 1], index[i]) != 0) {
            out->first[out->count]  = index[i];
            out->size[out->count++] = 0;
        }
        out->size[out->count - 1]++;
        out->group[index[i]] = out->count - 1;
    }
    if (!sorted) put_in_order_of_first(out, n, scratch);
    return HOLO_OK;
}

static void gather(const HoloTensor *in, HoloTensor *out, HoloRows rows, const Groups *g)
{
    size_t run = (size_t)rows.inner * holo_dtype_size((HoloDtype)in->dtype);
    char  *to  = out->data;
    for (int64_t i = 0; i < rows.outer; i++) {
        for (int64_t k = 0; k < g->count; k++, to += run)
            memcpy(to, (const char *)in->data + (size_t)(i * rows.size + g->first[k]) * run, run);
    }
}

static HoloStatus eval(HoloCall *call)
{
    int    axis;
    Slices slices;
    Groups groups;
    HOLO_TRY(find_axis(call, &axis));
    HOLO_TRY(read_slices(call, axis, &slices));
    HOLO_TRY(find_groups(call, &slices, holo_attr_int(call, "sorted", 1) != 0, &groups));
    HOLO_TRY(set_types(call, axis, groups.count));
    const int64_t *lists[] = {NULL, groups.first, groups.group, groups.size};
    for (int i = 0; i < 4; i++) {
        HOLO_TRY(holo_out_alloc(call, i));
        HoloTensor *out = holo_out(call, i);
        if (!out || !out->data) continue;
        if (i == 0)
            gather(call->in[0], out, slices.rows, &groups);
        else
            memcpy(out->data, lists[i], (size_t)out->dim[0] * sizeof(int64_t));
    }
    return HOLO_OK;
}

const HoloOp holo_ops_unique[] = {
    {.name    = "Unique",
     .domain  = "",
     .since   = 11,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 4,
     .types   = HOLO_TYPES_ALL,
     .flags   = HOLO_OP_DYNAMIC,
     .infer   = infer,
     .eval    = eval},
    {0},
};
