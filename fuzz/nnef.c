// nnef.c - fuzzes the import of NNEF: an archive (tar), which has the text and the tensors.
#include "import_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_memory(data, size);
}
