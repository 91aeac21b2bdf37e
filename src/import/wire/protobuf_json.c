// protobuf_json.c - the JSON form of protocol buffers, turned into the wire format. Names may be in camelCase.
#include "import/wire/protobuf_text.h"

#include "import/wire/protobuf_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

typedef struct Writer {
    HoloPbOut   out;
    HoloPbEnum *constant;
    HoloError  *error;
    int         depth;
} Writer;

static HoloStatus refuse(const Writer *w, const char *key, const char *want)
{
    return holo_fail(w->error, HOLO_BAD_MODEL, "'%.100s' should be %s", key, want);
}

// ---- base 64

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

size_t holo_base64_decode(const char *text, size_t size, uint8_t *out)
{
    uint32_t bits = 0;
    int      held = 0;
    size_t   made = 0;
    while (size && text[size - 1] == '=') size--;
    for (size_t i = 0; i < size; i++) {
        int value = sextet(text[i]);
        if (value < 0) return SIZE_MAX;
        bits = bits << 6 | (uint32_t)value;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out[made++] = (uint8_t)(bits >> held);
    }
    return made;
}

// ---- values

// Is the name of the field the key, in snake_case or camelCase?
static bool is_named(const char *name, const char *key)
{
    for (; *name && *key; name++, key++) {
        if (*name == *key) continue;
        if (*name != '_' || !name[1] || name[1] - 'a' + 'A' != *key) return false;
        name++;
    }
    return !*name && !*key;
}

// Bytes: base 64, or a list of numbers, as some writers have it.
static HoloStatus put_bytes(Writer *w, const HoloPbField *field, const char *key, const json_t *json)
{
    size_t   count = json_is_string(json) ? json_string_length(json) : json_array_size(json), size = 0;
    uint8_t *bytes = holo_arena_take_raw(w->out.arena, count + 3);
    if (!bytes) return holo_fail_memory(w->error);
    if (json_is_string(json)) {
        size = holo_base64_decode(json_string_value(json), count, bytes);
        if (size == SIZE_MAX) return refuse(w, key, "in base 64");
    } else if (json_is_array(json)) {
        for (; size < count; size++) bytes[size] = (uint8_t)json_integer_value(json_array_get(json, size));
    } else {
        return refuse(w, key, "a string");
    }
    holo_pb_put_bytes(&w->out, field->number, bytes, size);
    return HOLO_OK;
}

static HoloStatus put_int(Writer *w, const HoloPbField *field, const char *key, const json_t *json)
{
    int64_t number = 0;
    if (json_is_boolean(json)) {
        number = json_is_true(json);
    } else if (json_is_number(json)) {
        double real = json_number_value(json);
        number = json_is_integer(json) ? json_integer_value(json) : real > -9e18 && real < 9e18 ? (int64_t)real : 0;
    } else if (json_is_string(json)) {
        const char *text = json_string_value(json);
        char       *end;
        HoloString  name = {text, json_string_length(json)};
        number           = text[0] == '-' ? (int64_t)strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
        if ((*end || !*text) && !(w->constant && w->constant(name, &number))) return refuse(w, key, "a whole number");
    } else {
        return refuse(w, key, "a whole number");
    }
    holo_pb_put_int(&w->out, field->number, number);
    return HOLO_OK;
}

static HoloStatus put_real(Writer *w, const HoloPbField *field, const char *key, const json_t *json)
{
    double number = json_number_value(json);
    if (json_is_string(json)) {
        char *end;
        number = strtod(json_string_value(json), &end); // it knows NaN and Infinity
        if (*end) return refuse(w, key, "a number");
    } else if (!json_is_number(json)) {
        return refuse(w, key, "a number");
    }
    if (field->kind == HOLO_PB_FIXED64S)
        holo_pb_put_double(&w->out, field->number, number);
    else
        holo_pb_put_float(&w->out, field->number, (float)number);
    return HOLO_OK;
}

static HoloStatus put_fields(Writer *w, const HoloPbField *fields, const char *key, const json_t *json);

static HoloStatus put_message(Writer *w, const HoloPbField *field, const char *key, const json_t *json)
{
    if (w->depth >= DEPTH_MAX) return holo_fail(w->error, HOLO_BAD_MODEL, "'%.100s' is nested too deeply", key);
    size_t mark = holo_pb_open(&w->out, field->number);
    w->depth++;
    HOLO_TRY(put_fields(w, field->of, key, json));
    w->depth--;
    holo_pb_close(&w->out, mark);
    return HOLO_OK;
}

static HoloStatus put_one(Writer *w, const HoloPbField *field, const char *key, const json_t *json)
{
    if (field->kind == HOLO_PB_INT || field->kind == HOLO_PB_INTS) return put_int(w, field, key, json);
    if (field->kind != HOLO_PB_BYTES && field->kind != HOLO_PB_LIST) return put_real(w, field, key, json);
    if (field->of) return put_message(w, field, key, json);
    if (field->form == HOLO_PB_BASE64) return put_bytes(w, field, key, json);
    if (!json_is_string(json)) return refuse(w, key, "a string");
    holo_pb_put_bytes(&w->out, field->number, json_string_value(json), json_string_length(json));
    return HOLO_OK;
}

static HoloStatus put_map(Writer *w, const HoloPbField *field, const char *key, const json_t *json)
{
    const char *name;
    json_t     *value;
    if (!json_is_object(json)) return refuse(w, key, "an object");
    json_object_foreach((json_t *)json, name, value)
    {
        size_t mark = holo_pb_open(&w->out, field->number);
        holo_pb_put_text(&w->out, 1, name);
        if (!json_is_null(value)) HOLO_TRY(put_one(w, &field->of[1], name, value));
        holo_pb_close(&w->out, mark);
    }
    return HOLO_OK;
}

static HoloStatus put_field(Writer *w, const HoloPbField *field, const char *key, const json_t *json)
{
    bool is_many = field->kind >= HOLO_PB_INTS;
    if (field->form == HOLO_PB_MAP) return put_map(w, field, key, json);
    if (!is_many || !json_is_array(json)) return put_one(w, field, key, json);
    for (size_t i = 0; i < json_array_size(json); i++) HOLO_TRY(put_one(w, field, key, json_array_get(json, i)));
    return HOLO_OK;
}

static HoloStatus put_fields(Writer *w, const HoloPbField *fields, const char *key, const json_t *json)
{
    const char *name;
    json_t     *value;
    if (!json_is_object(json)) return refuse(w, key, "an object");
    json_object_foreach((json_t *)json, name, value)
    {
        const HoloPbField *field = fields;
        while (field->number && !(field->name && is_named(field->name, name))) field++;
        if (field->number && !json_is_null(value)) HOLO_TRY(put_field(w, field, name, value));
    }
    return w->out.failed ? holo_fail_memory(w->error) : HOLO_OK;
}

HoloStatus holo_pb_from_json(HoloArena *arena, const json_t *json, const HoloPbField *fields, HoloPbEnum *constant,
                             HoloString *out, HoloError *error)
{
    Writer w = {{.arena = arena}, constant, error, 0};
    HOLO_TRY(put_fields(&w, fields, "the message", json));
    *out = (HoloString){(const char *)w.out.data, w.out.size};
    return HOLO_OK;
}
