// batch.h - several texts that are generated at once with one language model. See hologram_text.h for what it does.
#ifndef HOLO_TEXT_BATCH_H
#define HOLO_TEXT_BATCH_H

#include "text/answer.h"

typedef struct HoloBatchText HoloBatchText;
struct HoloBatchText { // a text that waits or is generated
    HoloBatchText *next;
    uint64_t       id;
    HoloAnswer    *answer;
    HoloGenerateFn each;
    HoloTextEndFn  ended;
    void          *state;
    int            place; // -1: it waits for one
    double         began; // when its prompt began to be read, and then when its last token was there
    bool           is_over;
    HoloStatus     status; // of a text that is over
    HoloError      why;
};

typedef struct HoloBatchPlace { // a slot of the caches
    HoloBatchText *who;         // NULL: nobody
    uint64_t       used;        // when it was last taken or left, counted
} HoloBatchPlace;

struct HoloTextBatch {
    HoloLanguage      *l;
    HoloBatchText     *first, *last; // in the order in which they came
    HoloBatchPlace    *place;
    int                places, waiting_most, chunk;
    uint64_t           ids, clock;
    HoloTextRead      *read; // of a run, and whose they are
    HoloBatchText    **row;
    size_t             bytes_token, bytes_place; // that a token of a text takes, and a place besides
    HoloTextBatchState count;                    // what was done so far
};

// The text gets no more tokens; the end of the step tells its owner. NULL: nothing failed.
void holo_batch_end(HoloBatchText *text, HoloStatus status, const HoloError *why);
// Takes texts that are over out of the batch, and tells their owners.
void holo_batch_sweep(HoloTextBatch *batch);

#endif
