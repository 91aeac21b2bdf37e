// render_eval.c - the expressions of templates: their values, and calls.
#include "text/render.h"

#include <string.h>

static HoloString text_of(const HoloRender *r, const uint32_t *arg)
{
    return (HoloString){r->t->text + arg[0], arg[1]};
}

// ---- calls

static void add_named(HoloRender *r, HoloCallArgs *args, HoloDatum name, HoloDatum value)
{
    if (name.kind != HOLO_D_STRING)
        holo_render_fail(r, "the name of an argument is a text");
    else if (holo_entries_find(r, &args->named, name))
        holo_render_fail(r, "the argument '%.*s' is given twice", (int)name.size, name.text);
    else
        holo_entries_set(r, &args->named, name, value);
}

// The values of the arguments of a call.
static void eval_args(HoloRender *r, uint32_t first, uint32_t count, HoloCallArgs *out)
{
    *out = (HoloCallArgs){0};
    for (uint32_t i = 0; i < count && !r->status; i++) {
        uint32_t                at   = r->t->list[first + i];
        const HoloTemplateNode *node = &r->t->node[at];
        if (node->kind == HOLO_TN_KEYWORD) {
            HoloDatum value = holo_render_eval(r, node->arg[2]);
            add_named(r, out, holo_d_view(text_of(r, node->arg)), value);
        } else if (node->kind == HOLO_TN_SPREAD) {
            const HoloSeries *items = holo_d_items(r, holo_render_eval(r, node->arg[0]));
            for (uint32_t k = 0; k < items->count && holo_render_spend(r, 1); k++)
                holo_series_add(r, &out->list, items->item[k]);
        } else if (node->kind == HOLO_TN_SPREAD_ALL) {
            HoloDatum dict = holo_render_eval(r, node->arg[0]);
            if (dict.kind != HOLO_D_DICT) holo_render_fail(r, "** needs a dict, and not a %s", holo_d_type(dict));
            for (uint32_t k = 0; !r->status && k < dict.entries->count && holo_render_spend(r, 1); k++)
                add_named(r, out, dict.entries->item[2 * k], dict.entries->item[2 * k + 1]);
        } else {
            HoloDatum value = holo_render_eval(r, at);
            if (!r->status) holo_series_add(r, &out->list, value);
        }
    }
}

static HoloString name_of(const HoloRender *r, uint32_t name)
{
    return (HoloString){r->t->text + r->t->name[name].start, r->t->name[name].count};
}

// Gives a variable of the macro that has no parameter, such as varargs, if the template names it at all.
static void set_special(HoloRender *r, const char *word, HoloDatum value)
{
    for (uint32_t i = 0; i < r->t->header->names.count; i++) {
        HoloString name = name_of(r, i);
        if (name.size == strlen(word) && !memcmp(name.data, word, name.size)) holo_local_set(r, i, value);
    }
}

static bool has_param(const HoloRender *r, const HoloMacro *m, HoloDatum name)
{
    for (uint32_t i = 0; i < m->count; i++) {
        HoloString param = name_of(r, r->t->node[r->t->list[m->first + i]].arg[0]);
        if (param.size == name.size && !memcmp(param.data, name.text, name.size)) return true;
    }
    return false;
}

// Gives a macro what its parameters do not take: varargs, kwargs and caller, as far as its body uses them.
static void bind_rest(HoloRender *r, const HoloMacro *m, const HoloCallArgs *args, const HoloDatum *caller)
{
    HoloDatum more = holo_d_series(r, HOLO_D_TUPLE, 0), rest = holo_d_entries(r, HOLO_D_DICT);
    for (uint32_t i = m->count; i < args->list.count && !r->status; i++)
        holo_series_add(r, more.series, args->list.item[i]);
    for (uint32_t i = 0; i < args->named.count && !r->status; i++)
        if (!has_param(r, m, args->named.item[2 * i]))
            holo_entries_set(r, rest.entries, args->named.item[2 * i], args->named.item[2 * i + 1]);
    if (r->status) return;
    if (more.series->count && !(m->uses & HOLO_MACRO_VARARGS))
        holo_render_fail(r, "a macro takes %u arguments, and %u are given", m->count, args->list.count);
    if (rest.entries->count && !(m->uses & HOLO_MACRO_KWARGS))
        holo_render_fail(r, "a macro is given an argument '%.*s', and has none of this name",
                         (int)rest.entries->item[0].size, rest.entries->item[0].text);
    if (m->uses & HOLO_MACRO_VARARGS) set_special(r, "varargs", more);
    if (m->uses & HOLO_MACRO_KWARGS) set_special(r, "kwargs", rest);
    if (m->uses & HOLO_MACRO_CALLER)
        set_special(r, "caller", caller ? *caller : holo_d_undefined((HoloString){"caller", 6}));
}

