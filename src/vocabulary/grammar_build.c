// grammar_build.c - trees to networks of nodes, and these to a block. See grammar_tree.h.
#include "text/unicode.h"
#include "vocabulary/grammar_tree.h"

#include <string.h>

enum { WORK_MAX = 1 << 22 };

HoloStatus holo_grammar_fail(HoloGrammarBuilder *b, HoloStatus status, const char *format, ...)
{
    va_list args;
    if (b->status) return b->status;
    va_start(args, format);
    b->status = holo_fail_v(b->error, status, format, args);
    va_end(args);
    return b->status;
}

// ---- trees

HoloTree *holo_tree_new(HoloGrammarBuilder *b, HoloTreeKind kind)
{
    HoloTree *tree = b->status ? NULL : HOLO_NEW(b->arena, HoloTree, 1);
    if (tree)
        tree->kind = kind;
    else if (!b->status)
        b->status = holo_fail_memory(b->error);
    return tree;
}

HoloTree *holo_tree_bytes(HoloGrammarBuilder *b, HoloString text)
{
    HoloTree *tree = holo_tree_new(b, HOLO_TREE_TEXT);
    if (tree) tree->text = text;
    return tree;
}

HoloTree *holo_tree_text(HoloGrammarBuilder *b, const char *text)
{
    return holo_tree_bytes(b, (HoloString){text, strlen(text)});
}

HoloTree *holo_tree_rule(HoloGrammarBuilder *b, uint32_t rule)
{
    HoloTree *tree = holo_tree_new(b, HOLO_TREE_RULE);
    if (tree) tree->rule = rule;
    return tree;
}

HoloTree *holo_tree_repeat(HoloGrammarBuilder *b, HoloTree *child, int min, int max)
{
    HoloTree *tree = holo_tree_new(b, HOLO_TREE_REPEAT);
    if (!tree || !child) return NULL;
    tree->min = min;
    tree->max = max;
    holo_tree_add(tree, child);
    return tree;
}

void holo_tree_add(HoloTree *parent, HoloTree *child)
{
    if (!parent || !child) return;
    if (parent->last)
        parent->last->next = child;
    else
        parent->child = child;
    parent->last = child;
}

uint32_t holo_grammar_rule(HoloGrammarBuilder *b, HoloString name)
{
    for (int i = 0; i < b->rule_count; i++)
        if (b->rule[i].name.size == name.size && !memcmp(b->rule[i].name.data, name.data, name.size))
            return (uint32_t)i;
    if (b->status) return UINT32_MAX;
    if (b->rule_count >= HOLO_GRAMMAR_RULES_MAX / 16) {
        b->status =
            holo_grammar_fail(b, HOLO_UNSUPPORTED, "the grammar has more than %d rules", HOLO_GRAMMAR_RULES_MAX / 16);
        return UINT32_MAX;
    }
    if (!HOLO_GROW(b->arena, b->rule, b->rule_count, b->rule_room)) {
        b->status = holo_fail_memory(b->error);
        return UINT32_MAX;
    }
    b->rule[b->rule_count] = (HoloGrammarRuleText){.name = name};
    return (uint32_t)b->rule_count++;
}

// ---- nodes

static uint32_t put(HoloGrammarBuilder *b, const HoloTree *t, uint32_t next);

static uint32_t put_and(HoloGrammarBuilder *b, const HoloTree *t, uint32_t next)
{
    const HoloTree **list  = NULL;
    int              count = 0, room = 0;
    for (const HoloTree *c = t->child; c && !b->status; c = c->next) {
        if (!HOLO_GROW(b->arena, list, count, room))
            b->status = holo_fail_memory(b->error);
        else
            list[count++] = c;
    }
    while (count > 0 && !b->status) next = put(b, list[--count], next);
    return next;
}

static uint32_t put_or(HoloGrammarBuilder *b, const HoloTree *t, uint32_t next)
{
    uint32_t all = UINT32_MAX;
    for (const HoloTree *c = t->child; c && !b->status; c = c->next) all = holo_node_either(b, put(b, c, next), all);
    return all == UINT32_MAX ? next : all;
}

