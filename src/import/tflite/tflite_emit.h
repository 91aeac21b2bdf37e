// tflite_emit.h - the functions that emit operators, for the tables of these; and what some of them share.
#ifndef HOLO_IMPORT_TFLITE_EMIT_H
#define HOLO_IMPORT_TFLITE_EMIT_H

#include "import/tflite/tflite.h"

void holo_tf_add_n(HoloTfOp *op);
void holo_tf_arg(HoloTfOp *op);
void holo_tf_assign_variable(HoloTfOp *op);
void holo_tf_atan2(HoloTfOp *op);
void holo_tf_average_pool(HoloTfOp *op);
void holo_tf_batch_matmul(HoloTfOp *op);
void holo_tf_batch_to_space(HoloTfOp *op);
void holo_tf_bidirectional_lstm(HoloTfOp *op);
void holo_tf_bidirectional_rnn(HoloTfOp *op);
void holo_tf_binary(HoloTfOp *op);
void holo_tf_binary_active(HoloTfOp *op);
void holo_tf_bitcast(HoloTfOp *op);
void holo_tf_broadcast_args(HoloTfOp *op);
void holo_tf_broadcast_to(HoloTfOp *op);
void holo_tf_bucketize(HoloTfOp *op);
void holo_tf_call(HoloTfOp *op);
void holo_tf_call_once(HoloTfOp *op);
void holo_tf_case(HoloTfOp *op);
void holo_tf_cast(HoloTfOp *op);
void holo_tf_cbrt(HoloTfOp *op);
void holo_tf_clamp(HoloTfOp *op);
void holo_tf_compare(HoloTfOp *op);
void holo_tf_complex_abs(HoloTfOp *op);
void holo_tf_complex_part(HoloTfOp *op);
void holo_tf_composite(HoloTfOp *op);
void holo_tf_concat(HoloTfOp *op);
void holo_tf_conv(HoloTfOp *op);
void holo_tf_conv3(HoloTfOp *op);
void holo_tf_conv3_transpose(HoloTfOp *op);
void holo_tf_cumsum(HoloTfOp *op);
void holo_tf_depth_space(HoloTfOp *op);
void holo_tf_depthwise(HoloTfOp *op);
void holo_tf_dequantize_op(HoloTfOp *op);
void holo_tf_detection(HoloTfOp *op);
void holo_tf_dilate(HoloTfOp *op);
void holo_tf_dynamic_update(HoloTfOp *op);
void holo_tf_embedding_lookup(HoloTfOp *op);
void holo_tf_embedding_sparse(HoloTfOp *op);
void holo_tf_expand_dims(HoloTfOp *op);
void holo_tf_extreme(HoloTfOp *op);
void holo_tf_fake_quant(HoloTfOp *op);
void holo_tf_fill(HoloTfOp *op);
void holo_tf_floor_div(HoloTfOp *op);
void holo_tf_floor_mod(HoloTfOp *op);
void holo_tf_fully_connected(HoloTfOp *op);
void holo_tf_gather(HoloTfOp *op);
void holo_tf_gather_nd(HoloTfOp *op);
void holo_tf_gelu(HoloTfOp *op);
void holo_tf_hashtable(HoloTfOp *op);
void holo_tf_hashtable_find(HoloTfOp *op);
void holo_tf_hashtable_import(HoloTfOp *op);
void holo_tf_hashtable_lookup(HoloTfOp *op);
void holo_tf_hashtable_size(HoloTfOp *op);
void holo_tf_hlo_broadcast(HoloTfOp *op);
void holo_tf_hlo_compare(HoloTfOp *op);
void holo_tf_hlo_concat(HoloTfOp *op);
void holo_tf_hlo_convolution(HoloTfOp *op);
void holo_tf_hlo_dot(HoloTfOp *op);
void holo_tf_hlo_dynamic_slice(HoloTfOp *op);
void holo_tf_hlo_dynamic_update(HoloTfOp *op);
void holo_tf_hlo_gather(HoloTfOp *op);
void holo_tf_hlo_iota(HoloTfOp *op);
void holo_tf_hlo_pad(HoloTfOp *op);
void holo_tf_hlo_random_bits(HoloTfOp *op);
void holo_tf_hlo_reduce(HoloTfOp *op);
void holo_tf_hlo_reduce_window(HoloTfOp *op);
void holo_tf_hlo_reshape(HoloTfOp *op);
void holo_tf_hlo_scatter(HoloTfOp *op);
void holo_tf_hlo_slice(HoloTfOp *op);
void holo_tf_hlo_sort(HoloTfOp *op);
void holo_tf_hlo_transpose(HoloTfOp *op);
void holo_tf_identity(HoloTfOp *op);
void holo_tf_if(HoloTfOp *op);
void holo_tf_l2_normalize(HoloTfOp *op);
void holo_tf_l2_pool(HoloTfOp *op);
void holo_tf_leaky_relu(HoloTfOp *op);
void holo_tf_left_shift(HoloTfOp *op);
void holo_tf_logical(HoloTfOp *op);
void holo_tf_logical_not(HoloTfOp *op);
void holo_tf_lrn(HoloTfOp *op);
void holo_tf_lsh_projection(HoloTfOp *op);
void holo_tf_lstm(HoloTfOp *op);
void holo_tf_matrix_diag(HoloTfOp *op);
void holo_tf_matrix_set_diag(HoloTfOp *op);
void holo_tf_max_pool(HoloTfOp *op);
void holo_tf_max_pool_places(HoloTfOp *op);
void holo_tf_max_unpool(HoloTfOp *op);
void holo_tf_mean(HoloTfOp *op);
void holo_tf_mediapipe_deconv(HoloTfOp *op);
void holo_tf_mirror_pad(HoloTfOp *op);
void holo_tf_multinomial(HoloTfOp *op);
void holo_tf_nms(HoloTfOp *op);
void holo_tf_not_equal(HoloTfOp *op);
void holo_tf_one_hot(HoloTfOp *op);
void holo_tf_pack(HoloTfOp *op);
void holo_tf_pad(HoloTfOp *op);
void holo_tf_prelu(HoloTfOp *op);
void holo_tf_quantize_op(HoloTfOp *op);
void holo_tf_random(HoloTfOp *op);
void holo_tf_range(HoloTfOp *op);
void holo_tf_rank_op(HoloTfOp *op);
void holo_tf_read_variable(HoloTfOp *op);
void holo_tf_reduce(HoloTfOp *op);
void holo_tf_reduce_extreme(HoloTfOp *op);
void holo_tf_reduce_truth(HoloTfOp *op);
void holo_tf_reduce_window(HoloTfOp *op);
void holo_tf_relu(HoloTfOp *op);
void holo_tf_remainder(HoloTfOp *op);
void holo_tf_resampler(HoloTfOp *op);
void holo_tf_reshape(HoloTfOp *op);
void holo_tf_resize_bilinear(HoloTfOp *op);
void holo_tf_resize_nearest(HoloTfOp *op);
void holo_tf_reverse(HoloTfOp *op);
void holo_tf_reverse_sequence(HoloTfOp *op);
void holo_tf_rfft2d(HoloTfOp *op);
void holo_tf_right_shift(HoloTfOp *op);
void holo_tf_rnn(HoloTfOp *op);
void holo_tf_rsqrt(HoloTfOp *op);
void holo_tf_scatter_nd(HoloTfOp *op);
void holo_tf_segment_sum(HoloTfOp *op);
void holo_tf_select(HoloTfOp *op);
void holo_tf_sequence_lstm(HoloTfOp *op);
void holo_tf_sequence_rnn(HoloTfOp *op);
void holo_tf_shape(HoloTfOp *op);
void holo_tf_skip_gram(HoloTfOp *op);
void holo_tf_slice(HoloTfOp *op);
void holo_tf_softmax(HoloTfOp *op);
void holo_tf_space_to_batch(HoloTfOp *op);
void holo_tf_sparse_to_dense(HoloTfOp *op);
void holo_tf_split(HoloTfOp *op);
void holo_tf_split_v(HoloTfOp *op);
void holo_tf_square(HoloTfOp *op);
void holo_tf_squared_difference(HoloTfOp *op);
void holo_tf_squeeze(HoloTfOp *op);
void holo_tf_strided_slice(HoloTfOp *op);
void holo_tf_svdf(HoloTfOp *op);
void holo_tf_tile(HoloTfOp *op);
void holo_tf_top_k(HoloTfOp *op);
void holo_tf_transform_bilinear(HoloTfOp *op);
void holo_tf_transform_landmarks(HoloTfOp *op);
void holo_tf_landmarks_matrix(HoloTfOp *op);
void holo_tf_transpose_conv(HoloTfOp *op);
void holo_tf_transpose_op(HoloTfOp *op);
void holo_tf_unary(HoloTfOp *op);
void holo_tf_unique(HoloTfOp *op);
void holo_tf_unpack(HoloTfOp *op);
void holo_tf_unsorted_segment(HoloTfOp *op);
void holo_tf_var_handle(HoloTfOp *op);
void holo_tf_where(HoloTfOp *op);
void holo_tf_while(HoloTfOp *op);
void holo_tf_zeros_like(HoloTfOp *op);

