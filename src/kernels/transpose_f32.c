// transpose_f32.c - a matrix turned over, 16 rows and columns at a time.

// Three rows, as the colours of an image: where points do not lie side by side, and at the end, elements one by one,
// which is less than whole blocks would be.
INL void turn_three(int64_t columns, const float *x, int64_t x_row, float *out, int64_t out_row)
{
    int64_t c = 0;
    for (; out_row == 3 && c + LANES <= columns; c += LANES) {
        f32v rows[] = {v_load(x + c), v_load(x + x_row + c), v_load(x + 2 * x_row + c)};
        v_store_threes(out + 3 * c, rows);
    }
    for (; c < columns; c++) UNROLL for (int r = 0; r < 3; r++) out[c * out_row + r] = x[r * x_row + c];
}

// Three columns, points of an image whose colours go apart. How many rows that made.
INL int64_t part_three(int64_t rows, const float *x, float *out, int64_t out_row)
{
    int64_t r = 0;
#if defined __AVX512F__
    const __m512i first = _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
    const __m512i then  = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29);
    for (; r + LANES <= rows; r += LANES, x += 3 * LANES) {
        __m512 a = _mm512_loadu_ps(x), b = _mm512_loadu_ps(x + LANES), c = _mm512_loadu_ps(x + 2 * LANES);
        UNROLL for (int i = 0; i < 3; i++)
        {
            // Column i of the first eleven rows or ten, whose numbers are in a and b; then of the others, in c.
            __m512i shift = _mm512_set1_epi32(i), more = _mm512_mask_add_epi32(then, 0xf800, then, shift);
            more        = _mm512_mask_mov_epi32(more, i == 2 ? 1 << 10 : 0, _mm512_set1_epi32(LANES));
            __m512 some = _mm512_permutex2var_ps(a, _mm512_add_epi32(first, shift), b);
            _mm512_storeu_ps(out + i * out_row + r, _mm512_permutex2var_ps(some, more, c));
        }
    }
#else
    (void)rows, (void)x, (void)out, (void)out_row;
#endif
    return r;
}

#if defined __AVX512F__
static void turn_block(const float *x, int64_t x_row, int high, int wide, float *out, int64_t out_row)
{
    __mmask16 across = (__mmask16)((1u << wide) - 1), down = (__mmask16)((1u << high) - 1);
    f32n      from[LANES], to[LANES];
    UNROLL for (int i = 0; i < LANES; i++) from[i] =
        i < high ? (f32n)_mm512_maskz_loadu_ps(across, x + i * x_row) : (f32n){0};
    turn_lanes(from, to);
    UNROLL for (int i = 0; i < LANES; i++)
    {
        if (i >= wide) return;
        if (high == LANES)
            *(f32u *)(out + i * out_row) = to[i];
        else
            _mm512_mask_storeu_ps(out + i * out_row, down, (__m512)to[i]);
    }
}
#else
static void turn_block(const float *x, int64_t x_row, int high, int wide, float *out, int64_t out_row)
{
    float block[LANES * LANES], edge[LANES * LANES];
    if (wide < LANES || high < LANES) { // a copy with room for a whole block
        for (int i = 0; i < LANES; i++)
            v_store(edge + i * LANES, i < high ? v_load_strided(x + i * x_row, 1, 0, wide) : v_set1(0));
        x = edge;
        x_row = LANES;
    }
    v_transpose(x, x_row, block);
    for (int i = 0; i < wide; i++) copy_row(block + i * LANES, high, out + i * out_row);
}
#endif

static void transpose_f32(int64_t rows, int64_t columns, const float *x, int64_t x_row, float *out, int64_t out_row)
{
    if (rows == 3) {
        turn_three(columns, x, x_row, out, out_row);
        return;
    }
    int64_t first = columns == 3 && x_row == 3 ? part_three(rows, x, out, out_row) : 0;
    for (int64_t c = 0; c < columns; c += LANES)
        for (int64_t r = first; r < rows; r += LANES)
            turn_block(x + r * x_row + c, x_row, lanes_left(r, rows), lanes_left(c, columns), out + c * out_row + r,
                       out_row);
}
