// kernel.c - calls of fast kernels that may be anything: a valid call, edited by the input. What `check` accepts
// is run on memory of just the sizes that the call has. An archive would have to be edited at many places at once
// to say the same.
#include "kernel_rows.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
