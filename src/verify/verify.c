// verify.c - runs the plan and the reference on the same inputs and compares the results.
//
// It tries small numbers for symbolic sizes, and made-up inputs, until the reference accepts them. If verification
// would take too much memory or work, it is left out before it begins. Random numbers are the same on both sides; what is
// drawn by computed probabilities is not compared.
#include "verify/verify.h"

#include "base/files.h"
#include "base/memory.h"
#include "graph/facts.h"
#include "runtime/frame/frame.h"
#include "runtime/model.h"
#include "verify/compare.h"
#include "verify/estimate.h"
#include "verify/made_up.h"
#include "verify/products.h"
#include "verify/sizes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct HoloVerifier {
    const HoloGraph       *graph;
    HoloLowered            lowered;
    const HoloKernelTable *kernels;
    HoloVerifyOptions      options;
    HoloArena              outputs; // what is kept of them
    HoloArena              arena;   // owns what follows
    HoloTensor            *made;    // made-up inputs
    const HoloTensor     **inputs;
    HoloKept              *want;
    double                *spread; // how far roundings move each output, in all draws so far
    double                *drawn;  // the same, including the current draw
    int                    draws;
};

// ---- the sizes of inputs

// What symbolic sizes are set to: first what inference accepts; then, for models that reject that when they run, all
// the same number.
static const int64_t size_trials[] = {0, 1, 2, 4, 8, 16, 32, 64, 128, 224};

// Most elements of a value with made-up sizes: with many symbols, the larger trials come to gigabytes.
enum { TRIAL_ELEMENTS = 1 << 22, FOUND_ELEMENTS = 1 << 26 };

static int64_t size_at(const HoloGraph *graph, const int64_t *found, HoloDim d, int trial)
{
    if (!holo_dim_is_symbolic(d)) return d;
    const HoloDimNode *node = d == HOLO_DIM_UNKNOWN ? NULL : holo_dims_node(graph->dims, holo_dim_entry(d));
    if (!node || node->op != HOLO_DIM_SYMBOL || trial) return size_trials[trial] ? size_trials[trial] : 2;
    return found[node->a];
}

// Sets the types of the inputs. False, with the reason: an input is of a kind that cannot be made up.
static bool inputs_size(HoloVerifier *v, const int64_t *found, int trial, HoloVerifyResult *r)
{
    for (int i = 0; i < v->graph->input_count; i++) {
        const HoloValue *value = v->graph->inputs[i];
        HoloTensor      *t     = &v->made[i];
        *t                     = value->type;
        t->data                = NULL;
        if (t->kind != HOLO_TENSOR || t->rank < 0 || !t->dtype) {
            snprintf(r->why_not, sizeof r->why_not, "input %.200s has no shape to make up values for", value->name);
            return false;
        }
        for (int d = 0; d < t->rank; d++) t->dim[d] = size_at(v->graph, found, t->dim[d], trial);
        int64_t count = holo_tensor_count(t);
        if (count >= 0 && (!trial || count <= TRIAL_ELEMENTS)) continue;
        if (!*r->why_not) snprintf(r->why_not, sizeof r->why_not, "input %.200s is too large to make up", value->name);
        return false;
    }
    return true;
}

// The sizes of an input that is left out, as its default will have them.
static void default_size(const HoloGraph *graph, const HoloTensor *const *inputs, int i, HoloTensor *out)
{
    HoloArena  arena   = {0};
    HoloError  ignored = {0};
    HoloTensor t;
    if (!holo_graph_default(graph, inputs, i, &arena, &t, &ignored)) *out = t;
    holo_arena_deinit(&arena);
}

