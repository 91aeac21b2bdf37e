// cuda_code_test.c - the machine code that `make cuda` has made, beside what launches ask of it: each kernel that is picked is there for
// each kind of GPU, takes that many threads, and its shared memory fits beside that of the launch. Without that code nothing is checked.
#include "devices/cuda/cuda_blocks.h"
#include "devices/cuda/cuda_pick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CODES = 64, RESERVED = 1024 }; // RESERVED: of the system, which code for sm_90 counts along

static const struct Machine {
    const char *kind;
    uint32_t    shared; // that a block may have
    bool        is_sm90;
} machines[] = {{"sm_80", 163 << 10, false}, {"sm_80", 99 << 10, false}, {"sm_90", 227 << 10, true}};

typedef struct Code {
    char  name[80];
    char *bytes; // NULL: there is no such file
    long  size;
} Code;

static Code codes[CODES];
static int  code_count, checked;

static const Code *code_read(const char *module, const char *kind)
{
    char name[80], path[128];
    snprintf(name, sizeof name, "%s.%s", module, kind);
    for (int i = 0; i < code_count; i++)
        if (!strcmp(codes[i].name, name)) return &codes[i];
    assert_true(code_count < CODES);
    Code *c = &codes[code_count++];
    memcpy(c->name, name, sizeof name);
    snprintf(path, sizeof path, "build/cuda/%s.cubin", name);
    FILE *f = fopen(path, "rb");
    if (!f) return c;
    fseek(f, 0, SEEK_END);
    c->size = ftell(f);
    rewind(f);
    c->bytes = malloc((size_t)c->size);
    assert_non_null(c->bytes);
    assert_int_equal(fread(c->bytes, 1, (size_t)c->size, f), c->size);
    fclose(f);
    return c;
}

static uint64_t number(const Code *c, uint64_t at, size_t size)
{
    uint64_t x = 0;
    assert_true(at + size <= (uint64_t)c->size);
    for (size_t i = size; i-- > 0;) x = x << 8 | (uint8_t)c->bytes[at + i];
    return x;
}

typedef struct Section {
    uint64_t at, size;
} Section;

// The section of that name, if there is one: the file is ELF of 64 bits.
static bool section(const Code *c, const char *prefix, const char *kernel, Section *out)
{
    enum { TABLE = 40, COUNT = 60, NAMES = 62, HEADER = 64, OFFSET = 24, SIZE = 32 };
    uint64_t table = number(c, TABLE, 8), names = number(c, table + number(c, NAMES, 2) * HEADER + OFFSET, 8);
    char     want[128];
    snprintf(want, sizeof want, "%s%s", prefix, kernel);
    for (uint64_t i = 0; i < number(c, COUNT, 2); i++) {
        uint64_t at = table + i * HEADER;
        if (strcmp(c->bytes + names + number(c, at, 4), want) != 0) continue;
        *out = (Section){number(c, at + OFFSET, 8), number(c, at + SIZE, 8)};
        return true;
    }
    return false;
}

// Threads that a block of the kernel may have: attribute 5 of those that describe it.
static uint32_t threads_most(const Code *c, const char *kernel)
{
    enum { MAX_THREADS = 5, SIZED = 4 };
    Section s;
    if (!section(c, ".nv.info.", kernel, &s)) return 0;
    for (uint64_t at = s.at; at + 4 <= s.at + s.size;) {
        bool is_sized = number(c, at, 1) == SIZED;
        if (is_sized && number(c, at + 1, 1) == MAX_THREADS) return (uint32_t)number(c, at + 4, 4);
        at += 4 + (is_sized ? number(c, at + 2, 2) : 0);
    }
    return 0;
}

static void check(const struct Machine *on, const char *module, const char *kernel, uint32_t block, uint32_t dynamic)
{
    const Code *c = code_read(module, on->kind);
    Section     s;
    if (!c->bytes) return;
    if (!section(c, ".text.", kernel, &s)) fail_msg("%s has no kernel %s", c->name, kernel);
    uint32_t most = threads_most(c, kernel), own = section(c, ".nv.shared.", kernel, &s) ? (uint32_t)s.size : 0;
    if (on->is_sm90 && own >= RESERVED) own -= RESERVED;
    if (block > most) fail_msg("%s of %s takes %u threads, not %u", kernel, c->name, most, block);
    if (own > 48 << 10 || own + dynamic > on->shared)
        fail_msg("%s of %s has %u bytes of shared memory, and %u of its launch", kernel, c->name, own, dynamic);
    if (dynamic <= 48 << 10 && own + dynamic > 48 << 10) // only who asks for more by itself gets it: cuda_shared.c
        fail_msg("%s of %s has %u bytes beside the %u that every launch may have", kernel, c->name, own, dynamic);
    checked++;
}

