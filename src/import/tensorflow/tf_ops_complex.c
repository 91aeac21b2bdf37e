// tf_ops_complex.c - complex numbers of TensorFlow, which are pairs, [..., 2]: Fourier transforms, arithmetic, and what moves them.
#include "import/tensorflow/tf_ops.h"

static void give_pairs_at(HoloFlowCall *c, int i, HoloValue *pairs)
{
    holo_flow_out_value(c, i, (HoloFlowValue){pairs ? HOLO_FLOW_COMPLEX : HOLO_FLOW_NOTHING, pairs, NULL});
}

static void give_pairs(HoloFlowCall *c, HoloValue *pairs)
{
    give_pairs_at(c, 0, pairs);
}

// The pairs of input i, of real numbers too.
static HoloValue *pairs_of(HoloFlowCall *c, int i)
{
    if (i < c->in_count && c->in[i].kind == HOLO_FLOW_COMPLEX) return c->in[i].value;
    HoloValue *x    = holo_flow_in(c, i);
    int64_t    last = -1, pads[2 * HOLO_MAX_RANK] = {0};
    int        rank = holo_flow_rank(c, x);
    if (c->e->status || rank + 1 > HOLO_MAX_RANK) return NULL;
    pads[2 * rank + 1] = 1;
    return holo_emit(c->e, "Pad",
                     HOLO_IN(holo_emit_unsqueeze(c->e, x, &last, 1), holo_emit_ints(c->e, pads, 2 * rank + 2)), NULL);
}

static HoloValue *part_of(HoloFlowCall *c, HoloValue *pairs, int64_t part)
{
    return holo_emit(c->e, "Gather", HOLO_IN(pairs, holo_emit_int(c->e, part)), HOLO_ATTRS(holo_with_int("axis", -1)));
}

// Two parts of the same sizes.
static HoloValue *paired(HoloFlowCall *c, HoloValue *re, HoloValue *im)
{
    int64_t last = -1;
    return holo_emit(c->e, "Concat",
                     HOLO_IN(holo_emit_unsqueeze(c->e, re, &last, 1), holo_emit_unsqueeze(c->e, im, &last, 1)),
                     HOLO_ATTRS(holo_with_int("axis", -1)));
}

static void complex_of(HoloFlowCall *c)
{
    HoloValue *re = holo_flow_in(c, 0), *im = holo_flow_in(c, 1);
    re = holo_flow_two(c, "Add", re, holo_flow_two(c, "Sub", im, im)); // both get the sizes of both
    im = holo_flow_two(c, "Add", im, holo_flow_two(c, "Sub", re, re));
    give_pairs(c, paired(c, re, im));
}

static void one_part(HoloFlowCall *c)
{
    holo_flow_out(c, 0, part_of(c, pairs_of(c, 0), c->op->number));
}

static void complex_abs(HoloFlowCall *c)
{
    int64_t last = -1;
    holo_flow_out(c, 0,
                  holo_emit(c->e, "ReduceL2", HOLO_IN(pairs_of(c, 0), holo_emit_ints(c->e, &last, 1)),
                            HOLO_ATTRS(holo_with_int("keepdims", 0))));
}

static void angle(HoloFlowCall *c)
{
    HoloValue *pairs = pairs_of(c, 0), *in[] = {part_of(c, pairs, 1), part_of(c, pairs, 0)};
    holo_flow_out(c, 0, holo_flow_as(c, "Atan2", in, 2));
}

// The length of a transform, which RFFT and IRFFT are given; NULL: that of the input.
static HoloValue *length_of(HoloFlowCall *c)
{
    int64_t length[4];
    if (c->in_count < 2) return NULL;
    int count = holo_flow_known(c, 1, length, 4);
    if (count != 1) {
        if (!c->e->status) holo_flow_fail(c, HOLO_UNSUPPORTED, "a transform along %d dimensions", count);
        return NULL;
    }
    return holo_emit_int(c->e, length[0]);
}

// Along one of the last dimensions: -2 is the last of pairs. `length` may be NULL.
static HoloValue *along(HoloFlowCall *c, HoloValue *x, HoloValue *length, int64_t axis, bool is_inverse, bool is_half)
{
    return holo_emit(c->e, "DFT", HOLO_IN(x, length, holo_emit_int(c->e, axis)),
                     HOLO_ATTRS(holo_with_int("inverse", is_inverse), holo_with_int("onesided", is_half)));
}

static HoloValue *transform(HoloFlowCall *c, HoloValue *x, bool is_inverse, bool is_half)
{
    return along(c, x, length_of(c), -2, is_inverse, is_half);
}

