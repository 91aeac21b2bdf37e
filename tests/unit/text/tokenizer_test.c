// tokenizer_test.c - tokenizers: what the parts of tokenizer.json do, as HuggingFace's library answered; other formats.
#include "base/base.h"
#include "hologram_text.h"
#include "support/gguf_writer.h"
#include "support/models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BPE(fuse, fallback)                                                                                 \
    "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"fuse_unk\":" fuse ",\"byte_fallback\":" fallback \
    ",\"ignore_merges\":false,\"vocab\":{\"<unk>\":0,\"<s>\":1,\"</s>\":2,\"\xE2\x96\x81"                   \
    "\":3,\"h\":4,\"e\":5,\"l\":6,\"o\":7,\"he\":8,\"ll\":9,\"hell\":10,\"\xE2\x96\x81h\""                  \
    ":11,\"\xE2\x96\x81hello\":12,\"hello\":13,\"<0xC3>\":14,\"<0xA9>\":15,\"a\":16,\"b\""                  \
    ":17,\" \":18,\"1\":19,\"2\":20,\"12\":21,\".\":22,\"\xC4\xA0\":23,\"\xC4\xA0h\":24,"                   \
    "\"H\":25,\"\xC3\xA9\":26},\"merges\":[\"h e\",\"l l\",\"he ll\",\"hell o\",\"1 2\","                   \
    "\"\xC4\xA0 h\"]}"
#define UNIGRAM                                                                            \
    "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":false,\"vocab\":[[\"<" \
    "unk>\",0],[\"<s>\",0],[\"</s>\",0],[\"\xE2\x96\x81\",-2],[\"h\",-5],[\"e\",-5],[\"l"  \
    "\",-5],[\"o\",-5],[\"he\",-4],[\"llo\",-4.5],[\"\xE2\x96\x81he\",-3],[\"\xE2\x96\x81" \
    "hello\",-8],[\"a\",-4],[\"1\",-4]]}"
#define WORDPIECE                                                                          \
    "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefi" \
    "x\":\"##\",\"max_input_chars_per_word\":8,\"vocab\":{\"[UNK]\":0,\"[CLS]\":1,\"[SEP]" \
    "\":2,\"hello\":3,\"he\":4,\"##ll\":5,\"##o\":6,\"!\":7,\"a\":8,\"e\":9,\"\xE6\x9D"    \
    "\xB1\":10,\".\":11}}"

