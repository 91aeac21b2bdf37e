// loop.h - the event loop of the network's thread: descriptors, timers, and calls that other threads ask for.
#ifndef HOLO_SERVE_LOOP_H
#define HOLO_SERVE_LOOP_H

#include "bytes.h"

typedef struct Loop Loop;

typedef struct Watch { // a descriptor; it belongs to whoever made it
    int fd;
    void (*call)(void *state, uint32_t events); // events of epoll
    void    *state;
    uint32_t events; // that it waits for
} Watch;

typedef struct Timer { // zero-initialize, with `call` and `state` set
    double at;
    void (*call)(void *state);
    void *state;
    int   place; // in the heap, from 1 on; 0: it is not set
} Timer;

Loop *loop_create(void); // NULL: errno says why
void  loop_destroy(Loop *loop);
void  loop_run(Loop *loop);               // until loop_stop
bool  loop_turn(Loop *loop, double most); // waits for one event, at most this many seconds; true: there was one
void  loop_stop(Loop *loop);

bool loop_watch(Loop *loop, Watch *watch, uint32_t events); // adds it, or changes what it waits for
void loop_unwatch(Loop *loop, Watch *watch);

void timer_set(Loop *loop, Timer *timer, double at);
void timer_clear(Loop *loop, Timer *timer);

// Has the loop's thread call this soon. Any thread may ask.
void loop_post(Loop *loop, void (*call)(void *state), void *state);

#endif
