// tensorflow.c - fuzzes the importers of TensorFlow and Keras: graphs in binary and text form, SavedModel, model.json of
// TensorFlow.js, .h5 and .keras. The bytes tell which.
#include "import/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena         arena = {0};
    HoloError         error = {0};
    HoloModelSource   source;
    volatile unsigned sum    = 0;
    HoloStatus        status = holo_import_memory(&arena, data, size, &source, &error);
    if (status && !error.text[0]) abort(); // a failure comes with words
    for (int i = 0; !status && i < source.graph->value_count; i++) {
        const HoloValue *value = source.graph->values[i];
        if (!value->is_constant || !value->type.data || value->type.dtype == HOLO_STRING) continue;
        for (size_t k = 0; k < holo_tensor_bytes(&value->type); k++) sum += ((const uint8_t *)value->type.data)[k];
    }
    if (!status && holo_graph_verify(source.graph, &error)) abort(); // what is emitted is a graph
    if (!status) {
        HoloError after = {0};
        if (holo_graph_infer(source.graph, &after) && !after.text[0]) abort();
        holo_import_close(&source);
    }
    holo_arena_deinit(&arena);
    return 0;
}
