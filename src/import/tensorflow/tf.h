// tf.h - an import of a TensorFlow graph in progress: what the files of this folder share.
//
// tf_nodes.c reads nodes and functions, tf_attr.c attributes and tensors. tf_scope.c computes the value of an output of
// a node on demand, from the model's outputs backwards, and calls the emitter of each operator that is needed: a row of
// the tables in tf_ops_*.c. Functions are inlined. tf_frames.c turns loops and branches made of Switch and Merge into
// Loop and If. graphdef.c, saved_model.c and tfjs_graph.c are the formats.
#ifndef HOLO_IMPORT_TENSORFLOW_TF_H
#define HOLO_IMPORT_TENSORFLOW_TF_H

#include "import/emit.h"
#include "import/tensorflow/tf_proto.h"

#include <string.h>

enum { HOLO_FLOW_DEPTH_MAX = 64 }; // functions and bodies in each other

typedef struct HoloFlow      HoloFlow;
typedef struct HoloFlowCall  HoloFlowCall;
typedef struct HoloFlowScope HoloFlowScope;

// ---- operators

enum {                   // HoloFlowOp.flags
    HOLO_FLOW_LAZY  = 1, // the emitter asks for the inputs that it needs
    HOLO_FLOW_STATE = 2, // it makes or changes resources: it never ends a graph as an output
};

typedef struct HoloFlowOp {
    const char *name;
    void (*emit)(HoloFlowCall *call); // fails through call->e
    const char *onnx;                 // an operator, for emitters that serve several rows
    int         number;               // the same for a number
    const char *outs;                 // names of the outputs, as functions refer to them; NULL: there is one list
    unsigned    flags;
} HoloFlowOp;

extern const HoloFlowOp *const holo_flow_tables[];                // each ended by a row without a name; ends with NULL
HOLO_MUST HoloStatus           holo_flow_list_rows(HoloFlow *tf); // for holo_flow_find
const HoloFlowOp              *holo_flow_find(HoloFlow *tf, HoloString name); // NULL: there is none

// ---- nodes and functions

typedef struct HoloFlowNode {
    HoloString        name, op;
    HoloString       *in; // "node", "node:1", in functions "node:name:1"
    int               in_count;
    HoloString       *control; // nodes that it waits for
    int               control_count;
    HoloPbMany        attr;
    const HoloFlowOp *row; // NULL: a function, or not known
    int               index;
} HoloFlowNode;

typedef struct HoloFlowFrame HoloFlowFrame;

typedef struct HoloFlowNodes { // of a graph or of a function
    HoloFlowNode  *node;
    int            count;
    HoloNameMap    names;
    HoloFlowFrame *frames; // loops; see tf_frames.c
    bool           has_frames;
} HoloFlowNodes;

typedef struct HoloFlowFunction {
    HoloString    name;
    HoloFlowNodes nodes;
    HoloString   *arg; // names of its arguments
    int           arg_count;
    HoloString   *ret; // what its outputs refer to
    int           ret_count;
    bool          is_read;
    HoloString    message;
} HoloFlowFunction;

HOLO_MUST HoloStatus holo_flow_read_nodes(HoloFlow *tf, HoloPbMany list, HoloFlowNodes *out);
HOLO_MUST HoloStatus holo_flow_read_library(HoloFlow *tf, HoloString message);
// NULL: there is none of that name, or the status says why not.
HoloFlowFunction *holo_flow_function(HoloFlow *tf, HoloString name, HoloStatus *status);
// Cuts "node:name:1" or "node:1" into its parts.
typedef struct HoloFlowRef {
    HoloString node, out;
    int64_t    index;
} HoloFlowRef;
HoloFlowRef holo_flow_ref(HoloString text);

// ---- values

typedef enum HoloFlowKind {
    HOLO_FLOW_NOTHING = 0,
    HOLO_FLOW_TENSOR,
    HOLO_FLOW_VARIABLE,  // object: its HoloFlowNode
    HOLO_FLOW_TABLE,     // object: a HoloFlowTable
    HOLO_FLOW_COMPLEX,   // complex numbers: pairs, [..., 2]
    HOLO_FLOW_QUANTIZED, // steps of a range: the real numbers that they stand for (tf_ops_quantized.c)
    HOLO_FLOW_LIST,      // a TensorList, or the contents of a TensorArray: object is a HoloFlowList
} HoloFlowKind;

typedef struct HoloFlowValue {
    HoloFlowKind kind;
    HoloValue   *value;
    void        *object;
} HoloFlowValue;

