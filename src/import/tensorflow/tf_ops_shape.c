// tf_ops_shape.c - slices, padding, and blocks of space: TensorFlow's operators that depend on several sizes.
#include "import/import_window.h"
#include "import/tensorflow/tf_ops.h"

// ---- Slice

static void slice(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *begin = holo_flow_vector(c, holo_flow_in(c, 1)),
              *sizes = holo_flow_vector(c, holo_flow_in(c, 2));
    int     rank = holo_flow_rank(c, x), n = 0, m = 0;
    int64_t from[HOLO_MAX_RANK], length[HOLO_MAX_RANK], axes[HOLO_MAX_RANK];
    if (e->status) return;
    for (int i = 0; i < rank; i++) axes[i] = i;
    HoloValue *end;
    if (holo_emit_known_ints(e, begin, from, HOLO_MAX_RANK, &n) &&
        holo_emit_known_ints(e, sizes, length, HOLO_MAX_RANK, &m) && n == rank && m == rank) {
        for (int i = 0; i < rank; i++) length[i] = length[i] < 0 ? INT64_MAX : from[i] + length[i];
        end = holo_emit_ints(e, length, rank);
    } else { // a size of -1 is all that is left
        HoloValue *all = holo_emit(e, "Less", HOLO_IN(sizes, holo_emit_int(e, 0)), NULL);
        end            = holo_emit(e, "Where",
                                   HOLO_IN(all, holo_emit_int(e, INT64_MAX), holo_emit(e, "Add", HOLO_IN(begin, sizes), NULL)),
                                   NULL);
    }
    holo_flow_out(c, 0, holo_emit(e, "Slice", HOLO_IN(x, begin, end, holo_emit_ints(e, axes, rank)), NULL));
}

// ---- StridedSlice

typedef struct Strided {
    HoloFlowCall *c;
    int           count; // entries of begin, end and strides
    bool          begin_known, end_known;
    int64_t       begin[2 * HOLO_MAX_RANK], end[2 * HOLO_MAX_RANK], stride[2 * HOLO_MAX_RANK];
    int64_t       begin_mask, end_mask, shrink, new_axis, ellipsis;
    // What comes out: the slice of each axis, axes that go, axes that come.
    int        axis_count, shrink_count, new_count;
    int64_t    axis[HOLO_MAX_RANK], step[HOLO_MAX_RANK];
    HoloValue *from[HOLO_MAX_RANK], *to[HOLO_MAX_RANK];
    int64_t    shrink_axis[HOLO_MAX_RANK];
    HoloValue *shrink_at[HOLO_MAX_RANK];
    int64_t    new_at[2 * HOLO_MAX_RANK];
} Strided;

// Entry i of begin or end, as a vector of one number.
static HoloValue *entry(Strided *s, int input, int i, bool is_known, const int64_t *known)
{
    HoloEmit *e = s->c->e;
    if (is_known) return holo_emit_ints(e, &known[i], 1);
    return holo_emit_slice(e, holo_flow_vector(s->c, holo_flow_in(s->c, input)), 0, i, i + 1, 1);
}

static void take_entry(Strided *s, int i, int axis)
{
    HoloEmit *e    = s->c->e;
    int64_t   zero = 0;
    if (s->shrink >> i & 1) {
        HoloValue *at                   = entry(s, 1, i, s->begin_known, s->begin);
        s->shrink_axis[s->shrink_count] = axis;
        s->shrink_at[s->shrink_count++] = holo_emit_squeeze(e, at, &zero, 1);
        return;
    }
    bool    down = s->stride[i] < 0, from_edge = s->begin_mask >> i & 1, to_edge = s->end_mask >> i & 1;
    int64_t first = down ? INT64_MAX : 0, last = down ? INT64_MIN : INT64_MAX;
    if (from_edge && to_edge && s->stride[i] == 1) return;
    s->axis[s->axis_count] = axis;
    s->step[s->axis_count] = s->stride[i];
    s->from[s->axis_count] = from_edge ? holo_emit_ints(e, &first, 1) : entry(s, 1, i, s->begin_known, s->begin);
    s->to[s->axis_count++] = to_edge ? holo_emit_ints(e, &last, 1) : entry(s, 2, i, s->end_known, s->end);
}

