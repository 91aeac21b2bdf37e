// choose_nbits.c - chooses matmul_nbits_f32 for MatMulNBits, and packs its weights, scales and zero points.
#include "kernels/kernels.h"
#include "lower/cpu/choose.h"
#include "ops/microsoft/nbits.h"

#include <string.h>

static bool is_constant(const HoloValue *v)
{
    return !v || (v->is_constant && v->type.data);
}

// The operator's eval requires the same.
static bool has_entries(const HoloValue *v, int64_t count)
{
    return !v || holo_tensor_count(&v->type) == count;
}

bool holo_lower_matmul_nbits(const HoloNode *node, HoloLowering *out)
{
    HoloError        ignored = {0};
    HoloCall         call    = holo_node_call(node);
    const HoloValue *a = holo_node_in(node, HOLO_NBITS_A), *b = holo_node_in(node, HOLO_NBITS_B);
    const HoloValue *scales = holo_node_in(node, HOLO_NBITS_SCALES), *zeros = holo_node_in(node, HOLO_NBITS_ZEROS);
    const HoloValue *bias = holo_node_in(node, HOLO_NBITS_BIAS);
    HoloNBits        v;
    call.error = &ignored;
    if (!holo_value_is_f32(a, 1, HOLO_MAX_RANK) || holo_node_in(node, HOLO_NBITS_GROUPS)) return false;
    if (!holo_value_is_f32(scales, 0, HOLO_MAX_RANK) || !holo_value_is(b, HOLO_U8, 0, HOLO_MAX_RANK)) return false;
    if (bias && !holo_value_is_f32(bias, 0, HOLO_MAX_RANK)) return false;
    if (zeros && !holo_value_is_f32(zeros, 0, HOLO_MAX_RANK) && !holo_value_is(zeros, HOLO_U8, 0, HOLO_MAX_RANK))
        return false;
    if (holo_nbits_sizes(&call, &v) || !has_entries(b, v.cols * v.column) || !has_entries(scales, v.cols * v.blocks) ||
        !has_entries(zeros, v.cols * (zeros && zeros->type.dtype == HOLO_U8 ? v.zero_bytes : v.blocks)) ||
        !has_entries(bias, v.cols))
        return false;
    bool rounds             = holo_nbits_is_rounded(&call);
    out->params_size        = sizeof out->matmul_nbits;
    out->matmul_nbits.flags = rounds ? HOLO_MATMUL_NBITS_INT8 : 0;
    out->matmul_nbits.bits  = (uint32_t)v.bits;
    out->matmul_nbits.block = (uint32_t)v.block;
    out->matmul_nbits.k     = (uint64_t)v.depth;
    out->matmul_nbits.n     = (uint64_t)v.cols;
    if (!is_constant(b) || !is_constant(scales) || !is_constant(zeros) || v.depth * HOLO_PANEL > HOLO_PACK_PART)
        return true;
    out->matmul_nbits.flags |= HOLO_MATMUL_NBITS_PACKED;
    out->pack_input = HOLO_NBITS_B;
    out->pack_also  = 1u << HOLO_NBITS_SCALES | (zeros ? 1u << HOLO_NBITS_ZEROS : 0);
    return true;
}

// ---- packing: parts are whole panels

static HoloNBits sizes_of(const HoloLowering *lowering)
{
    const HoloMatmulNbitsParams *p = &lowering->matmul_nbits;
    HoloNBits v  = {.depth = (int64_t)p->k, .cols = (int64_t)p->n, .block = p->block, .bits = (int)p->bits};
    v.blocks     = (v.depth + v.block - 1) / v.block;
    v.column     = v.blocks * v.block * v.bits / 8;
    v.zero_bytes = (v.blocks * v.bits + 7) / 8;
    return v;
}

static bool is_int8(const HoloLowering *lowering)
{
    return lowering->matmul_nbits.flags & HOLO_MATMUL_NBITS_INT8;
}

// Bytes of one panel of an input.
static int64_t panel_bytes(const HoloLowering *lowering, const HoloNBits *v)
{
    int64_t depth = is_int8(lowering) ? (v->depth + 7) / 8 * 8 : v->depth;
    return lowering->pack_input == HOLO_NBITS_B ? holo_panels_bits_size(v->bits, depth, HOLO_PANEL)
                                                : holo_panels_size(1, v->blocks, HOLO_PANEL);
}

