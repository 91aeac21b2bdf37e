// bench.h - a kernel beside its peers: a case, and contenders that are made ready for it and then run it.
#ifndef BENCH_H
#define BENCH_H

#include "base/base.h"

typedef struct Case {
    const char  *text;
    bool         is_conv;
    int64_t      m, n, k; // of a product
    int64_t      channels, height, width, filters, kernel, stride, dilation, groups;
    int64_t      pad, out_height, out_width; // paddings that keep the size where the stride is 1
    const float *in, *weights;               // [m][k], [k][n]; of a convolution [height][width][channels], and
                                             // [filters][channels / groups][kernel][kernel]
    int64_t in_count, weight_count, out_count;
    double  gflops; // multiplications and additions of the plain sum
} Case;

typedef struct Contender {
    const char *name;
    bool        takes_products, takes_convs;
    const char *missing; // why it cannot take part; NULL: it can
    void *(*open)(const Case *c, int threads);
    void (*run)(void *state);
    void (*answer)(void *state, float *out); // of the last run: [m][n], or [out_height][out_width][filters]
    void (*close)(void *state);
} Contender;

extern const Contender own, openblas, dnnl;

const char *own_level(void); // of this CPU
// GFLOP/s that one core can do at most at a level.
double peak(const char *level);

void          *take(size_t size); // 64-byte aligned, or the program ends
_Noreturn void fail(const char *what, ...) __attribute__((format(printf, 1, 2)));

#endif
