// grammar_schema.c - JSON Schema to rules: keywords, references, alternatives. See grammar_schema.h.
#include "vocabulary/grammar_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- errors and paths

void *holo_schema_fail(HoloSchema *s, const char *path, const char *format, ...)
{
    char    text[500];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!s->b->status)
        s->b->status = holo_grammar_fail(s->b, HOLO_UNSUPPORTED, "the JSON schema at %.300s: %s", path, text);
    return NULL;
}

const char *holo_schema_path(HoloSchema *s, const char *path, const char *key)
{
    const char *longer = strlen(path) > 2000 ? path : holo_arena_format(s->b->arena, "%s/%.200s", path, key);
    if (longer) return longer;
    if (!s->b->status) s->b->status = holo_fail_memory(s->b->error);
    return "";
}

// ---- rules of JSON itself

static const char json_rules[] =
    "json-value ::= json-object | json-array | json-string | json-number | \"true\" | \"false\" | \"null\"\n"
    "json-object ::= \"{\" json-ws (json-pair (json-comma json-pair)*)? json-ws \"}\"\n"
    "json-pair ::= json-string json-colon json-value\n"
    "json-array ::= \"[\" json-ws (json-value (json-comma json-value)*)? json-ws \"]\"\n"
    "json-string ::= \"\\\"\" json-rest\n"
    "json-rest ::= json-char* \"\\\"\"\n"
    "json-char ::= [^\"\\\\\\x00-\\x1F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" json-unit)\n"
    "json-unit ::= [0-9a-ce-fA-CE-F] json-hex{3} | [dD] [0-7] json-hex{2} |\n"
    "  [dD] [89abAB] json-hex{2} \"\\\\u\" [dD] [c-fC-F] json-hex{2}\n"
    "json-hex ::= [0-9a-fA-F]\n"
    "json-integer ::= \"-\"? (\"0\" | [1-9] [0-9]*)\n"
    "json-number ::= json-integer (\".\" [0-9]+)? ([eE] [-+]? [0-9]+)?\n";

static const char *const space_rules[] = {
    [HOLO_SPACES_SOME] = "json-ws ::= \"\"\njson-comma ::= \",\" \" \"?\njson-colon ::= \":\" \" \"?\n",
    [HOLO_SPACES_NONE] = "json-ws ::= \"\"\njson-comma ::= \",\"\njson-colon ::= \":\"\n",
    [HOLO_SPACES_ANY]  = ("json-ws ::= [ \\t\\n\\r]*\njson-comma ::= json-ws \",\" json-ws\n"
                          "json-colon ::= json-ws \":\" json-ws\n"),
};

HoloTree *holo_schema_named(HoloSchema *s, const char *name)
{
    uint32_t rule = holo_grammar_rule(s->b, (HoloString){name, strlen(name)});
    return s->b->status ? NULL : holo_tree_rule(s->b, rule);
}

HoloTree *holo_schema_nothing(HoloSchema *s)
{
    return holo_tree_new(s->b, HOLO_TREE_SET);
}

// ---- keywords

static const char *const notes[] = {
    "$schema",         "$id",         "$comment",      "$defs",
    "definitions",     "title",       "description",   "default",
    "examples",        "example",     "readOnly",      "writeOnly",
    "deprecated",      "$anchor",     "nullable",      "contentMediaType",
    "contentEncoding", "$vocabulary", "discriminator", "propertyOrdering",
};

static const struct {
    const char *key;
    const char *type; // that it is about
} keywords[] = {
    {"type", ""},
    {"enum", ""},
    {"const", ""},
    {"anyOf", ""},
    {"oneOf", ""},
    {"allOf", ""},
    {"$ref", ""},
    {"properties", "object"},
    {"required", "object"},
    {"additionalProperties", "object"},
    {"patternProperties", "object"},
    {"items", "array"},
    {"prefixItems", "array"},
    {"additionalItems", "array"},
    {"minItems", "array"},
    {"maxItems", "array"},
    {"uniqueItems", "array"},
    {"minLength", "string"},
    {"maxLength", "string"},
    {"pattern", "string"},
    {"format", "string"},
    {"minimum", "number"},
    {"maximum", "number"},
    {"exclusiveMinimum", "number"},
    {"exclusiveMaximum", "number"},
};

