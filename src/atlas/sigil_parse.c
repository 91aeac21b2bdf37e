// sigil_parse.c - lexer and parser of sigil expressions. sigil_emit.c says what they mean.
//
//     parallel = sequence { "||" sequence }
//     sequence = term { "." term }
//     term     = generator "@" class | "(" parallel ")" | prefix "@" parallel
//     class    = "c" number [ "^" [ "R" | "D" | "T" ] amount ] [ "~" ] [ "@" page ]
//     prefix   = [ "R" amount ] [ "D" amount ] [ "T" amount ] [ "~" ], at least one of them
//     amount   = ( "+" | "-" ) number
//
// Blanks may be between any two tokens, and // begins a comment. Depth is limited, and so is recursion.
#include "atlas/sigil.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const char *const holo_generator_names[HOLO_GENERATOR_COUNT] = {
    [HOLO_GENERATOR_MARK] = "mark",         [HOLO_GENERATOR_COPY] = "copy",   [HOLO_GENERATOR_SWAP] = "swap",
    [HOLO_GENERATOR_MERGE] = "merge",       [HOLO_GENERATOR_SPLIT] = "split", [HOLO_GENERATOR_QUOTE] = "quote",
    [HOLO_GENERATOR_EVALUATE] = "evaluate",
};

static const char letters[] = "RDT";

enum { PAGE_COUNT = 48, NUMBER_MAX = 999999999 };

// A token that is one character is its own kind.
typedef enum TokenKind { END = 0, PARALLEL = '|', GENERATOR = 'g', CLASS = 'c', LETTER = 'L', NUMBER = 'n' } TokenKind;

typedef struct Token {
    int    kind;
    int    value; // of a generator, a class, a letter (its place in `letters`), a number (NUMBER_MAX + 1: it is larger)
    size_t at, size;
} Token;

typedef struct Parser {
    HoloArena     *arena;
    const char    *text;
    size_t         size;
    Token          token; // the next one
    int            depth;
    HoloSigilTree *tree;
    size_t        *out_at; // may be NULL
    HoloError     *error;
} Parser;

// ---- mistakes

// The place as a person counts: line and character, both from 1.
static void place(const Parser *p, size_t at, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at; i++) {
        bool is_end = p->text[i] == '\n';
        *line += is_end;
        if (is_end)
            *column = 1;
        else
            *column += (p->text[i] & 0xC0) != 0x80; // not the later bytes of a character
    }
}

__attribute__((format(printf, 3, 4))) static HoloStatus wrong(Parser *p, size_t at, const char *format, ...)
{
    char    what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    size_t line, column;
    place(p, at, &line, &column);
    if (p->out_at) *p->out_at = at;
    return holo_fail(p->error, HOLO_BAD_ARGUMENT, "line %zu, column %zu: %s", line, column, what);
}

// Of a token so much is shown.
static int shown(const Token *t)
{
    return t->size < 40 ? (int)t->size : 40;
}

// Says what was expected and what was found.
static HoloStatus expected(Parser *p, const char *what)
{
    const Token *t = &p->token;
    if (t->kind == END) return wrong(p, t->at, "expected %s, but the text ends", what);
    return wrong(p, t->at, "expected %s, not '%.*s'", what, shown(t), p->text + t->at);
}

// ---- tokens

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t skip_blanks(const Parser *p, size_t at)
{
    while (at < p->size) {
        if (at + 1 < p->size && p->text[at] == '/' && p->text[at + 1] == '/')
            while (at < p->size && p->text[at] != '\n') at++;
        else if (memchr(" \t\r\n", p->text[at], 4))
            at++;
        else
            break;
    }
    return at;
}

// False: it is not all digits, or is empty.
static bool read_number(const char *digits, size_t size, int *out)
{
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(digits[i])) return false;
        if (*out <= NUMBER_MAX) *out = *out <= NUMBER_MAX / 10 ? *out * 10 + (digits[i] - '0') : NUMBER_MAX + 1;
    }
    return size > 0;
}

static int find_generator(const char *word, size_t size)
{
    for (int i = 0; i < HOLO_GENERATOR_COUNT; i++)
        if (strlen(holo_generator_names[i]) == size && !memcmp(holo_generator_names[i], word, size)) return i;
    return -1;
}

