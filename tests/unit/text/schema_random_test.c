// schema_random_test.c - whatever masks let through is valid: random texts under schemas, by a checker that knows JSON
// Schema on its own.
#include "support/models.h"

#include "base/base.h"
#include "hologram_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the checker: the keywords that the schemas below use

static bool is_valid(json_t *root, json_t *schema, json_t *value);

static bool has_type(json_t *value, const char *type)
{
    return !strcmp(type, "object")    ? json_is_object(value)
           : !strcmp(type, "array")   ? json_is_array(value)
           : !strcmp(type, "string")  ? json_is_string(value)
           : !strcmp(type, "integer") ? json_is_integer(value)
           : !strcmp(type, "number")  ? json_is_number(value)
           : !strcmp(type, "boolean") ? json_is_boolean(value)
                                      : json_is_null(value);
}

static bool type_fits(json_t *type, json_t *value)
{
    if (!type) return true;
    if (json_is_string(type)) return has_type(value, json_string_value(type));
    for (size_t i = 0; i < json_array_size(type); i++)
        if (has_type(value, json_string_value(json_array_get(type, i)))) return true;
    return false;
}

static bool is_listed(json_t *list, json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), value)) return true;
    return !list;
}

static bool count_fits(json_t *schema, const char *least, const char *most, double count)
{
    json_t *min = json_object_get(schema, least), *max = json_object_get(schema, most);
    return (!min || count >= json_number_value(min)) && (!max || count <= json_number_value(max));
}

static bool number_fits(json_t *schema, json_t *value)
{
    json_t *above = json_object_get(schema, "exclusiveMinimum"), *below = json_object_get(schema, "exclusiveMaximum");
    double  x = json_number_value(value);
    if ((above && !(x > json_number_value(above))) || (below && !(x < json_number_value(below)))) return false;
    return count_fits(schema, "minimum", "maximum", x);
}

static size_t length_of(json_t *text)
{
    size_t count = 0;
    for (size_t i = 0; i < json_string_length(text); i++) count += (json_string_value(text)[i] & 0xC0) != 0x80;
    return count;
}

static bool object_fits(json_t *root, json_t *schema, json_t *value)
{
    json_t *properties = json_object_get(schema, "properties"), *required = json_object_get(schema, "required"),
           *more = json_object_get(schema, "additionalProperties"), *one;
    const char *name;
    for (size_t i = 0; i < json_array_size(required); i++)
        if (!json_object_get(value, json_string_value(json_array_get(required, i)))) return false;
    json_object_foreach(value, name, one)
    {
        json_t *known = json_object_get(properties, name);
        if (known ? !is_valid(root, known, one) : more && !is_valid(root, more, one)) return false;
    }
    return true;
}

static bool array_fits(json_t *root, json_t *schema, json_t *value)
{
    json_t *front = json_object_get(schema, "prefixItems"), *items = json_object_get(schema, "items");
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *now = i < json_array_size(front) ? json_array_get(front, i) : items;
        if (now && !is_valid(root, now, json_array_get(value, i))) return false;
    }
    return count_fits(schema, "minItems", "maxItems", (double)json_array_size(value));
}

static bool any_fits(json_t *root, json_t *list, json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (is_valid(root, json_array_get(list, i), value)) return true;
    return !list;
}

static bool is_valid(json_t *root, json_t *schema, json_t *value)
{
    json_t *ref = json_object_get(schema, "$ref"), *constant = json_object_get(schema, "const"), *all;
    if (json_is_boolean(schema)) return json_is_true(schema);
    if (ref && !strcmp(json_string_value(ref), "#")) return is_valid(root, root, value);
    if (ref) return is_valid(root, json_object_get(json_object_get(root, "$defs"), json_string_value(ref) + 8), value);
    all = json_object_get(schema, "allOf");
    for (size_t i = 0; i < json_array_size(all); i++)
        if (!is_valid(root, json_array_get(all, i), value)) return false;
    if (!any_fits(root, json_object_get(schema, "anyOf"), value)) return false;
    if (!type_fits(json_object_get(schema, "type"), value) || !is_listed(json_object_get(schema, "enum"), value))
        return false;
    if (constant && !json_equal(constant, value)) return false;
    if (json_is_number(value) && !number_fits(schema, value)) return false;
    if (json_is_string(value) && !count_fits(schema, "minLength", "maxLength", (double)length_of(value))) return false;
    if (json_is_object(value)) return object_fits(root, schema, value);
    return !json_is_array(value) || array_fits(root, schema, value);
}

// ---- schemas

