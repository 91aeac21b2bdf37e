// grammar_nodes.c - nodes over bytes: texts, sets of code points as UTF-8, and lists of words as one tree.
#include "text/unicode.h"
#include "vocabulary/grammar_tree.h"

#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 1 << 14 };

uint32_t holo_node_put(HoloGrammarBuilder *b, uint32_t kind, uint32_t x, uint32_t y)
{
    if (b->status) return 0;
    if (b->node_count >= HOLO_GRAMMAR_NODES_MAX) {
        b->status = holo_grammar_fail(b, HOLO_UNSUPPORTED,
                                      "the grammar becomes too large: it would have more than %d places. Repeat less",
                                      HOLO_GRAMMAR_NODES_MAX);
        return 0;
    }
    if (!HOLO_GROW(b->arena, b->node, b->node_count, b->node_room)) {
        b->status = holo_fail_memory(b->error);
        return 0;
    }
    b->node[b->node_count] = (HoloGrammarNode){kind, x, y};
    return (uint32_t)b->node_count++;
}

uint32_t holo_node_either(HoloGrammarBuilder *b, uint32_t x, uint32_t y)
{
    if (x == UINT32_MAX) return y;
    if (y == UINT32_MAX || x == y) return x;
    return holo_node_put(b, HOLO_NODE_SPLIT, x, y);
}

static uint32_t set_of(HoloGrammarBuilder *b, HoloGrammarSet set)
{
    for (int i = 0; i < b->set_count; i++)
        if (!memcmp(&b->set[i], &set, sizeof set)) return (uint32_t)i;
    if (b->set_count >= SETS_MAX)
        b->status = holo_grammar_fail(b, HOLO_UNSUPPORTED, "the grammar has more than %d sets of characters", SETS_MAX);
    if (b->status) return 0;
    if (!HOLO_GROW(b->arena, b->set, b->set_count, b->set_room)) {
        b->status = holo_fail_memory(b->error);
        return 0;
    }
    b->set[b->set_count] = set;
    return (uint32_t)b->set_count++;
}

static void set_add(HoloGrammarSet *set, uint32_t first, uint32_t last)
{
    for (; first <= last; first++) set->word[first / 64] |= UINT64_C(1) << first % 64;
}

static uint32_t put_range(HoloGrammarBuilder *b, uint32_t first, uint32_t last, uint32_t next)
{
    HoloGrammarSet set = {0};
    set_add(&set, first, last);
    return holo_node_put(b, HOLO_NODE_SET, set_of(b, set), next);
}

uint32_t holo_node_text(HoloGrammarBuilder *b, HoloString text, uint32_t next)
{
    for (size_t i = text.size; i-- > 0;) next = put_range(b, (uint8_t)text.data[i], (uint8_t)text.data[i], next);
    return next;
}

// ---- code points

typedef struct Follow { // what follows bytes that lead: each kind is there once
    uint32_t first, last, next, node;
} Follow;

enum { FOLLOW_MAX = 64 };

typedef struct Codes {
    HoloGrammarBuilder *b;
    uint32_t            next;
    Follow              follow[FOLLOW_MAX];
    int                 follow_count;
    struct {
        HoloGrammarSet set;
        uint32_t       next;
    } lead[FOLLOW_MAX];
    int      lead_count;
    uint32_t more; // alternatives that have no room above
} Codes;

// A byte that is not the first, in front of `next`.
static uint32_t follow(Codes *c, uint32_t first, uint32_t last, uint32_t next)
{
    for (int i = 0; i < c->follow_count; i++)
        if (c->follow[i].first == first && c->follow[i].last == last && c->follow[i].next == next)
            return c->follow[i].node;
    uint32_t node = put_range(c->b, first, last, next);
    if (c->follow_count < FOLLOW_MAX) c->follow[c->follow_count++] = (Follow){first, last, next, node};
    return node;
}

static void lead(Codes *c, uint32_t first, uint32_t last, uint32_t next)
{
    for (int i = 0; i < c->lead_count; i++)
        if (c->lead[i].next == next) {
            set_add(&c->lead[i].set, first, last);
            return;
        }
    if (c->lead_count == FOLLOW_MAX) {
        c->more = holo_node_either(c->b, put_range(c->b, first, last, next), c->more);
        return;
    }
    c->lead[c->lead_count].next = next;
    c->lead[c->lead_count].set  = (HoloGrammarSet){0};
    set_add(&c->lead[c->lead_count++].set, first, last);
}

// Adds characters `first` to `last`, which have the same number of bytes. Behind the first byte that differs, every
// value of a byte is in the range.
static void add_sequence(Codes *c, uint32_t first, uint32_t last)
{
    uint8_t  low[4], high[4];
    int      size = holo_code_write(first, low);
    uint32_t next = c->next;
    holo_code_write(last, high);
    for (int i = size - 1; i > 0; i--) next = follow(c, low[i], high[i], next);
    lead(c, low[0], high[0], next);
}

