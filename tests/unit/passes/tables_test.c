// tables_test.c - tables against what they stand for: every pointwise operator over all patterns of every 8- and 16-bit
// type, and chains of them chosen by seed. The plan with tables, the plan without, and `eval` must give the same bits.
#include "support/models.h"

#include "format/dtype.h"
#include "kernels/kernels.h"
#include "passes/passes.h"
#include "runtime/model.h"
#include "support/watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 400, CHAIN_MAX = 12, OPS_MAX = 512 };

static const HoloDtype roots[] = {HOLO_BOOL,   HOLO_U8,         HOLO_I8,     HOLO_F8E4M3FN, HOLO_F8E4M3FNUZ,
                                  HOLO_F8E5M2, HOLO_F8E5M2FNUZ, HOLO_U4,     HOLO_I4,       HOLO_U2,
                                  HOLO_I2,     HOLO_F4E2M1,     HOLO_F8E8M0, HOLO_F6E2M3,   HOLO_F6E3M2,
                                  HOLO_F16,    HOLO_BF16,       HOLO_I16,    HOLO_U16};

// ---- operators

static const HoloOp *ops[OPS_MAX]; // the newest row of each pointwise operator of the standard
static int           op_count;

static void ops_find(void)
{
    for (int f = 0; holo_op_families[f]; f++)
        for (const HoloOp *op = holo_op_families[f]; op->name; op++) {
            bool quantizes = !strcmp(op->name, "QuantizeLinear") || !strcmp(op->name, "DequantizeLinear");
            if (*op->domain || op->until || !op->eval || op_count == OPS_MAX) continue;
            if (op->flags & HOLO_OP_RANDOM || !(op->flags & HOLO_OP_POINTWISE || quantizes)) continue;
            ops[op_count++] = op;
        }
}

// ---- graphs

typedef struct Built {
    HoloArena  arena;
    HoloGraph *graph;
    HoloValue *last;
    char       names[512];
} Built;

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

// All patterns of the type, and some once more.
static void *patterns(HoloDtype dtype, int64_t *out_count)
{
    int      bits  = dtype == HOLO_BOOL ? 1 : holo_dtype_bits(dtype);
    int64_t  all   = (int64_t)1 << bits;
    int64_t  count = bits == 16 ? all + 17 : 512 + 17;
    uint8_t *bytes = calloc((size_t)count, 2);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = i % all, value = holo_dtype_class(dtype) == HOLO_CLASS_INT && at >= all / 2 ? at - all : at;
        if (bits == 16)
            ((uint16_t *)(void *)bytes)[i] = (uint16_t)value;
        else
            bytes[i] = (uint8_t)value;
    }
    *out_count = count;
    return bytes;
}

static void built_begin(Built *b, HoloDtype dtype, int64_t count)
{
    *b              = (Built){0};
    HoloDims  *dims = holo_dims_create(&b->arena);
    HoloTensor type = {.dtype = dtype, .kind = HOLO_TENSOR, .rank = 1, .dim = {count}};
    b->graph        = holo_graph_create(&b->arena, dims, "g");
    b->last         = holo_graph_input(b->graph, "x", &type);
}

static HoloValue *number(Built *b, HoloDtype dtype, double x)
{
    HoloTensor t = {.dtype = dtype, .kind = HOLO_TENSOR, .rank = 0};
    t.data       = holo_arena_take(&b->arena, 16);
    holo_put_f(&t, 0, x);
    return holo_graph_constant(b->graph, "c", &t);
}

// The second input, and in which place the value comes. NULL: the operator has one.
static HoloValue *second(Built *b, const HoloOp *op, uint64_t *seed)
{
    static const double numbers[] = {2, 3, 0.5, 1, -1, 0};
    HoloDtype           dtype     = (HoloDtype)b->last->type.dtype;
    if (!strcmp(op->name, "QuantizeLinear") || !strcmp(op->name, "DequantizeLinear"))
        return number(b, dtype == HOLO_F16 || dtype == HOLO_BF16 ? dtype : HOLO_F32, 0.125);
    if (op->in_min < 2) return NULL;
    if (!strcmp(op->name, "BitShift")) return number(b, dtype, 1);
    return number(b, dtype, numbers[random_next(seed) % (uint64_t)HOLO_COUNT(numbers)]);
}

