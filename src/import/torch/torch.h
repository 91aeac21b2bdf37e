// torch.h - what the two front ends of PyTorch share: values as Python has them, tensors with views, and the table of
// ATen operators, which both call.
//
// pt2_*.c reads programs of torch.export, script_*.c runs the code of TorchScript. Both call operators by name with
// values; an operator's row emits nodes for it (aten_*.c). The first failure stays in t->e->status, as in emit.h.
//
// Tensors of PyTorch may share memory: a view sees what is later written to its base, and the other way around. A
// HoloTorchTensor remembers how it was made from its base, and is made again after the base has changed. Writing
// through a view writes the elements of the base that it shows.
#ifndef HOLO_IMPORT_TORCH_H
#define HOLO_IMPORT_TORCH_H

#include "import/emit.h"
#include "import/wire/checkpoint.h"

typedef struct HoloTorch       HoloTorch;
typedef struct HoloTorchTensor HoloTorchTensor;
typedef struct HoloTorchOp     HoloTorchOp;
typedef struct HoloTorchList   HoloTorchList;
typedef struct HoloTorchObject HoloTorchObject;

typedef enum HoloTorchKind {
    HOLO_TORCH_NONE,
    HOLO_TORCH_BOOL,      // i
    HOLO_TORCH_INT,       // i; element types are whole numbers, too: PyTorch's
    HOLO_TORCH_FLOAT,     // f
    HOLO_TORCH_TEXT,      // s; devices, too
    HOLO_TORCH_TENSOR,    // tensor
    HOLO_TORCH_NUMBER,    // number: a number of Python that only a run knows, as a tensor without dimensions
    HOLO_TORCH_LIST,      // list
    HOLO_TORCH_TUPLE,     // list
    HOLO_TORCH_DICT,      // list: a key, its value, and so on
    HOLO_TORCH_OBJECT,    // object: of a class of the script
    HOLO_TORCH_NAME,      // s: something dotted that is not resolved yet, "torch.add"
    HOLO_TORCH_METHOD,    // a method with its object
    HOLO_TORCH_GRAPH,     // graph: of a higher-order operator of a .pt2
    HOLO_TORCH_UNKNOWN,   // number: follows from an operator that there is none of
    HOLO_TORCH_TYPE,      // a type, as annotations have it
    HOLO_TORCH_COMPLEX,   // list: two tensors, the real and the imaginary parts
    HOLO_TORCH_QUANTIZED, // list: whole numbers, their scale and zero point, and the axis of these or None
} HoloTorchKind;

typedef struct HoloTv { // a value of Python
    HoloTorchKind kind;
    union {
        int64_t          i;
        double           f;
        HoloString       s;
        HoloTorchTensor *tensor;
        HoloValue       *number;
        HoloTorchList   *list;
        HoloTorchObject *object;
        const void      *graph;
        struct { // of a METHOD
            HoloTorchObject *self;
            HoloString       method;
        };
    };
} HoloTv;

struct HoloTorchList { // shared by all who have it, as in Python
    HoloTv     *item;
    int         count, room;
    int         depth;    // of the body in which it was made
    HoloValue  *sequence; // if only a run knows what it has; else NULL
    HoloDtype   numbers;  // the type of the elements, if these are numbers; else NONE
    HoloDtype   grows_by; // the type of what a loop appends; NONE: it does not
    const char *input;    // the name of an input that is this dict; else NULL
};

struct HoloTorchTensor {
    HoloValue         *value; // of a view: valid if `version` is its root's
    HoloTorchTensor   *base;  // of a view: what it shows a part of; else NULL
    const HoloTorchOp *view;  // how it is made of the base: with these arguments but for the first
    const HoloTv      *args;
    int                result;     // which result of the operator it is; -1: it has only one
    int64_t            version;    // counts the changes
    int                depth;      // of the body in which it was made
    HoloValue         *inside;     // of a nested tensor: which tokens there are, bool [batch, tokens]; else NULL
    bool               is_literal; // a number of the code that a trace wrote as a constant tensor
};

