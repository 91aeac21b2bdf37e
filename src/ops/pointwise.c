// pointwise.c - streams of broadcast elements, and the loop over tiles that every pointwise operator shares.
#include "ops/pointwise.h"
#include "ops/spread.h"

#include <string.h>

// ---- lanes

static const uint8_t lane_bytes[] = {
    [HOLO_LANE_F32]  = 4,
    [HOLO_LANE_F64]  = 8,
    [HOLO_LANE_I64]  = 8,
    [HOLO_LANE_WIDE] = 16,
};

static const uint64_t lane_types[] = {
    [HOLO_LANE_F32]  = HOLO_BIT(F32),
    [HOLO_LANE_F64]  = HOLO_BIT(F64),
    [HOLO_LANE_I64]  = HOLO_BIT(I64) | HOLO_BIT(U64),
    [HOLO_LANE_WIDE] = HOLO_BIT(STRING) | HOLO_BIT(C128),
    [HOLO_LANE_OWN]  = HOLO_TYPES_ALL,
};

static size_t lane_size(HoloLane lane, const HoloTensor *t)
{
    return lane == HOLO_LANE_OWN ? holo_dtype_size((HoloDtype)t->dtype) : lane_bytes[lane];
}

// Are the elements of such a tensor stored exactly as the lane holds them?
static bool is_stored(const HoloTensor *t, HoloLane lane)
{
    return lane_types[lane] >> t->dtype & 1;
}

static void lane_read(const HoloTensor *t, HoloLane lane, int64_t start, int64_t stride, int64_t count, void *out)
{
    switch (lane) {
    case HOLO_LANE_F64: holo_read_f(t, start, stride, count, out); break;
    case HOLO_LANE_I64: holo_read_i(t, start, stride, count, out); break;
    case HOLO_LANE_F32:
        for (int64_t k = 0; k < count; k++) ((float *)out)[k] = ((const float *)t->data)[start + k * stride];
        break;
    case HOLO_LANE_WIDE:
        for (int64_t k = 0; k < count; k++) ((HoloString *)out)[k] = ((const HoloString *)t->data)[start + k * stride];
        break;
    case HOLO_LANE_OWN: {
        size_t size = lane_size(lane, t);
        holo_move(1, &count, size, out, (const int64_t[]){1}, (const char *)t->data + (size_t)start * size, &stride);
    }
    }
}

// As holo_write_f does with floats that are converted when stored.
static void lane_plain_nan(HoloLane lane, int64_t count, void *lanes)
{
    float  *f = lanes;
    double *d = lanes;
    for (int64_t k = 0; lane == HOLO_LANE_F32 && k < count; k++) f[k] = f[k] == f[k] ? f[k] : __builtin_nanf("");
    for (int64_t k = 0; lane == HOLO_LANE_F64 && k < count; k++) d[k] = holo_plain_nan(d[k]);
}

void holo_lane_write(HoloTensor *t, HoloLane lane, int64_t start, int64_t count, const void *from)
{
    if (is_stored(t, lane)) {
        size_t size = lane_size(lane, t);
        char  *to   = (char *)t->data + (size_t)start * size;
        memcpy(to, from, (size_t)count * size);
        lane_plain_nan(lane, count, to);
    } else if (lane == HOLO_LANE_F64)
        holo_write_f(t, start, 1, count, from);
    else if (lane == HOLO_LANE_I64)
        holo_write_i(t, start, 1, count, from);
}

// Repeats the first lane `count` times.
static void lane_repeat(char *out, size_t bytes, int64_t count)
{
    for (int64_t done = 1; done < count;) {
        int64_t more = done < count - done ? done : count - done;
        memcpy(out + (size_t)done * bytes, out, (size_t)more * bytes);
        done += more;
    }
}

// ---- streams

