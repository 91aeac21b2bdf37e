// protobuf_text.c - the text form of protocol buffers: names and values, turned into the wire format.
#include "import/wire/protobuf_text.h"

#include "import/wire/protobuf_write.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

typedef struct Reader {
    HoloPbOut   out;
    const char *start, *at, *end;
    HoloPbEnum *constant;
    HoloError  *error;
    int         depth;
} Reader;

static HoloStatus fail(const Reader *r, const char *problem)
{
    int line = 1;
    for (const char *p = r->start; p < r->at; p++) line += *p == '\n';
    return holo_fail(r->error, HOLO_BAD_MODEL, "line %d: %s", line, problem);
}

static void skip_space(Reader *r)
{
    while (r->at < r->end) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n') r->at++;
        else if (strchr(" \t\r\n\f\v", *r->at) && *r->at)
            r->at++;
        else
            return;
    }
}

static bool take(Reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-' || c == '+';
}

static HoloString take_word(Reader *r)
{
    skip_space(r);
    const char *begin = r->at;
    while (r->at < r->end && is_word(*r->at)) r->at++;
    return (HoloString){begin, (size_t)(r->at - begin)};
}

// ---- strings

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static uint32_t take_number(Reader *r, int base, int digits)
{
    uint32_t value = 0;
    for (; digits-- && r->at < r->end && digit_of(*r->at) < base; r->at++)
        value = value * (uint32_t)base + (uint32_t)digit_of(*r->at);
    return value;
}

// The bytes of an escape, behind its backslash. Returns how many.
static int take_escape(Reader *r, uint8_t *out)
{
    static const char letters[] = "abfnrtv", means[] = "\a\b\f\n\r\t\v";
    char              c     = *r->at;
    const char       *found = c ? strchr(letters, c) : NULL;
    uint32_t          code;
    if (c >= '0' && c <= '7') {
        out[0] = (uint8_t)take_number(r, 8, 3);
        return 1;
    }
    r->at++;
    if (c == 'x' || c == 'X') {
        out[0] = (uint8_t)take_number(r, 16, 2);
        return 1;
    }
    if (c != 'u' && c != 'U') {
        out[0] = (uint8_t)(found ? means[found - letters] : c);
        return 1;
    }
    code     = take_number(r, 16, c == 'u' ? 4 : 8);
    int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = size - 1; i > 0; i--, code >>= 6) out[i] = (uint8_t)(0x80 | (code & 0x3f));
    out[0] = (uint8_t)(size == 1 ? code : (0xf00u >> size & 0xffu) | code);
    return size;
}

static HoloStatus take_quoted(Reader *r, HoloPbOut *out)
{
    char quote = *r->at++;
    while (r->at < r->end && *r->at != quote) {
        uint8_t bytes[4] = {(uint8_t)*r->at};
        int     size     = 1;
        if (*r->at == '\n') break;
        if (*r->at++ == '\\') {
            if (r->at == r->end) break;
            size = take_escape(r, bytes);
        }
        holo_pb_put_raw(out, bytes, (size_t)size);
    }
    if (r->at == r->end || *r->at != quote) return fail(r, "a string has no end");
    r->at++;
    return HOLO_OK;
}

static bool at_quote(Reader *r)
{
    skip_space(r);
    return r->at < r->end && (*r->at == '"' || *r->at == '\'');
}

// Strings that follow each other are one.
static HoloStatus take_string(Reader *r, const HoloPbField *field)
{
    size_t mark = field ? holo_pb_open(&r->out, field->number) : r->out.size;
    while (at_quote(r)) HOLO_TRY(take_quoted(r, &r->out));
    if (field)
        holo_pb_close(&r->out, mark);
    else
        r->out.size = mark; // of a field that is passed over
    return HOLO_OK;
}

// ---- values

