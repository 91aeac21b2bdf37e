// script_flow.c - ifs and loops of scripts: run at once where they depend on what is known, else If and Loop.
//
// A body of the run is traced. Variables and attributes that it changes are joined behind an If. A loop carries them: it
// is traced until it is known what it changes, and what types that has.
#include "import/torch/script.h"

#include <string.h>

// ---- bodies

typedef struct Branch {
    HoloTorchBody     body;
    HoloScriptChange *outer; // changes of the body around it
    int               outer_count, outer_room;
    HoloScriptChange *after; // what changed in it, with what it became
    int               count;
    bool              is_raised;
    HoloTv            value; // of an expression
} Branch;

static void branch_enter(HoloScript *s, Branch *b, const char *name)
{
    *b = (Branch){.outer = s->change, .outer_count = s->change_count, .outer_room = s->change_room};
    holo_torch_enter(s->t, &b->body, name);
    s->change       = NULL;
    s->change_count = s->change_room = 0;
    s->is_raised                     = false;
}

static void branch_leave(HoloScript *s, Branch *b)
{
    b->after     = s->change;
    b->count     = s->change_count;
    b->is_raised = s->is_raised;
    for (int i = 0; i < b->count; i++) {
        HoloScriptVar now  = *b->after[i].place;
        *b->after[i].place = b->after[i].value;
        b->after[i].value  = now;
    }
    s->change       = b->outer;
    s->change_count = b->outer_count;
    s->change_room  = b->outer_room;
    s->is_raised    = false;
    holo_torch_leave(s->t, &b->body);
}

// What a place is after the branch.
static HoloScriptVar left(const Branch *b, HoloScriptVar *place)
{
    for (int i = 0; i < b->count; i++)
        if (b->after[i].place == place) return b->after[i].value;
    return *place;
}

// The value of something that was made in the branch, as this type; HOLO_NONE: as it is.
static HoloValue *value_in(HoloScript *s, Branch *b, HoloTv v, HoloDtype dtype)
{
    HoloTorch *t = s->t;
    HoloEmit  *e = t->e;
    if (e->status) return NULL;
    t->e = &b->body.emit;
    t->depth++;
    HoloValue *value = dtype ? holo_torch_scalar(t, &v, dtype) : holo_torch_value(t, &v);
    t->depth--;
    t->e = e;
    if (b->body.emit.status && !e->status) e->status = b->body.emit.status;
    return value;
}

// ---- if

typedef struct Slot { // a value that an If gives
    HoloTv *to;
    HoloTv  yes, no;
    bool    is_number;
} Slot;

typedef struct Joins {
    Slot *slot;
    int   count, room;
} Joins;

static bool is_value(const HoloTv *v)
{
    return v->kind == HOLO_TORCH_TENSOR || holo_tv_is_number(v);
}

static bool is_open(const HoloTv *v) // a variable without a value yet, on a way that does not use it
{
    return v->kind == HOLO_TORCH_NONE && v->i == 1;
}

// Joins two values; false: they cannot be.
static bool join(HoloScript *s, Joins *j, HoloTv yes, HoloTv no, HoloTv *to, int depth)
{
    if (holo_script_equal(&yes, &no)) return *to = yes, true;
    if (yes.kind == HOLO_TORCH_UNKNOWN || no.kind == HOLO_TORCH_UNKNOWN)
        return *to = yes.kind == HOLO_TORCH_UNKNOWN ? yes : no, true;
    if (is_open(&yes) && !is_value(&no)) return *to = no, true;
    if (is_open(&no) && !is_value(&yes)) return *to = yes, true;
    yes = holo_script_plain(s, yes);
    no  = holo_script_plain(s, no);
    if (holo_tv_is_list(&yes) && yes.kind == no.kind && yes.list->count == no.list->count && depth < 8 &&
        !yes.list->sequence && !no.list->sequence) {
        *to = holo_tv_list(s->t, yes.kind, yes.list->count, yes.list->item);
        for (int i = 0; i < yes.list->count && !s->t->e->status; i++)
            if (!join(s, j, yes.list->item[i], no.list->item[i], &to->list->item[i], depth + 1)) return false;
        return true;
    }
    bool is_pair = (is_value(&yes) || is_open(&yes)) && (is_value(&no) || is_open(&no));
    if (!is_pair || !HOLO_GROW(s->t->arena, j->slot, j->count, j->room)) return false;
    bool is_number      = yes.kind != HOLO_TORCH_TENSOR && no.kind != HOLO_TORCH_TENSOR;
    j->slot[j->count++] = (Slot){to, yes, no, is_number};
    return true;
}

