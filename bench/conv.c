// conv.c - how fast convolutions with channels last are, layer by layer, on one thread: best of many.
//
//     conv [CHANNELSxHEIGHTxWIDTHxFILTERSxKERNELxSTRIDExGROUPS ...]
//
// Rates are of the multiplications and additions of the plain sum, so a layer by transformed tiles may show
// more than the core's peak. Each layer is run as the kernel of an archive is, weights packed beforehand, in
// every way that fits it.
#include "base/base.h"
#include "base/files.h"
#include "kernels/kernels.h"
#include "lower/lower.h"
#include "ops/op.h"
#include "runtime/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Layer {
    const char *model;
    int64_t     channels, height, width, filters, kernel, stride, groups;
} Layer;

static const Layer layers[] = {
    {"resnet50", 3, 224, 224, 64, 7, 2, 1},        {"resnet50", 64, 56, 56, 64, 1, 1, 1},
    {"resnet50", 64, 56, 56, 64, 3, 1, 1},         {"resnet50", 64, 56, 56, 256, 1, 1, 1},
    {"resnet50", 256, 56, 56, 64, 1, 1, 1},        {"resnet50", 128, 56, 56, 128, 3, 2, 1},
    {"resnet50", 128, 28, 28, 128, 3, 1, 1},       {"resnet50", 128, 28, 28, 512, 1, 1, 1},
    {"resnet50", 256, 14, 14, 256, 3, 1, 1},       {"resnet50", 256, 14, 14, 1024, 1, 1, 1},
    {"resnet50", 1024, 14, 14, 256, 1, 1, 1},      {"resnet50", 512, 7, 7, 512, 3, 1, 1},
    {"resnet50", 512, 7, 7, 2048, 1, 1, 1},        {"resnet50", 1024, 14, 14, 2048, 1, 2, 1},
    {"mobilenet_v2", 3, 224, 224, 32, 3, 2, 1},    {"mobilenet_v2", 32, 112, 112, 32, 3, 1, 32},
    {"mobilenet_v2", 32, 112, 112, 16, 1, 1, 1},   {"mobilenet_v2", 16, 112, 112, 96, 1, 1, 1},
    {"mobilenet_v2", 96, 112, 112, 96, 3, 2, 96},  {"mobilenet_v2", 96, 56, 56, 24, 1, 1, 1},
    {"mobilenet_v2", 144, 56, 56, 144, 3, 1, 144}, {"mobilenet_v2", 192, 28, 28, 192, 3, 1, 192},
    {"mobilenet_v2", 384, 14, 14, 384, 3, 1, 384}, {"mobilenet_v2", 384, 14, 14, 96, 1, 1, 1},
    {"mobilenet_v2", 960, 7, 7, 960, 3, 1, 960},   {"mobilenet_v2", 320, 7, 7, 1280, 1, 1, 1},
    {"efficientnet", 240, 28, 28, 240, 5, 2, 240}, {"efficientnet", 672, 14, 14, 672, 5, 1, 672},
    {"vgg16", 3, 224, 224, 64, 3, 1, 1},           {"vgg16", 64, 224, 224, 64, 3, 1, 1},
    {"vgg16", 128, 112, 112, 128, 3, 1, 1},        {"vgg16", 256, 56, 56, 256, 3, 1, 1},
    {"vgg16", 512, 28, 28, 512, 3, 1, 1},          {"vgg16", 512, 14, 14, 512, 3, 1, 1},
    {"resnext", 128, 56, 56, 128, 3, 1, 32},
};

static void *take(size_t size)
{
    void *memory = aligned_alloc(64, holo_align(size + 1, 64));
    if (!memory) exit(1);
    return memory;
}

