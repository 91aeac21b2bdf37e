// choose_recurrent.c - chooses kernels for LSTM, GRU and RNN, and packs their weights.
#include "kernels/kernels.h"
#include "lower/cpu/choose.h"
#include "lower/usual.h"

static int gates_of(const HoloNode *node)
{
    return HOLO_IS(node, LSTM) ? 4 : HOLO_IS(node, GRU) ? 3 : 1;
}

// Is it a constant that padding does not enlarge much, and does a group of units fit into a part of an archive?
static bool can_pack(const HoloValue *v, int gates)
{
    const HoloTensor *t = &v->type;
    if (!v->is_constant || !t->data || t->rank != 3 || holo_tensor_count(t) <= 0) return false;
    int64_t size = holo_gates_size(gates, t->dim[0], t->dim[1], t->dim[2]);
    return size >= 0 && (uint64_t)size / 2 <= holo_tensor_bytes(t) &&
           t->dim[2] <= HOLO_PACK_PART / (gates * HOLO_PANEL * (int64_t)sizeof(float));
}

// Checks everything but the weights.
static bool is_usual(const HoloNode *node, int gates)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *x    = holo_node_in(node, 0);
    for (int i = 0; i < 7; i++) {
        const HoloValue *v = holo_node_in(node, i);
        if (i == 1 || i == 2) continue;
        if (i == 4 ? v && !holo_value_is(v, HOLO_I32, 1, 1) : (v || !i) && !holo_value_is_f32(v, 2, 3)) return false;
    }
    if (holo_node_in(node, 7) || holo_attr_int(&call, "layout", 0) || holo_attr_int(&call, "input_forget", 0))
        return false;
    if (!holo_has_usual_activations(&call, gates) || holo_attr_float(&call, "clip", 0) != 0) return false;
    return x->type.rank == 3 && x->type.dim[0] != 0;
}

static bool fits(const HoloNode *node, HoloLowering *out)
{
    const HoloValue *w = holo_node_in(node, 1), *r = holo_node_in(node, 2);
    int              gates = gates_of(node);
    if (!is_usual(node, gates) || !holo_value_is_f32(w, 3, 3) || !holo_value_is_f32(r, 3, 3)) return false;
    HoloDim hidden = r->type.dim[2];
    if (holo_dim_is_symbolic(hidden) || hidden < 1 || r->type.dim[1] != gates * hidden) return false;
    out->params_size = sizeof out->recurrent;
    if (can_pack(r, gates)) {
        out->recurrent.flags |= HOLO_RECURRENT_PACKED_R;
        out->pack_input = 2;
    }
    if (out->pack_input == 2 && can_pack(w, gates)) {
        out->recurrent.flags |= HOLO_RECURRENT_PACKED_W;
        out->pack_also = 1 << 1;
    }
    return true;
}

bool holo_lower_recurrent(const HoloNode *node, HoloLowering *out)
{
    HoloCall call = holo_node_call(node);
    return (!HOLO_IS(node, GRU) || holo_attr_int(&call, "linear_before_reset", 0)) && fits(node, out);
}

bool holo_lower_gru_reset(const HoloNode *node, HoloLowering *out)
{
    HoloCall call = holo_node_call(node);
    return !holo_attr_int(&call, "linear_before_reset", 0) && fits(node, out);
}

// ---- packing: parts are groups of 16 units

// How many gates a kernel has, and how many gates of R are interleaved.
typedef struct Gates {
    int count, mixed;
} Gates;

static Gates gates_in(const HoloLowering *lowering)
{
    static const Gates lstm = {4, 4}, gru = {3, 3}, gru_reset = {3, 2}, rnn = {1, 1};
    return lowering->kernel == HOLO_KERNEL_lstm_f32        ? lstm
           : lowering->kernel == HOLO_KERNEL_gru_f32       ? gru
           : lowering->kernel == HOLO_KERNEL_gru_reset_f32 ? gru_reset
                                                           : rnn;
}

static int64_t groups_of(const HoloTensor *w, int gates)
{
    int64_t hidden = w->dim[1] / gates;
    return hidden / HOLO_PANEL + (hidden % HOLO_PANEL != 0);
}

HoloPacking holo_lower_packing_gates(const HoloLowering *lowering, const HoloTensor *w)
{
    int gates = gates_in(lowering).count;
    return (HoloPacking){
        .bytes      = (uint64_t)holo_gates_size(gates, w->dim[0], w->dim[1], w->dim[2]),
        .part_count = w->dim[0] * groups_of(w, gates),
    };
}

