// isa_threads_test.c - programs whose lanes have to do with each other, on several threads: shared memory, barriers,
// reductions, scans and atomics. Every CPU level has the bits of the plain interpreter for any number of threads.
#include "format/dtype.h"
#include "hologram.h"
#include "isa/isa.h"
#include "isa/tile/isa_code.h"
#include "runtime/pool.h"
#include "support/isa_random.h"
#include "support/watched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// ---- teams

enum { TEAMS = 2, PLACES = 61 }; // PLACES: elements of arrays that lanes share

typedef struct Team {
    HoloPool *pool;
    int       threads;
    int64_t   parts; // of work that was given to the pool
} Team;

static Team teams[TEAMS] = {{NULL, 1, 0}, {NULL, 3, 0}};

static void team_run(void *team, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg)
{
    Team *t = team;
    t->parts += count;
    holo_pool_run(t->pool, count, work, arg);
}

static int start(void **state)
{
    (void)state;
    for (int i = 0; i < TEAMS; i++)
        if (holo_pool_create(teams[i].threads, &teams[i].pool)) return 1;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    for (int i = 0; i < TEAMS; i++) holo_pool_destroy(teams[i].pool);
    return 0;
}

static int64_t parts(void)
{
    int64_t sum = 0;
    for (int i = 0; i < TEAMS; i++) sum += teams[i].parts;
    return sum;
}

// ---- cases

static uint64_t random_bits(HoloRandom *random, HoloDtype type)
{
    uint64_t any = holo_random_next(random);
    if (!(HOLO_TYPES_FLOAT >> type & 1)) return any & 1 ? any >> 8 : any >> 8 & 15;
    return holo_isa_bits_of_float(type, any % 50 ? holo_random_normal(random) : (double)(any >> 8));
}

// Of `in` and `out` arrays each lane has an element; `inout` ones have PLACES; scalars are 7.
static IsaCase case_of(HoloArena *arena, const char *text, HoloIsaLaunch launch)
{
    IsaCase    c      = {.launch = launch};
    HoloRandom random = {7};
    HoloError  error  = {0};
    int64_t    lanes  = 1;
    for (int i = 0; i < 3; i++) lanes *= (int64_t)launch.grid[i] * launch.block[i];
    if (holo_isa_parse(arena, text, strlen(text), &c.program, &error)) fail_msg("%s\n%s", text, error.text);
    for (int i = 0; i < c.program.param_count; i++) {
        HoloDtype type  = (HoloDtype)c.program.params[i].type;
        size_t    size  = holo_dtype_size(type);
        int64_t   count = c.program.params[i].access == HOLO_ISA_INOUT ? PLACES : lanes;
        uint8_t  *data  = holo_arena_take(arena, (size_t)count * size);
        assert_non_null(data);
        for (int64_t k = 0; k < count; k++) {
            uint64_t bits = random_bits(&random, type);
            memcpy(data + (size_t)k * size, &bits, size);
        }
        c.args[i] = (HoloIsaArg){data, count, 7};
    }
    return c;
}

static void compare(const IsaCase *c, const HoloIsaArg *want, const HoloIsaArg *got, const char *level, int threads)
{
    int64_t index = 0;
    int     at    = isa_compare_args(c, want, got, &index);
    if (at >= 0)
        fail_msg("%s, level %s, %d threads, block %u: %s differs at %lld", c->program.name, level, threads,
                 (unsigned)c->launch.block[0], c->program.params[at].name, (long long)index);
}

