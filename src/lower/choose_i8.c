// choose_i8.c - the choice of kernels for 8-bit integers, and how their weights are packed.
#include "kernels/kernels.h"
#include "lower/choose.h"

#include <string.h>

enum { SCALED_K = 1 << 15 }; // k at most where sums must not wrap
enum { NONE = INT8_MAX };

static bool is_8(const HoloValue *v, int rank_min, int rank_max)
{
    return holo_value_is(v, HOLO_I8, rank_min, rank_max) || holo_value_is(v, HOLO_U8, rank_min, rank_max);
}

// Is there nothing, or a scalar or line of that type: of one number or, where n is not 0, of n?
static bool is_line(const HoloValue *v, int dtype, HoloDim n)
{
    if (!v) return true;
    if (!holo_value_is(v, (HoloDtype)dtype, 0, 1)) return false;
    return v->type.rank == 0 || v->type.dim[0] == 1 || (n && v->type.dim[0] == n);
}

// ---- matmul_i8

typedef struct Inputs { // which input is what
    const char *op;
    int8_t      b, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero, bias, c;
} Inputs;

static const Inputs inputs[] = {
    {"MatMulInteger", 1, NONE, 2, NONE, 3, NONE, NONE, NONE, NONE},
    {"QLinearMatMul", 3, 1, 2, 4, 5, 6, 7, NONE, NONE},
    {"MatMulIntegerToFloat", 1, 2, 4, 3, 5, NONE, NONE, 6, NONE},
    {"QGemm", 3, 1, 2, 4, 5, 7, 8, NONE, 6},
};

// B in panels, where it is a constant that padding does not blow up and whose panels are parts of an archive.
static bool can_pack(const HoloValue *b, HoloDim k, HoloDim n)
{
    if (!b->is_constant || !b->type.data || holo_tensor_count(&b->type) <= 0) return false;
    int64_t size = holo_panels_i8_size(k, n);
    return size >= 0 && HOLO_I8_PANEL(k) <= HOLO_PACK_PART && (uint64_t)size / 4 <= holo_tensor_bytes(&b->type);
}

// One scale and zero point for all of A and of the output; one, or one for each column, of B.
bool holo_lower_matmul_i8(const HoloNode *node, HoloLowering *out)
{
    HoloCall      call = holo_node_call(node);
    const Inputs *in   = inputs;
    while (strcmp(in->op, node->type)) in++;
    const HoloValue *a = holo_node_in(node, 0), *b = holo_node_in(node, in->b), *y = node->out[0];
    const HoloValue *y_zero = holo_node_in(node, in->y_zero), *bias = holo_node_in(node, in->bias);
    bool             transposed = holo_attr_int(&call, "transB", 0) != 0;
    if (!is_8(a, 2, HOLO_MAX_RANK) || !is_8(b, 2, 2) || holo_attr_int(&call, "transA", 0)) return false;
    HoloDim k = b->type.dim[transposed], n = b->type.dim[!transposed];
    if (!is_line(holo_node_in(node, in->a_zero), a->type.dtype, 0) ||
        !is_line(holo_node_in(node, in->b_zero), b->type.dtype, n))
        return false;
    if (in->a_scale != NONE) {
        if (holo_dim_is_symbolic(k) || k > SCALED_K || (y_zero && y_zero->type.dtype != y->type.dtype)) return false;
        if (!is_line(holo_node_in(node, in->a_scale), HOLO_F32, 0) ||
            !is_line(holo_node_in(node, in->b_scale), HOLO_F32, n) ||
            !is_line(holo_node_in(node, in->y_scale), HOLO_F32, 0) ||
            !is_line(holo_node_in(node, in->c), HOLO_I32, n) || !is_line(y_zero, y->type.dtype, 0))
            return false;
        if (bias && (!holo_value_is_f32(bias, 1, 1) || bias->type.dim[0] != n)) return false;
        if ((y->type.dtype == HOLO_F32) != !y_zero || (y->type.dtype == HOLO_F32 && holo_node_in(node, in->y_scale)))
            return false;
    }
    out->params_size = sizeof out->matmul_i8;
    if (can_pack(b, k, n)) {
        out->matmul_i8.flags |= HOLO_MATMUL_I8_PACKED_B;
        out->pack_input      = in->b;
        out->pack_transposed = transposed;
    }
    return true;
}

// ---- quantize_i8

enum { RUN_LEAST = 16 }; // elements with the same scale: fewer are left to eval

