// nnef_ops.c - NNEF's operations without windows: arithmetic, shapes, reductions, activations, normalizations. See nnef.h.
#include "import/nnef/nnef.h"

#include <math.h>
#include <string.h>

// ---- arguments

const HoloNnefArg *holo_nnef_arg(const HoloNnef *n, const char *key, int place)
{
    const HoloNnefCall *c = n->call;
    for (int i = 0; i < c->arg_count; i++)
        if (c->arg[i].key && !strcmp(c->arg[i].key, key)) return &c->arg[i];
    return place < c->arg_count && !c->arg[place].key ? &c->arg[place] : NULL;
}

static HoloNnefName *name_of(const HoloNnef *n, const HoloNnefArg *arg)
{
    if (arg->kind != HOLO_NNEF_NAME) return NULL;
    return holo_name_map_find(&n->names, (HoloString){arg->text, strlen(arg->text)});
}

static HoloValue *value_of(HoloNnef *n, const HoloNnefArg *arg)
{
    const HoloNnefName *name = name_of(n, arg);
    if (name && name->value) return name->value;
    if (arg->kind == HOLO_NNEF_NUMBER) return NUM(arg->number);
    if (arg->kind == HOLO_NNEF_BOOL) return holo_emit_number(n->e, HOLO_BOOL, arg->number);
    return holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: %s '%.200s' is not a tensor that was made before",
                          n->call->line, n->call->op, arg->text ? arg->text : "a list");
}

HoloValue *holo_nnef_may(HoloNnef *n, const char *key, int place)
{
    const HoloNnefArg *arg = holo_nnef_arg(n, key, place);
    return arg ? value_of(n, arg) : NULL;
}

HoloValue *holo_nnef_in(HoloNnef *n, const char *key, int place)
{
    const HoloNnefArg *arg = holo_nnef_arg(n, key, place);
    if (arg) return value_of(n, arg);
    return holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: %s has no argument %s", n->call->line, n->call->op, key);
}

double holo_nnef_number(HoloNnef *n, const char *key, int place, double fallback)
{
    const HoloNnefArg *arg = holo_nnef_arg(n, key, place);
    if (!arg || arg->kind == HOLO_NNEF_NUMBER) return arg ? arg->number : fallback;
    holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: %s of %s is not a number", n->call->line, key, n->call->op);
    return fallback;
}

int holo_nnef_int(HoloNnef *n, const char *key, int place, int fallback)
{
    double number = holo_nnef_number(n, key, place, fallback);
    if (fabs(number) <= 1e9 && number == floor(number)) return (int)number;
    holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: %s of %s is not a whole number, or too large", n->call->line, key,
                   n->call->op);
    return fallback;
}

bool holo_nnef_bool(HoloNnef *n, const char *key, int place, bool fallback)
{
    const HoloNnefArg *arg = holo_nnef_arg(n, key, place);
    return arg && arg->kind == HOLO_NNEF_BOOL ? arg->number != 0 : fallback;
}

const char *holo_nnef_text(HoloNnef *n, const char *key, int place, const char *fallback)
{
    const HoloNnefArg *arg = holo_nnef_arg(n, key, place);
    return arg && arg->kind == HOLO_NNEF_TEXT ? arg->text : fallback;
}

int holo_nnef_ints(HoloNnef *n, const char *key, int place, int64_t *out, int room)
{
    const HoloNnefArg *arg   = holo_nnef_arg(n, key, place);
    int                count = 0;
    if (!arg) return 0;
    for (int i = 0; arg->kind == HOLO_NNEF_LIST && i < arg->count; i++) {
        const HoloNnefArg *item = &arg->item[i];
        int                each = item->kind == HOLO_NNEF_LIST ? item->count : 1;
        for (int k = 0; k < each; k++) {
            const HoloNnefArg *one = item->kind == HOLO_NNEF_LIST ? &item->item[k] : item;
            if (one->kind != HOLO_NNEF_NUMBER || !one->is_whole || fabs(one->number) > 1e9 || count == room) {
                holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: %s of %s is not a list of whole numbers", n->call->line,
                               key, n->call->op);
                return -1;
            }
            out[count++] = (int64_t)one->number;
        }
    }
    return count;
}

