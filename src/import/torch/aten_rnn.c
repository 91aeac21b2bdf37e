// aten_rnn.c - recurrent layers and cells.
#include "import/torch/aten.h"

typedef struct Rnn {
    const char *op;         // of ONNX
    int         gates;      // parts of the weights
    int         order[4];   // ONNX's gate i is PyTorch's gate order[i]
    const char *activation; // of a plain RNN
} Rnn;

static const Rnn lstm_form = {"LSTM", 4, {0, 3, 1, 2}, NULL}, gru_form = {"GRU", 3, {1, 0, 2}, NULL},
                 tanh_form = {"RNN", 1, {0}, "Tanh"}, relu_form = {"RNN", 1, {0}, "Relu"};

// Rows in the order of ONNX's gates.
static HoloValue *reorder(HoloTorch *t, const Rnn *form, HoloValue *w)
{
    HoloValue *part[4], *turned[4];
    if (form->gates == 1) return w;
    holo_emit_many(t->e, "Split", HOLO_IN(w),
                   HOLO_ATTRS(holo_with_int("axis", 0), holo_with_int("num_outputs", form->gates)), part, form->gates);
    for (int i = 0; i < form->gates; i++) turned[i] = part[form->order[i]];
    return holo_torch_concat(t, turned, form->gates, 0);
}

typedef struct Layers {
    const Rnn    *form;
    const HoloTv *params; // list
    bool          has_bias;
    int           dirs, layers;
    HoloValue    *h, *c;   // [layers * dirs, batch, size]
    HoloValue    *lengths; // i32 [batch]: of a packed sequence; else NULL
    int           each;    // weights of a layer in a direction: 2, with biases 4, and one more for a projection
} Layers;

static HoloValue *param(HoloTorch *t, const Layers *l, int layer, int dir, int which)
{
    int at = (layer * l->dirs + dir) * l->each + which;
    if (at >= l->params->list->count)
        return holo_emit_fail(t->e, HOLO_BAD_MODEL, "weights of a recurrent layer are missing");
    return holo_torch_value(t, &l->params->list->item[at]);
}

static HoloValue *both_dirs(HoloTorch *t, const Layers *l, int layer, int which)
{
    HoloValue *part[2];
    for (int d = 0; d < l->dirs; d++)
        part[d] = holo_torch_unsqueeze(t, reorder(t, l->form, param(t, l, layer, d, which)), 0);
    return holo_torch_concat(t, part, l->dirs, 0);
}

static HoloValue *biases(HoloTorch *t, const Layers *l, int layer)
{
    if (!l->has_bias) return NULL;
    HoloValue *part[2] = {both_dirs(t, l, layer, 2), both_dirs(t, l, layer, 3)};
    return holo_torch_concat(t, part, 2, 1);
}

static HoloValue *initial(HoloTorch *t, const Layers *l, HoloValue *all, int layer)
{
    int64_t from = (int64_t)layer * l->dirs;
    return l->layers == 1 ? all : holo_emit_slice(t->e, all, 0, from, from + l->dirs, 1);
}

