// bind.c - gives numbers to sizes and memory to values, and checks every step before it may run.
//
// This makes a plan from an untrusted file safe to run: for each step the operator's own infer must find the sizes that
// the file says, and its device must be able to prepare it. If infer needs values that exist only during the run, the
// step is marked, and infer is asked again then. The table of docs/inside/running.md lists all that a run trusts, and
// who checked it.
#include "runtime/frame/frame.h"
#include "runtime/frame/stretch.h"

#include <stdio.h>
#include <string.h>

// ---- symbols and expressions

static HoloStatus input_fail(const HoloFrame *frame, const HoloValueRecord *v, const HoloTensor *t, const char *why,
                             HoloError *error)
{
    return holo_fail(error, HOLO_BAD_INPUT, "input %s is %s: %s", holo_model_text(frame->session->model, v->name),
                     holo_type_text(t, NULL).text, why);
}

static bool is_free(const HoloFrame *frame, uint32_t input)
{
    return !frame->parent && frame->session->model->inputs[input].any_shape;
}

static HoloStatus input_type_check(const HoloFrame *frame, uint32_t i, const HoloTensor *t, HoloError *error)
{
    const HoloValueRecord *v = holo_frame_record(frame, holo_frame_input_value(frame, i));
    if (v->dtype && t->dtype && v->dtype != t->dtype) return input_fail(frame, v, t, "the dtype must match", error);
    if (v->dtype && !holo_kind_fits(v->kind, v->inner, t))
        return input_fail(frame, v, t, "the kind of value must match", error);
    if (v->rank >= 0 && v->kind == HOLO_TENSOR && v->rank != t->rank)
        return input_fail(frame, v, t, "the number of dimensions must match", error);
    return HOLO_OK;
}

// Takes numbers from the sizes of the inputs: for symbols, and for whole expressions if a subgraph gets a value with
// such a size. What an enclosing frame knows also holds.
static HoloStatus symbols_bind(HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error)
{
    const HoloArchive *a      = &frame->session->model->archive;
    const HoloFrame   *parent = frame->parent;
    for (size_t i = 0; i < a->DIMS_count; i++) {
        frame->dim_is_known[i] = parent && parent->dim_is_known[i];
        frame->dims[i]         = parent ? parent->dims[i] : 0;
    }
    bool *is_own = HOLO_NEW(&frame->temp, bool, a->DIMS_count + 1); // an input of this plan gives it
    if (!is_own) return holo_fail_memory(error);
    for (uint32_t i = 0; i < frame->plan->input_count; i++) {
        const HoloValueRecord *v = holo_frame_record(frame, holo_frame_input_value(frame, i));
        if (is_free(frame, i)) continue;
        HOLO_TRY(input_type_check(frame, i, inputs[i], error));
        for (int d = 0; d < v->rank && v->kind == HOLO_TENSOR; d++) {
            int64_t size = a->SIZES_at[v->size_first + (uint32_t)d];
            if (!holo_dim_is_symbolic(size) || size == HOLO_DIM_UNKNOWN || is_own[(uint32_t)size]) continue;
            is_own[(uint32_t)size] = frame->dim_is_known[(uint32_t)size] = true;
            frame->dims[(uint32_t)size]                                  = inputs[i]->dim[d];
        }
    }
    return HOLO_OK;
}

// Does `d` have a number? It is then in *out.
static bool dim_value(const HoloFrame *frame, int64_t d, int64_t *out)
{
    if (!holo_dim_is_symbolic(d))
        *out = d;
    else if (d == HOLO_DIM_UNKNOWN || !frame->dim_is_known[(uint32_t)d])
        return false;
    else
        *out = frame->dims[(uint32_t)d];
    return true;
}

static void dims_evaluate(HoloFrame *frame)
{
    const HoloArchive *a = &frame->session->model->archive;
    for (size_t i = 0; i < a->DIMS_count; i++) {
        const HoloDimRecord *r = &a->DIMS_at[i];
        int64_t              x, y, value;
        if (r->op == HOLO_DIM_SYMBOL || !dim_value(frame, r->a, &x) || !dim_value(frame, r->b, &y)) continue;
        if (!holo_dim_apply(r->op, x, y, &value)) continue;
        frame->dim_is_known[i] = true;
        frame->dims[i]         = value;
    }
}

