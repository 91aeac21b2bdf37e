// isa_test.c - programs: built, checked, printed, read, stored, and run plainly.
#include "hologram_atlas.h"
#include "isa/isa.h"
#include "isa/isa_number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// y = x * factor + y for i < n
static void build_scale_add(HoloIsaBuilder *b, HoloArena *arena)
{
    holo_isa_begin(b, arena, "scale_add");
    int x = holo_isa_param(b, "x", HOLO_F32, HOLO_ISA_IN), y = holo_isa_param(b, "y", HOLO_F32, HOLO_ISA_INOUT);
    int factor = holo_isa_param(b, "factor", HOLO_F32, HOLO_ISA_VALUE);
    int n      = holo_isa_param(b, "n", HOLO_I64, HOLO_ISA_VALUE);
    int i      = holo_isa_special(b, HOLO_I64, HOLO_ISA_SPECIAL_GLOBAL_ID);
    holo_isa_control(b, HOLO_ISA_IF, holo_isa_compare(b, HOLO_ISA_COND_LT, HOLO_I64, i, holo_isa_get_param(b, n)));
    int f = holo_isa_get_param(b, factor), a = holo_isa_load(b, HOLO_ISA_LD, x, i),
        c = holo_isa_load(b, HOLO_ISA_LD, y, i);
    holo_isa_store(b, HOLO_ISA_ST, y, i, holo_isa_value(b, HOLO_ISA_MAD, HOLO_F32, a, f, c));
    holo_isa_control(b, HOLO_ISA_END, 0);
}

static void test_built_program_prints(void **state)
{
    (void)state;
    HoloArena      arena = {0};
    HoloIsaBuilder b;
    HoloIsaProgram p;
    HoloError      error = {0};
    build_scale_add(&b, &arena);
    assert_int_equal(holo_isa_finish(&b, &p, &error), HOLO_OK);
    size_t size;
    char  *text = holo_isa_print(&arena, &p, &size);
    assert_string_equal(text, "program scale_add\n"
                              "in x: f32[]\n"
                              "inout y: f32[]\n"
                              "value factor: f32\n"
                              "value n: i64\n"
                              "    special.i64 r0, global_id\n"
                              "    param.i64 r1, n\n"
                              "    set.lt.i64 p2, r0, r1\n"
                              "    if p2\n"
                              "        param.f32 r3, factor\n"
                              "        ld.f32 r4, x[r0]\n"
                              "        ld.f32 r5, y[r0]\n"
                              "        mad.f32 r6, r4, r3, r5\n"
                              "        st.f32 y[r0], r6\n"
                              "    end\n");
    assert_int_equal(size, strlen(text));
    assert_false(holo_isa_is_cooperative(&p));
    holo_arena_deinit(&arena);
}

static void test_builder_keeps_the_first_mistake(void **state)
{
    (void)state;
    HoloArena      arena = {0};
    HoloIsaBuilder b;
    HoloIsaProgram p;
    HoloError      error = {0};
    build_scale_add(&b, &arena);
    holo_isa_param(&b, "9th", HOLO_F32, HOLO_ISA_IN);
    holo_isa_load(&b, HOLO_ISA_LDS, 3, 0);
    assert_int_equal(holo_isa_finish(&b, &p, &error), HOLO_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "a name is not made of"));
    holo_arena_deinit(&arena);
}

