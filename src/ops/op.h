// op.h - what an operator is: a row with its names, `infer` (types and shapes) and `eval` (values).
//
// Both see a HoloCall: tensors in, tensors out, attributes. They never see the graph, so the runtime can link them. An
// operator is a row in a table `holo_ops_<file>` of a file in this folder; the build lists the files. See
// docs/adding-an-operator.md.
#ifndef HOLO_OPS_OP_H
#define HOLO_OPS_OP_H

#include "base/base.h"
#include "base/dim/dim.h"
#include "base/stop.h"
#include "format/dtype.h"
#include "ops/tensor.h"

typedef struct HoloCall HoloCall;
typedef struct HoloOp   HoloOp;
typedef struct HoloHost HoloHost;

// ---- attributes

typedef enum HoloAttrKind { // ids are part of the archive format: append only
    HOLO_ATTR_INT     = 1,
    HOLO_ATTR_FLOAT   = 2,
    HOLO_ATTR_STRING  = 3,
    HOLO_ATTR_TENSOR  = 4,
    HOLO_ATTR_GRAPH   = 5,
    HOLO_ATTR_INTS    = 6,
    HOLO_ATTR_FLOATS  = 7,
    HOLO_ATTR_STRINGS = 8,
    HOLO_ATTR_TENSORS = 9,
    HOLO_ATTR_GRAPHS  = 10,
    HOLO_ATTR_TYPE    = 11, // a tensor without data
} HoloAttrKind;

typedef struct HoloAttr { // borrowed: lives as long as the graph or the model
    const char *name;
    int32_t     kind;  // HoloAttrKind
    int32_t     count; // of the plural kinds; 1 otherwise
    union {
        int64_t           i;
        double            f;
        HoloString        s;
        const HoloTensor *tensor; // one, or `count`
        void             *graph;  // opaque here: the host's own form of a subgraph
        void            **graphs;
        const int64_t    *ints;
        const float      *floats;
        const HoloString *strings;
    };
} HoloAttr;

// ---- a call

struct HoloAttention;

struct HoloCall {
    const HoloOp            *op;
    const char              *node;    // the node's name, for messages
    int                      version; // of the operator's domain, as the model asks for
    int                      in_count, out_count;
    const HoloTensor *const *in;  // NULL: an optional input that is left out
    HoloTensor *const       *out; // NULL: an output that nobody uses
    const HoloAttr          *attr;
    int                      attr_count;
    int                      capture_count; // the last inputs are what the subgraphs capture

    // While inferring: the integer contents of inputs, as numbers or expressions, if known. contents[i] is NULL or has
    // as many entries as in[i] has elements. NULL when evaluating.
    const HoloDim *const *contents;
    HoloDims             *dims; // NULL: all sizes are ordinary numbers

    const void    *prepared; // what op->prepare made, for eval
    const void    *params;   // of a fast kernel; NULL for eval
    size_t         params_size;
    const uint8_t *program; // what a step does to each element, as the bytes of a portable program; NULL: none is known
    size_t         program_size;
    const HoloHost *host; // NULL while inferring at compile time
    HoloError      *error;

    // Computes an attention of ops/standard/attention.h instead of holo_attention; NULL: nobody does. A fast kernel
    // sets it.
    HoloStatus (*attend)(const HoloCall *call, const struct HoloAttention *attention);
};

