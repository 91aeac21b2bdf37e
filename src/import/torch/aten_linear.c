// aten_linear.c - products of matrices, and attention.
#include "import/torch/aten.h"

#include <math.h>
#include <string.h>

HoloValue *holo_torch_matmul(HoloTorch *t, HoloValue *x, HoloValue *y)
{
    return OP2("MatMul", x, y);
}

HoloValue *holo_torch_linear(HoloTorch *t, HoloValue *x, HoloValue *w, HoloValue *b)
{
    if (holo_emit_rank(x) == 2 && holo_emit_rank(w) == 2 && b && holo_emit_rank(b) == 1)
        return holo_emit(t->e, "Gemm", HOLO_IN(x, w, b), HOLO_ATTRS(holo_with_int("transB", 1)));
    HoloValue *y = OP2("MatMul", x, holo_torch_rank(t, w) == 2 ? holo_torch_swap(t, w, 0, 1) : w);
    return b ? OP2("Add", y, b) : y;
}

ONE(linear)
{
    return holo_torch_linear(t, V(0), V(1), V(2));
}

ONE(matmul)
{
    return OP2("MatMul", V(0), V(1));
}

// beta * self + alpha * product
static HoloValue *add_product(HoloTorch *t, const HoloTv *a, HoloValue *product)
{
    HoloValue *x    = V(0);
    double     beta = holo_torch_float(t, &a[3], 1), alpha = holo_torch_float(t, &a[4], 1);
    if (alpha != 1) product = OP2("Mul", product, NUM(product, alpha));
    if (beta == 0) return product;
    if (beta != 1) x = OP2("Mul", x, NUM(x, beta));
    return OP2("Add", x, product);
}

ONE(addmm)
{
    HoloValue *x = V(0), *y = V(1), *z = V(2);
    bool       is_plain = holo_torch_float(t, &a[3], 1) == 1 && holo_torch_float(t, &a[4], 1) == 1;
    if (is_plain && holo_torch_is_float(DTYPE(x))) return holo_emit(t->e, "Gemm", HOLO_IN(y, z, x), NULL);
    return add_product(t, a, OP2("MatMul", y, z));
}

ONE(baddbmm)
{
    return add_product(t, a, OP2("MatMul", V(1), V(2)));
}

ONE(addbmm)
{
    return add_product(t, a, holo_torch_reduce(t, "ReduceSum", OP2("MatMul", V(1), V(2)), (int64_t[]){0}, 1, false));
}

static HoloValue *outer_of(HoloTorch *t, HoloValue *x, HoloValue *y)
{
    return OP2("Mul", holo_torch_unsqueeze(t, x, 1), y);
}

ONE(outer)
{
    return outer_of(t, V(0), V(1));
}

ONE(addr)
{
    return add_product(t, a, outer_of(t, V(1), V(2)));
}

ONE(inner)
{
    HoloValue *x = V(0), *y = V(1);
    int        rank = holo_torch_rank(t, y);
    if (!rank || !holo_torch_rank(t, x)) return OP2("Mul", x, y);
    HOLO_TORCH_CHECK(t, rank <= 2, "inner with a tensor of %d dimensions", rank);
    return OP2("MatMul", x, rank == 2 ? holo_torch_swap(t, y, 0, 1) : y);
}

// ONNX has the same notation, but wants no upper-case letters where "..." is absent; spaces are allowed.
ONE(einsum)
{
    int         count;
    HoloString  text     = holo_torch_text(t, &a[0], "");
    HoloValue **x        = holo_torch_values(t, &a[1], &count);
    char       *equation = holo_arena_text(t->arena, text.size ? text.data : "", text.size);
    if (t->e->status || !equation) return NULL;
    HoloDtype dtype = holo_torch_result(t, a[1].list->item, count);
    for (int i = 0; i < count; i++) x[i] = holo_emit_cast(t->e, x[i], dtype);
    return holo_emit(t->e, "Einsum", (HoloEmitIn){count, x}, HOLO_ATTRS(holo_with_text("equation", equation)));
}