static void test_constants_convert(void **state)
{
    (void)state;
    static const struct {
        HoloDtype type;
        double    from;
        uint64_t  bits;
    } rows[] = {
        {HOLO_F32, 1.5, 0x3fc00000},
        {HOLO_F16, 1.5, 0x3e00},
        {HOLO_BF16, 1.5, 0x3fc0},
        {HOLO_F16, 1e6, 0x7c00},
        {HOLO_I8, -3.9, 0xfd},
        {HOLO_I8, -1000, 0x80},
        {HOLO_U8, -3, 0},
        {HOLO_U8, 300, 0xff},
        {HOLO_I64, 1e30, INT64_MAX},
        {HOLO_U64, 1e30, UINT64_MAX},
        {HOLO_I32, -0x1p31, 0x80000000u},
        {HOLO_BOOL, 0.25, 1},
        {HOLO_I64, -1e30, 1ull << 63},
        {HOLO_U64, 0x1p63, 1ull << 63},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        assert_int_equal(holo_isa_bits_of_float(rows[i].type, rows[i].from), rows[i].bits);
    assert_int_equal(holo_isa_bits_of_float(HOLO_I32, 0.0 / 0.0), 0);
    assert_int_equal(holo_isa_bits_of_int(HOLO_I8, 200), 200); // wraps to -56
    assert_int_equal(holo_isa_bits_of_int(HOLO_U16, -1), 0xffff);
    assert_int_equal(holo_isa_bits_of_int(HOLO_F32, 16777217), 0x4b800000);
    // Halfway between two numbers of bf16, and one more: no second rounding may undo that.
    assert_int_equal(holo_isa_bits_of_int(HOLO_BF16, (INT64_C(0x101) << 54) + 1), 0x5e81);
    assert_int_equal(holo_isa_bits_of_int(HOLO_BF16, INT64_C(0x101) << 54), 0x5e80);
}

// ---- text and bytes

// Everything that a program can hold.
static const char everything[] = "program everything\n"
                                 "in a: f32[]\n"
                                 "inout b: u32[]\n"
                                 "out c: bool[]\n"
                                 "value n: i8\n"
                                 "shared s: i64[7]\n"
                                 "local l: bf16[3]\n"
                                 "register r2: u64\n"
                                 "    const.i64 r0, -9223372036854775808\n"
                                 "    const.f32 r1, 0.100000001\n"
                                 "    const.f32 r3, 0x7fc00001\n"
                                 "    const.f64 r4, 1.0000000000000002e-300\n"
                                 "    const.bool p5, 1\n"
                                 "    param.i8 r6, n\n"
                                 "    special.u32 r7, lane_x\n"
                                 "    length.u32 r8, a\n"
                                 "    cvt.f64.i64 r9, r0\n"
                                 "    bitcast.u32.f32 r10, r1\n"
                                 "    set.ge.f32 p11, r1, r3\n"
                                 "    sel.bool p12, p5, p11, p5\n"
                                 "    reduce.max.f32 r13, r1\n"
                                 "    scan.add.u32 r14, r7\n"
                                 "    barrier\n"
                                 "    atom.xchg.u32 r15, b[r7], r7\n"
                                 "    cas.u32 r15, b[r7], r7, r14\n"
                                 "    cass.i64 r16, s[r7], r0, r0\n"
                                 "    if p12\n"
                                 "        loop\n"
                                 "            nextif p5\n"
                                 "            breakif p12\n"
                                 "            if p11\n"
                                 "                break\n"
                                 "            else\n"
                                 "                next\n"
                                 "            end\n"
                                 "        end\n"
                                 "    else\n"
                                 "        exit\n"
                                 "    end\n"
                                 "    const.bf16 r17, -0\n"
                                 "    stl.bf16 l[r7], r17\n"
                                 "    ldl.bf16 r18, l[r8]\n"
                                 "    st.bool c[r7], p12\n"
                                 "    fma.bf16 r18, r18, r17, r18\n"
                                 "    bound.u32 r19, r7, r7, r7\n";

static void test_text_and_bytes_give_the_program_back(void **state)
{
    (void)state;
    HoloArena      arena = {0};
    HoloIsaProgram p, q;
    HoloError      error = {0};
    size_t         size, again;
    uint8_t       *bytes, *more;
    assert_int_equal(holo_isa_parse(&arena, everything, strlen(everything), &p, &error), HOLO_OK);
    assert_string_equal(holo_isa_print(&arena, &p, NULL), everything);
    assert_true(holo_isa_is_cooperative(&p));
    assert_int_equal(holo_isa_encode(&arena, &p, &bytes, &size, &error), HOLO_OK);
    assert_int_equal(holo_isa_decode(&arena, bytes, size, &q, &error), HOLO_OK);
    assert_string_equal(holo_isa_print(&arena, &q, NULL), everything);
    assert_int_equal(holo_isa_encode(&arena, &q, &more, &again, &error), HOLO_OK);
    assert_int_equal(again, size);
    assert_memory_equal(bytes, more, size);
    holo_arena_deinit(&arena);
}

static void test_broken_bytes_are_refused(void **state)
{
    (void)state;
    HoloArena      arena = {0};
    HoloIsaProgram p;
    HoloError      error = {0};
    size_t         size;
    uint8_t       *bytes;
    assert_int_equal(holo_isa_parse(&arena, everything, strlen(everything), &p, &error), HOLO_OK);
    assert_int_equal(holo_isa_encode(&arena, &p, &bytes, &size, &error), HOLO_OK);
    uint8_t *copy = holo_arena_take(&arena, size + 1);
    for (size_t n = 0; n < size; n++) assert_int_not_equal(holo_isa_decode(&arena, bytes, n, &p, NULL), HOLO_OK);
    memcpy(copy, bytes, size);
    assert_int_not_equal(holo_isa_decode(&arena, copy, size + 1, &p, NULL), HOLO_OK);
    for (size_t i = 0; i < size; i++) // whatever is accepted can be printed and read again
        for (int bit = 0; bit < 8; bit++) {
            memcpy(copy, bytes, size);
            copy[i] ^= (uint8_t)(1 << bit);
            if (holo_isa_decode(&arena, copy, size, &p, NULL)) continue;
            size_t      length;
            const char *text = holo_isa_print(&arena, &p, &length);
            assert_int_equal(holo_isa_parse(&arena, text, length, &p, NULL), HOLO_OK);
            assert_string_equal(holo_isa_print(&arena, &p, NULL), text);
        }
    copy[4] = 2, error.status = HOLO_OK;
    memcpy(copy, bytes, 4);
    assert_int_equal(holo_isa_decode(&arena, copy, size, &p, &error), HOLO_UNSUPPORTED);
    holo_arena_deinit(&arena);
}

// What is wrong with a program, by the words of the message.
static const struct {
    const char *text, *why;
} refused[] = {
    {"", "line 1: the first line must be: program"},
    {"vector_add\n", "the first line must be: program"},
    {"program a b\n", "does not belong on this line"},
    {"program 9\n", "a name is missing"},
    {"program a\nin a: f33[]\n", "line 2: a type is missing"},
    {"program a\nin x: f32\n", "an array is written as f32[]"},
    {"program a\nin x: f32[]\nvalue x: i8\n", "this name occurs twice: x"},
    {"program a\nadd.f32 r0, r1\n", "a comma is missing"},
    {"program a\nplus.f32 r0, r1\n", "there is no such instruction"},
    {"program a\nconst.i8 r0, 128\n", "a number does not fit its type"},
    {"program a\nconst.u8 r0, -1\n", "a number does not fit its type"},
    {"program a\nconst.f16 r0, 1e9\n", "a number does not fit its type"},
    {"program a\nconst.f32 r0, 0x100000000\n", "a number does not fit its type"},
    {"program a\nconst.f32 r0, 1.5x\n", "this is not a number"},
    {"program a\nconst.f32 r0, 1\nin x: f32[]\n", "there is no such instruction"},
    {"program a\nconst.f32 r4096, 1\n", "a number is too large"},
    {"program a\nconst.f32 r1, 1\n", "the type of register 0 is unknown"},
    {"program a\nconst.f32 r0, 1\nconst.i32 r0, 1\n", "this register had another type before"},
    {"program a\nconst.f32 p0, 1\n", "predicates are p"},
    {"program a\nst.f32 x[r0], r0\n", "this name is not declared"},
    {"program a\nin x: f32[]\nconst.i32 r0, 0\nconst.f32 r1, 0\nst.f32 x[r0], r1\n",
     "instruction 2 (st): the parameter may not"},
    {"program a\nout x: f32[]\nconst.i32 r0, 0\nld.f32 r1, x[r0]\n", "instruction 1 (ld): the parameter may not"},
    {"program a\nin x: f32[]\nconst.i32 r0, 0\nld.i32 r1, x[r0]\n", "the parameter is of another type"},
    {"program a\nin x: f32[]\nconst.i16 r0, 0\nld.f32 r1, x[r0]\n", "an index must be i32"},
    {"program a\nin x: f32[]\nparam.f32 r0, x\n", "an array as a number"},
    {"program a\nin x: f32[]\nconst.f32 r0, 0\nconst.i32 r1, 0\natom.add.f32 r2, x[r1], r0\n",
     "the parameter may not be"},
    {"program a\nconst.bool p0, 1\nadd.bool p1, p0, p0\n", "does not have this type"},
    {"program a\nconst.f32 r0, 1\nand.f32 r1, r0, r0\n", "does not have this type"},
    {"program a\nconst.f32 r0, 1\nreduce.and.f32 r1, r0\n", "do not have this operation"},
    {"program a\nconst.bool p0, 1\nreduce.add.bool p1, p0\n", "do not have this operation"},
    {"program a\nconst.f32 r0, 1\nbitcast.f64.f32 r1, r0\n", "the types must have the same size"},
    {"program a\nif p0\nend\nregister p0: bool\n", "there is no such instruction"},
    {"program a\nregister p0: bool\nif p0\nend\n",
     "instruction 0 (if): it reads a register that may not have been written"},
    {"program a\nconst.bool p0, 1\nif p0\nconst.i8 r1, 1\nend\nmov.i8 r2, r1\n",
     "instruction 4 (mov): it reads a register"},
    {"program a\nconst.bool p0, 1\nif p0\nconst.i8 r1, 1\nelse\nexit\nend\nif p0\nelse\nelse\nend\n",
     "instruction 8 (else): it belongs to no if"},
    {"program a\nconst.bool p0, 1\nloop\nbreakif p0\nconst.i8 r1, 1\nend\nmov.i8 r2, r1\n",
     "it reads a register that may not"},
    {"program a\nconst.bool p0, 1\nif p0\n", "an if or a loop has no end"},
    {"program a\nend\n", "there is nothing to end"},
    {"program a\nbreak\n", "it is not in a loop"},
    {"program a\nshared s: f32[0]\n", "its size is 0 or too large"},
    {"program a\nshared s: f32[8192]\nshared t: f32[8193]\n", "together are too large"},
    {"program a\nlocal s: f32[1025]\n", "together are too large"},
    // where lanes must be together
    {"program a\nspecial.u32 r0, lane_x\nset.eq.u32 p1, r0, r0\nif p1\nbarrier\nend\n",
     "(barrier): maybe only some lanes"},
    {"program a\nspecial.u32 r0, lane_x\nset.eq.u32 p1, r0, r0\nloop\nbarrier\nbreakif p1\nend\n",
     "maybe only some lanes"},
    {"program a\nspecial.u32 r0, lane_x\nset.eq.u32 p1, r0, r0\nif p1\nexit\nend\nbarrier\n", "maybe only some lanes"},
    {"program a\nshared s: i32[4]\nconst.i32 r0, 0\nlds.i32 r1, s[r0]\nset.eq.i32 p2, r0, r1\nif p2\nreduce.add.i32 r3, r0\nend\n",
     "(reduce): maybe only some lanes"},
    {"program a\nspecial.u32 r0, lane_x\nset.eq.u32 p1, r0, r0\nconst.u32 r2, 1\nif p1\nmov.u32 r2, r2\nend\n"
     "set.eq.u32 p3, r2, r2\nif p3\nscan.add.u32 r4, r2\nend\n",
     "(scan): maybe only some lanes"},
};

static void test_wrong_programs_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(refused); i++) {
        HoloArena      arena = {0};
        HoloIsaProgram p;
        HoloError      error  = {0};
        HoloStatus     status = holo_isa_parse(&arena, refused[i].text, strlen(refused[i].text), &p, &error);
        if (status == HOLO_OK || !strstr(error.text, refused[i].why))
            fail_msg("%s\ngave: %s\nnot: %s", refused[i].text, error.text, refused[i].why);
        holo_arena_deinit(&arena);
    }
}

