// torch_numbers.c - arithmetic on numbers of Python: at once where they are known, else as nodes on scalars.
//
// A number that only a run knows is an i64, f64 or bool without dimensions.
#include "import/torch/aten.h"

#include <math.h>
#include <string.h>

typedef enum Op {
    ADD,
    SUB,
    MUL,
    FLOORDIV,
    TRUEDIV,
    MOD,
    POW,
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    MIN,
    MAX,
    AND,
    OR,
    XOR,
    SHL,
    SHR, // from here on of known numbers alone
    FMOD,
    ATAN2,
    COPYSIGN,
    GCD,
} Op;
typedef enum Unary { NEG, ABS, CEIL, FLOOR, ROUND, INT, FLOAT, BOOL, NOT, SAME } Unary;

static const struct {
    const char *name;
    Op          op;
} binaries[] = {
    {"add", ADD},
    {"sub", SUB},
    {"mul", MUL},
    {"floordiv", FLOORDIV},
    {"floor_divide", FLOORDIV},
    {"truediv", TRUEDIV},
    {"div", TRUEDIV},
    {"true_divide", TRUEDIV},
    {"mod", MOD},
    {"remainder", MOD},
    {"pow", POW},
    {"eq", EQ},
    {"ne", NE},
    {"lt", LT},
    {"le", LE},
    {"gt", GT},
    {"ge", GE},
    {"min", MIN},
    {"max", MAX},
    {"sym_min", MIN},
    {"sym_max", MAX},
    {"and_", AND},
    {"or_", OR},
    {"xor", XOR},
    {"__and__", AND},
    {"__or__", OR},
    {"__xor__", XOR},
    {"bitwise_and", AND},
    {"bitwise_or", OR},
    {"lshift", SHL},
    {"rshift", SHR},
    {"__lshift__", SHL},
    {"__rshift__", SHR},
    {"fmod", FMOD},
    {"atan2", ATAN2},
    {"copysign", COPYSIGN},
    {"gcd", GCD},
};

static const struct {
    const char *name;
    Unary       op;
} unaries[] = {
    {"neg", NEG},
    {"abs", ABS},
    {"ceil", CEIL},
    {"floor", FLOOR},
    {"round", ROUND},
    {"int", INT},
    {"Int", INT},
    {"sym_int", INT},
    {"trunc", INT},
    {"float", FLOAT},
    {"Float", FLOAT},
    {"sym_float", FLOAT},
    {"bool", BOOL},
    {"Bool", BOOL},
    {"__not__", NOT},
    {"not_", NOT},
    {"sym_not", NOT},
    {"pos", SAME},
    {"ScalarImplicit", SAME},
    {"IntImplicit", INT},
    {"FloatImplicit", FLOAT},
    {"fabs", ABS},
};

static double degrees(double x)
{
    return x * (180 / 3.14159265358979323846);
}

static double radians(double x)
{
    return x * (3.14159265358979323846 / 180);
}

// Functions of a real number. Without an operator of ONNX they are of known numbers alone.
static const struct {
    const char *name;
    double (*at)(double x);
    const char *onnx;
} reals[] = {
    {"sqrt", sqrt, "Sqrt"},     {"_sym_sqrt", sqrt, "Sqrt"}, {"exp", exp, "Exp"},       {"log", log, "Log"},
    {"sin", sin, "Sin"},        {"cos", cos, "Cos"},         {"tan", tan, "Tan"},       {"asin", asin, "Asin"},
    {"acos", acos, "Acos"},     {"atan", atan, "Atan"},      {"sinh", sinh, "Sinh"},    {"cosh", cosh, "Cosh"},
    {"tanh", tanh, "Tanh"},     {"asinh", asinh, "Asinh"},   {"acosh", acosh, "Acosh"}, {"atanh", atanh, "Atanh"},
    {"erf", erf, "Erf"},        {"erfc", erfc, NULL},        {"log2", log2, NULL},      {"log10", log10, NULL},
    {"log1p", log1p, NULL},     {"expm1", expm1, NULL},      {"gamma", tgamma, NULL},   {"lgamma", lgamma, NULL},
    {"degrees", degrees, NULL}, {"radians", radians, NULL},
};

