// chains_test.c - chains of pointwise operators as portable programs: every operator of every type over the numbers at
// the edges has the bits of eval; chains of several types, of all sizes and any number of threads; which chains are
// made.
#include "support/models.h"
#include "support/op_run.h"

#include "format/dtype.h"
#include "isa/isa.h"
#include "ops/hologram/chain.h"
#include "ops/hologram/formula.h"
#include "ops/hologram/user_kernel.h"
#include "passes/passes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const HoloDtype types[] = {HOLO_I8,  HOLO_I16, HOLO_I32, HOLO_I64,  HOLO_U8,  HOLO_U16, HOLO_U32,
                                  HOLO_U64, HOLO_F16, HOLO_F32, HOLO_BF16, HOLO_F64, HOLO_BOOL};

// ---- calls

static HoloTensor made_like(HoloDtype dtype, int64_t count)
{
    return (HoloTensor){.dtype = (uint8_t)dtype,
                        .rank  = 1,
                        .dim   = {count},
                        .data  = holo_arena_take(&test_arena, (size_t)count * 8 + 8)};
}

// What the program of the one operator gives.
static HoloTensor by_program(const HoloCall *call)
{
    HoloError         error = {0};
    HoloChain         chain = {.count = 1, .in_count = 0};
    HoloString        bytes, none = {"", 0};
    HoloTensor        out     = *call->out[0];
    HoloTensor       *outs[1] = {&out};
    const void       *prepared;
    const HoloTensor *in[HOLO_CHAIN_INPUTS];
    chain.part[0].call = *call;
    for (int i = 0; i < call->in_count; i++) {
        if (!call->in[i]) continue;
        chain.part[0].operand[i]   = ~chain.in_count;
        in[chain.in_count]         = call->in[i];
        chain.in[chain.in_count++] = call->in[i];
    }
    EXPECT_OK(holo_chain_program(&test_arena, &chain, &bytes, &error));
    HoloAttr attr[] = {{.name = "programs", .kind = HOLO_ATTR_STRINGS, .count = 1, .strings = &bytes},
                       {.name = "lanes", .kind = HOLO_ATTR_STRINGS, .count = 1, .strings = &none},
                       {.name = "shape", .kind = HOLO_ATTR_STRING, .count = 1, .s = {"broadcast", 9}}};
    HoloCall kernel = {.op         = holo_op_find("hologram", "Kernel", 1),
                       .node       = "test",
                       .version    = 1,
                       .in         = in,
                       .in_count   = chain.in_count,
                       .out        = outs,
                       .out_count  = 1,
                       .attr       = attr,
                       .attr_count = HOLO_COUNT(attr),
                       .host       = &test_host,
                       .error      = &error};
    EXPECT_OK(holo_op_infer(&kernel));
    assert_int_equal(out.dtype, call->out[0]->dtype);
    assert_int_equal(holo_tensor_count(&out), holo_tensor_count(call->out[0]));
    out.data = holo_arena_take(&test_arena, holo_tensor_bytes(&out) + 8);
    memset(out.data, 0x5a, holo_tensor_bytes(&out)); // all of it is written
    EXPECT_OK(kernel.op->prepare(&kernel, &prepared));
    kernel.prepared = prepared;
    EXPECT_OK(kernel.op->eval(&kernel));
    kernel.op->release(prepared);
    return out;
}

static bool same(const HoloTensor *a, const HoloTensor *b, int64_t i)
{
    size_t size = holo_dtype_size((HoloDtype)a->dtype);
    if (!memcmp((const char *)a->data + (size_t)i * size, (const char *)b->data + (size_t)i * size, size)) return true;
    if (a->dtype == HOLO_BOOL) return (holo_get_i(a, i) != 0) == (holo_get_i(b, i) != 0); // any byte but 0 is true
    return HOLO_TYPES_FLOAT >> a->dtype & 1 && isnan(holo_get_f(a, i)) && isnan(holo_get_f(b, i));
}

// ---- numbers at the edges

