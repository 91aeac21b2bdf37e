// tflite_recurrent.c - recurrent operators: LSTM, RNN and SVDF, for one turn or for a sequence.
//
// What they keep is a state of the model: a run begins with what the run before left. A sequence of a plain LSTM is ONNX's
// LSTM; anything else, such as projections, layer normalization or clipped cells, is a Scan over the turns.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

// ---- cells

enum { GATE_IN, GATE_FORGET, GATE_CELL, GATE_OUT, GATES };

typedef struct Cell { // places of inputs of the operator; those that are not given are left out
    HoloTfOp *op;     // whose values these are
    bool      is_lstm;
    int       x_w, h_w, peep, bias, project, h, c, norm; // each the first of its gates; 0: there are none
    int       x, aux, aux_w; // the input, and a second one with weights of its own: aux 0 means that there is none
    int64_t   activation;
    double    cell_clip, project_clip;
    bool      is_shifted; // inputs of integer weights are quantized with a zero point
} Cell;

// The product of rows and a matrix that is input i.
static HoloValue *product(const Cell *cell, HoloTfOp *at, HoloValue *rows, int i)
{
    HoloTfOp     *op = cell->op;
    HoloTfTensor *t  = holo_tf_tensor_in(op, i);
    HoloValue    *w  = holo_tf_in(op, i);
    if (!t || !w || !rows) return NULL;
    if (holo_tf_is_scaled(t) && !holo_tf_is_scaled(holo_tf_tensor_in(op, 0)))
        return holo_tf_hybrid_rows(at, rows, w, t, cell->is_shifted);
    if (holo_tf_is_scaled(t)) w = holo_tf_dequantize(op, t, w, 0);
    return holo_emit(at->e, "Gemm", HOLO_IN(rows, w), HOLO_ATTRS(holo_with_int("transB", 1)));
}

static HoloValue *sum(HoloTfOp *at, HoloValue *a, HoloValue *b)
{
    return !a ? b : !b ? a : holo_tf_two(at, "Add", a, b);
}

// Numbers of input i that each element is multiplied with or to which they are added; integers in steps of their scale.
static HoloValue *numbers(const Cell *cell, int i)
{
    HoloTfOp           *op = cell->op;
    const HoloTfTensor *t  = holo_tf_tensor_in(op, i);
    HoloValue          *x  = holo_tf_in(op, i);
    if (!t || !x || holo_dtype_class(t->dtype) == HOLO_CLASS_FLOAT) return x;
    if (t->scaled.count) return holo_tf_dequantize(op, t, x, 0);
    return holo_tf_fail(op, "input %d is of integers that have no scale", i);
}

// The mean becomes 0 and the variance 1.
static HoloValue *normalize(HoloTfOp *at, HoloValue *x)
{
    HoloValue *last = holo_emit_ints(at->e, (int64_t[]){-1}, 1);
    HoloValue *mean = x ? holo_emit(at->e, "ReduceMean", HOLO_IN(x, last), NULL) : NULL,
              *d    = holo_tf_two(at, "Sub", x, mean);
    HoloValue *var  = d ? holo_emit(at->e, "ReduceMean", HOLO_IN(holo_tf_two(at, "Mul", d, d), last), NULL) : NULL;
    return holo_tf_two(at, "Div", d, holo_tf_one(at, "Sqrt", holo_tf_two(at, "Add", var, holo_tf_f32(at, 1e-8))));
}

// The product of the input and its weights for a gate. A second input lies behind the first.
static HoloValue *input_product(const Cell *cell, HoloTfOp *at, int which, HoloValue *x)
{
    if (!cell->aux || !x) return product(cell, at, x, cell->x_w + which);
    const HoloTfTensor *w    = holo_tf_tensor_in(cell->op, cell->x_w + which);
    int64_t             size = w && w->shape.rank == 2 ? w->shape.dim[1] : 0;
    return sum(at, product(cell, at, holo_emit_slice(at->e, x, -1, 0, size, 1), cell->x_w + which),
               product(cell, at, holo_emit_slice(at->e, x, -1, size, INT64_MAX, 1), cell->aux_w + which));
}

