// metrics.c - counts and times. See metrics.h.
#include "metrics.h"
#include "net.h"
#include "repository.h"
#include "traces.h"

#include "hologram.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double bounds[METRICS_BUCKETS] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                               0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30,    60};
static const int    sizes[METRICS_SIZES]    = {1, 2, 4, 8, 16, 32, 64, 128, 256};

struct Metrics {
    Server         *server;
    pthread_mutex_t lock; // of the list
    ModelMetrics   *first;
    struct {
        int         status;
        const char *protocol;
        uint64_t    count;
    } answers[128];
};

Metrics *metrics_create(Server *server)
{
    Metrics *m = take(sizeof *m);
    m->server  = server;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void metrics_destroy(Metrics *m)
{
    if (!m) return;
    for (ModelMetrics *p = m->first, *next; p; p = next) {
        next = p->next;
        free(p->name);
        free(p);
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
}

ModelMetrics *metrics_model(Metrics *m, const char *name)
{
    pthread_mutex_lock(&m->lock);
    ModelMetrics *p = m->first;
    while (p && strcmp(p->name, name)) p = p->next;
    if (!p) {
        p        = take(sizeof *p);
        p->name  = take_text(name);
        p->next  = m->first;
        m->first = p;
    }
    pthread_mutex_unlock(&m->lock);
    return p;
}

void metrics_time(ModelMetrics *m, Stage stage, double seconds)
{
    Histogram *h = &m->stage[stage];
    int        i = 0;
    while (i < METRICS_BUCKETS && seconds > bounds[i]) i++;
    h->count[i]++;
    h->sum += seconds;
    if (stage == STAGE_TOTAL) m->recent[m->recent_count++ % SERVE_COUNT(m->recent)] = seconds;
}

void metrics_batch(ModelMetrics *m, int size)
{
    int i = 0;
    while (i < METRICS_SIZES && size > sizes[i]) i++;
    m->batch[i]++;
    m->batch_sum += (uint64_t)size;
    m->runs++;
}

#define COUNT_ANSWER(rows)                                                                                  \
    for (int i = 0; i < SERVE_COUNT(rows); i++)                                                             \
        if (!(rows)[i].count || ((rows)[i].status == e->status && !strcmp((rows)[i].protocol, protocol))) { \
            (rows)[i].status   = e->status;                                                                 \
            (rows)[i].protocol = protocol;                                                                  \
            (rows)[i].count++;                                                                              \
            break;                                                                                          \
        }

void metrics_answer(Metrics *m, const Exchange *e)
{
    const char *protocol = e->protocol ? e->protocol : "http";
    COUNT_ANSWER(m->answers)
    if (!*e->model) return;
    ModelMetrics *p = m->first;
    while (p && strcmp(p->name, e->model)) p = p->next;
    if (!p) return;
    COUNT_ANSWER(p->answers)
    metrics_time(p, STAGE_TOTAL, now() - e->began);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double metrics_quantile(const ModelMetrics *m, double part)
{
    double sorted[SERVE_COUNT(m->recent)];
    int    count = m->recent_count < SERVE_COUNT(sorted) ? m->recent_count : SERVE_COUNT(sorted);
    if (!count) return 0;
    memcpy(sorted, m->recent, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    return sorted[(int)(part * (count - 1) + 0.5)];
}

// ---- text

static void label(Bytes *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\' || *text == '"') bytes_add(out, "\\", 1);
        if (*text == '\n')
            bytes_add(out, "\\n", 2);
        else
            bytes_add(out, text, 1);
    }
}

static void head(Bytes *out, const char *name, const char *type, const char *help)
{
    bytes_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void row(Bytes *out, const char *name, const char *model, const char *more, double value)
{
    bytes_format(out, "%s{model=\"", name);
    label(out, model);
    bytes_format(out, "\"%s} %.17g\n", more, value);
}

static void write_times(const Metrics *m, Bytes *out)
{
    static const char *const stages[STAGES] = {"queue", "compute", "total", "first_token"};
    head(out, "hologram_stage_seconds", "histogram",
         "Time that requests took, by stage: waiting, computing, in all, and until the first token.");
    for (const ModelMetrics *p = m->first; p; p = p->next)
        for (int s = 0; s < STAGES; s++) {
            uint64_t total = 0;
            char     more[64];
            for (int i = 0; i <= METRICS_BUCKETS; i++) {
                total += p->stage[s].count[i];
                if (i < METRICS_BUCKETS)
                    snprintf(more, sizeof more, ",stage=\"%s\",le=\"%g\"", stages[s], bounds[i]);
                else
                    snprintf(more, sizeof more, ",stage=\"%s\",le=\"+Inf\"", stages[s]);
                row(out, "hologram_stage_seconds_bucket", p->name, more, (double)total);
            }
            snprintf(more, sizeof more, ",stage=\"%s\"", stages[s]);
            row(out, "hologram_stage_seconds_sum", p->name, more, p->stage[s].sum);
            row(out, "hologram_stage_seconds_count", p->name, more, (double)total);
        }
}

static void write_batches(const Metrics *m, Bytes *out)
{
    head(out, "hologram_batch_size", "histogram", "Requests that shared a run.");
    for (const ModelMetrics *p = m->first; p; p = p->next) {
        uint64_t total = 0;
        char     more[32];
        for (int i = 0; i <= METRICS_SIZES; i++) {
            total += p->batch[i];
            if (i < METRICS_SIZES)
                snprintf(more, sizeof more, ",le=\"%d\"", sizes[i]);
            else
                snprintf(more, sizeof more, ",le=\"+Inf\"");
            row(out, "hologram_batch_size_bucket", p->name, more, (double)total);
        }
        row(out, "hologram_batch_size_sum", p->name, "", (double)p->batch_sum);
        row(out, "hologram_batch_size_count", p->name, "", (double)total);
    }
}

static void write_answers(const Metrics *m, Bytes *out)
{
    char more[96];
    head(out, "hologram_requests_total", "counter", "Requests for a model that have ended, by protocol and status.");
    for (const ModelMetrics *p = m->first; p; p = p->next)
        for (int i = 0; i < METRICS_CODES && p->answers[i].count; i++) {
            snprintf(more, sizeof more, ",protocol=\"%s\",code=\"%d\"", p->answers[i].protocol, p->answers[i].status);
            row(out, "hologram_requests_total", p->name, more, (double)p->answers[i].count);
        }
    head(out, "hologram_http_requests_total", "counter", "All requests that have ended, by protocol and status.");
    for (int i = 0; i < SERVE_COUNT(m->answers) && m->answers[i].count; i++)
        bytes_format(out, "hologram_http_requests_total{protocol=\"%s\",code=\"%d\"} %llu\n", m->answers[i].protocol,
                     m->answers[i].status, (unsigned long long)m->answers[i].count);
}

static void write_counts(Metrics *m, Bytes *out)
{
    static const struct {
        const char *name, *more, *help;
        size_t      at;
    } rows[] = {
        {"hologram_tokens_total", ",kind=\"prompt\"",
         "Tokens, by kind: of prompts, of those not computed again, and generated.",
         offsetof(ModelMetrics, prompt_tokens)},
        {"hologram_tokens_total", ",kind=\"cached\"", NULL, offsetof(ModelMetrics, cached_tokens)},
        {"hologram_tokens_total", ",kind=\"generated\"", NULL, offsetof(ModelMetrics, generated_tokens)},
        {"hologram_cancelled_total", "", "Requests that stopped being computed: cancelled or timed out.",
         offsetof(ModelMetrics, cancelled)},
        {"hologram_model_loads_total", "", "How often a version of the model was opened.",
         offsetof(ModelMetrics, loads)},
        {"hologram_model_load_failures_total", "", "How often that failed.", offsetof(ModelMetrics, failures)},
    };
    for (int i = 0; i < SERVE_COUNT(rows); i++) {
        if (rows[i].help) head(out, rows[i].name, "counter", rows[i].help);
        for (const ModelMetrics *p = m->first; p; p = p->next)
            row(out, rows[i].name, p->name, rows[i].more, (double)*(const uint64_t *)((const char *)p + rows[i].at));
    }
}

double metrics_resident(void)
{
    long  total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

void metrics_write(Metrics *m, Bytes *out)
{
    Server *s = m->server;
    pthread_mutex_lock(&m->lock);
    write_answers(m, out);
    write_times(m, out);
    write_batches(m, out);
    write_counts(m, out);
    pthread_mutex_unlock(&m->lock);
    repository_metrics(s->repository, out);
    const struct {
        const char *name, *help;
        double      value;
    } rows[] = {{"hologram_connections", "Connections that are open.", net_connections(s->net)},
                {"hologram_requests_open", "Requests that have not ended.", s->open},
                {"hologram_memory_bytes", "Memory that the library holds; mapped files do not count.",
                 (double)holo_memory_held()},
                {"hologram_cores", "Cores that compute.", schedule_cores(s->schedule)},
                {"process_resident_memory_bytes", "Memory of the process that is in use.", metrics_resident()},
                {"hologram_uptime_seconds", "Time since the server began.", now() - s->began},
                {"hologram_traces_dropped", "Traces that could not be sent.", (double)traces_dropped(s->traces)}};
    for (int i = 0; i < SERVE_COUNT(rows); i++) {
        head(out, rows[i].name, "gauge", rows[i].help);
        bytes_format(out, "%s %.17g\n", rows[i].name, rows[i].value);
    }
}
