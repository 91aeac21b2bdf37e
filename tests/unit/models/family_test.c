// family_test.c - the language that model families are described in (docs/model-families.md), on small texts.
#include "models/families.h"
#include "support/models.h"

#include <stdio.h>
#include <string.h>

static float numbers[64];

static bool find(void *context, const char *name, HoloFamilyWeight *out)
{
    (void)context;
    static const struct {
        const char *name;
        int         rank;
        int64_t     dim[2];
    } weights[] = {
        {"a.weight", 2, {2, 3}}, {"a.bias", 1, {2}}, {"top.b.weight", 2, {2, 2}}, {"l.0.w", 1, {3}}, {"l.1.w", 1, {3}}};
    for (int i = 0; i < HOLO_COUNT(weights); i++) {
        if (strcmp(weights[i].name, name)) continue;
        *out = (HoloFamilyWeight){.tensor = {.dtype = HOLO_F32, .rank = (int8_t)weights[i].rank, .data = numbers}};
        memcpy(out->tensor.dim, weights[i].dim, sizeof weights[i].dim);
        return true;
    }
    return false;
}

#define INT(n, value)                                            \
    {                                                            \
        .name = n, .kind = HOLO_ATTR_INT, .count = 1, .i = value \
    }
#define TEXT(n, value)                                                                     \
    {                                                                                      \
        .name = n, .kind = HOLO_ATTR_STRING, .count = 1, .s = { value, sizeof(value) - 1 } \
    }

static HoloStatus build(HoloArena *arena, const char *text, const HoloAttr *config, int count, HoloGraph **out,
                        HoloError *error)
{
    HoloFamilyText both[] = {{0}, {"toy.family", text}};
    for (const HoloFamilyText *t = holo_family_texts; t->name; t++)
        if (!strcmp(t->name, "blocks.family")) both[0] = *t;
    HoloFamilyRequest request = {
        .architecture = "Toy", .config = config, .config_count = count, .dtype = HOLO_F32, .weight = find};
    HoloFamilyModel model;
    HOLO_TRY(holo_family_build_text(arena, both, 2, &request, &model, error));
    *out = model.entry[0].graph;
    return HOLO_OK;
}

#define DEEP "(((((((((((((((((((((((((((((((((("
#define HEAD "family toy\narchitectures Other, Toy\nprefix \"top.\"\n"