// Binds the arguments of a macro to its parameters, in the current scope.
static void bind_macro(HoloRender *r, const HoloMacro *m, const HoloCallArgs *args, const HoloDatum *caller)
{
    for (uint32_t i = 0; i < m->count && !r->status; i++) {
        const HoloTemplateNode *param = &r->t->node[r->t->list[m->first + i]];
        if (param->kind != HOLO_TN_PARAM) {
            holo_render_fail(r, "the compiled template is damaged: a parameter");
            return;
        }
        HoloString       name  = name_of(r, param->arg[0]);
        const HoloDatum *named = holo_entries_find_text(r, &args->named, name);
        HoloDatum        value = holo_d_undefined(name);
        if (named && i < args->list.count)
            holo_render_fail(r, "the argument '%.*s' is given twice", (int)name.size, name.data);
        if (i < args->list.count)
            value = args->list.item[i];
        else if (named)
            value = *named;
        else if (param->arg[1] != HOLO_NO_NODE)
            value = holo_render_eval(r, param->arg[1]);
        if (!r->status) holo_local_set(r, param->arg[0], value);
    }
    bind_rest(r, m, args, caller);
}

static HoloDatum call_macro(HoloRender *r, const HoloMacro *m, const HoloCallArgs *args, const HoloDatum *caller)
{
    HoloLocals *locals = r->locals;
    HoloDatum   text   = holo_d_none();
    int         loops  = r->loops;
    uint32_t    line   = r->line;
    holo_locals_push(r, m->locals);
    if (!r->status) bind_macro(r, m, args, caller);
    r->loops = 0;
    if (!r->status) text = holo_render_captured(r, m->body);
    r->loops  = loops;
    r->locals = locals;
    r->line   = line;
    return text;
}

HoloDatum holo_render_call(HoloRender *r, HoloDatum function, const HoloCallArgs *args, const HoloDatum *caller)
{
    HoloDatum result = holo_d_none();
    if (!holo_render_spend(r, 1) || !holo_render_enter(r)) return result;
    if (function.kind == HOLO_D_MACRO)
        result = call_macro(r, function.macro, args, caller);
    else if (function.kind == HOLO_D_FUNCTION)
        result = holo_function_call(r, function.function, NULL, args);
    else if (function.kind == HOLO_D_METHOD)
        result = holo_function_call(r, function.method->function, &function.method->object, args);
    else if (function.kind == HOLO_D_CYCLER && function.cycle->is_joiner)
        result = function.cycle->at++ ? function.cycle->items->item[0] : holo_d_view((HoloString){"", 0});
    else if (function.kind == HOLO_D_UNDEFINED)
        holo_render_fail(r, "'%.*s' is undefined, and is called", (int)function.size,
                         function.text ? function.text : "");
    else
        holo_render_fail(r, "a %s cannot be called", holo_d_type(function));
    r->depth--;
    return result;
}

static HoloDatum eval_call(HoloRender *r, const HoloTemplateNode *node)
{
    HoloCallArgs args;
    HoloDatum    caller    = r->caller;
    bool         is_called = caller.kind == HOLO_D_MACRO && &r->t->node[r->caller_of] == node;
    if (is_called) r->caller = holo_d_none();
    HoloDatum function = holo_render_eval(r, node->arg[0]);
    eval_args(r, node->arg[1], node->arg[2], &args);
    r->line = node->line;
    return r->status ? function : holo_render_call(r, function, &args, is_called ? &caller : NULL);
}

HoloDatum holo_render_apply(HoloRender *r, HoloFunctionGroup group, HoloString name, HoloDatum input,
                            const HoloCallArgs *args)
{
    const HoloFunction *function = holo_function_find(group, name);
    if (!function)
        return holo_render_fail(r, "there is no %s named '%.*s'", group == HOLO_TESTS ? "test" : "filter",
                                (int)name.size, name.data);
    return holo_function_call(r, function, &input, args);
}

