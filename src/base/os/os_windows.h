// os_windows.h - what the files for Windows share.
#ifndef HOLO_BASE_OS_OS_WINDOWS_H
#define HOLO_BASE_OS_OS_WINDOWS_H

#include <stddef.h>

// A text of UTF-8 in the system's letters, for holo_free; NULL: it is no UTF-8, or there is no memory.
wchar_t *holo_wide(const char *text);
// The other way; NULL: there is no memory.
char *holo_narrow(const wchar_t *text);

#endif
