// sampler_weights.c - passes over all scores of a vocabulary, for the compiler to make vectors of.
//
// Every loop inside has a fixed number of turns, and every sum a fixed order: the bits are the same on every machine.
#include "base/bits.h"
#include "text/sampler.h"

enum { LANES = HOLO_SCORE_LANES, BLOCK = HOLO_SCORE_BLOCK };

float holo_scores_top(const HoloSampler *s)
{
    float lane[LANES], top;
    for (int k = 0; k < LANES; k++) lane[k] = s->score[k];
    for (size_t i = 0; i < s->block_count * BLOCK; i += LANES) {
        const float *restrict score = s->score + i;
        for (int k = 0; k < LANES; k++) lane[k] = score[k] > lane[k] ? score[k] : lane[k];
    }
    top = lane[0];
    for (int k = 1; k < LANES; k++) top = lane[k] > top ? lane[k] : top;
    return top;
}

// e^x as 2^n * 2^f with |f| <= 1/2: n by adding a number whose last bit is 1, 2^f by a polynomial.
static void lanes_exp(const float *restrict x, float *restrict out)
{
    static const float c[] = {1, 0.69314718f, 0.24022651f, 0.05550411f, 0.00961813f, 0.00133336f, 0.00015404f};
    const float        big = 12582912; // 1.5 * 2^23
    for (int k = 0; k < LANES; k++) {
        float    y = x[k] * 1.44269504f, n = y + big, f = y - (n - big);
        float    p    = (((((c[6] * f + c[5]) * f + c[4]) * f + c[3]) * f + c[2]) * f + c[1]) * f + c[0];
        uint32_t bits = holo_bits_of_f32(p) + (holo_bits_of_f32(n) << 23);
        out[k]        = holo_f32_of_bits(bits);
    }
}

void holo_weights_block(const float *restrict score, float top, float scale, float *restrict out)
{
    const float least = HOLO_WEIGHT_NOTHING;
    for (int i = 0; i < BLOCK; i += LANES) {
        float x[LANES], safe[LANES], weight[LANES];
        for (int k = 0; k < LANES; k++) x[k] = (score[i + k] - top) * scale;
        for (int k = 0; k < LANES; k++) safe[k] = x[k] > least ? x[k] : least;
        lanes_exp(safe, weight);
        for (int k = 0; k < LANES; k++) out[i + k] = x[k] > least ? weight[k] : 0;
    }
}

double holo_weights_sum(HoloSampler *s, float top, float scale)
{
    double all = 0;
    for (size_t b = 0; b < s->block_count; b++) {
        float  weight[BLOCK], lane[LANES];
        double sum = 0;
        holo_weights_block(s->score + b * BLOCK, top, scale, weight);
        for (int k = 0; k < LANES; k++)
            lane[k] = (weight[k] + weight[k + LANES]) + (weight[k + 2 * LANES] + weight[k + 3 * LANES]);
        for (int k = 0; k < LANES; k++) sum += (double)lane[k];
        s->block[b] = sum;
        all += sum;
    }
    return all;
}
