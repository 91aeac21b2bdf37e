// archive_mutate.h - changes archives record by record: sections are taken apart, a field or a record is changed as the
// format has it, and the file is put together again, with all hashes right.
#ifndef HOLO_FUZZ_ARCHIVE_MUTATE_H
#define HOLO_FUZZ_ARCHIVE_MUTATE_H

#include "../tests/support/archive_edit.h"
#include "base/dim/dim.h"
#include "ops/op.h"

// ---- chance

static inline uint64_t mutate_below(EditFile *f, uint64_t limit)
{
    return limit ? holo_random_next(&f->random) % limit : 0;
}

// ---- fields

typedef enum MutateKind {
    OF_ANY,
    OF_SMALL, // a number below 12
    OF_ENTRY, // an index of the section `more`
    OF_BYTES, // an offset in it, of multiples of 8
    OF_DIM,
    OF_VALUE,   // a number of a value in a plan
    OF_DEFAULT, // what an input is where nobody gives it: a number, its index, a state, with least sizes
} MutateKind;

typedef struct MutateField {
    uint32_t   section;
    size_t     record, offset, width;
    MutateKind kind;
    uint32_t   more;
    size_t     more_record;
} MutateField;

typedef struct MutateByte {
    uint8_t x;
} MutateByte;
typedef struct MutateWord {
    uint32_t x;
} MutateWord;
typedef struct MutateLong {
    int64_t x;
} MutateLong;

#define FIELD(id, type, member, kind, more, more_type)                                              \
    {                                                                                               \
        HOLO_SECTION_##id, sizeof(type), offsetof(type, member), sizeof(((type *)0)->member), kind, \
            HOLO_SECTION_##more, sizeof(more_type)                                                  \
    }
