// render.c - renders a template: walks the statements of its tree and writes text.
#include "text/render.h"

#include <string.h>

// ---- variables

void holo_locals_push(HoloRender *r, HoloLocals *outer)
{
    HoloLocals *locals = holo_render_take(r, sizeof *locals);
    if (!locals) return;
    *locals   = (HoloLocals){.outer = outer};
    r->locals = locals;
}

void holo_local_set(HoloRender *r, uint32_t name, HoloDatum value)
{
    HoloLocals *l = r->locals;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->local[i].name == name) {
            l->local[i].value = value;
            return;
        }
    if (l->count == l->room) {
        uint32_t   room = l->room * 2 + 4;
        HoloLocal *more = holo_render_take(r, room * sizeof *more);
        if (!more) return;
        if (l->count) memcpy(more, l->local, l->count * sizeof *more);
        l->local = more;
        l->room  = room;
    }
    l->local[l->count++] = (HoloLocal){name, value};
}

static void assign_tuple(HoloRender *r, const uint32_t *arg, HoloDatum value)
{
    const HoloSeries *items = holo_d_items(r, value);
    if (r->status) return;
    if (items->count != arg[1]) {
        holo_render_fail(r, "%u values cannot be assigned to %u names", items->count, arg[1]);
        return;
    }
    for (uint32_t i = 0; i < arg[1] && i < items->count; i++)
        holo_render_assign(r, r->t->list[arg[0] + i], items->item[i]);
}

void holo_render_assign(HoloRender *r, uint32_t target, HoloDatum value)
{
    const HoloTemplateNode *node = &r->t->node[target];
    if (!holo_render_spend(r, 1) || !holo_render_enter(r)) return;
    if (node->kind == HOLO_TN_NAME) {
        holo_local_set(r, node->arg[0], value);
    } else if (node->kind == HOLO_TN_TUPLE) {
        assign_tuple(r, node->arg, value);
    } else if (node->kind == HOLO_TN_ATTR) {
        HoloDatum object = holo_render_eval(r, node->arg[0]);
        if (object.kind == HOLO_D_NAMESPACE)
            holo_entries_set(r, object.entries, holo_d_view((HoloString){r->t->text + node->arg[1], node->arg[2]}),
                             value);
        else
            holo_render_fail(r, "only attributes of a namespace can be set: begin with {%% set ns = namespace() %%}");
    } else {
        holo_render_fail(r, "the compiled template is damaged: a target");
    }
    r->depth--;
}

// ---- text

static void check_output(HoloRender *r)
{
    if (r->status) return;
    if (r->out->is_failed) r->status = holo_fail_memory(r->error);
    if (r->out->size > r->limits->output)
        r->status = holo_fail(r->error, HOLO_REFUSED, "template, line %u: the text has more than %zu bytes", r->line,
                              r->limits->output);
}

static void exec_text(HoloRender *r, const HoloTemplateNode *node)
{
    if (holo_render_spend(r, node->arg[1] / 64)) holo_growing_add(r->out, r->t->text + node->arg[0], node->arg[1]);
    check_output(r);
}

static void exec_output(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum value = holo_render_eval(r, node->arg[0]);
    r->line         = node->line;
    if (!r->status) holo_d_write(r, r->out, value);
    check_output(r);
}

HoloDatum holo_render_captured(HoloRender *r, uint32_t body)
{
    HoloGrowing text = {0}, *out = r->out;
    HoloLocals *locals  = r->locals;
    HoloLeaving leaving = r->leaving;
    r->out              = &text;
    holo_locals_push(r, locals);
    if (!r->status) holo_render_exec(r, body);
    r->out     = out;
    r->locals  = locals;
    r->leaving = leaving;
    return holo_d_grown(r, &text);
}

// The text of a body after its filters.
static HoloDatum captured_filtered(HoloRender *r, uint32_t body, uint32_t filters)
{
    HoloDatum text = holo_render_captured(r, body), before = r->input;
    if (filters == HOLO_NO_NODE || r->status) return text;
    r->input = text;
    text     = holo_render_eval(r, filters);
    r->input = before;
    return text;
}

// ---- statements

static void exec_sequence(HoloRender *r, const HoloTemplateNode *node)
{
    for (uint32_t i = 0; i < node->arg[1] && !r->status && !r->leaving; i++)
        holo_render_exec(r, r->t->list[node->arg[0] + i]);
}

