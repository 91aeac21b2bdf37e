// isa_pointwise_test.c - pointwise programs of plans as portable ones: every function and random chains of them have
// the bits of the kernels of class exact; inputs that broadcast are found, also where sizes are known in the run alone.
#include "base/dim/dim.h"
#include "isa/isa_pointwise.h"
#include "kernels/kernels.h"
#include "ops/hologram/program.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1024 };

static HoloArena  arena;
static HoloRandom chance = {.state = 1};

static uint64_t below(uint64_t n)
{
    return holo_random_next(&chance) % n;
}

// ---- numbers

static const float edges[] = {0.0f,      -0.0f,      1.0f,    -1.0f,    0.5f,      -0.5f, 2.0f,   20.0f,
                              88.8f,     -88.8f,     -104,    INFINITY, -INFINITY, NAN,   1e-40f, -1e-45f,
                              0x1p-126f, -0x1p-126f, 3.4e38f, -3.4e38f, 1e20f,     2.5f,  -1.5f,  0.70710f,
                              1e-20f,    3,          -3,      4.5f,     0.95f,     0.625f};

static float number(void)
{
    if (below(8) == 0) return edges[below(HOLO_COUNT(edges))];
    if (below(8) == 0) { // any bits
        uint32_t bits = (uint32_t)holo_random_next(&chance);
        float    x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    return ((float)below(1 << 20) / (1 << 19) - 1) * (below(2) ? 3 : 30);
}

static bool same(float a, float b)
{
    return (a != a && b != b) || !memcmp(&a, &b, sizeof a);
}

static double ulps(float a, float b)
{
    if (same(a, b) || a == b) return 0;
    if (a != a || b != b || isinf(a) || isinf(b)) return INFINITY;
    float size = fmaxf(fmaxf(fabsf(a), fabsf(b)), 0x1p-126f);
    return fabs((double)a - (double)b) / (double)(nextafterf(size, INFINITY) - size);
}

// ---- running

static void run_fast(const HoloIsaProgram *program, const HoloIsaLaunch *launch, const HoloIsaArg *args)
{
    HoloError     error = {0};
    HoloIsaCode  *code;
    HoloIsaFrame *frame;
    assert_int_equal(holo_isa_code_create(program, &code, &error), HOLO_OK);
    assert_int_equal(holo_isa_frame_create(code, 1, &frame, &error), HOLO_OK);
    if (holo_isa_run(code, frame, NULL, launch, args, &error)) fail_msg("%s", error.text);
    holo_isa_frame_destroy(frame);
    holo_isa_code_destroy(code);
}

// The portable program over `in`, by the plain interpreter or the fast one.
static void run_portable(const HoloIsaPointwise *p, const HoloTensor *out, const HoloTensor *const *in, bool fast)
{
    HoloIsaProgram program;
    HoloError      error                     = {0};
    HoloIsaArg     args[HOLO_ISA_MAX_PARAMS] = {0};
    HoloIsaLaunch  launch                    = {{1, 1, 1}, {64, 1, 1}, 0};
    int64_t        count                     = holo_tensor_count(out);
    if (holo_isa_pointwise(&arena, "test", p, &program, &error)) fail_msg("%s", error.text);
    for (int i = 0; i < program.param_count; i++) {
        const char       *name = program.params[i].name;
        const HoloTensor *t    = *name == 'y' ? out : in[name[1] - '0'];
        const char       *size = strchr(name, '_');
        if (size)
            args[i].bits = (uint64_t)t->dim[atoi(size + 1)];
        else
            args[i] = (HoloIsaArg){.data = t->data, .count = holo_tensor_count(t)};
    }
    launch.grid[0] = (uint32_t)(count / 64 + 1);
    if (fast) return run_fast(&program, &launch, args);
    if (holo_isa_reference(&program, &launch, args, &error)) fail_msg("%s", error.text);
}

static HoloTensor vector(int64_t n)
{
    return (HoloTensor){.dtype = HOLO_F32, .rank = 1, .dim = {n}, .data = holo_arena_take(&arena, (size_t)n * 4 + 4)};
}

static HoloTensor filled(void)
{
    HoloTensor t = vector(N);
    for (int i = 0; i < N; i++) ((float *)t.data)[i] = number();
    return t;
}

static void portable(const HoloProgram *program, const HoloTensor *const *in, HoloTensor *out, bool fast)
{
    HoloIsaPointwise p = {.program = program, .out = out};
    assert_true(holo_program_is_valid(program, &p.inputs));
    memcpy(p.in, in, sizeof p.in);
    run_portable(&p, out, in, fast);
}

// Step by step, by the kernel of one level and class.
static void by_kernel(const HoloKernelTable *kernels, const HoloProgram *program, const HoloTensor *const *in,
                      HoloTensor *out)
{
    static float between[HOLO_MAP_STEPS][N];
    for (uint32_t i = 0; i < program->count; i++) {
        const HoloMapStep *s      = &program->step[i];
        HoloMap            map    = {.op = s->op, .n = N, .out = i + 1 == program->count ? out->data : between[i]};
        const float      **at[2]  = {&map.a, &map.b};
        bool              *one[2] = {&map.a_is_one, &map.b_is_one};
        for (int k = 0; k < 2; k++) {
            uint32_t operand = k >= holo_map_operands(s->op) ? HOLO_MAP_NUMBER : k ? s->b : s->a;
            *one[k]          = operand == HOLO_MAP_NUMBER;
            *at[k]           = *one[k]                     ? &s->number
                               : operand < HOLO_MAP_INPUTS ? (const float *)in[operand]->data
                                                           : between[operand - HOLO_MAP_INPUTS];
        }
        kernels->map_f32(&map);
    }
}

static const char *text_of(const HoloProgram *program)
{
    static HoloProgramText text;
    holo_program_print(program, &text);
    return text.text;
}

static void expect_bits(const HoloProgram *program, const HoloTensor *const *in, const char *who,
                        const HoloTensor *want, const HoloTensor *got)
{
    for (int i = 0; i < N; i++) {
        float a = ((const float *)want->data)[i], b = ((const float *)got->data)[i];
        if (!same(a, b))
            fail_msg("%s: of %a %a, %s gives %a, the portable program %a", text_of(program),
                     (double)((const float *)in[0]->data)[i], (double)((const float *)in[1]->data)[i], who, (double)a,
                     (double)b);
    }
}

// ---- functions

// Functions that class fused, and eval, may compute otherwise; all others have the same bits everywhere.
static const uint64_t approximate =
    1ull << HOLO_MAP_exp | 1ull << HOLO_MAP_sigmoid | 1ull << HOLO_MAP_tanh | 1ull << HOLO_MAP_erf |
    1ull << HOLO_MAP_log | 1ull << HOLO_MAP_softplus | 1ull << HOLO_MAP_pow | 1ull << HOLO_MAP_root |
    1ull << HOLO_MAP_sin | 1ull << HOLO_MAP_cos | 1ull << HOLO_MAP_tan | 1ull << HOLO_MAP_asin | 1ull << HOLO_MAP_acos |
    1ull << HOLO_MAP_atan | 1ull << HOLO_MAP_gelu | 1ull << HOLO_MAP_gelu_tanh;

// These may be 3 units in the last place from each other or, where sums in them cancel, of their argument.
// What is no normal number may be 0.
static bool is_near(uint32_t op, float x, float want, float got)
{
    bool cancels = op == HOLO_MAP_gelu || op == HOLO_MAP_gelu_tanh;
    if (!(approximate >> op & 1)) return same(want, got);
    if (got == 0 && fabsf(want) < 0x1p-126f) return true;
    return ulps(want, got) <= 3 || (cancels && fabsf(want - got) <= fabsf(x) * 0x1p-21f);
}

static void expect_near(const HoloProgram *program, const HoloTensor *const *in, const char *who,
                        const HoloTensor *want, const HoloTensor *got)
{
    for (int i = 0; i < N; i++) {
        float x = ((const float *)in[0]->data)[i], a = ((const float *)want->data)[i],
              b = ((const float *)got->data)[i];
        if (!is_near(program->step[0].op, x, a, b))
            fail_msg("%s: of %a %a, %s gives %a, the portable program %a", text_of(program), (double)x,
                     (double)((const float *)in[1]->data)[i], who, (double)a, (double)b);
    }
}

static void test_functions(void **state)
{
    (void)state;
    for (uint32_t op = 0; op < HOLO_MAP_OPS; op++)
        for (int form = 0; form < 12; form++) { // two inputs; a number on the right; on the left
            HoloProgram       program = {.count = 1, .step = {{.op = (uint8_t)op, .a = 0, .b = 1}}};
            HoloTensor        x = filled(), y = filled(), got = vector(N), want = vector(N);
            const HoloTensor *in[HOLO_MAP_INPUTS] = {&x, &y};
            if (form % 3 == 1) program.step[0].b = HOLO_MAP_NUMBER;
            if (form % 3 == 2) program.step[0].a = HOLO_MAP_NUMBER;
            program.step[0].number = number();
            portable(&program, in, &got, false);
            const HoloKernelTable *kernels;
            for (int i = 0; (kernels = holo_kernels_at(i)); i++) {
                by_kernel(kernels, &program, in, &want);
                (kernels->exact ? expect_bits : expect_near)(&program, in, kernels->level, &want, &got);
            }
            holo_program_eval(&program, in, &want);
            expect_near(&program, in, "eval", &want, &got);
        }
}

static HoloProgram chain(void)
{
    HoloProgram p = {.count = (uint32_t)(1 + below(HOLO_MAP_STEPS))};
    for (uint32_t i = 0; i < p.count; i++) {
        uint8_t operand[2];
        for (int k = 0; k < 2; k++) {
            uint64_t of = below(8);
            operand[k]  = (uint8_t)(of == 0        ? HOLO_MAP_NUMBER
                                    : of < 3 || !i ? below(3)
                                                   : HOLO_MAP_INPUTS + i - 1 - below(i < 3 ? i : 3));
        }
        p.step[i] = (HoloMapStep){(uint8_t)below(HOLO_MAP_OPS), operand[0], operand[1], 0, number()};
    }
    return p;
}

static void test_chains(void **state)
{
    (void)state;
    HoloTensor        x[3] = {filled(), filled(), filled()}, got = vector(N), want = vector(N);
    const HoloTensor *in[HOLO_MAP_INPUTS] = {&x[0], &x[1], &x[2]};
    for (int i = 0; i < 300; i++) {
        HoloArenaMark mark    = holo_arena_mark(&arena);
        HoloProgram   program = chain();
        by_kernel(holo_kernels(1), &program, in, &want);
        for (int fast = 0; fast < 2; fast++) {
            portable(&program, in, &got, fast);
            expect_bits(&program, in, "the kernel", &want, &got);
        }
        holo_arena_reset(&arena, mark);
    }
}

// ---- shapes

// Some sizes as the program knows them: numbers, expressions that are equal, or nothing.
static HoloTensor hidden(const HoloTensor *t, int rank, const int *how)
{
    HoloTensor seen = *t;
    for (int d = 0; d < t->rank; d++) {
        int at = rank - t->rank + d;
        if (how[at] == 1) seen.dim[d] = t->dim[d] == 1 ? HOLO_DIM_BASE + 50 + d : HOLO_DIM_BASE + at;
        if (how[at] == 2) seen.dim[d] = HOLO_DIM_UNKNOWN;
    }
    return seen;
}

static HoloTensor shaped(int rank, const int64_t *dim)
{
    HoloTensor t = {.dtype = HOLO_F32, .rank = (int8_t)rank};
    for (int d = 0; d < rank; d++) t.dim[d] = dim[d];
    int64_t count = holo_tensor_count(&t);
    t.data        = holo_arena_take(&arena, (size_t)count * 4 + 4);
    for (int64_t i = 0; i < count; i++) ((float *)t.data)[i] = (float)below(1000);
    return t;
}

static void test_shapes(void **state)
{
    (void)state;
    const HoloProgram program = {.count = 2, .step = {{HOLO_MAP_mul, 0, 1, 0, 0}, {HOLO_MAP_sub, 8, 2, 0, 0}}};
    for (int round = 0; round < 500; round++) {
        HoloArenaMark mark = holo_arena_mark(&arena);
        int           rank = (int)below(5), how[4];
        int64_t       dim[4], own[4];
        for (int d = 0; d < rank; d++) dim[d] = (int64_t)below(20) ? (int64_t)below(5) + 1 : 0, how[d] = (int)below(3);
        HoloTensor x[3], seen[3], out = shaped(rank, dim), want = shaped(rank, dim), shown = hidden(&out, rank, how);
        const HoloTensor *in[HOLO_MAP_INPUTS] = {&x[0], &x[1], &x[2]};
        bool              over                = below(4) == 0;
        HoloIsaPointwise  p = {.program = &program, .inputs = 7, .out = &shown, .in = {&seen[0], &seen[1], &seen[2]}};
        for (int k = 0; k < 3; k++) {
            int skip = k ? (int)below((uint64_t)rank + 1) : 0;
            for (int d = skip; d < rank; d++) own[d - skip] = below(3) || (!k && over) ? dim[d] : 1;
            x[k]    = shaped(rank - skip, own);
            seen[k] = hidden(&x[k], rank, how);
        }
        holo_program_eval(&program, in, &want);
        p.over_output = over;
        if (over && holo_tensor_count(&out)) memcpy(out.data, x[0].data, holo_tensor_bytes(&out));
        run_portable(&p, &out, in, round % 2);
        if (holo_tensor_count(&out)) assert_memory_equal(out.data, want.data, holo_tensor_bytes(&out));
        holo_arena_reset(&arena, mark);
    }
}

// A bias for each channel, of images in a batch of any size: the text is what people see.
static void test_text(void **state)
{
    (void)state;
    HoloProgram      program = {.count = 2, .step = {{HOLO_MAP_add, 0, 1, 0, 0}, {HOLO_MAP_at_least, 8, 255, 0, 0}}};
    HoloTensor       out     = {.dtype = HOLO_F32, .rank = 4, .dim = {HOLO_DIM_BASE, 3, 8, 8}};
    HoloTensor       bias    = {.dtype = HOLO_F32, .rank = 3, .dim = {3, 1, 1}};
    HoloIsaPointwise p = {.program = &program, .inputs = 3, .over_output = true, .out = &out, .in = {NULL, &bias}};
    HoloIsaProgram   portable_program;
    HoloError        error = {0};
    assert_int_equal(holo_isa_pointwise(&arena, "bias_relu", &p, &portable_program, &error), HOLO_OK);
    assert_string_equal(holo_isa_print(&arena, &portable_program, NULL), "program bias_relu\n"
                                                                         "in x1: f32[]\n"
                                                                         "inout y: f32[]\n"
                                                                         "    special.i64 r0, global_id\n"
                                                                         "    length.i64 r1, y\n"
                                                                         "    set.lt.i64 p2, r0, r1\n"
                                                                         "    if p2\n"
                                                                         "        ld.f32 r3, y[r0]\n"
                                                                         "        const.i64 r4, 64\n"
                                                                         "        div.i64 r5, r0, r4\n"
                                                                         "        const.i64 r6, 3\n"
                                                                         "        rem.i64 r7, r5, r6\n"
                                                                         "        ld.f32 r8, x1[r7]\n"
                                                                         "        add.f32 r9, r3, r8\n"
                                                                         "        const.f32 r10, 0\n"
                                                                         "        set.lt.f32 p11, r9, r10\n"
                                                                         "        sel.f32 r12, p11, r10, r9\n"
                                                                         "        st.f32 y[r0], r12\n"
                                                                         "    end\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_text),
    };
    int failed = cmocka_run_group_tests_name("isa_pointwise", tests, NULL, NULL);
    holo_arena_deinit(&arena);
    return failed;
}
