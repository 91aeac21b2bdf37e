// tiles_transpose.c - transposes matrices of elements of any width, by squares with as many elements on a side as 16
// bytes hold.

typedef uint8_t  square_U8 __attribute__((vector_size(16)));
typedef uint16_t square_U16 __attribute__((vector_size(16)));
typedef uint32_t square_U32 __attribute__((vector_size(16)));
typedef uint64_t square_U64 __attribute__((vector_size(16)));

// clang-format off
#define LOW_U8(a, b)   __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_U8(a, b)  __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_U16(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_U16(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_U32(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_U32(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_U64(a, b)  __builtin_shufflevector(a, b, 0, 2)
#define HIGH_U64(a, b) __builtin_shufflevector(a, b, 1, 3)
enum { HALVES_U8 = 4, HALVES_U16 = 3, HALVES_U32 = 2, HALVES_U64 = 1 };
// clang-format on

// Lines that are half the square apart are interleaved, as often as the square can be halved. Along the rows, a
// strip of columns is as wide as a cache line.
#define TRANSPOSE(name, id, type, unused)                                                                              \
    INL void square_transpose_##id(const type *x, int64_t x_row, type *out, int64_t out_row)                           \
    {                                                                                                                  \
        enum { SIDE = 16 / sizeof(type) };                                                                             \
        square_##id line[SIDE], next[SIDE];                                                                            \
        UNROLL for (int i = 0; i < SIDE; i++) __builtin_memcpy(&line[i], x + i * x_row, 16);                           \
        UNROLL for (int step = 0; step < HALVES_##id; step++)                                                          \
        {                                                                                                              \
            UNROLL for (int i = 0; i < SIDE / 2; i++)                                                                  \
            {                                                                                                          \
                next[2 * i]     = LOW_##id(line[i], line[i + SIDE / 2]);                                               \
                next[2 * i + 1] = HIGH_##id(line[i], line[i + SIDE / 2]);                                              \
            }                                                                                                          \
            UNROLL for (int i = 0; i < SIDE; i++) line[i] = next[i];                                                   \
        }                                                                                                              \
        UNROLL for (int i = 0; i < SIDE; i++) __builtin_memcpy(out + i * out_row, &line[i], 16);                       \
    }                                                                                                                  \
    static void name##_##id(int64_t rows, int64_t columns, const void *x_, int64_t x_row, void *out_, int64_t out_row) \
    {                                                                                                                  \
        enum { SIDE = 16 / sizeof(type), STRIP = SIDE < 8 ? 64 / sizeof(type) : 16 };                                  \
        const type *x    = x_;                                                                                         \
        type       *out  = out_;                                                                                       \
        int64_t     high = rows / SIDE * SIDE, wide = columns / SIDE * SIDE;                                           \
        for (int64_t strip = 0; strip < wide; strip += STRIP)                                                          \
            for (int64_t r = 0; r < high; r += SIDE)                                                                   \
                for (int64_t c = strip; c < wide && c < strip + STRIP; c += SIDE)                                      \
                    square_transpose_##id(x + r * x_row + c, x_row, out + c * out_row + r, out_row);                   \
        for (int64_t c = 0; c < columns; c++)                                                                          \
            for (int64_t r = c < wide ? high : 0; r < rows; r++) out[c * out_row + r] = x[r * x_row + c];              \
    }
WIDTHS(TRANSPOSE, transpose, )
