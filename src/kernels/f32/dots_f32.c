// dots_f32.c - products of rows of A with a few rows of B. Both are read where they lie, sixteen numbers of k at a
// time; the lanes are summed at the end.
//
// A sum is two chains of v_mad, which take vectors alternately and are added at the end. It does not depend on how rows
// are grouped.

enum { DOTS_ROWS = 2 }; // of B, with a row of A

INL void dots_lanes(const HoloDots *d, const float *a, const float *b, int rows, float *out)
{
    f32v    sum[DOTS_ROWS][2];
    int64_t i = 0;
    for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = v_set1(0);
    for (; i + 2 * LANES <= d->k; i += 2 * LANES) UNROLL for (int u = 0; u < 2; u++)
        {
            f32v x = v_load(a + i + u * LANES);
            UNROLL for (int r = 0; r < rows; r++) sum[r][u] =
                v_mad(x, v_load(b + r * d->b_row + i + u * LANES), sum[r][u]);
        }
    for (; i < d->k; i += LANES) {
        int  lanes = lanes_left(i, d->k);
        f32v x     = v_load_lanes(a + i, lanes);
        UNROLL for (int r = 0; r < rows; r++) sum[r][0] =
            v_mad(x, v_load_lanes(b + r * d->b_row + i, lanes), sum[r][0]);
    }
    for (int r = 0; r < rows; r++) v_store(out + r * LANES, v_add(sum[r][0], sum[r][1]));
}

static void dots_f32(const HoloDots *d)
{
    float   lanes[LANES * LANES] = {0};
    int64_t most = LANES / d->n, held = 0;
    float  *out = d->out;
    for (int64_t i = 0; i < d->m; i++) {
        const float *a  = d->a + i * d->a_row;
        float       *to = lanes + held * d->n * LANES;
        int64_t      j  = 0;
        for (; j + DOTS_ROWS <= d->n; j += DOTS_ROWS) dots_lanes(d, a, d->b + j * d->b_row, DOTS_ROWS, to + j * LANES);
        for (; j < d->n; j++) dots_lanes(d, a, d->b + j * d->b_row, 1, to + j * LANES);
        if (++held < most && i + 1 < d->m) continue;
        v_store_lanes(out, v_sums(lanes), (int)(held * d->n));
        out += held * d->n;
        held = 0;
    }
}
