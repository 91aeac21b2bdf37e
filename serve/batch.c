// batch.c - runs of tensors on workers: one request, or several that share a run.
//
// Requests may share a run if the model's first dimension is open in all inputs and outputs, by the same name, and if the
// model does treat rows one by one. The latter is not written anywhere, so it is tried: before the first shared run, a
// request and a changed copy of it are run alone and together, and the answers compared.
#include "infer.h"
#include "journal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- which

static bool has_open_rows(const HoloPort *port, const char **name)
{
    if (port->type.kind != HOLO_TENSOR || port->type.rank < 1 || port->type.dtype == HOLO_STRING ||
        port->type.dim[0] >= 0)
        return false;
    if (!port->symbol[0]) return false;
    if (!*name) *name = port->symbol[0];
    return !strcmp(*name, port->symbol[0]);
}

static bool could_share(const HoloModel *m)
{
    const char *name = NULL;
    if (holo_model_state_count(m) || !holo_model_input_count(m)) return false;
    for (int i = 0; i < holo_model_input_count(m); i++)
        if (!has_open_rows(holo_model_input(m, i), &name)) return false;
    for (int i = 0; i < holo_model_output_count(m); i++)
        if (!has_open_rows(holo_model_output(m, i), &name)) return false;
    return true;
}

// Who shares a run waits for the others of it; who does not waits for a core. With C cores, the N-th of those that wait
// begins after about N/C runs, so sharing makes answers earlier on average if one more costs less than 1/2C of a run. If many
// wait, what counts is how much is done in a time.
static bool is_worth_sharing(const Queue *q, const Model *m)
{
    int cores = schedule_cores(q->schedule), extra = __atomic_load_n(&m->extra, __ATOMIC_RELAXED);
    return q->delay > 0 || extra * 2 * cores <= 100 || (extra < 90 && q->waiting > 2 * cores);
}

static int places(Queue *q)
{
    Model *m       = q->owner;
    int    batches = __atomic_load_n(&m->batches, __ATOMIC_ACQUIRE);
    if (!batches && !could_share(m->holo)) __atomic_store_n(&m->batches, batches = -1, __ATOMIC_RELAXED);
    return batches < 0 || (batches && !is_worth_sharing(q, m)) ? 1 : m->server->options.batch_max;
}

// The same inputs and outputs, and the same sizes but for the first.
static bool joins(Queue *q, const Job *a, const Job *b)
{
    const Infer *x = (const Infer *)a, *y = (const Infer *)b;
    (void)q;
    if (x->rows < 1 || y->rows < 1 || x->input_count != y->input_count || x->wanted_count != y->wanted_count)
        return false;
    if (memcmp(x->wanted, y->wanted, (size_t)x->wanted_count * sizeof *x->wanted)) return false;
    for (int i = 0; i < x->input_count; i++) {
        const HoloTensor *s = &x->input[i].tensor, *t = &y->input[i].tensor;
        if (x->input[i].index != y->input[i].index || s->rank != t->rank) return false;
        if (memcmp(s->dim + 1, t->dim + 1, (size_t)(s->rank - 1) * sizeof *s->dim)) return false;
    }
    return true;
}

// ---- one

static Results *results_create(const Infer *i)
{
    Results *r = take(sizeof *r);
    r->holds   = 1;
    r->count   = i->wanted_count;
    r->output  = take((size_t)r->count * sizeof *r->output);
    for (int k = 0; k < r->count; k++) r->output[k].index = i->wanted[k];
    return r;
}

static void results_drop(Results *r)
{
    free(r->output);
    free(r);
}

// Inputs that lie in the bytes of a request lie anywhere. Those of types whose elements would be cut are copied.
static bool inputs_align(Infer *i)
{
    for (int k = 0; k < i->input_count; k++) {
        HoloTensor *t     = &i->input[k].tensor;
        size_t      align = holo_dtype_size((HoloDtype)t->dtype), bytes = holo_tensor_bytes(t);
        if (i->owned[k] || !((uintptr_t)t->data % (align > 8 ? 8 : align))) continue;
        void *data = aligned_alloc(64, (bytes + 64) / 64 * 64);
        if (!data) return false;
        t->data = i->owned[k] = memcpy(data, t->data, bytes);
    }
    return true;
}

static HoloStatus run_alone(Infer *i)
{
    if (i->owned && !inputs_align(i)) return HOLO_NO_MEMORY; // copies own their inputs
    Results       *r       = results_create(i);
    HoloRunOptions options = {.size = sizeof options, .cancel = &i->job.cancel};
    HoloStatus     status =
        holo_model_run(i->model->holo, i->input, i->input_count, r->output, r->count, &options, &i->job.error);
    if (status) return results_drop(r), status;
    i->results = r;
    for (int k = 0; k < r->count; k++) i->output[k] = r->output[k].tensor;
    return HOLO_OK;
}

