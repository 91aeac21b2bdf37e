// isa_scalar.c - instructions on single numbers, as plain as possible. The tiles are for speed.
#include "isa/isa_scalar.h"
#include "base/math/fma.h"
#include "format/dtype.h"
#include "isa/isa_number.h"
#include "kernels/tiles/tiles.h"

#include <math.h>

// ---- integers, in 64 bits and then narrowed

static bool divide(unsigned op, bool is_signed, int64_t a, int64_t b, int64_t *out)
{
    if (!b) return false;
    if (!is_signed) {
        uint64_t x = (uint64_t)a, y = (uint64_t)b;
        *out = (int64_t)(op == HOLO_ISA_DIV || op == HOLO_ISA_FLOORDIV ? x / y : x % y);
        return true;
    }
    int64_t quotient = b == -1 ? (int64_t) - (uint64_t)a : a / b, rest = b == -1 ? 0 : a % b;
    bool    is_down = rest && (rest < 0) != (b < 0); // rounding down is one less than rounding towards zero
    switch (op) {
    case HOLO_ISA_DIV: *out = quotient; break;
    case HOLO_ISA_REM: *out = rest; break;
    case HOLO_ISA_FLOORDIV: *out = quotient - is_down; break;
    default: *out = is_down ? rest + b : rest; break;
    }
    return true;
}

static int64_t class_of(uint64_t a)
{
    return (int64_t)(((a >> 6 & 3) * 3 + (a >> 4 & 3) % 3) * 8 + (a >> 1 & 7));
}

static int64_t mirror_of(int64_t a)
{
    if (a < 0 || a >= 96) return a;
    int modality = (int)(a / 8 % 3);
    return modality == 1 ? a + 8 : modality == 2 ? a - 8 : a;
}

// The labels, another map of bytes to 96 numbers, and their graph: a label is 48 e1 + 24 e2 + 12 e3 + 6 e6 + 3 e7 + t,
// where the e are bits and t is 0, 1 or 2. Neighbors differ in one of e1, e2, e3, e6, or by 1 in t.
static int64_t label_of(uint64_t a)
{
    return (int64_t)((a & 1) * 48 + (a >> 1 & 1) * 24 + (a >> 2 & 1) * 12 + (a >> 3 & 1) * 6 + (a >> 4 & 1) * 3 +
                     (a >> 5 & 3) % 3);
}

static int64_t degree_of(int64_t a)
{
    return a < 0 || a >= 96 ? 0 : a % 3 == 1 ? 6 : 5;
}

// The neighbor of label a that has k neighbors below it; a if there is none.
static int64_t neighbor_of(int64_t a, int64_t k)
{
    if (k < 0 || k >= degree_of(a)) return a;
    for (int64_t b = 0; b < 96; b++) {
        int64_t apart = a < b ? b - a : a - b, low = a < b ? a : b;
        bool    flips = (apart == 48 || apart == 24 || apart == 12 || apart == 6) && low / apart % 2 == 0;
        bool    steps = apart == 1 && a / 3 == b / 3;
        if ((flips || steps) && k-- == 0) return b;
    }
    return a;
}