static uint32_t put_repeat(HoloGrammarBuilder *b, const HoloTree *t, uint32_t next)
{
    uint32_t at = next;
    if (t->max < 0) {
        uint32_t loop = at = holo_node_put(b, HOLO_NODE_SPLIT, next, next), body = put(b, t->child, loop);
        if (!b->status) b->node[loop].x = body;
    }
    for (int i = t->min; i < t->max && !b->status; i++) at = holo_node_either(b, put(b, t->child, at), next);
    for (int i = 0; i < t->min && !b->status; i++) at = put(b, t->child, at);
    return at;
}

// A code point in a JSON string: as it is, or as an escape where it must be one.
static uint32_t put_quoted(HoloGrammarBuilder *b, const HoloTree *t, uint32_t next)
{
    static const char letters[] = "\"\\\b\f\n\r\t", escapes[] = "\"\\bfnrt";
    HoloCodeSet       special = {0}, plain = {0};
    char             *text;
    uint32_t          all = UINT32_MAX;
    bool ok = holo_code_set_add(b->arena, &special, 0, 31) && holo_code_set_add(b->arena, &special, '"', '"') &&
              holo_code_set_add(b->arena, &special, '\\', '\\') && holo_code_set_join(b->arena, &plain, &special) &&
              holo_code_set_negate(b->arena, &plain) && holo_code_set_meet(b->arena, &plain, &t->set);
    for (uint32_t code = 0; ok && code < 128; code++) {
        if (!holo_code_set_has(&special, code) || !holo_code_set_has(&t->set, code)) continue;
        const char *found = code ? strchr(letters, (int)code) : NULL;
        text              = found ? holo_arena_format(b->arena, "\\%c", escapes[found - letters])
                                  : holo_arena_format(b->arena, "\\u%04x", code);
        ok                = text;
        if (ok) all = holo_node_either(b, holo_node_text(b, (HoloString){text, strlen(text)}, next), all);
    }
    if (!ok && !b->status) b->status = holo_fail_memory(b->error);
    if (b->status) return 0;
    return plain.count         ? holo_node_either(b, holo_node_codes(b, &plain, next), all)
           : all == UINT32_MAX ? holo_node_codes(b, &plain, next)
                               : all;
}

// From the last member to the first, the ways on if a member was there before, and if none was.
static uint32_t put_chain(HoloGrammarBuilder *b, const HoloTree *t, uint32_t next)
{
    const HoloTree **list  = NULL;
    int              count = 0, room = 0;
    uint32_t         rest = next, none = next;
    for (const HoloTree *c = t->child; c && !b->status; c = c->next) {
        if (!HOLO_GROW(b->arena, list, count, room))
            b->status = holo_fail_memory(b->error);
        else
            list[count++] = c;
    }
    while (count > 0 && !b->status) {
        const HoloTree *m     = list[--count];
        bool            loops = m->member == HOLO_MEMBER_MANY, is_needed = m->member == HOLO_MEMBER_REQUIRED;
        uint32_t        split = loops ? holo_node_put(b, HOLO_NODE_SPLIT, rest, rest) : rest;
        uint32_t        later = put(b, t->between, put(b, m, split)), first = put(b, m, split);
        if (b->status) break;
        if (loops) b->node[split].x = later;
        rest = loops ? split : is_needed ? later : holo_node_either(b, later, rest);
        none = is_needed ? first : holo_node_either(b, first, none);
    }
    return none;
}

static uint32_t put(HoloGrammarBuilder *b, const HoloTree *t, uint32_t next)
{
    if (b->status || !t) return 0;
    if (++b->work > WORK_MAX) // a repeat of nothing makes no nodes, and takes its time, too
        b->status = holo_grammar_fail(b, HOLO_UNSUPPORTED, "the grammar becomes too large: repeat less");
    switch (t->kind) {
    case HOLO_TREE_TEXT: return holo_node_text(b, t->text, next);
    case HOLO_TREE_SET: return t->is_quoted ? put_quoted(b, t, next) : holo_node_codes(b, &t->set, next);
    case HOLO_TREE_AND: return put_and(b, t, next);
    case HOLO_TREE_OR: return put_or(b, t, next);
    case HOLO_TREE_REPEAT: return put_repeat(b, t, next);
    case HOLO_TREE_RULE: return holo_node_put(b, HOLO_NODE_CALL, t->rule, next);
    case HOLO_TREE_WORDS: return holo_node_words(b, t->words, t->word_count, next);
    case HOLO_TREE_CHAIN: return put_chain(b, t, next);
    case HOLO_TREE_BUT: return holo_node_but(b, t->words, t->word_count, t->rule, next);
    }
    return next;
}

