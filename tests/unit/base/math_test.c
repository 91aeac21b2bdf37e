// math_test.c - elementary functions: errors against the C library's long double, special values, and the bits of the
// results on a fixed grid, which must be the same on every machine.
#include "base/base.h"
#include "base/bits.h"
#include "base/math/fma.h"
#include "base/math/math.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static long double sigmoidl(long double x)
{
    return 1 / (1 + expl(-x));
}

static long double softplusl(long double x)
{
    return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x)));
}

// clang-format off
// name, largest error in ulp, a range of ordinary arguments, the hash of the results on the grid
#define FUNCTIONS(X)                             \
    X(exp, 1, -10, 10, 0x69fd4099802f5698)       \
    X(expm1, 1, -10, 10, 0x0f0e2235c03d0d56)     \
    X(sigmoid, 2.5, -10, 10, 0xc83937ab4cd54b1e) \
    X(sinh, 1, -10, 10, 0x9bed271ab2ffd9f9)      \
    X(cosh, 1.5, -10, 10, 0x8ec7f564782cc4f9)    \
    X(tanh, 1, -10, 10, 0xad12717500d59b5b)      \
    X(log, 1, 0.5, 2, 0xab06d71e5ac5c611)        \
    X(log1p, 1, -0.5, 2, 0x96de0b5e2c38ec53)     \
    X(log10, 1, 0.5, 2, 0xb879f95d0c72194b)      \
    X(softplus, 2, -10, 10, 0xc76136f7d002ea0c)  \
    X(asinh, 1, -10, 10, 0x9683bc1a85d1bae2)     \
    X(acosh, 1, 1, 10, 0x22b4c1dc807b92df)       \
    X(atanh, 1, -1, 1, 0x765b9b4af430d349)       \
    X(sin, 1, -100, 100, 0x6bf68f4997aa3582)     \
    X(cos, 1, -100, 100, 0x6c08b6588cc1d218)     \
    X(tan, 1, -100, 100, 0x01f49dcfb691765d)     \
    X(asin, 1, -1, 1, 0xc527e02101feea72)        \
    X(acos, 1, -1, 1, 0x0964e37ed74212c9)        \
    X(atan, 1, -10, 10, 0xde133cb815092ebd)      \
    X(erf, 1, -7, 7, 0x96976ff07915566d)

// clang-format on

typedef struct Function {
    const char *name;
    double (*ours)(double);
    long double (*theirs)(long double);
    double   bound, low, high;
    uint64_t hash;
} Function;

static const Function functions[] = {
#define X(name, bound, low, high, hash) {#name, holo_##name, name##l, bound, low, high, UINT64_C(hash)},
    FUNCTIONS(X)
#undef X
};

// ---- accuracy

// The distance of a result from the truth, in units of its last place.
static double error_of(double got, long double truth)
{
    double near = (double)truth;
    if (near != near || isinf(near))
        return holo_bits_of_f64(got) == holo_bits_of_f64(near != near ? NAN : near) ? 0 : INFINITY;
    int exponent;
    frexp(near, &exponent);
    exponent = exponent < -1021 || near == 0 ? -1021 : exponent;
    return (double)(fabsl(got - truth) / ldexpl(1, exponent - DBL_MANT_DIG));
}

static void check(const Function *f, double x)
{
    long double truth = f->theirs(x);
    double      bound = f->bound + (fabsl(truth) < 0x1p-1000L ? 0.5 : 0);
    double      error = error_of(f->ours(x), truth);
    if (!(error <= bound)) fail_msg("%s(%a) is %a: %g ulp from %La", f->name, x, f->ours(x), error, truth);
}

static void test_accuracy(void **state)
{
    (void)state;
    if (LDBL_MANT_DIG <= DBL_MANT_DIG) skip(); // nothing to compare with
    for (int i = 0; i < HOLO_COUNT(functions); i++) {
        const Function *f      = &functions[i];
        HoloRandom      random = {1};
        for (int k = 0; k < 20000; k++) {
            double unit = holo_random_unit(&random);
            check(f, f->low + (f->high - f->low) * unit);
            check(f, holo_f64_of_bits(holo_random_next(&random))); // of any size
            check(f, (k & 1 ? -0.02 : 0.02) * unit);
            check(f, 1 + 0.02 * (unit - 0.5));
        }
    }
}

