// quantize_test.c - quantization while compiling: ranges and steps, which values are in 8 bits, accuracy and the search
// for it, and a trained model whose answers stay the same.
#include "support/models.h"

#include "graph/graph.h"
#include "passes/passes.h"
#include "quantize/narrow.h"
#include "quantize/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what is rewritten

typedef struct Setting {
    HoloArena           arena;
    HoloGraph          *graph;
    HoloSamples         samples;
    HoloPassOptions     passes;
    HoloQuantizeOptions options;
} Setting;

static void setting_begin(Setting *s, HoloQuantizeKind kind, bool is_static, const char *text)
{
    *s = (Setting){0};
    EXPECT_OK(holo_graph_parse(&s->arena, text, &s->graph, &error));
    EXPECT_OK(holo_graph_infer(s->graph, &error));
    EXPECT_OK(holo_samples_seeded(s->graph, 4, &s->arena, &s->samples, &error));
    s->options = (HoloQuantizeOptions){.kind      = kind,
                                       .is_static = is_static,
                                       .accuracy  = 0.9,
                                       .seconds   = 60,
                                       .samples   = &s->samples,
                                       .passes    = &s->passes};
}

static int nodes_of(const HoloGraph *graph, const char *type)
{
    int count = 0;
    for (int i = 0; i < graph->node_count; i++) count += !strcmp(graph->nodes[i]->type, type);
    return count;
}

// Constants w: f32[8,4,3,3], v: f32[8,8,1,1], m: f32[32,24], e: f32[64,64], b: f32[24], c: f32[8], d: f32[8,1,3,3];
// `body` has the rest.
static char *text_of(const char *head, const char *body)
{
    static const struct {
        const char *type;
        int         count;
    } constants[] = {{"w: f32[8,4,3,3]", 288}, {"v: f32[8,8,1,1]", 64}, {"m: f32[32,24]", 768}, {"e: f32[64,64]", 4096},
                     {"b: f32[24]", 24},       {"c: f32[8]", 8},        {"d: f32[8,1,3,3]", 72}};
    HoloText text = {0};
    holo_text_add(&text, "graph g(%s {\n", head);
    for (int k = 0; k < HOLO_COUNT(constants); k++) {
        holo_text_add(&text, "const %s = {", constants[k].type);
        for (int i = 0; i < constants[k].count; i++)
            holo_text_add(&text, "%s%d.%03d", i ? ", " : "", (i * 7 + k) % 3 - 1, (i * 131 + k * 17) % 1000);
        holo_text_add(&text, "}\n");
    }
    holo_text_add(&text, "%s\n}\n", body);
    return text.data;
}

typedef struct Case {
    HoloQuantizeKind kind;
    bool             is_static;
    const char      *head, *body;
    int              narrow; // layers that become narrow
    struct {
        const char *type;
        int         count;
    } nodes[6]; // that must be there, before any pass or, with `planned`, in the plan
    bool planned;
} Case;

static const char images[] = "x: f32[1,4,12,12]) -> (y)", rows[] = "x: f32[5,32]) -> (y)";
static const char words[] = "x: i64[3,5]) -> (y)";

