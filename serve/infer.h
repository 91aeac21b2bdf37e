// infer.h - a run of tensors that a client asks for: inputs in, outputs out, whichever protocol carries them.
#ifndef HOLO_SERVE_INFER_H
#define HOLO_SERVE_INFER_H

#include "model.h"

typedef struct Results {  // memory of outputs, which the requests of a batch share
    int            holds; // with atomic operations
    HoloRunOutput *output;
    int            count;
} Results;

typedef struct Infer Infer;
struct Infer {
    Job           job; // first
    Model        *model;
    Exchange     *exchange; // held
    HoloRunInput *input;    // their names are the model's; one without a type was not given
    void        **owned;    // memory of inputs
    int           input_count;
    int          *wanted; // outputs
    int           wanted_count;
    HoloTensor   *output; // of those wanted, when it is done
    Results      *results;
    int64_t       rows; // of its inputs in the first dimension
    Timer         timer;
    double        created, timeout;                       // seconds
    bool (*read)(Infer *i, char *why, size_t room);       // fills it in from its request; on any thread
    bool (*write)(Infer *i, char *why, size_t room);      // it was computed; on a worker. NULL: nothing to do
    void (*answer)(Infer *i);                             // it was computed; on the network's thread
    void (*fail)(Infer *i, int status, const char *text); // NULL: exchange_fail
    void (*end)(Infer *i);                                // it is about to be freed; may be NULL
    void *state;                                          // of the protocol
    char *id;                                             // that the client gave; NULL: none
    bool  is_given_up;                                    // it was told that it failed, and its result is of no use
};

// Takes over one hold of the model. All outputs are wanted unless `wanted` is set later.
Infer *infer_create(Exchange *e, Model *model);
void   infer_free(Infer *i);
// Finds an input by its name and sets it. `owned` is freed with it (NULL: the bytes belong to the request, and need not be
// aligned). False: `why` says what is wrong.
bool infer_input(Infer *i, const char *name, const HoloTensor *tensor, void *owned, char *why, size_t room);
// All outputs are in order unless this is called.
bool infer_want(Infer *i, const char *name, char *why, size_t room);
// Queues it, or answers that this cannot be. From then on it belongs to the schedule.
void infer_start(Infer *i);
// The same after `read`. Requests of more than a few kilobytes of text are read by a worker, not by the network's thread.
void infer_read(Infer *i, size_t text_size);
void infer_cancel(Infer *i); // the client does not want it any more

// ---- types as KServe names them
const char *kserve_dtype_name(HoloDtype dtype); // "FP32"
HoloDtype   kserve_dtype(const char *name);     // HOLO_NONE: there is none
// A size that came from outside: rank and dimensions are checked. False: there are too many elements.
bool tensor_shape(HoloTensor *t, const int64_t *dim, int rank);
int  http_status(HoloStatus status);

#endif
