// openblas.c - OpenBLAS: sgemm. It has no packed form of weights that a caller could keep.
#include "bench.h"

#if __has_include(<openblas_config.h>) && __has_include(<cblas.h>)
#include <cblas.h>

#include <stdlib.h>
#include <string.h>

typedef struct Blas {
    const Case *c;
    float      *out;
} Blas;

static void *blas_open(const Case *c, int threads)
{
    Blas *b = take(sizeof *b);
    *b      = (Blas){c, take((size_t)c->out_count * sizeof(float))};
    openblas_set_num_threads(threads);
    return b;
}

static void blas_run(void *state)
{
    const Blas *b = state;
    const Case *c = b->c;
    if (c->m == 1) // as its users do
        cblas_sgemv(CblasRowMajor, CblasTrans, (int)c->k, (int)c->n, 1, c->weights, (int)c->n, c->in, 1, 0, b->out, 1);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)c->m, (int)c->n, (int)c->k, 1, c->in, (int)c->k,
                    c->weights, (int)c->n, 0, b->out, (int)c->n);
}

static void blas_answer(void *state, float *out)
{
    const Blas *b = state;
    memcpy(out, b->out, (size_t)b->c->out_count * sizeof(float));
}

static void blas_close(void *state)
{
    Blas *b = state;
    free(b->out), free(b);
}

const Contender openblas = {
    .name           = "openblas",
    .takes_products = true,
    .open           = blas_open,
    .run            = blas_run,
    .answer         = blas_answer,
    .close          = blas_close,
};
#else
const Contender openblas = {.name    = "openblas",
                            .missing = "not installed when this was built (Debian: libopenblas-dev)"};
#endif
