// spares.h - blocks of memory that are kept for later values: getting pages from the system for each value, and giving them
// back, takes longer than filling them.
#ifndef HOLO_GRAPH_SPARES_H
#define HOLO_GRAPH_SPARES_H

#include <stddef.h>

enum { HOLO_SPARES_COUNT = 16 };

typedef struct HoloSpares { // zero-initialize
    struct {
        void  *data;
        size_t size;
    } list[HOLO_SPARES_COUNT];
} HoloSpares;

// Takes a block of at least *size bytes, but not many more. *size becomes its size. NULL: no memory.
void *holo_spares_take(HoloSpares *spares, size_t *size);
void  holo_spares_give(HoloSpares *spares, void *data, size_t size);
void  holo_spares_deinit(HoloSpares *spares);

#endif