static float *random_floats(int64_t count)
{
    HoloRandom random = {1};
    float     *x      = take((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i] = (float)(holo_random_unit(&random) - 0.5);
    return x;
}

static void parallel(const HoloHost *host, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    (void)host;
    for (int64_t i = 0; i < count; i++) work(arg, i, 0);
}

static void fail(const HoloError *error)
{
    fprintf(stderr, "conv: %s\n", error->text);
    exit(1);
}

static float *pack(const HoloLowering *lowering, const HoloTensor *w)
{
    HoloPacking packing = holo_lower_packing(lowering, w);
    char       *packed = take(packing.bytes + HOLO_PACK_PART), *at = packed;
    for (int64_t i = 0; i < packing.part_count; i++) at += holo_lower_pack(lowering, w, i, at);
    return (float *)(void *)packed;
}

// Seconds that the call takes, the best of `seconds` of trying.
static double measure(HoloCall *call, double seconds)
{
    const HoloKernel *kernel = holo_kernel_find(HOLO_KERNEL_conv_nhwc_f32);
    size_t            scratch;
    HoloHost         *host = (HoloHost *)(uintptr_t)call->host;
    if (kernel->check(call, &scratch)) fail(call->error);
    host->scratch_stride = holo_align(scratch, 64);
    host->scratch        = take(host->scratch_stride);
    double best = 1e9, start = holo_time_now(), last = start;
    do {
        if (kernel->run(call)) fail(call->error);
        double at = holo_time_now();
        if (at - last < best) best = at - last;
        last = at;
    } while (last - start < seconds);
    free(host->scratch);
    return best;
}

static void report(const HoloKernels *kernels, const Layer *l)
{
    int64_t    strides[] = {l->stride, l->stride}, pad = l->kernel / 2, pads[] = {pad, pad, pad, pad};
    int64_t    height = (l->height + 2 * pad - l->kernel) / l->stride + 1;
    int64_t    width  = (l->width + 2 * pad - l->kernel) / l->stride + 1;
    HoloTensor x      = {.dtype = HOLO_F32, .rank = 4, .dim = {1, l->height, l->width, l->channels}};
    HoloTensor w   = {.dtype = HOLO_F32, .rank = 4, .dim = {l->filters, l->channels / l->groups, l->kernel, l->kernel}};
    HoloTensor out = {.dtype = HOLO_F32, .rank = 4, .dim = {1, height, width, l->filters}};
    HoloAttr   attr[]         = {{.name = "group", .kind = HOLO_ATTR_INT, .count = 1, .i = l->groups},
                                 {.name = "strides", .kind = HOLO_ATTR_INTS, .count = 2, .ints = strides},
                                 {.name = "pads", .kind = HOLO_ATTR_INTS, .count = 4, .ints = pads}};
    float     *weights        = random_floats(holo_tensor_count(&w));
    x.data                    = random_floats(holo_tensor_count(&x));
    out.data                  = random_floats(holo_tensor_count(&out));
    HoloError          error  = {0};
    HoloHost           host   = {.parallel = parallel, .workers = 1, .kernels = kernels};
    const HoloTensor  *in[]   = {&x, &w};
    HoloTensor        *outs[] = {&out};
    HoloConvNhwcParams params = {.size = sizeof params, .flags = HOLO_CONV_NHWC_PACKED};
    HoloCall           call   = {.node        = "layer",
                                 .version     = 1,
                                 .in_count    = 2,
                                 .out_count   = 1,
                                 .in          = in,
                                 .out         = outs,
                                 .attr        = attr,
                                 .attr_count  = HOLO_COUNT(attr),
                                 .params      = &params,
                                 .params_size = sizeof params,
                                 .host        = &host,
                                 .error       = &error};
    double             flops  = 2e-9 * (double)holo_tensor_count(&out) * (double)(w.dim[1] * l->kernel * l->kernel);
    printf("%-7s %-13s %4lldx%lldx%-4lld %5lld of %lldx%lld, %lld, %-4lld", kernels->level, l->model,
           (long long)l->channels, (long long)l->height, (long long)l->width, (long long)l->filters,
           (long long)l->kernel, (long long)l->kernel, (long long)l->stride, (long long)l->groups);
    for (int transformed = 0; transformed < 2; transformed++) {
        if (transformed && (l->kernel != 3 || l->stride != 1 || l->groups != 1)) continue;
        if (transformed) params.flags |= HOLO_CONV_NHWC_WINOGRAD;
        HoloLowering lowering = {.kernel = HOLO_KERNEL_conv_nhwc_f32, .conv_nhwc = params, .pack_groups = l->groups};
        w.data                = weights;
        w.data                = pack(&lowering, &w);
        double spent          = measure(&call, 0.3);
        printf("  %s %8.3f ms %7.1f GFLOP/s", transformed ? "tiles" : "plain", 1e3 * spent, flops / spent);
        free(w.data);
    }
    printf("\n");
    free(weights), free(x.data), free(out.data);
}

int main(int argc, char **argv)
{
    const HoloKernels *kernels = holo_kernels(0);
    for (int i = 1; i < argc; i++) {
        Layer     l = {.model = "layer"};
        long long n[7];
        if (sscanf(argv[i], "%lldx%lldx%lldx%lldx%lldx%lldx%lld", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6]) !=
            7) {
            fprintf(stderr, "conv: '%s' is not a layer such as 64x56x56x64x3x1x1\n", argv[i]);
            return 2;
        }
        l.channels = n[0], l.height = n[1], l.width = n[2], l.filters = n[3];
        l.kernel = n[4], l.stride = n[5], l.groups = n[6];
        report(kernels, &l);
    }
    for (int i = 0; argc < 2 && i < HOLO_COUNT(layers); i++) report(kernels, &layers[i]);
    return 0;
}
