// topk.c - TopK: the k largest or smallest elements along an axis, and where they are.
//
// The result is always sorted; of equal elements the one with the lower index comes first. A NaN is
// above all numbers.
#include "kernels/tiles/tiles.h"
#include "ops/move.h"
#include "ops/order.h"
#include "ops/rows.h"
#include "ops/spread.h"

typedef struct Item {
    uint64_t key;
    int64_t  index;
} Item;

static bool before(Item a, Item b)
{
    return a.key != b.key ? a.key < b.key : a.index < b.index;
}

static HoloStatus find_k(const HoloCall *call, HoloDim *k)
{
    if (call->version < 10) {
        *k = holo_attr_int(call, "k", -1);
    } else {
        if (!holo_in(call, 1)) return holo_call_fail(call, HOLO_BAD_MODEL, "k (input 1) is missing");
        HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(I64)));
        HOLO_TRY(holo_expect_one(call, 1));
        if (holo_in_ints(call, 1, k, 1) != 1) *k = HOLO_DIM_UNKNOWN;
    }
    if (!holo_dim_is_symbolic(*k) && *k < 0)
        return holo_call_fail(call, HOLO_BAD_INPUT, "k is %lld, not a number of elements", (long long)*k);
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *in = call->in[0];
    HoloDim           dim[HOLO_MAX_RANK], k = 0;
    int               axis = 0;
    HOLO_TRY(holo_attr_axis(call, "axis", -1, call->in[0]->rank, &axis));
    HOLO_TRY(find_k(call, &k));
    if (!holo_dim_is_symbolic(k) && !holo_dim_is_symbolic(in->dim[axis]) && k > in->dim[axis])
        return holo_call_fail(call, HOLO_BAD_INPUT, "k is %lld, but axis %d has only %lld elements", (long long)k, axis,
                              (long long)in->dim[axis]);
    for (int i = 0; i < in->rank; i++) dim[i] = i == axis ? k : in->dim[i];
    HOLO_TRY(holo_out_type(call, 0, (HoloDtype)in->dtype, in->rank, dim));
    return holo_out_type(call, 1, HOLO_I64, in->rank, dim);
}

// A heap with the last item, in the order of `before`, at its root.
static void sink(Item *heap, int64_t count, int64_t at)
{
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && before(heap[child], heap[child + 1])) child++;
        if (!before(heap[at], heap[child])) return;
        Item item   = heap[at];
        heap[at]    = heap[child];
        heap[child] = item;
        at          = child;
    }
}

// Adds element `index` of a row. All elements before it have been added: the heap holds the first k of them.
static inline void offer(Item *heap, int64_t k, uint64_t key, int64_t index)
{
    if (index >= k && key >= heap[0].key) return; // of equals, the earlier ones are there already
    heap[index < k ? index : 0] = (Item){key, index};
    if (index >= k) sink(heap, k, 0);
    for (int64_t i = index == k - 1 ? k / 2 : 0; i-- > 0;) sink(heap, k, i);
}

// Sorts a heap.
static void put_in_order(Item *heap, int64_t k)
{
    for (int64_t left = k - 1; left > 0; left--) {
        Item last  = heap[0];
        heap[0]    = heap[left];
        heap[left] = last;
        sink(heap, left, 0);
    }
}

enum { COLUMNS = 16, BLOCK = 16 }; // rows that lie side by side, and are read together; elements of a row
enum { FEW = 16 };                 // so many of a row are kept in order all the time
enum { MANY = 512, SHARE = 8 };    // so many, or that share of a row, are put into a bag

typedef struct TopK {
    const HoloTensor *in;
    HoloTensor       *values, *indices; // NULL: nobody wants them
    HoloRows          rows;
    int64_t           k, columns, groups; // rows read together, and groups of them
    uint64_t          turn;
    Item             *heaps; // for each worker and column
    int64_t           room;  // of a bag; 0: few are wanted
    int64_t          *bags;  // for each worker, four lists
} TopK;

// The first k of the elements of a row that were met so far, and some more. Few are in order, in `items`, more are a
// heap, and there are no others. Of many, keys and indices are in a bag: when it is full it is put in order, and those
// behind the first k go.
typedef struct Best {
    int64_t   k, count, room;
    uint64_t  edge; // only a key below it can be one of the first
    bool      full; // there are k, so that there is such an edge
    int64_t   last; // the element that the edge is the key of
    Item     *items;
    uint64_t *keys;
    int64_t  *index, *order, *scratch;
} Best;

