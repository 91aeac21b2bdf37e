// choose_i8.c - chooses kernels for 8-bit integers, and packs their weights.
#include "kernels/kernels.h"
#include "lower/cpu/choose.h"

enum { NONE = INT8_MAX };

static bool is_8(const HoloValue *v, int rank_min, int rank_max)
{
    return holo_value_is(v, HOLO_I8, rank_min, rank_max) || holo_value_is(v, HOLO_U8, rank_min, rank_max);
}

// Is it missing, or a scalar or a vector of that type? A vector has one number or, if n is not 0, n numbers.
static bool is_line(const HoloValue *v, int dtype, HoloDim n)
{
    if (!v) return true;
    if (!holo_value_is(v, (HoloDtype)dtype, 0, 1)) return false;
    return v->type.rank == 0 || v->type.dim[0] == 1 || (n && v->type.dim[0] == n);
}

// ---- matmul_i8

typedef struct Inputs { // which input is what
    HoloOpId id;
    int8_t   b, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero, bias, c;
} Inputs;

static const Inputs inputs[] = {
    {HOLO_ID_MatMulInteger, 1, NONE, 2, NONE, 3, NONE, NONE, NONE, NONE},
    {HOLO_ID_QLinearMatMul, 3, 1, 2, 4, 5, 6, 7, NONE, NONE},
    {HOLO_ID_MICROSOFT_MatMulIntegerToFloat, 1, 2, 4, 3, 5, NONE, NONE, 6, NONE},
    {HOLO_ID_MICROSOFT_QGemm, 3, 1, 2, 4, 5, 7, 8, NONE, 6},
};

// Is B a constant that padding does not enlarge much, and does one panel fit into a part of an archive?
static bool can_pack(const HoloValue *b, HoloDim k, HoloDim n)
{
    if (!b->is_constant || !b->type.data || holo_tensor_count(&b->type) <= 0) return false;
    int64_t size = holo_panels_i8_size(k, n);
    return size >= 0 && HOLO_I8_PANEL(k) <= HOLO_PACK_PART && (uint64_t)size / 4 <= holo_tensor_bytes(&b->type);
}

// A and the output have one scale and zero point. B has one, or one for each column; several matrices B have one.
bool holo_lower_matmul_i8(const HoloNode *node, HoloLowering *out)
{
    HoloCall      call = holo_node_call(node);
    const Inputs *in   = inputs;
    while (in->id != node->op_id) in++;
    const HoloValue *a = holo_node_in(node, 0), *b = holo_node_in(node, in->b), *y = node->out[0];
    const HoloValue *y_zero = holo_node_in(node, in->y_zero), *bias = holo_node_in(node, in->bias);
    bool             transposed = holo_attr_int(&call, "transB", 0) != 0;
    if (!is_8(a, 2, HOLO_MAX_RANK) || !is_8(b, 2, HOLO_MAX_RANK) || holo_attr_int(&call, "transA", 0)) return false;
    bool many = b->type.rank > 2;
    if (many && transposed) return false;
    HoloDim k = b->type.dim[b->type.rank - 2 + transposed], n = b->type.dim[b->type.rank - 2 + !transposed];
    if (!is_line(holo_node_in(node, in->a_zero), a->type.dtype, 0) ||
        !is_line(holo_node_in(node, in->b_zero), b->type.dtype, many ? 0 : n))
        return false;
    out->params_size = sizeof out->matmul_i8;
    if (in->a_scale != NONE) {
        const HoloValue *b_zero = holo_node_in(node, in->b_zero);
        bool             fits =
            holo_tensor_count(&b->type) >= 0 && holo_weights_fit(b, b->type.rank - 2 + !transposed, b_zero, NULL);
        if ((!holo_dim_is_symbolic(k) && !fits) || (y_zero && y_zero->type.dtype != y->type.dtype)) return false;
        if (fits) out->matmul_i8.flags |= HOLO_MATMUL_I8_FITS;
        if (!is_line(holo_node_in(node, in->a_scale), HOLO_F32, 0) ||
            !is_line(holo_node_in(node, in->b_scale), HOLO_F32, many ? 0 : n) ||
            !is_line(holo_node_in(node, in->y_scale), HOLO_F32, 0) ||
            !is_line(holo_node_in(node, in->c), HOLO_I32, n) || !is_line(y_zero, y->type.dtype, 0))
            return false;
        if (bias && (!holo_value_is_f32(bias, 1, 1) || bias->type.dim[0] != n)) return false;
        if ((y->type.dtype == HOLO_F32) != !y_zero || (y->type.dtype == HOLO_F32 && holo_node_in(node, in->y_scale)))
            return false;
    }
    if (!many && can_pack(b, k, n)) {
        out->matmul_i8.flags |= HOLO_MATMUL_I8_PACKED_B;
        out->pack_input      = in->b;
        out->pack_transposed = transposed;
    }
    return true;
}

// ---- quantize_i8

enum { RUN_LEAST = 16 }; // elements with the same scale: eval does runs with fewer