static const double edges[] = {
    0,       -0.0,     1,      -1,        2,         3,          -3,           7,       8,
    15,      31,       32,     63,        64,        65,         100,          126,     127,
    128,     -127,     -128,   -129,      254.5,     255,        256,          32767,   -32768,
    32768,   65535,    65536,  65504,     0.5,       -0.5,       1.5,          2.5,     -2.5,
    0.75,    INFINITY, NAN,    -INFINITY, 1e-45,     6e-8,       5e-324,       1e-40,   0x1p-126,
    0x1p31,  -0x1p31,  0x1p32, 0x1p63,    -0x1p63,   0x1p64,     3.4e38,       1.7e308, -1.7e308,
    1.0 / 3, 16777217, 1e10,   -1e10,     0x1.8p-24, 2147483647, -2147483649.0};
enum { EDGES = HOLO_COUNT(edges), SIDE = EDGES + 12, ALL = SIDE * SIDE };

static void put_any(HoloTensor *t, int64_t i, int k, HoloRandom *random)
{
    size_t   size = holo_dtype_size((HoloDtype)t->dtype);
    uint64_t bits = holo_random_next(random);
    if (t->dtype == HOLO_BOOL) bits = bits % 3 ? bits & 1 : bits; // any byte but 0 is true
    if (k >= EDGES || t->dtype == HOLO_BOOL)
        memcpy((char *)t->data + (size_t)i * size, &bits, size);
    else
        holo_put_f(t, i, edges[k]);
}

// Operand `which` of all pairs of edges.
static HoloTensor operand(HoloDtype dtype, int which)
{
    HoloRandom random = {.state = 7 + (uint64_t)which};
    HoloTensor t      = made_like(dtype, ALL);
    for (int i = 0; i < ALL; i++) put_any(&t, i, which == 0 ? i / SIDE : which == 1 ? i % SIDE : i * 7 % SIDE, &random);
    return t;
}

// Compares the operator of these inputs, where it has a program. True: it has.
static bool compare(const HoloOp *op, int in_count, const HoloTensor *const *in, int attr_count, const HoloAttr *attr)
{
    HoloError   error   = {0};
    HoloTensor  out     = {0};
    HoloTensor *outs[1] = {&out};
    HoloProgram formula;
    HoloCall    call = {.op         = op,
                        .node       = "test",
                        .version    = op->until ? op->until : 25,
                        .in         = in,
                        .in_count   = in_count,
                        .out        = outs,
                        .out_count  = 1,
                        .attr       = attr,
                        .attr_count = attr_count,
                        .host       = &test_host,
                        .error      = &error};
    if (holo_op_infer(&call) || !holo_chain_has(&call)) return false;
    bool is_rounded = out.dtype == HOLO_F32 && in[0]->dtype == HOLO_F32 && holo_formula(&call, &formula);
    out.data        = holo_arena_take(&test_arena, holo_tensor_bytes(&out) + 8);
    EXPECT_OK(op->eval(&call));
    HoloTensor got = by_program(&call);
    for (int64_t i = 0; i < holo_tensor_count(&out) && !is_rounded; i++)
        if (!same(&out, &got, i))
            fail_msg("%s of %s to %s: %.17g, %.17g is %.17g, not %.17g", op->name, holo_dtype_name(in[0]->dtype),
                     holo_dtype_name(out.dtype), holo_get_f(in[0], i), in_count > 1 ? holo_get_f(in[1], i) : 0,
                     holo_get_f(&got, i), holo_get_f(&out, i));
    return true;
}

