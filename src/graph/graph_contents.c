// graph_contents.c - the contents of small integer values, as numbers or expressions of sizes.
//
// Models compute shapes with operators: Shape, Gather, Mul, Concat and then Reshape. If these values are followed as
// expressions, the sizes of everything behind them are known. There are three ways, in this order: if all inputs are
// numbers, the operator is simply evaluated; if it only moves elements, it is evaluated with expressions as elements;
// arithmetic has a table here. Elements that stay unknown are HOLO_DIM_UNKNOWN. Nothing here fails because of a model:
// contents are then just unknown.
#include "graph/facts.h"
#include "graph/infer.h"

#include <math.h>
#include <string.h>

// ---- what is known about a value

typedef struct Known { // element i is above[i] / below
    int            count;
    const HoloDim *above;
    int64_t        below;
} Known;

// The number of elements of a type with a known, small size; -1 for any other.
static int small_count(const HoloTensor *t)
{
    if (t->kind != HOLO_TENSOR || t->rank < 0) return -1;
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++) {
        if (t->dim[i] < 0 || !holo_mul(count, t->dim[i], &count)) return -1;
    }
    return count <= HOLO_CONTENTS_MAX ? (int)count : -1;
}

static bool is_whole(HoloDtype dtype)
{
    HoloClass class = holo_dtype_class(dtype);
    return class == HOLO_CLASS_INT || class == HOLO_CLASS_UINT || class == HOLO_CLASS_BOOL;
}

static bool all_numbers(const HoloDim *contents, int count)
{
    for (int i = 0; i < count; i++)
        if (holo_dim_is_symbolic(contents[i])) return false;
    return true;
}

static HoloStatus set_data(HoloInfer *infer, HoloValue *value, const HoloTensor *tensor)
{
    size_t size = holo_tensor_bytes(tensor);
    void  *data = holo_arena_take(infer->scratch, size ? size : 1);
    if (!data) return holo_fail_memory(infer->error);
    if (size) memcpy(data, tensor->data, size);
    infer->data[value->id] = data;
    return HOLO_OK;
}

// Takes integer elements as contents. A number in the range reserved for symbols counts as unknown.
static HoloStatus contents_from_data(HoloInfer *infer, HoloValue *value, const HoloTensor *tensor)
{
    int count = small_count(tensor);
    if (count < 0 || !is_whole(tensor->dtype)) return HOLO_OK;
    HoloDim *contents = HOLO_NEW(infer->graph->arena, HoloDim, count);
    if (!contents) return holo_fail_memory(infer->error);
    if (count) holo_read_i(tensor, 0, 1, count, contents);
    for (int i = 0; i < count; i++)
        if (holo_dim_is_symbolic(contents[i])) contents[i] = HOLO_DIM_UNKNOWN;
    value->contents = contents;
    return HOLO_OK;
}

static HoloStatus data_from_contents(HoloInfer *infer, HoloValue *value, int count)
{
    HoloTensor t    = value->type;
    size_t     size = holo_tensor_bytes(&t);
    t.data          = holo_arena_take(infer->scratch, size ? size : 1);
    if (!t.data) return holo_fail_memory(infer->error);
    if (count) holo_write_i(&t, 0, 1, count, value->contents);
    infer->data[value->id] = t.data;
    return HOLO_OK;
}

HoloStatus holo_contents_begin(HoloInfer *infer, HoloValue *value)
{
    if (value->is_constant) return contents_from_data(infer, value, &value->type);
    int count = value->contents ? small_count(&value->type) : -1;
    if (count < 0) {
        value->contents = NULL;
        return HOLO_OK;
    }
    return all_numbers(value->contents, count) ? data_from_contents(infer, value, count) : HOLO_OK;
}

// Writes float numbers as quotients by a power of two that is so small that products with sizes are exact in float.
static bool quotients(HoloInfer *infer, const HoloTensor *t, Known *out)
{
    enum { BELOW_MAX = 1024 };
    HoloDim *above = HOLO_NEW(infer->scratch, HoloDim, out->count);
    if (!above) return false;
    out->below = 1;
    for (int i = 0; i < out->count; i++) {
        double x = holo_get_f(t, i);
        if (!(fabs(x) < 1e12)) return false;
        while (out->below < BELOW_MAX && x * (double)out->below != floor(x * (double)out->below)) out->below *= 2;
        if (x * (double)out->below != floor(x * (double)out->below)) return false;
    }
    for (int i = 0; i < out->count; i++) above[i] = (int64_t)(holo_get_f(t, i) * (double)out->below);
    out->above = above;
    return true;
}

