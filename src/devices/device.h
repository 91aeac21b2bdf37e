// device.h - what runs the steps of a plan and portable programs: a table of functions, one row for each device.
//
// A device has a space: memory that only it may touch. The CPU's space is the host's memory. The runtime takes memory
// there, moves bytes in and out, has each step prepared when sizes are bound, and launches it in each run. It knows
// nothing else about a device. The build finds the rows: each folder of src/devices/ that defines one, and the folders
// of EXTRA_DEVICES. Number 0 of a model is always the CPU.
#ifndef HOLO_DEVICES_DEVICE_H
#define HOLO_DEVICES_DEVICE_H

#include "format/holo.h"
#include "isa/isa.h"
#include "ops/op.h"

typedef enum HoloTransferWay {
    HOLO_TRANSFER_IN,     // from the host's memory to the device's
    HOLO_TRANSFER_OUT,    // from the device's to the host's
    HOLO_TRANSFER_WITHIN, // within the device's; source and target may overlap
} HoloTransferWay;

// Portable programs on a device, for executors.
typedef struct HoloDevicePrograms {
    // Prepares a checked program. It keeps nothing of `program`. `team` are the host's threads that may work for it.
    HoloStatus (*prepare)(void *self, const HoloIsaProgram *program, const HoloIsaTeam *team, void **out_job,
                          HoloError *error);
    void (*release)(void *self, void *job); // accepts NULL
    // Arrays of `args` are in the device's memory.
    HoloStatus (*launch)(void *self, void *job, const HoloIsaTeam *team, const HoloIsaLaunch *lanes,
                         const HoloIsaArg *args, HoloError *error);
} HoloDevicePrograms;

// What a device is opened for.
typedef struct HoloDeviceSetup {
    const HoloArchive *archive; // borrowed: lives longer than what is opened; NULL: an executor's
    uint32_t           target;  // the number of its target there
    int                number;  // which one, where a machine has several
    void              *shared;  // what `share` made; NULL: it has no such function
} HoloDeviceSetup;

typedef struct HoloDevice {
    const char *name; // the name of the target whose steps it runs

    // Makes what all sessions of a model share on a device: code, weights. Any thread may use it. NULL: nothing is
    // shared.
    HoloStatus (*share)(const HoloDeviceSetup *setup, void **out_shared, HoloError *error);
    void (*unshare)(void *shared);

    // Opens it for one session or executor, which uses it from one thread at a time. Its result is `self` below. NULL:
    // there is nothing to open, and self is NULL.
    HoloStatus (*open)(const HoloDeviceSetup *setup, void **out_self, HoloError *error);
    void (*close)(void *self);

    // Takes memory in its space, aligned to 64 bytes. `how` is HOLO_MEMORY_..., as far as that means something there.
    // NULL: there is no more. Callers only add offsets to the result.
    void *(*take)(void *self, size_t size, uint32_t how);
    void (*give)(void *self, void *memory, size_t size); // accepts NULL

    // Where the bytes of a constant of the archive are in its memory. They are brought there once for all sessions, and
    // stay until unshare. `call` is the transfer: its parameters may say that they get another form on the way. NULL:
    // constants are transferred like other values.
    HoloStatus (*constant)(void *self, uint32_t number, const HoloCall *call, const void *bytes, size_t size,
                           void **out_at);

    // Moves bytes after everything that was launched before. The host may change the source of a transfer in as soon as
    // this returns; the result of a transfer out is there when wait returns.
    HoloStatus (*transfer)(void *self, HoloTransferWay way, void *to, const void *from, size_t size, HoloError *error);

    // A transfer by a kernel: elements lie otherwise in its memory than on the host. `prepare` has filled the job. It keeps
    // the promises of `transfer`. `is_there`: what would be the host's operand is in the device's memory, too. NULL: it
    // has no such kernels.
    HoloStatus (*transfer_by)(void *self, HoloTransferWay way, bool is_there, HoloCall *call, void *job);
    // Brings a value in its memory to the host (HOLO_TRANSFER_OUT) or changes it (HOLO_TRANSFER_IN), as elements of the type
    // of `t`, and waits for that. `bytes` are the elements on the host. NULL: values lie there as on the host.
    HoloStatus (*show)(void *self, HoloTransferWay way, const HoloTensor *t, void *bytes, HoloError *error);
    // Bytes of an element of a value in its memory. NULL: as many as on the host.
    size_t (*element)(void *self, HoloDtype dtype);

    // From now on everything is launched in a stream of the caller's, or in its own again. What was launched before is done
    // when this returns. NULL: it has no streams.
    HoloStatus (*use_stream)(void *self, void *stream, bool own, HoloError *error);

    // A job is what a device knows about a step once its sizes are bound. It has so many bytes, aligned to 16, and does
    // not move. `kernel` is the device's own number; 0 is the operator's eval. 0 bytes: it has no such kernel.
    size_t (*job_size)(uint32_t kernel);
    // Called when sizes are bound or, for an open step, when the run finds them. Operands have concrete sizes,
    // call->params are the parameters of the kernel, and call->host->workers is set; data need not be there. For a
    // device other than the CPU, data of an input are on the host if they are known before the run, and NULL otherwise.
    // It refuses whatever launch could not do safely, and fills the job, whatever was in it before. It takes more memory by
    // holo_call_hold. *out_scratch is the memory in its space, in bytes, that a launch needs (for the CPU: each
    // worker).
    HoloStatus (*prepare)(void *self, uint32_t kernel, const HoloCall *call, void *job, size_t *out_scratch);
    // Bytes of the packed form of input i; -1: it is plain. NULL: no input is ever packed. prepare has filled the job.
    int64_t (*packed_size)(const HoloCall *call, const void *job, int input);
    // The kernel of the CPU for which input i is packed in the archive: it gets the device's form when that holds it. 0: the
    // step's own kernel. NULL: that is always so.
    uint32_t (*packed_by)(const void *job, int input);
    // May the kernel write an output over an input of the same size? NULL: none may, unless the operator is pointwise.
    bool (*is_in_place)(uint32_t kernel);
    const char *(*ran_by)(const void *job);      // its name in profiles: a kernel's name, or "eval"
    const char *(*kernel_name)(uint32_t kernel); // of one of its kernels, for listings; NULL: it has no names
    // Begins to compute after everything that was launched before. Data of operands, and call->host->scratch, are in
    // its space.
    HoloStatus (*launch)(void *self, HoloCall *call, void *job);
    // Returns when everything that was launched is done, or with the first failure of that.
    HoloStatus (*wait)(void *self, HoloError *error);

    // What is launched between record and record_end does not run: it becomes a recording, which replay runs as often
    // as asked, with the same addresses. After a failure nothing is recorded. NULL: steps are launched in each run.
    HoloStatus (*record)(void *self, HoloError *error);
    HoloStatus (*record_end)(void *self, void **out_recording, HoloError *error);
    HoloStatus (*replay)(void *self, void *recording, HoloError *error);
    void (*forget)(void *self, void *recording); // accepts NULL

    const HoloDevicePrograms *programs; // NULL: it runs none
} HoloDevice;

extern const HoloDevice *const holo_devices[];                     // NULL at the end; the CPU is the first
const HoloDevice              *holo_device_find(const char *name); // NULL: there is none

// The names of all devices, "cpu, mirror", for messages.
void holo_device_names(char *text, size_t room);

#endif
