// tensorflow.c - fuzzes the importers of TensorFlow and Keras: graphs in binary and text form, SavedModel, model.json of
// TensorFlow.js, .h5 and .keras. The bytes tell which.
#include "import_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_memory(data, size);
}
