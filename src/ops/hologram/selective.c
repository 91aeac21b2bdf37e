// selective.c - SlotTail and SelectiveScan of domain hologram: the state of models without attention, such as Mamba.
//
// Both keep something of each text in a slot of a state, as CacheWrite does (cache.c): rows[b] is the slot of row b of
// the batch, lengths[b] how many tokens of its text were read before. A new text begins with zeros. SlotTail puts the
// last vectors of a text before its new ones, for a convolution to see. SelectiveScan is the recurrence of Gu and Dao,
// "Mamba", 2023: each channel has some numbers, which decay and are updated with every token.
#include "base/math/math.h"
#include "ops/hologram/slots.h"
#include "ops/spread.h"
#include "ops/standard/attention.h"

#include <string.h>

// `input` is f32 of these three sizes; those that are not known are taken from it.
static HoloStatus expect(const HoloCall *call, int input, const char *what, HoloDim *dim)
{
    HOLO_TRY(holo_expect_types(call, input, HOLO_BIT(F32)));
    HOLO_TRY(holo_expect_rank(call, input, 3, 3));
    for (int d = 0; d < 3; d++) HOLO_TRY(holo_agree(call, what, call->in[input]->dim[d], dim[d], &dim[d]));
    return HOLO_OK;
}

// Sets *out to the slot of row b: state f32 [slots, ...]. *out_is_new: its text begins.
static HoloStatus slot_find(const HoloCall *call, int rows, int64_t b, float **out, int64_t size, bool *out_is_new)
{
    int64_t slot, length;
    HOLO_TRY(holo_slot_of(call, rows, call->out[0], b, &slot, &length));
    for (int64_t a = 0; a < b; a++)
        if (((const int64_t *)call->in[rows]->data)[a] == slot)
            return holo_call_fail(call, HOLO_BAD_INPUT, "rows %lld and %lld of the batch have the same slot",
                                  (long long)a, (long long)b);
    *out        = (float *)call->out[0]->data + slot * size;
    *out_is_new = length == 0;
    return HOLO_OK;
}

static void state_keep(const HoloCall *call)
{
    if (call->out[0]->data != call->in[0]->data)
        memcpy(call->out[0]->data, call->in[0]->data, holo_tensor_bytes(call->in[0]));
}

// Both outputs are needed: the state changes even if nobody reads it.
static HoloStatus outputs_check(const HoloCall *call)
{
    if (call->out_count == 2 && call->out[0] && call->out[1]) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "an output is missing");
}

// ---- SlotTail

enum { TAIL, FRESH, TAIL_ROWS }; // and lengths

static HoloStatus tail_infer(HoloCall *call)
{
    HoloDim fresh[3] = {HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN},
            tail[3]  = {HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN};
    HOLO_TRY(outputs_check(call));
    HOLO_TRY(expect(call, FRESH, "new vectors", fresh));
    tail[2] = fresh[2];
    HOLO_TRY(expect(call, TAIL, "vectors of the state and the new ones", tail));
    HOLO_TRY(holo_slots_check(call, TAIL_ROWS, fresh[0]));
    HoloDim all[3] = {fresh[0], holo_dim_add(call->dims, tail[1], fresh[1]), fresh[2]};
    HOLO_TRY(holo_out_type(call, 0, HOLO_F32, 3, tail));
    return holo_out_type(call, 1, HOLO_F32, 3, all);
}

static HoloStatus tail_eval(HoloCall *call)
{
    const HoloTensor *fresh  = call->in[FRESH];
    int64_t           before = call->in[TAIL]->dim[1], count = fresh->dim[1], size = fresh->dim[2];
    size_t            row = (size_t)size * sizeof(float);
    state_keep(call); // also where nothing new comes
    if (!holo_is_wanted(call->out[1])) return HOLO_OK;
    for (int64_t b = 0; b < fresh->dim[0]; b++) {
        float *slot, *all = (float *)call->out[1]->data + b * (before + count) * size;
        bool   is_new;
        HOLO_TRY(slot_find(call, TAIL_ROWS, b, &slot, before * size, &is_new));
        if (is_new)
            memset(all, 0, (size_t)before * row);
        else
            memcpy(all, slot, (size_t)before * row);
        memcpy(all + before * size, (const float *)fresh->data + b * count * size, (size_t)count * row);
        memcpy(slot, all + count * size, (size_t)before * row);
    }
    return HOLO_OK;
}

// ---- SelectiveScan

enum { STATE, TIME, TAKEN, ASKED, X, RATES, SCAN_ROWS }; // and lengths

