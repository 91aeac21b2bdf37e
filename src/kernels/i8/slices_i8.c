// slices_i8.c - weights in blocks that are packed as slices: chunks to bytes and scales, for gemm_blocks_i8.c.
//
// A register has the same word of the blocks of several columns, so every column is done alike. Where the bits of blocks
// lie, block_slices.h says: all that is constant where these functions are inlined.

INL i32n slices_word(const uint8_t *words, int i)
{
    return (i32n) * (const i32u *)(const void *)(words + i * 64);
}

INL i32n slices_shift(i32n x, int by) // up or, if `by` is negative, down
{
    return by < 0 ? (i32n)((u32n)x >> -by) : x << by;
}

// The field of thing i of a set, with its first bit where `to` says; what is around it is not cleared. Where sets begin at
// words, all but the word is known beforehand. Otherwise a set lies in one word.
INL i32n slices_bits(const uint8_t *words, HoloSliceField f, int set, int i, int to)
{
    int first = f.at + set * f.outer;
    if (f.outer % 32 == 0)
        return slices_shift(slices_word(words, set * (f.outer / 32) + (f.at + i * f.inner) / 32),
                            to - (f.at + i * f.inner) % 32);
    return slices_shift((i32n)((u32n)slices_word(words, first / 32) >> first % 32), to - i * f.inner);
}

INL i32n slices_field(const uint8_t *words, HoloSliceField f, int set, int i, int to)
{
    return slices_bits(words, f, set, i, to) & (((1 << f.bits) - 1) << to);
}

// ---- numbers of a chunk, as quads

// Eight signs from `to` on. If there are 7, the last makes their number even. One is for all.
INL i32n slices_signs(const uint8_t *words, HoloSliceField f, int set, int i, int to)
{
    if (f.bits == 1) return -slices_field(words, f, set, i, 0) & (255 << to);
    if (f.bits == 8) return slices_field(words, f, set, i, to);
    // The parities of all fields of a word at once: each comes out at the first bit of its field.
    const int at = f.at + i * f.inner, first = (f.inner == 7 ? 0x00204081 : 0x00010001) << f.at % 16;
    i32n      w = slices_word(words, set * (f.outer / 32) + at / 32), odd = w;
    odd ^= (i32n)((u32n)odd >> 4) & (i32n)((i32n){0} + first * 7);
    odd ^= (i32n)((u32n)odd >> 2) & (i32n)((i32n){0} + first * 3);
    odd ^= (i32n)((u32n)odd >> 1);
    return (slices_shift(w, to - at % 32) & (127 << to)) | (slices_shift(odd, to + 7 - at % 32) & (128 << to));
}

// The codes of four numbers: places, and signs above them.
INL i32n slices_codes(i32n entry, i32n sign, int places)
{
    const int wide = places == 2 ? 12 : 10;
    i32n      x    = (entry | entry << wide) & (places == 2 ? 0x000F000F : 0x003F003F);
    sign |= sign << 7;
    sign |= sign << 14;
    return ((x | x << wide / 2) & (places == 2 ? 0x03030303 : 0x07070707)) | (sign & (0x01010101 << places));
}

INL void slices_grid(HoloSliceGrid s, const uint16_t *grid, const int8_t book[16], const uint8_t *words, uint8_t *out)
{
    for (int set = 0; set < HOLO_BLOCK_MOST / HOLO_BLOCK_UNIT; set++) {
        i32n x[8], numbers[8];
        UNROLL for (int q = 0; q < 8; q++)
        {
            const int i = s.places == 2 ? q / 2 : q;
            if (s.places == 3 || q % 2 == 0) {
                i32n code = slices_field(words, s.low, set, i, 0);
                if (s.high.bits) code |= slices_field(words, s.high, set, i, s.low.bits);
                x[q] = n_gather_u16(grid, code);
            }
        }
        UNROLL for (int q = 0; q < 8; q++)
        {
            i32n sign  = slices_signs(words, s.sign, set, q / 2, s.places);
            i32n entry = s.places == 3 ? x[q] : q % 2 ? (i32n)((u32n)x[q - 1] >> 8) : x[q] & 255;
            i32n code  = slices_codes(entry, q % 2 ? (i32n)((u32n)sign >> 4) : sign, s.places);
            numbers[q] = n_look_up(book, code);
        }
        UNROLL for (int q = 0; q < 8; q++, out += 64) * (i32u *)(void *)out = (i32u)numbers[q];
    }
}

