// onnx.c - fuzzes the ONNX importer and what a compile does first with its graph: sort, infer, verify.
#include "import_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_memory(data, size);
}
