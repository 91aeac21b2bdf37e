// patch_f32.c - patches of an image as panels, for convolutions by the matrix product. The zeros of the padding are
// never read from memory: loads take only the lanes that are inside.

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

// The lanes of a run that are inside the image at one place of the kernel: lane l is at offset + l * stride.
typedef struct Piece {
    int64_t offset;
    int     first, end;
} Piece;

// False: none is inside.
INL bool piece_of(const HoloConvShape *s, const Run *run, int64_t kz, int64_t ky, int64_t kx, Piece *out)
{
    int64_t z = run->z + kz * s->dilation[0], y = run->y + ky * s->dilation[1], x = run->x + kx * s->dilation[2];
    if (z < 0 || z >= s->in[0] || y < 0 || y >= s->in[1]) return false;
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
    *out = (Piece){.offset = (z * s->in[1] + y) * s->in[2] + x, .first = first, .end = end};
    return first < end;
}

// The runs of the up to 16 pixels from `pixel` on; a row may be as short as one pixel.
INL int runs_of(const HoloConvShape *s, int64_t pixel, int64_t end, Run runs[LANES])
{
    int     count = 0, lane = 0;
    int64_t row = pixel / s->out[2], x = pixel % s->out[2];
    while (lane < LANES && pixel + lane < end) {
        int64_t most  = s->out[2] - x < end - pixel - lane ? s->out[2] - x : end - pixel - lane;
        int     next  = most < LANES - lane ? lane + (int)most : LANES;
        runs[count++] = run_at(s, row++, x, lane, next);
        lane          = next;
        x             = 0;
    }
    return count;
}

// Where the pixels of one panel see the image, for some places of the kernel: the same in every channel.
enum { PLACES = 32 };
typedef struct Places {
    int   count[PLACES];
    Piece piece[PLACES][LANES];
} Places;

INL void places_init(const HoloConvShape *s, const Run *runs, int run_count, int64_t first, int count, Places *out)
{
    for (int i = 0; i < count; i++) {
        int64_t place = first + i, kx = place % s->kernel[2], ky = place / s->kernel[2] % s->kernel[1];
        int64_t kz    = place / s->kernel[2] / s->kernel[1];
        out->count[i] = 0;
        for (int r = 0; r < run_count; r++)
            out->count[i] += piece_of(s, &runs[r], kz, ky, kx, &out->piece[i][out->count[i]]);
    }
}

INL f32v place_load(const Places *p, int place, const float *image, int64_t stride)
{
    f32v v = v_set1(0);
    for (int i = 0; i < p->count[place]; i++) {
        const Piece *piece = &p->piece[place][i];
        f32v         part  = v_load_strided(image + piece->offset, stride, piece->first, piece->end);
        v                  = i ? v_or(v, part) : part;
    }
    return v;
}

// One panel: rows k_first <= k < k_end of it, for `count` places of the kernel in every channel.
static void patch_panel(const HoloPatch *p, const Places *places, int64_t first, int count, float *out)
{
    const HoloConvShape *s     = p->shape;
    int64_t              plane = s->in[0] * s->in[1] * s->in[2], filter = s->kernel[0] * s->kernel[1] * s->kernel[2];
    for (int64_t channel = p->k_first / filter; channel * filter < p->k_end; channel++) {
        const float *image = p->image + channel * plane;
        int64_t      k     = channel * filter + first;
        int          from  = k < p->k_first ? (int)(p->k_first - k < count ? p->k_first - k : count) : 0;
        int          to    = p->k_end - k < count ? (int)(p->k_end - k) : count;
        for (int i = from; i < to; i++)
            v_store(out + (k + i - p->k_first) * LANES, place_load(places, i, image, s->stride[2]));
    }
}

void SHARED(patch_f32)(const HoloPatch *p, float *out)
{
    const HoloConvShape *s      = p->shape;
    int64_t              filter = s->kernel[0] * s->kernel[1] * s->kernel[2];
    for (int64_t pixel = p->first; pixel < p->end; pixel += LANES, out += (p->k_end - p->k_first) * LANES) {
        Run    runs[LANES];
        int    run_count = runs_of(s, pixel, p->end, runs);
        Places places;
        for (int64_t first = 0; first < filter; first += PLACES) {
            int count = filter - first < PLACES ? (int)(filter - first) : PLACES;
            places_init(s, runs, run_count, first, count, &places);
            patch_panel(p, &places, first, count, out);
        }
    }
}
