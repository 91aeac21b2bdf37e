// tf_single.h - one operator of TensorFlow by itself: TensorFlow Lite has those that it lacks as custom operators.
#ifndef HOLO_IMPORT_TENSORFLOW_TF_SINGLE_H
#define HOLO_IMPORT_TENSORFLOW_TF_SINGLE_H

#include "import/emit.h"

bool holo_flow_is_known(HoloString op); // an operator of that name can be emitted

// Emits a node, which is given as a NodeDef, for these inputs. Returns how many outputs it gives, at most `room`; after a
// failure e->status is set.
int holo_flow_single(HoloEmit *e, HoloString node, HoloValue *const *in, int in_count, HoloValue **out, int room);

#endif
