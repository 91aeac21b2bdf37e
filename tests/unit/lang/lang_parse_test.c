// lang_parse_test.c - kernels in Python and JSON to trees and back; everything outside of the language is refused, at
// its place, with advice.
#include "lang/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(body) "def k(a: DeviceArray[f32], n: u32):\n" body

static HoloStatus parse(HoloArena *arena, const char *name, const char *text, HoloAstModule *out, HoloError *error)
{
    HoloKernelSource *source = HOLO_NEW(arena, HoloKernelSource, 1);
    *source                  = (HoloKernelSource){name, text, strlen(text)};
    return strstr(name, ".json") ? holo_parse_json(arena, source, out, error)
                                 : holo_parse_python(arena, source, out, error);
}

// Python to JSON, that to a tree and to JSON again.
static void expect_round_trip(const char *text)
{
    HoloArena     arena = {0};
    HoloError     error = {0};
    HoloAstModule module, again;
    if (parse(&arena, "k.py", text, &module, &error)) fail_msg("%s", error.text);
    const char *json = holo_ast_to_json(&arena, &module);
    assert_non_null(json);
    if (parse(&arena, "k.json", json, &again, &error)) fail_msg("%s\n%s", error.text, json);
    assert_int_equal(again.function_count, module.function_count);
    assert_string_equal(holo_ast_to_json(&arena, &again), json);
    holo_arena_deinit(&arena);
}

static void expect_bad(const char *name, const char *text, const char *message)
{
    HoloArena     arena = {0};
    HoloError     error = {0};
    HoloAstModule module;
    assert_int_equal(parse(&arena, name, text, &module, &error), HOLO_BAD_MODEL);
    if (!strstr(error.text, message)) fail_msg("\"%s\" is not in \"%s\"", message, error.text);
    holo_arena_deinit(&arena);
}

static void test_round_trip(void **state)
{
    (void)state;
    expect_round_trip(KERNEL("    i = get_global_id()\n    if i < n:\n        a[i] = a[i] + 1.5\n"));
    expect_round_trip("from hologram import DeviceArray, exp\n"
                      "\"\"\"A file.\"\"\"\n"
                      "T = types(f32, f64)\n"
                      "TILE = 4 * 4 # a constant\n"
                      "@inline\ndef square(x):\n    return x * x\n"
                      "@kernel(lanes=n * 2, block=(TILE, 2))\n"
                      "def k(a: DeviceArray[T], b: DeviceArray[i64], n: u32, s: T):\n"
                      "    \"\"\"Does all.\"\"\"\n"
                      "    t = shared(T, TILE * TILE)\n"
                      "    u = local(i32, 8)\n"
                      "    x: f64 = 0\n"
                      "    for i in range(10, 0, -1):\n"
                      "        if i == 3: continue\n"
                      "        elif 1 < i <= 5 and not (i == 4 or i != 2):\n"
                      "            break\n"
                      "        else:\n"
                      "            pass\n"
                      "    while x < 3.0:\n"
                      "        x += 1 if x > 0 else 2\n"
                      "    a[-1 + 2 ** 3 // 2 % 3] **= -x / +s\n"
                      "    u[0] = ~(1 << 2 >> 1 | 3 & 4 ^ 5)\n"
                      "    barrier()\n"
                      "    old = atomic_add(b, 0, 1)\n"
                      "    parallel_map_unary(a, a, \"exp\", n)\n"
                      "    parallel_map_binary(a, a, a, \"add\", n)\n"
                      "    parallel_reduce(a, a, \"sum\", n)\n"
                      "    t[0] = (square(\n        a[0]))\n"
                      "    return\n");
}

// The whole message: where, the line itself, a caret, what to do.
static void test_message(void **state)
{
    (void)state;
    expect_bad("dir/k.py", KERNEL("    x = lambda: 3\n"),
               "dir/k.py:2:9: 'lambda' cannot stand here\n"
               "        x = lambda: 3\n"
               "            ^\n"
               "  write a helper: @inline, def name(x): return ...");
}

