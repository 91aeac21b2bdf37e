// winograd.cu - the transforms around 3x3 convolutions of f32 by tiles of 2x2 pixels: Y = A' ((G g G') * (B' d B)) A for the points 0, 1,
// -1 and infinity. Between them 16 products of matrices sum over channels; G g G' is in the packed weights.
//
// Bound by memory: a thread has four neighbouring channels of a tile, and a warp reads and writes 512 bytes in a row. There are
// only additions, so a number of the image counts for no pixel that does not see it: a NaN stays where it belongs.
#include "device.cuh"
#include "winograd_params.h"

enum { SIDE = HOLO_CUDA_WINOGRAD_SIDE, SEEN = SIDE + 2 };

INL float4 plus(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

INL float4 minus(float4 a, float4 b)
{
    return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

// The image and the first pixel of a tile.
struct Tile {
    int64_t image;
    int     y, x;
};

INL Tile tile_at(int number, int rows, int columns)
{
    int line = number / columns, image = line / rows;
    return Tile{image, (line - image * rows) * SIDE, (number - line * columns) * SIDE};
}

// B' d.
INL void seen(const float4 (&d)[SEEN], float4 (&out)[SEEN])
{
    out[0] = minus(d[0], d[2]);
    out[1] = plus(d[1], d[2]);
    out[2] = minus(d[2], d[1]);
    out[3] = minus(d[1], d[3]);
}

// A' m.
INL void made(const float4 (&m)[SEEN], float4 (&out)[SIDE])
{
    out[0] = plus(plus(m[0], m[1]), m[2]);
    out[1] = minus(minus(m[1], m[2]), m[3]);
}

// What is outside an image is 0.
extern "C" __global__ void __launch_bounds__(256) winograd_in(const __grid_constant__ HoloCudaWinogradIn p)
{
    in_turn();
    int     fours = p.channels / 4;
    int64_t i     = thread_number();
    if (i >= (int64_t)p.tiles * fours) return;
    int          tile = (int)i / fours, channel = ((int)i - tile * fours) * 4;
    Tile         at   = tile_at(p.first + tile, p.rows, p.columns);
    const float *from = p.from + at.image * p.height * p.width * p.channels + channel;
    float4       lines[SEEN][SEEN]; // [column][place]
#pragma unroll
    for (int c = 0; c < SEEN; c++) {
        float4 d[SEEN];
        int    x = at.x - p.pad_w + c;
#pragma unroll
        for (int r = 0; r < SEEN; r++) {
            int  y      = at.y - p.pad_h + r;
            bool inside = y >= 0 && y < p.height && x >= 0 && x < p.width;
            d[r]        = inside ? *(const float4 *)(from + ((int64_t)y * p.width + x) * p.channels) : make_float4(0, 0, 0, 0);
        }
        seen(d, lines[c]);
    }
#pragma unroll
    for (int r = 0; r < SEEN; r++) {
        float4 d[SEEN] = {lines[0][r], lines[1][r], lines[2][r], lines[3][r]}, out[SEEN];
        seen(d, out);
#pragma unroll
        for (int c = 0; c < SEEN; c++)
            *(float4 *)(p.to + ((int64_t)(r * SEEN + c) * p.tiles + tile) * p.channels + channel) = out[c];
    }
}

// Much code, which is there once, and not to be read where it is not needed.
__device__ __noinline__ float end_rare(float x, float more, int act, int how, float low, float high)
{
    return end_of(x, more, act, how, low, high);
}

// No function and relu are limits, too: cuda_winograd.c sees to it.
INL float end_limited(float x, float more, int how, float low, float high)
{
    if (how == HOLO_CUDA_MORE_ADD_BEFORE) x += more;
    x = clip(x, low, high);
    if (how == HOLO_CUDA_MORE_ADD_AFTER) x += more;
    if (how == HOLO_CUDA_MORE_MUL_AFTER) x *= more;
    return x;
}

INL float end_one(const HoloCudaWinogradOut &p, float x, float more, bool is_limited)
{
    return is_limited ? end_limited(x, more, p.more_how, p.low, p.high) : end_rare(x, more, p.act, p.more_how, p.low, p.high);
}

INL float4 end_four(const HoloCudaWinogradOut &p, float4 x, float4 bias, int64_t at, bool is_limited)
{
    float4 more = p.more_how ? *(const float4 *)(p.more + at) : make_float4(0, 0, 0, 0);
    return make_float4(end_one(p, x.x + bias.x, more.x, is_limited), end_one(p, x.y + bias.y, more.y, is_limited),
                       end_one(p, x.z + bias.z, more.z, is_limited), end_one(p, x.w + bias.w, more.w, is_limited));
}

extern "C" __global__ void __launch_bounds__(256) winograd_out(const __grid_constant__ HoloCudaWinogradOut p)
{
    in_turn();
    int     fours = p.filters / 4;
    int64_t i     = thread_number();
    if (i >= (int64_t)p.tiles * fours) return;
    int    tile = (int)i / fours, filter = ((int)i - tile * fours) * 4;
    Tile   at   = tile_at(p.first + tile, p.rows, p.columns);
    float4 lines[SEEN][SIDE]; // [column][line of the tile]
#pragma unroll
    for (int c = 0; c < SEEN; c++) {
        float4 m[SEEN];
#pragma unroll
        for (int r = 0; r < SEEN; r++)
            m[r] = *(const float4 *)(p.from + ((int64_t)(r * SEEN + c) * p.tiles + tile) * p.filters + filter);
        made(m, lines[c]);
    }
    float4 bias       = p.bias ? *(const float4 *)(p.bias + filter) : make_float4(0, 0, 0, 0);
    bool   is_limited = p.act <= HOLO_CUDA_ACT_CLIP && p.more_how <= HOLO_CUDA_MORE_MUL_AFTER;
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
        float4 m[SEEN] = {lines[0][r], lines[1][r], lines[2][r], lines[3][r]}, out[SIDE];
        made(m, out);
#pragma unroll
        for (int c = 0; c < SIDE; c++) {
            int     y     = at.y + r, x = at.x + c;
            int64_t pixel = (at.image * p.height + y) * p.width + x, to = pixel * p.filters + filter;
            if (y < p.height && x < p.width) *(float4 *)(p.to + to) = end_four(p, out[c], bias, to, is_limited);
        }
    }
}
