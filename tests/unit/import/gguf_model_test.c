// gguf_model_test.c - models in GGUF files: what becomes of their metadata and tensors, and what is refused.
// tests/cli/gguf_test.sh compares answers.
#include "import/importer.h"
#include "support/gguf_writer.h"
#include "support/models.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 32, INNER = 64, WORDS = 8, F32 = 0, F16 = 1, Q8_0 = 8, I8 = 24 };

static const unsigned char zeros[SIZE * INNER * 4];

typedef struct Options {
    uint32_t    type;         // of matrices
    const char *changed;      // a tensor that is of another type, or has other rows
    uint32_t    changed_type; // 99: it is left out
    uint64_t    changed_row;  // 0: as it should be
} Options;

static size_t bytes_of(uint32_t type, uint64_t count)
{
    return type == F16 ? count * 2 : type == Q8_0 ? count / 32 * 34 : type == I8 ? count : count * 4;
}

static void add(GgufFile *file, const Options *o, const char *name, uint64_t row, uint64_t rows)
{
    uint32_t type = rows ? o->type : F32;
    if (o->changed && !strcmp(o->changed, name)) {
        type = o->changed_type;
        if (type == 99) return;
        if (o->changed_row) row = o->changed_row;
    }
    gguf_tensor(file, name, type, (const uint64_t[]){row, rows, 0}, zeros, bytes_of(type, row * (rows ? rows : 1)));
}

static GgufFile tiny(const Options *o)
{
    GgufFile file = {0};
    gguf_text(&file, "general.architecture", "llama");
    gguf_u32(&file, "llama.block_count", 1);
    gguf_u32(&file, "llama.embedding_length", SIZE);
    gguf_u32(&file, "llama.feed_forward_length", INNER);
    gguf_u32(&file, "llama.attention.head_count", 4);
    gguf_f32(&file, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    add(&file, o, "token_embd.weight", SIZE, WORDS);
    add(&file, o, "output_norm.weight", SIZE, 0);
    add(&file, o, "blk.0.attn_norm.weight", SIZE, 0);
    add(&file, o, "blk.0.attn_q.weight", SIZE, SIZE);
    add(&file, o, "blk.0.attn_k.weight", SIZE, SIZE);
    add(&file, o, "blk.0.attn_v.weight", SIZE, SIZE);
    add(&file, o, "blk.0.attn_output.weight", SIZE, SIZE);
    add(&file, o, "blk.0.ffn_norm.weight", SIZE, 0);
    add(&file, o, "blk.0.ffn_gate.weight", SIZE, INNER);
    add(&file, o, "blk.0.ffn_up.weight", SIZE, INNER);
    add(&file, o, "blk.0.ffn_down.weight", INNER, SIZE);
    return file;
}

static HoloStatus import(HoloArena *arena, GgufFile *file, HoloModelSource *out, HoloError *error)
{
    size_t         size;
    unsigned char *bytes = gguf_bytes(file, 3, &size), *kept = holo_arena_take(arena, size);
    memcpy(kept, bytes, size); // as long as the arena, and with a red zone behind it where that is watched
    free(bytes);
    return holo_import_memory(arena, kept, size, out, error);
}

static const char *meta(const HoloModelSource *source, const char *key)
{
    for (int i = 0; i < source->meta_count; i++)
        if (!strcmp(source->meta[i].key, key)) return source->meta[i].value;
    return "";
}

// Weights are those of the file, with its types, and not copied.
static void test_weights(void **state)
{
    (void)state;
    static const struct {
        uint32_t    type;
        const char *name; // of the constant
        HoloDtype   dtype;
        int64_t     row;
    } rows[] = {{F32, "layers.0.self_attn.q_proj.weight", HOLO_F32, SIZE},
                {F16, "layers.0.self_attn.q_proj.weight.stored", HOLO_F16, SIZE},
                {Q8_0, "layers.0.self_attn.q_proj.weight.stored", HOLO_U8, 34}};
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloArena       arena = {0};
        GgufFile        file  = tiny(&(Options){.type = rows[i].type});
        HoloModelSource source;
        EXPECT_OK(import(&arena, &file, &source, &error));
        EXPECT_OK(holo_graph_infer(source.graph, &error));
        HoloValue *q = holo_graph_find(source.graph, rows[i].name);
        assert_non_null(q);
        assert_true(q->is_constant);
        assert_int_equal(q->type.dtype, rows[i].dtype);
        assert_int_equal(q->type.dim[0], SIZE);
        assert_int_equal(q->type.dim[1], rows[i].row);
        assert_int_equal(source.graph->outputs[0]->type.dim[2], WORDS);
        assert_string_equal(meta(&source, "architecture"), "LlamaForCausalLM");
        assert_string_equal(meta(&source, "llama.feed_forward_length"), "64");
        assert_string_equal(meta(&source, "unused_weights"), "");
        holo_import_close(&source);
        holo_arena_deinit(&arena);
    }
}

