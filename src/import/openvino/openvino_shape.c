// openvino_shape.c - layers that move elements: shapes, joining, cutting, padding, orders.
#include "import/openvino/openvino.h"

#include <limits.h>
#include <string.h>

static HoloValue *as_i64(HoloIrCall *c, HoloValue *x)
{
    return x ? holo_emit_cast(c->e, x, HOLO_I64) : NULL;
}

static HoloValue *concat(HoloIrCall *c, HoloValue *const *part, int count, int axis)
{
    return holo_emit(c->e, "Concat", (HoloEmitIn){count, part}, HOLO_ATTRS(holo_with_int("axis", axis)));
}

// [n]: one size of x
static HoloValue *size_of(HoloIrCall *c, HoloValue *x, int axis)
{
    return holo_emit(c->e, "Shape", HOLO_IN(x),
                     HOLO_ATTRS(holo_with_int("start", axis), holo_with_int("end", axis + 1)));
}

ONE(reshape)
{
    return holo_emit(c->e, "Reshape", HOLO_IN(IN(0), as_i64(c, IN(1))),
                     HOLO_ATTRS(holo_with_int("allowzero", !holo_ir_bool(c, "special_zero", false))));
}

ONE(transpose)
{
    HoloValue *x = IN(0);
    int64_t    perm[2 * HOLO_MAX_RANK], size = 1;
    if (!MAY(1) || (holo_ir_size(MAY(1), 0, &size) && !size)) return OP1("Transpose", x);
    int count = holo_ir_known(c, 1, perm);
    for (int i = 0; i < count; i++) perm[i] = holo_ir_axis(c, perm[i], count);
    return c->e->status ? NULL : holo_emit_transpose(c->e, x, perm, count);
}

ONE(squeeze)
{
    return holo_emit(c->e, "Squeeze", HOLO_IN(IN(0), as_i64(c, MAY(1))), NULL);
}

ONE(unsqueeze)
{
    return OP2("Unsqueeze", IN(0), as_i64(c, IN(1)));
}

ONE(concat_all)
{
    HoloValue *part[HOLO_IR_PORTS];
    int        count = c->layer->in_count;
    for (int i = 0; i < count; i++) part[i] = IN(i);
    return concat(c, part, count, (int)holo_ir_int(c, "axis", 0));
}

MANY(split)
{
    int64_t axis[2 * HOLO_MAX_RANK], parts = holo_ir_int(c, "num_splits", 1);
    if (!holo_ir_known(c, 1, axis)) return;
    if (parts != c->layer->out_count)
        return (void)holo_emit_fail(c->e, HOLO_BAD_MODEL, "%lld parts for %d ports", (long long)parts,
                                    c->layer->out_count);
    holo_emit_many(c->e, "Split", HOLO_IN(IN(0)),
                   HOLO_ATTRS(holo_with_int("axis", axis[0]), holo_with_int("num_outputs", parts)), c->layer->out,
                   (int)parts);
}

// One of the lengths may be -1: what the others leave.
MANY(variadic_split)
{
    HoloValue *x = IN(0), *sizes = as_i64(c, IN(2));
    int64_t    axis[2 * HOLO_MAX_RANK], part[2 * HOLO_MAX_RANK], total, sum = 0;
    int        open = -1, count;
    if (!holo_ir_known(c, 1, axis)) return;
    int at = holo_ir_axis(c, axis[0], holo_ir_rank(c, x));
    if (holo_emit_known_ints(c->e, sizes, part, 2 * HOLO_MAX_RANK, &count) && holo_ir_size(x, at, &total)) {
        for (int i = 0; i < count; i++) {
            bool is_sum = part[i] == -1 || holo_add(sum, part[i], &sum);
            if (!is_sum) return (void)holo_emit_fail(c->e, HOLO_BAD_MODEL, "lengths that are too large");
            if (part[i] == -1) open = i;
        }
        if (open >= 0) part[open] = total - sum;
        sizes = holo_emit_ints(c->e, part, count);
    }
    holo_emit_many(c->e, "Split", HOLO_IN(x, sizes), HOLO_ATTRS(holo_with_int("axis", at)), c->layer->out,
                   c->layer->out_count);
}

ONE(shape_of)
{
    return holo_emit_cast(c->e, OP1("Shape", IN(0)), holo_ir_type_attr(c, "output_type", HOLO_I64));
}