bool holo_schema_is_note(const char *key)
{
    for (int i = 0; i < HOLO_COUNT(notes); i++)
        if (!strcmp(key, notes[i])) return true;
    return false;
}

static int keyword_of(const char *key)
{
    for (int i = 0; i < HOLO_COUNT(keywords); i++)
        if (!strcmp(key, keywords[i].key)) return i;
    return -1;
}

static bool check_keywords(HoloSchema *s, json_t *schema, const char *path)
{
    const char *key;
    json_t     *value;
    json_object_foreach(
        schema, key,
        value) if (keyword_of(key) < 0 &&
                   !holo_schema_is_note(key)) return holo_schema_fail(s, path, "the keyword '%.100s' is not supported",
                                                                      key);
    return true;
}

bool holo_schema_size(HoloSchema *s, json_t *schema, const char *key, const char *path, int fallback, int *out)
{
    json_t *value = json_object_get(schema, key);
    *out          = fallback;
    if (!value) return true;
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > 100000)
        return holo_schema_fail(s, path, "'%s' should be a whole number from 0 to 100000", key);
    *out = (int)json_integer_value(value);
    return true;
}

// A copy of a schema without a keyword. Borrowed.
static json_t *without(HoloSchema *s, json_t *schema, const char *key)
{
    json_t *copy = json_copy(schema);
    if (!copy || json_array_append_new(s->made, copy)) return s->b->status = holo_fail_memory(s->b->error), NULL;
    json_object_del(copy, key);
    return copy;
}

static bool says_more(json_t *schema) // than notes
{
    const char *key;
    json_t     *value;
    json_object_foreach(schema, key, value) if (!holo_schema_is_note(key)) return true;
    return false;
}

// ---- references

// The next part of a pointer, with ~0 and ~1 read; false: it is too long.
static bool next_part(const char **at, char *out, size_t room)
{
    size_t size = 0;
    for (; **at && **at != '/'; (*at)++) {
        char c = **at;
        if (c == '~' && ((*at)[1] == '0' || (*at)[1] == '1')) c = *++*at == '0' ? '~' : '/';
        if (size + 1 >= room) return false;
        out[size++] = c;
    }
    out[size] = 0;
    return true;
}

json_t *holo_schema_resolve(HoloSchema *s, const char *ref, const char *path)
{
    json_t     *now = s->root;
    const char *at  = ref + 1;
    char        part[500];
    if (ref[0] != '#' || (ref[1] && ref[1] != '/'))
        return holo_schema_fail(s, path, "$ref '%.100s' leads out of the schema: #/... alone is supported", ref);
    while (*at == '/' && now) {
        at++;
        if (!next_part(&at, part, sizeof part)) return holo_schema_fail(s, path, "$ref is too long");
        now = json_is_array(now) ? json_array_get(now, strtoul(part, NULL, 10)) : json_object_get(now, part);
    }
    if (!now) return holo_schema_fail(s, path, "$ref '%.100s' leads nowhere", ref);
    return now;
}

static HoloTree *rule_later(HoloSchema *s, const char *name, json_t *schema, const char *path)
{
    HoloGrammarBuilder *b     = s->b;
    uint32_t            known = (uint32_t)b->rule_count, rule = holo_grammar_rule(b, (HoloString){name, strlen(name)});
    if (!b->status && rule == known) {
        if (!HOLO_GROW(b->arena, s->todo, s->todo_count, s->todo_room))
            return b->status = holo_fail_memory(b->error), NULL;
        s->todo[s->todo_count++] = (HoloSchemaTodo){rule, schema, path};
    }
    return b->status ? NULL : holo_tree_rule(b, rule);
}