static const struct {
    const char *json, *text;
    size_t      size;
    const char *ids, *back;
} table[] = {
    {"{" BPE("false", "false") "}", "hello he12.x x", 14, "13 18 8 21 22 0 18 0", "hello   he 12 . <unk>   <unk>"},
    {"{" BPE("true", "false") "}", "hello xx yz", 11, "13 18 0 18 0", "hello   <unk>   <unk>"},
    {"{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prep"
     "end\":\"\xE2\x96\x81\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"conte"
     "nt\":\"\xE2\x96\x81\"}]},\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":"
     "\"Replace\",\"pattern\":{\"String\":\"\xE2\x96\x81\"},\"content\":\" \"},{\"type\":"
     "\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \",\"start"
     "\":1,\"stop\":0}]}," BPE("true", "true") "}",
     "hello  hello", 12, "3 13 3 3 13", "hello  hello"},
    {"{\"normalizer\":{\"type\":\"NFD\"}," BPE("true", "true") "}", "h\xC3\xA9 \xC3\x83", 6, "8 0 18 0",
     "he <unk>   <unk>"},
    {"{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets"
     "\":true,\"use_regex\":true},\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\""
     ":true,\"trim_offsets\":true,\"use_regex\":true}," BPE("false", "false") "}",
     "hello he  12", 12, "13 23 8 23 23 21", "hello he  12"},
    {"{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets"
     "\":true,\"use_regex\":true},\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\""
     ":true,\"trim_offsets\":true,\"use_regex\":true}," BPE("false", "false") "}",
     "hello", 5, "23 13", " hello"},
    {"{\"normalizer\":{\"type\":\"Lowercase\"},\"pre_tokenizer\":{\"type\":\"Digits\",\"in"
     "dividual_digits\":true}," BPE("false", "false") "}",
     "HELLO12", 7, "13 19 20", "hello 1 2"},
    {"{\"pre_tokenizer\":{\"type\":\"Digits\",\"individual_digits\":false}," BPE("false", "false") "}", "hello12hello",
     12, "13 21 13", "hello 12 hello"},
    {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"l+\"},\"behavior\":"
     "\"MergedWithPrevious\",\"invert\":false}," BPE("false", "false") "}",
     "hello hello", 11, "10 7 18 10 7", "hell o   hell o"},
    {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\s+\"},\"behavior"
     "\":\"Removed\",\"invert\":true}," BPE("false", "false") "}",
     "hello hello", 11, "18", " "},
    {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"l\"},\"behavior\":"
     "\"Contiguous\",\"invert\":false}," BPE("false", "false") "}",
     "hello", 5, "8 9 7", "he ll o"},
    {"{\"pre_tokenizer\":{\"type\":\"Punctuation\",\"behavior\":\"MergedWithNext\"}," BPE("false", "false") "}",
     "he.ll..o", 8, "8 22 9 22 22 7", "he . ll . . o"},
    {"{\"pre_tokenizer\":{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"a\"}," BPE("false", "false") "}", "heallao",
     7, "8 9 7", "he ll o"},
    {"{\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"}," BPE("false", "false") "}", "hello 12", 8, "13 18 21",
     "hello   12"},
    {"{\"added_tokens\":[{\"id\":1,\"content\":\"<s>\",\"single_word\":false,\"lstrip\":tr"
     "ue,\"rstrip\":true,\"normalized\":false,\"special\":true}]," BPE("false", "false") "}",
     "hello  <s>  hello<s>", 20, "13 1 13 1", "hello hello"},
    {"{\"added_tokens\":[{\"id\":1,\"content\":\"<s>\",\"single_word\":false,\"lstrip\":fa"
     "lse,\"rstrip\":false,\"normalized\":true,\"special\":true}],\"normalizer\":{\"type\""
     ":\"Replace\",\"pattern\":{\"String\":\"s\"},\"content\":\"a\"},\"decoder\":{\"type\""
     ":\"Fuse\"}," BPE("false", "false") "}",
     "hello<s>he", 10, "13 1 8", "hello<a>he"},
    {"{\"added_tokens\":[{\"id\":1,\"content\":\"<s>\",\"single_word\":false,\"lstrip\":fa"
     "lse,\"rstrip\":true,\"normalized\":false,\"special\":true}],\"pre_tokenizer\":{\"typ"
     "e\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\",\"prepend_scheme\":\"first\",\"sp"
     "lit\":false}," BPE("false", "false") "}",
     " \x7Fhello<s> hello", 16, "3 0 13 1 13", "\xE2\x96\x81 <unk> hello hello"},
    {"{\"normalizer\":{\"type\":\"Nmt\"},\"pre_tokenizer\":{\"type\":\"Metaspace\",\"repla"
     "cement\":\"\xE2\x96\x81\",\"prepend_scheme\":\"first\",\"split\":true}," BPE("false", "false") "}",
     "\x7Fhello hello", 12, "13 3 13", "hello \xE2\x96\x81 hello"},
    {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{"
     "\"id\":\"<s>\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"Specia"
     "lToken\":{\"id\":\"</s>\",\"type_id\":0}}],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"t"
     "ype_id\":0}},{\"Sequence\":{\"id\":\"B\",\"type_id\":1}}],\"special_tokens\":{\"<s>"
     "\":{\"id\":\"<s>\",\"ids\":[1],\"tokens\":[\"<s>\"]},\"</s>\":{\"id\":\"</s>\",\"ids"
     "\":[2],\"tokens\":[\"</s>\"]}}}," BPE("false", "false") "}",
     "hello", 5, "1 13 2", "<s> hello </s>"},
    {"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\",\"prepen"
     "d_scheme\":\"always\",\"split\":true},\"decoder\":{\"type\":\"Metaspace\",\"replacem"
     "ent\":\"\xE2\x96\x81\",\"prepend_scheme\":\"always\",\"split\":true}," UNIGRAM "}",
     "hello hexyzlo 1a", 16, "10 9 10 0 6 7 3 13 12", "hello he<unk>lo 1a"},
    {"{\"normalizer\":{\"type\":\"StripAccents\"},\"pre_tokenizer\":{\"type\":\"Metaspace"
     "\",\"replacement\":\"\xE2\x96\x81\",\"prepend_scheme\":\"never\",\"split\":true}," UNIGRAM "}",
     "he\xCC\x81llo\xE2\x83\x9D a", 12, "8 9 3 12", "he llo \xE2\x96\x81 a"},
    {"{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_ch"
     "ars\":true,\"strip_accents\":null,\"lowercase\":true},\"pre_tokenizer\":{\"type\":\""
     "BertPreTokenizer\"},\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]"
     "\",2],\"cls\":[\"[CLS]\",1]},\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\","
     "\"cleanup\":true}," WORDPIECE "}",
     "H\xC3\xA9llo! a\xE6\x9D\xB1"
     "a helloooooooo hex \x00.",
     33, "1 3 7 8 10 8 0 0 11 2", "[CLS] hello! a \xE6\x9D\xB1 a [UNK] [UNK]. [SEP]"},
    {"{\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"decoder\":{\"type\":\"CTC\",\"pad_tok"
     "en\":\"a\",\"word_delimiter_token\":\"e\",\"cleanup\":true}," WORDPIECE "}",
     "hello a a e !", 13, "3 8 8 9 7", "h llo !"},
    {"{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"decoder\":{\"type\":\"BPEDecoder"
     "\",\"suffix\":\"</w>\"},"
     "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"<unk>\",\"vocab\":{\"<unk>\":0,\"h"
     "ello\":1,\"a\":2,\"b</w>\":3}}"
     "}",
     "hello b</w> x a", 15, "1 3 0 2", "hellob <unk>a"},
    {"{\"pre_tokenizer\":{\"type\":\"Whitespace\"},"
     "\"model\":{\"type\":\"BPE\",\"continuing_subword_prefix\":\"##\",\"end_of_word_suffi"
     "x\":\"</w>\",\"vocab\":{\"a\":0,\"##b\":1,\"##b</w>\":2,\"ab</w>\":3,\"a</w>\":4,\"#"
     "#a\":5},\"merges\":[\"a ##b</w>\"]}"
     "}",
     "ab abb a ba", 11, "3 0 1 2 4", "ab</w> a ##b ##b</w> a</w>"},
};