void holo_stream_open(HoloStream *stream, const HoloTensor *t, HoloLane lane, int rank, const int64_t *dim,
                      int64_t start)
{
    int64_t stride[HOLO_MAX_RANK];
    holo_strides_broadcast(t, rank, dim, stride);
    stream->tensor    = *t;
    stream->lane      = lane;
    stream->rank      = 0;
    stream->offset    = 0;
    stream->most      = HOLO_TILE;
    stream->is_filled = false;
    for (int i = 0; i < rank; i++) { // neighboring dimensions that are contiguous are joined
        if (dim[i] == 1) continue;
        int last = stream->rank - 1;
        if (last >= 0 && stream->stride[last] == stride[i] * dim[i]) {
            stream->dim[last] *= dim[i];
            stream->stride[last] = stride[i];
        } else {
            stream->dim[stream->rank]    = dim[i];
            stream->stride[stream->rank] = stride[i];
            stream->rank++;
        }
    }
    if (stream->rank == 0) {
        stream->dim[0]    = 1;
        stream->stride[0] = 0;
        stream->rank      = 1;
    }
    for (int i = stream->rank - 1; i >= 0; i--) {
        stream->index[i] = start % stream->dim[i];
        stream->offset += stream->index[i] * stream->stride[i];
        start /= stream->dim[i];
    }
    stream->is_constant = stream->rank == 1 && stream->stride[0] == 0;
}

// Moves on by `count` elements, which do not pass the end of the innermost run.
static void stream_advance(HoloStream *stream, int64_t count)
{
    int i = stream->rank - 1;
    stream->index[i] += count;
    stream->offset += count * stream->stride[i];
    for (; i > 0 && stream->index[i] == stream->dim[i]; i--) {
        stream->offset += stream->stride[i - 1] - stream->dim[i] * stream->stride[i];
        stream->index[i] = 0;
        stream->index[i - 1]++;
    }
}

const void *holo_stream_next(HoloStream *stream, int64_t count, void *buffer)
{
    const HoloTensor *t     = &stream->tensor;
    size_t            bytes = lane_size(stream->lane, t);
    if (stream->is_constant) {
        if (!stream->is_filled) {
            lane_read(t, stream->lane, stream->offset, 0, 1, buffer);
            lane_repeat(buffer, bytes, stream->most);
        }
        stream->is_filled = true;
        return buffer;
    }
    int last = stream->rank - 1;
    if (stream->stride[last] == 1 && count <= stream->dim[last] - stream->index[last] && is_stored(t, stream->lane)) {
        const char *stored = (const char *)t->data + (size_t)stream->offset * bytes;
        stream_advance(stream, count);
        return stored;
    }
    for (char *out = buffer; count > 0;) {
        int64_t run    = stream->dim[last] - stream->index[last];
        int64_t stride = stream->stride[last];
        if (run > count) run = count;
        lane_read(t, stream->lane, stream->offset, stride, stride ? run : 1, out);
        if (!stride) lane_repeat(out, bytes, run);
        stream_advance(stream, run);
        out += (size_t)run * bytes;
        count -= run;
    }
    return buffer;
}

// ---- evaluation

enum { PART = 64 * HOLO_TILE }; // elements that one thread takes at a time

typedef struct Job {
    const HoloPointwise *work;
    int64_t              count;
} Job;

// As many elements as fit into a buffer in the widest lane.
static int64_t tile_most(const HoloPointwise *work)
{
    size_t widest = lane_size(work->lane_out, &work->out);
    for (int i = 0; i < work->in_count; i++) {
        size_t size = lane_size(work->lane[i], &work->in[i]);
        if (size > widest) widest = size;
    }
    return HOLO_STREAM_BYTES / (int64_t)widest;
}

// Where results can be stored directly, if no input is there: compilers do not vectorize loops that read where they
// write.
static char *tile_direct(const HoloPointwise *work, const HoloLanes *tile, int64_t at)
{
    char *to = (char *)work->out.data + (size_t)at * lane_size(work->lane_out, &work->out);
    if (!is_stored(&work->out, work->lane_out)) return NULL;
    for (int i = 0; i < work->in_count; i++)
        if (tile->in[i] == to) return NULL;
    return to;
}