// Walks over the entries. Returns false if there are more than the input has dimensions.
static bool read_entries(Strided *s, int rank)
{
    int  used = 0, axis = 0, place = 0;
    bool is_in_front = true;
    for (int i = 0; i < s->count; i++)
        if (!(s->new_axis >> i & 1) && !(s->ellipsis >> i & 1)) used++;
    for (int i = 0; i < s->count; i++) {
        if (s->ellipsis >> i & 1 && is_in_front) {
            axis += rank - used;
            place += rank - used;
            is_in_front = false;
        } else if (s->new_axis >> i & 1) {
            s->new_at[s->new_count++] = place++;
        } else {
            if (axis >= rank) return false;
            take_entry(s, i, axis++);
            if (!(s->shrink >> i & 1)) place++;
        }
    }
    return used <= rank;
}

static HoloValue *apply_strided(Strided *s, HoloValue *x)
{
    HoloEmit *e    = s->c->e;
    HoloAttr *by_0 = (HoloAttr *)HOLO_ATTRS(holo_with_int("axis", 0));
    if (s->axis_count) {
        HoloValue *from = holo_emit(e, "Concat", (HoloEmitIn){s->axis_count, s->from}, by_0);
        HoloValue *to   = holo_emit(e, "Concat", (HoloEmitIn){s->axis_count, s->to}, by_0);
        x               = holo_emit(
                          e, "Slice",
                          HOLO_IN(x, from, to, holo_emit_ints(e, s->axis, s->axis_count), holo_emit_ints(e, s->step, s->axis_count)),
                          NULL);
    }
    for (int i = s->shrink_count - 1; i >= 0; i--)
        x = holo_emit(e, "Gather", HOLO_IN(x, s->shrink_at[i]), HOLO_ATTRS(holo_with_int("axis", s->shrink_axis[i])));
    return holo_emit_unsqueeze(e, x, s->new_at, s->new_count);
}

static void strided_slice(HoloFlowCall *c)
{
    Strided    s    = {.c = c};
    HoloValue *x    = holo_flow_in(c, 0);
    int        rank = holo_flow_rank(c, x), n = 0;
    s.count = holo_flow_known(c, 3, s.stride, 2 * HOLO_MAX_RANK);
    if (s.count < 0 || c->e->status) return;
    s.begin_known = holo_emit_known_ints(c->e, holo_flow_in(c, 1), s.begin, 2 * HOLO_MAX_RANK, &n) && n == s.count;
    s.end_known   = holo_emit_known_ints(c->e, holo_flow_in(c, 2), s.end, 2 * HOLO_MAX_RANK, &n) && n == s.count;
    s.begin_mask  = holo_flow_int(c, "begin_mask", 0);
    s.end_mask    = holo_flow_int(c, "end_mask", 0);
    s.shrink      = holo_flow_int(c, "shrink_axis_mask", 0);
    s.new_axis    = holo_flow_int(c, "new_axis_mask", 0);
    s.ellipsis    = holo_flow_int(c, "ellipsis_mask", 0);
    if (!read_entries(&s, rank)) {
        holo_flow_fail(c, HOLO_BAD_MODEL, "there are more slices than dimensions");
        return;
    }
    holo_flow_out(c, 0, apply_strided(&s, x));
}

// ---- padding

// [n, 2] to all beginnings, then all ends.
static HoloValue *pads_of(HoloFlowCall *c, HoloValue *pads)
{
    static const int64_t swap[2] = {1, 0}, flat = -1;
    pads = holo_emit_transpose(c->e, holo_emit_cast(c->e, pads, HOLO_I64), swap, 2);
    return holo_emit_reshape(c->e, pads, &flat, 1);
}

static void pad(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *pads = pads_of(c, holo_flow_in(c, 1));
    HoloValue *value = c->in_count > 2 ? holo_emit_cast(c->e, holo_flow_in(c, 2), holo_emit_dtype(x)) : NULL;
    holo_flow_out(c, 0,
                  value ? holo_emit(c->e, "Pad", HOLO_IN(x, pads, value), NULL)
                        : holo_emit(c->e, "Pad", HOLO_IN(x, pads), NULL));
}

// Mirrors with the edge itself: parts of the input, backwards.
static HoloValue *pad_symmetric(HoloFlowCall *c, HoloValue *x, const int64_t *pads, int rank)
{
    for (int i = 0; i < rank && !c->e->status; i++) {
        HoloValue *part[3] = {0};
        int        count   = 0;
        if (pads[2 * i]) part[count++] = holo_emit_slice(c->e, x, i, pads[2 * i] - 1, INT64_MIN, -1);
        part[count++] = x;
        if (pads[2 * i + 1]) part[count++] = holo_emit_slice(c->e, x, i, -1, -pads[2 * i + 1] - 1, -1);
        if (count > 1) x = holo_emit(c->e, "Concat", (HoloEmitIn){count, part}, HOLO_ATTRS(holo_with_int("axis", i)));
    }
    return x;
}

