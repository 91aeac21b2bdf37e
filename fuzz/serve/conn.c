// conn.c - fuzzes a whole server: what a client sends over a connection, and the answers.
//
// The first byte says what the others are: bytes of HTTP/1.1, frames of HTTP/2 behind a correct beginning, or the body of a
// request to one of the routes below; from 128 on the client then closes its sending side. Answers that say that they are
// JSON are JSON, so are the events of streams, and when the client has left, nothing of it stays.
#include "clients.h"
#include "journal.h"
#include "net.h"
#include "repository.h"
#include "shared.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const paths[] = {"/v1/chat/completions",   "/v1/completions",
                                    "/v1/embeddings",         "/v2/models/digits/infer",
                                    "/v2/repository/index",   "/v1/audio/transcriptions",
                                    "/v1/images/generations", "/v2/systemsharedmemory/region/r/register",
                                    "/v1/responses"};

static Server server;

static void begin(void)
{
    const char *model    = getenv("SERVE_FUZZ_MODEL"); // a language model, if there is one
    char       *argv[]   = {"serve",     "--port",    "0",   "--host",       "127.0.0.1",        "--threads",
                            "1",         "--timeout", "0.1", "--no-watch",   "--no-sandbox",     "--log",
                            "/dev/null", "--context", "64",  "--no-control", "demo/digits.onnx", (char *)model};
    char        why[700] = "";
    bool        done     = false;
    signal(SIGPIPE, SIG_IGN);
    if (options_read(SERVE_COUNT(argv) - !model, argv, &server.options, &done) || done) abort();
    if (!journal_open("/dev/null", "error", why, sizeof why)) abort();
    server.loop    = loop_create();
    server.clients = clients_create(&server.options, why, sizeof why);
    server.net     = net_create(&server, why, sizeof why);
    if (!server.net) abort();
    server.metrics  = metrics_create(&server);
    server.shared   = shared_create();
    server.schedule = schedule_create(&server);
    if (!repository_create(&server, why, sizeof why)) abort();
    while (!repository_is_ready(server.repository)) loop_turn(server.loop, 0.01);
}

static int connect_to(int port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int           fd   = socket(AF_INET, SOCK_STREAM, 0);
    struct linger hard = {1, 0}; // ports are not kept
    if (fd < 0 || connect(fd, (void *)&a, sizeof a)) abort();
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void request_make(const uint8_t *data, size_t size, Bytes *out)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    int               kind      = data[0] % (SERVE_COUNT(paths) + 2);
    if (kind == 1) bytes_add(out, preface, sizeof preface - 1);
    if (kind > 1)
        bytes_format(out, "POST %s HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %zu\r\n\r\n",
                     paths[kind - 2], size - 1);
    bytes_add(out, data + 1, size - 1);
}

static void check_json(const char *text, size_t size)
{
    json_t *value = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (!value) abort();
    json_decref(value);
}

// The answer to a single request that was read to its end.
static void check_answer(const Bytes *in)
{
    const char *body = in->size ? strstr(in->data, "\r\n\r\n") : NULL;
    if (!body) return;
    body += 4;
    if (!strncmp(in->data, "HTTP/1.1 102 ", 13)) return; // the answer comes behind it
    if (strstr(in->data, "content-type: application/json\r\n") && strstr(in->data, "content-length: ")) {
        size_t size = strtoull(strstr(in->data, "content-length: ") + 16, NULL, 10);
        if (size == in->size - (size_t)(body - in->data)) check_json(body, size);
    }
    for (const char *p = body; (p = strstr(p, "\ndata: "));) {
        const char *line = p += 7, *end = strchr(line, '\n');
        if (!end || end[1] != '\n') break; // cut off
        if (strncmp(line, "[DONE]", 6)) check_json(line, (size_t)(end - line));
    }
}

static void talk(int fd, const Bytes *out, Bytes *in, bool is_half)
{
    size_t sent  = 0;
    double until = now() + 0.3;
    for (int quiet = 0; quiet < 3 && now() < until;) {
        ssize_t n = sent < out->size ? send(fd, out->data + sent, out->size - sent, 0) : 0;
        if (n > 0) sent += (size_t)n;
        bool moved = n > 0;
        if (moved && sent == out->size && is_half) shutdown(fd, SHUT_WR);
        for (int i = 0; i < 50 && loop_turn(server.loop, 0); i++) moved = true;
        if (in->size < 1 << 20 && bytes_reserve(in, 65536)) {
            n = recv(fd, in->data + in->size, 65536, 0);
            if (n == 0 || (n < 0 && errno != EAGAIN)) return;
            if (n > 0) in->data[in->size += (size_t)n] = 0, moved = true;
        }
        if (moved)
            quiet = 0;
        else if (server.open)
            loop_turn(server.loop, 0.02); // a worker is at it
        else
            quiet++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes out = {0}, in = {0};
    if (!size) return 0;
    if (!server.loop) begin();
    request_make(data, size, &out);
    int fd = connect_to(net_port(server.net));
    talk(fd, &out, &in, data[0] >= 128);
    if (data[0] % (SERVE_COUNT(paths) + 2) > 1) check_answer(&in);
    close(fd);
    double until = now() + 20;
    while (server.open || net_connections(server.net)) {
        loop_turn(server.loop, 0.05);
        if (now() > until) abort(); // something of it stays
    }
    bytes_free(&out);
    bytes_free(&in);
    return 0;
}
