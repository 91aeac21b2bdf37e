// attention_32.cu - attention of f32: by tf32, and by three products of tf32 halves (heads of 256 always). cuda_pick_more.c has the same table.
#include "attention.cuh"

ATTENTION(attention_tf32_64, TF32, 64, 32)
ATTENTION(attention_tf32_128, TF32, 128, 32)
ATTENTION(attention_parts_64, Parts, 64, 32)
ATTENTION(attention_parts_128, Parts, 128, 32)
ATTENTION(attention_parts_256, Parts, 256, 16)
