// isa_build.c - builds a program piece by piece. A failure is kept until holo_isa_finish.
#include "format/dtype.h"
#include "isa/isa.h"
#include "isa/isa_number.h"

#include <string.h>

static void fail(HoloIsaBuilder *b, HoloStatus status, const char *why)
{
    if (!b->status) b->status = status, b->why = why;
}

// Makes room for one more of `count`. If there is none, the array stays as it is.
static bool grow(HoloIsaBuilder *b, void *array, int count, int *room, int most, size_t size, const char *why)
{
    if (b->status) return false;
    if (count == most) return fail(b, HOLO_BAD_ARGUMENT, why), false;
    if (!holo_arena_grow(b->arena, array, count, room, size)) return fail(b, HOLO_NO_MEMORY, NULL), false;
    return true;
}

static const char *copied(HoloIsaBuilder *b, const char *name)
{
    if (!holo_isa_is_name(name))
        return fail(b, HOLO_BAD_ARGUMENT, "a name is not made of up to 63 letters, digits and _"), "";
    char *copy = holo_arena_text(b->arena, name, strlen(name));
    return copy ? copy : (fail(b, HOLO_NO_MEMORY, NULL), "");
}

void holo_isa_begin(HoloIsaBuilder *b, HoloArena *arena, const char *name)
{
    *b              = (HoloIsaBuilder){.arena = arena};
    b->program.name = copied(b, name);
}

int holo_isa_param(HoloIsaBuilder *b, const char *name, HoloDtype type, HoloIsaAccess access)
{
    int i = b->program.param_count;
    if (!grow(b, &b->params, i, &b->param_room, HOLO_ISA_MAX_PARAMS, sizeof *b->params, "more than 64 parameters"))
        return 0;
    b->params[i] = (HoloIsaParam){copied(b, name), (uint8_t)type, (uint8_t)access};
    return b->program.param_count++;
}

int holo_isa_shared(HoloIsaBuilder *b, const char *name, HoloDtype type, uint32_t count)
{
    int i = b->program.shared_count;
    if (!grow(b, &b->shared, i, &b->shared_room, HOLO_ISA_MAX_ARRAYS, sizeof *b->shared, "more than 64 shared arrays"))
        return 0;
    b->shared[i] = (HoloIsaArray){copied(b, name), (uint8_t)type, count};
    return b->program.shared_count++;
}

int holo_isa_local(HoloIsaBuilder *b, const char *name, HoloDtype type, uint32_t count)
{
    int i = b->program.local_count;
    if (!grow(b, &b->local, i, &b->local_room, HOLO_ISA_MAX_ARRAYS, sizeof *b->local, "more than 64 local arrays"))
        return 0;
    b->local[i] = (HoloIsaArray){copied(b, name), (uint8_t)type, count};
    return b->program.local_count++;
}

int holo_isa_register(HoloIsaBuilder *b, HoloDtype type)
{
    int i = b->program.register_count;
    if (!grow(b, &b->registers, i, &b->register_room, HOLO_ISA_MAX_REGISTERS, 1, "more than 4,096 registers")) return 0;
    b->registers[i] = (uint8_t)type;
    return b->program.register_count++;
}

void holo_isa_emit(HoloIsaBuilder *b, HoloIsaInst inst)
{
    int i = b->program.count;
    if (!grow(b, &b->code, i, &b->room, HOLO_ISA_MAX_CODE, sizeof *b->code, "more than 65,535 instructions")) return;
    b->code[i] = inst;
    b->program.count++;
}

// ---- instructions with a result

static HoloIsaInst inst(HoloIsaOp op, HoloDtype type, int how)
{
    return (HoloIsaInst){.op = (uint16_t)op, .type = (uint8_t)type, .how = (uint8_t)how};
}

// Adds an instruction with a new register of type `of` for its result.
static int emit_new(HoloIsaBuilder *b, HoloDtype of, HoloIsaInst i)
{
    int dst = holo_isa_register(b, of);
    i.dst   = (uint16_t)dst;
    holo_isa_emit(b, i);
    return dst;
}

int holo_isa_const_int(HoloIsaBuilder *b, HoloDtype type, int64_t value)
{
    HoloIsaInst i = inst(HOLO_ISA_CONST, type, 0);
    i.bits        = holo_isa_bits_of_int(type, value);
    return emit_new(b, type, i);
}

int holo_isa_const_float(HoloIsaBuilder *b, HoloDtype type, double value)
{
    HoloIsaInst i = inst(HOLO_ISA_CONST, type, 0);
    i.bits        = holo_isa_bits_of_float(type, value);
    return emit_new(b, type, i);
}

int holo_isa_value(HoloIsaBuilder *b, HoloIsaOp op, HoloDtype type, int a, int b_, int c)
{
    HoloIsaInst i = inst(op, type, 0);
    i.a = (uint16_t)a, i.b = (uint16_t)b_, i.c = (uint16_t)c;
    return emit_new(b, type, i);
}

