// template_block.c - fuzzes compiled templates. The input is a block; or, behind the letters "mend", changes of one: triples of a
// place (two bytes) and a value, which are applied to the block of a template that uses everything.
#include "text/template.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char source[] =
    "{% macro m(a, b=2) %}{{ a }}{{ caller() if caller }}{{ varargs }}{% endmacro %}{% set ns = namespace(x=1) %}"
    "{% for i, j in [(1, 2), (3, 4)] if i > 0 %}{% set ns.x = ns.x + j %}{{ loop.index }}{% if i == 3 %}{% break %}"
    "{% elif i %}{% continue %}{% else %}x{% endif %}{% else %}none{% endfor %}{% call m(1, *[2]) %}in{% endcall %}"
    "{% filter upper|replace('A', 'b') %}abc{% endfilter %}{% set t | trim %} x {% endset %}{% with q = 1 %}{{ q }}"
    "{% endwith %}{{ {'a': [1, 2.5, none, true]}.a[0:2] ~ 'x' if not 1 in [2] and -1 < 2 <= 3 or missing else m(b=1) }}"
    "{{ messages[0]['role'] is string }}{{ messages|map(attribute='role')|join(',') }}{{ dict(**{'k': 1})|tojson }}";

static void render(const uint8_t *block, size_t size)
{
    static const char        context[] = "{\"messages\": [{\"role\": \"user\"}]}";
    const struct tm          time      = {.tm_year = 124, .tm_mday = 1};
    const HoloTemplateLimits limits    = {20000, 1 << 20, 1 << 16, &time};
    HoloError                error     = {0};
    HoloTemplate            *t;
    if (holo_template_open_memory(block, size, &t, &error)) {
        if (!error.text[0]) abort();
        return;
    }
    HoloGrowing out = {0};
    if (holo_template_run(t, (HoloString){context, sizeof context - 1}, &limits, &out, &error) && !error.text[0])
        abort();
    holo_growing_deinit(&out);
    holo_template_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloTemplate *t;
    HoloError     error = {0};
    if (size < 4 || memcmp(data, "mend", 4)) {
        render(data, size);
        return 0;
    }
    if (holo_template_compile_text(source, sizeof source - 1, NULL, 0, &t, &error)) abort();
    size_t      block_size;
    const void *block = holo_template_block(t, &block_size);
    uint8_t    *copy  = malloc(block_size);
    if (!copy) abort();
    memcpy(copy, block, block_size);
    holo_template_close(t);
    for (size_t at = 4; at + 3 <= size; at += 3)
        copy[(data[at] | (size_t)data[at + 1] << 8) % block_size] = data[at + 2];
    render(copy, block_size);
    free(copy);
    return 0;
}
