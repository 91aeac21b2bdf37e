// compile.c - the whole compiler on one screen: import, quantize, optimize (the passes), materialize, lower, tune,
// plan, write, read a prefix, verify, memorize. The stages are in api/compile_*.c.
//
// The archive gets its name only when all stages have succeeded.
#include "api/compiling.h"
#include "runtime/model.h"

static const struct {
    HoloStatus (*run)(HoloCompile *c);
    enum {
        ONCE,
        EACH,
        TWINS
    } how;             // for the model as a whole; for each of its entries; for their twins for devices, too
    const char *words; // what it does
} stages[] = {
    {holo_compile_import, ONCE, "reading the model"},
    {holo_compile_quantize, TWINS, "quantizing"},
    {holo_compile_optimize, TWINS, "optimizing"},
    {holo_compile_materialize, TWINS, "making tables"},
    {holo_compile_lower, TWINS, "choosing kernels"},
    {holo_compile_tune, TWINS, "tuning"},
    {holo_compile_plan, ONCE, "planning"},
    {holo_compile_images, ONCE, "planning"},
    {holo_compile_write, ONCE, "writing the archive"},
    {holo_compile_prefix, ONCE, "reading the prefix"},
    {holo_compile_verify, EACH, "verifying"},
    {holo_compile_record, ONCE, "writing the archive"},
    {holo_compile_memorize, ONCE, "running patterns"},
};

// Whatever else failed because of it: a compile that was cancelled tells that alone.
static HoloStatus cancelled(const HoloCompile *c, const char *words)
{
    if (c->error) c->error->status = HOLO_OK;
    return holo_fail(c->error, HOLO_CANCELLED, "the compile was cancelled while %s", words);
}

static HoloStatus entries_run(HoloCompile *c, int stage, HoloCompileEntry *entries, int count)
{
    for (int i = 0; i < count; i++) {
        if (c->entry_count) c->entry = &entries[i];
        HoloStatus status = stages[stage].run(c);
        if (holo_stop_is_due(&c->stop)) return cancelled(c, stages[stage].words); // what it made may not be whole
        if (status) return status;
    }
    return HOLO_OK;
}

static HoloStatus stage_run(HoloCompile *c, int stage)
{
    HOLO_TRY(entries_run(c, stage, c->entries, stages[stage].how == ONCE ? 1 : c->entry_count));
    if (!c->twins || stages[stage].how != TWINS) return HOLO_OK;
    const HoloCompiler *host = c->compiler;
    c->compiler              = c->asked;
    c->is_twin               = true;
    HoloStatus status        = entries_run(c, stage, c->twins, c->entry_count);
    c->compiler              = host;
    c->is_twin               = false;
    return status;
}

static HoloStatus compile(HoloCompile *c)
{
    for (int i = 0; i < HOLO_COUNT(stages); i++) HOLO_TRY(stage_run(c, i));
    c->box->report.seconds = holo_time_now() - c->start;
    holo_compiler_progress(c->compiler, "done", 1);
    return HOLO_OK;
}

// ---- the three entry points

// If plans for the CPU and for devices are wanted, the entries are compiled for the CPU, and then their twins.
static HoloStatus host_begin(HoloCompile *c)
{
    HoloCompiler *host;
    c->asked = c->compiler;
    if (!c->asked->has_host) return HOLO_OK;
    c->compiler = host = HOLO_NEW(&c->box->arena, HoloCompiler, 1);
    if (!host) return holo_fail_memory(c->error);
    *host          = *c->asked;
    host->targets  = holo_targets_cpu;
    host->numeric  = holo_compiler_host_numeric(c->asked);
    host->has_host = false;
    return HOLO_OK;
}

