// datum_json.c - values from JSON, and as JSON the way that Python's json.dumps writes it.
#include "text/render.h"

#include "text/template_lex.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- reading

typedef struct Reader {
    HoloRender    *r;
    const uint8_t *at, *begin, *end;
    const char    *what; // the name of the text in messages
} Reader;

static HoloDatum bad(Reader *j, const char *why)
{
    return holo_render_fail(j->r, "%s is no valid JSON: %s at byte %zu", j->what, why, (size_t)(j->at - j->begin));
}

static void skip_blanks(Reader *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r')) j->at++;
}

static bool pass(Reader *j, const char *text)
{
    size_t size = strlen(text);
    if ((size_t)(j->end - j->at) < size || memcmp(j->at, text, size)) return false;
    j->at += size;
    return true;
}

static bool read_hex(Reader *j, uint32_t *out)
{
    *out = 0;
    if (j->end - j->at < 4) return false;
    for (int i = 0; i < 4; i++) {
        uint32_t c = *j->at++, digit = c - '0' < 10 ? c - '0' : (c | 32) - 'a' < 6 ? (c | 32) - 'a' + 10 : 16;
        if (digit > 15) return false;
        *out = *out * 16 + digit;
    }
    return true;
}

// One escape behind its backslash; false: it is none.
static bool read_escape(Reader *j, HoloGrowing *out)
{
    static const char letters[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    if (j->at >= j->end) return false;
    const char *found = *j->at ? strchr(letters, (char)*j->at) : NULL;
    uint32_t    code, low;
    if (found) return holo_growing_add_byte(out, (uint8_t)codes[found - letters]), j->at++, true;
    if (*j->at++ != 'u' || !read_hex(j, &code)) return false;
    if (code - 0xD800 < 0x400 && j->end - j->at >= 6 && j->at[0] == '\\' && j->at[1] == 'u') {
        const uint8_t *back = j->at;
        j->at += 2;
        if (!read_hex(j, &low)) return false;
        if (low - 0xDC00 < 0x400)
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        else
            j->at = back;
    }
    holo_growing_add_code(out, code - 0xD800 < 0x800 ? 0xFFFD : code);
    return true;
}

static HoloDatum read_string(Reader *j)
{
    HoloGrowing out  = {0};
    bool        good = true;
    int         step;
    j->at++;
    while (good && j->at < j->end && *j->at != '"') {
        if (*j->at == '\\') {
            j->at++;
            good = read_escape(j, &out);
        } else {
            uint32_t code = holo_code_read(j->at, (size_t)(j->end - j->at), &step);
            holo_growing_add_code(&out, code);
            j->at += step;
        }
    }
    HoloDatum d = holo_d_grown(j->r, &out);
    if (!good) return bad(j, "an escape");
    if (j->at == j->end) return bad(j, "a string without end");
    j->at++;
    return d;
}

static HoloDatum read_number(Reader *j)
{
    const uint8_t *begin = j->at;
    bool           whole = true, minus = *j->at == '-';
    int64_t        number = 0;
    if (minus) j->at++;
    for (; j->at < j->end && *j->at >= '0' && *j->at <= '9'; j->at++)
        whole =
            whole && holo_mul(number, 10, &number) && holo_add(number, minus ? '0' - *j->at : *j->at - '0', &number);
    if (j->at == begin + minus) return bad(j, "something that is no value");
    while (j->at < j->end && *j->at && strchr("0123456789.eE+-", *j->at)) j->at++, whole = false;
    if (whole) return holo_d_int(number);
    return holo_d_float(holo_decimal_read((const char *)begin, (size_t)(j->at - begin)));
}

static HoloDatum read_value(Reader *j);

static HoloDatum read_list(Reader *j)
{
    HoloDatum list = holo_d_series(j->r, HOLO_D_LIST, 0);
    j->at++;
    skip_blanks(j);
    if (pass(j, "]")) return list;
    while (!j->r->status) {
        HoloDatum item = read_value(j);
        if (j->r->status) break;
        holo_series_add(j->r, list.series, item);
        if (pass(j, "]")) break;
        if (!pass(j, ",")) return bad(j, "a comma is missing");
    }
    return list;
}

static HoloDatum read_object(Reader *j)
{
    HoloDatum dict = holo_d_entries(j->r, HOLO_D_DICT);
    j->at++;
    skip_blanks(j);
    if (pass(j, "}")) return dict;
    while (!j->r->status) {
        skip_blanks(j);
        if (j->at == j->end || *j->at != '"') return bad(j, "a key is missing");
        HoloDatum key = read_string(j);
        skip_blanks(j);
        if (!pass(j, ":")) return bad(j, "a colon is missing");
        HoloDatum value = read_value(j);
        if (j->r->status) break;
        holo_entries_set(j->r, dict.entries, key, value);
        if (pass(j, "}")) break;
        if (!pass(j, ",")) return bad(j, "a comma is missing");
    }
    return dict;
}

static HoloDatum read_value(Reader *j)
{
    HoloDatum d;
    if (!holo_render_spend(j->r, 1) || !holo_render_enter(j->r)) return holo_d_none();
    skip_blanks(j);
    if (j->at == j->end)
        d = bad(j, "it ends too early");
    else if (*j->at == '{')
        d = read_object(j);
    else if (*j->at == '[')
        d = read_list(j);
    else if (*j->at == '"')
        d = read_string(j);
    else if (pass(j, "true"))
        d = holo_d_bool(true);
    else if (pass(j, "false"))
        d = holo_d_bool(false);
    else if (pass(j, "null"))
        d = holo_d_none();
    else
        d = read_number(j);
    skip_blanks(j);
    j->r->depth--;
    return d;
}

HoloDatum holo_d_json_read(HoloRender *r, HoloString text, const char *what)
{
    const uint8_t *bytes = (const uint8_t *)text.data;
    Reader         j     = {r, bytes, bytes, bytes + text.size, what};
    HoloDatum      d     = read_value(&j);
    if (!r->status && j.at != j.end) return bad(&j, "something follows its end");
    return d;
}

// ---- writing

typedef struct Writer {
    HoloRender          *r;
    HoloGrowing         *out;
    const HoloJsonStyle *style;
    int                  level;
} Writer;

static void write_value(Writer *w, HoloDatum d);

static void put(Writer *w, const char *text)
{
    holo_growing_add(w->out, text, strlen(text));
}

static void write_line(Writer *w)
{
    if (!w->style->indent.data || !holo_render_spend(w->r, (uint64_t)w->level)) return;
    put(w, "\n");
    for (int i = 0; i < w->level; i++) holo_growing_add(w->out, w->style->indent.data, w->style->indent.size);
}

static void write_string(Writer *w, HoloString s)
{
    static const char letters[] = "\"\\bfnrt", codes[] = "\"\\\b\f\n\r\t";
    int               step;
    if (!holo_render_spend(w->r, s.size / 32)) return;
    put(w, "\"");
    for (size_t at = 0; at < s.size; at += (size_t)step) {
        char        text[20];
        uint32_t    code  = holo_code_read((const uint8_t *)s.data + at, s.size - at, &step);
        const char *found = code && code < 128 ? strchr(codes, (char)code) : NULL;
        if (found)
            holo_growing_add(w->out, (char[]){'\\', letters[found - codes]}, 2);
        else if (code >= 32 && (!w->style->ascii || code < 127))
            holo_growing_add(w->out, s.data + at, (size_t)step);
        else if (code < 0x10000)
            snprintf(text, sizeof text, "\\u%04x", code), put(w, text);
        else
            snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF)), put(w, text);
    }
    put(w, "\"");
}

