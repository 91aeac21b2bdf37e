// json.c - writes JSON to a stream. It does not read any.

#include "json.h"

#include <math.h>
#include <string.h>

// Whether a character is shown as it is, or holo_text_safe would write it out.
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

// The comma, the new line, the indentation and the key that stand before an item.
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

void json_port(Json *json, const HoloPort *port)
{
    static const char *const kinds[] = {"tensor", "sequence", "optional", "map"};
    json_open(json, NULL, '{');
    json_text(json, "name", port->name);
    json_text(json, "kind", port->type.kind < CLI_COUNT(kinds) ? kinds[port->type.kind] : "?");
    json_text(json, "dtype", holo_dtype_name(port->type.dtype));
    if (port->type.rank < 0) {
        json_text(json, "shape", NULL);
    } else {
        json_open(json, "shape", '[');
        for (int i = 0; i < port->type.rank; i++) {
            if (port->type.dim[i] >= 0)
                json_int(json, NULL, port->type.dim[i]);
            else
                json_text(json, NULL, port->symbol[i]);
        }
        json_close(json, ']');
    }
    json_bool(json, "optional", port->optional);
    json_close(json, '}');
}
