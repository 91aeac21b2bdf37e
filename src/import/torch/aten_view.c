// aten_view.c - operators that show the same elements otherwise: views, which share the memory of their argument.
#include "import/torch/aten.h"

// ---- sizes

// Sizes as numbers where they are known, else as values: one for each dimension from..to-1, [1] each.
static int size_parts(HoloTorch *t, HoloValue *x, int from, int to, HoloValue **part)
{
    int count = 0;
    for (int i = from; i < to; i++) part[count++] = holo_torch_dim(t, x, i);
    return count;
}

static HoloValue *reshape(HoloTorch *t, HoloValue *x, HoloValue *sizes, bool has_open)
{
    return holo_emit(t->e, "Reshape", HOLO_IN(x, sizes), HOLO_ATTRS(holo_with_int("allowzero", !has_open)));
}

static bool has_open(const HoloTv *v)
{
    for (int i = 0; holo_tv_is_list(v) && i < v->list->count; i++)
        if (v->list->item[i].kind == HOLO_TORCH_INT && v->list->item[i].i == -1) return true;
    return false;
}

ONE(view)
{
    HoloValue *x = V(0);
    if (a[1].kind == HOLO_TORCH_INT) {
        HOLO_TORCH_CHECK(t, holo_torch_dtype(t, &a[1], HOLO_NONE) == DTYPE(x), "a view with another element type");
        return OP1("Identity", x);
    }
    return reshape(t, x, holo_torch_sizes(t, &a[1]), has_open(&a[1]));
}

ONE(view_as)
{
    return holo_torch_shape_as(t, V(0), V(1));
}

ONE(flatten)
{
    HoloValue *x    = V(0), *part[HOLO_MAX_RANK + 1];
    int64_t    all  = -1;
    int        rank = holo_emit_rank(x), count = 0;
    bool       is_whole = holo_torch_int(t, &a[1], 0) == 0 && holo_torch_int(t, &a[2], -1) == -1;
    if (is_whole) return holo_emit_reshape(t->e, x, &all, 1);
    rank     = holo_torch_rank(t, x);
    int from = holo_torch_axis(t, &a[1], 0, rank), to = holo_torch_axis(t, &a[2], -1, rank);
    if (from >= to) return OP1("Identity", x);
    count         = size_parts(t, x, 0, from, part);
    part[count++] = holo_emit_ints(t->e, &all, 1);
    count += size_parts(t, x, to + 1, rank, part + count);
    return reshape(t, x, holo_torch_concat(t, part, count, 0), true);
}

ONE(unflatten)
{
    HoloValue *x    = V(0), *part[HOLO_MAX_RANK + 1];
    int        rank = holo_torch_rank(t, x), axis = holo_torch_axis(t, &a[1], 0, rank);
    int        count = size_parts(t, x, 0, axis, part);
    part[count++]    = holo_torch_sizes(t, &a[2]);
    count += size_parts(t, x, axis + 1, rank, part + count);
    return reshape(t, x, holo_torch_concat(t, part, count, 0), has_open(&a[2]));
}

// ---- order of dimensions

ONE(transpose)
{
    HoloValue *x    = V(0);
    int        rank = holo_torch_rank(t, x);
    if (!rank) return OP1("Identity", x);
    HoloValue *y = holo_torch_swap(t, x, holo_torch_axis(t, &a[1], 0, rank), holo_torch_axis(t, &a[2], 1, rank));
    return y == x ? OP1("Identity", x) : y;
}

ONE(transpose_2d)
{
    HoloValue *x = V(0);
    return holo_torch_rank(t, x) < 2 ? OP1("Identity", x) : holo_torch_swap(t, x, 0, 1);
}

ONE(transpose_all)
{
    return OP1("Transpose", V(0));
}

ONE(transpose_last)
{
    HoloValue *x    = V(0);
    int        rank = holo_torch_rank(t, x);
    return rank < 2 ? OP1("Identity", x) : holo_torch_swap(t, x, rank - 2, rank - 1);
}

