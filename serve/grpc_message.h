// grpc_message.h - a ModelInferRequest whose raw tensors stay where they arrived.
//
// protobuf-c copies all bytes that it reads. A tensor may have megabytes, so the raw contents are found by a walk over the
// fields, and protobuf-c reads the rest.
#ifndef HOLO_SERVE_GRPC_MESSAGE_H
#define HOLO_SERVE_GRPC_MESSAGE_H

#include "inference.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct GrpcMessage {
    Inference__ModelInferRequest *request;
    ProtobufCBinaryData          *raw; // its raw_input_contents
    size_t                        raw_count;
    bool                          owns_raw; // the list; its bytes are those of the message
} GrpcMessage;

// False: it is no such message. The bytes must stay until grpc_message_free.
bool grpc_message_read(const void *bytes, size_t size, GrpcMessage *out);
void grpc_message_free(GrpcMessage *m);

#endif
