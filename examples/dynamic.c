// dynamic.c - a model whose sizes are open: one session, another batch size at every run.
//
//     cc dynamic.c $(pkg-config --cflags --libs hologram) -o dynamic && ./dynamic model.holo

#include <hologram.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const HoloError *error)
{
    fprintf(stderr, "dynamic: %s\n", error->text);
    return EXIT_FAILURE;
}

// Every size that the model leaves open becomes `size`.
static HoloStatus give(HoloSession *session, const HoloModel *model, int64_t size, void **memory, HoloError *error)
{
    for (int i = 0; i < holo_model_input_count(model); i++) {
        const HoloPort *port   = holo_model_input(model, i);
        HoloTensor      tensor = port->type;
        if (port->optional) continue;
        for (int d = 0; d < tensor.rank; d++)
            if (tensor.dim[d] < 0) tensor.dim[d] = size;
        free(memory[i]); // no run is in progress: the old bytes are no longer read
        tensor.data = memory[i] = calloc(1, holo_tensor_bytes(&tensor) + 1);
        HoloStatus status       = holo_session_set_input(session, i, &tensor, error);
        if (status) return status;
    }
    return HOLO_OK;
}

static void print_shape(const HoloTensor *tensor)
{
    printf("[");
    for (int d = 0; d < tensor->rank; d++) printf("%s%lld", d ? ", " : "", (long long)tensor->dim[d]);
    printf("]");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: dynamic MODEL.holo\n");
        return 2;
    }
    static const int64_t sizes[] = {1, 4, 16, 4};
    HoloError            error   = {0};
    HoloModel           *model   = NULL;
    HoloSession         *session = NULL;
    if (holo_model_open(argv[1], &model, &error)) return fail(&error);
    if (holo_session_create(model, NULL, &session, &error)) return fail(&error);
    void **memory = calloc((size_t)holo_model_input_count(model) + 1, sizeof *memory);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        HoloTensor view;
        if (give(session, model, sizes[i], memory, &error)) return fail(&error);
        if (holo_session_run(session, &error)) return fail(&error);
        if (holo_session_output(session, 0, &view, &error)) return fail(&error);
        printf("size %lld: %s is ", (long long)sizes[i], holo_model_output(model, 0)->name);
        print_shape(&view);
        printf(", %zu bytes of working memory\n", holo_session_memory(session));
    }
    holo_session_destroy(session);
    for (int i = 0; i < holo_model_input_count(model); i++) free(memory[i]);
    free(memory);
    holo_model_close(model);
    return EXIT_SUCCESS;
}
