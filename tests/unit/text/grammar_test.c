// grammar_test.c - grammars: what fits and what does not, from each source, and what is refused.
#include "support/models.h"

#include "base/base.h"
#include "hologram_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Case {
    HoloGrammarSource source;
    const char       *grammar;
    const char       *fits[8];  // whole texts
    const char       *fails[8]; // the byte in front of ! is the first that does not fit; without it, more is wanted
} Case;

static HoloGrammar *grammar_of(HoloGrammarSource source, const char *text, HoloGrammarSpaces spaces)
{
    HoloGrammar *grammar;
    HoloError    error = {0};
    if (holo_grammar_compile(source, text, strlen(text), spaces, &grammar, &error))
        fail_msg("%s: %s", text, error.text);
    return grammar;
}

// How many bytes fit; *out_is_complete: the text may end there.
static size_t fit_of(HoloGrammar *grammar, const char *text, size_t size, bool *out_is_complete)
{
    HoloGrammarState *state;
    HoloError         error = {0};
    size_t            fit   = 0;
    assert_int_equal(holo_grammar_state_create(grammar, &state, &error), HOLO_OK);
    HoloStatus status = holo_grammar_state_accept_bytes(state, text, size, &fit, &error);
    assert_true(status == HOLO_OK || ((status == HOLO_BAD_INPUT || status == HOLO_UNSUPPORTED) && *error.text));
    assert_true(status ? fit < size : fit == size);
    *out_is_complete = !status && holo_grammar_state_is_complete(state);
    holo_grammar_state_destroy(state);
    return fit;
}

static void check_case(const Case *c)
{
    HoloGrammar *grammar = grammar_of(c->source, c->grammar, HOLO_SPACES_SOME);
    bool         is_complete;
    for (int i = 0; i < 8 && c->fits[i]; i++) {
        size_t fit = fit_of(grammar, c->fits[i], strlen(c->fits[i]), &is_complete);
        if (fit != strlen(c->fits[i]) || !is_complete)
            fail_msg("%s: '%s' should fit: byte %zu", c->grammar, c->fits[i], fit);
    }
    for (int i = 0; i < 8 && c->fails[i]; i++) {
        const char *mark = strchr(c->fails[i], '!');
        char        text[200];
        size_t      before = mark ? (size_t)(mark - c->fails[i]) : strlen(c->fails[i]);
        snprintf(text, sizeof text, "%.*s%s", (int)before, c->fails[i], mark ? mark + 1 : "");
        size_t fit = fit_of(grammar, text, strlen(text), &is_complete);
        if (is_complete || fit != (mark ? before - 1 : before))
            fail_msg("%s: '%s' fits up to %zu", c->grammar, c->fails[i], fit);
    }
    holo_grammar_close(grammar);
}

static const Case plain[] = {
    {HOLO_GRAMMAR_GBNF, "root ::= \"a\" | \"bc\"", {"a", "bc"}, {"", "b", "ab!", "c!", "bcc!"}},
    {HOLO_GRAMMAR_GBNF,
     "# words\nroot ::= word (\" \" word)* # end\nword ::=\n  [a-z]+",
     {"a", "ab cd e"},
     {"a ", "A!", "a  !b"}},
    {HOLO_GRAMMAR_GBNF, "root ::= [^a-z\\]]{2,3}", {"AB", "12", "é€", "1😀"}, {"A", "a!", "AB]!"}},
    {HOLO_GRAMMAR_GBNF, "root ::= \"x\"{2} \"y\"{,2} \"z\"{1,}", {"xxz", "xxyyzzz"}, {"xz!", "xxyyy!", "xxyy"}},
    {HOLO_GRAMMAR_GBNF, "root ::= \"\\x41\\u00e9\\U0001F600\\n\\\"\\\\\"", {"Aé😀\n\"\\"}, {"A\xC3\xA8!"}},
    {HOLO_GRAMMAR_GBNF, "root ::= \"(\" root \")\" root | \"\"", {"", "()", "(()())()"}, {"(", ")!", "())!"}},
    {HOLO_GRAMMAR_GBNF, "root ::= (\"a\"?)* \"b\" .", {"bx", "aab€", "b\n"}, {"aa", "b"}},
    {HOLO_GRAMMAR_GBNF, "root ::= \"a\" none | \"b\"\nnone ::= \"c\" none", {"b"}, {"a!", ""}},
    {HOLO_GRAMMAR_GBNF, "root ::= ws \"x\" ws\nws ::= ([ \\n] ws)?", {"x", "  x\n", " x"}, {" ", "xx!"}},
    {HOLO_GRAMMAR_REGEX, "^(a|b)*abb$", {"abb", "babaabb"}, {"ab", "c!"}},
    {HOLO_GRAMMAR_REGEX, "\\d{3}-[\\w.]+", {"123-a_.Z"}, {"12", "\xD9!\xA1", "123-\xC3!\xA9"}},
    {HOLO_GRAMMAR_REGEX, "[^\\x00-\\x{7f}]+|(?i:yes)", {"é", "YeS"}, {"a!", "ye"}},
    {HOLO_GRAMMAR_REGEX, "", {""}, {"a!"}},
};

