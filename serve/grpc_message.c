// grpc_message.c - requests for runs, read without copies of their tensors. See grpc_message.h.
#include "grpc_message.h"
#include "bytes.h"

#include <stdlib.h>

enum { RAW_TAG = 7 << 3 | 2 }; // raw_input_contents

typedef struct Walk {
    const uint8_t *at, *end;
} Walk;

static bool varint(Walk *w, int most, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < most && w->at < w->end; i++) {
        uint8_t byte = *w->at++;
        *out |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) return true;
    }
    return false;
}

static bool skip(Walk *w, uint64_t size)
{
    if (size > (uint64_t)(w->end - w->at)) return false;
    w->at += size;
    return true;
}

// One field; *out_data is its bytes, if it has a length.
static bool field(Walk *w, uint64_t *out_tag, ProtobufCBinaryData *out_data)
{
    uint64_t number;
    if (!varint(w, 5, out_tag)) return false;
    switch (*out_tag & 7) {
    case 0: return varint(w, 10, &number);
    case 1: return skip(w, 8);
    case 5: return skip(w, 4);
    case 2:
        if (!varint(w, 5, &number)) return false;
        *out_data = (ProtobufCBinaryData){(size_t)number, (uint8_t *)w->at};
        return skip(w, number);
    default: return false;
    }
}

// Parts a message into its raw tensors and the rest. False: protobuf-c is to say what it is.
static bool part(const uint8_t *bytes, size_t size, GrpcMessage *m, Bytes *rest)
{
    Walk   w    = {bytes, bytes + size};
    size_t room = 0;
    while (w.at < w.end) {
        const uint8_t      *from = w.at;
        ProtobufCBinaryData data = {0};
        uint64_t            tag;
        if (!field(&w, &tag, &data)) return false;
        if (tag != RAW_TAG || *from != RAW_TAG) {
            if (tag == RAW_TAG || !bytes_add(rest, from, (size_t)(w.at - from))) return false;
            continue;
        }
        if (m->raw_count == room) {
            ProtobufCBinaryData *list = realloc(m->raw, (room = room * 2 + 4) * sizeof *list);
            if (!list) return false;
            m->raw = list;
        }
        m->raw[m->raw_count++] = data;
    }
    return true;
}

bool grpc_message_read(const void *bytes, size_t size, GrpcMessage *out)
{
    Bytes rest    = {0};
    *out          = (GrpcMessage){0};
    out->owns_raw = part(bytes, size, out, &rest);
    if (out->owns_raw) {
        out->request = inference__model_infer_request__unpack(NULL, rest.size, (const uint8_t *)rest.data);
    } else {
        free(out->raw);
        out->request = inference__model_infer_request__unpack(NULL, size, bytes);
        if (out->request) out->raw = out->request->raw_input_contents;
        if (out->request) out->raw_count = out->request->n_raw_input_contents;
    }
    bytes_free(&rest);
    if (!out->request) grpc_message_free(out);
    return out->request;
}

void grpc_message_free(GrpcMessage *m)
{
    if (m->owns_raw) free(m->raw);
    if (m->request) inference__model_infer_request__free_unpacked(m->request, NULL);
    *m = (GrpcMessage){0};
}