static void exec_if(HoloRender *r, const HoloTemplateNode *node)
{
    const uint32_t *part = r->t->list + node->arg[0];
    uint32_t        at   = 0;
    for (; at + 1 < node->arg[1] && !r->status; at += 2)
        if (holo_d_truth(holo_render_eval(r, part[at]))) {
            holo_render_exec(r, part[at + 1]);
            return;
        }
    if (at < node->arg[1] && !r->status) holo_render_exec(r, part[at]);
}

// What a loop goes through: all items, or those for which its condition holds.
static HoloSeries *loop_items(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum   what   = holo_render_eval(r, node->arg[1]);
    HoloSeries *items  = holo_d_items(r, what);
    HoloLocals *locals = r->locals;
    if (r->status || node->arg[3] == HOLO_NO_NODE) return items;
    HoloDatum kept = holo_d_series(r, HOLO_D_LIST, 0);
    for (uint32_t i = 0; i < items->count && !r->status; i++) {
        HoloDatum item = items->item[i];
        holo_locals_push(r, locals);
        holo_render_assign(r, node->arg[0], item);
        if (holo_d_truth(holo_render_eval(r, node->arg[3])) && !r->status) holo_series_add(r, kept.series, item);
        r->locals = locals;
    }
    return r->status ? items : kept.series;
}

// The number of the name `loop`; HOLO_NO_NODE: the template does not use it.
static uint32_t loop_name(const HoloRender *r)
{
    const HoloTemplate *t = r->t;
    for (uint32_t i = 0; i < t->header->names.count; i++)
        if (t->name[i].count == 4 && !memcmp(t->text + t->name[i].start, "loop", 4)) return i;
    return HOLO_NO_NODE;
}

static void exec_for(HoloRender *r, const HoloTemplateNode *node)
{
    HoloLocals    *locals = r->locals;
    HoloSeries    *items  = loop_items(r, node);
    HoloLoopState *loop   = holo_render_take(r, sizeof *loop);
    uint32_t       name   = loop_name(r);
    if (r->status) return;
    *loop = (HoloLoopState){.items = items, .depth = r->loops++};
    for (; loop->at < items->count && holo_render_spend(r, 1); loop->at++) {
        holo_locals_push(r, locals);
        if (r->status) break;
        holo_render_assign(r, node->arg[0], items->item[loop->at]);
        if (name != HOLO_NO_NODE) holo_local_set(r, name, (HoloDatum){.kind = HOLO_D_LOOP, .loop = loop});
        holo_render_exec(r, node->arg[2]);
        HoloLeaving leaving = r->leaving;
        r->leaving          = HOLO_STAYS;
        if (leaving == HOLO_BREAKS) break;
    }
    r->loops--;
    r->locals = locals;
    if (!loop->at && !items->count && node->arg[4] != HOLO_NO_NODE && !r->status) {
        holo_locals_push(r, locals);
        if (!r->status) holo_render_exec(r, node->arg[4]);
        r->locals = locals;
    }
}

static void exec_set(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum value = holo_render_eval(r, node->arg[1]);
    if (!r->status) holo_render_assign(r, node->arg[0], value);
}

static void exec_set_block(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum value = captured_filtered(r, node->arg[1], node->arg[2]);
    if (!r->status) holo_render_assign(r, node->arg[0], value);
}

static void exec_macro(HoloRender *r, const HoloTemplateNode *node)
{
    HoloMacro *macro = holo_render_take(r, sizeof *macro);
    if (!macro) return;
    *macro = (HoloMacro){node->arg[0], node->arg[1], node->arg[2], node->arg[3], node->arg[4], r->locals};
    holo_local_set(r, node->arg[0], (HoloDatum){.kind = HOLO_D_MACRO, .macro = macro});
}

static void exec_call_block(HoloRender *r, const HoloTemplateNode *node)
{
    HoloMacro *macro = holo_render_take(r, sizeof *macro);
    if (!macro) return;
    *macro           = (HoloMacro){HOLO_NO_NODE, node->arg[1], node->arg[2], node->arg[3], node->arg[4], r->locals};
    HoloDatum before = r->caller;
    r->caller        = (HoloDatum){.kind = HOLO_D_MACRO, .macro = macro};
    r->caller_of     = node->arg[0];
    HoloDatum value  = holo_render_eval(r, node->arg[0]);
    r->caller        = before;
    if (!r->status) holo_d_write(r, r->out, value);
    check_output(r);
}

static void exec_filter_block(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum value = captured_filtered(r, node->arg[0], node->arg[1]);
    if (!r->status) holo_d_write(r, r->out, value);
    check_output(r);
}

