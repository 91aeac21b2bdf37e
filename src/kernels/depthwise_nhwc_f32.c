// depthwise_nhwc_f32.c - a filter for each channel, channels last: 16 channels of several pixels at a time.
//
// Pixels whose kernel lies inside the image from left to right go in groups that share each load of the
// filter; those at the edges go one by one, with the places that are inside. A group goes down all rows before
// the next one: what it sees of one row is still in the first cache at the next. A sum is one chain of v_mad
// over the places in order, whatever the group.

// A run of pixels in one row of the output, and what it sees. All distances are in floats.
typedef struct DepthwiseRun {
    const HoloDepthwiseNhwc *d;
    const float             *image, *filter; // at the first place that is inside, of pixel and channel 0
    float                   *out;
    int64_t                  depths, rows, columns; // places that are inside
    int64_t                  first;                 // of columns
    int64_t                  depth, row, column;    // from place to place, in the image
    int64_t                  filter_depth, filter_row, panel;
    int64_t                  pixel; // from pixel to pixel of the run, in the image
} DepthwiseRun;

INL int64_t ceil_steps(int64_t distance, int64_t step)
{
    return step == 1 ? distance : (distance + step - 1) / step;
}

// The places of the kernel, along one dimension, that are inside the image for an output at `at`.
INL void places_inside(const HoloConvShape *s, int dim, int64_t at, int64_t *first, int64_t *end)
{
    int64_t start = at * s->stride[dim] - s->pad[dim], left = s->in[dim] - start;
    *first = start < 0 ? ceil_steps(-start, s->dilation[dim]) : 0;
    *end   = left <= 0 ? 0 : ceil_steps(left, s->dilation[dim]);
    if (*end > s->kernel[dim]) *end = s->kernel[dim];
    if (*first > *end) *first = *end;
}

// One row of places, `columns` of them.
INL void depthwise_places(const DepthwiseRun *r, f32v sum[DEPTHWISE_PIXELS][DEPTHWISE_VECTORS], const float *image,
                          const float *filter, int64_t columns, int pixels, int vectors, int lanes)
{
    UNROLL for (int64_t k = 0; k < columns; k++) UNROLL for (int v = 0; v < vectors; v++)
    {
        f32v w = v_load(filter + k * LANES + v * r->panel);
        UNROLL for (int p = 0; p < pixels; p++)
        {
            const float *x = image + k * r->column + p * r->pixel + v * LANES;
            sum[p][v]      = v_mad(w, v_load_lanes(x, lanes), sum[p][v]);
        }
    }
}

#define EACH_PIXEL(p, v) UNROLL for (int p = 0; p < pixels; p++) UNROLL for (int v = 0; v < vectors; v++)

// Channels from `channel` on, `vectors` times 16, the last vector of `lanes`. The usual width of kernels is a loop
// of its own.
INL void depthwise_block(const DepthwiseRun *r, int64_t channel, int pixels, int vectors, int lanes)
{
    const HoloDepthwiseNhwc *d      = r->d;
    const HoloFinish        *finish = d->finish;
    const float             *filter = r->filter + channel / LANES * r->panel, *image = r->image + channel;
    float                   *out   = r->out + channel;
    int64_t                  pixel = d->channels;
    f32v                     sum[DEPTHWISE_PIXELS][DEPTHWISE_VECTORS];
    EACH_PIXEL(p, v) sum[p][v] = v_set1(0);
    for (int64_t kz = 0; kz < r->depths; kz++)
        for (int64_t ky = 0; ky < r->rows; ky++) {
            const float *from = image + (kz * r->depth + ky * r->row);
            const float *f    = filter + (kz * r->filter_depth + ky * r->filter_row);
            if (r->columns == 3)
                depthwise_places(r, sum, from, f, 3, pixels, vectors, lanes);
            else
                for (int64_t k = 0; k < r->columns; k++)
                    depthwise_places(r, sum, from + k * r->column, f + k * LANES, 1, pixels, vectors, lanes);
        }
    if (d->bias) {
        UNROLL for (int v = 0; v < vectors; v++)
        {
            f32v bias                                         = v_load_lanes(d->bias + channel + v * LANES, lanes);
            UNROLL for (int p = 0; p < pixels; p++) sum[p][v] = v_add(sum[p][v], bias);
        }
    }
    if (finish && finish->more) {
        const float *more          = finish->more + (out - d->out);
        EACH_PIXEL(p, v) sum[p][v] = v_add(sum[p][v], v_load_lanes(more + p * pixel + v * LANES, lanes));
    }
    if (finish && finish->has_slope) EACH_PIXEL(p, v) sum[p][v] = v_swish(sum[p][v], finish->slope);
    if (finish && finish->has_low) EACH_PIXEL(p, v) sum[p][v] = v_at_least(sum[p][v], v_set1(finish->low));
    if (finish && finish->has_high) EACH_PIXEL(p, v) sum[p][v] = v_at_most(sum[p][v], v_set1(finish->high));
    EACH_PIXEL(p, v) v_store_lanes(out + p * pixel + v * LANES, sum[p][v], lanes);
}

