// tf_scope.c - computes values of nodes on demand, and inlines functions. See tf.h.
#include "import/tensorflow/tf.h"

HoloStatus holo_flow_scope_init(HoloFlow *tf, HoloFlowScope *scope, const HoloFlowNodes *nodes, HoloEmit *e)
{
    scope->tf        = tf;
    scope->e         = e;
    scope->nodes     = nodes;
    scope->out       = HOLO_NEW(tf->arena, HoloFlowValue *, nodes->count + 1);
    scope->out_count = HOLO_NEW(tf->arena, int, nodes->count + 1);
    scope->state     = HOLO_NEW(tf->arena, uint8_t, nodes->count + 1);
    if (!scope->prefix) scope->prefix = "";
    return scope->out && scope->out_count && scope->state ? HOLO_OK : holo_fail_memory(tf->error);
}

// ---- references

// The argument of the function that the name is; NULL: it is none.
static HoloFlowValue *argument(const HoloFlowScope *s, HoloString name)
{
    if (!s->function) return NULL;
    for (int i = 0; i < s->function->arg_count; i++)
        if (s->function->arg[i].size == name.size && !memcmp(s->function->arg[i].data, name.data, name.size))
            return &s->arg[i];
    return NULL;
}

// The place of an output of a node: by the names that its row has, if functions refer to it by name.
static int64_t output_place(const HoloFlowNode *node, const HoloFlowRef *ref)
{
    int64_t     place = 0;
    const char *at    = node->row && ref->out.size ? node->row->outs : NULL;
    while (at && *at) {
        size_t size = strcspn(at, " ");
        if (size == ref->out.size && !memcmp(at, ref->out.data, size)) return place + ref->index;
        at += size + (at[size] == ' ');
        place++;
    }
    return ref->index;
}

static void *fail_ref(HoloFlowScope *s, HoloString ref)
{
    return holo_emit_fail(s->e, HOLO_BAD_MODEL, "there is no value '%.*s'", HOLO_IMPORT_ARG(ref));
}

// The scope, this one or one around it with the same nodes, in which a node is computed; NULL: in none.
static HoloFlowScope *owner(HoloFlowScope *s, const HoloFlowNode *node)
{
    while (s && s->state[node->index] != 2) s = s->outer;
    return s;
}

// ---- emission of one node

static const char *full_name(HoloFlowScope *s, const HoloFlowNode *node)
{
    const char *name = holo_arena_format(s->tf->arena, "%s%.*s", s->prefix, (int)node->name.size, node->name.data);
    return name ? name : "?";
}

static HoloFlowValue computed(HoloFlowScope *s, HoloString text)
{
    HoloFlowRef    ref = holo_flow_ref(text);
    HoloFlowValue *arg = argument(s, text.size == ref.node.size || !ref.out.size ? ref.node : text);
    if (arg) return *arg;
    const HoloFlowNode *node  = holo_name_map_find(&s->nodes->names, ref.node);
    HoloFlowScope      *at    = node ? owner(s, node) : NULL;
    int64_t             place = node ? output_place(node, &ref) : 0;
    if (!at || place >= at->out_count[node->index]) {
        if (!s->e->status) fail_ref(s, text);
        return (HoloFlowValue){0};
    }
    return at->out[node->index][place];
}

static void call_by_name(HoloFlowCall *c)
{
    HoloFlowValue out[256];
    int count = holo_flow_call(c->scope, c->node->op, c->node->attr, c->in, c->in_count, out, HOLO_COUNT(out));
    for (int i = 0; i < count && i < HOLO_COUNT(out); i++) holo_flow_out_value(c, i, out[i]);
}

static void emit_call(HoloFlowCall *c)
{
    const HoloFlowNode *node = c->node;
    if (node->row && holo_flow_on_complex(c)) return;
    if (node->row)
        node->row->emit(c);
    else if (holo_name_map_find(&c->tf->functions, node->op))
        call_by_name(c);
    else
        holo_emit_fail(c->e, HOLO_UNSUPPORTED, "operator '%.*s' is not supported", HOLO_IMPORT_ARG(node->op));
}

static void emit_node(HoloFlowScope *s, const HoloFlowNode *node)
{
    HoloEmit    *e     = s->e;
    const char  *saved = e->node;
    HoloFlowCall c     = {.tf = s->tf, .e = e, .scope = s, .node = node, .op = node->row, .in_count = node->in_count};
    if (e->status) return;
    e->node = full_name(s, node);
    c.in    = HOLO_NEW(s->tf->arena, HoloFlowValue, node->in_count + 1);
    if (!c.in) {
        e->status = holo_fail_memory(s->tf->error);
        return;
    }
    if (s->tf->work++ > s->tf->work_max) holo_emit_fail(e, HOLO_BAD_MODEL, "functions call each other without an end");
    if (!node->row || !(node->row->flags & HOLO_FLOW_LAZY))
        for (int i = 0; i < node->in_count && !e->status; i++) c.in[i] = computed(s, node->in[i]);
    if (!e->status) emit_call(&c);
    s->out[node->index]       = c.out;
    s->out_count[node->index] = c.out_count;
    s->state[node->index]     = 2;
    e->node                   = saved;
}

