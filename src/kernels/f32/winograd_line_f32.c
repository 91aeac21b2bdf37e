// winograd_line_f32.c - the transforms around convolutions with long rows, by tiles of four pixels of a row: those of
// winograd_f32.c in one dimension. A group is three places of a row of the kernel. The results of the groups and of the
// kernel's rows are summed before they are transformed back. So four pixels need 6 products, where a plain convolution
// needs 12.

enum { LINE_GROUP = HOLO_LINE_GROUP };

// Six columns of a row of the image, `far` pixels from each other, 0 outside.
INL void line_gather(const HoloLineTiles *l, const float *row, int64_t x, int lanes, float *out)
{
    const HoloConvShape *s = l->shape;
    for (int j = 0; j < SEEN; j++, x += s->dilation[2], out += LANES)
        v_store(out, x >= 0 && x < s->in[2] ? v_load_part(row + x * l->pixel, 0, lanes) : v_set1(0));
}

static void line_in_f32(const HoloLineTiles *l, const float *image, int64_t x, int64_t count)
{
    const HoloConvShape *s = l->shape;
    float                gathered[SEEN * LANES], made[SEEN * LANES];
    for (int64_t t = 0; t < count; t++, x += TILE * s->dilation[2]) {
        bool in = x >= 0 && x + (SEEN - 1) * s->dilation[2] < s->in[2];
        for (int64_t r = 0; r < l->rows; r++) {
            int64_t      y       = r - s->pad[1];
            bool         outside = y < 0 || y >= s->in[1];
            const float *row     = image + (outside ? 0 : y * s->in[2] * l->pixel);
            float       *to      = l->tiles + t * l->tile + r * l->row;
            for (int64_t c = 0; c < l->channels; c += LANES) {
                int lanes = lanes_left(c, l->channels);
                if (outside) {
                    for (int p = 0; p < SEEN; p++) v_store_lanes(to + p * l->place + c, v_set1(0), lanes);
                    continue;
                }
                if (in && lanes == LANES) {
                    winograd_in(row + x * l->pixel + c, s->dilation[2] * l->pixel, to + c, l->place);
                    continue;
                }
                line_gather(l, row + c, x, lanes, gathered);
                winograd_in(gathered, LANES, made, LANES);
                for (int p = 0; p < SEEN; p++) v_store_lanes(to + p * l->place + c, v_load(made + p * LANES), lanes);
            }
        }
    }
}

static void line_out_f32(const HoloLineTiles *l, const float *bias, const HoloFinish *finish, int64_t x, int64_t count,
                         float *out, int64_t at)
{
    const HoloConvShape *s = l->shape;
    for (int64_t t = 0; t < count; t++, x += TILE * s->dilation[2])
        for (int64_t r = 0; r < l->rows; r++) {
            const float *from = l->tiles + t * l->tile + r * l->row;
            int64_t      to   = at + (r * s->out[2] + x) * l->pixel;
            for (int64_t c = 0; c < l->channels; c += LANES) {
                int  lanes = lanes_left(c, l->channels);
                f32v add   = bias ? v_load_part(bias + c, 0, lanes) : v_set1(0), line[TILE];
                winograd_out(from + c, l->place, line);
                for (int j = 0; j < TILE && x + j * s->dilation[2] < s->out[2]; j++) {
                    int64_t pixel = to + j * s->dilation[2] * l->pixel + c;
                    f32v    y     = v_add(line[j], add);
                    if (finish) y = v_finish(finish, y, pixel, lanes);
                    v_store_lanes(out + pixel, y, lanes);
                }
            }
        }
}

static void line_weights_f32(int64_t lines, int64_t places, int64_t channels, const void *panel, uint32_t type,
                             float *out, int64_t place)
{
    const char *from = panel;
    int64_t     row  = b_bytes(type, LANES);
    for (int64_t i = 0; i < lines * channels; i++) {
        const char *line = from + (i / channels * places * channels + i % channels) * row;
        for (int64_t first = 0; first < places; first += LINE_GROUP) {
            f32v g[LINE_GROUP], u[SEEN];
            for (int j = 0; j < LINE_GROUP; j++)
                g[j] = first + j < places ? b_load(line + (first + j) * channels * row, type) : v_set1(0);
            winograd_weights(g, u);
            for (int p = 0; p < SEEN; p++) v_store(out + (first / LINE_GROUP * SEEN + p) * place + i * LANES, u[p]);
        }
    }
}
