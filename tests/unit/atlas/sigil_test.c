// sigil_test.c - sigil expressions: published results of both back ends, laws, and every kind of mistake with its
// place.
#include "base/base.h"
#include "hologram_atlas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static HoloSigil *parse(const char *text)
{
    HoloError  error = {0};
    HoloSigil *sigil;
    size_t     at;
    if (holo_sigil_parse(text, strlen(text), &sigil, &at, &error)) fail_msg("%s: %s", text, error.text);
    return sigil;
}

// "2A 0A C0@72": the bytes of the leaves, each with its belt address where it has one.
static void bytes_are(const char *text, const char *want)
{
    HoloSigil *sigil     = parse(text);
    char       have[256] = "";
    for (int i = 0; i < sigil->leaf_count; i++) {
        const HoloSigilLeaf *leaf = &sigil->leaves[i];
        size_t               used = strlen(have);
        used += (size_t)snprintf(have + used, sizeof have - used, "%s%02X", i ? " " : "", leaf->byte);
        if (leaf->belt >= 0) snprintf(have + used, sizeof have - used, "@%d", leaf->belt);
        assert_int_equal(holo_atlas_byte(leaf->class_id), leaf->byte);
    }
    if (strcmp(have, want)) fail_msg("%s: %s, expected %s", text, have, want);
    holo_sigil_destroy(sigil);
}

static void words_are(const char *text, const char *want)
{
    HoloSigil *sigil     = parse(text);
    char       have[512] = "";
    for (int i = 0; i < sigil->word_count; i++) {
        size_t used = strlen(have);
        snprintf(have + used, sizeof have - used, "%s%s", i ? " " : "", sigil->words[i]);
    }
    if (strcmp(have, want)) fail_msg("%s: %s, expected %s", text, have, want);
    holo_sigil_destroy(sigil);
}

static void test_published_bytes(void **state)
{
    (void)state;
    bytes_are("mark@c21", "2A");
    bytes_are("evaluate@c21 . copy@c05 || swap@c72", "2A 0A C0");
    bytes_are("R+1@ (copy@c05 . evaluate@c21)", "4A 6A");
    bytes_are("mark@c42^+3~@17", "5A@4442");
    bytes_are("T+4@mark@c00", "08");
    bytes_are("~@mark@c13", "2A");
    bytes_are("R+2 T+3@mark@c07", "84");
    bytes_are("mark@c01 . copy@c02", "02 04");
    bytes_are("R+1 T-1 ~@ mark@c01", "40");
    bytes_are("R+1@mark@c00^+1", "42");
    bytes_are("R+1@ (T-1 ~@ mark@c00)", "4E");
    bytes_are("~@(~@mark@c13)", "1A");
    bytes_are("R+1 T+2 ~@ mark@c05", "4E");
    bytes_are("R+1@ mark@c05^+2~", "4E");
    bytes_are("D+1@(mark@c0 || mark@c8)", "10 20");
    bytes_are("D+1@mark@c16 . mark@c21", "00 0A");
    bytes_are("D+2@mark@c21", "1A");
    bytes_are("D-1@mark@c21", "1A");
    bytes_are("R+1 D+1@mark@c0", "50");
    bytes_are("D+1 T+1@mark@c0", "12");
}

static void test_published_words(void **state)
{
    (void)state;
    words_are("mark@c00", "mark");
    words_are("copy@c05", "copy[d=0]");
    words_are("swap@c72", "swap");
    words_are("merge@c13", "merge[d=1]");
    words_are("split@c20", "split[ℓ=4]");
    words_are("quote@c30", "quote[ℓ=6]");
    words_are("evaluate@c21", "phase[h₂=0] evaluate");
    words_are("copy@c05 . evaluate@c40", "phase[h₂=1] evaluate copy[d=0]");
    words_are("mark@c01 || mark@c02", "⊗_begin mark ⊗_sep mark ⊗_end");
    words_are("R+1@mark@c00", "→ρ[1] mark ←ρ[1]");
}

static void test_words(void **state)
{
    (void)state;
    words_are("R-1 D+4 T+2 ~@mark@c00", "→ρ[3] →δ[1] →τ[2] →μ mark ←μ ←τ[2] ←δ[1] ←ρ[3]");
    words_are("R+4 D-3 T+8@mark@c00", "mark"); // nothing is transformed
    words_are("R+1@evaluate@c21", "→ρ[1] phase[h₂=1] evaluate ←ρ[1]");
    words_are("copy@c05^D+2", "copy[d=2]");
    words_are("split@c20^T+5", "split[ℓ=1]");
    words_are("mark@c0 || (swap@c1 . copy@c2 || mark@c3)",
              "⊗_begin mark ⊗_sep ⊗_begin copy[d=0] swap ⊗_sep mark ⊗_end ⊗_end");
    words_are("swap@c1 . (R+1@mark@c0) . copy@c2", "copy[d=0] →ρ[1] mark ←ρ[1] swap");
    words_are("T+1@(T+1@split@c0)", "→τ[1] →τ[1] split[ℓ=2] ←τ[1] ←τ[1]");
    words_are("((mark@c0))", "mark");
}

