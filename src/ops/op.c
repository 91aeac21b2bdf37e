// op.c - finds operators, and what their infer and eval share.
#include "ops/op.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// ---- finding

static bool row_is(const HoloOp *op, const char *domain, const char *name, int version)
{
    return op->name[0] == name[0] && !strcmp(op->name, name) && !strcmp(op->domain ? op->domain : "", domain) &&
           version >= op->since && (!op->until || version <= op->until);
}

static const HoloOp *row_find(const char *domain, const char *name, int version)
{
    for (int f = 0; holo_op_families[f]; f++)
        for (const HoloOp *op = holo_op_families[f]; op->name; op++)
            if (row_is(op, domain, name, version)) return op;
    return NULL;
}

// Rows that were found are kept, for all threads: a row that is asked for again is compared once instead of searched
// for among a thousand.
const HoloOp *holo_op_find(const char *domain, const char *name, int version)
{
    static _Atomic(const HoloOp *) kept[1024];
    uint32_t                       hash = (uint32_t)version * 31 + (uint8_t)domain[0];
    for (const char *c = name; *c; c++) hash = (hash ^ (uint8_t)*c) * 0x01000193;
    if (!strcmp(domain, "ai.onnx")) domain = "";
    _Atomic(const HoloOp *) *place = &kept[(hash ^ hash >> 16) % HOLO_COUNT(kept)];
    const HoloOp            *op    = atomic_load_explicit(place, memory_order_relaxed);
    if (op && row_is(op, domain, name, version)) return op;
    op = row_find(domain, name, version);
    if (op) atomic_store_explicit(place, op, memory_order_relaxed);
    return op;
}

// ---- failing

HoloStatus holo_call_fail(const HoloCall *call, HoloStatus status, const char *format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *name = call->op ? call->op->name : "?";
    return holo_fail(call->error, status, "node %s (%s): %s", call->node ? call->node : "?", name, text);
}

static void types_print(uint64_t types, char *text, size_t size)
{
    size_t at = 0;
    text[0]   = 0;
    for (int t = 1; t < HOLO_DTYPE_COUNT; t++)
        if (types >> t & 1 && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", holo_dtype_name((HoloDtype)t));
}

HoloStatus holo_expect_types(const HoloCall *call, int input, uint64_t types)
{
    const HoloTensor *t = holo_in(call, input);
    if (!t || !t->dtype || types >> t->dtype & 1) return HOLO_OK;
    char text[256];
    types_print(types, text, sizeof text);
    return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has type %s, but %s accepts: %s", input,
                          holo_dtype_name((HoloDtype)t->dtype), call->op->name, text);
}

HoloStatus holo_expect_rank(const HoloCall *call, int input, int rank_min, int rank_max)
{
    const HoloTensor *t = holo_in(call, input);
    if (!t || (t->rank >= rank_min && t->rank <= rank_max)) return HOLO_OK;
    if (rank_min == rank_max)
        return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has %d dimensions, but must have %d", input, t->rank,
                              rank_min);
    return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has %d dimensions, but must have %d to %d", input, t->rank,
                          rank_min, rank_max);
}

HoloStatus holo_expect_one(const HoloCall *call, int input)
{
    const HoloTensor *t = holo_in(call, input);
    for (int d = 0; t && d < t->rank; d++)
        if (holo_dims_differ(t->dim[d], 1))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d must be one number", input);
    return HOLO_OK;
}

