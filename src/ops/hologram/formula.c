// formula.c - f32 pointwise operators as programs: a table of formulas, and functions for those whose program depends
// on the call.
#include "ops/hologram/formula.h"
#include "ops/hologram/program.h"
#include "ops/hologram/user_formula.h"

#include <math.h>
#include <string.h>

// ---- programs

enum { N = HOLO_MAP_NUMBER };
#define R(i) (HOLO_MAP_INPUTS + (i))

static int emit(HoloProgram *out, HoloMapOp op, int a, int b, double number)
{
    out->step[out->count] = (HoloMapStep){.op = (uint8_t)op, .a = (uint8_t)a, .b = (uint8_t)b, .number = (float)number};
    return R((int)out->count++);
}

static int square(HoloProgram *out, int x)
{
    return emit(out, HOLO_MAP_mul, x, x, 0);
}

// Common constant exponents become products, quotients and roots. (A root is not x^0.5: that of -inf differs.)
static bool power(const HoloCall *call, HoloProgram *out)
{
    const HoloTensor *y        = call->in[1];
    bool              is_known = y->data && holo_tensor_count(y) == 1;
    float             exponent = is_known ? *(const float *)y->data : 0;
    if (!is_known) {
        emit(out, HOLO_MAP_pow, 0, 1, 0);
    } else if (exponent == 2.0f) {
        square(out, 0);
    } else if (exponent == 3.0f) {
        emit(out, HOLO_MAP_mul, square(out, 0), 0, 0);
    } else if (exponent == 4.0f) {
        square(out, square(out, 0));
    } else if (exponent == -1.0f) {
        emit(out, HOLO_MAP_div, N, 0, 1);
    } else if (exponent == 0.5f) {
        emit(out, HOLO_MAP_root, 0, 0, 0);
    } else if (exponent == -0.5f) {
        emit(out, HOLO_MAP_div, N, emit(out, HOLO_MAP_root, 0, 0, 0), 1);
    } else {
        emit(out, HOLO_MAP_pow, 0, 1, 0);
    }
    return true;
}

// Bounds are inputs since opset 11 and attributes before. A missing bound does nothing. A bound with more dimensions
// than the input does not broadcast.
static bool clip(const HoloCall *call, HoloProgram *out)
{
    static const char *const names[] = {"min", "max"};
    static const HoloMapOp   ops[]   = {HOLO_MAP_at_least, HOLO_MAP_at_most};
    int                      x       = 0;
    for (int i = 0; i < 2; i++) {
        if (holo_in(call, i + 1) && call->in[i + 1]->rank > call->in[0]->rank) return false;
        if (call->version >= 11 && holo_in(call, i + 1))
            x = emit(out, ops[i], x, i + 1, 0);
        else if (call->version < 11 && holo_attr_find(call, names[i]))
            x = emit(out, ops[i], x, N, holo_attr_float(call, names[i], 0));
    }
    return out->count > 0;
}

// An operator with any number of inputs, as one with two, applied repeatedly.
static bool chain(const HoloCall *call, HoloProgram *out)
{
    HoloMapOp op = !strcmp(call->op->name, "Max")   ? HOLO_MAP_max
                   : !strcmp(call->op->name, "Min") ? HOLO_MAP_min
                                                    : HOLO_MAP_add;
    int       x  = 0;
    for (int i = 1; i < call->in_count; i++) x = emit(out, op, x, i, 0);
    if (!strcmp(call->op->name, "Mean")) emit(out, HOLO_MAP_div, x, N, call->in_count);
    return call->in_count > 1;
}

static bool fused(const HoloCall *call, HoloProgram *out)
{
    return holo_program_read(call, out) == HOLO_OK && out->count;
}

static bool gelu_is(const HoloCall *call, const char *how)
{
    return holo_attr_is(call, "approximate", "none", how);
}

// ---- the table

typedef struct Formula {
    const char *name, *domain;
    int         since;                                    // older versions have another meaning
    int         in_count;                                 // exactly so many must be given; 0: any number
    bool (*fits)(const HoloCall *call, HoloProgram *out); // makes the program, if `step` has none
    const char *gelu;                                     // only if the attribute approximate is this
    struct {
        const char *name; // the number of a step is this attribute
        float       fallback;
        int         step;
    } attr[2];
    float       most;    // most of the first attribute, which must also be above 0: beyond it, cancellation matters
    HoloMapStep step[9]; // ends with the first that is all 0: `add` of input 0 and itself is not an operator
} Formula;

