// grammar_schema_types.c - strings, arrays and objects of JSON Schema. Numbers are in grammar_numbers.c.
#include "vocabulary/grammar_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- strings

#define DATE                                                                                                   \
    "[1-9][0-9]{3}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[" \
    "0-9]|2[0-8]))"
#define TIME        "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
#define BYTE_NUMBER "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
#define LABEL       "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

static const struct {
    const char *name, *regex;
} formats[] = {
    {"date", DATE},
    {"time", TIME},
    {"date-time", DATE "T" TIME},
    {"uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"},
    {"email", "[A-Za-z0-9_+-]+(\\.[A-Za-z0-9_+-]+)*@" LABEL "(\\." LABEL ")+"},
    {"ipv4", BYTE_NUMBER "(\\." BYTE_NUMBER "){3}"},
    {"hostname", LABEL "(\\." LABEL ")*"},
    {"uri", "[a-z][a-z0-9+.-]*://" LABEL "(\\." LABEL ")*(:[0-9]{1,4})?(/[A-Za-z0-9._~!$&'()*+,;=:@-]*)*"
            "(\\?[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?(#[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?"},
};

static HoloTree *quoted(HoloSchema *s, HoloTree *inside)
{
    HoloTree *all = holo_tree_new(s->b, HOLO_TREE_AND);
    holo_tree_add(all, holo_tree_text(s->b, "\""));
    holo_tree_add(all, inside);
    holo_tree_add(all, holo_tree_text(s->b, "\""));
    return s->b->status ? NULL : all;
}

static HoloTree *pattern_tree(HoloSchema *s, json_t *pattern, const char *path)
{
    if (!json_is_string(pattern)) return holo_schema_fail(s, path, "pattern should be a text");
    HoloString text = {json_string_value(pattern), json_string_length(pattern)};
    char      *kept = holo_arena_text(s->b->arena, text.data, text.size);
    if (!kept) return s->b->status = holo_fail_memory(s->b->error), NULL;
    text.data = kept;
    return quoted(s, holo_tree_of_pattern(s->b, text, true, true, path));
}

HoloTree *holo_schema_string(HoloSchema *s, json_t *schema, const char *path)
{
    json_t *pattern = json_object_get(schema, "pattern"), *format = json_object_get(schema, "format");
    int     min, max;
    if (!holo_schema_size(s, schema, "minLength", path, 0, &min) ||
        !holo_schema_size(s, schema, "maxLength", path, -1, &max))
        return NULL;
    if (max >= 0 && max < min) return holo_schema_nothing(s);
    if ((pattern != NULL) + (format != NULL) + (min > 0 || max >= 0) > 1)
        return holo_schema_fail(s, path, "of pattern, format and a length, one alone is supported");
    if (pattern) return pattern_tree(s, pattern, path);
    for (int i = 0; format && i < HOLO_COUNT(formats); i++)
        if (json_is_string(format) && !strcmp(json_string_value(format), formats[i].name))
            return quoted(s, holo_tree_of_pattern(s->b, (HoloString){formats[i].regex, strlen(formats[i].regex)}, false,
                                                  true, path));
    if (format)
        return holo_schema_fail(s, path, "the format '%.100s' is not supported",
                                json_is_string(format) ? json_string_value(format) : "");
    if (!min && max < 0) return holo_schema_named(s, "json-string");
    return quoted(s, holo_tree_repeat(s->b, holo_schema_named(s, "json-char"), min, max));
}

// ---- arrays

static HoloTree *behind_comma(HoloSchema *s, HoloTree *item)
{
    HoloTree *both = holo_tree_new(s->b, HOLO_TREE_AND);
    holo_tree_add(both, holo_schema_named(s, "json-comma"));
    holo_tree_add(both, item);
    return s->b->status ? NULL : both;
}

static HoloTree *in_brackets(HoloSchema *s, const char *open, HoloTree *inside, const char *close)
{
    HoloTree *all = holo_tree_new(s->b, HOLO_TREE_AND);
    holo_tree_add(all, holo_tree_text(s->b, open));
    holo_tree_add(all, holo_schema_named(s, "json-ws"));
    holo_tree_add(all, inside);
    holo_tree_add(all, holo_schema_named(s, "json-ws"));
    holo_tree_add(all, holo_tree_text(s->b, close));
    return s->b->status ? NULL : all;
}

