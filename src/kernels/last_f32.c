// last_f32.c - work along rows of channels, which are the last dimension: pools, reductions over rows,
// moments of columns and their use. Sums go in double, one for each channel.

INL f32v last_load(const float *p, int lanes)
{
    return lanes == LANES ? v_load(p) : v_load_part(p, 0, lanes);
}

INL void last_store(float *p, f32v v, int lanes)
{
    if (lanes == LANES)
        v_store(p, v);
    else
        v_store_part(p, v, lanes);
}

// ---- pools

// Places of the kernel that see the image, along one dimension.
typedef struct Reach {
    int64_t first, end; // places
    int64_t at;         // where place 0 is
} Reach;

INL Reach reach_of(const HoloConvShape *s, int d, int64_t out)
{
    int64_t at = out * s->stride[d] - s->pad[d], step = s->dilation[d];
    int64_t first = at < 0 ? (-at + step - 1) / step : 0, end = at < s->in[d] ? (s->in[d] - at + step - 1) / step : 0;
    if (end > s->kernel[d]) end = s->kernel[d];
    return (Reach){.first = first, .end = end, .at = at};
}

static void pool_pixel(const HoloPool *p, int64_t channels, const Reach r[3], float *out)
{
    const HoloConvShape *s     = p->shape;
    int64_t              count = 1;
    for (int d = 0; d < 3; d++) count *= r[d].end > r[d].first ? r[d].end - r[d].first : 0;
    f32v divisor = v_set1((float)(p->divisor ? p->divisor : count));
    for (int64_t c = 0; c < channels; c += LANES) {
        int  lanes = lanes_left(c, channels);
        f32v sum   = v_set1(p->is_max ? -__builtin_inff() : 0);
        for (int64_t kz = r[0].first; kz < r[0].end; kz++)
            for (int64_t ky = r[1].first; ky < r[1].end; ky++)
                for (int64_t kx = r[2].first; kx < r[2].end; kx++) {
                    int64_t z = r[0].at + kz * s->dilation[0], y = r[1].at + ky * s->dilation[1];
                    int64_t x    = r[2].at + kx * s->dilation[2];
                    f32v    seen = last_load(p->image + ((z * s->in[1] + y) * s->in[2] + x) * channels + c, lanes);
                    sum          = p->is_max ? v_top_of(sum, seen) : v_add(sum, seen);
                }
        last_store(out + c, p->is_max ? sum : v_div(sum, divisor), lanes);
    }
}

static void pool_last_f32(const HoloPool *p, int64_t channels, int64_t first, int64_t end)
{
    const HoloConvShape *s = p->shape;
    for (int64_t row = first; row < end; row++) {
        Reach r[3] = {reach_of(s, 0, row / s->out[1]), reach_of(s, 1, row % s->out[1])};
        for (int64_t x = 0; x < s->out[2]; x++) {
            r[2] = reach_of(s, 2, x);
            pool_pixel(p, channels, r, p->out + (row * s->out[2] + x) * channels);
        }
    }
}

// ---- columns

static void column_sums(int64_t rows, int64_t row, const float *x, int lanes, float *out, double divisor)
{
    double sum[LANES] = {0};
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < lanes; i++) sum[i] += (double)x[r * row + i];
    for (int i = 0; i < lanes; i++) out[i] = (float)(sum[i] / divisor);
}

static void reduce_columns_f32(uint32_t op, int64_t rows, int64_t columns, const float *x, int64_t row, float *out)
{
    for (int64_t c = 0; c < columns; c += LANES) {
        int lanes = lanes_left(c, columns);
        if (op == HOLO_REDUCE_MAX || op == HOLO_REDUCE_MIN) {
            f32v sign = v_set1(op == HOLO_REDUCE_MAX ? 1.0f : -1.0f), top = v_set1(-__builtin_inff());
            for (int64_t r = 0; r < rows; r++) top = v_top_of(top, v_mul(sign, last_load(x + r * row + c, lanes)));
            last_store(out + c, v_mul(sign, top), lanes);
        } else if (lanes == LANES) {
            column_sums(rows, row, x + c, LANES, out + c, op == HOLO_REDUCE_MEAN ? (double)rows : 1);
        } else {
            column_sums(rows, row, x + c, lanes, out + c, op == HOLO_REDUCE_MEAN ? (double)rows : 1);
        }
    }
}

INL void moments(int64_t rows, int64_t columns, const float *x, int lanes, double *out_sums, double *out_squares)
{
    double sum[LANES] = {0}, square[LANES] = {0};
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < lanes; i++) {
            double v = (double)x[r * columns + i];
            sum[i] += v;
            square[i] += v * v;
        }
    for (int i = 0; i < lanes; i++) out_sums[i] = sum[i], out_squares[i] = square[i];
}

static void moments_f32(int64_t rows, int64_t columns, const float *x, double *out_sums, double *out_squares)
{
    int64_t c = 0;
    for (; c + LANES <= columns; c += LANES) moments(rows, columns, x + c, LANES, out_sums + c, out_squares + c);
    if (c < columns) moments(rows, columns, x + c, (int)(columns - c), out_sums + c, out_squares + c);
}

static void affine_f32(int64_t rows, int64_t columns, const float *x, const float *factor, const float *addend,
                       float *out)
{
    for (int64_t c = 0; c < columns; c += LANES) {
        int  lanes = lanes_left(c, columns);
        f32v a = last_load(factor + c, lanes), b = last_load(addend + c, lanes);
        for (int64_t r = 0; r < rows; r++)
            last_store(out + r * columns + c, v_mad(last_load(x + r * columns + c, lanes), a, b), lanes);
    }
}
