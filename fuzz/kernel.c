// kernel.c - calls of fast kernels that may be anything: a valid call, edited by the input. What `check` accepts
// is run on memory of just the sizes that the call has. An archive would have to be edited at many places at once
// to say the same.
#include "devices/cpu/kernel.h"
#include "base/base.h"
#include "format/params.h"
#include "kernels/kernels.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUTS = 12, OUTPUTS = 4, ATTRS = 6, INTS = 6 };
enum { COUNT_MAX = 1 << 12, BYTES_MAX = 1 << 25 }; // of a tensor; of a packed one and of scratch

// ---- calls to begin with

typedef struct Row {
    const char *op, *domain;
    int         version;
    uint32_t    kernel, flags;
    int         outputs, tail; // tail: where the program is in the parameters, 0: nowhere
    const char *in[INPUTS];  // a letter for the type, and a digit for each size, Z for 256, Y for 65,536; "-": left out
    const char *attr[ATTRS]; // names; a value of one or of several digits
    const char *values[ATTRS];
} Row;

#define AT_TAIL(type) (int)offsetof(type, tail)

static const Row rows[] = {
    {"MatMul",
     "hologram",
     1,
     HOLO_KERNEL_matmul_f32,
     0,
     1,
     AT_TAIL(HoloMatmulParams),
     {"f235", "f54", "f4", "f234"},
     {"transA", "transB"},
     {"0", "0"}},
    {"MatMul",
     "",
     13,
     HOLO_KERNEL_matmul_f32,
     HOLO_MATMUL_PACKED_B,
     1,
     AT_TAIL(HoloMatmulParams),
     {"f35", "f54"},
     {NULL},
     {NULL}},
    {"Gemm", "", 13, HOLO_KERNEL_matmul_f32, 0, 1, AT_TAIL(HoloMatmulParams), {"f35", "f54", "f4"}, {NULL}, {NULL}},
    {"Conv",
     "",
     11,
     HOLO_KERNEL_conv_f32,
     0,
     1,
     0,
     {"f1466", "f6233", "f6"},
     {"group", "strides", "pads", "dilations"},
     {"2", "12", "1111", "11"}},
    {"Softmax", "", 13, HOLO_KERNEL_softmax_f32, 1, 1, 0, {"f234"}, {"axis"}, {"2"}},
    {"Softmax", "", 13, HOLO_KERNEL_softmax_f32, 1, 1, 0, {"f234"}, {"axis"}, {"1"}},
    {"LogSoftmax", "", 13, HOLO_KERNEL_softmax_f32, 1, 1, 0, {"f234"}, {"axis"}, {"2"}},
    {"RotaryEmbedding",
     "",
     23,
     HOLO_KERNEL_rotary_f32,
     0,
     1,
     0,
     {"f2438", "f93", "f93", "l23"},
     {"rotary_embedding_dim"},
     {"6"}},
    {"RotaryEmbedding",
     "com.microsoft",
     1,
     HOLO_KERNEL_rotary_f32,
     0,
     1,
     0,
     {"f238", "l1", "f92", "f92"},
     {"interleaved", "num_heads"},
     {"1", "2"}},
    {"LayerNormalization", "", 17, HOLO_KERNEL_norm_f32, 1, 1, 0, {"f234", "f4", "f4"}, {"axis"}, {"2"}},
    {"ReduceSum", "", 11, HOLO_KERNEL_reduce_f32, 0, 1, 0, {"f234"}, {"axes", "keepdims"}, {"12", "1"}},
    {"MaxPool",
     "",
     11,
     HOLO_KERNEL_pool_f32,
     1,
     1,
     0,
     {"f2366"},
     {"kernel_shape", "strides", "pads", "dilations", "ceil_mode"},
     {"23", "11", "1111", "11", "0"}},
    {"AveragePool",
     "hologram",
     1,
     HOLO_KERNEL_pool_f32,
     4,
     1,
     0,
     {"f2663"},
     {"kernel_shape", "strides", "pads", "ceil_mode"},
     {"23", "11", "1111", "0"}},
    {"LSTM",
     "",
     14,
     HOLO_KERNEL_lstm_f32,
     0,
     3,
     0,
     {"f323", "f183", "f182", "f1@", "-", "f122", "f122"},
     {"hidden_size"},
     {"2"}},
    {"DynamicQuantizeLSTM",
     "com.microsoft",
     1,
     HOLO_KERNEL_lstm_i8,
     0,
     3,
     0,
     {"f323", "c138", "b128", "f1@", "-", "f122", "f122", "-", "f1", "c1", "f18", "b18"},
     {"hidden_size"},
     {"2"}},
    {"GRU",
     "",
     14,
     HOLO_KERNEL_gru_f32,
     3,
     2,
     0,
     {"f323", "f163", "f162", "f1<", "-", "f122"},
     {"hidden_size", "linear_before_reset"},
     {"2", "1"}},
    {"GRU",
     "",
     14,
     HOLO_KERNEL_gru_reset_f32,
     0,
     2,
     0,
     {"f323", "f163", "f162", "f1<", "i2", "f122"},
     {"hidden_size"},
     {"2"}},
    {"RNN", "", 14, HOLO_KERNEL_rnn_f32, 0, 2, 0, {"f323", "f123", "f122", "f14", "-", "f122"}, {"hidden_size"}, {"2"}},
    {"Transpose", "", 13, HOLO_KERNEL_transpose_f32, 0, 1, 0, {"f2345"}, {"perm"}, {"0231"}},
    {"Transpose", "", 13, HOLO_KERNEL_transpose_u8, 0, 1, 0, {"b2345"}, {"perm"}, {"0231"}},
    {"Upsample", "", 7, HOLO_KERNEL_resize_f32, 0, 1, 0, {"f1345"}, {"scales", "mode"}, {"2253", "linear"}},
    {"Upsample", "", 7, HOLO_KERNEL_resize_f32, 0, 1, 0, {"f145"}, {"scales", "mode"}, {"241", "cubic"}},
    {"GridSample", "", 20, HOLO_KERNEL_grid_sample_f32, 0, 1, 0, {"f2345", "f2672"}, {"padding_mode"}, {"reflection"}},
    {"MatMulInteger", "", 10, HOLO_KERNEL_matmul_i8, 1, 1, 0, {"b235", "c54", "b", "c4"}, {NULL}, {NULL}},
    {"QLinearMatMul",
     "",
     21,
     HOLO_KERNEL_matmul_i8,
     0,
     1,
     0,
     {"b35", "f", "b", "c54", "f4", "c4", "f", "b"},
     {NULL},
     {NULL}},
    {"QGemm",
     "com.microsoft",
     1,
     HOLO_KERNEL_matmul_i8,
     0,
     1,
     0,
     {"b35", "f", "b", "c45", "f4", "c4", "i4", "f", "b"},
     {"transB"},
     {"1"}},
    {"MatMulNBits",
     "hologram",
     1,
     HOLO_KERNEL_matmul_nbits_f32,
     HOLO_MATMUL_NBITS_PACKED | HOLO_MATMUL_NBITS_INT8,
     1,
     0,
     {"f3@", "b418", "f4", "b4", "-", "f4"},
     {"K", "N", "bits", "block_size"},
     {"@", "4", "4", "@"}},
    {"Conv",
     "hologram",
     1,
     HOLO_KERNEL_conv_nhwc_f32,
     1,
     1,
     AT_TAIL(HoloConvNhwcParams),
     {"f2664", "f6233", "f6", "f6"},
     {"group", "strides", "pads", "dilations"},
     {"2", "12", "1111", "11"}},
    {"Conv",
     "hologram",
     1,
     HOLO_KERNEL_conv_nhwc_f32,
     3,
     1,
     AT_TAIL(HoloConvNhwcParams),
     {"f1674", "f5433", "f5", "f1675"},
     {"group", "strides", "pads", "dilations"},
     {"1", "11", "1111", "11"}},
    {"Conv",
     "hologram",
     1,
     HOLO_KERNEL_conv_nhwc_f32,
     1,
     1,
     AT_TAIL(HoloConvNhwcParams),
     {"f1674", "f4133", "f4", "f4"},
     {"group", "strides", "pads", "dilations"},
     {"4", "11", "1111", "11"}},
    {"Attention",
     "",
     24,
     HOLO_KERNEL_attention_f32,
     0,
     3,
     0,
     {"f2435", "f2245", "f2246", "f37", "f2235", "f2236"},
     {"is_causal", "left_window_size", "right_window_size", "q_num_heads", "kv_num_heads"},
     {"1", "2", "0", "4", "2"}},
    {"Attention",
     "",
     24,
     HOLO_KERNEL_attention_f32,
     0,
     1,
     0,
     {"f238", "f244", "f246", "-", "-", "-", "l2"},
     {"is_causal", "q_num_heads", "kv_num_heads"},
     {"1", "4", "2"}},
    {"MultiHeadAttention",
     "com.microsoft",
     1,
     HOLO_KERNEL_attention_f32,
     0,
     3,
     0,
     {"f238", "f248", "f246", "f66", "i27", "f1437", "f2432", "f2433"},
     {"num_heads", "unidirectional"},
     {"4", "1"}},
    {"GroupQueryAttention",
     "com.microsoft",
     1,
     HOLO_KERNEL_attention_f32,
     0,
     3,
     0,
     {"f138", "f134", "f134", "f1242", "f1242", "i1", "i", "f91", "f91"},
     {"num_heads", "kv_num_heads", "do_rotary", "local_window_size"},
     {"4", "2", "1", "2"}},
    {"QuantizeLinear", "", 13, HOLO_KERNEL_quantize_i8, 0, 1, 0, {"f234", "f3", "b3"}, {"axis"}, {"1"}},
    {"DequantizeLinear", "", 13, HOLO_KERNEL_quantize_i8, 0, 1, 0, {"c234", "f3", "c3"}, {"axis"}, {"1"}},
    {"DynamicQuantizeLinear", "", 11, HOLO_KERNEL_quantize_i8, 0, 3, 0, {"f234"}, {NULL}, {NULL}},
    {"Cast", "", 13, HOLO_KERNEL_cast_f32, 0, 1, 0, {"h234"}, {"to"}, {"1"}},
    {"ConvInteger",
     "",
     10,
     HOLO_KERNEL_conv_i8,
     0,
     1,
     0,
     {"b2466", "c6233", "b", "c6"},
     {"group", "strides", "pads", "dilations"},
     {"2", "12", "1111", "11"}},
    {"QLinearConv",
     "",
     10,
     HOLO_KERNEL_conv_i8,
     0,
     1,
     0,
     {"b2466", "f", "b", "c6233", "f6", "c6", "f", "b", "i6"},
     {"group", "strides", "pads", "dilations"},
     {"2", "12", "1111", "11"}},
    {"QLinearConv",
     "com.microsoft",
     1,
     HOLO_KERNEL_conv_nhwc_i8,
     0,
     1,
     0,
     {"b2664", "f", "b", "c6233", "f6", "c6", "f", "b", "i6"},
     {"group", "strides", "pads", "channels_last"},
     {"2", "12", "1111", "1"}},
    {"NhwcMaxPool",
     "com.microsoft",
     1,
     HOLO_KERNEL_pool_i8,
     0,
     1,
     0,
     {"b2664"},
     {"kernel_shape", "strides", "pads"},
     {"32", "12", "1111"}},
    {"QLinearAveragePool",
     "com.microsoft",
     1,
     HOLO_KERNEL_pool_i8,
     0,
     1,
     0,
     {"c2664", "f", "c", "f", "c"},
     {"kernel_shape", "strides", "channels_last", "count_include_pad"},
     {"32", "12", "1", "1"}},
    {"QLinearAdd",
     "com.microsoft",
     1,
     HOLO_KERNEL_pair_i8,
     0,
     1,
     0,
     {"b234", "f", "b", "b4", "f", "b", "f", "b"},
     {NULL},
     {NULL}},
    {"GroupNormalization",
     "hologram",
     1,
     HOLO_KERNEL_group_norm_f32,
     2,
     1,
     AT_TAIL(HoloGroupNormParams),
     {"f2334", "f4", "f4", "f4"},
     {"num_groups"},
     {"2"}},
    {"Pointwise",
     "hologram",
     1,
     HOLO_KERNEL_map_f32,
     0,
     1,
     (int)offsetof(HoloMapParams, program),
     {"f234", "f4"},
     {NULL},
     {NULL}},
    {"MatMul",
     "",
     13,
     HOLO_KERNEL_matmul_f32,
     HOLO_MATMUL_PACKED_B | HOLO_WEIGHTS_F16,
     1,
     AT_TAIL(HoloMatmulParams),
     {"f35", "f54"},
     {NULL},
     {NULL}},
    {"Conv",
     "hologram",
     1,
     HOLO_KERNEL_conv_nhwc_f32,
     HOLO_CONV_NHWC_PACKED | HOLO_WEIGHTS_BF16,
     1,
     AT_TAIL(HoloConvNhwcParams),
     {"f2664", "f6433", "f6", "f6"},
     {"group", "strides", "pads", "dilations"},
     {"1", "12", "1111", "11"}},
    {"MatMulNBits",
     "com.microsoft",
     1,
     HOLO_KERNEL_matmul_nbits_f32,
     HOLO_MATMUL_NBITS_PACKED,
     1,
     0,
     {"f38", "b414", "f4", "b4", "-", "f4"},
     {"K", "N", "bits", "block_size"},
     {"8", "4", "4", "8"}},
    {"Conv",
     "hologram",
     1,
     HOLO_KERNEL_conv_nhwc_f32,
     9,
     1,
     AT_TAIL(HoloConvNhwcParams),
     {"f2664", "f4233", "f4", "f4"},
     {"group", "strides", "pads", "dilations"},
     {"2", "12", "1111", "11"}},
    {"Lookup", "hologram", 1, HOLO_KERNEL_lookup, 0, 1, 0, {"b234", "bZ"}, {NULL}, {NULL}},
    {"LookupPair", "hologram", 1, HOLO_KERNEL_lookup, 0, 1, 0, {"b234", "b234", "bY"}, {NULL}, {NULL}},
    {"MatMul",
     "",
     13,
     HOLO_KERNEL_matmul_f32,
     HOLO_MATMUL_PACKED_B | HOLO_WEIGHTS_CODES,
     1,
     AT_TAIL(HoloMatmulParams),
     {"f35", "f54"},
     {NULL},
     {NULL}},
    {"Conv",
     "hologram",
     1,
     HOLO_KERNEL_conv_nhwc_f32,
     HOLO_CONV_NHWC_PACKED | HOLO_WEIGHTS_CODES,
     1,
     AT_TAIL(HoloConvNhwcParams),
     {"f2664", "f6433", "f6", "f6"},
     {"group", "strides", "pads", "dilations"},
     {"1", "12", "1111", "11"}},
};

