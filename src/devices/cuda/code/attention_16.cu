// attention_16.cu - attention of f16 and bf16. cuda_pick_more.c has the same table.
#include "attention.cuh"

ATTENTION(attention_f16_64, F16, 64, 64)
ATTENTION(attention_f16_128, F16, 128, 64)
ATTENTION(attention_f16_256, F16, 256, 32)
ATTENTION(attention_bf16_64, BF16, 64, 64)
ATTENTION(attention_bf16_128, BF16, 128, 64)
ATTENTION(attention_bf16_256, BF16, 256, 32)
