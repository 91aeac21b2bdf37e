// cast.c - Cast, CastLike and BitCast: elements as another type. Numbers convert by ops/tensor.h's rules; text and
// what only these operators can ask for (f8 without saturation, rounding to f8e8m0) are done here.
#include "ops/pointwise.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- numbers

static void copy_lanes(const HoloLanes *tile)
{
    memcpy(tile->out, tile->in[0], (size_t)tile->count * sizeof(int64_t));
}

// How f8e8m0, which holds only powers of 2, rounds: up, down, or to the nearest.
typedef enum Rounding { ROUND_NEAREST, ROUND_UP, ROUND_DOWN } Rounding;

static double to_power(double x, Rounding rounding)
{
    int    exponent;
    double fraction = frexp(x, &exponent);
    if (rounding == ROUND_NEAREST || !isfinite(x) || x <= 0 || fraction == 0.5) return x;
    return ldexp(1, rounding == ROUND_UP ? exponent : exponent - 1);
}

// p: the dtype, whether to saturate, the Rounding of f8e8m0.
HOLO_KERNEL_1(encode_f8, int64_t, double,
              holo_f64_to_f8((HoloDtype)p[0], p[0] == HOLO_F8E8M0 ? to_power(x, (Rounding)p[2]) : x, p[1] != 0))

static HoloStatus cast_to_f8(HoloCall *call, HoloTensor *out)
{
    HoloPointwise work = {.fn       = encode_f8,
                          .in_count = 1,
                          .in       = {*call->in[0]},
                          .out      = *out,
                          .lane     = {HOLO_LANE_F64},
                          .lane_out = HOLO_LANE_I64};
    bool is_up = holo_attr_is(call, "round_mode", "up", "up"), is_down = holo_attr_is(call, "round_mode", "up", "down");
    if (!is_up && !is_down && !holo_attr_is(call, "round_mode", "up", "nearest"))
        return holo_call_fail(call, HOLO_BAD_MODEL,
                              "the attribute round_mode is none of \"up\", \"down\", \"nearest\"");
    work.out.dtype = HOLO_U8;
    work.p[0]      = out->dtype;
    work.p[1]      = holo_attr_int(call, "saturate", 1) != 0;
    work.p[2]      = is_up ? ROUND_UP : is_down ? ROUND_DOWN : ROUND_NEAREST;
    holo_pointwise(call, &work);
    return HOLO_OK;
}

// Converts bools to numbers directly, without a wider type in between.
// clang-format off
#define FROM_BOOL(X)                                     \
    X(F32, float, x != 0)                                \
    X(F16, uint16_t, x != 0 ? 0x3c00 : 0)                \
    X(I32, int32_t, x != 0)                              \
    X(I64, int64_t, x != 0)
#define X(to, T, formula) HOLO_KERNEL_1(bool_to_##to, T, uint8_t, formula)
FROM_BOOL(X)
#undef X
// clang-format on

#define X(id, T, formula) [HOLO_##id] = bool_to_##id,
static const HoloOwnFns from_bool = {FROM_BOOL(X)};
#undef X

// The tile that converts. u64 goes to f32 through f64, by the rules, and so is rounded twice.
static HoloTile *tile_find(HoloDtype from, HoloDtype to)
{
    int a = holo_tile_type(from), b = holo_tile_type(to);
    return a < 0 || b < 0 || (from == HOLO_U64 && to == HOLO_F32) ? NULL : holo_tiles()->cvt[b][a];
}

static HoloStatus cast_numbers(HoloCall *call, HoloTensor *out)
{
    const HoloTensor *in    = call->in[0];
    bool              is_f8 = (HOLO_TYPES_F8 | HOLO_BIT(F8E8M0)) >> out->dtype & 1;
    if (is_f8 && (out->dtype == HOLO_F8E8M0 || !holo_attr_int(call, "saturate", 1))) return cast_to_f8(call, out);
    // Integers go through integers: to integers they wrap, to floats they round once; u64 has no other way to floats
    // than through floats. To integers narrower than a byte the standard's tests have floats wrap too.
    bool    is_float  = holo_dtype_class((HoloDtype)in->dtype) == HOLO_CLASS_FLOAT;
    bool    to_float  = holo_dtype_class((HoloDtype)out->dtype) == HOLO_CLASS_FLOAT;
    bool    to_narrow = !to_float && holo_dtype_bits((HoloDtype)out->dtype) < 8;
    uint8_t lane      = (is_float && !to_narrow) || (in->dtype == HOLO_U64 && to_float) ? HOLO_LANE_F64 : HOLO_LANE_I64;
    HoloPointwise work = {.fn = copy_lanes, .in_count = 1, .in = {*in}, .out = *out, .lane = {lane}, .lane_out = lane};
    HoloTileFn   *own  = in->dtype == HOLO_BOOL ? from_bool[out->dtype] : NULL;
    int           type = holo_tile_type((HoloDtype)in->dtype);
    work.tile          = tile_find((HoloDtype)in->dtype, (HoloDtype)out->dtype);
    if (own) work.fn = own;
    if (out->dtype == HOLO_BOOL && type >= 0) { // is it another number than 0?
        static const uint64_t zero = 0;
        work.tile                  = holo_tiles()->op[HOLO_TILE_SET_NE][type];
        work.in_count              = 2;
        work.lane[1]               = HOLO_LANE_OWN;
        work.in[1]                 = (HoloTensor){.dtype = in->dtype, .data = (void *)(uintptr_t)&zero};
    }
    if (own || work.tile) work.lane[0] = work.lane_out = HOLO_LANE_OWN;
    holo_pointwise(call, &work);
    return HOLO_OK;
}