static void write_real(Writer *w, double number)
{
    if (isnan(number)) return put(w, "NaN");
    if (isinf(number)) return put(w, number > 0 ? "Infinity" : "-Infinity");
    holo_real_write(w->out, number);
}

static void write_list(Writer *w, const HoloSeries *s)
{
    if (!s->count) return put(w, "[]");
    put(w, "[");
    w->level++;
    for (uint32_t i = 0; i < s->count && !w->r->status; i++) {
        if (i) holo_growing_add(w->out, w->style->item.data, w->style->item.size);
        write_line(w);
        write_value(w, s->item[i]);
    }
    w->level--;
    write_line(w);
    put(w, "]");
}

static void write_key(Writer *w, HoloDatum key)
{
    if (key.kind == HOLO_D_STRING) return write_string(w, holo_d_text(key));
    if (key.kind != HOLO_D_NONE && !holo_d_is_number(key)) {
        holo_render_fail(w->r, "a %s cannot be a key in JSON", holo_d_type(key));
        return;
    }
    put(w, "\"");
    write_value(w, key);
    put(w, "\"");
}

// The entries of a dict in the order of their keys.
static const HoloEntries *sorted(HoloRender *r, const HoloEntries *e)
{
    HoloDatum pairs = holo_d_series(r, HOLO_D_LIST, e->count), keys = holo_d_series(r, HOLO_D_LIST, e->count);
    HoloDatum dict = holo_d_entries(r, HOLO_D_DICT);
    for (uint32_t i = 0; i < e->count && !r->status; i++) {
        holo_series_add(r, pairs.series, e->item[2 * i + 1]);
        holo_series_add(r, keys.series, e->item[2 * i]);
    }
    if (!r->status) holo_series_sort(r, pairs.series, keys.series, false);
    for (uint32_t i = 0; i < e->count && !r->status; i++)
        holo_entries_set(r, dict.entries, keys.series->item[i], pairs.series->item[i]);
    return r->status ? e : dict.entries;
}

static void write_dict(Writer *w, const HoloEntries *e)
{
    if (!e->count) return put(w, "{}");
    if (w->style->sorts) e = sorted(w->r, e);
    put(w, "{");
    w->level++;
    for (uint32_t i = 0; i < e->count && !w->r->status; i++) {
        if (i) holo_growing_add(w->out, w->style->item.data, w->style->item.size);
        write_line(w);
        write_key(w, e->item[2 * i]);
        holo_growing_add(w->out, w->style->key.data, w->style->key.size);
        write_value(w, e->item[2 * i + 1]);
    }
    w->level--;
    write_line(w);
    put(w, "}");
}

static void write_value(Writer *w, HoloDatum d)
{
    char text[40];
    if (!holo_render_spend(w->r, 1) || !holo_render_enter(w->r)) return;
    switch ((HoloDatumKind)d.kind) {
    case HOLO_D_NONE: put(w, "null"); break;
    case HOLO_D_BOOL: put(w, d.whole ? "true" : "false"); break;
    case HOLO_D_INT: snprintf(text, sizeof text, "%" PRId64, d.whole), put(w, text); break;
    case HOLO_D_FLOAT: write_real(w, d.real); break;
    case HOLO_D_STRING: write_string(w, holo_d_text(d)); break;
    case HOLO_D_LIST:
    case HOLO_D_TUPLE: write_list(w, d.series); break;
    case HOLO_D_DICT: write_dict(w, d.entries); break;
    default: holo_render_fail(w->r, "a %s cannot be written as JSON", holo_d_type(d));
    }
    if (w->out->size > w->r->limits->output) holo_render_fail(w->r, "the JSON is too long");
    w->r->depth--;
}

void holo_d_json_write(HoloRender *r, HoloGrowing *out, HoloDatum d, const HoloJsonStyle *style)
{
    Writer w = {r, out, style, 0};
    write_value(&w, d);
}
