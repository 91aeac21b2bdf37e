// gguf_vocab.c - fuzzes the vocabularies of GGUF files: they are compiled, and text goes through them.
#include "tokenizer_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return vocabulary_use(holo_vocabulary_gguf, data, size);
}
