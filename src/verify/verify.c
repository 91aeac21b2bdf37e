// verify.c - runs the plan and the reference on seeded inputs and compares what comes out.
//
// Symbolic sizes are tried in small numbers until the reference accepts them. What is random by
// definition is not compared.
#include "verify/verify.h"

#include "base/files.h"
#include "runtime/frame.h"
#include "runtime/model.h"
#include "verify/products.h"
#include "verify/sizes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct HoloVerifier {
    const HoloGraph   *graph;
    const HoloKernels *kernels;
    HoloVerifyOptions  options;
    HoloArena          arena; // owns what follows
    const HoloTensor **inputs;
    HoloTensor        *want;
    HoloTensor        *moved;  // the outputs, moved by roundings
    double            *spread; // how far roundings move each output, by what was drawn so far
    int                draws;
};

// ---- inputs

// What symbolic sizes are given: first what inference accepts, then, for models that reject even that when
// they run, all the same.
static const int64_t size_trials[] = {0, 1, 2, 4, 8, 16, 32, 64, 128, 224};

// Of any value where sizes are made up: with many symbols the larger ones of these come to gigabytes.
enum { TRIAL_ELEMENTS = 1 << 22, FOUND_ELEMENTS = 1 << 26 };

static int64_t size_at(const HoloGraph *graph, const int64_t *found, HoloDim d, int trial)
{
    if (!holo_dim_is_symbolic(d)) return d;
    const HoloDimNode *node = d == HOLO_DIM_UNKNOWN ? NULL : holo_dims_node(graph->dims, holo_dim_entry(d));
    if (!node || node->op != HOLO_DIM_SYMBOL || trial) return size_trials[trial] ? size_trials[trial] : 2;
    return found[node->a];
}

static void tensor_fill(HoloTensor *t, HoloRandom *random)
{
    int64_t count   = holo_tensor_count(t);
    HoloClass class = holo_dtype_class((HoloDtype)t->dtype);
    for (int64_t i = 0; i < count; i++) {
        if (class == HOLO_CLASS_STRING)
            ((HoloString *)t->data)[i] = (HoloString){"a", 1};
        else if (class == HOLO_CLASS_INT || class == HOLO_CLASS_UINT || class == HOLO_CLASS_BOOL)
            holo_put_i(t, i, 1);
        else
            holo_put_f(t, i, holo_random_normal(random));
    }
}

// False, with the reason, when an input is of a kind that cannot be made up.
static bool inputs_make(const HoloGraph *graph, const int64_t *found, int trial, HoloArena *arena, HoloTensor *inputs,
                        char *why, size_t size)
{
    HoloRandom random = {UINT64_C(0x686F6C6F)};
    for (int i = 0; i < graph->input_count; i++) {
        const HoloValue *value = graph->inputs[i];
        HoloTensor      *t     = &inputs[i];
        *t                     = value->type;
        t->data                = NULL;
        if (t->kind != HOLO_TENSOR || t->rank < 0 || !t->dtype) {
            snprintf(why, size, "input %s has no shape to make up values for", value->name);
            return false;
        }
        for (int d = 0; d < t->rank; d++) t->dim[d] = size_at(graph, found, t->dim[d], trial);
        int64_t count  = holo_tensor_count(t);
        bool    is_bad = count < 0 || (trial && count > TRIAL_ELEMENTS);
        t->data        = is_bad ? NULL : holo_arena_take(arena, holo_tensor_bytes(t) + 1);
        if (!t->data) {
            if (!*why) snprintf(why, size, "input %s is too large to make up", value->name);
            return false;
        }
        tensor_fill(t, &random);
    }
    return true;
}

// ---- comparing

static bool element_differs(HoloVerifyResult *r, const HoloVerifyOptions *o, double want, double got, double top,
                            const char *name, int64_t index)
{
    if (want == got || (isnan(want) && isnan(got))) return false;
    double off = fabs(want - got), relative = top > 0 ? off / top : off;
    if (!(off <= r->worst_absolute)) r->worst_absolute = off;
    if (!(relative <= r->worst_relative)) {
        r->worst_relative = relative;
        snprintf(r->worst_at, sizeof r->worst_at, "output %.100s, element %lld", name, (long long)index);
    }
    return !(off <= o->absolute + o->relative * top);
}

