// kernel_find.c - the list of fast kernels, by id, and the checks that they share.
#include "devices/cpu/kernel.h"

#include <string.h>

const HoloCpuKernel *holo_cpu_kernel_find(uint32_t id)
{
    static const HoloCpuKernel *const kernels[] = {
#define HOLO_KERNEL(id, name) [id] = &holo_kernel_##name,
#include "format/kernel_ids.def"
#undef HOLO_KERNEL
    };
    return id < (uint32_t)HOLO_COUNT(kernels) ? kernels[id] : NULL;
}

HoloStatus holo_cpu_kernel_prepare(const HoloCpuKernel *kernel, const HoloCall *call, void *job, size_t *out_scratch)
{
    memset(job, 0, kernel->job_size);
    *out_scratch = 0;
    return kernel->prepare(call, job, out_scratch);
}

bool holo_cpu_kernel_is_8(const HoloTensor *t, int rank_min, int rank_max)
{
    return t && t->kind == HOLO_TENSOR && (t->dtype == HOLO_I8 || t->dtype == HOLO_U8) && t->rank >= rank_min &&
           t->rank <= rank_max && holo_tensor_count(t) >= 0;
}

bool holo_cpu_kernel_is_line(const HoloTensor *t, int dtype, int64_t n)
{
    if (!t || t->kind != HOLO_TENSOR || t->dtype != dtype || t->rank < 0) return false;
    int64_t count = holo_tensor_count(t);
    return count == 1 || (n != HOLO_ONE && count == n && t->rank > 0 && t->dim[t->rank - 1] == n);
}

int32_t holo_cpu_kernel_zero(const HoloTensor *zero, int64_t i)
{
    return zero ? (int32_t)holo_get_i(zero, holo_tensor_count(zero) == 1 ? 0 : i) : 0;
}

bool holo_cpu_kernel_has_params(const HoloCall *call, size_t size)
{
    uint32_t said = 0; // every block starts with its size
    if (!call->params || call->params_size < sizeof said) return false;
    memcpy(&said, call->params, sizeof said);
    return call->params_size >= size && said >= size;
}

HoloStatus holo_cpu_kernel_expect(const HoloCall *call, const HoloTensor *t, const char *what, int rank_min,
                                  int rank_max)
{
    if (!t) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s is missing", what);
    if (t->kind != HOLO_TENSOR || t->dtype != HOLO_F32 || t->rank < rank_min || t->rank > rank_max)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s should be an f32 tensor of %d to %d dimensions", what,
                              rank_min, rank_max);
    if (holo_tensor_count(t) < 0) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s has invalid sizes", what);
    return HOLO_OK;
}
