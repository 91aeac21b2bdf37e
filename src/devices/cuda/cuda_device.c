// cuda_device.c - the row of the device `cuda`: memory, transfers, launches and recordings on one stream of a GPU.
#include "devices/cuda/cuda_panels.h"
#include "devices/cuda/cuda_waiting.h"

#include "base/memory.h"
#include "format/small_float.h"

#include <stdio.h>
#include <string.h>

enum { STAGING = 1 << 20 };

typedef struct Cuda {
    HoloCudaShared *shared;
    HoloCuHandle    stream;   // where things are launched: its own, or a caller's
    HoloCuHandle    own;      // recordings are made here
    HoloCuHandle    other;    // what `stream` was before the recording
    HoloCuAddress   counters; // HOLO_CUDA_COUNTERS words of zeros for products that are split
    char           *staging;  // pinned memory of the host, used in turns
    size_t          staged;   // bytes of it that transfers on their way read
    uint32_t       *status;   // pinned, too: kernels write it if an index is out of range
    uint8_t         store;    // how f32 lies in its memory: HOLO_CUDA_F32 ...
    HoloCudaWaiting waiting;  // while it records
    bool            is_recording;
} Cuda;

// Every call runs in the context of the device, whatever the thread had before.
static HoloStatus enter(const Cuda *c, HoloError *error)
{
    HOLO_CU_TRY(&c->shared->cu, context_push(c->shared->context), error, "using the device");
    return HOLO_OK;
}

static void leave(const Cuda *c)
{
    HoloCuHandle ignored;
    c->shared->cu.context_pop(&ignored);
}

// ---- opening

static HoloStatus parts_open(Cuda *c, HoloError *error)
{
    const HoloCu *cu   = &c->shared->cu;
    size_t        size = HOLO_CUDA_COUNTERS;
    HOLO_CU_TRY(cu, stream_create(&c->own, HOLO_CU_STREAM_OWN), error, "a stream");
    c->stream = c->own;
    HOLO_CU_TRY(cu, host_take((void **)&c->staging, STAGING, HOLO_CU_HOST_PORTABLE), error, "memory of the host");
    HOLO_CU_TRY(cu, host_take((void **)&c->status, 64, HOLO_CU_HOST_PORTABLE), error, "memory of the host");
    *c->status = 0;
    HOLO_CU_TRY(cu, take(&c->counters, size * sizeof(uint32_t)), error, "memory of the device");
    HOLO_CU_TRY(cu, clear(c->counters, 0, size, c->stream), error, "memory of the device");
    return HOLO_OK;
}

static void cuda_close(void *self)
{
    Cuda *c = self;
    if (!c) return;
    const HoloCu *cu = &c->shared->cu;
    if (!enter(c, NULL)) {
        if (c->own) cu->stream_wait(c->stream);
        if (c->counters) cu->give(c->counters);
        if (c->staging) cu->host_give(c->staging);
        if (c->status) cu->host_give(c->status);
        if (c->own) cu->stream_destroy(c->own);
        leave(c);
    }
    holo_free(c);
}

// How f32 lies in its memory: as all steps of the archive say.
static uint8_t store_of(const HoloDeviceSetup *setup)
{
    const HoloArchive *a = setup->archive;
    for (size_t i = 0; a && i < a->STEPS_count; i++) {
        const HoloStepRecord *s = &a->STEPS_at[i];
        HoloCudaStepParams    p;
        if (s->target != setup->target || s->params_size < sizeof p) continue;
        memcpy(&p, a->BYTES_at + s->params, sizeof p);
        return p.store <= HOLO_CUDA_BF16 ? p.store : HOLO_CUDA_F32;
    }
    return HOLO_CUDA_F32;
}

static HoloStatus cuda_open(const HoloDeviceSetup *setup, void **out_self, HoloError *error)
{
    if (!setup->shared)
        return holo_fail(error, HOLO_UNSUPPORTED, "cuda: kernels of one's own do not run on it yet: use the CPU");
    Cuda *c = *out_self = holo_realloc(NULL, sizeof *c);
    if (!c) return holo_fail_memory(error);
    *c                = (Cuda){.shared = setup->shared, .store = store_of(setup)};
    HoloStatus status = enter(c, error);
    if (!status) {
        status = parts_open(c, error);
        leave(c);
    }
    if (!status) return HOLO_OK;
    cuda_close(c);
    *out_self = NULL;
    return status;
}

// ---- memory

static void *take(void *self, size_t size, uint32_t how)
{
    Cuda         *c  = self;
    HoloCuAddress at = 0;
    (void)how;
    if (enter(c, NULL)) return NULL;
    if (c->shared->cu.take(&at, size ? size : 1)) at = 0;
    leave(c);
    return (void *)(uintptr_t)at;
}