static HoloDtype number_type(const HoloTv *v)
{
    if (v->kind == HOLO_TORCH_FLOAT) return HOLO_F64;
    if (v->kind == HOLO_TORCH_BOOL) return HOLO_BOOL;
    if (v->kind == HOLO_TORCH_NUMBER) return holo_emit_dtype(v->number);
    return HOLO_I64;
}

// A value for a variable that has none in a branch: zeros like the other branch's.
static HoloValue *blank(HoloScript *s, Branch *b, const HoloValue *like)
{
    HoloTensor type = like ? like->type : (HoloTensor){0};
    HoloEmit  *e    = &b->body.emit;
    for (int i = 0; i < type.rank; i++)
        if (holo_dim_is_symbolic(type.dim[i])) type.dim[i] = 1;
    HoloValue *zero = holo_emit_number(e, type.dtype ? (HoloDtype)type.dtype : HOLO_F32, 0);
    HoloValue *all =
        type.rank > 0 ? holo_emit(e, "Expand", HOLO_IN(zero, holo_emit_ints(e, type.dim, type.rank)), NULL) : zero;
    if (e->status && !s->t->e->status) s->t->e->status = e->status;
    return all;
}

static void emit_if(HoloScript *s, HoloValue *condition, Branch *yes, Branch *no, Joins *j)
{
    HoloTorch  *t = s->t;
    HoloValue **a = HOLO_NEW(t->arena, HoloValue *, j->count + 1), **b = HOLO_NEW(t->arena, HoloValue *, j->count + 1),
              **y = HOLO_NEW(t->arena, HoloValue *, j->count + 1);
    if (!a || !b || !y) return (void)holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int i = 0; i < j->count && !t->e->status; i++) {
        Slot     *slot  = &j->slot[i];
        HoloDtype dtype = HOLO_NONE;
        if (slot->is_number) {
            HoloDtype p = number_type(is_open(&slot->yes) ? &slot->no : &slot->yes),
                      q = number_type(is_open(&slot->no) ? &slot->yes : &slot->no);
            dtype       = p == HOLO_F64 || q == HOLO_F64 ? HOLO_F64 : p == q ? p : HOLO_I64;
        }
        a[i] = is_open(&slot->yes) ? NULL : value_in(s, yes, slot->yes, dtype);
        b[i] = is_open(&slot->no) ? NULL : value_in(s, no, slot->no, dtype);
        if (is_open(&slot->yes)) a[i] = blank(s, yes, b[i]);
        if (is_open(&slot->no)) b[i] = blank(s, no, a[i]);
    }
    holo_torch_if(t, condition, &yes->body, &no->body, a, b, j->count, y);
    for (int i = 0; i < j->count && !t->e->status; i++) {
        if (j->slot[i].is_number)
            *j->slot[i].to = holo_tv_number(t, y[i]);
        else
            *j->slot[i].to = holo_tv_tensor(t, y[i]);
    }
}

// Joins all places that either branch changed. A variable that cannot be joined has no value behind the if.
static void join_places(HoloScript *s, HoloValue *condition, Branch *yes, Branch *no)
{
    Joins           j    = {0};
    int             room = yes->count + no->count, count = 0;
    HoloScriptVar **place = HOLO_NEW(s->t->arena, HoloScriptVar *, room + 1),
                  *now    = HOLO_NEW(s->t->arena, HoloScriptVar, room + 1);
    if (!place || !now) return (void)holo_emit_fail(s->t->e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int i = 0; i < room; i++) {
        HoloScriptVar *p       = i < yes->count ? yes->after[i].place : no->after[i - yes->count].place;
        bool           is_seen = false;
        for (int k = 0; k < count; k++) is_seen |= place[k] == p;
        if (is_seen) continue;
        HoloScriptVar a = left(yes, p), b = left(no, p);
        place[count]      = p;
        now[count].is_set = a.is_set && b.is_set && join(s, &j, a.value, b.value, &now[count].value, 0);
        count++;
    }
    emit_if(s, condition, yes, no, &j);
    for (int i = 0; i < count && !s->t->e->status; i++) {
        holo_script_assign(s, place[i], now[i].value);
        place[i]->is_set = now[i].is_set;
    }
}

