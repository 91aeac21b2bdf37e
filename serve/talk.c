// talk.c - jobs of language models as the network's thread sees them: made, started, given up, ended. See speak.h.
#include "clients.h"
#include "infer.h"
#include "speak.h"

#include <stdlib.h>

Talk *talk_create(Exchange *e, Model *model)
{
    Talk *t     = take(sizeof *t);
    t->model    = model;
    t->exchange = e;
    holo_sampler_defaults(&t->sampler);
    exchange_hold(e);
    return t;
}

void talk_free(Talk *t)
{
    if (t->end) t->end(t);
    timer_clear(t->exchange->server->loop, &t->timer);
    if (t->exchange->state == t) t->exchange->state = NULL, t->exchange->gone = NULL;
    for (size_t i = 0; i < t->stop_count; i++) free((void *)t->stops[i].data);
    free(t->stops);
    free(t->bias);
    free(t->prompt);
    free(t->context);
    free(t->ids);
    free(t->grammar);
    model_release(t->model);
    exchange_release(t->exchange);
    free(t);
}

static void done(Job *job)
{
    Talk         *t = (Talk *)job;
    ModelMetrics *m = t->model->metrics;
    Exchange     *e = t->exchange;
    if (job->status == HOLO_CANCELLED || t->is_given_up) m->cancelled++;
    if (job->batch) metrics_batch(m, job->batch);
    m->prompt_tokens += t->result.prompt_tokens;
    m->cached_tokens += t->result.cached_tokens;
    if (job->started) {
        e->queue_seconds   = job->started - job->queued;
        e->compute_seconds = job->ended - job->started;
        metrics_time(m, STAGE_QUEUE, e->queue_seconds);
        metrics_time(m, STAGE_COMPUTE, e->compute_seconds);
    }
    if (t->is_too_long) e->code = "context_length_exceeded";
    if (!t->is_given_up && job->status)
        t->fail(t, http_status(job->status), *job->error.text ? job->error.text : holo_status_text(job->status));
    else if (!t->is_given_up)
        t->done(t);
    talk_free(t);
}

static void late(void *state)
{
    Talk *t = state;
    schedule_cancel(t->exchange->server->schedule, &t->job);
    speaker_interrupt(t->model);
    if (t->is_given_up) return;
    t->is_given_up = true;
    t->fail(t, 504, "the request took longer than it may");
}

void talk_cancel(Talk *t)
{
    t->is_given_up = true;
    schedule_cancel(t->exchange->server->schedule, &t->job);
    speaker_interrupt(t->model);
}

static void gone(Exchange *e)
{
    if (e->state) talk_cancel(e->state);
}

void talk_start(Talk *t)
{
    Exchange *e     = t->exchange;
    t->job.done     = done;
    t->job.client   = e->client;
    t->job.priority = PRIORITY_DEFAULT;
    if (e->client && t->job.priority < e->client->priority) t->job.priority = e->client->priority;
    t->timer = (Timer){.call = late, .state = t};
    if (!schedule_add(e->server->schedule, &t->model->talks, &t->job)) {
        t->fail(t, 503, "too many requests wait for this model");
        return talk_free(t);
    }
    if (!e->state) e->state = t, e->gone = gone;
    timer_set(e->server->loop, &t->timer, now() + e->server->options.timeout);
}
