// rotary.c - RotaryEmbedding, ONNX's and that of com.microsoft, which have their inputs in another order.
#include "ops/standard/rotary.h"
#include "ops/move.h"
#include "ops/spread.h"

typedef struct Inputs { // which input is what
    int cos, sin, positions;
} Inputs;

static const Inputs onnx      = {1, 2, 3};
static const Inputs microsoft = {2, 3, 1};

typedef HoloRotarySizes Sizes;

// The same for f32 alone, read and written where they lie: numbers as double, rounded once.
static void rotate_f32(const HoloRotary *r, const float *cos, const float *sin, const float *x, int64_t size, float *y)
{
    int64_t step = r->interleaved ? 2 : 1, far = r->interleaved ? 1 : r->half;
    for (int64_t k = 0; k < r->half; k++) {
        double real = (double)x[k * step], imaginary = (double)x[k * step + far], c = (double)cos[k],
               s          = (double)sin[k];
        y[k * step]       = (float)(c * real - s * imaginary);
        y[k * step + far] = (float)(s * real + c * imaginary);
    }
    if (size > 2 * r->half) memcpy(y + 2 * r->half, x + 2 * r->half, (size_t)(size - 2 * r->half) * sizeof *y);
}

void holo_rotate(const HoloRotary *r, int64_t row, const HoloTensor *x, int64_t at, int64_t size, HoloTensor *y,
                 int64_t y_at)
{
    double *cos = r->work, *sin = cos + r->half, *v = sin + r->half;
    if (x->dtype == HOLO_F32 && y->dtype == HOLO_F32 && r->cos->dtype == HOLO_F32 && r->sin->dtype == HOLO_F32) {
        rotate_f32(r, (const float *)r->cos->data + row * r->half, (const float *)r->sin->data + row * r->half,
                   (const float *)x->data + at, size, (float *)y->data + y_at);
        return;
    }
    holo_read_f(r->cos, row * r->half, 1, r->half, cos);
    holo_read_f(r->sin, row * r->half, 1, r->half, sin);
    holo_read_f(x, at, 1, size, v);
    for (int64_t k = 0; k < r->half; k++) {
        int64_t i = r->interleaved ? 2 * k : k, j = r->interleaved ? 2 * k + 1 : k + r->half;
        double  real = v[i], imaginary = v[j];
        v[i] = cos[k] * real - sin[k] * imaginary;
        v[j] = sin[k] * real + cos[k] * imaginary;
    }
    holo_write_f(y, y_at, 1, size, v);
}

// The size of a vector: from the heads or, where they are not said, from the tables.
static HoloStatus find_sizes(const HoloCall *call, Sizes *s)
{
    const Inputs     *in = call->op->row;
    const HoloTensor *x = call->in[0], *cos = holo_in(call, in->cos);
    HOLO_TRY(holo_expect_rank(call, 0, 3, 4));
    if (!cos || !holo_in(call, in->sin))
        return holo_call_fail(call, HOLO_BAD_MODEL, "cos_cache or sin_cache is missing");
    *s = (Sizes){.batch = x->dim[0], .heads = x->dim[1], .positions = x->dim[2], .size = x->dim[3]};
    if (x->rank == 4) return HOLO_OK;
    s->positions = x->dim[1];
    s->heads     = holo_attr_int(call, "num_heads", 0);
    if (s->heads == 0 && in == &microsoft && cos->rank > 0) {
        s->size  = holo_dim_mul(call->dims, cos->dim[cos->rank - 1], 2);
        s->heads = holo_dim_div(call->dims, x->dim[2], s->size);
        HoloDim all;
        return holo_agree(call, "the vectors and the tables", holo_dim_mul(call->dims, s->heads, s->size), x->dim[2],
                          &all);
    }
    return holo_split(call, "the input", x->dim[2], s->heads, &s->size);
}

// A table is [row][half] where positions choose rows, else [batch][position][half], or [1][position][half]: PyTorch's
// exporter writes tables that serve a whole batch, though the standard does not speak of them.
static HoloStatus check_table(const HoloCall *call, int input, Sizes *s)
{
    const Inputs     *in   = call->op->row;
    const HoloTensor *t    = holo_in(call, input);
    int               rank = holo_in(call, in->positions) ? 2 : 3;
    HOLO_TRY(holo_expect_types(call, input, UINT64_C(1) << call->in[0]->dtype));
    HOLO_TRY(holo_expect_rank(call, input, rank, rank));
    if (rank == 3) {
        HoloDim same;
        if (t->dim[0] != 1) HOLO_TRY(holo_agree(call, "batch of the table and the input", t->dim[0], s->batch, &same));
        HOLO_TRY(holo_agree(call, "positions of the table and the input", t->dim[1], s->positions, &same));
    } else {
        HOLO_TRY(holo_agree(call, "rows of the tables", t->dim[0], s->rows, &s->rows));
    }
    return holo_agree(call, "columns of the table and half the turned size", t->dim[t->rank - 1], s->half, &s->half);
}

