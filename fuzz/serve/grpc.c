// grpc.c - fuzzes messages of gRPC: frames, and requests for runs in protobuf.
#include "grpc.h"
#include "inference.pb-c.h"
#include "server_input.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *message, *why = NULL;
    size_t      length, used;
    char        text[700] = "";
    while (grpc_frame((const char *)data, size, 1 << 20, &message, &length, &used, &why) > 0) {
        Inference__ModelInferRequest *r =
            inference__model_infer_request__unpack(NULL, length, (const uint8_t *)message);
        if (r) {
            Infer *i = fuzz_infer();
            if (!grpc_infer_fill(i, r, text, sizeof text) && !*text) abort(); // a refusal says why
            infer_free(i);
        }
        data += used;
        size -= used;
    }
    return 0;
}
