// quantize_steps_test.c - the steps of quantized values, found from their ranges.
#include "support/models.h"

#include "graph/graph.h"
#include "passes/passes.h"
#include "quantize/narrow.h"
#include "quantize/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- ranges

static void test_steps(void **state)
{
    (void)state;
    HoloValueRange range = {0};
    const float    x[]   = {-1, 0, 0.5f, 3, NAN, INFINITY};
    holo_range_add(&range, x, 6);
    assert_int_equal(range.count, 4);
    assert_int_equal(range.strange, 2);
    HoloSteps steps = holo_range_steps(&range, HOLO_RANGES_MINMAX, 0);
    assert_float_equal(steps.scale, 4.0f / 255, 1e-7);
    assert_int_equal(steps.zero, 64); // 1 / scale, rounded
    // More comes, far larger than all before: nothing of it is lost.
    const float large[] = {1000, 1e-30f};
    holo_range_add(&range, large, 2);
    uint64_t sum = 0;
    for (int i = 0; i < 2 * HOLO_RANGE_BINS; i++) sum += range.bins[i];
    assert_int_equal(sum, 6);
    assert_float_equal(holo_range_steps(&range, HOLO_RANGES_MINMAX, 0).scale, 1001.0f / 255, 1e-5);
}

// Numbers that are never below 0 have their zero at 0; nothing but 0, and nothing at all, have steps, too.
static void test_steps_at_the_edge(void **state)
{
    (void)state;
    const float    x[]      = {0, 2, 5};
    HoloValueRange positive = {0}, nothing = {0}, tiny = {0};
    holo_range_add(&positive, x, 3);
    assert_int_equal(holo_range_steps(&positive, HOLO_RANGES_MINMAX, 0).zero, 0);
    assert_float_equal(holo_range_steps(&nothing, HOLO_RANGES_MSE, 0).scale, 1, 0);
    holo_range_add(&nothing, x, 1);
    assert_float_equal(holo_range_steps(&nothing, HOLO_RANGES_MSE, 0).scale, 1, 0);
    const float small[] = {1e-44f};
    holo_range_add(&tiny, small, 1);
    assert_float_equal(holo_range_steps(&tiny, HOLO_RANGES_MSE, 0).scale, 1, 0);
}

// One number far from all others is cut off where that makes the squares of errors less.
static void test_steps_of_least_errors(void **state)
{
    (void)state;
    HoloValueRange range  = {0};
    HoloRandom     random = {1};
    float         *x      = malloc(100000 * sizeof *x);
    for (int i = 0; i < 100000; i++) x[i] = (float)holo_random_normal(&random);
    x[17] = 9;
    holo_range_add(&range, x, 100000);
    float all = holo_range_steps(&range, HOLO_RANGES_MINMAX, 0).scale,
          cut = holo_range_steps(&range, HOLO_RANGES_MSE, 0).scale;
    if (!(cut < 0.9f * all && cut > 0.3f * all)) fail_msg("steps of %g, and of %g when cut", (double)all, (double)cut);
    free(x);
}

// Percentiles cut as much as they say on either side; entropy cuts what is far from all others.
static void test_steps_cut(void **state)
{
    (void)state;
    HoloValueRange range  = {0};
    HoloRandom     random = {2};
    float         *x      = malloc(100000 * sizeof *x);
    for (int i = 0; i < 100000; i++) x[i] = (float)(holo_random_unit(&random) * 20 - 10);
    holo_range_add(&range, x, 100000);
    for (int i = 0; i < 2; i++) {
        double percent = i ? 90 : 100, want = i ? 18.0 / 255 : 20.0 / 255;
        float  is = holo_range_steps(&range, HOLO_RANGES_PERCENTILE, percent).scale;
        if (!(fabs((double)is - want) < 0.01 * want)) fail_msg("%g %%: steps of %g, not %g", percent, (double)is, want);
    }
    // Evenly spread numbers have nothing to cut off; a few far away are not worth coarse steps.
    float even = holo_range_steps(&range, HOLO_RANGES_ENTROPY, 0).scale;
    if (!(even > 0.9f * 20 / 255)) fail_msg("of even numbers entropy makes steps of %g", (double)even);
    for (int i = 0; i < 100000; i++) x[i] = (float)holo_random_normal(&random);
    for (int i = 0; i < 10; i++) x[i * 1000] = 40;
    range = (HoloValueRange){0};
    holo_range_add(&range, x, 100000);
    HoloSteps all = holo_range_steps(&range, HOLO_RANGES_MINMAX, 0),
              cut = holo_range_steps(&range, HOLO_RANGES_ENTROPY, 0);
    if (!(cut.scale < 0.6f * all.scale))
        fail_msg("entropy makes steps of %g, of %g", (double)cut.scale, (double)all.scale);
    HoloValueRange nothing = {0};
    assert_float_equal(holo_range_steps(&nothing, HOLO_RANGES_ENTROPY, 0).scale, 1, 0);
    assert_float_equal(holo_range_steps(&nothing, HOLO_RANGES_PERCENTILE, 99).scale, 1, 0);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_steps_at_the_edge),
        cmocka_unit_test(test_steps_of_least_errors),
        cmocka_unit_test(test_steps_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
