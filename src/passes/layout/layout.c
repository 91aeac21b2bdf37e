// layout.c - stores channels last in convolutions and in everything between them.
//
// A convolution with channels last is a matrix product of pixels and filters: it reads and writes whole rows. Each Conv
// with constant filters becomes Conv of domain hologram, and operators that do the same in either order follow their
// inputs. The old node becomes a Transpose back, which is removed if nobody needs it. Operators without a rule keep
// their order.
#include "passes/layout/layout.h"
#include "ops/hologram/formula.h"
#include "passes/build.h"

#include <string.h>

// ---- dimensions

int holo_layout_before(int rank, int d)
{
    return d == 0 ? 0 : d == rank - 1 ? 1 : d + 1;
}

// The index of dimension d when channels are last.
static int after(int rank, int d)
{
    return d == 0 ? 0 : d == 1 ? rank - 1 : d - 1;
}

bool holo_layout_is_image(const HoloLayout *l, const HoloValue *value)
{
    return value && value->type.kind == HOLO_TENSOR && l->target->image_types >> value->type.dtype & 1 &&
           value->type.rank >= 3 && value->type.rank <= 5;
}

static HoloTensor type_last(const HoloTensor *t)
{
    HoloTensor out = *t;
    for (int d = 0; d < t->rank; d++) out.dim[d] = t->dim[holo_layout_before(t->rank, d)];
    out.data = NULL;
    return out;
}

// ---- new values and nodes

static bool note(HoloLayout *l, const HoloValue *value, HoloValue *last, bool is_native)
{
    if (value->id >= l->room) return true; // this pass made it: nobody asks for its other form
    l->last[value->id]      = last;
    l->is_native[value->id] = is_native;
    return true;
}

// Turns `node`, which has room for one input and one output, into a Transpose of `from`.
static bool become_transpose(HoloLayout *l, HoloNode *node, HoloValue *from, bool to_last)
{
    int     rank = from->type.rank;
    int64_t perm[HOLO_MAX_RANK];
    for (int d = 0; d < rank; d++) perm[d] = to_last ? holo_layout_before(rank, d) : after(rank, d);
    HoloAttr *attr = HOLO_NEW(l->graph->arena, HoloAttr, 1);
    if (!attr || !holo_build_list(l->graph, "perm", rank, perm, attr)) return false;
    holo_node_become(node, HOLO_ID_Transpose, 13);
    node->in[0]      = from;
    node->in_count   = 1;
    node->attr       = attr;
    node->attr_count = 1;
    return true;
}

// A constant with its elements in the order of channels last.
static HoloValue *constant_last(HoloLayout *l, const HoloValue *value, const HoloTensor *t)
{
    HoloTensor out = type_last(t);
    int64_t    from[HOLO_MAX_RANK], plain[HOLO_MAX_RANK], to[HOLO_MAX_RANK];
    out.data = holo_arena_take(l->graph->arena, holo_tensor_bytes(&out) + 1);
    if (!out.data) return NULL;
    holo_strides(t->rank, t->dim, plain);
    holo_strides(out.rank, out.dim, to);
    for (int d = 0; d < out.rank; d++) from[d] = plain[holo_layout_before(out.rank, d)];
    holo_move(out.rank, out.dim, holo_dtype_size((HoloDtype)out.dtype), out.data, to, t->data, from);
    return holo_graph_constant(l->graph, value->name, &out);
}

HoloValue *holo_layout_last(HoloLayout *l, HoloValue *value)
{
    if (value->id < l->room && l->last[value->id]) return l->last[value->id];
    HoloValue *last = NULL;
    if (value->is_constant && value->type.data) {
        last = constant_last(l, value, &value->type);
    } else {
        HoloNode *node = holo_graph_op(l->graph, value->name, HOLO_ID_Transpose, 13, 1, 1, 0);
        last           = holo_graph_value(l->graph, value->name);
        if (!node || !last || !become_transpose(l, node, value, true)) return NULL;
        last->type = type_last(&value->type);
        holo_node_set_out(node, 0, last);
    }
    if (last) note(l, value, last, false);
    return last;
}

