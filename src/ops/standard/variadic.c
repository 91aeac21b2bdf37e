// variadic.c - Min, Max, Sum and Mean of any number of broadcast inputs: the fold of a kernel of two over them.
#include "ops/pointwise.h"
#include "ops/spread.h"

#include <string.h>

typedef struct Row { // of HoloOp.row: kernels first, as holo_pointwise_infer wants it
    HoloPointwiseRow kernels;
    bool             is_mean;
} Row;

// clang-format off
// NaN wins over any number.
#define X(id, operator)                                                                     \
    HOLO_KERNEL_2(id##_f64, double, double, x operator y || x != x ? x : y)                 \
    HOLO_KERNEL_2(id##_i64, int64_t, int64_t, x operator y ? x : y)                         \
    HOLO_KERNEL_2(id##_u64, uint64_t, uint64_t, x operator y ? x : y)
X(min, <)
X(max, >)
#undef X
HOLO_KERNEL_2(sum_f64, double, double, x + y)
// clang-format on

typedef struct Job {
    const HoloCall *call;
    HoloTileFn     *fn;
    HoloTile       *tile; // in its place, of elements as they are stored; NULL: fn
    HoloLane        lane;
    int64_t         count, most; // elements: all, and of a tile
    size_t          bytes;       // of a lane
    double          divisor;
    HoloStream     *streams; // in_count for each worker
} Job;

enum { PART = 64 * HOLO_TILE };

// Results of two inputs after another: where the next is written, the last was not.
static void fold_part(void *arg, int64_t part, int worker)
{
    const Job          *job     = arg;
    const HoloCall     *call    = job->call;
    HoloTensor          out     = *call->out[0];
    HoloStream         *streams = job->streams + (int64_t)worker * call->in_count;
    _Alignas(64) double total[2][HOLO_TILE], first[HOLO_TILE], buffer[HOLO_TILE];
    int64_t             at = part * PART, end = job->count - at < PART ? job->count : at + PART;
    for (int i = 0; i < call->in_count; i++) {
        holo_stream_open(&streams[i], call->in[i], job->lane, out.rank, out.dim, at);
        streams[i].most = job->most;
    }
    for (int64_t count; at < end; at += count) {
        count              = end - at < job->most ? end - at : job->most;
        const void *so_far = holo_stream_next(&streams[0], count, first);
        for (int i = 1; i < call->in_count; i++) {
            const void *next = holo_stream_next(&streams[i], count, buffer);
            if (call->in_count > 2) streams[i].is_filled = false; // the buffer is shared
            if (job->tile)
                job->tile(count, so_far, next, NULL, total[i % 2], 0);
            else
                job->fn(&(HoloLanes){.count = count, .in = {so_far, next}, .out = total[i % 2]});
            so_far = total[i % 2];
        }
        if (call->in_count == 1) so_far = memcpy(total[0], so_far, (size_t)count * job->bytes); // may be the output
        if (job->divisor != 1) {
            const double *sum = so_far;
            for (int64_t k = 0; k < count; k++) total[0][k] = sum[k] / job->divisor;
            so_far = total[0];
        }
        holo_lane_write(&out, job->lane, at, count, so_far);
    }
}

static HoloStatus eval(HoloCall *call)
{
    const Row  *row = call->op->row;
    HoloTensor *out = holo_out(call, 0);
    if (!out) return HOLO_OK;
    if (row->kernels.tile && call->in_count == 2) return holo_pointwise_eval(call);
    HoloClass kind = holo_dtype_class((HoloDtype)out->dtype);
    Job       job  = {.call = call, .count = holo_tensor_count(out), .divisor = row->is_mean ? call->in_count : 1};
    job.lane       = kind == HOLO_CLASS_FLOAT ? HOLO_LANE_F64 : HOLO_LANE_I64;
    job.bytes      = sizeof(double);
    job.fn         = kind == HOLO_CLASS_FLOAT  ? row->kernels.f64
                     : kind == HOLO_CLASS_UINT ? row->kernels.u64
                                               : row->kernels.i64;
    int type       = holo_tile_type((HoloDtype)out->dtype);
    if (row->kernels.tile && type >= 0) {
        job.lane  = type == HOLO_TILE_F32 ? HOLO_LANE_F32 : type == HOLO_TILE_F64 ? HOLO_LANE_F64 : HOLO_LANE_OWN;
        job.bytes = holo_dtype_size((HoloDtype)out->dtype);
        job.tile  = holo_tiles()->op[row->kernels.tile - 1][type];
    }
    job.most = HOLO_TILE * (int64_t)(sizeof(double) / job.bytes);
    void  *streams;
    size_t workers = call->host->workers > 1 ? (size_t)call->host->workers : 1;
    HOLO_TRY(holo_call_temp(call, workers * (size_t)call->in_count, sizeof *job.streams, &streams));
    job.streams = streams;
    holo_spread(call, (job.count + PART - 1) / PART, (double)job.count * call->in_count, fold_part, &job);
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    for (int i = 1; i < call->in_count; i++)
        if (!call->in[i]) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
    return holo_pointwise_infer(call);
}

// clang-format off
#define ROW(id, accepted, ...)                                                                              \
    {.name = #id, .domain = "", .since = 1, .in_min = 1, .in_max = -1, .out_min = 1, .out_max = 1,          \
     .types = accepted, .flags = HOLO_OP_POINTWISE | HOLO_OP_COMMUTES, .infer = infer, .eval = eval,        \
     .row = &(const Row){__VA_ARGS__}}

const HoloOp holo_ops_variadic[] = {
    ROW(Min, HOLO_TYPES_NUMBER, .kernels = {.f64 = min_f64, .i64 = min_i64, .u64 = min_u64, .tile = HOLO_BY_TILE(MIN)}),
    ROW(Max, HOLO_TYPES_NUMBER, .kernels = {.f64 = max_f64, .i64 = max_i64, .u64 = max_u64, .tile = HOLO_BY_TILE(MAX)}),
    ROW(Sum, HOLO_TYPES_FLOAT, .kernels = {.f64 = sum_f64}),
    ROW(Mean, HOLO_TYPES_FLOAT, .kernels = {.f64 = sum_f64}, .is_mean = true),
    {0},
};
// clang-format on
