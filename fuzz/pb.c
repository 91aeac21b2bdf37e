// pb.c - fuzzes the reader of serialized ONNX values. The first byte chooses the kind that is wanted.
#include "import/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void touch(const HoloTensor *t)
{
    volatile double sum   = 0;
    int64_t         count = t->kind == HOLO_MAP ? 2 : holo_tensor_count(t);
    for (int64_t i = 0; i < count; i++) {
        if (t->kind != HOLO_TENSOR) {
            touch((const HoloTensor *)t->data + i);
        } else if (t->dtype == HOLO_STRING) {
            HoloString s = ((const HoloString *)t->data)[i];
            for (size_t k = 0; k < s.size; k++) sum += s.data[k];
        } else {
            sum += holo_get_f(t, i);
        }
    }
    (void)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    HoloArena   arena = {0};
    HoloError   error = {0};
    HoloTensor  want  = {.dtype = HOLO_F32, .kind = data[0] % 4, .rank = -1}, tensor;
    const char *name;
    if (!holo_import_pb(&arena, data + 1, size - 1, &want, &tensor, &name, &error))
        touch(&tensor);
    else if (!error.text[0])
        abort();
    holo_arena_deinit(&arena);
    return 0;
}
