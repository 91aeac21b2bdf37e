// numbers.c - fuzzes the reader of text of numbers. The first two bytes choose the type and the shape that are wanted.
#include "import/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    static const HoloDtype types[]    = {HOLO_F32, HOLO_I64, HOLO_U8, HOLO_I8, HOLO_F16, HOLO_BOOL, HOLO_U64, HOLO_I4};
    static const int64_t   sizes[][3] = {{-1, -1, -1}, {2, -1, 3}, {-1, 3, INT64_MAX / 2}, {0, -1, 1}};
    HoloArena              arena      = {0};
    HoloError              error      = {0};
    const int64_t         *dim        = sizes[data[1] >> 2 & 3];
    HoloTensor             want = {.dtype = types[data[0] % 8], .rank = data[1] & 3, .dim = {dim[0], dim[1], dim[2]}};
    HoloTensor             tensor;
    volatile double        sum = 0;
    if (!holo_import_numbers(&arena, data + 2, size - 2, data[0] & 128 ? NULL : &want, &tensor, &error))
        for (int64_t i = 0; i < holo_tensor_count(&tensor); i++) sum += holo_get_f(&tensor, i);
    else if (!error.text[0])
        abort();
    holo_arena_deinit(&arena);
    return 0;
}
