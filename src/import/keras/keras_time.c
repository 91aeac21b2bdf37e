// keras_time.c - Keras layers that run cells over time: RNN, with one cell or several, and convolutional LSTMs.
#include "import/keras/keras.h"

#include <stdio.h>

// The rows leave out fields that do not apply.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static void give(HoloKerasCall *c, HoloValue *value)
{
    c->out[0]    = value;
    c->out_count = 1;
}

// ---- cells

static const char *layer_of_cell(const char *cell)
{
    static const char *const names[][2] = {{"LSTMCell", "LSTM"}, {"GRUCell", "GRU"}, {"SimpleRNNCell", "SimpleRNN"}};
    for (int i = 0; cell && i < HOLO_COUNT(names); i++)
        if (!strcmp(names[i][0], cell)) return names[i][1];
    return NULL;
}

// A cell is a layer that goes through time; the layer around it says what of it is given.
static void run_cell(HoloKerasCall *c, const json_t *cell, int index, bool is_only, bool is_last)
{
    const char *class_name = json_string_value(json_object_get(cell, "class_name")), *layer = layer_of_cell(class_name);
    json_t     *config = json_copy(json_object_get(cell, "config"));
    char        name[32];
    bool        first = index == 0;
    snprintf(name, sizeof name, "RNNCell_%d", index);
    const char    *own   = json_string_value(json_object_get(config, "name"));
    HoloKerasPlace place = {c->place, c->k->is_js ? name : own, "cell"};
    if (!layer || !config) {
        json_decref(config);
        holo_emit_fail(c->e, HOLO_UNSUPPORTED, "cells of class '%.60s' are not supported",
                       class_name ? class_name : "?");
        return;
    }
    json_object_set_new(config, "return_sequences",
                        json_boolean(!is_last || holo_keras_bool(c, "return_sequences", false)));
    json_object_set_new(config, "return_state", json_boolean(is_only && holo_keras_bool(c, "return_state", false)));
    json_object_set_new(config, "go_backwards", json_boolean(first && holo_keras_bool(c, "go_backwards", false)));
    HoloKerasCall inner = *c;
    inner.config        = config;
    inner.in            = first ? c->in : c->out;
    inner.in_count      = first && is_only ? c->in_count : 1;
    inner.out_count     = 0;
    inner.mask          = first ? c->mask : c->out_mask;
    if (!is_only) inner.place = &place;
    holo_keras_apply(&inner, layer);
    memcpy(c->out, inner.out, sizeof c->out);
    c->out_count   = inner.out_count;
    c->out_mask    = inner.out_mask;
    c->weight_next = inner.weight_next;
    json_decref(config);
}

static void rnn(HoloKerasCall *c)
{
    const json_t *cell = json_object_get(c->config, "cell"), *cells = json_object_get(c->config, "cells");
    if (!cells) cells = json_object_get(json_object_get(cell, "config"), "cells");
    size_t count = json_array_size(cells);
    if (json_is_array(cell)) cells = cell, count = json_array_size(cell);
    if (count > 1 && holo_keras_bool(c, "return_state", false)) {
        holo_emit_fail(c->e, HOLO_UNSUPPORTED, "the states of several cells as outputs are not supported");
        return;
    }
    if (!count) run_cell(c, cell, 0, true, true);
    for (size_t i = 0; i < count && !c->e->status; i++)
        run_cell(c, json_array_get(cells, i), (int)i, false, i + 1 == count);
}

// ---- convolutional LSTM

typedef struct ConvLstm {
    HoloKerasCall   *c;
    HoloImportWindow own; // of the states: as large as they are
    HoloValue       *recurrent;
    int64_t          filters;
} ConvLstm;

static HoloValue *activated(const ConvLstm *l, HoloEmit *e, const char *key, HoloValue *x)
{
    HoloKerasCall at = *l->c;
    at.e             = e;
    return holo_keras_activation(&at, json_object_get(l->c->config, key), x);
}

// The products of the input of all steps: [time, batch, 4 * filters, ...].
static HoloValue *input_gates(ConvLstm *l, HoloImportWindow w, HoloValue *x)
{
    HoloKerasCall *c = l->c;
    HoloEmit      *e = c->e;
    HoloDim        sizes[HOLO_MAX_RANK];
    int            rank = w.rank + 3;
    int64_t        perm[HOLO_MAX_RANK];
    HoloValue     *kernel = holo_keras_weight(c, "kernel");
    l->recurrent          = holo_keras_weight(c, "recurrent_kernel");
    HoloValue *bias       = holo_keras_bool(c, "use_bias", true) ? holo_keras_weight(c, "bias") : NULL;
    if (e->status) return NULL;
    HoloDim batch = x->type.dim[0], steps = x->type.dim[1];
    sizes[0] = holo_dim_mul(e->graph->dims, batch, steps);
    for (int i = 2; i < rank; i++) sizes[i - 1] = x->type.dim[i];
    x               = holo_window_open(e, &w, holo_emit_reshape(e, x, sizes, rank - 1));
    w.is_first      = true;
    l->own.is_first = true;
    HoloValue *y    = holo_window_conv(e, &w, x, kernel, bias);
    if (!y || y->type.rank != rank - 1) return NULL;
    sizes[0] = batch;
    sizes[1] = steps;
    for (int i = 1; i < rank - 1; i++) sizes[i + 1] = y->type.dim[i];
    for (int i = 0; i < rank; i++) perm[i] = i < 2 ? 1 - i : i;
    return holo_emit_transpose(e, holo_emit_reshape(e, y, sizes, rank), perm, rank);
}