static const MutateField mutate_fields[] = {
    FIELD(VALUES, HoloValueRecord, dtype, OF_SMALL, VALUES, char),
    FIELD(VALUES, HoloValueRecord, kind, OF_SMALL, VALUES, char),
    FIELD(VALUES, HoloValueRecord, inner, OF_SMALL, VALUES, char),
    FIELD(VALUES, HoloValueRecord, rank, OF_SMALL, VALUES, char),
    FIELD(VALUES, HoloValueRecord, storage, OF_SMALL, VALUES, char),
    FIELD(VALUES, HoloValueRecord, storage, OF_SMALL, VALUES, char),
    FIELD(VALUES, HoloValueRecord, space, OF_ENTRY, TARGETS, HoloTargetRecord),
    FIELD(VALUES, HoloValueRecord, size_first, OF_ENTRY, SIZES, int64_t),
    FIELD(VALUES, HoloValueRecord, step_from, OF_SMALL, VALUES, char),
    FIELD(VALUES, HoloValueRecord, step_to, OF_SMALL, VALUES, char),
    FIELD(VALUES, HoloValueRecord, at, OF_ENTRY, VALUES, HoloValueRecord),
    FIELD(VALUES, HoloValueRecord, at, OF_ENTRY, CONSTANTS, HoloConstantRecord),
    FIELD(VALUES, HoloValueRecord, at, OF_ENTRY, SIZES, int64_t),
    FIELD(VALUES, HoloValueRecord, at, OF_BYTES, WEIGHTS, char),
    FIELD(STEPS, HoloStepRecord, op, OF_ENTRY, OPS, HoloOpRecord),
    FIELD(STEPS, HoloStepRecord, kernel, OF_SMALL, VALUES, char),
    FIELD(STEPS, HoloStepRecord, kernel, OF_ENTRY, STRINGS, char),
    FIELD(STEPS, HoloStepRecord, target, OF_ENTRY, TARGETS, HoloTargetRecord),
    FIELD(STEPS, HoloStepRecord, operand_first, OF_ENTRY, OPERANDS, uint32_t),
    FIELD(STEPS, HoloStepRecord, in_count, OF_SMALL, VALUES, char),
    FIELD(STEPS, HoloStepRecord, out_count, OF_SMALL, VALUES, char),
    FIELD(STEPS, HoloStepRecord, capture_count, OF_SMALL, VALUES, char),
    FIELD(STEPS, HoloStepRecord, attr_count, OF_SMALL, VALUES, char),
    FIELD(STEPS, HoloStepRecord, attr_first, OF_ENTRY, ATTRS, HoloAttrRecord),
    FIELD(STEPS, HoloStepRecord, params, OF_BYTES, BYTES, char),
    FIELD(STEPS, HoloStepRecord, params_size, OF_SMALL, VALUES, char),
    FIELD(OPERANDS, MutateWord, x, OF_VALUE, VALUES, HoloValueRecord),
    FIELD(OPERANDS, MutateWord, x, OF_VALUE, VALUES, HoloValueRecord),
    FIELD(OPERANDS, MutateWord, x, OF_VALUE, VALUES, HoloValueRecord),
    FIELD(SIZES, MutateLong, x, OF_DIM, DIMS, HoloDimRecord),
    FIELD(SIZES, MutateLong, x, OF_DIM, DIMS, HoloDimRecord),
    FIELD(SIZES, MutateLong, x, OF_DIM, DIMS, HoloDimRecord),
    FIELD(DIMS, HoloDimRecord, op, OF_SMALL, VALUES, char),
    FIELD(DIMS, HoloDimRecord, a, OF_DIM, DIMS, HoloDimRecord),
    FIELD(DIMS, HoloDimRecord, b, OF_DIM, DIMS, HoloDimRecord),
    FIELD(OPS, HoloOpRecord, version, OF_SMALL, VALUES, char),
    FIELD(OPS, HoloOpRecord, name, OF_ENTRY, STRINGS, char),
    FIELD(PLANS, HoloPlanRecord, value_count, OF_ENTRY, VALUES, HoloValueRecord),
    FIELD(PLANS, HoloPlanRecord, step_count, OF_ENTRY, STEPS, HoloStepRecord),
    FIELD(PLANS, HoloPlanRecord, input_first, OF_ENTRY, OPERANDS, uint32_t),
    FIELD(PLANS, HoloPlanRecord, input_count, OF_SMALL, VALUES, char),
    FIELD(PLANS, HoloPlanRecord, output_first, OF_ENTRY, OPERANDS, uint32_t),
    FIELD(PLANS, HoloPlanRecord, output_count, OF_SMALL, VALUES, char),
    FIELD(PLANS, HoloPlanRecord, flags, OF_SMALL, VALUES, char),
    FIELD(PLANS, HoloPlanRecord, arena_bytes, OF_BYTES, WEIGHTS, char),
    FIELD(ATTRS, HoloAttrRecord, name, OF_ENTRY, STRINGS, char),
    FIELD(ATTRS, HoloAttrRecord, kind, OF_SMALL, VALUES, char),
    FIELD(ATTRS, HoloAttrRecord, count, OF_SMALL, VALUES, char),
    FIELD(ATTRS, HoloAttrRecord, value, OF_ANY, VALUES, char),
    FIELD(ATTRS, HoloAttrRecord, value, OF_BYTES, BYTES, char),
    FIELD(CONSTANTS, HoloConstantRecord, offset, OF_BYTES, WEIGHTS, char),
    FIELD(CONSTANTS, HoloConstantRecord, size, OF_BYTES, WEIGHTS, char),
    FIELD(CONSTANTS, HoloConstantRecord, count, OF_SMALL, VALUES, char),
    FIELD(CONSTANTS, HoloConstantRecord, dtype, OF_SMALL, VALUES, char),
    FIELD(CONSTANTS, HoloConstantRecord, packed, OF_SMALL, VALUES, char),
    FIELD(BYTES, MutateWord, x, OF_ANY, VALUES, char),
    FIELD(BYTES, MutateWord, x, OF_SMALL, VALUES, char),
    FIELD(BYTES, MutateByte, x, OF_SMALL, VALUES, char),
    FIELD(BYTES, MutateLong, x, OF_DIM, DIMS, HoloDimRecord),
    FIELD(BYTES, MutateWord, x, OF_ANY, VALUES, char),
    FIELD(WEIGHTS, MutateLong, x, OF_DIM, DIMS, HoloDimRecord),
    FIELD(WEIGHTS, MutateWord, x, OF_ANY, VALUES, char),
    FIELD(MEMO_TENSORS, HoloMemoTensor, offset, OF_BYTES, MEMO_DATA, char),
    FIELD(MEMO_TENSORS, HoloMemoTensor, size, OF_BYTES, MEMO_DATA, char),
    FIELD(MEMO_ENTRIES, HoloMemoRecord, tensor_first, OF_SMALL, VALUES, char),
    FIELD(MEMO_SLOTS, MutateWord, x, OF_SMALL, VALUES, char),
    FIELD(PROGRAMS, HoloProgramRecord, program, OF_BYTES, BYTES, char),
    FIELD(PROGRAMS, HoloProgramRecord, program_size, OF_SMALL, VALUES, char),
    FIELD(TARGETS, HoloTargetRecord, name, OF_ENTRY, STRINGS, char),
    FIELD(VALUES, HoloValueRecord, name, OF_ENTRY, STRINGS, char),
    FIELD(VALUES, HoloValueRecord, at, OF_DEFAULT, VALUES, char),
    FIELD(SYMBOLS, MutateWord, x, OF_ENTRY, STRINGS, char),
    FIELD(ENTRIES, HoloEntryRecord, plan, OF_SMALL, VALUES, char),
    FIELD(ENTRIES, HoloEntryRecord, name, OF_ENTRY, STRINGS, char),
    FIELD(DEVICE_PLANS, MutateWord, x, OF_SMALL, VALUES, char),
    FIELD(DEVICE_PLANS, MutateWord, x, OF_ENTRY, PLANS, HoloPlanRecord),
    FIELD(META, HoloMetaRecord, key, OF_ENTRY, STRINGS, char),
    FIELD(META, HoloMetaRecord, value, OF_ENTRY, STRINGS, char),
    FIELD(NOTES, HoloNoteRecord, why, OF_ENTRY, STRINGS, char),
    FIELD(ASSETS, HoloAssetRecord, name, OF_ENTRY, STRINGS, char),
    FIELD(ASSETS, HoloAssetRecord, offset, OF_BYTES, ASSET_DATA, char),
    FIELD(ASSETS, HoloAssetRecord, size, OF_BYTES, ASSET_DATA, char),
    FIELD(ASSET_DATA, MutateWord, x, OF_SMALL, VALUES, char),
    FIELD(ASSET_DATA, MutateWord, x, OF_ANY, VALUES, char),
};
#undef FIELD

