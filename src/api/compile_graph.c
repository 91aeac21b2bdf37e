// compile_graph.c - the stages of a compile from a model to a plan.
#include "api/calibration.h"
#include "api/compiling.h"
#include "api/custom_ops.h"
#include "api/domains.h"
#include "api/quantizing.h"
#include "graph/facts.h"
#include "materialize/materialize.h"
#include "plan/fit.h"
#include "tune/tune.h"

#include <limits.h>
#include <string.h>

static void dump(const HoloCompile *c, const char *stage, const HoloGraph *graph)
{
    const HoloCompiler *k = c->compiler;
    if (!k->dump || (strcmp(k->dump_pass, stage) && strcmp(k->dump_pass, "all"))) return;
    HoloText text = {0};
    holo_graph_print(graph, &text);
    if (text.data) k->dump(k->dump_context, stage, text.data);
    holo_text_deinit(&text);
}

HoloStatus holo_draft_create(const HoloGraph *graph, HoloDraft **out, HoloError *error)
{
    HoloDraft *draft = holo_realloc(NULL, sizeof *draft);
    *out             = NULL;
    if (!draft) return holo_fail_memory(error);
    *draft       = (HoloDraft){0};
    draft->graph = holo_graph_copy(graph, &draft->arena);
    if (draft->graph) {
        *out = draft;
        return HOLO_OK;
    }
    holo_draft_destroy(draft);
    return holo_fail_memory(error);
}

void holo_draft_destroy(HoloDraft *draft)
{
    if (!draft) return;
    holo_source_close(draft->source);
    holo_arena_deinit(&draft->arena);
    holo_free(draft);
}

static HoloStatus entry_begin(HoloCompile *c, const HoloModelEntry *from)
{
    const HoloGraph *graph = from->graph;
    c->box->report.nodes_before += (uint32_t)graph->node_count;
    dump(c, "import", graph);
    holo_compiler_note_kernels(c->compiler, graph, &c->notes);
    HOLO_TRY(holo_graph_check_ops(graph, c->error));
    return holo_draft_create(graph, &c->entry->draft, c->error);
}

HoloStatus holo_compile_import(HoloCompile *c)
{
    bool has_twins = c->asked->has_host && !c->twins;
    holo_compiler_progress(c->compiler, "reading the model", 0);
    HOLO_TRY(holo_compiler_import(c->asked, c->path, c->bytes, &c->source, c->error));
    const HoloModelSource *model = &c->source->model;
    c->box->report.model_bytes   = model->bytes;
    c->box->report.nodes_before  = 0;
    c->entries                   = HOLO_NEW(&c->box->arena, HoloCompileEntry, model->entry_count);
    if (has_twins) c->twins = HOLO_NEW(&c->box->arena, HoloCompileEntry, model->entry_count);
    if (!c->entries || (has_twins && !c->twins)) return holo_fail_memory(c->error);
    for (int i = 0; i < model->entry_count; i++) {
        c->entry  = &c->entries[c->entry_count++];
        *c->entry = (HoloCompileEntry){.name = model->entries[i].name, .graph = model->entries[i].graph};
        if (has_twins) c->twins[i] = *c->entry;
        HOLO_TRY(entry_begin(c, &model->entries[i]));
        if (has_twins) HOLO_TRY(holo_draft_create(c->entry->graph, &c->twins[i].draft, c->error));
    }
    c->entry = c->entries;
    return HOLO_OK;
}

static void twins_drop(HoloCompile *c)
{
    for (int i = 0; c->twins && i < c->entry_count; i++) {
        holo_lowered_deinit(&c->twins[i].lowered);
        holo_draft_destroy(c->twins[i].draft);
    }
    c->twins = NULL;
}

void holo_compile_entries_deinit(HoloCompile *c)
{
    twins_drop(c);
    for (int i = 0; i < c->entry_count; i++) {
        holo_lowered_deinit(&c->entries[i].lowered);
        holo_draft_destroy(c->entries[i].draft);
    }
    c->entry_count = 0;
}

