// scan.c - Scan: a subgraph run once for each slice of its inputs, with a state carried along.
//
// From version 9 on axes and directions are free and there is no batch; version 8 runs the same for
// each entry of a batch, whose sequences may differ in length.
#include "ops/body.h"

typedef struct Scan {
    HoloCall   *call;
    HoloBody    body;
    int         skip; // inputs before the states: version 8 has the lengths there
    int         states, scanned, collected;
    HoloTensor *state, *slice; // what the body's inputs point to
    HoloStack  *steps;         // what is collected
} Scan;

static int64_t nth(const HoloCall *call, const char *attr, int i)
{
    const HoloAttr *a = holo_attr_find(call, attr);
    return a && a->kind == HOLO_ATTR_INTS && i < a->count ? a->ints[i] : 0;
}

static HoloStatus scan_init(Scan *s, HoloCall *call)
{
    int64_t scanned = holo_attr_int(call, "num_scan_inputs", 0);
    int     skip = call->version < 9 ? 1 : 0, inputs = call->in_count - call->capture_count - skip;
    if (scanned < 1 || scanned > inputs || call->out_count < inputs - (int)scanned)
        return holo_call_fail(call, HOLO_BAD_MODEL, "num_scan_inputs is %lld for %d inputs and %d outputs",
                              (long long)scanned, inputs, call->out_count);
    *s           = (Scan){.call = call, .skip = skip, .states = inputs - (int)scanned, .scanned = (int)scanned};
    s->collected = call->out_count - s->states;
    for (int i = 0; i < inputs; i++) {
        if (!call->in[skip + i]) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", skip + i);
        HOLO_TRY(holo_expect_kind(call, skip + i, HOLO_TENSOR));
    }
    void *memory, *steps;
    HOLO_TRY(holo_body_init(&s->body, call, "body", inputs, call->out_count));
    HOLO_TRY(holo_call_temp(call, (size_t)inputs, sizeof(HoloTensor), &memory));
    HOLO_TRY(holo_call_temp(call, (size_t)s->collected, sizeof(HoloStack), &steps));
    s->state = memory;
    s->slice = s->state + s->states;
    s->steps = steps;
    for (int i = 0; i < inputs; i++) s->body.in[i] = &s->state[i];
    return HOLO_OK;
}

// ---- slices

// Makes room for slices of x across dimension `axis`.
static HoloStatus slice_init(const HoloCall *call, HoloTensor *slice, const HoloTensor *x, int axis)
{
    *slice = (HoloTensor){.dtype = x->dtype};
    for (int d = 0; d < x->rank; d++)
        if (d != axis) slice->dim[slice->rank++] = x->dim[d];
    return holo_call_temp(call, (size_t)holo_tensor_count(slice), holo_dtype_size((HoloDtype)x->dtype), &slice->data);
}

static void slice_take(HoloTensor *slice, const HoloTensor *x, int axis, int64_t at)
{
    size_t  size = holo_dtype_size((HoloDtype)x->dtype);
    int64_t rows = holo_product(axis, x->dim), inner = holo_product(x->rank - axis - 1, x->dim + axis + 1);
    if (rows * inner == 0) return;
    holo_move(2, (int64_t[]){rows, inner}, size, slice->data, (int64_t[]){inner, 1},
              (const char *)x->data + (size_t)(at * inner) * size, (int64_t[]){x->dim[axis] * inner, 1});
}

// ---- the steps

// What is scanned: for each input the tensor, its axis, and which way.
typedef struct Source {
    HoloTensor x;
    int        axis;
    bool       reverse;
} Source;

static HoloStatus run_steps(Scan *s, const Source *source, int64_t length)
{
    const HoloCall *call = s->call;
    for (int64_t t = 0; t < length; t++) {
        for (int i = 0; i < s->scanned; i++) {
            const Source *from = &source[i];
            slice_take(&s->slice[i], &from->x, from->axis, from->reverse ? length - 1 - t : t);
        }
        HOLO_TRY(holo_body_run(&s->body));
        for (int i = 0; i < s->states; i++) s->state[i] = s->body.result[i];
        for (int i = 0; i < s->collected; i++)
            if (call->out[s->states + i]) HOLO_TRY(holo_stack_add(call, &s->steps[i], &s->body.result[s->states + i]));
    }
    return HOLO_OK;
}

// ---- version 9 and later

static HoloStatus find_sources(Scan *s, Source *source, int64_t *length)
{
    HoloCall *call = s->call;
    for (int i = 0; i < s->scanned; i++) {
        const HoloTensor *x = call->in[s->states + i];
        source[i].x         = *x;
        source[i].reverse   = nth(call, "scan_input_directions", i) == 1;
        HOLO_TRY(holo_axis(call, nth(call, "scan_input_axes", i), x->rank, &source[i].axis));
        int64_t size = x->dim[source[i].axis];
        if (i > 0 && size != *length)
            return holo_call_fail(call, HOLO_BAD_INPUT, "scanned inputs have %lld and %lld slices", (long long)*length,
                                  (long long)size);
        *length = size;
        HOLO_TRY(slice_init(call, &s->slice[i], x, source[i].axis));
    }
    return HOLO_OK;
}

