// unfuse.c - splits merged operators of com.microsoft into parts that have kernels and that other passes can join with
// their neighbors. It does the same with some operators that the standard defines by others, and with a reduction over
// axes that are not neighbors.
//
// The definitions here are not those of the rows in ops/, whose `eval` stays the reference: sums are rounded to f32
// between the parts. So only nodes of f32 are split. A node stays if it has results that no part gives.
#include "ops/standard/fused_activation.h"
#include "passes/rewrite.h"

#include <string.h>

#define IN(i)     (UINT32_C(1) << (i))
#define OUT(i)    (UINT32_C(1) << (16 + (i)))
#define MICROSOFT "com.microsoft::"

enum { LINES = 12, OWN_ATTRS = 8 };

// Some nodes of a body. The body has them if all of the given inputs and outputs are there and none of the excluded
// ones, and if the node has that form, such as an activation.
typedef struct Line {
    uint32_t    with, without;
    const char *text, *form; // form NULL: any form
} Line;

// What is known about a node beside its inputs and outputs.
typedef struct Facts {
    HoloGraph  *graph;
    HoloAttr   *attr; // attributes of the node, and added ones
    int         attr_count;
    const char *form; // NULL: none
} Facts;

typedef struct Row {
    HoloOpId id;
    uint32_t never;                                   // inputs and outputs that must not be there
    bool (*fits)(Facts *facts, const HoloNode *node); // may add to the facts; NULL: there is nothing to check
    const char *head;
    Line        line[LINES];
} Row;

static bool is_number(const HoloValue *value)
{
    return holo_value_is_of(value, HOLO_F32, 0, HOLO_MAX_RANK);
}

static bool is_f32(const HoloValue *value)
{
    return is_number(value) && value->type.rank > 0;
}

// ---- reductions over axes that are not neighbors: first those at the end, then the others

// Marks the axes of a reduction, of `rank` in all. False: none are given, or they are not known now.
static bool axes_of(const HoloNode *node, int rank, bool *is)
{
    const HoloAttr  *attr  = holo_node_attr(node, "axes");
    const HoloValue *in    = node->in_count > 1 ? node->in[1] : NULL;
    const int64_t   *axes  = attr && attr->kind == HOLO_ATTR_INTS ? attr->ints : NULL;
    int64_t          count = axes ? attr->count : 0;
    if (in && in->is_constant && in->type.data && in->type.dtype == HOLO_I64 && in->type.rank == 1) {
        axes  = in->type.data;
        count = in->type.dim[0];
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank) return false;
        is[axis] = true;
    }
    return count > 0;
}

static bool add_axes(Facts *facts, const char *name, const bool *is, int from, int to)
{
    int64_t *axes  = HOLO_NEW(facts->graph->arena, int64_t, HOLO_MAX_RANK);
    int      count = 0;
    for (int d = from; axes && d < to; d++)
        if (is[d]) axes[count++] = d;
    facts->attr[facts->attr_count++] = (HoloAttr){.name = name, .kind = HOLO_ATTR_INTS, .count = count, .ints = axes};
    return axes != NULL;
}

// Adds `inner` and `outer`: the axes of the two reductions.
static bool reduced(Facts *facts, const HoloNode *node)
{
    const HoloTensor *x                 = &node->in[0]->type;
    const HoloAttr   *keep              = holo_node_attr(node, "keepdims");
    bool              is[HOLO_MAX_RANK] = {false}, apart = false;
    if ((keep && (keep->kind != HOLO_ATTR_INT || !keep->i)) || !axes_of(node, x->rank, is)) return false;
    int end = x->rank, first;
    while (end > 0 && (!is[end - 1] || x->dim[end - 1] == 1)) end--;
    for (first = end; first > 0 && (is[first - 1] || x->dim[first - 1] == 1);) first--;
    for (int d = 0; d < x->rank; d++) {
        if (is[d] && x->dim[d] == 0) return false;
        apart |= d < first && is[d] && x->dim[d] != 1;
    }
    return apart && add_axes(facts, "inner", is, first, x->rank) && add_axes(facts, "outer", is, 0, first);
}

