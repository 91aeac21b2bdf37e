// depthwise_f32.c - depthwise filters applied directly.
//
// The part of the image that a filter sees is copied, with its padding, into phases: one for each position of a pixel
// within a stride. In a phase, all pixels that one place of the kernel sees lie in a row, and the rows follow each
// other. So sums are computed 16 pixels at a time, without a check for edges.

// Columns 0 <= c < count of one phase of a row: the element at c * stride - pad, or 0 where that is outside.
static void phase_row(const float *row, int64_t width, int64_t pad, int64_t stride, int64_t count, float *out)
{
    int64_t first = pad > 0 ? (pad + stride - 1) / stride : 0,
            end   = width + pad > 0 ? (width + pad - 1) / stride + 1 : 0;
    if (first > count) first = count;
    if (end > count) end = count;
    if (end < first) end = first;
    int64_t c = 0;
    for (; c < first; c++) out[c] = 0;
    for (; c < end; c += lanes_left(c, end)) {
        int  lanes = lanes_left(c, end);
        f32v v     = v_load_strided(row + c * stride - pad, stride, 0, lanes);
        if (lanes == LANES)
            v_store(out + c, v);
        else
            v_store_part(out + c, v, lanes);
    }
    for (; c < count; c++) out[c] = 0;
}

// The parts of the image that the output rows from `row` on, of depth z, see, in phases.
static void phases_fill(const HoloDepthwise *d, int64_t z, int64_t row, int64_t lines)
{
    const HoloConvShape *s   = d->shape;
    float               *out = d->phases;
    for (int64_t kz = 0; kz < s->kernel[0]; kz++)
        for (int64_t py = 0; py < s->stride[1]; py++)
            for (int64_t px = 0; px < s->stride[2]; px++, out += d->lines * d->columns)
                for (int64_t line = 0; line < lines; line++) {
                    int64_t      in_z = z * s->stride[0] - s->pad[0] + kz * s->dilation[0];
                    int64_t      in_y = (row + line) * s->stride[1] + py - s->pad[1];
                    bool         in   = in_z >= 0 && in_z < s->in[0] && in_y >= 0 && in_y < s->in[1];
                    const float *from = in ? d->image + (in_z * s->in[1] + in_y) * s->in[2] : d->image;
                    phase_row(from, in ? s->in[2] : -s->pad[2], s->pad[2] - px, s->stride[2], d->columns,
                              out + line * d->columns);
                }
}

// Sums of `count` vectors of pixels from `at` on.
INL void depthwise_sums(const HoloDepthwise *d, int64_t at, int count)
{
    f32v sum[8];
    UNROLL for (int i = 0; i < count; i++) sum[i] = v_set1(0);
    for (int64_t t = 0; t < d->taps; t++) {
        const float *p                                = d->phases + d->offset[t] + at;
        f32v         f                                = v_set1(d->filter[t]);
        UNROLL for (int i = 0; i < count; i++) sum[i] = v_mad(f, v_load(p + i * LANES), sum[i]);
    }
    UNROLL for (int i = 0; i < count; i++) v_store(d->sums + at + i * LANES, v_add(sum[i], v_set1(d->bias)));
}

static void depthwise_f32(const HoloDepthwise *d, int64_t z, int64_t first, int64_t end)
{
    const HoloConvShape *s    = d->shape;
    int64_t              rows = end - first, n = (rows - 1) * d->columns + s->out[2];
    phases_fill(d, z, first, d->lines - (d->rows - rows));
    for (int64_t at = 0, step; at < n; at += step * LANES) {
        int64_t left = (n - at + LANES - 1) / LANES;
        step         = left > 4 ? 8 : left > 2 ? 4 : left;
        if (step == 8)
            depthwise_sums(d, at, 8);
        else if (step == 4)
            depthwise_sums(d, at, 4);
        else if (step == 2)
            depthwise_sums(d, at, 2);
        else
            depthwise_sums(d, at, 1);
    }
    for (int64_t r = 0; r < rows; r++)
        copy_row(d->sums + r * d->columns, s->out[2], d->out + ((z * s->out[1]) + first + r) * s->out[2]);
}