ONE(range)
{
    HoloDtype  type = holo_ir_type_attr(c, "output_type", holo_emit_dtype(IN(0)));
    HoloValue *part[3];
    for (int i = 0; i < 3; i++) part[i] = holo_emit_reshape(c->e, holo_emit_cast(c->e, IN(i), type), NULL, 0);
    return holo_emit(c->e, "Range", HOLO_IN(part[0], part[1], part[2]), NULL);
}

ONE(tile)
{
    HoloValue *x = IN(0), *times = as_i64(c, IN(1));
    int64_t    count, axes[HOLO_MAX_RANK], ones[HOLO_MAX_RANK];
    int        rank = holo_ir_rank(c, x);
    if (!holo_ir_size(times, 0, &count) || count > HOLO_MAX_RANK) return OP2("Tile", x, times);
    for (int i = 0; i < HOLO_MAX_RANK; i++) axes[i] = i, ones[i] = 1;
    if (count > rank) x = holo_emit_unsqueeze(c->e, x, axes, (int)count - rank);
    if (count < rank) {
        HoloValue *both[2] = {holo_emit_ints(c->e, ones, rank - (int)count), times};
        times              = concat(c, both, 2, 0);
    }
    return OP2("Tile", x, times);
}

// data, sizes, and for mode explicit where the dimensions of the data go
ONE(broadcast)
{
    HoloValue *x = IN(0), *sizes = as_i64(c, IN(1));
    int64_t    to[2 * HOLO_MAX_RANK], rank, axes[HOLO_MAX_RANK];
    if (holo_ir_is(c, "mode", "numpy", "explicit") && MAY(2)) {
        int count = holo_ir_known(c, 2, to), open = 0;
        if (!holo_ir_size(sizes, 0, &rank) || rank > HOLO_MAX_RANK)
            return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a Broadcast to an unknown number of dimensions");
        for (int i = 0; i < rank; i++) {
            bool is_own = false;
            for (int k = 0; k < count; k++) is_own |= to[k] == i;
            if (!is_own) axes[open++] = i;
        }
        x = holo_emit_unsqueeze(c->e, x, axes, open);
    } else if (!holo_ir_is(c, "mode", "numpy", "numpy") && !holo_ir_is(c, "mode", "numpy", "bidirectional")) {
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a Broadcast of mode '%.40s'", holo_ir_text(c, "mode", ""));
    }
    return OP2("Expand", x, sizes);
}

// ---- cutting

// data start stop step axes
ONE(slice)
{
    return holo_emit(c->e, "Slice",
                     HOLO_IN(IN(0), as_i64(c, IN(1)), as_i64(c, IN(2)), as_i64(c, MAY(4)), as_i64(c, IN(3))), NULL);
}

typedef struct Masks {
    int64_t begin[2 * HOLO_MAX_RANK], end[2 * HOLO_MAX_RANK], fresh[2 * HOLO_MAX_RANK], shrink[2 * HOLO_MAX_RANK],
        ellipsis[2 * HOLO_MAX_RANK];
    int64_t step[2 * HOLO_MAX_RANK];
    int     count;
} Masks;

static void read_masks(HoloIrCall *c, Masks *m)
{
    int64_t size;
    *m = (Masks){0};
    holo_ir_ints(c, "begin_mask", m->begin);
    holo_ir_ints(c, "end_mask", m->end);
    holo_ir_ints(c, "new_axis_mask", m->fresh);
    holo_ir_ints(c, "shrink_axis_mask", m->shrink);
    holo_ir_ints(c, "ellipsis_mask", m->ellipsis);
    for (int i = 0; i < 2 * HOLO_MAX_RANK; i++) m->step[i] = 1;
    if (MAY(3)) holo_ir_known(c, 3, m->step);
    if (!holo_ir_size(IN(1), 0, &size) || size > HOLO_MAX_RANK)
        holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a StridedSlice of an unknown number of dimensions");
    else
        m->count = (int)size;
}

// [1]: the number i of an input
static HoloValue *element(HoloIrCall *c, HoloValue *x, int64_t i)
{
    return holo_emit(c->e, "Gather", HOLO_IN(x, holo_emit_ints(c->e, &i, 1)), NULL);
}