static HoloStatus inputs_check(const HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error)
{
    const HoloArchive *a = &frame->session->model->archive;
    for (uint32_t i = 0; i < frame->plan->input_count; i++) {
        const HoloValueRecord *v = holo_frame_record(frame, holo_frame_input_value(frame, i));
        for (int d = 0; d < v->rank && v->kind == HOLO_TENSOR && !is_free(frame, i); d++) {
            int64_t want;
            if (!dim_value(frame, a->SIZES_at[v->size_first + (uint32_t)d], &want) || want == inputs[i]->dim[d])
                continue;
            const HoloPort *port =
                frame == frame->session->frame ? holo_model_input(frame->session->model, (int)i) : NULL;
            const char *name = port ? port->symbol[d] : NULL;
            char        why[400];
            snprintf(why, sizeof why, "the size of dimension %d should be %lld%s%.300s%s", d, (long long)want,
                     name ? ", as '" : "", name ? name : "", name ? "' is in another input" : "");
            return input_fail(frame, v, inputs[i], why, error);
        }
    }
    return HOLO_OK;
}

// ---- values

// Sets a value's type from its record. False: a size is missing that must be known.
static bool value_type(const HoloFrame *frame, const HoloValueRecord *v, HoloTensor *t)
{
    const HoloArchive *a     = &frame->session->model->archive;
    bool               known = true;
    *t                       = (HoloTensor){.dtype = v->dtype, .kind = v->kind, .inner = v->inner, .rank = v->rank};
    for (int d = 0; d < v->rank; d++) {
        if (dim_value(frame, a->SIZES_at[v->size_first + (uint32_t)d], &t->dim[d])) {
            if (t->dim[d] < 0) return false;
            continue;
        }
        t->dim[d] = HOLO_DIM_UNKNOWN;
        known     = false;
    }
    return known || v->storage == HOLO_STORE_HEAP;
}

static HoloStatus expression_fill(HoloFrame *frame, const HoloValueRecord *v, HoloTensor *t, int64_t count)
{
    const HoloArchive *a = &frame->session->model->archive;
    if (count < 0 || (uint64_t)count > a->SIZES_count - v->at) return HOLO_BAD_ARCHIVE;
    if ((uint64_t)count > a->SIZES_count - frame->contents_count)
        return HOLO_BAD_ARCHIVE; // each has entries of its own
    frame->contents_count += (uint64_t)count;
    t->data = holo_arena_take(&frame->contents, (size_t)count * 8 + 8);
    if (!t->data) return HOLO_NO_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        int64_t x;
        if (!dim_value(frame, a->SIZES_at[v->at + (uint64_t)i], &x)) return HOLO_BAD_ARCHIVE;
        if (v->dtype == HOLO_I64)
            ((int64_t *)t->data)[i] = x;
        else
            ((int32_t *)t->data)[i] = (int32_t)x;
    }
    return HOLO_OK;
}

// An alias has as many elements as the value whose bytes it shares; a part lies inside that value. Packed weights have
// no elements, so nothing may be a part of them.
static bool shared_bind(HoloFrame *frame, uint32_t i, int64_t count)
{
    const HoloArchive     *a    = &frame->session->model->archive;
    const HoloValueRecord *v    = holo_frame_record(frame, i);
    const HoloTensor      *from = &frame->types[v->at];
    int64_t                all  = from->kind == HOLO_TENSOR && from->rank >= 0 ? holo_tensor_count(from) : -1, start;
    if (all < 0 || from->dtype != frame->types[i].dtype) return false;
    frame->starts[i] = frame->starts[v->at];
    if (v->storage == HOLO_STORE_ALIAS) return all == count;
    const HoloConstantRecord *k = holo_frame_constant(frame, i);
    if (k && k->packed) return false;
    if (!dim_value(frame, a->SIZES_at[v->size_first + (uint32_t)v->rank], &start) || start < 0 || start > all ||
        count > all - start)
        return false;
    frame->starts[i] += (size_t)start * holo_dtype_size((HoloDtype)v->dtype);
    return true;
}

