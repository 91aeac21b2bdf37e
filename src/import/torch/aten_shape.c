// aten_shape.c - operators that copy elements to other places: joins, repetitions, padding, shifts.
#include "import/torch/aten.h"

#include <string.h>

// Tensors in the type that all become. Empty tensors of one dimension are left out: PyTorch does so for old models.
static HoloValue **joinable(HoloTorch *t, const HoloTv *list, int *out_count, bool drop_empty)
{
    int         count, used = 0;
    int64_t     size;
    HoloValue **x     = holo_torch_values(t, list, &count);
    HoloDtype   dtype = t->e->status ? HOLO_NONE : holo_torch_result(t, list->list->item, count);
    for (int i = 0; i < count && !t->e->status; i++) {
        if (drop_empty && count > 1 && holo_emit_rank(x[i]) == 1 && holo_torch_size_known(x[i], 0, &size) && !size)
            continue;
        x[used++] = holo_emit_cast(t->e, x[i], dtype);
    }
    *out_count = used;
    return x;
}

ONE(cat)
{
    int         count;
    HoloValue **x = joinable(t, &a[0], &count, true);
    HOLO_TORCH_CHECK(t, count, "nothing to concatenate");
    if (t->e->status) return NULL;
    return holo_torch_concat(t, x, count, holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x[0])));
}

ONE(stack)
{
    int         count;
    HoloValue **x = joinable(t, &a[0], &count, false);
    HOLO_TORCH_CHECK(t, count, "nothing to stack");
    if (t->e->status) return NULL;
    int axis = holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x[0]) + 1);
    for (int i = 0; i < count; i++) x[i] = holo_torch_unsqueeze(t, x[i], axis);
    return holo_torch_concat(t, x, count, axis);
}

// Dimensions of size 1 until there are `least` of them.
static HoloValue *at_least(HoloTorch *t, HoloValue *x, int least)
{
    int rank = holo_torch_rank(t, x);
    if (rank == 0 && least >= 1) x = holo_torch_unsqueeze(t, x, 0);
    if (rank <= 1 && least >= 2) x = holo_torch_unsqueeze(t, x, 0);
    if (rank <= 2 && least >= 3) x = holo_torch_unsqueeze(t, x, 2);
    return x;
}

static HoloValue *stack_along(HoloTorch *t, const HoloTv *a, int least, int axis_of_more)
{
    int         count;
    HoloValue **x = joinable(t, &a[0], &count, false);
    HOLO_TORCH_CHECK(t, count, "nothing to stack");
    for (int i = 0; i < count && !t->e->status; i++) x[i] = at_least(t, x[i], least);
    if (t->e->status) return NULL;
    return holo_torch_concat(t, x, count, holo_emit_rank(x[0]) == 1 ? 0 : axis_of_more);
}

ONE(hstack)
{
    return stack_along(t, a, 1, 1);
}

ONE(vstack)
{
    return stack_along(t, a, 2, 0);
}

ONE(dstack)
{
    return stack_along(t, a, 3, 2);
}

ONE(column_stack)
{
    int         count;
    HoloValue **x = joinable(t, &a[0], &count, false);
    HOLO_TORCH_CHECK(t, count, "nothing to stack");
    for (int i = 0; i < count && !t->e->status; i++)
        if (holo_torch_rank(t, x[i]) < 2) x[i] = holo_torch_unsqueeze(t, at_least(t, x[i], 1), 1);
    return holo_torch_concat(t, x, count, 1);
}

ONE(at_least_1)
{
    return at_least(t, V(0), 1);
}

ONE(at_least_2)
{
    return at_least(t, V(0), 2);
}

ONE(at_least_3)
{
    return at_least(t, V(0), 3);
}

// ---- repetitions

