// pool_f32.c - the largest element, or the mean, under a window, in two steps: the rows of a window are combined into
// one line, then windows of the line become the output. So a window of h by w costs h + w and not h * w. With channels
// last, a line holds some of the channels of each pixel. Windows that do not overlap see no element twice: means over
// channels that fill vectors are then computed place by place.

enum {
    POOL_LINE   = HOLO_POOL_SCRATCH / 2,
    POOL_BEHIND = 2 * LANES
}; // floats; POOL_BEHIND of them are not part of a
    // line

// The places of the kernel that are inside the image, along one dimension.
typedef struct Reach {
    int64_t first, end; // places
    int64_t at;         // where place 0 is
} Reach;

INL Reach reach_of(const HoloConvShape *s, int d, int64_t out)
{
    Reach r = {.at = out * s->stride[d] - s->pad[d]};
    places_inside(s, d, out, &r.first, &r.end);
    return r;
}

// Some outputs of a row, and the channels that are computed.
typedef struct PoolRun {
    const HoloPooling *p;
    Reach              z, y;
    int64_t            x, count;       // outputs
    int64_t            channel, width; // channels
    int64_t            columns;        // of the line
    float             *line, *divisors;
    float             *out;
} PoolRun;

INL f32v pool_join(bool is_max, f32v a, f32v b)
{
    return is_max ? v_top_of(a, b) : v_add(a, b);
}

static NOINLINE void pool_fill(float *line, int64_t n, float number)
{
    for (int64_t i = 0; i < n; i++) line[i] = number;
}

// n floats, each combined from some rows. The number of rows is known when this is compiled.
INL void pool_rows_of(const float *const *rows, int count, bool is_max, int64_t n, float *line)
{
    for (int64_t i = 0; i < n; i += LANES) {
        int  lanes                                 = lanes_left(i, n);
        f32v sum                                   = v_load_lanes(rows[0] + i, lanes);
        UNROLL for (int r = 1; r < count; r++) sum = pool_join(is_max, sum, v_load_lanes(rows[r] + i, lanes));
        v_store_lanes(line + i, sum, lanes);
    }
}

INL void pool_rows_few(const float *const *rows, int count, bool is_max, int64_t n, float *line)
{
    if (count == 2)
        pool_rows_of(rows, 2, is_max, n, line);
    else if (count == 3)
        pool_rows_of(rows, 3, is_max, n, line);
    else
        pool_rows_of(rows, count, is_max, n, line);
}

static NOINLINE void pool_rows_any(const float *const *rows, int count, bool is_max, int64_t n, float *line)
{
    if (is_max)
        pool_rows_few(rows, count, true, n, line);
    else
        pool_rows_few(rows, count, false, n, line);
}

// n floats, each combined from all rows of the window; `at` is their position in a row.
static NOINLINE void pool_rows(const PoolRun *r, bool is_max, int64_t at, int64_t n, float *line)
{
    enum { ROWS = 16 };
    const HoloConvShape *s   = r->p->shape;
    int64_t              row = s->in[2] * r->p->channels;
    const float         *rows[ROWS];
    int                  count = 0;
    for (int64_t kz = r->z.first; kz < r->z.end; kz++)
        for (int64_t ky = r->y.first; ky < r->y.end; ky++) {
            int64_t z = r->z.at + kz * s->dilation[0], y = r->y.at + ky * s->dilation[1];
            if (count == ROWS) {
                pool_rows_any(rows, count, is_max, n, line);
                rows[0] = line, count = 1;
            }
            rows[count++] = r->p->image + (z * s->in[1] + y) * row + at;
        }
    if (count)
        pool_rows_any(rows, count, is_max, n, line);
    else
        pool_fill(line, n, is_max ? -__builtin_inff() : 0);
}

// Makes the line: its columns begin where the window of the first output begins. Columns outside the image count as
// nothing.
static NOINLINE void pool_line(const PoolRun *r, bool is_max)
{
    const HoloConvShape *s    = r->p->shape;
    int64_t              from = r->x * s->stride[2] - s->pad[2], channels = r->p->channels;
    int64_t              left    = from < 0 ? (-from < r->columns ? -from : r->columns) : 0;
    int64_t              inside  = s->in[2] - from - left;
    float                nothing = is_max ? -__builtin_inff() : 0;
    if (inside < 0) inside = 0;
    if (inside > r->columns - left) inside = r->columns - left;
    pool_fill(r->line, left * r->width, nothing);
    pool_fill(r->line + (left + inside) * r->width, (r->columns - left - inside) * r->width, nothing);
    if (r->width == channels) {
        pool_rows(r, is_max, (from + left) * channels, inside * channels, r->line + left * channels);
        return;
    }
    for (int64_t i = left; i < left + inside; i++)
        pool_rows(r, is_max, (from + i) * channels + r->channel, r->width, r->line + i * r->width);
}

