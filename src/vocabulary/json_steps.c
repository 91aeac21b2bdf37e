// json_steps.c - the normalizers, pre-tokenizers and decoders of tokenizer.json, each a row of a table.
#include "text/unicode.h"
#include "vocabulary/json_reader.h"
#include "vocabulary/pattern.h"

#include <stdlib.h>
#include <string.h>

static HoloStatus step_add(HoloTokenizerJson *j, int which, HoloTextStep step)
{
    return holo_block_add_step(&j->v->block, which, &step, j->error);
}

static HoloStatus text_add(HoloTokenizerJson *j, HoloString text, HoloTextSpan *out)
{
    return holo_block_add(&j->v->block, text.data, text.size, 1, out, j->error);
}

// ---- normalizers

static HoloStatus form_add(HoloTokenizerJson *j, HoloNormalForm form)
{
    return step_add(j, HOLO_STEP_NORMALIZER, (HoloTextStep){.kind = HOLO_NORMALIZE_FORM, .number = {form}});
}

#define FORM(name, form)                                               \
    static HoloStatus name(HoloTokenizerJson *j, const json_t *object) \
    {                                                                  \
        (void)object;                                                  \
        return form_add(j, form);                                      \
    }
FORM(read_nfc, HOLO_NFC)
FORM(read_nfd, HOLO_NFD)
FORM(read_nfkc, HOLO_NFKC)
FORM(read_nfkd, HOLO_NFKD)

#define PLAIN(name, which, what)                                       \
    static HoloStatus name(HoloTokenizerJson *j, const json_t *object) \
    {                                                                  \
        (void)object;                                                  \
        return step_add(j, which, (HoloTextStep){.kind = what});       \
    }
PLAIN(read_lowercase, HOLO_STEP_NORMALIZER, HOLO_NORMALIZE_LOWERCASE)
PLAIN(read_accents, HOLO_STEP_NORMALIZER, HOLO_NORMALIZE_ACCENTS)
PLAIN(read_nmt, HOLO_STEP_NORMALIZER, HOLO_NORMALIZE_NMT)
PLAIN(read_letters, HOLO_STEP_NORMALIZER, HOLO_NORMALIZE_BYTES)

static HoloStatus read_strip(HoloTokenizerJson *j, const json_t *object)
{
    bool left =
        holo_tokenizer_json_flag(object, "strip_left", false) || holo_tokenizer_json_flag(object, "left", false);
    bool right =
        holo_tokenizer_json_flag(object, "strip_right", false) || holo_tokenizer_json_flag(object, "right", false);
    return step_add(j, HOLO_STEP_NORMALIZER, (HoloTextStep){.kind = HOLO_NORMALIZE_STRIP, .flags = left | right << 1});
}

static HoloStatus read_replace(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_NORMALIZE_REPLACE};
    HoloString   content;
    HOLO_TRY(holo_tokenizer_json_text(j, object, "content", NULL, &content));
    HOLO_TRY(holo_tokenizer_json_pattern(j, object, &step.number[0]));
    HOLO_TRY(text_add(j, content, &step.text));
    return step_add(j, HOLO_STEP_NORMALIZER, step);
}

static HoloStatus read_prepend(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_NORMALIZE_PREPEND};
    HoloString   text;
    HOLO_TRY(holo_tokenizer_json_text(j, object, "prepend", NULL, &text));
    HOLO_TRY(text_add(j, text, &step.text));
    return step_add(j, HOLO_STEP_NORMALIZER, step);
}

static HoloStatus read_bert(HoloTokenizerJson *j, const json_t *object)
{
    bool lower  = holo_tokenizer_json_flag(object, "lowercase", true);
    bool accent = holo_tokenizer_json_flag(object, "strip_accents", lower);
    if (holo_tokenizer_json_flag(object, "clean_text", true))
        HOLO_TRY(step_add(j, HOLO_STEP_NORMALIZER, (HoloTextStep){.kind = HOLO_NORMALIZE_CLEAN}));
    if (holo_tokenizer_json_flag(object, "handle_chinese_chars", true))
        HOLO_TRY(step_add(j, HOLO_STEP_NORMALIZER, (HoloTextStep){.kind = HOLO_NORMALIZE_CHINESE}));
    if (accent) {
        HOLO_TRY(form_add(j, HOLO_NFD));
        HOLO_TRY(step_add(j, HOLO_STEP_NORMALIZER, (HoloTextStep){.kind = HOLO_NORMALIZE_ACCENTS, .flags = 1}));
    }
    return lower ? read_lowercase(j, object) : HOLO_OK;
}

