// loop.c - the event loop. See loop.h.
#include "loop.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct Posted {
    struct Posted *next;
    void (*call)(void *state);
    void *state;
} Posted;

struct Loop {
    int             epoll;
    Watch           bell; // rung by threads that post
    bool            is_stopped;
    Timer         **heap; // heap[1] is the next one
    int             count, room;
    pthread_mutex_t lock; // of what is posted
    Posted         *first, *last;
};

// ---- timers: a heap, in which each timer knows its place

static void put(Loop *l, int place, Timer *t)
{
    l->heap[place] = t;
    t->place       = place;
}

static void sift(Loop *l, int place)
{
    Timer *t = l->heap[place];
    for (; place > 1 && l->heap[place / 2]->at > t->at; place /= 2) put(l, place, l->heap[place / 2]);
    for (int child; (child = place * 2) <= l->count; place = child) {
        if (child < l->count && l->heap[child + 1]->at < l->heap[child]->at) child++;
        if (l->heap[child]->at >= t->at) break;
        put(l, place, l->heap[child]);
    }
    put(l, place, t);
}

void timer_set(Loop *l, Timer *t, double at)
{
    t->at = at;
    if (!t->place) {
        if (l->count + 1 >= l->room) {
            l->room = l->room * 2 + 64;
            l->heap = realloc(l->heap, (size_t)l->room * sizeof(Timer *));
            if (!l->heap) abort();
        }
        put(l, ++l->count, t);
    }
    sift(l, t->place);
}

void timer_clear(Loop *l, Timer *t)
{
    int place = t->place;
    if (!place) return;
    t->place    = 0;
    Timer *last = l->heap[l->count--];
    if (last == t) return;
    put(l, place, last);
    sift(l, place);
}

static void timers_run(Loop *l)
{
    double time = now();
    while (l->count && l->heap[1]->at <= time) {
        Timer *t = l->heap[1];
        timer_clear(l, t);
        t->call(t->state);
    }
}

// ---- calls of other threads

static void posted_run(void *state, uint32_t events)
{
    Loop    *l = state;
    uint64_t rung;
    (void)events;
    if (read(l->bell.fd, &rung, sizeof rung) < 0 && errno != EAGAIN) return;
    pthread_mutex_lock(&l->lock);
    Posted *p = l->first;
    l->first = l->last = NULL;
    pthread_mutex_unlock(&l->lock);
    for (Posted *next; p; p = next) {
        next = p->next;
        p->call(p->state);
        free(p);
    }
}

void loop_post(Loop *l, void (*call)(void *), void *state)
{
    Posted *p     = take(sizeof *p);
    p->call       = call;
    p->state      = state;
    uint64_t ring = 1;
    pthread_mutex_lock(&l->lock);
    bool was_empty = !l->first;
    if (l->last)
        l->last->next = p;
    else
        l->first = p;
    l->last = p;
    pthread_mutex_unlock(&l->lock);
    if (was_empty && write(l->bell.fd, &ring, sizeof ring) < 0 && errno != EAGAIN) abort();
}

// ---- the loop

bool loop_watch(Loop *l, Watch *w, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = w};
    if (w->events == events) return true;
    int how   = w->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    w->events = events;
    return !epoll_ctl(l->epoll, how, w->fd, &event);
}

void loop_unwatch(Loop *l, Watch *w)
{
    if (w->events) epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
    w->events = 0;
}

Loop *loop_create(void)
{
    Loop *l  = take(sizeof *l);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->bell  = (Watch){.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .call = posted_run, .state = l};
    pthread_mutex_init(&l->lock, NULL);
    if (l->epoll >= 0 && l->bell.fd >= 0 && loop_watch(l, &l->bell, EPOLLIN)) return l;
    loop_destroy(l);
    return NULL;
}

void loop_destroy(Loop *l)
{
    if (!l) return;
    posted_run(l, 0);
    if (l->epoll >= 0) close(l->epoll);
    if (l->bell.fd >= 0) close(l->bell.fd);
    pthread_mutex_destroy(&l->lock);
    free(l->heap);
    free(l);
}

// One event at a time: what an event does may end the watches of others.
bool loop_turn(Loop *l, double most)
{
    struct epoll_event event;
    double             left = l->count ? l->heap[1]->at - now() : 1e9;
    if (left > most) left = most;
    int wait = left <= 0 ? 0 : left > 1e6 ? -1 : (int)ceil(left * 1000);
    int got  = epoll_wait(l->epoll, &event, 1, wait);
    if (got > 0) {
        Watch *w = event.data.ptr;
        w->call(w->state, event.events);
    }
    timers_run(l);
    return got > 0;
}

void loop_run(Loop *l)
{
    while (!l->is_stopped) loop_turn(l, 1e9);
}

void loop_stop(Loop *l)
{
    l->is_stopped = true;
}
