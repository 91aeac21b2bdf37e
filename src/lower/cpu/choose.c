// choose.c - chooses a fast kernel for a node. A table of operators has a function for each that checks whether the
// kernel can do what the node asks.
#include "lower/cpu/choose.h"
#include "kernels/kernels.h"
#include "ops/hologram/formula.h"
#include "ops/hologram/program.h"

#include <string.h>

// ---- packing

// How a constant matrix is packed. A part is some whole panels of one matrix or, if even one panel is too long, some
// rows of a panel.
typedef struct Panels {
    int64_t count, k, n;
    int64_t row, column; // strides of the plain form
    int64_t part_rows, part_panels;
    int64_t pieces, groups; // parts in a panel, and parts in a matrix
} Panels;

// `b` has at least two dimensions and at least one element.
static Panels panels_of(const HoloTensor *b, bool transposed)
{
    const int64_t rows_max = HOLO_PACK_PART / (HOLO_PANEL * (int64_t)sizeof(float));
    int64_t       last = b->dim[b->rank - 1], before = b->dim[b->rank - 2];
    Panels        p = {
               .count  = holo_product(b->rank - 2, b->dim),
               .k      = transposed ? last : before,
               .n      = transposed ? before : last,
               .row    = transposed ? 1 : last,
               .column = transposed ? last : 1,
    };
    p.part_rows   = p.k < rows_max ? p.k : rows_max;
    p.part_panels = rows_max / p.part_rows;
    p.pieces      = holo_ceil_div(p.k, p.part_rows);
    p.groups      = holo_ceil_div(holo_ceil_div(p.n, HOLO_PANEL), p.part_panels);
    return p;
}

bool holo_lower_pack(const HoloNode *node, int i, bool transposed, HoloLowering *out)
{
    const HoloValue  *b = node->in[i];
    const HoloTensor *t = &b->type;
    if (!b->is_constant || !t->data || t->rank < 2 || holo_tensor_count(t) <= 0) return false;
    Panels  p    = panels_of(t, transposed);
    int64_t size = holo_panels_size(p.count, p.k, p.n);
    if (size < 0 || size / 8 > holo_tensor_count(t)) return false;
    out->pack_input      = i;
    out->pack_transposed = transposed;
    return true;
}

static HoloPacking panels_packing(const HoloLowering *lowering, const HoloTensor *w)
{
    Panels p = panels_of(w, lowering->pack_transposed);
    return (HoloPacking){
        .bytes      = (uint64_t)holo_panels_size(p.count, p.k, p.n),
        .part_count = p.count * p.pieces * p.groups,
    };
}

static size_t panels_pack(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    Panels  p      = panels_of(w, lowering->pack_transposed);
    int64_t row    = part % p.pieces * p.part_rows;
    int64_t column = part / p.pieces % p.groups * p.part_panels * HOLO_PANEL;
    int64_t matrix = part / p.pieces / p.groups;
    int64_t rows = p.k - row, columns = p.n - column;
    if (rows > p.part_rows) rows = p.part_rows;
    if (columns > p.part_panels * HOLO_PANEL) columns = p.part_panels * HOLO_PANEL;
    int64_t from = matrix * p.k * p.n + row * p.row + column * p.column;
    if (w->dtype == HOLO_F32)
        holo_kernels(0)->pack_f32(rows, columns, (const float *)w->data + from, p.row, p.column, out);
    else
        holo_lower_pack_wide(w, from, rows, columns, p.row, p.column, out);
    return (size_t)holo_panels_size(1, rows, columns);
}

// take_rows packs as the products do that may share its table.
static HoloPacking rows_packing(const HoloLowering *lowering, const HoloTensor *w)
{
    return lowering->pack_type ? holo_lower_packing_blocks(lowering, w) : panels_packing(lowering, w);
}

static size_t rows_pack(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    return lowering->pack_type ? holo_lower_pack_blocks(lowering, w, part, out) : panels_pack(lowering, w, part, out);
}

// How the weights of each kernel are packed. If none of the bits of `flag` is set in the flags of the kernel's
// parameters, which follow the size in the blocks of these kernels, the kernel takes weights plain. 0: it always takes
// them packed.
typedef struct Packer {
    HoloPacking (*packing)(const HoloLowering *lowering, const HoloTensor *w);
    size_t (*pack)(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);
    uint32_t flag;
} Packer;

