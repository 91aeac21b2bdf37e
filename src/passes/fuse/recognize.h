// recognize.h - the rows of the pass `recognize`: patterns, their replacements, and checks that text cannot express.
#ifndef HOLO_PASSES_FUSE_RECOGNIZE_H
#define HOLO_PASSES_FUSE_RECOGNIZE_H

#include "passes/match.h"
#include "passes/rewrite.h"

typedef struct HoloRecognize HoloRecognize;

// Checks a match. False: it is not one. May add attributes and values for the replacement.
typedef bool HoloRecognizeFits(HoloRecognize *r);

typedef struct HoloRecognizeRow {
    const char *before; // the pattern
    // The replacement: a body like those of operators. Its inputs are the pattern's values of the same names. Its
    // "@name" are the pattern's numbers and the attributes of the matched nodes.
    const char        *after;
    HoloRecognizeFits *fits; // NULL: there is nothing to check
} HoloRecognizeRow;

extern const HoloRecognizeRow holo_recognize_table[];  // the first row that matches is taken; the last one has no text
extern const char *const      holo_recognize_others[]; // patterns of the domain `any`; ends with NULL

// May this node be the last of a pattern, whose last statement gives its output? False: it surely is not.
bool holo_recognize_may_end(const char *text, const HoloNode *node);

// ---- for functions that check a match

// The pattern's value of that name, or what was made under that name; NULL: neither.
HoloValue *holo_recognize_find(const HoloRecognize *r, const char *name);
// Makes a constant for the replacement, at most four for a match. It hides the pattern's value of that name. False: no
// memory.
bool holo_recognize_make_ints(HoloRecognize *r, const char *name, int count, const int64_t *ints);

// ---- the functions

// `count` is the number of elements of x that are reduced to one, or `part` is 1 / count. Adds `axes`.
HoloRecognizeFits holo_recognize_mean;
// The reductions are over the last axes of x. Adds `axis` and the value `ones`, which has the shape of a row.
HoloRecognizeFits holo_recognize_rows;
// The same without `ones`; `scale` and `bias` have the shape of a row.
HoloRecognizeFits holo_recognize_rows_affine;
// The reductions are over the axes of x from the attribute `axis` on.
HoloRecognizeFits holo_recognize_centered;
// The reductions are over one axis. Adds `axis`.
HoloRecognizeFits holo_recognize_axis;
// `scale` or `bias` has the shape of a row of x: its axes from the attribute `axis` on.
HoloRecognizeFits holo_recognize_scale, holo_recognize_bias;
// The same, and x and scale have one dtype.
HoloRecognizeFits holo_recognize_scale_cast;
// `parts` is x with its channels in groups. Adds `num_groups` and the values `ones` and `zeros`, one number for each
// channel.
HoloRecognizeFits holo_recognize_groups;
// The same, and the normalized rows are the groups.
HoloRecognizeFits holo_recognize_groups_of_rows;
// `scale` or `bias` has one number for each channel of x.
HoloRecognizeFits holo_recognize_channel_scale, holo_recognize_channel_bias;

// a has one scale, b one or one for each column.
HoloRecognizeFits holo_recognize_integer_scales;
// `bias` has one number for each column of b.
HoloRecognizeFits holo_recognize_integer_bias;

// The HardSigmoid is x / 6 + 0.5, limited to 0 and 1.
HoloRecognizeFits holo_recognize_hard_sixth;
// x is [batch,heads,positions,size]; `low` and `high` are its halves and `turned` is -high, low. The two halves of each
// table are equal. Adds `half`, the size of a half, and `rows`, the shape of a table without batches. The first
// function is for a table for each batch, the second for one table for all.
HoloRecognizeFits holo_recognize_rotary, holo_recognize_rotary_shared;

#endif
