// tf_ops_lists.c - lists of tensors: TensorList and TensorArray. A list is one tensor of all its elements.
//
// A TensorArray is a handle, and a flow that goes from one operation on it to the next: here the flow is the list.
#include "import/tensorflow/tf_ops.h"

static void give_list(HoloFlowCall *c, int i, HoloFlowList *list, HoloValue *elements)
{
    holo_flow_out_value(c, i, (HoloFlowValue){HOLO_FLOW_LIST, elements, list});
}

static HoloFlowList *new_list(HoloFlowCall *c, HoloValue *count, HoloDtype dtype)
{
    HoloFlowList *list = HOLO_NEW(c->tf->arena, HoloFlowList, 1);
    if (!list) {
        holo_flow_fail(c, HOLO_NO_MEMORY, "there is no memory");
        return NULL;
    }
    *list = (HoloFlowList){.count = count, .dtype = dtype, .shape = {.rank = -1}};
    return list;
}

// Input i, a list. NULL: it is none.
static HoloFlowList *list_in(HoloFlowCall *c, int i)
{
    if (i < c->in_count && c->in[i].kind == HOLO_FLOW_LIST && c->in[i].object) return c->in[i].object;
    if (!c->e->status) holo_flow_fail(c, HOLO_UNSUPPORTED, "input %d is not a list that is known here", i);
    return NULL;
}

static HoloValue *as_scalar(HoloFlowCall *c, HoloValue *x)
{
    x = holo_emit_cast(c->e, x, HOLO_I64);
    return holo_emit_rank(x) == 1 ? holo_emit_reshape(c->e, x, NULL, 0) : x;
}

// The shape of an element, as input i has it: numbers, -1 where it is open, or one -1 if nothing is known.
static void element_shape(HoloFlowCall *c, int i, HoloTensor *out)
{
    int64_t sizes[HOLO_MAX_RANK];
    int     count = 0;
    *out          = (HoloTensor){.rank = -1};
    if (i >= c->in_count || !holo_emit_known_ints(c->e, holo_flow_in(c, i), sizes, HOLO_MAX_RANK, &count)) return;
    if (holo_emit_rank(c->in[i].value) == 0) return;
    out->rank = (int8_t)count;
    for (int k = 0; k < count; k++) out->dim[k] = sizes[k] < 0 ? HOLO_DIM_UNKNOWN : sizes[k];
}

static bool is_whole(const HoloTensor *shape)
{
    for (int i = 0; i < shape->rank; i++)
        if (holo_dim_is_symbolic(shape->dim[i])) return false;
    return shape->rank >= 0;
}

// The elements of a list that nothing was put into: zeros, if their shape is known.
static HoloValue *elements_of(HoloFlowCall *c, int i)
{
    HoloFlowList *list = list_in(c, i);
    int64_t       zero = 0;
    if (!list || c->in[i].value) return list ? c->in[i].value : NULL;
    if (!is_whole(&list->shape)) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "a list is read before anything is put into it");
        return NULL;
    }
    HoloValue *count = list->count ? holo_flow_vector(c, list->count) : holo_emit_ints(c->e, &zero, 1);
    if (list->shape.rank) count = holo_flow_join(c, count, holo_emit_ints(c->e, list->shape.dim, list->shape.rank));
    return holo_flow_filled(c, count, holo_flow_zero(c, list->dtype));
}

// Does the value count 0, 1, 2 and so on?
static bool is_count(HoloFlowCall *c, const HoloValue *x)
{
    double start, step;
    while (x && x->producer && HOLO_IS(x->producer, Cast)) x = x->producer->in[0];
    if (!x || !x->producer || !HOLO_IS(x->producer, Range)) return false;
    return holo_emit_known_number(c->e, x->producer->in[0], &start) && start == 0 &&
           holo_emit_known_number(c->e, x->producer->in[2], &step) && step == 1;
}

// ---- operations that both kinds have

