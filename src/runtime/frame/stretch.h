// stretch.h - stretches of steps that one device runs one after the other. A device that can record them gets each as a
// whole: the steps of a stretch are launched once, and runs replay the recording.
#ifndef HOLO_RUNTIME_FRAME_STRETCH_H
#define HOLO_RUNTIME_FRAME_STRETCH_H

#include "runtime/frame/frame.h"

// Finds the stretches of a frame that is bound.
HOLO_MUST HoloStatus holo_stretches_find(HoloFrame *frame, HoloError *error);
// Gives back all recordings: sizes or memory change.
void holo_stretches_forget(HoloFrame *frame);
// A run begins.
void holo_stretches_begin(HoloFrame *frame);
// Runs the stretch that begins with this step, if there is one and if it may be replayed now. *out_end is the step
// behind it; it stays if there is none.
HOLO_MUST HoloStatus holo_stretches_run(HoloFrame *frame, uint32_t step, uint32_t *out_end, HoloError *error);
// A run has succeeded.
void holo_stretches_end(HoloFrame *frame);

#endif