static const Case cases[] = {
    // A chain of convolutions, an addition and a pool have no f32 inside.
    {HOLO_QUANTIZE_INT8,
     true,
     images,
     "p = Conv@11(x, w, c) {pads=[1,1,1,1]}\nq = Relu@14(p)\nr = Conv@11(q, v)\ns = Add@14(r, q)\nt = Relu@14(s)\n"
     "u = MaxPool@12(t) {kernel_shape=[2,2], strides=[2,2]}\ny = Conv@11(u, v, c)",
     3,
     {{"QuantizeLinear", 1}, {"DequantizeLinear", 1}, {"QLinearConv", 3}, {"QLinearAdd", 1}, {"Relu", 0}, {"Add", 0}},
     true},
    // A value between that somebody else reads, and an activation that is a table.
    {HOLO_QUANTIZE_INT8,
     true,
     "x: f32[1,4,12,12]) -> (y, z)",
     "p = Conv@11(x, w, c)\nq = HardSwish@14(p)\ny = Conv@11(q, v)\nz = Abs@13(q)",
     2,
     {{"QLinearConv", 2}, {"Lookup", 1}, {"HardSwish", 0}},
     true},
    // A product takes its bias; f32 comes out, and what else reads its input reads that as it is.
    {HOLO_QUANTIZE_INT8,
     true,
     rows,
     "p = MatMul@13(x, m)\nq = Add@14(b, p)\nr = Tanh@13(x)\ns = ReduceSum@13(r)\ny = Add@14(q, s)",
     1,
     {{"QuantizeLinear", 1}, {"DequantizeLinear", 0}, {"MatMulIntegerToFloat", 1}, {"Add", 1}, {"Tanh", 1}},
     false},
    // Scales of each run; one quantization for two products.
    {HOLO_QUANTIZE_INT8,
     false,
     "x: f32[5,32]) -> (y, z)",
     "y = MatMul@13(x, m)\nz = Gemm@13(x, m, b) {alpha=0.5, beta=2.0}",
     2,
     {{"DynamicQuantizeLinear", 1}, {"MatMulIntegerToFloat", 2}},
     false},
    // Convolutions, too: one quantization for two of them, and their biases.
    {HOLO_QUANTIZE_INT8,
     false,
     "x: f32[1,4,12,12]) -> (y, z)",
     "y = Conv@11(x, w, c) {pads=[1,1,1,1]}\nz = Conv@11(x, w) {strides=[2,2]}",
     2,
     {{"DynamicQuantizeLinear", 1}, {"ConvIntegerToFloat", 2}, {"Conv", 0}},
     true},
    {HOLO_QUANTIZE_INT8,
     true,
     "x: f32[5,24]) -> (y)",
     "y = Gemm@13(x, m) {transB=1}",
     1,
     {{"MatMulIntegerToFloat", 1}},
     false},
    {HOLO_QUANTIZE_INT4,
     false,
     rows,
     "p = MatMul@13(x, m)\ny = Add@14(p, b)",
     1,
     {{"MatMulNBits", 1}, {"Add", 0}},
     false},
    {HOLO_QUANTIZE_W8,
     false,
     rows,
     "p = MatMul@13(x, m)\ny = Add@14(p, b)",
     1,
     {{"MatMulNBits", 1}, {"Add", 0}},
     false},
    // Tables are read in blocks.
    {HOLO_QUANTIZE_INT8, true, words, "y = Gather@13(e, x)", 1, {{"GatherBlockQuantized", 1}, {"Gather", 0}}, false},
    {HOLO_QUANTIZE_INT4, true, words, "y = Gather@13(e, x) {axis=1}", 1, {{"GatherBlockQuantized", 1}}, false},
    {HOLO_QUANTIZE_F16, false, rows, "p = MatMul@13(x, m)\ny = Add@14(p, b)", 1, {{"MatMul", 1}, {"Add", 1}}, false},
    {HOLO_QUANTIZE_BF16, false, images, "y = Conv@11(x, w, c)", 1, {{"Conv", 1}}, false},
};

static void test_rewritten(void **state)
{
    (void)state;
    for (int k = 0; k < HOLO_COUNT(cases); k++) {
        const Case      *c = &cases[k];
        Setting          s;
        HoloQuantization made;
        HoloError        why  = {0};
        char            *text = text_of(c->head, c->body);
        setting_begin(&s, c->kind, c->is_static, text);
        if (holo_quantize(s.graph, &s.options, &s.arena, &made, &why)) fail_msg("case %d: %s", k, why.text);
        if (made.report.narrow_count != c->narrow)
            fail_msg("case %d: %d layers are narrow, at an accuracy of %g", k, made.report.narrow_count,
                     made.report.accuracy);
        for (int i = 0; i < made.report.layer_count; i++) {
            const HoloLayerReport *l = &made.report.layers[i];
            if (!l->why && !(l->error > 0 && l->error < 0.2))
                fail_msg("case %d: layer %s adds %g", k, l->name, l->error);
        }
        if (!(made.report.accuracy >= 0.9)) fail_msg("case %d: accuracy %g", k, made.report.accuracy);
        if (c->planned) EXPECT_OK(holo_passes_run(made.graph, NULL, &error));
        for (int i = 0; i < HOLO_COUNT(c->nodes) && c->nodes[i].type; i++) {
            HoloText graph = {0};
            holo_graph_print(made.graph, &graph);
            if (nodes_of(made.graph, c->nodes[i].type) != c->nodes[i].count)
                fail_msg("case %d: %d of %s, not %d, in\n%s", k, nodes_of(made.graph, c->nodes[i].type),
                         c->nodes[i].type, c->nodes[i].count, graph.data);
            holo_text_deinit(&graph);
        }
        holo_text_deinit(&(HoloText){.data = text});
        holo_arena_deinit(&s.arena);
    }
}

