// http2.c - connections that speak HTTP/2, by nghttp2: many requests at once, and trailers, which gRPC needs.
#include "net.h"
#include "routes.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STREAMS_MAX  = 1024,
    HEADERS_MAX  = 32768,
    RESETS_MAX   = 1000,
    IDLE_SECONDS = 300,
    BODY_WINDOW  = 1 << 20,
    ASK_SECONDS  = 2
};

typedef struct Stream Stream;

typedef struct Http2 {
    nghttp2_session *session;
    Stream          *first; // of those that are open
    Conn            *conn;
    bool             is_sending;
    int              streams;
    uint64_t         resets; // by the client: many are an attack
} Http2;

struct Stream {
    Stream   *previous, *next;
    Http2    *http2;
    Exchange *exchange;
    int32_t   id;
    Bytes     out; // that was not sent yet
    size_t    out_at, head_size;
    bool      has_ended; // nothing is added to `out`
    bool      is_waiting, has_request, is_refused;
    Header    trailer[4];
    int       trailer_count;
};

// ---- sending

static void pump(Http2 *h)
{
    const uint8_t *data;
    if (h->is_sending || h->conn->is_broken) return;
    h->is_sending = true;
    // What the client does not take stays in the streams.
    while (h->conn->out.size - h->conn->out_at < BODY_WINDOW) {
        ssize_t n = nghttp2_session_mem_send(h->session, &data);
        if (n < 0) conn_fail(h->conn);
        if (n <= 0) break;
        if (!bytes_add(&h->conn->out, data, (size_t)n)) {
            conn_fail(h->conn);
            break;
        }
    }
    h->is_sending = false;
    conn_flush(h->conn);
    bool is_done = !nghttp2_session_want_read(h->session) && !nghttp2_session_want_write(h->session);
    if ((is_done || (h->conn->is_half && !h->streams)) && !h->conn->is_broken) conn_finish(h->conn);
}

static nghttp2_nv pair(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static ssize_t read_out(nghttp2_session *session, int32_t id, uint8_t *to, size_t room, uint32_t *flags,
                        nghttp2_data_source *source, void *state)
{
    Stream *s = source->ptr;
    size_t  n = s->out.size - s->out_at;
    (void)state;
    if (n > room) n = room;
    if (!n && !s->has_ended) return s->is_waiting = true, NGHTTP2_ERR_DEFERRED;
    if (n) memcpy(to, s->out.data + s->out_at, n);
    s->out_at += n;
    if (s->out_at == s->out.size) s->out.size = s->out_at = 0;
    if (s->has_ended && s->out_at == s->out.size) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (s->trailer_count) {
            nghttp2_nv list[4];
            for (int i = 0; i < s->trailer_count; i++) list[i] = pair(s->trailer[i].name, s->trailer[i].value);
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            nghttp2_submit_trailer(session, id, list, (size_t)s->trailer_count);
        }
    }
    return (ssize_t)n;
}

static void resume(Stream *s)
{
    if (s->is_waiting) nghttp2_session_resume_data(s->http2->session, s->id);
    s->is_waiting = false;
    pump(s->http2);
}

static void begin(Exchange *e, const Header *headers, int count, int64_t size)
{
    Stream               *s = e->link;
    char                  status[8], length[24];
    nghttp2_nv            list[EXCHANGE_EXTRA + 4];
    size_t                n      = 0;
    nghttp2_data_provider source = {.source.ptr = s, .read_callback = read_out};
    snprintf(status, sizeof status, "%d", e->status);
    snprintf(length, sizeof length, "%lld", (long long)size);
    list[n++] = pair(":status", status);
    for (int i = 0; i < count; i++) list[n++] = pair(headers[i].name, headers[i].value);
    if (size >= 0) list[n++] = pair("content-length", length);
    nghttp2_submit_response(s->http2->session, s->id, list, n, strcmp(e->method, "HEAD") ? &source : NULL);
    if (size < 0) pump(s->http2);
}

static void write_body(Exchange *e, const void *data, size_t size)
{
    Stream *s = e->link;
    if (!strcmp(e->method, "HEAD")) return;
    if (s->out_at > s->out.size / 2) bytes_drop(&s->out, s->out_at), s->out_at = 0;
    if (!bytes_add(&s->out, data, size)) return conn_fail(s->http2->conn);
    resume(s);
}

