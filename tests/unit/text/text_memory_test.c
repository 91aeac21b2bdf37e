// text_memory_test.c - samplers and grammars where memory ends: a failure with words, at every size of memory; and a grammar
// that many threads use at once.
#include "support/models.h"

#include "base/base.h"
#include "base/threads.h"
#include "hologram_text.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"{\"", "a", "\":", "1", "}", ",\"", "b", "\"", "[", "]", "null", " ", ":", "{"};
enum { TOKENS = sizeof words / sizeof *words, END = TOKENS, COUNT = TOKENS + 1 };
static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"maxItems\":50},\"b\":{}},\"additionalProperties\":true}";

static HoloStatus tree_make(HoloTokenTree **out, HoloError *error)
{
    HoloString list[COUNT] = {0};
    for (int i = 0; i < TOKENS; i++) list[i] = (HoloString){words[i], strlen(words[i])};
    return holo_token_tree_create_from(list, COUNT, (uint32_t[]){END}, 1, out, error);
}

// Chooses tokens by a sampler under the masks of a grammar. The number of tokens is the answer.
static HoloStatus generate(HoloGrammar *grammar, uint64_t seed, int *out_tokens, uint64_t *out_hash, HoloError *error)
{
    HoloSamplerOptions o;
    HoloSampler       *sampler       = NULL;
    HoloGrammarState  *state         = NULL;
    HoloSampled        sampled       = {0};
    float              logits[COUNT] = {0};
    uint64_t           mask;
    uint32_t           count;
    holo_sampler_defaults(&o);
    o.seed             = seed;
    o.top_p            = 0.95f;
    o.presence_penalty = 0.2f;
    HoloStatus status  = holo_sampler_create(&o, COUNT, &sampler, error);
    if (!status) status = holo_grammar_state_create(grammar, &state, error);
    for (*out_tokens = 0; !status && *out_tokens < 60 && sampled.token != END; ++*out_tokens) {
        status = holo_grammar_state_mask(state, &mask, &count, error);
        if (!status) status = holo_sampler_choose(sampler, logits, &mask, &sampled, error);
        if (!status) status = holo_sampler_accept(sampler, sampled.token, error);
        if (!status) status = holo_grammar_state_accept(state, sampled.token, error);
        *out_hash = *out_hash * 31 + sampled.token;
    }
    holo_grammar_state_destroy(state);
    holo_sampler_destroy(sampler);
    return status;
}

static HoloStatus do_all(HoloError *error)
{
    HoloTokenTree *tree    = NULL;
    HoloGrammar   *grammar = NULL;
    HoloStopper   *stopper = NULL;
    HoloString     part;
    int            tokens, found;
    uint64_t       hash   = 0;
    HoloStatus     status = tree_make(&tree, error);
    if (!status) status = holo_grammar_compile(HOLO_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), 0, &grammar, error);
    if (!status) status = holo_grammar_set_tokens(grammar, tree, error);
    for (uint64_t seed = 0; !status && seed < 3; seed++) status = generate(grammar, seed, &tokens, &hash, error);
    if (!status) status = holo_stopper_create(&(HoloString){"stop", 4}, 1, &stopper, error);
    if (!status) status = holo_stopper_add(stopper, "some text", 9, &part, &found, error);
    holo_stopper_destroy(stopper);
    holo_grammar_close(grammar);
    holo_token_tree_destroy(tree);
    return status;
}

static void test_little_memory(void **state)
{
    (void)state;
    uint64_t before = holo_memory_limit(), held = holo_memory_held();
    int      failed = 0, done = 0;
    for (uint64_t bytes = 100; bytes < 4 << 20; bytes += bytes / 40 + 8) {
        HoloError error = {0};
        holo_memory_set_limit(held + bytes);
        HoloStatus status = do_all(&error);
        holo_memory_set_limit(before);
        if (status && !*error.text) fail_msg("a failure without words, of %llu bytes", (unsigned long long)bytes);
        if (status != HOLO_OK && status != HOLO_NO_MEMORY && status != HOLO_UNSUPPORTED) fail_msg("%s", error.text);
        failed += status != HOLO_OK;
        done += status == HOLO_OK;
        assert_int_equal(holo_memory_held(), held);
    }
    assert_true(failed > 20 && done > 20);
}

// ---- threads

typedef struct Worker {
    HoloGrammar *grammar;
    HoloThread   thread;
    uint64_t     seed, hash;
    HoloStatus   status;
} Worker;

static void work(void *arg)
{
    Worker   *w     = arg;
    HoloError error = {0};
    int       tokens;
    for (uint64_t i = 0; i < 20 && !w->status; i++)
        w->status = generate(w->grammar, w->seed + i, &tokens, &w->hash, &error);
}

static void test_threads(void **state)
{
    (void)state;
    enum { WORKERS = 4 };
    HoloTokenTree *tree;
    Worker         workers[WORKERS];
    EXPECT_OK(tree_make(&tree, &error));
    uint64_t hashes[2][WORKERS];
    for (int round = 0; round < 2; round++) { // one after the other, and all at once
        HoloGrammar *grammar;
        EXPECT_OK(holo_grammar_compile(HOLO_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), 0, &grammar, &error));
        EXPECT_OK(holo_grammar_set_tokens(grammar, tree, &error));
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = (Worker){.grammar = grammar, .seed = (uint64_t)i * 1000};
            if (round == 0)
                work(&workers[i]);
            else
                assert_true(holo_thread_start(&workers[i].thread, work, &workers[i]));
        }
        for (int i = 0; i < WORKERS; i++) {
            if (round == 1) holo_thread_join(&workers[i].thread);
            assert_int_equal(workers[i].status, HOLO_OK);
            hashes[round][i] = workers[i].hash;
        }
        holo_grammar_close(grammar);
    }
    assert_memory_equal(hashes[0], hashes[1], sizeof hashes[0]);
    assert_true(hashes[0][0] != hashes[0][1]);
    holo_token_tree_destroy(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_little_memory), cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