ONE(strided_slice)
{
    HoloValue *x = IN(0), *begin = as_i64(c, IN(1)), *end = as_i64(c, IN(2)), *from[HOLO_MAX_RANK], *to[HOLO_MAX_RANK];
    int64_t    axes[HOLO_MAX_RANK], steps[HOLO_MAX_RANK], gone[HOLO_MAX_RANK], fresh[HOLO_MAX_RANK];
    int        rank = holo_ir_rank(c, x), used = 0, axis = 0, place = 0, gone_count = 0, fresh_count = 0, given = 0;
    Masks      m;
    read_masks(c, &m);
    if (c->e->status) return NULL;
    for (int i = 0; i < m.count; i++) given += !m.fresh[i] && !m.ellipsis[i];
    for (int i = 0; i < m.count && axis <= rank && place < HOLO_MAX_RANK; i++) {
        int64_t most = INT64_MAX, least = 0, none = -1;
        if (m.ellipsis[i]) {
            axis += rank - given;
            place += rank - given;
            continue;
        }
        if (m.fresh[i]) {
            fresh[fresh_count++] = place++;
            continue;
        }
        if (axis >= rank)
            return holo_emit_fail(c->e, HOLO_BAD_MODEL, "a StridedSlice of more dimensions than there are");
        bool back  = m.step[i] < 0;
        from[used] = m.begin[i] && !m.shrink[i] ? holo_emit_ints(c->e, back ? &most : &least, 1) : element(c, begin, i);
        if (m.shrink[i]) { // one element; -1 is the last
            HoloValue *next    = OP2("Add", from[used], holo_emit_int(c->e, 1));
            HoloValue *is_last = OP2("Equal", from[used], holo_emit_ints(c->e, &none, 1));
            to[used]           = holo_emit(c->e, "Where", HOLO_IN(is_last, holo_emit_ints(c->e, &most, 1), next), NULL);
            gone[gone_count++] = place;
        } else {
            int64_t start = INT64_MIN + 1;
            to[used]      = m.end[i] ? holo_emit_ints(c->e, back ? &start : &most, 1) : element(c, end, i);
        }
        steps[used]  = m.shrink[i] ? 1 : m.step[i];
        axes[used++] = axis++;
        place++;
    }
    if (used)
        x = holo_emit(c->e, "Slice",
                      HOLO_IN(x, concat(c, from, used, 0), concat(c, to, used, 0), holo_emit_ints(c->e, axes, used),
                              holo_emit_ints(c->e, steps, used)),
                      NULL);
    x = holo_emit_unsqueeze(c->e, x, fresh, fresh_count);
    return holo_emit_squeeze(c->e, x, gone, gone_count);
}

// ---- padding

// Each dimension by its elements in the order of their mirror image.
static HoloValue *pad_symmetric(HoloIrCall *c, HoloValue *x)
{
    int64_t before[2 * HOLO_MAX_RANK], after[2 * HOLO_MAX_RANK], size;
    int     rank = holo_ir_rank(c, x);
    if (holo_ir_known(c, 1, before) != rank || holo_ir_known(c, 2, after) != rank) return NULL;
    for (int d = 0; d < rank && !c->e->status; d++) {
        if (!before[d] && !after[d]) continue;
        if (!holo_ir_size(x, d, &size) || before[d] < 0 || after[d] < 0 || before[d] > size || after[d] > size)
            return holo_emit_fail(c->e, HOLO_UNSUPPORTED,
                                  "symmetric padding by more than there is, or of an open size");
        HoloValue *part[3];
        int        count = 0;
        if (before[d]) part[count++] = holo_emit_slice(c->e, x, d, before[d] - 1, INT64_MIN + 1, -1);
        part[count++] = x;
        if (after[d])
            part[count++] = holo_emit_slice(c->e, x, d, size - 1,
                                            size - 1 - after[d] < 0 ? INT64_MIN + 1 : size - 1 - after[d], -1);
        x = concat(c, part, count, d);
    }
    return x;
}

ONE(pad)
{
    HoloValue  *x = IN(0), *both[2] = {as_i64(c, IN(1)), as_i64(c, IN(2))}, *with = MAY(3);
    const char *mode = holo_ir_text(c, "pad_mode", "constant");
    if (!strcmp(mode, "symmetric")) return pad_symmetric(c, x);
    if (with) with = holo_emit_reshape(c->e, holo_emit_cast(c->e, with, holo_emit_dtype(x)), NULL, 0);
    return holo_emit(c->e, "Pad", HOLO_IN(x, concat(c, both, 2, 0), strcmp(mode, "constant") ? NULL : with),
                     HOLO_ATTRS(holo_with_text("mode", mode)));
}

// ---- blocks of space

ONE(depth_to_space)
{
    bool is_first = holo_ir_is(c, "mode", "blocks_first", "blocks_first");
    return holo_emit(c->e, "DepthToSpace", HOLO_IN(IN(0)),
                     HOLO_ATTRS(holo_with_int("blocksize", holo_ir_int(c, "block_size", 1)),
                                holo_with_text("mode", is_first ? "DCR" : "CRD")));
}