static void pass_after(void *context, const HoloPass *pass, const HoloGraph *graph, int changes)
{
    HoloCompile    *c   = context;
    HoloPassReport *r   = (HoloPassReport *)&c->box->report.passes[pass - c->compiler->passes];
    double          now = holo_time_now();
    r->seconds += now - c->pass_start;
    c->pass_start = now;
    if (!c->is_twin) { // the report counts what was done to the entries
        r->runs++;
        r->changes += changes;
        if (!strcmp(pass->name, "fold")) c->box->report.folded += (uint32_t)changes;
        bool is_table = !strcmp(pass->name, "tables") || !strcmp(pass->name, "pairs");
        if (is_table && !c->compiler->no_tables) c->box->report.tables += (uint32_t)changes;
    }
    dump(c, pass->name, graph);
    holo_compiler_progress(c->compiler, pass->name, 0.1);
}

// `disabled` must have room for the names of all passes.
static HoloPassOptions pass_options(const HoloCompile *c, const char **disabled)
{
    const HoloCompiler *compiler = c->compiler;
    HoloPassOptions     options  = {
             .disabled     = disabled,
             .is_exact     = compiler->numeric == HOLO_EXACT,
             .is_bf16      = holo_compiler_is_bf16(compiler),
             .table        = compiler->passes,
             .no_tables    = compiler->no_tables,
             .table_budget = compiler->table_budget,
             .targets      = &compiler->targets,
    };
    for (int i = 0; compiler->passes[i].name; i++)
        if (compiler->disabled >> i & 1) disabled[options.disabled_count++] = compiler->passes[i].name;
    return options;
}

// Notes each product that quantization approximates.
static void approximations_note(HoloCompile *c)
{
    const HoloQuantizationReport *r = &c->box->report.quantization;
    char                          text[HOLO_NOTE_TEXT];
    for (int i = 0; i < r->layer_count && c->compiler->quantize == HOLO_QUANTIZE_CENTROIDS; i++) {
        const HoloLayerReport *l = &r->layers[i];
        if (!l->why)
            holo_note_text(
                text,
                "--approx asked for an approximation: each 8 numbers that it reads are replaced by the nearest "
                "centroid; its result is off by %.2g %% on the samples",
                100 * l->error);
        holo_notes_add(&c->notes, &(HoloNote){.pass    = "approx",
                                              .place   = l->name,
                                              .what    = l->op,
                                              .why     = l->why ? l->why : text,
                                              .verdict = l->why ? HOLO_VERDICT_UNFIT : HOLO_VERDICT_MADE,
                                              .bytes   = l->why ? 0 : l->bytes_after});
    }
}

// From here on, the quantized graph is planned and verified.
HoloStatus holo_compile_quantize(HoloCompile *c)
{
    const char     *disabled[64];
    HoloPassOptions options = pass_options(c, disabled);
    HoloGraph     **graph   = &c->entry->draft->graph;
    if (!holo_compiler_quantizes(c->compiler)) return HOLO_OK;
    if (c->is_twin) { // as its entry was
        *graph = holo_graph_copy(c->entries[c->entry - c->twins].quantized, &c->entry->draft->arena);
        return *graph ? HOLO_OK : holo_fail_memory(c->error);
    }
    if (c->entry_count > 1 && holo_calibration_is_given(c->compiler))
        return holo_fail(c->error, HOLO_UNSUPPORTED,
                         "the model has %d entries, and samples to calibrate with are for one: quantize without them",
                         c->entry_count);
    HoloQuantizationReport before = c->box->report.quantization, *now = &c->box->report.quantization;
    HOLO_TRY(
        holo_compiler_quantize(c->compiler, *graph, &options, c->pool, c->box, graph, &c->entry->quantized, c->error));
    approximations_note(c);
    if (c->entry != c->entries) { // the report has the layers of the first entry, and the worst accuracy of all
        before.accuracy = now->accuracy < before.accuracy ? now->accuracy : before.accuracy;
        *now            = before;
    }
    dump(c, "quantize", *graph);
    return HOLO_OK;
}

static HoloStatus passes_begin(HoloCompile *c)
{
    int count = 0;
    while (c->compiler->passes[count].name) count++;
    HoloPassReport *passes = HOLO_NEW(&c->box->arena, HoloPassReport, count + 1);
    if (!passes) return holo_fail_memory(c->error);
    for (int i = 0; i < count; i++) passes[i].name = c->compiler->passes[i].name;
    c->box->report.passes     = passes;
    c->box->report.pass_count = count;
    return HOLO_OK;
}