// Adds an operator behind the last value; false: it does not take such values.
static bool built_add(Built *b, const HoloOp *op, uint64_t *seed)
{
    int       version = op->since > 13 ? op->since : 13, attrs = 0;
    HoloNode *node = holo_graph_node(b->graph, op->name, "", op->name, version > 25 ? version : 25, 0, 1, 2);
    uint64_t  pick = random_next(seed);
    node->op       = holo_op_find("", op->name, node->version);
    static const HoloDtype casts[] = {HOLO_F32, HOLO_U8, HOLO_I8, HOLO_F16, HOLO_BF16, HOLO_I32, HOLO_BOOL, HOLO_I64};
    if (!strcmp(op->name, "Cast"))
        node->attr[attrs++] =
            (HoloAttr){.name = "to", .kind = HOLO_ATTR_INT, .count = 1, .i = casts[pick % (uint64_t)HOLO_COUNT(casts)]};
    if (!strcmp(op->name, "BitShift"))
        node->attr[attrs++] = (HoloAttr){.name = "direction", .kind = HOLO_ATTR_STRING, .count = 1, .s = {"LEFT", 4}};
    if (!strcmp(op->name, "Mod"))
        node->attr[attrs++] = (HoloAttr){.name = "fmod", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    HoloValue *other = second(b, op, seed), *y = holo_graph_value(b->graph, "y");
    node->attr_count = attrs;
    node->in         = HOLO_NEW(&b->arena, HoloValue *, 3);
    node->in_count   = other ? 2 : 1;
    bool turned      = other && pick & 1 && op->flags & HOLO_OP_POINTWISE && strcmp(op->name, "BitShift");
    node->in[turned] = b->last;
    if (other) node->in[!turned] = other;
    if (!strcmp(op->name, "Where")) { // of a truth: the value itself, and two numbers
        node->in_count = 3;
        node->in[0] = b->last, node->in[1] = number(b, HOLO_F32, 1.5), node->in[2] = number(b, HOLO_F32, -2);
    }
    holo_node_set_out(node, 0, y);
    HoloError error = {0};
    if (!node->op || holo_graph_infer(b->graph, &error) || y->type.rank != 1 || y->type.dtype == HOLO_STRING ||
        y->type.dim[0] != b->graph->inputs[0]->type.dim[0]) {
        b->graph->node_count--;
        y->producer = NULL;
        holo_graph_sweep(b->graph, NULL);
        return false;
    }
    b->last   = y;
    size_t at = strlen(b->names);
    snprintf(b->names + at, sizeof b->names - at, " %s", op->name);
    return true;
}

// ---- running

static uint8_t *run_model(Built *b, HoloTensor *x, const HoloPassOptions *options, int *out_lookups)
{
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   y;
    uint32_t     kernels;
    HoloText     text = {0};
    HoloGraph   *graph;
    EXPECT_OK(holo_passes_run(b->graph, options, &error));
    holo_graph_print(b->graph, &text);
    *out_lookups = strstr(text.data, "Lookup") != NULL;
    graph        = b->graph;
    holo_text_deinit(&text);
    EXPECT_OK(model_of(graph, options->is_exact ? HOLO_EXACT : HOLO_FUSED, &model, &kernels, &error));
    if (*out_lookups && !kernels) fail_msg("%s: no kernel looks it up", b->names);
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, x, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &y, &error));
    uint8_t *bytes = malloc(holo_tensor_bytes(&y) + 1);
    memcpy(bytes, y.data, holo_tensor_bytes(&y));
    holo_session_destroy(session);
    holo_model_close(model);
    return bytes;
}

typedef bool BuildFn(Built *b, int which, uint64_t seed); // false: there is no such graph

