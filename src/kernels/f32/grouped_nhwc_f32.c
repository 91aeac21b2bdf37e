// grouped_nhwc_f32.c - groups of 2 to 16 channels with as many filters, channels last: 16 filters of several pixels at
// a time.
//
// The filters of 16 lanes see the channels of the same 16 lanes, and each filter those of its own group. For each
// channel of a group, a vector of the image is spread over the group's lanes. Nothing is copied, and padding is never
// multiplied. Pixels and places are visited as in depthwise_nhwc_f32.c. A sum is one chain of v_mad over places and
// channels in order.

// Pixels in one row of the output, and what they see. All distances are in floats.
typedef struct GroupedRun {
    const HoloDepthwiseNhwc *d;
    const float             *image, *filter; // at the first place that is inside, of channel 0
    float                   *out;
    int64_t                  depths, rows, columns;                   // places that are inside
    int64_t                  depth, row, column;                      // from place to place, in the image
    int64_t                  filter_depth, filter_row, filter_column; // and in a panel
    int64_t                  panel, pixel;                            // from panel to panel, and from pixel to pixel
} GroupedRun;

INL void grouped_block(const GroupedRun *r, int64_t channel, int lanes, int width, int pixels)
{
    const HoloDepthwiseNhwc *d = r->d;
    f32v                     sum[GEMM_ROWS][GEMM_WIDE_PANELS];
    UNROLL for (int p = 0; p < pixels; p++) sum[p][0] = v_set1(0);
    for (int64_t kz = 0; kz < r->depths; kz++)
        for (int64_t ky = 0; ky < r->rows; ky++) {
            const float *image  = r->image + channel + kz * r->depth + ky * r->row;
            const float *filter = r->filter + channel / LANES * r->panel + kz * r->filter_depth + ky * r->filter_row;
            for (int64_t kx = 0; kx < r->columns; kx++, image += r->column, filter += r->filter_column) {
                UNROLL for (int c = 0; c < width; c++)
                {
                    f32v w = v_load(filter + c * LANES);
                    UNROLL for (int p = 0; p < pixels; p++)
                    {
                        f32v x    = v_load_spread(image + p * r->pixel, lanes, width, c);
                        sum[p][0] = v_mad(w, x, sum[p][0]);
                    }
                }
            }
        }
    const HoloFinish *finish = d->finish;
    float            *out    = r->out + channel;
    Tile              t      = {
                          .c        = out,
                          .c_row    = d->channels,
                          .d        = d->bias ? d->bias + channel : NULL,
                          .d_column = 1,
                          .alpha    = 1,
                          .beta     = 1,
                          .finish   = finish,
                          .more     = finish && finish->more ? finish->more + (out - d->out) : NULL,
                          .last     = lanes,
    };
    tile_finish(&t, sum, pixels, 1);
}

INL void grouped_channels(const GroupedRun *r, int64_t channel, int64_t end, int width, int pixels)
{
    for (; channel + LANES <= end; channel += LANES) grouped_block(r, channel, LANES, width, pixels);
    if (channel < end) grouped_block(r, channel, (int)(end - channel), width, pixels);
}

#define GROUPED_WIDTHS(X, pixels) X(2, pixels) X(4, pixels) X(8, pixels) X(16, pixels)
#define X(width, pixels)                                                                      \
    static void grouped_##width##x##pixels(const GroupedRun *r, int64_t channel, int64_t end) \
    {                                                                                         \
        grouped_channels(r, channel, end, width, pixels);                                     \
    }
GROUPED_TILES(GROUPED_WIDTHS, X)
#undef X

static void (*const grouped_tiles[GROUPED_PIXELS + 1][LANES + 1])(const GroupedRun *, int64_t, int64_t) = {
#define X(width, pixels) [pixels][width] = grouped_##width##x##pixels,
    GROUPED_TILES(GROUPED_WIDTHS, X)
#undef X
};

// How many pixels from x on are computed at a time: a power of two, such that all places of all these pixels are inside
// from left to right.
INL int grouped_pixels(const HoloConvShape *s, int64_t x)
{
    int64_t reach = s->in[2] - 1 - (s->kernel[2] - 1) * s->dilation[2] + s->pad[2];
    int     count = GROUPED_PIXELS;
    if (x * s->stride[2] < s->pad[2]) return 1;
    while (count > 1 && (x + count > s->out[2] || (x + count - 1) * s->stride[2] > reach)) count /= 2;
    return count;
}

// Points the run at pixel x of a row of the outputs, counted over all images.
INL void grouped_at(GroupedRun *r, int64_t line, int64_t x)
{
    const HoloDepthwiseNhwc *d     = r->d;
    const HoloConvShape     *s     = d->shape;
    int64_t                  at[3] = {line / s->out[1] % s->out[0], line % s->out[1], x}, first[3], end[3], in[3];
    for (int i = 0; i < 3; i++) {
        places_inside(s, i, at[i], &first[i], &end[i]);
        in[i] = at[i] * s->stride[i] - s->pad[i] + first[i] * s->dilation[i];
    }
    r->depths  = end[0] - first[0];
    r->rows    = end[1] - first[1];
    r->columns = end[2] - first[2];
    r->out     = d->out + (line * s->out[2] + x) * d->channels;
    r->image   = d->image;
    r->filter  = d->filter + first[0] * r->filter_depth + first[1] * r->filter_row + first[2] * r->filter_column;
    if (!r->depths || !r->rows || !r->columns) return;
    int64_t image = line / s->out[1] / s->out[0];
    r->image += (((image * s->in[0] + in[0]) * s->in[1] + in[1]) * s->in[2] + in[2]) * d->channels;
}

static void grouped_nhwc_f32(const HoloDepthwiseNhwc *d, int64_t width, int64_t row, int64_t row_end, int64_t channel,
                             int64_t end)
{
    const HoloConvShape *s    = d->shape;
    int64_t              line = s->in[2] * d->channels, place = width * LANES;
    GroupedRun           r = {
                  .d             = d,
                  .depth         = s->dilation[0] * s->in[1] * line,
                  .row           = s->dilation[1] * line,
                  .column        = s->dilation[2] * d->channels,
                  .filter_depth  = s->kernel[1] * s->kernel[2] * place,
                  .filter_row    = s->kernel[2] * place,
                  .filter_column = place,
                  .panel         = s->kernel[0] * s->kernel[1] * s->kernel[2] * place,
                  .pixel         = s->stride[2] * d->channels,
    };
    for (int64_t x = 0, count; x < s->out[2]; x += count) {
        count = grouped_pixels(s, x);
        for (int64_t y = row; y < row_end; y++) {
            grouped_at(&r, y, x);
            grouped_tiles[count][width](&r, channel, end);
        }
    }
}