ONE(space_to_depth)
{
    HoloValue *x     = IN(0), *y;
    int64_t    block = holo_ir_int(c, "block_size", 1), n, ch, perm[] = {0, 2, 1, 3, 4}, sizes[] = {0, 0, 0, 0, 0};
    if (block < 1 || block > HOLO_IR_NUMBER_MAX)
        return holo_emit_fail(c->e, HOLO_BAD_MODEL, "a block of %lld", (long long)block);
    y = holo_emit(c->e, "SpaceToDepth", HOLO_IN(x), HOLO_ATTRS(holo_with_int("blocksize", block)));
    if (holo_ir_is(c, "mode", "blocks_first", "blocks_first")) return y;
    if (!holo_ir_size(x, 1, &ch) || holo_ir_rank(c, x) != 4)
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a SpaceToDepth with the depth first, of other than pictures");
    n        = block * block; // [batch, blocks, channels, ...] to [batch, channels, blocks, ...]
    sizes[1] = n, sizes[2] = ch;
    sizes[3] = 0, sizes[4] = 0;
    HoloValue *parts[4] = {size_of(c, y, 0), holo_emit_ints(c->e, sizes + 1, 2), size_of(c, y, 2), size_of(c, y, 3)};
    HoloValue *whole    = OP1("Shape", y);
    y                   = holo_emit_transpose(c->e, OP2("Reshape", y, concat(c, parts, 4, 0)), perm, 5);
    return OP2("Reshape", y, whole);
}

ONE(shuffle_channels)
{
    HoloValue *x = IN(0), *whole = OP1("Shape", x), *part[3];
    int        rank = holo_ir_rank(c, x), axis = holo_ir_axis(c, holo_ir_int(c, "axis", 1), rank);
    int64_t    group = holo_ir_int(c, "group", 1), size, perm[HOLO_MAX_RANK + 1];
    if (!holo_ir_size(x, axis, &size) || group < 1 || size % group || rank >= HOLO_MAX_RANK)
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED,
                              "ShuffleChannels of an open size, or one that its groups do not divide");
    int64_t cut[2] = {group, size / group};
    int     count  = 0;
    if (axis) part[count++] = holo_emit(c->e, "Shape", HOLO_IN(x), HOLO_ATTRS(holo_with_int("end", axis)));
    part[count++] = holo_emit_ints(c->e, cut, 2);
    if (axis + 1 < rank)
        part[count++] = holo_emit(c->e, "Shape", HOLO_IN(x), HOLO_ATTRS(holo_with_int("start", axis + 1)));
    for (int i = 0; i <= rank; i++) perm[i] = i;
    perm[axis] = axis + 1, perm[axis + 1] = axis;
    return OP2("Reshape", holo_emit_transpose(c->e, OP2("Reshape", x, concat(c, part, count, 0)), perm, rank + 1),
               whole);
}

