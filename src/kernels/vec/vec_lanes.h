// vec_lanes.h - sixteen vectors at once: transposes them, interleaves them, and reduces each to one number.
#ifndef HOLO_KERNELS_VEC_VEC_LANES_H
#define HOLO_KERNELS_VEC_VEC_LANES_H

#include "kernels/vec/vec.h"

// to[c][r] = from[r][c] for a block as wide as a register: halves are interleaved until every row has become a column.
INL void transpose_lanes(f32n from[NATIVE_LANES], f32n to[NATIVE_LANES])
{
    UNROLL for (int width = 1; width < NATIVE_LANES; width *= 2)
    {
        UNROLL for (int i = 0; i < NATIVE_LANES / 2; i++)
        {
            f32n low = from[i], high = from[i + NATIVE_LANES / 2];
            to[2 * i]     = __builtin_shufflevector(low, high, ZIP_LOW);
            to[2 * i + 1] = __builtin_shufflevector(low, high, ZIP_HIGH);
        }
        UNROLL for (int i = 0; i < NATIVE_LANES; i++) from[i] = to[i];
    }
}

// out[c * 16 + r] = p[r * stride + c] for 16 rows of 16.
INL void v_transpose(const float *p, int64_t stride, float *out)
{
    UNROLL for (int row = 0; row < LANES; row += NATIVE_LANES)
        UNROLL for (int column = 0; column < LANES; column += NATIVE_LANES)
    {
        f32n from[NATIVE_LANES], to[NATIVE_LANES];
        UNROLL for (int i = 0; i < NATIVE_LANES; i++) from[i] = *(const f32u *)(p + (row + i) * stride + column);
        transpose_lanes(from, to);
        UNROLL for (int i = 0; i < NATIVE_LANES; i++) * (f32u *)(out + (column + i) * LANES + row) = to[i];
    }
}

// out[c * out_row + r] = p[r * stride + c] for the first `high` rows and `wide` columns. Nothing beyond is touched.
INL void v_transpose_part(const float *p, int64_t stride, int high, int wide, float *out, int64_t out_row)
{
#if defined __AVX512F__
    __mmask16 across = (__mmask16)((1u << wide) - 1), down = (__mmask16)((1u << high) - 1);
    f32n      from[LANES], to[LANES];
    UNROLL for (int i = 0; i < LANES; i++) from[i] =
        i < high ? (f32n)_mm512_maskz_loadu_ps(across, p + i * stride) : (f32n){0};
    transpose_lanes(from, to);
    UNROLL for (int i = 0; i < LANES; i++)
    {
        if (i >= wide) return;
        if (high == LANES)
            *(f32u *)(out + i * out_row) = to[i];
        else
            _mm512_mask_storeu_ps(out + i * out_row, down, (__m512)to[i]);
    }
#else
    float block[LANES * LANES], edge[LANES * LANES];
    if (wide < LANES || high < LANES) { // a copy with room for a whole block
        for (int i = 0; i < LANES; i++)
            v_store(edge + i * LANES, i < high ? v_load_strided(p + i * stride, 1, 0, wide) : v_set1(0));
        p      = edge;
        stride = LANES;
    }
    v_transpose(p, stride, block);
    for (int i = 0; i < wide; i++) copy_row(block + i * LANES, high, out + i * out_row);
#endif
}

// Lane l is p[index[l]], or 0 if the index is negative.
INL f32v v_pick_inside(const float *p, const int32_t *index)
{
#if defined __AVX512F__
    __m512i   at      = _mm512_loadu_si512(index);
    __mmask16 outside = _mm512_movepi32_mask(at);
    return (f32v){{(f32n)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), (__mmask16)~outside, at, p, 4)}};
#else
    float t[LANES];
    for (int l = 0; l < LANES; l++) t[l] = index[l] < 0 ? 0 : p[index[l]];
    return v_load(t);
#endif
}

// out[i] is p[i], p[3 + i] ... p[45 + i].
INL void v_load_threes(const float *p, f32v out[3])
{
#if defined __AVX512F__
    const __m512i first = _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
    const __m512i then  = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29);
    __m512        a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + LANES), c = _mm512_loadu_ps(p + 2 * LANES);
    UNROLL for (int i = 0; i < 3; i++)
    {
        // The first eleven (ten for the last i) are in a and b; the others are in c.
        __m512i shift = _mm512_set1_epi32(i), more = _mm512_mask_add_epi32(then, 0xf800, then, shift);
        more        = _mm512_mask_mov_epi32(more, i == 2 ? 1 << 10 : 0, _mm512_set1_epi32(LANES));
        __m512 some = _mm512_permutex2var_ps(a, _mm512_add_epi32(first, shift), b);
        out[i]      = (f32v){{(f32n)_mm512_permutex2var_ps(some, more, c)}};
    }
#else
    UNROLL for (int i = 0; i < 3; i++) out[i] = v_load_strided(p + i, 3, 0, LANES);
#endif
}

#if defined __AVX2__ && !defined __AVX512F__
INL void n_store_three(float *out, const f32v rows[3], int i, int part) // of register i of three rows, a third
{
    i32n at = {0}, row = {0};
    UNROLL for (int l = 0; l < NATIVE_LANES; l++) at[l]  = (part * NATIVE_LANES + l) / 3;
    UNROLL for (int l = 0; l < NATIVE_LANES; l++) row[l] = (part * NATIVE_LANES + l) % 3;
    f32n v[3];
    for (int r = 0; r < 3; r++) v[r] = (f32n)_mm256_permutevar8x32_ps((__m256)rows[r].r[i], (__m256i)at);
    *(f32u *)out = n_select(row == 0, v[0], n_select(row == 1, v[1], v[2]));
}
#endif