// Numbers of repetitions for at least all dimensions; missing ones at the front are 1.
static HoloValue *tile(HoloTorch *t, HoloValue *x, const HoloTv *list)
{
    int        rank = holo_torch_rank(t, x), count = holo_tv_is_list(list) ? list->list->count : 1;
    int64_t    front[HOLO_MAX_RANK], ones[HOLO_MAX_RANK];
    HoloValue *times = holo_torch_sizes(t, list);
    HOLO_TORCH_CHECK(t, count <= HOLO_MAX_RANK, "%d dimensions are too many", count);
    for (int i = 0; i < HOLO_MAX_RANK; i++) {
        front[i] = i;
        ones[i]  = 1;
    }
    if (count > rank) x = holo_emit_unsqueeze(t->e, x, front, count - rank);
    if (count < rank) {
        HoloValue *both[2] = {holo_emit_ints(t->e, ones, rank - count), times};
        times              = count ? holo_torch_concat(t, both, 2, 0) : both[0];
    }
    return OP2("Tile", x, times);
}

ONE(repeat)
{
    return tile(t, V(0), &a[1]);
}

// Each element several times in a row.
ONE(repeat_interleave)
{
    HoloValue *x = V(0), *index = NULL;
    int64_t    all     = -1;
    bool       is_flat = holo_tv_is_none(&a[2]);
    if (holo_tv_is_none(&a[0]) || holo_tv_is_none(&a[1])) { // of numbers alone: place i as often as it says
        HoloTv times = holo_tv_is_none(&a[0]) ? a[1] : a[0];
        HoloTv from  = holo_tv_tensor(t, holo_torch_range(t, holo_torch_dim(t, holo_torch_value(t, &times), 0)));
        return repeat_interleave(t, (HoloTv[]){from, times, holo_tv_int(0)});
    }
    if (is_flat) x = holo_torch_flat(t, x);
    int axis = is_flat ? 0 : holo_torch_axis(t, &a[2], 0, holo_torch_rank(t, x));
    if (a[1].kind == HOLO_TORCH_TENSOR && holo_emit_rank(V(1)) == 1) {
        // element i as often as it says: what the sums up to it leave behind
        HoloValue *times = holo_torch_scalar(t, &a[1], HOLO_I64), *zero = holo_emit_int(t->e, 0);
        HoloValue *ends  = holo_emit(t->e, "CumSum", HOLO_IN(times, zero), NULL);
        HoloValue *total = holo_torch_reduce(t, "ReduceSum", times, (int64_t[]){0}, 1, false);
        HoloValue *place = holo_torch_unsqueeze(t, holo_torch_range(t, total), 1);
        HoloValue *past  = holo_emit_cast(t->e, OP2("GreaterOrEqual", place, ends), HOLO_I64);
        index            = holo_torch_reduce(t, "ReduceSum", past, (int64_t[]){1}, 1, false);
    } else {
        HoloValue *times = holo_torch_size1(t, &a[1]), *count = holo_torch_dim(t, x, axis);
        HoloValue *both[2] = {count, times}, *sizes = holo_torch_concat(t, both, 2, 0);
        HoloValue *range = holo_torch_unsqueeze(t, holo_torch_range(t, count), 1);
        index            = holo_emit_reshape(t->e, holo_torch_expand(t, range, sizes), &all, 1);
    }
    return holo_torch_gather(t, x, index, axis);
}

// ---- orders

ONE(flip)
{
    HoloValue *x = V(0);
    int64_t    axes[HOLO_MAX_RANK * 2], ones[HOLO_MAX_RANK], lasts[HOLO_MAX_RANK];
    int        rank  = holo_torch_rank(t, x);
    int        count = holo_tv_is_list(&a[1]) && !a[1].list->count ? 0 : holo_torch_axes(t, &a[1], rank, axes);
    if (!count) return OP1("Identity", x);
    for (int i = 0; i < count; i++) {
        ones[i]  = -1;
        lasts[i] = INT64_MIN + 1;
    }
    HoloValue *step = holo_emit_ints(t->e, ones, count);
    return holo_emit(t->e, "Slice",
                     HOLO_IN(x, step, holo_emit_ints(t->e, lasts, count), holo_emit_ints(t->e, axes, count), step),
                     NULL);
}

