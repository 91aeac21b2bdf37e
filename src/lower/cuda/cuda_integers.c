// cuda_integers.c - which nodes of quantized models a GPU runs: products and convolutions of bytes, whose weights it packs, and what is
// between them.
#include "devices/cuda/cuda_bytes.h"
#include "graph/facts.h"
#include "lower/cuda/cuda_target.h"

#include <string.h>

static bool is_8(const HoloValue *v, int least, int most)
{
    return holo_value_is(v, HOLO_I8, least, most) || holo_value_is(v, HOLO_U8, least, most);
}

// Is it missing, or a number, or a vector of one or, if n is not 0, of n?
static bool is_line(const HoloValue *v, int dtype, HoloDim n)
{
    if (!v) return true;
    return holo_value_is(v, (HoloDtype)dtype, 0, 1) &&
           (v->type.rank == 0 || v->type.dim[0] == 1 || (n && v->type.dim[0] == n));
}

// A constant, as it was before it was brought to the device.
static const HoloValue *origin(const HoloNode *node, int i)
{
    return holo_cuda_origin(holo_node_in(node, i));
}

// ---- products and convolutions

static const HoloCudaByteOp *op_of(const HoloNode *node)
{
    const HoloCudaByteOp *op = holo_cuda_byte_ops;
    while (op->b != HOLO_CUDA_NO_INPUT && op->id != node->op_id) op++;
    return op;
}

// Sums that are scaled must fit into 32 bits; others wrap.
static bool sums_fit(const HoloNode *node, const HoloCudaByteOp *op, int axis)
{
    const HoloValue *b = origin(node, op->b), *zero = origin(node, op->b_zero), *c = origin(node, op->c);
    return op->a_scale == HOLO_CUDA_NO_INPUT ||
           (holo_tensor_count(&b->type) >= 0 && holo_weights_fit(b, axis, zero, c));
}

// Scales, zero points and biases: those of A and of the result are one number, those of B one for each of n columns, too.
static bool lines_fit(const HoloNode *node, const HoloCudaByteOp *op, HoloDim n, bool is_many)
{
    const HoloValue *a = holo_node_in(node, op->a), *b = holo_node_in(node, op->b), *y = node->out[0];
    const HoloValue *y_zero = holo_node_in(node, op->y_zero), *y_scale = holo_node_in(node, op->y_scale);
    const HoloValue *bias    = holo_node_in(node, op->bias);
    HoloDim          columns = is_many ? 0 : n;
    if (!is_line(holo_node_in(node, op->a_zero), a->type.dtype, 0) ||
        !is_line(holo_node_in(node, op->b_zero), b->type.dtype, columns))
        return false;
    if (op->a_scale == HOLO_CUDA_NO_INPUT) return y->type.dtype == HOLO_I32;
    if (!holo_node_in(node, op->a_scale) || !holo_node_in(node, op->b_scale) || !y_scale != !y_zero) return false;
    return is_line(holo_node_in(node, op->a_scale), HOLO_F32, 0) &&
           is_line(holo_node_in(node, op->b_scale), HOLO_F32, columns) && is_line(y_scale, HOLO_F32, 0) &&
           is_line(y_zero, y->type.dtype, 0) && is_line(holo_node_in(node, op->c), HOLO_I32, n) &&
           (!bias || (holo_value_is(bias, HOLO_F32, 1, 1) && bias->type.dim[0] == n)) &&
           (y_zero ? is_8(y, 0, HOLO_MAX_RANK) : y->type.dtype == HOLO_F32);
}

static bool matrices_fit(const HoloNode *node, const HoloCall *call, const HoloCudaByteOp *op)
{
    const HoloValue *a = holo_node_in(node, op->a), *b = holo_node_in(node, op->b);
    bool             turned = holo_attr_int(call, "transB", 0) != 0;
    double           alpha  = holo_attr_float(call, "alpha", 1);
    if (!is_8(a, 2, HOLO_MAX_RANK) || !is_8(b, 2, HOLO_MAX_RANK) || holo_attr_int(call, "transA", 0)) return false;
    if (alpha < 1 || alpha > 1 || (b->type.rank > 2 && turned) || !holo_cuda_batch_fits(&a->type, &b->type))
        return false;
    int axis = b->type.rank - 2 + !turned;
    return lines_fit(node, op, b->type.dim[axis], b->type.rank > 2) && sums_fit(node, op, axis);
}

// One matrix, which is packed if it is a constant; a bias is one.
static bool float8_fits(const HoloNode *node)
{
    const HoloValue *a = holo_node_in(node, 0), *b = origin(node, 1), *a_scale = holo_node_in(node, 2);
    const HoloValue *b_scale = holo_node_in(node, 3), *bias = origin(node, 4);
    if (!a || !b || a->type.rank < 1 || b->type.rank != 2) return false;
    return holo_value_is(a_scale, HOLO_F32, 0, HOLO_MAX_RANK) && holo_value_is(b_scale, HOLO_F32, 0, 1) &&
           (!bias || (bias->is_constant && bias->type.data && holo_value_is(bias, HOLO_F32, 1, 1)));
}