// What is known about a node's input. False: nothing.
static bool known_input(HoloInfer *infer, const HoloNode *node, int i, Known *out)
{
    const HoloValue *value = i < node->in_count ? node->in[i] : NULL;
    if (!value) return false;
    HoloTensor t = holo_infer_view(infer, value);
    *out         = (Known){small_count(&t), value->contents, 1};
    if (out->count < 0) return false;
    if (out->above) return true;
    out->above = infer->above[value->id];
    out->below = infer->below[value->id];
    if (out->above) return true;
    return t.data && holo_dtype_class(t.dtype) == HOLO_CLASS_FLOAT && quotients(infer, &t, out);
}

// Keeps what was found for an output: as contents if all quotients are whole.
static HoloStatus set_known(HoloInfer *infer, HoloValue *value, Known found)
{
    HoloDims *dims     = infer->graph->dims;
    HoloDim  *contents = HOLO_NEW(infer->graph->arena, HoloDim, found.count);
    int       unknown = 0, whole = 0;
    if (!contents) return holo_fail_memory(infer->error);
    for (int i = 0; i < found.count; i++) {
        HoloDim above = found.above[i];
        contents[i]   = found.below == 1 ? above : holo_dim_div(dims, above, found.below);
        whole += found.below == 1 || holo_dim_mul(dims, contents[i], found.below) == above;
        unknown += above == HOLO_DIM_UNKNOWN;
    }
    if (unknown == found.count && found.count) return HOLO_OK;
    if (whole == found.count) {
        value->contents = contents;
        return all_numbers(contents, found.count) ? data_from_contents(infer, value, found.count) : HOLO_OK;
    }
    infer->above[value->id] = found.above;
    infer->below[value->id] = found.below;
    return HOLO_OK;
}

// ---- numbers: evaluated

static bool evaluate_node(HoloInfer *infer, const HoloNode *node, HoloStatus *out_status)
{
    if (!node->op->eval || node->op->flags & (HOLO_OP_RANDOM | HOLO_OP_CONTROL) || node->in_count > HOLO_CONTENTS_MAX)
        return false;
    HoloTensor        type[HOLO_CONTENTS_MAX], result = {0};
    const HoloTensor *in[HOLO_CONTENTS_MAX] = {NULL};
    HoloTensor       *out[1]                = {&result};
    if (node->out_count != 1 || !node->out[0] || small_count(&node->out[0]->type) < 0) return false;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i]) continue;
        type[i] = holo_infer_view(infer, node->in[i]);
        if (!type[i].data || small_count(&type[i]) < 0) return false;
        in[i] = &type[i];
    }
    HoloArena arena   = {0};
    bool      is_done = holo_node_eval(node, in, out, &arena, NULL) == HOLO_OK && result.kind == HOLO_TENSOR &&
                   small_count(&result) >= 0 && holo_dtype_class(result.dtype) != HOLO_CLASS_STRING;
    if (is_done) {
        *out_status = set_data(infer, node->out[0], &result);
        if (!*out_status) *out_status = contents_from_data(infer, node->out[0], &result);
    }
    holo_arena_deinit(&arena);
    return is_done;
}

// ---- moves: evaluated with expressions as elements

// The expressions of input i as a tensor of i64; all unknown if there are none.
static bool as_elements(HoloInfer *infer, const HoloNode *node, int i, HoloTensor *t, bool *any_known)
{
    Known known;
    *t        = node->in[i]->type;
    int count = small_count(t);
    if (count < 0) return false;
    HoloDim *data = HOLO_NEW(infer->scratch, HoloDim, count);
    if (!data) return false;
    bool is_known = known_input(infer, node, i, &known) && known.below == 1;
    for (int k = 0; k < count; k++) data[k] = is_known ? known.above[k] : HOLO_DIM_UNKNOWN;
    *any_known |= is_known;
    t->dtype = HOLO_I64;
    t->data  = data;
    return true;
}