// Base64, as far as it goes; the number of bytes. SIZE_MAX: it is none.
static size_t base64(HoloString text, uint8_t *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t          bits      = 0;
    size_t            count     = 0;
    int               held      = 0;
    for (size_t i = 0; i < text.size && text.data[i] != '='; i++) {
        const char *found = text.data[i] ? strchr(letters, text.data[i]) : NULL;
        if (!found) return SIZE_MAX;
        bits = bits << 6 | (uint32_t)(found - letters);
        held += 6;
        if (held >= 8) out[count++] = (uint8_t)(bits >> (held -= 8));
    }
    return count;
}

static HoloStatus read_charsmap(HoloTokenizerJson *j, const json_t *object)
{
    HoloString text;
    HOLO_TRY(holo_tokenizer_json_text(j, object, "precompiled_charsmap", "", &text));
    uint8_t *bytes = holo_arena_take(j->v->block.arena, text.size + 1);
    if (!bytes) return holo_fail_memory(j->error);
    size_t size = base64(text, bytes);
    if (size == SIZE_MAX) return holo_tokenizer_json_fail(j, "precompiled_charsmap is not in base 64");
    return holo_vocabulary_charsmap(j->v, bytes, size, j->error);
}

static HoloStatus read_normalizers(HoloTokenizerJson *j, const json_t *object);

static const HoloTokenizerRow normalizers[] = {
    {"NFC", read_nfc},
    {"NFD", read_nfd},
    {"NFKC", read_nfkc},
    {"NFKD", read_nfkd},
    {"Lowercase", read_lowercase},
    {"StripAccents", read_accents},
    {"Strip", read_strip},
    {"Replace", read_replace},
    {"Prepend", read_prepend},
    {"BertNormalizer", read_bert},
    {"Precompiled", read_charsmap},
    {"Nmt", read_nmt},
    {"ByteLevel", read_letters},
    {"Sequence", read_normalizers},
    {NULL, NULL},
};

static HoloStatus read_normalizers(HoloTokenizerJson *j, const json_t *object)
{
    return holo_tokenizer_json_each(j, json_object_get(object, "normalizers"), "normalizer", normalizers);
}

HoloStatus holo_tokenizer_json_normalizer(HoloTokenizerJson *j, const json_t *object)
{
    return !object || json_is_null(object) ? HOLO_OK : holo_tokenizer_json_row(j, object, "normalizer", normalizers);
}

// ---- pre-tokenizers

static HoloStatus read_behavior(HoloTokenizerJson *j, const json_t *object, const char *fallback, uint32_t *out)
{
    static const char *const names[HOLO_BEHAVIORS] = {[HOLO_REMOVED]         = "Removed",
                                                      [HOLO_ISOLATED]        = "Isolated",
                                                      [HOLO_MERGED_PREVIOUS] = "MergedWithPrevious",
                                                      [HOLO_MERGED_NEXT]     = "MergedWithNext",
                                                      [HOLO_CONTIGUOUS]      = "Contiguous"};
    HoloString               name;
    HOLO_TRY(holo_tokenizer_json_text(j, object, "behavior", fallback, &name));
    for (*out = 0; *out < HOLO_BEHAVIORS; ++*out)
        if (!strcmp(names[*out], name.data)) return HOLO_OK;
    return holo_tokenizer_json_fail(j, "a pre-tokenizer has the behavior '%.40s', which is not known", name.data);
}

static HoloStatus split_add(HoloTokenizerJson *j, HoloSplitKind kind, uint32_t number, uint32_t behavior)
{
    return step_add(j, HOLO_STEP_SPLIT, (HoloTextStep){.kind = kind, .number = {number, behavior}});
}

static HoloStatus read_bert_split(HoloTokenizerJson *j, const json_t *object)
{
    (void)object;
    HOLO_TRY(split_add(j, HOLO_SPLIT_WHITE, 0, HOLO_REMOVED));
    return split_add(j, HOLO_SPLIT_PUNCTUATION, 0, HOLO_ISOLATED);
}

static HoloStatus read_byte_level(HoloTokenizerJson *j, const json_t *object)
{
    if (holo_tokenizer_json_flag(object, "add_prefix_space", true)) HOLO_TRY(split_add(j, HOLO_SPLIT_PREFIX, 0, 0));
    if (holo_tokenizer_json_flag(object, "use_regex", true))
        HOLO_TRY(holo_vocabulary_split_pattern(j->v, (HoloString){holo_gpt2_pattern, strlen(holo_gpt2_pattern)},
                                               HOLO_ISOLATED, false, j->error));
    return split_add(j, HOLO_SPLIT_BYTES, 0, 0);
}

