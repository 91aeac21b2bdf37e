// matches.h - for `hologram compare`: pairs the values of two sides, and says how far they are apart.
#ifndef HOLO_CLI_MATCHES_H
#define HOLO_CLI_MATCHES_H

#include "compare.h"
#include "sides.h"

typedef struct Row { // a value that both have, over all samples
    const char *name, *type;
    const char *note; // about what differs but can be compared; NULL: nothing
    const char *why;  // why it cannot be compared; NULL: it can
    bool        is_output;
    bool        is_compared; // in some sample
    Distance    distance;
} Row;

typedef struct Rows {
    Row *row;
    int  count, room;
} Rows;

// Adds what the sides gave for a sample: outputs by name and, if they have them, values of nodes.
void rows_add_sample(Rows *rows, const Side *got, const Side *want, const Tolerance *tolerance, int64_t sample);

static inline bool row_differs(const Row *row)
{
    return row->why || row->distance.beyond;
}

#endif
