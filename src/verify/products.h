// products.h - products in the reference: by kernel where they are large, with a sample computed exactly.
#ifndef HOLO_VERIFY_PRODUCTS_H
#define HOLO_VERIFY_PRODUCTS_H

#include "verify/verify.h"

typedef struct HoloProducts {
    HoloHost                 host;
    HoloPool                *pool;
    const HoloGraph         *graph;
    const HoloVerifyOptions *options;
    HoloVerifyResult        *result;
    size_t                   scratch_size;
    HoloRandom               random;
    int                      done; // nodes evaluated
} HoloProducts;

HOLO_MUST HoloStatus holo_products_init(HoloProducts *products, const HoloGraph *graph, const HoloVerifyOptions *options,
                                        HoloVerifyResult *result, HoloError *error);
void            holo_products_deinit(HoloProducts *products);
HoloEvalOptions holo_products_options(HoloProducts *products);

#endif
