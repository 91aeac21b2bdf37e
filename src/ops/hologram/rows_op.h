// rows_op.h - the sizes of TakeRows, for its pass and its kernel as well.
#ifndef HOLO_OPS_HOLOGRAM_ROWS_OP_H
#define HOLO_OPS_HOLOGRAM_ROWS_OP_H

#include "ops/hologram/blocks_op.h"

enum { HOLO_ROWS_AT, HOLO_ROWS_TABLE }; // inputs of TakeRows

typedef struct HoloTakenRows {
    HoloDtype            dtype; // of the table; U8: rows of blocks
    const HoloBlockType *type;  // NULL: the table has plain elements
    int64_t              count; // elements of a row; may be symbolic while types are inferred
} HoloTakenRows;

// From the attributes, which the call has, and the type of the table.
HOLO_MUST HoloStatus holo_rows_sizes(const HoloCall *call, const HoloTensor *table, HoloTakenRows *out);

// Row `at` of a table that is not packed, as f32.
void holo_rows_read(const HoloTakenRows *rows, const HoloTensor *table, int64_t at, float *out);

#endif
