// aten_complex.c - complex numbers: how they are made, and the operators that differ for them. Arithmetic is written by
// operators on the two parts.
#include "import/torch/aten.h"

#include <math.h>
#include <string.h>

typedef struct Cx { // a complex number; an imaginary part that is the number 0 is none
    HoloTv re, im;
} Cx;

static Cx cx(HoloTorch *t, const HoloTv *v)
{
    return (Cx){holo_tv_part(t, v, 0), holo_tv_part(t, v, 1)};
}

static HoloTv whole(HoloTorch *t, Cx z)
{
    return holo_tv_complex(t, z.re, z.im);
}

static bool is_zero(HoloTv v)
{
    return v.kind == HOLO_TORCH_INT && !v.i;
}

static HoloTv f1(HoloTorch *t, const char *name, HoloTv x)
{
    return holo_torch_apply(t, name, 1, &x);
}

static HoloTv f2(HoloTorch *t, const char *name, HoloTv x, HoloTv y)
{
    HoloTv args[2] = {x, y};
    return holo_torch_apply(t, name, 2, args);
}

// Numbers of Python alone are computed at once.
static HoloTv math2(HoloTorch *t, const char *name, HoloTv x, HoloTv y)
{
    HoloTv out, args[2] = {x, y};
    if (holo_tv_is_number(&x) && holo_tv_is_number(&y) && holo_torch_numbers(t, name, args, 2, &out)) return out;
    return f2(t, name, x, y);
}

static HoloTv mul(HoloTorch *t, HoloTv x, HoloTv y)
{
    return is_zero(x) || is_zero(y) ? holo_tv_int(0) : math2(t, "mul", x, y);
}

static HoloTv add(HoloTorch *t, HoloTv x, HoloTv y)
{
    return is_zero(x) ? y : is_zero(y) ? x : math2(t, "add", x, y);
}

static HoloTv neg(HoloTorch *t, HoloTv x)
{
    return mul(t, x, holo_tv_int(-1));
}

static HoloTv sub(HoloTorch *t, HoloTv x, HoloTv y)
{
    return is_zero(y) ? x : is_zero(x) ? neg(t, y) : math2(t, "sub", x, y);
}

static HoloTv divide(HoloTorch *t, HoloTv x, HoloTv y)
{
    return is_zero(x) ? x : f2(t, "div", holo_tv_is_number(&x) ? holo_tv_tensor(t, holo_torch_real(t, &x)) : x, y);
}

static Cx cx_mul(HoloTorch *t, Cx a, Cx b)
{
    return (Cx){sub(t, mul(t, a.re, b.re), mul(t, a.im, b.im)), add(t, mul(t, a.re, b.im), mul(t, a.im, b.re))};
}

static Cx cx_div(HoloTorch *t, Cx a, Cx b)
{
    if (is_zero(b.im)) return (Cx){divide(t, a.re, b.re), divide(t, a.im, b.re)};
    HoloTv size = add(t, mul(t, b.re, b.re), mul(t, b.im, b.im));
    Cx     top  = cx_mul(t, a, (Cx){b.re, neg(t, b.im)});
    return (Cx){divide(t, top.re, size), divide(t, top.im, size)};
}

static HoloTv cx_abs(HoloTorch *t, Cx z)
{
    return is_zero(z.im) ? f1(t, "abs", z.re) : f2(t, "hypot", z.re, z.im);
}

static HoloTv cx_angle(HoloTorch *t, Cx z)
{
    return f2(t, "atan2", is_zero(z.im) ? f1(t, "zeros_like", z.re) : z.im, z.re);
}

static Cx cx_exp(HoloTorch *t, Cx z)
{
    HoloTv size = f1(t, "exp", z.re);
    return (Cx){mul(t, size, f1(t, "cos", z.im)), mul(t, size, f1(t, "sin", z.im))};
}

static Cx cx_log(HoloTorch *t, Cx z)
{
    return (Cx){f1(t, "log", cx_abs(t, z)), cx_angle(t, z)};
}

static Cx cx_sqrt(HoloTorch *t, Cx z)
{
    HoloTv size = cx_abs(t, z), half = holo_tv_float(0.5), none = holo_tv_int(0);
    HoloTv re = f1(t, "sqrt", f2(t, "clamp_min", mul(t, add(t, size, z.re), half), none));
    HoloTv im = f1(t, "sqrt", f2(t, "clamp_min", mul(t, sub(t, size, z.re), half), none));
    return (Cx){re, f2(t, "copysign", im, z.im)};
}

