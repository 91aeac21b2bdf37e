// compare.h - values against each other: is one what was expected, and how far are two apart?
#ifndef HOLO_CLI_COMPARE_H
#define HOLO_CLI_COMPARE_H

#include "cli.h"

typedef enum CompareResult {
    COMPARE_SAME,
    COMPARE_OTHER_TYPE,   // kind, dtype or shape
    COMPARE_OTHER_VALUES, // of the right type
} CompareResult;

// |got - want| <= atol + rtol * |want| for every element, where rtol is at least 2^-6 of bf16, or 0; NaN equals NaN; strings and
// bools exactly.
// `reason` says where and how they differ.
CompareResult compare_values(const HoloTensor *got, const HoloTensor *want, double rtol, double atol, CliText *reason);
// Are all numbers inside the bounds? For what is random by definition.
bool compare_bounds(const HoloTensor *got, double low, double high, CliText *reason);

// How far an element may be off: absolute + relative * its own magnitude, or that of the largest element.
typedef struct Tolerance {
    double relative, absolute;
    bool
        is_of_largest; // whole numbers of 32 and 64 bits and bools must then be the same: they are names more often than amounts
} Tolerance;

// How far two tensors are apart, or many pairs of them. Zero-initialize it.
typedef struct Distance {
    int64_t count, beyond; // elements, and those that are further off than they may be
    double  worst;         // the largest difference; infinite where one is NaN or infinite and the other is not
    double  relative;      // the largest of `worst` in parts of the largest magnitude that was expected, pair by pair
    double  got, want;     // there
    int64_t sample;        // and which pair that was
    CliText at;            // "[0, 17]"; "" where nothing differs
    double  dot, got_square, want_square;
    int64_t rows, same_rows; // rows of what looks like classes, and those whose largest element is in the same place
} Distance;

// Both tensors are of numbers, or both of strings, and of the same shape; the element types may differ.
void   distance_add(Distance *d, const HoloTensor *got, const HoloTensor *want, const Tolerance *t, int64_t sample);
double distance_cosine(const Distance *d);

bool compare_same_shape(const HoloTensor *a, const HoloTensor *b);

#endif
