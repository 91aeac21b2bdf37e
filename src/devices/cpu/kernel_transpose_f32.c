// kernel_transpose_f32.c - Transpose of f32, and of elements of one byte. Dimensions that stay together become one. If
// the innermost one stays innermost, rows are copied; else the innermost dimensions of input and output form matrices,
// which are transposed.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"
#include "kernels/tiles/tiles.h"

#include <string.h>

enum {
    TASK_WORK = 1 << 15, // elements that are worth a task
    STRIP     = 256,     // bytes of columns of a matrix that are transposed at once
};

typedef struct Transpose {
    const HoloHost *host;
    const char     *x;
    char           *out;
    int64_t         size; // of an element
    int             rank; // of what is around the rows or matrices
    int64_t         dim[HOLO_MAX_RANK], from[HOLO_MAX_RANK], to[HOLO_MAX_RANK]; // strides of input and output
    int64_t         rows, columns;  // of a matrix of the input; rows are copied: columns is 0
    int64_t         x_row, out_row; // strides
    int64_t         strip, strips;  // of a matrix: columns of one, and how many
    int64_t         count, tile;    // of strips or rows in all, and of a task
    int64_t         tasks;
} Transpose;

// Reads and checks the permutation. False: it is not valid.
static bool perm_of(const HoloCall *call, int rank, int64_t *perm)
{
    bool seen[HOLO_MAX_RANK] = {false};
    int  count               = holo_attr_ints(call, "perm", perm, HOLO_MAX_RANK);
    for (int d = 0; d < rank && count < 0; d++) perm[d] = rank - 1 - d;
    if (count >= 0 && count != rank) return false;
    for (int d = 0; d < rank; d++) {
        if (perm[d] < 0 || perm[d] >= rank || seen[perm[d]]) return false;
        seen[perm[d]] = true;
    }
    return true;
}

// Dimensions of the output with their strides in the input; those that are contiguous in both are joined.
static void dims_init(const HoloTensor *x, const int64_t *perm, Transpose *t)
{
    int64_t stride[HOLO_MAX_RANK];
    holo_strides(x->rank, x->dim, stride);
    for (int d = 0; d < x->rank; d++) {
        int64_t dim = x->dim[perm[d]], from = stride[perm[d]];
        if (dim == 1) continue;
        if (t->rank && t->from[t->rank - 1] == from * dim) {
            t->dim[t->rank - 1] *= dim;
            t->from[t->rank - 1] = from;
            continue;
        }
        t->dim[t->rank]    = dim;
        t->from[t->rank++] = from;
    }
    int64_t to = 1;
    for (int d = t->rank - 1; d >= 0; to *= t->dim[d--]) t->to[d] = to;
}

static void remove_dim(Transpose *t, int d)
{
    for (t->rank--; d < t->rank; d++) {
        t->dim[d]  = t->dim[d + 1];
        t->from[d] = t->from[d + 1];
        t->to[d]   = t->to[d + 1];
    }
}

// Takes the rows or matrices out of the dimensions; the others are around them.
static void split(Transpose *t)
{
    int last = t->rank - 1, run = last;
    if (t->rank == 0) t->dim[0] = t->from[0] = t->to[0] = t->rank = 1, last = run = 0; // one element
    while (run > 0 && t->from[run] != 1) run--;
    t->rows   = t->dim[last];
    t->strip  = STRIP / t->size;
    t->strips = 1;
    if (run != last) {
        t->columns = t->dim[run];
        t->x_row   = t->from[last];
        t->out_row = t->to[run];
        t->strips  = holo_ceil_div(t->columns, t->strip);
    }
    remove_dim(t, last);
    if (run != last) remove_dim(t, run);
    t->count = holo_product(t->rank, t->dim) * t->strips;
    t->tile  = holo_ceil_div(TASK_WORK, t->rows * (t->columns ? holo_least(t->strip, t->columns) : 1));
}

static bool is_of_bytes(const HoloTensor *t)
{
    return t && t->kind == HOLO_TENSOR && t->rank >= 0 && t->rank <= HOLO_MAX_RANK && holo_dtype_bits(t->dtype) > 0 &&
           holo_dtype_bits(t->dtype) <= 8 && holo_tensor_count(t) >= 0;
}