// Letters and digits up to the next other character are one token.
static HoloStatus read_word(Parser *p, Token *t)
{
    const char *word = p->text + t->at, *letter = memchr(letters, *word, 3);
    for (t->size = 1; t->at + t->size < p->size && is_word(word[t->size]);) t->size++;
    if ((t->value = find_generator(word, t->size)) >= 0) {
        t->kind = GENERATOR;
    } else if (letter && t->size == 1) {
        t->kind  = LETTER;
        t->value = (int)(letter - letters);
    } else if (read_number(word, t->size, &t->value)) {
        t->kind = NUMBER;
    } else if (*word == 'c' && read_number(word + 1, t->size - 1, &t->value)) {
        t->kind = CLASS;
        if (t->value >= HOLO_ATLAS_CLASSES)
            return wrong(p, t->at, "class %.*s is out of range: c0 to c95", shown(t), word);
    } else {
        return wrong(p, t->at,
                     "'%.*s' is no generator (mark, copy, swap, merge, split, quote, evaluate), no class (c0 to c95), "
                     "no transform (R, D, T) and no number",
                     shown(t), word);
    }
    return HOLO_OK;
}

static HoloStatus next(Parser *p)
{
    Token t = {.at = skip_blanks(p, p->token.at + p->token.size)};
    if (t.at < p->size) {
        unsigned char c = (unsigned char)p->text[t.at];
        t.kind          = c;
        t.size          = 1;
        if (is_word((char)c))
            HOLO_TRY(read_word(p, &t));
        else if (c == PARALLEL && t.at + 1 < p->size && p->text[t.at + 1] == PARALLEL)
            t.size = 2;
        else if (c == PARALLEL)
            return wrong(p, t.at, "a single '|': parallel is written '||'");
        else if (c <= ' ' || c > '~')
            return wrong(p, t.at, "byte 0x%02X means nothing here", c);
        else if (!memchr("+-~@^.()", c, 8))
            return wrong(p, t.at, "'%c' means nothing here", c);
    }
    p->token = t;
    return HOLO_OK;
}

static HoloStatus take(Parser *p, int kind, const char *what)
{
    if (p->token.kind != kind) return expected(p, what);
    return next(p);
}

// ---- the tree

static HoloStatus node_make(Parser *p, HoloSigilKind kind, int words, HoloSigilNode **out)
{
    *out = HOLO_NEW(p->arena, HoloSigilNode, 1);
    if (!*out || p->tree->word_count > INT_MAX - words) return holo_fail_memory(p->error);
    (*out)->kind = kind;
    (*out)->page = -1;
    p->tree->word_count += words;
    return HOLO_OK;
}

static void adopt(HoloSigilNode *parent, HoloSigilNode *child)
{
    child->previous                                        = parent->last;
    *(parent->last ? &parent->last->next : &parent->first) = child;
    parent->last                                           = child;
}

static HoloStatus read_amount(Parser *p, int *out)
{
    bool minus = p->token.kind == '-';
    if (!minus && p->token.kind != '+') return expected(p, "'+' or '-' and a number");
    HOLO_TRY(next(p));
    if (p->token.kind == NUMBER && p->token.value > NUMBER_MAX)
        return wrong(p, p->token.at, "the number is out of range: at most %d", NUMBER_MAX);
    *out = minus ? -p->token.value : p->token.value;
    return take(p, NUMBER, "a number");
}

static HoloStatus read_mirror(Parser *p, bool *out)
{
    *out = p->token.kind == '~';
    return *out ? next(p) : HOLO_OK;
}

static HoloStatus read_leaf(Parser *p, HoloSigilNode **out)
{
    HOLO_TRY(node_make(p, HOLO_SIGIL_LEAF, 2, out));
    p->tree->leaf_count++;
    int  amount[3] = {0}, letter = 2; // without a letter it is T
    bool mirror;
    (*out)->generator = (HoloGenerator)p->token.value;
    HOLO_TRY(next(p));
    HOLO_TRY(take(p, '@', "'@' and a class"));
    (*out)->class_id = p->token.value;
    HOLO_TRY(take(p, CLASS, "a class (c0 to c95)"));
    if (p->token.kind == '^') {
        HOLO_TRY(next(p));
        if (p->token.kind == LETTER) {
            letter = p->token.value;
            HOLO_TRY(next(p));
        }
        HOLO_TRY(read_amount(p, &amount[letter]));
    }
    HOLO_TRY(read_mirror(p, &mirror));
    (*out)->transform = holo_transform(amount[0], amount[1], amount[2], mirror);
    if (p->token.kind != '@') return HOLO_OK;
    HOLO_TRY(next(p));
    if (p->token.kind == NUMBER && p->token.value >= PAGE_COUNT)
        return wrong(p, p->token.at, "the page is out of range: 0 to %d", PAGE_COUNT - 1);
    (*out)->page = p->token.value;
    return take(p, NUMBER, "a page (0 to 47)");
}