INL void depthwise_pixels(const DepthwiseRun *r, int64_t channel, int64_t end, int pixels)
{
    int vectors = DEPTHWISE_PIXELS / pixels < DEPTHWISE_VECTORS ? DEPTHWISE_PIXELS / pixels : DEPTHWISE_VECTORS;
    for (; channel + vectors * LANES <= end; channel += vectors * LANES)
        depthwise_block(r, channel, pixels, vectors, LANES);
    for (; vectors > 1 && channel + LANES <= end; channel += LANES) depthwise_block(r, channel, pixels, 1, LANES);
    if (channel < end) depthwise_block(r, channel, pixels, 1, (int)(end - channel));
}

#define X(pixels)                                                                       \
    static void depthwise_##pixels(const DepthwiseRun *r, int64_t channel, int64_t end) \
    {                                                                                   \
        depthwise_pixels(r, channel, end, pixels);                                      \
    }
DEPTHWISE_TILES(X)
#undef X

static void (*const depthwise_tiles[])(const DepthwiseRun *, int64_t, int64_t) = {
#define X(pixels) [pixels] = depthwise_##pixels,
    DEPTHWISE_TILES(X)
#undef X
};

typedef struct DepthwiseRow { // of the output
    int64_t image, z, y;
} DepthwiseRow;

// Where the pixels at x of a row see the image, from top to bottom.
INL void depthwise_at(DepthwiseRun *r, const DepthwiseRow *row, int64_t x)
{
    const HoloDepthwiseNhwc *d = r->d;
    const HoloConvShape     *s = d->shape;
    int64_t                  kz, ky, line = (row->image * s->out[0] + row->z) * s->out[1] + row->y;
    places_inside(s, 0, row->z, &kz, &r->depths);
    places_inside(s, 1, row->y, &ky, &r->rows);
    r->depths -= kz;
    r->rows -= ky;
    r->filter = d->filter + kz * r->filter_depth + ky * r->filter_row + r->first * LANES;
    r->image  = d->image;
    r->out    = d->out + (line * s->out[2] + x) * d->channels;
    if (!r->depths || !r->rows || !r->columns) return;
    int64_t in_z = row->image * s->in[0] + row->z * s->stride[0] - s->pad[0] + kz * s->dilation[0];
    int64_t in_y = in_z * s->in[1] + row->y * s->stride[1] - s->pad[1] + ky * s->dilation[1];
    int64_t in_x = in_y * s->in[2] + x * s->stride[2] - s->pad[2];
    r->image += in_x * d->channels + r->first * r->column;
}

// How many pixels from x on see the image from left to right with all places of the kernel, at most as many as
// go at a time: in groups of even sizes. 1: not even that at x, perhaps.
INL int depthwise_group(const HoloConvShape *s, int64_t x)
{
    int64_t reach = s->in[2] - 1 - (s->kernel[2] - 1) * s->dilation[2] + s->pad[2], inside = reach / s->stride[2] + 1;
    int64_t run   = (inside < s->out[2] ? inside : s->out[2]) - x,
            steps = (run + DEPTHWISE_PIXELS - 1) / DEPTHWISE_PIXELS;
    return x * s->stride[2] < s->pad[2] || run < 1 ? 1 : (int)((run + steps - 1) / steps);
}

static void depthwise_nhwc_f32(const HoloDepthwiseNhwc *d, int64_t row, int64_t row_end, int64_t channel, int64_t end)
{
    const HoloConvShape *s    = d->shape;
    int64_t              line = s->in[2] * d->channels;
    DepthwiseRun         r    = {
                   .d            = d,
                   .depth        = s->dilation[0] * s->in[1] * line,
                   .row          = s->dilation[1] * line,
                   .column       = s->dilation[2] * d->channels,
                   .filter_depth = s->kernel[1] * s->kernel[2] * LANES,
                   .filter_row   = s->kernel[2] * LANES,
                   .panel        = s->kernel[0] * s->kernel[1] * s->kernel[2] * LANES,
                   .pixel        = s->stride[2] * d->channels,
    };
    for (int64_t x = 0, count; x < s->out[2]; x += count) {
        count = depthwise_group(s, x);
        places_inside(s, 2, x, &r.first, &r.columns);
        r.columns -= r.first;
        DepthwiseRow at = {row / s->out[1] / s->out[0], row / s->out[1] % s->out[0], row % s->out[1]};
        for (int64_t y = row; y < row_end; y++) {
            depthwise_at(&r, &at, x);
            depthwise_tiles[count](&r, channel, end);
            if (++at.y < s->out[1]) continue;
            at.y = 0;
            if (++at.z < s->out[0]) continue;
            at.z = 0;
            at.image++;
        }
    }
}
