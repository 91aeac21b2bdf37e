// onnx.h - an import of ONNX in progress: what the onnx_*.c files share.
//
// onnx_model.c is the row of the table of importers and reads the model, onnx_graph.c its graphs, onnx_function.c inlines functions,
// onnx_attr.c reads attributes, onnx_attr_kinds.c knows of what kind they are, onnx_type.c types, onnx_tensor.c tensors, onnx_sparse.c sparse ones,
// onnx_data.c serialized values outside of models.
#ifndef HOLO_IMPORT_ONNX_ONNX_H
#define HOLO_IMPORT_ONNX_ONNX_H

#include "import/importer.h"
#include "import/onnx/onnx_proto.h"

#include <string.h>

enum { HOLO_ONNX_DEPTH_MAX = 64 }; // of subgraphs and function calls, one in another

typedef struct HoloOnnxOpset {
    HoloString domain; // "" is ai.onnx
    int        version;
} HoloOnnxOpset;

typedef struct HoloOnnxOpsets {
    int            count;
    HoloOnnxOpset *entry;
} HoloOnnxOpsets;

typedef struct HoloOnnx {
    HoloImport    *import;
    HoloArena     *arena; // of the import
    HoloError     *error; // of the import
    HoloPbSource   source;
    HoloDims      *dims;
    HoloNameMap    functions;
    char          *key; // memory for the name of a function, as long as the longest
    size_t         key_max;
    HoloOnnxOpsets opsets; // of the model
    int64_t        ir_version;
    int64_t        inlined; // nodes, their inputs, outputs and attributes that come out of functions
    int64_t        inlined_max;
    HoloString     unnamed; // what a tensor without a name is called in errors: by the node that it is an attribute of
} HoloOnnx;

typedef struct HoloOnnxCapture { // a value of the surroundings that a subgraph uses
    struct HoloOnnxCapture *next;
    HoloString              name;
    HoloValue              *outer, *inner;
} HoloOnnxCapture;

// Where names mean something: a graph, or the body of a function that is being inlined.
typedef struct HoloOnnxScope {
    struct HoloOnnxScope *parent; // whose names are seen too; NULL: a model's graph or a function
    HoloGraph            *graph;
    HoloNameMap           names; // to HoloOnnxBinding
    HoloOnnxCapture      *captures, **captures_end;
    const HoloOnnxOpsets *opsets;    // of the function; NULL: the model's
    const HoloAttr       *call_attr; // of the function call, which attributes may refer to
    int                   call_attr_count;
    bool                  is_function; // nodes here, and in subgraphs here, belong to a function
    const char           *prefix;      // of names: "" or "call/"
    int                   depth;
} HoloOnnxScope;

typedef struct HoloOnnxBody { // a subgraph of a node
    struct HoloOnnxBody *next;
    HoloGraph           *graph;
    int                  own_inputs; // the others are captured
    HoloOnnxCapture     *captures;
} HoloOnnxBody;

static inline HoloString holo_onnx_string(const char *text)
{
    return (HoloString){text, strlen(text)};
}

// How much functions may expand to in a model of so many bytes.
static inline int64_t holo_onnx_inlined_max(uint64_t bytes)
{
    return (1 << 18) + (int64_t)(bytes / 8);
}

// ---- tensors and types

// Rank, sizes and their product, checked. `name` is for errors.
HOLO_MUST HoloStatus holo_onnx_dims(HoloOnnx *im, HoloString name, HoloPbMany dims, HoloTensor *out,
                                    int64_t *out_count);
HOLO_MUST HoloStatus holo_onnx_tensor(HoloOnnx *im, HoloString message, HoloTensor *out, HoloString *out_name);
HOLO_MUST HoloStatus holo_onnx_sparse(HoloOnnx *im, HoloString message, HoloTensor *out, HoloString *out_name);
// A TypeProto. Types that do not exist here come out as dtype HOLO_NONE. Sizes that are not numbers
// become symbols, or HOLO_DIM_UNKNOWN where `dims` is NULL.
HOLO_MUST HoloStatus holo_onnx_type(HoloOnnx *im, HoloString message, HoloDims *dims, HoloTensor *out);

// ---- graphs

// Reads a GraphProto. A body sees the names of `parent`; NULL: the model's own graph.
HOLO_MUST HoloStatus holo_onnx_graph(HoloOnnx *im, HoloString message, HoloOnnxScope *parent, HoloOnnxBody *out);
// Makes a body of Loop, the first of whose inputs are not captured, take scalars where it declares lists.
HOLO_MUST HoloStatus holo_onnx_loop_body(HoloOnnx *im, HoloGraph *body, int own_inputs);
// Reads the nodes of a graph or function into scope->graph, in whatever order they are.
HOLO_MUST HoloStatus holo_onnx_nodes(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany nodes);

// What a name stands for. `is_defined` false: the output of a function that no node has given yet.
typedef struct HoloOnnxBinding {
    HoloValue *value; // NULL: an optional input of a function, left out
    bool       is_defined;
} HoloOnnxBinding;

HOLO_MUST HoloStatus           holo_onnx_bind(HoloOnnx *im, HoloOnnxScope *scope, HoloString name, HoloValue *value,
                                              bool is_defined);
static inline HoloOnnxBinding *holo_onnx_binding(const HoloOnnxScope *scope, HoloString name)
{
    return holo_name_map_find(&scope->names, name);
}

// The attributes of a node. Subgraphs are prepended to *bodies. An attribute that refers to one the
// function call does not give is left out.
HOLO_MUST HoloStatus holo_onnx_attrs(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany attributes, const char *node,
                                     HoloAttr **out, int *out_count, HoloOnnxBody **bodies);
// Fails where an attribute of a node of ONNX's own domain is of another kind than its name stands for.
HOLO_MUST HoloStatus holo_onnx_attr_kinds(HoloOnnx *im, const char *node, const HoloAttr *attr, int count);
// The tensor that a Constant node's attributes describe.
HOLO_MUST HoloStatus holo_onnx_constant(HoloOnnx *im, const char *node, const HoloAttr *attr, int count,
                                        HoloTensor *out);

// ---- functions and operator sets

const HoloAttr *holo_onnx_attr_find(const HoloAttr *attr, int count, const char *name); // NULL: no such

typedef struct HoloOnnxFunction HoloOnnxFunction;
HOLO_MUST HoloStatus            holo_onnx_functions(HoloOnnx *im, HoloPbMany functions);
HoloOnnxFunction *holo_onnx_function_find(const HoloOnnx *im, const HoloOnnxNodeProto *node); // NULL: no such

typedef struct HoloOnnxCall { // of a function
    const char *node;
    int         in_count, out_count, attr_count;
    HoloValue **in, **out; // NULL entries: left out
    HoloAttr   *attr;
} HoloOnnxCall;
// Puts the function's nodes into the graph of `scope`, so that they give the values call->out.
HOLO_MUST HoloStatus holo_onnx_inline(HoloOnnx *im, HoloOnnxScope *scope, HoloOnnxFunction *function,
                                      const HoloOnnxCall *call);

HOLO_MUST HoloStatus holo_onnx_opsets(HoloOnnx *im, HoloPbMany list, HoloOnnxOpsets *out);
HoloString           holo_onnx_domain(HoloString domain); // "ai.onnx" is ""
// The version of `domain` that nodes of the scope mean.
HOLO_MUST HoloStatus holo_onnx_version(HoloOnnx *im, const HoloOnnxScope *scope, HoloString domain, const char *node,
                                       int *out);

#endif
