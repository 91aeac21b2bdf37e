// pickle_stack.c - the stack of pickles, the values on it, and the instructions that put values together, remember them
// and throw them away.
#include "import/wire/pickle_step.h"

#include <string.h>

enum { COPIES_PER_BYTE = 8, COPIES_MIN = 4096 };

HoloStatus holo_pickle_wrong(const HoloPickleReader *r, const char *what)
{
    return holo_fail(r->error, HOLO_BAD_MODEL, "%s, byte %zu: the pickle is broken: %s", r->in->file, r->begin, what);
}

HoloStatus holo_pickle_push(HoloPickleReader *r, HoloPickle *value)
{
    if (!value || !HOLO_GROW(r->arena, r->stack, r->count, r->room)) return holo_fail_memory(r->error);
    r->stack[r->count++] = value;
    return HOLO_OK;
}

HoloStatus holo_pickle_push_new(HoloPickleReader *r, HoloPickle value)
{
    HoloPickle *made = HOLO_NEW(r->arena, HoloPickle, 1);
    if (made) *made = value;
    return holo_pickle_push(r, made);
}

// How much of the stack belongs to the part before the last mark.
static int base(const HoloPickleReader *r)
{
    return r->mark_count ? r->mark[r->mark_count - 1] : 0;
}

// Takes the last `count` values from the stack: they are at *out until something is pushed.
HoloStatus holo_pickle_pop(HoloPickleReader *r, int count, HoloPickle ***out)
{
    *out = NULL;
    if (r->count - base(r) < count) return holo_pickle_wrong(r, "it takes more values than there are");
    r->count -= count;
    *out = r->stack + r->count;
    return HOLO_OK;
}

// The same for all values behind the last mark, which goes too.
HoloStatus holo_pickle_pop_marked(HoloPickleReader *r, HoloPickle ***out, int *out_count)
{
    *out       = NULL;
    *out_count = 0;
    if (!r->mark_count) return holo_pickle_wrong(r, "it goes back to a mark, and there is none");
    *out_count = r->count - base(r);
    HOLO_TRY(holo_pickle_pop(r, *out_count, out));
    r->mark_count--;
    return HOLO_OK;
}

HoloStatus holo_pickle_peek(HoloPickleReader *r, HoloPickle **out)
{
    *out = NULL;
    if (r->count <= base(r)) return holo_pickle_wrong(r, "it takes more values than there are");
    *out = r->stack[r->count - 1];
    return HOLO_OK;
}

// Copies are counted: instructions of a few bytes could copy a long list again and again.
HoloStatus holo_pickle_add(HoloPickleReader *r, HoloPickle *to, HoloPickle *const *items, int count)
{
    bool moves = count > to->room - to->count;
    r->copies += (size_t)count + (moves ? (size_t)to->count : 0);
    if (r->copies / COPIES_PER_BYTE > r->in->size + COPIES_MIN)
        return holo_pickle_wrong(r, "it copies its lists too often");
    if (moves) {
        int          room  = to->count + count > INT32_MAX / 2 ? to->count + count : 2 * (to->count + count);
        HoloPickle **grown = HOLO_NEW(r->arena, HoloPickle *, room);
        if (!grown) return holo_fail_memory(r->error);
        if (to->count) memcpy(grown, to->item, (size_t)to->count * sizeof *grown);
        to->item = grown;
        to->room = room;
    }
    if (count) memcpy(to->item + to->count, items, (size_t)count * sizeof *items);
    to->count += count;
    return HOLO_OK;
}

HoloStatus holo_pickle_make(HoloPickleReader *r, HoloPickleKind kind, HoloPickle *const *items, int count,
                            HoloPickle **out)
{
    *out = HOLO_NEW(r->arena, HoloPickle, 1);
    if (!*out) return holo_fail_memory(r->error);
    (*out)->kind = kind;
    if (kind == HOLO_PICKLE_DICT && count % 2) return holo_pickle_wrong(r, "a dict has a key without a value");
    if (!count) return HOLO_OK;
    (*out)->item = HOLO_NEW(r->arena, HoloPickle *, count); // exactly: most are tuples, which do not grow
    (*out)->room = count;
    if (!(*out)->item) return holo_fail_memory(r->error);
    return holo_pickle_add(r, *out, items, count);
}

// ---- containers

static HoloStatus op_empty(HoloPickleReader *r, const HoloPickleArgument *a, int kind)
{
    (void)a;
    return holo_pickle_push_new(r, (HoloPickle){.kind = (HoloPickleKind)kind});
}

// Of the values behind the mark; and of the last 1 to 3.
static HoloStatus op_gather(HoloPickleReader *r, const HoloPickleArgument *a, int kind)
{
    (void)a;
    HoloPickle **items, *made;
    int          count;
    HOLO_TRY(holo_pickle_pop_marked(r, &items, &count));
    HOLO_TRY(holo_pickle_make(r, (HoloPickleKind)kind, items, count, &made));
    return holo_pickle_push(r, made);
}

static HoloStatus op_tuple(HoloPickleReader *r, const HoloPickleArgument *a, int count)
{
    (void)a;
    HoloPickle **items, *made;
    HOLO_TRY(holo_pickle_pop(r, count, &items));
    HOLO_TRY(holo_pickle_make(r, HOLO_PICKLE_TUPLE, items, count, &made));
    return holo_pickle_push(r, made);
}

static HoloStatus add_to_top(HoloPickleReader *r, int kind, HoloPickle *const *items, int count)
{
    HoloPickle *top;
    HOLO_TRY(holo_pickle_peek(r, &top));
    if ((int)top->kind != kind) return holo_pickle_wrong(r, "it adds items to something that is no such container");
    if (kind == HOLO_PICKLE_DICT && count % 2) return holo_pickle_wrong(r, "a dict has a key without a value");
    return holo_pickle_add(r, top, items, count);
}

