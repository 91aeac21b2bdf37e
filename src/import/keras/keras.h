// keras.h - models of Keras: a configuration in JSON and weights, as Keras' own files and TensorFlow.js have them.
//
// keras_model.c walks over a configuration: Sequential, Functional, models in models. keras_layers_*.c have the tables
// of layers; keras_rnn.c and keras_time.c those that go through time. keras_h5.c reads .h5 and .keras files, tfjs_layers.c layers models
// of TensorFlow.js. All of them look weights up by the layer they belong to.
#ifndef HOLO_IMPORT_KERAS_KERAS_H
#define HOLO_IMPORT_KERAS_KERAS_H

#include "import/emit.h"
#include "import/import_window.h"

#include <jansson.h>
#include <string.h>

typedef struct HoloKeras     HoloKeras;
typedef struct HoloKerasCall HoloKerasCall;

enum { HOLO_KERAS_DEPTH_MAX = 16, HOLO_KERAS_OUT_MAX = 8 };

// A layer, or a model that is one, and those that it is in.
typedef struct HoloKerasPlace {
    const struct HoloKerasPlace *outer; // NULL: the model itself
    const char                  *name;
    const char                  *group; // its group in a file of weights of Keras 3; NULL: not known
} HoloKerasPlace;

struct HoloKeras {
    HoloImport *import;
    HoloEmit    emit;
    bool        is_version_3;
    bool        is_js; // of TensorFlow.js, whose layers differ from Keras' in some places
    // Finds a weight of the layer: by its name ("kernel"), or by its place among the layer's weights.
    HoloStatus (*weight)(HoloKeras *k, const HoloKerasPlace *place, const char *name, int index, HoloTensor *out,
                         bool *found);
    void *format;
};

// The names of weights that a file has, and how to read them: a weight belongs to a layer if the layer's name is a part
// of its path.
typedef struct HoloKerasPool {
    HoloString *name;
    int         count, room;
} HoloKerasPool;
// The place of a weight in the pool; -1: it is not there.
int holo_keras_find(const HoloKerasPool *pool, const HoloKerasPlace *place, const char *name);

// Emits a model from its configuration: {"class_name": ..., "config": ...}.
HOLO_MUST HoloStatus holo_keras_build(HoloKeras *k, const json_t *model);

// ---- layers

typedef struct HoloKerasLayer {
    const char *name; // of the class
    void (*emit)(HoloKerasCall *c);
    const char *onnx;
    int         number;
    bool        keeps_mask; // steps of time that do not count stay such
} HoloKerasLayer;

extern const HoloKerasLayer *const holo_keras_tables[]; // each ended by a row without a name
extern const HoloKerasLayer        holo_keras_layers_plain[], holo_keras_layers_window[], holo_keras_layers_rnn[],
    holo_keras_layers_time[], holo_keras_layers_more[];
const HoloKerasLayer *holo_keras_layer(const char *name); // NULL: there is none

struct HoloKerasCall {
    HoloKeras            *k;
    HoloEmit             *e;
    const HoloKerasLayer *layer;
    const HoloKerasPlace *place;
    const json_t         *config;
    const json_t         *extra; // further arguments of the call; NULL: none
    HoloValue           **in;
    int                   in_count;
    HoloValue            *mask; // which steps of time of input 0 count, [batch, time] of bool; NULL: all
    HoloValue            *out[HOLO_KERAS_OUT_MAX];
    int                   out_count;
    HoloValue            *out_mask;    // NULL: all steps of the output count
    int                   weight_next; // place of the next weight among those of the layer
};

// Emits one layer of a class with a configuration, as part of another.
void holo_keras_apply(HoloKerasCall *c, const char *class_name);
// A whole model as a layer.
bool holo_keras_is_model(const char *class_name);
void holo_keras_apply_model(HoloKerasCall *c, const json_t *model);

// A layer that goes through time, by its class (LSTM, GRU, SimpleRNN).
void holo_keras_recurrent(HoloKerasCall *c);

HoloValue *holo_keras_in(HoloKerasCall *c, int i);
// The next weight of the layer. NULL after a failure.
HoloValue *holo_keras_weight(HoloKerasCall *c, const char *name);
HoloValue *holo_keras_activation(HoloKerasCall *c, const json_t *activation, HoloValue *x);

int64_t     holo_keras_int(const HoloKerasCall *c, const char *key, int64_t fallback);
double      holo_keras_float(const HoloKerasCall *c, const char *key, double fallback);
bool        holo_keras_bool(const HoloKerasCall *c, const char *key, bool fallback);
const char *holo_keras_text(const HoloKerasCall *c, const char *key, const char *fallback);
// A number, or a list of `count` of them.
void holo_keras_ints(const HoloKerasCall *c, const char *key, int64_t *out, int count, int64_t fallback);
bool holo_keras_is_first(const HoloKerasCall *c); // channels are behind the batch

#endif
