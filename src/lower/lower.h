// lower.h - from operators to kernel calls: which fast kernel runs a node, with which parameters, and
// how its weights are packed.
#ifndef HOLO_LOWER_H
#define HOLO_LOWER_H

#include "format/params.h"
#include "graph/graph.h"

typedef struct HoloLowering {
    uint32_t kernel; // see format/kernel_ids.def; 0: the operator's eval
    uint32_t params_size;
    union { // the parameter block
        uint64_t              align;
        uint8_t               params[HOLO_PARAMS_BYTES];
        HoloMatmulParams      matmul;
        HoloConvParams        conv;
        HoloConvNhwcParams    conv_nhwc;
        HoloSoftmaxParams     softmax;
        HoloMapParams         map;
        HoloNormParams        norm;
        HoloReduceParams      reduce;
        HoloGroupNormParams   group_norm;
        HoloPoolParams        pool;
        HoloRecurrentParams   recurrent;
        HoloTransposeParams   transpose;
        HoloResizeParams      resize;
        HoloGridSampleParams  grid_sample;
        HoloAttentionParams   attention;
        HoloMatmulI8Params    matmul_i8;
        HoloQuantizeI8Params  quantize_i8;
        HoloCastParams        cast;
        HoloConvI8Params      conv_i8;
        HoloPoolI8Params      pool_i8;
        HoloPairI8Params      pair_i8;
        HoloMatmulNbitsParams matmul_nbits;
        HoloLookupParams      lookup;
    };
    int      pack_input;           // the input, a constant, that the kernel wants packed; -1: none
    uint32_t pack_also;            // a bit for each other one that is packed, in a way of its own
    bool     pack_transposed;      // its matrices, the last two dimensions changing places
    int64_t  pack_groups;          // of filters, where it is those of a convolution
    float    pack_book[HOLO_BOOK]; // the numbers of weights that are stored as codes
} HoloLowering;

// Chooses for a node whose types are inferred. Sizes may be symbolic; a node with sizes or types that are not known goes to eval.
// For nodes that are in no graph: of a graph, the stage below has chosen.
HoloLowering holo_lower_choose(const HoloNode *node);

// All ways to run a node, for one who measures which is fastest: what holo_lower_choose gives, then weights transformed
// otherwise or plain, then eval where that is little work. Returns how many there are, at least 1.
enum { HOLO_LOWER_WAYS = 8 };
int holo_lower_ways(const HoloNode *node, HoloLowering out[HOLO_LOWER_WAYS]);

// What a run of a 3x3 convolution with channels last is worth in multiplications, in one of its ways: an estimate.
double holo_lower_conv_cost(const HoloNode *node, const HoloLowering *way);

// What the step does to each element of its output, as a portable program (docs/isa.md) in bytes that belong to the arena. Inputs
// of the program are x0, x1 ..., the node's; of a tail, which reads and writes y, x1 is the node's fourth. Size 0: it is not
// pointwise, and has no tail.
typedef struct HoloBytes {
    uint8_t *data;
    size_t   size;
} HoloBytes;
HOLO_MUST HoloStatus holo_lower_program(const HoloNode *node, const HoloLowering *lowering, HoloArena *arena,
                                        HoloBytes *out, HoloError *error);

// Is there a kernel for some cases of an operator?
bool holo_lower_has(const char *domain, const char *name);

bool holo_lower_is_recurrent(uint32_t kernel); // runs a recurrent layer

// The packed form of input pack_input, whose plain contents are `w`. It is made part by part, so that
// nobody need hold the whole.
enum { HOLO_PACK_PART = 1 << 20 }; // bytes of a part at most

typedef struct HoloPacking {
    uint64_t bytes;
    int64_t  part_count;
} HoloPacking;

HoloPacking holo_lower_packing(const HoloLowering *lowering, const HoloTensor *w);
// Writes one part to `out`, which has HOLO_PACK_PART bytes, and returns its size.
size_t holo_lower_pack(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);

// ---- the stage

typedef struct HoloLoweredNode {
    const HoloNode *node;
    HoloLowering    lowering;
} HoloLoweredNode;

// What was chosen for the nodes of a graph and of its subgraphs. All that comes later reads it, and who knows better may
// change it.
typedef struct HoloLowered {
    HoloArena        arena;
    HoloLoweredNode *nodes; // those of a subgraph before the node that holds it
    int              count;
    int             *slots; // by hash of a node: its index in nodes + 1; 0: empty
    uint32_t         slot_mask;
} HoloLowered;

// The graph, whose types are inferred, must stay as it is for as long as the result is used. Deinit also after a failure.
HOLO_MUST HoloStatus holo_lower_graph(const HoloGraph *graph, HoloLowered *out, HoloError *error);
void                 holo_lowered_deinit(HoloLowered *lowered);
// NULL: the node is not of the graph that was lowered. An empty result, all zero, has none.
HoloLoweredNode *holo_lowered_find(const HoloLowered *lowered, const HoloNode *node);

// How many different numbers input pack_input, of f32, has whose plain contents are `w`, where there are at most HOLO_NUMBERS of them and
// it is large enough to ask; 0: more, or the kernel reads no codes in any case.
enum { HOLO_NUMBERS = 256 };
int holo_lower_numbers(const HoloLowering *lowering, const HoloTensor *w);

// The same lowering with every input plain.
void holo_lower_unpack(HoloLowering *lowering);

#endif
