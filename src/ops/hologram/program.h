// program.h - pointwise programs (format/params.h) as operators know them: as text in the attribute
// `program`, with their numbers in the attribute `numbers`, and what they mean.
//
// Text: steps separated by "; ", each a function of format/map_ops.def and its operands, "x0" an input,
// "r0" the result of step 0, "n0" a number: "mul x0 n0; sigmoid r0; mul x0 r1" with numbers [1.702].
#ifndef HOLO_OPS_HOLOGRAM_PROGRAM_H
#define HOLO_OPS_HOLOGRAM_PROGRAM_H

#include "format/params.h"
#include "ops/op.h"

int holo_map_operands(uint32_t op); // that a function looks at

// Is every operand there before it is used? *out_inputs gets a bit for each input that is read.
bool holo_program_is_valid(const HoloProgram *program, uint32_t *out_inputs);

// The program of a call; without the attribute it has no steps. Fails where the text is no program.
HOLO_MUST HoloStatus holo_program_read(const HoloCall *call, HoloProgram *out);

typedef struct HoloProgramText {
    char  text[1024];
    float number[HOLO_MAP_STEPS];
    int   number_count;
} HoloProgramText;
void holo_program_print(const HoloProgram *program, HoloProgramText *out);

// Computes it plainly, each result rounded to f32. in[i] broadcasts to `out`, where it is read; in[0] may be
// `out`.
void holo_program_eval(const HoloProgram *program, const HoloTensor *const *in, HoloTensor *out);

// The tail of a call: a program over output 0, as x0, and the inputs from `from` on, as x1, x2 .... The check is for
// infer, which has given the output its type: a tail must not enlarge it.
HOLO_MUST HoloStatus holo_program_tail_check(const HoloCall *call, int from);
HOLO_MUST HoloStatus holo_program_tail_eval(HoloCall *call, int from);

#endif
