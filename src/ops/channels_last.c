// channels_last.c - runs operators for channels first on tensors with channels last. See channels_last.h.
#include "ops/channels_last.h"

enum { INPUTS = 9 }; // at most

// The same call for channels first. It must not move: it points into itself.
typedef struct Planes {
    HoloCall          call;
    const HoloTensor *in[INPUTS];
    HoloTensor       *out[1];
    HoloTensor        x[INPUTS], y;
} Planes;

static bool is_transposed(const HoloCall *call, uint32_t transposed, int i)
{
    return call->in[i] && transposed >> i & 1;
}

static HoloStatus planes_init(const HoloCall *call, uint32_t transposed, Planes *out)
{
    *out          = (Planes){.call = *call};
    out->call.in  = out->in;
    out->call.out = out->out;
    out->out[0]   = &out->y;
    for (int i = 0; i < call->in_count; i++) {
        out->in[i] = call->in[i];
        if (!is_transposed(call, transposed, i)) continue;
        HOLO_TRY(holo_expect_rank(call, i, 3, HOLO_MAX_RANK));
        int rank   = call->in[i]->rank;
        out->x[i]  = *call->in[i];
        out->in[i] = &out->x[i];
        for (int d = 1; d < rank; d++) out->x[i].dim[d] = call->in[i]->dim[d == 1 ? rank - 1 : d - 1];
    }
    return HOLO_OK;
}

HoloStatus holo_channels_last_infer(HoloCall *call, uint32_t transposed, HoloCallFn *infer)
{
    Planes  planes;
    HoloDim dim[HOLO_MAX_RANK];
    HOLO_TRY(planes_init(call, transposed, &planes));
    HOLO_TRY(infer(&planes.call));
    int rank = planes.y.rank;
    for (int d = 0; d < rank; d++) dim[d] = planes.y.dim[d == 0 ? 0 : d == rank - 1 ? 1 : d + 1];
    return holo_out_type(call, 0, (HoloDtype)planes.y.dtype, rank, dim);
}

// Transposes [n][rows][cols] to [n][cols][rows].
static void transpose(const HoloTensor *from, int64_t rows, int64_t cols, HoloTensor *to)
{
    const int64_t dim[3]    = {from->dim[0], cols, rows};
    const int64_t source[3] = {rows * cols, 1, cols}, target[3] = {rows * cols, rows, 1};
    holo_move(3, dim, holo_dtype_size((HoloDtype)from->dtype), to->data, target, from->data, source);
}

static HoloStatus take_memory(const HoloCall *call, HoloTensor *t)
{
    return holo_call_temp(call, (size_t)holo_tensor_count(t), holo_dtype_size((HoloDtype)t->dtype), &t->data);
}

HoloStatus holo_channels_last_eval(HoloCall *call, uint32_t transposed, HoloCallFn *infer, HoloCallFn *eval)
{
    HoloTensor *y = holo_out(call, 0);
    Planes      planes;
    if (!y || holo_tensor_count(y) == 0) return HOLO_OK;
    HOLO_TRY(planes_init(call, transposed, &planes));
    HOLO_TRY(infer(&planes.call));
    HOLO_TRY(take_memory(call, &planes.y));
    for (int i = 0; i < call->in_count; i++) {
        const HoloTensor *x = call->in[i];
        if (!is_transposed(call, transposed, i)) continue;
        HOLO_TRY(take_memory(call, &planes.x[i]));
        if (holo_tensor_count(x) > 0)
            transpose(x, holo_product(x->rank - 2, x->dim + 1), x->dim[x->rank - 1], &planes.x[i]);
    }
    HOLO_TRY(eval(&planes.call));
    transpose(&planes.y, planes.y.dim[1], holo_product(y->rank - 2, y->dim + 1), y);
    return HOLO_OK;
}
