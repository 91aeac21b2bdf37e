// cuda_target.c - the row of the target cuda in the table of targets, in each of its numeric classes.
#include "lower/cuda/cuda_target.h"
#include "devices/cuda/cuda_pick.h"

#include <string.h>

enum { ATTENTION = 256 };

#define IMAGES (HOLO_BIT(F32) | HOLO_BIT(U8) | HOLO_BIT(I8))

static bool wants_last(const HoloNode *conv)
{
    return conv->in[0]->type.rank <= 4; // volumes have no kernel with channels last
}

// What it can run is a program of its own: it needs no chains.
static bool has_pointwise(const HoloCall *call)
{
    (void)call;
    return true;
}

static bool is_in_place(uint32_t kernel)
{
    return kernel == HOLO_CUDA_STEP_PROGRAM || kernel == HOLO_CUDA_STEP_ROTARY;
}

static bool has_kind(const char *kind)
{
    return !strcmp(kind, "sm_80") || !strcmp(kind, "sm_90") || !strcmp(kind, "ptx");
}

// Of a large angle few digits say nothing.
static bool is_angle(const HoloNode *node)
{
    return (HOLO_IS(node, Cos) || HOLO_IS(node, Sin)) && node->in[0] && node->in[0]->type.dtype == HOLO_F32;
}

static const HoloTarget *of_class(const char *numeric);

// A row for each class: they differ in what they choose.
#define CLASS(id, store, numeric)                                                               \
    static const HoloCudaClass class_##id = {#id, store, numeric};                              \
    static bool                can_run_##id(const HoloNode *node)                               \
    {                                                                                           \
        HoloLowering ignored;                                                                   \
        return holo_cuda_choose(&class_##id, node, &ignored);                                   \
    }                                                                                           \
    static HoloLowering choose_##id(const HoloNode *node)                                       \
    {                                                                                           \
        HoloLowering out;                                                                       \
        if (!holo_cuda_choose(&class_##id, node, &out)) out = (HoloLowering){.pack_input = -1}; \
        return out;                                                                             \
    }                                                                                           \
    static HoloLowering transfer_##id(const HoloNode *node)                                     \
    {                                                                                           \
        return holo_cuda_transfer_choose(&class_##id, node);                                    \
    }

#define ROW(id)                                                                                                      \
    .name = "cuda", .of_class = of_class, .has_kind = has_kind, .code = holo_cuda_code, .can_run = can_run_##id,     \
    .choose = choose_##id, .transfer = transfer_##id, .is_in_place = is_in_place, .program = holo_cuda_node_program, \
    .packing = holo_cuda_packing, .pack = holo_cuda_pack, .unpack = holo_cuda_unpack, .note = holo_cuda_note,        \
    .share = holo_cuda_share_weights, .image_types = IMAGES, .attention_size = ATTENTION, .wants_last = wants_last,  \
    .packs_rows = true, .has_pointwise = has_pointwise

CLASS(fused, HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED)
CLASS(exact, HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_EXACT)
CLASS(tf32, HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32)
CLASS(f16, HOLO_CUDA_F16, HOLO_CUDA_NUMERIC_FUSED)
CLASS(bf16, HOLO_CUDA_BF16, HOLO_CUDA_NUMERIC_FUSED)

const HoloTarget        holo_target_cuda = {ROW(fused), .merge = holo_cuda_merge};
static const HoloTarget target_exact     = {ROW(exact)};
static const HoloTarget target_tf32      = {ROW(tf32), .merge = holo_cuda_merge};
static const HoloTarget target_f16       = {ROW(f16), .merge = holo_cuda_merge, .needs_digits = is_angle};
static const HoloTarget target_bf16      = {ROW(bf16), .merge = holo_cuda_merge, .needs_digits = is_angle};

static const HoloTarget *of_class(const char *numeric)
{
    static const struct {
        const char       *name;
        const HoloTarget *row;
    } rows[] = {{"fused", &holo_target_cuda},
                {"exact", &target_exact},
                {"tf32", &target_tf32},
                {"f16", &target_f16},
                {"bf16", &target_bf16}};
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (!strcmp(rows[i].name, numeric)) return rows[i].row;
    return NULL;
}
