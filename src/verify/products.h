// products.h - nodes with kernels while the reference is computed: the kernel runs, and eval judges it.
#ifndef HOLO_VERIFY_PRODUCTS_H
#define HOLO_VERIFY_PRODUCTS_H

#include "devices/cpu/kernel.h"
#include "lower/lower.h"
#include "verify/verify.h"

typedef struct HoloProducts {
    HoloHost                 host; // first: what kernels see
    HoloPool                *pool;
    const HoloGraph         *graph;
    const HoloLowered       *lowered; // the graph
    const HoloVerifyOptions *options;
    HoloVerifyResult        *result;
    size_t                   scratch_size;
    HoloArena                temp; // for the kernel that runs
    HoloRandom               random;
    int                      done;  // nodes evaluated
    int64_t                  turns; // turns that loops may still take: made-up inputs may never end a loop
    bool                     blurs; // results are changed by some roundings, see holo_verify
} HoloProducts;

// `lowered` is the graph for the CPU.
void            holo_products_init(HoloProducts *products, const HoloGraph *graph, const HoloLowered *lowered,
                                   const HoloKernelTable *kernels, const HoloVerifyOptions *options, HoloVerifyResult *result);
void            holo_products_deinit(HoloProducts *products);
void            holo_products_restart(HoloProducts *products); // call it before the graph is computed again
HoloEvalOptions holo_products_options(HoloProducts *products);

// The kernel's job for the call, with scratch for each worker. It lives until the next one is prepared.
HOLO_MUST HoloStatus holo_products_prepare(HoloProducts *products, const HoloCpuKernel *kernel, const HoloCall *call,
                                           void **out_job);
// Runs a product of f16 or bf16, which no kernel takes, by the kernel for f32, rounds and judges it. HOLO_UNSUPPORTED:
// it is something else.
HOLO_MUST HoloStatus holo_products_narrow(HoloProducts *products, const HoloNode *node, HoloCall *call);
// Changes elements that the call has computed by some roundings.
void holo_blur(HoloProducts *products, const HoloCall *call);

// The largest relative error of rounding to this type; 0: the type does not round.
double holo_rounding_of(HoloDtype dtype);

#endif
