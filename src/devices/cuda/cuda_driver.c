// cuda_driver.c - loads the CUDA driver, and says what went wrong.
#include "devices/cuda/cuda_driver.h"

#include "base/library.h"

static const char *const names[] = {
#define X(field, name, arguments) name,
    HOLO_CU_MAP(X)
#undef X
};

static const HoloLibrary library = {"libcuda.so.1", "the NVIDIA driver", names, HOLO_COUNT(names)};

enum { VERSION_LEAST = 12000 }; // 12.0: the first whose launches have clusters

HoloStatus holo_cu_fail(const HoloCu *cu, HoloCuResult result, HoloError *error, const char *what)
{
    const char *text = NULL, *name = NULL;
    HoloStatus  status = result == HOLO_CU_OUT_OF_MEMORY                                   ? HOLO_NO_MEMORY
                         : result == HOLO_CU_NO_IMAGE || result == HOLO_CU_BAD_PTX_VERSION ? HOLO_UNSUPPORTED
                                                                                           : HOLO_INTERNAL;
    if (cu->error_text(result, &text)) text = NULL;
    if (cu->error_name(result, &name)) name = NULL;
    return holo_fail(error, status, "cuda: %s: %s (%s)", what, text ? text : "unknown failure", name ? name : "?");
}

static HoloStatus start(const HoloCu *cu, HoloError *error)
{
    int          version = 0;
    HoloCuResult result  = cu->init(0);
    if (result == HOLO_CU_NO_DEVICE)
        return holo_fail(error, HOLO_UNSUPPORTED, "cuda: the driver is installed, but there is no GPU");
    if (result) return holo_cu_fail(cu, result, error, "the driver does not start");
    HOLO_CU_TRY(cu, version(&version), error, "the driver does not tell its version");
    if (version >= VERSION_LEAST) return HOLO_OK;
    return holo_fail(
        error, HOLO_UNSUPPORTED,
        "cuda: the driver is too old: it is for CUDA %d.%d, and CUDA %d.%d is needed; install a newer driver",
        version / 1000, version % 1000 / 10, VERSION_LEAST / 1000, VERSION_LEAST % 1000 / 10);
}

HoloStatus holo_cu_open(HoloCu *out, void **out_handle, HoloError *error)
{
    *out_handle = holo_library_open(&library, out);
    if (!*out_handle)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "cuda: there is no CUDA driver here (%s), or it is too old: install the NVIDIA driver, or run the "
            "model on the CPU",
            library.file);
    HoloStatus status = start(out, error);
    if (!status) return HOLO_OK;
    holo_library_close(*out_handle);
    *out_handle = NULL;
    return status;
}
