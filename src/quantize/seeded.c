// seeded.c - inputs made up from a seed, for models without any of their own.
//
// They are as the graph says: indices within what they index, masks, lengths; else normal floats and whole numbers of
// 1.
#include "quantize/quantize.h"

#include "verify/made_up.h"
#include "verify/sizes.h"

// A size that is open is what the model's operators accept.
static int64_t size_of(const HoloGraph *graph, const int64_t *found, HoloDim d)
{
    if (!holo_dim_is_symbolic(d)) return d;
    const HoloDimNode *node = d == HOLO_DIM_UNKNOWN ? NULL : holo_dims_node(graph->dims, holo_dim_entry(d));
    return node && node->op == HOLO_DIM_SYMBOL ? found[node->a] : 2;
}

static HoloStatus input_make(HoloMadeUp *made, const int64_t *found, int index, HoloArena *arena, HoloTensor *out,
                             HoloError *error)
{
    const HoloGraph *graph = made->graph;
    const HoloValue *input = graph->inputs[index];
    *out                   = input->type;
    bool is_tensor         = out->kind == HOLO_TENSOR && out->rank >= 0 && out->dtype && out->dtype != HOLO_STRING;
    if (!is_tensor || holo_dtype_class((HoloDtype)out->dtype) == HOLO_CLASS_COMPLEX)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "input %s cannot be made up to measure accuracy: give samples to calibrate with (--calibrate)",
                         input->name);
    for (int d = 0; d < out->rank; d++)
        out->dim[d] = size_of(graph, found, input->least ? input->least[d] : out->dim[d]);
    if (holo_tensor_count(out) < 0 || !(out->data = holo_arena_take(arena, holo_tensor_bytes(out) + 1)))
        return holo_fail_memory(error);
    holo_made_up_fill(made, index, out);
    return HOLO_OK;
}

HoloStatus holo_samples_seeded(const HoloGraph *graph, int count, HoloArena *arena, HoloSamples *out, HoloError *error)
{
    HoloMadeUp            made;
    HoloGraph            *trial  = holo_graph_copy(graph, arena);
    const int64_t        *found  = trial ? holo_sizes_find(trial, arena, error) : NULL;
    const HoloInputRange *ranges = found ? holo_ranges_find(trial, arena) : NULL;
    *out                         = (HoloSamples){.count = count, .inputs = HOLO_NEW(arena, HoloTensor *, count + 1)};
    if (!out->inputs || !ranges) return holo_fail_memory(error);
    HOLO_TRY(holo_made_up_init(&made, graph, ranges, arena, error));
    for (int s = 0; s < count; s++) {
        made.seed      = (uint64_t)s;
        out->inputs[s] = HOLO_NEW(arena, HoloTensor, graph->input_count + 1);
        if (!out->inputs[s]) return holo_fail_memory(error);
        for (int i = 0; i < graph->input_count; i++)
            HOLO_TRY(input_make(&made, found, i, arena, &out->inputs[s][i], error));
    }
    return HOLO_OK;
}