static HoloStatus compile_begin(HoloCompile *c, const char *out_path)
{
    c->start    = holo_time_now();
    c->out_path = out_path;
    holo_compiler_stop(c->compiler, &c->stop);
    c->scope         = (HoloScope){.what = "model", .name = c->path, .stop = &c->stop};
    c->scope.account = holo_context_account(c->compiler->context);
    holo_scope_enter(&c->scope);
    HOLO_TRY(holo_compile_check(c));
    if (c->compiler->memory_limit) {
        c->account = holo_account_open();
        if (!c->account) return holo_fail_memory(c->error);
        holo_account_limit(c->account, c->compiler->memory_limit);
        c->scope.account = c->account;
    }
    c->box = holo_realloc(NULL, sizeof *c->box);
    if (!c->box) return holo_fail_memory(c->error);
    *c->box = (HoloReportBox){0};
    HOLO_TRY(host_begin(c));
    HOLO_TRY(holo_pool_create_in(NULL, c->compiler->threads, NULL, 0, &c->pool, c->error));
    return holo_compile_open(c, &c->file);
}

// Tells the context's log what happened.
static void compile_tell(const HoloCompile *c, HoloStatus status)
{
    const HoloReport *r = c->box ? &c->box->report : NULL;
    (void)holo_tell_failure(status, c->path, c->error);
    if (status || !r) return;
    holo_tell(HOLO_LOG_INFO, "compiled %s: %u nodes, %u steps, %s in %.3f s", c->path, r->nodes_before, r->steps,
              holo_size_text(r->archive_bytes).text, r->seconds);
    if (r->verify_why_not) holo_tell(HOLO_LOG_WARNING, "%s was not verified: %s", c->path, r->verify_why_not);
}

static void compile_end(HoloCompile *c, HoloStatus status, HoloReport **out_report)
{
    holo_pool_destroy(c->pool);
    holo_plan_deinit(&c->plan);
    holo_compile_entries_deinit(c);
    holo_notes_deinit(&c->notes);
    holo_source_close(c->source);
    compile_tell(c, status);
    if (!status && out_report)
        *out_report = &c->box->report;
    else if (c->box)
        holo_report_destroy(&c->box->report);
    holo_scope_leave(&c->scope);
    holo_account_close(c->account);
}

HoloStatus holo_compile_file(const HoloCompiler *compiler, const char *path, const char *out_path,
                             HoloReport **out_report, HoloError *error)
{
    HoloCompiler defaults;
    holo_compiler_defaults(&defaults);
    HoloCompile c = {.compiler = compiler ? compiler : &defaults, .path = path, .error = error};
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

static HoloStatus model_take(HoloCompile *c, HoloModel **out_model)
{
    HoloMapping mapping;
    HOLO_TRY(holo_file_writer_take(c->file, &mapping, c->error));
    HOLO_IN(holo_context_account(c->compiler->context)); // not the compile's account: the model outlives the compile
    HOLO_TRY(holo_model_open_mapping(&mapping, out_model, c->error));
    (*out_model)->account = holo_in_.account;
    return HOLO_OK;
}

static HoloStatus compile_model(HoloCompile *c, HoloModel **out_model, HoloReport **out_report)
{
    *out_model = NULL;
    if (out_report) *out_report = NULL;
    HoloStatus status = compile_begin(c, NULL);
    if (!status) status = compile(c);
    if (!status) status = model_take(c, out_model);
    if (c->file && holo_file_writer_close(c->file, false, NULL)) status = status ? status : HOLO_INTERNAL;
    compile_end(c, status, out_report);
    return status;
}

HoloStatus holo_compile_model(const HoloCompiler *compiler, const char *path, HoloModel **out_model,
                              HoloReport **out_report, HoloError *error)
{
    HoloCompiler defaults;
    holo_compiler_defaults(&defaults);
    HoloCompile c = {.compiler = compiler ? compiler : &defaults, .path = path, .error = error};
    return compile_model(&c, out_model, out_report);
}

HoloStatus holo_compile_memory(const HoloCompiler *compiler, const void *bytes, size_t size, HoloModel **out_model,
                               HoloReport **out_report, HoloError *error)
{
    HoloCompiler defaults;
    holo_compiler_defaults(&defaults);
    HoloCompile c = {.compiler = compiler ? compiler : &defaults, .path = "in memory", .error = error};
    c.bytes       = (HoloString){size ? bytes : "", size};
    return compile_model(&c, out_model, out_report);
}