static Best best_of(const TopK *v, int worker)
{
    Best b = {.k = v->k, .room = v->room, .edge = UINT64_MAX, .items = v->heaps + worker * v->columns * v->k};
    if (v->room) {
        int64_t *bag = v->bags + worker * 4 * v->room;
        b.keys       = (uint64_t *)bag;
        b.index      = bag + b.room;
        b.order      = b.index + b.room;
        b.scratch    = b.order + b.room;
    }
    return b;
}

// Equal elements are in the bag in the order of their indices, and keep that order.
static void bag_order(Best *b)
{
    for (int64_t i = 0; i < b->count; i++) b->order[i] = i;
    holo_sort_keys(b->order, b->scratch, b->count, b->keys);
    if (b->count > b->k) b->count = b->k;
    for (int64_t i = 0; i < b->count; i++) b->items[i] = (Item){b->keys[b->order[i]], b->index[b->order[i]]};
    for (int64_t i = 0; i < b->count; i++) b->keys[i] = b->items[i].key, b->index[i] = b->items[i].index;
}

static void edge_set(Best *b, const Item *last)
{
    b->full = true;
    b->edge = last->key;
    b->last = last->index;
}

// Adds an element. All elements before it have been added.
static inline void best_take(Best *b, uint64_t key, int64_t index)
{
    if (b->full && key >= b->edge) return; // of equals, the earlier ones are there already
    if (b->room) {
        b->keys[b->count]    = key;
        b->index[b->count++] = index;
        if (b->count < b->room) return;
        bag_order(b);
        edge_set(b, b->items + b->k - 1);
        return;
    }
    if (b->k > FEW) {
        offer(b->items, b->k, key, index);
        if (index >= b->k - 1) edge_set(b, b->items);
        return;
    }
    int64_t at = b->full ? b->k - 1 : b->count++;
    for (; at > 0 && key < b->items[at - 1].key; at--) b->items[at] = b->items[at - 1];
    b->items[at] = (Item){key, index};
    if (b->count == b->k) edge_set(b, b->items + b->k - 1);
}

static void put_row(const TopK *v, int64_t start, int64_t to, const Item *items)
{
    size_t size = holo_dtype_size((HoloDtype)v->in->dtype);
    for (int64_t i = 0; i < v->k; i++, to += v->rows.inner) {
        if (v->indices) ((int64_t *)v->indices->data)[to] = items[i].index;
        if (v->values)
            holo_move_one((char *)v->values->data + (size_t)to * size,
                          (const char *)v->in->data + (size_t)(start + items[i].index * v->rows.inner) * size, size);
    }
}

// Of f32 elements from `from` up to `end`, the first block of BLOCK with one that may come before `edge`: where it
// begins. Most blocks have none, and are passed over without making keys.
static int64_t find_block(const TopK *v, const float *row, float edge, int64_t from, int64_t end)
{
    for (; from + BLOCK <= end; from += BLOCK) {
        int some = 0;
        if (v->turn)
            for (int j = 0; j < BLOCK; j++) some |= !(row[from + j] <= edge);
        else
            for (int j = 0; j < BLOCK; j++) some |= !(row[from + j] >= edge);
        if (some) break;
    }
    return from;
}

// Whether x may come before an element of the heap, whose last element is `edge`.
static inline bool may_enter(const TopK *v, float x, float edge)
{
    return v->turn ? !(x <= edge) : !(x >= edge);
}

// Offers element i of the row that begins at `start`; returns the last element of the heap after that.
static inline float take_f32(const TopK *v, int64_t start, int64_t i, Item *heap)
{
    const float *row = (const float *)v->in->data + start;
    offer(heap, v->k, holo_key_f32(row[i * v->rows.inner]) ^ v->turn, i);
    return row[heap[0].index * v->rows.inner];
}

// A row by itself: its first k elements to the worker's items.
static void run_row(const TopK *v, int64_t start, int worker)
{
    Best         b      = best_of(v, worker);
    bool         is_f32 = v->in->dtype == HOLO_F32;
    const float *row    = is_f32 ? (const float *)v->in->data + start : NULL;
    uint64_t     keys[HOLO_TILE];
    for (int64_t i = 0, run; i < v->rows.size; i += run) {
        if (is_f32 && b.full) {
            float edge = row[b.last];
            i          = find_block(v, row, edge, i, v->rows.size);
            run        = v->rows.size - i < BLOCK ? v->rows.size - i : BLOCK;
            for (int64_t j = 0; j < run; j++)
                if (may_enter(v, row[i + j], edge)) {
                    best_take(&b, holo_key_f32(row[i + j]) ^ v->turn, i + j);
                    edge = row[b.last];
                }
            continue;
        }
        int64_t most = is_f32 && i < v->k && v->k - i < HOLO_TILE ? v->k - i : HOLO_TILE;
        run          = v->rows.size - i < most ? v->rows.size - i : most;
        holo_read_keys(v->in, start + i, 1, run, keys);
        for (int64_t j = 0; j < run; j++) best_take(&b, keys[j] ^ v->turn, i + j);
    }
    if (b.room)
        bag_order(&b);
    else if (b.k > FEW)
        put_in_order(b.items, b.k);
}