// The graph in all ways; *out_lookups: tables were made. False: there is no such graph.
static bool compare(BuildFn *build, HoloDtype dtype, int which, uint64_t seed, bool all, bool exact, int *out_lookups)
{
    int64_t    count;
    void      *data   = patterns(dtype, &count);
    HoloTensor x      = {.dtype = dtype, .kind = HOLO_TENSOR, .rank = 1, .dim = {count}, .data = data};
    uint8_t   *got[2] = {NULL, NULL};
    Built      b;
    built_begin(&b, dtype, count);
    bool is_built = build(&b, which, seed);
    if (is_built) {
        HoloTensor        want;
        const HoloTensor *in[1] = {&x};
        holo_graph_output(b.graph, b.last);
        EXPECT_OK(holo_graph_eval(b.graph, in, &want, &b.arena, NULL, &error));
        for (int plain = 0; plain < 2; plain++) {
            int             lookups;
            HoloPassOptions options = {.is_exact = exact, .all_tables = all, .no_tables = plain};
            Built           once;
            built_begin(&once, dtype, count);
            build(&once, which, seed);
            holo_graph_output(once.graph, once.last);
            got[plain] = run_model(&once, &x, &options, &lookups);
            if (!plain) *out_lookups += lookups;
            if (plain && lookups) fail_msg("%s%s: a table that was not wanted", holo_dtype_name(dtype), b.names);
            holo_arena_deinit(&once.arena);
        }
        size_t bytes = holo_tensor_bytes(&want);
        if (memcmp(got[0], got[1], bytes)) fail_msg("%s%s: tables change bits", holo_dtype_name(dtype), b.names);
        if (all && memcmp(got[0], want.data, bytes))
            fail_msg("%s%s: other bits than eval", holo_dtype_name(dtype), b.names);
    }
    free(got[0]);
    free(got[1]);
    free(data);
    holo_arena_deinit(&b.arena);
    return is_built;
}

// ---- tests

static bool build_one(Built *b, int which, uint64_t seed)
{
    return built_add(b, ops[which], &seed);
}

static void test_operators(void **state)
{
    (void)state;
    int graphs = 0, lookups = 0;
    for (int d = 0; d < HOLO_COUNT(roots); d++)
        for (int i = 0; i < op_count; i++)
            for (uint64_t seed = 1; seed <= 2; seed++)
                graphs += compare(build_one, roots[d], i, seed * 77, true, false, &lookups);
    assert_true(graphs > 400);
    assert_int_equal(lookups, graphs);
}

static bool build_chain(Built *b, int which, uint64_t seed)
{
    (void)which;
    int want = 2 + (int)(random_next(&seed) % (CHAIN_MAX - 1)), have = 0;
    for (int tries = 0; tries < 200 && have < want; tries++)
        have += built_add(b, ops[random_next(&seed) % (uint64_t)op_count], &seed);
    return have == want;
}

static void test_chains(void **state)
{
    (void)state;
    int graphs = 0, lookups = 0, chosen = 0, step = watched_step("the chains", 5), count = CHAINS / step;
    for (int i = 0; i < CHAINS; i += step) {
        HoloDtype dtype = roots[i % HOLO_COUNT(roots)];
        graphs += compare(build_chain, dtype, 0, (uint64_t)i + 1, true, i / 2 % 2, &lookups);
        compare(build_chain, dtype, 0, (uint64_t)i + 1, false, i / 2 % 2, &chosen);
    }
    assert_true(graphs > count * 3 / 4);
    assert_true(lookups > graphs * 9 / 10); // some are folded, or are the value itself
    assert_true(chosen > graphs / 4);
}

// Bytes from bytes at every level, beside what lies around them.
static void test_bytes(void **state)
{
    (void)state;
    const HoloKernelTable *kernels;
    uint8_t                x[300], out[302], table[256];
    for (int i = 0; i < 256; i++) table[i] = (uint8_t)(i * 167 + 13);
    for (int i = 0; i < 300; i++) x[i] = (uint8_t)(i * 89 + 250);
    for (int t = 0; (kernels = holo_kernels_at(t)); t++)
        for (int n = 0; n <= 300; n++) {
            memset(out, 7, sizeof out);
            kernels->lookup_u8(n, x, table, out + 1);
            for (int i = 0; i < n; i++) assert_int_equal(out[1 + i], table[x[i]]);
            assert_int_equal(out[0], 7);
            assert_int_equal(out[1 + n], 7);
        }
}

int main(void)
{
    ops_find();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