// Barriers that all lanes come to, however deep.
static void test_uniform_places_are_accepted(void **state)
{
    (void)state;
    static const char text[] = "program a\nin x: i32[]\nvalue n: i32\n"
                               "param.i32 r0, n\nconst.i32 r1, 0\nconst.i32 r2, 1\n"
                               "special.i32 r8, lane_x\nreduce.max.i32 r9, r8\n"
                               "loop\nset.ge.i32 p3, r1, r0\nbreakif p3\nbarrier\nadd.i32 r1, r1, r2\n"
                               "ld.i32 r4, x[r1]\nset.gt.i32 p5, r4, r9\nif p5\nbarrier\nnext\nend\nend\n"
                               "special.i32 r6, block_x\nset.eq.i32 p7, r6, r1\nif p7\nexit\nend\nbarrier\n";
    HoloArena         arena  = {0};
    HoloIsaProgram    p;
    HoloError         error = {0};
    if (holo_isa_parse(&arena, text, strlen(text), &p, &error)) fail_msg("%s", error.text);
    holo_arena_deinit(&arena);
}

// ---- running

// A histogram of a block in shared memory, then added up by atomics: everything that lanes do together.
static void test_reference_runs(void **state)
{
    (void)state;
    static const char text[] =
        "program count\nin x: u8[]\ninout all: u32[]\nout top: f16[]\nshared s: u32[4]\n"
        "special.i64 r0, global_id\nld.u8 r1, x[r0]\ncvt.u32.u8 r2, r1\nconst.u32 r3, 1\n"
        "atoms.add.u32 r4, s[r2], r3\nbarrier\n"
        "special.u32 r5, lane_id\nconst.u32 r6, 4\nset.lt.u32 p7, r5, r6\n"
        "if p7\nlds.u32 r8, s[r5]\natom.add.u32 r4, all[r5], r8\nend\n"
        "reduce.max.u8 r9, r1\ncvt.f16.u8 r10, r9\nrcp.f16 r10, r10\nspecial.u32 r11, block_x\nst.f16 top[r11], r10\n";
    HoloArena      arena = {0};
    HoloIsaProgram p;
    HoloError      error  = {0};
    uint8_t        x[20]  = {0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2};
    uint32_t       all[4] = {100, 0, 0, 0};
    uint16_t       top[2] = {0};
    HoloIsaArg     args[] = {{x, 20, 0}, {all, 4, 0}, {top, 2, 0}};
    HoloIsaLaunch  launch = {{2, 1, 1}, {10, 1, 1}, 0};
    if (holo_isa_parse(&arena, text, strlen(text), &p, &error)) fail_msg("%s", error.text);
    if (holo_isa_reference(&p, &launch, args, &error)) fail_msg("%s", error.text);
    assert_int_equal(all[0], 104);
    assert_int_equal(all[1], 3);
    assert_int_equal(all[2], 6);
    assert_int_equal(all[3], 7);
    assert_int_equal(top[0], 0x3555); // 1 / 3
    assert_int_equal(top[1], 0x3800); // 1 / 2
    x[13] = 4;
    assert_int_equal(holo_isa_reference(&p, &launch, args, &error), HOLO_BAD_INPUT);
    assert_string_equal(error.text, "program count, instruction 4 (atoms), block 1,0,0, lane 3,0,0: an index is out of "
                                    "range: s[4], which has 4 elements");
    holo_arena_deinit(&arena);
}

