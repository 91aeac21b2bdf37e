// tflite.h - an import of TensorFlow Lite in progress: what the tflite_*.c files share.
//
// tflite_model.c has the row of the table of importers and what models say of themselves, tflite_tensors.c reads tensors,
// tflite_sparse.c sparse ones, tflite_graph.c subgraphs, tflite_values.c gives operators their values, real or quantized.
// tflite_builtins.c is the table of builtin operators, tflite_custom.c that of custom ones; the other files emit them.
//
// A tensor of integers with a scale stands for real numbers. Operators either take the integers as they are, if they only
// move them, or compute on what DequantizeLinear gives and quantize the result: the compiler turns that into arithmetic
// of integers. Images have their channels last; convolutions are emitted with a Transpose before and behind, which the
// compiler removes.
#ifndef HOLO_IMPORT_TFLITE_TFLITE_H
#define HOLO_IMPORT_TFLITE_TFLITE_H

#include "import/emit.h"
#include "import/tflite/tflite_schema.h"
#include "import/wire/flatbuffer.h"

enum {
    HOLO_TF_DEPTH_MAX = 16, // of subgraphs inside of subgraphs
    HOLO_TF_RANK_MAX  = 8,
    HOLO_TF_ROOM      = 1024 // of lists of small numbers, such as shapes and axes
};

typedef struct HoloTfScale { // how integers stand for real numbers; count 0: they do not
    HoloFlatList scale, zero;
    int          count, axis;
    double       first, first_zero; // those of the first
} HoloTfScale;

typedef struct HoloTfTensor {
    const char   *name;
    int           type; // TYPE_F32 ...
    HoloDtype     dtype;
    HoloTensor    shape; // with symbols, if sizes are open; rank -1: not known; no data
    HoloTfScale   scaled;
    HoloFlatTable table;
    bool          is_variable;
    bool          is_constant;
    HoloValue    *value;    // as the file has it; NULL: nobody has asked for it, or made it, yet
    HoloValue    *real;     // dequantized; NULL: nobody has asked for it yet
    int           resource; // 1 + the number of the variable or table that it names; 0: none
} HoloTfTensor;

// What is kept between runs: a variable, or a tensor that an operator changes.
typedef struct HoloTfVariable {
    const char *key;
    HoloTensor  type;
    HoloValue  *state;   // input of the model's graph
    HoloValue  *before;  // what it was when the run began
    HoloValue  *value;   // what it is now, in the order of operators
    HoloTensor  initial; // rank -1: zeros
    bool        is_assigned;
} HoloTfVariable;

typedef struct HoloTfTable { // a hash table
    const char *key;
    HoloTensor  keys, values; // rank -1: not there yet
} HoloTfTable;

typedef struct HoloTf {
    HoloImport     *import;
    HoloFlat        flat;
    HoloFlatTable   model;
    HoloFlatList    buffers, subgraphs, codes;
    HoloEmit       *main; // the model's own graph
    HoloTfVariable *variable;
    int             variable_count, variable_room;
    HoloTfTable    *tables;
    int             table_count, table_room;
    bool            is_open;   // sizes that the file leaves open are symbols
    bool            is_pinned; // an operator needs one of them as it is
    int64_t         work;      // operators that may still be emitted
} HoloTf;

typedef struct HoloTfScope { // a subgraph
    HoloTf             *im;
    HoloEmit           *emit;
    struct HoloTfScope *outer;
    HoloFlatTable       subgraph;
    HoloTfTensor       *tensor;
    int                 count;
    int                 depth;
    bool                is_once; // it runs once, before the model: what it assigns are initial values
} HoloTfScope;

typedef struct HoloTfOp HoloTfOp;

typedef struct HoloTfRow { // of a table of operators
    int         code;
    const char *name;
    int         options; // the kind of its options in their union, 0: it has none; less than 0: in the second union
    void (*emit)(HoloTfOp *op);
    const char *arg; // for rows that share a function
    int         in_min, out_min;
} HoloTfRow;

struct HoloTfOp {
    HoloTf          *im;
    HoloTfScope     *scope;
    HoloEmit        *e;
    const HoloTfRow *row;
    HoloFlatTable    table, options;
    HoloFlatList     in, out, custom;
    int              version;
};

extern const HoloTfRow holo_tf_builtins[]; // by code
extern const int       holo_tf_builtin_count;
const HoloTfRow       *holo_tf_builtin(int64_t code);   // NULL: there is none
const HoloTfRow       *holo_tf_custom(HoloString name); // NULL: there is none

// ---- tensors