// What the environment does for an operator while it runs.
struct HoloHost {
    // Zeroed memory until the end of the call. NULL: no memory.
    void *(*temp)(const HoloHost *host, size_t size);
    // Zeroed memory that lives as long as what op->prepare makes. NULL: no memory. May be left out: then it is like
    // temp.
    void *(*hold)(const HoloHost *host, size_t size);
    // Memory that lives as long as the outputs (for sequences and strings). NULL: no memory.
    void *(*keep)(const HoloHost *host, size_t size);
    struct HoloLists *lists; // of value.h, in memory of keep; NULL: none
    // Runs a subgraph. Its outputs, with all that they hold, live until the second next run of a subgraph by this host.
    // So a loop may pass them to its next turn; it must copy what it keeps longer.
    HoloStatus (*subgraph)(const HoloHost *host, void *graph, int in_count, const HoloTensor *const *in, int out_count,
                           HoloTensor *const *out, HoloError *error);
    // How many inputs and outputs a subgraph has, captured ones included.
    void (*counts)(const HoloHost *host, const void *graph, int *out_inputs, int *out_outputs);
    // The name and the type of input i of a subgraph; sizes that are not numbers are HOLO_DIM_UNKNOWN.
    const char *(*input)(const HoloHost *host, const void *graph, int i, HoloTensor *out_type);
    // Calls work(arg, i, worker) once for each 0 <= i < count, on several threads; worker < workers. When `stop` is
    // due, the rest is skipped: the run gives no answer then.
    void (*parallel)(const HoloHost *host, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg);
    int workers;
    // Checked between two pieces of work: see holo_spread and holo_call_continue. NULL: the run cannot be stopped.
    HoloStop *stop;
    // For fast kernels: the functions of this CPU, and memory for each worker, as large as the kernel asked for: worker
    // w has scratch + w * scratch_stride.
    const struct HoloKernelTable *kernels;
    char                         *scratch;
    size_t                        scratch_stride;
};

// ---- the row

enum {                 // HoloOp.flags
    HOLO_OP_MOVES = 1, // output elements are unchanged elements of input 0 (of all inputs with HOLO_OP_MOVES_ALL): eval
                       // then also moves symbolic contents
    HOLO_OP_MOVES_ALL = 2 | HOLO_OP_MOVES,
    HOLO_OP_VIEW      = 4,   // the output has the bytes of input 0 with another shape
    HOLO_OP_RANDOM    = 8,   // not a function of its inputs: never folded or merged
    HOLO_OP_CONTROL   = 16,  // has subgraphs
    HOLO_OP_POINTWISE = 32,  // each output element depends on the elements at its position in the inputs
    HOLO_OP_KINDS     = 128, // takes sequences, optionals or maps, and checks the kinds itself
    HOLO_OP_DYNAMIC   = 64,  // the output's shape depends on the values of inputs, even if their shapes are known
    HOLO_OP_JOINS = 256, // `place` is about inputs, which eval copies to their places in output 0 unless they are there
    HOLO_OP_REDUCES     = 512,   // reduces input 0 along axes, an attribute or input 1; has keepdims
    HOLO_OP_COMMUTES    = 1024,  // the inputs may be in any order
    HOLO_OP_QUANTIZES   = 2048,  // turns real numbers into integers, by a scale and a zero point: inputs 1 and 2
    HOLO_OP_DEQUANTIZES = 4096,  // turns integers into real numbers
    HOLO_OP_SCALED      = 8192,  // some of its operands are integers of few bits that stand for real numbers
    HOLO_OP_TYPED       = 16384, // its meaning depends on the element types, beyond the rounding of its results
    HOLO_OP_UPDATES = 32768, // output 0 is input 0 with some elements changed: eval copies input 0 unless it is there
                             // already. Where input 0 is a state, it is changed in place
};

enum { HOLO_COST_HEAVY = 10 }; // see HoloOp.cost: that of exp and its relatives

enum { HOLO_PLACE_MAX = 1024 }; // see HoloOp.place

struct HoloOp {
    const char *name;             // ONNX spelling
    const char *domain;           // "" is ai.onnx; "ai.onnx.ml", "com.microsoft", "hologram" ...
    int         since;            // first opset version of this row; a name may have several rows, split by version
    int         until;            // last version; 0: open
    int         in_min, in_max;   // in_max -1: any number
    int         out_min, out_max; // out_max -1: any number
    uint64_t    types;            // dtypes that input 0 may have (in the widest version); checked before infer
    uint32_t    flags;
    int         cost; // of an element, in additions of f32, if it works element by element; 0: 1 if it is pointwise

