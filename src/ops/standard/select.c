// select.c - Where and Clip: elements selected by a condition or held between bounds.
#include "ops/pointwise.h"

#include <math.h>

// ---- Where

static void where_wide(const HoloLanes *tile)
{
    const uint8_t    *condition = tile->in[0];
    const HoloString *a = tile->in[1], *b = tile->in[2];
    HoloString       *out = tile->out;
    for (int64_t k = 0; k < tile->count; k++) out[k] = condition[k] ? a[k] : b[k];
}

static HoloStatus where_infer(HoloCall *call)
{
    const HoloTensor *a = call->in[1], *b = call->in[2];
    HOLO_TRY(holo_expect_tensors(call));
    if (a->dtype != b->dtype)
        return holo_call_fail(call, HOLO_BAD_MODEL, "inputs 1 and 2 are of types %s and %s; they must be of one type",
                              holo_dtype_name((HoloDtype)a->dtype), holo_dtype_name((HoloDtype)b->dtype));
    int     rank;
    HoloDim dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_broadcast(call, 0, 3, &rank, dim));
    return holo_out_type(call, 0, (HoloDtype)a->dtype, rank, dim);
}

static HoloStatus where_eval(HoloCall *call)
{
    HoloTensor *out = holo_out(call, 0);
    if (!out) return HOLO_OK;
    size_t        size = holo_dtype_size((HoloDtype)out->dtype); // elements are moved as bits, whatever they mean
    int           log  = size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
    HoloPointwise work = {.fn       = where_wide,
                          .tile     = size <= 8 ? holo_tiles()->sel[log] : NULL,
                          .spread   = 1,
                          .in_count = 3,
                          .out      = *out,
                          .lane     = {HOLO_LANE_OWN, HOLO_LANE_OWN, HOLO_LANE_OWN},
                          .lane_out = HOLO_LANE_OWN};
    for (int i = 0; i < 3; i++) work.in[i] = *call->in[i];
    holo_pointwise(call, &work);
    return HOLO_OK;
}

// ---- Clip

// Written so that a lower bound above the upper one gives the upper one, and NaN stays.
// clang-format off
#define X(id, T) HOLO_KERNEL_3(id, T, T, (x < y ? y : x) > z ? z : (x < y ? y : x))
X(clip_f64, double)
X(clip_i64, int64_t)
X(clip_u64, uint64_t)
#undef X
// clang-format on

static HoloStatus clip_infer(HoloCall *call)
{
    HOLO_TRY(holo_expect_tensors(call));
    for (int i = 1; i < call->in_count; i++) {
        const HoloTensor *bound = call->in[i];
        if (!bound) continue;
        if (bound->dtype != call->in[0]->dtype)
            return holo_call_fail(call, HOLO_BAD_MODEL, "bound %d is of type %s, but the input is of type %s", i,
                                  holo_dtype_name((HoloDtype)bound->dtype),
                                  holo_dtype_name((HoloDtype)call->in[0]->dtype));
        HOLO_TRY(holo_expect_one(call, i));
    }
    return holo_infer_same(call);
}

// Computes elements as they are stored, if both bounds are given.
static bool clip_own(HoloCall *call, const HoloTensor *out)
{
    int type = holo_tile_type((HoloDtype)out->dtype);
    if (type < 0 || !holo_in(call, 1) || !holo_in(call, 2)) return false;
    HoloPointwise work = {
        .tile = holo_tiles()->op[HOLO_TILE_CLIP][type], .in_count = 3, .out = *out, .lane_out = HOLO_LANE_OWN};
    for (int i = 0; i < 3; i++) {
        work.in[i]      = *call->in[i];
        work.in[i].rank = i ? 0 : work.in[i].rank;
        work.lane[i]    = HOLO_LANE_OWN;
    }
    holo_pointwise(call, &work);
    return true;
}

static HoloStatus clip_eval(HoloCall *call)
{
    HoloTensor *out = holo_out(call, 0);
    if (!out || clip_own(call, out)) return HOLO_OK;
    HoloClass     kind     = holo_dtype_class((HoloDtype)out->dtype);
    bool          is_float = kind == HOLO_CLASS_FLOAT, is_signed = kind == HOLO_CLASS_INT;
    HoloPointwise work = {.fn = is_float ? clip_f64 : is_signed ? clip_i64 : clip_u64, .in_count = 3, .out = *out};

    // A bound that is not given is one that no element passes. Before opset 11, bounds are attributes and always
    // floats.
    double  bound_f[2] = {-INFINITY, INFINITY};
    int64_t bound_i[2] = {is_signed ? INT64_MIN : 0, is_signed ? INT64_MAX : -1};
    bool    is_old     = call->version < 11;
    if (is_old) bound_f[0] = holo_attr_float(call, "min", -3.4028234663852886e+38);
    if (is_old) bound_f[1] = holo_attr_float(call, "max", 3.4028234663852886e+38);
    work.lane_out = work.lane[0] = is_float ? HOLO_LANE_F64 : HOLO_LANE_I64;
    work.in[0]                   = *call->in[0];
    for (int i = 0; i < 2; i++) {
        HoloTensor *bound = &work.in[1 + i];
        work.lane[1 + i]  = work.lane_out;
        if (holo_in(call, 1 + i)) {
            *bound      = *call->in[1 + i];
            bound->rank = 0;
        } else {
            bound->dtype = is_float ? HOLO_F64 : HOLO_I64;
            bound->data  = is_float ? (void *)&bound_f[i] : (void *)&bound_i[i];
        }
    }
    holo_pointwise(call, &work);
    return HOLO_OK;
}

// clang-format off
const HoloOp holo_ops_select[] = {
    {.name = "Where", .domain = "", .since = 9, .in_min = 3, .in_max = 3, .out_min = 1, .out_max = 1,
     .types = HOLO_BIT(BOOL), .flags = HOLO_OP_POINTWISE, .infer = where_infer, .eval = where_eval},
    {.name = "Clip", .domain = "", .since = 1, .in_min = 1, .in_max = 3, .out_min = 1, .out_max = 1,
     .types = HOLO_TYPES_NUMBER, .flags = HOLO_OP_POINTWISE, .infer = clip_infer, .eval = clip_eval},
    {0},
};
// clang-format on