static void exec_with(HoloRender *r, const HoloTemplateNode *node)
{
    HoloLocals *locals = r->locals;
    HoloDatum   values = holo_d_series(r, HOLO_D_LIST, node->arg[1] / 2);
    for (uint32_t i = 0; i + 1 < node->arg[1] && !r->status; i += 2) {
        HoloDatum value = holo_render_eval(r, r->t->list[node->arg[0] + i + 1]);
        if (!r->status) holo_series_add(r, values.series, value);
    }
    holo_locals_push(r, locals);
    for (uint32_t i = 0; i + 1 < node->arg[1] && !r->status; i += 2)
        holo_render_assign(r, r->t->list[node->arg[0] + i], values.series->item[i / 2]);
    if (!r->status) holo_render_exec(r, node->arg[2]);
    r->locals = locals;
}

static void exec_scope(HoloRender *r, const HoloTemplateNode *node)
{
    HoloLocals *locals = r->locals;
    holo_locals_push(r, locals);
    if (!r->status) holo_render_exec(r, node->arg[0]);
    r->locals = locals;
}

static void exec_break(HoloRender *r, const HoloTemplateNode *node)
{
    r->leaving = node->kind == HOLO_TN_BREAK ? HOLO_BREAKS : HOLO_CONTINUES;
}

static void (*const executors[HOLO_TN_KINDS])(HoloRender *r, const HoloTemplateNode *node) = {
    [HOLO_TN_TEXT]         = exec_text,
    [HOLO_TN_OUTPUT]       = exec_output,
    [HOLO_TN_SEQUENCE]     = exec_sequence,
    [HOLO_TN_IF]           = exec_if,
    [HOLO_TN_FOR]          = exec_for,
    [HOLO_TN_SET]          = exec_set,
    [HOLO_TN_SET_BLOCK]    = exec_set_block,
    [HOLO_TN_MACRO]        = exec_macro,
    [HOLO_TN_CALL_BLOCK]   = exec_call_block,
    [HOLO_TN_FILTER_BLOCK] = exec_filter_block,
    [HOLO_TN_WITH]         = exec_with,
    [HOLO_TN_SCOPE]        = exec_scope,
    [HOLO_TN_BREAK]        = exec_break,
    [HOLO_TN_CONTINUE]     = exec_break,
};

void holo_render_exec(HoloRender *r, uint32_t at)
{
    const HoloTemplateNode *node = &r->t->node[at];
    if (!holo_render_spend(r, 1)) return;
    r->line = node->line;
    if (!executors[node->kind]) {
        holo_render_fail(r, "the compiled template is damaged: a statement");
        return;
    }
    if (!holo_render_enter(r)) return;
    executors[node->kind](r, node);
    r->depth--;
}

// ---- all of it

// The value of each name outside of the template's own variables: of the context, of the defaults, a function, or none.
static void fill_globals(HoloRender *r, HoloDatum context, HoloDatum defaults)
{
    uint32_t count = r->t->header->names.count;
    r->global      = holo_render_take(r, count * sizeof *r->global);
    for (uint32_t i = 0; i < count && holo_render_spend(r, 1); i++) {
        HoloString          name  = {r->t->text + r->t->name[i].start, r->t->name[i].count};
        const HoloDatum    *value = holo_entries_find_text(r, context.entries, name);
        const HoloFunction *function;
        if (!value && defaults.kind == HOLO_D_DICT) value = holo_entries_find_text(r, defaults.entries, name);
        if (value)
            r->global[i] = *value;
        else if ((function = holo_function_find(HOLO_GLOBALS, name)))
            r->global[i] = (HoloDatum){.kind = HOLO_D_FUNCTION, .function = function};
        else
            r->global[i] = holo_d_undefined(name);
    }
}

HoloStatus holo_template_run(const HoloTemplate *t, HoloString context, const HoloTemplateLimits *limits,
                             HoloGrowing *out, HoloError *error)
{
    HoloRender r        = {.t = t, .limits = limits, .error = error, .out = out};
    HoloDatum  defaults = holo_d_none(), variables;
    HoloString text     = {(const char *)t->header + t->header->defaults.start, t->header->defaults.count};
    if (text.size) defaults = holo_d_json_read(&r, text, "what the template has as variables");
    variables = holo_d_json_read(&r, context, "the context");
    if (!r.status && variables.kind != HOLO_D_DICT)
        holo_render_fail(&r, "the context is a JSON object with the variables of the template: {\"messages\": [...]}");
    if (!r.status) fill_globals(&r, variables, defaults);
    holo_locals_push(&r, NULL);
    if (!r.status) holo_render_exec(&r, t->header->root);
    holo_arena_deinit(&r.arena);
    return r.status;
}