int holo_isa_convert(HoloIsaBuilder *b, HoloDtype type, HoloDtype from, int a)
{
    HoloIsaInst i = inst(HOLO_ISA_CVT, type, (int)from);
    i.a           = (uint16_t)a;
    return emit_new(b, type, i);
}

int holo_isa_compare(HoloIsaBuilder *b, HoloIsaCond cond, HoloDtype type, int a, int b_)
{
    HoloIsaInst i = inst(HOLO_ISA_SET, type, (int)cond);
    i.a = (uint16_t)a, i.b = (uint16_t)b_;
    return emit_new(b, HOLO_BOOL, i);
}

int holo_isa_special(HoloIsaBuilder *b, HoloDtype type, HoloIsaSpecial special)
{
    return emit_new(b, type, inst(HOLO_ISA_SPECIAL, type, (int)special));
}

static HoloDtype param_type(HoloIsaBuilder *b, int param)
{
    if (param >= 0 && param < b->program.param_count) return (HoloDtype)b->params[param].type;
    fail(b, HOLO_BAD_ARGUMENT, "there is no such parameter");
    return HOLO_NONE;
}

// The element type of the array of a load, a store or an atomic.
static HoloDtype element_type(HoloIsaBuilder *b, HoloIsaOp op, int array)
{
    int kind = holo_isa_op(op) ? holo_isa_op(op)->kind[1] : HOLO_ISA_KIND_N;
    if (kind == HOLO_ISA_KIND_M && array >= 0 && array < b->program.shared_count)
        return (HoloDtype)b->shared[array].type;
    if (kind == HOLO_ISA_KIND_L && array >= 0 && array < b->program.local_count) return (HoloDtype)b->local[array].type;
    if (kind == HOLO_ISA_KIND_G) return param_type(b, array);
    fail(b, HOLO_BAD_ARGUMENT, "there is no such array");
    return HOLO_NONE;
}

int holo_isa_get_param(HoloIsaBuilder *b, int param)
{
    HoloDtype   type = param_type(b, param);
    HoloIsaInst i    = inst(HOLO_ISA_PARAM, type, 0);
    i.a              = (uint16_t)param;
    return emit_new(b, type, i);
}

int holo_isa_length(HoloIsaBuilder *b, HoloDtype type, int param)
{
    HoloIsaInst i = inst(HOLO_ISA_LENGTH, type, 0);
    i.a           = (uint16_t)param;
    return emit_new(b, type, i);
}

int holo_isa_load(HoloIsaBuilder *b, HoloIsaOp op, int array, int index)
{
    HoloDtype   type = element_type(b, op, array);
    HoloIsaInst i    = inst(op, type, 0);
    i.a = (uint16_t)array, i.b = (uint16_t)index;
    return emit_new(b, type, i);
}

// ---- instructions without a result

void holo_isa_move(HoloIsaBuilder *b, int dst, int a)
{
    bool        is_there = dst >= 0 && dst < b->program.register_count;
    HoloIsaInst i        = inst(HOLO_ISA_MOV, is_there ? (HoloDtype)b->registers[dst] : HOLO_NONE, 0);
    i.dst = (uint16_t)dst, i.a = (uint16_t)a;
    holo_isa_emit(b, i);
}

void holo_isa_store(HoloIsaBuilder *b, HoloIsaOp op, int array, int index, int a)
{
    HoloIsaInst i = inst(op, element_type(b, op, array), 0);
    i.a = (uint16_t)array, i.b = (uint16_t)index, i.c = (uint16_t)a;
    holo_isa_emit(b, i);
}

void holo_isa_control(HoloIsaBuilder *b, HoloIsaOp op, int predicate)
{
    HoloIsaInst i = inst(op, HOLO_NONE, 0);
    i.a           = (uint16_t)predicate;
    holo_isa_emit(b, i);
}

HoloStatus holo_isa_finish(HoloIsaBuilder *b, HoloIsaProgram *out_program, HoloError *error)
{
    HoloIsaProgram *p = &b->program;
    p->params = b->params, p->shared = b->shared, p->local = b->local, p->registers = b->registers, p->code = b->code;
    b->at = -1;
    if (b->status == HOLO_NO_MEMORY) return holo_fail_memory(error);
    if (b->status) return holo_fail(error, b->status, "program %s: %s", p->name, b->why);
    HOLO_TRY(holo_isa_check(p, &b->at, error));
    *out_program = *p;
    return HOLO_OK;
}

// ---- constants

uint64_t holo_isa_bits_of_int(HoloDtype type, int64_t value)
{
    return holo_isa_convert_bits(type, HOLO_I64, (uint64_t)value);
}

uint64_t holo_isa_bits_of_float(HoloDtype type, double value)
{
    return holo_isa_convert_bits(type, HOLO_F64, holo_bits_of_f64(value));
}