static void test_operators(void **state)
{
    (void)state;
    int programs = 0;
    for (int d = 0; d < HOLO_COUNT(types); d++) {
        HoloTensor        x[3] = {operand(types[d], 0), operand(types[d], 1), operand(types[d], 2)};
        const HoloTensor *in[] = {&x[0], &x[1], &x[2]};
        for (int f = 0; holo_op_families[f]; f++)
            for (const HoloOp *op = holo_op_families[f]; op->name; op++) {
                if (*op->domain || op->until || !op->eval || !(op->flags & HOLO_OP_POINTWISE)) continue;
                if (op->flags & HOLO_OP_RANDOM || !strcmp(op->name, "Clip") || !strcmp(op->name, "Cast")) continue;
                HoloArenaMark mark      = holo_arena_mark(&test_arena);
                HoloAttr      ways[][1] = {{{.name = "fmod", .kind = HOLO_ATTR_INT, .count = 1, .i = 1}},
                                           {{.name = "direction", .kind = HOLO_ATTR_STRING, .count = 1, .s = {"LEFT", 4}}},
                                           {{.name = "direction", .kind = HOLO_ATTR_STRING, .count = 1, .s = {"RIGHT", 5}}}};
                for (int n = op->in_min; n <= 3 && (op->in_max < 0 || n <= op->in_max); n++) {
                    programs += compare(op, n, in, 0, NULL);
                    for (int w = 0; w < HOLO_COUNT(ways); w++) programs += compare(op, n, in, 1, ways[w]);
                }
                holo_arena_reset(&test_arena, mark);
            }
        holo_arena_deinit(&test_arena);
    }
    assert_true(programs > 300);
}

static void test_divisors(void **state)
{
    (void)state;
    static const char *const names[] = {"Div", "Mod"};
    for (int d = 0; d < 8; d++)
        for (int k = 0; k < 2; k++) { // numbers, among them 0 and -1
            for (int divisor = -1; divisor < 3; divisor++) {
                HoloTensor x = operand(types[d], 0), by = made_like(types[d], 1);
                by.rank = 0;
                holo_put_f(&by, 0, divisor);
                const HoloTensor *in[] = {&x, &by};
                const HoloOp     *op   = holo_op_find("", names[k], 14);
                if (divisor == 0) { // such an operand is a number of the program: it guards against that
                    HoloError  error = {0};
                    HoloTensor out = x, *outs[1] = {&out};
                    HoloCall   call = {.op        = op,
                                       .node      = "test",
                                       .version   = 14,
                                       .in        = in,
                                       .in_count  = 2,
                                       .out       = outs,
                                       .out_count = 1,
                                       .host      = &test_host,
                                       .error     = &error};
                    assert_true(holo_chain_has(&call));
                }
                assert_true(compare(op, 2, in, 0, NULL));
            }
            holo_arena_deinit(&test_arena);
        }
}

static void test_casts(void **state)
{
    (void)state;
    int casts = 0;
    for (int d = 0; d < HOLO_COUNT(types); d++) {
        HoloTensor        x    = operand(types[d], 0);
        const HoloTensor *in[] = {&x};
        for (int to = 0; to < HOLO_COUNT(types); to++) {
            HoloAttr attr = {.name = "to", .kind = HOLO_ATTR_INT, .count = 1, .i = types[to]};
            casts += compare(holo_op_find("", "Cast", 13), 1, in, 1, &attr);
        }
        holo_arena_deinit(&test_arena);
    }
    assert_int_equal(casts, HOLO_COUNT(types) * HOLO_COUNT(types) - 5);
}

static void test_clip_and_where(void **state)
{
    (void)state;
    for (int d = 0; d < HOLO_COUNT(types); d++) {
        HoloTensor        x[2] = {operand(types[d], 0), operand(types[d], 1)}, condition = operand(HOLO_BOOL, 2);
        const HoloTensor *chosen[] = {&condition, &x[0], &x[1]};
        assert_true(compare(holo_op_find("", "Where", 16), 3, chosen, 0, NULL));
        for (int a = 0; a < EDGES && types[d] != HOLO_BOOL; a += 3)
            for (int b = 1; b < EDGES; b += 5) {
                HoloTensor low = made_like(types[d], 1), high = made_like(types[d], 1), few = x[0];
                low.rank = high.rank = 0;
                holo_put_f(&low, 0, edges[a]);
                holo_put_f(&high, 0, edges[b]);
                few.data               = (char *)x[0].data; // each edge once
                const HoloTensor *in[] = {&few, a % 4 == 3 ? NULL : &low, b % 4 == 1 ? NULL : &high};
                assert_true(compare(holo_op_find("", "Clip", 13), 3, in, 0, NULL));
            }
        holo_arena_deinit(&test_arena);
    }
}