int holo_nnef_list(HoloNnef *n, const char *key, int place, HoloValue **out, int room)
{
    const HoloNnefArg  *arg   = holo_nnef_arg(n, key, place);
    const HoloNnefName *name  = arg ? name_of(n, arg) : NULL;
    int                 count = 0;
    int                 given = name && name->list ? name->count : arg && arg->kind == HOLO_NNEF_LIST ? arg->count : 0;
    if (given > room) {
        holo_emit_fail(n->e, HOLO_UNSUPPORTED, "line %d: %s of %d tensors; %d are the most", n->call->line, n->call->op,
                       given, room);
        return 0;
    }
    for (; count < given; count++) out[count] = name && name->list ? name->list[count] : value_of(n, &arg->item[count]);
    if (!given) holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: %s has no list %s", n->call->line, n->call->op, key);
    return count;
}

int holo_nnef_rank(HoloNnef *n, const HoloValue *x)
{
    int rank = holo_emit_rank(x);
    if (rank >= 0) return rank;
    if (!n->e->status)
        holo_emit_fail(n->e, HOLO_UNSUPPORTED, "line %d: the number of dimensions must be known", n->call->line);
    return 0;
}

HoloValue *holo_nnef_widened(HoloNnef *n, HoloValue *x, int rank)
{
    int64_t axes[HOLO_MAX_RANK];
    int     own = holo_nnef_rank(n, x), count = 0;
    for (int i = own; own && i < rank && i < HOLO_MAX_RANK; i++) axes[count++] = i;
    return count ? holo_emit_unsqueeze(n->e, x, axes, count) : x;
}

HoloValue *holo_nnef_two(HoloNnef *n, const char *op, HoloValue *x, HoloValue *y)
{
    int a = holo_nnef_rank(n, x), b = holo_nnef_rank(n, y), rank = a > b ? a : b;
    return holo_emit(n->e, op, HOLO_IN(holo_nnef_widened(n, x, rank), holo_nnef_widened(n, y, rank)), NULL);
}

static const char *onnx_of(const HoloNnef *n)
{
    for (const HoloNnefOp *row = holo_nnef_ops; row->name; row++)
        if (!strcmp(row->name, n->call->op)) return row->onnx;
    return NULL;
}

#define IN(key, place) holo_nnef_in(n, key, place)

// ---- arithmetic

ONE(unary)
{
    return OP1(onnx_of(n), IN("x", 0));
}

ONE(binary)
{
    HoloValue *x = IN("x", 0);
    return OP2(onnx_of(n), x, IN("y", 1));
}

ONE(not_equal)
{
    HoloValue *x = IN("x", 0);
    return OP1("Not", OP2("Equal", x, IN("y", 1)));
}

ONE(select)
{
    HoloValue *c = IN("condition", 0), *a = IN("true_value", 1), *b = IN("false_value", 2);
    int        rank = holo_nnef_rank(n, c), other = holo_nnef_rank(n, a);
    if (other > rank) rank = other;
    if ((other = holo_nnef_rank(n, b)) > rank) rank = other;
    return holo_emit(
        n->e, "Where",
        HOLO_IN(holo_nnef_widened(n, c, rank), holo_nnef_widened(n, a, rank), holo_nnef_widened(n, b, rank)), NULL);
}

ONE(clamp)
{
    HoloValue *x = IN("x", 0), *low = IN("a", 1);
    return OP2("Max", OP2("Min", x, IN("b", 2)), low);
}

ONE(power_of) // sqr, rsqr, rsqrt
{
    HoloValue *x = IN("x", 0), *y = strstr(n->call->op, "sqrt") ? OP1("Sqrt", x) : OP2("Mul", x, x);
    return n->call->op[0] == 'r' ? OP1("Reciprocal", y) : y;
}

ONE(log2_of)
{
    return OP2("Div", OP1("Log", IN("x", 0)), NUM(0.69314718055994530942));
}

