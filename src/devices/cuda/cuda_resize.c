// cuda_resize.c - Resize: the nearest element, or linear between two, along each axis.
#include "devices/cuda/cuda_kernel.h"
#include "ops/standard/resize.h"

#include <stddef.h>

HoloStatus holo_cuda_resize(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *y = holo_out(m->call, 0);
    HoloResize        how;
    HoloCudaStep     *step;
    if (!x || !y || x->dtype != HOLO_F32 || y->dtype != HOLO_F32 || x->rank != y->rank || x->rank < 1 ||
        x->rank > HOLO_CUDA_RESIZED)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands do not fit its kernel");
    if (!holo_tensor_count(y)) return HOLO_OK;
    HOLO_TRY(holo_resize_read(m->call, &how));
    if (how.how.mode == HOLO_RESIZE_CUBIC || how.how.antialias || how.how.exclude_outside ||
        how.how.round == HOLO_RESIZE_SIMPLE || how.how.place > HOLO_RESIZE_TF_HALF_PIXEL_FOR_NN ||
        how.how.place == HOLO_RESIZE_HALF_PIXEL_SYMMETRIC)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: this way of resizing");
    HoloCudaResize p = {.count     = holo_tensor_count(y),
                        .rank      = (uint8_t)x->rank,
                        .place     = (uint8_t)how.how.place,
                        .round     = (uint8_t)how.how.round,
                        .is_linear = how.how.mode == HOLO_RESIZE_LINEAR,
                        .from_type = holo_cuda_type(m, 0),
                        .to_type   = m->params.store};
    for (int d = 0; d < x->rank; d++) {
        p.in[d]      = x->dim[d];
        p.out[d]     = y->dim[d];
        p.scale[d]   = (float)how.axis[d].scale;
        p.changes[d] = how.axis[d].index != NULL;
        if (!p.changes[d] && p.in[d] != p.out[d])
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
    }
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "basic", "resize", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaResize, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaResize, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}