static void fft(HoloFlowCall *c)
{
    give_pairs(c, transform(c, pairs_of(c, 0), c->op->number, false));
}

static void rfft(HoloFlowCall *c)
{
    int64_t last = -1;
    give_pairs(c, transform(c, holo_emit_unsqueeze(c->e, holo_flow_in(c, 0), &last, 1), false, true));
}

static void irfft(HoloFlowCall *c)
{
    int64_t last = -1;
    holo_flow_out(c, 0, holo_emit_squeeze(c->e, transform(c, pairs_of(c, 0), true, true), &last, 1));
}

static void fft_2d(HoloFlowCall *c)
{
    HoloValue *x = along(c, pairs_of(c, 0), NULL, -2, c->op->number, false);
    give_pairs(c, along(c, x, NULL, -3, c->op->number, false));
}

// number: the inverse, whose result is real.
static void rfft_2d(HoloFlowCall *c)
{
    int64_t length[4], last = -1;
    if (holo_flow_known(c, 1, length, 4) != 2) return;
    HoloValue *rows = holo_emit_int(c->e, length[0]), *columns = holo_emit_int(c->e, length[1]);
    if (c->op->number) {
        HoloValue *x = along(c, pairs_of(c, 0), rows, -3, true, false);
        return holo_flow_out(c, 0, holo_emit_squeeze(c->e, along(c, x, columns, -2, true, true), &last, 1));
    }
    HoloValue *x = along(c, holo_emit_unsqueeze(c->e, holo_flow_in(c, 0), &last, 1), columns, -2, false, true);
    give_pairs(c, along(c, x, rows, -3, false, false));
}

static void conjugate(HoloFlowCall *c)
{
    static const float sign[] = {1, -1};
    HoloTensor         t      = {.dtype = HOLO_F32, .rank = 1, .dim = {2}, .data = (void *)sign};
    if (c->in_count && c->in[0].kind != HOLO_FLOW_COMPLEX) return holo_flow_out(c, 0, holo_flow_in(c, 0));
    HoloValue *pairs = pairs_of(c, 0);
    if (c->e->status) return;
    give_pairs(c, holo_emit(c->e, "Mul", HOLO_IN(pairs, holo_emit_constant(c->e, NULL, &t)), NULL));
}

// ---- operators of real numbers that have complex ones here

// The parts of inputs 0 and 1: a + bi and c + di.
static void product(HoloFlowCall *c)
{
    bool       divides = holo_flow_is(c->node->op, "RealDiv") || holo_flow_is(c->node->op, "Div");
    HoloValue *x = pairs_of(c, 0), *y = pairs_of(c, holo_flow_is(c->node->op, "Square") ? 0 : 1);
    HoloValue *a = part_of(c, x, 0), *b = part_of(c, x, 1), *p = part_of(c, y, 0), *q = part_of(c, y, 1), *size = NULL;
    if (divides) { // by the conjugate, divided by the square of its size
        size = holo_flow_two(c, "Add", holo_flow_two(c, "Mul", p, p), holo_flow_two(c, "Mul", q, q));
        q    = holo_flow_one(c, "Neg", q);
    }
    HoloValue *re = holo_flow_two(c, "Sub", holo_flow_two(c, "Mul", a, p), holo_flow_two(c, "Mul", b, q));
    HoloValue *im = holo_flow_two(c, "Add", holo_flow_two(c, "Mul", a, q), holo_flow_two(c, "Mul", b, p));
    if (divides) re = holo_flow_two(c, "Div", re, size), im = holo_flow_two(c, "Div", im, size);
    give_pairs(c, paired(c, re, im));
}

static void exponential(HoloFlowCall *c)
{
    HoloValue *x = pairs_of(c, 0), *size = holo_flow_one(c, "Exp", part_of(c, x, 0)), *im = part_of(c, x, 1);
    give_pairs(c, paired(c, holo_flow_two(c, "Mul", size, holo_flow_one(c, "Cos", im)),
                         holo_flow_two(c, "Mul", size, holo_flow_one(c, "Sin", im))));
}

static void convert(HoloFlowCall *c)
{
    HoloDtype t = holo_flow_type(c, "DstT");
    if (t == HOLO_C64 || t == HOLO_C128) return give_pairs(c, pairs_of(c, 0));
    holo_flow_out(c, 0, holo_emit_cast(c->e, part_of(c, pairs_of(c, 0), 0), t ? t : HOLO_F32));
}

