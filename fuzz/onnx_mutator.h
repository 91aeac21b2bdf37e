// onnx_mutator.h - changes ONNX models field by field: the bytes are read as a tree of messages, one field of it is
// changed, taken out, repeated or put in another's place, and the tree is written again. For libFuzzer.
#ifndef HOLO_FUZZ_ONNX_MUTATOR_H
#define HOLO_FUZZ_ONNX_MUTATOR_H

#include "hologram_compiler.h"

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max_size, unsigned seed);

// ---- the messages of ONNX, as far as their fields are messages, texts or lists of packed numbers

enum {
    MODEL,
    GRAPH,
    NODE,
    ATTRIBUTE,
    TENSOR,
    VALUE,
    TYPE,
    TYPE_OF_TENSOR,
    TYPE_OF_LIST,
    TYPE_OF_MAP,
    SHAPE,
    DIM,
    OPSET,
    PAIR,
    FUNCTION,
    SPARSE,
    MESSAGES
};
enum { IS_BYTES = 100, IS_NAME, IS_OPERATOR, IS_DOMAIN, IS_INTS }; // what else has a length

typedef struct Known {
    uint8_t message, field, is;
} Known;

static const Known known[] = {
    {MODEL, 2, IS_BYTES},       {MODEL, 4, IS_DOMAIN},    {MODEL, 7, GRAPH},         {MODEL, 8, OPSET},
    {MODEL, 14, PAIR},          {MODEL, 25, FUNCTION},    {GRAPH, 1, NODE},          {GRAPH, 2, IS_NAME},
    {GRAPH, 5, TENSOR},         {GRAPH, 11, VALUE},       {GRAPH, 12, VALUE},        {GRAPH, 13, VALUE},
    {GRAPH, 15, SPARSE},        {NODE, 1, IS_NAME},       {NODE, 2, IS_NAME},        {NODE, 3, IS_NAME},
    {NODE, 4, IS_OPERATOR},     {NODE, 5, ATTRIBUTE},     {NODE, 7, IS_DOMAIN},      {ATTRIBUTE, 1, IS_NAME},
    {ATTRIBUTE, 4, IS_BYTES},   {ATTRIBUTE, 5, TENSOR},   {ATTRIBUTE, 6, GRAPH},     {ATTRIBUTE, 7, IS_INTS},
    {ATTRIBUTE, 8, IS_INTS},    {ATTRIBUTE, 9, IS_BYTES}, {ATTRIBUTE, 10, TENSOR},   {ATTRIBUTE, 11, GRAPH},
    {ATTRIBUTE, 14, TYPE},      {ATTRIBUTE, 21, IS_NAME}, {ATTRIBUTE, 22, SPARSE},   {TENSOR, 1, IS_INTS},
    {TENSOR, 4, IS_BYTES},      {TENSOR, 5, IS_INTS},     {TENSOR, 6, IS_BYTES},     {TENSOR, 7, IS_INTS},
    {TENSOR, 8, IS_NAME},       {TENSOR, 9, IS_BYTES},    {TENSOR, 10, IS_BYTES},    {TENSOR, 11, IS_INTS},
    {TENSOR, 13, PAIR},         {VALUE, 1, IS_NAME},      {VALUE, 2, TYPE},          {TYPE, 1, TYPE_OF_TENSOR},
    {TYPE, 4, TYPE_OF_LIST},    {TYPE, 5, TYPE_OF_MAP},   {TYPE, 8, TYPE_OF_TENSOR}, {TYPE, 9, TYPE_OF_LIST},
    {TYPE_OF_TENSOR, 2, SHAPE}, {TYPE_OF_LIST, 1, TYPE},  {TYPE_OF_MAP, 2, TYPE},    {SHAPE, 1, DIM},
    {DIM, 2, IS_NAME},          {OPSET, 1, IS_DOMAIN},    {PAIR, 1, IS_BYTES},       {PAIR, 2, IS_BYTES},
    {FUNCTION, 1, IS_OPERATOR}, {FUNCTION, 4, IS_NAME},   {FUNCTION, 5, IS_NAME},    {FUNCTION, 6, IS_NAME},
    {FUNCTION, 7, NODE},        {FUNCTION, 9, OPSET},     {FUNCTION, 10, IS_DOMAIN}, {FUNCTION, 11, ATTRIBUTE},
    {FUNCTION, 12, VALUE},      {SPARSE, 1, TENSOR},      {SPARSE, 2, TENSOR},       {SPARSE, 3, IS_INTS},
};