static void compute_part(void *arg, int64_t part, int worker)
{
    (void)worker;
    const Job           *job  = arg;
    const HoloPointwise *work = job->work;
    _Alignas(64) char    buffer[HOLO_LANES_MAX + 1][HOLO_STREAM_BYTES];
    HoloStream           stream[HOLO_LANES_MAX];
    HoloTensor           out  = work->out;
    HoloLanes            tile = {.p = work->p};
    int64_t              at = part * PART, end = job->count - at < PART ? job->count : at + PART;
    int64_t              most = tile_most(work);
    for (int i = 0; i < work->in_count; i++) {
        holo_stream_open(&stream[i], &work->in[i], work->lane[i], out.rank, out.dim, at);
        stream[i].most = most;
    }
    for (; at < end; at += tile.count) {
        tile.count = end - at < most ? end - at : most;
        for (int i = 0; i < work->in_count; i++) tile.in[i] = holo_stream_next(&stream[i], tile.count, buffer[i]);
        char *direct = tile_direct(work, &tile, at);
        tile.out     = direct ? direct : buffer[HOLO_LANES_MAX];
        work->fn(&tile);
        if (direct)
            lane_plain_nan(work->lane_out, tile.count, tile.out);
        else
            holo_lane_write(&out, work->lane_out, at, tile.count, tile.out);
    }
}

// ---- the same with loops that are compiled for each CPU

enum {
    TILE_BYTES = 1 << 14,
    RUN_LEAST  = 32
}; // of a tile that is written; fewest elements of a run that is taken in
    // place

// How many of the next `count` elements can be taken at once.
static int64_t stream_most(const HoloStream *stream, bool may_be_one, int64_t count)
{
    int     last = stream->rank - 1;
    int64_t run = stream->dim[last] - stream->index[last], stride = stream->stride[last], most = stream->most;
    if (stream->is_constant && may_be_one) return count;
    if (!stream->is_constant && stream->dim[last] >= RUN_LEAST && (stride == 1 || (stride == 0 && may_be_one)))
        most = run;
    return most < count ? most : count;
}

// The next `count` elements: one for all of them (bit `bit` of `ones`), in place, or in `buffer`.
static const void *stream_take(HoloStream *stream, bool may_be_one, int64_t count, void *buffer, int bit, int *ones)
{
    const HoloTensor *t    = &stream->tensor;
    int               last = stream->rank - 1;
    if (count == 1 || !may_be_one || stream->stride[last] || count > stream->dim[last] - stream->index[last])
        return holo_stream_next(stream, count, buffer);
    const char *one = (const char *)t->data + (size_t)stream->offset * lane_size(stream->lane, t);
    *ones |= bit;
    stream_advance(stream, count);
    return one;
}

static void tile_part(void *arg, int64_t part, int worker)
{
    (void)worker;
    const Job           *job  = arg;
    const HoloPointwise *work = job->work;
    _Alignas(64) char    buffer[HOLO_LANES_MAX][HOLO_STREAM_BYTES];
    HoloStream           stream[HOLO_LANES_MAX];
    const HoloTiles     *tiles = holo_tiles();
    int                  type  = holo_tile_type((HoloDtype)work->out.dtype);
    size_t               size  = holo_dtype_size((HoloDtype)work->out.dtype);
    int64_t at = part * PART, end = job->count - at < PART ? job->count : at + PART, most = tile_most(work);
    int64_t tile = TILE_BYTES / (int64_t)size;
    for (int i = 0; i < work->in_count; i++) {
        holo_stream_open(&stream[i], &work->in[i], HOLO_LANE_OWN, work->out.rank, work->out.dim, at);
        stream[i].most = most;
    }
    for (int64_t n; at < end; at += n) {
        const void *in[HOLO_LANES_MAX] = {buffer[0], buffer[0], buffer[0]};
        char       *to                 = (char *)work->out.data + (size_t)at * size;
        int         ones               = 0;
        n                              = end - at < tile ? end - at : tile;
        for (int i = 0; i < work->in_count; i++) n = stream_most(&stream[i], !(work->spread >> i & 1), n);
        for (int i = 0; i < work->in_count; i++)
            in[i] = stream_take(&stream[i], !(work->spread >> i & 1), n, buffer[i], 1 << i, &ones);
        work->tile(n, in[0], in[1], in[2], to, ones);
        if (type == HOLO_TILE_F32 || type == HOLO_TILE_F64) tiles->plain[type == HOLO_TILE_F64](n, to);
    }
}

