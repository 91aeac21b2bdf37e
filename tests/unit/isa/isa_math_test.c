// isa_math_test.c - how far the functions of portable programs are from the truth, in units in the last place, for
// every type; and that every CPU level, and the plain interpreter, have the same bits. The bounds are those of
// docs/isa.md.
#include "format/dtype.h"
#include "isa/isa.h"
#include "isa/isa_number.h"
#include "isa/tile/isa_code.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// ---- functions

static long double rcpl(long double x)
{
    return 1 / x;
}

static long double rsqrtl(long double x)
{
    return 1 / sqrtl(x);
}

static long double sigmoidl(long double x)
{
    return 1 / (1 + expl(-x));
}

typedef struct Function {
    const char *name;
    long double (*one)(long double);
    long double (*two)(long double, long double); // NULL: it has one operand
    double f32, f64;                              // the largest error, in units in the last place
} Function;

static const Function functions[] = {
    {"sqrt", sqrtl, NULL, 0.5, 0.5},  {"rcp", rcpl, NULL, 0.5, 0.5}, {"rsqrt", rsqrtl, NULL, 1.5, 1.5},
    {"exp", expl, NULL, 1.5, 1},      {"log", logl, NULL, 1, 1},     {"log2", log2l, NULL, 0.51, 2},
    {"log10", log10l, NULL, 0.51, 1}, {"sin", sinl, NULL, 3, 1},     {"cos", cosl, NULL, 3, 1},
    {"tan", tanl, NULL, 4, 1},        {"asin", asinl, NULL, 3, 1},   {"acos", acosl, NULL, 1.5, 1},
    {"atan", atanl, NULL, 2.5, 1},    {"tanh", tanhl, NULL, 2.5, 1}, {"sigmoid", sigmoidl, NULL, 2.5, 2.5},
    {"erf", erfl, NULL, 1.5, 1.5},    {"pow", NULL, powl, 0.51, 1},
};

// ---- types

typedef struct Type {
    HoloDtype dtype;
    int size, digits, lowest, top; // bits of the significand; numbers are at least 2^lowest apart, and below 2^top
} Type;

static const Type types[] = {
    {HOLO_F32, 4, 24, -149, 128},
    {HOLO_F64, 8, 53, -1074, 1024},
    {HOLO_F16, 2, 11, -24, 16},
    {HOLO_BF16, 2, 8, -133, 128},
};

static double bound_of(const Function *f, const Type *type)
{
    if (type->dtype == HOLO_F64) return f->f64;
    // The others are f32, rounded once more: an error of f32 is the smaller by the digits that are lost.
    return type->dtype == HOLO_F32 ? f->f32 : 0.5 + ldexp(f->f32, type->digits - 24);
}

static double value_of(const Type *type, const uint8_t *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)type->size); // little-endian, as everywhere
    return holo_f64_of_bits(holo_isa_convert_bits(HOLO_F64, type->dtype, bits));
}

// The one result that is not what it should be: a sigmoid below the normal numbers of f32 is 0.
static bool is_flushed(const Function *f, const Type *type, double got, long double truth)
{
    return f->one == sigmoidl && type->dtype != HOLO_F64 && got == 0 && !signbit(got) && truth < FLT_MIN;
}

// The distance of a result from the truth. What is 2^top or more counts as 2^top.
static double error_of(const Type *type, double got, long double truth)
{
    if (truth != truth || got != got) return truth != truth && got != got ? 0 : INFINITY;
    if (!signbit(got) != !signbit(truth)) return INFINITY;
    long double end = ldexpl(1, type->top), a = fabsl((long double)got), b = fabsl(truth);
    int         exponent;
    a = a < end ? a : end, b = b < end ? b : end;
    frexpl(b < end ? b : end / 2, &exponent);
    exponent = b == 0 || exponent - type->digits < type->lowest ? type->lowest : exponent - type->digits;
    return (double)(fabsl(a - b) / ldexpl(1, exponent));
}

// ---- arguments

enum { RANDOM = 6000, COUNT = 65536 + 7 * RANDOM + 8192 };

typedef struct Values {
    const Type *type;
    uint8_t    *data;
    int64_t     count;
} Values;

static void add_bits(Values *v, uint64_t bits)
{
    assert_true(v->count < COUNT);
    memcpy(v->data + v->count++ * v->type->size, &bits, (size_t)v->type->size);
}