typedef struct Call {
    const Row *row;
    HoloTensor in[INPUTS], out[OUTPUTS];
    int        in_count, attr_count;
    HoloAttr   attr[ATTRS];
    int64_t    ints[ATTRS][INTS];
    float      floats[ATTRS][INTS]; // half of these
    uint8_t    params[HOLO_PARAMS_BYTES] __attribute__((aligned(8)));
} Call;

static const uint8_t types[] = {HOLO_F32, HOLO_U8, HOLO_I8, HOLO_I32, HOLO_I64, HOLO_F16, HOLO_BOOL};

static HoloTensor tensor_of(const char *text)
{
    HoloTensor t = {0};
    if (!text || *text == '-') return t;
    t.dtype = types[strchr("fbcilh", *text) - "fbcilh"];
    for (text++; *text; text++) t.dim[t.rank++] = *text == 'Z' ? 256 : *text == 'Y' ? 65536 : *text - '0';
    return t;
}

// Attributes of several values have several digits, and those whose names say so; words are words.
static bool is_list(const char *name)
{
    static const char *const lists[] = {"strides", "pads", "dilations", "kernel_shape", "axes", "perm"};
    for (int i = 0; i < HOLO_COUNT(lists); i++)
        if (!strcmp(name, lists[i])) return true;
    return false;
}