static HoloTv real_one(HoloTorch *t)
{
    return holo_tv_tensor(t, holo_emit_number(t->e, HOLO_F32, 1));
}

static HoloTv f_of(HoloTorch *t, const HoloTv *v)
{
    return holo_tv_is_number(v) ? holo_tv_tensor(t, holo_torch_real(t, v)) : *v;
}

// ---- arithmetic

static void sum_of(HoloTorch *t, const HoloTv *a, bool is_minus, HoloTv *out)
{
    Cx x = cx(t, &a[0]), y = cx(t, &a[1]);
    if (!holo_tv_is_none(&a[2])) y = cx_mul(t, y, cx(t, &a[2]));
    *out = whole(t, is_minus ? (Cx){sub(t, x.re, y.re), sub(t, x.im, y.im)}
                             : (Cx){add(t, x.re, y.re), add(t, x.im, y.im)});
}

ANY(c_add)
{
    sum_of(t, a, false, out);
}

ANY(c_sub)
{
    sum_of(t, a, true, out);
}

ANY(c_rsub)
{
    HoloTv turned[3] = {a[1], a[0], a[2]};
    sum_of(t, turned, true, out);
}

ANY(c_mul)
{
    *out = whole(t, cx_mul(t, cx(t, &a[0]), cx(t, &a[1])));
}

ANY(c_div)
{
    *out = whole(t, cx_div(t, cx(t, &a[0]), cx(t, &a[1])));
}

ANY(c_reciprocal)
{
    *out = whole(t, cx_div(t, (Cx){real_one(t), holo_tv_int(0)}, cx(t, &a[0])));
}

ANY(c_square)
{
    Cx z = cx(t, &a[0]);
    *out = whole(t, cx_mul(t, z, z));
}

ANY(c_pow)
{
    Cx base = cx(t, &a[0]), up = cx(t, &a[1]), y = base;
    if (a[1].kind == HOLO_TORCH_INT && a[1].i >= 1 && a[1].i <= 16) {
        for (int64_t i = 1; i < a[1].i; i++) y = cx_mul(t, y, base);
    } else {
        base.re = f_of(t, &base.re);
        y       = cx_mul(t, up, cx_log(t, base));
        y       = cx_exp(t, (Cx){f_of(t, &y.re), f_of(t, &y.im)});
    }
    *out = whole(t, y);
}

ANY(c_sqrt)
{
    *out = whole(t, cx_sqrt(t, cx(t, &a[0])));
}

ANY(c_rsqrt)
{
    *out = whole(t, cx_div(t, (Cx){real_one(t), holo_tv_int(0)}, cx_sqrt(t, cx(t, &a[0]))));
}

ANY(c_exp)
{
    *out = whole(t, cx_exp(t, cx(t, &a[0])));
}

ANY(c_log)
{
    *out = whole(t, cx_log(t, cx(t, &a[0])));
}

static void log_by(HoloTorch *t, const HoloTv *a, double base, HoloTv *out)
{
    Cx     z     = cx_log(t, cx(t, &a[0]));
    HoloTv scale = holo_tv_float(1 / log(base));
    *out         = whole(t, (Cx){mul(t, z.re, scale), mul(t, z.im, scale)});
}

ANY(c_log2)
{
    log_by(t, a, 2, out);
}

ANY(c_log10)
{
    log_by(t, a, 10, out);
}

// f(re) g(im) + i h(re) k(im)
static Cx waves(HoloTorch *t, Cx z, const char *f, const char *g, const char *h, const char *k)
{
    return (Cx){mul(t, f1(t, f, z.re), f1(t, g, z.im)), mul(t, f1(t, h, z.re), f1(t, k, z.im))};
}

static Cx cx_sin(HoloTorch *t, Cx z)
{
    return waves(t, z, "sin", "cosh", "cos", "sinh");
}

static Cx cx_cos(HoloTorch *t, Cx z)
{
    Cx y = waves(t, z, "cos", "cosh", "sin", "sinh");
    return (Cx){y.re, neg(t, y.im)};
}

static Cx cx_sinh(HoloTorch *t, Cx z)
{
    return waves(t, z, "sinh", "cos", "cosh", "sin");
}

static Cx cx_cosh(HoloTorch *t, Cx z)
{
    return waves(t, z, "cosh", "cos", "sinh", "sin");
}

