// value.h - values that are not tensors: sequences and optionals, which are arrays of HoloTensor.
//
// They never change once made, so two may share elements. All their memory is kept: it lives as long as the outputs of
// the run.
#ifndef HOLO_OPS_VALUE_H
#define HOLO_OPS_VALUE_H

#include "ops/move.h"

// Fails if input `input` is given and has another kind.
HOLO_MUST HoloStatus holo_expect_kind(const HoloCall *call, int input, HoloKind kind);

// ---- for infer

// Output i is a sequence or an optional; its number of elements is not known yet.
void holo_out_list_type(HoloCall *call, int i, HoloKind kind, HoloKind inner, HoloDtype dtype);

// What is known about the ranks of a sequence's elements, in dim[1] of its type. The sequence that a loop builds begins
// empty: HOLO_ITEMS_NONE fits any element.
enum { HOLO_ITEMS_ANY = 0, HOLO_ITEMS_NONE = 1, HOLO_ITEMS_RANK = 2 }; // HOLO_ITEMS_RANK + r: all have rank r
int64_t holo_items_of(const HoloTensor *item);                         // of a sequence with this element alone
int64_t holo_items_both(int64_t a, int64_t b);                         // of elements of two sequences
int     holo_items_rank(const HoloTensor *sequence);                   // -1: not known

// ---- for eval, if infer left the sizes of the output unknown

// Kept memory, zeroed. Fails if there is none.
HOLO_MUST HoloStatus holo_keep(const HoloCall *call, size_t count, size_t size, void **out);
// Copies a value with all that it holds into memory that `host` keeps. `out` may be `from`.
HOLO_MUST HoloStatus holo_value_clone(const HoloHost *host, const HoloTensor *from, HoloTensor *out, HoloError *error);
// Copies a tensor into kept memory; a sequence or optional is not copied, since its memory is kept already.
HOLO_MUST HoloStatus holo_value_copy(const HoloCall *call, const HoloTensor *from, HoloTensor *out);
// Makes output i such a copy.
HOLO_MUST HoloStatus holo_out_value(HoloCall *call, int i, const HoloTensor *value);
// Makes output i a sequence or an optional of `count` elements, which the caller writes to *out_items.
HOLO_MUST HoloStatus holo_out_list(HoloCall *call, int i, HoloKind kind, HoloKind inner, HoloDtype dtype, int64_t count,
                                   HoloTensor **out_items);

// Makes output i the sequence of input 0 with one more item at the end, which the caller writes to **out_item. If the
// sequence is in host->lists, its items stay where they are.
HOLO_MUST HoloStatus holo_out_list_longer(HoloCall *call, int i, HoloTensor **out_item);

// Arrays of items with room at the end. A sequence never changes. But an item behind the last one that any sequence of
// the array has is seen by none of them, so a sequence that grows item by item need not be copied each time. Only a few
// arrays are remembered; others are copied. Set it to zeros first, and again when the memory of `keep` is reused.
typedef struct HoloLists {
    struct {
        HoloTensor *items;
        int64_t     used, room;
    } list[8];
    int next; // the one to forget next
} HoloLists;

// Joins the `count` tensors at items[0], items[step], ... along a new axis, in kept memory, in reverse order if wanted.
// `room`, at least `count`, is the size of the new axis; the rest is zero. All must be alike, and there must be at
// least one.
HOLO_MUST HoloStatus holo_value_stack(const HoloCall *call, const HoloTensor *items, int64_t step, int64_t count,
                                      int64_t room, int64_t axis, bool reverse, HoloTensor *out);

// Tensors that come one after another and are copied as they come, to be joined in this way. Set it to zeros first.
typedef struct HoloStack {
    HoloTensor type; // of each
    int64_t    count;
    char      *bytes; // of all, in memory of the call
    size_t     size, room;
} HoloStack;
HOLO_MUST HoloStatus holo_stack_add(const HoloCall *call, HoloStack *stack, const HoloTensor *item);
// As holo_value_stack: there must be at least one.
HOLO_MUST HoloStatus holo_stack_join(const HoloCall *call, const HoloStack *stack, int64_t room, int64_t axis,
                                     bool reverse, HoloTensor *out);

#endif