static void run_if(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    HoloValue *condition;
    HoloTv     c     = holo_script_eval(s, frame, node->child[0]);
    int        truth = holo_script_truth(s, c, &condition);
    if (s->t->e->status) return;
    if (truth > 0) return holo_script_block(s, frame, node->child[1]);
    if (truth == 0) {
        if (node->count > 2) holo_script_block(s, frame, node->child[2]);
        return;
    }
    Branch yes, no;
    bool   had = frame->result.is_set;
    branch_enter(s, &yes, "then");
    holo_script_block(s, frame, node->child[1]);
    branch_leave(s, &yes);
    branch_enter(s, &no, "else");
    if (node->count > 2) holo_script_block(s, frame, node->child[2]);
    branch_leave(s, &no);
    bool one_returns = left(&yes, &frame->result).is_set != left(&no, &frame->result).is_set;
    if (s->t->e->status) {
    } else if (yes.is_raised || no.is_raised) { // the way that raises is not for inputs that have an answer
        if (!yes.is_raised || !no.is_raised) {
            if (!yes.is_raised) holo_script_block(s, frame, node->child[1]);
            if (!no.is_raised && node->count > 2) holo_script_block(s, frame, node->child[2]);
        } else {
            s->is_raised = true;
        }
    } else if (one_returns && !had) {
        holo_script_fail(s, frame, node->line,
                         "a function returns inside of an if that depends on the data of the run");
    } else {
        join_places(s, condition, &yes, &no);
    }
    holo_emit_end(&yes.body.emit);
    holo_emit_end(&no.body.emit);
}

HoloTv holo_script_choice(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    HoloValue *condition;
    HoloTv     c     = holo_script_eval(s, frame, node->child[1]);
    int        truth = holo_script_truth(s, c, &condition);
    if (s->t->e->status) return (HoloTv){0};
    if (truth >= 0) return holo_script_eval(s, frame, node->child[truth ? 0 : 2]);
    Branch side[2];
    HoloTv value[2], out = {0};
    Joins  j = {0};
    for (int i = 0; i < 2; i++) {
        branch_enter(s, &side[i], i ? "else" : "then");
        value[i] = holo_script_eval(s, frame, node->child[i ? 2 : 0]);
        branch_leave(s, &side[i]);
    }
    if (!s->t->e->status && !join(s, &j, value[0], value[1], &out, 0))
        holo_script_fail(s, frame, node->line, "a choice between %s and %s", holo_tv_kind(&value[0]),
                         holo_tv_kind(&value[1]));
    if (!s->t->e->status && j.count) emit_if(s, condition, &side[0], &side[1], &j);
    for (int i = 0; i < 2; i++) holo_emit_end(&side[i].body.emit);
    return out;
}

// ---- loops of the run

typedef struct Carry {
    HoloScriptVar   *place;  // a variable or an attribute,
    HoloTorchTensor *tensor; // a tensor that is written to,
    HoloTorchList   *list;   // or a list that grows
    HoloValue       *first;  // outside
    HoloTensor       type;   // UNKNOWN sizes: they differ from turn to turn
    bool             is_number;
    HoloTv           inside; // in the body
    HoloValue       *next;   // at its end
} Carry;

typedef struct Loop {
    HoloScriptFrame      *frame;
    const HoloScriptNode *node;        // WHILE or FOR
    HoloTv                start, step; // of a FOR
    HoloValue            *turns, *begin, *again;
    Carry                *carry;
    int                   count, room;
    Branch                body;
} Loop;

static Carry *add_carry(HoloScript *s, Loop *l, Carry carry)
{
    if (!HOLO_GROW(s->t->arena, l->carry, l->count, l->room))
        return holo_emit_fail(s->t->e, HOLO_NO_MEMORY, "there is not enough memory");
    carry.type         = carry.first ? carry.first->type : (HoloTensor){.rank = -1};
    carry.type.data    = NULL;
    l->carry[l->count] = carry;
    return &l->carry[l->count++];
}