bool holo_lower_quantize_i8(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *x = holo_node_in(node, 0), *scale = holo_node_in(node, 1), *zero = holo_node_in(node, 2);
    const HoloValue *y    = node->out[0];
    bool             back = !strcmp(node->type, "DequantizeLinear");
    out->params_size      = sizeof out->quantize_i8;
    if (!strcmp(node->type, "DynamicQuantizeLinear")) return holo_value_is_f32(x, 0, HOLO_MAX_RANK);
    if (!holo_value_is_f32(back ? y : x, 0, HOLO_MAX_RANK) || !is_8(back ? x : y, 0, HOLO_MAX_RANK)) return false;
    if (!holo_value_is_f32(scale, 0, 1) || (zero && !is_8(zero, 0, 1))) return false;
    if (holo_attr_int(&call, "block_size", 0) || holo_attr_int(&call, "precision", HOLO_F32) != HOLO_F32) return false;
    HoloDim scales = scale->type.rank ? scale->type.dim[0] : 1, run = 1;
    if (zero && (zero->type.rank ? zero->type.dim[0] : 1) != scales) return false;
    if (scales == 1) return true;
    int64_t rank = x->type.rank, axis = rank == 1 ? 0 : holo_attr_int(&call, "axis", 1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || x->type.dim[axis] != scales) return false;
    for (int64_t d = axis + 1; d < rank && run < RUN_LEAST; d++) {
        if (holo_dim_is_symbolic(x->type.dim[d])) return false;
        run *= x->type.dim[d];
    }
    return run >= RUN_LEAST;
}

// ---- cast_f32

bool holo_lower_cast(const HoloNode *node, HoloLowering *out)
{
    static const HoloDtype pairs[][2] = {
        {HOLO_I32, HOLO_F32}, {HOLO_F16, HOLO_F32}, {HOLO_BF16, HOLO_F32}, {HOLO_F32, HOLO_F16}, {HOLO_F32, HOLO_BF16}};
    out->params_size = sizeof out->cast;
    for (int i = 0; i < HOLO_COUNT(pairs); i++)
        if (holo_value_is(holo_node_in(node, 0), pairs[i][0], 0, HOLO_MAX_RANK) &&
            holo_value_is(node->out[0], pairs[i][1], 0, HOLO_MAX_RANK))
            return true;
    return false;
}

// ---- conv_i8

// One scale and zero point for all of X and of the output; one, or one for each filter, of W.
bool holo_lower_conv_i8(const HoloNode *node, HoloLowering *out)
{
    bool             scaled = !strcmp(node->type, "QLinearConv");
    const HoloValue *x = holo_node_in(node, 0), *w = holo_node_in(node, scaled ? 3 : 1), *y = node->out[0];
    if (!is_8(x, 3, 5) || !is_8(w, x->type.rank, x->type.rank)) return false;
    int64_t places = 1, k;
    for (int d = 1; d < w->type.rank; d++) {
        if (holo_dim_is_symbolic(w->type.dim[d])) return false;
        if (d > 1 && (places *= w->type.dim[d]) > HOLO_CONV_I8_PLACES) return false;
    }
    if (__builtin_mul_overflow(places, w->type.dim[1], &k) || k > HOLO_CONV_I8_K) return false;
    HoloDim filters = w->type.dim[0];
    if (!is_line(holo_node_in(node, 2), x->type.dtype, 0) ||
        !is_line(holo_node_in(node, scaled ? 5 : 3), w->type.dtype, filters))
        return false;
    out->params_size = sizeof out->conv_i8;
    if (!scaled) return true;
    const HoloValue *bias = holo_node_in(node, 8);
    return is_line(holo_node_in(node, 1), HOLO_F32, 0) && is_line(holo_node_in(node, 4), HOLO_F32, filters) &&
           is_line(holo_node_in(node, 6), HOLO_F32, 0) && is_line(holo_node_in(node, 7), y->type.dtype, 0) &&
           (!bias || (holo_value_is(bias, HOLO_I32, 1, 1) && bias->type.dim[0] == filters));
}

// ---- packing: parts are whole panels

static int64_t part_panels(int64_t k)
{
    return HOLO_PACK_PART / HOLO_I8_PANEL(k);
}

HoloPacking holo_lower_packing_i8(const HoloLowering *lowering, const HoloTensor *w)
{
    int64_t k = w->dim[lowering->pack_transposed], n = w->dim[!lowering->pack_transposed];
    int64_t panels = n / HOLO_PANEL + (n % HOLO_PANEL != 0), parts = part_panels(k);
    return (HoloPacking){
        .bytes      = (uint64_t)holo_panels_i8_size(k, n),
        .part_count = panels / parts + (panels % parts != 0),
    };
}

size_t holo_lower_pack_i8(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    bool    transposed = lowering->pack_transposed;
    int64_t k = w->dim[transposed], n = w->dim[!transposed], row = transposed ? 1 : n, column = transposed ? k : 1;
    int64_t first = part * part_panels(k) * HOLO_PANEL, columns = part_panels(k) * HOLO_PANEL;
    if (columns > n - first) columns = n - first;
    holo_kernels(0)->pack_i8(k, columns, (const uint8_t *)w->data + first * column, row, column, w->dtype == HOLO_I8,
                             out);
    return (size_t)holo_panels_i8_size(k, columns);
}