// The graph with numbers for sizes: the trial graph for these inputs, or the reference if it has numbers.
static const HoloGraph *graph_sized(HoloVerifier *v)
{
    HoloGraph *trial = v->options.trial;
    HoloError  why   = {0};
    int        done;
    for (int i = 0; trial && i < v->graph->input_count; i++) {
        const HoloTensor *given = v->options.inputs ? v->options.inputs[i] : &v->made[i];
        if (given)
            trial->inputs[i]->type = *given;
        else if (v->graph->inputs[i]->fill)
            default_size(v->graph, v->options.inputs, i, &trial->inputs[i]->type);
        trial->inputs[i]->type.data = NULL;
    }
    // What does not fit stays unknown: the reference will report it.
    if (trial && holo_graph_infer_count(trial, &done, &why)) return trial;
    return trial ? trial : v->graph;
}

// ---- limits

// False, with the reason: it would take too much.
static bool fits_limits(HoloVerifier *v, const HoloGraph *sized, HoloVerifyResult *r)
{
    const double work_max = 1e14; // an hour
    uint64_t     memory   = v->options.memory;
    HoloEstimate e;
    HoloError    why = {0};
    if (holo_verify_estimate(sized, &e, &why)) return true; // the next steps will find no memory either
    double bytes = fmax(e.bytes, (double)v->options.plan_bytes);
    if (memory && bytes > (double)memory) {
        r->is_over_limit = true;
        snprintf(r->why_not, sizeof r->why_not, "it would take %s of memory%s%.160s%s, and %s may be used",
                 holo_size_text(bytes < 1e18 ? (uint64_t)bytes : UINT64_MAX / 2).text,
                 e.most && bytes == e.bytes ? " at node " : "", e.most && bytes == e.bytes ? e.most->name : "",
                 e.most && bytes == e.bytes ? "" : " to run the plan", holo_size_text(memory).text);
        return false;
    }
    if (e.work > work_max) {
        r->is_over_limit = true;
        snprintf(r->why_not, sizeof r->why_not, "it would take %.1e multiplications, more than the limit of %.0e",
                 e.work, work_max);
    }
    return e.work <= work_max;
}

// ---- the reference

typedef struct Reference {
    HoloVerifier     *v;
    HoloProducts     *products;
    HoloVerifyResult *result;
    const HoloNode   *at;            // the node that began last
    bool              is_kernel_bad; // the first failure was a user's kernel that left its memory
    bool              is_done;
    HoloError         why; // the first failure
} Reference;

static HoloStatus output_keep(void *context, int output, const HoloTensor *value, HoloError *error)
{
    HoloVerifier *v = context;
    return holo_keep_output(value, &v->outputs, &v->want[output], error);
}

static HoloStatus reference_eval(Reference *ref, int64_t element_limit, HoloError *why)
{
    HoloVerifier    *v      = ref->v;
    HoloVerifyResult before = *ref->result;
    HoloArena        arena  = {0};
    HoloEvalOptions  eval   = holo_products_options(ref->products);
    eval.element_limit      = element_limit;
    eval.at                 = &ref->at;
    eval.give               = output_keep;
    eval.give_context       = v;
    ref->at                 = NULL;
    holo_arena_reset(&v->outputs, (HoloArenaMark){0});
    holo_products_restart(ref->products);
    HoloStatus status = holo_graph_eval(v->graph, v->inputs, NULL, &arena, &eval, why);
    holo_arena_deinit(&arena);
    ref->is_done = !status;
    if (status && status != HOLO_VERIFY) *ref->result = before;
    return status;
}

// Of all attempts, the first failure is reported.
static void reference_failed(Reference *ref, HoloStatus status, const HoloError *why)
{
    const HoloOp *op = ref->at ? ref->at->op : NULL;
    if (*ref->why.text) return;
    ref->why           = *why;
    ref->is_kernel_bad = status == HOLO_BAD_INPUT && op && holo_op_is(op, HOLO_ID_HOLOGRAM_Kernel);
}

