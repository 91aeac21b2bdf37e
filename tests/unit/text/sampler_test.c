// sampler_test.c - the choice of tokens: every step by hand-checked numbers, frequencies by exact probabilities, bits by value.
#include "support/models.h"

#include "base/base.h"
#include "base/math/math.h"
#include "hologram_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INF __builtin_inff()

static HoloSampler *sampler_of(const HoloSamplerOptions *options, uint32_t vocabulary)
{
    HoloSampler *sampler = NULL;
    HoloError    error   = {0};
    if (holo_sampler_create(options, vocabulary, &sampler, &error)) fail_msg("%s", error.text);
    return sampler;
}

static uint32_t chosen(HoloSampler *sampler, const float *logits, const uint64_t *mask)
{
    HoloSampled sampled;
    HoloError   error = {0};
    if (holo_sampler_choose(sampler, logits, mask, &sampled, &error)) fail_msg("%s", error.text);
    return sampled.token;
}

// Draws often, with the same logits, and counts the tokens.
static void count_draws(HoloSamplerOptions options, const float *logits, uint32_t vocabulary, int draws, int *count)
{
    HoloSampler *sampler = sampler_of(&options, vocabulary);
    memset(count, 0, vocabulary * sizeof *count);
    for (int i = 0; i < draws; i++) {
        HoloSampler *other;
        EXPECT_OK(holo_sampler_fork(sampler, (uint64_t)i, &other, &error));
        count[chosen(other, logits, NULL)]++;
        holo_sampler_destroy(other);
    }
    holo_sampler_destroy(sampler);
}

// The draws are as probable as the numbers say: chi-square with one degree for each token but one.
static void check_probable(const char *what, HoloSamplerOptions options, const float *logits, const double *probability,
                           uint32_t vocabulary)
{
    enum { DRAWS = 20000 };
    int    count[16];
    double distance = 0;
    count_draws(options, logits, vocabulary, DRAWS, count);
    for (uint32_t i = 0; i < vocabulary; i++) {
        double wanted = probability[i] * DRAWS;
        if (probability[i] == 0 && count[i]) fail_msg("%s: token %u is impossible, and was drawn", what, i);
        if (probability[i] > 0) distance += (count[i] - wanted) * (count[i] - wanted) / wanted;
    }
    if (distance > 30) fail_msg("%s: chi-square is %g", what, distance); // of 7 degrees: once in 10,000
}

static const float logits8[8] = {1, 2, 0.5f, -1, 2, 3, 0, -3}; // of 8 tokens

static void softmax(const float *logits, double temperature, unsigned kept, double *out)
{
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += out[i] = kept >> i & 1 ? exp(logits[i] / temperature) : 0.0;
    for (int i = 0; i < 8; i++) out[i] /= sum;
}

static void test_probabilities(void **state)
{
    (void)state;
    double             p[8];
    HoloSamplerOptions o;
    holo_sampler_defaults(&o);
    o.seed = 5;
    softmax(logits8, 1, 0xFF, p);
    check_probable("temperature 1", o, logits8, p, 8);
    o.temperature = 2;
    softmax(logits8, 2, 0xFF, p);
    check_probable("temperature 2", o, logits8, p, 8);
    o.temperature = 1;
    o.top_k       = 4; // 5, 1, 4, 0
    softmax(logits8, 1, 0x33, p);
    check_probable("top_k", o, logits8, p, 8);
    o.top_k = 2; // of equals the first
    softmax(logits8, 1, 0x22, p);
    check_probable("top_k of equals", o, logits8, p, 8);
    o.top_k = 0;
    o.top_p = 0.6f; // 0.49 alone is too little: 5 and 1
    softmax(logits8, 1, 0x22, p);
    check_probable("top_p", o, logits8, p, 8);
    o.top_k = 4;
    o.top_p = 0.9f; // of those four: 0.54, 0.20, 0.20, 0.07
    softmax(logits8, 1, 0x32, p);
    check_probable("top_k and top_p", o, logits8, p, 8);
    o.top_k = 0;
    o.top_p = 1;
    o.min_p = 0.1f; // e^(x - 3) >= 0.1: from 0.7 on
    softmax(logits8, 1, 0x33, p);
    check_probable("min_p", o, logits8, p, 8);
    o.min_p        = 0;
    o.bias         = (HoloTokenBias[]){{7, 5}, {5, -INF}, {0, -1}};
    o.bias_count   = 3;
    o.banned       = (uint32_t[]){1};
    o.banned_count = 1;
    softmax((float[]){0, 0, 0.5f, -1, 2, 0, 0, 2}, 1, 0xDD, p);
    check_probable("bias and banned", o, logits8, p, 8);
}

