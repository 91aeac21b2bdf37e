// compile_verify.c - the stages of a compile after the archive is written: verification and the memo.
#include "api/compiling.h"
#include "api/domains.h"
#include "api/input_sets.h"
#include "archive/archive.h"
#include "base/system.h"
#include "runtime/memo/memo.h"
#include "runtime/model.h"
#include "runtime/sharing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Verifying {
    HoloCompile      *compile;
    const HoloGraph  *reference;
    const HoloModel  *model;
    HoloVerifyOptions options;
    HoloVerifyResult *result;
    int               samples; // given samples that were compared
} Verifying;

static void verify_progress(void *context, double fraction)
{
    holo_compiler_progress(((Verifying *)context)->compile->compiler, "verifying", 0.5 + 0.45 * fraction);
}

static void verify_release(void *context, const void *data, size_t size)
{
    holo_compile_release(&((Verifying *)context)->compile->source->model, data, size);
}

// ---- given inputs

static HoloStatus sample_verify(void *context, HoloInputSet *set, HoloError *error)
{
    Verifying        *v       = context;
    HoloVerifyResult *r       = v->result;
    HoloVerifyOptions options = v->options;
    HoloError         why     = {0};
    HoloArena         arena   = {0};
    // The reference has the states as inputs, too; they are left out.
    const HoloTensor **inputs = HOLO_NEW(&arena, const HoloTensor *, v->reference->input_count + 1);
    if (!inputs) return holo_fail_memory(error);
    memcpy(inputs, set->tensor, (size_t)holo_graph_given_count(v->reference) * sizeof *inputs);
    options.inputs    = inputs;
    HoloStatus status = holo_verify(v->reference, v->model, &options, r, &why);
    holo_arena_deinit(&arena);
    if (!status && !r->was_done && !r->is_over_limit) status = holo_fail(&why, HOLO_BAD_INPUT, "%s", r->why_not);
    if (status) return holo_fail(error, status, "sample %s: %s", set->path, why.text);
    v->samples++;
    return HOLO_OK;
}

// The input that "NAME=FILE" names, and its file; -1: the text is only a path.
static int named_input(const HoloInputNames *names, const char *text, const char **out_path)
{
    for (int i = 0; i < names->count; i++) {
        size_t size = strlen(names->name[i]);
        if (strncmp(text, names->name[i], size) || text[size] != '=') continue;
        *out_path = text + size + 1;
        return i;
    }
    return -1;
}

// All files that are given by the names of inputs together are one sample.
static HoloStatus named_read(const HoloCompiler *compiler, const HoloInputNames *names, HoloInputSet *set,
                             HoloError *error)
{
    const char *path;
    for (int i = 0; i < compiler->verify_count; i++) {
        int at = named_input(names, compiler->verify_with[i], &path);
        if (at < 0) continue;
        if (set->files[at])
            return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s is given twice for verification", names->name[at]);
        HOLO_TRY(holo_tensors_read(path, names->type[at], &set->files[at], error));
        const HoloTensors *file = set->files[at];
        set->tensor[at]         = holo_tensors_find(file, names->name[at]);
        if (!set->tensor[at] && holo_tensors_count(file) == 1) set->tensor[at] = holo_tensors_get(file, 0, NULL);
        if (!set->tensor[at])
            return holo_fail(error, HOLO_BAD_INPUT, "%s has no tensor called %s", path, names->name[at]);
        set->path = path;
    }
    for (int i = 0; i < names->count && set->path; i++)
        if (!set->tensor[i] && names->type[i]->kind != HOLO_OPTIONAL && !names->may_miss[i])
            return holo_fail(error, HOLO_BAD_INPUT, "verification needs all inputs: input %s is missing",
                             names->name[i]);
    return HOLO_OK;
}

static HoloStatus named_verify(Verifying *v, const HoloInputNames *names, HoloError *error)
{
    HoloArena    arena = {0};
    HoloInputSet set   = {.tensor = HOLO_NEW(&arena, const HoloTensor *, names->count + 1),
                          .files  = HOLO_NEW(&arena, HoloTensors *, names->count + 1)};
    HoloStatus   status =
        set.tensor && set.files ? named_read(v->compile->compiler, names, &set, error) : holo_fail_memory(error);
    if (!status && set.path) status = sample_verify(v, &set, error);
    for (int i = 0; i < names->count && set.files; i++) holo_tensors_destroy(set.files[i]);
    holo_arena_deinit(&arena);
    return status;
}

