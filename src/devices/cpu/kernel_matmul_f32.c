// kernel_matmul_f32.c - MatMul, Gemm and FusedMatMul of f32 by the packed matrix product.
//
// The product is cut into tiles of C; each is one task. B is packed in the archive, or each task packs it, a block of k
// at a time. One vector times rows of B reads B in place, and so do a few columns that are contiguous.
#include "devices/cpu/tail.h"
#include "format/params.h"
#include "kernels/kernels.h"

enum {
    TILE_COLUMNS = 256,     // a block of B of this width stays in the second cache
    TILE_TASKS   = 8,       // number of tasks of one product, if they are not too small
    TASK_WORK    = 1 << 18, // multiplications that are worth a task
    ROWS_DIRECT  = 4,       // up to so many rows, packing B costs more than it saves
    NEAR_BYTES   = 1 << 21, // a B of up to so many bytes stays in a cache from run to run
};

typedef struct Side {                  // one operand: a stack of matrices
    const float *data;                 // when running
    int64_t      rows, columns;        // of one matrix, after transposition
    int64_t      row, column;          // strides
    int64_t      batch[HOLO_MAX_RANK]; // strides in the broadcast stack
} Side;

typedef struct Product {
    const HoloHost *host;
    Side            a, b;
    bool            has_c;
    const float    *c; // when running; NULL: none
    int64_t         c_row, c_column;
    float          *out; // when running
    int64_t         m, n, k, batch;
    int             batch_rank;
    int64_t         batch_dim[HOLO_MAX_RANK];
    float           alpha, beta;
    bool            packed;
    uint32_t        narrow; // HOLO_WEIGHTS_*: packed B is of that
    HoloTail        tail;
    int64_t         tile_rows, tile_columns, tile_batch;  // sizes of a task
    int64_t         row_tiles, column_tiles, batch_tiles; // how many there are
    int64_t         tasks;
    bool            by_dots; // see is_dots
} Product;

// ---- shapes

// A vector is a row on the left and a column on the right; only matrices are transposed.
static void side_init(const HoloTensor *t, bool right, bool transposed, Side *out)
{
    int64_t last = t->dim[t->rank - 1];
    if (t->rank == 1) {
        out->rows    = right ? last : 1;
        out->columns = right ? 1 : last;
        out->row     = 1;
        out->column  = 1;
        return;
    }
    int64_t before = t->dim[t->rank - 2];
    out->rows      = transposed ? last : before;
    out->columns   = transposed ? before : last;
    out->row       = transposed ? 1 : last;
    out->column    = transposed ? last : 1;
}

// Broadcasts the stacks, as NumPy does. False: they do not broadcast.
static bool stack_init(const HoloTensor *a, const HoloTensor *b, Product *p)
{
    int a_rank = a->rank > 2 ? a->rank - 2 : 0, b_rank = b->rank > 2 ? b->rank - 2 : 0;
    p->batch_rank = a_rank > b_rank ? a_rank : b_rank;
    for (int d = 0; d < p->batch_rank; d++) {
        int     at_a = d - (p->batch_rank - a_rank), at_b = d - (p->batch_rank - b_rank);
        int64_t in_a = at_a < 0 ? 1 : a->dim[at_a], in_b = at_b < 0 ? 1 : b->dim[at_b];
        if (in_a != in_b && in_a != 1 && in_b != 1) return false;
        p->batch_dim[d] = in_a == 1 ? in_b : in_a;
    }
    return true;
}

static void stack_strides(const HoloTensor *t, int batch_rank, Side *side)
{
    int64_t stride = t->rank > 2 ? t->dim[t->rank - 1] * t->dim[t->rank - 2] : 0;
    for (int d = t->rank - 3, at = batch_rank - 1; d >= 0; d--, at--) {
        side->batch[at] = t->dim[d] == 1 ? 0 : stride;
        stride *= t->dim[d];
    }
}

