// openvino_control.c - If, Loop and TensorIterator, whose bodies are networks; and variables, which are states.
#include "import/openvino/openvino.h"

#include <stdlib.h>
#include <string.h>

// ---- bodies

typedef struct Body {
    HoloEmit  emit;
    HoloIrNet net;
    bool      is_begun;
} Body;

static bool body_begin(HoloIrCall *c, Body *b, const char *name)
{
    const HoloXml *xml = holo_xml_child(c->layer->xml, name);
    if (c->e->status) return false;
    if (!xml) return holo_emit_fail(c->e, HOLO_BAD_MODEL, "the %s layer has no %s", c->layer->type, name);
    holo_emit_begin_body(&b->emit, c->e, name);
    b->is_begun       = true;
    HoloStatus status = b->emit.status ? b->emit.status : holo_ir_net(c->net->ir, xml, &b->emit, &b->net);
    if (status && !c->e->status) c->e->status = status;
    return !c->e->status;
}

static void body_end(Body *b)
{
    if (b->is_begun) holo_emit_end(&b->emit);
}

static void take_status(HoloIrCall *c, const Body *b)
{
    if (b->is_begun && b->emit.status && !c->e->status) c->e->status = b->emit.status;
}

static HoloIrLayer *layer_by_id(const HoloIrNet *net, const char *id)
{
    for (int i = 0; id && i < net->count; i++) {
        const char *own = holo_xml_attr(net->layer[i]->xml, "id");
        if (own && !strcmp(own, id)) return net->layer[i];
    }
    return NULL;
}

// What a Result of a body gives.
static HoloValue *result_of(const HoloIrLayer *result)
{
    return result && result->in_count && result->from[0] ? result->from[0]->out[result->from_port[0]] : NULL;
}

// The index of an outer port among the layer's inputs, or its outputs.
static int port_index(const HoloIrCall *c, const char *side, const char *id)
{
    const HoloXml *ports = holo_xml_child(c->layer->xml, side), *port;
    int            at = 0, index = 0;
    for (; (port = holo_xml_next(ports, "port", &at)); index++) {
        const char *own = holo_xml_attr(port, "id");
        if (own && id && !strcmp(own, id)) return index;
    }
    return -1;
}

static void *wrong_map(HoloIrCall *c)
{
    return holo_emit_fail(c->e, HOLO_BAD_MODEL, "the port map of the %s layer names what there is not", c->layer->type);
}

// ---- If

static void fill_branch(HoloIrCall *c, Body *b, const char *name, const char *map, HoloValue **out)
{
    const HoloXml *ports, *row;
    int            at = 0;
    if (!body_begin(c, b, name)) return;
    ports = holo_xml_child(c->layer->xml, map);
    while ((row = holo_xml_next(ports, "input", &at)) && !c->e->status) {
        int          from = port_index(c, "input", holo_xml_attr(row, "external_port_id"));
        HoloIrLayer *to   = layer_by_id(&b->net, holo_xml_attr(row, "internal_layer_id"));
        if (from < 0 || !to) return (void)wrong_map(c);
        to->out[0] = holo_ir_in(c, from);
    }
    if (!c->e->status) holo_ir_emit(&b->net);
    take_status(c, b);
    for (at = 0; (row = holo_xml_next(ports, "output", &at)) && !c->e->status;) {
        int        to   = port_index(c, "output", holo_xml_attr(row, "external_port_id"));
        HoloValue *what = result_of(layer_by_id(&b->net, holo_xml_attr(row, "internal_layer_id")));
        if (to < 0 || !what) return (void)wrong_map(c);
        out[to] = what;
    }
}

MANY(branch)
{
    Body       yes = {0}, no = {0};
    HoloValue *a[HOLO_IR_PORTS] = {NULL}, *b[HOLO_IR_PORTS] = {NULL}, *condition = IN(0);
    int        count = c->layer->out_count;
    fill_branch(c, &yes, "then_body", "then_port_map", a);
    fill_branch(c, &no, "else_body", "else_port_map", b);
    for (int i = 0; i < count && !c->e->status; i++) {
        if (!a[i] || !b[i]) {
            wrong_map(c);
            break;
        }
        holo_emit_output(&yes.emit, a[i], NULL);
        holo_emit_output(&no.emit, b[i], NULL);
    }
    take_status(c, &yes);
    take_status(c, &no);
    if (!c->e->status)
        holo_emit_control(
            c->e, "If", HOLO_IN(holo_emit_reshape(c->e, holo_emit_cast(c->e, condition, HOLO_BOOL), NULL, 0)), NULL,
            (HoloEmitBody[]){{"then_branch", &yes.emit}, {"else_branch", &no.emit}, {0}}, c->layer->out, count);
    body_end(&yes);
    body_end(&no);
}