// The divisors of the run's sums: windows at the edges have fewer places.
static NOINLINE void pool_divisors(const PoolRun *r)
{
    const HoloPooling   *p     = r->p;
    const HoloConvShape *s     = p->shape;
    int64_t              rows  = (r->z.end - r->z.first) * (r->y.end - r->y.first);
    int64_t              reach = (s->kernel[2] - 1) * s->dilation[2], at = r->x * s->stride[2] - s->pad[2];
    pool_fill(r->divisors, r->count, (float)(p->divisor ? p->divisor : rows * s->kernel[2]));
    for (int64_t i = 0; !p->divisor && i < r->count; i++) {
        int64_t start = at + i * s->stride[2];
        if (start >= 0 && start + reach < s->in[2]) { // then all before the last that ends inside are inside too
            int64_t inside = (s->in[2] - 1 - reach - at) / s->stride[2];
            if (inside > i) i = inside;
            continue;
        }
        Reach x        = reach_of(s, 2, r->x + i);
        r->divisors[i] = (float)(rows * (x.end - x.first));
    }
}

// Windows over a line of one channel: 16 outputs at a time, also beyond the line's end.
INL void pool_columns(const PoolRun *r, bool is_max)
{
    const HoloConvShape *s = r->p->shape;
    pool_fill(r->line + r->columns, POOL_BEHIND, 0);
    for (int64_t i = 0; i < r->count; i += LANES) {
        int          lanes = lanes_left(i, r->count);
        const float *from  = r->line + i * s->stride[2];
        f32v         sum   = v_load_strided(from, s->stride[2], 0, s->stride[2] > 2 ? lanes : LANES);
        for (int64_t k = 1; k < s->kernel[2]; k++) {
            from += s->dilation[2];
            sum = pool_join(is_max, sum, v_load_strided(from, s->stride[2], 0, s->stride[2] > 2 ? lanes : LANES));
        }
        if (!is_max) sum = v_div(sum, v_load_lanes(r->divisors + i, lanes));
        v_store_lanes(r->out + i, sum, lanes);
    }
}

// Windows over a line of several channels: 16 channels at a time. The number of the kernel's columns is known when this
// is compiled; 0: any.
INL void pool_pixels_of(const PoolRun *r, bool is_max, int64_t columns)
{
    const HoloConvShape *s     = r->p->shape;
    int64_t              width = r->width, step = s->dilation[2] * width, kernel = columns ? columns : s->kernel[2];
    for (int64_t i = 0; i < r->count; i++) {
        const float *from = r->line + i * s->stride[2] * width;
        float       *out  = r->out + i * r->p->channels;
        for (int64_t c = 0; c < width; c += LANES) {
            int  lanes = lanes_left(c, width);
            f32v sum   = v_load_lanes(from + c, lanes);
            UNROLL for (int64_t k = 1; k < kernel; k++) sum =
                pool_join(is_max, sum, v_load_lanes(from + k * step + c, lanes));
            if (!is_max) sum = v_div(sum, v_set1(r->divisors[i]));
            v_store_lanes(out + c, sum, lanes);
        }
    }
}

INL void pool_pixels(const PoolRun *r, bool is_max)
{
    if (r->p->shape->kernel[2] == 2)
        pool_pixels_of(r, is_max, 2);
    else if (r->p->shape->kernel[2] == 3)
        pool_pixels_of(r, is_max, 3);
    else
        pool_pixels_of(r, is_max, 0);
}

INL void pool_run(const PoolRun *r, bool is_max)
{
    pool_line(r, is_max);
    if (!is_max) pool_divisors(r);
    if (r->p->channels == 1)
        pool_columns(r, is_max);
    else
        pool_pixels(r, is_max);
}

// One output by itself, for windows that are too wide for a line.
static NOINLINE void pool_alone(const PoolRun *r, bool is_max)
{
    const HoloPooling   *p = r->p;
    const HoloConvShape *s = p->shape;
    Reach                x = reach_of(s, 2, r->x);
    for (int64_t c = 0; c < r->width; c += LANES) {
        int  lanes = lanes_left(c, r->width);
        f32v sum   = v_set1(is_max ? -__builtin_inff() : 0);
        for (int64_t kx = x.first; kx < x.end; kx++) {
            float   line[LANES];
            int64_t at = (x.at + kx * s->dilation[2]) * p->channels + r->channel + c;
            pool_rows(r, is_max, at, lanes, line);
            sum = pool_join(is_max, sum, v_load_lanes(line, lanes));
        }
        int64_t seen = (r->z.end - r->z.first) * (r->y.end - r->y.first) * (x.end - x.first);
        if (!is_max) sum = v_div(sum, v_set1((float)(p->divisor ? p->divisor : seen)));
        v_store_lanes(r->out + c, sum, lanes);
    }
}

