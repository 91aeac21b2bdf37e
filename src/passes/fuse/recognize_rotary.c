// recognize_rotary.c - the checks for rows of RotaryEmbedding: halves of vectors, and tables whose halves are equal.
//
// Models that rotate neighboring elements (interleaved) are not recognized.
#include "passes/fuse/recognize.h"

#include <string.h>

enum { RANK = 4, CHAIN_MAX = 16 };

static HoloDim last_size(const HoloTensor *t)
{
    return t->rank > 0 ? t->dim[t->rank - 1] : HOLO_DIM_UNKNOWN;
}

static bool is_last_axis(const HoloNode *node, int64_t fallback, int rank)
{
    const HoloAttr *attr = holo_node_attr(node, "axis");
    int64_t         axis = attr ? attr->i : fallback;
    return (axis < 0 ? axis + rank : axis) == rank - 1;
}

// ---- tables

static bool rows_repeat(const HoloTensor *t)
{
    size_t      half = holo_dtype_size((HoloDtype)t->dtype) * (size_t)last_size(t) / 2, size = holo_tensor_bytes(t);
    const char *data = t->data;
    for (size_t at = 0; at < size; at += 2 * half)
        if (memcmp(data + at, data + at + half, half) != 0) return false;
    return size > 0;
}

// Do the elements of the last dimension keep their order from input to output?
static HoloValue *same_rows(const HoloNode *node)
{
    double number;
    bool   is_scaled = HOLO_IS(node, Mul) || HOLO_IS(node, Add);
    if (!node->op || node->in_count < 1 || !node->in[0]) return NULL;
    if (is_scaled && node->in_count == 2)
        return holo_value_number(node->in[1], &number)   ? node->in[0]
               : holo_value_number(node->in[0], &number) ? node->in[1]
                                                         : NULL;
    if (HOLO_IS(node, Gather)) return is_last_axis(node, 0, node->in[0]->type.rank) ? NULL : node->in[0];
    bool keeps = node->op->flags & HOLO_OP_VIEW || (node->op->flags & HOLO_OP_POINTWISE && node->in_count == 1) ||
                 HOLO_IS(node, Cast);
    return keeps ? node->in[0] : NULL;
}

// Are the halves of each row equal? It checks only what is easy: a constant, or a Concat of two equal parts.
static bool repeats(const HoloValue *value, HoloDim size)
{
    for (int i = 0; i < CHAIN_MAX && value && last_size(&value->type) == size; i++) {
        const HoloNode *node = value->producer;
        if (value->is_constant) return value->type.data && rows_repeat(&value->type);
        if (!node) return false;
        if (HOLO_IS(node, Concat))
            return node->in_count == 2 && node->in[0] == node->in[1] && is_last_axis(node, -1, value->type.rank);
        value = same_rows(node);
    }
    return false;
}

// The table has the shape [batches,1,positions,size], maybe without leading dimensions of 1.
static bool is_table(const HoloValue *value, const HoloTensor *x, HoloDim batches)
{
    const HoloTensor *t          = &value->type;
    const HoloDim     want[RANK] = {batches, 1, x->dim[2], x->dim[3]};
    if (t->rank < 2 || t->rank > RANK || (t->rank < RANK && batches != 1)) return false;
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] != want[RANK - t->rank + d] || t->dim[d] == HOLO_DIM_UNKNOWN) return false;
    return repeats(value, x->dim[3]);
}

// ---- halves

static bool is_number(const HoloValue *value, int64_t a, int64_t b)
{
    return value && holo_contents_are_numbers(value) && holo_tensor_count(&value->type) == 1 &&
           (value->contents[0] == a || value->contents[0] == b);
}

typedef struct Part {
    const char *name, *start, *axis, *step;
    int         first; // the half that comes first
} Part;

static bool is_half(const HoloRecognize *r, const HoloTensor *x, const Part *part)
{
    HoloTensor       want = *x;
    int64_t          size = x->dim[RANK - 1], first = size / 2 * part->first;
    const HoloValue *step = holo_recognize_find(r, part->step);
    want.dim[RANK - 1]    = size / 2;
    return holo_type_equal(&holo_recognize_find(r, part->name)->type, &want) &&
           is_number(holo_recognize_find(r, part->start), first, first - size) &&
           is_number(holo_recognize_find(r, part->axis), -1, RANK - 1) && (!step || is_number(step, 1, 1));
}

// ---- the checks of rows

static bool rotary(HoloRecognize *r, HoloDim batches)
{
    static const Part parts[] = {{"low", "start1", "axis1", "step1", 0}, {"high", "start2", "axis2", "step2", 1}};
    const HoloTensor *x       = &holo_recognize_find(r, "x")->type;
    HoloDim           size    = x->rank == RANK ? x->dim[RANK - 1] : HOLO_DIM_UNKNOWN;
    if (holo_dim_is_symbolic(size) || size < 2 || size % 2) return false;
    if (!is_last_axis(holo_recognize_find(r, "turned")->producer, -1, RANK)) return false;
    if (!is_half(r, x, &parts[0]) || !is_half(r, x, &parts[1])) return false;
    if (!is_table(holo_recognize_find(r, "cos"), x, batches) || !is_table(holo_recognize_find(r, "sin"), x, batches))
        return false;
    return holo_recognize_make_ints(r, "half", 1, (const int64_t[]){size / 2}) &&
           holo_recognize_make_ints(r, "rows", 2, (const int64_t[]){-1, size / 2});
}

bool holo_recognize_rotary(HoloRecognize *r)
{
    const HoloTensor *x = &holo_recognize_find(r, "x")->type, *cos = &holo_recognize_find(r, "cos")->type;
    return cos->rank == RANK && x->rank == RANK && rotary(r, x->dim[0]);
}

bool holo_recognize_rotary_shared(HoloRecognize *r)
{
    return rotary(r, 1);
}