static inline uint64_t mutate_number(EditFile *f, const MutateField *field)
{
    static const int64_t evil[]  = {0,         1,          2,         3,         4,         7,         8,
                                    16,        64,         100,       255,       1024,      4097,      -1,
                                    -2,        1 << 16,    INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_C(1) << 32,
                                    1LL << 62, 0x3F800000, 0x7FC00000};
    size_t               entries = edit_count(f, field->more, field->more_record);
    switch (field->kind) {
    case OF_SMALL: return mutate_below(f, 12);
    case OF_ENTRY: return mutate_below(f, entries + 1);
    case OF_BYTES: return 8 * mutate_below(f, entries / 8 + 2);
    case OF_DEFAULT: return (mutate_below(f, 4) ? 1 : mutate_below(f, 3)) | mutate_below(f, 8) << 32;
    case OF_VALUE: return mutate_below(f, 8) ? mutate_below(f, entries + 1) : HOLO_NO_VALUE;
    case OF_DIM:
        if (entries && mutate_below(f, 2)) return (uint64_t)(HOLO_DIM_BASE + (int64_t)mutate_below(f, entries));
        if (mutate_below(f, 2)) return mutate_below(f, 9);
        break;
    case OF_ANY: break;
    }
    return mutate_below(f, 4) ? (uint64_t)evil[mutate_below(f, (uint64_t)HOLO_COUNT(evil))]
                              : holo_random_next(&f->random);
}

