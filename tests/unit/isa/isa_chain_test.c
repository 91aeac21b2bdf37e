// isa_chain_test.c - long chains of instructions on floats, which the fast interpreter does in one pass: random ones,
// with registers that are used once, often and never, and written anew; against the plain interpreter, at every CPU
// level.
#include "isa/isa.h"
#include "isa/tile/isa_code.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAMS = 400, MOST = 1100, FIRST = 5, REGISTERS = 9, TEXT = 8192 };

typedef struct Text {
    char       text[TEXT];
    size_t     size;
    HoloRandom random;
} Text;

static int pick(Text *t, int count)
{
    return (int)(holo_random_next(&t->random) % (uint64_t)count);
}

static void add(Text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->text + t->size, TEXT - t->size, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < TEXT - t->size);
    t->size += (size_t)n;
}

// Registers 5 to 13: three of elements, one of the parameter, one of an element that is the same for all lanes,
// constants.
static void write_program(Text *t, int steps, bool is_guarded)
{
    static const char *const one[]       = {"abs",   "neg", "sign", "floor", "ceil",    "round", "trunc", "sqrt",
                                            "rsqrt", "rcp", "exp",  "tanh",  "sigmoid", "erf",   "log",   "log2",
                                            "log10", "sin", "cos",  "tan",   "asin",    "acos",  "atan"};
    static const char *const two[]       = {"add", "sub", "mul", "div", "min", "max", "pow"};
    static const char *const constants[] = {"0", "-0", "1.5", "6", "0x7fc00000", "0x7f800000"};
    add(t, "program chain\nin a: f32[]\nin b: f32[]\nout c: f32[]\nout d: f32[]\nvalue k: f32\nvalue n: i32\n"
           "special.i32 r0, global_id\nparam.i32 r1, n\nset.lt.i32 p2, r0, r1\nconst.i32 r3, 0\nif p2\n");
    add(t, "ld.f32 r5, a[r0]\nld.f32 r6, b[r0]\nld.f32 r7, a[r0]\nparam.f32 r8, k\nld.f32 r9, b[r3]\n");
    for (int i = FIRST + 5; i < FIRST + REGISTERS; i++)
        add(t, "const.f32 r%d, %s\n", i, constants[pick(t, HOLO_COUNT(constants))]);
    add(t, "set.lt.f32 p4, r5, r6\n%s", is_guarded ? "if p4\n" : "");
    for (int i = 0; i < steps; i++) {
        int dst = FIRST + pick(t, REGISTERS), a = FIRST + pick(t, REGISTERS), b = FIRST + pick(t, REGISTERS);
        switch (pick(t, 8)) {
        case 0:
        case 1: add(t, "%s.f32 r%d, r%d\n", one[pick(t, HOLO_COUNT(one))], dst, a); break;
        case 2:
            add(t, "%s.f32 r%d, r%d, r%d, r%d\n", pick(t, 2) ? "mad" : "fma", dst, a, b, FIRST + pick(t, REGISTERS));
            break;
        default: add(t, "%s.f32 r%d, r%d, r%d\n", two[pick(t, HOLO_COUNT(two))], dst, a, b); break;
        }
    }
    if (is_guarded) add(t, "end\n");
    add(t, "st.f32 c[r0], r%d\nst.f32 d[r0], r%d\nend\n", FIRST + pick(t, REGISTERS), FIRST + pick(t, REGISTERS));
}

static void fill(Text *t, float *x)
{
    static const float odd[] = {0, -0.0f, 1, -1, 6, 1e-40f, -1e-40f, 3e38f, 0x1p-126f, 1e20f, INFINITY, -INFINITY, NAN};
    for (int i = 0; i < MOST; i++)
        x[i] = pick(t, 4) ? (float)holo_random_normal(&t->random) * 3 : odd[pick(t, HOLO_COUNT(odd))];
}

static void check_same(const float *want, const float *got, const char *level, const char *text)
{
    for (int i = 0; i < MOST; i++)
        if (memcmp(&want[i], &got[i], sizeof *want) && !(isnan(want[i]) && isnan(got[i])))
            fail_msg("level %s, element %d: %a, not %a, of\n%s", level, i, (double)got[i], (double)want[i], text);
}

