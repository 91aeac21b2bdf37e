// token_bytes_test.c - the bytes that tokens add in the middle of a text, for each kind of vocabulary.
#include "support/models.h"

#include "base/base.h"
#include "hologram_text.h"

#include <stdio.h>
#include <string.h>

static HoloTokenizer *tokenizer_of(const char *json)
{
    HoloTokenizer *tokenizer = NULL;
    const char    *path      = temp_path("tokenizer.json");
    file_write(path, json, strlen(json));
    EXPECT_OK(holo_tokenizer_compile(path, &tokenizer, &error));
    return tokenizer;
}

static void expect_bytes(HoloTokenizer *tokenizer, uint32_t id, const char *wanted)
{
    char  *bytes;
    size_t size;
    EXPECT_OK(holo_tokenizer_token_bytes(tokenizer, id, &bytes, &size, &error));
    if (size != strlen(wanted) || memcmp(bytes, wanted, size)) fail_msg("token %u: '%.*s'", id, (int)size, bytes);
    holo_text_free(bytes);
}

static void test_byte_letters(void **state)
{
    (void)state;
    HoloTokenizer *t = tokenizer_of(
        "{\"added_tokens\": [{\"id\": 5, \"content\": \"<end>\", \"special\": true}, {\"id\": 6, \"content\": \"<x é>\"}],"
        "\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false}, \"decoder\": {\"type\": \"ByteLevel\"},"
        "\"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {\"a\": 0, \"Ġa\": 1, \"Ã\": 2, \"©\": 3, \"Ċ\": 4}}}");
    expect_bytes(t, 0, "a");
    expect_bytes(t, 1, " a");
    expect_bytes(t, 2, "\xC3"); // a part of a character
    expect_bytes(t, 3, "\xA9");
    expect_bytes(t, 4, "\n");
    expect_bytes(t, 5, "");      // special
    expect_bytes(t, 6, "<x é>"); // not written in letters of bytes
    expect_bytes(t, 7, "");      // there is none
    holo_tokenizer_close(t);
}

static void test_sentence_piece(void **state)
{
    (void)state;
    HoloTokenizer *t = tokenizer_of(
        "{\"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", \"pattern\": {\"String\": \"▁\"}, \"content\": \" \"},"
        "{\"type\": \"ByteFallback\"}, {\"type\": \"Fuse\"}, {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": 0}]},"
        "\"model\": {\"type\": \"BPE\", \"byte_fallback\": false, \"merges\": [], \"vocab\": {\"▁the\": 0, \"a▁b\": 1, \"<0xE2>\": 2, \"<0x0A>\": 3, \"é\": 4}}}");
    expect_bytes(t, 0, " the");
    expect_bytes(t, 1, "a b");
    expect_bytes(t, 2, "\xE2");
    expect_bytes(t, 3, "\n");
    expect_bytes(t, 4, "é");
    holo_tokenizer_close(t);
    t = tokenizer_of(
        "{\"decoder\": {\"type\": \"Metaspace\", \"replacement\": \"▁\", \"prepend_scheme\": \"always\"},"
        "\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"<unk>\", 0], [\"▁the\", -1], [\"s▁\", -2]]}}");
    expect_bytes(t, 1, " the");
    expect_bytes(t, 2, "s ");
    holo_tokenizer_close(t);
}

static void test_word_piece(void **state)
{
    (void)state;
    HoloTokenizer *t = tokenizer_of(
        "{\"decoder\": {\"type\": \"WordPiece\", \"prefix\": \"##\", \"cleanup\": true},"
        "\"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\", \"continuing_subword_prefix\": \"##\","
        "\"max_input_chars_per_word\": 100, \"vocab\": {\"[UNK]\": 0, \"word\": 1, \"##s\": 2}}}");
    expect_bytes(t, 1, " word");
    expect_bytes(t, 2, "s");
    holo_tokenizer_close(t);
}

// A tree of a tokenizer: the mask has tokens by these bytes.
static void test_tree(void **state)
{
    (void)state;
    HoloTokenizer *t = tokenizer_of(
        "{\"added_tokens\": [{\"id\": 4, \"content\": \"<end>\", \"special\": true}],"
        "\"decoder\": {\"type\": \"ByteLevel\"}, \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false},"
        "\"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {\"Ã\": 0, \"©\": 1, \"Ġ\": 2, \"Ã©\": 3}}}");
    HoloTokenTree    *tree;
    HoloGrammar      *grammar;
    HoloGrammarState *s;
    uint64_t          mask;
    uint32_t          count;
    EXPECT_OK(holo_token_tree_create(t, (uint32_t[]){4}, 1, &tree, &error));
    EXPECT_OK(holo_grammar_compile(HOLO_GRAMMAR_GBNF, "root ::= \"é\" \" \"?", strlen("root ::= \"é\" \" \"?"), 0,
                                   &grammar, &error));
    EXPECT_OK(holo_grammar_set_tokens(grammar, tree, &error));
    EXPECT_OK(holo_grammar_state_create(grammar, &s, &error));
    static const struct {
        uint32_t accept;
        uint64_t mask;
    } rows[] = {{0, 1 << 0 | 1 << 3}, {1, 1 << 1}, {2, 1 << 2 | 1 << 4}, {4, 1 << 4}};
    for (int i = 0; i < 4; i++) {
        EXPECT_OK(holo_grammar_state_mask(s, &mask, &count, &error));
        assert_int_equal(mask, rows[i].mask);
        EXPECT_OK(holo_grammar_state_accept(s, rows[i].accept, &error));
    }
    holo_grammar_state_destroy(s);
    holo_grammar_close(grammar);
    holo_token_tree_destroy(tree);
    holo_tokenizer_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_byte_letters), cmocka_unit_test(test_sentence_piece),
                                       cmocka_unit_test(test_word_piece), cmocka_unit_test(test_tree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
