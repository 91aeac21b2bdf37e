// isa_check.c - the validator. It checks declarations, then each instruction by itself, then how they nest and that no
// lane reads a register before it has written it. isa_uniform.c checks where lanes must be together.
#include "isa/form/isa_check.h"
#include "format/dtype.h"

#include <string.h>

HoloStatus holo_isa_wrong(HoloError *error, const HoloIsaProgram *p, int at, const char *what, int *out_at)
{
    *out_at                   = at;
    const HoloIsaOpInfo *info = holo_isa_op(p->code[at].op);
    return holo_fail(error, HOLO_BAD_ARGUMENT, "program %s, instruction %d (%s): %s", p->name, at,
                     info ? info->text : "?", what);
}

// ---- declarations

static HoloStatus bad(HoloError *error, const HoloIsaProgram *p, const char *what, const char *name)
{
    return holo_fail(error, HOLO_BAD_ARGUMENT, "program %s: %s %s", p->name ? p->name : "?", what, name ? name : "");
}

static HoloStatus names_check(const HoloIsaProgram *p, HoloError *error)
{
    const char *names[HOLO_ISA_MAX_PARAMS + 2 * HOLO_ISA_MAX_ARRAYS];
    int         count = 0;
    for (int i = 0; i < p->param_count; i++) names[count++] = p->params[i].name;
    for (int i = 0; i < p->shared_count; i++) names[count++] = p->shared[i].name;
    for (int i = 0; i < p->local_count; i++) names[count++] = p->local[i].name;
    for (int i = 0; i < count; i++) {
        if (!holo_isa_is_name(names[i]))
            return bad(error, p, "a name is not made of up to 63 letters, digits and _:", names[i]);
        for (int k = 0; k < i; k++)
            if (!strcmp(names[i], names[k])) return bad(error, p, "this name occurs twice:", names[i]);
    }
    return HOLO_OK;
}

static HoloStatus arrays_check(const HoloIsaProgram *p, const HoloIsaArray *arrays, int count, size_t align,
                               size_t most, HoloError *error)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        if (!holo_isa_is_type(arrays[i].type))
            return bad(error, p, "there is no such type of elements: array", arrays[i].name);
        if (!arrays[i].count || arrays[i].count > most)
            return bad(error, p, "its size is 0 or too large: array", arrays[i].name);
        bytes += holo_align(arrays[i].count * holo_dtype_size((HoloDtype)arrays[i].type), align);
        if (bytes > most) return bad(error, p, "the arrays together are too large, up to array", arrays[i].name);
    }
    return HOLO_OK;
}

static HoloStatus declarations_check(const HoloIsaProgram *p, HoloError *error)
{
    if (!holo_isa_is_name(p->name))
        return bad(error, p, "its name is not made of up to 63 letters, digits and _", NULL);
    if (p->param_count < 0 || p->param_count > HOLO_ISA_MAX_PARAMS)
        return bad(error, p, "more than 64 parameters", NULL);
    if (p->shared_count < 0 || p->shared_count > HOLO_ISA_MAX_ARRAYS || p->local_count < 0 ||
        p->local_count > HOLO_ISA_MAX_ARRAYS)
        return bad(error, p, "more than 64 arrays", NULL);
    if (p->register_count < 0 || p->register_count > HOLO_ISA_MAX_REGISTERS)
        return bad(error, p, "more than 4,096 registers", NULL);
    if (p->count < 0 || p->count > HOLO_ISA_MAX_CODE) return bad(error, p, "more than 65,535 instructions", NULL);
    HOLO_TRY(names_check(p, error));
    for (int i = 0; i < p->param_count; i++) {
        if (!holo_isa_is_type(p->params[i].type))
            return bad(error, p, "there is no such type: parameter", p->params[i].name);
        if (p->params[i].access > HOLO_ISA_INOUT)
            return bad(error, p, "there is no such access: parameter", p->params[i].name);
    }
    HOLO_TRY(arrays_check(p, p->shared, p->shared_count, 64, HOLO_ISA_MAX_SHARED, error));
    HOLO_TRY(arrays_check(p, p->local, p->local_count, 8, HOLO_ISA_MAX_LOCAL, error));
    for (int i = 0; i < p->register_count; i++)
        if (!holo_isa_is_type(p->registers[i])) return bad(error, p, "there is no such type of a register", NULL);
    return HOLO_OK;
}