ONE(permute)
{
    HoloValue *x = V(0);
    int64_t    perm[HOLO_MAX_RANK * 2];
    int        rank = holo_torch_rank(t, x), count = holo_torch_ints(t, &a[1], perm);
    HOLO_TORCH_CHECK(t, count == rank, "permute has %d dimensions, and the tensor has %d", count, rank);
    for (int i = 0; i < rank; i++) {
        HoloTv axis = holo_tv_int(perm[i]);
        perm[i]     = holo_torch_axis(t, &axis, 0, rank);
    }
    HoloValue *y = holo_emit_transpose(t->e, x, perm, rank);
    return y == x ? OP1("Identity", x) : y;
}

ONE(movedim)
{
    HoloValue *x = V(0);
    int64_t    from[HOLO_MAX_RANK * 2], to[HOLO_MAX_RANK * 2], perm[HOLO_MAX_RANK];
    bool       is_taken[HOLO_MAX_RANK] = {false};
    int        rank = holo_torch_rank(t, x), count = holo_torch_ints(t, &a[1], from);
    HOLO_TORCH_CHECK(t, count == holo_torch_ints(t, &a[2], to) && count <= rank,
                     "movedim moves from %d dimensions to others", count);
    for (int i = 0; i < rank; i++) perm[i] = -1;
    for (int i = 0; i < count; i++) {
        HoloTv f = holo_tv_int(from[i]), g = holo_tv_int(to[i]);
        int    source                         = holo_torch_axis(t, &f, 0, rank);
        perm[holo_torch_axis(t, &g, 0, rank)] = source;
        is_taken[source]                      = true;
    }
    for (int i = 0, next = 0; i < rank; i++) {
        if (perm[i] >= 0) continue;
        while (next < rank - 1 && is_taken[next]) next++;
        perm[i] = next++;
    }
    HoloValue *y = holo_emit_transpose(t->e, x, perm, rank);
    return y == x ? OP1("Identity", x) : y;
}

ONE(unsqueeze)
{
    HoloValue *x = V(0);
    return holo_torch_unsqueeze(t, x, holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x) + 1));
}

// Dimensions of size 1 go; a size that only a run knows is not 1: PyTorch's exporter makes sure of that.
ONE(squeeze)
{
    HoloValue *x = V(0);
    int64_t    axes[HOLO_MAX_RANK * 2], gone[HOLO_MAX_RANK], size;
    int        rank = holo_torch_rank(t, x), used = 0;
    int        count = holo_tv_is_list(&a[1]) && !a[1].list->count ? 0 : holo_torch_axes(t, &a[1], rank, axes);
    for (int i = 0; i < count; i++)
        if (holo_torch_size_known(x, (int)axes[i], &size) && size == 1) gone[used++] = axes[i];
    return used ? holo_emit_squeeze(t->e, x, gone, used) : OP1("Identity", x);
}

ONE(expand)
{
    HoloValue *x    = V(0);
    HoloTv     want = a[1];
    if (holo_tv_is_list(&want)) { // -1 keeps a size, as 1 does for ONNX
        want = holo_tv_list(t, HOLO_TORCH_LIST, want.list->count, want.list->item);
        for (int i = 0; !t->e->status && i < want.list->count; i++)
            if (want.list->item[i].kind == HOLO_TORCH_INT && want.list->item[i].i == -1) want.list->item[i].i = 1;
    }
    return holo_torch_expand(t, x, holo_torch_sizes(t, &want));
}

ONE(expand_as)
{
    return holo_torch_expand(t, V(0), holo_emit_shape(t->e, V(1)));
}

// ---- parts

ONE(slice)
{
    HoloValue *x    = V(0);
    int        axis = holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x));
    int64_t    step = holo_torch_int(t, &a[4], 1), zero = 0, most = INT64_MAX;
    HOLO_TORCH_CHECK(t, step > 0, "slices with a step of %lld", (long long)step);
    bool from_start = holo_tv_is_none(&a[2]) || (a[2].kind == HOLO_TORCH_INT && a[2].i == 0);
    bool to_end     = holo_tv_is_none(&a[3]) || (a[3].kind == HOLO_TORCH_INT && a[3].i == INT64_MAX);
    if (from_start && to_end && step == 1) return OP1("Identity", x);
    HoloValue *start = from_start ? holo_emit_ints(t->e, &zero, 1) : holo_torch_size1(t, &a[2]);
    return holo_torch_slice(t, x, axis, start, to_end ? holo_emit_ints(t->e, &most, 1) : holo_torch_size1(t, &a[3]),
                            step);
}

