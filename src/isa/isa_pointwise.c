// isa_pointwise.c - pointwise programs of plans as portable ones: each function as instructions, by a table, and the place
// of a lane's element in inputs that broadcast.
#include "isa/isa_pointwise.h"

#include "base/dim.h"

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
    [HOLO_MAP_gelu]     = {IN(MUL, A, 0.707106781f), I1(ERF, R0), IN(ADD, R1, 1), I2(MUL, R2, A), IN(MUL, R3, 0.5f)},
    [HOLO_MAP_gelu_tanh] = {I2(MUL, A, A), IN(MUL, R0, 0.044715f), IN(ADD, R1, 1), I2(MUL, R2, A),
                            IN(MUL, R3, 0.797884561f), I1(TANH, R4), IN(ADD, R5, 1), IN(MUL, A, 0.5f), I2(MUL, R6, R7)},
    [HOLO_MAP_hard_swish] = {IN(MUL, A, 1.0f / 6), IN(ADD, R0, 0.5f), SETN(LT, R1, 0), SELN(R2, 0, R1), SETN(GT, R3, 1),
                             SELN(R4, 1, R3), I2(MUL, A, R5)},
};
// clang-format on

// ---- where things are

typedef struct Writer {
    HoloIsaBuilder          b;
    const HoloIsaPointwise *of;
    int                     y, x[HOLO_MAP_INPUTS];                   // parameters
    int                     lane;                                    // the register with its number
    int                     value[HOLO_MAP_INPUTS + HOLO_MAP_STEPS]; // registers of inputs and results
} Writer;

// The register of what was just written or, where an earlier instruction has it already, that one's: all that a lane does
// before its store follows from operands alone.
static int once(Writer *w, int result)
{
    HoloIsaBuilder *b = &w->b;
    if (b->status) return result;
    const HoloIsaInst *last = &b->code[b->program.count - 1];
    for (const HoloIsaInst *i = b->code; i < last; i++) {
        if (i->op != last->op || i->type != last->type || i->how != last->how || i->bits != last->bits ||
            i->a != last->a || i->b != last->b || i->c != last->c)
            continue;
        b->program.count--;
        b->program.register_count--;
        return i->dst;
    }
    return result;
}

static int whole(Writer *w, HoloIsaOp op, int a, int b, int c)
{
    return once(w, holo_isa_value(&w->b, op, HOLO_I64, a, b, c));
}

static int whole_number(Writer *w, int64_t number)
{
    return once(w, holo_isa_const_int(&w->b, HOLO_I64, number));
}

static int real_number(Writer *w, float number)
{
    return once(w, holo_isa_const_float(&w->b, HOLO_F32, (double)number));
}

// Size d of the array, as a register.
static int size_of(Writer *w, const HoloTensor *t, const char *array, int d)
{
    char name[HOLO_ISA_MAX_NAME];
    int  param = 0, count = w->b.program.param_count;
    if (t->dim[d] >= 0) return whole_number(w, t->dim[d]);
    snprintf(name, sizeof name, "%s_%d", array, d);
    while (param < count && strcmp(w->b.params[param].name, name)) param++;
    if (param == count) param = holo_isa_param(&w->b, name, HOLO_I64, HOLO_ISA_VALUE);
    return once(w, holo_isa_get_param(&w->b, param));
}

// The product of the output's sizes from <= d < to, as a register.
static int extent(Writer *w, int from, int to)
{
    const HoloTensor *out   = w->of->out;
    uint64_t          known = 1; // wraps where there are more elements than there can be
    int               all   = -1;
    for (int d = from; d < to; d++) {
        if (out->dim[d] >= 0) {
            known *= (uint64_t)out->dim[d];
            continue;
        }
        int size = size_of(w, out, "y", d);
        all      = all < 0 ? size : whole(w, HOLO_ISA_MUL, all, size, 0);
    }
    if (all >= 0 && known == 1) return all;
    int number = whole_number(w, (int64_t)known);
    return all < 0 ? number : whole(w, HOLO_ISA_MUL, all, number, 0);
}

static bool is_one(const HoloTensor *t, int from, int to)
{
    for (int d = from; d < to; d++)
        if (t->dim[d] != 1) return false;
    return true;
}

// Where the lane is in the output's dimensions from <= d < to, taken as one.
static int place(Writer *w, int from, int to)
{
    const HoloTensor *out = w->of->out;
    int               at  = w->lane;
    if (!is_one(out, to, out->rank)) at = whole(w, HOLO_ISA_DIV, at, extent(w, to, out->rank), 0);
    if (!is_one(out, 0, from)) at = whole(w, HOLO_ISA_REM, at, extent(w, from, to), 0);
    return at;
}

typedef enum Way { // of an input along a dimension of the output
    STILL,
    RUNS,
    MAYBE, // one or the other: that depends on sizes of the run
} Way;

static Way way_of(HoloDim in, HoloDim out)
{
    if (in == out && in != HOLO_DIM_UNKNOWN) return RUNS;
    return in == 1 ? STILL : MAYBE;
}

