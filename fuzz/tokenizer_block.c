// tokenizer_block.c - fuzzes compiled tokenizers: a block that opens never reads or writes outside of itself.
#include "tokenizer_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tokenizer_use(data, size, (const char *)data, size < 200 ? size : 200);
    return 0;
}
