// token_tree.c - the tokens of a vocabulary as a tree of bytes, for masks. See grammar.h.
#include "text/grammar.h"
#include "text/unicode.h"

#include <stdlib.h>
#include <string.h>

typedef struct Sorted {
    const uint8_t *text;
    uint32_t       size, token;
} Sorted;

static int by_bytes(const void *a, const void *b)
{
    const Sorted *x = a, *y = b;
    int           c = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);
    if (c) return c;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

static uint32_t shared(const Sorted *a, const Sorted *b)
{
    uint32_t n = 0, most = a->size < b->size ? a->size : b->size;
    while (n < most && a->text[n] == b->text[n]) n++;
    return n;
}

// Nodes of the sorted tokens. `node` is NULL: they are counted alone.
static size_t make_nodes(const Sorted *sorted, uint32_t count, HoloTokenNode *node)
{
    uint32_t path[HOLO_TOKEN_BYTES_MAX + 1], depth = 0;
    size_t   made = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t common = i ? shared(&sorted[i - 1], &sorted[i]) : 0;
        for (; depth > common; depth--)
            if (node) node[path[depth]].behind = (uint32_t)made;
        for (; depth < sorted[i].size; made++) {
            path[++depth] = (uint32_t)made;
            if (node)
                node[made] = (HoloTokenNode){
                    .first = i, .own_end = i, .depth = (uint16_t)depth, .byte = sorted[i].text[depth - 1]};
        }
        if (node) node[path[depth]].own_end = i + 1;
    }
    for (; depth; depth--)
        if (node) node[path[depth]].behind = (uint32_t)made;
    return made;
}

static bool is_in(const uint32_t *list, size_t count, uint32_t token)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == token) return true;
    return false;
}

static HoloStatus plant(HoloTokenTree *t, HoloError *error)
{
    Sorted *sorted = holo_realloc(NULL, (size_t)t->count * sizeof *sorted);
    if (!sorted) return holo_fail_memory(error);
    for (uint32_t i = 0; i < t->count; i++) {
        HoloString text = holo_tree_token(t, i);
        if (!text.size || text.size > HOLO_TOKEN_BYTES_MAX || is_in(t->end, t->end_count, i)) continue;
        sorted[t->order_count++] = (Sorted){(const uint8_t *)text.data, (uint32_t)text.size, i};
    }
    if (t->order_count) qsort(sorted, t->order_count, sizeof *sorted, by_bytes);
    size_t nodes = make_nodes(sorted, t->order_count, NULL);
    t->node      = nodes < INT32_MAX ? holo_realloc(NULL, nodes * sizeof *t->node) : NULL;
    t->order     = holo_realloc(NULL, (size_t)t->order_count * sizeof *t->order);
    bool ok      = t->node && t->order;
    if (ok) {
        t->node_count = (uint32_t)make_nodes(sorted, t->order_count, t->node);
        for (uint32_t i = 0; i < t->order_count; i++) t->order[i] = sorted[i].token;
        ok = holo_tree_sums(t);
    }
    holo_free(sorted);
    return ok ? HOLO_OK : holo_fail_memory(error);
}

// ---- life

// A tree of `count` tokens without text.
static HoloStatus begin(uint32_t count, const uint32_t *ends, size_t end_count, HoloTokenTree **out, HoloError *error)
{
    *out = NULL;
    for (size_t i = 0; i < end_count; i++)
        if (ends[i] >= count)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "end token %u does not exist: the vocabulary has %u tokens",
                             ends[i], count);
    HoloTokenTree *t = holo_realloc(NULL, sizeof *t);
    if (!t) return holo_fail_memory(error);
    *t         = (HoloTokenTree){.count = count, .end_count = end_count};
    t->text_at = holo_realloc(NULL, ((size_t)count + 1) * sizeof *t->text_at);
    t->end     = holo_realloc(NULL, end_count * sizeof *t->end);
    if (!t->text_at || !t->end) {
        holo_token_tree_destroy(t);
        return holo_fail_memory(error);
    }
    if (end_count) memcpy(t->end, ends, end_count * sizeof *t->end);
    *out = t;
    return HOLO_OK;
}

static HoloStatus finish(HoloTokenTree *t, HoloGrowing *text, HoloTokenTree **out_tree, HoloError *error)
{
    HoloStatus status = text->is_failed ? holo_fail_memory(error) : HOLO_OK;
    t->text           = text->data;
    if (!status) status = plant(t, error);
    if (!status) return *out_tree = t, HOLO_OK;
    holo_token_tree_destroy(t);
    return status;
}

HoloStatus holo_token_tree_create(HoloTokenizer *tokenizer, const uint32_t *ends, size_t end_count,
                                  HoloTokenTree **out_tree, HoloError *error)
{
    HoloTokenTree *t;
    HoloGrowing    text = {0}, spare = {0};
    *out_tree = NULL;
    HOLO_TRY(begin(holo_tokenizer_count(tokenizer), ends, end_count, &t, error));
    for (uint32_t i = 0; i < t->count; i++) {
        t->text_at[i] = text.size;
        holo_token_bytes_add(tokenizer, i, &spare, &text);
    }
    t->text_at[t->count] = text.size;
    text.is_failed |= spare.is_failed;
    holo_growing_deinit(&spare);
    return finish(t, &text, out_tree, error);
}

HoloStatus holo_token_tree_create_from(const HoloString *tokens, uint32_t count, const uint32_t *ends, size_t end_count,
                                       HoloTokenTree **out_tree, HoloError *error)
{
    HoloTokenTree *t;
    HoloGrowing    text = {0};
    *out_tree           = NULL;
    HOLO_TRY(begin(count, ends, end_count, &t, error));
    for (uint32_t i = 0; i < count; i++) {
        t->text_at[i] = text.size;
        if (tokens[i].size) holo_growing_add(&text, tokens[i].data, tokens[i].size);
    }
    t->text_at[count] = text.size;
    return finish(t, &text, out_tree, error);
}

void holo_token_tree_destroy(HoloTokenTree *t)
{
    if (!t) return;
    void *all[] = {t->text, t->text_at, t->order, t->node, t->end, t->sum, t->bits};
    for (int i = 0; i < HOLO_COUNT(all); i++) holo_free(all[i]);
    holo_free(t);
}