HoloTree *holo_schema_rule(HoloSchema *s, json_t *schema, const char *path)
{
    char *name = holo_arena_format(s->b->arena, "%s (%d)", path, s->todo_count); // no other has it
    if (!name) return s->b->status = holo_fail_memory(s->b->error), NULL;
    return rule_later(s, name, schema, path);
}

static HoloTree *tree_of_ref(HoloSchema *s, json_t *schema, const char *path)
{
    json_t *ref = json_object_get(schema, "$ref"), *rest = without(s, schema, "$ref"), *target;
    if (!json_is_string(ref)) return holo_schema_fail(s, path, "$ref should be a text");
    target = rest ? holo_schema_resolve(s, json_string_value(ref), path) : NULL;
    if (!target) return NULL;
    if (!says_more(rest)) {
        char *name = holo_arena_text(s->b->arena, json_string_value(ref), json_string_length(ref));
        if (!name) return s->b->status = holo_fail_memory(s->b->error), NULL;
        return rule_later(s, name, target, name);
    }
    json_t *both = holo_schema_merge(s, target, rest, path);
    return both ? holo_schema_tree(s, both, path) : NULL;
}

// ---- alternatives

static HoloTree *tree_of_all(HoloSchema *s, json_t *schema, const char *path)
{
    json_t *list = json_object_get(schema, "allOf"), *now = without(s, schema, "allOf");
    if (!json_is_array(list)) return holo_schema_fail(s, path, "allOf should be a list");
    for (size_t i = 0; now && i < json_array_size(list); i++)
        now = holo_schema_merge(s, now, json_array_get(list, i), holo_schema_path(s, path, "allOf"));
    return now ? holo_schema_tree(s, now, path) : NULL;
}

static HoloTree *tree_of_any(HoloSchema *s, json_t *schema, const char *path, const char *key)
{
    json_t   *list = json_object_get(schema, key), *rest = without(s, schema, key);
    HoloTree *either = holo_tree_new(s->b, HOLO_TREE_OR);
    if (!json_is_array(list) || !json_array_size(list))
        return holo_schema_fail(s, path, "%s should be a list with something in it", key);
    for (size_t i = 0; rest && either && !s->b->status && i < json_array_size(list); i++) {
        char number[32];
        snprintf(number, sizeof number, "%s/%zu", key, i);
        const char *inner = holo_schema_path(s, path, number);
        json_t     *one   = json_array_get(list, i);
        if (says_more(rest)) one = holo_schema_merge(s, rest, one, inner);
        if (one) holo_tree_add(either, holo_schema_tree(s, one, inner));
    }
    return s->b->status ? NULL : either;
}

// ---- values that are listed

static bool has_type(const json_t *value, const char *type)
{
    static const struct {
        const char *name;
        json_type   types[2];
    } rows[] = {{"object", {JSON_OBJECT, JSON_OBJECT}}, {"array", {JSON_ARRAY, JSON_ARRAY}},
                {"string", {JSON_STRING, JSON_STRING}}, {"integer", {JSON_INTEGER, JSON_INTEGER}},
                {"number", {JSON_INTEGER, JSON_REAL}},  {"boolean", {JSON_TRUE, JSON_FALSE}},
                {"null", {JSON_NULL, JSON_NULL}}};
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (!strcmp(type, rows[i].name))
            return json_typeof(value) == rows[i].types[0] || json_typeof(value) == rows[i].types[1];
    return false;
}

static bool has_any_type(json_t *value, json_t *types)
{
    if (!types) return true;
    if (json_is_string(types)) return has_type(value, json_string_value(types));
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *one = json_string_value(json_array_get(types, i));
        if (one && has_type(value, one)) return true;
    }
    return false;
}

