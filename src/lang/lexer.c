// lexer.c - splits a source into tokens: numbers, names, strings, comments, brackets and indentation. It knows no
// grammar.

#include "lang/lexer.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { INDENTS = HOLO_LANG_DEPTH, NUMBER_MAX = 80 }; // blocks in blocks; characters of a float

typedef struct Lexer {
    HoloArena              *arena;
    const HoloKernelSource *source;
    HoloError              *error;
    bool                    python;
    size_t                  at;
    int                     brackets; // open ones: no lines end inside
    size_t                  opened;   // where the outermost of them is
    int                     indent[INDENTS + 1], indents;
    HoloToken              *token;
    int                     count, room;
} Lexer;

static int peek(const Lexer *x, size_t ahead)
{
    return x->at + ahead < x->source->size ? (unsigned char)x->source->text[x->at + ahead] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}
static bool is_name(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

#define FAIL(x, place, advice, ...) \
    holo_source_fail((x)->source, (HoloSourcePlace){.at = (uint32_t)(place)}, advice, (x)->error, __VA_ARGS__)

static HoloStatus add(Lexer *x, HoloTokenKind kind, size_t at, const char *text, size_t size, HoloToken **out)
{
    if (!HOLO_GROW(x->arena, x->token, x->count, x->room)) return holo_fail_memory(x->error);
    HoloToken *t = &x->token[x->count++];
    *t           = (HoloToken){.kind = (uint8_t)kind, .at = (uint32_t)at};
    t->text      = holo_arena_text(x->arena, text, size);
    if (out) *out = t;
    return t->text ? HOLO_OK : holo_fail_memory(x->error);
}

// ---- numbers

static HoloStatus digits(Lexer *x, size_t start, int base, int64_t *out)
{
    int64_t value = 0;
    bool    any   = false;
    for (int c; (c = peek(x, 0)) >= 0; x->at++) {
        int digit;
        if (c == '_' && x->python) continue;
        if (is_digit(c))
            digit = c - '0';
        else if (base == 16 && ((c | 32) >= 'a' && (c | 32) <= 'f'))
            digit = (c | 32) - 'a' + 10;
        else
            break;
        if (digit >= base) return FAIL(x, x->at, NULL, "%c is not a digit in base %d", c, base);
        if (!holo_mul(value, base, &value) || !holo_add(value, digit, &value))
            return FAIL(x, start, "the largest whole number is 9223372036854775807", "this number is too large");
        any = true;
    }
    *out = value;
    return any ? HOLO_OK : FAIL(x, start, NULL, "this number has no digits after its base");
}

// How many bytes a decimal number takes, and whether it is a float.
static size_t measure(const Lexer *x, bool *is_float)
{
    size_t n  = 0;
    *is_float = false;
    while (is_digit(peek(x, n)) || (x->python && peek(x, n) == '_')) n++;
    if (peek(x, n) == '.') {
        *is_float = true;
        for (n++; is_digit(peek(x, n)) || (x->python && peek(x, n) == '_');) n++;
    }
    size_t sign = peek(x, n + 1) == '+' || peek(x, n + 1) == '-';
    if ((peek(x, n) | 32) == 'e' && is_digit(peek(x, n + 1 + sign))) {
        *is_float = true;
        for (n += 1 + sign; is_digit(peek(x, n));) n++;
    }
    return n;
}

static HoloStatus decimal(Lexer *x, size_t start, bool *is_float, int64_t *integer, double *number)
{
    size_t size = measure(x, is_float), used = 0;
    char   text[NUMBER_MAX + 1];
    if (!*is_float) return digits(x, start, 10, integer);
    if (size > NUMBER_MAX) return FAIL(x, start, "17 digits are all that a double holds", "this number is too long");
    for (size_t i = 0; i < size; i++)
        if (x->source->text[start + i] != '_') text[used++] = x->source->text[start + i];
    text[used] = '\0';
    *number    = strtod(text, NULL);
    x->at += size;
    return *number <= DBL_MAX ? HOLO_OK : FAIL(x, start, "write inf", "this number is too large");
}

// What may follow a number in C: f, u, l, ll, ul.
static HoloStatus suffix(Lexer *x, bool is_float, uint8_t *out)
{
    size_t n = 0;
    char   text[4];
    while (is_name(peek(x, n)) && n < 3) text[n] = (char)(peek(x, n) | 32), n++;
    text[n] = '\0';
    *out    = HOLO_NONE;
    if (!x->python && is_float && !strcmp(text, "f")) *out = HOLO_F32;
    if (!x->python && is_float && !n) *out = HOLO_F64;
    if (!x->python && !is_float && !strcmp(text, "u")) *out = HOLO_U32;
    if (!x->python && !is_float && (!strcmp(text, "l") || !strcmp(text, "ll"))) *out = HOLO_I64;
    if (!x->python && !is_float && (!strcmp(text, "ul") || !strcmp(text, "ull"))) *out = HOLO_U64;
    if (n && (*out == HOLO_NONE || is_name(peek(x, n))))
        return FAIL(x, x->at, x->python ? "numbers have no suffix: write f32(1.5)" : "the suffixes are f, u, l and ul",
                    "this cannot follow a number");
    x->at += n;
    return HOLO_OK;
}

static HoloStatus number(Lexer *x)
{
    size_t  start    = x->at;
    int64_t integer  = 0;
    double  real     = 0;
    bool    is_float = false;
    uint8_t type;
    int     base = peek(x, 0) != '0' ? 10 : (peek(x, 1) | 32) == 'x' ? 16 : (peek(x, 1) | 32) == 'b' ? 2 : 10;
    if (x->python && peek(x, 0) == '0' && (peek(x, 1) | 32) == 'o') base = 8;
    if (base != 10) {
        x->at += 2;
        HOLO_TRY(digits(x, start, base, &integer));
    } else if (peek(x, 0) == '0' && is_digit(peek(x, 1))) {
        bool f;
        measure(x, &f);
        if (!f)
            return FAIL(x, start, "write 0o17 in Python; decimal numbers begin with 1 to 9", "a number begins with 0");
        HOLO_TRY(decimal(x, start, &is_float, &integer, &real));
    } else {
        HOLO_TRY(decimal(x, start, &is_float, &integer, &real));
    }
    HOLO_TRY(suffix(x, is_float, &type));
    HoloToken *t;
    HOLO_TRY(add(x, is_float ? HOLO_TOKEN_FLOAT : HOLO_TOKEN_INT, start, x->source->text + start, x->at - start, &t));
    t->integer = integer;
    t->number  = real;
    t->suffix  = type;
    return HOLO_OK;
}

// ---- strings, comments, marks

static HoloStatus string(Lexer *x)
{
    size_t start = x->at, size = 1;
    int    quote = peek(x, 0);
    if (x->python && peek(x, 1) == quote && peek(x, 2) == quote) size = 3;
    for (x->at += size; peek(x, 0) >= 0; x->at++) {
        if (peek(x, 0) == '\n' && size == 1) break;
        if (peek(x, 0) == '\\') return FAIL(x, x->at, "strings are documentation here", "a string has no escapes");
        if (peek(x, 0) != quote || (size == 3 && (peek(x, 1) != quote || peek(x, 2) != quote))) continue;
        size_t inside = start + size;
        HOLO_TRY(add(x, HOLO_TOKEN_TEXT, start, x->source->text + inside, x->at - inside, NULL));
        x->at += size;
        return HOLO_OK;
    }
    return FAIL(x, start, NULL, "this string does not end");
}

static HoloStatus skip_comment(Lexer *x, bool *skipped)
{
    *skipped = true;
    if (x->python ? peek(x, 0) == '#' : peek(x, 0) == '/' && peek(x, 1) == '/') {
        while (peek(x, 0) >= 0 && peek(x, 0) != '\n') x->at++;
        return HOLO_OK;
    }
    *skipped = false;
    if (x->python || peek(x, 0) != '/' || peek(x, 1) != '*') return HOLO_OK;
    size_t start = x->at;
    for (x->at += 2; peek(x, 0) >= 0; x->at++) {
        if (peek(x, 0) != '*' || peek(x, 1) != '/') continue;
        x->at += 2;
        *skipped = true;
        return HOLO_OK;
    }
    return FAIL(x, start, NULL, "this comment does not end");
}

// Longest first.
static const char *const python_marks[] = {
    "**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=",
    "*=",  "/=",  "%=",  "&=",  "|=",  "^=", ":=", "@=", "+",  "-",  "*",  "/",  "%",  "<",  ">",  "=",
    "(",   ")",   "[",   "]",   "{",   "}",  ",",  ":",  ".",  ";",  "@",  "&",  "|",  "^",  "~",  NULL};
static const char *const c_marks[] = {">>=", "<<=", "->", ">>", "<<", "<=", ">=", "==", "!=", "+=", "-=", "*=",
                                      "/=",  "%=",  "&=", "|=", "^=", "++", "--", "&&", "||", "+",  "-",  "*",
                                      "/",   "%",   "<",  ">",  "=",  "(",  ")",  "[",  "]",  "{",  "}",  ",",
                                      ":",   ".",   ";",  "?",  "&",  "|",  "^",  "~",  "!",  "#",  NULL};

static HoloStatus mark(Lexer *x)
{
    for (const char *const *m = x->python ? python_marks : c_marks; *m; m++) {
        size_t size = strlen(*m);
        if (x->source->size - x->at < size || memcmp(x->source->text + x->at, *m, size)) continue;
        if (strchr("([{", **m) && size == 1 && x->brackets++ == 0) x->opened = x->at;
        x->brackets -= strchr(")]}", **m) && size == 1 && x->brackets > 0;
        HOLO_TRY(add(x, HOLO_TOKEN_MARK, x->at, *m, size, NULL));
        x->at += size;
        return HOLO_OK;
    }
    int c = peek(x, 0);
    if (c >= 0x80) return FAIL(x, x->at, "names and operators are ASCII", "this character is not in the language");
    if (c < 0x20) return FAIL(x, x->at, NULL, "a byte %d is not in the language", c);
    return FAIL(x, x->at, c == '!' ? "write 'not x', or '!=' between two values" : NULL, "'%c' is not in the language",
                c);
}

// ---- lines and indentation

// At the start of a line: its indentation, unless the line is empty.
static HoloStatus indentation(Lexer *x)
{
    size_t start = x->at;
    int    width = 0;
    for (; peek(x, 0) == ' '; x->at++) width++;
    int c = peek(x, 0);
    if (c == '\t') return FAIL(x, x->at, "indent by four spaces", "a tab in the indentation");
    if (c == '\r' || c == '\n' || c == '#' || c < 0) return HOLO_OK;
    if (width > x->indent[x->indents]) {
        if (x->indents == INDENTS) return FAIL(x, start, "use a helper marked @inline", "blocks nest too deep");
        x->indent[++x->indents] = width;
        return add(x, HOLO_TOKEN_INDENT, x->at, "", 0, NULL);
    }
    while (width < x->indent[x->indents]) {
        x->indents--;
        HOLO_TRY(add(x, HOLO_TOKEN_DEDENT, x->at, "", 0, NULL));
    }
    if (width != x->indent[x->indents])
        return FAIL(x, x->at, "indent it as the lines of the block that it belongs to",
                    "the indentation matches no block");
    return HOLO_OK;
}

static HoloStatus line_end(Lexer *x)
{
    if (x->python && !x->brackets && x->count && x->token[x->count - 1].kind != HOLO_TOKEN_LINE)
        HOLO_TRY(add(x, HOLO_TOKEN_LINE, x->at, "", 0, NULL));
    if (peek(x, 0) < 0) return HOLO_OK;
    x->at++;
    return x->python && !x->brackets ? indentation(x) : HOLO_OK;
}

static HoloStatus word(Lexer *x)
{
    int  c = peek(x, 0);
    bool skipped;
    if (c == ' ' || c == '\r' || c == '\t' || c == '\f') {
        x->at++;
        return HOLO_OK;
    }
    if (c == '\n') return line_end(x);
    if (x->python && c == '\\' && (peek(x, 1) == '\n' || (peek(x, 1) == '\r' && peek(x, 2) == '\n'))) {
        x->at += peek(x, 1) == '\n' ? 2 : 3;
        return HOLO_OK;
    }
    HOLO_TRY(skip_comment(x, &skipped));
    if (skipped) return HOLO_OK;
    if (is_digit(c) || (c == '.' && is_digit(peek(x, 1)))) return number(x);
    if (c == '"' || (c == '\'' && x->python)) return string(x);
    if (!is_name(c)) return mark(x);
    size_t start = x->at;
    while (is_name(peek(x, 0))) x->at++;
    if (x->at - start > HOLO_LANG_NAME)
        return FAIL(x, start, NULL, "a name of more than %d characters", HOLO_LANG_NAME);
    if (x->python && (peek(x, 0) == '"' || peek(x, 0) == '\''))
        return FAIL(x, start, "strings are documentation here", "a string with a prefix");
    return add(x, HOLO_TOKEN_NAME, start, x->source->text + start, x->at - start, NULL);
}

HoloStatus holo_lex(HoloArena *arena, const HoloKernelSource *source, HoloLexStyle style, HoloToken **out,
                    HoloError *error)
{
    Lexer x = {arena, source, error, .python = style == HOLO_LEX_PYTHON};
    if (source->size > HOLO_LANG_BYTES)
        return holo_fail(error, HOLO_BAD_MODEL, "%.200s: a source of %zu bytes; at most %d are allowed", source->name,
                         source->size, HOLO_LANG_BYTES);
    if (source->size >= 3 && !memcmp(source->text, "\xEF\xBB\xBF", 3)) x.at = 3;
    if (x.python) HOLO_TRY(indentation(&x));
    while (x.at < source->size) HOLO_TRY(word(&x));
    if (x.python && x.brackets)
        return FAIL(&x, x.opened, "close it, most likely at the end of this line", "this bracket is never closed");
    HOLO_TRY(line_end(&x));
    for (; x.indents > 0; x.indents--) HOLO_TRY(add(&x, HOLO_TOKEN_DEDENT, x.at, "", 0, NULL));
    HOLO_TRY(add(&x, HOLO_TOKEN_END, x.at, "", 0, NULL));
    *out = x.token;
    return HOLO_OK;
}
