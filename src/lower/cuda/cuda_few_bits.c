// cuda_few_bits.c - weights of few bits for a GPU: those in blocks are packed as for the CPU, in panels of 16 columns; those of
// MatMulNBits as units of codes in the same order, while scales and zero points stay as they are.
#include "devices/cuda/cuda_blocks.h"
#include "graph/facts.h"
#include "lower/cpu/choose.h"
#include "lower/cuda/cuda_target.h"
#include "ops/hologram/blocks_op.h"

#include <string.h>

enum { UNIT = HOLO_CUDA_BLOCK_UNIT, MOST = INT32_MAX - 1024 };

static bool is_constant(const HoloValue *v)
{
    const HoloValue *from = holo_cuda_origin(v);
    return from && from->is_constant && from->type.data;
}

static bool blocks_fit(const HoloNode *node, const HoloCall *call, int at, HoloCudaStepParams *params)
{
    const HoloValue *w = holo_node_in(node, at);
    HoloBlocks       v;
    if (!holo_value_is(w, HOLO_U8, 2, 2) || !is_constant(w) || holo_blocks_sizes(call, &v) || v.rounds) return false;
    int     number = holo_cuda_block_number(v.type);
    int64_t panel  = holo_block_panel_bytes(v.type, v.count);
    if (w->type.dim[1] != v.bytes || w->type.dim[0] < 1 || w->type.dim[0] > MOST || v.count > MOST) return false;
    params->layout = (uint32_t)number;
    return panel > 0 && panel <= HOLO_PACK_PART && number >= 0 && holo_cuda_block_module(params->layout);
}

// The device reads scales and zero points as they are: constants of f32, or packed.
static bool nbits_fit(const HoloNode *node, const HoloCall *call, HoloCudaStepParams *params)
{
    const HoloValue *b = holo_node_in(node, HOLO_NBITS_B), *scales = holo_node_in(node, HOLO_NBITS_SCALES);
    const HoloValue *zeros = holo_node_in(node, HOLO_NBITS_ZEROS), *bias = holo_node_in(node, HOLO_NBITS_BIAS);
    HoloNBits        v;
    if (holo_nbits_sizes(call, &v) || (v.bits != 4 && v.bits != 8) || v.block < 16) return false;
    if (holo_node_in(node, HOLO_NBITS_GROUPS) || !is_constant(b) || !is_constant(scales) ||
        (zeros && !is_constant(zeros)))
        return false;
    if (!holo_value_is(b, HOLO_U8, 2, 3) || !holo_value_is(scales, HOLO_F32, 0, HOLO_MAX_RANK)) return false;
    bool is_packed = zeros && zeros->type.dtype == HOLO_U8;
    if (zeros && !is_packed && !holo_value_is(zeros, HOLO_F32, 0, HOLO_MAX_RANK)) return false;
    if (b->type.dim[0] != v.cols || holo_tensor_count(&b->type) != v.cols * v.column ||
        holo_tensor_count(&scales->type) != v.cols * v.blocks ||
        (zeros && holo_tensor_count(&zeros->type) != v.cols * (is_packed ? v.zero_bytes : v.blocks)) ||
        (bias && holo_tensor_count(&bias->type) != v.cols))
        return false;
    int64_t panel  = holo_cuda_nbits_panel(&v);
    params->layout = v.bits == 4 ? HOLO_CUDA_NBITS_4 : HOLO_CUDA_NBITS_8;
    return panel > 0 && panel <= HOLO_PACK_PART;
}

bool holo_cuda_blocks_fit(const HoloNode *node, const HoloCall *given, HoloCudaStepParams *params)
{
    HoloError ignored = {0};
    HoloCall  call    = *given;
    call.error        = &ignored;
    if (HOLO_IS(node, MICROSOFT_MatMulNBits)) return nbits_fit(node, &call, params);
    return blocks_fit(node, &call, HOLO_IS(node, HOLOGRAM_DecodeBlocks) ? 0 : 1, params);
}

// ---- packing

static int bits_of(const HoloLowering *lowering) // 0: blocks
{
    uint32_t layout = holo_cuda_params(lowering).layout;
    return layout == HOLO_CUDA_NBITS_4 ? 4 : layout == HOLO_CUDA_NBITS_8 ? 8 : 0;
}

void holo_cuda_blocks_choose(HoloLowering *lowering)
{
    if (bits_of(lowering)) return;
    lowering->pack_type = holo_block_type_at((int)holo_cuda_params(lowering).layout);
    lowering->pack_form = HOLO_FORM_BLOCKS;
}

typedef struct Columns {                       // of MatMulNBits
    int64_t count, bytes, panel, panels, part; // bytes of a column; of a panel; panels, and those of a part
    int     bits;
} Columns;

static Columns columns_of(const HoloLowering *lowering, const HoloTensor *w)
{
    Columns c = {.count = w->dim[0], .bits = bits_of(lowering)};
    c.bytes   = holo_tensor_count(w) / c.count;
    c.panel   = holo_cuda_nbits_panel(&(HoloNBits){.column = c.bytes, .bits = c.bits});
    c.panels  = (c.count + HOLO_BLOCK_COLUMNS - 1) / HOLO_BLOCK_COLUMNS;
    c.part    = HOLO_PACK_PART / c.panel;
    return c;
}

// Elements of one column: quad q of a unit is in the low or in the high halves, or in bytes.
static void column_pack(const Columns *c, const uint8_t *from, int column, uint8_t *out)
{
    for (int64_t k = 0; k < c->bytes * 8 / c->bits; k++) {
        int64_t  unit = k / UNIT, q = k % UNIT / 4, quads = c->bits == 4 ? 4 : 8;
        uint8_t *to = out + (unit * quads + q % quads) * 64 + column * 4 + k % 4;
        *to         = (uint8_t)(*to | holo_nbits_at(from, k, c->bits) << q / quads * 4);
    }
}

HoloPacking holo_cuda_packing_blocks(const HoloLowering *lowering, const HoloTensor *w)
{
    if (!bits_of(lowering)) return holo_lower_packing_blocks(lowering, w);
    Columns c = columns_of(lowering, w);
    return (HoloPacking){.bytes = (uint64_t)(c.panels * c.panel), .part_count = (c.panels + c.part - 1) / c.part};
}

size_t holo_cuda_pack_blocks(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    if (!bits_of(lowering)) return holo_lower_pack_blocks(lowering, w, part, out);
    Columns c     = columns_of(lowering, w);
    int64_t first = part * c.part, count = c.panels - first < c.part ? c.panels - first : c.part;
    memset(out, 0, (size_t)(count * c.panel));
    for (int64_t i = 0; i < count * HOLO_BLOCK_COLUMNS; i++) {
        int64_t n = first * HOLO_BLOCK_COLUMNS + i;
        if (n < c.count)
            column_pack(&c, (const uint8_t *)w->data + n * c.bytes, (int)(i % HOLO_BLOCK_COLUMNS),
                        (uint8_t *)out + i / HOLO_BLOCK_COLUMNS * c.panel);
    }
    return (size_t)(count * c.panel);
}
