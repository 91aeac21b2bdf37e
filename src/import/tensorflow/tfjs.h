// tfjs.h - model.json of TensorFlow.js: what graph models and layers models share.
#ifndef HOLO_IMPORT_TENSORFLOW_TFJS_H
#define HOLO_IMPORT_TENSORFLOW_TFJS_H

#include "import/importer.h"

#include <jansson.h>

typedef struct HoloTfjsWeight {
    HoloString name;
    HoloTensor tensor; // of the type that it is stored in; data NULL until it is wanted
    HoloDtype  dtype;  // of the type that it has when it is used
    double     scale, min;
    uint64_t   group, offset, size; // where it begins in the bytes of its group
} HoloTfjsWeight;

typedef struct HoloTfjsGroup {
    HoloString *path; // files that follow each other
    int         path_count;
    HoloString  bytes; // all of them, once one was wanted
} HoloTfjsGroup;

typedef struct HoloTfjs {
    HoloImport     *import;
    json_t         *json; // to be freed
    HoloTfjsGroup  *group;
    int             group_count, weight_count;
    HoloTfjsWeight *weight; // in the order of the file
    HoloNameMap     names;
} HoloTfjs;

// Reads model.json. The caller calls holo_tfjs_close, whatever happened.
HOLO_MUST HoloStatus holo_tfjs_open(HoloImport *import, HoloTfjs *out);
// The same of weights_manifest.json, the list of weights beside a binary graph that models had before.
HOLO_MUST HoloStatus holo_tfjs_open_manifest(HoloImport *import, HoloTfjs *out);
void                 holo_tfjs_close(HoloTfjs *js);
// A weight, as numbers of its type.
HOLO_MUST HoloStatus holo_tfjs_weight(HoloTfjs *js, HoloTfjsWeight *weight, HoloTensor *out);

// The two kinds of models.
HOLO_MUST HoloStatus holo_tfjs_graph(HoloTfjs *js);
HOLO_MUST HoloStatus holo_tfjs_layers(HoloTfjs *js);
HOLO_MUST HoloStatus holo_tfjs_old_graph(HoloTfjs *js, HoloString message); // a GraphDef

#endif
