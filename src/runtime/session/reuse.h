// reuse.h - steps that would give what they gave in the run before, and so need not run.
//
// What follows from sizes alone is computed in the first run after these were bound. With a memo, what follows from some of
// the inputs is computed when one of these has changed: their bytes are compared with those of the run before.
#ifndef HOLO_RUNTIME_SESSION_REUSE_H
#define HOLO_RUNTIME_SESSION_REUSE_H

#include "runtime/frame/frame.h"

// Finds the steps of the model's own frame, whose sizes are bound, that may be left out, and gives memory of their own to the
// values of them that others read. Called before other values get theirs. Where there is no memory, all steps run.
HOLO_MUST HoloStatus holo_reuse_bind(HoloFrame *frame, HoloError *error);
// The memory of a value; NULL: it has none of its own.
void *holo_reuse_memory(const HoloFrame *frame, uint32_t value);
void  holo_reuse_destroy(HoloFrame *frame);

// Begins and ends a run; between them, whether a step is left out.
void holo_reuse_begin(HoloFrame *frame, const HoloTensor *const *inputs);
bool holo_reuse_has(const HoloFrame *frame, uint32_t step);
void holo_reuse_end(HoloFrame *frame);

// Where a step that may be left out keeps what it makes of unknown size; NULL: it is another.
HoloArena *holo_reuse_heap(HoloFrame *frame);
void       holo_reuse_step(HoloFrame *frame, uint32_t step); // the one that runs now

uint32_t holo_reuse_skipped(const HoloFrame *frame); // of the last run

#endif
