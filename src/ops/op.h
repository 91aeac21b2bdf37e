// op.h - what an operator is: a row with its names, `infer` (types and shapes) and `eval` (values).
//
// Both see a HoloCall: tensors in, tensors out, attributes. They never see the graph, so that the
// runtime can link them. An operator is a row in a table `holo_ops_<file>` of a file in this folder;
// the build lists the files. See docs/adding-an-operator.md.
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
    const HoloTensor *const *in;  // NULL: an optional input left out
    HoloTensor *const       *out; // NULL: an output that nobody wants
    const HoloAttr          *attr;
    int                      attr_count;
    int                      capture_count; // the last inputs are what the subgraphs capture from outside

    // While inferring, the integer contents of inputs, as numbers or expressions, where they are
    // known: contents[i] is NULL or has as many entries as in[i] has elements. NULL when evaluating.
    const HoloDim *const *contents;
    HoloDims             *dims; // NULL: all sizes are ordinary numbers

    const void     *prepared; // what op->prepare has made, for eval
    const void     *params;   // of a fast kernel; NULL for eval
    size_t          params_size;
    const HoloHost *host; // NULL while inferring at compile time
    HoloError      *error;

    // Computes an attention, of ops/standard/attention.h, in place of holo_attention; NULL: nobody does. Set by a fast kernel.
    HoloStatus (*attend)(const HoloCall *call, const struct HoloAttention *attention);
};

// What the surroundings do for an operator while it runs.
struct HoloHost {
    // Memory until the end of the call, zeroed. NULL: out of memory.
    void *(*temp)(const HoloHost *host, size_t size);
    // Memory that lives as long as what op->prepare makes, zeroed. NULL: out of memory. May be left out: as temp.
    void *(*hold)(const HoloHost *host, size_t size);
    // Memory that lives as long as the outputs do (for sequences and strings). NULL: out of memory.
    void *(*keep)(const HoloHost *host, size_t size);
    struct HoloLists *lists; // of value.h, in memory of keep; NULL: none are remembered
    // Runs a subgraph. Outputs are filled in and live, with all that they hold, until the second next run of a
    // subgraph by this host: a loop may hand them to its next turn; what it keeps for longer it copies.
    HoloStatus (*subgraph)(const HoloHost *host, void *graph, int in_count, const HoloTensor *const *in, int out_count,
                           HoloTensor *const *out, HoloError *error);
    // How many inputs and outputs a subgraph has, captured ones included.
    void (*counts)(const HoloHost *host, const void *graph, int *out_inputs, int *out_outputs);
    // The name and the type of input i of a subgraph; sizes that are no numbers are HOLO_DIM_UNKNOWN.
    const char *(*input)(const HoloHost *host, const void *graph, int i, HoloTensor *out_type);
    // Calls work(arg, i, worker) once for each 0 <= i < count, on several threads; worker < workers. What is left when
    // `stop` is due is not called: the run gives no answer then.
    void (*parallel)(const HoloHost *host, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg);
    int workers;
    // Looked at between two pieces of work: see holo_spread and holo_call_continue. NULL: the run cannot be stopped.
    HoloStop *stop;
    // For fast kernels: the functions of this CPU, and memory of its own for each worker, as large as
    // the kernel asked for: worker w has scratch + w * scratch_stride.
    const struct HoloKernelTable *kernels;
    char                         *scratch;
    size_t                        scratch_stride;
};

// ---- the row

enum {                 // HoloOp.flags
    HOLO_OP_MOVES = 1, // output elements are input elements, unchanged, of input 0 (and of all inputs
                       // where HOLO_OP_MOVES_ALL): eval then also moves symbolic contents
    HOLO_OP_MOVES_ALL = 2 | HOLO_OP_MOVES,
    HOLO_OP_VIEW      = 4,  // the output is the bytes of input 0 with another shape
    HOLO_OP_RANDOM    = 8,  // not a function of its inputs: never folded or merged
    HOLO_OP_CONTROL   = 16, // has subgraphs
    HOLO_OP_POINTWISE = 32, // each output element depends on the elements of the inputs at its place
    HOLO_OP_KINDS = 128, // takes values that are no tensors (sequences, optionals, maps), and checks their kinds itself
    HOLO_OP_DYNAMIC = 64, // the output's shape depends on the values of inputs even when their shapes are known
    HOLO_OP_JOINS = 256, // `place` tells of inputs, which eval copies to their places in output 0 unless they are there
    HOLO_OP_REDUCES     = 512,   // folds input 0 along axes, which are an attribute or input 1; has keepdims
    HOLO_OP_COMMUTES    = 1024,  // the inputs may be in any order
    HOLO_OP_QUANTIZES   = 2048,  // makes integers of real numbers, by a scale and a zero point: inputs 1 and 2
    HOLO_OP_DEQUANTIZES = 4096,  // and real numbers of integers
    HOLO_OP_SCALED      = 8192,  // among its operands are integers of few bits that stand for real numbers
    HOLO_OP_TYPED       = 16384, // what it means depends on the types of elements, beyond the rounding of its results
};

