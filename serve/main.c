// main.c - the program hologram-serve: makes the parts in order, runs until a signal, drains, and ends.
#include "clients.h"
#include "coding.h"
#include "journal.h"
#include "metrics.h"
#include "net.h"
#include "repository.h"
#include "sandbox.h"
#include "shared.h"
#include "traces.h"

#include "hologram.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct Ending {
    Server *server;
    Watch   signals;
    Timer   timer; // the end of draining, or the next look
    double  until;
} Ending;

// Tells systemd, if it started this, that the server is ready or ending.
static void tell_system(const char *text)
{
    const char        *path    = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof address.sun_path) return;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, path, strlen(path));
    if (*path == '@') address.sun_path[0] = 0;
    if (fd >= 0)
        sendto(fd, text, strlen(text), MSG_NOSIGNAL, (void *)&address,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
    if (fd >= 0) close(fd);
}

// ---- ending

static void look_whether_done(void *state)
{
    Ending *d = state;
    if (!d->server->open || now() >= d->until) return loop_stop(d->server->loop);
    timer_set(d->server->loop, &d->timer, now() + 0.01);
}

static void on_signal(void *state, uint32_t events)
{
    Ending                 *d = state;
    struct signalfd_siginfo info;
    (void)events;
    if (read(d->signals.fd, &info, sizeof info) != (ssize_t)sizeof info) return;
    if (info.ssi_signo == SIGHUP) return repository_look(d->server->repository);
    if (d->server->is_draining) return loop_stop(d->server->loop); // asked twice: at once
    d->server->is_draining = true;
    d->until               = now() + d->server->options.drain;
    journal(JOURNAL_INFO, "draining", NULL);
    tell_system("STOPPING=1");
    net_stop_listening(d->server->net);
    net_drain(d->server->net);
    look_whether_done(d);
}

static bool watch_signals(Ending *d)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL); // before there are threads: they inherit it
    signal(SIGPIPE, SIG_IGN);
    d->signals = (Watch){.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC), .call = on_signal, .state = d};
    d->timer   = (Timer){.call = look_whether_done, .state = d};
    return d->signals.fd >= 0 && loop_watch(d->server->loop, &d->signals, EPOLLIN);
}

// ---- beginning

static int fail(const char *why)
{
    fprintf(stderr, "hologram-serve: %s\n", why);
    return 1;
}

static void raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static bool parts_create(Server *s, char *why, size_t room)
{
    if (!journal_open(s->options.log, s->options.log_level, why, room)) return false;
    if (!(s->clients = clients_create(&s->options, why, room))) return false;
    if (!(s->net = net_create(s, why, room))) return false;
    if (s->options.otlp && !(s->traces = traces_create(s->options.otlp, why, room))) return false;
    if (!sandbox_enter(&s->options, why, room)) return false;
    s->metrics  = metrics_create(s);
    s->shared   = shared_create();
    s->schedule = schedule_create(s);
    if (!s->schedule) return snprintf(why, room, "its threads cannot be started: there is not enough memory"), false;
    return repository_create(s, why, room) != NULL;
}

static void parts_destroy(Server *s)
{
    net_destroy(s->net);
    repository_destroy(s->repository);
    schedule_destroy(s->schedule);
    unpack_destroy(s);
    traces_destroy(s->traces);
    shared_destroy(s->shared);
    loop_destroy(s->loop);
    clients_destroy(s->clients);
    metrics_destroy(s->metrics);
    journal_close();
}

int main(int argc, char **argv)
{
    static Server server;
    Ending        ending   = {.server = &server};
    bool          is_done  = false;
    char          why[700] = "";
    int           status   = options_read(argc, argv, &server.options, &is_done);
    if (status || is_done) return status;
    server.began = now();
    raise_files();
    holo_memory_set_limit(server.options.memory_limit);
    server.loop = loop_create();
    if (!server.loop || !watch_signals(&ending)) return fail(strerror(errno));
    if (!parts_create(&server, why, sizeof why)) return fail(why);
    snprintf(why, sizeof why, "%s://%s:%d", server.options.tls_cert ? "https" : "http", server.options.host,
             net_port(server.net));
    journal(JOURNAL_INFO, "listening", "url", why, "version", holo_version(), NULL);
    tell_system("READY=1");
    loop_run(server.loop);
    journal(JOURNAL_INFO, "ended", NULL);
    parts_destroy(&server);
    free(server.options.paths);
    return 0;
}