static bool out_fits(const HoloTensor *out, const HoloTensor *a, const HoloTensor *b, const Product *p)
{
    int rank = p->batch_rank;
    for (int d = 0; d < rank; d++)
        if (d >= out->rank || out->dim[d] != p->batch_dim[d]) return false;
    if (a->rank > 1 && (rank >= out->rank || out->dim[rank++] != p->m)) return false;
    if (b->rank > 1 && (rank >= out->rank || out->dim[rank++] != p->n)) return false;
    return rank == out->rank;
}

// C broadcasts to the rows and columns of a matrix.
static HoloStatus addend_init(const HoloCall *call, const HoloTensor *c, Product *p)
{
    HOLO_TRY(holo_cpu_kernel_expect(call, c, "C", 0, 2));
    int64_t rows = c->rank > 1 ? c->dim[0] : 1, columns = c->rank > 0 ? c->dim[c->rank - 1] : 1;
    if ((rows != 1 && rows != p->m) || (columns != 1 && columns != p->n))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "C does not broadcast to the product");
    p->has_c    = true;
    p->c_row    = rows == 1 ? 0 : columns;
    p->c_column = columns == 1 ? 0 : 1;
    return HOLO_OK;
}

// ---- cuts

// Tiles depend on the shape alone. Wide ones are read fastest; more are made only if each is still worth a task.
static void cut(Product *p)
{
    // One B for a whole stack whose rows are contiguous: the stack is one tall matrix.
    bool tall = p->a.column == 1 && p->a.row == p->k && !p->c_row;
    for (int d = 0; d < p->batch_rank; d++) tall = tall && !p->b.batch[d] && (p->a.batch[d] || p->batch_dim[d] == 1);
    if (tall) {
        p->m *= p->batch;
        p->batch = 1;
    }
    double work     = (double)p->m * (double)p->n * (double)(p->k > 0 ? p->k : 1);
    p->row_tiles    = holo_ceil_div(p->m, HOLO_GEMM_ROWS);
    p->tile_rows    = holo_ceil_div(p->m, p->row_tiles);
    p->column_tiles = holo_ceil_div(p->n, TILE_COLUMNS);
    int64_t tiles   = p->row_tiles * p->column_tiles * p->batch;
    if (tiles < TILE_TASKS) {
        double  worth = work / TASK_WORK;
        int64_t want  = holo_ceil_div(TILE_TASKS, p->row_tiles * p->batch);
        if (worth < (double)want) want = (int64_t)worth;
        if (want == 1 && p->m <= ROWS_DIRECT) want = 2; // it waits for memory, and two tasks wait less
        if (want > p->column_tiles) p->column_tiles = want;
    }
    p->tile_columns = holo_ceil_div(holo_ceil_div(p->n, p->column_tiles), 2 * HOLO_PANEL) * 2 * HOLO_PANEL;
    p->column_tiles = holo_ceil_div(p->n, p->tile_columns);
    p->tile_batch   = work < TASK_WORK ? holo_least(p->batch, (int64_t)(TASK_WORK / (work > 1 ? work : 1))) : 1;
    p->batch_tiles  = holo_ceil_div(p->batch, p->tile_batch);
}

// Few columns of B, each contiguous, as rows of A are.
static bool is_dots(const Product *p)
{
    return !p->packed && p->a.column == 1 && p->b.row == 1 && p->n <= HOLO_DOTS_ROWS;
}

