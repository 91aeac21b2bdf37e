// noise_schedule.c - schedulers of diffusion: DDIM (Song et al., 2020), Euler and Euler with new noise (Karras et al., 2022),
// DPM-Solver++ of second order with two steps (Lu et al., 2022), latent consistency (Luo et al., 2023).
#include "imagine/noise_schedule.h"

#include "base/math/math.h"

#include <math.h>
#include <string.h>

// x is changed; x0 is the picture without noise, as the U-Net sees it now.
struct HoloStepper {
    const char *name, *class; // the class that Diffusers has for it
    const char *spacing;      // its own
    bool        is_wide;
    void (*step)(HoloSchedule *s, int step, float *x, const float *x0, HoloRandom *random);
};

static void step_ddim(HoloSchedule *s, int i, float *x, const float *x0, HoloRandom *random)
{
    const HoloScheduleOptions *o = &s->options;
    double                     a = s->kept[s->time[i]], end = o->alpha_to_one ? 1 : s->kept[0];
    double                     b = i + 1 < o->steps ? s->kept[s->time[i + 1]] : end;
    // x = sqrt(a) x0 + sqrt(1 - a) noise, and so is the next one, with b.
    double of_x = sqrt(1 - b) / sqrt(1 - a), of_x0 = sqrt(b) - of_x * sqrt(a);
    (void)random;
    for (size_t k = 0; k < s->count; k++) x[k] = (float)(of_x * x[k] + of_x0 * x0[k]);
}

static void step_euler(HoloSchedule *s, int i, float *x, const float *x0, HoloRandom *random)
{
    double part = s->sigma[i + 1] / s->sigma[i];
    (void)random;
    for (size_t k = 0; k < s->count; k++) x[k] = (float)(x0[k] + part * (x[k] - x0[k]));
}

static void step_ancestral(HoloSchedule *s, int i, float *x, const float *x0, HoloRandom *random)
{
    double from = s->sigma[i], to = s->sigma[i + 1], fresh = sqrt(to * to * (from * from - to * to) / (from * from));
    double part = sqrt(to * to - fresh * fresh) / from;
    for (size_t k = 0; k < s->count; k++)
        x[k] = (float)(x0[k] + part * (x[k] - x0[k]) + (fresh > 0 ? fresh * holo_random_normal(random) : 0));
}

static void step_dpm(HoloSchedule *s, int i, float *x, const float *x0, HoloRandom *random)
{
    double from = s->sigma[i], to = s->sigma[i + 1], part = to / from, of_last = 0;
    (void)random;
    if (i && to > 0) of_last = 0.5 * holo_log(from / to) / holo_log(s->sigma[i - 1] / from);
    for (size_t k = 0; k < s->count; k++) {
        double seen = x0[k] + (of_last ? of_last * (x0[k] - s->before[k]) : 0);
        x[k]        = (float)(part * x[k] + (1 - part) * seen);
    }
    memcpy(s->before, x0, s->count * sizeof *x0);
}

static void step_lcm(HoloSchedule *s, int i, float *x, const float *x0, HoloRandom *random)
{
    const double data   = 0.5; // the deviation of pictures
    double       scaled = 10.0 * (double)s->time[i], sum = scaled * scaled + data * data;
    double       skip = data * data / sum, out = scaled / sqrt(sum);
    bool         is_last = i + 1 == s->options.steps;
    double       b       = is_last ? 1 : s->kept[s->time[i + 1]];
    for (size_t k = 0; k < s->count; k++) {
        double clean = out * x0[k] + skip * x[k];
        x[k]         = (float)(is_last ? clean : sqrt(b) * clean + sqrt(1 - b) * holo_random_normal(random));
    }
}

static const struct HoloStepper steppers[] = {
    {"ddim", "DDIMScheduler", "leading", false, step_ddim},
    {"euler", "EulerDiscreteScheduler", "linspace", true, step_euler},
    {"euler-ancestral", "EulerAncestralDiscreteScheduler", "linspace", true, step_ancestral},
    {"dpm++", "DPMSolverMultistepScheduler", "linspace", true, step_dpm},
    {"lcm", "LCMScheduler", "lcm", false, step_lcm},
};

const char *holo_schedule_name(int index)
{
    return index >= 0 && index < HOLO_COUNT(steppers) ? steppers[index].name : NULL;
}

const char *holo_schedule_of_class(const char *name)
{
    for (int i = 0; i < HOLO_COUNT(steppers); i++)
        if (!strcmp(steppers[i].class, name)) return steppers[i].name;
    return steppers[0].name;
}

// ---- the curve of noise

static const double PI = 3.14159265358979323846;

// How much of the picture is kept at a part of the way, for squaredcos_cap_v2.
static double cosine(double part)
{
    double c = holo_cos((part + 0.008) / 1.008 * PI / 2);
    return c * c;
}

static double beta(const HoloScheduleOptions *o, int step)
{
    double part = o->train_steps > 1 ? (double)step / (o->train_steps - 1) : 0, n = o->train_steps;
    if (!strcmp(o->curve, "linear")) return o->beta_start + part * (o->beta_end - o->beta_start);
    if (!strcmp(o->curve, "squaredcos_cap_v2")) {
        double b = 1 - cosine((step + 1) / n) / cosine(step / n);
        return b < 0.999 ? b : 0.999;
    }
    double root = sqrt(o->beta_start) + part * (sqrt(o->beta_end) - sqrt(o->beta_start));
    return root * root;
}

