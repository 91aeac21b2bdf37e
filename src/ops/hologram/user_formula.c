// user_formula.c - turns pointwise kernels of users into pointwise programs, so that they can be fused with their
// neighbors. Such a kernel writes one array, reads and writes only f32, and has no shape rule. Each lane compares its
// number with the count of elements, reads there, computes without branches, and writes there. Other kernels stay as
// they are.
#include "ops/hologram/user_formula.h"
#include "isa/isa.h"
#include "isa/isa_number.h"
#include "isa/isa_scalar.h"
#include "ops/tensor.h"

#include <string.h>

typedef enum Kind { OTHER, PLACE, COUNT, GUARD, NUMBER, VALUE } Kind;

typedef struct Register {
    uint8_t  kind;
    uint8_t  operand; // of a VALUE
    uint64_t bits;    // of a NUMBER
} Register;

typedef struct Reading {
    const HoloCall       *call;
    const HoloIsaProgram *p;
    HoloProgram          *out;
    Register             *r;
    bool                  is_inside; // of the guard
    bool                  is_written;
} Reading;

// ---- steps

static const struct {
    uint16_t op;
    uint8_t  map;
} functions[] = {
    {HOLO_ISA_ADD, HOLO_MAP_add},         {HOLO_ISA_SUB, HOLO_MAP_sub},   {HOLO_ISA_MUL, HOLO_MAP_mul},
    {HOLO_ISA_DIV, HOLO_MAP_div},         {HOLO_ISA_MIN, HOLO_MAP_min},   {HOLO_ISA_MAX, HOLO_MAP_max},
    {HOLO_ISA_NEG, HOLO_MAP_neg},         {HOLO_ISA_ABS, HOLO_MAP_abs},   {HOLO_ISA_SIGN, HOLO_MAP_sign},
    {HOLO_ISA_FLOOR, HOLO_MAP_floor},     {HOLO_ISA_CEIL, HOLO_MAP_ceil}, {HOLO_ISA_ROUND, HOLO_MAP_round},
    {HOLO_ISA_SQRT, HOLO_MAP_sqrt},       {HOLO_ISA_EXP, HOLO_MAP_exp},   {HOLO_ISA_LOG, HOLO_MAP_log},
    {HOLO_ISA_SIN, HOLO_MAP_sin},         {HOLO_ISA_COS, HOLO_MAP_cos},   {HOLO_ISA_TAN, HOLO_MAP_tan},
    {HOLO_ISA_ASIN, HOLO_MAP_asin},       {HOLO_ISA_ACOS, HOLO_MAP_acos}, {HOLO_ISA_ATAN, HOLO_MAP_atan},
    {HOLO_ISA_SIGMOID, HOLO_MAP_sigmoid}, {HOLO_ISA_TANH, HOLO_MAP_tanh}, {HOLO_ISA_ERF, HOLO_MAP_erf},
    {HOLO_ISA_POW, HOLO_MAP_pow},
};

static bool operand_of(const Register *r, uint8_t *operand, float *number, bool *has_number)
{
    if (r->kind == VALUE) return *operand = r->operand, true;
    if (r->kind != NUMBER || *has_number) return false;
    *has_number     = true;
    *number         = holo_f32_of_bits((uint32_t)r->bits);
    return *operand = HOLO_MAP_NUMBER, true;
}

// b is not looked at where the function has one operand.
static bool emit(Reading *k, HoloMapOp op, const Register *a, const Register *b, Register *dst)
{
    HoloMapStep step       = {.op = (uint8_t)op};
    bool        has_number = false;
    if (k->out->count == HOLO_MAP_STEPS || !operand_of(a, &step.a, &step.number, &has_number)) return false;
    if (b && !operand_of(b, &step.b, &step.number, &has_number)) return false;
    *dst                          = (Register){.kind = VALUE, .operand = (uint8_t)(HOLO_MAP_INPUTS + k->out->count)};
    k->out->step[k->out->count++] = step;
    return true;
}