// Of scales that are mixed, products that read 8 bits of convolutions have constant ones, and others those of each run;
// without convolutions nothing is constant.
static void test_mixed(void **state)
{
    (void)state;
    static const struct {
        const char *head, *body;
        bool        is_mixed, is_static;
        int         dynamic;
    } mixed[] = {
        {images,
         "p = Conv@11(x, w, c) {pads=[1,1,1,1], strides=[6,6]}\nq = Relu@14(p)\nf = Flatten@13(q)\nr = MatMul@13(f, m)\n"
         "y = Gemm@13(r, m) {transB=1}",
         true, true, 1},
        {images,
         "p = Conv@11(x, w, c) {pads=[1,1,1,1], strides=[6,6]}\nq = Relu@14(p)\nf = Flatten@13(q)\nr = MatMul@13(f, m)\n"
         "y = Gemm@13(r, m) {transB=1}",
         false, true, 0},
        {rows, "r = MatMul@13(x, m)\ny = Gemm@13(r, m) {transB=1}", true, false, 2},
    };
    for (int k = 0; k < HOLO_COUNT(mixed); k++) {
        Setting          s;
        HoloQuantization made;
        char            *text = text_of(mixed[k].head, mixed[k].body);
        setting_begin(&s, HOLO_QUANTIZE_INT8, true, text);
        s.options.is_mixed = mixed[k].is_mixed;
        EXPECT_OK(holo_quantize(s.graph, &s.options, &s.arena, &made, &error));
        assert_int_equal(made.report.is_static, mixed[k].is_static);
        assert_int_equal(nodes_of(made.graph, "MatMulIntegerToFloat"), 2);
        assert_int_equal(nodes_of(made.graph, "DynamicQuantizeLinear"), mixed[k].dynamic);
        holo_text_deinit(&(HoloText){.data = text});
        holo_arena_deinit(&s.arena);
    }
}

static const struct {
    HoloQuantizeKind kind;
    bool             is_static;
    const char      *head, *body, *words;
} refused[] = {
    {HOLO_QUANTIZE_INT8, false, "x: f32[1,8,12,12]) -> (y)", "y = Conv@11(x, d, c) {group=8}", "of one channel"},
    {HOLO_QUANTIZE_INT4, false, images, "y = Conv@11(x, w, c)", "no weights in blocks"},
    {HOLO_QUANTIZE_INT8, true, rows, "y = Tanh@13(x)", "no Conv, MatMul, Gemm or Gather"},
    {HOLO_QUANTIZE_INT8, true, rows, "q, s, z = DynamicQuantizeLinear@11(x)\ny = DequantizeLinear@13(q, s, z)",
     "is quantized already"},
};

static void test_refused(void **state)
{
    (void)state;
    for (int k = 0; k < HOLO_COUNT(refused); k++) {
        Setting          s;
        HoloQuantization made;
        char            *text = text_of(refused[k].head, refused[k].body);
        setting_begin(&s, refused[k].kind, refused[k].is_static, text);
        EXPECT_FAIL(holo_quantize(s.graph, &s.options, &s.arena, &made, &error), HOLO_BAD_ARGUMENT, refused[k].words);
        holo_text_deinit(&(HoloText){.data = text});
        holo_arena_deinit(&s.arena);
    }
}

// ---- accuracy

