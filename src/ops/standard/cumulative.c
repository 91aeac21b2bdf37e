// cumulative.c - CumSum and CumProd: each element combined with all elements before it along an axis.
#include "kernels/tiles/tiles.h"
#include "ops/op.h"
#include "ops/rows.h"
#include "ops/spread.h"

typedef union Tile {
    double   f[HOLO_TILE];
    int64_t  i[HOLO_TILE];
    uint64_t u[HOLO_TILE];
} Tile;

// Along: replaces each element by what was gathered up to it (without itself where `exclusive`), and leaves in carry[0]
// what was gathered by the end. Across: takes each element into its own carry.
typedef struct Scan {
    void (*along)(Tile *x, int count, bool exclusive, Tile *carry);
    void (*across)(const Tile *x, int count, Tile *carry);
} Scan;

#define SCAN(name, type, member, expression)                                     \
    static void name##_along(Tile *tile, int count, bool exclusive, Tile *carry) \
    {                                                                            \
        type a = carry->member[0];                                               \
        for (int k = 0; k < count; k++) {                                        \
            type x = tile->member[k], next = (expression);                       \
            tile->member[k] = exclusive ? a : next;                              \
            a               = next;                                              \
        }                                                                        \
        carry->member[0] = a;                                                    \
    }                                                                            \
    static void name##_across(const Tile *tile, int count, Tile *carry)          \
    {                                                                            \
        for (int k = 0; k < count; k++) {                                        \
            type a = carry->member[k], x = tile->member[k];                      \
            carry->member[k] = (expression);                                     \
        }                                                                        \
    }                                                                            \
    static const Scan name = {name##_along, name##_across};

SCAN(sum_f, double, f, a + x)
SCAN(sum_u, uint64_t, u, a + x)
SCAN(prod_f, double, f, (a * x))
SCAN(prod_u, uint64_t, u, (a * x))

typedef struct Cumulation {
    const Scan *floats, *integers;
    int         first;
} Cumulation;

static HoloStatus infer(HoloCall *call)
{
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(I32) | HOLO_BIT(I64)));
    return holo_infer_same(call);
}

typedef struct Job {
    const HoloTensor *in;
    HoloTensor       *out;
    const Cumulation *how;
    HoloRows          rows;
    int64_t           blocks; // of a row's neighbors, where they are taken together; 0: each row by itself
    bool              is_float, reverse, exclusive;
} Job;

static void tile_fill(Tile *t, int count, bool is_float, int first)
{
    for (int k = 0; k < count; k++) {
        if (is_float)
            t->f[k] = first;
        else
            t->i[k] = first;
    }
}

static void tile_read(const Job *job, int64_t start, int64_t step, int count, Tile *out)
{
    if (job->is_float)
        holo_read_f(job->in, start, step, count, out->f);
    else
        holo_read_i(job->in, start, step, count, out->i);
}

static void tile_write(const Job *job, int64_t start, int64_t step, int count, const Tile *x)
{
    if (job->is_float)
        holo_write_f(job->out, start, step, count, x->f);
    else
        holo_write_i(job->out, start, step, count, x->i);
}

// One row. Its elements are `step` apart.
static void scan_row(const Job *job, const Scan *scan, int64_t start, int64_t step)
{
    Tile x, carry;
    tile_fill(&carry, 1, job->is_float, job->how->first);
    for (int64_t k = 0; k < job->rows.size; k += HOLO_TILE, start += step * HOLO_TILE) {
        int n = (int)(job->rows.size - k < HOLO_TILE ? job->rows.size - k : HOLO_TILE);
        tile_read(job, start, step, n, &x);
        scan->along(&x, n, job->exclusive, &carry);
        tile_write(job, start, step, n, &x);
    }
}

enum { TILES = 4, COLUMNS = TILES * HOLO_TILE }; // rows that are taken together: as long a run as caches like

// `count` rows that lie side by side.
static void scan_columns(const Job *job, const Scan *scan, int64_t start, int64_t step, int count)
{
    Tile x, carry[TILES];
    for (int c = 0; c < count; c += HOLO_TILE)
        tile_fill(&carry[c / HOLO_TILE], HOLO_TILE, job->is_float, job->how->first);
    for (int64_t k = 0; k < job->rows.size; k++, start += step)
        for (int c = 0; c < count; c += HOLO_TILE) {
            int   n    = count - c < HOLO_TILE ? count - c : HOLO_TILE;
            Tile *sums = &carry[c / HOLO_TILE];
            tile_read(job, start + c, 1, n, &x);
            if (job->exclusive) tile_write(job, start + c, 1, n, sums);
            scan->across(&x, n, sums);
            if (!job->exclusive) tile_write(job, start + c, 1, n, sums);
        }
}

// The same for element types that need no wider type: the last number written is the carry.
static void scan_columns_tiles(const Job *job, HoloTile *join, int64_t start, int64_t step, int count)
{
    size_t      size    = holo_dtype_size((HoloDtype)job->in->dtype);
    const char *x       = (const char *)job->in->data + (size_t)start * size;
    char       *y       = (char *)job->out->data + (size_t)start * size;
    double      first_f = job->how->first;
    uint64_t    first   = (uint64_t)job->how->first; // its low bytes are the number of any size
    int64_t     stride  = step * (int64_t)size;
    const void *begin   = job->is_float ? (const void *)&first_f : &first;
    for (int64_t k = 0; k < job->rows.size; k++, y += stride) {
        const char *next = job->exclusive ? x + (k - 1) * stride : x + k * stride;
        if (k == 0 && job->exclusive)
            holo_move(1, (const int64_t[]){count}, size, y, (const int64_t[]){1}, begin, (const int64_t[]){0});
        else if (k == 0)
            join(count, next, begin, NULL, y, count > 1 ? 2 : 0);
        else
            join(count, y - stride, next, NULL, y, 0);
        if (job->is_float) holo_tiles()->plain[1](count, y);
    }
}

