// template_lex.c - cuts the source of a template into tokens, and takes away the white space that tags ask for.
//
// The rules are those of Jinja with trim_blocks and lstrip_blocks: the line break behind a block goes, and so do the blanks
// in front of a block that begins its line.
#include "text/template_lex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Lexer {
    HoloArena         *arena;
    HoloError         *error;
    const char        *at, *end;
    uint32_t           line;
    bool               begins_line; // what came before ended with a line break
    HoloTemplateToken *token;
    int                count, room;
} Lexer;

static HoloStatus fail(const Lexer *l, const char *what)
{
    return holo_fail(l->error, HOLO_BAD_MODEL, "template, line %u: %s", l->line, what);
}

static HoloStatus add(Lexer *l, HoloTemplateTokenKind kind, HoloString text, HoloTemplateToken **out)
{
    if (!HOLO_GROW(l->arena, l->token, l->count, l->room)) return holo_fail_memory(l->error);
    l->token[l->count] = (HoloTemplateToken){kind, l->line, text, 0, 0};
    if (out) *out = &l->token[l->count];
    l->count++;
    return HOLO_OK;
}

static bool starts(const Lexer *l, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(l->end - l->at) >= size && !memcmp(l->at, text, size);
}

static void advance(Lexer *l, size_t size)
{
    for (const char *stop = l->at + size; l->at < stop; l->at++) l->line += *l->at == '\n';
}

// The size of the white character at a place, as Python's regular expressions have it; 0: it is none.
static size_t white_at(const char *at, const char *end)
{
    int step;
    if (at >= end) return 0;
    uint32_t code = holo_code_read((const uint8_t *)at, (size_t)(end - at), &step);
    return holo_is_white(code) || (code >= 0x1C && code <= 0x1F) ? (size_t)step : 0;
}

static void skip_white(Lexer *l)
{
    for (size_t step; (step = white_at(l->at, l->end));) advance(l, step);
}

// Where the white space at the end of a text begins.
static const char *without_white(const char *begin, const char *end)
{
    const char *kept = begin;
    for (const char *at = begin; at < end;) {
        size_t white = white_at(at, end);
        int    step  = 1;
        if (!white) holo_code_read((const uint8_t *)at, (size_t)(end - at), &step);
        at += white ? white : (size_t)step;
        if (!white) kept = at;
    }
    return kept;
}

// The end of a tag, whose sign was read: white space behind it goes as the sign says.
static void tag_left(Lexer *l, char sign, bool is_block)
{
    const char *from = l->at;
    if (sign == '-')
        skip_white(l);
    else if (sign != '+' && is_block && starts(l, "\n"))
        advance(l, 1);
    l->begins_line = l->at > from && l->at[-1] == '\n';
}

// ---- tokens within tags

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Reads digits of a base into a code; how many were there.
static int read_code(const char *at, const char *end, int base, int most, uint32_t *out)
{
    int count = 0;
    *out      = 0;
    while (count < most && at + count < end) {
        int digit = hex_digit(at[count]);
        if (digit < 0 || digit >= base) break;
        *out = *out * (uint32_t)base + (uint32_t)digit;
        count++;
    }
    return count;
}

// One escape behind its backslash; false: it is not complete.
static bool read_escape(const char **at, const char *end, HoloGrowing *out)
{
    static const char letters[] = "\\'\"abfnrtv", codes[] = "\\'\"\a\b\f\n\r\t\v";
    const char       *found = **at ? strchr(letters, **at) : NULL;
    uint32_t          code;
    int               wide = **at == 'x' ? 2 : **at == 'u' ? 4 : **at == 'U' ? 8 : 0;
    if (found) {
        holo_growing_add_byte(out, (uint8_t)codes[found - letters]);
        ++*at;
    } else if (**at == '\n') {
        ++*at;
    } else if (wide) {
        if (read_code(*at + 1, end, 16, wide, &code) != wide || code >= HOLO_CODES) return false;
        holo_growing_add_code(out, code - 0xD800 < 0x800 ? 0xFFFD : code);
        *at += 1 + wide;
    } else if (**at >= '0' && **at <= '7') {
        *at += read_code(*at, end, 8, 3, &code);
        holo_growing_add_code(out, code);
    } else if (**at == 'N') {
        return false;
    } else {
        holo_growing_add_byte(out, '\\');
    }
    return true;
}

