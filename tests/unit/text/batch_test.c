// batch_test.c - texts that are generated at once get the tokens that they get alone, whenever they come and go; what they
// have in common is read once; and what cannot be is refused.
#include "support/text_graph.h"

#include "text/batch.h"

#include <stdlib.h>
#include <string.h>

// Attention whose keys know their places, so that tokens at wrong ones are seen.
static const char source[] =
    "graph g(input_ids: i64[B,S], cache_rows: i64[B] = index, cache_lengths: i64[B] = 0,\n"
    "        picks: i64[P] = index, keys: f32[slots,context,4] = state[B,S,4]) -> (logits) {\n"
    "    const words: f32[7,4] = {1, 0, 0, 1, 1, 1, -1, 0, 0.5, -2, 1, 1, 0, 2, 0.25, -1, 2, 0, 1, 0.5, -1, 1, 0, 2, 0, 1, 1, 1}\n"
    "    const back: f32[4,7] = {1, 0, 1, -1, 3, 0, 1, 1, 0, 2, 1, -2, 1, 0.5, 2, 1, 0, 1, 1, -1, 0, 1, 1, 2, -1, 0, 1, 3}\n"
    "    const one: i64[1] = {1}\n"
    "    const two: i64[1] = {2}\n"
    "    const zero: i64[] = {0}\n"
    "    const step: i64[] = {1}\n"
    "    x = Gather@13(words, input_ids)\n"
    "    sizes = Shape@15(input_ids) {start=1, end=2}\n"
    "    length = Squeeze@13(sizes)\n"
    "    range = Range@11(zero, length, step)\n"
    "    begins = Unsqueeze@13(cache_lengths, one)\n"
    "    places = Add@14(begins, range)\n"
    "    numbers = Cast@13(places) {to=1}\n"
    "    waves = Sin@7(numbers)\n"
    "    wide = Unsqueeze@13(waves, two)\n"
    "    placed = Add@14(x, wide)\n"
    "    all = hologram::CacheWrite@1(keys, placed, cache_rows, cache_lengths)\n"
    "    y = hologram::CachedAttention@1(placed, all, all, cache_rows, cache_lengths) {num_heads=1, scale=1.0}\n"
    "    z = Gather@13(y, picks) {axis=1}\n"
    "    logits = MatMul@13(z, back)\n"
    "}";

enum { WORDS = 7, LONGEST = 64, TOKEN_BYTES = 4 * 4 };

typedef struct Text {
    uint32_t            prompt[LONGEST], token[LONGEST];
    size_t              prompt_count, count;
    HoloGenerateOptions options;
    HoloTextBatch      *batch;
    uint64_t            id;
    bool                is_over;
    HoloTextEnded       ended;
    struct Text        *then; // is added when this one ends
} Text;

static bool each(void *state, const HoloGenerated *one)
{
    Text *t = state;
    if (one->token == UINT32_MAX) return true;
    assert_true(t->count < LONGEST);
    t->token[t->count++] = one->token;
    return true;
}

static void text_add(HoloTextBatch *batch, Text *t);

static void over(void *state, const HoloTextEnded *ended)
{
    Text *t = state;
    assert_false(t->is_over);
    assert_int_equal(ended->id, t->id);
    t->is_over = true;
    t->ended   = *ended;
    if (t->then) text_add(t->batch, t->then);
}

static void text_add(HoloTextBatch *batch, Text *t)
{
    t->batch = batch;
    EXPECT_OK(holo_text_batch_add(batch, t->prompt, t->prompt_count, &t->options, each, over, t, &t->id, &error));
}

static HoloTextBatch *batch_make(const HoloModel *model, int places, int chunk)
{
    HoloTextBatchOptions options = {.size = sizeof options, .places = places, .chunk = chunk, .context = LONGEST};
    HoloTextBatch       *batch;
    EXPECT_OK(holo_text_batch_create(model, NULL, &options, &batch, &error));
    return batch;
}

// Text i: its prompt, and how it is generated, made up of its number.
static void text_make(Text *t, int i)
{
    HoloGenerateOptions *o = &t->options;
    *t                     = (Text){.prompt_count = 1 + (size_t)(i * 5) % 11};
    o->size                = sizeof *o;
    o->max_tokens          = 3 + (uint32_t)(i * 7) % 13;
    o->lookup              = i % 4 == 3 ? 3 : 0;
    holo_sampler_defaults(&o->sampler);
    o->sampler.temperature = i % 3 == 1 ? 1.5f : 0;
    o->sampler.seed        = (uint64_t)i;
    for (size_t k = 0; k < t->prompt_count; k++) t->prompt[k] = (uint32_t)((size_t)i * 3 + k * k) % WORDS;
}

