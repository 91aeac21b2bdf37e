// gguf.c - fuzzes the reader of GGUF files: every byte that a value or a tensor claims is there.
#include "import/wire/gguf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Touches all bytes of a value, item by item.
static void touch(HoloGgufValue value, unsigned *sum)
{
    HoloGgufValue item;
    if (value.kind != HOLO_GGUF_ARRAY)
        for (uint64_t i = 0; i < value.size; i++) *sum += value.at[i];
    for (uint64_t left = value.count; holo_gguf_next(&value, &item); left--) {
        if (!left) abort();
        touch(item, sum);
    }
    if (value.kind == HOLO_GGUF_ARRAY && (value.count || value.size)) abort(); // what was checked can be walked
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena         arena = {0};
    HoloError         error = {0};
    HoloGguf          gguf;
    volatile unsigned sum    = 0;
    unsigned          all    = 0;
    HoloStatus        status = holo_gguf_read(&arena, "fuzz", data, size, &gguf, &error);
    for (int i = 0; !status && i < gguf.entry_count; i++) touch(gguf.entry[i].value, &all);
    for (int i = 0; !status && i < gguf.tensor_count; i++) {
        const HoloGgufTensor *t = &gguf.tensor[i];
        if (t->data != data + t->offset || t->size > size - t->offset) abort();
        for (uint64_t k = 0; k < t->size; k++) all += t->data[k];
    }
    sum += all;
    if (status && !error.text[0]) abort(); // a failure comes with words
    holo_arena_deinit(&arena);
    return 0;
}
