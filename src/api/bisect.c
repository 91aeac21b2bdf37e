// bisect.c - finds the change of a pass that makes a plan differ from its model.
//
// Passes stop after any given number of changes (HoloChanges), and the changes up to there are the same as without a
// limit. So the search starts with a plan that agrees and one that differs, and narrows the range until one change lies
// between them. A plan that cannot be made or run counts as one that differs. It does not look into what a change does.
#include "api/quantizing.h"
#include "api/source.h"
#include "verify/verify.h"

#include "base/files.h"
#include "base/memory.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { CULPRITS_MAX = 64 };

typedef struct Box {         // owns the bisection's memory
    HoloBisection bisection; // first, so that a pointer to a bisection is a pointer to its box
    HoloArena     arena;
    HoloCulprit   culprits[CULPRITS_MAX];
} Box;

typedef struct Bisect {
    HoloCompiler      compiler; // a copy; passes that are found guilty are disabled in it
    const char       *path;
    HoloSource       *reference;
    HoloGraph        *trial;
    HoloPool         *pool;
    HoloVerifyOptions options;
    HoloVerifier     *verifier;
    Box              *box;
    HoloError        *error;
} Bisect;

typedef struct Trial { // a plan made with a limited number of changes, and compared
    HoloChanges      changes;
    HoloStatus       status; // HOLO_OK: it agrees
    HoloError        why;
    HoloVerifyResult result;
    int              of_pass[64]; // by number of a pass: how many changes it made
    char            *graph;       // as text; NULL: compiling failed before
} Trial;

// ---- one plan

static void take_graph(void *context, const char *stage, const char *text)
{
    Trial *trial = context;
    (void)stage;
    size_t size  = strlen(text) + 1;
    trial->graph = holo_realloc(NULL, size);
    if (trial->graph) memcpy(trial->graph, text, size);
}

static void trial_deinit(Trial *trial)
{
    holo_free(trial->graph);
    trial->graph = NULL;
}

static double off_by(const Trial *trial)
{
    return trial->status && trial->status != HOLO_VERIFY ? (double)NAN : trial->result.worst_relative;
}

// Fails only if the failure says nothing about the plan.
static HoloStatus trial_run(Bisect *b, int limit, Trial *out)
{
    HoloCompiler compiler = b->compiler;
    HoloModel   *model    = NULL;
    HoloReport  *report   = NULL;
    *out                  = (Trial){.changes = {.limit = limit}};
    compiler.verify       = false;
    compiler.changes      = &out->changes;
    compiler.dump_pass    = "plan";
    compiler.dump         = take_graph;
    compiler.dump_context = out;
    compiler.progress     = NULL;
    out->status           = holo_compile_model(&compiler, b->path, &model, &report, &out->why);
    for (int i = 0; report && i < report->pass_count && i < HOLO_COUNT(out->of_pass); i++)
        out->of_pass[i] = report->passes[i].changes;
    if (!out->status) out->status = holo_verifier_compare(b->verifier, model, &out->result, &out->why);
    holo_report_destroy(report);
    holo_model_close(model);
    b->box->bisection.trials++;
    holo_compiler_progress(&b->compiler, "comparing plans", 1 - 1 / (1.5 + 0.1 * b->box->bisection.trials));
    bool is_void = out->status == HOLO_NO_MEMORY || out->status == HOLO_NO_FILE || out->status == HOLO_CANCELLED;
    return is_void ? holo_fail(b->error, out->status, "%s", out->why.text) : HOLO_OK;
}

// ---- what a change did to the graph

static size_t line_size(const char *text)
{
    return strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
}

static bool has_line(const char *text, const char *line, size_t size)
{
    for (; *text; text += line_size(text))
        if (line_size(text) == size && !memcmp(text, line, size)) return true;
    return false;
}