// To the nearest; halves go away from 0.
static HoloValue *rounded(HoloNnef *n, HoloValue *x)
{
    return OP2("Mul", OP1("Sign", x), OP1("Floor", OP2("Add", OP1("Abs", x), NUM(0.5))));
}

ONE(round_of)
{
    return rounded(n, IN("x", 0));
}

ONE(mat_mul)
{
    HoloValue *in[2] = {IN("A", 0), IN("B", 1)};
    for (int k = 0; k < 2 && !n->e->status; k++) {
        int64_t perm[HOLO_MAX_RANK];
        int     rank = holo_nnef_rank(n, in[k]);
        if (!holo_nnef_bool(n, k ? "transposeB" : "transposeA", 2 + k, false) || rank < 2) continue;
        for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
        in[k] = holo_emit_transpose(n->e, in[k], perm, rank);
    }
    return holo_emit(n->e, "MatMul", HOLO_IN(in[0], in[1]), NULL);
}

ONE(linear)
{
    HoloValue *x = IN("input", 0), *w = IN("filter", 1), *bias = holo_nnef_may(n, "bias", 2);
    HoloValue *y = holo_emit(n->e, "MatMul", HOLO_IN(x, holo_emit_transpose(n->e, w, (int64_t[]){1, 0}, 2)), NULL);
    return bias ? OP2("Add", y, bias) : y;
}

ONE(add_n)
{
    HoloValue *list[64], *y;
    int        count = holo_nnef_list(n, "x", 0, list, 64);
    y                = count ? list[0] : NULL;
    for (int i = 1; i < count; i++) y = OP2("Add", y, list[i]);
    return y;
}

static int copy_n(HoloNnef *n, HoloValue **out, int room)
{
    HoloValue *x     = IN("x", 0);
    int        count = holo_nnef_int(n, "times", 1, 1);
    if (count < 1 || count > room) {
        if (!n->e->status) holo_emit_fail(n->e, HOLO_UNSUPPORTED, "line %d: %d copies", n->call->line, count);
        return 0;
    }
    for (int i = 0; i < count; i++) out[i] = x;
    return count;
}

// ---- shapes

// From axis_start on, axis_count dimensions become `shape`: 0 keeps a size, -1 is the rest.
ONE(reshape)
{
    HoloValue *x = IN("input", 0);
    int64_t    shape[HOLO_MAX_RANK];
    int        rank = holo_nnef_rank(n, x), count = holo_nnef_ints(n, "shape", 1, shape, HOLO_MAX_RANK), made = 0;
    int        start = holo_nnef_int(n, "axis_start", 2, 0), many = holo_nnef_int(n, "axis_count", 3, -1);
    HoloDim    sizes[2 * HOLO_MAX_RANK];
    if (n->e->status) return NULL;
    if (many < 0) many = rank - start;
    if (start < 0 || start > rank || many > rank - start || rank - many + count > HOLO_MAX_RANK)
        return holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: the axes are wrong", n->call->line);
    for (int i = 0; i < start; i++) sizes[made++] = x->type.dim[i];
    for (int i = 0; i < count; i++) sizes[made++] = shape[i] ? shape[i] : start + i < rank ? x->type.dim[start + i] : 1;
    for (int i = start + many; i < rank; i++) sizes[made++] = x->type.dim[i];
    return holo_emit_reshape(n->e, x, sizes, made);
}

ONE(transpose)
{
    HoloValue *x = IN("input", 0);
    int64_t    perm[HOLO_MAX_RANK];
    int        rank = holo_nnef_rank(n, x), count = holo_nnef_ints(n, "axes", 1, perm, HOLO_MAX_RANK);
    if (n->e->status) return NULL;
    for (int i = count; i < rank; i++) perm[i] = i;
    return holo_emit_transpose(n->e, x, perm, rank);
}

ONE(concat)
{
    HoloValue *list[64];
    int        count = holo_nnef_list(n, "values", 0, list, 64);
    int64_t    axis  = holo_nnef_int(n, "axis", 1, 0);
    for (int i = 0; i < count && !strcmp(n->call->op, "stack"); i++)
        list[i] = holo_emit_unsqueeze(n->e, list[i], &axis, 1);
    if (n->e->status) return NULL;
    return holo_emit(n->e, "Concat", (HoloEmitIn){count, list}, HOLO_ATTRS(holo_with_int("axis", axis)));
}

