// pt2_higher.c - operators that take graphs: cond, while_loop, map, scan, and wrappers.
#include "import/torch/aten.h"
#include "import/torch/pt2.h"

#include <string.h>

enum { VALUES_MAX = 256 };

// Values of a list one by one.
static int unpack(HoloTorch *t, const HoloTv *v, HoloTv *out, int room)
{
    int count = holo_tv_is_list(v) ? v->list->count : 0;
    if (!holo_tv_is_list(v) || count > room) {
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a graph takes %s, or too many values", holo_tv_kind(v));
        return 0;
    }
    for (int i = 0; i < count; i++) out[i] = v->list->item[i];
    return count;
}

// The values of a tuple; numbers as tensors without dimensions.
static int values_of(HoloTorch *t, const HoloTv *tuple, HoloValue **out)
{
    int count = tuple->list ? tuple->list->count : 0;
    if (count > VALUES_MAX) holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a graph gives too many values");
    for (int i = 0; i < count && !t->e->status; i++) out[i] = holo_torch_value(t, &tuple->list->item[i]);
    return t->e->status ? 0 : count;
}

// ---- cond(condition, yes, no, operands)

static void run_body(HoloPt2 *p, HoloTorchBody *body, const char *name, const json_t *graph, const HoloTv *in,
                     int count, HoloValue **out, int *out_count)
{
    HoloTorch *t      = &p->torch;
    HoloTv     result = {0};
    holo_torch_enter(t, body, name);
    holo_pt2_graph(p, graph, in, count, &result);
    *out_count = t->e->status ? 0 : values_of(t, &result, out);
    holo_torch_leave(t, body);
}

static void cond(HoloPt2 *p, const HoloTv *args, int count, HoloTv *out)
{
    HoloTorch *t = &p->torch;
    HoloTv     in[VALUES_MAX];
    double     known;
    if (count < 4 || args[1].kind != HOLO_TORCH_GRAPH || args[2].kind != HOLO_TORCH_GRAPH) {
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "cond without its graphs");
        return;
    }
    int        given     = unpack(t, &args[3], in, VALUES_MAX);
    HoloValue *condition = holo_torch_value(t, &args[0]);
    if (t->e->status) return;
    if (holo_emit_known_number(t->e, condition, &known)) {
        holo_pt2_graph(p, args[known != 0 ? 1 : 2].graph, in, given, out);
        return;
    }
    HoloTorchBody yes, no;
    HoloValue    *a[VALUES_MAX], *b[VALUES_MAX], *y[VALUES_MAX];
    int           a_count, b_count;
    run_body(p, &yes, "then", args[1].graph, in, given, a, &a_count);
    run_body(p, &no, "else", args[2].graph, in, given, b, &b_count);
    if (!t->e->status && a_count != b_count)
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "the graphs of cond give different numbers of values");
    holo_torch_if(t, holo_torch_scalar_of(t, condition), &yes, &no, a, b, a_count, y);
    if (!t->e->status) *out = holo_torch_tuple(t, a_count, y);
    holo_emit_end(&yes.emit);
    holo_emit_end(&no.emit);
}

// ---- loops

typedef struct Loop {
    HoloTorchBody body;
    HoloValue    *turn, *condition;
    HoloTv        carried[VALUES_MAX];
    HoloValue    *first[VALUES_MAX]; // outside
    int           count;
} Loop;

// Enters the body of a Loop that carries values.
static void loop_enter(HoloTorch *t, Loop *l, const HoloTv *carried, int count)
{
    HoloTensor number = {.dtype = HOLO_I64}, truth = {.dtype = HOLO_BOOL};
    l->count = count;
    for (int i = 0; i < count; i++) l->first[i] = holo_torch_value(t, &carried[i]);
    holo_torch_enter(t, &l->body, "body");
    l->turn      = holo_emit_input(t->e, "turn", &number);
    l->condition = holo_emit_input(t->e, "condition", &truth);
    for (int i = 0; i < count && !t->e->status; i++) {
        HoloTensor type = l->first[i]->type;
        type.data       = NULL;
        HoloValue *in   = holo_emit_input(t->e, l->first[i]->name, &type);
        l->carried[i]   = carried[i].kind == HOLO_TORCH_TENSOR ? holo_tv_tensor(t, in)
                                                               : (HoloTv){.kind = HOLO_TORCH_NUMBER, .number = in};
    }
}