static bool integer(const HoloIsaInst *inst, uint64_t a_bits, uint64_t b_bits, uint64_t c_bits, uint64_t *out)
{
    HoloDtype type      = (HoloDtype)inst->type;
    bool      is_signed = HOLO_TYPES_INT >> type & 1, ok = true;
    int       size = (int)holo_dtype_size(type) * 8, by = (int)(b_bits % (unsigned)size);
    int64_t   a = holo_isa_to_i64(type, a_bits), b = holo_isa_to_i64(type, b_bits), c = holo_isa_to_i64(type, c_bits),
            r  = 0;
    uint64_t x = (uint64_t)a, y = (uint64_t)b, z = (uint64_t)c;
    bool     is_less = is_signed ? a < b : x < y;
    switch (inst->op) {
    case HOLO_ISA_ADD: r = (int64_t)(x + y); break;
    case HOLO_ISA_SUB: r = (int64_t)(x - y); break;
    case HOLO_ISA_MUL: r = (int64_t)(x * y); break;
    case HOLO_ISA_MAD: r = (int64_t)(x * y + z); break;
    case HOLO_ISA_BOUND: r = (int64_t)(x * 12288 + y * 256 + z); break;
    case HOLO_ISA_DIV:
    case HOLO_ISA_REM:
    case HOLO_ISA_FLOORDIV:
    case HOLO_ISA_MOD: ok = divide(inst->op, is_signed, a, b, &r); break;
    case HOLO_ISA_MIN: r = is_less ? a : b; break;
    case HOLO_ISA_MAX: r = is_less ? b : a; break;
    case HOLO_ISA_ABS: r = a < 0 ? (int64_t)-x : a; break;
    case HOLO_ISA_NEG: r = (int64_t)-x; break;
    case HOLO_ISA_SIGN: r = (a > 0) - (a < 0); break;
    case HOLO_ISA_AND: r = a & b; break;
    case HOLO_ISA_OR: r = a | b; break;
    case HOLO_ISA_XOR: r = a ^ b; break;
    case HOLO_ISA_NOT: r = type == HOLO_BOOL ? !a : ~a; break;
    case HOLO_ISA_SHL: r = (int64_t)(x << by); break;
    case HOLO_ISA_SHR: r = is_signed ? a >> by : (int64_t)(x >> by); break;
    case HOLO_ISA_POPC: r = __builtin_popcountll(a_bits); break;
    case HOLO_ISA_CLZ: r = a_bits ? __builtin_clzll(a_bits) - (64 - size) : size; break;
    case HOLO_ISA_CLASS: r = class_of(a_bits); break;
    case HOLO_ISA_MIRROR: r = !is_signed && a < 0 ? a : mirror_of(a); break;
    case HOLO_ISA_LABEL: r = label_of(a_bits); break;
    case HOLO_ISA_UNITY: r = a == 1 || a == 4; break;
    case HOLO_ISA_DEGREE: r = degree_of(a); break;
    case HOLO_ISA_NEIGHBOUR: r = neighbor_of(a, b); break;
    default: break;
    }
    *out = holo_isa_narrow(type, (uint64_t)r);
    return ok;
}

// ---- floats

static double floor_mod(double a, double b)
{
    double r = fmod(a, b);
    return r == 0 ? copysign(0, b) : (r < 0) != (b < 0) ? r + b : r;
}

static double f64(unsigned op, double a, double b, double c)
{
    switch (op) {
    case HOLO_ISA_ADD: return a + b;
    case HOLO_ISA_SUB: return a - b;
    case HOLO_ISA_MUL: return a * b;
    case HOLO_ISA_DIV: return a / b;
    case HOLO_ISA_REM: return fmod(a, b);
    case HOLO_ISA_FLOORDIV: return floor(a / b);
    case HOLO_ISA_MOD: return floor_mod(a, b);
    case HOLO_ISA_MIN: return a != a ? a : a < b ? a : b;
    case HOLO_ISA_MAX: return a != a ? a : a > b ? a : b;
    case HOLO_ISA_MAD: return a * b + c;
    case HOLO_ISA_FMA: return holo_fma_f64(a, b, c);
    case HOLO_ISA_ABS: return fabs(a);
    case HOLO_ISA_NEG: return -a;
    case HOLO_ISA_SIGN: return a > 0 ? 1 : a < 0 ? -1 : a;
    case HOLO_ISA_FLOOR: return floor(a);
    case HOLO_ISA_CEIL: return ceil(a);
    case HOLO_ISA_ROUND: return rint(a);
    case HOLO_ISA_TRUNC: return trunc(a);
    case HOLO_ISA_SQRT: return sqrt(a);
    case HOLO_ISA_RSQRT: return 1 / sqrt(a);
    default: return 1 / a; // RCP
    }
}

