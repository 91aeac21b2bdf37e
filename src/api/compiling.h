// compiling.h - one compile under way, and its stages in their order (src/compile.c).
#ifndef HOLO_API_COMPILING_H
#define HOLO_API_COMPILING_H

#include "api/compiler.h"
#include "api/source.h"
#include "base/files.h"
#include "base/memory.h"
#include "plan/plan.h"
#include "runtime/pool.h"
#include "verify/verify.h"

// A copy of the imported graph, with memory of its own. The stages change it until it is planned.
typedef struct HoloDraft {
    HoloArena   arena;
    HoloGraph  *graph;
    HoloSource *source; // whose weights it shares, and which goes with it; NULL: the compile's
} HoloDraft;
HOLO_MUST HoloStatus holo_draft_create(const HoloGraph *graph, HoloDraft **out, HoloError *error);
void                 holo_draft_destroy(HoloDraft *draft); // NULL is nothing to destroy

typedef struct HoloCompile {
    const HoloCompiler *compiler;
    const char         *path, *out_path; // out_path NULL: into memory
    HoloSource         *source;          // as it was read: what verification compares with
    HoloDraft          *draft;
    HoloGraph          *quantized; // what to verify against, instead of the model; NULL: the model
    HoloLowered         lowered;
    HoloPlan            plan;
    HoloFileWriter     *file;
    HoloReportBox      *box;
    HoloPool           *pool;
    HoloVerifyResult    verified;
    HoloNotes           notes;
    double              start, pass_start;
    HoloScope           scope;
    HoloAccount        *account; // of its memory limit; NULL: none
    HoloError          *error;
} HoloCompile;

// The stages, in their order.
HOLO_MUST HoloStatus holo_compile_import(HoloCompile *c);      // operators that nobody knows are named all at once
HOLO_MUST HoloStatus holo_compile_quantize(HoloCompile *c);    // where that was asked for
HOLO_MUST HoloStatus holo_compile_optimize(HoloCompile *c);    // the passes
HOLO_MUST HoloStatus holo_compile_materialize(HoloCompile *c); // what follows from finite inputs becomes tables
HOLO_MUST HoloStatus holo_compile_lower(HoloCompile *c);       // who runs each node, and how: a choice for each
HOLO_MUST HoloStatus holo_compile_tune(HoloCompile *c);        // where that was asked for
HOLO_MUST HoloStatus holo_compile_plan(HoloCompile *c);        // steps and memory
HOLO_MUST HoloStatus
holo_compile_images(HoloCompile *c); // once more for some images after the other, where that is better
HOLO_MUST HoloStatus holo_compile_write(HoloCompile *c);    // the archive, under no name yet
HOLO_MUST HoloStatus holo_compile_verify(HoloCompile *c);   // it answers as the model does, or this fails
HOLO_MUST HoloStatus holo_compile_record(HoloCompile *c);   // what verification found, into the archive
HOLO_MUST HoloStatus holo_compile_memorize(HoloCompile *c); // answers to the inputs given, into the archive

// What the archive is written to: a file under no name yet or, where none was asked for, memory.
HOLO_MUST HoloStatus holo_compile_open(const HoloCompile *c, HoloFileWriter **out);
// Room in the archive for what verification will find.
HOLO_MUST HoloStatus holo_compile_reserve(HoloCompile *c);
// Pages of the model's files that are not needed for now are given back: memory stays below the model's size.
void holo_compile_release(const HoloModelSource *model, const void *data, size_t size);

#endif