static void end(Exchange *e, const Header *trailers, int count)
{
    Stream *s    = e->link;
    s->has_ended = true;
    for (int i = 0; i < count && i < 4; i++)
        s->trailer[s->trailer_count++] = (Header){take_text(trailers[i].name), take_text(trailers[i].value)};
    s->exchange = NULL;
    e->link     = NULL;
    exchange_release(e);
    resume(s);
}

static size_t backlog(const Exchange *e)
{
    const Stream *s = e->link;
    return s ? s->out.size - s->out_at : 0;
}

static const Wire http2_wire = {begin, write_body, end, backlog};

// ---- receiving

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *state)
{
    Http2 *h = state;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    Stream *s   = take(sizeof *s);
    s->http2    = h;
    s->id       = frame->hd.stream_id;
    s->exchange = exchange_create(h->conn->server, &http2_wire, s);
    memcpy(s->exchange->peer, h->conn->peer, sizeof s->exchange->peer);
    memcpy(s->exchange->owner, h->conn->owner, sizeof s->exchange->owner);
    s->exchange->version = "2";
    s->next              = h->first;
    if (s->next) s->next->previous = s;
    h->first = s;
    h->streams++;
    conn_deadline(h->conn, 0);
    nghttp2_session_set_stream_user_data(session, s->id, s);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                     const uint8_t *value, size_t size, uint8_t flags, void *state)
{
    Stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags, (void)state;
    if (!s || !s->exchange || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0; // trailers of requests say nothing
    Exchange *e = s->exchange;
    s->head_size += name_size + size + 32;
    bool is = s->head_size <= HEADERS_MAX;
    if (is && name_size == 7 && !memcmp(name, ":method", 7))
        is = size < sizeof e->method, is ? (void)memcpy(e->method, value, size) : (void)0;
    else if (is && name_size == 5 && !memcmp(name, ":path", 5))
        is = !e->path && exchange_target(e, (const char *)value, size);
    else if (is && *name != ':')
        is = exchange_header_add(e, (const char *)name, name_size, (const char *)value, size);
    if (!is) s->is_refused = true;
    return 0;
}

static void request_complete(Stream *s)
{
    Exchange *e = s->exchange;
    if (!e->path) e->path = take_text("");
    if (!e->query) e->query = take_text("");
    s->has_request = true;
    if (s->is_refused)
        exchange_fail(e, s->head_size > HEADERS_MAX ? 431 : 400, "the headers are too long, or the path is none");
    else
        server_request(s->http2->conn->server, e);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *state)
{
    Http2  *h = state;
    Stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (frame->hd.type == NGHTTP2_RST_STREAM && ++h->resets > RESETS_MAX && h->resets > (uint64_t)h->streams * 2)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (!s || !s->exchange || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) return 0;
    Exchange *e       = s->exchange;
    bool      is_last = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST && !s->is_refused && e->path)
        e->route = server_route(h->conn->server, e);
    bool is_streamed = e->route && e->route->is_streamed;
    if (is_streamed && !s->has_request) request_complete(s);
    if (is_last && s->exchange && is_streamed && s->exchange->data) s->exchange->data(s->exchange, "", 0, true);
    if (is_last && s->exchange && !s->has_request) request_complete(s);
    return 0;
}

// Room for what the client says will come, up to a megabyte: beyond that memory grows with what has come.
static bool body_reserve(Exchange *e)
{
    double length = exchange_number(e, "content-length", 0);
    return bytes_reserve(&e->body, length < BODY_WINDOW ? (size_t)length : BODY_WINDOW);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t size, void *state)
{
    Stream *s = nghttp2_session_get_stream_user_data(session, id);
    (void)flags, (void)state;
    if (!s || !s->exchange) return 0;
    Exchange *e = s->exchange;
    if (e->route && e->route->is_streamed) {
        if (e->data) e->data(e, (const char *)data, size, false);
    } else if (!s->has_request && (e->body.size + size > e->server->options.max_body ||
                                   (!e->body.data && !body_reserve(e)) || !bytes_add(&e->body, data, size))) {
        s->has_request = true;
        e->protocol    = "http";
        exchange_fail(e, 413, "the body is larger than --max-body allows");
    }
    return 0;
}

