// script_lex.c - the tokens of TorchScript's code: names, numbers, texts, signs, and blocks by their indentation.
#include "import/torch/script.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void holo_script_lexer_init(HoloScriptLexer *l, HoloArena *arena, const char *file, const void *bytes, size_t size,
                            HoloError *error)
{
    *l     = (HoloScriptLexer){.arena = arena, .error = error, .file = file, .line = 1, .is_new_line = true};
    l->at  = size ? bytes : "";
    l->end = l->at + size;
}

static void fail(HoloScriptLexer *l, const char *what)
{
    if (!l->status) l->status = holo_fail(l->error, HOLO_BAD_MODEL, "%s, line %d: %s", l->file, l->line, what);
    l->at         = l->end;
    l->token.kind = HOLO_TOKEN_END;
}

static int peek(const HoloScriptLexer *l, int offset)
{
    return l->end - l->at > offset ? (unsigned char)l->at[offset] : 0;
}

static void skip_comment(HoloScriptLexer *l)
{
    while (l->at < l->end && *l->at != '\n') l->at++;
}

// Skips blanks, comments, and lines that have nothing else. Returns how far the next token is indented.
static int skip_blanks(HoloScriptLexer *l)
{
    int column = 0;
    for (; l->at < l->end; l->at++) {
        char c = *l->at;
        if (c == '#') skip_comment(l);
        if (l->at == l->end) break;
        c = *l->at;
        if (c == '\n') {
            if (!l->is_new_line && !l->brackets) break;
            l->line++;
            column = 0;
        } else if (c == '\\' && peek(l, 1) == '\n') {
            l->at++;
            l->line++;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            column++;
        } else {
            break;
        }
    }
    return column;
}

// Opens or closes blocks at the beginning of a line. True: the token is made.
static bool take_indent(HoloScriptLexer *l, int column)
{
    int now = l->indents ? l->indent[l->indents - 1] : 0;
    if (column > now) {
        if (l->indents == HOLO_SCRIPT_INDENTS) return fail(l, "blocks are nested too deep"), true;
        l->indent[l->indents++] = column;
        l->token.kind           = HOLO_TOKEN_INDENT;
        return true;
    }
    while (l->indents && l->indent[l->indents - 1] > column) {
        l->indents--;
        l->dedents++;
    }
    if (column != (l->indents ? l->indent[l->indents - 1] : 0)) return fail(l, "the indentation is wrong"), true;
    return false;
}

static void take_number(HoloScriptLexer *l)
{
    char        text[64], *end;
    int         size     = 0;
    bool        is_float = false;
    const char *from     = l->at;
    while (l->at < l->end) {
        char c       = *l->at;
        bool is_sign = (c == '-' || c == '+') && (l->at[-1] == 'e' || l->at[-1] == 'E') && l->at > from;
        if (!isalnum((unsigned char)c) && c != '.' && !is_sign) break;
        is_float |= c == '.' || c == 'e' || c == 'E';
        if (size == sizeof text - 1) return fail(l, "a number is too long");
        text[size++] = c;
        l->at++;
    }
    text[size] = 0;
    errno      = 0;
    if (is_float) {
        l->token.kind = HOLO_TOKEN_FLOAT;
        l->token.f    = strtod(text, &end);
    } else {
        l->token.kind = HOLO_TOKEN_INT;
        l->token.i    = strtoll(text, &end, 0);
        if (errno) return fail(l, "a whole number is too large");
    }
    if (*end == 'j' && !end[1]) {
        if (!is_float) l->token.f = (double)l->token.i;
        l->token.kind = HOLO_TOKEN_IMAGINARY;
    } else if (*end) {
        fail(l, "a number cannot be read");
    }
}

