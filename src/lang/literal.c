// literal.c - computes with the numbers of a source exactly.

#include "lang/ast.h"

static bool power(int64_t a, int64_t b, int64_t *out)
{
    enum { BITS = 64 };
    if (b < 0 || (b > BITS && (a < -1 || a > 1))) return false;
    if (b > BITS) b = 2 + b % 2; // the same of -1, 0 and 1
    for (*out = 1; b > 0; b--)
        if (!holo_mul(*out, a, out)) return false;
    return true;
}

bool holo_literal_ints(HoloAstOp op, int64_t a, int64_t b, int64_t *out)
{
    bool divides = b != 0 && !(a == INT64_MIN && b == -1);
    bool floors  = divides && a % b != 0 && (a < 0) != (b < 0);
    switch (op) {
    case HOLO_OP_ADD: return holo_add(a, b, out);
    case HOLO_OP_SUB: return !__builtin_sub_overflow(a, b, out);
    case HOLO_OP_MUL: return holo_mul(a, b, out);
    case HOLO_OP_FLOOR_DIV: return divides && (*out = a / b - floors, true);
    case HOLO_OP_MOD: return divides && (*out = a % b + (floors ? b : 0), true);
    case HOLO_OP_TRUNC_DIV: return divides && (*out = a / b, true);
    case HOLO_OP_TRUNC_MOD: return divides && (*out = a % b, true);
    case HOLO_OP_SHL: return b >= 0 && b < 63 && holo_mul(a, INT64_C(1) << b, out);
    case HOLO_OP_SHR: return b >= 0 && b < 64 && (*out = a >> b, true);
    case HOLO_OP_BIT_AND: *out = a & b; return true;
    case HOLO_OP_BIT_OR: *out = a | b; return true;
    case HOLO_OP_BIT_XOR: *out = a ^ b; return true;
    case HOLO_OP_POW: return power(a, b, out);
    default: return false;
    }
}
