// frame.c - creates, runs and destroys frames; and what a frame does for the operators that run in it.
#include "runtime/frame/frame.h"

#include "runtime/frame/stretch.h"
#include "runtime/pool.h"
#include "runtime/session/reuse.h"
#include "runtime/session/there.h"

#include <string.h>

// ---- the host of operators

static HoloFrame *frame_of(const HoloHost *host)
{
    return (HoloFrame *)(uintptr_t)host; // the host is the first member
}

// Takes zeroed memory. Large memory is zeroed in pieces, which stops if the run is to end.
static void *memory_take(const HoloHost *host, HoloArena *arena, size_t size)
{
    enum { LARGE = 64 << 20, PIECE = 16 << 20 };
    if (size < LARGE) return holo_arena_take(arena, size);
    char *memory = holo_arena_take_raw(arena, size);
    for (size_t done = 0; memory && done < size; done += PIECE) {
        if (holo_stop_is_due(host->stop)) return NULL;
        memset(memory + done, 0, size - done < PIECE ? size - done : PIECE);
    }
    return memory;
}

static void *host_temp(const HoloHost *host, size_t size)
{
    return memory_take(host, &frame_of(host)->temp, size);
}

static void *host_hold(const HoloHost *host, size_t size)
{
    HoloFrame *frame = frame_of(host);
    return memory_take(host, frame->holds ? frame->holds : &frame->temp, size);
}

static void *host_keep(const HoloHost *host, size_t size)
{
    HoloFrame *frame = frame_of(host);
    HoloArena *kept  = holo_reuse_heap(frame);
    return memory_take(host, kept ? kept : &frame->heap[frame->turn], size);
}

typedef struct Stoppable { // work that stops early if the run is to end
    HoloStop *stop;
    void (*work)(void *, int64_t, int);
    void            *arg;
    HoloProfileSpan *spans; // for a profile; NULL: the times of workers are not wanted
} Stoppable;

static void stoppable_work(void *arg, int64_t i, int worker)
{
    const Stoppable *all = arg;
    if (!holo_stop_is_due(all->stop)) all->work(all->arg, i, worker);
}

static void timed_work(void *arg, int64_t i, int worker)
{
    const Stoppable *all  = arg;
    HoloProfileSpan *span = &all->spans[worker];
    if (!(span->start > 0)) span->start = holo_time_now();
    stoppable_work(arg, i, worker);
    span->end = holo_time_now();
}

static void host_parallel(const HoloHost *host, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    HoloSession *session = frame_of(host)->session;
    Stoppable    all     = {host->stop, work, arg, session->profile.is_on ? session->profile.spans : NULL};
    holo_pool_run(session->pool, count, all.spans ? timed_work : stoppable_work, &all);
}

// Is the value, with everything that it refers to, in a heap that is not emptied yet?
static bool is_settled(const HoloFrame *frame, uint32_t v)
{
    const HoloTensor *t       = &frame->values[v];
    HoloStorage       storage = holo_frame_record(frame, frame->roots[v])->storage;
    if (t->kind == HOLO_SEQUENCE && t->inner == HOLO_TENSOR) return !frame->is_fresh;
    if (t->kind != HOLO_TENSOR || t->dtype == HOLO_STRING) return false;
    return storage == HOLO_STORE_ARENA || storage == HOLO_STORE_HEAP || storage == HOLO_STORE_CONSTANT;
}