// The items from number `at` on, where items before them are there: nothing is left to be said of `front` of them.
static HoloTree *items_from(HoloSchema *s, json_t *front, json_t *rest, int min, int max, const char *path)
{
    int       fixed = (int)json_array_size(front);
    HoloTree *tail  = NULL, *item;
    bool      more  = !json_is_false(rest) && (max < 0 || max > fixed);
    if (more) {
        int first = fixed ? 0 : 1; // the first item has no comma in front
        item =
            rest ? holo_schema_rule(s, rest, holo_schema_path(s, path, "items")) : holo_schema_named(s, "json-value");
        int least = min - fixed - first, most = max < 0 ? -1 : max - fixed - first;
        tail = holo_tree_repeat(s->b, behind_comma(s, item), least > 0 ? least : 0, most);
        if (!fixed) {
            HoloTree *all = holo_tree_new(s->b, HOLO_TREE_AND),
                     *one = rest ? holo_tree_rule(s->b, item ? item->rule : 0) : holo_schema_named(s, "json-value");
            holo_tree_add(all, one);
            holo_tree_add(all, tail);
            return min > 0 ? all : holo_tree_repeat(s->b, all, 0, 1);
        }
    }
    if (min > fixed && !more) return holo_schema_nothing(s);
    for (int i = fixed - 1; i >= 0 && !s->b->status; i--) {
        char number[32];
        snprintf(number, sizeof number, "prefixItems/%d", i);
        if (max >= 0 && i >= max) continue;
        HoloTree *all = holo_tree_new(s->b, HOLO_TREE_AND);
        item          = holo_schema_rule(s, json_array_get(front, (size_t)i), holo_schema_path(s, path, number));
        holo_tree_add(all, i ? behind_comma(s, item) : item);
        holo_tree_add(all, tail);
        tail = i < min ? all : holo_tree_repeat(s->b, all, 0, 1);
    }
    return tail;
}

HoloTree *holo_schema_array(HoloSchema *s, json_t *schema, const char *path)
{
    json_t *front = json_object_get(schema, "prefixItems"), *rest = json_object_get(schema, "items");
    int     min, max;
    if (json_is_array(rest)) { // as drafts before 2020 have it
        front = rest;
        rest  = json_object_get(schema, "additionalItems");
    }
    if (front && (!json_is_array(front) || json_array_size(front) > 1000))
        return holo_schema_fail(s, path, "prefixItems should be a list of at most 1000 schemas");
    if (json_is_true(json_object_get(schema, "uniqueItems")))
        return holo_schema_fail(s, path, "uniqueItems is not supported");
    if (!holo_schema_size(s, schema, "minItems", path, 0, &min) ||
        !holo_schema_size(s, schema, "maxItems", path, -1, &max))
        return NULL;
    if (max >= 0 && max < min) return holo_schema_nothing(s);
    if (!front && !rest && !min && max < 0) return holo_schema_named(s, "json-array");
    if (json_array_size(front) && (json_array_size(front) > HOLO_SCHEMA_DEPTH))
        return holo_schema_fail(s, path, "prefixItems has more than %d schemas", HOLO_SCHEMA_DEPTH);
    HoloTree *items = max ? items_from(s, front, rest, min, max, path) : NULL;
    return s->b->status ? NULL : in_brackets(s, "[", items, "]");
}

// ---- objects

static HoloTree *member(HoloSchema *s, HoloTree *key, json_t *schema, const char *path, HoloTreeMember how)
{
    HoloTree *all   = holo_tree_new(s->b, HOLO_TREE_AND);
    HoloTree *value = schema ? holo_schema_rule(s, schema, path) : holo_schema_named(s, "json-value");
    holo_tree_add(all, key);
    holo_tree_add(all, holo_schema_named(s, "json-colon"));
    holo_tree_add(all, value);
    if (all) all->member = how;
    return s->b->status ? NULL : all;
}

static HoloTree *key_tree(HoloSchema *s, const char *name, const char *path)
{
    json_t *text = json_string(name);
    char   *dump = text ? json_dumps(text, JSON_ENCODE_ANY | JSON_COMPACT) : NULL, *kept;
    json_decref(text);
    if (dump && strlen(dump) > HOLO_SCHEMA_WORD) {
        free(dump);
        return holo_schema_fail(s, path, "a name is longer than %d bytes", HOLO_SCHEMA_WORD);
    }
    kept = dump ? holo_arena_text(s->b->arena, dump, strlen(dump)) : NULL;
    free(dump);
    if (!kept) return s->b->status = holo_fail_memory(s->b->error), NULL;
    return holo_tree_text(s->b, kept);
}

static bool is_required(json_t *required, const char *name)
{
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *one = json_string_value(json_array_get(required, i));
        if (one && !strcmp(one, name)) return true;
    }
    return false;
}