static int hex_of(int c)
{
    return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

// The character that an escape stands for; the text continues behind it.
static char take_escape(HoloScriptLexer *l)
{
    static const char letters[] = "n\nt\tr\ra\ab\bf\fv\v\\\\'\'\"\"";
    int               c         = peek(l, 1);
    for (const char *p = letters; *p; p += 2)
        if (*p == c) return l->at += 2, p[1];
    if (c == 'x' && hex_of(peek(l, 2)) >= 0 && hex_of(peek(l, 3)) >= 0) {
        char value = (char)(hex_of(peek(l, 2)) * 16 + hex_of(peek(l, 3)));
        l->at += 4;
        return value;
    }
    if (c >= '0' && c <= '7') {
        int value = 0, i = 1;
        for (; i <= 3 && peek(l, i) >= '0' && peek(l, i) <= '7'; i++) value = value * 8 + peek(l, i) - '0';
        l->at += i;
        return (char)value;
    }
    l->at++;
    return '\\';
}

static void take_text(HoloScriptLexer *l)
{
    char   quote = *l->at++;
    size_t size = 0, room = 0;
    for (const char *p = l->at; p < l->end && *p != '\n'; p++) room++; // a text ends in its line
    char *text = holo_arena_take_raw(l->arena, room + 1);
    if (!text) {
        if (!l->status) l->status = holo_fail_memory(l->error);
        return fail(l, "");
    }
    while (l->at < l->end && *l->at != quote && *l->at != '\n') {
        if (*l->at == '\\')
            text[size++] = take_escape(l);
        else
            text[size++] = *l->at++;
    }
    if (l->at == l->end || *l->at != quote) return fail(l, "a text has no end");
    l->at++;
    text[size]    = 0;
    l->token.kind = HOLO_TOKEN_TEXT;
    l->token.text = (HoloString){text, size};
}

static void take_sign(HoloScriptLexer *l)
{
    static const char *const signs[] = {"**=", "//=", "<<=", ">>=", "->", "==", "!=", "<=", ">=", "//", "**",
                                        "<<",  ">>",  "+=",  "-=",  "*=", "/=", "%=", "|=", "&=", "^=", "@="};
    size_t                   size    = 1;
    for (int i = HOLO_COUNT(signs) - 1; i >= 0; i--)
        if ((size_t)(l->end - l->at) >= strlen(signs[i]) && !strncmp(l->at, signs[i], strlen(signs[i])))
            size = strlen(signs[i]);
    if (size == 1 && !strchr("()[]{}:,.;=+-*/%<>~|&^@", *l->at)) return fail(l, "a character that is no Python");
    if (size == 1 && strchr("([{", *l->at)) l->brackets++;
    if (size == 1 && strchr(")]}", *l->at) && l->brackets) l->brackets--;
    l->token.kind = HOLO_TOKEN_SIGN;
    l->token.text = (HoloString){l->at, size};
    l->at += size;
}

void holo_script_next(HoloScriptLexer *l)
{
    l->token = (HoloScriptToken){.line = l->line};
    if (l->status) return;
    if (!l->dedents) {
        bool is_first = l->is_new_line;
        int  column   = skip_blanks(l);
        l->token.line = l->line;
        if (is_first && l->at < l->end && take_indent(l, column)) {
            l->is_new_line = false;
            return;
        }
        l->is_new_line = l->is_new_line && l->at == l->end;
    }
    if (l->dedents) {
        l->dedents--;
        l->token.kind = HOLO_TOKEN_DEDENT;
        return;
    }
    if (l->at == l->end) {
        if (!l->is_new_line) {
            l->is_new_line = true;
            l->token.kind  = HOLO_TOKEN_LINE;
        } else if (l->indents) {
            l->indents--;
            l->token.kind = HOLO_TOKEN_DEDENT;
        }
        return;
    }
    unsigned char c = (unsigned char)*l->at;
    if (c == '\n') {
        l->is_new_line = true;
        l->token.kind  = HOLO_TOKEN_LINE;
        l->at++;
        l->line++;
    } else if (isalpha(c) || c == '_' || c >= 128) {
        const char *from = l->at;
        while (l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '_' || (unsigned char)*l->at >= 128))
            l->at++;
        l->token.kind = HOLO_TOKEN_NAME;
        l->token.text = (HoloString){from, (size_t)(l->at - from)};
    } else if (isdigit(c) || (c == '.' && isdigit(peek(l, 1)))) {
        take_number(l);
    } else if (c == '"' || c == '\'') {
        take_text(l);
    } else {
        take_sign(l);
    }
}
