// cuda_program.c - steps that are a portable program for each element, and the tails of products.
#include "base/hash.h"
#include "devices/cuda/cuda_kernel.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void holo_cuda_program_name(const void *bytes, size_t size, uint8_t store, uint64_t narrow, char out[HOLO_CUDA_NAME])
{
    snprintf(out, HOLO_CUDA_NAME, "p%016" PRIx64 "_%d_%" PRIx64, holo_hash(bytes, size).word[0], store ? (int)store : 0,
             store ? narrow : 0);
}

int holo_cuda_program_operand(const char *name, bool is_tail)
{
    if (!strcmp(name, "y")) return -1;
    if (name[0] != 'x' || name[1] < '0' || name[1] > '9' || name[2]) return -2;
    return name[1] - '0' + (is_tail ? 2 : 0);
}

typedef struct Param { // as the kernel takes it
    uint64_t address, count;
} Param;

enum { PARAMS = HOLO_CUDA_ARGS / (int)sizeof(Param) };

// The number of a size: "y_0", "x1_2".
static HoloStatus scalar(HoloCudaMaking *m, const char *name, bool is_tail, Param *out)
{
    char              array[4] = {0};
    const char       *bar      = strchr(name, '_');
    const HoloTensor *t        = NULL;
    if (bar && bar - name < 4) {
        memcpy(array, name, (size_t)(bar - name));
        int operand = holo_cuda_program_operand(array, is_tail);
        t           = operand == -1 ? m->call->out[0] : operand >= 0 ? holo_in(m->call, operand) : NULL;
    }
    int d = t ? atoi(bar + 1) : 0;
    if (!t || d < 0 || d >= t->rank)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its program asks for '%.40s'", name);
    out->address = (uint64_t)t->dim[d];
    return HOLO_OK;
}

typedef struct Arrays { // of a program
    Param    param[PARAMS];
    int      operand[PARAMS]; // -1: a scalar
    uint64_t narrow;
} Arrays;

static HoloStatus arrays_find(HoloCudaMaking *m, const HoloIsaProgram *program, bool is_tail, Arrays *a)
{
    if (program->param_count > PARAMS || program->param_count > HOLO_CUDA_PLACES)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: its program has %d parameters", program->param_count);
    for (int i = 0; i < program->param_count; i++) {
        const HoloIsaParam *p = &program->params[i];
        a->operand[i]         = -1;
        if (p->access == HOLO_ISA_VALUE) {
            HOLO_TRY(scalar(m, p->name, is_tail, &a->param[i]));
            continue;
        }
        int               operand = holo_cuda_program_operand(p->name, is_tail);
        const HoloTensor *t       = operand == -1 ? m->call->out[0] : operand >= 0 ? holo_in(m->call, operand) : NULL;
        if (!t || t->dtype != p->type || (operand == -1) != (p->access != HOLO_ISA_IN))
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its program has no operand for '%.40s'", p->name);
        a->operand[i]     = operand == -1 ? holo_cuda_out(m, 0) : operand;
        a->param[i].count = (uint64_t)holo_tensor_count(t);
        bool is_narrow    = t->dtype == HOLO_F32 && (operand == -1 || !t->data);
        a->narrow |= (uint64_t)is_narrow << i;
    }
    return HOLO_OK;
}

static HoloStatus program_add(HoloCudaMaking *m, const HoloIsaProgram *program, bool is_tail)
{
    Arrays        a = {0};
    char          name[HOLO_CUDA_NAME];
    HoloCudaStep *step;
    HOLO_TRY(arrays_find(m, program, is_tail, &a));
    holo_cuda_program_name(m->call->program, m->call->program_size, m->params.store, a.narrow, name);
    HoloCudaShape shape = holo_cuda_threads(holo_tensor_count(m->call->out[0]));
    HOLO_TRY(holo_cuda_add(m, "programs", name, &shape, a.param, sizeof a.param, &step));
    for (int i = 0; i < program->param_count; i++)
        if (a.operand[i] >= 0) holo_cuda_place(step, (size_t)i * sizeof(Param), a.operand[i], 0);
    return HOLO_OK;
}

static HoloStatus program_make(HoloCudaMaking *m, bool is_tail)
{
    HoloArena      arena = {0};
    HoloIsaProgram program;
    if (!m->call->program || !m->call->out_count || !m->call->out[0])
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "it has no program");
    HoloStatus status = holo_isa_decode(&arena, m->call->program, m->call->program_size, &program, m->call->error);
    if (!status) status = program_add(m, &program, is_tail);
    holo_arena_deinit(&arena);
    return status;
}

HoloStatus holo_cuda_program(HoloCudaMaking *m)
{
    return program_make(m, false);
}

HoloStatus holo_cuda_tail(HoloCudaMaking *m)
{
    return m->params.flags & HOLO_CUDA_FLAG_TAIL ? program_make(m, true) : HOLO_OK;
}