// ---- single instructions

#define INDEX_TYPES (HOLO_BIT(I32) | HOLO_BIT(U32) | HOLO_BIT(I64) | HOLO_BIT(U64))

static const char *register_check(const HoloIsaProgram *p, const HoloIsaInst *inst, int kind, unsigned at)
{
    if (at >= (unsigned)p->register_count) return "there is no such register";
    unsigned type = p->registers[at];
    switch (kind) {
    case HOLO_ISA_KIND_P: return type == HOLO_BOOL ? NULL : "this register is not a predicate";
    case HOLO_ISA_KIND_X: return INDEX_TYPES >> type & 1 ? NULL : "an index must be i32, u32, i64 or u64";
    case HOLO_ISA_KIND_S: return type == inst->how ? NULL : "this register does not have the second type";
    default: return type == inst->type ? NULL : "this register does not have the instruction's type";
    }
}

// The accesses of an array parameter that an instruction needs.
static unsigned access_of(unsigned op)
{
    return op == HOLO_ISA_LD       ? HOLO_ISA_IN
           : op == HOLO_ISA_ST     ? HOLO_ISA_OUT
           : op == HOLO_ISA_LENGTH ? 0
                                   : HOLO_ISA_INOUT;
}

static const char *param_check(const HoloIsaProgram *p, const HoloIsaInst *inst, int kind, unsigned at)
{
    if (at >= (unsigned)p->param_count) return "there is no such parameter";
    const HoloIsaParam *param = &p->params[at];
    if ((param->access == HOLO_ISA_VALUE) != (kind == HOLO_ISA_KIND_V))
        return "an instruction uses a number as an array, or an array as a number";
    if (inst->op != HOLO_ISA_LENGTH && param->type != inst->type) return "the parameter is of another type";
    unsigned access = kind == HOLO_ISA_KIND_V ? 0 : access_of(inst->op);
    return (param->access & access) == access ? NULL : "the parameter may not be read, or written: see in, out, inout";
}

static const char *operand_check(const HoloIsaProgram *p, const HoloIsaInst *inst, int kind, unsigned at)
{
    switch (kind) {
    case HOLO_ISA_KIND_N: return at ? "an operand that the instruction does not use must be 0" : NULL;
    case HOLO_ISA_KIND_G:
    case HOLO_ISA_KIND_V: return param_check(p, inst, kind, at);
    case HOLO_ISA_KIND_M:
        if (at >= (unsigned)p->shared_count) return "there is no such shared array";
        return p->shared[at].type == inst->type ? NULL : "the shared array is of another type";
    case HOLO_ISA_KIND_L:
        if (at >= (unsigned)p->local_count) return "there is no such local array";
        return p->local[at].type == inst->type ? NULL : "the local array is of another type";
    default: return register_check(p, inst, kind, at);
    }
}

static const char *oper_check(const HoloIsaInst *inst)
{
    const unsigned logic = 1 << HOLO_ISA_OPER_AND | 1 << HOLO_ISA_OPER_OR | 1 << HOLO_ISA_OPER_XOR;
    const unsigned order = 1 << HOLO_ISA_OPER_ADD | 1 << HOLO_ISA_OPER_MIN | 1 << HOLO_ISA_OPER_MAX;
    unsigned       able  = order;
    if (inst->op == HOLO_ISA_REDUCE || inst->op == HOLO_ISA_SCAN)
        able |= 1 << HOLO_ISA_OPER_MUL;
    else
        able |= 1 << HOLO_ISA_OPER_XCHG;
    if (!(HOLO_TYPES_FLOAT >> inst->type & 1)) able |= logic;
    if (inst->type == HOLO_BOOL) able = logic;
    return able >> inst->how & 1 ? NULL : "this instruction and type do not have this operation";
}