// The same for rows that lie side by side.
static void run_columns_f32(const TopK *v, int64_t start, int64_t count, Item *heaps)
{
    float edge[COLUMNS] = {0};
    for (int64_t i = 0; i < v->rows.size; i++) {
        const float *x    = (const float *)v->in->data + start + i * v->rows.inner;
        int          some = i < v->k;
        for (int64_t c = 0; c < count; c++) some |= may_enter(v, x[c], edge[c]);
        for (int64_t c = 0; some && c < count; c++)
            if (i < v->k || may_enter(v, x[c], edge[c])) edge[c] = take_f32(v, start + c, i, heaps + c * v->k);
    }
}

// One row, or several that lie side by side.
static void run_rows(void *arg, int64_t group, int worker)
{
    const TopK *v     = arg;
    HoloRows    rows  = v->rows;
    Item       *heap  = v->heaps + worker * v->columns * v->k;
    int64_t     outer = group / v->groups, first = group % v->groups * v->columns;
    int64_t     count = rows.inner - first < v->columns ? rows.inner - first : v->columns;
    int64_t     start = outer * rows.size * rows.inner + first, to = outer * v->k * rows.inner + first;
    uint64_t    keys[COLUMNS];
    bool        is_f32 = v->in->dtype == HOLO_F32;
    if (is_f32 && rows.inner == 1 && v->k == 1 && v->turn && rows.size < INT32_MAX) {
        heap->index = holo_tiles()->extreme(rows.size, (const float *)v->in->data + start, false, false);
        put_row(v, start, to, heap);
        return;
    }
    if (rows.inner == 1) {
        run_row(v, start, worker);
        put_row(v, start, to, heap);
        return;
    }
    if (is_f32) run_columns_f32(v, start, count, heap);
    for (int64_t i = 0; !is_f32 && i < rows.size; i++) {
        holo_read_keys(v->in, start + i * rows.inner, 1, count, keys);
        for (int64_t c = 0; c < count; c++) offer(heap + c * v->k, v->k, keys[c] ^ v->turn, i);
    }
    for (int64_t c = 0; c < count; c++) {
        put_in_order(heap + c * v->k, v->k);
        put_row(v, start + c, to + c, heap + c * v->k);
    }
}

static HoloStatus eval(HoloCall *call)
{
    TopK   v       = {.in = call->in[0], .values = holo_out(call, 0), .indices = holo_out(call, 1)};
    int    axis    = 0;
    size_t workers = call->host && call->host->workers > 1 ? (size_t)call->host->workers : 1;
    v.turn         = holo_attr_int(call, "largest", 1) ? UINT64_MAX : 0;
    HOLO_TRY(holo_attr_axis(call, "axis", -1, call->in[0]->rank, &axis));
    HOLO_TRY(find_k(call, &v.k));
    v.rows = holo_rows(v.in, axis, axis + 1);
    if (v.k == 0 || holo_row_count(v.rows) == 0) return HOLO_OK;
    v.columns = v.rows.inner < COLUMNS ? v.rows.inner : COLUMNS;
    v.groups  = (v.rows.inner + v.columns - 1) / v.columns;
    HOLO_TRY(holo_call_temp(call, (size_t)v.k, workers * (size_t)v.columns * sizeof(Item), (void **)&v.heaps));
    if (v.rows.inner == 1 && v.k > FEW && (v.k >= MANY || v.k > v.rows.size / SHARE)) {
        v.room = v.k < v.rows.size / 2 ? 2 * v.k : v.rows.size + 1; // one more than there are is never full
        HOLO_TRY(holo_call_temp(call, (size_t)v.room, 4 * workers * sizeof(int64_t), (void **)&v.bags));
    }
    holo_spread(call, v.rows.outer * v.groups, 4 * (double)holo_tensor_count(v.in), run_rows, &v);
    return HOLO_OK;
}

const HoloOp holo_ops_topk[] = {
    {.name    = "TopK",
     .domain  = "",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 2,
     .types   = HOLO_TYPES_NUMBER,
     .infer   = infer,
     .eval    = eval},
    {0},
};