static void test_typical(void **state)
{
    (void)state;
    // Probabilities 0.5, 0.25, 0.125, 0.125: 1.75 bits are expected. Distances: 0.75, 0.25, 1.25, 1.25 bits.
    float              logits[4] = {3 * 0.6931472f, 2 * 0.6931472f, 0.6931472f, 0.6931472f};
    HoloSamplerOptions o;
    int                count[4];
    holo_sampler_defaults(&o);
    o.typical_p = 0.2f;
    count_draws(o, logits, 4, 200, count);
    assert_int_equal(count[1], 200);
    o.typical_p = 0.7f;
    count_draws(o, logits, 4, 3000, count);
    assert_true(count[0] > 1800 && count[0] < 2200 && count[0] + count[1] == 3000);
    o.typical_p = 0.8f;
    count_draws(o, logits, 4, 3000, count);
    assert_true(count[2] > 0 && count[3] == 0);
}

static void test_greedy(void **state)
{
    (void)state;
    HoloSamplerOptions o;
    holo_sampler_defaults(&o);
    o.temperature  = 0;
    HoloSampler *s = sampler_of(&o, 5);
    assert_int_equal(chosen(s, (float[]){1, 3, 2, 3, 0}, NULL), 1);
    assert_int_equal(chosen(s, (float[]){1, NAN, 2, NAN, 0}, NULL), 2);
    assert_int_equal(chosen(s, (float[]){1, INF, 2, INF, 0}, NULL), 1);
    assert_int_equal(chosen(s, (float[]){-INF, -INF, -INF, -5, -INF}, NULL), 3);
    assert_int_equal(chosen(s, (float[]){1, 3, 2, 3, 0}, (uint64_t[]){0x15}), 2);
    HoloSampled sampled;
    EXPECT_FAIL(holo_sampler_choose(s, (float[]){1, 3, 2, 3, 0}, (uint64_t[]){0}, &sampled, &error), HOLO_BAD_INPUT,
                "no token is left");
    EXPECT_FAIL(holo_sampler_choose(s, (float[]){NAN, -INF, NAN, NAN, NAN}, NULL, &sampled, &error), HOLO_BAD_INPUT,
                "no token is left");
    holo_sampler_destroy(s);
}

static void test_penalties(void **state)
{
    (void)state;
    HoloSamplerOptions o;
    const float        logits[4] = {4, 3, -1, -1.5f};
    holo_sampler_defaults(&o);
    o.temperature        = 0;
    o.repetition_penalty = 2;
    HoloSampler *s       = sampler_of(&o, 4);
    EXPECT_OK(holo_sampler_accept_prompt(s, (uint32_t[]){0}, 1, &error));
    assert_int_equal(chosen(s, logits, NULL), 1); // 4 / 2 < 3
    EXPECT_OK(holo_sampler_accept(s, 1, &error));
    assert_int_equal(chosen(s, logits, NULL), 0); // 2 > 1.5
    assert_int_equal(chosen(s, (float[]){-9, -9, -1, -1.5f}, NULL), 2);
    EXPECT_OK(holo_sampler_accept(s, 2, &error));
    assert_int_equal(chosen(s, (float[]){-9, -9, -1, -1.5f}, NULL), 3); // -1 * 2 < -1.5
    holo_sampler_reset(s);
    assert_int_equal(chosen(s, (float[]){-9, -9, -1, -1.5f}, NULL), 2);
    holo_sampler_destroy(s);

    o.repetition_penalty = 1;
    o.presence_penalty   = 0.5f;
    o.frequency_penalty  = 0.3f;
    o.penalty_window     = 3;
    s                    = sampler_of(&o, 4);
    EXPECT_OK(holo_sampler_accept_prompt(s, (uint32_t[]){0, 0, 0}, 3, &error));
    assert_int_equal(chosen(s, logits, NULL), 0); // the prompt does not count
    EXPECT_OK(holo_sampler_accept(s, 0, &error));
    assert_int_equal(chosen(s, logits, NULL), 0); // 4 - 0.8 > 3
    EXPECT_OK(holo_sampler_accept(s, 0, &error));
    assert_int_equal(chosen(s, logits, NULL), 1); // 4 - 1.1 < 3
    EXPECT_FAIL(holo_sampler_accept_prompt(s, (uint32_t[]){0}, 1, &error), HOLO_BAD_ARGUMENT, "prompt");
    EXPECT_FAIL(holo_sampler_accept(s, 4, &error), HOLO_BAD_ARGUMENT, "token 4");
    for (int i = 0; i < 3; i++) EXPECT_OK(holo_sampler_accept(s, 3, &error));
    assert_int_equal(chosen(s, logits, NULL), 0); // out of the window
    holo_sampler_destroy(s);
}