static const char *how_check(const HoloIsaInst *inst, const HoloIsaOpInfo *info)
{
    if (info->how != HOLO_ISA_HOW_BITS && inst->bits) return "it must not have an immediate number";
    switch (info->how) {
    case HOLO_ISA_HOW_NONE: return inst->how ? "it must not have a condition or an operation (how)" : NULL;
    case HOLO_ISA_HOW_BITS:
        if (inst->how) return "it must not have a condition or an operation (how)";
        return holo_isa_narrow((HoloDtype)inst->type, inst->bits) == inst->bits
                   ? NULL
                   : "the number has more bits than its type";
    default:
        if (!holo_isa_how_text((HoloIsaHow)info->how, inst->how))
            return "there is no such condition, operation or type";
        return info->how == HOLO_ISA_HOW_OPER ? oper_check(inst) : NULL;
    }
}

static const char *inst_check(const HoloIsaProgram *p, const HoloIsaInst *inst)
{
    const HoloIsaOpInfo *info = holo_isa_op(inst->op);
    if (!info) return "there is no such instruction";
    if (!info->types ? inst->type != HOLO_NONE : inst->type >= HOLO_DTYPE_COUNT || !(info->types >> inst->type & 1))
        return "the instruction does not have this type";
    const char *why = how_check(inst, info);
    if (why) return why;
    if (inst->op == HOLO_ISA_BITCAST &&
        (inst->how == HOLO_BOOL || holo_dtype_size((HoloDtype)inst->how) != holo_dtype_size((HoloDtype)inst->type)))
        return "the types must have the same size";
    for (int i = 0; i < HOLO_ISA_OPERANDS && !why; i++)
        why = operand_check(p, inst, info->kind[i], holo_isa_operand(inst, i));
    return why;
}

// ---- nesting, and what has been written
//
// A state is the set of registers that have surely been written at this point. Code that control cannot reach has no
// lanes, and may read anything.

typedef struct State {
    bool      is_dead;
    uint64_t *set;
} State;

typedef struct Frame {
    bool  is_loop, has_else;
    State entry, out; // out: of all lanes that have left already
} Frame;

typedef struct Flow {
    const HoloIsaProgram *p;
    int                   words, depth;
    State                 now;
    Frame                 frame[HOLO_ISA_MAX_DEPTH];
} Flow;

static void copy(const Flow *f, State *to, const State *from)
{
    to->is_dead = from->is_dead;
    memcpy(to->set, from->set, (size_t)f->words * sizeof *to->set);
}

static void merge(const Flow *f, State *to, const State *from)
{
    if (from->is_dead) return;
    if (to->is_dead) {
        copy(f, to, from);
        return;
    }
    for (int i = 0; i < f->words; i++) to->set[i] &= from->set[i];
}

static Frame *loop_of(Flow *f)
{
    for (int i = f->depth - 1; i >= 0; i--)
        if (f->frame[i].is_loop) return &f->frame[i];
    return NULL;
}

static const char *open_frame(Flow *f, bool is_loop)
{
    if (f->depth == HOLO_ISA_MAX_DEPTH) return "more than 64 levels of if and loop";
    Frame *frame       = &f->frame[f->depth++];
    frame->is_loop     = is_loop;
    frame->has_else    = false;
    frame->out.is_dead = true;
    copy(f, &frame->entry, &f->now);
    return NULL;
}