// A tensor that was changed inside of a body and made outside of it, with what it was before.
typedef struct HoloTorchChange {
    HoloTorchTensor *tensor;
    HoloValue       *before;
} HoloTorchChange;

// A buffer that the program changes: the session keeps it.
typedef struct HoloTorchState {
    const char      *name;
    HoloTorchTensor *tensor;   // NULL: the one that says whether there was a run before
    HoloValue       *constant; // its value at the beginning
    HoloValue       *input;    // the state; NULL: it is taken for a constant
    HoloValue       *before;   // what was read of it
} HoloTorchState;

struct HoloTorch {
    HoloEmit        *e; // of the graph, or of the body that is being filled
    HoloImport      *import;
    HoloArena       *arena;
    HoloCheckpoint   file;
    int              depth;  // of the body
    HoloTorchChange *change; // inside of the current body
    int              change_count, change_room;
    int64_t          steps, steps_max; // how much was done, and may be
    int              unknown_count;    // operators that there are none of
    int              depth_calls;      // calls of functions inside of each other
    HoloNameMap      ops;              // of the table, by name
    HoloNameMap      constants;        // data of tensors to values, by name
    HoloTorchState  *state;
    int              state_count, state_room;
    HoloNameMap      changed;     // names of buffers that the program changes
    bool             is_guess;    // what inputs are is only assumed
    HoloNameMap      learned;     // names of inputs that turned out to be whole numbers or bools, to their types
    bool             has_learned; // one of them, or a key, in this pass
    const char     **key; // of inputs that are dicts: "x.mask", in the order in which the program asked for them
    int              key_count, key_room;
};

// ---- the table

typedef HoloValue *HoloTorchOne(HoloTorch *t, const HoloTv *a);
typedef void       HoloTorchAny(HoloTorch *t, const HoloTv *a, HoloTv *out);

enum { HOLO_TORCH_PARAMS = 24 };
enum {
    HOLO_TORCH_VIEW      = 1, // the result shows the memory of the first argument
    HOLO_TORCH_SAME      = 2, // and all of its elements in the same order
    HOLO_TORCH_COMPLEXES = 8, // it takes complex numbers as they are
    HOLO_TORCH_FIRST     = 4, // an `_` at the end of the name changes nothing: it is no operator that writes
};

struct HoloTorchOp {
    const char   *name;   // "add": of all overloads
    const char   *params; // "self other|exponent alpha": the names of its parameters in their order
    HoloTorchOne *one;    // emits an operator that gives one tensor
    HoloTorchAny *any;    // or anything
    int           flags;
    const char   *onnx; // for `one` of many rows: the operator of ONNX
};

// Ended by NULL; each table is ended by a row without a name.
extern const HoloTorchOp *const holo_torch_tables[];

HOLO_MUST HoloStatus holo_torch_init(HoloTorch *t, HoloImport *import, HoloEmit *e);
// Counts work; it fails if there is too much of it.
bool holo_torch_step(HoloTorch *t, int64_t count);

typedef struct HoloTorchCall {
    const char        *space; // "aten"
    const char        *name;  // "add", without its overload
    const HoloTv      *args;
    const char *const *names; // of each argument; NULL: by its place. NULL: all by their places
    int                count;
    int                results; // how many are expected, if that is known; else 0
} HoloTorchCall;
// Emits a call of an operator. An operator that there is none of becomes a node of its own name, which the checks of the
// graph tell about; what follows from it is HOLO_TORCH_UNKNOWN.
void               holo_torch_call(HoloTorch *t, const HoloTorchCall *call, HoloTv *out);
const HoloTorchOp *holo_torch_find(HoloTorch *t, const char *name);
// An operator that is written in others (torch_composed.c). False: there is none of that name.
typedef struct HoloTorchComposed {
    const char *name, *code;
} HoloTorchComposed;
bool holo_torch_composed(HoloTorch *t, const HoloTorchCall *call, HoloTv *out);
bool holo_torch_is_composed(const char *name);
// A call from an emitter, with all arguments by their places.
HoloTv holo_torch_apply(HoloTorch *t, const char *name, int count, const HoloTv *args);
// Emits a row with all arguments in their places. They are kept, if the result is a view.
void holo_torch_row(HoloTorch *t, const HoloTorchOp *op, const HoloTv *args, HoloTv *out);
int  holo_torch_place(const char *params, const char *name); // -1: there is no such parameter

