// os_library.c - shared libraries that are used if they are installed. See library.h.
#include "base/library.h"

#include <string.h>

#if defined _WIN32
#include "base/os/os_windows.h"
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

static void *open_library(const char *file)
{
    wchar_t *name   = holo_wide(file);
    HMODULE  handle = name ? LoadLibraryExW(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS) : NULL;
    holo_free(name);
    return handle;
}

static void *find_function(void *handle, const char *name)
{
    FARPROC function = GetProcAddress(handle, name);
    void   *out;
    memcpy(&out, &function, sizeof out);
    return out;
}

void holo_library_close(void *handle)
{
    if (handle) FreeLibrary(handle);
}

#elif defined __wasm__ // has none

static void *open_library(const char *file)
{
    (void)file;
    return NULL;
}

static void *find_function(void *handle, const char *name)
{
    (void)handle, (void)name;
    return NULL;
}

void holo_library_close(void *handle)
{
    (void)handle;
}

#else
#include <dlfcn.h>

static void *open_library(const char *file)
{
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static void *find_function(void *handle, const char *name)
{
    return dlsym(handle, name);
}

void holo_library_close(void *handle)
{
    if (handle) dlclose(handle);
}

#endif

void *holo_library_open(const HoloLibrary *library, void *api)
{
    void *handle = open_library(library->file);
    for (int i = 0; i < library->count && handle; i++) {
        void *function = find_function(handle, library->names[i]);
        memcpy((char *)api + (size_t)i * sizeof function, &function, sizeof function);
        if (function) continue;
        holo_library_close(handle);
        handle = NULL;
    }
    return handle;
}