// x: [tokens, batch, size]. y[0] is the sequence, then the last states of all layers.
static void run_layer(HoloTorch *t, const Layers *l, int layer, HoloValue **x, HoloValue **last)
{
    HoloValue  *w = both_dirs(t, l, layer, 0), *r = both_dirs(t, l, layer, 1), *y[3] = {NULL};
    const char *way  = l->dirs == 2 ? "bidirectional" : "forward";
    int64_t     size = 0, perm[] = {0, 2, 1, 3}, join[] = {0, 0, -1};
    bool        is_lstm = l->form == &lstm_form;
    if (!holo_torch_size_known(r, 2, &size))
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a recurrent layer with weights that only a run knows");
    if (t->e->status) return;
    HoloAttr   attrs[5] = {holo_with_int("hidden_size", size), holo_with_text("direction", way)};
    HoloString names[2];
    if (l->form == &gru_form) attrs[2] = holo_with_int("linear_before_reset", 1);
    if (l->form->activation) {
        names[0] = names[1] = (HoloString){l->form->activation, 4};
        attrs[2] = (HoloAttr){.name = "activations", .kind = HOLO_ATTR_STRINGS, .count = l->dirs, .strings = names};
        HoloString *kept = HOLO_NEW(t->arena, HoloString, 2);
        if (!kept) return (void)holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
        kept[0] = kept[1] = names[0];
        attrs[2].strings  = kept;
    }
    HoloEmitIn in = HOLO_IN(*x, w, r, biases(t, l, layer), l->lengths, initial(t, l, l->h, layer),
                            is_lstm ? initial(t, l, l->c, layer) : NULL);
    if (!is_lstm) in.count--;
    holo_emit_many(t->e, l->form->op, in, attrs, y, is_lstm ? 3 : 2);
    last[0] = y[1];
    last[1] = y[2];
    // [tokens, dirs, batch, size] to [tokens, batch, dirs * size]
    *x = l->dirs == 1 ? holo_torch_squeeze(t, y[0], 1)
                      : holo_emit_reshape(t->e, holo_emit_transpose(t->e, y[0], perm, 4), join, 3);
}

// An LSTM whose output is projected to fewer numbers: ONNX has none, so it is written in other operators.
static void run_projected(HoloTorch *t, const Layers *l, int layer, HoloValue **x, HoloValue **last)
{
    HoloValue *y[2] = {NULL}, *h[2] = {NULL}, *c[2] = {NULL};
    for (int d = 0; d < l->dirs && !t->e->status; d++) {
        int        at      = layer * l->dirs + d;
        HoloValue *bias    = l->has_bias ? OP2("Add", param(t, l, layer, d, 2), param(t, l, layer, d, 3)) : NULL;
        HoloTv     args[8] = {holo_tv_tensor(t, *x),
                              holo_tv_tensor(t, holo_torch_gather(t, l->h, holo_emit_int(t->e, at), 0)),
                              holo_tv_tensor(t, holo_torch_gather(t, l->c, holo_emit_int(t->e, at), 0)),
                              holo_tv_tensor(t, param(t, l, layer, d, 0)),
                              holo_tv_tensor(t, param(t, l, layer, d, 1)),
                              {0},
                              holo_tv_tensor(t, param(t, l, layer, d, l->each - 1)),
                              holo_tv_bool(d == 1)};
        if (bias) args[5] = holo_tv_tensor(t, bias);
        HoloTv all = holo_torch_apply(t, "_projected_lstm", 8, args);
        if (t->e->status) return;
        y[d] = holo_torch_value(t, &all.list->item[0]);
        h[d] = holo_torch_unsqueeze(t, holo_torch_value(t, &all.list->item[1]), 0);
        c[d] = holo_torch_unsqueeze(t, holo_torch_value(t, &all.list->item[2]), 0);
    }
    *x      = holo_torch_concat(t, y, l->dirs, 2);
    last[0] = holo_torch_concat(t, h, l->dirs, 0);
    last[1] = holo_torch_concat(t, c, l->dirs, 0);
}

enum { LAYERS_MAX = 64 };

// Runs all layers over x: [tokens, batch, size]. all: the sequence, the last states.
static void run_layers(HoloTorch *t, const Layers *l, HoloValue *x, HoloValue **all)
{
    bool       is_lstm = l->form == &lstm_form;
    HoloValue *last[2][LAYERS_MAX];
    for (int i = 0; i < l->layers && !t->e->status; i++) {
        HoloValue *end[2] = {NULL};
        if (l->each % 2)
            run_projected(t, l, i, &x, end);
        else
            run_layer(t, l, i, &x, end);
        last[0][i] = end[0];
        last[1][i] = end[1];
    }
    if (t->e->status) return;
    all[0] = x;
    all[1] = holo_torch_concat(t, last[0], l->layers, 0);
    if (is_lstm) all[2] = holo_torch_concat(t, last[1], l->layers, 0);
}