// The more is asked for, the fewer layers are what was asked for; with all of it, all stay. What is reported is true.
static void test_search(void **state)
{
    (void)state;
    static const double targets[] = {0, 0.9999, 0.99999, 1};
    char *text   = text_of(images, "p = Conv@11(x, w, c) {pads=[1,1,1,1]}\nq = Relu@14(p)\nr = Conv@11(q, v, c)\n"
                                     "s = Sigmoid@13(r)\nt = Conv@11(s, v)\nu = Relu@14(t)\ny = Conv@11(u, v)");
    int   before = 5;
    for (int k = 0; k < HOLO_COUNT(targets); k++) {
        Setting          s;
        HoloQuantization made;
        setting_begin(&s, HOLO_QUANTIZE_INT8, true, text);
        s.options.accuracy = targets[k];
        EXPECT_OK(holo_quantize(s.graph, &s.options, &s.arena, &made, &error));
        const HoloQuantizationReport *r = &made.report;
        if (!(r->accuracy >= targets[k])) fail_msg("%g was asked for, and is %g", targets[k], r->accuracy);
        int now = 0;
        for (int i = 0; i < r->layer_count; i++) {
            bool is = !strcmp(r->layers[i].type, "int8"), is_narrow = strcmp(r->layers[i].type, "f32") != 0;
            now += is;
            assert_int_equal(is, !r->layers[i].why);
            if (!is && isnan(r->layers[i].loss)) fail_msg("what layer %d loses was not measured", i);
            assert_int_equal(r->layers[i].bytes_after < r->layers[i].bytes_before, is_narrow);
        }
        if (now > before) fail_msg("%d layers at %g", now, targets[k]);
        if (k == 2) assert_true(r->narrow_count > now); // spare weights
        before = now;
        holo_arena_deinit(&s.arena);
    }
    assert_int_equal(before, 0);
    holo_text_deinit(&(HoloText){.data = text});
}

// Where int8 loses too much, weights alone are narrow: that is enough for most.
static void test_spare(void **state)
{
    (void)state;
    static const HoloQuantizeKind kinds[] = {HOLO_QUANTIZE_INT8, HOLO_QUANTIZE_INT4};
    for (int k = 0; k < HOLO_COUNT(kinds); k++) {
        Setting          s;
        HoloQuantization made;
        char            *text = text_of(rows, "y = Gemm@13(x, m, b) {alpha=0.5}");
        setting_begin(&s, kinds[k], false, text);
        s.options.accuracy = 0;
        EXPECT_OK(holo_quantize(s.graph, &s.options, &s.arena, &made, &error));
        double asked = 1 - (1 - made.report.accuracy) * 0.9; // off by less
        holo_arena_deinit(&s.arena);
        setting_begin(&s, kinds[k], false, text);
        s.options.accuracy = asked;
        EXPECT_OK(holo_quantize(s.graph, &s.options, &s.arena, &made, &error));
        assert_string_equal(made.report.layers[0].type, "w8");
        assert_string_equal(made.report.layers[0].why, "the requested accuracy needs it");
        assert_int_equal(nodes_of(made.graph, "MatMulNBits"), 1);
        if (!(made.report.accuracy >= asked)) fail_msg("accuracy %g", made.report.accuracy);
        holo_text_deinit(&(HoloText){.data = text});
        holo_arena_deinit(&s.arena);
    }
}

// Blocks: of 256 where rows are long enough, else of 32. The factor of a Gemm goes into the weights.
static void test_typed(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        HoloQuantizeKind kind = (HoloQuantizeKind)(HOLO_QUANTIZE_Q8_0 + i / 2);
        int              k    = i % 2 ? 96 : 512;
        Setting          s;
        HoloQuantization made;
        HoloText         text = {0};
        holo_text_add(
            &text, "graph g(x: f32[5,%d], w: f32[3,%d]) -> (y) {\ny = Gemm@13(x, w) {alpha=0.5, transB=1}\n}\n", k, k);
        setting_begin(&s, kind, false, text.data);
        HoloValue *w = s.graph->inputs[1]; // becomes a constant
        float     *x = w->type.data = HOLO_NEW(&s.arena, float, 3 * k);
        for (int j = 0; j < 3 * k; j++) x[j] = (float)(j * 37 % 101 - 50) / 50;
        w->is_input    = false;
        w->is_constant = true;
        s.graph->input_count--;
        EXPECT_OK(holo_quantize(s.graph, &s.options, &s.arena, &made, &error));
        assert_string_equal(made.report.layers[0].type, holo_quantize_name(kind));
        assert_int_equal(nodes_of(made.graph, "MatMulBlocks"), 1);
        assert_true(made.report.layers[0].bytes_after * 3 < made.report.layers[0].bytes_before);
        if (!(made.report.accuracy >= 0.99)) fail_msg("kind %d: accuracy %g", (int)kind, made.report.accuracy);
        holo_text_deinit(&text);
        holo_arena_deinit(&s.arena);
    }
}

