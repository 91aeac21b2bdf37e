// graph.h - the compiler's graph: values and nodes, closed subgraphs, symbolic sizes.
//
// A graph is a list of nodes in which producers come before users. Subgraphs (of If, Loop, Scan) are closed: what a
// body uses from outside is an explicit input, given by the last `capture_count` inputs of the node that holds it. All
// memory is in the arena of the compile.
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
    HoloTensor     type;        // dtype HOLO_NONE or rank -1: not known; data: the contents of a constant
    const HoloDim *contents;    // integer contents as numbers or expressions, if known; else NULL
    HoloNode      *producer;    // NULL: an input, a constant, or a value that is only its contents
    int            id;          // index in graph->values
    bool           is_constant; // type.data holds the contents (NULL if it has no elements)
    bool           is_input;
    uint32_t fill; // of an input: 1 + the whole number that fills it if the caller leaves it out; 0: it must be given
    bool     is_index; // of an input with a fill: element i is filled with i instead
    bool is_state; // of an input with a fill: the session keeps it between runs; see HOLO_OP_UPDATES. States come last
    const HoloDim *least; // of an input with a fill: its sizes where no input that is given tells them; NULL: there are
                          // none. They are numbers, or sizes of other inputs
    // A value that is neither produced nor a constant nor an input is only its contents: expressions of the sizes of
    // the graph's inputs. The runtime fills it in when sizes are bound.
};

struct HoloNode {
    const HoloOp *op;      // NULL: there is no such operator
    const char   *name;    // as in the model, or made up; for messages
    const char   *type;    // "Conv"
    const char   *domain;  // "" is ai.onnx
    HoloOpId      op_id;   // of domain and type; HOLO_ID_NONE: only ops/ knows it
    int           version; // version of the domain's operators
    int           in_count, out_count, attr_count, capture_count;
    HoloValue   **in;   // NULL entries: optional inputs left out
    HoloValue   **out;  // NULL entries: outputs that nobody uses
    HoloAttr     *attr; // graph attributes hold a HoloGraph *
    int           id;   // index in graph->nodes since the last holo_graph_number, sort or sweep
};

// Is the node of that operator? HOLO_IS(node, Conv), HOLO_IS(node, HOLOGRAM_Conv): the names are in ops/op_ids.def.
#define HOLO_IS(node, name) ((node)->op_id == HOLO_ID_##name)

struct HoloGraph {
    HoloArena        *arena; // borrowed: the compile's
    HoloDims         *dims;  // borrowed: shared by a graph and its subgraphs
    const char       *name;
    HoloNode        **nodes;
    HoloValue       **values, **inputs, **outputs;
    int               node_count, value_count, input_count, output_count;
    int               node_room, value_room, input_room, output_room;
    struct HoloNames *names; // value names in use
};

// ---- building. All functions return NULL only if there is no memory.

HoloGraph *holo_graph_create(HoloArena *arena, HoloDims *dims, const char *name);
// A new value. A name that is taken gets a suffix; NULL: a name is made up.
HoloValue *holo_graph_value(HoloGraph *graph, const char *name);
HoloValue *holo_graph_constant(HoloGraph *graph, const char *name, const HoloTensor *tensor); // data is borrowed
HoloValue *holo_graph_input(HoloGraph *graph, const char *name, const HoloTensor *type);
bool       holo_graph_output(HoloGraph *graph, HoloValue *value);     // false: no memory
HoloValue *holo_graph_find(const HoloGraph *graph, const char *name); // NULL: there is none
// Adds a node at the end of the list, with room for so many inputs, outputs and attributes: fill them in.
// holo_node_set_out sets the producer of an output.
HoloNode *holo_graph_node(HoloGraph *graph, const char *name, const char *domain, const char *type, int version,
                          int in_count, int out_count, int attr_count);
