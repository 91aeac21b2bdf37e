// cpu.c - which table of kernels runs here: what the CPU can do, what the operating system keeps of
// it (wide registers must survive a thread switch), and what HOLO_CPU allows.
#include "hologram.h"
#include "kernels/kernels.h"

#include "base/cpu.h"
#include "kernels/tiles/tiles.h"

#include <stdlib.h>
#include <string.h>

#if defined __x86_64__
#include <cpuid.h>

extern const HoloKernelTable holo_kernels_sse2, holo_kernels_sse2_exact, holo_kernels_avx2, holo_kernels_avx2_exact,
    holo_kernels_avx512, holo_kernels_avx512_exact, holo_kernels_avx512vnni, holo_kernels_avx512vnni_exact,
    holo_kernels_avx512vbmi, holo_kernels_avx512vbmi_exact;

// Best level first, and in each class; the last is what every machine has.
static const HoloKernelTable *const tables[] = {
    &holo_kernels_avx512vbmi, &holo_kernels_avx512vbmi_exact, &holo_kernels_avx512vnni, &holo_kernels_avx512vnni_exact,
    &holo_kernels_avx512,     &holo_kernels_avx512_exact,     &holo_kernels_avx2,       &holo_kernels_avx2_exact,
    &holo_kernels_sse2,       &holo_kernels_sse2_exact,
};

extern const HoloTiles        holo_kernels_tiles_sse2, holo_kernels_tiles_avx2, holo_kernels_tiles_avx512;
static const HoloTiles *const tile_tables[] = {
    &holo_kernels_tiles_avx512,
    &holo_kernels_tiles_avx2,
    &holo_kernels_tiles_sse2,
};

static uint64_t kept_by_system(void) // XCR0: register sets that a thread switch saves
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

enum { ASKED = 1, AVX2 = 2, AVX512 = 4, VNNI = 8, VBMI = 16 };

static int ask(void)
{
    const uint32_t avx2 = bit_AVX2, avx512 = bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW;
    const uint32_t base = bit_AVX | bit_FMA | bit_F16C | bit_OSXSAVE;
    uint32_t       a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & base) != base) return ASKED;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & avx2) != avx2) return ASKED;
    uint64_t kept = kept_by_system();
    int      has  = ASKED | ((kept & 0x06) == 0x06 ? AVX2 : 0);
    if ((b & avx512) != avx512 || (kept & 0xE6) != 0xE6) return has;
    return has | AVX512 | (c & bit_AVX512VNNI ? VNNI : 0) | (c & bit_AVX512VNNI && c & bit_AVX512VBMI ? VBMI : 0);
}

static bool can_run(const char *level)
{
    static const struct {
        const char *level;
        int         needs;
    } rows[] = {{"sse2", ASKED}, {"avx2", AVX2}, {"avx512", AVX512}, {"avx512vnni", VNNI}, {"avx512vbmi", VBMI}};
    // A virtual machine takes long to answer: it is asked once. Every thread that gets here first is told the same.
    static int told;
    int        has = __atomic_load_n(&told, __ATOMIC_RELAXED);
    if (!has) __atomic_store_n(&told, has = ask(), __ATOMIC_RELAXED);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(level, rows[i].level)) return has & rows[i].needs;
    return false;
}

#elif defined __aarch64__
extern const HoloKernelTable holo_kernels_neon, holo_kernels_neon_exact, holo_kernels_neondot,
    holo_kernels_neondot_exact;

static const HoloKernelTable *const tables[] = {
    &holo_kernels_neondot,
    &holo_kernels_neondot_exact,
    &holo_kernels_neon,
    &holo_kernels_neon_exact,
};

extern const HoloTiles        holo_kernels_tiles_neon;
static const HoloTiles *const tile_tables[] = {&holo_kernels_tiles_neon};

static bool can_run(const char *level)
{
    return !strcmp(level, "neon") || holo_cpu_has_dot(); // every aarch64 CPU has the first
}

#endif

enum { TABLE_COUNT = sizeof tables / sizeof *tables, TILE_TABLE_COUNT = sizeof tile_tables / sizeof *tile_tables };

const HoloKernelTable *holo_kernels_at(int index)
{
    for (int i = 0; i < TABLE_COUNT; i++)
        if (can_run(tables[i]->level) && index-- == 0) return tables[i];
    return NULL;
}

// The place in `tables` of the best level allowed: the one HOLO_CPU names or, where the machine
// cannot run that or it names none, the best below it.
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
    // Every thread that gets here first finds the same answer, so it does not matter which writes it.
    static int chosen_plus_1;
    int        at = __atomic_load_n(&chosen_plus_1, __ATOMIC_RELAXED) - 1;
    if (at < 0) {
        at = choose();
        __atomic_store_n(&chosen_plus_1, at + 1, __ATOMIC_RELAXED);
    }
    return at;
}

const HoloKernelTable *holo_kernels(int exact)
{
    int                    at    = chosen();
    const HoloKernelTable *fused = tables[at];
    for (int i = at; exact && i < TABLE_COUNT; i++)
        if (tables[i]->exact) return tables[i];
    return fused;
}

const HoloTiles *holo_tiles_at(int index)
{
    for (int i = 0; i < TILE_TABLE_COUNT; i++)
        if (can_run(tile_tables[i]->level) && index-- == 0) return tile_tables[i];
    return NULL;
}

const HoloTiles *holo_tiles_plainest(void)
{
    return tile_tables[TILE_TABLE_COUNT - 1];
}

// The names of levels that are one with more begin with its name.
const HoloTiles *holo_tiles(void)
{
    const char *level = tables[chosen()]->level;
    for (int i = 0; i < TILE_TABLE_COUNT; i++)
        if (!strncmp(tile_tables[i]->level, level, strlen(tile_tables[i]->level))) return tile_tables[i];
    return tile_tables[TILE_TABLE_COUNT - 1];
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
