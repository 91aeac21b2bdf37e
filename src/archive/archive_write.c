// archive_write.c - the writer: header, section table, small sections, then the weights in pieces.
#include "archive/archive.h"

#include "base/hash.h"

#include <string.h>

typedef struct Layout {
    HoloHeader        header;
    HoloSectionRecord table[HOLO_SECTION_COUNT]; // the sections of the file
} Layout;

static size_t front_size(const Layout *layout)
{
    return sizeof layout->header + layout->header.section_count * sizeof *layout->table;
}

static HoloSectionRecord *section_of(Layout *layout, HoloSectionId id)
{
    HoloSectionRecord *s = layout->table;
    while (s->id != id) s++;
    return s;
}

static uint64_t section_size(const HoloPlan *plan, HoloSectionId id, uint64_t weight_bytes)
{
    if (id == HOLO_SECTION_CONSTANTS) return plan->constant_count * sizeof(HoloConstantRecord);
    return id == HOLO_SECTION_WEIGHTS ? weight_bytes : plan->section[id].size;
}

// All offsets follow from sizes. A section that is not required is written if it is not empty.
static void layout_init(const HoloPlan *plan, uint64_t weight_bytes, Layout *out)
{
    *out = (Layout){0};
    memcpy(out->header.magic, HOLO_MAGIC, sizeof out->header.magic);
    out->header.major       = HOLO_FORMAT_MAJOR;
    out->header.minor       = HOLO_FORMAT_MINOR;
    out->header.header_size = sizeof out->header;
    out->header.flags_must  = plan->flags_must;
    out->header.flags_may   = plan->flags_may;
    for (int i = 0; i < HOLO_SECTION_COUNT; i++) {
        const HoloSectionKind *kind = &holo_section_kinds[i];
        uint64_t               size = section_size(plan, kind->id, weight_bytes);
        if (size || kind->need == HOLO_NEED_REQUIRED)
            out->table[out->header.section_count++] = (HoloSectionRecord){.id = kind->id, .size = size};
    }
    uint64_t at = front_size(out);
    for (uint32_t i = 0; i < out->header.section_count; i++)
        out->table[i] = holo_section_record(out->table[i].id, out->table[i].size, &at);
    out->header.file_size = at;
}

// ---- weights: threads make and write groups of parts at once

enum { GROUP = 8 };

typedef struct Part {
    uint8_t    *room; // HOLO_PACK_PART bytes
    const void *data; // the bytes of the part: in `room`, or in place
    size_t      size;
    uint64_t    at; // their offset in the file
    HoloStatus  status;
    HoloError   error;
} Part;

typedef struct Weights {
    HoloFileWriter           *file;
    const HoloArchiveOptions *options;
    HoloHasher               *hasher;
    uint8_t                  *rooms; // of the parts that are packed
    Part                     *part;  // GROUP of them
    uint64_t                  at;    // the offset in the file of the next bytes
    uint64_t                  done, total;
    HoloError                *error;
} Weights;

static void parallel(Weights *w, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg)
{
    if (w->options->parallel)
        w->options->parallel(w->options->context, count, work, arg);
    else
        for (int64_t i = 0; i < count; i++) work(arg, i, 0);
}

typedef struct Group {
    Weights *weights;
    int      count;
} Group;

// Task 0 computes the hash of all parts in order. Each other task writes one part.
static void group_task(void *arg, int64_t i, int worker)
{
    const Group *g = arg;
    (void)worker;
    if (i) {
        Part *p   = &g->weights->part[i - 1];
        p->status = holo_file_write_at(g->weights->file, p->at, p->data, p->size, &p->error);
    } else {
        for (int k = 0; k < g->count; k++)
            holo_hasher_add(g->weights->hasher, g->weights->part[k].data, g->weights->part[k].size);
    }
}

// Writes the first `count` parts, whose data and sizes are set, one after the other.
static HoloStatus group_write(Weights *w, int count)
{
    Group g = {w, count};
    for (int i = 0; i < count; i++) {
        w->part[i].at = w->at;
        w->at += w->part[i].size;
        w->done += w->part[i].size;
    }
    parallel(w, count + 1, group_task, &g);
    for (int i = 0; i < count; i++)
        if (w->part[i].status) return holo_fail(w->error, w->part[i].status, "%s", w->part[i].error.text);
    if (w->options->progress) w->options->progress(w->options->context, (double)w->done / (double)w->total);
    return HOLO_OK;
}

