// family_test.c - the language that model families are described in (docs/model-families.md), on small texts.
#include "models/families.h"
#include "support/models.h"

#include <stdio.h>
#include <string.h>

static float numbers[64];

static bool find(void *context, const char *name, HoloTensor *out)
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
        *out = (HoloTensor){.dtype = HOLO_F32, .rank = (int8_t)weights[i].rank, .data = numbers};
        memcpy(out->dim, weights[i].dim, sizeof weights[i].dim);
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
    HoloFamilyText    both[]  = {holo_family_texts[0], {"toy.family", text}};
    HoloFamilyRequest request = {
        .architecture = "Toy", .config = config, .config_count = count, .dtype = HOLO_F32, .weight = find};
    return holo_family_build_text(arena, both, 2, &request, out, error);
}

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
    };
    static const HoloAttr config[] = {INT("size", 5), TEXT("name", "gelu")};
    for (int i = 0; i < HOLO_COUNT(truths); i++) {
        char text[400];
        snprintf(text, sizeof text,
                 HEAD "config size = 1 config name = \"relu\" config half = size / 2\n"
                      "graph { input x: f32[3]\n when %s { y = Relu@14(x) } else { refuse \"%d\" }\n output y }",
                 truths[i], i);
        expect_graph(text, config, 2, WORDS("Relu@14"));
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

static void test_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        HoloStatus  status;
        const char *words;
    } texts[] = {
        {HEAD, HOLO_BAD_MODEL, "a family has a name, architectures and a graph"},
        {HEAD "graph { }", HOLO_BAD_MODEL, "the graph has no output"},
        {HEAD "graph { input x: f32[3]", HOLO_BAD_MODEL, "a block has no end"},
        {HEAD "graph {\n y = z\n}", HOLO_BAD_MODEL, "toy.family, line 5: z stands for nothing"},
        {HEAD "graph { input x: f33[3] }", HOLO_BAD_MODEL, "f33 is no type"},
        {HEAD "graph { input x: f32[3]\n y = Reluu@14(x) }", HOLO_BAD_MODEL, "there is no operator Reluu@14"},
        {HEAD "graph { input x: f32[3]\n y = relu(x) }", HOLO_BAD_MODEL, "there is no block relu"},
        {HEAD "graph { y = linear(1) }", HOLO_BAD_MODEL, "the block linear has 4 parameters and 1 results"},
        {HEAD "graph { y = Relu@14(\"c.weight\"[3]) }", HOLO_BAD_MODEL,
         "Toy needs the weight 'c.weight', which is not there, with or without the prefix top."},
        {HEAD "graph { y = Relu@14(\"a.weight\"[3, 2]) }", HOLO_BAD_MODEL,
         "'a.weight' has sizes [2, 3]; by the model's config they are [3, 2]"},
        {HEAD "graph { y = Relu@14(\"a.weight\"[any]) }", HOLO_BAD_MODEL, "they are [any]"},
        {HEAD "graph { y = Relu@14(\"a\") }", HOLO_BAD_MODEL, "is no input"},
        {HEAD "graph { y = 1 // 0 }", HOLO_BAD_MODEL, "1 is divided by 0"},
        {HEAD "graph { y = 9223372036854775807 + 1 }", HOLO_BAD_MODEL, "does not fit into 64 bits"},
        {HEAD "graph { y = 1 == \"1\" }", HOLO_BAD_MODEL, "not of one kind"},
        {HEAD "graph { y = \"{z}\" }", HOLO_BAD_MODEL, "{z} stands for nothing"},
        {HEAD "graph { repeat i < -1 { } }", HOLO_BAD_MODEL, "not from 0 to"},
        {HEAD "graph { refuse \"it is {architecture}\" }", HOLO_UNSUPPORTED, "Toy: it is Toy"},
        {HEAD "config must\ngraph { }", HOLO_BAD_MODEL, "the model's config has no 'must'"},
        {HEAD "block f(x) -> (y) { y = f(x) }\ngraph { y = f(1) }", HOLO_BAD_MODEL, "too many"},
        {HEAD "graph { y = ((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))))) }", HOLO_BAD_MODEL,
         "too many"},
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
    HoloGraph        *graph;
    HoloFamilyRequest request = {.family = "bert", .weight = find};
    EXPECT_FAIL(holo_family_build(&arena, &request, &graph, &error), HOLO_BAD_MODEL, "BertModel needs the weight");
    request.architecture = "BertForMaskedLM";
    EXPECT_FAIL(holo_family_build(&arena, &request, &graph, &error), HOLO_BAD_MODEL,
                "BertForMaskedLM needs the weight");
    request.architecture = "BertFor";
    EXPECT_FAIL(holo_family_build(&arena, &request, &graph, &error), HOLO_UNSUPPORTED,
                "architecture BertFor (model type bert)");
    request = (HoloFamilyRequest){.family = "ber", .weight = find};
    EXPECT_FAIL(holo_family_build(&arena, &request, &graph, &error), HOLO_UNSUPPORTED, "known are: BertModel");
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_and_blocks), cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_expressions),        cmocka_unit_test(test_constants_and_attributes),
        cmocka_unit_test(test_what_is_wrong),      cmocka_unit_test(test_which_family),
    };
    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
