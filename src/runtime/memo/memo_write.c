// memo_write.c - writes the archive of a session again, with all answers that are known.
//
// Sections are copied unchanged, since nothing in them depends on their offset. The four sections of the memo are made
// again. Sections that this version does not know are left out.
#include "runtime/frame/frame.h"

#include <string.h>

typedef struct Saving {
    const HoloArchive *archive;
    HoloArena          arena;   // owns everything below
    uint32_t           entries; // number of entries
    uint32_t           width;   // tensors of each entry
    HoloMemoRecord    *records;
    HoloTensor        *views;
    HoloMemoTensor    *tensors;
    uint32_t          *slots;
    size_t             slot_count;
    uint64_t           data_bytes;
    char              *front; // header and section table
    size_t             front_size;
    HoloSectionRecord *table;
    uint32_t           section_count;
    HoloFileWriter    *file;
    HoloError         *error;
} Saving;

// ---- what is known

static void entry_add(Saving *s, uint32_t i, HoloHash key)
{
    s->records[i] = (HoloMemoRecord){.key = {key.word[0], key.word[1]}, .tensor_first = i * s->width};
}

// First the entries of the archive, then the learnt ones, the one not used for the longest time first.
static void entries_fill(Saving *s, const HoloMemo *memo)
{
    const HoloArchive *a = s->archive;
    uint32_t           i = 0;
    for (; i < a->MEMO_ENTRIES_count; i++) {
        const HoloMemoRecord *r = &a->MEMO_ENTRIES_at[i];
        entry_add(s, i, (HoloHash){{r->key[0], r->key[1]}});
        for (uint32_t k = 0; k < s->width; k++)
            s->views[i * s->width + k] = holo_memo_view(a, &a->MEMO_TENSORS_at[r->tensor_first + k]);
    }
    for (const HoloLearnt *e = memo ? memo->oldest : NULL; e; e = e->newer, i++) {
        entry_add(s, i, e->key);
        memcpy(&s->views[i * s->width], e->tensor, s->width * sizeof *e->tensor);
    }
}

static HoloStatus entries_collect(Saving *s, const HoloSession *session)
{
    uint64_t count = s->archive->MEMO_ENTRIES_count;
    s->width       = (uint32_t)(holo_model_input_count(session->model) + holo_model_output_count(session->model));
    for (const HoloLearnt *e = session->memo ? session->memo->oldest : NULL; e; e = e->newer) count++;
    if (count > UINT32_MAX / (s->width + 64))
        return holo_fail(s->error, HOLO_UNSUPPORTED, "%llu answers are more than an archive can hold",
                         (unsigned long long)count);
    s->entries = (uint32_t)count;
    s->records = HOLO_NEW(&s->arena, HoloMemoRecord, count + 1);
    s->views   = HOLO_NEW(&s->arena, HoloTensor, count * s->width + 1);
    s->tensors = HOLO_NEW(&s->arena, HoloMemoTensor, count * s->width + 1);
    if (!s->records || !s->views || !s->tensors) return holo_fail_memory(s->error);
    entries_fill(s, session->memo);
    return HOLO_OK;
}

static void tensors_fill(Saving *s)
{
    for (uint32_t i = 0; i < s->entries * s->width; i++) {
        const HoloTensor *t    = &s->views[i];
        size_t            size = holo_tensor_bytes(t);
        HoloHash          hash = holo_hash(t->data, size);
        HoloMemoTensor   *r    = &s->tensors[i];
        *r                     = (HoloMemoTensor){
                                .dtype  = t->dtype,
                                .rank   = (uint8_t)t->rank,
                                .offset = s->data_bytes,
                                .size   = size,
                                .hash   = {hash.word[0], hash.word[1]},
        };
        memcpy(r->dim, t->dim, (size_t)t->rank * sizeof *r->dim);
        s->data_bytes = holo_align(s->data_bytes + size, HOLO_WEIGHT_ALIGN);
    }
}

