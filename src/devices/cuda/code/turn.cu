// turn.cu - transposes: images to channels last, and matrices that are to be read along their columns.
#include "device.cuh"

// A block turns 32 x 32 elements through shared memory, so that both sides are read and written along their rows.
extern "C" __global__ void __launch_bounds__(256) turn(const __grid_constant__ HoloCudaTurn p)
{
    __shared__ float square[32][33];
    int              lane = threadIdx.x % 32, first = threadIdx.x / 32;
    int64_t          from = blockIdx.z / p.inner * p.from_batch[0] + blockIdx.z % p.inner * p.from_batch[1];
    let_others_start();
    wait_for_others();
    for (int i = first; i < 32; i += 8) {
        int row = blockIdx.y * 32 + i, column = blockIdx.x * 32 + lane;
        if (row < p.rows && column < p.columns)
            square[i][lane] = load_any(p.from, from + (int64_t)row * p.from_row + column, p.from_type);
        else
            square[i][lane] = 0;
    }
    __syncthreads();
    for (int i = first; i < 32; i += 8) {
        int column = blockIdx.x * 32 + i, row = blockIdx.y * 32 + lane;
        if (row < p.to_rows && column < p.columns)
            store_any(p.to, blockIdx.z * p.to_batch + (int64_t)column * p.to_rows + row, p.to_type, square[lane][i]);
    }
}