// a: input hx params has_biases num_layers dropout train bidirectional, without the input's batch sizes.
static bool read_layers(HoloTorch *t, const HoloTv *a, const Rnn *form, Layers *out)
{
    bool is_lstm = form == &lstm_form;
    *out         = (Layers){.form     = form,
                            .params   = &a[2],
                            .has_bias = holo_torch_bool(t, &a[3], true),
                            .layers   = (int)holo_torch_int(t, &a[4], 1),
                            .dirs     = holo_torch_bool(t, &a[7], false) ? 2 : 1};
    out->each    = out->has_bias ? 4 : 2;
    if (t->e->status) return false;
    bool is_right = holo_tv_is_list(&a[2]) && out->layers >= 1 && out->layers <= LAYERS_MAX &&
                    (!is_lstm || (holo_tv_is_list(&a[1]) && a[1].list->count == 2));
    int count = is_right ? a[2].list->count : 0, cells = out->layers * out->dirs;
    if (is_right && is_lstm && count == cells * (out->each + 1)) out->each++;
    if (!is_right || count != cells * out->each)
        return holo_emit_fail(t->e, HOLO_UNSUPPORTED,
                              "a recurrent layer with %d weights for %d layers in %d directions", count, out->layers,
                              out->dirs);
    out->h = is_lstm ? holo_torch_value(t, &a[1].list->item[0]) : V(1);
    out->c = is_lstm ? holo_torch_value(t, &a[1].list->item[1]) : NULL;
    return !t->e->status;
}

// data batch_sizes hx ...: sequences of different lengths behind each other, the first tokens of all first.
static void packed(HoloTorch *t, const HoloTv *a, const Rnn *form, HoloTv *out)
{
    Layers     l;
    HoloValue *all[3] = {NULL};
    if (!read_layers(t, a + 1, form, &l)) return;
    if (l.each % 2)
        return (void)holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a packed sequence through an LSTM with a projection");
    HoloTv wide[5] = {a[0], a[1], holo_tv_bool(false), holo_tv_float(0), holo_tv_int(0)};
    HoloTv padded  = holo_torch_apply(t, "_pad_packed_sequence", 5, wide);
    if (t->e->status) return;
    l.lengths = holo_emit_cast(t->e, holo_torch_value(t, &padded.list->item[1]), HOLO_I32);
    run_layers(t, &l, holo_torch_value(t, &padded.list->item[0]), all);
    HoloTv narrow[3] = {holo_tv_tensor(t, all[0]), padded.list->item[1], holo_tv_bool(false)};
    HoloTv data      = holo_torch_apply(t, "_pack_padded_sequence", 3, narrow);
    if (t->e->status) return;
    all[0] = holo_torch_value(t, &data.list->item[0]);
    *out   = holo_torch_tuple(t, form == &lstm_form ? 3 : 2, all);
}

static void recurrent(HoloTorch *t, const HoloTv *a, const Rnn *form, HoloTv *out)
{
    Layers     l;
    bool       is_lstm = form == &lstm_form, is_first = holo_torch_bool(t, &a[8], false);
    HoloValue *x, *all[3]                             = {NULL};
    if (holo_tv_is_list(&a[3])) return packed(t, a, form, out);
    if (!read_layers(t, a, form, &l)) return;
    x              = V(0);
    bool is_single = holo_emit_rank(x) == 2; // without a batch
    if (is_single) {
        x   = holo_torch_unsqueeze(t, x, is_first ? 0 : 1);
        l.h = holo_torch_unsqueeze(t, l.h, 1);
        if (l.c) l.c = holo_torch_unsqueeze(t, l.c, 1);
    }
    run_layers(t, &l, is_first ? holo_torch_swap(t, x, 0, 1) : x, all);
    if (t->e->status) return;
    if (is_first) all[0] = holo_torch_swap(t, all[0], 0, 1);
    if (is_single) {
        all[0] = holo_torch_squeeze(t, all[0], is_first ? 0 : 1);
        for (int i = 1; i < 2 + is_lstm; i++) all[i] = holo_torch_squeeze(t, all[i], 1);
    }
    *out = holo_torch_tuple(t, 2 + is_lstm, all);
}