// Both interpreters say which element of which array was meant.
static void test_index_out_of_range(void **state)
{
    (void)state;
    static const struct {
        const char *code, *want; // behind the declarations; the end of the message
    } rows[] = {
        {"const.i64 r0, 1000000\nld.i32 r1, a[r0]\n", "a[1000000], which has 16 elements"},
        {"const.i32 r0, -3\nconst.i32 r1, 7\nst.i32 one[r0], r1\n", "one[-3], which has 1 element"},
        {"special.u32 r0, lane_id\nconst.u32 r1, 14\nadd.u32 r2, r0, r1\nld.i32 r3, a[r2]\n",
         "a[16], which has 16 elements"},
        {"const.u64 r0, 18446744073709551615\nld.i32 r1, a[r0]\n", "a[18446744073709551615], which has 16 elements"},
        {"const.u32 r0, 4294967295\nlds.f64 r1, s[r0]\n", "s[4294967295], which has 5 elements"},
        {"const.i64 r0, -1\nldl.f32 r1, l[r0]\n", "l[-1], which has 6 elements"},
        {"special.i32 r0, lane_id\nconst.i32 r1, 3\nset.eq.i32 p2, r0, r1\nif p2\nld.i32 r3, none[r0]\nend\n",
         "none[3], which has 0 elements"},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloArena      arena = {0};
        HoloIsaProgram p;
        HoloIsaCode   *code;
        HoloIsaFrame  *frame;
        HoloError      error = {0}, fast = {0};
        int32_t        a[16]  = {0};
        HoloIsaArg     args[] = {{a, 16, 0}, {a, 1, 0}, {a, 0, 0}};
        HoloIsaLaunch  launch = {{1, 1, 1}, {8, 1, 1}, 0};
        char           text[512];
        snprintf(text, sizeof text,
                 "program p\nin a: i32[]\nout one: i32[]\nin none: i32[]\nshared s: f64[5]\nlocal l: f32[6]\n%s",
                 rows[i].code);
        if (holo_isa_parse(&arena, text, strlen(text), &p, &error)) fail_msg("row %d: %s", i, error.text);
        assert_int_equal(holo_isa_reference(&p, &launch, args, &error), HOLO_BAD_INPUT);
        assert_int_equal(holo_isa_code_create(&p, &code, NULL), HOLO_OK);
        assert_int_equal(holo_isa_frame_create(code, 1, &frame, NULL), HOLO_OK);
        assert_int_equal(holo_isa_run(code, frame, NULL, &launch, args, &fast), HOLO_BAD_INPUT);
        assert_string_equal(error.text, fast.text);
        const char *place = strstr(error.text, "an index is out of range: ");
        if (!place || strcmp(place + strlen("an index is out of range: "), rows[i].want))
            fail_msg("row %d: %s", i, error.text);
        holo_isa_frame_destroy(frame);
        holo_isa_code_destroy(code);
        holo_arena_deinit(&arena);
    }
}