static HoloStatus move_elements(HoloInfer *infer, const HoloNode *node)
{
    HoloTensor        type[HOLO_CONTENTS_MAX], result[HOLO_CONTENTS_MAX] = {{0}};
    const HoloTensor *in[HOLO_CONTENTS_MAX]  = {NULL};
    HoloTensor       *out[HOLO_CONTENTS_MAX] = {NULL};
    bool              moves_all = (node->op->flags & HOLO_OP_MOVES_ALL) == HOLO_OP_MOVES_ALL, any_known = false;
    if (!node->op->eval || node->in_count > HOLO_CONTENTS_MAX || node->out_count > HOLO_CONTENTS_MAX) return HOLO_OK;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i]) continue;
        in[i] = &type[i];
        if (i == 0 || moves_all) {
            if (!as_elements(infer, node, i, &type[i], &any_known)) return HOLO_OK;
            continue;
        }
        type[i] = holo_infer_view(infer, node->in[i]);
        if (!type[i].data) return HOLO_OK;
    }
    if (!any_known) return HOLO_OK;
    for (int i = 0; i < node->out_count; i++) {
        if (node->out[i] && small_count(&node->out[i]->type) < 0)
            return HOLO_OK; // a Tile can make a large output of a small input
        if (node->out[i]) out[i] = &result[i];
    }
    HoloArena  arena  = {0};
    HoloStatus status = HOLO_OK;
    if (holo_node_eval(node, in, out, &arena, NULL) == HOLO_OK) {
        for (int i = 0; i < node->out_count && !status; i++) {
            int count = out[i] ? small_count(out[i]) : -1;
            if (count >= 0 && out[i]->dtype == HOLO_I64 && count == small_count(&node->out[i]->type))
                status = set_known(infer, node->out[i], (Known){count, out[i]->data, 1});
        }
    }
    holo_arena_deinit(&arena);
    return status;
}

// ---- arithmetic: what each operator does to two expressions

static bool is_known_less(HoloDims *dims, HoloDim a, HoloDim b)
{
    return b != HOLO_DIM_UNKNOWN && holo_dim_max(dims, holo_dim_add(dims, a, 1), b) == b;
}

static bool is_known_not_less(HoloDims *dims, HoloDim a, HoloDim b)
{
    return a != HOLO_DIM_UNKNOWN && holo_dim_max(dims, a, b) == a;
}

static HoloDim less(HoloDims *dims, HoloDim a, HoloDim b)
{
    return is_known_less(dims, a, b) ? 1 : is_known_not_less(dims, a, b) ? 0 : HOLO_DIM_UNKNOWN;
}

static HoloDim greater(HoloDims *dims, HoloDim a, HoloDim b)
{
    return less(dims, b, a);
}

static HoloDim not_less(HoloDims *dims, HoloDim a, HoloDim b)
{
    HoloDim d = less(dims, a, b);
    return d == HOLO_DIM_UNKNOWN ? d : !d;
}

static HoloDim not_greater(HoloDims *dims, HoloDim a, HoloDim b)
{
    return not_less(dims, b, a);
}

static HoloDim equal(HoloDims *dims, HoloDim a, HoloDim b)
{
    if (a == HOLO_DIM_UNKNOWN || b == HOLO_DIM_UNKNOWN) return HOLO_DIM_UNKNOWN;
    if (a == b) return 1;
    bool differ =
        !holo_dim_is_symbolic(holo_dim_sub(dims, a, b)) || is_known_less(dims, a, b) || is_known_less(dims, b, a);
    return differ ? 0 : HOLO_DIM_UNKNOWN;
}

// Rounds towards zero. If both are known not to be negative, that is rounding down.
static HoloDim divide(HoloDims *dims, HoloDim a, HoloDim b)
{
    bool is_down = is_known_not_less(dims, a, 0) && is_known_not_less(dims, b, 0);
    return is_down ? holo_dim_div(dims, a, b) : HOLO_DIM_UNKNOWN;
}

static HoloDim modulo(HoloDims *dims, HoloDim a, HoloDim b)
{
    return holo_dim_sub(dims, a, holo_dim_mul(dims, divide(dims, a, b), b));
}

typedef HoloDim (*Binary)(HoloDims *dims, HoloDim a, HoloDim b);

typedef enum Scale { // what a row does with denominators
    COMMON,          // operands get a common denominator, and so does the result
    DROPPED,         // operands get a common denominator; the result has none
    PRODUCT,
    QUOTIENT,
    WHOLE, // defined only for whole numbers
} Scale;