#define REDUCE(name)                                                                          \
    {                                                                                         \
        HOLO_ID_##name, 0, reduced, "graph " #name "(x, axes) -> (y) {\n",                    \
        {                                                                                     \
            ALWAYS("m = " #name "@11(x) {axes=@inner}\n y = " #name "@11(m) {axes=@outer}\n") \
        }                                                                                     \
    }

// ---- reductions that are a sum between functions of one number

// Adds `all`, the axes, if they are known; if none are given, these are all. The form says whether the dimensions are
// kept.
static bool summed(Facts *facts, const HoloNode *node)
{
    const HoloTensor *x                 = &node->in[0]->type;
    const HoloAttr   *keep              = holo_node_attr(node, "keepdims");
    bool              is[HOLO_MAX_RANK] = {false};
    const HoloAttr   *noop              = holo_node_attr(node, "noop_with_empty_axes");
    bool              over_all = !holo_node_attr(node, "axes") && (node->in_count < 2 || !node->in[1]) && !noop;
    if ((keep && keep->kind != HOLO_ATTR_INT) || (!axes_of(node, x->rank, is) && !over_all)) return false;
    for (int d = 0; d < x->rank; d++) {
        if (x->dim[d] == 0) return false;
        is[d] |= over_all;
    }
    facts->form = keep && !keep->i ? "without" : "with";
    return add_axes(facts, "all", is, 0, x->rank);
}

// The same for axes that are not neighbors; for neighbors the reduction has a kernel.
static bool summed_apart(Facts *facts, const HoloNode *node)
{
    const HoloTensor *x                 = &node->in[0]->type;
    bool              is[HOLO_MAX_RANK] = {false}, apart = false;
    int               last = -1; // the last axis so far
    if (!axes_of(node, x->rank, is)) return false;
    for (int d = 0; d < x->rank; d++) {
        if (x->dim[d] == 1 || !is[d]) continue;
        for (int k = last + 1; last >= 0 && k < d; k++) apart |= x->dim[k] != 1;
        last = d;
    }
    return apart && summed(facts, node);
}

#define SUM_OF(x) "s = ReduceSum@11(" x ") {axes=@all, keepdims=@keepdims}\n"

#define LOSS "{ignore_index=@ignore_index, reduction=@reduction}\n"

// ---- models of tables: products of all rows with all sets of coefficients

static bool has_floats(const HoloNode *node, const char *name, int64_t count)
{
    const HoloAttr *attr = holo_node_attr(node, name);
    return attr && attr->kind == HOLO_ATTR_FLOATS && attr->count == count;
}

static int64_t int_of(const HoloNode *node, const char *name, int64_t fallback)
{
    const HoloAttr *attr = holo_node_attr(node, name);
    return !attr ? fallback : attr->kind == HOLO_ATTR_INT ? attr->i : -1;
}

// Which of `names` an attribute is; the first one if it is not given; NULL: none of them.
static const char *name_of(const HoloNode *node, const char *attr, int count, const char *const *names)
{
    const HoloAttr *given = holo_node_attr(node, attr);
    for (int i = 0; i < count; i++)
        if (!given ||
            (given->kind == HOLO_ATTR_STRING && holo_string_equal(given->s, (HoloString){names[i], strlen(names[i])})))
            return names[i];
    return NULL;
}

// Adds `name`: the sizes of a matrix.
static bool add_sizes(Facts *facts, const char *name, int64_t rows, int64_t columns)
{
    int64_t *sizes = HOLO_NEW(facts->graph->arena, int64_t, 2);
    if (!sizes) return false;
    sizes[0] = rows, sizes[1] = columns;
    facts->attr[facts->attr_count++] = (HoloAttr){.name = name, .kind = HOLO_ATTR_INTS, .count = 2, .ints = sizes};
    return true;
}

static void add_float(Facts *facts, const char *name, double f)
{
    facts->attr[facts->attr_count++] = (HoloAttr){.name = name, .kind = HOLO_ATTR_FLOAT, .count = 1, .f = f};
}

// For `sets` sets of coefficients and as many intercepts. Adds `sizes`.
static bool linear(Facts *facts, const HoloNode *node, int64_t sets)
{
    const HoloTensor *x = &node->in[0]->type;
    int64_t           all;
    return x->rank == 2 && !holo_dim_is_symbolic(x->dim[1]) && x->dim[1] > 0 && sets > 0 &&
           holo_mul(sets, x->dim[1], &all) && has_floats(node, "coefficients", all) &&
           has_floats(node, "intercepts", sets) && add_sizes(facts, "sizes", sets, x->dim[1]);
}

static bool linear_regressor(Facts *facts, const HoloNode *node)
{
    static const char *const none[] = {"NONE"};
    return name_of(node, "post_transform", 1, none) && linear(facts, node, int_of(node, "targets", 1));
}

// The form is what is done to the scores. Two classes that one score decides have forms of their own.
static bool linear_classifier(Facts *facts, const HoloNode *node)
{
    static const char *const posts[] = {"NONE", "SOFTMAX", "LOGISTIC"}, *const pairs[] = {"none", "softmax",
                                                                                          "logistic"};
    const HoloAttr *labels = holo_node_attr(node, "classlabels_ints"), *sets = holo_node_attr(node, "intercepts");
    const char     *post = name_of(node, "post_transform", HOLO_COUNT(posts), posts);
    if (!post || !labels || labels->kind != HOLO_ATTR_INTS || !sets || holo_node_attr(node, "classlabels_strings"))
        return false;
    facts->form = post;
    for (int i = 0; i < HOLO_COUNT(posts) && sets->count == 1; i++)
        if (post == posts[i]) facts->form = pairs[i];
    return labels->count >= 2 && (sets->count == labels->count || (sets->count == 1 && labels->count == 2)) &&
           linear(facts, node, sets->count);
}

// For `count` support vectors whose kernel is a function of products. The form is the kernel. Adds `sizes` of the
// vectors and the numbers of the kernel.
static bool vectors(Facts *facts, const HoloNode *node, int64_t count)
{
    static const char *const kernels[] = {"LINEAR", "POLY", "SIGMOID"};
    const HoloTensor        *x         = &node->in[0]->type;
    const HoloAttr          *params    = holo_node_attr(node, "kernel_params");
    int64_t                  all;
    facts->form = name_of(node, "kernel_type", HOLO_COUNT(kernels), kernels);
    if (!facts->form || x->rank != 2 || holo_dim_is_symbolic(x->dim[1]) || x->dim[1] < 1 || count < 1 ||
        !holo_mul(count, x->dim[1], &all) || !has_floats(node, "support_vectors", all) ||
        !has_floats(node, "kernel_params", 3))
        return false;
    add_float(facts, "gamma", (double)params->floats[0]);
    add_float(facts, "coef0", (double)params->floats[1]);
    add_float(facts, "degree", (double)params->floats[2]);
    return add_sizes(facts, "sizes", count, x->dim[1]);
}

// Adds `one`, the sizes of the coefficients, and the `bias`.
static bool vector_regressor(Facts *facts, const HoloNode *node)
{
    static const char *const none[] = {"NONE"};
    const HoloAttr          *rho    = holo_node_attr(node, "rho");
    int64_t                  count  = int_of(node, "n_supports", 0);
    if (!name_of(node, "post_transform", 1, none) || int_of(node, "one_class", 0) || !rho ||
        rho->kind != HOLO_ATTR_FLOATS || rho->count < 1 || !has_floats(node, "coefficients", count) ||
        !vectors(facts, node, count))
        return false;
    add_float(facts, "bias", (double)rho->floats[0]);
    return add_sizes(facts, "one", 1, count);
}

// The coefficients of each pair of classes for all vectors; 0 for vectors of other classes.
static float *pair_weights(Facts *facts, const HoloAttr *per, const float *given, int64_t count, int64_t pairs)
{
    float  *w = HOLO_NEW(facts->graph->arena, float, pairs *count), *row = w;
    int64_t from = 0;
    for (int64_t i = 0; w && i < per->count; from += per->ints[i++])
        for (int64_t j = i + 1, at = from + per->ints[i]; j < per->count; at += per->ints[j++], row += count) {
            memcpy(row + from, given + (j - 1) * count + from, (size_t)per->ints[i] * sizeof *row);
            memcpy(row + at, given + i * count + at, (size_t)per->ints[j] * sizeof *row);
        }
    return w;
}

// For few classes. Adds `pairs` (the coefficients of each pair), `all` (how many there are), and whether none is
// negative.
static bool vector_classifier(Facts *facts, const HoloNode *node)
{
    enum { CLASSES = 64, WEIGHTS = 1 << 20 }; // with many classes, most of the weights would be 0
    const HoloAttr *per = holo_node_attr(node, "vectors_per_class"), *given = holo_node_attr(node, "coefficients");
    int64_t         count = 0, pairs;
    if (!per || per->kind != HOLO_ATTR_INTS || per->count < 2 || per->count > CLASSES) return false;
    for (int i = 0; i < per->count; i++)
        if (per->ints[i] < 0 || !holo_add(count, per->ints[i], &count)) return false;
    pairs = (int64_t)per->count * (per->count - 1) / 2;
    if (count > WEIGHTS / pairs || !has_floats(node, "coefficients", (per->count - 1) * count) ||
        !has_floats(node, "rho", pairs) || !vectors(facts, node, count))
        return false;
    float  *w        = pair_weights(facts, per, given->floats, count, pairs);
    int64_t positive = 1;
    for (int i = 0; i < given->count; i++) positive = positive && given->floats[i] >= 0;
    facts->attr[facts->attr_count++] =
        (HoloAttr){.name = "pairs", .kind = HOLO_ATTR_FLOATS, .count = (int32_t)(pairs * count), .floats = w};
    facts->attr[facts->attr_count++] = (HoloAttr){.name = "positive", .kind = HOLO_ATTR_INT, .count = 1, .i = positive};
    return w && add_sizes(facts, "all", pairs, count);
}

#define MATRIX(name, list, sizes)                                                                                 \
    name "0 = Constant@12() {value_floats=@" list "}\n " name "1 = Constant@12() {value_ints=@" sizes "}\n " name \
         " = Reshape@13(" name "0, " name "1)\n"
#define LINEAR_SUM(y)                    \
    MATRIX("w", "coefficients", "sizes") \
    " b = Constant@12() {value_floats=@intercepts}\n " y " = Gemm@13(x, w, b) {transB=1}\n"
#define BOTH "n = Neg@13(s)\n t = Concat@13(n, s) {axis=1}\n"
#define VOTES                                                                                                   \
    "{classlabels_ints=@classlabels_ints, classlabels_strings=@classlabels_strings, rho=@rho, prob_a=@prob_a, " \
    "prob_b=@prob_b, vectors_per_class=@vectors_per_class, post_transform=@post_transform, positive=@positive}\n"
#define SCALED \
    "g = Constant@12() {value_float=@gamma}\n c = Constant@12() {value_float=@coef0}\n m = Mul@14(d, g)\n a = Add@14(m, c)\n"

// ---- Attention: the weights of queries, keys and values are one matrix

enum { X, WEIGHT, BIAS, MASK, PAST, SCORES, PAST_LENGTH };

// Adds `sizes`: the columns of the three.
static bool attention(Facts *facts, const HoloNode *node)
{
    const HoloAttr  *given = holo_node_attr(node, "qkv_hidden_sizes"), *rotary = holo_node_attr(node, "do_rotary");
    const HoloValue *weight = node->in[WEIGHT];
    if (!weight || !weight->is_constant || weight->type.rank != 2 || (rotary && rotary->i)) return false;
    int64_t *sizes = HOLO_NEW(facts->graph->arena, int64_t, 3), all = weight->type.dim[1];
    if (!sizes || (given ? given->count != 3 : all % 3 != 0)) return false;
    for (int i = 0; i < 3; i++) sizes[i] = given ? given->ints[i] : all / 3;
    facts->attr[facts->attr_count++] = (HoloAttr){.name = "sizes", .kind = HOLO_ATTR_INTS, .count = 3, .ints = sizes};
    return sizes[0] > 0 && sizes[1] > 0 && sizes[2] > 0 && sizes[0] + sizes[1] + sizes[2] == all;
}

#define HEADS \
    "{num_heads=@num_heads, unidirectional=@unidirectional, mask_filter_value=@mask_filter_value, scale=@scale}\n"

// ---- MultiHeadAttention: the bias of the projections

enum { QUERY, KEY, VALUE, PROJECTED };

// Adds `sizes`: the entries of the three.
static bool heads(Facts *facts, const HoloNode *node)
{
    int64_t *sizes = HOLO_NEW(facts->graph->arena, int64_t, 3), all = 0;
    if (!sizes || node->in_count <= PROJECTED || !node->in[PROJECTED]) return false;
    for (int i = QUERY; i <= VALUE; i++) {
        if (!is_f32(node->in[i]) || node->in[i]->type.rank != 3) return false;
        sizes[i] = node->in[i]->type.dim[2];
        if (holo_dim_is_symbolic(sizes[i]) || sizes[i] < 1) return false;
        all += sizes[i];
    }
    facts->attr[facts->attr_count++] = (HoloAttr){.name = "sizes", .kind = HOLO_ATTR_INTS, .count = 3, .ints = sizes};
    return node->in[PROJECTED]->type.rank == 1 && node->in[PROJECTED]->type.dim[0] == all;
}

// ---- FusedConv and FusedGemm: they end with an activation

static double given(const HoloNode *node, const char *name, int i, double fallback)
{
    const HoloAttr *one = holo_node_attr(node, name), *all = holo_node_attr(node, "activation_params");
    if (one && one->kind == HOLO_ATTR_FLOAT) return one->f;
    return all && all->kind == HOLO_ATTR_FLOATS && all->count > i ? (double)all->floats[i] : fallback;
}

// Adds `a` and `b`: the numbers of the activation.
static bool activated(Facts *facts, const HoloNode *node)
{
    static const char *const known[] = {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Clip"};
    const HoloAttr          *name    = holo_node_attr(node, "activation");
    const HoloActivation    *found   = name && name->kind == HOLO_ATTR_STRING ? holo_activation_find(name->s) : NULL;
    if (!name || (name->kind == HOLO_ATTR_STRING && !name->s.size)) return true;
    for (int i = 0; found && i < HOLO_COUNT(known); i++)
        if (!strcmp(known[i], found->name)) facts->form = known[i];
    if (!facts->form) return false;
    add_float(facts, "a", given(node, "activation_alpha", 0, found->alpha));
    add_float(facts, "b", given(node, "activation_beta", 1, found->beta));
    return true;
}

// clang-format off
#define BY(name, nodes) {.form = name, .text = nodes}
#define ACTIVATIONS                                                                                                  \
    BY("Relu", "y = Relu@14(s)\n"), BY("Tanh", "y = Tanh@13(s)\n"), BY("Sigmoid", "y = Sigmoid@13(s)\n"),            \
        BY("LeakyRelu", "y = LeakyRelu@6(s) {alpha=@a}\n"), BY("Clip", "y = Clip@6(s) {min=@a, max=@b}\n"),          \
        BY("HardSigmoid", "y = HardSigmoid@6(s) {alpha=@a, beta=@b}\n"), BY("", "y = Identity@13(s)\n")
#define CONV \
    "{auto_pad=@auto_pad, dilations=@dilations, group=@group, kernel_shape=@kernel_shape, pads=@pads, strides=@strides}\n"

#define ALWAYS(nodes)         {.text = nodes}
#define WITH(parts, nodes)    {.with = (parts), .text = nodes}
#define WITHOUT(parts, nodes) {.without = (parts), .text = nodes}

#define VECTORS                                                                                  \
    ALWAYS(MATRIX("u", "support_vectors", "sizes") " d = Gemm@13(x, u) {transB=1}\n"),           \
        BY("LINEAR", "v = Identity@13(d)\n"),                                                    \
        BY("POLY", SCALED "e = Constant@12() {value_float=@degree}\n v = Pow@15(a, e)\n"),       \
        BY("SIGMOID", SCALED "v = Tanh@13(a)\n")

static const Row rows[] = {
    {HOLO_ID_MICROSOFT_SkipLayerNormalization, OUT(1) | OUT(2), NULL,
     "graph SkipLayerNormalization<epsilon=1e-12>(x, skip, gamma, beta, bias) -> (y, s, s, s) {\n",
     {WITHOUT(IN(4), "s = Add@14(x, skip)\n"),
      WITH(IN(4), "b = Add@14(x, bias)\n s = Add@14(b, skip)\n"),
      ALWAYS("y = LayerNormalization@17(s, gamma, beta) {axis=-1, epsilon=@epsilon}\n")}},
    {HOLO_ID_MICROSOFT_SkipSimplifiedLayerNormalization, OUT(1) | OUT(2), NULL,
     "graph SkipSimplifiedLayerNormalization<epsilon=1e-12>(x, skip, gamma, bias) -> (y, s, s, s) {\n",
     {WITHOUT(IN(3), "s = Add@14(x, skip)\n"),
      WITH(IN(3), "b = Add@14(x, bias)\n s = Add@14(b, skip)\n"),
      ALWAYS("y = RMSNormalization@23(s, gamma) {axis=-1, epsilon=@epsilon}\n")}},
    {HOLO_ID_MICROSOFT_BiasGelu, 0, NULL, "graph BiasGelu(x, bias) -> (y) {\n", {ALWAYS("s = Add@14(x, bias)\n y = Gelu@20(s)\n")}},
    {HOLO_ID_MICROSOFT_FastGelu, 0, NULL, "graph FastGelu(x, bias) -> (y) {\n",
     {WITH(IN(1), "s = Add@14(x, bias)\n y = Gelu@20(s) {approximate=\"tanh\"}\n"),
      WITHOUT(IN(1), "y = Gelu@20(x) {approximate=\"tanh\"}\n")}},
    {HOLO_ID_MICROSOFT_Attention, IN(PAST_LENGTH), attention,
     "graph Attention(x, w, b, mask, past, scores) -> (y, present) {\n",
     {ALWAYS("wq, wk, wv = Split@11(w) {axis=1, split=@sizes}\n"),
      WITHOUT(IN(BIAS), "q = MatMul@13(x, wq)\n k = MatMul@13(x, wk)\n v = MatMul@13(x, wv)\n"),
      WITH(IN(BIAS), "bq, bk, bv = Split@11(b) {axis=0, split=@sizes}\n"),
      WITH(IN(BIAS), "mq = MatMul@13(x, wq)\n mk = MatMul@13(x, wk)\n mv = MatMul@13(x, wv)\n"),
      WITH(IN(BIAS), "q = Add@14(mq, bq)\n k = Add@14(mk, bk)\n v = Add@14(mv, bv)\n"),
      ALWAYS("const zero: i64[1] = {0}\n"),
      WITH(IN(PAST), "p0, p1 = Split@11(past) {axis=0, split=[1,1]}\n"),
      WITH(IN(PAST), "pk = Squeeze@13(p0, zero)\n pv = Squeeze@13(p1, zero)\n"),
      WITH(IN(PAST), "y, nk, nv = " MICROSOFT "MultiHeadAttention@1(q, k, v, _, mask, scores, pk, pv) " HEADS),
      WITHOUT(IN(PAST), "y, nk, nv = " MICROSOFT "MultiHeadAttention@1(q, k, v, _, mask, scores) " HEADS),
      ALWAYS("k5 = Unsqueeze@13(nk, zero)\n v5 = Unsqueeze@13(nv, zero)\n present = Concat@13(k5, v5) {axis=0}\n")}},
    {HOLO_ID_MICROSOFT_MultiHeadAttention, 0, heads,
     "graph MultiHeadAttention(x, k0, v0, b, mask, scores, pk, pv, length, beams) -> (y, nk, nv, weights) {\n",
     {ALWAYS("bq, bk, bv = Split@11(b) {axis=0, split=@sizes}\n"),
      ALWAYS("q = Add@14(x, bq)\n k = Add@14(k0, bk)\n v = Add@14(v0, bv)\n"),
      ALWAYS("y, nk, nv, weights = " MICROSOFT "MultiHeadAttention@1(q, k, v, _, mask, scores, pk, pv, length, beams) " HEADS)}},
    {HOLO_ID_MeanVarianceNormalization, 0, NULL, "graph MeanVarianceNormalization<axes=[0,2,3]>(x) -> (y) {\n",
     {ALWAYS("m = ReduceMean@13(x) {axes=@axes}\n b = Sub@14(x, m)\n"), // rounding of the mean leaves a rest,
      ALWAYS("n = ReduceMean@13(b) {axes=@axes}\n c = Sub@14(b, n)\n"), // which matters if all elements are equal
      ALWAYS("q = Mul@14(c, c)\n v = ReduceMean@13(q) {axes=@axes}\n s = Sqrt@13(v)\n"),
      ALWAYS("const e: f32[] = {1e-9}\n d = Add@14(s, e)\n y = Div@14(c, d)\n")}},
    {HOLO_ID_SoftmaxCrossEntropyLoss, 0, NULL, "graph SoftmaxCrossEntropyLoss(x, t, w) -> (y, p) {\n",
     {ALWAYS("p = LogSoftmax@13(x) {axis=1}\n"), ALWAYS("y = NegativeLogLikelihoodLoss@13(p, t, w) " LOSS)}},
    {HOLO_ID_ReduceL1, 0, summed_apart, "graph ReduceL1(x, axes) -> (s) {\n", {ALWAYS("a = Abs@13(x)\n " SUM_OF("a"))}},
    {HOLO_ID_ReduceL2, 0, summed_apart, "graph ReduceL2(x, axes) -> (y) {\n",
     {ALWAYS("q = Mul@14(x, x)\n " SUM_OF("q") " y = Sqrt@13(s)\n")}},
    {HOLO_ID_ReduceSumSquare, 0, summed_apart, "graph ReduceSumSquare(x, axes) -> (s) {\n", {ALWAYS("q = Mul@14(x, x)\n " SUM_OF("q"))}},
    {HOLO_ID_ReduceLogSum, 0, summed, "graph ReduceLogSum(x, axes) -> (y) {\n", {ALWAYS(SUM_OF("x") " y = Log@13(s)\n")}},
    {HOLO_ID_ReduceLogSumExp, 0, summed, "graph ReduceLogSumExp(x, axes) -> (y) {\n",
     {ALWAYS("m = ReduceMax@11(x) {axes=@all}\n"), // inf - inf is not a number: the largest number replaces inf
      ALWAYS("t = Clip@6(m) {min=-3.4028234663852886e38, max=3.4028234663852886e38}\n d = Sub@14(x, t)\n e = Exp@13(d)\n"),
      ALWAYS("s = ReduceSum@11(e) {axes=@all}\n l = Log@13(s)\n"),
      BY("with", "y = Add@14(l, t)\n"), BY("without", "z = Add@14(l, t)\n y = Squeeze@11(z) {axes=@all}\n")}},
    REDUCE(ReduceSum), REDUCE(ReduceMean), REDUCE(ReduceMax), REDUCE(ReduceMin), REDUCE(ReduceProd),
    {HOLO_ID_ML_LinearRegressor, 0, linear_regressor, "graph LinearRegressor(x) -> (y) {\n", {ALWAYS(LINEAR_SUM("y"))}},
    {HOLO_ID_ML_LinearClassifier, 0, linear_classifier, "graph LinearClassifier(x) -> (l, z) {\n",
     {ALWAYS(LINEAR_SUM("s")),
      BY("NONE", "t = Identity@13(s)\n z = Identity@13(s)\n"),
      BY("SOFTMAX", "t = Identity@13(s)\n z = Softmax@13(s) {axis=1}\n"),
      BY("LOGISTIC", "t = Identity@13(s)\n z = Sigmoid@13(s)\n"),
      BY("none", BOTH "const one: f32[] = {1}\n o = Sub@14(one, s)\n z = Concat@13(o, s) {axis=1}\n"),
      BY("softmax", BOTH "z = Softmax@13(t) {axis=1}\n"), BY("logistic", BOTH "z = Sigmoid@13(t)\n"),
      ALWAYS("best = ArgMax@13(t) {axis=1, keepdims=0}\n labels = Constant@12() {value_ints=@classlabels_ints}\n"),
      ALWAYS("l = Gather@13(labels, best)\n")}},
    {HOLO_ID_ML_SVMClassifier, 0, vector_classifier, "graph SVMClassifier(x) -> (l, z) {\n",
     {VECTORS,
      ALWAYS(MATRIX("w", "pairs", "all") " b = Constant@12() {value_floats=@rho}\n s = Gemm@13(v, w, b) {transB=1}\n"),
      ALWAYS("l, z = hologram::SVMVotes@1(s) " VOTES)}},
    {HOLO_ID_ML_SVMRegressor, 0, vector_regressor, "graph SVMRegressor(x) -> (y) {\n",
     {VECTORS,
      ALWAYS(MATRIX("w", "coefficients", "one") " p = Gemm@13(v, w) {transB=1}\n"),
      ALWAYS("r = Constant@12() {value_float=@bias}\n y = Add@14(p, r)\n")}},
    {HOLO_ID_MICROSOFT_FusedConv, 0, activated, "graph FusedConv(x, w, b, z) -> (y) {\n",
     {WITH(IN(3), "c = Conv@11(x, w, b) " CONV " s = Add@14(c, z)\n"), WITHOUT(IN(3), "s = Conv@11(x, w, b) " CONV), ACTIVATIONS}},
    {HOLO_ID_MICROSOFT_FusedGemm, 0, activated, "graph FusedGemm(a, b, c) -> (y) {\n",
     {ALWAYS("s = Gemm@13(a, b, c) {alpha=@alpha, beta=@beta, transA=@transA, transB=@transB}\n"), ACTIVATIONS}},
};
// clang-format on

static uint32_t parts_of(const HoloNode *node)
{
    uint32_t parts = 0;
    for (int i = 0; i < node->in_count && i < 16; i++)
        if (node->in[i]) parts |= IN(i);
    for (int i = 0; i < node->out_count && i < 16; i++)
        if (node->out[i]) parts |= OUT(i);
    return parts;
}

static bool gives_labels(const HoloNode *node)
{
    return HOLO_IS(node, ML_LinearClassifier) || HOLO_IS(node, ML_SVMClassifier);
}

static const Row *row_of(const HoloNode *node)
{
    if (!node->op || node->in_count < 1 || !node->out_count) return NULL;
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (rows[i].id == node->op_id && is_f32(node->in[0]) && (is_number(node->out[0]) || gives_labels(node)) &&
            !(rows[i].never & parts_of(node)))
            return &rows[i];
    return NULL;
}

static bool has_line(const Line *line, const Facts *facts, uint32_t parts)
{
    bool is_such = !line->form || !strcmp(line->form, facts->form ? facts->form : "");
    return (parts & line->with) == line->with && !(parts & line->without) && is_such;
}

// Copies a text. Returns where the next one begins.
static char *put(char *to, const char *text)
{
    size_t size = strlen(text);
    memcpy(to, text, size + 1);
    return to + size;
}

// The body of a node that has these parts. NULL: no memory.
static const char *text_make(const Facts *facts, const Row *row, uint32_t parts)
{
    size_t size = strlen(row->head) + 2;
    for (int i = 0; i < LINES && row->line[i].text; i++) size += strlen(row->line[i].text);
    char *text = holo_arena_take(facts->graph->arena, size), *to = text;
    if (!text) return NULL;
    to = put(to, row->head);
    for (int i = 0; i < LINES && row->line[i].text; i++)
        if (has_line(&row->line[i], facts, parts)) to = put(to, row->line[i].text);
    put(to, "}");
    return text;
}

static HoloStatus unfuse(HoloRewrite *rewrite, HoloNode *node, const Row *row, HoloError *error)
{
    HoloGraph *graph = rewrite->graph;
    Facts      facts = {.graph = graph, .attr = HOLO_NEW(graph->arena, HoloAttr, node->attr_count + OWN_ATTRS)};
    if (!facts.attr) return holo_fail_memory(error);
    for (int i = 0; i < node->attr_count; i++) facts.attr[facts.attr_count++] = node->attr[i];
    if (row->fits && !row->fits(&facts, node)) return HOLO_OK;
    const HoloOp op   = {.body = text_make(&facts, row, parts_of(node))};
    HoloNode     call = {
            .op = &op, .name = node->name, .type = node->type, .attr = facts.attr, .attr_count = facts.attr_count};
    return op.body ? holo_rewrite_body(rewrite, node, &call, error) : holo_fail_memory(error);
}

HoloStatus holo_pass_unfuse(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    for (int i = 0, count = graph->node_count; i < count && holo_rewrite_more(&rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        holo_rewrite_inputs(&rewrite, node);
        const Row *row = row_of(node);
        if (row) HOLO_TRY(unfuse(&rewrite, node, row, error));
    }
    return holo_rewrite_end(&rewrite, error);
}
