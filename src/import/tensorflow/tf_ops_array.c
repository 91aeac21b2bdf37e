// tf_ops_array.c - shapes, joining and cutting, filling: TensorFlow's operators that move elements.
#include "import/import_window.h"
#include "import/tensorflow/tf_ops.h"

HoloValue *holo_flow_zero(HoloFlowCall *c, HoloDtype dtype)
{
    static const HoloString nothing = {"", 0};
    HoloTensor              text    = {.dtype = HOLO_STRING, .data = (void *)&nothing};
    return dtype == HOLO_STRING ? holo_emit_constant(c->e, NULL, &text) : holo_emit_number(c->e, dtype, 0);
}

HoloValue *holo_flow_filled(HoloFlowCall *c, HoloValue *shape, HoloValue *scalar)
{
    return holo_emit(c->e, "Expand", HOLO_IN(scalar, shape), NULL);
}

HoloValue *holo_flow_join(HoloFlowCall *c, HoloValue *a, HoloValue *b)
{
    return holo_emit(c->e, "Concat", HOLO_IN(a, b), HOLO_ATTRS(holo_with_int("axis", 0)));
}

// ---- what changes nothing

static void same(HoloFlowCall *c)
{
    for (int i = 0; i < c->in_count; i++) holo_flow_out_value(c, i, c->in[i]);
}

static void first_only(HoloFlowCall *c)
{
    if (c->in_count) holo_flow_out_value(c, 0, c->in[0]);
}

static void nothing(HoloFlowCall *c)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){0});
}

// Inputs of the model have values before anything is emitted.
static void placeholder(HoloFlowCall *c)
{
    holo_flow_fail(c, HOLO_BAD_MODEL, "the signature does not have this input, and outputs depend on it");
}

// ---- constants

static void constant(HoloFlowCall *c)
{
    HoloTensor        tensor;
    HoloFlowAttrProto attr   = {0};
    bool              found  = false;
    HoloDtype         type   = holo_flow_type(c, "dtype");
    HoloString        key    = c->node->name;
    HoloStatus        status = HOLO_OK;
    if (c->scope->function) {
        const char *text = holo_arena_format(c->tf->arena, "%.*s/%.*s", (int)c->scope->function->name.size,
                                             c->scope->function->name.data, (int)key.size, key.data);
        key              = text ? (HoloString){text, strlen(text)} : key;
    }
    if (c->tf->weight) status = c->tf->weight(c->tf, key, type, &tensor, &found);
    if (c->tf->weight && !status && !found) status = c->tf->weight(c->tf, c->node->name, type, &tensor, &found);
    if (!status && !found && (!holo_flow_attr(c, "value", &attr) || !holo_pb_has(attr.has, HOLO_FLOW_ATTR_TENSOR)))
        status = holo_fail(c->tf->error, HOLO_BAD_MODEL, "constant '%s' has no value", c->e->node);
    if (!status && !found) status = holo_flow_tensor(c->tf, c->node->name, attr.tensor, &tensor);
    if (status && !c->e->status) c->e->status = status;
    holo_flow_out(c, 0, holo_emit_constant(c->e, NULL, &tensor));
}

static void fill(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_flow_filled(c, holo_flow_vector(c, holo_flow_in(c, 0)), holo_flow_in(c, 1)));
}

// number: 0 or 1.
static void like(HoloFlowCall *c)
{
    HoloValue *x      = holo_flow_in(c, 0);
    HoloDtype  t      = holo_emit_dtype(x);
    HoloValue *scalar = t == HOLO_STRING ? holo_flow_zero(c, t) : holo_emit_number(c->e, t, c->op->number);
    holo_flow_out(c, 0, holo_flow_filled(c, holo_emit_shape(c->e, x), scalar));
}

static void filled_by_shape(HoloFlowCall *c)
{
    HoloDtype t = holo_flow_type(c, "dtype");
    holo_flow_out(c, 0,
                  holo_flow_filled(c, holo_flow_vector(c, holo_flow_in(c, 0)),
                                   holo_emit_number(c->e, t ? t : HOLO_F32, c->op->number)));
}

static void range(HoloFlowCall *c)
{
    HoloValue *start = holo_flow_in(c, 0), *limit = holo_flow_in(c, 1), *delta = holo_flow_in(c, 2);
    holo_flow_same_type(c, &start, &limit);
    holo_flow_same_type(c, &start, &delta);
    holo_flow_out(c, 0, holo_emit(c->e, "Range", HOLO_IN(start, limit, delta), NULL));
}

