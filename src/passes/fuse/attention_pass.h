// attention_pass.h - the two halves of the pass `attention`.
#ifndef HOLO_PASSES_FUSE_ATTENTION_PASS_H
#define HOLO_PASSES_FUSE_ATTENTION_PASS_H

#include "passes/build.h"

// Turns MatMul, softmax and MatMul into one Attention; `node` is the second MatMul. `uses` is from holo_graph_uses, for
// the first `use_count` values. False: no memory.
bool holo_attention_fuse(HoloRewrite *rewrite, const int *uses, int use_count, HoloNode *node);

// Lets Attention take its inputs before heads are split, repeated or transposed. A MultiHeadAttention that has nothing
// beyond Attention becomes one. False: no memory.
bool holo_attention_heads(HoloRewrite *rewrite, HoloNode *node);

#endif
