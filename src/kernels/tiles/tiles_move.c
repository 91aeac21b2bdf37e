// tiles_move.c - selects, gathers, scatters and fills elements. Only the elements' width matters.

#define SELECT(name, id, type, unused)                                                      \
    TILE(name##_##id)                                                                       \
    {                                                                                       \
        const uint8_t *p = a_;                                                              \
        const type    *b = b_, *c = c_, second = *b, third = *c;                            \
        type          *out = out_;                                                          \
        switch (ones) {                                                                     \
        case 2: SIMD for (int64_t i = 0; i < n; i++) out[i] = p[i] ? second : c[i]; break;  \
        case 4: SIMD for (int64_t i = 0; i < n; i++) out[i] = p[i] ? b[i] : third; break;   \
        case 6: SIMD for (int64_t i = 0; i < n; i++) out[i] = p[i] ? second : third; break; \
        default: SIMD for (int64_t i = 0; i < n; i++) out[i] = p[i] ? b[i] : c[i]; break;   \
        }                                                                                   \
    }
WIDTHS(SELECT, sel, )

// Mostly there is none, and nothing is written.
typedef int32_t count_float;
typedef int64_t count_double; // of the same size as a double, for vectors
#define PLAIN(name, id, type, nan)                                                           \
    static void name##_##id(int64_t n, void *x_)                                             \
    {                                                                                        \
        type        *x       = x_;                                                           \
        count_##type strange = 0;                                                            \
        for (int64_t i = 0; i < n; i++) strange |= x[i] != x[i];                             \
        for (int64_t i = 0; strange && i < n; i++) x[i] = x[i] == x[i] ? x[i] : (type)(nan); \
    }
PLAIN(plain, F32, float, __builtin_nanf(""))
PLAIN(plain, F64, double, __builtin_nan(""))

#define GATHER(bits, id, type, unused)                                                          \
    static void gather_##id##_##bits(int64_t n, const void *x_, const void *index_, void *out_) \
    {                                                                                           \
        const type           *x     = x_;                                                       \
        const uint##bits##_t *index = index_;                                                   \
        type                 *out   = out_;                                                     \
        for (int64_t i = 0; i < n; i++) out[i] = x[index[i]];                                   \
    }
WIDTHS(GATHER, 32, )
WIDTHS(GATHER, 64, )

#define SCATTER(bits, id, type, unused)                                                                       \
    static void scatter_##id##_##bits(int64_t n, void *x_, const void *index_, const void *values_, bool one, \
                                      const uint8_t *mask)                                                    \
    {                                                                                                         \
        type                 *x      = x_;                                                                    \
        const uint##bits##_t *index  = index_;                                                                \
        const type           *values = values_;                                                               \
        int64_t               step   = !one;                                                                  \
        for (int64_t i = 0; i < n; i++)                                                                       \
            if (!mask || mask[i]) x[index[i]] = values[i * step];                                             \
    }
WIDTHS(SCATTER, 32, )
WIDTHS(SCATTER, 64, )

// Checks whole blocks first, because an index out of range is rare.
#define OUTSIDE(name, id, type, unused)                                                    \
    static int64_t outside_##id(int64_t n, const void *index_, int64_t count)              \
    {                                                                                      \
        const type *index = index_;                                                        \
        for (int64_t i = 0; i < n; i += 256) {                                             \
            int64_t end  = n - i < 256 ? n : i + 256;                                      \
            type    most = 0, least = 0;                                                   \
            for (int64_t j = i; j < end; j++) most = index[j] > most ? index[j] : most;    \
            for (int64_t j = i; j < end; j++) least = index[j] < least ? index[j] : least; \
            if (!(least < 0) && (uint64_t)most < (uint64_t)count) continue;                \
            for (int64_t j = i; j < end; j++)                                              \
                if (index[j] < 0 || (uint64_t)index[j] >= (uint64_t)count) return j;       \
        }                                                                                  \
        return n;                                                                          \
    }
#define OUTSIDE_UNSIGNED(name, id, type, unused)                                        \
    static int64_t outside_##id(int64_t n, const void *index_, int64_t count)           \
    {                                                                                   \
        const type *index = index_;                                                     \
        for (int64_t i = 0; i < n; i += 256) {                                          \
            int64_t end  = n - i < 256 ? n : i + 256;                                   \
            type    most = 0;                                                           \
            for (int64_t j = i; j < end; j++) most = index[j] > most ? index[j] : most; \
            if ((uint64_t)most < (uint64_t)count) continue;                             \
            for (int64_t j = i; j < end; j++)                                           \
                if ((uint64_t)index[j] >= (uint64_t)count) return j;                    \
        }                                                                               \
        return n;                                                                       \
    }
OUTSIDE(outside, I32, int32_t, )
OUTSIDE(outside, I64, int64_t, )
OUTSIDE_UNSIGNED(outside, U32, uint32_t, )
OUTSIDE_UNSIGNED(outside, U64, uint64_t, )

#define MERGE(name, id, type, unused)                                                                 \
    static void merge_##id(int64_t n, const uint8_t *mask, const void *values_, bool one, void *out_) \
    {                                                                                                 \
        const type *values = values_, first = *values;                                                \
        type       *out = out_;                                                                       \
        if (one)                                                                                      \
            SIMD for (int64_t i = 0; i < n; i++) out[i] = mask[i] ? first : out[i];                   \
        else                                                                                          \
            SIMD for (int64_t i = 0; i < n; i++) out[i] = mask[i] ? values[i] : out[i];               \
    }
WIDTHS(MERGE, merge, )

#define FILL(name, id, type, unused)                               \
    static void fill_##id(int64_t n, uint64_t value, void *out_)   \
    {                                                              \
        type *out                                   = out_;        \
        SIMD for (int64_t i = 0; i < n; i++) out[i] = (type)value; \
    }
WIDTHS(FILL, fill, )

#define IOTA(name, id, type, unused)                                                          \
    static void iota_##id(int64_t n, uint64_t base, uint64_t step, void *out_)                \
    {                                                                                         \
        type *out = out_, first = (type)base, by = (type)step;                                \
        SIMD for (int64_t i = 0; i < n; i++) out[i] = (type)(1u * first + 1u * by * (type)i); \
    }
WIDTHS(IOTA, iota, )

#define ZERO(name, id, type, unused)                    \
    static int64_t zero_##id(int64_t n, const void *a_) \
    {                                                   \
        const type *a = a_;                             \
        for (int64_t i = 0; i < n; i++)                 \
            if (!a[i]) return i;                        \
        return n;                                       \
    }
WIDTHS(ZERO, zero, )

static int64_t count(int64_t n, const uint8_t *mask)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += mask[i];
    return sum;
}

static void boolean(int64_t n, const uint8_t *a, uint8_t *out)
{
    SIMD for (int64_t i = 0; i < n; i++) out[i] = a[i] != 0;
}