static void test_repeats(void **state)
{
    (void)state;
    HoloSamplerOptions o;
    const float        logits[4] = {4, 3, 2, 1};
    holo_sampler_defaults(&o);
    o.temperature     = 0;
    o.no_repeat_ngram = 3;
    o.min_tokens      = 6;
    o.end_tokens      = (uint32_t[]){3};
    o.end_token_count = 1;
    HoloSampler *s    = sampler_of(&o, 4);
    EXPECT_OK(holo_sampler_accept_prompt(s, (uint32_t[]){1, 2, 0, 1}, 4, &error));
    assert_int_equal(chosen(s, logits, NULL), 0);
    EXPECT_OK(holo_sampler_accept(s, 2, &error));
    assert_int_equal(chosen(s, logits, NULL), 1);                // 1 2 0 was there
    assert_int_equal(chosen(s, (float[]){0, 0, 0, 9}, NULL), 1); // no end yet
    for (int i = 0; i < 5; i++) EXPECT_OK(holo_sampler_accept(s, (uint32_t)i % 3, &error));
    assert_int_equal(chosen(s, (float[]){0, 0, 0, 9}, NULL), 3);
    holo_sampler_destroy(s);
}

static void test_logprobs(void **state)
{
    (void)state;
    HoloSamplerOptions o;
    HoloSampled        sampled;
    double             p[8];
    holo_sampler_defaults(&o);
    o.temperature  = 0;
    o.logprobs     = true;
    o.best         = 3;
    o.banned       = (uint32_t[]){5};
    o.banned_count = 1;
    HoloSampler *s = sampler_of(&o, 8);
    softmax(logits8, 1, 0xFF, p);
    EXPECT_OK(holo_sampler_choose(s, logits8, NULL, &sampled, &error));
    assert_int_equal(sampled.token, 1);
    assert_true(fabs(sampled.logprob - log(p[1])) < 1e-5);
    assert_int_equal(sampled.best_count, 3);
    static const uint32_t best[] = {5, 1, 4};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sampled.best[i].token, best[i]);
        assert_true(fabs(sampled.best[i].logprob - log(p[best[i]])) < 1e-5);
    }
    holo_sampler_destroy(s);
}

// A large vocabulary: the fast ways agree with a plain one, and the tokens are these on every machine.
static void test_large(void **state)
{
    (void)state;
    enum { COUNT = 50021 };
    float             *logits = malloc(COUNT * sizeof *logits);
    HoloRandom         random = {11};
    HoloSamplerOptions o;
    uint64_t           hash = 0;
    for (int i = 0; i < COUNT; i++) logits[i] = (float)(holo_random_unit(&random) * 24 - 12);
    static const struct {
        uint32_t k;
        float    p, m, t;
    } rows[] = {{0, 1, 0, 1},     {40, 1, 0, 1},      {0, 0.9f, 0, 1},  {1000, 0.5f, 0, 0.7f},
                {0, 1, 0.05f, 1}, {0, 0.3f, 0.1f, 2}, {0, 0.999f, 0, 3}};
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        holo_sampler_defaults(&o);
        o.top_k = rows[i].k, o.top_p = rows[i].p, o.min_p = rows[i].m, o.temperature = rows[i].t, o.seed = (uint64_t)i;
        HoloSampler *s = sampler_of(&o, COUNT);
        for (int k = 0; k < 20; k++) {
            uint32_t token = chosen(s, logits, NULL);
            assert_int_equal(token, chosen(s, logits, NULL));
            hash = hash * 1000003 + token;
            EXPECT_OK(holo_sampler_accept(s, token, &error));
        }
        holo_sampler_destroy(s);
    }
    free(logits);
    if (hash != UINT64_C(0x4fd23e30d87df9a5)) fail_msg("the tokens are others: %llx", (unsigned long long)hash);
}

