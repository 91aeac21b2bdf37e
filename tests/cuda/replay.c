// replay.c - runs archives several times: the first run launches each step, later ones replay a recording. Equal inputs
// must give equal bits, and other inputs other answers. With -t N it then prints the best time of N runs, in milliseconds.
// With -v it only prints how long each phase up to the first answer takes.
#include "hologram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static HoloError error;

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, error.text);
    return 1;
}

static void fill(HoloTensor *t, int seed)
{
    int64_t count = holo_tensor_count(t);
    for (int64_t i = 0; i < count; i++) {
        if (t->dtype == HOLO_F32) ((float *)t->data)[i] = (float)sin((double)i * 0.37 + seed);
        if (t->dtype == HOLO_I64) ((int64_t *)t->data)[i] = (i + seed) % 2;
        if (t->dtype == HOLO_I32) ((int32_t *)t->data)[i] = (int32_t)((i + seed) % 2);
    }
}

static int run(HoloSession *session, int inputs, HoloTensor *in, int seed)
{
    for (int i = 0; i < inputs; i++) fill(&in[i], seed);
    return holo_session_run(session, &error);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double best_of(HoloSession *session, int runs)
{
    double best = 1e30;
    for (int i = 0; i < runs; i++) {
        double start = now();
        if (holo_session_run(session, &error)) return -1;
        double took = now() - start;
        if (took < best) best = took;
    }
    return best;
}

static int check(HoloSession *session, int inputs, HoloTensor *in)
{
    static const int seeds[] = {1, 1, 2, 1, 2, 1};
    HoloTensor       out;
    void            *first = NULL;
    for (int i = 0; i < 6; i++) {
        if (run(session, inputs, in, seeds[i]) || holo_session_output(session, 0, &out, &error)) return fail("run");
        size_t size = holo_tensor_bytes(&out);
        if (!i) first = malloc(size + 1);
        if (!i) memcpy(first, out.data, size);
        int same = !memcmp(first, out.data, size);
        if (same != (seeds[i] == 1)) {
            fprintf(stderr, "run %d: the answer is %s\n", i,
                    same ? "that of other inputs" : "another one for the same inputs");
            return 1;
        }
    }
    free(first);
    return 0;
}

static int model_check(const char *path, int runs)
{
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   in[16];
    if (holo_model_open(path, &model, &error) || holo_session_create(model, NULL, &session, &error)) return fail(path);
    int inputs = holo_model_input_count(model);
    for (int i = 0; i < inputs && i < 16; i++)
        if (holo_session_input(session, i, &in[i], &error)) return fail(path);
    int status = check(session, inputs, in);
    if (!status && runs) printf("%s: best of %d runs: %.3f ms\n", path, runs, best_of(session, runs));
    if (!status) printf("%s: runs agree\n", path);
    holo_session_destroy(session);
    holo_model_close(model);
    return status;
}

static void tell(void *state, HoloLogLevel level, const char *text)
{
    (void)level;
    fprintf(stderr, "%8.1f ms  %s\n", now() - *(const double *)state, text);
}

static int phases(const char *path)
{
    static double start;
    HoloContext  *context;
    HoloModel    *model;
    HoloSession  *session;
    HoloTensor    in[16];
    start = now();
    if (holo_context_create(NULL, &context, &error)) return fail("context");
    holo_context_set_log(context, HOLO_LOG_DEBUG, tell, &start);
    if (holo_model_open_in(context, path, 0, &model, &error)) return fail(path);
    tell(&start, HOLO_LOG_DEBUG, "open");
    if (holo_session_create(model, NULL, &session, &error)) return fail(path);
    tell(&start, HOLO_LOG_DEBUG, "session");
    int inputs = holo_model_input_count(model);
    for (int i = 0; i < inputs && i < 16; i++)
        if (holo_session_input(session, i, &in[i], &error)) return fail(path);
    for (int i = 0; i < 3; i++) {
        if (run(session, inputs, in, 1)) return fail("run");
        tell(&start, HOLO_LOG_DEBUG, "run");
    }
    holo_session_destroy(session);
    holo_model_close(model);
    holo_context_destroy(context);
    return 0;
}

int main(int argc, char **argv)
{
    int from = 1, runs = 0, status = 0;
    if (argc > 2 && !strcmp(argv[1], "-t")) runs = atoi(argv[2]), from = 3;
    if (argc > 2 && !strcmp(argv[1], "-v")) return phases(argv[2]);
    for (int i = from; i < argc; i++) status |= model_check(argv[i], runs);
    return status;
}
