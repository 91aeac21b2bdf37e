// compile.c - the whole compiler in one screen: import, infer, quantise, passes, materialise, tune, plan, write, verify, memo.
//
// What is written appears under its name only when all of it has succeeded.
#include "api/compiler.h"
#include "api/domains.h"
#include "api/quantizing.h"
#include "api/source.h"
#include "archive/archive.h"
#include "materialise/materialise.h"
#include "plan/plan.h"
#include "runtime/memo.h"
#include "runtime/model.h"
#include "runtime/pool.h"
#include "tune/tune.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Compile {
    const HoloCompiler *compiler;
    const char         *path, *out_path;
    HoloSource         *source;
    HoloGraph          *quantised; // what to verify against, instead of the model; NULL: the model
    HoloPlan            plan;
    HoloFileWriter     *file;
    HoloReportBox      *box;
    HoloPool           *pool;
    HoloVerifyResult    verified;
    HoloNotes           notes;
    double              start, pass_start;
    HoloError          *error;
} Compile;

static HoloStatus import(Compile *c);
static HoloStatus quantise(Compile *c);
static HoloStatus optimise(Compile *c);
static HoloStatus materialise(Compile *c);
static HoloStatus tune(Compile *c);
static HoloStatus plan(Compile *c);
static HoloStatus write_archive(Compile *c);
static HoloStatus verify(Compile *c);
static HoloStatus record(Compile *c);
static HoloStatus memorise(Compile *c);

static HoloStatus compile(Compile *c)
{
    HOLO_TRY(import(c));
    HOLO_TRY(quantise(c));
    HOLO_TRY(optimise(c));
    HOLO_TRY(materialise(c));
    HOLO_TRY(tune(c));
    HOLO_TRY(plan(c));
    HOLO_TRY(write_archive(c));
    HOLO_TRY(verify(c));
    HOLO_TRY(record(c));
    HOLO_TRY(memorise(c));
    c->box->report.seconds = holo_time_now() - c->start;
    holo_compiler_progress(c->compiler, "done", 1);
    return HOLO_OK;
}

// ---- the stages

static void dump(const Compile *c, const char *stage, const HoloGraph *graph)
{
    const HoloCompiler *k = c->compiler;
    if (!k->dump || (strcmp(k->dump_pass, stage) && strcmp(k->dump_pass, "all"))) return;
    HoloText text = {0};
    holo_graph_print(graph, &text);
    if (text.data) k->dump(k->dump_context, stage, text.data);
    holo_text_deinit(&text);
}

static HoloStatus import(Compile *c)
{
    holo_compiler_progress(c->compiler, "reading the model", 0);
    HOLO_TRY(holo_compiler_import(c->compiler, c->path, &c->source, c->error));
    const HoloGraph *graph      = c->source->model.graph;
    c->box->report.model_bytes  = c->source->model.bytes;
    c->box->report.nodes_before = (uint32_t)graph->node_count;
    dump(c, "import", graph);
    return holo_graph_check_ops(graph, c->error);
}

static void pass_after(void *context, const HoloPass *pass, const HoloGraph *graph, int changes)
{
    Compile        *c   = context;
    HoloPassReport *r   = (HoloPassReport *)&c->box->report.passes[pass - c->compiler->passes];
    double          now = holo_time_now();
    r->runs++;
    r->changes += changes;
    r->seconds += now - c->pass_start;
    c->pass_start = now;
    if (!strcmp(pass->name, "fold")) c->box->report.folded += (uint32_t)changes;
    bool is_table = !strcmp(pass->name, "tables") || !strcmp(pass->name, "pairs");
    if (is_table && !c->compiler->no_tables) c->box->report.tables += (uint32_t)changes;
    dump(c, pass->name, graph);
    holo_compiler_progress(c->compiler, pass->name, 0.1);
}

// `disabled` has room for the names of all passes.
static HoloPassOptions pass_options(const Compile *c, const char **disabled)
{
    const HoloCompiler *compiler = c->compiler;
    HoloPassOptions     options  = {
             .disabled     = disabled,
             .is_exact     = compiler->numeric == HOLO_EXACT,
             .table        = compiler->passes,
             .no_tables    = compiler->no_tables,
             .table_budget = compiler->table_budget,
    };
    for (int i = 0; compiler->passes[i].name; i++)
        if (compiler->disabled >> i & 1) disabled[options.disabled_count++] = compiler->passes[i].name;
    return options;
}

