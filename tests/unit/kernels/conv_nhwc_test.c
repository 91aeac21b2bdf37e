// conv_nhwc_test.c - convolutions with channels last against a plain sum in double, on shapes that hurt: on every
// table of kernels, by plain and by transformed weights, with tails; and what the kernel refuses.

#include "unit/kernels/conv_nhwc_shapes.h"

// ---- the plain sum

UNWATCHED static int64_t meet(const Shape *v, int d, int64_t o, int64_t k) // -1: outside
{
    int64_t at = o * v->stride[d] - v->pads[d] + k * v->dilation[d];
    return at >= 0 && at < v->in[d] ? at : -1;
}

static int64_t out_size(const Shape *v, int d)
{
    if (d >= v->rank) return 1;
    return (v->in[d] + v->pads[d] + v->pads[v->rank + d] - (v->kernel[d] - 1) * v->dilation[d] - 1) / v->stride[d] + 1;
}

// One element; *out_size gets the sum of what was added, without signs.
UNWATCHED static double plain_at(const Shape *v, const Case *c, int64_t image, const int64_t at[3], int64_t o,
                                 double *size)
{
    const float *x = c->in[0].data, *w = c->in[1].data, *b = c->in[2].data;
    int64_t      of = v->channels / v->groups, group = o / (v->filters / v->groups), k[3], p[3], tap = 0;
    int64_t      kernel[3] = {1, 1, 1}, in[3] = {1, 1, 1}, taps = 1;
    double       sum = v->bias ? (double)b[o] : 0;
    for (int d = 0; d < v->rank; d++) kernel[d] = v->kernel[d], in[d] = v->in[d], taps *= v->kernel[d];
    *size = fabs(sum);
    for (k[0] = 0; k[0] < kernel[0]; k[0]++)
        for (k[1] = 0; k[1] < kernel[1]; k[1]++)
            for (k[2] = 0; k[2] < kernel[2]; k[2]++, tap++) {
                bool inside = true;
                for (int d = 0; d < 3; d++) {
                    p[d]   = d < v->rank ? meet(v, d, at[d], k[d]) : 0;
                    inside = inside && p[d] >= 0;
                }
                for (int64_t ch = 0; inside && ch < of; ch++) {
                    int64_t pixel = ((image * in[0] + p[0]) * in[1] + p[1]) * in[2] + p[2];
                    double  term =
                        (double)x[pixel * v->channels + group * of + ch] * (double)w[(o * of + ch) * taps + tap];
                    sum += term;
                    *size += fabs(term);
                }
            }
    return sum;
}

static double plain_operand(int operand, const HoloMapStep *step, const double *in, const double *results)
{
    return operand == N ? (double)step->number : operand < R ? in[operand] : results[operand - R];
}

static double plain_tail(const Shape *v, const Case *c, double x, int64_t o, int64_t i)
{
    const HoloProgram *tail    = &tails[v->tail];
    const float       *columns = c->in[3].data, *all = c->in[4].data;
    const double       in[] = {x, columns ? (double)columns[o] : 0, all ? (double)all[i] : 0};
    double             results[4];
    for (uint32_t k = 0; k < tail->count; k++) {
        const HoloMapStep *step = &tail->step[k];
        double             a = plain_operand(step->a, step, in, results), b = plain_operand(step->b, step, in, results);
        results[k] = step->op == HOLO_MAP_add       ? a + b
                     : step->op == HOLO_MAP_mul     ? a * b
                     : step->op == HOLO_MAP_sigmoid ? 1 / (1 + exp(-a))
                     : step->op == HOLO_MAP_at_most ? fmin(a, b)
                                                    : fmax(a, b);
    }
    return tail->count ? results[tail->count - 1] : x;
}

