// library.h - shared libraries that are used if they are installed, but are not needed to start.
#ifndef HOLO_BASE_LIBRARY_H
#define HOLO_BASE_LIBRARY_H

#include "base/base.h"

typedef struct HoloLibrary {
    const char        *file;    // "libturbojpeg.so.0"
    const char        *package; // the Debian package that has it
    const char *const *names;   // of its functions
    int                count;
} HoloLibrary;

// Opens the library and writes the addresses of its functions, in order, to api[0..count-1]: a struct of `count`
// pointers to functions. NULL: the library, or one of the functions, is missing. Close it after use.
void *holo_library_open(const HoloLibrary *library, void *api);
void  holo_library_close(void *handle); // accepts NULL

#endif
