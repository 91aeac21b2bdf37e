// pickle_plain.c - the instructions of pickles that give a number or a text.
#include "import/wire/pickle_step.h"

#include <stdlib.h>
#include <string.h>

static HoloStatus op_constant(HoloPickleReader *r, const HoloPickleArgument *a, int kind)
{
    return holo_pickle_push_new(r, (HoloPickle){.kind = (HoloPickleKind)kind, .integer = a->number});
}

static HoloStatus op_true(HoloPickleReader *r, const HoloPickleArgument *a, int value)
{
    (void)a;
    return holo_pickle_push_new(r, (HoloPickle){.kind = HOLO_PICKLE_BOOL, .integer = value});
}

HoloStatus holo_pickle_decimal(HoloPickleReader *r, HoloString t, int64_t *out)
{
    bool is_less = t.size && t.data[0] == '-';
    *out         = 0;
    if (t.size == (size_t)is_less) return holo_pickle_wrong(r, "a number has no digits");
    for (size_t i = is_less; i < t.size; i++) {
        int64_t digit = t.data[i] - '0';
        if (digit < 0 || digit > 9) return holo_pickle_wrong(r, "a number has something else than digits");
        if (!holo_mul(*out, 10, out) || !holo_add(*out, is_less ? -digit : digit, out))
            return holo_pickle_wrong(r, "a number in decimal digits has more than 64 bits");
    }
    return HOLO_OK;
}

// 00 and 01 are false and true.
static HoloStatus op_int_text(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)unused;
    HoloPickle value = {.kind = HOLO_PICKLE_INT};
    HoloString t     = a->text;
    if (t.size && t.data[t.size - 1] == 'L') t.size--;
    if (t.size == 2 && t.data[0] == '0' && (t.data[1] | 1) == '1') value.kind = HOLO_PICKLE_BOOL;
    HOLO_TRY(holo_pickle_decimal(r, t, &value.integer));
    return holo_pickle_push_new(r, value);
}

// A whole number in bytes, the lowest first; the last has the sign.
static HoloStatus op_long(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)unused;
    HoloString t     = a->text;
    uint64_t   value = t.size && t.data[t.size - 1] & 0x80 ? UINT64_MAX : 0;
    if (t.size > 8) return holo_pickle_push_new(r, (HoloPickle){.kind = HOLO_PICKLE_LONG, .text = t});
    if (t.size) memcpy(&value, t.data, t.size);
    return holo_pickle_push_new(r, (HoloPickle){.kind = HOLO_PICKLE_INT, .integer = (int64_t)value});
}

static HoloStatus op_float(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)unused;
    HoloPickle value = {.kind = HOLO_PICKLE_FLOAT};
    uint64_t   bits  = __builtin_bswap64((uint64_t)a->number); // these alone have their highest byte first
    memcpy(&value.real, &bits, sizeof bits);
    return holo_pickle_push_new(r, value);
}

static HoloStatus op_float_text(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)unused;
    char   text[64], *end;
    size_t size = a->text.size;
    if (!size || size >= sizeof text) return holo_pickle_wrong(r, "this is not a number");
    memcpy(text, a->text.data, size);
    text[size]   = 0;
    double value = strtod(text, &end);
    if (end != text + size) return holo_pickle_wrong(r, "this is not a number");
    return holo_pickle_push_new(r, (HoloPickle){.kind = HOLO_PICKLE_FLOAT, .real = value});
}

static HoloStatus op_text(HoloPickleReader *r, const HoloPickleArgument *a, int kind)
{
    return holo_pickle_push_new(r, (HoloPickle){.kind = (HoloPickleKind)kind, .text = a->text});
}

static HoloStatus op_escaped(HoloPickleReader *r, const HoloPickleArgument *a, int is_quoted)
{
    bool       is_wrong;
    HoloPickle value = {.kind = HOLO_PICKLE_TEXT};
    value.text       = holo_pickle_unescape(r->arena, a->text, is_quoted, &is_wrong);
    if (is_wrong) return holo_pickle_wrong(r, "a text has no quotes, or an escape that does not exist");
    return value.text.data ? holo_pickle_push_new(r, value) : holo_fail_memory(r->error);
}

const HoloPickleRow holo_pickle_rows_plain[] = {
    {'N', op_constant, HOLO_PICKLE_NONE, HOLO_PICKLE_NOTHING},
    {0x88, op_true, true, HOLO_PICKLE_NOTHING},
    {0x89, op_true, false, HOLO_PICKLE_NOTHING},
    {'J', op_constant, HOLO_PICKLE_INT, HOLO_PICKLE_SIGNED_4},
    {'K', op_constant, HOLO_PICKLE_INT, HOLO_PICKLE_NUMBER_1},
    {'M', op_constant, HOLO_PICKLE_INT, HOLO_PICKLE_NUMBER_2},
    {'I', op_int_text, 0, HOLO_PICKLE_LINE},
    {'L', op_int_text, 0, HOLO_PICKLE_LINE},
    {0x8a, op_long, 0, HOLO_PICKLE_COUNTED_1},
    {0x8b, op_long, 0, HOLO_PICKLE_COUNTED_4},
    {'G', op_float, 0, HOLO_PICKLE_NUMBER_8},
    {'F', op_float_text, 0, HOLO_PICKLE_LINE},
    {'S', op_escaped, true, HOLO_PICKLE_LINE},
    {'V', op_escaped, false, HOLO_PICKLE_LINE},
    {'T', op_text, HOLO_PICKLE_TEXT, HOLO_PICKLE_COUNTED_4}, // a text of Python 2
    {'U', op_text, HOLO_PICKLE_TEXT, HOLO_PICKLE_COUNTED_1},
    {'X', op_text, HOLO_PICKLE_TEXT, HOLO_PICKLE_COUNTED_4},
    {0x8c, op_text, HOLO_PICKLE_TEXT, HOLO_PICKLE_COUNTED_1},
    {0x8d, op_text, HOLO_PICKLE_TEXT, HOLO_PICKLE_COUNTED_8},
    {'B', op_text, HOLO_PICKLE_BYTES, HOLO_PICKLE_COUNTED_4},
    {'C', op_text, HOLO_PICKLE_BYTES, HOLO_PICKLE_COUNTED_1},
    {0x8e, op_text, HOLO_PICKLE_BYTES, HOLO_PICKLE_COUNTED_8},
    {0x96, op_text, HOLO_PICKLE_BYTES, HOLO_PICKLE_COUNTED_8},
    {0},
};
