// tokenizers.c - holo_tokenizer_compile: a tokenizer of another format, compiled and opened.
#include "hologram_text.h"

#include "base/bytes.h"
#include "base/files.h"
#include "vocabulary/vocabulary.h"

#include <string.h>

// The formats, told by how they begin; the first that fits.
static bool begins(const uint8_t *bytes, size_t size, const char *text)
{
    return size >= strlen(text) && !memcmp(bytes, text, strlen(text));
}

static bool is_object(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\n' || bytes[at] == '\r')) at++;
    return at < size && bytes[at] == '{';
}

static bool is_json(const uint8_t *bytes, size_t size)
{
    return is_object(bytes, size) && holo_bytes_find(bytes, size, "\"model\"", 7) &&
           holo_bytes_find(bytes, size, "\"vocab\"", 7);
}

static bool is_gguf(const uint8_t *bytes, size_t size)
{
    return begins(bytes, size, "GGUF");
}

// A message whose first field is a piece, a message that begins with a text.
static bool is_sentencepiece(const uint8_t *bytes, size_t size)
{
    return size > 4 && bytes[0] == 0x0A && (bytes[2] == 0x0A || bytes[3] == 0x0A);
}

static bool is_text(const uint8_t *bytes, size_t size)
{
    return !memchr(bytes, 0, size) && holo_bytes_find(bytes, size, "[UNK]", 5);
}

static const struct {
    const char *file; // its name in a folder
    bool (*is_one)(const uint8_t *bytes, size_t size);
    HoloStatus (*read)(HoloArena *arena, const char *name, const void *bytes, size_t size, HoloVocabularyBytes *out,
                       HoloError *error);
} formats[] = {
    {"tokenizer.json", is_json, holo_vocabulary_json},
    {"tokenizer.model", is_sentencepiece, holo_vocabulary_sentencepiece},
    {"spiece.model", is_sentencepiece, holo_vocabulary_sentencepiece},
    {"sentencepiece.bpe.model", is_sentencepiece, holo_vocabulary_sentencepiece},
    {"source.spm", is_sentencepiece, holo_vocabulary_sentencepiece},
    {"vocab.json", is_object, holo_vocabulary_vocab_json},
    {"vocab.txt", is_text, holo_vocabulary_vocab_text},
    {"model.gguf", is_gguf, holo_vocabulary_gguf},
};

static HoloStatus compile_bytes(const char *path, const HoloMapping *file, HoloTokenizer **out_tokenizer,
                                HoloError *error)
{
    for (int i = 0; i < HOLO_COUNT(formats); i++) {
        if (!formats[i].is_one(file->data, file->size)) continue;
        HoloArena           arena = {0};
        HoloVocabularyBytes block;
        HoloStatus          status = formats[i].read(&arena, path, file->data, file->size, &block, error);
        if (!status) status = holo_tokenizer_open_memory(block.data, block.size, out_tokenizer, error);
        holo_arena_deinit(&arena);
        return status;
    }
    return holo_fail(
        error, HOLO_BAD_MODEL,
        "%s: this is no tokenizer: it is neither a tokenizer.json, tokenizer.model, vocab.json or vocab.txt, nor "
        "a GGUF file",
        path);
}

// The file of a folder that is a tokenizer; in the arena. NULL: there is none, or no memory.
static char *file_of(HoloArena *arena, const char *folder)
{
    for (int i = 0; i < HOLO_COUNT(formats); i++) {
        char *path = holo_arena_format(arena, "%s/%s", folder, formats[i].file);
        if (!path || holo_path_exists(path)) return path;
    }
    return NULL;
}

HoloStatus holo_tokenizer_compile(const char *path, HoloTokenizer **out_tokenizer, HoloError *error)
{
    HoloArena   arena = {0};
    HoloMapping file  = {0};
    HoloStatus  status;
    *out_tokenizer    = NULL;
    const char *found = holo_path_is_folder(path) ? file_of(&arena, path) : path;
    if (!found)
        status = holo_fail(error, HOLO_NO_FILE, "%s: the folder has no tokenizer: no file %s, %s, %s or %s", path,
                           formats[0].file, formats[1].file, formats[5].file, formats[6].file);
    else
        status = holo_file_map(found, &file, error);
    if (!status) status = compile_bytes(found, &file, out_tokenizer, error);
    holo_file_unmap(&file);
    holo_arena_deinit(&arena);
    return status;
}
