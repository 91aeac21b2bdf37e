// os_library.c - shared libraries on systems that have dlopen. See library.h.
#if !defined _WIN32
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

void *holo_library_open(const HoloLibrary *library, void *api)
{
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < library->count && handle; i++) {
        void *function = dlsym(handle, library->names[i]);
        memcpy((char *)api + (size_t)i * sizeof function, &function, sizeof function);
        if (function) continue;
        dlclose(handle);
        handle = NULL;
    }
    return handle;
}

void holo_library_close(void *handle)
{
    if (handle) dlclose(handle);
}
#endif