// The operator for each part by itself: it moves elements, or adds them. number: 1 if only the sizes matter.
static void by_parts(HoloFlowCall *c, bool is_size)
{
    HoloFlowCall   part[2];
    HoloFlowValue *in[2] = {HOLO_NEW(c->tf->arena, HoloFlowValue, c->in_count + 1),
                            HOLO_NEW(c->tf->arena, HoloFlowValue, c->in_count + 1)};
    if (!in[0] || !in[1]) return holo_flow_fail(c, HOLO_NO_MEMORY, "there is no memory");
    for (int k = 0; k < (is_size ? 1 : 2) && !c->e->status; k++) {
        for (int i = 0; i < c->in_count; i++) {
            in[k][i] = c->in[i];
            if (c->in[i].kind != HOLO_FLOW_COMPLEX) continue;
            in[k][i] = (HoloFlowValue){HOLO_FLOW_TENSOR, part_of(c, c->in[i].value, k), NULL};
        }
        part[k]     = *c;
        part[k].in  = in[k];
        part[k].out = NULL, part[k].out_count = 0;
        c->op->emit(&part[k]);
    }
    if (c->e->status) return;
    for (int i = 0; i < part[0].out_count; i++) {
        if (is_size)
            holo_flow_out(c, i, part[0].out[i].value);
        else
            give_pairs_at(c, i, paired(c, part[0].out[i].value, part[1].out[i].value));
    }
}

static void conjugate_transpose(HoloFlowCall *c)
{
    HoloFlowCall inner = *c;
    by_parts(&inner, false);
    if (c->e->status || !inner.out_count) return;
    HoloFlowValue moved = inner.out[0];
    HoloFlowCall  outer = *c;
    outer.in            = &moved;
    outer.in_count      = 1;
    conjugate(&outer);
    c->out       = outer.out;
    c->out_count = outer.out_count;
}

bool holo_flow_on_complex(HoloFlowCall *c)
{
    static const struct {
        const char *name;
        void (*emit)(HoloFlowCall *c); // NULL: by parts
        bool is_size;
    } rows[] = {
        {"Mul", product},
        {"Square", product},
        {"RealDiv", product},
        {"Div", product},
        {"Exp", exponential},
        {"Cast", convert},
        {"Shape", NULL, true},
        {"Size", NULL, true},
        {"Rank", NULL, true},
        {"Add", NULL},
        {"AddV2", NULL},
        {"Sub", NULL},
        {"Neg", NULL},
        {"AddN", NULL},
        {"Sum", NULL},
        {"Mean", NULL},
        {"Reshape", NULL},
        {"Squeeze", NULL},
        {"ExpandDims", NULL},
        {"Transpose", NULL},
        {"Slice", NULL},
        {"StridedSlice", NULL},
        {"Pad", NULL},
        {"PadV2", NULL},
        {"ConcatV2", NULL},
        {"Pack", NULL},
        {"Unpack", NULL},
        {"Split", NULL},
        {"SplitV", NULL},
        {"GatherV2", NULL},
        {"Gather", NULL},
        {"GatherNd", NULL},
        {"Tile", NULL},
        {"ReverseV2", NULL},
        {"Roll", NULL},
        {"BroadcastTo", NULL},
        {"ZerosLike", NULL},
        {"MatrixDiagPart", NULL},
        {"ConjugateTranspose", conjugate_transpose},
    };
    HoloDtype to         = holo_flow_is(c->node->op, "Cast") ? holo_flow_type(c, "DstT") : HOLO_NONE;
    bool      is_complex = to == HOLO_C64 || to == HOLO_C128;
    for (int i = 0; i < c->in_count; i++) is_complex |= c->in[i].kind == HOLO_FLOW_COMPLEX;
    for (int i = 0; i < HOLO_COUNT(rows) && is_complex; i++) {
        if (!holo_flow_is(c->node->op, rows[i].name)) continue;
        if (rows[i].emit)
            rows[i].emit(c);
        else
            by_parts(c, rows[i].is_size);
        return true;
    }
    return false;
}

// clang-format off
const HoloFlowOp holo_flow_ops_complex[] = {
    {"Complex", complex_of}, {"Real", one_part}, {"Imag", one_part, .number = 1}, {"ComplexAbs", complex_abs}, {"Angle", angle},
    {"FFT", fft}, {"IFFT", fft, .number = 1}, {"RFFT", rfft}, {"IRFFT", irfft},
    {"FFT2D", fft_2d}, {"IFFT2D", fft_2d, .number = 1}, {"RFFT2D", rfft_2d}, {"IRFFT2D", rfft_2d, .number = 1}, {"Conj", conjugate},
    {0},
};