// ---- graphs

typedef struct Case {
    const char *text;    // with `n` for sizes that are open
    int         kernels; // nodes that there are behind the pass
} Case;

static const Case cases[] = {
    // positions and masks
    {"graph g(x: i64[n], w: i64[n]) -> (y) {\n    const one: i64[] = {1}\n    const pad: i64[] = {-1}\n"
     "    a = Add@14(x, one)\n    b = Mul@14(a, w)\n    c = Equal@13(x, pad)\n    y = Where@16(c, x, b)\n}\n",
     1},
    {"graph g(x: i64[n], w: i64[n]) -> (y) {\n    const s: i64[2] = {-1, 1}\n    const t: i64[2] = {1, -1}\n"
     "    const low: f32[] = {-10000}\n    const no: f32[] = {0}\n"
     "    r = Reshape@14(x, s)\n    q = Reshape@14(w, t)\n    a = Less@13(r, q)\n    b = Not@1(a)\n"
     "    y = Where@16(b, low, no)\n}\n",
     1},
    {"graph g(x: i64[n,5], w: i64[n]) -> (y) {\n    const s: i64[2] = {-1, 1}\n    r = Reshape@14(w, s)\n"
     "    const three: i64[] = {3}\n    const off: i64[5] = {0, 10, 20, 30, 40}\n"
     "    a = Add@14(x, off)\n    b = Sub@14(a, r)\n    c = Mod@13(b, three)\n    y = Cast@13(c) {to=6}\n}\n",
     1},
    // f64; f32 among others
    {"graph g(x: f64[n], w: f64[n]) -> (y) {\n    const half: f64[] = {0.5}\n    a = Mul@14(x, half)\n"
     "    b = Add@14(a, w)\n    c = Abs@13(b)\n    y = Sqrt@13(c)\n}\n",
     1},
    {"graph g(x: i32[n], w: f32[n]) -> (y) {\n    const scale: f32[] = {0.125}\n    a = Cast@13(x) {to=1}\n"
     "    b = Mul@14(a, scale)\n    c = Add@14(b, w)\n    d = Greater@13(c, w)\n    y = Where@16(d, c, w)\n}\n",
     1},
    {"graph g(x: u8[n], w: u8[n]) -> (y) {\n    a = BitShift@11(x, w) {direction=\"LEFT\"}\n    b = Max@13(a, w, x)\n"
     "    c = Div@14(b, w)\n    y = BitwiseXor@18(c, x)\n}\n",
     1},
    {"graph g(x: f16[n], w: f16[n]) -> (y) {\n    a = Mul@14(x, w)\n    b = Sub@14(a, x)\n    c = Neg@13(b)\n"
     "    d = Cast@13(c) {to=7}\n    y = Sign@13(d)\n}\n",
     1},
    {"graph g(x: bool[n], w: bool[n]) -> (y) {\n    a = And@7(x, w)\n    b = Not@1(a)\n    c = Or@7(b, x)\n"
     "    d = Equal@13(c, w)\n    y = Where@16(d, x, c)\n}\n",
     1},
    // logic alone is as fast node by node
    {"graph g(x: bool[n], w: bool[n]) -> (y) {\n    a = And@7(x, w)\n    b = Not@1(a)\n    c = Or@7(b, x)\n"
     "    y = Xor@7(c, x)\n}\n",
     0},
};

static HoloTensor input(HoloDtype dtype, int64_t count, uint64_t seed)
{
    HoloTensor t      = made_like(dtype, count);
    HoloRandom random = {.state = seed};
    for (int64_t i = 0; i < count; i++) put_any(&t, i, (int)(holo_random_next(&random) % (EDGES + 8)), &random);
    return t;
}