// ---- known numbers

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t int_power(int64_t a, int64_t b)
{
    uint64_t result = 1, base = (uint64_t)a;
    for (; b; b >>= 1, base *= base)
        if (b & 1) result *= base;
    return (int64_t)result;
}

// False: it is not a whole number, or there is none.
static bool on_ints(Op op, int64_t a, int64_t b, HoloTv *out)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    bool     divides = op == FLOORDIV || op == MOD;
    if (divides && (!b || (b == -1 && a == INT64_MIN))) return false;
    switch (op) {
    case ADD: *out = holo_tv_int((int64_t)(x + y)); return true;
    case SUB: *out = holo_tv_int((int64_t)(x - y)); return true;
    case MUL: *out = holo_tv_int((int64_t)(x * y)); return true;
    case FLOORDIV: *out = holo_tv_int(floor_div(a, b)); return true;
    case MOD: *out = holo_tv_int(a - floor_div(a, b) * b); return true;
    case POW: *out = holo_tv_int(b < 0 ? 0 : int_power(a, b)); return b >= 0;
    case MIN: *out = holo_tv_int(a < b ? a : b); return true;
    case MAX: *out = holo_tv_int(a > b ? a : b); return true;
    case AND: *out = holo_tv_int(a & b); return true;
    case OR: *out = holo_tv_int(a | b); return true;
    case XOR: *out = holo_tv_int(a ^ b); return true;
    case SHL: *out = holo_tv_int(b >= 0 && b < 64 ? (int64_t)(x << b) : 0); return true;
    case SHR: *out = holo_tv_int(b >= 0 && b < 64 ? a >> b : a < 0 ? -1 : 0); return true;
    case EQ: *out = holo_tv_bool(a == b); return true;
    case NE: *out = holo_tv_bool(a != b); return true;
    case LT: *out = holo_tv_bool(a < b); return true;
    case LE: *out = holo_tv_bool(a <= b); return true;
    case GT: *out = holo_tv_bool(a > b); return true;
    case GE: *out = holo_tv_bool(a >= b); return true;
    case GCD:
        for (uint64_t rest; y; x = y, y = rest) rest = x % y;
        *out = holo_tv_int((int64_t)x);
        return a >= 0 && b >= 0;
    default: return false;
    }
}

static bool on_floats(Op op, double a, double b, HoloTv *out)
{
    switch (op) {
    case ADD: *out = holo_tv_float(a + b); return true;
    case SUB: *out = holo_tv_float(a - b); return true;
    case MUL: *out = holo_tv_float(a * b); return true;
    case FLOORDIV: *out = holo_tv_float(floor(a / b)); return true;
    case TRUEDIV: *out = holo_tv_float(a / b); return true;
    case MOD: *out = holo_tv_float(a - floor(a / b) * b); return true;
    case POW: *out = holo_tv_float(pow(a, b)); return true;
    case FMOD: *out = holo_tv_float(fmod(a, b)); return true;
    case ATAN2: *out = holo_tv_float(atan2(a, b)); return true;
    case COPYSIGN: *out = holo_tv_float(copysign(a, b)); return true;
    case MIN: *out = holo_tv_float(a < b ? a : b); return true;
    case MAX: *out = holo_tv_float(a > b ? a : b); return true;
    case EQ: *out = holo_tv_bool(a == b); return true;
    case NE: *out = holo_tv_bool(a != b); return true;
    case LT: *out = holo_tv_bool(a < b); return true;
    case LE: *out = holo_tv_bool(a <= b); return true;
    case GT: *out = holo_tv_bool(a > b); return true;
    case GE: *out = holo_tv_bool(a >= b); return true;
    default: return false;
    }
}

static double as_float(const HoloTv *v)
{
    return v->kind == HOLO_TORCH_FLOAT ? v->f : (double)v->i;
}

static bool is_known(const HoloTv *v)
{
    return v->kind == HOLO_TORCH_INT || v->kind == HOLO_TORCH_BOOL || v->kind == HOLO_TORCH_FLOAT;
}

