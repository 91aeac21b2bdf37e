// extreme_test.c - where the extreme number of a row is, at every level of the CPU, against a plain search.
#include "base/base.h"
#include "kernels/tiles/tiles.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { LONGEST = 70, ROUNDS = 40 };

// Is a before b: a NaN, or a larger one (smaller, if told)?
static bool is_better(float a, float b, bool smallest)
{
    if (isnan(a) || isnan(b)) return isnan(a) && !isnan(b);
    return smallest ? a < b : a > b;
}

static int64_t search(int64_t n, const float *x, bool smallest, bool last)
{
    int64_t found = 0;
    for (int64_t i = 1; i < n; i++)
        if (is_better(x[i], x[found], smallest) || (last && !is_better(x[found], x[i], smallest))) found = i;
    return found;
}

// Few different numbers, of which many are equal; some rows have what is no number, or no other than the least.
static void fill(HoloRandom *random, int round, int64_t n, float *x)
{
    static const float strange[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-45f, 3.4e38f};
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = holo_random_next(random);
        x[i]          = round % 5 == 4 ? -INFINITY : (float)(int)(bits % 7) - 3;
        if (round % 5 == 3 && bits >> 32 & 1) x[i] = strange[bits >> 40 & 3];
        if (round % 5 == 2 && !(bits >> 32 & 15)) x[i] = strange[bits >> 40 & 1 ? 4 : 5];
    }
}

static void test_extremes(void **state)
{
    (void)state;
    HoloRandom random = {11};
    float      x[LONGEST];
    for (int64_t n = 1; n <= LONGEST; n++)
        for (int round = 0; round < ROUNDS; round++) {
            fill(&random, round, n, x);
            for (int how = 0; how < 4; how++)
                for (int level = 0; holo_tiles_at(level); level++)
                    assert_int_equal(holo_tiles_at(level)->extreme(n, x, how & 1, how & 2),
                                     search(n, x, how & 1, how & 2));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