// Runs on made-up inputs, until it accepts some.
static HoloStatus reference_try(Reference *ref, const HoloGraph *sized, int64_t element_limit, HoloError *error)
{
    HoloVerifier         *v      = ref->v;
    HoloArenaMark         mark   = holo_arena_mark(&v->arena);
    const HoloInputRange *ranges = holo_ranges_find(sized, &v->arena);
    HoloMadeUp            made;
    if (!ranges) return holo_fail_memory(error);
    HOLO_TRY(holo_made_up_init(&made, v->graph, ranges, &v->arena, error));
    for (int i = 0; i < v->graph->input_count; i++) {
        // What defaults mean together with states is not known here: numbers that were made up might not fit.
        bool is_left    = v->graph->inputs[i]->fill && holo_graph_has_states(v->graph);
        v->inputs[i]    = is_left ? NULL : &v->made[i];
        v->made[i].data = holo_arena_take(&v->arena, holo_tensor_bytes(&v->made[i]) + 1);
        if (!v->made[i].data) return holo_fail_memory(error);
    }
    HoloStatus status;
    do {
        HoloError why = {0};
        for (int i = 0; i < v->graph->input_count; i++) holo_made_up_fill(&made, i, &v->made[i]);
        status = reference_eval(ref, element_limit, &why);
        if (status == HOLO_VERIFY || status == HOLO_CANCELLED) return holo_fail(error, status, "%s", why.text);
        if (status) reference_failed(ref, status, &why);
    } while (status && status != HOLO_NO_MEMORY && holo_made_up_next(&made, ref->at));
    if (status)
        holo_arena_reset(&v->arena, mark);
    else
        holo_made_up_text(&made, ref->result->inputs, sizeof ref->result->inputs);
    return HOLO_OK;
}

static HoloStatus input_fail(const HoloGraph *graph, const HoloValue *input, const HoloTensor *has, HoloError *error)
{
    char        text[HOLO_MAX_RANK][64];
    const char *symbol[HOLO_MAX_RANK] = {NULL};
    for (int d = 0; d < input->type.rank; d++) {
        if (!holo_dim_is_symbolic(input->type.dim[d])) continue;
        holo_dim_print(graph->dims, input->type.dim[d], text[d], sizeof text[d]);
        symbol[d] = text[d];
    }
    return holo_fail(error, HOLO_BAD_INPUT, "input %s should be %s, but is %s", input->name,
                     holo_type_text(&input->type, symbol).text, holo_type_text(has, NULL).text);
}

// Are the inputs that are given of the types that the model declares?
static HoloStatus inputs_fit(const HoloVerifier *v, HoloError *error)
{
    for (int i = 0; i < v->graph->input_count; i++) {
        const HoloTensor *want = &v->graph->inputs[i]->type, *has = v->options.inputs[i];
        if (!has) continue;
        bool fits =
            want->kind == HOLO_OPTIONAL || (want->kind == has->kind && (!want->dtype || want->dtype == has->dtype));
        if (want->kind == HOLO_TENSOR && want->rank >= 0) fits = fits && want->rank == has->rank;
        for (int d = 0; fits && d < want->rank && want->kind == HOLO_TENSOR; d++)
            fits = holo_dim_is_symbolic(want->dim[d]) || want->dim[d] == has->dim[d];
        if (!fits) return input_fail(v->graph, v->graph->inputs[i], has, error);
    }
    return HOLO_OK;
}

static HoloStatus reference_given(Reference *ref, HoloError *error)
{
    HoloVerifier *v      = ref->v;
    HoloError     why    = {0};
    HoloStatus    status = inputs_fit(v, &why);
    for (int i = 0; i < v->graph->input_count; i++) v->inputs[i] = v->options.inputs[i];
    if (!status) status = reference_eval(ref, 0, &why);
    if (status == HOLO_VERIFY || status == HOLO_CANCELLED) return holo_fail(error, status, "%s", why.text);
    if (status) reference_failed(ref, status, &why);
    snprintf(ref->result->inputs, sizeof ref->result->inputs, "the inputs given");
    return HOLO_OK;
}

