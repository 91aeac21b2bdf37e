// nnef.c - fuzzes the import of NNEF: an archive (tar), which has the text and the tensors.
#include "import/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena       arena = {0};
    HoloError       error = {0};
    HoloModelSource source;
    HoloStatus      status = holo_import_memory(&arena, data, size, &source, &error);
    if (!status) {
        status = holo_graph_sort(source.graph, &error);
        if (!status && holo_graph_verify(source.graph, &error)) abort(); // the importer gives valid graphs
        if (!status) status = holo_graph_infer(source.graph, &error);
        if (!status && holo_graph_verify(source.graph, &error)) abort();
        holo_import_close(&source);
    }
    if (status && !error.text[0]) abort(); // a failure comes with words
    holo_arena_deinit(&arena);
    return 0;
}