// The same in float: an operation in double that is then rounded may differ from one in float.
static float f32(unsigned op, float a, float b, float c)
{
    switch (op) {
    case HOLO_ISA_ADD: return a + b;
    case HOLO_ISA_SUB: return a - b;
    case HOLO_ISA_MUL: return a * b;
    case HOLO_ISA_DIV: return a / b;
    case HOLO_ISA_FLOORDIV: return floorf(a / b);
    case HOLO_ISA_MAD: return a * b + c;
    case HOLO_ISA_FMA: return holo_fma_f32(a, b, c);
    case HOLO_ISA_SQRT: return sqrtf(a);
    case HOLO_ISA_RSQRT: return 1 / sqrtf(a);
    case HOLO_ISA_RCP: return 1 / a;
    case HOLO_ISA_MOD: {
        float r = fmodf(a, b);
        return r == 0 ? copysignf(0, b) : (r < 0) != (b < 0) ? r + b : r;
    }
    default: return (float)f64(op, (double)a, (double)b, (double)c); // exact: the others give a, b, or a whole number
    }
}

// The loops of the plainest level define the elementary functions. tests/unit/isa/isa_math_test.c checks them against
// the bounds of docs/isa.md.
static const struct {
    uint16_t op;
    uint8_t  tile;
} functions[] = {
#define FUNCTION(id)                  \
    {                                 \
        HOLO_ISA_##id, HOLO_TILE_##id \
    }
    FUNCTION(EXP),  FUNCTION(LOG),  FUNCTION(LOG2), FUNCTION(LOG10), FUNCTION(SIN),     FUNCTION(COS), FUNCTION(TAN),
    FUNCTION(ASIN), FUNCTION(ACOS), FUNCTION(ATAN), FUNCTION(TANH),  FUNCTION(SIGMOID), FUNCTION(ERF), FUNCTION(POW),
#undef FUNCTION
};

// For both float types: `type` is F32 or F64, and the numbers are its bits.
static uint64_t real(unsigned op, HoloDtype type, uint64_t a, uint64_t b, uint64_t c)
{
    for (int i = 0; i < HOLO_COUNT(functions); i++)
        if (functions[i].op == op) {
            uint64_t out = 0;
            holo_tiles_plainest()->op[functions[i].tile][type == HOLO_F32 ? HOLO_TILE_F32 : HOLO_TILE_F64](1, &a, &b,
                                                                                                           &b, &out, 0);
            return out;
        }
    if (type == HOLO_F32)
        return holo_bits_of_f32(
            f32(op, holo_f32_of_bits((uint32_t)a), holo_f32_of_bits((uint32_t)b), holo_f32_of_bits((uint32_t)c)));
    return holo_bits_of_f64(f64(op, holo_f64_of_bits(a), holo_f64_of_bits(b), holo_f64_of_bits(c)));
}

static uint64_t floating(unsigned op, HoloDtype type, uint64_t a, uint64_t b, uint64_t c)
{
    if (type == HOLO_F32 || type == HOLO_F64) return real(op, type, a, b, c);
    a = holo_isa_convert_bits(HOLO_F32, type, a), b = holo_isa_convert_bits(HOLO_F32, type, b);
    return holo_isa_convert_bits(type, HOLO_F32, real(op, HOLO_F32, a, b, holo_isa_convert_bits(HOLO_F32, type, c)));
}

// ---- both

static bool is_true(int cond, int order) // order: -1, 0, 1; 2 if there is none
{
    switch (cond) {
    case HOLO_ISA_COND_EQ: return order == 0;
    case HOLO_ISA_COND_NE: return order != 0;
    case HOLO_ISA_COND_LT: return order == -1;
    case HOLO_ISA_COND_LE: return order == -1 || order == 0;
    case HOLO_ISA_COND_GT: return order == 1;
    default: return order == 0 || order == 1;
    }
}

