// integers_pairs.c - for the pass `integers`: numbers that are quantised twice in a row are quantised once.
//
// Of QuantizeLinear, DequantizeLinear, QuantizeLinear, DequantizeLinear the two in the middle go; the outer ones get the
// scale and zero point of what both pairs can tell. This is one rounding less, and as in ONNX Runtime, whose conditions
// these are: nobody else reads what lies between, and zero points are given.
#include "passes/integers.h"

#include <math.h>

// A QuantizeLinear and its DequantizeLinear, in that order.
typedef struct Pair {
    HoloNode  *quantise, *dequantise;
    HoloScaled scaled;
} Pair;

static bool pair_read(const HoloIntegers *s, const HoloValue *value, Pair *out)
{
    HoloScaled made;
    out->dequantise = value->producer;
    if (!holo_integers_is_private(s, value) || !holo_integers_read(value, &out->scaled)) return false;
    out->quantise = out->scaled.q->producer;
    return out->quantise && holo_integers_is_private(s, out->scaled.q) && holo_integers_made(out->quantise, &made) &&
           holo_integers_equal(&made, &out->scaled) && out->quantise->in_count > 2 && out->quantise->in[2] &&
           out->dequantise->in_count > 2 && out->dequantise->in[2];
}

// The value before nodes that give what they take: exporters write such Casts.
static const HoloValue *before_nothing(const HoloIntegers *s, const HoloValue *value)
{
    for (const HoloNode *node = value->producer; node && holo_integers_is_private(s, value); node = value->producer) {
        bool is_nothing = holo_node_is(node, "Identity") || holo_node_is(node, "Cast");
        if (!is_nothing || !node->in[0] || node->in[0]->type.dtype != value->type.dtype) break;
        value = node->in[0];
    }
    return value;
}

// The range that both have, in as many steps; false: there is none. In f32, for the bits are those of ONNX Runtime.
static bool scale_join(const HoloScaled *a, const HoloScaled *b, HoloScaled *out)
{
    float least = a->dtype == HOLO_U8 ? 0 : -128, most = least + 255;
    float low  = fmaxf((least - (float)a->zero) * (float)a->scale, (least - (float)b->zero) * (float)b->scale);
    float high = fminf((most - (float)a->zero) * (float)a->scale, (most - (float)b->zero) * (float)b->scale);
    float step = (high - low) / 255, zero = roundf(least - low / step);
    *out = (HoloScaled){.dtype = a->dtype, .scale = step, .zero = zero};
    return isnormal(step) && step > 0 && zero >= least && zero <= most;
}

static bool scale_set(HoloIntegers *s, HoloNode *node, const HoloScaled *q)
{
    node->in[1] = holo_integers_scale(s, q);
    node->in[2] = holo_integers_zero(s, q);
    return !s->failed;
}

bool holo_integers_pair(HoloIntegers *s, HoloNode *node)
{
    Pair       first, last;
    HoloScaled both;
    if (node->out_count != 1 || !node->out[0] || !pair_read(s, node->out[0], &last)) return false;
    if (!pair_read(s, before_nothing(s, last.quantise->in[0]), &first) || first.scaled.dtype != last.scaled.dtype)
        return false;
    if (!holo_integers_equal(&first.scaled, &last.scaled)) {
        if (!scale_join(&first.scaled, &last.scaled, &both)) return false;
        if (!scale_set(s, first.quantise, &both) || !scale_set(s, last.dequantise, &both)) return false;
    }
    last.dequantise->in[0] = first.scaled.q;
    return true;
}