// Where the next cell of a table begins, and around multiples of pi / 64.
static void test_accuracy_at_edges(void **state)
{
    (void)state;
    if (LDBL_MANT_DIG <= DBL_MANT_DIG) skip();
    for (int i = 0; i < HOLO_COUNT(functions); i++) {
        for (int k = -4000; k <= 4000; k++) {
            double edges[] = {k / 256.0, k * 0.0027076061740622863, k * 0.02454369260617026, k * 0.19634954084936207};
            for (int e = 0; e < HOLO_COUNT(edges); e++) {
                check(&functions[i], nextafter(edges[e], -INFINITY));
                check(&functions[i], edges[e]);
                check(&functions[i], nextafter(edges[e], INFINITY));
            }
        }
        check(&functions[i], 6381956970095103 * 0x1p797); // next to a multiple of pi / 2 as no other double
        check(&functions[i], 5319372648326541 * 0x1p-34 * 0x1p255);
    }
}

static void test_pow_accuracy(void **state)
{
    (void)state;
    if (LDBL_MANT_DIG < 64) skip();
    HoloRandom random = {2};
    for (int k = 0; k < 100000; k++) {
        double x = holo_f64_of_bits(holo_random_next(&random) >> 1), unit = 2 * holo_random_unit(&random) - 1;
        if (k & 1) x = 1 + 0.5 * unit;
        if (!(x <= DBL_MAX)) continue;
        double      y     = unit * (k & 2 ? 10 : 745 / fabs(log(x)));
        long double truth = powl(x, y);
        double      error = error_of(holo_pow(x, y), truth), bound = fabsl(truth) < 0x1p-1000L ? 1.5 : 1;
        if (!(error <= bound)) fail_msg("pow(%a, %a) is %a: %g ulp from %La", x, y, holo_pow(x, y), error, truth);
    }
}

// ---- special values

static void expect(const char *what, double x, double got, double wanted)
{
    if (holo_bits_of_f64(got) != holo_bits_of_f64(wanted)) fail_msg("%s(%a) is %a, not %a", what, x, got, wanted);
}

static const struct {
    double (*f)(double);
    const char *name;
    double      x, y;
} special[] = {
#define C(name, x, y)            \
    {                            \
        holo_##name, #name, x, y \
    }
    C(exp, INFINITY, INFINITY),
    C(exp, -INFINITY, 0),
    C(exp, -0.0, 1),
    C(exp, 709.7827128933841, INFINITY),
    C(exp, -745.1332191019412, 0),
    C(exp, -745.13, 0x1p-1074),
    C(expm1, INFINITY, INFINITY),
    C(expm1, -INFINITY, -1),
    C(expm1, -0.0, -0.0),
    C(expm1, -0x1p-1074, -0x1p-1074),
    C(expm1, 710, INFINITY),
    C(sigmoid, INFINITY, 1),
    C(sigmoid, -INFINITY, 0),
    C(sigmoid, 0, 0.5),
    C(sinh, INFINITY, INFINITY),
    C(sinh, -INFINITY, -INFINITY),
    C(sinh, -0.0, -0.0),
    C(sinh, 0x1p-1074, 0x1p-1074),
    C(sinh, -711, -INFINITY),
    C(cosh, -INFINITY, INFINITY),
    C(cosh, 0, 1),
    C(cosh, 711, INFINITY),
    C(tanh, INFINITY, 1),
    C(tanh, -INFINITY, -1),
    C(tanh, -0.0, -0.0),
    C(tanh, 0x1p-1074, 0x1p-1074),
    C(log, 0, -INFINITY),
    C(log, -0.0, -INFINITY),
    C(log, 1, 0),
    C(log, INFINITY, INFINITY),
    C(log, -1, NAN),
    C(log, -INFINITY, NAN),
    C(log1p, -1, -INFINITY),
    C(log1p, -0.0, -0.0),
    C(log1p, -2, NAN),
    C(log1p, INFINITY, INFINITY),
    C(log1p, -0x1p-1074, -0x1p-1074),
    C(log10, 1000, 3),
    C(log10, 1e22, 22),
    C(log10, 0, -INFINITY),
    C(log10, -1, NAN),
    C(softplus, INFINITY, INFINITY),
    C(softplus, -INFINITY, 0),
    C(asinh, -0.0, -0.0),
    C(asinh, -INFINITY, -INFINITY),
    C(acosh, 1, 0),
    C(acosh, 0.5, NAN),
    C(acosh, INFINITY, INFINITY),
    C(atanh, 1, INFINITY),
    C(atanh, -1, -INFINITY),
    C(atanh, 1.5, NAN),
    C(atanh, -0.0, -0.0),
    C(sin, -0.0, -0.0),
    C(sin, INFINITY, NAN),
    C(sin, 0x1p-1074, 0x1p-1074),
    C(cos, -INFINITY, NAN),
    C(cos, -0.0, 1),
    C(tan, -0.0, -0.0),
    C(tan, INFINITY, NAN),
    C(asin, -0.0, -0.0),
    C(asin, 1.5, NAN),
    C(asin, 1, 0x1.921fb54442d18p0),
    C(acos, 1, 0),
    C(acos, -1, 0x1.921fb54442d18p1),
    C(acos, -1.5, NAN),
    C(atan, -0.0, -0.0),
    C(atan, INFINITY, 0x1.921fb54442d18p0),
    C(atan, -INFINITY, -0x1.921fb54442d18p0),
    C(erf, INFINITY, 1),
    C(erf, -INFINITY, -1),
    C(erf, -0.0, -0.0),
#undef C
};