// A list of another length: cut off, or filled up with zeros. `size` is i64, [1].
static HoloValue *of_length(HoloFlowCall *c, HoloValue *all, HoloValue *size)
{
    HoloEmit *e    = c->e;
    int64_t   zero = 0;
    if (holo_flow_rank(c, all) < 1) return NULL;
    HoloValue *shape = holo_emit_shape(e, all), *none = holo_emit_ints(e, &zero, 1);
    HoloValue *kept = holo_emit(e, "Slice", HOLO_IN(all, none, size, none), NULL);
    HoloValue *more = holo_flow_two(c, "Sub", size, holo_emit_slice(e, shape, 0, 0, 1, 1));
    more            = holo_flow_two(c, "Max", more, none);
    if (holo_emit_rank(all) > 1) more = holo_flow_join(c, more, holo_emit_slice(e, shape, 0, 1, INT64_MAX, 1));
    return holo_flow_join(c, kept, holo_flow_filled(c, more, holo_flow_zero(c, holo_emit_dtype(all))));
}

// The list with room for an index.
static HoloValue *room_for(HoloFlowCall *c, HoloValue *all, HoloValue *index)
{
    HoloValue *least = holo_flow_two(c, "Add", holo_flow_vector(c, index), holo_emit_int(c->e, 1));
    HoloValue *now   = holo_emit_slice(c->e, holo_emit_shape(c->e, all), 0, 0, 1, 1);
    return of_length(c, all, holo_flow_two(c, "Max", now, least));
}

// grows: an index behind the end makes the list longer.
static HoloValue *set_item(HoloFlowCall *c, int list_at, HoloValue *index, HoloValue *item, bool grows)
{
    HoloEmit     *e    = c->e;
    HoloFlowList *list = list_in(c, list_at);
    HoloValue    *all  = list ? c->in[list_at].value : NULL;
    int64_t       zero = 0, ones[2] = {1, 1};
    if (!list || e->status) return NULL;
    if (!all) {
        HoloValue *shape = list->count ? holo_flow_vector(c, list->count) : NULL;
        if (!shape) { // it grows by this element
            return holo_emit_unsqueeze(e, item, &zero, 1);
        }
        if (holo_emit_rank(item) != 0) shape = holo_flow_join(c, shape, holo_emit_shape(e, item));
        all = holo_flow_filled(c, shape, holo_flow_zero(c, holo_emit_dtype(item)));
    }
    if (grows) all = room_for(c, all, index);
    index = holo_emit_reshape(e, holo_emit_cast(e, index, HOLO_I64), ones, 2);
    return holo_emit(e, "ScatterND", HOLO_IN(all, index, holo_emit_unsqueeze(e, item, &zero, 1)), NULL);
}

static HoloValue *get_item(HoloFlowCall *c, HoloValue *all, HoloValue *index)
{
    return holo_emit(c->e, "Gather", HOLO_IN(all, as_scalar(c, index)), HOLO_ATTRS(holo_with_int("axis", 0)));
}

static HoloValue *get_items(HoloFlowCall *c, HoloValue *all, HoloValue *indices)
{
    if (is_count(c, indices)) return all;
    return holo_emit(c->e, "Gather", HOLO_IN(all, holo_emit_cast(c->e, indices, HOLO_I64)), NULL);
}

static HoloValue *put_items(HoloFlowCall *c, HoloValue *count, HoloValue *items, HoloValue *indices)
{
    HoloEmit *e    = c->e;
    int64_t   last = -1;
    if (is_count(c, indices) || !count) return items;
    HoloValue *shape = holo_flow_vector(c, count);
    if (holo_flow_rank(c, items) > 1)
        shape = holo_flow_join(c, shape, holo_emit_slice(e, holo_emit_shape(e, items), 0, 1, INT64_MAX, 1));
    HoloValue *zeros = holo_flow_filled(c, shape, holo_flow_zero(c, holo_emit_dtype(items)));
    indices          = holo_emit_unsqueeze(e, holo_emit_cast(e, indices, HOLO_I64), &last, 1);
    return holo_emit(e, "ScatterND", HOLO_IN(zeros, indices, items), NULL);
}

