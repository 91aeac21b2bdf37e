// isa_table.c - the instructions by number and by name.
#include "format/dtype.h"
#include "isa/isa.h"

#include <string.h>

#define SET_NONE    0
#define SET_INDEX   (HOLO_BIT(I32) | HOLO_BIT(U32) | HOLO_BIT(I64) | HOLO_BIT(U64))
#define SET_INTEGER (HOLO_TYPES_INT | HOLO_TYPES_UINT)
#define SET_FLOAT   HOLO_TYPES_FLOAT
#define SET_NUMBER  HOLO_TYPES_NUMBER
#define SET_SIGNED  (HOLO_TYPES_INT | HOLO_TYPES_FLOAT)
#define SET_LOGIC   (SET_INTEGER | HOLO_BIT(BOOL))
#define SET_ANY     (SET_NUMBER | HOLO_BIT(BOOL))
#define SET_ATOMIC  (SET_INDEX | HOLO_BIT(F32) | HOLO_BIT(F64))

#define KIND(x) HOLO_ISA_KIND_##x

static const HoloIsaOpInfo table[HOLO_ISA_OP_END] = {
#define OP(id, number, text, types, dst, a, b, c, d, how) \
    [number] = {text, SET_##types, {KIND(dst), KIND(a), KIND(b), KIND(c), KIND(d)}, HOLO_ISA_HOW_##how},
#include "isa/isa_ops.def"
#undef OP
};

const HoloIsaOpInfo *holo_isa_op(unsigned op)
{
    return op < HOLO_ISA_OP_END && table[op].text ? &table[op] : NULL;
}

static bool is_same(const char *name, const char *text, int n)
{
    return name && !strncmp(name, text, (size_t)n) && !name[n];
}

HoloIsaOp holo_isa_op_find(const char *text, int n)
{
    for (int i = 0; i < HOLO_ISA_OP_END; i++)
        if (is_same(table[i].text, text, n)) return (HoloIsaOp)i;
    return (HoloIsaOp)0;
}

#define X(id, value, text) [value] = text,
static const char *const conds[]    = {HOLO_ISA_COND_MAP(X)};
static const char *const opers[]    = {HOLO_ISA_OPER_MAP(X)};
static const char *const specials[] = {HOLO_ISA_SPECIAL_MAP(X)};
#undef X

static const struct {
    const char *const *text;
    int                count;
} how_names[] = {
    [HOLO_ISA_HOW_COND]    = {conds, HOLO_ISA_CONDS},
    [HOLO_ISA_HOW_OPER]    = {opers, HOLO_ISA_OPERS},
    [HOLO_ISA_HOW_SPECIAL] = {specials, HOLO_ISA_SPECIALS},
};

const char *holo_isa_how_text(HoloIsaHow how, int of)
{
    if (how == HOLO_ISA_HOW_TYPE)
        return of > 0 && holo_isa_is_type((unsigned)of) ? holo_dtype_name((HoloDtype)of) : NULL;
    if ((int)how >= HOLO_COUNT(how_names) || of < 0 || of >= how_names[how].count) return NULL;
    return how_names[how].text[of];
}

int holo_isa_how_find(HoloIsaHow how, const char *text, int n)
{
    for (int i = 0; i < HOLO_DTYPE_COUNT; i++)
        if (is_same(holo_isa_how_text(how, i), text, n)) return i;
    return -1;
}

uint16_t holo_isa_operand(const HoloIsaInst *inst, int i)
{
    const uint16_t operands[HOLO_ISA_OPERANDS] = {inst->dst, inst->a, inst->b, inst->c, inst->d};
    return operands[i];
}

void holo_isa_set_operand(HoloIsaInst *inst, int i, uint16_t value)
{
    uint16_t *operands[HOLO_ISA_OPERANDS] = {&inst->dst, &inst->a, &inst->b, &inst->c, &inst->d};
    *operands[i]                          = value;
}

bool holo_isa_is_type(unsigned type)
{
    return type < HOLO_DTYPE_COUNT && (SET_ANY >> type & 1);
}

bool holo_isa_is_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    if (n < 1 || n > HOLO_ISA_MAX_NAME || (name[0] >= '0' && name[0] <= '9')) return false;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return true;
}

int holo_isa_param_find(const HoloIsaProgram *program, const char *name)
{
    for (int i = 0; i < program->param_count; i++)
        if (!strcmp(program->params[i].name, name)) return i;
    return -1;
}

bool holo_isa_is_cooperative(const HoloIsaProgram *program)
{
    if (program->shared_count) return true;
    for (int i = 0; i < program->count; i++) {
        unsigned op = program->code[i].op;
        if (op == HOLO_ISA_BARRIER || op == HOLO_ISA_REDUCE || op == HOLO_ISA_SCAN) return true;
    }
    return false;
}