// What is planned from here on, and verified, is the quantised graph.
static HoloStatus quantise(Compile *c)
{
    const char     *disabled[64];
    HoloPassOptions options = pass_options(c, disabled);
    HoloGraph     **graph   = &c->source->model.graph;
    if (!c->compiler->quantize) return HOLO_OK;
    HOLO_TRY(holo_compiler_quantize(c->compiler, *graph, &options, c->pool, c->box, graph, &c->quantised, c->error));
    dump(c, "quantize", *graph);
    return HOLO_OK;
}

static HoloStatus optimise(Compile *c)
{
    const HoloCompiler *compiler = c->compiler;
    HoloGraph          *graph    = c->source->model.graph;
    const char         *disabled[64];
    HoloChanges         all = {.limit = INT_MAX}, *changes = compiler->changes ? compiler->changes : &all;
    HoloPassOptions     options = pass_options(c, disabled);
    options.changes             = changes;
    options.notes               = &c->notes;
    options.after               = pass_after;
    options.context             = c;
    int count                   = 0;
    while (compiler->passes[count].name) count++;
    HoloPassReport *passes = HOLO_NEW(&c->box->arena, HoloPassReport, count + 1);
    if (!passes) return holo_fail_memory(c->error);
    for (int i = 0; i < count; i++) passes[i].name = compiler->passes[i].name;
    c->box->report.passes     = passes;
    c->box->report.pass_count = count;
    c->pass_start             = holo_time_now();
    HOLO_TRY(holo_passes_run(graph, &options, c->error));
    c->box->report.nodes_after  = (uint32_t)graph->node_count;
    c->box->report.table_budget = compiler->table_budget;
    if (!compiler->no_tables) c->box->report.table_bytes = compiler->table_budget - changes->table_room;
    dump(c, "plan", graph);
    return HOLO_OK;
}

static HoloStatus materialise(Compile *c)
{
    HoloReport *r = &c->box->report;
    HoloDomain *domains;
    HOLO_TRY(holo_compiler_domains(c->compiler, c->source->model.graph, &c->box->arena, &domains, c->error));
    HoloMaterialise m = {
        .is_exact     = c->compiler->numeric == HOLO_EXACT,
        .pool         = c->pool,
        .domains      = domains,
        .domain_count = c->compiler->domain_count,
        .room         = r->table_budget - r->table_bytes,
        .notes        = &c->notes,
        .error        = c->error,
    };
    c->notes.is_late = false;
    if (c->compiler->no_tables) return HOLO_OK;
    HOLO_TRY(holo_materialise_rows(c->source->model.graph, &m));
    HOLO_TRY(holo_materialise_few(c->source->model.graph, &m));
    r->tables += m.tables;
    r->table_bytes = r->table_budget - m.room;
    r->nodes_after = (uint32_t)c->source->model.graph->node_count;
    if (m.tables) dump(c, "materialise", c->source->model.graph);
    return HOLO_OK;
}

static void tune_progress(void *context, double fraction)
{
    holo_compiler_progress(((Compile *)context)->compiler, "tuning", 0.1 + 0.05 * fraction);
}

static HoloStatus tune(Compile *c)
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
    HOLO_TRY(holo_tune(c->source->model.graph, &options, &c->box->arena, &tuning, c->error));
    r->tuned        = true;
    r->tune_count   = tuning.count;
    r->tunes        = tuning.reports;
    r->tune_open    = tuning.open;
    r->tune_seconds = holo_time_now() - start;
    return HOLO_OK;
}

static HoloStatus plan(Compile *c)
{
    HoloReport *r = &c->box->report;
    HOLO_TRY(holo_plan_create(c->source->model.graph, &c->plan, c->error));
    if (c->compiler->numeric == HOLO_EXACT) c->plan.flags_must |= HOLO_FLAG_EXACT;
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
                                              .why  = "what is stored of it has the bytes of another: it is there once",
                                              .count = r->deduplicated,
                                              .bytes = r->deduplicated_bytes});
    return HOLO_OK;
}

// ---- metadata. Only what depends on the model and the choices: the same compile gives the same bytes.

static const char unknown_yet[] = "------------------------"; // room for what verification finds

static HoloStatus meta_number(Compile *c, const char *key, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return holo_plan_meta(&c->plan, key, text, c->error);
}