// Makes sure that an output of a subgraph, with all that it holds, is in the heap of this run or is a constant. A run
// that begins with an empty heap copies its results there. So a sequence of the next run, which shares the heap, can
// refer only to this heap or to what outlives the subgraph, and is given out without a copy. What a loop carries is
// copied only when the heap has doubled.
static HoloStatus results_take(HoloFrame *frame, int count, HoloTensor *const *out, HoloError *error)
{
    enum { SHARE_MIN = 1 << 20 };
    for (int i = 0; i < count; i++) {
        uint32_t v = holo_frame_output_value(frame, (uint32_t)i);
        if (!out[i]) continue;
        *out[i] = frame->values[v];
        if (!is_settled(frame, v)) HOLO_TRY(holo_value_clone(&frame->host, &frame->values[v], out[i], error));
    }
    if (!frame->is_fresh || !frame->has_lists) return HOLO_OK;
    size_t used       = holo_arena_used(&frame->heap[frame->turn]);
    frame->heap_limit = used > SHARE_MIN / 2 ? 2 * used : SHARE_MIN;
    frame->lists      = (HoloLists){0}; // the originals of the copies must not grow
    return HOLO_OK;
}

static HoloStatus host_subgraph(const HoloHost *host, void *graph, int in_count, const HoloTensor *const *in,
                                int out_count, HoloTensor *const *out, HoloError *error)
{
    enum { DEPTH_MAX = 256 };
    HoloFrame   *outer   = frame_of(host);
    HoloSession *session = outer->session;
    uint32_t     number  = (uint32_t)((const HoloPlanRecord *)graph - session->model->archive.PLANS_at);
    HoloFrame  **slot    = &session->frames[number];
    if (!*slot) HOLO_TRY(holo_frame_create(session, number, outer, slot, error));
    HoloFrame *frame = *slot;
    frame->parent    = outer;
    frame->depth     = outer->depth + 1;
    if (frame->depth > DEPTH_MAX)
        return holo_fail(error, HOLO_BAD_ARCHIVE, "subgraphs are nested more than %d deep", DEPTH_MAX);
    if ((uint32_t)in_count != frame->plan->input_count || (uint32_t)out_count > frame->plan->output_count)
        return holo_fail(error, HOLO_BAD_MODEL, "a subgraph has %u inputs and %u outputs, but the call has %d and %d",
                         frame->plan->input_count, frame->plan->output_count, in_count, out_count);
    for (int i = 0; i < in_count; i++)
        if (!in[i]) return holo_fail(error, HOLO_BAD_MODEL, "input %d of a subgraph is missing", i);
    if (holo_stop_is_due(&session->stop)) return HOLO_CANCELLED; // a body without steps would not notice it
    HOLO_TRY(holo_frame_bind(frame, in, error));
    HOLO_TRY(holo_frame_run(frame, in, error));
    return results_take(frame, out_count, out, error);
}

static void host_counts(const HoloHost *host, const void *graph, int *out_inputs, int *out_outputs)
{
    (void)host;
    const HoloPlanRecord *plan = graph;
    *out_inputs                = (int)plan->input_count;
    *out_outputs               = (int)plan->output_count;
}

static const char *host_input(const HoloHost *host, const void *graph, int i, HoloTensor *out_type)
{
    const HoloModel       *model = frame_of(host)->session->model;
    const HoloArchive     *a     = &model->archive;
    const HoloPlanRecord  *plan  = graph;
    const HoloValueRecord *v     = &a->VALUES_at[plan->value_first + a->OPERANDS_at[plan->input_first + (uint32_t)i]];
    *out_type                    = (HoloTensor){.dtype = v->dtype, .kind = v->kind, .inner = v->inner, .rank = v->rank};
    for (int d = 0; d < v->rank; d++) {
        int64_t size     = a->SIZES_at[v->size_first + (uint32_t)d];
        out_type->dim[d] = holo_dim_is_symbolic(size) ? HOLO_DIM_UNKNOWN : size;
    }
    return holo_model_text(model, v->name);
}

// ---- making

#define TAKE(frame, field, count)                                                                             \
    do {                                                                                                      \
        (frame)->field = holo_arena_take_array(&(frame)->arena, (size_t)(count) + 1, sizeof *(frame)->field); \
        if (!(frame)->field) return holo_fail_memory(error);                                                  \
    } while (0)