static HoloStatus put_word(Reader *r, const HoloPbField *field, HoloString word)
{
    char    text[64], *end;
    int64_t number = 0;
    if (!word.size || word.size >= sizeof text) return fail(r, "here should be a value");
    if (!field) return HOLO_OK;
    memcpy(text, word.data, word.size);
    text[word.size] = 0;
    double real     = strtod(text, &end);
    if (end[0] == 'f' && !end[1]) end++;
    bool is_real = !*end;
    switch (field->kind) {
    case HOLO_PB_FLOAT:
    case HOLO_PB_FIXED32S: // a field of one float
        if (!is_real) return fail(r, "here should be a number");
        holo_pb_put_float(&r->out, field->number, (float)real);
        return HOLO_OK;
    case HOLO_PB_FIXED64S:
        if (!is_real) return fail(r, "here should be a number");
        holo_pb_put_double(&r->out, field->number, real);
        return HOLO_OK;
    case HOLO_PB_INT:
    case HOLO_PB_INTS:
        number = text[0] == '-' ? (int64_t)strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
        if (*end && !strcmp(text, "true"))
            number = 1;
        else if (*end && strcmp(text, "false") && !(r->constant && r->constant(word, &number)))
            return fail(r, "this name is not known here");
        else if (*end && !strcmp(text, "false"))
            number = 0;
        holo_pb_put_int(&r->out, field->number, number);
        return HOLO_OK;
    default: return fail(r, "here should be a string or a message");
    }
}

static HoloStatus take_fields(Reader *r, const HoloPbField *fields, char end);

static HoloStatus take_message(Reader *r, const HoloPbField *field, char end)
{
    static const HoloPbField none[1];
    if (r->depth >= DEPTH_MAX) return fail(r, "messages are nested too deeply");
    if (field && !field->of) return fail(r, "a message stands where there should be a value");
    size_t mark = field ? holo_pb_open(&r->out, field->number) : 0;
    r->depth++;
    HOLO_TRY(take_fields(r, field ? field->of : none, end));
    r->depth--;
    if (field) holo_pb_close(&r->out, mark);
    return HOLO_OK;
}

static HoloStatus take_value(Reader *r, const HoloPbField *field)
{
    if (take(r, '{')) return take_message(r, field, '}');
    if (take(r, '<')) return take_message(r, field, '>');
    if (!at_quote(r)) return put_word(r, field, take_word(r));
    if (field && field->kind != HOLO_PB_BYTES && field->kind != HOLO_PB_LIST) return fail(r, "here should be a number");
    return take_string(r, field);
}

static HoloStatus take_list(Reader *r, const HoloPbField *field)
{
    if (take(r, ']')) return HOLO_OK;
    do HOLO_TRY(take_value(r, field));
    while (take(r, ','));
    return take(r, ']') ? HOLO_OK : fail(r, "a list has no end");
}

static const HoloPbField *find_field(const HoloPbField *fields, HoloString name)
{
    for (; fields->number; fields++)
        if (fields->name && strlen(fields->name) == name.size && !memcmp(fields->name, name.data, name.size))
            return fields;
    return NULL;
}

static HoloStatus take_fields(Reader *r, const HoloPbField *fields, char end)
{
    for (;;) {
        skip_space(r);
        if (r->at == r->end) return end ? fail(r, "a message has no end") : HOLO_OK;
        if (end && take(r, end)) return HOLO_OK;
        HoloString name = take_word(r);
        if (!name.size) return fail(r, "here should be the name of a field");
        const HoloPbField *field = find_field(fields, name);
        bool               colon = take(r, ':');
        skip_space(r);
        if (!colon && (r->at == r->end || (*r->at != '{' && *r->at != '<')))
            return fail(r, "here should be a colon, or a message");
        HOLO_TRY(take(r, '[') ? take_list(r, field) : take_value(r, field));
        if (!take(r, ',')) take(r, ';');
        if (r->out.failed) return holo_fail_memory(r->error);
    }
}

HoloStatus holo_pb_from_text(HoloArena *arena, HoloString text, const HoloPbField *fields, HoloPbEnum *constant,
                             HoloString *out, HoloError *error)
{
    Reader r = {{.arena = arena}, text.data, text.data, text.data + text.size, constant, error, 0};
    HOLO_TRY(take_fields(&r, fields, 0));
    if (r.out.failed) return holo_fail_memory(error);
    *out = (HoloString){(const char *)r.out.data, r.out.size};
    return HOLO_OK;
}