static void test_options(void **state)
{
    (void)state;
    HoloSampler       *s;
    HoloSamplerOptions o;
#define REFUSED(field, value, words)                                                   \
    do {                                                                               \
        holo_sampler_defaults(&o);                                                     \
        o.field = value;                                                               \
        EXPECT_FAIL(holo_sampler_create(&o, 8, &s, &error), HOLO_BAD_ARGUMENT, words); \
        assert_null(s);                                                                \
    } while (0)
    REFUSED(temperature, -1, "temperature");
    REFUSED(temperature, NAN, "temperature");
    REFUSED(top_p, 0, "top_p");
    REFUSED(top_p, 1.5f, "top_p");
    REFUSED(min_p, -0.1f, "min_p");
    REFUSED(typical_p, 2, "typical_p");
    REFUSED(repetition_penalty, 0, "repetition_penalty");
    REFUSED(presence_penalty, INF, "presence_penalty");
    REFUSED(frequency_penalty, NAN, "frequency_penalty");
    REFUSED(best, 1001, "best");
    REFUSED(size, 0, "holo_sampler_defaults");
    holo_sampler_defaults(&o);
    o.banned       = (uint32_t[]){1, 8};
    o.banned_count = 2;
    EXPECT_FAIL(holo_sampler_create(&o, 8, &s, &error), HOLO_BAD_ARGUMENT, "banned[1]");
    EXPECT_FAIL(holo_sampler_create(NULL, 0, &s, &error), HOLO_BAD_ARGUMENT, "vocabulary");
    holo_sampler_defaults(&o);
    o.size  = offsetof(HoloSamplerOptions, top_k); // of an older header
    o.top_p = 7;
    EXPECT_OK(holo_sampler_create(&o, 8, &s, &error));
    holo_sampler_destroy(s);
}

// ---- stop strings

static void check_stop(const char *const *stops, size_t count, const char *text, const char *shown, int stop)
{
    HoloString   list[8];
    HoloStopper *s;
    for (size_t i = 0; i < count; i++) list[i] = (HoloString){stops[i], strlen(stops[i])};
    EXPECT_OK(holo_stopper_create(list, count, &s, &error));
    for (size_t piece = 1; piece < 8; piece++) { // however it is cut
        char   out[200] = "";
        int    found    = -1;
        size_t size     = strlen(text);
        for (size_t at = 0; at < size; at += piece) {
            HoloString part;
            int        now;
            EXPECT_OK(holo_stopper_add(s, text + at, size - at < piece ? size - at : piece, &part, &now, &error));
            strncat(out, part.data, part.size);
            if (now >= 0) assert_int_equal(found, -1), found = now;
        }
        HoloString rest = holo_stopper_end(s);
        strncat(out, rest.data, rest.size);
        assert_string_equal(out, shown);
        assert_int_equal(found, stop);
    }
    holo_stopper_destroy(s);
}

static void test_stops(void **state)
{
    (void)state;
    HoloStopper *s;
    HoloString   part;
    int          found;
    check_stop((const char *[]){"END"}, 1, "text END more", "text ", 0);
    check_stop((const char *[]){"END"}, 1, "text EN", "text EN", -1);
    check_stop((const char *[]){"abab"}, 1, "aababab", "a", 0);
    check_stop((const char *[]){"b", "ab"}, 2, "xab", "x", 1);
    check_stop((const char *[]){"abcd", "bc"}, 2, "xabcd", "xa", 1);
    check_stop(NULL, 0, "all of it", "all of it", -1);
    check_stop((const char *[]){"\n\n", "</s>"}, 2, "a\nb</s", "a\nb</s", -1);
    EXPECT_OK(holo_stopper_create(&(HoloString){"stop", 4}, 1, &s, &error));
    EXPECT_OK(holo_stopper_add(s, "do st", 5, &part, &found, &error));
    assert_true(part.size == 3 && !memcmp(part.data, "do ", 3) && found == -1);
    EXPECT_OK(holo_stopper_add(s, "ay", 2, &part, &found, &error));
    assert_true(part.size == 4 && !memcmp(part.data, "stay", 4));
    holo_stopper_destroy(s);
    EXPECT_FAIL(holo_stopper_create(&(HoloString){"", 0}, 1, &s, &error), HOLO_BAD_ARGUMENT, "stop string 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probabilities), cmocka_unit_test(test_typical), cmocka_unit_test(test_greedy),
        cmocka_unit_test(test_penalties),     cmocka_unit_test(test_repeats), cmocka_unit_test(test_logprobs),
        cmocka_unit_test(test_large),         cmocka_unit_test(test_options), cmocka_unit_test(test_stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
