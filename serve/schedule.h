// schedule.h - queues of jobs, and the workers that run them.
//
// There are as many workers as cores to use, and each core runs one job at a time: a job takes one core, or all of them if
// its model runs with threads. So there are never more threads that compute than cores.
//
// A queue belongs to a model. Among the queues, the job of the lowest priority number comes first; among equals, that of the
// client who has had the least (start-time fair queueing). A job ends exactly once, with `done` on the network's thread.
#ifndef HOLO_SERVE_SCHEDULE_H
#define HOLO_SERVE_SCHEDULE_H

#include "hologram.h"
#include "server.h"

typedef struct Job Job;

typedef enum JobState { JOB_NEW, JOB_WAITING, JOB_RUNNING, JOB_DONE } JobState;

typedef struct JobGroup { // jobs that share a run
    int          live;    // that somebody waits for
    volatile int cancel;  // nobody does
} JobGroup;

struct Job {
    Job         *next;
    JobGroup    *group; // NULL: none
    Queue       *queue;
    Client      *client;
    int          priority; // lower is earlier
    double       tag, queued, started, ended;
    volatile int cancel; // it need not be computed any more
    JobState     state;
    HoloStatus   status;
    HoloError    error;
    int          batch; // how many jobs shared its run; 0 for all but the first of them
    void (*done)(Job *job);
};

typedef struct QueueKind {
    bool all_cores;
    int  runs;                                                   // at once; 0: one on each core
    int (*places)(Queue *q);                                     // how many jobs a run may take now; NULL: one
    bool (*joins)(Queue *q, const Job *first, const Job *other); // may they share a run? NULL: never
    bool (*run)(Queue *q, Job **jobs, int count);                // on a worker; true: it goes on, even if no jobs wait
    void (*hold)(Queue *q);                                      // its owner must stay until `release`
    void (*release)(Queue *q);
} QueueKind;

struct Queue {
    Schedule        *schedule;
    const QueueKind *kind;
    void            *owner;
    Job             *first;                   // that wait, in order
    int              waiting, running, limit; // running: runs at this moment
    double           delay;                   // how long a job may wait for others to share its run, in seconds
    bool             is_active;               // its last run goes on
    double           tag;
    bool             is_listed;
    Queue           *next; // of those with something to do
};

enum { PRIORITY_DEFAULT = 100, SCHEDULE_BATCH_MAX = 256 };

Schedule *schedule_create(Server *server); // NULL: out of memory
void      schedule_destroy(Schedule *s);   // after all jobs have ended or been cancelled
int       schedule_cores(const Schedule *s);
HoloPool *schedule_pool(const Schedule *s); // threads for jobs that take all cores

void queue_init(Queue *q, Schedule *s, const QueueKind *kind, void *owner);
int  queue_waiting(Queue *q);

// False: the queue is full, and the job is as it was.
bool schedule_add(Schedule *s, Queue *q, Job *job);
// The job ends soon, with HOLO_CANCELLED if it was not computed. Does nothing for a job that has ended.
void schedule_cancel(Schedule *s, Job *job);
// By a run of several jobs: while they are in the group, its `cancel` is set when all of them are cancelled.
void schedule_group(Schedule *s, Job **jobs, int count, JobGroup *group); // NULL: they leave it
bool job_is_cancelled(const Job *job);                                    // any thread
// By a run: the job has ended.
void schedule_done(Schedule *s, Job *job, HoloStatus status);

#endif
