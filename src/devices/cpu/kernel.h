// kernel.h - the fast kernels as a plan calls them: rows found by the id that a step carries.
//
// A kernel computes what the step's operator means, for the shapes and types it accepts, with the
// functions of kernels/. It never sees the archive, and what it relies on it has checked.
#ifndef HOLO_DEVICES_CPU_KERNEL_H
#define HOLO_DEVICES_CPU_KERNEL_H

#include "ops/op_id.h"

typedef struct HoloCpuKernel {
    uint32_t    id; // see format/kernel_ids.def
    const char *name;

    // A job is what a kernel knows of a call once its sizes are bound: shapes, strides, how the work is cut. It does not move.
    size_t job_size; // in bytes

    // Called when sizes are bound or, of an open step, found while running: operands have concrete sizes, call->params and
    // params_size are the parameter block, call->host->workers is set; data need not be there. Refuses whatever run could
    // not do safely, and fills the job, which is all zeros before. *out_scratch, 0 before, is the memory that each worker
    // needs, in bytes. Ask by holo_cpu_kernel_prepare.
    HoloStatus (*prepare)(const HoloCall *call, void *job, size_t *out_scratch);

    // Computes, as often as is wanted: prepare has filled the job for this call. Data may lie elsewhere each time, so that
    // run looks up where, but no shape. Takes no memory but the host's temp; work is cut by shape alone.
    HoloStatus (*run)(HoloCall *call, void *job);

    // Bytes in which input i is packed, or -1 where it is plain row-major. An input that is packed must
    // be a constant, packed by this kernel, of just so many bytes; any other must not be packed. NULL:
    // nothing ever is. Called after prepare has filled the job. A kernel that can have packed inputs accepts all sizes
    // that infer does, for eval cannot step in for it.
    int64_t (*packed_size)(const HoloCall *call, const void *job, int input);
} HoloCpuKernel;

const HoloCpuKernel *holo_cpu_kernel_find(uint32_t id); // NULL: no such

// Prepares a job of kernel->job_size bytes, aligned as an arena's memory is, whatever was in it before.
HOLO_MUST HoloStatus holo_cpu_kernel_prepare(const HoloCpuKernel *kernel, const HoloCall *call, void *job,
                                             size_t *out_scratch);

// ---- for the kernels themselves

// Is this an f32 tensor with so many dimensions, of sizes that exist? Else fails by naming it.
HOLO_MUST HoloStatus holo_cpu_kernel_expect(const HoloCall *call, const HoloTensor *t, const char *what, int rank_min,
                                            int rank_max);

// Are these bytes, signed or not, with so many dimensions, of sizes that exist?
bool holo_cpu_kernel_is_8(const HoloTensor *t, int rank_min, int rank_max);

// Is there one number of that type or, unless n is HOLO_ONE, n of them in a row?
enum { HOLO_ONE = -1 };
bool holo_cpu_kernel_is_line(const HoloTensor *t, int dtype, int64_t n);

// Zero point i of a row, or the only one; 0 where there is none.
int32_t holo_cpu_kernel_zero(const HoloTensor *zero, int64_t i);

// Is there a parameter block of at least `size` bytes, and does it say so itself?
bool holo_cpu_kernel_has_params(const HoloCall *call, size_t size);

// Worker w's own memory; NULL where no kernel asked for any.
static inline float *holo_cpu_kernel_scratch(const HoloHost *host, int worker)
{
    return host->scratch ? (float *)(void *)(host->scratch + (size_t)worker * host->scratch_stride) : NULL;
}

// One for each row of kernel_ids.def, in kernel_<name>.c or with others of its family.
#define HOLO_KERNEL(id, name) extern const HoloCpuKernel holo_kernel_##name;
#include "format/kernel_ids.def"
#undef HOLO_KERNEL

#endif
