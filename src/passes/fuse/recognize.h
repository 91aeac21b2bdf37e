// recognize.h - the rows of the pass `recognize`: patterns, what stands in for them, and what they ask beyond text.
#ifndef HOLO_PASSES_FUSE_RECOGNIZE_H
#define HOLO_PASSES_FUSE_RECOGNIZE_H

#include "passes/match.h"
#include "passes/rewrite.h"

typedef struct HoloRecognize HoloRecognize;

// Looks at a match; false: it is none. May add attributes and values for what stands in.
typedef bool HoloRecognizeFits(HoloRecognize *r);

typedef struct HoloRecognizeRow {
    const char *before; // the pattern
    // What stands in for it: a body as operators have, whose inputs are the values of the pattern with those names, and
    // whose "@name" are the pattern's numbers and the attributes of the matched nodes.
    const char        *after;
    HoloRecognizeFits *fits; // NULL: nothing is asked
} HoloRecognizeRow;

extern const HoloRecognizeRow holo_recognize_table[];  // the first that matches is taken; ended by one without text
extern const char *const      holo_recognize_others[]; // patterns of the domain `any`; ended by NULL

// ---- for functions that look at a match

// What the pattern's value of that name is, or what was made under it; NULL: neither.
HoloValue *holo_recognize_find(const HoloRecognize *r, const char *name);
// A constant for what stands in, at most four for a match; it hides what the pattern has under that name. False: no memory.
bool holo_recognize_make_ints(HoloRecognize *r, const char *name, int count, const int64_t *ints);

// ---- the functions

// The number `count` is that of the elements of x that are reduced to one, or `part` is 1 / count: adds `axes`.
HoloRecognizeFits holo_recognize_mean;
// The reductions are over the last axes of x: adds `axis` and the value `ones`, as large as a row.
HoloRecognizeFits holo_recognize_rows;
// The same without `ones`; `scale` and `bias` are as large as a row.
HoloRecognizeFits holo_recognize_rows_affine;
// The reductions are over the axes of x that the attribute `axis` means, with all behind it.
HoloRecognizeFits holo_recognize_centered;
// The reductions are over one axis: adds `axis`.
HoloRecognizeFits holo_recognize_axis;
// `scale` or `bias` is as large as a row of x, its axes from the attribute `axis` on.
HoloRecognizeFits holo_recognize_scale, holo_recognize_bias;
// The same, and x and scale are of one dtype.
HoloRecognizeFits holo_recognize_scale_cast;
// `parts` is x with its channels in groups: adds `num_groups` and the values `ones` and `zeros`, one a channel.
HoloRecognizeFits holo_recognize_groups;
// The same, and the rows that are normalized are the groups.
HoloRecognizeFits holo_recognize_groups_of_rows;
// `scale` or `bias` has one number for each channel of x.
HoloRecognizeFits holo_recognize_channel_scale, holo_recognize_channel_bias;

// a has one scale, b one or one for each column.
HoloRecognizeFits holo_recognize_integer_scales;
// `bias` has one number for each column of b.
HoloRecognizeFits holo_recognize_integer_bias;

// The one HardSigmoid is x / 6 + 0.5 between 0 and 1.
HoloRecognizeFits holo_recognize_hard_sixth;
// x is [batch,heads,positions,size]; `low` and `high` are its halves and `turned` is -high, low; the halves of the tables
// are equal. Adds `half`, their size, and `rows`, the shape of a table without batches. First: there is a table for each
// batch; second: one for all.
HoloRecognizeFits holo_recognize_rotary, holo_recognize_rotary_shared;

#endif