// If sizes follow from the inputs, the inputs do not fit; else the archive is wrong.
static HoloStatus value_fail(const HoloFrame *frame, uint32_t i, HoloError *error)
{
    const HoloModel       *model = frame->session->model;
    const HoloValueRecord *v     = holo_frame_record(frame, i);
    const char            *name  = holo_model_text(model, v->name);
    if (!model->archive.DIMS_count)
        return holo_fail(error, HOLO_BAD_ARCHIVE, "value %s has an impossible shape: %s", name,
                         holo_type_text(&frame->types[i], NULL).text);
    if (holo_store_is_shared(v->storage))
        return holo_fail(error, HOLO_BAD_INPUT,
                         "the model does not accept inputs of these sizes: value %s would be %s, made from %s", name,
                         holo_type_text(&frame->types[i], NULL).text, holo_type_text(&frame->types[v->at], NULL).text);
    return holo_fail(error, HOLO_BAD_INPUT,
                     "the model does not accept inputs of these sizes: value %s would have an impossible shape: %s",
                     name, holo_type_text(&frame->types[i], NULL).text);
}

static HoloStatus value_bind(HoloFrame *frame, uint32_t i, HoloError *error)
{
    const HoloModel       *model = frame->session->model;
    const HoloValueRecord *v     = holo_frame_record(frame, i);
    HoloTensor            *t     = &frame->types[i];
    if (v->storage == HOLO_STORE_INPUT) return HOLO_OK;
    bool    ok    = value_type(frame, v, t);
    int64_t count = ok && v->storage != HOLO_STORE_HEAP ? holo_tensor_count(t) : 0;
    ok            = ok && count >= 0;
    if (ok && v->storage == HOLO_STORE_CONSTANT) {
        ok      = (uint64_t)count == model->archive.CONSTANTS_at[v->at].count;
        t->data = model->constants[v->at];
    }
    if (ok && v->storage == HOLO_STORE_EXPRESSION) ok = !expression_fill(frame, v, t, count);
    if (ok && holo_store_is_shared(v->storage)) ok = shared_bind(frame, i, count);
    return ok ? HOLO_OK : value_fail(frame, i, error);
}

static HoloStatus values_bind(HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error)
{
    for (uint32_t i = 0; i < frame->plan->input_count; i++) {
        uint32_t v           = holo_frame_input_value(frame, i);
        frame->types[v]      = *inputs[i];
        frame->types[v].data = NULL;
    }
    holo_arena_reset(&frame->contents, (HoloArenaMark){0});
    frame->contents_count = 0;
    for (uint32_t i = 0; i < frame->plan->value_count; i++) HOLO_TRY(value_bind(frame, i, error));
    if (frame->plan->value_count) memcpy(frame->values, frame->types, frame->plan->value_count * sizeof *frame->values);
    return HOLO_OK;
}

// ---- steps

static bool is_open(const HoloTensor *t)
{
    if (!t) return false;
    bool open = t->rank < 0 || !t->dtype || t->kind != HOLO_TENSOR;
    for (int d = 0; d < t->rank; d++) open = open || holo_dim_is_symbolic(t->dim[d]);
    return open;
}

// Compares what infer says about the outputs with what the file says. *out_known: infer needed no value that exists
// only during the run.
static HoloStatus outputs_compare(const HoloCall *call, const HoloTensor *inferred, bool *out_known)
{
    *out_known = true;
    for (int i = 0; i < call->out_count; i++) {
        const HoloTensor *have = call->out[i], *want = &inferred[i];
        if (!have || is_open(have) || call->op->flags & HOLO_OP_CONTROL) continue;
        bool known = want->rank >= 0;
        for (int d = 0; d < want->rank; d++) known = known && !holo_dim_is_symbolic(want->dim[d]);
        *out_known = *out_known && known;
        if (known && !holo_types_equal(have, want))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE,
                                  "the planned sizes of output %d do not follow from its inputs", i);
    }
    return HOLO_OK;
}

// The bytes that a value already has when sizes are bound; NULL: none.
static void *data_bound(const HoloFrame *frame, uint32_t v)
{
    char *data = frame->types[frame->roots[v]].data;
    return data ? data + frame->starts[v] : NULL;
}