// ---- products (tflite_conv.c, tflite_hybrid.c)

// The bias that is input i, as real numbers; NULL: there is none.
HoloValue *holo_tf_bias(HoloTfOp *op, int i, const HoloTfTensor *x, const HoloTfTensor *w);
// A convolution of real numbers with integers; `attrs` are those of ConvInteger.
HoloValue *holo_tf_hybrid_conv(HoloTfOp *op, HoloValue *image, HoloValue *w, const HoloTfTensor *t, int bias_at,
                               const HoloAttr *attrs);
// The product of real rows and the rows of a matrix of integers.
HoloValue *holo_tf_hybrid_rows(HoloTfOp *op, HoloValue *rows, HoloValue *w, const HoloTfTensor *t, bool is_shifted);

// ---- moving (tflite_shape.c, tflite_move.c, tflite_image.c)

// Input i as integers, if it has the scale of output 0; else as real numbers. And the result of moving them.
HoloValue *holo_tf_moved(HoloTfOp *op, int i);
void       holo_tf_give_moved(HoloTfOp *op, int from, HoloValue *y);
HoloValue *holo_tf_filled(HoloTfOp *op, HoloValue *shape, HoloDtype dtype, double number);
HoloValue *holo_tf_scatter(HoloTfOp *op, HoloValue *base, HoloValue *indices, HoloValue *updates,
                           const char *reduction);