// A field becomes another number, one more or less, or that of another record.
static inline void mutate_field(EditFile *f)
{
    const MutateField *field   = &mutate_fields[mutate_below(f, (uint64_t)HOLO_COUNT(mutate_fields))];
    EditSection       *s       = edit_section(f, field->section);
    size_t             records = s ? s->size / field->record : 0;
    uint64_t           x       = 0;
    if (!records) return;
    uint8_t *at = s->data + mutate_below(f, records) * field->record + field->offset;
    memcpy(&x, at, field->width);
    switch (mutate_below(f, 8)) {
    case 0: x++; break;
    case 1: x--; break;
    case 2: memcpy(&x, s->data + mutate_below(f, records) * field->record + field->offset, field->width); break;
    default: x = mutate_number(f, field);
    }
    memcpy(at, &x, field->width);
}

// ---- records

static inline void mutate_record(EditFile *f)
{
    const MutateField *field   = &mutate_fields[mutate_below(f, (uint64_t)HOLO_COUNT(mutate_fields))];
    EditSection       *s       = edit_section(f, field->section);
    size_t             records = s ? s->size / field->record : 0;
    uint8_t            keep[256];
    if (!records || field->record > sizeof keep) return;
    uint8_t *a = s->data + mutate_below(f, records) * field->record,
            *b = s->data + mutate_below(f, records) * field->record;
    memcpy(keep, a, field->record);
    memcpy(a, b, field->record);
    if (mutate_below(f, 2)) memcpy(b, keep, field->record); // swapped, or a copy
}

// Some step gets other operands: one more or less, in a place of their own.
static inline void mutate_operands(EditFile *f)
{
    size_t         steps = edit_count(f, HOLO_SECTION_STEPS, sizeof(HoloStepRecord));
    HoloStepRecord step;
    uint32_t       list[512];
    if (!steps) return;
    size_t which = mutate_below(f, steps) * sizeof step;
    memcpy(&step, edit_section(f, HOLO_SECTION_STEPS)->data + which, sizeof step);
    size_t count = (size_t)step.in_count + step.out_count, all = edit_count(f, HOLO_SECTION_OPERANDS, 4);
    if (step.operand_first > all || count > all - step.operand_first || count + 40 > 512) return;
    if (count) memcpy(list, edit_section(f, HOLO_SECTION_OPERANDS)->data + 4 * (size_t)step.operand_first, 4 * count);
    bool   to_inputs = mutate_below(f, 3) != 0;
    size_t at = to_inputs ? step.in_count : count, more = mutate_below(f, 8) ? 1 : 38;
    memmove(list + at + more, list + at, 4 * (count - at));
    for (size_t i = 0; i < more; i++)
        list[at + i] = (uint32_t)mutate_below(f, edit_count(f, HOLO_SECTION_VALUES, sizeof(HoloValueRecord)));
    *(to_inputs ? &step.in_count : &step.out_count) += (uint16_t)more;
    if (mutate_below(f, 2)) step.capture_count += (uint16_t)more;
    step.operand_first = (uint32_t)(edit_append(f, HOLO_SECTION_OPERANDS, list, 4 * (count + more)) / 4);
    memcpy(edit_section(f, HOLO_SECTION_STEPS)->data + which, &step, sizeof step);
}

