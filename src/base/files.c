// files.c - files, as far as they are the same on every system: writing goes through a buffer to a file that takes its name
// when it is whole. os_posix.c and os_windows.c are under it.
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

static HoloStatus flush(HoloFileWriter *w, HoloError *error)
{
    size_t filled = w->filled;
    if (!filled) return HOLO_OK;
    w->filled = 0;
    return holo_writer_put(w, w->size - filled, w->buffer, filled, error);
}

HoloStatus holo_file_write(HoloFileWriter *w, const void *data, size_t size, HoloError *error)
{
    if (size > sizeof w->buffer - w->filled) HOLO_TRY(flush(w, error));
    if (size > sizeof w->buffer) {
        HOLO_TRY(holo_writer_put(w, w->size, data, size, error));
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
    HOLO_TRY(holo_writer_put(w, offset, data, size, error));
    if (offset + size > w->size) w->size = offset + size;
    return HOLO_OK;
}

HoloStatus holo_file_writer_map(HoloFileWriter *w, HoloMapping *out, HoloError *error)
{
    *out = (HoloMapping){0};
    HOLO_TRY(flush(w, error));
    return w->size ? holo_writer_view(w, out, error) : HOLO_OK;
}

HoloStatus holo_file_writer_close(HoloFileWriter *w, bool commit, HoloError *error)
{
    HoloStatus status = commit ? flush(w, error) : HOLO_OK;
    HoloStatus ended  = holo_writer_end(w, commit && !status, error);
    holo_free(w);
    return status ? status : ended;
}