// A value that was read where it lies stays what it was when that place is written, though it was moved to itself
// between.
static void test_moved_to_itself(void **state)
{
    (void)state;
    static const char *const moves[] = {"mov.f32 r1, r1", "sel.f32 r1, p3, r1, r1", "sel.f32 r1, p3, r1, r2"};
    for (int i = 0; i < HOLO_COUNT(moves); i++) {
        char  text[512];
        float x[100], y[100] = {0};
        snprintf(
            text, sizeof text,
            "program p\ninout x: f32[]\nout y: f32[]\nvalue yes: bool\nspecial.i64 r0, global_id\nparam.bool p3, yes\n"
            "const.f32 r2, 7\nld.f32 r1, x[r0]\n%s\nst.f32 x[r0], r2\nst.f32 y[r0], r1\n",
            moves[i]);
        HoloArena      arena = {0};
        HoloIsaProgram p;
        HoloIsaCode   *code;
        HoloIsaFrame  *frame;
        HoloError      error  = {0};
        HoloIsaArg     args[] = {{x, 100, 0}, {y, 100, 0}, {NULL, 0, 1}};
        HoloIsaLaunch  launch = {{1, 1, 1}, {100, 1, 1}, 0};
        for (int k = 0; k < 100; k++) x[k] = (float)k;
        if (holo_isa_parse(&arena, text, strlen(text), &p, &error)) fail_msg("%s", error.text);
        assert_int_equal(holo_isa_code_create(&p, &code, &error), HOLO_OK);
        assert_int_equal(holo_isa_frame_create(code, 1, &frame, &error), HOLO_OK);
        assert_int_equal(holo_isa_run(code, frame, NULL, &launch, args, &error), HOLO_OK);
        for (int k = 0; k < 100; k++) assert_true(y[k] == (float)k && x[k] == 7);
        holo_isa_frame_destroy(frame);
        holo_isa_code_destroy(code);
        holo_arena_deinit(&arena);
    }
}

