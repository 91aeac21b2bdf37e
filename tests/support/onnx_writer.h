// onnx_writer.h - ONNX models for tests, written field by field: good ones and hostile ones.
//
// It is a writer of the wire format alone and shares no code with the importer. Memory that runs out
// ends the test program.
#ifndef HOLO_TESTS_ONNX_WRITER_H
#define HOLO_TESTS_ONNX_WRITER_H

#include <stddef.h>
#include <stdint.h>

// ---- protobuf messages. Zero-initialize; pb_deinit, or give it to another message.

typedef struct Pb {
    uint8_t *data;
    size_t   size, room;
} Pb;

void pb_int(Pb *pb, int field, int64_t value);
void pb_float(Pb *pb, int field, float value);
void pb_bytes(Pb *pb, int field, const void *data, size_t size);
void pb_text(Pb *pb, int field, const char *text);
void pb_message(Pb *pb, int field, Pb *child); // takes the child over
void pb_raw(Pb *pb, const void *data, size_t size);
void pb_deinit(Pb *pb);

// ---- graphs and models

// A graph being written, the model's own or a body. Where a shape is wanted it is written as text: "1,3,N" has
// two numbers and a symbol, "" is a scalar, NULL is a type without a shape. Types are HoloDtype.
typedef struct OnnxGraph {
    Pb message;
} OnnxGraph;

typedef struct OnnxModel {
    OnnxGraph graph;
    Pb        rest;       // opset imports, functions, metadata
    int       opsets;     // imports written; 0: ai.onnx 17 is added when it is saved
    int       ir_version; // 0: 8
} OnnxModel;

void onnx_input(OnnxGraph *graph, const char *name, int dtype, const char *shape);
void onnx_output(OnnxGraph *graph, const char *name, int dtype, const char *shape);

// Initializers: of given bytes, of f32 numbers from a seed in [-scale, scale), of i64 numbers, or with data outside.
void onnx_constant(OnnxGraph *graph, const char *name, int dtype, const char *shape, const void *data, size_t size);
void onnx_weights(OnnxGraph *graph, const char *name, const char *shape, uint64_t seed, float scale);
void onnx_ints(OnnxGraph *graph, const char *name, const char *shape, const int64_t *data);
void onnx_external(OnnxGraph *graph, const char *name, int dtype, const char *shape, const char *location,
                   const char *offset, const char *length); // NULL: the key is left out

// A node. `op` is "Relu" or "my.domain::Relu"; inputs and outputs are lists "a,b,,d"; attributes are text too:
// "group=1 alpha=0.5 pads=[1,1] mode='linear'". A number with a point is a float.
void onnx_node(OnnxGraph *graph, const char *op, const char *inputs, const char *outputs, const char *attributes);
// The same with a body as the attribute `body_name`; takes the body over.
void onnx_node_with(OnnxGraph *graph, const char *op, const char *inputs, const char *outputs, const char *attributes,
                    const char *body_name, OnnxGraph *body);

void onnx_opset(OnnxModel *model, const char *domain, int64_t version);
void onnx_metadata(OnnxModel *model, const char *key, const char *value);

// The bytes of the whole model, for the caller to pb_deinit; the model is used up.
Pb onnx_finish(OnnxModel *model);
// Writes them to a file, which must be possible.
void onnx_save(OnnxModel *model, const char *path);

#endif