static HoloDatum eval_filter(HoloRender *r, const HoloTemplateNode *node)
{
    HoloCallArgs args;
    HoloDatum    input = holo_render_eval(r, node->arg[0]);
    eval_args(r, node->arg[3], node->arg[4], &args);
    r->line = node->line;
    if (r->status) return input;
    return holo_render_apply(r, node->kind == HOLO_TN_TEST ? HOLO_TESTS : HOLO_FILTERS, text_of(r, node->arg + 1),
                             input, &args);
}

// ---- values

static HoloDatum eval_constant(HoloRender *r, const HoloTemplateNode *node)
{
    uint64_t bits = node->arg[0] | (uint64_t)node->arg[1] << 32;
    double   real;
    memcpy(&real, &bits, sizeof real);
    switch ((HoloTemplateKind)node->kind) {
    case HOLO_TN_TRUE: return holo_d_bool(true);
    case HOLO_TN_FALSE: return holo_d_bool(false);
    case HOLO_TN_INT: return holo_d_int((int64_t)bits);
    case HOLO_TN_FLOAT: return holo_d_float(real);
    case HOLO_TN_STRING: return holo_d_view(text_of(r, node->arg));
    case HOLO_TN_INPUT: return r->input.kind ? r->input : holo_d_none();
    default: return holo_d_none();
    }
}

static HoloDatum eval_name(HoloRender *r, const HoloTemplateNode *node)
{
    uint32_t name = node->arg[0];
    for (const HoloLocals *l = r->locals; l && holo_render_spend(r, l->count / 8); l = l->outer)
        for (uint32_t i = 0; i < l->count; i++)
            if (l->local[i].name == name) return l->local[i].value;
    return r->global[name];
}

static HoloDatum eval_list(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum list = holo_d_series(r, node->kind == HOLO_TN_TUPLE ? HOLO_D_TUPLE : HOLO_D_LIST, node->arg[1]);
    for (uint32_t i = 0; i < node->arg[1] && !r->status; i++) {
        HoloDatum item = holo_render_eval(r, r->t->list[node->arg[0] + i]);
        if (!r->status) holo_series_add(r, list.series, item);
    }
    return list;
}

static HoloDatum eval_dict(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum dict = holo_d_entries(r, HOLO_D_DICT);
    for (uint32_t i = 0; i + 1 < node->arg[1] && !r->status; i += 2) {
        HoloDatum key   = holo_render_eval(r, r->t->list[node->arg[0] + i]);
        HoloDatum value = holo_render_eval(r, r->t->list[node->arg[0] + i + 1]);
        if (!r->status) holo_entries_set(r, dict.entries, key, value);
    }
    return dict;
}

static HoloDatum eval_attr(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum object = holo_render_eval(r, node->arg[0]);
    r->line          = node->line;
    return holo_d_attribute(r, object, text_of(r, node->arg + 1));
}

static HoloDatum eval_item(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum object = holo_render_eval(r, node->arg[0]), which = holo_render_eval(r, node->arg[1]);
    r->line = node->line;
    return holo_d_item(r, object, which);
}

static HoloDatum eval_slice(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum object = holo_render_eval(r, node->arg[0]), part[3] = {{0}};
    for (int i = 0; i < 3; i++)
        if (node->arg[i + 1] != HOLO_NO_NODE) part[i] = holo_render_eval(r, node->arg[i + 1]);
    r->line = node->line;
    return r->status ? object : holo_d_slice(r, object, part);
}

// ---- operators

static HoloDatum eval_sign(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum d = holo_render_eval(r, node->arg[0]);
    if (node->kind == HOLO_TN_NOT) return holo_d_bool(!holo_d_truth(d));
    if (r->status) return d;
    if (!holo_d_is_number(d)) return holo_render_fail(r, "a %s has no sign", holo_d_type(d));
    if (node->kind == HOLO_TN_POSITIVE) return holo_d_is_whole(d) ? holo_d_int(d.whole) : d;
    return d.kind == HOLO_D_FLOAT ? holo_d_float(-d.real) : holo_d_binary(r, HOLO_TO_MUL, d, holo_d_int(-1));
}

