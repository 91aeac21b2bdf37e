// tflite_shape.c - operators that give elements another shape, or take some of them; and what asks for shapes.
//
// What only moves elements moves integers as they are, if input and output have the same scale. Complex numbers are pairs
// of real ones here, in a last dimension of their own.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

// ---- moving

HoloValue *holo_tf_moved(HoloTfOp *op, int i)
{
    bool same = holo_tf_same_scale(holo_tf_tensor_in(op, i), holo_tf_tensor_out(op, 0));
    return same ? holo_tf_in(op, i) : holo_tf_real(op, i);
}

void holo_tf_give_moved(HoloTfOp *op, int from, HoloValue *y)
{
    bool same = holo_tf_same_scale(holo_tf_tensor_in(op, from), holo_tf_tensor_out(op, 0));
    if (same)
        holo_tf_give(op, 0, y);
    else
        holo_tf_give_real(op, 0, y);
}

// How many of a value's last dimensions belong to its elements.
static int pair_rank(const HoloTfTensor *t)
{
    return t && (t->type == TYPE_C64 || t->type == TYPE_C128);
}

// ---- views

static void reshape_to(HoloTfOp *op, HoloValue *x, int64_t *sizes, int rank)
{
    bool is_open = false, has_zero = false, is_free = false;
    int  pair = pair_rank(holo_tf_tensor_in(op, 0));
    for (int d = 0; x && d < x->type.rank; d++) is_open |= holo_dim_is_symbolic(x->type.dim[d]);
    for (int d = 0; d < rank; d++) {
        has_zero |= sizes[d] == 0;
        is_free |= sizes[d] < 0;
    }
    if (is_open && !is_free) op->im->is_pinned = true; // fixed sizes: those that are open cannot be
    if (pair) sizes[rank++] = 2;
    HoloValue *shape = holo_emit_ints(op->e, sizes, rank);
    holo_tf_give_moved(op, 0,
                       x && shape ? holo_emit(op->e, "Reshape", HOLO_IN(x, shape),
                                              HOLO_ATTRS(holo_with_int("allowzero", has_zero && !is_free)))
                                  : NULL);
}

// The shape is an input, or an option. A list of one 0 is an old way to write that there are no dimensions.
void holo_tf_reshape(HoloTfOp *op)
{
    HoloValue   *x = holo_tf_moved(op, 0);
    int64_t      sizes[HOLO_MAX_RANK + 1];
    int          count = 0;
    HoloFlatList list  = holo_flat_list(op->options, RESHAPE_SHAPE, 4);
    bool         known = holo_tf_has(op, 1) && holo_tf_ints(op, 1, sizes, HOLO_MAX_RANK, &count);
    if (!x) return;
    if (!known && holo_tf_has(op, 1)) {
        HoloValue *shape = holo_tf_i64(op, 1);
        if (pair_rank(holo_tf_tensor_in(op, 0)))
            shape = holo_emit(op->e, "Concat", HOLO_IN(shape, holo_emit_ints(op->e, (int64_t[]){2}, 1)),
                              HOLO_ATTRS(holo_with_int("axis", 0)));
        holo_tf_give_moved(op, 0, holo_tf_two(op, "Reshape", x, shape));
        return;
    }
    if (!known) {
        if (list.count >= HOLO_MAX_RANK) return (void)holo_tf_fail(op, "its shape has too many dimensions");
        for (count = 0; (size_t)count < list.count; count++) sizes[count] = holo_flat_list_i32(list, (size_t)count);
    }
    if (count == 1 && sizes[0] == 0 && holo_tensor_count(&x->type) == 1) count = 0;
    reshape_to(op, x, sizes, count);
}

void holo_tf_squeeze(HoloTfOp *op)
{
    HoloValue   *x    = holo_tf_moved(op, 0);
    HoloFlatList list = holo_flat_list(op->options, SQUEEZE_DIMS, 4);
    int64_t      axes[HOLO_MAX_RANK];
    int          count = 0, rank = x ? holo_tf_rank(op, x) - pair_rank(holo_tf_tensor_in(op, 0)) : -1;
    if (rank < 0) return;
    for (size_t i = 0; i < list.count && i < HOLO_MAX_RANK; i++)
        if ((axes[count++] = holo_tf_axis(op, holo_flat_list_i32(list, i), rank)) < 0) return;
    for (int d = 0; d < rank && !list.count; d++)
        if (x->type.dim[d] == 1) axes[count++] = d;
    holo_tf_give_moved(op, 0, holo_emit_squeeze(op->e, x, axes, count));
}