static void test_metadata(void **state)
{
    (void)state;
    HoloArena       arena = {0};
    GgufFile        file  = tiny(&(Options){.type = F32});
    HoloModelSource source;
    gguf_tensor(&file, "extra.weight", F32, (const uint64_t[]){4, 0}, zeros, 16);
    gguf_key(&file, "short", 9);
    gguf_put_number(&file.meta, 5, 4);
    gguf_put_number(&file.meta, 2, 8);
    gguf_put_number(&file.meta, 7, 4);
    gguf_put_number(&file.meta, (uint64_t)-8, 4);
    gguf_key(&file, "texts", 9);
    gguf_put_number(&file.meta, 8, 4);
    gguf_put_number(&file.meta, 1, 8);
    gguf_put_text(&file.meta, "a");
    gguf_key(&file, "is", 7);
    gguf_put_number(&file.meta, 1, 1);
    EXPECT_OK(import(&arena, &file, &source, &error));
    assert_string_equal(source.format, "GGUF");
    assert_string_equal(meta(&source, "short"), "[7, -8]");
    assert_string_equal(meta(&source, "texts"), "1 texts");
    assert_string_equal(meta(&source, "is"), "true");
    assert_string_equal(meta(&source, "version"), "3");
    assert_string_equal(meta(&source, "unused_weights"), "1, extra.weight");
    holo_import_close(&source);
    holo_arena_deinit(&arena);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        Options     options;
        HoloStatus  status;
        const char *words;
    } rows[] = {
        {{F32, "blk.0.attn_q.weight", 99, 0}, HOLO_BAD_MODEL, "'layers.0.self_attn.q_proj.weight', which is missing"},
        {{F32, "blk.0.attn_q.weight", 36, 0}, HOLO_UNSUPPORTED, "'blk.0.attn_q.weight' is of type 36"},
        {{F32, "blk.0.attn_q.weight", 9, 0}, HOLO_UNSUPPORTED, "is of type 9, Q8_1"},
        {{F32, "blk.0.attn_q.weight", Q8_0, 40}, HOLO_BAD_MODEL, "rows of 40, which are not whole blocks"},
        {{F32, "blk.0.attn_q.weight", F32, 40}, HOLO_BAD_MODEL, "has sizes [32, 40]"},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloArena       arena = {0};
        GgufFile        file  = tiny(&rows[i].options);
        HoloModelSource source;
        EXPECT_FAIL(import(&arena, &file, &source, &error), rows[i].status, rows[i].words);
        holo_arena_deinit(&arena);
    }
}

static void refuse(GgufFile *file, HoloStatus expected, const char *words)
{
    HoloArena       arena = {0};
    HoloModelSource source;
    EXPECT_FAIL(import(&arena, file, &source, &error), expected, words);
    holo_arena_deinit(&arena);
}

static void test_refused_metadata(void **state)
{
    (void)state;
    GgufFile file = {0};
    refuse(&file, HOLO_BAD_MODEL, "'general.architecture' is missing");
    gguf_text(&file, "general.architecture", "gemma9");
    refuse(&file, HOLO_UNSUPPORTED, "'gemma9'; the nearest that is known is gemma");
    gguf_text(&file, "general.architecture", "llama");
    gguf_text(&file, "general.type", "adapter");
    refuse(&file, HOLO_UNSUPPORTED, "a part of a model ('adapter'");
    file = tiny(&(Options){.type = F32});
    gguf_u32(&file, "split.count", 3);
    gguf_u32(&file, "split.no", 0);
    refuse(&file, HOLO_BAD_MODEL, "not called NAME-00001-of-00003.gguf");
    file = tiny(&(Options){.type = F32});
    gguf_key(&file, "llama.attention.head_count_kv", 9); // another for each layer
    gguf_put_number(&file.meta, 4, 4);
    gguf_put_number(&file.meta, 2, 8);
    gguf_put_number(&file.meta, 4, 4);
    gguf_put_number(&file.meta, 2, 4);
    refuse(&file, HOLO_UNSUPPORTED, "'llama.attention.head_count_kv' is not one number");
    file = tiny(&(Options){.type = F32});
    gguf_tensor(&file, "large", F32, (const uint64_t[]){1u << 20, 0}, zeros, 4);
    refuse(&file, HOLO_BAD_MODEL, "'large', at byte");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_metadata),
    };
    return cmocka_run_group_tests_name("gguf_model", tests, NULL, NULL);
}