enum { HOLO_COST_HEAVY = 10 }; // see HoloOp.cost: that of exp and its relatives

enum { HOLO_PLACE_MAX = 1024 }; // see HoloOp.place

struct HoloOp {
    const char *name;             // ONNX spelling
    const char *domain;           // "" is ai.onnx; "ai.onnx.ml", "com.microsoft", "hologram" ...
    int         since;            // first opset version this row is for; rows of one name may split at a version
    int         until;            // last version; 0: open
    int         in_min, in_max;   // in_max -1: any number
    int         out_min, out_max; // out_max -1: any number
    uint64_t    types;            // dtypes that input 0 (of the widest version) may have; checked before infer
    uint32_t    flags;
    int cost; // of an element, in additions of f32, where it works element by element; 0: one, if it is pointwise

    // Sets dtype, kind, rank and dims of the wanted outputs from those of the inputs (ranks known,
    // sizes perhaps symbolic), and, where the shape depends on values, from those that are known. A
    // size that cannot be known yet is HOLO_DIM_UNKNOWN; a rank, -1. Rejects what is not valid.
    HoloStatus (*infer)(HoloCall *call);

    // Computes the wanted outputs. infer has accepted the call, and output memory is there; where
    // infer left a size unknown, out[i]->data is NULL: eval sets the sizes and calls holo_out_alloc.
    // Values of inputs (indices, lengths) are not trusted.
    HoloStatus (*eval)(HoloCall *call);

    // What eval needs in another form than it is given in (a table, an index), made of the attributes, of the types of
    // the inputs, and of the values of those inputs whose bits are set in prepare_in: never of sizes or other values.
    // It is made once and serves many calls of eval, as call->prepared, where those inputs are constants. It is not
    // changed once made, but for memory to work in, as one call at a time has it; its memory is that of holo_call_hold.
    // NULL: nothing to prepare.
    HoloStatus (*prepare)(HoloCall *call, const void **out);
    uint32_t prepare_in;
    // Gives back what prepare took elsewhere. NULL: there is nothing such.
    void (*release)(const void *prepared);

    // The element of input 0 at which output i begins, where the output is one piece of it; or, where HOLO_OP_JOINS, the
    // element of output 0 at which input i begins. infer has accepted the call, whose types are all there; sizes may be
    // symbolic. HOLO_DIM_UNKNOWN: it is not in one piece, or that cannot be said. NULL: never. Not asked where there are
    // more than HOLO_PLACE_MAX inputs or outputs, for it takes time in proportion to i.
    HoloDim (*place)(const HoloCall *call, int i);

    // One element of output 0, exactly (accumulated in double): for operators too large to evaluate
    // plainly when verifying. NULL: eval is cheap enough.
    double (*at)(const HoloCall *call, int64_t index);

    // An operator that the standard defines by others: its body in graph text form. `eval` is then NULL.
    const char *body;

    const void *row; // what a family keeps for itself
};

extern const HoloOp *const holo_op_families[]; // tables ended by a row without a name; NULL at the end
const HoloOp              *holo_op_find(const char *domain, const char *name, int version); // NULL: no such

// Has the call as many inputs and outputs as its operator may have? Looks at no tensor.
HOLO_MUST HoloStatus holo_op_check_counts(const HoloCall *call);
// Runs op->infer or op->eval after the checks common to all operators (counts, dtype of input 0).
// Sizes come out as numbers, expressions or HOLO_DIM_UNKNOWN, checked for overflow.
HOLO_MUST HoloStatus holo_op_infer(HoloCall *call);

