// schedule.c - queues and workers. See schedule.h.
#include "schedule.h"
#include "clients.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct Schedule {
    Server         *server;
    HoloPool       *pool;
    pthread_mutex_t lock;
    pthread_cond_t  news;
    pthread_t      *worker;
    int             cores, free;
    bool            is_ending;
    double          time; // virtual: the tag of what was begun last
    Queue          *first;
};

// ---- waiting

static bool is_before(const Job *a, const Job *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->tag < b->tag;
}

static void list(Schedule *s, Queue *q)
{
    if (q->is_listed) return;
    q->is_listed = true;
    q->next      = s->first;
    s->first     = q;
}

static void unlist(Schedule *s, Queue *q)
{
    if (!q->is_listed || q->first || q->is_active || q->running) return;
    Queue **at = &s->first;
    while (*at != q) at = &(*at)->next;
    *at          = q->next;
    q->is_listed = false;
}

bool schedule_add(Schedule *s, Queue *q, Job *job)
{
    pthread_mutex_lock(&s->lock);
    bool has_room = q->waiting < q->limit && !s->is_ending;
    if (has_room) {
        double last = job->client ? job->client->served : s->time;
        job->tag    = last > s->time ? last : s->time;
        if (job->client) job->client->served = job->tag + 1 / job->client->weight;
        job->queue  = q;
        job->queued = now();
        job->state  = JOB_WAITING;
        Job **at    = &q->first;
        while (*at && !is_before(job, *at)) at = &(*at)->next;
        job->next = *at;
        *at       = job;
        q->waiting++;
        list(s, q);
        pthread_cond_signal(&s->news);
    }
    pthread_mutex_unlock(&s->lock);
    return has_room;
}

int queue_waiting(Queue *q)
{
    pthread_mutex_lock(&q->schedule->lock);
    int count = q->waiting;
    pthread_mutex_unlock(&q->schedule->lock);
    return count;
}

// ---- ending

static void call_done(void *state)
{
    Job *job = state;
    job->done(job);
}

// With the lock.
static void finish(Schedule *s, Job *job, HoloStatus status)
{
    job->status = status;
    job->state  = JOB_DONE;
    job->ended  = now();
    loop_post(s->server->loop, call_done, job);
}

void schedule_done(Schedule *s, Job *job, HoloStatus status)
{
    pthread_mutex_lock(&s->lock);
    finish(s, job, status);
    pthread_mutex_unlock(&s->lock);
}

static bool take_out(Queue *q, Job *job)
{
    for (Job **at = &q->first; *at; at = &(*at)->next)
        if (*at == job) {
            *at = job->next;
            q->waiting--;
            return true;
        }
    return false;
}

void schedule_cancel(Schedule *s, Job *job)
{
    pthread_mutex_lock(&s->lock);
    if (job->state == JOB_WAITING && take_out(job->queue, job)) {
        unlist(s, job->queue);
        finish(s, job, HOLO_CANCELLED);
    } else if (job->state == JOB_RUNNING && !job->cancel) {
        __atomic_store_n(&job->cancel, 1, __ATOMIC_RELAXED);
        if (job->group && !--job->group->live) __atomic_store_n(&job->group->cancel, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&s->lock);
}

bool job_is_cancelled(const Job *job)
{
    return __atomic_load_n(&job->cancel, __ATOMIC_RELAXED);
}

void schedule_group(Schedule *s, Job **jobs, int count, JobGroup *group)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < count; i++) {
        jobs[i]->group = group;
        if (group) group->live += !jobs[i]->cancel;
    }
    if (group && !group->live) group->cancel = 1;
    pthread_mutex_unlock(&s->lock);
}

// ---- choosing

// May the queue begin a run now? If it only has to wait for the time to pass, *wake becomes that time.
static bool is_ready(Schedule *s, Queue *q, double time, double *wake)
{
    int runs = q->kind->runs ? q->kind->runs : s->cores;
    if (q->running >= runs) return false;
    if (q->is_active) return true;
    if (!q->first) return false;
    int places = q->kind->places ? q->kind->places(q) : 1;
    if (!q->delay || places <= 1 || q->waiting >= places || time >= q->first->queued + q->delay) return true;
    if (q->first->queued + q->delay < *wake) *wake = q->first->queued + q->delay;
    return false;
}