// What goes into the function of a gate.
static HoloValue *gate(const Cell *cell, HoloTfOp *at, int which, HoloValue *x, HoloValue *h, HoloValue *c)
{
    HoloTfOp  *op = cell->op;
    HoloValue *y  = sum(at, input_product(cell, at, which, x), product(cell, at, h, cell->h_w + which));
    // Peepholes are those of the gates in, forget and out.
    int peep = cell->peep + (which == GATE_OUT ? 2 : which);
    if (cell->peep && which != GATE_CELL && c && holo_tf_has(op, peep))
        y = sum(at, y, holo_tf_two(at, "Mul", c, numbers(cell, peep)));
    if (cell->norm && holo_tf_has(op, cell->norm + which))
        y = holo_tf_two(at, "Mul", normalize(at, y), numbers(cell, cell->norm + which));
    return holo_tf_has(op, cell->bias + which) ? sum(at, y, numbers(cell, cell->bias + which)) : y;
}

static HoloValue *clip(HoloTfOp *at, HoloValue *x, double most)
{
    if (!(most > 0) || !x) return x;
    return holo_emit(at->e, "Clip", HOLO_IN(x, holo_tf_f32(at, -most), holo_tf_f32(at, most)), NULL);
}

// One turn of an LSTM: new h and c.
static void lstm_turn(const Cell *cell, HoloTfOp *at, HoloValue *x, HoloValue **h, HoloValue **c)
{
    HoloTfOp  *op      = cell->op;
    bool       coupled = !holo_tf_has(op, cell->x_w + GATE_IN);
    HoloValue *forget  = holo_tf_one(at, "Sigmoid", gate(cell, at, GATE_FORGET, x, *h, *c));
    HoloValue *in      = coupled ? holo_tf_two(at, "Sub", holo_tf_f32(at, 1), forget)
                                 : holo_tf_one(at, "Sigmoid", gate(cell, at, GATE_IN, x, *h, *c));
    HoloValue *fresh   = holo_tf_activate(at, gate(cell, at, GATE_CELL, x, *h, NULL), cell->activation);
    *c = clip(at, sum(at, holo_tf_two(at, "Mul", forget, *c), holo_tf_two(at, "Mul", in, fresh)), cell->cell_clip);
    HoloValue *out = holo_tf_one(at, "Sigmoid", gate(cell, at, GATE_OUT, x, *h, *c));
    *h             = holo_tf_two(at, "Mul", out, holo_tf_activate(at, *c, cell->activation));
    if (!cell->project || !holo_tf_has(op, cell->project)) return;
    *h = product(cell, at, *h, cell->project);
    if (holo_tf_has(op, cell->project + 1)) *h = sum(at, *h, numbers(cell, cell->project + 1));
    *h = clip(at, *h, cell->project_clip);
}

static void rnn_turn(const Cell *cell, HoloTfOp *at, HoloValue *x, HoloValue **h)
{
    *h = holo_tf_activate(at, gate(cell, at, 0, x, *h, NULL), cell->activation);
}

// The real numbers of a state.
static HoloValue *state_real(const Cell *cell, int i)
{
    HoloTfTensor *t = holo_tf_tensor_in(cell->op, i);
    HoloValue    *v = holo_tf_state_read(cell->op, t);
    return v && holo_tf_is_scaled(t) ? holo_tf_dequantize(cell->op, t, v, 0) : v;
}

// ---- sequences

// All turns of a cell over x, [turns, batch, size]: gives [turns, batch, size of h], and the last h and c.
static HoloValue *scan(const Cell *cell, HoloValue *x, HoloValue **h, HoloValue **c)
{
    HoloTfOp  *op = cell->op, at = *op;
    HoloEmit   body;
    HoloValue *out[3] = {NULL}, *start[3] = {*h, cell->is_lstm ? *c : x, x};
    int        carried = cell->is_lstm ? 2 : 1;
    if (!x || !*h || (cell->is_lstm && !*c)) return NULL;
    holo_emit_begin_body(&body, op->e, op->e->node);
    at.e              = &body;
    HoloTensor turn   = x->type;
    turn.data         = NULL;
    turn.rank         = 2;
    turn.dim[0]       = x->type.dim[1];
    turn.dim[1]       = x->type.dim[2];
    HoloTensor h_type = (*h)->type, c_type = cell->is_lstm ? (*c)->type : turn;
    h_type.data = c_type.data = NULL;
    HoloValue *inner_h        = holo_emit_input(&body, "h", &h_type),
              *inner_c        = cell->is_lstm ? holo_emit_input(&body, "c", &c_type) : NULL;
    HoloValue *inner_x        = holo_emit_input(&body, "x", &turn);
    if (cell->is_lstm)
        lstm_turn(cell, &at, inner_x, &inner_h, &inner_c);
    else
        rnn_turn(cell, &at, inner_x, &inner_h);
    holo_emit_output(&body, inner_h, NULL);
    if (cell->is_lstm) holo_emit_output(&body, inner_c, NULL);
    holo_emit_output(&body, inner_h, NULL);
    HoloEmitBody list[] = {{"body", &body}, {NULL, NULL}};
    if (!op->e->status)
        holo_emit_control(op->e, "Scan", (HoloEmitIn){carried + 1, start},
                          HOLO_ATTRS(holo_with_int("num_scan_inputs", 1)), list, out, carried + 1);
    holo_emit_end(&body);
    *h = out[0];
    if (cell->is_lstm) *c = out[1];
    return out[carried];
}