static void expect_conv(const Shape *v, const Case *c, const float *got, double rounding)
{
    static int series;
    int64_t    at[3], i = 0;
    if (!series) series = watched_step("the elements of results", 7);
    bool is_long = holo_tensor_count(&c->out) > 4096;
    int  step    = is_long && series < 5 ? 5 : series; // the plain way takes its time
    for (int64_t image = 0; image < v->batch; image++)
        for (at[0] = 0; at[0] < out_size(v, 0); at[0]++)
            for (at[1] = 0; at[1] < out_size(v, 1); at[1]++)
                for (at[2] = 0; at[2] < out_size(v, 2); at[2]++)
                    for (int64_t o = 0; o < v->filters; o++, i++) {
                        if (i % step) continue;
                        double size, want = plain_tail(v, c, plain_at(v, c, image, at, o, &size), o, i);
                        expect_near((double)got[i], want, rounding * (size + 1));
                    }
    assert_int_equal(i, holo_tensor_count(&c->out));
}

// ---- cases

static Case case_of(const Shape *v)
{
    Case    c    = {.op = "Conv", .domain = "hologram", .version = 1, .in_count = 3};
    int64_t x[5] = {v->batch}, w[5] = {v->filters, v->channels / v->groups}, out[5] = {v->batch};
    for (int d = 0; d < v->rank; d++) x[1 + d] = v->in[d], w[2 + d] = v->kernel[d], out[1 + d] = out_size(v, d);
    x[v->rank + 1]   = v->channels;
    out[v->rank + 1] = v->filters;
    c.in[0]          = tensor(v->rank + 2, x);
    c.in[1]          = tensor(v->rank + 2, w);
    c.out            = (HoloTensor){.dtype = HOLO_F32, .rank = (int8_t)(v->rank + 2)};
    memcpy(c.out.dim, out, sizeof out);
    if (v->bias) c.in[2] = TENSOR(v->filters);
    if (v->tail > 1) {
        c.in[3]    = TENSOR(v->filters);
        c.in[4]    = tensor(v->rank + 2, out);
        c.in_count = 5;
    }
    attr_int(&c, "group", v->groups);
    attr_ints(&c, "strides", v->rank, v->stride);
    attr_ints(&c, "dilations", v->rank, v->dilation);
    attr_ints(&c, "pads", 2 * v->rank, v->pads);
    return c;
}

static HoloConvNhwcParams params_of(const Shape *v, uint32_t flags)
{
    return (HoloConvNhwcParams){.size = sizeof(HoloConvNhwcParams), .flags = flags, .tail = tails[v->tail]};
}

// Every table against double; the same bits by 1 and 3 workers, and of all exact tables.
static void check_conv(const Shape *v, uint32_t flags, double rounding)
{
    Case               c        = case_of(v);
    HoloConvNhwcParams params   = params_of(v, flags);
    HoloLowering       lowering = {
              .kernel = HOLO_KERNEL_conv_nhwc_f32, .conv_nhwc = params, .pack_input = 1, .pack_groups = v->groups};
    float                 *plain = c.in[1].data, *panels = packed_weights(&lowering, &c.in[1]), *exact = NULL;
    const HoloKernelTable *kernels;
    c.kernel = HOLO_KERNEL_conv_nhwc_f32;
    memcpy(&c.params, &params, sizeof params);
    for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
        c.in[1].data = panels;
        float *one = run_kernel(&c, kernels, 1), *three = run_kernel(&c, kernels, 3);
        c.in[1].data = plain;
        expect_conv(v, &c, one, rounding);
        expect_same(one, three, holo_tensor_count(&c.out));
        if (kernels->exact && exact) expect_same(one, exact, holo_tensor_count(&c.out));
        free(three);
        if (kernels->exact && !exact)
            exact = one;
        else
            free(one);
    }
    assert_non_null(exact);
    note_exact("conv_nhwc_f32", exact, holo_tensor_count(&c.out));
    free(exact), free(panels);
    for (int i = 0; i < c.in_count; i++) free(c.in[i].data);
}

enum { SMALL_TILES = HOLO_CONV_NHWC_WINOGRAD | HOLO_CONV_NHWC_SMALL };

