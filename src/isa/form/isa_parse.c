// isa_parse.c - reads a program from its text, which may be anything. The validator then checks it.
#include "format/dtype.h"
#include "isa/isa.h"
#include "isa/isa_number.h"

#include <stdlib.h>
#include <string.h>

typedef struct Parser {
    const char    *at, *end;
    int            line;
    HoloIsaBuilder b;
    uint8_t        types[HOLO_ISA_MAX_REGISTERS]; // of registers; HOLO_NONE: not known yet
    int            registers;
    const char    *why; // the first mistake, on `line`
} Parser;

// ---- words

static bool fail(Parser *p, const char *why)
{
    if (!p->why) p->why = why;
    return false;
}

static void skip(Parser *p) // spaces, and a comment up to the end of the line
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')) p->at++;
    if (p->at < p->end && *p->at == '#')
        while (p->at < p->end && *p->at != '\n') p->at++;
}

static bool take(Parser *p, char c)
{
    skip(p);
    if (p->at >= p->end || *p->at != c) return false;
    p->at++;
    return true;
}

static bool expect(Parser *p, char c, const char *why)
{
    return take(p, c) || fail(p, why);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A name or a number of letters, digits and _. Returns its length; 0: there is none.
static int word(Parser *p, const char **out)
{
    skip(p);
    *out = p->at;
    while (p->at < p->end && is_word(*p->at)) p->at++;
    return p->at - *out > HOLO_ISA_MAX_NAME ? 0 : (int)(p->at - *out);
}

static bool name(Parser *p, char out[HOLO_ISA_MAX_NAME + 1])
{
    const char *text;
    int         n = word(p, &text);
    memcpy(out, text, (size_t)n);
    out[n] = 0;
    return holo_isa_is_name(out) || fail(p, "a name is missing, or not made of up to 63 letters, digits and _");
}

static bool is_text(const char *text, int n, const char *what)
{
    return (int)strlen(what) == n && !memcmp(text, what, (size_t)n);
}

static bool natural(Parser *p, uint32_t most, uint32_t *out)
{
    const char *text;
    int         n     = word(p, &text);
    uint64_t    value = 0;
    for (int i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return fail(p, "a number is not made of digits");
        value = value * 10 + (uint64_t)(text[i] - '0');
        if (value > most) return fail(p, "a number is too large");
    }
    *out = (uint32_t)value;
    return n > 0 || fail(p, "a number is missing");
}

static bool type_word(Parser *p, uint8_t *out)
{
    const char *text;
    int         n = word(p, &text), type = n ? holo_isa_how_find(HOLO_ISA_HOW_TYPE, text, n) : -1;
    if (type < 0) return fail(p, "a type is missing or unknown");
    *out = (uint8_t)type;
    return true;
}

// ---- numbers

static bool bits_word(Parser *p, const char *text, int n, HoloDtype type, uint64_t *out)
{
    uint64_t bits = 0;
    if (n < 3 || n > 18) return fail(p, "the bits of a number are missing, or there are too many");
    for (int i = 2; i < n; i++) {
        char c     = text[i];
        int  digit = c >= '0' && c <= '9'   ? c - '0'
                     : c >= 'a' && c <= 'f' ? c - 'a' + 10
                     : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                            : -1;
        if (digit < 0) return fail(p, "the bits of a number are not digits of base 16");
        bits = bits << 4 | (uint64_t)digit;
    }
    *out = bits;
    return holo_isa_narrow(type, bits) == bits || fail(p, "a number does not fit its type");
}

static bool float_word(Parser *p, const char *text, int n, HoloDtype type, uint64_t *out)
{
    char copy[64], *end;
    if (n < 1 || n >= (int)sizeof copy) return fail(p, "a number is missing, or too long");
    memcpy(copy, text, (size_t)n);
    copy[n]       = 0;
    const char *c = copy + (copy[0] == '-');
    if (*c != '.' && (*c < '0' || *c > '9')) return fail(p, "a number is missing");
    if (type == HOLO_F32)
        *out = holo_bits_of_f32(strtof(copy, &end));
    else
        *out = holo_isa_bits_of_float(type, strtod(copy, &end));
    double x = holo_f64_of_bits(holo_isa_convert_bits(HOLO_F64, type, *out));
    if (end != copy + n) return fail(p, "this is not a number");
    return x - x == 0 || fail(p, "a number does not fit its type");
}

static bool integer_word(Parser *p, const char *text, int n, HoloDtype type, uint64_t *out)
{
    bool     is_negative = n && text[0] == '-';
    uint64_t size        = 0;
    if (n <= is_negative) return fail(p, "a number is missing");
    for (int i = is_negative; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return fail(p, "a number is not made of digits");
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (size > (UINT64_MAX - digit) / 10) return fail(p, "a number does not fit its type");
        size = size * 10 + digit;
    }
    *out           = holo_isa_narrow(type, is_negative ? -size : size);
    bool is_signed = HOLO_TYPES_INT >> type & 1;
    bool fits      = type == HOLO_BOOL ? size <= 1 && !is_negative
                     : is_signed       ? (uint64_t)holo_isa_to_i64(type, *out) == (is_negative ? -size : size) &&
                                  (is_negative ? size <= UINT64_C(1) << 63 : size <= INT64_MAX)
                                 : *out == size && (!is_negative || !size);
    return fits || fail(p, "a number does not fit its type");
}

static bool number(Parser *p, HoloDtype type, uint64_t *out)
{
    skip(p);
    const char *text = p->at;
    while (p->at < p->end && (is_word(*p->at) || *p->at == '.' || *p->at == '-' || *p->at == '+')) p->at++;
    int n = p->at - text < 64 ? (int)(p->at - text) : 64;
    if (n > 1 && text[0] == '0' && text[1] == 'x') return bits_word(p, text, n, type, out);
    return HOLO_TYPES_FLOAT >> type & 1 ? float_word(p, text, n, type, out) : integer_word(p, text, n, type, out);
}

// ---- operands

// Reads a register of `type` (HOLO_NONE: any type).
static bool a_register(Parser *p, uint8_t type, uint32_t *out)
{
    skip(p);
    char letter = p->at < p->end ? *p->at : 0;
    if (letter != 'r' && letter != 'p') return fail(p, "a register is missing");
    p->at++;
    if (!natural(p, HOLO_ISA_MAX_REGISTERS - 1, out)) return false;
    if ((int)*out >= p->registers) p->registers = (int)*out + 1;
    uint8_t *known = &p->types[*out];
    if (type && *known && *known != type) return fail(p, "this register had another type before");
    if (type) *known = type;
    return *known == HOLO_NONE || (*known == HOLO_BOOL) == (letter == 'p') ||
           fail(p, "predicates are p, other registers are r");
}

static int array_find(const HoloIsaArray *arrays, int count, const char *of)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(arrays[i].name, of)) return i;
    return -1;
}

