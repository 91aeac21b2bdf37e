// traces.c - spans of requests for a collector. See traces.h.
#include "traces.h"
#include "clients.h"
#include "journal.h"
#include "routes.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { WAITING_MAX = 4 << 20, SEND_AT = 64 << 10 };

struct Traces {
    char                   *host, *port, *path;
    struct sockaddr_storage address; // found once, before files are out of reach
    socklen_t               address_size;
    pthread_t               thread;
    pthread_mutex_t         lock;
    pthread_cond_t          news;
    Bytes                   spans; // that wait, with commas between them
    bool                    is_ending;
    uint64_t                dropped, waiting;
    uint64_t                said; // the last time that a failure was logged
};

// ---- ids

static bool read_hex(const char *text, uint8_t *out, int size)
{
    for (int i = 0; i < size; i++) {
        unsigned x;
        if (sscanf(text + 2 * i, "%2x", &x) != 1) return false;
        out[i] = (uint8_t)x;
    }
    return true;
}

void traces_begin(Exchange *e)
{
    const char *parent = exchange_header(e, "traceparent"); // 00-TRACE-SPAN-FLAGS
    if (parent && strlen(parent) == 55 && strspn(parent, "0123456789abcdef-") == 55 && parent[2] == '-' &&
        parent[35] == '-' && parent[52] == '-')
        e->has_parent = read_hex(parent + 3, e->trace, 16) && read_hex(parent + 36, e->parent, 8);
    e->is_traced = e->has_parent || e->server->traces;
    if (!e->is_traced) return;
    if (!e->has_parent && getrandom(e->trace, 16, 0) != 16) e->is_traced = false;
    if (getrandom(e->span, 8, 0) != 8) e->is_traced = false;
}

static void add_hex(Bytes *b, const char *name, const uint8_t *data, int size)
{
    bytes_format(b, "\"%s\":\"", name);
    for (int i = 0; i < size; i++) bytes_format(b, "%02x", data[i]);
    bytes_add_text(b, "\",");
}

static void add_text(Bytes *b, const char *key, const char *text)
{
    bytes_format(b, ",{\"key\":\"%s\",\"value\":{\"stringValue\":", key);
    bytes_json(b, text, strlen(text));
    bytes_add_text(b, "}}");
}

// A part of a request: waiting, computing.
static void add_part(Bytes *b, const Exchange *e, const char *name, uint64_t begin, double seconds)
{
    uint8_t span[8];
    if (getrandom(span, 8, 0) != 8) return;
    bytes_add_text(b, ",{");
    add_hex(b, "traceId", e->trace, 16);
    add_hex(b, "spanId", span, 8);
    add_hex(b, "parentSpanId", e->span, 8);
    bytes_format(b, "\"name\":\"%s\",\"kind\":1,\"startTimeUnixNano\":\"%llu\",\"endTimeUnixNano\":\"%llu\"}", name,
                 (unsigned long long)begin, (unsigned long long)(begin + (uint64_t)(seconds * 1e9)));
}

void traces_end(Traces *t, const Exchange *e)
{
    Bytes    b   = {0};
    uint64_t end = unix_nano(), queue = (uint64_t)(e->queue_seconds * 1e9),
             compute = (uint64_t)(e->compute_seconds * 1e9);
    uint64_t begin   = end - compute > end ? e->began_unix : end - compute;
    if (!e->is_traced) return;
    bytes_add_text(&b, "{");
    add_hex(&b, "traceId", e->trace, 16);
    add_hex(&b, "spanId", e->span, 8);
    if (e->has_parent) add_hex(&b, "parentSpanId", e->parent, 8);
    bytes_add_text(&b, "\"name\":");
    bytes_json(&b, e->route->pattern, strlen(e->route->pattern));
    bytes_format(
        &b,
        ",\"kind\":2,\"startTimeUnixNano\":\"%llu\",\"endTimeUnixNano\":\"%llu\",\"attributes\":[{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"%d\"}}",
        (unsigned long long)e->began_unix, (unsigned long long)end, e->status);
    add_text(&b, "http.request.method", e->method);
    add_text(&b, "url.path", e->path);
    if (*e->model) add_text(&b, "model", e->model);
    bytes_format(&b, "],\"status\":{\"code\":%d}}", e->status >= 500 ? 2 : 1);
    if (compute)
        add_part(&b, e, "queue", begin - queue, e->queue_seconds),
            add_part(&b, e, "compute", begin, e->compute_seconds);
    pthread_mutex_lock(&t->lock);
    if (b.failed || t->spans.size + b.size > WAITING_MAX) {
        t->dropped++;
    } else {
        if (t->spans.size) bytes_add(&t->spans, ",", 1);
        bytes_add(&t->spans, b.data, b.size);
        t->waiting++;
        pthread_cond_signal(&t->news);
    }
    pthread_mutex_unlock(&t->lock);
    bytes_free(&b);
}

