// kernel_lookup.c - Lookup and LookupPair: entries of a table by the bits of an element, or of two. Bytes from bytes
// have a vector kernel; the rest is a load and a store for each element.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

enum { PART = 1 << 15 }; // elements of a task

typedef void LookupRun(int64_t n, const void *x, const void *table, void *out);

// clang-format off
#define RUN(wide, entry)                                                                                    \
    static void run_##wide##_##entry(int64_t n, const void *x, const void *table, void *out)                \
    {                                                                                                       \
        for (int64_t i = 0; i < n; i++)                                                                     \
            ((uint##entry##_t *)out)[i] = ((const uint##entry##_t *)table)[((const uint##wide##_t *)x)[i]]; \
    }
RUN(8, 8) RUN(8, 16) RUN(8, 32) RUN(8, 64) RUN(16, 8) RUN(16, 16) RUN(16, 32) RUN(16, 64)
#undef RUN
    // clang-format on

    static LookupRun *const runs[2][4] = {
        {run_8_8, run_8_16, run_8_32, run_8_64},
        {run_16_8, run_16_16, run_16_32, run_16_64},
};

static void run_pair(int64_t n, const uint8_t *x, const uint8_t *z, const uint8_t *table, uint8_t *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = table[x[i] << 8 | z[i]];
}

typedef struct Lookup {
    const HoloHost *host;
    const char     *x, *z; // z: the second of a pair
    const void     *table;
    char           *y;
    int             x_size, y_size; // of an element, in bytes
    int64_t         count, tasks;
} Lookup;

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Lookup                 *l      = job;
    const HoloLookupParams *params = call->params;
    bool                    pair   = holo_in(call, 2) != NULL;
    (void)out_scratch;
    const HoloTensor *x = holo_in(call, 0), *z = holo_in(call, pair), *table = holo_in(call, 1 + pair);
    HoloTensor       *y = holo_out(call, 0);
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags || !x || !z || !table || !y ||
        x->kind != HOLO_TENSOR || table->kind != HOLO_TENSOR || y->kind != HOLO_TENSOR || y->dtype != table->dtype)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of lookup");
    *l = (Lookup){
        .host   = call->host,
        .x_size = (int)holo_dtype_size(x->dtype),
        .y_size = (int)holo_dtype_size(y->dtype),
        .count  = holo_tensor_count(x),
    };
    bool fits       = l->x_size >= 1 && l->x_size <= 2 && l->y_size >= 1 && l->y_size <= 8 && y->dtype != HOLO_STRING;
    int  entry_bits = pair ? 16 : 8 * l->x_size;
    if (pair)
        fits = fits && l->x_size == 1 && l->y_size == 1 && z->kind == HOLO_TENSOR && holo_dtype_size(z->dtype) == 1 &&
               holo_tensor_count(z) == l->count;
    if (!fits || l->count < 0 || holo_tensor_count(y) != l->count ||
        holo_tensor_count(table) != (int64_t)1 << entry_bits)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the table is not one of lookup");
    l->tasks = holo_ceil_div(l->count, PART);
    return HOLO_OK;
}

static void work(void *arg, int64_t i, int worker)
{
    const Lookup *l  = arg;
    int64_t       at = i * PART, n = holo_least(PART, l->count - at);
    (void)worker;
    if (l->z)
        run_pair(n, (const uint8_t *)l->x + at, (const uint8_t *)l->z + at, l->table, (uint8_t *)l->y + at);
    else if (l->x_size == 1 && l->y_size == 1)
        l->host->kernels->lookup_u8(n, (const uint8_t *)l->x + at, l->table, (uint8_t *)l->y + at);
    else
        runs[l->x_size - 1][__builtin_ctz((unsigned)l->y_size)](n, l->x + at * l->x_size, l->table,
                                                                l->y + at * l->y_size);
}

static HoloStatus run(HoloCall *call, void *job)
{
    Lookup *l    = job;
    bool    pair = holo_in(call, 2) != NULL;
    l->x         = call->in[0]->data;
    l->z         = pair ? call->in[1]->data : NULL;
    l->table     = call->in[1 + pair]->data;
    l->y         = call->out[0]->data;
    call->host->parallel(call->host, l->tasks, work, l);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_lookup = {
    .id       = HOLO_KERNEL_lookup,
    .name     = "lookup",
    .job_size = sizeof(Lookup),
    .prepare  = prepare,
    .run      = run,
};