static HoloDatum eval_binary(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum a = holo_render_eval(r, node->arg[0]), b = holo_render_eval(r, node->arg[1]);
    r->line = node->line;
    return holo_d_binary(r, (HoloTemplateOp)node->op, a, b);
}

static HoloDatum eval_join(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum text = holo_d_view((HoloString){"", 0});
    for (uint32_t i = 0; i < node->arg[1] && !r->status; i++) {
        HoloDatum part = holo_d_to_string(r, holo_render_eval(r, r->t->list[node->arg[0] + i]));
        if (!r->status) text = i ? holo_d_joined(r, text, part) : part;
        text.flags = 0;
    }
    return text;
}

static HoloDatum eval_logic(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum left = holo_render_eval(r, node->arg[0]);
    if (r->status || holo_d_truth(left) == (node->kind == HOLO_TN_OR)) return left;
    return holo_render_eval(r, node->arg[1]);
}

static HoloDatum eval_compare(HoloRender *r, const HoloTemplateNode *node)
{
    HoloDatum left = holo_render_eval(r, node->arg[0]);
    for (uint32_t i = 0; i < node->arg[2] && !r->status; i++) {
        const HoloTemplateNode *part = &r->t->node[r->t->list[node->arg[1] + i]];
        if (part->kind != HOLO_TN_COMPARED)
            return holo_render_fail(r, "the compiled template is damaged: a comparison");
        HoloDatum right = holo_render_eval(r, part->arg[0]);
        r->line         = node->line;
        if (r->status || !holo_d_compare(r, (HoloTemplateOp)part->op, left, right)) return holo_d_bool(false);
        left = right;
    }
    return holo_d_bool(true);
}

static HoloDatum eval_choose(HoloRender *r, const HoloTemplateNode *node)
{
    bool truth = holo_d_truth(holo_render_eval(r, node->arg[0]));
    if (r->status) return holo_d_none();
    if (truth) return holo_render_eval(r, node->arg[1]);
    if (node->arg[2] != HOLO_NO_NODE) return holo_render_eval(r, node->arg[2]);
    return holo_d_undefined((HoloString){"the value of an 'if' without 'else'", 35});
}

static HoloDatum (*const evaluators[HOLO_TN_KINDS])(HoloRender *r, const HoloTemplateNode *node) = {
    [HOLO_TN_NONE] = eval_constant,   [HOLO_TN_TRUE] = eval_constant,  [HOLO_TN_FALSE] = eval_constant,
    [HOLO_TN_INT] = eval_constant,    [HOLO_TN_FLOAT] = eval_constant, [HOLO_TN_STRING] = eval_constant,
    [HOLO_TN_INPUT] = eval_constant,  [HOLO_TN_NAME] = eval_name,      [HOLO_TN_LIST] = eval_list,
    [HOLO_TN_TUPLE] = eval_list,      [HOLO_TN_DICT] = eval_dict,      [HOLO_TN_ATTR] = eval_attr,
    [HOLO_TN_ITEM] = eval_item,       [HOLO_TN_SLICE] = eval_slice,    [HOLO_TN_CALL] = eval_call,
    [HOLO_TN_FILTER] = eval_filter,   [HOLO_TN_TEST] = eval_filter,    [HOLO_TN_NOT] = eval_sign,
    [HOLO_TN_NEGATIVE] = eval_sign,   [HOLO_TN_POSITIVE] = eval_sign,  [HOLO_TN_BINARY] = eval_binary,
    [HOLO_TN_JOIN] = eval_join,       [HOLO_TN_AND] = eval_logic,      [HOLO_TN_OR] = eval_logic,
    [HOLO_TN_COMPARE] = eval_compare, [HOLO_TN_CHOOSE] = eval_choose,
};

HoloDatum holo_render_eval(HoloRender *r, uint32_t at)
{
    const HoloTemplateNode *node = &r->t->node[at];
    if (!holo_render_spend(r, 1)) return holo_d_none();
    r->line = node->line;
    if (!evaluators[node->kind]) return holo_render_fail(r, "the compiled template is damaged: an expression");
    if (!holo_render_enter(r)) return holo_d_none();
    HoloDatum value = evaluators[node->kind](r, node);
    r->depth--;
    return value;
}
