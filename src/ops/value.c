// value.c - makes and shares sequences and optionals. See value.h.
#include "ops/value.h"

HoloStatus holo_expect_kind(const HoloCall *call, int input, HoloKind kind)
{
    static const char *const names[] = {"a tensor", "a sequence", "an optional", "a map"};
    const HoloTensor        *t       = holo_in(call, input);
    if (!t || t->kind == kind) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is %s, not %s", input, names[t->kind & 3], names[kind]);
}

void holo_out_list_type(HoloCall *call, int i, HoloKind kind, HoloKind inner, HoloDtype dtype)
{
    HoloTensor *y = holo_out(call, i);
    if (!y) return;
    *y = (HoloTensor){
        .dtype = (uint8_t)dtype, .kind = (uint8_t)kind, .inner = (uint8_t)inner, .rank = 1, .dim = {HOLO_DIM_UNKNOWN}};
}

int64_t holo_items_of(const HoloTensor *item)
{
    return item->kind == HOLO_TENSOR && item->rank >= 0 ? HOLO_ITEMS_RANK + item->rank : HOLO_ITEMS_ANY;
}

int64_t holo_items_both(int64_t a, int64_t b)
{
    if (a == HOLO_ITEMS_NONE || b == HOLO_ITEMS_NONE) return a == HOLO_ITEMS_NONE ? b : a;
    return a == b ? a : HOLO_ITEMS_ANY;
}

int holo_items_rank(const HoloTensor *sequence)
{
    if (sequence->kind != HOLO_SEQUENCE || sequence->inner != HOLO_TENSOR) return -1;
    return sequence->dim[1] < HOLO_ITEMS_RANK ? -1 : (int)(sequence->dim[1] - HOLO_ITEMS_RANK);
}

HoloStatus holo_keep(const HoloCall *call, size_t count, size_t size, void **out)
{
    size_t bytes;
    *out = holo_size_mul(count, size, &bytes) ? call->host->keep(call->host, bytes ? bytes : 1) : NULL;
    if (*out) return HOLO_OK;
    return holo_call_fail(call, HOLO_NO_MEMORY, "no memory for %zu elements of %zu bytes", count, size);
}

HoloStatus holo_value_copy(const HoloCall *call, const HoloTensor *from, HoloTensor *out)
{
    *out = *from;
    if (from->kind != HOLO_TENSOR) return HOLO_OK;
    size_t bytes = holo_tensor_bytes(from);
    HOLO_TRY(holo_keep(call, bytes, 1, &out->data));
    if (bytes > 0) memcpy(out->data, from->data, bytes);
    return HOLO_OK;
}

HoloStatus holo_out_value(HoloCall *call, int i, const HoloTensor *value)
{
    HoloTensor *y = holo_out(call, i);
    return y ? holo_value_copy(call, value, y) : HOLO_OK;
}

HoloStatus holo_out_list(HoloCall *call, int i, HoloKind kind, HoloKind inner, HoloDtype dtype, int64_t count,
                         HoloTensor **out_items)
{
    void *items;
    HOLO_TRY(holo_keep(call, (size_t)count, sizeof **out_items, &items));
    holo_out_list_type(call, i, kind, inner, dtype);
    HoloTensor *y = holo_out(call, i);
    if (y) {
        y->dim[0] = count;
        y->data   = items;
    }
    *out_items = items;
    return HOLO_OK;
}

// Room for one more item behind the `count` at `items`; NULL: there is none, or another sequence uses it.
static HoloTensor *list_room(HoloLists *lists, const HoloTensor *items, int64_t count)
{
    for (int k = 0; lists && k < HOLO_COUNT(lists->list); k++) {
        if (lists->list[k].items != items || lists->list[k].used != count) continue;
        return lists->list[k].used < lists->list[k].room ? &lists->list[k].items[lists->list[k].used++] : NULL;
    }
    return NULL;
}

