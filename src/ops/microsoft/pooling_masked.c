// pooling_masked.c - MaxpoolWithMask of com.microsoft: MaxPool that leaves the last direction of a window at the first
// element whose mask is 0.
//
// Where a plane has two or more dimensions, the mask of its first element is ignored, as ONNX Runtime ignores it.
// ONNX Runtime reads masks of several channels at wrong places. Here each channel has its own mask, and all images share it.
#include "ops/spread.h"
#include "ops/window.h"

#include <float.h>

enum { X, MASK };
enum { TAPS_MAX = 1 << 20 }; // of a window

static HoloStatus init_window(const HoloCall *call, HoloWindow *out)
{
    const HoloTensor *x = call->in[X];
    return holo_window_init(call, x->rank - 2, x->dim + 2, NULL, false, out);
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[X], *mask = call->in[MASK];
    HoloWindow        window;
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_expect_rank(call, X, 3, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_types(call, MASK, HOLO_BIT(I32)));
    HOLO_TRY(holo_expect_rank(call, MASK, x->rank, x->rank));
    HOLO_TRY(init_window(call, &window));
    for (int d = 0; d < x->rank; d++) {
        bool is_known = !holo_dim_is_symbolic(x->dim[d]) && !holo_dim_is_symbolic(mask->dim[d]);
        if (is_known && (d < 2 ? mask->dim[d] < 1 : mask->dim[d] != x->dim[d]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the mask has %lld in dimension %d, the input %lld",
                                  (long long)mask->dim[d], d, (long long)x->dim[d]);
        dim[d] = d < 2 ? x->dim[d] : window.out[d - 2];
    }
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim);
}

typedef struct Pool {
    const HoloTensor *x;
    const int32_t    *mask;
    HoloTensor       *y;
    HoloWindow        window;
    int64_t           ins, outs, taps, run, masks; // run: taps of the last direction
} Pool;

static double largest(const Pool *p, int64_t plane, const int32_t *mask, int64_t out)
{
    double best = -FLT_MAX;
    for (int64_t t = 0; t < p->taps; t += p->run)
        for (int64_t k = t; k < t + p->run; k++) {
            int64_t at = holo_window_meet(&p->window, out, k);
            if (at < 0) continue;
            if ((at > 0 || p->window.rank == 1) && mask[at] == 0) break;
            double x = holo_get_f(p->x, plane * p->ins + at);
            best     = x > best ? x : best;
        }
    return best;
}

static void run_plane(void *arg, int64_t plane, int worker)
{
    (void)worker;
    const Pool    *p    = arg;
    const int32_t *mask = p->mask + plane % p->masks * p->ins;
    for (int64_t o = 0; o < p->outs; o++) holo_put_f(p->y, plane * p->outs + o, largest(p, plane, mask, o));
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *mask = call->in[MASK];
    Pool              p    = {.x = call->in[X], .mask = mask->data, .y = call->out[0]};
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(init_window(call, &p.window));
    p.ins  = holo_window_ins(&p.window);
    p.outs = holo_window_outs(&p.window);
    p.taps = holo_window_taps(&p.window);
    if (p.taps > TAPS_MAX)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "a window of %lld elements", (long long)p.taps);
    p.run          = p.window.kernel[p.window.rank - 1];
    p.masks        = mask->dim[0] * mask->dim[1];
    int64_t planes = p.x->dim[0] * p.x->dim[1];
    holo_spread(call, planes, (double)planes * (double)p.outs * (double)p.taps * 8, run_plane, &p);
    return HOLO_OK;
}

const HoloOp holo_ops_pooling_masked[] = {
    {.name    = "MaxpoolWithMask",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