// Is it what ONNX's LSTM computes?
static bool is_plain(const Cell *cell)
{
    const HoloTfOp *op = cell->op;
    if (cell->activation != ACTIVATION_TANH || cell->cell_clip > 0 || cell->aux ||
        (cell->project && holo_tf_has(op, cell->project)))
        return false;
    for (int k = 0; k < GATES; k++) {
        const HoloTfTensor *w = holo_tf_tensor_in(op, cell->x_w + k), *r = holo_tf_tensor_in(op, cell->h_w + k);
        if (!w || !r || w->type != TYPE_F32 || r->type != TYPE_F32 || !holo_tf_has(op, cell->bias + k)) return false;
        if (cell->norm && holo_tf_has(op, cell->norm + k)) return false;
        if (k < 3 && cell->peep && holo_tf_has(op, cell->peep + k)) return false;
    }
    return true;
}

// The gates' matrices in the order of ONNX: in, out, forget, cell.
static HoloValue *joined(const Cell *cell, int first)
{
    static const int order[GATES] = {GATE_IN, GATE_OUT, GATE_FORGET, GATE_CELL};
    HoloTfOp        *op           = cell->op;
    HoloValue       *part[GATES];
    int64_t          axis = 0;
    for (int k = 0; k < GATES; k++)
        if (!(part[k] = holo_tf_in(op, first + order[k]))) return NULL;
    HoloValue *all = holo_emit(op->e, "Concat", (HoloEmitIn){GATES, part}, HOLO_ATTRS(holo_with_int("axis", 0)));
    return all ? holo_emit_unsqueeze(op->e, all, &axis, 1) : NULL;
}

static HoloValue *plain_lstm(const Cell *cell, HoloValue *x, HoloValue **h, HoloValue **c)
{
    HoloTfOp  *op    = cell->op;
    int64_t    first = 0, second = 1;
    HoloValue *w = joined(cell, cell->x_w), *r = joined(cell, cell->h_w), *b = joined(cell, cell->bias), *out[3];
    if (!w || !r || !b || !*h || !*c) return NULL;
    HoloDim size = r->type.dim[2];
    if (holo_dim_is_symbolic(size)) return holo_tf_fail(op, "the sizes of its weights are not known");
    HoloValue *none = holo_tf_zeros(op, HOLO_F32, b->type.dim, 2);
    b               = none ? holo_emit(op->e, "Concat", HOLO_IN(b, none), HOLO_ATTRS(holo_with_int("axis", 1))) : NULL;
    HoloValue *h0 = holo_emit_unsqueeze(op->e, *h, &first, 1), *c0 = holo_emit_unsqueeze(op->e, *c, &first, 1);
    if (!b || !h0 || !c0) return NULL;
    holo_emit_many(op->e, "LSTM", HOLO_IN(x, w, r, b, NULL, h0, c0), HOLO_ATTRS(holo_with_int("hidden_size", size)),
                   out, 3);
    if (op->e->status) return NULL;
    *h = holo_emit_squeeze(op->e, out[1], &first, 1);
    *c = holo_emit_squeeze(op->e, out[2], &first, 1);
    return holo_emit_squeeze(op->e, out[0], &second, 1);
}

static HoloValue *turned(HoloTfOp *op, HoloValue *x, bool is_time_major)
{
    return is_time_major ? x : holo_tf_transpose(op, x, (int64_t[]){1, 0, 2}, 3);
}

