// tokenizer_check.c - checks a block once, so that nothing that reads it can leave it.
//
// Tries need no check of their links: every step looks whether it stays inside, and ends with the text.
#include "text/tokenizer.h"

#include <string.h>

typedef struct Check {
    const uint8_t             *block;
    size_t                     size;
    const HoloTokenizerHeader *header;
    HoloError                 *error;
} Check;

static HoloStatus bad(const Check *c, const char *what)
{
    return holo_fail(c->error, HOLO_BAD_ARCHIVE, "the compiled tokenizer is damaged: %s", what);
}

static bool fits(const Check *c, HoloTextSpan span, size_t size)
{
    size_t bytes, end;
    return span.start % 8 == 0 && holo_size_mul(span.count, size, &bytes) && holo_size_add(span.start, bytes, &end) &&
           end <= c->size;
}

static const void *at(const Check *c, HoloTextSpan span)
{
    return c->block + span.start;
}

static bool below(const Check *c, HoloTextSpan span, uint32_t limit) // numbers of 32 bits
{
    const uint32_t *number = at(c, span);
    for (uint32_t i = 0; i < span.count; i++)
        if (number[i] >= limit) return false;
    return true;
}

static HoloStatus check_spans(const Check *c)
{
    const HoloTokenizerHeader *h = c->header;
    const struct {
        HoloTextSpan span;
        size_t       size;
    } lists[] = {
        {h->text, 1},
        {h->token_at, 4},
        {h->token_flags, 1},
        {h->slots, 4},
        {h->merges, sizeof(HoloMerge)},
        {h->scores, 8},
        {h->byte_tokens, 4},
        {h->trie, sizeof(HoloTrieNode)},
        {h->added, sizeof(HoloAddedToken)},
        {h->added_trie, sizeof(HoloTrieNode)},
        {h->added_normal_trie, sizeof(HoloTrieNode)},
        {h->normalizers, sizeof(HoloTextStep)},
        {h->splits, sizeof(HoloTextStep)},
        {h->decoders, sizeof(HoloTextStep)},
        {h->prefix, 1},
        {h->suffix, 1},
        {h->before, 4},
        {h->behind, 4},
        {h->patterns, sizeof(HoloPattern)},
    };
    for (int i = 0; i < HOLO_COUNT(lists); i++)
        if (!fits(c, lists[i].span, lists[i].size)) return bad(c, "a list lies outside of it");
    return HOLO_OK;
}

static HoloStatus check_tokens(const Check *c)
{
    const HoloTokenizerHeader *h    = c->header;
    const uint32_t            *from = at(c, h->token_at), *slot = at(c, h->slots);
    if (h->token_at.count != (uint64_t)h->token_count + 1 || h->token_flags.count != h->token_count)
        return bad(c, "the number of tokens");
    for (uint32_t i = 0; i < h->token_count; i++)
        if (from[i] > from[i + 1]) return bad(c, "the texts of tokens");
    if (from[h->token_count] > h->text.count) return bad(c, "the texts of tokens");
    bool has_empty = false;
    for (uint32_t i = 0; i < h->slots.count; i++) {
        if (slot[i] == HOLO_NO_TOKEN)
            has_empty = true;
        else if (slot[i] >= h->token_count)
            return bad(c, "the table of tokens");
    }
    if (!has_empty || h->slots.count & (h->slots.count - 1)) return bad(c, "the table of tokens");
    if (h->unknown != HOLO_NO_TOKEN && h->unknown >= h->token_count) return bad(c, "the unknown token");
    if (!below(c, h->before, h->token_count) || !below(c, h->behind, h->token_count))
        return bad(c, "the special tokens around a text");
    return HOLO_OK;
}

static HoloStatus check_trie(const Check *c, HoloTextSpan span, uint32_t limit, const char *what)
{
    const HoloTrieNode *node = at(c, span);
    for (uint32_t i = 0; i < span.count; i++)
        if (node[i].token != HOLO_NO_TOKEN && node[i].token >= limit) return bad(c, what);
    if (span.count && node[0].check != HOLO_NO_TOKEN) return bad(c, what);
    return HOLO_OK;
}