// ---- the block

typedef struct GrammarWriter {
    uint8_t *data;
    size_t   size;
} GrammarWriter;

static HoloTextSpan write_list(GrammarWriter *w, const void *list, size_t count, size_t size)
{
    HoloTextSpan span = {(uint32_t)w->size, (uint32_t)count};
    if (w->data && count) memcpy(w->data + w->size, list, count * size);
    w->size = holo_align(w->size + count * size, 8);
    return span;
}

// Bytes that no set tells apart are one class. Sets of bytes become sets of classes.
static uint32_t make_classes(HoloGrammarBuilder *b, uint8_t class_of[256])
{
    uint32_t count = 1;
    memset(class_of, 0, 256);
    for (int i = 0; i < b->set_count && count < 256; i++) {
        int16_t split[256];
        memset(split, -1, sizeof split);
        for (int byte = 0; byte < 256; byte++) { // bytes of the set leave their class, unless all of it does
            if (!(b->set[i].word[byte / 64] >> byte % 64 & 1)) continue;
            uint8_t was = class_of[byte];
            if (split[was] < 0) {
                bool is_all = true;
                for (int k = 0; k < 256; k++) is_all &= class_of[k] != was || (b->set[i].word[k / 64] >> k % 64 & 1);
                split[was] = is_all ? was : (int16_t)count++;
                if (split[was] != was) split[split[was]] = split[was];
            }
            class_of[byte] = (uint8_t)split[was];
        }
    }
    for (int i = 0; i < b->set_count; i++) {
        HoloGrammarSet classes = {0};
        for (int byte = 0; byte < 256; byte++)
            if (b->set[i].word[byte / 64] >> byte % 64 & 1)
                classes.word[class_of[byte] / 64] |= UINT64_C(1) << class_of[byte] % 64;
        b->set[i] = classes;
    }
    return count;
}

static size_t write_block(HoloGrammarBuilder *b, HoloGrammarHeader *h, const uint8_t *class_of, uint8_t *data)
{
    GrammarWriter    w     = {data, sizeof *h};
    HoloGrammarRule *rules = HOLO_NEW(b->arena, HoloGrammarRule, b->rule_count + 1);
    if (!rules) return 0;
    h->classes    = write_list(&w, class_of, 256, 1);
    h->sets       = write_list(&w, b->set, (size_t)b->set_count, sizeof *b->set);
    h->nodes      = write_list(&w, b->node, (size_t)b->node_count, sizeof *b->node);
    h->text.start = (uint32_t)w.size;
    for (int i = 0; i < b->rule_count; i++) {
        rules[i].start = b->rule[i].start;
        rules[i].name  = write_list(&w, b->rule[i].name.data, b->rule[i].name.size, 1);
    }
    h->text.count = (uint32_t)w.size - h->text.start;
    h->rules      = write_list(&w, rules, (size_t)b->rule_count, sizeof *rules);
    h->size       = (uint32_t)w.size;
    if (data) memcpy(data, h, sizeof *h);
    return w.size;
}

HoloStatus holo_grammar_finish(HoloGrammarBuilder *b, HoloVocabularyBytes *out)
{
    HoloGrammarHeader h = {.version = HOLO_GRAMMAR_VERSION};
    uint8_t           class_of[256];
    memcpy(h.magic, HOLO_GRAMMAR_MAGIC, sizeof h.magic);
    for (int i = 0; i < b->rule_count && !b->status; i++) {
        uint32_t end = holo_node_put(b, HOLO_NODE_END, 0, 0), start = put(b, b->rule[i].tree, end);
        if (!b->status) b->rule[i].start = start;
    }
    if (!b->status) holo_grammar_check_rules(b);
    if (b->status) return b->status;
    h.class_count = make_classes(b, class_of);
    size_t   size = write_block(b, &h, class_of, NULL);
    uint8_t *data = size ? holo_arena_take(b->arena, size) : NULL;
    if (!data || !write_block(b, &h, class_of, data)) return holo_fail_memory(b->error);
    *out = (HoloVocabularyBytes){data, size};
    return HOLO_OK;
}