enum { RECURRENT_FLAGS = HOLO_RECURRENT_PACKED_R | HOLO_RECURRENT_PACKED_W };

static const Packer packers[] = {
    [HOLO_KERNEL_matmul_f32]       = {panels_packing, panels_pack, HOLO_MATMUL_PACKED_B | HOLO_WEIGHTS_NARROW},
    [HOLO_KERNEL_lstm_f32]         = {holo_lower_packing_gates, holo_lower_pack_gates, RECURRENT_FLAGS},
    [HOLO_KERNEL_lstm_i8]          = {holo_lower_packing_gates_i8, holo_lower_pack_gates_i8, RECURRENT_FLAGS},
    [HOLO_KERNEL_gru_f32]          = {holo_lower_packing_gates, holo_lower_pack_gates, RECURRENT_FLAGS},
    [HOLO_KERNEL_gru_reset_f32]    = {holo_lower_packing_gates, holo_lower_pack_gates, RECURRENT_FLAGS},
    [HOLO_KERNEL_rnn_f32]          = {holo_lower_packing_gates, holo_lower_pack_gates, RECURRENT_FLAGS},
    [HOLO_KERNEL_matmul_i8]        = {holo_lower_packing_i8, holo_lower_pack_i8, HOLO_MATMUL_I8_PACKED_B},
    [HOLO_KERNEL_matmul_nbits_f32] = {holo_lower_packing_nbits, holo_lower_pack_nbits, HOLO_MATMUL_NBITS_PACKED},
    [HOLO_KERNEL_matmul_blocks]    = {holo_lower_packing_blocks, holo_lower_pack_blocks, HOLO_MATMUL_BLOCKS_PACKED},
    [HOLO_KERNEL_take_rows]        = {rows_packing, rows_pack, HOLO_TAKE_ROWS_PACKED | HOLO_WEIGHTS_NARROW},
    [HOLO_KERNEL_conv_nhwc_i8]     = {holo_lower_packing_conv_i8, holo_lower_pack_conv_i8, 0},
    [HOLO_KERNEL_conv_nhwc_f32]    = {holo_lower_packing_conv, holo_lower_pack_conv, 0},
};

HoloPacking holo_cpu_packing(const HoloLowering *lowering, const HoloTensor *w)
{
    HoloPacking packing = packers[lowering->kernel].packing(lowering, w);
    packing.bytes       = (uint64_t)holo_weights_size((int64_t)packing.bytes, holo_lower_narrow(lowering));
    return packing;
}

size_t holo_cpu_pack(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    size_t size = packers[lowering->kernel].pack(lowering, w, part, out);
    return holo_lower_pack_narrow(lowering, part == 0, size, out);
}

void holo_cpu_unpack(HoloLowering *lowering)
{
    if (lowering->pack_input < 0) return;
    uint32_t flag = packers[lowering->kernel].flag;
    if (flag)
        lowering->matmul.flags &= ~flag;
    else
        lowering->kernel = HOLO_KERNEL_EVAL;
    lowering->pack_input = -1;
    lowering->pack_also  = 0;
}

uint32_t holo_lower_panels_form(const HoloLowering *lowering, const HoloTensor *w)
{
    uint32_t narrow = holo_lower_narrow(lowering);
    bool     shared = lowering->pack_transposed && w->rank == 2 && !(narrow & HOLO_WEIGHTS_CODES);
    return shared ? HOLO_FORM_PANELS | narrow : HOLO_FORM_OWN;
}

// ---- matmul_f32

bool holo_lower_tail(const HoloNode *node, HoloProgram *out)
{
    HoloCall call = holo_node_call(node);
    for (int i = 3; i < node->in_count; i++)
        if (!holo_value_is_f32(node->in[i], 0, HOLO_MAX_RANK)) return false;
    return holo_program_read(&call, out) == HOLO_OK;
}

// The number of rows that are multiplied with each matrix of B; -1: not known.
static int64_t rows_of(const HoloTensor *a, const HoloTensor *b, bool transposed)
{
    int64_t rows = 1;
    for (int d = b->rank > 2 && a->rank > 2 ? a->rank - 2 : 0; d < a->rank; d++) {
        if (d == a->rank - (transposed && a->rank > 1 ? 2 : 1)) continue;
        if (holo_dim_is_symbolic(a->dim[d]) || __builtin_mul_overflow(rows, a->dim[d], &rows)) return -1;
    }
    return rows;
}

