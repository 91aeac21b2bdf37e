// choose.c - the choice of a fast kernel for a node: a table of operators, each with a function that
// looks whether the kernel can do what the node asks.
#include "kernels/kernels.h"
#include "lower/lower.h"

#include <string.h>

// ---- what kernels ask of values

static bool is_f32(const HoloValue *value, int rank_min, int rank_max)
{
    if (!value || value->type.kind != HOLO_TENSOR || value->type.dtype != HOLO_F32) return false;
    if (value->type.rank < rank_min || value->type.rank > rank_max) return false;
    for (int d = 0; d < value->type.rank; d++)
        if (value->type.dim[d] == HOLO_DIM_UNKNOWN) return false;
    return true;
}

static const HoloValue *input(const HoloNode *node, int i)
{
    return i < node->in_count ? node->in[i] : NULL;
}

static HoloCall call_of(const HoloNode *node) // for attributes alone
{
    return (HoloCall){.op         = node->op,
                      .node       = node->name,
                      .version    = node->version,
                      .attr       = node->attr,
                      .attr_count = node->attr_count};
}

// ---- matmul_f32

// A constant B as it is packed. A part is whole panels of one matrix or, where even one is too long,
// some rows of a panel.
typedef struct Panels {
    int64_t count, k, n;
    int64_t row, column; // strides of the plain form
    int64_t part_rows, part_panels;
    int64_t pieces, groups; // parts of a panel, and of a matrix
} Panels;

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

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
    p.pieces      = ceil_div(p.k, p.part_rows);
    p.groups      = ceil_div(ceil_div(p.n, HOLO_PANEL), p.part_panels);
    return p;
}

// Packed where B is a constant that padding does not blow up.
static void pack_b(const HoloValue *b, HoloLowering *out)
{
    const HoloTensor *t = &b->type;
    if (!b->is_constant || !t->data || t->rank < 2 || holo_tensor_count(t) <= 0) return;
    Panels  p    = panels_of(t, out->matmul.flags & HOLO_MATMUL_TRANS_B);
    int64_t size = holo_panels_size(p.count, p.k, p.n);
    if (size < 0 || (uint64_t)size / 2 > holo_tensor_bytes(t)) return;
    out->matmul.flags |= HOLO_MATMUL_PACKED_B;
    out->pack_input = 1;
}

HoloPacking holo_lower_packing(const HoloLowering *lowering, const HoloTensor *w)
{
    Panels p = panels_of(w, lowering->matmul.flags & HOLO_MATMUL_TRANS_B);
    return (HoloPacking){
        .bytes      = (uint64_t)holo_panels_size(p.count, p.k, p.n),
        .part_count = p.count * p.pieces * p.groups,
    };
}

size_t holo_lower_pack(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    Panels  p      = panels_of(w, lowering->matmul.flags & HOLO_MATMUL_TRANS_B);
    int64_t row    = part % p.pieces * p.part_rows;
    int64_t column = part / p.pieces % p.groups * p.part_panels * HOLO_PANEL;
    int64_t matrix = part / p.pieces / p.groups;
    int64_t rows = p.k - row, columns = p.n - column;
    if (rows > p.part_rows) rows = p.part_rows;
    if (columns > p.part_panels * HOLO_PANEL) columns = p.part_panels * HOLO_PANEL;
    const float *from = (const float *)w->data + matrix * p.k * p.n + row * p.row + column * p.column;
    holo_kernels(0)->pack_f32(rows, columns, from, p.row, p.column, out);
    return (size_t)holo_panels_size(1, rows, columns);
}

void holo_lower_unpack(HoloLowering *lowering)
{
    if (lowering->pack_input < 0) return;
    lowering->matmul.flags &= ~(uint32_t)HOLO_MATMUL_PACKED_B;
    lowering->pack_input = -1;
}

static bool matmul(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call = call_of(node);
    const HoloValue *a = input(node, 0), *b = input(node, 1), *c = input(node, 2);
    if (!is_f32(a, 1, HOLO_MAX_RANK) || !is_f32(b, 1, HOLO_MAX_RANK) || (c && !is_f32(c, 0, 2))) return false;
    if (holo_attr_int(&call, "transBatchA", 0) || holo_attr_int(&call, "transBatchB", 0)) return false;
    out->params_size  = sizeof out->matmul;
    out->matmul.alpha = (float)holo_attr_float(&call, "alpha", 1);
    out->matmul.beta  = (float)holo_attr_float(&call, "beta", 1);
    if (holo_attr_int(&call, "transA", 0)) out->matmul.flags |= HOLO_MATMUL_TRANS_A;
    if (holo_attr_int(&call, "transB", 0)) out->matmul.flags |= HOLO_MATMUL_TRANS_B;
    pack_b(b, out);
    return true;
}

// ---- conv_f32 and softmax_f32

static bool conv(const HoloNode *node, HoloLowering *out)
{
    const HoloValue *x = input(node, 0), *w = input(node, 1), *b = input(node, 2);
    out->params_size = sizeof out->conv;
    return is_f32(x, 3, 5) && is_f32(w, x->type.rank, x->type.rank) && (!b || is_f32(b, 1, 1));
}

// Rows must be the last axes: all from `axis` on before opset 13, one since then.
static bool softmax(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call   = call_of(node);
    const HoloValue *x      = input(node, 0);
    bool             matrix = node->version < 13;
    if (!is_f32(x, 1, HOLO_MAX_RANK)) return false;
    int64_t rank = x->type.rank, axis = holo_attr_int(&call, "axis", matrix ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank || (!matrix && axis != rank - 1)) return false;
    out->params_size  = sizeof out->softmax;
    out->softmax.axes = (uint32_t)(rank - axis);
    return true;
}

// ---- the table

typedef struct Choice {
    const char *name, *domain;
    uint32_t    kernel;
    bool (*fits)(const HoloNode *node, HoloLowering *out); // fills in parameters and packing
} Choice;

static const Choice choices[] = {
    {"MatMul", "", HOLO_KERNEL_matmul_f32, matmul},
    {"Gemm", "", HOLO_KERNEL_matmul_f32, matmul},
    {"FusedMatMul", "com.microsoft", HOLO_KERNEL_matmul_f32, matmul},
    {"TransposeMatMul", "com.microsoft", HOLO_KERNEL_matmul_f32, matmul},
    {"Conv", "", HOLO_KERNEL_conv_f32, conv},
    {"Softmax", "", HOLO_KERNEL_softmax_f32, softmax},
};

HoloLowering holo_lower_choose(const HoloNode *node)
{
    HoloLowering none = {.pack_input = -1};
    if (node->out_count < 1 || !is_f32(node->out[0], 0, HOLO_MAX_RANK)) return none;
    for (int i = 0; i < HOLO_COUNT(choices); i++) {
        const Choice *c   = &choices[i];
        HoloLowering  out = none;
        if (strcmp(c->name, node->type) || strcmp(c->domain, node->domain) || !c->fits(node, &out)) continue;
        out.kernel = c->kernel;
        memcpy(out.params, &out.params_size, sizeof out.params_size); // every block starts with its size
        return out;
    }
    return none;
}
