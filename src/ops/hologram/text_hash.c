// text_hash.c - TextHash: the number of the bucket that a text falls into, by FarmHash's fingerprint of 64 bits, which
// TensorFlow takes for StringToHashBucketFast.
#include "ops/hologram/fingerprint.h"
#include "ops/op.h"

#include <string.h>

static const uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

typedef struct HashPair {
    uint64_t a, b;
} HashPair;

static uint64_t read_64(const uint8_t *s)
{
    uint64_t x;
    memcpy(&x, s, sizeof x);
    return x;
}

static uint64_t read_32(const uint8_t *s)
{
    uint32_t x;
    memcpy(&x, s, sizeof x);
    return x;
}

static uint64_t turn(uint64_t x, int by)
{
    return (x >> by) | (x << (64 - by));
}

static uint64_t stir(uint64_t x)
{
    return x ^ (x >> 47);
}

static uint64_t mix(uint64_t u, uint64_t v, uint64_t m)
{
    uint64_t a = stir((u ^ v) * m);
    return stir((v ^ a) * m) * m;
}

static uint64_t hash_16(const uint8_t *s, uint64_t n)
{
    uint64_t m = k2 + n * 2;
    if (n >= 8) {
        uint64_t a = read_64(s) + k2, b = read_64(s + n - 8);
        return mix(turn(b, 37) * m + a, (turn(a, 25) + b) * m, m);
    }
    if (n >= 4) return mix(n + (read_32(s) << 3), read_32(s + n - 4), m);
    if (!n) return k2;
    uint64_t y = s[0] + ((uint64_t)s[n >> 1] << 8), z = n + ((uint64_t)s[n - 1] << 2);
    return stir(y * k2 ^ z * k0) * k2;
}

static uint64_t hash_32(const uint8_t *s, uint64_t n)
{
    uint64_t m = k2 + n * 2, a = read_64(s) * k1, b = read_64(s + 8), c = read_64(s + n - 8) * m,
             d = read_64(s + n - 16) * k2;
    return mix(turn(a + b, 43) + turn(c, 30) + d, a + turn(b + k2, 18) + c, m);
}

static uint64_t hash_64(const uint8_t *s, uint64_t n)
{
    uint64_t m = k2 + n * 2, a = read_64(s) * k2, b = read_64(s + 8), c = read_64(s + n - 8) * m,
             d = read_64(s + n - 16) * k2;
    uint64_t y = turn(a + b, 43) + turn(c, 30) + d, z = mix(y, a + turn(b + k2, 18) + c, m);
    uint64_t e = read_64(s + 16) * m, f = read_64(s + 24), g = (y + read_64(s + n - 32)) * m,
             h = (z + read_64(s + n - 24)) * m;
    return mix(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, m);
}

// 32 bytes, and two seeds.
static HashPair weak(const uint8_t *s, uint64_t a, uint64_t b)
{
    uint64_t z = read_64(s + 24);
    a += read_64(s);
    b          = turn(b + a + z, 21);
    uint64_t c = a;
    a += read_64(s + 8) + read_64(s + 16);
    return (HashPair){a + z, b + turn(a, 44) + c};
}

typedef struct HashState {
    uint64_t x, y, z;
    HashPair v, w;
} HashState;

static void round_of(HashState *h, const uint8_t *s, uint64_t m, uint64_t times)
{
    h->x = turn(h->x + h->y + h->v.a + read_64(s + 8), 37) * m;
    h->y = turn(h->y + h->v.b + read_64(s + 48), 42) * m;
    h->x ^= h->w.b * times;
    h->y += h->v.a * times + read_64(s + 40);
    h->z          = turn(h->z + h->w.a, 33) * m;
    h->v          = weak(s, h->v.b * m, h->x + h->w.a);
    h->w          = weak(s + 32, h->z + h->w.b, h->y + read_64(s + 16));
    uint64_t kept = h->z;
    h->z          = h->x;
    h->x          = kept;
}

uint64_t holo_fingerprint(const uint8_t *s, uint64_t n)
{
    if (n <= 16) return hash_16(s, n);
    if (n <= 32) return hash_32(s, n);
    if (n <= 64) return hash_64(s, n);
    uint64_t       seed = 81;
    HashState      h    = {.x = seed * k2 + read_64(s), .y = seed * k1 + 113};
    const uint8_t *end = s + (n - 1) / 64 * 64, *last = s + n - 64;
    h.z = stir(h.y * k2 + 113) * k2;
    for (; s != end; s += 64) round_of(&h, s, k1, 1);
    uint64_t m = k1 + ((h.z & 0xff) << 1);
    h.w.a += (n - 1) & 63;
    h.v.a += h.w.a;
    h.w.a += h.v.a;
    round_of(&h, last, m, 9);
    return mix(mix(h.v.a, h.w.a, m) + stir(h.y) * k0 + h.z, mix(h.v.b, h.w.b, m) + h.x, m);
}

static HoloStatus infer(HoloCall *call)
{
    if (holo_attr_int(call, "buckets", 0) < 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "there is no number of buckets");
    return holo_out_shape_like(call, 0, HOLO_I64, call->in[0]);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloString *text    = call->in[0]->data;
    int64_t           count   = holo_tensor_count(call->in[0]);
    uint64_t          buckets = (uint64_t)holo_attr_int(call, "buckets", 1);
    for (int64_t i = 0; i < count; i++)
        holo_put_i(call->out[0], i, (int64_t)(holo_fingerprint((const uint8_t *)text[i].data, text[i].size) % buckets));
    return HOLO_OK;
}

const HoloOp holo_ops_text_hash[] = {
    {.name    = "TextHash",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(STRING),
     .infer   = infer,
     .eval    = eval},
    {0},
};