static void test_plain(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof plain / sizeof *plain); i++) check_case(&plain[i]);
}

static const Case schemas[] = {
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{}",
     {"1", "{\"a\": [1,2.5e+3,null]}", "\"\\ud83d\\ude00\""},
     {"01!", "{\"a\":", "tru", "\"\\ud83dx!\""}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"string\"},\"c\":{\"type\":\"null\"}},\"required\":[\"b\"]}",
     {"{\"b\":\"x\"}", "{\"a\": -3, \"b\":\"\", \"c\":null}", "{\"b\":\"\\n\",\"c\":null}"},
     {"{}!", "{\"a\":1}!", "{\"b\":1!}", "{\"c!\":null}", "{\"b\":\"\",\"d!\":1}", "{\"b\":\"\",}!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"ab\":{\"type\":\"integer\"}},\"additionalProperties\":{\"type\":\"boolean\"}}",
     {"{}", "{\"ab\":1,\"a\":true,\"abc\":false,\"x\":true,\"\":true}", "{\"ac\":true}"},
     {"{\"ab\":t!rue}", "{\"a\":1!}", "{\"a\":true,\"ab\"!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"},\"required\":[\"k\"]}",
     {"{\"k\":1}", "{\"k\":1,\"kk\":2}"},
     {"{}!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"object\",\"patternProperties\":{\"^x-[a-z]+$\":{\"type\":\"integer\"}},\"additionalProperties\":false}",
     {"{}", "{\"x-a\":1,\"x-bc\":2}"},
     {"{\"y!\":1}"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":2,\"maxItems\":3}",
     {"[1,2]", "[1, 2, 3]"},
     {"[1]!", "[1,2,3,!4]", "[]!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"prefixItems\":[{\"type\":\"null\"},{\"const\":1}],\"items\":{\"type\":\"boolean\"},\"minItems\":1}",
     {"[null]", "[null,1]", "[null,1,true,false]"},
     {"[]!", "[1!]", "[null,2!]"}},
    {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"array\",\"maxItems\":0}", {"[]"}, {"[1!]"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"enum\":[\"red\",\"green\",\"re\",5,null,{\"a\":[1]}]}",
     {"\"red\"", "\"re\"", "5", "null", "{\"a\":[1]}"},
     {"\"r\"!", "55!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"string\",\"enum\":[\"a\",1]}", {"\"a\""}, {"1!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\",\"maxLength\":2}]}",
     {"7", "\"é€\"", "\"\\u00e9\""},
     {"\"abc!\"", "t!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":[\"integer\",\"null\"],\"minimum\":-12,\"maximum\":105}",
     {"-12", "105", "0", "99", "-9", "null", "10"},
     {"-13!", "106!", "-0!", "00!7"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"integer\",\"exclusiveMinimum\":9}",
     {"10", "99", "100", "123456789012"},
     {"9"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"number\",\"minimum\":0,\"maximum\":10}",
     {"0", "9.99", "10.00", "3"},
     {"-!1", "11!", "10.01!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"string\",\"pattern\":\"^[a-c\\\"\\n]+$\"}",
     {"\"ab\"", "\"\\\"\\n\""},
     {"\"\"!", "\"d!\""}},
    {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"string\",\"pattern\":\"b\"}", {"\"b\"", "\"abc\""}, {"\"a\"!"}},
};
static const Case schemas_more[] = {
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"string\",\"format\":\"date-time\"}",
     {"\"2024-02-28T23:59:59Z\"", "\"2024-12-31T00:00:00.5+05:30\""},
     {"\"2024-13!", "\"2024-04-31!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"string\",\"format\":\"uuid\"}",
     {"\"01234567-89ab-cdef-0123-456789abcdef\""},
     {"\"g!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"string\",\"format\":\"email\"}", {"\"a.b@c-d.org\""}, {"\"a@b\"!", "\"@!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"$ref\":\"#/$defs/node\",\"$defs\":{\"node\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"integer\"},\"next\":{\"anyOf\":[{\"$ref\":\"#/$defs/node\"},{\"type\":\"null\"}]}},\"required\":[\"v\",\"next\"]}}}",
     {"{\"v\":1,\"next\":null}", "{\"v\":1,\"next\":{\"v\":2,\"next\":null}}"},
     {"{\"v\":1}!", "{\"v\":1,\"next\":1!}"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"allOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"minimum\":1}},\"required\":[\"a\"]},{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":true}}]}",
     {"{\"a\":1}", "{\"a\":22,\"b\":[]}"},
     {"{}!", "{\"a\":0!}"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"k\":true},\"oneOf\":[{\"required\":[\"k\"]}]}",
     {"{\"k\":1}"},
     {"{}!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"a\\\"b\":{\"type\":\"null\"}}}",
     {"{\"a\\\"b\":null}", "{}"},
     {"{\"a\"!"}},
    {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}", {"[]", "[[],[[]]]"}, {"[1!]"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":2}",
     {"0.1", "1", "2.0", "0.001"},
     {"0", "0.0", "2.01!", "-!1"}},
    {HOLO_GRAMMAR_JSON_SCHEMA,
     "{\"type\":\"number\",\"exclusiveMaximum\":-1}",
     {"-1.01", "-2", "-77.5"},
     {"-1", "-0!", "1!"}},
};

static void test_schemas(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof schemas / sizeof *schemas); i++) check_case(&schemas[i]);
    for (int i = 0; i < (int)(sizeof schemas_more / sizeof *schemas_more); i++) check_case(&schemas_more[i]);
}

static void test_spaces(void **state)
{
    (void)state;
    static const struct {
        HoloGrammarSpaces spaces;
        const char       *text;
        bool              fits;
    } rows[] = {
        {HOLO_SPACES_SOME, "{\"a\": [1, 2]}", true},
        {HOLO_SPACES_SOME, "{ \"a\":[]}", false},
        {HOLO_SPACES_NONE, "{\"a\":[1,2]}", true},
        {HOLO_SPACES_NONE, "{\"a\": 1}", false},
        {HOLO_SPACES_ANY, " {\n \"a\" : [ 1 , 2 ]\t}\n", true},
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        HoloGrammar *grammar = grammar_of(HOLO_GRAMMAR_JSON_SCHEMA, "{}", rows[i].spaces);
        bool         is_complete;
        fit_of(grammar, rows[i].text, strlen(rows[i].text), &is_complete);
        if (is_complete != rows[i].fits) fail_msg("row %d", i);
        holo_grammar_close(grammar);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        HoloGrammarSource source;
        const char       *text, *words;
    } rows[] = {
        {HOLO_GRAMMAR_GBNF, "", "no rule 'root'"},
        {HOLO_GRAMMAR_GBNF, "root ::= other", "no rule 'other'"},
        {HOLO_GRAMMAR_GBNF, "root ::= root \"a\" | \"a\"", "'root' begins with itself"},
        {HOLO_GRAMMAR_GBNF, "root ::= x\nx ::= y? z\ny ::= \"a\"\nz ::= x \"b\" | \"c\"", "begins with itself"},
        {HOLO_GRAMMAR_GBNF, "root ::= \"a\" root", "never end"},
        {HOLO_GRAMMAR_GBNF, "root ::= []", "never end"},
        {HOLO_GRAMMAR_GBNF, "root ::= \"a", "line 1"},
        {HOLO_GRAMMAR_GBNF, "root ::= \"a\"\nroot ::= \"b\"", "there already"},
        {HOLO_GRAMMAR_GBNF, "root ::= (\"a\"", "no end )"},
        {HOLO_GRAMMAR_GBNF, "root ::= \"a\")", "without its ("},
        {HOLO_GRAMMAR_GBNF, "root ::= [b-a]", "ends before it begins"},
        {HOLO_GRAMMAR_GBNF, "root ::= \"a\"{3,2}", "wrong count"},
        {HOLO_GRAMMAR_GBNF, "root ::= ((((\"a\"{999}){999}){999}){999})", "too large"},
        {HOLO_GRAMMAR_GBNF, "root ::= (((((){9999}){9999}){9999}){9999})", "too large"},
        {HOLO_GRAMMAR_GBNF, "root ::= \"\\q\"", "escape"},
        {HOLO_GRAMMAR_REGEX, "a(?=b)", "look"},
        {HOLO_GRAMMAR_REGEX, "a\\bb", "place"},
        {HOLO_GRAMMAR_REGEX, "(a", "a group has no end"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"object\",\"properties\":{\"a\":{\"not\":{}}}}",
         "/a: the keyword 'not'"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"strin\"}", "no type 'strin'"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"$ref\":\"http://x\"}", "leads out"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"$ref\":\"#/nowhere\"}", "leads nowhere"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"$ref\":\"#\"}", "never end"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"allOf\":[{\"$ref\":\"#\"}]}", "too"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"array\",\"uniqueItems\":true}", "uniqueItems"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"string\",\"format\":\"color\"}", "format 'color'"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"enum\":[]}", "never end"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"number\",\"exclusiveMinimum\":2,\"maximum\":2}", "never end"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "false", "never end"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"},\"minItems\":1}", "never end"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"a\"", "not JSON"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"allOf\":[{\"pattern\":\"a\"},{\"pattern\":\"b\"}]}", "'pattern' is said twice"},
        {HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\":\"number\",\"minimum\":0.5}", "whole number"},
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        HoloGrammar *grammar;
        HoloError    error = {0};
        if (!holo_grammar_compile(rows[i].source, rows[i].text, strlen(rows[i].text), 0, &grammar, &error))
            fail_msg("'%s' should be refused", rows[i].text);
        assert_null(grammar);
        if (!strstr(error.text, rows[i].words)) fail_msg("'%s': %s", rows[i].text, error.text);
    }
}

// ---- blocks

static void test_block(void **state)
{
    (void)state;
    HoloGrammar *grammar = grammar_of(HOLO_GRAMMAR_JSON_SCHEMA, "{}", HOLO_SPACES_SOME), *again;
    HoloError    error   = {0};
    size_t       size;
    const char  *block = holo_grammar_block(grammar, &size);
    char        *copy  = malloc(size);
    bool         is_complete;
    assert_int_equal(holo_grammar_open_memory(block, size, &again, &error), HOLO_OK);
    assert_int_equal(fit_of(again, "[1]", 3, &is_complete), 3);
    assert_true(is_complete);
    holo_grammar_close(again);
    for (size_t cut = 0; cut < size; cut += 7) {
        HoloError problem = {0};
        assert_int_equal(holo_grammar_open_memory(block, cut, &again, &problem), HOLO_BAD_ARCHIVE);
    }
    HoloRandom random = {7};
    for (int i = 0; i < 3000; i++) { // a damaged one is refused, or does no harm
        HoloError problem = {0};
        memcpy(copy, block, size);
        for (int k = 0; k < 3; k++) copy[holo_random_next(&random) % size] = (char)holo_random_next(&random);
        if (holo_grammar_open_memory(copy, size, &again, &problem)) continue;
        fit_of(again, "{\"a\":[1,\"x\"]}", 13, &is_complete);
        holo_grammar_close(again);
    }
    free(copy);
    holo_grammar_close(grammar);
}

// ---- depth and memory

static void test_deep(void **state)
{
    (void)state;
    HoloGrammar *grammar = grammar_of(HOLO_GRAMMAR_JSON_SCHEMA, "{}", HOLO_SPACES_SOME);
    static char  text[200000];
    bool         is_complete;
    memset(text, '[', sizeof text);
    size_t fit = fit_of(grammar, text, sizeof text, &is_complete);
    assert_true(fit > 1000 && fit < sizeof text); // there is a bound
    memset(text, 'x', sizeof text);
    text[0] = text[sizeof text - 1] = '"';
    assert_int_equal(fit_of(grammar, text, sizeof text, &is_complete), sizeof text);
    assert_true(is_complete);
    holo_grammar_close(grammar);
    grammar = grammar_of(HOLO_GRAMMAR_GBNF, "root ::= s\ns ::= \"a\" s s | \"a\" s | \"a\"", HOLO_SPACES_SOME);
    memset(text, 'a', sizeof text);
    fit = fit_of(grammar, text, 5000, &is_complete); // ambiguous without end: it stops, or goes on, in time
    assert_true(fit > 50);
    holo_grammar_close(grammar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),  cmocka_unit_test(test_schemas),
                                       cmocka_unit_test(test_spaces), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_block),  cmocka_unit_test(test_deep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
