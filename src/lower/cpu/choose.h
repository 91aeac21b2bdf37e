// choose.h - what the choices of the CPU's kernels share.
#ifndef HOLO_LOWER_CPU_CHOOSE_H
#define HOLO_LOWER_CPU_CHOOSE_H

#include "graph/facts.h"
#include "lower/cpu/cpu_target.h"

static inline bool holo_value_is_f32(const HoloValue *value, int rank_min, int rank_max)
{
    return holo_value_is(value, HOLO_F32, rank_min, rank_max);
}

// The tail of an operator of domain hologram, whose operands are its inputs from 3 on. False: an operand is not f32, or
// its sizes are neither known nor named.
bool holo_lower_tail(const HoloNode *node, HoloProgram *out);

// Kernels for 8-bit integers, and how their weights are packed.
bool        holo_lower_matmul_i8(const HoloNode *node, HoloLowering *out);
bool        holo_lower_quantize_i8(const HoloNode *node, HoloLowering *out);
bool        holo_lower_cast(const HoloNode *node, HoloLowering *out);
bool        holo_lower_conv_i8(const HoloNode *node, HoloLowering *out);
bool        holo_lower_pool_i8(const HoloNode *node, HoloLowering *out);
bool        holo_lower_pair_i8(const HoloNode *node, HoloLowering *out);
bool        holo_lower_conv_nhwc_i8(const HoloNode *node, HoloLowering *out);
bool        holo_lower_conv_real_i8(const HoloNode *node, HoloLowering *out);
HoloPacking holo_lower_packing_conv_i8(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_lower_pack_conv_i8(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);
HoloPacking holo_lower_packing_i8(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_lower_pack_i8(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);

// MatMulNBits, and its packed weights, scales and zero points.
bool        holo_lower_matmul_nbits(const HoloNode *node, HoloLowering *out);
HoloPacking holo_lower_packing_nbits(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_lower_pack_nbits(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);

// MatMulBlocks, and its packed weights.
bool        holo_lower_matmul_blocks(const HoloNode *node, HoloLowering *out);
HoloPacking holo_lower_packing_blocks(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_lower_pack_blocks(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);

// TakeRows, whose table may be packed as weights of a product.
bool holo_lower_take_rows(const HoloNode *node, HoloLowering *out);

// Packs input i in panels if it is a constant and padding does not enlarge it much. False: it is not packed.
bool holo_lower_pack(const HoloNode *node, int i, bool transposed, HoloLowering *out);
// The type, one of HOLO_WEIGHTS_*, in which an f32 constant is stored that `rows` rows are multiplied with; 0: as f32.
// `rows` is negative if it is not known, and 0 if the kernel reads no codes. Writes the book if the type is codes.
uint32_t holo_lower_narrow_type(const HoloTensor *w, int64_t rows, float out_book[HOLO_BOOK]);
// Does the constant have at most 16 different numbers? Then they are written to the book and repeated to its end.
bool holo_lower_book(const HoloTensor *w, float out_book[HOLO_BOOK]);
// Packs a part of f16 or bf16 weights as panels of f32: `rows` by `columns` numbers from element `from` on.
void holo_lower_pack_wide(const HoloTensor *w, int64_t from, int64_t rows, int64_t columns, int64_t row, int64_t column,
                          float *out);
// The HOLO_WEIGHTS_* flag of a kernel's parameters; 0: there is none.
uint32_t holo_lower_narrow(const HoloLowering *lowering);
// The form of panels of a constant that was packed with its dimensions exchanged: see lower.h.
uint32_t holo_lower_panels_form(const HoloLowering *lowering, const HoloTensor *w);
// Narrows `size` bytes of f32, whole rows of 16, in place and returns their new size. With codes, the first part begins
// with the book.
size_t holo_lower_pack_narrow(const HoloLowering *lowering, bool is_first, size_t size, void *part);

// Convolutions with channels last, and how their weights are packed (see lower.h).
bool holo_lower_conv_nhwc(const HoloNode *node, HoloLowering *out);
// The other ways to run what holo_lower_conv_nhwc chose, at most two. Returns how many.
int         holo_lower_conv_ways(const HoloNode *node, const HoloLowering *chosen, HoloLowering *out);
HoloPacking holo_lower_packing_conv(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_lower_pack_conv(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);

// Attention by attention_f32. False: the kernel cannot run it.
bool holo_lower_attention(const HoloNode *node, HoloLowering *out);
bool holo_lower_attention_other(const HoloNode *node, HoloLowering *out);
bool holo_lower_rotary(const HoloNode *node, HoloLowering *out);

// LSTM, GRU and RNN. A GRU that resets the state before the product of its candidate has a kernel of its own.
bool        holo_lower_recurrent(const HoloNode *node, HoloLowering *out);
bool        holo_lower_gru_reset(const HoloNode *node, HoloLowering *out);
HoloPacking holo_lower_packing_gates(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_lower_pack_gates(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);
bool        holo_lower_lstm_i8(const HoloNode *node, HoloLowering *out);
HoloPacking holo_lower_packing_gates_i8(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_lower_pack_gates_i8(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);

#endif