static HoloStatus meta_source(Compile *c)
{
    const HoloModelSource *m         = &c->source->model;
    char                   text[512] = "", hash[40];
    int                    at        = 0;
    for (int i = 0; i < m->opset_count && at < 400; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%.60s %" PRId64, i ? ", " : "",
                       *m->opset[i].domain ? m->opset[i].domain : "ai.onnx", m->opset[i].version);
    snprintf(hash, sizeof hash, "%016" PRIx64 "%016" PRIx64, m->hash[1], m->hash[0]);
    HOLO_TRY(holo_plan_meta(&c->plan, "producer", m->producer ? m->producer : "", c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "source.format", m->format, c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "source.opset", text, c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "source.hash", hash, c->error));
    HOLO_TRY(meta_number(c, "source.bytes", m->bytes));
    for (int i = 0; i < m->meta_count; i++) {
        snprintf(text, sizeof text, "model.%.500s", m->meta[i].key);
        HOLO_TRY(holo_plan_meta(&c->plan, text, m->meta[i].value, c->error));
    }
    return HOLO_OK;
}

static HoloStatus meta_tune(Compile *c)
{
    const HoloReport *r       = &c->box->report;
    uint64_t          changed = 0;
    if (!r->tuned) return HOLO_OK;
    for (int i = 0; i < r->tune_count; i++) changed += r->tunes[i].chosen != 0;
    HOLO_TRY(meta_number(c, "tune.measured", (uint64_t)r->tune_count));
    return meta_number(c, "tune.changed", changed);
}

static HoloStatus meta_quantise(Compile *c)
{
    const HoloQuantizationReport *q = &c->box->report.quantization;
    char                          text[32];
    if (!q->kind) return HOLO_OK;
    snprintf(text, sizeof text, "%.6f", q->accuracy);
    HOLO_TRY(holo_plan_meta(&c->plan, "quantize", q->kind, c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "quantize.accuracy", text, c->error));
    HOLO_TRY(meta_number(c, "quantize.layers", (uint64_t)q->layer_count));
    return meta_number(c, "quantize.narrow", (uint64_t)q->narrow_count);
}

static HoloStatus meta_add(Compile *c)
{
    const HoloReport *r = &c->box->report;
    HOLO_TRY(holo_plan_meta(&c->plan, "compiler", "hologram", c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "compiler.version", holo_version(), c->error));
    HOLO_TRY(meta_source(c));
    HOLO_TRY(holo_plan_meta(&c->plan, "numeric", c->compiler->numeric == HOLO_EXACT ? "exact" : "fused", c->error));
    HOLO_TRY(meta_number(c, "nodes.before", r->nodes_before));
    HOLO_TRY(meta_number(c, "nodes.after", r->nodes_after));
    uint64_t flops = holo_plan_flops(c->source->model.graph);
    if (flops) HOLO_TRY(meta_number(c, "flops", flops));
    for (int i = 0; i < r->pass_count; i++) {
        char key[64];
        snprintf(key, sizeof key, "pass.%s", r->passes[i].name);
        HOLO_TRY(meta_number(c, key, (uint64_t)r->passes[i].changes));
    }
    HOLO_TRY(meta_tune(c));
    HOLO_TRY(meta_quantise(c));
    HOLO_TRY(holo_plan_meta(&c->plan, "verify.status", unknown_yet, c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "verify.checked", unknown_yet, c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "verify.worst_relative", unknown_yet, c->error));
    return holo_plan_meta(&c->plan, "verify.worst_absolute", unknown_yet, c->error);
}

// ---- writing and verifying

// Pages of the model's files that are not needed for now are given back: memory stays below the model's size.
static void release_of(const HoloModelSource *model, const void *data, size_t size)
{
    for (int i = 0; i < model->file_count; i++) {
        const HoloMapping *file = model->files[i];
        if ((const char *)data >= (const char *)file->data &&
            (const char *)data < (const char *)file->data + file->size)
            holo_file_release(file, data, size);
    }
}

static void write_release(void *context, const void *data, size_t size)
{
    release_of(&((Compile *)context)->source->model, data, size);
}

static void write_progress(void *context, double fraction)
{
    holo_compiler_progress(((Compile *)context)->compiler, "writing", 0.15 + 0.35 * fraction);
}

static void write_parallel(void *context, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg)
{
    holo_pool_run(((Compile *)context)->pool, count, work, arg);
}

