// chain.c - pointwise operators as instructions: a table by names, and functions for those with several instructions.
// They must give what the operator's eval gives: for integers that wrap, quotients by 0, NaN, conversions. Operators
// whose eval computes in double what the instructions would round differently are left out, except those of f32 with a
// formula.
//
// A call has at most one argument that writes instructions: compilers evaluate arguments in different orders, and every
// one must write the same program.
#include "ops/hologram/chain.h"

#include "isa/isa_elements.h"
#include "isa/isa_pointwise.h"
#include "ops/hologram/formula.h"
#include "ops/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Row Row;

typedef struct Part { // that is being written
    HoloIsaBuilder *b;
    const HoloCall *call;
    const Row      *row;
    HoloDtype       type;                   // of the elements that are computed with: input 0, or input 1 for Where
    int             x[HOLO_CHAIN_OPERANDS]; // registers of the inputs
} Part;

struct Row {
    const char *name;
    int         since;              // older versions have another meaning
    int         in_count;           // 0: any
    uint64_t    types;              // of input 0
    int (*write)(const Part *part); // returns the register of the result; NULL: one instruction, `op`
    HoloIsaOp op;
    int       cond; // of SET
    bool (*fits)(const HoloCall *call);
};

// ---- numbers and single instructions

static int number(const Part *p, HoloDtype type, int64_t value)
{
    return holo_isa_once(p->b, holo_isa_const_int(p->b, type, value));
}

static int value(const Part *p, HoloIsaOp op, HoloDtype type, int a, int b, int c)
{
    return holo_isa_once(p->b, holo_isa_value(p->b, op, type, a, b, c));
}

static int set(const Part *p, HoloIsaCond cond, int a, int b)
{
    return holo_isa_once(p->b, holo_isa_compare(p->b, cond, p->type, a, b));
}

static int select(const Part *p, HoloDtype type, int condition, int a, int b)
{
    return value(p, HOLO_ISA_SEL, type, condition, a, b);
}

static bool is_float(HoloDtype type)
{
    return HOLO_TYPES_FLOAT >> type & 1;
}

bool holo_chain_is_number(const HoloTensor *t)
{
    return t->data && holo_isa_is_type(t->dtype) && holo_tensor_count(t) == 1;
}

static uint64_t number_bits(const HoloTensor *t)
{
    uint64_t bits = 0;
    memcpy(&bits, t->data, holo_dtype_size((HoloDtype)t->dtype));
    return t->dtype == HOLO_BOOL ? bits != 0 : bits;
}

// ---- quotients

// A quotient or a remainder. For integers, division by 0 gives 0, since instructions cannot divide by 0.
static int divide_by(const Part *p, HoloIsaOp op)
{
    const HoloTensor *divisor = p->call->in[1];
    bool              is_safe = holo_chain_is_number(divisor) && number_bits(divisor) != 0;
    if (is_float(p->type) || is_safe) return value(p, op, p->type, p->x[0], p->x[1], 0);
    int zero = number(p, p->type, 0), is_zero = set(p, HOLO_ISA_COND_EQ, p->x[1], zero);
    int some = select(p, p->type, is_zero, number(p, p->type, 1), p->x[1]);
    return select(p, p->type, is_zero, zero, value(p, op, p->type, p->x[0], some, 0));
}

static int divide(const Part *p)
{
    return divide_by(p, HOLO_ISA_DIV);
}

static int modulo(const Part *p)
{
    return divide_by(p, holo_attr_int(p->call, "fmod", 0) ? HOLO_ISA_REM : HOLO_ISA_MOD);
}

// ---- bits

// Shifts by all bits or more give 0.
static int shift(const Part *p)
{
    bool is_left = holo_attr_is(p->call, "direction", "", "LEFT");
    int  bits    = number(p, p->type, 8 * (int64_t)holo_dtype_size(p->type));
    int  moved   = value(p, is_left ? HOLO_ISA_SHL : HOLO_ISA_SHR, p->type, p->x[0], p->x[1], 0);
    int  zero    = number(p, p->type, 0);
    return select(p, p->type, set(p, HOLO_ISA_COND_LT, p->x[1], bits), moved, zero);
}

static bool shift_fits(const HoloCall *call)
{
    return holo_attr_is(call, "direction", "", "LEFT") || holo_attr_is(call, "direction", "", "RIGHT");
}

// ---- comparisons

static int compare(const Part *p)
{
    return set(p, (HoloIsaCond)p->row->cond, p->x[0], p->x[1]);
}