static HoloStatus check_model(const Check *c)
{
    const HoloTokenizerHeader *h         = c->header;
    const HoloMerge           *m         = at(c, h->merges);
    bool                       has_empty = !h->merges.count;
    if (h->model >= HOLO_MODELS) return bad(c, "the kind of its model");
    for (uint32_t i = 0; i < h->merges.count; i++) {
        if (m[i].left == HOLO_NO_TOKEN)
            has_empty = true;
        else if (m[i].token >= h->token_count)
            return bad(c, "the table of merges");
    }
    if (!has_empty || h->merges.count & (h->merges.count - 1)) return bad(c, "the table of merges");
    if (h->flags & HOLO_BYTE_FALLBACK) {
        const uint32_t *token = at(c, h->byte_tokens);
        if (h->byte_tokens.count != 256) return bad(c, "the tokens of bytes");
        for (int i = 0; i < 256; i++)
            if (token[i] != HOLO_NO_TOKEN && token[i] >= h->token_count) return bad(c, "the tokens of bytes");
    }
    HOLO_TRY(check_trie(c, h->trie, h->token_count, "the tree of tokens"));
    bool needs_trie = h->model == HOLO_MODEL_WORDPIECE || h->model == HOLO_MODEL_UNIGRAM;
    if (needs_trie && !h->trie.count) return bad(c, "the tree of tokens");
    if (h->model == HOLO_MODEL_UNIGRAM && h->scores.count != h->token_count) return bad(c, "the scores of tokens");
    if (h->trie_start != HOLO_NO_TOKEN && h->trie_start >= h->trie.count && h->trie.count)
        return bad(c, "the tree of tokens");
    return HOLO_OK;
}

static HoloStatus check_added(const Check *c)
{
    const HoloTokenizerHeader *h     = c->header;
    const HoloAddedToken      *added = at(c, h->added);
    for (uint32_t i = 0; i < h->added.count; i++)
        if (added[i].token >= h->token_count || (i && added[i - 1].token >= added[i].token) ||
            !fits(c, added[i].respelt, 1))
            return bad(c, "the added tokens");
    HOLO_TRY(check_trie(c, h->added_trie, h->added.count, "the tree of added tokens"));
    return check_trie(c, h->added_normal_trie, h->added.count, "the tree of added tokens");
}

// ---- patterns

static HoloStatus check_ops(const Check *c, const HoloPattern *p)
{
    const HoloPatternOp *op   = at(c, p->ops);
    uint32_t             last = p->ops.count ? op[p->ops.count - 1].kind : HOLO_OPS;
    if (last != HOLO_OP_MATCH && last != HOLO_OP_JUMP) return bad(c, "the program of a pattern");
    for (uint32_t i = 0; i < p->ops.count; i++) {
        bool has_set = op[i].kind <= HOLO_OP_BACK, has_y = op[i].kind == HOLO_OP_SPLIT;
        if (op[i].kind >= HOLO_OPS || op[i].x >= (has_set ? p->set_count : p->ops.count) ||
            (has_y && op[i].y >= p->ops.count))
            return bad(c, "the program of a pattern");
    }
    return HOLO_OK;
}

static HoloStatus check_pattern(const Check *c, const HoloPattern *p)
{
    const uint16_t *first   = at(c, p->first);
    const uint8_t  *second  = at(c, p->second);
    const uint32_t *entry   = at(c, p->table);
    size_t          columns = (size_t)p->class_count + 1, count;
    if (!fits(c, p->text, 1) || !fits(c, p->first, 2) || !fits(c, p->second, 1) || !fits(c, p->start, 4) ||
        !fits(c, p->table, 4) || !fits(c, p->ops, sizeof(HoloPatternOp)) || !fits(c, p->sets, 1) ||
        p->form >= HOLO_PATTERN_FORMS)
        return bad(c, "a pattern lies outside of it");
    if (p->form == HOLO_PATTERN_TEXT) return p->text.count ? HOLO_OK : bad(c, "the text of a pattern");
    if (p->first.count != HOLO_CODES >> 8 || p->class_count > 256) return bad(c, "the classes of a pattern");
    for (uint32_t i = 0; i < p->first.count; i++)
        if (((uint32_t)first[i] + 1) * 256 > p->second.count) return bad(c, "the classes of a pattern");
    for (uint32_t i = 0; i < p->second.count; i++)
        if (second[i] >= p->class_count) return bad(c, "the classes of a pattern");
    if (p->form == HOLO_PATTERN_PROGRAM) {
        if (!holo_size_mul(p->set_count, columns, &count) || count != p->sets.count)
            return bad(c, "the sets of a pattern");
        return check_ops(c, p);
    }
    if (!holo_size_mul(p->state_count, columns, &count) || count != p->table.count || p->start.count != columns ||
        p->state_count > INT32_MAX || !below(c, p->start, p->state_count))
        return bad(c, "the table of a pattern");
    for (uint32_t i = 0; i < p->table.count; i++)
        if (entry[i] >> 1 >= p->state_count) return bad(c, "the table of a pattern");
    return HOLO_OK;
}

// ---- steps

static bool step_fits(const Check *c, const HoloTextStep *s, uint32_t kinds, bool has_pattern)
{
    return s->kind < kinds && fits(c, s->text, 1) && fits(c, s->more, 1) &&
           (!has_pattern || s->number[0] < c->header->patterns.count);
}