// ---- Loop and TensorIterator

typedef struct Port {                            // a row of the port map
    int          outer;                          // the index of the port outside; -1: there is none
    HoloIrLayer *layer;                          // inside
    int64_t      axis, start, end, stride, part; // axis -1: the whole tensor
    HoloIrLayer *next;                           // of an input: the result that it has in the next turn
} Port;

typedef struct Turns {
    Body         body;
    Port         in[HOLO_IR_PORTS], out[HOLO_IR_PORTS];
    int          in_count, out_count;
    HoloIrLayer *turn, *condition;     // of a Loop: the number of the turn; whether there is another
    HoloValue   *first[HOLO_IR_PORTS]; // what is carried, and its values inside
    HoloValue   *inside[HOLO_IR_PORTS];
    Port        *carried[HOLO_IR_PORTS];
    int          carried_count;
    HoloValue   *count; // of turns; NULL: the condition alone ends it
} Turns;

static int64_t number_of(const HoloXml *row, const char *name, int64_t fallback)
{
    const char *text = holo_xml_attr(row, name);
    return text ? strtoll(text, NULL, 10) : fallback;
}

static bool read_ports(HoloIrCall *c, Turns *t)
{
    const HoloXml *map   = holo_xml_child(c->layer->xml, "port_map"),
                  *edges = holo_xml_child(c->layer->xml, "back_edges"), *row;
    for (int side = 0; side < 2; side++) {
        Port *list  = side ? t->out : t->in;
        int  *count = side ? &t->out_count : &t->in_count, at = 0;
        while ((row = holo_xml_next(map, side ? "output" : "input", &at))) {
            const char *outer = holo_xml_attr(row, "external_port_id"), *purpose = holo_xml_attr(row, "purpose");
            Port p = {.outer  = outer && strcmp(outer, "-1") ? port_index(c, side ? "output" : "input", outer) : -1,
                      .layer  = layer_by_id(&t->body.net, holo_xml_attr(row, "internal_layer_id")),
                      .axis   = number_of(row, "axis", -1),
                      .start  = number_of(row, "start", 0),
                      .end    = number_of(row, "end", -1),
                      .stride = number_of(row, "stride", 1),
                      .part   = number_of(row, "part_size", 1)};
            if (!p.layer || *count == HOLO_IR_PORTS || p.axis < -1 || p.axis >= HOLO_MAX_RANK - 1) return wrong_map(c);
            if (purpose && !strcmp(purpose, "current_iteration")) t->turn = p.layer;
            if (purpose && !strcmp(purpose, "execution_condition")) t->condition = p.layer;
            if (purpose && *purpose && p.outer < 0) continue;
            if (p.outer < 0) return wrong_map(c);
            list[(*count)++] = p;
        }
    }
    for (int at = 0; (row = holo_xml_next(edges, "edge", &at));) {
        HoloIrLayer *from = layer_by_id(&t->body.net, holo_xml_attr(row, "from-layer")),
                    *to   = layer_by_id(&t->body.net, holo_xml_attr(row, "to-layer"));
        for (int i = 0; i < t->in_count; i++)
            if (t->in[i].layer == to) t->in[i].next = from;
        if (!from || !to) return wrong_map(c);
    }
    return !c->e->status;
}

// Slices of one element each, forwards or backwards, are all that is cut.
static bool is_plain(HoloIrCall *c, const Port *p)
{
    bool forwards = p->stride == 1 && p->start == 0 && p->end == -1,
         back     = p->stride == -1 && p->start == -1 && p->end == 0;
    if (p->axis < 0 || (p->part == 1 && (forwards || back))) return true;
    return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a %s that cuts tensors in other parts than single elements",
                          c->layer->type);
}

// Element `turn` of a tensor along its axis, or from the end; the dimension stays.
static HoloValue *part_of(Turns *t, const Port *p, HoloValue *x, HoloValue *turn)
{
    HoloEmit  *e   = &t->body.emit;
    int64_t    one = 1;
    HoloValue *at  = turn;
    if (p->stride < 0) at = holo_emit(e, "Sub", HOLO_IN(holo_emit_int(e, -1), turn), NULL);
    at = holo_emit_reshape(e, at, &one, 1);
    return holo_emit(e, "Gather", HOLO_IN(x, at), HOLO_ATTRS(holo_with_int("axis", p->axis)));
}

