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

enum { HOLO_TF_DEPTH_MAX = 64 }; // functions and bodies in each other

typedef struct HoloTf      HoloTf;
typedef struct HoloTfCall  HoloTfCall;
typedef struct HoloTfScope HoloTfScope;

// ---- operators

enum {                 // HoloTfOp.flags
    HOLO_TF_LAZY  = 1, // the emitter asks for the inputs that it needs
    HOLO_TF_STATE = 2, // it makes or changes resources: it never ends a graph as an output
};

typedef struct HoloTfOp {
    const char *name;
    void (*emit)(HoloTfCall *call); // fails through call->e
    const char *onnx;               // an operator, for emitters that serve several rows
    int         number;             // the same for a number
    const char *outs;               // names of the outputs, as functions refer to them; NULL: there is one list
    unsigned    flags;
} HoloTfOp;

extern const HoloTfOp *const holo_tf_tables[]; // each ended by a row without a name; ends with NULL
const HoloTfOp              *holo_tf_find(HoloTf *tf, HoloString name); // NULL: there is none

// ---- nodes and functions

typedef struct HoloTfNode {
    HoloString      name, op;
    HoloString     *in; // "node", "node:1", in functions "node:name:1"
    int             in_count;
    HoloString     *control; // nodes that it waits for
    int             control_count;
    HoloPbMany      attr;
    const HoloTfOp *row; // NULL: a function, or not known
    int             index;
} HoloTfNode;

typedef struct HoloTfFrame HoloTfFrame;

typedef struct HoloTfNodes { // of a graph or of a function
    HoloTfNode  *node;
    int          count;
    HoloNameMap  names;
    HoloTfFrame *frames; // loops; see tf_frames.c
    bool         has_frames;
} HoloTfNodes;

typedef struct HoloTfFunction {
    HoloString  name;
    HoloTfNodes nodes;
    HoloString *arg; // names of its arguments
    int         arg_count;
    HoloString *ret; // what its outputs refer to
    int         ret_count;
    bool        is_read;
    HoloString  message;
} HoloTfFunction;

HOLO_MUST HoloStatus holo_tf_read_nodes(HoloTf *tf, HoloPbMany list, HoloTfNodes *out);
HOLO_MUST HoloStatus holo_tf_read_library(HoloTf *tf, HoloString message);
// NULL: there is none of that name, or the status says why not.
HoloTfFunction *holo_tf_function(HoloTf *tf, HoloString name, HoloStatus *status);
// Cuts "node:name:1" or "node:1" into its parts.
typedef struct HoloTfRef {
    HoloString node, out;
    int64_t    index;
} HoloTfRef;
HoloTfRef holo_tf_ref(HoloString text);

// ---- values

typedef enum HoloTfKind {
    HOLO_TF_NOTHING = 0,
    HOLO_TF_TENSOR,
    HOLO_TF_VARIABLE, // object: its HoloTfNode
    HOLO_TF_TABLE,    // object: a HoloTfTable
    HOLO_TF_LIST,     // a TensorList, or the contents of a TensorArray: object is a HoloTfList
} HoloTfKind;

typedef struct HoloTfValue {
    HoloTfKind kind;
    HoloValue *value;
    void      *object;
} HoloTfValue;

typedef struct HoloTfTable {
    HoloValue *keys, *values, *fallback;
} HoloTfTable;

// A list has a tensor of all elements in HoloTfValue.value, [count, ...], or NULL if nothing was put in yet.
typedef struct HoloTfList {
    HoloValue *count; // i64 scalar; NULL: follows from the elements
    HoloDtype  dtype;
    HoloTensor shape; // of an element: rank -1 or sizes HOLO_DIM_UNKNOWN where not known
} HoloTfList;

