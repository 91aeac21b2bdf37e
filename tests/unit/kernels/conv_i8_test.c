// conv_i8_test.c - convolutions of 8-bit integers: as the compiler chooses them, on every table, against the eval of
// their operators.
#include "support/watched.h"
#include "unit/kernels/int8_case.h"

// ---- conv_i8

typedef struct ConvCase {
    int     rank;
    int64_t x[5], w[5];
    int64_t group, stride, dilation, pad;
} ConvCase;

static const ConvCase convs[] = {
    {3, {1, 1, 1}, {1, 1, 1}, 1, 1, 1, 0},
    {3, {2, 3, 19}, {5, 3, 3}, 1, 1, 1, 1},
    {3, {1, 80, 300}, {33, 80, 3}, 1, 2, 1, 1},
    {4, {1, 3, 9, 11}, {25, 3, 3, 3}, 1, 1, 1, 1},
    {4, {2, 6, 20, 21}, {6, 1, 3, 3}, 6, 2, 1, 1},   // depthwise
    {4, {1, 4, 17, 17}, {10, 2, 5, 5}, 2, 3, 2, 4},  // groups, dilated
    {4, {1, 37, 5, 5}, {130, 37, 1, 1}, 1, 1, 1, 0}, // few pixels: parts of the filters
    {5, {1, 2, 4, 5, 6}, {3, 2, 2, 3, 3}, 1, 1, 1, 1},
    {4, {1, 600, 3, 20}, {7, 600, 3, 3}, 1, 1, 1, 1}, // long filters
    {4, {0, 3, 9, 11}, {2, 3, 3, 3}, 1, 1, 1, 1},
};

static void conv_attrs(Case *c, const ConvCase *v, int64_t lines[3][6])
{
    for (int i = 0; i < 6; i++) lines[0][i] = v->stride, lines[1][i] = v->dilation, lines[2][i] = v->pad;
    attr_ints(c, "strides", v->rank - 2, lines[0]);
    attr_ints(c, "dilations", v->rank - 2, lines[1]);
    attr_ints(c, "pads", 2 * (v->rank - 2), lines[2]);
    attr_int(c, "group", v->group);
}

static void conv_integer(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(convs); i++)
        for (int t = 0; t < 8; t++) {
            const ConvCase *v = &convs[i];
            HoloDtype       x = t & 1 ? HOLO_I8 : HOLO_U8, w = t & 2 ? HOLO_I8 : HOLO_U8;
            int64_t         lines[3][6];
            Case            c = {.op = "ConvInteger", .version = 10, .in_count = t & 4 ? 4 : 2};
            c.in[0]           = bytes(x, v->rank, v->x);
            c.in[1]           = bytes(w, v->rank, v->w);
            if (t & 4) c.in[2] = bytes(x, 0, NULL), c.in[3] = bytes(w, t & 1, v->w);
            conv_attrs(&c, v, lines);
            check_lowered(&c, HOLO_KERNEL_conv_i8);
        }
}

static void qlinear_conv(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(convs); i++)
        for (int t = 0; t < 4; t++) {
            const ConvCase *v = &convs[i];
            HoloDtype       x = t & 1 ? HOLO_I8 : HOLO_U8, w = t & 2 ? HOLO_I8 : HOLO_U8;
            int64_t         lines[3][6], k                   = holo_product(v->rank - 1, v->w + 1);
            Case            c = {.op = "QLinearConv", .version = 10, .in_count = t & 1 ? 9 : 8};
            c.in[0]           = bytes(x, v->rank, v->x);
            c.in[1]           = scales(0, 0, 0.1f);
            c.in[2]           = bytes(x, 0, NULL);
            c.in[3]           = bytes(w, v->rank, v->w);
            c.in[4]           = scales(t & 1, v->w[0], 0.01f);
            c.in[5]           = bytes(w, t >> 1, v->w);
            c.in[6]           = scales(0, 0, 0.05f * (float)k);
            c.in[7]           = bytes(x, 0, NULL);
            if (t & 1) c.in[8] = integers(v->w[0]);
            conv_attrs(&c, v, lines);
            check_lowered(&c, HOLO_KERNEL_conv_i8);
        }
}

// ---- conv_nhwc_i8

