// metrics.h - what Prometheus reads. All counting happens on the network's thread, but for finding a model's row.
#ifndef HOLO_SERVE_METRICS_H
#define HOLO_SERVE_METRICS_H

#include "server.h"

enum { METRICS_BUCKETS = 18, METRICS_SIZES = 9, METRICS_CODES = 24 };

typedef struct Histogram {
    uint64_t count[METRICS_BUCKETS + 1]; // the last: above all bounds
    double   sum;
} Histogram;

typedef enum Stage { STAGE_QUEUE, STAGE_COMPUTE, STAGE_TOTAL, STAGE_FIRST_TOKEN, STAGES } Stage;

typedef struct ModelMetrics { // of all versions of a name
    struct ModelMetrics *next;
    char                *name;
    Histogram            stage[STAGES];
    uint64_t             batch[METRICS_SIZES + 1];
    uint64_t             batch_sum, runs;
    struct {
        int         status;
        const char *protocol;
        uint64_t    count;
    } answers[METRICS_CODES];
    uint64_t prompt_tokens, cached_tokens, generated_tokens, cancelled, loads, failures;
    double   recent[64]; // the last latencies, for the page
    int      recent_count;
} ModelMetrics;

Metrics      *metrics_create(Server *server);
void          metrics_destroy(Metrics *m);
ModelMetrics *metrics_model(Metrics *m, const char *name); // any thread
void          metrics_time(ModelMetrics *m, Stage stage, double seconds);
void          metrics_batch(ModelMetrics *m, int size);
void          metrics_answer(Metrics *m, const Exchange *e); // an exchange has ended
void          metrics_write(Metrics *m, Bytes *out);         // in the text format of Prometheus
// The latency below which this part of the last answers is.
double metrics_quantile(const ModelMetrics *m, double part);
double metrics_resident(void); // bytes of the process in memory, as the system counts them

#endif