static HoloStatus transpose_init(const HoloCall *call, int64_t size, Transpose *t)
{
    const HoloTensor *x = holo_in(call, 0), *out = holo_out(call, 0);
    int64_t           perm[HOLO_MAX_RANK];
    *t = (Transpose){.host = call->host, .size = size};
    if (size > 1) {
        HOLO_TRY(holo_cpu_kernel_expect(call, x, "the input", 0, HOLO_MAX_RANK));
        HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", x->rank, x->rank));
    } else if (!is_of_bytes(x) || !is_of_bytes(out) || out->rank != x->rank)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of transpose_u8");
    if (!holo_cpu_kernel_has_params(call, sizeof(HoloTransposeParams)) || !perm_of(call, x->rank, perm))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of a Transpose");
    for (int d = 0; d < x->rank; d++)
        if (out->dim[d] != x->dim[perm[d]])
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the output has another shape");
    if (!holo_tensor_count(x)) return HOLO_OK;
    dims_init(x, perm, t);
    split(t);
    t->tasks = holo_ceil_div(t->count, t->tile);
    return HOLO_OK;
}

static HoloStatus prepare_f32(const HoloCall *call, void *job, size_t *out_scratch)
{
    (void)out_scratch;
    return transpose_init(call, sizeof(float), job);
}

static HoloStatus prepare_u8(const HoloCall *call, void *job, size_t *out_scratch)
{
    (void)out_scratch;
    return transpose_init(call, 1, job);
}

// Transposes `columns` columns of a matrix.
static void strip_transpose(const Transpose *t, int64_t columns, const void *x, void *out)
{
    if (t->size > 1 && t->rows == 4)
        holo_tiles()->transpose[2](t->rows, columns, x, t->x_row, out, t->out_row);
    else if (t->size > 1)
        t->host->kernels->transpose_f32(t->rows, columns, x, t->x_row, out, t->out_row);
    else
        t->host->kernels->transpose_u8(t->rows, columns, x, t->x_row, out, t->out_row);
}

// Where a row or a matrix is in input and output.
typedef struct Place {
    int64_t at[HOLO_MAX_RANK], from, to;
} Place;

static Place place_of(const Transpose *t, int64_t number)
{
    Place p = {.from = 0};
    for (int d = t->rank - 1; d >= 0; number /= t->dim[d--]) {
        p.at[d] = number % t->dim[d];
        p.from += p.at[d] * t->from[d];
        p.to += p.at[d] * t->to[d];
    }
    return p;
}

static void place_next(const Transpose *t, Place *p)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        p->from += t->from[d];
        p->to += t->to[d];
        if (++p->at[d] < t->dim[d]) return;
        p->from -= t->dim[d] * t->from[d];
        p->to -= t->dim[d] * t->to[d];
        p->at[d] = 0;
    }
}

static void row_copy(const Transpose *t, const char *from, char *to)
{
    int64_t bytes = t->rows * t->size;
    if (bytes == 8) // not worth a call
        memcpy(to, from, 8);
    else
        memcpy(to, from, (size_t)bytes);
}

static void work(void *arg, int64_t task, int worker)
{
    (void)worker;
    const Transpose *t     = arg;
    int64_t          first = task * t->tile, end = holo_least(first + t->tile, t->count);
    int64_t          strip = first % t->strips;
    Place            p     = place_of(t, first / t->strips);
    for (int64_t i = first; i < end; i++) {
        int64_t column = strip * t->strip;
        if (t->columns)
            strip_transpose(t, holo_least(t->strip, t->columns - column), t->x + (p.from + column) * t->size,
                            t->out + (p.to + column * t->out_row) * t->size);
        else
            row_copy(t, t->x + p.from * t->size, t->out + p.to * t->size);
        if (++strip < t->strips) continue;
        strip = 0;
        place_next(t, &p);
    }
}

static HoloStatus run(HoloCall *call, void *job)
{
    Transpose *t = job;
    t->x         = call->in[0]->data;
    t->out       = call->out[0]->data;
    if (t->tasks) call->host->parallel(call->host, t->tasks, work, t);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_transpose_f32 = {
    .id       = HOLO_KERNEL_transpose_f32,
    .name     = "transpose_f32",
    .job_size = sizeof(Transpose),
    .prepare  = prepare_f32,
    .run      = run,
};

const HoloCpuKernel holo_kernel_transpose_u8 = {
    .id       = HOLO_KERNEL_transpose_u8,
    .name     = "transpose_u8",
    .job_size = sizeof(Transpose),
    .prepare  = prepare_u8,
    .run      = run,
};