ONE(narrow)
{
    HoloValue *x     = V(0);
    int        axis  = holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x));
    HoloValue *start = holo_torch_size1(t, &a[2]), *size = holo_torch_size1(t, &a[3]);
    if (a[2].kind == HOLO_TORCH_INT && a[2].i < 0) start = OP2("Add", start, holo_torch_dim(t, x, axis));
    return holo_torch_slice(t, x, axis, start, OP2("Add", start, size), 1);
}

ONE(select)
{
    HoloValue *x     = V(0);
    int        axis  = holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x));
    HoloValue *index = a[2].kind == HOLO_TORCH_INT ? holo_emit_int(t->e, a[2].i)
                                                   : holo_torch_scalar_of(t, holo_torch_scalar(t, &a[2], HOLO_I64));
    return holo_torch_gather(t, x, index, axis);
}

// Pieces of given sizes; they are known.
static HoloTv pieces(HoloTorch *t, HoloValue *x, int axis, const int64_t *sizes, int count)
{
    HoloValue **part = HOLO_NEW(t->arena, HoloValue *, count + 1);
    HoloTv      none = {0};
    if (!part) return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory"), none;
    if (!holo_torch_step(t, count)) return none;
    if (count == 1) {
        part[0] = OP1("Identity", x);
        return holo_torch_tuple(t, 1, part);
    }
    holo_emit_many(t->e, "Split", HOLO_IN(x, holo_emit_ints(t->e, sizes, count)),
                   HOLO_ATTRS(holo_with_int("axis", axis)), part, count);
    HoloTv out = holo_torch_tuple(t, count, part);
    out.kind   = HOLO_TORCH_LIST;
    return out;
}

// Pieces of one size, the last may be smaller.
static HoloTv equal_pieces(HoloTorch *t, HoloValue *x, int axis, int64_t total, int64_t size)
{
    HoloTv none = {0};
    if (size < 1) size = total ? total : 1;
    int64_t count = total ? (total + size - 1) / size : 1;
    if (!holo_torch_step(t, count)) return none;
    int64_t *sizes = HOLO_NEW(t->arena, int64_t, count);
    if (!sizes) return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory"), none;
    for (int64_t i = 0; i < count; i++) sizes[i] = i + 1 < count ? size : total - size * (count - 1);
    return pieces(t, x, axis, sizes, (int)count);
}

static HoloTv listed_pieces(HoloTorch *t, HoloValue *x, int axis, const HoloTv *list)
{
    HoloTv   out   = {0};
    int64_t *sizes = HOLO_NEW(t->arena, int64_t, list->list->count + 1);
    bool     known = sizes != NULL;
    for (int i = 0; known && i < list->list->count; i++) {
        known    = list->list->item[i].kind == HOLO_TORCH_INT;
        sizes[i] = list->list->item[i].i;
    }
    if (known) return pieces(t, x, axis, sizes, list->list->count);
    HoloValue **part = HOLO_NEW(t->arena, HoloValue *, list->list->count + 1);
    if (!part || !sizes) return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory"), out;
    holo_emit_many(t->e, "Split", HOLO_IN(x, holo_torch_sizes(t, list)), HOLO_ATTRS(holo_with_int("axis", axis)), part,
                   list->list->count);
    out      = holo_torch_tuple(t, list->list->count, part);
    out.kind = HOLO_TORCH_LIST;
    return out;
}

