// recurrent_f32.c - what LSTM, GRU and RNN need besides the matrix product: packed weights, in which all gates of 16
// units of the state lie together, and the arithmetic of a step.

static void pack_gates_f32(const HoloGates *g, int64_t group, float *out)
{
    int64_t column = group * LANES;
    for (int gate = 0; gate < g->gates; gate++) {
        const float *from  = g->w + (gate * g->hidden + column) * g->k;
        float       *to    = out + gate * (gate < g->mixed ? LANES : g->k * LANES);
        int64_t      step  = gate < g->mixed ? g->mixed * LANES : LANES;
        int          lanes = lanes_left(column, g->hidden);
        for (int64_t p = 0; p < g->k; p++) v_store(to + p * step, v_load_strided(from + p, g->k, 0, lanes));
    }
}

// One row of a state times some groups, mixed. Each group reads R as one stream; reading it limits the speed. (The CPU
// prefetches a stream by itself; prefetching here made it a quarter slower.) Sums have the bits of gemm_f32.
INL void state_sums(const HoloGates *g, int gates, int groups, const float *state, const float *r, float *sums)
{
    int64_t group = g->group;
    for (int64_t first = 0; first < g->k; first += HOLO_GEMM_K) {
        int64_t end = first + HOLO_GEMM_K < g->k ? first + HOLO_GEMM_K : g->k;
        f32v    sum[4];
        UNROLL for (int i = 0; i < gates * groups; i++) sum[i] = v_set1(0);
        for (int64_t p = first; p < end; p++, r += gates * LANES) {
            f32v x = v_set1(state[p]);
            UNROLL for (int i = 0; i < gates * groups; i++)
            {
                sum[i] = v_mad(x, v_load(r + i / gates * group + i % gates * LANES), sum[i]);
            }
        }
        UNROLL for (int i = 0; i < gates * groups; i++)
            v_store(sums + i * LANES, first ? v_add(v_load(sums + i * LANES), sum[i]) : sum[i]);
    }
}

// With fewer than four sums each addition waits for the one before: with few gates, several groups are computed at
// once.
static void state_gates_f32(const HoloGates *g, const float *state, float *sums)
{
    int64_t groups;
    for (int64_t i = 0; i < g->groups; i += groups) {
        const float *r  = g->w + i * g->group;
        float       *to = sums + i * g->gates * LANES;
        groups          = g->gates == 1 && g->groups - i >= 4 ? 4 : g->gates == 2 && g->groups - i >= 2 ? 2 : 1;
        if (g->gates == 4)
            state_sums(g, 4, 1, state, r, to);
        else if (g->gates == 3)
            state_sums(g, 3, 1, state, r, to);
        else if (g->gates == 2 && groups == 2)
            state_sums(g, 2, 2, state, r, to);
        else if (g->gates == 2)
            state_sums(g, 2, 1, state, r, to);
        else if (groups == 4)
            state_sums(g, 1, 4, state, r, to);
        else
            state_sums(g, 1, 1, state, r, to);
    }
}

INL f32v v_sigmoid(f32v x)
{
    EACH(i) x.r[i] = n_sigmoid(x.r[i]);
    return x;
}

INL f32v v_tanh(f32v x)
{
    EACH(i) x.r[i] = n_tanh(x.r[i]);
    return x;
}

// The argument of a gate's function: the part of the inputs plus the part of the state.
INL f32v gate_sum(const HoloCellStep *s, int64_t row, int gate)
{
    return v_add(v_load(s->in + row * s->in_row + gate * LANES), v_load(s->sums + row * s->sums_row + gate * LANES));
}

INL void state_store(const HoloCellStep *s, int64_t row, f32v y)
{
    v_store_lanes(s->y + row * s->row, y, s->lanes);
}

// The order of the gates is in, out, forget, cell.
static void lstm_step_f32(const HoloCellStep *s)
{
    for (int64_t row = 0; row < s->rows; row++) {
        float *at = s->cells + row * s->cells_row;
        f32v   gate[4];
        UNROLL for (int i = 0; i < 4; i++)
        {
            f32v sum = gate_sum(s, row, i);
            gate[i]  = i < 3 ? v_sigmoid(sum) : v_tanh(sum);
        }
        f32v cell = v_add(v_mul(gate[2], v_load(at)), v_mul(gate[0], gate[3]));
        v_store(at, cell);
        state_store(s, row, v_mul(gate[1], v_tanh(cell)));
    }
}

INL void gru_mix(const HoloCellStep *s, int64_t row, f32v update, f32v fresh)
{
    f32v before = v_load_part(s->before + row * s->row, 0, s->lanes);
    state_store(s, row, v_add(v_mul(v_sub(v_set1(1), update), fresh), v_mul(update, before)));
}

static void gru_step_f32(const HoloCellStep *s) // update, reset, hidden
{
    f32v bias = v_load(s->bias + 2 * LANES);
    for (int64_t row = 0; row < s->rows; row++) {
        f32v update = v_sigmoid(gate_sum(s, row, 0)), reset = v_sigmoid(gate_sum(s, row, 1));
        f32v state = v_add(v_load(s->sums + row * s->sums_row + 2 * LANES), bias);
        f32v fresh = v_tanh(v_add(v_load(s->in + row * s->in_row + 2 * LANES), v_mul(reset, state)));
        gru_mix(s, row, update, fresh);
    }
}

static void gru_reset_f32(const HoloCellStep *s) // update, reset
{
    for (int64_t row = 0; row < s->rows; row++) {
        f32v before = v_load_part(s->before + row * s->row, 0, s->lanes);
        v_store(s->cells + row * s->cells_row, v_sigmoid(gate_sum(s, row, 0)));
        state_store(s, row, v_mul(v_sigmoid(gate_sum(s, row, 1)), before));
    }
}

static void gru_fresh_f32(const HoloCellStep *s) // hidden
{
    for (int64_t row = 0; row < s->rows; row++)
        gru_mix(s, row, v_load(s->cells + row * s->cells_row), v_tanh(gate_sum(s, row, 0)));
}

static void rnn_step_f32(const HoloCellStep *s)
{
    for (int64_t row = 0; row < s->rows; row++) state_store(s, row, v_tanh(gate_sum(s, row, 0)));
}