ONE(tensordot)
{
    HoloValue *x = V(0), *y = V(1);
    int64_t    p[16], q[16];
    char       text[64], *at = text;
    int        count = holo_torch_ints(t, &a[2], p), rank_x = holo_torch_rank(t, x), rank_y = holo_torch_rank(t, y);
    HOLO_TORCH_CHECK(t, count == holo_torch_ints(t, &a[3], q) && rank_x + rank_y <= 16, "tensordot along %d dimensions",
                     count);
    char names_y[16];
    for (int i = 0; i < rank_y; i++) names_y[i] = (char)('a' + rank_x + i);
    for (int i = 0; i < count; i++) {
        HoloTv f = holo_tv_int(p[i]), g = holo_tv_int(q[i]);
        p[i]                                       = holo_torch_axis(t, &f, 0, rank_x);
        names_y[holo_torch_axis(t, &g, 0, rank_y)] = (char)('a' + p[i]);
    }
    for (int i = 0; i < rank_x; i++) *at++ = (char)('a' + i);
    *at++ = ',';
    for (int i = 0; i < rank_y; i++) *at++ = names_y[i];
    *at++ = '-', *at++ = '>';
    for (int i = 0; i < rank_x; i++)
        if (!memchr(names_y, 'a' + i, (size_t)rank_y)) *at++ = (char)('a' + i);
    for (int i = 0; i < rank_y; i++)
        if (names_y[i] >= 'a' + rank_x) *at++ = names_y[i];
    *at = 0;
    return holo_emit(t->e, "Einsum", HOLO_IN(x, y), HOLO_ATTRS(holo_with_text("equation", text)));
}

// y[b,o] = x[b,i] w[o,i,j] z[b,j] + bias[o]
ONE(bilinear)
{
    HoloValue *y = holo_emit(t->e, "Einsum", HOLO_IN(V(0), V(2), V(1)),
                             HOLO_ATTRS(holo_with_text("equation", "...i,oij,...j->...o")));
    return holo_tv_is_none(&a[3]) ? y : OP2("Add", y, V(3));
}

ONE(multi_dot)
{
    int         count;
    HoloValue **x = holo_torch_values(t, &a[0], &count), *y = count ? x[0] : NULL;
    for (int i = 1; i < count; i++) y = OP2("MatMul", y, x[i]);
    return y;
}

ONE(cross)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    int        axis  = holo_torch_axis(t, &a[2], -1, holo_torch_rank(t, x));
    int64_t    one[] = {1, 2, 0}, two[] = {2, 0, 1};
    HoloValue *i = holo_emit_ints(t->e, one, 3), *j = holo_emit_ints(t->e, two, 3);
    return OP2("Sub", OP2("Mul", holo_torch_gather(t, x, i, axis), holo_torch_gather(t, y, j, axis)),
               OP2("Mul", holo_torch_gather(t, x, j, axis), holo_torch_gather(t, y, i, axis)));
}

ONE(trace)
{
    HoloTv diagonal = holo_torch_apply(t, "diagonal", 1, a), sum = holo_torch_apply(t, "sum", 1, &diagonal);
    return holo_torch_value(t, &sum);
}

ONE(det)
{
    return OP1("Det", V(0));
}

ONE(matrix_power)
{
    int64_t    n    = holo_torch_int(t, &a[1], 1);
    HoloTv     base = n < 0 ? holo_torch_apply(t, "linalg_inv", 1, a) : a[0];
    HoloValue *x = holo_torch_value(t, &base), *y = x;
    if (n < 0) n = -n;
    HOLO_TORCH_CHECK(t, n <= 64, "matrix_power %lld", (long long)n);
    if (!n) {
        HoloTv one = holo_torch_apply(t, "_eye_like", 1, a);
        return holo_torch_value(t, &one);
    }
    for (int64_t i = 1; i < n; i++) y = OP2("MatMul", y, x);
    return y;
}

// ---- attention

typedef struct Attention {
    HoloValue *q, *k, *v, *mask;
    bool       is_causal, has_scale, is_grouped;
    double     scale;
} Attention;

// Heads of keys that serve several heads of queries are repeated.
static HoloValue *repeat_heads(HoloTorch *t, HoloValue *x, HoloValue *q)
{
    int     rank = holo_torch_rank(t, x);
    int64_t have, want;
    HOLO_TORCH_CHECK(t,
                     holo_torch_size_known(x, rank - 3, &have) && holo_torch_size_known(q, rank - 3, &want) &&
                         have > 0 && want % have == 0,
                     "attention with %d dimensions and heads that only a run knows", rank);
    if (have == want) return x;
    HoloTv args[3] = {holo_tv_tensor(t, x), holo_tv_int(want / have), holo_tv_int(rank - 3)};
    HoloTv y       = holo_torch_apply(t, "repeat_interleave", 3, args);
    return holo_torch_value(t, &y);
}