static bool known_binary(Op op, const HoloTv *a, const HoloTv *b, HoloTv *out)
{
    bool is_float = a->kind == HOLO_TORCH_FLOAT || b->kind == HOLO_TORCH_FLOAT || op == TRUEDIV;
    bool is_bool  = a->kind == HOLO_TORCH_BOOL && b->kind == HOLO_TORCH_BOOL && (op == AND || op == OR || op == XOR);
    if (!is_float && on_ints(op, a->i, b->i, out)) {
        if (is_bool) out->kind = HOLO_TORCH_BOOL;
        return true;
    }
    return on_floats(op, as_float(a), as_float(b), out);
}

static bool known_unary(Unary op, const HoloTv *a, HoloTv *out)
{
    double f       = as_float(a);
    bool   is_real = a->kind == HOLO_TORCH_FLOAT, fits = fabs(f) < 9e18;
    switch (op) {
    case NEG: *out = is_real ? holo_tv_float(-f) : holo_tv_int((int64_t)(0 - (uint64_t)a->i)); return true;
    case ABS:
        *out = is_real ? holo_tv_float(fabs(f)) : holo_tv_int(a->i < 0 ? (int64_t)(0 - (uint64_t)a->i) : a->i);
        return true;
    case CEIL: *out = is_real ? holo_tv_int((int64_t)ceil(f)) : *a; return fits;
    case FLOOR: *out = is_real ? holo_tv_int((int64_t)floor(f)) : *a; return fits;
    case ROUND: *out = is_real ? holo_tv_float(nearbyint(f)) : *a; return true;
    case INT: *out = is_real ? holo_tv_int((int64_t)f) : holo_tv_int(a->i); return fits;
    case FLOAT: *out = holo_tv_float(f); return true;
    case BOOL: *out = holo_tv_bool(f != 0); return true;
    case NOT: *out = holo_tv_bool(f == 0); return true;
    case SAME: *out = *a; return true;
    }
    return false;
}

// ---- numbers of the run

static HoloValue *scalar(HoloTorch *t, const HoloTv *v, HoloDtype dtype)
{
    return holo_torch_scalar_of(t, holo_torch_scalar(t, v, dtype));
}

static HoloDtype number_dtype(HoloTorch *t, const HoloTv *v)
{
    HoloDtype dtype = v->kind == HOLO_TORCH_FLOAT    ? HOLO_F64
                      : v->kind == HOLO_TORCH_NUMBER ? DTYPE(v->number)
                                                     : HOLO_I64;
    if (v->kind == HOLO_TORCH_TENSOR) dtype = DTYPE(holo_torch_value(t, v));
    if (v->kind == HOLO_TORCH_BOOL) dtype = HOLO_BOOL;
    return holo_torch_is_float(dtype) ? HOLO_F64 : dtype == HOLO_BOOL ? HOLO_BOOL : HOLO_I64;
}

static HoloValue *emit_binary(HoloTorch *t, Op op, const HoloTv *a, const HoloTv *b)
{
    static const char *const names[] = {"Add",
                                        "Sub",
                                        "Mul",
                                        NULL,
                                        "Div",
                                        "Mod",
                                        "Pow",
                                        "Equal",
                                        NULL,
                                        "Less",
                                        "LessOrEqual",
                                        "Greater",
                                        "GreaterOrEqual",
                                        "Min",
                                        "Max",
                                        "And",
                                        "Or",
                                        "Xor",
                                        NULL,
                                        NULL};
    HoloDtype                p = number_dtype(t, a), q = number_dtype(t, b),
              dtype = p == HOLO_F64 || q == HOLO_F64 || op == TRUEDIV ? HOLO_F64 : HOLO_I64;
    bool is_logic   = (op == AND || op == OR || op == XOR);
    if (is_logic && p == HOLO_BOOL && q == HOLO_BOOL) dtype = HOLO_BOOL;
    HoloValue *x = scalar(t, a, dtype), *y = scalar(t, b, dtype);
    if (op == FLOORDIV) return holo_torch_floor_div(t, x, y);
    if (op == NE) return OP1("Not", OP2("Equal", x, y));
    if (op == MOD && dtype == HOLO_F64) return OP2("Sub", x, OP2("Mul", y, OP1("Floor", OP2("Div", x, y))));
    if (is_logic && dtype != HOLO_BOOL)
        return OP2(op == AND ? "BitwiseAnd" : op == OR ? "BitwiseOr" : "BitwiseXor", x, y);
    if (op == SHL) return OP2("Mul", x, OP2("Pow", NUM(x, 2), y));
    if (op == SHR) return holo_torch_floor_div(t, x, OP2("Pow", NUM(x, 2), y));
    return OP2(names[op], x, y);
}