static HoloStatus check_steps(const Check *c)
{
    const HoloTokenizerHeader *h = c->header;
    const HoloTextStep        *n = at(c, h->normalizers), *s = at(c, h->splits), *d = at(c, h->decoders);
    for (uint32_t i = 0; i < h->normalizers.count; i++)
        if (!step_fits(c, &n[i], HOLO_NORMALIZERS, n[i].kind == HOLO_NORMALIZE_REPLACE) ||
            (n[i].kind == HOLO_NORMALIZE_FORM && n[i].number[0] > HOLO_NFKC))
            return bad(c, "a step of normalizing");
    for (uint32_t i = 0; i < h->splits.count; i++)
        if (!step_fits(c, &s[i], HOLO_SPLITS, s[i].kind == HOLO_SPLIT_PATTERN) ||
            (s[i].kind == HOLO_SPLIT_METASPACE && (s[i].number[0] >= HOLO_CODES || s[i].number[1] >= HOLO_PREPENDS)) ||
            (s[i].kind == HOLO_SPLIT_LENGTH && !s[i].number[0]))
            return bad(c, "a step of cutting into words");
    for (uint32_t i = 0; i < h->decoders.count; i++)
        if (!step_fits(c, &d[i], HOLO_DECODERS, d[i].kind == HOLO_DECODE_REPLACE) ||
            (d[i].kind == HOLO_DECODE_STRIP && !d[i].text.count))
            return bad(c, "a step of decoding");
    return HOLO_OK;
}

// ---- views

static void fill_begins(const HoloTrie *trie, bool begins[256])
{
    for (int b = 0; b < 256 && trie->count; b++) begins[b] = holo_trie_step(trie, 0, (uint8_t)b);
}

static HoloStatus fill_matchers(const Check *c, HoloTokenizer *t)
{
    const HoloPattern *p = at(c, c->header->patterns);
    t->matcher           = holo_realloc(NULL, ((size_t)c->header->patterns.count + 1) * sizeof *t->matcher);
    if (!t->matcher) return holo_fail_memory(c->error);
    for (uint32_t i = 0; i < c->header->patterns.count; i++) {
        HOLO_TRY(check_pattern(c, &p[i]));
        t->matcher[i] = (HoloMatcher){&p[i],
                                      at(c, p[i].text),
                                      at(c, p[i].second),
                                      at(c, p[i].sets),
                                      at(c, p[i].first),
                                      at(c, p[i].start),
                                      at(c, p[i].table),
                                      at(c, p[i].ops),
                                      p[i].class_count + 1};
    }
    return HOLO_OK;
}

HoloStatus holo_tokenizer_view(const void *block, size_t size, HoloTokenizer *t, HoloError *error)
{
    const HoloTokenizerHeader *h = block;
    Check                      c = {block, size, h, error};
    if (size < sizeof *h || memcmp(h->magic, HOLO_TOKENIZER_MAGIC, sizeof h->magic))
        return bad(&c, "it does not begin as one");
    if (h->version != HOLO_TOKENIZER_VERSION)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the compiled tokenizer has version %u, and this library reads version %d: compile it anew",
                         h->version, HOLO_TOKENIZER_VERSION);
    if (h->size != size) return bad(&c, "its size");
    HOLO_TRY(check_spans(&c));
    HOLO_TRY(check_tokens(&c));
    HOLO_TRY(check_model(&c));
    HOLO_TRY(check_added(&c));
    HOLO_TRY(check_steps(&c));
    HOLO_TRY(fill_matchers(&c, t));
    t->block             = block;
    t->header            = h;
    t->text              = at(&c, h->text);
    t->token_flags       = at(&c, h->token_flags);
    t->token_at          = at(&c, h->token_at);
    t->slots             = at(&c, h->slots);
    t->byte_tokens       = at(&c, h->byte_tokens);
    t->merges            = at(&c, h->merges);
    t->scores            = at(&c, h->scores);
    t->trie              = (HoloTrie){at(&c, h->trie), h->trie.count};
    t->added_trie        = (HoloTrie){at(&c, h->added_trie), h->added_trie.count};
    t->added_normal_trie = (HoloTrie){at(&c, h->added_normal_trie), h->added_normal_trie.count};
    t->added             = at(&c, h->added);
    t->normalizers       = at(&c, h->normalizers);
    t->splits            = at(&c, h->splits);
    t->decoders          = at(&c, h->decoders);
    fill_begins(&t->added_trie, t->added_begins[0]);
    fill_begins(&t->added_normal_trie, t->added_begins[1]);
    return HOLO_OK;
}
