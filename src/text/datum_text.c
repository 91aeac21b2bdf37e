// datum_text.c - the text of values, as Python prints them.
#include "text/render.h"

#include "text/template_lex.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_text(HoloGrowing *out, const char *text)
{
    holo_growing_add(out, text, strlen(text));
}

// The fewest digits that read back as the number, then Python's choice of where an exponent is written.
void holo_real_write(HoloGrowing *out, double number)
{
    char text[40], digits[24];
    int  count = 0, precision = 1;
    if (isnan(number)) return add_text(out, "nan");
    if (isinf(number)) return add_text(out, number > 0 ? "inf" : "-inf");
    for (; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, number);
        if (strtod(text, NULL) == number) break;
    }
    snprintf(text, sizeof text, "%.*e", precision - 1, number);
    char *exponent = strchr(text, 'e');
    int   power    = atoi(exponent + 1);
    for (char *p = text; p < exponent; p++)
        if (*p >= '0' && *p <= '9') digits[count++] = *p;
    while (count > 1 && digits[count - 1] == '0') count--;
    if (text[0] == '-') add_text(out, "-");
    if (power < -4 || power >= 16) {
        holo_growing_add(out, digits, 1);
        if (count > 1) add_text(out, "."), holo_growing_add(out, digits + 1, (size_t)count - 1);
        snprintf(text, sizeof text, "e%c%02d", power < 0 ? '-' : '+', abs(power));
        return add_text(out, text);
    }
    if (power < 0) {
        add_text(out, "0.");
        for (int i = -1; i > power; i--) add_text(out, "0");
        return holo_growing_add(out, digits, (size_t)count);
    }
    for (int i = 0; i <= power; i++) holo_growing_add(out, i < count ? &digits[i] : "0", 1);
    add_text(out, ".");
    if (count > power + 1)
        holo_growing_add(out, digits + power + 1, (size_t)(count - power - 1));
    else
        add_text(out, "0");
}

static bool is_printable(uint32_t code)
{
    if (code >= HOLO_CODES) return false;
    int category = holo_unicode(code)->category;
    return code == ' ' || (category != HOLO_CN && category < HOLO_ZS);
}

