// on_cpu.h - runs device code without a GPU and without nvcc: CUDA's words, for an ordinary C++ compiler.
//
// It is included before a file of src/devices/cuda/code (g++ -x c++ -include), which becomes a library of the same name beside
// the driver of tests/cuda/fake_driver.c. That driver launches its kernels with what the device's C code made: grid, block and
// parameters. Each thread of a block is a fiber, which gives way where it waits for others; blocks run one after another.
//
// To test a kernel: name its module in ON_CPU of the Makefile, and write a case in tests/unit/devices/cuda_kernels_test.c, which
// runs a graph on this driver and beside it by `eval`. What is not here, such as PTX in asm, does not compile: a module runs as it
// is or not at all. Threads that wait for those that never come, a warp whose lanes disagree about who meets, and a shuffle
// from a lane that is not there end the program with a message. Threads and blocks also run in the opposite order
// (HoloFakeDriver.is_backwards), so that a race shows. Memory is that of malloc: AddressSanitizer watches it.
#ifndef TESTS_CUDA_ON_CPU_H
#define TESTS_CUDA_ON_CPU_H

#include <cmath>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#else // nobody has to know whose stack this is
static inline void __sanitizer_start_switch_fiber(void **, const void *, size_t) {}
static inline void __sanitizer_finish_switch_fiber(void *, const void **, size_t *) {}
#endif

// ---- words

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __shared__   thread_local // in a function it is static, too
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(...)
#define __expf      expf
#define HOLO_ON_CPU 1

struct __align__(8) uint2
{
    uint32_t x, y;
};
struct __align__(16) uint4
{
    uint32_t x, y, z, w;
};
struct __align__(8) float2
{
    float x, y;
};
struct __align__(16) float4
{
    float x, y, z, w;
};
struct uint3 {
    uint32_t x, y, z;
};
static inline uint2 make_uint2(uint32_t x, uint32_t y)
{
    return {x, y};
}
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return {x, y, z, w};
}
static inline float2 make_float2(float x, float y)
{
    return {x, y};
}
static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

static uint3     threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

// ---- numbers

template <class To, class From> static inline To bits_as(From x)
{
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &x, sizeof to);
    return to;
}

static inline float __uint_as_float(uint32_t x)
{
    return bits_as<float>(x);
}
static inline uint32_t __float_as_uint(float x)
{
    return bits_as<uint32_t>(x);
}
static inline float __fmul_rn(float x, float y)
{
    return x * y;
}
static inline float __fadd_rn(float x, float y)
{
    return x + y;
}
static inline float __fdiv_rn(float x, float y)
{
    return x / y;
}
static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
template <class T> static inline T __ldg(const T *p)
{
    return *p;
}
template <class T> static inline T __ldcg(const T *p)
{
    return *p;
}
using std::isinf;
using std::isnan;
template <class T> static inline T min(T x, T y)
{
    return y < x ? y : x;
}
template <class T> static inline T max(T x, T y)
{
    return x < y ? y : x;
}

// Shared memory is that of the thread of the host: 32 bits say where.
static thread_local char shared_begin;
static inline uint32_t   __cvta_generic_to_shared(const void *p)
{
    return (uint32_t)((const char *)p - &shared_begin);
}

static inline char *shared_pointer(uint32_t at)
{
    uintptr_t begin = (uintptr_t)&shared_begin;
    return (char *)(begin + (uintptr_t)(intptr_t)(int32_t)at);
}

// What a launch asks for beside that: more than any kernel needs.
[[maybe_unused]] static thread_local __align__(128) char dynamic_shared[1 << 17];

// ---- fibers

