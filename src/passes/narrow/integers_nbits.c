// integers_nbits.c - for the pass `integers`: products with weights of few bits that take their other factor in 8 bits.
//
// The other factor is rounded block by block if accuracy_level is 4 and weights, scales and zero points are constants.
// The table below says for which bits and blocks.
#include "ops/microsoft/nbits.h"
#include "passes/narrow/integers.h"

static const struct {
    int     bits;
    int64_t least, most; // sizes of a block
} rounded[] = {{2, 32, 128}, {4, 16, 256}, {8, 16, 256}};

static bool is_given(const HoloNode *node, int i)
{
    return i < node->in_count && node->in[i];
}

bool holo_integers_nbits(HoloNode *node)
{
    int64_t bits = holo_node_int(node, "bits", 4), block = holo_node_int(node, "block_size", 0);
    if (!HOLO_IS(node, MICROSOFT_MatMulNBits) || holo_node_int(node, "accuracy_level", 0) != 4 ||
        is_given(node, HOLO_NBITS_GROUPS) || !holo_node_constant(node, HOLO_NBITS_B) ||
        !holo_node_constant(node, HOLO_NBITS_SCALES))
        return false;
    if (is_given(node, HOLO_NBITS_ZEROS) &&
        (!holo_node_constant(node, HOLO_NBITS_ZEROS) || node->in[HOLO_NBITS_ZEROS]->type.dtype != HOLO_U8))
        return false;
    int i = 0;
    while (i < HOLO_COUNT(rounded) && bits != rounded[i].bits) i++;
    if (i == HOLO_COUNT(rounded) || block < rounded[i].least || block > rounded[i].most) return false;
    holo_node_become(node, HOLO_ID_HOLOGRAM_MatMulNBits, node->version);
    return true;
}