// All properties by name: those of `properties`, and those that are required without being described.
static void add_named(HoloSchema *s, HoloTree *chain, HoloTree *known, json_t *schema, json_t *more, const char *path)
{
    json_t *properties = json_object_get(schema, "properties"), *required = json_object_get(schema, "required"), *value;
    const char *name;
    json_object_foreach(properties, name, value)
    {
        bool is_needed = is_required(required, name);
        if (json_is_false(value) && !is_needed) continue;
        known->words[known->word_count++] =
            (HoloString){holo_arena_text(s->b->arena, name, strlen(name)), strlen(name)};
        holo_tree_add(chain, member(s, key_tree(s, name, path), value, holo_schema_path(s, path, name),
                                    is_needed ? HOLO_MEMBER_REQUIRED : HOLO_MEMBER_OPTIONAL));
    }
    for (size_t i = 0; i < json_array_size(required) && !s->b->status; i++) {
        name = json_string_value(json_array_get(required, i));
        if (!name) {
            holo_schema_fail(s, path, "required should be a list of names");
            return;
        }
        bool is_there = json_object_get(properties, name);
        for (size_t k = 0; k < i && !is_there; k++)
            is_there = json_equal(json_array_get(required, k), json_array_get(required, i));
        if (is_there) continue;
        known->words[known->word_count++] =
            (HoloString){holo_arena_text(s->b->arena, name, strlen(name)), strlen(name)};
        holo_tree_add(chain,
                      member(s, key_tree(s, name, path), more, holo_schema_path(s, path, name), HOLO_MEMBER_REQUIRED));
    }
    for (size_t i = 0; i < known->word_count; i++)
        if (!known->words[i].data && !s->b->status) s->b->status = holo_fail_memory(s->b->error);
}

// Properties of other names.
static void add_others(HoloSchema *s, HoloTree *chain, HoloTree *known, json_t *more, const char *path)
{
    HoloTree *key = holo_schema_named(s, "json-string"), *rest = holo_schema_named(s, "json-rest");
    if (s->b->status) return;
    if (known->word_count) {
        key         = holo_tree_new(s->b, HOLO_TREE_AND);
        known->rule = rest->rule;
        holo_tree_add(key, holo_tree_text(s->b, "\""));
        holo_tree_add(key, known);
    }
    holo_tree_add(chain, member(s, key, more, holo_schema_path(s, path, "additionalProperties"), HOLO_MEMBER_MANY));
}

// Properties whose names match a pattern, where nothing else is said.
static HoloTree *pattern_object(HoloSchema *s, json_t *schema, json_t *patterns, const char *path)
{
    HoloTree   *chain = holo_tree_new(s->b, HOLO_TREE_CHAIN);
    const char *name  = json_object_iter_key(json_object_iter(patterns));
    if (json_object_size(patterns) != 1 || json_object_get(schema, "properties") ||
        json_object_get(schema, "required") || json_is_object(json_object_get(schema, "additionalProperties")))
        return holo_schema_fail(s, path,
                                "patternProperties is supported with one pattern, and without properties, "
                                "required and a schema of additionalProperties");
    json_t   *text = json_string(name);
    HoloTree *key  = text ? pattern_tree(s, text, path) : NULL;
    json_decref(text);
    if (!key || !chain) return NULL;
    chain->between = holo_schema_named(s, "json-comma");
    holo_tree_add(chain, member(s, key, json_object_get(patterns, name), holo_schema_path(s, path, "patternProperties"),
                                HOLO_MEMBER_MANY));
    return s->b->status ? NULL : in_brackets(s, "{", chain, "}");
}

HoloTree *holo_schema_object(HoloSchema *s, json_t *schema, const char *path)
{
    json_t *properties = json_object_get(schema, "properties"), *required = json_object_get(schema, "required"),
           *more     = json_object_get(schema, "additionalProperties"),
           *patterns = json_object_get(schema, "patternProperties");
    size_t count     = json_object_size(properties) + json_array_size(required);
    if ((properties && !json_is_object(properties)) || (required && !json_is_array(required)) ||
        (patterns && !json_is_object(patterns)))
        return holo_schema_fail(s, path, "properties should be an object, and required a list");
    if (json_object_size(patterns)) return pattern_object(s, schema, patterns, path);
    if (!count && (!more || json_is_true(more))) return holo_schema_named(s, "json-object");
    if (count > 2000) return holo_schema_fail(s, path, "an object has more than 2000 properties");
    HoloTree *chain = holo_tree_new(s->b, HOLO_TREE_CHAIN), *known = holo_tree_new(s->b, HOLO_TREE_BUT);
    if (!chain || !known) return NULL;
    chain->between = holo_schema_named(s, "json-comma");
    known->words   = HOLO_NEW(s->b->arena, HoloString, count + 1);
    if (!known->words) return s->b->status = holo_fail_memory(s->b->error), NULL;
    bool    is_open = more ? !json_is_false(more) : !json_object_size(properties);
    json_t *others  = json_is_object(more) ? more : NULL;
    if (json_is_false(more)) others = more;
    add_named(s, chain, known, schema, others, path);
    if (is_open) add_others(s, chain, known, json_is_object(more) ? more : NULL, path);
    return s->b->status ? NULL : in_brackets(s, "{", chain, "}");
}
