// compare.h - outputs of a plan against those of the reference, and how far they are apart.
#ifndef HOLO_VERIFY_COMPARE_H
#define HOLO_VERIFY_COMPARE_H

#include "verify/verify.h"

typedef struct HoloBound { // how far an element may be off
    double      relative;  // of the largest magnitude that it is held against
    double      absolute;
    const char *why; // where that comes from, for the report
} HoloBound;

// Notes an element that is off, where it is the worst so far. `what` and `name` say where it is.
void holo_verify_note(HoloVerifyResult *result, const HoloBound *bound, double off, double top, const char *what,
                      const char *name, int64_t index);

// An output of the reference, to compare others with. Of one of very many elements only pieces are kept, the first, the
// last and some between, so that it takes little memory while the plan runs.
typedef struct HoloKept {
    HoloTensor type; // without data
    HoloTensor kept; // the elements, of `type` or in one dimension
    int64_t    step; // between the beginnings of pieces; 0: all of it is kept
} HoloKept;

// Memory from the arena.
HOLO_MUST HoloStatus holo_keep_output(const HoloTensor *value, HoloArena *arena, HoloKept *out, HoloError *error);
double               holo_kept_largest(const HoloKept *kept); // the largest magnitude of its numbers; 0: it has none

// Whole numbers may not differ at all but by the rounding of what they were made from. HOLO_VERIFY: beyond the bound.
HOLO_MUST HoloStatus holo_compare_output(const char *name, const HoloKept *want, const HoloTensor *got,
                                         const HoloBound *bound, HoloVerifyResult *result, HoloError *error);
// How far two are apart at most. Of other sizes, as where a model rounds how long its answer is: INFINITY.
double holo_compare_distance(const HoloKept *a, const HoloTensor *b);

#endif