// The same for an operator with an id.
HoloNode *holo_graph_op(HoloGraph *graph, const char *name, HoloOpId id, int version, int in_count, int out_count,
                        int attr_count);
// A node with the operator, the attributes, and the numbers of inputs and outputs of another node: fill in inputs and
// outputs.
HoloNode *holo_graph_node_like(HoloGraph *graph, const char *name, const HoloNode *like);
// Gives the node another operator. The caller must set inputs, outputs and attributes right.
void holo_node_become(HoloNode *node, HoloOpId id, int version);
void holo_node_set_out(HoloNode *node, int i, HoloValue *value);

// Copies the graph with its subgraphs into memory of `arena`; changes to the copy do not change the original. A value
// and its copy may have different ids but have the same name, and names are unique.
HoloGraph *holo_graph_copy(const HoloGraph *from, HoloArena *arena);
// Copies a node of another graph to the end of this one. map[id] is the value here for each input; its outputs are
// added to the map.
bool       holo_graph_copy_node(const HoloNode *from, HoloGraph *graph, HoloValue **map); // false: no memory
HoloValue *holo_graph_copy_value(const HoloValue *from, HoloGraph *graph);                // a value without a producer

// Makes nodes and outputs of the graph use other values: to[id] is NULL (keep) or the replacement of the value of that
// id. Chains (a by b, b by c) are followed; they must not be circular. `to` has `count` entries; later values are kept.
void holo_graph_replace_all(HoloGraph *graph, HoloValue **to, int count);
// Moves the states behind all other inputs.
void holo_graph_states_last(HoloGraph *graph);
bool holo_graph_has_states(const HoloGraph *graph);
int  holo_graph_given_count(const HoloGraph *graph); // inputs that callers may give: all but states
// Sets each node's id to its index in graph->nodes.
void holo_graph_number(HoloGraph *graph);
// Exchanges the names of two values. (The names of graph outputs are part of the model.)
void holo_graph_swap_names(HoloGraph *graph, HoloValue *a, HoloValue *b);
// Removes the nodes for which dead[i] is true (NULL: none). Then removes values that are neither inputs nor outputs and
// that no remaining node uses or produces. Renumbers nodes and values.
void holo_graph_sweep(HoloGraph *graph, const bool *dead_nodes);
// How many nodes and outputs use each value, by value id. Arena memory; NULL: none left.
int *holo_graph_uses(const HoloGraph *graph, HoloArena *scratch);
// Sorts the nodes so that producers come first. If there is a cycle, the message names a node of it.
HOLO_MUST HoloStatus holo_graph_sort(HoloGraph *graph, HoloError *error);

// ---- checking, printing, reading

// Checks every invariant of this header; called between passes.
HOLO_MUST HoloStatus holo_graph_verify(const HoloGraph *graph, HoloError *error);

