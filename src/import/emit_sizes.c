// emit_sizes.c - sizes as values. Sizes that follow from those of inputs are the contents of a value; a size that only a run
// knows is asked of a value that has it.
#include "import/emit_own.h"

enum { STEPS_MAX = 1 << 12, DEPTH_MAX = 64 };

static bool is_input_size(const HoloGraph *graph, HoloDim d)
{
    for (int i = 0; i < graph->input_count; i++)
        for (int k = 0; k < graph->inputs[i]->type.rank; k++)
            if (graph->inputs[i]->type.dim[k] == d) return true;
    return false;
}

// Does a size depend on one that only a run knows? An expression that is very long is taken for one that does not.
static bool is_open(const HoloEmit *e, HoloDim d, int *steps)
{
    if (!holo_dim_is_symbolic(d) || d == HOLO_DIM_UNKNOWN || ++*steps > STEPS_MAX) return false;
    const HoloDimNode *node = holo_dims_node(e->graph->dims, holo_dim_entry(d));
    if (node->op == HOLO_DIM_SYMBOL) return holo_dim_is_fresh(e->graph->dims, d) && !is_input_size(e->graph, d);
    return is_open(e, node->a, steps) || is_open(e, node->b, steps);
}

// A value of this graph or of one around it that has the size; NULL: there is none.
static HoloValue *owner_of(const HoloEmit *e, HoloDim d, int *out_axis)
{
    for (; e; e = e->outer)
        for (int i = e->graph->value_count - 1; i >= 0; i--) {
            HoloValue *v = e->graph->values[i];
            for (int k = 0; k < v->type.rank && (v->producer || v->is_input); k++)
                if (v->type.dim[k] == d) return *out_axis = k, v;
        }
    return NULL;
}

// i64 [1]
static HoloValue *computed(HoloEmit *e, HoloDim d, int depth)
{
    static const char *const names[] = {NULL, "Add", "Mul", NULL, "Min", "Max"};
    int                      axis, steps = 0;
    if (!is_open(e, d, &steps)) return holo_emit_sizes(e, &d, 1);
    if (depth > DEPTH_MAX) return holo_emit_fail(e, HOLO_UNSUPPORTED, "a size is too long an expression");
    HoloDimNode node = *holo_dims_node(e->graph->dims, holo_dim_entry(d));
    if (node.op == HOLO_DIM_SYMBOL) {
        HoloValue *of = owner_of(e, d, &axis);
        if (!of) return holo_emit_fail(e, HOLO_UNSUPPORTED, "a size is not known before the model runs");
        return holo_emit_slice(e, holo_emit_shape(e, of), 0, axis, axis + 1, 1);
    }
    HoloValue *a = computed(e, node.a, depth + 1), *b = computed(e, node.b, depth + 1);
    if (node.op != HOLO_DIM_DIV) return holo_emit(e, names[node.op], HOLO_IN(a, b), NULL);
    a = holo_emit(e, "Sub", HOLO_IN(a, holo_emit(e, "Mod", HOLO_IN(a, b), NULL)), NULL); // to the lower whole number
    return holo_emit(e, "Div", HOLO_IN(a, b), NULL);
}

HoloValue *holo_emit_sizes(HoloEmit *e, const HoloDim *sizes, int count)
{
    HoloValue *part[2 * HOLO_MAX_RANK];
    bool       is_known = true;
    for (int i = 0; i < count && !e->status && count <= HOLO_COUNT(part); i++) {
        int steps = 0;
        is_known &= !is_open(e, sizes[i], &steps);
    }
    if (is_known || e->status) return holo_emit_contents(e, sizes, count);
    for (int i = 0; i < count; i++) part[i] = computed(e, sizes[i], 0);
    if (count == 1 || e->status) return e->status ? NULL : part[0];
    return holo_emit(e, "Concat", (HoloEmitIn){count, part}, HOLO_ATTRS(holo_with_int("axis", 0)));
}
