// system_parts.h - what system.c and the systems under it need of each other.
#ifndef HOLO_BASE_SYSTEM_PARTS_H
#define HOLO_BASE_SYSTEM_PARTS_H

#include "base/system.h"

bool holo_folder_add(HoloFolder *folder, const char *name); // false: out of memory
// Adds all that is there. HOLO_NO_FILE: errno says why; HOLO_NO_MEMORY.
HOLO_MUST HoloStatus holo_folder_read(const char *path, HoloFolder *out);

// The line that the shell is given: the command, and its argument as one word. For holo_free; NULL: out of memory.
char *holo_command_line(const char *command, const char *argument);
FILE *holo_command_open(const char *line); // what it prints; NULL: it cannot be run
int   holo_command_close(FILE *pipe);      // waits for its end; returns its exit status

#endif