static const char *close_frame(Flow *f)
{
    if (!f->depth) return "there is nothing to end";
    Frame *frame = &f->frame[--f->depth];
    if (!frame->is_loop) {
        merge(f, &frame->out, &f->now);
        if (!frame->has_else) merge(f, &frame->out, &frame->entry);
    }
    copy(f, &f->now, &frame->out);
    return NULL;
}

static const char *to_else(Flow *f)
{
    Frame *frame = f->depth ? &f->frame[f->depth - 1] : NULL;
    if (!frame || frame->is_loop || frame->has_else) return "it belongs to no if";
    merge(f, &frame->out, &f->now);
    copy(f, &f->now, &frame->entry);
    frame->has_else = true;
    return NULL;
}

static const char *control(Flow *f, unsigned op)
{
    Frame *loop = loop_of(f);
    switch (op) {
    case HOLO_ISA_IF: return open_frame(f, false);
    case HOLO_ISA_LOOP: return open_frame(f, true);
    case HOLO_ISA_ELSE: return to_else(f);
    case HOLO_ISA_END: return close_frame(f);
    case HOLO_ISA_BREAK:
    case HOLO_ISA_BREAKIF:
    case HOLO_ISA_NEXT:
    case HOLO_ISA_NEXTIF:
        if (!loop) return "it is not in a loop";
        if (op == HOLO_ISA_BREAK || op == HOLO_ISA_BREAKIF) merge(f, &loop->out, &f->now);
        if (op == HOLO_ISA_BREAK || op == HOLO_ISA_NEXT) f->now.is_dead = true;
        return NULL;
    case HOLO_ISA_EXIT: f->now.is_dead = true; return NULL;
    default: return NULL;
    }
}

static const char *step(Flow *f, const HoloIsaInst *inst)
{
    const HoloIsaOpInfo *info = holo_isa_op(inst->op);
    for (int i = 1; i < HOLO_ISA_OPERANDS; i++) {
        unsigned r = holo_isa_operand(inst, i);
        if (holo_isa_is_register(info->kind[i]) && !f->now.is_dead && !(f->now.set[r / 64] >> r % 64 & 1))
            return "it reads a register that may not have been written";
    }
    if (info->kind[0] != HOLO_ISA_KIND_N) f->now.set[inst->dst / 64] |= UINT64_C(1) << inst->dst % 64;
    return control(f, inst->op);
}

static HoloStatus flow_check(const HoloIsaProgram *p, int *out_at, HoloError *error)
{
    HoloArena arena = {0};
    int       words = p->register_count / 64 + 1;
    Flow     *f     = HOLO_NEW(&arena, Flow, 1);
    uint64_t *sets  = HOLO_NEW(&arena, uint64_t, (size_t)words * (2 * HOLO_ISA_MAX_DEPTH + 1));
    if (!f || !sets) {
        holo_arena_deinit(&arena);
        return holo_fail_memory(error);
    }
    f->p = p, f->words = words, f->now.set = sets;
    for (int i = 0; i < HOLO_ISA_MAX_DEPTH; i++) {
        f->frame[i].entry.set = sets + (size_t)words * (size_t)(2 * i + 1);
        f->frame[i].out.set   = sets + (size_t)words * (size_t)(2 * i + 2);
    }
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < p->count && !status; i++) {
        const char *why = step(f, &p->code[i]);
        if (why) status = holo_isa_wrong(error, p, i, why, out_at);
    }
    if (!status && f->depth) status = bad(error, p, "an if or a loop has no end", NULL);
    holo_arena_deinit(&arena);
    return status;
}

HoloStatus holo_isa_check(const HoloIsaProgram *program, int *out_at, HoloError *error)
{
    *out_at = -1;
    HOLO_TRY(declarations_check(program, error));
    for (int i = 0; i < program->count; i++) {
        const char *why = inst_check(program, &program->code[i]);
        if (why) return holo_isa_wrong(error, program, i, why, out_at);
    }
    HOLO_TRY(flow_check(program, out_at, error));
    return holo_isa_check_uniform(program, out_at, error);
}