ANY(split)
{
    HoloValue *x    = V(0);
    int        axis = holo_torch_axis(t, &a[2], 0, holo_torch_rank(t, x));
    int64_t    total;
    if (t->e->status) return;
    if (holo_tv_is_list(&a[1]))
        *out = listed_pieces(t, x, axis, &a[1]);
    else if (holo_torch_size_known(x, axis, &total))
        *out = equal_pieces(t, x, axis, total, holo_torch_int(t, &a[1], 1));
    else
        holo_emit_fail(t->e, HOLO_UNSUPPORTED,
                       "split of a size that only a run knows into pieces: their number is not known");
}

ANY(chunk)
{
    HoloValue *x    = V(0);
    int        axis = holo_torch_axis(t, &a[2], 0, holo_torch_rank(t, x));
    int64_t    total, count = holo_torch_int(t, &a[1], 1);
    if (t->e->status || !holo_torch_step(t, count)) return;
    if (count < 1) {
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "chunk makes %lld pieces", (long long)count);
        return;
    }
    if (holo_torch_size_known(x, axis, &total)) {
        *out = equal_pieces(t, x, axis, total, (total + count - 1) / count);
        return;
    }
    HoloValue **part = HOLO_NEW(t->arena, HoloValue *, count);
    if (!part) return;
    holo_emit_many(t->e, "Split", HOLO_IN(x),
                   HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("num_outputs", count)), part, (int)count);
    *out      = holo_torch_tuple(t, (int)count, part);
    out->kind = HOLO_TORCH_LIST;
}

// Pieces that differ by at most one, or that begin at given places.
ANY(tensor_split)
{
    HoloValue *x    = V(0);
    int        axis = holo_torch_axis(t, &a[2], 0, holo_torch_rank(t, x));
    int64_t    total, sizes[HOLO_MAX_RANK * 2 + 1], ends[HOLO_MAX_RANK * 2];
    if (t->e->status) return;
    if (!holo_torch_size_known(x, axis, &total)) {
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "tensor_split of a size that only a run knows");
        return;
    }
    int count = holo_torch_ints(t, &a[1], ends);
    if (!holo_tv_is_list(&a[1])) {
        int64_t parts = ends[0];
        if (parts < 1 || parts > HOLO_MAX_RANK * 2) {
            holo_emit_fail(t->e, HOLO_UNSUPPORTED, "tensor_split into %lld pieces", (long long)parts);
            return;
        }
        for (int i = 0; i < parts; i++) sizes[i] = total / parts + (i < total % parts);
        *out = pieces(t, x, axis, sizes, (int)parts);
        return;
    }
    int64_t from = 0;
    for (int i = 0; i <= count; i++) {
        int64_t to = i < count ? ends[i] : total;
        if (to < 0) to += total;
        to       = to > total ? total : to < from ? from : to;
        sizes[i] = to - from;
        from     = to;
    }
    *out = pieces(t, x, axis, sizes, count + 1);
}

ANY(unbind)
{
    HoloValue *x    = V(0);
    int        axis = holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x));
    int64_t    total;
    if (t->e->status) return;
    if (!holo_torch_size_known(x, axis, &total)) {
        holo_emit_fail(t->e, HOLO_UNSUPPORTED,
                       "unbind of a size that only a run knows: the number of tensors is not known");
        return;
    }
    *out = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL);
    for (int64_t i = 0; i < total && !t->e->status; i++)
        holo_tv_append(t, out->list, holo_tv_tensor(t, holo_torch_gather(t, x, holo_emit_int(t->e, i), axis)));
}

