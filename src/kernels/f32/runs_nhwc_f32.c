// runs_nhwc_f32.c - convolutions that read the images where they lie, channels last: what one row of the kernel sees
// for a pixel is one run of numbers.
//
// direct_nhwc_f32 is for few channels: it multiplies 16 filters at a time by each number of the runs of several pixels.
// few_nhwc_f32 is for few filters: it takes 16 numbers of a run at a time and sums the lanes at the end. Pixels at the
// edges are computed one by one, with the part of the run that is inside. A sum is one chain of v_mad (in few_nhwc_f32
// one for each lane, then always the same tree), however pixels are grouped.

// What a row of the output sees: the places of the kernel that are inside, from top to bottom.
typedef struct RunsRow {
    const float *image;  // at column 0 of the first row of places
    int64_t      filter; // the number of the first row of places
    int64_t      depths, rows;
    int64_t      depth, row; // from place to place in the image
    int64_t      run;        // floats that a row of places sees for a pixel
    float       *out;
} RunsRow;

INL RunsRow runs_row(const HoloRunsNhwc *h, int64_t row)
{
    const HoloConvShape *s = h->shape;
    int64_t              y = row % s->out[1], z = row / s->out[1] % s->out[0], image = row / s->out[1] / s->out[0];
    int64_t              kz, ky, depths, rows, line = s->in[2] * h->channels;
    places_inside(s, 0, z, &kz, &depths);
    places_inside(s, 1, y, &ky, &rows);
    RunsRow r = {
        .image  = h->image,
        .filter = kz * s->kernel[1] + ky,
        .depths = depths - kz,
        .rows   = rows - ky,
        .depth  = s->dilation[0] * s->in[1] * line,
        .row    = s->dilation[1] * line,
        .run    = s->kernel[2] * h->channels,
        .out    = h->out + row * s->out[2] * h->filters,
    };
    if (r.depths <= 0 || r.rows <= 0) {
        r.depths = 0;
        return r;
    }
    int64_t in_z = image * s->in[0] + z * s->stride[0] - s->pad[0] + kz * s->dilation[0];
    int64_t in_y = in_z * s->in[1] + y * s->stride[1] - s->pad[1] + ky * s->dilation[1];
    r.image += in_y * line;
    return r;
}

// The pixels of a row that see the whole run.
typedef struct RunsInside {
    int64_t from, end;
} RunsInside;

INL RunsInside runs_inside(const HoloRunsNhwc *h)
{
    const HoloConvShape *s     = h->shape;
    int64_t              reach = s->in[2] - s->kernel[2] + s->pad[2];
    RunsInside           i     = {s->pad[2] > 0 ? (s->pad[2] + s->stride[2] - 1) / s->stride[2] : 0, 0};
    if (reach >= 0) i.end = reach / s->stride[2] + 1;
    if (i.end > s->out[2]) i.end = s->out[2];
    return i;
}

// The part of the run that is inside for the pixel at x, and how many pixels from x on see the same part: only this
// pixel, unless they see the whole run.
typedef struct RunsSpan {
    int64_t first, end;
    int64_t pixels;
    int64_t at; // where the part begins in the image
} RunsSpan;

INL RunsSpan runs_span(const HoloRunsNhwc *h, const RunsInside *inside, int64_t x)
{
    const HoloConvShape *s     = h->shape;
    int64_t              first = 0, end = s->kernel[2], pixels = inside->end - x;
    if (x < inside->from || x >= inside->end) {
        places_inside(s, 2, x, &first, &end);
        pixels = 1;
    }
    return (RunsSpan){
        .first  = first * h->channels,
        .end    = end * h->channels,
        .pixels = pixels,
        .at     = first == end ? 0 : (x * s->stride[2] - s->pad[2] + first) * h->channels,
    };
}

// ---- few channels

// Whether a second panel of filters is worth its registers.
enum { DIRECT_VECTORS = NATIVE == 64 ? 2 : 1 };

#define EACH_SUM_OF(p, v) UNROLL for (int p = 0; p < pixels; p++) UNROLL for (int v = 0; v < vectors; v++)

