// archive_sections.c - the table of sections, and how a file is divided into them.
//
// It checks the header, the section table and the hashes, by the rows of HOLO_SECTION_MAP alone. archive_check.c looks
// into the records.
#include "base/hash.h"
#include "format/holo.h"

#include <string.h>

const HoloSectionKind holo_section_kinds[] = {
#define X(name, id, type, need, align, read) \
    {HOLO_SECTION_##name, #name, sizeof(type), HOLO_NEED_##need, align, HOLO_READ_##read},
    HOLO_SECTION_MAP(X)
#undef X
};

const HoloSectionKind *holo_section_kind(uint32_t id)
{
    for (int i = 0; i < HOLO_SECTION_COUNT; i++)
        if (holo_section_kinds[i].id == id) return &holo_section_kinds[i];
    return NULL;
}

HoloSectionRecord holo_section_record(uint32_t id, uint64_t size, uint64_t *at)
{
    const HoloSectionKind *kind   = holo_section_kind(id);
    uint64_t               offset = holo_align(*at, kind->align);
    *at                           = offset + size;
    return (HoloSectionRecord){
        .id     = id,
        .flags  = kind->need == HOLO_NEED_OPTIONAL ? 0 : HOLO_SECTION_MUST,
        .offset = offset,
        .size   = size,
    };
}

// ---- a file

HoloHash holo_archive_front_hash(const void *bytes)
{
    HoloHeader header;
    memcpy(&header, bytes, sizeof header);
    memset(header.hash, 0, sizeof header.hash);
    size_t         rest    = header.header_size - sizeof header + header.section_count * sizeof(HoloSectionRecord);
    const HoloHash part[2] = {holo_hash(&header, sizeof header), holo_hash((const char *)bytes + sizeof header, rest)};
    return holo_hash(part, sizeof part);
}

static HoloStatus header_check(const void *bytes, size_t size, HoloError *error)
{
    const HoloHeader *h = bytes;
    if (size < sizeof *h || memcmp(bytes, HOLO_MAGIC, sizeof h->magic))
        return holo_fail(error, HOLO_BAD_ARCHIVE, "not a .holo file: it does not start with its magic bytes");
    if ((uintptr_t)bytes % 16) return holo_fail(error, HOLO_BAD_ARGUMENT, "the archive's bytes are not aligned");
    if (h->major != HOLO_FORMAT_MAJOR)
        return holo_fail(error, HOLO_BAD_ARCHIVE, "the file is of format %u.%u; this program reads %d.x: %s", h->major,
                         h->minor, HOLO_FORMAT_MAJOR,
                         h->major < HOLO_FORMAT_MAJOR ? "compile the model again" : "use a newer hologram");
    if (h->flags_must & ~(uint32_t)HOLO_FLAGS_MUST_KNOWN)
        return holo_fail(error, HOLO_BAD_ARCHIVE, "the file needs features (0x%x) that this program does not have",
                         h->flags_must & ~(uint32_t)HOLO_FLAGS_MUST_KNOWN);
    if (h->file_size != size)
        return holo_fail(error, HOLO_BAD_ARCHIVE,
                         "the file has %zu bytes, but its header says %llu: it is cut off or damaged", size,
                         (unsigned long long)h->file_size);
    if (h->header_size < sizeof *h || h->header_size % 8 || h->header_size > size || h->section_count > 1024 ||
        h->section_count * sizeof(HoloSectionRecord) > size - h->header_size)
        return holo_fail(error, HOLO_BAD_ARCHIVE, "the section table lies outside the file");
    HoloHash have = holo_archive_front_hash(bytes);
    if (memcmp(have.word, h->hash, sizeof have.word))
        return holo_fail(error, HOLO_BAD_ARCHIVE, "the header or the section table is damaged (the hash differs)");
    return HOLO_OK;
}

static HoloStatus section_hash_check(const HoloArchive *a, const HoloSectionRecord *s, const char *name,
                                     HoloError *error)
{
    HoloHash have = holo_hash(a->bytes + s->offset, s->size);
    if (memcmp(have.word, s->hash, sizeof have.word))
        return holo_fail(error, HOLO_BAD_ARCHIVE, "section %s, at byte %llu, is damaged (its hash differs)", name,
                         (unsigned long long)s->offset);
    return HOLO_OK;
}

// Sets where the records of a section are. False: the section occurred before.
static bool section_set(HoloArchive *a, const HoloSectionRecord *s)
{
    switch ((HoloSectionId)s->id) {
#define X(name, id, type, need, align, read)                                  \
    case id:                                                                  \
        if (a->name##_at) return false;                                       \
        a->name##_at    = (const type *)(const void *)(a->bytes + s->offset); \
        a->name##_count = s->size / sizeof(type);                             \
        break;
        HOLO_SECTION_MAP(X)
#undef X
    }
    return true;
}

static HoloStatus section_open(HoloArchive *a, const HoloSectionRecord *s, uint64_t *file_bytes, HoloError *error)
{
    const HoloSectionKind *kind = holo_section_kind(s->id);
    if (s->flags & ~(uint32_t)HOLO_SECTION_FLAGS_KNOWN)
        return holo_fail(error, HOLO_BAD_ARCHIVE, "section %u has flags (0x%x) that this program does not know", s->id,
                         s->flags & ~(uint32_t)HOLO_SECTION_FLAGS_KNOWN);
    if (!kind && s->flags & HOLO_SECTION_MUST)
        return holo_fail(error, HOLO_BAD_ARCHIVE,
                         "the file needs its section %u, which this program does not know: use a newer hologram",
                         s->id);
    const char *name = kind ? kind->name : "unknown";
    if (s->offset > a->size || s->size > a->size - s->offset)
        return holo_fail(error, HOLO_BAD_ARCHIVE, "section %s lies outside the file", name);
    if (s->offset % (kind ? kind->align : HOLO_SECTION_ALIGN))
        return holo_fail(error, HOLO_BAD_ARCHIVE, "section %s, at byte %llu, is not aligned to %zu bytes", name,
                         (unsigned long long)s->offset, kind ? kind->align : HOLO_SECTION_ALIGN);
    if (s->size > a->size - *file_bytes) return holo_fail(error, HOLO_BAD_ARCHIVE, "sections overlap");
    *file_bytes += s->size;
    if (!kind || kind->read == HOLO_READ_OPENING) HOLO_TRY(section_hash_check(a, s, name, error));
    if (!kind) return HOLO_OK;
    if (s->size % kind->record)
        return holo_fail(error, HOLO_BAD_ARCHIVE,
                         "section %s has %llu bytes, which is not a multiple of its records of %zu", name,
                         (unsigned long long)s->size, kind->record);
    if (!section_set(a, s)) return holo_fail(error, HOLO_BAD_ARCHIVE, "section %s occurs twice", name);
    return HOLO_OK;
}

HoloStatus holo_archive_open_sections(const void *bytes, size_t size, HoloArchive *out, HoloError *error)
{
    *out                = (HoloArchive){.bytes = bytes, .size = size, .header = bytes};
    uint64_t file_bytes = 0; // bytes of all sections so far
    HOLO_TRY(header_check(bytes, size, error));
    const HoloSectionRecord *table = (const void *)(out->bytes + out->header->header_size);
    for (uint32_t i = 0; i < out->header->section_count; i++)
        HOLO_TRY(section_open(out, &table[i], &file_bytes, error));
#define X(name, id, type, need, align, read)                       \
    if (HOLO_NEED_##need == HOLO_NEED_REQUIRED && !out->name##_at) \
        return holo_fail(error, HOLO_BAD_ARCHIVE, "section %s is missing", #name);
    HOLO_SECTION_MAP(X)
#undef X
    if (!out->STRINGS_count || out->STRINGS_at[out->STRINGS_count - 1])
        return holo_fail(error, HOLO_BAD_ARCHIVE, "the section of texts does not end with a zero byte");
    return HOLO_OK;
}

HoloStatus holo_archive_verify(const HoloArchive *a, HoloError *error)
{
    for (size_t i = 0; i < a->CONSTANTS_count; i++) {
        const HoloConstantRecord *k    = &a->CONSTANTS_at[i];
        HoloHash                  have = holo_hash(a->WEIGHTS_at + k->offset, k->size);
        if (memcmp(have.word, k->hash, sizeof have.word))
            return holo_fail(error, HOLO_BAD_ARCHIVE, "constant %zu, %llu bytes at byte %llu of the file, is damaged",
                             i, (unsigned long long)k->size,
                             (unsigned long long)(k->offset + (uint64_t)(a->WEIGHTS_at - a->bytes)));
    }
    for (size_t i = 0; i < a->MEMO_TENSORS_count; i++) {
        const HoloMemoTensor *t    = &a->MEMO_TENSORS_at[i];
        HoloHash              have = holo_hash(a->MEMO_DATA_at + t->offset, t->size);
        if (memcmp(have.word, t->hash, sizeof have.word))
            return holo_fail(error, HOLO_BAD_ARCHIVE, "tensor %zu of the memo is damaged", i);
    }
    return HOLO_OK;
}