static void call_init(HoloFrame *frame, const HoloStepRecord *s, HoloTensor **operands, HoloCall *call)
{
    const HoloArchive *a = &frame->session->model->archive;
    for (uint32_t k = 0; k < (uint32_t)s->in_count + s->out_count; k++) {
        uint32_t v  = a->OPERANDS_at[s->operand_first + k];
        operands[k] = v == HOLO_NO_VALUE ? NULL : &frame->values[v];
    }
    *call      = holo_model_call(frame->session->model, s, operands);
    call->host = &frame->host;
}

// Calls refer to operands, operands refer to values. This is set up once, since none of them moves.
static HoloStatus arrays_create(HoloFrame *frame, HoloError *error)
{
    const HoloArchive    *a             = &frame->session->model->archive;
    const HoloPlanRecord *plan          = frame->plan;
    const HoloStepRecord *steps         = a->STEPS_at + plan->step_first;
    size_t                operand_count = 0, at = 0;
    for (uint32_t i = 0; i < plan->step_count; i++) operand_count += (size_t)steps[i].in_count + steps[i].out_count;
    TAKE(frame, values, plan->value_count);
    TAKE(frame, types, plan->value_count);
    TAKE(frame, roots, plan->value_count);
    TAKE(frame, starts, plan->value_count);
    TAKE(frame, origins, plan->value_count);
    TAKE(frame, is_held, plan->value_count);
    TAKE(frame, is_there, plan->value_count);
    TAKE(frame, is_left, plan->value_count);
    TAKE(frame, writers, plan->value_count);
    TAKE(frame, spaces, frame->session->device_count);
    TAKE(frame, operands, operand_count);
    TAKE(frame, calls, plan->step_count);
    TAKE(frame, steps, plan->step_count);
    TAKE(frame, dims, a->DIMS_count);
    TAKE(frame, dim_is_known, a->DIMS_count);
    TAKE(frame, parent_dims, a->DIMS_count);
    TAKE(frame, parent_dim_is_known, a->DIMS_count);
    for (uint32_t i = 0; i < plan->value_count; i++) {
        const HoloValueRecord *v = holo_frame_record(frame, i);
        frame->roots[i]          = holo_store_is_shared(v->storage) ? frame->roots[v->at] : i;
        frame->origins[i]        = HOLO_NO_VALUE;
    }
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const uint32_t *operand = a->OPERANDS_at + steps[i].operand_first;
        if (holo_frame_transfer(frame, &steps[i]) == HOLO_TRANSFER_IN) frame->origins[operand[1]] = operand[0];
        for (uint32_t k = steps[i].in_count; k < (uint32_t)steps[i].in_count + steps[i].out_count; k++)
            if (operand[k] != HOLO_NO_VALUE) frame->writers[frame->roots[operand[k]]]++;
        call_init(frame, &steps[i], frame->operands + at, &frame->calls[i]);
        at += (size_t)steps[i].in_count + steps[i].out_count;
    }
    return HOLO_OK;
}

HoloStatus holo_frame_create(HoloSession *session, uint32_t plan, const HoloFrame *parent, HoloFrame **out,
                             HoloError *error)
{
    HoloFrame *frame = holo_realloc(NULL, sizeof *frame);
    if (!frame) return holo_fail_memory(error);
    *frame = (HoloFrame){
        .host    = {.temp     = host_temp,
                    .hold     = host_hold,
                    .keep     = host_keep,
                    .subgraph = host_subgraph,
                    .counts   = host_counts,
                    .input    = host_input,
                    .parallel = host_parallel},
        .session = session,
        .parent  = parent,
        .plan    = &session->model->archive.PLANS_at[plan],
    };
    frame->host.stop    = &session->stop;
    frame->host.workers = holo_pool_threads(session->pool);
    frame->host.kernels = session->model->kernels;
    frame->host.lists   = &frame->lists;
    for (uint32_t i = 0; parent && i < frame->plan->output_count; i++)
        frame->has_lists |= holo_frame_record(frame, holo_frame_output_value(frame, i))->kind == HOLO_SEQUENCE;
    HoloStatus status = arrays_create(frame, error);
    if (status)
        holo_frame_destroy(frame);
    else
        *out = frame;
    return status;
}