#define WAVE(f, value)          \
    ANY(f)                      \
    {                           \
        Cx z = cx(t, &a[0]);    \
        *out = whole(t, value); \
    }
WAVE(c_sin, cx_sin(t, z))
WAVE(c_cos, cx_cos(t, z))
WAVE(c_tan, cx_div(t, cx_sin(t, z), cx_cos(t, z)))
WAVE(c_sinh, cx_sinh(t, z))
WAVE(c_cosh, cx_cosh(t, z))
WAVE(c_tanh, cx_div(t, cx_sinh(t, z), cx_cosh(t, z)))

ANY(c_sigmoid)
{
    Cx z = cx(t, &a[0]), one = {real_one(t), holo_tv_int(0)};
    Cx e = cx_exp(t, (Cx){neg(t, z.re), neg(t, z.im)});
    *out = whole(t, cx_div(t, one, (Cx){add(t, e.re, one.re), e.im}));
}

ANY(c_conj)
{
    Cx z = cx(t, &a[0]);
    *out = holo_tv_is_complex(&a[0]) ? whole(t, (Cx){z.re, neg(t, z.im)}) : a[0];
}

// Turned, and the imaginary parts with the other sign.
ANY(c_adjoint)
{
    Cx z = cx(t, &a[0]);
    *out = holo_tv_complex(t, f1(t, "mT", z.re), neg(t, f1(t, "mT", z.im)));
}

ANY(c_abs)
{
    *out = cx_abs(t, cx(t, &a[0]));
}

// Of direction z and of size 1; 0 stays 0.
ANY(c_sgn)
{
    Cx     z    = cx(t, &a[0]);
    HoloTv size = cx_abs(t, z), zero = f2(t, "eq", size, holo_tv_int(0)), args[3] = {size, zero, holo_tv_int(1)};
    size = holo_torch_apply(t, "masked_fill", 3, args);
    *out = whole(t, (Cx){divide(t, z.re, size), divide(t, z.im, size)});
}

// ---- comparing

static void both_of(HoloTorch *t, const HoloTv *a, const char *each, const char *join, HoloTv *out)
{
    Cx x = cx(t, &a[0]), y = cx(t, &a[1]);
    *out = f2(t, join, f2(t, each, f_of(t, &x.re), y.re), f2(t, each, f_of(t, &x.im), y.im));
}

ANY(c_eq)
{
    both_of(t, a, "eq", "logical_and", out);
}

ANY(c_ne)
{
    both_of(t, a, "ne", "logical_or", out);
}

static void each_of(HoloTorch *t, const HoloTv *a, const char *each, const char *join, HoloTv *out)
{
    Cx z = cx(t, &a[0]);
    *out = f2(t, join, f1(t, each, z.re), f1(t, each, z.im));
}

ANY(c_isnan)
{
    each_of(t, a, "isnan", "logical_or", out);
}

ANY(c_isinf)
{
    each_of(t, a, "isinf", "logical_or", out);
}

ANY(c_isfinite)
{
    each_of(t, a, "isfinite", "logical_and", out);
}

ANY(c_isreal)
{
    Cx z = cx(t, &a[0]);
    *out = f2(t, "eq", is_zero(z.im) ? f1(t, "zeros_like", z.re) : z.im, holo_tv_int(0));
}

ANY(c_true)
{
    (void)t, (void)a;
    *out = holo_tv_bool(true);
}

// ---- products: f(a, b) is linear in each

static HoloTv product_part(HoloTorch *t, const char *name, const HoloTv *a, int i, int j, HoloTv x, HoloTv y)
{
    HoloTv args[HOLO_TORCH_PARAMS];
    if (is_zero(x) || is_zero(y)) return holo_tv_int(0);
    for (int k = 0; k < HOLO_TORCH_PARAMS; k++) args[k] = a[k];
    args[i] = x, args[j] = y;
    const HoloTorchOp *op  = holo_torch_find(t, name);
    HoloTv            *own = HOLO_NEW(t->arena, HoloTv, HOLO_TORCH_PARAMS), out = {0};
    if (!own || !op) return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory"), out;
    memcpy(own, args, sizeof args);
    holo_torch_row(t, op, own, &out);
    return out;
}

static Cx product(HoloTorch *t, const char *name, const HoloTv *a, int i, int j)
{
    Cx x = cx(t, &a[i]), y = cx(t, &a[j]);
    return (Cx){sub(t, product_part(t, name, a, i, j, x.re, y.re), product_part(t, name, a, i, j, x.im, y.im)),
                add(t, product_part(t, name, a, i, j, x.re, y.im), product_part(t, name, a, i, j, x.im, y.re))};
}