void holo_tf_expand_dims(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0);
    int64_t    axis[1];
    int        count, rank = x ? holo_tf_rank(op, x) - pair_rank(holo_tf_tensor_in(op, 0)) : -1;
    if (rank < 0 || !holo_tf_need_ints(op, 1, axis, 1, &count)) return;
    if (count != 1 || (axis[0] = holo_tf_axis(op, axis[0], rank + 1)) < 0) return;
    holo_tf_give_moved(op, 0, holo_emit_unsqueeze(op->e, x, axis, 1));
}

void holo_tf_transpose_op(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0);
    int64_t    perm[HOLO_MAX_RANK + 1];
    int        count;
    if (!x || !holo_tf_need_ints(op, 1, perm, HOLO_MAX_RANK, &count)) return;
    for (int d = 0; d < count; d++)
        if ((perm[d] = holo_tf_axis(op, perm[d], count)) < 0) return;
    if (pair_rank(holo_tf_tensor_in(op, 0))) perm[count] = count, count++;
    if (holo_tf_rank(op, x) != count) return (void)holo_tf_fail(op, "it names other dimensions than there are");
    holo_tf_give_moved(op, 0, holo_tf_transpose(op, x, perm, count));
}

void holo_tf_shape(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    if (x) holo_tf_give(op, 0, holo_emit_shape(op->e, x));
}

void holo_tf_rank_op(HoloTfOp *op)
{
    HoloValue *x    = holo_tf_in(op, 0);
    int        rank = x ? holo_tf_rank(op, x) : -1;
    if (rank >= 0) holo_tf_give(op, 0, holo_emit_number(op->e, HOLO_I32, rank));
}

// ---- joining and cutting

static HoloEmitIn inputs_all(HoloTfOp *op, bool moved)
{
    HoloValue **in = HOLO_NEW(op->im->import->arena, HoloValue *, op->in.count + 1);
    for (size_t i = 0; in && i < op->in.count; i++) in[i] = moved ? holo_tf_in(op, (int)i) : holo_tf_real(op, (int)i);
    if (!in && !op->e->status) op->e->status = holo_fail_memory(op->im->import->error);
    return (HoloEmitIn){in ? (int)op->in.count : 0, in};
}

static bool all_same_scale(const HoloTfOp *op)
{
    for (size_t i = 0; i < op->in.count; i++)
        if (!holo_tf_same_scale(holo_tf_tensor_in(op, (int)i), holo_tf_tensor_out(op, 0))) return false;
    return true;
}

void holo_tf_concat(HoloTfOp *op)
{
    int64_t activation = holo_flat_i8(op->options, CONCAT_ACTIVATION, 0),
            axis       = holo_flat_i32(op->options, CONCAT_AXIS, 0);
    bool       moved   = all_same_scale(op) && !activation;
    HoloEmitIn in      = inputs_all(op, moved);
    if (op->e->status || !in.count) return;
    if (axis < 0) axis -= pair_rank(holo_tf_tensor_in(op, 0));
    HoloValue *y = holo_emit(op->e, "Concat", in, HOLO_ATTRS(holo_with_int("axis", axis)));
    if (moved)
        holo_tf_give(op, 0, y);
    else
        holo_tf_give_active(op, 0, y, activation);
}

void holo_tf_pack(HoloTfOp *op)
{
    int64_t    axis  = holo_flat_i32(op->options, PACK_AXIS, 0);
    bool       moved = all_same_scale(op);
    HoloEmitIn in    = inputs_all(op, moved);
    if (op->e->status || !in.count) return;
    int rank = holo_tf_rank(op, in.value[0]);
    if (rank < 0 || (axis = holo_tf_axis(op, axis, rank + 1)) < 0) return;
    HoloValue **parts = (HoloValue **)in.value;
    for (int i = 0; i < in.count; i++) parts[i] = holo_emit_unsqueeze(op->e, parts[i], &axis, 1);
    HoloValue *y = op->e->status ? NULL : holo_emit(op->e, "Concat", in, HOLO_ATTRS(holo_with_int("axis", axis)));
    if (moved)
        holo_tf_give(op, 0, y);
    else
        holo_tf_give_real(op, 0, y);
}