// Puts times - 1 elements between two, along one dimension.
HoloValue *holo_tf_spread(HoloTfOp *op, HoloValue *x, int axis, int64_t times, HoloValue *between);

// Gives x with `part` in it, from the place `start` on.
void holo_tf_update(HoloTfOp *op, HoloValue *x, HoloValue *part, HoloValue *start);

// ---- StableHLO (tflite_hlo.c)

// A list of i64 of the options. Returns how many there are; -1 and a failure: too many.
int holo_tf_hlo_longs(HoloTfOp *op, int field, int64_t *out, int room);
// The builtin code of the one operator that a body consists of, and the operator; -1: it has none, or several.
int64_t holo_tf_hlo_body_code(HoloTfOp *op, int64_t subgraph, HoloFlatTable *out);
// The operator of two elements that a body consists of; NULL and a failure: it is another body.
const char *holo_tf_hlo_join(HoloTfOp *op, int64_t subgraph);

// ---- states (tflite_state.c)

HoloValue           *holo_tf_state_read(HoloTfOp *op, HoloTfTensor *t); // what a tensor that is kept is now
void                 holo_tf_state_write(HoloTfOp *op, HoloTfTensor *t, HoloValue *value);
HOLO_MUST HoloStatus holo_tf_states_end(HoloTf *im); // writes all states, when all operators are there

// A number of the options of a custom operator.
double holo_tf_option(const HoloTfOp *op, const char *key, double fallback);

#endif