static HoloStatus read_whitespace(HoloTokenizerJson *j, const json_t *object)
{
    (void)object;
    return split_add(j, HOLO_SPLIT_WORD, 0, 0);
}

static HoloStatus read_whitespace_split(HoloTokenizerJson *j, const json_t *object)
{
    (void)object;
    return split_add(j, HOLO_SPLIT_WHITE, 0, HOLO_REMOVED);
}

// Files from before the schemes had a switch.
static HoloStatus read_scheme(HoloTokenizerJson *j, const json_t *object, uint32_t *out)
{
    static const char *const names[HOLO_PREPENDS] = {
        [HOLO_PREPEND_ALWAYS] = "always", [HOLO_PREPEND_FIRST] = "first", [HOLO_PREPEND_NEVER] = "never"};
    HoloString  name;
    const char *fallback = holo_tokenizer_json_flag(object, "add_prefix_space", true) ? "always" : "never";
    HOLO_TRY(holo_tokenizer_json_text(j, object, "prepend_scheme", fallback, &name));
    for (*out = 0; *out < HOLO_PREPENDS; ++*out)
        if (!strcmp(names[*out], name.data)) return HOLO_OK;
    return holo_tokenizer_json_fail(j, "Metaspace has the prepend scheme '%.40s', which is not known", name.data);
}

static HoloStatus read_metaspace(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_SPLIT_METASPACE, .flags = holo_tokenizer_json_flag(object, "split", true)};
    HOLO_TRY(holo_tokenizer_json_code(j, object, "replacement", "\xE2\x96\x81", &step.number[0]));
    HOLO_TRY(read_scheme(j, object, &step.number[1]));
    return step_add(j, HOLO_STEP_SPLIT, step);
}

static HoloStatus read_punctuation(HoloTokenizerJson *j, const json_t *object)
{
    uint32_t behavior;
    HOLO_TRY(read_behavior(j, object, "Isolated", &behavior));
    return split_add(j, HOLO_SPLIT_PUNCTUATION, 0, behavior);
}

static HoloStatus read_digits(HoloTokenizerJson *j, const json_t *object)
{
    bool alone = holo_tokenizer_json_flag(object, "individual_digits", false);
    return split_add(j, HOLO_SPLIT_NUMERIC, 0, alone ? HOLO_ISOLATED : HOLO_CONTIGUOUS);
}

static HoloStatus read_split(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_SPLIT_PATTERN, .flags = holo_tokenizer_json_flag(object, "invert", false)};
    HOLO_TRY(read_behavior(j, object, NULL, &step.number[1]));
    HOLO_TRY(holo_tokenizer_json_pattern(j, object, &step.number[0]));
    return step_add(j, HOLO_STEP_SPLIT, step);
}

static HoloStatus read_delimiter(HoloTokenizerJson *j, const json_t *object)
{
    uint32_t code;
    HOLO_TRY(holo_tokenizer_json_code(j, object, "delimiter", NULL, &code));
    return split_add(j, HOLO_SPLIT_CODE, code, HOLO_REMOVED);
}

static HoloStatus read_scripts(HoloTokenizerJson *j, const json_t *object)
{
    (void)object;
    return split_add(j, HOLO_SPLIT_SCRIPTS, 0, 0);
}

static HoloStatus read_length(HoloTokenizerJson *j, const json_t *object)
{
    uint32_t length;
    HOLO_TRY(holo_tokenizer_json_number(j, object, "length", 5, &length));
    if (!length) return holo_tokenizer_json_fail(j, "FixedLength has the length 0");
    return split_add(j, HOLO_SPLIT_LENGTH, length, 0);
}

static HoloStatus read_splits(HoloTokenizerJson *j, const json_t *object);

static const HoloTokenizerRow splits[] = {
    {"BertPreTokenizer", read_bert_split},
    {"ByteLevel", read_byte_level},
    {"Whitespace", read_whitespace},
    {"WhitespaceSplit", read_whitespace_split},
    {"Metaspace", read_metaspace},
    {"Punctuation", read_punctuation},
    {"Digits", read_digits},
    {"Split", read_split},
    {"CharDelimiterSplit", read_delimiter},
    {"UnicodeScripts", read_scripts},
    {"FixedLength", read_length},
    {"Sequence", read_splits},
    {NULL, NULL},
};

static HoloStatus read_splits(HoloTokenizerJson *j, const json_t *object)
{
    return holo_tokenizer_json_each(j, json_object_get(object, "pretokenizers"), "pre-tokenizer", splits);
}