static bool compare(const HoloIsaInst *inst, uint64_t a, uint64_t b)
{
    HoloDtype type = (HoloDtype)inst->type;
    if (HOLO_TYPES_FLOAT >> type & 1) {
        double x = holo_f64_of_bits(holo_isa_convert_bits(HOLO_F64, type, a));
        double y = holo_f64_of_bits(holo_isa_convert_bits(HOLO_F64, type, b));
        return is_true(inst->how, x < y ? -1 : x > y ? 1 : x == y ? 0 : 2);
    }
    int64_t x = holo_isa_to_i64(type, a), y = holo_isa_to_i64(type, b);
    bool    is_less = HOLO_TYPES_INT >> type & 1 ? x < y : (uint64_t)x < (uint64_t)y;
    return is_true(inst->how, is_less ? -1 : x != y);
}

static uint64_t bitcast(HoloDtype from, uint64_t a)
{
    static const uint64_t nan[HOLO_DTYPE_COUNT] = {
        [HOLO_F16] = 0x7e00, [HOLO_BF16] = 0x7fc0, [HOLO_F32] = 0x7fc00000, [HOLO_F64] = UINT64_C(0x7ff8000000000000)};
    double x = nan[from] ? holo_f64_of_bits(holo_isa_convert_bits(HOLO_F64, from, a)) : 0;
    return x != x ? nan[from] : a;
}

bool holo_isa_scalar(const HoloIsaInst *inst, uint64_t a, uint64_t b, uint64_t c, uint64_t *out)
{
    HoloDtype type = (HoloDtype)inst->type;
    *out           = 0;
    switch (inst->op) {
    case HOLO_ISA_MOV: *out = a; return true;
    case HOLO_ISA_CVT: *out = holo_isa_convert_bits(type, (HoloDtype)inst->how, a); return true;
    case HOLO_ISA_BITCAST: *out = bitcast((HoloDtype)inst->how, a); return true;
    case HOLO_ISA_SEL: *out = a ? b : c; return true;
    case HOLO_ISA_SET: *out = compare(inst, a, b); return true;
    default: break;
    }
    if (!(HOLO_TYPES_FLOAT >> type & 1)) return integer(inst, a, b, c, out);
    *out = floating(inst->op, type, a, b, c);
    return true;
}

uint64_t holo_isa_combine(HoloIsaOper oper, HoloDtype type, uint64_t a, uint64_t b)
{
    static const uint16_t ops[HOLO_ISA_OPERS] = {HOLO_ISA_ADD, HOLO_ISA_MUL, HOLO_ISA_MIN, HOLO_ISA_MAX,
                                                 HOLO_ISA_AND, HOLO_ISA_OR,  HOLO_ISA_XOR, HOLO_ISA_MOV};
    HoloIsaInst           inst                = {.op = ops[oper], .type = (uint8_t)type};
    uint64_t              out;
    if (oper == HOLO_ISA_OPER_XCHG) return b;
    return holo_isa_scalar(&inst, a, b, 0, &out), out;
}

// ---- control

void holo_isa_targets(const HoloIsaProgram *program, int32_t *out_targets)
{
    int32_t open[HOLO_ISA_MAX_DEPTH]; // IF or ELSE, and LOOP
    int     depth = 0;
    for (int32_t i = 0; i < program->count; i++) {
        unsigned op    = program->code[i].op;
        out_targets[i] = i;
        if (op == HOLO_ISA_IF || op == HOLO_ISA_LOOP) open[depth++] = i;
        if (op == HOLO_ISA_ELSE) out_targets[open[depth - 1]] = i, open[depth - 1] = i;
        if (op != HOLO_ISA_END) continue;
        int32_t from      = open[--depth];
        out_targets[from] = i;
        if (program->code[from].op == HOLO_ISA_LOOP) out_targets[i] = from;
    }
    depth = 0;
    for (int32_t i = 0; i < program->count; i++) { // the ends are known now
        unsigned op = program->code[i].op;
        if (op == HOLO_ISA_LOOP) open[depth++] = i;
        if (op == HOLO_ISA_END && out_targets[i] != i) depth--;
        if (op >= HOLO_ISA_BREAK && op <= HOLO_ISA_NEXTIF) out_targets[i] = out_targets[open[depth - 1]];
    }
}
