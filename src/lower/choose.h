// choose.h - what the choices of kernels share: looks at nodes and their values.
#ifndef HOLO_LOWER_CHOOSE_H
#define HOLO_LOWER_CHOOSE_H

#include "lower/lower.h"

static inline bool holo_value_is_f32(const HoloValue *value, int rank_min, int rank_max)
{
    if (!value || value->type.kind != HOLO_TENSOR || value->type.dtype != HOLO_F32) return false;
    if (value->type.rank < rank_min || value->type.rank > rank_max) return false;
    for (int d = 0; d < value->type.rank; d++)
        if (value->type.dim[d] == HOLO_DIM_UNKNOWN) return false;
    return true;
}

static inline const HoloValue *holo_node_in(const HoloNode *node, int i)
{
    return i < node->in_count ? node->in[i] : NULL;
}

static inline HoloCall holo_node_call(const HoloNode *node) // for attributes alone
{
    return (HoloCall){.op         = node->op,
                      .node       = node->name,
                      .version    = node->version,
                      .attr       = node->attr,
                      .attr_count = node->attr_count};
}

// Pointwise operators as programs of map_f32; false: not one.
bool holo_lower_map(const HoloNode *node, HoloLowering *out);

#endif
