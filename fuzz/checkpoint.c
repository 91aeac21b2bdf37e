// checkpoint.c - fuzzes the reader of PyTorch's checkpoints: every element that a tensor claims is there.
#include "import/wire/checkpoint.h"
#include "import/importer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena             arena  = {0};
    HoloError             error  = {0};
    HoloImport            import = {.arena = &arena, .error = &error};
    HoloCheckpoint        checkpoint;
    HoloCheckpointTensors all;
    HoloStatus            status = holo_checkpoint_open(&arena, "fuzz", data, size, &checkpoint, &error);
    if (!status) status = holo_checkpoint_tensors(&checkpoint, &all);
    import.copied_max = (size_t)1 << 20;
    for (int i = 0; !status && i < all.count; i++) {
        const HoloCheckpointTensor *t      = &all.entry[i];
        HoloTensor                  tensor = t->tensor;
        volatile double             sum    = 0;
        void                       *copy;
        if (!t->count) continue;
        status = holo_import_take(&import, (HoloString){"t", 1}, t->count, holo_dtype_size(tensor.dtype), &copy);
        if (status) break;
        holo_checkpoint_copy(t, copy);
        tensor.data = copy;
        for (int64_t k = 0; k < t->count; k++) sum += holo_get_f(&tensor, k);
    }
    if (!status) holo_checkpoint_strip(&all);
    if (status && !error.text[0]) abort(); // a failure comes with words
    holo_arena_deinit(&arena);
    return 0;
}