static bool has_type_of(const HoloTensor *a, const HoloTensor *b)
{
    return a->dtype == b->dtype && a->kind == b->kind && a->rank == b->rank;
}

static bool is_alike(const HoloTensor *a, const HoloTensor *b)
{
    bool same = has_type_of(a, b);
    for (int d = 0; same && d < a->rank; d++) same = a->dim[d] == b->dim[d];
    return same;
}

// Whole numbers may not differ at all but by the rounding of what they were made from.
static HoloStatus output_compare(const HoloValue *value, const HoloTensor *want, const HoloTensor *got,
                                 const HoloVerifyOptions *o, HoloVerifyResult *r, HoloError *error)
{
    if (has_type_of(want, got) && isinf(o->absolute)) return HOLO_OK;
    if (!is_alike(want, got))
        return holo_fail(error, HOLO_VERIFY, "the plan gives output %s another type or shape than the model",
                         value->name);
    if (want->kind != HOLO_TENSOR || want->dtype == HOLO_STRING) return HOLO_OK;
    int64_t count = holo_tensor_count(want), bad = 0, first = 0;
    double  top = 0, first_want = 0, first_got = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = fabs(holo_get_f(want, i));
        if (x > top && isfinite(x)) top = x;
    }
    for (int64_t i = 0; i < count; i++) {
        double x = holo_get_f(want, i), y = holo_get_f(got, i);
        if (!element_differs(r, o, x, y, top, value->name, i) || bad++) continue;
        first      = i;
        first_want = x;
        first_got  = y;
    }
    r->checked += (uint64_t)count;
    if (!bad) return HOLO_OK;
    return holo_fail(
        error, HOLO_VERIFY,
        "output %s: %lld of %lld elements of the plan differ from the model beyond tolerance (element %lld is %g, not %g; "
        "the worst is off by %g of the largest value)",
        value->name, (long long)bad, (long long)count, (long long)first, first_got, first_want, r->worst_relative);
}

// Which values depend on an operator that is random by definition.
static bool *random_values(const HoloGraph *graph, HoloArena *arena)
{
    bool *random = HOLO_NEW(arena, bool, graph->value_count + 1);
    for (int i = 0; random && i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        bool            any  = node->op && node->op->flags & HOLO_OP_RANDOM;
        for (int k = 0; k < node->in_count; k++) any = any || (node->in[k] && random[node->in[k]->id]);
        for (int k = 0; k < node->out_count; k++)
            if (node->out[k]) random[node->out[k]->id] = any;
    }
    return random;
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
static double relative_of(const HoloVerifyOptions *o, const HoloValue *output)
{
    enum { ROUNDINGS = 8 };
    double narrow = ROUNDINGS * holo_rounding_of((HoloDtype)output->type.dtype);
    return o->relative > 0 && narrow > o->relative ? narrow : o->relative;
}

// What a loop without a turn collects has the shape that is known of its body, and a plan may know more of it than the model.
static bool is_uncollected(const HoloGraph *graph, const HoloTensor *want, const HoloTensor *got)
{
    if (want->kind != HOLO_TENSOR || got->kind != HOLO_TENSOR || want->dtype != got->dtype) return false;
    if (holo_tensor_count(want) || holo_tensor_count(got)) return false;
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i]->op && graph->nodes[i]->op->flags & HOLO_OP_CONTROL) return true;
    return false;
}

// `spread`: how far each output may be off beyond the tolerance; NULL: not at all.
static HoloStatus plan_compare(HoloVerifier *v, HoloSession *session, const double *spread, HoloVerifyResult *r,
                               HoloError *error)
{
    const HoloGraph *graph  = v->graph;
    const bool      *random = random_values(graph, &v->arena);
    if (!random) return holo_fail_memory(error);
    r->checked = 0;
    for (int i = 0; i < graph->output_count; i++) {
        HoloTensor        got;
        HoloVerifyOptions own = v->options;
        own.relative          = relative_of(&own, graph->outputs[i]);
        if (spread) own.absolute += spread[i];
        HOLO_TRY(holo_session_output(session, i, &got, error));
        if (!random[graph->outputs[i]->id] && !is_uncollected(graph, &v->want[i], &got))
            HOLO_TRY(output_compare(graph->outputs[i], &v->want[i], &got, &own, r, error));
    }
    return HOLO_OK;
}

