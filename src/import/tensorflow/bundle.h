// bundle.h - the variables of a TensorFlow checkpoint: an index (PREFIX.index) and files of data.
#ifndef HOLO_IMPORT_TENSORFLOW_BUNDLE_H
#define HOLO_IMPORT_TENSORFLOW_BUNDLE_H

#include "import/tensorflow/tf.h"
#include "import/wire/sstable.h"

typedef struct HoloTfBundle {
    HoloTf     *tf;
    const char *prefix; // "variables/variables"
    HoloSsTable table;
    HoloNameMap names; // keys to HoloString: their entries
    int64_t     shards;
    HoloNameMap keys; // names of variables' nodes to keys (char *), as the graph restores them
} HoloTfBundle;

HOLO_MUST HoloStatus holo_tf_bundle_open(HoloTf *tf, const char *prefix, HoloTfBundle *out);
// Sets tf->variable, so that variables of the graph get their values. The bundle must stay.
HOLO_MUST HoloStatus holo_tf_bundle_use(HoloTf *tf, HoloTfBundle *bundle);

#endif
