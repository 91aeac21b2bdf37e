// system_parts.h - what system.c and the systems below it share.
#ifndef HOLO_BASE_SYSTEM_PARTS_H
#define HOLO_BASE_SYSTEM_PARTS_H

#include "base/system.h"

bool holo_folder_add(HoloFolder *folder, const char *name); // false: no memory
// Adds all entries. HOLO_NO_FILE: errno says why; or HOLO_NO_MEMORY.
HOLO_MUST HoloStatus holo_folder_read(const char *path, HoloFolder *out);

// The command line for the shell: the command, and its argument as one word. Free it by holo_free; NULL: no memory.
char *holo_command_line(const char *command, const char *argument);
FILE *holo_command_open(const char *line); // its output; NULL: it cannot be run
int   holo_command_close(FILE *pipe);      // waits for its end and returns its exit status

#endif
