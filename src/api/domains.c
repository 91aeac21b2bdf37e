// domains.c - applies declared domains to a model: see domains.h.
#include "api/domains.h"
#include "api/tensors.h"
#include "ops/tensor.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Sorts bits in ascending order and drops duplicates. Sets the count of `out`.
static HoloStatus bits_sort(HoloTensor *out, HoloArena *arena, HoloError *error)
{
    int64_t   count = out->dim[0], kept = 0;
    size_t    size = holo_dtype_size((HoloDtype)out->dtype);
    uint64_t *bits = HOLO_NEW(arena, uint64_t, count);
    if (!bits) return holo_fail_memory(error);
    for (int64_t i = 0; i < count; i++) bits[i] = holo_get_bits(out, i);
    qsort(bits, (size_t)count, sizeof *bits, by_value);
    for (int64_t i = 0; i < count; i++)
        if (!i || bits[i] != bits[i - 1]) memcpy((char *)out->data + (size_t)kept++ * size, &bits[i], size);
    out->dim[0] = kept;
    return HOLO_OK;
}

// Converts the values to the type of an input. The type must be able to hold each value exactly.
static HoloStatus values_convert(const HoloInputChoice *choice, HoloDtype dtype, HoloArena *arena, HoloTensor *out,
                                 HoloError *error)
{
    const HoloTensor *from = &choice->value;
    *out        = (HoloTensor){.dtype = (uint8_t)dtype, .kind = HOLO_TENSOR, .rank = 1, .dim = {from->dim[0]}};
    size_t size = holo_dtype_size(dtype);
    if (!size || size > 8 || dtype == HOLO_STRING)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s is of %s, which cannot have a domain", choice->name,
                         holo_dtype_name(dtype));
    if (!(out->data = holo_arena_take(arena, holo_tensor_bytes(out)))) return holo_fail_memory(error);
    HoloClass class = holo_dtype_class(dtype);
    for (int64_t i = 0; i < from->dim[0]; i++) {
        double number = holo_get_f(from, i);
        if (class == HOLO_CLASS_FLOAT)
            holo_put_f(out, i, number);
        else
            holo_put_i(out, i, holo_get_i(from, i));
        if (class != HOLO_CLASS_FLOAT && holo_get_f(out, i) != number)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s is of %s, which cannot hold %.17g", choice->name,
                             holo_dtype_name(dtype), number);
    }
    return bits_sort(out, arena, error);
}

static HoloStatus inputs_check(const HoloGraph *graph, HoloError *error)
{
    for (int i = 0; i < graph->input_count; i++) {
        const HoloTensor *t = &graph->inputs[i]->type;
        if (t->kind != HOLO_TENSOR || t->rank < 0 || holo_tensor_count(t) < 0)
            return holo_fail(error, HOLO_BAD_ARGUMENT,
                             "input %s has dynamic sizes, but a domain needs fixed ones: fix its shape (--input-shape)",
                             graph->inputs[i]->name);
    }
    return HOLO_OK;
}

HoloStatus holo_compiler_domains(const HoloCompiler *compiler, const HoloGraph *graph, HoloArena *arena,
                                 HoloDomain **out, HoloError *error)
{
    *out = HOLO_NEW(arena, HoloDomain, compiler->domain_count + 1);
    if (!*out) return holo_fail_memory(error);
    for (int k = 0; k < compiler->domain_count; k++) {
        const HoloInputChoice *choice = &compiler->domains[k];
        const HoloValue       *input  = NULL;
        for (int i = 0; i < graph->input_count; i++)
            if (!strcmp(graph->inputs[i]->name, choice->name)) input = graph->inputs[i];
        if (!input)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "there is a domain for %s, but the model has no such input",
                             choice->name);
        HOLO_TRY(inputs_check(graph, error));
        (*out)[k].name = choice->name;
        HOLO_TRY(values_convert(choice, (HoloDtype)input->type.dtype, arena, &(*out)[k].values, error));
    }
    return HOLO_OK;
}

HoloStatus holo_compiler_domain_inputs(const HoloCompiler *compiler, const HoloGraph *graph, HoloArena *arena,
                                       const HoloTensor *const **out, HoloError *error)
{
    HoloDomain *domains;
    *out = NULL;
    if (!compiler->domain_count) return HOLO_OK;
    HOLO_TRY(holo_compiler_domains(compiler, graph, arena, &domains, error));
    HoloTensor        *tensors = HOLO_NEW(arena, HoloTensor, graph->input_count + 1);
    const HoloTensor **inputs  = HOLO_NEW(arena, const HoloTensor *, graph->input_count + 1);
    if (!tensors || !inputs) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++) {
        HoloTensor *t = &tensors[i];
        *t            = graph->inputs[i]->type;
        inputs[i]     = t;
        HOLO_TRY(holo_tensor_seed(t, (uint64_t)i + 1, arena, error));
        for (int k = 0; k < compiler->domain_count; k++) {
            const HoloTensor *values = &domains[k].values;
            if (strcmp(domains[k].name, graph->inputs[i]->name)) continue;
            size_t  size = holo_dtype_size((HoloDtype)t->dtype);
            int64_t n    = holo_tensor_count(t);
            for (int64_t e = 0; e < n; e++)
                memcpy((char *)t->data + (size_t)e * size,
                       (const char *)values->data + (size_t)(e % values->dim[0]) * size, size);
        }
    }
    *out = inputs;
    return HOLO_OK;
}
