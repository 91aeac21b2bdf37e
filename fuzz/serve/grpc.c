// grpc.c - fuzzes messages of gRPC: frames, and requests for runs in protobuf. Our walk finds what protobuf-c finds.
#include "grpc.h"
#include "grpc_message.h"
#include "server_input.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_raw(const GrpcMessage *m, const Inference__ModelInferRequest *whole)
{
    if (m->raw_count != whole->n_raw_input_contents) abort();
    for (size_t k = 0; k < m->raw_count; k++) {
        const ProtobufCBinaryData *a = &m->raw[k], *b = &whole->raw_input_contents[k];
        if (a->len != b->len || (a->len && memcmp(a->data, b->data, a->len))) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *message, *why = NULL;
    size_t      length, used;
    char        text[700] = "";
    while (grpc_frame((const char *)data, size, 1 << 20, &message, &length, &used, &why) > 0) {
        Inference__ModelInferRequest *whole =
            inference__model_infer_request__unpack(NULL, length, (const uint8_t *)message);
        GrpcMessage m;
        if (grpc_message_read(message, length, &m) != (whole != NULL)) abort(); // they agree on what is a message
        if (whole) {
            Infer *i = fuzz_infer();
            check_raw(&m, whole);
            inference__model_infer_request__free_unpacked(whole, NULL);
            if (!grpc_infer_fill(i, &m, NULL, text, sizeof text) && !*text) abort(); // a refusal says why
            infer_free(i);
        }
        data += used;
        size -= used;
    }
    return 0;
}
