// isa_pointwise.c - turns pointwise programs of plans into portable ones. Primitives are one instruction or two;
// formulas follow from format/map_ops.def. isa_elements.c finds the elements of inputs.
#include "isa/isa_pointwise.h"
#include "isa/isa_elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- writing

typedef struct Writer {
    HoloIsaElements         e;
    const HoloIsaPointwise *of;
    int                     x[HOLO_MAP_INPUTS];     // parameters
    int                     value[HOLO_MAP_INPUTS]; // registers
} Writer;

static int real_number(HoloIsaBuilder *b, float number)
{
    return holo_isa_once(b, holo_isa_const_float(b, HOLO_F32, (double)number));
}

static void declare(Writer *w)
{
    const HoloIsaPointwise *of = w->of;
    char                    name[16];
    for (int i = of->over_output; i < HOLO_MAP_INPUTS; i++) {
        if (!(of->inputs >> i & 1)) continue;
        snprintf(name, sizeof name, "x%d", i);
        w->x[i] = holo_isa_param(&w->e.b, name, HOLO_F32, HOLO_ISA_IN);
    }
    bool is_read = of->over_output && of->inputs & 1;
    w->e.y       = holo_isa_param(&w->e.b, "y", HOLO_F32, is_read ? HOLO_ISA_INOUT : HOLO_ISA_OUT);
}

static void load(Writer *w)
{
    const HoloIsaPointwise *of = w->of;
    for (int i = 0; i < HOLO_MAP_INPUTS; i++) {
        if (!(of->inputs >> i & 1)) continue;
        bool is_output = of->over_output && !i;
        w->value[i]    = holo_isa_elements_load(&w->e, is_output ? w->e.y : w->x[i], is_output ? NULL : of->in[i]);
    }
}

static int value(HoloIsaBuilder *b, HoloIsaOp op, int x, int y, int z)
{
    return holo_isa_once(b, holo_isa_value(b, op, HOLO_F32, x, y, z));
}

// ---- the functions

typedef int Function(HoloIsaBuilder *to, int a, int b); // the register of the result

#define ONE(name, op)                                       \
    static int isa_##name(HoloIsaBuilder *to, int a, int b) \
    {                                                       \
        (void)b;                                            \
        return value(to, HOLO_ISA_##op, a, 0, 0);           \
    }
#define TWO(name, op)                                       \
    static int isa_##name(HoloIsaBuilder *to, int a, int b) \
    {                                                       \
        return value(to, HOLO_ISA_##op, a, b, 0);           \
    }
TWO(add, ADD)
TWO(sub, SUB)
TWO(mul, MUL)
TWO(div, DIV)
TWO(max, MAX)
TWO(min, MIN)
TWO(pow, POW)
ONE(neg, NEG)
ONE(abs, ABS)
ONE(sqrt, SQRT)
ONE(exp, EXP)
ONE(sigmoid, SIGMOID)
ONE(tanh, TANH)
ONE(erf, ERF)
ONE(log, LOG)
ONE(sin, SIN)
ONE(cos, COS)
ONE(tan, TAN)
ONE(asin, ASIN)
ONE(acos, ACOS)
ONE(atan, ATAN)
ONE(floor, FLOOR)
ONE(ceil, CEIL)
ONE(round, ROUND)
ONE(sign, SIGN)

static int compare(HoloIsaBuilder *to, HoloIsaCond is, int x, int y)
{
    return holo_isa_once(to, holo_isa_compare(to, is, HOLO_F32, x, y));
}

static int isa_at_least(HoloIsaBuilder *to, int a, int b)
{
    return value(to, HOLO_ISA_SEL, compare(to, HOLO_ISA_COND_LT, a, b), b, a);
}

static int isa_at_most(HoloIsaBuilder *to, int a, int b)
{
    return value(to, HOLO_ISA_SEL, compare(to, HOLO_ISA_COND_GT, a, b), b, a);
}

#define INF                 INFINITY
#define N(number)           real_number(to, number)
#define LET1(r, name, x)    int r = isa_##name(to, x, 0);
#define LET2(r, name, x, y) int r = isa_##name(to, x, y);
#define PICK(r, is, x, y, u, v)                         \
    int r##_is = compare(to, HOLO_ISA_COND_##is, x, y); \
    int r      = value(to, HOLO_ISA_SEL, r##_is, u, v);
#define GIVE(r) return r;
#define HOLO_MAP_OP(...)
#define HOLO_MAP_FORMULA(id, name, operands, ...)           \
    static int isa_##name(HoloIsaBuilder *to, int a, int b) \
    {                                                       \
        (void)b;                                            \
        __VA_ARGS__                                         \
    }
#include "format/map_ops.def"
#undef HOLO_MAP_OP

static const struct {
    Function *write;
    int       operands;
} functions[HOLO_MAP_OPS] = {
#define HOLO_MAP_OP(id, name, operands) [id] = {isa_##name, operands},
#include "format/map_ops.def"
#undef HOLO_MAP_OP
};

static int step(HoloIsaBuilder *b, const HoloMapStep *s, const int *values)
{
    int have[2] = {0};
    for (int i = 0; i < functions[s->op].operands; i++) {
        int operand = i ? s->b : s->a;
        have[i]     = operand == HOLO_MAP_NUMBER ? real_number(b, s->number) : values[operand];
    }
    return functions[s->op].write(b, have[0], have[1]);
}

int holo_isa_pointwise_steps(HoloIsaBuilder *b, const HoloProgram *program, const int *inputs)
{
    int values[HOLO_MAP_INPUTS + HOLO_MAP_STEPS], last = inputs[0];
    memcpy(values, inputs, HOLO_MAP_INPUTS * sizeof *inputs);
    for (uint32_t i = 0; i < program->count; i++)
        last = values[HOLO_MAP_INPUTS + i] = step(b, &program->step[i], values);
    return last;
}

HoloStatus holo_isa_pointwise(HoloArena *arena, const char *name, const HoloIsaPointwise *pointwise,
                              HoloIsaProgram *out_program, HoloError *error)
{
    const HoloProgram *program = pointwise->program;
    Writer             w       = {.e = {.out = pointwise->out}, .of = pointwise};
    holo_isa_begin(&w.e.b, arena, name);
    declare(&w);
    holo_isa_elements_begin(&w.e);
    load(&w);
    holo_isa_elements_end(&w.e, holo_isa_pointwise_steps(&w.e.b, program, w.value));
    return holo_isa_finish(&w.e.b, out_program, error);
}
