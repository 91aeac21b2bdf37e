// noise_schedule_test.c - schedulers: one that is told the picture at each step arrives at it, from any noise, whatever the network
// is said to predict.
#include "imagine/noise_schedule.h"
#include "support/models.h"

#include <math.h>
#include <string.h>

enum { COUNT = 64 };

static HoloScheduleOptions options(const char *scheduler, int steps)
{
    return (HoloScheduleOptions){.scheduler    = scheduler,
                                 .spacing      = "",
                                 .curve        = "scaled_linear",
                                 .beta_start   = 0.00085,
                                 .beta_end     = 0.012,
                                 .train_steps  = 1000,
                                 .steps        = steps,
                                 .offset       = 1,
                                 .alpha_to_one = true};
}

// What a network gives that knows the picture: x is its input, in which the picture has the part sqrt(a).
static float known(HoloPrediction prediction, double a, double x, double picture)
{
    double noise = (x - sqrt(a) * picture) / sqrt(1 - a);
    switch (prediction) {
    case HOLO_PREDICT_NOISE: return (float)noise;
    case HOLO_PREDICT_VELOCITY: return (float)(sqrt(a) * noise - sqrt(1 - a) * picture);
    default: return (float)picture;
    }
}

static double arrive(const HoloScheduleOptions *o)
{
    HoloArena    arena = {0};
    HoloError    error = {0};
    HoloSchedule s;
    HoloRandom   random = {7};
    float        x[COUNT], input[COUNT], made[COUNT];
    double       worst = 0;
    assert_int_equal(holo_schedule_init(&s, o, COUNT, &arena, &error), HOLO_OK);
    for (int k = 0; k < COUNT; k++) x[k] = (float)holo_random_normal(&random);
    holo_schedule_begin(&s, x);
    for (int i = 0; i < o->steps; i++) {
        holo_schedule_input(&s, i, x, input);
        assert_true(!i || s.time[i] <= s.time[i - 1]);
        for (int k = 0; k < COUNT; k++) made[k] = known(o->prediction, s.kept[s.time[i]], input[k], sin(k));
        holo_schedule_step(&s, i, x, made, &random);
    }
    for (int k = 0; k < COUNT; k++) worst = fmax(worst, fabs(x[k] - sin(k)));
    holo_arena_deinit(&arena);
    return worst;
}

static void test_all_arrive(void **state)
{
    (void)state;
    static const char *const spacings[] = {"", "leading", "linspace", "trailing"};
    static const char *const curves[]   = {"scaled_linear", "linear", "squaredcos_cap_v2"};
    static const int         steps[]    = {1, 2, 7, 50};
    for (int n = 0; holo_schedule_name(n); n++)
        for (int i = 0; i < 4 * 3 * 4 * 3; i++) {
            HoloScheduleOptions o = options(holo_schedule_name(n), steps[i % 4]);
            o.spacing             = spacings[i / 4 % 4];
            o.curve               = curves[i / 16 % 3];
            o.prediction          = (HoloPrediction)(i / 48);
            // At the first step of training a hundredth of the noise is left, which DDIM leaves if it ends there.
            bool is_near = !strcmp(o.scheduler, "lcm");
            assert_true(arrive(&o) < (is_near ? 1e-2 : 5e-3));
        }
}

static void test_wrong_options(void **state)
{
    (void)state;
    HoloArena           arena = {0};
    HoloSchedule        s;
    HoloScheduleOptions o[5];
    for (int i = 0; i < 5; i++) o[i] = options("ddim", 10);
    o[0].scheduler = "none";
    o[1].steps     = 0;
    o[2].steps     = 1001;
    o[3].curve     = "other";
    o[4].beta_end  = 1.5;
    for (int i = 0; i < 5; i++) {
        HoloError error = {0};
        assert_int_not_equal(holo_schedule_init(&s, &o[i], COUNT, &arena, &error), HOLO_OK);
        assert_true(error.text[0]);
    }
    assert_string_equal(holo_schedule_of_class("LCMScheduler"), "lcm");
    assert_string_equal(holo_schedule_of_class("PNDMScheduler"), "ddim");
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_arrive),
        cmocka_unit_test(test_wrong_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
