// compile_images.c - a batch of a given size whose images are computed each by itself.
//
// A plan of fixed sizes has its memory laid out for all images at once. Where that is more than a cache holds, the model is
// compiled once more with the number of images left open, and if that keeps images apart, it is what is written: with the
// number that was asked for as the only one, and runs of some images after the other (runtime/session/images.h).
#include "api/compiling.h"
#include "api/quantizing.h"
#include "runtime/session/images.h"

// How many images input 0 is told to have; 0: it is not, or there is something that looks at sizes.
static int64_t images_told(const HoloCompile *c)
{
    const HoloCompiler *k = c->compiler;
    if (k->changes || k->symbolic || k->domain_count || k->targets.count > 1 || holo_compiler_quantizes(k) ||
        !c->source->model.graph->input_count)
        return 0;
    const HoloTensor *first  = &c->source->model.graph->inputs[0]->type;
    int64_t           images = first->rank > 0 ? first->dim[0] : 0;
    return holo_images_part(images, c->plan.arena_bytes) ? images : 0;
}

// The compiler with that number not told. NULL: nobody told it, or no memory.
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

// Is the number of images all that is open and was told? Another size may have been told to be the same number.
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

// Does the model, compiled with `compiler` so far as to be planned, keep images apart? What fails does not.
static bool is_separate(HoloCompile *c, const HoloGraph *told)
{
    HoloArena scratch = {0};
    if (holo_compile_import(c) || !is_all(told, c->source->model.graph) || holo_compile_optimize(c) ||
        holo_compile_materialize(c) || holo_compile_lower(c) || holo_compile_tune(c))
        return false;
    bool is = holo_plan_is_separate(c->draft->graph, &scratch);
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
    other.draft           = NULL;
    other.lowered         = (HoloLowered){0};
    other.plan            = (HoloPlan){0};
    other.notes           = (HoloNotes){0};
    other.error           = &ignored;
    c->box->report.folded = c->box->report.tables = 0;
    bool is = is_separate(&other, c->source->model.graph) && !holo_compile_plan(&other);
    if (is) { // what was told stays what is verified against
        HoloCompile before = *c;
        holo_plan_fix(&other.plan, images);
        c->draft         = other.draft;
        c->draft->source = other.source;
        c->lowered       = other.lowered;
        c->plan          = other.plan;
        c->notes         = other.notes;
        other            = before;
    } else
        c->box->report = report;
    holo_plan_deinit(&other.plan);
    holo_lowered_deinit(&other.lowered);
    holo_notes_deinit(&other.notes);
    holo_draft_destroy(other.draft);
    if (!is) holo_source_close(other.source);
    return HOLO_OK;
}
