// net.c - listeners and connections. See net.h.
#include "net.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LISTENERS = 8, READ_MAX = 262144, HANDSHAKE_SECONDS = 10, STALL_SECONDS = 30, IDLE_SECONDS = 75 };

typedef struct Listener {
    Net  *net;
    Watch watch;
} Listener;

struct Net {
    Server     *server;
    TlsContext *tls;
    Listener    listener[LISTENERS];
    int         listener_count, count, port;
    Conn       *first;
    bool        is_draining;
    int         spare; // a descriptor to give up when there are no more
};

// ---- connections

static void conn_close(Conn *c)
{
    Net *net = c->server->net;
    if (c->protocol) c->protocol->closed(c);
    loop_unwatch(c->server->loop, &c->watch);
    timer_clear(c->server->loop, &c->timer);
    if (c->tls) tls_end(c);
    close(c->watch.fd);
    bytes_free(&c->in);
    bytes_free(&c->out);
    if (c->previous)
        c->previous->next = c->next;
    else
        net->first = c->next;
    if (c->next) c->next->previous = c->previous;
    net->count--;
    free(c);
}

void conn_fail(Conn *c)
{
    c->is_broken = true;
    timer_set(c->server->loop, &c->timer, 0);
}

void conn_finish(Conn *c)
{
    c->closes = true;
    if (c->out.size == c->out_at) conn_fail(c);
}

void conn_deadline(Conn *c, double seconds)
{
    if (c->is_broken) return;
    if (seconds > 0)
        timer_set(c->server->loop, &c->timer, now() + seconds);
    else
        timer_clear(c->server->loop, &c->timer);
}

static void late(void *state)
{
    Conn *c = state;
    if (c->is_broken || c->is_shaking || c->closes || c->out.size > c->out_at || !c->protocol)
        conn_close(c); // it takes too long to take what it asked for
    else
        c->protocol->late(c);
}

static void rewatch(Conn *c)
{
    uint32_t events = (c->is_full || c->is_half ? 0 : EPOLLIN) | (c->waits_write ? EPOLLOUT : 0) | EPOLLHUP | EPOLLERR;
    if (!loop_watch(c->server->loop, &c->watch, events)) conn_fail(c);
}

void conn_full(Conn *c, bool is_full)
{
    c->is_full = is_full;
    rewatch(c);
}

static long raw_write(Conn *c, const char *data, size_t size)
{
    return c->tls ? tls_write(c, data, size) : send(c->watch.fd, data, size, MSG_NOSIGNAL);
}

void conn_flush(Conn *c)
{
    if (c->is_broken || c->is_shaking) return;
    bool had = c->out_at < c->out.size;
    while (c->out_at < c->out.size) {
        long n = raw_write(c, c->out.data + c->out_at, c->out.size - c->out_at);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (errno == EINTR) continue;
            if (!c->waits_write) c->waits_write = true, conn_deadline(c, STALL_SECONDS);
            if (c->out_at > c->out.size / 2) bytes_drop(&c->out, c->out_at), c->out_at = 0;
            rewatch(c);
            return;
        }
        if (n <= 0) return conn_fail(c);
        c->out_at += (size_t)n;
        if (c->waits_write) conn_deadline(c, STALL_SECONDS); // it goes on
    }
    c->out.size = c->out_at = 0;
    if (c->out.room > 65536) bytes_free(&c->out);
    if (c->waits_write) {
        c->waits_write = false;
        conn_deadline(c, IDLE_SECONDS);
        rewatch(c);
    }
    if (c->closes) return conn_fail(c);
    if (had && c->protocol && c->protocol->written) c->protocol->written(c);
}

// ---- reading

static void choose_protocol(Conn *c)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    size_t            n         = c->in.size < sizeof preface - 1 ? c->in.size : sizeof preface - 1;
    bool              is_two    = c->tls ? tls_is_http2(c) : !memcmp(c->in.data, preface, n);
    if (!c->tls && is_two && n < sizeof preface - 1 && n < 4) return; // it could still be either
    c->protocol = is_two ? &http2_protocol : &http1_protocol;
}

// False: there is nothing more to read for now, or the connection has ended.
static bool read_some(Conn *c, size_t *total)
{
    size_t room = 0;
    Bytes *in   = c->protocol && c->protocol->place ? c->protocol->place(c, &room) : NULL;
    if (!in) in = &c->in;
    if (!bytes_reserve(in, room ? room : 16384)) return conn_fail(c), false;
    if (!room) room = in->room - in->size - 1;
    long n = c->tls ? tls_read(c, in->data + in->size, room) : recv(c->watch.fd, in->data + in->size, room, 0);
    if (n < 0 && errno == EINTR) return true;
    if (n < 0 && errno == EAGAIN) return false;
    if (n < 0) return conn_fail(c), false;
    if (!n) return c->is_half = true, false;
    in->data[in->size += (size_t)n] = 0;
    *total += (size_t)n;
    return *total < READ_MAX && (c->tls || (size_t)n == room);
}

static void conn_readable(Conn *c)
{
    size_t total = 0;
    while (read_some(c, &total)) {
    }
    if (!c->protocol && c->in.size) choose_protocol(c);
    if (c->protocol && total) c->protocol->input(c);
    if (!c->is_half || c->is_broken) return;
    rewatch(c);
    if (c->protocol)
        c->protocol->half(c);
    else
        conn_fail(c);
}