static HoloStatus scan_infer(HoloCall *call)
{
    HoloDim x[3] = {HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN};
    HOLO_TRY(outputs_check(call));
    HOLO_TRY(expect(call, X, "x", x));
    HOLO_TRY(expect(call, TIME, "time and x", x));
    HoloDim numbers[3] = {x[0], x[1], HOLO_DIM_UNKNOWN};
    HOLO_TRY(expect(call, TAKEN, "what is taken, and x", numbers));
    HOLO_TRY(expect(call, ASKED, "what is asked, and taken", numbers));
    HoloDim state[3] = {HOLO_DIM_UNKNOWN, x[2], numbers[2]};
    HOLO_TRY(expect(call, STATE, "the state", state));
    HOLO_TRY(holo_expect_types(call, RATES, HOLO_BIT(F32)));
    HOLO_TRY(holo_expect_shape(call, RATES, 2, state + 1));
    HOLO_TRY(holo_slots_check(call, SCAN_ROWS, x[0]));
    HOLO_TRY(holo_out_type(call, 0, HOLO_F32, 3, state));
    return holo_out_type(call, 1, HOLO_F32, 3, x);
}

typedef struct Scan {
    const HoloCall *call;
    float         **slot; // of each row
    bool           *is_new;
    int64_t         steps, channels, numbers;
} Scan;

static const float *floats(const Scan *s, int input)
{
    return s->call->in[input]->data;
}

// One channel of one row, over all its tokens.
static void channel_scan(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Scan  *s = arg;
    int64_t      b = i / s->channels, c = i % s->channels, n = s->numbers;
    float       *state = s->slot[b] + c * n, *y = (float *)s->call->out[1]->data + b * s->steps * s->channels + c;
    const float *time = floats(s, TIME) + b * s->steps * s->channels + c, *rates = floats(s, RATES) + c * n;
    const float *x     = floats(s, X) + b * s->steps * s->channels + c;
    const float *taken = floats(s, TAKEN) + b * s->steps * n, *asked = floats(s, ASKED) + b * s->steps * n;
    if (s->is_new[b]) memset(state, 0, (size_t)n * sizeof *state);
    for (int64_t t = 0; t < s->steps; t++, taken += n, asked += n) {
        double dt = (double)time[t * s->channels], in = dt * (double)x[t * s->channels], sum = 0;
        for (int64_t k = 0; k < n; k++) {
            double next = holo_exp(dt * (double)rates[k]) * (double)state[k] + in * (double)taken[k];
            state[k]    = (float)next;
            sum += next * (double)asked[k];
        }
        y[t * s->channels] = (float)sum;
    }
}

static HoloStatus scan_eval(HoloCall *call)
{
    enum { EXP = 16 }; // steps that an element takes, about
    const HoloTensor *x = call->in[X];
    Scan              s = {.call = call, .steps = x->dim[1], .channels = x->dim[2], .numbers = call->in[STATE]->dim[2]};
    state_keep(call); // also where nothing new comes
    if (!holo_is_wanted(call->out[1])) return HOLO_OK;
    HOLO_TRY(holo_call_temp(call, (size_t)x->dim[0], sizeof *s.slot, (void **)&s.slot));
    HOLO_TRY(holo_call_temp(call, (size_t)x->dim[0], sizeof *s.is_new, (void **)&s.is_new));
    for (int64_t b = 0; b < x->dim[0]; b++)
        HOLO_TRY(slot_find(call, SCAN_ROWS, b, &s.slot[b], s.channels * s.numbers, &s.is_new[b]));
    double work = (double)holo_tensor_count(x) * (double)s.numbers * EXP;
    holo_spread(call, x->dim[0] * s.channels, work, channel_scan, &s);
    return holo_call_continue(call);
}

const HoloOp holo_ops_selective[] = {
    {.name    = "SlotTail",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 4,
     .in_max  = 4,
     .out_min = 2,
     .out_max = 2,
     .types   = HOLO_BIT(F32),
     .flags   = HOLO_OP_UPDATES | HOLO_OP_TYPED,
     .infer   = tail_infer,
     .eval    = tail_eval},
    {.name    = "SelectiveScan",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 8,
     .in_max  = 8,
     .out_min = 2,
     .out_max = 2,
     .types   = HOLO_BIT(F32),
     .flags   = HOLO_OP_UPDATES | HOLO_OP_TYPED,
     .infer   = scan_infer,
     .eval    = scan_eval},
    {0},
};
