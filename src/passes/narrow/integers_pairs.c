// integers_pairs.c - for the pass `integers`: numbers that are quantized twice in a row are quantized once.
//
// Of QuantizeLinear, DequantizeLinear, QuantizeLinear, DequantizeLinear the two in the middle are removed. The outer
// ones get a scale and zero point for the range that both pairs have. This saves one rounding. Nobody else may read the
// values in between, and zero points must be given.
//
// Pairs of signed bytes that are not constants become pairs of unsigned bytes: Add and similar operators use integers
// only if all types are the same, and otherwise round once more.
#include "passes/narrow/integers.h"

#include <math.h>

typedef struct Pairs {
    HoloIntegers *s;
    int          *reads;  // by value id: how many nodes dequantize it in the way in which it was quantized
    HoloScaled   *joined; // by value id: what is read instead; q NULL: nothing else
} Pairs;

static bool has_zero(const HoloNode *node)
{
    return node->in_count > 2 && node->in[2];
}

// The QuantizeLinear whose result `node` dequantizes in the same way; NULL: there is none.
static HoloNode *quantize_of(const HoloNode *node, HoloScaled *out)
{
    HoloScaled made;
    if (node->out_count != 1 || !holo_integers_read(node->out[0], out) || !out->q->producer) return NULL;
    bool same = holo_integers_made(out->q->producer, &made) && holo_integers_equal(&made, out);
    return same && has_zero(node) && has_zero(out->q->producer) ? out->q->producer : NULL;
}

// Goes back over nodes that change nothing: exporters write such Casts.
static const HoloValue *before_nothing(const HoloIntegers *s, const HoloValue *value)
{
    for (const HoloNode *node = value->producer; node && holo_integers_is_private(s, value); node = value->producer) {
        bool is_nothing = HOLO_IS(node, Identity) || HOLO_IS(node, Cast);
        if (!is_nothing || !node->in[0] || node->in[0]->type.dtype != value->type.dtype) break;
        value = node->in[0];
    }
    return value;
}

// The range that both have, with the same number of steps, in f32. False: there is none.
static bool scale_join(const HoloScaled *a, const HoloScaled *b, HoloScaled *out)
{
    float least = a->dtype == HOLO_U8 ? 0 : -128, most = least + 255;
    float low  = fmaxf((least - (float)a->zero) * (float)a->scale, (least - (float)b->zero) * (float)b->scale);
    float high = fminf((most - (float)a->zero) * (float)a->scale, (most - (float)b->zero) * (float)b->scale);
    float step = (high - low) / 255, zero = roundf(least - low / step);
    out->dtype = a->dtype;
    out->scale = holo_integers_equal(a, b) ? a->scale : step;
    out->zero  = holo_integers_equal(a, b) ? a->zero : zero;
    return isnormal(step) && step > 0 && zero >= least && zero <= most;
}

static void scale_set(HoloIntegers *s, HoloNode *node, const HoloScaled *q)
{
    node->in[1] = holo_integers_scale(s, q);
    node->in[2] = holo_integers_zero(s, q);
}

// `node` quantizes what is quantized already: its readers now read the first result, which gets the common scale.
static void quantize_join(Pairs *p, const HoloNode *node)
{
    HoloIntegers    *s = p->s;
    HoloScaled       first, last, both = {0};
    const HoloValue *out = node->out_count == 1 ? node->out[0] : NULL;
    if (!out || !holo_integers_made(node, &last) || s->rewrite.is_output[out->id] || !p->reads[out->id] ||
        p->reads[out->id] != s->uses[out->id])
        return;
    const HoloValue *number = before_nothing(s, node->in[0]);
    HoloNode        *made =
        number->producer && holo_integers_is_private(s, number) ? quantize_of(number->producer, &first) : NULL;
    if (!made || !holo_integers_is_private(s, first.q) || first.dtype != last.dtype ||
        !scale_join(&first, &last, &both))
        return;
    both.q = first.q;
    scale_set(s, made, &both);
    s->uses[both.q->id] = p->reads[both.q->id] = s->uses[out->id];
    p->joined[out->id]                         = both;
    s->rewrite.changes++;
}

HoloStatus holo_integers_pairs(HoloIntegers *s)
{
    HoloGraph *graph = s->rewrite.graph;
    HoloScaled x;
    Pairs      p = {.s      = s,
                    .reads  = HOLO_NEW(s->rewrite.scratch, int, graph->value_count + 1),
                    .joined = HOLO_NEW(s->rewrite.scratch, HoloScaled, graph->value_count + 1)};
    if (!p.reads || !p.joined) return holo_fail_memory(s->error);
    for (int i = 0; i < graph->node_count; i++)
        if (quantize_of(graph->nodes[i], &x)) p.reads[x.q->id]++;
    for (int i = 0; i < graph->node_count && !s->failed; i++) {
        HoloNode *node = graph->nodes[i];
        if (holo_rewrite_more(&s->rewrite)) quantize_join(&p, node);
        if (!quantize_of(node, &x) || !p.joined[x.q->id].q) continue;
        const HoloScaled *both = &p.joined[x.q->id];
        node->in[0]            = both->q;
        scale_set(s, node, both);
    }
    return s->failed ? holo_fail_memory(s->error) : HOLO_OK;
}

HoloStatus holo_integers_turn(HoloIntegers *s)
{
    HoloGraph *graph = s->rewrite.graph;
    for (int i = 0; i < graph->node_count && holo_rewrite_more(&s->rewrite) && !s->failed; i++) {
        HoloNode  *node = graph->nodes[i];
        HoloScaled x;
        HoloNode  *made = quantize_of(node, &x);
        if (!made || x.dtype != HOLO_I8 || !holo_integers_is_private(s, x.q) || s->uses[node->out[0]->id] != 1 ||
            made->in[0]->is_constant || holo_node_attr(made, "output_dtype"))
            continue;
        HoloValue *q = holo_graph_value(graph, x.q->name);
        if (!q) return holo_fail_memory(s->error);
        q->type       = x.q->type;
        q->type.dtype = HOLO_U8;
        x.dtype       = HOLO_U8;
        x.zero += 128;
        scale_set(s, made, &x);
        scale_set(s, node, &x);
        holo_node_set_out(made, 0, q);
        node->in[0] = q;
        s->rewrite.changes++;
    }
    return s->failed ? holo_fail_memory(s->error) : HOLO_OK;
}