// The numbers of the whole call. Refuses what is not a product. If the output is empty, batch is 0 and the rest is not
// filled in.
static HoloStatus product_init(const HoloCall *call, Product *p)
{
    const HoloTensor       *a = holo_in(call, 0), *b = holo_in(call, 1), *c = holo_in(call, 2);
    HoloTensor             *out    = holo_out(call, 0);
    const HoloMatmulParams *params = call->params;
    HoloTensor              plain;
    *p = (Product){.host = call->host, .alpha = params->alpha, .beta = params->beta};
    HOLO_TRY(holo_cpu_kernel_expect(call, a, "A", 1, HOLO_MAX_RANK));
    if (b) plain = *b;
    if (b && params->flags & HOLO_WEIGHTS_NARROW && (b->dtype == HOLO_F16 || b->dtype == HOLO_BF16))
        plain.dtype = HOLO_F32; // it is packed, whatever it was before
    HOLO_TRY(holo_cpu_kernel_expect(call, b ? &plain : NULL, "B", 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", 0, HOLO_MAX_RANK));
    side_init(a, false, params->flags & HOLO_MATMUL_TRANS_A, &p->a);
    side_init(b, true, params->flags & HOLO_MATMUL_TRANS_B, &p->b);
    p->m      = p->a.rows;
    p->n      = p->b.columns;
    p->k      = p->a.columns;
    p->packed = params->flags & HOLO_MATMUL_PACKED_B;
    p->narrow = params->flags & HOLO_WEIGHTS_NARROW;
    if (p->k != p->b.rows || !stack_init(a, b, p) || !out_fits(out, a, b, p))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are not those of a product");
    if (c && p->beta != 0) HOLO_TRY(addend_init(call, c, p));
    HOLO_TRY(holo_tail_init(call, &params->tail, true, 3, &p->tail));
    p->tail.columns = p->n; // a vector on the right has one column, whatever the output's last dimension is
    if (!holo_tensor_count(out)) return HOLO_OK;
    p->batch = holo_product(p->batch_rank, p->batch_dim);
    stack_strides(a, p->batch_rank, &p->a);
    stack_strides(b, p->batch_rank, &p->b);
    cut(p);
    p->tasks   = p->batch_tiles * p->row_tiles * p->column_tiles;
    p->by_dots = is_dots(p);
    return HOLO_OK;
}

static int64_t packed_size(const HoloCall *call, const void *job, int input)
{
    const Product    *p = job;
    const HoloTensor *b = holo_in(call, 1);
    if (input != 1 || !p->packed) return -1;
    int64_t size = holo_panels_size(b->rank > 2 ? holo_product(b->rank - 2, b->dim) : 1, p->b.rows, p->b.columns);
    return holo_weights_size(size, p->narrow);
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    const HoloMatmulParams *params = call->params;
    const uint32_t known = HOLO_MATMUL_TRANS_A | HOLO_MATMUL_TRANS_B | HOLO_MATMUL_PACKED_B | HOLO_WEIGHTS_NARROW;
    Product       *p     = job;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags & ~known ||
        !holo_weights_are_valid(params->flags, HOLO_MATMUL_PACKED_B))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of matmul_f32");
    HOLO_TRY(product_init(call, p));
    if (p->packed && packed_size(call, p, 1) < 0)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "packed B is too large");
    size_t panels = p->packed ? 0 : (size_t)p->tile_columns * HOLO_GEMM_K, product = HOLO_GEMM_SCRATCH + panels;
    size_t tail  = holo_tail_scratch(&params->tail);
    *out_scratch = p->batch ? (product > tail ? product : tail) * sizeof(float) : 0;
    return HOLO_OK;
}

// ---- work

// The tile's columns from `first` on, B packed into `panels` a block of k at a time.
static void multiply_packing(const Product *p, const float *b, HoloGemm g, int64_t first, float *panels)
{
    const HoloKernelTable *kernels = p->host->kernels;
    int64_t                at      = 0;
    if (first >= g.n) return;
    g.n -= first;
    g.c += first;
    if (g.d) g.d += first * g.d_column;
    g.b = panels;
    do { // once even if k is 0
        g.k       = holo_least(p->k - at, HOLO_GEMM_K);
        g.b_step  = HOLO_PANEL;
        g.b_panel = g.k * HOLO_PANEL;
        g.resume  = at > 0;
        g.pause   = at + g.k < p->k;
        kernels->pack_f32(g.k, g.n, b + at * p->b.row + first * p->b.column, p->b.row, p->b.column, panels);
        kernels->gemm_f32(&g);
        at += HOLO_GEMM_K;
        g.a += HOLO_GEMM_K * g.a_column;
    } while (at < p->k);
}

static void multiply_dots(const Product *p, const HoloGemm *g, const float *b)
{
    HoloDots d = {.m = g->m, .n = g->n, .k = g->k, .a = g->a, .b = b, .a_row = g->a_row, .b_row = p->b.column};
    d.out      = g->c;
    p->host->kernels->dots_f32(&d);
    if (g->alpha == 1 && !g->d) return;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            float *c = &g->c[i * g->c_row + j];
            *c *= g->alpha;
            if (g->d) *c += g->beta * g->d[i * g->d_row + j * g->d_column];
        }
}

