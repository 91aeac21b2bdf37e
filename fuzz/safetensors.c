// safetensors.c - fuzzes the reader of SafeTensors files: every byte that a tensor claims is there, once.
#include "import/wire/safetensors.h"
#include "import/importer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena       arena  = {0};
    HoloError       error  = {0};
    HoloImport      import = {.arena = &arena, .error = &error};
    HoloSafeTensors all;
    HoloStatus      status = holo_safetensors_read(&arena, "fuzz", data, size, &all, &error);
    holo_import_limit(&import, size);
    for (int i = 0; !status && i < all.count; i++) {
        HoloSafeTensor *entry  = &all.entry[i];
        HoloTensor      tensor = entry->tensor;
        volatile double sum    = 0;
        if ((const uint8_t *)tensor.data < data || entry->end - entry->begin > size) abort();
        if (!entry->count) continue;
        status = holo_import_bytes(&import, (HoloString){"t", 1}, tensor.data, entry->count, &tensor);
        for (int64_t k = 0; !status && k < entry->count; k++) sum += holo_get_f(&tensor, k);
    }
    if (status && !error.text[0]) abort(); // a failure comes with words
    holo_arena_deinit(&arena);
    return 0;
}