static void write_quoted(HoloGrowing *out, HoloString s)
{
    char quote = memchr(s.data, '\'', s.size) && !memchr(s.data, '"', s.size) ? '"' : '\'';
    int  step;
    holo_growing_add_byte(out, (uint8_t)quote);
    for (size_t at = 0; at < s.size; at += (size_t)step) {
        char     text[16];
        uint32_t code = holo_code_read((const uint8_t *)s.data + at, s.size - at, &step);
        if (code == (uint32_t)quote || code == '\\')
            snprintf(text, sizeof text, "\\%c", (char)code);
        else if (code == '\n' || code == '\r' || code == '\t')
            snprintf(text, sizeof text, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
        else if (is_printable(code)) {
            holo_growing_add(out, s.data + at, (size_t)step);
            continue;
        } else
            snprintf(text, sizeof text, code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
        add_text(out, text);
    }
    holo_growing_add_byte(out, (uint8_t)quote);
}

static void write_series(HoloRender *r, HoloGrowing *out, HoloDatum d)
{
    bool is_list = d.kind == HOLO_D_LIST;
    add_text(out, is_list ? "[" : "(");
    for (uint32_t i = 0; i < d.series->count && !r->status; i++) {
        if (i) add_text(out, ", ");
        holo_d_write_repr(r, out, d.series->item[i]);
    }
    add_text(out, is_list ? "]" : d.series->count == 1 ? ",)" : ")");
}

static void write_entries(HoloRender *r, HoloGrowing *out, HoloDatum d)
{
    add_text(out, "{");
    for (uint32_t i = 0; i < d.entries->count && !r->status; i++) {
        if (i) add_text(out, ", ");
        holo_d_write_repr(r, out, d.entries->item[2 * i]);
        add_text(out, ": ");
        holo_d_write_repr(r, out, d.entries->item[2 * i + 1]);
    }
    add_text(out, "}");
}

// Whether a text that grows stays within what may come out.
static bool within(HoloRender *r, const HoloGrowing *out)
{
    if (r->status) return false;
    if (out->is_failed) r->status = holo_fail_memory(r->error);
    if (out->size > r->limits->output)
        r->status = holo_fail(r->error, HOLO_REFUSED, "template, line %u: a text has more than %zu bytes", r->line,
                              r->limits->output);
    return !r->status;
}

void holo_d_write_repr(HoloRender *r, HoloGrowing *out, HoloDatum d)
{
    char text[40];
    if (!within(r, out) || !holo_render_spend(r, 1) || !holo_render_enter(r)) return;
    switch ((HoloDatumKind)d.kind) {
    case HOLO_D_NONE: add_text(out, "None"); break;
    case HOLO_D_UNDEFINED: add_text(out, "Undefined"); break;
    case HOLO_D_BOOL: add_text(out, d.whole ? "True" : "False"); break;
    case HOLO_D_INT:
        snprintf(text, sizeof text, "%" PRId64, d.whole);
        add_text(out, text);
        break;
    case HOLO_D_FLOAT: holo_real_write(out, d.real); break;
    case HOLO_D_STRING:
        holo_render_spend(r, d.size / 16);
        write_quoted(out, holo_d_text(d));
        break;
    case HOLO_D_LIST:
    case HOLO_D_TUPLE: write_series(r, out, d); break;
    case HOLO_D_DICT: write_entries(r, out, d); break;
    default: holo_render_fail(r, "a %s has no text: call it, or take one of its attributes", holo_d_type(d));
    }
    r->depth--;
    within(r, out);
}

void holo_d_write(HoloRender *r, HoloGrowing *out, HoloDatum d)
{
    if (!holo_render_spend(r, 1)) return;
    if (d.kind == HOLO_D_UNDEFINED || d.kind == HOLO_D_ABSENT) return;
    if (d.kind != HOLO_D_STRING) return holo_d_write_repr(r, out, d);
    if (!holo_render_spend(r, d.size / 64)) return;
    holo_growing_add(out, d.text, d.size);
    within(r, out);
}

HoloDatum holo_d_to_string(HoloRender *r, HoloDatum d)
{
    HoloGrowing out = {0};
    if (d.kind == HOLO_D_STRING) return d;
    holo_d_write(r, &out, d);
    return holo_d_grown(r, &out);
}

HoloDatum holo_d_escape(HoloRender *r, HoloDatum d)
{
    static const struct {
        char        letter;
        const char *text;
    } marks[]       = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&#34;"}, {'\'', "&#39;"}};
    HoloGrowing out = {0};
    if (d.kind == HOLO_D_STRING && d.flags & HOLO_D_SAFE) return d;
    d = holo_d_to_string(r, d);
    if (r->status) return d;
    for (uint32_t i = 0; i < d.size; i++) {
        const char *text = NULL;
        for (int k = 0; k < HOLO_COUNT(marks); k++)
            if (marks[k].letter == d.text[i]) text = marks[k].text;
        if (text)
            add_text(&out, text);
        else
            holo_growing_add_byte(&out, (uint8_t)d.text[i]);
    }
    d = holo_d_grown(r, &out);
    d.flags |= HOLO_D_SAFE;
    return d;
}

// ---- upper and lower case

static const HoloUnicodeMap *const cases[] = {&holo_unicode_lower, &holo_unicode_upper, &holo_unicode_title};

static void write_case(HoloLetterCase to, uint32_t code, HoloGrowing *out)
{
    if (code < 128) {
        bool is_upper = code - 'A' < 26, is_lower = code - 'a' < 26;
        code += to == HOLO_LOWER && is_upper ? 32u : to != HOLO_LOWER && is_lower ? -32u : 0u;
        return holo_growing_add_byte(out, (uint8_t)code);
    }
    int             count = 0;
    uint32_t        room;
    const uint32_t *became = holo_unicode_mapped(cases[to], code, &room, &count);
    if (!became) holo_growing_add_code(out, code);
    for (int i = 0; i < count; i++) holo_growing_add_code(out, became[i]);
}

void holo_case_write(HoloLetterCase to, HoloString text, HoloGrowing *out)
{
    int step;
    for (size_t at = 0; at < text.size; at += (size_t)step)
        write_case(to, holo_code_read((const uint8_t *)text.data + at, text.size - at, &step), out);
}