// The input of a cell; with a second one behind it, if there are weights for it.
static HoloValue *input_of(const Cell *cell)
{
    HoloTfOp  *op = cell->op;
    HoloValue *x  = holo_tf_real(op, cell->x), *aux;
    if (!cell->aux || !x || !(aux = holo_tf_real(op, cell->aux))) return x;
    return holo_emit(op->e, "Concat", HOLO_IN(x, aux), HOLO_ATTRS(holo_with_int("axis", 2)));
}

// A second input has weights of its own, or it is the input of the way back.
static void both_inputs(HoloTfOp *op, Cell *forth, Cell *back, int aux, int forth_w, int back_w)
{
    if (!holo_tf_has(op, aux)) return;
    if (!holo_tf_has(op, forth_w) && !holo_tf_has(op, forth_w + 1)) {
        back->x = aux;
        return;
    }
    forth->aux = back->aux = aux;
    forth->aux_w           = forth_w;
    back->aux_w            = back_w;
}

// Runs a cell over a sequence, and keeps its states.
static HoloValue *sequence(const Cell *cell, bool is_time_major, bool backwards)
{
    HoloTfOp  *op = cell->op;
    HoloValue *x = turned(op, input_of(cell), is_time_major), *h = state_real(cell, cell->h),
              *c = cell->is_lstm ? state_real(cell, cell->c) : NULL;
    if (x && backwards) x = holo_emit_slice(op->e, x, 0, -1, INT64_MIN + 1, -1);
    if (!x) return NULL;
    HoloValue *y = cell->is_lstm && is_plain(cell) ? plain_lstm(cell, x, &h, &c) : scan(cell, x, &h, &c);
    holo_tf_state_write(op, holo_tf_tensor_in(op, cell->h), h);
    if (cell->is_lstm) holo_tf_state_write(op, holo_tf_tensor_in(op, cell->c), c);
    if (y && backwards) y = holo_emit_slice(op->e, y, 0, -1, INT64_MIN + 1, -1);
    return turned(op, y, is_time_major);
}

// ---- the operators

enum { LSTM_H = 18, LSTM_NORM = 20 };

static Cell lstm_cell(HoloTfOp *op)
{
    return (Cell){.op           = op,
                  .is_lstm      = true,
                  .x_w          = 1,
                  .h_w          = 5,
                  .peep         = 9,
                  .bias         = 12,
                  .project      = 16,
                  .h            = LSTM_H,
                  .c            = LSTM_H + 1,
                  .norm         = LSTM_NORM,
                  .activation   = holo_flat_i8(op->options, LSTM_ACTIVATION, 0),
                  .cell_clip    = (double)holo_flat_f32(op->options, LSTM_CELL_CLIP, 0),
                  .project_clip = (double)holo_flat_f32(op->options, LSTM_PROJECTION_CLIP, 0)};
}

// Weights of all gates in one matrix, for x and h behind each other: in, fresh, forget, out.
static void lstm_basic(HoloTfOp *op)
{
    HoloValue *x = holo_tf_real(op, 0), *h = holo_tf_real(op, 1), *w = holo_tf_real(op, 2), *c = holo_tf_real(op, 4),
              *part[4];
    HoloValue *b = holo_tf_bias(op, 3, holo_tf_tensor_in(op, 0), holo_tf_tensor_in(op, 2));
    if (!x || !h || !w || !b || !c) return;
    HoloValue *both = holo_emit(op->e, "Concat", HOLO_IN(x, h), HOLO_ATTRS(holo_with_int("axis", 1)));
    HoloValue *all =
        both ? holo_emit(op->e, "Gemm", HOLO_IN(both, w, b), HOLO_ATTRS(holo_with_int("transB", 1))) : NULL;
    if (!all) return;
    holo_emit_many(op->e, "Split", HOLO_IN(all), HOLO_ATTRS(holo_with_int("axis", 1), holo_with_int("num_outputs", 4)),
                   part, 4);
    HoloValue *fresh = holo_tf_two(op, "Mul", holo_tf_one(op, "Sigmoid", part[0]), holo_tf_one(op, "Tanh", part[1]));
    HoloValue *next  = holo_tf_two(op, "Add", fresh, holo_tf_two(op, "Mul", holo_tf_one(op, "Sigmoid", part[2]), c));
    holo_tf_give_real(op, 0,
                      holo_tf_two(op, "Mul", holo_tf_one(op, "Sigmoid", part[3]), holo_tf_one(op, "Tanh", next)));
    holo_tf_give_real(op, 1, next);
    holo_tf_give_real(op, 2, both);
    holo_tf_give_real(op, 3, all);
}

