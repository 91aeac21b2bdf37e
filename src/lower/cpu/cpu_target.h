// cpu_target.h - the CPU as a target, for code that runs its kernels while compiling.
#ifndef HOLO_LOWER_CPU_TARGET_H
#define HOLO_LOWER_CPU_TARGET_H

#include "lower/lower.h"

// As in HoloTarget. A node with unknown sizes or types goes to eval.
HoloLowering holo_cpu_choose(const HoloNode *node);
// First what holo_cpu_choose gives; then weights transformed in another way or plain; then eval, if that is little
// work.
int                  holo_cpu_ways(const HoloNode *node, HoloLowering out[HOLO_LOWER_WAYS]);
HOLO_MUST HoloStatus holo_cpu_program(const HoloNode *node, const HoloLowering *lowering, HoloArena *arena,
                                      HoloBytes *out, HoloError *error);
HoloPacking          holo_cpu_packing(const HoloLowering *lowering, const HoloTensor *w);
size_t               holo_cpu_pack(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);
bool                 holo_cpu_is_enlarged(const HoloLowering *lowering);
double               holo_cpu_cost(const HoloNode *node, const HoloLowering *way);
bool holo_cpu_note(const HoloLowering *lowering, const HoloTensor *w, char text[HOLO_NOTE_TEXT], HoloNote *out);

// Is there a kernel for at least some cases of an operator?
bool holo_cpu_has_kernel(const char *domain, const char *name);
bool holo_cpu_is_recurrent(uint32_t kernel); // runs a recurrent layer
// Changes the lowering so that every input is plain.
void holo_cpu_unpack(HoloLowering *lowering);

#endif