static void test_special(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(special); i++)
        expect(special[i].name, special[i].x, special[i].f(special[i].x), special[i].y);
    for (int i = 0; i < HOLO_COUNT(functions); i++) {
        expect(functions[i].name, NAN, functions[i].ours(NAN), NAN);
        expect(functions[i].name, -NAN, functions[i].ours(copysign(NAN, -1)), NAN);
    }
}

// pow of special values, as the C library has them.
static void test_special_powers(void **state)
{
    (void)state;
    static const double values[] = {0,          -0.0,    1,        -1,      0.5,       -0.5,      2,
                                    -2,         3,       -3,       2.5,     -2.5,      INFINITY,  -INFINITY,
                                    NAN,        1e300,   -1e300,   1e16,    0x1p-1074, -7,        7,
                                    -0x1p-1074, DBL_MAX, -DBL_MAX, DBL_MIN, 0x1p53,    0x1p53 - 1};
    for (int i = 0; i < HOLO_COUNT(values); i++)
        for (int k = 0; k < HOLO_COUNT(values); k++) {
            double x = values[i], y = values[k], power = pow(x, y);
            if (error_of(holo_pow(x, y), power) > 1 || signbit(holo_pow(x, y)) != (power == power && signbit(power)))
                fail_msg("pow(%a, %a) is %a, not %a", x, y, holo_pow(x, y), power);
        }
}

// ---- the same bits everywhere

static uint64_t mix(uint64_t hash, double x)
{
    return (hash ^ holo_bits_of_f64(x)) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
}

// The grid: the function's range in steps that are exact, and doubles of all sizes.
static uint64_t hash_of(const Function *f)
{
    uint64_t hash = 0;
    for (int k = 0; k <= 4096; k++) hash = mix(hash, f->ours(f->low + (f->high - f->low) * 0x1p-12 * k));
    for (int k = 0; k < 4096; k++)
        hash = mix(hash, f->ours(holo_f64_of_bits(UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)k)));
    return hash;
}

static double power_root(double x)
{
    return holo_pow(fabs(x), 0.7);
}

static double power_of(double x)
{
    return holo_pow(1.25, x);
}

static double power_odd(double x)
{
    return holo_pow(x, 3);
}

static const Function powers[] = {
    {"pow(|x|, 0.7)", power_root, NULL, 0, -8, 8, UINT64_C(0x73630dba8ed91f95)},
    {"pow(1.25, x)", power_of, NULL, 0, -8, 8, UINT64_C(0x242314dc2d7286a2)},
    {"pow(x, 3)", power_odd, NULL, 0, -8, 8, UINT64_C(0x90e1d33e35e1050a)},
};

static int count_other_bits(const Function *f, int count)
{
    int wrong = 0;
    for (; count > 0; count--, f++) {
        uint64_t hash = hash_of(f);
        if (hash == f->hash) continue;
        print_error("%s: 0x%016llx\n", f->name, (unsigned long long)hash);
        wrong++;
    }
    return wrong;
}

static void test_bits(void **state)
{
    (void)state;
    int wrong = count_other_bits(functions, HOLO_COUNT(functions)) + count_other_bits(powers, HOLO_COUNT(powers));
    if (wrong) fail_msg("%d functions give other bits here than elsewhere", wrong);
}