// On made-up inputs of the first sizes that it accepts.
static HoloStatus reference_made_up(Reference *ref, HoloError *error)
{
    HoloVerifier  *v     = ref->v;
    HoloGraph     *trial = v->options.trial;
    const int64_t *found = trial ? holo_sizes_find(trial, &v->arena, error) : NULL;
    if (trial && !found) return holo_fail_memory(error);
    for (int i = 0; i < (trial ? HOLO_COUNT(size_trials) : 1) && !ref->is_done; i++) {
        if (!inputs_size(v, found, i, ref->result)) break;
        const HoloGraph *sized = graph_sized(v);
        if (!fits_limits(v, sized, ref->result)) continue;
        HOLO_TRY(reference_try(ref, sized, !trial ? 0 : i ? TRIAL_ELEMENTS : FOUND_ELEMENTS, error));
    }
    return HOLO_OK;
}

static HoloStatus reference_run(HoloVerifier *v, HoloProducts *products, HoloVerifyResult *r, HoloError *error)
{
    Reference ref      = {.v = v, .products = products, .result = r};
    bool      is_given = v->options.inputs;
    if (!is_given)
        HOLO_TRY(reference_made_up(&ref, error));
    else if (fits_limits(v, graph_sized(v), r))
        HOLO_TRY(reference_given(&ref, error));
    if (ref.is_done) {
        r->why_not[0]    = 0;
        r->is_over_limit = false;
    } else if (ref.is_kernel_bad) {
        return holo_fail(error, HOLO_BAD_MODEL,
                         "a kernel is wrong: it accesses memory outside its arrays on %s inputs: %s",
                         is_given ? "the" : "all made-up", ref.why.text);
    } else if (*ref.why.text) {
        snprintf(r->why_not, sizeof r->why_not, "the model rejects %s inputs: %.400s", is_given ? "the" : "made-up",
                 ref.why.text);
    }
    return HOLO_OK;
}

// ---- running both

static HoloStatus session_run(HoloSession *session, const HoloTensor *const *inputs, int count, HoloError *error)
{
    for (int i = 0; i < count; i++)
        if (inputs[i]) HOLO_TRY(holo_session_set_input(session, i, inputs[i], error));
    return holo_session_run(session, error);
}

// The tolerance of an output follows its type: what is stored in a narrow one is off by some roundings of it, since
// plans compute in wider types and leave roundings between nodes out. Where no tolerance is asked for there is none.
static HoloBound bound_of(const HoloVerifyOptions *o, const HoloValue *output)
{
    enum { ROUNDINGS = 8 };
    double    narrow = ROUNDINGS * holo_rounding_of((HoloDtype)output->type.dtype);
    HoloBound bound  = {o->relative, o->absolute, "the tolerance of verification"};
    if (o->relative > 0 && narrow > o->relative) {
        bound.relative = narrow;
        bound.why      = "eight roundings of the output's type";
    }
    return bound;
}

// What a loop without a turn collects has the shape that is known of its body, and a plan may know more of it than the
// model.
static bool is_uncollected(const HoloGraph *graph, const HoloTensor *want, const HoloTensor *got)
{
    if (want->kind != HOLO_TENSOR || got->kind != HOLO_TENSOR || want->dtype != got->dtype) return false;
    if (holo_tensor_count(want) || holo_tensor_count(got)) return false;
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i]->op && graph->nodes[i]->op->flags & HOLO_OP_CONTROL) return true;
    return false;
}

static void output_left_out(HoloVerifyResult *r, const char *name)
{
    size_t at = strlen(r->left_out);
    if (at + 40 < sizeof r->left_out)
        snprintf(r->left_out + at, sizeof r->left_out - at, "%s%.60s", at ? ", " : "", name);
}

