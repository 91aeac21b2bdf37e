// tiles_products.c - tiles of matrix products. Each product and each sum is rounded by itself, with k in ascending
// order, so that every level gives the bits of the plain loop.

// Sums that stay in registers.
enum { PRODUCT_ROWS = 6, PRODUCT_VECTORS = NATIVE == 64 ? 4 : 2 };

#define EACH_PRODUCT(i, j) UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < vectors; j++)

#define PRODUCTS_BLOCK(id, type)                                                                                    \
    typedef type vector_##id __attribute__((vector_size(NATIVE), aligned(sizeof(type)), may_alias));                \
    INL void     products_block_##id(const HoloTileProducts *p, int64_t row, int64_t column, int rows, int vectors) \
    {                                                                                                               \
        enum { WIDTH = NATIVE / sizeof(type) };                                                                     \
        const type *a = (const type *)p->a + row * p->a_row, *b = (const type *)p->b + column;                      \
        type       *sum = (type *)p->sum + row * p->sum_row + column;                                               \
        vector_##id s[PRODUCT_ROWS][PRODUCT_VECTORS], x[PRODUCT_VECTORS];                                           \
        EACH_PRODUCT(i, j) s[i][j] = *(const vector_##id *)(sum + i * p->sum_row + j * WIDTH);                      \
        for (int64_t k = 0; k < p->depth; k++, b += p->b_row) {                                                     \
            UNROLL for (int j = 0; j < vectors; j++) x[j] = *(const vector_##id *)(b + j * WIDTH);                  \
            EACH_PRODUCT(i, j) s[i][j] += a[i * p->a_row + k] * x[j];                                               \
        }                                                                                                           \
        EACH_PRODUCT(i, j) * (vector_##id *)(sum + i * p->sum_row + j * WIDTH) = s[i][j];                           \
    }

// Even heights: 32 rows become 6, 6 and four times 5.
#define PRODUCTS(id, type)                                                                        \
    PRODUCTS_BLOCK(id, type)                                                                      \
    INL void products_rows_##id(const HoloTileProducts *p, int64_t column, int vectors)           \
    {                                                                                             \
        int64_t steps = (p->rows + PRODUCT_ROWS - 1) / PRODUCT_ROWS;                              \
        for (int64_t row = 0, height; row < p->rows; row += height) {                             \
            height = (p->rows - row + steps - 1) / steps;                                         \
            steps--;                                                                              \
            switch (height) {                                                                     \
            case 1: products_block_##id(p, row, column, 1, vectors); break;                       \
            case 2: products_block_##id(p, row, column, 2, vectors); break;                       \
            case 3: products_block_##id(p, row, column, 3, vectors); break;                       \
            case 4: products_block_##id(p, row, column, 4, vectors); break;                       \
            case 5: products_block_##id(p, row, column, 5, vectors); break;                       \
            default: products_block_##id(p, row, column, PRODUCT_ROWS, vectors);                  \
            }                                                                                     \
        }                                                                                         \
    }                                                                                             \
    static void products_##id(const HoloTileProducts *p)                                          \
    {                                                                                             \
        enum { WIDTH = NATIVE / sizeof(type) };                                                   \
        int64_t column = 0;                                                                       \
        for (; column + PRODUCT_VECTORS * WIDTH <= p->columns; column += PRODUCT_VECTORS * WIDTH) \
            products_rows_##id(p, column, PRODUCT_VECTORS);                                       \
        for (; column < p->columns; column += WIDTH) products_rows_##id(p, column, 1);            \
    }

PRODUCTS(U32, uint32_t)
PRODUCTS(U64, uint64_t)
PRODUCTS(F64, double)
