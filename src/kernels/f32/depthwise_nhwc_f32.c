// depthwise_nhwc_f32.c - a filter for each channel, channels last: one register of channels, for several pixels at a
// time.
//
// The pixels of an output row are computed in groups, whose sums stay in registers. For kernels of the usual widths a
// row of the filter stays in registers too, and each load of the image serves all pixels that see it; for other widths
// each pixel loads what it sees. Places outside the image are left out. A group at an edge checks only the first and
// the last columns that it sees; a group with fewer pixels than usual checks all columns. A sum is one chain of n_mac
// over the places in order, whatever the group.

enum {
    DEPTHWISE_COLUMNS = 7,            // columns of a kernel whose row stays in registers
    DEPTHWISE_MASKS   = NATIVE == 64, // loading part of a register takes no longer than all of it
};

// Pixels in one row of the output, and what they see. All distances are in floats.
typedef struct DepthwiseRun {
    const HoloDepthwiseNhwc *d;
    const float             *filter; // at the first row of places that is inside
    int64_t                  image;  // offset in the image of that row, at the first column that the first pixel sees
    int64_t                  out;
    int64_t                  depths, rows;       // places that are inside
    int64_t                  depth, row, column; // from place to place, in the image
    int64_t                  filter_depth, filter_row, panel;
    int64_t                  pixel;      // from pixel to pixel, in the image
    int64_t                  first, end; // columns that are inside, counted from the column of `image`
    int                      count;      // of pixels
} DepthwiseRun;

// Which columns may be outside. INSIDE: none. EDGE: columns at both ends, fewer than half a row of the kernel. ANY: any
// column, and there may be fewer pixels.
typedef enum DepthwiseCare { DEPTHWISE_INSIDE, DEPTHWISE_EDGE, DEPTHWISE_ANY } DepthwiseCare;

// How a group is computed; known when this is compiled.
typedef struct DepthwiseForm {
    int           columns, stride; // of the kernel, not dilated; 0: any
    int           pixels;
    DepthwiseCare care;
} DepthwiseForm;

// Whether column j, of those that a row of the group sees, must be checked for being inside.
INL bool depthwise_asks(DepthwiseForm f, int j)
{
    int edge = f.columns / 2, end = (f.pixels - 1) * f.stride + f.columns;
    return f.care == DEPTHWISE_ANY || (f.care == DEPTHWISE_EDGE && (j < edge || j >= end - edge));
}

// One row of places: each column of the image is loaded once.
INL void depthwise_row(const DepthwiseRun *r, f32n sum[DEPTHWISE_PIXELS], int64_t at, const float *filter,
                       DepthwiseForm f, int lanes)
{
    const float *image  = r->d->image;
    int64_t      column = r->column;
    f32n         w[DEPTHWISE_COLUMNS];
    UNROLL for (int k = 0; k < f.columns; k++) w[k] = *(const f32u *)(filter + k * LANES);
    UNROLL_MANY for (int j = 0; j < (f.pixels - 1) * f.stride + f.columns; j++, at += column)
    {
        FORGET(at);
        if (depthwise_asks(f, j) && (j < r->first || j >= r->end)) continue;
        f32n x = n_load_lanes(image + at, lanes);
        FORGET_VECTOR(x);
        UNROLL for (int k = 0; k < f.columns; k++)
        {
            int p = (j - k) / f.stride;
            if (j >= k && (j - k) % f.stride == 0 && p < f.pixels) sum[p] = n_mac(w[k], x, sum[p]);
        }
    }
}

// The same for any kernel: each pixel loads what it sees.
INL void depthwise_row_any(const DepthwiseRun *r, f32n sum[DEPTHWISE_PIXELS], int64_t at, const float *filter,
                           DepthwiseForm f, int lanes)
{
    const HoloConvShape *s     = r->d->shape;
    const float         *image = r->d->image;
    int64_t              pixel = r->pixel, stride = s->stride[2];
    uint64_t             width = (uint64_t)(r->end - r->first);
    for (int64_t k = 0; k < s->kernel[2]; k++, at += r->column) {
        f32n     w      = *(const f32u *)(filter + k * LANES);
        uint64_t i      = (uint64_t)at; // past the image it may be anything
        int64_t  column = k * s->dilation[2] - r->first;
        UNROLL for (int p = 0; p < f.pixels; p++, i += (uint64_t)pixel, column += stride)
        {
            FORGET(i);
            if (f.care && (uint64_t)column >= width) continue;
            sum[p] = n_mac(w, n_load_lanes(image + (int64_t)i, lanes), sum[p]);
        }
    }
}

