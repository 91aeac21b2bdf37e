// http1.c - connections that speak HTTP/1.1: one request after the other.
#include "http1_parse.h"
#include "net.h"
#include "routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_SECONDS = 10, BODY_SECONDS = 30, IDLE_SECONDS = 75, AHEAD_MAX = 65536, ASK_SECONDS = 2 };

static const double ASK_FIRST_SECONDS = 0.02;

typedef struct Http1 {
    Exchange   *exchange; // in progress; NULL: the next request has not begun
    Http1Head   head;
    int64_t     given; // of the body, to who reads it in pieces
    Http1Chunks chunks;
    bool        has_body; // all of it is there
    bool        keeps_alive, sends_chunks, is_head, was_busy, is_reading;
    double      began; // when the first byte of the head came
} Http1;

static void read_on(Conn *c);

static Http1 *http1(Conn *c)
{
    if (!c->state) c->state = take(sizeof(Http1));
    return c->state;
}

// ---- answers

static void begin(Exchange *e, const Header *headers, int count, int64_t size)
{
    Conn  *c = e->link;
    Http1 *h = c->state;
    Bytes *b = &c->out;
    if (!h->has_body || e->server->is_draining) h->keeps_alive = false; // the rest of the body is not read
    if (c->is_half && !c->in.size) h->keeps_alive = false;              // this was the last one
    bytes_format(b, "HTTP/1.1 %d %s\r\n", e->status, http_reason(e->status));
    for (int i = 0; i < count; i++) bytes_format(b, "%s: %s\r\n", headers[i].name, headers[i].value);
    h->sends_chunks = size < 0 && h->head.minor == 1;
    if (size < 0 && !h->sends_chunks) h->keeps_alive = false;
    if (h->sends_chunks) bytes_add_text(b, "transfer-encoding: chunked\r\n");
    if (size >= 0 && e->status != 204) bytes_format(b, "content-length: %lld\r\n", (long long)size);
    if (!h->keeps_alive) bytes_add_text(b, "connection: close\r\n");
    bytes_add_text(b, "\r\n");
    if (size < 0) conn_flush(c);
}

static void write_body(Exchange *e, const void *data, size_t size)
{
    Conn  *c = e->link;
    Http1 *h = c->state;
    if (h->is_head) return;
    if (h->sends_chunks) bytes_format(&c->out, "%zx\r\n", size);
    bytes_add(&c->out, data, size);
    if (h->sends_chunks) bytes_add(&c->out, "\r\n", 2);
    if (c->out.failed) return conn_fail(c);
    if (h->sends_chunks) conn_flush(c); // streams are sent as they come; the rest goes out in one piece
}

static void end(Exchange *e, const Header *trailers, int count)
{
    Conn  *c = e->link;
    Http1 *h = c->state;
    if (h->sends_chunks && !h->is_head) {
        bytes_add_text(&c->out, "0\r\n");
        for (int i = 0; i < count; i++) bytes_format(&c->out, "%s: %s\r\n", trailers[i].name, trailers[i].value);
        bytes_add_text(&c->out, "\r\n");
    }
    bool keeps  = h->keeps_alive && !c->out.failed;
    h->exchange = NULL;
    e->link     = NULL;
    if (!keeps) c->closes = true;
    conn_deadline(c, keeps ? IDLE_SECONDS : BODY_SECONDS);
    conn_flush(c);
    exchange_release(e);
    if (!keeps || c->is_broken) return;
    if (!c->in.size) bytes_free(&c->in);
    if (c->is_full) conn_full(c, false);
    if (!h->is_reading) read_on(c);
}

static size_t backlog(const Exchange *e)
{
    const Conn *c = e->link;
    return c ? c->out.size - c->out_at : 0;
}

static const Wire http1_wire = {begin, write_body, end, backlog};

// ---- requests

static void refuse(Conn *c, int status, const char *why)
{
    Http1 *h = c->state;
    if (!h->exchange) {
        h->exchange          = exchange_create(c->server, &http1_wire, c);
        h->exchange->version = "1.1";
        h->exchange->path    = take_text("");
        snprintf(h->exchange->peer, sizeof h->exchange->peer, "%s", c->peer);
    }
    h->keeps_alive = false;
    exchange_fail(h->exchange, status, "%s", why);
}

