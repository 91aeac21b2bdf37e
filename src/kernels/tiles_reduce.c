// tiles_reduce.c - one number of many, in an order that does not depend on the level: sixteen sums side by side.

#define REDUCE(name, id, type, expression)                                        \
    static void name##_##id(int64_t n, const void *a_, void *out)                 \
    {                                                                             \
        const type *a = a_;                                                       \
        type        sum[LANES];                                                   \
        int64_t     i = 0, sums = n < LANES ? n : LANES;                          \
        for (; i < sums; i++) sum[i] = a[i];                                      \
        for (; i + LANES <= n; i += LANES) UNROLL for (int l = 0; l < LANES; l++) \
            {                                                                     \
                type x = sum[l], y = a[i + l];                                    \
                sum[l] = (type)(expression);                                      \
            }                                                                     \
        for (int l = 0; i < n; i++, l++) {                                        \
            type x = sum[l], y = a[i];                                            \
            sum[l] = (type)(expression);                                          \
        }                                                                         \
        for (int half = LANES / 2; half; half /= 2)                               \
            for (int l = 0; l < half && l + half < sums; l++) {                   \
                type x = sum[l], y = sum[l + half];                               \
                sum[l] = (type)(expression);                                      \
            }                                                                     \
        *(type *)out = sum[0];                                                    \
    }

// clang-format off
WIDTHS(REDUCE, reduce_add, x + y)      FLOATS(REDUCE, reduce_add, x + y)
WIDTHS(REDUCE, reduce_mul, 1u * x * y) FLOATS(REDUCE, reduce_mul, x * y)
WIDTHS(REDUCE, reduce_min, x < y ? x : y)  SIGNED_INTEGERS(REDUCE, reduce_min, x < y ? x : y)
WIDTHS(REDUCE, reduce_max, x > y ? x : y)  SIGNED_INTEGERS(REDUCE, reduce_max, x > y ? x : y)
FLOATS(REDUCE, reduce_min, x != x ? x : x < y ? x : y)
FLOATS(REDUCE, reduce_max, x != x ? x : x > y ? x : y)
WIDTHS(REDUCE, reduce_and, x & y)
WIDTHS(REDUCE, reduce_or, x | y)
WIDTHS(REDUCE, reduce_xor, x ^ y)
    // clang-format on
