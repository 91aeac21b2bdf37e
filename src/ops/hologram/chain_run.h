// chain_run.h - runs the program of a chain of pointwise operators (chain.h) over inputs that broadcast.
#ifndef HOLO_OPS_HOLOGRAM_CHAIN_RUN_H
#define HOLO_OPS_HOLOGRAM_CHAIN_RUN_H

#include "isa/isa.h"
#include "ops/op.h"

// A program made ready, and the memory of its runs, of which there is one at a time.
typedef struct HoloChainCode HoloChainCode;

// Of a checked program that may be anything: fails where it has not one array to write, each lane its own element, or has
// scalars. `threads`: how many run at the same time.
HOLO_MUST HoloStatus holo_chain_code_create(const HoloCall *call, const HoloIsaProgram *program, int threads,
                                            HoloChainCode **out);
void                 holo_chain_code_destroy(HoloChainCode *code); // NULL is nothing
// The inputs of the call broadcast to its output, and are the arrays of the program in their order. What a lane reads at its
// own number is the element of its place; other arrays are as they are.
HOLO_MUST HoloStatus holo_chain_run(HoloCall *call, HoloChainCode *code);

#endif