// ---- values

HoloTv      holo_tv_int(int64_t i);
HoloTv      holo_tv_bool(bool b);
HoloTv      holo_tv_float(double f);
HoloTv      holo_tv_text(const char *text);
HoloTv      holo_tv_tensor(HoloTorch *t, HoloValue *value); // a new tensor
HoloTv      holo_tv_number(HoloTorch *t, HoloValue *value); // a scalar; an INT, FLOAT or BOOL if it is known
HoloTv      holo_tv_list(HoloTorch *t, HoloTorchKind kind, int count, const HoloTv *items);
bool        holo_tv_append(HoloTorch *t, HoloTorchList *list, HoloTv item);
const char *holo_tv_kind(const HoloTv *v); // "a list", for messages

static inline bool holo_tv_is_none(const HoloTv *v)
{
    return v->kind == HOLO_TORCH_NONE;
}
static inline bool holo_tv_is_tensor(const HoloTv *v)
{
    return v->kind == HOLO_TORCH_TENSOR;
}
static inline bool holo_tv_is_list(const HoloTv *v)
{
    return v->kind == HOLO_TORCH_LIST || v->kind == HOLO_TORCH_TUPLE;
}
bool holo_tv_is_number(const HoloTv *v); // of Python: an INT, FLOAT, BOOL or NUMBER

// ---- arguments of emitters. Each fails if the argument is not of that kind, and names the parameter.

HoloValue *holo_torch_value(HoloTorch *t, const HoloTv *v);                   // of a tensor; NULL for none
HoloValue *holo_torch_scalar(HoloTorch *t, const HoloTv *v, HoloDtype dtype); // a number or a tensor, as this type
int64_t    holo_torch_int(HoloTorch *t, const HoloTv *v, int64_t fallback);   // known now
double     holo_torch_float(HoloTorch *t, const HoloTv *v, double fallback);
bool       holo_torch_bool(HoloTorch *t, const HoloTv *v, bool fallback);
HoloString holo_torch_text(HoloTorch *t, const HoloTv *v, const char *fallback);
bool       holo_torch_text_is(HoloTorch *t, const HoloTv *v, const char *fallback, const char *word);
HoloDtype  holo_torch_dtype(HoloTorch *t, const HoloTv *v, HoloDtype fallback);
// Numbers that are known now: of a list, or one number for all. Returns how many; `room` is HOLO_MAX_RANK * 2.
int holo_torch_ints(HoloTorch *t, const HoloTv *v, int64_t *out);
int holo_torch_floats(HoloTorch *t, const HoloTv *v, double *out);
// i64 [1], of a number
HoloValue *holo_torch_size1(HoloTorch *t, const HoloTv *v);
// i64 [count], of a list of numbers
HoloValue *holo_torch_sizes(HoloTorch *t, const HoloTv *v);
// The values of a list of tensors, in the arena
HoloValue **holo_torch_values(HoloTorch *t, const HoloTv *v, int *out_count);
int         holo_torch_rank(HoloTorch *t, const HoloValue *x); // fails if it is not known, and returns 0
int         holo_torch_axis(HoloTorch *t, const HoloTv *v, int64_t fallback, int rank); // in [0, rank)
// Axes of a list, a number or none (all): in order. Returns how many.
int holo_torch_axes(HoloTorch *t, const HoloTv *v, int rank, int64_t *out);

// ---- types

