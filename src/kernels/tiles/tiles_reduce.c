// tiles_reduce.c - reduces many numbers to one, in an order that does not depend on the level: by sixteen partial
// results.

#define REDUCE(name, id, type, expression)                        \
    static void name##_##id(int64_t n, const void *a_, void *out) \
    {                                                             \
        const type *a          = a_;                              \
        type        sum[LANES] = {0};                             \
        int64_t     i = 0, sums = n < LANES ? n : LANES;          \
        if (n < LANES)                                            \
            for (; i < n; i++) sum[i] = a[i];                     \
        else                                                      \
            for (; i < LANES; i++) sum[i] = a[i];                 \
        for (; i + LANES <= n; i += LANES)                        \
            for (int l = 0; l < LANES; l++) {                     \
                type x = sum[l], y = a[i + l];                    \
                sum[l] = (type)(expression);                      \
            }                                                     \
        for (int l = 0; i < n; i++, l++) {                        \
            type x = sum[l], y = a[i];                            \
            sum[l] = (type)(expression);                          \
        }                                                         \
        for (int half = LANES / 2; half; half /= 2)               \
            for (int l = 0; l < half && l + half < sums; l++) {   \
                type x = sum[l], y = sum[l + half];               \
                sum[l] = (type)(expression);                      \
            }                                                     \
        *(type *)out = sum[0];                                    \
    }

// Integers give the same result in any order.
#define REDUCE_ANY(name, id, type, expression)                    \
    static void name##_##id(int64_t n, const void *a_, void *out) \
    {                                                             \
        const type *a = a_;                                       \
        type        x = a[0];                                     \
        for (int64_t i = 1; i < n; i++) {                         \
            type y = a[i];                                        \
            x      = (type)(expression);                          \
        }                                                         \
        *(type *)out = x;                                         \
    }

// clang-format off
WIDTHS(REDUCE_ANY, reduce_add, x + y)      FLOATS(REDUCE, reduce_add, x + y)
WIDTHS(REDUCE_ANY, reduce_mul, 1u * x * y) FLOATS(REDUCE, reduce_mul, x * y)
WIDTHS(REDUCE_ANY, reduce_min, x < y ? x : y)  SIGNED_INTEGERS(REDUCE_ANY, reduce_min, x < y ? x : y)
WIDTHS(REDUCE_ANY, reduce_max, x > y ? x : y)  SIGNED_INTEGERS(REDUCE_ANY, reduce_max, x > y ? x : y)
FLOATS(REDUCE, reduce_min, x != x ? x : x < y ? x : y)
FLOATS(REDUCE, reduce_max, x != x ? x : x > y ? x : y)
WIDTHS(REDUCE_ANY, reduce_and, x & y)
WIDTHS(REDUCE_ANY, reduce_or, x | y)
WIDTHS(REDUCE_ANY, reduce_xor, x ^ y)
    // clang-format on

    // ---- where the extreme number is

    // The same one by one. With `nan`: the position of a NaN, which is known to exist.
    static int64_t extreme_plain(int64_t n, const float *x, float sign, bool last, bool nan)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = last ? n - 1 - i : i;
        if (nan && x[k] != x[k]) return k;
        if (i == 0 || sign * x[k] > sign * x[found]) found = k;
    }
    return found;
}

// The position of the largest of 16 numbers; of equal numbers the smallest position, or the largest.
INL int64_t extreme_lane(const float *x, const int32_t *at, bool last)
{
    float   top[LANES];
    int64_t found = last ? -1 : INT64_MAX;
    for (int l = 0; l < LANES; l++) top[l] = x[l];
    UNROLL for (int half = LANES / 2; half; half /= 2) UNROLL for (int l = 0; l < half; l++) top[l] =
        top[l] > top[l + half] ? top[l] : top[l + half];
    UNROLL for (int l = 0; l < LANES; l++)
    {
        int64_t here = x[l] == top[0] ? at[l] + l : found;
        found        = (here > found) == last ? here : found;
    }
    return found;
}

// In each lane: the best number so far, and where its vector began. The last vector may overlap the one before.
INL int64_t extreme_of(int64_t n, const float *x, float sign, bool last)
{
    f32v    best          = v_mul(v_load(x), v_set1(sign));
    i32n    at[REGISTERS] = {0}, strange = {0};
    float   top[LANES];
    int32_t from[LANES];
    EACH(r) strange |= (i32n)(best.r[r] != best.r[r]);
    for (int64_t k = LANES; k < n; k += LANES) {
        int64_t i = k + LANES <= n ? k : n - LANES;
        f32v    v = v_mul(v_load(x + i), v_set1(sign));
        EACH(r)
        {
            i32n is   = last ? (i32n)(v.r[r] >= best.r[r]) : (i32n)(v.r[r] > best.r[r]);
            best.r[r] = n_select(is, v.r[r], best.r[r]);
            at[r]     = (is & (int32_t)i) | (~is & at[r]);
            strange |= (i32n)(v.r[r] != v.r[r]);
        }
    }
    if (n_any(strange)) return extreme_plain(n, x, sign, last, true);
    v_store(top, best);
    __builtin_memcpy(from, at, sizeof from);
    return extreme_lane(top, from, last);
}

static int64_t extreme(int64_t n, const float *x, bool smallest, bool last)
{
    float sign = smallest ? -1.0f : 1.0f;
    if (n < LANES) {
        for (int64_t i = 0; i < n; i++)
            if (x[i] != x[i]) return extreme_plain(n, x, sign, last, true);
        return extreme_plain(n, x, sign, last, false);
    }
    return last ? extreme_of(n, x, sign, true) : extreme_of(n, x, sign, false);
}
