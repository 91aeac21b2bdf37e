// sentencepiece.c - fuzzes tokenizer.model of SentencePiece: it is compiled, and text goes through it.
#include "tokenizer_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return vocabulary_use(holo_vocabulary_sentencepiece, data, size);
}