// `spread`: how far each output may be off beyond the tolerance; NULL: not at all.
static HoloStatus plan_compare(HoloVerifier *v, HoloSession *session, const double *spread, HoloVerifyResult *r,
                               HoloError *error)
{
    const HoloGraph *graph  = v->graph;
    const bool      *random = holo_graph_random_values(graph, HOLO_RANDOM_BY_INPUT, &v->arena);
    if (!random) return holo_fail_memory(error);
    r->left_out[0] = 0;
    for (int i = 0; i < graph->output_count; i++) {
        HoloTensor  got;
        const char *name  = graph->outputs[i]->name;
        HoloBound   bound = bound_of(&v->options, graph->outputs[i]);
        if (spread && spread[i] > bound.relative * holo_kept_largest(&v->want[i])) {
            bound.absolute += spread[i];
            bound.why = "as far as roundings of the model itself move it";
        }
        HOLO_TRY(holo_session_output(session, i, &got, error));
        if (random[graph->outputs[i]->id]) {
            output_left_out(r, name);
            continue;
        }
        r->outputs++;
        if (!is_uncollected(graph, &v->want[i].type, &got))
            HOLO_TRY(holo_compare_output(name, &v->want[i], &got, &bound, r, error));
    }
    return HOLO_OK;
}

// ---- models that blow roundings up

// How far roundings, drawn at random, move an output at most: see holo_blur.
static HoloStatus output_spread(void *context, int output, const HoloTensor *value, HoloError *error)
{
    enum { TIMES = 4 };
    HoloVerifier *v   = context;
    double        off = TIMES * holo_compare_distance(&v->want[output], value);
    (void)error;
    v->drawn[output] = fmax(v->spread[output], off);
    return HOLO_OK;
}

// The reference with all that its nodes compute off by some roundings: how far its outputs move is noted in v->spread.
// Nothing, where they cannot be computed then.
static HoloStatus spread_draw(HoloVerifier *v, HoloError *error)
{
    HoloProducts      products;
    HoloVerifyResult  ignored = {0};
    HoloVerifyOptions quiet   = v->options;
    HoloError         why     = {0};
    HoloArena         arena   = {0};
    quiet.progress            = NULL;
    holo_products_init(&products, v->graph, &v->lowered, v->kernels, &quiet, &ignored);
    products.blurs = true;
    products.random.state ^= (uint64_t)v->draws++ << 32;
    HoloEvalOptions eval = holo_products_options(&products);
    eval.give            = output_spread;
    eval.give_context    = v;
    HoloStatus made      = holo_graph_eval(v->graph, v->inputs, NULL, &arena, &eval, &why);
    holo_products_deinit(&products);
    holo_arena_deinit(&arena);
    for (int i = 0; i < v->graph->output_count && !made; i++) v->spread[i] = v->drawn[i];
    return made == HOLO_CANCELLED ? holo_fail(error, made, "%s", why.text) : HOLO_OK;
}

// Passes leave roundings out and make others, and a model that quantizes inside, or computes in narrow types, may show
// it. So what differs beyond tolerance is held against what roundings do to the reference itself. One that flips what
// is quantized is rare: there are several draws, each of which can only allow more; the first that allows all is the
// last.
static HoloStatus compare_blurred(HoloVerifier *v, HoloSession *session, HoloVerifyResult *r, HoloError *error)
{
    enum { DRAWS = 8 };
    HoloVerifyResult before = *r;
    HoloStatus       status;
    if (!v->draws) HOLO_TRY(spread_draw(v, error));
    for (;;) {
        *r     = before;
        status = plan_compare(v, session, v->spread, r, error);
        if (status != HOLO_VERIFY || v->draws >= DRAWS) return status;
        HOLO_TRY(spread_draw(v, error));
        *error = (HoloError){0};
    }
}

void holo_verifier_set_tolerance(HoloVerifier *v, double relative, double absolute)
{
    v->options.relative = relative;
    v->options.absolute = absolute;
}

