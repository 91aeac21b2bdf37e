// cpu.c - chooses the table of kernels for this machine: by what the CPU can do, by which wide registers the operating
// system saves when it switches threads, and by what HOLO_CPU allows.
#include "hologram.h"
#include "kernels/kernels.h"

#include "base/cpu.h"
#include "kernels/tiles/tiles.h"

#include <stdlib.h>
#include <string.h>

// LEVELS: the levels of a machine, best first, each with what the CPU must have; the last one runs on every CPU.
// TILE_LEVELS: those with a row in src/kernels/LEVELS. They have loops of their own for portable programs.
#if defined __x86_64__
#include <cpuid.h>

#define LEVELS(X)       \
    X(avx512vbmi, VBMI) \
    X(avx512vnni, VNNI) \
    X(avx512, AVX512)   \
    X(avx2, AVX2)       \
    X(sse2, ANY)

#define TILE_LEVELS(X) \
    X(avx512)          \
    X(avx2)            \
    X(sse2)

// Tables of class bf16, each with the level whose CPUs may have it.
#define BF16_LEVELS(X) X(avx512bf16, avx512vbmi, BF16)

enum { // what a CPU has
    ANY    = 1,
    AVX2   = 2,
    AVX512 = 4,
    VNNI   = 8,
    VBMI   = 16,
    BF16   = 32,
};

static uint64_t saved_by_system(void) // XCR0: register sets that a thread switch saves
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static int ask(void)
{
    const uint32_t avx2 = bit_AVX2, avx512 = bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW;
    const uint32_t base = bit_AVX | bit_FMA | bit_F16C | bit_OSXSAVE;
    uint32_t       a, b, c, d;
    int            has = ANY;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return has;
    if ((c & base) != base || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & avx2) != avx2) return has;
    uint64_t saved = saved_by_system();
    if ((saved & 0x06) == 0x06) has |= AVX2;
    if ((b & avx512) != avx512 || (saved & 0xE6) != 0xE6) return has;
    has |= AVX512;
    if (c & bit_AVX512VNNI) has |= c & bit_AVX512VBMI ? VNNI | VBMI : VNNI;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & bit_AVX512BF16) has |= BF16;
    return has;
}

#elif defined __aarch64__
#define LEVELS(X)   \
    X(neondot, DOT) \
    X(neon, ANY)

#define TILE_LEVELS(X) X(neon)

enum { // what a CPU has
    ANY = 1,
    DOT = 2,
};

static int ask(void)
{
    return ANY | (holo_cpu_has_dot() ? DOT : 0);
}

#elif defined __wasm__
// A module is accepted or refused as a whole, so there is one for each level, and whoever loads it chooses.
enum { // what an engine has
    ANY = 1,
    DOT = 2,
};

#if defined HOLO_RELAXED
#include <wasm_simd128.h>

#define LEVELS(X)      \
    X(relaxeddot, DOT) \
    X(relaxed, ANY)
#define TILE_LEVELS(X) X(relaxed)

// Engines may take the second bytes of the relaxed product as signed or unsigned, and may limit sums of two products to
// 16 bits. The kernels need unsigned bytes and whole sums: an engine has these if the largest sums are right.
static int ask(void)
{
    static const volatile uint32_t rows[] = {0x7F7F7F7F, 0x80808080, 0x7F7F807F}; // of four signed bytes
    int                            has    = ANY | DOT;
    for (int i = 0; i < 3; i++) {
        uint32_t row = rows[i];
        v128_t   sum =
            wasm_i32x4_relaxed_dot_i8x16_i7x16_add(wasm_u32x4_splat(row), wasm_u8x16_splat(255), wasm_i32x4_splat(1));
        int right = 1;
        for (int j = 0; j < 4; j++) right += 255 * (int8_t)(row >> 8 * j);
        if (!wasm_i32x4_all_true(wasm_i32x4_eq(sum, wasm_i32x4_splat(right)))) has = ANY;
    }
    return has;
}
#else
#define LEVELS(X)      X(simd128, ANY)
#define TILE_LEVELS(X) X(simd128)

static int ask(void)
{
    return ANY;
}
#endif

#endif

#ifndef BF16_LEVELS
#define BF16_LEVELS(X)
#endif

