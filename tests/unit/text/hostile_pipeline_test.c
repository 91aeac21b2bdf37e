// hostile_pipeline_test.c - archives that open but whose networks do not fit what continues texts, listens or makes
// pictures: each is told by a message, and nothing is read or written outside.
#include "support/models.h"

#include "archive/archive.h"
#include "graph/graph.h"
#include "hologram_image.h"
#include "hologram_text.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 3, METAS_MAX = 4 };

typedef struct Archive {
    const char *entry[ENTRIES_MAX][2]; // name and text
    const char *meta[METAS_MAX][2];
} Archive;

static const char tokenizer_json[] =
    "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"c\": 2}, \"merges\": []}}";

static void tokenizer_add(HoloPlan *plan)
{
    const char    *path = temp_path("tokenizer.json");
    HoloTokenizer *tokenizer;
    size_t         size;
    file_write(path, tokenizer_json, strlen(tokenizer_json));
    EXPECT_OK(holo_tokenizer_compile(path, &tokenizer, &error));
    const void *block = holo_tokenizer_block(tokenizer, &size);
    EXPECT_OK(holo_plan_asset(plan, "tokenizer", block, size, &error));
    holo_tokenizer_close(tokenizer);
}

// Where an archive is written. For fuzzing: in the folder HOLO_TEST_ARCHIVES, where it stays.
static const char *archive_path(void)
{
    static char path[4096];
    static int  count;
    const char *folder = getenv("HOLO_TEST_ARCHIVES");
    if (!folder) return temp_path("pipeline.holo");
    snprintf(path, sizeof path, "%s/pipeline%d.holo", folder, count++);
    return path;
}

static HoloModel *opened(const Archive *a)
{
    HoloArena       arena = {0};
    HoloLowered     lowered[ENTRIES_MAX];
    HoloPlanEntry   entries[ENTRIES_MAX];
    HoloPlan        plan;
    HoloFileWriter *file;
    HoloModel      *model;
    uint64_t        size;
    int             count = 0;
    const char     *path  = archive_path();
    for (; count < ENTRIES_MAX && a->entry[count][1]; count++) {
        HoloGraph *graph;
        EXPECT_OK(holo_graph_parse(&arena, a->entry[count][1], &graph, &error));
        EXPECT_OK(holo_graph_infer(graph, &error));
        EXPECT_OK(holo_lower_graph(graph, NULL, &lowered[count], &error));
        entries[count] = (HoloPlanEntry){a->entry[count][0], graph, &lowered[count], false};
    }
    EXPECT_OK(holo_plan_create_all(entries, count, &plan, &error));
    tokenizer_add(&plan);
    for (int i = 0; i < METAS_MAX && a->meta[i][0]; i++)
        EXPECT_OK(holo_plan_meta(&plan, a->meta[i][0], a->meta[i][1], &error));
    EXPECT_OK(holo_file_writer_open(path, &file, &error));
    EXPECT_OK(holo_archive_write(&plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_close(file, true, &error));
    holo_plan_deinit(&plan);
    for (int i = 0; i < count; i++) holo_lowered_deinit(&lowered[i]);
    holo_arena_deinit(&arena);
    EXPECT_OK(holo_model_open(path, &model, &error));
    return model;
}

// ---- texts

// Reads texts of 3, 4 and 2 tokens, until one fails.
static HoloStatus texts_read(const HoloModel *model, HoloError *error)
{
    static const uint32_t tokens[] = {0, 1, 2, 1};
    static const size_t   counts[] = {3, 4, 2};
    HoloLanguage         *language;
    const float          *logits;
    HOLO_TRY(holo_language_open(model, NULL, NULL, &language, error));
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < HOLO_COUNT(counts) && !status; i++)
        status = holo_language_read(language, 0, tokens, counts[i], &logits, error);
    holo_language_close(language);
    return status;
}

// [1, S, S]: as many logits as there are tokens.
#define SQUARE                                                                                  \
    "    f = Cast@13(input_ids) {to=1}\n    const a: i64[1] = {2}\n    const b: i64[1] = {1}\n" \
    "    column = Unsqueeze@13(f, a)\n    row = Unsqueeze@13(f, b)\n    logits = MatMul@13(column, row)\n"
// [1, S, 3]
#define THREE                                                                \
    "    const w: f32[1,3] = {1, 2, 3}\n    f = Cast@13(input_ids) {to=1}\n" \
    "    const a: i64[1] = {2}\n    column = Unsqueeze@13(f, a)\n    logits = MatMul@13(column, w)\n"