namespace on_cpu
{

enum { THREADS = 1024, LANES = 32, STACK = 1 << 17, ARGS = 512 };

struct
    Args { // longer than any struct of parameters: all are passed in memory, where the kernel finds its own at the start
    uint64_t word[ARGS / 8];
};
typedef void Kernel(Args);

// From one stack to another. The system's own way asks the system each time, which takes longer than most kernels run
// in between.
#ifdef __x86_64__
typedef void   *Context; // the stack pointer: above it are the registers that a call keeps, and where to go on
extern "C" void on_cpu_go(Context *from, Context to);
asm(".pushsection .text\n"
    ".local on_cpu_go\n"
    ".type on_cpu_go, @function\n"
    "on_cpu_go:\n"
    "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
    "    mov %rsp, (%rdi)\n"
    "    mov %rsi, %rsp\n"
    "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n"
    "    ret\n"
    ".popsection\n");
static inline void go(Context &from, Context &to)
{
    on_cpu_go(&from, to);
}
static inline void context_init(Context &c, char *stack, size_t size, void (*run)())
{
    void **top = (void **)(stack + size);
    memset(top - 8, 0, 8 * sizeof *top);
    memcpy(top - 2, &run, sizeof run); // a function begins 8 bytes below a multiple of 16
    c = top - 8;
}
#else
typedef ucontext_t Context;
static inline void go(Context &from, Context &to)
{
    swapcontext(&from, &to);
}
static inline void context_init(Context &c, char *stack, size_t size, void (*run)())
{
    getcontext(&c);
    c.uc_stack.ss_sp   = stack;
    c.uc_stack.ss_size = size;
    makecontext(&c, run, 0);
}
#endif

struct Meeting {
    uint32_t mask, arrived, turn;
};

struct Warp {
    Meeting  all;
    uint64_t value[2][LANES]; // what they exchange, in turns
};

struct Fiber {
    Context  context; // where it gave way
    bool     has_ended;
    uint32_t thread;
    void    *own; // AddressSanitizer's
};

struct Block {
    Fiber       scheduler, fiber[THREADS];
    Fiber      *current;
    char       *stacks;
    uint32_t    begun; // threads
    bool        is_backwards;
    Meeting     all;
    int         any[2]; // of __syncthreads_or, in turns
    Warp        warp[THREADS / LANES];
    uint64_t    progress; // arrivals and ends so far
    Kernel     *kernel;
    Args        args;
    const void *bottom; // of the scheduler's stack
    size_t      size;
};
static Block block;

[[noreturn]] static void fail(const char *why)
{
    fprintf(stderr, "on_cpu: block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, why);
    abort();
}

static inline void give_way()
{
    Fiber &me = *block.current;
    __sanitizer_start_switch_fiber(&me.own, block.bottom, block.size);
    go(me.context, block.scheduler.context);
    __sanitizer_finish_switch_fiber(me.own, &block.bottom, &block.size);
}

// Runs thread after thread, until one has to wait: then the next ones have another fiber. Parameters are passed as what they are
// not, which the ABI allows: see Args.
__attribute__((no_sanitize("undefined"))) static void fiber_run()
{
    __sanitizer_finish_switch_fiber(NULL, &block.bottom, &block.size);
    while (block.begun < blockDim.x) {
        uint32_t number = block.begun++;
        threadIdx.x = block.current->thread = block.is_backwards ? blockDim.x - 1 - number : number;
        block.kernel(block.args);
        block.progress++;
    }
    block.current->has_ended = true;
    __sanitizer_start_switch_fiber(NULL, block.bottom, block.size);
    go(block.current->context, block.scheduler.context);
}

static void fiber_continue(Fiber &f)
{
    block.current = &f;
    threadIdx.x   = f.thread;
    __sanitizer_start_switch_fiber(&block.scheduler.own, block.stacks + (&f - block.fiber) * (ptrdiff_t)STACK, STACK);
    go(block.scheduler.context, f.context);
    __sanitizer_finish_switch_fiber(block.scheduler.own, NULL, NULL);
}

static void fiber_begin(Fiber &f)
{
    f.has_ended = false;
    context_init(f.context, block.stacks + (&f - block.fiber) * (ptrdiff_t)STACK, STACK, fiber_run);
    fiber_continue(f);
}

static void block_run()
{
    unsigned fibers = 0, left;
    block.begun     = 0;
    block.all       = {};
    memset(block.warp, 0, sizeof block.warp);
    while (block.begun < blockDim.x) fiber_begin(block.fiber[fibers++]);
    do {
        uint64_t before = block.progress;
        left            = 0;
        for (unsigned i = 0; i < fibers; i++) {
            if (!block.fiber[i].has_ended) fiber_continue(block.fiber[i]);
            left += !block.fiber[i].has_ended;
        }
        if (left && block.progress == before) fail("it waits for threads that have ended, or wait elsewhere");
    } while (left);
}

// Returns when `count` threads are here.
static inline void meet(Meeting &m, uint32_t mask, unsigned count)
{
    uint32_t turn = m.turn;
    if (m.arrived && m.mask != mask) fail("lanes of its warp meet with another mask");
    m.mask = mask;
    block.progress++;
    if (++m.arrived == count) {
        m.arrived = 0;
        m.turn++;
    }
    while (m.turn == turn) give_way();
}

static inline unsigned lane()
{
    return threadIdx.x % LANES;
}

// What lane `from` has, of those in the mask, all of which are here. Nobody is two exchanges ahead of another.
template <class T> static inline T exchange(uint32_t mask, T x, unsigned from)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "one word");
    Warp     &w     = block.warp[threadIdx.x / LANES];
    uint64_t *value = w.value[w.all.turn & 1];
    if (!(mask >> lane() & 1) || !(mask >> from % LANES & 1)) fail("a lane that is not in the mask");
    memcpy(&value[lane()], &x, sizeof x);
    meet(w.all, mask, (unsigned)__builtin_popcount(mask));
    memcpy(&x, &value[from % LANES], sizeof x);
    return x;
}

} // namespace on_cpu

