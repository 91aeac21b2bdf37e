// pack_narrow.c - packed weights in half their bytes, where that loses nothing: every number of them is one of f16 or
// bf16. So it is with models that were stored in these types, whoever widened them.
#include "kernels/kernels.h"
#include "lower/choose.h"

#include <string.h>

enum { CHUNK = 1024 }; // numbers that are converted at a time

static void narrow(uint32_t type, int64_t n, const float *x, uint16_t *out)
{
    const HoloKernels *k = holo_kernels(0);
    (type == HOLO_WEIGHTS_F16 ? k->narrow_f16 : k->narrow_bf16)(n, x, out);
}

static void widen(uint32_t type, int64_t n, const uint16_t *x, float *out)
{
    const HoloKernels *k = holo_kernels(0);
    (type == HOLO_WEIGHTS_F16 ? k->widen_f16 : k->widen_bf16)(n, x, out);
}

// Do all come back as they were, to the bit?
static bool is_of_type(uint32_t type, const HoloTensor *w)
{
    const float *data  = w->data;
    int64_t      count = holo_tensor_count(w);
    uint16_t     small[CHUNK];
    float        back[CHUNK];
    for (int64_t at = 0; at < count; at += CHUNK) {
        int64_t n = count - at < CHUNK ? count - at : CHUNK;
        narrow(type, n, data + at, small);
        widen(type, n, small, back);
        if (memcmp(data + at, back, (size_t)n * sizeof *back)) return false;
    }
    return true;
}

uint32_t holo_lower_narrow_type(const HoloTensor *w)
{
    if (is_of_type(HOLO_WEIGHTS_BF16, w)) return HOLO_WEIGHTS_BF16; // the quicker to widen
    return is_of_type(HOLO_WEIGHTS_F16, w) ? HOLO_WEIGHTS_F16 : 0;
}

uint32_t holo_lower_narrow(const HoloLowering *lowering)
{
    switch (lowering->kernel) {
    case HOLO_KERNEL_matmul_f32: return lowering->matmul.flags & HOLO_WEIGHTS_NARROW;
    case HOLO_KERNEL_conv_nhwc_f32: return lowering->conv_nhwc.flags & HOLO_WEIGHTS_NARROW;
    }
    return 0;
}

size_t holo_lower_pack_narrow(uint32_t type, size_t size, void *part)
{
    char    *bytes = part;
    float    wide[CHUNK];
    uint16_t small[CHUNK];
    for (size_t at = 0; at < size; at += sizeof wide) {
        size_t n = size - at < sizeof wide ? size - at : sizeof wide;
        memcpy(wide, bytes + at, n);
        narrow(type, (int64_t)(n / sizeof *wide), wide, small);
        memcpy(bytes + at / 2, small, n / 2);
    }
    return size / 2;
}
