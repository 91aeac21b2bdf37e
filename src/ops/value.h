// value.h - values that are no tensors: sequences and optionals, which are arrays of HoloTensor.
//
// They are never changed once made, so that two may share elements. All their memory is kept: it
// lives as long as the outputs of the run.
#ifndef HOLO_OPS_VALUE_H
#define HOLO_OPS_VALUE_H

#include "ops/move.h"

// Fails where input `input` is given and of another kind.
HOLO_MUST HoloStatus holo_expect_kind(const HoloCall *call, int input, HoloKind kind);

// ---- for infer

// Output i is a sequence or an optional of so many elements as will be seen.
void holo_out_list_type(HoloCall *call, int i, HoloKind kind, HoloKind inner, HoloDtype dtype);

// ---- for eval, where infer has left the sizes of the output unknown

// Kept memory, zeroed. Fails when there is none.
HOLO_MUST HoloStatus holo_keep(const HoloCall *call, size_t count, size_t size, void **out);
// A copy of a value and of all that it holds, in memory that `host` keeps. `out` may be `from`.
HOLO_MUST HoloStatus holo_value_clone(const HoloHost *host, const HoloTensor *from, HoloTensor *out, HoloError *error);
// A copy of a tensor in kept memory; a sequence or optional itself, whose memory is kept already.
HOLO_MUST HoloStatus holo_value_copy(const HoloCall *call, const HoloTensor *from, HoloTensor *out);
// Output i is such a copy.
HOLO_MUST HoloStatus holo_out_value(HoloCall *call, int i, const HoloTensor *value);
// Output i is a sequence or an optional of `count` elements, which the caller writes to *out_items.
HOLO_MUST HoloStatus holo_out_list(HoloCall *call, int i, HoloKind kind, HoloKind inner, HoloDtype dtype, int64_t count,
                                   HoloTensor **out_items);

// Output i is the sequence of input 0 with one item more behind the others, which the caller writes to **out_item. Where
// the sequence is one of host->lists, its items stay where they are.
HOLO_MUST HoloStatus holo_out_list_longer(HoloCall *call, int i, HoloTensor **out_item);

// Arrays of items that have room behind them. A sequence never changes; but one more item behind the last one that any
// sequence of the array has is seen by none of them, so a sequence that grows item by item need not be copied for each.
// Only so many are remembered; the others are copied. Zero-initialize, and again when the memory of `keep` is reused.
typedef struct HoloLists {
    struct {
        HoloTensor *items;
        int64_t     used, room;
    } list[8];
    int next; // the one to be forgotten
} HoloLists;

// The `count` tensors at items[0], items[step], ... joined along a new axis, in kept memory, in
// reverse order if so wanted. `room`, at least `count`, is the size of the new axis; what is not
// filled is zero. All must be alike, and there must be one.
HOLO_MUST HoloStatus holo_value_stack(const HoloCall *call, const HoloTensor *items, int64_t step, int64_t count,
                                      int64_t room, int64_t axis, bool reverse, HoloTensor *out);

// Tensors that come one after another, copied as they come, to be joined so. Zero-initialize.
typedef struct HoloStack {
    HoloTensor type; // of each
    int64_t    count;
    char      *bytes; // of all, in memory of the call
    size_t     size, room;
} HoloStack;
HOLO_MUST HoloStatus holo_stack_add(const HoloCall *call, HoloStack *stack, const HoloTensor *item);
// As holo_value_stack: there must be one.
HOLO_MUST HoloStatus holo_stack_join(const HoloCall *call, const HoloStack *stack, int64_t room, int64_t axis,
                                     bool reverse, HoloTensor *out);

#endif
