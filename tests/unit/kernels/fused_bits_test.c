// fused_bits_test.c - in class fused, where a CPU rounds a multiplication and an addition once, these kernels have the
// same bits at every level. The hashes say which: a change of them changes what models answer. Numbers that are no
// normal ones, where kernels may give 0, are not among them.
#include "base/base.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t seed = 1;

// Numbers from -scale to scale, a power of two, and `more`.
static float *filled(int64_t count, float scale, float more)
{
    float *x = malloc((size_t)count * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)((int32_t)(seed >> 8) - (1 << 23)) * 0x1p-23f * scale + more;
    }
    return x;
}

static uint32_t hash_of(const float *x, int64_t count)
{
    uint32_t hash = 2166136261u;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 16777619u;
    }
    return hash;
}

// What is computed of x, which it may be written over: of each table of class fused the same.
typedef struct Case {
    void (*run)(const struct Case *c, const HoloKernelTable *kernels, float *x);
    const char *what;
    int64_t     rows, n;
    float       scale, more;
    uint32_t    hash;
    uint32_t    map; // a function; a window; or whether there is a bias
} Case;

static void run_map(const Case *c, const HoloKernelTable *kernels, float *x)
{
    kernels->map_f32(&(HoloMap){.op = c->map, .n = c->rows * c->n, .a = x, .b = x, .out = x});
}

static void run_rows(const Case *c, const HoloKernelTable *kernels, float *x)
{
    kernels->softmax_f32(c->rows, c->n, x, x);
}

static void run_columns(const Case *c, const HoloKernelTable *kernels, float *x)
{
    kernels->softmax_columns_f32(c->rows, c->n, x, c->n, false, x);
}

static void run_layer(const Case *c, const HoloKernelTable *kernels, float *x)
{
    float   *scale = filled(c->n, 2, 0), *bias = filled(c->n, 2, 0);
    HoloNorm norm = {.n = c->n, .x = x, .scale = scale, .run = 1, .groups = 1, .epsilon = 1e-5f, .out = x};
    norm.bias     = c->map ? bias : NULL;
    norm.centered = true;
    kernels->norm_f32(&norm, 0, c->rows);
    free(scale), free(bias);
}

static void run_rms(const Case *c, const HoloKernelTable *kernels, float *x)
{
    float   *scale = filled(c->n, 2, 0);
    HoloNorm norm  = {.n = c->n, .x = x, .scale = scale, .run = 1, .groups = 1, .epsilon = 1e-5f, .out = x};
    kernels->norm_f32(&norm, 0, c->rows);
    free(scale);
}

// Channels of images that are eight wide, under windows of `map` in both directions.
static void run_windows(const Case *c, const HoloKernelTable *kernels, float *x)
{
    int64_t       k = c->map, height = c->n / 8, places = height / k * (8 / k);
    float        *last = filled(c->n * c->rows, 1, 0), *out = filled(places * c->rows, 1, 0);
    float        *scratch = aligned_alloc(64, HOLO_POOL_SCRATCH * sizeof *scratch);
    HoloConvShape shape   = {.in       = {1, height, 8},
                             .out      = {1, height / k, 8 / k},
                             .kernel   = {1, k, k},
                             .stride   = {1, k, k},
                             .dilation = {1, 1, 1}};
    assert_non_null(scratch);
    kernels->transpose_f32(c->rows, c->n, x, c->n, last, c->rows);
    kernels->pool_f32(
        &(HoloPooling){.shape = &shape, .image = last, .channels = c->rows, .out = out, .scratch = scratch}, 0,
        height / k);
    kernels->transpose_f32(places, c->rows, out, c->rows, x, places);
    free(last), free(out), free(scratch);
}

