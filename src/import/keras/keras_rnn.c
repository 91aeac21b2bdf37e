// keras_rnn.c - Keras layers that go through time: LSTM, GRU, SimpleRNN, and what wraps layers.
#include "import/keras/keras.h"

#include <stdio.h>

// The rows leave out fields that do not apply.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static void give(HoloKerasCall *c, int i, HoloValue *value)
{
    c->out[i]    = value;
    c->out_count = i + 1;
}

typedef struct Kind { // of a recurrent layer
    const char *onnx;
    int         gates;
    int         order[4]; // of ONNX's gates among those of Keras
} Kind;

static const Kind kinds[] = {
    {"RNN", 1, {0}}, {"GRU", 3, {0, 1, 2}}, {"LSTM", 4, {0, 3, 1, 2}}, // i o f c among i f c o
};

static const char *activation_name(HoloKerasCall *c, const char *key, const char *fallback)
{
    static const struct {
        const char *keras, *onnx;
    } names[] = {{"tanh", "Tanh"},         {"sigmoid", "Sigmoid"},   {"relu", "Relu"}, {"hard_sigmoid", "HardSigmoid"},
                 {"softsign", "Softsign"}, {"softplus", "Softplus"}, {"elu", "Elu"},   {"hardSigmoid", "HardSigmoid"},
                 {"linear", "Affine"}};
    const char *name = holo_keras_text(c, key, fallback);
    for (int i = 0; i < HOLO_COUNT(names); i++)
        if (!strcmp(names[i].keras, name)) return names[i].onnx;
    return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "the activation '%.60s' of a recurrent layer is not supported", name);
}

// The gates of a weight, [..., gates * units], in ONNX's order and turned: [1, gates * units, ...].
static HoloValue *turn_gates(HoloKerasCall *c, const Kind *kind, HoloValue *weight)
{
    static const int64_t perm[2] = {1, 0}, zero = 0;
    HoloEmit            *e = c->e;
    HoloValue           *part[4], *sorted[4];
    if (holo_emit_rank(weight) == 2) weight = holo_emit_transpose(e, weight, perm, 2);
    if (kind->gates > 1) {
        holo_emit_many(e, "Split", HOLO_IN(weight),
                       HOLO_ATTRS(holo_with_int("axis", 0), holo_with_int("num_outputs", kind->gates)), part,
                       kind->gates);
        for (int i = 0; i < kind->gates; i++) sorted[i] = part[kind->order[i]];
        weight = holo_emit(e, "Concat", (HoloEmitIn){kind->gates, sorted}, HOLO_ATTRS(holo_with_int("axis", 0)));
    }
    return holo_emit_unsqueeze(e, weight, &zero, 1);
}

// The bias of the inputs and that of the states, one behind the other.
static HoloValue *both_biases(HoloKerasCall *c, const Kind *kind)
{
    static const int64_t flat = -1;
    HoloEmit            *e    = c->e;
    if (!holo_keras_bool(c, "use_bias", true)) return NULL;
    HoloValue *bias = holo_keras_weight(c, "bias"), *half[2];
    int64_t    all  = kind->gates * holo_keras_int(c, "units", 1);
    if (holo_emit_rank(bias) == 2) bias = holo_emit_reshape(e, bias, &flat, 1);
    if (!e->status && bias->type.dim[0] == 2 * all) { // GRU with reset_after has two, and so have layers of cuDNN
        for (int i = 0; i < 2; i++)
            half[i] = turn_gates(c, kind, holo_emit_slice(e, bias, 0, i * all, i * all + all, 1));
    } else {
        half[0] = turn_gates(c, kind, bias);
        half[1] = holo_emit(e, "Mul", HOLO_IN(half[0], holo_emit_number(e, HOLO_F32, 0)), NULL);
    }
    return holo_emit(e, "Concat", HOLO_IN(half[0], half[1]), HOLO_ATTRS(holo_with_int("axis", 1)));
}

typedef struct Rnn { // a recurrent layer's weights, as ONNX has them
    const Kind *kind;
    HoloValue  *w, *r, *b, *h, *c; // b, h and c may be NULL
    HoloString  names[3];
    int         name_count;
    int64_t     units, before;
} Rnn;