// Runs op->eval, after op->prepare where that has something to do and call->prepared is not there yet.
HOLO_MUST HoloStatus holo_op_eval(HoloCall *call);

// After infer with every value at hand: fails where an output has no size and eval would not give it one.
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
// The place of a string among `names`, which NULL ends; fails by naming them where it is none. `out` may be NULL.
HOLO_MUST HoloStatus holo_attr_choice(const HoloCall *call, const char *name, const char *fallback,
                                      const char *const *names, int *out);
int                  holo_attr_ints(const HoloCall *call, const char *name, int64_t *out,
                                    int max); // count; -1: not given; more than max: max+1
const HoloTensor    *holo_attr_tensor(const HoloCall *call, const char *name); // NULL: not given
// The element type of that number, which must be one of `types`. Where it is not given it is `fallback`: one of them, or
// HOLO_NONE.
HOLO_MUST HoloStatus holo_attr_dtype(const HoloCall *call, const char *name, HoloDtype fallback, uint64_t types,
                                     HoloDtype *out);

// The integer contents of input i, where known (while inferring perhaps symbolic): count, or -1 when
// they are not known. Any integer dtype. More than max entries: fails as not known.
int holo_in_ints(const HoloCall *call, int i, HoloDim *out, int max);

// Brings a possibly negative axis into [0, rank), or fails by naming it.
HOLO_MUST HoloStatus holo_axis(const HoloCall *call, int64_t axis, int rank, int *out_axis);
HOLO_MUST HoloStatus holo_attr_axis(const HoloCall *call, const char *name, int64_t fallback, int rank, int *out_axis);
// Axes from an attribute or, where `input` >= 0 and it is given, from an input: sorted, unique, and how
// many (-1: not given at all). Fails when the input's values are not known: *out_known tells.
HOLO_MUST HoloStatus holo_axes(const HoloCall *call, const char *attr, int input, int rank, int *out_axes,
                               int *out_count, bool *out_known);

// Output types. An output that nobody wants is passed over.
HOLO_MUST HoloStatus holo_out_type(HoloCall *call, int i, HoloDtype dtype, int rank, const HoloDim *dim);
HOLO_MUST HoloStatus holo_out_like(HoloCall *call, int i, const HoloTensor *like); // dtype, kind and shape
HOLO_MUST HoloStatus holo_out_shape_like(HoloCall *call, int i, HoloDtype dtype, const HoloTensor *shape);
HOLO_MUST HoloStatus holo_out_unknown(HoloCall *call, int i, HoloDtype dtype); // rank not known
// Memory for output i, whose dtype, rank and sizes are set: when evaluating, and data is still NULL.
HOLO_MUST HoloStatus holo_out_alloc(HoloCall *call, int i);

// The size that two sizes broadcast to, by NumPy's rule; false where they do not.
bool holo_broadcast_pair(HoloDims *dims, HoloDim a, HoloDim b, HoloDim *out);
// The shape that the inputs from..to-1 broadcast to.
HOLO_MUST HoloStatus holo_broadcast(const HoloCall *call, int from, int to, int *out_rank, HoloDim *out_dim);
// Output 0 has the type of input 0.
HOLO_MUST HoloStatus holo_infer_same(HoloCall *call);

// For loops that holo_spread does not run: fails, from time to time, when the run is to end.
static inline bool holo_call_is_over(const HoloCall *call)
{
    return call->host && holo_stop_is_due(call->host->stop);
}
HOLO_MUST HoloStatus holo_call_continue(const HoloCall *call); // HOLO_CANCELLED: it is

HOLO_MUST HoloStatus holo_call_temp(const HoloCall *call, size_t count, size_t size, void **out);
HOLO_MUST HoloStatus holo_call_hold(const HoloCall *call, size_t count, size_t size, void **out); // for prepare
// Is the dtype of t one of the set? Else fails by naming input, dtype and operator.
HOLO_MUST HoloStatus holo_expect_types(const HoloCall *call, int input, uint64_t types);
HOLO_MUST HoloStatus holo_expect_rank(const HoloCall *call, int input, int rank_min, int rank_max);
// Has input `input`, where it is given, one element? Sizes that are not numbers yet fit any, here and below.
HOLO_MUST HoloStatus holo_expect_one(const HoloCall *call, int input);
HOLO_MUST HoloStatus holo_expect_shape(const HoloCall *call, int input, int rank, const HoloDim *dim);

#endif