static bool compute(Reading *k, const HoloIsaInst *inst)
{
    const HoloIsaOpInfo *info = holo_isa_op(inst->op);
    const Register       one = {.kind = NUMBER, .bits = holo_bits_of_f32(1)}, *r = k->r;
    Register            *dst   = &k->r[inst->dst], x;
    bool                 has_b = info->kind[2] == HOLO_ISA_KIND_T, has_c = info->kind[3] == HOLO_ISA_KIND_T;
    if (inst->type != HOLO_F32 || info->kind[1] != HOLO_ISA_KIND_T) return false;
    const Register a = r[inst->a], b = has_b ? r[inst->b] : one, c = has_c ? r[inst->c] : one;
    if (inst->op == HOLO_ISA_MOV) return *dst = a, a.kind == NUMBER || a.kind == VALUE;
    if (a.kind == NUMBER && b.kind == NUMBER && c.kind == NUMBER) {
        *dst = (Register){.kind = NUMBER};
        return holo_isa_scalar(inst, a.bits, b.bits, c.bits, &dst->bits);
    }
    if (inst->op == HOLO_ISA_MAD || inst->op == HOLO_ISA_FMA)
        return emit(k, HOLO_MAP_mul, &a, &b, &x) && emit(k, HOLO_MAP_add, &x, &c, dst);
    if (inst->op == HOLO_ISA_RCP) return emit(k, HOLO_MAP_div, &one, &a, dst);
    if (inst->op == HOLO_ISA_RSQRT) return emit(k, HOLO_MAP_sqrt, &a, NULL, &x) && emit(k, HOLO_MAP_div, &one, &x, dst);
    for (int i = 0; i < HOLO_COUNT(functions); i++)
        if (functions[i].op == inst->op) return emit(k, (HoloMapOp)functions[i].map, &a, has_b ? &b : NULL, dst);
    return false;
}

// ---- what is around them

static bool is_count(const HoloCall *call, const HoloIsaParam *p)
{
    return p->type == HOLO_I64 && !strcmp(p->name, "n") && !holo_attr_find(call, "n");
}

static bool parameter(Reading *k, const HoloIsaInst *inst)
{
    const HoloIsaParam *p    = &k->p->params[inst->a];
    const HoloAttr     *attr = holo_attr_find(k->call, p->name);
    Register           *dst  = &k->r[inst->dst];
    *dst                     = (Register){.kind = is_count(k->call, p) ? COUNT : NUMBER};
    if (dst->kind == COUNT) return true;
    if (p->type != HOLO_F32 || !attr || (attr->kind != HOLO_ATTR_FLOAT && attr->kind != HOLO_ATTR_INT)) return false;
    dst->bits = attr->kind == HOLO_ATTR_FLOAT ? holo_isa_bits_of_float(HOLO_F32, attr->f)
                                              : holo_isa_bits_of_int(HOLO_F32, attr->i);
    return true;
}

// The input that an array parameter is.
static uint8_t input_of(const HoloIsaProgram *p, unsigned param)
{
    uint8_t number = 0;
    for (unsigned i = 0; i < param; i++) number = (uint8_t)(number + (p->params[i].access == HOLO_ISA_IN));
    return number;
}

static bool memory(Reading *k, const HoloIsaInst *inst)
{
    bool is_in = k->p->params[inst->a].access == HOLO_ISA_IN;
    if (!k->is_inside || k->r[inst->b].kind != PLACE) return false;
    if (inst->op == HOLO_ISA_LD) {
        k->r[inst->dst] = (Register){.kind = VALUE, .operand = input_of(k->p, inst->a)};
        return is_in;
    }
    const Register *value = &k->r[inst->c];
    k->is_written         = true;
    return !is_in && k->out->count && value->kind == VALUE && value->operand == HOLO_MAP_INPUTS + k->out->count - 1;
}

// i < n
static bool guard(Reading *k, const HoloIsaInst *inst)
{
    const Register *a = &k->r[inst->a], *b = &k->r[inst->b];
    bool            is_swapped = inst->how == HOLO_ISA_COND_GT;
    bool            fits       = (is_swapped ? b : a)->kind == PLACE && (is_swapped ? a : b)->kind == COUNT;
    k->r[inst->dst]            = (Register){.kind = GUARD};
    return fits && inst->type == HOLO_I64 && (is_swapped || inst->how == HOLO_ISA_COND_LT);
}

