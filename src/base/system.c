// system.c - lists of folders and running commands, as far as they are the same on every system. See system.h.
#include "base/system_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool holo_folder_add(HoloFolder *folder, const char *name)
{
    if (!strcmp(name, ".") || !strcmp(name, "..")) return true;
    if (folder->count == folder->room) {
        int    room = folder->room ? folder->room * 2 : 16;
        char **more = holo_realloc(folder->name, (size_t)room * sizeof *more);
        if (!more) return false;
        folder->name = more;
        folder->room = room;
    }
    size_t size = strlen(name) + 1;
    char  *copy = holo_realloc(NULL, size);
    if (!copy) return false;
    folder->name[folder->count++] = memcpy(copy, name, size);
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

HoloStatus holo_folder_list(const char *path, HoloFolder *out, HoloError *error)
{
    *out              = (HoloFolder){0};
    HoloStatus status = holo_folder_read(path, out);
    if (status) holo_folder_free(out);
    if (status == HOLO_NO_MEMORY) return holo_fail_memory(error);
    if (status) return holo_fail(error, status, "the folder %s cannot be read: %s", path, strerror(errno));
    if (out->count) qsort(out->name, (size_t)out->count, sizeof *out->name, by_bytes);
    return HOLO_OK;
}

void holo_folder_free(HoloFolder *folder)
{
    for (int i = 0; i < folder->count; i++) holo_free(folder->name[i]);
    holo_free(folder->name);
    *folder = (HoloFolder){0};
}

int holo_command_run(const char *command, const char *argument, char *out, size_t room)
{
    size_t used = 0;
    char  *line = holo_command_line(command, argument);
    *out        = 0;
    fflush(NULL);
    FILE *pipe = line ? holo_command_open(line) : NULL;
    holo_free(line);
    if (!pipe) return -1;
    for (size_t got; (got = fread(out + used, 1, room - 1 - used, pipe)) > 0;) {
        used += got;
        if (used < room - 1) continue; // the end of the output matters
        memmove(out, out + used / 2, used - used / 2);
        used -= used / 2;
    }
    out[used] = 0;
    return holo_command_close(pipe);
}
