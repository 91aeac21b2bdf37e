// kernel.h - the fast kernels as a plan calls them, found by the id in a step.
//
// A kernel computes what the step's operator means, for the shapes and types it accepts, with the functions of
// kernels/. It never sees the archive, and it has checked everything that it relies on.
#ifndef HOLO_DEVICES_CPU_KERNEL_H
#define HOLO_DEVICES_CPU_KERNEL_H

#include "ops/op_id.h"

typedef struct HoloCpuKernel {
    uint32_t    id; // see format/kernel_ids.def
    const char *name;

    // A job is what a kernel knows about a call once its sizes are bound: shapes, strides, how the work is cut. It does
    // not move.
    size_t job_size; // in bytes

    // Called when sizes are bound or, for an open step, when the run finds them. Operands have concrete sizes,
    // call->params and params_size are the parameter block, and call->host->workers is set; data need not be there. It
    // refuses whatever run could not do safely, and fills the job, which begins as zeros. *out_scratch, 0 before, is
    // the memory that each worker needs, in bytes. Call it by holo_cpu_kernel_prepare.
    HoloStatus (*prepare)(const HoloCall *call, void *job, size_t *out_scratch);

    // Computes, any number of times, after prepare has filled the job for this call. Data may be elsewhere each time,
    // so run looks up where they are, but no shapes. It takes no memory but the host's temp, and cuts work by shape
    // alone.
    HoloStatus (*run)(HoloCall *call, void *job);

    // Bytes of the packed form of input i; -1: it is plain row-major. A packed input must be a constant of exactly so
    // many bytes, packed by this kernel; no other input may be packed. NULL: no input is ever packed. Called after
    // prepare has filled the job. A kernel that can have packed inputs must accept all sizes that infer does, because
    // eval cannot replace it.
    int64_t (*packed_size)(const HoloCall *call, const void *job, int input);
} HoloCpuKernel;

const HoloCpuKernel *holo_cpu_kernel_find(uint32_t id); // NULL: there is none

// Prepares a job of kernel->job_size bytes, aligned like an arena's memory. Its old contents do not matter.
HOLO_MUST HoloStatus holo_cpu_kernel_prepare(const HoloCpuKernel *kernel, const HoloCall *call, void *job,
                                             size_t *out_scratch);

// ---- for the kernels themselves

// Is this an f32 tensor with so many dimensions and valid sizes? If not, it fails and names the tensor.
HOLO_MUST HoloStatus holo_cpu_kernel_expect(const HoloCall *call, const HoloTensor *t, const char *what, int rank_min,
                                            int rank_max);

// Are these signed or unsigned bytes with so many dimensions and valid sizes?
bool holo_cpu_kernel_is_8(const HoloTensor *t, int rank_min, int rank_max);

// Is it one number of that type or, unless n is HOLO_ONE, n of them in a row?
enum { HOLO_ONE = -1 };
bool holo_cpu_kernel_is_line(const HoloTensor *t, int dtype, int64_t n);

// Zero point i of several, or the only one; 0 if there is none.
int32_t holo_cpu_kernel_zero(const HoloTensor *zero, int64_t i);

// Is there a parameter block of at least `size` bytes, and does it say so itself?
bool holo_cpu_kernel_has_params(const HoloCall *call, size_t size);

// Worker w's own memory; NULL: no kernel asked for any.
static inline float *holo_cpu_kernel_scratch(const HoloHost *host, int worker)
{
    return host->scratch ? (float *)(void *)(host->scratch + (size_t)worker * host->scratch_stride) : NULL;
}

// One for each row of kernel_ids.def, in kernel_<name>.c or in the file of its family.
#define HOLO_KERNEL(id, name) extern const HoloCpuKernel holo_kernel_##name;
#include "format/kernel_ids.def"
#undef HOLO_KERNEL

#endif