#define EACH_PIXEL(p) UNROLL for (int p = 0; p < f.pixels; p++) if (f.care != DEPTHWISE_ANY || p < r->count)

// Computes `lanes` channels from `channel` on.
INL void depthwise_block(const DepthwiseRun *r, int64_t channel, DepthwiseForm f, int lanes)
{
    const HoloDepthwiseNhwc *d      = r->d;
    const HoloFinish        *finish = d->finish;
    const float             *filter = r->filter + (channel / LANES * r->panel + channel % LANES);
    const f32n               zero   = {0};
    f32n                     sum[DEPTHWISE_PIXELS];
    UNROLL for (int p = 0; p < f.pixels; p++) sum[p] = zero;
    for (int64_t kz = 0; kz < r->depths; kz++) {
        int64_t      at = r->image + channel + kz * r->depth;
        const float *w  = filter + kz * r->filter_depth;
        for (int64_t ky = r->rows; ky > 0; ky--, at += r->row, w += r->filter_row)
            if (f.columns)
                depthwise_row(r, sum, at, w, f, lanes);
            else
                depthwise_row_any(r, sum, at, w, f, lanes);
    }
    if (d->bias) {
        f32n bias                                        = n_load_lanes(d->bias + channel, lanes);
        UNROLL for (int p = 0; p < f.pixels; p++) sum[p] = sum[p] + bias;
    }
    float *out = d->out + r->out + channel;
    if (finish) {
        if (finish->more) {
            const float *more    = finish->more + r->out + channel;
            EACH_PIXEL(p) sum[p] = sum[p] + n_load_lanes(more + p * d->channels, lanes);
        }
        if (finish->has_low) UNROLL for (int p = 0; p < f.pixels; p++) sum[p] = n_max(zero + finish->low, sum[p]);
        if (finish->has_high) UNROLL for (int p = 0; p < f.pixels; p++) sum[p] = n_min(zero + finish->high, sum[p]);
    }
    EACH_PIXEL(p) n_store_lanes(out + p * d->channels, sum[p], lanes);
}

// The last channels, when they do not fill a register.
static void depthwise_rest(const DepthwiseRun *r, int64_t channel, int64_t end)
{
    depthwise_block(r, channel, (DepthwiseForm){0, 0, DEPTHWISE_PIXELS, DEPTHWISE_ANY}, (int)(end - channel));
}

INL void depthwise_channels(const DepthwiseRun *r, int64_t channel, int64_t end, DepthwiseForm f)
{
    bool all = f.care == DEPTHWISE_ANY;
    if (all && DEPTHWISE_MASKS)
        for (; channel < end; channel += LANES) depthwise_block(r, channel, f, lanes_left(channel, end));
    for (; channel + NATIVE_LANES <= end; channel += NATIVE_LANES) depthwise_block(r, channel, f, NATIVE_LANES);
    if (all && channel < end) depthwise_rest(r, channel, end);
}

#define DEPTHWISE_FORMS(X)                    X(3, 1) X(3, 2) X(5, 1) X(5, 2) X(7, 1) X(0, 0)
#define DEPTHWISE_NAME(columns, stride, name) depthwise_##columns##x##stride##_##name
#define DEPTHWISE_FUNCTION(columns, stride, name, pixels, care)                                            \
    static void DEPTHWISE_NAME(columns, stride, name)(const DepthwiseRun *r, int64_t channel, int64_t end) \
    {                                                                                                      \
        depthwise_channels(r, channel, end, (DepthwiseForm){columns, stride, pixels, care});               \
    }
#define X(columns, stride)                                                                   \
    DEPTHWISE_FUNCTION(columns, stride, inside, DEPTHWISE_PIXELS, DEPTHWISE_INSIDE)          \
    DEPTHWISE_FUNCTION(columns, stride, edge, DEPTHWISE_PIXELS, DEPTHWISE_EDGE)              \
    DEPTHWISE_FUNCTION(columns, stride, any, DEPTHWISE_PIXELS, DEPTHWISE_ANY)                \
    DEPTHWISE_FUNCTION(columns, stride, half_inside, DEPTHWISE_PIXELS / 2, DEPTHWISE_INSIDE) \
    DEPTHWISE_FUNCTION(columns, stride, half_edge, DEPTHWISE_PIXELS / 2, DEPTHWISE_EDGE)     \
    DEPTHWISE_FUNCTION(columns, stride, half_any, DEPTHWISE_PIXELS / 2, DEPTHWISE_ANY)