static HoloStatus write_archive(Compile *c)
{
    HoloArchiveOptions options = {
        .progress = write_progress, .release = write_release, .parallel = write_parallel, .context = c};
    HOLO_TRY(meta_add(c));
    HOLO_TRY(holo_plan_notes(&c->plan, &c->notes, c->error));
    return holo_archive_write(&c->plan, c->file, &options, &c->box->report.archive_bytes, c->error);
}

typedef struct Verifying {
    const HoloCompiler    *compiler;
    const HoloModelSource *model;
} Verifying;

static void verify_progress(void *context, double fraction)
{
    holo_compiler_progress(((Verifying *)context)->compiler, "verifying", 0.5 + 0.45 * fraction);
}

static void verify_release(void *context, const void *data, size_t size)
{
    release_of(((Verifying *)context)->model, data, size);
}

static HoloStatus verify_with(Compile *c, const HoloModelSource *source, const HoloGraph *reference, HoloGraph *trial)
{
    Verifying         context = {c->compiler, source};
    HoloVerifyOptions options = {
        .relative = c->compiler->relative,
        .absolute = c->compiler->absolute,
        .pool     = c->pool,
        .trial    = trial,
        .progress = verify_progress,
        .release  = verify_release,
        .context  = &context,
    };
    HoloMapping mapping;
    HoloModel  *model;
    HOLO_TRY(holo_compiler_domain_inputs(c->compiler, reference, &c->box->arena, &options.inputs, c->error));
    HOLO_TRY(holo_file_writer_map(c->file, &mapping, c->error));
    HOLO_TRY(holo_model_open_mapping(&mapping, &model, c->error));
    HoloStatus status = holo_verify(reference, model, &options, &c->verified, c->error);
    holo_model_close(model);
    return status;
}

// The passes have changed the imported graph, so the reference is the model read once more.
static HoloStatus verify_model(Compile *c)
{
    HoloSource *reference = NULL, *trial = NULL;
    HoloStatus  status = holo_compiler_import_reference(c->compiler, c->path, &reference, &trial, c->error);
    if (!status) status = verify_with(c, &reference->model, reference->model.graph, trial ? trial->model.graph : NULL);
    holo_source_close(trial);
    holo_source_close(reference);
    return status;
}

// How far the quantised model is from the other was measured before.
static HoloStatus verify_quantised(Compile *c)
{
    HoloGraph *trial = NULL;
    HOLO_TRY(holo_graph_infer(c->quantised, c->error));
    HOLO_TRY(holo_compiler_take_integers(c->compiler, c->quantised, c->error));
    if (holo_compiler_has_symbols(c->quantised) && !(trial = holo_graph_copy(c->quantised, c->quantised->arena)))
        return holo_fail_memory(c->error);
    return verify_with(c, &c->source->model, c->quantised, trial);
}

static HoloStatus verify(Compile *c)
{
    if (!c->compiler->verify) return HOLO_OK;
    return c->quantised ? verify_quantised(c) : verify_model(c);
}

static HoloStatus record(Compile *c)
{
    HoloReport             *r = &c->box->report;
    const HoloVerifyResult *v = &c->verified;
    char                    checked[32], relative[32], absolute[32];
    snprintf(checked, sizeof checked, "%" PRIu64, v->checked);
    snprintf(relative, sizeof relative, "%.3e", v->worst_relative);
    snprintf(absolute, sizeof absolute, "%.3e", v->worst_absolute);
    const char *status = v->was_done ? "passed" : c->compiler->verify ? "not possible" : "not asked for";
    HOLO_TRY(holo_archive_set_meta(&c->plan, c->file, "verify.status", status, c->error));
    HOLO_TRY(holo_archive_set_meta(&c->plan, c->file, "verify.checked", checked, c->error));
    HOLO_TRY(holo_archive_set_meta(&c->plan, c->file, "verify.worst_relative", relative, c->error));
    HOLO_TRY(holo_archive_set_meta(&c->plan, c->file, "verify.worst_absolute", absolute, c->error));
    r->verified       = v->was_done;
    r->checked        = v->checked;
    r->worst_absolute = v->worst_absolute;
    r->worst_relative = v->worst_relative;
    r->verify_seconds = v->seconds;
    if (*v->worst_at) r->worst_at = holo_arena_text(&c->box->arena, v->worst_at, strlen(v->worst_at));
    if (*v->why_not) r->verify_why_not = holo_arena_text(&c->box->arena, v->why_not, strlen(v->why_not));
    return HOLO_OK;
}

// ---- the memo: the finished plan runs on the inputs given, and the file is written once more, with what it gave