static HoloStatus read_string(Lexer *l)
{
    char        quote = *l->at;
    const char *at = l->at + 1, *stop = at;
    HoloGrowing text = {0};
    bool        good = true;
    while (stop < l->end && *stop != quote) stop += *stop == '\\' && stop + 1 < l->end ? 2 : 1;
    if (stop >= l->end) return fail(l, "a string has no end");
    while (good && at < stop) {
        if (*at == '\\')
            at++, good = at < stop && read_escape(&at, stop, &text);
        else
            holo_growing_add_byte(&text, (uint8_t)*at++);
    }
    char      *kept   = good && !text.is_failed ? holo_arena_text(l->arena, (char *)text.data, text.size) : NULL;
    HoloString string = {kept, text.size};
    holo_growing_deinit(&text);
    if (!good) return fail(l, "a string has an escape that is not known or not complete");
    if (!kept) return holo_fail_memory(l->error);
    HOLO_TRY(add(l, HOLO_TT_STRING, string, NULL));
    advance(l, (size_t)(stop + 1 - l->at));
    return HOLO_OK;
}

double holo_decimal_read(const char *text, size_t size)
{
    char   copy[400];
    size_t used = 0;
    for (size_t i = 0; i < size && used + 2 < sizeof copy; i++)
        if (text[i] != '_') copy[used++] = text[i];
    copy[used] = 0;
    char  *end;
    double number = strtod(copy, &end);
    char  *dot    = strchr(copy, '.');
    if (*end && dot && end == dot) { // this locale writes another sign
        char probe[8];
        snprintf(probe, sizeof probe, "%.1f", 0.5);
        *dot   = probe[1];
        number = strtod(copy, &end);
    }
    return number;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *digits_end(const char *at, const char *end)
{
    while (at < end && (is_digit(*at) || (*at == '_' && at + 1 < end && is_digit(at[1])))) at++;
    return at;
}

static HoloStatus read_whole(Lexer *l, const char *at, const char *stop, int base)
{
    HoloTemplateToken *token;
    int64_t            number = 0;
    for (; at < stop; at++) {
        if (*at == '_') continue;
        if (!holo_mul(number, base, &number) || !holo_add(number, hex_digit(*at), &number))
            return fail(l, "a number is too large");
    }
    HOLO_TRY(add(l, HOLO_TT_INT, (HoloString){l->at, (size_t)(stop - l->at)}, &token));
    token->number = number;
    l->at         = stop;
    return HOLO_OK;
}

static HoloStatus read_number(Lexer *l)
{
    HoloTemplateToken *token;
    const char        *at = l->at;
    if (*at == '0' && at + 1 < l->end && strchr("xXoObB", at[1]) && at[1]) {
        int      base = (at[1] | 32) == 'x' ? 16 : (at[1] | 32) == 'o' ? 8 : 2;
        uint32_t code;
        int      count = read_code(at + 2, l->end, base, 15, &code);
        if (count) return read_whole(l, at + 2, at + 2 + count, base);
    }
    const char *whole = digits_end(at, l->end), *stop = whole;
    if (at[-1] == '.') return read_whole(l, at, whole, 10); // a.0.1 has two items, and no fraction
    if (stop + 1 < l->end && *stop == '.' && is_digit(stop[1])) stop = digits_end(stop + 1, l->end);
    if (stop < l->end && (*stop | 32) == 'e') {
        const char *power = stop + 1;
        if (power < l->end && (*power == '+' || *power == '-')) power++;
        if (power < l->end && is_digit(*power)) stop = digits_end(power, l->end);
    }
    if (stop == whole) return read_whole(l, at, stop, 10);
    HOLO_TRY(add(l, HOLO_TT_FLOAT, (HoloString){at, (size_t)(stop - at)}, &token));
    token->real = holo_decimal_read(at, (size_t)(stop - at));
    l->at       = stop;
    return HOLO_OK;
}

static bool is_name(unsigned char c, bool is_first)
{
    return c >= 0x80 || c == '_' || (unsigned)((c | 32) - 'a') < 26 || (!is_first && is_digit((char)c));
}

static HoloStatus read_token(Lexer *l, int *nesting)
{
    static const char signs[][3] = {"//", "**", "==", "!=", ">=", "<="};
    const char       *at         = l->at;
    if (*at == '"' || *at == '\'') return read_string(l);
    if (is_digit(*at)) return read_number(l);
    if (is_name((unsigned char)*at, true)) {
        while (at < l->end && is_name((unsigned char)*at, false)) at++;
        HOLO_TRY(add(l, HOLO_TT_NAME, (HoloString){l->at, (size_t)(at - l->at)}, NULL));
        l->at = at;
        return HOLO_OK;
    }
    size_t size = 0;
    for (int i = 0; i < HOLO_COUNT(signs); i++)
        if (starts(l, signs[i])) size = 2;
    if (!size && *at && strchr("+-/*%~[](){}=.:|,<>", *at)) size = 1;
    if (!size) return fail(l, "a character that means nothing here");
    *nesting += size == 1 && strchr("([{", *at) ? 1 : size == 1 && strchr(")]}", *at) ? -1 : 0;
    if (*nesting < 0) return fail(l, "a bracket is closed that was not opened");
    HOLO_TRY(add(l, HOLO_TT_SIGN, (HoloString){at, size}, NULL));
    l->at += size;
    return HOLO_OK;
}

// What is between the beginning of a tag, which was read, and its end, with it.
static HoloStatus read_tag(Lexer *l, bool is_block)
{
    const char *close = is_block ? "%}" : "}}", *minus = is_block ? "-%}" : "-}}";
    uint32_t    first   = l->line;
    int         nesting = 0;
    for (;;) {
        skip_white(l);
        if (l->at >= l->end)
            return holo_fail(l->error, HOLO_BAD_MODEL, "template, line %u: a tag begins here and has no end", first);
        char sign = starts(l, minus) ? '-' : is_block && starts(l, "+%}") ? '+' : 0;
        if (nesting || (!sign && !starts(l, close))) {
            HOLO_TRY(read_token(l, &nesting));
            continue;
        }
        HOLO_TRY(add(l, is_block ? HOLO_TT_LEAVE : HOLO_TT_CLOSE, (HoloString){0}, NULL));
        l->at += sign ? 3 : 2;
        tag_left(l, sign, is_block);
        return HOLO_OK;
    }
}

// ---- text between tags

// Adds the text in front of a tag, less the white space that the tag takes.
static HoloStatus add_text(Lexer *l, const char *begin, const char *end, char sign, bool is_block)
{
    if (sign == '-') {
        end = without_white(begin, end);
    } else if (is_block && sign != '+') {
        const char *line = end;
        while (line > begin && line[-1] != '\n') line--;
        bool is_line = line > begin || l->begins_line;
        if (is_line && without_white(line, end) == line) end = line;
    }
    if (end > begin) HOLO_TRY(add(l, HOLO_TT_TEXT, (HoloString){begin, (size_t)(end - begin)}, NULL));
    return HOLO_OK;
}

// Passes `word` and blanks around it; false: something else is there.
static bool pass_word(const char **at, const char *end, const char *word)
{
    size_t      size = strlen(word), white;
    const char *p    = *at;
    while ((white = white_at(p, end))) p += white;
    if ((size_t)(end - p) < size || memcmp(p, word, size)) return false;
    p += size;
    while ((white = white_at(p, end))) p += white;
    *at = p;
    return true;
}

// The end of a tag of one word; the sign in *out_sign. False: it is no such end.
static bool pass_end(const char **at, const char *end, char *out_sign)
{
    const char *p = *at;
    *out_sign     = p < end && (*p == '-' || *p == '+') ? *p++ : 0;
    if (end - p < 2 || p[0] != '%' || p[1] != '}') return false;
    *at = p + 2;
    return true;
}

// A raw block, where one begins behind `{%` and its sign. *out_is_raw: it was one.
static HoloStatus read_raw(Lexer *l, bool *out_is_raw)
{
    const char *at = l->at;
    char        sign;
    *out_is_raw = pass_word(&at, l->end, "raw") && pass_end(&at, l->end, &sign) && sign != '+';
    if (!*out_is_raw) return HOLO_OK;
    advance(l, (size_t)(at - l->at));
    tag_left(l, sign, false);
    for (const char *begin = l->at, *p = begin; l->end - p >= 2; p++) {
        if (p[0] != '{' || p[1] != '%') continue;
        const char *behind = p + 2;
        char        before = behind < l->end && (*behind == '-' || *behind == '+') ? *behind++ : 0;
        if (!pass_word(&behind, l->end, "endraw") || !pass_end(&behind, l->end, &sign)) continue;
        HOLO_TRY(add_text(l, begin, p, before, true));
        advance(l, (size_t)(behind - l->at));
        tag_left(l, sign, true);
        return HOLO_OK;
    }
    return fail(l, "a raw block has no {% endraw %}");
}

static HoloStatus read_comment(Lexer *l)
{
    for (const char *p = l->at; l->end - p >= 2; p++) {
        if (p[0] != '#' || p[1] != '}') continue;
        char sign = p > l->at && (p[-1] == '-' || p[-1] == '+') ? p[-1] : 0;
        advance(l, (size_t)(p + 2 - l->at));
        tag_left(l, sign, true);
        return HOLO_OK;
    }
    return fail(l, "a comment has no #}");
}

static HoloStatus read_all(Lexer *l)
{
    l->begins_line = true;
    while (l->at < l->end) {
        const char *begin = l->at, *p = begin;
        while (p < l->end && !(*p == '{' && p + 1 < l->end && strchr("{%#", p[1]) && p[1])) p++;
        if (p == l->end) {
            HOLO_TRY(add(l, HOLO_TT_TEXT, (HoloString){begin, (size_t)(p - begin)}, NULL));
            break;
        }
        char tag = p[1], sign = p + 2 < l->end && (p[2] == '-' || p[2] == '+') ? p[2] : 0;
        HOLO_TRY(add_text(l, begin, p, sign, tag != '{'));
        advance(l, (size_t)(p - begin) + (sign ? 3 : 2));
        bool is_raw = false;
        if (tag == '#') HOLO_TRY(read_comment(l));
        if (tag == '%') HOLO_TRY(read_raw(l, &is_raw));
        if (tag == '#' || is_raw) continue;
        HOLO_TRY(add(l, tag == '%' ? HOLO_TT_BEGIN : HOLO_TT_OPEN, (HoloString){0}, NULL));
        HOLO_TRY(read_tag(l, tag == '%'));
    }
    return add(l, HOLO_TT_END, (HoloString){0}, NULL);
}

// The source with one kind of line breaks, in UTF-8, and without the last line break.
static HoloStatus clean(HoloArena *arena, HoloString source, HoloString *out, HoloError *error)
{
    char  *text = holo_arena_take_raw(arena, source.size * 3 + 1);
    size_t used = 0;
    int    step;
    if (!text) return holo_fail_memory(error);
    for (size_t at = 0; at < source.size; at += (size_t)step) {
        uint32_t code = holo_code_read((const uint8_t *)source.data + at, source.size - at, &step);
        if (code == '\r') {
            if (at + 1 < source.size && source.data[at + 1] == '\n') step = 2;
            code = '\n';
        }
        used += (size_t)holo_code_write(code, (uint8_t *)text + used);
    }
    if (used && text[used - 1] == '\n') used--;
    *out = (HoloString){text, used};
    return HOLO_OK;
}

HoloStatus holo_template_lex(HoloArena *arena, HoloString source, HoloTemplateToken **out_tokens, HoloError *error)
{
    HoloString text = {0};
    if (source.size > HOLO_TEMPLATE_SOURCE)
        return holo_fail(error, HOLO_REFUSED, "the template has %zu bytes: more than %d are not read", source.size,
                         (int)HOLO_TEMPLATE_SOURCE);
    HOLO_TRY(clean(arena, source, &text, error));
    Lexer l = {.arena = arena, .error = error, .at = text.data, .end = text.data + text.size, .line = 1};
    HOLO_TRY(read_all(&l));
    *out_tokens = l.token;
    return HOLO_OK;
}