static bool add_word(HoloSchema *s, HoloTree *words, json_t *value, const char *path)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT), *kept = NULL;
    if (text && strlen(text) > HOLO_SCHEMA_WORD) {
        free(text);
        return holo_schema_fail(s, path, "a value is longer than %d bytes", HOLO_SCHEMA_WORD);
    }
    if (text) kept = holo_arena_text(s->b->arena, text, strlen(text));
    free(text);
    if (!kept) return s->b->status = holo_fail_memory(s->b->error), false;
    words->words[words->word_count++] = (HoloString){kept, strlen(kept)};
    return true;
}

static HoloTree *tree_of_values(HoloSchema *s, json_t *schema, const char *path)
{
    json_t     *one = json_object_get(schema, "const"), *list = json_object_get(schema, "enum"), *value;
    json_t     *types = json_object_get(schema, "type");
    HoloTree   *words = holo_tree_new(s->b, HOLO_TREE_WORDS);
    size_t      count = one ? 1 : json_array_size(list);
    const char *key;
    json_object_foreach(
        schema, key,
        value) if (!holo_schema_is_note(key) && strcmp(key, "type") && strcmp(key, "const") &&
                   strcmp(key,
                          "enum")) return holo_schema_fail(s, path,
                                                           "'%.100s' together with a list of values is not supported",
                                                           key);
    if (!one && !json_is_array(list)) return holo_schema_fail(s, path, "enum should be a list");
    if (words) words->words = HOLO_NEW(s->b->arena, HoloString, count + 1);
    if (!words || !words->words) return s->b->status = holo_fail_memory(s->b->error), NULL;
    for (size_t i = 0; i < count; i++) {
        value       = one ? one : json_array_get(list, i);
        bool listed = !one || !list;
        for (size_t k = 0; !listed && k < json_array_size(list); k++) listed = json_equal(one, json_array_get(list, k));
        if (listed && has_any_type(value, types) && !add_word(s, words, value, path)) return NULL;
    }
    return words->word_count ? words : holo_schema_nothing(s);
}

// ---- types

static HoloTree *tree_of_type(HoloSchema *s, json_t *schema, const char *type, const char *path)
{
    HoloTree *either;
    if (!strcmp(type, "object")) return holo_schema_object(s, schema, path);
    if (!strcmp(type, "array")) return holo_schema_array(s, schema, path);
    if (!strcmp(type, "string")) return holo_schema_string(s, schema, path);
    if (!strcmp(type, "number")) return holo_schema_number(s, schema, path, false);
    if (!strcmp(type, "integer")) return holo_schema_number(s, schema, path, true);
    if (!strcmp(type, "null")) return holo_tree_text(s->b, "null");
    if (strcmp(type, "boolean")) return holo_schema_fail(s, path, "there is no type '%.100s'", type);
    either = holo_tree_new(s->b, HOLO_TREE_OR);
    holo_tree_add(either, holo_tree_text(s->b, "true"));
    holo_tree_add(either, holo_tree_text(s->b, "false"));
    return either;
}

// Without a type: those that the keywords are about.
static HoloTree *tree_of_keywords(HoloSchema *s, json_t *schema, const char *path)
{
    static const char *const types[] = {"object", "array", "string", "number"};
    HoloTree                *either  = holo_tree_new(s->b, HOLO_TREE_OR);
    const char              *key;
    json_t                  *value;
    for (int i = 0; i < HOLO_COUNT(types) && either; i++) {
        bool is_about = false;
        json_object_foreach(schema, key, value) is_about |=
            keyword_of(key) >= 0 && !strcmp(keywords[keyword_of(key)].type, types[i]);
        if (is_about) holo_tree_add(either, tree_of_type(s, schema, types[i], path));
    }
    if (s->b->status) return NULL;
    return either->child ? either : holo_schema_named(s, "json-value");
}

