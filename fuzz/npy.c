// npy.c - fuzzes the readers of NumPy's .npy and .npz, and of zip files under the latter.
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Reads every element, so that a tensor that claims more than there is shows.
static void touch(const HoloTensor *t)
{
    volatile double sum = 0;
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        if (t->dtype != HOLO_STRING) {
            sum += holo_get_f(t, i);
            continue;
        }
        HoloString s = ((const HoloString *)t->data)[i];
        for (size_t k = 0; k < s.size; k++) sum += s.data[k];
    }
    (void)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena     arena = {0};
    HoloError     error = {0};
    HoloTensor    tensor;
    HoloNpzEntry *entry;
    int           count;
    if (!holo_npy_read(&arena, data, size, &tensor, &error))
        touch(&tensor);
    else if (!error.text[0])
        abort();
    error             = (HoloError){0};
    HoloStatus status = holo_npz_open(&arena, data, size, &entry, &count, &error);
    for (int i = 0; !status && i < count; i++) {
        HoloTensor shown = entry[i].tensor;
        status           = holo_npz_load(&arena, &entry[i], &error);
        if (!status && memcmp(shown.dim, entry[i].tensor.dim, sizeof shown.dim)) abort();
        if (!status) touch(&entry[i].tensor);
    }
    if (status && !error.text[0]) abort();
    holo_arena_deinit(&arena);
    return 0;
}