static const struct BinaryRow {
    HoloOpId id;
    Binary   apply;
    Scale    scale;
} binary_rows[] = {
    {HOLO_ID_Add, holo_dim_add, COMMON},
    {HOLO_ID_Sub, holo_dim_sub, COMMON},
    {HOLO_ID_Mul, holo_dim_mul, PRODUCT},
    {HOLO_ID_Div, divide, QUOTIENT},
    {HOLO_ID_Mod, modulo, WHOLE},
    {HOLO_ID_Min, holo_dim_min, COMMON},
    {HOLO_ID_Max, holo_dim_max, COMMON},
    {HOLO_ID_Less, less, DROPPED},
    {HOLO_ID_LessOrEqual, not_greater, DROPPED},
    {HOLO_ID_Greater, greater, DROPPED},
    {HOLO_ID_GreaterOrEqual, not_less, DROPPED},
    {HOLO_ID_Equal, equal, DROPPED},
};

// out[i] = apply(a[i], b[i]), with broadcasting.
static HoloDim *apply_binary(HoloInfer *infer, const HoloNode *node, Binary apply, Known a, Known b)
{
    const HoloTensor *type  = &node->out[0]->type;
    int               count = small_count(type), i = 0;
    int64_t           a_stride[HOLO_MAX_RANK], b_stride[HOLO_MAX_RANK];
    HoloDim          *result = count < 0 ? NULL : HOLO_NEW(infer->scratch, HoloDim, count);
    if (!result) return NULL;
    holo_strides_broadcast(&node->in[0]->type, type->rank, type->dim, a_stride);
    holo_strides_broadcast(&node->in[1]->type, type->rank, type->dim, b_stride);
    HoloWalk walk = holo_walk(type->rank, type->dim);
    while (i < count && holo_walk_next(&walk)) {
        HoloDim x = a.above[holo_walk_at(&walk, a_stride)], y = b.above[holo_walk_at(&walk, b_stride)];
        result[i++] = apply(infer->graph->dims, x, y);
    }
    return result;
}

static Known scaled(HoloInfer *infer, Known known, int64_t factor)
{
    HoloDim *above = HOLO_NEW(infer->scratch, HoloDim, known.count);
    for (int i = 0; i < known.count && above; i++) above[i] = holo_dim_mul(infer->graph->dims, known.above[i], factor);
    return (Known){known.count, above, known.below};
}

static HoloStatus infer_binary(HoloInfer *infer, const HoloNode *node, const struct BinaryRow *row)
{
    enum { BELOW_MAX = 1 << 20 };
    Known a, b;
    if (node->in_count != 2 || !known_input(infer, node, 0, &a) || !known_input(infer, node, 1, &b)) return HOLO_OK;
    bool    is_whole_division = is_whole(node->in[0]->type.dtype);
    Scale   scale             = row->scale == QUOTIENT && is_whole_division ? WHOLE : row->scale;
    Binary  apply             = row->apply;
    int64_t below             = a.below * b.below; // each factor is at most BELOW_MAX
    if (scale == WHOLE && below != 1) return HOLO_OK;
    if ((scale == COMMON || scale == DROPPED) && below != 1) {
        int64_t a_below = a.below;
        a               = scaled(infer, a, b.below);
        b               = scaled(infer, b, a_below);
    }
    if (scale == QUOTIENT) { // division by one number: it becomes a factor of the denominator
        if (b.count != 1 || holo_dim_is_symbolic(b.above[0]) || b.above[0] <= 0 || b.above[0] > BELOW_MAX)
            return HOLO_OK;
        if (!holo_mul(a.below, b.above[0], &below)) return HOLO_OK;
        HoloDim *one = HOLO_NEW(infer->scratch, HoloDim, 1);
        if (!one) return holo_fail_memory(infer->error);
        *one    = b.below;
        b.above = one;
        apply   = holo_dim_mul;
    }
    if (!a.above || !b.above || below > BELOW_MAX) return HOLO_OK;
    HoloDim *result = apply_binary(infer, node, apply, a, b);
    if (!result) return HOLO_OK;
    return set_known(infer, node->out[0],
                     (Known){small_count(&node->out[0]->type), result, scale == DROPPED ? 1 : below});
}

// ---- operators of one input

static HoloDim same(HoloDims *dims, HoloDim a, int64_t below)
{
    (void)dims;
    return below == 1 ? a : HOLO_DIM_UNKNOWN;
}