static HoloValue *length(HoloFlowCall *c, int i)
{
    HoloFlowList *list = list_in(c, i);
    int64_t       zero = 0;
    if (!list) return NULL;
    if (!c->in[i].value)
        return list->count ? holo_emit_cast(c->e, list->count, HOLO_I32) : holo_emit_number(c->e, HOLO_I32, 0);
    HoloValue *n = holo_emit_slice(c->e, holo_emit_shape(c->e, c->in[i].value), 0, 0, 1, 1);
    return holo_emit_cast(c->e, holo_emit_squeeze(c->e, n, &zero, 1), HOLO_I32);
}

// Joins the first two dimensions.
static HoloValue *flatten(HoloFlowCall *c, HoloValue *all)
{
    HoloEmit *e    = c->e;
    int64_t   open = -1;
    if (holo_flow_rank(c, all) < 2) {
        if (!e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "elements without dimensions cannot be joined");
        return NULL;
    }
    HoloValue *rest = holo_emit_slice(e, holo_emit_shape(e, all), 0, 2, INT64_MAX, 1);
    return holo_emit(e, "Reshape", HOLO_IN(all, holo_flow_join(c, holo_emit_ints(e, &open, 1), rest)), NULL);
}

// ---- TensorList

static void reserve(HoloFlowCall *c)
{
    HoloFlowList *list = new_list(c, as_scalar(c, holo_flow_in(c, 1)), holo_flow_type(c, "element_dtype"));
    if (!list) return;
    element_shape(c, 0, &list->shape);
    give_list(c, 0, list, NULL);
}

static void empty_list(HoloFlowCall *c)
{
    HoloFlowList *list = new_list(c, NULL, holo_flow_type(c, "element_dtype"));
    if (!list) return;
    element_shape(c, 0, &list->shape);
    give_list(c, 0, list, NULL);
}

static void from_tensor(HoloFlowCall *c)
{
    HoloValue    *x    = holo_flow_in(c, 0);
    HoloFlowList *list = new_list(c, NULL, holo_emit_dtype(x));
    if (list) give_list(c, 0, list, x);
}

static void list_get(HoloFlowCall *c)
{
    holo_flow_out(c, 0, get_item(c, elements_of(c, 0), holo_flow_in(c, 1)));
}

static void list_set(HoloFlowCall *c)
{
    bool       grows = holo_flow_bool(c, "resize_if_index_out_of_bounds", false);
    HoloValue *all   = set_item(c, 0, holo_flow_in(c, 1), holo_flow_in(c, 2), grows);
    if (all) give_list(c, 0, list_in(c, 0), all);
}

static void list_stack(HoloFlowCall *c)
{
    HoloFlowList *list = list_in(c, 0);
    if (list && !is_whole(&list->shape)) element_shape(c, 1, &list->shape);
    holo_flow_out(c, 0, elements_of(c, 0));
}

static void list_gather(HoloFlowCall *c)
{
    holo_flow_out(c, 0, get_items(c, elements_of(c, 0), holo_flow_in(c, 1)));
}

// number: 1 if the length is an input.
static void list_scatter(HoloFlowCall *c)
{
    HoloEmit     *e     = c->e;
    HoloValue    *items = holo_flow_in(c, 0), *indices = holo_flow_in(c, 1), *count;
    int64_t       known = -1;
    int           n     = 0;
    HoloFlowList *list  = new_list(c, NULL, holo_emit_dtype(items));
    if (!list) return;
    if (c->op->number && !(holo_emit_known_ints(e, holo_flow_in(c, 3), &known, 1, &n) && known < 0)) {
        count = holo_flow_in(c, 3);
    } else { // as many as the largest index needs
        count = holo_emit(e, "ReduceMax", HOLO_IN(holo_emit_cast(e, indices, HOLO_I64)),
                          HOLO_ATTRS(holo_with_int("keepdims", 0)));
        count = holo_emit(e, "Add", HOLO_IN(count, holo_emit_int(e, 1)), NULL);
    }
    give_list(c, 0, list, put_items(c, count, items, indices));
}

static void list_resize(HoloFlowCall *c)
{
    HoloFlowList *list = list_in(c, 0), *other;
    HoloValue    *size = holo_flow_vector(c, holo_flow_in(c, 1));
    if (!list || !(other = new_list(c, NULL, list->dtype))) return;
    *other       = *list;
    other->count = as_scalar(c, holo_flow_in(c, 1));
    give_list(c, 0, other, c->in[0].value ? of_length(c, c->in[0].value, size) : NULL);
}