// The reference on the inputs given, or on the first sizes that it accepts. r->why_not is set when there are none.
static HoloStatus reference_run(HoloVerifier *v, HoloProducts *products, HoloVerifyResult *r, HoloError *error)
{
    const HoloGraph *graph       = v->graph;
    HoloGraph       *trial_graph = v->options.inputs ? NULL : v->options.trial;
    HoloArena       *arena       = &v->arena;
    HoloEvalOptions  eval        = holo_products_options(products);
    HoloTensor      *made        = HOLO_NEW(arena, HoloTensor, graph->input_count + 1);
    int              trials      = trial_graph ? HOLO_COUNT(size_trials) : 1;
    const int64_t   *found       = trial_graph ? holo_sizes_find(trial_graph, arena, error) : NULL;
    if (!made || (trial_graph && !found)) return holo_fail_memory(error);
    for (int trial = 0; trial < trials; trial++) {
        HoloArenaMark mark = holo_arena_mark(arena);
        if (!v->options.inputs && !inputs_make(graph, found, trial, arena, made, r->why_not, sizeof r->why_not))
            return HOLO_OK;
        for (int i = 0; i < graph->input_count; i++) v->inputs[i] = v->options.inputs ? v->options.inputs[i] : &made[i];
        HoloError why      = {0};
        eval.element_limit = !trial_graph ? 0 : trial ? TRIAL_ELEMENTS : FOUND_ELEMENTS;
        HoloStatus status  = holo_graph_eval(graph, v->inputs, v->want, arena, &eval, &why);
        if (!status) {
            r->why_not[0] = 0;
            return HOLO_OK;
        }
        if (status == HOLO_VERIFY) return holo_fail(error, status, "%s", why.text);
        if (!trial)
            snprintf(r->why_not, sizeof r->why_not, "the model rejects %s inputs: %.200s",
                     v->options.inputs ? "the" : "made-up", why.text);
        holo_arena_reset(arena, mark);
    }
    return HOLO_OK;
}

// ---- models that blow roundings up

// Of other sizes, as where a model rounds how long its answer is, they are as far apart as can be.
static double largest_difference(const HoloTensor *a, const HoloTensor *b)
{
    double most = 0;
    if (!has_type_of(a, b) || a->kind != HOLO_TENSOR || a->dtype == HOLO_STRING) return 0;
    if (!is_alike(a, b)) return INFINITY;
    for (int64_t i = 0; i < holo_tensor_count(a); i++) {
        double off = fabs(holo_get_f(a, i) - holo_get_f(b, i));
        if (off > most && isfinite(off)) most = off;
    }
    return most;
}

// The outputs of the reference with all that its nodes compute off by some roundings, drawn at random: how far they move
// at most is noted in v->spread. Nothing, where they cannot be computed then.
static void spread_draw(HoloVerifier *v)
{
    enum { TIMES = 4 };
    const HoloGraph  *graph = v->graph;
    HoloProducts      products;
    HoloVerifyResult  ignored = {0};
    HoloVerifyOptions quiet   = v->options;
    HoloError         why     = {0};
    HoloArena         arena   = {0};
    quiet.progress            = NULL;
    holo_products_init(&products, graph, v->kernels, &quiet, &ignored);
    products.blurs = true;
    products.random.state ^= (uint64_t)v->draws++ << 32;
    HoloEvalOptions eval = holo_products_options(&products);
    HoloStatus      made = holo_graph_eval(graph, v->inputs, v->moved, &arena, &eval, &why);
    holo_products_deinit(&products);
    for (int i = 0; i < graph->output_count && !made; i++)
        v->spread[i] = fmax(v->spread[i], TIMES * largest_difference(&v->want[i], &v->moved[i]));
    holo_arena_deinit(&arena);
}