static void run_one(Text *t, int n)
{
    static float   in[2][MOST], out[4][MOST];
    HoloArena      arena = {0};
    HoloError      error = {0};
    HoloIsaProgram p;
    float          k = (float)holo_random_normal(&t->random);
    uint32_t       bits;
    memcpy(&bits, &k, sizeof bits);
    fill(t, in[0]), fill(t, in[1]);
    HoloIsaLaunch launch = {{(uint32_t)(n + 127) / 128, 1, 1}, {128, 1, 1}, 0};
    HoloIsaArg    args[] = {{in[0], MOST, 0},  {in[1], MOST, 0}, {out[0], MOST, 0},
                            {out[1], MOST, 0}, {.bits = bits},   {.bits = (uint64_t)n}};
    if (holo_isa_parse(&arena, t->text, t->size, &p, &error)) fail_msg("%s\n%s", error.text, t->text);
    memset(out, 0, sizeof out);
    assert_int_equal(holo_isa_reference(&p, &launch, args, &error), HOLO_OK);
    args[2].data = out[2], args[3].data = out[3];
    for (int i = 0; holo_tiles_at(i); i++) {
        HoloIsaCode  *code;
        HoloIsaFrame *frame;
        memset(out[2], 0, 2 * sizeof out[2]);
        assert_int_equal(holo_isa_code_create_for(&p, holo_tiles_at(i), &code, &error), HOLO_OK);
        assert_int_equal(holo_isa_frame_create(code, 1, &frame, &error), HOLO_OK);
        assert_int_equal(holo_isa_run(code, frame, NULL, &launch, args, &error), HOLO_OK);
        check_same(out[0], out[2], holo_tiles_at(i)->level, t->text);
        check_same(out[1], out[3], holo_tiles_at(i)->level, t->text);
        holo_isa_frame_destroy(frame);
        holo_isa_code_destroy(code);
    }
    holo_arena_deinit(&arena);
}

// Sums of products in a loop, with steps around them that read, write and begin them anew, write memory that factors
// came from, and leave lanes behind. r5 and r6: sums; r7: of all lanes; r8: of a row; r9: fetched; r10: counter; r11,
// r12: places.
static void write_loop(Text *t)
{
    static const char *const menu[] = {
        "ld.f32 r7, a[r10]\n",
        "ld.f32 r8, b[r11]\n",
        "ld.f32 r8, d[r0]\n",
        "ld.f32 r9, a[r12]\n",
        "mad.f32 r5, r7, r8, r5\n",
        "mad.f32 r5, r8, r7, r5\n",
        "fma.f32 r5, r8, r8, r5\n",
        "fma.f32 r6, r7, r8, r6\n",
        "mad.f32 r6, r7, r7, r6\n",
        "mad.f32 r5, r9, r7, r5\n",
        "fma.f32 r6, r8, r9, r6\n",
        "mad.f32 r5, r6, r7, r5\n",
        "st.f32 c[r0], r5\n",
        "st.f32 d[r0], r7\n",
        "const.f32 r6, 0.5\n",
        "mul.f32 r5, r5, r7\n",
        "set.lt.i32 p4, r10, r3\nnextif p4\n",
        "if p14\nmad.f32 r5, r7, r8, r5\nend\n",
        "if p15\nfma.f32 r6, r7, r8, r6\nelse\nmad.f32 r5, r8, r7, r5\nend\n",
        "breakif p16\n",
    };
    add(t, "program sums\nin a: f32[]\nin b: f32[]\nout c: f32[]\ninout d: f32[]\nvalue k: f32\nvalue n: i32\n"
           "special.i32 r0, global_id\nparam.i32 r1, n\nset.lt.i32 p2, r0, r1\nconst.i32 r3, 5\nif p2\n");
    add(t,
        "const.f32 r5, 0\nld.f32 r6, a[r0]\nparam.f32 r7, k\nld.f32 r8, b[r0]\nld.f32 r9, a[r0]\nconst.i32 r10, 0\n"
        "mov.i32 r11, r0\nmov.i32 r12, r0\nconst.i32 r13, 1\nconst.i32 r17, 60\nconst.i32 r18, 1023\n"
        "const.i32 r20, %d\n",
        3 + pick(t, 50));
    add(t,
        "set.lt.i32 p4, r10, r3\nset.lt.f32 p14, r6, r8\nset.lt.i32 p15, r0, r17\nset.lt.f32 p16, r8, r5\n"
        "loop\nset.ge.i32 p19, r10, r20\nbreakif p19\nadd.i32 r10, r10, r13\nadd.i32 r11, r0, r10\nand.i32 r11, r11, r18\n"
        "mul.i32 r12, r0, r10\nand.i32 r12, r12, r18\n");
    for (int i = 2 + pick(t, 8); i > 0; i--) add(t, "%s", menu[pick(t, HOLO_COUNT(menu))]);
    add(t, "end\nst.f32 c[r0], r5\nst.f32 d[r0], r6\nend\n");
}

static void test_sums(void **state)
{
    static const int sizes[] = {1, 16, 17, 100, 128, 300, 1000};
    (void)state;
    for (int i = 0; i < 2 * PROGRAMS; i++) {
        Text t = {.random = {(uint64_t)i + 1}};
        write_loop(&t);
        run_one(&t, sizes[i % HOLO_COUNT(sizes)]);
    }
}

static void test_chains(void **state)
{
    static const int sizes[] = {1, 3, 4, 15, 16, 17, 31, 127, 128, 129, 255, 300, 1000};
    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        Text t = {.random = {(uint64_t)i + 1}};
        write_program(&t, 1 + pick(&t, 40), i % 4 == 3);
        run_one(&t, sizes[i % HOLO_COUNT(sizes)]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains), cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
