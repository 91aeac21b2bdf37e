// attention_fuse.c - turns softmax(Q K^T * scale + mask) V, as exporters write it, into Attention.
//
// The match goes up from the last product: what may follow the softmax, the softmax, then scales, masks and soft caps
// in any order that Attention has, the first product, and scales of its inputs further up. Scores may change between
// three and four dimensions on the way. attention_heads.c handles what is left between the heads and their projections.
//
// If -inf masks a whole row, a softmax gives NaN and Attention gives 0; the attribute masked_nan says that NaN is
// meant. Some models replace such NaN themselves, and also NaN that comes from inputs; these nodes stay.
#include "format/params.h"
#include "passes/fuse/attention_pass.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 24, MASKS_MAX = 4, VERSION = 23 }; // since version 24 a mask of one column is not broadcast

typedef struct Mask {
    HoloValue *value; // numbers to add, or booleans
    bool       hides; // if the boolean has this value, the score becomes `number`
    double     number;
    bool       is_stacked; // it has one matrix for each matrix of three-dimensional scores
} Mask;

typedef struct Found {
    const int *uses;
    int        use_count;
    int        size_max; // longest vector that the target's kernel takes
    HoloValue *q, *k, *v;
    bool       k_is_transposed; // positions are its last dimension
    double     scale, softcap;
    Mask       mask[MASKS_MAX];
    int        mask_count;
    bool       is_cleaned;      // weights that are NaN become 0
    bool has_split, is_stacked; // has_split: scores of four dimensions were seen, batch and heads; is_stacked: a mask
                                // has one matrix for each of three-dimensional scores
    HoloDim batch, heads;
} Found;

static bool is_known(const HoloValue *v, int rank_min, int rank_max)
{
    return v && v->type.rank >= rank_min && v->type.rank <= rank_max && holo_value_is_sized(v);
}

static bool is_used_once(const Found *f, const HoloValue *v)
{
    return v->id < f->use_count && f->uses[v->id] == 1;
}

static bool same_ends(const HoloTensor *a, const HoloTensor *b) // the last two sizes
{
    return a->dim[a->rank - 1] == b->dim[b->rank - 1] && a->dim[a->rank - 2] == b->dim[b->rank - 2];
}

// All other sizes are equal; one head may serve all.
static bool same_leads(const HoloTensor *a, const HoloTensor *b)
{
    if (a->rank != b->rank || a->dim[0] != b->dim[0]) return false;
    return a->rank == 3 || a->dim[1] == b->dim[1] || b->dim[1] == 1;
}

// The kernel can run it: otherwise plain evaluation would be slower than the products were.
static bool is_small(const Found *f, HoloDim size)
{
    return !holo_dim_is_symbolic(size) && size >= 1 && size <= f->size_max;
}

static bool is_view(const HoloNode *node)
{
    const HoloValue *x = holo_node_in(node, 0);
    return node->op && node->op->flags & HOLO_OP_VIEW && x && x->type.dtype == node->out[0]->type.dtype;
}

// ---- the way up

static bool climb(Found *f, HoloValue *value, int depth);

// Batch and heads of four-dimensional scores must be the same everywhere.
static bool note_split(Found *f, const HoloTensor *scores)
{
    if (scores->rank != 4) return true;
    if (f->has_split) return f->batch == scores->dim[0] && f->heads == scores->dim[1];
    f->has_split = true;
    f->batch     = scores->dim[0];
    f->heads     = scores->dim[1];
    return true;
}

// Does the mask broadcast to the scores, and not the other way round? The last size is also that of V: there it may be
// unknown.
static bool spreads(const HoloTensor *mask, const HoloTensor *scores)
{
    if (mask->kind != HOLO_TENSOR || mask->rank < 1 || mask->rank > scores->rank) return false;
    for (int d = 0; d < mask->rank; d++) {
        HoloDim have = mask->dim[d], want = scores->dim[scores->rank - mask->rank + d];
        bool    open = d == mask->rank - 1 && holo_dim_is_symbolic(have) && have != HOLO_DIM_UNKNOWN;
        if (have != 1 && have != want && !open) return false;
    }
    return true;
}

