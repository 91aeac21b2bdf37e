// transpose_u8.c - transposes a matrix of bytes, 16 rows and columns at a time.

// Three rows, as the colors of an image, whose points lie side by side. How many columns that made.
INL int64_t threes_store(int64_t columns, const uint8_t *x, int64_t x_row, uint8_t *out)
{
    int64_t c = 0;
    for (; c + LANES <= columns; c += LANES, out += 3 * LANES) {
        u8q r = (u8q) * (const u8qu *)(x + c), g = (u8q) * (const u8qu *)(x + x_row + c);
        u8q b               = (u8q) * (const u8qu *)(x + 2 * x_row + c);
        u8q rg0             = __builtin_shufflevector(r, g, 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
        u8q rg1             = __builtin_shufflevector(r, g, 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
        u8q rg2             = __builtin_shufflevector(r, g, 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
        u8q one             = __builtin_shufflevector(rg0, b, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15);
        u8q two             = __builtin_shufflevector(rg1, b, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15);
        u8q three           = __builtin_shufflevector(rg2, b, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31);
        *(u8qu *)out        = (u8qu)one;
        *(u8qu *)(out + 16) = (u8qu)two;
        *(u8qu *)(out + 32) = (u8qu)three;
    }
    return c;
}

#define ZIP_BYTES_LOW(a, b)  __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define ZIP_BYTES_HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

// The same of four.
INL int64_t fours_store(int64_t columns, const uint8_t *x, int64_t x_row, uint8_t *out)
{
    int64_t c = 0;
    for (; c + LANES <= columns; c += LANES, out += 4 * LANES) {
        u8q line[4];
        UNROLL for (int i = 0; i < 4; i++) line[i] = (u8q) * (const u8qu *)(x + i * x_row + c);
        u8q even[] = {ZIP_BYTES_LOW(line[0], line[2]), ZIP_BYTES_HIGH(line[0], line[2])};
        u8q odd[]  = {ZIP_BYTES_LOW(line[1], line[3]), ZIP_BYTES_HIGH(line[1], line[3])};
        UNROLL for (int i = 0; i < 2; i++)
        {
            *(u8qu *)(out + 32 * i)      = (u8qu)ZIP_BYTES_LOW(even[i], odd[i]);
            *(u8qu *)(out + 32 * i + 16) = (u8qu)ZIP_BYTES_HIGH(even[i], odd[i]);
        }
    }
    return c;
}

// Each of four times, lines that are 8 apart are joined, byte by byte.
INL void bytes_turn(u8q line[LANES])
{
    UNROLL for (int step = 0; step < 4; step++)
    {
        u8q next[LANES];
        UNROLL for (int i = 0; i < 8; i++)
        {
            u8q a = line[i], b = line[i + 8];
            next[2 * i]     = ZIP_BYTES_LOW(a, b);
            next[2 * i + 1] = ZIP_BYTES_HIGH(a, b);
        }
        UNROLL for (int i = 0; i < LANES; i++) line[i] = next[i];
    }
}

static void bytes_block(const uint8_t *x, int64_t x_row, uint8_t *out, int64_t out_row)
{
    u8q line[LANES];
    UNROLL for (int i = 0; i < LANES; i++) line[i] = (u8q) * (const u8qu *)(x + i * x_row);
    bytes_turn(line);
    UNROLL for (int i = 0; i < LANES; i++) * (u8qu *)(out + i * out_row) = (u8qu)line[i];
}

// Up to 16 bytes: two words that may overlap.
INL void bytes_copy(const uint8_t *from, int n, uint8_t *to)
{
    uint64_t a, b;
    uint32_t c, d;
    if (n >= 8) {
        __builtin_memcpy(&a, from, 8);
        __builtin_memcpy(&b, from + n - 8, 8);
        __builtin_memcpy(to, &a, 8);
        __builtin_memcpy(to + n - 8, &b, 8);
    } else if (n >= 4) {
        __builtin_memcpy(&c, from, 4);
        __builtin_memcpy(&d, from + n - 4, 4);
        __builtin_memcpy(to, &c, 4);
        __builtin_memcpy(to + n - 4, &d, 4);
    } else
        for (int i = 0; i < n; i++) to[i] = from[i];
}

enum { BYTES_FEW = 128 }; // that go one by one as fast

// One with fewer rows or columns, through memory with room for a whole one.
static void bytes_edge(const uint8_t *x, int64_t x_row, int high, int wide, uint8_t *out, int64_t out_row)
{
    uint8_t from[LANES * LANES], to[LANES * LANES];
    if (high * wide <= BYTES_FEW) {
        for (int j = 0; j < wide; j++)
            for (int i = 0; i < high; i++) out[j * out_row + i] = x[i * x_row + j];
        return;
    }
    __builtin_memset(from, 0, sizeof from);
    for (int i = 0; i < high; i++) bytes_copy(x + i * x_row, wide, from + i * LANES);
    bytes_block(from, LANES, to, LANES);
    for (int j = 0; j < wide; j++) bytes_copy(to + j * LANES, high, out + j * out_row);
}

void SHARED(transpose_u8)(int64_t rows, int64_t columns, const uint8_t *x, int64_t x_row, uint8_t *out, int64_t out_row)
{
    int64_t first = 0;
    if (rows == 3 && out_row == 3) first = threes_store(columns, x, x_row, out);
    if (rows == 4 && out_row == 4) first = fours_store(columns, x, x_row, out);
    for (int64_t r = 0; r < rows; r += LANES)
        for (int64_t c = first; c < columns; c += LANES) {
            int            high = lanes_left(r, rows), wide = lanes_left(c, columns);
            const uint8_t *from = x + r * x_row + c;
            uint8_t       *to   = out + c * out_row + r;
            if (high == LANES && wide == LANES)
                bytes_block(from, x_row, to, out_row);
            else
                bytes_edge(from, x_row, high, wide, to, out_row);
        }
}
