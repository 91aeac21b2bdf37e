// math_fma.c - a * b + c of doubles, rounded once: in whole numbers of 128 bits.
#include "base/math/fma.h"

#include <math.h>
#include <stdbool.h>

__extension__ typedef unsigned __int128 Wide;

// A number: whole * 2^power, and its sign. The highest bit of `whole` is bit TOP, unless it is 0.
typedef struct Exact {
    Wide whole;
    int  power;
    bool is_negative;
} Exact;

enum { TOP = 124, FRACTION = 52, POWER_LEAST = -1074, POWER_MOST = 1023 };

static int top_bit(Wide x)
{
    uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
}

static Exact lifted(Exact x)
{
    int by = TOP - top_bit(x.whole);
    return (Exact){x.whole << by, x.power - by, x.is_negative};
}

// A finite number that is not 0; the highest bit is where it is.
static Exact exact_of(double x)
{
    uint64_t bits = holo_bits_of_f64(x), fraction = bits & ((UINT64_C(1) << FRACTION) - 1);
    int      power = (int)(bits >> FRACTION & 0x7FF);
    if (power) fraction |= UINT64_C(1) << FRACTION;
    return (Exact){fraction, (power ? power - 1 : 0) + POWER_LEAST, bits >> 63};
}

// x >> by; the lowest bit is 1 if others are lost.
static Wide shifted(Wide x, int by)
{
    if (by <= 0) return x << -by;
    if (by >= 128) return x != 0;
    return x >> by | ((x >> by << by) != x);
}

// The smaller one has many zeros below, so no bit is lost where the two nearly cancel.
static Exact sum_of(Exact x, Exact y)
{
    bool  is_less = x.power < y.power || (x.power == y.power && x.whole < y.whole);
    Exact large = is_less ? y : x, small = is_less ? x : y;
    Wide  less  = shifted(small.whole, large.power - small.power);
    large.whole = large.is_negative == small.is_negative ? large.whole + less : large.whole - less;
    return large;
}

// To the nearest double; of two that are as near, to the even one.
static double rounded(Exact x)
{
    int top = top_bit(x.whole) + x.power, least = top - FRACTION;
    if (least < POWER_LEAST) least = POWER_LEAST;
    Wide     more  = shifted(x.whole, least - x.power - 2); // two bits more than are kept
    uint64_t whole = (uint64_t)(more >> 2), rest = (uint64_t)more & 3;
    whole += rest > 2 || (rest == 2 && whole & 1);
    if (top > POWER_MOST) return x.is_negative ? -INFINITY : INFINITY;
    bool   is_normal = least >= 1 - POWER_MOST;
    double unit =
        holo_f64_of_bits(is_normal ? (uint64_t)(least + POWER_MOST) << FRACTION : UINT64_C(1) << (least - POWER_LEAST));
    double size = (double)whole * unit;
    return x.is_negative ? -size : size;
}

double holo_fma_f64(double a, double b, double c)
{
    bool is_finite = a - a == 0 && b - b == 0;
    if (!is_finite || a == 0 || b == 0) return a * b + c;
    if (c - c != 0) return c; // the product is finite, even if no double is so large
    if (c == 0) return a * b; // which is not 0 but by rounding: then its sign counts
    Exact x = exact_of(a), y = exact_of(b);
    Exact product = {x.whole * y.whole, x.power + y.power, x.is_negative != y.is_negative};
    Exact sum     = sum_of(lifted(product), lifted(exact_of(c)));
    return sum.whole ? rounded(sum) : 0;
}
