// element_program.c - what a step does to each element of its output, as a portable program: pointwise operators, and
// the tails of products. Kernels have it in their parameters, in a short form; operators of domain hologram have it as
// an attribute.
#include "isa/isa_pointwise.h"
#include "lower/cpu/choose.h"
#include "ops/hologram/program.h"

#include <stddef.h>
#include <string.h>

// Where kernels have a program in their parameters.
static const struct {
    uint32_t kernel;
    size_t   offset;
    bool     is_tail;
} kernels[] = {
    {HOLO_KERNEL_map_f32, offsetof(HoloMapParams, program), false},
    {HOLO_KERNEL_matmul_f32, offsetof(HoloMatmulParams, tail), true},
    {HOLO_KERNEL_conv_nhwc_f32, offsetof(HoloConvNhwcParams, tail), true},
    {HOLO_KERNEL_group_norm_f32, offsetof(HoloGroupNormParams, tail), true},
};

// False: the step has no program.
static bool short_form(const HoloNode *node, const HoloLowering *lowering, HoloProgram *out, bool *out_is_tail)
{
    HoloCall call = holo_node_call(node);
    *out          = (HoloProgram){0};
    for (int i = 0; i < HOLO_COUNT(kernels); i++) {
        if (kernels[i].kernel != lowering->kernel) continue;
        memcpy(out, lowering->params + kernels[i].offset, sizeof *out);
        *out_is_tail = kernels[i].is_tail;
        return out->count;
    }
    if (strcmp(node->domain, "hologram") || !holo_attr_find(&call, "program")) return false;
    *out_is_tail = !HOLO_IS(node, HOLOGRAM_Pointwise);
    return !holo_program_read(&call, out) && out->count;
}

HoloStatus holo_cpu_program(const HoloNode *node, const HoloLowering *lowering, HoloArena *arena, HoloBytes *out,
                            HoloError *error)
{
    HoloProgram      program;
    HoloIsaProgram   portable;
    bool             is_tail = false;
    HoloIsaPointwise of      = {.program = &program};
    *out                     = (HoloBytes){0};
    if (!node->out_count || !node->out[0] || !short_form(node, lowering, &program, &is_tail)) return HOLO_OK;
    if (!holo_program_is_valid(&program, &of.inputs))
        return holo_fail(error, HOLO_BAD_MODEL, "node %s: the pointwise program is not valid", node->name);
    of.out         = &node->out[0]->type;
    of.over_output = is_tail;
    for (int i = is_tail; i < HOLO_MAP_INPUTS; i++) {
        const HoloValue *in = holo_node_in(node, is_tail ? 2 + i : i);
        of.in[i]            = in ? &in->type : NULL;
    }
    HOLO_TRY(holo_isa_pointwise(arena, is_tail ? "tail" : "pointwise", &of, &portable, error));
    return holo_isa_encode(arena, &portable, &out->data, &out->size, error);
}
