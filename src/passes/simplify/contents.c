// contents.c - a value whose contents are known as expressions of the inputs' sizes needs no node. It becomes a value
// that is only its contents, and the chain of Shape, Gather, Mul and Concat that computed it is removed.
//
// This is only for i64 and i32: an archive has no other expressions. Contents that are numbers are constants; the pass
// fold makes them.
#include "passes/rewrite.h"

static bool follows_from_inputs(const HoloValue *value, const bool *is_input_entry)
{
    bool    is_whole = value->type.dtype == HOLO_I64 || value->type.dtype == HOLO_I32;
    int64_t count    = value->contents && is_whole ? holo_tensor_count(&value->type) : -1;
    for (int64_t i = 0; i < count; i++) {
        HoloDim d = value->contents[i];
        if (!holo_dim_is_symbolic(d)) continue;
        if (d == HOLO_DIM_UNKNOWN || !is_input_entry[holo_dim_entry(d)]) return false;
    }
    return count >= 0;
}

HoloStatus holo_pass_contents(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    bool       *is_input_entry = holo_graph_input_entries(graph, scratch);
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    if (!is_input_entry) return holo_fail_memory(error);
    int count = graph->value_count;
    for (int i = 0; i < count && holo_rewrite_more(&rewrite); i++) {
        HoloValue *value = graph->values[i];
        if (!value->producer || holo_contents_are_numbers(value)) continue;
        if (!follows_from_inputs(value, is_input_entry)) continue;
        if (!holo_rewrite_new(&rewrite, value)) return holo_fail_memory(error);
        holo_notes_add(
            changes->notes,
            &(HoloNote){
                .pass = "contents",
                .what = value->producer->type,
                .why =
                    "it depends only on the sizes of the inputs: it is computed when these are known, not in a run"});
    }
    return holo_rewrite_end(&rewrite, error);
}