// Numbers of few bits, so that products often lie half-way between two floats, with any exponents; and special ones.
static float fma_operand(uint64_t *seed)
{
    static const float special[] = {0, -0.0f, 1, 0x1p-149f, -0x1p-126f, FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN};
    uint64_t           bits = *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    if (bits >> 60 == 0) return special[(bits >> 40) % HOLO_COUNT(special)];
    uint32_t kept     = (bits >> 58 & 3) == 0 ? 0x7fffff : 0x7ff800; // all bits of the fraction, or twelve
    uint32_t exponent = (bits >> 57 & 1) ? (uint32_t)(bits >> 32 & 255) % 255 : 115 + (uint32_t)(bits >> 32 & 255) % 26;
    return holo_f32_of_bits((uint32_t)(bits >> 63) << 31 | exponent << 23 | ((uint32_t)(bits >> 8) & kept));
}

static void test_fma(void **state)
{
    (void)state;
    uint64_t seed = 7;
    assert_float_equal(holo_fma_f32(1 + 0x1p-12f, 1 + 0x1p-12f, 0x1p-60f), 1 + 0x1p-11f + 0x1p-23f, 0);
    assert_float_equal(holo_fma_f32(1 + 0x1p-12f, 1 + 0x1p-12f, -0x1p-60f), 1 + 0x1p-11f, 0);
    for (int i = 0; i < 2000000; i++) {
        float a = fma_operand(&seed), b = fma_operand(&seed), c = fma_operand(&seed);
        float want = fmaf(a, b, c), got = holo_fma_f32(a, b, c);
        if (holo_bits_of_f32(want) != holo_bits_of_f32(got) && !(isnan(want) && isnan(got)))
            fail_msg("%a * %a + %a is %a, not %a", (double)a, (double)b, (double)c, (double)want, (double)got);
    }
}

// Bits of doubles whose products and sums come close to each other, or leave the normal numbers.
static double fma_wide_operand(uint64_t *seed, int around)
{
    uint64_t bits = holo_random_next((HoloRandom *)(void *)seed), few = bits >> 60;
    uint64_t power = (uint64_t)(around + (int)(bits >> 56 & 15));
    if (few == 0) bits &= ~UINT64_C(0) << 30; // few bits: products are exact, and lie half-way
    if (few == 1) bits |= (UINT64_C(1) << 30) - 1;
    return holo_f64_of_bits((bits & UINT64_C(0x800FFFFFFFFFFFFF)) | (power & 0x7FF) << 52);
}

// The C library of this system rounds right.
static void test_fma_of_doubles(void **state)
{
    (void)state;
    static const int    around[][3] = {{1016, 1016, 1016}, {1016, 1016, 970}, {0, 1023, 0},
                                       {500, 500, 0},      {480, 500, 0},     {1500, 1530, 2030}};
    static const double special[]   = {0.0,      -0.0,      1,  -1, 0x1p-1074, -0x1p-1022, 0x1.fffffffffffffp1023,
                                       INFINITY, -INFINITY, NAN};
    uint64_t            seed        = 1;
    for (int i = 0; i < 300000; i++) {
        const int *at = around[i % HOLO_COUNT(around)];
        double     a = fma_wide_operand(&seed, at[0]), b = fma_wide_operand(&seed, at[1]),
               c = fma_wide_operand(&seed, at[2]);
        if (i % 3 == 0) c = -a * b; // what rounding lost is all that is left
        double want = fma(a, b, c), got = holo_fma_f64(a, b, c);
        if (holo_bits_of_f64(want) != holo_bits_of_f64(got) && !(isnan(want) && isnan(got)))
            fail_msg("fma(%a, %a, %a) is %a, not %a", a, b, c, want, got);
    }
    for (int i = 0; i < HOLO_COUNT(special); i++)
        for (int j = 0; j < HOLO_COUNT(special); j++)
            for (int k = 0; k < HOLO_COUNT(special); k++) {
                double want = fma(special[i], special[j], special[k]),
                       got  = holo_fma_f64(special[i], special[j], special[k]);
                if (holo_bits_of_f64(want) != holo_bits_of_f64(got) && !(isnan(want) && isnan(got)))
                    fail_msg("fma(%a, %a, %a) is %a, not %a", special[i], special[j], special[k], want, got);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fma_of_doubles),    cmocka_unit_test(test_fma),          cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_accuracy_at_edges), cmocka_unit_test(test_pow_accuracy), cmocka_unit_test(test_special),
        cmocka_unit_test(test_special_powers),    cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
