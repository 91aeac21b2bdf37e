// format_text.c - Python's str.format() and its operator % on strings, as far as templates use them.
#include "text/render.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDEST = 10000, FINEST = 100 }; // columns, digits behind the point

typedef struct Spec {
    uint32_t fill;
    char     align, sign, type;                   // 0: not given
    bool     zero, comma, is_alternate, is_empty; // is_empty: nothing at all is given
    int      width, precision;                    // precision -1: not given
} Spec;

// ---- a value by its specification

static void add_columns(HoloGrowing *out, uint32_t fill, size_t count)
{
    for (size_t i = 0; i < count; i++) holo_growing_add_code(out, fill);
}

static void aligned(HoloRender *r, HoloGrowing *out, const Spec *s, HoloString text, char usual)
{
    size_t length = holo_text_length(r, text), more = (size_t)s->width > length ? (size_t)s->width - length : 0;
    char   align = s->align ? s->align : usual;
    bool   sign  = align == '=' && text.size && (*text.data == '-' || *text.data == '+');
    size_t left  = align == '<' ? 0 : align == '^' ? more / 2 : more;
    holo_render_spend(r, more / 16);
    if (sign) holo_growing_add_byte(out, (uint8_t)*text.data);
    add_columns(out, s->fill, left);
    holo_growing_add(out, text.data + sign, text.size - sign);
    add_columns(out, s->fill, more - left);
}

// Digits with a comma between each three of them in front of the point.
static size_t with_commas(const char *digits, char *out)
{
    size_t whole = strspn(digits, "0123456789"), used = 0;
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0) out[used++] = ',';
        out[used++] = digits[i];
    }
    size_t rest = strlen(digits + whole);
    memcpy(out + used, digits + whole, rest);
    return used + rest;
}

static void number_text(HoloRender *r, const Spec *s, HoloDatum d, char *text, size_t room)
{
    int      precision = s->precision < 0 ? 6 : s->precision;
    uint64_t size      = d.kind != HOLO_D_FLOAT && d.whole < 0 ? 0 - (uint64_t)d.whole : (uint64_t)d.whole;
    double   real      = fabs(holo_d_real(d));
    char     type      = s->type;
    if (holo_d_is_whole(d) && (!type || type == 'd' || type == 'i' || type == 'u' || type == 'n')) {
        snprintf(text, room, "%" PRIu64, size);
    } else if (holo_d_is_whole(d) && type == 'x') {
        snprintf(text, room, s->is_alternate ? "0x%" PRIx64 : "%" PRIx64, size);
    } else if (holo_d_is_whole(d) && type == 'X') {
        snprintf(text, room, s->is_alternate ? "0X%" PRIX64 : "%" PRIX64, size);
    } else if (holo_d_is_whole(d) && type == 'o') {
        snprintf(text, room, s->is_alternate ? "0o%" PRIo64 : "%" PRIo64, size);
    } else if (type == '%') {
        snprintf(text, room, "%.*f%%", precision, real * 100);
    } else if (type == 'f' || type == 'F') {
        snprintf(text, room, "%.*f", precision, real);
    } else if (type == 'e') {
        snprintf(text, room, "%.*e", precision, real);
    } else if (type == 'g' || (!type && s->precision >= 0)) {
        snprintf(text, room, "%.*g", precision ? precision : 1, real);
    } else if (!type) {
        HoloGrowing out = {0};
        holo_real_write(&out, real);
        snprintf(text, room, "%.*s", (int)out.size, (const char *)out.data);
        holo_growing_deinit(&out);
    } else {
        holo_render_fail(r, "a number cannot be formatted as '%c'", type);
        *text = 0;
    }
}

static void write_number(HoloRender *r, HoloGrowing *out, Spec s, HoloDatum d)
{
    char   text[500], all[900];
    size_t used  = 0, size;
    bool   minus = d.kind == HOLO_D_FLOAT ? signbit(d.real) != 0 : d.whole < 0;
    number_text(r, &s, d, text, sizeof text);
    if (minus)
        all[used++] = '-';
    else if (s.sign == '+' || s.sign == ' ')
        all[used++] = s.sign;
    if (s.comma) {
        size = with_commas(text, all + used);
    } else {
        size = strlen(text);
        memcpy(all + used, text, size);
    }
    if (s.zero && !s.align) s.fill = '0', s.align = '=';
    aligned(r, out, &s, (HoloString){all, used + size}, '>');
}