static bool matmul(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *a = holo_node_in(node, 0), *b = holo_node_in(node, 1), *c = holo_node_in(node, 2);
    bool             narrow = b && (b->type.dtype == HOLO_F16 || b->type.dtype == HOLO_BF16); // of hologram.MatMul
    if (!holo_value_is_f32(a, 1, HOLO_MAX_RANK) || (c && !holo_value_is_f32(c, 0, 2))) return false;
    if (!holo_value_is(b, narrow ? (HoloDtype)b->type.dtype : HOLO_F32, 1, HOLO_MAX_RANK)) return false;
    if (holo_attr_int(&call, "transBatchA", 0) || holo_attr_int(&call, "transBatchB", 0)) return false;
    out->params_size  = sizeof out->matmul;
    out->matmul.alpha = (float)holo_attr_float(&call, "alpha", 1);
    out->matmul.beta  = (float)holo_attr_float(&call, "beta", 1);
    if (holo_attr_int(&call, "transA", 0)) out->matmul.flags |= HOLO_MATMUL_TRANS_A;
    if (holo_attr_int(&call, "transB", 0)) out->matmul.flags |= HOLO_MATMUL_TRANS_B;
    if (holo_lower_pack(node, 1, out->matmul.flags & HOLO_MATMUL_TRANS_B, out)) {
        int64_t rows = rows_of(&a->type, &b->type, out->matmul.flags & HOLO_MATMUL_TRANS_A);
        out->matmul.flags |= HOLO_MATMUL_PACKED_B | holo_lower_narrow_type(&b->type, rows, out->pack_book);
        out->pack_form = holo_lower_panels_form(out, &b->type);
    } else if (narrow) {
        return false;
    }
    return !HOLO_IS(node, HOLOGRAM_MatMul) || holo_lower_tail(node, &out->matmul.tail);
}

// ---- conv_f32 and softmax_f32

static bool conv(const HoloNode *node, HoloLowering *out)
{
    const HoloValue *x = holo_node_in(node, 0), *w = holo_node_in(node, 1), *b = holo_node_in(node, 2);
    out->params_size = sizeof out->conv;
    return holo_value_is_f32(x, 3, 5) && holo_value_is_f32(w, x->type.rank, x->type.rank) &&
           (!b || holo_value_is_f32(b, 1, 1));
}

// Before opset 13 a row is all axes from `axis` on, since then it is one axis.
static bool softmax(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call   = holo_node_call(node);
    const HoloValue *x      = holo_node_in(node, 0);
    bool             matrix = node->version < 13;
    if (!holo_value_is_f32(x, 1, HOLO_MAX_RANK)) return false;
    int64_t rank = x->type.rank, axis = holo_attr_int(&call, "axis", matrix ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank || (!matrix && axis == rank)) return false;
    out->params_size   = sizeof out->softmax;
    out->softmax.axes  = (uint32_t)(rank - axis);
    out->softmax.kept  = matrix ? 0 : (uint32_t)(rank - 1 - axis);
    out->softmax.flags = HOLO_IS(node, LogSoftmax) ? HOLO_SOFTMAX_LOG : 0;
    return true;
}

// ---- rows: norm_f32 and reduce_f32

static bool has_one_output(const HoloNode *node)
{
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    return true;
}

// Scale and bias, if there is one, have an element for each element of the last axes: they are not broadcast.
static bool layer_norm(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *x = holo_node_in(node, 0), *scale = holo_node_in(node, 1), *bias = holo_node_in(node, 2);
    if (!holo_value_is_f32(x, 1, HOLO_MAX_RANK) || !has_one_output(node)) return false;
    int64_t rank = x->type.rank, axis = holo_attr_int(&call, "axis", -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || holo_attr_int(&call, "stash_type", HOLO_F32) != HOLO_F32) return false;
    int axes = (int)(rank - axis);
    if (!holo_value_is_f32(scale, axes, axes) || (bias && !holo_value_is_f32(bias, axes, axes))) return false;
    for (int d = 0; d < axes; d++)
        if (scale->type.dim[d] != x->type.dim[axis + d] || (bias && bias->type.dim[d] != scale->type.dim[d]))
            return false;
    out->params_size  = sizeof out->norm;
    out->norm.flags   = HOLO_IS(node, LayerNormalization) ? HOLO_NORM_CENTRED : 0;
    out->norm.axes    = (uint32_t)axes;
    out->norm.epsilon = (float)holo_attr_float(&call, "epsilon", 1e-5);
    return true;
}

