// grid_f32.c - reads an image at positions that are data: finds the four pixels around each position and their weights,
// and sums them.
//
// Positions are computed in double: an image may be large, and the fraction of a position is the weight.

// Folds x back at the borders until it is between them.
INL double grid_reflect(double x, double low, double high)
{
    double range = high - low, beyond = x < low ? low - x : x - high;
    double times = __builtin_floor(beyond / range), rest = beyond - times * range;
    bool   from_near = times == 2 * __builtin_floor(times / 2);
    double folded    = (x < low) == from_near ? low + rest : high - rest;
    return x >= low && x <= high ? x : range > 0 ? folded : low;
}

// The position along one axis of `size` pixels: the pixel before it, from -2 to size + 1, and the weight of the pixel
// behind it.
INL double grid_place(const HoloGrid *g, double size, double at, double *out_rest)
{
    double low = g->align ? 0 : -0.5, high = size - (g->align ? 1 : 0.5);
    at       = at == at ? at : -1; // a NaN is the first border, as in PyTorch
    double x = g->align ? (at + 1) / 2 * (size - 1) : ((at + 1) * size - 1) / 2;
    x        = x < 0x1p52 ? x : 0x1p52;
    x        = x > -0x1p52 ? x : -0x1p52;
    if (g->padding == HOLO_GRID_REFLECTION) x = grid_reflect(x, low, high);
    bool   zeros = g->padding == HOLO_GRID_ZEROS;
    double least = zeros ? -2 : 0, most = zeros ? size + 1 : size - 1;
    x            = x < least ? least : x > most ? most : x;
    double first = __builtin_floor(x);
    *out_rest    = x - first;
    return first;
}

INL int32_t grid_pixel(const HoloGrid *g, int32_t x, int32_t y, bool zeros)
{
    int32_t wide = (int32_t)g->width, high = (int32_t)g->height;
    if (zeros) return ((x >= 0) & (x < wide) & (y >= 0) & (y < high)) ? y * wide + x : -1;
    return (y < high ? y : high - 1) * wide + (x < wide ? x : wide - 1);
}

INL void grid_taps(const HoloGrid *g, bool zeros, const float *at, int64_t n)
{
    for (int64_t p = 0; p < n; p++) {
        double   across, down;
        int32_t  x     = (int32_t)grid_place(g, (double)g->width, (double)at[2 * p], &across);
        int32_t  y     = (int32_t)grid_place(g, (double)g->height, (double)at[2 * p + 1], &down);
        int32_t *i     = g->index + p;
        float   *w     = g->weight + p;
        i[0]           = grid_pixel(g, x, y, zeros);
        i[g->line]     = grid_pixel(g, x + 1, y, zeros);
        i[2 * g->line] = grid_pixel(g, x, y + 1, zeros);
        i[3 * g->line] = grid_pixel(g, x + 1, y + 1, zeros);
        w[0]           = (float)((1 - across) * (1 - down));
        w[g->line]     = (float)(across * (1 - down));
        w[2 * g->line] = (float)((1 - across) * down);
        w[3 * g->line] = (float)(across * down);
    }
}

void SHARED(grid_taps_f32)(const HoloGrid *g, const float *at, int64_t n)
{
    grid_taps(g, g->padding == HOLO_GRID_ZEROS, at, n);
    for (int64_t p = n; p < g->line && p % LANES; p++)
        for (int t = 0; t < 4; t++) g->index[t * g->line + p] = -1, g->weight[t * g->line + p] = 0;
}

void SHARED(grid_sums_f32)(const HoloGrid *g, const float *x, int64_t n, float *out)
{
    for (int64_t p = 0; p < n; p += LANES) {
        f32v part[4];
        UNROLL for (int t = 0; t < 4; t++) part[t] =
            v_mul(v_load(g->weight + t * g->line + p), v_pick_inside(x, g->index + t * g->line + p));
        v_store_lanes(out + p, v_add(v_add(part[0], part[1]), v_add(part[2], part[3])), lanes_left(p, n));
    }
}
