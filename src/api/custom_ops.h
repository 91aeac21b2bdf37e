// custom_ops.h - kernels that are bound to operators.
#ifndef HOLO_API_CUSTOM_OPS_H
#define HOLO_API_CUSTOM_OPS_H

#include "base/files.h"
#include "graph/graph.h"
#include "graph/notes.h"
#include "hologram_compiler.h"

// Turns the nodes that kernels of the compiler are bound to into hologram::Kernel.
HOLO_MUST HoloStatus holo_compiler_apply_kernels(const HoloCompiler *compiler, HoloGraph *graph, HoloError *error);
// Notes the kernels that no node of the model uses.
void holo_compiler_note_kernels(const HoloCompiler *compiler, const HoloGraph *graph, HoloNotes *notes);

#endif
