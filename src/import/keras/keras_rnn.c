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
                 {"softsign", "Softsign"}, {"softplus", "Softplus"}, {"elu", "Elu"},   {"hardSigmoid", "HardSigmoid"}};
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
    if (holo_emit_rank(bias) == 2) { // GRU with reset_after has two
        for (int i = 0; i < 2; i++)
            half[i] = turn_gates(c, kind, holo_emit_reshape(e, holo_emit_slice(e, bias, 0, i, i + 1, 1), &flat, 1));
    } else {
        half[0] = turn_gates(c, kind, bias);
        half[1] = holo_emit(e, "Mul", HOLO_IN(half[0], holo_emit_number(e, HOLO_F32, 0)), NULL);
    }
    return holo_emit(e, "Concat", HOLO_IN(half[0], half[1]), HOLO_ATTRS(holo_with_int("axis", 1)));
}

// One pass over time, which is the first dimension of x. `out` gets all outputs, then the last states.
static void run_rnn(HoloKerasCall *c, const Kind *kind, HoloValue *x, HoloValue **out)
{
    static const int64_t zero = 0;
    HoloEmit            *e    = c->e;
    HoloValue           *w    = turn_gates(c, kind, holo_keras_weight(c, "kernel")),
              *r              = turn_gates(c, kind, holo_keras_weight(c, "recurrent_kernel"));
    HoloValue  *b = both_biases(c, kind), *h = NULL, *cell = NULL;
    const char *inner = activation_name(c, "activation", "tanh");
    const char *gate  = kind->gates > 1 ? activation_name(c, "recurrent_activation", "sigmoid") : inner;
    if (e->status) return;
    if (c->in_count > 1) h = holo_emit_unsqueeze(e, holo_keras_in(c, 1), &zero, 1);
    if (c->in_count > 2 && kind->gates == 4) cell = holo_emit_unsqueeze(e, holo_keras_in(c, 2), &zero, 1);
    HoloString      names[3] = {{gate, strlen(gate)}, {inner, strlen(inner)}, {inner, strlen(inner)}};
    HoloString      plain    = {inner, strlen(inner)};
    int             count    = kind->gates == 4 ? 3 : kind->gates == 3 ? 2 : 1;
    int64_t         before   = kind->gates == 3 && holo_keras_bool(c, "reset_after", false);
    const HoloAttr *attrs =
        kind->gates == 3
            ? HOLO_ATTRS(holo_with_int("hidden_size", holo_keras_int(c, "units", 1)),
                         holo_with_texts("activations", names, count), holo_with_int("linear_before_reset", before))
            : HOLO_ATTRS(holo_with_int("hidden_size", holo_keras_int(c, "units", 1)),
                         holo_with_texts("activations", count == 1 ? &plain : names, count));
    HoloValue *all[] = {x, w, r, b, NULL, h, cell};
    holo_emit_many(e, kind->onnx,
                   (HoloEmitIn){cell ? 7
                                : h  ? 6
                                : b  ? 4
                                     : 3,
                                all},
                   attrs, out, kind->gates == 4 ? 3 : 2);
}

static void recurrent(HoloKerasCall *c)
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
    if (!is_major) x = holo_emit_transpose(e, x, swap, 3);
    if (holo_keras_bool(c, "go_backwards", false)) x = holo_emit_slice(e, x, 0, -1, INT64_MIN, -1);
    run_rnn(c, kind, x, out);
    HoloValue *last = holo_emit_squeeze(e, out[1], &zero, 1);
    if (holo_keras_bool(c, "return_sequences", false)) {
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

// Applies the layer in config[key], with a name of its own, to one input. `changed` replaces its configuration.
static HoloValue *apply_inner(HoloKerasCall *c, const json_t *layer, const json_t *config, const char *name,
                              const char *group, HoloValue *x)
{
    const char    *class_name = json_string_value(json_object_get(layer, "class_name"));
    HoloKerasPlace place      = {c->place, name, group};
    HoloKerasCall  inner      = {.k = c->k, .e = c->e, .place = &place, .config = config, .in = &x, .in_count = 1};
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
                                   holo_emit_reshape(e, x, sizes, rank - 1));
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
    const char   *how    = holo_keras_text(c, "merge_mode", "concat");
    HoloValue    *x      = holo_keras_in(c, 0), *side[2];
    char          name[2][160];
    snprintf(name[0], sizeof name[0], "forward_%.120s", inner_name(layer));
    snprintf(name[1], sizeof name[1], "backward_%.120s", inner_name(layer));
    json_t *turned = json_is_object(back) ? json_copy(json_object_get(back, "config")) : json_copy((json_t *)config);
    if (turned)
        json_object_set_new(turned, "go_backwards",
                            json_boolean(!json_is_true(json_object_get(config, "go_backwards"))));
    side[0] = apply_inner(c, layer, config, name[0], "forward_layer", x);
    side[1] = apply_inner(c, json_is_object(back) ? back : layer, turned, name[1], "backward_layer", x);
    json_decref(turned);
    if (json_is_true(json_object_get(config, "return_sequences")))
        side[1] = holo_emit_slice(e, side[1], 1, -1, INT64_MIN, -1);
    if (!strcmp(how, "concat"))
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
    {"SimpleRNN", recurrent, NULL, 0}, {"GRU", recurrent, NULL, 1}, {"LSTM", recurrent, NULL, 2},
    {"CuDNNLSTM", recurrent, NULL, 2}, {"TimeDistributed", time_distributed}, {"Bidirectional", bidirectional},
    {0},
};
