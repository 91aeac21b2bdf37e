// interleave.c - hologram::Interleave: channels become pixels between pixels, with channels last.
//
// Of [n, spatial ..., group * block * m] it makes [n, spatial * block ..., group * m]: pixel q of a dimension becomes
// the pixels q * block to q * block + block - 1. `crops` are pixels left out at the begins, then at the ends. It is
// DepthToSpace with channels last, and the last half of a transposed convolution.
#include "ops/op.h"
#include "ops/spread.h"

enum { SPATIAL = HOLO_MAX_RANK - 2, LIMIT = 1 << 20 };

typedef struct Interleave {
    int               rank;          // spatial dimensions
    int64_t           group, blocks; // blocks: all dimensions together
    int64_t           block[SPATIAL], begin[SPATIAL], end[SPATIAL];
    int64_t           channels, m; // of a pixel of the input; of a group of the output
    const HoloTensor *x;
    HoloTensor       *y;
} Interleave;

static HoloStatus read(const HoloCall *call, Interleave *out)
{
    int64_t crops[2 * SPATIAL] = {0};
    *out                       = (Interleave){.rank = call->in[0]->rank - 2, .blocks = 1};
    out->group                 = holo_attr_int(call, "group", 1);
    int crop_count             = holo_attr_ints(call, "crops", crops, HOLO_COUNT(crops));
    if (holo_attr_ints(call, "blocks", out->block, SPATIAL) != out->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "blocks must have %d entries", out->rank);
    if (crop_count >= 0 && crop_count != 2 * out->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "crops must have %d entries", 2 * out->rank);
    for (int d = 0; d < out->rank; d++) {
        out->begin[d] = crops[d];
        out->end[d]   = crops[out->rank + d];
        if (out->block[d] < 1 || out->block[d] > LIMIT || out->begin[d] < 0 || out->begin[d] > LIMIT ||
            out->end[d] < 0 || out->end[d] > LIMIT || !holo_mul(out->blocks, out->block[d], &out->blocks))
            return holo_call_fail(call, HOLO_BAD_MODEL, "blocks or crops are not in 0 to %d", LIMIT);
    }
    if (out->group < 1 || out->group > LIMIT)
        return holo_call_fail(call, HOLO_BAD_MODEL, "group is %lld", (long long)out->group);
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    Interleave        v;
    HoloDim           dim[HOLO_MAX_RANK];
    int64_t           part;
    HOLO_TRY(holo_expect_rank(call, 0, 3, HOLO_MAX_RANK));
    HOLO_TRY(read(call, &v));
    HoloDim channels = x->dim[x->rank - 1];
    if (!holo_mul(v.blocks, v.group, &part) || (!holo_dim_is_symbolic(channels) && channels % part))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the channels do not split into groups and blocks");
    dim[0]           = x->dim[0];
    dim[x->rank - 1] = holo_dim_div(call->dims, channels, v.blocks);
    for (int d = 0; d < v.rank; d++) {
        HoloDim size = holo_dim_mul(call->dims, x->dim[1 + d], v.block[d]);
        dim[1 + d]   = holo_dim_sub(call->dims, size, v.begin[d] + v.end[d]);
        if (!holo_dim_is_symbolic(dim[1 + d]) && dim[1 + d] < 0)
            return holo_call_fail(call, HOLO_BAD_MODEL, "crops leave nothing of dimension %d", 1 + d);
    }
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim);
}

// One row of the output: all pixels that differ in the last spatial dimension alone.
static void row(void *arg, int64_t number, int worker)
{
    (void)worker;
    const Interleave *v    = arg;
    int               last = v->rank - 1;
    int64_t           from = 0, place = 0, stride = v->x->dim[v->rank], blocks = v->block[last], rest = number;
    for (int d = last - 1; d >= 0; d--) {
        int64_t at = rest % v->y->dim[1 + d] + v->begin[d];
        rest /= v->y->dim[1 + d];
        from += at / v->block[d] * stride;
        place += at % v->block[d] * blocks;
        stride *= v->x->dim[1 + d];
        blocks *= v->block[d];
    }
    from += rest * stride; // `rest` is the image
    size_t  size  = holo_dtype_size((HoloDtype)v->x->dtype);
    int64_t width = v->y->dim[v->rank], step = v->block[last], outs = v->group * v->m;
    for (int64_t r = 0; r < step; r++) {
        int64_t o = (r + step - v->begin[last] % step) % step, q = (o + v->begin[last]) / step;
        if (o >= width) continue;
        int64_t dim[3]       = {(width - o - 1) / step + 1, v->group, v->m};
        int64_t to_stride[3] = {step * outs, v->m, 1}, from_stride[3] = {v->channels, v->blocks * v->m, 1};
        holo_move(3, dim, size, (char *)v->y->data + (size_t)((number * width + o) * outs) * size, to_stride,
                  (const char *)v->x->data + (size_t)((from + q) * v->channels + (place + r) * v->m) * size,
                  from_stride);
    }
}

static HoloStatus eval(HoloCall *call)
{
    Interleave v;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(read(call, &v));
    v.x        = call->in[0];
    v.y        = call->out[0];
    v.channels = v.x->dim[v.x->rank - 1];
    v.m        = v.channels / v.blocks / v.group;
    holo_spread(call, holo_product(v.y->rank - 2, v.y->dim), (double)holo_tensor_count(v.y), row, &v);
    return HOLO_OK;
}

const HoloOp holo_ops_interleave[] = {
    {.name    = "Interleave",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .infer   = infer,
     .eval    = eval},
    {0},
};