typedef struct HoloFlowTable {
    HoloValue *keys, *values, *fallback;
} HoloFlowTable;

// A list has a tensor of all elements in HoloFlowValue.value, [count, ...], or NULL if nothing was put in yet.
typedef struct HoloFlowList {
    HoloValue *count; // i64 scalar; NULL: follows from the elements
    HoloDtype  dtype;
    HoloTensor shape; // of an element: rank -1 or sizes HOLO_DIM_UNKNOWN where not known
} HoloFlowList;

// Where names have a meaning: the graph, a call of a function, or a turn of a loop.
struct HoloFlowScope {
    HoloFlow            *tf;
    HoloEmit            *e;
    const HoloFlowNodes *nodes;
    HoloFlowValue      **out;       // by node; NULL: not computed yet
    int                 *out_count; // by node
    uint8_t             *state;     // by node: 1 while it is being computed, 2 behind that
    HoloFlowScope       *outer;     // of a turn of a loop or of a branch: the scope around it, with the same nodes
    const HoloFlowFrame *frame;     // of a turn of a loop
    const HoloFlowNode  *pred;      // of a branch: the condition of its Switches
    int64_t              pred_index;
    bool                 branch;
    HoloFlowFunction    *function; // of a call
    HoloFlowValue       *arg;
    HoloPbMany           call_attr; // of a call: what placeholders of attributes stand for
    const HoloFlowScope *caller;
    const char          *prefix; // of names
};

struct HoloFlow {
    HoloImport   *import;
    HoloArena    *arena;
    HoloError    *error;
    HoloPbSource  source;
    HoloNameMap   functions, rows;
    HoloFlowScope main;
    HoloEmit      emit;
    int           depth;
    int64_t       work, work_max; // nodes that were emitted, functions as often as they are called
    HoloNameMap   tables;         // of initialized hash tables, by the name of their node
    // Where the format keeps weights: sets *found for a constant or variable that it has. `key` is the name of the
    // node, behind the name of its function and a slash. May be NULL.
    HoloStatus (*weight)(HoloFlow *tf, HoloString key, HoloDtype dtype, HoloTensor *out, bool *found);
    // The value of a variable; the same.
    HoloStatus (*variable)(HoloFlow *tf, const HoloFlowNode *node, HoloTensor *out, bool *found);
    bool  is_js; // TensorFlow.js: it leaves out some of what TensorFlow does
    void *format;
};

void holo_flow_init(HoloFlow *tf, HoloImport *import, const void *start);
// Reads a GraphDef.
HOLO_MUST HoloStatus holo_flow_graph(HoloFlow *tf, HoloString message);
// Inputs and outputs of a model: names that callers use, and what they refer to.
typedef struct HoloFlowPort {
    const char *name;
    HoloString  ref;
    HoloTensor  type; // dtype HOLO_NONE: as the node says
} HoloFlowPort;
typedef struct HoloFlowPorts {
    HoloFlowPort *in, *out;
    int           in_count, out_count, in_room, out_room;
} HoloFlowPorts;
// Placeholders, and nodes that nobody uses: what a graph without a signature has.
HOLO_MUST HoloStatus holo_flow_guess_ports(HoloFlow *tf, HoloFlowPorts *out);
// Emits everything and sets the graph of the import.
HOLO_MUST HoloStatus holo_flow_build(HoloFlow *tf, const HoloFlowPorts *ports);

bool      holo_flow_is(HoloString a, const char *b);
char     *holo_flow_text(HoloFlow *tf, HoloString text); // NULL: no memory
HoloDtype holo_flow_dtype(int64_t type);                 // HOLO_NONE: there is no such type here

// ---- scopes

HOLO_MUST HoloStatus holo_flow_scope_init(HoloFlow *tf, HoloFlowScope *scope, const HoloFlowNodes *nodes, HoloEmit *e);
// The value that a name refers to; emits what it needs. After a failure e->status is set.
HoloFlowValue holo_flow_value(HoloFlowScope *scope, HoloString ref);
// Inlines a function. `out` gets its outputs, at most `room`; returns how many there are.
int holo_flow_call(HoloFlowScope *scope, HoloString function, HoloPbMany attr, const HoloFlowValue *args, int arg_count,
                   HoloFlowValue *out, int room);

// ---- frames: loops and branches made of Enter, Merge, Switch, Exit

typedef struct HoloFlowLoopVar {
    const HoloFlowNode *enter, *merge, *next, *exit; // exit may be NULL
} HoloFlowLoopVar;

