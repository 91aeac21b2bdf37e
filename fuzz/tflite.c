// tflite.c - fuzzes the reader of FlatBuffers by the import of TensorFlow Lite models, and what a compile does first with
// their graphs.
#include "import_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8 || data[4] != 'T' || data[5] != 'F' || data[6] != 'L' || data[7] != '3') return 0;
    return import_memory(data, size);
}