static int equal(const Part *p)
{
    if (p->type != HOLO_BOOL) return compare(p);
    return value(p, HOLO_ISA_NOT, HOLO_BOOL, value(p, HOLO_ISA_XOR, HOLO_BOOL, p->x[0], p->x[1], 0), 0, 0);
}

static int is_nan(const Part *p)
{
    return set(p, HOLO_ISA_COND_NE, p->x[0], p->x[0]);
}

static int is_infinite(const Part *p)
{
    int infinity = holo_isa_once(p->b, holo_isa_const_float(p->b, p->type, (double)INFINITY));
    return set(p, HOLO_ISA_COND_EQ, value(p, HOLO_ISA_ABS, p->type, p->x[0], 0, 0), infinity);
}

static bool finds_both(const HoloCall *call)
{
    return !holo_attr_find(call, "detect_negative") && !holo_attr_find(call, "detect_positive");
}

// ---- choices

static int where(const Part *p)
{
    return select(p, p->type, p->x[0], p->x[1], p->x[2]);
}

// The larger, or smaller, of an element and a bound; NaN stays.
static int hold(const Part *p, HoloIsaCond beyond, int x, int bound)
{
    if (!is_float(p->type))
        return value(p, beyond == HOLO_ISA_COND_LT ? HOLO_ISA_MAX : HOLO_ISA_MIN, p->type, x, bound, 0);
    return select(p, p->type, set(p, beyond, x, bound), bound, x);
}

static int clip(const Part *p)
{
    int x = p->x[0];
    if (holo_in(p->call, 1)) x = hold(p, HOLO_ISA_COND_LT, x, p->x[1]);
    return holo_in(p->call, 2) ? hold(p, HOLO_ISA_COND_GT, x, p->x[2]) : x;
}

static bool clip_fits(const HoloCall *call)
{
    for (int i = 1; i < call->in_count; i++) {
        if (call->in[i] && call->in[i]->rank > call->in[0]->rank) return false;
        for (int d = 0; call->in[i] && d < call->in[i]->rank; d++)
            if (call->in[i]->dim[d] != 1) return false;
    }
    return true;
}

static int relu(const Part *p)
{
    if (HOLO_TYPES_UINT >> p->type & 1) return p->x[0];
    return hold(p, HOLO_ISA_COND_LT, p->x[0], number(p, p->type, 0));
}

// ---- of one input

static int absolute(const Part *p)
{
    return HOLO_TYPES_UINT >> p->type & 1 ? p->x[0] : value(p, HOLO_ISA_ABS, p->type, p->x[0], 0, 0);
}

static int sign(const Part *p)
{
    if (HOLO_TYPES_UINT >> p->type & 1) return value(p, HOLO_ISA_MIN, p->type, p->x[0], number(p, p->type, 1), 0);
    return value(p, HOLO_ISA_SIGN, p->type, p->x[0], 0, 0);
}

static int cast(const Part *p)
{
    HoloDtype to = (HoloDtype)p->call->out[0]->dtype;
    return to == p->type ? p->x[0] : holo_isa_once(p->b, holo_isa_convert(p->b, to, p->type, p->x[0]));
}

// eval converts 64-bit integers to the narrower floats through double, which rounds twice.
static bool cast_fits(const HoloCall *call)
{
    unsigned from = call->in[0]->dtype, to = call->out[0]->dtype;
    bool     is_long = from == HOLO_U64 || from == HOLO_I64, is_half = to == HOLO_F16 || to == HOLO_BF16;
    if (!holo_isa_is_type(to) || (from == HOLO_U64 && to == HOLO_F32)) return false;
    return !(is_long && is_half);
}

// ---- of any number of inputs

static int fold(const Part *p)
{
    int x = p->x[0];
    for (int i = 1; i < p->call->in_count; i++) x = value(p, p->row->op, p->type, x, p->x[i], 0);
    return x;
}

static int mean(const Part *p)
{
    int count = number(p, p->type, p->call->in_count);
    return value(p, HOLO_ISA_DIV, p->type, fold(p), count, 0);
}

// ---- the table

#define INTEGERS (HOLO_TYPES_INT | HOLO_TYPES_UINT)
#define SIGNED   (HOLO_TYPES_INT | HOLO_TYPES_FLOAT)
#define NUMBERS  (HOLO_TYPES_NUMBER)
#define BOOL     HOLO_BIT(BOOL)
#define F64      HOLO_BIT(F64)
#define ONE(id)  .op = HOLO_ISA_##id
#define SET(id)  .write = compare, .cond = HOLO_ISA_COND_##id