static bool add_mask(Found *f, Mask mask, const HoloTensor *scores)
{
    const HoloTensor *t = &mask.value->type;
    if (f->scale != 1 || f->softcap > 0 || f->mask_count == MASKS_MAX || !spreads(t, scores)) return false;
    mask.is_stacked = scores->rank == 3 && t->rank == 3 && t->dim[0] != 1;
    f->is_stacked |= mask.is_stacked;
    f->mask[f->mask_count++] = mask;
    return true;
}

static bool climb_add(Found *f, const HoloNode *node, int depth)
{
    for (int i = 0; i < 2; i++) {
        Found      other = *f;
        HoloValue *x = node->in[i], *mask = node->in[!i];
        if (!add_mask(&other, (Mask){.value = mask}, &x->type) || !climb(&other, x, depth)) continue;
        *f = other;
        return true;
    }
    return false;
}

// Does each row have a key that is not hidden?
static bool sees_some(const HoloTensor *t, bool hides)
{
    int64_t width = t->dim[t->rank - 1], count = holo_tensor_count(t);
    if (!t->data) return false;
    for (int64_t row = 0; row < count; row += width) {
        bool some = false;
        for (int64_t i = row; i < row + width && !some; i++) some = (holo_get_i(t, i) != 0) != hides;
        if (!some) return false;
    }
    return true;
}

// If a score is replaced by a number so low that its weight is 0, the number could also be added to it, unless all
// scores of a row are replaced. In that case the number must be so low that nothing is left of the scores.
static bool is_low(const Mask *m)
{
    if (m->number <= -1e9) return true;
    return m->number <= -1e4 && m->value->is_constant && m->value->type.rank > 0 &&
           sees_some(&m->value->type, m->hides);
}

static bool climb_where(Found *f, const HoloNode *node, int depth)
{
    for (int i = 1; i <= 2; i++) {
        Mask mask = {.value = node->in[0], .hides = i == 2};
        if (!holo_value_number(node->in[3 - i], &mask.number)) continue;
        return is_low(&mask) && add_mask(f, mask, &node->in[i]->type) && climb(f, node->in[i], depth);
    }
    return false;
}

// Is a value multiplied or divided by one number? *out_x is the value, *out_factor what it is multiplied by.
static bool is_scaled(const HoloNode *node, HoloValue **out_x, double *out_factor)
{
    bool div = HOLO_IS(node, Div);
    if ((!div && !HOLO_IS(node, Mul)) || node->in_count != 2) return false;
    for (int i = 0; i < 2 - div; i++) {
        if (!node->in[i] || !holo_value_number(node->in[!i], out_factor)) continue;
        if (div) *out_factor = 1 / *out_factor;
        *out_x = node->in[i];
        return isfinite(*out_factor) && *out_factor != 0 && holo_type_equal(&(*out_x)->type, &node->out[0]->type);
    }
    return false;
}

static bool climb_tanh(Found *f, const HoloNode *node, int depth)
{
    if (f->softcap > 0 || f->scale <= 0) return false;
    f->softcap = f->scale;
    f->scale   = 1;
    if (!climb(f, node->in[0], depth)) return false;
    f->scale *= f->softcap;
    return true;
}

// Finds Q and K: inputs of a MatMul, or of a FusedMatMul that transposes K itself.
static bool end_at(Found *f, const HoloNode *node)
{
    if (node->in_count != 2 || !is_known(node->in[0], 3, 4) || !is_known(node->in[1], 3, 4)) return false;
    if (*node->domain) {
        if (holo_node_int(node, "transA", 0) || holo_node_int(node, "transBatchA", 0)) return false;
        if (holo_node_int(node, "transBatchB", 0)) return false;
        f->scale *= holo_node_float(node, "alpha", 1);
        f->k_is_transposed = !holo_node_int(node, "transB", 0);
    }
    f->q = node->in[0];
    f->k = node->in[1];
    return same_leads(&f->q->type, &f->k->type) && note_split(f, &node->out[0]->type);
}