// Where names have a meaning: the graph, a call of a function, or a turn of a loop.
struct HoloTfScope {
    HoloTf            *tf;
    HoloEmit          *e;
    const HoloTfNodes *nodes;
    HoloTfValue      **out;       // by node; NULL: not computed yet
    int               *out_count; // by node
    uint8_t           *state;     // by node: 1 while it is being computed, 2 behind that
    HoloTfScope       *outer;     // of a turn of a loop or of a branch: the scope around it, with the same nodes
    const HoloTfFrame *frame;     // of a turn of a loop
    const HoloTfNode  *pred;      // of a branch: the condition of its Switches
    int64_t            pred_index;
    bool               branch;
    HoloTfFunction    *function; // of a call
    HoloTfValue       *arg;
    HoloPbMany         call_attr; // of a call: what placeholders of attributes stand for
    const HoloTfScope *caller;
    const char        *prefix; // of names
};

struct HoloTf {
    HoloImport  *import;
    HoloArena   *arena;
    HoloError   *error;
    HoloPbSource source;
    HoloNameMap  functions, rows;
    HoloTfScope  main;
    HoloEmit     emit;
    int          depth;
    int64_t      work, work_max; // nodes that were emitted, functions as often as they are called
    HoloNameMap  tables;         // of initialized hash tables, by the name of their node
    // Where the format keeps weights: sets *found for a constant or variable that it has. `key` is the name of the
    // node, behind the name of its function and a slash. May be NULL.
    HoloStatus (*weight)(HoloTf *tf, HoloString key, HoloDtype dtype, HoloTensor *out, bool *found);
    // The value of a variable; the same.
    HoloStatus (*variable)(HoloTf *tf, const HoloTfNode *node, HoloTensor *out, bool *found);
    bool  is_js; // TensorFlow.js: it leaves out some of what TensorFlow does
    void *format;
};

void holo_tf_init(HoloTf *tf, HoloImport *import, const void *start);
// Reads a GraphDef.
HOLO_MUST HoloStatus holo_tf_graph(HoloTf *tf, HoloString message);
// Fails if operators that the outputs need are not known: the message has all of them.
HOLO_MUST HoloStatus holo_tf_check(HoloTf *tf, const HoloString *outputs, int count);
// Inputs and outputs of a model: names that callers use, and what they refer to.
typedef struct HoloTfPort {
    const char *name;
    HoloString  ref;
    HoloTensor  type; // dtype HOLO_NONE: as the node says
} HoloTfPort;
typedef struct HoloTfPorts {
    HoloTfPort *in, *out;
    int         in_count, out_count, in_room, out_room;
} HoloTfPorts;
// Placeholders, and nodes that nobody uses: what a graph without a signature has.
HOLO_MUST HoloStatus holo_tf_guess_ports(HoloTf *tf, HoloTfPorts *out);
// Emits everything and sets the graph of the import.
HOLO_MUST HoloStatus holo_tf_build(HoloTf *tf, const HoloTfPorts *ports);

bool      holo_tf_is(HoloString a, const char *b);
char     *holo_tf_text(HoloTf *tf, HoloString text); // NULL: no memory
HoloDtype holo_tf_dtype(int64_t type);               // HOLO_NONE: there is no such type here

// ---- scopes

HOLO_MUST HoloStatus holo_tf_scope_init(HoloTf *tf, HoloTfScope *scope, const HoloTfNodes *nodes, HoloEmit *e);
// The value that a name refers to; emits what it needs. After a failure e->status is set.
HoloTfValue holo_tf_value(HoloTfScope *scope, HoloString ref);
// Inlines a function. `out` gets its outputs, at most `room`; returns how many there are.
int holo_tf_call(HoloTfScope *scope, HoloString function, HoloPbMany attr, const HoloTfValue *args, int arg_count,
                 HoloTfValue *out, int room);

// ---- frames: loops and branches made of Enter, Merge, Switch, Exit

typedef struct HoloTfLoopVar {
    const HoloTfNode *enter, *merge, *next, *exit; // exit may be NULL
} HoloTfLoopVar;

struct HoloTfFrame {
    HoloTfFrame      *following;
    HoloString        name;
    const HoloTfNode *condition; // LoopCond
    HoloTfLoopVar    *var;
    int               var_count, var_room;
};