ONE(diagonal)
{
    HoloValue *x = V(0);
    int64_t    rows, columns, offset = holo_torch_int(t, &a[1], 0);
    int        rank = holo_torch_rank(t, x);
    HOLO_TORCH_CHECK(t, rank >= 2, "diagonal of a tensor with %d dimensions", rank);
    int     p = holo_torch_axis(t, &a[2], 0, rank), q = holo_torch_axis(t, &a[3], 1, rank), next = 0;
    int64_t perm[HOLO_MAX_RANK];
    HOLO_TORCH_CHECK(t, holo_torch_size_known(x, p, &rows) && holo_torch_size_known(x, q, &columns),
                     "diagonal of sizes that only a run knows");
    for (int i = 0; i < rank; i++)
        if (i != p && i != q) perm[next++] = i;
    perm[next++]  = p;
    perm[next]    = q;
    int64_t first = offset >= 0 ? offset : -offset * columns;
    int64_t count = offset >= 0 ? holo_least(rows, columns - offset) : holo_least(rows + offset, columns);
    int64_t sizes[HOLO_MAX_RANK];
    for (int i = 0; i < rank - 2; i++) sizes[i] = 0;
    sizes[rank - 2]  = rows * columns;
    HoloValue *flat  = holo_emit_reshape(t->e, holo_emit_transpose(t->e, x, perm, rank), sizes, rank - 1);
    HoloValue *range = holo_torch_range(t, holo_emit_int(t->e, count > 0 ? count : 0));
    HoloValue *index = OP2("Add", OP2("Mul", range, holo_emit_int(t->e, columns + 1)), holo_emit_int(t->e, first));
    return holo_torch_gather(t, flat, index, rank - 2);
}

// Windows along a dimension, in a new one at the end.
ONE(unfold)
{
    HoloValue *x    = V(0);
    int        rank = holo_torch_rank(t, x), axis = holo_torch_axis(t, &a[1], 0, rank);
    int64_t    size = holo_torch_int(t, &a[2], 1), step = holo_torch_int(t, &a[3], 1);
    HOLO_TORCH_CHECK(t, size >= 0 && step > 0, "unfold of windows of %lld", (long long)size);
    if (!rank) return holo_torch_unsqueeze(t, x, 0);
    HoloValue *last  = OP2("Sub", holo_torch_dim(t, x, axis), holo_emit_int(t->e, size));
    HoloValue *count = OP2("Add", OP2("Div", last, holo_emit_int(t->e, step)), holo_emit_int(t->e, 1));
    HoloValue *first = OP2("Mul", holo_torch_range(t, count), holo_emit_int(t->e, step));
    HoloValue *index = OP2("Add", holo_torch_unsqueeze(t, first, 1), holo_torch_range(t, holo_emit_int(t->e, size)));
    HoloValue *y     = holo_torch_gather(t, x, index, axis); // the window is behind the axis
    int64_t    perm[HOLO_MAX_RANK + 1];
    for (int i = 0; i <= rank; i++) perm[i] = i <= axis ? i : i < rank ? i + 1 : axis + 1;
    return holo_emit_transpose(t->e, y, perm, rank + 1);
}

// Any places of the memory: its elements lie one behind the other.
ONE(as_strided)
{
    HoloValue *x = V(0), *index = holo_emit_int(t->e, holo_torch_int(t, &a[3], 0));
    int64_t    sizes[HOLO_MAX_RANK * 2], strides[HOLO_MAX_RANK * 2], dense = 1;
    int        rank     = holo_torch_ints(t, &a[1], sizes);
    bool       is_dense = holo_torch_int(t, &a[3], 0) == 0;
    HOLO_TORCH_CHECK(t, rank == holo_torch_ints(t, &a[2], strides) && rank <= HOLO_MAX_RANK, "as_strided with %d sizes",
                     rank);
    for (const HoloTorchTensor *v = a[0].kind == HOLO_TORCH_TENSOR ? a[0].tensor : NULL; v && v->base; v = v->base)
        HOLO_TORCH_CHECK(t, v->view->flags & HOLO_TORCH_SAME, "as_strided of a tensor that is not contiguous");
    for (int i = rank - 1; i >= 0; i--) {
        is_dense &= strides[i] == dense || sizes[i] == 1;
        dense *= sizes[i];
    }
    int64_t have = holo_tensor_count(x ? &x->type : &(HoloTensor){0});
    if (is_dense && have == dense) return holo_emit_reshape(t->e, x, sizes, rank);
    for (int i = 0; i < rank; i++) {
        HoloValue *along =
            OP2("Mul", holo_torch_range(t, holo_emit_int(t->e, sizes[i])), holo_emit_int(t->e, strides[i]));
        index = OP2("Add", holo_torch_unsqueeze(t, index, i), along);
    }
    return holo_torch_gather(t, holo_torch_flat(t, x), index, 0);
}