static void multiply(const Product *p, int64_t batch, int64_t row, int64_t column, float *scratch)
{
    int64_t at_a = 0, at_b = 0, rest = batch;
    for (int d = p->batch_rank - 1; d >= 0 && rest; rest /= p->batch_dim[d--]) {
        at_a += rest % p->batch_dim[d] * p->a.batch[d];
        at_b += rest % p->batch_dim[d] * p->b.batch[d];
    }
    HoloGemm g = {
        .m        = holo_least(p->m - row, p->tile_rows),
        .n        = holo_least(p->n - column, p->tile_columns),
        .k        = p->k,
        .a        = p->a.data + at_a + row * p->a.row,
        .a_row    = p->a.row,
        .a_column = p->a.column,
        .c        = p->out + (batch * p->m + row) * p->n + column,
        .c_row    = p->n,
        .d        = p->c ? p->c + row * p->c_row + column * p->c_column : NULL,
        .d_row    = p->c_row,
        .d_column = p->c_column,
        .alpha    = p->alpha,
        .beta     = p->beta,
        .scratch  = scratch,
        .is_far   = p->n * p->k * (p->narrow ? 2 : 4) > NEAR_BYTES,
    };
    if (p->packed) {
        int64_t stack = p->k ? at_b / (p->k * p->n) : 0; // matrices before this one
        int64_t at    = stack * holo_ceil_div(p->n, HOLO_PANEL) * HOLO_PANEL * p->k + column * p->k;
        g.b           = holo_weights_at(p->b.data, at, p->narrow);
        g.b_type      = p->narrow;
        g.b_book      = p->b.data;
        g.b_panel     = p->k * HOLO_PANEL;
        g.b_step      = HOLO_PANEL;
        p->host->kernels->gemm_f32(&g);
        return;
    }
    const float *b = p->b.data + at_b + column * p->b.column;
    if (p->by_dots) {
        multiply_dots(p, &g, b);
        return;
    }
    int64_t direct = g.m <= ROWS_DIRECT && p->b.column == 1 ? g.n / HOLO_PANEL * HOLO_PANEL : 0;
    multiply_packing(p, b, g, direct, scratch + HOLO_GEMM_SCRATCH);
    if (!direct) return;
    g.n       = direct;
    g.b       = b;
    g.b_panel = HOLO_PANEL;
    g.b_step  = p->b.row;
    p->host->kernels->gemm_f32(&g);
}

static void work(void *arg, int64_t i, int worker)
{
    const Product *p       = arg;
    int64_t        column  = i % p->column_tiles * p->tile_columns;
    int64_t        row     = i / p->column_tiles % p->row_tiles * p->tile_rows;
    int64_t        batch   = i / p->column_tiles / p->row_tiles * p->tile_batch;
    int64_t        end     = holo_least(batch + p->tile_batch, p->batch);
    float         *scratch = holo_cpu_kernel_scratch(p->host, worker);
    for (; batch < end; batch++) {
        multiply(p, batch, row, column, scratch);
        holo_tail_run(&p->tail, p->host, batch * p->m + row, holo_least(p->m - row, p->tile_rows), column,
                      holo_least(p->n - column, p->tile_columns), scratch);
    }
}

static HoloStatus run(HoloCall *call, void *job)
{
    Product *p = job;
    if (!p->tasks) return HOLO_OK;
    p->a.data = call->in[0]->data;
    p->b.data = call->in[1]->data;
    p->c      = p->has_c ? call->in[2]->data : NULL;
    p->out    = call->out[0]->data;
    holo_tail_begin(&p->tail);
    call->host->parallel(call->host, p->tasks, work, p);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_matmul_f32 = {
    .id          = HOLO_KERNEL_matmul_f32,
    .name        = "matmul_f32",
    .job_size    = sizeof(Product),
    .prepare     = prepare,
    .run         = run,
    .packed_size = packed_size,
};
