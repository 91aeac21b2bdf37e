// winograd_f32.c - the transforms around 3x3 convolutions by tiles of 4x4 pixels: Y = A'((G g G') * (B' d B)) A, where
// g is a filter, d the 6x6 pixels that a tile sees, and * a product of elements, summed over channels. One dimension
// needs 6 products for 4 outputs, where a plain convolution needs 12; two dimensions need 36 instead of 144. Tiles of
// 2x2 need 16 instead of 36, and their weights are less than half as large: they are for images of few tiles.
//
// The transforms represent polynomials by their values at 0, +-P, +-Q and infinity. With P = 3/4 and Q = 3/2 all
// factors are exact, and the error is a third of the error with the usual 1 and 2. Small tiles use 0, +-1 and infinity.
// G is applied when weights are packed (lower/cpu/pack_conv.c), or here.

enum { TILE = HOLO_WINOGRAD_TILE, SEEN = TILE + 2 };

#define WINOGRAD_P  0.75f
#define WINOGRAD_Q  1.5f
#define WINOGRAD_PP (WINOGRAD_P * WINOGRAD_P)
#define WINOGRAD_QQ (WINOGRAD_Q * WINOGRAD_Q)

// B' d: 6 numbers that are `step` apart, to numbers that are `to_step` apart.
INL void winograd_in(const float *d, int64_t step, float *to, int64_t to_step)
{
    f32v d0 = v_load(d), d1 = v_load(d + step), d2 = v_load(d + 2 * step), d3 = v_load(d + 3 * step);
    f32v d4 = v_load(d + 4 * step), d5 = v_load(d + 5 * step);
    f32v minus_pp = v_set1(-WINOGRAD_PP), minus_qq = v_set1(-WINOGRAD_QQ), p = v_set1(WINOGRAD_P),
         q    = v_set1(WINOGRAD_Q);
    f32v both = v_set1(WINOGRAD_PP * WINOGRAD_QQ), minus_sum = v_set1(-(WINOGRAD_PP + WINOGRAD_QQ));
    f32v even = v_mad(minus_qq, d2, d4), odd = v_mul(p, v_mad(minus_qq, d1, d3));
    f32v even_q = v_mad(minus_pp, d2, d4), odd_q = v_mul(q, v_mad(minus_pp, d1, d3));
    v_store(to, v_mad(both, d0, v_mad(minus_sum, d2, d4)));
    v_store(to + to_step, v_add(even, odd));
    v_store(to + 2 * to_step, v_sub(even, odd));
    v_store(to + 3 * to_step, v_add(even_q, odd_q));
    v_store(to + 4 * to_step, v_sub(even_q, odd_q));
    v_store(to + 5 * to_step, v_mad(both, d1, v_mad(minus_sum, d3, d5)));
}

// A' m: 6 numbers become 4.
INL void winograd_out(const float *m, int64_t step, f32v out[TILE])
{
    f32v m0 = v_load(m), m1 = v_load(m + step), m2 = v_load(m + 2 * step), m3 = v_load(m + 3 * step);
    f32v m4 = v_load(m + 4 * step), m5 = v_load(m + 5 * step);
    f32v even = v_add(m1, m2), odd = v_sub(m1, m2), even_q = v_add(m3, m4), odd_q = v_sub(m3, m4);
    out[0] = v_add(v_add(m0, even), even_q);
    out[1] = v_mad(v_set1(WINOGRAD_Q), odd_q, v_mul(v_set1(WINOGRAD_P), odd));
    out[2] = v_mad(v_set1(WINOGRAD_QQ), even_q, v_mul(v_set1(WINOGRAD_PP), even));
    out[3] = v_add(v_mad(v_set1(WINOGRAD_QQ * WINOGRAD_Q), odd_q, v_mul(v_set1(WINOGRAD_PP * WINOGRAD_P), odd)), m5);
}

// B' d for small tiles: 4 numbers.
INL void winograd_in_small(const float *d, int64_t step, float *to, int64_t to_step)
{
    f32v d0 = v_load(d), d1 = v_load(d + step), d2 = v_load(d + 2 * step), d3 = v_load(d + 3 * step);
    v_store(to, v_sub(d0, d2));
    v_store(to + to_step, v_add(d1, d2));
    v_store(to + 2 * to_step, v_sub(d2, d1));
    v_store(to + 3 * to_step, v_sub(d3, d1));
}

