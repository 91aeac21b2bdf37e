// depthwise_i8.c - quantized convolution with a filter for each channel, channels last: exact sums, requantized at
// once.
//
// Several rows of places are taken together, as many as a product has terms: quads of bytes where the CPU multiplies
// quads, pairs of 16-bit numbers elsewhere. Everything that a run of pixels of one output row sees is first laid out in
// this form, column by column, 16 channels wide, with the zero point where there is no image. The sum of a pixel is
// then one product for each column of the kernel. The image is unsigned, or as QUADS_FLIP says, and filters are signed.
// The terms of the image's zero point are part of a sum's start. Where a filter's zero point is not 0, a second sum,
// over what the pixel sees, gives its terms.

enum { DW_RUN = HOLO_DEPTHWISE_I8_RUN, DW_PIXELS = 8 / REGISTERS };

// Rows of places in one product, and the bits of one term.
#define DW_TERMS(quads) ((quads) ? 4 : 2)
#define DW_BITS(quads)  ((quads) ? 8 : 16)

typedef struct DwBlock { // 16 channels of an image, and how they are computed
    const HoloDepthwiseI8 *d;
    int64_t                channel;
    int                    lanes;
    int64_t                vectors;               // products of a column of the kernel
    int64_t                columns;               // room for columns of a run
    int32_t               *weights, *ones, *seen; // [vectors][kernel width][16], [vectors][16], [vectors][columns][16]
    i32v                   start, zero;           // zero: of the filters, to be subtracted; start: all other terms
    Steps                  steps;
    bool                   has_zero;
} DwBlock;

INL i32v i_set1(int32_t x)
{
    i32v v;
    EACH(r) v.r[r] = (i32n){0} + x;
    return v;
}

INL i32v dw_dot(i32v sum, i32v x, i32v w, bool quads)
{
    EACH(r) sum.r[r] = quads ? n_quads(sum.r[r], x.r[r], w.r[r]) : n_pairs(sum.r[r], x.r[r], w.r[r]);
    return sum;
}

// Lays out the filters of the block as products take them; returns the sum of each channel's filter.
INL i32v dw_weights(const DwBlock *b, bool quads)
{
    const HoloConvShape *s      = b->d->shape;
    int64_t              height = s->kernel[1], width = s->kernel[2];
    const float         *filter = b->d->filter + b->channel * height * width;
    int32_t              less = b->d->w_signed ? 0 : 128, mask = quads ? 0xFF : 0xFFFF;
    i32v                 total = i_set1(0);
    for (int64_t v = 0; v < b->vectors; v++) {
        int32_t ones = 0;
        for (int i = 0; i < DW_TERMS(quads) && v * DW_TERMS(quads) + i < height; i++) ones |= 1 << (i * DW_BITS(quads));
        i_store(b->ones + v * LANES, i_set1(ones));
        for (int64_t x = 0; x < width; x++) {
            i32v packed = i_set1(0);
            for (int i = 0; i < DW_TERMS(quads) && v * DW_TERMS(quads) + i < height; i++) {
                f32v w = v_load(filter + ((v * DW_TERMS(quads) + i) * width + x) * LANES);
                EACH(r)
                {
                    i32n whole  = __builtin_convertvector(w.r[r], i32n) - less;
                    total.r[r]  = total.r[r] + whole;
                    packed.r[r] = packed.r[r] | (whole & mask) << (i * DW_BITS(quads));
                }
            }
            i_store(b->weights + (v * width + x) * LANES, packed);
        }
    }
    return total;
}

// Fills in the rest of `b`, whose place and sizes are set.
INL void dw_block(DwBlock *b, bool quads)
{
    const HoloDepthwiseI8 *d      = b->d;
    int32_t                places = (int32_t)(d->shape->kernel[1] * d->shape->kernel[2]);
    int32_t                flip = quads && QUADS_FLIP ? 128 : 0, zero = d->zero + (d->is_signed ? 128 : 0) - flip;
    i32v                   total = dw_weights(b, quads), w_zero = i_load(d->w_zero), bias = i_load(d->bias);
    b->has_zero = false;
    EACH(r)
    {
        b->zero.r[r]  = w_zero.r[r] - (d->w_signed ? 0 : 128);
        b->start.r[r] = (i32n)((u32n)bias.r[r] - (u32n)((total.r[r] - b->zero.r[r] * places) * zero));
        b->has_zero   = b->has_zero || n_any(b->zero.r[r] != 0);
    }
    b->steps = steps_of(d->ratio, d->y_zero, d->y_signed);
}

// ---- what pixels see

// One row of places. A row that is outside has a step of 0.
typedef struct DwLine {
    const uint8_t *at;
    int64_t        step;
} DwLine;

INL i32n dw_bytes(DwLine line, int64_t column, int r, int lanes)
{
    return n_load_u8_lanes(line.at + column * line.step + r * NATIVE_LANES, lanes - r * NATIVE_LANES);
}

// The columns that the rows of places of one product see.
INL void dw_columns(const DwBlock *b, const DwLine line[4], int64_t columns, int32_t *out, int lanes, bool quads)
{
    DwLine   a = line[0], c = line[1], e = line[2], g = line[3];
    uint32_t byte = b->d->is_signed != (quads && QUADS_FLIP) ? 0x80 : 0;
    i32n     flip = (i32n){0} + (int32_t)(byte * (quads ? 0x01010101u : 0x00010001u));
    for (int64_t j = 0; j < columns; j++) EACH(r)
        {
            i32n x = dw_bytes(a, j, r, lanes) | dw_bytes(c, j, r, lanes) << DW_BITS(quads);
            if (quads) x = x | dw_bytes(e, j, r, lanes) << 16 | dw_bytes(g, j, r, lanes) << 24;
            *(i32u *)(out + j * LANES + r * NATIVE_LANES) = (i32u)(x ^ flip);
        }
}

