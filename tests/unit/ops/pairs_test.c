// pairs_test.c - operators connected two by two, chosen by seed, wherever types fit: the plan against `eval`.
//
// Each pair is a small graph from the table in support/sample_table.c, run through the real archive and runtime, with
// all passes and with none, on one thread and on two. Where no kernel is in it the bits are those of the reference. The
// first line of a failure gives the seed: `pairs_test SEED` shows that pair again, `pairs_test FROM TO` runs these.
#include "support/models.h"
#include "support/sample.h"
#include "support/watched.h"

#include "passes/passes.h"
#include "runtime/frame/frame.h"
#include "runtime/model.h"
#include "verify/products.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 4000, PAIRS_DIFFERENT = 2000, OUTPUTS_MAX = 16, TRIES = 400, FAILURES_SHOWN = 10 };

typedef struct Pair {
    HoloArena   arena;
    uint64_t    seed;
    int         first, second;
    Sample      sample;
    SampleSizes sizes;
    HoloNumeric numeric;
    char        outputs[256]; // names
    int         output_count;
    HoloText    text;
    HoloTensor  want[OUTPUTS_MAX];
    const char *stage; // what is being done, for messages
} Pair;

static HoloPool *pool; // of two threads

// ---- making a pair

static HoloStatus evaluate(Pair *p, const char *text, const HoloEvalOptions *options, HoloTensor *outputs,
                           HoloError *error)
{
    HoloGraph        *graph;
    const HoloTensor *inputs[SAMPLE_INPUTS];
    for (int i = 0; i < p->sample.input_count; i++) inputs[i] = &p->sample.inputs[i].now;
    HOLO_TRY(holo_graph_parse(&p->arena, text, &graph, error));
    HOLO_TRY(holo_graph_infer(graph, error));
    return holo_graph_eval(graph, inputs, outputs, &p->arena, options, error);
}

// The names prefix0, prefix1 ..., but for one of them (-1: all).
static void outputs_add(Pair *p, const char *prefix, int count, int but)
{
    for (int i = 0; i < count; i++) {
        size_t at = strlen(p->outputs);
        if (i != but) snprintf(p->outputs + at, sizeof p->outputs - at, "%s%s%d", *p->outputs ? ", " : "", prefix, i);
        p->output_count += i != but;
    }
}

// What the graph gives so far for the outputs of the first node.
static HoloStatus first_values(Pair *p, int count, SampleValue *out, HoloError *error)
{
    HoloTensor values[OUTPUTS_MAX];
    p->outputs[0] = '\0';
    outputs_add(p, "a", count, -1);
    sample_print(&p->sample, p->outputs, SAMPLE_NUMBERS, &p->text);
    HOLO_TRY(evaluate(p, p->text.data, NULL, values, error));
    holo_text_deinit(&p->text);
    p->text         = (HoloText){0};
    p->outputs[0]   = '\0';
    p->output_count = 0;
    for (int i = 0; i < count; i++) {
        snprintf(out[i].name, sizeof out[i].name, "a%d", i);
        out[i].now = values[i];
    }
    return HOLO_OK;
}

static bool too_large(const HoloTensor *t)
{
    return t->kind == HOLO_TENSOR && holo_tensor_count(t) > SAMPLE_ELEMENTS;
}

// Connects `second` to an output of the first node. False: none fits.
static bool connect(Pair *p, int second, const SampleValue *values, int count)
{
    uint64_t from = sample_pick(&p->sample, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        int k = (int)((from + (uint64_t)i) % (uint64_t)count), outs;
        if (too_large(&values[k].now) || !sample_node(&p->sample, second, &values[k], "b", &outs)) continue;
        outputs_add(p, "a", count, sample_pick(&p->sample, 4) ? k : -1);
        outputs_add(p, "b", outs, -1);
        p->second = second;
        sample_print(&p->sample, p->outputs, p->sizes, &p->text);
        return true;
    }
    return false;
}

