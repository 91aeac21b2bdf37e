// cuda_driver.h - the functions of the CUDA driver, loaded by name while the program runs. There is no need for CUDA's
// headers or libraries to build this, nor for a GPU to start.
#ifndef HOLO_DEVICES_CUDA_CUDA_DRIVER_H
#define HOLO_DEVICES_CUDA_CUDA_DRIVER_H

#include "base/base.h"

typedef int      HoloCuResult; // 0: success
typedef int      HoloCuDevice;
typedef uint64_t HoloCuAddress; // in the memory of a device
typedef void    *HoloCuHandle;  // of a context, stream, module, function, graph

enum { // numbers of the driver
    HOLO_CU_OUT_OF_MEMORY     = 2,
    HOLO_CU_NO_DEVICE         = 100,
    HOLO_CU_NO_IMAGE          = 209, // there is no code for this GPU
    HOLO_CU_BAD_PTX_VERSION   = 222,
    HOLO_CU_NOT_FOUND         = 500,
    HOLO_CU_MULTIPROCESSORS   = 16, // attributes of a device
    HOLO_CU_CAPABILITY_MAJOR  = 75,
    HOLO_CU_CAPABILITY_MINOR  = 76,
    HOLO_CU_SHARED_OF_BLOCK   = 97, // shared memory that a block may have, if its function asks for it
    HOLO_CU_SHARED_MOST       = 8,  // attribute of a function: dynamic shared memory
    HOLO_CU_STREAM_OWN        = 1,  // a stream that does not wait for the default one
    HOLO_CU_CAPTURE_THREAD    = 1,  // what other threads do does not disturb a capture
    HOLO_CU_LAUNCH_CLUSTER    = 4,  // attributes of a launch
    HOLO_CU_LAUNCH_EARLY      = 6,  // it may begin before the one before it has ended, and waits itself
    HOLO_CU_HOST_PORTABLE     = 1,
    HOLO_CU_MAP_F16           = 6, // maps of the copy engine: types of elements
    HOLO_CU_MAP_BF16          = 9,
    HOLO_CU_MAP_TF32          = 11,
    HOLO_CU_MAP_SWIZZLE       = 3, // 16-byte pieces of 128 bytes, see wgmma.cuh
    HOLO_CU_MAP_PROMOTE       = 2, // the cache reads 128 bytes at a time
    HOLO_CU_POINTER_TYPE      = 2, // attribute of an address
    HOLO_CU_POINTER_OF_DEVICE = 2, // its value, for memory of a device
};

// One attribute of a launch, as the driver has it: 64 bytes of value.
typedef struct HoloCuLaunchAttribute {
    int32_t  id;
    uint32_t pad;
    union {
        uint8_t  bytes[64];
        uint32_t cluster[3];
        int32_t  early;
    };
} HoloCuLaunchAttribute;

typedef struct HoloCuLaunchConfig {
    uint32_t               grid[3], block[3], shared;
    HoloCuHandle           stream;
    HoloCuLaunchAttribute *attributes;
    uint32_t               attribute_count;
} HoloCuLaunchConfig;