// Products whose sums of integers can leave 32 bits have weights in blocks from the start; those that cannot are int8.
static void test_long(void **state)
{
    (void)state;
    for (int k = 66000; k <= 67000; k += 1000) {
        Setting          s;
        HoloQuantization made;
        HoloText         text = {0};
        holo_text_add(&text, "graph g(x: f32[1,%d], w: f32[%d,1]) -> (y) {\ny = MatMul@13(x, w)\n}\n", k, k);
        setting_begin(&s, HOLO_QUANTIZE_INT8, false, text.data);
        HoloValue *w = s.graph->inputs[1]; // becomes a constant: too long to be written
        float     *x = w->type.data = HOLO_NEW(&s.arena, float, k);
        for (int i = 0; i < k; i++) x[i] = i % 3 ? 1 : -1;
        w->is_input    = false;
        w->is_constant = true;
        s.graph->input_count--;
        EXPECT_OK(holo_quantize(s.graph, &s.options, &s.arena, &made, &error));
        assert_string_equal(made.report.layers[0].type, k == 66000 ? "int8" : "w8");
        assert_int_equal(!made.report.layers[0].why, k == 66000);
        holo_text_deinit(&text);
        holo_arena_deinit(&s.arena);
    }
}

// ---- several types

// Of patterns that fit the last counts; one that fits nothing is an error.
static void test_rules(void **state)
{
    (void)state;
    static const char body[] =
        "p = MatMul@13(x, m)\nq = Gemm@13(x, m, b)\nr = Add@14(p, q)\ny = Gemm@13(r, m) {transB=1}";
    static const HoloQuantizeRule rules[] = {
        {"Gemm", HOLO_QUANTIZE_BF16}, {"*y", HOLO_QUANTIZE_F16}, {"nothing*", HOLO_QUANTIZE_F16}};
    static const char *const types[] = {"int4", "bf16", "f16"};
    char                    *text    = text_of(rows, body);
    for (int count = 2; count <= 3; count++) {
        Setting          s;
        HoloQuantization made;
        setting_begin(&s, HOLO_QUANTIZE_INT4, false, text);
        s.options.rules      = rules;
        s.options.rule_count = count;
        s.options.accuracy   = 0;
        if (count == 3)
            EXPECT_FAIL(holo_quantize(s.graph, &s.options, &s.arena, &made, &error), HOLO_BAD_ARGUMENT,
                        "no layer fits 'nothing*'");
        else {
            EXPECT_OK(holo_quantize(s.graph, &s.options, &s.arena, &made, &error));
            assert_int_equal(made.report.layer_count, 3);
            for (int i = 0; i < 3; i++) assert_string_equal(made.report.layers[i].type, types[i]);
            assert_string_equal(made.report.kind, "int4,Gemm=bf16,*y=f16");
        }
        holo_arena_deinit(&s.arena);
    }
    holo_text_deinit(&(HoloText){.data = text});
}

// ---- a judge

typedef struct Judge {
    int    calls;
    double first;
} Judge;

// The better, the nearer the sum of squares is to what it was at first.
static HoloStatus judge(void *context, const HoloOutputs *o, double *out_score, HoloError *error)
{
    Judge *j   = context;
    double sum = 0;
    (void)error;
    assert_string_equal(o->names[0], "y");
    for (int i = 0; i < o->sample_count * o->output_count; i++)
        for (int64_t k = 0, n = holo_tensor_count(&o->tensors[i]); k < n; k++)
            sum += pow((double)((const float *)o->tensors[i].data)[k], 2);
    if (!j->calls++) j->first = sum;
    *out_score = 5 - fabs(sum / j->first - 1);
    return HOLO_OK;
}

static HoloStatus judge_nothing(void *context, const HoloOutputs *outputs, double *out_score, HoloError *error)
{
    (void)context, (void)outputs, (void)error;
    *out_score = NAN;
    return HOLO_OK;
}

