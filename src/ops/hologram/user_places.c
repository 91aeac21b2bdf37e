// user_places.c - places of a user's kernel in its source, to bytes and back.
#include "ops/hologram/user_places.h"

#include "base/files.h"

#include <string.h>

HoloStatus holo_user_places_make(HoloArena *arena, const char *path, const uint32_t *lines, int count, HoloString *out,
                                 HoloError *error)
{
    const char *name  = holo_path_name(path);
    size_t      start = strlen(name) + 1, size = start + (size_t)count * sizeof *lines;
    char       *bytes = holo_arena_take(arena, size);
    if (!bytes) return holo_fail_memory(error);
    memcpy(bytes, name, start);
    memcpy(bytes + start, lines, size - start);
    *out = (HoloString){bytes, size};
    return HOLO_OK;
}

bool holo_user_places_find(HoloString places, int at, HoloUserPlace *out)
{
    const char *end = places.size ? memchr(places.data, 0, places.size) : NULL;
    if (!end || at < 0) return false;
    size_t start = (size_t)(end + 1 - places.data);
    if ((size_t)at >= (places.size - start) / sizeof out->line) return false;
    out->file = places.data;
    memcpy(&out->line, end + 1 + (size_t)at * sizeof out->line, sizeof out->line);
    return out->line > 0;
}