HoloStatus holo_compile_optimize(HoloCompile *c)
{
    const HoloCompiler *compiler = c->compiler;
    HoloGraph          *graph    = c->entry->draft->graph;
    HoloReport         *report   = &c->box->report;
    const char         *disabled[64];
    HoloChanges         all = {.limit = INT_MAX}, *changes = compiler->changes ? compiler->changes : &all;
    HoloPassOptions     options = pass_options(c, disabled);
    options.changes             = changes;
    options.notes               = c->is_twin ? NULL : &c->notes;
    options.tied                = &c->tied;
    options.after               = pass_after;
    options.context             = c;
    if (holo_compile_is_first(c)) c->tied = (HoloTied){0};
    if (c->entry != c->entries) // what the entries before took is taken; 0 would be no limit
        options.table_budget -=
            report->table_bytes < options.table_budget ? report->table_bytes : options.table_budget - 1;
    if (!report->passes) HOLO_TRY(passes_begin(c));
    c->pass_start = holo_time_now();
    HOLO_TRY(holo_passes_run(graph, &options, c->error));
    if (!c->is_twin) report->nodes_after += (uint32_t)graph->node_count;
    report->table_budget = compiler->table_budget;
    if (!compiler->no_tables) report->table_bytes += options.table_budget - changes->table_room;
    dump(c, "plan", graph);
    return HOLO_OK;
}

HoloStatus holo_compile_materialize(HoloCompile *c)
{
    HoloReport *r        = &c->box->report;
    HoloGraph  *graph    = c->entry->draft->graph;
    uint32_t    nodes    = (uint32_t)graph->node_count;
    HoloDomain *domains  = NULL;
    bool        is_first = holo_compile_is_first(c); // domains are of its inputs
    if (is_first) HOLO_TRY(holo_compiler_domains(c->compiler, graph, &c->box->arena, &domains, c->error));
    HoloMaterialize m = {
        .is_exact     = c->compiler->numeric == HOLO_EXACT,
        .pool         = c->pool,
        .domains      = domains,
        .domain_count = is_first ? c->compiler->domain_count : 0,
        .room         = r->table_budget - r->table_bytes,
        .notes        = c->is_twin ? NULL : &c->notes,
        .error        = c->error,
    };
    c->notes.is_late = false;
    if (c->compiler->no_tables) return HOLO_OK;
    HOLO_TRY(holo_materialize_rows(graph, &m));
    HOLO_TRY(holo_materialize_few(graph, &m));
    r->table_bytes = r->table_budget - m.room;
    if (!c->is_twin) {
        r->tables += m.tables;
        r->nodes_after += (uint32_t)graph->node_count - nodes;
    }
    if (m.tables) dump(c, "materialize", graph);
    return HOLO_OK;
}

// Notes what stays on the CPU although the model is compiled for another target.
static void cut_note(HoloCompile *c, const HoloGraph *graph, const HoloCut *cut)
{
    char text[HOLO_NOTE_TEXT];
    for (int i = 0; i < graph->node_count && cut->targets.count > 1; i++) {
        const HoloNode *node = graph->nodes[i];
        if (cut->target[i] || holo_node_has(node, HOLO_OP_VIEW)) continue;
        holo_notes_add(&c->notes, &(HoloNote){.pass  = "lower",
                                              .place = node->name,
                                              .what  = node->type,
                                              .why = holo_note_text(text, "%s has no kernel for it: it runs on the CPU",
                                                                    cut->targets.list[1]->name),
                                              .verdict = HOLO_VERDICT_UNFIT});
    }
}

HoloStatus holo_compile_lower(HoloCompile *c)
{
    HoloGraph *graph = c->entry->draft->graph;
    HoloCut    cut;
    if (c->compiler->targets.count < 2) return holo_lower_graph(graph, NULL, &c->entry->lowered, c->error);
    HOLO_TRY(holo_lower_cut(graph, &c->compiler->targets, &cut, c->error));
    dump(c, "lower", graph);
    cut_note(c, graph, &cut);
    return holo_lower_graph(graph, &cut, &c->entry->lowered, c->error);
}

static void tune_progress(void *context, double fraction)
{
    holo_compiler_progress(((HoloCompile *)context)->compiler, "tuning", 0.1 + 0.05 * fraction);
}

