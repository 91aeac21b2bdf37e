// cpu_device.c - the CPU as a device: its memory is the host's, and a launch has finished when it returns.
#include "base/files.h"
#include "devices/cpu/kernel.h"
#include "devices/device.h"

#include <string.h>

// ---- memory

static void *take(void *self, size_t size, uint32_t how)
{
    (void)self;
    return holo_memory_take(size, how);
}

static void give(void *self, void *memory, size_t size)
{
    (void)self;
    holo_memory_free(memory, size);
}

static HoloStatus transfer(void *self, HoloTransferWay way, void *to, const void *from, size_t size, HoloError *error)
{
    (void)self, (void)way, (void)error;
    if (size) memmove(to, from, size);
    return HOLO_OK;
}

// ---- steps

typedef struct Job {
    const HoloCpuKernel *kernel; // NULL: eval
    _Alignas(16) char own[];     // the kernel's
} Job;

static size_t job_size(uint32_t kernel)
{
    const HoloCpuKernel *k = holo_cpu_kernel_find(kernel);
    return k ? sizeof(Job) + k->job_size : kernel ? 0 : sizeof(Job);
}

static HoloStatus prepare(void *self, uint32_t kernel, const HoloCall *call, void *job, size_t *out_scratch)
{
    Job *j       = job;
    j->kernel    = holo_cpu_kernel_find(kernel);
    *out_scratch = 0;
    (void)self;
    return j->kernel ? holo_cpu_kernel_prepare(j->kernel, call, j->own, out_scratch) : HOLO_OK;
}

static int64_t packed_size(const HoloCall *call, const void *job, int input)
{
    const Job *j = job;
    return j->kernel && j->kernel->packed_size ? j->kernel->packed_size(call, j->own, input) : -1;
}

static const char *ran_by(const void *job)
{
    const Job *j = job;
    return j->kernel ? j->kernel->name : "eval";
}

static HoloStatus launch(void *self, HoloCall *call, void *job)
{
    Job *j = job;
    (void)self;
    return j->kernel ? j->kernel->run(call, j->own) : holo_op_eval(call);
}

static HoloStatus wait(void *self, HoloError *error)
{
    (void)self, (void)error;
    return HOLO_OK;
}

// ---- portable programs

typedef struct Program {
    HoloIsaCode  *code;
    HoloIsaFrame *frame;
} Program;

static void program_release(void *self, void *job)
{
    Program *p = job;
    (void)self;
    if (!p) return;
    holo_isa_frame_destroy(p->frame);
    holo_isa_code_destroy(p->code);
    holo_free(p);
}

static HoloStatus program_prepare(void *self, const HoloIsaProgram *program, const HoloIsaTeam *team, void **out_job,
                                  HoloError *error)
{
    Program *p = holo_realloc(NULL, sizeof *p);
    if (!p) return holo_fail_memory(error);
    *p                = (Program){0};
    HoloStatus status = holo_isa_code_create(program, &p->code, error);
    if (!status) status = holo_isa_frame_create(p->code, team->threads, &p->frame, error);
    if (status)
        program_release(self, p);
    else
        *out_job = p;
    return status;
}

static HoloStatus program_launch(void *self, void *job, const HoloIsaTeam *team, const HoloIsaLaunch *lanes,
                                 const HoloIsaArg *args, HoloError *error)
{
    const Program *p = job;
    (void)self;
    return holo_isa_run(p->code, p->frame, team, lanes, args, error);
}

static const HoloDevicePrograms programs = {program_prepare, program_release, program_launch};

const HoloDevice holo_device_cpu = {
    .name        = "cpu",
    .take        = take,
    .give        = give,
    .transfer    = transfer,
    .job_size    = job_size,
    .prepare     = prepare,
    .packed_size = packed_size,
    .ran_by      = ran_by,
    .launch      = launch,
    .wait        = wait,
    .programs    = &programs,
};