size_t holo_lower_pack_gates(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    int64_t   gates = gates_in(lowering).count, groups = groups_of(w, (int)gates), direction = part / groups;
    HoloGates g = {
        .w      = (const float *)w->data + direction * w->dim[1] * w->dim[2],
        .gates  = (int)gates,
        .mixed  = lowering->pack_input == 2 ? gates_in(lowering).mixed : 1,
        .hidden = w->dim[1] / gates,
        .k      = w->dim[2],
    };
    holo_kernels(0)->pack_gates_f32(&g, part % groups, out);
    return (size_t)(gates * HOLO_PANEL * g.k) * sizeof(float);
}

// ---- lstm_i8: weights are [directions][k][sums]

enum { GATES = 4 };

static bool is_quantized(const HoloNode *node, int weights, int scale)
{
    const HoloValue *w = holo_node_in(node, weights), *s = holo_node_in(node, scale),
                    *z = holo_node_in(node, scale + 1);
    if (!w || !s || !z || (!holo_value_is(w, HOLO_I8, 3, 3) && !holo_value_is(w, HOLO_U8, 3, 3))) return false;
    HoloDim k = w->type.dim[1];
    return !holo_dim_is_symbolic(k) && k <= HOLO_LSTM_I8_K && holo_value_is_f32(s, 1, 2) &&
           holo_value_is(z, (HoloDtype)w->type.dtype, 1, 2);
}

static bool can_pack_i8(const HoloValue *v)
{
    const HoloTensor *t = &v->type;
    if (!v->is_constant || !t->data || holo_tensor_count(t) <= 0) return false;
    int64_t size = holo_gates_i8_size(t->dim[0], t->dim[2], t->dim[1]);
    return size >= 0 && (uint64_t)size / 4 <= holo_tensor_bytes(t) &&
           GATES * HOLO_I8_PANEL(t->dim[1]) <= HOLO_PACK_PART;
}

// The states of a whole batch are rounded together. Backwards, sequences of different lengths would begin at different
// times.
bool holo_lower_lstm_i8(const HoloNode *node, HoloLowering *out)
{
    HoloCall call = holo_node_call(node);
    if (!is_usual(node, GATES) || !is_quantized(node, 1, 8) || !is_quantized(node, 2, 10)) return false;
    const HoloValue *x = holo_node_in(node, 0), *w = holo_node_in(node, 1), *r = holo_node_in(node, 2);
    if (holo_node_in(node, 4) && x->type.dim[1] != 1 && !holo_attr_is(&call, "direction", "forward", "forward"))
        return false;
    if (r->type.dim[1] < 1 || r->type.dim[2] != GATES * r->type.dim[1]) return false;
    out->params_size = sizeof out->recurrent;
    if (!can_pack_i8(w) || !can_pack_i8(r)) return true;
    out->recurrent.flags |= HOLO_RECURRENT_PACKED_R | HOLO_RECURRENT_PACKED_W;
    out->pack_input = 2;
    out->pack_also  = 1 << 1;
    return true;
}

HoloPacking holo_lower_packing_gates_i8(const HoloLowering *lowering, const HoloTensor *w)
{
    (void)lowering;
    return (HoloPacking){
        .bytes      = (uint64_t)holo_gates_i8_size(w->dim[0], w->dim[2], w->dim[1]),
        .part_count = w->dim[0] * ((w->dim[2] / GATES + HOLO_PANEL - 1) / HOLO_PANEL),
    };
}

size_t holo_lower_pack_gates_i8(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    (void)lowering;
    int64_t        k = w->dim[1], sums = w->dim[2], hidden = sums / GATES, panel = HOLO_I8_PANEL(k);
    int64_t        groups = (hidden + HOLO_PANEL - 1) / HOLO_PANEL, unit = part % groups * HOLO_PANEL;
    int64_t        columns = hidden - unit < HOLO_PANEL ? hidden - unit : HOLO_PANEL;
    const uint8_t *from    = (const uint8_t *)w->data + part / groups * k * sums + unit;
    for (int gate = 0; gate < GATES; gate++)
        holo_kernels(0)->pack_i8(k, columns, from + gate * hidden, sums, 1, w->dtype == HOLO_I8,
                                 (uint8_t *)out + gate * panel);
    return (size_t)(GATES * panel);
}
