// grpc.c - gRPC's framing and status. See grpc.h.
#include "grpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GrpcStatus grpc_status(int http)
{
    static const struct {
        int        http;
        GrpcStatus grpc;
    } rows[] = {{200, GRPC_OK},
                {400, GRPC_INVALID_ARGUMENT},
                {401, GRPC_UNAUTHENTICATED},
                {403, GRPC_PERMISSION_DENIED},
                {404, GRPC_NOT_FOUND},
                {413, GRPC_RESOURCE_EXHAUSTED},
                {429, GRPC_RESOURCE_EXHAUSTED},
                {499, GRPC_CANCELLED},
                {501, GRPC_UNIMPLEMENTED},
                {503, GRPC_UNAVAILABLE},
                {504, GRPC_DEADLINE_EXCEEDED}};
    for (int i = 0; i < SERVE_COUNT(rows); i++)
        if (rows[i].http == http) return rows[i].grpc;
    return GRPC_INTERNAL;
}

int grpc_frame(const char *data, size_t size, size_t limit, const char **out_message, size_t *out_size,
               size_t *out_used, const char **why)
{
    const unsigned char *p = (const unsigned char *)data;
    if (size < 5) return 0;
    if (p[0]) return *why = p[0] == 1 ? "compressed messages are not supported" : "this is no message of gRPC", -1;
    size_t length = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    if (length > limit) return *why = "the message is larger than --max-body allows", -1;
    if (size - 5 < length) return 0;
    *out_message = data + 5;
    *out_size    = length;
    *out_used    = length + 5;
    return 1;
}

// ---- answers

static void begin(Exchange *e)
{
    if (!e->has_begun) exchange_begin(e, 200, "application/grpc+proto", -1);
}

void grpc_send(Exchange *e, const ProtobufCMessage *message)
{
    size_t   size  = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size + 5);
    if (!bytes || size > UINT32_MAX) {
        free(bytes);
        return grpc_end(e, GRPC_RESOURCE_EXHAUSTED, "out of memory");
    }
    bytes[0] = 0;
    for (int i = 0; i < 4; i++) bytes[1 + i] = (uint8_t)(size >> (24 - 8 * i));
    protobuf_c_message_pack(message, bytes + 5);
    begin(e);
    exchange_write(e, bytes, size + 5);
    free(bytes);
}

// Messages of errors travel percent-encoded.
static void encode(const char *text, char *out, size_t room)
{
    size_t n = 0;
    for (; *text && n + 4 < room; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= ' ' && c < 0x7f && c != '%')
            out[n++] = (char)c;
        else
            n += (size_t)snprintf(out + n, room - n, "%%%02X", c);
    }
    out[n] = 0;
}

void grpc_end(Exchange *e, GrpcStatus status, const char *text)
{
    char   code[8], message[1024];
    Header trailers[] = {{"grpc-status", code}, {"grpc-message", message}};
    if (e->has_ended) return;
    snprintf(code, sizeof code, "%d", status);
    encode(text, message, sizeof message);
    if (status) snprintf(e->note, sizeof e->note, "%.250s", text);
    begin(e);
    exchange_end(e, trailers, status ? 2 : 1);
}

void grpc_answer(Exchange *e, const ProtobufCMessage *message)
{
    grpc_send(e, message);
    grpc_end(e, GRPC_OK, "");
}

// HTTP says 200 in any case; logs and metrics should not.
void grpc_fail(Exchange *e, int status, const char *text)
{
    begin(e);
    e->status = status;
    grpc_end(e, grpc_status(status), text);
}

double grpc_timeout(const Exchange *e, double otherwise)
{
    static const struct {
        char   unit;
        double seconds;
    } rows[]         = {{'H', 3600}, {'M', 60}, {'S', 1}, {'m', 1e-3}, {'u', 1e-6}, {'n', 1e-9}};
    const char *text = exchange_header(e, "grpc-timeout");
    char       *end;
    double      number = text ? strtod(text, &end) : 0;
    if (!text || end == text || !*end || end[1] || number < 0) return otherwise;
    for (int i = 0; i < SERVE_COUNT(rows); i++)
        if (rows[i].unit == *end) return number * rows[i].seconds < otherwise ? number * rows[i].seconds : otherwise;
    return otherwise;
}