HoloPacking holo_lower_packing_nbits(const HoloLowering *lowering, const HoloTensor *w)
{
    HoloNBits v      = sizes_of(lowering);
    int64_t   panels = (v.cols + HOLO_PANEL - 1) / HOLO_PANEL, bytes = panel_bytes(lowering, &v);
    int64_t   parts = HOLO_PACK_PART / bytes;
    (void)w;
    return (HoloPacking){.bytes = (uint64_t)(panels * bytes), .part_count = (panels + parts - 1) / parts};
}

// Eight numbers of up to 4 bits of a column, in one word. With 4 bits they are in the same order as in the model.
static uint32_t word_of(const HoloNBits *v, const uint8_t *column, int64_t first)
{
    uint32_t word = 0;
    if (v->bits == 4) {
        memcpy(&word, column + first / 2, sizeof word);
        return word ^ 0x88888888; // subtracts 8, modulo 16
    }
    for (int i = 0; i < 8; i++) {
        unsigned number = holo_nbits_at(column, first + i, v->bits) - (1u << (v->bits - 1));
        word |= (number & 15) << 4 * i;
    }
    return word;
}

static void numbers_pack(const HoloNBits *v, const uint8_t *b, int columns, uint8_t *out)
{
    for (int64_t k = 0; k < v->depth; k += v->bits <= 4 ? 8 : 1)
        for (int j = 0; j < HOLO_PANEL; j++) {
            const uint8_t *column = b + j * v->column;
            if (v->bits <= 4) {
                uint32_t word = j < columns ? word_of(v, column, k) : 0;
                memcpy(out + (k / 8 * HOLO_PANEL + j) * 4, &word, sizeof word);
            } else
                out[k * HOLO_PANEL + j] =
                    (uint8_t)(j < columns ? holo_nbits_at(column, k, v->bits) - (1u << (v->bits - 1)) : 0);
        }
}

// Packs numbers in groups of four. Those of up to 4 bits go two into a byte, four rows of k apart.
static void quads_pack(const HoloNBits *v, const uint8_t *b, int columns, uint8_t *out)
{
    bool small = v->bits <= 4;
    for (int64_t k = 0; k < (v->depth + 7) / 8 * 8; k++)
        for (int j = 0; j < HOLO_PANEL; j++) {
            int64_t  quad = small ? k / 8 : k / 4, half = small ? k / 4 % 2 : 0;
            uint8_t *to = out + (quad * HOLO_PANEL + j) * 4 + k % 4;
            unsigned n  = j < columns && k < v->depth ? holo_nbits_at(b + j * v->column, k, v->bits) : 0;
            *to         = (uint8_t)(half ? *to | n << 4 : n);
        }
}

// What is added to the numbers of each block: `middle` was subtracted from them.
static void offsets_pack(const HoloNBits *v, const HoloTensor *zeros, int64_t first, int columns, int middle,
                         float *out)
{
    for (int64_t block = 0; block < v->blocks; block++)
        for (int j = 0; j < HOLO_PANEL; j++)
            *out++ = j < columns ? (float)(middle - holo_nbits_zero(v, zeros, first + j, block)) : 0;
}

size_t holo_lower_pack_nbits(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    HoloNBits v     = sizes_of(lowering);
    int       input = lowering->pack_input;
    int64_t   bytes = panel_bytes(lowering, &v), count = HOLO_PACK_PART / bytes;
    int64_t   panels = (v.cols + HOLO_PANEL - 1) / HOLO_PANEL, first = part * count;
    if (count > panels - first) count = panels - first;
    for (int64_t i = 0; i < count; i++) {
        int64_t column  = (first + i) * HOLO_PANEL;
        int     columns = (int)(v.cols - column < HOLO_PANEL ? v.cols - column : HOLO_PANEL);
        void   *to      = (char *)out + i * bytes;
        if (input == HOLO_NBITS_B)
            (is_int8(lowering) ? quads_pack : numbers_pack)(&v, (const uint8_t *)w->data + column * v.column, columns,
                                                            to);
        else if (input == HOLO_NBITS_ZEROS)
            offsets_pack(&v, w, column, columns, is_int8(lowering) ? 0 : 1 << (v.bits - 1), to);
        else
            holo_kernels(0)->pack_f32(v.blocks, columns, (const float *)w->data + column * v.blocks, 1, v.blocks, to);
    }
    return (size_t)(count * bytes);
}
