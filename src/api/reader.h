// reader.h - a model that is run on one text or picture at a time. See hologram_text.h for what it does.
//
// It knows a model by its inputs, outputs and metadata alone, through the public API.
#ifndef HOLO_API_READER_H
#define HOLO_API_READER_H

#include "base/base.h"
#include "hologram_compiler.h"
#include "hologram_text.h"

typedef struct HoloVectorPooling HoloVectorPooling; // a way to make one vector of those of tokens

enum { HOLO_POOLINGS_MAX = 8 }; // put behind each other

struct HoloReader {
    const HoloModel *model;
    HoloSession     *session;
    HoloTokenizer   *tokenizer;  // NULL: there is none
    int64_t          max_length; // of a text, in tokens; 0: any
    uint32_t         pad;
    uint32_t        *ids; // of the text that was read last
    int64_t          count;
    int64_t          first, end; // of them without the special tokens around the text
    double          *numbers;    // of the input that is being made, and then of the output
    size_t           numbers_room;
    void           **data; // of each input
    int              input_count;
    int64_t          room; // of each, for tokens
    // vectors
    char                    *pooling_asked; // NULL: as the model says
    int                      normalize;     // as it was asked for
    bool                     is_chosen, pools, normalizes;
    const char              *names; // of the ways to pool; NULL: the model does it
    const HoloVectorPooling *pooling[HOLO_POOLINGS_MAX];
    int                      pooling_count;
    float                   *vector;
    size_t                   vector_room;
    // labels
    int           picture;    // the input that pictures are for; -1: the model reads texts
    HoloString   *label_name; // in the archive
    int64_t       label_count;
    HoloLabelKind kind;
    HoloLabel    *label; // the last answer
    size_t        label_room;
    char (*made)[24]; // names of labels that the model has no name for
    size_t made_room;
};

// Memory for `count` things of `size` bytes, at least; what was there is lost.
HOLO_MUST HoloStatus holo_reader_take(void **memory, size_t *room, size_t count, size_t size, HoloError *error);
// Fails if the model cannot read texts.
HOLO_MUST HoloStatus holo_reader_check(const HoloReader *r, HoloError *error);
// Runs the model on a text.
HOLO_MUST HoloStatus holo_reader_run(HoloReader *r, const char *text, size_t size, HoloError *error);
// What the last run gave: the first output of these names (the last one is NULL) that the model has. False: none of them.
bool holo_reader_output(const HoloReader *r, const char *const *names, HoloTensor *out);
// The names of the outputs, for messages.
const char *holo_reader_outputs(const HoloReader *r, char text[200]);

#endif