HoloStatus holo_out_list_longer(HoloCall *call, int i, HoloTensor **out_item)
{
    const HoloTensor *from  = call->in[0];
    HoloLists        *lists = call->host->lists;
    int64_t           count = from->dim[0], room = lists ? count + count / 2 + 4 : count + 1;
    void             *items = from->data;
    *out_item               = count > 0 ? list_room(lists, items, count) : NULL;
    if (!*out_item) {
        HOLO_TRY(holo_keep(call, (size_t)room, sizeof **out_item, &items));
        if (count) memcpy(items, from->data, (size_t)count * sizeof **out_item);
        *out_item = (HoloTensor *)items + count;
        if (lists) {
            lists->list[lists->next].items = items;
            lists->list[lists->next].used  = count + 1;
            lists->list[lists->next].room  = room;
            lists->next                    = (lists->next + 1) % HOLO_COUNT(lists->list);
        }
    }
    holo_out_list_type(call, i, HOLO_SEQUENCE, (HoloKind)from->inner, (HoloDtype)from->dtype);
    HoloTensor *y = holo_out(call, i);
    if (y) {
        y->dim[0] = count + 1;
        y->data   = items;
    }
    return HOLO_OK;
}

// ---- copies

enum { DEPTH_MAX = 4 }; // values nested in values

static HoloStatus clone_strings(const HoloHost *host, HoloTensor *t, HoloError *error)
{
    HoloString *strings = t->data;
    for (int64_t i = 0, count = holo_tensor_count(t); i < count; i++) {
        char *text = host->keep(host, strings[i].size + 1);
        if (!text) return holo_fail_memory(error);
        if (strings[i].size) memcpy(text, strings[i].data, strings[i].size);
        strings[i].data = text;
    }
    return HOLO_OK;
}

static HoloStatus clone(const HoloHost *host, const HoloTensor *from, HoloTensor *out, int depth, HoloError *error)
{
    bool    is_tensor = from->kind == HOLO_TENSOR;
    int64_t count     = from->kind == HOLO_MAP ? 2 : holo_tensor_count(from);
    size_t  size      = is_tensor ? holo_dtype_size((HoloDtype)from->dtype) : sizeof(HoloTensor), bytes;
    *out              = *from;
    if (!from->data) return HOLO_OK;
    if (depth > DEPTH_MAX) return holo_fail(error, HOLO_UNSUPPORTED, "values are nested more than %d deep", DEPTH_MAX);
    if (count < 0 || !holo_size_mul((size_t)count, size, &bytes)) return holo_fail_memory(error);
    const void *data = from->data;
    out->data        = host->keep(host, bytes ? bytes : 1);
    if (!out->data) return holo_fail_memory(error);
    if (bytes) memcpy(out->data, data, bytes);
    if (is_tensor) return out->dtype == HOLO_STRING ? clone_strings(host, out, error) : HOLO_OK;
    HoloTensor *items = out->data;
    for (int64_t i = 0; i < count; i++) HOLO_TRY(clone(host, &items[i], &items[i], depth + 1, error));
    return HOLO_OK;
}

HoloStatus holo_value_clone(const HoloHost *host, const HoloTensor *from, HoloTensor *out, HoloError *error)
{
    return clone(host, from, out, 0, error);
}

// ---- joined along a new axis

static bool is_alike(const HoloTensor *a, const HoloTensor *b)
{
    bool same = a->kind == HOLO_TENSOR && b->kind == HOLO_TENSOR && a->dtype == b->dtype && a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = a->dim[i] == b->dim[i];
    return same;
}

static HoloStatus check_each(const HoloCall *call, const HoloTensor *each)
{
    if (each->kind == HOLO_TENSOR && each->rank >= 0 && each->rank < HOLO_MAX_RANK) return HOLO_OK;
    return holo_call_fail(call, HOLO_UNSUPPORTED, "outputs of steps must be tensors of less than %d dimensions",
                          HOLO_MAX_RANK);
}

static HoloStatus fail_unlike(const HoloCall *call, int64_t k)
{
    return holo_call_fail(call, HOLO_BAD_INPUT, "outputs of steps 0 and %lld differ in type or shape", (long long)k);
}

