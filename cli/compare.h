// compare.h - compares values: is one what was expected, and how far are two apart?
#ifndef HOLO_CLI_COMPARE_H
#define HOLO_CLI_COMPARE_H

#include "cli.h"

typedef enum CompareResult {
    COMPARE_SAME,
    COMPARE_OTHER_TYPE,   // kind, dtype or shape
    COMPARE_OTHER_VALUES, // of the right type
} CompareResult;

// |got - want| <= atol + rtol * |want| for every element. For bf16, rtol is 0 or at least 2^-6. NaN equals NaN; strings
// and bools must be equal. `reason` says where and how they differ.
CompareResult compare_values(const HoloTensor *got, const HoloTensor *want, double rtol, double atol, CliText *reason);
// Are all numbers within the bounds? For what is random by definition.
bool compare_bounds(const HoloTensor *got, double low, double high, CliText *reason);

// How far an element may differ: absolute + relative * its own magnitude, or that of the largest element.
typedef struct Tolerance {
    double relative, absolute;
    bool   is_of_largest; // integers of 32 and 64 bits and bools must then be equal: they are often ids, not amounts
} Tolerance;

// How far two tensors, or many pairs of them, are apart. Set it to zeros first.
typedef struct Distance {
    int64_t count, beyond; // elements, and those that differ too much
    double  worst;         // the largest difference; infinite if only one is NaN or infinite
    double  relative;      // the largest `worst` relative to the largest expected magnitude, pair by pair
    double  got, want;     // there
    int64_t sample;        // and which pair that was
    CliText at;            // "[0, 17]"; "" where nothing differs
    double  dot, got_square, want_square;
    int64_t rows, same_rows; // rows of what looks like classes, and those whose largest element is at the same index
} Distance;

// Both tensors have numbers, or both have strings, and the same shape; element types may differ.
void   distance_add(Distance *d, const HoloTensor *got, const HoloTensor *want, const Tolerance *t, int64_t sample);
double distance_cosine(const Distance *d);

bool compare_same_shape(const HoloTensor *a, const HoloTensor *b);

#endif