static void add_range(Codes *c, uint32_t first, uint32_t last)
{
    static const uint32_t ends[] = {0x7F, 0x7FF, 0xD7FF, 0xFFFF, 0x10FFFF};
    while (first <= last && !c->b->status) {
        uint32_t end = last;
        if (first >= 0xD800 && first <= 0xDFFF) { // surrogates are no characters
            first = 0xE000;
            continue;
        }
        for (int i = 0; i < HOLO_COUNT(ends); i++)
            if (first <= ends[i] && end > ends[i]) end = ends[i];
        for (int bits = 18; bits > 0; bits -= 6) { // whole groups of what the last bytes say
            uint32_t rest = (UINT32_C(1) << bits) - 1;
            if (first >> bits == end >> bits || first < 0x80) continue;
            if (first & rest) {
                if ((first | rest) < end) end = first | rest;
            } else if ((end & rest) != rest) {
                end = (end & ~rest) - 1;
            }
        }
        add_sequence(c, first, end);
        first = end + 1;
    }
}

uint32_t holo_node_codes(HoloGrammarBuilder *b, const HoloCodeSet *set, uint32_t next)
{
    Codes c = {.b = b, .next = next, .more = UINT32_MAX};
    for (int i = 0; i < set->count; i++) add_range(&c, set->range[i].first, set->range[i].last);
    uint32_t all = c.more;
    for (int i = c.lead_count; i-- > 0;)
        all = holo_node_either(b, holo_node_put(b, HOLO_NODE_SET, set_of(b, c.lead[i].set), c.lead[i].next), all);
    if (all != UINT32_MAX) return all;
    return holo_node_put(b, HOLO_NODE_SET, set_of(b, (HoloGrammarSet){0}), next); // nothing fits
}

// ---- words

static int by_text(const void *a, const void *b)
{
    const HoloString *x = a, *y = b;
    int               c = memcmp(x->data, y->data, x->size < y->size ? x->size : y->size);
    return c ? c : (x->size > y->size) - (x->size < y->size);
}

static size_t sorted(HoloString *words, size_t count)
{
    size_t kept = 0;
    if (count) qsort(words, count, sizeof *words, by_text);
    for (size_t i = 0; i < count; i++)
        if (!kept || by_text(&words[kept - 1], &words[i])) words[kept++] = words[i];
    return kept;
}

// Words that share `depth` bytes.
static uint32_t put_words(HoloGrammarBuilder *b, const HoloString *words, size_t count, size_t depth, uint32_t next)
{
    uint32_t all = UINT32_MAX;
    if (count == 1) return holo_node_text(b, (HoloString){words[0].data + depth, words[0].size - depth}, next);
    for (size_t from = 0, to; from < count && !b->status; from = to) {
        to = from + 1;
        if (words[from].size == depth) {
            all = holo_node_either(b, next, all);
            continue;
        }
        uint8_t byte = (uint8_t)words[from].data[depth];
        while (to < count && (uint8_t)words[to].data[depth] == byte) to++;
        all =
            holo_node_either(b, put_range(b, byte, byte, put_words(b, words + from, to - from, depth + 1, next)), all);
    }
    return all;
}

uint32_t holo_node_words(HoloGrammarBuilder *b, HoloString *words, size_t count, uint32_t next)
{
    return put_words(b, words, sorted(words, count), 0, next);
}

// What is left of a string that begins like these words, but is none of them. Once it differs, anything may follow.
static uint32_t put_but(HoloGrammarBuilder *b, const HoloString *words, size_t count, size_t depth, uint32_t any_rest,
                        uint32_t next)
{
    HoloCodeSet others  = {0};
    bool        is_word = false, ok = true;
    uint32_t    all = UINT32_MAX;
    for (size_t from = 0, to; from < count && !b->status; from = to) {
        int size;
        to = from + 1;
        if (words[from].size == depth) {
            is_word = true;
            continue;
        }
        const uint8_t *at   = (const uint8_t *)words[from].data + depth;
        uint32_t       code = holo_code_read(at, words[from].size - depth, &size);
        while (to < count && words[to].size >= depth + (size_t)size &&
               !memcmp(words[to].data + depth, at, (size_t)size))
            to++;
        ok &= holo_code_set_add(b->arena, &others, code, code);
        uint32_t rest = put_but(b, words + from, to - from, depth + (size_t)size, any_rest, next);
        if (code >= 32 && code != '"' && code != '\\') // others are written as escapes, which are not followed here
            all = holo_node_either(b, holo_node_text(b, (HoloString){(const char *)at, (size_t)size}, rest), all);
    }
    ok &= holo_code_set_add(b->arena, &others, 0, 31) && holo_code_set_add(b->arena, &others, '"', '"') &&
          holo_code_set_add(b->arena, &others, '\\', '\\') && holo_code_set_negate(b->arena, &others);
    if (!ok && !b->status) b->status = holo_fail_memory(b->error);
    if (b->status) return 0;
    uint32_t differs = holo_node_put(b, HOLO_NODE_CALL, any_rest, next);
    all              = holo_node_either(b, holo_node_codes(b, &others, differs), all);
    if (!is_word) all = holo_node_either(b, put_range(b, '"', '"', next), all);
    return all;
}

uint32_t holo_node_but(HoloGrammarBuilder *b, HoloString *words, size_t count, uint32_t any_rest, uint32_t next)
{
    return put_but(b, words, sorted(words, count), 0, any_rest, next);
}