HoloStatus holo_compile_tune(HoloCompile *c)
{
    if (!c->compiler->tune) return HOLO_OK;
    HoloReport     *r       = &c->box->report;
    double          start   = holo_time_now();
    HoloTuneOptions options = {
        .kernels  = holo_kernels(c->compiler->numeric == HOLO_EXACT),
        .pool     = c->pool,
        .progress = tune_progress,
        .context  = c,
    };
    HoloTuning tuning;
    HOLO_TRY(holo_tune(c->entry->draft->graph, &c->entry->lowered, &options, &c->box->arena, &tuning, c->error));
    r->tuned = true;
    r->tune_seconds += holo_time_now() - start;
    if (!c->is_twin) r->tune_open += tuning.open;
    if (c->entry != c->entries) return HOLO_OK; // the report has the steps of the first entry
    r->tune_count = tuning.count;
    r->tunes      = tuning.reports;
    return HOLO_OK;
}

// Notes how each weight is stored: as codes when it holds few different numbers, or why not.
static void weights_note(HoloCompile *c)
{
    char     text[HOLO_NOTE_TEXT];
    HoloNote note;
    for (uint32_t i = 0; i < c->plan.constant_count; i++) {
        const HoloPlanConstant *k = &c->plan.constants[i];
        if (!k->target || !k->target->note || !k->target->note(&k->lowering, &k->tensor, text, &note)) continue;
        note.place = k->name;
        note.bytes = k->size;
        holo_notes_add(&c->notes, &note);
    }
}

// Plans the entries, and their twins if there are any and they are wanted.
static HoloStatus entries_plan(HoloCompile *c, bool with_twins)
{
    int            count = c->entry_count, twins = with_twins && c->twins ? count : 0;
    HoloPlanEntry *all = HOLO_NEW(&c->box->arena, HoloPlanEntry, count + twins);
    if (!all) return holo_fail_memory(c->error);
    holo_plan_deinit(&c->plan);
    for (int i = 0; i < count + twins; i++) {
        const HoloCompileEntry *e = i < count ? &c->entries[i] : &c->twins[i - count];
        all[i]                    = (HoloPlanEntry){e->name, e->draft->graph, &e->lowered, i >= count};
    }
    return holo_plan_create_all(all, count + twins, &c->plan, c->error);
}

// Limits what is stored larger than in the model to what --size allows.
static HoloStatus fit(HoloCompile *c)
{
    enum { OTHER_BYTES = 24 << 10 }; // notes, metadata and gaps between sections
    HoloReport *r     = &c->box->report;
    uint64_t    model = c->source->model.bytes, budget = model + model / 2;
    bool        anew;
    HoloFit     done;
    if (c->compiler->size == HOLO_SIZE_SMALL) budget = 0;
    if (c->compiler->size == HOLO_SIZE_FAST) budget = UINT64_MAX;
    if (budget > OTHER_BYTES && budget < UINT64_MAX) budget -= OTHER_BYTES;
    HoloLowered **lowered = HOLO_NEW(&c->box->arena, HoloLowered *, c->entry_count);
    if (!lowered) return holo_fail_memory(c->error);
    for (int i = 0; i < c->entry_count; i++) lowered[i] = &c->entries[i].lowered;
    HOLO_TRY(holo_plan_fit(lowered, c->entry_count, &c->plan, budget, &c->notes, &done, &anew, c->error));
    r->transformed           = done.stored;
    r->transformed_bytes     = done.bytes_bought;
    r->not_transformed       = done.given_up;
    r->not_transformed_bytes = done.bytes_spared;
    r->size_work             = done.work > 0 ? done.work_more / done.work : 0;
    for (int i = 0; c->twins && i < c->entry_count; i++)
        holo_lowered_share(&c->twins[i].lowered, &c->entries[i].lowered);
    return anew || c->twins ? entries_plan(c, true) : HOLO_OK;
}