static const ConvCase convs_last[] = {
    {3, {1, 1, 1}, {1, 1, 1}, 1, 1, 1, 0},
    {3, {2, 19, 3}, {5, 3, 3}, 1, 1, 1, 1},
    {3, {2, 40, 33}, {33, 1, 5}, 33, 2, 1, 2}, // depthwise
    {4, {1, 9, 11, 3}, {25, 3, 3, 3}, 1, 1, 1, 1},
    {4, {2, 20, 21, 70}, {70, 1, 3, 3}, 70, 2, 1, 1},   // two blocks of channels
    {4, {1, 200, 130, 17}, {17, 1, 3, 5}, 17, 1, 2, 3}, // several bands
    {4, {1, 3, 3, 16}, {16, 1, 3, 3}, 16, 3, 1, 7},     // bands that see nothing but padding
    {4, {1, 17, 17, 4}, {10, 2, 5, 5}, 2, 3, 2, 4},     // groups, dilated
    {4, {1, 6, 6, 6}, {12, 1, 3, 3}, 6, 1, 1, 1},       // two filters for each channel
    {4, {3, 7, 5, 37}, {210, 37, 1, 1}, 1, 1, 1, 0},    // pixels as they lie
    {4, {1, 7, 5, 37}, {20, 37, 1, 1}, 1, 2, 1, 0},
    {5, {1, 4, 5, 6, 2}, {3, 2, 2, 3, 3}, 1, 1, 1, 1},
    {5, {1, 4, 5, 6, 3}, {3, 1, 2, 3, 3}, 3, 1, 1, 1},
    {4, {1, 3, 20, 600}, {7, 600, 3, 3}, 1, 1, 1, 1}, // long filters
    {4, {1, 49, 40, 1}, {16, 1, 8, 8}, 1, 1, 1, 3},   // short runs
    {4, {1, 33, 50, 3}, {9, 3, 16, 16}, 1, 16, 1, 0}, // many places
    {4, {1, 40, 20, 17}, {17, 1, 15, 15}, 17, 2, 1, 7},
    {4, {1, 9, 150, 20}, {20, 1, 5, 5}, 20, 2, 1, 2}, // several runs of pixels
    {4, {1, 12, 9, 33}, {33, 1, 7, 2}, 33, 1, 1, 3},
    {4, {1, 3, 70, 5}, {9, 5, 2, 3}, 1, 4, 3, 5},       // lines that are not next to each other
    {4, {1, 9, 13, 48}, {40, 48, 1, 1}, 1, 1, 1, 0},    // pixels as they lie, of whole quads
    {4, {1, 5, 6, 1024}, {20, 1024, 1, 1}, 1, 1, 1, 0}, // and of a distance that caches dislike
    {4, {1, 14, 14, 12}, {33, 12, 3, 3}, 1, 1, 1, 1},   // two tiles
    {4, {1, 7, 7, 20}, {130, 20, 3, 3}, 1, 1, 1, 1},    // one tile of pixels, several of filters
    {4, {2, 5, 40, 16}, {32, 16, 3, 3}, 1, 1, 2, 2},    // pixels in the middle of a row
    {4, {1, 6, 41, 68}, {33, 68, 3, 7}, 1, 3, 1, 3},    // pieces of more than one register
    {4, {1, 3, 2, 5}, {9, 5, 3, 5}, 1, 1, 1, 2},        // no pixel sees all inside
    {4, {2, 12, 30, 16}, {20, 16, 3, 3}, 1, 1, 1, 0},   // lines as they lie
    {4, {2, 25, 31, 16}, {33, 16, 3, 3}, 1, 2, 1, 1},   // and with what is around them, of more than one image
    {4, {1, 4, 263, 20}, {18, 20, 3, 3}, 1, 1, 1, 1},   // rows of more than one part
    {4, {1, 10, 13, 40}, {24, 20, 3, 3}, 2, 1, 1, 1},   // lines of groups
    {4, {1, 9, 9, 16}, {8, 16, 2, 4}, 1, 2, 1, 3},      // whole lines outside
    {4, {0, 9, 11, 3}, {2, 3, 3, 3}, 1, 1, 1, 1},
};