HoloStatus holo_expect_shape(const HoloCall *call, int input, int rank, const HoloDim *dim)
{
    const HoloTensor *t = holo_in(call, input);
    if (!t) return HOLO_OK;
    HOLO_TRY(holo_expect_rank(call, input, rank, rank));
    for (int d = 0; d < rank; d++)
        if (holo_dims_differ(t->dim[d], dim[d]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has size %lld in dimension %d, expected %lld", input,
                                  (long long)t->dim[d], d, (long long)dim[d]);
    return HOLO_OK;
}

// ---- attributes

const HoloAttr *holo_attr_find(const HoloCall *call, const char *name)
{
    for (int i = 0; i < call->attr_count; i++)
        if (!strcmp(call->attr[i].name, name)) return &call->attr[i];
    return NULL;
}

static const HoloAttr *attr_of(const HoloCall *call, const char *name, int kind)
{
    const HoloAttr *a = holo_attr_find(call, name);
    return a && a->kind == kind ? a : NULL;
}

int64_t holo_attr_int(const HoloCall *call, const char *name, int64_t fallback)
{
    const HoloAttr *a = attr_of(call, name, HOLO_ATTR_INT);
    return a ? a->i : fallback;
}

double holo_attr_float(const HoloCall *call, const char *name, double fallback)
{
    const HoloAttr *a = attr_of(call, name, HOLO_ATTR_FLOAT);
    return a ? a->f : fallback;
}

HoloString holo_attr_string(const HoloCall *call, const char *name, const char *fallback)
{
    const HoloAttr *a = attr_of(call, name, HOLO_ATTR_STRING);
    return a ? a->s : (HoloString){fallback, strlen(fallback)};
}

bool holo_attr_is(const HoloCall *call, const char *name, const char *fallback, const char *value)
{
    return holo_string_equal(holo_attr_string(call, name, fallback), (HoloString){value, strlen(value)});
}

HoloStatus holo_attr_choice(const HoloCall *call, const char *name, const char *fallback, const char *const *names,
                            int *out)
{
    HoloString given = holo_attr_string(call, name, fallback);
    char       list[256];
    size_t     used = 0;
    for (int i = 0; names[i]; i++) {
        if (out) *out = i;
        if (holo_string_equal(given, (HoloString){names[i], strlen(names[i])})) return HOLO_OK;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 !i             ? ""
                                 : names[i + 1] ? ", "
                                                : " or ",
                                 names[i]);
        if (used >= sizeof list) used = sizeof list - 1;
    }
    return holo_call_fail(call, HOLO_BAD_MODEL, "%s is '%.*s', expected %s", name,
                          given.size < 100 ? (int)given.size : 100, given.data, list);
}

int holo_attr_ints(const HoloCall *call, const char *name, int64_t *out, int max)
{
    const HoloAttr *a = attr_of(call, name, HOLO_ATTR_INTS);
    if (!a) return -1;
    if (a->count > max) return max + 1;
    for (int i = 0; i < a->count; i++) out[i] = a->ints[i];
    return a->count;
}

const HoloTensor *holo_attr_tensor(const HoloCall *call, const char *name)
{
    const HoloAttr *a = attr_of(call, name, HOLO_ATTR_TENSOR);
    return a ? a->tensor : NULL;
}

HoloStatus holo_attr_dtype(const HoloCall *call, const char *name, HoloDtype fallback, uint64_t types, HoloDtype *out)
{
    int64_t type = holo_attr_int(call, name, fallback);
    *out         = HOLO_NONE;
    if (type == HOLO_NONE && fallback == HOLO_NONE) return HOLO_OK;
    if (type <= 0 || type >= HOLO_DTYPE_COUNT || !(types >> type & 1))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s %lld is not an element type that %s supports", name,
                              (long long)type, call->op->name);
    *out = (HoloDtype)type;
    return HOLO_OK;
}

// ---- inputs

int holo_in_ints(const HoloCall *call, int i, HoloDim *out, int max)
{
    const HoloTensor *t = holo_in(call, i);
    if (!t || t->rank < 0 || t->kind != HOLO_TENSOR) return -1;
    int64_t count = 1;
    for (int d = 0; d < t->rank; d++)
        if (holo_dim_is_symbolic(t->dim[d]) || !holo_mul(count, t->dim[d], &count)) return -1;
    if (count > max) return -1;
    if (call->contents && call->contents[i]) {
        if (count) memcpy(out, call->contents[i], (size_t)count * sizeof *out);
        return (int)count;
    }
    if (!t->data && count) return -1;
    HoloClass class = holo_dtype_class((HoloDtype)t->dtype);
    if (class != HOLO_CLASS_INT && class != HOLO_CLASS_UINT && class != HOLO_CLASS_BOOL) return -1;
    if (count) holo_read_i(t, 0, 1, count, out);
    for (int64_t k = 0; k < count; k++) // numbers that would read as expressions are just as far below all sizes
        if (holo_dim_is_symbolic(out[k])) out[k] = HOLO_DIM_BASE - 1;
    return (int)count;
}