static bool named(Parser *p, int kind, uint32_t *out)
{
    char of[HOLO_ISA_MAX_NAME + 1];
    if (!name(p, of)) return false;
    p->b.program.params = p->b.params;
    int at              = kind == HOLO_ISA_KIND_M   ? array_find(p->b.shared, p->b.program.shared_count, of)
                          : kind == HOLO_ISA_KIND_L ? array_find(p->b.local, p->b.program.local_count, of)
                                                    : holo_isa_param_find(&p->b.program, of);
    *out                = (uint32_t)at;
    return at >= 0 || fail(p, "this name is not declared");
}

static bool operand(Parser *p, const HoloIsaInst *inst, int kind, uint32_t *out)
{
    switch (kind) {
    case HOLO_ISA_KIND_T: return a_register(p, inst->type, out);
    case HOLO_ISA_KIND_S: return a_register(p, inst->how, out);
    case HOLO_ISA_KIND_P: return a_register(p, HOLO_BOOL, out);
    case HOLO_ISA_KIND_X: return a_register(p, HOLO_NONE, out) && expect(p, ']', "a ] is missing behind an index");
    default: return named(p, kind, out);
    }
}

static bool how_word(Parser *p, HoloIsaHow how, uint8_t *out)
{
    const char *text;
    int         n = word(p, &text), of = n ? holo_isa_how_find(how, text, n) : -1;
    *out = (uint8_t)of;
    return of >= 0 || fail(p, "a condition, an operation or a special value is missing or unknown");
}

static bool operands(Parser *p, HoloIsaInst *inst, const HoloIsaOpInfo *info)
{
    bool is_first = true;
    for (int i = 0; i < HOLO_ISA_OPERANDS; i++) {
        int      kind = info->kind[i];
        uint32_t value;
        if (kind == HOLO_ISA_KIND_N) continue;
        if (kind == HOLO_ISA_KIND_X ? !expect(p, '[', "a [ is missing before an index")
                                    : !is_first && !expect(p, ',', "a comma is missing between operands"))
            return false;
        if (!operand(p, inst, kind, &value)) return false;
        holo_isa_set_operand(inst, i, (uint16_t)value);
        is_first = false;
    }
    if (info->how != HOLO_ISA_HOW_SPECIAL && info->how != HOLO_ISA_HOW_BITS) return true;
    if (!expect(p, ',', "a comma is missing between operands")) return false;
    return info->how == HOLO_ISA_HOW_BITS ? number(p, (HoloDtype)inst->type, &inst->bits)
                                          : how_word(p, HOLO_ISA_HOW_SPECIAL, &inst->how);
}

// ---- lines

