// transfer.c - Transfer, of domain hologram: its input, in the memory of another target.
//
// The compiler inserts it where a value is needed in the memory of another target. The archive says which memories
// these are; as an operator it is a copy.
#include "ops/op.h"

#include <string.h>

static HoloStatus eval(HoloCall *call)
{
    size_t bytes = holo_tensor_bytes(call->in[0]);
    if (bytes) memcpy(call->out[0]->data, call->in[0]->data, bytes);
    return HOLO_OK;
}

const HoloOp holo_ops_transfer[] = {
    {.name    = "Transfer",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL & ~HOLO_BIT(STRING),
     .flags   = HOLO_OP_MOVES,
     .infer   = holo_infer_same,
     .eval    = eval},
    {0},
};
