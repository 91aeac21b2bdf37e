// pack.h - lays out blocks that live for a while in one piece of memory.
#ifndef HOLO_BASE_PACK_H
#define HOLO_BASE_PACK_H

#include "base/base.h"

typedef struct HoloBlock {
    uint64_t size;     // bytes; 0 takes no room
    uint32_t from, to; // first and last moment when it is alive
    uint64_t offset;   // out: a multiple of 64
} HoloBlock;

// Gives every block an offset so that no two blocks that are alive together overlap. The result depends on the blocks
// alone. Returns the bytes needed in all. False: no memory, or too large.
HOLO_MUST bool holo_pack(HoloBlock *blocks, int count, uint64_t *out_size);

#endif
