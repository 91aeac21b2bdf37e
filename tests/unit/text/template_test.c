// template_test.c - chat templates give what Jinja2 gives (tests/templates/golden.jsonl), errors name their line, nothing costs
// more than its limit, and damaged blocks are refused.
#include "text/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const struct tm noon = {.tm_year = 124,
                               .tm_mon  = 6,
                               .tm_mday = 4,
                               .tm_hour = 15,
                               .tm_min  = 7,
                               .tm_sec  = 9,
                               .tm_wday = 4,
                               .tm_yday = 185}; // the time of oracle.py

// Compiles and renders. Returns the text, to be freed; NULL: it failed.
static char *rendered(const char *source, size_t size, const char *context, const HoloTemplateLimits *limits,
                      HoloError *error)
{
    HoloTemplate *t;
    HoloGrowing   out = {0};
    *error            = (HoloError){0};
    if (holo_template_compile_text(source, size, NULL, 0, &t, error)) return NULL;
    HoloStatus status = holo_template_run(t, (HoloString){context, strlen(context)}, limits, &out, error);
    holo_template_close(t);
    char *text = status ? NULL : malloc(out.size + 1);
    if (text) {
        if (out.size) memcpy(text, out.data, out.size);
        text[out.size] = 0;
    }
    holo_growing_deinit(&out);
    return text;
}

static HoloTemplateLimits usual(void)
{
    HoloTemplateLimits limits = HOLO_TEMPLATE_LIMITS;
    limits.time               = &noon;
    return limits;
}

// Whether a case gives what Jinja2 gave. Prints it if not.
static bool case_holds(const json_t *item, const char *context)
{
    HoloTemplateLimits limits = usual();
    HoloError          error  = {0};
    const json_t *template    = json_object_get(item, "template");
    const char *source        = json_string_value(template);
    const char *text          = json_string_value(json_object_get(item, "text"));
    const char *message       = json_string_value(json_object_get(item, "error"));
    char       *got           = rendered(source, json_string_length(template), context, &limits, &error);
    bool        holds = text ? got && !strcmp(got, text) : !got && message && strstr(error.text, message) != NULL;
    if (!holds) print_error("%s\n  wanted: %s\n  got:    %s\n", source, text ? text : message, got ? got : error.text);
    free(got);
    return holds;
}

static void as_jinja_does(void **state)
{
    (void)state;
    FILE *file = fopen("tests/templates/golden.jsonl", "rb");
    assert_non_null(file);
    json_t *contexts = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL), *item;
    int     count = 0, bad = 0;
    assert_true(json_is_array(contexts));
    while ((item = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL))) {
        size_t number  = (size_t)json_integer_value(json_object_get(item, "context"));
        char  *context = json_dumps(json_array_get(contexts, number), 0);
        assert_non_null(context);
        bad += !case_holds(item, context);
        count++;
        free(context);
        json_decref(item);
    }
    json_decref(contexts);
    fclose(file);
    assert_true(count > 200);
    assert_int_equal(bad, 0);
}

static void expect_failure(const char *source, HoloStatus status, const char *message)
{
    HoloTemplateLimits limits = usual();
    HoloError          error;
    char              *got = rendered(source, strlen(source), "{\"x\": 1}", &limits, &error);
    if (got) fail_msg("%s: rendered as %s", source, got);
    if (error.status != status || !strstr(error.text, message)) fail_msg("%s: %d %s", source, error.status, error.text);
}

static void errors_name_their_line(void **state)
{
    (void)state;
    expect_failure("a\nb\n{{ 1 + }}", HOLO_BAD_MODEL, "line 3");
    expect_failure("a\n{% if x %}\nb", HOLO_BAD_MODEL, "line 2: 'if' begins here and has no end");
    expect_failure("a\n\n{{ y.z }}", HOLO_BAD_INPUT, "line 3: 'y' is undefined");
    expect_failure("{% set a = 1 %}\n{% for i in [1] %}\n\n{{ a + 'b' }}{% endfor %}", HOLO_BAD_INPUT, "line 4");
    expect_failure("{{ raise_exception('so not') }}", HOLO_BAD_INPUT, "so not");
    expect_failure("\n{{ x|nothing }}", HOLO_BAD_MODEL, "line 2: there is no filter named 'nothing'");
    expect_failure("\n{% if x %}{{ x|nothing }}{% endif %}", HOLO_BAD_INPUT, "there is no filter named 'nothing'");
    expect_failure("{% include 'a' %}", HOLO_BAD_MODEL, "cannot use other templates");
    expect_failure("{% import 'a' as b %}", HOLO_BAD_MODEL, "cannot use other templates");
    expect_failure("{% extends 'a' %}", HOLO_BAD_MODEL, "cannot use other templates");
    expect_failure("{% for i in x recursive %}{% endfor %}", HOLO_BAD_MODEL, "recursive");
    expect_failure("{{ lipsum() }}", HOLO_BAD_INPUT, "lipsum");
    expect_failure("{{ 9223372036854775807 + 1 }}", HOLO_BAD_INPUT, "too large");
    expect_failure("{% break %}", HOLO_BAD_MODEL, "not in a loop");
}