static HoloStatus weights_add(Weights *w, const void *data, size_t size)
{
    const char *next = data;
    while (size) {
        int count = 0;
        for (; count < GROUP && size; count++) {
            size_t piece   = size < HOLO_PACK_PART ? size : HOLO_PACK_PART;
            w->part[count] = (Part){.room = w->part[count].room, .data = next, .size = piece};
            next += piece;
            size -= piece;
        }
        HOLO_TRY(group_write(w, count));
    }
    return HOLO_OK;
}

static HoloStatus strings_write(Weights *w, const HoloTensor *t)
{
    const HoloString *strings = t->data;
    int64_t           count   = holo_tensor_count(t);
    for (int64_t i = 0; i < count; i++) {
        uint64_t size = strings[i].size;
        HOLO_TRY(weights_add(w, &size, sizeof size));
    }
    for (int64_t i = 0; i < count; i++) HOLO_TRY(weights_add(w, strings[i].data, strings[i].size));
    return HOLO_OK;
}

typedef struct Packing {
    Weights                *weights;
    const HoloPlanConstant *constant;
    int64_t                 first; // number of the first part of the group
} Packing;

static void pack_task(void *arg, int64_t i, int worker)
{
    const Packing *p    = arg;
    Part          *part = &p->weights->part[i];
    (void)worker;
    *part      = (Part){.room = part->room, .data = part->room};
    part->size = p->constant->target->pack(&p->constant->lowering, &p->constant->tensor, p->first + i, part->room);
}

static HoloStatus packed_write(Weights *w, const HoloPlanConstant *c)
{
    HoloPacking packing = c->target->packing(&c->lowering, &c->tensor);
    for (Packing p = {w, c, 0}; p.first < packing.part_count; p.first += GROUP) {
        int64_t count = packing.part_count - p.first < GROUP ? packing.part_count - p.first : GROUP;
        parallel(w, count, pack_task, &p);
        HOLO_TRY(group_write(w, (int)count));
    }
    return HOLO_OK;
}

static HoloStatus constant_write(Weights *w, const HoloPlanConstant *c, HoloConstantRecord *record)
{
    size_t bytes = holo_tensor_bytes(&c->tensor);
    if (c->kernel)
        HOLO_TRY(packed_write(w, c));
    else if (c->tensor.dtype == HOLO_STRING)
        HOLO_TRY(strings_write(w, &c->tensor));
    else
        HOLO_TRY(weights_add(w, c->tensor.data, bytes));
    HoloHash hash = holo_hasher_take(w->hasher);
    memcpy(record->hash, hash.word, sizeof record->hash);
    if (w->options->release && c->tensor.data) w->options->release(w->options->context, c->tensor.data, bytes);
    return HOLO_OK;
}

static uint64_t records_init(const HoloPlan *plan, HoloConstantRecord *records)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < plan->constant_count; i++) {
        const HoloPlanConstant *c = &plan->constants[i];
        records[i]                = (HoloConstantRecord){
                           .offset = at,
                           .size   = c->size,
                           .count  = (uint64_t)holo_tensor_count(&c->tensor),
                           .dtype  = c->tensor.dtype,
                           .packed = c->kernel,
        };
        at = holo_align(at + c->size, HOLO_WEIGHT_ALIGN);
    }
    return at;
}

static HoloStatus weights_write(const HoloPlan *plan, Weights *w, uint64_t start, HoloConstantRecord *records)
{
    for (uint32_t i = 0; i < plan->constant_count; i++) {
        static const char zero[HOLO_WEIGHT_ALIGN];
        uint64_t          padding = holo_align(w->at - start, HOLO_WEIGHT_ALIGN) - (w->at - start);
        HOLO_TRY(holo_file_write_at(w->file, w->at, zero, padding, w->error));
        w->at += padding;
        HOLO_TRY(constant_write(w, &plan->constants[i], &records[i]));
    }
    return HOLO_OK;
}

// The most parts that are packed at once.
static size_t rooms_count(const HoloPlan *plan)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < plan->constant_count && most < GROUP; i++) {
        const HoloPlanConstant *c     = &plan->constants[i];
        int64_t                 count = c->kernel ? c->target->packing(&c->lowering, &c->tensor).part_count : 0;
        if (count > most) most = count < GROUP ? count : GROUP;
    }
    return (size_t)most;
}

// ---- the rest

static HoloStatus section_write(HoloFileWriter *file, HoloSectionRecord *s, const void *data, HoloError *error)
{
    HoloHash hash = holo_hash(data, s->size);
    memcpy(s->hash, hash.word, sizeof s->hash);
    return holo_file_write_at(file, s->offset, data, s->size, error);
}

