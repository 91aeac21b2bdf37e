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

static void turn_block(const float *x, int64_t x_row, int high, int wide, float *out, int64_t out_row)
{
    float block[LANES * LANES], edge[LANES * LANES];
    if (wide < LANES || high < LANES) { // a copy with room for a whole block
        for (int i = 0; i < LANES; i++)
            v_store(edge + i * LANES, i < high ? v_load_strided(x + i * x_row, 1, 0, wide) : v_set1(0));
        x     = edge;
        x_row = LANES;
    }
    v_transpose(x, x_row, block);
    for (int i = 0; i < wide; i++) copy_row(block + i * LANES, high, out + i * out_row);
}

static void transpose_f32(int64_t rows, int64_t columns, const float *x, int64_t x_row, float *out, int64_t out_row)
{
    if (rows == 3) {
        turn_three(columns, x, x_row, out, out_row);
        return;
    }
    for (int64_t c = 0; c < columns; c += LANES)
        for (int64_t r = 0; r < rows; r += LANES)
            turn_block(x + r * x_row + c, x_row, lanes_left(r, rows), lanes_left(c, columns), out + c * out_row + r,
                       out_row);
}