INL void direct_block(const HoloRunsNhwc *h, const RunsRow *r, const RunsSpan *span, int64_t filter, int pixels,
                      int vectors, int lanes, float *out)
{
    int64_t      places = h->shape->kernel[0] * h->shape->kernel[1], n = span->end - span->first;
    int64_t      pixel = h->shape->stride[2] * h->channels, panel = places * r->run * LANES;
    const float *w = h->filter + filter / LANES * panel + (r->filter * r->run + span->first) * LANES;
    f32v         sum[DIRECT_PIXELS][DIRECT_VECTORS];
    EACH_SUM_OF(p, v) sum[p][v] = v_set1(0);
    for (int64_t kz = 0; kz < r->depths; kz++)
        for (int64_t ky = 0; ky < r->rows; ky++) {
            const float *x = r->image + kz * r->depth + ky * r->row + span->at;
            const float *f = w + (kz * h->shape->kernel[1] + ky) * r->run * LANES;
            for (int64_t k = 0; k < n; k++) {
                f32v of[DIRECT_VECTORS];
                UNROLL for (int v = 0; v < vectors; v++) of[v] = v_load(f + k * LANES + v * panel);
                EACH_SUM_OF(p, v) sum[p][v]                    = v_mad(v_set1(x[p * pixel + k]), of[v], sum[p][v]);
            }
        }
    if (h->bias) {
        UNROLL for (int v = 0; v < vectors; v++)
        {
            f32v bias = v_load_lanes(h->bias + filter + v * LANES, v + 1 < vectors ? LANES : lanes);
            UNROLL for (int p = 0; p < pixels; p++) sum[p][v] = v_add(sum[p][v], bias);
        }
    }
    EACH_SUM_OF(p, v)
    v_store_lanes(out + p * h->filters + filter + v * LANES, sum[p][v], v + 1 < vectors ? LANES : lanes);
}

INL void direct_pixels(const HoloRunsNhwc *h, const RunsRow *r, const RunsSpan *span, float *out, int pixels)
{
    int64_t o = 0;
    for (; DIRECT_VECTORS > 1 && o + LANES < h->filters; o += DIRECT_VECTORS * LANES)
        direct_block(h, r, span, o, pixels, DIRECT_VECTORS, lanes_left(o + LANES, h->filters), out);
    for (; o < h->filters; o += LANES) direct_block(h, r, span, o, pixels, 1, lanes_left(o, h->filters), out);
}

#define X(pixels)                                                                                          \
    static void direct_##pixels(const HoloRunsNhwc *h, const RunsRow *r, const RunsSpan *span, float *out) \
    {                                                                                                      \
        direct_pixels(h, r, span, out, pixels);                                                            \
    }
DIRECT_TILES(X)
#undef X

static void (*const direct_tiles[])(const HoloRunsNhwc *, const RunsRow *, const RunsSpan *, float *) = {
#define X(pixels) [pixels] = direct_##pixels,
    DIRECT_TILES(X)
#undef X
};

static void direct_nhwc_f32(const HoloRunsNhwc *h, int64_t row, int64_t row_end)
{
    RunsInside inside = runs_inside(h);
    for (; row < row_end; row++) {
        RunsRow r = runs_row(h, row);
        for (int64_t x = 0, count; x < h->shape->out[2]; x += count) {
            RunsSpan span  = runs_span(h, &inside, x);
            int64_t  steps = (span.pixels + DIRECT_PIXELS - 1) / DIRECT_PIXELS;
            count          = (span.pixels + steps - 1) / steps; // groups of even sizes
            direct_tiles[count](h, &r, &span, r.out + x * h->filters);
        }
    }
}

// ---- few filters

enum { FEW_SUMS = NATIVE == 64 ? 16 : 4, FEW_FILTERS = 4 }; // in registers at a time

// The sums of some pixels and of the filters from `filter` on, not yet summed over lanes: rows [pixel][filter] of
// `out`.
INL void few_lanes(const HoloRunsNhwc *h, const RunsRow *r, const RunsSpan *span, int64_t filter, int pixels,
                   int filters, float *out)
{
    int64_t      places = h->shape->kernel[0] * h->shape->kernel[1], line = (r->run + LANES - 1) / LANES * LANES;
    int64_t      pixel = h->shape->stride[2] * h->channels, apart = places * line, n = span->end - span->first;
    const float *w = h->filter + filter * apart + r->filter * line + span->first;
    f32v         sum[FEW_SUMS][FEW_FILTERS];
    for (int p = 0; p < pixels; p++)
        for (int f = 0; f < filters; f++) sum[p][f] = v_set1(0);
    for (int64_t kz = 0; kz < r->depths; kz++)
        for (int64_t ky = 0; ky < r->rows; ky++) {
            const float *x  = r->image + kz * r->depth + ky * r->row + span->at;
            const float *of = w + (kz * h->shape->kernel[1] + ky) * line;
            for (int64_t k = 0; k < n; k += LANES) {
                int  lanes = lanes_left(k, n);
                f32v v[FEW_FILTERS];
                UNROLL for (int f = 0; f < filters; f++) v[f] = v_load_lanes(of + f * apart + k, lanes);
                UNROLL for (int p = 0; p < pixels; p++)
                {
                    f32v seen                                          = v_load_lanes(x + p * pixel + k, lanes);
                    UNROLL for (int f = 0; f < filters; f++) sum[p][f] = v_mad(seen, v[f], sum[p][f]);
                }
            }
        }
    for (int p = 0; p < pixels; p++)
        for (int f = 0; f < filters; f++) v_store(out + (p * filters + f) * LANES, sum[p][f]);
}

