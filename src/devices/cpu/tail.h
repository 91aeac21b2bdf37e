// tail.h - pointwise programs over ranges of a tensor: all the work of map_f32, and the tail of products, which is
// applied to a block of the output while it is in the cache.
#ifndef HOLO_DEVICES_CPU_TAIL_H
#define HOLO_DEVICES_CPU_TAIL_H

#include "devices/cpu/kernel.h"
#include "format/params.h"

// Dimensions along which all inputs are contiguous, or all stay, are joined.
typedef struct HoloTail {
    const HoloProgram *program;
    const HoloTensor  *from[HOLO_MAP_INPUTS]; // NULL: not used
    int                inputs;                // all that are used are below
    const HoloTensor  *to;
    const float       *in[HOLO_MAP_INPUTS]; // their data, see holo_tail_begin
    float             *out;
    int                rank; // at least 1
    int64_t            dim[HOLO_MAX_RANK], stride[HOLO_MAP_INPUTS][HOLO_MAX_RANK];
    int64_t            count;   // of elements; 0: nothing to do
    int64_t            columns; // the output's last dimension
    int64_t            group; // rows of the innermost dimension, where they are short, that go through at once; 1: one
    uint32_t           rows;  // a bit for each input that is the same in all rows of a group
} HoloTail;

enum { HOLO_TAIL_TILE = 512 }; // elements that a program of several steps takes at a time

// Floats of scratch that a program needs: for results between steps, and for repeated inputs.
static inline size_t holo_tail_scratch(const HoloProgram *program)
{
    return program->count ? (program->count - 1 + HOLO_MAP_INPUTS) * (size_t)HOLO_TAIL_TILE : 0;
}

// A program over the inputs of a call from `first_input` on. With `over_output`, x0 is the output itself, and the
// inputs begin with x1. Refuses invalid programs, and inputs that do not broadcast to the output.
HOLO_MUST HoloStatus holo_tail_init(const HoloCall *call, const HoloProgram *program, bool over_output, int first_input,
                                    HoloTail *out);

// Call it before each run: it looks up where the data are.
void holo_tail_begin(HoloTail *tail);

// Elements from <= i < to of the output, in memory order.
void holo_tail_range(const HoloTail *tail, const HoloHost *host, int64_t from, int64_t to, float *scratch);

// A block of the output, seen as a matrix with rows of its last dimension. Does nothing for a program without steps.
void holo_tail_run(const HoloTail *tail, const HoloHost *host, int64_t row, int64_t rows, int64_t column,
                   int64_t columns, float *scratch);

#endif