static bool is_product(const HoloNode *node)
{
    return HOLO_IS(node, MatMul) || HOLO_IS(node, MICROSOFT_FusedMatMul);
}

// Goes from the scores up to the product that they come from.
static bool climb(Found *f, HoloValue *value, int depth)
{
    HoloNode  *node = value->producer;
    HoloValue *x;
    double     factor;
    if (!node || depth > DEPTH_MAX || node->out[0] != value || !is_known(value, 3, 4) || !is_used_once(f, value))
        return false;
    if (!note_split(f, &value->type)) return false;
    if (is_product(node)) return end_at(f, node);
    if (is_scaled(node, &x, &factor)) {
        f->scale *= factor;
        return climb(f, x, depth + 1);
    }
    if (HOLO_IS(node, Add) && node->in_count == 2) return climb_add(f, node, depth + 1);
    if (HOLO_IS(node, Where) && node->in_count == 3) return climb_where(f, node, depth + 1);
    if (HOLO_IS(node, Tanh)) return climb_tanh(f, node, depth + 1);
    if (!is_view(node) || !is_known(node->in[0], 3, 4) || !same_ends(&node->in[0]->type, &value->type)) return false;
    return climb(f, node->in[0], depth + 1);
}

// Finds x in Where(IsNaN(x), 0, x), which replaces NaN, the weights of rows where everything is hidden, by 0.
static HoloValue *uncleaned(const Found *f, const HoloNode *node)
{
    double zero = 1;
    if (!HOLO_IS(node, Where) || node->in_count != 3 || !holo_value_number(node->in[1], &zero)) return NULL;
    const HoloNode *is_nan = node->in[0] ? node->in[0]->producer : NULL;
    HoloValue      *x      = node->in[2];
    if (zero != 0 || !is_nan || !HOLO_IS(is_nan, IsNaN) || is_nan->in[0] != x) return NULL;
    return is_used_once(f, node->in[0]) && x->id < f->use_count && f->uses[x->id] == 2 ? x : NULL;
}

static bool is_last_axis(const HoloNode *softmax)
{
    int64_t rank = softmax->in[0]->type.rank, axis = holo_node_int(softmax, "axis", softmax->version < 13 ? 1 : -1);
    return axis == -1 || axis == rank - 1;
}

// The softmax that gives these weights; NULL: there is none.
static HoloNode *softmax_of(Found *f, HoloValue *value)
{
    for (int i = 0; i < DEPTH_MAX; i++) {
        HoloNode *node = value->producer;
        if (!node || node->out[0] != value || !is_known(value, 3, 4)) return NULL;
        HoloValue *before = uncleaned(f, node);
        if (before) {
            if (!is_used_once(f, value) || !before->producer || !HOLO_IS(before->producer, Softmax)) return NULL;
            f->is_cleaned = true;
            return is_last_axis(before->producer) ? before->producer : NULL;
        }
        if (!is_used_once(f, value)) return NULL;
        if (HOLO_IS(node, Softmax)) return is_last_axis(node) ? node : NULL;
        if (!is_view(node) || !is_known(node->in[0], 3, 4) || !same_ends(&node->in[0]->type, &value->type)) return NULL;
        value = node->in[0];
    }
    return NULL;
}

// The kernel takes vectors of these sizes, and K has as many heads as V.
static bool fits(const Found *f)
{
    const HoloTensor *q = &f->q->type, *k = &f->k->type, *v = &f->v->type;
    if (k->rank == v->rank ? k->rank == 4 && k->dim[1] != v->dim[1] : k->dim[1] == 1 || v->dim[1] == 1) return false;
    return is_small(f, q->dim[q->rank - 1]) && is_small(f, v->dim[v->rank - 1]);
}

