// composed.h - rows of operators of com.microsoft that are bodies, of composed.c and composed_weights.c.
#ifndef HOLO_OPS_MICROSOFT_COMPOSED_H
#define HOLO_OPS_MICROSOFT_COMPOSED_H

#include "ops/op.h"

// clang-format off
#define HOLO_COMPOSED(id, least, most, outputs, accepted, text)                                               \
    {.name = id, .domain = "com.microsoft", .since = 1, .in_min = least, .in_max = most, .out_min = 1,            \
     .out_max = outputs, .types = accepted, .body = text}
// clang-format on

#endif