// A file of a few bytes may ask for gigabytes. So unless the user set a limit, verification takes memory in proportion
// to the model.
static uint64_t memory_of(const HoloCompile *c)
{
    uint64_t left = holo_memory_left(), share = (UINT64_C(2) << 30) + 16 * c->box->report.model_bytes;
    return !c->compiler->memory_limit && share < left ? share : left;
}

// Reads sets of inputs at a path. What is no path may be NAME=FILE with a wrong name.
static HoloStatus sets_verify(Verifying *v, const HoloInputNames *names, const char *text, HoloError *error)
{
    const char *equals = strchr(text, '=');
    if (equals && !holo_path_exists(text))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no input %.*s to verify with, and no file or folder '%s'",
                         (int)(equals - text), text, text);
    return holo_input_sets_read(names, text, "sample", sample_verify, v, error);
}

static HoloStatus samples_verify(Verifying *v)
{
    HoloCompile        *c        = v->compile;
    const HoloCompiler *compiler = c->compiler;
    HoloInputNames      names;
    const char         *path;
    if (!holo_input_names(v->model, &c->box->arena, &names)) return holo_fail_memory(c->error);
    HOLO_TRY(named_verify(v, &names, c->error));
    for (int i = 0; i < compiler->verify_count; i++)
        if (named_input(&names, compiler->verify_with[i], &path) < 0)
            HOLO_TRY(sets_verify(v, &names, compiler->verify_with[i], c->error));
    snprintf(v->result->inputs, sizeof v->result->inputs, "%d sample%s given", v->samples, v->samples == 1 ? "" : "s");
    return HOLO_OK;
}

// ---- the plan against the model

// What numbers of 8 or 11 bits may change, of the largest number of an output.
static const double narrow_relative = 2e-2;

static bool is_narrow(HoloNumeric numeric)
{
    return numeric == HOLO_NUMERIC_BF16 || numeric == HOLO_NUMERIC_F16 || numeric == HOLO_NUMERIC_TF32;
}

// Models may be compiled for machines of another kind than this one. Then they cannot run here.
static bool devices_are_here(const HoloModel *model, char *why_not, size_t room)
{
    HoloDeviceSetup ignored;
    for (uint32_t i = 1; i < model->device_count; i++) {
        HoloError why = {0};
        if (!holo_sharing_setup(model, i, &ignored, &why) || why.status != HOLO_UNSUPPORTED) continue;
        snprintf(why_not, room, "it cannot run here: %.200s", why.text);
        return false;
    }
    return true;
}

// How far results may be from those of the model, of the largest number of an output.
static double relative_of(const HoloCompiler *compiler)
{
    double relative = compiler->relative;
    return is_narrow(compiler->numeric) && relative > 0 ? fmax(relative, narrow_relative) : relative;
}

// Compares one plan of the entry, that of `model`, if it can run here. `what` is for messages.
static HoloStatus plan_verify(Verifying *v, const HoloModel *model, const char *what)
{
    HoloCompile *c     = v->compile;
    bool         given = c->compiler->verify_count && c->entry == c->entries; // samples are for the first entry
    HoloError    why   = {0};
    v->model           = model;
    v->samples         = 0;
    if (!devices_are_here(model, v->result->why_not, sizeof v->result->why_not)) return HOLO_OK;
    HoloStatus status = given ? samples_verify(v) : holo_verify(v->reference, model, &v->options, v->result, &why);
    if (!status || given) return status;
    return holo_fail(c->error, status, "%s%s%s%s%s", *c->entry->name ? "entry " : "", c->entry->name,
                     *c->entry->name ? ": " : "", what, why.text);
}

// First the plan for the CPU, if there are two, then the one for devices.
static HoloStatus plans_verify(Verifying *v, HoloModel *model)
{
    HoloCompile     *c     = v->compile;
    const HoloModel *entry = holo_model_entry(model, c->entry->name);
    v->result              = &c->verified;
    v->options.relative    = relative_of(c->compiler);
    if (c->twins) HOLO_TRY(holo_model_set_device(model, holo_target_cpu.name, c->error));
    HOLO_TRY(plan_verify(v, entry, ""));
    if (!c->twins) return HOLO_OK;
    if (!entry->twin) return holo_fail(c->error, HOLO_INTERNAL, "the archive lacks its plans for devices");
    v->result           = &c->twins_verified;
    v->options.relative = relative_of(c->asked);
    return plan_verify(v, entry->twin, "the plan for devices: ");
}