// Cuts into as many parts as there are outputs, of these sizes (NULL: equal ones).
static void split_to(HoloTfOp *op, HoloValue *x, int64_t axis, HoloValue *sizes, bool squeezes)
{
    int         count  = (int)op->out.count;
    HoloValue **out    = HOLO_NEW(op->im->import->arena, HoloValue *, count + 1);
    HoloAttr    even[] = {holo_with_int("axis", axis), holo_with_int("num_outputs", count), {0}};
    if (!out || !x || !count) return;
    if (sizes) even[1] = (HoloAttr){0};
    holo_emit_many(op->e, "Split", (HoloEmitIn){sizes ? 2 : 1, (HoloValue *[]){x, sizes}}, even, out, count);
    for (int i = 0; i < count && !op->e->status; i++) {
        HoloTfTensor       *y    = holo_tf_tensor_out(op, i);
        HoloValue          *v    = squeezes ? holo_emit_squeeze(op->e, out[i], &axis, 1) : out[i];
        const HoloTfTensor *from = holo_tf_tensor_in(op, op->row->arg[0] - '0');
        if (holo_tf_is_scaled(from) && !holo_tf_same_scale(from, y))
            holo_tf_give_real(op, i, holo_tf_dequantize(op, from, v, 0));
        else
            holo_tf_give(op, i, v);
    }
}

void holo_tf_split(HoloTfOp *op) // the axis is the first input
{
    HoloValue *x = holo_tf_in(op, 1);
    int64_t    axis;
    int        count, rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 0 || !holo_tf_need_ints(op, 0, &axis, 1, &count) || (axis = holo_tf_axis(op, axis, rank)) < 0) return;
    split_to(op, x, axis, NULL, false);
}

void holo_tf_split_v(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    int64_t    axis, sizes[HOLO_TF_ROOM], sum = 0;
    int        count, parts, free = -1, rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 0 || !holo_tf_need_ints(op, 2, &axis, 1, &count) || (axis = holo_tf_axis(op, axis, rank)) < 0) return;
    if (!holo_tf_need_ints(op, 1, sizes, HOLO_TF_ROOM, &parts)) return;
    for (int i = 0; i < parts; i++) {
        if (sizes[i] < 0) free = i;
        if (sizes[i] > 0) sum += sizes[i];
    }
    if (free >= 0 && holo_dim_is_symbolic(x->type.dim[axis]))
        return (void)holo_tf_fail(op, "the size that it cuts is not known");
    if (free >= 0) sizes[free] = x->type.dim[axis] - sum;
    split_to(op, x, axis, holo_emit_ints(op->e, sizes, parts), false);
}

void holo_tf_unpack(HoloTfOp *op)
{
    HoloValue *x    = holo_tf_in(op, 0);
    int        rank = x ? holo_tf_rank(op, x) : -1;
    int64_t    axis = rank < 0 ? -1 : holo_tf_axis(op, holo_flat_i32(op->options, UNPACK_AXIS, 0), rank);
    if (axis < 0) return;
    if (op->out.count == 1)
        holo_tf_give_moved(op, 0, holo_emit_squeeze(op->e, holo_tf_moved(op, 0), &axis, 1));
    else
        split_to(op, x, axis, NULL, true);
}

// ---- slices

enum { FAR = INT32_MAX };

// Begins and sizes; -1: all that is left.
void holo_tf_slice(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0);
    int64_t    from[HOLO_MAX_RANK], size[HOLO_MAX_RANK], axes[HOLO_MAX_RANK];
    int        count, sizes, rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 0) return;
    for (int d = 0; d < rank; d++) axes[d] = d;
    HoloValue *begin, *end, *all = holo_emit_ints(op->e, axes, rank);
    if (holo_tf_ints(op, 1, from, HOLO_MAX_RANK, &count) && holo_tf_ints(op, 2, size, HOLO_MAX_RANK, &sizes) &&
        count == rank && sizes == rank) {
        for (int d = 0; d < rank; d++) size[d] = size[d] < 0 ? INT64_MAX : from[d] + size[d];
        begin = holo_emit_ints(op->e, from, rank);
        end   = holo_emit_ints(op->e, size, rank);
    } else {
        begin              = holo_tf_i64(op, 1);
        HoloValue *length  = holo_tf_i64(op, 2);
        HoloValue *is_rest = holo_tf_two(op, "Less", length, holo_emit_int(op->e, 0));
        end                = is_rest
                                 ? holo_emit(op->e, "Where",
                                             HOLO_IN(is_rest, holo_emit_int(op->e, FAR), holo_tf_two(op, "Add", begin, length)), NULL)
                                 : NULL;
    }
    holo_tf_give_moved(op, 0, begin && end ? holo_emit(op->e, "Slice", HOLO_IN(x, begin, end, all), NULL) : NULL);
}

