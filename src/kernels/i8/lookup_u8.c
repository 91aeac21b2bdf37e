// lookup_u8.c - looks bytes up in a table, one at a time. lookup_u8_vbmi.c is for CPUs that hold the table in
// registers.

void SHARED(lookup_u8)(int64_t n, const uint8_t *x, const uint8_t *table, uint8_t *out)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) { // one load for eight places
        uint64_t from, to = 0;
        __builtin_memcpy(&from, x + i, sizeof from);
        for (int b = 0; b < 64; b += 8) to |= (uint64_t)table[from >> b & 255] << b;
        __builtin_memcpy(out + i, &to, sizeof to);
    }
    for (; i < n; i++) out[i] = table[x[i]];
}
