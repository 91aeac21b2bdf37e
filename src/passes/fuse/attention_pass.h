// attention_pass.h - the two halves of the pass `attention`.
#ifndef HOLO_PASSES_FUSE_ATTENTION_PASS_H
#define HOLO_PASSES_FUSE_ATTENTION_PASS_H

#include "passes/build.h"

// Makes of MatMul, softmax and MatMul one Attention; `node` is the second MatMul. `uses` as of holo_graph_uses, of the
// first `use_count` values. False: no memory.
bool holo_attention_fuse(HoloRewrite *rewrite, const int *uses, int use_count, HoloNode *node);

// Attention takes its inputs before heads are split off, repeated or transposed; MultiHeadAttention without more than
// Attention has becomes that. False: no memory.
bool holo_attention_heads(HoloRewrite *rewrite, HoloNode *node);

#endif