typedef struct Strided {
    int     count;  // entries of the lists
    int     slices; // of which these cut a dimension
    int64_t entry[HOLO_MAX_RANK], axis[HOLO_MAX_RANK];
    int     fresh_count, shrunk_count;
    int64_t fresh[HOLO_MAX_RANK];  // new dimensions, by their places in the result with those that shrink
    int64_t shrunk[HOLO_MAX_RANK]; // dimensions that go, by the same places
} Strided;

// Which entry is about which dimension.
static bool strided_read(HoloTfOp *op, int rank, int count, Strided *out)
{
    int64_t ellipsis = holo_flat_i32(op->options, STRIDED_ELLIPSIS, 0),
            fresh    = holo_flat_i32(op->options, STRIDED_NEW, 0);
    int64_t shrink   = holo_flat_i32(op->options, STRIDED_SHRINK, 0);
    int     own = 0, d = 0, place = 0;
    *out = (Strided){.count = count};
    for (int i = 0; i < count; i++) own += !(ellipsis >> i & 1) && !(fresh >> i & 1);
    for (int i = 0; i < count; i++) {
        if (ellipsis >> i & 1) {
            for (int k = own; k < rank; k++) d++, place++;
            own = rank;
        } else if (fresh >> i & 1) {
            if (out->fresh_count == HOLO_MAX_RANK) return false;
            out->fresh[out->fresh_count++] = place++;
        } else {
            if (d >= rank) return holo_tf_fail(op, "it cuts more dimensions than there are"), false;
            if (shrink >> i & 1) out->shrunk[out->shrunk_count++] = place;
            out->entry[out->slices]  = i;
            out->axis[out->slices++] = d++;
            place++;
        }
    }
    return true;
}

// The entries that cut dimensions, with what the masks say. All are known.
static HoloValue *strided_known(HoloTfOp *op, HoloValue *x, const Strided *s, const int64_t *begin, const int64_t *end,
                                const int64_t *step)
{
    int64_t from[HOLO_MAX_RANK], to[HOLO_MAX_RANK], by[HOLO_MAX_RANK];
    int64_t begins = holo_flat_i32(op->options, STRIDED_BEGIN, 0), ends = holo_flat_i32(op->options, STRIDED_END, 0);
    int64_t shrink = holo_flat_i32(op->options, STRIDED_SHRINK, 0);
    bool    offset = holo_flat_u8(op->options, STRIDED_OFFSET, 0) != 0;
    for (int k = 0; k < s->slices; k++) {
        int64_t i = s->entry[k];
        if (!step[i]) return holo_tf_fail(op, "a stride is 0");
        by[k]   = step[i];
        from[k] = begins >> i & 1 ? (by[k] > 0 ? 0 : INT64_MAX) : begin[i];
        to[k]   = ends >> i & 1 ? (by[k] > 0 ? INT64_MAX : INT64_MIN + 1) : end[i];
        if (offset && !(ends >> i & 1) && !holo_add(begin[i], end[i], &to[k]))
            return holo_tf_fail(op, "an end is too large");
        if (!(ends >> i & 1) && by[k] < 0 && to[k] < 0 && !holo_dim_is_symbolic(x->type.dim[s->axis[k]]) &&
            to[k] < -x->type.dim[s->axis[k]])
            to[k] = INT64_MIN + 1;
        if (!(shrink >> i & 1)) continue;
        by[k] = 1;
        to[k] = from[k] == -1 || from[k] == INT64_MAX ? INT64_MAX : from[k] + 1;
    }
    return holo_emit(op->e, "Slice",
                     HOLO_IN(x, holo_emit_ints(op->e, from, s->slices), holo_emit_ints(op->e, to, s->slices),
                             holo_emit_ints(op->e, s->axis, s->slices), holo_emit_ints(op->e, by, s->slices)),
                     NULL);
}