// Elements of the second list behind those of the first.
static void list_join(HoloFlowCall *c)
{
    HoloFlowList *list = list_in(c, 0), *second = list_in(c, 1);
    if (!list || !second) return;
    if (!c->in[0].value && !list->count) return give_list(c, 0, second, c->in[1].value);
    if (!c->in[1].value && !second->count) return give_list(c, 0, list, c->in[0].value);
    give_list(c, 0, list, holo_flow_join(c, elements_of(c, 0), elements_of(c, 1)));
}

static void list_element_shape(HoloFlowCall *c)
{
    HoloFlowList *list = list_in(c, 0);
    HoloValue    *shape;
    if (!list) return;
    if (c->in[0].value)
        shape = holo_emit_slice(c->e, holo_emit_shape(c->e, c->in[0].value), 0, 1, INT64_MAX, 1);
    else if (is_whole(&list->shape))
        shape = holo_emit_ints(c->e, list->shape.dim, list->shape.rank);
    else
        return holo_flow_fail(c, HOLO_UNSUPPORTED, "the shape of a list's elements is not known");
    holo_flow_out(c, 0, holo_emit_cast(c->e, shape, holo_flow_type(c, "shape_type")));
}

static void list_length(HoloFlowCall *c)
{
    holo_flow_out(c, 0, length(c, 0));
}

static void list_concat(HoloFlowCall *c)
{
    HoloValue *all = elements_of(c, 0), *lengths;
    holo_flow_out(c, 0, flatten(c, all));
    lengths = holo_emit_shape(c->e, all);
    holo_flow_out(
        c, 1,
        holo_flow_filled(c, holo_emit_slice(c->e, lengths, 0, 0, 1, 1), holo_emit_slice(c->e, lengths, 0, 1, 2, 1)));
}

// Parts of one length.
static HoloValue *cut_equal(HoloFlowCall *c, HoloValue *x, HoloValue *lengths)
{
    HoloEmit *e = c->e;
    int64_t   known[256], open = -1;
    int       count = 0;
    if (holo_emit_known_ints(e, lengths, known, HOLO_COUNT(known), &count))
        for (int i = 1; i < count; i++)
            if (known[i] != known[0]) {
                holo_flow_fail(c, HOLO_UNSUPPORTED, "parts of different lengths are not supported");
                return NULL;
            }
    HoloValue *one  = holo_emit_slice(e, holo_flow_vector(c, lengths), 0, 0, 1, 1);
    HoloValue *rest = holo_emit_slice(e, holo_emit_shape(e, x), 0, 1, INT64_MAX, 1);
    return holo_emit(e, "Reshape",
                     HOLO_IN(x, holo_flow_join(c, holo_flow_join(c, holo_emit_ints(e, &open, 1), one), rest)), NULL);
}

static void list_split(HoloFlowCall *c)
{
    HoloValue    *x    = holo_flow_in(c, 0);
    HoloFlowList *list = new_list(c, NULL, holo_emit_dtype(x));
    if (list) give_list(c, 0, list, cut_equal(c, x, holo_flow_in(c, 2)));
}

static void push_back(HoloFlowCall *c)
{
    int64_t       zero = 0;
    HoloFlowList *list = list_in(c, 0);
    HoloValue    *item = holo_emit_unsqueeze(c->e, holo_flow_in(c, 1), &zero, 1);
    if (!list) return;
    give_list(c, 0, list, c->in[0].value ? holo_flow_join(c, c->in[0].value, item) : item);
}

static void pop_back(HoloFlowCall *c)
{
    HoloFlowList *list = list_in(c, 0);
    HoloValue    *all  = elements_of(c, 0);
    int64_t       zero = 0;
    if (!list) return;
    give_list(c, 0, list, holo_emit_slice(c->e, all, 0, 0, -1, 1));
    holo_flow_out(c, 1, holo_emit_squeeze(c->e, holo_emit_slice(c->e, all, 0, -1, INT64_MAX, 1), &zero, 1));
}

// ---- TensorArray