static void sample_reset(Pair *p)
{
    HoloRandom random = p->sample.random;
    bool       all = p->sample.all_constant, large = p->sample.is_large;
    holo_text_deinit(&p->sample.body);
    p->sample = (Sample){.arena = &p->arena, .random = random, .all_constant = all, .is_large = large};
}

// A first operator that is given, and any second one that fits.
static HoloStatus make_forward(Pair *p, HoloError *error)
{
    SampleValue x, values[OUTPUTS_MAX];
    int         count;
    if (!sample_start(&p->sample, p->first, &x) || !sample_node(&p->sample, p->first, &x, "a", &count)) return HOLO_OK;
    HOLO_TRY(first_values(p, count, values, error));
    uint64_t from = sample_pick(&p->sample, (uint64_t)sample_count());
    for (int i = 0; i < sample_count() && p->second < 0; i++)
        connect(p, (int)((from + (uint64_t)i) % (uint64_t)sample_count()), values, count);
    return HOLO_OK;
}

// A second operator that is given, behind any that keeps a value as it needs it.
static HoloStatus make_backward(Pair *p, HoloError *error)
{
    int      given = p->first;
    uint64_t from  = sample_pick(&p->sample, (uint64_t)sample_count());
    for (int i = 0; i < TRIES && p->second < 0; i++) {
        SampleValue x, values[OUTPUTS_MAX];
        int         count;
        sample_reset(p);
        p->first = (int)((from + (uint64_t)i) % (uint64_t)sample_count());
        if (!sample_start(&p->sample, given, &x)) return HOLO_OK;
        if (!sample_node(&p->sample, p->first, &x, "a", &count)) continue;
        HOLO_TRY(first_values(p, count, values, error));
        connect(p, given, values, count);
    }
    return HOLO_OK;
}

// p->second is -1 where no operator fits.
static HoloStatus make(Pair *p, uint64_t seed, HoloError *error)
{
    *p = (Pair){.seed = seed, .first = (int)(seed / 2 % (uint64_t)sample_count()), .second = -1, .stage = "making it"};
    p->sample              = (Sample){.arena = &p->arena, .random = {seed * UINT64_C(0x9E3779B97F4A7C15)}};
    p->sizes               = (SampleSizes)(sample_pick(&p->sample, 5) % 3);
    p->numeric             = sample_pick(&p->sample, 4) ? HOLO_FUSED : HOLO_EXACT;
    p->sample.all_constant = sample_pick(&p->sample, 10) == 0;
    p->sample.is_large     = sample_pick(&p->sample, 20) == 0;
    return seed % 2 ? make_backward(p, error) : make_forward(p, error);
}

static void pair_deinit(Pair *p)
{
    holo_text_deinit(&p->sample.body);
    holo_text_deinit(&p->text);
    holo_arena_deinit(&p->arena);
}

// ---- compiling

// Is there a node that several were fused into? Programs are computed in f32, also where no kernel runs them.
static bool has_program(const HoloGraph *graph)
{
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < graph->nodes[i]->attr_count; k++)
            if (!strncmp(graph->nodes[i]->attr[k].name, "program", 7)) return true; // and programs
    return false;
}

static HoloStatus compile(Pair *p, bool with_passes, HoloModel **out, uint32_t *out_kernels, HoloError *error)
{
    const char     *disabled[64];
    HoloPassOptions options = {.disabled = disabled, .is_exact = true}; // all roundings stay, for comparing
    options.all_chains      = p->seed % 2;
    HoloGraph *graph;
    for (int i = 0; holo_passes[i].name && !with_passes; i++)
        if (strcmp(holo_passes[i].name, "decompose")) disabled[options.disabled_count++] = holo_passes[i].name;
    HOLO_TRY(holo_graph_parse(&p->arena, p->text.data, &graph, error));
    HOLO_TRY(holo_passes_run(graph, &options, error));
    HOLO_TRY(model_of(graph, p->numeric, out, out_kernels, error));
    *out_kernels += has_program(graph);
    return HOLO_OK;
}

