// template.h - chat templates: from their source to a checked block, and what rendering one may cost.
#ifndef HOLO_TEXT_TEMPLATE_H
#define HOLO_TEXT_TEMPLATE_H

#include "hologram_text.h"
#include "text/template_block.h"
#include "text/unicode.h"

#include <time.h>

struct HoloTemplate {
    uint8_t                  *block; // its own copy
    const HoloTemplateHeader *header;
    const HoloTemplateNode   *node;
    const uint32_t           *list;
    const HoloTextSpan       *name;
    const char               *text;
};

// The arguments of a kind of node, as letters: see template_block.h.
extern const char *const holo_template_args[HOLO_TN_KINDS];

// Checks a block and makes views of it. The block must stay where it is, aligned to 8 bytes.
HOLO_MUST HoloStatus holo_template_view(const void *block, size_t size, HoloTemplate *out, HoloError *error);

// Compiles a source into a block of the arena.
HOLO_MUST HoloStatus holo_template_parse(HoloArena *arena, HoloString source, HoloString defaults,
                                         HoloString *out_block, HoloError *error);

// What one rendering may take. Work is counted in steps: one for a node, and some for each piece of long texts and lists.
typedef struct HoloTemplateLimits {
    uint64_t         steps;
    size_t           memory, output; // bytes
    const struct tm *time;           // what strftime_now sees; NULL: the local time
} HoloTemplateLimits;
#define HOLO_TEMPLATE_LIMITS ((HoloTemplateLimits){20000000, (size_t)256 << 20, (size_t)64 << 20, NULL})

// holo_template_render with other limits.
HOLO_MUST HoloStatus holo_template_run(const HoloTemplate *t, HoloString context, const HoloTemplateLimits *limits,
                                       HoloGrowing *out, HoloError *error);

#endif