void holo_frame_destroy(HoloFrame *frame)
{
    if (!frame) return;
    holo_stretches_forget(frame);
    holo_reuse_destroy(frame);
    for (uint32_t i = 0; frame->steps && i < frame->plan->step_count; i++)
        if (frame->steps[i].prepared && frame->calls[i].op->release)
            frame->calls[i].op->release(frame->steps[i].prepared);
    if (frame->spaces) holo_frame_give(frame);
    for (int i = 0; i < HOLO_COUNT(frame->heap); i++) holo_arena_deinit(&frame->heap[i]);
    holo_arena_deinit(&frame->temp);
    holo_arena_deinit(&frame->prepared);
    holo_arena_deinit(&frame->jobs);
    holo_arena_deinit(&frame->contents);
    holo_arena_deinit(&frame->arena);
    holo_free(frame);
}

// ---- running

// The results of a subgraph must live through its next run, which may read them. So two runs have a heap each, and the
// planned outputs are there, too. If there are sequences among the results, runs continue in one heap until it is
// large: see results_take.
static HoloStatus results_begin(HoloFrame *frame, HoloError *error)
{
    frame->is_fresh = !frame->has_lists || holo_arena_used(&frame->heap[frame->turn]) >= frame->heap_limit;
    if (frame->is_fresh) {
        if (frame->parent) frame->turn = !frame->turn;
        holo_arena_reset(&frame->heap[frame->turn], (HoloArenaMark){0});
        frame->lists = (HoloLists){0};
    }
    for (uint32_t i = 0; frame->parent && i < frame->plan->output_count; i++) {
        uint32_t v = frame->roots[holo_frame_output_value(frame, i)];
        if (holo_frame_record(frame, v)->storage != HOLO_STORE_ARENA) continue;
        frame->values[v].data = host_keep(&frame->host, holo_tensor_bytes(&frame->types[v]) + 1);
        if (!frame->values[v].data) return holo_fail_memory(error);
    }
    return HOLO_OK;
}

// Sets the data of inputs to the caller's bytes, and that of aliases and parts to the bytes they share.
static void values_point(HoloFrame *frame, const HoloTensor *const *inputs)
{
    for (uint32_t i = 0; i < frame->plan->input_count; i++)
        frame->values[holo_frame_input_value(frame, i)] = *inputs[i];
    for (uint32_t i = 0; i < frame->plan->value_count; i++) {
        const HoloValueRecord *v = holo_frame_record(frame, i);
        if (!holo_store_is_shared(v->storage)) continue;
        frame->values[i].data = frame->values[frame->roots[i]].data;
        if (frame->starts[i]) frame->values[i].data = (char *)frame->values[i].data + frame->starts[i];
    }
}

static bool sizes_are_known(const HoloTensor *t)
{
    if (t->rank < 0 || t->kind != HOLO_TENSOR) return false;
    for (int d = 0; d < t->rank; d++)
        if (holo_dim_is_symbolic(t->dim[d])) return false;
    return true;
}

static bool is_heap(const HoloFrame *frame, const HoloTensor *value)
{
    return holo_frame_record(frame, (uint32_t)(value - frame->values))->storage == HOLO_STORE_HEAP;
}