// A quarter turn, once to three times, from the first axis to the second.
ONE(rot90)
{
    int64_t turns = ((holo_torch_int(t, &a[1], 1) % 4) + 4) % 4, axes[HOLO_MAX_RANK * 2] = {0, 1};
    if (!holo_tv_is_none(&a[2])) holo_torch_ints(t, &a[2], axes);
    HoloTv x = a[0], from = holo_tv_int(axes[0]), to = holo_tv_int(axes[1]);
    for (; turns > 0 && !t->e->status; turns--) {
        HoloTv args[3] = {holo_torch_apply(t, "flip", 2, (HoloTv[]){x, to}), from, to};
        x              = holo_torch_apply(t, "transpose", 3, args);
    }
    return OP1("Identity", holo_torch_value(t, &x));
}

static HoloValue *roll_along(HoloTorch *t, HoloValue *x, int axis, int64_t shift)
{
    int64_t    size, zero = 0, most = INT64_MAX;
    HoloValue *cut;
    if (holo_torch_size_known(x, axis, &size)) {
        if (!size || !(shift % size)) return x;
        int64_t at = ((-shift % size) + size) % size;
        cut        = holo_emit_ints(t->e, &at, 1);
    } else {
        int64_t back = -shift;
        cut          = holo_emit_ints(t->e, &back, 1); // a shift is smaller than the size
    }
    HoloValue *part[2] = {holo_torch_slice(t, x, axis, cut, holo_emit_ints(t->e, &most, 1), 1),
                          holo_torch_slice(t, x, axis, holo_emit_ints(t->e, &zero, 1), cut, 1)};
    return holo_torch_concat(t, part, 2, axis);
}

ONE(roll)
{
    HoloValue *x = V(0), *from = x;
    int64_t    shifts[HOLO_MAX_RANK * 2], axes[HOLO_MAX_RANK * 2];
    int        count = holo_torch_ints(t, &a[1], shifts), given = holo_torch_ints(t, &a[2], axes);
    if (!given) return holo_torch_shape_as(t, roll_along(t, holo_torch_flat(t, x), 0, shifts[0]), from);
    HOLO_TORCH_CHECK(t, count == given, "roll by %d shifts along %d dimensions", count, given);
    for (int i = 0; i < count && !t->e->status; i++) {
        HoloTv axis = holo_tv_int(axes[i]);
        x           = roll_along(t, x, holo_torch_axis(t, &axis, 0, holo_torch_rank(t, x)), shifts[i]);
    }
    return x == from ? OP1("Identity", x) : x;
}

HoloValue *holo_torch_triangle(HoloTorch *t, HoloValue *x, int64_t diagonal, bool upper)
{
    HoloDtype dtype = DTYPE(x);
    return holo_emit_cast(
        t->e,
        holo_emit(t->e, "Trilu", HOLO_IN(x, holo_emit_int(t->e, diagonal)), HOLO_ATTRS(holo_with_int("upper", upper))),
        dtype);
}

ONE(tril)
{
    return holo_torch_triangle(t, V(0), holo_torch_int(t, &a[1], 0), false);
}

ONE(triu)
{
    return holo_torch_triangle(t, V(0), holo_torch_int(t, &a[1], 0), true);
}