static bool can_transform(const Shape *v)
{
    return v->rank == 2 && v->groups == 1 && v->kernel[0] == 3 && v->kernel[1] == 3 && v->stride[0] == 1 &&
           v->stride[1] == 1 && v->dilation[0] == 1 && v->dilation[1] == 1;
}

static bool has_groups(const Shape *v)
{
    return holo_conv_has_groups(v->groups, v->filters / v->groups, v->channels / v->groups);
}

static void groups_of_few_channels(void **state)
{
    (void)state;
    int count = 0;
    for (int i = 0; i < HOLO_COUNT(shapes); i++) {
        if (!has_groups(&shapes[i])) continue;
        check_conv(&shapes[i], HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_GROUPS, 1e-6);
        count++;
    }
    assert_int_equal(count, 9);
}

static void plain_weights(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(shapes); i++) check_conv(&shapes[i], HOLO_CONV_NHWC_PACKED, 1e-6);
}

static void transformed_weights(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(shapes); i++)
        if (can_transform(&shapes[i])) {
            check_conv(&shapes[i], HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_WINOGRAD, 2e-6);
            check_conv(&shapes[i], HOLO_CONV_NHWC_PACKED | SMALL_TILES, 2e-6);
        }
}

static void weights_transformed_in_the_run(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(shapes); i++)
        if (can_transform(&shapes[i])) check_conv(&shapes[i], HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_TRANSFORM, 2e-6);
}

// Several places in a row: tiles of four pixels that end within the row, groups of places that are not whole, rows and
// columns that see nothing, dilations, strides from row to row, several images, products of one tile and of many.
static const Shape lines[] = {
    {1, 2, 48, 64, 1, {130}, {3}, {1}, {1}, {1, 1}, true, 2},
    {1, 1, 70, 80, 1, {301}, {7}, {1}, {3}, {9, 9}, true, 7},
    {1, 1, 64, 50, 1, {301}, {11}, {1}, {5}, {25, 25}, false, 1},
    {1, 1, 512, 64, 1, {202}, {3}, {1}, {1}, {0, 0}, true, 4}, // rows that would fall on the same lines
    {2, 2, 65, 49, 1, {9, 33}, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, true, 5},
    {2, 1, 48, 48, 1, {15, 30}, {9, 11}, {2, 1}, {1, 1}, {4, 5, 4, 5}, true, 4},
    {2, 1, 64, 64, 1, {13, 26}, {3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}, true, 3},
    {2, 1, 64, 64, 1, {13, 25}, {3, 3}, {2, 1}, {3, 1}, {3, 1, 0, 2}, true, 6},
    {2, 1, 80, 80, 1, {3, 41}, {1, 12}, {1, 1}, {1, 1}, {0, 11, 0, 0}, true, 0},
    {2, 1, 32, 96, 1, {16, 61}, {2, 6}, {1, 1}, {1, 1}, {1, 6, 1, 6}, true, 0}, // pixels that see nothing
};

static HoloConvNhwc conv_of(const Shape *v)
{
    HoloConvNhwc c = {.shape    = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}},
                      .batch    = v->batch,
                      .groups   = v->groups,
                      .channels = v->channels / v->groups,
                      .filters  = v->filters / v->groups,
                      .pixels   = v->batch};
    for (int d = 0, at = 3 - v->rank; d < v->rank; d++, at++) {
        c.shape.in[at]       = v->in[d];
        c.shape.out[at]      = out_size(v, d);
        c.shape.kernel[at]   = v->kernel[d];
        c.shape.stride[at]   = v->stride[d];
        c.shape.dilation[at] = v->dilation[d];
        c.shape.pad[at]      = v->pads[d];
        c.pixels *= out_size(v, d);
    }
    return c;
}

static bool is_by_lines(const Shape *v)
{
    HoloConvNhwc c = conv_of(v);
    return holo_lines_fits(&c);
}

