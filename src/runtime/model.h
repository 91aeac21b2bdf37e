// model.h - an opened archive, in the form that runs use. Immutable after opening.
#ifndef HOLO_RUNTIME_MODEL_H
#define HOLO_RUNTIME_MODEL_H

#include "base/files.h"
#include "base/memory.h"
#include "format/holo.h"
#include "kernels/kernels.h"
#include "ops/op.h"

typedef struct HoloRunner HoloRunner;

struct HoloModel {
    HoloAccount              *account;    // of its context
    HoloMapping               mapping;    // of the file; empty when opened from memory
    uint32_t                  memory_how; // HOLO_MEMORY_...: of the file and of sessions
    HoloArchive               archive;
    HoloArena                 arena;     // owns what follows
    const HoloOp            **ops;       // by number in OPS
    HoloAttr                 *attrs;     // by number in ATTRS; graphs are HoloPlanRecord *
    void                    **constants; // by number in CONSTANTS: where its bytes are (strings: HoloString)
    HoloPort                 *inputs, *outputs;
    const HoloKernelTable    *kernels;
    const struct HoloDevice **devices; // by number of the target; number 0 is the CPU
    uint32_t                  device_count;
    HoloRunner               *runner; // the one thing that changes: sessions of holo_model_run
};

HoloRunner *holo_runner_create(void);                // NULL: out of memory
void        holo_runner_destroy(HoloRunner *runner); // with its sessions; NULL is none

// Texts of an archive.
static inline const char *holo_model_text(const HoloModel *model, uint32_t text)
{
    return model->archive.STRINGS_at + text;
}

// A step as the call of its operator; operands are those of its inputs and then of its outputs.
static inline HoloCall holo_model_call(const HoloModel *model, const HoloStepRecord *s, HoloTensor **operands)
{
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
    };
}

// As holo_model_open_memory, on a mapping that the model takes over and unmaps when closed.
HOLO_MUST HoloStatus holo_model_open_mapping(const HoloMapping *mapping, HoloModel **out_model, HoloError *error);

// How a size is written: a number, "batch", "2*n+1".
void holo_model_dim_text(const HoloModel *model, int64_t size, char *text, size_t room);

#endif