// Twice with each frame: what the first run left there does not show.
static void run_with(const IsaCase *c, const HoloIsaCode *code, Team *team, const HoloIsaArg *want)
{
    HoloArena     arena = {0};
    HoloIsaFrame *frame = NULL;
    HoloError     error = {0};
    HoloIsaTeam   isa   = {team_run, team, team->threads};
    HoloIsaArg    args[HOLO_ISA_MAX_PARAMS];
    if (holo_isa_frame_create(code, team->threads, &frame, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < (team->threads > 1 ? 2 : 1); k++) {
        assert_true(isa_copy_args(&arena, c, args));
        if (holo_isa_run(code, frame, &isa, &c->launch, args, &error)) fail_msg("%s", error.text);
        compare(c, want, args, code->tiles->level, team->threads);
    }
    holo_isa_frame_destroy(frame);
    holo_arena_deinit(&arena);
}

static void check(const char *text, HoloIsaLaunch launch)
{
    HoloArena  arena = {0};
    IsaCase    c     = case_of(&arena, text, launch);
    HoloIsaArg want[HOLO_ISA_MAX_PARAMS];
    HoloError  error = {0};
    assert_true(isa_copy_args(&arena, &c, want));
    if (holo_isa_reference(&c.program, &launch, want, &error)) fail_msg("%s\n%s", text, error.text);
    for (int level = 0; holo_tiles_at(level); level++) {
        HoloIsaCode *code = NULL;
        if (holo_isa_code_create_for(&c.program, holo_tiles_at(level), &code, &error)) fail_msg("%s", error.text);
        for (int i = level ? TEAMS - 1 : 0; i < TEAMS; i++) run_with(&c, code, &teams[i], want);
        holo_isa_code_destroy(code);
    }
    holo_arena_deinit(&arena);
}

// Many small blocks, few large ones, and such of two and three dimensions; of each so many lanes that threads share them
// in at least 3 parts, however wide the tiles of a level are.
static const HoloIsaLaunch launches[] = {
    {{165, 1, 1}, {256, 1, 1}, 0}, {{13, 8, 7}, {8, 4, 2}, 0},    {{2501, 1, 1}, {17, 1, 1}, 0},
    {{43, 1, 1}, {1000, 1, 1}, 0}, {{42001, 1, 1}, {1, 1, 1}, 0}, {{201, 14, 1}, {15, 1, 1}, 0},
    {{14, 1, 3}, {1024, 1, 1}, 0},
};

// In each launch the teams of more than one thread share the work, twice at the best level alone.
static void check_at(const char *text, int launch)
{
    int64_t before = parts();
    check(text, launches[launch]);
    assert_true(parts() - before >= (int64_t)(TEAMS - 1) * 2 * 3);
}

static void check_all(const char *text)
{
    static int step;
    if (!step) step = watched_step("the launches", 3);
    for (int i = 0; i < HOLO_COUNT(launches); i += step) check_at(text, i);
}

// ---- shared memory and barriers

// The sum of a block by halves, with a barrier in each turn of the loop; lane 0 stores it.
static void test_sums_by_halves(void **state)
{
    (void)state;
    check_all("program halves\nin x: f32[]\nout y: f32[]\nshared s: f32[1024]\n"
              "special.i32 r0, lane_id\nspecial.i64 r1, global_id\nld.f32 r2, x[r1]\nsts.f32 s[r0], r2\n"
              "const.i32 r3, 512\nconst.i32 r4, 0\nconst.i32 r5, 1\nconst.i32 r13, 1023\n"
              "loop\nbarrier\nset.le.i32 p6, r3, r4\nbreakif p6\n"
              "set.lt.i32 p7, r0, r3\nif p7\nadd.i32 r8, r0, r3\nmin.i32 r8, r8, r13\nlds.f32 r9, s[r0]\n"
              "lds.f32 r10, s[r8]\nadd.f32 r9, r9, r10\nsts.f32 s[r0], r9\nend\n"
              "shr.i32 r3, r3, r5\nend\n"
              "lds.f32 r11, s[r4]\nadd.f32 r12, r11, r2\nst.f32 y[r1], r12\n");
}

// Numbers go round the block, turn by turn, over what the turn before has left.
static void test_exchange_in_shared_memory(void **state)
{
    (void)state;
    check_all("program round\nin x: i16[]\nout y: i16[]\nvalue n: i32\nshared s: i16[1024]\n"
              "special.i32 r0, lane_id\nspecial.i64 r1, global_id\nld.i16 r2, x[r1]\n"
              "special.i32 r3, block_dim_x\nspecial.i32 r4, block_dim_y\nmul.i32 r3, r3, r4\n"
              "special.i32 r4, block_dim_z\nmul.i32 r3, r3, r4\n"
              "param.i32 r5, n\nconst.i32 r6, 0\nconst.i32 r7, 1\nconst.i16 r12, 3\n"
              "loop\nset.ge.i32 p8, r6, r5\nbreakif p8\nsts.i16 s[r0], r2\nbarrier\n"
              "add.i32 r9, r0, r6\nadd.i32 r9, r9, r7\nrem.i32 r10, r9, r3\nlds.i16 r11, s[r10]\n"
              "mad.i16 r2, r2, r12, r11\nbarrier\nadd.i32 r6, r6, r7\nend\nst.i16 y[r1], r2\n");
}

// ---- reductions and scans

static void test_reductions_and_scans(void **state)
{
    (void)state;
    static const HoloDtype types[] = {HOLO_I8,  HOLO_I16, HOLO_I32, HOLO_I64,  HOLO_U8,  HOLO_U16,
                                      HOLO_U32, HOLO_U64, HOLO_F16, HOLO_BF16, HOLO_F32, HOLO_F64};
    for (int i = 0; i < HOLO_COUNT(types); i++)
        for (int oper = HOLO_ISA_OPER_ADD; oper <= HOLO_ISA_OPER_XOR; oper++) {
            const char *t = holo_isa_how_text(HOLO_ISA_HOW_TYPE, types[i]),
                       *o = holo_isa_how_text(HOLO_ISA_HOW_OPER, oper);
            char text[400];
            if (HOLO_TYPES_FLOAT >> types[i] & 1 && oper >= HOLO_ISA_OPER_AND) continue;
            snprintf(
                text, sizeof text,
                "program together\nin x: %s[]\nout y: %s[]\nout z: %s[]\nspecial.i64 r0, global_id\nld.%s r1, x[r0]\n"
                "reduce.%s.%s r2, r1\nst.%s y[r0], r2\nscan.%s.%s r3, r1\nst.%s z[r0], r3\n",
                t, t, t, t, o, t, t, o, t, t);
            check_at(text, (i + oper) % HOLO_COUNT(launches));
        }
}

// ---- atomics

static const HoloDtype counters[] = {HOLO_I32, HOLO_U32, HOLO_I64, HOLO_U64};

// Whose old value nobody reads: threads do them at the same time.
static void test_atomics(void **state)
{
    (void)state;
    static const char *const opers[] = {"add", "min", "max", "and", "or", "xor"};
    for (int i = 0; i < HOLO_COUNT(counters); i++)
        for (int k = 0; k < HOLO_COUNT(opers); k++) {
            const char *t = holo_isa_how_text(HOLO_ISA_HOW_TYPE, counters[i]);
            char        text[400];
            snprintf(text, sizeof text,
                     "program atomics\nin x: %s[]\ninout c: %s[]\nspecial.i64 r0, global_id\nld.%s r1, x[r0]\n"
                     "const.i64 r2, 61\nrem.i64 r3, r0, r2\natom.%s.%s r4, c[r3], r1\n",
                     t, t, t, opers[k], t);
            check_at(text, (i + k) % HOLO_COUNT(launches));
        }
}

// A histogram of each block, in shared memory, then of all blocks.
static void test_histogram(void **state)
{
    (void)state;
    check_all("program histogram\nin x: u16[]\ninout all: u32[]\nshared s: u32[61]\n"
              "special.i64 r0, global_id\nld.u16 r1, x[r0]\ncvt.u32.u16 r2, r1\nconst.u32 r3, 61\nrem.u32 r2, r2, r3\n"
              "const.u32 r4, 1\natoms.add.u32 r5, s[r2], r4\nbarrier\nspecial.u32 r6, lane_id\n"
              "const.u32 r8, 0\nset.eq.u32 p7, r6, r8\nif p7\n"
              "loop\nset.ge.u32 p9, r8, r3\nbreakif p9\nlds.u32 r10, s[r8]\natom.add.u32 r11, all[r8], r10\n"
              "add.u32 r8, r8, r4\nend\nend\n");
}

// Whose old value is used, and those of floats: one lane after the other, whoever runs them.
static void test_atomics_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(counters); i++) {
        const char *t = holo_isa_how_text(HOLO_ISA_HOW_TYPE, counters[i]);
        char        text[800];
        snprintf(text, sizeof text,
                 "program order\nin x: %s[]\nout y: %s[]\nout z: %s[]\nout u: %s[]\ninout a: %s[]\ninout b: %s[]\n"
                 "inout c: %s[]\nspecial.i64 r0, global_id\nld.%s r1, x[r0]\nconst.i64 r2, 61\nrem.i64 r3, r0, r2\n"
                 "atom.add.%s r4, a[r3], r1\nst.%s y[r0], r4\natom.xchg.%s r5, b[r3], r1\nst.%s z[r0], r5\n"
                 "const.%s r6, 7\nand.%s r6, r1, r6\ncas.%s r7, c[r3], r6, r1\nst.%s u[r0], r7\n",
                 t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t);
        check(text, launches[i]);
    }
    for (int k = 0; k < HOLO_COUNT(launches); k++)
        check("program floats\nin x: f32[]\ninout c: f32[]\nspecial.i64 r0, global_id\nld.f32 r1, x[r0]\n"
              "const.i64 r2, 61\nrem.i64 r3, r0, r2\natom.add.f32 r4, c[r3], r1\n",
              launches[k]);
}