// ---- several

typedef struct Joined { // inputs of several requests, one behind the other
    HoloRunInput *input;
    int           count;
    int64_t       rows;
} Joined;

static void joined_free(Joined *j)
{
    for (int k = 0; j->input && k < j->count; k++) free(j->input[k].tensor.data);
    free(j->input);
}

static bool joined_make(Infer **list, int count, Joined *out)
{
    *out = (Joined){.count = list[0]->input_count};
    for (int n = 0; n < count; n++) out->rows += list[n]->rows;
    out->input = take((size_t)out->count * sizeof *out->input);
    for (int k = 0; k < out->count; k++) {
        HoloRunInput *input  = &out->input[k];
        *input               = list[0]->input[k];
        input->tensor.dim[0] = out->rows;
        input->tensor.data   = NULL;
        size_t bytes = holo_tensor_bytes(&input->tensor), at = 0;
        char  *data = aligned_alloc(64, (bytes + 64) / 64 * 64);
        if (!data) return false;
        input->tensor.data = data;
        for (int n = 0; n < count; n++) {
            size_t size = holo_tensor_bytes(&list[n]->input[k].tensor);
            memcpy(data + at, list[n]->input[k].tensor.data, size);
            at += size;
        }
    }
    return true;
}

// Gives each request its rows.
static bool split(Infer **list, int count, Results *r, int64_t rows)
{
    for (int k = 0; k < r->count; k++)
        if (r->output[k].tensor.rank < 1 || r->output[k].tensor.dim[0] != rows) return false;
    int64_t first = 0;
    for (int n = 0; n < count; n++) {
        for (int k = 0; k < r->count; k++) {
            HoloTensor *t = &list[n]->output[k];
            *t            = r->output[k].tensor;
            size_t row    = holo_tensor_bytes(t) / (size_t)rows;
            t->dim[0]     = list[n]->rows;
            t->data       = (char *)t->data + (size_t)first * row;
        }
        list[n]->results = r;
        first += list[n]->rows;
    }
    __atomic_store_n(&r->holds, count, __ATOMIC_RELEASE);
    return true;
}

static HoloStatus run_shared(Infer **list, int count, const JobGroup *group, HoloError *error)
{
    HoloRunOptions options = {.size = sizeof options, .cancel = group ? &group->cancel : NULL};
    Joined         j;
    HoloStatus     status = HOLO_NO_MEMORY;
    Results       *r      = NULL;
    if (joined_make(list, count, &j)) {
        r      = results_create(list[0]);
        status = holo_model_run(list[0]->model->holo, j.input, j.count, r->output, r->count, &options, error);
        if (status) results_drop(r);
    }
    if (!status && !split(list, count, r, j.rows)) {
        holo_run_outputs_free(r->output, r->count);
        results_drop(r);
        status = HOLO_INTERNAL;
    }
    joined_free(&j);
    return status;
}

// ---- may requests share a run?

// Elements in another order, and numbers a little smaller: different, and still such as the model takes.
static void change(const HoloTensor *from, HoloTensor *to)
{
    size_t size = holo_dtype_size((HoloDtype)from->dtype), bytes = holo_tensor_bytes(from);
    if (bytes > size) {
        memcpy(to->data, (char *)from->data + size, bytes - size);
        memcpy((char *)to->data + bytes - size, from->data, size);
    } else {
        memcpy(to->data, from->data, bytes);
    }
    for (size_t i = 0; from->dtype == HOLO_F32 && i < bytes / 4; i++) ((float *)to->data)[i] *= 0.75f;
}

static bool near(const HoloTensor *a, const HoloTensor *b)
{
    size_t bytes = holo_tensor_bytes(a);
    if (bytes != holo_tensor_bytes(b)) return false;
    if (!memcmp(a->data, b->data, bytes)) return true;
    if (a->dtype != HOLO_F32) return false; // other types must be the same
    const float *x = a->data, *y = b->data;
    float        top = 0;
    for (size_t i = 0; i < bytes / 4; i++) top = fmaxf(top, fabsf(x[i]));
    for (size_t i = 0; i < bytes / 4; i++)
        if (!(fabsf(x[i] - y[i]) <= 1e-4f * top || (isnan(x[i]) && isnan(y[i])) || x[i] == y[i])) return false;
    return true;
}

static Infer *copy_of(const Infer *i, bool changed)
{
    Infer *c  = take(sizeof *c);
    *c        = (Infer){.model        = i->model,
                        .input_count  = i->input_count,
                        .wanted       = i->wanted,
                        .wanted_count = i->wanted_count,
                        .rows         = i->rows};
    c->input  = take((size_t)c->input_count * sizeof *c->input);
    c->output = take((size_t)c->wanted_count * sizeof *c->output);
    for (int k = 0; k < c->input_count; k++) {
        size_t bytes            = holo_tensor_bytes(&i->input[k].tensor);
        c->input[k]             = i->input[k];
        c->input[k].tensor.data = take(bytes);
        if (changed)
            change(&i->input[k].tensor, &c->input[k].tensor);
        else
            memcpy(c->input[k].tensor.data, i->input[k].tensor.data, bytes);
    }
    return c;
}