static Rnn rnn_read(HoloKerasCall *c, const Kind *kind)
{
    static const int64_t zero = 0;
    HoloEmit            *e    = c->e;
    Rnn                  n    = {.kind = kind, .units = holo_keras_int(c, "units", 1)};
    n.w                       = turn_gates(c, kind, holo_keras_weight(c, "kernel"));
    n.r                       = turn_gates(c, kind, holo_keras_weight(c, "recurrent_kernel"));
    n.b                       = both_biases(c, kind);
    const char *inner         = activation_name(c, "activation", "tanh");
    const char *gate          = kind->gates > 1 ? activation_name(c, "recurrent_activation", "sigmoid") : inner;
    n.before = kind->gates == 3 && holo_keras_bool(c, "reset_after", !strncmp(c->layer->name, "CuDNN", 5));
    if (e->status) return n;
    if (c->in_count > 1) n.h = holo_emit_unsqueeze(e, holo_keras_in(c, 1), &zero, 1);
    if (c->in_count > 2 && kind->gates == 4) n.c = holo_emit_unsqueeze(e, holo_keras_in(c, 2), &zero, 1);
    n.name_count = kind->gates == 4 ? 3 : kind->gates == 3 ? 2 : 1;
    for (int i = 0; i < n.name_count; i++) {
        const char *name = i || kind->gates == 1 ? inner : gate;
        n.names[i]       = (HoloString){name, strlen(name)};
    }
    return n;
}

// One pass over time, which is the first dimension of x. `out` gets all outputs, then the last states.
static void rnn_run(const Rnn *n, HoloEmit *e, HoloValue *x, HoloValue *h, HoloValue *c, HoloValue **out)
{
    HoloValue *all[]    = {x, n->w, n->r, n->b, NULL, h, c};
    HoloAttr   attrs[4] = {
          holo_with_int("hidden_size", n->units), holo_with_texts("activations", n->names, n->name_count), {0}};
    if (n->kind->gates == 3) attrs[2] = holo_with_int("linear_before_reset", n->before);
    holo_emit_many(e, n->kind->onnx,
                   (HoloEmitIn){c      ? 7
                                : h    ? 6
                                : n->b ? 4
                                       : 3,
                                all},
                   attrs, out, n->kind->gates == 4 ? 3 : 2);
}

// The state that a pass begins with, [1, batch, units]: zeros, if none is given.
static HoloValue *state_or_zeros(HoloEmit *e, const Rnn *n, const HoloValue *x, HoloValue *given)
{
    HoloDim sizes[3] = {1, x ? x->type.dim[1] : 1, n->units};
    return given
               ? given
               : holo_emit(e, "Expand", HOLO_IN(holo_emit_number(e, HOLO_F32, 0), holo_emit_sizes(e, sizes, 3)), NULL);
}

// The same with a mask, [time, batch]: a step that does not count leaves the states as they are.
static void rnn_masked(const Rnn *n, HoloEmit *e, HoloValue *x, HoloValue *mask, HoloValue **out)
{
    static const int64_t zero = 0, ends[2] = {0, 2};
    HoloEmit             body;
    int                  states = n->kind->gates == 4 ? 2 : 1;
    HoloValue *start[4] = {state_or_zeros(e, n, x, n->h), NULL}, *inner[4], *next[3] = {NULL}, *all[3] = {NULL};
    if (states == 2) start[1] = state_or_zeros(e, n, x, n->c);
    start[states]     = x;
    start[states + 1] = mask;
    if (e->status) return;
    holo_emit_begin_body(&body, e, e->node);
    for (int i = 0; i < states + 2; i++) {
        HoloTensor t = start[i]->type;
        t.data       = NULL;
        if (i >= states) {
            t.rank--;
            memmove(t.dim, t.dim + 1, sizeof t.dim[0] * (size_t)t.rank);
        }
        inner[i] = holo_emit_input(&body, i < states ? (i ? "c" : "h") : i == states ? "x" : "mask", &t);
    }
    HoloValue *counts = holo_emit_unsqueeze(&body, inner[states + 1], ends, 2);
    rnn_run(n, &body, holo_emit_unsqueeze(&body, inner[states], &zero, 1), inner[0], states == 2 ? inner[1] : NULL,
            next);
    for (int i = 0; i < states; i++) {
        next[i + 1] = holo_emit(&body, "Where", HOLO_IN(counts, next[i + 1], inner[i]), NULL);
        holo_emit_output(&body, next[i + 1], NULL);
    }
    holo_emit_output(&body, next[1], NULL);
    HoloEmitBody list[] = {{"body", &body}, {NULL, NULL}};
    holo_emit_control(e, "Scan", (HoloEmitIn){states + 2, start}, HOLO_ATTRS(holo_with_int("num_scan_inputs", 2)), list,
                      all, states + 1);
    holo_emit_end(&body);
    out[0] = all[states];
    out[1] = all[0];
    out[2] = states == 2 ? all[1] : NULL;
}