static bool group_norm(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call  = holo_node_call(node);
    const HoloValue *x     = holo_node_in(node, 0);
    bool             group = HOLO_IS(node, GroupNormalization);
    int64_t          count = group ? holo_attr_int(&call, "num_groups", 0) : 0;
    if (!holo_value_is_f32(x, 3, HOLO_MAX_RANK)) return false;
    for (int i = 1; i <= 2; i++) {
        const HoloValue *v = holo_node_in(node, i);
        if (!holo_value_is_f32(v, 1, 1) || v->type.dim[0] != x->type.dim[1]) return false;
    }
    if (group && (node->version < 21 || count < 1 || count > INT32_MAX))
        return false; // before version 21 there is one
                      // scale for each group
    out->params_size  = sizeof out->norm;
    out->norm.flags   = HOLO_NORM_CENTRED;
    out->norm.groups  = (uint32_t)count;
    out->norm.epsilon = (float)holo_attr_float(&call, "epsilon", 1e-5);
    return true;
}

static bool group_norm_last(const HoloNode *node, HoloLowering *out)
{
    HoloCall call   = holo_node_call(node);
    int64_t  groups = holo_attr_int(&call, "num_groups", 0);
    if (!holo_value_is_f32(holo_node_in(node, 0), 3, HOLO_MAX_RANK) ||
        !holo_value_is_f32(holo_node_in(node, 1), 1, 1) || !holo_value_is_f32(holo_node_in(node, 2), 1, 1) ||
        groups < 1 || groups > INT32_MAX)
        return false;
    out->params_size        = sizeof out->group_norm;
    out->group_norm.groups  = (uint32_t)groups;
    out->group_norm.epsilon = (float)holo_attr_float(&call, "epsilon", 1e-5);
    return holo_lower_tail(node, &out->group_norm.tail);
}

// If a reduction is over neighboring axes: how many, and how many axes are behind them. 0: it is over other axes, or
// over none. Axes of size 1 do not matter.
static int axes_of(const HoloNode *node, int rank, const HoloDim *dim, int *out_kept)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *in   = holo_node_in(node, 1);
    int64_t          axes[HOLO_MAX_RANK];
    int              count             = holo_attr_ints(&call, "axes", axes, HOLO_MAX_RANK);
    bool             is[HOLO_MAX_RANK] = {false};
    if (in) {
        if (!in->is_constant || !in->type.data || in->type.dtype != HOLO_I64) return 0;
        count = in->type.rank == 1 && in->type.dim[0] <= HOLO_MAX_RANK ? (int)in->type.dim[0] : HOLO_MAX_RANK + 1;
        if (count <= HOLO_MAX_RANK) memcpy(axes, in->type.data, (size_t)count * sizeof *axes);
    }
    if (count <= 0) return holo_attr_int(&call, "noop_with_empty_axes", 0) ? 0 : rank;
    for (int i = 0; i < count; i++) {
        int64_t axis = count > HOLO_MAX_RANK ? -1 : axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank || is[axis]) return 0;
        is[axis] = true;
    }
    int first = 0, end = rank;
    while (end > 0 && (!is[end - 1] || dim[end - 1] == 1)) end--;
    while (first < end && (!is[first] || dim[first] == 1)) first++;
    for (int d = first; d < end; d++)
        if (!is[d] && dim[d] != 1) return 0;
    *out_kept = rank - end;
    return end - first;
}

// Rows without elements are left to eval.
static bool reduce(const HoloNode *node, HoloLowering *out)
{
    static const HoloOpId folds[] = {HOLO_ID_ReduceSum, HOLO_ID_ReduceMean,      HOLO_ID_ReduceMax,
                                     HOLO_ID_ReduceMin, HOLO_ID_ReduceSumSquare, HOLO_ID_ReduceL1,
                                     HOLO_ID_ReduceL2,  HOLO_ID_ReduceProd};
    const HoloValue      *x       = holo_node_in(node, 0);
    if (!holo_value_is_f32(x, 1, HOLO_MAX_RANK)) return false;
    bool is_mean = HOLO_IS(node, GlobalAveragePool), global = is_mean || HOLO_IS(node, GlobalMaxPool);
    out->reduce.op = is_mean ? HOLO_REDUCE_MEAN : HOLO_REDUCE_MAX;
    for (uint32_t i = 0; i < HOLO_COUNT(folds); i++)
        if (folds[i] == node->op_id) out->reduce.op = i;
    int kept = 0, axes = global ? x->type.rank - 2 : axes_of(node, x->type.rank, x->type.dim, &kept);
    if (axes < 1) return false;
    for (int d = x->type.rank - kept - axes; d < x->type.rank - kept; d++)
        if (x->type.dim[d] == 0) return false;
    out->params_size = sizeof out->reduce;
    out->reduce.axes = (uint32_t)axes;
    out->reduce.kept = (uint32_t)kept;
    return true;
}

