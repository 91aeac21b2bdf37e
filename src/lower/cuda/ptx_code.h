// ptx_code.h - for the files that write PTX: the state of a kernel that is being written.
#ifndef HOLO_LOWER_CUDA_PTX_CODE_H
#define HOLO_LOWER_CUDA_PTX_CODE_H

#include "lower/cuda/ptx.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct HoloPtxBlock { // of `if` or `loop`
    int  label;
    bool is_loop, has_else;
} HoloPtxBlock;

typedef struct HoloPtx {
    HoloText             *out;
    const HoloIsaProgram *program;
    HoloPtxStore          store;
    uint64_t              narrow; // a bit for each parameter that lies so
    HoloPtxBlock          block[HOLO_ISA_MAX_DEPTH];
    int                   depth, labels;
} HoloPtx;

typedef struct HoloPtxReg {
    char text[16];
} HoloPtxReg;
HoloPtxReg holo_ptx_reg(const HoloPtx *p, int number);

typedef void  HoloPtxWrite(HoloPtx *p, const HoloIsaInst *inst);
HoloPtxWrite *holo_ptx_write(const HoloIsaInst *inst);    // what writes the instruction; NULL: nothing can
int           holo_ptx_function(const HoloIsaInst *inst); // the number of the function that it calls; -1: none

#endif