#define VIEW(n, p, f)                                              \
    {                                                              \
        .name = n, .params = p, .one = f, .flags = HOLO_TORCH_VIEW \
    }
#define SAME(n, p, f)                                                                \
    {                                                                                \
        .name = n, .params = p, .one = f, .flags = HOLO_TORCH_VIEW | HOLO_TORCH_SAME \
    }
#define PARTS(n, p, f)                                             \
    {                                                              \
        .name = n, .params = p, .any = f, .flags = HOLO_TORCH_VIEW \
    }
#define COPY(n, p, f)                    \
    {                                    \
        .name = n, .params = p, .one = f \
    }
#define COPIES(n, p, f)                  \
    {                                    \
        .name = n, .params = p, .any = f \
    }
const HoloTorchOp holo_torch_views[] = {
    SAME("view", "self size|dtype", view),
    SAME("reshape", "self shape|size", view),
    COPY("_unsafe_view", "self size", view),
    COPY("view_copy", "self size|dtype", view),
    SAME("_reshape_alias", "self size stride", view),
    COPY("_reshape_copy", "self size", view),
    SAME("view_as", "self other", view_as),
    SAME("reshape_as", "self other", view_as),
    SAME("flatten", "self start_dim end_dim", flatten),
    SAME("ravel", "self", flatten),
    SAME("unflatten", "self dim sizes", unflatten),
    VIEW("transpose", "self dim0 dim1", transpose),
    VIEW("swapaxes", "self axis0 axis1", transpose),
    VIEW("swapdims", "self dim0 dim1", transpose),
    COPY("transpose_copy", "self dim0 dim1", transpose),
    VIEW("t", "self", transpose_2d),
    COPY("t_copy", "self", transpose_2d),
    VIEW("numpy_T", "self", transpose_all),
    VIEW("mT", "self", transpose_last),
    VIEW("mH", "self", transpose_last),
    VIEW("adjoint", "self", transpose_last),
    VIEW("matrix_H", "self", transpose_last),
    VIEW("permute", "self dims", permute),
    COPY("permute_copy", "self dims", permute),
    VIEW("movedim", "self source destination", movedim),
    VIEW("moveaxis", "self source destination", movedim),
    SAME("unsqueeze", "self dim", unsqueeze),
    COPY("unsqueeze_copy", "self dim", unsqueeze),
    SAME("squeeze", "self dim", squeeze),
    COPY("squeeze_copy", "self dim", squeeze),
    VIEW("expand", "self size implicit", expand),
    COPY("expand_copy", "self size implicit", expand),
    VIEW("broadcast_to", "self size", expand),
    VIEW("expand_as", "self other", expand_as),
    VIEW("slice", "self dim start end step", slice),
    COPY("slice_copy", "self dim start end step", slice),
    VIEW("narrow", "self dim start length", narrow),
    COPY("narrow_copy", "self dim start length", narrow),
    VIEW("select", "self dim index", select),
    COPY("select_copy", "self dim index", select),
    PARTS("split", "self split_size|split_sizes dim", split),
    PARTS("split_with_sizes", "self split_sizes dim", split),
    COPIES("unsafe_split", "self split_size dim", split),
    COPIES("unsafe_split_with_sizes", "self split_sizes dim", split),
    COPIES("split_copy", "self split_size dim", split),
    COPIES("split_with_sizes_copy", "self split_sizes dim", split),
    PARTS("chunk", "self chunks dim", chunk),
    COPIES("unsafe_chunk", "self chunks dim", chunk),
    PARTS("tensor_split", "self sections|indices|tensor_indices_or_sections dim", tensor_split),
    PARTS("unbind", "self dim", unbind),
    COPIES("unbind_copy", "self dim", unbind),
    VIEW("diagonal", "self offset dim1 dim2", diagonal),
    COPY("diagonal_copy", "self offset dim1 dim2", diagonal),
    VIEW("unfold", "self dimension size step", unfold),
    COPY("unfold_copy", "self dimension size step", unfold),
    VIEW("as_strided", "self size stride storage_offset", as_strided),
    COPY("as_strided_copy", "self size stride storage_offset", as_strided),
    {0},
};