// A matrix with the last dimension on its diagonal.
static HoloValue *embed_diagonal(HoloTorch *t, HoloValue *x, int64_t offset)
{
    int64_t size, extra = offset < 0 ? -offset : offset;
    int     rank = holo_torch_rank(t, x);
    HOLO_TORCH_CHECK(t, rank && holo_torch_size_known(x, rank - 1, &size),
                     "a diagonal of a size that only a run knows");
    int64_t pads[HOLO_MAX_RANK * 2] = {0};
    if (offset >= 0)
        pads[rank - 1] = extra;
    else
        pads[2 * rank - 1] = extra;
    if (extra) x = holo_emit(t->e, "Pad", HOLO_IN(x, holo_emit_ints(t->e, pads, 2 * rank)), NULL);
    HoloValue *range  = holo_torch_range(t, holo_emit_int(t->e, size + extra));
    HoloValue *places = OP2("Add", holo_torch_unsqueeze(t, range, 1), holo_emit_int(t->e, offset));
    HoloValue *is_on  = OP2("Equal", places, range);
    return holo_torch_where(t, is_on, holo_torch_unsqueeze(t, x, rank - 1), NUM(x, 0));
}

ONE(diag_embed)
{
    HoloValue *y    = embed_diagonal(t, V(0), holo_torch_int(t, &a[1], 0));
    int        rank = holo_torch_rank(t, y);
    HOLO_TORCH_CHECK(t,
                     holo_torch_axis(t, &a[2], -2, rank) == rank - 2 && holo_torch_axis(t, &a[3], -1, rank) == rank - 1,
                     "diag_embed with other dimensions than the last two");
    return y;
}

ONE(diag)
{
    HoloValue *x = V(0);
    if (holo_torch_rank(t, x) == 1) return embed_diagonal(t, x, holo_torch_int(t, &a[1], 0));
    HoloTv args[2] = {a[0], a[1]}, y = holo_torch_apply(t, "diagonal", 2, args);
    return holo_torch_value(t, &y);
}

// ---- padding

// PyTorch's pairs are of the last dimension first.
static HoloValue *pad_by(HoloTorch *t, HoloValue *x, const HoloTv *list, const char *mode, HoloValue *number)
{
    int rank = holo_torch_rank(t, x), count = holo_tv_is_list(list) ? list->list->count : 0;
    HOLO_TORCH_CHECK(t, count % 2 == 0 && count / 2 <= rank, "padding by %d numbers of a tensor of %d dimensions",
                     count, rank);
    if (t->e->status) return NULL;
    HoloTv sizes = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL);
    bool   below = false;
    for (int i = 0; i < 2 * rank && !t->e->status; i++) {
        int at = 2 * (rank - 1 - i % rank) + i / rank;
        holo_tv_append(t, sizes.list, at < count ? list->list->item[at] : holo_tv_int(0));
    }
    for (int i = 0; !t->e->status && i < sizes.list->count; i++)
        below |= sizes.list->item[i].kind == HOLO_TORCH_INT && sizes.list->item[i].i < 0;
    if (below && strcmp(mode, "constant")) { // first less, then more
        HoloTv less = holo_tv_list(t, HOLO_TORCH_LIST, count, list->list->item),
               more = holo_tv_list(t, HOLO_TORCH_LIST, count, list->list->item);
        for (int i = 0; i < count && !t->e->status; i++) {
            HoloTv *item                       = &list->list->item[i];
            bool    cuts                       = item->kind == HOLO_TORCH_INT && item->i < 0;
            (cuts ? more : less).list->item[i] = holo_tv_int(0);
        }
        return pad_by(t, pad_by(t, x, &less, "constant", NUM(x, 0)), &more, mode, number);
    }
    bool is_bool = DTYPE(x) == HOLO_BOOL;
    if (is_bool) x = holo_emit_cast(t->e, x, HOLO_U8);
    if (is_bool && number) number = holo_emit_cast(t->e, number, HOLO_U8);
    HoloValue *y = holo_emit(t->e, "Pad", HOLO_IN(x, holo_torch_sizes(t, &sizes), number),
                             HOLO_ATTRS(holo_with_text("mode", mode)));
    return is_bool ? holo_emit_cast(t->e, y, HOLO_BOOL) : y;
}

ONE(constant_pad)
{
    HoloValue *x = V(0);
    return pad_by(t, x, &a[1], "constant", holo_tv_is_none(&a[2]) ? NUM(x, 0) : holo_torch_scalar(t, &a[2], DTYPE(x)));
}