#define PRODUCT(f, name)                            \
    ANY(f)                                          \
    {                                               \
        *out = whole(t, product(t, name, a, 0, 1)); \
    }
PRODUCT(c_matmul, "matmul")
PRODUCT(c_outer, "outer")
PRODUCT(c_inner, "inner")
PRODUCT(c_tensordot, "tensordot")
PRODUCT(c_kron, "kron")

ANY(c_vdot)
{
    HoloTv turned[HOLO_TORCH_PARAMS] = {{0}, a[1]};
    c_conj(t, a, &turned[0]);
    *out = whole(t, product(t, "matmul", turned, 0, 1));
}

// self + first @ second
ANY(c_addmm)
{
    Cx x = cx(t, &a[0]), y = product(t, "matmul", a + 1, 0, 1);
    y = cx_mul(t, y, cx(t, holo_tv_is_none(&a[4]) ? &(HoloTv){.kind = HOLO_TORCH_INT, .i = 1} : &a[4]));
    if (!holo_tv_is_none(&a[3])) x = cx_mul(t, x, cx(t, &a[3]));
    *out = whole(t, (Cx){add(t, x.re, y.re), add(t, x.im, y.im)});
}

ANY(c_linear)
{
    HoloTv plain[HOLO_TORCH_PARAMS] = {a[0], a[1]};
    Cx     y = product(t, "linear", plain, 0, 1), b = cx(t, &a[2]);
    if (!holo_tv_is_none(&a[2])) y = (Cx){add(t, y.re, b.re), add(t, y.im, b.im)};
    *out = whole(t, y);
}

ANY(c_einsum)
{
    HoloTv part[2][2];
    if (!holo_tv_is_list(&a[1]) || a[1].list->count < 1 || a[1].list->count > 2) {
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "einsum of more than two tensors with complex numbers");
        return;
    }
    int count = a[1].list->count;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            HoloTv items[2] = {holo_tv_part(t, &a[1].list->item[0], i),
                               count == 2 ? holo_tv_part(t, &a[1].list->item[1], j) : holo_tv_int(0)};
            bool   is_none  = is_zero(items[0]) || (count == 2 && is_zero(items[1])) || (count == 1 && j);
            part[i][j]      = holo_tv_int(0);
            if (!is_none) part[i][j] = f2(t, "einsum", a[0], holo_tv_list(t, HOLO_TORCH_LIST, count, items));
        }
    *out = whole(t, count == 1 ? (Cx){part[0][0], part[1][0]}
                               : (Cx){sub(t, part[0][0], part[1][1]), add(t, part[0][1], part[1][0])});
}

ANY(c_prod)
{
    (void)a, (void)out;
    holo_emit_fail(t->e, HOLO_UNSUPPORTED, "products of all elements of complex numbers are not supported");
}

static void norm_by(HoloTorch *t, const char *name, const HoloTv *a, HoloTv *out)
{
    HoloTv *args = HOLO_NEW(t->arena, HoloTv, HOLO_TORCH_PARAMS);
    if (!args) return (void)holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    memcpy(args, a, sizeof(HoloTv) * HOLO_TORCH_PARAMS);
    args[0] = cx_abs(t, cx(t, &a[0]));
    if (!t->e->status) holo_torch_row(t, holo_torch_find(t, name), args, out);
}

ANY(c_norm)
{
    norm_by(t, "norm", a, out);
}

ANY(c_vector_norm)
{
    norm_by(t, "linalg_vector_norm", a, out);
}

ANY(c_ones_like)
{
    Cx z = cx(t, &a[0]);
    *out = holo_tv_complex(t, f1(t, "ones_like", z.re), holo_tv_int(0));
}