static void expect_alone(const HoloModel *model, const Text *t)
{
    HoloLanguage *alone;
    Text          want = {0};
    EXPECT_OK(holo_language_open(model, NULL, NULL, &alone, &error));
    EXPECT_OK(holo_generate(alone, t->prompt, t->prompt_count, &t->options, each, &want, NULL, &error));
    assert_int_equal(t->count, want.count);
    assert_memory_equal(t->token, want.token, want.count * sizeof *want.token);
    assert_int_equal(t->ended.status, HOLO_OK);
    assert_int_equal(t->ended.result.tokens, want.count);
    holo_language_close(alone);
}

// Texts come at different steps, more of them than there are places, and prompts are read in pieces of different sizes.
static void test_as_alone(void **state)
{
    (void)state;
    enum { TEXTS = 24 };
    HoloModel *model = text_model_make(source);
    for (int chunk = 1; chunk < 8; chunk += 3) {
        HoloTextBatch *batch = batch_make(model, 3, chunk);
        Text          *texts = calloc(TEXTS, sizeof *texts);
        int            left = 1, come = 0;
        assert_non_null(texts);
        for (int i = 0; i < TEXTS; i++) text_make(&texts[i], i);
        for (int step = 0; left || come < TEXTS; step++) {
            while (come < TEXTS && come * chunk / 2 <= step) text_add(batch, &texts[come++]);
            EXPECT_OK(holo_text_batch_step(batch, &left, &error));
            HoloTextBatchState now;
            holo_text_batch_state(batch, &now);
            assert_int_equal(now.waiting + now.reading + now.generating, left);
            assert_true(now.reading + now.generating <= 3);
        }
        for (int i = 0; i < TEXTS; i++) expect_alone(model, &texts[i]);
        holo_text_batch_destroy(batch);
        free(texts);
    }
    holo_model_close(model);
}

// Three texts in one batch take one run a token.
static void test_shared_runs(void **state)
{
    (void)state;
    HoloModel         *model = text_model_make(source);
    HoloTextBatch     *batch = batch_make(model, 3, 64);
    Text               texts[3];
    HoloTextBatchState now;
    int                left = 1;
    for (int i = 0; i < 3; i++) {
        text_make(&texts[i], 3 * i);
        texts[i].options.lookup     = 0;
        texts[i].options.max_tokens = 9;
        text_add(batch, &texts[i]);
    }
    while (left) EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    holo_text_batch_state(batch, &now);
    assert_int_equal(now.runs, 8); // the first token of each comes with its prompt
    assert_int_equal(now.rows, 24);
    assert_int_equal(now.tokens, 27);
    holo_text_batch_destroy(batch);
    holo_model_close(model);
}

// A prompt that begins like another reads the rest alone: beside one that is generated, and behind one that ended.
static void test_common_beginnings(void **state)
{
    (void)state;
    HoloModel     *model = text_model_make(source);
    HoloTextBatch *batch = batch_make(model, 2, 64);
    Text           texts[3];
    int            left = 1;
    for (int i = 0; i < 3; i++) {
        text_make(&texts[i], 6);
        texts[i].prompt_count   = 10;
        texts[i].options.lookup = 0;
        for (uint32_t k = 0; k < 10; k++) texts[i].prompt[k] = k < 6 ? k : (k + (uint32_t)i) % WORDS;
    }
    texts[0].options.max_tokens = 30;
    texts[1].then               = &texts[2];
    text_add(batch, &texts[0]);
    EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    text_add(batch, &texts[1]);
    while (left) EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(texts[i].ended.result.cached_tokens, i ? 6 : 0);
        expect_alone(model, &texts[i]);
    }
    Text goes_on         = texts[0]; // what came of the first text, and two more tokens
    goes_on.prompt_count = 30;
    memcpy(goes_on.prompt + 10, texts[0].token, 20 * sizeof *goes_on.prompt);
    goes_on.options.max_tokens = 4;
    goes_on.count              = 0;
    goes_on.is_over            = false;
    text_add(batch, &goes_on);
    do EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    while (left);
    assert_int_equal(goes_on.ended.result.cached_tokens, 29);
    expect_alone(model, &goes_on);
    holo_text_batch_destroy(batch);
    holo_model_close(model);
}