enum { POOL_ROWS = 16 }; // of a window, at most

// Whether these are means over windows that do not overlap, computed place by place.
INL bool pool_is_apart(const HoloPooling *p)
{
    const HoloConvShape *s = p->shape;
    return !p->is_max && p->channels % LANES == 0 && s->stride[1] >= s->kernel[1] && s->stride[2] >= s->kernel[2] &&
           s->kernel[0] * s->kernel[1] <= POOL_ROWS;
}

// The mean of one window. The kernel's rows and columns are known when this is compiled; 0: any.
INL void pool_window(const PoolRun *r, const float *const *rows, int64_t row_count, int64_t columns, int64_t at,
                     f32v divisor, float *out)
{
    int64_t step = r->p->shape->dilation[2] * r->p->channels;
    for (int64_t c = 0; c < r->width; c += LANES) {
        f32v sum = v_load(rows[0] + at + c);
        UNROLL for (int64_t i = 0; i < row_count; i++) UNROLL for (int64_t k = i ? 0 : 1; k < columns; k++) sum =
            v_add(sum, v_load(rows[i] + at + k * step + c));
        v_store(out + c, v_div(sum, divisor));
    }
}

INL void pool_apart(const PoolRun *r)
{
    const HoloPooling   *p = r->p;
    const HoloConvShape *s = p->shape;
    const float         *rows[POOL_ROWS];
    int64_t              count = 0;
    for (int64_t kz = r->z.first; kz < r->z.end; kz++)
        for (int64_t ky = r->y.first; ky < r->y.end; ky++) {
            int64_t z = r->z.at + kz * s->dilation[0], y = r->y.at + ky * s->dilation[1];
            rows[count++] = p->image + (z * s->in[1] + y) * s->in[2] * p->channels + r->channel;
        }
    pool_divisors(r);
    for (int64_t i = 0; i < r->count; i++) {
        Reach  x       = {.end = s->kernel[2], .at = (r->x + i) * s->stride[2] - s->pad[2]};
        f32v   divisor = v_set1(r->divisors[i]);
        float *out     = r->out + i * p->channels;
        if (x.at < 0 || x.at + (s->kernel[2] - 1) * s->dilation[2] >= s->in[2]) x = reach_of(s, 2, r->x + i);
        int64_t at = (x.at + x.first * s->dilation[2]) * p->channels, columns = x.end - x.first;
        if (!count || columns <= 0)
            pool_fill(out, r->width, p->divisor ? 0 : __builtin_nanf(""));
        else if (count == 2 && columns == 2)
            pool_window(r, rows, 2, 2, at, divisor, out);
        else
            pool_window(r, rows, count, columns, at, divisor, out);
    }
}

void SHARED(pool_f32)(const HoloPooling *p, int64_t first, int64_t end)
{
    enum { CHANNELS = 2 * LANES, OUTPUTS = 8 }; // of a line, at least
    const HoloConvShape *s     = p->shape;
    int64_t              reach = (s->kernel[2] - 1) * s->dilation[2] + 1;
    PoolRun              r     = {.p = p, .line = p->scratch, .divisors = p->scratch + POOL_LINE};
    int64_t              wide  = (POOL_LINE - POOL_BEHIND) / (reach + OUTPUTS * s->stride[2]) / LANES * LANES;
    if (wide < CHANNELS) wide = CHANNELS;
    if (wide > p->channels) wide = p->channels;
    int64_t most = (POOL_LINE - POOL_BEHIND) / wide, count = reach > most ? 1 : (most - reach) / s->stride[2] + 1;
    for (int64_t row = first; row < end; row++) {
        r.z = reach_of(s, 0, row / s->out[1]);
        r.y = reach_of(s, 1, row % s->out[1]);
        for (r.channel = 0; r.channel < p->channels; r.channel += r.width)
            for (r.x = 0; r.x < s->out[2]; r.x += r.count) {
                r.width   = p->channels - r.channel < wide ? p->channels - r.channel : wide;
                r.count   = s->out[2] - r.x < count ? s->out[2] - r.x : count;
                r.columns = (r.count - 1) * s->stride[2] + reach;
                r.out     = p->out + (row * s->out[2] + r.x) * p->channels + r.channel;
                if (reach <= most && pool_is_apart(p))
                    pool_apart(&r);
                else if (reach > most)
                    pool_alone(&r, p->is_max);
                else
                    p->is_max ? pool_run(&r, true) : pool_run(&r, false);
            }
    }
}
