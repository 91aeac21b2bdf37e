// openvino_rnn.c - recurrent cells and sequences. Gates are in another order than in ONNX, and the batch is first.
#include "import/openvino/openvino.h"

#include <string.h>

typedef struct Rnn {
    const char *onnx;
    int         gates, order[4]; // ONNX's gate i is gate order[i] here
} Rnn;

static const Rnn lstm = {"LSTM", 4, {1, 3, 0, 2}}, gru = {"GRU", 3, {0, 1, 2}}, plain = {"RNN", 1, {0}};

typedef struct Cell {
    const Rnn *form;
    bool       is_sequence;
    HoloValue *x, *h, *state, *lengths, *w, *r, *b; // as ONNX has them
} Cell;

static HoloValue *unsqueeze(HoloIrCall *c, HoloValue *x, int64_t axis)
{
    return x ? holo_emit_unsqueeze(c->e, x, &axis, 1) : NULL;
}

static HoloValue *swap(HoloIrCall *c, HoloValue *x, int a, int b)
{
    int64_t perm[HOLO_MAX_RANK];
    int     rank = holo_ir_rank(c, x);
    for (int i = 0; i < rank; i++) perm[i] = i == a ? b : i == b ? a : i;
    return c->e->status ? NULL : holo_emit_transpose(c->e, x, perm, rank);
}

// [dirs, gates * hidden, ...]: the gates in the order of ONNX
static HoloValue *reorder(HoloIrCall *c, const Rnn *form, HoloValue *w, int count)
{
    HoloValue *part[4] = {NULL}, *turned[4];
    if (form == &plain || (form == &gru && count == 3)) return w;
    holo_emit_many(c->e, "Split", HOLO_IN(w), HOLO_ATTRS(holo_with_int("axis", 1), holo_with_int("num_outputs", count)),
                   part, count);
    for (int i = 0; i < count; i++) turned[i] = part[form->order[i]];
    return holo_emit(c->e, "Concat", (HoloEmitIn){count, turned}, HOLO_ATTRS(holo_with_int("axis", 1)));
}

// [dirs, gates * hidden] to ONNX's biases of the input and of the state, of which the second are zeros; but for GRUs that
// reset behind the product, whose last gate has both.
static HoloValue *biases(HoloIrCall *c, const Rnn *form, HoloValue *b, bool is_late)
{
    HoloValue *part[4] = {NULL}, *both[8], *zero;
    if (!b) return NULL;
    if (!is_late) {
        b       = reorder(c, form, b, form->gates);
        both[0] = b, both[1] = OP2("Sub", b, b);
        return holo_emit(c->e, "Concat", (HoloEmitIn){2, both}, HOLO_ATTRS(holo_with_int("axis", 1)));
    }
    holo_emit_many(c->e, "Split", HOLO_IN(b), HOLO_ATTRS(holo_with_int("axis", 1), holo_with_int("num_outputs", 4)),
                   part, 4);
    zero               = OP2("Sub", part[0], part[0]);
    HoloValue *list[6] = {part[0], part[1], part[2], zero, zero, part[3]};
    return holo_emit(c->e, "Concat", (HoloEmitIn){6, list}, HOLO_ATTRS(holo_with_int("axis", 1)));
}

static void read_inputs(HoloIrCall *c, Cell *k)
{
    bool is_lstm = k->form == &lstm;
    int  at      = 0;
    k->x = IN(at++), k->h = IN(at++);
    if (is_lstm) k->state = IN(at++);
    if (k->is_sequence) k->lengths = holo_emit_cast(c->e, IN(at++), HOLO_I32);
    k->w = IN(at++), k->r = IN(at++), k->b = MAY(at);
    if (k->is_sequence) {
        k->x     = swap(c, k->x, 0, 1);
        k->h     = swap(c, k->h, 0, 1);
        k->state = k->state ? swap(c, k->state, 0, 1) : NULL;
        return;
    }
    k->x     = unsqueeze(c, k->x, 0);
    k->h     = unsqueeze(c, k->h, 0);
    k->state = unsqueeze(c, k->state, 0);
    k->w     = unsqueeze(c, k->w, 0);
    k->r     = unsqueeze(c, k->r, 0);
    k->b     = unsqueeze(c, k->b, 0);
}

