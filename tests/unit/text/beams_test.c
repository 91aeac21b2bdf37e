// beams_test.c - beam search: with enough beams it finds the best of all texts, and each beam keeps what it has read.
#include "support/text_graph.h"

#include <math.h>
#include <string.h>

static const char source[] =
    "graph g(input_ids: i64[B,S], cache_rows: i64[B] = index, cache_lengths: i64[B] = 0,\n"
    "        picks: i64[P] = index, keys: f32[slots,context,2] = state[B,S,2]) -> (logits) {\n"
    "    const words: f32[4,2] = {1, 0.25, -1.5, 1, 1, 1, -1, 0.5}\n"
    "    const back: f32[2,4] = {1, -0.5, 1.25, -1, 0.75, 1, -1, 0.5}\n"
    "    x = Gather@13(words, input_ids)\n"
    "    all = hologram::CacheWrite@1(keys, x, cache_rows, cache_lengths)\n"
    "    y = hologram::CachedAttention@1(x, all, all, cache_rows, cache_lengths) {num_heads=1, scale=1.5}\n"
    "    z = Gather@13(y, picks) {axis=1}\n"
    "    logits = MatMul@13(z, back)\n"
    "}";

enum { WORDS = 4, LENGTH = 4, ALL = WORDS * WORDS * WORDS }; // so many beams are all texts of one token less

typedef struct Made {
    uint32_t token[LENGTH];
    size_t   count;
    double   logprobs; // added up
} Made;

static bool each(void *state, const HoloGenerated *one)
{
    Made *made = state;
    assert_true(made->count < LENGTH);
    made->token[made->count++] = one->token;
    made->logprobs += (double)one->sampled.logprob;
    return true;
}

// The log-probability of the tokens behind a prompt, each read by itself.
static double score_of(HoloLanguage *alone, const uint32_t *prompt, size_t begin, const uint32_t *token, size_t count)
{
    uint32_t     text[16];
    double       score = 0;
    const float *logits;
    memcpy(text, prompt, begin * sizeof *text);
    memcpy(text + begin, token, count * sizeof *text);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        EXPECT_OK(holo_language_read(alone, 0, text, begin + i, &logits, &error));
        for (int k = 0; k < WORDS; k++) sum += exp((double)logits[k]);
        score += (double)logits[token[i]] - log(sum);
    }
    return score;
}

static void test_best_of_all(void **state)
{
    (void)state;
    static const uint32_t prompts[3][3] = {{0, 1, 2}, {3, 3, 1}, {2, 0, 3}};
    HoloModel            *model         = text_model_make(source);
    HoloLanguage         *language = text_language_open(model, ALL), *alone = text_language_open(model, 1);
    int                   differ = 0;
    for (int p = 0; p < 3; p++) {
        HoloGenerateOptions options;
        Made                made = {0}, greedy = {0};
        double              best = -INFINITY;
        holo_generate_defaults(language, &options);
        options.max_tokens = LENGTH;
        EXPECT_OK(holo_generate(language, prompts[p], 3, &options, each, &greedy, NULL, &error));
        options.beams            = ALL;
        options.sampler.logprobs = p > 0;
        EXPECT_OK(holo_generate(language, prompts[p], 3, &options, each, &made, NULL, &error));
        assert_int_equal(made.count, LENGTH);
        for (uint32_t i = 0; i < ALL * WORDS; i++) {
            uint32_t token[LENGTH] = {i % 4, i / 4 % 4, i / 16 % 4, i / 64};
            double   score         = score_of(alone, prompts[p], 3, token, LENGTH);
            if (score > best) best = score;
        }
        double found = score_of(alone, prompts[p], 3, made.token, LENGTH);
        assert_true(found > best - 1e-5);
        assert_true(fabs(made.logprobs - (p ? found : 0)) < 1e-4);
        differ += memcmp(made.token, greedy.token, sizeof made.token) != 0;
    }
    assert_true(differ > 0); // else the prompts would tell nothing
    holo_language_close(language);
    holo_language_close(alone);
    holo_model_close(model);
}

static void test_refused(void **state)
{
    (void)state;
    HoloModel          *model    = text_model_make(source);
    HoloLanguage       *language = text_language_open(model, 2);
    uint32_t            prompt   = 1;
    HoloError           why      = {0};
    Made                made     = {0};
    HoloGenerateOptions options;
    holo_generate_defaults(language, &options);
    options.max_tokens = 2;
    options.beams      = 3;
    assert_int_equal(holo_generate(language, &prompt, 1, &options, each, &made, NULL, &why), HOLO_BAD_ARGUMENT);
    assert_non_null(strstr(why.text, "3 beams need as many texts"));
    options.beams  = 2;
    options.lookup = 2;
    assert_int_equal(holo_generate(language, &prompt, 1, &options, each, &made, NULL, &why), HOLO_BAD_ARGUMENT);
    assert_int_equal(made.count, 0);
    holo_language_close(language);
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_best_of_all), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