// Every table against eval, with filters packed; by 1 and by 3 workers.
static void check_packed(Case *c, int w, int64_t groups)
{
    HoloLowering lowering = {.kernel = HOLO_KERNEL_conv_nhwc_i8, .pack_input = w, .pack_groups = groups};
    void        *all      = packed_weights(&lowering, &c->in[w]);
    c->kernel             = HOLO_KERNEL_conv_nhwc_i8;
    memcpy(&c->params, &(uint32_t){sizeof c->params}, sizeof(uint32_t));
    void *want = run_eval(c), *plain = c->in[w].data;
    c->in[w].data = all;
    for (int t = 0; holo_kernels_at(t); t++)
        for (int workers = 1; workers <= 3; workers += 2) {
            void *got = run_kernel(c, holo_kernels_at(t), workers);
            assert_memory_equal(got, want, holo_tensor_bytes(&c->out));
            free(got);
        }
    free(want), free(all);
    c->in[w].data = plain;
    for (int i = 0; i < c->in_count; i++) free(c->in[i].data);
}

// Of t, 4 and 5: with scales that give infinite results, and none; from 8 on: with steps that are small, and tiny.
static void qlinear_conv_last(void **state)
{
    (void)state;
    int step = watched_step("the convolutions with channels last", 5);
    for (int i = 0; i < HOLO_COUNT(convs_last); i++)
        for (int t = i % step; t < 12; t += step) { // from 6 on, zero points of filters are 0
            const ConvCase *v = &convs_last[i];
            HoloDtype       x = t & 1 ? HOLO_I8 : HOLO_U8, w = t & 2 ? HOLO_I8 : HOLO_U8;
            int64_t         lines[3][6], k                   = holo_product(v->rank - 1, v->w + 1);
            bool            full = t & 1 || t == 6;
            Case c  = {.op = "QLinearConv", .domain = "com.microsoft", .version = 1, .in_count = full ? 9 : 8};
            c.in[0] = bytes(x, v->rank, v->x);
            c.in[1] = scales(0, 0, 0.1f);
            c.in[2] = bytes(x, 0, NULL);
            c.in[3] = bytes(w, v->rank, v->w);
            c.in[4] = scales(full, v->w[0], 0.01f);
            c.in[5] = bytes(w, t >> 1 & 1, v->w);
            c.in[6] = scales(0, 0, 0.05f * (float)k);
            c.in[7] = bytes(x, 0, NULL);
            if (full) c.in[8] = integers(v->w[0]);
            conv_attrs(&c, v, lines);
            attr_int(&c, "channels_last", 1);
            if (t > 5) memset(c.in[5].data, 0, holo_tensor_bytes(&c.in[5]));
            if (t == 4 || t == 5) *(float *)c.in[6].data = t > 4 ? 0 : 1e-44f;
            if (t > 7) *(float *)c.in[6].data = t < 11 ? 1e-3f : 1e-30f;
            check_packed(&c, 3, v->group);
        }
}

// The same to real numbers, bit by bit; with and without zero points and bias. Filters of one channel are not for it.
static void conv_real_last(void **state)
{
    (void)state;
    int step = watched_step("the convolutions to real numbers", 3);
    for (int i = 0; i < HOLO_COUNT(convs_last); i++)
        for (int t = i % step; t < 8; t += step) {
            const ConvCase *v = &convs_last[i];
            HoloDtype       x = t & 1 ? HOLO_I8 : HOLO_U8, w = t & 2 ? HOLO_I8 : HOLO_U8;
            int64_t         lines[3][6];
            if (holo_conv_i8_is_depthwise(v->rank, v->group, v->w[0] / v->group, v->w[1])) continue;
            Case c  = {.op = "ConvIntegerToFloat", .domain = "hologram", .version = 1, .in_count = 7};
            c.in[0] = bytes(x, v->rank, v->x);
            c.in[1] = bytes(w, v->rank, v->w);
            c.in[2] = scales(0, 0, 0.1f);
            c.in[3] = scales(t & 1, v->w[0], 0.01f);
            if (t != 3) c.in[4] = bytes(x, 0, NULL);
            if (t < 4) c.in[5] = bytes(w, t >> 1 & 1, v->w);
            if (t & 1) c.in[6] = tensor(1, v->w);
            conv_attrs(&c, v, lines);
            attr_int(&c, "channels_last", 1);
            HoloLowering lowering = case_lowering(&c, true);
            if (holo_product(v->rank, v->x)) assert_int_equal(lowering.kernel, HOLO_KERNEL_conv_nhwc_i8);
            check_packed(&c, 1, v->group);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_integer),
        cmocka_unit_test(qlinear_conv),
        cmocka_unit_test(qlinear_conv_last),
        cmocka_unit_test(conv_real_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