bool holo_lower_quantize_i8(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *x = holo_node_in(node, 0), *scale = holo_node_in(node, 1), *zero = holo_node_in(node, 2);
    const HoloValue *y    = node->out[0];
    bool             back = holo_node_has(node, HOLO_OP_DEQUANTIZES);
    out->params_size      = sizeof out->quantize_i8;
    if (HOLO_IS(node, DynamicQuantizeLinear)) return holo_value_is_f32(x, 0, HOLO_MAX_RANK);
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

// X and the output have one scale and zero point; W has one, or one for each filter. Sums that are scaled must fit into
// 32 bits.
static bool conv_fits(const HoloNode *node, int64_t places_most, HoloLowering *out)
{
    bool scaled = HOLO_IS(node, QLinearConv) || HOLO_IS(node, MICROSOFT_QLinearConv); // with channels first or last
    const HoloValue *x = holo_node_in(node, 0), *w = holo_node_in(node, scaled ? 3 : 1), *y = node->out[0];
    if (!is_8(x, 3, 5) || !is_8(w, x->type.rank, x->type.rank)) return false;
    int64_t places = 1, k;
    for (int d = 1; d < w->type.rank; d++) {
        if (holo_dim_is_symbolic(w->type.dim[d])) return false;
        if (d > 1 && (places *= w->type.dim[d]) > places_most) return false;
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
           (!bias || (holo_value_is(bias, HOLO_I32, 1, 1) && bias->type.dim[0] == filters)) &&
           holo_weights_fit(w, 0, holo_node_in(node, 5), NULL);
}

bool holo_lower_conv_i8(const HoloNode *node, HoloLowering *out)
{
    return conv_fits(node, HOLO_CONV_I8_PLACES, out);
}

// ---- pool_i8

// Over the whole image, whose size is known.
static bool lower_pool_global(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call   = holo_node_call(node);
    const HoloValue *x      = holo_node_in(node, 0);
    int64_t          pixels = 1;
    if (!is_8(x, 3, 5) || !holo_attr_int(&call, "channels_last", 0)) return false;
    for (int d = 1; d < x->type.rank - 1; d++)
        if (holo_dim_is_symbolic(x->type.dim[d]) || !holo_mul(pixels, x->type.dim[d], &pixels) || pixels < 1 ||
            pixels > HOLO_POOL_TAPS_I8)
            return false;
    out->params_size = sizeof out->pool_i8;
    return holo_node_in(node, 1) && holo_node_in(node, 3) && is_line(holo_node_in(node, 1), HOLO_F32, 0) &&
           is_line(holo_node_in(node, 2), x->type.dtype, 0) && is_line(holo_node_in(node, 3), HOLO_F32, 0) &&
           is_line(holo_node_in(node, 4), x->type.dtype, 0);
}

// With channels last, sizes rounded down, and a window that is not too large.
bool holo_lower_pool_i8(const HoloNode *node, HoloLowering *out)
{
    if (HOLO_IS(node, MICROSOFT_QLinearGlobalAveragePool)) return lower_pool_global(node, out);
    HoloCall         call   = holo_node_call(node);
    const HoloAttr  *kernel = holo_attr_find(&call, "kernel_shape");
    const HoloValue *x      = holo_node_in(node, 0);
    bool             is_max = HOLO_IS(node, MICROSOFT_NhwcMaxPool);
    double           taps   = 1;
    if (!is_8(x, 3, 5) || holo_attr_int(&call, "ceil_mode", 0) || !kernel || kernel->kind != HOLO_ATTR_INTS)
        return false;
    for (int d = 0; d < kernel->count; d++) taps *= (double)kernel->ints[d];
    out->params_size = sizeof out->pool_i8;
    if (is_max || taps > HOLO_POOL_TAPS_I8) return taps <= HOLO_POOL_TAPS_I8;
    return holo_attr_int(&call, "channels_last", 0) && holo_node_in(node, 1) && holo_node_in(node, 3) &&
           is_line(holo_node_in(node, 1), HOLO_F32, 0) && is_line(holo_node_in(node, 2), x->type.dtype, 0) &&
           is_line(holo_node_in(node, 3), HOLO_F32, 0) && is_line(holo_node_in(node, 4), x->type.dtype, 0);
}

// ---- pair_i8

bool holo_lower_pair_i8(const HoloNode *node, HoloLowering *out)
{
    const HoloValue *y = node->out[0];
    out->params_size   = sizeof out->pair_i8;
    for (int i = 0; i < 2; i++) {
        const HoloValue *x = holo_node_in(node, 3 * i), *scale = holo_node_in(node, 3 * i + 1);
        if (!x || !holo_value_is(x, (HoloDtype)y->type.dtype, 0, HOLO_MAX_RANK) || !scale ||
            !is_line(scale, HOLO_F32, 0) || !is_line(holo_node_in(node, 3 * i + 2), y->type.dtype, 0))
            return false;
    }
    return holo_node_in(node, 6) && is_line(holo_node_in(node, 6), HOLO_F32, 0) &&
           is_line(holo_node_in(node, 7), y->type.dtype, 0);
}

// ---- conv_nhwc_i8

// Constant filters, with channels last. Biases are added to 32-bit sums.
static bool filters_choose(const HoloNode *node, int input, int zero, const HoloValue *bias, HoloLowering *out)
{
    HoloCall         call   = holo_node_call(node);
    const HoloValue *w      = holo_node_in(node, input);
    int64_t          groups = holo_attr_int(&call, "group", 1);
    if (!holo_attr_int(&call, "channels_last", 0) || !w->is_constant || !w->type.data ||
        holo_tensor_count(&w->type) <= 0 || (bias && (!bias->is_constant || !bias->type.data)) ||
        holo_tensor_count(&w->type) / w->type.dim[0] > HOLO_CONV_I8_LAST_K ||
        !holo_weights_fit(w, 0, holo_node_in(node, zero), bias) || groups < 1 || w->type.dim[0] % groups)
        return false;
    out->pack_input  = (int8_t)input;
    out->pack_groups = groups;
    return true;
}

bool holo_lower_conv_nhwc_i8(const HoloNode *node, HoloLowering *out)
{
    return conv_fits(node, HOLO_CONV_I8_LAST, out) && filters_choose(node, 3, 5, holo_node_in(node, 8), out);
}

// The result is real numbers. Filters of one channel each are left to f32.
bool holo_lower_conv_real_i8(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *x = holo_node_in(node, 0), *w = holo_node_in(node, 1), *bias = holo_node_in(node, 6);
    if (!is_8(x, 3, 5) || !is_8(w, x->type.rank, x->type.rank) || !filters_choose(node, 1, 5, NULL, out)) return false;
    HoloDim filters   = w->type.dim[0];
    int64_t groups    = holo_attr_int(&call, "group", 1);
    out->params_size  = sizeof out->conv_i8;
    bool is_depthwise = holo_conv_i8_is_depthwise(w->type.rank, groups, filters / groups, w->type.dim[1]);
    return !is_depthwise && holo_product(w->type.rank - 2, w->type.dim + 2) <= HOLO_CONV_I8_LAST &&
           holo_node_in(node, 2) && is_line(holo_node_in(node, 2), HOLO_F32, 0) && holo_node_in(node, 3) &&
           is_line(holo_node_in(node, 3), HOLO_F32, filters) && is_line(holo_node_in(node, 4), x->type.dtype, 0) &&
           is_line(holo_node_in(node, 5), w->type.dtype, filters) &&
           (!bias || (holo_value_is(bias, HOLO_F32, 1, 1) && bias->type.dim[0] == filters));
}

typedef struct Filters {
    int64_t groups, filters, channels, places, panels; // filters and panels of one group
    bool    depthwise;
} Filters;

static Filters filters_of(const HoloLowering *lowering, const HoloTensor *w)
{
    Filters f   = {.groups   = lowering->pack_groups,
                   .filters  = w->dim[0] / lowering->pack_groups,
                   .channels = w->dim[1],
                   .places   = holo_product(w->rank - 2, w->dim + 2)};
    f.depthwise = holo_conv_i8_is_depthwise(w->rank, f.groups, f.filters, f.channels);
    f.panels    = f.filters / HOLO_PANEL + (f.filters % HOLO_PANEL != 0);
    return f;
}

HoloPacking holo_lower_packing_conv_i8(const HoloLowering *lowering, const HoloTensor *w)
{
    Filters f = filters_of(lowering, w);
    return (HoloPacking){
        .bytes      = (uint64_t)holo_conv_i8_size(f.depthwise, f.groups, f.filters, f.places, f.places * f.channels),
        .part_count = f.depthwise ? f.groups / HOLO_PANEL + (f.groups % HOLO_PANEL != 0) : f.groups * f.panels,
    };
}

// A part is a panel: at most 16 filters, with their numbers in the order [place][channel].
size_t holo_lower_pack_conv_i8(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    Filters        f = filters_of(lowering, w);
    int64_t        k = f.places * f.channels, all = f.depthwise ? f.groups : f.filters;
    int64_t        first = (f.depthwise ? part : part % f.panels) * HOLO_PANEL;
    int64_t        count = all - first < HOLO_PANEL ? all - first : HOLO_PANEL;
    const uint8_t *from  = (const uint8_t *)w->data + ((f.depthwise ? 0 : part / f.panels * f.filters) + first) * k;
    if (f.depthwise) {
        float *to = out;
        for (int64_t p = 0; p < f.places; p++)
            for (int64_t j = 0; j < HOLO_PANEL; j++) {
                uint8_t byte           = j < count ? from[j * k + p] : 0;
                to[p * HOLO_PANEL + j] = w->dtype == HOLO_I8 ? (float)(int8_t)byte : (float)byte;
            }
        return (size_t)f.places * HOLO_PANEL * sizeof(float);
    }
    uint8_t *turned = (uint8_t *)out + HOLO_PACK_PART / 2;
    for (int64_t j = 0; j < count; j++)
        for (int64_t c = 0; c < f.channels; c++)
            for (int64_t p = 0; p < f.places; p++) turned[j * k + p * f.channels + c] = from[j * k + c * f.places + p];
    holo_kernels(0)->pack_i8(k, count, turned, 1, k, w->dtype == HOLO_I8, out);
    return (size_t)holo_panels_i8_size(k, count);
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
