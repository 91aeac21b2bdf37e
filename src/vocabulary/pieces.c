// pieces.c - what is around the models of SentencePiece. See pieces.h.
#include "vocabulary/pieces.h"

#define MARK "\xE2\x96\x81" // stands for a space

#define ONE_WORD                                                                                                          \
    "{\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [%s{\"type\": \"Replace\", \"pattern\": {\"String\": \" " \
    "\"}, \"content\": \"" MARK "\"}]}, \"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", "    \
    "\"pattern\": {\"String\": \"" MARK "\"}, \"content\": \" \"}, {\"type\": \"ByteFallback\"}, {\"type\": "             \
    "\"Fuse\"}%s]}}"

// The same, with the space at the beginning of the text alone.
static const char *const one_word_first =
    "{\"pre_tokenizer\": {\"type\": \"Metaspace\", \"prepend_scheme\": \"first\", \"split\": false}, \"decoder\": "
    "{\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", \"pattern\": {\"String\": \"" MARK "\"}, "
    "\"content\": \" \"}, {\"type\": \"ByteFallback\"}, {\"type\": \"Fuse\"}, {\"type\": \"Strip\", \"content\": \" "
    "\", \"start\": 1, \"stop\": 0}]}}";

#define WORDS                                                                                                          \
    "{\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [%s]}, \"pre_tokenizer\": {\"type\": \"Metaspace\", "  \
    "\"prepend_scheme\": \"%s\"}, \"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"ByteFallback\"}, " \
    "{\"type\": \"Metaspace\", \"prepend_scheme\": \"%s\"}%s]}}"

// Spaces belong to the word before them, and a text ends with one.
static const char *const spaces_behind =
    "{\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Strip\", \"strip_left\": true, "
    "\"strip_right\": true}, {\"type\": \"Replace\", \"pattern\": {\"Regex\": \" +\"}, \"content\": \"" MARK "\"}, "
    "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"(?<=[\\\\s\\\\S])\\\\z\"}, \"content\": \"" MARK "\"}]}, "
    "\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"" MARK "\"}, \"behavior\": "
    "\"MergedWithPrevious\"}, \"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", "
    "\"pattern\": {\"String\": \"" MARK "\"}, \"content\": \" \"}, {\"type\": \"ByteFallback\"}, {\"type\": "
    "\"Fuse\"}, {\"type\": \"Strip\", \"content\": \" \", \"start\": 0, \"stop\": 1}]}}";

HoloStatus holo_piece_steps(HoloVocabulary *v, const HoloPieceRules *rules, HoloError *error)
{
    const char *scheme = rules->adds_space ? "always" : "never";
    char       *json;
    if (rules->is_suffix) return holo_vocabulary_steps(v, spaces_behind, error);
    if (rules->is_one_word && rules->adds_space && rules->is_first_only)
        return holo_vocabulary_steps(v, one_word_first, error);
    if (rules->is_one_word)
        json = holo_arena_format(
            v->block.arena, ONE_WORD, rules->adds_space ? "{\"type\": \"Prepend\", \"prepend\": \"" MARK "\"}, " : "",
            rules->adds_space ? ", {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": 0}" : "");
    else
        json = holo_arena_format(
            v->block.arena, WORDS,
            rules->merges_spaces
                ? "{\"type\": \"Strip\", \"strip_left\": false, \"strip_right\": true}, {\"type\": \"Replace\", "
                  "\"pattern\": {\"Regex\": \" {2,}\"}, \"content\": \"" MARK "\"}"
                : "",
            scheme, scheme,
            rules->strips
                ? ", {\"type\": \"Fuse\"}, {\"type\": \"Strip\", \"content\": \" \", \"start\": 65535, \"stop\": 65535}"
                : "");
    return json ? holo_vocabulary_steps(v, json, error) : holo_fail_memory(error);
}

HoloStatus holo_piece_add_special(HoloVocabulary *v, uint32_t id, HoloPieceKind kind, uint32_t strips, HoloError *error)
{
    bool is_special = kind == HOLO_PIECE_CONTROL || kind == HOLO_PIECE_UNKNOWN;
    if (!is_special && kind != HOLO_PIECE_USER) return HOLO_OK;
    HoloVocabularyAdded added = {.text = v->token[id].text, .flags = strips | (is_special ? HOLO_ADDED_SPECIAL : 0)};
    return holo_vocabulary_find(v, added.text) == id ? holo_vocabulary_add_added(v, added, error) : HOLO_OK;
}