// What the driver calls. A grid's blocks run in order, or from the last to the first.
extern "C" __global__ void holo_on_cpu(void *kernel, const void *args, const uint32_t *grid, uint32_t threads,
                                       bool is_backwards)
{
    on_cpu::Block &b    = on_cpu::block;
    size_t         size = (size_t)on_cpu::THREADS * on_cpu::STACK;
    if (!b.stacks)
        b.stacks = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b.stacks == MAP_FAILED || threads > on_cpu::THREADS || threads % on_cpu::LANES) on_cpu::fail("no such block");
    b.kernel       = (on_cpu::Kernel *)kernel;
    b.is_backwards = is_backwards;
    memcpy(&b.args, args, sizeof b.args);
    blockDim       = {threads, 1, 1};
    gridDim        = {grid[0], grid[1], grid[2]};
    uint64_t count = (uint64_t)grid[0] * grid[1] * grid[2];
    for (uint64_t n = 0; n < count; n++) {
        uint64_t i = is_backwards ? count - 1 - n : n;
        blockIdx   = {(uint32_t)(i % grid[0]), (uint32_t)(i / grid[0] % grid[1]), (uint32_t)(i / grid[0] / grid[1])};
        on_cpu::block_run();
    }
}

// ---- threads that meet

static inline void __syncthreads()
{
    on_cpu::meet(on_cpu::block.all, ~0u, blockDim.x);
}

static inline int __syncthreads_or(int x)
{
    int &any = on_cpu::block.any[on_cpu::block.all.turn & 1];
    if (!on_cpu::block.all.arrived) any = 0;
    any |= x != 0;
    __syncthreads();
    return any;
}

static inline void __threadfence() {}
static inline void __syncwarp(uint32_t mask = ~0u)
{
    on_cpu::exchange(mask, 0, on_cpu::lane());
}

template <class T> static inline T __shfl_xor_sync(uint32_t mask, T x, unsigned by)
{
    return on_cpu::exchange(mask, x, on_cpu::lane() ^ by);
}

template <class T> static inline T __shfl_sync(uint32_t mask, T x, unsigned from)
{
    return on_cpu::exchange(mask, x, from);
}

// Lanes that would ask beyond the warp keep what they have.
template <class T> static inline T __shfl_up_sync(uint32_t mask, T x, unsigned by)
{
    return on_cpu::exchange(mask, x, on_cpu::lane() < by ? on_cpu::lane() : on_cpu::lane() - by);
}

template <class T> static inline T __shfl_down_sync(uint32_t mask, T x, unsigned by)
{
    return on_cpu::exchange(mask, x, on_cpu::lane() + by > 31 ? on_cpu::lane() : on_cpu::lane() + by);
}

static inline uint32_t __ballot_sync(uint32_t mask, int x)
{
    uint32_t all = 0;
    for (unsigned i = 0; i < on_cpu::LANES; i++)
        if (mask >> i & 1) all |= (uint32_t)(on_cpu::exchange(mask, x, i) != 0) << i;
    return all;
}

// ---- atomic operations: fibers give way only where they wait

template <class T, class F> static inline T atomic_do(T *at, F change)
{
    T old = *at;
    *at   = change(old);
    return old;
}
static inline uint32_t atomicAdd(uint32_t *at, uint32_t x)
{
    return atomic_do(at, [x](uint32_t y) { return y + x; });
}
static inline int atomicAdd(int *at, int x)
{
    return atomic_do(at, [x](int y) { return y + x; });
}
static inline int atomicExch(int *at, int x)
{
    return atomic_do(at, [x](int) { return x; });
}
static inline uint32_t atomicMax(uint32_t *at, uint32_t x)
{
    return atomic_do(at, [x](uint32_t y) { return x > y ? x : y; });
}
static inline uint32_t atomicMin(uint32_t *at, uint32_t x)
{
    return atomic_do(at, [x](uint32_t y) { return x < y ? x : y; });
}

#endif
