// sstable.c - fuzzes the reader of sorted tables, with compressed blocks.
#include "import/wire/sstable.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena         arena = {0};
    HoloError         error = {0};
    HoloSsTable       table;
    HoloString        plain;
    volatile unsigned sum    = 0;
    HoloStatus        status = holo_sstable_read(&arena, data, size, &table, &error);
    for (int i = 0; !status && i < table.count; i++) {
        for (size_t k = 0; k < table.key[i].size; k++) sum += (unsigned char)table.key[i].data[k];
        for (size_t k = 0; k < table.value[i].size; k++) sum += (unsigned char)table.value[i].data[k];
    }
    if (status && !error.text[0]) abort(); // a failure comes with words
    if (!holo_snappy_read(&arena, (HoloString){(const char *)data, size}, &plain, NULL) && plain.size)
        sum += (unsigned char)plain.data[plain.size - 1];
    holo_arena_deinit(&arena);
    return 0;
}