static void enter(HoloIrCall *c, Turns *t)
{
    HoloEmit  *e      = &t->body.emit;
    HoloTensor number = {.dtype = HOLO_I64}, truth = {.dtype = HOLO_BOOL};
    HoloValue *turn = holo_emit_input(e, "turn", &number);
    holo_emit_input(e, "condition", &truth);
    if (t->turn) t->turn->out[0] = holo_emit_cast(e, turn, HOLO_I64);
    for (int i = 0; i < t->in_count && !e->status && !c->e->status; i++) {
        Port      *p = &t->in[i];
        HoloValue *x = holo_ir_in(c, p->outer);
        if (!x || !is_plain(c, p)) return;
        if (p->next) {
            HoloTensor type               = x->type;
            type.data                     = NULL;
            t->first[t->carried_count]    = x;
            t->carried[t->carried_count]  = p;
            p->layer->out[0]              = holo_emit_input(e, p->layer->name, &type);
            t->inside[t->carried_count++] = p->layer->out[0];
        } else if (p->axis >= 0) {
            int64_t size;
            if (!t->count && holo_ir_size(x, (int)p->axis, &size)) t->count = holo_emit_int(c->e, size);
            if (!t->count)
                t->count = holo_emit_reshape(
                    c->e,
                    holo_emit(c->e, "Shape", HOLO_IN(x),
                              HOLO_ATTRS(holo_with_int("start", p->axis), holo_with_int("end", p->axis + 1))),
                    NULL, 0);
            p->layer->out[0] = part_of(t, p, x, turn);
        } else {
            p->layer->out[0] = x;
        }
    }
}

// Outputs of each turn are joined along their axis.
static HoloValue *joined(HoloIrCall *c, const Port *p, HoloValue *all)
{
    int     rank = holo_ir_rank(c, all); // [turns, ...], with a dimension of 1 at the axis
    int64_t perm[HOLO_MAX_RANK], axis = p->axis + 1;
    if (c->e->status) return NULL;
    if (p->stride < 0) all = holo_emit_slice(c->e, all, 0, -1, INT64_MIN + 1, -1);
    for (int i = 0; i < rank; i++) perm[i] = i < p->axis ? i + 1 : i == p->axis ? 0 : i;
    all  = holo_emit_squeeze(c->e, all, &axis, 1);
    rank = rank - 1;
    return holo_emit_transpose(c->e, all, perm, rank);
}

static void leave(HoloIrCall *c, Turns *t)
{
    HoloEmit  *e                     = &t->body.emit;
    HoloValue *in[HOLO_IR_PORTS + 2] = {t->count, NULL}, *y[2 * HOLO_IR_PORTS] = {NULL}, *again;
    int        n = t->carried_count;
    again        = t->condition ? holo_emit_reshape(e, holo_emit_cast(e, result_of(t->condition), HOLO_BOOL), NULL, 0)
                                : e->graph->inputs[1];
    holo_emit_output(e, again, NULL);
    for (int i = 0; i < n; i++) {
        HoloValue *next = result_of(t->carried[i]->next);
        if (!next) return (void)wrong_map(c);
        holo_emit_output(e, next, NULL);
        in[2 + i] = t->first[i];
    }
    for (int i = 0; i < t->out_count; i++) {
        HoloValue *value = result_of(t->out[i].layer);
        if (!value || !is_plain(c, &t->out[i])) return value ? (void)0 : (void)wrong_map(c);
        holo_emit_output(e, value, NULL); // what is not joined: the last of all
    }
    take_status(c, &t->body);
    if (c->e->status) return;
    holo_emit_control(c->e, "Loop", (HoloEmitIn){2 + n, in}, NULL, (HoloEmitBody[]){{"body", e}, {0}}, y,
                      n + t->out_count);
    for (int i = 0; i < t->out_count && !c->e->status; i++) {
        Port      *p   = &t->out[i];
        HoloValue *all = y[n + i];
        c->layer->out[p->outer] =
            p->axis >= 0 ? joined(c, p, all) : holo_emit(c->e, "Gather", HOLO_IN(all, holo_emit_int(c->e, -1)), NULL);
    }
}

MANY(turns)
{
    Turns *t = HOLO_NEW(c->net->ir->import->arena, Turns, 1);
    if (!t) return (void)holo_emit_fail(c->e, HOLO_NO_MEMORY, "there is not enough memory");
    if (body_begin(c, &t->body, "body") && read_ports(c, t)) {
        if (!strcmp(c->layer->type, "Loop")) { // inputs: how many turns, -1 for no end; whether there is a first
            double     known;
            HoloValue *most = holo_ir_in(c, 0);
            if (!(holo_emit_known_number(c->e, most, &known) && known < 0))
                t->count = holo_emit_reshape(c->e, holo_emit_cast(c->e, most, HOLO_I64), NULL, 0);
        }
        enter(c, t);
        take_status(c, &t->body);
        if (!c->e->status) holo_ir_emit(&t->body.net);
        take_status(c, &t->body);
        if (!c->e->status) leave(c, t);
    }
    body_end(&t->body);
}