static HoloStatus verify_with(HoloCompile *c, const HoloGraph *reference, HoloGraph *trial)
{
    HoloMapping mapping;
    HoloModel  *model;
    Verifying   v = {.compile = c, .reference = reference};
    v.options     = (HoloVerifyOptions){
            .absolute   = c->compiler->absolute,
            .pool       = c->pool,
            .trial      = trial,
            .memory     = memory_of(c),
            .plan_bytes = c->box->report.arena_bytes,
            .progress   = verify_progress,
            .release    = verify_release,
            .context    = &v,
    };
    if (c->entry == c->entries)
        HOLO_TRY(holo_compiler_domain_inputs(c->compiler, reference, &c->box->arena, &v.options.inputs, c->error));
    HOLO_TRY(holo_file_writer_map(c->file, &mapping, c->error));
    HOLO_TRY(holo_model_open_mapping(&mapping, &model, c->error));
    HoloStatus status = plans_verify(&v, model);
    holo_model_close(model);
    return status;
}

// The optimized graph, and its weights in other types, are freed first: nobody needs them any longer.
static HoloStatus verify_model(HoloCompile *c)
{
    HoloGraph        *graph = c->entry->graph, *trial;
    HoloCompileEntry *twin  = c->twins ? &c->twins[c->entry - c->entries] : NULL;
    holo_draft_destroy(c->entry->draft);
    c->entry->draft = NULL;
    if (twin) holo_draft_destroy(twin->draft);
    if (twin) twin->draft = NULL;
    HOLO_TRY(holo_compiler_judge(c->compiler, graph, &trial, c->error));
    return verify_with(c, graph, trial);
}

// How far the quantized model is from the original was measured before.
static HoloStatus verify_quantized(HoloCompile *c)
{
    HoloGraph *trial = NULL;
    HOLO_TRY(holo_graph_infer(c->entry->quantized, c->error));
    HOLO_TRY(holo_compiler_take_integers(c->compiler, c->entry->quantized, c->error));
    if (holo_compiler_has_symbols(c->entry->quantized) &&
        !(trial = holo_graph_copy(c->entry->quantized, c->entry->quantized->arena)))
        return holo_fail_memory(c->error);
    return verify_with(c, c->entry->quantized, trial);
}

// If verification exceeds the limit although the estimate did not, it is left out in the same way.
static HoloStatus verify_within(HoloCompile *c)
{
    HoloScope scope = {.account = holo_account_open(), .what = "verification"};
    if (!scope.account) return holo_fail_memory(c->error);
    holo_account_limit(scope.account, memory_of(c));
    holo_scope_enter(&scope);
    HoloStatus status = c->entry->quantized ? verify_quantized(c) : verify_model(c);
    holo_scope_leave(&scope);
    holo_account_close(scope.account);
    return status;
}

HoloStatus holo_compile_verify(HoloCompile *c)
{
    const HoloVerifyResult *v       = &c->verified;
    int                     outputs = v->outputs, nodes = v->nodes;
    if (!c->compiler->verify || (c->entry != c->entries && !v->was_done)) return HOLO_OK; // one that was not is enough
    HOLO_TRY(verify_within(c));
    c->verified.outputs += outputs;
    c->verified.nodes += nodes;
    if (c->compiler->strict && v->was_done && *v->left_out)
        return holo_fail(c->error, HOLO_REFUSED,
                         "the plan could not be verified: some outputs depend on random operators: %s", v->left_out);
    if (c->compiler->strict && !v->was_done)
        return holo_fail(c->error, HOLO_REFUSED, "the plan could not be verified: %s", v->why_not);
    if (c->compiler->strict && c->twins && !c->twins_verified.was_done)
        return holo_fail(c->error, HOLO_REFUSED, "the plan for devices could not be verified: %s",
                         c->twins_verified.why_not);
    return HOLO_OK;
}

// ---- what the archive and the report say about it

// The keys, and how much room each value gets: the archive is written before the values are known.
static const struct {
    const char *key;
    int         room;
} said[] = {
    {"verify.status", 31},  {"verify.checked", 31},   {"verify.worst_relative", 31}, {"verify.worst_absolute", 31},
    {"verify.inputs", 127}, {"verify.worst_at", 159}, {"verify.allowed", 31},        {"verify.why_not", 255},
};
enum { SAID_ROOM = 256 };

// Of the plans for devices, if there are such beside those for the CPU.
static const char twins_key[] = "verify.device";

static HoloStatus reserve(HoloCompile *c, const char *key, int room)
{
    char blank[SAID_ROOM];
    memset(blank, '-', sizeof blank);
    blank[room] = 0;
    return holo_plan_meta(&c->plan, key, blank, c->error);
}