// ---- text

enum { TEXT_MAX = 1024, NUMBER_MAX = 32 }; // bytes of a number that is read; of one that is written

// Reads all of `text` as one number, an integer of the element's class where it is one.
static bool parse(const char *text, HoloTensor *out, int64_t index)
{
    HoloClass kind = holo_dtype_class((HoloDtype)out->dtype);
    char     *end;
    errno = 0;
    if (kind == HOLO_CLASS_INT || kind == HOLO_CLASS_UINT) {
        int64_t whole = kind == HOLO_CLASS_INT ? strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
        if (end != text && !*end && !errno) {
            holo_put_i(out, index, whole);
            return true;
        }
    }
    double x = out->dtype == HOLO_F32 ? strtof(text, &end) : strtod(text, &end);
    if (end == text || *end) return false;
    holo_put_f(out, index, x);
    return true;
}

static HoloStatus cast_from_text(HoloCall *call, HoloTensor *out)
{
    const HoloString *from  = call->in[0]->data;
    int64_t           count = holo_tensor_count(out);
    char              text[TEXT_MAX];
    for (int64_t i = 0; i < count; i++) {
        HOLO_TRY(holo_call_continue(call));
        size_t size = from[i].size;
        while (size && isspace((unsigned char)from[i].data[size - 1])) size--;
        bool is_short = size < sizeof text && !memchr(from[i].data ? from[i].data : "", 0, size);
        if (is_short && size) memcpy(text, from[i].data, size);
        if (is_short) text[size] = 0;
        if (!is_short || !parse(text, out, i))
            return holo_call_fail(call, HOLO_BAD_INPUT, "element %lld, \"%.*s\", is not a number", (long long)i,
                                  (int)(size < 40 ? size : 40), from[i].data ? from[i].data : "");
    }
    return HOLO_OK;
}

// The shortest decimal that reads back as the same element. Precisions start where every number of so many digits is
// kept by the type; %g leaves out zeros at the end. Numbers below 10^17 have all their digits before the point, for the
// standard wants them without an exponent.
static int print_float(const HoloTensor *t, double x, char *text)
{
    if (isnan(x)) return snprintf(text, NUMBER_MAX, "NaN");
    if (isinf(x)) return snprintf(text, NUMBER_MAX, x < 0 ? "-INF" : "INF");
    uint64_t   bits = 0;
    HoloTensor back = {.dtype = t->dtype, .data = &bits};
    int        size = 0, digits = t->dtype == HOLO_F64 ? 15 : t->dtype == HOLO_F32 ? 6 : 1, whole = 0;
    for (; digits <= 17; digits++) {
        size = snprintf(text, NUMBER_MAX, "%.*g", digits, x);
        holo_put_f(&back, 0, strtod(text, NULL));
        if (holo_get_f(&back, 0) == x) break;
    }
    for (double power = 1; power <= fabs(x) && whole <= 17; power *= 10) whole++;
    return whole > digits && whole <= 17 ? snprintf(text, NUMBER_MAX, "%.*g", whole, x) : size;
}

static int print(const HoloTensor *t, int64_t index, char *text)
{
    HoloClass kind = holo_dtype_class((HoloDtype)t->dtype);
    if (kind == HOLO_CLASS_FLOAT) return print_float(t, holo_get_f(t, index), text);
    long long x = holo_get_i(t, index);
    return kind == HOLO_CLASS_UINT ? snprintf(text, NUMBER_MAX, "%llu", (unsigned long long)x)
                                   : snprintf(text, NUMBER_MAX, "%lld", x);
}

static HoloStatus cast_to_text(HoloCall *call, HoloTensor *out)
{
    HoloString *to    = out->data;
    int64_t     count = holo_tensor_count(out);
    char       *text  = NULL;
    for (int64_t i = 0; i < count; i++) {
        HOLO_TRY(holo_call_continue(call));
        if (i % HOLO_TILE == 0) text = call->host->keep(call->host, HOLO_TILE * NUMBER_MAX);
        if (!text)
            return holo_call_fail(call, HOLO_NO_MEMORY, "no memory for the text of %lld numbers", (long long)count);
        to[i] = (HoloString){text, (size_t)print(call->in[0], i, text)};
        text += to[i].size;
    }
    return HOLO_OK;
}

