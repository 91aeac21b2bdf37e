// exchange.c - requests and answers. See exchange.h.
#include "coding.h"
#include "routes.h"
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Exchange *exchange_create(Server *server, const Wire *wire, void *link)
{
    Exchange *e   = take(sizeof *e);
    e->server     = server;
    e->wire       = wire;
    e->link       = link;
    e->holds      = 1;
    e->began      = now();
    e->began_unix = unix_nano();
    server->open++;
    return e;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Decoded: %41 is A. A 0 byte in a path is never meant well.
bool exchange_target(Exchange *e, const char *target, size_t size)
{
    const char *question = memchr(target, '?', size);
    size_t      length = question ? (size_t)(question - target) : size, n = 0;
    if (!size || *target != '/') return false;
    e->path = take(length + 1);
    for (size_t i = 0; i < length; i++) {
        int c = (unsigned char)target[i];
        if (c == '%') {
            int high = i + 2 < length ? hex(target[i + 1]) : -1, low = i + 2 < length ? hex(target[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            c = high * 16 + low;
            i += 2;
        }
        if (c < 0x20 || c == 0x7f) return false;
        e->path[n++] = (char)c;
    }
    e->query = take(size - length + 1);
    if (question) memcpy(e->query, question + 1, size - length - 1);
    return true;
}

bool exchange_header_add(Exchange *e, const char *name, size_t name_size, const char *value, size_t size)
{
    if (e->header_count == EXCHANGE_HEADERS) return false;
    char *text = take(name_size + size + 2);
    for (size_t i = 0; i < name_size; i++) text[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    memcpy(text + name_size + 1, value, size);
    e->header[e->header_count++] = (Header){text, text + name_size + 1};
    return true;
}

const char *exchange_header(const Exchange *e, const char *name)
{
    for (int i = 0; i < e->header_count; i++)
        if (!strcmp(e->header[i].name, name)) return e->header[i].value;
    return NULL;
}

double exchange_number(const Exchange *e, const char *header, double otherwise)
{
    const char *text   = exchange_header(e, header);
    size_t      digits = text ? strspn(text, "0123456789") : 0;
    return digits && digits <= 15 && !text[digits] ? strtod(text, NULL) : otherwise;
}

void exchange_hold(Exchange *e)
{
    e->holds++;
}

void exchange_release(Exchange *e)
{
    if (--e->holds) return;
    if (e->end) e->end(e);
    for (int i = 0; i < e->header_count; i++) free((void *)e->header[i].name);
    for (int i = 0; i < e->extra_count; i++) free((void *)e->extra[i].name);
    for (int i = 0; i < EXCHANGE_PARAMS; i++) free(e->param[i]);
    bytes_free(&e->body);
    free(e->path);
    free(e->query);
    e->server->open--;
    free(e);
}

void exchange_gone(Exchange *e)
{
    e->link = NULL;
    if (!e->has_ended) {
        snprintf(e->note, sizeof e->note, "the client went away");
        if (!e->status) e->status = 499;
        e->has_ended = true;
        if (e->gone) e->gone(e);
        server_ended(e->server, e);
    }
    exchange_release(e);
}

// ---- answers

const char *http_reason(int status)
{
    static const struct {
        int         status;
        const char *text;
    } rows[] = {{200, "OK"},
                {202, "Accepted"},
                {204, "No Content"},
                {400, "Bad Request"},
                {401, "Unauthorized"},
                {403, "Forbidden"},
                {404, "Not Found"},
                {405, "Method Not Allowed"},
                {408, "Request Timeout"},
                {411, "Length Required"},
                {413, "Content Too Large"},
                {414, "URI Too Long"},
                {415, "Unsupported Media Type"},
                {417, "Expectation Failed"},
                {422, "Unprocessable Content"},
                {429, "Too Many Requests"},
                {431, "Request Header Fields Too Large"},
                {500, "Internal Server Error"},
                {501, "Not Implemented"},
                {503, "Service Unavailable"},
                {504, "Gateway Timeout"},
                {505, "HTTP Version Not Supported"}};
    for (int i = 0; i < SERVE_COUNT(rows); i++)
        if (rows[i].status == status) return rows[i].text;
    return "Unknown";
}

void exchange_extra(Exchange *e, const char *name, const char *value)
{
    if (e->extra_count == EXCHANGE_EXTRA) return;
    size_t name_size = strlen(name), size = strlen(value);
    char  *text = take(name_size + size + 2);
    memcpy(text, name, name_size);
    memcpy(text + name_size + 1, value, size);
    e->extra[e->extra_count++] = (Header){text, text + name_size + 1};
}

void exchange_begin(Exchange *e, int status, const char *type, int64_t size)
{
    Header header[EXCHANGE_EXTRA + 1];
    int    count = 0;
    if (e->has_begun || e->has_ended) return;
    e->has_begun = true;
    e->status    = status;
    if (type) header[count++] = (Header){"content-type", type};
    for (int i = 0; i < e->extra_count; i++) header[count++] = e->extra[i];
    if (e->link) e->wire->begin(e, header, count, size);
}

void exchange_write(Exchange *e, const void *data, size_t size)
{
    if (e->link && size && !e->has_ended) e->wire->write(e, data, size);
}

void exchange_end(Exchange *e, const Header *trailers, int count)
{
    if (e->has_ended) return;
    e->has_ended = true;
    server_ended(e->server, e);
    if (!e->link) return;
    e->wire->end(e, trailers, count);
}

// Small answers are not worth it, and large ones would keep the network's thread.
static bool is_worth_packing(const Exchange *e, const char *type, size_t size)
{
    return size >= 4096 && size <= 1 << 20 && type &&
           (!strncmp(type, "text/", 5) || !strcmp(type, "application/json")) && coding_accepts(e);
}

void exchange_send(Exchange *e, int status, const char *type, const void *data, size_t size)
{
    Bytes packed = {0};
    if (is_worth_packing(e, type, size) && coding_pack(data, size, &packed)) {
        exchange_extra(e, "content-encoding", "gzip");
        exchange_extra(e, "vary", "accept-encoding");
        exchange_begin(e, status, type, (int64_t)packed.size);
        exchange_write(e, packed.data, packed.size);
        exchange_end(e, NULL, 0);
        return bytes_free(&packed);
    }
    bytes_free(&packed);
    if (!size && status == 200 && !type) type = "text/plain";
    exchange_begin(e, status, type, (int64_t)size);
    exchange_write(e, data, size);
    exchange_end(e, NULL, 0);
}

void exchange_fail(Exchange *e, int status, const char *format, ...)
{
    char    text[1024];
    Bytes   b = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(e->note, sizeof e->note, "%.250s", text);
    if (e->route && e->route->fail) {
        e->route->fail(e, status, text);
        return;
    }
    bytes_add_text(&b, "{\"error\":");
    bytes_json(&b, text, strlen(text));
    bytes_add_text(&b, "}");
    if (status == 503 || status == 429) exchange_extra(e, "retry-after", "1");
    exchange_send(e, status, "application/json", b.data, b.size);
    bytes_free(&b);
}
