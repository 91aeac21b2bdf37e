// nnef.h - the Neural Network Exchange Format of Khronos: a graph as text (graph.nnef), and a file for each variable.
//
// nnef_parse.c reads the flat form of the text: assignments of calls, whose arguments are names, numbers, texts and lists.
// nnef_model.c has the folder or the archive, and the tensors' files. Each operation is a row of the tables in nnef_ops.c
// and nnef_window.c, which emits operators of ONNX. Tensors have channels behind the batch, as ONNX has them.
#ifndef HOLO_IMPORT_NNEF_H
#define HOLO_IMPORT_NNEF_H

#include "import/emit.h"

typedef enum HoloNnefKind {
    HOLO_NNEF_NONE = 0, // an argument that is not given
    HOLO_NNEF_NUMBER,
    HOLO_NNEF_BOOL,
    HOLO_NNEF_TEXT,
    HOLO_NNEF_NAME,  // of a tensor
    HOLO_NNEF_LIST,  // or a tuple
    HOLO_NNEF_VALUE, // a tensor, in emission
} HoloNnefKind;

typedef struct HoloNnefArg {
    HoloNnefKind        kind;
    const char         *key;  // NULL: by its place
    const char         *text; // of a text or a name
    double              number;
    bool                is_whole;
    struct HoloNnefArg *item; // of a list
    int                 count;
} HoloNnefArg;

typedef struct HoloNnefCall { // results = op<type>(arguments)
    const char  *op, *type;   // type NULL: none is given
    HoloNnefArg  results;     // a name, or a list of names
    HoloNnefArg *arg;
    int          arg_count, line;
} HoloNnefCall;

typedef struct HoloNnefGraph {
    const char   *name;
    HoloNnefArg   inputs, outputs; // lists of names
    HoloNnefCall *call;
    int           call_count, call_room;
} HoloNnefGraph;

HOLO_MUST HoloStatus holo_nnef_parse(HoloImport *import, HoloString text, HoloNnefGraph *out);

// ---- emission

typedef struct HoloNnefName { // what a name stands for
    HoloValue  *value;
    HoloValue **list; // of an operation that gives a list
    int         count;
    bool        is_unknown; // it follows from an operation that is not supported
} HoloNnefName;

typedef struct HoloNnef {
    HoloImport         *import;
    HoloEmit           *e;
    HoloNameMap         names; // to HoloNnefName
    const HoloNnefCall *call;
    HoloValue          *unknown; // NULL: all operations so far are supported
    // The bytes of a variable's file.
    HoloStatus (*file)(struct HoloNnef *n, const char *label, HoloString *out);
    void *container;
} HoloNnef;

typedef struct HoloNnefOp {
    const char *name;
    HoloValue *(*one)(HoloNnef *n);                      // gives one tensor
    int (*many)(HoloNnef *n, HoloValue **out, int room); // or several; returns how many
    const char *onnx;
} HoloNnefOp;
extern const HoloNnefOp holo_nnef_ops[], holo_nnef_windows[];

// Arguments, by name or by place. After a failure e->status is set.
const HoloNnefArg *holo_nnef_arg(const HoloNnef *n, const char *key, int place); // NULL: not given
HoloValue         *holo_nnef_in(HoloNnef *n, const char *key, int place);        // a tensor, or a number as one
HoloValue         *holo_nnef_may(HoloNnef *n, const char *key, int place);       // NULL: not given
double             holo_nnef_number(HoloNnef *n, const char *key, int place, double fallback);
int                holo_nnef_int(HoloNnef *n, const char *key, int place, int fallback); // a failure: it is not whole
bool               holo_nnef_bool(HoloNnef *n, const char *key, int place, bool fallback);
const char        *holo_nnef_text(HoloNnef *n, const char *key, int place, const char *fallback);
// Whole numbers of a list; pairs one after the other. Returns how many; -1 and a failure: not whole, or more than room.
int holo_nnef_ints(HoloNnef *n, const char *key, int place, int64_t *out, int room);
// Tensors of a list.
int holo_nnef_list(HoloNnef *n, const char *key, int place, HoloValue **out, int room);
int holo_nnef_rank(HoloNnef *n, const HoloValue *x); // 0 and a failure: not known
// A tensor of fewer dimensions has ones behind them, as the format has it.
HoloValue *holo_nnef_widened(HoloNnef *n, HoloValue *x, int rank);
HoloValue *holo_nnef_two(HoloNnef *n, const char *op, HoloValue *x, HoloValue *y); // both widened

#define ONE(name)     static HoloValue *name(HoloNnef *n)
#define OP1(op, x)    holo_emit(n->e, op, HOLO_IN(x), NULL)
#define OP2(op, x, y) holo_nnef_two(n, op, x, y)
#define NUM(x)        holo_emit_number(n->e, HOLO_F32, x)

#endif