static const Case cases[] = {
    {run_map, "exp", 1, 10007, 64, 0, 0x1dce5889, HOLO_MAP_exp},
    {run_map, "erf", 1, 10007, 8, 0, 0x267b1902, HOLO_MAP_erf},
    {run_map, "gelu", 1, 10007, 8, 0, 0x3888b718, HOLO_MAP_gelu},
    {run_map, "gelu by tanh", 1, 10007, 4, 0, 0x48d65032, HOLO_MAP_gelu_tanh},
    {run_map, "gelu by tanh", 1, 10000, 16, 0, 0x3c20fe82, HOLO_MAP_gelu_tanh},
    {run_map, "sin", 1, 10000, 16384, 0, 0x8b926495, HOLO_MAP_sin},
    {run_map, "cos", 1, 10000, 16384, 0, 0x8927aa9a, HOLO_MAP_cos},
    {run_map, "sin", 1, 10000, 8, 0, 0x220d3c2e, HOLO_MAP_sin},
    {run_map, "cos", 1, 10000, 8, 0, 0x96425664, HOLO_MAP_cos},
    {run_rows, "softmax", 37, 1, 8, 0, 0x537e038f, 0},
    {run_rows, "softmax", 37, 5, 8, 0, 0x4f0e400d, 0},
    {run_rows, "softmax", 37, 16, 8, 0, 0xd5b9e53d, 0},
    {run_rows, "softmax", 37, 17, 8, 0, 0x0a25b9c9, 0},
    {run_rows, "softmax", 37, 197, 8, 0, 0x6a86fbec, 0},
    {run_rows, "softmax", 3, 1500, 8, 0, 0x98c3fcb1, 0},
    {run_columns, "softmax of columns", 3, 33, 8, 0, 0x51245203, 0},
    {run_columns, "softmax of columns", 8, 16, 8, 0, 0xdbe3a260, 0},
    {run_columns, "softmax of columns", 16, 40, 8, 0, 0x72a1071c, 0},
    {run_columns, "softmax of columns", 17, 15, 8, 0, 0xf9f8e7ac, 0},
    {run_columns, "softmax of columns", 37, 40, 8, 0, 0x6c82332b, 0},
    {run_columns, "softmax of columns", 200, 17, 8, 0, 0x0b0ca88b, 0},
    {run_layer, "layer", 37, 8, 1, 0.25f, 0x542506e0, 1},
    {run_layer, "layer", 37, 8, 1, 0.25f, 0x547c4405, 0},
    {run_layer, "layer", 37, 12, 1, 0.25f, 0x29da2262, 1},
    {run_layer, "layer", 37, 15, 1, 0.25f, 0x29c53548, 1},
    {run_layer, "layer", 37, 16, 1, 0.25f, 0x79c9de1a, 1},
    {run_layer, "layer", 37, 19, 1, 0.25f, 0x40d52d5c, 1},
    {run_layer, "layer", 37, 22, 1, 0.25f, 0x70669011, 0},
    {run_layer, "layer", 1, 64, 1, 0.25f, 0x6cd672d5, 1},
    {run_layer, "layer", 37, 384, 1, 0.25f, 0x70ddb973, 1},
    {run_layer, "layer", 37, 384, 1, 0.25f, 0x8153f51a, 0},
    {run_layer, "layer", 5, 771, 1, 0.25f, 0xc684b6a6, 1},
    {run_layer, "layer", 3, 4000, 1, 0.25f, 0x123f87db, 1},
    {run_layer, "layer", 2, 9001, 1, 0.25f, 0xc89030d5, 1},
    {run_rms, "layer around 0", 37, 16, 1, 0.25f, 0xff65c1b8, 0},
    {run_rms, "layer around 0", 37, 23, 1, 0.25f, 0xef32d270, 0},
    {run_rms, "layer around 0", 37, 100, 1, 0.25f, 0x51f45cf7, 0},
    {run_rms, "layer around 0", 5, 1029, 1, 0.25f, 0xdd27aefc, 0},
    {run_windows, "means of windows", 16, 48, 1, 0.25f, 0x103f9b73, 2},
    {run_windows, "means of windows", 48, 144, 1, 0.25f, 0x6878bd9b, 4},
    {run_windows, "means of windows", 16, 64, 1, 0.25f, 0x5b49d011, 2},
};

static void test_bits(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        const Case            *c = &cases[i];
        const HoloKernelTable *kernels;
        for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
            if (kernels->exact || !strcmp(kernels->level, "sse2")) continue; // which rounds twice
            int64_t count = c->rows * c->n;
            seed          = 1;
            float *x      = filled(count, c->scale, c->more);
            c->run(c, kernels, x);
            if (c->run == run_windows) count = c->rows * (c->n / 8 / c->map) * (8 / c->map);
            uint32_t hash = hash_of(x, count);
            if (hash != c->hash)
                fail_msg("%s of %d x %d at %s has other bits: 0x%08x", c->what, (int)c->rows, (int)c->n, kernels->level,
                         hash);
            free(x);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