HoloDtype holo_tf_dtype(int64_t type); // HOLO_NONE: there is none
// Reads what a subgraph says of its tensors.
HOLO_MUST HoloStatus holo_tf_tensors(HoloTfScope *scope);
// The contents of a constant, as a tensor.
HOLO_MUST HoloStatus holo_tf_contents(HoloTf *im, const HoloTfTensor *tensor, HoloTensor *out);
// Makes a dense tensor of the sparse bytes of one. `out` has its type.
HOLO_MUST HoloStatus holo_tf_dense(HoloTf *im, const HoloTfTensor *tensor, const void *bytes, size_t size,
                                   HoloTensor *out);
// The bytes of a buffer of the model.
HOLO_MUST HoloStatus holo_tf_buffer(HoloTf *im, int64_t index, const void **out, size_t *out_size);

// ---- subgraphs

// Emits the operators of a subgraph whose inputs are these values, into the graph of `emit`, and gives its outputs.
HOLO_MUST HoloStatus holo_tf_inline(HoloTfOp *op, int64_t subgraph, HoloEmit *emit, HoloValue *const *in, int in_count,
                                    HoloValue **out, int out_count, bool is_once);
// How many outputs a subgraph has; -1: there is no such subgraph.
int holo_tf_output_count(HoloTf *im, int64_t subgraph);
// The type of an input of a subgraph, as the file has it.
HOLO_MUST HoloStatus holo_tf_model(HoloTf *im, HoloEmit *emit);

// ---- values of an operator

HoloTfTensor *holo_tf_tensor_in(const HoloTfOp *op, int i);  // NULL: it is left out
HoloTfTensor *holo_tf_tensor_out(const HoloTfOp *op, int i); // NULL: there is none
bool          holo_tf_has(const HoloTfOp *op, int i);        // is input i given?
HoloValue    *holo_tf_in(HoloTfOp *op, int i);               // as the file has it; NULL: left out, or a failure
HoloValue    *holo_tf_real(HoloTfOp *op, int i);             // the real numbers, f32 if they are quantized
HoloValue    *holo_tf_i64(HoloTfOp *op, int i);              // as i64
HoloValue    *holo_tf_value(HoloTfOp *op, HoloTfTensor *tensor);
bool          holo_tf_is_scaled(const HoloTfTensor *tensor); // do its integers stand for real numbers?
bool          holo_tf_same_scale(const HoloTfTensor *a, const HoloTfTensor *b);
void          holo_tf_give(HoloTfOp *op, int i, HoloValue *value);      // as the file has it
void          holo_tf_give_real(HoloTfOp *op, int i, HoloValue *value); // quantized, if the file has it so
// The same behind an activation: none, RELU, RELU6 ...
void       holo_tf_give_active(HoloTfOp *op, int i, HoloValue *value, int64_t activation);
HoloValue *holo_tf_activate(HoloTfOp *op, HoloValue *value, int64_t activation);
// Dequantizes a value with the scale of a tensor, whose dimension of scales is `axis` now.
HoloValue *holo_tf_dequantize(HoloTfOp *op, const HoloTfTensor *tensor, HoloValue *value, int axis);
HoloValue *holo_tf_quantize(HoloTfOp *op, const HoloTfTensor *tensor, HoloValue *value);

// Whole numbers of input i, if they are known now. False: they are not.
bool holo_tf_ints(HoloTfOp *op, int i, int64_t *out, int room, int *out_count);
// The same, and a failure if they are not known.
bool holo_tf_need_ints(HoloTfOp *op, int i, int64_t *out, int room, int *out_count);
int  holo_tf_rank(HoloTfOp *op, const HoloValue *value); // -1 and a failure: not known
// An axis counted from the front; -1 and a failure: it is none.
int64_t holo_tf_axis(HoloTfOp *op, int64_t axis, int rank);

void *holo_tf_fail(HoloTfOp *op, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Transposes; constants at once.
HoloValue *holo_tf_transpose(HoloTfOp *op, HoloValue *x, const int64_t *perm, int rank);
HoloValue *holo_tf_first(HoloTfOp *op, HoloValue *x); // channels first, any rank from 3 on
HoloValue *holo_tf_last(HoloTfOp *op, HoloValue *x);
// Nodes that many operators need.
HoloValue *holo_tf_one(HoloTfOp *op, const char *name, HoloValue *x);               // without attributes
HoloValue *holo_tf_two(HoloTfOp *op, const char *name, HoloValue *a, HoloValue *b); // without attributes
HoloValue *holo_tf_f32(HoloTfOp *op, double number);
HoloValue *holo_tf_like(HoloTfOp *op, const HoloValue *like, double number); // of its type, without dimensions
HoloValue *holo_tf_zeros(HoloTfOp *op, HoloDtype dtype, const HoloDim *sizes, int rank);

#endif