static void mirror_pad(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    int64_t    pads[2 * HOLO_MAX_RANK];
    if (holo_flow_is(holo_flow_string(c, "mode", "REFLECT"), "REFLECT")) {
        holo_flow_out(c, 0,
                      holo_emit(c->e, "Pad", HOLO_IN(x, pads_of(c, holo_flow_in(c, 1))),
                                HOLO_ATTRS(holo_with_text("mode", "reflect"))));
        return;
    }
    int count = holo_flow_known(c, 1, pads, 2 * HOLO_MAX_RANK);
    if (count >= 0) holo_flow_out(c, 0, pad_symmetric(c, x, pads, count / 2));
}

// ---- blocks of space

static void depth_to_space(HoloFlowCall *c)
{
    int64_t          block  = holo_flow_int(c, "block_size", 2);
    HoloString       format = holo_flow_string(c, "data_format", "NHWC");
    HoloImportWindow w      = holo_window(2);
    w.is_first              = format.size > 1 && format.data[1] == 'C';
    HoloValue *x            = holo_emit(c->e, c->op->onnx, HOLO_IN(holo_window_open(c->e, &w, holo_flow_in(c, 0))),
                                        HOLO_ATTRS(holo_with_int("blocksize", block)));
    holo_flow_out(c, 0, holo_window_close(c->e, &w, x));
}

typedef struct Blocks {
    int        count; // dimensions that are cut
    int64_t    block[4], edge[8];
    HoloValue *low, *high; // vectors of i64, if a run finds out what the edges are; else NULL
    HoloDims  *dims;
} Blocks;

static bool read_blocks(HoloFlowCall *c, Blocks *b)
{
    HoloValue *edges = holo_flow_in(c, 2);
    int        known = 0;
    b->count         = holo_flow_known(c, 1, b->block, 4);
    b->dims          = c->e->graph->dims;
    b->low = b->high = NULL;
    if (c->e->status) return false;
    if (!holo_emit_known_ints(c->e, edges, b->edge, 8, &known) && holo_flow_rank(c, edges) == 2) {
        int64_t one = 1;
        edges       = holo_emit_cast(c->e, edges, HOLO_I64);
        b->low      = holo_emit_squeeze(c->e, holo_emit_slice(c->e, edges, 1, 0, 1, 1), &one, 1);
        b->high     = holo_emit_squeeze(c->e, holo_emit_slice(c->e, edges, 1, 1, 2, 1), &one, 1);
    }
    if (b->count < 1 || (!b->low && known != 2 * b->count) || holo_flow_rank(c, holo_flow_in(c, 0)) < b->count + 1) {
        if (!c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "block sizes and edges do not fit the input");
        return false;
    }
    for (int i = 0; i < b->count; i++)
        if (b->block[i] < 1) {
            holo_flow_fail(c, HOLO_BAD_MODEL, "block sizes must be positive");
            return false;
        }
    return true;
}

// ---- the same with edges that a run finds out

static HoloValue *size_at(HoloFlowCall *c, HoloValue *x, int d)
{
    return holo_emit_slice(c->e, holo_emit_shape(c->e, x), 0, d, d + 1, 1);
}

static HoloValue *size_by(HoloFlowCall *c, const char *op, HoloValue *x, int d, int64_t number)
{
    return holo_emit(c->e, op, HOLO_IN(size_at(c, x, d), holo_emit_ints(c->e, &number, 1)), NULL);
}

static HoloValue *reshaped(HoloFlowCall *c, HoloValue *x, HoloValue **sizes, int count)
{
    HoloValue *shape = holo_emit(c->e, "Concat", (HoloEmitIn){count, sizes}, HOLO_ATTRS(holo_with_int("axis", 0)));
    return holo_emit(c->e, "Reshape", HOLO_IN(x, shape), NULL);
}

static HoloValue *padded_by(HoloFlowCall *c, const Blocks *b, HoloValue *x, int rank)
{
    int64_t    none[HOLO_MAX_RANK] = {0};
    HoloValue *zero = holo_emit_ints(c->e, none, 1), *rest = holo_emit_ints(c->e, none, rank - b->count - 1);
    HoloValue *part[] = {zero, b->low, rest, zero, b->high, rest};
    HoloValue *pads   = holo_emit(c->e, "Concat", (HoloEmitIn){6, part}, HOLO_ATTRS(holo_with_int("axis", 0)));
    return holo_emit(c->e, "Pad", HOLO_IN(x, pads), NULL);
}

