// reuse.h - steps that would give the same as in the run before, and so need not run.
//
// What depends on sizes alone is computed in the first run after these were bound. With a memo, what depends on some of
// the inputs is computed only if one of these changed: their bytes are compared with those of the run before.
#ifndef HOLO_RUNTIME_SESSION_REUSE_H
#define HOLO_RUNTIME_SESSION_REUSE_H

#include "runtime/frame/frame.h"

// Finds the steps of the model's own frame, whose sizes are bound, that may be left out. Gives memory of its own to
// each of their values that others read. Called before other values get memory. If there is no memory, all steps run.
HOLO_MUST HoloStatus holo_reuse_bind(HoloFrame *frame, HoloError *error);
// The kept memory of a value; NULL: it has none.
void *holo_reuse_memory(const HoloFrame *frame, uint32_t value);
void  holo_reuse_destroy(HoloFrame *frame);

// Begins and ends a run; in between, says whether a step is left out.
void holo_reuse_begin(HoloFrame *frame, const HoloTensor *const *inputs);
bool holo_reuse_has(const HoloFrame *frame, uint32_t step);
void holo_reuse_end(HoloFrame *frame);

// Where a step that may be left out keeps results of unknown size; NULL: it may not be left out.
HoloArena *holo_reuse_heap(HoloFrame *frame);
void       holo_reuse_step(HoloFrame *frame, uint32_t step); // the step that runs now

// Do all runs from this one on leave out the same steps?
bool     holo_reuse_is_steady(const HoloFrame *frame);
uint32_t holo_reuse_skipped(const HoloFrame *frame); // of the last run

#endif