static HoloTree *tree_of_object(HoloSchema *s, json_t *schema, const char *path)
{
    json_t   *type   = json_object_get(schema, "type");
    HoloTree *either = NULL;
    if (!check_keywords(s, schema, path)) return NULL;
    if (json_object_get(schema, "$ref")) return tree_of_ref(s, schema, path);
    if (json_object_get(schema, "allOf")) return tree_of_all(s, schema, path);
    if (json_object_get(schema, "anyOf")) return tree_of_any(s, schema, path, "anyOf");
    if (json_object_get(schema, "oneOf")) return tree_of_any(s, schema, path, "oneOf");
    if (json_object_get(schema, "const") || json_object_get(schema, "enum")) return tree_of_values(s, schema, path);
    if (!type) return tree_of_keywords(s, schema, path);
    if (json_is_string(type)) return tree_of_type(s, schema, json_string_value(type), path);
    if (json_is_array(type) && json_array_size(type)) either = holo_tree_new(s->b, HOLO_TREE_OR);
    for (size_t i = 0; either && i < json_array_size(type); i++) {
        const char *one = json_string_value(json_array_get(type, i));
        if (!one) return holo_schema_fail(s, path, "type should be a name, or a list of names");
        holo_tree_add(either, tree_of_type(s, schema, one, path));
    }
    if (s->b->status) return NULL;
    if (json_is_array(type)) return either ? either : holo_schema_nothing(s);
    return holo_schema_fail(s, path, "type should be a name, or a list of names");
}

HoloTree *holo_schema_tree(HoloSchema *s, json_t *schema, const char *path)
{
    HoloTree *tree = NULL;
    if (s->b->status) return NULL;
    if (json_is_true(schema)) return holo_schema_named(s, "json-value");
    if (json_is_false(schema)) return holo_schema_nothing(s);
    if (!json_is_object(schema)) return holo_schema_fail(s, path, "a schema should be an object, true or false");
    if (++s->depth > HOLO_SCHEMA_DEPTH) return holo_schema_fail(s, path, "the schema is nested too deep");
    tree = tree_of_object(s, schema, path);
    s->depth--;
    return s->b->status ? NULL : tree;
}

// ---- the whole

static void read_rules(HoloSchema *s, HoloGrammarSpaces spaces)
{
    HoloGrammarBuilder *b    = s->b;
    uint32_t            root = holo_grammar_rule(b, (HoloString){"root", 4});
    HoloTree           *all  = holo_tree_new(b, HOLO_TREE_AND);
    if (b->status || holo_grammar_add_gbnf(b, (HoloString){json_rules, strlen(json_rules)}) ||
        holo_grammar_add_gbnf(b, (HoloString){space_rules[spaces], strlen(space_rules[spaces])}))
        return;
    holo_tree_add(all, holo_schema_named(s, "json-ws"));
    holo_tree_add(all, rule_later(s, "#", s->root, "#"));
    holo_tree_add(all, holo_schema_named(s, "json-ws"));
    b->rule[root].tree = all;
    for (int i = 0; i < s->todo_count && !b->status; i++) {
        HoloSchemaTodo todo = s->todo[i];
        HoloTree      *tree = holo_schema_tree(s, todo.schema, todo.path);
        if (!b->status) b->rule[todo.rule].tree = tree;
    }
}

HoloStatus holo_grammar_read_schema(HoloGrammarBuilder *b, HoloString text, HoloGrammarSpaces spaces)
{
    json_error_t problem;
    HoloSchema   s = {.b = b};
    s.root         = json_loadb(text.data, text.size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &problem);
    if (!s.root)
        return holo_grammar_fail(b, HOLO_BAD_MODEL, "the JSON schema, line %d, column %d: this is not JSON: %s",
                                 problem.line, problem.column, problem.text);
    s.made = json_array();
    if (s.made)
        read_rules(&s, spaces);
    else
        b->status = holo_fail_memory(b->error);
    json_decref(s.made);
    json_decref(s.root);
    return b->status;
}
