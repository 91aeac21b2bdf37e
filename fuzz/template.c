// template.c - fuzzes templates: the input is a source, and behind a 0 byte a context in JSON. Limits are small, so that every
// one of them is met.
#include "text/template.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char usual[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"list\": [3, 1, 2], "
                                "\"d\": {\"a\": 1.5, \"b\": [null, true]}, \"text\": \" \\u00e4 b\\n\"}";
    const struct tm   time    = {.tm_year = 124, .tm_mday = 1};
    const HoloTemplateLimits limits  = {20000, 1 << 20, 1 << 16, &time};
    const uint8_t           *zero    = size ? memchr(data, 0, size) : NULL;
    size_t                   source  = zero ? (size_t)(zero - data) : size;
    HoloString               context = {usual, sizeof usual - 1};
    HoloError                error   = {0};
    HoloTemplate            *t;
    if (zero) context = (HoloString){(const char *)zero + 1, size - source - 1};
    if (holo_template_compile_text((const char *)data, source, NULL, 0, &t, &error)) {
        // What the parser makes must pass the check.
        if (!error.text[0] || error.status == HOLO_BAD_ARCHIVE) abort();
        return 0;
    }
    HoloGrowing out = {0};
    if (holo_template_run(t, context, &limits, &out, &error) && !error.text[0]) abort();
    holo_growing_deinit(&out);
    holo_template_close(t);
    return 0;
}