HoloDtype holo_torch_dtype_of(int64_t scalar_type); // of c10; HOLO_NONE: there is none
int64_t   holo_torch_scalar_type(HoloDtype dtype);  // of c10
HoloDtype holo_torch_promote(HoloDtype a, HoloDtype b);
HoloDtype holo_torch_result(HoloTorch *t, const HoloTv *args, int count); // by PyTorch's rules of promotion
// The type of a value; f32 if it is not known, as in scripts without example inputs.
HoloDtype  holo_torch_dtype_in(const HoloValue *value);
bool       holo_torch_is_float(HoloDtype dtype);
bool       holo_torch_is_int(HoloDtype dtype);             // not bool
HoloDtype  holo_torch_float_of(HoloDtype dtype);           // itself, or f32 for whole numbers
HoloValue *holo_torch_real(HoloTorch *t, const HoloTv *v); // a tensor or number as a tensor of floats

// ---- tensors that share memory

HoloValue *holo_torch_read(HoloTorch *t, HoloTorchTensor *tensor);
void       holo_torch_write(HoloTorch *t, HoloTorchTensor *tensor, HoloValue *value);
HoloTv     holo_torch_view(HoloTorch *t, const HoloTorchOp *op, const HoloTv *args, HoloTv made);

// ---- complex numbers (torch_complex.c)

bool   holo_tv_is_complex(const HoloTv *v);                   // or a list with such
HoloTv holo_tv_complex(HoloTorch *t, HoloTv re, HoloTv im);   // im may be the number 0
HoloTv holo_tv_part(HoloTorch *t, const HoloTv *v, int part); // the imaginary part of what is real is the number 0
HoloTv holo_tv_pairs(HoloTorch *t, const HoloTv *complex);    // [..., 2]
HoloTv holo_tv_of_pairs(HoloTorch *t, HoloTv pairs);
// Emits a call that has to do with complex numbers; false: it has not.
bool               holo_torch_complex(HoloTorch *t, const HoloTorchOp *op, HoloTv *args, HoloTv *out);
void               holo_torch_complex_write(HoloTorch *t, const HoloTv *to, const HoloTv *from);
const HoloTorchOp *holo_torch_complex_find(
    const char *name); // rows that differ for complex numbers; NULL: there is none

// ---- quantized tensors (torch_quant.c). To emitters that do not ask for them they are their real numbers.

typedef struct HoloTorchQuantized {
    HoloValue *whole, *scale, *zero; // zero: i32
    int        axis;                 // of the scale; -1: it is one number
} HoloTorchQuantized;
HoloTv             holo_tv_quantized(HoloTorch *t, HoloValue *whole, HoloValue *scale, HoloValue *zero, int axis);
HoloTorchQuantized holo_torch_quantized(HoloTorch *t, const HoloTv *v); // fails if it is not quantized
HoloValue         *holo_torch_dequantized(HoloTorch *t, const HoloTv *v);
HoloTv holo_torch_quantize(HoloTorch *t, HoloValue *x, HoloValue *scale, HoloValue *zero, int axis, HoloDtype dtype);
// Emits an operator for the whole numbers themselves; false: it has to see the real ones.
bool holo_torch_on_quantized(HoloTorch *t, const HoloTorchOp *op, HoloTv *args, HoloTv *out);

// ---- bodies

typedef struct HoloTorchBody {
    HoloEmit         emit;
    HoloEmit        *outer;
    HoloTorchChange *change; // of the body around it
    int              change_count, change_room;
    HoloTorchChange *changed; // in this body, when it is left: the tensor, and its value inside
    int              changed_count;
} HoloTorchBody;
void holo_torch_enter(HoloTorch *t, HoloTorchBody *body, const char *name);
// Leaves a body: tensors of outside are again what they were.
void holo_torch_leave(HoloTorch *t, HoloTorchBody *body);
// How a tensor was left in the body; as it is now if the body did not change it.
HoloValue *holo_torch_left(HoloTorch *t, const HoloTorchBody *body, HoloTorchTensor *tensor);

// ---- parts that emitters share (aten_common.c)