ONE(reflection_pad)
{
    return pad_by(t, V(0), &a[1], "reflect", NULL);
}

ONE(replication_pad)
{
    return pad_by(t, V(0), &a[1], "edge", NULL);
}

ONE(circular_pad)
{
    return pad_by(t, V(0), &a[1], "wrap", NULL);
}

ONE(pad)
{
    static HoloValue *(*const modes[])(HoloTorch *, const HoloTv *) = {reflection_pad, replication_pad, circular_pad};
    HoloTv constant[3]                                              = {a[0], a[1], a[3]};
    if (a[2].kind == HOLO_TORCH_INT) // of _pad_enum
        return a[2].i >= 0 && a[2].i < HOLO_COUNT(modes) ? modes[a[2].i](t, a) : constant_pad(t, constant);
    if (holo_torch_text_is(t, &a[2], "constant", "reflect")) return reflection_pad(t, a);
    if (holo_torch_text_is(t, &a[2], "constant", "replicate")) return replication_pad(t, a);
    if (holo_torch_text_is(t, &a[2], "constant", "circular")) return circular_pad(t, a);
    return constant_pad(t, constant);
}

// ---- channels and pictures

// [..., channels, height, width]: the dimensions before them are one for ONNX.
static HoloValue *shuffle(HoloTorch *t, HoloValue *x, const int64_t *split, int split_count, const int64_t *perm,
                          const int64_t *join, int join_count)
{
    int64_t front[2] = {0};
    (void)front;
    HoloValue *y = holo_emit_reshape(t->e, x, split, split_count);
    y            = holo_emit_transpose(t->e, y, perm, split_count);
    return holo_emit_reshape(t->e, y, join, join_count);
}

ONE(pixel_shuffle)
{
    HoloValue *x    = V(0);
    int64_t    r    = holo_torch_int(t, &a[1], 1);
    int        rank = holo_torch_rank(t, x);
    HOLO_TORCH_CHECK(t, rank == 3 || rank == 4, "pixel_shuffle of %d dimensions", rank);
    if (rank == 3) x = holo_torch_unsqueeze(t, x, 0);
    x = holo_emit(t->e, "DepthToSpace", HOLO_IN(x),
                  HOLO_ATTRS(holo_with_int("blocksize", r), holo_with_text("mode", "CRD")));
    return rank == 3 ? holo_torch_squeeze(t, x, 0) : x;
}

ONE(pixel_unshuffle)
{
    HoloValue *x = V(0);
    int64_t    r = holo_torch_int(t, &a[1], 1), c, h, w;
    HOLO_TORCH_CHECK(t,
                     holo_torch_rank(t, x) == 4 && holo_torch_size_known(x, 1, &c) && holo_torch_size_known(x, 2, &h) &&
                         holo_torch_size_known(x, 3, &w) && r > 0,
                     "pixel_unshuffle needs [batch, channels, height, width] of known sizes");
    int64_t split[] = {-1, c, h / r, r, w / r, r}, perm[] = {0, 1, 3, 5, 2, 4}, join[] = {-1, c * r * r, h / r, w / r};
    return shuffle(t, x, split, 6, perm, join, 4);
}

ONE(channel_shuffle)
{
    HoloValue *x      = V(0);
    int64_t    groups = holo_torch_int(t, &a[1], 1), c, split[HOLO_MAX_RANK] = {0}, perm[HOLO_MAX_RANK];
    int        rank = holo_torch_rank(t, x);
    HOLO_TORCH_CHECK(t, rank >= 3 && rank < HOLO_MAX_RANK && groups > 0 && holo_torch_size_known(x, 1, &c),
                     "channel_shuffle of %d dimensions", rank);
    HoloValue *shape = holo_emit_shape(t->e, x);
    int64_t    all   = -1;
    split[0] = 0, split[1] = groups, split[2] = c / groups, split[3] = all;
    HoloValue *y = holo_emit_reshape(t->e, x, split, 4);
    perm[0] = 0, perm[1] = 2, perm[2] = 1, perm[3] = 3;
    return OP2("Reshape", holo_emit_transpose(t->e, y, perm, 4), shape);
}