static void stream_close(Stream *s)
{
    Http2    *h = s->http2;
    Exchange *e = s->exchange;
    s->exchange = NULL;
    if (e) {
        if (!e->path) e->path = take_text("");
        exchange_gone(e);
    }
    for (int i = 0; i < s->trailer_count; i++) free((void *)s->trailer[i].name), free((void *)s->trailer[i].value);
    if (s->previous)
        s->previous->next = s->next;
    else
        h->first = s->next;
    if (s->next) s->next->previous = s->previous;
    bytes_free(&s->out);
    free(s);
    if (!--h->streams) conn_deadline(h->conn, IDLE_SECONDS);
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *state)
{
    Stream *s = nghttp2_session_get_stream_user_data(session, id);
    (void)code, (void)state;
    if (s) stream_close(s);
    return 0;
}

// ---- the connection

static Http2 *http2_create(Conn *c)
{
    Http2                     *h = take(sizeof *h);
    nghttp2_session_callbacks *calls;
    nghttp2_option            *option;
    nghttp2_settings_entry     settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, BODY_WINDOW},
                                             {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADERS_MAX}};
    h->conn                               = c;
    if (nghttp2_session_callbacks_new(&calls) || nghttp2_option_new(&option)) abort();
    nghttp2_session_callbacks_set_on_begin_headers_callback(calls, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(calls, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_close);
    nghttp2_option_set_max_outbound_ack(option, 1000);
    int failed = nghttp2_session_server_new2(&h->session, calls, h, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(calls);
    if (failed) abort();
    nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, SERVE_COUNT(settings));
    nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0, 16 * BODY_WINDOW);
    conn_deadline(c, IDLE_SECONDS);
    return h;
}

static void input(Conn *c)
{
    if (!c->state) c->state = http2_create(c);
    Http2 *h      = c->state;
    Bytes  b      = c->in;
    c->in         = (Bytes){0};
    h->is_sending = true; // answers that are there at once are sent when all was read
    ssize_t n     = nghttp2_session_mem_recv(h->session, (const uint8_t *)b.data, b.size);
    h->is_sending = false;
    b.size        = 0;
    if (h->streams && !c->in.data) // more is to come: the memory is used again
        c->in = b;
    else
        bytes_free(&b);
    if (n < 0) {
        nghttp2_session_terminate_session(h->session, NGHTTP2_PROTOCOL_ERROR);
        c->closes = true;
    }
    pump(h);
    if (n < 0 && c->out.size == c->out_at) conn_fail(c);
}

// The client has closed its sending side. One that is gone refuses what is sent to it, which ends the connection: so it
// is sent a ping from time to time, as long as there is something to answer.
static void ask_whether_it_is_there(Conn *c)
{
    Http2 *h       = c->state;
    bool   is_busy = false;
    for (Stream *s = h->first; s; s = s->next) is_busy |= s->exchange != NULL;
    if (!is_busy && !c->waits_write) return conn_finish(c); // what is left waits for a window that never opens
    nghttp2_submit_ping(h->session, NGHTTP2_FLAG_NONE, NULL);
    pump(h);
    if (!c->waits_write) conn_deadline(c, ASK_SECONDS);
}

static void half(Conn *c)
{
    Http2 *h = c->state;
    if (!h) return conn_fail(c);
    for (Stream *s = h->first; s; s = s->next) // the rest of these never comes
        if (!nghttp2_session_get_stream_remote_close(h->session, s->id))
            nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
    pump(h);
    if (!c->is_broken && !c->closes) ask_whether_it_is_there(c);
}

static void late(Conn *c)
{
    Http2 *h = c->state;
    if (!h) return conn_fail(c);
    if (h->streams && c->is_half) return ask_whether_it_is_there(c);
    if (h->streams) return;
    nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h->session),
                          NGHTTP2_NO_ERROR, NULL, 0);
    c->closes = true;
    pump(h);
    if (c->out.size == c->out_at) conn_fail(c);
}

static void closed(Conn *c)
{
    Http2 *h = c->state;
    if (!h) return;
    h->is_sending = true;                    // nothing more is sent
    while (h->first) stream_close(h->first); // nghttp2 does not say so when a session is deleted
    nghttp2_session_del(h->session);
    free(h);
    c->state = NULL;
}

static void drain(Conn *c)
{
    Http2 *h = c->state;
    if (!h) return conn_fail(c);
    nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h->session),
                          NGHTTP2_NO_ERROR, NULL, 0);
    pump(h);
}

static void written(Conn *c)
{
    if (c->state) pump(c->state);
}

const ConnProtocol http2_protocol = {input, NULL, late, closed, drain, written, half};