// A tokenizer of a file with this text.
static HoloTokenizer *tokenizer_of(const char *name, const void *data, size_t size)
{
    HoloTokenizer *t = NULL;
    file_write(temp_path(name), data, size);
    EXPECT_OK(holo_tokenizer_compile(temp_path(name), &t, &error));
    return t;
}

// The ids, and the text that they decode to without special tokens, are these.
static void expect_text(HoloTokenizer *t, const char *text, size_t size, const char *ids, const char *back)
{
    uint32_t *found = NULL;
    size_t    count = 0, back_size = 0;
    char      written[400] = "", *decoded = NULL;
    EXPECT_OK(holo_tokenizer_encode(t, text, size, HOLO_TEXT_SPECIAL, &found, &count, &error));
    for (size_t i = 0; i < count && strlen(written) < 380; i++)
        sprintf(written + strlen(written), "%s%u", i ? " " : "", found[i]);
    assert_string_equal(written, ids);
    EXPECT_OK(holo_tokenizer_decode(t, found, count, 0, &decoded, &back_size, &error));
    if (back) assert_string_equal(decoded, back);
    holo_ids_free(found);
    holo_text_free(decoded);
}

static void test_table(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(table); i++) {
        HoloTokenizer *t = tokenizer_of("t.json", table[i].json, strlen(table[i].json)), *again = NULL;
        expect_text(t, table[i].text, table[i].size, table[i].ids, table[i].back);
        size_t      size;
        const void *block = holo_tokenizer_block(t, &size);
        EXPECT_OK(holo_tokenizer_open_memory(block, size, &again, &error));
        expect_text(again, table[i].text, table[i].size, table[i].ids, table[i].back);
        holo_tokenizer_close(again);
        holo_tokenizer_close(t);
    }
}

