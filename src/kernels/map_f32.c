// map_f32.c - one function applied to runs of elements, 16 at a time.

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

// In class exact it is as it is written in portable programs, in class fused as in ONNX Runtime: there the tanh of what is below
// -5 may be less than -1 by one bit.
INL f32n n_gelu_tanh(f32n a)
{
    if (HOLO_EXACT) return (n_tanh((a * a * 0.044715f + 1.0f) * a * 0.797884561f) + 1.0f) * (a * 0.5f);
    return (n_tanh_ratio(a * (a * 0.0356774069f * a + 0.797884583f)) + 1.0f) * (a * 0.5f);
}

MAP_2(add, a + b)
MAP_2(sub, a - b)
MAP_2(mul, a *b)
MAP_2(div, a / b)
MAP_2(max, n_select(a == a, n_max(a, b), a))
MAP_2(min, n_select(a == a, n_min(a, b), a))
MAP_2(at_least, n_max(b, a))
MAP_2(at_most, n_min(b, a))
MAP_2(leaky, n_select(a < 0, a *b, a))
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
MAP_1(root, n_root(a))
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
MAP_1(gelu, (n_erf(a * 0.707106781f) + 1.0f) * (a * 0.5f))
MAP_1(gelu_tanh, n_gelu_tanh(a))
MAP_1(hard_swish, a *n_min((f32n){0} + 1.0f, n_max((f32n){0}, a *(1.0f / 6) + 0.5f)))
MAP_1(sigmoid_ratio, n_sigmoid_ratio(a))
MAP_1(tanh_ratio, n_tanh_ratio(a))
MAP_2(above, n_select(a > b, a, (f32n){0}))

INL f32v map_load(const float *p, bool is_one, int64_t i, int lanes)
{
    return is_one ? v_set1(*p) : v_load_strided(p + i, 1, 0, lanes);
}

// Each function with each way to read its operands, as loops of their own.
#define LOOP(name, a_is_one, b_is_one)                                                           \
    do {                                                                                         \
        int64_t i = 0;                                                                           \
        for (; i + LANES <= m->n; i += LANES) {                                                  \
            f32v a = map_load(m->a, a_is_one, i, LANES), b = map_load(m->b, b_is_one, i, LANES); \
            EACH(r) a.r[r] = n_map_##name(a.r[r], b.r[r]);                                       \
            v_store(m->out + i, a);                                                              \
        }                                                                                        \
        if (i == m->n) return;                                                                   \
        int  lanes = (int)(m->n - i);                                                            \
        f32v a = map_load(m->a, a_is_one, i, lanes), b = map_load(m->b, b_is_one, i, lanes);     \
        EACH(r) a.r[r] = n_map_##name(a.r[r], b.r[r]);                                           \
        v_store_part(m->out + i, a, lanes);                                                      \
        return;                                                                                  \
    } while (0)

#define HOLO_MAP_OP(id, name, operands)                      \
    static void map_##name(const HoloMap *m)                 \
    {                                                        \
        bool b_is_one = operands < 2 || m->b_is_one;         \
        if (m->a_is_one && b_is_one) LOOP(name, true, true); \
        if (m->a_is_one) LOOP(name, true, false);            \
        if (b_is_one) LOOP(name, false, true);               \
        LOOP(name, false, false);                            \
    }
#include "format/map_ops.def"
#undef HOLO_MAP_OP
#undef LOOP

static void map_f32(const HoloMap *map)
{
    static void (*const functions[])(const HoloMap *) = {
#define HOLO_MAP_OP(id, name, operands) [id] = map_##name,
#include "format/map_ops.def"
#undef HOLO_MAP_OP
    };
    functions[map->op](map);
}