// The graph that the text comes to, as graph text, has these words in it, in this order.
static void expect_graph(const char *text, const HoloAttr *config, int count, const char *const *words)
{
    HoloArena  arena = {0};
    HoloGraph *graph;
    HoloText   printed = {0};
    EXPECT_OK(build(&arena, text, config, count, &graph, &error));
    EXPECT_OK(holo_graph_verify(graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    holo_graph_print(graph, &printed);
    const char *at = printed.data;
    for (int i = 0; words[i]; i++) {
        const char *found = strstr(at, words[i]);
        if (!found) fail_msg("\"%s\" is not in the rest of\n%s", words[i], printed.data);
        at = found + strlen(words[i]);
    }
    holo_text_deinit(&printed);
    holo_arena_deinit(&arena);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_weights_and_blocks(void **state)
{
    (void)state;
    expect_graph(HEAD "graph { input x: float[n, 3]\n y = linear(x, \"a\", 3, any) output y }", NULL, 0,
                 WORDS("graph Toy(x: f32[n,3]) -> (y)", "a.weight: f32[2,3]", "a.bias: f32[2]", "Transpose@13",
                       "MatMul@13", "Add@14", ": f32[n,2]"));
    // With the prefix, and without a bias.
    expect_graph(HEAD "graph { input x: f32[n, 2]\n y = linear(x, \"b\", 2, 2) output y }", NULL, 0,
                 WORDS("b.weight: f32[2,2]", "MatMul@13"));
    // A family's own block goes before that of all.
    expect_graph(HEAD "block linear(x) -> (y, z) { y = Relu@14(x) z = Neg@13(y) }\n"
                      "graph { input x: f32[n]\n u, v = linear(x) output v }",
                 NULL, 0, WORDS("Relu@14", "v = Neg@13"));
}

static void test_repeats(void **state)
{
    (void)state;
    static const HoloAttr config[] = {INT("layers", 2)};
    expect_graph(HEAD "config depth or layers = 1\n"
                      "graph { input x: f32[3]\n repeat i < depth { x = Mul@14(x, \"l.{i}.w\"[3]) }\n y = x output y }",
                 config, 1, WORDS("l.0.w", "l.1.w", "Mul@14(x, l.0.w)", "y = Mul@14", "l.1.w)"));
    expect_graph(HEAD "graph { input x: f32[3]\n repeat i < 0 { refuse \"no\" }\n y = Relu@14(x) output y }", NULL, 0,
                 WORDS("y = Relu@14(x)"));
}

// Every condition is one that holds, or the text refuses.
static void test_expressions(void **state)
{
    (void)state;
    static const char *const truths[] = {
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "7 // 2 == 3 and 7 % 2 == 1",
        "-7 // 2 == -4",
        "1 / 2 == 0.5",
        "not 1 > 2",
        "1 <= 1 and 2 >= 2",
        "\"a\" == \"a\"",
        "\"a\" != \"b\"",
        "false or true",
        "sqrt(16) == 4",
        "has(\"a.weight\")",
        "not has(\"c.weight\")",
        "has(\"b.weight\")",
        "architecture == \"Toy\"",
        "size == 5",
        "half == 2.5",
        "name == \"gelu\"",
        "-size < 0 - 4",
        "bool == 9",
        "min(2, 3) == 2 and max(2, 2.5) == 2.5",
        "floor(2.5) == 2 and ceil(2.5) == 3 and floor(-2.5) == -3",
        "pow(2, 10) == 1024 and log(1) == 0",
        "ends(\"ToyModel\", \"Model\") and not ends(\"el\", \"Model\")",
        "count(list) == 3 and list[1] == 8 and count([]) == 0",
        "contains(list, 7) and not contains(list, 10)",
        "count(parts) == 2 and parts[0] == 0.5 and parts[1] == 2",
        "words[1] == \"b\" and contains(words, \"a\") and not contains(words, \"c\")",
        "whole == 4",
        "sqrt(4) * 2 + 1 == 5",
        "size(\"a.weight\", 0) == 2 and size(\"a.weight\", 1) == 3",
    };
    static const int64_t    list[]   = {7, 8, 9};
    static const float      parts[]  = {0.5F, 2};
    static const HoloString words[]  = {{"a", 1}, {"b", 1}};
    static const HoloAttr   config[] = {
          INT("size", 5),
          TEXT("name", "gelu"),
          {.name = "list", .kind = HOLO_ATTR_INTS, .count = 3, .ints = list},
          {.name = "parts", .kind = HOLO_ATTR_FLOATS, .count = 2, .floats = parts},
          {.name = "words", .kind = HOLO_ATTR_STRINGS, .count = 2, .strings = words},
          {.name = "whole", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = 4},
    };
    for (int i = 0; i < HOLO_COUNT(truths); i++) {
        char text[600];
        snprintf(text, sizeof text,
                 HEAD
                 "config size = 1 config name = \"relu\" config half = size / 2 config list = [] config parts = []\n"
                 "config words = [] config whole = 1\n"
                 "graph { input x: f32[3]\n when %s { y = Relu@14(x) } else { refuse \"%d\" }\n output y }",
                 truths[i], i);
        expect_graph(text, config, HOLO_COUNT(config), WORDS("Relu@14"));
    }
}

static void test_constants_and_attributes(void **state)
{
    (void)state;
    expect_graph(HEAD "graph { input x: f32[n, 4]\n"
                      " y = Reshape@14(x, [0, 2, -1])\n z = Softmax@13(Mul@14(y, 0.5)) {axis=-2}\n"
                      " k = Cast@13(z) {to=f16} output k }",
                 NULL, 0, WORDS("i64[3] = {0, 2, -1}", "f32[] = {0.5}", "axis=-2", "k = Cast@13", "to=10"));
    expect_graph(HEAD "graph { input x: f32[n]\n y = Clip@13(x, _, 1.0) output y }", NULL, 0, WORDS("Clip@13(x, _, "));
    expect_graph(HEAD "graph { input x: f32[4]\n a, b = Split@13(x) output b, a }", NULL, 0,
                 WORDS("-> (b, a)", "a, b = Split@13"));
}

// Parameters that may be left out or given by name, calls for their outputs alone, and more than one prefix.
static void test_parameters(void **state)
{
    (void)state;
    static const char *const block = "block f(x, by = 2.0, then = by + 1) -> (y) { y = Add@14(Mul@14(x, by), then) }\n";
    char                     text[400];
    static const struct {
        const char *call, *first, *second;
    } calls[] = {{"f(x)", "{2.0}", "{3.0}"},
                 {"f(x, 4.0)", "{4.0}", "{5.0}"},
                 {"f(x, then=7.0)", "{2.0}", "{7.0}"},
                 {"f(then=1.5, x=x, by=0.5)", "{0.5}", "{1.5}"}};
    for (int i = 0; i < HOLO_COUNT(calls); i++) {
        snprintf(text, sizeof text, HEAD "%sgraph { input x: f32[3]\n y = %s output y }", block, calls[i].call);
        expect_graph(text, NULL, 0, WORDS(calls[i].first, calls[i].second, "Mul@14", "y = Add@14"));
    }
    expect_graph(HEAD "block out(x) -> () { z = Relu@14(x) output z }\ngraph { input x: f32[3]\n out(x) }", NULL, 0,
                 WORDS("-> (z)", "z = Relu@14"));
    expect_graph("family toy\narchitectures Toy\nprefix \"other.\", \"top.\"\n"
                 "graph { input x: f32[n, 2]\n y = linear(x, \"b\", 2, 2) output y }",
                 NULL, 0, WORDS("b.weight: f32[2,2]"));
}

static void test_defaults(void **state)
{
    (void)state;
    expect_graph(HEAD "graph { input x: i64[n]\n input m: i64[n] = 1\n y = Mul@14(x, m) output y }", NULL, 0,
                 WORDS("(x: i64[n], m: i64[n] = 1) -> (y)"));
}

// A block as the graph of a loop: what is not given is an input of it.
static void test_bodies(void **state)
{
    (void)state;
    expect_graph(
        HEAD "block step(sum, x, by) -> (next, y) { next = Add@14(sum, Mul@14(x, by)) y = Neg@13(next) }\n"
             "graph { input x: f32[n, 3]\n input start: f32[3]\n"
             " last, all = Scan@16(start, x) {body=block step(by=2.0), num_scan_inputs=1} output all, last }",
        NULL, 0,
        WORDS("last, all = Scan@16(start, x)", "graph step(sum: f32[3], x: f32[3])", "{2.0}", ": f32[3], f32[n,3]"));
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        HoloStatus  status;
        const char *words;
    } texts[] = {
        {HEAD, HOLO_BAD_MODEL, "a family must have a name, architectures and a graph"},
        {HEAD "graph { }", HOLO_BAD_MODEL, "the graph has no output"},
        {HEAD "graph { input x: f32[3]", HOLO_BAD_MODEL, "a block has no end"},
        {HEAD "graph {\n y = z\n}", HOLO_BAD_MODEL, "toy.family, line 5: z has no value"},
        {HEAD "graph { input x: f33[3] }", HOLO_BAD_MODEL, "f33 is no type"},
        {HEAD "graph { input x: f32[3]\n y = Reluu@14(x) }", HOLO_BAD_MODEL, "there is no operator Reluu@14"},
        {HEAD "graph { input x: f32[3]\n y = relu(x) }", HOLO_BAD_MODEL, "there is no block relu"},
        {HEAD "graph { y = linear(1) }", HOLO_BAD_MODEL, "the block linear needs its parameter name"},
        {HEAD "graph { y = linear(1, 2, 3, 4, 5) }", HOLO_BAD_MODEL, "the block linear has 4 parameters"},
        {HEAD "graph { y = linear(1, x=2, name=3) }", HOLO_BAD_MODEL, "each of which is given once"},
        {HEAD "graph { y, z = linear(1, 2, 3, 4) }", HOLO_BAD_MODEL, "the block linear has 1 results"},
        {HEAD "graph { a = [1, 2]\n y = a[2] }", HOLO_BAD_MODEL, "a list of 2 items has no such item"},
        {HEAD "graph { y = [1, \"a\"] }", HOLO_BAD_MODEL, "a list is of numbers"},
        {HEAD "graph { y = sqrt(1, 2) }", HOLO_BAD_MODEL, "sqrt() takes 1 arguments"},
        {HEAD "graph { y = max(1, \"a\") }", HOLO_BAD_MODEL, "max() takes numbers"},
        {HEAD "graph { y = count(1) }", HOLO_BAD_MODEL, "count() takes a list"},
        {HEAD "graph { y = size(\"a.weight\", 2) }", HOLO_BAD_MODEL, "needs the weight 'a.weight'"},
        {HEAD "graph { y = f32(1, 2) }", HOLO_BAD_MODEL, "a constant is made of one number or list"},
        {HEAD "graph { input x: i64[n] = -1 }", HOLO_BAD_MODEL, "the default of x is no whole number"},
        {HEAD "block b(x, y) -> (z) { z = Add@14(x, y) }\n"
              "graph { input x: f32[3]\n y = Scan@16(x) {body=block b(y=x), num_scan_inputs=1} output y }",
         HOLO_BAD_MODEL, "y of the block b is a value of another graph"},
        {HEAD "graph { y = Relu@14(\"c.weight\"[3]) }", HOLO_BAD_MODEL,
         "Toy needs the weight 'c.weight', which is missing, with or without the prefix top."},
        {HEAD "graph { y = Relu@14(\"a.weight\"[3, 2]) }", HOLO_BAD_MODEL,
         "'a.weight' has sizes [2, 3]; by the model's config they are [3, 2]"},
        {HEAD "graph { y = Relu@14(\"a.weight\"[any]) }", HOLO_BAD_MODEL, "they are [any]"},
        {HEAD "graph { y = Relu@14(\"a\") }", HOLO_BAD_MODEL, "is no input"},
        {HEAD "graph { y = 1 // 0 }", HOLO_BAD_MODEL, "1 is divided by 0"},
        {HEAD "graph { y = 9223372036854775807 + 1 }", HOLO_BAD_MODEL, "does not fit into 64 bits"},
        {HEAD "graph { y = 1 == \"1\" }", HOLO_BAD_MODEL, "of different kinds"},
        {HEAD "graph { y = \"{z}\" }", HOLO_BAD_MODEL, "{z} has no value"},
        {HEAD "graph { repeat i < -1 { } }", HOLO_BAD_MODEL, "must be repeated 0 to"},
        {HEAD "graph { refuse \"it is {architecture}\" }", HOLO_UNSUPPORTED, "Toy: it is Toy"},
        {HEAD "config must\ngraph { }", HOLO_BAD_MODEL, "the model's config has no 'must'"},
        {HEAD "block f(x) -> (y) { y = f(x) }\ngraph { y = f(1) }", HOLO_BAD_MODEL, "too many"},
        {HEAD "graph { y = " DEEP DEEP DEEP "1 }", HOLO_BAD_MODEL, "too many"},
    };
    for (int i = 0; i < HOLO_COUNT(texts); i++) {
        HoloArena  arena = {0};
        HoloGraph *graph;
        EXPECT_FAIL(build(&arena, texts[i].text, NULL, 0, &graph, &error), texts[i].status, texts[i].words);
        holo_arena_deinit(&arena);
    }
}

// A family is found by its architecture, or by its own name where there is none; parts of names are no names.
static void test_which_family(void **state)
{
    (void)state;
    HoloArena         arena = {0};
    HoloFamilyModel   model;
    HoloFamilyRequest request = {.family = "bert", .weight = find};
    EXPECT_FAIL(holo_family_build(&arena, &request, &model, &error), HOLO_BAD_MODEL, "BertModel needs the weight");
    request.architecture = "BertForMaskedLM";
    EXPECT_FAIL(holo_family_build(&arena, &request, &model, &error), HOLO_BAD_MODEL,
                "BertForMaskedLM needs the weight");
    request.architecture = "BertFor";
    EXPECT_FAIL(holo_family_build(&arena, &request, &model, &error), HOLO_UNSUPPORTED,
                "architecture BertFor (model type bert); the nearest that is known is BertModel");
    request = (HoloFamilyRequest){.family = "ber", .weight = find};
    EXPECT_FAIL(holo_family_build(&arena, &request, &model, &error), HOLO_UNSUPPORTED,
                "(model type ber); the nearest that is known is bert");
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_and_blocks),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_constants_and_attributes),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_which_family),
    };
    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