// Asks infer again with the values that exist now. Planned outputs must have the planned sizes. Outputs on the heap get
// their types and, if their sizes are known, memory. A kernel that was prepared before the run trusts its sizes.
static HoloStatus step_open(HoloFrame *frame, uint32_t i, HoloError *error)
{
    HoloCall *call = &frame->calls[i];
    bool      is_prepared =
        frame->session->model->archive.STEPS_at[frame->plan->step_first + i].kernel && !frame->steps[i].is_decided;
    for (int k = 0; k < call->out_count; k++)
        if (call->out[k] && is_heap(frame, call->out[k])) *call->out[k] = (HoloTensor){.rank = -1};
    const HoloTensor *types;
    bool              known;
    HOLO_TRY(holo_frame_infer(frame, i, &types, &known, error));
    if (!known)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "an output has a planned place, but its size is not known");
    for (int k = 0; k < call->out_count; k++)
        if (call->out[k] && is_heap(frame, call->out[k])) *call->out[k] = types[k];
    HOLO_TRY(holo_op_check_sized(call));
    for (int k = 0; k < call->out_count; k++) {
        const HoloTensor *out = call->out[k];
        if (!out || !is_heap(frame, out)) continue;
        if (is_prepared && !holo_types_equal(out, &frame->types[out - frame->values]))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "output %d does not have the sizes that its kernel expects",
                                  k);
        if (sizes_are_known(out)) HOLO_TRY(holo_out_alloc(call, k));
    }
    return HOLO_OK;
}

// Does a tensor have valid sizes, and data for its elements?
static bool is_whole(const HoloTensor *t)
{
    int64_t count = sizes_are_known(t) ? holo_tensor_count(t) : -1;
    return count == 0 || (count > 0 && t->data);
}

// A value made on the heap must have the sizes that later steps were bound to.
static HoloStatus step_close(const HoloFrame *frame, const HoloCall *call)
{
    for (int k = 0; k < call->out_count; k++) {
        const HoloTensor *have = call->out[k];
        if (!have || !is_heap(frame, have)) continue;
        const HoloTensor *want = &frame->types[have - frame->values];
        if (!have->dtype || (have->kind == HOLO_TENSOR && !is_whole(have)))
            return holo_call_fail(call, HOLO_INTERNAL, "output %d was not computed", k);
        bool is_other = have->kind == HOLO_TENSOR && have->dtype != want->dtype;
        if (want->dtype && (is_other || !holo_kind_fits(want->kind, want->inner, have)))
            return holo_call_fail(call, HOLO_BAD_MODEL, "output %d does not have the type that the model implies", k);
        if (!sizes_are_known(want)) continue;
        bool same = have->dtype == want->dtype && have->kind == want->kind && have->rank == want->rank;
        for (int d = 0; same && d < have->rank; d++) same = have->dim[d] == want->dim[d];
        if (!same)
            return holo_call_fail(call, HOLO_BAD_MODEL, "output %d does not have the sizes that the model implies", k);
    }
    return HOLO_OK;
}

static bool has_heap_output(const HoloFrame *frame, const HoloCall *call)
{
    for (int k = 0; k < call->out_count; k++)
        if (call->out[k] && is_heap(frame, call->out[k])) return true;
    return false;
}

// The kinds and dtypes of the first inputs. A value of the heap may have another type in the next run.
static uint64_t input_types(const HoloCall *call)
{
    uint64_t types = 0;
    _Static_assert(HOLO_DTYPE_COUNT <= 32, "a byte has a dtype and a kind");
    for (int k = 0; k < call->in_count && k < 8; k++)
        types = types << 8 | (call->in[k] ? (uint64_t)(call->in[k]->dtype | call->in[k]->kind << 5) : 0);
    return types;
}

// If the types differ from those at binding, what is kept does not fit. eval then prepares something for this run
// alone.
HoloStatus holo_frame_prepare(HoloFrame *frame, uint32_t i)
{
    HoloStep *step  = &frame->steps[i];
    HoloCall *call  = &frame->calls[i];
    uint64_t  types = input_types(call);
    if (!step->prepared) {
        HoloArenaMark mark   = holo_arena_mark(&frame->prepared);
        frame->holds         = &frame->prepared;
        HoloStatus status    = call->op->prepare(call, &step->prepared);
        frame->holds         = NULL;
        step->prepared_types = types;
        if (status) {
            step->prepared = NULL;
            holo_arena_reset(&frame->prepared, mark);
            return status;
        }
    }
    call->prepared = types == step->prepared_types ? step->prepared : NULL;
    return HOLO_OK;
}