DEPTHWISE_FORMS(X)
#undef X

typedef struct DepthwiseWay {
    int columns, stride;
    void (*run[2][3])(const DepthwiseRun *, int64_t, int64_t); // for all pixels and for half as many, by care
} DepthwiseWay;

static const DepthwiseWay depthwise_ways[] = {
#define X(columns, stride)                                                                       \
    {columns,                                                                                    \
     stride,                                                                                     \
     {{DEPTHWISE_NAME(columns, stride, inside), DEPTHWISE_NAME(columns, stride, edge),           \
       DEPTHWISE_NAME(columns, stride, any)},                                                    \
      {DEPTHWISE_NAME(columns, stride, half_inside), DEPTHWISE_NAME(columns, stride, half_edge), \
       DEPTHWISE_NAME(columns, stride, half_any)}}},
    DEPTHWISE_FORMS(X)
#undef X
};

INL const DepthwiseWay *depthwise_way(const HoloConvShape *s)
{
    const DepthwiseWay *way = depthwise_ways;
    while (way->columns && (s->dilation[2] != 1 || s->kernel[2] != way->columns || s->stride[2] != way->stride)) way++;
    return way;
}

// What a row of the output sees of the images from top to bottom, and its first pixel from left to right.
INL void depthwise_line(DepthwiseRun *r, int64_t line)
{
    const HoloDepthwiseNhwc *d     = r->d;
    const HoloConvShape     *s     = d->shape;
    int64_t                  image = line / s->out[1] / s->out[0], z = line / s->out[1] % s->out[0], kz, ky;
    int64_t                  y = line % s->out[1];
    places_inside(s, 0, z, &kz, &r->depths);
    places_inside(s, 1, y, &ky, &r->rows);
    r->depths -= kz;
    r->rows -= ky;
    r->filter = d->filter + kz * r->filter_depth + ky * r->filter_row;
    r->out    = line * s->out[2] * d->channels;
    r->image  = 0;
    r->first  = s->pad[2];
    r->end    = s->pad[2] + s->in[2];
    if (!r->depths || !r->rows) return;
    int64_t in_z = image * s->in[0] + z * s->stride[0] - s->pad[0] + kz * s->dilation[0];
    int64_t in_y = in_z * s->in[1] + y * s->stride[1] - s->pad[1] + ky * s->dilation[1];
    r->image     = (in_y * s->in[2] - s->pad[2]) * d->channels;
}

// Computes one group of the `left` remaining pixels of a row.
INL void depthwise_group(DepthwiseRun *r, const DepthwiseWay *way, int64_t left, int64_t channel, int64_t end)
{
    const HoloDepthwiseNhwc *d       = r->d;
    const HoloConvShape     *s       = d->shape;
    bool                     is_half = left <= DEPTHWISE_PIXELS / 2;
    int64_t                  pixels = is_half ? DEPTHWISE_PIXELS / 2 : DEPTHWISE_PIXELS, edge = way->columns / 2;
    int64_t                  last  = (pixels - 1) * s->stride[2] + (s->kernel[2] - 1) * s->dilation[2];
    DepthwiseCare            care  = DEPTHWISE_ANY;
    int64_t                  whole = channel;
    r->count                       = (int)(left < pixels ? left : pixels);
    if (left >= pixels && r->first <= edge && last - edge < r->end)
        care = r->first <= 0 && last < r->end ? DEPTHWISE_INSIDE : DEPTHWISE_EDGE;
    if (care != DEPTHWISE_ANY) {
        whole += (end - channel) / NATIVE_LANES * NATIVE_LANES;
        way->run[is_half][care](r, channel, whole);
    }
    if (whole < end) way->run[is_half][DEPTHWISE_ANY](r, whole, end);
    if (d->finish && d->finish->has_slope)
        swish_rows(d->finish->slope, r->count, end - channel, d->out + r->out + channel, d->channels);
    r->image += r->count * r->pixel;
    r->out += r->count * d->channels;
    r->first -= r->count * s->stride[2];
    r->end -= r->count * s->stride[2];
}

static void depthwise_nhwc_f32(const HoloDepthwiseNhwc *d, int64_t row, int64_t row_end, int64_t channel, int64_t end)
{
    const HoloConvShape *s    = d->shape;
    const DepthwiseWay  *way  = depthwise_way(s);
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
    for (; row < row_end; row++) {
        depthwise_line(&r, row);
        for (int64_t x = 0; x < s->out[2]; x += r.count) depthwise_group(&r, way, s->out[2] - x, channel, end);
    }
}
