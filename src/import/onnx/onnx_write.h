// onnx_write.h - writes a graph as an ONNX model.
#ifndef HOLO_IMPORT_ONNX_ONNX_WRITE_H
#define HOLO_IMPORT_ONNX_ONNX_WRITE_H

#include "base/files.h"
#include "graph/graph.h"

typedef struct HoloOnnxOut {
    HoloFileWriter *file;
    // Where data of tensors goes if the model would not fit into the 2 GiB that protobuf allows; NULL: it is refused then.
    HoloFileWriter *(*data_file)(void *context, const char **out_name, HoloStatus *status);
    void  *context;
    size_t model_max; // of a model without such a file; 0: 2 GiB
} HoloOnnxOut;

// Makes of each state an input, zeros in the first run, and an output NAME_next, which is given to it in the next run.
// States that other operators than StateRead and StateWrite use stay: ONNX cannot say them.
HOLO_MUST HoloStatus holo_onnx_open_states(HoloGraph *graph, HoloError *error);

// Changes what ONNX Runtime does not compute as ONNX says into what it does; the graph's types must be inferred, and stay so.
// Bodies are left to the caller.
HOLO_MUST HoloStatus holo_onnx_fit(HoloGraph *graph, HoloError *error);

// The graph's types must be inferred. Operators that ONNX does not have are refused, all of them by name. The same
// graph gives the same bytes.
HOLO_MUST HoloStatus holo_onnx_write(const HoloGraph *graph, HoloArena *scratch, const HoloOnnxOut *out,
                                     HoloError *error);

#endif