#define STEP(name, a, b)            \
    {                               \
        HOLO_MAP_##name, a, b, 0, 0 \
    }
#define NUMBER(name, a, number)          \
    {                                    \
        HOLO_MAP_##name, a, N, 0, number \
    }
// max(x, 0) + number * (exp(r) - 1), from step `first` on; the number is that of step first + 2.
#define BELOW(r, first)                                                                                 \
    STEP(exp, r, 0), NUMBER(add, R(first), -1), NUMBER(mul, R((first) + 1), 0), NUMBER(at_least, 0, 0), \
        STEP(add, R((first) + 2), R((first) + 3))

// clang-format off
static const Formula formulas[] = {
    {"Pointwise", "hologram", 1, 0, .fits = fused},
    {"Kernel", "hologram", 1, 0, .fits = holo_user_formula},
    {"Add", "", 7, 2, .fits = chain},
    {"Sub", "", 7, 2, .step = {STEP(sub, 0, 1)}},
    {"Mul", "", 7, 2, .step = {STEP(mul, 0, 1)}},
    {"Div", "", 7, 2, .step = {STEP(div, 0, 1)}},
    {"PRelu", "", 7, 2, .step = {STEP(leaky, 0, 1)}},
    {"Pow", "", 7, 2, .fits = power},
    {"Clip", "", 6, 0, .fits = clip},
    {"Sum", "", 8, 0, .fits = chain},
    {"Mean", "", 8, 0, .fits = chain},
    {"Max", "", 8, 0, .fits = chain},
    {"Min", "", 8, 0, .fits = chain},
    {"Neg", "", 6, 1, .step = {STEP(neg, 0, 0)}},
    {"Abs", "", 6, 1, .step = {STEP(abs, 0, 0)}},
    {"Sqrt", "", 6, 1, .step = {STEP(sqrt, 0, 0)}},
    {"Exp", "", 6, 1, .step = {STEP(exp, 0, 0)}},
    {"Log", "", 6, 1, .step = {STEP(log, 0, 0)}},
    {"Softplus", "", 1, 1, .step = {STEP(softplus, 0, 0)}},
    {"Sin", "", 7, 1, .step = {STEP(sin, 0, 0)}},
    {"Cos", "", 7, 1, .step = {STEP(cos, 0, 0)}},
    {"Tan", "", 7, 1, .step = {STEP(tan, 0, 0)}},
    {"Asin", "", 7, 1, .step = {STEP(asin, 0, 0)}},
    {"Acos", "", 7, 1, .step = {STEP(acos, 0, 0)}},
    {"Atan", "", 7, 1, .step = {STEP(atan, 0, 0)}},
    {"Floor", "", 6, 1, .step = {STEP(floor, 0, 0)}},
    {"Ceil", "", 6, 1, .step = {STEP(ceil, 0, 0)}},
    {"Round", "", 11, 1, .step = {STEP(round, 0, 0)}},
    {"Sign", "", 9, 1, .step = {STEP(sign, 0, 0)}},
    {"ThresholdedRelu", "", 10, 1, .attr = {{"alpha", 1, 0}}, .step = {NUMBER(above, 0, 0)}},
    {"Erf", "", 9, 1, .step = {STEP(erf, 0, 0)}},
    {"Tanh", "", 6, 1, .step = {STEP(tanh, 0, 0)}},
    {"Sigmoid", "", 6, 1, .step = {STEP(sigmoid, 0, 0)}},
    {"Reciprocal", "", 6, 1, .step = {{HOLO_MAP_div, N, 0, 0, 1}}},
    {"Relu", "", 6, 1, .step = {NUMBER(at_least, 0, 0)}},
    {"LeakyRelu", "", 6, 1, .attr = {{"alpha", 0.01f, 0}}, .step = {NUMBER(leaky, 0, 0)}},
    {"Elu", "", 6, 1, .attr = {{"alpha", 1, 3}}, .step = {NUMBER(at_most, 0, 0), BELOW(R(0), 1)}},
    {"Selu", "", 6, 1, .attr = {{"alpha", 1.67326319f, 3}, {"gamma", 1.05070102f, 6}},
     .step = {NUMBER(at_most, 0, 0), BELOW(R(0), 1), NUMBER(mul, R(5), 0)}},
    {"Celu", "", 12, 1, .attr = {{"alpha", 1, 1}, {"alpha", 1, 4}}, .most = 16,
     .step = {NUMBER(at_most, 0, 0), NUMBER(div, R(0), 0), BELOW(R(1), 2)}},
    {"Softsign", "", 1, 1, .step = {STEP(abs, 0, 0), NUMBER(add, R(0), 1), STEP(div, 0, R(1))}},
    // x * tanh(log(1 + exp(x))) is x * n / (n + 2) with n = exp(x) * (exp(x) + 2); above 20 it is x.
    {"Mish", "", 18, 1,
     .step = {NUMBER(at_most, 0, 20), STEP(exp, R(0), 0), NUMBER(add, R(1), 2), STEP(mul, R(1), R(2)),
              NUMBER(add, R(3), 2), STEP(div, R(3), R(4)), STEP(mul, 0, R(5))}},
    {"HardSigmoid", "", 6, 1, .attr = {{"alpha", 0.2f, 0}, {"beta", 0.5f, 1}},
     .step = {NUMBER(mul, 0, 0), NUMBER(add, R(0), 0), NUMBER(at_least, R(1), 0), NUMBER(at_most, R(2), 1)}},
    {"HardSwish", "", 14, 1, .step = {STEP(hard_swish, 0, 0)}},
    {"Swish", "", 24, 1, .attr = {{"alpha", 1, 0}},
     .step = {NUMBER(mul, 0, 0), STEP(sigmoid, R(0), 0), STEP(mul, 0, R(1))}},
    {"QuickGelu", "com.microsoft", 1, 1, .attr = {{"alpha", 1.702f, 0}},
     .step = {NUMBER(mul, 0, 0), STEP(sigmoid, R(0), 0), STEP(mul, 0, R(1))}},
    {"Gelu", "", 20, 1, .gelu = "none", .step = {STEP(gelu, 0, 0)}},
    {"Gelu", "", 20, 1, .gelu = "tanh", .step = {STEP(gelu_tanh, 0, 0)}},
    {"Gelu", "com.microsoft", 1, 1, .gelu = "none", .step = {STEP(gelu, 0, 0)}},
    {"FastGelu", "com.microsoft", 1, 1, .step = {STEP(gelu_tanh, 0, 0)}},
};
// clang-format on

