// cuda_shared.h - a GPU as all sessions of a model use it: the driver, the context, the code of the archive, the weights.
#ifndef HOLO_DEVICES_CUDA_CUDA_SHARED_H
#define HOLO_DEVICES_CUDA_CUDA_SHARED_H

#include "base/threads.h"
#include "devices/cuda/cuda_driver.h"
#include "devices/device.h"

typedef struct HoloCudaPanels HoloCudaPanels; // see cuda_panels.h

typedef struct HoloCudaModule {
    const char  *name; // borrowed: the archive's
    HoloCuHandle module;
    bool         is_early; // its kernels wait for those before them: they may be launched early
} HoloCudaModule;

typedef struct HoloCudaFunction {
    const char  *module; // borrowed
    char         name[64];
    HoloCuHandle function;
    uint32_t     shared; // dynamic shared memory that it may have
    bool         is_early;
} HoloCudaFunction;

typedef struct HoloCudaShared {
    HoloCu             cu;
    void              *library;
    HoloCuDevice       device;
    HoloCuHandle       context;
    int                number, multiprocessors, capability; // capability: 90 for 9.0
    int                shared_most;                         // bytes of shared memory that a block may have
    char               name[64];
    const HoloArchive *archive;
    uint32_t           target;
    HoloMutex          lock; // for what follows
    HoloArena          arena;
    HoloCudaModule    *modules;
    int                module_count, module_room;
    HoloCudaFunction  *functions;
    int                function_count, function_room;
    HoloCuAddress     *constants; // by number; 0: not there yet
    size_t            *sizes;     // of these, there
    HoloCuAddress      pool;      // where the next constants go
    size_t             pool_left;
    HoloCuAddress     *pools;
    int                pool_count, pool_room;
    HoloCuHandle       streams[2]; // for bringing constants, in turns
    char              *staging;    // a half for each
} HoloCudaShared;

HOLO_MUST HoloStatus holo_cuda_share(const HoloDeviceSetup *setup, void **out_shared, HoloError *error);
void                 holo_cuda_unshare(void *shared);

// Does the archive have code of that module for this GPU?
bool holo_cuda_has(const HoloCudaShared *s, const char *module);
// Is the code for this GPU that of sm_90? PTX is that of sm_80 on any GPU: its kernels know no clusters, whatever the GPU has.
bool holo_cuda_has_clusters(const HoloCudaShared *s);
// A kernel of the archive's code, with as much dynamic shared memory as it needs. *out_early: it may be launched before the
// one before it has ended.
HOLO_MUST HoloStatus holo_cuda_function(HoloCudaShared *s, const char *module, const char *name, uint32_t shared,
                                        HoloCuHandle *out, bool *out_early, HoloError *error);
// Where a constant is. `panels`: it is turned into rows on the way; NULL: it stays as it is.
HOLO_MUST HoloStatus holo_cuda_constant(HoloCudaShared *s, uint32_t number, const HoloCudaPanels *panels,
                                        const void *bytes, size_t size, HoloCuAddress *out, HoloError *error);

#endif
