// grammar_schema_merge.c - one schema that says what two say, where that is simple.
#include "vocabulary/grammar_schema.h"

#include <string.h>

enum { MERGES_MAX = 2000, CHAIN_MAX = 20 };

typedef enum HowToMerge { EQUAL, LARGER, SMALLER, BOTH_SCHEMAS, NAMES, TYPES, PROPERTIES, ALTERNATIVES } HowToMerge;

static const struct {
    const char *key;
    HowToMerge  how;
} rows[] = {
    {"minimum", LARGER},     {"exclusiveMinimum", LARGER},  {"minLength", LARGER},  {"minItems", LARGER},
    {"maximum", SMALLER},    {"exclusiveMaximum", SMALLER}, {"maxLength", SMALLER}, {"maxItems", SMALLER},
    {"items", BOTH_SCHEMAS}, {"required", NAMES},           {"type", TYPES},        {"properties", PROPERTIES},
    {"allOf", ALTERNATIVES},
};

static HowToMerge how_of(const char *key)
{
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (!strcmp(key, rows[i].key)) return rows[i].how;
    return EQUAL;
}

static bool list_has(json_t *list, json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), value)) return true;
    return false;
}

static json_t *as_list(json_t *value) // a new reference
{
    return json_is_array(value) ? json_incref(value) : json_pack("[O]", value);
}

// Types that both allow; a number may be an integer.
static json_t *both_types(json_t *a, json_t *b)
{
    json_t *x = as_list(a), *y = as_list(b), *out = json_array(), *integer = json_string("integer"),
           *number = json_string("number");
    for (size_t i = 0; x && y && integer && number && i < json_array_size(x); i++) {
        json_t *one = json_array_get(x, i);
        if (list_has(y, one) || (json_equal(one, integer) && list_has(y, number)))
            json_array_append(out, one);
        else if (json_equal(one, number) && list_has(y, integer))
            json_array_append(out, integer);
    }
    json_decref(x);
    json_decref(y);
    json_decref(integer);
    json_decref(number);
    return out;
}

static json_t *both_lists(json_t *a, json_t *b)
{
    json_t *out = json_copy(a);
    for (size_t i = 0; out && i < json_array_size(b); i++)
        if (!list_has(out, json_array_get(b, i))) json_array_append(out, json_array_get(b, i));
    return out;
}

static json_t *both_properties(json_t *a, json_t *b)
{
    json_t     *out = json_copy(a), *value;
    const char *name;
    json_object_foreach(b, name, value)
    {
        json_t *before = json_object_get(a, name);
        if (before && !json_equal(before, value))
            json_object_set_new(out, name, json_pack("{s:[O,O]}", "allOf", before, value));
        else
            json_object_set(out, name, value);
    }
    return out;
}

static json_t *merged_value(HoloSchema *s, const char *key, json_t *a, json_t *b, const char *path)
{
    HowToMerge how = how_of(key);
    if (json_equal(a, b)) return json_incref(a);
    if ((how == LARGER || how == SMALLER) && json_is_number(a) && json_is_number(b)) {
        bool first = json_number_value(a) > json_number_value(b);
        return json_incref(first == (how == LARGER) ? a : b);
    }
    if (how == BOTH_SCHEMAS) return json_pack("{s:[O,O]}", "allOf", a, b);
    if (how == NAMES && json_is_array(a) && json_is_array(b)) return both_lists(a, b);
    if (how == TYPES) return both_types(a, b);
    if (how == PROPERTIES && json_is_object(a) && json_is_object(b)) return both_properties(a, b);
    if (how == ALTERNATIVES && json_is_array(a) && json_is_array(b)) return both_lists(a, b);
    return holo_schema_fail(s, path, "'%.100s' is said twice, differently: that cannot be merged", key);
}

// Whether `closed` forbids properties that `other` has.
static bool forbids(json_t *closed, json_t *other)
{
    json_t     *more = json_object_get(closed, "additionalProperties"), *value;
    const char *name;
    if (!more || json_is_true(more)) return false;
    json_object_foreach(json_object_get(other, "properties"), name,
                        value) if (!json_object_get(json_object_get(closed, "properties"), name)) return true;
    return false;
}

// What a schema is behind its references, if it is nothing but one.
static json_t *behind_refs(HoloSchema *s, json_t *schema, const char *path)
{
    for (int i = 0; schema && json_is_object(schema) && json_object_get(schema, "$ref"); i++) {
        json_t *ref = json_object_get(schema, "$ref"), *target;
        if (i == CHAIN_MAX || !json_is_string(ref))
            return holo_schema_fail(s, path, "a chain of $ref does not end, or is no text");
        target = holo_schema_resolve(s, json_string_value(ref), path);
        if (!target) return NULL;
        if (json_object_size(schema) == 1) {
            schema = target;
            continue;
        }
        json_t *rest = json_copy(schema);
        if (!rest || json_array_append_new(s->made, rest)) return s->b->status = holo_fail_memory(s->b->error), NULL;
        json_object_del(rest, "$ref");
        schema = holo_schema_merge(s, target, rest, path);
    }
    return schema;
}

json_t *holo_schema_merge(HoloSchema *s, json_t *a, json_t *b, const char *path)
{
    const char *key;
    json_t     *out, *value;
    if (s->b->status) return NULL;
    if (++s->merges > MERGES_MAX) return holo_schema_fail(s, path, "there is too much to merge");
    if (s->depth++ > HOLO_SCHEMA_DEPTH) return holo_schema_fail(s, path, "the schema is nested too deep");
    a = behind_refs(s, a, path);
    b = behind_refs(s, b, path);
    s->depth--;
    if (!a || !b) return NULL;
    if (json_is_true(a) || json_is_false(b)) return b;
    if (json_is_true(b) || json_is_false(a)) return a;
    if (!json_is_object(a) || !json_is_object(b))
        return holo_schema_fail(s, path, "a schema should be an object, true or false");
    if (forbids(a, b) || forbids(b, a))
        return holo_schema_fail(s, path, "additionalProperties of one part forbids properties of another");
    out = json_copy(a);
    if (!out || json_array_append_new(s->made, out)) return s->b->status = holo_fail_memory(s->b->error), NULL;
    json_object_foreach(b, key, value)
    {
        json_t *before = json_object_get(out, key), *both;
        if (before && holo_schema_is_note(key)) continue;
        both = before ? merged_value(s, key, before, value, path) : json_incref(value);
        if (s->b->status) return NULL;
        if (!both || json_object_set_new(out, key, both)) return s->b->status = holo_fail_memory(s->b->error), NULL;
    }
    return out;
}