void holo_keras_recurrent(HoloKerasCall *c)
{
    static const int64_t swap[3] = {1, 0, 2}, direction = 1, zero = 0;
    HoloEmit            *e    = c->e;
    const Kind          *kind = &kinds[c->layer->number];
    HoloValue           *x = holo_keras_in(c, 0), *out[3] = {0};
    bool                 is_major = holo_keras_bool(c, "time_major", false);
    if (holo_emit_rank(x) != 3) {
        holo_emit_fail(e, HOLO_BAD_MODEL, "the input should have 3 dimensions");
        return;
    }
    bool back = holo_keras_bool(c, "go_backwards", false), sequences = holo_keras_bool(c, "return_sequences", false);
    HoloValue *mask = c->mask ? holo_emit_transpose(e, c->mask, swap, 2) : NULL;
    if (!is_major) x = holo_emit_transpose(e, x, swap, 3);
    if (back) x = holo_emit_slice(e, x, 0, -1, INT64_MIN, -1);
    if (back && mask) mask = holo_emit_slice(e, mask, 0, -1, INT64_MIN, -1);
    Rnn n = rnn_read(c, kind);
    if (mask)
        rnn_masked(&n, e, x, mask, out);
    else
        rnn_run(&n, e, x, n.h, n.c, out);
    c->out_mask     = sequences ? c->mask : NULL;
    HoloValue *last = holo_emit_squeeze(e, out[1], &zero, 1);
    if (sequences) {
        HoloValue *y = holo_emit_squeeze(e, out[0], &direction, 1);
        give(c, 0, is_major ? y : holo_emit_transpose(e, y, swap, 3));
    } else {
        give(c, 0, last);
    }
    if (!holo_keras_bool(c, "return_state", false)) return;
    give(c, 1, last);
    if (kind->gates == 4) give(c, 2, holo_emit_squeeze(e, out[2], &zero, 1));
}

// ---- layers around layers

// Applies a layer with a configuration and a name of its own to one input. `keeps`: it sees the mask, too.
static HoloValue *apply_inner(HoloKerasCall *c, const json_t *layer, const json_t *config, const char *name,
                              const char *group, HoloValue *x, bool keeps)
{
    const char    *class_name = json_string_value(json_object_get(layer, "class_name"));
    HoloKerasPlace place      = {c->place, name, group};
    HoloKerasCall  inner      = {.k        = c->k,
                                 .e        = c->e,
                                 .place    = &place,
                                 .config   = config,
                                 .in       = &x,
                                 .in_count = 1,
                                 .mask     = keeps ? c->mask : NULL};
    if (!class_name) return holo_emit_fail(c->e, HOLO_BAD_MODEL, "the layer inside has no class");
    if (holo_keras_is_model(class_name))
        holo_keras_apply_model(&inner, layer);
    else
        holo_keras_apply(&inner, class_name);
    return inner.out_count ? inner.out[0] : NULL;
}

static const char *inner_name(const json_t *layer)
{
    const char *name = json_string_value(json_object_get(json_object_get(layer, "config"), "name"));
    return name ? name : "";
}