// Sums of f32. The carries are f64 and stay in the first cache.
static void sum_columns_f32(const Job *job, int64_t start, int64_t step, int count)
{
    const HoloTiles *tiles = holo_tiles();
    HoloTile    *widen = tiles->cvt[HOLO_TILE_F64][HOLO_TILE_F32], *narrow = tiles->cvt[HOLO_TILE_F32][HOLO_TILE_F64];
    const float *x                     = (const float *)job->in->data + start;
    float       *y                     = (float *)job->out->data + start;
    _Alignas(64) double carry[COLUMNS] = {0}, wide[COLUMNS];
    for (int64_t k = 0; k < job->rows.size; k++, x += step, y += step) {
        if (job->exclusive) narrow(count, carry, NULL, NULL, y, 0);
        widen(count, x, NULL, NULL, wide, 0);
        tiles->op[HOLO_TILE_ADD][HOLO_TILE_F64](count, carry, wide, NULL, carry, 0);
        if (!job->exclusive) narrow(count, carry, NULL, NULL, y, 0);
        tiles->plain[0](count, y);
    }
}

// The loop that joins elements of f64 and integers; NULL: there is none.
static HoloTile *join_of(const Job *job)
{
    int type = holo_tile_type((HoloDtype)job->in->dtype);
    if (type < 0 || type == HOLO_TILE_F32) return NULL;
    return holo_tiles()->op[job->how->first ? HOLO_TILE_MUL : HOLO_TILE_ADD][type];
}

static void work(void *arg, int64_t i, int worker)
{
    const Job  *job  = arg;
    const Scan *scan = job->is_float ? job->how->floats : job->how->integers;
    HoloRows    rows = job->rows;
    int64_t     row  = job->blocks ? i / job->blocks * rows.inner + i % job->blocks * COLUMNS : i;
    int64_t     left = rows.inner - row % rows.inner, step = job->reverse ? -rows.inner : rows.inner;
    int64_t     start = holo_row_start(rows, row) + (job->reverse ? (rows.size - 1) * rows.inner : 0);
    (void)worker;
    if (job->blocks && job->in->dtype == HOLO_F32 && scan == &sum_f)
        sum_columns_f32(job, start, step, (int)(left < COLUMNS ? left : COLUMNS));
    else if (job->blocks && join_of(job))
        scan_columns_tiles(job, join_of(job), start, step, (int)(left < COLUMNS ? left : COLUMNS));
    else if (job->blocks)
        scan_columns(job, scan, start, step, (int)(left < COLUMNS ? left : COLUMNS));
    else
        scan_row(job, scan, start, step);
}

static HoloStatus eval(HoloCall *call)
{
    enum { FEW = 8 }; // rows that are not worth being taken together
    const HoloTensor *in    = call->in[0];
    int64_t           given = 0;
    int               axis  = 0;
    if (holo_out_is_empty(call)) return HOLO_OK;
    if (holo_in_ints(call, 1, &given, 1) != 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "the axis (input 1) is not a single number");
    if (in->rank > 0) HOLO_TRY(holo_axis(call, given, in->rank, &axis));
    Job job       = {.in        = in,
                     .out       = call->out[0],
                     .how       = call->op->row,
                     .rows      = in->rank > 0 ? holo_rows(in, axis, axis + 1) : (HoloRows){1, 1, 1},
                     .is_float  = holo_dtype_class((HoloDtype)in->dtype) == HOLO_CLASS_FLOAT,
                     .reverse   = holo_attr_int(call, "reverse", 0) != 0,
                     .exclusive = holo_attr_int(call, "exclusive", 0) != 0};
    job.blocks    = job.rows.inner < FEW ? 0 : (job.rows.inner + COLUMNS - 1) / COLUMNS;
    int64_t count = holo_row_count(job.rows);
    if (job.blocks) count = count / job.rows.inner * job.blocks;
    holo_spread(call, count, (double)holo_tensor_count(in), work, &job);
    return HOLO_OK;
}

static const Cumulation sum  = {&sum_f, &sum_u, 0};
static const Cumulation prod = {&prod_f, &prod_u, 1};

#define CUMULATIVE(text, version, how)                                                                             \
    {                                                                                                              \
        .name = text, .domain = "", .since = version, .in_min = 2, .in_max = 2, .out_min = 1, .out_max = 1,        \
        .types = HOLO_TYPES_FLOAT | HOLO_BIT(I32) | HOLO_BIT(I64) | HOLO_BIT(U32) | HOLO_BIT(U64), .infer = infer, \
        .eval = eval, .row = &how                                                                                  \
    }

const HoloOp holo_ops_cumulative[] = {
    CUMULATIVE("CumSum", 11, sum),
    CUMULATIVE("CumProd", 26, prod),
    {0},
};
