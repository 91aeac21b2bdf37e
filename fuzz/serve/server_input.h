// server_input.h - what the server's fuzzers share: a server without a network, and a model to ask.
#ifndef HOLO_FUZZ_SERVER_INPUT_H
#define HOLO_FUZZ_SERVER_INPUT_H

#include "infer.h"
#include "shared.h"

#include "hologram_compiler.h"

#include <stdlib.h>

// The model of the demo, in a server that has nothing else. Made once.
static Infer *fuzz_infer(void)
{
    static Server server;
    static Model *model;
    HoloError     error = {0};
    HoloModel    *holo  = NULL;
    if (!model) {
        server.options =
            (Options){.threads = 1, .max_queue = 1, .max_body = 1 << 20, .timeout = 1, .shared_memory = true};
        server.loop     = loop_create();
        server.metrics  = metrics_create(&server);
        server.schedule = schedule_create(&server);
        server.shared   = shared_create();
        if (holo_compile_model(NULL, "demo/digits.onnx", &holo, NULL, &error)) abort(); // run it at the top of the tree
        model = model_create(&server, "digits", "1", "demo/digits.onnx", holo);
    }
    Exchange *e = exchange_create(&server, NULL, NULL);
    Infer    *i = infer_create(e, model_hold(model));
    exchange_release(e); // the Infer holds it
    return i;
}

#endif
