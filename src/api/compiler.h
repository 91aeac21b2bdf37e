// compiler.h - the inside of HoloCompiler and HoloReport.
#ifndef HOLO_API_COMPILER_H
#define HOLO_API_COMPILER_H

#include "graph/graph.h"
#include "hologram_compiler.h"

typedef struct HoloShapeChoice {
    const char *name;
    int         rank;
    int64_t     dim[HOLO_MAX_RANK]; // -1: as the model has it
} HoloShapeChoice;

enum { HOLO_CHOICES_MAX = 256 };

struct HoloCompiler {
    HoloArena       arena; // owns names
    int             shape_count;
    HoloShapeChoice shapes[HOLO_CHOICES_MAX];
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
// Fixes sizes of the graph's inputs as the compiler was told; fails where that cannot be.
HOLO_MUST HoloStatus holo_compiler_apply_shapes(const HoloCompiler *compiler, HoloGraph *graph, HoloError *error);
void                 holo_compiler_progress(const HoloCompiler *compiler, const char *stage, double fraction);

#endif
