// rotary_f32.c - rotates pairs of numbers: (a, b) becomes (a cos - b sin, a sin + b cos).

static void rotate_halves(const HoloRotation *t, const float *x, float *out)
{
    for (int64_t k = 0; k < t->half; k += LANES) {
        int  lanes = lanes_left(k, t->half);
        f32v c = v_load_lanes(t->cos + k, lanes), s = v_load_lanes(t->sin + k, lanes);
        f32v a = v_load_lanes(x + k, lanes), b = v_load_lanes(x + t->half + k, lanes);
        f32v minus = v_sub(v_set1(0), v_mul(b, s));
        v_store_lanes(out + k, v_mad(a, c, minus), lanes);
        v_store_lanes(out + t->half + k, v_mad(a, s, v_mul(b, c)), lanes);
    }
}

static void rotate_neighbors(const HoloRotation *t, const float *x, float *out)
{
    for (int64_t k = 0; k < t->half; k++) {
        float a = x[2 * k], b = x[2 * k + 1], c = t->cos[k], s = t->sin[k];
        out[2 * k]     = a * c - b * s;
        out[2 * k + 1] = a * s + b * c;
    }
}

static void rotary_f32(const HoloRotation *t)
{
    for (int64_t i = 0; i < t->count; i++) {
        const float *x   = t->x + i * t->step;
        float       *out = t->out + i * t->step;
        if (t->interleaved)
            rotate_neighbors(t, x, out);
        else
            rotate_halves(t, x, out);
        copy_row(x + 2 * t->half, t->rest, out + 2 * t->half);
    }
}