// data block before after: space goes to the batch, or comes from it
ONE(batch_and_space)
{
    HoloValue *x        = IN(0);
    bool       to_batch = !strcmp(c->layer->type, "SpaceToBatch");
    int64_t    block[2 * HOLO_MAX_RANK], a[2 * HOLO_MAX_RANK], b[2 * HOLO_MAX_RANK], size[HOLO_MAX_RANK];
    int64_t    cut[2 * HOLO_MAX_RANK], perm[2 * HOLO_MAX_RANK], last[HOLO_MAX_RANK], all = 1;
    int        rank = holo_ir_rank(c, x), n = 0;
    if (rank < 1 || rank > 7)
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "%s of %d dimensions", c->layer->type, rank);
    if (holo_ir_known(c, 1, block) != rank || holo_ir_known(c, 2, a) != rank || holo_ir_known(c, 3, b) != rank)
        return NULL;
    if (to_batch) {
        for (int i = 0; i < rank; i++) cut[i] = a[i], cut[rank + i] = b[i];
        x = holo_emit(c->e, "Pad", HOLO_IN(x, holo_emit_ints(c->e, cut, 2 * rank)), NULL);
    }
    for (int i = 0; i < rank; i++) {
        if (!holo_ir_size(x, i, &size[i]) || block[i] < 1 || (to_batch && size[i] % block[i]))
            return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "%s of an open size, or one that its blocks do not divide",
                                  c->layer->type);
        if (!holo_mul(all, block[i], &all) || all > HOLO_IR_NUMBER_MAX || size[i] > INT64_MAX / HOLO_IR_NUMBER_MAX)
            return holo_emit_fail(c->e, HOLO_BAD_MODEL, "sizes or blocks that are too large");
    }
    if (to_batch) { // [size / block, block] of each; the blocks go to the front
        for (int i = 0; i < rank; i++) cut[2 * i] = size[i] / block[i], cut[2 * i + 1] = block[i];
        for (int i = 1; i < rank; i++) perm[n++] = 2 * i + 1;
        perm[n++] = 0, perm[n++] = 1;
        for (int i = 1; i < rank; i++) perm[n++] = 2 * i;
        for (int i = 0; i < rank; i++) last[i] = i ? size[i] / block[i] : size[0] * all;
        return holo_emit_reshape(c->e, holo_emit_transpose(c->e, holo_emit_reshape(c->e, x, cut, 2 * rank), perm, n),
                                 last, rank);
    }
    if (size[0] % all)
        return holo_emit_fail(c->e, HOLO_BAD_MODEL, "BatchToSpace of a batch that its blocks do not divide");
    for (int i = 1; i < rank; i++) cut[i - 1] = block[i];
    cut[rank - 1] = size[0] / all;
    for (int i = 1; i < rank; i++) cut[rank - 1 + i] = size[i];
    perm[n++] = rank - 1;
    for (int i = 1; i < rank; i++) perm[n++] = rank - 1 + i, perm[n++] = i - 1;
    last[0] = size[0] / all;
    for (int i = 1; i < rank; i++) last[i] = size[i] * block[i];
    x = holo_emit_reshape(c->e, holo_emit_transpose(c->e, holo_emit_reshape(c->e, x, cut, 2 * rank - 1), perm, n), last,
                          rank);
    for (int i = 1; i < rank; i++)
        if (a[i] || b[i]) x = holo_emit_slice(c->e, x, i, a[i], last[i] - b[i], 1);
    return x;
}

// ---- orders

ONE(reverse_sequence)
{
    HoloValue *x    = IN(0);
    int        rank = holo_ir_rank(c, x);
    return holo_emit(c->e, "ReverseSequence", HOLO_IN(x, as_i64(c, IN(1))),
                     HOLO_ATTRS(holo_with_int("batch_axis", holo_ir_axis(c, holo_ir_int(c, "batch_axis", 0), rank)),
                                holo_with_int("time_axis", holo_ir_axis(c, holo_ir_int(c, "seq_axis", 1), rank))));
}

// data shift axes
ONE(roll)
{
    HoloValue *x = IN(0);
    int64_t    by[2 * HOLO_MAX_RANK], axes[2 * HOLO_MAX_RANK];
    int        shifts = holo_ir_known(c, 1, by), count = holo_ir_known(c, 2, axes), rank = holo_ir_rank(c, x);
    for (int i = 0; i < count && !c->e->status; i++) {
        int     axis  = holo_ir_axis(c, axes[i], rank);
        int64_t shift = by[shifts == 1 ? 0 : i], size;
        if (!holo_ir_size(x, axis, &size)) return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a Roll of an open size");
        shift = size ? ((shift % size) + size) % size : 0;
        if (!shift) continue;
        HoloValue *both[2] = {holo_emit_slice(c->e, x, axis, size - shift, size, 1),
                              holo_emit_slice(c->e, x, axis, 0, size - shift, 1)};
        x                  = concat(c, both, 2, axis);
    }
    return x;
}

const HoloIrOp holo_ir_shapes[] = {
    {"Reshape", reshape, NULL, NULL},
    {"Transpose", transpose, NULL, NULL},
    {"Squeeze", squeeze, NULL, NULL},
    {"Unsqueeze", unsqueeze, NULL, NULL},
    {"Concat", concat_all, NULL, NULL},
    {"Split", NULL, split, NULL},
    {"VariadicSplit", NULL, variadic_split, NULL},
    {"ShapeOf", shape_of, NULL, NULL},
    {"Range", range, NULL, NULL},
    {"Tile", tile, NULL, NULL},
    {"Broadcast", broadcast, NULL, NULL},
    {"Slice", slice, NULL, NULL},
    {"StridedSlice", strided_slice, NULL, NULL},
    {"Pad", pad, NULL, NULL},
    {"DepthToSpace", depth_to_space, NULL, NULL},
    {"SpaceToDepth", space_to_depth, NULL, NULL},
    {"ShuffleChannels", shuffle_channels, NULL, NULL},
    {"SpaceToBatch", batch_and_space, NULL, NULL},
    {"BatchToSpace", batch_and_space, NULL, NULL},
    {"ReverseSequence", reverse_sequence, NULL, NULL},
    {"Roll", roll, NULL, NULL},
    {0},
};