// ---- the atlas

enum { ATLAS_LANES = 256, ATLAS_ROW = 12 }; // lanes, and what each writes

// The label graph by its parts, apart from how the interpreters do it: are the labels neighbors?
static bool are_neighbors(int a, int b)
{
    static const int weight[] = {48, 24, 12, 6, 3};
    int              flips = 0, e7 = a / 3 % 2 != b / 3 % 2, t = abs(a % 3 - b % 3);
    for (int i = 0; i < HOLO_COUNT(weight); i++) flips += a / weight[i] % 2 != b / weight[i] % 2;
    return !e7 && flips + t == 1;
}

static void check_atlas(const int32_t *out)
{
    int edges = 0, six = 0;
    for (int i = 0; i < ATLAS_LANES; i++) {
        const int32_t *row = out + i * ATLAS_ROW;
        int label          = (i & 1) * 48 + (i >> 1 & 1) * 24 + (i >> 2 & 1) * 12 + (i >> 3 & 1) * 6 + (i >> 4 & 1) * 3;
        int count          = 0;
        assert_int_equal(row[0], holo_atlas_class((uint8_t)i));
        assert_int_equal(row[1], i < 96 ? holo_transform_class(holo_transform(0, 0, 0, true), i) : i);
        assert_int_equal(row[2], label + (i >> 5 & 3) % 3);
        assert_int_equal(row[3], i == 1 || i == 4);
        for (int b = 0; b < 96 && i < 96; b++)
            if (are_neighbors(i, b)) assert_int_equal(row[5 + count++], b); // in ascending order
        assert_int_equal(row[4], count);
        for (int k = count; k < 7; k++) assert_int_equal(row[5 + k], i);
        edges += count;
        six += count == 6;
    }
    assert_int_equal(edges, 2 * 256);
    assert_int_equal(six, 32);
}