void holo_tf_lstm(HoloTfOp *op)
{
    if (holo_flat_i8(op->options, LSTM_KERNEL, 0) == 1 || op->in.count == 5) return lstm_basic(op);
    if (op->in.count < LSTM_NORM)
        return (void)holo_tf_fail(op, "it has %zu inputs, and needs %d", op->in.count, LSTM_NORM);
    Cell       cell = lstm_cell(op);
    HoloValue *x = holo_tf_real(op, 0), *h = state_real(&cell, cell.h), *c = state_real(&cell, cell.c);
    cell.is_shifted = holo_flat_u8(op->options, LSTM_ASYMMETRIC, 0) != 0;
    if (!x || !h || !c) return;
    lstm_turn(&cell, op, x, &h, &c);
    holo_tf_state_write(op, holo_tf_tensor_in(op, cell.h), h);
    holo_tf_state_write(op, holo_tf_tensor_in(op, cell.c), c);
    holo_tf_give_real(op, 0, h);
}

void holo_tf_sequence_lstm(HoloTfOp *op)
{
    Cell cell       = lstm_cell(op);
    cell.is_shifted = holo_flat_u8(op->options, UNILSTM_ASYMMETRIC, 0) != 0;
    if (holo_flat_u8(op->options, UNILSTM_DIAGONAL, 0))
        return (void)holo_tf_fail(op, "recurrent weights that are diagonals are not supported");
    holo_tf_give_real(op, 0, sequence(&cell, holo_flat_u8(op->options, UNILSTM_TIME_MAJOR, 0) != 0, false));
}

// Gives both directions, behind each other or as two outputs.
static void both_give(HoloTfOp *op, HoloValue *forth, HoloValue *back, bool merges)
{
    if (!forth || !back) return;
    if (merges)
        holo_tf_give_real(op, 0,
                          holo_emit(op->e, "Concat", HOLO_IN(forth, back), HOLO_ATTRS(holo_with_int("axis", 2))));
    else {
        holo_tf_give_real(op, 0, forth);
        holo_tf_give_real(op, 1, back);
    }
}

void holo_tf_bidirectional_lstm(HoloTfOp *op)
{
    enum { BACK = 18, STATES = 35, AUX = 39 };
    bool time   = holo_flat_u8(op->options, BILSTM_TIME_MAJOR, 1) != 0,
         merges = holo_flat_u8(op->options, BILSTM_MERGE, 0) != 0;
    Cell forth = lstm_cell(op), back = lstm_cell(op);
    forth.norm = back.norm = 0;
    forth.is_shifted = back.is_shifted = holo_flat_u8(op->options, BILSTM_ASYMMETRIC, 0) != 0;
    forth.h                            = STATES;
    forth.c                            = STATES + 1;
    back.x_w                           = BACK;
    back.h_w                           = BACK + 4;
    back.peep                          = BACK + 8;
    back.bias                          = BACK + 11;
    back.project                       = BACK + 15;
    back.h                             = STATES + 2;
    back.c                             = STATES + 3;
    both_inputs(op, &forth, &back, AUX, AUX + 1, AUX + 5);
    both_give(op, sequence(&forth, time, false), sequence(&back, time, true), merges);
}

void holo_tf_rnn(HoloTfOp *op)
{
    Cell       cell = {.op         = op,
                       .x_w        = 1,
                       .h_w        = 2,
                       .bias       = 3,
                       .h          = 4,
                       .activation = holo_flat_i8(op->options, RNN_ACTIVATION, 0),
                       .is_shifted = holo_flat_u8(op->options, RNN_ASYMMETRIC, 0) != 0};
    HoloValue *x = holo_tf_real(op, 0), *h = state_real(&cell, cell.h);
    if (!x || !h) return;
    rnn_turn(&cell, op, x, &h);
    holo_tf_state_write(op, holo_tf_tensor_in(op, cell.h), h);
    holo_tf_give_real(op, 0, h);
}