bool holo_layout_replace(HoloLayout *l, HoloNode *node, HoloValue *const *in, int in_count, const HoloAttr *attr,
                         int attr_count)
{
    HoloValue *first = node->out[0], *last = holo_graph_value(l->graph, first->name);
    HoloNode  *copy =
        holo_graph_node(l->graph, node->name, node->domain, node->type, node->version, in_count, 1, attr_count);
    if (!last || !copy) return false;
    memcpy(copy->in, in, (size_t)in_count * sizeof *in);
    if (attr_count) memcpy(copy->attr, attr, (size_t)attr_count * sizeof *attr);
    copy->op   = holo_op_find(node->domain, node->type, node->version);
    last->type = type_last(&first->type);
    holo_node_set_out(copy, 0, last);
    l->changes++;
    return become_transpose(l, node, last, false) && note(l, first, last, true);
}

// ---- rules: true: there is nothing to do, or it is done; false: no memory

bool holo_layout_is_last(const HoloLayout *l, const HoloValue *value)
{
    return value && value->id < l->room && l->is_native[value->id];
}

// The attribute `axis`, counted from the front; -1: it is not there or not valid.
static int axis_of(const HoloNode *node, int rank)
{
    const HoloAttr *attr = holo_node_attr(node, "axis");
    if (!attr || attr->kind != HOLO_ATTR_INT) return -1;
    int64_t axis = attr->i < 0 ? attr->i + rank : attr->i;
    return axis < rank ? (int)axis : -1;
}

// Can it be an operand of a pointwise operator? It has the same rank, or is a constant of fewer dimensions, or has one
// element.
static bool operand_fits(const HoloValue *value, int rank)
{
    if (!value) return true;
    if (value->type.kind != HOLO_TENSOR || value->type.dtype != HOLO_F32) return false;
    if (value->type.rank == rank) return true;
    return value->type.rank < rank &&
           (holo_tensor_count(&value->type) == 1 || (value->is_constant && value->type.data));
}

// An operand of at most `rank` dimensions whose first dimension is `axis` of the other operand.
static HoloValue *operand_at(HoloLayout *l, HoloValue *value, int rank, int axis)
{
    if (!value || value->type.rank == rank) return value ? holo_layout_last(l, value) : NULL;
    if (holo_tensor_count(&value->type) == 1) return value;
    HoloTensor t = value->type;
    for (int d = rank - 1; d >= 0; d--) {
        int at   = d - axis;
        t.dim[d] = at < 0 || at >= value->type.rank ? 1 : value->type.dim[at];
    }
    t.rank = (int8_t)rank;
    return constant_last(l, value, &t);
}

HoloValue *holo_layout_operand(HoloLayout *l, HoloValue *value, int rank)
{
    return operand_at(l, value, rank, value ? rank - value->type.rank : 0);
}

// Before opset 7 the node may name an axis where the second operand begins, and the slope of PRelu begins at the
// channels. -1: broadcasting works as today.
static int old_axis(const HoloNode *node, int rank)
{
    const HoloAttr *broadcast = holo_node_attr(node, "broadcast");
    if (node->version >= 7 || *node->domain || node->in_count != 2 || !node->in[1]) return -1;
    if (HOLO_IS(node, PRelu)) return node->in[1]->type.rank == 1 ? 1 : -1;
    return broadcast && broadcast->kind == HOLO_ATTR_INT && broadcast->i ? axis_of(node, rank) : -1;
}

static bool pointwise(HoloLayout *l, HoloNode *node)
{
    HoloValue *in[HOLO_MAP_INPUTS];
    bool       any  = false;
    int        rank = node->out[0]->type.rank;
    if (node->in_count > HOLO_MAP_INPUTS) return true;
    for (int i = 0; i < node->in_count; i++) {
        if (!operand_fits(node->in[i], rank)) return true;
        any = any || holo_layout_is_last(l, node->in[i]);
    }
    if (!any) return true;
    int axis = old_axis(node, rank);
    for (int i = 0; i < node->in_count; i++) {
        in[i] =
            i == 1 && axis >= 0 ? operand_at(l, node->in[i], rank, axis) : holo_layout_operand(l, node->in[i], rank);
        if (node->in[i] && !in[i]) return false;
    }
    if (axis < 0) return holo_layout_replace(l, node, in, node->in_count, node->attr, node->attr_count);
    node->version = 7;
    return holo_layout_replace(l, node, in, 2, NULL, 0);
}