ANY(lstm)
{
    recurrent(t, a, &lstm_form, out);
}

ANY(gru)
{
    recurrent(t, a, &gru_form, out);
}

ANY(rnn_tanh)
{
    recurrent(t, a, &tanh_form, out);
}

ANY(rnn_relu)
{
    recurrent(t, a, &relu_form, out);
}

// ---- cells: one token

static void gates_of(HoloTorch *t, HoloValue *x, HoloValue *w, HoloValue *b, int count, HoloValue **out)
{
    HoloValue *all  = holo_torch_linear(t, x, w, b);
    int        axis = holo_torch_rank(t, all) - 1;
    holo_emit_many(t->e, "Split", HOLO_IN(all),
                   HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("num_outputs", count)), out, count);
}

ANY(lstm_cell)
{
    HoloValue *p[4], *q[4], *g[4], *y[2];
    if (!holo_tv_is_list(&a[1]) || a[1].list->count != 2) {
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "an LSTM cell without its states");
        return;
    }
    HoloValue *h = holo_torch_value(t, &a[1].list->item[0]), *c = holo_torch_value(t, &a[1].list->item[1]);
    gates_of(t, V(0), V(2), V(4), 4, p);
    gates_of(t, h, V(3), V(5), 4, q);
    for (int i = 0; i < 4; i++) g[i] = OP1(i == 2 ? "Tanh" : "Sigmoid", OP2("Add", p[i], q[i]));
    y[1] = OP2("Add", OP2("Mul", g[1], c), OP2("Mul", g[0], g[2]));
    y[0] = OP2("Mul", g[3], OP1("Tanh", y[1]));
    *out = holo_torch_tuple(t, 2, y);
}

ONE(gru_cell)
{
    HoloValue *p[3], *q[3], *h = V(1);
    gates_of(t, V(0), V(2), V(4), 3, p);
    gates_of(t, h, V(3), V(5), 3, q);
    HoloValue *r = OP1("Sigmoid", OP2("Add", p[0], q[0])), *z = OP1("Sigmoid", OP2("Add", p[1], q[1]));
    HoloValue *n = OP1("Tanh", OP2("Add", p[2], OP2("Mul", r, q[2])));
    return OP2("Add", n, OP2("Mul", z, OP2("Sub", h, n)));
}

static HoloValue *plain_cell(HoloTorch *t, const HoloTv *a, const char *op)
{
    return OP1(op, OP2("Add", holo_torch_linear(t, V(0), V(2), V(4)), holo_torch_linear(t, V(1), V(3), V(5))));
}

ONE(rnn_tanh_cell)
{
    return plain_cell(t, a, "Tanh");
}

ONE(rnn_relu_cell)
{
    return plain_cell(t, a, "Relu");
}

#define LAYERS "input hx params has_biases num_layers dropout train bidirectional batch_first"
#define CELL   "input hx w_ih w_hh b_ih b_hh"
const HoloTorchOp holo_torch_rnns[] = {
    MANY("lstm", LAYERS, lstm),
    MANY("gru", LAYERS, gru),
    MANY("rnn_tanh", LAYERS, rnn_tanh),
    MANY("rnn_relu", LAYERS, rnn_relu),
    MANY("lstm_cell", CELL, lstm_cell),
    ROW("gru_cell", CELL, gru_cell),
    ROW("rnn_tanh_cell", CELL, rnn_tanh_cell),
    ROW("rnn_relu_cell", CELL, rnn_relu_cell),
    {0},
};
