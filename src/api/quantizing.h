// quantizing.h - quantization as a stage of a compile: its choices and its results.
#ifndef HOLO_API_QUANTIZING_H
#define HOLO_API_QUANTIZING_H

#include "api/compiler.h"
#include "quantize/quantize.h"

bool holo_compiler_quantizes(const HoloCompiler *compiler);
bool holo_compiler_quantizes_int8(const HoloCompiler *compiler); // all layers, or some
// Quantizes the graph of a model as the compiler was told. *out_graph is the graph to plan, *out_reference a copy of it
// to verify against. Both are in the memory of `graph`; the report belongs to `box`.
HOLO_MUST HoloStatus holo_compiler_quantize(const HoloCompiler *compiler, HoloGraph *graph,
                                            const HoloPassOptions *passes, HoloPool *pool, HoloReportBox *box,
                                            HoloGraph **out_graph, HoloGraph **out_reference, HoloError *error);

#endif