// A word of a million letters: if every pair were looked at for every merge, it would take hours.
static void test_long_word(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    const char    *json = "{" BPE("false", "false") "}";
    HoloTokenizer *t    = tokenizer_of("t.json", json, strlen(json));
    char          *text = malloc(SIZE);
    uint32_t      *ids;
    size_t         count;
    for (size_t i = 0; i < SIZE; i++) text[i] = "hello"[i % 5];
    EXPECT_OK(holo_tokenizer_encode(t, text, SIZE, 0, &ids, &count, &error));
    assert_int_equal(count, SIZE / 5 + 1);
    assert_int_equal(ids[0], 13);
    holo_ids_free(ids);
    free(text);
    holo_tokenizer_close(t);
}

// Steps that make a text ten times longer each: forty letters do not become gigabytes.
static void test_growing(void **state)
{
    static const char ten[] = "{\"type\":\"Replace\",\"pattern\":{\"String\":\"h\"},\"content\":\"hhhhhhhhhh\"}";
    static const struct {
        const char *part, *list, *step;
        bool        is_added; // its added token is normalized when it is compiled
    } ways[] = {
        {"normalizer", "normalizers", ten, false},
        {"normalizer", "normalizers", ten, true},
        {"decoder", "decoders", ten, false},
        {"pre_tokenizer", "pretokenizers", "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}",
         false},
    };
    (void)state;
    for (int i = 0; i < HOLO_COUNT(ways); i++) {
        char           json[8192];
        HoloError      error = {0};
        HoloTokenizer *t     = NULL;
        uint32_t      *ids   = NULL;
        size_t         count = 0, back_size;
        char          *back  = NULL;
        int size = sprintf(json, "{\"%s\":{\"type\":\"Sequence\",\"%s\":[%s", ways[i].part, ways[i].list, ways[i].step);
        for (int k = 0; k < 31; k++) size += sprintf(json + size, ",%s", ways[i].step);
        size += sprintf(json + size, "]},\"added_tokens\":[%s]," BPE("false", "false") "}",
                        ways[i].is_added ? "{\"id\":27,\"content\":\"hhh\",\"normalized\":true}" : "");
        file_write(temp_path("t.json"), json, (size_t)size);
        HoloStatus status = holo_tokenizer_compile(temp_path("t.json"), &t, &error);
        if (!status) status = holo_tokenizer_encode(t, "h\xC3\xA9h", 4, 0, &ids, &count, &error);
        if (!status) status = holo_tokenizer_decode(t, ids, count, 0, &back, &back_size, &error);
        assert_int_equal(status, HOLO_UNSUPPORTED);
        assert_non_null(strstr(error.text, "256 times longer"));
        holo_ids_free(ids);
        holo_tokenizer_close(t);
    }
}

// ---- GGUF

static void gguf_texts(GgufFile *file, const char *key, const char *const *texts, int count)
{
    gguf_key(file, key, 9);
    gguf_put_number(&file->meta, 8, 4);
    gguf_put_number(&file->meta, (uint64_t)count, 8);
    for (int i = 0; i < count; i++) gguf_put_text(&file->meta, texts[i]);
}

static void gguf_numbers(GgufFile *file, const char *key, uint32_t kind, const void *numbers, int count)
{
    gguf_key(file, key, 9);
    gguf_put_number(&file->meta, kind, 4);
    gguf_put_number(&file->meta, (uint64_t)count, 8);
    gguf_put(&file->meta, numbers, (size_t)count * 4);
}

static HoloTokenizer *gguf_tokenizer(GgufFile *file)
{
    size_t         size;
    unsigned char *bytes = gguf_bytes(file, 3, &size);
    HoloTokenizer *t     = tokenizer_of("t.gguf", bytes, size);
    free(bytes);
    return t;
}