// A transfer to the host is done when this returns.
static HoloStatus step_transfer(HoloFrame *frame, const HoloStep *step, HoloCall *call)
{
    const HoloOpenDevice *on       = step->on;
    const HoloTensor     *hosts    = step->way == HOLO_TRANSFER_IN ? call->in[0] : call->out[0];
    bool                  is_there = frame->is_there[frame->roots[hosts - frame->values]];
    if (frame->is_left[hosts - frame->values]) return HOLO_OK;
    frame->host.scratch = on->scratch;
    if (step->job)
        HOLO_TRY(on->device->transfer_by(on->self, step->way, is_there, call, step->job));
    else
        HOLO_TRY(on->device->transfer(on->self, is_there ? HOLO_TRANSFER_WITHIN : step->way, call->out[0]->data,
                                      call->in[0]->data, step->bytes, call->error));
    return step->way == HOLO_TRANSFER_OUT && !is_there ? on->device->wait(on->self, call->error) : HOLO_OK;
}

HoloStatus holo_frame_launch(HoloFrame *frame, uint32_t i, HoloError *error)
{
    HoloStep *step             = &frame->steps[i];
    HoloCall *call             = &frame->calls[i];
    call->error                = error;
    frame->host.scratch        = step->on->scratch; // it may have moved: steps and subgraphs enlarge it
    frame->host.scratch_stride = step->on->scratch_stride;
    return step->on->device->launch(step->on->self, call, step->job);
}

static HoloStatus step_run(HoloFrame *frame, uint32_t i, HoloError *error)
{
    HoloStep *step = &frame->steps[i];
    HoloCall *call = &frame->calls[i];
    bool      heap = has_heap_output(frame, call);
    call->error    = error;
    if (step->is_transfer) return step_transfer(frame, step, call);
    if (step->is_open || step->is_checked || heap) HOLO_TRY(step_open(frame, i, error));
    if (step->is_decided) HOLO_TRY(holo_frame_decide(frame, i, error));
    call->prepared = NULL;
    if (step->is_kept) HOLO_TRY(holo_frame_prepare(frame, i));
    HOLO_TRY(holo_frame_launch(frame, i, error));
    return heap ? step_close(frame, call) : HOLO_OK;
}

// A value as the host can read it, until frame->temp is emptied. False: it cannot be brought to the host.
static bool value_show(HoloFrame *frame, uint32_t value, HoloTensor *out)
{
    HoloOpenDevice *on    = &frame->session->devices[holo_frame_record(frame, value)->space];
    size_t          bytes = holo_tensor_bytes(&frame->values[value]);
    HoloError       why   = {0};
    *out                  = frame->values[value];
    if (on == frame->session->devices || !bytes) return true;
    out->data = holo_arena_take(&frame->temp, bytes);
    if (out->data && on->device->show)
        return !on->device->show(on->self, HOLO_TRANSFER_OUT, &frame->values[value], out->data, &why);
    return out->data &&
           !on->device->transfer(on->self, HOLO_TRANSFER_OUT, out->data, frame->values[value].data, bytes, &why) &&
           !on->device->wait(on->self, &why);
}

static void step_watch(HoloFrame *frame, uint32_t i)
{
    const HoloSession    *session = frame->session;
    const HoloModel      *model   = session->model;
    const HoloStepRecord *s       = &model->archive.STEPS_at[frame->plan->step_first + i];
    for (uint32_t k = s->in_count; k < (uint32_t)s->in_count + s->out_count; k++) {
        uint32_t value = model->archive.OPERANDS_at[s->operand_first + k];
        if (value == HOLO_NO_VALUE) continue;
        const char *name = holo_model_text(model, holo_frame_record(frame, value)->name);
        HoloTensor  shown;
        if (value_show(frame, value, &shown))
            session->watch(session->watch_context, frame->calls[i].node, name, &shown);
    }
}

