// emit_own.h - what the files of emit share.
#ifndef HOLO_IMPORT_EMIT_OWN_H
#define HOLO_IMPORT_EMIT_OWN_H

#include "import/emit.h"

// i64, [count]: sizes that are numbers, or expressions of the sizes of inputs.
HoloValue *holo_emit_contents(HoloEmit *e, const HoloDim *sizes, int count);

#endif