void holo_pointwise(const HoloCall *call, const HoloPointwise *work)
{
    Job job = {work, holo_tensor_count(&work->out)};
    if (job.count <= 0) return;
    holo_spread(call, (job.count + PART - 1) / PART, (double)job.count, work->tile ? tile_part : compute_part, &job);
}

// ---- families

double holo_attr_number(const HoloCall *call, const char *name, double fallback)
{
    const HoloAttr *a = holo_attr_find(call, name);
    if (a && a->kind == HOLO_ATTR_INT) return (double)a->i;
    return a && a->kind == HOLO_ATTR_FLOAT ? a->f : fallback;
}

static int inputs_given(const HoloCall *call)
{
    int count = call->in_count;
    while (count > 0 && !call->in[count - 1]) count--;
    return count;
}

// Before opset 7, `axis` says at which dimension of the first input the shape of the second begins. The second gets
// sizes of 1 behind its own, so that today's rule gives the same.
static HoloStatus legacy_view(const HoloCall *call, HoloTensor *view)
{
    const HoloPointwiseRow *row = call->op->row;
    const HoloTensor       *a = call->in[0], *b = call->in[1];
    int                     axis = row->legacy_axis;
    *view                        = *b;
    if (call->version >= 7 || (call->op->domain && *call->op->domain)) return HOLO_OK;
    if (row->has_axis && holo_attr_int(call, "broadcast", 0) && holo_attr_find(call, "axis"))
        HOLO_TRY(holo_attr_axis(call, "axis", 0, a->rank, &axis));
    else if (!axis || b->rank != 1 || b->dim[0] == 1)
        return HOLO_OK;
    if (axis + b->rank > a->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL,
                              "input 1 has %d dimensions, which do not fit from axis %d on into %d", b->rank, axis,
                              a->rank);
    while (axis + view->rank < a->rank) view->dim[view->rank++] = 1;
    return HOLO_OK;
}

HoloStatus holo_expect_tensors(const HoloCall *call)
{
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i] && call->in[i]->kind != HOLO_TENSOR)
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is not a tensor", i);
    return HOLO_OK;
}

static HoloStatus check_types(const HoloCall *call)
{
    const HoloTensor *first = call->in[0];
    HOLO_TRY(holo_expect_tensors(call));
    for (int i = 1; i < inputs_given(call); i++) {
        const HoloTensor *t = call->in[i];
        if (t->dtype != first->dtype)
            return holo_call_fail(call, HOLO_BAD_MODEL,
                                  "input %d is of type %s and input 0 of type %s; they must be of one type", i,
                                  holo_dtype_name((HoloDtype)t->dtype), holo_dtype_name((HoloDtype)first->dtype));
    }
    return HOLO_OK;
}

// The broadcast shape must be that of input 0; a symbolic size is assumed to fit.
static HoloStatus check_one_way(const HoloCall *call, int rank, HoloDim *dim)
{
    const HoloPointwiseRow *row   = call->op->row;
    const HoloTensor       *first = call->in[0];
    bool                    fits  = rank == first->rank;
    for (int i = 0; fits && i < rank; i++)
        fits = holo_dim_is_symbolic(first->dim[i]) || holo_dim_is_symbolic(dim[i]) || first->dim[i] == dim[i];
    if (fits) memcpy(dim, first->dim, (size_t)rank * sizeof *dim);
    if (fits || (row->may_grow && call->version >= 7)) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "the other inputs do not broadcast to the shape of input 0");
}

