// isa_random_test.c - the two interpreters over random programs, and text and bytes of these. HOLO_ISA_PROGRAMS says
// how many (2,000), HOLO_ISA_SEED where to begin (0); `make isa-long` takes many.
#include "isa/isa.h"
#include "isa/tile/isa_code.h"
#include "support/isa_random.h"
#include "support/watched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void round_trips(HoloArena *arena, uint64_t seed, const HoloIsaProgram *p)
{
    HoloError      error = {0};
    HoloIsaProgram q, z;
    size_t         size, text_size;
    uint8_t       *bytes;
    const char    *text = holo_isa_print(arena, p, &text_size);
    if (holo_isa_parse(arena, text, text_size, &q, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    if (strcmp(text, holo_isa_print(arena, &q, NULL)))
        fail_msg("seed %llu: the text is another", (unsigned long long)seed);
    if (holo_isa_encode(arena, &q, &bytes, &size, &error) || holo_isa_decode(arena, bytes, size, &z, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    if (strcmp(text, holo_isa_print(arena, &z, NULL)))
        fail_msg("seed %llu: the bytes are another", (unsigned long long)seed);
}

static HoloStatus run_fast(const IsaCase *c, const HoloTiles *tiles, const HoloIsaArg *args, HoloError *error)
{
    HoloIsaCode  *code;
    HoloIsaFrame *frame;
    if (holo_isa_code_create_for(&c->program, tiles, &code, error)) return HOLO_INTERNAL;
    HoloStatus status = HOLO_INTERNAL;
    if (!holo_isa_frame_create(code, 1, &frame, error)) {
        status = holo_isa_run(code, frame, NULL, &c->launch, args, error);
        holo_isa_frame_destroy(frame);
    }
    holo_isa_code_destroy(code);
    return status;
}

static bool one(uint64_t seed, int levels)
{
    HoloArena  arena = {0};
    IsaCase    c     = {0};
    HoloIsaArg plain[HOLO_ISA_MAX_PARAMS], fast[HOLO_ISA_MAX_PARAMS];
    HoloError  error = {0}, fast_error = {0};
    int64_t    index = 0;
    if (!isa_random(&arena, seed, &c, &error)) fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    round_trips(&arena, seed, &c.program);
    assert_true(isa_copy_args(&arena, &c, plain) && isa_copy_args(&arena, &c, fast));
    HoloStatus want = holo_isa_reference(&c.program, &c.launch, plain, &error);
    HoloStatus got  = run_fast(&c, holo_tiles_at((int)(seed % (uint64_t)levels)), fast, &fast_error);
    int        at   = want || got ? -1 : isa_compare_args(&c, plain, fast, &index);
    if (want != got || at >= 0) {
        if (getenv("HOLO_ISA_SHOW")) printf("%s", holo_isa_print(&arena, &c.program, NULL));
        fail_msg("seed %llu, level %s: status %d (%s), not %d (%s); array %s differs at %lld", (unsigned long long)seed,
                 holo_tiles_at((int)(seed % (uint64_t)levels))->level, got, fast_error.text, want, error.text,
                 at < 0 ? "-" : c.program.params[at].name, (long long)index);
    }
    holo_arena_deinit(&arena);
    return want == HOLO_OK;
}

static void test_interpreters_agree(void **state)
{
    (void)state;
    uint64_t count = setting("HOLO_ISA_PROGRAMS", 2000 / (uint64_t)watched_step("the programs", 4)),
             seed = setting("HOLO_ISA_SEED", 0), ran = 0;
    int levels = 0;
    while (holo_tiles_at(levels)) levels++;
    for (uint64_t i = 0; i < count; i++) ran += one(seed + i, levels);
    printf("%llu programs, %llu of them to the end\n", (unsigned long long)count, (unsigned long long)ran);
    assert_true(count < 100 || ran > count * 3 / 4); // few fail, or nothing would be compared
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_interpreters_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