// ---- the table: enlarged until every entry is near the slot of its key

static bool slots_fill(Saving *s)
{
    memset(s->slots, 0, s->slot_count * sizeof *s->slots);
    for (uint32_t i = 0; i < s->entries; i++) {
        uint64_t at = s->records[i].key[0], probes = 0;
        while (probes < HOLO_MEMO_PROBES && s->slots[(at + probes) & (s->slot_count - 1)]) probes++;
        if (probes == HOLO_MEMO_PROBES) return false;
        s->slots[(at + probes) & (s->slot_count - 1)] = i + 1;
    }
    return true;
}

static HoloStatus slots_make(Saving *s)
{
    enum { SPARSE = 64 }; // slots for each entry; if more are needed, the keys were not made from honest inputs
    size_t least = HOLO_MEMO_PROBES;
    while (least < 2 * (size_t)s->entries) least *= 2;
    for (s->slot_count = least; s->slot_count <= least * SPARSE; s->slot_count *= 2) {
        s->slots = HOLO_NEW(&s->arena, uint32_t, s->slot_count);
        if (!s->slots) return holo_fail_memory(s->error);
        if (slots_fill(s)) return HOLO_OK;
    }
    return holo_fail(s->error, HOLO_UNSUPPORTED, "too many inputs of the memo have the same hash");
}

// ---- the file

static bool is_copied(const HoloSectionRecord *section)
{
    bool is_memo = section->id >= HOLO_SECTION_MEMO_SLOTS && section->id <= HOLO_SECTION_MEMO_DATA;
    return holo_section_kind(section->id) && !is_memo;
}

static const HoloSectionRecord *source_table(const Saving *s)
{
    return (const void *)(s->archive->bytes + s->archive->header->header_size);
}

static void section_add(Saving *s, uint32_t id, uint64_t size, HoloHash hash, uint64_t *at)
{
    HoloSectionRecord *record = &s->table[s->section_count++];
    *record                   = holo_section_record(id, size, at);
    memcpy(record->hash, hash.word, sizeof record->hash);
}

// The hash of all data, including gaps, so that a reader that does not know the section can check it like any other.
static HoloStatus data_hash(Saving *s, HoloHash *out)
{
    static const char zero[HOLO_WEIGHT_ALIGN];
    HoloHasher       *hasher = holo_hasher_create();
    if (!hasher) return holo_fail_memory(s->error);
    for (uint32_t i = 0; i < s->entries * s->width; i++) {
        size_t size = s->tensors[i].size;
        holo_hasher_add(hasher, s->views[i].data, size);
        holo_hasher_add(hasher, zero, holo_align(size, HOLO_WEIGHT_ALIGN) - size);
    }
    *out = holo_hasher_take(hasher);
    holo_hasher_destroy(hasher);
    return HOLO_OK;
}

static HoloStatus front_make(Saving *s)
{
    const HoloHeader        *h     = s->archive->header;
    const HoloSectionRecord *from  = source_table(s);
    uint32_t                 count = 4;
    for (uint32_t i = 0; i < h->section_count; i++) count += is_copied(&from[i]);
    s->front_size = h->header_size + count * sizeof *s->table;
    s->front      = holo_arena_take(&s->arena, s->front_size);
    if (!s->front) return holo_fail_memory(s->error);
    memcpy(s->front, h, h->header_size);
    s->table    = (void *)(s->front + h->header_size);
    uint64_t at = s->front_size;
    for (uint32_t i = 0; i < h->section_count; i++)
        if (is_copied(&from[i]))
            section_add(s, from[i].id, from[i].size, (HoloHash){{from[i].hash[0], from[i].hash[1]}}, &at);
    size_t   slot_bytes = s->slot_count * sizeof *s->slots, entry_bytes = s->entries * sizeof *s->records;
    size_t   tensor_bytes = (size_t)s->entries * s->width * sizeof *s->tensors;
    HoloHash data;
    HOLO_TRY(data_hash(s, &data));
    section_add(s, HOLO_SECTION_MEMO_SLOTS, slot_bytes, holo_hash(s->slots, slot_bytes), &at);
    section_add(s, HOLO_SECTION_MEMO_ENTRIES, entry_bytes, holo_hash(s->records, entry_bytes), &at);
    section_add(s, HOLO_SECTION_MEMO_TENSORS, tensor_bytes, holo_hash(s->tensors, tensor_bytes), &at);
    section_add(s, HOLO_SECTION_MEMO_DATA, s->data_bytes, data, &at);
    HoloHeader *header    = (void *)s->front;
    header->section_count = s->section_count;
    header->file_size     = at;
    HoloHash hash         = holo_archive_front_hash(s->front);
    memcpy(header->hash, hash.word, sizeof header->hash);
    return HOLO_OK;
}