HoloStatus holo_rotary_sizes(const HoloCall *call, Sizes *s)
{
    const Inputs     *in        = call->op->row;
    const HoloTensor *positions = holo_in(call, in->positions);
    int64_t           turned    = holo_attr_int(call, "rotary_embedding_dim", 0);
    HOLO_TRY(find_sizes(call, s));
    HoloDim size = turned ? turned : s->size;
    if (!holo_dim_is_symbolic(size) && (size < 0 || size % 2 || (!holo_dim_is_symbolic(s->size) && size > s->size)))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld of %lld numbers are to be rotated, expected an even number",
                              (long long)size, (long long)s->size);
    s->half = holo_dim_div(call->dims, size, 2);
    s->rows = HOLO_DIM_UNKNOWN;
    s->cos  = call->in[in->cos];
    s->sin  = call->in[in->sin];
    HOLO_TRY(check_table(call, in->cos, s));
    HOLO_TRY(check_table(call, in->sin, s));
    HoloDim same;
    if (!positions)
        return holo_agree(call, "batches of the tables", call->in[in->cos]->dim[0], call->in[in->sin]->dim[0], &same);
    HOLO_TRY(holo_expect_types(call, in->positions, HOLO_TYPES_INDEX));
    if (in == &microsoft && positions->rank < 2) return holo_expect_rank(call, in->positions, 0, 1);
    HOLO_TRY(holo_expect_rank(call, in->positions, 2, 2));
    HOLO_TRY(holo_agree(call, "batch of the positions and the input", positions->dim[0], s->batch, &same));
    return holo_agree(call, "columns of the positions and the input", positions->dim[1], s->positions, &same);
}

static HoloStatus infer(HoloCall *call)
{
    Sizes s;
    HOLO_TRY(holo_rotary_sizes(call, &s));
    return holo_infer_same(call);
}

HoloStatus holo_rotary_row(const HoloCall *call, const Sizes *s, int64_t batch, int64_t position, int64_t *out)
{
    const Inputs     *in        = call->op->row;
    const HoloTensor *positions = holo_in(call, in->positions);
    if (!positions) {
        *out = (s->cos->dim[0] == 1 ? 0 : batch * s->positions) + position;
        return HOLO_OK;
    }
    bool is_start = positions->rank < 2;
    if (is_start && holo_tensor_count(positions) != 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "position_ids is not one number");
    int64_t row  = holo_get_i(positions, is_start ? 0 : batch * s->positions + position);
    int64_t last = is_start ? position : 0;
    if (row < 0 || row >= s->rows - last)
        return holo_call_fail(call, HOLO_BAD_INPUT, "position %lld, expected 0 to %lld", (long long)row,
                              (long long)(s->rows - last - 1));
    *out = row + last;
    return HOLO_OK;
}

HoloStatus holo_rotary_eval(const HoloCall *call, const Sizes *s, HoloRotaryRow *row)
{
    const HoloTensor *x    = call->in[0];
    HoloHeads         view = x->rank == 4 ? holo_heads_outer(x) : holo_heads_inner(x, s->heads);
    void             *work;
    HOLO_TRY(holo_call_temp(call, (size_t)(2 * s->half + s->size), sizeof(double), &work));
    HoloRotary r = {.cos         = s->cos,
                    .sin         = s->sin,
                    .rows        = s->rows,
                    .half        = s->half,
                    .work        = work,
                    .interleaved = holo_attr_int(call, "interleaved", 0) != 0};
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t p = 0; p < s->positions; p++) {
            int64_t from = 0;
            HOLO_TRY(row(call, s, b, p, &from));
            for (int64_t h = 0; h < s->heads; h++) {
                int64_t at = b * view.batch + h * view.head + p * view.step;
                holo_rotate(&r, from, x, at, s->size, call->out[0], at);
            }
        }
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Sizes s;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_rotary_sizes(call, &s));
    return holo_rotary_eval(call, &s, holo_rotary_row);
}

#define ROW \
    .name = "RotaryEmbedding", .types = HOLO_TYPES_FLOAT, .out_min = 1, .out_max = 1, .infer = infer, .eval = eval

const HoloOp holo_ops_rotary[] = {
    {.domain = "", .since = 23, .in_min = 3, .in_max = 4, .row = &onnx, ROW},
    {.domain = "com.microsoft", .since = 1, .in_min = 4, .in_max = 4, .row = &microsoft, ROW},
    {0},
};
