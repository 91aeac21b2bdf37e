// blocks.c - products with weights in blocks, by one thread: one row, which waits for memory, a few, and many rows.
//
// usage: blocks [TYPE...]   all types, if none is named
//
// The bytes are those of the packed weights. What a few rows take is told in times of what one row takes. A line before the table says how fast memory is read at all, by a plain
// sum. It is wall time, best of many: other work on the machine can only make that longer.
#include "base/files.h"
#include "format/dtype.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 4096, COLUMNS = 32768, ROWS = 128, MANY_COLUMNS = 256, TRIALS = 12 };

enum { FEW = 4 };
static const int few_rows[FEW] = {2, 4, 6, 8};

static void *take(size_t size)
{
    void *p = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    if (!p) {
        fprintf(stderr, "blocks: no memory\n");
        exit(1);
    }
    memset(p, 0x35, size);
    return p;
}

static double memory_speed(void) // GB/s
{
    const size_t count = (size_t)32 << 20;
    uint64_t    *x = take(count * sizeof *x), sum[8] = {0};
    double       best = 1e9;
    for (int trial = 0; trial < TRIALS; trial++) {
        double start = holo_time_now();
        for (size_t i = 0; i < count; i += 8)
            for (size_t j = 0; j < 8; j++) sum[j] += x[i + j];
        double spent = holo_time_now() - start;
        if (spent < best) best = spent;
    }
    x[0] = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
    __asm__ volatile("" : : "r"(x) : "memory");
    free(x);
    return (double)(count * sizeof *x) / best / 1e9;
}

static double product_time(const HoloGemmBlocks *g)
{
    double best = 1e9;
    for (int trial = 0; trial < TRIALS; trial++) {
        double start = holo_time_now();
        holo_kernels(0)->gemm_blocks_i8(g);
        double spent = holo_time_now() - start;
        if (spent < best) best = spent;
    }
    return best;
}

static void measure(const HoloBlockType *type)
{
    const HoloKernelTable *kernels = holo_kernels(0);
    int64_t                panel = holo_block_panel_bytes(type, DEPTH), row = HOLO_BLOCKS_ROW(DEPTH);
    size_t                 bytes = (size_t)panel * COLUMNS / HOLO_PANEL;
    uint8_t               *w     = take(bytes); // any bytes are weights
    float                 *x = take(DEPTH * sizeof *x), *out = take((size_t)ROWS * COLUMNS * sizeof *out);
    float                 *scratch = take(HOLO_BLOCKS_SCRATCH * sizeof *scratch);
    char                  *rows    = take((size_t)(ROWS * row));
    for (int i = 0; i < DEPTH; i++) x[i] = (float)(i % 37) - 18;
    for (int i = 0; i < ROWS; i++) kernels->rows_blocks_i8(type, DEPTH, x, rows + i * row);
    HoloGemmBlocks g   = {.type    = type,
                          .m       = 1,
                          .n       = COLUMNS,
                          .k       = DEPTH,
                          .a       = rows,
                          .a_row   = row,
                          .b       = w,
                          .c       = out,
                          .c_row   = COLUMNS,
                          .scratch = scratch};
    double         one = product_time(&g), few[FEW];
    for (int i = 0; i < FEW; i++) {
        g.m    = few_rows[i];
        few[i] = product_time(&g) / one;
    }
    g.m           = ROWS;
    g.n           = MANY_COLUMNS;
    double many   = product_time(&g);
    double weight = (double)bytes * 8 / ((double)DEPTH * COLUMNS);
    printf("%-8s %5.2f %8.1f GB/s ", type->name, weight, (double)bytes / one / 1e9);
    for (int i = 0; i < FEW; i++) printf("%6.2f", few[i]);
    printf(" %8.0f GOP/s\n", 2.0 * ROWS * MANY_COLUMNS * DEPTH / many / 1e9);
    fflush(stdout);
    free(w), free(x), free(out), free(scratch), free(rows);
}

int main(int argc, char **argv)
{
    const HoloBlockType *type;
    printf("level %s, memory %.1f GB/s\n", holo_kernels(0)->level, memory_speed());
    printf("type      bits      1 row     ");
    for (int i = 0; i < FEW; i++) printf("%5d ", few_rows[i]);
    printf("    %d rows\n", ROWS);
    for (int i = 0; (type = holo_block_type_at(i)); i++) {
        bool is_wanted = argc < 2;
        for (int a = 1; a < argc; a++) is_wanted |= !strcmp(argv[a], type->name);
        if (is_wanted) measure(type);
    }
    return 0;
}
