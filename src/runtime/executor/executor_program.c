// executor_program.c - portable programs on an executor: prepared once, launched many times.
#include "runtime/executor/executor.h"
#include "runtime/model.h"
#include "runtime/programs.h"

#include <string.h>

HoloStatus holo_portable_ready(HoloExecutor *executor, HoloPortable *p, HoloError *error)
{
    return executor->device->programs->prepare(executor->self, &p->program, &executor->team, &p->job, error);
}

HoloStatus holo_portable_launch(HoloExecutor *executor, HoloPortable *p, const HoloIsaLaunch *lanes,
                                const HoloIsaArg *args, HoloError *error)
{
    const HoloDevice *device = executor->device;
    HOLO_TRY(device->programs->launch(executor->self, p->job, &executor->team, lanes, args, error));
    return device->wait(executor->self, error);
}

static HoloStatus portable_read(HoloExecutor *executor, HoloPortable *p, const void *data, size_t size,
                                HoloError *error)
{
    if (size >= 4 && !memcmp(data, "HISA", 4))
        HOLO_TRY(holo_isa_decode(&p->arena, data, size, &p->program, error));
    else
        HOLO_TRY(holo_isa_parse(&p->arena, data, size, &p->program, error));
    return holo_portable_ready(executor, p, error);
}

HoloStatus holo_portable_new(HoloExecutor *executor, HoloPortable **out, HoloError *error)
{
    HoloPortable *p = holo_realloc(NULL, sizeof *p);
    if (!p) return holo_fail_memory(error);
    *p   = (HoloPortable){.executor = executor};
    *out = p;
    return HOLO_OK;
}

HoloStatus holo_portable_end(HoloPortable *p, HoloStatus status, HoloPortable **out)
{
    if (status)
        holo_portable_destroy(p);
    else
        *out = p;
    return status;
}

HoloStatus holo_portable_create(HoloExecutor *executor, const void *text_or_bytes, size_t size,
                                HoloPortable **out_program, HoloError *error)
{
    HOLO_IN(executor->account);
    HoloPortable *p = NULL;
    HOLO_TRY(holo_portable_new(executor, &p, error));
    return holo_portable_end(p, portable_read(executor, p, text_or_bytes, size, error), out_program);
}

static HoloStatus portable_find(HoloExecutor *executor, HoloPortable *p, const HoloModel *model, const char *name,
                                HoloError *error)
{
    HoloArchive       library;
    HoloStoredProgram stored;
    if (!model) HOLO_TRY(holo_stdlib_open(&p->arena, &library, error));
    HOLO_TRY(holo_program_find(model ? &model->archive : &library, name, &p->arena, &stored, error));
    p->program = stored.program;
    p->lanes   = stored.lanes;
    memcpy(p->block, stored.block, sizeof p->block);
    return holo_portable_ready(executor, p, error);
}

HoloStatus holo_portable_find(HoloExecutor *executor, const HoloModel *model, const char *name,
                              HoloPortable **out_program, HoloError *error)
{
    HOLO_IN(executor->account);
    HoloPortable *p = NULL;
    HOLO_TRY(holo_portable_new(executor, &p, error));
    return holo_portable_end(p, portable_find(executor, p, model, name, error), out_program);
}

void holo_portable_destroy(HoloPortable *program)
{
    if (!program) return;
    HoloExecutor *e = program->executor;
    e->device->programs->release(e->self, program->job);
    holo_arena_deinit(&program->arena);
    holo_free(program);
}

const char *holo_portable_name(const HoloPortable *program)
{
    return program->program.name;
}

int holo_portable_param_count(const HoloPortable *program)
{
    return program->program.param_count;
}

bool holo_portable_param(const HoloPortable *program, int index, HoloPortableParam *out_param)
{
    if (index < 0 || index >= program->program.param_count) return false;
    const HoloIsaParam *p = &program->program.params[index];
    *out_param            = (HoloPortableParam){p->name, (HoloDtype)p->type, p->access != HOLO_ISA_VALUE,
                                                (p->access & HOLO_ISA_IN) != 0, (p->access & HOLO_ISA_OUT) != 0};
    return true;
}

