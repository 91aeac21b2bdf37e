// model.h - an opened archive, in the form that runs use. It does not change after opening.
#ifndef HOLO_RUNTIME_MODEL_H
#define HOLO_RUNTIME_MODEL_H

#include "base/files.h"
#include "base/memory.h"
#include "format/holo.h"
#include "kernels/kernels.h"
#include "ops/op.h"

typedef struct HoloRunner HoloRunner;

struct HoloModel {
    HoloAccount *account;    // of its context
    HoloMapping  mapping;    // of the file; empty when opened from memory
    uint32_t     memory_how; // HOLO_MEMORY_...: for the file and for sessions
    HoloArchive  archive;
    uint32_t     plan;        // its own plan
    const char  *name;        // of the entry that it is
    HoloModel   *entries;     // the other entries: models that share all that is the same
    uint32_t     entry_count; // of them
    bool         is_entry;    // it is one of those, or a twin: what it shares is another model's
    HoloModel   *twin;        // the same with the second plan of the entry, for devices; then this one runs on the
                              // CPU alone. NULL: it has one plan, or this program lacks a device
    HoloArena                 arena;            // owns everything below
    const HoloOp            **ops;              // by number in OPS
    HoloAttr                 *attrs;            // by number in ATTRS; graphs are HoloPlanRecord *
    void                    **constants;        // by number in CONSTANTS: where its bytes are (strings: HoloString)
    HoloPort                 *inputs, *outputs; // behind the inputs: the states
    int                       state_count;
    const HoloKernelTable    *kernels;
    const struct HoloDevice **devices;      // by number of the target; number 0 is the CPU
    uint32_t                  device_count; // of those that its plan may use
    struct HoloSharing       *sharing; // what sessions share on devices (sharing.h); an entry has that of its model
    HoloRunner               *runner;  // what changes, besides sharing: sessions of holo_model_run
};

HoloRunner *holo_runner_create(void);                // NULL: no memory
void        holo_runner_destroy(HoloRunner *runner); // with its sessions; accepts NULL

// Inputs and states: what its own plan calls inputs.
static inline int holo_model_given_count(const HoloModel *model)
{
    return (int)model->archive.PLANS_at[model->plan].input_count;
}

// Texts of an archive.
static inline const char *holo_model_text(const HoloModel *model, uint32_t text)
{
    return model->archive.STRINGS_at + text;
}

// A step as a call of its operator. `operands` are its inputs, followed by its outputs.
static inline HoloCall holo_model_call(const HoloModel *model, const HoloStepRecord *s, HoloTensor **operands)
{
    const HoloProgramRecord *program = s->program ? &model->archive.PROGRAMS_at[s->program - 1] : NULL;
    return (HoloCall){
        .op            = model->ops[s->op],
        .node          = holo_model_text(model, s->name),
        .version       = (int)model->archive.OPS_at[s->op].version,
        .in_count      = s->in_count,
        .out_count     = s->out_count,
        .in            = (const HoloTensor *const *)operands,
        .out           = operands + s->in_count,
        .attr          = model->attrs + s->attr_first,
        .attr_count    = s->attr_count,
        .capture_count = s->capture_count,
        .params        = model->archive.BYTES_at + s->params,
        .params_size   = s->params_size,
        .program       = program ? model->archive.BYTES_at + program->program : NULL,
        .program_size  = program ? program->program_size : 0,
    };
}

// As holo_model_open_memory, for a mapping that the model takes over and unmaps when it is closed.
HOLO_MUST HoloStatus holo_model_open_mapping(const HoloMapping *mapping, HoloModel **out_model, HoloError *error);

// Writes a size: a number, "batch", "2*n+1".
void holo_model_dim_text(const HoloModel *model, int64_t size, char *text, size_t room);

#endif
