// widen_test.c - models of f16 and bf16, computed in f32: the conversions, bit by bit, and a small model end to end.
#include "support/models.h"

#include "format/dtype.h"
#include "kernels/kernels.h"
#include "passes/passes.h"
#include "runtime/frame/frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- conversions, of every level and class

static void widen_all(const HoloKernelTable *k)
{
    static uint16_t x[1 << 16], back[1 << 16];
    static float    wide[1 << 16];
    for (int i = 0; i < 1 << 16; i++) x[i] = (uint16_t)i;
    k->widen_f16(1 << 16, x, wide);
    k->narrow_f16(1 << 16, wide, back);
    for (int i = 0; i < 1 << 16; i++) {
        float want = holo_f16_to_f32(x[i]);
        bool  nan  = isnan(want);
        if (nan ? !isnan(wide[i]) : memcmp(&want, &wide[i], sizeof want))
            fail_msg("f16 %04x is %g", i, (double)wide[i]);
        if (!nan && back[i] != x[i]) fail_msg("f16 %04x comes back as %04x", i, back[i]);
        if (nan && !isnan(holo_f16_to_f32(back[i]))) fail_msg("f16 %04x is a number when it comes back", i);
    }
    k->widen_bf16(1 << 16, x, wide);
    k->narrow_bf16(1 << 16, wide, back);
    for (int i = 0; i < 1 << 16; i++) {
        bool nan = isnan(holo_bf16_to_f32(x[i]));
        if (nan ? !isnan(wide[i]) : holo_bf16_to_f32(x[i]) != wide[i]) fail_msg("bf16 %04x", i);
        if (nan ? !isnan(holo_bf16_to_f32(back[i])) : back[i] != x[i]) fail_msg("bf16 %04x comes back", i);
    }
}

static void test_widen_all(void **state)
{
    (void)state;
    for (int t = 0; holo_kernels_at(t); t++) widen_all(holo_kernels_at(t));
}

// Numbers around every f16, and halfway between two: as the operator rounds them.
static void test_narrow_rounds(void **state)
{
    (void)state;
    enum { COUNT = 3 * 5 * 4096 };
    static float          x[COUNT];
    static uint16_t       half[COUNT], bits[COUNT];
    static const uint32_t starts[] = {0x00000000, 0x33000000, 0x387fc000, 0x477fd000, 0xb8800000 - 2048};
    for (int s = 0, n = 0; s < HOLO_COUNT(starts); s++)
        for (uint32_t i = 0; i < 4096; i++)
            for (uint32_t d = 0; d < 3; d++, n++) {
                uint32_t b = starts[s] + i * (s < 2 ? 0x4001 : 1) + d * 0x1000;
                memcpy(&x[n], &b, sizeof b);
            }
    holo_kernels(0)->narrow_f16(COUNT, x, half);
    holo_kernels(0)->narrow_bf16(COUNT, x, bits);
    for (int i = 0; i < COUNT; i++) {
        if (half[i] != holo_f32_to_f16(x[i]))
            fail_msg("%a is f16 %04x, not %04x", (double)x[i], half[i], holo_f32_to_f16(x[i]));
        if (bits[i] != holo_f64_to_bf16((double)x[i])) fail_msg("%a is bf16 %04x", (double)x[i], bits[i]);
    }
}

// ---- a model

static const char text[] = "graph g(x: f16[n,3,8,8]) -> (y, big) {\n"
                           "    const w: f16[2,3,1,1] = {1, 0.5, 0.25, -1, 2, 0.125}\n"
                           "    const b: f16[2] = {0.5, -0.5}\n"
                           "    const large: f16[1] = {300}\n"
                           "    c = Conv@11(x, w, b)\n"
                           "    r = Relu@14(c)\n"
                           "    p = GlobalAveragePool@1(r)\n"
                           "    f = Flatten@13(p)\n"
                           "    y = Softmax@13(f)\n"
                           "    l = Mul@14(f, large)\n"
                           "    m = Mul@14(l, large)\n"
                           "    big = Div@14(m, large)\n"
                           "}\n";

// How far the outputs are from those of plain evaluation, in roundings of f16 of the largest number; and by how many
// kernels they are made.
static double run(bool is_exact, uint32_t *out_kernels)
{
    HoloArena       arena   = {0};
    HoloPassOptions options = {.is_exact = is_exact};
    HoloGraph      *graph, *plain;
    HoloModel      *model;
    HoloSession    *session;
    HoloTensor      want[2], got;
    EXPECT_OK(holo_graph_parse(&arena, text, &plain, &error));
    EXPECT_OK(holo_graph_infer(plain, &error));
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, &options, &error));
    EXPECT_OK(model_of(graph, is_exact ? HOLO_EXACT : HOLO_FUSED, &model, out_kernels, &error));
    HoloTensor        x    = made(&plain->inputs[0]->type, 3, 2);
    const HoloTensor *in[] = {&x};
    EXPECT_OK(holo_graph_eval(plain, in, want, &arena, NULL, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_run(session, &error));
    double worst = 0;
    for (int i = 0; i < 2; i++) {
        double top = 0, off = 0;
        EXPECT_OK(holo_session_output(session, i, &got, &error));
        assert_int_equal(got.dtype, HOLO_F16);
        for (int64_t k = 0; k < holo_tensor_count(&got); k++) {
            top = fmax(top, fabs(holo_get_f(&want[i], k)));
            off = fmax(off, fabs(holo_get_f(&want[i], k) - holo_get_f(&got, k)));
        }
        worst = fmax(worst, off / top * 0x1p11);
    }
    free(x.data);
    holo_session_destroy(session);
    holo_model_close(model);
    holo_arena_deinit(&arena);
    return worst;
}

static void test_model(void **state)
{
    (void)state;
    uint32_t exact, fused;
    assert_true(run(true, &exact) == 0); // class exact: as the model says, bit by bit
    assert_true(run(false, &fused) <= 4);
    assert_int_equal(exact, 0);
    assert_true(fused >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widen_all),
        cmocka_unit_test(test_narrow_rounds),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