// A' m for small tiles: 4 numbers become 2.
INL void winograd_out_small(const float *m, int64_t step, f32v out[TILE])
{
    f32v m0 = v_load(m), m1 = v_load(m + step), m2 = v_load(m + 2 * step), m3 = v_load(m + 3 * step);
    out[0] = v_add(m0, v_add(m1, m2));
    out[1] = v_add(v_sub(m1, m2), m3);
}

INL void winograd_in_of(int tile, const float *d, int64_t step, float *to, int64_t to_step)
{
    if (tile == TILE)
        winograd_in(d, step, to, to_step);
    else
        winograd_in_small(d, step, to, to_step);
}

INL void winograd_out_of(int tile, const float *m, int64_t step, f32v out[TILE])
{
    if (tile == TILE)
        winograd_out(m, step, out);
    else
        winograd_out_small(m, step, out);
}

// Of element `at` of the output, and those after it.
INL f32v v_finish(const HoloFinish *f, f32v x, int64_t at, int lanes)
{
    if (f->more) x = v_add(x, v_load_lanes(f->more + at, lanes));
    if (f->has_slope) x = v_swish(x, f->slope);
    if (f->has_low) x = v_at_least(x, v_set1(f->low));
    return f->has_high ? v_at_most(x, v_set1(f->high)) : x;
}

typedef struct WinogradTile {
    int64_t image, y, x; // in tiles
} WinogradTile;

INL WinogradTile winograd_tile(const HoloConvShape *s, int64_t t, int tile)
{
    int64_t columns = (s->out[2] + tile - 1) / tile, rows = (s->out[1] + tile - 1) / tile;
    return (WinogradTile){.image = t / columns / rows, .y = t / columns % rows, .x = t % columns};
}

// What a tile sees of 16 channels, 0 outside of the image.
INL void winograd_gather(const HoloWinograd *w, const float *image, int64_t y, int64_t x, int seen, int lanes,
                         float *out)
{
    const HoloConvShape *s = w->shape;
    for (int i = 0; i < seen; i++)
        for (int j = 0; j < seen; j++, out += LANES) {
            bool in = y + i >= 0 && y + i < s->in[1] && x + j >= 0 && x + j < s->in[2];
            v_store(out, in ? v_load_part(image + ((y + i) * s->in[2] + x + j) * w->pixel, 0, lanes) : v_set1(0));
        }
}

INL void winograd_in_tiles(const HoloWinograd *w, const float *images, int64_t first, int64_t end, int tile)
{
    const int            seen = tile + 2;
    const HoloConvShape *s    = w->shape;
    float                between[SEEN * SEEN * LANES], gathered[SEEN * SEEN * LANES];
    for (int64_t t = first; t < end; t++) {
        WinogradTile at = winograd_tile(s, t, tile);
        int64_t      y = at.y * tile - s->pad[1], x = at.x * tile - s->pad[2];
        const float *image = images + at.image * s->in[1] * s->in[2] * w->pixel;
        bool         in    = y >= 0 && y + seen <= s->in[1] && x >= 0 && x + seen <= s->in[2];
        for (int64_t c = 0; c < w->channels; c += LANES) {
            int          lanes = lanes_left(c, w->channels);
            bool         whole = in && lanes == LANES;
            const float *from  = whole ? image + ((y * s->in[2] + x) * w->pixel + c) : gathered;
            int64_t      step = whole ? w->pixel : LANES, row = whole ? s->in[2] * w->pixel : seen * LANES;
            float       *to = w->tiles + (t - first) * w->row + c;
            if (!whole) winograd_gather(w, image + c, y, x, seen, lanes, gathered);
            for (int j = 0; j < seen; j++)
                winograd_in_of(tile, from + j * step, row, between + j * LANES, seen * LANES);
            for (int i = 0; i < seen; i++)
                winograd_in_of(tile, between + i * seen * LANES, LANES, to + i * seen * w->place, w->place);
        }
    }
}

static void winograd_in_f32(const HoloWinograd *w, const float *images, int64_t first, int64_t end)
{
    if (w->tile == TILE)
        winograd_in_tiles(w, images, first, end, TILE);
    else
        winograd_in_tiles(w, images, first, end, HOLO_WINOGRAD_SMALL);
}

