// chain_run.h - runs the program of a chain of pointwise operators (chain.h) over inputs that broadcast.
#ifndef HOLO_OPS_HOLOGRAM_CHAIN_RUN_H
#define HOLO_OPS_HOLOGRAM_CHAIN_RUN_H

#include "isa/isa.h"
#include "ops/op.h"

// A prepared program and the memory of its runs; only one run at a time.
typedef struct HoloChainCode HoloChainCode;

// Takes any checked program. Fails if it does not have exactly one array to write, each lane its own element, or if it
// has scalars. `threads` is how many run at the same time.
HOLO_MUST HoloStatus holo_chain_code_create(const HoloCall *call, const HoloIsaProgram *program, int threads,
                                            HoloChainCode **out);
void                 holo_chain_code_destroy(HoloChainCode *code); // accepts NULL
// The inputs of the call broadcast to its output, and are the arrays of the program in order. An array that a lane
// reads at its own number gives the element at its position; other arrays are unchanged.
HOLO_MUST HoloStatus holo_chain_run(HoloCall *call, HoloChainCode *code);

#endif