static bool conv_fits(const HoloNode *node, const HoloCudaByteOp *op)
{
    const HoloValue *x = holo_node_in(node, op->a), *w = holo_node_in(node, op->b);
    if (!is_8(x, 3, 5) || !is_8(w, x->type.rank, x->type.rank)) return false;
    for (int d = 0; d < w->type.rank; d++)
        if (holo_dim_is_symbolic(w->type.dim[d]) || w->type.dim[d] < 1) return false;
    return lines_fit(node, op, w->type.dim[0], false) && sums_fit(node, op, 0);
}

// ---- element by element

static bool quantize_fits(const HoloNode *node, const HoloCall *call)
{
    const uint64_t   f8    = HOLO_BIT(F8E4M3FN) | HOLO_BIT(F8E4M3FNUZ) | HOLO_BIT(F8E5M2) | HOLO_BIT(F8E5M2FNUZ);
    const uint64_t   codes = f8 | HOLO_BIT(I8) | HOLO_BIT(U8) | HOLO_BIT(I16) | HOLO_BIT(U16);
    const uint64_t   reals = HOLO_BIT(F32) | HOLO_BIT(F16) | HOLO_BIT(BF16);
    const HoloValue *x = holo_node_in(node, 0), *scale = holo_node_in(node, 1), *zero = origin(node, 2);
    if (!x || !holo_value_is_sized(x) || !holo_value_is_sized(node->out[0])) return false;
    uint64_t from = UINT64_C(1) << x->type.dtype, to = UINT64_C(1) << node->out[0]->type.dtype;
    if (HOLO_IS(node, DynamicQuantizeLinear)) return x->type.dtype == HOLO_F32;
    if (HOLO_IS(node, Cast)) return (from & f8 && to & reals) || (from & reals && to & f8);
    bool back = holo_node_has(node, HOLO_OP_DEQUANTIZES);
    if (!((back ? from : to) & codes) || (back ? to : from) != HOLO_BIT(F32)) return false;
    if (!holo_value_is(scale, HOLO_F32, 0, HOLO_MAX_RANK) || holo_attr_int(call, "precision", HOLO_F32) != HOLO_F32)
        return false;
    if (!zero || !((back ? from : to) & f8)) return true;
    int64_t count = zero->is_constant && zero->type.data ? holo_tensor_count(&zero->type) : -1;
    for (int64_t i = 0; i < count; i++)
        if (holo_get_f(&zero->type, i) != 0) return false; // a zero point of a float has to be 0
    return count >= 0;
}

static bool pair_fits(const HoloNode *node)
{
    const HoloValue *y = node->out[0];
    if (!is_8(y, 0, HOLO_CUDA_RANK)) return false;
    for (int i = 0; i < node->in_count; i++) {
        bool is_operand = i == 0 || i == 3, is_scale = i == 1 || i == 4 || i == 6;
        bool fits = is_operand ? holo_value_is(node->in[i], (HoloDtype)y->type.dtype, 0, HOLO_CUDA_RANK)
                               : is_line(node->in[i], is_scale ? HOLO_F32 : y->type.dtype, 0);
        if (!fits || ((is_operand || is_scale) && !node->in[i])) return false;
    }
    return node->in_count > 6;
}

static bool lookup_fits(const HoloNode *node)
{
    const HoloValue *x = holo_node_in(node, 0), *table = holo_node_in(node, HOLO_IS(node, HOLOGRAM_LookupPair) ? 2 : 1);
    size_t           size = table ? holo_dtype_size((HoloDtype)table->type.dtype) : 0;
    return x && table && holo_value_is_sized(x) && table->type.dtype != HOLO_STRING &&
           (size == 1 || size == 2 || size == 4 || size == 8) && table->type.rank == 1 &&
           !holo_dim_is_symbolic(table->type.dim[0]);
}

static bool pool_fits(const HoloNode *node, const HoloCall *call)
{
    const HoloValue *x      = holo_node_in(node, 0);
    HoloString       pads   = holo_attr_string(call, "auto_pad", "NOTSET");
    bool             is_max = HOLO_IS(node, MaxPool) || HOLO_IS(node, MICROSOFT_NhwcMaxPool);
    if (!is_8(x, 3, 5) || holo_attr_int(call, "ceil_mode", 0) || holo_attr_int(call, "storage_order", 0)) return false;
    if (pads.size != 6 || memcmp(pads.data, "NOTSET", 6) || (node->out_count > 1 && node->out[1])) return false;
    for (int i = 1; !is_max && i < 5; i++)
        if (!is_line(holo_node_in(node, i), i % 2 ? HOLO_F32 : x->type.dtype, 0)) return false;
    return is_max || (holo_node_in(node, 1) && holo_node_in(node, 3));
}