// Passes leave roundings out and make others, and a model that quantises inside, or computes in narrow types, may show
// it. So what differs beyond tolerance is held against what roundings do to the reference itself. One that flips what is
// quantised is rare: there are several draws, each of which can only allow more; the first that allows all is the last.
static HoloStatus compare_blurred(HoloVerifier *v, HoloSession *session, HoloVerifyResult *r, HoloError *error)
{
    enum { DRAWS = 8 };
    HoloStatus status;
    if (!v->draws) spread_draw(v);
    while ((status = plan_compare(v, session, v->spread, r, error)) == HOLO_VERIFY && v->draws < DRAWS) spread_draw(v);
    HOLO_TRY(status);
    size_t used = strlen(r->worst_at);
    snprintf(r->worst_at + used, sizeof r->worst_at - used, ", which roundings of the model move as far");
    return HOLO_OK;
}

void holo_verifier_set_tolerance(HoloVerifier *v, double relative, double absolute)
{
    v->options.relative = relative;
    v->options.absolute = absolute;
}

HoloStatus holo_verifier_compare(HoloVerifier *v, const HoloModel *model, HoloVerifyResult *result, HoloError *error)
{
    double       start = holo_time_now();
    HoloSession *session;
    HOLO_TRY(holo_session_create(model, v->options.pool, &session, error));
    session->is_lean  = true;
    HoloStatus status = session_run(session, v->inputs, v->graph->input_count, error);
    if (!status) status = plan_compare(v, session, NULL, result, error);
    if (status == HOLO_VERIFY && v->options.relative > 0) status = compare_blurred(v, session, result, error);
    holo_session_destroy(session);
    result->was_done = !status;
    result->seconds += holo_time_now() - start;
    return status;
}

// ---- the reference

static HoloStatus verifier_init(HoloVerifier *v, HoloVerifyResult *result, HoloError *error)
{
    v->inputs = HOLO_NEW(&v->arena, const HoloTensor *, v->graph->input_count + 1);
    v->want   = HOLO_NEW(&v->arena, HoloTensor, v->graph->output_count + 1);
    v->moved  = HOLO_NEW(&v->arena, HoloTensor, v->graph->output_count + 1);
    v->spread = HOLO_NEW(&v->arena, double, v->graph->output_count + 1);
    if (!v->inputs || !v->want || !v->moved || !v->spread) return holo_fail_memory(error);
    HoloProducts products;
    holo_products_init(&products, v->graph, v->kernels, &v->options, result);
    HoloStatus status = reference_run(v, &products, result, error);
    holo_products_deinit(&products);
    return status;
}

HoloStatus holo_verifier_create(const HoloGraph *reference, const HoloKernels *kernels,
                                const HoloVerifyOptions *options, HoloVerifier **out, HoloVerifyResult *out_result,
                                HoloError *error)
{
    double        start = holo_time_now();
    HoloVerifier *v     = holo_realloc(NULL, sizeof *v);
    *out                = NULL;
    *out_result         = (HoloVerifyResult){0};
    if (!v) return holo_fail_memory(error);
    *v                  = (HoloVerifier){.graph = reference, .kernels = kernels, .options = *options};
    HoloStatus status   = verifier_init(v, out_result, error);
    out_result->seconds = holo_time_now() - start;
    if (status || out_result->why_not[0])
        holo_verifier_destroy(v);
    else
        *out = v;
    return status;
}

void holo_verifier_destroy(HoloVerifier *v)
{
    if (!v) return;
    holo_arena_deinit(&v->arena);
    holo_free(v);
}

HoloStatus holo_verify(const HoloGraph *reference, const HoloModel *model, const HoloVerifyOptions *options,
                       HoloVerifyResult *out, HoloError *error)
{
    HoloVerifier *v;
    HoloStatus    status = holo_verifier_create(reference, model->kernels, options, &v, out, error);
    if (!status && v) status = holo_verifier_compare(v, model, out, error);
    holo_verifier_destroy(v);
    return status;
}