static HoloValue *emit_unary(HoloTorch *t, Unary op, const HoloTv *a)
{
    static const char *const names[] = {"Neg", "Abs", "Ceil", "Floor", "Round", NULL, NULL, NULL, NULL, "Identity"};
    HoloDtype                dtype   = number_dtype(t, a);
    HoloValue               *x       = scalar(t, a, dtype);
    bool                     is_real = dtype == HOLO_F64;
    if (op == INT) holo_torch_learn_count(t, x); // int(x.max()) is only said of whole numbers
    if (op == INT) return holo_emit_cast(t->e, x, HOLO_I64);
    if (op == FLOAT) return holo_emit_cast(t->e, x, HOLO_F64);
    if (op == BOOL) return holo_emit_cast(t->e, x, HOLO_BOOL);
    if (op == NOT) return OP1("Not", holo_emit_cast(t->e, x, HOLO_BOOL));
    if (op == CEIL || op == FLOOR) return is_real ? holo_emit_cast(t->e, OP1(names[op], x), HOLO_I64) : x;
    if (op == ROUND && !is_real) return x;
    return OP1(names[op], x);
}

static bool all_numbers(const HoloTv *args, int count)
{
    for (int i = 0; i < count; i++)
        if (!holo_tv_is_number(&args[i])) return false;
    return true;
}

// math.sqrt(x) and its like; math.log(x, base); false: there is none of that name.
static bool real_function(HoloTorch *t, const char *name, const HoloTv *args, int count, HoloTv *out)
{
    bool has_base = count == 2 && !strcmp(name, "log");
    if (!all_numbers(args, count) || (count != 1 && !has_base)) return false;
    for (int i = 0; i < HOLO_COUNT(reals); i++) {
        if (strcmp(reals[i].name, name)) continue;
        if (is_known(&args[0]) && is_known(&args[count - 1])) {
            double y = reals[i].at(as_float(&args[0]));
            *out     = holo_tv_float(has_base ? y / log(as_float(&args[1])) : y);
            return true;
        }
        if (has_base || !reals[i].onnx) return false;
        *out = holo_tv_number(t, OP1(reals[i].onnx, scalar(t, &args[0], HOLO_F64)));
        return true;
    }
    return false;
}

bool holo_torch_numbers(HoloTorch *t, const char *name, const HoloTv *args, int count, HoloTv *out)
{
    bool of_tensor = count == 1 && args[0].kind == HOLO_TORCH_TENSOR; // int(x), float(x), bool(x)
    for (int i = 0; count == 1 && i < HOLO_COUNT(unaries); i++) {
        if (strcmp(unaries[i].name, name)) continue;
        bool converts =
            unaries[i].op == INT || unaries[i].op == FLOAT || unaries[i].op == BOOL || unaries[i].op == SAME;
        bool is_word = name[0] >= 'A' && name[0] <= 'Z'; // what scripts say for a conversion to a number
        if (!all_numbers(args, 1) && !(of_tensor && converts && is_word)) return false;
        if (is_known(&args[0]) && known_unary(unaries[i].op, &args[0], out)) return true;
        *out = holo_tv_number(t, emit_unary(t, unaries[i].op, &args[0]));
        return true;
    }
    if (real_function(t, name, args, count, out)) return true;
    if (count != 2 || !all_numbers(args, 2)) return false;
    for (int i = 0; i < HOLO_COUNT(binaries); i++) {
        if (strcmp(binaries[i].name, name)) continue;
        if (is_known(&args[0]) && is_known(&args[1]) && known_binary(binaries[i].op, &args[0], &args[1], out))
            return true;
        if (binaries[i].op > SHR) return false;
        *out = holo_tv_number(t, emit_binary(t, binaries[i].op, &args[0], &args[1]));
        return true;
    }
    return false;
}