typedef struct HoloText { // a growing text; set it to zeros first
    char  *data;
    size_t size, room;
    bool   failed; // there was no memory: the text is cut off
} HoloText;
void holo_text_add(HoloText *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void holo_text_deinit(HoloText *text);

void holo_graph_print(const HoloGraph *graph, HoloText *out); // constants of more than 64 elements as hash and size
HOLO_MUST HoloStatus holo_graph_parse(HoloArena *arena, const char *text, HoloGraph **out_graph, HoloError *error);

// ---- meaning

// Finds each node's operator and infers every value's type: dtype, rank, sizes as numbers or expressions, and the
// contents of small integer values. Earlier types are replaced. Unknown operators are not an error here: their outputs
// stay unknown.
HOLO_MUST HoloStatus holo_graph_infer(HoloGraph *graph, HoloError *error);
// The same. *out_done is how many of the graph's nodes were inferred: all of them, or those before the one that fails.
HOLO_MUST HoloStatus holo_graph_infer_count(HoloGraph *graph, int *out_done, HoloError *error);
// Fails if operators of the graph or its subgraphs do not exist here; the message lists all of them.
HOLO_MUST HoloStatus holo_graph_check_ops(const HoloGraph *graph, HoloError *error);

// ---- symbols: a size of the graph's inputs is known when a run begins. A "data symbol" (fresh, "u0") is a size that
// only the run finds out.

// By entry of graph->dims: can the expression be computed from the sizes of the graph's inputs alone? holo_dims_count
// entries in `scratch`; NULL: no memory.
bool *holo_graph_input_entries(const HoloGraph *graph, HoloArena *scratch);

// The numbers of graph->dims for inputs of given sizes.
typedef struct HoloBinding {
    int64_t *number;   // by entry
    bool    *is_known; // by entry; also false if there is no such number (overflow, division by 0)
    int      count;
} HoloBinding;
// `inputs` are as for holo_graph_eval. Sizes that contradict each other fail as HOLO_BAD_INPUT.
HOLO_MUST HoloStatus holo_graph_bind(const HoloGraph *graph, const HoloTensor *const *inputs, HoloArena *arena,
                                     HoloBinding *out, HoloError *error);
// The number replaces the symbol in the types of all inputs, and in the contents that follow from it.
HOLO_MUST HoloStatus holo_graph_fix_symbol(HoloGraph *graph, HoloDim symbol, int64_t number, HoloError *error);
bool                 holo_binding_number(const HoloBinding *binding, HoloDim d, int64_t *out); // false: not known

// The graph that defines the operator of a node (op->body), with the node's attributes inserted. If `dims` is NULL, the
// graph has dims of its own.
HOLO_MUST HoloStatus holo_node_body(HoloArena *arena, HoloDims *dims, const HoloNode *node, HoloGraph **out_graph,
                                    HoloError *error);

// Computes a graph plainly, node by node with `eval`: the reference. Inputs are tensors with data. Outputs have memory
// of `arena`; they may be NULL if options->give is set. `options` may be NULL.
typedef struct HoloEvalOptions {
    // If set, called instead of op->eval. It returns HOLO_UNSUPPORTED to have eval called.
    HoloStatus (*instead)(void *context, const HoloNode *node, HoloCall *call);
    // The input over which `instead` can write its output, which has the same size, if nobody needs the input any more;
    // -1: none. May be NULL.
    int (*in_place)(void *context, const HoloNode *node, const HoloCall *call);
    // Called after each node.
    void (*after)(void *context, const HoloNode *node, const HoloCall *call);
    void           *context;
    const HoloHost *threads;       // threads that operators may use; NULL: none
    int64_t         element_limit; // fail with HOLO_NO_MEMORY when an output has more elements; 0: no limit
    // Called with each output of the graph itself as soon as it is computed. The value is freed after its last reader,
    // and `outputs` is not filled. NULL: `outputs` is filled.
    HoloStatus (*give)(void *context, int output, const HoloTensor *value, HoloError *error);
    void            *give_context;
    const HoloNode **at;    // set to each node of the graph itself when it begins; may be NULL
    int64_t         *turns; // how many more runs of subgraphs are allowed, large ones counting more; counts down, and
                            // below 0 the evaluation fails. NULL: no limit
} HoloEvalOptions;
HOLO_MUST HoloStatus holo_graph_eval(const HoloGraph *graph, const HoloTensor *const *inputs, HoloTensor *outputs,
                                     HoloArena *arena, const HoloEvalOptions *options, HoloError *error);
// The same for one node with constant inputs.
HOLO_MUST HoloStatus holo_node_eval(const HoloNode *node, const HoloTensor *const *in, HoloTensor *const *out,
                                    HoloArena *arena, HoloError *error);
// Input i, which is left out, filled with its default. Its sizes are those that other inputs give to its symbols.
HOLO_MUST HoloStatus holo_graph_default(const HoloGraph *graph, const HoloTensor *const *inputs, int i,
                                        HoloArena *arena, HoloTensor *out, HoloError *error);

#endif