// The inputs of a step as infer may see them, and a device other than the CPU when it prepares. Bytes of packed weights
// are not elements, so they are not seen. Of a value in another space the original on the host is seen, if that is
// known.
static const HoloTensor *const *inputs_plain(HoloFrame *frame, const HoloCall *call)
{
    HoloTensor        *copies = HOLO_NEW(&frame->temp, HoloTensor, call->in_count + 1);
    const HoloTensor **in     = HOLO_NEW(&frame->temp, const HoloTensor *, call->in_count + 1);
    for (int i = 0; copies && in && i < call->in_count; i++) {
        in[i] = call->in[i];
        if (!in[i]) continue;
        uint32_t                  v = (uint32_t)(in[i] - frame->values), origin = frame->origins[v];
        const HoloConstantRecord *k = holo_frame_constant(frame, origin == HOLO_NO_VALUE ? v : origin);
        if (origin == HOLO_NO_VALUE && (!k || !k->packed)) continue;
        copies[i]      = *in[i];
        copies[i].data = k && k->packed ? NULL : data_bound(frame, origin);
        in[i]          = &copies[i];
    }
    return copies ? in : NULL;
}

HoloStatus holo_frame_infer(HoloFrame *frame, uint32_t step, const HoloTensor **out_types, bool *out_known,
                            HoloError *error)
{
    HoloCall     call  = frame->calls[step];
    HoloTensor  *types = HOLO_NEW(&frame->temp, HoloTensor, call.out_count + 1);
    HoloTensor **out   = HOLO_NEW(&frame->temp, HoloTensor *, call.out_count + 1);
    if (frame->steps[step].has_packed || frame->steps[step].on != frame->session->devices)
        call.in = inputs_plain(frame, &call);
    if (!types || !out || !call.in) return holo_fail_memory(error);
    for (int i = 0; i < call.out_count; i++) {
        if (!call.out[i]) continue;
        out[i]        = &types[i];
        types[i].rank = -1;
        if (call.op->flags & HOLO_OP_CONTROL)
            types[i] = frame->types[call.out[i] - frame->values]; // all that is known about them
        types[i].data = NULL;
    }
    call.out   = out;
    call.error = error;
    HOLO_TRY(holo_op_infer(&call));
    call.out   = frame->calls[step].out;
    *out_types = types;
    return outputs_compare(&call, types, out_known);
}

// Is input i of a prepared step in the form that its kernel reads? eval reads plain row-major bytes, and so does a
// kernel unless it says otherwise.
static bool input_is_in_form(const HoloFrame *frame, const HoloStepRecord *s, const HoloStep *step,
                             const HoloCall *call, int i)
{
    const HoloArchive *a      = &frame->session->model->archive;
    const HoloDevice  *device = step->on->device;
    uint32_t           v      = a->OPERANDS_at[s->operand_first + (uint32_t)i];
    int64_t            want   = device->packed_size ? device->packed_size(call, step->job, i) : -1;
    if (v == HOLO_NO_VALUE) return want < 0;
    const HoloConstantRecord *k =
        holo_frame_constant(frame, frame->origins[v] == HOLO_NO_VALUE ? v : frame->origins[v]);
    if (want < 0) return !k || !k->packed;
    uint32_t by = device->packed_by ? device->packed_by(step->job, i) : 0;
    if (!by) by = holo_kernel_packer(s->kernel, call->in[i]->dtype == HOLO_U8);
    return k && k->packed == by && k->size == (uint64_t)want;
}

static HoloStatus forms_check(const HoloFrame *frame, const HoloStepRecord *s, const HoloStep *step,
                              const HoloCall *call)
{
    for (int i = 0; i < call->in_count; i++)
        if (!input_is_in_form(frame, s, step, call, i))
            return holo_call_fail(
                call, HOLO_BAD_ARCHIVE,
                "input %d is not packed as its kernel reads it; an older version may have packed it: compile the model again",
                i);
    return HOLO_OK;
}

static bool has_open(const HoloCall *call)
{
    bool open = false;
    for (int k = 0; k < call->in_count; k++) open = open || is_open(call->in[k]);
    for (int k = 0; k < call->out_count; k++) open = open || is_open(call->out[k]);
    return open;
}

// Has the step's device prepare it, with that kernel or, if it is 0, with eval. All sizes of a kernel must be numbers.
static HoloStatus step_admit(HoloFrame *frame, uint32_t i, uint32_t kernel, size_t *out_scratch)
{
    const HoloStepRecord *s    = &frame->session->model->archive.STEPS_at[frame->plan->step_first + i];
    const HoloStep       *step = &frame->steps[i];
    HoloCall              seen = frame->calls[i], *call = &seen;
    *out_scratch = 0;
    if (kernel && has_open(call))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "a kernel has operands of unknown size");
    if (step->on != frame->session->devices) seen.in = inputs_plain(frame, &frame->calls[i]);
    if (!seen.in) return holo_fail_memory(call->error);
    HOLO_TRY(step->on->device->prepare(step->on->self, kernel, call, step->job, out_scratch));
    return forms_check(frame, s, step, call);
}

