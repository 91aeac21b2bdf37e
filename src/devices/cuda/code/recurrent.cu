// recurrent.cu - one step in time of LSTM, GRU and RNN. The products with the inputs have been made for all times.
//
// A warp multiplies the state of a sequence with the weights of all gates of one unit. Sums meet in a fixed order. States stay f32.
#include "recurrent_params.h"
#include "device.cuh"

enum { WARPS = 8, GATES = 4 };

struct Unit { // that a warp has
    int64_t direction, batch, at, state; // state: where it is in h_to and its like
    int     lane;
};

INL bool unit_find(const HoloCudaRecurrent &p, Unit &u)
{
    u.direction = blockIdx.z;
    u.batch     = blockIdx.y;
    u.at        = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    u.lane      = threadIdx.x % 32;
    u.state     = (u.direction * p.batch + u.batch) * p.hidden;
    return u.at < p.hidden;
}

INL float old_at(const HoloCudaRecurrent &p, const Unit &u, const void *from, int64_t at, int type)
{
    return from ? load_any(from, u.direction * p.from_stride[0] + u.batch * p.from_stride[1] + at, type) : 0;
}

INL int64_t time_of(const HoloCudaRecurrent &p, const Unit &u)
{
    return p.is_reverse[u.direction] ? p.times - 1 - p.time : p.time;
}

// Of gate g: what the input gives, and the bias of the state.
INL float gate_x(const HoloCudaRecurrent &p, const Unit &u, int g)
{
    return p.from_x[u.direction * p.x_stride[0] + time_of(p, u) * p.x_stride[1] + u.batch * p.x_stride[2] + g * p.hidden + u.at];
}

INL float gate_bias(const HoloCudaRecurrent &p, const Unit &u, int g)
{
    return p.bias ? load_any(p.bias, ((u.direction * 2 + 1) * p.gates + g) * p.hidden + u.at, p.bias_type) : 0;
}

// The products of the state with the weights of gates `first` to `end` - 1. `state`: NULL, or in place of the old one.
INL void gates_multiply(const HoloCudaRecurrent &p, const Unit &u, const float *state, int first, int end, float (&sum)[GATES])
{
#pragma unroll
    for (int g = 0; g < GATES; g++) sum[g] = 0;
    for (int64_t k = u.lane; k < p.hidden; k += 32) {
        float h = state ? state[u.state + k] : old_at(p, u, p.h_from, k, p.h_type);
#pragma unroll
        for (int g = 0; g < GATES; g++)
            if (g >= first && g < end)
                sum[g] = fmaf(h, load_any(p.r, ((u.direction * p.gates + g) * p.hidden + u.at) * p.hidden + k, p.r_type), sum[g]);
    }
#pragma unroll
    for (int g = 0; g < GATES; g++) sum[g] = warp_sum(sum[g]);
}

INL float logistic(float x)
{
    return 1 / (1 + expf(-x));
}

INL void state_put(const HoloCudaRecurrent &p, const Unit &u, float h)
{
    int64_t last           = u.direction * p.last_stride[0] + u.batch * p.last_stride[1] + u.at;
    p.h_to[u.state + u.at] = h;
    if (p.y) store_any(p.y, u.direction * p.y_stride[0] + time_of(p, u) * p.y_stride[1] + u.batch * p.y_stride[2] + u.at, p.y_type, h);
    if (p.y_h) store_any(p.y_h, last, p.y_type, h);
}

// Gates in the order input, output, forget, cell.
INL float lstm(const HoloCudaRecurrent &p, const Unit &u, const float (&sum)[GATES])
{
    float x[GATES];
    for (int g = 0; g < GATES; g++) x[g] = gate_x(p, u, g) + sum[g] + gate_bias(p, u, g);
    float c = logistic(x[2]) * old_at(p, u, p.c_from, u.at, p.c_type) + logistic(x[0]) * tanhf(x[3]);
    p.c_to[u.state + u.at] = c;
    if (p.y_c) store_any(p.y_c, u.direction * p.last_stride[0] + u.batch * p.last_stride[1] + u.at, p.y_type, c);
    return logistic(x[1]) * tanhf(c);
}

// Gates in the order update, reset, candidate.
INL float gru(const HoloCudaRecurrent &p, const Unit &u, const float (&sum)[GATES], float old)
{
    float bias = gate_bias(p, u, 2), z, from_h;
    if (p.resets_before) {
        z      = p.kept[u.state + u.at];
        from_h = sum[2] + bias;
    } else {
        z      = logistic(gate_x(p, u, 0) + sum[0] + gate_bias(p, u, 0));
        from_h = logistic(gate_x(p, u, 1) + sum[1] + gate_bias(p, u, 1)) * (sum[2] + bias);
    }
    return (1 - z) * tanhf(gate_x(p, u, 2) + from_h) + z * old;
}

// Before the step of a GRU that resets the state before the product of its candidate.
extern "C" __global__ void __launch_bounds__(256) recurrent_reset(const __grid_constant__ HoloCudaRecurrent p)
{
    in_turn();
    Unit  u;
    float sum[GATES];
    if (!unit_find(p, u)) return;
    gates_multiply(p, u, nullptr, 0, 2, sum);
    if (u.lane) return;
    p.kept[u.state + u.at]  = logistic(gate_x(p, u, 0) + sum[0] + gate_bias(p, u, 0));
    p.reset[u.state + u.at] = logistic(gate_x(p, u, 1) + sum[1] + gate_bias(p, u, 1)) * old_at(p, u, p.h_from, u.at, p.h_type);
}

extern "C" __global__ void __launch_bounds__(256) recurrent(const __grid_constant__ HoloCudaRecurrent p)
{
    in_turn();
    Unit  u;
    float sum[GATES];
    if (!unit_find(p, u)) return;
    gates_multiply(p, u, p.resets_before ? p.reset : nullptr, p.resets_before ? 2 : 0, p.gates, sum);
    if (u.lane) return;
    float h = p.kind == HOLO_CUDA_LSTM  ? lstm(p, u, sum)
              : p.kind == HOLO_CUDA_GRU ? gru(p, u, sum, old_at(p, u, p.h_from, u.at, p.h_type))
                                        : tanhf(gate_x(p, u, 0) + sum[0] + gate_bias(p, u, 0));
    state_put(p, u, h);
}