static const char *const refused[][2] = {
    {"", "there is no kernel"},
    {"import numpy\n", "k.py:1:1: this cannot stand outside"},
    {"from numpy import exp\n", "nothing can be imported from here"},
    {"from hologram import frob\n", "the language has no such name"},
    {"class K:\n    pass\n", "kernels are functions"},
    {"def k(a):\n    pass\n", "the type of 'a' is missing"},
    {"def k(a: f33):\n    pass\n", "there is no type 'f33'"},
    {"def k(a: f32, a: f32):\n    pass\n", "two parameters are called 'a'"},
    {"def k(a: f32 = 1):\n    pass\n", "a parameter has no default"},
    {"def k(*a):\n    pass\n", "a fixed number of parameters"},
    {"def k(n: u32):\npass\n", "an indented block is expected here"},
    {"def k(n: u32)\n    pass\n", "a block begins with a colon"},
    {"@frob\ndef k(n: u32):\n    pass\n", "unknown mark"},
    {"@inline\n", "a function is expected here"},
    {"@kernel(block=0)\ndef k(n: u32):\n    pass\n", "a block has 1 to 1024 lanes"},
    {"N = n + 1\n", "this is not a constant"},
    {"N = 9223372036854775807 + 1\n", "this has no value that fits into 64 bits"},
    {"N = 1 // 0\n", "this has no value that fits into 64 bits"},
    {KERNEL("    x = [1, 2]\n"), "there are no lists"},
    {KERNEL("    x = {}\n"), "there are no dictionaries"},
    {KERNEL("    x = (1, 2)\n"), "there are no tuples"},
    {KERNEL("    x, y = 1, 2\n"), "there are no tuples"},
    {KERNEL("    x = y = 1\n"), "a line has at most one assignment"},
    {KERNEL("    x = a[1:2]\n"), "there are no slices"},
    {KERNEL("    x = a[1, 2]\n"), "write a[row * columns + column]"},
    {KERNEL("    x = a.shape\n"), "there are no attributes"},
    {KERNEL("    x = f(y=1)\n"), "an argument with a name"},
    {KERNEL("    x = a is n\n"), "'is' is not in the language"},
    {KERNEL("    x = a @ n\n"), "there is no matrix product"},
    {KERNEL("    x = 1; y = 2\n"), "put each statement on its own line"},
    {KERNEL("    x\n"), "this value is not used"},
    {KERNEL("    1 + 2 = x\n"), "nothing can be assigned to this"},
    {KERNEL("    x: f32\n"), "'=' is expected here"},
    {KERNEL("    try:\n        pass\n"), "there are no exceptions"},
    {KERNEL("    def f():\n        pass\n"), "a function inside of a function"},
    {KERNEL("    for x in a:\n        pass\n"), "a loop runs over a range"},
    {KERNEL("    for i in range():\n        pass\n"), "range takes one to three numbers"},
    {KERNEL("    while True:\n        break\n    else:\n        pass\n"), "a loop has no 'else'"},
    {KERNEL("\tpass\n"), "a tab in the indentation"},
    {KERNEL("    if n:\n        pass\n      pass\n"), "the indentation matches no block"},
    {KERNEL("        pass\n    pass\n"), "the indentation matches no block"},
    {KERNEL("    x = 99999999999999999999\n"), "this number is too large"},
    {KERNEL("    x = 1e999\n"), "write inf"},
    {KERNEL("    x = 0b12\n"), "2 is not a digit"},
    {KERNEL("    x = 012\n"), "a number begins with 0"},
    {KERNEL("    x = 1.5f\n"), "numbers have no suffix"},
    {KERNEL("    x = \"abc\n"), "this string does not end"},
    {KERNEL("    x = f\"abc\"\n"), "a string with a prefix"},
    {KERNEL("    x = $\n"), "'$' is not in the language"},
    {KERNEL("    x = 1 ? 2\n"), "'?' is not in the language"},
    {KERNEL("    x = \xC3\xA4\n"), "this character is not in the language"},
    {KERNEL("    x = (1\n    y = 2\n"), "k.py:2:9: this bracket is never closed"},
    {KERNEL("    x = (1 2)\n"), "')' is expected here"},
    {KERNEL("    if n = 3:\n        pass\n"), "compare with =="},
    {"@inline\ndef h(x):\n    y += x\n    return x\n" KERNEL("    pass\n"), "k.py:3:5: there is no variable 'y'"},
    {"A = -(-9223372036854775807 - 1)\n" KERNEL("    pass\n"), "k.py:1:5: this has no value that fits into 64 bits"},
    {"A = 2 ** 9223372036854775807\n" KERNEL("    pass\n"), "k.py:1:7: this has no value that fits into 64 bits"},
    {"A = 1 ** 9223372036854775807 + (-1) ** 4611686018427387905\nB = 2 ** -1\n" KERNEL("    pass\n"),
     "k.py:2:7: this has no value that fits into 64 bits"},
    {KERNEL("    x = 1 if n\n"), "'else' is expected here"},
    {KERNEL("    parallel_reduce(a, a, n, n)\n"), "the operation as text"},
};