HoloAttr *holo_layout_with_attr(HoloLayout *l, const HoloNode *node, const HoloAttr *other)
{
    HoloAttr *attr = HOLO_NEW(l->scratch, HoloAttr, node->attr_count);
    for (int i = 0; attr && i < node->attr_count; i++)
        attr[i] = strcmp(node->attr[i].name, other->name) ? node->attr[i] : *other;
    return attr;
}

// Done if more inputs have channels last than would have to be transposed. Transposing constants costs nothing.
static bool concat(HoloLayout *l, HoloNode *node)
{
    int rank = node->out[0]->type.rank, axis = axis_of(node, rank), turned = 0, native = 0;
    if (axis < 0) return true;
    for (int i = 0; i < node->in_count; i++) {
        if (!holo_layout_is_image(l, node->in[i]) || node->in[i]->type.rank != rank) return true;
        native += holo_layout_is_last(l, node->in[i]);
        turned += !holo_layout_is_last(l, node->in[i]) && !(node->in[i]->is_constant && node->in[i]->type.data);
    }
    if (native <= turned) return true;
    HoloValue **in   = HOLO_NEW(l->scratch, HoloValue *, node->in_count);
    HoloAttr    attr = {.name = "axis", .kind = HOLO_ATTR_INT, .count = 1, .i = after(rank, axis)};
    for (int i = 0; in && i < node->in_count; i++)
        if (!(in[i] = holo_layout_last(l, node->in[i]))) return false;
    return in && holo_layout_replace(l, node, in, node->in_count, &attr, 1);
}

// Removes the node: `copy` gives its outputs, and each output with channels is transposed back.
static bool outputs_transpose(HoloLayout *l, HoloNode *node, HoloNode *copy)
{
    for (int i = 0; i < node->out_count; i++) {
        HoloValue *first = node->out[i], *last = first;
        if (!first) continue;
        if (first->type.rank > 0) {
            HoloNode *back = holo_graph_op(l->graph, node->name, HOLO_ID_Transpose, 13, 1, 1, 0);
            last           = holo_graph_value(l->graph, first->name);
            if (!last || !back) return false;
            last->type = type_last(&first->type);
            if (!become_transpose(l, back, last, false)) return false;
            holo_node_set_out(back, 0, first);
            note(l, first, last, true);
        }
        holo_node_set_out(copy, i, last);
        node->out[i] = NULL;
    }
    l->changes++;
    return true;
}

static bool split(HoloLayout *l, HoloNode *node)
{
    int rank = node->in[0]->type.rank, axis = axis_of(node, rank);
    if (!holo_layout_is_last(l, node->in[0]) || axis < 0) return true;
    HoloAttr   cut  = {.name = "axis", .kind = HOLO_ATTR_INT, .count = 1, .i = after(rank, axis)};
    HoloAttr  *attr = holo_layout_with_attr(l, node, &cut);
    HoloValue *x    = holo_layout_last(l, node->in[0]);
    HoloNode  *copy = holo_graph_node_like(l->graph, node->name, node);
    if (!attr || !x || !copy) return false;
    memcpy(copy->in, node->in, (size_t)node->in_count * sizeof *copy->in);
    memcpy(copy->attr, attr, (size_t)node->attr_count * sizeof *attr);
    copy->in[0] = x;
    return outputs_transpose(l, node, copy);
}

// The largest and the smallest number are the same in any order.
static bool dynamic_quantize(HoloLayout *l, HoloNode *node)
{
    if (!holo_layout_is_last(l, node->in[0])) return true;
    HoloValue *x    = holo_layout_last(l, node->in[0]);
    HoloNode  *copy = holo_graph_node(l->graph, node->name, "", node->type, node->version, 1, node->out_count, 0);
    if (!x || !copy) return false;
    copy->in[0] = x;
    copy->op    = node->op;
    return outputs_transpose(l, node, copy);
}

// A constant list of axes, renumbered for channels last. NULL: it is not a constant list, or no memory.
static HoloValue *axes_last(HoloLayout *l, const HoloValue *list, int rank)
{
    const HoloTensor *t = list ? &list->type : NULL;
    if (!t || !list->is_constant || !t->data || t->dtype != HOLO_I64 || t->rank != 1 || t->dim[0] > rank) return NULL;
    int64_t *axes = HOLO_NEW(l->graph->arena, int64_t, t->dim[0]);
    for (int64_t i = 0; axes && i < t->dim[0]; i++) {
        int64_t axis = ((const int64_t *)t->data)[i];
        if (axis < -rank || axis >= rank) return NULL;
        axes[i] = after(rank, (int)(axis < 0 ? axis + rank : axis));
    }
    HoloTensor out = *t;
    out.data       = axes;
    return axes ? holo_graph_constant(l->graph, list->name, &out) : NULL;
}