#define X(level, needs) extern const HoloKernelTable holo_kernels_##level, holo_kernels_##level##_exact;
LEVELS(X)
#undef X
#define X(level, on, needs) extern const HoloKernelTable holo_kernels_##level;
BF16_LEVELS(X)
#undef X
// A small program may leave out the tables of one class. What class exact computes is right for class fused, too.
#if defined HOLO_FUSED_ALONE
#define CLASSES(level) &holo_kernels_##level
#elif defined HOLO_EXACT_ALONE
#define CLASSES(level) &holo_kernels_##level##_exact
#else
#define CLASSES(level) &holo_kernels_##level, &holo_kernels_##level##_exact
#endif
#define X(level) extern const HoloTiles holo_kernels_tiles_##level;
TILE_LEVELS(X)
#undef X

// Of each level the table of class fused, then that of class exact.
static const HoloKernelTable *const tables[] = {
#define X(level, needs) CLASSES(level),
    LEVELS(X)
#undef X
};

static const HoloTiles *const tile_tables[] = {
#define X(level) &holo_kernels_tiles_##level,
    TILE_LEVELS(X)
#undef X
};

static int cpu_has(void)
{
    // A virtual machine takes long to answer, so it is asked once. All threads that ask at the same time get the same
    // answer.
    static int told;
    int        has = __atomic_load_n(&told, __ATOMIC_RELAXED);
    if (!has) __atomic_store_n(&told, has = ask(), __ATOMIC_RELAXED);
    return has;
}

static bool can_run(const char *level)
{
    static const struct {
        const char *level;
        int         needs;
    } rows[] = {
#define X(level, needs) {#level, needs},
        LEVELS(X)
#undef X
    };
    int has = cpu_has();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(level, rows[i].level)) return has & rows[i].needs;
    return false;
}

enum { TABLE_COUNT = sizeof tables / sizeof *tables, TILE_TABLE_COUNT = sizeof tile_tables / sizeof *tile_tables };

// The index in `tables` of the best level allowed: the one that HOLO_CPU names, or the best below it that the machine
// can run. If HOLO_CPU names no level, the best of all.
static int choose(void)
{
    const char *mask = getenv("HOLO_CPU");
    int         from = 0;
    for (int i = 0; mask && i < TABLE_COUNT; i++)
        if (!strcmp(tables[i]->level, mask)) {
            from = i;
            break;
        }
    while (from < TABLE_COUNT - 1 && !can_run(tables[from]->level)) from++;
    return from;
}

static int chosen(void)
{
    // All threads that get here first find the same answer, so it does not matter which one writes it.
    static int chosen_plus_1;
    int        at = __atomic_load_n(&chosen_plus_1, __ATOMIC_RELAXED) - 1;
    if (at < 0) {
        at = choose();
        __atomic_store_n(&chosen_plus_1, at + 1, __ATOMIC_RELAXED);
    }
    return at;
}

const HoloKernelTable *holo_kernels_at(int index)
{
    for (int i = chosen(); i < TABLE_COUNT; i++)
        if (can_run(tables[i]->level) && index-- == 0) return tables[i];
    return NULL;
}

const HoloKernelTable *holo_kernels(int exact)
{
    int                    at    = chosen();
    const HoloKernelTable *fused = tables[at];
    for (int i = at; exact && i < TABLE_COUNT; i++)
        if (tables[i]->exact) return tables[i];
    return fused;
}

const HoloKernelTable *holo_kernels_bf16(void)
{
    const HoloKernelTable *fused = holo_kernels(0);
#define X(name, on, needs) \
    if (!strcmp(fused->level, #on) && cpu_has() & (needs)) return &holo_kernels_##name;
    BF16_LEVELS(X)
#undef X
    return fused;
}

const HoloTiles *holo_tiles_plainest(void)
{
    return tile_tables[TILE_TABLE_COUNT - 1];
}

// A level that extends another has a name that begins with the other's name: avx512vnni has the tiles of avx512.
static int tiles_chosen(void)
{
    const char *level = tables[chosen()]->level;
    for (int i = 0; i < TILE_TABLE_COUNT; i++)
        if (!strncmp(tile_tables[i]->level, level, strlen(tile_tables[i]->level))) return i;
    return TILE_TABLE_COUNT - 1;
}

const HoloTiles *holo_tiles(void)
{
    return tile_tables[tiles_chosen()];
}

const HoloTiles *holo_tiles_at(int index)
{
    for (int i = tiles_chosen(); i < TILE_TABLE_COUNT; i++)
        if (can_run(tile_tables[i]->level) && index-- == 0) return tile_tables[i];
    return NULL;
}

int holo_tile_type(HoloDtype dtype)
{
    switch (dtype) {
#define X(id, c) \
    case HOLO_##id: return HOLO_TILE_##id;
        HOLO_TILE_TYPE_MAP(X)
#undef X
    default: return -1;
    }
}

const char *holo_cpu_level(void)
{
    return holo_kernels(0)->level;
}