    // Sets dtype, kind, rank and dims of the wanted outputs from those of the inputs (ranks are known, sizes may be
    // symbolic) and, if the shape depends on values, from those that are known. A size that is not known yet is
    // HOLO_DIM_UNKNOWN; a rank, -1. Rejects what is not valid.
    HoloStatus (*infer)(HoloCall *call);

    // Computes the wanted outputs. infer has accepted the call, and output memory is there. If infer left a size
    // unknown, out[i]->data is NULL: eval sets the sizes and calls holo_out_alloc. Values of inputs (indices, lengths)
    // are not trusted.
    HoloStatus (*eval)(HoloCall *call);

    // Makes what eval needs in another form (a table, an index) from the attributes, the types of the inputs, and the
    // values of those inputs whose bits are set in prepare_in; never from sizes or other values. If those inputs are
    // constants, it is made once and serves many calls of eval, as call->prepared. It does not change, except for
    // working memory, since only one call uses it at a time. Its memory is from holo_call_hold. NULL: there is nothing
    // to prepare.
    HoloStatus (*prepare)(HoloCall *call, const void **out);
    uint32_t prepare_in;
    // Gives back what prepare took elsewhere. NULL: there is nothing to give back.
    void (*release)(const void *prepared);

    // The element of input 0 at which output i begins, if the output is one piece of it; with HOLO_OP_JOINS, the
    // element of output 0 at which input i begins. infer has accepted the call, and all types are there; sizes may be
    // symbolic. HOLO_DIM_UNKNOWN: it is not one piece, or that is not known. NULL: it never is. It is not asked if
    // there are more than HOLO_PLACE_MAX inputs or outputs, because it takes time in proportion to i.
    HoloDim (*place)(const HoloCall *call, int i);

    // One element of output 0, exactly (accumulated in double): for operators that are too large to evaluate plainly
    // when verifying. NULL: eval is cheap enough.
    double (*at)(const HoloCall *call, int64_t index);

    // For an operator that the standard defines by others: its body in graph text. `eval` is then NULL.
    const char *body;

    const void *row; // data of the operator's family
};

extern const HoloOp *const holo_op_families[]; // tables, each ended by a row without a name; ends with NULL
const HoloOp              *holo_op_find(const char *domain, const char *name, int version); // NULL: there is none

// Does the call have as many inputs and outputs as its operator may have? It looks at no tensor.
HOLO_MUST HoloStatus holo_op_check_counts(const HoloCall *call);
// Runs op->infer after the checks that all operators share (counts, dtype of input 0). Sizes become numbers,
// expressions or HOLO_DIM_UNKNOWN, checked for overflow.
HOLO_MUST HoloStatus holo_op_infer(HoloCall *call);

// Runs op->eval, after op->prepare if there is something to prepare and call->prepared is not set yet.
HOLO_MUST HoloStatus holo_op_eval(HoloCall *call);

// After infer with all values known: fails if an output has no size and eval would not set one.
HOLO_MUST HoloStatus holo_op_check_sized(const HoloCall *call);

// ---- for infer and eval

HOLO_MUST HoloStatus holo_call_fail(const HoloCall *call, HoloStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4))); // "node (Conv): ..."

static inline const HoloTensor *holo_in(const HoloCall *call, int i)
{
    return i < call->in_count ? call->in[i] : NULL;
}
static inline HoloTensor *holo_out(const HoloCall *call, int i)
{
    return i < call->out_count ? call->out[i] : NULL;
}

const HoloAttr *holo_attr_find(const HoloCall *call, const char *name); // NULL: not given
int64_t         holo_attr_int(const HoloCall *call, const char *name, int64_t fallback);
double          holo_attr_float(const HoloCall *call, const char *name, double fallback);
bool            holo_attr_is(const HoloCall *call, const char *name, const char *fallback, const char *value);
HoloString      holo_attr_string(const HoloCall *call, const char *name, const char *fallback);
// The index of a string among `names`, which end with NULL. If it is none of them, it fails and lists them. `out` may
// be NULL.
HOLO_MUST HoloStatus holo_attr_choice(const HoloCall *call, const char *name, const char *fallback,
                                      const char *const *names, int *out);