static void check_launch(const struct Machine *on, const HoloCudaPick *pick)
{
    for (int i = 0; i < pick->count; i++) {
        const HoloCudaLaunch *l = &pick->launch[i];
        check(on, l->module, l->kernel, l->block, l->shared);
        if (l->gated) check(on, l->module, l->gated, l->block, l->shared);
        assert_true(on->is_sm90 || l->cluster <= 1);
    }
}

static HoloCudaWant want_of(const struct Machine *on, uint8_t type, uint8_t numeric)
{
    return (HoloCudaWant){.type       = type,
                          .numeric    = numeric,
                          .align      = 16,
                          .batch      = 1,
                          .sms        = on->is_sm90 ? 132 : 108,
                          .shared     = on->shared,
                          .cluster    = on->is_sm90,
                          .tiled      = on->is_sm90,
                          .b_constant = 1};
}

static const uint8_t kinds[][2] = {{HOLO_CUDA_F16, 0},
                                   {HOLO_CUDA_BF16, 0},
                                   {HOLO_CUDA_S8, 0},
                                   {HOLO_CUDA_U8, 0},
                                   {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED},
                                   {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_EXACT},
                                   {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32}};
enum { KINDS = sizeof kinds / sizeof *kinds, MACHINES = sizeof machines / sizeof *machines };

static void products(void **state)
{
    static const int32_t sizes[] = {1, 4, 7, 33, 129, 768, 2048, 5632, 20000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    (void)state;
    for (int i = 0; i < MACHINES * KINDS * SIZES * SIZES * SIZES; i++) {
        const struct Machine *on   = &machines[i % MACHINES];
        const uint8_t        *kind = kinds[i / MACHINES % KINDS];
        int                   at   = i / MACHINES / KINDS;
        HoloCudaWant          want = want_of(on, kind[0], kind[1]);
        HoloCudaPick          pick;
        int32_t               k = sizes[at / SIZES / SIZES];
        HoloCudaProduct p = {.m = sizes[at % SIZES], .n = sizes[at / SIZES % SIZES], .k = k, .inner = 1, .alpha = 1};
        p.lda = k, p.ldb = (k + 15) / 16 * 16, p.ldc = p.ldmore = p.n, p.c_type = p.more_type = kind[0];
        if (at % 2 && kind[0] < HOLO_CUDA_S8) p.more_how = HOLO_CUDA_MORE_MUL_SILU;
        assert_true(holo_cuda_pick_product(&want, &p, &pick));
        check_launch(on, &pick);
    }
}

static void others(void **state)
{
    static const int32_t sizes[] = {8, 64, 80, 128, 200, 256}, queries[] = {1, 3, 40};
    (void)state;
    for (int i = 0; i < MACHINES * KINDS * 6 * 3; i++) {
        const struct Machine *on   = &machines[i % MACHINES];
        const uint8_t        *kind = kinds[i / MACHINES % KINDS];
        int32_t               size = sizes[i / MACHINES / KINDS % 6], count = queries[i / MACHINES / KINDS / 6];
        HoloCudaWant          want = want_of(on, kind[0], kind[1]);
        HoloCudaPick          pick;
        HoloCudaAttention     a = {.batch = 2, .heads = 8, .kv_heads = 2, .queries = count, .keys = 700};
        HoloCudaNorm          n = {.rows = count * 30, .width = size * size, .lda = size * size, .ldc = size * size};
        if (kind[0] >= HOLO_CUDA_S8) continue;
        a.size = a.v_size = size, n.a_type = n.c_type = kind[0];
        if (holo_cuda_pick_attention(&want, &a, &pick)) check_launch(on, &pick);
        if (holo_cuda_pick_norm(&want, &n, &pick)) check_launch(on, &pick);
    }
}

static void blocks(void **state)
{
    static const char *const forms[] = {"rows_%s_1", "rows_%s_4", "rows_%s_8", "decode_%s", "take_%s"};
    char                     kernel[64];
    (void)state;
    for (int i = 0; i < MACHINES; i++)
        for (int t = 0; holo_block_type_at(t); t++)
            for (int f = 0; f < 5 && holo_cuda_block_module((uint32_t)t); f++) {
                snprintf(kernel, sizeof kernel, forms[f], holo_block_type_at(t)->name);
                check(&machines[i], holo_cuda_block_module((uint32_t)t), kernel, HOLO_CUDA_BLOCK_WARPS * 32, 0);
            }
}

static int codes_drop(void **state)
{
    (void)state;
    if (!checked) print_message("no machine code of GPUs was checked: `make cuda` makes it\n");
    for (int i = 0; i < code_count; i++) free(codes[i].bytes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(others), cmocka_unit_test(blocks)};
    return cmocka_run_group_tests_name("cuda_code", tests, NULL, codes_drop);
}