// The sizes are in proportion to the ratios.
static int split(HoloNnef *n, HoloValue **out, int room)
{
    HoloValue *x    = IN("value", 0);
    int64_t    axis = holo_nnef_int(n, "axis", 1, 0), ratio[64], sum = 0;
    int        rank = holo_nnef_rank(n, x), count = holo_nnef_ints(n, "ratios", 2, ratio, room < 64 ? room : 64);
    if (n->e->status) return 0;
    HoloDim size = axis >= 0 && axis < rank ? x->type.dim[axis] : HOLO_DIM_UNKNOWN;
    for (int i = 0; i < count; i++) sum += ratio[i] > 0 ? ratio[i] : 0;
    if (holo_dim_is_symbolic(size) || sum < 1 || size % sum)
        return holo_emit_fail(n->e, HOLO_UNSUPPORTED, "line %d: a size that is open, or that the ratios do not divide",
                              n->call->line),
               0;
    int64_t at = 0;
    for (int i = 0; i < count; i++) {
        int64_t next = at + ratio[i] * (size / sum);
        out[i]       = holo_emit_slice(n->e, x, axis, at, next, 1);
        at           = next;
    }
    return count;
}

static int unstack(HoloNnef *n, HoloValue **out, int room)
{
    HoloValue *x    = IN("value", 0);
    int64_t    axis = holo_nnef_int(n, "axis", 1, 0);
    int        rank = holo_nnef_rank(n, x);
    if (n->e->status) return 0;
    HoloDim size = axis >= 0 && axis < rank ? x->type.dim[axis] : HOLO_DIM_UNKNOWN;
    if (holo_dim_is_symbolic(size) || size > room)
        return holo_emit_fail(n->e, HOLO_UNSUPPORTED, "line %d: a size that is open, or too large", n->call->line), 0;
    for (int64_t i = 0; i < size; i++)
        out[i] = holo_emit_squeeze(n->e, holo_emit_slice(n->e, x, axis, i, i + 1, 1), &axis, 1);
    return (int)size;
}

// An end of 0 is that of the tensor.
ONE(slice)
{
    HoloValue *x = IN("input", 0);
    int64_t    axes[HOLO_MAX_RANK], begin[HOLO_MAX_RANK], end[HOLO_MAX_RANK], step[HOLO_MAX_RANK];
    int        count = holo_nnef_ints(n, "axes", 1, axes, HOLO_MAX_RANK);
    int a = holo_nnef_ints(n, "begin", 2, begin, HOLO_MAX_RANK), b = holo_nnef_ints(n, "end", 3, end, HOLO_MAX_RANK);
    int steps = holo_nnef_ints(n, "stride", 4, step, HOLO_MAX_RANK);
    if (n->e->status) return NULL;
    if (a < count || b < count)
        return holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: lists of other sizes", n->call->line);
    for (int i = 0; i < count; i++) {
        int64_t by = i < steps ? step[i] : 1, to = end[i];
        if (!to) to = by > 0 ? INT64_MAX : INT64_MIN;
        x = holo_emit_slice(n->e, x, axes[i], begin[i], to, by);
    }
    return x;
}

ONE(squeezed)
{
    HoloValue *x = IN("input", 0);
    int64_t    axes[HOLO_MAX_RANK];
    int        count = holo_nnef_ints(n, "axes", 1, axes, HOLO_MAX_RANK);
    if (n->e->status) return NULL;
    return n->call->op[0] == 'u' ? holo_emit_unsqueeze(n->e, x, axes, count) : holo_emit_squeeze(n->e, x, axes, count);
}

ONE(tile)
{
    HoloValue *x = IN("input", 0);
    int64_t    repeats[HOLO_MAX_RANK];
    int        count = holo_nnef_ints(n, "repeats", 1, repeats, HOLO_MAX_RANK);
    return n->e->status ? NULL : holo_emit(n->e, "Tile", HOLO_IN(x, holo_emit_ints(n->e, repeats, count)), NULL);
}