static bool take_head(Conn *c, int size)
{
    Http1      *h    = c->state;
    const char *data = c->in.data;
    Exchange   *e    = exchange_create(c->server, &http1_wire, c);
    h->exchange      = e;
    e->version       = h->head.minor ? "1.1" : "1.0";
    memcpy(e->method, data + h->head.method.at, h->head.method.size);
    memcpy(e->peer, c->peer, sizeof e->peer);
    memcpy(e->owner, c->owner, sizeof e->owner);
    h->is_head     = !strcmp(e->method, "HEAD");
    h->keeps_alive = h->head.keeps_alive;
    h->given       = 0;
    h->chunks      = (Http1Chunks){0};
    h->has_body    = h->head.length <= 0 && !h->head.is_chunked;
    for (int i = 0; i < h->head.count; i++)
        exchange_header_add(e, data + h->head.name[i].at, h->head.name[i].size, data + h->head.value[i].at,
                            h->head.value[i].size);
    bool is_good = exchange_target(e, data + h->head.target.at, h->head.target.size);
    bytes_drop(&c->in, (size_t)size);
    if (!is_good)
        return e->path = e->path ? e->path : take_text(""), refuse(c, 400, "the target of the request is no path"),
               false;
    e->route = server_route(c->server, e);
    if (h->head.length > (int64_t)c->server->options.max_body)
        return refuse(c, 413, "the body is larger than --max-body allows"), false;
    if (h->head.expects && !h->has_body) {
        bytes_add_text(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
        conn_flush(c);
    }
    if (e->route && e->route->is_streamed) server_request(c->server, e);
    return h->exchange == e;
}

// Bytes that are still to come of a body whose length is known.
static size_t body_left(const Http1 *h)
{
    return (size_t)(h->head.length - h->given - (int64_t)h->exchange->body.size);
}

// Bytes of a long body go to it without a detour. Memory grows with what has come, not with what was announced.
static Bytes *place(Conn *c, size_t *out_size)
{
    Http1    *h = c->state;
    Exchange *e = h ? h->exchange : NULL;
    if (!e || h->has_body || h->head.is_chunked || c->in.size || (e->route && e->route->is_streamed)) return NULL;
    size_t left = body_left(h), most = e->body.size + (1 << 20);
    if (!left) return NULL;
    *out_size = left < most ? left : most;
    return &e->body;
}

// Moves what is there of the body. False: it is refused.
static bool take_body(Conn *c)
{
    Http1    *h    = c->state;
    Exchange *e    = h->exchange;
    size_t    size = c->in.size;
    if (h->head.is_chunked) {
        int     status = 400;
        bool    done;
        int64_t read =
            http1_chunks(&h->chunks, c->in.data, size, c->server->options.max_body, &e->body, &done, &status);
        if (read < 0)
            return refuse(c, status,
                          status == 413   ? "the body is larger than --max-body allows"
                          : status == 503 ? "out of memory"
                                          : "the body is not in chunks, though its header says so"),
                   false;
        bytes_drop(&c->in, (size_t)read);
        h->has_body = done;
    } else {
        size_t left = body_left(h), n = left < size ? left : size;
        if (!bytes_add(&e->body, c->in.data, n)) return refuse(c, 503, "out of memory"), false;
        bytes_drop(&c->in, n);
        h->has_body = !body_left(h);
    }
    return true;
}

static void give_data(Conn *c)
{
    Http1    *h = c->state;
    Exchange *e = h->exchange;
    Bytes     b = e->body;
    e->body     = (Bytes){0};
    h->given += (int64_t)b.size;
    exchange_hold(e);
    if (e->data) e->data(e, b.data ? b.data : "", b.size, h->has_body);
    exchange_release(e);
    bytes_free(&b);
}

// One step. False: more bytes are needed, or the answer is.
static bool step(Conn *c)
{
    Http1 *h = http1(c);
    if (!h->exchange) {
        if (!c->in.size) return false;
        if (!h->began) h->began = now();
        int size = http1_parse(c->in.data, c->in.size, &h->head);
        if (!size)
            return conn_deadline(c, h->began + HEAD_SECONDS - now() > 0 ? h->began + HEAD_SECONDS - now() : 1e-3),
                   false;
        h->began = 0;
        if (size < 0) return refuse(c, h->head.status, h->head.why), false;
        if (!take_head(c, size)) return !h->exchange && !c->closes;
        if (!h->has_body) conn_deadline(c, BODY_SECONDS);
        if (!h->has_body && !c->in.size) return false;
    } else if (h->has_body) {
        if (c->in.size > AHEAD_MAX) conn_full(c, true);
        return false; // it waits for its answer
    }
    Exchange *e = h->exchange;
    if (!h->has_body) {
        conn_deadline(c, BODY_SECONDS);
        if (!take_body(c)) return false;
    }
    if (h->has_body) conn_deadline(c, 0);
    if (e->route && e->route->is_streamed)
        give_data(c);
    else if (h->has_body)
        server_request(c->server, e);
    return h->exchange != e && !c->closes && !c->is_broken;
}

// The client has closed its sending side: what it asked for is answered, or it is gone. One that is gone refuses what is
// sent to it, which ends the connection; so it is sent something, though not if its answer is there soon.
static void half(Conn *c)
{
    Http1 *h = http1(c);
    if (!h->exchange)
        conn_finish(c);
    else if (!h->has_body)
        conn_fail(c); // the rest never comes
    else if (!c->waits_write)
        conn_deadline(c, ASK_FIRST_SECONDS);
}

static void ask_whether_it_is_there(Conn *c)
{
    Http1 *h = c->state;
    if (h->head.minor == 1 && !h->exchange->has_begun) bytes_add_text(&c->out, "HTTP/1.1 102 Processing\r\n\r\n");
    conn_flush(c);
    if (!c->waits_write) conn_deadline(c, ASK_SECONDS);
}

static void read_on(Conn *c)
{
    Http1 *h      = http1(c);
    h->is_reading = true;
    while (!c->closes && !c->is_broken && step(c)) {
    }
    h->is_reading = false;
    if (c->is_half && !c->closes && !c->is_broken) half(c);
}

static void input(Conn *c)
{
    if (http1(c)->is_reading) return;
    read_on(c);
}

static void late(Conn *c)
{
    Http1 *h = http1(c);
    if (!h->exchange && !c->in.size) return conn_fail(c); // it was idle
    if (h->exchange && h->has_body && c->is_half) return ask_whether_it_is_there(c);
    if (h->exchange && h->has_body) return; // the answer takes long: that has limits of its own
    refuse(c, 408, "the request took too long to arrive");
}

static void closed(Conn *c)
{
    Http1    *h = c->state;
    Exchange *e = h ? h->exchange : NULL;
    if (h) h->exchange = NULL;
    if (e) exchange_gone(e);
    free(h);
    c->state = NULL;
}

static void drain(Conn *c)
{
    Http1 *h = http1(c);
    if (!h->exchange && !c->in.size) return conn_fail(c);
    h->keeps_alive = false;
}

const ConnProtocol http1_protocol = {input, place, late, closed, drain, NULL, half};
