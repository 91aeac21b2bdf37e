// lower.h - from operators to kernels: for each node of a graph the target that runs it, the kernel, its parameters,
// and how its weights are packed.
#ifndef HOLO_LOWER_H
#define HOLO_LOWER_H

#include "format/blocks.h"
#include "format/params.h"
#include "graph/graph.h"
#include "lower/cut.h"

// What packed bytes depend on, beside the constant: the kernel and all its parameters; panels of the columns of a transposed matrix, with
// the HOLO_WEIGHTS_* flag of their type; or panels of blocks.
enum { HOLO_FORM_OWN, HOLO_FORM_PANELS, HOLO_FORM_BLOCKS };

struct HoloLowering {
    uint32_t kernel; // see format/kernel_ids.def; 0: the operator's eval
    uint32_t params_size;
    union { // the parameter block
        uint64_t               align;
        uint8_t                params[HOLO_PARAMS_BYTES];
        HoloMatmulParams       matmul;
        HoloConvParams         conv;
        HoloConvNhwcParams     conv_nhwc;
        HoloSoftmaxParams      softmax;
        HoloMapParams          map;
        HoloNormParams         norm;
        HoloReduceParams       reduce;
        HoloGroupNormParams    group_norm;
        HoloPoolParams         pool;
        HoloRecurrentParams    recurrent;
        HoloTransposeParams    transpose;
        HoloResizeParams       resize;
        HoloGridSampleParams   grid_sample;
        HoloAttentionParams    attention;
        HoloMatmulI8Params     matmul_i8;
        HoloQuantizeI8Params   quantize_i8;
        HoloCastParams         cast;
        HoloConvI8Params       conv_i8;
        HoloPoolI8Params       pool_i8;
        HoloPairI8Params       pair_i8;
        HoloMatmulNbitsParams  matmul_nbits;
        HoloLookupParams       lookup;
        HoloMatmulBlocksParams matmul_blocks;
        HoloTakeRowsParams     take_rows;
    };
    int                  pack_input;           // a constant input that the kernel wants packed; -1: none
    uint32_t             pack_also;            // a bit for each other input that is packed, in a way of its own
    uint32_t             pack_form;            // HOLO_FORM_*; constants of one form are stored once for all kernels
    bool                 pack_transposed;      // pack with the last two dimensions exchanged
    int64_t              pack_groups;          // groups of filters, if it is a convolution
    const HoloBlockType *pack_type;            // of weights in blocks
    float                pack_book[HOLO_BOOK]; // the numbers that codes stand for, if weights are stored as codes
};

// ---- the stage

typedef struct HoloLoweredNode {
    const HoloNode *node;
    HoloLowering    lowering;
    int             target; // its number in the targets
    const struct HoloLoweredNode
        *shares; // a transfer: it brings the weights as this node of the CPU packs them. NULL: none
} HoloLoweredNode;

// The choices for the nodes of a graph and of its subgraphs. All later stages read them; tuning and fitting may change
// them.
struct HoloLowered {
    HoloTargets      targets;
    HoloArena        arena;
    HoloLoweredNode *nodes; // nodes of a subgraph come before the node that holds it
    int              count;
    int             *slots; // by hash of a node: 1 + its index in `nodes`; 0: empty
    uint32_t         slot_mask;
};

// The types of the graph must be inferred, and it must not change while the result is used. Deinit it even after a
// failure. `cut` NULL: the CPU runs all nodes.
HOLO_MUST HoloStatus holo_lower_graph(const HoloGraph *graph, const HoloCut *cut, HoloLowered *out, HoloError *error);
void                 holo_lowered_deinit(HoloLowered *lowered);
// Lets nodes of targets other than the CPU read weights as nodes of `host` pack them, where their targets can do that, so
// that they are stored once. `host` is the same model, lowered for the CPU alone, and must live as long.
void holo_lowered_share(HoloLowered *lowered, const HoloLowered *host);
// NULL: the node is not in the lowered graph. A result of zeros has no nodes.
HoloLoweredNode *holo_lowered_find(const HoloLowered *lowered, const HoloNode *node);
// The target of one of its nodes.
const HoloTarget *holo_lowered_target(const HoloLowered *lowered, const HoloLoweredNode *of);
// The number of the target in whose memory a value of the graph or of a subgraph is.
int holo_lowered_space(const HoloLowered *lowered, const HoloValue *value);

#endif