static HoloDim absolute(HoloDims *dims, HoloDim a, int64_t below)
{
    return below == 1 && is_known_not_less(dims, a, 0) ? a : HOLO_DIM_UNKNOWN;
}

static HoloDim negate(HoloDims *dims, HoloDim a, int64_t below)
{
    return below == 1 ? holo_dim_sub(dims, 0, a) : HOLO_DIM_UNKNOWN;
}

static HoloDim round_up(HoloDims *dims, HoloDim a, int64_t below)
{
    return holo_dim_div_ceil(dims, a, below);
}

static HoloDim towards_zero(HoloDims *dims, HoloDim a, int64_t below)
{
    return below == 1 || is_known_not_less(dims, a, 0) ? holo_dim_div(dims, a, below) : HOLO_DIM_UNKNOWN;
}

static HoloDim is_not_zero(HoloDims *dims, HoloDim a, int64_t below)
{
    (void)below;
    HoloDim zero = equal(dims, a, 0);
    return zero == HOLO_DIM_UNKNOWN ? zero : !zero;
}

typedef HoloDim (*Unary)(HoloDims *dims, HoloDim above, int64_t below);

static const struct UnaryRow {
    HoloOpId id;
    Unary    apply;
} unary_rows[] = {
    {HOLO_ID_Identity, same},      {HOLO_ID_Neg, negate},    {HOLO_ID_Abs, absolute},
    {HOLO_ID_Floor, holo_dim_div}, {HOLO_ID_Ceil, round_up}, {HOLO_ID_Round, same},
};

// Casts to a type that can hold every size of a tensor in practice.
static Unary cast_to(HoloDtype dtype)
{
    switch (dtype) {
    case HOLO_I64:
    case HOLO_I32: return towards_zero;
    case HOLO_F32:
    case HOLO_F64: return same;
    case HOLO_BOOL: return is_not_zero;
    default: return NULL;
    }
}

static HoloStatus infer_unary(HoloInfer *infer, const HoloNode *node, Unary apply)
{
    Known a;
    if (!apply || !known_input(infer, node, 0, &a)) return HOLO_OK;
    HoloDim *result = HOLO_NEW(infer->scratch, HoloDim, a.count);
    if (!result) return holo_fail_memory(infer->error);
    for (int i = 0; i < a.count; i++) result[i] = apply(infer->graph->dims, a.above[i], a.below);
    return set_known(infer, node->out[0], (Known){a.count, result, 1});
}

// ---- other operators

static HoloStatus infer_shape(HoloInfer *infer, const HoloNode *node)
{
    const HoloTensor *t     = &node->in[0]->type;
    int64_t           start = holo_node_int(node, "start", 0);
    int               count = small_count(&node->out[0]->type);
    if (start < 0) start += t->rank;
    if (start < 0) start = 0;
    if (t->rank < 0 || count < 0 || start > t->rank || count > t->rank - start) return HOLO_OK;
    return set_known(infer, node->out[0], (Known){count, t->dim + start, 1});
}

static HoloStatus infer_size(HoloInfer *infer, const HoloNode *node)
{
    const HoloTensor *t    = &node->in[0]->type;
    HoloDim           size = 1;
    if (t->rank < 0) return HOLO_OK;
    for (int i = 0; i < t->rank; i++) size = holo_dim_mul(infer->graph->dims, size, t->dim[i]);
    return set_known(infer, node->out[0], (Known){1, &size, 1});
}

// Reduces all elements to one.
static HoloStatus infer_reduction(HoloInfer *infer, const HoloNode *node, Binary apply, HoloDim first)
{
    Known a;
    if (small_count(&node->out[0]->type) != 1 || !known_input(infer, node, 0, &a) || a.below != 1) return HOLO_OK;
    HoloDim result = a.count ? a.above[0] : first;
    for (int i = 1; i < a.count; i++) result = apply(infer->graph->dims, result, a.above[i]);
    return set_known(infer, node->out[0], (Known){1, &result, 1});
}

static HoloStatus reduce_product(HoloInfer *infer, const HoloNode *node)
{
    return infer_reduction(infer, node, holo_dim_mul, 1);
}

static HoloStatus reduce_sum(HoloInfer *infer, const HoloNode *node)
{
    return infer_reduction(infer, node, holo_dim_add, 0);
}