static void lin_space(HoloFlowCall *c)
{
    HoloEmit  *e     = c->e;
    HoloValue *start = holo_flow_in(c, 0), *stop = holo_flow_in(c, 1);
    HoloDtype  t     = holo_emit_dtype(start);
    HoloValue *count = holo_emit_cast(e, holo_flow_in(c, 2), HOLO_I64), *one = holo_emit_int(e, 1);
    HoloValue *index = holo_emit(e, "Range", HOLO_IN(holo_emit_int(e, 0), count, one), NULL);
    HoloValue *gaps  = holo_emit(e, "Max", HOLO_IN(holo_emit(e, "Sub", HOLO_IN(count, one), NULL), one), NULL);
    HoloValue *step =
        holo_emit(e, "Div", HOLO_IN(holo_emit(e, "Sub", HOLO_IN(stop, start), NULL), holo_emit_cast(e, gaps, t)), NULL);
    step = holo_emit(e, "Mul", HOLO_IN(holo_emit_cast(e, index, t), step), NULL);
    holo_flow_out(c, 0, holo_emit(e, "Add", HOLO_IN(step, start), NULL));
}

static void one_hot(HoloFlowCall *c)
{
    HoloEmit  *e     = c->e;
    HoloValue *index = holo_emit_cast(e, holo_flow_in(c, 0), HOLO_I64),
              *depth = holo_emit_cast(e, holo_flow_in(c, 1), HOLO_I64);
    HoloValue *on = holo_flow_in(c, 2), *off = holo_flow_in(c, 3), *below;
    int64_t    axis = holo_flow_int(c, "axis", -1), zero = 0;
    holo_flow_same_type(c, &on, &off);
    below = holo_emit(e, "Less", HOLO_IN(index, holo_emit_int(e, 0)), NULL);
    index = holo_emit(e, "Where", HOLO_IN(below, depth, index), NULL); // a negative index is none
    HoloValue *values =
        holo_emit(e, "Concat", HOLO_IN(holo_emit_unsqueeze(e, off, &zero, 1), holo_emit_unsqueeze(e, on, &zero, 1)),
                  HOLO_ATTRS(holo_with_int("axis", 0)));
    holo_flow_out(c, 0, holo_emit(e, "OneHot", HOLO_IN(index, depth, values), HOLO_ATTRS(holo_with_int("axis", axis))));
}

// ---- shapes

static HoloDtype out_type(HoloFlowCall *c)
{
    HoloDtype t = holo_flow_type(c, "out_type");
    return t ? t : HOLO_I32;
}

static void shape(HoloFlowCall *c)
{
    for (int i = 0; i < c->in_count; i++)
        holo_flow_out(c, i, holo_emit_cast(c->e, holo_emit_shape(c->e, holo_flow_in(c, i)), out_type(c)));
}

static void size(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_emit_cast(c->e, holo_emit(c->e, "Size", HOLO_IN(holo_flow_in(c, 0)), NULL), out_type(c)));
}

static void rank_of(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_emit_number(c->e, HOLO_I32, holo_flow_rank(c, holo_flow_in(c, 0))));
}

static void reshape(HoloFlowCall *c)
{
    HoloValue *to = holo_flow_vector(c, holo_flow_in(c, 1));
    int64_t    known[HOLO_MAX_RANK];
    int        count    = 0;
    bool       has_zero = !holo_emit_known_ints(c->e, to, known, HOLO_MAX_RANK, &count);
    for (int i = 0; i < count; i++) has_zero |= known[i] == 0;
    holo_flow_out(c, 0,
                  holo_emit(c->e, "Reshape", HOLO_IN(holo_flow_in(c, 0), to),
                            has_zero ? HOLO_ATTRS(holo_with_int("allowzero", 1)) : NULL));
}

static void squeeze(HoloFlowCall *c)
{
    int64_t    axes[HOLO_MAX_RANK];
    int        count = holo_flow_ints(c, "squeeze_dims", axes, HOLO_MAX_RANK);
    HoloValue *x     = holo_flow_in(c, 0);
    if (count <= 0) count = holo_flow_ints(c, "axis", axes, HOLO_MAX_RANK);
    holo_flow_out(c, 0,
                  count > 0 ? holo_emit_squeeze(c->e, x, axes, count) : holo_emit(c->e, "Squeeze", HOLO_IN(x), NULL));
}

static void expand_dims(HoloFlowCall *c)
{
    int64_t axis;
    if (holo_flow_known(c, 1, &axis, 1) != 1) return;
    holo_flow_out(c, 0, holo_emit_unsqueeze(c->e, holo_flow_in(c, 0), &axis, 1));
}

