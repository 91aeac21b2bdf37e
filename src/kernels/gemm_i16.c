// gemm_i16.c - products of 8-bit integers, shifted by their zero points and so widened to 16 bits: a
// register of 16 sums takes two k at once. Sums are exact modulo 2^32.

typedef struct {
    i32n r[REGISTERS];
} i32v;

typedef int32_t i32u __attribute__((vector_size(NATIVE), aligned(4), may_alias));

enum { PAIR_ROWS = REGISTERS == 1 ? 8 : REGISTERS == 2 ? 4 : 2 };

INL void pair_tile(const HoloGemmI16 *g, int64_t row, int64_t panel, int rows)
{
    const int32_t *a    = (const int32_t *)(const void *)(g->a + row * g->a_row); // pairs
    const int32_t *b    = (const int32_t *)(const void *)(g->b + panel * g->pairs * 2 * LANES);
    int32_t       *c    = g->c + row * g->c_row + panel * LANES;
    int64_t        left = g->n - panel * LANES;
    i32v           sum[PAIR_ROWS];
    int32_t        part[PAIR_ROWS * LANES] = {0};
    int64_t        part_row                = left < LANES ? LANES : g->c_row;
    int32_t       *at                      = left < LANES ? part : c;
    if (left < LANES && g->resume)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < left; j++) part[i * LANES + j] = c[i * g->c_row + j];
    UNROLL for (int i = 0; i < rows; i++) EACH(r) sum[i].r[r] =
        g->resume ? (i32n) * (const i32u *)(at + i * part_row + r * NATIVE_LANES) : (i32n){0};
    for (int64_t p = 0; p < g->pairs; p++, b += LANES) UNROLL for (int i = 0; i < rows; i++)
        {
            i32n pair           = a[i * (g->a_row / 2) + p] + (i32n){0};
            EACH(r) sum[i].r[r] = n_pairs(sum[i].r[r], pair, (i32n) * (const i32u *)(b + r * NATIVE_LANES));
        }
    UNROLL for (int i = 0; i < rows; i++) EACH(r) * (i32u *)(at + i * part_row + r * NATIVE_LANES) = (i32u)sum[i].r[r];
    if (left < LANES)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < left; j++) c[i * g->c_row + j] = part[i * LANES + j];
}

static void gemm_i16(const HoloGemmI16 *g)
{
    for (int64_t panel = 0; panel * LANES < g->n; panel++) {
        int64_t row = 0;
        for (; row + PAIR_ROWS <= g->m; row += PAIR_ROWS) pair_tile(g, row, panel, PAIR_ROWS);
        for (; row < g->m; row++) pair_tile(g, row, panel, 1);
    }
}

INL int widen(const uint8_t *x, bool is_signed)
{
    return is_signed ? (int8_t)*x : *x;
}

static void rows_i16(int64_t m, int64_t k, const uint8_t *a, int64_t row, bool is_signed, int zero, int16_t *out)
{
    int64_t width = k + k % 2;
    for (int64_t i = 0; i < m; i++) {
        const uint8_t *from = a + i * row;
        int16_t       *to   = out + i * width;
        if (is_signed)
            for (int64_t p = 0; p < k; p++) to[p] = (int16_t)((int8_t)from[p] - zero);
        else
            for (int64_t p = 0; p < k; p++) to[p] = (int16_t)(from[p] - zero);
        if (k < width) to[k] = 0;
    }
}

static void pack_i16(int64_t k, int64_t n, const uint8_t *b, int64_t row, bool is_signed, const int16_t *zero,
                     int16_t *out)
{
    for (int64_t j = 0; j < n; j += LANES)
        for (int64_t p = 0; p < k; p += 2, out += 2 * LANES) {
            int            lanes = lanes_left(j, n);
            const uint8_t *one = b + p * row + j, *two = p + 1 < k ? one + row : NULL;
            for (int l = 0; l < LANES; l++) {
                out[2 * l]     = (int16_t)(l < lanes ? widen(one + l, is_signed) - zero[j + l] : 0);
                out[2 * l + 1] = (int16_t)(l < lanes && two ? widen(two + l, is_signed) - zero[j + l] : 0);
            }
        }
}
