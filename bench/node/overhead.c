// overhead.c ARCHIVE - the least time of a run of a model with one small input, called from C: what a call from
// elsewhere is held against. Prints nanoseconds, of holo_model_run with memory of the caller.
#include <hologram.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 20000, ROUNDS = 30 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static HoloStatus round_run(const HoloModel *model, double *best, HoloError *error)
{
    const HoloPort *in = holo_model_input(model, 0), *out = holo_model_output(model, 0);
    static float    x[1024], y[1024];
    HoloRunInput    input  = {.tensor = in->type};
    HoloRunOutput   output = {.data = y, .size = holo_tensor_bytes(&out->type)};
    double          begin  = now();
    input.tensor.data      = x;
    for (int i = 0; i < RUNS; i++) {
        HoloStatus status = holo_model_run(model, &input, 1, &output, 1, NULL, error);
        if (status) return status;
    }
    double each = (now() - begin) / RUNS;
    if (each < *best) *best = each;
    return HOLO_OK;
}

int main(int argc, char **argv)
{
    HoloModel *model;
    HoloError  error = {0};
    double     best  = 1e18;
    if (argc != 2) return fprintf(stderr, "usage: overhead ARCHIVE\n"), 2;
    HoloStatus status = holo_model_open(argv[1], &model, &error);
    for (int i = 0; !status && i < ROUNDS; i++) status = round_run(model, &best, &error);
    if (status) return fprintf(stderr, "%s\n", error.text), 1;
    holo_model_close(model);
    printf("%.0f\n", best);
    return 0;
}