static void begin(const Row *row, Call *c)
{
    *c = (Call){.row = row};
    for (int i = 0; i < INPUTS; i++) {
        c->in[i] = tensor_of(row->in[i]);
        if (row->in[i]) c->in_count = i + 1;
    }
    for (int i = 0; i < ATTRS && row->attr[i]; i++, c->attr_count++) {
        int count = 0;
        for (const char *at = row->values[i]; *at && count < INTS; at++) c->ints[i][count++] = *at - '0';
        c->attr[i] = (HoloAttr){.name = row->attr[i], .count = count, .kind = HOLO_ATTR_INT, .i = c->ints[i][0]};
        if (is_list(row->attr[i])) c->attr[i].kind = HOLO_ATTR_INTS, c->attr[i].ints = c->ints[i];
        if (!strcmp(row->attr[i], "scales")) c->attr[i].kind = HOLO_ATTR_FLOATS, c->attr[i].floats = c->floats[i];
        if (*row->values[i] >= 'a')
            c->attr[i].kind = HOLO_ATTR_STRING, c->attr[i].s = (HoloString){row->values[i], strlen(row->values[i])};
    }
    uint32_t head[] = {sizeof c->params, row->flags, 1};
    memcpy(c->params, head, row->kernel == HOLO_KERNEL_norm_f32 ? sizeof head : 8);
    if (row->kernel == HOLO_KERNEL_reduce_f32) memcpy(c->params + 8, &(uint32_t){2}, 4);
    if (row->kernel == HOLO_KERNEL_matmul_nbits_f32) {
        uint32_t              block = row->flags & HOLO_MATMUL_NBITS_INT8 ? 16 : 8;
        HoloMatmulNbitsParams nbits = {
            .size = sizeof c->params, .flags = row->flags, .bits = 4, .block = block, .k = block, .n = 4};
        memcpy(c->params, &nbits, sizeof nbits);
    }
    HoloProgram program = {.count = 2,
                           .step  = {{.op = HOLO_MAP_add, .b = row->kernel == HOLO_KERNEL_map_f32 || c->in_count > 3},
                                     {.op = HOLO_MAP_sigmoid, .a = HOLO_MAP_INPUTS}}};
    if (row->tail) memcpy(c->params + row->tail, &program, sizeof program);
}