static HoloValue *first_sequence(HoloScript *s, HoloTorchList *list)
{
    HoloTv v = {.kind = HOLO_TORCH_LIST, .list = list};
    int    count;
    if (list->sequence) return list->sequence;
    if (!list->count)
        return holo_emit(s->t->e, "SequenceEmpty", (HoloEmitIn){0},
                         HOLO_ATTRS(holo_with_int("dtype", list->grows_by ? list->grows_by : HOLO_F32)));
    if (list->numbers) {
        HoloValue **number = HOLO_NEW(s->t->arena, HoloValue *, list->count);
        for (int i = 0; number && i < list->count; i++)
            number[i] = holo_torch_scalar(s->t, &list->item[i], list->numbers);
        return number ? holo_emit(s->t->e, "SequenceConstruct", (HoloEmitIn){list->count, number}, NULL) : NULL;
    }
    HoloValue **x = holo_torch_values(s->t, &v, &count);
    return holo_emit(s->t->e, "SequenceConstruct", (HoloEmitIn){count, x}, NULL);
}

// The inputs of the body, and what is carried gets their values.
static void enter_body(HoloScript *s, Loop *l)
{
    HoloTorch *t      = s->t;
    HoloTensor number = {.dtype = HOLO_I64}, truth = {.dtype = HOLO_BOOL};
    branch_enter(s, &l->body, "body");
    HoloValue *turn = holo_emit_input(t->e, "turn", &number);
    holo_emit_input(t->e, "condition", &truth);
    for (int i = 0; i < l->count && !t->e->status; i++) {
        Carry     *c    = &l->carry[i];
        HoloTensor type = c->type; // its UNKNOWN sizes become symbols
        HoloValue *in   = holo_emit_input(t->e, c->first->name, &type);
        if (c->list) {
            c->list->sequence = in;
            continue;
        }
        c->inside = c->is_number ? (HoloTv){.kind = HOLO_TORCH_NUMBER, .number = in} : holo_tv_tensor(t, in);
        if (c->place) holo_script_assign(s, c->place, c->inside);
        if (c->tensor) holo_torch_write(t, c->tensor, in);
    }
    if (l->node->kind == HOLO_SCRIPT_WHILE || t->e->status) return;
    HoloTv index = {.kind = HOLO_TORCH_NUMBER, .number = turn}, some = {0};
    holo_torch_numbers(t, "mul", (HoloTv[]){index, l->step}, 2, &some);
    holo_torch_numbers(t, "add", (HoloTv[]){some, l->start}, 2, &index);
    holo_script_target(s, l->frame, l->node->child[0], index);
}

// Is a type that is carried also right for what comes out? If not, it becomes wider.
static bool widen(Carry *c)
{
    const HoloTensor *now     = &c->next->type;
    bool              is_same = true;
    if (c->list || c->type.rank < 0) return true;
    if (now->rank != c->type.rank) {
        c->type.rank = -1;
        return false;
    }
    for (int d = 0; d < c->type.rank; d++) {
        if (c->type.dim[d] == HOLO_DIM_UNKNOWN || c->type.dim[d] == now->dim[d]) continue;
        c->type.dim[d] = HOLO_DIM_UNKNOWN;
        is_same        = false;
    }
    return is_same;
}