static HoloStatus patterns_learn(Compile *c, const HoloModel *model, HoloSession *session)
{
    HoloReport     *r = &c->box->report;
    HoloFileWriter *file;
    uint64_t        size;
    HOLO_TRY(holo_session_set_memo(session, SIZE_MAX, c->error));
    for (int i = 0; i < c->compiler->pattern_count; i++) {
        int count;
        HOLO_TRY(holo_session_learn(session, model, c->compiler->patterns[i], &count, c->error));
        r->patterns += (uint32_t)count;
    }
    HOLO_TRY(holo_file_writer_open(c->out_path, &file, c->error));
    HoloStatus status = holo_memo_write(session, file, &size, c->error);
    HoloStatus closed = holo_file_writer_close(status ? file : c->file, false, c->error);
    if (status) return status;
    c->file          = file;
    r->memo_bytes    = size - r->archive_bytes;
    r->archive_bytes = size;
    return closed;
}

static HoloStatus memorise(Compile *c)
{
    if (!c->compiler->pattern_count) return HOLO_OK;
    HoloMapping  mapping;
    HoloModel   *model;
    HoloSession *session;
    holo_compiler_progress(c->compiler, "running patterns", 0.95);
    HOLO_TRY(holo_file_writer_map(c->file, &mapping, c->error));
    HOLO_TRY(holo_model_open_mapping(&mapping, &model, c->error));
    HoloStatus status = holo_session_create(model, c->pool, &session, c->error);
    if (!status) {
        status = patterns_learn(c, model, session);
        holo_session_destroy(session);
    }
    holo_model_close(model);
    return status;
}

// ---- the two ways in

static HoloStatus compile_begin(Compile *c, const char *out_path)
{
    c->start    = holo_time_now();
    c->out_path = out_path;
    c->box      = holo_realloc(NULL, sizeof *c->box);
    if (!c->box) return holo_fail_memory(c->error);
    *c->box = (HoloReportBox){0};
    if (holo_pool_create(c->compiler->threads, &c->pool)) return holo_fail_memory(c->error);
    return holo_file_writer_open(out_path, &c->file, c->error);
}

static void compile_end(Compile *c, HoloStatus status, HoloReport **out_report)
{
    holo_pool_destroy(c->pool);
    holo_plan_deinit(&c->plan);
    holo_notes_deinit(&c->notes);
    holo_source_close(c->source);
    if (!status && out_report)
        *out_report = &c->box->report;
    else if (c->box)
        holo_report_destroy(&c->box->report);
}

HoloStatus holo_compile_file(const HoloCompiler *compiler, const char *path, const char *out_path,
                             HoloReport **out_report, HoloError *error)
{
    HoloCompiler defaults;
    holo_compiler_defaults(&defaults);
    Compile c = {.compiler = compiler ? compiler : &defaults, .path = path, .error = error};
    if (out_report) *out_report = NULL;
    HoloStatus status = compile_begin(&c, out_path);
    if (!status) status = compile(&c);
    if (c.file) {
        HoloStatus closed = holo_file_writer_close(c.file, !status, error);
        if (!status) status = closed;
    }
    compile_end(&c, status, out_report);
    return status;
}

// The file has no name any more when this returns, but lives as long as it is mapped.
static HoloStatus model_take(Compile *c, HoloModel **out_model)
{
    HoloMapping mapping;
    HOLO_TRY(holo_file_writer_map(c->file, &mapping, c->error));
    return holo_model_open_mapping(&mapping, out_model, c->error);
}

HoloStatus holo_compile_model(const HoloCompiler *compiler, const char *path, HoloModel **out_model,
                              HoloReport **out_report, HoloError *error)
{
    HoloCompiler defaults;
    holo_compiler_defaults(&defaults);
    Compile c  = {.compiler = compiler ? compiler : &defaults, .path = path, .error = error};
    *out_model = NULL;
    if (out_report) *out_report = NULL;
    const char *folder = getenv("TMPDIR");
    char        temporary[4096];
    snprintf(temporary, sizeof temporary, "%s/hologram-%ld.holo", folder && *folder ? folder : "/tmp", (long)getpid());
    HoloStatus status = compile_begin(&c, temporary);
    if (!status) status = compile(&c);
    if (!status) status = model_take(&c, out_model);
    if (c.file && holo_file_writer_close(c.file, false, NULL)) status = status ? status : HOLO_NO_FILE;
    compile_end(&c, status, out_report);
    return status;
}