// ---- edits

static const int64_t sizes[] = {0,  1,  2,       3,       4,         5,         6,         7,        8,
                                9,  15, 16,      17,      31,        32,        33,        40,       64,
                                65, 97, 1 << 10, 1 << 20, 1LL << 31, 1LL << 32, 1LL << 40, 1LL << 62};

static void edit_tensor(HoloTensor *t, uint8_t field, uint8_t value)
{
    if (field < HOLO_MAX_RANK)
        t->dim[field] = sizes[value % HOLO_COUNT(sizes)];
    else if (field % 3 == 0)
        t->rank = (int8_t)(value % 6);
    else if (field % 3 == 1)
        t->dtype = types[value % HOLO_COUNT(types)];
    else
        t->dtype = t->dtype ? 0 : HOLO_F32;
}

static void edit(Call *c, const uint8_t e[4])
{
    if (e[0] % 4 == 0) edit_tensor(&c->in[e[1] % INPUTS], e[2], e[3]);
    if (e[0] % 4 == 1) c->params[e[1]] = e[3];
    if (e[0] % 4 == 2 && c->attr_count) {
        HoloAttr *a                = &c->attr[e[1] % c->attr_count];
        int64_t   value            = e[3] < 224 ? (int8_t)(e[3] ^ 0x80) : sizes[e[3] % HOLO_COUNT(sizes)];
        int       list             = e[1] % c->attr_count;
        c->ints[list][e[2] % INTS] = value;
        if (a->kind == HOLO_ATTR_INT) a->i = value;
    }
    if (e[0] % 4 == 3) c->in_count = e[1] % (INPUTS + 1);
}