// ---- variables

static HoloIrVariable *variable_of(HoloIrCall *c)
{
    HoloIr     *ir   = c->net->ir;
    const char *name = holo_ir_text(c, "variable_id", "");
    for (int i = 0; i < ir->variable_count; i++)
        if (!strcmp(ir->variable[i].name, name)) return &ir->variable[i];
    if (!HOLO_GROW(ir->import->arena, ir->variable, ir->variable_count, ir->variable_room))
        return holo_emit_fail(c->e, HOLO_NO_MEMORY, "there is not enough memory");
    ir->variable[ir->variable_count] = (HoloIrVariable){.name = name};
    return &ir->variable[ir->variable_count++];
}

static HoloValue *state_input(HoloIrCall *c, const char *name, const HoloTensor *like)
{
    HoloTensor type  = *like;
    type.data        = NULL;
    HoloValue *input = holo_emit_input(c->e, name, &type);
    if (input) {
        input->is_state = true;
        input->fill     = 1;
    }
    return input;
}

static bool is_zero(HoloIrCall *c, HoloValue *x)
{
    HoloTensor known = holo_emit_known(c->e, x);
    size_t     size  = known.data ? holo_tensor_bytes(&known) : 0;
    for (size_t i = 0; i < size; i++)
        if (((const char *)known.data)[i]) return false;
    return known.data != NULL;
}

// The first run sees the initial value, later ones what the run before assigned.
ONE(read_value)
{
    HoloIrVariable *v     = variable_of(c);
    HoloValue      *first = MAY(0);
    if (!v || c->e->status) return NULL;
    if (c->e->outer) return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a variable inside of a body");
    if (!first) return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a variable without an initial value");
    for (int i = 0; i < first->type.rank; i++)
        if (holo_dim_is_symbolic(first->type.dim[i]))
            return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "the variable %.100s has an open size", v->name);
    if (!v->state) {
        v->state  = state_input(c, v->name, &first->type);
        v->before = holo_emit(c->e, "hologram::StateRead", HOLO_IN(v->state), NULL);
    }
    if (is_zero(c, first)) return v->before;
    if (!c->net->ir->started) {
        HoloTensor      flag = {.dtype = HOLO_U8, .rank = 1, .dim = {1}};
        HoloIrVariable *own  = NULL;
        HoloIr         *ir   = c->net->ir;
        if (!HOLO_GROW(ir->import->arena, ir->variable, ir->variable_count, ir->variable_room)) return NULL;
        HoloValue *before                = v->before;
        ir->variable[ir->variable_count] = (HoloIrVariable){.name = "started"};
        own                              = &ir->variable[ir->variable_count++];
        own->state                       = state_input(c, "started", &flag);
        own->before                      = holo_emit(c->e, "hologram::StateRead", HOLO_IN(own->state), NULL);
        ir->started                      = holo_emit_cast(c->e, own->before, HOLO_BOOL);
        HoloValue *truth = first->type.rank ? ir->started : holo_emit_reshape(c->e, ir->started, NULL, 0);
        return holo_emit(c->e, "Where", HOLO_IN(truth, before, first), NULL);
    }
    HoloValue *truth = first->type.rank ? c->net->ir->started : holo_emit_reshape(c->e, c->net->ir->started, NULL, 0);
    return holo_emit(c->e, "Where", HOLO_IN(truth, v->before, first), NULL);
}

ONE(assign)
{
    HoloIrVariable *v = variable_of(c);
    HoloValue      *x = IN(0);
    if (!v || c->e->status) return NULL;
    if (!v->state || v->is_written)
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "the variable %.100s is assigned %s", v->name,
                              v->state ? "twice" : "before it is read");
    v->is_written = true;
    holo_emit(c->e, "hologram::StateWrite", HOLO_IN(v->state, x, v->before), NULL);
    return x;
}

const HoloIrOp holo_ir_controls[] = {
    {"If", NULL, branch, NULL},
    {"Loop", NULL, turns, NULL},
    {"TensorIterator", NULL, turns, NULL},
    {"ReadValue", read_value, NULL, NULL},
    {"Assign", assign, NULL, NULL},
    {0},
};
