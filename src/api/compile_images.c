// compile_images.c - batches of a fixed size whose images are computed one by one.
//
// A plan of fixed sizes has memory for all images at once. If that is more than a cache holds, the model is compiled
// again with the number of images left open. If that plan computes images separately, it is the one that is written.
// The fixed number stays the only one allowed, and a run takes a few images at a time (runtime/session/images.h).
#include "api/compiling.h"
#include "api/quantizing.h"
#include "runtime/session/images.h"

// The number of images that input 0 was fixed to; 0: it was not fixed, or something depends on sizes.
static int64_t images_told(const HoloCompile *c)
{
    const HoloCompiler *k = c->compiler;
    if (k->changes || k->symbolic || k->domain_count || k->targets.count > 1 || holo_compiler_quantizes(k) ||
        c->entry_count > 1 || !c->source->model.graph->input_count)
        return 0;
    const HoloTensor *first  = &c->source->model.graph->inputs[0]->type;
    int64_t           images = first->rank > 0 ? first->dim[0] : 0;
    return holo_images_part(images, c->plan.arena_bytes) ? images : 0;
}

// A copy of the compiler that does not fix this number. NULL: nobody fixed it, or no memory.
static HoloCompiler *open_compiler(const HoloCompile *c, int64_t images, HoloArena *arena)
{
    HoloCompiler *open = HOLO_NEW(arena, HoloCompiler, 1);
    bool          any  = false;
    if (!open) return NULL;
    *open = *c->compiler;
    for (int i = 0; i < open->input_count; i++) {
        HoloInputChoice *told = &open->inputs[i];
        if (told->is_constant || told->value.rank < 1 || told->value.dim[0] != images) continue;
        told->value.dim[0] = -1;
        any                = true;
    }
    return any ? open : NULL;
}

// Is the number of images the only size that was fixed and is open now? Another size may have been fixed to the same
// number.
static bool is_all(const HoloGraph *told, const HoloGraph *open)
{
    if (!open->input_count || open->input_count != told->input_count || open->inputs[0]->type.rank < 1) return false;
    HoloDim images = open->inputs[0]->type.dim[0];
    for (int i = 0; i < open->input_count; i++) {
        const HoloTensor *was = &told->inputs[i]->type, *is = &open->inputs[i]->type;
        for (int d = 0; d < is->rank; d++)
            if (is->dim[d] != images && holo_dim_is_symbolic(is->dim[d]) && !holo_dim_is_symbolic(was->dim[d]))
                return false;
    }
    return holo_dim_is_symbolic(images);
}

// Compiles the model up to a plan with `compiler`: does that plan keep images apart? If it fails, it does not.
static bool is_separate(HoloCompile *c, const HoloGraph *told)
{
    HoloArena scratch = {0};
    if (holo_compile_import(c) || !is_all(told, c->source->model.graph) || holo_compile_optimize(c) ||
        holo_compile_materialize(c) || holo_compile_lower(c) || holo_compile_tune(c))
        return false;
    bool is = holo_plan_is_separate(c->entry->draft->graph, &scratch);
    holo_arena_deinit(&scratch);
    return is;
}

HoloStatus holo_compile_images(HoloCompile *c)
{
    int64_t       images  = images_told(c);
    HoloCompiler *open    = images ? open_compiler(c, images, &c->box->arena) : NULL;
    HoloError     ignored = {0};
    HoloCompile   other   = *c;
    HoloReport    report  = c->box->report;
    if (!open) return HOLO_OK;
    other.compiler        = open;
    other.source          = NULL;
    other.entries         = NULL;
    other.entry_count     = 0;
    other.plan            = (HoloPlan){0};
    other.notes           = (HoloNotes){0};
    other.asked           = open;
    other.error           = &ignored;
    c->box->report.folded = c->box->report.tables = 0;
    c->box->report.passes                         = NULL;
    c->box->report.table_bytes = c->box->report.nodes_after = 0;
    bool is = is_separate(&other, c->source->model.graph) && !holo_compile_plan(&other);
    if (is) { // verification still uses the graph with the fixed number
        HoloCompile before = *c;
        holo_plan_fix(&other.plan, images);
        other.entry->graph         = c->entry->graph;
        other.entry->name          = c->entry->name; // of the source that stays
        other.entry->draft->source = other.source;
        c->entries                 = other.entries;
        c->entry                   = other.entry;
        c->plan                    = other.plan;
        c->notes                   = other.notes;
        other                      = before;
    } else
        c->box->report = report;
    holo_plan_deinit(&other.plan);
    other.twins = NULL; // they stay
    holo_compile_entries_deinit(&other);
    holo_notes_deinit(&other.notes);
    if (!is) holo_source_close(other.source);
    return HOLO_OK;
}