// A long prompt is read in pieces, and the text beside it goes on in each step.
static void test_nobody_waits(void **state)
{
    (void)state;
    HoloModel     *model = text_model_make(source);
    HoloTextBatch *batch = batch_make(model, 2, 4);
    Text           quick, slow;
    int            left;
    text_make(&quick, 0);
    text_make(&slow, 2);
    quick.options.max_tokens = 20;
    slow.prompt_count        = 40;
    for (uint32_t k = 0; k < 40; k++) slow.prompt[k] = k % WORDS;
    text_add(batch, &quick);
    EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    text_add(batch, &slow);
    for (size_t step = 1; step <= 10; step++) {
        assert_int_equal(quick.count, step);
        assert_int_equal(slow.count, 0);
        EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    }
    assert_int_equal(slow.count, 1); // 10 pieces of 4 tokens
    while (left) EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    expect_alone(model, &quick);
    expect_alone(model, &slow);
    holo_text_batch_destroy(batch);
    holo_model_close(model);
}

static void test_cancel(void **state)
{
    (void)state;
    HoloModel     *model = text_model_make(source);
    HoloTextBatch *batch = batch_make(model, 2, 64);
    Text           texts[4];
    int            left;
    for (int i = 0; i < 4; i++) {
        text_make(&texts[i], i);
        texts[i].options.max_tokens = i == 3 ? 40 : 12;
        text_add(batch, &texts[i]);
    }
    EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    assert_int_equal(left, 4);
    assert_true(holo_text_batch_cancel(batch, texts[0].id));  // it is generated
    assert_true(holo_text_batch_cancel(batch, texts[2].id));  // it waits
    assert_false(holo_text_batch_cancel(batch, texts[2].id)); // it is over
    assert_false(holo_text_batch_cancel(batch, 99));
    EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    assert_int_equal(left, 2);
    assert_int_equal(texts[0].ended.status, HOLO_CANCELLED);
    assert_int_equal(texts[2].ended.status, HOLO_CANCELLED);
    while (!texts[1].is_over) EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    expect_alone(model, &texts[1]);
    holo_text_batch_destroy(batch); // the last is told, too
    assert_true(texts[3].is_over && texts[3].ended.status == HOLO_CANCELLED);
    holo_model_close(model);
}

static HoloStatus add_status(HoloTextBatch *batch, const Text *t)
{
    HoloError why = {0};
    uint64_t  id;
    return holo_text_batch_add(batch, t->prompt, t->prompt_count, &t->options, each, NULL, NULL, &id, &why);
}

static void test_limits(void **state)
{
    (void)state;
    HoloModel           *model   = text_model_make(source);
    HoloTextBatchOptions options = {.size = sizeof options, .places = 2, .waiting = 1, .memory = 2 * 20 * TOKEN_BYTES};
    HoloTextBatch       *batch;
    HoloTextBatchState   now;
    HoloError            why = {0};
    Text                 text, none;
    int                  left;
    EXPECT_OK(holo_text_batch_create(model, NULL, &options, &batch, &error));
    holo_text_batch_state(batch, &now);
    assert_int_equal(now.context, 20);
    text_make(&text, 0);
    text_make(&none, 0);
    none.prompt_count = 20; // nothing could come of it
    assert_int_equal(add_status(batch, &none), HOLO_BAD_INPUT);
    none.prompt_count = 0;
    assert_int_equal(add_status(batch, &none), HOLO_BAD_ARGUMENT);
    none.prompt_count = 1;
    none.prompt[0]    = WORDS;
    assert_int_equal(add_status(batch, &none), HOLO_BAD_INPUT);
    none.prompt[0]     = 0;
    none.options.beams = 2;
    assert_int_equal(add_status(batch, &none), HOLO_UNSUPPORTED);
    text.options.max_tokens = 0; // until there is no more room
    text_add(batch, &text);
    assert_int_equal(add_status(batch, &text), HOLO_BUSY);
    do EXPECT_OK(holo_text_batch_step(batch, &left, &error));
    while (left);
    assert_int_equal(text.prompt_count + text.count, 20);
    assert_int_equal(text.ended.result.finish, HOLO_ENDING_LENGTH);
    holo_text_batch_state(batch, &now);
    assert_true(now.bytes <= options.memory);
    holo_text_batch_destroy(batch);
    options.memory = 100;
    assert_int_equal(holo_text_batch_create(model, NULL, &options, &batch, &why), HOLO_BAD_ARGUMENT);
    assert_non_null(strstr(why.text, "too few for 2 places"));
    options = (HoloTextBatchOptions){.size = sizeof options, .places = -1};
    assert_int_equal(holo_text_batch_create(model, NULL, &options, &batch, &why), HOLO_BAD_ARGUMENT);
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_alone),
        cmocka_unit_test(test_shared_runs),
        cmocka_unit_test(test_common_beginnings),
        cmocka_unit_test(test_nobody_waits),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