static void step_release(HoloFrame *frame, uint32_t i)
{
    const HoloModel      *model = frame->session->model;
    const HoloStepRecord *s     = &model->archive.STEPS_at[frame->plan->step_first + i];
    for (uint32_t k = 0; k < s->in_count; k++) {
        uint32_t value = model->archive.OPERANDS_at[s->operand_first + k];
        if (value == HOLO_NO_VALUE) continue;
        const HoloValueRecord *v = holo_frame_record(frame, value);
        if (v->storage != HOLO_STORE_CONSTANT) continue;
        const HoloConstantRecord *c = &model->archive.CONSTANTS_at[v->at];
        holo_file_release(&model->mapping, model->archive.WEIGHTS_at + c->offset, c->size);
    }
}

// A run that was stopped reports only that, whatever else failed because of it.
static HoloStatus stopped(const HoloFrame *frame, uint32_t step, HoloError *error)
{
    const HoloSession *session = frame->session;
    const char        *node    = frame->calls[step].node;
    if (error) error->status = HOLO_OK;
    if (atomic_load_explicit(&session->stop.why, memory_order_relaxed) == HOLO_STOP_LATE)
        return holo_fail(error, HOLO_TIMEOUT, "the run took longer than %g seconds: it was stopped at node %s",
                         session->time_limit, node);
    return holo_fail(error, HOLO_CANCELLED, "the run was cancelled at node %s", node);
}

// Waits until all devices but the CPU, which never lags behind, have finished what was launched.
static HoloStatus devices_wait(const HoloSession *session, HoloError *error)
{
    HoloStatus status = HOLO_OK;
    for (uint32_t i = 1; i < session->device_count; i++) {
        const HoloOpenDevice *on   = &session->devices[i];
        HoloStatus            last = on->device->wait(on->self, error);
        if (!status) status = last;
    }
    return status;
}

static HoloStatus steps_run(HoloFrame *frame, HoloError *error)
{
    HoloSession *session = frame->session;
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        uint32_t end = i;
        if (frame->steps[i].is_held) continue;
        HOLO_TRY(holo_stretches_run(frame, i, &end, error));
        if (end > i) i = end - 1;
        if (end > i && holo_stop_is_due(&session->stop)) return stopped(frame, i, error);
        if (end > i || holo_reuse_has(frame, i)) continue;
        holo_reuse_step(frame, i);
        double     start  = session->profile.is_on ? holo_profile_begin(frame) : 0;
        HoloStatus status = holo_stop_is_due(&session->stop) ? HOLO_CANCELLED : step_run(frame, i, error);
        if (holo_stop_is_due(&session->stop)) return stopped(frame, i, error); // the step's result may be incomplete
        HOLO_TRY(status);
        if (session->profile.is_on) HOLO_TRY(devices_wait(session, error));
        holo_arena_reset(&frame->temp, (HoloArenaMark){0});
        if (session->profile.is_on) holo_profile_end(frame, i, start);
        if (session->watch && !frame->parent) step_watch(frame, i);
        if (session->is_lean) step_release(frame, i);
    }
    return HOLO_OK;
}

HoloStatus holo_frame_run(HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error)
{
    HOLO_TRY(results_begin(frame, error));
    values_point(frame, inputs);
    holo_reuse_begin(frame, inputs);
    holo_stretches_begin(frame);
    HoloStatus status = steps_run(frame, error), last = HOLO_OK;
    if (status || frame->parent || !holo_there_only(frame->session)) last = devices_wait(frame->session, error);
    if (status || last) return status ? status : last;
    holo_reuse_end(frame);
    holo_stretches_end(frame);
    return HOLO_OK;
}