static HoloStatus argument(const HoloIsaProgram *p, const HoloExecutor *e, int i, const HoloArgument *from,
                           HoloIsaArg *to, HoloError *error)
{
    const HoloIsaParam *param = &p->params[i];
    bool                is_float =
        param->type == HOLO_F16 || param->type == HOLO_BF16 || param->type == HOLO_F32 || param->type == HOLO_F64;
    if (param->access == HOLO_ISA_VALUE) {
        HoloDtype type = (HoloDtype)param->type;
        *to            = (HoloIsaArg){.bits = is_float ? holo_isa_bits_of_float(type, from->real)
                                                       : holo_isa_bits_of_int(type, from->integer)};
        return HOLO_OK;
    }
    const HoloBuffer *b = from->buffer;
    if (!b || b->executor != e)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "program %s: parameter %s is an array and needs a buffer of this executor", p->name,
                         param->name);
    if (b->info.dtype != (HoloDtype)param->type)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "program %s: parameter %s is of %s, but its buffer is of %s",
                         p->name, param->name, holo_dtype_name((HoloDtype)param->type), holo_dtype_name(b->info.dtype));
    *to = (HoloIsaArg){.data = b->data, .count = b->info.count};
    return HOLO_OK;
}

static HoloStatus arguments(HoloExecutor *executor, const HoloPortable *program, const HoloArgument *args,
                            int arg_count, int64_t turns, HoloIsaArg *out, HoloError *error)
{
    const HoloIsaProgram *p = &program->program;
    if (arg_count != p->param_count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "program %s: %d arguments for %d parameters", p->name, arg_count,
                         p->param_count);
    if (program->executor != executor || turns < 0)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "program %s belongs to another executor, or the limit of turns is negative", p->name);
    for (int i = 0; i < p->param_count; i++) HOLO_TRY(argument(p, executor, i, &args[i], &out[i], error));
    return HOLO_OK;
}

HoloStatus holo_executor_launch(HoloExecutor *executor, HoloPortable *program, const HoloLaunch *launch,
                                const HoloArgument *args, int arg_count, HoloError *error)
{
    HOLO_IN(executor->account);
    HoloIsaArg    given[HOLO_ISA_MAX_PARAMS];
    HoloIsaLaunch lanes = {.turns = launch->turns};
    HOLO_TRY(arguments(executor, program, args, arg_count, launch->turns, given, error));
    for (int i = 0; i < 3; i++) {
        lanes.grid[i]  = launch->grid[i] ? launch->grid[i] : 1;
        lanes.block[i] = launch->block[i] ? launch->block[i] : 1;
    }
    return holo_portable_launch(executor, program, &lanes, given, error);
}

HoloStatus holo_portable_run(HoloExecutor *executor, HoloPortable *p, const HoloIsaArg *args, int64_t turns,
                             HoloError *error)
{
    HoloIsaLaunch launch;
    int64_t       lanes;
    HOLO_TRY(holo_isa_lanes(&p->program, &p->lanes, args, &lanes, error));
    HOLO_TRY(holo_isa_grid(lanes, p->block, &launch, error));
    launch.turns = turns;
    return launch.grid[0] ? holo_portable_launch(executor, p, &launch, args, error) : HOLO_OK;
}

HoloStatus holo_executor_run(HoloExecutor *executor, HoloPortable *program, const HoloArgument *args, int arg_count,
                             int64_t turns, HoloError *error)
{
    HOLO_IN(executor->account);
    HoloIsaArg given[HOLO_ISA_MAX_PARAMS];
    HOLO_TRY(arguments(executor, program, args, arg_count, turns, given, error));
    return holo_portable_run(executor, program, given, turns, error);
}
