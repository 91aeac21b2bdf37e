// tma.cuh - what sm_90 has for tiles that come by themselves: barriers that count bytes, and the engine that copies tiles of
// tensors into shared memory by a map (cuda_pick.h describes it, the driver encodes it).
#ifndef HOLO_DEVICES_CUDA_CODE_TMA_CUH
#define HOLO_DEVICES_CUDA_CODE_TMA_CUH

#include "wgmma.cuh"

// A barrier in shared memory, of 8 bytes. A phase ends when all arrivals and all bytes it expects have come.
INL void barrier_init(uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// After all barriers are made: other blocks and the copy engine see them.
INL void barrier_init_end()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

INL void barrier_expect(uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

INL void barrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Without a branch, which would end what wgmma has in flight.
INL void barrier_arrive_if(uint32_t barrier, bool arrives)
{
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p mbarrier.arrive.shared::cta.b64 _, [%0]; }" ::"r"(barrier),
                 "r"((uint32_t)arrives)
                 : "memory");
}

// Waits for the end of the phase of this parity: 0, 1, 0, ...
INL void barrier_wait(uint32_t barrier, int parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; "
                 "@p bra done; bra again; done: }" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

// ---- copies: of a box of a tensor of three dimensions

INL void tile_copy(uint32_t to, const void *map, int x, int y, int z, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
                 : "memory");
}

// Patches of an image [images][lines][columns][channels]: as many neighbouring output pixels as the map says, from the one
// whose patch begins at that line and column, of the tap at (tap_y, tap_x).
INL void patch_copy(uint32_t to, const void *map, int channel, int column, int line, int image, int tap_x, int tap_y,
                    uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
                 "l"(map), "r"(channel), "r"(column), "r"(line), "r"(image), "r"(barrier), "h"((uint16_t)tap_x),
                 "h"((uint16_t)tap_y)
                 : "memory");
}

INL void map_prefetch(const void *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

#endif
