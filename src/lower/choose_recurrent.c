// choose_recurrent.c - the choice of kernels for LSTM, GRU and RNN, and how their weights are packed.
#include "kernels/kernels.h"
#include "lower/choose.h"

#include <string.h>
#include <strings.h>

static int gates_of(const char *op)
{
    return !strcmp(op, "LSTM") ? 4 : !strcmp(op, "GRU") ? 3 : 1;
}

// Are the activations, where they are named, those that are meant where they are not?
static bool has_usual_activations(const HoloCall *call, int gates)
{
    static const char *const lstm[] = {"Sigmoid", "Tanh", "Tanh"}, *const gru[] = {"Sigmoid", "Tanh"},
                             *const rnn[] = {"Tanh"};
    const char *const              *usual = gates == 4 ? lstm : gates == 3 ? gru : rnn;
    int                             count = gates == 4 ? 3 : gates == 3 ? 2 : 1;
    const HoloAttr                 *attr  = holo_attr_find(call, "activations");
    if (!attr) return true;
    if (attr->kind != HOLO_ATTR_STRINGS) return false;
    for (int i = 0; i < attr->count; i++) {
        const char *want = usual[i % count];
        HoloString  have = attr->strings[i];
        if (have.size != strlen(want) || strncasecmp(have.data, want, have.size)) return false;
    }
    return true;
}

// A constant that padding does not blow up, and of which a group of units is a part of an archive.
static bool can_pack(const HoloValue *v, int gates)
{
    const HoloTensor *t = &v->type;
    if (!v->is_constant || !t->data || t->rank != 3 || holo_tensor_count(t) <= 0) return false;
    int64_t size = holo_gates_size(gates, t->dim[0], t->dim[1], t->dim[2]);
    return size >= 0 && (uint64_t)size / 2 <= holo_tensor_bytes(t) &&
           t->dim[2] <= HOLO_PACK_PART / (gates * HOLO_PANEL * (int64_t)sizeof(float));
}

static bool fits(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *x = holo_node_in(node, 0), *w = holo_node_in(node, 1), *r = holo_node_in(node, 2);
    int              gates = gates_of(node->type);
    for (int i = 0; i < 7; i++) {
        const HoloValue *v = holo_node_in(node, i);
        if (i == 4 ? v && !holo_value_is(v, HOLO_I32, 1, 1) : (v || i < 3) && !holo_value_is_f32(v, 2, 3)) return false;
    }
    if (holo_node_in(node, 7) || holo_attr_int(&call, "layout", 0) || holo_attr_int(&call, "input_forget", 0))
        return false;
    if (!has_usual_activations(&call, gates) || holo_attr_float(&call, "clip", 0) != 0) return false;
    if (w->type.rank != 3 || r->type.rank != 3 || x->type.rank != 3 || x->type.dim[0] == 0) return false;
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
    return (strcmp(node->type, "GRU") || holo_attr_int(&call, "linear_before_reset", 0)) && fits(node, out);
}

bool holo_lower_gru_reset(const HoloNode *node, HoloLowering *out)
{
    HoloCall call = holo_node_call(node);
    return !holo_attr_int(&call, "linear_before_reset", 0) && fits(node, out);
}

// ---- packing: parts are groups of 16 units

// How many gates a kernel has, and how many of R are mixed.
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