// clang-format off
static const Row rows[] = {
    {"Add", 7, 2, NUMBERS, ONE(ADD)},
    {"Sub", 7, 2, NUMBERS, ONE(SUB)},
    {"Mul", 7, 2, NUMBERS, ONE(MUL)},
    {"Div", 7, 2, NUMBERS, .write = divide},
    {"Mod", 10, 2, NUMBERS, .write = modulo},
    {"Equal", 7, 2, NUMBERS | BOOL, .write = equal, .cond = HOLO_ISA_COND_EQ},
    {"Less", 7, 2, NUMBERS, SET(LT)},
    {"Greater", 7, 2, NUMBERS, SET(GT)},
    {"LessOrEqual", 12, 2, NUMBERS, SET(LE)},
    {"GreaterOrEqual", 12, 2, NUMBERS, SET(GE)},
    {"And", 7, 2, BOOL, ONE(AND)},
    {"Or", 7, 2, BOOL, ONE(OR)},
    {"Xor", 7, 2, BOOL, ONE(XOR)},
    {"Not", 1, 1, BOOL, ONE(NOT)},
    {"BitwiseAnd", 18, 2, INTEGERS, ONE(AND)},
    {"BitwiseOr", 18, 2, INTEGERS, ONE(OR)},
    {"BitwiseXor", 18, 2, INTEGERS, ONE(XOR)},
    {"BitwiseNot", 18, 1, INTEGERS, ONE(NOT)},
    {"BitShift", 11, 2, HOLO_TYPES_UINT, .write = shift, .fits = shift_fits},
    {"Abs", 6, 1, NUMBERS, .write = absolute},
    {"Neg", 6, 1, SIGNED, ONE(NEG)},
    {"Sign", 9, 1, NUMBERS, .write = sign},
    {"Relu", 6, 1, NUMBERS, .write = relu},
    {"Sqrt", 6, 1, HOLO_TYPES_FLOAT, ONE(SQRT)},
    {"Ceil", 6, 1, HOLO_TYPES_FLOAT, ONE(CEIL)},
    {"Floor", 6, 1, HOLO_TYPES_FLOAT, ONE(FLOOR)},
    {"Round", 11, 1, HOLO_TYPES_FLOAT, ONE(ROUND)},
    {"Reciprocal", 6, 1, F64, ONE(RCP)},
    {"IsNaN", 9, 1, HOLO_TYPES_FLOAT, .write = is_nan},
    {"IsInf", 10, 1, HOLO_TYPES_FLOAT, .write = is_infinite, .fits = finds_both},
    {"Where", 9, 3, BOOL, .write = where},
    {"Clip", 11, 0, NUMBERS, .write = clip, .fits = clip_fits},
    {"Cast", 9, 1, NUMBERS | BOOL, .write = cast, .fits = cast_fits},
    {"Min", 8, 0, NUMBERS, .write = fold, ONE(MIN)},
    {"Max", 8, 0, NUMBERS, .write = fold, ONE(MAX)},
    {"Sum", 8, 0, F64, .write = fold, ONE(ADD)},
    {"Mean", 8, 0, F64, .write = mean, ONE(ADD)},
};
// clang-format on

static bool is_element_type(const HoloTensor *t)
{
    return t->kind == HOLO_TENSOR && t->rank >= 0 && holo_isa_is_type(t->dtype);
}

static const Row *row_of(const HoloCall *call)
{
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        const Row *row = &rows[i];
        if (strcmp(row->name, call->op->name) || call->version < row->since) continue;
        bool fits = !*call->op->domain && row->types >> call->in[0]->dtype & 1 &&
                    (!row->in_count || row->in_count == call->in_count) && (!row->fits || row->fits(call));
        return fits ? row : NULL;
    }
    return NULL;
}

// Native kernels have faster functions than the interpreter, which computes them as class exact does.
static bool is_arithmetic(const HoloProgram *program)
{
    static const bool plain[HOLO_MAP_OPS] = {
        [HOLO_MAP_add] = true,      [HOLO_MAP_sub] = true,     [HOLO_MAP_mul] = true,   [HOLO_MAP_div] = true,
        [HOLO_MAP_max] = true,      [HOLO_MAP_min] = true,     [HOLO_MAP_neg] = true,   [HOLO_MAP_abs] = true,
        [HOLO_MAP_at_least] = true, [HOLO_MAP_at_most] = true, [HOLO_MAP_leaky] = true, [HOLO_MAP_sqrt] = true,
        [HOLO_MAP_floor] = true,    [HOLO_MAP_ceil] = true,    [HOLO_MAP_round] = true, [HOLO_MAP_sign] = true,
        [HOLO_MAP_above] = true,
    };
    for (uint32_t i = 0; i < program->count; i++)
        if (!plain[program->step[i].op]) return false;
    return program->count > 0;
}

