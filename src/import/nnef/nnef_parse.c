// nnef_parse.c - the flat form of NNEF's text. See nnef.h.
#include "import/nnef/nnef.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8, ITEMS_MAX = 4096 };

typedef struct Scan {
    HoloImport *import;
    const char *at, *end;
    int         line;
} Scan;

static HoloStatus bad(Scan *s, const char *words)
{
    return holo_fail(s->import->error, HOLO_BAD_MODEL, "line %d: %s", s->line, words);
}

static void skip(Scan *s)
{
    while (s->at < s->end) {
        if (*s->at == '#')
            while (s->at < s->end && *s->at != '\n') s->at++;
        else if (*s->at == '\n')
            s->line++, s->at++;
        else if (*s->at == ' ' || *s->at == '\t' || *s->at == '\r')
            s->at++;
        else
            return;
    }
}

// Takes the text if it comes next.
static bool takes(Scan *s, const char *text)
{
    size_t size = strlen(text);
    skip(s);
    if ((size_t)(s->end - s->at) < size || memcmp(s->at, text, size)) return false;
    s->at += size;
    return true;
}

static HoloStatus expect(Scan *s, const char *text)
{
    if (takes(s, text)) return HOLO_OK;
    return holo_fail(s->import->error, HOLO_BAD_MODEL, "line %d: '%s' is expected here", s->line, text);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char *kept(Scan *s, const char *from, size_t size)
{
    return holo_arena_text(s->import->arena, from, size);
}

static HoloStatus word(Scan *s, const char **out)
{
    skip(s);
    const char *from = s->at;
    while (s->at < s->end && (is_letter(*s->at) || (s->at > from && is_digit(*s->at)))) s->at++;
    if (s->at == from) return bad(s, "a name is expected here");
    *out = kept(s, from, (size_t)(s->at - from));
    return *out ? HOLO_OK : holo_fail_memory(s->import->error);
}

static HoloStatus quoted(Scan *s, HoloNnefArg *out)
{
    char        mark = *s->at++;
    const char *from = s->at;
    while (s->at < s->end && *s->at != mark && *s->at != '\n') s->at++;
    if (s->at == s->end || *s->at != mark) return bad(s, "a text has no end");
    *out = (HoloNnefArg){.kind = HOLO_NNEF_TEXT, .text = kept(s, from, (size_t)(s->at++ - from))};
    return out->text ? HOLO_OK : holo_fail_memory(s->import->error);
}

static HoloStatus number(Scan *s, HoloNnefArg *out)
{
    char        digits[64], *end;
    const char *from = s->at;
    *out             = (HoloNnefArg){.kind = HOLO_NNEF_NUMBER, .is_whole = true};
    while (s->at < s->end && (is_digit(*s->at) || strchr("+-.eE", *s->at)) && *s->at) s->at++;
    size_t size = (size_t)(s->at - from);
    if (!size || size >= sizeof digits) return bad(s, "a value is expected here");
    memcpy(digits, from, size);
    digits[size] = 0;
    out->number  = strtod(digits, &end);
    if (*end) return bad(s, "this is not a number");
    out->is_whole = !strpbrk(digits, ".eE");
    return HOLO_OK;
}

static HoloStatus value(Scan *s, HoloNnefArg *out, int depth);

// Items up to the closing mark, which is taken.
static HoloStatus items(Scan *s, const char *close, HoloNnefArg *out, int depth)
{
    int room = 0;
    *out     = (HoloNnefArg){.kind = HOLO_NNEF_LIST};
    while (!takes(s, close)) {
        if (out->count) HOLO_TRY(expect(s, ","));
        if (out->count == ITEMS_MAX) return bad(s, "a list is too long");
        if (!HOLO_GROW(s->import->arena, out->item, out->count, room)) return holo_fail_memory(s->import->error);
        HOLO_TRY(value(s, &out->item[out->count], depth + 1));
        out->count++;
    }
    return HOLO_OK;
}

static HoloStatus value(Scan *s, HoloNnefArg *out, int depth)
{
    skip(s);
    if (depth > DEPTH_MAX) return bad(s, "lists are nested too deeply");
    if (s->at == s->end) return bad(s, "the text ends here, and more is expected");
    if (takes(s, "[")) return items(s, "]", out, depth);
    if (takes(s, "(")) return items(s, ")", out, depth);
    if (*s->at == '\'' || *s->at == '"') return quoted(s, out);
    if (!is_letter(*s->at)) return number(s, out);
    *out = (HoloNnefArg){.kind = HOLO_NNEF_NAME};
    HOLO_TRY(word(s, &out->text));
    bool is_true = !strcmp(out->text, "true");
    if (is_true || !strcmp(out->text, "false")) *out = (HoloNnefArg){.kind = HOLO_NNEF_BOOL, .number = is_true};
    return HOLO_OK;
}

// Results: a name, a list, or names with commas between them.
static HoloStatus results(Scan *s, HoloNnefArg *out)
{
    HoloNnefArg more;
    HOLO_TRY(value(s, out, 0));
    skip(s);
    if (s->at == s->end || *s->at != ',') return HOLO_OK;
    HOLO_TRY(expect(s, ","));
    HOLO_TRY(items(s, "=", &more, 0)); // takes the sign, too
    s->at--;
    HoloNnefArg *all = HOLO_NEW(s->import->arena, HoloNnefArg, more.count + 1);
    if (!all) return holo_fail_memory(s->import->error);
    all[0] = *out;
    if (more.count) memcpy(all + 1, more.item, (size_t)more.count * sizeof *all);
    *out = (HoloNnefArg){.kind = HOLO_NNEF_LIST, .item = all, .count = more.count + 1};
    return HOLO_OK;
}

static HoloStatus argument(Scan *s, HoloNnefArg *out)
{
    const char *at   = s->at;
    int         line = s->line;
    const char *key  = NULL;
    skip(s);
    if (s->at < s->end && is_letter(*s->at)) {
        HOLO_TRY(word(s, &key));
        if (!takes(s, "=")) { // not a key, but a value
            s->at   = at;
            s->line = line;
            key     = NULL;
        }
    }
    HOLO_TRY(value(s, out, 0));
    out->key = key;
    skip(s);
    if (s->at < s->end && strchr("+-*/<>&|^!?", *s->at))
        return bad(s, "this is not the flat form of NNEF: expressions are not supported");
    if (s->at < s->end && *s->at == '(')
        return bad(s, "this is not the flat form of NNEF: calls in calls are not supported");
    return HOLO_OK;
}

static HoloStatus statement(Scan *s, HoloNnefGraph *g)
{
    HoloNnefCall call = {.line = s->line};
    int          room = 0;
    HOLO_TRY(results(s, &call.results));
    HOLO_TRY(expect(s, "="));
    HOLO_TRY(word(s, &call.op));
    if (takes(s, "<")) {
        HOLO_TRY(word(s, &call.type));
        HOLO_TRY(expect(s, ">"));
    }
    HOLO_TRY(expect(s, "("));
    while (!takes(s, ")")) {
        if (call.arg_count) HOLO_TRY(expect(s, ","));
        if (!HOLO_GROW(s->import->arena, call.arg, call.arg_count, room)) return holo_fail_memory(s->import->error);
        HOLO_TRY(argument(s, &call.arg[call.arg_count]));
        call.arg_count++;
    }
    HOLO_TRY(expect(s, ";"));
    if (!HOLO_GROW(s->import->arena, g->call, g->call_count, g->call_room)) return holo_fail_memory(s->import->error);
    g->call[g->call_count++] = call;
    return HOLO_OK;
}

HoloStatus holo_nnef_parse(HoloImport *import, HoloString text, HoloNnefGraph *out)
{
    Scan        s = {import, text.data, text.data + text.size, 1};
    HoloNnefArg version;
    const char *name;
    *out = (HoloNnefGraph){0};
    HOLO_TRY(expect(&s, "version"));
    skip(&s);
    HOLO_TRY(number(&s, &version));
    HOLO_TRY(expect(&s, ";"));
    if (version.number < 1 || version.number >= 2)
        return holo_fail(import->error, HOLO_UNSUPPORTED, "version %g of NNEF; version 1 is supported", version.number);
    while (takes(&s, "extension")) {
        while (s.at < s.end && *s.at != ';') s.at++;
        HOLO_TRY(expect(&s, ";"));
    }
    skip(&s);
    if ((size_t)(s.end - s.at) > 8 && !memcmp(s.at, "fragment", 8))
        return holo_fail(import->error, HOLO_UNSUPPORTED,
                         "line %d: the file defines operations of its own (fragment): export the flat form of NNEF",
                         s.line);
    HOLO_TRY(expect(&s, "graph"));
    HOLO_TRY(word(&s, &name));
    out->name = name;
    HOLO_TRY(expect(&s, "("));
    HOLO_TRY(items(&s, ")", &out->inputs, 0));
    HOLO_TRY(expect(&s, "->"));
    HOLO_TRY(expect(&s, "("));
    HOLO_TRY(items(&s, ")", &out->outputs, 0));
    HOLO_TRY(expect(&s, "{"));
    while (!takes(&s, "}")) HOLO_TRY(statement(&s, out));
    return HOLO_OK;
}