// Any operator in place of another.
static inline void mutate_operator(EditFile *f)
{
    int families = 0, rows = 0;
    while (holo_op_families[families]) families++;
    const HoloOp *family = holo_op_families[mutate_below(f, (uint64_t)families)];
    while (family[rows].name) rows++;
    const HoloOp *op  = &family[mutate_below(f, (uint64_t)rows)];
    size_t        ops = edit_count(f, HOLO_SECTION_OPS, sizeof(HoloOpRecord));
    if (!ops || !op->eval) return;
    const char  *domain = op->domain ? op->domain : "";
    HoloOpRecord r      = {.version = (uint32_t)(op->until ? op->until : op->since + (int)mutate_below(f, 6))};
    r.name              = (uint32_t)edit_append(f, HOLO_SECTION_STRINGS, op->name, strlen(op->name) + 1);
    r.domain            = (uint32_t)edit_append(f, HOLO_SECTION_STRINGS, domain, strlen(domain) + 1);
    memcpy(edit_section(f, HOLO_SECTION_OPS)->data + mutate_below(f, ops) * sizeof r, &r, sizeof r);
}

// All sizes of one number become a symbol, or an expression of it.
static inline void mutate_sizes(EditFile *f)
{
    EditSection *sizes = edit_section(f, HOLO_SECTION_SIZES), *plans = edit_section(f, HOLO_SECTION_PLANS);
    size_t       count = edit_count(f, HOLO_SECTION_SIZES, 8);
    uint32_t     name  = 0;
    if (!count || !plans || !edit_section(f, HOLO_SECTION_DIMS) || !edit_section(f, HOLO_SECTION_SYMBOLS)) return;
    HoloDimRecord symbol = {.op = HOLO_DIM_SYMBOL, .a = (int64_t)edit_count(f, HOLO_SECTION_SYMBOLS, 4)};
    edit_append(f, HOLO_SECTION_SYMBOLS, &name, sizeof name);
    int64_t entry =
        HOLO_DIM_BASE + (int64_t)(edit_append(f, HOLO_SECTION_DIMS, &symbol, sizeof symbol) / sizeof symbol);
    if (mutate_below(f, 3) == 0) {
        HoloDimRecord more = {.op = 1 + (int32_t)mutate_below(f, 5), .a = entry, .b = (int64_t)mutate_below(f, 4)};
        edit_append(f, HOLO_SECTION_DIMS, &more, sizeof more);
        entry += (int64_t)mutate_below(f, 2);
    }
    int64_t  of, x;
    uint64_t mostly = mutate_below(f, 4);
    memcpy(&of, sizes->data + 8 * mutate_below(f, count), 8);
    for (size_t i = 0; i < count; i++) {
        memcpy(&x, sizes->data + 8 * i, 8);
        if (x == of && (mostly || mutate_below(f, 2))) memcpy(sizes->data + 8 * i, &entry, 8);
    }
    for (size_t i = 0; i + sizeof(HoloPlanRecord) <= plans->size; i += sizeof(HoloPlanRecord))
        memset(plans->data + i + offsetof(HoloPlanRecord, flags), 0, sizeof(uint32_t));
}