// ---- pool_f32

static bool has_no_pads(const HoloCall *call)
{
    int64_t pads[2 * HOLO_MAX_RANK] = {0};
    int     count                   = holo_attr_ints(call, "pads", pads, HOLO_COUNT(pads));
    for (int i = 0; i < count && i < HOLO_COUNT(pads); i++)
        if (pads[i]) return false;
    return holo_attr_is(call, "auto_pad", "NOTSET", "NOTSET");
}

static bool pool(const HoloNode *node, HoloLowering *out)
{
    HoloCall call = holo_node_call(node);
    int64_t  kernel[3];
    double   taps   = 1;
    int      rank   = holo_attr_ints(&call, "kernel_shape", kernel, 3);
    bool     counts = holo_attr_int(&call, "count_include_pad", 0) != 0;
    if (!holo_value_is_f32(holo_node_in(node, 0), 3, 5) || !has_one_output(node)) return false;
    if (counts && holo_attr_int(&call, "ceil_mode", 0)) {
        if (!has_no_pads(&call)) return false;
        counts = false; // what lies beyond the end is not padding
    }
    for (int d = 0; d < rank && rank <= 3; d++) taps *= (double)kernel[d];
    if (rank < 1 || rank > 3 || taps > HOLO_POOL_TAPS) return false;
    out->params_size = sizeof out->pool;
    out->pool.flags  = HOLO_IS(node, MaxPool) || HOLO_IS(node, HOLOGRAM_MaxPool) ? HOLO_POOL_MAX
                       : counts                                                  ? HOLO_POOL_COUNT_PADS
                                                                                 : 0;
    if (*node->domain) out->pool.flags |= HOLO_POOL_LAST;
    return true;
}

// ---- transpose_f32, transpose_u8

static bool transpose(const HoloNode *node, HoloLowering *out)
{
    out->params_size = sizeof out->transpose;
    return holo_value_is_f32(holo_node_in(node, 0), 0, HOLO_MAX_RANK);
}

static bool transpose_bytes(const HoloNode *node, HoloLowering *out)
{
    const HoloValue *x = holo_node_in(node, 0);
    out->params_size   = sizeof out->transpose;
    return holo_value_is(x, HOLO_U8, 0, HOLO_MAX_RANK) || holo_value_is(x, HOLO_I8, 0, HOLO_MAX_RANK) ||
           holo_value_is(x, HOLO_BOOL, 0, HOLO_MAX_RANK);
}

// ---- lookup

static bool lookup(const HoloNode *node, HoloLowering *out)
{
    const HoloValue *x = holo_node_in(node, 0);
    out->params_size   = sizeof out->lookup;
    return x && holo_value_is(x, (HoloDtype)x->type.dtype, 0, HOLO_MAX_RANK);
}

// ---- resize_f32

// eval does `nearest`, which only moves elements, and crops, which have a value for what lies outside.
static bool resize(const HoloNode *node, HoloLowering *out)
{
    HoloCall call    = holo_node_call(node);
    out->params_size = sizeof out->resize;
    return holo_value_is_f32(holo_node_in(node, 0), 1, HOLO_MAX_RANK) &&
           !holo_attr_is(&call, "mode", "nearest", "nearest") &&
           !holo_attr_is(&call, "coordinate_transformation_mode", "half_pixel", "tf_crop_and_resize");
}

// ---- grid_sample_f32

static bool grid_sample(const HoloNode *node, HoloLowering *out)
{
    HoloCall call    = holo_node_call(node);
    out->params_size = sizeof out->grid_sample;
    return holo_value_is_f32(holo_node_in(node, 0), 4, 4) && holo_value_is_f32(holo_node_in(node, 1), 4, 4) &&
           (holo_attr_is(&call, "mode", "linear", "linear") || holo_attr_is(&call, "mode", "linear", "bilinear"));
}

