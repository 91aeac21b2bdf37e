// choose_blocks.c - chooses matmul_blocks for MatMulBlocks, and packs its weights.
#include "kernels/kernels.h"
#include "lower/cpu/choose.h"
#include "ops/hologram/blocks_op.h"

bool holo_lower_matmul_blocks(const HoloNode *node, HoloLowering *out)
{
    HoloError        ignored = {0};
    HoloCall         call    = holo_node_call(node);
    const HoloValue *x = holo_node_in(node, HOLO_BLOCKS_X), *w = holo_node_in(node, HOLO_BLOCKS_W);
    const HoloValue *bias = holo_node_in(node, HOLO_BLOCKS_BIAS);
    HoloBlocks       v;
    call.error = &ignored;
    if (!holo_value_is_f32(x, 1, HOLO_MAX_RANK) || !holo_value_is(w, HOLO_U8, 2, 2)) return false;
    if ((bias && !holo_value_is_f32(bias, 1, 1)) || holo_blocks_sizes(&call, &v)) return false;
    if (!holo_lower_tail(node, &out->matmul_blocks.tail)) return false;
    int64_t panel    = holo_block_panel_bytes(v.type, v.count);
    out->params_size = sizeof out->matmul_blocks;
    if (panel < 0) return false;
    if (!w->is_constant || !w->type.data || panel > HOLO_PACK_PART || w->type.dim[0] < 1) return true;
    out->matmul_blocks.flags = HOLO_MATMUL_BLOCKS_PACKED;
    out->pack_type           = v.type;
    out->pack_form           = HOLO_FORM_BLOCKS;
    out->pack_input          = HOLO_BLOCKS_W;
    return true;
}

// ---- packing: parts are whole panels

typedef struct Panels {
    const HoloBlockType *type;
    int64_t              k, bytes; // bytes of a panel
    int64_t              count, part;
} Panels;

static Panels panels_of(const HoloLowering *lowering, const HoloTensor *w)
{
    Panels p = {.type = lowering->pack_type, .k = w->dim[1] / lowering->pack_type->bytes * lowering->pack_type->count};
    p.bytes  = holo_block_panel_bytes(p.type, p.k);
    p.count  = (w->dim[0] + HOLO_PANEL - 1) / HOLO_PANEL;
    p.part   = HOLO_PACK_PART / p.bytes;
    return p;
}

HoloPacking holo_lower_packing_blocks(const HoloLowering *lowering, const HoloTensor *w)
{
    Panels p = panels_of(lowering, w);
    return (HoloPacking){.bytes = (uint64_t)(p.count * p.bytes), .part_count = (p.count + p.part - 1) / p.part};
}

size_t holo_lower_pack_blocks(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    Panels  p     = panels_of(lowering, w);
    int64_t first = part * p.part, count = p.count - first < p.part ? p.count - first : p.part;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = (first + i) * HOLO_PANEL, rows = w->dim[0] - row < HOLO_PANEL ? w->dim[0] - row : HOLO_PANEL;
        holo_block_panel_pack(p.type, p.k, (int)rows, (const uint8_t *)w->data + row * w->dim[1], w->dim[1],
                              (uint8_t *)out + i * p.bytes);
    }
    return (size_t)(count * p.bytes);
}
