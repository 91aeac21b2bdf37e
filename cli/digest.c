// digest.c - SHA-1 and SHA-256 as FIPS 180-4 describes them.

#include "digest.h"

#include <stdio.h>
#include <string.h>

static uint32_t left(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

static uint32_t right(uint32_t x, int by)
{
    return left(x, 32 - by);
}

static const uint32_t begin_1[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

static const uint32_t begin_256[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t round_256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void mix_1(uint32_t *state, const uint32_t *first)
{
    static const uint32_t round[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t              w[80], s[5];
    memcpy(w, first, 16 * sizeof *w);
    memcpy(s, state, sizeof s);
    for (int i = 16; i < 80; i++) w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; i++) {
        uint32_t choose = (s[1] & s[2]) | (~s[1] & s[3]), parity = s[1] ^ s[2] ^ s[3];
        uint32_t most = (s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3]);
        uint32_t f    = i < 20 ? choose : i >= 40 && i < 60 ? most : parity;
        uint32_t next = left(s[0], 5) + f + s[4] + round[i / 20] + w[i];
        memmove(s + 1, s, 4 * sizeof *s);
        s[2] = left(s[2], 30);
        s[0] = next;
    }
    for (int i = 0; i < 5; i++) state[i] += s[i];
}

static void mix_256(uint32_t *state, const uint32_t *first)
{
    uint32_t w[64], s[8];
    memcpy(w, first, 16 * sizeof *w);
    memcpy(s, state, sizeof s);
    for (int i = 16; i < 64; i++) {
        uint32_t a = right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i]       = w[i - 16] + a + w[i - 7] + b;
    }
    for (int i = 0; i < 64; i++) {
        uint32_t a    = right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22);
        uint32_t e    = right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25);
        uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]), choose = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t more = s[7] + e + choose + round_256[i] + w[i];
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += more;
        s[0] = more + a + most;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

static void mix(Digest *d, const uint8_t *block)
{
    uint32_t w[16];
    for (int i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    if (d->words == 5)
        mix_1(d->state, w);
    else
        mix_256(d->state, w);
}

void digest_begin(Digest *d, bool is_sha256)
{
    *d = (Digest){.words = is_sha256 ? 8 : 5};
    memcpy(d->state, is_sha256 ? begin_256 : begin_1, (size_t)d->words * sizeof *d->state);
}

void digest_add(Digest *d, const void *data, size_t size)
{
    const uint8_t *at = data;
    while (size) {
        size_t filled = d->size % 64, part = size < 64 - filled ? size : 64 - filled;
        memcpy(d->block + filled, at, part);
        d->size += part;
        at += part;
        size -= part;
        if (filled + part == 64) mix(d, d->block);
    }
}

void digest_end(Digest *d, char out[DIGEST_TEXT])
{
    uint64_t bits = d->size * 8;
    uint8_t  last[8];
    for (int i = 0; i < 8; i++) last[i] = (uint8_t)(bits >> (56 - 8 * i));
    digest_add(d, "\x80", 1);
    while (d->size % 64 != 56) digest_add(d, "", 1);
    digest_add(d, last, 8);
    for (int i = 0; i < d->words; i++) snprintf(out + 8 * i, 9, "%08x", d->state[i]);
}
