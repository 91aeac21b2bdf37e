// compare.h - compares outputs of a plan with those of the reference, and says how far they are apart.
#ifndef HOLO_VERIFY_COMPARE_H
#define HOLO_VERIFY_COMPARE_H

#include "verify/verify.h"

typedef struct HoloBound { // how far an element may be off
    double      relative;  // relative to the largest magnitude that it is compared with
    double      absolute;
    const char *why; // where the bound comes from, for the report
} HoloBound;

// Notes an element that differs, if it is the worst so far. `what` and `name` say where it is.
void holo_verify_note(HoloVerifyResult *result, const HoloBound *bound, double off, double top, const char *what,
                      const char *name, int64_t index);

// An output of the reference, to compare others with. Of an output with very many elements only pieces are kept (the
// first, the last and some between), so that it takes little memory while the plan runs.
typedef struct HoloKept {
    HoloTensor type; // without data
    HoloTensor kept; // the elements, of `type` or in one dimension
    int64_t    step; // distance between pieces; 0: everything is kept
} HoloKept;

// Memory from the arena.
HOLO_MUST HoloStatus holo_keep_output(const HoloTensor *value, HoloArena *arena, HoloKept *out, HoloError *error);
double               holo_kept_largest(const HoloKept *kept); // the largest magnitude of its numbers; 0: it has none

// Whole numbers may differ only by the rounding of what they were made from. HOLO_VERIFY: it exceeds the bound.
HOLO_MUST HoloStatus holo_compare_output(const char *name, const HoloKept *want, const HoloTensor *got,
                                         const HoloBound *bound, HoloVerifyResult *result, HoloError *error);
// The largest difference between two outputs; INFINITY if their sizes differ, as when a model rounds the length of its
// answer.
double holo_compare_distance(const HoloKept *a, const HoloTensor *b);

#endif