static HoloStatus scan_9(Scan *s, Source *source)
{
    HoloCall *call   = s->call;
    int64_t   length = 0;
    HOLO_TRY(find_sources(s, source, &length));
    for (int i = 0; i < s->states; i++) s->state[i] = *call->in[i];
    HOLO_TRY(run_steps(s, source, length));
    for (int i = 0; i < s->states; i++) HOLO_TRY(holo_out_result(call, i, &s->state[i]));
    for (int i = 0; i < s->collected; i++)
        HOLO_TRY(holo_out_steps(call, s->states + i, &s->steps[i], nth(call, "scan_output_axes", i),
                                nth(call, "scan_output_directions", i) == 1));
    return HOLO_OK;
}

// ---- version 8

// A view of entry b of a batch.
static HoloTensor entry_view(const HoloTensor *x, int64_t b)
{
    HoloTensor view = {.dtype = x->dtype, .rank = (int8_t)(x->rank - 1)};
    memcpy(view.dim, x->dim + 1, (size_t)view.rank * sizeof *view.dim);
    view.data = (char *)x->data + (size_t)b * holo_tensor_bytes(&view);
    return view;
}

static HoloStatus check_batch(const Scan *s, int64_t *batch, int64_t *room)
{
    const HoloCall *call = s->call;
    for (int i = 0; i < s->states + s->scanned; i++) {
        const HoloTensor *x          = call->in[1 + i];
        bool              is_scanned = i >= s->states;
        HOLO_TRY(holo_expect_rank(call, 1 + i, is_scanned ? 2 : 1, HOLO_MAX_RANK));
        if (i == 0) *batch = x->dim[0];
        if (i == s->states) *room = x->dim[1];
        if (x->dim[0] != *batch || (is_scanned && x->dim[1] != *room))
            return holo_call_fail(call, HOLO_BAD_INPUT, "input %d differs from the others in batch or length", 1 + i);
    }
    const HoloTensor *lengths = call->in[0];
    if (!lengths) return HOLO_OK;
    HOLO_TRY(holo_expect_types(call, 0, HOLO_BIT(I64)));
    if (holo_tensor_count(lengths) != *batch)
        return holo_call_fail(call, HOLO_BAD_INPUT, "there are not %lld sequence lengths", (long long)*batch);
    return HOLO_OK;
}

// One entry of the batch adds to the results; what is collected is padded to `room` steps.
static HoloStatus scan_entry(Scan *s, Source *source, int64_t b, int64_t room, HoloStack *entries)
{
    HoloCall *call   = s->call;
    int64_t   length = call->in[0] ? holo_get_i(call->in[0], b) : room;
    if (length < 1 || length > room)
        return holo_call_fail(call, HOLO_BAD_INPUT, "a sequence length is %lld, where there are %lld steps",
                              (long long)length, (long long)room);
    for (int i = 0; i < s->states; i++) s->state[i] = entry_view(call->in[1 + i], b);
    for (int i = 0; i < s->scanned; i++) {
        source[i] = (Source){entry_view(call->in[1 + s->states + i], b), 0, nth(call, "directions", i) == 1};
        if (b == 0) HOLO_TRY(slice_init(call, &s->slice[i], &source[i].x, 0));
    }
    HOLO_TRY(run_steps(s, source, length));
    for (int i = 0; i < s->states; i++) HOLO_TRY(holo_stack_add(call, &entries[i], &s->state[i]));
    for (int i = 0; i < s->collected; i++) {
        HoloTensor joined;
        if (!call->out[s->states + i]) continue;
        HOLO_TRY(holo_stack_join(call, &s->steps[i], room, 0, false, &joined));
        HOLO_TRY(holo_stack_add(call, &entries[s->states + i], &joined));
        s->steps[i].count = 0;
        s->steps[i].size  = 0;
    }
    return HOLO_OK;
}

static HoloStatus scan_8(Scan *s, Source *source)
{
    HoloCall *call  = s->call;
    int64_t   batch = 0, room = 0;
    void     *memory;
    HOLO_TRY(check_batch(s, &batch, &room));
    HOLO_TRY(holo_call_temp(call, (size_t)call->out_count, sizeof(HoloStack), &memory));
    HoloStack *entries = memory;
    for (int64_t b = 0; b < batch; b++) HOLO_TRY(scan_entry(s, source, b, room, entries));
    for (int i = 0; i < call->out_count; i++) HOLO_TRY(holo_out_steps(call, i, &entries[i], 0, false));
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Scan  scan;
    void *source;
    HOLO_TRY(scan_init(&scan, call));
    HOLO_TRY(holo_call_temp(call, (size_t)scan.scanned, sizeof(Source), &source));
    return call->version < 9 ? scan_8(&scan, source) : scan_9(&scan, source);
}

const HoloOp holo_ops_scan[] = {
    {.name    = "Scan",
     .domain  = "",
     .since   = 8,
     .in_min  = 0,
     .in_max  = -1,
     .out_min = 0,
     .out_max = -1,
     .flags   = HOLO_OP_CONTROL,
     .infer   = holo_infer_control,
     .eval    = eval},
    {0},
};