struct HoloFlowFrame {
    HoloFlowFrame      *following;
    HoloString          name;
    const HoloFlowNode *condition; // LoopCond
    HoloFlowLoopVar    *var;
    int                 var_count, var_room;
};

HOLO_MUST HoloStatus holo_flow_find_frames(HoloFlow *tf, HoloFlowNodes *nodes);

// A loop in both forms: how the condition and the next values follow from the values of a turn.
typedef struct HoloFlowLoop {
    int count; // of variables
    void (*condition)(void *context, HoloEmit *e, const HoloFlowValue *var, HoloFlowValue *out);
    void (*next)(void *context, HoloEmit *e, const HoloFlowValue *var, HoloFlowValue *out); // `count` values
    void *context;
} HoloFlowLoop;
// Emits it; `var` are the first values, and then the last ones.
void holo_flow_loop(HoloFlowCall *c, const HoloFlowLoop *loop, HoloFlowValue *var);
// A branch in both forms.
typedef struct HoloFlowBranch {
    int count; // of outputs
    void (*branch)(void *context, HoloEmit *e, bool which, HoloFlowValue *out);
    void *context;
} HoloFlowBranch;
void holo_flow_branch(HoloFlowCall *c, HoloValue *condition, const HoloFlowBranch *branch, HoloFlowValue *out);

// ---- what emitters use

struct HoloFlowCall {
    HoloFlow           *tf;
    HoloEmit           *e;
    HoloFlowScope      *scope;
    const HoloFlowNode *node;
    const HoloFlowOp   *op;
    HoloFlowValue      *in;
    int                 in_count;
    HoloFlowValue      *out;
    int                 out_count;
};

void holo_flow_fail(HoloFlowCall *c, HoloStatus status, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Input i, a tensor. NULL: it is missing, and the emission has failed.
HoloValue *holo_flow_in(HoloFlowCall *c, int i);
bool       holo_flow_has(const HoloFlowCall *c, int i);
void       holo_flow_out(HoloFlowCall *c, int i, HoloValue *value); // makes room for it
void       holo_flow_out_value(HoloFlowCall *c, int i, HoloFlowValue value);

// Attributes. A placeholder stands for an attribute of the function's call.
bool       holo_flow_attr(HoloFlowCall *c, const char *name, HoloFlowAttrProto *out); // false: it is not given
int64_t    holo_flow_int(HoloFlowCall *c, const char *name, int64_t fallback);
bool       holo_flow_bool(HoloFlowCall *c, const char *name, bool fallback);
double     holo_flow_float(HoloFlowCall *c, const char *name, double fallback);
HoloString holo_flow_string(HoloFlowCall *c, const char *name, const char *fallback);
HoloDtype  holo_flow_type(HoloFlowCall *c, const char *name);                         // HOLO_NONE: not given
int        holo_flow_ints(HoloFlowCall *c, const char *name, int64_t *out, int room); // count; -1: not given
int        holo_flow_strings(HoloFlowCall *c, const char *name, HoloString *out, int room);
bool       holo_flow_shape(HoloFlowCall *c, const char *name, HoloTensor *out); // rank -1: not known
bool       holo_flow_func(HoloFlowCall *c, const char *name, HoloFlowCallProto *out);
// A list of functions; more than `room`: there are too many. -1: not given, or a failure.
int holo_flow_funcs(HoloFlowCall *c, const char *name, HoloFlowCallProto *out, int room);

// Emits a node that has to do with complex numbers, and whose operator is one of real numbers. False: it has not.
bool holo_flow_on_complex(HoloFlowCall *c);

HOLO_MUST HoloStatus holo_flow_tensor(HoloFlow *tf, HoloString name, HoloString message, HoloTensor *out);
HOLO_MUST HoloStatus holo_flow_read_shape(HoloFlow *tf, HoloString message, HoloTensor *out);

// Contents that must be known when importing: whole numbers of input i. -1 and a failure: they are not.
int holo_flow_known(HoloFlowCall *c, int i, int64_t *out, int room);
// Brings an axis into [0, rank); a failure if it is not one.
int holo_flow_axis(HoloFlowCall *c, int64_t axis, int rank);
// Known rank of a value, or a failure.
int holo_flow_rank(HoloFlowCall *c, const HoloValue *x);
// A list of numbers, or a single one, as a vector of i64.
HoloValue *holo_flow_vector(HoloFlowCall *c, HoloValue *x);
// Casts both to one type if TensorFlow.js mixed them up.
void holo_flow_same_type(HoloFlowCall *c, HoloValue **a, HoloValue **b);

#endif