// ---- sending

static bool send_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n <= 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static bool post(Traces *t, const char *spans, size_t size)
{
    struct timeval wait      = {.tv_sec = 5};
    char           reply[64] = "";
    Bytes          body = {0}, head = {0};
    int            fd = socket(t->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    bytes_add_text(
        &body,
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"hologram-serve\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"hologram\"},\"spans\":[");
    bytes_add(&body, spans, size);
    bytes_add_text(&body, "]}]}]}");
    bytes_format(
        &head,
        "POST %s HTTP/1.1\r\nhost: %s:%s\r\ncontent-type: application/json\r\ncontent-length: %zu\r\nconnection: close\r\n\r\n",
        t->path, t->host, t->port, body.size);
    bool is = fd >= 0 && !body.failed && !connect(fd, (void *)&t->address, t->address_size) &&
              send_all(fd, head.data, head.size) && send_all(fd, body.data, body.size);
    is = is && recv(fd, reply, sizeof reply - 1, 0) > 12 && !strncmp(reply + 8, " 2", 2);
    if (fd >= 0) close(fd);
    bytes_free(&body);
    bytes_free(&head);
    return is;
}

static void *work(void *state)
{
    Traces *t = state;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1; // a second's worth at once, unless there are many
        if (!t->is_ending && t->spans.size < SEND_AT) pthread_cond_timedwait(&t->news, &t->lock, &until);
        if (t->is_ending && !t->spans.size) break;
        if (!t->spans.size) continue;
        Bytes    b     = t->spans;
        uint64_t count = t->waiting;
        t->spans       = (Bytes){0};
        t->waiting     = 0;
        pthread_mutex_unlock(&t->lock);
        bool is = post(t, b.data, b.size);
        bytes_free(&b);
        if (!is && unix_nano() - t->said > 60000000000u) {
            journal(JOURNAL_WARNING, "traces-not-sent", "host", t->host, "port", t->port, NULL);
            t->said = unix_nano();
        }
        pthread_mutex_lock(&t->lock);
        if (!is) t->dropped += count;
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

// ---- making

static bool find_address(Traces *t, char *why, size_t room)
{
    struct addrinfo hints  = {.ai_socktype = SOCK_STREAM}, *list;
    int             failed = getaddrinfo(t->host, t->port, &hints, &list);
    if (failed) return snprintf(why, room, "--otlp: %s: %s", t->host, gai_strerror(failed)), false;
    memcpy(&t->address, list->ai_addr, list->ai_addrlen);
    t->address_size = list->ai_addrlen;
    freeaddrinfo(list);
    return true;
}

Traces *traces_create(const char *url, char *why, size_t room)
{
    Traces *t = take(sizeof *t);
    if (strncmp(url, "http://", 7)) {
        free(t);
        return snprintf(
                   why, room,
                   "--otlp is '%s', but must begin with http://: put a collector on this machine that speaks TLS to others",
                   url),
               NULL;
    }
    const char *host = url + 7, *path = strchr(host, '/');
    size_t      size  = path ? (size_t)(path - host) : strlen(host);
    const char *colon = memchr(host, ':', size);
    t->host           = take_format("%.*s", (int)(colon ? (size_t)(colon - host) : size), host);
    t->port = colon ? take_format("%.*s", (int)(size - (size_t)(colon - host) - 1), colon + 1) : take_text("4318");
    t->path = take_text(path ? path : "/v1/traces");
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->news, NULL);
    if (find_address(t, why, room) && !pthread_create(&t->thread, NULL, work, t)) return t;
    free(t->host), free(t->port), free(t->path), free(t);
    return NULL;
}

void traces_destroy(Traces *t)
{
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    t->is_ending = true;
    pthread_cond_signal(&t->news);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->news);
    free(t->host), free(t->port), free(t->path), free(t);
}

uint64_t traces_dropped(const Traces *t)
{
    return t ? t->dropped : 0;
}