// ---- comparing

// How far two answers may be apart: by how much of the largest, and where an infinity may come as NaN.
typedef struct Room {
    double tolerance;
    bool   reaches; // a filter that is filled up with zeros makes NaN of an infinity beside it: docs/inside/numbers.md
} Room;

// Does an infinity reach an element of the same image that is near element i?
static bool is_reached(const HoloTensor *t, int64_t i)
{
    enum { REACH = 3 }; // as far as the filters of the table
    int64_t count = holo_tensor_count(t), image = t->rank > 2 ? holo_product(t->rank - 2, t->dim + 2) : 0;
    for (int64_t k = 0; image && k < count; k++) {
        bool    is_near = k / image == i / image;
        int64_t a = i, b = k;
        for (int d = t->rank - 1; d > 1; d--) {
            is_near = is_near && llabs(a % t->dim[d] - b % t->dim[d]) <= REACH;
            a /= t->dim[d];
            b /= t->dim[d];
        }
        if (is_near && !isfinite(holo_get_f(t, k))) return true;
    }
    return false;
}

// Where kernels compute, a number may be off by a little, and a narrow one may be rounded the other way.
static bool elements_same(const HoloTensor *want, const HoloTensor *got, Room allowed)
{
    double  tolerance = allowed.tolerance;
    int64_t count     = holo_tensor_count(want);
    double  top = 0, step = want->dtype == HOLO_F16 ? 0x1p-10 : want->dtype == HOLO_BF16 ? 0x1p-7 : 0;
    if (want->dtype == HOLO_STRING) {
        const HoloString *a = want->data, *b = got->data;
        for (int64_t i = 0; i < count; i++)
            if (!holo_string_equal(a[i], b[i])) return false;
        return true;
    }
    if (!count || !memcmp(want->data, got->data, holo_tensor_bytes(want))) return true;
    HoloTensor a = *want, b = *got;
    if (holo_dtype_class((HoloDtype)want->dtype) == HOLO_CLASS_COMPLEX) { // as twice as many floats
        a.dtype = b.dtype = want->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        count *= 2;
    } else if (holo_dtype_class((HoloDtype)want->dtype) != HOLO_CLASS_FLOAT)
        return false;
    for (int64_t i = 0; i < count; i++) {
        double x = fabs(holo_get_f(&a, i));
        if (isfinite(x) && x > top) top = x;
    }
    for (int64_t i = 0; i < count; i++) {
        double x = holo_get_f(&a, i), y = holo_get_f(&b, i);
        bool   same = x == y ? signbit(x) == signbit(y) || tolerance > 0 : isnan(x) && isnan(y);
        double room = tolerance > 0 ? tolerance * (1 + top) + step * fabs(x) : 0;
        same        = same || (allowed.reaches && isnan(y) && is_reached(want, i));
        if (!same && !(fabs(x - y) <= room)) return false;
    }
    return true;
}

static bool same(const HoloTensor *want, const HoloTensor *got, Room room)
{
    if (want->dtype != got->dtype || want->kind != got->kind || want->rank != got->rank) return false;
    for (int d = 0; d < want->rank; d++)
        if (want->dim[d] != got->dim[d]) return false;
    if (want->kind == HOLO_TENSOR) return elements_same(want, got, room);
    int64_t           count = want->kind == HOLO_MAP ? 2 : want->dim[0];
    const HoloTensor *a = want->data, *b = got->data;
    for (int64_t i = 0; i < count; i++)
        if (!same(&a[i], &b[i], room)) return false;
    return true;
}