static HoloValue *space_to_batch_open(HoloFlowCall *c, const Blocks *b, HoloValue *x, int rank)
{
    HoloValue *cut[2 * HOLO_MAX_RANK], *out[HOLO_MAX_RANK];
    int64_t    perm[2 * HOLO_MAX_RANK], product = 1;
    int        n = 0, m = 0;
    x        = padded_by(c, b, x, rank);
    cut[n++] = size_at(c, x, 0);
    for (int i = 0; i < b->count; i++) {
        cut[n++] = out[i + 1] = size_by(c, "Div", x, i + 1, b->block[i]);
        cut[n++]              = holo_emit_ints(c->e, &b->block[i], 1);
        perm[m++]             = 2 + 2 * i;
        product *= b->block[i];
    }
    for (int i = b->count + 1; i < rank; i++) cut[n++] = out[i] = size_at(c, x, i);
    out[0]    = size_by(c, "Mul", x, 0, product);
    perm[m++] = 0;
    for (int i = 0; i < b->count; i++) perm[m++] = 1 + 2 * i;
    for (int i = 2 * b->count + 1; i < n; i++) perm[m++] = i;
    return reshaped(c, holo_emit_transpose(c->e, reshaped(c, x, cut, n), perm, n), out, rank);
}

static HoloValue *batch_to_space_open(HoloFlowCall *c, const Blocks *b, HoloValue *x, int rank)
{
    HoloEmit  *e = c->e;
    HoloValue *cut[2 * HOLO_MAX_RANK], *out[HOLO_MAX_RANK];
    int64_t    perm[2 * HOLO_MAX_RANK], axes[HOLO_MAX_RANK], product = 1;
    int        n = 0, m = 0;
    for (int i = 0; i < b->count; i++) {
        product *= b->block[i];
        cut[n++] = holo_emit_ints(e, &b->block[i], 1);
    }
    cut[n++] = out[0] = size_by(c, "Div", x, 0, product);
    for (int i = 1; i < rank; i++) cut[n++] = size_at(c, x, i);
    perm[m++] = b->count;
    for (int i = 0; i < b->count; i++) {
        perm[m++]  = b->count + 1 + i;
        perm[m++]  = i;
        axes[i]    = i + 1;
        out[i + 1] = size_by(c, "Mul", x, i + 1, b->block[i]);
    }
    for (int i = b->count + 1; i < rank; i++) {
        perm[m++] = b->count + i;
        out[i]    = size_at(c, x, i);
    }
    x = reshaped(c, holo_emit_transpose(e, reshaped(c, x, cut, n), perm, n), out, rank);
    HoloValue *end =
        holo_emit(e, "Sub", HOLO_IN(holo_emit_slice(e, holo_emit_shape(e, x), 0, 1, b->count + 1, 1), b->high), NULL);
    return holo_emit(e, "Slice", HOLO_IN(x, b->low, end, holo_emit_ints(e, axes, b->count)), NULL);
}

static void space_to_batch(HoloFlowCall *c)
{
    Blocks     b;
    HoloValue *x    = holo_flow_in(c, 0);
    int        rank = holo_emit_rank(x), n = 0;
    int64_t    pads[2 * HOLO_MAX_RANK] = {0}, perm[2 * HOLO_MAX_RANK], product = 1;
    HoloDim    cut[2 * HOLO_MAX_RANK], out[HOLO_MAX_RANK];
    if (!read_blocks(c, &b) || rank + b.count > HOLO_MAX_RANK) return;
    if (b.low) return holo_flow_out(c, 0, space_to_batch_open(c, &b, x, rank));
    for (int i = 0; i < b.count; i++) {
        pads[i + 1]        = b.edge[2 * i];
        pads[rank + i + 1] = b.edge[2 * i + 1];
        product *= b.block[i];
    }
    x = holo_emit(c->e, "Pad", HOLO_IN(x, holo_emit_ints(c->e, pads, 2 * rank)), NULL);
    if (c->e->status) return;
    cut[n++] = x->type.dim[0];
    for (int i = 0; i < b.count; i++) {
        cut[n++] = holo_dim_div(b.dims, x->type.dim[i + 1], b.block[i]);
        cut[n++] = b.block[i];
    }
    for (int i = b.count + 1; i < rank; i++) cut[n++] = x->type.dim[i];
    int m = 0;
    for (int i = 0; i < b.count; i++) perm[m++] = 2 + 2 * i;
    perm[m++] = 0;
    for (int i = 0; i < b.count; i++) perm[m++] = 1 + 2 * i;
    for (int i = 2 * b.count + 1; i < n; i++) perm[m++] = i;
    out[0] = holo_dim_mul(b.dims, cut[0], product);
    for (int i = 1; i < rank; i++) out[i] = i <= b.count ? cut[2 * i - 1] : x->type.dim[i];
    x = holo_emit_transpose(c->e, holo_emit_reshape(c->e, x, cut, n), perm, n);
    holo_flow_out(c, 0, holo_emit_reshape(c->e, x, out, rank));
}

