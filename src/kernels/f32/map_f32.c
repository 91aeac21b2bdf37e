// map_f32.c - applies one function to runs of elements, 16 at a time. The primitives are written here;
// format/map_ops.def holds the formulas made of them.

#define MAP_1(name, expression)           \
    INL f32n n_map_##name(f32n a, f32n b) \
    {                                     \
        (void)b;                          \
        return expression;                \
    }
#define MAP_2(name, expression)           \
    INL f32n n_map_##name(f32n a, f32n b) \
    {                                     \
        return expression;                \
    }

MAP_2(add, a + b)
MAP_2(sub, a - b)
MAP_2(mul, a *b)
MAP_2(div, a / b)
MAP_2(max, n_select(a == a, n_max(a, b), a))
MAP_2(min, n_select(a == a, n_min(a, b), a))
MAP_2(at_least, n_max(b, a))
MAP_2(at_most, n_min(b, a))
MAP_1(neg, -a)
MAP_1(abs, n_abs(a))
MAP_1(sqrt, n_sqrt(a))
MAP_1(exp, n_exp(a))
MAP_1(sigmoid, n_sigmoid(a))
MAP_1(tanh, n_tanh(a))
MAP_1(erf, n_erf(a))
MAP_1(log, n_log(a))
MAP_1(softplus, n_softplus(a))
MAP_2(pow, n_pow(a, b))
MAP_1(sin, n_sin(a))
MAP_1(cos, n_cos(a))
MAP_1(tan, n_tan(a))
MAP_1(asin, n_asin(a))
MAP_1(acos, n_acos(a))
MAP_1(atan, n_atan(a))
MAP_1(floor, n_floor(a))
MAP_1(ceil, n_ceil(a))
MAP_1(round, n_round(a))
MAP_1(sign, n_sign(a))

#define LT                      <
#define GT                      >
#define EQ                      ==
#define INF                     __builtin_inff()
#define N(number)               ((f32n){0} + (float)(number))
#define LET1(r, name, x)        f32n r = n_map_##name(x, x);
#define LET2(r, name, x, y)     f32n r = n_map_##name(x, y);
#define PICK(r, is, x, y, u, v) f32n r = n_select((x)is(y), u, v);
#define GIVE(r)                 return r;
#define HOLO_MAP_OP(...)
#define HOLO_MAP_SPECIAL(...)
#define HOLO_MAP_FORMULA(id, name, operands, ...) \
    INL f32n n_map_##name(f32n a, f32n b)         \
    {                                             \
        (void)b;                                  \
        __VA_ARGS__                               \
    }
#include "format/map_ops.def"
#undef LT
#undef GT
#undef EQ
#undef INF
#undef N
#undef LET1
#undef LET2
#undef PICK
#undef GIVE
#undef HOLO_MAP_OP

// One function for whole vectors each. Operands advance by a step; for an operand that is one number, it is 0 and the
// operand is a vector of that number.
#define HOLO_MAP_OP(id, name, operands)                                                                           \
    static void map_##name(int64_t n, const float *a, int64_t a_step, const float *b, int64_t b_step, float *out) \
    {                                                                                                             \
        for (int64_t i = 0; i < n; i += LANES, a += a_step, b += b_step) {                                        \
            f32v x = v_load(a), y = operands < 2 ? x : v_load(b);                                                 \
            EACH(r) x.r[r] = n_map_##name(x.r[r], y.r[r]);                                                        \
            v_store(out + i, x);                                                                                  \
        }                                                                                                         \
    }
#include "format/map_ops.def"
#undef HOLO_MAP_OP

static void map_f32(const HoloMap *m)
{
    static void (*const functions[])(int64_t, const float *, int64_t, const float *, int64_t, float *) = {
#define HOLO_MAP_OP(id, name, operands) [id] = map_##name,
#include "format/map_ops.def"
#undef HOLO_MAP_OP
    };
    int64_t      whole = m->n / LANES * LANES, a_step = m->a_is_one ? 0 : LANES, b_step = m->b_is_one ? 0 : LANES;
    int          left = (int)(m->n - whole);
    float        one[2][LANES], out[LANES];
    const float *a = m->a, *b = m->b;
    if (m->a_is_one) v_store(one[0], v_set1(*a)), a = one[0];
    if (m->b_is_one) v_store(one[1], v_set1(*b)), b = one[1];
    if (whole) functions[m->op](whole, a, a_step, b, b_step, m->out);
    if (!left) return;
    if (!m->a_is_one) v_store(one[0], v_load_part(a + whole, 0, left));
    if (!m->b_is_one) v_store(one[1], v_load_part(b + whole, 0, left));
    functions[m->op](LANES, one[0], 0, one[1], 0, out);
    v_store_part(m->out + whole, v_load(out), left);
}