static void give(void *self, void *memory, size_t size)
{
    Cuda *c = self;
    (void)size;
    if (!memory || enter(c, NULL)) return;
    c->shared->cu.stream_wait(c->stream);
    c->shared->cu.give((HoloCuAddress)(uintptr_t)memory);
    leave(c);
}

static HoloStatus constant(void *self, uint32_t number, const HoloCall *call, const void *bytes, size_t size,
                           void **out_at)
{
    Cuda          *c  = self;
    HoloCuAddress  at = 0;
    HoloCudaPanels panels;
    bool           turns;
    HOLO_TRY(holo_cuda_panels_read(call, c->store, size, &panels, &turns));
    HOLO_TRY(enter(c, call->error));
    HoloStatus status = holo_cuda_constant(c->shared, number, turns ? &panels : NULL, bytes, size, &at, call->error);
    leave(c);
    *out_at = (void *)(uintptr_t)at;
    return status;
}

// Part by part through pinned memory. A part that does not fit behind those on their way waits for them.
static HoloStatus bring(Cuda *c, HoloCuAddress to, const char *from, size_t size, HoloError *error)
{
    const HoloCu *cu = &c->shared->cu;
    for (size_t done = 0, part; done < size; done += part) {
        part = size - done < STAGING ? size - done : STAGING;
        if (part > STAGING - c->staged) {
            HOLO_CU_TRY(cu, stream_wait(c->stream), error, "a transfer to the device");
            c->staged = 0;
        }
        memcpy(c->staging + c->staged, from + done, part);
        HOLO_CU_TRY(cu, copy_in(to + done, c->staging + c->staged, part, c->stream), error, "a transfer to the device");
        c->staged += holo_align(part, 64);
        if (c->staged > STAGING) c->staged = STAGING;
    }
    return HOLO_OK;
}

static HoloStatus transfer(void *self, HoloTransferWay way, void *to, const void *from, size_t size, HoloError *error)
{
    Cuda         *c    = self;
    const HoloCu *cu   = &c->shared->cu;
    HoloCuAddress into = (HoloCuAddress)(uintptr_t)to, out = (HoloCuAddress)(uintptr_t)from;
    HoloCuResult  result = 0;
    HoloStatus    status = HOLO_OK;
    if (!size) return HOLO_OK;
    HOLO_TRY(enter(c, error));
    if (way == HOLO_TRANSFER_IN) status = bring(c, into, from, size, error);
    if (way == HOLO_TRANSFER_OUT) result = cu->copy_out(to, out, size, c->stream);
    if (way == HOLO_TRANSFER_WITHIN) result = cu->copy_within(into, out, size, c->stream);
    leave(c);
    return result ? holo_cu_fail(cu, result, error, "a transfer") : status;
}

static HoloStatus wait(void *self, HoloError *error)
{
    Cuda *c = self;
    HOLO_TRY(enter(c, error));
    HoloCuResult result = c->shared->cu.stream_wait(c->stream);
    leave(c);
    c->staged = 0;
    if (result) return holo_cu_fail(&c->shared->cu, result, error, "running");
    if (!*c->status) return HOLO_OK;
    bool is_cache = *c->status == HOLO_CUDA_STATUS_CACHE;
    *c->status    = 0;
    return holo_fail(error, HOLO_BAD_INPUT,
                     is_cache ? "cuda: the cache has no such slot, no room for all tokens, or a slot is there twice"
                              : "cuda: an index that a lookup got is out of range");
}

// ---- values that lie narrower there

// The launch of a transfer: its addresses and types depend on the way.
static void transfer_fill(const HoloCudaJob *job, HoloTransferWay way, uint8_t store, HoloCuAddress from,
                          HoloCuAddress to)
{
    HoloCudaConvert *p     = (HoloCudaConvert *)job->first->args;
    bool             is_in = way == HOLO_TRANSFER_IN;
    p->from                = (const void *)(uintptr_t)from;
    p->to                  = (void *)(uintptr_t)to;
    p->from_type           = is_in ? HOLO_CUDA_F32 : store;
    p->to_type             = is_in ? store : HOLO_CUDA_F32;
    p->whole               = (from | to) % 16 == 0;
}

static HoloStatus step_launch(const Cuda *c, const HoloCall *call, HoloCudaStep *step, const char *name);