// Scores by which queries look at keys, before the softmax.
static HoloValue *scores_of(HoloTorch *t, Attention *at)
{
    int        rank = holo_torch_rank(t, at->q);
    int64_t    size;
    HoloValue *keys = holo_torch_swap(t, at->k, rank - 2, rank - 1), *q = at->q;
    if (at->has_scale) {
        q = OP2("Mul", q, NUM(q, at->scale));
    } else if (holo_torch_size_known(q, rank - 1, &size)) {
        q = OP2("Mul", q, NUM(q, 1 / sqrt((double)size)));
    } else {
        q = OP2("Div", q, OP1("Sqrt", holo_emit_cast(t->e, holo_torch_dim(t, q, rank - 1), DTYPE(q))));
    }
    HoloValue *scores = OP2("MatMul", q, keys);
    HoloValue *none   = NUM(scores, -INFINITY);
    if (at->is_causal) {
        HoloValue *rows    = holo_torch_range(t, holo_torch_dim(t, at->q, rank - 2)),
                  *columns = holo_torch_range(t, holo_torch_dim(t, at->k, rank - 2));
        scores = holo_torch_where(t, OP2("GreaterOrEqual", holo_torch_unsqueeze(t, rows, 1), columns), scores, none);
    }
    if (!at->mask) return scores;
    if (DTYPE(at->mask) == HOLO_BOOL) return holo_torch_where(t, at->mask, scores, none);
    return OP2("Add", scores, holo_emit_cast(t->e, at->mask, DTYPE(scores)));
}

static HoloValue *attend(HoloTorch *t, Attention *at)
{
    int rank = holo_torch_rank(t, at->q);
    HOLO_TORCH_CHECK(t, rank >= 2 && holo_emit_rank(at->k) == rank && holo_emit_rank(at->v) == rank,
                     "attention over tensors of %d dimensions", rank);
    if (at->is_grouped && rank >= 3) {
        at->k = repeat_heads(t, at->k, at->q);
        at->v = repeat_heads(t, at->v, at->q);
    }
    HoloValue *share = holo_torch_softmax(t, scores_of(t, at), rank - 1, false);
    if (at->mask && DTYPE(at->mask) == HOLO_BOOL)
        share = holo_torch_where(t, OP1("IsNaN", share), NUM(share, 0), share); // nothing is seen
    return OP2("MatMul", share, at->v);
}

ONE(attention)
{
    Attention at = {V(0),
                    V(1),
                    V(2),
                    V(3),
                    holo_torch_bool(t, &a[5], false),
                    !holo_tv_is_none(&a[6]),
                    holo_torch_bool(t, &a[7], false),
                    holo_torch_float(t, &a[6], 1)};
    return attend(t, &at);
}

// The same with other places, and with results that only training uses.
ANY(flash_attention)
{
    Attention at      = {V(0),
                         V(1),
                         V(2),
                         V(5),
                         holo_torch_bool(t, &a[4], false),
                         !holo_tv_is_none(&a[6]),
                         false,
                         holo_torch_float(t, &a[6], 1)};
    HoloTv    both[2] = {holo_tv_tensor(t, attend(t, &at)), {0}};
    *out              = holo_tv_list(t, HOLO_TORCH_TUPLE, 2, both);
}

ANY(attention_math)
{
    Attention at      = {V(0),
                         V(1),
                         V(2),
                         V(3),
                         holo_torch_bool(t, &a[5], false),
                         !holo_tv_is_none(&a[7]),
                         holo_torch_bool(t, &a[8], false),
                         holo_torch_float(t, &a[7], 1)};
    HoloTv    both[2] = {holo_tv_tensor(t, attend(t, &at)), {0}};
    *out              = holo_tv_list(t, HOLO_TORCH_TUPLE, 2, both);
}

ANY(efficient_attention)
{
    Attention at     = {V(0),
                        V(1),
                        V(2),
                        V(3),
                        holo_torch_bool(t, &a[6], false),
                        !holo_tv_is_none(&a[7]),
                        false,
                        holo_torch_float(t, &a[7], 1)};
    HoloTv    all[4] = {holo_tv_tensor(t, attend(t, &at)), {0}, {0}, {0}};
    *out             = holo_tv_list(t, HOLO_TORCH_TUPLE, 4, all);
}

// ---- whole layers, which traces of transformers have