// Leaves it: it gives a condition (NULL: always true), the carried values, and values of each turn.
static void loop_leave(HoloTorch *t, Loop *l, HoloValue *count, HoloValue *begin, HoloValue *again,
                       HoloValue *const *next, int each, HoloValue **y)
{
    holo_emit_output(t->e, again ? again : l->condition, NULL);
    for (int i = 0; i < l->count + each && !t->e->status; i++)
        holo_emit_output(
            t->e, i < l->count ? holo_emit_cast(t->e, next[i], (HoloDtype)l->first[i]->type.dtype) : next[i], NULL);
    holo_torch_leave(t, &l->body);
    HoloValue *in[VALUES_MAX + 2] = {count, begin};
    for (int i = 0; i < l->count; i++) in[2 + i] = l->first[i];
    if (l->body.changed_count && !t->e->status)
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a loop writes to tensors from outside of it");
    holo_emit_control(t->e, "Loop", (HoloEmitIn){2 + l->count, in}, NULL,
                      (HoloEmitBody[]){{"body", &l->body.emit}, {0}}, y, l->count + each);
    holo_emit_end(&l->body.emit);
}

static HoloValue *condition_of(HoloPt2 *p, const json_t *graph, const HoloTv *in, int count)
{
    HoloTv     result = {0};
    HoloValue *y[VALUES_MAX];
    holo_pt2_graph(p, graph, in, count, &result);
    if (p->torch.e->status || values_of(&p->torch, &result, y) != 1)
        return holo_emit_fail(p->torch.e, HOLO_BAD_MODEL, "while_loop without a condition");
    return holo_torch_scalar_of(&p->torch, holo_emit_cast(p->torch.e, y[0], HOLO_BOOL));
}

// while_loop(condition, body, carried, others)
static void while_loop(HoloPt2 *p, const HoloTv *args, int count, HoloTv *out)
{
    HoloTorch *t = &p->torch;
    HoloTv     in[VALUES_MAX * 2], result = {0};
    HoloValue *next[VALUES_MAX], *y[VALUES_MAX];
    if (count < 3 || args[0].kind != HOLO_TORCH_GRAPH || args[1].kind != HOLO_TORCH_GRAPH) {
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "while_loop without its graphs");
        return;
    }
    int carried      = unpack(t, &args[2], in, VALUES_MAX),
        more         = count > 3 ? unpack(t, &args[3], in + carried, VALUES_MAX) : 0;
    HoloValue *begin = condition_of(p, args[0].graph, in, carried + more);
    if (t->e->status) return;
    Loop l;
    loop_enter(t, &l, in, carried);
    for (int i = 0; i < carried; i++) in[i] = l.carried[i];
    holo_pt2_graph(p, args[1].graph, in, carried + more, &result);
    int given = t->e->status ? 0 : values_of(t, &result, next);
    if (!t->e->status && given != carried)
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "the body of while_loop gives %d values, not %d", given, carried);
    for (int i = 0; i < given && !t->e->status; i++) in[i] = result.list->item[i];
    HoloValue *again = condition_of(p, args[0].graph, in, carried + more);
    loop_leave(t, &l, NULL, begin, again, next, 0, y);
    if (!t->e->status) *out = holo_torch_tuple(t, carried, y);
}