// ---- the walk

typedef struct Visit {
    const HoloFlowNode *node;
    int                 next; // input to look at
} Visit;

// The node that a reference needs; NULL: it is an argument, or computed, or missing.
static const HoloFlowNode *wanted(HoloFlowScope *s, HoloString text)
{
    HoloFlowRef         ref  = holo_flow_ref(text);
    const HoloFlowNode *node = argument(s, ref.node) ? NULL : holo_name_map_find(&s->nodes->names, ref.node);
    return node && !owner(s, node) ? node : NULL;
}

static bool push(HoloFlowScope *s, Visit **stack, int *count, int *room, const HoloFlowNode *node)
{
    if (s->state[node->index] == 1) {
        holo_emit_fail(s->e, HOLO_BAD_MODEL, "node '%.*s' depends on itself", HOLO_IMPORT_ARG(node->name));
        return false;
    }
    if (!HOLO_GROW(s->tf->arena, *stack, *count, *room)) {
        s->e->status = holo_fail_memory(s->tf->error);
        return false;
    }
    s->state[node->index] = 1;
    (*stack)[(*count)++]  = (Visit){node, 0};
    return true;
}

// Computes a node after all that it needs.
static void compute(HoloFlowScope *s, const HoloFlowNode *first)
{
    Visit *stack = NULL;
    int    count = 0, room = 0;
    if (!push(s, &stack, &count, &room, first)) return;
    while (count && !s->e->status) {
        Visit              *top  = &stack[count - 1];
        const HoloFlowNode *node = top->node, *need = NULL;
        bool                lazy = node->row && node->row->flags & HOLO_FLOW_LAZY;
        while (!lazy && top->next < node->in_count && !(need = wanted(s, node->in[top->next]))) top->next++;
        if (need) {
            if (!push(s, &stack, &count, &room, need)) return;
            continue;
        }
        count--;
        emit_node(s, node);
    }
}

HoloFlowValue holo_flow_value(HoloFlowScope *scope, HoloString ref)
{
    HoloFlowValue nothing = {0};
    if (scope->e->status) return nothing;
    if (scope->tf->depth >= HOLO_FLOW_DEPTH_MAX) {
        holo_emit_fail(scope->e, HOLO_BAD_MODEL, "functions, loops and branches are nested too deeply");
        return nothing;
    }
    scope->tf->depth++;
    const HoloFlowNode *node = wanted(scope, ref);
    if (node) compute(scope, node);
    scope->tf->depth--;
    return scope->e->status ? nothing : computed(scope, ref);
}

// ---- functions

int holo_flow_call(HoloFlowScope *scope, HoloString name, HoloPbMany attr, const HoloFlowValue *args, int arg_count,
                   HoloFlowValue *out, int room)
{
    HoloFlow         *tf       = scope->tf;
    HoloFlowScope    *inner    = HOLO_NEW(tf->arena, HoloFlowScope, 1);
    HoloFlowFunction *function = holo_flow_function(tf, name, &scope->e->status);
    if (scope->e->status) return 0;
    if (!inner || !function) {
        holo_emit_fail(scope->e, inner ? HOLO_BAD_MODEL : HOLO_NO_MEMORY, "there is no function '%.*s'",
                       HOLO_IMPORT_ARG(name));
        return 0;
    }
    if (arg_count < function->arg_count) {
        holo_emit_fail(scope->e, HOLO_BAD_MODEL, "function '%.*s' has %d arguments, and %d are given",
                       HOLO_IMPORT_ARG(name), function->arg_count, arg_count);
        return 0;
    }
    inner->function  = function;
    inner->call_attr = attr;
    inner->caller    = scope;
    inner->arg       = HOLO_NEW(tf->arena, HoloFlowValue, arg_count + 1);
    inner->prefix    = holo_arena_format(tf->arena, "%s/", scope->e->node ? scope->e->node : "");
    if (!inner->arg || !inner->prefix || holo_flow_scope_init(tf, inner, &function->nodes, scope->e)) {
        if (!scope->e->status) scope->e->status = holo_fail_memory(tf->error);
        return 0;
    }
    if (arg_count) memcpy(inner->arg, args, (size_t)arg_count * sizeof *args);
    for (int i = 0; i < function->ret_count && i < room && !scope->e->status; i++)
        out[i] = holo_flow_value(inner, function->ret[i]);
    return scope->e->status ? 0 : function->ret_count;
}