// A digit is what comes out above 8 bits when the rest of the fraction is multiplied by 3.
INL void slices_threes(const uint8_t *words, uint8_t *out)
{
    static const struct {
        uint8_t words, digits;
    } parts[] = {{8, 5}, {4, 5}, {1, 4}};
    for (int p = 0; p < 3; p++) {
        for (int j = 0; j < parts[p].words; j++, words += 64) {
            i32n word = slices_word(words, 0), even = word & 0x00FF00FF, odd = (i32n)((u32n)word >> 8) & 0x00FF00FF;
            UNROLL for (int d = 0; d < 5; d++)
            {
                if (d == parts[p].digits) break;
                even += even << 1;
                odd += odd << 1;
                *(i32u *)(void *)(out + (d * parts[p].words + j) * 64) =
                    (i32u)(((i32n)((u32n)even >> 8) & 0x00FF00FF) | (odd & (int)0xFF00FF00));
                even &= 0x00FF00FF;
                odd &= 0x00FF00FF;
            }
        }
        out += parts[p].words * parts[p].digits * 64;
    }
}

#define SLICE_GRIDS(X) X(IQ1_S) X(IQ1_M) X(IQ2_XXS) X(IQ2_XS) X(IQ2_S) X(IQ3_XXS) X(IQ3_S)

// A chunk as bytes: codes or, where the type has a grid, numbers, each xor `flip`.
static NOINLINE void slices_write(const HoloBlockType *type, const uint8_t *words, int flip, uint8_t *out)
{
    int8_t book[16];
    for (int i = 0; i < 16 && type->book; i++) book[i] = (int8_t)(type->book[i] ^ flip);
    for (int r = 0; r < REGISTERS; r++, words += NATIVE, out += NATIVE) switch (type->slice) {
#define X(name) \
    case HOLO_SLICE_##name: slices_grid(holo_slice_grids[HOLO_SLICE_##name], type->grid, book, words, out); break;
            SLICE_GRIDS(X)
#undef X
        default: slices_threes(words, out); break;
        }
}

// ---- scales

// The scale of 16 blocks, in pieces.
INL f32v slices_whole(HoloSliceField f, const uint8_t *words)
{
    int32_t  wide[LANES];
    uint16_t few[LANES];
    i32v     x;
    EACH(r)
    {
        x.r[r] = (i32n){0};
        UNROLL for (int i = 0; i < 4; i++) x.r[r] |= slices_field(words + r * NATIVE, f, 0, i, 4 * i);
    }
    i_store(wide, x);
    for (int i = 0; i < LANES; i++) few[i] = (uint16_t)wide[i];
    return v_load_f16(few);
}

static void slices_groups(HoloSliceGrid s, int groups, const uint8_t *words, f32v by, float *out)
{
    if (s.whole.bits) by = slices_whole(s.whole, words);
    for (int set = 0; set < groups / 4; set++) UNROLL for (int i = 0; i < 4; i++, out += LANES)
        {
            f32v y;
            EACH(r)
            {
                i32n n = slices_field(words + r * NATIVE, s.scale, set, i, 1) + 1;
                y.r[r] = __builtin_convertvector(n, f32n) * by.r[r];
            }
            v_store(out, y);
        }
}

// The scales of a chunk: a vector for each group.
static NOINLINE void slices_scales(const HoloBlockType *type, const uint8_t *chunk, float *out)
{
    int            groups = HOLO_BLOCK_MOST / type->group;
    const uint8_t *words  = chunk + holo_block_chunk_scales(type);
    f32v           by     = v_set1(0);
    if (type->scale_at >= 0) by = v_load_f16((const uint16_t *)(const void *)chunk);
    if (type->grid)
        slices_groups(holo_slice_grids[type->slice], groups, words, by, out);
    else
        for (int g = 0; g < groups; g++) v_store(out + g * LANES, by);
}