static void limits_hold(void **state)
{
    (void)state;
    static const char *const endless[] = {
        "{% set x = [1] %}{% for i in x %}{% set _ = x.append(i) %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        "{{ 'a' * 999999999 }}",
        "{{ '{:9999999}'.format(1) }}",
        "{% for a in range(9999) %}{% for b in range(9999) %}{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }}{% endfor %}{% endfor %}",
        "{% macro m(x) %}{{ m(x) }}{{ m(x) }}{% endmacro %}{{ m(1) }}",
        "{% set x = [] %}{% set _ = x.append(x) %}{{ x }}",
        "{% set x = [] %}{% set _ = x.append(x) %}{{ x|tojson }}",
        "{% set x = [] %}{% set y = [] %}{% set _ = x.append(y) %}{% set _ = y.append(x) %}{{ x == y }}",
        "{{ ('a' * 300000).find('a' * 150000 ~ 'b') }}",
    };
    HoloTemplateLimits limits = {2000000, (size_t)32 << 20, (size_t)4 << 20, &noon};
    for (int i = 0; i < HOLO_COUNT(endless); i++) {
        HoloError error;
        char     *got = rendered(endless[i], strlen(endless[i]), "{}", &limits, &error);
        if (got) fail_msg("%s: it ended", endless[i]);
        assert_true(error.text[0]);
    }
    char deep[4001];
    for (int i = 0; i < 2000; i++) deep[i] = '[', deep[i + 2000] = ']';
    memcpy(deep, "{{", 2), memcpy(deep + 3998, "}}", 2), deep[4000] = 0;
    expect_failure(deep, HOLO_BAD_MODEL, "too many things lie in each other");
}

static void long_text_grows_quickly(void **state)
{
    (void)state;
    static const char source[] =
        "{% set ns = namespace(s='') %}{% for i in range(20000) %}"
        "{% set ns.s = ns.s + 'a line of some length that is added\n' %}{% endfor %}{{ ns.s|length }}";
    HoloTemplateLimits limits = {1000000, (size_t)64 << 20, (size_t)4 << 20, &noon};
    HoloError          error;
    char              *got = rendered(source, sizeof source - 1, "{}", &limits, &error);
    if (!got) fail_msg("%s", error.text);
    assert_string_equal(got, "720000");
    free(got);
}

static void contexts_are_checked(void **state)
{
    (void)state;
    static const char *const bad[]  = {"",    "[]", "1", "{", "{\"a\"}", "{\"a\": }", "{\"a\": 1,}", "{\"a\": \"\\x\"}",
                                       "{} x"};
    HoloTemplateLimits       limits = usual();
    HoloError                error;
    for (int i = 0; i < HOLO_COUNT(bad); i++) {
        char *got = rendered("x", 1, bad[i], &limits, &error);
        if (got || !strstr(error.text, "context")) fail_msg("%s: %s", bad[i], got ? got : error.text);
    }
    char *got = rendered("{{ a }} {{ b }}", 15, "{\"a\": \"\\ud83d\\ude00\\ud800\", \"b\": 12345678901234567890}",
                         &limits, &error);
    assert_non_null(got);
    assert_string_equal(got, "\xF0\x9F\x98\x80\xEF\xBF\xBD 1.2345678901234567e+19");
    free(got);
}

static void blocks_keep_a_template(void **state)
{
    (void)state;
    static const char source[]    = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}{{ eos_token }}";
    static const char variables[] = "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}";
    static const char context[]   = "{\"messages\": [{\"content\": \"a\"}], \"eos_token\": \"!\"}";
    HoloTemplate     *t, *again;
    HoloError         error = {0};
    size_t            size, text_size;
    char             *text;
    assert_int_equal(holo_template_compile_text(source, sizeof source - 1, variables, sizeof variables - 1, &t, &error),
                     0);
    const void *block = holo_template_block(t, &size);
    assert_int_equal(holo_template_open_memory(block, size, &again, &error), 0);
    assert_int_equal(holo_template_render(again, context, sizeof context - 1, &text, &text_size, &error), 0);
    assert_string_equal(text, "<s>a!");
    assert_int_equal(text_size, 5);
    holo_text_free(text);
    holo_template_close(again);

    uint8_t *copy = malloc(size);
    for (size_t i = 0; i < size; i++) { // every byte changed: refused, or harmless
        memcpy(copy, block, size);
        copy[i] ^= 0xFF;
        HoloError failure = {0};
        if (holo_template_open_memory(copy, size, &again, &failure)) {
            assert_true(failure.text[0]);
            continue;
        }
        if (!holo_template_render(again, context, sizeof context - 1, &text, &text_size, &failure))
            holo_text_free(text);
        holo_template_close(again);
    }
    for (size_t cut = 0; cut < size; cut++) {
        HoloError failure = {0};
        assert_int_not_equal(holo_template_open_memory(block, cut, &again, &failure), 0);
    }
    free(copy);
    holo_template_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_jinja_does),        cmocka_unit_test(errors_name_their_line),
        cmocka_unit_test(limits_hold),          cmocka_unit_test(long_text_grows_quickly),
        cmocka_unit_test(contexts_are_checked), cmocka_unit_test(blocks_keep_a_template),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