// Columns of the windows of a picture: [batch, channels * window, windows].
ONE(im2col)
{
    HoloValue *x = V(0);
    int64_t    kernel[16], dilation[16], padding[16], stride[16];
    int        rank = holo_torch_rank(t, x);
    HOLO_TORCH_CHECK(t, rank == 4, "im2col of %d dimensions", rank);
    holo_torch_ints(t, &a[1], kernel);
    holo_torch_ints(t, &a[2], dilation);
    holo_torch_ints(t, &a[3], padding);
    holo_torch_ints(t, &a[4], stride);
    int64_t pads[8] = {0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]}, one = 1;
    x = holo_emit(t->e, "Pad", HOLO_IN(x, holo_emit_ints(t->e, pads, 8)), NULL);
    for (int d = 0; d < 2 && !t->e->status; d++) { // axis 2, then 4: each becomes [window, windows]
        int        axis  = d ? 4 : 2;
        HoloValue *reach = holo_emit_int(t->e, dilation[d] * (kernel[d] - 1) + 1);
        HoloValue *count =
            OP2("Add", OP2("Div", OP2("Sub", holo_torch_dim(t, x, axis), reach), holo_emit_int(t->e, stride[d])),
                holo_emit_ints(t->e, &one, 1));
        HoloValue *first = OP2("Mul", holo_torch_range(t, count), holo_emit_int(t->e, stride[d]));
        HoloValue *in =
            OP2("Mul", holo_torch_range(t, holo_emit_int(t->e, kernel[d])), holo_emit_int(t->e, dilation[d]));
        x = holo_torch_gather(t, x, OP2("Add", holo_torch_unsqueeze(t, in, 1), first), axis);
    }
    int64_t channels, perm[] = {0, 1, 2, 4, 3, 5};
    HOLO_TORCH_CHECK(t, holo_torch_size_known(x, 1, &channels), "im2col of channels that only a run knows");
    int64_t join[] = {0, channels * kernel[0] * kernel[1], -1};
    return holo_emit_reshape(t->e, holo_emit_transpose(t->e, x, perm, 6), join, 3);
}

ONE(col2im)
{
    HoloValue *x = V(0);
    int64_t    size[16], kernel[16], dilation[16], padding[16], stride[16];
    holo_torch_ints(t, &a[1], size);
    holo_torch_ints(t, &a[2], kernel);
    holo_torch_ints(t, &a[3], dilation);
    holo_torch_ints(t, &a[4], padding);
    holo_torch_ints(t, &a[5], stride);
    int64_t pads[4] = {padding[0], padding[1], padding[0], padding[1]};
    return holo_emit(t->e, "Col2Im", HOLO_IN(x, holo_emit_ints(t->e, size, 2), holo_emit_ints(t->e, kernel, 2)),
                     HOLO_ATTRS(holo_with_ints("dilations", dilation, 2), holo_with_ints("pads", pads, 4),
                                holo_with_ints("strides", stride, 2)));
}

// ---- several at once

ANY(broadcast_tensors)
{
    int         count;
    HoloValue **x = holo_torch_values(t, &a[0], &count), *shape = NULL;
    for (int i = 0; i < count && !t->e->status; i++) { // a tensor of zeros that broadcasts with all of them
        HoloValue *zero = holo_torch_expand(t, holo_emit_int(t->e, 0), holo_emit_shape(t->e, x[i]));
        shape           = shape ? OP2("Add", shape, zero) : zero;
    }
    for (int i = 0; i < count && !t->e->status; i++) x[i] = holo_torch_expand(t, x[i], holo_emit_shape(t->e, shape));
    *out      = holo_torch_tuple(t, count, x);
    out->kind = HOLO_TORCH_LIST;
}

