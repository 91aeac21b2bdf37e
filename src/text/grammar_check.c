// grammar_check.c - opens grammars: checks a block once, so that nothing that reads it can leave it.
//
// Rules that call themselves without a byte in between need no check: the machine bounds every step.
#include "text/grammar.h"

#include <string.h>

static HoloStatus bad(HoloError *error, const char *what)
{
    return holo_fail(error, HOLO_BAD_ARCHIVE, "the compiled grammar is damaged: %s", what);
}

static bool fits(HoloTextSpan span, size_t element, size_t size)
{
    size_t bytes, end;
    return span.start % 8 == 0 && holo_size_mul(span.count, element, &bytes) &&
           holo_size_add(span.start, bytes, &end) && end <= size;
}

static HoloStatus check_nodes(const HoloGrammar *g, HoloError *error)
{
    const HoloGrammarHeader *h = g->header;
    for (uint32_t i = 0; i < h->nodes.count; i++) {
        HoloGrammarNode n        = g->node[i];
        uint32_t        limits[] = {h->sets.count, h->nodes.count, h->rules.count, UINT32_MAX};
        if (n.kind >= HOLO_NODE_KINDS || n.x >= limits[n.kind] || (n.kind != HOLO_NODE_END && n.y >= h->nodes.count))
            return bad(error, "its nodes");
    }
    for (uint32_t i = 0; i < h->rules.count; i++)
        if (g->rule[i].start >= h->nodes.count || !fits(g->rule[i].name, 1, h->size)) return bad(error, "its rules");
    return HOLO_OK;
}

// Views of the block.
static HoloStatus view(HoloGrammar *g, size_t size, HoloError *error)
{
    const HoloGrammarHeader *h = g->header = (const HoloGrammarHeader *)(const void *)g->block;
    if (size < sizeof *h || memcmp(h->magic, HOLO_GRAMMAR_MAGIC, sizeof h->magic))
        return bad(error, "it does not begin as one");
    if (h->version != HOLO_GRAMMAR_VERSION)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the compiled grammar has version %u, and this library reads version %d: compile it anew",
                         h->version, HOLO_GRAMMAR_VERSION);
    if (h->size != size) return bad(error, "its size");
    if (!fits(h->classes, 1, size) || !fits(h->sets, sizeof *g->set, size) || !fits(h->nodes, sizeof *g->node, size) ||
        !fits(h->rules, sizeof *g->rule, size) || !fits(h->text, 1, size))
        return bad(error, "a list lies outside of it");
    g->class_of = g->block + h->classes.start;
    g->set      = (const void *)(g->block + h->sets.start);
    g->node     = (const void *)(g->block + h->nodes.start);
    g->rule     = (const void *)(g->block + h->rules.start);
    if (h->classes.count != 256 || !h->class_count || h->class_count > 256) return bad(error, "its classes of bytes");
    for (int i = 0; i < 256; i++)
        if (g->class_of[i] >= h->class_count) return bad(error, "its classes of bytes");
    if (h->root >= h->rules.count || h->nodes.count > HOLO_GRAMMAR_NODES_MAX || h->rules.count > HOLO_GRAMMAR_RULES_MAX)
        return bad(error, "its rules");
    return check_nodes(g, error);
}

HoloStatus holo_grammar_open_memory(const void *block, size_t size, HoloGrammar **out_grammar, HoloError *error)
{
    *out_grammar   = NULL;
    HoloGrammar *g = holo_realloc(NULL, sizeof *g);
    uint8_t     *b = size <= UINT32_MAX ? holo_realloc(NULL, size + sizeof(HoloGrammarHeader)) : NULL;
    if (!g || !b) {
        holo_free(g);
        holo_free(b);
        return holo_fail_memory(error);
    }
    *g = (HoloGrammar){.block = b};
    if (size) memcpy(b, block, size);
    holo_mutex_init(&g->lock);
    HoloStatus status = view(g, size, error);
    if (!status && !holo_machine_begin(g)) status = holo_fail_memory(error);
    if (status) {
        holo_grammar_close(g);
        return status;
    }
    *out_grammar = g;
    return HOLO_OK;
}

void holo_grammar_close(HoloGrammar *g)
{
    if (!g) return;
    holo_machine_deinit(&g->machine);
    holo_mutex_deinit(&g->lock);
    holo_free(g->block);
    holo_free(g);
}

const void *holo_grammar_block(const HoloGrammar *g, size_t *out_size)
{
    *out_size = g->header->size;
    return g->block;
}

HoloStatus holo_grammar_set_tokens(HoloGrammar *g, const HoloTokenTree *tree, HoloError *error)
{
    holo_mutex_lock(&g->lock);
    bool is_same = g->tree == tree, is_used = g->states && !is_same;
    bool is_empty = is_same || is_used || holo_machine_begin(g);
    if (!is_used && is_empty) g->tree = tree;
    holo_mutex_unlock(&g->lock);
    if (is_used)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "the grammar has states already: set its tokens before the first of them is created");
    return is_empty ? HOLO_OK : holo_fail_memory(error);
}
