// pt2_graph.c - the nodes of a program, each a call of an operator.
#include "import/torch/pt2.h"

#include <stdio.h>
#include <string.h>

enum { ARGS_MAX = 4096 };

// "torch.ops.aten.add.Tensor": the space "aten" and the name "add"; "_operator.add": of Python, with the space "".
static void split_target(const char *target, char *space, char *name, size_t room)
{
    const char *ops = strstr(target, "torch.ops.");
    *space = *name = 0;
    if (!ops) { // "_operator.mul", "math.ceil", "torch.sym_max"
        const char *point = strrchr(target, '.');
        snprintf(name, room, "%.100s", point ? point + 1 : target);
        return;
    }
    ops += strlen("torch.ops.");
    size_t first = strcspn(ops, ".");
    snprintf(space, room, "%.*s", (int)(first < 100 ? first : 100), ops);
    ops += first + (ops[first] == '.');
    size_t second = strcspn(ops, ".");
    snprintf(name, room, "%.*s", (int)(second < 100 ? second : 100), ops);
}

// How many results a node names.
static int result_count(const json_t *outputs)
{
    size_t        count = json_array_size(outputs);
    const json_t *list  = count == 1 ? json_object_get(json_array_get(outputs, 0), "as_tensors") : NULL;
    return (int)(list ? json_array_size(list) : count);
}

static void bind(HoloPt2Scope *scope, const char *name, const HoloTv *value)
{
    if (name) holo_pt2_set(scope, name, *value);
}

// An item of a result that may be a list; None where it has fewer.
static HoloTv item_of(const HoloTv *v, size_t i)
{
    if (!holo_tv_is_list(v)) return i ? (HoloTv){0} : *v;
    return i < (size_t)v->list->count ? v->list->item[i] : (HoloTv){0};
}

static void bind_results(HoloPt2Scope *scope, const json_t *outputs, const HoloTv *result)
{
    size_t count = json_array_size(outputs);
    for (size_t i = 0; i < count; i++) {
        const json_t *out  = json_array_get(outputs, i);
        const json_t *list = json_object_get(out, "as_tensors");
        if (!list) list = json_object_get(out, "as_optional_tensors");
        HoloTv one = count == 1 && list ? *result : item_of(result, i);
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *entry = json_array_get(list, k), *tensor = json_object_get(entry, "as_tensor");
            HoloTv        part = item_of(&one, k);
            bind(scope, json_string_value(json_object_get(tensor ? tensor : entry, "name")), &part);
        }
        if (!list) bind(scope, holo_pt2_name(out), &one);
    }
}

// A number where the program has one: results of operators on numbers are numbers.
static bool is_number_result(const json_t *outputs)
{
    const json_t *out = json_array_get(outputs, 0);
    return json_object_get(out, "as_sym_int") || json_object_get(out, "as_sym_bool") ||
           json_object_get(out, "as_sym_float");
}

static void emit_call(HoloPt2Scope *scope, const char *target, const HoloTv *args, const char *const *names, int count,
                      const json_t *outputs, HoloTv *out)
{
    HoloTorch *t = &scope->pt2->torch;
    char       space[128], name[128];
    split_target(target, space, name, sizeof name);
    if (!strcmp(space, "higher_order") && holo_pt2_higher(scope, name, args, count, out)) return;
    if (!*space && !strcmp(name, "getitem") && count == 2) {
        *out = item_of(&args[0], (size_t)holo_torch_int(t, &args[1], 0));
        return;
    }
    if ((!*space || is_number_result(outputs)) && holo_torch_numbers(t, name, args, count, out)) return;
    if (!*space && !strcmp(name, "sym_sum") && count && holo_tv_is_list(&args[0])) {
        *out = holo_tv_int(0);
        for (int i = 0; i < args[0].list->count; i++)
            holo_torch_numbers(t, "add", (HoloTv[]){*out, args[0].list->item[i]}, 2, out);
        return;
    }
    holo_torch_call(t,
                    &(HoloTorchCall){.space   = *space ? space : "python",
                                     .name    = name,
                                     .args    = args,
                                     .names   = names,
                                     .count   = count,
                                     .results = result_count(outputs)},
                    out);
    if (is_number_result(outputs) && out->kind == HOLO_TORCH_TENSOR)
        *out = holo_tv_number(t, holo_torch_read(t, out->tensor));
}

static void run_node(HoloPt2Scope *scope, const json_t *node)
{
    HoloTorch    *t      = &scope->pt2->torch;
    const json_t *inputs = json_object_get(node, "inputs"), *outputs = json_object_get(node, "outputs");
    const char   *target = json_string_value(json_object_get(node, "target"));
    const char   *name   = json_string_value(json_object_get(node, "name"));
    size_t        count  = json_array_size(inputs);
    if (!name) name = holo_pt2_name(json_array_get(outputs, 0));
    t->e->node = holo_arena_format(t->arena, "%.200s", name ? name : target ? target : "node");
    if (!target || count > ARGS_MAX) {
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "a node has no operator, or too many arguments");
        return;
    }
    HoloTv      *args = HOLO_NEW(t->arena, HoloTv, count + 1), result = {0};
    const char **names = HOLO_NEW(t->arena, const char *, count + 1);
    if (!args || !names) return (void)holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    for (size_t i = 0; i < count && !t->e->status; i++) {
        const json_t *input = json_array_get(inputs, i);
        args[i]             = holo_pt2_value(scope, json_object_get(input, "arg"));
        names[i]            = json_string_value(json_object_get(input, "name"));
    }
    if (!t->e->status) emit_call(scope, target, args, names, (int)count, outputs, &result);
    if (!t->e->status) bind_results(scope, outputs, &result);
}

void holo_pt2_nodes(HoloPt2Scope *scope, const json_t *graph)
{
    const json_t *nodes = json_object_get(graph, "nodes");
    for (size_t i = 0; i < json_array_size(nodes) && !scope->pt2->torch.e->status; i++)
        run_node(scope, json_array_get(nodes, i));
}

void holo_pt2_graph(HoloPt2 *p, const json_t *graph, const HoloTv *args, int count, HoloTv *out)
{
    HoloTorch    *t      = &p->torch;
    HoloPt2Scope  scope  = {.pt2 = p};
    const json_t *inputs = json_object_get(graph, "inputs"), *outputs = json_object_get(graph, "outputs");
    *out = holo_tv_list(t, HOLO_TORCH_TUPLE, 0, NULL);
    if (json_array_size(inputs) != (size_t)count)
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "a graph takes %d values, and %d are given", (int)json_array_size(inputs),
                       count);
    if (++t->depth_calls > 32) holo_emit_fail(t->e, HOLO_UNSUPPORTED, "graphs are nested too deep");
    for (int i = 0; i < count && !t->e->status; i++)
        bind(&scope, holo_pt2_name(json_array_get(inputs, (size_t)i)), &args[i]);
    if (!t->e->status) holo_pt2_nodes(&scope, graph);
    for (size_t i = 0; i < json_array_size(outputs) && !t->e->status; i++)
        holo_tv_append(t, out->list, holo_pt2_value(&scope, json_array_get(outputs, i)));
    t->depth_calls--;
}