// Through scratch, where elements lie as on the host; or straight from or to the caller's memory there.
static HoloStatus narrow_transfer(Cuda *c, HoloTransferWay way, bool is_there, const HoloCall *call,
                                  const HoloCudaJob *job)
{
    const HoloCu *cu      = &c->shared->cu;
    size_t        size    = holo_tensor_bytes(call->in[0]);
    HoloCuAddress scratch = (HoloCuAddress)(uintptr_t)call->host->scratch,
                  from = (HoloCuAddress)(uintptr_t)call->in[0]->data, to = (HoloCuAddress)(uintptr_t)call->out[0]->data;
    if (is_there) {
        transfer_fill(job, way, c->store, from, to);
        return step_launch(c, call, job->first, job->name);
    }
    if (way == HOLO_TRANSFER_IN) {
        HOLO_TRY(bring(c, scratch, call->in[0]->data, size, call->error));
        transfer_fill(job, way, c->store, scratch, to);
        return step_launch(c, call, job->first, job->name);
    }
    transfer_fill(job, way, c->store, from, scratch);
    HOLO_TRY(step_launch(c, call, job->first, job->name));
    HOLO_CU_TRY(cu, copy_out(call->out[0]->data, scratch, size, c->stream), call->error, "a transfer");
    return HOLO_OK;
}

static HoloStatus transfer_by(void *self, HoloTransferWay way, bool is_there, HoloCall *call, void *job)
{
    Cuda              *c = self;
    const HoloCudaJob *j = job;
    if (!j->is_transfer) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "its kernel is not for transfers");
    if (!j->first) return HOLO_OK; // it has no elements
    HOLO_TRY(enter(c, call->error));
    HoloStatus status = narrow_transfer(c, way, is_there, call, j);
    leave(c);
    return status;
}

static size_t element(void *self, HoloDtype dtype)
{
    return dtype == HOLO_F32 && ((const Cuda *)self)->store != HOLO_CUDA_F32 ? 2 : holo_dtype_size(dtype);
}

static HoloStatus show(void *self, HoloTransferWay way, const HoloTensor *t, void *bytes, HoloError *error)
{
    Cuda          *c      = self;
    HoloSmallFloat format = c->store == HOLO_CUDA_F16 ? HOLO_FORMAT_F16 : HOLO_FORMAT_BF16;
    int64_t        count  = holo_tensor_count(t);
    size_t         size   = (size_t)count * element(self, (HoloDtype)t->dtype);
    uint16_t      *bits   = NULL;
    bool           is_in  = way == HOLO_TRANSFER_IN;
    if (size != holo_tensor_bytes(t)) {
        bits = holo_realloc(NULL, size + 1);
        if (!bits) return holo_fail_memory(error);
    }
    for (int64_t i = 0; bits && is_in && i < count; i++)
        bits[i] = (uint16_t)holo_small_encode(format, (double)((const float *)bytes)[i], false);
    void      *here   = bits ? bits : bytes;
    HoloStatus status = transfer(self, way, is_in ? t->data : here, is_in ? here : t->data, size, error);
    if (!status) status = wait(self, error);
    for (int64_t i = 0; bits && !is_in && !status && i < count; i++)
        ((float *)bytes)[i] = (float)holo_small_decode(format, bits[i]);
    holo_free(bits);
    return status;
}

// ---- steps

static size_t job_size(uint32_t kernel)
{
    return holo_cuda_kernel(kernel) ? sizeof(HoloCudaJob) : 0;
}

static HoloStatus prepare(void *self, uint32_t kernel, const HoloCall *call, void *job, size_t *out_scratch)
{
    Cuda                 *c   = self;
    const HoloCudaKernel *row = holo_cuda_kernel(kernel);
    HoloCudaMaking        m   = {.shared = c->shared, .call = call, .job = job};
    *m.job                    = (HoloCudaJob){.name = row->name, .packed = -1, .packed_input = 1};
    uint32_t size             = 0;
    if (call->params_size >= sizeof size) memcpy(&size, call->params, sizeof size);
    if (size < sizeof m.params || size > call->params_size)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "its parameters are too short");
    memcpy(&m.params, call->params, sizeof m.params);
    if (m.params.store != c->store) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "its class is not that of others");
    for (int i = 0; i < call->in_count + call->out_count; i++) {
        const HoloTensor *t = i < call->in_count ? call->in[i] : call->out[i - call->in_count];
        if (t && (t->kind != HOLO_TENSOR || t->dtype == HOLO_STRING))
            return holo_call_fail(call, HOLO_UNSUPPORTED, "cuda: operand %d is no tensor of numbers", i);
    }
    HOLO_TRY(enter(c, call->error));
    HoloStatus status = row->prepare(&m);
    leave(c);
    *out_scratch = m.scratch;
    return status;
}