static bool instruction(Parser *p, const char *text, int n)
{
    HoloIsaOp            op   = holo_isa_op_find(text, n);
    const HoloIsaOpInfo *info = holo_isa_op(op);
    HoloIsaInst          inst = {.op = (uint16_t)op};
    if (!info) return fail(p, "there is no such instruction");
    if (info->how == HOLO_ISA_HOW_COND || info->how == HOLO_ISA_HOW_OPER)
        if (!expect(p, '.', "a condition or an operation is missing") || !how_word(p, (HoloIsaHow)info->how, &inst.how))
            return false;
    if (info->types && (!expect(p, '.', "a type is missing") || !type_word(p, &inst.type))) return false;
    if (info->how == HOLO_ISA_HOW_TYPE && (!expect(p, '.', "the second type is missing") || !type_word(p, &inst.how)))
        return false;
    if (!operands(p, &inst, info)) return false;
    holo_isa_emit(&p->b, inst);
    return true;
}

static bool param(Parser *p, HoloIsaAccess access)
{
    char    of[HOLO_ISA_MAX_NAME + 1];
    uint8_t type;
    if (!name(p, of) || !expect(p, ':', "a : is missing behind a name") || !type_word(p, &type)) return false;
    if (access != HOLO_ISA_VALUE && !(take(p, '[') && take(p, ']'))) return fail(p, "an array is written as f32[]");
    holo_isa_param(&p->b, of, (HoloDtype)type, access);
    return true;
}

static bool array(Parser *p, int (*add)(HoloIsaBuilder *, const char *, HoloDtype, uint32_t))
{
    char     of[HOLO_ISA_MAX_NAME + 1];
    uint8_t  type;
    uint32_t count;
    if (!name(p, of) || !expect(p, ':', "a : is missing behind a name") || !type_word(p, &type)) return false;
    if (!expect(p, '[', "an array of the program is written as f32[16]") || !natural(p, UINT32_MAX, &count))
        return false;
    if (!expect(p, ']', "a ] is missing behind a size")) return false;
    add(&p->b, of, (HoloDtype)type, count);
    return true;
}

static bool unused_register(Parser *p)
{
    uint32_t r;
    uint8_t  type;
    if (!a_register(p, HOLO_NONE, &r) || !expect(p, ':', "a : is missing behind a register") || !type_word(p, &type))
        return false;
    if (p->types[r]) return fail(p, "the type of a register is known already");
    p->types[r] = type;
    return true;
}

static bool line(Parser *p, const char *text, int n)
{
    static const char *const access[] = {"value", "in", "out", "inout"};
    bool                     is_head  = p->b.program.count == 0;
    for (int i = 0; i < HOLO_COUNT(access) && is_head; i++)
        if (is_text(text, n, access[i])) return param(p, (HoloIsaAccess)i);
    if (is_head && is_text(text, n, "shared")) return array(p, holo_isa_shared);
    if (is_head && is_text(text, n, "local")) return array(p, holo_isa_local);
    if (is_head && is_text(text, n, "register")) return unused_register(p);
    return instruction(p, text, n);
}

static bool lines(Parser *p, HoloArena *arena)
{
    bool is_begun = false;
    for (p->line = 1; p->at < p->end; p->line++) {
        const char *text;
        char        of[HOLO_ISA_MAX_NAME + 1];
        int         n = word(p, &text);
        if (n && !is_begun) {
            if (!is_text(text, n, "program")) return fail(p, "the first line must be: program NAME");
            if (!name(p, of)) return false;
            holo_isa_begin(&p->b, arena, of);
            is_begun = true;
        } else if (n && !line(p, text, n)) {
            return false;
        }
        skip(p);
        if (p->at < p->end && *p->at++ != '\n') return fail(p, "something follows that does not belong on this line");
        if (p->b.status == HOLO_NO_MEMORY) return false;
        if (p->b.status) return fail(p, p->b.why);
    }
    return is_begun || fail(p, "the first line must be: program NAME");
}

static HoloStatus parse(Parser *p, HoloArena *arena, HoloIsaProgram *out_program, HoloError *error)
{
    if (!lines(p, arena) && p->why) return holo_fail(error, HOLO_BAD_ARGUMENT, "line %d: %s", p->line, p->why);
    for (int i = 0; i < p->registers; i++) {
        if (!p->types[i])
            return holo_fail(error, HOLO_BAD_ARGUMENT, "the type of register %d is unknown: write register r%d: f32", i,
                             i);
        holo_isa_register(&p->b, (HoloDtype)p->types[i]);
    }
    return holo_isa_finish(&p->b, out_program, error);
}

HoloStatus holo_isa_parse(HoloArena *arena, const char *text, size_t size, HoloIsaProgram *out_program,
                          HoloError *error)
{
    Parser *p = holo_realloc(NULL, sizeof *p);
    if (!p) return holo_fail_memory(error);
    memset(p, 0, sizeof *p);
    p->at = text, p->end = text + size;
    HoloStatus status = parse(p, arena, out_program, error);
    holo_free(p);
    return status;
}