static void test_judge(void **state)
{
    (void)state;
    char *text = text_of(rows, "y = MatMul@13(x, m)");
    for (int k = 0; k < 3; k++) {
        Setting          s;
        HoloQuantization made;
        Judge            who = {0};
        setting_begin(&s, HOLO_QUANTIZE_F16, false, text);
        s.options.judge         = k < 2 ? judge : judge_nothing;
        s.options.judge_context = &who;
        s.options.max_drop      = k ? 0 : 1;
        s.options.accuracy      = 1; // does not count
        if (k == 2)
            EXPECT_FAIL(holo_quantize(s.graph, &s.options, &s.arena, &made, &error), HOLO_BAD_ARGUMENT,
                        "finite number");
        else {
            EXPECT_OK(holo_quantize(s.graph, &s.options, &s.arena, &made, &error));
            assert_float_equal(made.report.score_before, 5, 0);
            assert_true(made.report.score_after >= 5 - s.options.max_drop);
            assert_int_equal(made.report.narrow_count, k == 0);
            assert_true(who.calls > 1);
        }
        holo_arena_deinit(&s.arena);
    }
    holo_text_deinit(&(HoloText){.data = text});
}

// ---- centroids

enum { MANY = 40, KINDS = 6 };

// Rows whose groups of 8 numbers are each one of a few, or where `few` is false any.
static void samples_make(Setting *s, int count, bool few)
{
    HoloRandom random = {3};
    float      kinds[4][KINDS][8];
    for (int i = 0; i < 4 * KINDS * 8; i++) ((float *)kinds)[i] = (float)holo_random_normal(&random);
    s->samples = (HoloSamples){.count = count, .inputs = HOLO_NEW(&s->arena, HoloTensor *, count)};
    for (int i = 0; i < count; i++) {
        HoloTensor *x = s->samples.inputs[i] = HOLO_NEW(&s->arena, HoloTensor, 1);
        *x      = (HoloTensor){.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 2, .dim = {5, 32}};
        x->data = HOLO_NEW(&s->arena, float, 5 * 32);
        for (int g = 0; g < 5 * 4; g++) {
            int which = (int)(holo_random_unit(&random) * KINDS);
            for (int k = 0; k < 8; k++)
                ((float *)x->data)[g * 8 + k] = few ? kinds[g % 4][which][k] : (float)holo_random_normal(&random);
        }
    }
}

static HoloStatus centroids_run(Setting *s, const char *body, int count, bool few, double accuracy, uint64_t budget,
                                HoloQuantization *out, HoloError *error)
{
    char *text = text_of(rows, body);
    setting_begin(s, HOLO_QUANTIZE_CENTROIDS, false, text);
    samples_make(s, count, few);
    s->options.centroids   = 16;
    s->options.accuracy    = accuracy;
    s->passes.table_budget = budget;
    HoloStatus status      = holo_quantize(s->graph, &s->options, &s->arena, out, error);
    holo_text_deinit(&(HoloText){.data = text});
    return status;
}

// What is exactly a few things is exactly that. What is not is off, and stays where that is too much.
static void test_centroids(void **state)
{
    (void)state;
    static const char *const bodies[] = {"p = MatMul@13(x, m)\ny = Add@14(p, b)",
                                         "y = Gemm@13(x, m, b) {alpha=0.5, beta=2.0}"};
    Setting                  s;
    HoloQuantization         made;
    for (int i = 0; i < HOLO_COUNT(bodies); i++) {
        EXPECT_OK(centroids_run(&s, bodies[i], MANY, true, 0.9999, 0, &made, &error));
        assert_int_equal(nodes_of(made.graph, "Centroids"), 1);
        assert_int_equal(made.graph->node_count, 1);
        assert_int_equal(made.report.samples, MANY / 2); // the others are what centroids are found on
        if (!(made.report.accuracy > 0.9999)) fail_msg("accuracy %g", made.report.accuracy);
        assert_string_equal(made.report.layers[0].type, "centroids");
        holo_arena_deinit(&s.arena);
    }
    EXPECT_OK(centroids_run(&s, bodies[0], MANY, false, 0, 0, &made, &error));
    if (!(made.report.layers[0].error > 0.1)) fail_msg("error %g", made.report.layers[0].error);
    holo_arena_deinit(&s.arena);
    EXPECT_OK(centroids_run(&s, bodies[0], MANY, false, 0.99, 0, &made, &error));
    assert_string_equal(made.report.layers[0].why, "the requested accuracy needs it");
    assert_int_equal(nodes_of(made.graph, "MatMul"), 1);
    holo_arena_deinit(&s.arena);
    EXPECT_FAIL(centroids_run(&s, bodies[0], MANY, true, 0.9, 1000, &made, &error), HOLO_BAD_ARGUMENT,
                "--memory-budget");
    holo_arena_deinit(&s.arena);
    EXPECT_FAIL(centroids_run(&s, bodies[0], 1, true, 0.9, 0, &made, &error), HOLO_BAD_ARGUMENT, "two or more");
    holo_arena_deinit(&s.arena);
}

