// sections.h - the sections of an archive, for tests that look at its bytes or change them.
#ifndef HOLO_TESTS_SECTIONS_H
#define HOLO_TESTS_SECTIONS_H

#include "format/holo.h"
#include "support/models.h"

static inline HoloSectionRecord *section_find(const uint8_t *file, uint32_t id)
{
    const HoloHeader  *h     = (const void *)file;
    HoloSectionRecord *table = (void *)(uintptr_t)(file + h->header_size);
    for (uint32_t i = 0; i < h->section_count; i++)
        if (table[i].id == id) return &table[i];
    fail_msg("there is no section %u", id);
    return NULL;
}

#endif