// A text of the metadata becomes one that nobody expects, or a name one that somebody looks for.
static inline void mutate_text(EditFile *f)
{
    static const char *const values[] = {
        "",           "0",          "-1",      "1",   "3",   "1e300",   "nan",      "inf",  "99999999999999999999",
        "2147483648", "4294967295", "1,2,1,2", "0.5", "abc", "-0.0001", "16777215", "65536"};
    static const char *const names[]  = {"input_ids",
                                         "logits",
                                         "attention_mask",
                                         "cache_rows",
                                         "cache_lengths",
                                         "picks",
                                         "position_ids",
                                         "use_cache_branch",
                                         "past_key_values.0.key",
                                         "present.0.key",
                                         "encoder",
                                         "decoder",
                                         "unet",
                                         "vae_decoder",
                                         "text_encoder",
                                         "sample",
                                         "timestep",
                                         "encoder_hidden_states",
                                         "input_features",
                                         "tokenizer",
                                         "template",
                                         "prefix",
                                         "labels",
                                         "slots",
                                         "context",
                                         "8*h",
                                         "text.eos",
                                         "text.context",
                                         "text.top_k"};
    static const MutateField places[] = {
        {HOLO_SECTION_META, sizeof(HoloMetaRecord), offsetof(HoloMetaRecord, value), 4, 0, 0, 0},
        {HOLO_SECTION_VALUES, sizeof(HoloValueRecord), offsetof(HoloValueRecord, name), 4, 0, 0, 0},
        {HOLO_SECTION_ENTRIES, sizeof(HoloEntryRecord), offsetof(HoloEntryRecord, name), 4, 0, 0, 0},
        {HOLO_SECTION_ASSETS, sizeof(HoloAssetRecord), offsetof(HoloAssetRecord, name), 4, 0, 0, 0},
        {HOLO_SECTION_META, sizeof(HoloMetaRecord), offsetof(HoloMetaRecord, key), 4, 0, 0, 0},
        {HOLO_SECTION_SYMBOLS, 4, 0, 4, 0, 0, 0}};
    const MutateField *place = &places[mutate_below(f, (uint64_t)HOLO_COUNT(places))];
    size_t             count = edit_count(f, place->section, place->record);
    const char        *text  = place == places ? values[mutate_below(f, (uint64_t)HOLO_COUNT(values))]
                                               : names[mutate_below(f, (uint64_t)HOLO_COUNT(names))];
    if (!count) return;
    uint32_t at = (uint32_t)edit_append(f, HOLO_SECTION_STRINGS, text, strlen(text) + 1);
    memcpy(edit_section(f, place->section)->data + mutate_below(f, count) * place->record + place->offset, &at, 4);
}

static inline void mutate(EditFile *f)
{
    for (uint64_t i = 0, count = 1 + mutate_below(f, 4); i < count; i++) {
        uint64_t how = mutate_below(f, 32);
        if (how == 0)
            mutate_operands(f);
        else if (how == 1)
            mutate_operator(f);
        else if (how == 2)
            mutate_sizes(f);
        else if (how < 6)
            mutate_record(f);
        else if (how < 9)
            mutate_text(f);
        else
            mutate_field(f);
    }
}

// ---- archives as fuzzers get them

static inline void hashes_mend(uint8_t *bytes, size_t size)
{
    HoloHeader *h = (void *)bytes;
    if (size < sizeof *h || h->header_size < sizeof *h || h->header_size > size || h->header_size % 8) return;
    size_t count = h->section_count;
    if (count > (size - h->header_size) / sizeof(HoloSectionRecord)) return;
    HoloSectionRecord *table = (void *)(bytes + h->header_size);
    for (size_t i = 0; i < count; i++) {
        HoloSectionRecord s = table[i]; // a copy: a section may lie over the table
        if (s.offset > size || s.size > size - s.offset) continue;
        HoloHash hash = holo_hash(bytes + s.offset, s.size);
        memcpy(table[i].hash, hash.word, sizeof hash.word);
    }
    h->file_size  = size;
    HoloHash hash = holo_archive_front_hash(bytes);
    memcpy(h->hash, hash.word, sizeof hash.word);
}

// A copy of the bytes with all hashes right, aligned as files are; for free(). NULL: there is nothing to copy.
static inline uint8_t *hashes_right(const uint8_t *data, size_t size)
{
    uint8_t *bytes = size ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
    if (!bytes) return NULL;
    memcpy(bytes, data, size);
    hashes_mend(bytes, size);
    return bytes;
}

// Where the bytes are an archive, its records are changed; else any byte.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static EditFile file;
    if (edit_open(data, size, seed, &file)) {
        mutate(&file);
        size_t made = edit_close(&file, data, room);
        edit_free(&file);
        if (made) return made;
    }
    HoloRandom random = {seed};
    if (!size && room) data[size++] = 0;
    for (int i = 0; i < 4 && size; i++) data[holo_random_next(&random) % size] = (uint8_t)holo_random_next(&random);
    return size;
}

#endif
