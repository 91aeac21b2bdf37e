// cpu_target.c - the CPU's row in the table of targets, and the answers to what passes ask.
#include "lower/cpu/cpu_target.h"
#include "graph/facts.h"
#include "ops/hologram/formula.h"

static bool is_in_place(uint32_t kernel)
{
    return holo_kernel_is_in_place(kernel);
}

// In volumes, a row of a dilated filter sees few numbers at a time if there are few channels. With channels first,
// these are gathered 16 pixels at a time, and few filters do not leave vectors half empty.
static bool is_scattered(const HoloNode *conv)
{
    enum { CHANNELS = 16, FILTERS = 16 }; // fewer channels than this, and at most this many filters
    const HoloTensor *w         = &conv->in[1]->type;
    const HoloAttr   *dilations = holo_node_attr(conv, "dilations"), *group = holo_node_attr(conv, "group");
    if (group && (group->kind != HOLO_ATTR_INT || group->i != 1)) return false;
    return w->rank == 5 && w->dim[1] < CHANNELS && w->dim[0] <= FILTERS && w->dim[4] > 1 && dilations &&
           dilations->kind == HOLO_ATTR_INTS && dilations->count == 3 && dilations->ints[2] > 1;
}

static bool wants_last(const HoloNode *conv)
{
    return !is_scattered(conv);
}

static bool has_pointwise(const HoloCall *call)
{
    HoloProgram formula;
    if (holo_op_is(call->op, HOLO_ID_Cast)) {
        unsigned from = call->in[0]->dtype, to = call->out[0]->dtype;
        unsigned half = to == HOLO_F32 ? from : from == HOLO_F32 ? to : 0;
        return half == HOLO_F16 || half == HOLO_BF16 || (from == HOLO_I32 && to == HOLO_F32);
    }
    return holo_formula(call, &formula);
}

const HoloTarget holo_target_cpu = {
    .name           = "cpu",
    .choose         = holo_cpu_choose,
    .ways           = holo_cpu_ways,
    .is_in_place    = is_in_place,
    .program        = holo_cpu_program,
    .packing        = holo_cpu_packing,
    .pack           = holo_cpu_pack,
    .is_enlarged    = holo_cpu_is_enlarged,
    .cost           = holo_cpu_cost,
    .note           = holo_cpu_note,
    .image_types    = HOLO_BIT(F32) | HOLO_BIT(U8) | HOLO_BIT(I8),
    .attention_size = HOLO_ATTENTION_SIZE,
    .wants_last     = wants_last,
    .has_pointwise  = has_pointwise,
};
