// spares.c - keeps the largest blocks, except those that are a large part of all memory, or would be so together.
#include "graph/spares.h"

#include "base/memory.h"

enum {
    SPARE_MIN = 1 << 18, // least bytes of a block: smaller ones are cheap to get
    SPARE_MAX = 1 << 26, // most bytes: larger ones are too much to keep
    SPARE_ALL = 3 << 25, // most bytes of all of them
};

void *holo_spares_take(HoloSpares *spares, size_t *size)
{
    int best = -1;
    for (int i = 0; i < HOLO_SPARES_COUNT; i++) {
        size_t have = spares->list[i].size;
        if (spares->list[i].data && have >= *size && have / 2 <= *size && (best < 0 || have < spares->list[best].size))
            best = i;
    }
    if (best < 0) return holo_block_take(*size);
    void *data              = spares->list[best].data;
    *size                   = spares->list[best].size;
    spares->list[best].data = NULL;
    spares->list[best].size = 0;
    return data;
}

void holo_spares_give(HoloSpares *spares, void *data, size_t size)
{
    size_t all = size;
    for (int i = 0; i < HOLO_SPARES_COUNT; i++) all += spares->list[i].size;
    for (int i = 0; i < HOLO_SPARES_COUNT && size >= SPARE_MIN && size <= SPARE_MAX && all <= SPARE_ALL; i++) {
        if (spares->list[i].size >= size) continue;
        void  *kept_data     = spares->list[i].data;
        size_t kept_size     = spares->list[i].size;
        spares->list[i].data = data;
        spares->list[i].size = size;
        data                 = kept_data;
        size                 = kept_size;
    }
    holo_block_free(data, size);
}

void holo_spares_deinit(HoloSpares *spares)
{
    for (int i = 0; i < HOLO_SPARES_COUNT; i++) holo_block_free(spares->list[i].data, spares->list[i].size);
}
