// conv_f32.c - what f32 convolutions need beside the matrix product: patches of the image as panels,
// and depthwise filters applied directly, 16 pixels of a row at a time.
//
// Padding is made of zeros that are never in memory: loads take only the lanes that are inside.

// A run of output pixels in one row: where its pixel of lane 0 would see the image, at place 0 of the
// kernel. Lanes first <= l < end of a vector are in the run.
typedef struct Run {
    int64_t z, y, x; // in the image, perhaps outside
    int     first, end;
} Run;

INL Run run_at(const HoloConvShape *s, int64_t row, int64_t x, int first, int end)
{
    int64_t z = row / s->out[1], y = row % s->out[1];
    return (Run){
        .z     = z * s->stride[0] - s->pad[0],
        .y     = y * s->stride[1] - s->pad[1],
        .x     = (x - first) * s->stride[2] - s->pad[2],
        .first = first,
        .end   = end,
    };
}

// What the lanes of a run see at one place of the kernel; 0 in all other lanes.
INL f32v run_load(const HoloConvShape *s, const float *image, const Run *run, int64_t kz, int64_t ky, int64_t kx)
{
    int64_t z = run->z + kz * s->dilation[0], y = run->y + ky * s->dilation[1], x = run->x + kx * s->dilation[2];
    if (z < 0 || z >= s->in[0] || y < 0 || y >= s->in[1]) return v_set1(0);
    int64_t stride = s->stride[2];
    int     first = run->first, end = run->end;
    if (x + first * stride < 0) { // lanes left of the image: -x / stride, rounded up
        int64_t skip = (stride - 1 - x) / stride;
        first        = skip < end ? (int)skip : end;
    }
    if (x + (end - 1) * stride >= s->in[2]) { // lanes right of the image
        int64_t keep = s->in[2] > x ? (s->in[2] - x + stride - 1) / stride : 0;
        end          = keep > first ? (int)keep : first;
    }
    if (first >= end) return v_set1(0);
    return v_load_strided(image + (z * s->in[1] + y) * s->in[2] + x, stride, first, end);
}

// The runs of the up to 16 pixels from `pixel` on; a row may be as short as one pixel.
INL int runs_of(const HoloConvShape *s, int64_t pixel, int64_t end, Run runs[LANES])
{
    int     count = 0, lane = 0;
    int64_t row = pixel / s->out[2], x = pixel % s->out[2];
    while (lane < LANES && pixel + lane < end) {
        int64_t most = s->out[2] - x < end - pixel - lane ? s->out[2] - x : end - pixel - lane;
        int     next = most < LANES - lane ? lane + (int)most : LANES;
        runs[count++] = run_at(s, row++, x, lane, next);
        lane          = next;
        x             = 0;
    }
    return count;
}

static void patch_f32(const HoloPatch *p, float *out)
{
    const HoloConvShape *s     = p->shape;
    int64_t              plane = s->in[0] * s->in[1] * s->in[2];
    for (int64_t pixel = p->first; pixel < p->end; pixel += LANES) {
        Run     runs[LANES];
        int     count = runs_of(s, pixel, p->end, runs);
        int64_t k     = p->k_first;
        int64_t kx = k % s->kernel[2], ky = k / s->kernel[2] % s->kernel[1];
        int64_t kz = k / s->kernel[2] / s->kernel[1] % s->kernel[0];
        const float *image = p->image + k / s->kernel[2] / s->kernel[1] / s->kernel[0] * plane;
        for (; k < p->k_end; k++, out += LANES) {
            f32v v = run_load(s, image, &runs[0], kz, ky, kx);
            for (int r = 1; r < count; r++) v = v_or(v, run_load(s, image, &runs[r], kz, ky, kx));
            v_store(out, v);
            if (++kx < s->kernel[2]) continue;
            kx = 0;
            if (++ky < s->kernel[1]) continue;
            ky = 0;
            if (++kz < s->kernel[0]) continue;
            kz = 0;
            image += plane;
        }
    }
}

// Does the kernel, at every place, lie inside the image for `lanes` pixels from the run's first on?
INL bool run_is_inside(const HoloConvShape *s, const Run *run, int64_t lanes)
{
    const int64_t first[] = {run->z, run->y, run->x}, more[] = {0, 0, (lanes - 1) * s->stride[2]};
    for (int d = 0; d < 3; d++)
        if (first[d] < 0 || first[d] + more[d] + (s->kernel[d] - 1) * s->dilation[d] >= s->in[d]) return false;
    return true;
}

// The sums of `count` vectors of pixels that are inside for every place of the kernel.
INL void depthwise_inside(const HoloDepthwise *d, const Run *run, int64_t stride, int count, float *out)
{
    const HoloConvShape *s      = d->shape;
    const float         *filter = d->filter;
    f32v                 sum[4];
    UNROLL for (int i = 0; i < count; i++) sum[i] = v_set1(0);
    for (int64_t kz = 0; kz < s->kernel[0]; kz++)
        for (int64_t ky = 0; ky < s->kernel[1]; ky++) {
            int64_t      row = (run->z + kz * s->dilation[0]) * s->in[1] + run->y + ky * s->dilation[1];
            const float *p   = d->image + row * s->in[2] + run->x;
            for (int64_t kx = 0; kx < s->kernel[2]; kx++, p += s->dilation[2], filter++)
                UNROLL for (int i = 0; i < count; i++)
                    sum[i] = v_mad(v_set1(*filter), v_load_strided(p + i * LANES * stride, stride, 0, LANES), sum[i]);
        }
    UNROLL for (int i = 0; i < count; i++) v_store(out + i * LANES, v_add(sum[i], v_set1(d->bias)));
}

static void depthwise_at_edge(const HoloDepthwise *d, const Run *run, int lanes, float *out)
{
    const HoloConvShape *s      = d->shape;
    const float         *filter = d->filter;
    f32v                 sum    = v_set1(0);
    for (int64_t kz = 0; kz < s->kernel[0]; kz++)
        for (int64_t ky = 0; ky < s->kernel[1]; ky++)
            for (int64_t kx = 0; kx < s->kernel[2]; kx++)
                sum = v_mad(v_set1(*filter++), run_load(s, d->image, run, kz, ky, kx), sum);
    sum = v_add(sum, v_set1(d->bias));
    if (lanes == LANES)
        v_store(out, sum);
    else
        v_store_part(out, sum, lanes);
}

static void depthwise_f32(const HoloDepthwise *d, int64_t first, int64_t end)
{
    const HoloConvShape *s      = d->shape;
    int64_t              stride = s->stride[2];
    for (int64_t row = first; row < end; row++)
        for (int64_t x = 0, next; x < s->out[2]; x = next) {
            int    lanes  = s->out[2] - x < LANES ? (int)(s->out[2] - x) : LANES;
            Run    run    = run_at(s, row, x, 0, lanes);
            float *out    = d->out + row * s->out[2] + x;
            bool   inside = stride <= 2 && lanes == LANES && run_is_inside(s, &run, LANES);
            bool   four   = inside && s->out[2] - x >= 4 * LANES && run_is_inside(s, &run, 4 * LANES);
            next          = x + (four ? 4 * LANES : lanes);
            if (!inside)
                depthwise_at_edge(d, &run, lanes, out);
            else if (stride == 1)
                four ? depthwise_inside(d, &run, 1, 4, out) : depthwise_inside(d, &run, 1, 1, out);
            else
                four ? depthwise_inside(d, &run, 2, 4, out) : depthwise_inside(d, &run, 2, 1, out);
        }
}