static int what_is(int message, uint64_t field)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].message == message && known[i].field == field) return known[i].is;
    return IS_BYTES;
}

// ---- trees

typedef struct Field {
    uint64_t      number;
    int           wire;  // 0: number, 1: 8 bytes, 2: of a length, 5: 4 bytes
    int           of;    // the message that it is in
    int           is;    // of a length: what it is
    uint64_t      value; // of the others
    uint8_t      *data;  // bytes of those that are no message
    size_t        size;
    struct Field *child, *next;
} Field;

enum { FIELDS_MAX = 20000, POOL_MAX = 4 << 20, DEEP = 40 };

typedef struct Tree {
    Field   *fields; // in any order
    int      count;
    uint8_t *pool; // bytes that are made here
    size_t   used;
    uint64_t random;
} Tree;

static uint64_t roll(Tree *t, uint64_t below) // 0 <= x < below, or 0
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return below ? (t->random >> 33) % below : 0;
}

static uint8_t *pool_take(Tree *t, size_t size)
{
    if (size > POOL_MAX - t->used) return NULL;
    uint8_t *at = t->pool + t->used;
    t->used += size;
    return at;
}

static Field *field_new(Tree *t, Field like)
{
    if (t->count == FIELDS_MAX) return NULL;
    t->fields[t->count] = like;
    return &t->fields[t->count++];
}

static bool varint_read(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

static bool fixed_read(const uint8_t **at, const uint8_t *end, int bytes, uint64_t *out)
{
    *out = 0;
    if (end - *at < bytes) return false;
    memcpy(out, *at, (size_t)bytes);
    *at += bytes;
    return true;
}

static bool message_read(Tree *t, const uint8_t *at, const uint8_t *end, int message, int depth, Field **out)
{
    *out = NULL;
    while (at < end) {
        uint64_t key, size;
        Field    f = {.of = message};
        if (!varint_read(&at, end, &key)) return false;
        f.number = key >> 3;
        f.wire   = (int)(key & 7);
        if (f.wire == 2) {
            if (!varint_read(&at, end, &size) || size > (uint64_t)(end - at)) return false;
            f.is = what_is(message, f.number);
            if (f.is < MESSAGES) {
                if (depth == DEEP || !message_read(t, at, at + size, f.is, depth + 1, &f.child)) return false;
            } else {
                f.data = (uint8_t *)(uintptr_t)at;
                f.size = size;
            }
            at += size;
        } else if (f.wire == 0 ? !varint_read(&at, end, &f.value)
                               : (f.wire != 1 && f.wire != 5) || !fixed_read(&at, end, f.wire == 1 ? 8 : 4, &f.value)) {
            return false;
        }
        if (!(*out = field_new(t, f))) return false;
        out = &(*out)->next;
    }
    return true;
}

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value > 127; value >>= 7) size++;
    return size;
}

static size_t message_size(const Field *f);

static size_t body_size(const Field *f)
{
    return f->is < MESSAGES ? message_size(f->child) : f->size;
}

static size_t message_size(const Field *f)
{
    size_t size = 0;
    for (; f; f = f->next) {
        size += varint_size(f->number << 3);
        if (f->wire == 2) {
            size_t body = body_size(f);
            size += varint_size(body) + body;
        } else {
            size += f->wire == 0 ? varint_size(f->value) : f->wire == 1 ? 8 : 4;
        }
    }
    return size;
}

