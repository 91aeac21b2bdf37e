// archive_edit.h - takes archives apart into their sections, changes them, and puts them together again with correct
// hashes.
#ifndef HOLO_TESTS_ARCHIVE_EDIT_H
#define HOLO_TESTS_ARCHIVE_EDIT_H

#include "base/base.h"
#include "base/hash.h"
#include "format/holo.h"

#include <stdlib.h>
#include <string.h>

enum { EDIT_SECTIONS = 32, EDIT_ID_MAX = 32 };

typedef struct EditSection {
    uint32_t id, flags;
    uint8_t *data;
    size_t   size;
} EditSection;

typedef struct EditFile {
    HoloHeader  header;
    EditSection section[EDIT_SECTIONS];
    int         count, place[EDIT_ID_MAX]; // 1 + where the section of that id is; 0: it is not there
    HoloRandom  random;
} EditFile;

// ---- apart and together

static inline void edit_free(EditFile *f)
{
    for (int i = 0; i < f->count; i++) free(f->section[i].data);
    f->count = 0;
}

// False: the bytes are not an archive.
static inline bool edit_open(const uint8_t *bytes, size_t size, unsigned seed, EditFile *f)
{
    memset(f, 0, sizeof *f);
    f->random.state = seed;
    if (size < sizeof f->header) return false;
    memcpy(&f->header, bytes, sizeof f->header);
    const HoloHeader *h = &f->header;
    if (h->header_size < sizeof *h || h->header_size > size || h->section_count > EDIT_SECTIONS ||
        h->section_count * sizeof(HoloSectionRecord) > size - h->header_size)
        return false;
    for (uint32_t i = 0; i < h->section_count; i++) {
        HoloSectionRecord s;
        memcpy(&s, bytes + h->header_size + i * sizeof s, sizeof s);
        if (s.offset > size || s.size > size - s.offset || s.id >= EDIT_ID_MAX) continue;
        EditSection *to = &f->section[f->count];
        *to             = (EditSection){s.id, s.flags, malloc(s.size + 1), s.size};
        if (!to->data) continue;
        memcpy(to->data, bytes + s.offset, s.size);
        f->place[s.id] = ++f->count;
    }
    return f->count > 0;
}

static inline size_t edit_close(const EditFile *f, uint8_t *out, size_t room)
{
    HoloHeader        h     = f->header;
    HoloSectionRecord table = {0};
    size_t            at    = holo_align(sizeof h + (size_t)f->count * sizeof table, HOLO_SECTION_ALIGN);
    h.header_size           = sizeof h;
    h.section_count         = (uint32_t)f->count;
    if (at > room) return 0;
    memset(out, 0, at);
    for (int i = 0; i < f->count; i++) {
        const EditSection     *s     = &f->section[i];
        const HoloSectionKind *kind  = holo_section_kind(s->id);
        size_t                 start = holo_align(at, kind ? kind->align : HOLO_SECTION_ALIGN);
        if (start > room || s->size > room - start) return 0;
        memset(out + at, 0, start - at);
        at            = start;
        HoloHash hash = holo_hash(s->data, s->size);
        table         = (HoloSectionRecord){.id = s->id, .flags = s->flags, .offset = at, .size = s->size};
        memcpy(table.hash, hash.word, sizeof table.hash);
        memcpy(out + sizeof h + (size_t)i * sizeof table, &table, sizeof table);
        memcpy(out + at, s->data, s->size);
        size_t end = holo_align(at + s->size, HOLO_SECTION_ALIGN);
        if (end > room) end = at + s->size;
        memset(out + at + s->size, 0, end - at - s->size);
        at = end;
    }
    h.file_size = at;
    memcpy(out, &h, sizeof h);
    HoloHash front = holo_archive_front_hash(out);
    memcpy(((HoloHeader *)(void *)out)->hash, front.word, sizeof h.hash);
    return at;
}

static inline EditSection *edit_section(EditFile *f, uint32_t id)
{
    return f->place[id] ? &f->section[f->place[id] - 1] : NULL;
}

static inline size_t edit_count(EditFile *f, uint32_t id, size_t size)
{
    const EditSection *s = edit_section(f, id);
    return s ? s->size / size : 0;
}

// Adds an empty section behind the others.
static inline void edit_add(EditFile *f, uint32_t id, uint32_t flags)
{
    f->section[f->count] = (EditSection){id, flags, malloc(1), 0};
    f->place[id]         = ++f->count;
}

// Appends bytes to a section; returns where they are, or 0.
static inline size_t edit_append(EditFile *f, uint32_t id, const void *data, size_t size)
{
    EditSection *s    = edit_section(f, id);
    uint8_t     *more = s ? realloc(s->data, s->size + size + 1) : NULL;
    size_t       at   = s ? s->size : 0;
    if (!more) return 0;
    memcpy(more + at, data, size);
    s->data = more;
    s->size += size;
    return at;
}

#endif