// ---- the table

typedef struct Choice {
    HoloOpId id;
    uint32_t kernel;
    bool (*fits)(const HoloNode *node, HoloLowering *out); // fills in parameters and packing
} Choice;

static const Choice choices[] = {
    {HOLO_ID_HOLOGRAM_MatMul, HOLO_KERNEL_matmul_f32, matmul},
    {HOLO_ID_MatMul, HOLO_KERNEL_matmul_f32, matmul},
    {HOLO_ID_Gemm, HOLO_KERNEL_matmul_f32, matmul},
    {HOLO_ID_MICROSOFT_FusedMatMul, HOLO_KERNEL_matmul_f32, matmul},
    {HOLO_ID_MICROSOFT_TransposeMatMul, HOLO_KERNEL_matmul_f32, matmul},
    {HOLO_ID_MICROSOFT_SparseToDenseMatMul, HOLO_KERNEL_matmul_f32, matmul},
    {HOLO_ID_Conv, HOLO_KERNEL_conv_f32, conv},
    {HOLO_ID_HOLOGRAM_Conv, HOLO_KERNEL_conv_nhwc_f32, holo_lower_conv_nhwc},
    {HOLO_ID_Softmax, HOLO_KERNEL_softmax_f32, softmax},
    {HOLO_ID_LogSoftmax, HOLO_KERNEL_softmax_f32, softmax},
    {HOLO_ID_LayerNormalization, HOLO_KERNEL_norm_f32, layer_norm},
    {HOLO_ID_RMSNormalization, HOLO_KERNEL_norm_f32, layer_norm},
    {HOLO_ID_SimplifiedLayerNormalization, HOLO_KERNEL_norm_f32, layer_norm},
    {HOLO_ID_MICROSOFT_SimplifiedLayerNormalization, HOLO_KERNEL_norm_f32, layer_norm},
    {HOLO_ID_InstanceNormalization, HOLO_KERNEL_norm_f32, group_norm},
    {HOLO_ID_GroupNormalization, HOLO_KERNEL_norm_f32, group_norm},
    {HOLO_ID_ReduceSum, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_ReduceMean, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_ReduceMax, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_ReduceMin, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_ReduceSumSquare, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_ReduceL1, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_ReduceL2, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_ReduceProd, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_GlobalAveragePool, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_GlobalMaxPool, HOLO_KERNEL_reduce_f32, reduce},
    {HOLO_ID_LSTM, HOLO_KERNEL_lstm_f32, holo_lower_recurrent},
    {HOLO_ID_MICROSOFT_DynamicQuantizeLSTM, HOLO_KERNEL_lstm_i8, holo_lower_lstm_i8},
    {HOLO_ID_GRU, HOLO_KERNEL_gru_f32, holo_lower_recurrent},
    {HOLO_ID_GRU, HOLO_KERNEL_gru_reset_f32, holo_lower_gru_reset},
    {HOLO_ID_RNN, HOLO_KERNEL_rnn_f32, holo_lower_recurrent},
    {HOLO_ID_Transpose, HOLO_KERNEL_transpose_f32, transpose},
    {HOLO_ID_Transpose, HOLO_KERNEL_transpose_u8, transpose_bytes},
    {HOLO_ID_Resize, HOLO_KERNEL_resize_f32, resize},
    {HOLO_ID_Upsample, HOLO_KERNEL_resize_f32, resize},
    {HOLO_ID_GridSample, HOLO_KERNEL_grid_sample_f32, grid_sample},
    {HOLO_ID_MICROSOFT_GridSample, HOLO_KERNEL_grid_sample_f32, grid_sample},
    {HOLO_ID_MatMulInteger, HOLO_KERNEL_matmul_i8, holo_lower_matmul_i8},
    {HOLO_ID_QLinearMatMul, HOLO_KERNEL_matmul_i8, holo_lower_matmul_i8},
    {HOLO_ID_MICROSOFT_MatMulIntegerToFloat, HOLO_KERNEL_matmul_i8, holo_lower_matmul_i8},
    {HOLO_ID_MICROSOFT_QGemm, HOLO_KERNEL_matmul_i8, holo_lower_matmul_i8},
    {HOLO_ID_MICROSOFT_MatMulNBits, HOLO_KERNEL_matmul_nbits_f32, holo_lower_matmul_nbits},
    {HOLO_ID_HOLOGRAM_MatMulNBits, HOLO_KERNEL_matmul_nbits_f32, holo_lower_matmul_nbits},
    {HOLO_ID_HOLOGRAM_TakeRows, HOLO_KERNEL_take_rows, holo_lower_take_rows},
    {HOLO_ID_HOLOGRAM_MatMulBlocks, HOLO_KERNEL_matmul_blocks, holo_lower_matmul_blocks},
    {HOLO_ID_QuantizeLinear, HOLO_KERNEL_quantize_i8, holo_lower_quantize_i8},
    {HOLO_ID_MICROSOFT_QuantizeLinear, HOLO_KERNEL_quantize_i8, holo_lower_quantize_i8},
    {HOLO_ID_DequantizeLinear, HOLO_KERNEL_quantize_i8, holo_lower_quantize_i8},
    {HOLO_ID_MICROSOFT_DequantizeLinear, HOLO_KERNEL_quantize_i8, holo_lower_quantize_i8},
    {HOLO_ID_DynamicQuantizeLinear, HOLO_KERNEL_quantize_i8, holo_lower_quantize_i8},
    {HOLO_ID_Cast, HOLO_KERNEL_cast_f32, holo_lower_cast},
    {HOLO_ID_ConvInteger, HOLO_KERNEL_conv_i8, holo_lower_conv_i8},
    {HOLO_ID_QLinearConv, HOLO_KERNEL_conv_i8, holo_lower_conv_i8},
    {HOLO_ID_MICROSOFT_QLinearConv, HOLO_KERNEL_conv_nhwc_i8, holo_lower_conv_nhwc_i8},
    {HOLO_ID_HOLOGRAM_ConvIntegerToFloat, HOLO_KERNEL_conv_nhwc_i8, holo_lower_conv_real_i8},
    {HOLO_ID_MICROSOFT_NhwcMaxPool, HOLO_KERNEL_pool_i8, holo_lower_pool_i8},
    {HOLO_ID_MICROSOFT_QLinearAveragePool, HOLO_KERNEL_pool_i8, holo_lower_pool_i8},
    {HOLO_ID_MICROSOFT_QLinearGlobalAveragePool, HOLO_KERNEL_pool_i8, holo_lower_pool_i8},
    {HOLO_ID_MICROSOFT_QLinearAdd, HOLO_KERNEL_pair_i8, holo_lower_pair_i8},
    {HOLO_ID_MICROSOFT_QLinearMul, HOLO_KERNEL_pair_i8, holo_lower_pair_i8},
    {HOLO_ID_MaxPool, HOLO_KERNEL_pool_f32, pool},
    {HOLO_ID_AveragePool, HOLO_KERNEL_pool_f32, pool},
    {HOLO_ID_HOLOGRAM_MaxPool, HOLO_KERNEL_pool_f32, pool},
    {HOLO_ID_HOLOGRAM_AveragePool, HOLO_KERNEL_pool_f32, pool},
    {HOLO_ID_HOLOGRAM_GroupNormalization, HOLO_KERNEL_group_norm_f32, group_norm_last},
    {HOLO_ID_HOLOGRAM_Lookup, HOLO_KERNEL_lookup, lookup},
    {HOLO_ID_HOLOGRAM_LookupPair, HOLO_KERNEL_lookup, lookup},
    {HOLO_ID_Attention, HOLO_KERNEL_attention_f32, holo_lower_attention},
    {HOLO_ID_RotaryEmbedding, HOLO_KERNEL_rotary_f32, holo_lower_rotary},
    {HOLO_ID_MICROSOFT_RotaryEmbedding, HOLO_KERNEL_rotary_f32, holo_lower_rotary},
    {HOLO_ID_HOLOGRAM_CachedAttention, HOLO_KERNEL_attention_f32, holo_lower_attention_other},
    {HOLO_ID_MICROSOFT_GroupQueryAttention, HOLO_KERNEL_attention_f32, holo_lower_attention_other},
    {HOLO_ID_MICROSOFT_MultiHeadAttention, HOLO_KERNEL_attention_f32, holo_lower_attention_other},
    {HOLO_ID_MICROSOFT_DecoderMaskedMultiHeadAttention, HOLO_KERNEL_attention_f32, holo_lower_attention_other},
};