static void copy_free(Infer *c)
{
    if (c->results && !__atomic_sub_fetch(&c->results->holds, 1, __ATOMIC_ACQ_REL)) {
        holo_run_outputs_free(c->results->output, c->results->count);
        results_drop(c->results);
    }
    for (int k = 0; k < c->input_count; k++) free(c->input[k].tensor.data);
    free(c->input);
    free(c->output);
    free(c);
}

// Are the answers the same? Keeps the shortest times of a run alone and of one of two.
static bool try_sharing(const Infer *i, double *alone_seconds, double *both_seconds)
{
    Infer    *alone[2] = {copy_of(i, false), copy_of(i, true)}, *both[2] = {copy_of(i, false), copy_of(i, true)};
    HoloError error = {0};
    double    time[4];
    bool      is = true;
    for (int n = 0; n < 3 && is; n++) {
        time[n] = now();
        is      = n < 2 ? !run_alone(alone[n]) : !run_shared(both, 2, NULL, &error);
    }
    time[3] = now();
    for (int n = 0; n < 2 && is; n++)
        for (int k = 0; k < i->wanted_count && is; k++) is = near(&alone[n]->output[k], &both[n]->output[k]);
    for (int n = 0; n < 2; n++) copy_free(alone[n]), copy_free(both[n]);
    if (!is) return false;
    *alone_seconds = fmin(*alone_seconds, fmin(time[1] - time[0], time[2] - time[1]));
    *both_seconds  = fmin(*both_seconds, time[3] - time[2]);
    return true;
}

// The first run of a size prepares more than later ones, so that short ones are tried again for their times.
static bool shares_well(const Infer *i, int *out_extra)
{
    double alone = 1e9, both = 1e9;
    if (!try_sharing(i, &alone, &both)) return false;
    for (int n = 0; n < 3 && both < 0.05; n++)
        if (!try_sharing(i, &alone, &both)) return false;
    double extra = both > alone ? (both / alone - 1) * 100 : 0;
    *out_extra   = extra < 1000 ? (int)extra : 1000;
    return true;
}

static bool may_share(Model *m, const Infer *i)
{
    int batches = __atomic_load_n(&m->batches, __ATOMIC_ACQUIRE);
    if (!batches) {
        int  extra = 0;
        char text[16];
        batches = shares_well(i, &extra) ? 1 : -1;
        snprintf(text, sizeof text, "%d.%02d", extra / 100, extra % 100);
        __atomic_store_n(&m->extra, extra, __ATOMIC_RELAXED);
        __atomic_store_n(&m->batches, batches, __ATOMIC_RELEASE);
        if (batches > 0)
            journal(JOURNAL_INFO, "shares-runs", "model", m->name, "why",
                    "answers of shared runs are those of single ones", "cost_of_one_more", text, NULL);
        else
            journal(JOURNAL_INFO, "runs-alone", "model", m->name, "why",
                    "answers of shared runs differ from those of single ones", NULL);
    }
    return batches > 0;
}

// ---- runs

static HoloStatus run_group(Queue *q, Job **jobs, int count)
{
    JobGroup  group = {0};
    HoloError error = {0};
    schedule_group(q->schedule, jobs, count, &group);
    HoloStatus status = run_shared((Infer **)jobs, count, &group, &error);
    schedule_group(q->schedule, jobs, count, NULL);
    return status;
}

static bool run(Queue *q, Job **jobs, int count)
{
    Infer    **list   = (Infer **)jobs;
    HoloStatus status = HOLO_INTERNAL;
    if (count > 1 && may_share(q->owner, list[0])) status = run_group(q, jobs, count);
    for (int n = 0; n < count; n++) {
        // A shared run fails as a whole. Alone, each has its own answer or its own error.
        HoloStatus own     = status ? job_is_cancelled(&list[n]->job) ? HOLO_CANCELLED : run_alone(list[n]) : HOLO_OK;
        list[n]->job.batch = status ? 1 : n ? 0 : count;
        if (!own && list[n]->write && !list[n]->write(list[n], list[n]->job.error.text, sizeof list[n]->job.error.text))
            own = HOLO_BAD_INPUT;
        schedule_done(q->schedule, &list[n]->job, own);
    }
    return false;
}

const QueueKind tensor_queue = {
    .places = places, .joins = joins, .run = run, .hold = queue_hold_model, .release = queue_release_model};
