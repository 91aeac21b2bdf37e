// mirror_device.c - a device for tests. It runs operators by their own eval, but in memory of its own, and later.
//
// Its pages are closed to everybody but to what runs on it: a host that touches them ends with a signal. It looks at
// each operand, and refuses one that is not in its memory. It begins nothing before it is waited for, as devices with a
// queue may: a host that does not wait reads what is not there yet.
#include "mirror_device.h"

#include "base/memory.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

typedef struct Block {
    char         *at;
    size_t        size;
    struct Block *next;
} Block;

// Where the operands of a call are, in bytes: inputs, then outputs. 0: there is none, or it is empty.
typedef struct Job {
    const size_t *bytes;
} Job;

typedef struct Task { // a launch, or a transfer where call is NULL
    HoloCall       *call;
    HoloTransferWay way;
    char           *to;
    const char     *from;
    size_t          size;
    char           *staged; // what comes in, kept for it; NULL: nothing
    struct Task    *next;
} Task;

typedef struct Mirror {
    Block *blocks;
    Task  *first, *last;
} Mirror;

static atomic_uint launches, transfers[3];

HoloMirrorSeen holo_mirror_seen(void)
{
    return (HoloMirrorSeen){launches, transfers[HOLO_TRANSFER_IN], transfers[HOLO_TRANSFER_OUT]};
}

static HoloStatus mirror_open(const HoloDeviceSetup *setup, void **out_self, HoloError *error)
{
    Mirror *m = *out_self = holo_realloc(NULL, sizeof *m);
    (void)setup;
    if (!m) return holo_fail_memory(error);
    *m = (Mirror){0};
    return HOLO_OK;
}

// ---- memory

static void *take(void *self, size_t size, uint32_t how)
{
    Mirror *m = self;
    Block  *b = holo_realloc(NULL, sizeof *b);
    (void)how;
    if (!b) return NULL;
    *b    = (Block){.size = holo_align(size + 1, holo_page_size()), .next = m->blocks};
    b->at = mmap(NULL, b->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->at == MAP_FAILED) {
        holo_free(b);
        return NULL;
    }
    m->blocks = b;
    return b->at;
}

static void give(void *self, void *memory, size_t size)
{
    Mirror *m = self;
    (void)size;
    for (Block **b = &m->blocks; *b; b = &(*b)->next) {
        if ((*b)->at != memory) continue;
        Block *gone = *b;
        *b          = gone->next;
        munmap(gone->at, gone->size);
        holo_free(gone);
        return;
    }
}

static bool is_here(const Mirror *m, const char *at, size_t size)
{
    for (const Block *b = m->blocks; b; b = b->next)
        if (at >= b->at && size <= b->size && at - b->at <= (ptrdiff_t)(b->size - size)) return true;
    return false;
}

static void pages_protect(const Mirror *m, int how)
{
    for (const Block *b = m->blocks; b; b = b->next) mprotect(b->at, b->size, how);
}

// ---- the queue

static void mirror_close(void *self)
{
    Mirror *m = self;
    if (!m) return;
    while (m->blocks) give(m, m->blocks->at, 0);
    for (Task *t = m->first, *next; t; t = next) {
        next = t->next;
        holo_free(t->staged);
        holo_free(t);
    }
    holo_free(m);
}

static HoloStatus task_add(Mirror *m, const Task *task, HoloError *error)
{
    Task *t = holo_realloc(NULL, sizeof *t);
    if (!t) return holo_fail_memory(error);
    *t = *task;
    if (m->last)
        m->last->next = t;
    else
        m->first = t;
    m->last = t;
    return HOLO_OK;
}

static HoloStatus task_run(const Task *t)
{
    if (t->call) return holo_op_eval(t->call);
    memmove(t->to, t->staged ? t->staged : t->from, t->size);
    return HOLO_OK;
}

static HoloStatus wait(void *self, HoloError *error)
{
    Mirror    *m      = self;
    HoloStatus status = HOLO_OK;
    (void)error; // a call has its own
    if (m->first) pages_protect(m, PROT_READ | PROT_WRITE);
    while (m->first) {
        Task *t  = m->first;
        m->first = t->next;
        if (!status) status = task_run(t);
        holo_free(t->staged);
        holo_free(t);
    }
    m->last = NULL;
    pages_protect(m, PROT_NONE);
    return status;
}

static HoloStatus transfer(void *self, HoloTransferWay way, void *to, const void *from, size_t size, HoloError *error)
{
    Mirror *m    = self;
    Task    task = {.way = way, .to = to, .from = from, .size = size};
    if (!size) return HOLO_OK;
    if (is_here(m, to, size) != (way != HOLO_TRANSFER_OUT) || is_here(m, from, size) != (way != HOLO_TRANSFER_IN))
        return holo_fail(error, HOLO_INTERNAL, "mirror: a transfer from or to memory of another device");
    transfers[way]++;
    if (way == HOLO_TRANSFER_IN) {
        task.staged = holo_realloc(NULL, size);
        if (!task.staged) return holo_fail_memory(error);
        memcpy(task.staged, from, size);
    }
    HoloStatus status = task_add(m, &task, error);
    if (status) holo_free(task.staged);
    return status;
}

// ---- steps

static size_t job_size(uint32_t kernel)
{
    return kernel ? 0 : sizeof(Job);
}

static HoloStatus prepare(void *self, uint32_t kernel, const HoloCall *call, void *job, size_t *out_scratch)
{
    void *bytes = NULL;
    (void)self, (void)kernel;
    *out_scratch = 0;
    HOLO_TRY(holo_call_hold(call, (size_t)(call->in_count + call->out_count), sizeof(size_t), &bytes));
    for (int i = 0; i < call->in_count + call->out_count; i++) {
        const HoloTensor *t = i < call->in_count ? call->in[i] : call->out[i - call->in_count];
        if (t && (t->kind != HOLO_TENSOR || t->dtype == HOLO_STRING))
            return holo_call_fail(call, HOLO_UNSUPPORTED, "mirror: operand %d is no tensor of numbers", i);
        ((size_t *)bytes)[i] = t ? holo_tensor_bytes(t) : 0;
    }
    ((Job *)job)->bytes = bytes;
    return HOLO_OK;
}

static const char *ran_by(const void *job)
{
    (void)job;
    return "mirror";
}

static HoloStatus launch(void *self, HoloCall *call, void *job)
{
    Mirror       *m     = self;
    const size_t *bytes = ((const Job *)job)->bytes;
    for (int i = 0; i < call->in_count + call->out_count; i++) {
        const HoloTensor *t = i < call->in_count ? call->in[i] : call->out[i - call->in_count];
        if (bytes[i] && !is_here(m, t->data, bytes[i]))
            return holo_call_fail(call, HOLO_INTERNAL, "mirror: operand %d is not in the memory of the device", i);
    }
    launches++;
    return task_add(m, &(Task){.call = call}, call->error);
}

const HoloDevice holo_device_mirror = {
    .name     = "mirror",
    .open     = mirror_open,
    .close    = mirror_close,
    .take     = take,
    .give     = give,
    .transfer = transfer,
    .job_size = job_size,
    .prepare  = prepare,
    .ran_by   = ran_by,
    .launch   = launch,
    .wait     = wait,
};