static HoloStatus memo_write(Saving *s, const HoloSectionRecord *table)
{
    const void *part[3] = {s->slots, s->records, s->tensors};
    for (int i = 0; i < HOLO_COUNT(part); i++)
        HOLO_TRY(holo_file_write_at(s->file, table[i].offset, part[i], table[i].size, s->error));
    for (uint32_t i = 0; i < s->entries * s->width; i++)
        HOLO_TRY(holo_file_write_at(s->file, table[3].offset + s->tensors[i].offset, s->views[i].data,
                                    s->tensors[i].size, s->error));
    return HOLO_OK;
}

static HoloStatus file_write(Saving *s)
{
    const HoloHeader        *h    = s->archive->header;
    const HoloSectionRecord *from = source_table(s), *to = s->table;
    HOLO_TRY(holo_file_write_at(s->file, ((HoloHeader *)(void *)s->front)->file_size - 1, "", 1, s->error));
    HOLO_TRY(holo_file_write_at(s->file, 0, s->front, s->front_size, s->error));
    for (uint32_t i = 0; i < h->section_count; i++) {
        if (!is_copied(&from[i])) continue;
        HOLO_TRY(holo_file_write_at(s->file, to->offset, s->archive->bytes + from[i].offset, to->size, s->error));
        to++;
    }
    return memo_write(s, to);
}

static HoloStatus save(Saving *s, const HoloSession *session)
{
    HOLO_TRY(entries_collect(s, session));
    tensors_fill(s);
    HOLO_TRY(slots_make(s));
    HOLO_TRY(front_make(s));
    return file_write(s);
}

HoloStatus holo_memo_write(const HoloSession *session, HoloFileWriter *file, uint64_t *out_size, HoloError *error)
{
    if (session->model->archive.DEVICE_PLANS_count && session->device_count > 1)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "an archive keeps answers of its plan for the CPU, and this is the one for %s: run it on the "
                         "CPU (--device cpu)",
                         session->device);
    if (session->model->is_entry)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "an archive keeps answers of its first entry, and this is the entry %s", session->model->name);
    Saving     s      = {.archive = &session->model->archive, .file = file, .error = error};
    HoloStatus status = save(&s, session);
    if (!status) *out_size = ((const HoloHeader *)(void *)s.front)->file_size;
    holo_arena_deinit(&s.arena);
    return status;
}

static HoloStatus memo_save(const HoloSession *session, const char *path, HoloError *error)
{
    HoloFileWriter *file;
    uint64_t        size;
    HOLO_TRY(holo_file_writer_open(path, &file, error));
    HoloStatus status = holo_memo_write(session, file, &size, error);
    HoloStatus closed = holo_file_writer_close(file, !status, error);
    return status ? status : closed;
}

HoloStatus holo_session_save_memo(const HoloSession *session, const char *path, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    HOLO_IN(session->account);
    return holo_session_give(session, memo_save(session, path, error), error);
}