// One step: h and c become the next ones.
static void conv_step(const ConvLstm *l, HoloEmit *e, HoloValue *gates, HoloValue **h, HoloValue **cell)
{
    HoloValue *part[4];
    gates = holo_emit(e, "Add", HOLO_IN(gates, holo_window_conv(e, &l->own, *h, l->recurrent, NULL)), NULL);
    holo_emit_many(e, "Split", HOLO_IN(gates), HOLO_ATTRS(holo_with_int("axis", 1), holo_with_int("num_outputs", 4)),
                   part, 4);
    HoloValue *in     = activated(l, e, "recurrent_activation", part[0]),
              *forget = activated(l, e, "recurrent_activation", part[1]),
              *fresh  = activated(l, e, "activation", part[2]);
    *cell             = holo_emit(
                    e, "Add",
                    HOLO_IN(holo_emit(e, "Mul", HOLO_IN(forget, *cell), NULL), holo_emit(e, "Mul", HOLO_IN(in, fresh), NULL)),
                    NULL);
    *h = holo_emit(e, "Mul",
                   HOLO_IN(activated(l, e, "recurrent_activation", part[3]), activated(l, e, "activation", *cell)),
                   NULL);
}

// Runs the steps; `all` gets h of all of them, `out` the last h and c.
static void conv_scan(const ConvLstm *l, HoloValue *gates, HoloValue **all, HoloValue **out)
{
    HoloEmit  *e     = l->c->e, body;
    HoloTensor state = gates->type, step;
    state.data       = NULL;
    state.rank--;
    memmove(state.dim, state.dim + 1, sizeof state.dim[0] * (size_t)state.rank);
    step             = state;
    state.dim[1]     = l->filters;
    HoloValue *zeros = holo_emit(
        e, "Expand", HOLO_IN(holo_emit_number(e, HOLO_F32, 0), holo_emit_sizes(e, state.dim, state.rank)), NULL);
    HoloValue *start[3] = {zeros, zeros, gates}, *results[3] = {NULL};
    holo_emit_begin_body(&body, e, e->node);
    HoloValue *h = holo_emit_input(&body, "h", &state), *cell = holo_emit_input(&body, "c", &state),
              *g = holo_emit_input(&body, "x", &step);
    conv_step(l, &body, g, &h, &cell);
    holo_emit_output(&body, h, NULL);
    holo_emit_output(&body, cell, NULL);
    holo_emit_output(&body, h, NULL);
    HoloEmitBody list[] = {{"body", &body}, {NULL, NULL}};
    holo_emit_control(e, "Scan", (HoloEmitIn){3, start}, HOLO_ATTRS(holo_with_int("num_scan_inputs", 1)), list, results,
                      3);
    holo_emit_end(&body);
    out[0] = results[0];
    out[1] = results[1];
    *all   = results[2];
}

static void conv_lstm(HoloKerasCall *c)
{
    HoloEmit        *e    = c->e;
    int              rank = c->layer->number;
    HoloImportWindow w    = holo_window(rank);
    ConvLstm         l    = {.c = c, .own = holo_window(rank), .filters = holo_keras_int(c, "filters", 1)};
    HoloValue       *x = holo_keras_in(c, 0), *all = NULL, *out[2] = {NULL};
    int64_t          perm[HOLO_MAX_RANK];
    bool             last = !holo_keras_is_first(c);
    if (holo_emit_rank(x) != rank + 3 || c->in_count > 1) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "the input should be one, with %d dimensions", rank + 3);
        return;
    }
    w.is_first = !last;
    holo_keras_ints(c, "kernel_size", w.size, rank, 1);
    holo_keras_ints(c, "strides", w.stride, rank, 1);
    holo_keras_ints(c, "dilation_rate", w.dilation, rank, 1);
    if (!strcmp(holo_keras_text(c, "padding", "valid"), "same")) w.padding = HOLO_PADDING_SAME;
    memcpy(l.own.size, w.size, sizeof w.size);
    l.own.padding    = HOLO_PADDING_SAME;
    HoloValue *gates = input_gates(&l, w, x);
    if (gates && holo_keras_bool(c, "go_backwards", false)) gates = holo_emit_slice(e, gates, 0, -1, INT64_MIN, -1);
    if (!gates || e->status) return;
    conv_scan(&l, gates, &all, out);
    if (holo_keras_bool(c, "return_sequences", false)) {
        for (int i = 0; i < rank + 3; i++) perm[i] = i < 2 ? 1 - i : last ? (i == rank + 2 ? 2 : i + 1) : i;
        give(c, holo_emit_transpose(e, all, perm, rank + 3));
    } else
        give(c, holo_window_close(e, &w, out[0]));
    if (!holo_keras_bool(c, "return_state", false)) return;
    for (int i = 0; i < 2; i++) c->out[1 + i] = holo_window_close(e, &w, out[i]);
    c->out_count = 3;
}

// clang-format off
const HoloKerasLayer holo_keras_layers_time[] = {
    {"RNN", rnn}, {"ConvLSTM1D", conv_lstm, NULL, 1}, {"ConvLSTM2D", conv_lstm, NULL, 2}, {"ConvLSTM3D", conv_lstm, NULL, 3},
    {0},
};
