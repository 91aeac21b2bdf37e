// grammar_gbnf.c - reads grammars in GBNF, as llama.cpp has them: NAME ::= ALTERNATIVE | ALTERNATIVE.
//
// A rule goes on over line ends, up to the name of the next rule. A # begins a comment.
#include "text/unicode.h"
#include "vocabulary/grammar_tree.h"

#include <string.h>

enum { DEPTH_MAX = 100, REPEAT_MAX = 10000 };

typedef struct Gbnf {
    HoloGrammarBuilder *b;
    const uint8_t      *text;
    size_t              size, at;
    int                 depth;
} Gbnf;

// Tells where: the line, the column in characters, and the word that is there.
static void *fail(Gbnf *p, const char *why)
{
    enum { WORD_MAX = 20 };
    int    line = 1, column = 1, word = 0;
    size_t at = p->at < p->size ? p->at : p->size;
    for (size_t i = 0; i < at; i++) {
        if (p->text[i] == '\n')
            line++, column = 1;
        else
            column += (p->text[i] & 0xC0) != 0x80; // the first byte of a character
    }
    while (word < WORD_MAX && at + (size_t)word < p->size && p->text[at + (size_t)word] > ' ') word++;
    if (p->b->status) return NULL;
    p->b->status = at == p->size
                       ? holo_grammar_fail(p->b, HOLO_BAD_MODEL, "the grammar, line %d, column %d, at its end: %s",
                                           line, column, why)
                       : holo_grammar_fail(p->b, HOLO_BAD_MODEL, "the grammar, line %d, column %d, at '%.*s': %s", line,
                                           column, word, (const char *)p->text + at, why);
    return NULL;
}

static bool sees(const Gbnf *p, char c)
{
    return p->at < p->size && p->text[p->at] == (uint8_t)c;
}

static bool takes(Gbnf *p, char c)
{
    if (!sees(p, c)) return false;
    p->at++;
    return true;
}

static void skip(Gbnf *p) // white space and comments
{
    while (p->at < p->size) {
        uint8_t c = p->text[p->at];
        if (c == '#')
            while (p->at < p->size && p->text[p->at] != '\n') p->at++;
        else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
            p->at++;
        else
            return;
    }
}

static int digit_of(uint8_t c) // -1: none
{
    return c >= '0' && c <= '9' ? c - '0' : -1;
}

static bool is_name(uint8_t c)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || digit_of(c) >= 0 || c == '-' || c == '_';
}

static HoloString take_name(Gbnf *p)
{
    size_t from = p->at;
    while (p->at < p->size && is_name(p->text[p->at])) p->at++;
    return (HoloString){(const char *)p->text + from, p->at - from};
}

// Whether the name of the next rule is here.
static bool sees_rule(const Gbnf *p)
{
    Gbnf q = *p;
    if (!take_name(&q).size) return false;
    while (sees(&q, ' ') || sees(&q, '\t')) q.at++;
    return q.size - q.at >= 3 && !memcmp(q.text + q.at, "::=", 3);
}

// ---- characters

static bool take_hex(Gbnf *p, int digits, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < digits; i++, p->at++) {
        uint8_t c     = p->at < p->size ? p->text[p->at] : 0;
        int     digit = (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : digit_of(c);
        if (digit < 0) return fail(p, "a digit from 0 to f should be here");
        *out = *out * 16 + (uint32_t)digit;
    }
    return *out < HOLO_CODES || fail(p, "there is no such code point");
}

// A character of a literal or a class, perhaps behind a backslash.
static bool take_char(Gbnf *p, uint32_t *out)
{
    static const char letters[] = "nrt\"\\[]-^", codes[] = "\n\r\t\"\\[]-^";
    int               size;
    if (p->at >= p->size) return fail(p, "the grammar ends inside of a text or a class");
    if (!takes(p, '\\')) {
        *out = holo_code_read(p->text + p->at, p->size - p->at, &size);
        p->at += (size_t)size;
        return true;
    }
    uint8_t     c     = p->at < p->size ? p->text[p->at++] : 0;
    const char *found = c ? strchr(letters, c) : NULL;
    if (found) return *out = (uint8_t)codes[found - letters], true;
    if (c == 'x') return take_hex(p, 2, out);
    if (c == 'u') return take_hex(p, 4, out);
    if (c == 'U') return take_hex(p, 8, out);
    return fail(p, "this escape is not known: \\n \\r \\t \\\" \\\\ \\[ \\] \\x41 \\u0041 and \\U00000041 are");
}

static HoloTree *take_literal(Gbnf *p) // behind the quote
{
    size_t   end = p->at, size = 0;
    uint32_t code;
    while (end < p->size && p->text[end] != '"') end += p->text[end] == '\\' ? 2 : 1;
    if (end >= p->size) return fail(p, "a text has no end");
    uint8_t *text = HOLO_NEW(p->b->arena, uint8_t, (end - p->at) * 3 + 4); // a byte that is no UTF-8 becomes three
    if (!text) return p->b->status = holo_fail_memory(p->b->error), NULL;
    while (!takes(p, '"')) {
        if (!take_char(p, &code)) return NULL;
        size += (size_t)holo_code_write(code, text + size);
    }
    return holo_tree_bytes(p->b, (HoloString){(const char *)text, size});
}

