// isa_test.c - programs: built, checked, printed.
#include "isa/isa.h"
#include "isa/isa_number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_program_prints),
        cmocka_unit_test(test_builder_keeps_the_first_mistake),
        cmocka_unit_test(test_constants_convert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
