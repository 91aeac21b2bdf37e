// address.c - converts addresses to numbers and back. Every kind is a row of fields, each with a count and a weight.
#include "base/base.h"
#include "hologram_atlas.h"

enum { CLASS, PAGE, BYTE, SUB, FIELDS };

static const char *const field_names[FIELDS] = {"class", "page", "byte", "sub"};

typedef struct Field {
    uint8_t  field;
    uint32_t count;
    uint64_t weight;
} Field;

static const struct {
    const char *name;
    uint64_t    count;              // numbers below this may be addresses
    Field       fields[FIELDS + 1]; // slowest first, ended by a count of 0
} kinds[HOLO_ADDRESS_KINDS] = {
    // clang-format off
    [HOLO_ADDRESS_BELT]     = {"belt", 12288, {{PAGE, 48, 256}, {BYTE, 256, 1}}},
    [HOLO_ADDRESS_PHI]      = {"phi", 1179648, {{CLASS, 96, 12288}, {PAGE, 48, 256}, {BYTE, 256, 1}}},
    [HOLO_ADDRESS_EXTENDED] = {"extended", HOLO_ADDRESS_EXTENDED_COUNT,
                               {{CLASS, 96, UINT64_C(480) << 24}, {PAGE, 480, 1 << 24}, {BYTE, 256, 1 << 16}, {SUB, 65536, 1}}},
    [HOLO_ADDRESS_PACKED]   = {"packed", 1 << 24, {{BYTE, 256, 1 << 16}, {PAGE, 48, 1}}},
    // clang-format on
};

static HoloStatus check_kind(HoloAddressKind kind, HoloError *error)
{
    if ((unsigned)kind < HOLO_ADDRESS_KINDS) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no kind of address with the number %d", (int)kind);
}

static HoloStatus check_field(HoloAddressKind kind, int field, uint64_t value, uint64_t count, HoloError *error)
{
    if (value < count) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_ARGUMENT, "%s %llu is out of range: in %s addresses it is 0 to %llu",
                     field_names[field], (unsigned long long)value, kinds[kind].name, (unsigned long long)count - 1);
}

HoloStatus holo_address_number(HoloAddressKind kind, const HoloAddress *a, uint64_t *out_number, HoloError *error)
{
    HOLO_TRY(check_kind(kind, error));
    const uint32_t value[FIELDS]  = {a->class_id, a->page, a->byte, a->sub};
    uint32_t       counts[FIELDS] = {1, 1, 1, 1};
    uint64_t       number         = 0;
    for (const Field *f = kinds[kind].fields; f->count; f++) {
        counts[f->field] = f->count;
        number += value[f->field] * f->weight;
    }
    for (int i = 0; i < FIELDS; i++) HOLO_TRY(check_field(kind, i, value[i], counts[i], error));
    *out_number = number;
    return HOLO_OK;
}

HoloStatus holo_address_at(HoloAddressKind kind, uint64_t number, HoloAddress *out_address, HoloError *error)
{
    HOLO_TRY(check_kind(kind, error));
    if (number >= kinds[kind].count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "%llu is out of range: %s addresses are 0 to %llu",
                         (unsigned long long)number, kinds[kind].name, (unsigned long long)kinds[kind].count - 1);
    uint64_t value[FIELDS] = {0};
    for (const Field *f = kinds[kind].fields; f->count; f++) {
        value[f->field] = number / f->weight;
        number %= f->weight;
        HOLO_TRY(check_field(kind, f->field, value[f->field], f->count, error));
    }
    *out_address =
        (HoloAddress){(uint32_t)value[CLASS], (uint32_t)value[PAGE], (uint32_t)value[BYTE], (uint32_t)value[SUB]};
    return HOLO_OK;
}