static int64_t packed_size(const HoloCall *call, const void *job, int input)
{
    const HoloCudaJob *j = job;
    (void)call;
    return input == j->packed_input ? j->packed : -1;
}

static uint32_t packed_by(const void *job, int input)
{
    const HoloCudaJob *j = job;
    return input == j->packed_input ? j->packed_by : 0;
}

static bool is_in_place(uint32_t kernel)
{
    return kernel == HOLO_CUDA_STEP_ROTARY; // a thread reads its pair before it writes it
}

static const char *ran_by(const void *job)
{
    return ((const HoloCudaJob *)job)->name;
}

static const char *kernel_name(uint32_t kernel)
{
    const HoloCudaKernel *row = holo_cuda_kernel(kernel);
    return row ? row->name : "?";
}

static uint64_t address(const Cuda *c, const HoloCall *call, const HoloCudaPlace *place)
{
    uint64_t at;
    if (place->operand == HOLO_CUDA_COUNTS) return c->counters;
    if (place->operand == HOLO_CUDA_STATUS) return (uintptr_t)c->status;
    if (place->operand == HOLO_CUDA_SCRATCH)
        at = (uintptr_t)call->host->scratch;
    else if (place->operand < call->in_count)
        at = (uintptr_t)call->in[place->operand]->data;
    else
        at = (uintptr_t)call->out[place->operand - call->in_count]->data;
    return at + place->offset;
}

// What the copy engine has to know of an operand.
static HoloCuResult map_fill(const Cuda *c, const HoloCudaMap *m, uint64_t at, uint8_t *out)
{
    static const int     types[] = {HOLO_CU_MAP_TF32, HOLO_CU_MAP_F16, HOLO_CU_MAP_BF16};
    _Alignas(64) uint8_t made[128];
    const HoloCu        *cu      = &c->shared->cu;
    void                *address = (void *)(uintptr_t)at;
    HoloCuResult         result;
    if (m->is_image)
        result = cu->map_image(made, types[m->type], m->rank, address, m->size, m->stride, m->lower, m->upper,
                               m->box[0], m->box[1], m->step, 0, HOLO_CU_MAP_SWIZZLE, HOLO_CU_MAP_PROMOTE, 0);
    else
        result = cu->map_tiled(made, types[m->type], m->rank, address, m->size, m->stride, m->box, m->step, 0,
                               HOLO_CU_MAP_SWIZZLE, HOLO_CU_MAP_PROMOTE, 0);
    memcpy(out, made, sizeof made);
    return result;
}

static HoloCuResult addresses_fill(const Cuda *c, const HoloCall *call, HoloCudaStep *step)
{
    HoloCuResult result = 0;
    for (int i = 0; i < step->place_count; i++) {
        uint64_t at = address(c, call, &step->place[i]);
        memcpy(step->args + step->place[i].at, &at, sizeof at);
    }
    for (int i = 0; i < step->map_count && !result; i++) {
        const HoloCudaPlace *place = &step->map[i].place;
        result                     = map_fill(c, &step->map[i].map, address(c, call, place), step->args + place->at);
    }
    return result;
}

// `result`: of filling in addresses.
static HoloStatus filled_launch(const Cuda *c, HoloCuResult result, const HoloCall *call, const HoloCudaStep *step,
                                const char *name)
{
    HoloCuLaunchAttribute attributes[2];
    HoloCuLaunchConfig    config = {
           .block = {step->block, 1, 1}, .shared = step->shared, .stream = c->stream, .attributes = attributes};
    void *args[1] = {(void *)(uintptr_t)step->args}; // the driver only reads them
    if (step->cluster > 1)
        attributes[config.attribute_count++] =
            (HoloCuLaunchAttribute){.id = HOLO_CU_LAUNCH_CLUSTER, .cluster = {1, step->cluster, 1}};
    if (step->is_early && (c->is_recording || !step->reads_early))
        attributes[config.attribute_count++] = (HoloCuLaunchAttribute){.id = HOLO_CU_LAUNCH_EARLY, .early = 1};
    memcpy(config.grid, step->grid, sizeof config.grid);
    if (!result) result = c->shared->cu.launch(&config, step->function, args, NULL);
    if (!result) return HOLO_OK;
    char what[200];
    snprintf(what, sizeof what, "node %.100s, kernel %.40s", call->node, name);
    return holo_cu_fail(&c->shared->cu, result, call->error, what);
}

static HoloStatus step_launch(const Cuda *c, const HoloCall *call, HoloCudaStep *step, const char *name)
{
    return filled_launch(c, addresses_fill(c, call, step), call, step, name);
}

// ---- steps that are launched together

