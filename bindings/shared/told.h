// told.h - what steps of language models tell, in plain memory: a binding makes objects of its language of it when the step is over.
// A batch whose texts are told so.
#ifndef HOLO_BINDINGS_TOLD_H
#define HOLO_BINDINGS_TOLD_H

#include "hologram_text.h"

typedef struct BindToken {
    uint64_t text;  // of a batch: its id
    uint32_t token; // UINT32_MAX: none, but what was held back of the text
    float    logprob;
    size_t   begin, size; // of its text, in `bytes`
} BindToken;

typedef struct BindEnd { // a text of a batch has ended
    uint64_t           text;
    HoloStatus         status;
    HoloGenerateResult result;
    size_t             begin, size; // of the message, in `bytes`
    void              *kept;        // what bind_batch_add was given
} BindEnd;

typedef struct BindTold {
    BindToken *token;
    BindEnd   *end;
    char      *bytes;
    size_t     token_count, token_room, end_count, end_room, size, room;
    bool       is_out_of_memory; // a token could not be kept, and its text was ended
} BindTold;

bool bind_told_add(void *told, const HoloGenerated *one); // a HoloGenerateFn
void bind_told_deinit(BindTold *told);

typedef struct BindBatch {
    HoloTextBatch *batch;
    BindTold       told; // by the steps so far, since it was cleared
    size_t         texts;
    void (*release)(void *kept); // called by bind_batch_clear and bind_batch_destroy
} BindBatch;

// As holo_text_batch_create and so on.
HOLO_MUST HoloStatus bind_batch_create(const HoloModel *model, HoloPool *pool, const HoloTextBatchOptions *options,
                                       void (*release)(void *kept), BindBatch **out_batch, HoloError *error);
void                 bind_batch_destroy(BindBatch *batch);
// After it was told: forgets it, and releases what was kept for texts that ended.
void bind_batch_clear(BindBatch *batch);
// `kept` is released after the end of the text, such as its grammar; NULL: nothing.
HOLO_MUST HoloStatus bind_batch_add(BindBatch *batch, const uint32_t *prompt, size_t count,
                                    const HoloGenerateOptions *options, void *kept, uint64_t *out_id, HoloError *error);

#endif