ONE(gather)
{
    HoloValue *x = IN("input", 0), *at = holo_emit_cast(n->e, IN("indices", 1), HOLO_I64);
    int64_t    axis = holo_nnef_int(n, "axis", 2, 0);
    return n->e->status ? NULL : holo_emit(n->e, "Gather", HOLO_IN(x, at), HOLO_ATTRS(holo_with_int("axis", axis)));
}

ONE(cast)
{
    const char *to    = n->call->type ? n->call->type : "scalar";
    HoloDtype   dtype = !strcmp(to, "integer") ? HOLO_I64 : !strcmp(to, "logical") ? HOLO_BOOL : HOLO_F32;
    return holo_emit_cast(n->e, IN("input", 0), dtype);
}

// ---- reductions: dimensions stay, with the size 1

static HoloValue *reduced(HoloNnef *n, const char *op, HoloValue *x, int place)
{
    int64_t axes[HOLO_MAX_RANK];
    int     count = holo_nnef_ints(n, "axes", place, axes, HOLO_MAX_RANK);
    if (n->e->status) return NULL;
    return count ? holo_emit(n->e, op, HOLO_IN(x, holo_emit_ints(n->e, axes, count)), NULL) : x;
}

ONE(reduce)
{
    const char *op = onnx_of(n);
    if (!strcmp(op, "ReduceSum") && holo_nnef_bool(n, "normalize", 2, false)) op = "ReduceMean";
    return reduced(n, op, IN("input", 0), 1);
}

ONE(logical_reduce)
{
    HoloValue *x = holo_emit_cast(n->e, IN("input", 0), HOLO_I32);
    return holo_emit_cast(n->e, reduced(n, onnx_of(n), x, 1), HOLO_BOOL);
}

ONE(arg_reduce)
{
    HoloValue *x = IN("input", 0);
    int64_t    axes[HOLO_MAX_RANK];
    int        count = holo_nnef_ints(n, "axes", 1, axes, HOLO_MAX_RANK);
    if (n->e->status) return NULL;
    if (count != 1)
        return holo_emit_fail(n->e, HOLO_UNSUPPORTED, "line %d: %s along %d dimensions", n->call->line, n->call->op,
                              count);
    return holo_emit(n->e, onnx_of(n), HOLO_IN(x),
                     HOLO_ATTRS(holo_with_int("axis", axes[0]), holo_with_int("keepdims", 1)));
}

static int moments(HoloNnef *n, HoloValue **out, int room)
{
    (void)room;
    HoloValue *x = IN("input", 0);
    out[0]       = reduced(n, "ReduceMean", x, 1);
    HoloValue *d = OP2("Sub", x, out[0]);
    out[1]       = reduced(n, "ReduceMean", OP2("Mul", d, d), 1);
    return 2;
}

// ---- activations and normalizations

ONE(softmax)
{
    HoloValue *x                   = IN("x", 0);
    int64_t    axes[HOLO_MAX_RANK] = {1};
    int        count               = holo_nnef_ints(n, "axes", 1, axes, HOLO_MAX_RANK);
    if (n->e->status) return NULL;
    if (count <= 1) return holo_emit(n->e, "Softmax", HOLO_IN(x), HOLO_ATTRS(holo_with_int("axis", axes[0])));
    HoloValue *e = OP1("Exp", OP2("Sub", x, reduced(n, "ReduceMax", x, 1)));
    return OP2("Div", e, reduced(n, "ReduceSum", e, 1));
}

ONE(softabs)
{
    HoloValue *x = IN("x", 0);
    return OP1("Sqrt", OP2("Add", OP2("Mul", x, x), NUM(holo_nnef_number(n, "epsilon", 1, 0))));
}

ONE(elu)
{
    double alpha = holo_nnef_number(n, "alpha", 1, 1);
    return holo_emit(n->e, "Elu", HOLO_IN(IN("x", 0)), HOLO_ATTRS(holo_with_float("alpha", alpha)));
}