// Of several operations on one array the order shows, too: that of one thread is that of all.
static void test_mixed_atomics(void **state)
{
    (void)state;
    static const char text[] =
        "program mixed\nin x: i32[]\ninout c: i32[]\nspecial.i64 r0, global_id\nld.i32 r1, x[r0]\n"
        "const.i64 r2, 61\nrem.i64 r3, r0, r2\nconst.i32 r4, 1\nand.i32 r5, r1, r4\n"
        "set.eq.i32 p6, r5, r4\nif p6\natom.add.i32 r7, c[r3], r1\nelse\n"
        "atom.xor.i32 r7, c[r3], r1\nend\n";
    HoloArena     arena = {0};
    IsaCase       c     = case_of(&arena, text, launches[0]);
    HoloIsaTeam   alone = {team_run, &teams[0], 1};
    HoloIsaCode  *code  = NULL;
    HoloIsaFrame *frame = NULL;
    HoloError     error = {0};
    HoloIsaArg    want[HOLO_ISA_MAX_PARAMS];
    assert_true(isa_copy_args(&arena, &c, want));
    if (holo_isa_code_create(&c.program, &code, &error) || holo_isa_frame_create(code, 1, &frame, &error) ||
        holo_isa_run(code, frame, &alone, &c.launch, want, &error))
        fail_msg("%s", error.text);
    for (int k = 0; k < 20; k++) run_with(&c, code, &teams[TEAMS - 1], want);
    holo_isa_frame_destroy(frame);
    holo_isa_code_destroy(code);
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_by_halves),
        cmocka_unit_test(test_exchange_in_shared_memory),
        cmocka_unit_test(test_reductions_and_scans),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_atomics_in_order),
        cmocka_unit_test(test_mixed_atomics),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