static HoloStatus waiting_launch(Cuda *c)
{
    HoloCudaWaiting *w = &c->waiting;
    int              n = w->count;
    w->count = w->used_count = 0;
    return n ? filled_launch(c, 0, w->call, &w->step, w->name) : HOLO_OK;
}

// The step joins those that wait, or they are launched and it waits.
static HoloStatus step_wait(Cuda *c, const HoloCall *call, HoloCudaStep *step, const char *name)
{
    HoloCudaWaiting *w = &c->waiting;
    addresses_fill(c, call, step); // it has no maps
    if (!holo_cuda_waiting_join(w, c->store, call, step)) {
        HOLO_TRY(waiting_launch(c));
        w->step = *step;
    }
    w->name = name;
    w->call = call;
    w->count++;
    return holo_cuda_waiting_note(w, c->store, call) ? HOLO_OK : waiting_launch(c);
}

static HoloStatus launch(void *self, HoloCall *call, void *job)
{
    Cuda        *c      = self;
    HoloStatus   status = HOLO_OK;
    HoloCudaJob *j      = job;
    HOLO_TRY(enter(c, call->error));
    for (HoloCudaStep *step = j->first; step && !status; step = step->next) {
        bool waits = c->is_recording && step->many && !step->next && step == j->first;
        if (!waits) status = waiting_launch(c);
        if (!status) status = waits ? step_wait(c, call, step, j->name) : step_launch(c, call, step, j->name);
    }
    leave(c);
    return status;
}

static HoloStatus use_stream(void *self, void *stream, bool own, HoloError *error)
{
    Cuda *c = self;
    HOLO_TRY(wait(self, error));
    c->stream = own ? c->own : stream;
    return HOLO_OK;
}

// ---- recordings

static HoloStatus record(void *self, HoloError *error)
{
    Cuda *c = self;
    HOLO_TRY(enter(c, error));
    HoloCuResult result = c->shared->cu.capture_begin(c->own, HOLO_CU_CAPTURE_THREAD);
    leave(c);
    if (result) return holo_cu_fail(&c->shared->cu, result, error, "recording");
    c->other        = c->stream;
    c->stream       = c->own;
    c->is_recording = true;
    return HOLO_OK;
}

// Whatever fails, the stream records no longer: else nothing could be asked of it again.
static HoloStatus record_end(void *self, void **out_recording, HoloError *error)
{
    Cuda         *c     = self;
    const HoloCu *cu    = &c->shared->cu;
    HoloCuHandle  graph = NULL, made = NULL;
    HoloStatus    entered = enter(c, error), last = entered ? entered : waiting_launch(c);
    c->waiting.count = c->waiting.used_count = 0;
    c->stream                                = c->other;
    c->is_recording                          = false;
    HoloCuResult result                      = cu->capture_end(c->own, &graph);
    if (!result && !last) result = cu->graph_make(&made, graph, 0);
    if (graph) cu->graph_destroy(graph);
    if (made) cu->graph_upload(made, c->stream); // it helps the first launch; a failure does no harm
    if (!entered) leave(c);
    *out_recording = made;
    return last ? last : result ? holo_cu_fail(cu, result, error, "recording") : HOLO_OK;
}

static HoloStatus replay(void *self, void *recording, HoloError *error)
{
    Cuda *c = self;
    HOLO_TRY(enter(c, error));
    HoloCuResult result = c->shared->cu.graph_launch(recording, c->stream);
    leave(c);
    return result ? holo_cu_fail(&c->shared->cu, result, error, "launching a graph") : HOLO_OK;
}

static void forget(void *self, void *recording)
{
    Cuda *c = self;
    if (!recording || enter(c, NULL)) return;
    c->shared->cu.stream_wait(c->stream);
    c->shared->cu.graph_exec_destroy(recording);
    leave(c);
}

const HoloDevice holo_device_cuda = {
    .name        = "cuda",
    .share       = holo_cuda_share,
    .unshare     = holo_cuda_unshare,
    .open        = cuda_open,
    .close       = cuda_close,
    .take        = take,
    .give        = give,
    .constant    = constant,
    .transfer    = transfer,
    .transfer_by = transfer_by,
    .show        = show,
    .element     = element,
    .is_in_place = is_in_place,
    .use_stream  = use_stream,
    .job_size    = job_size,
    .prepare     = prepare,
    .packed_size = packed_size,
    .packed_by   = packed_by,
    .ran_by      = ran_by,
    .kernel_name = kernel_name,
    .launch      = launch,
    .wait        = wait,
    .record      = record,
    .record_end  = record_end,
    .replay      = replay,
    .forget      = forget,
};
