// ptx_code.c - each instruction of a portable program as PTX: a table for those that are one instruction there, and
// functions for the others.
#include "lower/cuda/ptx_code.h"

#include "format/dtype.h"
#include "format/small_float.h"

#include <inttypes.h>
#include <string.h>

// ---- types

// How a type is kept in registers. Integers of fewer bits than 32 lie extended in 32 bits; f16 and bf16 as f32.
typedef struct Kind {
    char        letter; // of its registers: %f1
    const char *reg;    // type of the register
    const char *arith;  // of instructions
    const char *memory; // of loads and stores
    int         size;   // bytes of an element
} Kind;

static const Kind kinds[HOLO_DTYPE_COUNT] = {
    [HOLO_F32] = {'f', "f32", "f32", "f32", 4},   [HOLO_F64] = {'d', "f64", "f64", "f64", 8},
    [HOLO_F16] = {'f', "f32", "f32", "b16", 2},   [HOLO_BF16] = {'f', "f32", "f32", "b16", 2},
    [HOLO_I8] = {'r', "b32", "s32", "s8", 1},     [HOLO_I16] = {'r', "b32", "s32", "s16", 2},
    [HOLO_I32] = {'r', "b32", "s32", "s32", 4},   [HOLO_I64] = {'l', "b64", "s64", "s64", 8},
    [HOLO_U8] = {'r', "b32", "u32", "u8", 1},     [HOLO_U16] = {'r', "b32", "u32", "u16", 2},
    [HOLO_U32] = {'r', "b32", "u32", "u32", 4},   [HOLO_U64] = {'l', "b64", "u64", "u64", 8},
    [HOLO_BOOL] = {'p', "pred", "pred", "u8", 1},
};

static bool is_float(int type)
{
    return type == HOLO_F32 || type == HOLO_F64 || type == HOLO_F16 || type == HOLO_BF16;
}

static bool is_short(int type) // an integer that arithmetic must bring back into its range
{
    return type == HOLO_I8 || type == HOLO_U8 || type == HOLO_I16 || type == HOLO_U16;
}

HoloPtxReg holo_ptx_reg(const HoloPtx *p, int number)
{
    HoloPtxReg reg;
    snprintf(reg.text, sizeof reg.text, "%%%c%d", kinds[p->program->registers[number]].letter, number);
    return reg;
}
#define R(number) holo_ptx_reg(p, number).text