// Much of what they see lies in the padding: one, two or three dimensions, of each two or three regions or all in one,
// places that nothing sees, pixels that see nothing, strides, groups, several images, lines of few and of many pixels.
static const Shape padded[] = {
    {2, 1, 40, 33, 1, {13, 17}, {3, 3}, {1, 1}, {6, 8}, {6, 8, 6, 8}, true, 2},
    {2, 2, 33, 40, 1, {11, 11}, {3, 3}, {1, 1}, {4, 4}, {4, 4, 4, 4}, true, 5},
    {2, 3, 20, 50, 1, {7, 9}, {3, 3}, {1, 1}, {12, 12}, {12, 12, 12, 12}, true, 7}, // one place is left
    {2, 1, 300, 17, 1, {9, 30}, {3, 3}, {1, 1}, {9, 18}, {9, 18, 9, 18}, false, 1},
    {2, 1, 24, 40, 2, {13, 13}, {3, 3}, {1, 1}, {6, 6}, {6, 6, 6, 6}, true, 6},
    {2, 2, 36, 34, 1, {15, 15}, {3, 5}, {2, 2}, {7, 6}, {8, 12, 6, 12}, true, 3},
    {2, 1, 20, 20, 1, {12, 6}, {5, 3}, {1, 1}, {4, 1}, {20, 12, 20, 12}, true, 0}, // and pixels that see nothing
    {2, 1, 96, 96, 1, {2, 40}, {3, 4}, {1, 1}, {1, 1}, {4, 9, 4, 9}, true, 0},
    {2, 1, 20, 40, 1, {3, 200}, {3, 3}, {1, 1}, {2, 80}, {2, 80, 2, 80}, true, 4},
    {1, 2, 70, 80, 1, {40}, {3}, {1}, {24}, {24, 24}, true, 2},
    {1, 5, 20, 30, 1, {30}, {9}, {1}, {6}, {24, 24}, false, 5}, // more spans than are kept apart
    {1, 5, 20, 30, 1, {50}, {25}, {1}, {6}, {72, 72}, true, 0},
    {3, 2, 16, 20, 1, {6, 7, 8}, {3, 3, 3}, {1, 1, 1}, {4, 5, 6}, {4, 5, 6, 4, 5, 6}, true, 2},
    {3, 1, 18, 20, 1, {6, 2, 20}, {3, 1, 1}, {1, 1, 1}, {4, 1, 1}, {4, 0, 0, 4, 0, 0}, true, 5},
    {3, 1, 20, 34, 2, {5, 9, 3}, {2, 3, 2}, {2, 1, 1}, {3, 6, 2}, {2, 6, 1, 1, 6, 2}, true, 7},
};

// Every pixel is in one region, which has all places that it sees; and fewer are multiplied.
static void expect_regions(const HoloConvShape *s, int64_t batch)
{
    HoloConvRegions r;
    if (!holo_conv_regions(s, batch, &r))
        fail_msg("a kernel of %lld x %lld", (long long)s->kernel[1], (long long)s->kernel[2]);
    assert_true(r.share > 0 && r.share < 0.9);
    for (int d = 0; d < 3; d++) {
        int64_t at = 0;
        for (int i = 0; i < r.count[d]; i++) {
            const HoloConvSpan *span = &r.span[d][i];
            assert_true(span->first == at && span->count > 0 && span->places >= 0);
            assert_true(span->place >= 0 && span->place + span->places <= s->kernel[d]);
            for (; at < span->first + span->count; at++)
                for (int64_t k = 0; k < s->kernel[d]; k++) {
                    int64_t in = at * s->stride[d] - s->pad[d] + k * s->dilation[d];
                    if (in >= 0 && in < s->in[d]) assert_true(k >= span->place && k < span->place + span->places);
                }
        }
        assert_int_equal(at, s->out[d]);
    }
}

static void padding_is_not_multiplied(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(padded); i++) {
        HoloConvNhwc c = conv_of(&padded[i]);
        expect_regions(&c.shape, c.batch);
        check_conv(&padded[i], HOLO_CONV_NHWC_PACKED, 2e-5);
    }
    HoloConvRegions r; // of large images, and where padding is as thin as it mostly is, there is one region
    for (int i = 0; i < HOLO_COUNT(lines); i++) {
        if (lines[i].pads[0] > 2) continue;
        HoloConvNhwc c = conv_of(&lines[i]);
        assert_false(holo_conv_regions(&c.shape, c.batch, &r));
        assert_int_equal(holo_conv_region_count(&r), 1);
        for (int d = 0; d < 3; d++) assert_int_equal(r.span[d][0].places, c.shape.kernel[d]);
    }
}