HoloStatus holo_compile_reserve(HoloCompile *c)
{
    for (int i = 0; i < HOLO_COUNT(said); i++) HOLO_TRY(reserve(c, said[i].key, said[i].room));
    return c->twins ? reserve(c, twins_key, SAID_ROOM - 1) : HOLO_OK;
}

static const char *text_of(HoloCompile *c, const char *text)
{
    return *text ? holo_arena_text(&c->box->arena, text, strlen(text)) : NULL;
}

static void report_fill(HoloCompile *c)
{
    HoloReport             *r = &c->box->report;
    const HoloVerifyResult *v = &c->verified;
    r->verified               = v->was_done;
    r->checked                = v->checked;
    r->worst_absolute         = v->worst_absolute;
    r->worst_relative         = v->worst_relative;
    r->verify_seconds         = v->seconds;
    r->worst_at               = text_of(c, v->worst_at);
    r->verify_why_not         = v->was_done ? NULL : text_of(c, v->why_not);
    r->verify_inputs          = text_of(c, v->inputs);
    r->verify_left_out        = text_of(c, v->left_out);
    r->verify_over_limit      = v->is_over_limit;
    r->verify_outputs         = v->outputs;
    r->verify_nodes           = v->nodes;
    r->judged                 = v->judged;
    r->worst_top              = v->worst_top;
    r->allowed                = v->allowed;
    r->allowed_by             = text_of(c, v->allowed_by);
    r->device_verified        = c->twins_verified.was_done;
    r->device_why_not         = c->twins_verified.was_done ? NULL : text_of(c, c->twins_verified.why_not);
}

static HoloStatus twins_record(HoloCompile *c)
{
    const HoloVerifyResult *v = &c->twins_verified;
    char                    text[SAID_ROOM];
    snprintf(text, sizeof text, "%s%.230s",
             v->was_done           ? "passed"
             : c->compiler->verify ? "no: "
                                   : "not asked for",
             v->was_done ? "" : v->why_not);
    return holo_archive_set_meta(&c->plan, c->file, twins_key, text, c->error);
}

HoloStatus holo_compile_record(HoloCompile *c)
{
    const HoloVerifyResult *v      = &c->verified;
    const char             *status = v->was_done ? "passed" : c->compiler->verify ? "not possible" : "not asked for";
    char                    number[4][32];
    snprintf(number[0], sizeof number[0], "%" PRIu64, v->checked);
    snprintf(number[1], sizeof number[1], "%.3e", v->worst_relative);
    snprintf(number[2], sizeof number[2], "%.3e", v->worst_absolute);
    snprintf(number[3], sizeof number[3], "%.3e", v->allowed);
    const char *value[HOLO_COUNT(said)] = {
        status,    number[0],   number[1], number[2],
        v->inputs, v->worst_at, number[3], v->was_done ? v->left_out : v->why_not,
    };
    for (int i = 0; i < HOLO_COUNT(said); i++)
        HOLO_TRY(holo_archive_set_meta(&c->plan, c->file, said[i].key, value[i], c->error));
    if (c->twins) HOLO_TRY(twins_record(c));
    report_fill(c);
    return HOLO_OK;
}

// ---- the memo: the finished plan runs on the given inputs, and the file is written again with its answers

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
    HOLO_TRY(holo_compile_open(c, &file));
    HoloStatus status = holo_memo_write(session, file, &size, c->error);
    HoloStatus closed = holo_file_writer_close(status ? file : c->file, false, c->error);
    if (status) return status;
    c->file          = file;
    r->memo_bytes    = size - r->archive_bytes;
    r->archive_bytes = size;
    return closed;
}

HoloStatus holo_compile_memorize(HoloCompile *c)
{
    if (!c->compiler->pattern_count) return HOLO_OK;
    HoloMapping  mapping;
    HoloModel   *model;
    HoloSession *session;
    holo_compiler_progress(c->compiler, "running patterns", 0.95);
    HOLO_TRY(holo_file_writer_map(c->file, &mapping, c->error));
    HOLO_TRY(holo_model_open_mapping(&mapping, &model, c->error));
    HoloStatus status = c->twins ? holo_model_set_device(model, holo_target_cpu.name, c->error) : HOLO_OK;
    if (!status) status = holo_session_create(model, c->pool, &session, c->error);
    if (!status) {
        status = patterns_learn(c, model, session);
        holo_session_destroy(session);
    }
    holo_model_close(model);
    return status;
}