static HoloStatus read_joined(Parser *p, int level, HoloSigilNode **out);

// A prefix applies as far as possible: to the parenthesis that closes around it, or to the end.
static HoloStatus read_prefix(Parser *p, HoloSigilNode **out)
{
    HOLO_TRY(node_make(p, HOLO_SIGIL_PREFIX, 8, out));
    int  amount[3] = {0};
    bool mirror;
    for (int i = 0; letters[i]; i++) {
        if (p->token.kind != LETTER || p->token.value != i) continue;
        HOLO_TRY(next(p));
        HOLO_TRY(read_amount(p, &amount[i]));
    }
    HOLO_TRY(read_mirror(p, &mirror));
    (*out)->transform = holo_transform(amount[0], amount[1], amount[2], mirror);
    if (p->token.kind == LETTER || p->token.kind == '~')
        return wrong(p, p->token.at, "transforms stand in the order R, D, T, ~, each at most once");
    HOLO_TRY(take(p, '@', "'@' behind the transforms"));
    HoloSigilNode *body;
    HOLO_TRY(read_joined(p, 0, &body));
    adopt(*out, body);
    return HOLO_OK;
}

static HoloStatus read_term(Parser *p, HoloSigilNode **out)
{
    if (p->token.kind == GENERATOR) return read_leaf(p, out);
    bool group = p->token.kind == '(';
    if (!group && p->token.kind != LETTER && p->token.kind != '~')
        return expected(p, "a generator, a transform or '('");
    if (p->depth == HOLO_SIGIL_DEPTH_MAX)
        return wrong(p, p->token.at, "nested deeper than %d parentheses and prefixes", HOLO_SIGIL_DEPTH_MAX);
    p->depth++;
    if (group) {
        HOLO_TRY(next(p));
        HOLO_TRY(read_joined(p, 0, out));
        HOLO_TRY(take(p, ')', "'||', '.' or ')'"));
    } else {
        HOLO_TRY(read_prefix(p, out));
    }
    p->depth--;
    return HOLO_OK;
}

static const struct {
    int           joint;
    HoloSigilKind kind;
} levels[] = {{PARALLEL, HOLO_SIGIL_PARALLEL}, {'.', HOLO_SIGIL_SEQUENCE}}; // the weaker one first

// One item, or several joined at this level.
static HoloStatus read_joined(Parser *p, int level, HoloSigilNode **out)
{
    if (level == HOLO_COUNT(levels)) return read_term(p, out);
    HOLO_TRY(read_joined(p, level + 1, out));
    if (p->token.kind != levels[level].joint) return HOLO_OK;
    HoloSigilNode *list, *item = *out;
    HOLO_TRY(node_make(p, levels[level].kind, 1, &list));
    adopt(list, item);
    while (p->token.kind == levels[level].joint) {
        HOLO_TRY(next(p));
        HOLO_TRY(read_joined(p, level + 1, &item));
        adopt(list, item);
        p->tree->word_count++; // a parallel of n has n + 1 words of its own
    }
    p->tree->word_count++;
    *out = list;
    return HOLO_OK;
}

HoloStatus holo_sigil_tree(HoloArena *arena, const char *text, size_t size, HoloSigilTree *out_tree, size_t *out_at,
                           HoloError *error)
{
    Parser p  = {.arena = arena, .text = text, .size = size, .tree = out_tree, .out_at = out_at, .error = error};
    *out_tree = (HoloSigilTree){0};
    HOLO_TRY(next(&p));
    HOLO_TRY(read_joined(&p, 0, &out_tree->root));
    return p.token.kind == END ? HOLO_OK : expected(&p, "'||', '.' or the end");
}
