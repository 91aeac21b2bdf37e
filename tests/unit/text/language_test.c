// language_test.c - several texts of one language model: they join and leave, share beginnings, and each gives what it
// gives alone; what was kept of a text goes through a file.
#include "support/text_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] =
    "graph g(input_ids: i64[B,S], cache_rows: i64[B] = index, cache_lengths: i64[B] = 0,\n"
    "        picks: i64[P] = index, keys: f32[slots,context,2] = state[B,S,2]) -> (logits) {\n"
    "    const words: f32[5,2] = {1, 0, 0, 1, 1, 1, -1, 0, 0.5, -2}\n"
    "    const back: f32[2,5] = {1, 0, 1, -1, 3, 0, 1, 1, 0, 2}\n"
    "    x = Gather@13(words, input_ids)\n"
    "    all = hologram::CacheWrite@1(keys, x, cache_rows, cache_lengths)\n"
    "    y = hologram::CachedAttention@1(x, all, all, cache_rows, cache_lengths) {num_heads=1, scale=1.0}\n"
    "    z = Gather@13(y, picks) {axis=1}\n"
    "    logits = MatMul@13(z, back)\n"
    "}";

enum { WORDS = 5, TEXTS = 3, LENGTH = 9 };

static const uint32_t tokens[TEXTS][LENGTH] = {
    {1, 2, 3, 4, 0, 1, 1, 2, 4}, {4, 4, 0, 2, 1, 3, 3, 0, 2}, {1, 2, 3, 0, 0, 2, 4, 1, 1}};

// The logits behind the first `count` tokens of a text, read alone and as a whole.
static void expect_alone(const HoloModel *model, int text, size_t count, const float *have)
{
    HoloLanguage *alone = text_language_open(model, 1);
    const float  *want;
    EXPECT_OK(holo_language_read(alone, 0, tokens[text], count, &want, &error));
    for (int i = 0; i < WORDS; i++)
        if (!(have[i] - want[i] < 1e-5f && want[i] - have[i] < 1e-5f))
            fail_msg("text %d, %zu tokens: logit %d is %g, not %g", text, count, i, (double)have[i], (double)want[i]);
    holo_language_close(alone);
}

// Text i begins i steps later than text 0, and leaves when it is read.
static void test_join_and_leave(void **state)
{
    (void)state;
    HoloModel    *model    = text_model_make(source);
    HoloLanguage *language = text_language_open(model, TEXTS);
    for (int step = 1; step < LENGTH + TEXTS; step++) {
        HoloTextRead reads[TEXTS];
        int          count = 0;
        for (int t = TEXTS - 1; t >= 0; t--)
            if (step - t >= 1 && step - t <= LENGTH)
                reads[count++] = (HoloTextRead){.text = t, .tokens = tokens[t], .count = (size_t)(step - t)};
        EXPECT_OK(holo_language_read_all(language, reads, count, &error));
        for (int i = 0; i < count; i++) expect_alone(model, reads[i].text, reads[i].count, reads[i].logits);
    }
    HoloTextRead twice[2] = {{.text = 1, .tokens = tokens[1], .count = 2},
                             {.text = 1, .tokens = tokens[1], .count = 3}};
    HoloError    why      = {0};
    assert_int_equal(holo_language_read_all(language, twice, 2, &why), HOLO_BAD_ARGUMENT);
    holo_language_close(language);
    holo_model_close(model);
}

// Texts 0 and 2 begin alike: of a copy only the rest is read.
static void test_copy(void **state)
{
    (void)state;
    HoloModel    *model    = text_model_make(source);
    HoloLanguage *language = text_language_open(model, TEXTS);
    HoloTextRead  read     = {.text = 2, .tokens = tokens[2], .count = LENGTH};
    const float  *logits;
    EXPECT_OK(holo_language_read(language, 0, tokens[0], LENGTH, &logits, &error));
    assert_int_equal(holo_language_cached(language, &read, 1), 0);
    EXPECT_OK(holo_language_copy(language, 0, 2, &error));
    assert_int_equal(holo_language_cached(language, &read, 1), 3);
    EXPECT_OK(holo_language_read(language, 2, tokens[2], LENGTH, &logits, &error));
    expect_alone(model, 2, LENGTH, logits);
    EXPECT_OK(holo_language_read(language, 0, tokens[0], LENGTH, &logits, &error)); // the first is as it was
    expect_alone(model, 0, LENGTH, logits);
    holo_language_close(language);
    holo_model_close(model);
}

static void test_file(void **state)
{
    (void)state;
    HoloModel    *model = text_model_make(source);
    HoloLanguage *one = text_language_open(model, 1), *two = text_language_open(model, 2);
    HoloTextRead  read   = {.text = 1, .tokens = tokens[0], .count = LENGTH};
    HoloError     why    = {0};
    char          path[] = "/tmp/holo_kept_XXXXXX";
    const float  *logits;
    int           file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(holo_language_save(one, 0, path, &why), HOLO_BAD_ARGUMENT); // nothing was read
    EXPECT_OK(holo_language_read(one, 0, tokens[0], 6, &logits, &error));
    EXPECT_OK(holo_language_save(one, 0, path, &error));
    EXPECT_OK(holo_language_read(two, 0, tokens[1], 4, &logits, &error)); // another text is there already
    EXPECT_OK(holo_language_load(two, 1, path, &error));
    assert_int_equal(holo_language_cached(two, &read, 1), 6);
    EXPECT_OK(holo_language_read(two, 1, tokens[0], LENGTH, &logits, &error));
    expect_alone(model, 0, LENGTH, logits);
    EXPECT_OK(holo_language_read(two, 0, tokens[1], LENGTH, &logits, &error));
    expect_alone(model, 1, LENGTH, logits);
    why = (HoloError){0};
    assert_int_equal(holo_language_load(two, 2, path, &why), HOLO_BAD_ARGUMENT);
    remove(path);
    holo_language_close(one);
    holo_language_close(two);
    holo_model_close(model);
}

// ---- guesses

typedef struct Made {
    uint32_t token[64];
    size_t   count;
} Made;

static bool each(void *state, const HoloGenerated *one)
{
    Made *made = state;
    assert_true(made->count < HOLO_COUNT(made->token));
    made->token[made->count++] = one->token;
    return true;
}

// A text that repeats itself is guessed to go on, further than it reaches: most tokens are right guesses, and none is another.
static void test_repeats(void **state)
{
    HoloModel          *model    = text_model_make(source);
    HoloLanguage       *language = text_language_open(model, 1);
    HoloGenerateOptions options  = {.size = sizeof options, .max_tokens = 48};
    HoloGenerateResult  result   = {0};
    Made                plain = {0}, guessed = {0};
    (void)state;
    holo_sampler_defaults(&options.sampler);
    options.sampler.temperature = 0;
    EXPECT_OK(holo_generate(language, tokens[0], LENGTH, &options, each, &plain, NULL, &error));
    options.lookup = 8;
    EXPECT_OK(holo_generate(language, tokens[0], LENGTH, &options, each, &guessed, &result, &error));
    assert_int_equal(guessed.count, plain.count);
    assert_memory_equal(guessed.token, plain.token, plain.count * sizeof *plain.token);
    assert_true(plain.count == 48 && result.right * 3 > plain.count * 2);
    holo_language_close(language);
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join_and_leave),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