// With axes as constant inputs, as since opset 10.
static bool slice(HoloLayout *l, HoloNode *node)
{
    HoloValue *in[5] = {NULL};
    if (!holo_layout_is_last(l, node->in[0]) || node->version < 10 || node->in_count < 4 || node->in_count > 5)
        return true;
    memcpy(in, node->in, (size_t)node->in_count * sizeof *in);
    if (!(in[3] = axes_last(l, node->in[3], node->in[0]->type.rank))) return true;
    in[0] = holo_layout_last(l, node->in[0]);
    return in[0] && holo_layout_replace(l, node, in, node->in_count, NULL, 0);
}

// Removes a border: left, top, right and bottom.
static bool crop(HoloLayout *l, HoloNode *node)
{
    const HoloAttr *border = holo_node_attr(node, "border");
    HoloTensor      list   = {.dtype = HOLO_I64, .rank = 1, .dim = {2}};
    HoloValue      *in[4]  = {NULL};
    if (!holo_layout_is_last(l, node->in[0]) || node->in[0]->type.rank != 4 || holo_node_attr(node, "scale") ||
        !border || border->kind != HOLO_ATTR_INTS || border->count != 4)
        return true;
    for (int d = 2; d < 4; d++)
        if (holo_dim_is_symbolic(node->out[0]->type.dim[d])) return true;
    const HoloTensor *y      = &node->out[0]->type;
    const int64_t     from[] = {border->ints[1], border->ints[0]}, axes[] = {1, 2};
    const int64_t     ends[] = {from[0] + y->dim[2], from[1] + y->dim[3]}, *lists[] = {from, ends, axes};
    for (int i = 0; i < HOLO_COUNT(lists); i++) {
        int64_t *copy = HOLO_NEW(l->graph->arena, int64_t, 2);
        if (!copy) return false;
        memcpy(copy, lists[i], 2 * sizeof *copy);
        list.data = copy;
        if (!(in[1 + i] = holo_graph_constant(l->graph, node->name, &list))) return false;
    }
    in[0] = holo_layout_last(l, node->in[0]);
    holo_node_become(node, HOLO_ID_Slice, 13);
    return in[0] && holo_layout_replace(l, node, in, 4, NULL, 0);
}

// All begins, then all ends, in the order of dimensions with channels last.
static void pads_last(const int64_t *pads, int rank, int64_t *out)
{
    for (int d = 0; d < 2 * rank; d++) out[d] = pads[d / rank * rank + holo_layout_before(rank, d % rank)];
}

// Pads are an attribute, as before opset 11.
static bool pad_old(HoloLayout *l, HoloNode *node)
{
    const HoloAttr *pads = holo_node_attr(node, "pads");
    int             rank = node->in[0]->type.rank;
    int64_t         list[2 * HOLO_MAX_RANK];
    HoloAttr        moved, *attr;
    if (!holo_layout_is_last(l, node->in[0]) || !pads || pads->kind != HOLO_ATTR_INTS || pads->count != 2 * rank)
        return true;
    pads_last(pads->ints, rank, list);
    if (!holo_build_list(l->graph, "pads", 2 * rank, list, &moved) || !(attr = holo_layout_with_attr(l, node, &moved)))
        return false;
    HoloValue *in[1] = {holo_layout_last(l, node->in[0])};
    return in[0] && holo_layout_replace(l, node, in, 1, attr, node->attr_count);
}

// Pads are constants.
static bool pad(HoloLayout *l, HoloNode *node)
{
    if (node->version < 11) return pad_old(l, node);
    int              rank  = node->in[0]->type.rank;
    const HoloValue *pads  = node->in_count > 1 ? node->in[1] : NULL;
    HoloValue       *in[3] = {NULL};
    if (!holo_layout_is_last(l, node->in[0]) || node->in_count > 3 || !pads || !pads->is_constant || !pads->type.data ||
        pads->type.dtype != HOLO_I64 || pads->type.rank != 1 || pads->type.dim[0] != 2 * rank)
        return true;
    HoloTensor t    = pads->type;
    int64_t   *list = HOLO_NEW(l->graph->arena, int64_t, 2 * rank);
    if (list) pads_last(t.data, rank, list);
    t.data = list;
    memcpy(in, node->in, (size_t)node->in_count * sizeof *in);
    in[0] = holo_layout_last(l, node->in[0]);
    in[1] = list ? holo_graph_constant(l->graph, pads->name, &t) : NULL;
    return in[0] && in[1] && holo_layout_replace(l, node, in, node->in_count, node->attr, node->attr_count);
}