// Takes memory for the job of a step; for an open step also for that of eval.
static HoloStatus job_take(HoloFrame *frame, uint32_t i, const HoloStepRecord *s)
{
    HoloStep *step = &frame->steps[i];
    size_t    size = step->on->device->job_size(s->kernel), plain = step->on->device->job_size(0);
    if (!size)
        return holo_call_fail(&frame->calls[i], HOLO_UNSUPPORTED, "this runtime has no kernel %u of %s", s->kernel,
                              step->on->device->name);
    step->job = holo_arena_take_raw(&frame->jobs, size > plain ? size : plain);
    return step->job ? HOLO_OK : holo_fail_memory(frame->calls[i].error);
}

// holo_frame_decide handles open steps with a kernel.
static HoloStatus job_bind(HoloFrame *frame, uint32_t i, const HoloStepRecord *s)
{
    HoloStep *step = &frame->steps[i];
    size_t    need = 0;
    HOLO_TRY(job_take(frame, i, s));
    step->is_decided = step->is_open && s->kernel;
    if (step->is_decided) return HOLO_OK;
    HoloArenaMark mark = holo_arena_mark(&frame->temp);
    frame->holds       = &frame->jobs;
    HoloStatus status  = step_admit(frame, i, s->kernel, &need);
    frame->holds       = NULL;
    holo_arena_reset(&frame->temp, mark);
    if (need > step->on->asked) step->on->asked = need;
    return status;
}

HoloStatus holo_frame_decide(HoloFrame *frame, uint32_t i, HoloError *error)
{
    const HoloStepRecord *s    = &frame->session->model->archive.STEPS_at[frame->plan->step_first + i];
    HoloCall             *call = &frame->calls[i];
    HoloError             why = {0}, ignored = {0};
    size_t                scratch, none;
    call->error       = &why;
    HoloStatus status = step_admit(frame, i, s->kernel, &scratch);
    call->error       = &ignored;
    bool is_plain     = status && !step_admit(frame, i, 0, &none);
    call->error       = error;
    if (!status) return holo_session_reserve(frame->session, frame->steps[i].on, scratch, error);
    return is_plain ? HOLO_OK : holo_fail(error, status, "%s", why.text);
}

// May what the operator prepares serve all runs? Then it depends on constants alone.
static bool is_kept(const HoloFrame *frame, const HoloStepRecord *s, const HoloOp *op)
{
    enum { COMPARED = 8, CONSTANTS = 32 }; // inputs whose types frame.c compares; bits of prepare_in
    if (!op->prepare || s->kernel || s->target) return false;
    for (uint32_t i = 0; i < s->in_count; i++) {
        uint32_t v = frame->session->model->archive.OPERANDS_at[s->operand_first + i];
        if (v == HOLO_NO_VALUE) continue;
        HoloStorage storage = holo_frame_record(frame, frame->roots[v])->storage;
        if (i >= COMPARED && storage == HOLO_STORE_HEAP) return false; // it may have another type in the next run
        if (i < CONSTANTS && op->prepare_in >> i & 1 && storage != HOLO_STORE_CONSTANT) return false;
    }
    return true;
}

// Prepares now, so that no run has to. A failure is reported by the run that needs it, if there is one.
static void step_prepare(HoloFrame *frame, uint32_t i)
{
    HoloError     why  = {0};
    HoloArenaMark mark = holo_arena_mark(&frame->temp);
    if (!frame->steps[i].is_kept || frame->steps[i].is_open) return;
    frame->calls[i].error = &why;
    if (holo_frame_prepare(frame, i)) frame->calls[i].prepared = NULL;
    holo_arena_reset(&frame->temp, mark);
}

static bool has_packed(const HoloFrame *frame, const HoloStepRecord *s)
{
    for (uint32_t i = 0; i < s->in_count; i++) {
        uint32_t                  v = frame->session->model->archive.OPERANDS_at[s->operand_first + i];
        const HoloConstantRecord *k = v == HOLO_NO_VALUE ? NULL : holo_frame_constant(frame, v);
        if (k && k->packed) return true;
    }
    return false;
}

