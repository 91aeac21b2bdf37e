// wgmma.cuh - products of tiles in shared memory by the tensor cores of sm_90a, four warps at a time.
//
// Both tiles have rows of 128 bytes, k innermost, whose 16-byte pieces lie at (piece ^ row % 8): the pattern that the hardware
// calls a 128-byte swizzle, and the one that ldmatrix reads without conflicts. Tiles begin on 1024 bytes.
#ifndef HOLO_DEVICES_CUDA_CODE_WGMMA_CUH
#define HOLO_DEVICES_CUDA_CODE_WGMMA_CUH

#include "float8.cuh"

// 8 rows are 1024 bytes apart from the next 8; the mode in the top bits says the swizzle. A step of 32 bytes along k adds 2.
INL uint64_t tile_descriptor(uint32_t address)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

INL void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

INL void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int N> INL void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// What ordinary instructions and cp.async wrote becomes visible to the tensor cores.
INL void proxy_fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// d += A * B, of 64 x N. The lists of registers have to be literal: they are put together from sixteens.

#define WGMMA_NAMES_AT_0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_NAMES_AT_1 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_NAMES_AT_2 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_NAMES_AT_3 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_NAMES_AT_4 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define WGMMA_NAMES_AT_5 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_NAMES_AT_6 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA_NAMES_AT_7 ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define WGMMA_NAMES_32 WGMMA_NAMES_AT_0 WGMMA_NAMES_AT_1
#define WGMMA_NAMES_48 WGMMA_NAMES_AT_0 WGMMA_NAMES_AT_1 WGMMA_NAMES_AT_2
#define WGMMA_NAMES_64 WGMMA_NAMES_AT_0 WGMMA_NAMES_AT_1 WGMMA_NAMES_AT_2 WGMMA_NAMES_AT_3
#define WGMMA_NAMES_80 WGMMA_NAMES_AT_0 WGMMA_NAMES_AT_1 WGMMA_NAMES_AT_2 WGMMA_NAMES_AT_3 WGMMA_NAMES_AT_4
#define WGMMA_NAMES_96 WGMMA_NAMES_AT_0 WGMMA_NAMES_AT_1 WGMMA_NAMES_AT_2 WGMMA_NAMES_AT_3 WGMMA_NAMES_AT_4 WGMMA_NAMES_AT_5
#define WGMMA_NAMES_128 WGMMA_NAMES_AT_0 WGMMA_NAMES_AT_1 WGMMA_NAMES_AT_2 WGMMA_NAMES_AT_3 WGMMA_NAMES_AT_4 WGMMA_NAMES_AT_5 WGMMA_NAMES_AT_6 WGMMA_NAMES_AT_7

#define WGMMA_REGISTERS_AT(C, d, i)                                                                                 \
    C(d[i]), C(d[i + 1]), C(d[i + 2]), C(d[i + 3]), C(d[i + 4]), C(d[i + 5]), C(d[i + 6]), C(d[i + 7]), C(d[i + 8]), \
        C(d[i + 9]), C(d[i + 10]), C(d[i + 11]), C(d[i + 12]), C(d[i + 13]), C(d[i + 14]), C(d[i + 15])
#define WGMMA_REGISTERS_32(C, d) WGMMA_REGISTERS_AT(C, d, 0), WGMMA_REGISTERS_AT(C, d, 16)
#define WGMMA_REGISTERS_48(C, d) WGMMA_REGISTERS_32(C, d), WGMMA_REGISTERS_AT(C, d, 32)
#define WGMMA_REGISTERS_64(C, d) WGMMA_REGISTERS_48(C, d), WGMMA_REGISTERS_AT(C, d, 48)
#define WGMMA_REGISTERS_80(C, d) WGMMA_REGISTERS_64(C, d), WGMMA_REGISTERS_AT(C, d, 64)
#define WGMMA_REGISTERS_96(C, d) WGMMA_REGISTERS_80(C, d), WGMMA_REGISTERS_AT(C, d, 80)
#define WGMMA_REGISTERS_128(C, d) WGMMA_REGISTERS_96(C, d), WGMMA_REGISTERS_AT(C, d, 96), WGMMA_REGISTERS_AT(C, d, 112)

#define WGMMA_F(x) "+f"(x)
#define WGMMA_R(x) "+r"(x)
#define WGMMA(shape, types, count, C, d, a, b, rest)                                                       \
    asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; "                                                   \
                 "wgmma.mma_async.sync.aligned." shape "." types " {" WGMMA_NAMES_##count "}, " rest "; }" \
                 : WGMMA_REGISTERS_##count(C, d)                                                           \
                 : "l"(a), "l"(b))

template <class E, int N> struct Wgmma;

// One shape: N columns, a sum of `Sum` in `count` registers; the operands are the two after those.
#define WGMMA_SHAPE(E, N, K, types, Sum, C, count, operands, rest)                                          \
    template <> struct Wgmma<E, N> {                                                                        \
        static INL void mma(Sum (&d)[count], uint64_t a, uint64_t b)                                        \
        {                                                                                                   \
            WGMMA("m64n" #N "k" #K, types, count, C, d, a, b, operands ", p" rest);                         \
        }                                                                                                   \
    };

#define WGMMA_SHAPES(E, K, types, Sum, C, rest)                            \
    WGMMA_SHAPE(E, 64, K, types, Sum, C, 32, "%32, %33", rest)             \
    WGMMA_SHAPE(E, 96, K, types, Sum, C, 48, "%48, %49", rest)             \
    WGMMA_SHAPE(E, 128, K, types, Sum, C, 64, "%64, %65", rest)            \
    WGMMA_SHAPE(E, 160, K, types, Sum, C, 80, "%80, %81", rest)            \
    WGMMA_SHAPE(E, 192, K, types, Sum, C, 96, "%96, %97", rest)            \
    WGMMA_SHAPE(E, 256, K, types, Sum, C, 128, "%128, %129", rest)

WGMMA_SHAPES(F16, 16, "f32.f16.f16", float, WGMMA_F, ", 1, 1, 0, 0")
WGMMA_SHAPES(BF16, 16, "f32.bf16.bf16", float, WGMMA_F, ", 1, 1, 0, 0")
WGMMA_SHAPES(TF32, 8, "f32.tf32.tf32", float, WGMMA_F, ", 1, 1")
WGMMA_SHAPES(S8, 32, "s32.s8.s8", int32_t, WGMMA_R, "")
WGMMA_SHAPES(U8, 32, "s32.u8.s8", int32_t, WGMMA_R, "")
WGMMA_SHAPES(E4M3xE4M3, 32, "f32.e4m3.e4m3", float, WGMMA_F, ", 1, 1")
WGMMA_SHAPES(E4M3xE5M2, 32, "f32.e4m3.e5m2", float, WGMMA_F, ", 1, 1")
WGMMA_SHAPES(E5M2xE4M3, 32, "f32.e5m2.e4m3", float, WGMMA_F, ", 1, 1")
WGMMA_SHAPES(E5M2xE5M2, 32, "f32.e5m2.e5m2", float, WGMMA_F, ", 1, 1")

#endif