ANY(meshgrid)
{
    int         count;
    HoloValue **x     = holo_torch_values(t, &a[0], &count), *part[HOLO_MAX_RANK];
    bool        is_xy = holo_torch_text_is(t, &a[1], "ij", "xy") && count > 1;
    if (count > HOLO_MAX_RANK) holo_emit_fail(t->e, HOLO_UNSUPPORTED, "meshgrid of %d tensors", count);
    for (int i = 0; i < count && !t->e->status; i++) {
        x[i]    = holo_torch_flat(t, at_least(t, x[i], 1));
        part[i] = holo_torch_dim(t, x[i], 0);
    }
    HoloValue *sizes = t->e->status ? NULL : holo_torch_concat(t, part, count, 0);
    for (int i = 0; i < count && !t->e->status; i++) {
        int64_t axes[HOLO_MAX_RANK], used = 0;
        for (int d = 0; d < count; d++)
            if (d != i) axes[used++] = d;
        x[i] = holo_torch_expand(t, holo_emit_unsqueeze(t->e, x[i], axes, (int)used), sizes);
        if (is_xy) x[i] = holo_torch_swap(t, x[i], 0, 1);
    }
    *out      = holo_torch_tuple(t, t->e->status ? 0 : count, x);
    out->kind = HOLO_TORCH_LIST;
}

const HoloTorchOp holo_torch_shapes[] = {
    ROW("cat", "tensors dim", cat),
    ROW("concat", "tensors dim", cat),
    ROW("concatenate", "tensors dim", cat),
    ROW("stack", "tensors dim", stack),
    ROW("hstack", "tensors", hstack),
    ROW("vstack", "tensors", vstack),
    ROW("row_stack", "tensors", vstack),
    ROW("dstack", "tensors", dstack),
    ROW("column_stack", "tensors", column_stack),
    ROW("atleast_1d", "self", at_least_1),
    ROW("atleast_2d", "self", at_least_2),
    ROW("atleast_3d", "self", at_least_3),
    ROW("repeat", "self repeats", repeat),
    ROW("tile", "self dims", repeat),
    ROW("repeat_interleave", "self repeats dim output_size", repeat_interleave),
    ROW("flip", "self dims", flip),
    ROW("rot90", "self k dims", rot90),
    ROW("roll", "self shifts dims", roll),
    ROW("tril", "self diagonal", tril),
    ROW("triu", "self diagonal", triu),
    ROW("diag_embed", "self offset dim1 dim2", diag_embed),
    ROW("diag", "self diagonal", diag),
    ROW("constant_pad_nd", "self pad value", constant_pad),
    ROW("pad", "self pad mode value", pad),
    ROW("_pad_enum", "self pad mode value", pad),
    ROW("reflection_pad1d", "self padding", reflection_pad),
    ROW("reflection_pad2d", "self padding", reflection_pad),
    ROW("reflection_pad3d", "self padding", reflection_pad),
    ROW("replication_pad1d", "self padding", replication_pad),
    ROW("replication_pad2d", "self padding", replication_pad),
    ROW("replication_pad3d", "self padding", replication_pad),
    ROW("_pad_circular", "self pad", circular_pad),
    ROW("pixel_shuffle", "self upscale_factor", pixel_shuffle),
    ROW("pixel_unshuffle", "self downscale_factor", pixel_unshuffle),
    ROW("channel_shuffle", "self groups", channel_shuffle),
    ROW("native_channel_shuffle", "self groups", channel_shuffle),
    ROW("im2col", "self kernel_size dilation padding stride", im2col),
    ROW("col2im", "self output_size kernel_size dilation padding stride", col2im),
    MANY("broadcast_tensors", "tensors", broadcast_tensors),
    MANY("meshgrid", "tensors indexing", meshgrid),
    {0},
};
