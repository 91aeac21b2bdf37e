// attention_pass.h - the parts of the pass `attention`.
#ifndef HOLO_PASSES_FUSE_ATTENTION_PASS_H
#define HOLO_PASSES_FUSE_ATTENTION_PASS_H

#include "passes/build.h"

// Turns MatMul, softmax and MatMul into one Attention; `node` is the second MatMul. `uses` is from holo_graph_uses, for
// the first `use_count` values. False: no memory.
bool holo_attention_fuse(HoloRewrite *rewrite, const int *uses, int use_count, HoloNode *node);

// Lets Attention take its inputs before heads are split, repeated or transposed. A MultiHeadAttention that has nothing
// beyond Attention becomes one. False: no memory.
bool holo_attention_heads(HoloRewrite *rewrite, HoloNode *node);

// Lets Attention have the batch first where positions come first, and removes pairs of Transpose around products that such
// models have. False: no memory.
bool holo_attention_batch(HoloRewrite *rewrite, const int *uses, int use_count, HoloNode *node);

// For GPUs: makes products of their own from queries, keys and values that are parts of one. False: no memory.
bool holo_attention_parts(HoloRewrite *rewrite, const int *uses, int use_count, HoloNode *node);

#endif