ONE(selu)
{
    double alpha = holo_nnef_number(n, "alpha", 1, 1.67326319), lambda = holo_nnef_number(n, "lambda", 2, 1.05070102);
    return holo_emit(n->e, "Selu", HOLO_IN(IN("x", 0)),
                     HOLO_ATTRS(holo_with_float("alpha", alpha), holo_with_float("gamma", lambda)));
}

// x times the sigmoid of x; gelu is defined by 1.702 x.
ONE(silu)
{
    HoloValue *x = IN("x", 0);
    return OP2("Mul", x, OP1("Sigmoid", n->call->op[0] == 'g' ? OP2("Mul", x, NUM(1.702)) : x));
}

ONE(prelu)
{
    HoloValue *x = IN("x", 0), *slope = IN("alpha", 1);
    int        rank   = holo_nnef_rank(n, x);
    HoloValue *is_low = OP2("Less", x, NUM(0)), *low = OP2("Mul", x, slope);
    return n->e->status ? NULL : holo_emit(n->e, "Where", HOLO_IN(is_low, low, holo_nnef_widened(n, x, rank)), NULL);
}

ONE(batch_norm)
{
    HoloValue *x = IN("input", 0), *mean = IN("mean", 1), *var = IN("variance", 2), *offset = IN("offset", 3),
              *scale = IN("scale", 4);
    HoloValue *root  = OP1("Sqrt", OP2("Add", var, NUM(holo_nnef_number(n, "epsilon", 5, 0))));
    return OP2("Add", OP2("Mul", OP2("Sub", x, mean), OP2("Div", scale, root)), offset);
}

ONE(norm)
{
    HoloValue *x = IN("input", 0), *sum = reduced(n, onnx_of(n), x, 1);
    sum = OP2("Add", sum, NUM(holo_nnef_number(n, "bias", 2, 0)));
    return OP2("Div", x, OP2("Max", sum, NUM(holo_nnef_number(n, "epsilon", 3, 0))));
}

// ---- steps of a range

ONE(linear_steps)
{
    HoloValue *x = IN("x", 0), *low = IN("min", 1), *high = IN("max", 2), *range = OP2("Sub", high, low);
    bool       is_less = holo_nnef_bool(n, "signed", 4, false) && holo_nnef_bool(n, "symmetric", 5, false);
    HoloValue *steps   = NUM(ldexp(1, holo_nnef_int(n, "bits", 3, 8)) - 1 - is_less);
    HoloValue *z       = OP2("Max", OP2("Min", x, high), low);
    HoloValue *q       = rounded(n, OP2("Mul", OP2("Div", OP2("Sub", z, low), range), steps));
    return OP2("Add", OP2("Mul", OP2("Div", q, steps), range), low);
}

ONE(zero_point_steps)
{
    HoloValue *x = IN("x", 0), *zero = holo_emit_cast(n->e, IN("zero_point", 1), HOLO_F32), *scale = IN("scale", 2);
    bool       is_signed = holo_nnef_bool(n, "signed", 4, true), is_even = holo_nnef_bool(n, "symmetric", 5, false);
    int        bits = holo_nnef_int(n, "bits", 3, 8);
    double     most = is_signed ? ldexp(1, bits - 1) - 1 : ldexp(1, bits) - 1, least = !is_signed ? 0
                                                                                       : is_even  ? -most
                                                                                                  : -most - 1;
    HoloValue *q = OP2("Add", rounded(n, OP2("Div", x, scale)), zero);
    q            = OP2("Min", OP2("Max", q, NUM(least)), NUM(most));
    return OP2("Mul", OP2("Sub", q, zero), scale);
}

