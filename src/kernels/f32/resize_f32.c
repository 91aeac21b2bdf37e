// resize_f32.c - weighted sums of rows, and of elements of a row, by tables.

INL void mix_taps(int64_t n, int64_t taps, const float *x, int64_t stride, const int32_t *index, const float *weight,
                  float *out)
{
    for (int64_t j = 0; j < n; j += LANES) {
        int  lanes = lanes_left(j, n);
        f32v sum   = v_mul(v_set1(weight[0]), v_load_lanes(x + index[0] * stride + j, lanes));
        for (int64_t t = 1; t < taps; t++)
            sum = v_mad(v_set1(weight[t]), v_load_lanes(x + index[t] * stride + j, lanes), sum);
        v_store_lanes(out + j, sum, lanes);
    }
}

static void mix_f32(int64_t n, int64_t taps, const float *x, int64_t stride, const int32_t *index, const float *weight,
                    float *out)
{
    if (taps == 2)
        mix_taps(n, 2, x, stride, index, weight, out);
    else
        mix_taps(n, taps, x, stride, index, weight, out);
}

// Neighboring outputs read elements that are near each other, unless the row shrinks.
INL void pick_taps(const HoloPick *p, int64_t taps, const float *x, float *out)
{
    for (int64_t o = 0; o < p->n; o += LANES) {
        int32_t base = p->index[o], top = p->index[(taps - 1) * p->line + o + LANES - 1];
        bool    near = PICKS_NEAR && top - base < 2 * LANES;
        f32v    sum  = v_set1(0);
        for (int64_t t = 0; t < taps; t++) {
            const int32_t *index = p->index + t * p->line + o;
            f32v           v     = near ? v_pick_near(x, p->in, index, base) : v_pick(x, p->in, index);
            f32v           w     = v_load(p->weight + t * p->line + o);
            sum                  = t ? v_mad(w, v, sum) : v_mul(w, v);
        }
        v_store_lanes(out + o, sum, lanes_left(o, p->n));
    }
}

static void pick_f32(const HoloPick *p, const float *x, float *out)
{
    if (p->taps == 2)
        pick_taps(p, 2, x, out);
    else
        pick_taps(p, p->taps, x, out);
}

INL f32v blend_four(const f32v c[4], const f32v x[4])
{
    f32v sum                               = v_mul(c[0], x[0]);
    UNROLL for (int t = 1; t < 4; t++) sum = v_add(sum, v_mul(c[t], x[t]));
    return sum;
}

// Sixteen outputs of a row, whether or not their elements are near each other.
INL void blend_across(const HoloBlend *b, int64_t o, bool near)
{
    const HoloPick *p     = b->across;
    const int32_t  *first = p->index + o, *second = first + p->line;
    f32v            v0 = v_set1(b->v0), v1 = v_set1(b->v1), x[4];
    UNROLL for (int r = 0; r < 2; r++)
    {
        if (near) {
            v_pick_both(b->x[r], p->in, first, second, *first, x + 2 * r);
            continue;
        }
        x[2 * r]     = v_pick(b->x[r], p->in, first);
        x[2 * r + 1] = v_pick(b->x[r], p->in, second);
    }
    f32v w0 = v_load(p->weight + o), w1 = v_load(p->weight + p->line + o);
    f32v c[4] = {v_mul(w0, v0), v_mul(w1, v0), v_mul(w0, v1), v_mul(w1, v1)};
    v_store_lanes(b->out + o, blend_four(c, x), lanes_left(o, p->n));
}

static void blend_f32(const HoloBlend *b)
{
    const HoloPick *p    = b->across;
    f32v            c[4] = {v_set1(b->w0 * b->v0), v_set1(b->w1 * b->v0), v_set1(b->w0 * b->v1), v_set1(b->w1 * b->v1)};
    for (int64_t o = 0; p && o < p->n; o += LANES)
        if (PICKS_NEAR && p->index[p->line + o + LANES - 1] - p->index[o] < 2 * LANES)
            blend_across(b, o, true);
        else
            blend_across(b, o, false);
    for (int64_t i = 0; !p && i < b->n; i += LANES) {
        int  lanes = lanes_left(i, b->n);
        f32v x[4];
        UNROLL for (int t = 0; t < 4; t++) x[t] = v_load_lanes(b->x[t / 2] + (t % 2 ? b->second : b->first) + i, lanes);
        v_store_lanes(b->out + i, blend_four(c, x), lanes);
    }
}