static Queue *choose(Schedule *s, double *wake)
{
    Queue *best          = NULL;
    double time          = now();
    int    best_priority = 0;
    double best_tag      = 0;
    for (Queue *q = s->first; q; q = q->next) {
        if (!is_ready(s, q, time, wake)) continue;
        int    priority = q->first && !q->is_active ? q->first->priority : PRIORITY_DEFAULT;
        double tag      = q->first && !q->is_active ? q->first->tag : q->tag;
        if (q->is_active && q->first && q->first->priority < priority) priority = q->first->priority;
        if (best && (priority > best_priority || (priority == best_priority && tag >= best_tag))) continue;
        best          = q;
        best_priority = priority;
        best_tag      = tag;
    }
    // One that needs all cores waits until they are free, and nothing overtakes it meanwhile.
    return best && s->free >= (best->kind->all_cores ? s->cores : 1) ? best : NULL;
}

// Takes the jobs of a run: the first one and those that may share it, but leaves the other free cores their part.
static int take_jobs(Schedule *s, Queue *q, Job **jobs)
{
    int   places = q->kind->places ? q->kind->places(q) : 1, count = 0;
    int   sharers = q->kind->all_cores || s->free < 1 ? 1 : s->free, part = (q->waiting + sharers - 1) / sharers;
    Job **at = &q->first;
    if (places > SCHEDULE_BATCH_MAX) places = SCHEDULE_BATCH_MAX;
    if (places > part && !q->kind->all_cores) places = part;
    while (*at && count < places) {
        Job *job = *at;
        if (count && (!q->kind->joins || !q->kind->joins(q, jobs[0], job))) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        q->waiting--;
        job->state    = JOB_RUNNING;
        job->started  = now();
        jobs[count++] = job;
        if (job->tag > s->time) s->time = job->tag;
    }
    return count;
}

static void run_one(Schedule *s, Queue *q)
{
    Job *jobs[SCHEDULE_BATCH_MAX];
    int  cores = q->kind->all_cores ? s->cores : 1, count = take_jobs(s, q, jobs);
    s->free -= cores;
    q->running++;
    // A step that goes on counts like a job of its own, so that other models have their turn between steps.
    q->tag = (q->tag > s->time ? q->tag : s->time) + 1;
    q->kind->hold(q);
    pthread_mutex_unlock(&s->lock);
    bool goes_on = q->kind->run(q, jobs, count);
    pthread_mutex_lock(&s->lock);
    q->is_active = goes_on;
    q->running--;
    s->free += cores;
    unlist(s, q);
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
    q->kind->release(q);
    pthread_mutex_lock(&s->lock);
}

static void *work(void *state)
{
    Schedule *s = state;
    pthread_mutex_lock(&s->lock);
    while (!s->is_ending || s->first) { // at the end, what was cancelled still has to notice it
        double wake = now() + 3600;
        Queue *q    = s->free ? choose(s, &wake) : NULL;
        if (q) {
            run_one(s, q);
            continue;
        }
        struct timespec until = {(time_t)wake, (long)((wake - (double)(time_t)wake) * 1e9)};
        pthread_cond_timedwait(&s->news, &s->lock, &until);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

// ---- the whole

Schedule *schedule_create(Server *server)
{
    Schedule          *s = take(sizeof *s);
    pthread_condattr_t attributes;
    s->server = server;
    if (holo_pool_create(server->options.threads, &s->pool)) return free(s), NULL; // 0: as many as it may keep busy
    s->cores = s->free = holo_pool_threads(s->pool);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->news, &attributes);
    pthread_mutex_init(&s->lock, NULL);
    s->worker = take((size_t)s->cores * sizeof *s->worker);
    for (int i = 0; i < s->cores; i++)
        if (pthread_create(&s->worker[i], NULL, work, s)) abort();
    return s;
}

void schedule_destroy(Schedule *s)
{
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->is_ending = true;
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < s->cores; i++) pthread_join(s->worker[i], NULL);
    holo_pool_destroy(s->pool);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->news);
    free(s->worker);
    free(s);
}

int schedule_cores(const Schedule *s)
{
    return s->cores;
}

HoloPool *schedule_pool(const Schedule *s)
{
    return s->pool;
}

void queue_init(Queue *q, Schedule *s, const QueueKind *kind, void *owner)
{
    *q = (Queue){.schedule = s,
                 .kind     = kind,
                 .owner    = owner,
                 .limit    = s->server->options.max_queue,
                 .delay    = s->server->options.batch_delay};
}
