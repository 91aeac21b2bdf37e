// device.h - what runs the steps of a plan and portable programs: a table of functions, one row a device.
//
// A device has a space: memory that it alone may touch, unless it is the CPU, whose space is the host's. The runtime takes
// memory there, moves bytes in and out, has each step prepared when sizes are bound, and launches it in each run. It knows
// no more of a device than this table. Rows are found by the build: each folder of src/devices/ that defines one, and the
// folders of EXTRA_DEVICES. Number 0 of a model is always the CPU.
#ifndef HOLO_DEVICES_DEVICE_H
#define HOLO_DEVICES_DEVICE_H

#include "isa/isa.h"
#include "ops/op.h"

typedef enum HoloTransferWay {
    HOLO_TRANSFER_IN,     // from the host's memory to the device's
    HOLO_TRANSFER_OUT,    // from the device's to the host's
    HOLO_TRANSFER_WITHIN, // in the device's; places may overlap
} HoloTransferWay;

// Portable programs on a device, for executors.
typedef struct HoloDevicePrograms {
    // A checked program made ready; it keeps nothing of `program`. `team` are the host's threads that may work for it.
    HoloStatus (*prepare)(void *self, const HoloIsaProgram *program, const HoloIsaTeam *team, void **out_job,
                          HoloError *error);
    void (*release)(void *self, void *job); // NULL: nothing
    // Arrays of `args` are in the device's memory.
    HoloStatus (*launch)(void *self, void *job, const HoloIsaTeam *team, const HoloIsaLaunch *lanes,
                         const HoloIsaArg *args, HoloError *error);
} HoloDevicePrograms;

typedef struct HoloDevice {
    const char *name; // that of the target whose steps it runs

    // Opens it for one session or executor, which uses it from one thread at a time. What this gives is `self` below.
    // NULL: there is nothing to open, and self is NULL.
    HoloStatus (*open)(void **out_self, HoloError *error);
    void (*close)(void *self);

    // Memory in its space, aligned to 64 bytes. `how`: HOLO_MEMORY_..., as far as that means anything there. take may give
    // NULL: there is no more. Offsets may be added to what it gives, nothing else.
    void *(*take)(void *self, size_t size, uint32_t how);
    void (*give)(void *self, void *memory, size_t size); // memory NULL: nothing

    // Moves bytes, behind all that was launched before. What comes in may be changed by the host as soon as this returns;
    // what goes out is there when wait returns.
    HoloStatus (*transfer)(void *self, HoloTransferWay way, void *to, const void *from, size_t size, HoloError *error);

    // A job is what a device knows of a step once its sizes are bound. It has so many bytes, aligned to 16, and does not move.
    // `kernel` is a number of the device's own, 0 the operator's eval. 0 bytes: it has no such kernel.
    size_t (*job_size)(uint32_t kernel);
    // Called when sizes are bound or, of an open step, found while running: operands have concrete sizes, call->params are
    // the parameters of the kernel, call->host->workers is set; data need not be there. Refuses whatever launch could not
    // do safely and fills the job, whatever was in it before. More memory for it is that of holo_call_hold. *out_scratch is
    // the memory in its space, in bytes, that a launch needs (of the CPU: each worker).
    HoloStatus (*prepare)(void *self, uint32_t kernel, const HoloCall *call, void *job, size_t *out_scratch);
    // Bytes in which input i is packed, -1 where it is plain. NULL: nothing ever is. prepare has filled the job.
    int64_t (*packed_size)(const HoloCall *call, const void *job, int input);
    const char *(*ran_by)(const void *job); // what profiles call it: a kernel's name, or "eval"
    // Begins to compute, behind all that was launched before. Data of operands are in its space, and so is
    // call->host->scratch.
    HoloStatus (*launch)(void *self, HoloCall *call, void *job);
    // All that was launched is done; or fails as the first of that did that failed.
    HoloStatus (*wait)(void *self, HoloError *error);

    const HoloDevicePrograms *programs; // NULL: it runs none
} HoloDevice;

extern const HoloDevice *const holo_devices[];                     // NULL at the end; the CPU is the first
const HoloDevice              *holo_device_find(const char *name); // NULL: no such

// The names of all there are, "cpu, mirror", for messages.
void holo_device_names(char *text, size_t room);

#endif
