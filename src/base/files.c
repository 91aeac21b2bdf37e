// files.c - the part of file handling that is the same on every system. Writing goes through a buffer to a file that
// gets its name when it is complete, or to memory. os_posix.c and os_windows.c are below it.
#include "base/files.h"
#include "base/files_system.h"
#include "base/system.h"

#include <stdio.h>
#include <string.h>

enum { SUFFIX = 40 };

HoloStatus holo_file_map(const char *path, HoloMapping *out, HoloError *error)
{
    return holo_file_map_how(path, 0, out, error);
}

void holo_writer_name(HoloFileWriter *w, int attempt)
{
    snprintf(w->temporary, strlen(w->path) + 1 + SUFFIX, "%s.%ld.%d.tmp", w->path, holo_process_id(), attempt);
}

HoloStatus holo_file_writer_open(const char *path, HoloFileWriter **out, HoloError *error)
{
    size_t          length = strlen(path) + 1;
    HoloFileWriter *w      = holo_realloc(NULL, sizeof *w + 2 * length + SUFFIX);
    *out                   = NULL;
    if (!w) return holo_fail_memory(error);
    w->size = w->filled = 0;
    w->is_named         = false;
    w->memory           = NULL;
    w->room             = 0;
    w->path             = (char *)(w + 1);
    w->temporary        = w->path + length;
    memcpy(w->path, path, length);
    memcpy(w->temporary, path, length);
    HoloStatus status = holo_writer_begin(w, error);
    if (status)
        holo_free(w);
    else
        *out = w;
    return status;
}

// ---- in memory

HoloStatus holo_file_writer_memory(HoloFileWriter **out, HoloError *error)
{
    HoloFileWriter *w = holo_realloc(NULL, sizeof *w);
    *out              = w;
    if (!w) return holo_fail_memory(error);
    w->path   = NULL;
    w->memory = NULL;
    w->size = w->filled = w->room = 0;
    return HOLO_OK;
}

static HoloStatus memory_resize(HoloFileWriter *w, size_t room, HoloError *error)
{
    char  *memory = holo_memory_take(room, 0);
    size_t keep   = w->room < room ? w->room : room;
    if (!memory) return holo_fail_memory(error);
    if (keep) memcpy(memory, w->memory, keep);
    holo_memory_free(w->memory, w->room);
    w->memory = memory;
    w->room   = room;
    return HOLO_OK;
}

// A writer that writes the end first, as the one for archives does, moves nothing.
static HoloStatus memory_put(HoloFileWriter *w, uint64_t offset, const void *data, size_t size, HoloError *error)
{
    size_t end, more = w->room + w->room / 2;
    if (offset > SIZE_MAX || !holo_size_add((size_t)offset, size, &end)) return holo_fail_memory(error);
    if (end > w->room) HOLO_TRY(memory_resize(w, end > more ? end : more, error));
    if (size) memcpy(w->memory + offset, data, size);
    return HOLO_OK;
}

static HoloStatus put(HoloFileWriter *w, uint64_t offset, const void *data, size_t size, HoloError *error)
{
    return w->path ? holo_writer_put(w, offset, data, size, error) : memory_put(w, offset, data, size, error);
}

// ---- both

static HoloStatus flush(HoloFileWriter *w, HoloError *error)
{
    size_t filled = w->filled;
    if (!filled) return HOLO_OK;
    w->filled = 0;
    return put(w, w->size - filled, w->buffer, filled, error);
}

HoloStatus holo_file_write(HoloFileWriter *w, const void *data, size_t size, HoloError *error)
{
    if (size > sizeof w->buffer - w->filled) HOLO_TRY(flush(w, error));
    if (size > sizeof w->buffer) {
        HOLO_TRY(put(w, w->size, data, size, error));
    } else if (size) {
        memcpy(w->buffer + w->filled, data, size);
        w->filled += size;
    }
    w->size += size;
    return HOLO_OK;
}

HoloStatus holo_file_write_at(HoloFileWriter *w, uint64_t offset, const void *data, size_t size, HoloError *error)
{
    HOLO_TRY(flush(w, error));
    HOLO_TRY(put(w, offset, data, size, error));
    if (offset + size > w->size) w->size = offset + size;
    return HOLO_OK;
}

HoloStatus holo_file_writer_map(HoloFileWriter *w, HoloMapping *out, HoloError *error)
{
    *out = (HoloMapping){0};
    HOLO_TRY(flush(w, error));
    if (!w->size) return HOLO_OK;
    if (w->path) return holo_writer_view(w, out, error);
    *out = (HoloMapping){.data = w->memory, .size = (size_t)w->size, .is_view = true};
    return HOLO_OK;
}

HoloStatus holo_file_writer_take(HoloFileWriter *w, HoloMapping *out, HoloError *error)
{
    if (w->path) return holo_file_writer_map(w, out, error);
    *out = (HoloMapping){0};
    HOLO_TRY(flush(w, error));
    if (w->size != w->room) HOLO_TRY(memory_resize(w, (size_t)w->size, error));
    *out      = (HoloMapping){.data = w->memory, .size = w->room, .is_taken = w->room > 0};
    w->memory = NULL;
    w->size = w->room = 0;
    return HOLO_OK;
}

HoloStatus holo_file_writer_close(HoloFileWriter *w, bool commit, HoloError *error)
{
    HoloStatus status = commit ? flush(w, error) : HOLO_OK;
    HoloStatus ended  = w->path ? holo_writer_end(w, commit && !status, error) : HOLO_OK;
    holo_memory_free(w->memory, w->room);
    holo_free(w);
    return status ? status : ended;
}