HoloStatus holo_pointwise_infer(HoloCall *call)
{
    const HoloPointwiseRow *row = call->op->row;
    HOLO_TRY(check_types(call));
    int               rank = 0;
    HoloDim           dim[HOLO_MAX_RANK];
    HoloTensor        second;
    HoloCall          modern = *call;
    const HoloTensor *in[2]  = {call->in[0], &second};
    if (inputs_given(call) == 2) {
        HOLO_TRY(legacy_view(call, &second));
        modern.in = in;
    }
    HOLO_TRY(holo_broadcast(&modern, 0, inputs_given(call), &rank, dim));
    if (row->is_one_way) HOLO_TRY(check_one_way(call, rank, dim));
    return holo_out_type(call, 0, row->is_predicate ? HOLO_BOOL : (HoloDtype)call->in[0]->dtype, rank, dim);
}

// The kernel for tensors of this dtype, and the lanes it works on.
static HoloTileFn *choose(const HoloPointwiseRow *row, HoloDtype dtype, HoloLane *out_lane)
{
    HoloClass kind = holo_dtype_class(dtype);
    if (row->own && (*row->own)[dtype]) return *out_lane = HOLO_LANE_OWN, (*row->own)[dtype];
    if (kind == HOLO_CLASS_STRING) return *out_lane = HOLO_LANE_WIDE, row->wide;
    if (dtype == HOLO_F32 && row->f32) return *out_lane = HOLO_LANE_F32, row->f32;
    if (kind == HOLO_CLASS_UINT && row->u64) return *out_lane = HOLO_LANE_I64, row->u64;
    if (kind != HOLO_CLASS_FLOAT && row->i64) return *out_lane = HOLO_LANE_I64, row->i64;
    return *out_lane = HOLO_LANE_F64, row->f64;
}

static HoloTile *tile_of(const HoloPointwiseRow *row, HoloDtype dtype)
{
    int type = holo_tile_type(dtype);
    return row->tile && type >= 0 ? holo_tiles()->op[row->tile - 1][type] : NULL;
}

HoloStatus holo_pointwise_eval_row(HoloCall *call, const HoloPointwiseRow *row)
{
    HoloTensor *out = holo_out(call, 0);
    if (!out) return HOLO_OK;
    HoloDtype     dtype = (HoloDtype)call->in[0]->dtype;
    HoloLane      lane;
    HoloPointwise work = {.tile = tile_of(row, dtype), .in_count = inputs_given(call), .out = *out};
    work.fn            = choose(row, dtype, &lane);
    if (work.tile) lane = HOLO_LANE_OWN;
    if (!work.fn && !work.tile)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "it is not defined for elements of type %s",
                              holo_dtype_name(dtype));
    for (int i = 0; i < work.in_count; i++) {
        work.in[i]   = *call->in[i];
        work.lane[i] = (uint8_t)lane;
    }
    if (work.in_count == 2) HOLO_TRY(legacy_view(call, &work.in[1]));
    work.lane_out = row->is_predicate && lane != HOLO_LANE_OWN ? HOLO_LANE_I64 : (uint8_t)lane;
    for (int i = 0; i < HOLO_POINTWISE_ATTRS && row->attr[i].name; i++)
        work.p[i] = holo_attr_number(call, row->attr[i].name, row->attr[i].fallback);
    if (work.tile && row->is_swapped) {
        HoloTensor first = work.in[0];
        work.in[0]       = work.in[1];
        work.in[1]       = first;
    }
    holo_pointwise(call, &work);
    return HOLO_OK;
}

HoloStatus holo_pointwise_eval(HoloCall *call)
{
    return holo_pointwise_eval_row(call, call->op->row);
}