static void show(const char *what, const HoloTensor *t)
{
    if (t->kind != HOLO_TENSOR) {
        print_error("  %s: a value of kind %d with %lld elements\n", what, t->kind, (long long)t->dim[0]);
        const HoloTensor *parts = t->data;
        for (int i = 0; i < t->dim[0] && t->kind != HOLO_MAP; i++) show("element", &parts[i]);
        return;
    }
    print_error("  %s: %s[", what, holo_dtype_name((HoloDtype)t->dtype));
    for (int d = 0; d < t->rank; d++) print_error("%s%lld", d ? "," : "", (long long)t->dim[d]);
    print_error("]");
    for (int64_t i = 0; i < holo_tensor_count(t) && i < 40; i++)
        if (t->dtype == HOLO_STRING)
            print_error(" \"%.*s\"", (int)((HoloString *)t->data)[i].size, ((HoloString *)t->data)[i].data);
        else
            print_error(" %.9g", holo_get_f(t, i));
    print_error("\n");
}

// ---- what blows roundings up

// The second operator may do so without bound: 1/x near 0, tan, or x == 0. So where an output differs, the second operator
// is asked what it gives for numbers that are as far off as those of the first one may be, and for 0 where that is near.
typedef struct Nudge {
    HoloRandom random;
    double     tolerance;
    bool       to_zero;
} Nudge;

static void nudge(void *context, const HoloNode *node, const HoloCall *call)
{
    Nudge *n = context;
    for (int i = 0; i < call->out_count; i++) {
        HoloTensor *t   = call->out[i];
        double      top = 0;
        if (!t || t->kind != HOLO_TENSOR || *node->out[i]->name != 'a') continue;
        if (holo_dtype_class((HoloDtype)t->dtype) != HOLO_CLASS_FLOAT) continue;
        for (int64_t k = 0; k < holo_tensor_count(t); k++)
            if (isfinite(holo_get_f(t, k))) top = fmax(top, fabs(holo_get_f(t, k)));
        for (int64_t k = 0; k < holo_tensor_count(t); k++) {
            double x = holo_get_f(t, k), by = n->tolerance * (1 + top);
            double off = by * ((double)(holo_random_next(&n->random) >> 11) * 0x1p-52 - 1);
            if (n->to_zero && fabs(x) <= by) holo_put_f(t, k, 0);
            if (!n->to_zero && isfinite(x)) holo_put_f(t, k, x + off);
        }
    }
}

// Is the output of the second node?
static bool is_second(const Pair *p, int output)
{
    const char *name = p->outputs;
    for (; output > 0 && name; output--) name = strchr(name, ',') ? strchr(name, ',') + 2 : NULL;
    return name && *name == 'b';
}

// Does each element lie among what the second operator gives for such numbers?
static bool is_blown_up(Pair *p, int output, const HoloTensor *got, Room room)
{
    enum { DRAWS = 16 };
    const HoloTensor *want = &p->want[output];
    HoloTensor        drawn[DRAWS];
    if (!(room.tolerance > 0) || !is_second(p, output) || want->kind != HOLO_TENSOR || want->dtype == HOLO_STRING ||
        holo_dtype_class((HoloDtype)want->dtype) == HOLO_CLASS_COMPLEX || !holo_types_equal(want, got))
        return false;
    for (int d = 0; d < DRAWS; d++) {
        HoloTensor      all[OUTPUTS_MAX];
        HoloError       ignored = {0};
        Nudge           n       = {{p->seed + (uint64_t)d}, room.tolerance, d == 0};
        HoloEvalOptions eval    = {.after = nudge, .context = &n};
        if (evaluate(p, p->text.data, &eval, all, &ignored) || !holo_types_equal(want, &all[output])) return false;
        drawn[d] = all[output];
    }
    for (int64_t k = 0; k < holo_tensor_count(want); k++) {
        double x = holo_get_f(want, k), y = holo_get_f(got, k), low = x, high = x;
        bool   is_finite = isfinite(x);
        for (int d = 0; d < DRAWS; d++) {
            double z  = holo_get_f(&drawn[d], k);
            is_finite = is_finite && isfinite(z);
            low       = fmin(low, z);
            high      = fmax(high, z);
        }
        double off = high - low + room.tolerance * (1 + fabs(x));
        if (x != y && !(isnan(x) && isnan(y)) && is_finite && !(y >= low - off && y <= high + off)) return false;
    }
    return true;
}