// Traces the body once. True: what it carries is complete.
static bool trace(HoloScript *s, Loop *l)
{
    HoloTorch *t       = s->t;
    bool       is_done = true, was_trial = s->is_trial;
    int        known = l->count, grown = s->grown_count;
    HoloValue *again = NULL;
    enter_body(s, l);
    s->is_trial = true;
    if (!t->e->status) holo_script_block(s, l->frame, l->node->child[l->node->kind == HOLO_SCRIPT_FOR ? 2 : 1]);
    s->is_trial = was_trial;
    if (!t->e->status && l->node->kind == HOLO_SCRIPT_WHILE &&
        holo_script_truth(s, holo_script_eval(s, l->frame, l->node->child[0]), &again) >= 0 && !t->e->status)
        again = holo_emit_number(t->e, HOLO_BOOL,
                                 holo_script_truth(s, holo_script_eval(s, l->frame, l->node->child[0]), &again));
    l->again = again;
    for (int i = 0; i < known && !t->e->status; i++) {
        Carry *c   = &l->carry[i];
        HoloTv now = c->place ? c->place->value : c->inside;
        c->next    = c->list        ? c->list->sequence
                     : c->tensor    ? holo_torch_read(t, c->tensor)
                     : c->is_number ? holo_torch_scalar(t, &now, (HoloDtype)c->type.dtype)
                                    : holo_torch_value(t, &now);
        if (c->next && !c->list && c->type.dtype) c->next = holo_emit_cast(t->e, c->next, (HoloDtype)c->type.dtype);
    }
    branch_leave(s, &l->body);
    for (int i = 0; i < known && !t->e->status; i++)
        if (l->carry[i].next) is_done &= widen(&l->carry[i]);
    for (int i = 0; i < l->body.count && !t->e->status; i++) { // places that were not carried yet
        HoloScriptVar *place    = l->body.after[i].place;
        bool           is_known = !place->is_set || holo_script_equal(&place->value, &l->body.after[i].value.value) ||
                        place == &l->frame->result;
        for (int k = 0; k < known; k++) is_known |= l->carry[k].place == place;
        if (is_known) continue;
        is_done        = false;
        bool is_number = holo_tv_is_number(&place->value);
        if (!is_number && place->value.kind != HOLO_TORCH_TENSOR) {
            place->is_set = false; // it is not carried: who reads it before the loop sets it again is told
            continue;
        }
        HoloValue *first = is_number ? holo_torch_scalar(t, &place->value, number_type(&place->value))
                                     : holo_torch_value(t, &place->value);
        add_carry(s, l, (Carry){.place = place, .first = first, .is_number = is_number});
    }
    for (int i = 0; i < l->body.body.changed_count && !t->e->status; i++) {
        HoloTorchTensor *tensor   = l->body.body.changed[i].tensor;
        bool             is_known = false;
        for (int k = 0; k < known; k++) is_known |= l->carry[k].tensor == tensor;
        if (is_known) continue;
        is_done = false;
        add_carry(s, l, (Carry){.tensor = tensor, .first = holo_torch_read(t, tensor)});
    }
    for (int i = grown; i < s->grown_count && !t->e->status; i++) {
        is_done  = false;
        Carry *c = add_carry(s, l, (Carry){.list = s->grown[i], .first = first_sequence(s, s->grown[i])});
        if (c && c->first) c->type = c->first->type;
    }
    s->grown_count = grown;
    return is_done;
}

static void emit_loop(HoloScript *s, Loop *l)
{
    HoloTorch  *t  = s->t;
    HoloEmit   *e  = &l->body.body.emit;
    HoloValue **in = HOLO_NEW(t->arena, HoloValue *, l->count + 2), **y = HOLO_NEW(t->arena, HoloValue *, l->count + 1);
    if (!in || !y) return (void)holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    holo_emit_output(e, l->again ? l->again : e->graph->inputs[1], NULL);
    in[0] = l->turns;
    in[1] = l->begin;
    for (int i = 0; i < l->count; i++) {
        holo_emit_output(e, l->carry[i].next, NULL);
        in[2 + i] = l->carry[i].first;
    }
    holo_emit_control(t->e, "Loop", (HoloEmitIn){2 + l->count, in}, NULL, (HoloEmitBody[]){{"body", e}, {0}}, y,
                      l->count);
    for (int i = 0; i < l->count && !t->e->status; i++) {
        Carry *c = &l->carry[i];
        if (c->list) c->list->sequence = y[i];
        if (c->tensor) holo_torch_write(t, c->tensor, y[i]);
        if (c->place)
            holo_script_assign(s, c->place,
                               c->is_number ? (HoloTv){.kind = HOLO_TORCH_NUMBER, .number = y[i]}
                                            : holo_tv_tensor(t, y[i]));
    }
}

static void run_open_loop(HoloScript *s, Loop *l)
{
    enum { TRIES = 12 };
    bool is_done = false;
    for (int i = 0; i < TRIES && !is_done && !s->t->e->status; i++) {
        HoloTorchList *lists[64];
        HoloValue     *before[64];
        int            count = 0;
        for (int k = 0; k < l->count && count < 64; k++)
            if (l->carry[k].list) {
                lists[count]    = l->carry[k].list;
                before[count++] = l->carry[k].list->sequence;
            }
        is_done = trace(s, l);
        for (int k = 0; k < count; k++) lists[k]->sequence = before[k];
        if (is_done && !s->t->e->status) emit_loop(s, l);
        holo_emit_end(&l->body.body.emit);
    }
    if (!is_done) holo_script_fail(s, l->frame, l->node->line, "the types that this loop carries do not settle");
}