static void line(HoloPtx *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(HoloPtx *p, const char *format, ...)
{
    char    text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    holo_text_add(p->out, "    %s\n", text);
}

// Rounds a result of f16 or bf16, or wraps one of 8 or 16 bits.
static void settle(HoloPtx *p, const HoloIsaInst *i)
{
    HoloPtxReg r = holo_ptx_reg(p, i->dst);
    if (i->type == HOLO_F16) {
        line(p, "cvt.rn.f16.f32 %%h0, %s;", r.text);
        line(p, "cvt.f32.f16 %s, %%h0;", r.text);
    }
    if (i->type == HOLO_BF16) {
        line(p, "cvt.rn.bf16.f32 %%h0, %s;", r.text);
        line(p, "mov.b32 %s, {%%h1, %%h0};", r.text);
    }
    if (is_short(i->type)) line(p, "cvt.%s.%s %s, %s;", kinds[i->type].memory, kinds[i->type].arith, r.text, r.text);
}

// The f32 of the f16 or bf16 in %h0.
static void widen(HoloPtx *p, int type, const char *to)
{
    if (type == HOLO_F16)
        line(p, "cvt.f32.f16 %s, %%h0;", to);
    else
        line(p, "mov.b32 %s, {%%h1, %%h0};", to);
}

// ---- data

static void constant(HoloPtx *p, const HoloIsaInst *i)
{
    uint64_t bits = i->bits;
    if (i->type == HOLO_BOOL)
        line(p, "setp.ne.u32 %s, %d, 0;", R(i->dst), (int)(bits & 1));
    else if (i->type == HOLO_F64)
        line(p, "mov.f64 %s, 0d%016" PRIX64 ";", R(i->dst), bits);
    else if (is_float(i->type)) {
        uint32_t word = (uint32_t)bits;
        if (i->type != HOLO_F32) {
            float wide = i->type == HOLO_F16 ? holo_f16_decode((uint16_t)bits) : holo_bf16_decode((uint16_t)bits);
            memcpy(&word, &wide, sizeof word);
        }
        line(p, "mov.f32 %s, 0f%08" PRIX32 ";", R(i->dst), word);
    } else if (kinds[i->type].letter == 'l')
        line(p, "mov.b64 %s, 0x%016" PRIX64 ";", R(i->dst), bits);
    else {
        uint32_t word = (uint32_t)bits;
        if (i->type == HOLO_I8) word = (uint32_t)(int32_t)(int8_t)bits;
        if (i->type == HOLO_I16) word = (uint32_t)(int32_t)(int16_t)bits;
        if (i->type == HOLO_U8) word = (uint8_t)bits;
        if (i->type == HOLO_U16) word = (uint16_t)bits;
        line(p, "mov.b32 %s, 0x%08" PRIX32 ";", R(i->dst), word);
    }
}

static void move(HoloPtx *p, const HoloIsaInst *i)
{
    line(p, "mov.%s %s, %s;", kinds[i->type].reg, R(i->dst), R(i->a));
}

// What is left of a conversion to a type of fewer bits than its register.
static void to_int(HoloPtx *p, const HoloIsaInst *i, int from)
{
    const Kind *to = &kinds[i->type], *of = &kinds[from];
    if (is_float(from)) {
        line(p, "cvt.rzi.%s.%s %s, %s;", to->memory, of->arith, R(i->dst), R(i->a));
        if (to->letter != 'l' && from != HOLO_F64) return; // NaN gives 0 by itself
        line(p, "setp.nan.%s %%q0, %s, %s;", of->arith, R(i->a), R(i->a));
        line(p, "selp.%s %s, 0, %s, %%q0;", to->reg, R(i->dst), R(i->dst));
    } else if (to->letter == of->letter && to->size >= 4) {
        line(p, "mov.%s %s, %s;", to->reg, R(i->dst), R(i->a));
    } else {
        line(p, "cvt.%s.%s %s, %s;", to->size < 4 || to->letter == 'r' ? to->memory : to->arith, of->arith, R(i->dst),
             R(i->a));
    }
}

// Through f64, which holds all but the longest integers: so f16 and bf16 are rounded once.
static void to_half(HoloPtx *p, const HoloIsaInst *i, int from)
{
    if (from == HOLO_F64)
        line(p, "mov.f64 %%e0, %s;", R(i->a));
    else
        line(p, "cvt.rn.f64.%s %%e0, %s;", kinds[from].arith, R(i->a));
    if (i->type == HOLO_F16) {
        line(p, "cvt.rn.f16.f64 %%h0, %%e0;");
        line(p, "cvt.f32.f16 %s, %%h0;", R(i->dst));
        return;
    }
    line(p, "cvt.rn.f32.f64 %s, %%e0;", R(i->dst));
    settle(p, i);
}

static void to_float(HoloPtx *p, const HoloIsaInst *i, int from)
{
    bool is_half = i->type == HOLO_F16 || i->type == HOLO_BF16;
    if (is_half && kinds[from].letter != 'f') {
        to_half(p, i, from);
        return;
    }
    if (!is_float(from))
        line(p, "cvt.rn.%s.%s %s, %s;", kinds[i->type].arith, kinds[from].arith, R(i->dst), R(i->a));
    else if (kinds[i->type].letter == kinds[from].letter)
        move(p, i);
    else if (i->type == HOLO_F64)
        line(p, "cvt.f64.f32 %s, %s;", R(i->dst), R(i->a));
    else
        line(p, "cvt.rn.f32.f64 %s, %s;", R(i->dst), R(i->a));
    settle(p, i);
}

static const char *zero_of(int type)
{
    return !is_float(type) ? "0" : type == HOLO_F64 ? "0d0000000000000000" : "0f00000000";
}

static const char *one_of(int type)
{
    return !is_float(type) ? "1" : type == HOLO_F64 ? "0d3FF0000000000000" : "0f3F800000";
}

static void convert(HoloPtx *p, const HoloIsaInst *i)
{
    int from = i->how;
    if (i->type == from)
        move(p, i);
    else if (i->type == HOLO_BOOL)
        line(p, "setp.%s.%s %s, %s, %s;", is_float(from) ? "neu" : "ne", kinds[from].arith, R(i->dst), R(i->a),
             zero_of(from));
    else if (from == HOLO_BOOL)
        line(p, "selp.%s %s, %s, %s, %s;", kinds[i->type].reg, R(i->dst), one_of(i->type), zero_of(i->type), R(i->a));
    else if (is_float(i->type))
        to_float(p, i, from);
    else
        to_int(p, i, from);
}

static void select(HoloPtx *p, const HoloIsaInst *i)
{
    if (i->type != HOLO_BOOL) {
        line(p, "selp.%s %s, %s, %s, %s;", kinds[i->type].reg, R(i->dst), R(i->b), R(i->c), R(i->a));
        return;
    }
    line(p, "and.pred %%q0, %s, %s;", R(i->a), R(i->b));
    line(p, "not.pred %%q1, %s;", R(i->a));
    line(p, "and.pred %%q1, %%q1, %s;", R(i->c));
    line(p, "or.pred %s, %%q0, %%q1;", R(i->dst));
}

// ---- parameters and memory

enum { PARAM = 16 }; // bytes of a parameter

static void parameter(HoloPtx *p, const HoloIsaInst *i)
{
    const Kind *k = &kinds[i->type];
    if (i->type == HOLO_BOOL) {
        line(p, "ld.param.u32 %%t0, [args+%d];", i->a * PARAM);
        line(p, "setp.ne.u32 %s, %%t0, 0;", R(i->dst));
    } else if (i->type == HOLO_F16 || i->type == HOLO_BF16) {
        line(p, "ld.param.b16 %%h0, [args+%d];", i->a * PARAM);
        widen(p, i->type, R(i->dst));
    } else {
        line(p, "ld.param.%s %s, [args+%d];", k->memory, R(i->dst), i->a * PARAM);
    }
}

static void special(HoloPtx *p, const HoloIsaInst *i)
{
    line(p, "mov.u32 %%t0, %%ctaid.x;");
    line(p, "mov.u32 %%t1, %%ntid.x;");
    line(p, "mov.u32 %%t2, %%tid.x;");
    line(p, "mul.wide.u32 %%w0, %%t0, %%t1;");
    line(p, "cvt.u64.u32 %%w1, %%t2;");
    line(p, "add.s64 %%w0, %%w0, %%w1;");
    line(p, "%s %s, %%w0;", kinds[i->type].letter == 'l' ? "mov.b64" : "cvt.u32.u64", R(i->dst));
}

static void length(HoloPtx *p, const HoloIsaInst *i)
{
    line(p, "ld.param.u64 %%w0, [args+%d];", i->a * PARAM + 8);
    line(p, "%s %s, %%w0;", kinds[i->type].letter == 'l' ? "mov.b64" : "cvt.u32.u64", R(i->dst));
}

// The type in which elements of an array lie in memory.
static int stored(const HoloPtx *p, int param, int type)
{
    if (type != HOLO_F32 || p->store == HOLO_PTX_F32 || !(p->narrow >> param & 1)) return type;
    return p->store == HOLO_PTX_F16 ? HOLO_F16 : HOLO_BF16;
}

// Leaves the address of element `index` of array `param` in %w0.
static void address(HoloPtx *p, int param, int index, int size)
{
    int type = p->program->registers[index];
    line(p, "ld.param.u64 %%w1, [args+%d];", param * PARAM);
    line(p, "cvta.to.global.u64 %%w1, %%w1;");
    if (kinds[type].letter == 'l')
        line(p, "mad.lo.s64 %%w0, %s, %d, %%w1;", R(index), size);
    else
        line(p, "mad.wide.%s %%w0, %s, %d, %%w1;", kinds[type].arith, R(index), size);
}

static void load(HoloPtx *p, const HoloIsaInst *i)
{
    int         type = stored(p, i->a, i->type);
    const Kind *k    = &kinds[type];
    address(p, i->a, i->b, k->size);
    if (type == HOLO_BOOL) {
        line(p, "ld.global.u8 %%t0, [%%w0];");
        line(p, "setp.ne.u32 %s, %%t0, 0;", R(i->dst));
    } else if (type == HOLO_F16 || type == HOLO_BF16) {
        line(p, "ld.global.b16 %%h0, [%%w0];");
        widen(p, type, R(i->dst));
    } else {
        line(p, "ld.global.%s %s, [%%w0];", k->memory, R(i->dst));
    }
}

static void store(HoloPtx *p, const HoloIsaInst *i)
{
    int         type = stored(p, i->a, i->type);
    const Kind *k    = &kinds[type];
    address(p, i->a, i->b, k->size);
    if (type == HOLO_BOOL) {
        line(p, "selp.u32 %%t0, 1, 0, %s;", R(i->c));
        line(p, "st.global.u8 [%%w0], %%t0;");
    } else if (type == HOLO_F16 || type == HOLO_BF16) {
        line(p, "cvt.rn.%s.f32 %%h0, %s;", type == HOLO_F16 ? "f16" : "bf16", R(i->c));
        line(p, "st.global.b16 [%%w0], %%h0;");
    } else {
        line(p, "st.global.%s [%%w0], %s;", k->size < 4 ? (k->size == 1 ? "u8" : "u16") : k->reg, R(i->c));
    }
}

// ---- arithmetic

// One instruction: `whole` for integers, `real` for floats; the type follows. NULL: it has none.
static const struct {
    int         op, operands;
    const char *whole, *real;
} plain[] = {
    {HOLO_ISA_ADD, 2, "add", "add.rn"},   {HOLO_ISA_SUB, 2, "sub", "sub.rn"},  {HOLO_ISA_MUL, 2, "mul.lo", "mul.rn"},
    {HOLO_ISA_DIV, 2, "div", "div.rn"},   {HOLO_ISA_REM, 2, "rem", NULL},      {HOLO_ISA_MIN, 2, "min", "min.NaN"},
    {HOLO_ISA_MAX, 2, "max", "max.NaN"},  {HOLO_ISA_FMA, 3, NULL, "fma.rn"},   {HOLO_ISA_ABS, 1, "abs", "abs"},
    {HOLO_ISA_NEG, 1, "neg", "neg"},      {HOLO_ISA_SQRT, 1, NULL, "sqrt.rn"}, {HOLO_ISA_RCP, 1, NULL, "rcp.rn"},
    {HOLO_ISA_FLOOR, 1, NULL, "cvt.rmi"}, {HOLO_ISA_CEIL, 1, NULL, "cvt.rpi"}, {HOLO_ISA_ROUND, 1, NULL, "cvt.rni"},
    {HOLO_ISA_TRUNC, 1, NULL, "cvt.rzi"},
};

static const char *plain_of(const HoloIsaInst *i, int *operands)
{
    bool lacks = i->type == HOLO_F64 && (i->op == HOLO_ISA_MIN || i->op == HOLO_ISA_MAX); // none that keeps NaN
    for (int k = 0; k < HOLO_COUNT(plain) && !lacks; k++) {
        if (plain[k].op != i->op) continue;
        *operands = plain[k].operands;
        return is_float(i->type) ? plain[k].real : plain[k].whole;
    }
    return NULL;
}

static void arithmetic(HoloPtx *p, const HoloIsaInst *i)
{
    int         operands = 0;
    const char *name = plain_of(i, &operands), *type = kinds[i->type].arith;
    char        twice[8] = "", rest[40] = "";
    if (!strncmp(name, "cvt", 3)) snprintf(twice, sizeof twice, ".%s", type);
    if (operands == 2) snprintf(rest, sizeof rest, ", %s", R(i->b));
    if (operands == 3) snprintf(rest, sizeof rest, ", %s, %s", R(i->b), R(i->c));
    line(p, "%s.%s%s %s, %s%s;", name, type, twice, R(i->dst), R(i->a), rest);
    settle(p, i);
}

// a * b + c, rounded twice.
static void multiply_add(HoloPtx *p, const HoloIsaInst *i)
{
    const char *type = kinds[i->type].arith;
    if (!is_float(i->type)) {
        line(p, "mad.lo.%s %s, %s, %s, %s;", type, R(i->dst), R(i->a), R(i->b), R(i->c));
        settle(p, i);
        return;
    }
    const char *t = i->type == HOLO_F64 ? "%e0" : "%g0";
    line(p, "mul.rn.%s %s, %s, %s;", type, t, R(i->a), R(i->b));
    if (i->type == HOLO_F16 || i->type == HOLO_BF16) {
        line(p, "cvt.rn.%s.f32 %%h0, %%g0;", i->type == HOLO_F16 ? "f16" : "bf16");
        widen(p, i->type, "%g0");
    }
    line(p, "add.rn.%s %s, %s, %s;", type, R(i->dst), t, R(i->c));
    settle(p, i);
}

// Rounds down: one less than the quotient where there is a remainder and the signs differ.
static void floor_divide(HoloPtx *p, const HoloIsaInst *i, bool is_mod)
{
    const char *type = kinds[i->type].arith;
    bool        wide = kinds[i->type].letter == 'l';
    const char *q = wide ? "%w0" : "%t0", *r = wide ? "%w1" : "%t1", *s = wide ? "%w2" : "%t2";
    const char *bits = wide ? "b64" : "b32";
    line(p, "div.%s %s, %s, %s;", type, q, R(i->a), R(i->b));
    line(p, "rem.%s %s, %s, %s;", type, r, R(i->a), R(i->b));
    if (type[0] == 's') {
        line(p, "xor.%s %s, %s, %s;", bits, s, r, R(i->b));
        line(p, "setp.lt.%s %%q0, %s, 0;", type, s);
        line(p, "setp.ne.%s %%q1, %s, 0;", type, r);
        line(p, "and.pred %%q0, %%q0, %%q1;");
        if (is_mod)
            line(p, "@%%q0 add.%s %s, %s, %s;", type, r, r, R(i->b));
        else
            line(p, "@%%q0 sub.%s %s, %s, 1;", type, q, q);
    }
    line(p, "mov.%s %s, %s;", bits, R(i->dst), is_mod ? r : q);
    settle(p, i);
}

static void floor_division(HoloPtx *p, const HoloIsaInst *i)
{
    if (is_float(i->type)) {
        line(p, "div.rn.%s %s, %s, %s;", kinds[i->type].arith, R(i->dst), R(i->a), R(i->b));
        line(p, "cvt.rmi.%s.%s %s, %s;", kinds[i->type].arith, kinds[i->type].arith, R(i->dst), R(i->dst));
        settle(p, i);
        return;
    }
    floor_divide(p, i, i->op == HOLO_ISA_MOD);
}

static void sign(HoloPtx *p, const HoloIsaInst *i)
{
    const char *type = kinds[i->type].arith, *reg = kinds[i->type].reg;
    bool        real = is_float(i->type);
    const char *zero = zero_of(i->type), *one = one_of(i->type);
    const char *less = !real ? "-1" : i->type == HOLO_F64 ? "0dBFF0000000000000" : "0fBF800000";
    line(p, "setp.gt.%s %%q0, %s, %s;", type, R(i->a), zero);
    line(p, "setp.lt.%s %%q1, %s, %s;", type, R(i->a), zero);
    line(p, "selp.%s %s, %s, %s, %%q0;", reg, R(i->dst), one, R(i->a));
    line(p, "selp.%s %s, %s, %s, %%q1;", reg, R(i->dst), less, R(i->dst));
}

static void reciprocal_root(HoloPtx *p, const HoloIsaInst *i)
{
    const char *type = kinds[i->type].arith;
    line(p, "sqrt.rn.%s %s, %s;", type, R(i->dst), R(i->a));
    line(p, "rcp.rn.%s %s, %s;", type, R(i->dst), R(i->dst));
    settle(p, i);
}

// ---- bits and comparisons

static void logic(HoloPtx *p, const HoloIsaInst *i)
{
    const char *name = i->op == HOLO_ISA_AND   ? "and"
                       : i->op == HOLO_ISA_OR  ? "or"
                       : i->op == HOLO_ISA_XOR ? "xor"
                                               : "not";
    const char *bits = kinds[i->type].reg;
    if (i->op == HOLO_ISA_NOT)
        line(p, "not.%s %s, %s;", bits, R(i->dst), R(i->a));
    else
        line(p, "%s.%s %s, %s, %s;", name, bits, R(i->dst), R(i->a), R(i->b));
    settle(p, i);
}

// The amount is modulo the number of bits.
static void shift(HoloPtx *p, const HoloIsaInst *i)
{
    const Kind *k = &kinds[i->type];
    line(p, "%s %%t0, %s;", k->letter == 'l' ? "cvt.u32.u64" : "mov.b32", R(i->b));
    line(p, "and.b32 %%t0, %%t0, %d;", k->size * 8 - 1);
    line(p, "%s.%s %s, %s, %%t0;", i->op == HOLO_ISA_SHL ? "shl" : "shr", i->op == HOLO_ISA_SHL ? k->reg : k->arith,
         R(i->dst), R(i->a));
    settle(p, i);
}

static void compare(HoloPtx *p, const HoloIsaInst *i)
{
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const char              *name    = names[i->how];
    if (is_float(i->type) && i->how == HOLO_ISA_COND_NE) name = "neu";
    line(p, "setp.%s.%s %s, %s, %s;", name, kinds[i->type].arith, R(i->dst), R(i->a), R(i->b));
}

// ---- functions of code/math.cu

static const struct {
    int         op;
    const char *name;
} functions[] = {
    {HOLO_ISA_EXP, "exp"},   {HOLO_ISA_LOG, "log"},   {HOLO_ISA_LOG2, "log2"}, {HOLO_ISA_LOG10, "log10"},
    {HOLO_ISA_SIN, "sin"},   {HOLO_ISA_COS, "cos"},   {HOLO_ISA_TAN, "tan"},   {HOLO_ISA_ASIN, "asin"},
    {HOLO_ISA_ACOS, "acos"}, {HOLO_ISA_ATAN, "atan"}, {HOLO_ISA_TANH, "tanh"}, {HOLO_ISA_SIGMOID, "sigmoid"},
    {HOLO_ISA_ERF, "erf"},   {HOLO_ISA_POW, "pow"},   {HOLO_ISA_REM, "fmod"},
};

static int function_of(const HoloIsaInst *i)
{
    for (int k = 0; k < HOLO_COUNT(functions); k++)
        if (functions[k].op == i->op && is_float(i->type)) return k;
    return -1;
}

static void call(HoloPtx *p, const HoloIsaInst *i)
{
    int  f   = function_of(i);
    bool two = i->op == HOLO_ISA_POW || i->op == HOLO_ISA_REM;
    line(p, "{ .param .b32 a, b, r;");
    line(p, "st.param.f32 [a], %s;", R(i->a));
    if (two) line(p, "st.param.f32 [b], %s;", R(i->b));
    line(p, "call (r), holo_math_%s, (%s);", functions[f].name, two ? "a, b" : "a");
    line(p, "ld.param.f32 %s, [r]; }", R(i->dst));
    settle(p, i);
}

// ---- control

static void control(HoloPtx *p, const HoloIsaInst *i)
{
    HoloPtxBlock *top = p->depth ? &p->block[p->depth - 1] : NULL, *loop = top;
    while (loop && loop > p->block && !loop->is_loop) loop--;
    int at = loop ? loop->label : 0;
    switch (i->op) {
    case HOLO_ISA_IF:
        p->block[p->depth++] = (HoloPtxBlock){.label = p->labels++};
        line(p, "@!%s bra E%d;", R(i->a), p->labels - 1);
        break;
    case HOLO_ISA_ELSE:
        line(p, "bra X%d;", top->label);
        holo_text_add(p->out, "E%d:\n", top->label);
        top->has_else = true;
        break;
    case HOLO_ISA_LOOP:
        p->block[p->depth++] = (HoloPtxBlock){.label = p->labels++, .is_loop = true};
        holo_text_add(p->out, "T%d:\n", p->labels - 1);
        break;
    case HOLO_ISA_END:
        if (top->is_loop) line(p, "bra T%d;", top->label);
        holo_text_add(p->out, "%c%d:\n", top->is_loop || top->has_else ? 'X' : 'E', top->label);
        p->depth--;
        break;
    case HOLO_ISA_BREAK: line(p, "bra X%d;", at); break;
    case HOLO_ISA_BREAKIF: line(p, "@%s bra X%d;", R(i->a), at); break;
    case HOLO_ISA_NEXT: line(p, "bra T%d;", at); break;
    case HOLO_ISA_NEXTIF: line(p, "@%s bra T%d;", R(i->a), at); break;
    case HOLO_ISA_EXIT: line(p, "ret;"); break;
    }
}

// ---- the table

static const struct {
    int op;
    void (*write)(HoloPtx *p, const HoloIsaInst *i);
} others[] = {
    {HOLO_ISA_CONST, constant},   {HOLO_ISA_MOV, move},
    {HOLO_ISA_CVT, convert},      {HOLO_ISA_SEL, select},
    {HOLO_ISA_PARAM, parameter},  {HOLO_ISA_LENGTH, length},
    {HOLO_ISA_LD, load},          {HOLO_ISA_ST, store},
    {HOLO_ISA_MAD, multiply_add}, {HOLO_ISA_FLOORDIV, floor_division},
    {HOLO_ISA_SIGN, sign},        {HOLO_ISA_RSQRT, reciprocal_root},
    {HOLO_ISA_AND, logic},        {HOLO_ISA_OR, logic},
    {HOLO_ISA_XOR, logic},        {HOLO_ISA_NOT, logic},
    {HOLO_ISA_SHL, shift},        {HOLO_ISA_SHR, shift},
    {HOLO_ISA_SET, compare},      {HOLO_ISA_IF, control},
    {HOLO_ISA_ELSE, control},     {HOLO_ISA_END, control},
    {HOLO_ISA_LOOP, control},     {HOLO_ISA_BREAK, control},
    {HOLO_ISA_BREAKIF, control},  {HOLO_ISA_NEXT, control},
    {HOLO_ISA_NEXTIF, control},   {HOLO_ISA_EXIT, control},
};

static HoloPtxWrite *write_of(const HoloIsaInst *i)
{
    int operands;
    if (plain_of(i, &operands)) return arithmetic;
    if (function_of(i) >= 0) return i->type == HOLO_F64 ? NULL : call;
    if (i->op == HOLO_ISA_MOD) return is_float(i->type) ? NULL : floor_division;
    if (i->op == HOLO_ISA_SPECIAL)
        return i->how == HOLO_ISA_SPECIAL_GLOBAL_ID || i->how == HOLO_ISA_SPECIAL_GLOBAL_X ? special : NULL;
    for (int k = 0; k < HOLO_COUNT(others); k++)
        if (others[k].op == i->op) return others[k].write;
    return NULL;
}

HoloPtxWrite *holo_ptx_write(const HoloIsaInst *inst)
{
    return write_of(inst);
}

int holo_ptx_function(const HoloIsaInst *inst)
{
    return function_of(inst);
}

const char *const holo_ptx_functions[] = {"exp",  "log",  "log2", "log10",   "sin", "cos", "tan",  "asin",
                                          "acos", "atan", "tanh", "sigmoid", "erf", "pow", "fmod", NULL};