// The form with a scale and bias for each channel.
static bool group_norm(HoloLayout *l, HoloNode *node)
{
    if (!holo_layout_is_last(l, node->in[0]) || node->version < 21 || node->in_count != 3) return true;
    HoloValue *in[3] = {holo_layout_last(l, node->in[0]), node->in[1], node->in[2]};
    holo_node_become(node, HOLO_ID_HOLOGRAM_GroupNormalization, 1);
    return in[0] && holo_layout_replace(l, node, in, 3, node->attr, node->attr_count);
}

// Each channel is a group.
static bool instance_norm(HoloLayout *l, HoloNode *node)
{
    const HoloAttr *epsilon  = holo_node_attr(node, "epsilon");
    HoloDim         channels = node->in[0]->type.dim[1];
    if (!holo_layout_is_last(l, node->in[0]) || node->version < 6 || node->in_count != 3 ||
        holo_dim_is_symbolic(channels))
        return true;
    HoloAttr   attr[2] = {{.name = "num_groups", .kind = HOLO_ATTR_INT, .count = 1, .i = channels}};
    HoloValue *in[3]   = {holo_layout_last(l, node->in[0]), node->in[1], node->in[2]};
    int        count   = 1;
    if (epsilon) attr[count++] = *epsilon;
    holo_node_become(node, HOLO_ID_HOLOGRAM_GroupNormalization, 1);
    return in[0] && holo_layout_replace(l, node, in, 3, attr, count);
}

// Over one axis, as since opset 13.
static bool softmax(HoloLayout *l, HoloNode *node)
{
    const HoloAttr *old  = holo_node_attr(node, "axis");
    int             rank = node->out[0]->type.rank;
    int64_t         axis = old && old->kind == HOLO_ATTR_INT ? old->i : -1;
    if (axis < 0) axis += rank;
    if (!holo_layout_is_last(l, node->in[0]) || node->version < 13 || axis < 0 || axis >= rank) return true;
    HoloAttr   attr  = {.name = "axis", .kind = HOLO_ATTR_INT, .count = 1, .i = after(rank, (int)axis)};
    HoloValue *in[1] = {holo_layout_last(l, node->in[0])};
    return in[0] && holo_layout_replace(l, node, in, 1, &attr, 1);
}

// A cast to a narrow type and back rounds each element in place.
static bool cast(HoloLayout *l, HoloNode *node)
{
    const HoloNode *narrow = node->in[0]->producer;
    if (!narrow || !narrow->op || !HOLO_IS(narrow, Cast) || !holo_layout_is_last(l, narrow->in[0])) return true;
    HoloNode  *copy  = holo_graph_node_like(l->graph, narrow->name, narrow);
    HoloValue *in[1] = {holo_graph_value(l->graph, narrow->out[0]->name)}, *x = holo_layout_last(l, narrow->in[0]);
    if (!copy || !in[0] || !x) return false;
    copy->in[0] = x;
    in[0]->type = type_last(&narrow->out[0]->type);
    holo_node_set_out(copy, 0, in[0]);
    return holo_layout_replace(l, node, in, 1, node->attr, node->attr_count);
}

// The mean over all pixels is a mean over the middle dimensions.
static bool global_average(HoloLayout *l, HoloNode *node)
{
    if (!holo_layout_is_last(l, node->in[0])) return true;
    int        rank = node->in[0]->type.rank;
    int64_t    axes[HOLO_MAX_RANK];
    HoloAttr   attr;
    HoloValue *in[1] = {holo_layout_last(l, node->in[0])};
    for (int d = 1; d < rank - 1; d++) axes[d - 1] = d;
    if (!in[0] || !holo_build_list(l->graph, "axes", rank - 2, axes, &attr)) return false;
    holo_node_become(node, HOLO_ID_ReduceMean, 13);
    return holo_layout_replace(l, node, in, 1, &attr, 1);
}

