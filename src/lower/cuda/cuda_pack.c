// cuda_pack.c - weights as the kernels of a GPU read them: rows of k, the filters or columns one after the other, each row
// of whole 16 bytes. Taps of filters come before channels; where each channel has a filter of its own, channels come last.
#include "devices/cuda/cuda_pick.h"
#include "format/dtype.h"
#include "format/small_float.h"
#include "graph/facts.h"
#include "lower/cuda/cuda_target.h"

#include <string.h>

typedef struct Weights {
    int64_t rows, k, row;               // a row has k numbers in room for `row`
    int64_t real;                       // channels that are not zeros
    int64_t channels, taps, row_stride; // number i of a row is channel i % channels of tap i / channels
    int64_t channel_stride, tap_stride;
    int64_t part_rows; // rows of a part
} Weights;

static size_t element(uint8_t type)
{
    return type == HOLO_CUDA_F32 ? 4 : 2;
}

static Weights weights_of(const HoloLowering *lowering, const HoloTensor *w)
{
    uint8_t type = holo_cuda_params(lowering).store;
    Weights s    = {.taps = 1};
    if (holo_cuda_is_product(lowering->kernel)) {
        int64_t last = w->dim[1], first = w->dim[0];
        bool    turned = holo_cuda_params(lowering).layout & HOLO_CUDA_LAYOUT_TURNED;
        s.rows         = turned ? first : last;
        s.k = s.channels = turned ? last : first;
        s.row_stride     = turned ? last : 1;
        s.channel_stride = turned ? 1 : last;
        s.real           = s.channels;
    } else {
        for (int d = 2; d < w->rank; d++) s.taps *= w->dim[d];
        int64_t groups   = holo_cuda_params(lowering).layout;
        bool    own      = holo_conv_is_depthwise(groups, w->dim[0] / groups, w->dim[1]);
        s.rows           = own ? 1 : w->dim[0];
        s.real           = own ? w->dim[0] : w->dim[1];
        s.channels       = own ? s.real : holo_cuda_padded_channels(s.real, groups, s.taps, type);
        s.k              = s.channels * s.taps;
        s.row_stride     = s.real * s.taps;
        s.channel_stride = s.taps;
        s.tap_stride     = 1;
    }
    s.row            = holo_cuda_packed_row(s.k, type);
    int64_t row_size = s.row * (int64_t)element(type);
    s.part_rows      = row_size ? HOLO_PACK_PART / row_size : 1;
    return s;
}

HoloPacking holo_cuda_packing(const HoloLowering *lowering, const HoloTensor *w)
{
    if (lowering->kernel == HOLO_CUDA_STEP_BLOCKS) return holo_cuda_packing_blocks(lowering, w);
    if (holo_cuda_is_bytes(lowering->kernel)) return holo_cuda_packing_bytes(lowering, w);
    if (lowering->kernel == HOLO_CUDA_STEP_WINOGRAD) return holo_cuda_packing_winograd(w);
    Weights s = weights_of(lowering, w);
    return (HoloPacking){.bytes      = (uint64_t)holo_cuda_packed_size(s.rows, s.k, holo_cuda_params(lowering).store),
                         .part_count = (s.rows + s.part_rows - 1) / s.part_rows};
}

// To 10 bits of mantissa, to the nearest, ties to even: what tensor cores would cut off.
static float tf32_of(float x)
{
    uint32_t bits = holo_bits_of_f32(x), up;
    if ((bits & 0x7F800000) == 0x7F800000) return x;
    up = bits + 0xFFF + (bits >> 13 & 1);
    return holo_f32_of_bits((up & 0x7F800000) == 0x7F800000 ? bits & ~UINT32_C(0x1FFF) : up & ~UINT32_C(0x1FFF));
}

static float number_at(const HoloTensor *w, int64_t i)
{
    if (w->dtype == HOLO_F32) return ((const float *)w->data)[i];
    uint16_t bits = ((const uint16_t *)w->data)[i];
    return w->dtype == HOLO_BF16 ? holo_bf16_to_f32(bits) : holo_f16_to_f32(bits);
}