// ---- running

static HoloStatus run_session(Pair *p, HoloSession *session, double tolerance, HoloError *error)
{
    Room room = {tolerance, tolerance > 0 && strstr(p->text.data, "ConvTranspose@")};
    for (int i = 0; i < p->sample.input_count; i++)
        HOLO_TRY(holo_session_set_input(session, i, &p->sample.inputs[i].now, error));
    for (int run = 0; run < 2; run++) { // the second on memory that is no longer new
        HOLO_TRY(holo_session_run(session, error));
        for (int i = 0; i < p->output_count; i++) {
            HoloTensor got;
            HOLO_TRY(holo_session_output(session, i, &got, error));
            if (same(&p->want[i], &got, room) || is_blown_up(p, i, &got, room)) continue;
            show("expected", &p->want[i]);
            show("got", &got);
            return holo_fail(error, HOLO_VERIFY, "output %d differs in run %d", i, run);
        }
    }
    return HOLO_OK;
}

static HoloStatus run_model(Pair *p, const HoloModel *model, double tolerance, HoloError *error)
{
    for (int threads = 1; threads <= 2; threads++) {
        HoloSession *session;
        HOLO_TRY(holo_session_create(model, threads == 1 ? NULL : pool, &session, error));
        HoloStatus status = run_session(p, session, tolerance, error);
        holo_session_destroy(session);
        HOLO_TRY(status);
    }
    return HOLO_OK;
}

// The reference: kernels where the plan may have them, each judged by plain evaluation of the same inputs, so that a
// rounding operator behind one cannot blow small differences up.
static HoloStatus reference(Pair *p, const HoloModel *model, bool with_kernels, HoloError *error)
{
    HoloVerifyOptions options = {.relative = 1e-4, .absolute = 5e-5};
    HoloVerifyResult  result  = {0};
    HoloProducts      products;
    HoloLowered       none = {0};
    holo_products_init(&products, NULL, &none, model->kernels, &options, &result);
    products.host.workers  = 1;
    HoloEvalOptions eval   = {.instead = holo_products_options(&products).instead, .context = &products};
    HoloStatus      status = evaluate(p, p->text.data, with_kernels ? &eval : NULL, p->want, error);
    holo_products_deinit(&products);
    return status;
}

static HoloStatus check(Pair *p, HoloError *error)
{
    for (int with_passes = 1; with_passes >= 0; with_passes--) {
        HoloModel *model;
        uint32_t   kernels;
        p->stage = with_passes ? "with all passes" : "without passes";
        HOLO_TRY(compile(p, with_passes, &model, &kernels, error));
        HoloStatus status = reference(p, model, kernels > 0, error);
        if (!status) status = run_model(p, model, kernels ? 2e-5 : 0, error);
        holo_model_close(model);
        HOLO_TRY(status);
    }
    return HOLO_OK;
}

// ---- the suite

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// Makes and checks the pair of a seed. *out_pair: which one it is; -1: none fits.
static bool pair_passes(uint64_t seed, bool verbose, int *out_pair)
{
    Pair       p;
    HoloError  error  = {0};
    HoloStatus status = make(&p, seed, &error);
    *out_pair         = p.second < 0 ? -1 : p.first * sample_count() + p.second;
    if (!status && p.second >= 0) status = check(&p, &error);
    if (status)
        print_error("pair of seed %llu, %s: %s: %s\n", (unsigned long long)seed, p.stage, holo_status_text(status),
                    error.text);
    if ((status || verbose) && p.text.data) fprintf(stderr, "%s\n", p.text.data); // print_error would cut it
    pair_deinit(&p);
    return !status;
}