static void test_gguf_llama(void **state)
{
    (void)state;
    static const char *const tokens[] = {"<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "\xE2\x96\x81", "h",
                                         "e",     "l",   "o",    "he",     "ll",     "hell",         "el"};
    static const int32_t     kinds[]  = {2, 3, 3, 6, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const float       scores[] = {0, 0, 0, 0, 0, -9, -9, -9, -9, -9, -3, -2, -1, -1.5F};
    GgufFile                 file     = {0};
    gguf_text(&file, "tokenizer.ggml.model", "llama");
    gguf_texts(&file, "tokenizer.ggml.tokens", tokens, HOLO_COUNT(tokens));
    gguf_numbers(&file, "tokenizer.ggml.token_type", 5, kinds, HOLO_COUNT(kinds));
    gguf_numbers(&file, "tokenizer.ggml.scores", 6, scores, HOLO_COUNT(scores));
    gguf_u32(&file, "tokenizer.ggml.bos_token_id", 1);
    HoloTokenizer *t = gguf_tokenizer(&file);
    expect_text(t, "hello \xC3\xA9</s>h", 13, "1 5 6 13 8 9 5 3 4 2 5 6", "hello \xC3\xA9 h"); // the better score first
    holo_tokenizer_close(t);
}

static void test_gguf_gpt2(void **state)
{
    (void)state;
    static const char *const        tokens[] = {"h", "e", "l", "o", "he", "ll", "\xC4\xA0", "1", "2", "12", "<end>"},
                             *const merges[] = {"h e", "l l", "1 2"};
    static const int32_t            kinds[]  = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3};
    static const struct {
        const char *pre, *ids;
    } rows[] = {{"gpt-2", "4 5 3 6 9 10"}, {"starcoder", "4 5 3 6 7 8 10"}, {"llama-bpe", "4 5 3 6 9 10"}};
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        GgufFile file = {0};
        gguf_text(&file, "tokenizer.ggml.model", "gpt2");
        gguf_text(&file, "tokenizer.ggml.pre", rows[i].pre);
        gguf_texts(&file, "tokenizer.ggml.tokens", tokens, HOLO_COUNT(tokens));
        gguf_numbers(&file, "tokenizer.ggml.token_type", 5, kinds, HOLO_COUNT(kinds));
        gguf_texts(&file, "tokenizer.ggml.merges", merges, HOLO_COUNT(merges));
        HoloTokenizer *t = gguf_tokenizer(&file);
        expect_text(t, "hello 12<end>", 13, rows[i].ids, "hello 12");
        holo_tokenizer_close(t);
    }
}

static void test_gguf_bert_and_rwkv(void **state)
{
    (void)state;
    static const char *const words[] = {"[UNK]", "[CLS]", "[SEP]", "\xE2\x96\x81he", "llo", "\xE2\x96\x81!"};
    static const int32_t     kinds[] = {3, 3, 3, 1, 1, 1};
    GgufFile                 file = {0}, other = {0};
    gguf_text(&file, "tokenizer.ggml.model", "bert");
    gguf_texts(&file, "tokenizer.ggml.tokens", words, HOLO_COUNT(words));
    gguf_numbers(&file, "tokenizer.ggml.token_type", 5, kinds, HOLO_COUNT(kinds));
    gguf_u32(&file, "tokenizer.ggml.unknown_token_id", 0);
    gguf_u32(&file, "tokenizer.ggml.bos_token_id", 1);
    gguf_u32(&file, "tokenizer.ggml.seperator_token_id", 2);
    HoloTokenizer *t = gguf_tokenizer(&file);
    expect_text(t, "H\xC3\xA9llo! llo", 11, "1 3 4 5 0 2", "hello!");
    holo_tokenizer_close(t);
    static const char *const bytes[] = {"h", "e", "he", "\\n", "\\xc3", "\\xa9", "\\xc3\\xa9h"};
    gguf_text(&other, "tokenizer.ggml.model", "rwkv");
    gguf_texts(&other, "tokenizer.ggml.tokens", bytes, HOLO_COUNT(bytes));
    t = gguf_tokenizer(&other);
    expect_text(t, "he\nh\xC3\xA9h\xC3\xA9", 9, "2 3 0 6 4 5", "he\nh\xC3\xA9h\xC3\xA9");
    holo_tokenizer_close(t);
}

// ---- SentencePiece, and plain files in a folder

static void put_piece(GgufBytes *to, const char *text, float score, int kind)
{
    unsigned char size = (unsigned char)strlen(text);
    gguf_put(to, (unsigned char[]){0x0A, (unsigned char)(size + 9), 0x0A, size}, 4);
    gguf_put(to, text, size);
    gguf_put(to, "\x15", 1);
    gguf_put(to, &score, 4);
    gguf_put(to, (unsigned char[]){0x18, (unsigned char)kind}, 2);
}