// Operators of f32 follow their formulas, here as elsewhere; others have none.
static bool has_formula(const HoloCall *call, HoloProgram *out)
{
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i] && call->in[i]->dtype != HOLO_F32) return false;
    return call->out[0]->dtype == HOLO_F32 && holo_formula(call, out) && is_arithmetic(out);
}

bool holo_chain_has(const HoloCall *call)
{
    HoloProgram formula;
    if (!call->op || call->in_count < 1 || call->in_count > HOLO_CHAIN_OPERANDS || !call->in[0]) return false;
    if (call->out_count != 1 || !call->out[0] || !is_element_type(call->out[0])) return false;
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i] && !is_element_type(call->in[i])) return false;
    return row_of(call) || has_formula(call, &formula);
}

// ---- the program of a chain

typedef struct Writer {
    HoloIsaElements  e;
    const HoloChain *chain;
    int              in[HOLO_CHAIN_INPUTS], result[HOLO_CHAIN_PARTS]; // registers
} Writer;

static void declare(Writer *w)
{
    char name[16];
    for (int i = 0; i < w->chain->in_count; i++) {
        if (!w->chain->in[i]) continue;
        snprintf(name, sizeof name, "x%d", i);
        w->in[i] = holo_isa_param(&w->e.b, name, (HoloDtype)w->chain->in[i]->dtype, HOLO_ISA_IN);
    }
    w->e.y = holo_isa_param(&w->e.b, "y", (HoloDtype)w->e.out->dtype, HOLO_ISA_OUT);
}

// Loads one element for all lanes, whatever its rank, or the one at the lane's position: see chain_run.h. A program that
// broadcasts itself loads the one that meets the lane's.
static int load(Writer *w, int i)
{
    static const HoloTensor one    = {.kind = HOLO_TENSOR};
    const HoloTensor       *in     = w->chain->in[i];
    bool                    is_one = true;
    for (int d = 0; d < in->rank; d++) is_one = is_one && in->dim[d] == 1;
    return holo_isa_elements_load(&w->e, w->in[i], is_one ? &one : w->chain->broadcasts ? in : NULL);
}

static int constant(Writer *w, const HoloTensor *t)
{
    int r = holo_isa_const_int(&w->e.b, (HoloDtype)t->dtype, 0);
    if (w->e.b.status) return r;
    w->e.b.code[w->e.b.program.count - 1].bits = number_bits(t);
    return holo_isa_once(&w->e.b, r);
}

static int part_write(Writer *w, const HoloChainPart *part)
{
    const HoloCall *call = &part->call;
    const Row      *row  = row_of(call);
    HoloProgram     formula;
    Part            p = {.b = &w->e.b, .call = call, .row = row, .type = (HoloDtype)call->in[0]->dtype};
    for (int i = 0; i < call->in_count; i++) {
        if (!call->in[i]) continue;
        int from = part->operand[i];
        p.x[i]   = holo_chain_is_number(call->in[i]) ? constant(w, call->in[i])
                   : from < 0                        ? w->in[~from]
                                                     : w->result[from];
    }
    if (has_formula(call, &formula)) return holo_isa_pointwise_steps(&w->e.b, &formula, p.x);
    if (row->write == where) p.type = (HoloDtype)call->in[1]->dtype;
    return row->write ? row->write(&p) : value(&p, row->op, p.type, p.x[0], row->in_count > 1 ? p.x[1] : 0, 0);
}

HoloStatus holo_chain_program(HoloArena *arena, const HoloChain *chain, HoloString *out_bytes, HoloError *error)
{
    Writer         w = {.e = {.out = chain->part[chain->count - 1].call.out[0]}, .chain = chain};
    HoloIsaProgram program;
    uint8_t       *bytes;
    size_t         size;
    holo_isa_begin(&w.e.b, arena, "pointwise");
    declare(&w);
    holo_isa_elements_begin(&w.e);
    for (int i = 0; i < chain->in_count; i++)
        if (chain->in[i]) w.in[i] = load(&w, i);
    for (int i = 0; i < chain->count; i++) w.result[i] = part_write(&w, &chain->part[i]);
    holo_isa_elements_end(&w.e, w.result[chain->count - 1]);
    HOLO_TRY(holo_isa_finish(&w.e.b, &program, error));
    HOLO_TRY(holo_isa_encode(arena, &program, &bytes, &size, error));
    *out_bytes = (HoloString){(const char *)bytes, size};
    return HOLO_OK;
}
