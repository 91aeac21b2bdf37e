// onnx_syntax.c - fuzzes models in the own syntax of ONNX.
#include "import_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_memory(data, size);
}
