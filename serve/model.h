// model.h - a model that is served: one version of it, opened.
#ifndef HOLO_SERVE_MODEL_H
#define HOLO_SERVE_MODEL_H

#include "metrics.h"
#include "schedule.h"

typedef struct Speaker Speaker;

typedef struct Model {
    char         *name, *version, *path;
    Server       *server;
    HoloModel    *holo;
    int           holds;    // with atomic operations
    Queue         readings; // requests that are being read
    Queue         tensors;  // runs of tensors
    Queue         talks;    // texts, sounds, pictures
    ModelMetrics *metrics;  // of its name
    int           batches;  // 0: not known yet; 1: requests may share a run; -1: they may not
    int           extra;    // what one more request in a shared run costs, in hundredths of a run alone
    int           rows;     // of an input in the first dimension, if it is fixed
    bool          is_language, is_embedder, is_painter, is_listener;
    Speaker      *speaker; // made by the first text; used by one run at a time
    double        opened;
} Model;

// Takes `holo`, which the model closes at its end.
Model *model_create(Server *server, const char *name, const char *version, const char *path, HoloModel *holo);
Model *model_hold(Model *m);
void   model_release(Model *m);

void queue_hold_model(Queue *q); // of queues whose owner is a model
void queue_release_model(Queue *q);

extern const QueueKind reading_queue;               // infer.c
extern const QueueKind tensor_queue;                // batch.c
extern const QueueKind talk_queue;                  // speak.c
void                   speaker_destroy(Speaker *s); // NULL: nothing

#endif
