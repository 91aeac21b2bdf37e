// sample.cu - what on_cpu.h promises, for cuda_kernels_test.c: threads that meet, and some that do not.
#include <stdint.h>

struct Sample {
    uint32_t *out; // a word for each thread
    uint32_t *sum;
    uint64_t  unused[2]; // parameters are passed in memory: see Args
};

// Each thread gets the sum of all numbers up to its own.
extern "C" __global__ void __launch_bounds__(256) sums(const __grid_constant__ Sample p)
{
    __shared__ uint32_t warps[8];
    uint32_t            x = threadIdx.x + 1, lane = threadIdx.x % 32, before = 0;
    for (int step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_up_sync(~0u, x, step);
        if (lane >= (uint32_t)step) x += other;
    }
    if (lane == 31) warps[threadIdx.x / 32] = x;
    __syncthreads();
    for (uint32_t w = 0; w < threadIdx.x / 32; w++) before += warps[w];
    p.out[blockIdx.x * blockDim.x + threadIdx.x] = x + before;
    bool any = __syncthreads_or(threadIdx.x == 77), none = __syncthreads_or(threadIdx.x == 256);
    if (any && !none && __ballot_sync(~0u, lane % 2) == 0xaaaaaaaa) atomicAdd(p.sum, __shfl_xor_sync(~0u, lane, 31) == 31 - lane);
}

// The last thread leaves, and the others wait for it.
extern "C" __global__ void __launch_bounds__(256) leaves(const __grid_constant__ Sample p)
{
    if (threadIdx.x == 255) return;
    __syncthreads();
    p.out[threadIdx.x] = 1;
}

// Half of a warp asks the other half, which is not there.
extern "C" __global__ void __launch_bounds__(256) asks(const __grid_constant__ Sample p)
{
    if (threadIdx.x % 32 < 16) p.out[threadIdx.x] = __shfl_xor_sync(0xffffu, threadIdx.x, 16);
}