// The lines of `text` that `other` does not have. The first line, the graph's head, is left out.
static const char *lines_of(Bisect *b, const char *text, const char *other)
{
    HoloText only = {0};
    for (const char *line = text ? text + line_size(text) : ""; *line && other; line += line_size(line))
        if (!has_line(other, line, line_size(line))) holo_text_add(&only, "%.*s", (int)line_size(line), line);
    const char *copy = only.data ? holo_arena_text(&b->box->arena, only.data, only.size) : "";
    holo_text_deinit(&only);
    return copy ? copy : "";
}

// ---- searching

static HoloStatus culprit_add(Bisect *b, const HoloCulprit *culprit, const char *message)
{
    HoloBisection *out = &b->box->bisection;
    if (out->culprit_count == CULPRITS_MAX) return holo_fail(b->error, HOLO_INTERNAL, "too many culprits");
    HoloCulprit *c = &b->box->culprits[out->culprit_count++];
    *c             = *culprit;
    c->message     = holo_arena_text(&b->box->arena, message, strlen(message));
    if (!c->removed) c->removed = c->added = "";
    return c->message ? HOLO_OK : holo_fail_memory(b->error);
}

static int pass_number(const Bisect *b, const char *name)
{
    int i = 0;
    while (b->compiler.passes[i].name && strcmp(b->compiler.passes[i].name, name)) i++;
    return i;
}

static HoloStatus change_blame(Bisect *b, const Trial *good, const Trial *bad)
{
    int         number  = pass_number(b, bad->changes.pass);
    HoloCulprit culprit = {
        .kind        = HOLO_CULPRIT_PASS,
        .pass        = b->compiler.passes[number].name,
        .pass_change = good->of_pass[number] + 1,
        .change      = good->changes.count + 1,
        .before      = off_by(good),
        .after       = off_by(bad),
        .removed     = lines_of(b, good->graph, bad->graph),
        .added       = lines_of(b, bad->graph, good->graph),
    };
    b->compiler.disabled |= UINT64_C(1) << number;
    return culprit_add(b, &culprit, bad->why.text);
}

// `good` agrees; `bad` has more changes and does not. On return they are one change apart.
static HoloStatus narrow(Bisect *b, Trial *good, Trial *bad)
{
    while (bad->changes.limit - good->changes.limit > 1) {
        Trial middle;
        HOLO_TRY(trial_run(b, good->changes.limit + (bad->changes.limit - good->changes.limit) / 2, &middle));
        Trial *same = middle.status ? bad : good;
        trial_deinit(same);
        *same = middle;
    }
    return HOLO_OK;
}

// *out_agrees: the plan with the remaining passes agrees. Else a culprit is added and its pass is disabled.
static HoloStatus search(Bisect *b, Trial *good, Trial *bad, bool *out_agrees)
{
    HoloBisection *out = &b->box->bisection;
    HOLO_TRY(trial_run(b, INT_MAX, bad));
    if (!out->culprit_count) out->change_count = bad->changes.count;
    *out_agrees = !bad->status;
    if (*out_agrees) {
        out->checked        = bad->result.checked;
        out->worst_absolute = bad->result.worst_absolute;
        out->worst_relative = bad->result.worst_relative;
        if (bad->result.worst_at[0])
            out->worst_at = holo_arena_text(&b->box->arena, bad->result.worst_at, strlen(bad->result.worst_at));
        return HOLO_OK;
    }
    HOLO_TRY(trial_run(b, 0, good));
    if (good->status == HOLO_VERIFY) {
        HoloCulprit plan = {.kind = HOLO_CULPRIT_PLAN, .after = off_by(good)};
        *out_agrees      = true; // no pass is the reason
        return culprit_add(b, &plan, good->why.text);
    }
    if (good->status) return holo_fail(b->error, good->status, "%s", good->why.text);
    // A pass that fails may not have counted its last change, so the limit includes one more.
    bad->changes.limit = bad->changes.count + 1;
    HOLO_TRY(narrow(b, good, bad));
    return change_blame(b, good, bad);
}

static HoloStatus search_all(Bisect *b)
{
    HoloStatus status = HOLO_OK;
    for (bool agrees = false; !status && !agrees;) {
        Trial good = {0}, bad = {0};
        status = search(b, &good, &bad, &agrees);
        trial_deinit(&good);
        trial_deinit(&bad);
    }
    return status;
}