HoloStatus holo_tokenizer_json_splits(HoloTokenizerJson *j, const json_t *object)
{
    return !object || json_is_null(object) ? HOLO_OK : holo_tokenizer_json_row(j, object, "pre-tokenizer", splits);
}

// ---- decoders

PLAIN(read_bytes_decoder, HOLO_STEP_DECODER, HOLO_DECODE_BYTES)
PLAIN(read_fallback, HOLO_STEP_DECODER, HOLO_DECODE_FALLBACK)
PLAIN(read_fuse, HOLO_STEP_DECODER, HOLO_DECODE_FUSE)

static HoloStatus read_metaspace_decoder(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_DECODE_METASPACE};
    uint32_t     scheme;
    HOLO_TRY(holo_tokenizer_json_code(j, object, "replacement", "\xE2\x96\x81", &step.number[0]));
    HOLO_TRY(read_scheme(j, object, &scheme));
    step.flags = scheme != HOLO_PREPEND_NEVER;
    return step_add(j, HOLO_STEP_DECODER, step);
}

static HoloStatus read_wordpiece_decoder(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_DECODE_WORDPIECE, .flags = holo_tokenizer_json_flag(object, "cleanup", true)};
    HoloString   prefix;
    HOLO_TRY(holo_tokenizer_json_text(j, object, "prefix", "##", &prefix));
    HOLO_TRY(text_add(j, prefix, &step.text));
    return step_add(j, HOLO_STEP_DECODER, step);
}

static HoloStatus read_suffix_decoder(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_DECODE_SUFFIX};
    HoloString   suffix;
    HOLO_TRY(holo_tokenizer_json_text(j, object, "suffix", "</w>", &suffix));
    HOLO_TRY(text_add(j, suffix, &step.text));
    return step_add(j, HOLO_STEP_DECODER, step);
}

static HoloStatus read_ctc(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_DECODE_CTC, .flags = holo_tokenizer_json_flag(object, "cleanup", true)};
    HoloString   pad, delimiter;
    HOLO_TRY(holo_tokenizer_json_text(j, object, "pad_token", "<pad>", &pad));
    HOLO_TRY(holo_tokenizer_json_text(j, object, "word_delimiter_token", "|", &delimiter));
    HOLO_TRY(text_add(j, pad, &step.text));
    HOLO_TRY(text_add(j, delimiter, &step.more));
    return step_add(j, HOLO_STEP_DECODER, step);
}

static HoloStatus read_replace_decoder(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_DECODE_REPLACE};
    HoloString   content;
    HOLO_TRY(holo_tokenizer_json_text(j, object, "content", NULL, &content));
    HOLO_TRY(holo_tokenizer_json_pattern(j, object, &step.number[0]));
    HOLO_TRY(text_add(j, content, &step.text));
    return step_add(j, HOLO_STEP_DECODER, step);
}

static HoloStatus read_strip_decoder(HoloTokenizerJson *j, const json_t *object)
{
    HoloTextStep step = {.kind = HOLO_DECODE_STRIP};
    uint32_t     code;
    uint8_t      text[4];
    HOLO_TRY(holo_tokenizer_json_code(j, object, "content", " ", &code));
    HOLO_TRY(holo_tokenizer_json_number(j, object, "start", 0, &step.number[0]));
    HOLO_TRY(holo_tokenizer_json_number(j, object, "stop", 0, &step.number[1]));
    HOLO_TRY(text_add(j, (HoloString){(const char *)text, (size_t)holo_code_write(code, text)}, &step.text));
    return step_add(j, HOLO_STEP_DECODER, step);
}

static HoloStatus read_decoders(HoloTokenizerJson *j, const json_t *object);

static const HoloTokenizerRow decoders[] = {
    {"ByteLevel", read_bytes_decoder},
    {"Metaspace", read_metaspace_decoder},
    {"WordPiece", read_wordpiece_decoder},
    {"BPEDecoder", read_suffix_decoder},
    {"CTC", read_ctc},
    {"Replace", read_replace_decoder},
    {"ByteFallback", read_fallback},
    {"Fuse", read_fuse},
    {"Strip", read_strip_decoder},
    {"Sequence", read_decoders},
    {NULL, NULL},
};

static HoloStatus read_decoders(HoloTokenizerJson *j, const json_t *object)
{
    return holo_tokenizer_json_each(j, json_object_get(object, "decoders"), "decoder", decoders);
}

HoloStatus holo_tokenizer_json_decoder(HoloTokenizerJson *j, const json_t *object)
{
    if (object && !json_is_null(object)) return holo_tokenizer_json_row(j, object, "decoder", decoders);
    j->v->block.header.flags |= HOLO_DECODE_JOIN;
    return HOLO_OK;
}