// ---- the call itself

static void fill(HoloTensor *t, size_t bytes)
{
    t->data = malloc(bytes ? bytes : 1);
    for (size_t i = 0; t->data && i < bytes; i++) ((uint8_t *)t->data)[i] = (uint8_t)(i * 31 % 101);
    for (size_t i = 0; t->data && t->dtype == HOLO_F32 && i < bytes / 4; i++)
        ((float *)t->data)[i] = (float)(i * 37 % 17) / 8 - 1;
    for (size_t i = 0; t->data && t->dtype == HOLO_I64 && i < bytes / 8; i++) ((int64_t *)t->data)[i] = (int64_t)i % 5;
}

static bool is_small(const HoloTensor *t)
{
    return !t || (holo_tensor_count(t) >= 0 && holo_tensor_count(t) <= COUNT_MAX);
}

typedef struct Host {
    HoloHost  host;
    HoloArena arena;
} Host;

static void *temp(const HoloHost *host, size_t size)
{
    HoloArena *arena = &((Host *)(uintptr_t)host)->arena;
    return size > BYTES_MAX || holo_arena_used(arena) > BYTES_MAX ? NULL : holo_arena_take(arena, size);
}

static void in_turn(const HoloHost *host, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    for (int64_t i = 0; i < count; i++) work(arg, i, (int)(i % host->workers));
}

