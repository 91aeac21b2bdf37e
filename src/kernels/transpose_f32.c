// transpose_f32.c - a matrix turned over, 16 rows and columns at a time.

static void transpose_f32(int64_t rows, int64_t columns, const float *x, int64_t x_row, float *out, int64_t out_row)
{
    float block[LANES * LANES], edge[LANES * LANES];
    for (int64_t c = 0; c < columns; c += LANES)
        for (int64_t r = 0; r < rows; r += LANES) {
            int          wide = lanes_left(c, columns), high = lanes_left(r, rows);
            const float *from = x + r * x_row + c;
            int64_t      step = x_row;
            if (wide < LANES || high < LANES) { // a copy with room for a whole block
                for (int i = 0; i < LANES; i++)
                    v_store(edge + i * LANES, i < high ? v_load_strided(from + i * x_row, 1, 0, wide) : v_set1(0));
                from = edge;
                step = LANES;
            }
            v_transpose(from, step, block);
            for (int i = 0; i < wide; i++) copy_row(block + i * LANES, high, out + (c + i) * out_row + r);
        }
}
