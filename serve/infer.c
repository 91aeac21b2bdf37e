// infer.c - runs of tensors. See infer.h.
#include "infer.h"
#include "clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- types

static const struct {
    const char *name;
    HoloDtype   dtype;
} dtypes[] = {{"BOOL", HOLO_BOOL},    {"UINT8", HOLO_U8}, {"UINT16", HOLO_U16}, {"UINT32", HOLO_U32},
              {"UINT64", HOLO_U64},   {"INT8", HOLO_I8},  {"INT16", HOLO_I16},  {"INT32", HOLO_I32},
              {"INT64", HOLO_I64},    {"FP16", HOLO_F16}, {"FP32", HOLO_F32},   {"FP64", HOLO_F64},
              {"BYTES", HOLO_STRING}, {"BF16", HOLO_BF16}};

// Types that KServe does not have keep Hologram's names.
const char *kserve_dtype_name(HoloDtype dtype)
{
    for (int i = 0; i < SERVE_COUNT(dtypes); i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].name;
    return holo_dtype_name(dtype);
}

HoloDtype kserve_dtype(const char *name)
{
    for (int i = 0; i < SERVE_COUNT(dtypes); i++)
        if (!strcmp(dtypes[i].name, name)) return dtypes[i].dtype;
    for (int i = 1; i < HOLO_DTYPE_COUNT; i++)
        if (!strcmp(holo_dtype_name((HoloDtype)i), name)) return (HoloDtype)i;
    return HOLO_NONE;
}

bool tensor_shape(HoloTensor *t, const int64_t *dim, int rank)
{
    if (rank < 0 || rank > HOLO_MAX_RANK) return false;
    t->rank = (int8_t)rank;
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0) return false;
        t->dim[i] = dim[i];
    }
    int64_t count = holo_tensor_count(t);
    return count >= 0 && count < INT64_MAX / 32;
}

int http_status(HoloStatus status)
{
    static const struct {
        HoloStatus status;
        int        code;
    } rows[] = {{HOLO_BAD_ARGUMENT, 400}, {HOLO_BAD_INPUT, 400}, {HOLO_UNSUPPORTED, 400}, {HOLO_REFUSED, 400},
                {HOLO_NO_MEMORY, 503},    {HOLO_CANCELLED, 499}, {HOLO_TIMEOUT, 504}};
    for (int i = 0; i < SERVE_COUNT(rows); i++)
        if (rows[i].status == status) return rows[i].code;
    return 500;
}

// ---- making

Infer *infer_create(Exchange *e, Model *model)
{
    Infer *i       = take(sizeof *i);
    i->model       = model;
    i->exchange    = e;
    i->input_count = holo_model_input_count(model->holo);
    i->input       = take((size_t)i->input_count * sizeof *i->input);
    i->owned       = take((size_t)i->input_count * sizeof *i->owned);
    for (int k = 0; k < i->input_count; k++) i->input[k].index = k;
    i->timeout = e->server->options.timeout;
    i->rows    = -1;
    i->created = now();
    exchange_hold(e);
    return i;
}

static void results_release(Results *r)
{
    if (!r || __atomic_sub_fetch(&r->holds, 1, __ATOMIC_ACQ_REL)) return;
    holo_run_outputs_free(r->output, r->count);
    free(r->output);
    free(r);
}

void infer_free(Infer *i)
{
    if (i->end) i->end(i);
    timer_clear(i->exchange->server->loop, &i->timer);
    if (i->exchange->state == i) i->exchange->state = NULL, i->exchange->gone = NULL;
    for (int k = 0; k < i->input_count; k++) free(i->owned[k]);
    results_release(i->results);
    model_release(i->model);
    exchange_release(i->exchange);
    free(i->input);
    free(i->owned);
    free(i->wanted);
    free(i->output);
    free(i->id);
    free(i);
}

bool infer_input(Infer *i, const char *name, const HoloTensor *tensor, void *owned, char *why, size_t room)
{
    int        index = holo_model_input_find(i->model->holo, name);
    HoloTensor t     = *tensor;
    HoloError  error = {0};
    bool       is    = index >= 0 && i->input[index].tensor.dtype == HOLO_NONE;
    if (!is)
        snprintf(why, room, index < 0 ? "the model has no input '%.100s'" : "the input '%.100s' is given twice", name);
    if (is && holo_port_fits(holo_model_input(i->model->holo, index), &t, &error)) {
        is = false;
        snprintf(why, room, "%.500s", error.text);
    }
    if (!is) return free(owned), false;
    i->input[index].tensor = t;
    i->owned[index]        = owned;
    return true;
}

bool infer_want(Infer *i, const char *name, char *why, size_t room)
{
    int index = holo_model_output_find(i->model->holo, name), count = holo_model_output_count(i->model->holo);
    if (index < 0) return snprintf(why, room, "the model has no output '%.100s'", name), false;
    if (i->wanted_count == count) return snprintf(why, room, "more outputs are asked for than the model has"), false;
    if (!i->wanted) i->wanted = take((size_t)count * sizeof *i->wanted);
    i->wanted[i->wanted_count++] = index;
    return true;
}

// ---- ending

static void fail(Infer *i, int status, const char *text)
{
    if (i->fail)
        i->fail(i, status, text);
    else
        exchange_fail(i->exchange, status, "%s", text);
}