static void test_pairs(void **state)
{
    (void)state;
    static int pairs[PAIRS];
    int        count = 0, different = 0, failed = 0, step = watched_step("the pairs", 4);
    for (uint64_t seed = 1; count < PAIRS / step && seed < 4 * PAIRS && failed < FAILURES_SHOWN; seed++) {
        failed += !pair_passes(seed, false, &pairs[count]);
        count += pairs[count] >= 0;
    }
    qsort(pairs, (size_t)count, sizeof *pairs, by_number);
    for (int i = 0; i < count; i++) different += !i || pairs[i] != pairs[i - 1];
    print_message("%d pairs, %d of them different, of %d operators\n", count, different, sample_count());
    assert_int_equal(failed, 0);
    assert_true(different >= PAIRS_DIFFERENT / step);
}

// ---- the table

// Operators that are in no pair, and why not.
static const struct {
    const char *op, *why;
} left_out[] = {
    {"Constant", "takes no value"},
    {"RandomNormal", "takes no value"},
    {"RandomUniform", "takes no value"},
    {"SequenceEmpty", "takes no value"},
    {"CastMap", "takes a map, which is what no operator but an element of a sequence is"},
    {"DictVectorizer", "takes a map"},
    {"ImageDecoder", "takes the bytes of an image"},
    {"Gradient", "is refused"},
    {"Enumerated", "is made with its table"},
    {"HotRows", "is made with its table"},
    {"Lookup", "is made with its table"},
    {"LookupPair", "is made with its table"},
    {"Agreed", "fails where its inputs differ, as those of a sample do"},
    {"Centroids", "is made with its table, and the last bit of what it takes decides which centroid is the nearest"},
    {"GemmaRotaryEmbedding", "the last bit of its angles decides how their sines are rounded to f16"},
    {"Kernel", "is made with its program"},
    {"SVMVotes", "is the end of an SVMClassifier, which is in pairs"},
    {"Plain", "is made of another operator"},
    {"DecodeBlocks", "takes bytes that are blocks of a type; tests/ops/blocks.txt has them"},
    {"MatMulBlocks", "takes bytes that are blocks of a type; tests/ops/blocks.txt has them"},
    {"HashProjection", "the last bit of what it takes decides a bit of its result"},
    {"RandomBits", "takes the state of a generator, of two or three words"},
    {"SkipGrams", "takes one text; tests/ops/text.txt has them"},
    {"SoftSuppression", "the last bit of an overlap decides which box is next"},
    {"TakeRows", "is made by a pass, of the weights of a product; tests/ops/blocks.txt has it"},
    {"Transfer", "is put in behind the passes, where a value goes to another target"},
    {"WhisperBeamSearch", "takes features of speech; BeamSearch is the same of tokens"},
};

static bool in_table(const HoloOpInfo *op)
{
    char name[128];
    int  size = snprintf(name, sizeof name, "%s%s%s@", op->domain, *op->domain ? "::" : "", op->name);
    for (int i = 0; i < sample_count(); i++)
        if (!strncmp(sample_name(i), name, (size_t)size)) return true;
    return false;
}

static bool is_left_out(const HoloOpInfo *op)
{
    for (int i = 0; i < HOLO_COUNT(left_out); i++)
        if (!strcmp(left_out[i].op, op->name)) return true;
    return false;
}

// Every operator is in the table or on the list of those that are not.
static void test_table(void **state)
{
    (void)state;
    int        missing = 0;
    HoloOpInfo op;
    for (int i = 0; holo_op_info(i, &op); i++) {
        if (in_table(&op) != is_left_out(&op)) continue;
        print_error("%s %s: is neither in support/sample_table.c nor left out\n", op.domain, op.name);
        missing++;
    }
    assert_int_equal(missing, 0);
}

int main(int argc, char **argv)
{
    int                     pair;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_pairs)};
    if (holo_pool_create(2, &pool)) return 1;
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, last = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    int      failed = argc > 1 ? 0 : cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
    for (; argc > 1 && seed <= last; seed++) failed += !pair_passes(seed, argc == 2, &pair);
    holo_pool_destroy(pool);
    return failed != 0;
}