static const HoloTorchOp rows[] = {
    MANY("add", "", c_add),
    MANY("sub", "", c_sub),
    MANY("subtract", "", c_sub),
    MANY("rsub", "", c_rsub),
    MANY("mul", "", c_mul),
    MANY("multiply", "", c_mul),
    MANY("div", "", c_div),
    MANY("divide", "", c_div),
    MANY("true_divide", "", c_div),
    MANY("reciprocal", "", c_reciprocal),
    MANY("square", "", c_square),
    MANY("pow", "", c_pow),
    MANY("sqrt", "", c_sqrt),
    MANY("rsqrt", "", c_rsqrt),
    MANY("exp", "", c_exp),
    MANY("log", "", c_log),
    MANY("log2", "", c_log2),
    MANY("log10", "", c_log10),
    MANY("sin", "", c_sin),
    MANY("cos", "", c_cos),
    MANY("tan", "", c_tan),
    MANY("sinh", "", c_sinh),
    MANY("cosh", "", c_cosh),
    MANY("tanh", "", c_tanh),
    MANY("sigmoid", "", c_sigmoid),
    MANY("abs", "", c_abs),
    MANY("absolute", "", c_abs),
    MANY("sgn", "", c_sgn),
    MANY("mH", "", c_adjoint),
    MANY("adjoint", "", c_adjoint),
    MANY("matrix_H", "", c_adjoint),
    MANY("eq", "", c_eq),
    MANY("ne", "", c_ne),
    MANY("not_equal", "", c_ne),
    MANY("isnan", "", c_isnan),
    MANY("isinf", "", c_isinf),
    MANY("isfinite", "", c_isfinite),
    MANY("is_complex", "", c_true),
    MANY("matmul", "", c_matmul),
    MANY("mm", "", c_matmul),
    MANY("bmm", "", c_matmul),
    MANY("mv", "", c_matmul),
    MANY("dot", "", c_matmul),
    MANY("vdot", "", c_vdot),
    MANY("outer", "", c_outer),
    MANY("ger", "", c_outer),
    MANY("inner", "", c_inner),
    MANY("tensordot", "", c_tensordot),
    MANY("kron", "", c_kron),
    MANY("addmm", "", c_addmm),
    MANY("baddbmm", "", c_addmm),
    MANY("addmv", "", c_addmm),
    MANY("linear", "", c_linear),
    MANY("einsum", "", c_einsum),
    MANY("prod", "", c_prod),
    MANY("norm", "", c_norm),
    MANY("linalg_vector_norm", "", c_vector_norm),
    MANY("ones_like", "", c_ones_like),
    {0},
};

const HoloTorchOp *holo_torch_complex_find(const char *name)
{
    for (const HoloTorchOp *row = rows; row->name; row++)
        if (!strcmp(row->name, name)) return row;
    return NULL;
}

// ---- how complex numbers are made, and taken apart

ANY(complex_of)
{
    *out = holo_tv_complex(t, a[0], a[1]);
}

ANY(polar)
{
    *out = holo_tv_complex(t, f2(t, "mul", a[0], f1(t, "cos", a[1])), f2(t, "mul", a[0], f1(t, "sin", a[1])));
}

ANY(view_as_complex)
{
    *out = holo_tv_of_pairs(t, a[0]);
}

ANY(view_as_real)
{
    *out = a[0].kind == HOLO_TORCH_COMPLEX ? holo_tv_pairs(t, &a[0]) : a[0];
}

ANY(real)
{
    *out = holo_tv_part(t, &a[0], 0);
}

ANY(imag)
{
    if (a[0].kind != HOLO_TORCH_COMPLEX)
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "imag of a tensor that is not complex");
    else
        *out = a[0].list->item[1];
}

ANY(angle)
{
    Cx z = cx(t, &a[0]);
    z.re = holo_tv_tensor(t, holo_torch_real(t, &z.re));
    *out = cx_angle(t, z);
}

#define COMPLEX_MANY(n, p, f)                                           \
    {                                                                   \
        .name = n, .params = p, .any = f, .flags = HOLO_TORCH_COMPLEXES \
    }
const HoloTorchOp holo_torch_complexes[] = {
    COMPLEX_MANY("complex", "real imag", complex_of),
    COMPLEX_MANY("polar", "abs angle", polar),
    COMPLEX_MANY("view_as_complex", "self", view_as_complex),
    COMPLEX_MANY("view_as_complex_copy", "self", view_as_complex),
    COMPLEX_MANY("view_as_real", "self", view_as_real),
    COMPLEX_MANY("view_as_real_copy", "self", view_as_real),
    COMPLEX_MANY("real", "self", real),
    COMPLEX_MANY("imag", "self", imag),
    COMPLEX_MANY("angle", "self", angle),
    COMPLEX_MANY("conj", "self", c_conj),
    COMPLEX_MANY("_conj", "self", c_conj),
    COMPLEX_MANY("_conj_physical", "self", c_conj),
    COMPLEX_MANY("conj_physical", "self", c_conj),
    COMPLEX_MANY("isreal", "self", c_isreal),
    {0},
};