// Some pixels that see the same part: first as many at a time as make 16 sums, then fewer, then one by one.
#define FEW(filters)                                                                                                 \
    static void few_##filters(const HoloRunsNhwc *h, const RunsRow *r, const RunsSpan *span, int64_t filter,         \
                              int64_t pixels, float *out)                                                            \
    {                                                                                                                \
        enum { STEP = FEW_SUMS / filters, SOME = STEP < 8 ? 2 : STEP / 4 };                                          \
        RunsSpan at    = *span;                                                                                      \
        int64_t  pixel = h->shape->stride[2] * h->channels, p = 0;                                                   \
        for (; p + STEP <= pixels; p += STEP, at.at += STEP * pixel)                                                 \
            few_lanes(h, r, &at, filter, STEP, filters, out + p * filters * LANES);                                  \
        for (; p + SOME <= pixels; p += SOME, at.at += SOME * pixel)                                                 \
            few_lanes(h, r, &at, filter, SOME, filters, out + p * filters * LANES);                                  \
        for (; p < pixels; p++, at.at += pixel) few_lanes(h, r, &at, filter, 1, filters, out + p * filters * LANES); \
    }
FEW(1)
FEW(2)
FEW(3)
FEW(4)
#undef FEW

// The sums of some pixels, [pixel][filter][lane], and where the pixels are stored.
typedef struct FewHeld {
    float   lanes[LANES * LANES], bias[LANES];
    int64_t filters, pixels;
    float  *out;
} FewHeld;

INL void few_store(const HoloRunsNhwc *h, FewHeld *held)
{
    f32v  sums = v_add(v_sums(held->lanes), v_load(held->bias));
    float each[LANES];
    if (held->filters == h->filters)
        v_store_lanes(held->out, sums, (int)(held->pixels * held->filters));
    else {
        v_store(each, sums);
        for (int64_t p = 0; p < held->pixels; p++)
            for (int64_t f = 0; f < held->filters; f++) held->out[p * h->filters + f] = each[p * held->filters + f];
    }
    held->out += held->pixels * h->filters;
    held->pixels = 0;
}

// Rows of pixels, for a few filters from o on. 16 sums are added up at a time, from pixels at the edges and inside, and
// from as many rows as are needed for 16.
static void few_rows(const HoloRunsNhwc *h, int64_t o, int64_t row, int64_t row_end, FewHeld *held)
{
    static void (*const few[])(const HoloRunsNhwc *, const RunsRow *, const RunsSpan *, int64_t, int64_t, float *) = {
        NULL, few_1, few_2, few_3, few_4,
    };
    int64_t    most = LANES / held->filters, width = h->shape->out[2];
    RunsInside inside = runs_inside(h);
    for (; row < row_end; row++) {
        RunsRow r = runs_row(h, row);
        for (int64_t x = 0, count; x < width; x += count) {
            RunsSpan span = runs_span(h, &inside, x);
            count         = span.pixels < most - held->pixels ? span.pixels : most - held->pixels;
            few[held->filters](h, &r, &span, o, count, held->lanes + held->pixels * held->filters * LANES);
            held->pixels += count;
            if (held->pixels == most) few_store(h, held);
        }
    }
    if (held->pixels) few_store(h, held);
}

static void few_nhwc_f32(const HoloRunsNhwc *h, int64_t row, int64_t row_end)
{
    FewHeld held = {.pixels = 0};
    for (int64_t o = 0; o < h->filters; o += FEW_FILTERS) {
        held.filters = h->filters - o < FEW_FILTERS ? h->filters - o : FEW_FILTERS;
        held.out     = h->out + row * h->shape->out[2] * h->filters + o;
        for (int l = 0; l < LANES; l++) held.bias[l] = h->bias ? h->bias[o + l % held.filters] : 0;
        few_rows(h, o, row, row_end, &held);
    }
}

// ---- spread

static void spread_f32(const HoloSpread *s, const float *x, float *out)
{
    int64_t first = s->first / s->filters * s->channels; // the first channel that is seen
    for (int64_t o = 0; o < s->width; o += LANES) {
        int     lanes        = lanes_left(o, s->width);
        int64_t from         = (s->first + o) / s->filters * s->channels - first;
        int64_t to           = (s->first + o + lanes - 1) / s->filters * s->channels - first + s->channels;
        int32_t index[LANES] = {0};
        for (int l = 0; l < lanes; l++)
            index[l] = (int32_t)((s->first + o + l) / s->filters * s->channels - first - from);
        for (int64_t c = 0; c < s->channels; c++)
            for (int64_t p = 0; p < s->pixels; p++) {
                const float *pixel = x + p * s->pixel + from;
                f32v         v     = v_pick(pixel + c, to - from - c, index);
                v_store_lanes(out + c * s->plane + p * s->width + o, v, lanes);
            }
    }
}