static void transpose(HoloFlowCall *c)
{
    int64_t perm[HOLO_MAX_RANK];
    int     count = holo_flow_known(c, 1, perm, HOLO_MAX_RANK);
    for (int i = 0; i < count; i++) perm[i] = perm[i] < 0 ? perm[i] + count : perm[i];
    if (count >= 0)
        holo_flow_out(c, 0, count ? holo_emit_transpose(c->e, holo_flow_in(c, 0), perm, count) : holo_flow_in(c, 0));
}

static void broadcast_to(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_flow_filled(c, holo_flow_vector(c, holo_flow_in(c, 1)), holo_flow_in(c, 0)));
}

// The shape that two shapes broadcast to: by a tensor of ones of each.
static void broadcast_args(HoloFlowCall *c)
{
    HoloValue *one = holo_emit_number(c->e, HOLO_F32, 1), *x[2];
    for (int i = 0; i < 2; i++) x[i] = holo_flow_filled(c, holo_flow_vector(c, holo_flow_in(c, i)), one);
    HoloValue *both = holo_emit_shape(c->e, holo_emit(c->e, "Mul", HOLO_IN(x[0], x[1]), NULL));
    holo_flow_out(c, 0, holo_emit_cast(c->e, both, holo_emit_dtype(holo_flow_in(c, 0))));
}

// ---- joining and cutting

// Inputs from..to-1 of one type.
static HoloValue **gather_inputs(HoloFlowCall *c, int from, int to)
{
    HoloValue **in = HOLO_NEW(c->tf->arena, HoloValue *, to - from + 1);
    if (!in) {
        holo_flow_fail(c, HOLO_NO_MEMORY, "there is no memory");
        return NULL;
    }
    for (int i = from; i < to; i++) {
        in[i - from] = holo_flow_in(c, i);
        if (i > from && in[i - from] && in[0])
            in[i - from] = holo_emit_cast(c->e, in[i - from], holo_emit_dtype(in[0]));
    }
    return in;
}

static void concat(HoloFlowCall *c)
{
    int         at = c->op->number ? 0 : c->in_count - 1, from = c->op->number ? 1 : 0, count = c->in_count - 1;
    int64_t     axis;
    HoloValue **in = gather_inputs(c, from, from + count);
    if (!in || count < 1 || holo_flow_known(c, at, &axis, 1) != 1) {
        if (!c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "there is nothing to join");
        return;
    }
    holo_flow_out(c, 0,
                  count == 1
                      ? in[0]
                      : holo_emit(c->e, "Concat", (HoloEmitIn){count, in}, HOLO_ATTRS(holo_with_int("axis", axis))));
}

static void pack(HoloFlowCall *c)
{
    int64_t     axis = holo_flow_int(c, "axis", 0);
    HoloValue **in   = gather_inputs(c, 0, c->in_count);
    if (!in || !c->in_count || c->e->status) return;
    for (int i = 0; i < c->in_count; i++) in[i] = holo_emit_unsqueeze(c->e, in[i], &axis, 1);
    holo_flow_out(c, 0,
                  holo_emit(c->e, "Concat", (HoloEmitIn){c->in_count, in}, HOLO_ATTRS(holo_with_int("axis", axis))));
}

enum { SPLIT_MAX = 1 << 16 };

static HoloValue **split_parts(HoloFlowCall *c, HoloValue *x, int64_t axis, int64_t count, HoloValue *sizes)
{
    HoloValue **out = count > 0 && count <= SPLIT_MAX ? HOLO_NEW(c->tf->arena, HoloValue *, count) : NULL;
    if (!out) {
        holo_flow_fail(c, HOLO_BAD_MODEL, "there cannot be %lld parts", (long long)count);
        return NULL;
    }
    if (count == 1 && !sizes) {
        out[0] = x;
        return out;
    }
    if (sizes)
        holo_emit_many(c->e, "Split", HOLO_IN(x, sizes), HOLO_ATTRS(holo_with_int("axis", axis)), out, (int)count);
    else
        holo_emit_many(c->e, "Split", HOLO_IN(x),
                       HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("num_outputs", count)), out, (int)count);
    return out;
}

static void split(HoloFlowCall *c)
{
    int64_t axis, count = holo_flow_int(c, "num_split", 1);
    if (holo_flow_known(c, 0, &axis, 1) != 1) return;
    HoloValue **out = split_parts(c, holo_flow_in(c, 1), axis, count, NULL);
    for (int i = 0; out && i < count; i++) holo_flow_out(c, i, out[i]);
}