// A number, its neighbors, and the same below zero.
static void add_near(Values *v, double x)
{
    uint64_t bits = holo_isa_bits_of_float(v->type->dtype, x), sign = UINT64_C(1) << (v->type->size * 8 - 1);
    for (int i = -1; i <= 1; i++) {
        uint64_t near = (bits + (uint64_t)(int64_t)i) & (sign - 1);
        add_bits(v, near), add_bits(v, near | sign);
    }
}

// Where functions bend, overflow, underflow, or have arguments to reduce.
static void add_special(Values *v)
{
    static const double marks[] = {
        0,       1,       2,      3,      10,       0.5,     0.25,     1e-3,     1e-5,   INFINITY, 88.72284,  87.33654,
        103.972, 709.783, 708.4,  745.13, 0x1.6p+6, 16.6355, 11.08986, 17.32867, 36.736, 3.8325,   5.9216,    9.0109,
        19.0615, 0x1p24,  0x1p53, 1e10,   1e22,     0x1p100, 0x1p127,  0x1p1000, 0.4375, 2.4375,   0.7071067, 1.4142135,
    };
    for (int i = 0; i < HOLO_COUNT(marks); i++) add_near(v, marks[i]);
    for (int i = v->type->lowest; i <= v->type->top; i++) add_near(v, ldexp(1, i)); // subnormal ones, too
    for (int i = 1; i < 200; i++) add_near(v, i * 1.5707963267948966), add_near(v, i);
    add_bits(v, holo_isa_bits_of_float(v->type->dtype, NAN));
}

static void add_random(Values *v, uint64_t seed)
{
    HoloRandom random = {seed};
    HoloDtype  dtype  = v->type->dtype;
    for (int i = 0; i < RANDOM; i++) {
        double unit = holo_random_unit(&random) * 2 - 1;
        add_bits(v, holo_random_next(&random)); // of any size
        add_bits(v, holo_isa_bits_of_float(dtype, unit));
        add_bits(v, holo_isa_bits_of_float(dtype, unit * 10));
        add_bits(v, holo_isa_bits_of_float(dtype, unit * 100));
        add_bits(v, holo_isa_bits_of_float(dtype, unit * 60000));
        add_bits(v, holo_isa_bits_of_float(dtype, unit * 1e9));
        add_bits(v, holo_isa_bits_of_float(dtype, 1 + unit * 0.02));
    }
}

static Values values(HoloArena *arena, const Type *type, uint64_t seed)
{
    Values v = {type, holo_arena_take(arena, (size_t)COUNT * (size_t)type->size), 0};
    assert_non_null(v.data);
    add_special(&v);
    add_random(&v, seed);
    for (uint64_t bits = 0; type->size == 2 && bits < 65536; bits++) add_bits(&v, bits); // every number there is
    return v;
}

// Second operands: each of the special ones comes to each, and small ones, for which results are finite, come often.
static Values partners(HoloArena *arena, const Values *x)
{
    Values     v      = {x->type, holo_arena_take(arena, (size_t)COUNT * (size_t)x->type->size), 0};
    HoloRandom random = {99};
    assert_non_null(v.data);
    while (v.count < x->count) {
        uint64_t any = holo_random_next(&random), bits = 0;
        double   small = (holo_random_unit(&random) - 0.5) * (any & 4 ? 4 : 40);
        if (any & 1) {
            memcpy(&bits, x->data + (int64_t)(any >> 8) % x->count * x->type->size, (size_t)x->type->size);
            add_bits(&v, bits);
        } else {
            add_bits(&v, holo_isa_bits_of_float(x->type->dtype, any & 2 ? rint(small) : small));
        }
    }
    return v;
}

// ---- runs

static HoloIsaProgram program_of(HoloArena *arena, const Function *f, HoloDtype dtype)
{
    HoloIsaBuilder b;
    HoloIsaProgram p;
    HoloError      error = {0};
    holo_isa_begin(&b, arena, f->name);
    int i = holo_isa_special(&b, HOLO_I64, HOLO_ISA_SPECIAL_GLOBAL_ID);
    int x = holo_isa_load(&b, HOLO_ISA_LD, holo_isa_param(&b, "x", dtype, HOLO_ISA_IN), i);
    int y = holo_isa_load(&b, HOLO_ISA_LD, holo_isa_param(&b, "y", dtype, HOLO_ISA_IN), i);
    int z = holo_isa_value(&b, holo_isa_op_find(f->name, (int)strlen(f->name)), dtype, x, f->two ? y : 0, 0);
    holo_isa_store(&b, HOLO_ISA_ST, holo_isa_param(&b, "z", dtype, HOLO_ISA_OUT), i, z);
    if (holo_isa_finish(&b, &p, &error)) fail_msg("%s: %s", f->name, error.text);
    return p;
}