// ---- the reference

static HoloStatus reference_make(Bisect *b)
{
    HoloVerifyResult result = {0};
    HoloCulprit      kernel = {.kind = HOLO_CULPRIT_KERNEL};
    HoloBisection   *out    = &b->box->bisection;
    HOLO_TRY(holo_pool_create_in(NULL, b->compiler.threads, NULL, 0, &b->pool, b->error));
    HoloCompiler usual;
    holo_compiler_defaults(&usual); // default tolerances: kernels round as they do
    b->options.relative = fmax(b->compiler.relative, usual.relative);
    b->options.absolute = fmax(b->compiler.absolute, usual.absolute);
    b->options.pool     = b->pool;
    b->options.trial    = b->trial;
    HoloError  why      = {0};
    HoloStatus status = holo_verifier_create(b->reference->model.graph, holo_kernels(b->compiler.numeric == HOLO_EXACT),
                                             &b->options, &b->verifier, &result, &why);
    if (status == HOLO_VERIFY) {
        kernel.after = result.worst_relative;
        return culprit_add(b, &kernel, why.text);
    }
    if (status) return holo_fail(b->error, status, "%s", why.text);
    if (b->verifier) holo_verifier_set_tolerance(b->verifier, b->compiler.relative, b->compiler.absolute);
    if (b->verifier) return HOLO_OK;
    out->why_not = holo_arena_text(&b->box->arena, result.why_not, strlen(result.why_not));
    return out->why_not ? HOLO_OK : holo_fail_memory(b->error);
}

static HoloStatus bisect(Bisect *b, const HoloTensor *const *inputs, int input_count)
{
    holo_compiler_progress(&b->compiler, "computing the model plainly", 0);
    HOLO_TRY(holo_compiler_import(&b->compiler, b->path, (HoloString){0}, &b->reference, b->error));
    HoloGraph *graph = b->reference->model.graph;
    HOLO_TRY(holo_graph_check_ops(graph, b->error));
    if (inputs) HOLO_TRY(holo_source_inputs(graph, &inputs, input_count, &b->box->arena, b->error));
    b->options.inputs = inputs;
    HOLO_TRY(holo_compiler_judge(&b->compiler, graph, &b->trial, b->error));
    HOLO_TRY(reference_make(b));
    return b->verifier ? search_all(b) : HOLO_OK;
}

HoloStatus holo_bisect(const HoloCompiler *compiler, const char *path, const HoloTensor *const *inputs, int input_count,
                       HoloBisection **out_bisection, HoloError *error)
{
    double start   = holo_time_now();
    *out_bisection = NULL;
    if (compiler && holo_compiler_quantizes(compiler))
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "bisect compares plans with the original model: remove the quantize options");
    Bisect b = {.path = path, .error = error, .box = holo_realloc(NULL, sizeof *b.box)};
    if (!b.box) return holo_fail_memory(error);
    *b.box                    = (Box){0};
    b.box->bisection.culprits = b.box->culprits;
    holo_compiler_defaults(&b.compiler);
    if (compiler) b.compiler = *compiler;
    HoloStop  stop;
    HoloScope scope = {.stop = &stop};
    holo_compiler_stop(&b.compiler, &stop);
    holo_scope_enter(&scope);
    HoloStatus status = bisect(&b, inputs, input_count);
    holo_scope_leave(&scope);
    holo_verifier_destroy(b.verifier);
    holo_pool_destroy(b.pool);
    holo_source_close(b.reference);
    b.box->bisection.seconds = holo_time_now() - start;
    if (status)
        holo_bisection_destroy(&b.box->bisection);
    else
        *out_bisection = &b.box->bisection;
    return status;
}

void holo_bisection_destroy(HoloBisection *bisection)
{
    if (!bisection) return;
    Box *box = (Box *)(void *)bisection;
    holo_arena_deinit(&box->arena);
    holo_free(box);
}