HoloStatus holo_axis(const HoloCall *call, int64_t axis, int rank, int *out_axis)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "axis %lld is outside the %d dimensions", (long long)axis, rank);
    *out_axis = (int)(axis < 0 ? axis + rank : axis);
    return HOLO_OK;
}

HoloStatus holo_attr_axis(const HoloCall *call, const char *name, int64_t fallback, int rank, int *out_axis)
{
    return holo_axis(call, holo_attr_int(call, name, fallback), rank, out_axis);
}

HoloStatus holo_axes(const HoloCall *call, const char *attr, int input, int rank, int *out_axes, int *out_count,
                     bool *out_known)
{
    int64_t given[HOLO_MAX_RANK];
    int     count = -1;
    *out_known    = true;
    *out_count    = -1;
    if (attr) count = holo_attr_ints(call, attr, given, HOLO_MAX_RANK);
    if (count < 0 && input >= 0 && holo_in(call, input)) {
        count      = holo_in_ints(call, input, given, HOLO_MAX_RANK);
        *out_known = count >= 0;
    }
    if (count < 0) return HOLO_OK;
    if (count > HOLO_MAX_RANK) return holo_call_fail(call, HOLO_BAD_MODEL, "more axes than dimensions");
    bool seen[HOLO_MAX_RANK] = {false};
    for (int i = 0; i < count; i++) {
        int axis = 0;
        HOLO_TRY(holo_axis(call, given[i], rank, &axis));
        if (seen[axis]) return holo_call_fail(call, HOLO_BAD_MODEL, "axis %lld is given twice", (long long)given[i]);
        seen[axis] = true;
    }
    *out_count = 0;
    for (int axis = 0; axis < rank; axis++)
        if (seen[axis]) out_axes[(*out_count)++] = axis;
    return HOLO_OK;
}

// ---- outputs

HoloStatus holo_out_type(HoloCall *call, int i, HoloDtype dtype, int rank, const HoloDim *dim)
{
    HoloTensor *t = holo_out(call, i);
    if (!t) return HOLO_OK;
    if (rank > HOLO_MAX_RANK)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "output %d has %d dimensions; at most %d are supported", i, rank,
                              HOLO_MAX_RANK);
    t->dtype = (uint8_t)dtype;
    t->kind  = HOLO_TENSOR;
    t->inner = HOLO_TENSOR;
    t->rank  = (int8_t)rank;
    for (int d = 0; d < rank; d++) t->dim[d] = dim[d];
    return HOLO_OK;
}

HoloStatus holo_out_like(HoloCall *call, int i, const HoloTensor *like)
{
    HoloTensor *t = holo_out(call, i);
    if (!t) return HOLO_OK;
    void *data = t->data;
    *t         = *like;
    t->data    = data;
    return HOLO_OK;
}

HoloStatus holo_out_shape_like(HoloCall *call, int i, HoloDtype dtype, const HoloTensor *shape)
{
    return holo_out_type(call, i, dtype, shape->rank, shape->dim);
}

HoloStatus holo_out_unknown(HoloCall *call, int i, HoloDtype dtype)
{
    return holo_out_type(call, i, dtype, -1, NULL);
}

HoloStatus holo_out_alloc(HoloCall *call, int i)
{
    HoloTensor *t = holo_out(call, i);
    if (!t || t->data) return HOLO_OK;
    int64_t count = holo_tensor_count(t);
    size_t  size  = 0;
    if (count < 0 || !holo_size_mul((size_t)count, holo_dtype_size((HoloDtype)t->dtype), &size))
        return holo_call_fail(call, HOLO_NO_MEMORY, "output %d is too large", i);
    if (!size) return HOLO_OK;
    t->data = call->host->keep(call->host, size);
    if (!t->data) return holo_call_fail(call, HOLO_NO_MEMORY, "no memory for output %d", i);
    return HOLO_OK;
}