static bool find(Found *f, const HoloNode *product)
{
    HoloValue *weights = product->in[0];
    f->v               = product->in[1];
    if (!is_known(weights, 3, 4) || !is_known(f->v, 3, 4) || weights->type.dtype != HOLO_F32) return false;
    if (!same_leads(&weights->type, &f->v->type) || !note_split(f, &weights->type)) return false;
    HoloNode *softmax = softmax_of(f, weights);
    return softmax && is_known(softmax->in[0], 3, 4) && note_split(f, &softmax->out[0]->type) &&
           climb(f, softmax->in[0], 0) && isfinite(f->scale) && f->scale != 0 && fits(f);
}

// ---- scales further up

// Removes scales of Q or K, anywhere on the way through views and transposes, and multiplies them into *scale.
static void take_scales(HoloRewrite *rewrite, const Found *f, HoloValue *value, double *scale)
{
    for (int i = 0; i < DEPTH_MAX; i++) {
        HoloNode  *node = value->producer;
        HoloValue *x;
        double     factor;
        if (!node || node->out[0] != value || !is_used_once(f, value)) return;
        if (is_scaled(node, &x, &factor)) {
            if (!isfinite(*scale * factor) || *scale * factor == 0 || !holo_rewrite(rewrite, value, x)) return;
            *scale *= factor;
        } else if (is_view(node) || HOLO_IS(node, Transpose)) {
            x = node->in[0];
        } else {
            return;
        }
        value = x;
    }
}

// ---- the replacement

// Three dimensions are the heads of one batch, unless Q is made of a value with four.
static void choose_split(Found *f)
{
    const HoloTensor *q = &f->q->type;
    HoloValue        *x = f->q;
    double            factor;
    if (f->has_split) return;
    f->batch = 1;
    f->heads = q->dim[0];
    while (x->producer && is_scaled(x->producer, &x, &factor)) continue;
    if (f->is_stacked || !x->producer || !is_view(x->producer)) return;
    const HoloValue *source = x->producer->in[0];
    if (!is_known(source, 4, 4) || !same_ends(&source->type, q)) return;
    f->batch = source->type.dim[0];
    f->heads = source->type.dim[1];
}

// The value with four dimensions: itself, or what it is a view of. NULL: there is none.
static HoloValue *find_four(const Found *f, HoloValue *x)
{
    HoloTensor want = x->type;
    if (x->type.rank == 4) return x;
    want.rank   = 4;
    want.dim[0] = f->batch;
    want.dim[1] = f->heads;
    memcpy(want.dim + 2, x->type.dim + 1, 2 * sizeof *want.dim);
    for (int i = 0; i < DEPTH_MAX && x->producer && is_view(x->producer); i++) {
        x = x->producer->in[0];
        if (holo_type_equal(&x->type, &want)) return x;
    }
    return NULL;
}

static bool four_shape(const Found *f, const HoloTensor *t, HoloDim *dim, int64_t *shape)
{
    dim[0] = f->batch;
    dim[1] = f->heads;
    memcpy(dim + 2, t->dim + 1, 2 * sizeof *dim);
    return holo_build_shape(4, dim, shape);
}

// NULL: no memory.
static HoloValue *make_four(HoloRewrite *rewrite, const Found *f, HoloValue *x)
{
    HoloValue *four = find_four(f, x);
    HoloDim    dim[4];
    int64_t    shape[4];
    if (four) return four;
    return four_shape(f, &x->type, dim, shape) ? holo_build_reshape(rewrite, x, 4, shape, dim) : NULL;
}

// K before its last two dimensions were exchanged; K itself if they were not.
static HoloValue *untransposed(Found *f)
{
    HoloValue *x = f->k;
    for (int i = 0; i < DEPTH_MAX && x->producer; i++) {
        const HoloNode *node = x->producer;
        const HoloAttr *perm = holo_node_attr(node, "perm");
        int             rank = x->type.rank;
        if (!is_known(node->in_count ? node->in[0] : NULL, 3, 4)) break;
        if (HOLO_IS(node, Transpose)) {
            bool turns = perm && perm->kind == HOLO_ATTR_INTS && perm->count == rank;
            for (int d = 0; d < rank && turns; d++) turns = perm->ints[d] == (d < rank - 2 ? d : 2 * rank - 3 - d);
            if (!turns) break;
            f->k_is_transposed = false;
            return node->in[0];
        }
        if (!is_view(node) || !same_ends(&node->in[0]->type, &f->k->type)) break;
        x = node->in[0];
    }
    return f->k;
}