// "sigmoid,tanh,tanh" as ONNX names them, for each direction.
static int activations(HoloIrCall *c, int dirs, HoloString *out, int room)
{
    static const char *const words[][2] = {
        {"sigmoid", "Sigmoid"}, {"tanh", "Tanh"}, {"relu", "Relu"}, {"hardsigmoid", "HardSigmoid"}};
    const char *text  = holo_ir_text(c, "activations", "");
    int         count = 0;
    while (*text) {
        size_t size = strcspn(text, ", ");
        int    i    = 0;
        while (i < HOLO_COUNT(words) && (strlen(words[i][0]) != size || strncasecmp(words[i][0], text, size))) i++;
        if (i == HOLO_COUNT(words) || count * dirs >= room) {
            holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a recurrent layer with the activation '%.*s'",
                           (int)(size < 40 ? size : 40), text);
            return 0;
        }
        out[count++] = (HoloString){words[i][1], strlen(words[i][1])};
        text += size + strspn(text + size, ", ");
    }
    for (int i = 0; dirs == 2 && i < count; i++) out[count + i] = out[i];
    return count * dirs;
}

static void recurrent(HoloIrCall *c, const Rnn *form)
{
    Cell        k    = {.form = form, .is_sequence = strstr(c->layer->type, "Sequence") != NULL};
    const char *way  = holo_ir_text(c, "direction", "forward");
    bool        late = form == &gru && holo_ir_bool(c, "linear_before_reset", false), is_lstm = form == &lstm;
    int         dirs = !strcasecmp(way, "bidirectional") ? 2 : 1;
    HoloString  names[8];
    HoloAttr    attrs[7];
    HoloValue  *y[3] = {NULL};
    int         n = 0, names_count = activations(c, dirs, names, 4);
    read_inputs(c, &k);
    if (c->e->status) return;
    attrs[n++] = holo_with_int("hidden_size", holo_ir_int(c, "hidden_size", 1));
    attrs[n++] = holo_with_text("direction", dirs == 2                     ? "bidirectional"
                                             : !strcasecmp(way, "reverse") ? "reverse"
                                                                           : "forward");
    if (holo_ir_float(c, "clip", 0) > 0) attrs[n++] = holo_with_float("clip", holo_ir_float(c, "clip", 0));
    if (late) attrs[n++] = holo_with_int("linear_before_reset", 1);
    if (names_count) attrs[n++] = holo_with_texts("activations", names, names_count);
    attrs[n]      = (HoloAttr){0};
    HoloEmitIn in = HOLO_IN(k.x, reorder(c, form, k.w, form->gates), reorder(c, form, k.r, form->gates),
                            biases(c, form, k.b, late), k.lengths, k.h, k.state);
    if (!is_lstm) in.count--;
    holo_emit_many(c->e, form->onnx, in, attrs, y, is_lstm ? 3 : 2);
    if (c->e->status) return;
    if (!k.is_sequence) {
        int64_t front = 0;
        for (int i = 0; i < (is_lstm ? 2 : 1); i++) c->layer->out[i] = holo_emit_squeeze(c->e, y[1 + i], &front, 1);
        return;
    }
    int64_t perm[]   = {2, 1, 0, 3}; // [tokens, dirs, batch, size] to [batch, dirs, tokens, size]
    c->layer->out[0] = holo_emit_transpose(c->e, y[0], perm, 4);
    for (int i = 1; i < (is_lstm ? 3 : 2); i++) c->layer->out[i] = swap(c, y[i], 0, 1);
}

MANY(lstm_layer)
{
    recurrent(c, &lstm);
}

MANY(gru_layer)
{
    recurrent(c, &gru);
}

MANY(rnn_layer)
{
    recurrent(c, &plain);
}

const HoloIrOp holo_ir_recurrents[] = {
    {"LSTMCell", NULL, lstm_layer, NULL},
    {"GRUCell", NULL, gru_layer, NULL},
    {"RNNCell", NULL, rnn_layer, NULL},
    {"LSTMSequence", NULL, lstm_layer, NULL},
    {"GRUSequence", NULL, gru_layer, NULL},
    {"RNNSequence", NULL, rnn_layer, NULL},
    {0},
};