static void test_forms(void **state)
{
    (void)state;
    bytes_are(" mark @ c0 ^ T + 1 ~ @ 3 // the rest is a comment || $", "02@770");
    bytes_are("// first\nmark@c1 .\n\t// second\r\n copy@c2", "02 04");
    bytes_are("mark@c0000095@0047", "EE@12270");
    bytes_are("mark@c0@0 || mark@c1@1", "00@0 02@258");
    bytes_are("mark@c0^R+999999999", "C0");
    bytes_are("mark@c0^R-1 . mark@c0^D+1 . mark@c0^T-1 . mark@c0^-1", "C0 10 0E 0E");
    bytes_are("R+1@mark@c0 || mark@c0", "40 40"); // a prefix reaches to the end
    bytes_are("(R+1@mark@c0) || mark@c0", "40 00");
    bytes_are("mark@c0 . R+1@mark@c0 . mark@c0", "00 40 40");
    bytes_are("R+1@T+1@~@mark@c8", "62");
}

// What stands around acts after what stands inside: three mirrors are one, and a turn does not pass through a mirror.
static void test_nesting_is_composition(void **state)
{
    (void)state;
    bytes_are("~@(~@(~@mark@c13))", "2A");
    bytes_are("R+1@(~@(T+1@(~@mark@c13)))", "5C");
    bytes_are("D+1@(~@mark@c8)", "00");
    bytes_are("D+1@mark@c8~", "00");
    bytes_are("~@(D+1@mark@c8)", "10");
    HoloRandom random = {11};
    for (int i = 0; i < 2000; i++) {
        int  n[8];
        char text[128];
        for (int k = 0; k < 8; k++) n[k] = (int)(holo_random_next(&random) % 41) - 20;
        int           c     = (int)(holo_random_next(&random) % 96);
        HoloTransform inner = holo_transform(n[0], n[1], n[2], n[3] & 1),
                      outer = holo_transform(n[4], n[5], n[6], n[7] & 1);
        snprintf(text, sizeof text, "R%+d D%+d T%+d%s@(R%+d D%+d T%+d%s@mark@c%d)", n[4], n[5], n[6],
                 n[7] & 1 ? "~" : "", n[0], n[1], n[2], n[3] & 1 ? "~" : "", c);
        HoloSigil    *sigil = parse(text);
        HoloTransform both  = holo_transform_then(inner, outer);
        assert_int_equal(sigil->leaves[0].class_id, holo_transform_class(outer, holo_transform_class(inner, c)));
        assert_memory_equal(&sigil->leaves[0].transform, &both, sizeof both);
        holo_sigil_destroy(sigil);
    }
}