static void run_at(const HoloIsaProgram *p, const HoloTiles *tiles, const HoloIsaArg *args)
{
    HoloIsaCode  *code   = NULL;
    HoloIsaFrame *frame  = NULL;
    HoloError     error  = {0};
    HoloIsaLaunch launch = {{1, 1, 1}, {(uint32_t)args[0].count, 1, 1}, 0};
    if (holo_isa_code_create_for(p, tiles, &code, &error) || holo_isa_frame_create(code, 1, &frame, &error) ||
        holo_isa_run(code, frame, NULL, &launch, args, &error))
        fail_msg("%s at level %s: %s", p->name, tiles->level, error.text);
    holo_isa_frame_destroy(frame);
    holo_isa_code_destroy(code);
}

static void expect_same(const Type *type, const char *what, const char *where, int64_t count, const uint8_t *a,
                        const uint8_t *b)
{
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *x = a + i * type->size, *y = b + i * type->size;
        double         u = value_of(type, x), v = value_of(type, y);
        if (memcmp(x, y, (size_t)type->size) && (u == u || v == v))
            fail_msg("%s.%s at %s, number %lld: %a, not %a", what, holo_dtype_name(type->dtype), where, (long long)i, v,
                     u);
    }
}

static double judge(const Function *f, const Type *type, const Values *x, const Values *y, const uint8_t *z)
{
    double largest = 0, bound = bound_of(f, type);
    for (int64_t i = 0; i < x->count; i++) {
        double      a = value_of(type, x->data + i * type->size), b = value_of(type, y->data + i * type->size);
        double      got   = value_of(type, z + i * type->size);
        long double truth = f->two ? f->two(a, b) : f->one(a);
        double      error = is_flushed(f, type, got, truth) ? 0 : error_of(type, got, truth);
        if (!(error <= bound))
            fail_msg("%s.%s(%a, %a) is %a: %g units in the last place from %La", f->name, holo_dtype_name(type->dtype),
                     a, b, got, error, truth);
        largest = error > largest ? error : largest;
    }
    return largest;
}

static double check(const Function *f, const Type *type)
{
    HoloArena      arena = {0};
    Values         x = values(&arena, type, 1), y = partners(&arena, &x);
    size_t         bytes = (size_t)x.count * (size_t)type->size;
    uint8_t       *plain = holo_arena_take(&arena, bytes), *fast = holo_arena_take(&arena, bytes);
    HoloIsaProgram p      = program_of(&arena, f, type->dtype);
    HoloIsaArg     args[] = {{x.data, x.count, 0}, {y.data, y.count, 0}, {plain, x.count, 0}};
    HoloIsaLaunch  launch = {{1, 1, 1}, {(uint32_t)x.count, 1, 1}, 0};
    HoloError      error  = {0};
    assert_true(plain && fast);
    if (holo_isa_reference(&p, &launch, args, &error)) fail_msg("%s: %s", f->name, error.text);
    args[2].data = fast;
    for (int i = 0; holo_tiles_at(i); i++) {
        memset(fast, 0x55, bytes);
        run_at(&p, holo_tiles_at(i), args);
        expect_same(type, f->name, holo_tiles_at(i)->level, x.count, plain, fast);
    }
    bool   is_judged = type->dtype != HOLO_F64 || LDBL_MANT_DIG > DBL_MANT_DIG; // else there is nothing to compare with
    double largest   = is_judged ? judge(f, type, &x, &y, plain) : 0;
    holo_arena_deinit(&arena);
    return largest;
}

static void test_functions(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(functions); i++) {
        printf("%-8s", functions[i].name);
        for (int k = 0; k < HOLO_COUNT(types); k++)
            printf("  %s %.4f", holo_dtype_name(types[k].dtype), check(&functions[i], &types[k]));
        printf("\n");
    }
}

// Every instruction of one or two floats and nothing else that is called a function in the table (SQRT to POW) is
// above.
static void test_none_is_left_out(void **state)
{
    (void)state;
    int count = 0;
    for (unsigned op = HOLO_ISA_SQRT; op <= HOLO_ISA_POW; op++) count += holo_isa_op(op) != NULL;
    assert_int_equal(count, HOLO_COUNT(functions));
    for (int i = 0; i < HOLO_COUNT(functions); i++) {
        HoloIsaOp op = holo_isa_op_find(functions[i].name, (int)strlen(functions[i].name));
        assert_true(op >= HOLO_ISA_SQRT && op <= HOLO_ISA_POW);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions), cmocka_unit_test(test_none_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