HoloStatus holo_call_continue(const HoloCall *call)
{
    if (!holo_call_is_over(call)) return HOLO_OK;
    return holo_call_fail(call, HOLO_CANCELLED, "the run was stopped");
}

HoloStatus holo_infer_same(HoloCall *call)
{
    return holo_out_like(call, 0, call->in[0]);
}

static HoloStatus call_take(const HoloCall *call, void *(*take)(const HoloHost *host, size_t size), size_t count,
                            size_t size, void **out)
{
    size_t bytes;
    *out = holo_size_mul(count, size, &bytes) ? take(call->host, bytes ? bytes : 1) : NULL;
    if (*out) return HOLO_OK;
    return holo_call_fail(call, HOLO_NO_MEMORY, "no memory for %zu elements of %zu bytes", count, size);
}

HoloStatus holo_call_temp(const HoloCall *call, size_t count, size_t size, void **out)
{
    return call_take(call, call->host->temp, count, size, out);
}

HoloStatus holo_call_hold(const HoloCall *call, size_t count, size_t size, void **out)
{
    return call_take(call, call->host->hold ? call->host->hold : call->host->temp, count, size, out);
}

// ---- broadcasting

// Two sizes under NumPy's rule. Unequal symbolic sizes are assumed to be equal or 1, so the result is the maximum,
// unless one is 0.
static HoloDim broadcast_symbolic(HoloDims *dims, HoloDim a, HoloDim b)
{
    HoloDim most = holo_dim_max(dims, a, b), least = holo_dim_min(dims, 1, holo_dim_min(dims, a, b));
    return holo_dim_min(dims, 1, most) == least ? most : holo_dim_mul(dims, most, least); // no size is below 0
}

bool holo_broadcast_pair(HoloDims *dims, HoloDim a, HoloDim b, HoloDim *out)
{
    bool a_symbolic = holo_dim_is_symbolic(a), b_symbolic = holo_dim_is_symbolic(b);
    if (a == b || b == 1)
        *out = a;
    else if (a == 1)
        *out = b;
    else if (a_symbolic && b_symbolic)
        *out = broadcast_symbolic(dims, a, b);
    else if (a_symbolic)
        *out = b;
    else if (b_symbolic)
        *out = a;
    else
        return false;
    return true;
}

HoloStatus holo_broadcast(const HoloCall *call, int from, int to, int *out_rank, HoloDim *out_dim)
{
    int rank = 0;
    for (int i = from; i < to; i++)
        if (holo_in(call, i) && call->in[i]->rank > rank) rank = call->in[i]->rank;
    for (int d = 0; d < rank; d++) out_dim[d] = 1;
    for (int i = from; i < to; i++) {
        const HoloTensor *t = holo_in(call, i);
        for (int d = 0; t && d < t->rank; d++) {
            HoloDim *have = &out_dim[rank - t->rank + d];
            if (!holo_broadcast_pair(call->dims, *have, t->dim[d], have))
                return holo_call_fail(call, HOLO_BAD_MODEL,
                                      "sizes %lld and %lld of input %d, dimension %d, do not broadcast",
                                      (long long)*have, (long long)t->dim[d], i, d);
        }
    }
    *out_rank = rank;
    return HOLO_OK;
}

// ---- the common checks

static HoloStatus count_check(const HoloCall *call, const char *what, int count, int min, int max)
{
    if (count >= min && (max < 0 || count <= max)) return HOLO_OK;
    if (max < 0)
        return holo_call_fail(call, HOLO_BAD_MODEL, "has %d %s, but %s needs at least %d", count, what, call->op->name,
                              min);
    return holo_call_fail(call, HOLO_BAD_MODEL, "has %d %s, but %s has %d to %d", count, what, call->op->name, min,
                          max);
}

// What subgraphs capture comes after the other inputs. Only operators with subgraphs capture anything.
HoloStatus holo_op_check_counts(const HoloCall *call)
{
    const HoloOp *op    = call->op;
    int           given = call->in_count - call->capture_count;
    if (call->capture_count && (given < 0 || !(op->flags & HOLO_OP_CONTROL)))
        return holo_call_fail(call, HOLO_BAD_MODEL, "has %d values for subgraphs, but %s has no subgraphs",
                              call->capture_count, op->name);
    HOLO_TRY(count_check(call, "inputs", given, op->in_min, op->in_max));
    return count_check(call, "outputs", call->out_count, op->out_min, op->out_max);
}