// Devices other than the CPU run only steps whose sizes are all known before the run: sizes that depend on values would
// need a wait in the middle of it.
static HoloStatus sizes_check(const HoloFrame *frame, uint32_t i)
{
    const HoloStep *step = &frame->steps[i];
    if (step->on == frame->session->devices || !(step->is_open || step->is_checked)) return HOLO_OK;
    return holo_call_fail(&frame->calls[i], HOLO_BAD_ARCHIVE,
                          "it runs on %s, but its sizes are not known before the run", step->on->device->name);
}

// Only an operator that updates its first input may write a state, and it reads it only as that. Operators check values
// and then use them, so nothing else may change under them.
static HoloStatus updates_check(const HoloFrame *frame, const HoloStepRecord *s, const HoloCall *call)
{
    const uint32_t *operand = frame->session->model->archive.OPERANDS_at + s->operand_first;
    for (uint32_t k = s->in_count; k < (uint32_t)s->in_count + s->out_count; k++) {
        uint32_t v = operand[k], root = v == HOLO_NO_VALUE ? 0 : frame->roots[v];
        if (v == HOLO_NO_VALUE || !holo_value_is_state(holo_frame_record(frame, root))) continue;
        bool ok = call->op->flags & HOLO_OP_UPDATES && k == s->in_count &&
                  holo_types_equal(&frame->types[v], &frame->types[root]) && operand[0] == root;
        for (uint32_t i = 1; i < s->in_count; i++)
            ok = ok && (operand[i] == HOLO_NO_VALUE || frame->roots[operand[i]] != root);
        if (!ok) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "it writes a state that it may not write");
    }
    return HOLO_OK;
}

static HoloStatus step_bind(HoloFrame *frame, uint32_t i, HoloError *error)
{
    const HoloStepRecord *s    = &frame->session->model->archive.STEPS_at[frame->plan->step_first + i];
    HoloCall             *call = &frame->calls[i];
    HoloStep             *step = &frame->steps[i];
    *step                      = (HoloStep){
                             .on             = &frame->session->devices[s->target],
                             .way            = holo_frame_transfer(frame, s),
                             .is_kept        = is_kept(frame, s, call->op),
                             .prepared       = step->prepared,
                             .prepared_types = step->prepared_types,
    };
    step->is_open    = has_open(call);
    step->has_packed = has_packed(frame, s);

    step->is_transfer = step->way != HOLO_TRANSFER_WITHIN;
    if (!step->is_open) {
        bool              known = true;
        const HoloTensor *types;
        HoloArenaMark     mark   = holo_arena_mark(&frame->temp);
        HoloStatus        status = holo_frame_infer(frame, i, &types, &known, error);
        holo_arena_reset(&frame->temp, mark);
        HOLO_TRY(status);
        step->is_checked = !known;
    }
    call->error = error;
    HOLO_TRY(updates_check(frame, s, call));
    HOLO_TRY(sizes_check(frame, i));
    if (step->is_transfer) {
        HOLO_TRY(holo_frame_bind_transfer(frame, i));
        bool by_kernel = s->kernel && !step->is_constant;
        if (by_kernel && !step->on->device->transfer_by)
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s has no transfers by kernels", step->on->device->name);
        return by_kernel ? job_bind(frame, i, s) : HOLO_OK;
    }
    HOLO_TRY(job_bind(frame, i, s));
    step_prepare(frame, i);
    call->error = error;
    return HOLO_OK;
}

// Does value `v` have contents, given which values of the heap were made before?
static bool is_there(const HoloFrame *frame, uint32_t v, const bool *made)
{
    v = frame->roots[v];
    return made[v] || holo_frame_record(frame, v)->storage != HOLO_STORE_HEAP;
}