static void write_value(HoloRender *r, HoloGrowing *out, const Spec *s, HoloDatum d)
{
    bool is_text = s->type == 's' || s->type == 'r' || s->type == 'a';
    if (holo_d_is_number(d) && !is_text && (d.kind != HOLO_D_BOOL || !s->is_empty)) return write_number(r, out, *s, d);
    if (s->type && !is_text) {
        holo_render_fail(r, "a %s cannot be formatted as '%c'", holo_d_type(d), s->type);
        return;
    }
    HoloGrowing text = {0};
    if (s->type == 'r' || s->type == 'a')
        holo_d_write_repr(r, &text, d);
    else
        holo_d_write(r, &text, d);
    HoloString all = {text.data ? (const char *)text.data : "", text.size};
    if (s->precision >= 0) all.size = holo_text_offset(all, (size_t)s->precision);
    if (!r->status) aligned(r, out, s, all, '<');
    holo_growing_deinit(&text);
}

// ---- str.format

static bool read_number(const char **at, const char *end, int most, int *out)
{
    if (*at >= end || **at < '0' || **at > '9') return false;
    for (*out = 0; *at < end && **at >= '0' && **at <= '9'; ++*at)
        if (*out <= most) *out = *out * 10 + (**at - '0');
    return true;
}

static bool is_one_of(const char *at, const char *end, const char *set)
{
    return at < end && *at && strchr(set, *at);
}

static void read_spec(HoloRender *r, const char *at, const char *end, Spec *s)
{
    int step = 1;
    *s       = (Spec){.fill = ' ', .precision = -1, .is_empty = at == end};
    if (at < end) {
        uint32_t first = holo_code_read((const uint8_t *)at, (size_t)(end - at), &step);
        if (is_one_of(at + step, end, "<>=^")) s->fill = first, at += step;
    }
    if (is_one_of(at, end, "<>=^")) s->align = *at++;
    if (is_one_of(at, end, "+- ")) s->sign = *at++;
    if (is_one_of(at, end, "#")) s->is_alternate = true, at++;
    if (is_one_of(at, end, "0")) s->zero = true, at++;
    read_number(&at, end, WIDEST, &s->width);
    if (is_one_of(at, end, ",")) s->comma = true, at++;
    if (is_one_of(at, end, ".")) {
        at++;
        if (!read_number(&at, end, FINEST, &s->precision)) holo_render_fail(r, "a format has a point without digits");
    }
    if (is_one_of(at, end, "sdfFeExXgon%r")) s->type = *at++;
    if (at != end) holo_render_fail(r, "a format is not known: '%.*s'", (int)(end - at), at);
    if (s->width > WIDEST || s->precision > FINEST) holo_render_fail(r, "a format is too wide");
}

// The value that a field names: by its number, its name, or the next one; then attributes and items of it.
static HoloDatum field_value(HoloRender *r, HoloString name, const HoloSeries *list, const HoloEntries *named,
                             int *next)
{
    const char *at = name.data, *end = at + name.size;
    int         number;
    if (!name.size || read_number(&at, end, 1000, &number)) {
        if (!name.size) number = (*next)++;
        if (at != end)
            return holo_render_fail(r, "a format takes whole values: attributes and items are not supported");
        if ((uint32_t)number >= list->count) return holo_render_fail(r, "a format has more fields than values");
        return list->item[number];
    }
    const HoloDatum *value = holo_entries_find_text(r, named, name);
    if (!value) return holo_render_fail(r, "a format has no value for '%.*s'", (int)name.size, name.data);
    return *value;
}

static void write_field(HoloRender *r, HoloGrowing *out, HoloString field, const HoloSeries *list,
                        const HoloEntries *named, int *next)
{
    Spec        spec;
    const char *end = field.data + field.size, *colon = memchr(field.data, ':', field.size);
    const char *stop = colon ? colon : end, *bang = memchr(field.data, '!', (size_t)(stop - field.data));
    HoloString  name  = {field.data, (size_t)((bang ? bang : stop) - field.data)};
    HoloDatum   value = field_value(r, name, list, named, next);
    if (r->status) return;
    read_spec(r, colon ? colon + 1 : end, end, &spec);
    if (bang && bang + 2 == stop && (bang[1] == 'r' || bang[1] == 's')) {
        HoloGrowing text = {0};
        if (bang[1] == 'r')
            holo_d_write_repr(r, &text, value);
        else
            holo_d_write(r, &text, value);
        value = holo_d_grown(r, &text);
    } else if (bang) {
        holo_render_fail(r, "a format has a conversion that is not known");
    }
    if (!r->status) write_value(r, out, &spec, value);
}

