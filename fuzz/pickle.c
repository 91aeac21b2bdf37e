// pickle.c - fuzzes the reader of pickles: what it gives is a tree of a limited height, and every byte of it is there.
#include "import/wire/pickle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 100000 };

// Reads everything; a part that several values share is read several times, but not forever.
static void touch(const HoloPickle *value, int height, int *steps)
{
    volatile char last = 0;
    if (value->height < 1 || value->height > height) abort();
    if (++*steps > STEPS) return;
    for (size_t i = 0; i < value->text.size; i++) last = value->text.data[i];
    (void)last;
    if (value->kind == HOLO_PICKLE_DICT && value->count % 2) abort();
    if (value->kind == HOLO_PICKLE_OBJECT && (value->count < 2 || value->item[1]->kind != HOLO_PICKLE_TUPLE)) abort();
    for (int i = 0; i < value->count; i++) touch(value->item[i], value->height - 1, steps);
    if (value->state) touch(value->state, value->height - 1, steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const HoloPickleName names[] = {{"torch.*", HOLO_PICKLE_OBJECT, 0}, {"a.b", HOLO_PICKLE_TUPLE, 0}, {0}};
    HoloArena                   arena   = {0};
    HoloError                   error   = {0};
    HoloPickleInput             input   = {.file = "fuzz", .bytes = data, .size = size, .names = names};
    const HoloPickle           *value;
    size_t                      used;
    int                         steps  = 0;
    HoloStatus                  status = holo_pickle_read(&arena, &input, &value, &used, &error);
    if (!status && (used > size || !used)) abort();
    if (!status) touch(value, 256, &steps);
    if (status && !error.text[0]) abort();             // a failure comes with words
    if (arena.total > 256 * size + (1 << 20)) abort(); // a small file cannot ask for much memory
    holo_arena_deinit(&arena);
    return 0;
}
