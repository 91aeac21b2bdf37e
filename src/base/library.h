// library.h - shared libraries that are used where they are installed, and never needed to start.
#ifndef HOLO_BASE_LIBRARY_H
#define HOLO_BASE_LIBRARY_H

#include "base/base.h"

typedef struct HoloLibrary {
    const char        *file;    // "libturbojpeg.so.0"
    const char        *package; // where Debian has it
    const char *const *names;   // of its functions
    int                count;
} HoloLibrary;

// Opens the library and writes the addresses of its functions, in their order, to api[0..count-1]: a struct of
// `count` pointers to functions. NULL: the library, or a function of it, is not there. To be closed after use.
void *holo_library_open(const HoloLibrary *library, void *api);
void  holo_library_close(void *handle); // NULL is nothing to close

#endif