HoloDatum holo_format_braces(HoloRender *r, HoloString format, const HoloSeries *list, const HoloEntries *named)
{
    HoloGrowing out  = {0};
    int         next = 0;
    for (size_t at = 0; at < format.size && holo_render_spend(r, 1) && out.size <= r->limits->output; at++) {
        char c         = format.data[at];
        bool is_double = (c == '{' || c == '}') && at + 1 < format.size && format.data[at + 1] == c;
        if (is_double || (c != '{' && c != '}')) {
            holo_growing_add_byte(&out, (uint8_t)c);
            at += is_double;
            continue;
        }
        const char *end = c == '{' ? memchr(format.data + at, '}', format.size - at) : NULL;
        if (!end) {
            holo_render_fail(r, "a format has a single brace");
            break;
        }
        HoloString field = {format.data + at + 1, (size_t)(end - format.data) - at - 1};
        write_field(r, &out, field, list, named, &next);
        at = (size_t)(end - format.data);
    }
    if (out.size > r->limits->output) holo_render_fail(r, "a text is too long");
    return holo_d_grown(r, &out);
}

// ---- the operator %

// Reads what is between % and its letter. NULL: something is wrong.
static const char *read_percent(HoloRender *r, const char *at, const char *end, Spec *s, HoloString *name)
{
    *s    = (Spec){.fill = ' ', .precision = -1, .align = '>'};
    *name = (HoloString){0};
    if (at < end && *at == '(') {
        const char *close = memchr(at, ')', (size_t)(end - at));
        if (!close) return NULL;
        *name = (HoloString){at + 1, (size_t)(close - at) - 1};
        at    = close + 1;
    }
    for (; is_one_of(at, end, "-+ 0#"); at++) {
        if (*at == '-') s->align = '<';
        if (*at == '0') s->zero = true;
        if (*at == '+' || *at == ' ') s->sign = *at;
        if (*at == '#') s->is_alternate = true;
    }
    if (s->zero && s->align == '>') s->align = 0;
    read_number(&at, end, WIDEST, &s->width);
    if (is_one_of(at, end, ".")) {
        s->precision = 0, at++;
        read_number(&at, end, FINEST, &s->precision);
    }
    if (s->width > WIDEST || s->precision > FINEST) holo_render_fail(r, "a format is too wide");
    if (!is_one_of(at, end, "sdiufFeExXgor%a")) return NULL;
    s->type = *at;
    return at + 1;
}

static HoloDatum percent_value(HoloRender *r, HoloString name, HoloDatum values, uint32_t *next)
{
    if (name.data) {
        const HoloDatum *value = values.kind == HOLO_D_DICT ? holo_entries_find_text(r, values.entries, name) : NULL;
        return value ? *value : holo_render_fail(r, "a format has no value for '%.*s'", (int)name.size, name.data);
    }
    uint32_t count = values.kind == HOLO_D_TUPLE ? values.series->count : 1, at = (*next)++;
    if (at >= count) return holo_render_fail(r, "a format has more fields than values");
    return values.kind == HOLO_D_TUPLE ? values.series->item[at] : values;
}

// Whether a value stands for itself alone, so that a format has to use it. Python lets others be.
static bool is_single(HoloDatum d)
{
    return d.kind != HOLO_D_DICT && d.kind != HOLO_D_LIST && d.kind != HOLO_D_UNDEFINED;
}

HoloDatum holo_format_percent(HoloRender *r, HoloString format, HoloDatum values)
{
    HoloGrowing out  = {0};
    uint32_t    next = 0;
    const char *at = format.data, *end = at + format.size;
    while (at < end && holo_render_spend(r, 1) && out.size <= r->limits->output) {
        Spec       spec;
        HoloString name;
        if (*at != '%') {
            holo_growing_add_byte(&out, (uint8_t)*at++);
            continue;
        }
        at = read_percent(r, at + 1, end, &spec, &name);
        if (!at) {
            holo_render_fail(r, "a format has a %% that is not known");
            break;
        }
        if (spec.type == '%') {
            holo_growing_add_byte(&out, '%');
            continue;
        }
        HoloDatum value = percent_value(r, name, values, &next);
        bool      whole = strchr("diuxXo", spec.type) != NULL;
        if (whole && value.kind == HOLO_D_FLOAT && fabs(value.real) < 0x1p63) value = holo_d_int((int64_t)value.real);
        if (!r->status) write_value(r, &out, &spec, value);
    }
    bool is_rest = values.kind == HOLO_D_TUPLE ? next < values.series->count : !next && is_single(values);
    if (!r->status && is_rest) holo_render_fail(r, "a format has fewer fields than values");
    if (out.size > r->limits->output) holo_render_fail(r, "a text is too long");
    return holo_d_grown(r, &out);
}