static void split_v(HoloFlowCall *c)
{
    int64_t    axis, sizes[256], total = 0, count = 0;
    HoloValue *x    = holo_flow_in(c, 0);
    int        open = -1, n = holo_flow_known(c, 1, sizes, HOLO_COUNT(sizes));
    if (n < 0 || holo_flow_known(c, 2, &axis, 1) != 1) return;
    int at = holo_flow_axis(c, axis, holo_flow_rank(c, x));
    for (int i = 0; i < n; i++) {
        if (sizes[i] < 0)
            open = i;
        else
            total += sizes[i];
    }
    if (c->e->status) return;
    HoloDim dims[256], whole = x->type.dim[at];
    for (int i = 0; i < n; i++) dims[i] = i == open ? holo_dim_sub(c->e->graph->dims, whole, total) : sizes[i];
    count           = n;
    HoloValue **out = split_parts(c, x, at, count, holo_emit_sizes(c->e, dims, n));
    for (int i = 0; out && i < count; i++) holo_flow_out(c, i, out[i]);
}

static void unpack(HoloFlowCall *c)
{
    HoloValue *x    = holo_flow_in(c, 0);
    int64_t    axis = holo_flow_axis(c, holo_flow_int(c, "axis", 0), holo_flow_rank(c, x)), count;
    if (c->e->status) return;
    count = holo_flow_int(c, "num", holo_dim_is_symbolic(x->type.dim[axis]) ? 0 : x->type.dim[axis]);
    if (!count && x->type.dim[axis] == 0) return;
    HoloValue **out = split_parts(c, x, axis, count, NULL);
    for (int i = 0; out && i < count; i++) holo_flow_out(c, i, holo_emit_squeeze(c->e, out[i], &axis, 1));
}

static void tile(HoloFlowCall *c)
{
    holo_flow_out(c, 0,
                  holo_emit(c->e, "Tile", HOLO_IN(holo_flow_in(c, 0), holo_flow_vector(c, holo_flow_in(c, 1))), NULL));
}

static void cast(HoloFlowCall *c)
{
    HoloDtype t = holo_flow_type(c, "DstT");
    if (!t) holo_flow_fail(c, HOLO_UNSUPPORTED, "there is no such type");
    holo_flow_out(c, 0, holo_emit_cast(c->e, holo_flow_in(c, 0), t));
}

static void reverse(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    int64_t    axes[HOLO_MAX_RANK];
    int        count = holo_flow_known(c, 1, axes, HOLO_MAX_RANK), rank = holo_flow_rank(c, x);
    for (int i = 0; i < count && !c->e->status; i++) {
        if (c->op->number && !axes[i]) continue; // a bool for each dimension
        int axis = holo_flow_axis(c, c->op->number ? i : axes[i], rank);
        x        = holo_emit_slice(c->e, x, axis, -1, INT64_MIN, -1);
    }
    holo_flow_out(c, 0, x);
}

static void reverse_sequence(HoloFlowCall *c)
{
    int64_t time = holo_flow_int(c, "seq_dim", 0), batch = holo_flow_int(c, "batch_dim", 0);
    if (time > 1 || batch > 1 || time == batch) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "the dimensions must be 0 and 1");
        return;
    }
    holo_flow_out(c, 0,
                  holo_emit(c->e, "ReverseSequence",
                            HOLO_IN(holo_flow_in(c, 0), holo_emit_cast(c->e, holo_flow_in(c, 1), HOLO_I64)),
                            HOLO_ATTRS(holo_with_int("time_axis", time), holo_with_int("batch_axis", batch))));
}

// Along a dimension whose size only a run knows.
static HoloValue *roll_open(HoloFlowCall *c, HoloValue *x, int64_t axis, int64_t shift)
{
    HoloEmit  *e    = c->e;
    int64_t    zero = 0, end = INT64_MAX;
    HoloValue *size  = holo_emit_slice(e, holo_emit_shape(e, x), 0, axis, axis + 1, 1),
              *axes  = holo_emit_ints(e, &axis, 1);
    HoloValue *cut   = holo_flow_two(c, "Sub", size, holo_flow_two(c, "Mod", holo_emit_ints(e, &shift, 1), size));
    HoloValue *last  = holo_emit(e, "Slice", HOLO_IN(x, cut, holo_emit_ints(e, &end, 1), axes), NULL);
    HoloValue *first = holo_emit(e, "Slice", HOLO_IN(x, holo_emit_ints(e, &zero, 1), cut, axes), NULL);
    return holo_emit(e, "Concat", HOLO_IN(last, first), HOLO_ATTRS(holo_with_int("axis", axis)));
}

