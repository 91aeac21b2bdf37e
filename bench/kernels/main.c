// main.c - the matrix product and the convolution beside OpenBLAS and oneDNN: each case is run by all in turn, in
// one process, best of many; a line of JSON for each.
//
//     kernels THREADS SECONDS [CASE...]
//
// The first line is of the machine; there is no other without cases. A case is MxNxK, or
// CHANNELSxHEIGHTxWIDTHxFILTERSxKERNELxSTRIDExDILATIONxGROUPS. SECONDS is how long each case takes in all. Weights are
// made ready beforehand, in the form that a contender likes best. Answers must agree.
#include "bench.h"

#include "base/files.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const Contender *const contenders[] = {&own, &dnnl, &openblas};
enum { TURNS = 6, RUNS_MIN = 2 };

void fail(const char *what, ...)
{
    va_list args;
    va_start(args, what);
    fputs("kernels: ", stderr);
    vfprintf(stderr, what, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

void *take(size_t size)
{
    void *memory = aligned_alloc(64, holo_align(size + 1, 64));
    if (!memory) fail("no memory for %zu bytes", size);
    memset(memory, 0, size);
    return memory;
}

static float *random_floats(int64_t count, uint64_t seed)
{
    HoloRandom random = {seed};
    float     *x      = take((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i] = (float)(holo_random_unit(&random) - 0.5);
    return x;
}

static Case case_read(const char *text)
{
    long long n[8];
    Case      c = {.text = text};
    int       count =
        sscanf(text, "%lldx%lldx%lldx%lldx%lldx%lldx%lldx%lld", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]);
    for (int i = 0; i < count; i++)
        if (n[i] < 1 || n[i] > 1 << 20) count = 0;
    if (count == 3) {
        c.m = n[0], c.n = n[1], c.k = n[2];
        c.in_count = c.m * c.k, c.weight_count = c.k * c.n, c.out_count = c.m * c.n;
        c.gflops = 2e-9 * (double)c.m * (double)c.n * (double)c.k;
        return c;
    }
    if (count != 8 || n[0] % n[7] || n[3] % n[7])
        fail("'%s' is neither a product such as 128x768x768 nor a convolution such as 64x56x56x64x3x1x1x1", text);
    c.is_conv  = true;
    c.channels = n[0], c.height = n[1], c.width = n[2], c.filters = n[3];
    c.kernel = n[4], c.stride = n[5], c.dilation = n[6], c.groups = n[7];
    c.pad        = c.kernel / 2 * c.dilation;
    int64_t span = (c.kernel - 1) * c.dilation;
    c.out_height = (c.height + 2 * c.pad - span - 1) / c.stride + 1;
    c.out_width  = (c.width + 2 * c.pad - span - 1) / c.stride + 1;
    if (c.out_height < 1 || c.out_width < 1) fail("'%s' has no output", text);
    int64_t each   = c.channels / c.groups * c.kernel * c.kernel;
    c.in_count     = c.channels * c.height * c.width;
    c.weight_count = c.filters * each;
    c.out_count    = c.out_height * c.out_width * c.filters;
    c.gflops       = 2e-9 * (double)c.out_count * (double)each;
    return c;
}

static void compare(const Case *c, const char *name, const float *want, const float *got)
{
    float top = 0, off = 0;
    for (int64_t i = 0; i < c->out_count; i++) {
        float difference = fabsf(want[i] - got[i]);
        if (fabsf(want[i]) > top) top = fabsf(want[i]);
        if (!(difference <= off)) off = difference;
    }
    if (!(off <= 1e-4f * top)) fail("%s: %s gives another answer, off by %g of %g", c->text, name, off, top);
}

// Threads of OpenMP and of OpenBLAS look for work for up to 0.1 s before they sleep, on a core that the next in turn
// wants.
static void let_others_sleep(int threads)
{
    if (threads > 1) nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
}

static double turn(const Contender *who, void *state, double seconds)
{
    double best = 1e9, start = holo_time_now(), last = start;
    who->run(state); // brings back what the others have driven from the caches
    for (int runs = 0; runs < RUNS_MIN || last - start < seconds; runs++) {
        double from = holo_time_now();
        who->run(state);
        last = holo_time_now();
        if (last - from < best) best = last - from;
    }
    return best;
}

static void measure(const char *text, int threads, double seconds)
{
    Case   c  = case_read(text);
    float *in = random_floats(c.in_count, 1), *weights = random_floats(c.weight_count, 2);
    float *answers = take((size_t)c.out_count * 2 * sizeof(float));
    double best[HOLO_COUNT(contenders)];
    void  *state[HOLO_COUNT(contenders)] = {NULL};
    c.in = in, c.weights = weights;
    for (int i = 0; i < HOLO_COUNT(contenders); i++) {
        const Contender *who = contenders[i];
        best[i]              = 1e9;
        if (who->missing || !(c.is_conv ? who->takes_convs : who->takes_products)) continue;
        state[i] = who->open(&c, threads);
        who->run(state[i]);
        who->answer(state[i], answers + (i ? c.out_count : 0));
        if (i) compare(&c, who->name, answers, answers + c.out_count);
    }
    for (int t = 0; t < TURNS; t++)
        for (int i = 0; i < HOLO_COUNT(contenders); i++)
            if (state[i]) {
                let_others_sleep(threads);
                best[i] = fmin(best[i], turn(contenders[i], state[i], seconds / TURNS / HOLO_COUNT(contenders)));
            }
    printf("{\"case\": \"%s\", \"gflops\": %.9g", text, c.gflops);
    for (int i = 0; i < HOLO_COUNT(contenders); i++)
        if (state[i]) {
            printf(", \"%s\": %.3f", contenders[i]->name, 1e6 * best[i]);
            contenders[i]->close(state[i]);
        }
    printf("}\n");
    fflush(stdout);
    free(in), free(weights), free(answers);
}

int main(int argc, char **argv)
{
    int    threads = argc > 1 ? atoi(argv[1]) : 0;
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    if (threads < 1 || !(seconds > 0)) {
        fprintf(stderr, "usage: kernels THREADS SECONDS [CASE...]\n");
        return 2;
    }
    printf("{\"level\": \"%s\", \"peak\": %.2f", own_level(), peak(own_level()));
    for (int i = 0; i < HOLO_COUNT(contenders); i++)
        if (contenders[i]->missing) printf(", \"no %s\": \"%s\"", contenders[i]->name, contenders[i]->missing);
    printf("}\n");
    for (int i = 3; i < argc; i++) measure(argv[i], threads, seconds);
    return 0;
}
