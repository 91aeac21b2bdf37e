// threads.c - one model, many threads: each has a session of its own, the weights are there once.
//
//     cc threads.c $(pkg-config --cflags --libs hologram) -pthread -o threads && ./threads model.holo 4

#include <hologram.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 20, THREADS_MAX = 64 };

typedef struct Worker {
    pthread_t        thread;
    const HoloModel *model;
    HoloError        error;
    unsigned char   *answer; // the bytes of output 0
    size_t           size;
} Worker;

// Every input filled with the same numbers, so that every thread must get the same answer.
static HoloStatus fill(HoloSession *session, const HoloModel *model, void **memory, HoloError *error)
{
    for (int i = 0; i < holo_model_input_count(model); i++) {
        const HoloPort *port   = holo_model_input(model, i);
        HoloTensor      tensor = port->type;
        if (port->optional) continue;
        for (int d = 0; d < tensor.rank; d++)
            if (tensor.dim[d] < 0) tensor.dim[d] = 1;
        tensor.data = memory[i] = calloc(1, holo_tensor_bytes(&tensor) + 1);
        if (tensor.dtype == HOLO_F32)
            for (int64_t k = 0; k < holo_tensor_count(&tensor); k++) ((float *)tensor.data)[k] = (float)(k % 16);
        HoloStatus status = holo_session_set_input(session, i, &tensor, error);
        if (status) return status;
    }
    return HOLO_OK;
}

static void *work(void *arg)
{
    Worker      *worker  = arg;
    HoloSession *session = NULL;
    HoloTensor   view;
    void       **memory = calloc((size_t)holo_model_input_count(worker->model) + 1, sizeof *memory);
    HoloStatus   status = holo_session_create(worker->model, NULL, &session, &worker->error);
    if (!status) status = fill(session, worker->model, memory, &worker->error);
    for (int i = 0; !status && i < RUNS; i++) status = holo_session_run(session, &worker->error);
    if (!status) status = holo_session_output(session, 0, &view, &worker->error);
    if (!status) {
        worker->size   = holo_tensor_bytes(&view);
        worker->answer = malloc(worker->size + 1);
        memcpy(worker->answer, view.data, worker->size);
    }
    if (session) holo_session_destroy(session);
    for (int i = 0; i < holo_model_input_count(worker->model); i++) free(memory[i]);
    free(memory);
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 4;
    if (argc < 2 || count < 1 || count > THREADS_MAX) {
        fprintf(stderr, "usage: threads MODEL.holo [THREADS]\n");
        return 2;
    }
    HoloError  error = {0};
    HoloModel *model;
    if (holo_model_open(argv[1], &model, &error)) {
        fprintf(stderr, "threads: %s\n", error.text);
        return EXIT_FAILURE;
    }
    Worker workers[THREADS_MAX] = {0};
    for (int i = 0; i < count; i++) {
        workers[i].model = model;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) return EXIT_FAILURE;
    }
    int failed = 0;
    for (int i = 0; i < count; i++) {
        Worker *worker = &workers[i];
        pthread_join(worker->thread, NULL);
        bool same = worker->answer && worker->size == workers[0].size &&
                    !memcmp(worker->answer, workers[0].answer, worker->size);
        if (!same) failed++;
        if (worker->error.text[0]) fprintf(stderr, "thread %d: %s\n", i, worker->error.text);
    }
    for (int i = 0; i < count; i++) free(workers[i].answer);
    holo_model_close(model);
    printf("%d threads, %d runs each: %s\n", count, RUNS, failed ? "answers differ" : "the same answer, bit for bit");
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
