// kserve.c - fuzzes requests of KServe: the JSON, and the binary data behind it. The first byte says how much of it is JSON.
#include "kserve_json.h"
#include "server_input.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes body = {0};
    char  why[700];
    if (!size) return 0;
    size_t json = size - 1 < data[0] ? 0 : size - 1 - data[0];
    bytes_add(&body, data + 1, size - 1);
    Infer *i = fuzz_infer();
    if (!kserve_read(i, &body, json, why, sizeof why) && !*why) abort(); // a refusal says why
    infer_free(i);
    bytes_free(&body);
    return 0;
}
