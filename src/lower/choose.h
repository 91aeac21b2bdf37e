// choose.h - what the choices of kernels share: looks at nodes and their values.
#ifndef HOLO_LOWER_CHOOSE_H
#define HOLO_LOWER_CHOOSE_H

#include "lower/lower.h"

// A tensor of this type and so many dimensions, all of sizes that are known or have a name.
static inline bool holo_value_is(const HoloValue *value, HoloDtype dtype, int rank_min, int rank_max)
{
    if (!value || value->type.kind != HOLO_TENSOR || value->type.dtype != dtype) return false;
    if (value->type.rank < rank_min || value->type.rank > rank_max) return false;
    for (int d = 0; d < value->type.rank; d++)
        if (value->type.dim[d] == HOLO_DIM_UNKNOWN) return false;
    return true;
}

static inline bool holo_value_is_f32(const HoloValue *value, int rank_min, int rank_max)
{
    return holo_value_is(value, HOLO_F32, rank_min, rank_max);
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
bool holo_lower_map_has(const char *domain, const char *name); // is there a formula for some of its cases?

#endif
