// compiling.h - one compile in progress, and its stages in order (src/compile.c).
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
    HoloSource *source; // the source whose weights it shares, and which it owns; NULL: the compile's source
} HoloDraft;
HOLO_MUST HoloStatus holo_draft_create(const HoloGraph *graph, HoloDraft **out, HoloError *error);
void                 holo_draft_destroy(HoloDraft *draft); // accepts NULL

// One graph of the model on its way to a plan.
typedef struct HoloCompileEntry {
    const char *name;
    HoloGraph  *graph; // as it was read: verification compares with it
    HoloDraft  *draft;
    HoloGraph  *quantized; // the graph to verify against instead; NULL: that of the model
    HoloLowered lowered;
} HoloCompileEntry;

typedef struct HoloCompile {
    const HoloCompiler *compiler; // of the plan that a stage works on: `asked`, or a copy of it for the CPU alone
    const HoloCompiler *asked;
    const char         *path, *out_path; // out_path NULL: the archive stays in memory
    HoloString          bytes;           // a model in memory; data NULL: it is at `path`
    HoloSource         *source;          // the model as it was read
    HoloCompileEntry   *entries;
    int                 entry_count;
    HoloCompileEntry
        *twins;   // the same graphs once more, for devices; the entries are for the CPU alone then. NULL: none
    bool is_twin; // `entry` is one of these
    HoloCompileEntry *entry; // the one that a stage works on
    HoloPlan          plan;
    HoloFileWriter   *file;
    HoloReportBox    *box;
    HoloPool         *pool;
    HoloVerifyResult  verified;
    HoloVerifyResult  twins_verified;
    HoloNotes         notes;
    HoloTied          tied;
    double            start, pass_start;
    HoloScope         scope;
    HoloStop          stop;
    HoloAccount      *account; // for its memory limit; NULL: none
    HoloError        *error;
} HoloCompile;

// Fails if choices do not fit each other, or the archive would replace the model.
HOLO_MUST HoloStatus holo_compile_check(const HoloCompile *c);

void holo_compile_entries_deinit(HoloCompile *c); // the twins, too

// Is it the first entry, or the twin of that?
static inline bool holo_compile_is_first(const HoloCompile *c)
{
    return c->entry == (c->is_twin ? c->twins : c->entries);
}

// The stages, in order. Those for an entry are called for each of them.
HOLO_MUST HoloStatus holo_compile_import(HoloCompile *c);      // names all unknown operators at once
HOLO_MUST HoloStatus holo_compile_quantize(HoloCompile *c);    // an entry, if asked for
HOLO_MUST HoloStatus holo_compile_optimize(HoloCompile *c);    // an entry: the passes
HOLO_MUST HoloStatus holo_compile_materialize(HoloCompile *c); // an entry: tables for what depends on few inputs
HOLO_MUST HoloStatus holo_compile_lower(HoloCompile *c);       // an entry: chooses who runs each node, and how
HOLO_MUST HoloStatus holo_compile_tune(HoloCompile *c);        // an entry, if asked for
HOLO_MUST HoloStatus holo_compile_plan(HoloCompile *c);        // steps and memory
HOLO_MUST HoloStatus holo_compile_images(HoloCompile *c); // plans again with a few images at a time, if that is better
HOLO_MUST HoloStatus holo_compile_write(HoloCompile *c);  // the archive, without a name yet
HOLO_MUST HoloStatus holo_compile_prefix(HoloCompile *c); // writes it anew with what a language model keeps of a prefix
HOLO_MUST HoloStatus holo_compile_verify(HoloCompile *c); // an entry: fails if its answers differ from the model's
HOLO_MUST HoloStatus holo_compile_record(HoloCompile *c); // writes what verification found into the archive
HOLO_MUST HoloStatus holo_compile_memorize(HoloCompile *c); // stores answers to the given inputs in the archive

// Adds what goes with a language model to the plan: tokenizer, chat template, settings.
HOLO_MUST HoloStatus holo_compile_text(HoloCompile *c);
// Adds what the folder of a model says about its use: labels of classes, how texts become vectors.
HOLO_MUST HoloStatus holo_compile_tasks(HoloCompile *c);
// The same for a pipeline that makes pictures of texts: its tokenizer, the steps of its diffusion.
HOLO_MUST HoloStatus holo_compile_pipeline(HoloCompile *c);
// Any JSON in a file of the folder; NULL: there is none that can be used.
struct json_t       *holo_compile_json(const char *folder, const char *file);
HOLO_MUST HoloStatus holo_compile_meta_number(HoloCompile *c, const char *key, double number);
// Opens what the archive is written to: a file without a name yet, or memory if no file was asked for.
HOLO_MUST HoloStatus holo_compile_open(const HoloCompile *c, HoloFileWriter **out);
// Writes the plan as it is now.
HOLO_MUST HoloStatus holo_compile_archive(HoloCompile *c, HoloFileWriter *file);
// Reserves room in the archive for what verification will find.
HOLO_MUST HoloStatus holo_compile_reserve(HoloCompile *c);
// Gives back pages of the model's files that are not needed now, so that memory stays below the model's size.
void holo_compile_release(const HoloModelSource *model, const void *data, size_t size);

#endif
