// layout.h - what the rules of the pass `layout` share: values with channels last, and nodes that take them.
#ifndef HOLO_PASSES_LAYOUT_LAYOUT_H
#define HOLO_PASSES_LAYOUT_LAYOUT_H

#include "passes/rewrite.h"

typedef struct HoloLayout {
    HoloGraph         *graph;
    HoloArena         *scratch;
    HoloValue        **last;      // by value id: the value with channels last; NULL: there is none yet
    bool              *is_native; // by value id: an operator gave it so, not a Transpose
    int                room;
    int                changes;
    const HoloTargets *targets;
    const HoloTarget  *target; // of the current node
    HoloError         *error;
} HoloLayout;

// A value with its channels last. NULL: no memory.
HoloValue *holo_layout_last(HoloLayout *l, HoloValue *value);
// The same for an operand that broadcasts to so many dimensions: it has as many, or is a constant with data.
HoloValue *holo_layout_operand(HoloLayout *l, HoloValue *value, int rank);
// Did an operator give it with channels last?
bool holo_layout_is_last(const HoloLayout *l, const HoloValue *value);
// Adds a node of the same operator and version as `node`, whose output 0 is that of `node` with channels last; `node`
// becomes the Transpose back. If another operator has channels last, the caller has given `node` that operator before.
// `in` is filled in. False: no memory.
bool holo_layout_replace(HoloLayout *l, HoloNode *node, HoloValue *const *in, int in_count, const HoloAttr *attr,
                         int attr_count);

// The index that dimension d of a value with channels last had before.
int holo_layout_before(int rank, int d);
// The attributes of a node with this one instead of that of the same name. NULL: no memory.
HoloAttr *holo_layout_with_attr(HoloLayout *l, const HoloNode *node, const HoloAttr *other);

// A tensor with 1 to 3 spatial dimensions and a type for which the target has kernels with channels last.
bool holo_layout_is_image(const HoloLayout *l, const HoloValue *value);

// A rule for an operator. True: there is nothing to do, or it is done; false: no memory.
typedef struct HoloLayoutRule {
    HoloOpId id;
    bool (*apply)(HoloLayout *l, HoloNode *node);
} HoloLayoutRule;

// The last row has no id.
extern const HoloLayoutRule        holo_layout_conv[];
extern const HoloLayoutRule        holo_layout_i8[]; // operators on 8-bit integers
extern const HoloLayoutRule        holo_layout_resize[];
extern const HoloLayoutRule *const holo_layout_rules[]; // all rules; ends with NULL

#endif
