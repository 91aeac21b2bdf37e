// json.c - writes JSON to a stream. It does not read any.

#include "json.h"

#include <math.h>
#include <string.h>

// Is a character shown unchanged, or would holo_text_safe escape it?
static bool is_shown(const unsigned char *s, int size)
{
    char one[8] = {0}, safe[16];
    memcpy(one, s, (size_t)size);
    return holo_text_safe(one, safe, sizeof safe) == (size_t)size;
}

static void escaped(FILE *out, const unsigned char *s, int size)
{
    uint32_t c = size == 1 ? s[0] : s[0] & (0xFFu >> (size + 1));
    for (int i = 1; i < size; i++) c = c << 6 | (s[i] & 0x3F);
    if (c > 0xFFFF) fprintf(out, "\\u%04x", 0xD7C0 + (c >> 10));
    fprintf(out, "\\u%04x", c > 0xFFFF ? 0xDC00 + (c & 0x3FF) : c);
}

static void quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int size = cli_utf8_size(s);
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", out);
        else if (size == 0)
            fprintf(out, "?");
        else if (!is_shown(s, size))
            escaped(out, s, size);
        else
            fprintf(out, "%.*s", size, (const char *)s);
        s += size ? size : 1;
    }
    fputc('"', out);
}

// Writes what comes before an item: comma, new line, indentation and key.
static void begin(Json *json, const char *key)
{
    uint64_t bit = UINT64_C(1) << json->depth;
    if (json->depth) fprintf(json->out, "%s\n%*s", json->filled & bit ? "," : "", 2 * json->depth, "");
    json->filled |= bit;
    if (!key) return;
    quoted(json->out, key);
    fputs(": ", json->out);
}

void json_open(Json *json, const char *key, char kind)
{
    if (!json->depth && json->out == stdout) cli_json_begun();
    begin(json, key);
    fputc(kind, json->out);
    json->depth++;
    json->filled &= ~(UINT64_C(1) << json->depth);
}

void json_close(Json *json, char kind)
{
    bool filled = json->filled >> json->depth & 1;
    json->depth--;
    if (filled) fprintf(json->out, "\n%*s", 2 * json->depth, "");
    fputc(kind, json->out);
    if (!json->depth) fputc('\n', json->out);
}

void json_text(Json *json, const char *key, const char *text)
{
    begin(json, key);
    if (text)
        quoted(json->out, text);
    else
        fputs("null", json->out);
}

void json_int(Json *json, const char *key, int64_t number)
{
    begin(json, key);
    fprintf(json->out, "%lld", (long long)number);
}

void json_number(Json *json, const char *key, double number)
{
    begin(json, key);
    if (isfinite(number))
        fprintf(json->out, "%.10g", number);
    else
        fputs("null", json->out);
}

void json_bool(Json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->out);
}

static void kind_and_type(Json *json, const HoloTensor *type, const char *const *symbol)
{
    static const char *const kinds[] = {"tensor", "sequence", "optional", "map"};
    json_text(json, "kind", type->kind < CLI_COUNT(kinds) ? kinds[type->kind] : "?");
    json_text(json, "dtype", holo_dtype_name(type->dtype));
    if (type->rank < 0) {
        json_text(json, "shape", NULL);
        return;
    }
    json_open(json, "shape", '[');
    for (int i = 0; i < type->rank; i++) {
        if (type->dim[i] >= 0)
            json_int(json, NULL, type->dim[i]);
        else
            json_text(json, NULL, symbol[i]);
    }
    json_close(json, ']');
}

void json_port(Json *json, const HoloPort *port)
{
    json_open(json, NULL, '{');
    json_text(json, "name", port->name);
    kind_and_type(json, &port->type, port->symbol);
    json_bool(json, "optional", port->optional);
    json_close(json, '}');
}

// Element i of a tensor, with as many digits as distinguish it from every other number of its type.
static void element(FILE *out, const HoloTensor *t, int64_t i)
{
    double x;
    if (t->dtype == HOLO_STRING) {
        const HoloString *text = &((const HoloString *)t->data)[i];
        quoted(out, cli_format("%.*s", (int)text->size, text->data));
        return;
    }
    if (t->dtype == HOLO_I64 || t->dtype == HOLO_U64) {
        fprintf(out, t->dtype == HOLO_I64 ? "%lld" : "%llu", ((const long long *)t->data)[i]);
        return;
    }
    holo_tensor_numbers(t, i, 1, &x);
    if (t->dtype == HOLO_BOOL)
        fputs(x != 0 ? "true" : "false", out);
    else if (isfinite(x))
        fprintf(out, "%.*g", t->dtype == HOLO_F64 || t->dtype == HOLO_C128 ? 17 : 10, x);
    else
        fputs("null", out);
}

void json_value(Json *json, const char *name, const HoloTensor *value, bool data)
{
    json_open(json, NULL, '{');
    if (name) json_text(json, "name", name);
    kind_and_type(json, value, NULL);
    if (value->kind != HOLO_TENSOR) {
        const HoloTensor *items = value->data;
        json_open(json, "items", '[');
        for (int64_t i = 0; i < (value->kind == HOLO_MAP ? 2 : value->dim[0]); i++)
            json_value(json, NULL, &items[i], data);
        json_close(json, ']');
    } else if (data) {
        begin(json, "data");
        fputc('[', json->out);
        for (int64_t i = 0; i < holo_tensor_count(value); i++) {
            if (i) fputs(", ", json->out);
            element(json->out, value, i);
        }
        fputc(']', json->out);
    }
    json_close(json, '}');
}
