// ptx.h - portable programs (docs/isa.md) as PTX, the assembly text that CUDA's driver turns into machine code.
//
// The text follows from the program alone: no tool is needed, and equal programs give equal text.
#ifndef HOLO_LOWER_CUDA_PTX_H
#define HOLO_LOWER_CUDA_PTX_H

#include "graph/graph.h"
#include "isa/isa.h"

// How the elements of f32 arrays lie in memory. They are computed as f32 in any case.
typedef enum HoloPtxStore { HOLO_PTX_F32, HOLO_PTX_F16, HOLO_PTX_BF16 } HoloPtxStore;

// Can the program be written? Lanes that work together, arrays of their own, atomics and a few instructions cannot.
// NULL: it can. Otherwise the name of what cannot.
const char *holo_ptx_lacks(const HoloIsaProgram *program);

// The oldest machines that a text is for. From sm_90 on kernels may be launched before the one before them has ended.
typedef enum HoloPtxFor { HOLO_PTX_SM_80, HOLO_PTX_SM_90, HOLO_PTX_FORS } HoloPtxFor;

// What a module begins with. Functions that NVIDIA's compiler made of code/math.cu follow it.
void holo_ptx_begin(HoloText *out, HoloPtxFor machine);
// Adds a kernel. Its one parameter is a block of bytes: for each parameter of the program 16 bytes, the address and the
// number of elements of an array, or the bits of a scalar. Lanes are threads of a grid with one dimension. `narrow` has a
// bit for each parameter whose elements lie as `store` says.
HOLO_MUST HoloStatus holo_ptx_kernel(HoloText *out, const char *name, const HoloIsaProgram *program, HoloPtxFor machine,
                                     HoloPtxStore store, uint64_t narrow, HoloError *error);
// Which functions of `math` programs call: a bit for each, in the order of holo_ptx_functions.
extern const char *const holo_ptx_functions[]; // "exp" ...; ends with NULL
uint32_t                 holo_ptx_calls(const HoloIsaProgram *program);

#endif