// A tensor that is joined from others: `rows` rows of `room` pieces of `inner` elements.
typedef struct Join {
    int64_t rows, room, inner, count;
    size_t  size;
    bool    reverse;
    char   *data;
} Join;

static HoloStatus join_begin(const HoloCall *call, Join *join, const HoloTensor *each, int64_t axis, HoloTensor *out)
{
    int at;
    HOLO_TRY(check_each(call, each));
    HOLO_TRY(holo_axis(call, axis, each->rank + 1, &at));
    *out = (HoloTensor){.dtype = each->dtype, .rank = (int8_t)(each->rank + 1)};
    for (int i = 0; i < out->rank; i++) out->dim[i] = i < at ? each->dim[i] : i == at ? join->room : each->dim[i - 1];
    int64_t elements = holo_tensor_count(out);
    if (elements < 0) return holo_call_fail(call, HOLO_NO_MEMORY, "the joined outputs are too large");
    join->size = holo_dtype_size((HoloDtype)out->dtype);
    HOLO_TRY(holo_keep(call, (size_t)elements, join->size, &out->data));
    join->rows  = holo_product(at, each->dim);
    join->inner = holo_product(each->rank - at, each->dim + at);
    join->data  = out->data;
    return HOLO_OK;
}

static void join_put(const Join *join, int64_t k, const void *data)
{
    if (join->rows == 0 || join->inner == 0) return;
    char *to = join->data + (size_t)((join->reverse ? join->count - 1 - k : k) * join->inner) * join->size;
    holo_move(2, (int64_t[]){join->rows, join->inner}, join->size, to, (int64_t[]){join->room * join->inner, 1}, data,
              (int64_t[]){join->inner, 1});
}

HoloStatus holo_value_stack(const HoloCall *call, const HoloTensor *items, int64_t step, int64_t count, int64_t room,
                            int64_t axis, bool reverse, HoloTensor *out)
{
    Join join = {.room = room, .count = count, .reverse = reverse};
    HOLO_TRY(join_begin(call, &join, &items[0], axis, out));
    for (int64_t k = 0; k < count; k++) {
        if (!is_alike(&items[0], &items[k * step])) return fail_unlike(call, k);
        join_put(&join, k, items[k * step].data);
    }
    return HOLO_OK;
}

HoloStatus holo_stack_add(const HoloCall *call, HoloStack *stack, const HoloTensor *item)
{
    HoloTensor copy = *item;
    HOLO_TRY(check_each(call, item));
    if (stack->count == 0) stack->type = *item;
    if (!is_alike(&stack->type, item)) return fail_unlike(call, stack->count);
    if (item->dtype == HOLO_STRING) HOLO_TRY(holo_value_clone(call->host, item, &copy, call->error));
    size_t bytes = holo_tensor_bytes(item), need;
    if (!holo_size_add(stack->size, bytes, &need)) return holo_fail_memory(call->error);
    if (need > stack->room) {
        size_t room = need > SIZE_MAX / 2 ? need : 2 * need;
        void  *more;
        HOLO_TRY(holo_call_temp(call, room, 1, &more));
        if (stack->size) memcpy(more, stack->bytes, stack->size);
        stack->bytes = more;
        stack->room  = room;
    }
    if (bytes) memcpy(stack->bytes + stack->size, copy.data, bytes);
    stack->size = need;
    stack->count++;
    return HOLO_OK;
}

HoloStatus holo_stack_join(const HoloCall *call, const HoloStack *stack, int64_t room, int64_t axis, bool reverse,
                           HoloTensor *out)
{
    Join   join  = {.room = room, .count = stack->count, .reverse = reverse};
    size_t bytes = stack->size / (size_t)stack->count;
    HOLO_TRY(join_begin(call, &join, &stack->type, axis, out));
    for (int64_t k = 0; bytes && k < stack->count; k++) join_put(&join, k, stack->bytes + (size_t)k * bytes);
    return HOLO_OK;
}
