// onnx_write_parts.h - pieces of an ONNX model that is being written: names, types, tensors, attributes, sizes.
#ifndef HOLO_IMPORT_ONNX_ONNX_WRITE_PARTS_H
#define HOLO_IMPORT_ONNX_ONNX_WRITE_PARTS_H

#include "graph/graph.h"
#include "import/name_map.h"
#include "import/wire/protobuf_write.h"

typedef struct HoloOnnxDomain {
    const char *name;
    int         version;
} HoloOnnxDomain;

typedef struct HoloOnnxPen { // what a writer carries
    HoloArena     *arena;
    HoloError     *error;
    HoloPbOut      out;
    HoloDims      *dims;
    HoloNameMap    names, node_names; // in use
    int            made;              // names that were made up
    int            domain_count;
    bool           needs_21; // a node has no such form in version 20 of ONNX's operators
    HoloOnnxDomain domain[16];
    char           missing[400];
} HoloOnnxPen;

typedef struct HoloOnnxScopeOut { // a graph that is being written
    const HoloGraph               *graph;
    const struct HoloOnnxScopeOut *outer;
    const char                   **name;   // by value id
    const char                   **output; // by output
} HoloOnnxScopeOut;

// Gives each value a name of its own. `node` holds the body; NULL: it is the model's graph, whose names stay.
HOLO_MUST HoloStatus holo_onnx_name_values(HoloOnnxPen *w, HoloOnnxScopeOut *s, const HoloNode *node);
// A name that no other value, or no other node, has. NULL: no memory.
const char *holo_onnx_new_name(HoloOnnxPen *w, const char *like);
const char *holo_onnx_node_name(HoloOnnxPen *w, const char *like);

void holo_onnx_put_node(HoloOnnxPen *w, const char *type, const char *const *in, int in_count, const char *out);
void holo_onnx_put_info(HoloOnnxPen *w, int field, const char *name, const HoloTensor *type, bool has_sizes);
void holo_onnx_put_tensor_head(HoloOnnxPen *w, const HoloTensor *t, const char *name);
void holo_onnx_put_outside(HoloOnnxPen *w, const char *file, uint64_t offset, uint64_t size);
HOLO_MUST HoloStatus holo_onnx_put_tensor(HoloOnnxPen *w, const HoloTensor *t, const char *name);
HOLO_MUST HoloStatus holo_onnx_put_attr(HoloOnnxPen *w, const HoloAttr *a); // all but graphs
// A value that is only its contents: nodes that compute it from shapes of inputs.
HOLO_MUST HoloStatus holo_onnx_put_contents(HoloOnnxPen *w, const HoloOnnxScopeOut *s, const HoloValue *value);

#endif
