// compile_verify.c - the stages of a compile behind the archive: the proof that it agrees with its model, and the memo.
#include "api/compiling.h"
#include "api/domains.h"
#include "archive/archive.h"
#include "runtime/memo.h"
#include "runtime/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    holo_compile_release(((Verifying *)context)->model, data, size);
}

static HoloStatus verify_with(HoloCompile *c, const HoloModelSource *source, const HoloGraph *reference,
                              HoloGraph *trial)
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
static HoloStatus verify_model(HoloCompile *c)
{
    HoloSource *reference = NULL, *trial = NULL;
    HoloStatus  status = holo_compiler_import_reference(c->compiler, c->path, &reference, &trial, c->error);
    if (!status) status = verify_with(c, &reference->model, reference->model.graph, trial ? trial->model.graph : NULL);
    holo_source_close(trial);
    holo_source_close(reference);
    return status;
}

// How far the quantised model is from the other was measured before.
static HoloStatus verify_quantised(HoloCompile *c)
{
    HoloGraph *trial = NULL;
    HOLO_TRY(holo_graph_infer(c->quantised, c->error));
    HOLO_TRY(holo_compiler_take_integers(c->compiler, c->quantised, c->error));
    if (holo_compiler_has_symbols(c->quantised) && !(trial = holo_graph_copy(c->quantised, c->quantised->arena)))
        return holo_fail_memory(c->error);
    return verify_with(c, &c->source->model, c->quantised, trial);
}

HoloStatus holo_compile_verify(HoloCompile *c)
{
    if (!c->compiler->verify) return HOLO_OK;
    return c->quantised ? verify_quantised(c) : verify_model(c);
}

HoloStatus holo_compile_record(HoloCompile *c)
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

static HoloStatus patterns_learn(HoloCompile *c, const HoloModel *model, HoloSession *session)
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

HoloStatus holo_compile_memorise(HoloCompile *c)
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
