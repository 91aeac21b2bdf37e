// bundle.h - the variables of a TensorFlow checkpoint: an index (PREFIX.index) and files of data.
#ifndef HOLO_IMPORT_TENSORFLOW_BUNDLE_H
#define HOLO_IMPORT_TENSORFLOW_BUNDLE_H

#include "import/tensorflow/tf.h"
#include "import/wire/sstable.h"

typedef struct HoloFlowBundle {
    HoloFlow   *tf;
    const char *prefix; // "variables/variables"
    HoloSsTable table;
    HoloNameMap names; // keys to HoloString: their entries
    int64_t     shards;
    HoloNameMap keys; // names of variables' nodes to keys (char *), as the graph restores them
} HoloFlowBundle;

HOLO_MUST HoloStatus holo_flow_bundle_open(HoloFlow *tf, const char *prefix, HoloFlowBundle *out);
// Sets tf->variable, so that variables of the graph get their values. The bundle must stay.
HOLO_MUST HoloStatus holo_flow_bundle_use(HoloFlow *tf, HoloFlowBundle *bundle);

#endif
