// patch_i8.c - what convolutions of 8-bit integers need besides their product: patches of the image as panels for
// gemm_i8, or as rows of bytes. Runs of pixels are those of patch_f32.c.

// Where the 16 pixels of a panel see the image at one place of the kernel: offset -1 is outside.
typedef struct Place8 {
    int64_t offset[LANES];
    bool    is_row; // all 16 lie one behind the other
} Place8;

static void place_find(const HoloConvShape *s, const Run *runs, int run_count, int64_t place, Place8 *out)
{
    int64_t kx = place % s->kernel[2], ky = place / s->kernel[2] % s->kernel[1];
    int64_t kz = place / s->kernel[2] / s->kernel[1];
    for (int l = 0; l < LANES; l++) out->offset[l] = -1;
    for (int r = 0; r < run_count; r++) {
        Piece piece;
        if (!piece_of(s, &runs[r], kz, ky, kx, &piece)) continue;
        for (int l = piece.first; l < piece.end; l++) out->offset[l] = piece.offset + l * s->stride[2];
    }
    out->is_row = out->offset[0] >= 0;
    for (int l = 1; l < LANES; l++) out->is_row = out->is_row && out->offset[l] == out->offset[0] + l;
}

INL u8q place_line(const Place8 *place, const uint8_t *image, uint8_t zero)
{
    if (place->is_row) return (u8q) * (const u8qu *)(image + place->offset[0]);
    u8q line = {0};
    for (int l = 0; l < LANES; l++) line[l] = place->offset[l] < 0 ? zero : image[place->offset[l]];
    return line;
}

void SHARED(patch_i8)(const HoloPatchI8 *p, uint8_t *out)
{
    const HoloConvShape *s     = p->shape;
    int64_t              plane = s->in[0] * s->in[1] * s->in[2], filter = s->kernel[0] * s->kernel[1] * s->kernel[2];
    int64_t              k    = p->channels * filter;
    u8q                  flip = (u8q){0} + (uint8_t)(p->is_signed ? 0x80 : 0);
    Place8               places[HOLO_CONV_I8_PLACES];
    for (int64_t pixel = p->first; pixel < p->end; pixel += LANES) {
        Run            runs[LANES];
        int            run_count = runs_of(s, pixel, p->end, runs);
        const uint8_t *panel     = out;
        for (int64_t i = 0; i < filter; i++) place_find(s, runs, run_count, i, &places[i]);
        int64_t channel = 0, place = 0;
        for (int64_t at = 0; at < k; at += 4, out += 4 * LANES) {
            u8q line[4] = {{0}};
            UNROLL for (int q = 0; q < 4; q++)
            {
                if (at + q >= k) continue;
                line[q] = place_line(&places[place], p->image + channel * plane, p->zero) ^ flip;
                if (++place == filter) place = 0, channel++;
            }
            quad_store(line, out);
        }
        out = sums_store(panel, out);
    }
}

// ---- rows

// Copies whole registers: the memory behind the run must exist on both sides, and what this writes there is overwritten
// later.
INL void run_copy(uint8_t *out, const uint8_t *from, int64_t size)
{
    for (int64_t i = 0; i < size; i += NATIVE) {
        i32n x;
        __builtin_memcpy(&x, from + i, sizeof x);
        __builtin_memcpy(out + i, &x, sizeof x);
    }
}

void SHARED(pixels_u8)(const HoloPixels *p)
{
    uint8_t *row  = p->out;
    int64_t  from = 0;
    for (int64_t i = 0; i < p->count; i++, row += p->out_row, from += p->pixel) {
        uint8_t *to = row;
        for (int64_t l = 0; l < p->lines; l++)
            for (int64_t k = 0; k < p->pieces; k++, to += p->size)
                run_copy(to, p->line[l] + from + k * p->piece, p->size);
        for (int k = 0; k < 3; k++) to[k] = 0;
    }
}
