// isa_pointwise.c - pointwise programs of plans as portable ones: each function as instructions, by a table. Elements of
// inputs are found by isa_elements.c.
#include "isa/isa_pointwise.h"
#include "isa/isa_elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- the functions

enum {
    A,
    B,
    K,
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10
}; // operands of the function; a number; results in this row
enum { ROW = 12 };

typedef struct Part { // an instruction of a function
    uint8_t op, cond; // op 0: the function ends before
    uint8_t operand[3];
    float   number; // K
} Part;

// clang-format off
#define I1(op, a)            {HOLO_ISA_##op, 0, {a}, 0}
#define I2(op, a, b)         {HOLO_ISA_##op, 0, {a, b}, 0}
#define IN(op, a, number)    {HOLO_ISA_##op, 0, {a, K}, number}
#define SET(how, a, b)       {HOLO_ISA_SET, HOLO_ISA_COND_##how, {a, b}, 0}
#define SETN(how, a, number) {HOLO_ISA_SET, HOLO_ISA_COND_##how, {a, K}, number}
#define SEL(p, a, b)         {HOLO_ISA_SEL, 0, {p, a, b}, 0}
#define SELN(p, number, b)   {HOLO_ISA_SEL, 0, {p, K, b}, number}

static const Part functions[HOLO_MAP_OPS][ROW] = {
    [HOLO_MAP_add]      = {I2(ADD, A, B)},
    [HOLO_MAP_sub]      = {I2(SUB, A, B)},
    [HOLO_MAP_mul]      = {I2(MUL, A, B)},
    [HOLO_MAP_div]      = {I2(DIV, A, B)},
    [HOLO_MAP_max]      = {I2(MAX, A, B)},
    [HOLO_MAP_min]      = {I2(MIN, A, B)},
    [HOLO_MAP_at_least] = {SET(LT, A, B), SEL(R0, B, A)},
    [HOLO_MAP_at_most]  = {SET(GT, A, B), SEL(R0, B, A)},
    [HOLO_MAP_leaky]    = {SETN(LT, A, 0), I2(MUL, A, B), SEL(R0, R1, A)},
    [HOLO_MAP_neg]      = {I1(NEG, A)},
    [HOLO_MAP_abs]      = {I1(ABS, A)},
    [HOLO_MAP_sqrt]     = {I1(SQRT, A)},
    [HOLO_MAP_exp]      = {I1(EXP, A)},
    [HOLO_MAP_sigmoid]  = {I1(SIGMOID, A)},
    [HOLO_MAP_tanh]     = {I1(TANH, A)},
    [HOLO_MAP_erf]      = {I1(ERF, A)},
    [HOLO_MAP_log]      = {I1(LOG, A)},
    // max(a, 0) + log(s), where s = 1 + e^-|a|, and what s lost in rounding
    [HOLO_MAP_softplus] = {I1(ABS, A), I1(NEG, R0), I1(EXP, R1), IN(ADD, R2, 1), I1(LOG, R3), IN(SUB, R3, 1),
                           I2(SUB, R2, R5), I2(DIV, R6, R3), I2(ADD, R4, R7), SETN(LT, A, 0), SELN(R9, 0, A),
                           I2(ADD, R10, R8)},
    [HOLO_MAP_pow]      = {I2(POW, A, B)},
    [HOLO_MAP_root]     = {SETN(EQ, A, -INFINITY), IN(ADD, A, 0), I1(SQRT, R1), SELN(R0, INFINITY, R2)},
    [HOLO_MAP_sin]      = {I1(SIN, A)},
    [HOLO_MAP_cos]      = {I1(COS, A)},
    [HOLO_MAP_tan]      = {I1(TAN, A)},
    [HOLO_MAP_asin]     = {I1(ASIN, A)},
    [HOLO_MAP_acos]     = {I1(ACOS, A)},
    [HOLO_MAP_atan]     = {I1(ATAN, A)},
    [HOLO_MAP_floor]    = {I1(FLOOR, A)},
    [HOLO_MAP_ceil]     = {I1(CEIL, A)},
    [HOLO_MAP_round]    = {I1(ROUND, A)},
    [HOLO_MAP_sign]     = {I1(SIGN, A)},
    [HOLO_MAP_above]    = {SET(GT, A, B), SEL(R0, A, K)}, // K: 0
    [HOLO_MAP_gelu]     = {IN(MUL, A, 0.707106781f), I1(ERF, R0), IN(ADD, R1, 1), IN(MUL, A, 0.5f), I2(MUL, R2, R3)},
    [HOLO_MAP_gelu_tanh] = {I2(MUL, A, A), IN(MUL, R0, 0.044715f), IN(ADD, R1, 1), I2(MUL, R2, A),
                            IN(MUL, R3, 0.797884561f), I1(TANH, R4), IN(ADD, R5, 1), IN(MUL, A, 0.5f), I2(MUL, R6, R7)},
    [HOLO_MAP_hard_swish] = {IN(MUL, A, 1.0f / 6), IN(ADD, R0, 0.5f), SETN(LT, R1, 0), SELN(R2, 0, R1), SETN(GT, R3, 1),
                             SELN(R4, 1, R3), I2(MUL, A, R5)},
};
// clang-format on

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

static int part(HoloIsaBuilder *b, const Part *p, const int *have)
{
    const HoloIsaOpInfo *info  = holo_isa_op(p->op);
    int                  in[3] = {0};
    for (int i = 0; i < 3; i++)
        if (holo_isa_is_register(info->kind[i + 1]))
            in[i] = p->operand[i] == K ? real_number(b, p->number) : have[p->operand[i]];
    if (p->op == HOLO_ISA_SET)
        return holo_isa_once(b, holo_isa_compare(b, (HoloIsaCond)p->cond, HOLO_F32, in[0], in[1]));
    return value(b, (HoloIsaOp)p->op, in[0], in[1], in[2]);
}

static int step(HoloIsaBuilder *b, const HoloMapStep *s, const int *values)
{
    static const uint8_t operands[HOLO_MAP_OPS] = {
#define HOLO_MAP_OP(id, name, operands) [id] = operands,
#include "format/map_ops.def"
#undef HOLO_MAP_OP
    };
    int have[R0 + ROW] = {0}, count = R0;
    for (int i = 0; i < operands[s->op]; i++) {
        int operand = i ? s->b : s->a;
        have[A + i] = operand == HOLO_MAP_NUMBER ? real_number(b, s->number) : values[operand];
    }
    for (const Part *p = functions[s->op]; p < functions[s->op] + ROW && p->op; p++) have[count++] = part(b, p, have);
    return have[count - 1];
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