static void array(HoloFlowCall *c)
{
    HoloFlowList *list = new_list(c, as_scalar(c, holo_flow_in(c, 0)), holo_flow_type(c, "dtype"));
    if (!list) return;
    holo_flow_shape(c, "element_shape", &list->shape);
    if (holo_flow_bool(c, "dynamic_size", false)) {
        double size = 1;
        if (holo_emit_known_number(c->e, list->count, &size) && size == 0) list->count = NULL;
    }
    give_list(c, 0, list, NULL);
    give_list(c, 1, list, NULL);
}

// A list that grows: writes come in order.
static void array_write(HoloFlowCall *c)
{
    HoloFlowList *list = list_in(c, 3);
    int64_t       zero = 0;
    if (!list) return;
    if (!list->count) {
        HoloValue *item = holo_emit_unsqueeze(c->e, holo_flow_in(c, 2), &zero, 1);
        give_list(c, 0, list, c->in[3].value ? holo_flow_join(c, c->in[3].value, item) : item);
        return;
    }
    HoloValue *all = set_item(c, 3, holo_flow_in(c, 1), holo_flow_in(c, 2), false);
    if (all) give_list(c, 0, list, all);
}

static void array_read(HoloFlowCall *c)
{
    holo_flow_out(c, 0, get_item(c, elements_of(c, 2), holo_flow_in(c, 1)));
}

static void array_gather(HoloFlowCall *c)
{
    holo_flow_out(c, 0, get_items(c, elements_of(c, 2), holo_flow_in(c, 1)));
}

static void array_scatter(HoloFlowCall *c)
{
    HoloFlowList *list = list_in(c, 3);
    if (list) give_list(c, 0, list, put_items(c, list->count, holo_flow_in(c, 2), holo_flow_in(c, 1)));
}

static void array_size(HoloFlowCall *c)
{
    holo_flow_out(c, 0, length(c, 1));
}

static void array_concat(HoloFlowCall *c)
{
    HoloValue *all = elements_of(c, 1), *lengths = holo_emit_shape(c->e, all);
    holo_flow_out(c, 0, flatten(c, all));
    holo_flow_out(
        c, 1,
        holo_flow_filled(c, holo_emit_slice(c->e, lengths, 0, 0, 1, 1), holo_emit_slice(c->e, lengths, 0, 1, 2, 1)));
}

static void array_split(HoloFlowCall *c)
{
    HoloFlowList *list = list_in(c, 3);
    if (list) give_list(c, 0, list, cut_equal(c, holo_flow_in(c, 1), holo_flow_in(c, 2)));
}

static void nothing(HoloFlowCall *c)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){0});
}

// clang-format off
const HoloFlowOp holo_flow_ops_lists[] = {
    {"TensorListReserve", reserve}, {"EmptyTensorList", empty_list}, {"TensorListFromTensor", from_tensor},
    {"TensorListGetItem", list_get}, {"TensorListSetItem", list_set}, {"TensorListStack", list_stack},
    {"TensorListGather", list_gather}, {"TensorListScatter", list_scatter, NULL, 0},
    {"TensorListScatterV2", list_scatter, NULL, 1}, {"TensorListLength", list_length},
    {"TensorListConcat", list_concat, .outs = "tensor lengths"}, {"TensorListConcatV2", list_concat, .outs = "tensor lengths"},
    {"TensorListResize", list_resize}, {"TensorListConcatLists", list_join},
    {"TensorListElementShape", list_element_shape},
    {"TensorListSplit", list_split}, {"TensorListPushBack", push_back},
    {"TensorListPopBack", pop_back, .outs = "output_handle tensor"},
#define ARRAY(v) \
    {"TensorArray" v, array, .outs = "handle flow"}, {"TensorArrayWrite" v, array_write}, \
    {"TensorArrayRead" v, array_read}, {"TensorArrayGather" v, array_gather}, \
    {"TensorArrayScatter" v, array_scatter}, {"TensorArraySize" v, array_size}, \
    {"TensorArrayConcat" v, array_concat, .outs = "value lengths"}, {"TensorArraySplit" v, array_split}, \
    {"TensorArrayClose" v, nothing, .flags = HOLO_FLOW_STATE}
    ARRAY("V3"), ARRAY("V2"),
    {0},
};
