// isa_print.c - the text of a program, one instruction a line. isa_parse.c reads it.
#include "format/dtype.h"
#include "isa/isa.h"
#include "isa/isa_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct Text {
    HoloArena *arena;
    char      *data;
    size_t     size, room;
    bool       failed;
} Text;

static void put(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Text *t, const char *format, ...)
{
    char    line[512]; // longer than any single piece: names have at most 63 bytes
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (t->size + (size_t)n + 1 > t->room && !t->failed) {
        size_t room = t->room ? t->room * 2 : 4096;
        char  *data = holo_arena_take(t->arena, room);
        if (data && t->size) memcpy(data, t->data, t->size);
        t->failed = !data, t->data = data, t->room = room;
    }
    if (t->failed) return;
    memcpy(t->data + t->size, line, (size_t)n + 1);
    t->size += (size_t)n;
}

static const char *type_name(unsigned type)
{
    return holo_dtype_name((HoloDtype)type);
}

// Decimal digits if they read back as the same number; bits if it is not a number.
static void put_float(Text *t, unsigned type, uint64_t bits)
{
    double x = holo_f64_of_bits(holo_isa_convert_bits(HOLO_F64, (HoloDtype)type, bits));
    char   digits[40];
    snprintf(digits, sizeof digits, type == HOLO_F64 ? "%.17g" : "%.9g", x);
    for (char *c = digits; *c; c++)
        if (*c == ',') *c = '.'; // some locales use a comma
    if (x - x == 0)
        put(t, "%s", digits);
    else
        put(t, "0x%" PRIx64, bits);
}

static void put_number(Text *t, unsigned type, uint64_t bits)
{
    if (HOLO_TYPES_FLOAT >> type & 1)
        put_float(t, type, bits);
    else if (HOLO_TYPES_INT >> type & 1)
        put(t, "%" PRId64, holo_isa_to_i64((HoloDtype)type, bits));
    else
        put(t, "%" PRIu64, bits);
}

static void put_operand(Text *t, const HoloIsaProgram *p, int kind, int at)
{
    switch (kind) {
    case HOLO_ISA_KIND_G:
    case HOLO_ISA_KIND_V: put(t, "%s", p->params[at].name); break;
    case HOLO_ISA_KIND_M: put(t, "%s", p->shared[at].name); break;
    case HOLO_ISA_KIND_L: put(t, "%s", p->local[at].name); break;
    default: put(t, "%c%d", p->registers[at] == HOLO_BOOL ? 'p' : 'r', at); break;
    }
}

static void put_operands(Text *t, const HoloIsaProgram *p, const HoloIsaInst *inst, const HoloIsaOpInfo *info)
{
    const char *between = " ";
    for (int i = 0; i < HOLO_ISA_OPERANDS; i++) {
        int kind = info->kind[i];
        if (kind == HOLO_ISA_KIND_N) continue;
        if (kind == HOLO_ISA_KIND_X) put(t, "[");
        if (kind != HOLO_ISA_KIND_X) put(t, "%s", between);
        put_operand(t, p, kind, holo_isa_operand(inst, i));
        if (kind == HOLO_ISA_KIND_X) put(t, "]");
        between = ", ";
    }
    if (info->how == HOLO_ISA_HOW_SPECIAL) put(t, ", %s", holo_isa_how_text(HOLO_ISA_HOW_SPECIAL, inst->how));
    if (info->how == HOLO_ISA_HOW_BITS) put(t, ", "), put_number(t, inst->type, inst->bits);
}

static void put_inst(Text *t, const HoloIsaProgram *p, const HoloIsaInst *inst, int depth)
{
    const HoloIsaOpInfo *info = holo_isa_op(inst->op);
    put(t, "%*s%s", 4 * depth, "", info->text);
    if (info->how == HOLO_ISA_HOW_COND || info->how == HOLO_ISA_HOW_OPER)
        put(t, ".%s", holo_isa_how_text((HoloIsaHow)info->how, inst->how));
    if (info->types) put(t, ".%s", type_name(inst->type));
    if (info->how == HOLO_ISA_HOW_TYPE) put(t, ".%s", type_name(inst->how));
    put_operands(t, p, inst, info);
    put(t, "\n");
}

static void put_head(Text *t, const HoloIsaProgram *p)
{
    static const char *const access[] = {"value", "in", "out", "inout"};
    put(t, "program %s\n", p->name);
    for (int i = 0; i < p->param_count; i++)
        put(t, "%s %s: %s%s\n", access[p->params[i].access], p->params[i].name, type_name(p->params[i].type),
            p->params[i].access == HOLO_ISA_VALUE ? "" : "[]");
    for (int i = 0; i < p->shared_count; i++)
        put(t, "shared %s: %s[%" PRIu32 "]\n", p->shared[i].name, type_name(p->shared[i].type), p->shared[i].count);
    for (int i = 0; i < p->local_count; i++)
        put(t, "local %s: %s[%" PRIu32 "]\n", p->local[i].name, type_name(p->local[i].type), p->local[i].count);
}

// The type of a register follows from the instructions that name it, except those that use it as an index.
static void put_registers(Text *t, const HoloIsaProgram *p)
{
    uint64_t is_named[HOLO_ISA_MAX_REGISTERS / 64] = {0};
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < HOLO_ISA_OPERANDS; k++) {
            int kind = holo_isa_op(p->code[i].op)->kind[k], r = holo_isa_operand(&p->code[i], k);
            if (holo_isa_is_register(kind) && kind != HOLO_ISA_KIND_X) is_named[r / 64] |= UINT64_C(1) << r % 64;
        }
    for (int r = 0; r < p->register_count; r++)
        if (!(is_named[r / 64] >> r % 64 & 1))
            put(t, "register %c%d: %s\n", p->registers[r] == HOLO_BOOL ? 'p' : 'r', r, type_name(p->registers[r]));
}

char *holo_isa_print(HoloArena *arena, const HoloIsaProgram *program, size_t *out_size)
{
    Text t     = {.arena = arena};
    int  depth = 1;
    put_head(&t, program);
    put_registers(&t, program);
    for (int i = 0; i < program->count; i++) {
        unsigned op = program->code[i].op;
        if (op == HOLO_ISA_ELSE || op == HOLO_ISA_END) depth--;
        put_inst(&t, program, &program->code[i], depth);
        if (op == HOLO_ISA_ELSE || op == HOLO_ISA_IF || op == HOLO_ISA_LOOP) depth++;
    }
    if (t.failed) return NULL;
    if (out_size) *out_size = t.size;
    return t.data;
}
