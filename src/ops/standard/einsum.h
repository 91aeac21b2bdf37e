// einsum.h - what an equation of Einsum says, for those who compute it otherwise than einsum.c does.
#ifndef HOLO_OPS_STANDARD_EINSUM_H
#define HOLO_OPS_STANDARD_EINSUM_H

#include "ops/op.h"

enum { HOLO_EINSUM_LETTERS = 52, HOLO_EINSUM_NAMES = HOLO_EINSUM_LETTERS + HOLO_MAX_RANK };

// The names of an operand's or of the output's dimensions: letters, then those that the ellipsis stands for.
typedef struct HoloEinsumTerm {
    int    rank;
    int8_t name[HOLO_MAX_RANK];
} HoloEinsumTerm;

// The terms of a call that infer accepts: of its inputs, in_count of them, and of the output.
HOLO_MUST HoloStatus holo_einsum_read(const HoloCall *call, HoloEinsumTerm *terms, HoloEinsumTerm *out);

#endif