// A step must make a heap value before others read it. Operators whose output sizes depend on values or subgraphs must
// write to the heap.
static HoloStatus step_order_check(const HoloFrame *frame, const HoloStepRecord *s, const HoloCall *call, bool *made)
{
    bool must_be_heap = call->op->flags & (HOLO_OP_CONTROL | HOLO_OP_DYNAMIC);
    for (uint32_t k = 0; k < (uint32_t)s->in_count + s->out_count; k++) {
        uint32_t v = frame->session->model->archive.OPERANDS_at[s->operand_first + k];
        if (v == HOLO_NO_VALUE) continue;
        if (k < s->in_count && !is_there(frame, v, made))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "input %u is read before it is computed", k);
        if (k < s->in_count) continue;
        if (must_be_heap && holo_frame_record(frame, v)->storage != HOLO_STORE_HEAP)
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "output %u has a planned place, but no size before the run",
                                  k - s->in_count);
        made[v] = true;
    }
    return HOLO_OK;
}

// The same holds for outputs of the plan. They must be elements, which packed weights are not.
static HoloStatus order_check(HoloFrame *frame, HoloError *error)
{
    const HoloStepRecord *steps = frame->session->model->archive.STEPS_at + frame->plan->step_first;
    bool                 *made  = HOLO_NEW(&frame->temp, bool, frame->plan->value_count + 1);
    if (!made) return holo_fail_memory(error);
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        frame->calls[i].error = error;
        HOLO_TRY(step_order_check(frame, &steps[i], &frame->calls[i], made));
    }
    for (uint32_t i = 0; i < frame->plan->output_count; i++) {
        uint32_t                  v = holo_frame_output_value(frame, i);
        const HoloConstantRecord *k = holo_frame_constant(frame, v);
        if (!is_there(frame, v, made)) return holo_fail(error, HOLO_BAD_ARCHIVE, "output %u is never computed", i);
        if (k && k->packed) return holo_fail(error, HOLO_BAD_ARCHIVE, "output %u is a packed constant", i);
    }
    return HOLO_OK;
}

static HoloStatus steps_bind(HoloFrame *frame, HoloError *error)
{
    HoloSession *session = frame->session;
    HOLO_TRY(order_check(frame, error));
    holo_stretches_forget(frame);
    holo_arena_reset(&frame->jobs, (HoloArenaMark){0});
    for (uint32_t i = 0; i < session->device_count; i++) session->devices[i].asked = 0;
    for (uint32_t i = 0; i < frame->plan->step_count; i++) HOLO_TRY(step_bind(frame, i, error));
    for (uint32_t i = 0; i < session->device_count; i++)
        HOLO_TRY(holo_session_reserve(session, &session->devices[i], session->devices[i].asked, error));
    return HOLO_OK;
}

// ---- the whole frame

static bool is_bound_to(const HoloFrame *frame, const HoloTensor *const *inputs)
{
    if (!frame->is_bound) return false;
    for (uint32_t i = 0; i < frame->plan->input_count; i++)
        if (!holo_types_equal(&frame->types[holo_frame_input_value(frame, i)], inputs[i])) return false;
    // What an enclosing frame says about sizes may also have changed.
    const HoloFrame *parent = frame->parent;
    size_t           dims   = frame->session->model->archive.DIMS_count;
    return !parent || (!memcmp(parent->dims, frame->parent_dims, dims * sizeof *frame->dims) &&
                       !memcmp(parent->dim_is_known, frame->parent_dim_is_known, dims * sizeof *frame->dim_is_known));
}

static HoloStatus bind(HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error)
{
    HOLO_TRY(symbols_bind(frame, inputs, error));
    dims_evaluate(frame);
    HOLO_TRY(inputs_check(frame, inputs, error));
    HOLO_TRY(values_bind(frame, inputs, error));
    HOLO_TRY(steps_bind(frame, error));
    HOLO_TRY(holo_frame_layout(frame, error));
    return holo_stretches_find(frame, error);
}

HoloStatus holo_frame_bind(HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error)
{
    if (is_bound_to(frame, inputs)) return HOLO_OK;
    frame->is_bound      = false;
    HoloArenaMark mark   = holo_arena_mark(&frame->temp);
    HoloStatus    status = bind(frame, inputs, error);
    holo_arena_reset(&frame->temp, mark);
    frame->is_bound = !status;
    size_t dims     = frame->session->model->archive.DIMS_count;
    if (frame->parent) {
        memcpy(frame->parent_dims, frame->parent->dims, dims * sizeof *frame->dims);
        memcpy(frame->parent_dim_is_known, frame->parent->dim_is_known, dims * sizeof *frame->dim_is_known);
    }
    return status;
}
