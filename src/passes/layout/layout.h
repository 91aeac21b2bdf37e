// layout.h - what the rules of the pass `layout` share: values with channels last, and nodes that take them.
#ifndef HOLO_PASSES_LAYOUT_LAYOUT_H
#define HOLO_PASSES_LAYOUT_LAYOUT_H

#include "passes/rewrite.h"

typedef struct HoloLayout {
    HoloGraph         *graph;
    HoloArena         *scratch;
    HoloValue        **last;      // by value id: the value with channels last; NULL: there is none yet
    bool              *is_native; // by value id: it came so from an operator, not from a transposition
    int                room;
    int                changes;
    const HoloTargets *targets;
    const HoloTarget  *target; // of the node at hand
    HoloError         *error;
} HoloLayout;

// A value with its channels last. NULL: no memory.
HoloValue *holo_layout_last(HoloLayout *l, HoloValue *value);
// The same of an operand that broadcasts to so many dimensions: it has as many, or is a constant with data.
HoloValue *holo_layout_operand(HoloLayout *l, HoloValue *value, int rank);
// Did it come with channels last from an operator?
bool holo_layout_is_last(const HoloLayout *l, const HoloValue *value);
// A node of the operator and version that `node` is of, whose output 0 is that of `node` with channels last; `node` becomes
// the way back. Where channels last are another operator's, the caller has made `node` one of it. `in` is filled in. False: no
// memory.
bool holo_layout_replace(HoloLayout *l, HoloNode *node, HoloValue *const *in, int in_count, const HoloAttr *attr,
                         int attr_count);

// Where dimension d of a value with channels last was before.
int holo_layout_before(int rank, int d);
// The attributes of a node with this one in place of that of its name. NULL: no memory.
HoloAttr *holo_layout_with_attr(HoloLayout *l, const HoloNode *node, const HoloAttr *other);

// A tensor of a type of which the target has kernels with channels last, and of 1 to 3 spatial dimensions.
bool holo_layout_is_image(const HoloLayout *l, const HoloValue *value);

// A rule for an operator: true where there is nothing to do or it has been done; false: no memory.
typedef struct HoloLayoutRule {
    HoloOpId id;
    bool (*apply)(HoloLayout *l, HoloNode *node);
} HoloLayoutRule;

// Ended by a row without an id.
extern const HoloLayoutRule        holo_layout_conv[];
extern const HoloLayoutRule        holo_layout_i8[]; // operators on 8-bit integers
extern const HoloLayoutRule        holo_layout_resize[];
extern const HoloLayoutRule *const holo_layout_rules[]; // all of them; ended by NULL

#endif