// ---- choices that cannot be

static void test_choices(void **state)
{
    (void)state;
    HoloCompiler *compiler;
    HoloModel    *model;
    float         x[2 * 64] = {0};
    const char   *path      = temp_path("wrong.npy");
    HoloTensor    wrong     = {.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 2, .dim = {2, 64}, .data = x};
    EXPECT_OK(holo_compiler_create(&compiler));
    EXPECT_FAIL(holo_compiler_set_accuracy(compiler, 1.5, &error), HOLO_BAD_ARGUMENT, "from 0 to 1");
    EXPECT_FAIL(holo_compiler_set_accuracy(compiler, NAN, &error), HOLO_BAD_ARGUMENT, "from 0 to 1");
    EXPECT_FAIL(holo_compiler_set_percentile(compiler, 50, &error), HOLO_BAD_ARGUMENT, "above 50");
    EXPECT_FAIL(holo_compiler_add_quantize(compiler, "", HOLO_QUANTIZE_F16, &error), HOLO_BAD_ARGUMENT, "is empty");
    EXPECT_FAIL(holo_compiler_add_quantize(compiler, "Gemm", HOLO_QUANTIZE_CENTROIDS, &error), HOLO_BAD_ARGUMENT,
                "for all layers");
    holo_compiler_set_quantize(compiler, HOLO_QUANTIZE_INT8);
    EXPECT_OK(holo_tensor_write_npy(path, &wrong, &error));
    EXPECT_OK(holo_compiler_set_calibration(compiler, path, &error));
    EXPECT_FAIL(holo_compile_model(compiler, "demo/digits.onnx", &model, NULL, &error), HOLO_BAD_INPUT,
                "is f32[2,64], but the model needs f32[?,1,8,8]");
    EXPECT_OK(holo_compiler_set_calibration(compiler, temp_path("none.npz"), &error));
    EXPECT_FAIL(holo_compile_model(compiler, "demo/digits.onnx", &model, NULL, &error), HOLO_NO_FILE, "none.npz");
    EXPECT_OK(holo_compiler_set_calibration(compiler, NULL, &error));
    holo_compiler_set_numeric(compiler, HOLO_EXACT);
    EXPECT_FAIL(holo_compile_model(compiler, "demo/digits.onnx", &model, NULL, &error), HOLO_BAD_ARGUMENT,
                "choose class fused");
    EXPECT_FAIL(holo_compiler_set_centroids(compiler, 257, &error), HOLO_BAD_ARGUMENT, "2 to 256");
    holo_compiler_set_quantize(compiler, HOLO_QUANTIZE_CENTROIDS);
    EXPECT_FAIL(holo_compile_model(compiler, "demo/digits.onnx", &model, NULL, &error), HOLO_BAD_ARGUMENT,
                "centroids need real inputs");
    HoloBisection *bisection;
    EXPECT_FAIL(holo_bisect(compiler, "demo/digits.onnx", NULL, 0, &bisection, &error), HOLO_BAD_ARGUMENT,
                "remove the quantize options");
    holo_compiler_destroy(compiler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rewritten), cmocka_unit_test(test_mixed),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_search),    cmocka_unit_test(test_spare),   cmocka_unit_test(test_long),
        cmocka_unit_test(test_typed),     cmocka_unit_test(test_rules),   cmocka_unit_test(test_judge),
        cmocka_unit_test(test_centroids), cmocka_unit_test(test_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