typedef struct Heads {
    int64_t    embed, count;
    HoloValue *in_w, *in_b, *out_w, *out_b, *mask;
} Heads;

// [batch, tokens, size] as [batch, heads, tokens, size of a head]
static HoloValue *split_heads(HoloTorch *t, HoloValue *x, const Heads *h)
{
    int64_t sizes[] = {0, 0, h->count, h->embed / h->count}, perm[] = {0, 2, 1, 3};
    return holo_emit_transpose(t->e, holo_emit_reshape(t->e, x, sizes, 4), perm, 4);
}

// The mask says which tokens are hidden: 0 of pairs of tokens, 1 of tokens, 2 of both.
static HoloValue *seen_of(HoloTorch *t, HoloValue *mask, int64_t kind)
{
    if (!mask) return NULL;
    int64_t middle[] = {1, 2};
    if (kind == 1 && holo_emit_rank(mask) == 2) mask = holo_emit_unsqueeze(t->e, mask, middle, 2);
    return DTYPE(mask) == HOLO_BOOL ? OP1("Not", mask) : mask;
}

static HoloValue *multi_head(HoloTorch *t, HoloValue *q, HoloValue *k, HoloValue *v, const Heads *h,
                             HoloValue **out_share)
{
    HoloValue *part[3] = {q, k, v}, *w[3], *b[3];
    int64_t    perm[] = {0, 2, 1, 3}, join[] = {0, 0, h->embed}, axes[] = {1};
    HOLO_TORCH_CHECK(t, h->count > 0 && h->embed % h->count == 0, "attention with %lld heads", (long long)h->count);
    holo_emit_many(t->e, "Split", HOLO_IN(h->in_w),
                   HOLO_ATTRS(holo_with_int("axis", 0), holo_with_int("num_outputs", 3)), w, 3);
    holo_emit_many(t->e, "Split", HOLO_IN(h->in_b),
                   HOLO_ATTRS(holo_with_int("axis", 0), holo_with_int("num_outputs", 3)), b, 3);
    for (int i = 0; i < 3; i++) part[i] = split_heads(t, holo_torch_linear(t, part[i], w[i], b[i]), h);
    Attention  at    = {.q = part[0], .k = part[1], .v = part[2], .mask = h->mask};
    HoloValue *share = holo_torch_softmax(t, scores_of(t, &at), 3, false);
    HoloValue *y     = holo_emit_transpose(t->e, OP2("MatMul", share, part[2]), perm, 4);
    if (out_share) *out_share = holo_torch_mean(t, share, axes, 1, false);
    return holo_torch_linear(t, holo_emit_reshape(t->e, y, join, 3), h->out_w, h->out_b);
}

ANY(native_multi_head)
{
    Heads      h    = {holo_torch_int(t, &a[3], 1),
                       holo_torch_int(t, &a[4], 1),
                       V(5),
                       V(6),
                       V(7),
                       V(8),
                       seen_of(t, V(9), holo_torch_int(t, &a[12], 0))};
    HoloValue *y[2] = {NULL};
    y[0]            = multi_head(t, V(0), V(1), V(2), &h, &y[1]);
    *out            = holo_torch_tuple(t, 2, y);
}

static HoloValue *norm_of(HoloTorch *t, HoloValue *x, HoloValue *w, HoloValue *b, double eps)
{
    return holo_emit(t->e, "LayerNormalization", HOLO_IN(x, w, b),
                     HOLO_ATTRS(holo_with_int("axis", -1), holo_with_float("epsilon", eps)));
}

// Which tokens of a nested tensor there are, as the mask of an attention.
static HoloValue *inside_of(HoloTorch *t, const HoloTv *x)
{
    int64_t    middle[] = {1, 2};
    HoloValue *inside   = x->kind == HOLO_TORCH_TENSOR ? x->tensor->inside : NULL;
    return inside ? holo_emit_unsqueeze(t->e, inside, middle, 2) : NULL;
}

// x mask mask_check: sequences of different lengths, which stay padded here
ANY(nested_from_mask)
{
    *out = holo_tv_tensor(t, V(0));
    if (!t->e->status) out->tensor->inside = V(1);
}

// self padding output_size
ONE(to_padded)
{
    HoloValue *x = V(0), *inside = a[0].kind == HOLO_TORCH_TENSOR ? a[0].tensor->inside : NULL;
    HOLO_TORCH_CHECK(t, inside, "to_padded_tensor of a tensor that is not nested");
    return holo_torch_where(t, holo_torch_unsqueeze(t, inside, 2), x, holo_torch_scalar(t, &a[1], DTYPE(x)));
}