static HoloStatus op_add(HoloPickleReader *r, const HoloPickleArgument *a, int kind)
{
    (void)a;
    int          count = kind == HOLO_PICKLE_DICT ? 2 : 1;
    HoloPickle **items;
    HOLO_TRY(holo_pickle_pop(r, count, &items));
    return add_to_top(r, kind, items, count);
}

static HoloStatus op_add_all(HoloPickleReader *r, const HoloPickleArgument *a, int kind)
{
    (void)a;
    HoloPickle **items;
    int          count;
    HOLO_TRY(holo_pickle_pop_marked(r, &items, &count));
    return add_to_top(r, kind, items, count);
}

// ---- the stack and the memo

static HoloStatus op_mark(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)a, (void)unused;
    if (!HOLO_GROW(r->arena, r->mark, r->mark_count, r->mark_room)) return holo_fail_memory(r->error);
    r->mark[r->mark_count++] = r->count;
    return HOLO_OK;
}

static HoloStatus op_pop(HoloPickleReader *r, const HoloPickleArgument *a, int to_mark)
{
    (void)a;
    HoloPickle **items;
    int          count;
    if (to_mark || r->count == base(r)) return holo_pickle_pop_marked(r, &items, &count);
    return holo_pickle_pop(r, 1, &items);
}

static HoloStatus op_dup(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)a, (void)unused;
    HoloPickle *top;
    HOLO_TRY(holo_pickle_peek(r, &top));
    return holo_pickle_push(r, top);
}

static HoloStatus place_of(HoloPickleReader *r, const HoloPickleArgument *a, int is_text, int64_t *out)
{
    *out = a->number;
    return is_text ? holo_pickle_decimal(r, a->text, out) : HOLO_OK;
}

// Places are given in order, so a place cannot be beyond the number of instructions.
static HoloStatus remember(HoloPickleReader *r, int64_t place)
{
    HoloPickle *top;
    HOLO_TRY(holo_pickle_peek(r, &top));
    if (place < 0 || place > (int64_t)r->steps)
        return holo_pickle_wrong(r, "it remembers a value at an impossible place");
    while (r->memo_count <= place) {
        if (!HOLO_GROW(r->arena, r->memo, r->memo_count, r->memo_room)) return holo_fail_memory(r->error);
        r->memo[r->memo_count++] = NULL;
    }
    r->memo[place] = top;
    return HOLO_OK;
}

static HoloStatus op_put(HoloPickleReader *r, const HoloPickleArgument *a, int is_text)
{
    int64_t place;
    HOLO_TRY(place_of(r, a, is_text, &place));
    return remember(r, place);
}

static HoloStatus op_memoize(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)a, (void)unused;
    return remember(r, r->memo_count);
}

static HoloStatus op_get(HoloPickleReader *r, const HoloPickleArgument *a, int is_text)
{
    int64_t place;
    HOLO_TRY(place_of(r, a, is_text, &place));
    if (place < 0 || place >= r->memo_count || !r->memo[place])
        return holo_pickle_wrong(r, "it asks for a value that was not remembered");
    return holo_pickle_push(r, r->memo[place]);
}

const HoloPickleRow holo_pickle_rows_stack[] = {
    {')', op_empty, HOLO_PICKLE_TUPLE, HOLO_PICKLE_NOTHING},
    {']', op_empty, HOLO_PICKLE_LIST, HOLO_PICKLE_NOTHING},
    {'}', op_empty, HOLO_PICKLE_DICT, HOLO_PICKLE_NOTHING},
    {0x8f, op_empty, HOLO_PICKLE_SET, HOLO_PICKLE_NOTHING},
    {'t', op_gather, HOLO_PICKLE_TUPLE, HOLO_PICKLE_NOTHING},
    {'l', op_gather, HOLO_PICKLE_LIST, HOLO_PICKLE_NOTHING},
    {'d', op_gather, HOLO_PICKLE_DICT, HOLO_PICKLE_NOTHING},
    {0x91, op_gather, HOLO_PICKLE_SET, HOLO_PICKLE_NOTHING},
    {0x85, op_tuple, 1, HOLO_PICKLE_NOTHING},
    {0x86, op_tuple, 2, HOLO_PICKLE_NOTHING},
    {0x87, op_tuple, 3, HOLO_PICKLE_NOTHING},
    {'a', op_add, HOLO_PICKLE_LIST, HOLO_PICKLE_NOTHING},
    {'s', op_add, HOLO_PICKLE_DICT, HOLO_PICKLE_NOTHING},
    {'e', op_add_all, HOLO_PICKLE_LIST, HOLO_PICKLE_NOTHING},
    {'u', op_add_all, HOLO_PICKLE_DICT, HOLO_PICKLE_NOTHING},
    {0x90, op_add_all, HOLO_PICKLE_SET, HOLO_PICKLE_NOTHING},
    {'(', op_mark, 0, HOLO_PICKLE_NOTHING},
    {'0', op_pop, false, HOLO_PICKLE_NOTHING},
    {'1', op_pop, true, HOLO_PICKLE_NOTHING},
    {'2', op_dup, 0, HOLO_PICKLE_NOTHING},
    {'g', op_get, true, HOLO_PICKLE_LINE},
    {'h', op_get, false, HOLO_PICKLE_NUMBER_1},
    {'j', op_get, false, HOLO_PICKLE_NUMBER_4},
    {'p', op_put, true, HOLO_PICKLE_LINE},
    {'q', op_put, false, HOLO_PICKLE_NUMBER_1},
    {'r', op_put, false, HOLO_PICKLE_NUMBER_4},
    {0x94, op_memoize, 0, HOLO_PICKLE_NOTHING},
    {0},
};