// X(field, name in the library, arguments)
#define HOLO_CU_MAP(X)                                                                                                \
    X(init, "cuInit", (unsigned))                                                                                     \
    X(version, "cuDriverGetVersion", (int *))                                                                         \
    X(device_count, "cuDeviceGetCount", (int *))                                                                      \
    X(device_get, "cuDeviceGet", (HoloCuDevice *, int))                                                               \
    X(device_name, "cuDeviceGetName", (char *, int, HoloCuDevice))                                                    \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, HoloCuDevice))                                           \
    X(context_retain, "cuDevicePrimaryCtxRetain", (HoloCuHandle *, HoloCuDevice))                                     \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (HoloCuDevice))                                                \
    X(context_push, "cuCtxPushCurrent_v2", (HoloCuHandle))                                                            \
    X(context_pop, "cuCtxPopCurrent_v2", (HoloCuHandle *))                                                            \
    X(memory_info, "cuMemGetInfo_v2", (size_t *, size_t *))                                                           \
    X(take, "cuMemAlloc_v2", (HoloCuAddress *, size_t))                                                               \
    X(give, "cuMemFree_v2", (HoloCuAddress))                                                                          \
    X(host_take, "cuMemHostAlloc", (void **, size_t, unsigned))                                                       \
    X(host_give, "cuMemFreeHost", (void *))                                                                           \
    X(copy_in, "cuMemcpyHtoDAsync_v2", (HoloCuAddress, const void *, size_t, HoloCuHandle))                           \
    X(copy_out, "cuMemcpyDtoHAsync_v2", (void *, HoloCuAddress, size_t, HoloCuHandle))                                \
    X(copy_within, "cuMemcpyDtoDAsync_v2", (HoloCuAddress, HoloCuAddress, size_t, HoloCuHandle))                      \
    X(clear, "cuMemsetD32Async", (HoloCuAddress, unsigned, size_t, HoloCuHandle))                                     \
    X(stream_create, "cuStreamCreate", (HoloCuHandle *, unsigned))                                                    \
    X(stream_destroy, "cuStreamDestroy_v2", (HoloCuHandle))                                                           \
    X(stream_wait, "cuStreamSynchronize", (HoloCuHandle))                                                             \
    X(capture_begin, "cuStreamBeginCapture_v2", (HoloCuHandle, int))                                                  \
    X(capture_end, "cuStreamEndCapture", (HoloCuHandle, HoloCuHandle *))                                              \
    X(graph_make, "cuGraphInstantiateWithFlags", (HoloCuHandle *, HoloCuHandle, unsigned long long))                  \
    X(graph_upload, "cuGraphUpload", (HoloCuHandle, HoloCuHandle))                                                    \
    X(graph_launch, "cuGraphLaunch", (HoloCuHandle, HoloCuHandle))                                                    \
    X(graph_destroy, "cuGraphDestroy", (HoloCuHandle))                                                                \
    X(graph_exec_destroy, "cuGraphExecDestroy", (HoloCuHandle))                                                       \
    X(module_load, "cuModuleLoadDataEx", (HoloCuHandle *, const void *, unsigned, int *, void **))                    \
    X(module_unload, "cuModuleUnload", (HoloCuHandle))                                                                \
    X(function_get, "cuModuleGetFunction", (HoloCuHandle *, HoloCuHandle, const char *))                              \
    X(function_set, "cuFuncSetAttribute", (HoloCuHandle, int, int))                                                   \
    X(launch, "cuLaunchKernelEx", (const HoloCuLaunchConfig *, HoloCuHandle, void **, void **))                       \
    X(map_tiled, "cuTensorMapEncodeTiled",                                                                            \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, int,    \
       int, int, int))                                                                                                \
    X(map_image, "cuTensorMapEncodeIm2col",                                                                           \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int32_t *, const int32_t *, uint32_t, \
       uint32_t, const uint32_t *, int, int, int, int))                                                               \
    X(pointer_attribute, "cuPointerGetAttribute", (void *, int, HoloCuAddress))                                       \
    X(error_text, "cuGetErrorString", (HoloCuResult, const char **))                                                  \
    X(error_name, "cuGetErrorName", (HoloCuResult, const char **))

typedef struct HoloCu { // in the order of the table
#define X(field, name, arguments) HoloCuResult(*field) arguments;
    HOLO_CU_MAP(X)
#undef X
} HoloCu;

// Loads the driver and starts it. *out_handle is for holo_library_close; NULL after a failure.
HOLO_MUST HoloStatus holo_cu_open(HoloCu *out, void **out_handle, HoloError *error);
// The failure of a call, in words: "cuda: WHAT: out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
HOLO_MUST HoloStatus holo_cu_fail(const HoloCu *cu, HoloCuResult result, HoloError *error, const char *what);

#define HOLO_CU_TRY(cu, call, error, what)                          \
    do {                                                            \
        HoloCuResult result_ = (cu)->call;                          \
        if (result_) return holo_cu_fail(cu, result_, error, what); \
    } while (0)

#endif
