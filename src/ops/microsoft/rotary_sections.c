// rotary_sections.c - MRotaryEmbedding of com.microsoft: RotaryEmbedding with three positions a token (time, height,
// width), each of which has its columns of the tables.
#include "ops/spread.h"
#include "ops/standard/rotary.h"

enum { X, POSITIONS, COS, SIN };
enum { STREAMS = 3 };

static HoloStatus find_sizes(const HoloCall *call, HoloRotarySizes *s)
{
    const HoloTensor *x = call->in[X], *cos = call->in[COS], *sin = call->in[SIN];
    int64_t           turned = holo_attr_int(call, "rotary_embedding_dim", 0);
    *s = (HoloRotarySizes){.batch = x->dim[0], .heads = x->dim[1], .positions = x->dim[2], .cos = cos, .sin = sin};
    if (x->rank == 4) {
        s->size = x->dim[3];
    } else {
        s->positions = x->dim[1];
        s->heads     = holo_attr_int(call, "num_heads", 0);
        HOLO_TRY(holo_split(call, "the input", x->dim[2], s->heads, &s->size));
    }
    HoloDim size = turned ? turned : s->size;
    if (!holo_dim_is_symbolic(size) && (size < 0 || size % 2 || (!holo_dim_is_symbolic(s->size) && size > s->size)))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld of %lld numbers are to be rotated, expected an even number",
                              (long long)size, (long long)s->size);
    HOLO_TRY(holo_agree(call, "rows of the tables", cos->dim[0], sin->dim[0], &s->rows));
    HOLO_TRY(holo_agree(call, "columns of the tables", cos->dim[1], sin->dim[1], &s->half));
    return holo_agree(call, "columns of the tables and half the turned size", s->half,
                      holo_dim_div(call->dims, size, 2), &s->half);
}

// How many columns each of the positions has.
static HoloStatus read_sections(const HoloCall *call, HoloDim half, int64_t *out)
{
    int64_t sum = 0;
    if (holo_attr_ints(call, "mrope_section", out, STREAMS) != STREAMS)
        return holo_call_fail(call, HOLO_BAD_MODEL, "mrope_section must have 3 entries");
    for (int i = 0; i < STREAMS; i++)
        if (out[i] < 0 || !holo_add(sum, out[i], &sum))
            return holo_call_fail(call, HOLO_BAD_MODEL, "mrope_section has %lld", (long long)out[i]);
    if (holo_dims_differ(half, sum))
        return holo_call_fail(call, HOLO_BAD_MODEL, "mrope_section has %lld columns of %lld", (long long)sum,
                              (long long)half);
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *positions = call->in[POSITIONS];
    HoloRotarySizes   s;
    int64_t           section[STREAMS], layout = holo_attr_int(call, "mrope_layout", 0);
    HoloDim           same;
    HOLO_TRY(holo_expect_rank(call, X, 3, 4));
    HOLO_TRY(holo_expect_types(call, POSITIONS, HOLO_BIT(I64)));
    HOLO_TRY(holo_expect_rank(call, POSITIONS, 3, 3));
    for (int i = COS; i <= SIN; i++) {
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << call->in[X]->dtype));
        HOLO_TRY(holo_expect_rank(call, i, 2, 2));
    }
    HOLO_TRY(find_sizes(call, &s));
    HOLO_TRY(read_sections(call, s.half, section));
    if (layout != 0 && layout != 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "mrope_layout is %lld, expected 0 or 1", (long long)layout);
    HOLO_TRY(holo_agree(call, "positions of a token and 3", positions->dim[0], STREAMS, &same));
    HOLO_TRY(holo_agree(call, "batch of the positions and the input", positions->dim[1], s.batch, &same));
    HOLO_TRY(holo_agree(call, "columns of the positions and the input", positions->dim[2], s.positions, &same));
    return holo_infer_same(call);
}

// Which of the positions column c belongs to: one section behind the other or, interleaved, by turns, while the
// sections of height and width last.
static int stream_of(const int64_t *section, bool is_interleaved, int64_t c)
{
    if (is_interleaved) return c % STREAMS && c / STREAMS < section[c % STREAMS] ? (int)(c % STREAMS) : 0;
    return c < section[0] ? 0 : c - section[0] < section[1] ? 1 : 2;
}

// The rows of one table by which tokens are rotated.
static HoloStatus make_table(const HoloCall *call, const HoloRotarySizes *s, const HoloTensor *from, HoloTensor *out)
{
    bool    is_interleaved = holo_attr_int(call, "mrope_layout", 0) == 1;
    double  scale          = holo_attr_float(call, "scale", 1);
    int64_t section[STREAMS], tokens = s->batch * s->positions;
    *out = (HoloTensor){.dtype = from->dtype, .rank = 2, .dim = {tokens, s->half}};
    HOLO_TRY(read_sections(call, s->half, section));
    HOLO_TRY(holo_call_temp(call, (size_t)(tokens * s->half), holo_dtype_size((HoloDtype)from->dtype), &out->data));
    for (int64_t t = 0; t < tokens; t++) {
        int64_t row[STREAMS];
        holo_read_i(call->in[POSITIONS], t, tokens, STREAMS, row);
        for (int i = 0; i < STREAMS; i++)
            if (row[i] < 0 || row[i] >= s->rows)
                return holo_call_fail(call, HOLO_BAD_INPUT, "position %lld, expected 0 to %lld", (long long)row[i],
                                      (long long)s->rows - 1);
        for (int64_t c = 0; c < s->half; c++)
            holo_put_f(out, t * s->half + c,
                       holo_get_f(from, row[stream_of(section, is_interleaved, c)] * s->half + c) * scale);
    }
    return HOLO_OK;
}

// Each token has a row of its own.
static HoloStatus row_of(const HoloCall *call, const HoloRotarySizes *s, int64_t batch, int64_t position, int64_t *out)
{
    (void)call;
    *out = batch * s->positions + position;
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    HoloRotarySizes s;
    HoloTensor      cos, sin;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(find_sizes(call, &s));
    HOLO_TRY(make_table(call, &s, s.cos, &cos));
    HOLO_TRY(make_table(call, &s, s.sin, &sin));
    s.cos  = &cos;
    s.sin  = &sin;
    s.rows = cos.dim[0];
    return holo_rotary_eval(call, &s, row_of);
}

const HoloOp holo_ops_rotary_sections[] = {
    {.name    = "MRotaryEmbedding",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 4,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
