// gguf_vocab.c - fuzzes the vocabularies of GGUF files: they are compiled, and text goes through them.
#include "tokenizer_use.h"

#include "vocabulary/vocabulary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char   mark[] = "\n\f"; // behind it: the text that is encoded
    HoloArena           arena  = {0};
    HoloError           error  = {0};
    HoloVocabularyBytes block;
    size_t              end = size;
    for (size_t i = 0; i + 2 <= size && end == size; i++)
        if (!memcmp(data + i, mark, 2)) end = i;
    const char *text   = end < size ? (const char *)data + end + 2 : "";
    HoloStatus  status = holo_vocabulary_gguf(&arena, "/no/such/folder/fuzz", data, end, &block, &error);
    if (!status) tokenizer_use(block.data, block.size, text, end < size ? size - end - 2 : 0);
    if (status && !error.text[0]) abort(); // a failure comes with words
    holo_arena_deinit(&arena);
    return 0;
}
