// gguf.c - fuzzes the reader of GGUF files, in which every byte that a value or a tensor claims is there, and their
// import.
#include "import/wire/gguf.h"
#include "import/import.h"

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

// The whole model: weights of its graph are in the file.
static void import_all(HoloArena *arena, const uint8_t *data, size_t size)
{
    HoloError       error = {0};
    HoloModelSource source;
    unsigned        sum    = 0;
    HoloStatus      status = holo_import_memory(arena, data, size, &source, &error);
    if (status && !error.text[0]) abort();
    if (status) return;
    for (int i = 0; i < source.graph->value_count; i++) {
        const HoloValue *value = source.graph->values[i];
        if (!value->is_constant || !value->type.data) continue;
        for (size_t k = 0; k < holo_tensor_bytes(&value->type); k++) sum += ((const uint8_t *)value->type.data)[k];
    }
    if (holo_graph_infer(source.graph, &error) && !error.text[0]) abort();
    if (sum == 1 && size == 0) abort(); // the bytes are read
    holo_import_close(&source);
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
    import_all(&arena, data, size);
    holo_arena_deinit(&arena);
    return 0;
}
