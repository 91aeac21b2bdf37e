// bodies_f16.c - activations of f16 that are defined by bodies, for which ONNX Runtime has no kernels of f16.
//
// There such a node becomes its body, and the numbers in it are of f16: the root of a half is 1e-4 off, and what the node
// gives is so, too. Here they become the same; in f32, and in class exact, they stay.
#include "passes/rewrite.h"

#include <string.h>

static const struct {
    const char *type, *body; // of com.microsoft
} bodies[] = {
    {"Gelu", "graph Gelu(x) -> (y) {\n"
             "    const half: f16[] = {0.5}\n"
             "    const one: f16[] = {1}\n"
             "    const c: f16[] = {0.70710678118654752}\n"
             "    s = Mul@13(c, x)\n"
             "    e = Erf@13(s)\n"
             "    g = Add@13(e, one)\n"
             "    h = Mul@13(g, half)\n"
             "    y = Mul@13(x, h)\n"
             "}"},
    {"FastGelu", "graph FastGelu(a, bias) -> (y) {\n"
                 "    const half: f16[] = {0.5}\n"
                 "    const one: f16[] = {1}\n"
                 "    const b: f16[] = {0.797885}\n"
                 "    const c: f16[] = {0.035677}\n"
                 "    when bias { x = Add@13(a, bias) }\n"
                 "    unless bias { x = Identity@13(a) }\n"
                 "    q = Mul@13(x, x)\n"
                 "    r = Mul@13(c, q)\n"
                 "    s = Add@13(b, r)\n"
                 "    i = Mul@13(x, s)\n"
                 "    t = Tanh@13(i)\n"
                 "    g = Add@13(one, t)\n"
                 "    p = Mul@13(x, g)\n"
                 "    y = Mul@13(half, p)\n"
                 "}"},
    {"QuickGelu", "graph QuickGelu<alpha=1.702>(x) -> (y) {\n"
                  "    wide = Constant@12() {value_float=@alpha}\n"
                  "    alpha = CastLike@15(wide, x)\n"
                  "    s = Mul@13(alpha, x)\n"
                  "    g = Sigmoid@13(s)\n"
                  "    y = Mul@13(x, g)\n"
                  "}"},
};

static const char *body_of(const HoloNode *node) // NULL: it stays
{
    const HoloValue *x = node->in_count ? node->in[0] : NULL;
    if (!node->op || !x || x->type.kind != HOLO_TENSOR || x->type.dtype != HOLO_F16) return NULL;
    for (int i = 0; i < HOLO_COUNT(bodies); i++)
        if (!strcmp(node->type, bodies[i].type) && !strcmp(node->domain, "com.microsoft")) return bodies[i].body;
    return NULL;
}

HoloStatus holo_pass_bodies(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    for (int i = 0, count = graph->node_count; i < count && holo_rewrite_more(&rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        holo_rewrite_inputs(&rewrite, node);
        const char *body = body_of(node);
        if (!body) continue;
        HoloOp   op   = *node->op;
        HoloNode call = *node;
        op.body       = body;
        call.op       = &op;
        HOLO_TRY(holo_rewrite_body(&rewrite, node, &call, error));
    }
    return holo_rewrite_end(&rewrite, error);
}
