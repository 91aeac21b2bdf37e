// attention.h - the sum of values weighted by softmax(query * key + bias) that every attention operator is.
//
// An operator says where its queries, keys and values lie, what is added to the scores and which keys a query sees.
// Scores, softmax and sums are computed here, in double, part by part so that memory stays bounded.
#ifndef HOLO_OPS_STANDARD_ATTENTION_H
#define HOLO_OPS_STANDARD_ATTENTION_H

#include "ops/contract.h"

// Vectors in a tensor, one for each batch, head and position: the numbers of one lie side by side, the first at
// start + batch * b + head * h + step * p. If there is `at`, b is not the number of the batch but at[it]. Numbers of i8
// are followed by an f32, which they are multiplied with.
typedef struct HoloHeads {
    const HoloTensor *t;
    int64_t           start, batch, head, step;
    const int64_t    *at; // NULL: batches follow one another
} HoloHeads;

enum { HOLO_SCALE_BYTES = 4 };

// Views of [batch][head][position][size] and of [batch][position][head * size].
HoloHeads holo_heads_outer(const HoloTensor *t);
HoloHeads holo_heads_inner(const HoloTensor *t, int64_t heads);
HoloHeads holo_heads_of(const HoloTensor *t, int64_t heads); // the first of four dimensions, else the second

// A tensor in memory that lives until the end of the call.
HOLO_MUST HoloStatus holo_temp_tensor(const HoloCall *call, HoloDtype dtype, int rank, const int64_t *dim,
                                      HoloTensor **out);

// Copies `count` positions of all heads, vectors of `size` numbers, between tensors of one dtype.
void holo_heads_move(HoloTensor *to, const HoloHeads *to_view, const HoloHeads *from, int64_t batch, int64_t heads,
                     int64_t count, int64_t size);

// What is added to the scores, broadcast to [batch][head][query][key].
typedef struct HoloBias {
    const HoloTensor *t; // NULL: nothing; bool: -inf where it is false
    int64_t           stride[4];
    int64_t           keys; // keys from here on get -inf
} HoloBias;

// While inferring: does input `input` broadcast to dim[0..3]? Its last size may be smaller where `pads`.
HOLO_MUST HoloStatus holo_bias_check(const HoloCall *call, int input, const HoloDim *dim, bool pads);
// When evaluating. `t` may be NULL.
void holo_bias_init(const HoloTensor *t, const int64_t *dim, bool pads, HoloBias *out);

typedef enum HoloAttentionStage { // of a row of scores
    HOLO_STAGE_RAW,               // query * key * scale
    HOLO_STAGE_CAPPED,            // then the soft cap
    HOLO_STAGE_BIASED,            // then biases, and -inf for keys that are not seen
    HOLO_STAGE_WEIGHTS,           // then the softmax
} HoloAttentionStage;

enum { HOLO_BIASES = 2 };

typedef struct HoloAttention {
    int64_t           batch, q_heads, kv_heads, queries, keys, size, v_size; // q_heads is a multiple of kv_heads
    HoloHeads         q, k, v;
    double            scale, softcap; // softcap 0: none
    bool              masked_nan;     // weights of rows where nothing is seen are NaN, as a softmax has it, not 0
    HoloBias          bias[HOLO_BIASES];
    bool              causal;      // query i sees no key after i + ahead
    bool              open_end;    // but the last query sees all
    int64_t           left, right; // nor keys farther than this before and after it; -1: as far as there are
    const int64_t    *ahead;       // for each batch, how many keys are before the first query; NULL: 0
    const int64_t    *valid;       // for each batch, how many keys there are; NULL: all
    const HoloTensor *sink;        // for each head of q, a score that takes its share of the weights; NULL: none
    HoloDtype         precision;   // the scores are rounded to it before softmax, the weights after; HOLO_NONE: not

    HoloTensor        *y;                       // NULL: not wanted
    int64_t            y_batch, y_head, y_step; // as in HoloHeads
    HoloTensor        *scores;                  // [batch][head][query][key]; NULL: not wanted
    HoloAttentionStage stage;                   // what they are
} HoloAttention;

HOLO_MUST HoloStatus holo_attention(const HoloCall *call, const HoloAttention *a);
// The sum of all biases for one query: out[0..keys-1].
void holo_biases_row(const HoloAttention *a, int64_t batch, int64_t head, int64_t query, double *out);
// The same in double, whoever else would compute it for this call.
HOLO_MUST HoloStatus holo_attention_plain(const HoloCall *call, const HoloAttention *a);

// The same in steps, for rows of queries of some heads, where head h is of batch h / q_heads. Scores and weights are
// cells [heads][rows][keys]; sums need cells [heads][rows][v_size].
typedef struct HoloAttentionPart {
    int64_t head, heads, row, rows;
} HoloAttentionPart;
void holo_attention_scores(const HoloCall *call, const HoloAttention *a, const HoloAttentionPart *part,
                           HoloCell *cells);
void holo_attention_weights(const HoloCall *call, const HoloAttention *a, const HoloAttentionPart *part,
                            HoloCell *cells);
void holo_attention_sums(const HoloCall *call, const HoloAttention *a, const HoloAttentionPart *part,
                         const HoloCell *weights, HoloCell *sums);

// ONNX's Attention and FlexAttention: the sizes that inputs Q, K, V and perhaps past_key and past_value (4 and 5) give.
typedef struct HoloAttentionSizes {                                             // perhaps symbolic
    HoloDim batch, q_heads, kv_heads, queries, fresh, past, keys, size, v_size; // keys are past and fresh ones
} HoloAttentionSizes;
HOLO_MUST HoloStatus holo_attention_sizes(const HoloCall *call, HoloAttentionSizes *out);
// The mask that is input 3, where there is one. Sizes are numbers.
HOLO_MUST HoloStatus holo_attention_mask(const HoloCall *call, const HoloAttentionSizes *s, HoloBias *out);
// Sizes, scale, queries, fresh keys and values, and output 0.
void holo_attention_init(const HoloCall *call, const HoloAttentionSizes *s, HoloAttention *out);

// The attribute `scale` of com.microsoft; without it, or where it is 0, 1 over the root of a head's size.
double holo_attention_scale(const HoloCall *call, int64_t size);
// HoloAttention.ahead where every entry of the batch has as many keys before its first query.
HOLO_MUST HoloStatus holo_attention_ahead(const HoloCall *call, int64_t batch, int64_t past, const int64_t **out);

// Input `input`, where it is there, is a table [batch / beams][beam][position]: a position of the past is that of the
// beam which the table names. Keys and values are then copied to memory of their own.
HOLO_MUST HoloStatus holo_beams_check(const HoloCall *call, int input, HoloDim batch);
HOLO_MUST HoloStatus holo_beams_follow(const HoloCall *call, int input, HoloAttention *a, int64_t past);

// RMS normalization of one vector.
void holo_head_normalize(double *x, int64_t size, const double *weight, double epsilon);

// Is there anything to compute for an output?
static inline bool holo_is_wanted(const HoloTensor *out)
{
    return out && holo_tensor_count(out) > 0;
}

// Fails where two sizes that must agree are different numbers; `what` names them. *out is the one known better.
HOLO_MUST HoloStatus holo_agree(const HoloCall *call, const char *what, HoloDim a, HoloDim b, HoloDim *out);
// What one of `parts` equal parts of a size is. Fails where there are none or they would not be whole.
HOLO_MUST HoloStatus holo_split(const HoloCall *call, const char *what, HoloDim size, int64_t parts, HoloDim *out);

#endif
