// seeded.c - inputs made up from a seed, for models without any of their own.
//
// Whole numbers that index a constant table are any of its rows; others are 1, which most models take.
#include "quantize/quantize.h"

#include "ops/tensor.h"
#include "passes/rewrite.h"
#include "verify/sizes.h"

#include <string.h>

// How many rows a table has that an input of whole numbers indexes; 0: it does not.
static int64_t rows_of(const HoloGraph *graph, const HoloValue *input)
{
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        if (!holo_node_is(node, "Gather") || node->in_count < 2 || node->in[1] != input || !node->in[0]) continue;
        const HoloAttr   *axis  = holo_node_attr(node, "axis");
        const HoloTensor *table = &node->in[0]->type;
        bool              first = !axis || (axis->kind == HOLO_ATTR_INT && axis->i == 0);
        if (first && node->in[0]->is_constant && table->rank > 0) return table->dim[0];
    }
    return 0;
}

static void fill(HoloTensor *t, int64_t rows, HoloRandom *random)
{
    HoloClass class = holo_dtype_class((HoloDtype)t->dtype);
    for (int64_t i = 0, n = holo_tensor_count(t); i < n; i++) {
        if (class == HOLO_CLASS_FLOAT)
            holo_put_f(t, i, holo_random_normal(random));
        else
            holo_put_i(t, i, rows > 1 ? (int64_t)(holo_random_next(random) % (uint64_t)rows) : 1);
    }
}

// A size that is open is what the model's operators accept.
static int64_t size_of(const HoloGraph *graph, const int64_t *found, HoloDim d)
{
    if (!holo_dim_is_symbolic(d)) return d;
    const HoloDimNode *node = d == HOLO_DIM_UNKNOWN ? NULL : holo_dims_node(graph->dims, holo_dim_entry(d));
    return node && node->op == HOLO_DIM_SYMBOL ? found[node->a] : 2;
}

static HoloStatus input_make(const HoloGraph *graph, const int64_t *found, int index, HoloRandom *random,
                             HoloArena *arena, HoloTensor *out, HoloError *error)
{
    const HoloValue *input = graph->inputs[index];
    *out                   = input->type;
    bool is_tensor         = out->kind == HOLO_TENSOR && out->rank >= 0 && out->dtype && out->dtype != HOLO_STRING;
    if (!is_tensor || holo_dtype_class((HoloDtype)out->dtype) == HOLO_CLASS_COMPLEX)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "input %s cannot be made up to measure accuracy: give some by --calibrate FILE.npz",
                         input->name);
    for (int d = 0; d < out->rank; d++) out->dim[d] = size_of(graph, found, out->dim[d]);
    if (holo_tensor_count(out) < 0 || !(out->data = holo_arena_take(arena, holo_tensor_bytes(out) + 1)))
        return holo_fail_memory(error);
    fill(out, rows_of(graph, input), random);
    return HOLO_OK;
}

HoloStatus holo_samples_seeded(const HoloGraph *graph, int count, HoloArena *arena, HoloSamples *out, HoloError *error)
{
    HoloRandom     random = {UINT64_C(0x71756E74)};
    HoloGraph     *trial  = holo_graph_copy(graph, arena);
    const int64_t *found  = trial ? holo_sizes_find(trial, arena, error) : NULL;
    *out                  = (HoloSamples){.count = count, .inputs = HOLO_NEW(arena, HoloTensor *, count + 1)};
    if (!out->inputs || !found) return holo_fail_memory(error);
    for (int s = 0; s < count; s++) {
        out->inputs[s] = HOLO_NEW(arena, HoloTensor, graph->input_count + 1);
        if (!out->inputs[s]) return holo_fail_memory(error);
        for (int i = 0; i < graph->input_count; i++)
            HOLO_TRY(input_make(graph, found, i, &random, arena, &out->inputs[s][i], error));
    }
    return HOLO_OK;
}
