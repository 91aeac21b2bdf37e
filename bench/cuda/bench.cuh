// bench.cuh - what checks and measurements of device code share: modules, memory, random numbers, clocks.
#ifndef HOLO_BENCH_CUDA_BENCH_CUH
#define HOLO_BENCH_CUDA_BENCH_CUH

extern "C" {
#include "devices/cuda/cuda_pick.h"
}

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                    \
    do {                                                                                               \
        int code_ = (int)(call);                                                                       \
        if (code_) fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, code_), exit(2); \
    } while (0)

extern int   failures, checks;
extern FILE *csv; // every measurement

// ---- memory: blocks of random numbers, or poisoned

struct Block {
    char  *at   = nullptr;
    size_t size = 0;
    ~Block() { cudaFree(at); }
    Block() {}
    Block(const Block &) = delete;
    void need(size_t bytes)
    {
        if (bytes <= size) return;
        cudaFree(at);
        size = bytes;
        CHECK(cudaMalloc(&at, size + 256));
    }
};

int    size_of_type(int type);
void   fill_random(void *at, size_t count, int type, uint32_t seed, float scale); // in [-scale, scale)
void   fill_byte(void *at, size_t bytes, int byte);
double read_double(const void *host, size_t i, int type);

// ---- kernels

CUfunction find_kernel(const HoloCudaLaunch *l); // loads the module from the folder of cubins, once
void       launch(const HoloCudaLaunch *l, cudaStream_t stream);
void       encode(const HoloCudaMap *map, const void *address, void *out); // for the copy engine
uint32_t  *counters(); // zeros; a check that they are zeros again is check_counters
void       check_counters(const char *what);

// Microseconds of one of `count` launches that `go(i)` makes, replayed as a graph: the best of several.
template <class Go> double measure(Go go, int count)
{
    cudaStream_t    stream;
    cudaGraph_t     graph;
    cudaGraphExec_t exec;
    cudaEvent_t     from, to;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < count; i++) go(i, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    float best = 1e30f;
    for (int i = 0; i < 6; i++) {
        float ms;
        CHECK(cudaEventRecord(from, stream));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaEventRecord(to, stream));
        CHECK(cudaEventSynchronize(to));
        CHECK(cudaEventElapsedTime(&ms, from, to));
        if (i && ms < best) best = ms;
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    cudaStreamDestroy(stream);
    return best * 1e3 / count;
}

// ---- judgement: the largest error over the largest value of the reference, NaN and infinities where they belong

void judge(const char *name, const void *device, int type, const double *device_reference, size_t count,
           double tolerance);

// ---- parts
void check_few();
void check_products();
void time_one();
void time_products(bool explore);
void check_others();
void time_others();

#endif
