// first_run.c - open an archive, fill its inputs, run it, print the first numbers of each output.
//
//     cc first_run.c $(pkg-config --cflags --libs hologram) -o first_run && ./first_run model.holo

#include <hologram.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const HoloError *error)
{
    fprintf(stderr, "first_run: %s\n", error->text);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: first_run MODEL.holo\n");
        return 2;
    }
    HoloError    error   = {0};
    HoloModel   *model   = NULL;
    HoloSession *session = NULL;
    if (holo_model_open(argv[1], &model, &error)) return fail(&error);
    if (holo_session_create(model, NULL, &session, &error)) return fail(&error); // NULL: this thread alone

    for (int i = 0; i < holo_model_input_count(model); i++) {
        const HoloPort *port   = holo_model_input(model, i);
        HoloTensor      tensor = port->type;
        if (port->optional) continue;
        for (int d = 0; d < tensor.rank; d++)
            if (tensor.dim[d] < 0) tensor.dim[d] = 1; // a size that the model leaves open
        tensor.data = calloc(1, holo_tensor_bytes(&tensor) + 1);
        if (tensor.dtype == HOLO_F32)
            for (int64_t k = 0; k < holo_tensor_count(&tensor); k++) ((float *)tensor.data)[k] = (float)(k % 16);
        if (holo_session_set_input(session, i, &tensor, &error)) return fail(&error); // borrowed, not copied
    }
    if (holo_session_run(session, &error)) return fail(&error);

    for (int i = 0; i < holo_model_output_count(model); i++) {
        HoloTensor view;
        if (holo_session_output(session, i, &view, &error)) return fail(&error);
        printf("%s (%s, %lld elements):", holo_model_output(model, i)->name, holo_dtype_name(view.dtype),
               (long long)holo_tensor_count(&view));
        for (int64_t k = 0; view.dtype == HOLO_F32 && k < holo_tensor_count(&view) && k < 10; k++)
            printf(" %g", ((const float *)view.data)[k]);
        printf("\n");
    }
    holo_session_destroy(session);
    holo_model_close(model);
    return EXIT_SUCCESS; // the inputs go with the process
}
