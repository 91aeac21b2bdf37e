// template.c - compiling, opening, closing and rendering templates.
#include "text/template.h"

#include <string.h>

HoloStatus holo_template_compile_text(const char *text, size_t size, const char *variables, size_t variables_size,
                                      HoloTemplate **out_template, HoloError *error)
{
    HoloArena  arena = {0};
    HoloString block;
    *out_template = NULL;
    HoloStatus status =
        holo_template_parse(&arena, (HoloString){text, size}, (HoloString){variables, variables_size}, &block, error);
    if (!status) status = holo_template_open_memory(block.data, block.size, out_template, error);
    holo_arena_deinit(&arena);
    return status;
}

HoloStatus holo_template_open_memory(const void *block, size_t size, HoloTemplate **out_template, HoloError *error)
{
    *out_template      = NULL;
    HoloTemplate *t    = holo_realloc(NULL, sizeof *t);
    uint8_t      *copy = holo_realloc(NULL, size);
    if (!t || !copy) {
        holo_free(t);
        holo_free(copy);
        return holo_fail_memory(error);
    }
    *t = (HoloTemplate){.block = copy};
    if (size) memcpy(copy, block, size);
    HoloStatus status = holo_template_view(copy, size, t, error);
    if (status) {
        holo_template_close(t);
        return status;
    }
    *out_template = t;
    return HOLO_OK;
}

void holo_template_close(HoloTemplate *t)
{
    if (!t) return;
    holo_free(t->block);
    holo_free(t);
}

const void *holo_template_block(const HoloTemplate *t, size_t *out_size)
{
    *out_size = t->header->size;
    return t->block;
}

HoloStatus holo_template_render(const HoloTemplate *t, const char *context, size_t context_size, char **out_text,
                                size_t *out_size, HoloError *error)
{
    HoloTemplateLimits limits = HOLO_TEMPLATE_LIMITS;
    HoloGrowing        out    = {0};
    *out_text = NULL, *out_size = 0;
    HoloStatus status = holo_template_run(t, (HoloString){context, context_size}, &limits, &out, error);
    holo_growing_add_byte(&out, 0);
    if (!status && out.is_failed) status = holo_fail_memory(error);
    if (status) {
        holo_growing_deinit(&out);
        return status;
    }
    *out_text = (char *)out.data;
    *out_size = out.size - 1;
    return HOLO_OK;
}