// Everything that is captured, and everything that the operator needs, must be there.
static HoloStatus inputs_check(const HoloCall *call)
{
    for (int i = call->in_count - call->capture_count; i < call->in_count; i++)
        if (!call->in[i]) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d, for a subgraph, is missing", i);
    for (int i = 0; i < call->op->in_min; i++)
        if (!call->in[i]) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
    return HOLO_OK;
}

// Known sizes of an output must be at least 0, and so many elements must fit; also if another size is 0, and for any
// type, as in holo_tensor_count.
static HoloStatus sizes_check(const HoloCall *call, int i)
{
    const HoloTensor *t     = call->out[i];
    int64_t           bytes = sizeof(HoloTensor);
    for (int d = 0; d < t->rank; d++) {
        if (holo_dim_is_symbolic(t->dim[d])) continue;
        if (t->dim[d] < 0)
            return holo_call_fail(call, HOLO_BAD_MODEL, "output %d would have a negative size (%lld) in dimension %d",
                                  i, (long long)t->dim[d], d);
        if (t->dim[d] && !holo_mul(bytes, t->dim[d], &bytes))
            return holo_call_fail(call, HOLO_BAD_MODEL, "output %d would be too large", i);
    }
    return HOLO_OK;
}

// Is there nothing to compute, because nobody wants any output, or none has an element? In the second case all sizes
// but the one that is 0 may be huge, and a loop over them might not end.
static bool makes_nothing(const HoloCall *call)
{
    bool may_know = !(call->op->flags & (HOLO_OP_DYNAMIC | HOLO_OP_CONTROL));
    for (int i = 0; i < call->out_count; i++) {
        const HoloTensor *t = call->out[i];
        if (t && (!may_know || t->kind != HOLO_TENSOR || t->rank < 0 || holo_tensor_count(t))) return false;
    }
    return true;
}

HoloStatus holo_op_eval(HoloCall *call)
{
    if (makes_nothing(call)) return HOLO_OK;
    bool is_own = call->op->prepare && !call->prepared;
    if (is_own) HOLO_TRY(call->op->prepare(call, &call->prepared));
    HoloStatus status = call->op->eval(call);
    if (is_own && call->op->release) {
        call->op->release(call->prepared);
        call->prepared = NULL;
    }
    return status;
}

HoloStatus holo_op_check_sized(const HoloCall *call)
{
    if (call->op->flags & (HOLO_OP_DYNAMIC | HOLO_OP_CONTROL)) return HOLO_OK;
    for (int i = 0; i < call->out_count; i++) {
        const HoloTensor *t = call->out[i];
        if (!t || t->kind != HOLO_TENSOR) continue;
        bool known = t->rank >= 0;
        for (int d = 0; d < t->rank; d++) known = known && !holo_dim_is_symbolic(t->dim[d]);
        if (!known)
            return holo_call_fail(call, HOLO_BAD_MODEL, "the size of output %d cannot be computed: it is too large", i);
    }
    return HOLO_OK;
}

HoloStatus holo_op_infer(HoloCall *call)
{
    HOLO_TRY(holo_op_check_counts(call));
    HOLO_TRY(inputs_check(call));
    for (int i = 0; i < call->in_count; i++) {
        if (!call->in[i]) continue;
        if (call->in[i]->rank < 0) return holo_call_fail(call, HOLO_INTERNAL, "the rank of input %d is not known", i);
        if (call->in[i]->kind != HOLO_TENSOR && !(call->op->flags & (HOLO_OP_KINDS | HOLO_OP_CONTROL)))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is not a tensor", i);
    }
    if (call->op->types) HOLO_TRY(holo_expect_types(call, 0, call->op->types));
    HOLO_TRY(call->op->infer(call));
    for (int i = 0; i < call->out_count; i++)
        if (call->out[i]) HOLO_TRY(sizes_check(call, i));
    return HOLO_OK;
}
