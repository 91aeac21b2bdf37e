// sample_maker.h - the making of one node from a row of the table: names that are bound, and shapes.
#ifndef HOLO_TESTS_SAMPLE_MAKER_H
#define HOLO_TESTS_SAMPLE_MAKER_H

#include "support/sample.h"

enum { MAKER_NAME = 12, MAKER_NAMES = 64 };

typedef struct Maker {
    Sample            *sample;
    const SampleRow   *row;
    const SampleValue *x;
    struct {
        char    name[MAKER_NAME];
        int64_t value;
    } bound[MAKER_NAMES];
    int     bound_count;
    int     dots_from, dots_count; // the dimensions of $x that "..." stands for
    uint8_t operand_type;          // of the operand before
    bool    failed;                // there is no instance for this $x
} Maker;

// ---- names (sample_shape.c) and expressions (sample.c); `at` moves behind what is read

void    maker_name(const char **at, char *out);
void    maker_bind(Maker *maker, const char *name, int64_t value);
bool    maker_find(const Maker *maker, const char *name, int64_t *out);
int64_t maker_number(Maker *maker, const char **at);

// ---- shapes (sample_shape.c)

// Does $x have the shape that "[n,2*c>0,...]" asks for? Binds its names.
bool maker_match(Maker *maker, const char *pattern);
// A shape of that form, random where it is open.
void maker_generate(Maker *maker, const char *pattern, HoloTensor *out);
// The shape of an operand, from the text between its brackets; `list` is its elements where they are listed, else NULL.
void maker_shape(Maker *maker, const char *text, const char *list, HoloTensor *out);
// Binds a and da, for a row that uses them before it prints $axis.
void maker_choose_axis(Maker *maker);
// Prints $axis, $axes, $perm, $dims, $reshape, $expand. False: the name is none of these.
bool maker_list(Maker *maker, const char *name, HoloText *out);

#endif