// Adds the code that devices need for the steps of all entries.
static HoloStatus code_add(HoloCompile *c)
{
    HoloTargetCode      code[HOLO_TARGET_CODES];
    const HoloLowered **lowered = HOLO_NEW(&c->box->arena, const HoloLowered *, c->entry_count);
    HoloTargetUse       use     = {.lowered = lowered, .count = c->entry_count, .arena = &c->box->arena};
    if (!lowered) return holo_fail_memory(c->error);
    for (int i = 0; i < c->entry_count; i++) lowered[i] = c->twins ? &c->twins[i].lowered : &c->entries[i].lowered;
    const HoloTargets *targets = &lowered[0]->targets;
    use.kind                   = c->compiler->target_kind;
    for (int t = 1; t < targets->count; t++) {
        int count = 0;
        if (!targets->list[t]->code) continue;
        HOLO_TRY(targets->list[t]->code(&use, code, &count, c->error));
        for (int i = 0; i < count; i++) HOLO_TRY(holo_plan_code(&c->plan, (uint32_t)t, &code[i], c->error));
    }
    return HOLO_OK;
}

// Says what plans for devices take beside those for the CPU.
static HoloStatus twins_report(HoloCompile *c)
{
    HoloReport        *r       = &c->box->report;
    const HoloTargets *targets = &c->asked->targets;
    HoloText           names   = {0};
    for (int i = 1; i < targets->count; i++) holo_text_add(&names, "%s%s", i > 1 ? "," : "", targets->list[i]->name);
    r->device = names.data ? holo_arena_text(&c->box->arena, names.data, strlen(names.data)) : NULL;
    holo_text_deinit(&names);
    r->numeric        = holo_numeric_name(c->compiler->numeric);
    r->device_numeric = holo_numeric_name(c->asked->numeric);
    r->device_steps   = c->plan.device_steps;
    r->host_bytes = r->device_bytes = r->shared_bytes = 0;
    for (uint32_t i = 0; i < c->plan.constant_count; i++) {
        const HoloPlanConstant *k = &c->plan.constants[i];
        *(k->users == HOLO_USER_ENTRY    ? &r->host_bytes
          : k->users == HOLO_USER_DEVICE ? &r->device_bytes
                                         : &r->shared_bytes) += k->size;
    }
    if (!r->device) return holo_fail_memory(c->error);
    char text[HOLO_NOTE_TEXT];
    holo_notes_add(&c->notes, &(HoloNote){.pass  = "devices",
                                          .what  = "constants for both",
                                          .why   = "devices read the same bytes, or turn what is packed for the CPU",
                                          .bytes = r->shared_bytes});
    holo_note_text(text, "%s reads them in a form that cannot be made of that of the CPU when they are brought there",
                   r->device);
    holo_notes_add(
        &c->notes,
        &(HoloNote){.pass = "devices", .what = "constants for devices alone", .why = text, .bytes = r->device_bytes});
    return HOLO_OK;
}

// Plans for devices of which no step runs there would be those for the CPU once more.
static void twins_judge(HoloCompile *c)
{
    bool any = false;
    for (int i = 0; c->twins && i < c->entry_count; i++) any = any || c->twins[i].lowered.targets.count > 1;
    if (!any) twins_drop(c);
}

HoloStatus holo_compile_plan(HoloCompile *c)
{
    HoloReport *r = &c->box->report;
    twins_judge(c);
    HOLO_TRY(entries_plan(c, false)); // how an entry is stored does not depend on whether it has a twin
    HOLO_TRY(fit(c));
    HOLO_TRY(code_add(c));
    if (c->compiler->numeric == HOLO_EXACT) c->plan.flags_must |= HOLO_FLAG_EXACT;
    if (holo_compiler_is_bf16(c->compiler)) c->plan.flags_may |= HOLO_FLAG_BF16;
    r->steps              = c->plan.steps;
    r->kernel_steps       = c->plan.kernel_steps;
    r->constants          = c->plan.constant_count;
    r->deduplicated       = c->plan.deduplicated;
    r->deduplicated_bytes = c->plan.deduplicated_bytes;
    r->arena_bytes        = c->plan.arena_bytes;
    r->naive_bytes        = c->plan.naive_bytes;
    if (r->deduplicated)
        holo_notes_add(&c->notes, &(HoloNote){.pass = "plan",
                                              .what = "constant",
                                              .why  = "it has the same bytes as another constant, so it is stored once",
                                              .count = r->deduplicated,
                                              .bytes = r->deduplicated_bytes});
    weights_note(c);
    return c->twins ? twins_report(c) : HOLO_OK;
}