// The index of the lane's element in input i. Neighbouring dimensions along which it runs are one.
static int index_of(Writer *w, int i, const char *name)
{
    const HoloTensor *in = w->of->in[i], *out = w->of->out;
    int               index = -1, skip = in && out ? out->rank - in->rank : -1;
    if (!in || in->rank < 0 || out->rank < 0 || skip < 0) return w->lane;
    for (int d = skip, to; d < out->rank; d = to) {
        Way way = way_of(in->dim[d - skip], out->dim[d]);
        to      = d + 1;
        if (way == STILL) continue;
        while (way == RUNS && to < out->rank && way_of(in->dim[to - skip], out->dim[to]) == RUNS) to++;
        int at   = place(w, d, to);
        int size = way == MAYBE ? size_of(w, in, name, d - skip) : index >= 0 ? extent(w, d, to) : -1;
        if (way == MAYBE) at = whole(w, HOLO_ISA_REM, at, size, 0); // of a size of 1, that is 0
        index = index < 0 ? at : whole(w, HOLO_ISA_MAD, index, size, at);
    }
    return index < 0 ? whole_number(w, 0) : index;
}

// ---- writing

static void declare(Writer *w)
{
    const HoloIsaPointwise *of = w->of;
    char                    name[8];
    for (int i = of->over_output; i < HOLO_MAP_INPUTS; i++) {
        if (!(of->inputs >> i & 1)) continue;
        snprintf(name, sizeof name, "x%d", i);
        w->x[i] = holo_isa_param(&w->b, name, HOLO_F32, HOLO_ISA_IN);
    }
    bool is_read = of->over_output && of->inputs & 1;
    w->y         = holo_isa_param(&w->b, "y", HOLO_F32, is_read ? HOLO_ISA_INOUT : HOLO_ISA_OUT);
}

static void load(Writer *w)
{
    const HoloIsaPointwise *of = w->of;
    char                    name[8];
    for (int i = 0; i < HOLO_MAP_INPUTS; i++) {
        if (!(of->inputs >> i & 1)) continue;
        snprintf(name, sizeof name, "x%d", i);
        bool is_output = of->over_output && !i;
        int  index     = is_output ? w->lane : index_of(w, i, name);
        w->value[i]    = holo_isa_load(&w->b, HOLO_ISA_LD, is_output ? w->y : w->x[i], index);
    }
}

static int part(Writer *w, const Part *p, const int *have)
{
    const HoloIsaOpInfo *info  = holo_isa_op(p->op);
    int                  in[3] = {0};
    for (int i = 0; i < 3; i++)
        if (holo_isa_is_register(info->kind[i + 1]))
            in[i] = p->operand[i] == K ? real_number(w, p->number) : have[p->operand[i]];
    if (p->op == HOLO_ISA_SET) return once(w, holo_isa_compare(&w->b, (HoloIsaCond)p->cond, HOLO_F32, in[0], in[1]));
    return once(w, holo_isa_value(&w->b, (HoloIsaOp)p->op, HOLO_F32, in[0], in[1], in[2]));
}

static int step(Writer *w, const HoloMapStep *s)
{
    static const uint8_t operands[HOLO_MAP_OPS] = {
#define HOLO_MAP_OP(id, name, operands) [id] = operands,
#include "format/map_ops.def"
#undef HOLO_MAP_OP
    };
    int have[R0 + ROW] = {0}, count = R0;
    for (int i = 0; i < operands[s->op]; i++) {
        int operand = i ? s->b : s->a;
        have[A + i] = operand == HOLO_MAP_NUMBER ? real_number(w, s->number) : w->value[operand];
    }
    for (const Part *p = functions[s->op]; p < functions[s->op] + ROW && p->op; p++) have[count++] = part(w, p, have);
    return have[count - 1];
}

HoloStatus holo_isa_pointwise(HoloArena *arena, const char *name, const HoloIsaPointwise *pointwise,
                              HoloIsaProgram *out_program, HoloError *error)
{
    const HoloProgram *program = pointwise->program;
    Writer             w       = {.of = pointwise};
    holo_isa_begin(&w.b, arena, name);
    declare(&w);
    w.lane = holo_isa_special(&w.b, HOLO_I64, HOLO_ISA_SPECIAL_GLOBAL_ID);
    int n  = holo_isa_length(&w.b, HOLO_I64, w.y);
    holo_isa_control(&w.b, HOLO_ISA_IF, holo_isa_compare(&w.b, HOLO_ISA_COND_LT, HOLO_I64, w.lane, n));
    load(&w);
    int last = w.value[0];
    for (uint32_t i = 0; i < program->count; i++) last = w.value[HOLO_MAP_INPUTS + i] = step(&w, &program->step[i]);
    holo_isa_store(&w.b, HOLO_ISA_ST, w.y, w.lane, last);
    holo_isa_control(&w.b, HOLO_ISA_END, 0);
    return holo_isa_finish(&w.b, out_program, error);
}
