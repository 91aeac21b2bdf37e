// cuda_share.c - which weights a GPU can take as the CPU packs them: those of products and convolutions in panels of 16
// columns, or filters. The device turns them into rows when it brings them (devices/cuda/cuda_panels.c).
#include "devices/cuda/cuda_panels.h"
#include "lower/cpu/choose.h"
#include "lower/cuda/cuda_target.h"

// Filters with groups, or transformed, lie otherwise.
static bool is_panels(const HoloLowering *lowering, const HoloLowering *host)
{
    bool is_turned = holo_cuda_params(lowering).layout & HOLO_CUDA_LAYOUT_TURNED;
    if (holo_cuda_is_product(lowering->kernel))
        return (host->kernel == HOLO_KERNEL_matmul_f32 || host->kernel == HOLO_KERNEL_take_rows) && !host->pack_type &&
               host->pack_transposed == is_turned;
    return lowering->kernel == HOLO_CUDA_STEP_CONV && holo_cuda_params(lowering).layout == 1 &&
           host->kernel == HOLO_KERNEL_conv_nhwc_f32 && host->pack_groups == 1 &&
           !(host->conv_nhwc.flags & (HOLO_CONV_NHWC_WINOGRAD | HOLO_CONV_NHWC_GROUPS));
}

// Weights of a convolution by tiles of pixels would be there twice, and larger: plain ones that both read are taken instead.
bool holo_cuda_share_weights(HoloLowering *lowering, const HoloLowering *host, const HoloTensor *w)
{
    HoloLowering plain = *lowering;
    holo_cuda_winograd_leave(&plain);
    HoloCudaStepParams params = holo_cuda_params(&plain);
    uint32_t           narrow = holo_lower_narrow(host);
    HoloCudaPanels     panels;
    if (!is_panels(&plain, host) || narrow & HOLO_WEIGHTS_CODES) return false;
    params.flags |= HOLO_CUDA_FLAG_PANELS;
    if (narrow & HOLO_WEIGHTS_F16) params.flags |= HOLO_CUDA_FLAG_PANELS_F16;
    if (narrow & HOLO_WEIGHTS_BF16) params.flags |= HOLO_CUDA_FLAG_PANELS_BF16;
    if (!holo_cuda_panels(&params, w, &panels)) return false;
    *lowering = plain;
    holo_cuda_set_params(lowering, &params);
    return true;
}
