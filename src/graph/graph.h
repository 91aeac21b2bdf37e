// graph.h - the compiler's intermediate form: values and nodes, closed graphs, symbolic sizes.
//
// A graph is a list of nodes in an order that respects their inputs. Subgraphs (of If, Loop, Scan)
// are closed: what a body uses from outside is an explicit input, given by the last `capture_count`
// inputs of the node that holds it. All memory is in the arena of the compile.
#ifndef HOLO_GRAPH_H
#define HOLO_GRAPH_H

#include "base/base.h"
#include "base/dim/dim.h"
#include "ops/op.h"
#include "ops/op_id.h"

typedef struct HoloGraph HoloGraph;
typedef struct HoloNode  HoloNode;
typedef struct HoloValue HoloValue;

struct HoloValue {
    const char    *name;        // unique in its graph
    HoloTensor     type;        // dtype HOLO_NONE, rank -1: not known; data: the contents of a constant
    const HoloDim *contents;    // integer contents, where known in numbers or symbols; NULL
    HoloNode      *producer;    // NULL: an input, a constant, or a value that is its contents
    int            id;          // index in graph->values
    bool           is_constant; // type.data holds the contents (NULL when it has no elements)
    bool           is_input;
    // Neither producer, constant nor input: a value that is its contents, expressions of the sizes of
    // the graph's inputs. The runtime fills it in when sizes are bound.
};

struct HoloNode {
    const HoloOp *op;      // NULL: no operator of that name here
    const char   *name;    // as in the model, or made up; for messages
    const char   *type;    // "Conv"
    const char   *domain;  // "" is ai.onnx
    HoloOpId      op_id;   // of domain and type; HOLO_ID_NONE: no other room names it
    int           version; // of the operators of the domain
    int           in_count, out_count, attr_count, capture_count;
    HoloValue   **in;   // NULL entries: optional inputs left out
    HoloValue   **out;  // NULL entries: outputs not wanted
    HoloAttr     *attr; // graph attributes hold a HoloGraph *
    int           id;   // index in graph->nodes as of the last holo_graph_number, sort or sweep
};

// Is the node of that operator? HOLO_IS(node, Conv), HOLO_IS(node, HOLOGRAM_Conv): names of ops/op_ids.def.
#define HOLO_IS(node, name) ((node)->op_id == HOLO_ID_##name)

struct HoloGraph {
    HoloArena        *arena; // borrowed: of the compile
    HoloDims         *dims;  // borrowed: shared by a graph and its subgraphs
    const char       *name;
    HoloNode        **nodes;
    HoloValue       **values, **inputs, **outputs;
    int               node_count, value_count, input_count, output_count;
    int               node_room, value_room, input_room, output_room;
    struct HoloNames *names; // value names in use
};

// ---- building. All return NULL only when memory is out.

HoloGraph *holo_graph_create(HoloArena *arena, HoloDims *dims, const char *name);
// A new value. A name in use gets a suffix; NULL gives a made-up one.
HoloValue *holo_graph_value(HoloGraph *graph, const char *name);
HoloValue *holo_graph_constant(HoloGraph *graph, const char *name, const HoloTensor *tensor); // data borrowed
HoloValue *holo_graph_input(HoloGraph *graph, const char *name, const HoloTensor *type);
bool       holo_graph_output(HoloGraph *graph, HoloValue *value);     // false: no memory
HoloValue *holo_graph_find(const HoloGraph *graph, const char *name); // NULL: no such
// A node at the end of the list, with room for so many inputs, outputs, attributes; fill them in.
// Sets producer of outputs by holo_node_set_out.
HoloNode *holo_graph_node(HoloGraph *graph, const char *name, const char *domain, const char *type, int version,
                          int in_count, int out_count, int attr_count);
// The same of an operator that has an id, its row found.
HoloNode *holo_graph_op(HoloGraph *graph, const char *name, HoloOpId id, int version, int in_count, int out_count,
                        int attr_count);
// One with the operator, the attributes and the numbers of inputs and outputs of another; fill these in.
HoloNode *holo_graph_node_like(HoloGraph *graph, const char *name, const HoloNode *like);
// The node is one of another operator from now on; inputs, outputs and attributes are to be set right.
void holo_node_become(HoloNode *node, HoloOpId id, int version);
void holo_node_set_out(HoloNode *node, int i, HoloValue *value);

// The graph once more, with its subgraphs, in memory of `arena`: it may change, and the original does not. Values of the same
// id are not the same in both, but names are, of which no two are equal.
HoloGraph *holo_graph_copy(const HoloGraph *from, HoloArena *arena);
// A node of another graph at the end of this one, whose inputs map[id] stands for here; what it gives is added to the map.
bool       holo_graph_copy_node(const HoloNode *from, HoloGraph *graph, HoloValue **map); // false: no memory
HoloValue *holo_graph_copy_value(const HoloValue *from, HoloGraph *graph);                // one without a producer