// What DeepLab has: of 9 places a pixel sees less than 6, 3, and 1 in the mean.
static void large_dilations(void **state)
{
    (void)state;
    const double most[] = {0.65, 0.35, 0.12};
    for (int i = 0; i < HOLO_COUNT(most); i++) {
        int64_t         d = 12 * (i + 1);
        Shape           v = {2, 1, 960, 256, 1, {33, 33}, {3, 3}, {1, 1}, {d, d}, {d, d, d, d}, true, 0};
        HoloConvNhwc    c = conv_of(&v);
        HoloConvRegions r;
        assert_true(holo_conv_regions(&c.shape, 1, &r));
        assert_true(r.share < most[i]);
        assert_false(holo_lines_fits(&c));
    }
}

static void tiles_of_a_row(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(lines); i++) {
        if (!is_by_lines(&lines[i])) fail_msg("case %d", i);
        check_conv(&lines[i], HOLO_CONV_NHWC_PACKED, 2e-5); // a pixel that sees little is off as its neighbors are
    }
    // Too few pixels for the weights to be transformed; a stride along the row; what tiles of 4x4 pixels are for.
    const Shape others[] = {
        {1, 1, 64, 64, 1, {8}, {3}, {1}, {1}, {1, 1}, true, 0},
        {1, 1, 64, 64, 1, {500}, {3}, {2}, {1}, {1, 1}, true, 0},
        {2, 1, 64, 64, 1, {20, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0},
        {2, 1, 64, 64, 1, {20, 20}, {3, 1}, {1, 1}, {1, 1}, {1, 0, 1, 0}, true, 0},
        {3, 1, 64, 64, 1, {4, 20, 20}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, true, 0},
        {1, 1, 64, 64, 2, {500}, {3}, {1}, {1}, {1, 1}, true, 0},
    };
    for (int i = 0; i < HOLO_COUNT(others); i++) assert_false(is_by_lines(&others[i]));
}