static HoloStatus table_write(HoloFileWriter *file, Layout *layout, HoloError *error)
{
    HoloHash hash = holo_archive_front_hash(layout);
    memcpy(layout->header.hash, hash.word, sizeof layout->header.hash);
    return holo_file_write_at(file, 0, layout, front_size(layout), error);
}

static HoloStatus file_write(const HoloPlan *plan, Layout *layout, HoloConstantRecord *records, Weights *w)
{
    HoloSectionRecord *weights = section_of(layout, HOLO_SECTION_WEIGHTS);
    HOLO_TRY(holo_file_write_at(w->file, layout->header.file_size - 1, "", 1,
                                w->error)); // all of its length, not only up to the first 0
    for (uint32_t i = 0; i < layout->header.section_count; i++) {
        HoloSectionRecord *s = &layout->table[i];
        if (s->id != HOLO_SECTION_CONSTANTS && s->id != HOLO_SECTION_WEIGHTS)
            HOLO_TRY(section_write(w->file, s, plan->section[s->id].data, w->error));
    }
    w->at = weights->offset;
    HOLO_TRY(weights_write(plan, w, weights->offset, records));
    HoloHash all = holo_hash(records, plan->constant_count * sizeof *records);
    memcpy(weights->hash, all.word, sizeof weights->hash);
    HOLO_TRY(section_write(w->file, section_of(layout, HOLO_SECTION_CONSTANTS), records, w->error));
    return table_write(w->file, layout, w->error);
}

HoloStatus holo_archive_write(const HoloPlan *plan, HoloFileWriter *file, const HoloArchiveOptions *options,
                              uint64_t *out_size, HoloError *error)
{
    HoloArchiveOptions none = {0};
    Weights w = {.file = file, .options = options ? options : &none, .hasher = holo_hasher_create(), .error = error};
    HoloConstantRecord *records = holo_realloc(NULL, plan->constant_count * sizeof *records);
    size_t              rooms   = rooms_count(plan);
    w.rooms                     = holo_realloc(NULL, rooms * HOLO_PACK_PART);
    w.part                      = holo_realloc(NULL, GROUP * sizeof *w.part);
    HoloStatus status           = HOLO_OK;
    if (!w.hasher || !records || !w.rooms || !w.part)
        status = holo_fail(error, HOLO_NO_MEMORY, "no memory to write the archive");
    for (size_t i = 0; i < GROUP && !status; i++) w.part[i].room = i < rooms ? w.rooms + i * HOLO_PACK_PART : NULL;
    if (!status) {
        Layout layout;
        w.total = records_init(plan, records);
        layout_init(plan, w.total, &layout);
        *out_size = layout.header.file_size;
        status    = file_write(plan, &layout, records, &w);
    }
    holo_free(w.part);
    holo_free(w.rooms);
    holo_free(records);
    holo_hasher_destroy(w.hasher);
    return status;
}

// ---- metadata that is known afterwards

static HoloMetaRecord *meta_find(const HoloPlan *plan, const char *key)
{
    const HoloPlanBuffer *meta    = &plan->section[HOLO_SECTION_META];
    const char           *strings = (const char *)plan->section[HOLO_SECTION_STRINGS].data;
    HoloMetaRecord       *records = (void *)meta->data;
    for (size_t i = 0; i < meta->size / sizeof *records; i++)
        if (!strcmp(strings + records[i].key, key)) return &records[i];
    return NULL;
}

HoloStatus holo_archive_set_meta(HoloPlan *plan, HoloFileWriter *file, const char *key, const char *value,
                                 HoloError *error)
{
    const HoloMetaRecord *record = meta_find(plan, key);
    if (!record) return holo_fail(error, HOLO_INTERNAL, "there is no metadata %s to set", key);
    char  *text = (char *)plan->section[HOLO_SECTION_STRINGS].data + record->value;
    size_t room = strlen(text), size = strlen(value);
    memset(text, 0, room);
    memcpy(text, value, size < room ? size : room);
    HoloMapping bytes;
    HOLO_TRY(holo_file_writer_map(file, &bytes, error));
    Layout layout;
    memcpy(&layout, bytes.data, sizeof layout.header);
    memcpy(&layout, bytes.data, front_size(&layout));
    holo_file_unmap(&bytes);
    HOLO_TRY(section_write(file, section_of(&layout, HOLO_SECTION_STRINGS), plan->section[HOLO_SECTION_STRINGS].data,
                           error));
    return table_write(file, &layout, error);
}