bool holo_cuda_integers_fit(uint32_t kernel, const HoloNode *node, const HoloCall *call)
{
    const HoloCudaByteOp *op = op_of(node);
    switch (kernel) {
    case HOLO_CUDA_STEP_BYTES: return op->is_conv ? conv_fits(node, op) : matrices_fit(node, call, op);
    case HOLO_CUDA_STEP_FLOAT8: return float8_fits(node);
    case HOLO_CUDA_STEP_QUANTIZE: return quantize_fits(node, call);
    case HOLO_CUDA_STEP_PAIR: return pair_fits(node);
    case HOLO_CUDA_STEP_LOOKUP: return lookup_fits(node);
    default: return pool_fits(node, call);
    }
}

// ---- packed weights

typedef struct Rows {
    int64_t rows, k, row, part_rows; // a row has k numbers in `row` bytes
    int64_t real, channels;          // channels that are not zeros, and all
    int64_t row_stride, channel_stride, tap_stride;
} Rows;

static Rows rows_of(const HoloLowering *lowering, const HoloTensor *w)
{
    uint32_t layout = holo_cuda_params(lowering).layout;
    Rows     r      = {.tap_stride = 1};
    if (w->rank == 2) {
        bool turned = layout & HOLO_CUDA_LAYOUT_TURNED;
        r.rows      = w->dim[!turned];
        r.k = r.channels = r.real = w->dim[turned];
        r.row_stride              = turned ? r.k : 1;
        r.channel_stride          = turned ? 1 : r.rows;
    } else {
        int64_t taps     = holo_product(w->rank - 2, w->dim + 2);
        r.rows           = w->dim[0];
        r.real           = w->dim[1];
        r.channels       = holo_cuda_byte_channels(r.real, layout);
        r.k              = r.channels * taps;
        r.row_stride     = r.real * taps;
        r.channel_stride = taps;
    }
    r.row       = holo_cuda_byte_row(r.k);
    r.part_rows = HOLO_PACK_PART / r.row;
    return r;
}

bool holo_cuda_packs_bytes(const HoloNode *node, HoloLowering *lowering)
{
    const HoloCudaByteOp *op     = op_of(node);
    const HoloValue      *w      = origin(node, op->b);
    HoloCall              call   = holo_node_call(node);
    HoloCudaStepParams    params = holo_cuda_params(lowering);
    int64_t               groups = op->is_conv ? holo_attr_int(&call, "group", 1) : 1;
    if (!w->is_constant || !w->type.data || holo_tensor_count(&w->type) < 1 || groups < 1 || groups > INT32_MAX)
        return false;
    if (op->is_conv ? !holo_attr_int(&call, "channels_last", 0) || !holo_cuda_byte_tiles(&w->type, groups)
                    : w->type.rank != 2)
        return false;
    params.layout = op->is_conv ? (uint32_t)groups : holo_attr_int(&call, "transB", 0) ? HOLO_CUDA_LAYOUT_TURNED : 0;
    holo_cuda_set_params(lowering, &params);
    lowering->pack_input = op->b;
    return rows_of(lowering, &w->type).part_rows > 0;
}

HoloPacking holo_cuda_packing_bytes(const HoloLowering *lowering, const HoloTensor *w)
{
    Rows r = rows_of(lowering, w);
    return (HoloPacking){.bytes = (uint64_t)(r.rows * r.row), .part_count = (r.rows + r.part_rows - 1) / r.part_rows};
}

size_t holo_cuda_pack_bytes(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    Rows           r     = rows_of(lowering, w);
    int64_t        first = part * r.part_rows, count = r.rows - first < r.part_rows ? r.rows - first : r.part_rows;
    const uint8_t *from = w->data;
    memset(out, 0, (size_t)(count * r.row));
    for (int64_t i = 0; i < count; i++) {
        int8_t *to  = (int8_t *)out + i * r.row;
        int32_t sum = 0;
        for (int64_t k = 0; k < r.k; k++) {
            int64_t channel = k % r.channels, tap = k / r.channels;
            if (channel >= r.real) continue;
            uint8_t byte = from[(first + i) * r.row_stride + channel * r.channel_stride + tap * r.tap_stride];
            to[k]        = (int8_t)(w->dtype == HOLO_U8 ? byte ^ 0x80 : byte); // less 128
            sum += to[k];
        }
        memcpy(to + r.row - HOLO_CUDA_BYTES_MORE, &sum, sizeof sum);
    }
    return (size_t)(count * r.row);
}