// Nodes and outputs of the graph use others instead of some values: to[id] is NULL (keep) or what stands in for the value of
// that id. Chains (a by b, b by c) are followed; they may not be circular. `count` entries; later values keep.
void holo_graph_replace_all(HoloGraph *graph, HoloValue **to, int count);
// Sets each node's id to its place in graph->nodes.
void holo_graph_number(HoloGraph *graph);
// Two values take each other's names. (Names of graph outputs are part of the model.)
void holo_graph_swap_names(HoloGraph *graph, HoloValue *a, HoloValue *b);
// Drops the nodes for which dead[i] is true (NULL: none), then the values that are neither inputs,
// outputs, nor used or produced by a node that stays; renumbers nodes and values.
void holo_graph_sweep(HoloGraph *graph, const bool *dead_nodes);
// How many nodes and outputs use each value, by value id. Arena memory; NULL: none left.
int *holo_graph_uses(const HoloGraph *graph, HoloArena *scratch);
// Sorts the nodes so that producers come first; names a node of the cycle where there is one.
HOLO_MUST HoloStatus holo_graph_sort(HoloGraph *graph, HoloError *error);

// ---- checking, printing, reading

// Every invariant of this page; used between passes.
HOLO_MUST HoloStatus holo_graph_verify(const HoloGraph *graph, HoloError *error);

typedef struct HoloText { // a growing text; zero-initialize
    char  *data;
    size_t size, room;
    bool   failed; // memory ran out: the text is cut
} HoloText;
void holo_text_add(HoloText *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void holo_text_deinit(HoloText *text);

void holo_graph_print(const HoloGraph *graph, HoloText *out); // constants over 64 elements as their hash and size
HOLO_MUST HoloStatus holo_graph_parse(HoloArena *arena, const char *text, HoloGraph **out_graph, HoloError *error);

// ---- meaning

// Finds each node's operator and infers every value's type: dtype, rank, sizes as numbers or
// expressions, and the contents of small integer values. Types of values known before are replaced.
// Unknown operators are not an error here: their outputs stay unknown.
HOLO_MUST HoloStatus holo_graph_infer(HoloGraph *graph, HoloError *error);
// The same, and how many of the graph's nodes came out well: all of them, or those before the one that fails.
HOLO_MUST HoloStatus holo_graph_infer_count(HoloGraph *graph, int *out_done, HoloError *error);
// Fails by listing every operator that does not exist here, of the graph and its subgraphs, at once.
HOLO_MUST HoloStatus holo_graph_check_ops(const HoloGraph *graph, HoloError *error);

// ---- symbols: a size of the graph's inputs is known when a run begins; a "data symbol" (fresh, "u0") stands
// for one that only the run itself finds out.

// By entry of graph->dims: true where the expression can be computed from the sizes of the graph's
// inputs alone. holo_dims_count entries in `scratch`; NULL: no memory.
bool *holo_graph_input_entries(const HoloGraph *graph, HoloArena *scratch);

// The numbers of graph->dims for inputs of given sizes.
typedef struct HoloBinding {
    int64_t *number;   // by entry
    bool    *is_known; // by entry; false too where a number does not exist (overflow, a quotient by 0)
    int      count;
} HoloBinding;
// `inputs` as for holo_graph_eval; sizes that contradict each other fail as HOLO_BAD_INPUT.
HOLO_MUST HoloStatus holo_graph_bind(const HoloGraph *graph, const HoloTensor *const *inputs, HoloArena *arena,
                                     HoloBinding *out, HoloError *error);
bool                 holo_binding_number(const HoloBinding *binding, HoloDim d, int64_t *out); // false: not known

// The graph that defines the operator of a node (op->body), with the node's attributes in place. The graph
// has its own dims when `dims` is NULL.
HOLO_MUST HoloStatus holo_node_body(HoloArena *arena, HoloDims *dims, const HoloNode *node, HoloGraph **out_graph,
                                    HoloError *error);

// Computes a graph plainly, node by node with `eval`: the reference. Inputs are tensors with data;
// outputs, which may be NULL where options->give is set, come with memory from `arena`. `options` may be NULL.
typedef struct HoloEvalOptions {
    // Called instead of op->eval where it is set; returns HOLO_UNSUPPORTED to have eval called.
    HoloStatus (*instead)(void *context, const HoloNode *node, HoloCall *call);
    // The input over whose memory `instead` can write its output, of the same size, if nobody needs the input
    // any more; -1: none. May be NULL.
    int (*in_place)(void *context, const HoloNode *node, const HoloCall *call);
    // Called after each node.
    void (*after)(void *context, const HoloNode *node, const HoloCall *call);
    void           *context;
    const HoloHost *threads;       // whose threads operators may use; NULL: none
    int64_t         element_limit; // fail with HOLO_NO_MEMORY when an output has more elements; 0: no limit
    // Called with each output of the graph itself as soon as it is there, which is then freed behind its last reader:
    // `outputs` are not filled. NULL: they are.
    HoloStatus (*give)(void *context, int output, const HoloTensor *value, HoloError *error);
    void            *give_context;
    const HoloNode **at;    // set to each node of the graph itself when it begins; NULL: nobody wants to know
    int64_t         *turns; // how often subgraphs may still be run: counted down; below 0 as above. NULL: no limit
} HoloEvalOptions;
HOLO_MUST HoloStatus holo_graph_eval(const HoloGraph *graph, const HoloTensor *const *inputs, HoloTensor *outputs,
                                     HoloArena *arena, const HoloEvalOptions *options, HoloError *error);
// The same for one node whose inputs are all constants.
HOLO_MUST HoloStatus holo_node_eval(const HoloNode *node, const HoloTensor *const *in, HoloTensor *const *out,
                                    HoloArena *arena, HoloError *error);

#endif