static HoloStatus reduce_max(HoloInfer *infer, const HoloNode *node)
{
    return infer_reduction(infer, node, holo_dim_max, HOLO_DIM_UNKNOWN);
}

static HoloStatus reduce_min(HoloInfer *infer, const HoloNode *node)
{
    return infer_reduction(infer, node, holo_dim_min, HOLO_DIM_UNKNOWN);
}

static HoloStatus infer_cast(HoloInfer *infer, const HoloNode *node)
{
    return infer_unary(infer, node, cast_to(node->out[0]->type.dtype));
}

static HoloStatus infer_where(HoloInfer *infer, const HoloNode *node)
{
    const HoloTensor *type = &node->out[0]->type;
    Known             in[3];
    int64_t           stride[3][HOLO_MAX_RANK];
    int               count = small_count(type), i = 0;
    if (count < 0 || node->in_count != 3) return HOLO_OK;
    for (int k = 0; k < 3; k++) {
        if (!known_input(infer, node, k, &in[k]) || in[k].below != 1) return HOLO_OK;
        holo_strides_broadcast(&node->in[k]->type, type->rank, type->dim, stride[k]);
    }
    HoloDim *result = HOLO_NEW(infer->scratch, HoloDim, count);
    if (!result) return holo_fail_memory(infer->error);
    HoloWalk walk = holo_walk(type->rank, type->dim);
    while (i < count && holo_walk_next(&walk)) {
        HoloDim condition = in[0].above[holo_walk_at(&walk, stride[0])];
        HoloDim x = in[1].above[holo_walk_at(&walk, stride[1])], y = in[2].above[holo_walk_at(&walk, stride[2])];
        bool    is_open = holo_dim_is_symbolic(condition);
        result[i++]     = is_open ? (x == y ? x : HOLO_DIM_UNKNOWN) : condition ? x : y;
    }
    return set_known(infer, node->out[0], (Known){count, result, 1});
}

static HoloStatus infer_range(HoloInfer *infer, const HoloNode *node)
{
    Known start, step;
    int   count = small_count(&node->out[0]->type);
    if (count < 0 || !known_input(infer, node, 0, &start) || !known_input(infer, node, 2, &step)) return HOLO_OK;
    if (start.count != 1 || step.count != 1 || start.below != 1 || step.below != 1) return HOLO_OK;
    HoloDims *dims   = infer->graph->dims;
    HoloDim  *result = HOLO_NEW(infer->scratch, HoloDim, count);
    if (!result) return holo_fail_memory(infer->error);
    for (int i = 0; i < count; i++)
        result[i] = holo_dim_add(dims, start.above[0], holo_dim_mul(dims, step.above[0], i));
    return set_known(infer, node->out[0], (Known){count, result, 1});
}

static const struct OtherRow {
    HoloOpId id;
    HoloStatus (*infer)(HoloInfer *infer, const HoloNode *node);
} other_rows[] = {
    {HOLO_ID_Shape, infer_shape},    {HOLO_ID_Size, infer_size},      {HOLO_ID_Cast, infer_cast},
    {HOLO_ID_Where, infer_where},    {HOLO_ID_Range, infer_range},    {HOLO_ID_ReduceProd, reduce_product},
    {HOLO_ID_ReduceSum, reduce_sum}, {HOLO_ID_ReduceMax, reduce_max}, {HOLO_ID_ReduceMin, reduce_min},
};

// ---- a node

HoloStatus holo_contents_infer(HoloInfer *infer, const HoloNode *node)
{
    HoloStatus status = HOLO_OK;
    if (node->in_count < 1 || !node->in[0] || node->out_count < 1 || !node->out[0] || *node->domain) return HOLO_OK;
    if (evaluate_node(infer, node, &status)) return status;
    for (int i = 0; i < HOLO_COUNT(other_rows); i++)
        if (other_rows[i].id == node->op_id) return other_rows[i].infer(infer, node);
    if (node->op->flags & HOLO_OP_MOVES) return move_elements(infer, node);
    for (int i = 0; i < HOLO_COUNT(binary_rows); i++)
        if (binary_rows[i].id == node->op_id) return infer_binary(infer, node, &binary_rows[i]);
    for (int i = 0; i < HOLO_COUNT(unary_rows); i++)
        if (unary_rows[i].id == node->op_id) return infer_unary(infer, node, unary_rows[i].apply);
    return HOLO_OK;
}