// map(body, rows, others) and scan(body, carried, rows, others): the body is run for each row.
static void over_rows(HoloPt2 *p, const json_t *graph, const HoloTv *carried_list, const HoloTv *rows_list,
                      const HoloTv *more_list, HoloTv *out)
{
    HoloTorch *t = &p->torch;
    HoloTv     carried[VALUES_MAX], rows[VALUES_MAX], in[VALUES_MAX * 3], result = {0};
    HoloValue *next[VALUES_MAX], *y[VALUES_MAX], *table[VALUES_MAX];
    int        held = carried_list ? unpack(t, carried_list, carried, VALUES_MAX) : 0,
        across = unpack(t, rows_list, rows, VALUES_MAX), used = 0;
    if (!t->e->status && !across) holo_emit_fail(t->e, HOLO_BAD_MODEL, "a map over nothing");
    for (int i = 0; i < across && !t->e->status; i++) table[i] = holo_torch_value(t, &rows[i]);
    if (t->e->status) return;
    HoloValue *turns = holo_torch_scalar_of(t, holo_torch_dim(t, table[0], 0));
    Loop       l;
    loop_enter(t, &l, carried, held);
    for (int i = 0; i < held; i++) in[used++] = l.carried[i];
    for (int i = 0; i < across; i++) in[used++] = holo_tv_tensor(t, holo_torch_gather(t, table[i], l.turn, 0));
    if (more_list) used += unpack(t, more_list, in + used, VALUES_MAX);
    holo_pt2_graph(p, graph, in, used, &result);
    int given = t->e->status ? 0 : values_of(t, &result, next);
    if (!t->e->status && given < held) holo_emit_fail(t->e, HOLO_BAD_MODEL, "the body of a scan gives too few values");
    loop_leave(t, &l, turns, NULL, NULL, next, given - held, y);
    if (!t->e->status) *out = holo_torch_tuple(t, given, y);
}

static void map(HoloPt2 *p, const HoloTv *args, int count, HoloTv *out)
{
    if (count < 2 || args[0].kind != HOLO_TORCH_GRAPH) {
        holo_emit_fail(p->torch.e, HOLO_BAD_MODEL, "map without its graph");
        return;
    }
    over_rows(p, args[0].graph, NULL, &args[1], count > 2 ? &args[2] : NULL, out);
}

static void scan(HoloPt2 *p, const HoloTv *args, int count, HoloTv *out)
{
    if (count < 3 || args[0].kind != HOLO_TORCH_GRAPH) {
        holo_emit_fail(p->torch.e, HOLO_BAD_MODEL, "scan without its graph");
        return;
    }
    const HoloTv *more = NULL; // behind the dimension and the direction, which PyTorch 2.6 has there
    for (int i = 3; i < count; i++) {
        if (holo_tv_is_list(&args[i])) more = &args[i];
        if ((args[i].kind == HOLO_TORCH_INT || args[i].kind == HOLO_TORCH_BOOL) && args[i].i) {
            holo_emit_fail(p->torch.e, HOLO_UNSUPPORTED,
                           "scan along another dimension than the first, or backwards: turn its input around before");
            return;
        }
    }
    over_rows(p, args[0].graph, &args[1], &args[2], more, out);
}

// Wrappers: a graph, and what follows it are its values.
static void wrapper(HoloPt2 *p, const HoloTv *args, int count, HoloTv *out)
{
    HoloTorch *t = &p->torch;
    for (int i = 0; i < count; i++) {
        if (args[i].kind != HOLO_TORCH_GRAPH) continue;
        int first = i + 1;
        if (first < count && args[first].kind == HOLO_TORCH_TEXT) first++; // invoke_subgraph has a name
        if (first + 1 == count && holo_tv_is_list(&args[first])) {
            holo_pt2_graph(p, args[i].graph, args[first].list->item, args[first].list->count, out);
            return;
        }
        holo_pt2_graph(p, args[i].graph, args + first, count - first, out);
        return;
    }
    holo_emit_fail(t->e, HOLO_BAD_MODEL, "an operator without its graph");
}

static const struct {
    const char *name;
    void (*run)(HoloPt2 *p, const HoloTv *args, int count, HoloTv *out);
} operators[] = {
    {"cond", cond},
    {"while_loop", while_loop},
    {"map_impl", map},
    {"map", map},
    {"scan", scan},
    {"wrap_with_set_grad_enabled", wrapper},
    {"wrap_with_autocast", wrapper},
    {"invoke_subgraph", wrapper},
    {"wrap", wrapper},
    {"hints_wrapper", wrapper},
    {"tag_activation_checkpoint", wrapper},
    {"wrap_activation_checkpoint", wrapper},
    {"strict_mode", wrapper},
};

bool holo_pt2_higher(HoloPt2Scope *scope, const char *name, const HoloTv *args, int count, HoloTv *out)
{
    for (int i = 0; i < HOLO_COUNT(operators); i++) {
        if (strcmp(operators[i].name, name)) continue;
        operators[i].run(scope->pt2, args, count, out);
        return true;
    }
    return false;
}