HoloValue *holo_torch_op1(HoloTorch *t, const char *op, HoloValue *x);
HoloValue *holo_torch_op2(HoloTorch *t, const char *op, HoloValue *x, HoloValue *y);
HoloValue *holo_torch_like(HoloTorch *t, HoloValue *x, double number);       // a scalar of x's type
HoloValue *holo_torch_dim(HoloTorch *t, HoloValue *x, int axis);             // i64 [1]: a size
bool       holo_torch_size_known(HoloValue *x, int axis, int64_t *out);      // false: it is not a number
HoloValue *holo_torch_flat(HoloTorch *t, HoloValue *x);                      // [-1]
HoloValue *holo_torch_shape_as(HoloTorch *t, HoloValue *x, HoloValue *like); // Reshape to the sizes of another
HoloValue *holo_torch_concat(HoloTorch *t, HoloValue *const *part, int count, int axis);
HoloValue *holo_torch_reduce(HoloTorch *t, const char *op, HoloValue *x, const int64_t *axes, int count, bool keep);
HoloValue *holo_torch_where(HoloTorch *t, HoloValue *c, HoloValue *x, HoloValue *y);
HoloValue *holo_torch_expand(HoloTorch *t, HoloValue *x, HoloValue *sizes);
HoloValue *holo_torch_unsqueeze(HoloTorch *t, HoloValue *x, int64_t axis);
HoloValue *holo_torch_squeeze(HoloTorch *t, HoloValue *x, int64_t axis);
HoloValue *holo_torch_range(HoloTorch *t, HoloValue *count); // i64 [count], from 0; count: [1] or a scalar
HoloValue *holo_torch_gather(HoloTorch *t, HoloValue *x, HoloValue *index, int axis);
HoloValue *holo_torch_swap(HoloTorch *t, HoloValue *x, int a, int b);
HoloValue *holo_torch_scalar_of(HoloTorch *t, HoloValue *x); // [1] to a scalar
HoloValue *holo_torch_numel(HoloTorch *t, HoloValue *x);     // i64, a scalar

// An element of x is a number of things: an input that x comes from, as it is, has whole numbers.
void holo_torch_learn_count(HoloTorch *t, const HoloValue *x);
// The same for a mask.
void       holo_torch_learn_mask(HoloTorch *t, const HoloValue *x);
HoloValue *holo_torch_as_index(HoloTorch *t, HoloValue *x); // i64; an input that it comes from has whole numbers

// ---- numbers of Python (torch_numbers.c)

// An operation on numbers: "add", "floordiv", "lt", "int" ... False: there is none of that name, or an argument is no
// number.
bool holo_torch_numbers(HoloTorch *t, const char *name, const HoloTv *args, int count, HoloTv *out);

// ---- states: what a program keeps between runs (torch_state.c)

// A tensor that begins with this constant, and may be changed. It becomes a state if it was changed at the end.
HoloTv holo_torch_buffer(HoloTorch *t, const char *name, HoloValue *constant);
// Writes the states. True: constants were changed, which are in t->changed now; the program must be imported again.
bool holo_torch_states_end(HoloTorch *t);

// ---- control flow

// An If: both bodies were left, and give `count` values each. What they changed is joined, too.
void holo_torch_if(HoloTorch *t, HoloValue *condition, HoloTorchBody *yes, HoloTorchBody *no,
                   HoloValue *const *yes_values, HoloValue *const *no_values, int count, HoloValue **out);

// ---- files

// A constant for a tensor of a checkpoint.
HoloValue *holo_torch_constant(HoloTorch *t, const char *name, const HoloCheckpointTensor *tensor);
// The same, as a tensor of the program; a buffer may be changed. Complex numbers are constants.
HoloTv holo_torch_weight(HoloTorch *t, const char *name, const HoloCheckpointTensor *tensor, bool is_buffer);
bool   holo_torch_pairs_type(HoloTensor *type); // makes a complex type one of pairs; false: it is real
HOLO_MUST HoloStatus holo_pt2_open(HoloImport *import);
HOLO_MUST HoloStatus holo_script_open(HoloImport *import);

#define HOLO_TORCH_CHECK(t, condition, ...)                                             \
    do {                                                                                \
        if (!(condition)) return holo_emit_fail((t)->e, HOLO_UNSUPPORTED, __VA_ARGS__); \
    } while (0)

#endif
