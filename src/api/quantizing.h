// quantizing.h - quantization as a compile has it: its choices, and what comes of them.
#ifndef HOLO_API_QUANTIZING_H
#define HOLO_API_QUANTIZING_H

#include "api/compiler.h"
#include "quantize/quantize.h"

bool holo_compiler_quantizes(const HoloCompiler *compiler);
// Does what the compiler was told to do to the graph of a model. *out_graph is then what is to be planned, and
// *out_reference a copy of it, to verify against. Both are in the memory of `graph`; the report is `box`'s.
HOLO_MUST HoloStatus holo_compiler_quantize(const HoloCompiler *compiler, HoloGraph *graph,
                                            const HoloPassOptions *passes, HoloPool *pool, HoloReportBox *box,
                                            HoloGraph **out_graph, HoloGraph **out_reference, HoloError *error);

#endif