// ---- loops

static void run_while(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    while (!s->t->e->status && !frame->result.is_set && !s->is_raised) {
        HoloValue *condition;
        int        truth = holo_script_truth(s, holo_script_eval(s, frame, node->child[0]), &condition);
        if (s->t->e->status || truth == 0) return;
        if (truth < 0) {
            Loop l = {.frame = frame, .node = node, .begin = condition};
            run_open_loop(s, &l);
            return;
        }
        holo_script_block(s, frame, node->child[1]);
    }
}

// range(n), range(a, b), range(a, b, c). False: the node is no such call.
static bool range_of(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node, HoloTv *bounds)
{
    const HoloScriptNode *callee = node->kind == HOLO_SCRIPT_CALL ? node->child[0] : NULL;
    if (!callee || callee->kind != HOLO_SCRIPT_NAME || !holo_script_text_is(callee->text, "range") || node->count < 2 ||
        node->count > 4)
        return false;
    HoloTv given[3];
    for (int i = 0; i + 1 < node->count; i++) given[i] = holo_script_eval(s, frame, node->child[i + 1]);
    bounds[0] = node->count == 2 ? holo_tv_int(0) : given[0];
    bounds[1] = node->count == 2 ? given[0] : given[1];
    bounds[2] = node->count == 4 ? given[2] : holo_tv_int(1);
    return true;
}

static void run_range(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node, const HoloTv *b)
{
    HoloTorch *t        = s->t;
    bool       is_known = true;
    for (int i = 0; i < 3; i++) is_known &= b[i].kind == HOLO_TORCH_INT || b[i].kind == HOLO_TORCH_BOOL;
    if (is_known && !b[2].i) return holo_script_fail(s, frame, node->line, "a range with a step of 0");
    if (is_known) {
        for (int64_t i = b[0].i;
             (b[2].i > 0 ? i < b[1].i : i > b[1].i) && !t->e->status && !frame->result.is_set && !s->is_raised;
             i += b[2].i) {
            holo_script_target(s, frame, node->child[0], holo_tv_int(i));
            holo_script_block(s, frame, node->child[2]);
        }
        return;
    }
    // how many turns: (end - start + step - 1) // step
    HoloTv count = b[1];
    if (b[2].kind != HOLO_TORCH_INT || b[2].i < 1)
        return holo_script_fail(s, frame, node->line, "a range with a step that only a run knows, or below 1");
    holo_torch_numbers(t, "sub", (HoloTv[]){count, b[0]}, 2, &count);
    if (b[2].i != 1) {
        holo_torch_numbers(t, "add", (HoloTv[]){count, holo_tv_int(b[2].i - 1)}, 2, &count);
        holo_torch_numbers(t, "floordiv", (HoloTv[]){count, b[2]}, 2, &count);
    }
    Loop l  = {.frame = frame, .node = node, .start = b[0], .step = b[2]};
    l.turns = holo_torch_scalar(t, &count, HOLO_I64);
    run_open_loop(s, &l);
}

static void run_for(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    HoloTv bounds[3];
    if (range_of(s, frame, node->child[1], bounds)) {
        if (!s->t->e->status) run_range(s, frame, node, bounds);
        return;
    }
    HoloTv list = holo_script_plain(s, holo_script_eval(s, frame, node->child[1]));
    if (s->t->e->status) return;
    if (!holo_tv_is_list(&list) || list.list->sequence)
        return holo_script_fail(s, frame, node->line, "a loop over %s", holo_tv_kind(&list));
    for (int i = 0; i < list.list->count && !s->t->e->status && !frame->result.is_set && !s->is_raised; i++) {
        holo_script_target(s, frame, node->child[0], list.list->item[i]);
        holo_script_block(s, frame, node->child[2]);
    }
}

void holo_script_flow(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    if (node->kind == HOLO_SCRIPT_IF)
        run_if(s, frame, node);
    else if (node->kind == HOLO_SCRIPT_WHILE)
        run_while(s, frame, node);
    else
        run_for(s, frame, node);
}