static HoloTensor evaluated(const char *text, const HoloTensor *const *in)
{
    HoloGraph *graph;
    HoloTensor y;
    EXPECT_OK(holo_graph_parse(&test_arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(holo_graph_eval(graph, in, &y, &test_arena, NULL, &error));
    return y;
}

static HoloModel *model_with(const char *text, int *out_kernels)
{
    HoloGraph      *graph;
    HoloModel      *model;
    uint32_t        fast;
    HoloPassOptions options = {.is_exact = true, .no_tables = true};
    EXPECT_OK(holo_graph_parse(&test_arena, text, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, &options, &error));
    *out_kernels = 0;
    for (int i = 0; i < graph->node_count; i++) *out_kernels += !strcmp(graph->nodes[i]->type, "Kernel");
    EXPECT_OK(model_of(graph, HOLO_EXACT, &model, &fast, &error));
    return model;
}

// With sizes as they are, and with sizes that only the run knows.
static void compare_case(const Case *c, int64_t n, int threads, bool is_open)
{
    char text[2048], *to = text, size[24];
    snprintf(size, sizeof size, "%lld", (long long)n);
    for (const char *from = c->text; *from; from++) {
        bool is_size = from[0] == 'n' && from[-1] == '[' && (from[1] == ']' || from[1] == ',');
        to += is_size && !is_open ? sprintf(to, "%s", size) : sprintf(to, "%c", *from);
    }
    HoloGraph   *graph;
    HoloSession *session;
    HoloPool    *pool = NULL;
    HoloTensor   x[2], y;
    int          kernels;
    EXPECT_OK(holo_graph_parse(&test_arena, text, &graph, &error));
    for (int i = 0; i < 2; i++) {
        const HoloTensor *type = &graph->inputs[i]->type;
        x[i]                   = input((HoloDtype)type->dtype, type->rank > 1 ? 5 * n : n, (uint64_t)(n + i));
        x[i].rank = type->rank, x[i].dim[0] = n, x[i].dim[1] = 5;
    }
    const HoloTensor *in[]  = {&x[0], &x[1]};
    HoloTensor        want  = evaluated(text, in);
    HoloModel        *model = model_with(text, &kernels);
    if (is_open || n > 256) assert_int_equal(kernels, c->kernels);
    if (threads > 1) assert_int_equal(holo_pool_create(threads, &pool), HOLO_OK);
    EXPECT_OK(holo_session_create(model, pool, &session, &error));
    for (int run = 0; run < 2; run++) {
        for (int i = 0; i < 2; i++) EXPECT_OK(holo_session_set_input(session, i, &x[i], &error));
        EXPECT_OK(holo_session_run(session, &error));
    }
    EXPECT_OK(holo_session_output(session, 0, &y, &error));
    assert_int_equal(holo_tensor_count(&y), holo_tensor_count(&want));
    for (int64_t i = 0; i < holo_tensor_count(&y); i++)
        if (!same(&y, &want, i))
            fail_msg("%s element %lld of %lld, %d threads: %.17g, not %.17g", text, (long long)i, (long long)n, threads,
                     holo_get_f(&y, i), holo_get_f(&want, i));
    holo_session_destroy(session);
    holo_pool_destroy(pool);
    holo_model_close(model);
    holo_arena_deinit(&test_arena);
}

static void test_graphs(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 15, 16, 17, 300, 1000};
    for (int k = 0; k < HOLO_COUNT(cases); k++)
        for (int s = 0; s < HOLO_COUNT(sizes); s++)
            for (int open = 0; open < 2; open++) compare_case(&cases[k], sizes[s], 1, open);
}

static void test_threads(void **state)
{
    (void)state;
    for (int k = 0; k < HOLO_COUNT(cases); k++)
        for (int threads = 1; threads <= 4; threads *= 2) compare_case(&cases[k], k == 1 ? 300 : 50001, threads, true);
}

// ---- programs of files, which may be anything

#define HEAD "program p\nin x0: i64[]\nout y: i64[]\n    special.i64 r0, global_id\n    length.i64 r1, y\n"
#define TEST "    set.lt.i64 p2, r0, r1\n    if p2\n"

static const char *const refused[] = {
    // what is written, and where
    HEAD "    set.lt.i64 p2, r0, r1\n    ld.i64 r3, x0[r0]\n    st.i64 y[r0], r3\n",
    HEAD TEST "        const.i64 r3, 0\n        st.i64 y[r3], r0\n    end\n",
    HEAD TEST "        ld.i64 r3, x0[r0]\n        exit\n        st.i64 y[r0], r3\n    end\n",
    HEAD TEST "        if p2\n            st.i64 y[r0], r0\n        end\n    end\n",
    HEAD "    set.gt.i64 p2, r0, r1\n    if p2\n        st.i64 y[r0], r0\n    end\n",
    HEAD TEST "        loop\n            breakif p2\n        end\n        st.i64 y[r0], r0\n    end\n",
    HEAD TEST "        st.i64 y[r0], r1\n    end\n    mov.i64 r0, r1\n",
    // its parameters
    "program p\nin x0: i64[]\nout y: i64[]\nvalue n: i64\n    special.i64 r0, global_id\n    param.i64 r1, n\n" TEST
    "        st.i64 y[r0], r1\n    end\n",
    "program p\nin x0: i64[]\ninout y: i64[]\n    special.i64 r0, global_id\n    length.i64 r1, y\n" TEST
    "        st.i64 y[r0], r1\n    end\n",
};

static HoloStatus run_text(const char *text, HoloTensor *out, HoloError *error)
{
    HoloTensor        x = made_like(HOLO_I64, 5), *outs[1] = {out};
    const HoloTensor *in[1] = {&x};
    HoloIsaProgram    program;
    HoloString        bytes, none = {"", 0};
    uint8_t          *data;
    EXPECT_OK(holo_isa_parse(&test_arena, text, strlen(text), &program, &error));
    EXPECT_OK(holo_isa_encode(&test_arena, &program, &data, &bytes.size, &error));
    bytes.data      = (const char *)data;
    HoloAttr attr[] = {{.name = "programs", .kind = HOLO_ATTR_STRINGS, .count = 1, .strings = &bytes},
                       {.name = "lanes", .kind = HOLO_ATTR_STRINGS, .count = 1, .strings = &none},
                       {.name = "shape", .kind = HOLO_ATTR_STRING, .count = 1, .s = {"broadcast", 9}}};
    HoloCall call   = {.op         = holo_op_find("hologram", "Kernel", 1),
                       .node       = "test",
                       .version    = 1,
                       .in         = in,
                       .in_count   = 1,
                       .out        = outs,
                       .out_count  = 1,
                       .attr       = attr,
                       .attr_count = HOLO_COUNT(attr),
                       .host       = &test_host,
                       .error      = error};
    HOLO_TRY(holo_op_infer(&call));
    out->data = holo_arena_take(&test_arena, holo_tensor_bytes(out) + 8);
    return holo_op_eval(&call);
}

static void test_refused(void **state)
{
    (void)state;
    HoloTensor out;
    for (int i = 0; i < HOLO_COUNT(refused); i++)
        EXPECT_FAIL(run_text(refused[i], &out, &error), HOLO_BAD_MODEL, "does not write an element in each lane");
    // What is wrong in a lane is told by the run.
    EXPECT_FAIL(run_text(HEAD TEST
                         "        const.i64 r3, 7\n        ld.i64 r4, x0[r3]\n        st.i64 y[r0], r4\n    end\n",
                         &out, &error),
                HOLO_BAD_INPUT, "x0[7], which has 5 elements");
    holo_arena_deinit(&test_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),      cmocka_unit_test(test_divisors), cmocka_unit_test(test_casts),
        cmocka_unit_test(test_clip_and_where), cmocka_unit_test(test_graphs),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