// out[3 * l + r] is lane l of rows[r]: sixteen points of three numbers.
INL void v_store_threes(float *out, const f32v rows[3])
{
#if defined __AVX512F__
    UNROLL for (int o = 0; o < 3; o++)
    {
        i32n two = {0}, all = {0}; // lanes of the first two rows; of these, or of the third
        UNROLL for (int l = 0; l < LANES; l++)
        {
            int row = (o * LANES + l) % 3, at = (o * LANES + l) / 3;
            two[l] = row == 1 ? LANES + at : at;
            all[l] = row == 2 ? LANES + at : l;
        }
        __m512 v = _mm512_permutex2var_ps((__m512)rows[0].r[0], (__m512i)two, (__m512)rows[1].r[0]);
        v        = _mm512_permutex2var_ps(v, (__m512i)all, (__m512)rows[2].r[0]);
        _mm512_storeu_ps(out + o * LANES, v);
    }
#elif defined __AVX2__
    EACH(i)
    {
        UNROLL for (int o = 0; o < 3; o++) n_store_three(out + (3 * i + o) * NATIVE_LANES, rows, i, o);
    }
#elif defined __aarch64__
    EACH(i)
    {
        float32x4x3_t v = {{(float32x4_t)rows[0].r[i], (float32x4_t)rows[1].r[i], (float32x4_t)rows[2].r[i]}};
        vst3q_f32(out + 3 * i * NATIVE_LANES, v);
    }
#else
    float t[3][LANES];
    UNROLL for (int r = 0; r < 3; r++) v_store(t[r], rows[r]);
    for (int l = 0; l < LANES; l++) UNROLL for (int r = 0; r < 3; r++) out[3 * l + r] = t[r][l];
#endif
}

// Eight floats of a, then eight of b.
INL f32v v_load_halves(const float *a, const float *b)
{
    f32v v;
#if defined __AVX512F__
    v.r[0] = (f32n)_mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(a)), _mm256_loadu_ps(b), 1);
#else
    EACH(i)
    {
        const float *p = 2 * i < REGISTERS ? a + i * NATIVE_LANES : b + (i * NATIVE_LANES - LANES / 2);
        v.r[i]         = *(const f32u *)p;
    }
#endif
    return v;
}

// How many rows of n floats, up to 16, fit the first cache.
INL int64_t rows_at_once(int64_t n)
{
    int64_t most = n ? 8192 / n : LANES;
    return most < 1 ? 1 : most < LANES ? most : LANES;
}

// ---- across lanes, always in the same order

INL f32v v_join(bool top, f32v a, f32v b)
{
    return top ? v_max(a, b) : v_add(a, b);
}

// Up to sixteen vectors made one: first the two halves, then neighbors, three times. v_across_8: of
// these, vectors i and i + 8; v_across_4: what v_across_8 gives for i and i + 1, and so on.
INL f32v v_across_8(bool top, const float *columns, int count, int i)
{
    f32v v = v_load(columns + i * LANES);
    return i + 8 < count ? v_join(top, v, v_load(columns + (i + 8) * LANES)) : v;
}

INL f32v v_across_4(bool top, const float *columns, int count, int i)
{
    f32v v = v_across_8(top, columns, count, i);
    return i + 1 < count ? v_join(top, v, v_across_8(top, columns, count, i + 1)) : v;
}

INL f32v v_across_2(bool top, const float *columns, int count, int i)
{
    f32v v = v_across_4(top, columns, count, i);
    return i + 2 < count ? v_join(top, v, v_across_4(top, columns, count, i + 2)) : v;
}

INL f32v v_across_columns(bool top, const float *columns, int count)
{
    f32v v = v_across_2(top, columns, count, 0);
    return count > 4 ? v_join(top, v, v_across_2(top, columns, count, 4)) : v;
}

#if defined __AVX512F__
// Splits two rows into halves, or into even and odd lanes: the lanes of both that remain, and the lanes that are
// combined with them.
#define JOIN_ROWS(count, shuffle, low, high)                                                         \
    UNROLL for (int r = 0; r < count; r++)                                                           \
    {                                                                                                \
        __m512 a = (__m512)v[r].r[0], b = (__m512)v[r + count].r[0];                                 \
        v[r] = v_join(top, (f32v){{(f32n)shuffle(a, b, low)}}, (f32v){{(f32n)shuffle(a, b, high)}}); \
    }
#endif

// Lane r is row r, of 16 rows of 16, reduced to one number in the same order.
INL f32v v_across(bool top, const float *rows)
{
#if defined __AVX512F__
    f32v v[LANES];
    UNROLL for (int r = 0; r < LANES; r++) v[r] = v_load(rows + r * LANES);
    JOIN_ROWS(8, _mm512_shuffle_f32x4, 0x44, 0xee)
    JOIN_ROWS(4, _mm512_shuffle_ps, 0x88, 0xdd)
    JOIN_ROWS(2, _mm512_shuffle_ps, 0x88, 0xdd)
    JOIN_ROWS(1, _mm512_shuffle_f32x4, 0x88, 0xdd)
    const __m512i at = _mm512_setr_epi32(0, 8, 2, 10, 1, 9, 3, 11, 4, 12, 6, 14, 5, 13, 7, 15);
    return (f32v){{(f32n)_mm512_permutexvar_ps(at, (__m512)v[0].r[0])}};
#else
    float t[LANES * LANES];
    v_transpose(rows, LANES, t);
    return v_across_columns(top, t, LANES);
#endif
}

INL f32v v_sums(const float *rows)
{
    return v_across(false, rows);
}

INL f32v v_tops(const float *rows) // the largest; any number of the row where one is not a number
{
    return v_across(true, rows);
}

#endif
