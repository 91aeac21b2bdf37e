// grpc.h - gRPC over HTTP/2: messages with a length before them, and a status in the trailers.
#ifndef HOLO_SERVE_GRPC_H
#define HOLO_SERVE_GRPC_H

#include "infer.h"

#include <protobuf-c/protobuf-c.h>

typedef enum GrpcStatus {
    GRPC_OK                 = 0,
    GRPC_CANCELLED          = 1,
    GRPC_INVALID_ARGUMENT   = 3,
    GRPC_DEADLINE_EXCEEDED  = 4,
    GRPC_NOT_FOUND          = 5,
    GRPC_PERMISSION_DENIED  = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_UNIMPLEMENTED      = 12,
    GRPC_INTERNAL           = 13,
    GRPC_UNAVAILABLE        = 14,
    GRPC_UNAUTHENTICATED    = 16,
} GrpcStatus;

GrpcStatus grpc_status(int http); // what a status of HTTP is here

// Finds the first whole message. 1: it is there (*out_size bytes at *out_message), and *out_used bytes are its frame; 0: more
// bytes are needed; -1: it is none, or larger than `limit`: `why` says so.
int grpc_frame(const char *data, size_t size, size_t limit, const char **out_message, size_t *out_size,
               size_t *out_used, const char **why);

void   grpc_send(Exchange *e, const ProtobufCMessage *message); // begins the answer if it has not begun
void   grpc_end(Exchange *e, GrpcStatus status, const char *text);
void   grpc_answer(Exchange *e, const ProtobufCMessage *message); // one message, and the end
void   grpc_fail(Exchange *e, int status, const char *text);      // status: of HTTP
double grpc_timeout(const Exchange *e, double otherwise);         // seconds, from the header grpc-timeout

// ---- runs (grpc_infer.c)

struct GrpcMessage;
struct Inference__ModelInferResponse;

// Reads a message into an Infer of the exchange. Its bytes are those of the body, or `bytes`, which it takes. NULL: *out_status
// (of HTTP) and `why` say what is wrong.
Infer *grpc_infer_read(Exchange *e, const char *message, size_t size, Bytes *bytes, int *out_status, char *why,
                       size_t room);
// The same of a message that was read, which the Infer then owns.
bool grpc_infer_fill(Infer *i, struct GrpcMessage *message, Bytes *bytes, char *why, size_t room);
void grpc_infer_end(Infer *i); // the `end` of such an Infer
// Writes the answer into memory that lives until grpc_response_free.
struct Inference__ModelInferResponse *grpc_response(Infer *i, char *why, size_t room); // NULL: `why`
void                                  grpc_response_free(struct Inference__ModelInferResponse *response);

#endif