static void conn_event(void *state, uint32_t events)
{
    Conn *c = state;
    if (c->is_broken) return;
    if (c->is_shaking) {
        int done = tls_shake(c);
        if (done < 0) return conn_fail(c);
        if (!done) return;
        c->is_shaking = false;
        rewatch(c);
        conn_deadline(c, HANDSHAKE_SECONDS);
    }
    if (events & EPOLLOUT) conn_flush(c);
    if (!c->is_broken && !c->is_full && !c->is_half && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        conn_readable(c);
    else if (!c->is_broken && events & (EPOLLHUP | EPOLLERR))
        conn_fail(c);
}

// ---- listeners

static void peer_name(const struct sockaddr_storage *address, socklen_t size, char *out, size_t room)
{
    if (address->ss_family == AF_UNIX ||
        getnameinfo((const void *)address, size, out, (socklen_t)room, NULL, 0, NI_NUMERICHOST))
        snprintf(out, room, "local");
}

static void conn_open(Net *net, int fd, const struct sockaddr_storage *address, socklen_t size)
{
    Conn *c   = take(sizeof *c);
    int   one = 1;
    c->server = net->server;
    c->watch  = (Watch){.fd = fd, .call = conn_event, .state = c};
    c->timer  = (Timer){.call = late, .state = c};
    c->next   = net->first;
    if (c->next) c->next->previous = c;
    net->first = c;
    net->count++;
    peer_name(address, size, c->peer, sizeof c->peer);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (net->tls) c->is_shaking = tls_begin(net->tls, c);
    conn_deadline(c, HANDSHAKE_SECONDS);
    if (net->tls && !c->is_shaking) return conn_fail(c);
    rewatch(c);
}

// Without descriptors left, a connection that waits would wake the loop for ever: it is taken with the spare one, and closed.
static void turn_away(Net *net, int listener)
{
    close(net->spare);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) close(fd);
    net->spare = dup(listener);
}

static void accept_event(void *state, uint32_t events)
{
    Listener *l = state;
    (void)events;
    for (int i = 0; i < 64; i++) {
        struct sockaddr_storage address;
        socklen_t               size = sizeof address;
        int                     fd   = accept4(l->watch.fd, (void *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) return turn_away(l->net, l->watch.fd);
        if (fd < 0) return;
        if (l->net->count >= l->net->server->options.max_connections)
            close(fd);
        else
            conn_open(l->net, fd, &address, size);
    }
}

static bool listener_add(Net *net, int fd)
{
    if (net->listener_count == LISTENERS) return close(fd), false;
    Listener *l = &net->listener[net->listener_count++];
    l->net      = net;
    l->watch    = (Watch){.fd = fd, .call = accept_event, .state = l};
    return loop_watch(net->server->loop, &l->watch, EPOLLIN);
}

static int port_of(int fd)
{
    struct sockaddr_storage a;
    socklen_t               size = sizeof a;
    if (getsockname(fd, (void *)&a, &size)) return 0;
    return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                         : ((struct sockaddr_in *)&a)->sin_port);
}

// Connections inherit this: a client whose machine is gone says nothing, so it is asked, whether it reads or not.
static void watch_for_lost(int fd)
{
    int one = 1, idle = 30, each = 10, times = 3;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &each, sizeof each);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

static bool listen_at(Net *net, const struct addrinfo *a)
{
    int one = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    watch_for_lost(fd);
    if (a->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 4096)) {
        int why = errno;
        close(fd);
        errno = why;
        return false;
    }
    if (!net->port) net->port = port_of(fd);
    return listener_add(net, fd);
}

Net *net_create(Server *server, char *why, size_t room)
{
    Net            *net   = take(sizeof *net);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;
    char            port[16];
    int             found = 0, reason = 0;
    net->server = server;
    net->spare  = dup(0);
    *why        = 0;
    if (server->options.tls_cert && !(net->tls = tls_create(&server->options, why, room)))
        return net_destroy(net), NULL;
    snprintf(port, sizeof port, "%d", server->options.port);
    int failed = getaddrinfo(server->options.host, port, &hints, &list);
    for (struct addrinfo *a = failed ? NULL : list; a; a = a->ai_next) {
        if (found && !server->options.port) break; // a free port is one port
        if (listen_at(net, a))
            found++;
        else
            reason = errno;
    }
    if (list) freeaddrinfo(list);
    if (found) return net;
    snprintf(why, room, "cannot listen at %s port %s: %s%s", server->options.host, port,
             failed ? gai_strerror(failed) : strerror(reason),
             !failed && reason == EADDRINUSE ? ": --port takes another, or 0 for a free one" : "");
    net_destroy(net);
    return NULL;
}

void net_stop_listening(Net *net)
{
    for (int i = 0; i < net->listener_count; i++) {
        loop_unwatch(net->server->loop, &net->listener[i].watch);
        close(net->listener[i].watch.fd);
    }
    net->listener_count = 0;
}

void net_drain(Net *net)
{
    net->is_draining = true;
    for (Conn *c = net->first; c; c = c->next)
        if (c->protocol)
            c->protocol->drain(c);
        else
            conn_fail(c);
}

void net_destroy(Net *net)
{
    if (!net) return;
    net_stop_listening(net);
    while (net->first) conn_close(net->first);
    tls_destroy(net->tls);
    if (net->spare >= 0) close(net->spare);
    free(net);
}

int net_connections(const Net *net)
{
    return net->count;
}

int net_port(const Net *net)
{
    return net->port;
}