static void test_sentencepiece(void **state)
{
    (void)state;
    static const unsigned char unigram[] = {0x12, 2, 0x18, 1}, bpe[] = {0x12, 5, 0x18, 2, 0x98, 2, 1, 0x1A, 2, 0x20, 0};
    static const struct {
        const char *text;
        float       score;
        int         kind;
    } pieces[] = {{"<unk>", 0, 2}, {"<s>", 0, 3}, {"</s>", 0, 3}, {"\xE2\x96\x81", -3, 1}, {"h", -4, 1},
                  {"e", -4, 1},    {"l", -4, 1},  {"o", -4, 1},   {"he", -2, 1},           {"\xE2\x96\x81he", -5, 1},
                  {"llo", -1, 1},  {"user", 0, 4}};
    for (int i = 0; i < 2; i++) {
        GgufBytes file = {0};
        for (int k = 0; k < HOLO_COUNT(pieces); k++) put_piece(&file, pieces[k].text, pieces[k].score, pieces[k].kind);
        gguf_put(&file, i ? bpe : unigram, i ? sizeof bpe : sizeof unigram);
        HoloTokenizer *t = tokenizer_of("tokenizer.model", file.data, file.size);
        if (i) // no two tokens make llo, and spaces stay
            expect_text(t, "hello  user", 11, "1 9 6 6 7 3 3 11", "hello  user");
        else
            expect_text(t, "hello  user</s>he ", 18, "9 10 11 2 9 2", NULL);
        holo_tokenizer_close(t);
        free(file.data);
    }
}

// Spaces that belong to the word before them.
static void test_suffix(void **state)
{
    (void)state;
    static const unsigned char spec[] = {0x12, 5, 0x18, 1, 0xC0, 1, 1}; // unigram, treat_whitespace_as_suffix
    GgufBytes                  file   = {0};
    put_piece(&file, "<unk>", 0, 2);
    put_piece(&file, "he\xE2\x96\x81", -1, 1);
    put_piece(&file, "he", -1, 1);
    put_piece(&file, "llo\xE2\x96\x81", -1, 1);
    gguf_put(&file, spec, sizeof spec);
    HoloTokenizer *t = tokenizer_of("tokenizer.model", file.data, file.size);
    expect_text(t, " he  hello", 10, "1 2 3", "he hello");
    expect_text(t, "", 0, "", "");
    holo_tokenizer_close(t);
    free(file.data);
}

static void test_plain_files(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"gpt/vocab.json", "{\"h\": 0, \"e\": 1, \"he\": 2, \"\xC4\xA0\": 3, \"<s>\": 4, \"</s>\": 5, \"<mask>\""
                           ": 6}"},
        {"gpt/merges.txt", "#version: 0.2\nh e\n"},
        {"bert/vocab.txt", "[UNK]\n[CLS]\n[SEP]\nhe\n##h\n"},
        {"bert/tokenizer_config.json", "{\"do_lower_case\": false}"},
    };
    HoloTokenizer *t;
    assert_int_equal(mkdir(temp_path("gpt"), 0700), 0);
    assert_int_equal(mkdir(temp_path("bert"), 0700), 0);
    for (int i = 0; i < HOLO_COUNT(files); i++) file_write(temp_path(files[i][0]), files[i][1], strlen(files[i][1]));
    EXPECT_OK(holo_tokenizer_compile(temp_path("gpt"), &t, &error));
    expect_text(t, "he h<mask>", 10, "4 2 3 0 6 5", "he h");
    holo_tokenizer_close(t);
    EXPECT_OK(holo_tokenizer_compile(temp_path("bert"), &t, &error));
    expect_text(t, "heh He", 6, "1 3 4 0 2", "heh");
    holo_tokenizer_close(t);
    file_write(temp_path("vocab.json"), files[0][1], strlen(files[0][1]));
    EXPECT_FAIL(holo_tokenizer_compile(temp_path("vocab.json"), &t, &error), HOLO_NO_FILE, "merges.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),         cmocka_unit_test(test_long_word),
        cmocka_unit_test(test_growing),       cmocka_unit_test(test_gguf_llama),
        cmocka_unit_test(test_gguf_gpt2),     cmocka_unit_test(test_gguf_bert_and_rwkv),
        cmocka_unit_test(test_sentencepiece), cmocka_unit_test(test_suffix),
        cmocka_unit_test(test_plain_files),
    };
    return cmocka_run_group_tests_name("tokenizer", tests, NULL, NULL);
}