// Can Q, K, V and the output get the dimensions that they need?
static bool has_shapes(const Found *f, const HoloTensor *out)
{
    HoloValue *all[] = {f->q, f->k, f->v};
    HoloDim    dim[4];
    int64_t    shape[4];
    int        rank = out->rank;
    for (int i = 0; i < HOLO_COUNT(all); i++)
        if (!find_four(f, all[i]) && !four_shape(f, &all[i]->type, dim, shape)) return false;
    for (int i = 0; i < f->mask_count && f->has_split; i++)
        if (f->mask[i].is_stacked && !four_shape(f, &f->mask[i].value->type, dim, shape)) return false;
    if (rank == 3 ? !holo_build_shape(3, out->dim, shape) : out->dim[0] != f->batch || out->dim[1] != f->heads)
        return false;
    return out->dim[rank - 2] == f->q->type.dim[f->q->type.rank - 2] &&
           out->dim[rank - 1] == f->v->type.dim[f->v->type.rank - 1];
}

// Booleans as numbers to add. NULL: no memory.
static HoloValue *make_numbers(HoloRewrite *rewrite, const Mask *mask)
{
    HoloTensor type = mask->value->type;
    if (type.dtype != HOLO_BOOL) return mask->value;
    type.dtype        = HOLO_F32;
    HoloValue *zero   = holo_build_number(rewrite, HOLO_F32, 0);
    HoloValue *number = holo_build_number(rewrite, HOLO_F32, mask->number);
    HoloNode  *node   = holo_build_node(rewrite, mask->value->name, HOLO_ID_Where, 16, 3, 0, &type);
    if (!zero || !number || !node) return NULL;
    node->in[0] = mask->value;
    node->in[1] = mask->hides ? number : zero;
    node->in[2] = mask->hides ? zero : number;
    return node->out[0];
}

// Combines all masks into one. False: no memory.
static bool make_mask(HoloRewrite *rewrite, Found *f, HoloValue **out)
{
    *out = NULL;
    if (!f->mask_count) return true;
    for (int i = 0; i < f->mask_count; i++)
        if (f->mask[i].is_stacked && f->has_split && !(f->mask[i].value = make_four(rewrite, f, f->mask[i].value)))
            return false;
    const Mask *only = &f->mask[0];
    if (f->mask_count == 1 && only->value->type.dtype == HOLO_BOOL && !only->hides && isinf(only->number)) {
        *out = only->value;
        return true;
    }
    for (int i = 0; i < f->mask_count; i++) {
        HoloValue *value = make_numbers(rewrite, &f->mask[i]);
        if (!value) return false;
        if (!*out) {
            *out = value;
            continue;
        }
        const HoloTensor *a = &(*out)->type, *b = &value->type, *longer = a->rank >= b->rank ? a : b;
        HoloTensor        type = *longer;
        for (int d = 0; d < type.rank; d++) {
            int     at_a = d - (type.rank - a->rank), at_b = d - (type.rank - b->rank);
            HoloDim in_a = at_a < 0 ? 1 : a->dim[at_a], in_b = at_b < 0 ? 1 : b->dim[at_b];
            type.dim[d] = in_a == 1 ? in_b : in_a;
        }
        HoloNode *sum = holo_build_node(rewrite, value->name, HOLO_ID_Add, 14, 2, 0, &type);
        if (!sum) return false;
        sum->in[0] = *out;
        sum->in[1] = value;
        *out       = sum->out[0];
    }
    return true;
}

