// chain.h - chains of pointwise operators, of any types of numbers and of bool, as one portable program.
#ifndef HOLO_OPS_HOLOGRAM_CHAIN_H
#define HOLO_OPS_HOLOGRAM_CHAIN_H

#include "ops/op.h"

enum { HOLO_CHAIN_PARTS = 32, HOLO_CHAIN_INPUTS = 8, HOLO_CHAIN_OPERANDS = 8 };

typedef struct HoloChainPart {
    HoloCall call;                    // the operator, its attributes, and the types of its inputs and its output
    int operand[HOLO_CHAIN_OPERANDS]; // for each input: the part before that gives it, or ~i: it is in[i] of the chain
} HoloChainPart;

// Each part comes after those that it reads. The last gives the output. All outputs have one shape, and inputs
// broadcast to it.
typedef struct HoloChain {
    HoloChainPart     part[HOLO_CHAIN_PARTS];
    int               count;
    const HoloTensor *in[HOLO_CHAIN_INPUTS]; // NULL: an input that is left out
    int               in_count;
    bool              broadcasts; // the program itself finds the elements of inputs that broadcast
} HoloChain;

// Does the operator have instructions that give what its eval gives, for these types? For f32, those of its formula
// (formula.h), if that is arithmetic.
bool holo_chain_has(const HoloCall *call);
// A constant operand of one element is a number in the program: it is not an input of the chain.
bool holo_chain_is_number(const HoloTensor *t);

// The program, as bytes in the arena, for chain_run.h: its inputs are x0, x1 ..., its output is y.
HOLO_MUST HoloStatus holo_chain_program(HoloArena *arena, const HoloChain *chain, HoloString *out_bytes,
                                        HoloError *error);

#endif