static void test_leaves_tell_all(void **state)
{
    (void)state;
    HoloSigil *sigil = parse("R+1@(copy@c05@2 . evaluate@c21)");
    assert_int_equal(sigil->leaf_count, 2);
    assert_string_equal(sigil->leaves[0].generator, "copy");
    assert_int_equal(sigil->leaves[0].class_id, 29);
    assert_int_equal(sigil->leaves[0].page, 2);
    assert_int_equal(sigil->leaves[0].belt, 2 * 256 + 0x4A);
    assert_string_equal(sigil->leaves[1].generator, "evaluate");
    assert_int_equal(sigil->leaves[1].page, -1);
    assert_int_equal(sigil->leaves[1].belt, -1);
    holo_sigil_destroy(sigil);
    holo_sigil_destroy(NULL);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t      at;
        const char *words;
    } rows[] = {
        {"", 0, "line 1, column 1: expected a generator, a transform or '(', but the text ends"},
        {"  // nothing", 12, "but the text ends"},
        {"mark@c96", 5, "line 1, column 6: class c96 is out of range: c0 to c95"},
        {"mark@c99999999999999999999", 5, "out of range"},
        {"mark@c00@48", 9, "line 1, column 10: the page is out of range: 0 to 47"},
        {"mark@c00@99999999999999999999", 9, "the page is out of range"},
        {"mark@c00@", 9, "expected a page"},
        {"mark@c00@x", 9, "'x' is no generator"},
        {"mark@c0 $ mark@c1", 8, "'$' means nothing here"},
        {"mark@c0 | mark@c1", 8, "a single '|'"},
        {"mark@c0 |", 8, "a single '|'"},
        {"mark1@c00", 0, "'mark1' is no generator"},
        {"c42a", 0, "'c42a' is no generator"},
        {"mark@c42a", 5, "'c42a'"},
        {"mark@42", 5, "expected a class (c0 to c95), not '42'"},
        {"mark@4x", 5, "'4x' is no generator"},
        {"frob@c00", 0, "'frob' is no generator (mark, copy, swap, merge, split, quote, evaluate)"},
        {"MARK@c00", 0, "'MARK'"},
        {"mark@c1 .", 9, "but the text ends"},
        {"mark@c1 ||", 10, "but the text ends"},
        {". mark@c1", 0, "not '.'"},
        {"()", 1, "not ')'"},
        {"mark c1", 5, "expected '@' and a class, not 'c1'"},
        {"mark@", 5, "expected a class"},
        {"(mark@c1", 8, "expected '||', '.' or ')', but the text ends"},
        {"mark@c1)", 7, "expected '||', '.' or the end, not ')'"},
        {"mark@c1 mark@c2", 8, "expected '||', '.' or the end, not 'mark'"},
        {"R+ @mark@c1", 3, "expected a number, not '@'"},
        {"R @mark@c1", 2, "expected '+' or '-' and a number"},
        {"R1@mark@c1", 0, "'R1'"},
        {"R+1 mark@c1", 4, "expected '@' behind the transforms"},
        {"T+1 R+1@mark@c1", 4, "transforms stand in the order R, D, T, ~"},
        {"~~@mark@c1", 1, "transforms stand in the order R, D, T, ~"},
        {"R+1@", 4, "but the text ends"},
        {"R+1000000000@mark@c1", 2, "the number is out of range"},
        {"mark@c1^", 8, "expected '+' or '-'"},
        {"mark@c1^+1^+2", 10, "not '^'"},
        {"mark@c1~~", 8, "not '~'"},
        {"mark@c1 .\n  kopy@c2", 12, "line 2, column 3: 'kopy'"},
        {"mark@c1 // ⊗\n . ⊗", 18, "line 2, column 4: byte 0xE2 means nothing here"},
        {"mark@c1 \x01", 8, "byte 0x01"},
        {"/mark@c1", 0, "'/' means nothing here"},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloError  error = {0};
        HoloSigil *sigil;
        size_t     at = 1000;
        assert_int_equal(holo_sigil_parse(rows[i].text, strlen(rows[i].text), &sigil, &at, &error), HOLO_BAD_ARGUMENT);
        assert_null(sigil);
        if (at != rows[i].at || !strstr(error.text, rows[i].words))
            fail_msg("'%s': at %zu, %s", rows[i].text, at, error.text);
    }
    HoloSigil *sigil;
    assert_int_equal(holo_sigil_parse("mark@c1\0", 8, &sigil, NULL, NULL), HOLO_BAD_ARGUMENT);
}

// Of `count` times `open`, one leaf and as many `close`.
static HoloStatus parse_deep(const char *open, const char *close, int count, HoloError *error)
{
    static char text[4096];
    HoloSigil  *sigil;
    text[0] = '\0';
    for (int i = 0; i < count; i++) strcat(text, open);
    strcat(text, "mark@c0");
    for (int i = 0; i < count; i++) strcat(text, close);
    HoloStatus status = holo_sigil_parse(text, strlen(text), &sigil, NULL, error);
    holo_sigil_destroy(sigil);
    return status;
}

static void test_depth_is_bounded(void **state)
{
    (void)state;
    static const char *const forms[][2] = {{"(", ")"}, {"R+1@", ""}, {"mark@c1 . (mark@c1 || ~@", ")"}};
    for (int i = 0; i < HOLO_COUNT(forms); i++) {
        HoloError error = {0};
        int       max   = i == 2 ? HOLO_SIGIL_DEPTH_MAX / 2 : HOLO_SIGIL_DEPTH_MAX;
        assert_int_equal(parse_deep(forms[i][0], forms[i][1], max, &error), HOLO_OK);
        assert_int_equal(parse_deep(forms[i][0], forms[i][1], max + 1, &error), HOLO_BAD_ARGUMENT);
        assert_non_null(strstr(error.text, "nested deeper than 100"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_bytes),
        cmocka_unit_test(test_published_words),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_nesting_is_composition),
        cmocka_unit_test(test_leaves_tell_all),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
