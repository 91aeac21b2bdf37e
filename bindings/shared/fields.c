// fields.c - numbers of structs, by tables.
#include "fields.h"

#include <string.h>

void bind_real_set(const BindField *field, void *to, double value)
{
    void *at = (char *)to + field->at;
    if (field->kind == BIND_F32)
        *(float *)at = (float)value;
    else
        *(double *)at = value;
}

static uint64_t most_of(const BindField *field)
{
    uint64_t choices = 0;
    switch (field->kind) {
    case BIND_BOOL: return 1;
    case BIND_CHOICE:
        while (field->choices[choices]) choices++;
        return choices - 1;
    case BIND_I64: return INT64_MAX;
    case BIND_U64: return UINT64_MAX;
    case BIND_SIZE: return SIZE_MAX;
    default: return INT32_MAX;
    }
}

bool bind_whole_set(const BindField *field, void *to, uint64_t value)
{
    void *at = (char *)to + field->at;
    if (value > most_of(field)) return false;
    switch (field->kind) {
    case BIND_BOOL: *(bool *)at = value; break;
    case BIND_I64:
    case BIND_U64: memcpy(at, &value, sizeof value); break;
    case BIND_SIZE: *(size_t *)at = (size_t)value; break;
    default: *(uint32_t *)at = (uint32_t)value; break; // an enum is as large as an int
    }
    return true;
}

double bind_number(const BindField *field, const void *from)
{
    const void *at = (const char *)from + field->at;
    switch (field->kind) {
    case BIND_F32: return (double)*(const float *)at;
    case BIND_F64: return *(const double *)at;
    case BIND_BOOL: return *(const bool *)at;
    case BIND_U32: return *(const uint32_t *)at;
    case BIND_I64: return (double)*(const int64_t *)at;
    case BIND_U64: return (double)*(const uint64_t *)at;
    case BIND_SIZE: return (double)*(const size_t *)at;
    case BIND_I32:
    case BIND_CHOICE: break;
    }
    return *(const int *)at;
}