int                  holo_attr_ints(const HoloCall *call, const char *name, int64_t *out,
                                    int max); // count; -1: not given; max+1: more than max
const HoloTensor    *holo_attr_tensor(const HoloCall *call, const char *name); // NULL: not given
// The element type with that number, which must be one of `types`. If it is not given, it is `fallback`: one of them,
// or HOLO_NONE.
HOLO_MUST HoloStatus holo_attr_dtype(const HoloCall *call, const char *name, HoloDtype fallback, uint64_t types,
                                     HoloDtype *out);

// The integer contents of input i, if known (while inferring they may be symbolic). Returns the count; -1: they are not
// known, or there are more than max. Any integer dtype.
int holo_in_ints(const HoloCall *call, int i, HoloDim *out, int max);

// Brings a possibly negative axis into [0, rank), or fails and names it.
HOLO_MUST HoloStatus holo_axis(const HoloCall *call, int64_t axis, int rank, int *out_axis);
HOLO_MUST HoloStatus holo_attr_axis(const HoloCall *call, const char *name, int64_t fallback, int rank, int *out_axis);
// Axes from an attribute or, if `input` >= 0 and it is given, from an input: sorted, unique, and how many (-1: not
// given at all). *out_known is false if the input's values are not known.
HOLO_MUST HoloStatus holo_axes(const HoloCall *call, const char *attr, int input, int rank, int *out_axes,
                               int *out_count, bool *out_known);

// Output types. An output that nobody uses is skipped.
HOLO_MUST HoloStatus holo_out_type(HoloCall *call, int i, HoloDtype dtype, int rank, const HoloDim *dim);
HOLO_MUST HoloStatus holo_out_like(HoloCall *call, int i, const HoloTensor *like); // dtype, kind and shape
HOLO_MUST HoloStatus holo_out_shape_like(HoloCall *call, int i, HoloDtype dtype, const HoloTensor *shape);
HOLO_MUST HoloStatus holo_out_unknown(HoloCall *call, int i, HoloDtype dtype); // rank not known
// Takes memory for output i, whose dtype, rank and sizes are set: when evaluating, if data is still NULL.
HOLO_MUST HoloStatus holo_out_alloc(HoloCall *call, int i);

// The size that two sizes broadcast to, by NumPy's rule. False: they do not broadcast.
bool holo_broadcast_pair(HoloDims *dims, HoloDim a, HoloDim b, HoloDim *out);
// The shape that the inputs from..to-1 broadcast to.
HOLO_MUST HoloStatus holo_broadcast(const HoloCall *call, int from, int to, int *out_rank, HoloDim *out_dim);
// Output 0 has the type of input 0.
HOLO_MUST HoloStatus holo_infer_same(HoloCall *call);

// For loops that holo_spread does not run: call it from time to time; it fails if the run is to end.
static inline bool holo_call_is_over(const HoloCall *call)
{
    return call->host && holo_stop_is_due(call->host->stop);
}
HOLO_MUST HoloStatus holo_call_continue(const HoloCall *call); // HOLO_CANCELLED: the run is to end

HOLO_MUST HoloStatus holo_call_temp(const HoloCall *call, size_t count, size_t size, void **out);
HOLO_MUST HoloStatus holo_call_hold(const HoloCall *call, size_t count, size_t size, void **out); // for prepare
// Is the dtype of the input one of the set? If not, it fails and names input, dtype and operator.
HOLO_MUST HoloStatus holo_expect_types(const HoloCall *call, int input, uint64_t types);
HOLO_MUST HoloStatus holo_expect_rank(const HoloCall *call, int input, int rank_min, int rank_max);
// Does input `input`, if it is given, have one element? Here and below, sizes that are not numbers yet always fit.
HOLO_MUST HoloStatus holo_expect_one(const HoloCall *call, int input);
HOLO_MUST HoloStatus holo_expect_shape(const HoloCall *call, int input, int rank, const HoloDim *dim);

#endif