static void batch_to_space(HoloFlowCall *c)
{
    Blocks     b;
    HoloValue *x    = holo_flow_in(c, 0);
    int        rank = holo_emit_rank(x), n = 0, m = 0;
    int64_t    perm[2 * HOLO_MAX_RANK], product = 1;
    HoloDim    cut[2 * HOLO_MAX_RANK], out[HOLO_MAX_RANK];
    if (!read_blocks(c, &b) || rank + b.count > HOLO_MAX_RANK) return;
    if (b.low) return holo_flow_out(c, 0, batch_to_space_open(c, &b, x, rank));
    for (int i = 0; i < b.count; i++) product *= cut[n++] = b.block[i];
    cut[n++] = out[0] = holo_dim_div(b.dims, x->type.dim[0], product);
    for (int i = 1; i < rank; i++) cut[n++] = x->type.dim[i];
    perm[m++] = b.count;
    for (int i = 0; i < b.count; i++) {
        perm[m++]  = b.count + 1 + i;
        perm[m++]  = i;
        out[i + 1] = holo_dim_mul(b.dims, x->type.dim[i + 1], b.block[i]);
    }
    for (int i = b.count + 1; i < rank; i++) {
        perm[m++] = b.count + i;
        out[i]    = x->type.dim[i];
    }
    x = holo_emit_transpose(c->e, holo_emit_reshape(c->e, x, cut, n), perm, n);
    x = holo_emit_reshape(c->e, x, out, rank);
    for (int i = 0; i < b.count; i++)
        if (b.edge[2 * i] || b.edge[2 * i + 1])
            x = holo_emit_slice(c->e, x, i + 1, b.edge[2 * i], b.edge[2 * i + 1] ? -b.edge[2 * i + 1] : INT64_MAX, 1);
    holo_flow_out(c, 0, x);
}

// ---- matrices

static void band_part(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    int64_t    lower, upper;
    if (holo_flow_known(c, 1, &lower, 1) != 1 || holo_flow_known(c, 2, &upper, 1) != 1) return;
    if (lower >= 0)
        x = holo_emit(c->e, "Trilu", HOLO_IN(x, holo_emit_int(c->e, -lower)), HOLO_ATTRS(holo_with_int("upper", 1)));
    if (upper >= 0)
        x = holo_emit(c->e, "Trilu", HOLO_IN(x, holo_emit_int(c->e, upper)), HOLO_ATTRS(holo_with_int("upper", 0)));
    holo_flow_out(c, 0, x);
}

// Of all dimensions together: [2, 3] and [2, 3, 2, 3]. number: 1 takes the diagonal, 0 makes the tensor around it.
static void whole_diag(HoloFlowCall *c)
{
    HoloValue *x    = holo_flow_in(c, 0);
    int        rank = holo_flow_rank(c, x), half = c->op->number ? rank / 2 : rank;
    if (c->e->status) return;
    if (half < 1 || 2 * half > HOLO_MAX_RANK || (c->op->number && rank % 2))
        return holo_flow_fail(c, HOLO_BAD_MODEL, "%d dimensions have no diagonal", rank);
    HoloValue *shape = holo_emit_slice(c->e, holo_emit_shape(c->e, x), 0, 0, half, 1);
    HoloValue *n     = holo_emit(c->e, "ReduceProd", HOLO_IN(shape), NULL);
    HoloValue *in[]  = {holo_flow_two(c, "Reshape", x, c->op->number ? holo_flow_join(c, n, n) : n)};
    x                = holo_flow_as(c, c->op->number ? "MatrixDiagPart" : "MatrixDiag", in, 1);
    holo_flow_out(c, 0, holo_flow_two(c, "Reshape", x, c->op->number ? shape : holo_flow_join(c, shape, shape)));
}

// clang-format off
const HoloFlowOp holo_flow_ops_shape[] = {
    {"Slice", slice}, {"StridedSlice", strided_slice}, {"Pad", pad}, {"PadV2", pad}, {"MirrorPad", mirror_pad},
    {"DepthToSpace", depth_to_space, "DepthToSpace"}, {"SpaceToDepth", depth_to_space, "SpaceToDepth"},
    {"SpaceToBatchND", space_to_batch}, {"BatchToSpaceND", batch_to_space}, {"MatrixBandPart", band_part},
    {"BatchMatrixBandPart", band_part}, {"Diag", whole_diag}, {"DiagPart", whole_diag, NULL, 1},
    {0},
};
