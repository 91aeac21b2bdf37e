// onnx.h - an import of ONNX in progress: what the onnx_*.c files share.
//
// onnx_model.c has the row of the table of importers and reads the model, onnx_graph.c reads graphs, onnx_function.c
// inlines functions, onnx_attr.c reads attributes, onnx_attr_kinds.c knows their kinds, onnx_type.c reads types,
// onnx_tensor.c tensors, onnx_sparse.c sparse tensors, onnx_data.c serialized values outside of models.
#ifndef HOLO_IMPORT_ONNX_ONNX_H
#define HOLO_IMPORT_ONNX_ONNX_H

#include "import/importer.h"
#include "import/onnx/onnx_proto.h"

#include <string.h>

enum { HOLO_ONNX_DEPTH_MAX = 64 }; // nested subgraphs and function calls

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
    HoloArena     *arena;  // of the import
    HoloError     *error;  // of the import
    const char    *folder; // where files beside the model are, as names in the import's folder begin: "" or "onnx/"
    HoloPbSource   source;
    HoloDims      *dims;
    HoloNameMap    functions;
    char          *key; // memory for the name of a function, as long as the longest
    size_t         key_max;
    HoloOnnxOpsets opsets; // of the model
    int64_t        ir_version;
    int64_t        inlined; // nodes, inputs, outputs and attributes that came from functions
    int64_t        inlined_max;
    HoloString     unnamed; // the name of a tensor without a name in errors: its node
} HoloOnnx;

// Reads a model from a file of the import. Its first model also says what it is. `dims`: its sizes, if it shares them with
// another graph; NULL: its own.
HOLO_MUST HoloStatus holo_onnx_read(HoloImport *import, const HoloMapping *file, const char *folder, HoloDims *dims,
                                    HoloGraph **out);
// One graph of a decoder for the beginning of a text and of one that goes on, which share their sizes: see onnx_pair.c.
HOLO_MUST HoloStatus holo_onnx_pair(HoloImport *import, HoloGraph *first, HoloGraph *later, HoloGraph **out);

typedef struct HoloOnnxCapture { // a value from outside that a subgraph uses
    struct HoloOnnxCapture *next;
    HoloString              name;
    HoloValue              *outer, *inner;
} HoloOnnxCapture;

// Where names have a meaning: a graph, or the body of a function that is being inlined.
typedef struct HoloOnnxScope {
    struct HoloOnnxScope *parent; // its names are visible, too; NULL: a model's graph or a function
    HoloGraph            *graph;
    HoloNameMap           names; // to HoloOnnxBinding
    HoloOnnxCapture      *captures, **captures_end;
    const HoloOnnxOpsets *opsets;    // of the function; NULL: the model's
    const HoloAttr       *call_attr; // of the function call; attributes may refer to them
    int                   call_attr_count;
    bool                  is_function; // nodes here, and in subgraphs, belong to a function
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

// Checks rank, sizes and their product. `name` is for errors.
HOLO_MUST HoloStatus holo_onnx_dims(HoloOnnx *im, HoloString name, HoloPbMany dims, HoloTensor *out,
                                    int64_t *out_count);
HOLO_MUST HoloStatus holo_onnx_tensor(HoloOnnx *im, HoloString message, HoloTensor *out, HoloString *out_name);
HOLO_MUST HoloStatus holo_onnx_sparse(HoloOnnx *im, HoloString message, HoloTensor *out, HoloString *out_name);
// Reads a TypeProto. Types that do not exist here become dtype HOLO_NONE. Sizes that are not numbers become symbols, or
// HOLO_DIM_UNKNOWN if `dims` is NULL.
HOLO_MUST HoloStatus holo_onnx_type(HoloOnnx *im, HoloString message, HoloDims *dims, HoloTensor *out);

// ---- graphs

// Reads a GraphProto. A body sees the names of `parent`; NULL: it is the model's own graph.
HOLO_MUST HoloStatus holo_onnx_graph(HoloOnnx *im, HoloString message, HoloOnnxScope *parent, HoloOnnxBody *out);
// Makes a body of Loop take scalars where it declares lists. The first `own_inputs` are not captured.
HOLO_MUST HoloStatus holo_onnx_loop_body(HoloOnnx *im, HoloGraph *body, int own_inputs);
// Reads the nodes of a graph or function into scope->graph, in any order.
HOLO_MUST HoloStatus holo_onnx_nodes(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany nodes);

// The value of a name. `is_defined` false: it is an output of a function that no node has given yet.
typedef struct HoloOnnxBinding {
    HoloValue *value; // NULL: an optional input of a function that is left out
    bool       is_defined;
} HoloOnnxBinding;

HOLO_MUST HoloStatus           holo_onnx_bind(HoloOnnx *im, HoloOnnxScope *scope, HoloString name, HoloValue *value,
                                              bool is_defined);
static inline HoloOnnxBinding *holo_onnx_binding(const HoloOnnxScope *scope, HoloString name)
{
    return holo_name_map_find(&scope->names, name);
}

// Reads the attributes of a node. Subgraphs are prepended to *bodies. An attribute that refers to one that the function
// call does not give is left out.
HOLO_MUST HoloStatus holo_onnx_attrs(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany attributes, const char *node,
                                     HoloAttr **out, int *out_count, HoloOnnxBody **bodies);
// Fails if an attribute of a node of ONNX's own domain has another kind than its name requires.
HOLO_MUST HoloStatus holo_onnx_attr_kinds(HoloOnnx *im, const char *node, const HoloAttr *attr, int count);
// The tensor that a Constant node's attributes describe.
HOLO_MUST HoloStatus holo_onnx_constant(HoloOnnx *im, const char *node, const HoloAttr *attr, int count,
                                        HoloTensor *out);

// ---- functions and operator sets

const HoloAttr *holo_onnx_attr_find(const HoloAttr *attr, int count, const char *name); // NULL: there is none

typedef struct HoloOnnxFunction HoloOnnxFunction;
HOLO_MUST HoloStatus            holo_onnx_functions(HoloOnnx *im, HoloPbMany functions);
HoloOnnxFunction *holo_onnx_function_find(const HoloOnnx *im, const HoloOnnxNodeProto *node); // NULL: there is none

typedef struct HoloOnnxCall { // of a function
    const char *node;
    int         in_count, out_count, attr_count;
    HoloValue **in, **out; // NULL entries: left out
    HoloAttr   *attr;
} HoloOnnxCall;
// Inserts the function's nodes into the graph of `scope`, so that they produce the values call->out.
HOLO_MUST HoloStatus holo_onnx_inline(HoloOnnx *im, HoloOnnxScope *scope, HoloOnnxFunction *function,
                                      const HoloOnnxCall *call);

HOLO_MUST HoloStatus holo_onnx_opsets(HoloOnnx *im, HoloPbMany list, HoloOnnxOpsets *out);
HoloString           holo_onnx_domain(HoloString domain); // "ai.onnx" is ""
// The version of `domain` that nodes of the scope use.
HOLO_MUST HoloStatus holo_onnx_version(HoloOnnx *im, const HoloOnnxScope *scope, HoloString domain, const char *node,
                                       int *out);

#endif