// Every tail, in every way to compute.
static void all_tails(void **state)
{
    (void)state;
    Shape some[] = {
        {2, 1, 20, 41, 1, {6, 13}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0},
        {2, 2, 300, 17, 1, {5, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, false, 0},
        {2, 2, 6, 34, 2, {5, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, 0},
        {2, 2, 150, 150, 150, {7, 19}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0},
        {2, 2, 24, 24, 6, {7, 19}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0},
        {1, 1, 64, 70, 1, {83}, {5}, {1}, {2}, {4, 4}, true, 0},
    };
    for (int i = 0; i < HOLO_COUNT(some); i++)
        for (some[i].tail = 0; some[i].tail < HOLO_COUNT(tails); some[i].tail++) {
            check_conv(&some[i], HOLO_CONV_NHWC_PACKED, 2e-6);
            if (can_transform(&some[i])) check_conv(&some[i], HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_WINOGRAD, 4e-6);
            if (can_transform(&some[i])) check_conv(&some[i], HOLO_CONV_NHWC_PACKED | SMALL_TILES, 4e-6);
            if (has_groups(&some[i])) check_conv(&some[i], HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_GROUPS, 2e-6);
        }
}

// The error of transformed weights is a small multiple of that of the plain sum.
static void transformed_weights_are_close(void **state)
{
    (void)state;
    const Shape    v        = {2, 1, 256, 32, 1, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, false, 0};
    const uint32_t ways[]   = {0, HOLO_CONV_NHWC_WINOGRAD, SMALL_TILES};
    double         worst[3] = {0}, top = 0;
    for (int transformed = 0; transformed < 3; transformed++) {
        random_state                = (HoloRandom){11};
        Case               c        = case_of(&v);
        uint32_t           flags    = HOLO_CONV_NHWC_PACKED | ways[transformed];
        HoloConvNhwcParams params   = params_of(&v, flags);
        HoloLowering       lowering = {.kernel = HOLO_KERNEL_conv_nhwc_f32, .conv_nhwc = params, .pack_groups = 1};
        float             *plain    = c.in[1].data;
        c.kernel                    = HOLO_KERNEL_conv_nhwc_f32;
        memcpy(&c.params, &params, sizeof params);
        c.in[1].data = packed_weights(&lowering, &c.in[1]);
        float *got   = run_kernel(&c, holo_kernels(0), 1);
        free(c.in[1].data);
        c.in[1].data = plain;
        for (int64_t i = 0; i < 14 * 14 * 32; i++) {
            const int64_t at[3] = {i / 32 / 14, i / 32 % 14};
            double        size, want = plain_at(&v, &c, 0, at, i % 32, &size);
            worst[transformed] = fmax(worst[transformed], fabs((double)got[i] - want));
            top                = fmax(top, fabs(want));
        }
        free(got), free(c.in[0].data), free(c.in[1].data);
    }
    assert_true(worst[0] < 1e-6 * top && worst[1] < 5e-6 * top && worst[2] < 2e-6 * top);
}

// ---- the compiler's choice

static void case_free(Case *c)
{
    for (int i = 0; i < c->in_count; i++) free(c->in[i].data);
}

static void choices(void **state)
{
    (void)state;
    const struct {
        Shape    shape;
        uint32_t more;
    } cases[] = {
        {{2, 1, 64, 64, 1, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0}, HOLO_CONV_NHWC_WINOGRAD},
        {{2, 1, 512, 512, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0}, SMALL_TILES},
        {{2, 1, 64, 64, 1, {56, 56}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, 0}, 0},
        {{2, 1, 64, 64, 1, {56, 56}, {3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}, true, 0}, 0},
        {{2, 1, 64, 64, 2, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0}, 0},
        {{2, 1, 512, 64, 1, {2, 2}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0}, 0},
        {{2, 1, 3, 64, 1, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0}, 0},
        {{2, 1, 64, 64, 16, {56, 56}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, 0}, HOLO_CONV_NHWC_GROUPS},
        {{2, 1, 64, 32, 16, {56, 56}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, 0}, 0},
        {{2, 1, 24, 24, 4, {56, 56}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, 0}, 0},
        {{1, 1, 64, 64, 1, {56}, {3}, {1}, {1}, {1, 1}, true, 0}, 0},
        {{3, 1, 32, 32, 1, {8, 8, 8}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, true, 0}, 0},
    };
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        Case         c = case_of(&cases[i].shape);
        HoloLowering l = case_lowering(&c, true);
        assert_int_equal(l.kernel, HOLO_KERNEL_conv_nhwc_f32);
        assert_int_equal(l.pack_input, 1);
        assert_int_equal(l.conv_nhwc.size, sizeof l.conv_nhwc);
        if (l.conv_nhwc.flags != (HOLO_CONV_NHWC_PACKED | cases[i].more))
            fail_msg("case %d: flags %u", i, l.conv_nhwc.flags);
        assert_int_equal(case_lowering(&c, false).kernel, HOLO_KERNEL_EVAL); // weights that nobody can pack
        holo_cpu_unpack(&l);
        assert_int_equal(l.kernel, HOLO_KERNEL_EVAL);
        case_free(&c);
    }
}

// Weights of more than one part, cut within a panel.
static void large_weights(void **state)
{
    (void)state;
    const Shape v = {2, 1, 3000, 17, 1, {2, 2}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0};
    check_conv(&v, HOLO_CONV_NHWC_PACKED, 2e-6);
    check_conv(&v, HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_WINOGRAD, 4e-6);
    check_conv(&v, HOLO_CONV_NHWC_PACKED | SMALL_TILES, 4e-6);
}

// ---- what an archive may say wrongly

typedef struct Bad {
    Case              c;
    Host              host;
    const HoloTensor *in[IN_MAX];
    HoloTensor       *out[1];
    HoloError         error;
    HoloCall          call;
} Bad;

static void bad_init(Bad *bad, const Shape *v, uint32_t flags)
{
    *bad                      = (Bad){.c = case_of(v), .host = host_make(holo_kernels(0), 1)};
    HoloConvNhwcParams params = params_of(v, flags);
    memcpy(&bad->c.params, &params, sizeof params);
    bad->call = call_init(&bad->c, &bad->host, bad->in, bad->out, &bad->error);
}

static HoloStatus bad_check(Bad *bad)
{
    size_t     scratch;
    HoloStatus status = kernel_check(HOLO_KERNEL_conv_nhwc_f32, &bad->call, &scratch);
    return status;
}

static void checks_refuse(void **state)
{
    (void)state;
    const Shape good = {2, 1, 20, 40, 1, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, 0};
    Bad         bad;
    bad_init(&bad, &good, HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_WINOGRAD);
    assert_int_equal(bad_check(&bad), HOLO_OK);
    const HoloCpuKernel *kernel = holo_cpu_kernel_find(HOLO_KERNEL_conv_nhwc_f32);
    assert_int_equal(kernel_packed(kernel->id, &bad.call, 1), 36 * 3 * 16 * 20 * 4);
    assert_int_equal(kernel_packed(kernel->id, &bad.call, 0), -1);
    ((HoloConvNhwcParams *)(void *)&bad.c.params)->flags = HOLO_CONV_NHWC_PACKED | SMALL_TILES;
    assert_int_equal(kernel_packed(kernel->id, &bad.call, 1), 16 * 3 * 16 * 20 * 4);
    int64_t *const sizes[] = {&bad.c.out.dim[3], &bad.c.out.dim[1], &bad.c.out.dim[0], &bad.c.in[1].dim[1],
                              &bad.c.in[2].dim[0]};
    for (int i = 0; i < HOLO_COUNT(sizes); i++) {
        int64_t was = *sizes[i];
        *sizes[i]   = was + 1;
        assert_int_equal(bad_check(&bad), HOLO_BAD_ARCHIVE);
        *sizes[i] = was;
    }
    bad.c.in[0].dtype = HOLO_F64;
    assert_int_equal(bad_check(&bad), HOLO_BAD_ARCHIVE);
    bad.c.in[0].dtype = HOLO_F32;
    for (uint32_t flags = 0; flags < 32; flags++) {
        ((HoloConvNhwcParams *)(void *)&bad.c.params)->flags = flags;
        bool fine = flags == 1 || flags == 3 || flags == 5 || flags == (1 | SMALL_TILES);
        assert_int_equal(bad_check(&bad), fine ? HOLO_OK : HOLO_BAD_ARCHIVE);
    }
    case_free(&bad.c);
    for (int i = 0; i < HOLO_COUNT(shapes); i++) {
        bad_init(&bad, &shapes[i], HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_WINOGRAD);
        assert_int_equal(bad_check(&bad), can_transform(&shapes[i]) ? HOLO_OK : HOLO_BAD_ARCHIVE);
        case_free(&bad.c);
        bad_init(&bad, &shapes[i], HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_GROUPS);
        assert_int_equal(bad_check(&bad), has_groups(&shapes[i]) ? HOLO_OK : HOLO_BAD_ARCHIVE);
        case_free(&bad.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_weights),
        cmocka_unit_test(groups_of_few_channels),
        cmocka_unit_test(transformed_weights),
        cmocka_unit_test(weights_transformed_in_the_run),
        cmocka_unit_test(tiles_of_a_row),
        cmocka_unit_test(padding_is_not_multiplied),
        cmocka_unit_test(large_dilations),
        cmocka_unit_test(all_tails),
        cmocka_unit_test(transformed_weights_are_close),
        cmocka_unit_test(choices),
        cmocka_unit_test(large_weights),
        cmocka_unit_test(checks_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