HOLO_MUST HoloStatus holo_tf_find_frames(HoloTf *tf, HoloTfNodes *nodes);

// A loop in both forms: how the condition and the next values follow from the values of a turn.
typedef struct HoloTfLoop {
    int count; // of variables
    void (*condition)(void *context, HoloEmit *e, const HoloTfValue *var, HoloTfValue *out);
    void (*next)(void *context, HoloEmit *e, const HoloTfValue *var, HoloTfValue *out); // `count` values
    void *context;
} HoloTfLoop;
// Emits it; `var` are the first values, and then the last ones.
void holo_tf_loop(HoloTfCall *c, const HoloTfLoop *loop, HoloTfValue *var);
// A branch in both forms.
typedef struct HoloTfBranch {
    int count; // of outputs
    void (*branch)(void *context, HoloEmit *e, bool which, HoloTfValue *out);
    void *context;
} HoloTfBranch;
void holo_tf_branch(HoloTfCall *c, HoloValue *condition, const HoloTfBranch *branch, HoloTfValue *out);

// ---- what emitters use

struct HoloTfCall {
    HoloTf           *tf;
    HoloEmit         *e;
    HoloTfScope      *scope;
    const HoloTfNode *node;
    const HoloTfOp   *op;
    HoloTfValue      *in;
    int               in_count;
    HoloTfValue      *out;
    int               out_count;
};

void holo_tf_fail(HoloTfCall *c, HoloStatus status, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Input i, a tensor. NULL: it is missing, and the emission has failed.
HoloValue *holo_tf_in(HoloTfCall *c, int i);
bool       holo_tf_has(const HoloTfCall *c, int i);
void       holo_tf_out(HoloTfCall *c, int i, HoloValue *value); // makes room for it
void       holo_tf_out_value(HoloTfCall *c, int i, HoloTfValue value);

// Attributes. A placeholder stands for an attribute of the function's call.
bool       holo_tf_attr(HoloTfCall *c, const char *name, HoloTfAttrProto *out); // false: it is not given
int64_t    holo_tf_int(HoloTfCall *c, const char *name, int64_t fallback);
bool       holo_tf_bool(HoloTfCall *c, const char *name, bool fallback);
double     holo_tf_float(HoloTfCall *c, const char *name, double fallback);
HoloString holo_tf_string(HoloTfCall *c, const char *name, const char *fallback);
HoloDtype  holo_tf_type(HoloTfCall *c, const char *name);                         // HOLO_NONE: not given
int        holo_tf_ints(HoloTfCall *c, const char *name, int64_t *out, int room); // count; -1: not given
int        holo_tf_strings(HoloTfCall *c, const char *name, HoloString *out, int room);
bool       holo_tf_shape(HoloTfCall *c, const char *name, HoloTensor *out); // rank -1: not known
bool       holo_tf_func(HoloTfCall *c, const char *name, HoloTfCallProto *out);

HOLO_MUST HoloStatus holo_tf_tensor(HoloTf *tf, HoloString name, HoloString message, HoloTensor *out);
HOLO_MUST HoloStatus holo_tf_read_shape(HoloTf *tf, HoloString message, HoloTensor *out);

// Contents that must be known when importing: whole numbers of input i. -1 and a failure: they are not.
int holo_tf_known(HoloTfCall *c, int i, int64_t *out, int room);
// Brings an axis into [0, rank); a failure if it is not one.
int holo_tf_axis(HoloTfCall *c, int64_t axis, int rank);
// Known rank of a value, or a failure.
int holo_tf_rank(HoloTfCall *c, const HoloValue *x);
// A list of numbers, or a single one, as a vector of i64.
HoloValue *holo_tf_vector(HoloTfCall *c, HoloValue *x);
// Casts both to one type if TensorFlow.js mixed them up.
void holo_tf_same_type(HoloTfCall *c, HoloValue **a, HoloValue **b);

#endif