// Lays out what `count` pixels from x on, in row y, see.
INL void dw_see(const DwBlock *b, int64_t y, int64_t x, int64_t count, bool quads)
{
    const HoloDepthwiseI8 *d  = b->d;
    const HoloConvShape   *s  = d->shape;
    int64_t                at = x * s->stride[2] - s->pad[2], columns = (count - 1) * s->stride[2] + 1;
    uint8_t                outside[LANES];
    columns += (s->kernel[2] - 1) * s->dilation[2];
    int64_t first = at < 0 ? -at : 0, end = s->in[2] - at;
    first = first < columns ? first : columns;
    end   = end < columns ? end : columns;
    end   = end > first ? end : first;
    for (int l = 0; l < LANES; l++) outside[l] = (uint8_t)d->zero;
    const DwLine none = {.at = outside};
    for (int64_t v = 0; v < b->vectors; v++) {
        DwLine   nothing[4] = {none, none, none, none}, line[4] = {none, none, none, none};
        int32_t *out = b->seen + v * b->columns * LANES;
        for (int i = 0; i < DW_TERMS(quads); i++) {
            int64_t ky = v * DW_TERMS(quads) + i, iy = y * s->stride[1] - s->pad[1] + ky * s->dilation[1];
            if (ky >= s->kernel[1] || iy < 0 || iy >= s->in[1] || first == end) continue;
            line[i].at   = d->image + (iy * s->in[2] + at + first) * d->channels + b->channel;
            line[i].step = d->channels;
        }
        dw_columns(b, nothing, first, out, LANES, quads);
        if (b->lanes == LANES)
            dw_columns(b, line, end - first, out + first * LANES, LANES, quads);
        else
            dw_columns(b, line, end - first, out + first * LANES, b->lanes, quads);
        dw_columns(b, nothing, columns - end, out + end * LANES, LANES, quads);
    }
}

// ---- pixels

INL void dw_pixels(const DwBlock *b, int64_t pixel, int pixels, bool has_zero, uint8_t *out, bool quads)
{
    const HoloConvShape *s = b->d->shape;
    i32v                 sum[DW_PIXELS], saw[DW_PIXELS];
    int64_t              next                      = s->stride[2] * LANES;
    UNROLL for (int p = 0; p < pixels; p++) sum[p] = b->start, saw[p] = i_set1(0);
    for (int64_t v = 0; v < b->vectors; v++) {
        const int32_t *w    = b->weights + v * s->kernel[2] * LANES,
                      *seen = b->seen + (v * b->columns) * LANES + pixel * next;
        i32v ones           = i_load(b->ones + v * LANES);
        for (int64_t k = 0; k < s->kernel[2]; k++, w += LANES, seen += s->dilation[2] * LANES) {
            i32v weight = i_load(w);
            UNROLL for (int p = 0; p < pixels; p++)
            {
                i32v x = i_load(seen + p * next);
                sum[p] = dw_dot(sum[p], x, weight, quads);
                if (has_zero) saw[p] = dw_dot(saw[p], x, ones, quads);
            }
        }
    }
    const Steps   steps    = b->steps;
    const int64_t channels = b->d->channels;
    const int     lanes    = b->lanes;
    const bool    plain    = steps.sure && lanes == LANES;
    UNROLL for (int p = 0; p < pixels; p++)
    {
        if (has_zero) EACH(r) sum[p].r[r] = (i32n)((u32n)sum[p].r[r] - (u32n)(saw[p].r[r] * b->zero.r[r]));
        if (plain)
            requantize_store(sum[p], steps, true, out + p * channels, LANES);
        else
            requantize_store(sum[p], steps, false, out + p * channels, lanes);
    }
}

INL void dw_run(const DwBlock *b, int64_t count, bool has_zero, uint8_t *out, bool quads)
{
    int64_t p = 0;
    for (; p + DW_PIXELS <= count; p += DW_PIXELS)
        dw_pixels(b, p, DW_PIXELS, has_zero, out + p * b->d->channels, quads);
    for (; p < count; p++) dw_pixels(b, p, 1, has_zero, out + p * b->d->channels, quads);
}

INL void dw_rows(const HoloDepthwiseI8 *d, int64_t row, int64_t row_end, int64_t channel, bool quads)
{
    const HoloConvShape *s = d->shape;
    DwBlock              b = {
                     .d = d, .channel = channel, .lanes = lanes_left(channel, d->channels), .columns = holo_depthwise_i8_columns(s)};
    b.vectors = (s->kernel[1] + DW_TERMS(quads) - 1) / DW_TERMS(quads);
    b.weights = d->scratch;
    b.ones    = b.weights + b.vectors * s->kernel[2] * LANES;
    b.seen    = b.ones + b.vectors * LANES;
    dw_block(&b, quads);
    for (int64_t y = row; y < row_end; y++)
        for (int64_t x = 0; x < s->out[2]; x += DW_RUN) {
            int64_t  count = s->out[2] - x < DW_RUN ? s->out[2] - x : DW_RUN;
            uint8_t *out   = d->out + (y * s->out[2] + x) * d->channels + channel;
            dw_see(&b, y, x, count, quads);
            if (b.has_zero)
                dw_run(&b, count, true, out, quads);
            else
                dw_run(&b, count, false, out, quads);
        }
}

void SHARED(depthwise_i8)(const HoloDepthwiseI8 *d, int64_t row, int64_t row_end, int64_t channel)
{
    dw_rows(d, row, row_end, channel, false);
}