#define CACHED                                                                                               \
    "graph g(input_ids: i64[B,S], cache_rows: i64[B] = index, cache_lengths: i64[B] = 0,\n"                  \
    "        picks: i64[P] = index, keys: f32[slots,context,2] = state[B,S,2]) -> (logits) {\n"              \
    "    const words: f32[3,2] = {1, 0, 0, 1, 1, 1}\n    const back: f32[2,3] = {1, 0, 1, -1, 3, 0}\n"       \
    "    x = Gather@13(words, input_ids)\n"                                                                  \
    "    all = hologram::CacheWrite@1(keys, x, cache_rows, cache_lengths)\n"                                 \
    "    y = hologram::CachedAttention@1(x, all, all, cache_rows, cache_lengths) {num_heads=1, scale=1.0}\n" \
    "    z = Gather@13(y, picks) {axis=1}\n    logits = MatMul@13(z, back)\n}"

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        Archive     archive;
        const char *words; // NULL: it is read
    } cases[] = {
        {{.entry = {{"", "graph g(input_ids: i64[1,S]) -> (logits) {\n" THREE "}"}},
          .meta  = {{"text.top_k", "-1e300"}, {"text.no_repeat_ngram", "nan"}, {"text.eos", "1,99999999999,-1"}}},
         NULL},
        {{.entry = {{"", CACHED}}, .meta = {{"text.context", "32"}}}, NULL},
        {{.entry = {{"", "graph g(input_ids: i64[1,S]) -> (logits) {\n" SQUARE "}"}}}, "before it gave 3"},
        // What comes out is smaller than what goes in is said to be.
        {{.entry = {{"", "graph g(input_ids: i64[1,S], past_key_values.0.key: f32[1,64,P,64]) -> (logits, "
                         "present.0.key) {\n" THREE "    const k: f32[1,1,1,1] = {7}\n"
                         "    present.0.key = Identity@13(k)\n}"}}},
         "is not of the type of the input"},
        {{.entry = {{"", "graph g(input_ids: i64[1,S], past_key_values.0.key: f32[1,1,P,1]) -> (logits, "
                         "present.0.key) {\n" THREE "    const k: f32[1,1,1,1] = {7}\n"
                         "    present.0.key = Identity@13(k)\n}"}}},
         "kept 1 tokens"},
        {{.entry = {{"", "graph g(input_ids: i64[1,S], past_key_values.0.key: string[1,1,P,1]) -> (logits, "
                         "present.0.key) {\n" THREE "    present.0.key = Identity@13(past_key_values.0.key)\n}"}}},
         "is not [batch, heads, past, size]"},
        {{.entry = {{"", "graph g(input_ids: i64[B,S], cache_rows: i64[B] = index, cache_lengths: i64[B] = 0,\n"
                         "        x: f32[B,S,h] = 1, keys: f32[slots,context,h] = state[B,S,1]) -> (logits) {\n"
                         "    all = hologram::CacheWrite@1(keys, x, cache_rows, cache_lengths)\n" THREE "}"}}},
         "the state keys of the model has sizes that are not fixed"},
    };
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        HoloModel *model  = opened(&cases[i].archive);
        HoloError  error  = {0};
        HoloStatus status = texts_read(model, &error);
        if (cases[i].words ? !strstr(error.text, cases[i].words) : status != HOLO_OK)
            fail_msg("case %d: '%s', expected '%s'", i, error.text, cases[i].words ? cases[i].words : "");
        holo_model_close(model);
    }
}

// ---- pictures

#define ENCODER                                                                                                      \
    {                                                                                                                \
        "text_encoder", "graph e(input_ids: i64[1,4]) -> (h) { const w: f32[1,1,2] = {1, 2}\n"                       \
                        "    f = Cast@13(input_ids) {to=1}\n    const a: i64[1] = {2}\n    c = Unsqueeze@13(f, a)\n" \
                        "    h = Mul@14(c, w)\n}"                                                                    \
    }
// As many vectors as there are ids above 1: other texts have another number.
#define COUNTER                                                                                                        \
    {                                                                                                                  \
        "text_encoder", "graph e(input_ids: i64[1,4]) -> (h) {\n    const one: i64[] = {1}\n"                          \
                        "    g = Greater@13(input_ids, one)\n    n = NonZero@13(g)\n    f = Cast@13(n) {to=1}\n"       \
                        "    const a: i64[1] = {0}\n    const p: i64[1] = {1}\n    t = Transpose@13(f) {perm=[1,0]}\n" \
                        "    h = Unsqueeze@13(t, a)\n}"                                                                \
    }
#define UNET(time)                                                                                                  \
    {                                                                                                               \
        "unet", "graph u(sample: f32[B,1,2,2], timestep: " time ", encoder_hidden_states: f32[B,T,2]) -> (out) {\n" \
                "    out = Identity@13(sample)\n}"                                                                  \
    }
#define DECODER                                                                                                     \
    {                                                                                                               \
        "vae_decoder", "graph d(latent: f32[1,1,2,2]) -> (image) {\n    image = Concat@13(latent, latent, latent) " \
                       "{axis=1}\n}"                                                                                \
    }

static void test_pictures(void **state)
{
    (void)state;
    static const struct {
        Archive     archive;
        const char *words; // NULL: it is made
        int         side;
    } cases[] = {
        {{.entry = {UNET("i64[]"), ENCODER, DECODER}, .meta = {{"text.pad", "-1e99"}}}, NULL, 2},
        {{.entry = {UNET("string[]"), ENCODER, DECODER}}, "does not take its step as", 2},
        {{.entry = {UNET("i64[]"), COUNTER, DECODER}},
         "the text encoder gives vectors for 4 tokens, and then for 0",
         2},
        {{.entry = {{"unet", "graph u() -> (out) { const x: f32[1] = {1}\n    out = Identity@13(x) }"},
                    ENCODER,
                    DECODER}},
         "has no inputs sample",
         2},
        {{.entry = {UNET("i64[]"),
                    ENCODER,
                    {"vae_decoder", "graph d(latent: f32[1,1,2,2]) -> (s) { s = SequenceConstruct@11(latent) }"}}},
         "the decoder does not give a picture",
         16},
    };
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        HoloModel         *model = opened(&cases[i].archive);
        HoloError          error = {0};
        HoloImagineOptions options;
        HoloTensor         image;
        holo_imagine_defaults(model, &options);
        options.prompt = "cccc";
        options.steps  = 2;
        options.width = options.height = cases[i].side;
        HoloStatus status              = holo_imagine(model, &options, &image, &error);
        if (cases[i].words ? !strstr(error.text, cases[i].words) : status != HOLO_OK)
            fail_msg("case %d: '%s', expected '%s'", i, error.text, cases[i].words ? cases[i].words : "");
        holo_image_free(&image);
        holo_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_pictures)};
    return cmocka_run_group_tests_name("hostile_pipeline", tests, NULL, NULL);
}