static HoloTree *take_class(Gbnf *p) // behind the bracket
{
    HoloTree *tree   = holo_tree_new(p->b, HOLO_TREE_SET);
    bool      negate = takes(p, '^'), ok = true;
    uint32_t  first, last;
    while (tree && !takes(p, ']')) {
        if (!take_char(p, &first)) return NULL;
        last = first;
        if (sees(p, '-') && p->at + 1 < p->size && p->text[p->at + 1] != ']') {
            p->at++;
            if (!take_char(p, &last)) return NULL;
        }
        if (last < first) return fail(p, "a range of a class ends before it begins");
        ok &= holo_code_set_add(p->b->arena, &tree->set, first, last);
    }
    if (tree && negate) ok &= holo_code_set_negate(p->b->arena, &tree->set);
    if (!ok && !p->b->status) p->b->status = holo_fail_memory(p->b->error);
    return p->b->status ? NULL : tree;
}

static HoloTree *any_char(Gbnf *p)
{
    HoloTree *tree = holo_tree_new(p->b, HOLO_TREE_SET);
    if (tree && !holo_code_set_negate(p->b->arena, &tree->set)) p->b->status = holo_fail_memory(p->b->error);
    return p->b->status ? NULL : tree;
}

// ---- sequences

static HoloTree *take_either(Gbnf *p);

static bool take_count(Gbnf *p, int *out)
{
    size_t from = p->at;
    for (*out = 0; p->at < p->size && digit_of(p->text[p->at]) >= 0; p->at++)
        if (*out <= REPEAT_MAX) *out = *out * 10 + (p->text[p->at] - '0');
    return p->at > from;
}

static HoloTree *take_repeat(Gbnf *p, HoloTree *one)
{
    int min = 0, max = -1;
    if (takes(p, '*')) return holo_tree_repeat(p->b, one, 0, -1);
    if (takes(p, '+')) return holo_tree_repeat(p->b, one, 1, -1);
    if (takes(p, '?')) return holo_tree_repeat(p->b, one, 0, 1);
    p->at++; // {
    skip(p);
    bool has_min = take_count(p, &min);
    skip(p);
    max = min;
    if (takes(p, ',')) {
        skip(p);
        if (!take_count(p, &max)) max = -1;
    } else if (!has_min) {
        return fail(p, "a count should be behind {");
    }
    skip(p);
    if (!takes(p, '}')) return fail(p, "a repeat has no end }");
    if (min > REPEAT_MAX || max > REPEAT_MAX || (max >= 0 && max < min))
        return fail(p, "a repeat has a wrong count, or one above 10000");
    return holo_tree_repeat(p->b, one, min, max);
}

static HoloTree *take_one(Gbnf *p)
{
    if (takes(p, '"')) return take_literal(p);
    if (takes(p, '[')) return take_class(p);
    if (takes(p, '.')) return any_char(p);
    if (takes(p, '(')) {
        HoloTree *inner = take_either(p);
        if (inner && !takes(p, ')')) return fail(p, "a group has no end )");
        return inner;
    }
    HoloString name = take_name(p);
    if (!name.size) return fail(p, "a text, a class, a group or the name of a rule should be here");
    uint32_t rule = holo_grammar_rule(p->b, name);
    return p->b->status ? NULL : holo_tree_rule(p->b, rule);
}

static HoloTree *take_sequence(Gbnf *p)
{
    HoloTree *all = holo_tree_new(p->b, HOLO_TREE_AND);
    for (skip(p); all && p->at < p->size && !sees(p, '|') && !sees(p, ')') && !sees_rule(p); skip(p)) {
        HoloTree *one = take_one(p);
        for (int i = 0; one && (sees(p, '*') || sees(p, '+') || sees(p, '?') || sees(p, '{')); i++)
            one = i < 8 ? take_repeat(p, one) : fail(p, "too many repeats of repeats");
        if (!one) return NULL;
        holo_tree_add(all, one);
    }
    return all;
}

static HoloTree *take_either(Gbnf *p)
{
    HoloTree *either = holo_tree_new(p->b, HOLO_TREE_OR);
    if (++p->depth > DEPTH_MAX) return fail(p, "too many groups inside of each other");
    do {
        HoloTree *one = either ? take_sequence(p) : NULL;
        if (!one) return NULL;
        holo_tree_add(either, one);
    } while (takes(p, '|'));
    p->depth--;
    return either;
}

HoloStatus holo_grammar_add_gbnf(HoloGrammarBuilder *b, HoloString text)
{
    Gbnf p = {.b = b, .text = (const uint8_t *)text.data, .size = text.size};
    for (skip(&p); p.at < p.size && !b->status; skip(&p)) {
        if (!sees_rule(&p)) return fail(&p, "a rule should begin here: NAME ::= ..."), b->status;
        uint32_t rule = holo_grammar_rule(b, take_name(&p));
        if (b->status) break;
        if (b->rule[rule].tree) return fail(&p, "a rule of this name is there already"), b->status;
        while (!takes(&p, '=')) p.at++;
        HoloTree *tree = take_either(&p);
        if (sees(&p, ')')) fail(&p, "there is a ) without its (");
        if (!b->status) b->rule[rule].tree = tree;
    }
    return b->status;
}

HoloStatus holo_grammar_read_gbnf(HoloGrammarBuilder *b, HoloString text, HoloGrammarSpaces spaces)
{
    (void)spaces;
    holo_grammar_rule(b, (HoloString){"root", 4});
    HOLO_TRY(holo_grammar_add_gbnf(b, text));
    for (int i = 0; i < b->rule_count && !b->status; i++)
        if (!b->rule[i].tree)
            b->status = holo_grammar_fail(b, HOLO_BAD_MODEL, "the grammar has no rule '%.*s'%s",
                                          (int)holo_least((int64_t)b->rule[i].name.size, 100), b->rule[i].name.data,
                                          i ? ", which another one uses" : ": that is where it begins");
    return b->status;
}