// A formula, if all inputs are f32 and their sizes are known or have a name.
static bool pointwise(const HoloNode *node, HoloLowering *out)
{
    const HoloTensor *in[HOLO_MAP_INPUTS];
    HoloCall          call = holo_node_call(node);
    if (!node->op || node->in_count > HOLO_MAP_INPUTS) return false;
    for (int i = 0; i < node->in_count; i++) {
        if (node->in[i] && !holo_value_is_f32(node->in[i], 0, HOLO_MAX_RANK)) return false;
        in[i] = node->in[i] ? &node->in[i]->type : NULL;
    }
    call.in       = in;
    call.in_count = node->in_count;
    return holo_formula(&call, &out->map.program);
}

HoloLowering holo_cpu_choose(const HoloNode *node)
{
    const uint64_t types = HOLO_BIT(F32) | HOLO_BIT(I32) | HOLO_BIT(U8) | HOLO_BIT(I8) | HOLO_BIT(F16) |
                           HOLO_BIT(BF16) | HOLO_BIT(BOOL); // types of output 0; entries of tables may have any type
    HoloLowering     none = {.pack_input = -1};
    const HoloValue *y    = NULL; // the first output that is used
    for (int i = node->out_count - 1; i >= 0; i--) y = node->out[i] ? node->out[i] : y;
    if (!y || !holo_value_is(y, y->type.dtype, 0, HOLO_MAX_RANK)) return none;
    bool is_usual = types >> y->type.dtype & 1;
    for (int i = 0; i < HOLO_COUNT(choices); i++) {
        const Choice *c   = &choices[i];
        HoloLowering  out = none;
        if (c->id != node->op_id) continue;
        if (!is_usual && c->kernel != HOLO_KERNEL_lookup) continue;
        // Of some recurrent layers only the last state is used.
        if ((!node->out[0] && !holo_cpu_is_recurrent(c->kernel)) || !c->fits(node, &out)) continue;
        out.kernel = c->kernel;
        memcpy(out.params, &out.params_size, sizeof out.params_size); // every block starts with its size
        return out;
    }
    HoloLowering map = none;
    if (!node->out[0] || y->type.dtype != HOLO_F32 || !pointwise(node, &map)) return none;
    map.kernel   = HOLO_KERNEL_map_f32;
    map.map.size = map.params_size = sizeof map.map;
    return map;
}

