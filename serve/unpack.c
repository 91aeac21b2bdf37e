// unpack.c - bodies of requests that are compressed are unpacked by workers. See coding.h.
#include "clients.h"
#include "coding.h"
#include "schedule.h"

#include <stdlib.h>

typedef struct Unpacking {
    Job       job; // first
    Exchange *exchange;
    char     *coding;
    Bytes     out;
    int       failed; // a status
    void (*then)(Exchange *e);
} Unpacking;

static bool run(Queue *q, Job **jobs, int count)
{
    for (int i = 0; i < count; i++) {
        Unpacking *u = (Unpacking *)jobs[i];
        Exchange  *e = u->exchange;
        u->failed    = coding_unpack(u->coding, e->body.data ? e->body.data : "", e->body.size,
                                     e->server->options.max_body, &u->out);
        schedule_done(q->schedule, &u->job, HOLO_OK);
    }
    return false;
}

static void stay(Queue *q) // the server outlives its queues
{
    (void)q;
}

static const QueueKind unpacking_queue = {.run = run, .hold = stay, .release = stay};

static void done(Job *job)
{
    Unpacking *u = (Unpacking *)job;
    Exchange  *e = u->exchange;
    if (u->failed || e->has_ended) {
        bytes_free(&u->out);
    } else {
        bytes_free(&e->body);
        e->body = u->out;
    }
    if (!e->has_ended && u->failed)
        exchange_fail(e, u->failed,
                      u->failed == 413   ? "the body is larger than --max-body allows when it is unpacked"
                      : u->failed == 503 ? "out of memory"
                                         : "the body is not %s, or it is damaged",
                      u->coding);
    else if (!e->has_ended)
        u->then(e);
    exchange_release(e);
    free(u->coding);
    free(u);
}

void unpack_start(Exchange *e, const char *coding, void (*then)(Exchange *))
{
    Server *s = e->server;
    if (!s->unpacking) {
        s->unpacking = take(sizeof *s->unpacking);
        queue_init(s->unpacking, s->schedule, &unpacking_queue, NULL);
    }
    Unpacking *u    = take(sizeof *u);
    u->job.done     = done;
    u->job.client   = e->client;
    u->job.priority = PRIORITY_DEFAULT;
    u->exchange     = e;
    u->coding       = take_text(coding);
    u->then         = then;
    if (!schedule_add(s->schedule, s->unpacking, &u->job)) {
        free(u->coding);
        free(u);
        return exchange_fail(e, 503, "too many compressed requests wait");
    }
    exchange_hold(e);
}

void unpack_destroy(Server *server)
{
    free(server->unpacking);
    server->unpacking = NULL;
}
