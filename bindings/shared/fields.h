// fields.h - structs of the C library as tables of their numbers, for bindings: options that are read from values of a language, and
// results that become such. make_fields.py writes the tables.
#ifndef HOLO_BINDINGS_FIELDS_H
#define HOLO_BINDINGS_FIELDS_H

#include "hologram_image.h"
#include "hologram_text.h"

typedef enum BindKind {
    BIND_F32,
    BIND_F64,
    BIND_BOOL,
    BIND_I32,
    BIND_U32,
    BIND_I64,
    BIND_U64,
    BIND_SIZE,
    BIND_CHOICE, // an enum
} BindKind;

typedef struct BindField {
    const char        *name; // NULL: the end of the table
    BindKind           kind;
    size_t             at;
    const char *const *choices; // of an enum: the words for 0, 1, 2 ..., and NULL
} BindField;

extern const BindField bind_generate_options[], bind_generate_result[], bind_batch_options[], bind_batch_state[],
    bind_imagine_options[];

static inline bool bind_is_real(const BindField *field)
{
    return field->kind == BIND_F32 || field->kind == BIND_F64;
}
// Sets a field that is a real number; or a whole one, a bool or a choice. False: it is too large.
void bind_real_set(const BindField *field, void *to, double value);
bool bind_whole_set(const BindField *field, void *to, uint64_t value);
// The number of a field.
double bind_number(const BindField *field, const void *from);

#endif