static void test_atlas(void **state)
{
    (void)state;
    static const char text[] =
        "program atlas\nout o: i32[]\nspecial.i32 r0, global_id\nconst.i32 r1, 12\nconst.i32 r2, 1\nmul.i32 r3, r0, r1\n"
        "class.i32 r4, r0\nst.i32 o[r3], r4\nadd.i32 r3, r3, r2\nmirror.i32 r4, r0\nst.i32 o[r3], r4\nadd.i32 r3, r3, r2\n"
        "label.i32 r4, r0\nst.i32 o[r3], r4\nadd.i32 r3, r3, r2\nunity.i32 r4, r0\nst.i32 o[r3], r4\nadd.i32 r3, r3, r2\n"
        "degree.i32 r4, r0\nst.i32 o[r3], r4\nadd.i32 r3, r3, r2\nconst.i32 r5, 0\nconst.i32 r6, 7\n"
        "loop\nset.ge.i32 p7, r5, r6\nbreakif p7\nneighbor.i32 r4, r0, r5\nst.i32 o[r3], r4\nadd.i32 r3, r3, r2\n"
        "add.i32 r5, r5, r2\nend\n";
    HoloArena      arena = {0};
    HoloIsaProgram p;
    HoloIsaCode   *code;
    HoloIsaFrame  *frame;
    HoloError      error                        = {0};
    int32_t        out[ATLAS_LANES * ATLAS_ROW] = {0}, fast[ATLAS_LANES * ATLAS_ROW] = {0};
    HoloIsaArg     arg = {out, HOLO_COUNT(out), 0}, fast_arg = {fast, HOLO_COUNT(fast), 0};
    HoloIsaLaunch  launch = {{1, 1, 1}, {ATLAS_LANES, 1, 1}, 0};
    if (holo_isa_parse(&arena, text, strlen(text), &p, &error)) fail_msg("%s", error.text);
    assert_int_equal(holo_isa_reference(&p, &launch, &arg, &error), HOLO_OK);
    check_atlas(out);
    assert_int_equal(holo_isa_code_create(&p, &code, &error), HOLO_OK);
    assert_int_equal(holo_isa_frame_create(code, 1, &frame, &error), HOLO_OK);
    assert_int_equal(holo_isa_run(code, frame, NULL, &launch, &fast_arg, &error), HOLO_OK);
    check_atlas(fast);
    holo_isa_frame_destroy(frame);
    holo_isa_code_destroy(code);
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_program_prints),
        cmocka_unit_test(test_builder_keeps_the_first_mistake),
        cmocka_unit_test(test_constants_convert),
        cmocka_unit_test(test_text_and_bytes_give_the_program_back),
        cmocka_unit_test(test_broken_bytes_are_refused),
        cmocka_unit_test(test_wrong_programs_are_refused),
        cmocka_unit_test(test_uniform_places_are_accepted),
        cmocka_unit_test(test_reference_runs),
        cmocka_unit_test(test_index_out_of_range),
        cmocka_unit_test(test_atlas),
        cmocka_unit_test(test_moved_to_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