// The same, where begins or ends are found out while running. Strides are known and greater than 0.
static HoloValue *strided_open(HoloTfOp *op, HoloValue *x, const Strided *s, const int64_t *step)
{
    int64_t    begins = holo_flat_i32(op->options, STRIDED_BEGIN, 0), ends = holo_flat_i32(op->options, STRIDED_END, 0);
    int64_t    shrink  = holo_flat_i32(op->options, STRIDED_SHRINK, 0), by[HOLO_MAX_RANK];
    HoloValue *entries = holo_emit_ints(op->e, s->entry, s->slices), *zero = holo_emit_int(op->e, 0);
    HoloValue *begin = holo_tf_two(op, "Gather", holo_tf_i64(op, 1), entries),
              *end   = holo_tf_two(op, "Gather", holo_tf_i64(op, 2), entries);
    int64_t no_begin[HOLO_MAX_RANK], no_end[HOLO_MAX_RANK], one[HOLO_MAX_RANK];
    if (holo_flat_u8(op->options, STRIDED_OFFSET, 0)) end = holo_tf_two(op, "Add", begin, end);
    for (int k = 0; k < s->slices; k++) {
        by[k]       = step[s->entry[k]];
        no_begin[k] = begins >> s->entry[k] & 1;
        no_end[k]   = ends >> s->entry[k] & 1;
        one[k]      = shrink >> s->entry[k] & 1;
        if (by[k] < 1) return holo_tf_fail(op, "a stride is not greater than 0, and its begin or end is not known");
    }
    HoloValue     *masks[3];
    const int64_t *lists[3] = {no_begin, no_end, one};
    for (int k = 0; k < 3; k++) masks[k] = holo_emit_cast(op->e, holo_emit_ints(op->e, lists[k], s->slices), HOLO_BOOL);
    if (op->e->status) return NULL;
    HoloValue *far  = holo_emit_int(op->e, FAR);
    HoloValue *next = holo_tf_two(op, "Add", begin, holo_emit_int(op->e, 1));
    HoloValue *only = holo_emit(op->e, "Where", HOLO_IN(holo_tf_two(op, "Equal", next, zero), far, next), NULL);
    end             = holo_emit(op->e, "Where", HOLO_IN(masks[1], far, end), NULL);
    end             = holo_emit(op->e, "Where", HOLO_IN(masks[2], only, end), NULL);
    begin           = holo_emit(op->e, "Where", HOLO_IN(masks[0], zero, begin), NULL);
    return holo_emit(
        op->e, "Slice",
        HOLO_IN(x, begin, end, holo_emit_ints(op->e, s->axis, s->slices), holo_emit_ints(op->e, by, s->slices)), NULL);
}

void holo_tf_strided_slice(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0);
    int64_t    begin[HOLO_MAX_RANK * 2], end[HOLO_MAX_RANK * 2], step[HOLO_MAX_RANK * 2];
    int        begins, ends, count, rank = x ? holo_tf_rank(op, x) : -1;
    Strided    s;
    if (rank < 0 || !holo_tf_need_ints(op, 3, step, HOLO_MAX_RANK * 2, &count) || !strided_read(op, rank, count, &s))
        return;
    bool known =
        holo_tf_ints(op, 1, begin, HOLO_MAX_RANK * 2, &begins) && holo_tf_ints(op, 2, end, HOLO_MAX_RANK * 2, &ends);
    if (known && (begins != count || ends != count)) return (void)holo_tf_fail(op, "its lists have different lengths");
    HoloValue *y = !s.slices ? x : known ? strided_known(op, x, &s, begin, end, step) : strided_open(op, x, &s, step);
    // New dimensions are put in first, at their places; then those that shrink go.
    y = y ? holo_emit_unsqueeze(op->e, y, s.fresh, s.fresh_count) : NULL;
    y = y ? holo_emit_squeeze(op->e, y, s.shrunk, s.shrunk_count) : NULL;
    holo_tf_give_moved(op, 0, y);
}