// ---- Cast and CastLike

static HoloStatus cast_eval(HoloCall *call)
{
    HoloTensor       *out  = holo_out(call, 0);
    const HoloTensor *in   = call->in[0];
    size_t            size = holo_tensor_bytes(in);
    if (!out || !size) return HOLO_OK;
    if (in->dtype == out->dtype) {
        memmove(out->data, in->data, size);
        return HOLO_OK;
    }
    if (in->dtype == HOLO_STRING) return cast_from_text(call, out);
    if (out->dtype == HOLO_STRING) return cast_to_text(call, out);
    return cast_numbers(call, out);
}

static HoloStatus infer_to(HoloCall *call, HoloDtype to)
{
    HOLO_TRY(holo_expect_tensors(call));
    if (HOLO_TYPES_COMPLEX >> to & 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "cannot convert to the complex type %s", holo_dtype_name(to));
    return holo_out_shape_like(call, 0, to, call->in[0]);
}

// `to` is the number of a dtype or, before opset 6, its ONNX name.
static HoloStatus attr_dtype(const HoloCall *call, HoloDtype *out_dtype)
{
    const HoloAttr *to = holo_attr_find(call, "to");
    if (to && to->kind == HOLO_ATTR_INT && to->i > HOLO_NONE && to->i < HOLO_DTYPE_COUNT) {
        *out_dtype = (HoloDtype)to->i;
        return HOLO_OK;
    }
    for (int d = 1; to && to->kind == HOLO_ATTR_STRING && d < HOLO_DTYPE_COUNT; d++) {
        const char *name = holo_dtype_onnx((HoloDtype)d);
        if (!holo_string_equal(to->s, (HoloString){name, strlen(name)})) continue;
        *out_dtype = (HoloDtype)d;
        return HOLO_OK;
    }
    return holo_call_fail(call, HOLO_BAD_MODEL, "the attribute to does not name an element type");
}

static HoloStatus cast_infer(HoloCall *call)
{
    HoloDtype to = HOLO_NONE;
    HOLO_TRY(attr_dtype(call, &to));
    return infer_to(call, to);
}

static HoloStatus cast_like_infer(HoloCall *call)
{
    return infer_to(call, (HoloDtype)call->in[1]->dtype);
}

// ---- BitCast

static HoloStatus bitcast_infer(HoloCall *call)
{
    HoloDtype to = HOLO_NONE, from = (HoloDtype)call->in[0]->dtype;
    HOLO_TRY(holo_expect_tensors(call));
    HOLO_TRY(attr_dtype(call, &to));
    if (to == HOLO_STRING || holo_dtype_bits(to) != holo_dtype_bits(from))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s is not of as many bits as %s", holo_dtype_name(to),
                              holo_dtype_name(from));
    return holo_out_shape_like(call, 0, to, call->in[0]);
}

// A type narrower than a byte is stored as a number in one byte. Between such integers, signs are extended or cut off.
static HoloStatus bitcast_eval(HoloCall *call)
{
    HoloTensor *out = holo_out(call, 0);
    if (!out) return HOLO_OK;
    size_t        size = holo_tensor_bytes(out);
    HoloPointwise work = {.fn       = copy_lanes,
                          .in_count = 1,
                          .in       = {*call->in[0]},
                          .out      = *out,
                          .lane     = {HOLO_LANE_I64},
                          .lane_out = HOLO_LANE_I64};
    if (holo_dtype_bits((HoloDtype)out->dtype) > 4) {
        if (size) memmove(out->data, call->in[0]->data, size);
        return HOLO_OK;
    }
    if (work.in[0].dtype == HOLO_F4E2M1) work.in[0].dtype = HOLO_U4;
    if (work.out.dtype == HOLO_F4E2M1) work.out.dtype = HOLO_U4;
    holo_pointwise(call, &work);
    return HOLO_OK;
}

// clang-format off
#define ROW(id, version, inputs, kind, accepted, inference, evaluation)                                              \
    {.name = id, .domain = "", .since = version, .in_min = inputs, .in_max = inputs, .out_min = 1, .out_max = 1,     \
     .types = accepted, .flags = kind, .infer = inference, .eval = evaluation}

const HoloOp holo_ops_cast[] = {
    ROW("Cast", 1, 1, HOLO_OP_POINTWISE | HOLO_OP_TYPED, HOLO_TYPES_ALL & ~HOLO_TYPES_COMPLEX, cast_infer, cast_eval),
    ROW("CastLike", 15, 2, HOLO_OP_TYPED, HOLO_TYPES_ALL & ~HOLO_TYPES_COMPLEX, cast_like_infer, cast_eval),
    ROW("BitCast", 26, 1, HOLO_OP_POINTWISE | HOLO_OP_TYPED, HOLO_TYPES_ALL & ~HOLO_BIT(STRING), bitcast_infer, bitcast_eval),
    {0},
};
// clang-format on