ONE(encoder_layer)
{
    HoloValue *x = V(0), *y;
    Heads      h = {holo_torch_int(t, &a[1], 1),
                    holo_torch_int(t, &a[2], 1),
                    V(3),
                    V(4),
                    V(5),
                    V(6),
                    seen_of(t, V(18), holo_torch_int(t, &a[19], 0))};
    if (!h.mask) h.mask = inside_of(t, &a[0]);
    bool   is_gelu = holo_torch_bool(t, &a[7], false), is_first = holo_torch_bool(t, &a[8], false);
    double eps = holo_torch_float(t, &a[9], 1e-5);
    y          = is_first ? norm_of(t, x, V(10), V(11), eps) : x;
    x          = OP2("Add", x, multi_head(t, y, y, y, &h, NULL));
    if (!is_first) x = norm_of(t, x, V(10), V(11), eps);
    y = is_first ? norm_of(t, x, V(12), V(13), eps) : x;
    y = holo_torch_linear(t, y, V(14), V(15));
    y = is_gelu ? OP1("Gelu", y) : OP1("Relu", y);
    x = OP2("Add", x, holo_torch_linear(t, y, V(16), V(17)));
    return is_first ? x : norm_of(t, x, V(12), V(13), eps);
}

const HoloTorchOp holo_torch_linears[] = {
    ROW("linear", "input weight bias", linear),
    ROW("matmul", "self other", matmul),
    ROW("mm", "self mat2", matmul),
    ROW("bmm", "self mat2", matmul),
    ROW("mv", "self vec", matmul),
    ROW("dot", "self tensor", matmul),
    ROW("vdot", "self other", matmul),
    ROW("linalg_matmul", "self other", matmul),
    ROW("__matmul__", "self other", matmul),
    ROW("addmm", "self mat1 mat2 beta alpha", addmm),
    ROW("baddbmm", "self batch1 batch2 beta alpha", baddbmm),
    ROW("addbmm", "self batch1 batch2 beta alpha", addbmm),
    ROW("addmv", "self mat vec beta alpha", baddbmm),
    ROW("outer", "self vec2", outer),
    ROW("ger", "self vec2", outer),
    ROW("addr", "self vec1 vec2 beta alpha", addr),
    ROW("inner", "self other", inner),
    ROW("einsum", "equation tensors path", einsum),
    ROW("tensordot", "self other dims_self dims_other", tensordot),
    ROW("bilinear", "input1 input2 weight bias", bilinear),
    ROW("linalg_multi_dot", "tensors", multi_dot),
    ROW("chain_matmul", "matrices", multi_dot),
    ROW("cross", "self other dim", cross),
    ROW("linalg_cross", "self other dim", cross),
    ROW("trace", "self", trace),
    ROW("det", "self", det),
    ROW("linalg_det", "self|A", det),
    ROW("matrix_power", "self n", matrix_power),
    ROW("linalg_matrix_power", "self n", matrix_power),
    ROW("scaled_dot_product_attention", "query key value attn_mask dropout_p is_causal scale enable_gqa", attention),
    MANY("_scaled_dot_product_flash_attention_for_cpu", "query key value dropout_p is_causal attn_mask scale",
         flash_attention),
    MANY("_scaled_dot_product_attention_math",
         "query key value attn_mask dropout_p is_causal dropout_mask scale enable_gqa", attention_math),
    MANY("_scaled_dot_product_efficient_attention",
         "query key value attn_bias compute_log_sumexp dropout_p is_causal scale", efficient_attention),
    MANY(
        "_native_multi_head_attention",
        "query key value embed_dim num_head qkv_weight qkv_bias proj_weight proj_bias mask need_weights average_attn_weights mask_type",
        native_multi_head),
    ROW("_transformer_encoder_layer_fwd",
        "src embed_dim num_heads qkv_weight qkv_bias proj_weight proj_bias use_gelu norm_first eps norm_weight_1 norm_bias_1 norm_weight_2 norm_bias_2 ffn_weight_1 ffn_bias_1 ffn_weight_2 ffn_bias_2 mask mask_type",
        encoder_layer),
    MANY("_nested_tensor_from_mask", "t mask mask_check", nested_from_mask),
    ROW("to_padded_tensor", "self padding output_size", to_padded),
    {0},
};