static uint8_t *varint_write(uint8_t *at, uint64_t value)
{
    for (; value > 127; value >>= 7) *at++ = (uint8_t)(value | 128);
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *message_write(const Field *f, uint8_t *at)
{
    for (; f; f = f->next) {
        at = varint_write(at, f->number << 3 | (uint64_t)f->wire);
        if (f->wire == 0) {
            at = varint_write(at, f->value);
        } else if (f->wire == 2) {
            at = varint_write(at, body_size(f));
            if (f->is < MESSAGES) {
                at = message_write(f->child, at);
            } else {
                memcpy(at, f->data, f->size);
                at += f->size;
            }
        } else {
            memcpy(at, &f->value, f->wire == 1 ? 8 : 4);
            at += f->wire == 1 ? 8 : 4;
        }
    }
    return at;
}

// A copy of the field alone, with all that is in it.
static Field *field_copy(Tree *t, const Field *from)
{
    Field *copy = field_new(t, *from), **to = copy ? &copy->child : NULL;
    if (!copy) return NULL;
    copy->child = copy->next = NULL;
    for (const Field *f = from->wire == 2 && from->is < MESSAGES ? from->child : NULL; f; f = f->next) {
        if (!(*to = field_copy(t, f))) return NULL;
        to = &(*to)->next;
    }
    return copy;
}

// ---- changes

static const Field *any_like(Tree *t, const Field *f) // another field that could stand here; of a name, any name
{
    const Field *found = NULL;
    uint64_t     seen  = 0;
    for (int i = 0; i < t->count; i++) {
        const Field *g = &t->fields[i];
        bool fits = g->wire == f->wire && (f->wire == 2 ? g->is == f->is : g->of == f->of && g->number == f->number);
        if (fits && g != f && roll(t, ++seen) == 0) found = g;
    }
    return found;
}

static uint64_t some_number(Tree *t)
{
    static const int64_t numbers[] = {
        0,         1,         2,         3,    4,     5,       7,         8,         15,          16,        17,
        64,        255,       256,       1000, 65536, 1 << 24, INT32_MAX, 1LL << 31, 1LL << 32,   1LL << 40, 1LL << 61,
        1LL << 62, INT64_MAX, INT64_MIN, -1,   -2,    -3,      -8,        INT32_MIN, -(1LL << 40)};
    return (uint64_t)numbers[roll(t, sizeof numbers / sizeof *numbers)] + (roll(t, 8) ? 0 : roll(t, 5) - 2);
}

static void set_text(Tree *t, Field *f, const char *text)
{
    size_t   size = strlen(text);
    uint8_t *at   = pool_take(t, size);
    if (!at) return;
    memcpy(at, text, size);
    f->data = at;
    f->size = size;
}

static void change_bytes(Tree *t, Field *f)
{
    size_t   room = f->size + 16 + roll(t, 64);
    uint8_t *at   = pool_take(t, room);
    if (!at) return;
    memcpy(at, f->data, f->size);
    f->data = at;
    if (LLVMFuzzerMutate && roll(t, 3))
        f->size = LLVMFuzzerMutate(at, f->size, room);
    else if (f->size)
        at[roll(t, f->size)] = (uint8_t)roll(t, 256);
}

// A number more, less or other in a packed list.
static void change_ints(Tree *t, Field *f)
{
    uint64_t numbers[64];
    size_t   count = 0;
    for (const uint8_t *at = f->data, *end = at + f->size; at < end && count < 60;)
        if (!varint_read(&at, end, &numbers[count++])) break;
    size_t i = roll(t, count + 1);
    if (roll(t, 2) && count)
        numbers[i % count] = some_number(t);
    else if (roll(t, 2) || !count)
        numbers[count++] = roll(t, 2) ? some_number(t) : roll(t, 10);
    else
        count--, numbers[i % (count + 1)] = numbers[count];
    uint8_t *at = pool_take(t, count * 10), *end = at;
    if (!at) return;
    for (i = 0; i < count; i++) end = varint_write(end, numbers[i]);
    f->data = at;
    f->size = (size_t)(end - at);
}

static void change_text(Tree *t, Field *f)
{
    static const char *const domains[] = {"", "ai.onnx", "com.microsoft", "ai.onnx.ml", "hologram", "my.own"};
    HoloOpInfo               info;
    const Field             *other = any_like(t, f);
    if (f->is == IS_OPERATOR && roll(t, 2) && holo_op_info((int)roll(t, (uint64_t)holo_op_count()), &info))
        set_text(t, f, info.name);
    else if (f->is == IS_DOMAIN)
        set_text(t, f, domains[roll(t, sizeof domains / sizeof *domains)]);
    else if (other && roll(t, 8))
        f->data = other->data, f->size = other->size;
    else if (roll(t, 3))
        set_text(t, f, roll(t, 2) ? "" : "n");
    else
        change_bytes(t, f);
}

static void change_value(Tree *t, Field *f)
{
    const Field *other = any_like(t, f);
    if (f->wire == 2 && f->is == IS_INTS && roll(t, 8)) {
        change_ints(t, f);
    } else if (f->wire == 2) {
        f->is == IS_NAME || f->is == IS_OPERATOR || f->is == IS_DOMAIN ? change_text(t, f) : change_bytes(t, f);
    } else if (f->wire == 5) {
        static const float floats[] = {0, 1, -1, 0.5f, 1e30f, -1e-30f, 1e9f};
        uint32_t           bits     = roll(t, 2) ? 0x7F800000u + ((uint32_t)roll(t, 2) << 22) : 0;
        if (!bits) memcpy(&bits, &floats[roll(t, 7)], 4);
        f->value = bits;
    } else if (other && !roll(t, 3)) {
        f->value = other->value;
    } else {
        f->value = roll(t, 3) ? f->value + roll(t, 7) - 3 : some_number(t);
    }
}

// The link that leads to a field, in the list that it is in.
static Field **link_of(Field **list, const Field *f)
{
    for (; *list; list = &(*list)->next) {
        if (*list == f) return list;
        bool    has   = (*list)->wire == 2 && (*list)->is < MESSAGES;
        Field **found = has ? link_of(&(*list)->child, f) : NULL;
        if (found) return found;
    }
    return NULL;
}

// A field of the tree, more often a small one deep inside than its place in the file would have it.
static Field *any_field(Tree *t, int until)
{
    Field *f = &t->fields[roll(t, (uint64_t)until)];
    for (int i = 0; i < 4 && f->wire == 2 && f->is == IS_BYTES; i++) f = &t->fields[roll(t, (uint64_t)until)];
    return f;
}

static void change(Tree *t, Field **root, int until)
{
    Field  *f    = any_field(t, until);
    Field **link = link_of(root, f), *copy;
    if (!link) return;
    bool has = f->wire == 2 && f->is < MESSAGES;
    switch (roll(t, has ? 4 : 12)) {
    case 0: *link = f->next; break; // it goes
    case 1:                         // it is there twice
        if ((copy = field_copy(t, f))) copy->next = f->next, f->next = copy;
        break;
    case 2: { // another stands in its place, or before it
        const Field *other = any_like(t, f);
        if (!other || !(copy = field_copy(t, other))) break;
        copy->number = f->number;
        copy->of     = f->of;
        copy->next   = roll(t, 2) ? f : f->next;
        *link        = copy;
        break;
    }
    case 3: // it comes last in its list
        *link = f->next;
        for (; *link; link = &(*link)->next) continue;
        f->next = NULL;
        *link   = f;
        break;
    default: change_value(t, f);
    }
}

static bool tree_open(Tree *t, unsigned seed)
{
    *t        = (Tree){.random = seed * 2654435761u + 1};
    t->fields = malloc(FIELDS_MAX * sizeof *t->fields);
    t->pool   = malloc(POOL_MAX);
    return t->fields && t->pool;
}

static void tree_close(Tree *t)
{
    free(t->fields);
    free(t->pool);
}

// Writes the tree to `out`; 0: it is too long.
static size_t tree_write(const Field *root, uint8_t *out, size_t max_size)
{
    size_t size = message_size(root);
    if (!size || size > max_size) return 0;
    uint8_t *bytes = malloc(size); // what is written may be what was read
    if (!bytes) return 0;
    message_write(root, bytes);
    memcpy(out, bytes, size);
    free(bytes);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    Tree   t;
    Field *root    = NULL;
    size_t written = 0;
    if (tree_open(&t, seed) && message_read(&t, data, data + size, MODEL, 0, &root) && t.count && roll(&t, 20)) {
        int until = t.count;
        for (uint64_t n = 1 + roll(&t, roll(&t, 3) ? 2 : 8); n--;) change(&t, &root, until);
        written = tree_write(root, data, max_size);
    }
    tree_close(&t);
    if (written) return written;
    return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : size;
}

// Parts of the second model, of the same kind, in places of the first.
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max_size, unsigned seed)
{
    Tree   t;
    Field *first = NULL, *second = NULL;
    size_t written = 0;
    if (tree_open(&t, seed) && message_read(&t, a, a + a_size, MODEL, 0, &first) && t.count) {
        int until = t.count;
        if (message_read(&t, b, b + b_size, MODEL, 0, &second) && t.count > until)
            for (uint64_t n = 1 + roll(&t, 6); n--;) {
                Field       *f     = &t.fields[until + (int)roll(&t, (uint64_t)(t.count - until))];
                const Field *place = any_like(&t, f);
                Field      **link = place ? link_of(&first, place) : NULL, *copy = link ? field_copy(&t, f) : NULL;
                if (!copy) continue;
                copy->number = (*link)->number;
                copy->next   = roll(&t, 2) ? *link : (*link)->next;
                *link        = copy;
            }
        written = tree_write(first, out, max_size);
    }
    tree_close(&t);
    return written;
}

#endif