static bool is_none(const HoloMapStep *s)
{
    return !s->op && !s->a && !s->b && s->number == 0;
}

static bool is_f32(const HoloTensor *t)
{
    return t->kind == HOLO_TENSOR && t->dtype == HOLO_F32 && t->rank >= 0;
}

static bool operands_fit(const HoloCall *call, const Formula *f)
{
    if (call->in_count > HOLO_MAP_INPUTS || (f->in_count && call->in_count != f->in_count)) return false;
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i] ? !is_f32(call->in[i]) : f->in_count > 0) return false;
    return call->in_count > 0 && call->in[0];
}

// Steps work for elements of either sign, so a number that is not finite cannot be a factor.
static bool attributes_fit(const HoloCall *call, const Formula *f)
{
    for (int i = 0; i < HOLO_COUNT(f->attr) && f->attr[i].name; i++) {
        double x = holo_attr_float(call, f->attr[i].name, f->attr[i].fallback);
        if (!isfinite((float)x) || (f->most > 0 && !(x > 0 && x <= f->most))) return false;
    }
    return true;
}

static void formula_emit(const HoloCall *call, const Formula *f, HoloProgram *out)
{
    for (int i = 0; i < HOLO_COUNT(f->step) && !is_none(&f->step[i]); i++)
        emit(out, f->step[i].op, f->step[i].a, f->step[i].b, f->step[i].number);
    for (int i = 0; i < HOLO_COUNT(f->attr) && f->attr[i].name; i++)
        out->step[f->attr[i].step].number = (float)holo_attr_float(call, f->attr[i].name, f->attr[i].fallback);
}

bool holo_formula(const HoloCall *call, HoloProgram *out)
{
    *out = (HoloProgram){0};
    for (int i = 0; i < HOLO_COUNT(formulas); i++) {
        const Formula *f = &formulas[i];
        if (strcmp(f->name, call->op->name) || strcmp(f->domain, call->op->domain) || call->version < f->since)
            continue;
        if (!operands_fit(call, f) || (f->gelu && !gelu_is(call, f->gelu))) continue;
        if (f->fits) return f->fits(call, out);
        if (!attributes_fit(call, f)) return false;
        formula_emit(call, f, out);
        return true;
    }
    return false;
}

bool holo_formula_has(const char *domain, const char *name)
{
    for (int i = 0; i < HOLO_COUNT(formulas); i++)
        if (!strcmp(formulas[i].name, name) && !strcmp(formulas[i].domain, domain)) return true;
    return false;
}
