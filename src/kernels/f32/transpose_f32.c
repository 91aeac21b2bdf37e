// transpose_f32.c - transposes a matrix, 16 rows and columns at a time.

// Three rows, as the colors of an image: where points do not lie side by side, and at the end, elements one by one,
// which is less than whole blocks would be.
INL void transpose_three(int64_t columns, const float *x, int64_t x_row, float *out, int64_t out_row)
{
    int64_t c = 0;
    for (; out_row == 3 && c + LANES <= columns; c += LANES) {
        f32v rows[] = {v_load(x + c), v_load(x + x_row + c), v_load(x + 2 * x_row + c)};
        v_store_threes(out + 3 * c, rows);
    }
    for (; c < columns; c++) UNROLL for (int r = 0; r < 3; r++) out[c * out_row + r] = x[r * x_row + c];
}

// Transposes three columns, such as the colors of an image. Returns how many rows it has done.
INL int64_t part_three(int64_t rows, const float *x, float *out, int64_t out_row)
{
    int64_t r = 0;
    for (; r + LANES <= rows; r += LANES) {
        f32v columns[3];
        v_load_threes(x + 3 * r, columns);
        UNROLL for (int i = 0; i < 3; i++) v_store(out + i * out_row + r, columns[i]);
    }
    return r;
}

static void transpose_block(const float *x, int64_t x_row, int high, int wide, float *out, int64_t out_row)
{
    v_transpose_part(x, x_row, high, wide, out, out_row);
}

void SHARED(transpose_f32)(int64_t rows, int64_t columns, const float *x, int64_t x_row, float *out, int64_t out_row)
{
    if (rows == 3) {
        transpose_three(columns, x, x_row, out, out_row);
        return;
    }
    int64_t first = columns == 3 && x_row == 3 ? part_three(rows, x, out, out_row) : 0;
    for (int64_t c = 0; c < columns; c += LANES)
        for (int64_t r = first; r < rows; r += LANES)
            transpose_block(x + r * x_row + c, x_row, lanes_left(r, rows), lanes_left(c, columns),
                            out + c * out_row + r, out_row);
}
