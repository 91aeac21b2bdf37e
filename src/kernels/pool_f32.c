// pool_f32.c - the largest element, or the mean, under a window: 16 pixels of a row of the output at a
// time, with the geometry of convolutions.

// Whether a pixel is inside the image depends on the place of the kernel: outside it is as nothing.
INL f32v pool_step(const HoloPool *p, f32v sum, f32v seen, const Piece *piece)
{
    if (!p->is_max) return v_add(sum, seen); // lanes outside are 0
    bool whole = piece->first == 0 && piece->end == LANES;
    return v_top_of(sum, whole ? seen : v_only(seen, piece->first, piece->end, -__builtin_inff()));
}

static void pool_run(const HoloPool *p, const Run *run, int lanes, float *out)
{
    const HoloConvShape *s     = p->shape;
    f32v                 sum   = v_set1(p->is_max ? -__builtin_inff() : 0);
    f32v                 count = v_set1(0); // of places that are inside
    for (int64_t kz = 0; kz < s->kernel[0]; kz++)
        for (int64_t ky = 0; ky < s->kernel[1]; ky++)
            for (int64_t kx = 0; kx < s->kernel[2]; kx++) {
                Piece piece;
                if (!piece_of(s, run, kz, ky, kx, &piece)) continue;
                f32v seen = v_load_strided(p->image + piece.offset, s->stride[2], piece.first, piece.end);
                sum       = pool_step(p, sum, seen, &piece);
                if (!p->is_max && !p->divisor) count = v_add(count, v_only(v_set1(1), piece.first, piece.end, 0));
            }
    if (!p->is_max) sum = v_div(sum, p->divisor ? v_set1((float)p->divisor) : count);
    if (lanes == LANES)
        v_store(out, sum);
    else
        v_store_part(out, sum, lanes);
}

static void pool_f32(const HoloPool *p, int64_t first, int64_t end)
{
    const HoloConvShape *s = p->shape;
    for (int64_t row = first; row < end; row++)
        for (int64_t x = 0; x < s->out[2]; x += LANES) {
            int lanes = lanes_left(x, s->out[2]);
            Run run   = run_at(s, row, x, 0, lanes);
            pool_run(p, &run, lanes, p->out + row * s->out[2] + x);
        }
}