static bool read_one(Reading *k, const HoloIsaInst *inst)
{
    Register *dst = &k->r[inst->dst];
    if (k->is_written) return inst->op == HOLO_ISA_END;
    switch (inst->op) {
    case HOLO_ISA_CONST: return *dst = (Register){.kind = NUMBER, .bits = inst->bits}, inst->type == HOLO_F32;
    case HOLO_ISA_PARAM: return parameter(k, inst);
    case HOLO_ISA_LENGTH: return *dst = (Register){.kind = COUNT}, inst->type == HOLO_I64;
    case HOLO_ISA_SPECIAL:
        *dst = (Register){.kind = PLACE};
        return inst->type == HOLO_I64 && inst->how == HOLO_ISA_SPECIAL_GLOBAL_ID;
    case HOLO_ISA_SET: return guard(k, inst);
    case HOLO_ISA_IF: return k->is_inside = true, k->r[inst->a].kind == GUARD;
    case HOLO_ISA_LD:
    case HOLO_ISA_ST: return memory(k, inst);
    default: return compute(k, inst);
    }
}

// Is it the program that is taken for inputs of f32, with one array of f32 to write?
static bool takes_f32(const HoloCall *call, const HoloIsaProgram *p, bool *out_gives_f32)
{
    int in = 0, outs = 0;
    *out_gives_f32 = true;
    for (int i = 0; i < p->param_count; i++) {
        const HoloIsaParam *param = &p->params[i];
        if (param->access == HOLO_ISA_VALUE) continue;
        if (param->access == HOLO_ISA_IN && param->type != HOLO_F32) return false;
        *out_gives_f32 &= param->type == HOLO_F32 && param->access != HOLO_ISA_INOUT;
        *(param->access == HOLO_ISA_IN ? &in : &outs) += 1;
    }
    *out_gives_f32 &= outs == 1;
    return in == call->in_count;
}

static bool read_program(const HoloCall *call, const HoloIsaProgram *p, HoloArena *arena, HoloProgram *out)
{
    Reading k = {.call = call, .p = p, .out = out, .r = HOLO_NEW(arena, Register, p->register_count + 1)};
    for (int i = 0; k.r && i < p->count; i++)
        if (!read_one(&k, &p->code[i])) return false;
    return k.is_written;
}

// As many lanes as there are elements: where nothing is said, or n.
static bool lanes_are_all(const HoloCall *call, const HoloIsaProgram *lanes)
{
    int from = -1, stores = 0;
    for (int i = 0; i < lanes->count; i++) {
        const HoloIsaInst *inst = &lanes->code[i];
        if (inst->op == HOLO_ISA_PARAM && from < 0 && is_count(call, &lanes->params[inst->a]))
            from = inst->dst;
        else if (inst->op == HOLO_ISA_ST && inst->c == from)
            stores++;
        else if (inst->op != HOLO_ISA_CONST || inst->dst == from)
            return false;
    }
    return !lanes->count || stores == 1;
}

// All inputs have one shape, which is that of the output.
static bool is_even(const HoloCall *call)
{
    for (int i = 0; i < call->in_count; i++) {
        const HoloTensor *t = call->in[i], *first = call->in[0];
        if (!t || t->rank != first->rank) return false;
        for (int d = 0; d < t->rank; d++)
            if (t->dim[d] != first->dim[d] || t->dim[d] == HOLO_DIM_UNKNOWN) return false;
    }
    return true;
}

static bool decode(HoloArena *arena, HoloString bytes, HoloIsaProgram *out)
{
    *out = (HoloIsaProgram){0};
    return !bytes.size || !holo_isa_decode(arena, (const uint8_t *)bytes.data, bytes.size, out, NULL);
}

static bool find(const HoloCall *call, HoloArena *arena, HoloProgram *out)
{
    const HoloAttr *programs = holo_attr_find(call, "programs"), *lanes = holo_attr_find(call, "lanes");
    HoloIsaProgram  program, count;
    bool            gives_f32;
    if (!programs || programs->kind != HOLO_ATTR_STRINGS || !lanes || lanes->kind != HOLO_ATTR_STRINGS ||
        lanes->count != programs->count)
        return false;
    for (int i = 0; i < programs->count; i++) {
        if (!decode(arena, programs->strings[i], &program)) return false;
        if (!takes_f32(call, &program, &gives_f32)) continue;
        return gives_f32 && read_program(call, &program, arena, out) && decode(arena, lanes->strings[i], &count) &&
               lanes_are_all(call, &count);
    }
    return false;
}

bool holo_user_formula(const HoloCall *call, HoloProgram *out)
{
    HoloArena arena = {0};
    bool      found = holo_attr_int(call, "fused", 0) && !holo_attr_string(call, "shape", "").size && is_even(call) &&
                 find(call, &arena, out);
    holo_arena_deinit(&arena);
    return found;
}