static void done(Job *job)
{
    Infer        *i = (Infer *)job;
    Exchange     *e = i->exchange;
    ModelMetrics *m = i->model->metrics;
    if (job->status == HOLO_CANCELLED || i->is_given_up) m->cancelled++;
    if (job->batch) metrics_batch(m, job->batch);
    if (job->started) {
        e->queue_seconds   = job->started - job->queued;
        e->compute_seconds = job->ended - job->started;
        metrics_time(m, STAGE_QUEUE, e->queue_seconds);
        metrics_time(m, STAGE_COMPUTE, e->compute_seconds);
    }
    if (!i->is_given_up) {
        if (job->status)
            fail(i, http_status(job->status), *job->error.text ? job->error.text : holo_status_text(job->status));
        else
            i->answer(i);
    }
    infer_free(i);
}

static void late(void *state)
{
    Infer *i = state;
    schedule_cancel(i->exchange->server->schedule, &i->job);
    if (!i->is_given_up) {
        i->is_given_up = true;
        fail(i, 504, "the request took longer than it may");
    }
}

void infer_cancel(Infer *i)
{
    i->is_given_up = true;
    schedule_cancel(i->exchange->server->schedule, &i->job);
}

static void gone(Exchange *e)
{
    if (e->state) infer_cancel(e->state);
}

// ---- reading

enum { READ_HERE = 16384 }; // bytes of text: a twentieth of a millisecond

static void begin(Infer *i, void (*done_)(Job *job))
{
    Exchange *e   = i->exchange;
    i->job.done   = done_;
    i->job.client = e->client;
    if (!i->job.priority) i->job.priority = PRIORITY_DEFAULT;
    if (e->client && i->job.priority < e->client->priority) i->job.priority = e->client->priority;
    i->timer.call  = late;
    i->timer.state = i;
}

static bool queue(Infer *i, Queue *q)
{
    Exchange *e = i->exchange;
    if (!schedule_add(e->server->schedule, q, &i->job)) {
        fail(i, 503, "too many requests wait for this model");
        return infer_free(i), false;
    }
    if (!e->data && !e->state) e->state = i, e->gone = gone; // a stream of requests has a state of its own
    timer_set(e->server->loop, &i->timer, i->created + i->timeout);
    return true;
}

static bool read_run(Queue *q, Job **jobs, int count)
{
    for (int n = 0; n < count; n++) {
        Infer *i      = (Infer *)jobs[n];
        bool   is     = i->read(i, i->job.error.text, sizeof i->job.error.text);
        i->job.status = is ? HOLO_OK : HOLO_BAD_INPUT;
        schedule_done(q->schedule, &i->job, i->job.status);
    }
    return false;
}

const QueueKind reading_queue = {.run = read_run, .hold = queue_hold_model, .release = queue_release_model};

static void read_done(Job *job)
{
    Infer *i = (Infer *)job;
    if (i->is_given_up) {
        i->model->metrics->cancelled++;
        return infer_free(i);
    }
    if (job->status) {
        fail(i, http_status(job->status), *job->error.text ? job->error.text : holo_status_text(job->status));
        return infer_free(i);
    }
    *job = (Job){.priority = job->priority};
    infer_start(i);
}

void infer_read(Infer *i, size_t text_size)
{
    char why[700];
    if (text_size > READ_HERE) {
        begin(i, read_done);
        queue(i, &i->model->readings);
    } else if (i->read(i, why, sizeof why)) {
        infer_start(i);
    } else {
        fail(i, 400, why);
        infer_free(i);
    }
}

// ---- beginning

static bool inputs_complete(Infer *i, char *why, size_t room)
{
    int given = 0;
    for (int k = 0; k < i->input_count; k++) {
        const HoloPort *port = holo_model_input(i->model->holo, k);
        if (i->input[k].tensor.dtype) {
            i->input[given] = i->input[k]; // those that are left out leave no gap
            void *owned     = i->owned[k];
            i->owned[k]     = NULL;
            i->owned[given] = owned;
            given++;
        } else if (!port->optional) {
            return snprintf(why, room, "the input '%.100s' is missing", port->name), false;
        }
    }
    i->input_count = given;
    return true;
}

static int64_t rows_of(const Infer *i)
{
    int64_t rows = -1;
    for (int k = 0; k < i->input_count; k++) {
        const HoloTensor *t = &i->input[k].tensor;
        if (t->kind != HOLO_TENSOR || t->dtype == HOLO_STRING || t->rank < 1 || t->dim[0] < 1 ||
            (rows >= 0 && rows != t->dim[0]))
            return -1;
        rows = t->dim[0];
    }
    return rows;
}

void infer_start(Infer *i)
{
    char why[512];
    if (!inputs_complete(i, why, sizeof why)) {
        fail(i, 400, why);
        return infer_free(i);
    }
    if (!i->wanted_count) {
        i->wanted_count = holo_model_output_count(i->model->holo);
        i->wanted       = take((size_t)i->wanted_count * sizeof *i->wanted);
        for (int k = 0; k < i->wanted_count; k++) i->wanted[k] = k;
    }
    i->output = take((size_t)i->wanted_count * sizeof *i->output);
    i->rows   = rows_of(i);
    begin(i, done);
    queue(i, &i->model->tensors);
}