HoloStatus holo_verifier_compare(HoloVerifier *v, const HoloModel *model, HoloVerifyResult *result, HoloError *error)
{
    double           start  = holo_time_now();
    HoloVerifyResult before = *result;
    HoloError        why    = {0};
    HoloSession     *session;
    HOLO_TRY(holo_session_create(model, v->options.pool, &session, error));
    session->is_lean  = true;
    HoloStatus status = session_run(session, v->inputs, v->graph->input_count, &why);
    if (!status) status = plan_compare(v, session, NULL, result, &why);
    if (status == HOLO_VERIFY && v->options.relative > 0) {
        *result = before;
        why     = (HoloError){0};
        status  = compare_blurred(v, session, result, &why);
    }
    holo_session_destroy(session);
    result->was_done = !status && (result->outputs || !v->graph->output_count);
    if (!status && !result->was_done)
        snprintf(result->why_not, sizeof result->why_not, "every output depends on an operator that is random: %.200s",
                 result->left_out);
    result->seconds += holo_time_now() - start;
    return status ? holo_fail(error, status, "%s", why.text) : HOLO_OK;
}

// ---- a verifier

static HoloStatus verifier_init(HoloVerifier *v, HoloVerifyResult *result, HoloError *error)
{
    v->made   = HOLO_NEW(&v->arena, HoloTensor, v->graph->input_count + 1);
    v->inputs = HOLO_NEW(&v->arena, const HoloTensor *, v->graph->input_count + 1);
    v->want   = HOLO_NEW(&v->arena, HoloKept, v->graph->output_count + 1);
    v->spread = HOLO_NEW(&v->arena, double, v->graph->output_count + 1);
    v->drawn  = HOLO_NEW(&v->arena, double, v->graph->output_count + 1);
    if (!v->made || !v->inputs || !v->want || !v->spread || !v->drawn) return holo_fail_memory(error);
    HOLO_TRY(holo_lower_graph(v->graph, NULL, &v->lowered, error));
    HoloProducts products;
    holo_products_init(&products, v->graph, &v->lowered, v->kernels, &v->options, result);
    HoloStatus status = reference_run(v, &products, result, error);
    holo_products_deinit(&products);
    return status;
}

HoloStatus holo_verifier_create(const HoloGraph *reference, const HoloKernelTable *kernels,
                                const HoloVerifyOptions *options, HoloVerifier **out, HoloVerifyResult *result,
                                HoloError *error)
{
    double        start = holo_time_now();
    HoloVerifier *v     = holo_realloc(NULL, sizeof *v);
    *out                = NULL;
    if (!v) return holo_fail_memory(error);
    *v                = (HoloVerifier){.graph = reference, .kernels = kernels, .options = *options};
    HoloStatus status = verifier_init(v, result, error);
    result->seconds += holo_time_now() - start;
    if (status || result->why_not[0])
        holo_verifier_destroy(v);
    else
        *out = v;
    return status;
}

void holo_verifier_destroy(HoloVerifier *v)
{
    if (!v) return;
    holo_lowered_deinit(&v->lowered);
    holo_arena_deinit(&v->outputs);
    holo_arena_deinit(&v->arena);
    holo_free(v);
}

HoloStatus holo_verify(const HoloGraph *reference, const HoloModel *model, const HoloVerifyOptions *options,
                       HoloVerifyResult *out, HoloError *error)
{
    HoloVerifier *v;
    HoloError     why = {0};
    out->was_done = out->is_over_limit = false;
    out->nodes = out->outputs = 0;
    HoloStatus status         = holo_verifier_create(reference, model->kernels, options, &v, out, &why);
    if (!status && v) status = holo_verifier_compare(v, model, out, &why);
    holo_verifier_destroy(v);
    if (status != HOLO_NO_MEMORY) return status ? holo_fail(error, status, "%s", why.text) : HOLO_OK;
    out->is_over_limit = true;
    snprintf(out->why_not, sizeof out->why_not, "it takes too much memory: %.400s", why.text);
    return HOLO_OK;
}
