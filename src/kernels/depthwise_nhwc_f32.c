// depthwise_nhwc_f32.c - a filter for each channel, channels last: 16 channels of several pixels at a time.
//
// Pixels whose kernel lies inside the image from left to right go in groups that share each load of the
// filter; those at the edges go one by one, with the places that are inside. A sum is one chain of v_mad
// over the places in order, whatever the group.

// Of element `at` of the output, and those after it.
INL f32v v_finish(const HoloFinish *f, f32v x, int64_t at, int lanes)
{
    if (f->more) x = v_add(x, v_load_lanes(f->more + at, lanes));
    if (f->has_low) x = v_at_least(x, v_set1(f->low));
    return f->has_high ? v_at_most(x, v_set1(f->high)) : x;
}

// A run of pixels in one row of the output, and what it sees. All distances are in floats.
typedef struct DepthwiseRun {
    const HoloDepthwiseNhwc *d;
    const float             *image, *filter; // at the first place that is inside, of pixel and channel 0
    float                   *out;
    int64_t                  depths, rows, columns; // places that are inside
    int64_t                  depth, row, column;    // from place to place, in the image
    int64_t                  filter_depth, filter_row, panel;
    int64_t                  pixel; // from pixel to pixel of the run, in the image
} DepthwiseRun;

// The places of the kernel, along one dimension, that are inside the image for an output at `at`.
INL void places_inside(const HoloConvShape *s, int dim, int64_t at, int64_t *first, int64_t *end)
{
    int64_t start = at * s->stride[dim] - s->pad[dim], step = s->dilation[dim], left = s->in[dim] - start;
    *first = start < 0 ? (step - 1 - start) / step : 0;
    *end   = left <= 0 ? 0 : (left + step - 1) / step;
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

// Channels from `channel` on, `vectors` times 16, the last vector of `lanes`. The usual widths of kernels are
// loops of their own.
INL void depthwise_block(const DepthwiseRun *r, int64_t channel, int pixels, int vectors, int lanes)
{
    const HoloDepthwiseNhwc *d      = r->d;
    const float             *filter = r->filter + channel / LANES * r->panel, *image = r->image + channel;
    f32v                     sum[DEPTHWISE_PIXELS][DEPTHWISE_VECTORS];
    UNROLL for (int p = 0; p < pixels; p++) UNROLL for (int v = 0; v < vectors; v++) sum[p][v] = v_set1(0);
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
    UNROLL for (int p = 0; p < pixels; p++) UNROLL for (int v = 0; v < vectors; v++)
    {
        int64_t at = channel + v * LANES;
        float  *to = r->out + p * d->channels + at;
        if (d->bias) sum[p][v] = v_add(sum[p][v], v_load_lanes(d->bias + at, lanes));
        if (d->finish) sum[p][v] = v_finish(d->finish, sum[p][v], to - d->out, lanes);
        v_store_lanes(to, sum[p][v], lanes);
    }
}

INL void depthwise_pixels(const DepthwiseRun *r, int pixels)
{
    int     vectors  = DEPTHWISE_PIXELS / pixels < DEPTHWISE_VECTORS ? DEPTHWISE_PIXELS / pixels : DEPTHWISE_VECTORS;
    int64_t channels = r->d->channels, c = 0;
    for (; c + vectors * LANES <= channels; c += vectors * LANES) depthwise_block(r, c, pixels, vectors, LANES);
    for (; vectors > 1 && c + LANES <= channels; c += LANES) depthwise_block(r, c, pixels, 1, LANES);
    if (c < channels) depthwise_block(r, c, pixels, 1, (int)(channels - c));
}

#define X(pixels)                                         \
    static void depthwise_##pixels(const DepthwiseRun *r) \
    {                                                     \
        depthwise_pixels(r, pixels);                      \
    }
DEPTHWISE_TILES(X)
#undef X

static void (*const depthwise_tiles[])(const DepthwiseRun *) = {
#define X(pixels) [pixels] = depthwise_##pixels,
    DEPTHWISE_TILES(X)
#undef X
};

// Pixels from <= x < to of a row of the output; r is that row, seen from place 0 and column 0 of the image.
static void depthwise_row(const DepthwiseRun *row, int64_t from, int64_t to)
{
    const HoloDepthwiseNhwc *d = row->d;
    const HoloConvShape     *s = d->shape;
    for (int64_t x = from, next; x < to; x = next) {
        DepthwiseRun r     = *row;
        int          count = 1;
        int64_t      first, end;
        places_inside(s, 2, x, &first, &end);
        if (first == 0 && end == s->kernel[2]) { // as many as lie inside, too, in groups of even sizes
            int64_t reach = s->in[2] - 1 - (s->kernel[2] - 1) * s->dilation[2] + s->pad[2];
            int64_t run   = (reach / s->stride[2] + 1 < to ? reach / s->stride[2] + 1 : to) - x;
            int64_t steps = (run + DEPTHWISE_PIXELS - 1) / DEPTHWISE_PIXELS;
            count         = (int)((run + steps - 1) / steps);
        }
        r.columns = end - first;
        r.filter += first * LANES;
        if (r.columns) r.image += (x * s->stride[2] - s->pad[2]) * d->channels + first * r.column;
        r.out += x * d->channels;
        depthwise_tiles[count](&r);
        next = x + count;
    }
}

static void depthwise_nhwc_f32(const HoloDepthwiseNhwc *d, int64_t first, int64_t end)
{
    const HoloConvShape *s    = d->shape;
    int64_t              line = s->in[2] * d->channels, image = s->in[0] * s->in[1] * line;
    DepthwiseRun         r = {
                .d            = d,
                .depth        = s->dilation[0] * s->in[1] * line,
                .row          = s->dilation[1] * line,
                .column       = s->dilation[2] * d->channels,
                .filter_depth = s->kernel[1] * s->kernel[2] * LANES,
                .filter_row   = s->kernel[2] * LANES,
                .panel        = s->kernel[0] * s->kernel[1] * s->kernel[2] * LANES,
                .pixel        = s->stride[2] * d->channels,
    };
    for (int64_t row = first / s->out[2]; row * s->out[2] < end; row++) {
        int64_t y = row % s->out[1], z = row / s->out[1] % s->out[0], start = row * s->out[2], kz, ky;
        places_inside(s, 0, z, &kz, &r.depths);
        places_inside(s, 1, y, &ky, &r.rows);
        int64_t in_z = z * s->stride[0] - s->pad[0] + kz * s->dilation[0];
        int64_t in_y = y * s->stride[1] - s->pad[1] + ky * s->dilation[1];
        r.depths -= kz;
        r.rows -= ky;
        r.filter = d->filter + kz * r.filter_depth + ky * r.filter_row;
        r.image  = d->image + row / s->out[1] / s->out[0] * image;
        r.out    = d->out + start * d->channels;
        if (r.depths && r.rows) r.image += (in_z * s->in[1] + in_y) * line;
        depthwise_row(&r, first > start ? first - start : 0, end - start < s->out[2] ? end - start : s->out[2]);
    }
}
