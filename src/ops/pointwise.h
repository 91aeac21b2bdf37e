// pointwise.h - computes an expression on every element of tensors that are broadcast to one shape.
//
// Elements are processed in tiles of HOLO_TILE, as lanes of one wide type; a kernel is a loop over a tile. A family of
// operators is a table: names, kernels for the classes of numbers, attributes. The operators say what an expression
// means; here its elements are found, converted and spread over threads.
#ifndef HOLO_OPS_POINTWISE_H
#define HOLO_OPS_POINTWISE_H

#include "kernels/tiles/tiles.h"
#include "ops/op.h"

typedef enum HoloLane {
    HOLO_LANE_F32,  // float: only for tensors of f32
    HOLO_LANE_F64,  // double: for any numbers
    HOLO_LANE_I64,  // int64_t or uint64_t: for any numbers
    HOLO_LANE_WIDE, // HoloString: for strings, or any 16 bytes
    HOLO_LANE_OWN,  // as they are stored: for types whose elements have 1, 2, 4 or 8 bytes
} HoloLane;

enum { HOLO_LANES_MAX = 3, HOLO_PARAMS_MAX = 8, HOLO_POINTWISE_ATTRS = 2 };

// ---- kernels

typedef struct HoloLanes {
    int64_t       count;
    const void   *in[HOLO_LANES_MAX];
    void         *out;
    const double *p; // parameters, HOLO_PARAMS_MAX of them
} HoloLanes;

typedef void        HoloTileFn(const HoloLanes *tile);
typedef HoloTileFn *HoloOwnFns[HOLO_DTYPE_COUNT]; // kernels of some element types

// A kernel of one, two or three inputs: `expression` of x, y, z (of type T) and p[], giving an R.
// clang-format off
#define HOLO_KERNEL_1(id, R, T, expression)              \
    static void id(const HoloLanes *tile)                 \
    {                                                    \
        const T      *xs  = tile->in[0];                 \
        const double *p   = tile->p;                     \
        R            *out = tile->out;                   \
        (void)p;                                         \
        for (int64_t k = 0, n = tile->count; k < n; k++) {\
            T x    = xs[k];                              \
            out[k] = (R)(expression);                    \
        }                                                \
    }

#define HOLO_KERNEL_2(id, R, T, expression)              \
    static void id(const HoloLanes *tile)                 \
    {                                                    \
        const T      *xs = tile->in[0], *ys = tile->in[1]; \
        const double *p   = tile->p;                     \
        R            *out = tile->out;                   \
        (void)p;                                         \
        for (int64_t k = 0, n = tile->count; k < n; k++) {\
            T x = xs[k], y = ys[k];                      \
            out[k] = (R)(expression);                    \
        }                                                \
    }

#define HOLO_KERNEL_3(id, R, T, expression)              \
    static void id(const HoloLanes *tile)                 \
    {                                                    \
        const T      *xs = tile->in[0], *ys = tile->in[1], *zs = tile->in[2]; \
        const double *p   = tile->p;                     \
        R            *out = tile->out;                   \
        (void)p;                                         \
        for (int64_t k = 0, n = tile->count; k < n; k++) {\
            T x = xs[k], y = ys[k], z = zs[k];           \
            out[k] = (R)(expression);                    \
        }                                                \
    }
// clang-format on

// ---- evaluation

// One evaluation: out = fn(in...), where the inputs broadcast to the shape of `out`.
typedef struct HoloPointwise {
    HoloTileFn *fn;
    HoloTile   *tile;   // used instead, on stored elements; all lanes are HOLO_LANE_OWN; NULL: fn
    uint8_t     spread; // inputs that are never given to `tile` as one number, a bit each
    int         in_count;
    HoloTensor  in[HOLO_LANES_MAX];
    HoloTensor  out;
    uint8_t     lane[HOLO_LANES_MAX]; // HoloLane in which each input is read
    uint8_t     lane_out;
    double      p[HOLO_PARAMS_MAX];
} HoloPointwise;

void holo_pointwise(const HoloCall *call, const HoloPointwise *work);

// The elements of a tensor broadcast to a shape, in the order of that shape, tile by tile.
typedef struct HoloStream {
    HoloTensor tensor;
    HoloLane   lane;
    int        rank;
    int64_t    dim[HOLO_MAX_RANK], stride[HOLO_MAX_RANK], index[HOLO_MAX_RANK];
    int64_t    offset; // of the next element
    int64_t    most;   // elements that are read at once; HOLO_TILE unless set after opening
    bool       is_constant, is_filled;
} HoloStream;

enum { HOLO_STREAM_BYTES = HOLO_TILE * 16 }; // of a buffer, for HOLO_TILE elements of any lane

// From element `start` of the shape on.
void holo_stream_open(HoloStream *stream, const HoloTensor *t, HoloLane lane, int rank, const int64_t *dim,
                      int64_t start);
// The next `count` <= stream->most elements: in `buffer`, which belongs to the stream, or in place.
const void *holo_stream_next(HoloStream *stream, int64_t count, void *buffer);

// Stores lanes as elements start, start + 1, ... of t.
void holo_lane_write(HoloTensor *t, HoloLane lane, int64_t start, int64_t count, const void *from);

// ---- families

typedef struct HoloPointwiseAttr {
    const char *name; // NULL: there are no more
    double      fallback;
} HoloPointwiseAttr;

#define HOLO_BY_TILE(id) (HOLO_TILE_##id + 1)

// HoloOp.row of a pointwise operator. A missing kernel is replaced: one of `own` by those of lanes, f32 by f64, u64 by
// i64, i64 by f64.
typedef struct HoloPointwiseRow {
    HoloTileFn       *f32, *f64, *i64, *u64, *wide;
    const HoloOwnFns *own;          // on stored elements
    uint8_t           tile;         // HOLO_BY_TILE(id), for types with such a loop; it comes before all others; 0: none
    bool              is_swapped;   // `tile` takes the second input first
    bool              is_predicate; // gives bool, in lanes of int64_t
    bool              is_one_way;   // the shape is that of input 0
    bool              may_grow;     // but if that is too small, since opset 7, both are broadcast
    bool              has_axis;     // before opset 7, `axis` says where the second input begins
    int8_t            legacy_axis;  // where a second input of rank 1 began before opset 7; 0: at the end
    HoloPointwiseAttr attr[HOLO_POINTWISE_ATTRS]; // become p[0], p[1]
} HoloPointwiseRow;

// All inputs have one dtype and are broadcast together. Inputs at the end may be left out.
HOLO_MUST HoloStatus holo_pointwise_infer(HoloCall *call);
// The kernel that call->op->row has for the dtype of input 0.
HOLO_MUST HoloStatus holo_pointwise_eval(HoloCall *call);
// The same with kernels and attributes of another row; shapes still follow call->op->row.
HOLO_MUST HoloStatus holo_pointwise_eval_row(HoloCall *call, const HoloPointwiseRow *row);

// Fails when an input is a sequence, an optional or a map.
HOLO_MUST HoloStatus holo_expect_tensors(const HoloCall *call);
// A number from an attribute of kind int or float.
double holo_attr_number(const HoloCall *call, const char *name, double fallback);

#endif
