// graph_scan.c - the words of graph text: names, numbers, sizes and types.
#include "graph/graph_scan.h"
#include "graph/graph_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- characters

HoloStatus holo_scan_wrong(HoloScan *p, const char *expected)
{
    int line = 1, shown = 0;
    for (const char *c = p->text; c < p->at; c++) line += *c == '\n';
    while (shown < 24 && p->at[shown] && p->at[shown] != '\n') shown++;
    return holo_fail(p->error, HOLO_BAD_MODEL, "%s, line %d: expected %s before \"%.*s\"",
                     p->name ? p->name : "graph text", line, expected, shown, p->at);
}

void holo_scan_skip(HoloScan *p)
{
    for (;;) {
        while (isspace((unsigned char)*p->at)) p->at++;
        if (*p->at != '#') return;
        while (*p->at && *p->at != '\n') p->at++;
    }
}

bool holo_scan_accept(HoloScan *p, const char *token)
{
    holo_scan_skip(p);
    size_t size = strlen(token);
    if (strncmp(p->at, token, size) != 0) return false;
    // A word must not be the beginning of a longer name.
    if (holo_text_in_name(token[size - 1]) && holo_text_in_name(p->at[size])) return false;
    p->at += size;
    return true;
}

HoloStatus holo_scan_expect(HoloScan *p, const char *token)
{
    return holo_scan_accept(p, token) ? HOLO_OK : holo_scan_wrong(p, token);
}

bool holo_scan_is_next(HoloScan *p, char c)
{
    holo_scan_skip(p);
    return *p->at == c;
}

// The text in quotes, with its escapes resolved.
HoloStatus holo_scan_quoted(HoloScan *p, HoloString *out)
{
    HOLO_TRY(holo_scan_expect(p, "\""));
    char *data = holo_arena_take(p->arena, strcspn(p->at, "\n") + 1), *to = data;
    if (!data) return holo_fail_memory(p->error);
    for (; *p->at != '"'; p->at++) {
        if (!*p->at || *p->at == '\n') return holo_scan_wrong(p, "a closing quote");
        if (*p->at != '\\') {
            *to++ = *p->at;
            continue;
        }
        char c = *++p->at;
        if (c == 'x' && isxdigit((unsigned char)p->at[1]) && isxdigit((unsigned char)p->at[2])) {
            char digits[3] = {p->at[1], p->at[2], '\0'};
            *to++          = (char)strtol(digits, NULL, 16);
            p->at += 2;
        } else if (c == 'n' || c == '"' || c == '\\') {
            *to++ = c == 'n' ? '\n' : c;
        } else {
            return holo_scan_wrong(p, "one of \\\\ \\\" \\n \\xhh");
        }
    }
    p->at++;
    *out = (HoloString){data, (size_t)(to - data)};
    return HOLO_OK;
}

HoloStatus holo_scan_name(HoloScan *p, const char **out)
{
    holo_scan_skip(p);
    if (*p->at == '"') {
        HoloString s;
        HOLO_TRY(holo_scan_quoted(p, &s));
        *out = s.data; // the memory behind it is zero
        return HOLO_OK;
    }
    const char *start = p->at;
    if (!isalpha((unsigned char)*p->at) && *p->at != '_' && *p->at != '/') return holo_scan_wrong(p, "a name");
    while (holo_text_in_name(*p->at)) p->at++;
    *out = holo_arena_text(p->arena, start, (size_t)(p->at - start));
    return *out ? HOLO_OK : holo_fail_memory(p->error);
}

// ---- numbers and types

HoloStatus holo_scan_int(HoloScan *p, int64_t *out)
{
    holo_scan_skip(p);
    bool     is_negative = *p->at == '-';
    uint64_t x           = 0;
    if (is_negative) p->at++;
    if (!isdigit((unsigned char)*p->at)) return holo_scan_wrong(p, "a whole number");
    for (; isdigit((unsigned char)*p->at); p->at++)
        if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, (uint64_t)(*p->at - '0'), &x))
            return holo_scan_wrong(p, "a number of at most 64 bits");
    *out = (int64_t)(is_negative ? 0 - x : x);
    return HOLO_OK;
}

HoloStatus holo_scan_float(HoloScan *p, double *out)
{
    bool is_negative = holo_scan_accept(p, "-");
    if (holo_scan_accept(p, "nan"))
        *out = NAN;
    else if (holo_scan_accept(p, "inf"))
        *out = INFINITY;
    else {
        char *end;
        holo_scan_skip(p);
        if (!isdigit((unsigned char)*p->at) && *p->at != '.') return holo_scan_wrong(p, "a number");
        *out  = strtod(p->at, &end);
        p->at = end;
    }
    if (is_negative) *out = -*out;
    return HOLO_OK;
}

// The text up to a comma or closing bracket that is not inside brackets.
HoloStatus holo_scan_dim(HoloScan *p, HoloDim *out)
{
    holo_scan_skip(p);
    const char *start  = p->at;
    bool        quoted = false;
    for (int depth = 0; *p->at && *p->at != '\n'; p->at++) {
        char c = *p->at;
        if (c == '"') quoted = !quoted;
        if (quoted) {
            if (c == '\\' && p->at[1]) p->at++;
            continue;
        }
        if (!depth && (c == ',' || c == ']' || c == '}')) break;
        depth += (c == '(') - (c == ')');
    }
    char *text = holo_arena_text(p->arena, start, (size_t)(p->at - start));
    if (!text) return holo_fail_memory(p->error);
    char *end = NULL;
    if (*text == '-' && isdigit((unsigned char)text[1])) { // a number alone may be the lowest number that exists
        *out = strtoll(text, &end, 10);
        if (!*end) return HOLO_OK;
    }
    if (holo_dim_parse(p->dims, text, out)) return HOLO_OK;
    p->at = start;
    return holo_scan_wrong(p, "a size");
}

static bool parse_kind(HoloScan *p, uint8_t *out)
{
    if (holo_scan_accept(p, "seq"))
        *out = HOLO_SEQUENCE;
    else if (holo_scan_accept(p, "optional"))
        *out = HOLO_OPTIONAL;
    else if (holo_scan_accept(p, "map"))
        *out = HOLO_MAP;
    else
        return false;
    return true;
}

HoloStatus holo_scan_type(HoloScan *p, HoloTensor *out)
{
    const char *name;
    *out = (HoloTensor){.rank = -1};
    if (parse_kind(p, &out->kind)) parse_kind(p, &out->inner);
    if (!holo_scan_accept(p, "?")) {
        const char *start = p->at;
        HOLO_TRY(holo_scan_name(p, &name));
        out->dtype = (uint8_t)holo_dtype_find(name);
        if (out->dtype == HOLO_NONE) return p->at = start, holo_scan_wrong(p, "a type such as f32[2,n]");
    }
    if (!holo_scan_accept(p, "[")) return HOLO_OK;
    out->rank = 0;
    while (!holo_scan_accept(p, "]")) {
        if (out->rank) HOLO_TRY(holo_scan_expect(p, ","));
        if (out->rank == HOLO_MAX_RANK) return holo_scan_wrong(p, "at most 16 dimensions");
        HOLO_TRY(holo_scan_dim(p, &out->dim[out->rank++]));
    }
    return HOLO_OK;
}