void holo_tf_sequence_rnn(HoloTfOp *op)
{
    Cell cell = {.op         = op,
                 .x_w        = 1,
                 .h_w        = 2,
                 .bias       = 3,
                 .h          = 4,
                 .activation = holo_flat_i8(op->options, SEQUENCE_ACTIVATION, 0),
                 .is_shifted = holo_flat_u8(op->options, SEQUENCE_ASYMMETRIC, 0) != 0};
    holo_tf_give_real(op, 0, sequence(&cell, holo_flat_u8(op->options, SEQUENCE_TIME_MAJOR, 0) != 0, false));
}

void holo_tf_bidirectional_rnn(HoloTfOp *op)
{
    bool time   = holo_flat_u8(op->options, SEQUENCE_TIME_MAJOR, 0) != 0,
         merges = holo_flat_u8(op->options, SEQUENCE_MERGE, 0) != 0;
    Cell forth  = {.op         = op,
                   .x_w        = 1,
                   .h_w        = 2,
                   .bias       = 3,
                   .h          = 4,
                   .activation = holo_flat_i8(op->options, SEQUENCE_ACTIVATION, 0),
                   .is_shifted = holo_flat_u8(op->options, SEQUENCE_BI_ASYMMETRIC, 0) != 0};
    Cell back   = forth;
    back.x_w    = 5;
    back.h_w    = 6;
    back.bias   = 7;
    back.h      = 8;
    both_inputs(op, &forth, &back, 9, 10, 11);
    both_give(op, sequence(&forth, time, false), sequence(&back, time, true), merges);
}

// Each filter keeps its last products with the input; its result is their product with its weights in time.
void holo_tf_svdf(HoloTfOp *op)
{
    Cell          cell = {.op = op, .x_w = 1, .is_shifted = holo_flat_u8(op->options, SVDF_ASYMMETRIC, 0) != 0};
    HoloTfTensor *t    = holo_tf_tensor_in(op, 4);
    int64_t       rank = holo_flat_i32(op->options, SVDF_RANK, 1), last = -1, minus[] = {-1};
    HoloValue    *x = holo_tf_real(op, 0), *time = holo_tf_real(op, 2), *kept = state_real(&cell, 4);
    if (!x || !time || !kept || !t || rank < 1 || time->type.rank != 2 || x->type.rank != 2) return;
    HoloDim filters = time->type.dim[0], memory = time->type.dim[1], batch = x->type.dim[0];
    if (holo_dim_is_symbolic(filters) || holo_dim_is_symbolic(memory) || filters % rank)
        return (void)holo_tf_fail(op, "its sizes are wrong");
    HoloValue *fresh = product(&cell, op, x, 1);
    // Integers are rounded to what is kept, and have no activation.
    bool is_whole = holo_tf_is_scaled(t);
    if (is_whole && fresh) fresh = holo_tf_dequantize(op, t, holo_tf_quantize(op, t, fresh), 0);
    kept = holo_emit_reshape(op->e, kept, (HoloDim[]){batch, filters, memory}, 3);
    kept = kept ? holo_emit_slice(op->e, kept, 2, 1, INT64_MAX, 1) : NULL;
    if (!fresh || !kept) return;
    kept            = holo_emit(op->e, "Concat", HOLO_IN(kept, holo_emit_unsqueeze(op->e, fresh, &last, 1)),
                                HOLO_ATTRS(holo_with_int("axis", 2)));
    HoloValue *y    = holo_tf_two(op, "Mul", kept, time);
    HoloValue *axes = holo_emit_ints(op->e, minus, 1);
    y = y ? holo_emit(op->e, "ReduceSum", HOLO_IN(y, axes), HOLO_ATTRS(holo_with_int("keepdims", 0))) : NULL;
    y = y ? holo_emit_reshape(op->e, y, (HoloDim[]){batch, filters / rank, rank}, 3) : NULL;
    y = y ? holo_emit(op->e, "ReduceSum", HOLO_IN(y, axes), HOLO_ATTRS(holo_with_int("keepdims", 0))) : NULL;
    if (holo_tf_has(op, 3)) y = sum(op, y, numbers(&cell, 3));
    holo_tf_state_write(
        op, t,
        holo_emit_reshape(op->e, kept, (HoloDim[]){batch, holo_dim_mul(op->e->graph->dims, filters, memory)}, 2));
    holo_tf_give_active(op, 0, y, is_whole ? 0 : holo_flat_i8(op->options, SVDF_ACTIVATION, 0));
}