// ---- other ways

// Is plain evaluation so little work that calling a kernel may not be worth it?
static bool is_small(const HoloNode *node)
{
    enum { SMALL = 1 << 12 }; // elements of all operands together
    int64_t sum = 0;
    for (int i = 0; i < node->in_count + node->out_count; i++) {
        const HoloValue *v = i < node->in_count ? node->in[i] : node->out[i - node->in_count];
        int64_t          n = v ? holo_tensor_count(&v->type) : 0; // negative: sizes are open
        if (n < 0 || n > SMALL) return false;
        sum += n;
    }
    return sum <= SMALL;
}

int holo_cpu_ways(const HoloNode *node, HoloLowering out[HOLO_LOWER_WAYS])
{
    int count = 1;
    out[0]    = holo_cpu_choose(node);
    if (out[0].kernel == HOLO_KERNEL_EVAL) return 1;
    if (out[0].kernel == HOLO_KERNEL_conv_nhwc_f32) count += holo_lower_conv_ways(node, out, out + 1);
    if (out[0].pack_input >= 0 && packers[out[0].kernel].flag) {
        out[count] = out[0];
        holo_cpu_unpack(&out[count++]);
    }
    if (is_small(node)) out[count++] = (HoloLowering){.pack_input = -1};
    return count;
}

bool holo_cpu_is_recurrent(uint32_t kernel)
{
    return kernel == HOLO_KERNEL_lstm_f32 || kernel == HOLO_KERNEL_gru_f32 || kernel == HOLO_KERNEL_gru_reset_f32 ||
           kernel == HOLO_KERNEL_rnn_f32 || kernel == HOLO_KERNEL_lstm_i8;
}

bool holo_cpu_has_kernel(const char *domain, const char *name)
{
    HoloOpId id = holo_op_id(domain, name);
    for (int i = 0; i < HOLO_COUNT(choices); i++)
        if (choices[i].id == id) return true;
    return holo_formula_has(domain, name);
}
