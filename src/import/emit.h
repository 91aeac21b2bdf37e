// emit.h - builds a graph node by node, for importers.
//
// Types are inferred as nodes are added: an importer can ask for the type, the sizes and the small integer contents of
// every value that it has. The first failure stays in `status`: later calls do nothing and return NULL, and a NULL that
// was meant as a value does no harm. So an importer looks at the status once for each node of the model.
//
//     HoloValue *y = holo_emit(e, "Conv", HOLO_IN(x, w, b), HOLO_ATTRS(holo_with_ints("strides", strides, 2)));
//     HoloValue *z = holo_emit(e, "Relu", HOLO_IN(y), NULL);
//
// Values of an outer graph may be used in a body as they are: they are captured.
#ifndef HOLO_IMPORT_EMIT_H
#define HOLO_IMPORT_EMIT_H

#include "graph/infer.h"
#include "import/importer.h"

enum { HOLO_EMIT_OPSET = 21 }; // the version of ONNX's operators that importers emit; other domains have version 1

typedef struct HoloEmitCapture {
    HoloValue *outer, *inner;
} HoloEmitCapture;

typedef struct HoloEmit {
    HoloImport      *import; // its memory, and where messages go
    HoloGraph       *graph;
    struct HoloEmit *outer;  // of a body: the graph around it; else NULL
    const char      *node;   // the node of the model that is being imported: what is made for it gets its name
    HoloStatus       status; // the first failure
    // the following is emit's own
    HoloInfer        infer;
    HoloArena        scratch; // for the infer, until holo_emit_end
    HoloEmitCapture *capture;
    int              capture_count, capture_room;
} HoloEmit;

// Begins the graph of a model, or a body inside of it. The importer calls holo_emit_end for each, whatever happened.
void holo_emit_begin(HoloEmit *e, HoloImport *import, const char *name);
void holo_emit_begin_body(HoloEmit *e, HoloEmit *outer, const char *name);
void holo_emit_end(HoloEmit *e);

// Fails with a message that begins with the name of the model's node. Returns NULL, for values.
void *holo_emit_fail(HoloEmit *e, HoloStatus status, const char *format, ...) __attribute__((format(printf, 3, 4)));

// ---- inputs, outputs, constants

HoloValue *holo_emit_input(HoloEmit *e, const char *name, const HoloTensor *type);
// Makes a value the next output. With a name, the output gets it, whatever the value is called; it may be an input, a
// constant, or an output already. NULL: the name does not matter (bodies).
void holo_emit_output(HoloEmit *e, HoloValue *value, const char *name);

HoloValue *holo_emit_constant(HoloEmit *e, const char *name, const HoloTensor *tensor); // data is borrowed
HoloValue *holo_emit_ints(HoloEmit *e, const int64_t *numbers, int count);              // i64, [count]
HoloValue *holo_emit_int(HoloEmit *e, int64_t number);                                  // i64, without dimensions
HoloValue *holo_emit_number(HoloEmit *e, HoloDtype dtype, double number);               // without dimensions
// i64, [count]: sizes, which may be expressions of the sizes of inputs, or of any value that is there already.
HoloValue *holo_emit_sizes(HoloEmit *e, const HoloDim *sizes, int count);

// ---- nodes

typedef struct HoloEmitIn {
    int               count;
    HoloValue *const *value; // NULL entries: left out
} HoloEmitIn;
#define HOLO_IN(...) \
    ((HoloEmitIn){(int)(sizeof((HoloValue *[]){__VA_ARGS__}) / sizeof(HoloValue *)), (HoloValue *[]){__VA_ARGS__}})
#define HOLO_ATTRS(...) ((const HoloAttr[]){__VA_ARGS__, {0}}) // ends with one without a name

HoloAttr holo_with_int(const char *name, int64_t i);
HoloAttr holo_with_float(const char *name, double f);
HoloAttr holo_with_text(const char *name, const char *text);
HoloAttr holo_with_ints(const char *name, const int64_t *ints, int count); // copied when the node is made
HoloAttr holo_with_floats(const char *name, const float *floats, int count);
HoloAttr holo_with_texts(const char *name, const HoloString *texts, int count); // their characters are borrowed
HoloAttr holo_with_tensor(const char *name, const HoloTensor *tensor);

// A node of one output. The operator is ONNX's, or of another domain: "hologram::Conv"; "BitCast@26" is of another version
// than HOLO_EMIT_OPSET. `attrs` may be NULL; what they
// point to is copied, but for the data of tensors.
HoloValue *holo_emit(HoloEmit *e, const char *op, HoloEmitIn in, const HoloAttr *attrs);
// A node of several outputs. After a failure they are NULL.
void holo_emit_many(HoloEmit *e, const char *op, HoloEmitIn in, const HoloAttr *attrs, HoloValue **out, int out_count);

// A node that holds bodies (If: then_branch, else_branch; Loop: body). What the bodies captured is passed to them. The
// own inputs of a body are all that holo_emit_input made in it.
typedef struct HoloEmitBody {
    const char *attr;
    HoloEmit   *body; // NULL ends a list
} HoloEmitBody;
void holo_emit_control(HoloEmit *e, const char *op, HoloEmitIn in, const HoloAttr *attrs, const HoloEmitBody *bodies,
                       HoloValue **out, int out_count);

// ---- common nodes

HoloValue *holo_emit_cast(HoloEmit *e, HoloValue *x, HoloDtype dtype);                    // x itself, if it is so
HoloValue *holo_emit_reshape(HoloEmit *e, HoloValue *x, const HoloDim *sizes, int rank);  // sizes as in Reshape
HoloValue *holo_emit_transpose(HoloEmit *e, HoloValue *x, const int64_t *perm, int rank); // x itself, if nothing moves
HoloValue *holo_emit_unsqueeze(HoloEmit *e, HoloValue *x, const int64_t *axes, int count);
HoloValue *holo_emit_squeeze(HoloEmit *e, HoloValue *x, const int64_t *axes, int count);
HoloValue *holo_emit_slice(HoloEmit *e, HoloValue *x, int64_t axis, int64_t start, int64_t end, int64_t step);
HoloValue *holo_emit_shape(HoloEmit *e, HoloValue *x); // i64, [rank]

// ---- what is known

int       holo_emit_rank(const HoloValue *value);  // -1: not known
HoloDtype holo_emit_dtype(const HoloValue *value); // HOLO_NONE: not known
// The value's elements, if they are known now: a constant, or what follows from constants and sizes alone. data is NULL
// if they are not known. Large results that follow from constants are not computed here.
HoloTensor holo_emit_known(HoloEmit *e, const HoloValue *value);
// The elements of a value as whole numbers. False: they are not known, not whole, or more than `room`.
bool holo_emit_known_ints(HoloEmit *e, const HoloValue *value, int64_t *out, int room, int *out_count);
bool holo_emit_known_number(HoloEmit *e, const HoloValue *value, double *out); // of a value with one element

#endif