static void test_refused(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(refused); i++) expect_bad("k.py", refused[i][0], refused[i][1]);
}

// Whatever nests is bounded, in brackets, operators, blocks and long sums.
static void test_depth(void **state)
{
    (void)state;
    static char text[1 << 20];
    const struct {
        const char *unit, *close, *message;
    } rows[] = {{"(", ")", "nests deeper"},  {"-", "", "nests deeper"},           {"not ", "", "nests deeper"},
                {"a[", "]", "nests deeper"}, {"1+", "", "more than 400 steps"},   {"f(", ")", "nests deeper"},
                {"2**", "", "nests deeper"}, {"1 if n else ", "", "nests deeper"}};
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        char *at = text + sprintf(text, "%s", KERNEL("    x = "));
        for (int k = 0; k < 5000; k++) at += sprintf(at, "%s", rows[i].unit);
        at += sprintf(at, "1");
        for (int k = 0; k < 5000; k++) at += sprintf(at, "%s", rows[i].close);
        sprintf(at, "\n");
        expect_bad("k.py", text, rows[i].message);
    }
    char *at = text + sprintf(text, "%s", KERNEL(""));
    for (int k = 0; k < 300; k++) at += sprintf(at, "%*sif n:\n", 4 + k, "");
    expect_bad("k.py", text, "too deep");
}

#define JSON(body)                                                                                                          \
    "{\"version\": \"1.0\", \"kernel\": {\"name\": \"k\", \"params\": [{\"name\": \"n\", \"type\": {\"kind\": \"scalar\", " \
    "\"type\": \"u32\"}}], \"body\": [" body "]}}"

static void test_json_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "this is not JSON"},
        {"{\"version\": \"1.0\", ", "k.json:1:"},
        {"[]", "k.json: there is no kernel"},
        {"{\"version\": \"2.0\", \"kernel\": {}}", "\"version\": \"1.0\" is expected here"},
        {"{\"version\": \"1.0\", \"kernel\": {\"name\": 3}}", ".kernel.name: expected a string"},
        {"{\"version\": \"1.0\", \"kernel\": {\"name\": \"3\"}}", "this is not a name"},
        {"{\"version\": \"1.0\", \"kernel\": {\"name\": \"k\", \"params\": [], \"body\": [], \"x\": 1}}", "no key 'x'"},
        {JSON("{\"type\": \"frob\"}"), ".kernel.body[0]: 'frob' is no statement"},
        {JSON("{\"type\": \"var\", \"name\": \"n\"}"), "'var' is no statement"},
        {JSON("{\"type\": \"let\", \"name\": \"x\"}"), "'let' needs 'value'"},
        {JSON("{\"type\": \"let\", \"name\": \"x\", \"value\": {\"type\": \"literal\", \"value\": null}}"),
         ".kernel.body[0].value.value: expected a number"},
        {JSON("{\"type\": \"break\", \"x\": 1}"), "'break' has no 'x'"},
        {JSON("{\"type\": \"assign\", \"target\": \"x\", \"value\": \"n\"}"),
         ".kernel.body[0].target: there is no variable 'x'"},
        {JSON("{\"type\": \"return\", \"value\": {\"type\": \"unary_op\", \"op\": \"add\", \"operand\": \"n\"}}"),
         ".kernel.body[0].value.op: there is no unary operator 'add'"},
        {"{\"version\": \"1.0\", \"kernel\": {\"name\": \"k\", \"body\": [], \"params\": [{\"name\": \"a\", \"type\": "
         "{\"kind\": \"device_ptr\"}}]}}",
         ".kernel.params[0].type: a pointer needs an element type"},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) expect_bad("k.json", rows[i][0], rows[i][1]);
}

static void test_json_depth(void **state)
{
    (void)state;
    static char text[1 << 20];
    char       *at = text + sprintf(text, "%s",
                                    "{\"version\": \"1.0\", \"kernel\": {\"name\": \"k\", \"params\": [], \"body\": ["
                                          "{\"type\": \"return\", \"value\": ");
    for (int k = 0; k < 1000; k++) at += sprintf(at, "%s", "{\"type\": \"unary_op\", \"op\": \"neg\", \"operand\": ");
    at += sprintf(at, "\"n\"");
    for (int k = 0; k < 1000; k++) *at++ = '}';
    sprintf(at, "}]}}");
    expect_bad("k.json", text, "nests deeper than 400");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_message),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_depth),      cmocka_unit_test(test_json_refused), cmocka_unit_test(test_json_depth),
    };
    return cmocka_run_group_tests_name("lang_parse", tests, NULL, NULL);
}
