// op_id.h - the identity of operators that other rooms name: HOLO_ID_Conv, HOLO_ID_HOLOGRAM_Conv ... See op_ids.def.
#ifndef HOLO_OPS_OP_ID_H
#define HOLO_OPS_OP_ID_H

#include "ops/op.h"

typedef enum HoloOpId {
    HOLO_ID_NONE, // an operator that no other room names, or that does not exist
#define X(id, domain, name) HOLO_ID_##id,
#include "ops/op_ids.def"
#undef X
    HOLO_ID_COUNT,
} HoloOpId;

HoloOpId      holo_op_id(const char *domain, const char *name);
const char   *holo_op_id_name(HoloOpId id);         // "Conv"
const char   *holo_op_id_domain(HoloOpId id);       // "" is ai.onnx
const HoloOp *holo_op_of(HoloOpId id, int version); // NULL: it does not exist in that version
bool          holo_op_is(const HoloOp *op, HoloOpId id);

#endif
