// os_windows.h - what the files for Windows share.
#ifndef HOLO_BASE_OS_OS_WINDOWS_H
#define HOLO_BASE_OS_OS_WINDOWS_H

#include <stddef.h>

// Converts UTF-8 to the system's wide characters; free it by holo_free. NULL: it is not UTF-8, or there is no memory.
wchar_t *holo_wide(const char *text);
// The other way round. NULL: there is no memory.
char *holo_narrow(const wchar_t *text);

#endif