// ---- which steps

static double time_at(const HoloScheduleOptions *o, const char *spacing, int i)
{
    double n = o->train_steps, steps = o->steps;
    if (!strcmp(spacing, "linspace")) return steps > 1 ? (n - 1) * (steps - 1 - i) / (steps - 1) : n - 1;
    if (!strcmp(spacing, "trailing")) return n - i * n / steps - 1;
    if (!strcmp(spacing, "lcm")) { // of 50 steps that the model learned
        double all = n >= 50 ? 50 : n, index = floor(i * all / steps);
        return (all - index) * floor(n / all) - 1;
    }
    return (o->steps - 1 - i) * (double)(o->train_steps / o->steps) + o->offset; // leading
}

static void times_fill(HoloSchedule *s)
{
    const HoloScheduleOptions *o       = &s->options;
    const char                *spacing = *o->spacing && s->stepper->step != step_lcm ? o->spacing : s->stepper->spacing;
    for (int i = 0; i < o->steps; i++) {
        double t    = floor(time_at(o, spacing, i) + 0.5);
        s->time[i]  = (int64_t)(t < 0 ? 0 : t > o->train_steps - 1 ? o->train_steps - 1 : t);
        double a    = s->kept[s->time[i]];
        s->sigma[i] = sqrt((1 - a) / a);
    }
    s->sigma[o->steps] = 0;
}

static HoloStatus check(const HoloScheduleOptions *o, HoloError *error)
{
    enum { TRAIN_MAX = 100000 };
    bool is_known =
        !strcmp(o->curve, "linear") || !strcmp(o->curve, "scaled_linear") || !strcmp(o->curve, "squaredcos_cap_v2");
    if (!is_known)
        return holo_fail(error, HOLO_UNSUPPORTED, "the model's beta_schedule '%.100s' is not known", o->curve);
    if (o->train_steps < 1 || o->train_steps > TRAIN_MAX)
        return holo_fail(error, HOLO_BAD_MODEL, "the model was trained in %d steps, not 1 to %d", o->train_steps,
                         TRAIN_MAX);
    if (o->steps < 1 || o->steps > o->train_steps)
        return holo_fail(error, HOLO_BAD_INPUT, "a picture takes 1 to %d steps, not %d", o->train_steps, o->steps);
    if (!(o->beta_start > 0 && o->beta_start <= o->beta_end && o->beta_end < 1))
        return holo_fail(error, HOLO_BAD_MODEL, "the model's beta_start and beta_end are not between 0 and 1");
    return HOLO_OK;
}

HoloStatus holo_schedule_init(HoloSchedule *s, const HoloScheduleOptions *o, size_t count, HoloArena *arena,
                              HoloError *error)
{
    *s = (HoloSchedule){.options = *o, .count = count};
    for (int i = 0; i < HOLO_COUNT(steppers) && !s->stepper; i++)
        if (!strcmp(steppers[i].name, o->scheduler)) s->stepper = &steppers[i];
    if (!s->stepper)
        return holo_fail(error, HOLO_BAD_INPUT,
                         "there is no scheduler '%.100s'; there are ddim, euler, euler-ancestral, dpm++ and lcm",
                         o->scheduler);
    HOLO_TRY(check(o, error));
    s->kept   = HOLO_NEW(arena, double, o->train_steps);
    s->time   = HOLO_NEW(arena, int64_t, o->steps);
    s->sigma  = HOLO_NEW(arena, double, o->steps + 1);
    s->before = HOLO_NEW(arena, float, count);
    if (!s->kept || !s->time || !s->sigma || !s->before) return holo_fail_memory(error);
    double kept = 1;
    for (int i = 0; i < o->train_steps; i++) s->kept[i] = kept *= 1 - beta(o, i);
    times_fill(s);
    return HOLO_OK;
}

// ---- a step

void holo_schedule_begin(const HoloSchedule *s, float *x)
{
    double sigma = s->sigma[0];
    if (!s->stepper->is_wide) return;
    if (!strcmp(*s->options.spacing ? s->options.spacing : s->stepper->spacing, "leading"))
        sigma = sqrt(sigma * sigma + 1);
    for (size_t k = 0; k < s->count; k++) x[k] = (float)(sigma * x[k]);
}

// What x is multiplied by to be as the U-Net knows it.
static double narrowing(const HoloSchedule *s, int step)
{
    return s->stepper->is_wide ? 1 / sqrt(s->sigma[step] * s->sigma[step] + 1) : 1;
}

void holo_schedule_input(const HoloSchedule *s, int step, const float *x, float *out)
{
    double part = narrowing(s, step);
    for (size_t k = 0; k < s->count; k++) out[k] = (float)(part * x[k]);
}

void holo_schedule_step(HoloSchedule *s, int step, float *x, float *made, HoloRandom *random)
{
    double a = s->kept[s->time[step]], of_x, of_made, part = narrowing(s, step);
    switch (s->options.prediction) {
    case HOLO_PREDICT_VELOCITY: of_x = sqrt(a), of_made = -sqrt(1 - a); break;
    case HOLO_PREDICT_PICTURE: of_x = 0, of_made = 1; break;
    default: of_x = 1 / sqrt(a), of_made = -sqrt(1 - a) / sqrt(a); break;
    }
    for (size_t k = 0; k < s->count; k++) made[k] = (float)(of_x * part * x[k] + of_made * made[k]);
    s->stepper->step(s, step, x, made, random);
}