// K as [batch][head][position][size]. NULL: no memory.
static HoloValue *make_key(HoloRewrite *rewrite, Found *f)
{
    static const int64_t perm3[] = {0, 2, 1}, perm4[] = {0, 1, 3, 2};
    HoloValue           *k = f->k_is_transposed ? untransposed(f) : f->k;
    HoloDim              dim[4];
    int64_t              shape[4];
    if (!f->k_is_transposed && (find_four(f, k) || four_shape(f, &k->type, dim, shape)))
        return make_four(rewrite, f, k);
    k = f->k;
    if (k->type.rank == 3 && four_shape(f, &k->type, dim, shape)) {
        k = holo_build_transpose(rewrite, k, perm3); // before it is split: it may join with another Transpose there
        return k ? make_four(rewrite, f, k) : NULL;
    }
    k = make_four(rewrite, f, k);
    return k ? holo_build_transpose(rewrite, k, perm4) : NULL;
}

static bool may_be_inf(const Mask *mask)
{
    const HoloTensor *t = &mask->value->type;
    if (t->dtype == HOLO_BOOL) return isinf(mask->number);
    if (!mask->value->is_constant || !t->data) return true;
    for (int64_t i = 0; i < holo_tensor_count(t); i++)
        if (isinf(holo_get_f(t, i))) return true;
    return false;
}

// Can masks hide a whole row by -inf, so that its weights are NaN?
static bool may_be_nan(const Found *f)
{
    for (int i = 0; i < f->mask_count && !f->is_cleaned; i++)
        if (may_be_inf(&f->mask[i])) return true;
    return false;
}

static HoloNode *make_attention(HoloRewrite *rewrite, Found *f, const char *name, HoloValue *mask)
{
    HoloValue *q = make_four(rewrite, f, f->q), *k = make_key(rewrite, f), *v = make_four(rewrite, f, f->v);
    if (!q || !k || !v) return NULL;
    HoloTensor type  = q->type;
    type.dim[3]      = v->type.dim[3];
    HoloAttr attr[3] = {
        {.name = "scale", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = (double)(float)f->scale},
    };
    int count = 1;
    if (f->softcap > 0)
        attr[count++] =
            (HoloAttr){.name = "softcap", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = (double)(float)f->softcap};
    if (may_be_nan(f)) attr[count++] = (HoloAttr){.name = "masked_nan", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    HoloNode *node = holo_build_node(rewrite, name, HOLO_ID_Attention, VERSION, mask ? 4 : 3, count, &type);
    if (!node) return NULL;
    node->in[0] = q;
    node->in[1] = k;
    node->in[2] = v;
    if (mask) node->in[3] = mask;
    memcpy(node->attr, attr, (size_t)count * sizeof *attr);
    return node;
}

bool holo_attention_fuse(HoloRewrite *rewrite, const int *uses, int use_count, HoloNode *product)
{
    Found f = {.uses            = uses,
               .use_count       = use_count,
               .size_max        = holo_targets_pick(rewrite->all->targets, product)->attention_size,
               .k_is_transposed = true,
               .scale           = 1};
    if (!HOLO_IS(product, MatMul) || product->in_count != 2 || !is_known(product->out[0], 3, 4)) return true;
    const HoloTensor *type = &product->out[0]->type;
    if (!find(&f, product)) return true;
    choose_split(&f);
    if (!has_shapes(&f, type)) return true;
    take_scales(rewrite, &f, f.q, &f.scale);
    take_scales(rewrite, &f, f.k, &f.scale);
    f.q = holo_rewrite_find(rewrite, f.q);
    f.k = holo_rewrite_find(rewrite, f.k);
    HoloValue *mask, *out = NULL;
    HoloNode  *node = make_mask(rewrite, &f, &mask) ? make_attention(rewrite, &f, product->name, mask) : NULL;
    int64_t    shape[4];
    if (node) out = node->out[0];
    if (out && type->rank == 3 && holo_build_shape(3, type->dim, shape))
        out = holo_build_reshape(rewrite, out, 3, shape, type->dim);
    if (!out) return false;
    holo_rewrite(rewrite, product->out[0], out);
    return true;
}
