// compiler.h - the inside of HoloCompiler and HoloReport.
#ifndef HOLO_API_COMPILER_H
#define HOLO_API_COMPILER_H

#include "graph/graph.h"
#include "hologram_compiler.h"

typedef struct HoloInputChoice {
    const char *name;
    HoloTensor  value; // a shape (dim -1: as the model has it), or a constant, whose data is borrowed
    bool        is_constant;
} HoloInputChoice;

enum { HOLO_CHOICES_MAX = 256 };

struct HoloCompiler {
    HoloArena       arena; // owns names
    int             input_count;
    HoloInputChoice inputs[HOLO_CHOICES_MAX]; // in the order in which they were made
    bool            symbolic;
    HoloNumeric     numeric;
    bool            verify;
    double          relative, absolute;
    int             threads;
    uint64_t        disabled; // bit i: pass i
    const char     *dump_pass;
    HoloDumpFn      dump;
    void           *dump_context;
    HoloProgressFn  progress;
    void           *progress_context;
};

// The report's memory goes with it.
typedef struct HoloReportBox {
    HoloReport report; // first, so that a report is its box
    HoloArena  arena;
} HoloReportBox;

void holo_compiler_defaults(HoloCompiler *compiler);
// Makes the graph's inputs what the compiler was told; fails where that cannot be.
HOLO_MUST HoloStatus holo_compiler_apply_inputs(const HoloCompiler *compiler, HoloGraph *graph, HoloError *error);
void                 holo_compiler_progress(const HoloCompiler *compiler, const char *stage, double fraction);

#endif