// clang-format off
const HoloNnefOp holo_nnef_ops[] = {
    {"exp", unary, NULL, "Exp"}, {"log", unary, NULL, "Log"}, {"sin", unary, NULL, "Sin"}, {"cos", unary, NULL, "Cos"},
    {"tan", unary, NULL, "Tan"}, {"sinh", unary, NULL, "Sinh"}, {"cosh", unary, NULL, "Cosh"}, {"tanh", unary, NULL, "Tanh"},
    {"asin", unary, NULL, "Asin"}, {"acos", unary, NULL, "Acos"}, {"atan", unary, NULL, "Atan"}, {"asinh", unary, NULL, "Asinh"},
    {"acosh", unary, NULL, "Acosh"}, {"atanh", unary, NULL, "Atanh"}, {"abs", unary, NULL, "Abs"}, {"sign", unary, NULL, "Sign"},
    {"rcp", unary, NULL, "Reciprocal"}, {"neg", unary, NULL, "Neg"}, {"copy", unary, NULL, "Identity"}, {"not", unary, NULL, "Not"},
    {"floor", unary, NULL, "Floor"}, {"ceil", unary, NULL, "Ceil"}, {"round", round_of, NULL, NULL}, {"sqrt", unary, NULL, "Sqrt"},
    {"relu", unary, NULL, "Relu"}, {"sigmoid", unary, NULL, "Sigmoid"}, {"softplus", unary, NULL, "Softplus"},
    {"sqr", power_of, NULL, NULL}, {"rsqr", power_of, NULL, NULL}, {"rsqrt", power_of, NULL, NULL}, {"log2", log2_of, NULL, NULL},
    {"add", binary, NULL, "Add"}, {"sub", binary, NULL, "Sub"}, {"mul", binary, NULL, "Mul"}, {"div", binary, NULL, "Div"},
    {"pow", binary, NULL, "Pow"}, {"lt", binary, NULL, "Less"}, {"gt", binary, NULL, "Greater"}, {"le", binary, NULL, "LessOrEqual"},
    {"ge", binary, NULL, "GreaterOrEqual"}, {"eq", binary, NULL, "Equal"}, {"ne", not_equal, NULL, NULL}, {"and", binary, NULL, "And"},
    {"or", binary, NULL, "Or"}, {"min", binary, NULL, "Min"}, {"max", binary, NULL, "Max"}, {"clamp", clamp, NULL, NULL},
    {"select", select, NULL, NULL}, {"matmul", mat_mul, NULL, NULL}, {"linear", linear, NULL, NULL}, {"add_n", add_n, NULL, NULL},
    {"copy_n", NULL, copy_n, NULL}, {"reshape", reshape, NULL, NULL}, {"transpose", transpose, NULL, NULL}, {"concat", concat, NULL, NULL},
    {"stack", concat, NULL, NULL}, {"split", NULL, split, NULL}, {"unstack", NULL, unstack, NULL}, {"slice", slice, NULL, NULL},
    {"squeeze", squeezed, NULL, NULL}, {"unsqueeze", squeezed, NULL, NULL}, {"tile", tile, NULL, NULL}, {"gather", gather, NULL, NULL},
    {"cast", cast, NULL, NULL}, {"sum_reduce", reduce, NULL, "ReduceSum"}, {"max_reduce", reduce, NULL, "ReduceMax"},
    {"min_reduce", reduce, NULL, "ReduceMin"}, {"mean_reduce", reduce, NULL, "ReduceMean"}, {"any_reduce", logical_reduce, NULL, "ReduceMax"},
    {"all_reduce", logical_reduce, NULL, "ReduceMin"}, {"argmax_reduce", arg_reduce, NULL, "ArgMax"}, {"argmin_reduce", arg_reduce, NULL, "ArgMin"},
    {"moments", NULL, moments, NULL}, {"softmax", softmax, NULL, NULL}, {"softabs", softabs, NULL, NULL}, {"elu", elu, NULL, NULL},
    {"selu", selu, NULL, NULL}, {"silu", silu, NULL, NULL}, {"gelu", silu, NULL, NULL}, {"prelu", prelu, NULL, NULL},
    {"leaky_relu", prelu, NULL, NULL}, {"batch_normalization", batch_norm, NULL, NULL}, {"l1_normalization", norm, NULL, "ReduceL1"},
    {"l2_normalization", norm, NULL, "ReduceL2"}, {"linear_quantize", linear_steps, NULL, NULL},
    {"min_max_linear_quantize", linear_steps, NULL, NULL}, {"zero_point_linear_quantize", zero_point_steps, NULL, NULL},
    {0},
};