static void roll(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *part[2];
    int64_t    shift[HOLO_MAX_RANK], axis[HOLO_MAX_RANK];
    int        count = holo_flow_known(c, 1, shift, HOLO_MAX_RANK), n = holo_flow_known(c, 2, axis, HOLO_MAX_RANK);
    int        rank = holo_flow_rank(c, x);
    for (int i = 0; i < count && i < n && !c->e->status; i++) {
        int64_t at = holo_flow_axis(c, axis[i], rank), length = x->type.dim[at];
        if (holo_dim_is_symbolic(length)) {
            x = roll_open(c, x, at, shift[i]);
            continue;
        }
        int64_t by = length ? (shift[i] % length + length) % length : 0;
        if (!by) continue;
        part[0] = holo_emit_slice(c->e, x, at, length - by, INT64_MAX, 1);
        part[1] = holo_emit_slice(c->e, x, at, 0, length - by, 1);
        x       = holo_emit(c->e, "Concat", HOLO_IN(part[0], part[1]), HOLO_ATTRS(holo_with_int("axis", at)));
    }
    holo_flow_out(c, 0, x);
}

static void random(HoloFlowCall *c)
{
    HoloDtype  t     = holo_flow_type(c, "dtype");
    HoloValue *shape = holo_flow_vector(c, holo_flow_in(c, 0)), *like_it;
    like_it          = holo_flow_filled(c, shape, holo_emit_number(c->e, t ? t : HOLO_F32, 0));
    HoloValue *x     = holo_emit(c->e, c->op->onnx, HOLO_IN(like_it), NULL);
    if (c->op->number && !c->e->status) { // what is more than 2 away is drawn again
        HoloValue *two    = holo_emit_number(c->e, t ? t : HOLO_F32, 2),
                  *again  = holo_emit(c->e, c->op->onnx, HOLO_IN(like_it), NULL);
        HoloValue *is_far = holo_flow_two(c, "Greater", holo_flow_one(c, "Abs", x), two);
        x                 = holo_emit(c->e, "Where", HOLO_IN(is_far, again, x), NULL);
        x                 = holo_emit(c->e, "Clip", HOLO_IN(x, holo_flow_one(c, "Neg", two), two), NULL);
    }
    holo_flow_out(c, 0, x);
}

// clang-format off
const HoloFlowOp holo_flow_ops_array[] = {
    {"Placeholder", placeholder}, {"PlaceholderV2", placeholder}, {"Identity", first_only}, {"Snapshot", first_only}, {"StopGradient", first_only}, {"PreventGradient", first_only},
    {"CheckNumerics", first_only}, {"CheckNumericsV2", first_only}, {"EnsureShape", first_only}, {"Print", first_only},
    {"PrintV2", nothing, .flags = HOLO_FLOW_STATE}, {"PlaceholderWithDefault", first_only}, {"IdentityN", same},
    {"OptimizationBarrier", same}, {"CopyHost", first_only}, {"Copy", first_only}, {"DebugIdentity", first_only},
    {"NoOp", nothing, .flags = HOLO_FLOW_STATE}, {"Assert", nothing, .flags = HOLO_FLOW_STATE}, {"Const", constant},
    {"Fill", fill}, {"ZerosLike", like, NULL, 0}, {"OnesLike", like, NULL, 1}, {"Zeros", filled_by_shape, NULL, 0},
    {"Ones", filled_by_shape, NULL, 1}, {"Range", range}, {"LinSpace", lin_space}, {"OneHot", one_hot},
    {"Shape", shape}, {"VariableShape", shape}, {"ShapeN", shape}, {"Size", size}, {"Rank", rank_of}, {"Reshape", reshape},
    {"Squeeze", squeeze}, {"ExpandDims", expand_dims}, {"Transpose", transpose}, {"ConjugateTranspose", transpose},
    {"BroadcastTo", broadcast_to}, {"BroadcastArgs", broadcast_args},
    {"ConcatV2", concat, NULL, 0}, {"Concat", concat, NULL, 1}, {"Pack", pack}, {"Split", split}, {"SplitV", split_v},
    {"Unpack", unpack}, {"Tile", tile}, {"Cast", cast}, {"ReverseV2", reverse, NULL, 0}, {"Reverse", reverse, NULL, 1},
    {"ReverseSequence", reverse_sequence}, {"Roll", roll},
    {"RandomUniform", random, "RandomUniformLike"}, {"RandomStandardNormal", random, "RandomNormalLike"},
    {"TruncatedNormal", random, "RandomNormalLike", 1},
    {0},
};