INL void winograd_out_tiles(const HoloWinograd *w, const float *bias, const HoloFinish *finish, int64_t first,
                            int64_t end, float *out_images, int tile)
{
    const int            seen = tile + 2;
    const HoloConvShape *s    = w->shape;
    float                between[TILE * SEEN * LANES];
    for (int64_t t = first; t < end; t++) {
        WinogradTile at = winograd_tile(s, t, tile);
        int64_t      y = at.y * tile, x = at.x * tile;
        int          rows    = s->out[1] - y < tile ? (int)(s->out[1] - y) : tile;
        int          columns = s->out[2] - x < tile ? (int)(s->out[2] - x) : tile;
        float       *out     = out_images + ((at.image * s->out[1] + y) * s->out[2] + x) * w->pixel;
        for (int64_t c = 0; c < w->channels; c += LANES) {
            int          lanes = lanes_left(c, w->channels);
            const float *from  = w->tiles + (t - first) * w->row + c;
            f32v         add   = bias ? v_load_part(bias + c, 0, lanes) : v_set1(0), line[TILE];
            for (int j = 0; j < seen; j++) {
                winograd_out_of(tile, from + j * w->place, seen * w->place, line);
                UNROLL for (int i = 0; i < tile; i++) v_store(between + (i * seen + j) * LANES, line[i]);
            }
            for (int i = 0; i < rows; i++) {
                float *to = out + i * s->out[2] * w->pixel + c;
                winograd_out_of(tile, between + i * seen * LANES, LANES, line);
                for (int j = 0; j < columns; j++) {
                    f32v x = v_add(line[j], add);
                    if (finish) x = v_finish(finish, x, to + j * w->pixel - out_images, lanes);
                    v_store_lanes(to + j * w->pixel, x, lanes);
                }
            }
        }
    }
}

static void winograd_out_f32(const HoloWinograd *w, const float *bias, const HoloFinish *finish, int64_t first,
                             int64_t end, float *out_images)
{
    if (w->tile == TILE)
        winograd_out_tiles(w, bias, finish, first, end, out_images, TILE);
    else
        winograd_out_tiles(w, bias, finish, first, end, out_images, HOLO_WINOGRAD_SMALL);
}

// G g: 3 numbers become 6.
INL void winograd_weights(const f32v g[3], f32v out[SEEN])
{
    const float of_p   = 1 / (2 * WINOGRAD_PP * (WINOGRAD_PP - WINOGRAD_QQ));
    const float of_q   = 1 / (2 * WINOGRAD_QQ * (WINOGRAD_QQ - WINOGRAD_PP));
    f32v        even   = v_mul(v_set1(of_p), v_mad(v_set1(WINOGRAD_PP), g[2], g[0]));
    f32v        odd    = v_mul(v_set1(of_p * WINOGRAD_P), g[1]);
    f32v        even_q = v_mul(v_set1(of_q), v_mad(v_set1(WINOGRAD_QQ), g[2], g[0]));
    f32v        odd_q  = v_mul(v_set1(of_q * WINOGRAD_Q), g[1]);
    out[0]             = v_mul(v_set1(1 / (WINOGRAD_PP * WINOGRAD_QQ)), g[0]);
    out[1]             = v_add(even, odd);
    out[2]             = v_sub(even, odd);
    out[3]             = v_add(even_q, odd_q);
    out[4]             = v_sub(even_q, odd_q);
    out[5]             = g[2];
}

static void winograd_weights_f32(int64_t channels, const void *panel, uint32_t type, float *out, int64_t place)
{
    const char *from = panel;
    int64_t     row  = b_bytes(type, LANES);
    for (int64_t c = 0; c < channels; c++, from += row, out += LANES) {
        f32v half[3][SEEN]; // [x][i]
        for (int x = 0; x < 3; x++) {
            f32v g[3];
            for (int y = 0; y < 3; y++) g[y] = b_load(from + (y * 3 + x) * channels * row, type);
            winograd_weights(g, half[x]);
        }
        for (int i = 0; i < SEEN; i++) {
            f32v g[3] = {half[0][i], half[1][i], half[2][i]}, u[SEEN];
            winograd_weights(g, u);
            for (int j = 0; j < SEEN; j++) v_store(out + (i * SEEN + j) * place, u[j]);
        }
    }
}
