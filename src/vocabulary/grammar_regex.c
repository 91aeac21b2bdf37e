// grammar_regex.c - regular expressions as trees of grammars: the parser is that of tokenizers (pattern.h).
#include "text/unicode.h"
#include "vocabulary/grammar_tree.h"

typedef struct RegexTree {
    HoloGrammarBuilder *b;
    bool                is_quoted;
    const char         *where;
} RegexTree;

// \d, \w and \s of JSON Schema are ASCII, and a [ in a class is a character. The parser has other classes, so they are
// written out.
static HoloString plain_classes(HoloGrammarBuilder *b, HoloString p)
{
    static const struct {
        char        letter;
        const char *text;
    } rows[]        = {{'d', "[0-9]"},  {'w', "[0-9A-Za-z_]"},  {'s', "[ \\t\\n\\r\\f\\v]"},
                       {'D', "[^0-9]"}, {'W', "[^0-9A-Za-z_]"}, {'S', "[^ \\t\\n\\r\\f\\v]"}};
    bool   in_class = false;
    size_t size     = 0;
    char  *out      = p.size < SIZE_MAX / 16 ? holo_arena_take(b->arena, p.size * 8 + 16) : NULL;
    if (!out) return b->status = holo_fail_memory(b->error), p;
    for (size_t i = 0; i < p.size; i++) {
        const char *text = NULL;
        if (p.data[i] == '\\' && i + 1 < p.size) {
            for (int k = 0; k < HOLO_COUNT(rows); k++)
                if (p.data[i + 1] == rows[k].letter) text = rows[k].text;
            if (!text) out[size++] = p.data[i], out[size++] = p.data[i + 1];
            i++;
        } else if (in_class && (p.data[i] == '[' || p.data[i] == '&')) {
            out[size++] = '\\', out[size++] = p.data[i];
        } else {
            if (p.data[i] == '[') in_class = true;
            if (p.data[i] == ']') in_class = false;
            out[size++] = p.data[i];
        }
        for (; text && *text; text++) out[size++] = *text;
    }
    return (HoloString){out, size};
}

static HoloTree *refuse(RegexTree *r, const char *what)
{
    if (!r->b->status)
        r->b->status = holo_grammar_fail(r->b, HOLO_UNSUPPORTED,
                                         "%s: the regular expression has %s, which no grammar can say", r->where, what);
    return NULL;
}

static HoloTree *any_text(RegexTree *r)
{
    HoloTree *any = holo_tree_new(r->b, HOLO_TREE_SET);
    if (any && !holo_code_set_negate(r->b->arena, &any->set)) r->b->status = holo_fail_memory(r->b->error);
    if (any) any->is_quoted = r->is_quoted;
    return r->b->status ? NULL : holo_tree_repeat(r->b, any, 0, -1);
}

static HoloTree *convert(RegexTree *r, const HoloPatternNode *n);

static HoloTree *convert_list(RegexTree *r, const HoloPatternNode *first, const HoloPatternNode *end, HoloTreeKind kind)
{
    HoloTree *list = holo_tree_new(r->b, kind);
    for (; list && first != end && !r->b->status; first = first->next) holo_tree_add(list, convert(r, first));
    return r->b->status ? NULL : list;
}

static HoloTree *convert(RegexTree *r, const HoloPatternNode *n)
{
    HoloTree *tree;
    if (r->b->status) return NULL;
    switch (n->kind) {
    case HOLO_PATTERN_EMPTY: return holo_tree_new(r->b, HOLO_TREE_AND);
    case HOLO_PATTERN_AND: return convert_list(r, n->child, NULL, HOLO_TREE_AND);
    case HOLO_PATTERN_OR: return convert_list(r, n->child, NULL, HOLO_TREE_OR);
    case HOLO_PATTERN_REPEAT: return holo_tree_repeat(r->b, convert(r, n->child), n->min, n->max);
    case HOLO_PATTERN_EDGE: return refuse(r, "a place (^ $ \\b or a look of one character) inside of it");
    case HOLO_PATTERN_LOOK: return refuse(r, "a look ahead or back");
    case HOLO_PATTERN_ATOM: return refuse(r, "an atomic group");
    case HOLO_PATTERN_SET: break;
    }
    tree = holo_tree_new(r->b, HOLO_TREE_SET);
    if (!tree) return NULL;
    tree->set       = n->set;
    tree->is_quoted = r->is_quoted;
    return tree;
}

static bool is_edge(const HoloPatternNode *n, bool is_back)
{
    return n && n->kind == HOLO_PATTERN_EDGE && n->at_end && n->is_back == is_back;
}

// One alternative: its ^ and $ are taken away, or anything may be where they are not.
static HoloTree *convert_alternative(RegexTree *r, const HoloPatternNode *n, bool is_search)
{
    bool                   begins = n->kind == HOLO_PATTERN_AND && is_edge(n->child, true), ends = false;
    const HoloPatternNode *first = n->kind == HOLO_PATTERN_AND ? n->child : n, *end = NULL;
    HoloTree              *all = holo_tree_new(r->b, HOLO_TREE_AND);
    if (begins) first = first->next;
    for (const HoloPatternNode *c = first; n->kind == HOLO_PATTERN_AND && c; c = c->next)
        if (!c->next && is_edge(c, false)) ends = true, end = c;
    if (is_search && !begins) holo_tree_add(all, any_text(r));
    for (; first && first != end && !r->b->status; first = n->kind == HOLO_PATTERN_AND ? first->next : NULL)
        holo_tree_add(all, convert(r, first));
    if (is_search && !ends) holo_tree_add(all, any_text(r));
    return r->b->status ? NULL : all;
}

HoloTree *holo_tree_of_pattern(HoloGrammarBuilder *b, HoloString pattern, bool is_search, bool is_quoted,
                               const char *where)
{
    HoloPatternNode *root;
    RegexTree        r = {b, is_quoted, where};
    if (b->status) return NULL;
    pattern = plain_classes(b, pattern);
    if (!b->status) b->status = holo_pattern_parse(b->arena, pattern, &root, b->error);
    if (b->status) return NULL;
    if (root->kind != HOLO_PATTERN_OR) return convert_alternative(&r, root, is_search);
    HoloTree *either = holo_tree_new(b, HOLO_TREE_OR);
    for (const HoloPatternNode *c = root->child; c && !b->status; c = c->next)
        holo_tree_add(either, convert_alternative(&r, c, is_search));
    return b->status ? NULL : either;
}

HoloStatus holo_grammar_read_regex(HoloGrammarBuilder *b, HoloString text, HoloGrammarSpaces spaces)
{
    uint32_t root = holo_grammar_rule(b, (HoloString){"root", 4});
    (void)spaces;
    HoloTree *tree = holo_tree_of_pattern(b, text, false, false, "the grammar");
    if (!b->status) b->rule[root].tree = tree;
    return b->status;
}