// prepare has accepted it.
static void run(const HoloCpuKernel *kernel, HoloCall *call, void *job, HoloHost *host, size_t scratch)
{
    bool fits = scratch <= BYTES_MAX;
    for (int i = 0; i < call->out_count; i++) fits = fits && is_small(call->out[i]);
    for (int i = 0; i < call->in_count; i++) {
        int64_t packed = call->in[i] && kernel->packed_size ? kernel->packed_size(call, job, i) : -1;
        fits           = fits && packed <= BYTES_MAX && is_small(call->in[i]);
        if (fits && call->in[i])
            fill((HoloTensor *)(uintptr_t)call->in[i], packed < 0 ? holo_tensor_bytes(call->in[i]) : (size_t)packed);
    }
    for (int i = 0; fits && i < call->out_count; i++)
        if (call->out[i]) fill(call->out[i], holo_tensor_bytes(call->out[i]));
    host->scratch_stride = holo_align(scratch + 1, 64);
    host->scratch        = fits ? aligned_alloc(64, host->scratch_stride * (size_t)host->workers) : NULL;
    if (host->scratch && kernel->run(call, job)) fits = false;
    free(host->scratch);
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i]) free(call->in[i]->data);
    for (int i = 0; i < call->out_count; i++)
        if (call->out[i]) free(call->out[i]->data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    Call              c;
    HoloError         error = {0};
    const HoloTensor *in[INPUTS];
    HoloTensor       *out[OUTPUTS];
    begin(&rows[data[0] % HOLO_COUNT(rows)], &c);
    Host      own    = {.host = {.temp = temp, .keep = temp, .parallel = in_turn, .workers = 1 + (data[1] >> 7)}};
    HoloHost *host   = &own.host;
    int       tables = 0;
    while (holo_kernels_at(tables)) tables++;
    host->kernels = holo_kernels_at(data[1] % tables);
    size_t at     = 2;
    for (; at + 4 <= size && data[at] < 240; at += 4) edit(&c, data + at);
    for (int i = 0; i < ATTRS * INTS; i++) c.floats[i / INTS][i % INTS] = (float)c.ints[i / INTS][i % INTS] / 2;
    for (int i = 0; i < INPUTS; i++) in[i] = c.in[i].dtype ? &c.in[i] : NULL;
    for (int i = 0; i < OUTPUTS; i++) c.out[i].rank = -1, out[i] = i && data[1] >> i & 1 ? NULL : &c.out[i];
    HoloCall call = {.op          = holo_op_find(c.row->domain, c.row->op, c.row->version),
                     .node        = c.row->op,
                     .version     = c.row->version,
                     .in_count    = c.in_count,
                     .out_count   = c.row->outputs,
                     .in          = in,
                     .out         = out,
                     .attr        = c.attr,
                     .attr_count  = c.attr_count,
                     .params      = c.params,
                     .params_size = sizeof c.params,
                     .host        = host,
                     .error       = &error};
    if (!call.op) abort();
    // A step always has its first inputs, and sizes that exist.
    for (int i = 0; i < c.in_count; i++)
        if (in[i] && holo_tensor_count(in[i]) < 0) return 0;
    if (c.row->kernel != HOLO_KERNEL_map_f32 && c.row->domain[0] != 'h' && holo_op_infer(&call)) return 0;
    if (c.out[0].rank < 0) {
        HoloCall plain = call; // operators of the compiler's own read their programs from attributes: without them
        plain.in_count = c.row->tail && c.in_count > 3 ? 3 : c.in_count;
        if (c.row->kernel == HOLO_KERNEL_map_f32 ? (c.out[0] = c.in[0], !in[0]) : holo_op_infer(&plain) != HOLO_OK)
            return 0;
    }
    // Outputs are as infer says where a step runs; kernels that run an operator's eval rely on it.
    bool evals = c.row->kernel == HOLO_KERNEL_attention_f32 && *c.row->domain;
    for (; at + 4 <= size && !evals; at += 4) edit_tensor(&c.out[data[at + 1] % OUTPUTS], data[at + 2], data[at + 3]);
    for (int i = 0; i < call.out_count; i++)
        if (out[i] && (!c.out[i].dtype || holo_tensor_count(out[i]) < 0)) return 0;
    const HoloCpuKernel *kernel  = holo_cpu_kernel_find(c.row->kernel);
    size_t               scratch = 0;
    void                *job     = holo_arena_take(&own.arena, kernel->job_size);
    if (!holo_cpu_kernel_prepare(kernel, &call, job, &scratch)) run(kernel, &call, job, host, scratch);
    holo_arena_deinit(&own.arena);
    return 0;
}