// The layer sees all steps of time as a batch.
static void time_distributed(HoloKerasCall *c)
{
    HoloEmit     *e     = c->e;
    const json_t *layer = json_object_get(c->config, "layer");
    HoloValue    *x     = holo_keras_in(c, 0);
    int           rank  = holo_emit_rank(x);
    HoloDim       sizes[HOLO_MAX_RANK + 1];
    if (e->status || rank < 3) {
        holo_emit_fail(e, HOLO_BAD_MODEL, "the input should have 3 dimensions or more");
        return;
    }
    HoloDim batch = x->type.dim[0], steps = x->type.dim[1];
    sizes[0] = holo_dim_mul(e->graph->dims, batch, steps);
    for (int i = 2; i < rank; i++) sizes[i - 1] = x->type.dim[i];
    HoloValue *y     = apply_inner(c, layer, json_object_get(layer, "config"), inner_name(layer), "layer",
                                   holo_emit_reshape(e, x, sizes, rank - 1), false);
    int        after = holo_emit_rank(y);
    if (e->status || after < 1 || after >= HOLO_MAX_RANK) return;
    sizes[0] = batch;
    sizes[1] = steps;
    for (int i = 1; i < after; i++) sizes[i + 1] = y->type.dim[i];
    give(c, 0, holo_emit_reshape(e, y, sizes, after + 1));
}

static void bidirectional(HoloKerasCall *c)
{
    HoloEmit     *e     = c->e;
    const json_t *layer = json_object_get(c->config, "layer"), *back = json_object_get(c->config, "backward_layer");
    const json_t *config = json_object_get(layer, "config");
    bool          apart  = json_is_null(json_object_get(c->config, "merge_mode")); // each of both is a result
    const char   *how    = holo_keras_text(c, "merge_mode", "concat");
    HoloValue    *x      = holo_keras_in(c, 0), *side[2];
    char          name[2][160];
    snprintf(name[0], sizeof name[0], "forward_%.120s", inner_name(layer));
    snprintf(name[1], sizeof name[1], "backward_%.120s", inner_name(layer));
    json_t *turned = json_is_object(back) ? json_copy(json_object_get(back, "config")) : json_copy((json_t *)config);
    if (turned)
        json_object_set_new(turned, "go_backwards",
                            json_boolean(!json_is_true(json_object_get(config, "go_backwards"))));
    side[0] = apply_inner(c, layer, config, name[0], "forward_layer", x, true);
    side[1] = apply_inner(c, json_is_object(back) ? back : layer, turned, name[1], "backward_layer", x, true);
    json_decref(turned);
    bool sequences = json_is_true(json_object_get(config, "return_sequences"));
    c->out_mask    = sequences ? c->mask : NULL;
    if (sequences) side[1] = holo_emit_slice(e, side[1], 1, -1, INT64_MIN, -1);
    if (apart)
        give(c, 0, side[0]), give(c, 1, side[1]);
    else if (!strcmp(how, "concat"))
        give(c, 0, holo_emit(e, "Concat", (HoloEmitIn){2, side}, HOLO_ATTRS(holo_with_int("axis", -1))));
    else if (!strcmp(how, "sum") || !strcmp(how, "ave") || !strcmp(how, "mul"))
        give(c, 0, holo_emit(e, strcmp(how, "mul") ? "Add" : "Mul", HOLO_IN(side[0], side[1]), NULL));
    else
        holo_emit_fail(e, HOLO_UNSUPPORTED, "merge_mode '%.40s' is not supported", how);
    if (!strcmp(how, "ave"))
        give(c, 0, holo_emit(e, "Div", HOLO_IN(c->out[0], holo_emit_number(e, HOLO_F32, 2)), NULL));
}

// clang-format off
const HoloKerasLayer holo_keras_layers_rnn[] = {
    {"SimpleRNN", holo_keras_recurrent, NULL, 0}, {"GRU", holo_keras_recurrent, NULL, 1},
    {"LSTM", holo_keras_recurrent, NULL, 2},
    {"CuDNNLSTM", holo_keras_recurrent, NULL, 2}, {"CuDNNGRU", holo_keras_recurrent, NULL, 1}, {"TimeDistributed", time_distributed, .keeps_mask = true}, {"Bidirectional", bidirectional},
    {0},
};