static uint16_t narrow_of(uint8_t type, float x)
{
    uint32_t bits = holo_bits_of_f32(x);
    if (type == HOLO_CUDA_F16) return holo_f32_to_f16(x);
    if ((bits & 0x7F800000) == 0x7F800000) return holo_f64_to_bf16((double)x);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16); // to the nearest, ties to even
}

static void number_put(void *out, int64_t at, uint8_t type, uint8_t numeric, float x)
{
    if (type == HOLO_CUDA_F32)
        ((float *)out)[at] = numeric == HOLO_CUDA_NUMERIC_TF32 ? tf32_of(x) : x;
    else
        ((uint16_t *)out)[at] = narrow_of(type, x);
}

size_t holo_cuda_pack(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    if (lowering->kernel == HOLO_CUDA_STEP_BLOCKS) return holo_cuda_pack_blocks(lowering, w, part, out);
    if (holo_cuda_is_bytes(lowering->kernel)) return holo_cuda_pack_bytes(lowering, w, part, out);
    if (lowering->kernel == HOLO_CUDA_STEP_WINOGRAD) return holo_cuda_pack_winograd(w, part, out);
    Weights s    = weights_of(lowering, w);
    uint8_t type = holo_cuda_params(lowering).store, numeric = holo_cuda_params(lowering).numeric;
    int64_t first = part * s.part_rows, rows = s.rows - first < s.part_rows ? s.rows - first : s.part_rows;
    size_t  size = (size_t)(rows * s.row) * element(type);
    memset(out, 0, size);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < s.k && s.taps == 1; i++)
            number_put(out, r * s.row + i, type, numeric,
                       number_at(w, (first + r) * s.row_stride + i * s.channel_stride));
    for (int64_t r = 0; r < rows && s.taps > 1; r++)
        for (int64_t i = 0; i < s.k; i++)
            if (i % s.channels < s.real)
                number_put(out, r * s.row + i, type, numeric,
                           number_at(w, (first + r) * s.row_stride + i % s.channels * s.channel_stride +
                                            i / s.channels * s.tap_stride));
    return size;
}

void holo_cuda_unpack(HoloLowering *lowering)
{
    holo_cuda_winograd_leave(lowering);
    HoloCudaStepParams params = holo_cuda_params(lowering);
    params.flags &= ~(uint32_t)HOLO_CUDA_FLAG_PACKED;
    holo_cuda_set_params(lowering, &params);
    lowering->pack_input = -1;
}

bool holo_cuda_packs(const HoloNode *node, HoloLowering *lowering)
{
    const HoloValue *w    = holo_cuda_origin(holo_node_in(node, 1));
    HoloCall         call = holo_node_call(node);
    if (lowering->kernel == HOLO_CUDA_STEP_BLOCKS) holo_cuda_blocks_choose(lowering);
    lowering->pack_input = HOLO_IS(node, HOLOGRAM_DecodeBlocks) ? 0 : 1;
    if (lowering->kernel == HOLO_CUDA_STEP_BLOCKS) return true;
    if (holo_cuda_is_bytes(lowering->kernel)) return holo_cuda_packs_bytes(node, lowering);
    bool is_conv = lowering->kernel == HOLO_CUDA_STEP_CONV, is_product = holo_cuda_is_product(lowering->kernel);
    if ((!is_conv && !is_product) || !w || !w->is_constant || !w->type.data) return false;
    if (is_conv && w->type.dtype != HOLO_F32) return false;
    if (is_product ? w->type.rank != 2 : !HOLO_IS(node, HOLOGRAM_Conv)) return false;
    int64_t            groups = is_conv ? holo_attr_int(&call, "group", 1) : 1;
    HoloCudaStepParams params = holo_cuda_params(lowering);
    if (groups < 1 || groups > INT32_MAX || w->type.dim[0] % groups) return false;
    params.layout = is_conv ? (uint32_t)groups : holo_attr_int(&call, "transB", 0) ? HOLO_CUDA_LAYOUT_TURNED : 0;
    holo_cuda_set_params(lowering, &params);
    Weights s = weights_of(lowering, &w->type);
    return s.part_rows > 0 && s.k > 0 && s.rows > 0 &&
           holo_cuda_packed_size(s.rows, s.k, holo_cuda_params(lowering).store) >= 0;
}