// ReduceMean over the pixels that keeps its dimensions, with axes as an attribute or a constant.
static bool reduce(HoloLayout *l, HoloNode *node)
{
    const HoloAttr  *attr = holo_node_attr(node, "axes"), *keep = holo_node_attr(node, "keepdims");
    const HoloValue *given = node->in_count > 1 ? node->in[1] : NULL;
    int              rank = node->in[0]->type.rank, count = 0;
    const int64_t   *axes = NULL;
    if (!holo_layout_is_last(l, node->in[0]) || (keep && keep->i != 1)) return true;
    if (attr && attr->kind == HOLO_ATTR_INTS) axes = attr->ints, count = attr->count;
    if (given && given->is_constant && given->type.dtype == HOLO_I64 && given->type.data)
        axes = given->type.data, count = (int)holo_tensor_count(&given->type);
    if (count != rank - 2) return true;
    bool is[HOLO_MAX_RANK] = {false};
    for (int i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 2 || axis >= rank || is[axis]) return true;
        is[axis] = true;
    }
    return global_average(l, node);
}

// What a model itself has transposed from channels last had them last before. (With three dimensions that may be any
// matrix.)
static bool transposed(HoloLayout *l, HoloNode *node)
{
    const HoloAttr *perm = holo_node_attr(node, "perm");
    int             rank = node->in[0]->type.rank;
    if (rank < 4 || !perm || perm->kind != HOLO_ATTR_INTS || perm->count != rank || node->in[0]->is_constant)
        return true;
    for (int d = 0; d < rank; d++)
        if (perm->ints[d] != after(rank, d)) return true;
    return holo_layout_is_last(l, node->out[0]) || note(l, node->out[0], node->in[0], true);
}

static const HoloLayoutRule rules[] = {
    {HOLO_ID_Transpose, transposed},
    {HOLO_ID_Concat, concat},
    {HOLO_ID_Split, split},
    {HOLO_ID_Slice, slice},
    {HOLO_ID_Crop, crop},
    {HOLO_ID_Pad, pad},
    {HOLO_ID_GroupNormalization, group_norm},
    {HOLO_ID_InstanceNormalization, instance_norm},
    {HOLO_ID_Softmax, softmax},
    {HOLO_ID_LogSoftmax, softmax},
    {HOLO_ID_GlobalAveragePool, global_average},
    {HOLO_ID_ReduceMean, reduce},
    {HOLO_ID_Cast, cast},
    {HOLO_ID_DynamicQuantizeLinear, dynamic_quantize},
    {0},
};

const HoloLayoutRule *const holo_layout_rules[] = {holo_layout_conv, holo_layout_i8, holo_layout_resize, rules, NULL};

static bool apply(HoloLayout *l, HoloNode *node)
{
    l->target = holo_targets_pick(l->targets, node);
    if (!node->op || !node->in_count || !node->out_count || !holo_layout_is_image(l, node->out[0]) || !node->in[0])
        return true;
    for (int i = 0; holo_layout_rules[i]; i++)
        for (const HoloLayoutRule *rule = holo_layout_rules[i]; rule->id; rule++)
            if (rule->id == node->op_id) return rule->apply(l, node);
    bool has_formula = holo_formula_has(node->domain, node->type) && node->out_count == 1;
    return !has_formula || pointwise(l, node);
}

HoloStatus holo_pass_layout(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloLayout l = {
        .graph     = graph,
        .scratch   = scratch,
        .last      = HOLO_NEW(scratch, HoloValue *, graph->value_count),
        .is_native = HOLO_NEW(scratch, bool, graph->value_count),
        .room      = graph->value_count,
        .targets   = changes->targets,
        .error     = error,
    };
    if (!l.last || !l.is_native) return holo_fail_memory(error);
    int count = graph->node_count;
    for (int i = 0; i < count && changes->count + l.changes < changes->limit; i++)
        if (!apply(&l, graph->nodes[i])) return holo_fail_memory(error);
    if (!l.changes) return HOLO_OK;
    changes->count += l.changes;
    HOLO_TRY(holo_graph_sort(graph, error));
    return holo_graph_drop_dead(graph, scratch) < 0 ? holo_fail_memory(error) : HOLO_OK;
}
