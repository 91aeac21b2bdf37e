// products.h - nodes that a kernel runs, while the reference is computed: by the kernel, judged by eval.
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
    HoloArena                temp; // of the kernel that runs
    HoloRandom               random;
    int                      done;  // nodes evaluated
    int64_t                  turns; // that loops may still make: made-up inputs may never end one
    bool                     blurs; // what nodes compute is put off by some roundings, see holo_verify
} HoloProducts;

// `lowered` is the graph for the CPU.
void            holo_products_init(HoloProducts *products, const HoloGraph *graph, const HoloLowered *lowered,
                                   const HoloKernelTable *kernels, const HoloVerifyOptions *options, HoloVerifyResult *result);
void            holo_products_deinit(HoloProducts *products);
void            holo_products_restart(HoloProducts *products); // before the graph is computed once more
HoloEvalOptions holo_products_options(HoloProducts *products);

// The kernel's job for the call, with scratch for each worker; it lives until the next is prepared.
HOLO_MUST HoloStatus holo_products_prepare(HoloProducts *products, const HoloCpuKernel *kernel, const HoloCall *call,
                                           void **out_job);
// A product of f16 or bf16, which no kernel takes, by the kernel for f32, rounded and judged. HOLO_UNSUPPORTED: it is none.
HOLO_MUST HoloStatus holo_products_narrow(HoloProducts *products, const HoloNode *node, HoloCall *call);
// Puts elements that the call has computed off by some roundings.
void holo_blur(HoloProducts *products, const HoloCall *call);

// How far a number of this type is off, at most and relative to it, when it is rounded; 0: types that do not round.
double holo_rounding_of(HoloDtype dtype);

#endif