static const char *const schemas[] = {
    "{}",
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":-37,\"maximum\":1204},\"b\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4},"
    "\"c\":{\"type\":[\"boolean\",\"null\"]}},\"required\":[\"b\"],\"additionalProperties\":false}",
    "{\"type\":\"object\",\"properties\":{\"ab\":{\"type\":\"null\"},\"abc\":{\"type\":\"null\"},\"é\":{\"type\":\"null\"}},\"additionalProperties\":{\"type\":\"integer\",\"minimum\":8,\"maximum\":23}}",
    "{\"type\":\"array\",\"prefixItems\":[{\"const\":\"x\"},{\"type\":\"number\",\"minimum\":-2,\"maximum\":3}],\"items\":{\"enum\":[1,\"a\",\"ab\",null,true]},\"minItems\":1,\"maxItems\":5}",
    "{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9},\"l\":{\"$ref\":\"#/$defs/t\"},"
    "\"r\":{\"anyOf\":[{\"$ref\":\"#/$defs/t\"},{\"type\":\"null\"}]}},\"required\":[\"v\"],\"additionalProperties\":false}}}",
    "{\"allOf\":[{\"type\":\"object\",\"properties\":{\"n\":{\"minimum\":3}},\"required\":[\"n\"]},{\"properties\":{\"n\":{\"type\":\"integer\",\"maximum\":11}}}]}",
    "{\"type\":\"integer\",\"minimum\":-1000001,\"maximum\":-98}",
    "{\"type\":\"number\",\"minimum\":17,\"maximum\":211}",
    "{\"type\":\"number\",\"exclusiveMinimum\":0}",
    "{\"type\":\"number\",\"exclusiveMaximum\":0}",
    "{\"type\":\"number\",\"exclusiveMinimum\":-2,\"exclusiveMaximum\":1}",
    "{\"type\":\"number\",\"exclusiveMinimum\":3,\"exclusiveMaximum\":4}",
    "{\"type\":\"integer\",\"exclusiveMinimum\":-3,\"exclusiveMaximum\":12}",
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"k\",\"l\"],\"additionalProperties\":{\"type\":\"boolean\"}},\"maxItems\":2}",
};

// ---- texts

static HoloTokenTree *tree_of_bytes(void)
{
    static uint8_t bytes[256];
    HoloString     list[257] = {0};
    HoloTokenTree *tree;
    for (int i = 0; i < 256; i++) {
        bytes[i] = (uint8_t)i;
        list[i]  = (HoloString){(const char *)&bytes[i], 1};
    }
    EXPECT_OK(holo_token_tree_create_from(list, 257, (uint32_t[]){256}, 1, &tree, &error));
    return tree;
}

// One random text; its size, or 0 if it did not end in time. Ends and closing signs are taken more often than others.
static size_t random_text(HoloGrammarState *state, HoloRandom *random, char *out, size_t room)
{
    static const char likely[] = "\"]},:0123456789abcklnrvx";
    holo_grammar_state_reset(state);
    for (size_t size = 0; size < room; size++) {
        uint64_t mask[5];
        uint32_t count, token = 0;
        EXPECT_OK(holo_grammar_state_mask(state, mask, &count, &error));
        bool can_end = mask[4] & 1;
        if (can_end && (count == 1 || holo_random_next(random) % 3 == 0)) return size;
        uint32_t wish = (uint8_t)likely[holo_random_next(random) % (sizeof likely - 1)];
        if (holo_random_next(random) % 8 && mask[wish / 64] >> wish % 64 & 1)
            token = wish;
        else
            for (uint32_t skip = (uint32_t)(holo_random_next(random) % (count - can_end));
                 !(mask[token / 64] >> token % 64 & 1) || skip--;)
                token++;
        EXPECT_OK(holo_grammar_state_accept(state, token, &error));
        out[size] = (char)token;
    }
    return 0;
}

static void test_random_texts(void **state)
{
    (void)state;
    HoloTokenTree *tree   = tree_of_bytes();
    HoloRandom     random = {99};
    static char    text[3000];
    for (int i = 0; i < (int)(sizeof schemas / sizeof *schemas); i++) {
        HoloGrammar      *grammar;
        HoloGrammarState *s;
        json_t           *schema = json_loads(schemas[i], 0, NULL);
        int               ended  = 0;
        assert_non_null(schema);
        EXPECT_OK(holo_grammar_compile(HOLO_GRAMMAR_JSON_SCHEMA, schemas[i], strlen(schemas[i]),
                                       (HoloGrammarSpaces)(i % 3), &grammar, &error));
        EXPECT_OK(holo_grammar_set_tokens(grammar, tree, &error));
        EXPECT_OK(holo_grammar_state_create(grammar, &s, &error));
        for (int k = 0; k < 300; k++) {
            json_error_t problem;
            size_t       size = random_text(s, &random, text, sizeof text);
            if (!size) continue;
            json_t *value = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &problem);
            if (!value && json_error_code(&problem) == json_error_numeric_overflow) continue;
            if (!value) fail_msg("%s: '%.*s' is no JSON: %s", schemas[i], (int)size, text, problem.text);
            if (!is_valid(schema, schema, value)) fail_msg("%s: '%.*s' is not valid", schemas[i], (int)size, text);
            json_decref(value);
            ended++;
        }
        if (ended < 100) fail_msg("%s: %d texts alone came to an end", schemas[i], ended);
        holo_grammar_state_destroy(s);
        holo_grammar_close(grammar);
        json_decref(schema);
    }
    holo_token_tree_destroy(tree);
}

// The checker itself can fail.
static void test_checker(void **state)
{
    (void)state;
    static const struct {
        int         schema;
        const char *text;
        bool        is_valid;
    } rows[] = {{1, "{\"b\":\"x\"}", true},
                {1, "{\"b\":\"\"}", false},
                {1, "{\"b\":\"x\",\"d\":1}", false},
                {1, "{\"b\":\"x\",\"a\":1205}", false},
                {2, "{\"ab\":9}", false},
                {2, "{\"b\":9}", true},
                {3, "[\"x\",4]", false},
                {3, "[]", false},
                {4, "{\"v\":1,\"l\":{\"v\":10}}", false},
                {5, "{\"n\":12}", false}};
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        json_t *schema = json_loads(schemas[rows[i].schema], 0, NULL), *value = json_loads(rows[i].text, 0, NULL);
        if (is_valid(schema, schema, value) != rows[i].is_valid) fail_msg("%s", rows[i].text);
        json_decref(schema);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_checker), cmocka_unit_test(test_random_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
