// openvino.h - OpenVINO's intermediate representation: a network in XML, and its weights in a file beside it.
//
// A layer has a type, attributes and ports; edges join ports. Each type is a row of a table (openvino_*.c) that emits
// operators of ONNX. Tensors have channels behind the batch, as ONNX has them. The first failure stays in e->status, as in
// emit.h.
#ifndef HOLO_IMPORT_OPENVINO_H
#define HOLO_IMPORT_OPENVINO_H

#include "import/emit.h"
#include "import/wire/xml.h"

enum { HOLO_IR_PORTS = 32 };
#define HOLO_IR_SIZE_MAX   ((int64_t)1 << 40) // of a dimension: products of a size and a number of a list do not overflow
#define HOLO_IR_NUMBER_MAX ((int64_t)1 << 20) // of a list: strides, pads, axes, blocks

typedef struct HoloIr HoloIr;

typedef struct HoloIrLayer {
    const HoloXml      *xml, *data; // data: its attributes; NULL: it has none
    const char         *name, *type;
    int                 opset; // of its type
    int                 in_count, out_count;
    struct HoloIrLayer *from[HOLO_IR_PORTS]; // what gives each input; NULL: nothing
    int                 from_port[HOLO_IR_PORTS];
    HoloValue          *out[HOLO_IR_PORTS];
    int                 looked_at;  // inputs that were looked at, while it waits for them
    bool                is_unknown; // it follows from a layer that is not supported
    bool                is_open, is_done;
} HoloIrLayer;

typedef struct HoloIrNet { // the network, or a body inside of it
    HoloIr       *ir;
    HoloEmit     *e;
    HoloIrLayer **layer;
    int           count;
} HoloIrNet;

typedef struct HoloIrVariable { // what ReadValue and Assign of one name keep between runs
    const char *name;
    HoloValue  *state, *before;
    bool        is_written;
} HoloIrVariable;

struct HoloIr {
    HoloImport        *import;
    const HoloMapping *weights; // NULL: there is no such file
    int64_t            version; // 10 or 11
    HoloIrVariable    *variable;
    int                variable_count, variable_room;
    HoloValue         *started; // whether there was a run before
};

typedef struct HoloIrCall { // a layer that is being emitted
    HoloIrNet   *net;
    HoloEmit    *e;
    HoloIrLayer *layer;
} HoloIrCall;

typedef HoloValue *HoloIrOne(HoloIrCall *c);
typedef void       HoloIrMany(HoloIrCall *c); // fills layer->out

typedef struct HoloIrOp {
    const char *type;
    HoloIrOne  *one;  // gives one output
    HoloIrMany *many; // or several
    const char *onnx; // for `one` of many rows: the operator of ONNX
} HoloIrOp;
extern const HoloIrOp *const holo_ir_tables[]; // ended by NULL; each table ends with a row without a type

// ---- openvino_graph.c

HOLO_MUST HoloStatus holo_ir_net(HoloIr *ir, const HoloXml *xml, HoloEmit *e, HoloIrNet *out); // layers and edges
// Emits all layers. Parameters that have a value in layer->out already keep it.
void            holo_ir_emit(HoloIrNet *net);
const HoloIrOp *holo_ir_find(const char *type);
const char     *holo_ir_port_name(const HoloIrLayer *layer, int port); // the tensor's name, or the layer's

// ---- openvino_attr.c

HoloValue  *holo_ir_in(HoloIrCall *c, int i);  // fails if there is none
HoloValue  *holo_ir_may(HoloIrCall *c, int i); // NULL: there is none
const char *holo_ir_text(const HoloIrCall *c, const char *name, const char *fallback);
bool        holo_ir_is(const HoloIrCall *c, const char *name, const char *fallback, const char *word);
int64_t     holo_ir_int(HoloIrCall *c, const char *name, int64_t fallback);
double      holo_ir_float(HoloIrCall *c, const char *name, double fallback);
bool        holo_ir_bool(HoloIrCall *c, const char *name, bool fallback);
int         holo_ir_ints(HoloIrCall *c, const char *name, int64_t *out); // "1,2": at most HOLO_MAX_RANK * 2; 0: none
int         holo_ir_known(HoloIrCall *c, int input, int64_t *out);       // numbers of an input that must be known now
HoloDtype   holo_ir_dtype(const char *name);                             // "f32", "FP32"; HOLO_NONE: not known
HoloDtype   holo_ir_type_attr(HoloIrCall *c, const char *name, HoloDtype fallback);
int         holo_ir_rank(HoloIrCall *c, const HoloValue *x);          // fails if it is not known
bool        holo_ir_size(const HoloValue *x, int axis, int64_t *out); // false: it is not a number
int         holo_ir_axis(HoloIrCall *c, int64_t axis, int rank);      // in [0, rank)

// ---- words for emitters

#define IN(i)         holo_ir_in(c, i)
#define MAY(i)        holo_ir_may(c, i)
#define OP1(op, x)    holo_emit(c->e, op, HOLO_IN(x), NULL)
#define OP2(op, x, y) holo_emit(c->e, op, HOLO_IN(x, y), NULL)
#define NUM(x, n)     holo_emit_number(c->e, holo_emit_dtype(x) ? holo_emit_dtype(x) : HOLO_F32, n)
#define ONE(f)        static HoloValue *f(HoloIrCall *c)
#define MANY(f)       static void f(HoloIrCall *c)

#endif
