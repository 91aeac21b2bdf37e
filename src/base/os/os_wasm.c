// os_wasm.c - files, memory, time and CPUs in WebAssembly.
//
// There is no file system. Files are bytes in memory that the host has put there under a name, such as the files of a
// model's folder. They are read where they lie. What is written is such a file, too.
#if defined __wasm__
#include "base/cpu.h"
#include "base/files.h"
#include "base/files_system.h"
#include "base/memory.h"
#include "base/system_parts.h"
#include "base/wasm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- what the host does

__attribute__((import_module("hologram"), import_name("now"))) double host_now(void); // seconds
__attribute__((import_module("hologram"), import_name("cores"))) int  host_cores(void);

__attribute__((import_module("hologram"), import_name("date"))) double host_date(void); // as holo_local_time

double holo_time_now(void)
{
    return host_now();
}

// The host gives seconds since 1970, as clocks of this place show them.
void holo_local_time(struct tm *out)
{
    time_t now = (time_t)host_date();
    gmtime_r(&now, out);
}

int holo_cpu_count(void)
{
    int count = host_cores();
    return count > 0 ? count : 1;
}

bool holo_cpu_has_dot(void)
{
    return false;
}

long holo_process_id(void)
{
    return 1;
}

// There are no variables of an environment: this takes the place of libc's function, which would ask the host.
char *getenv(const char *name)
{
    (void)name;
    return NULL;
}

// ---- files in memory

typedef struct File {
    struct File *next;
    char        *data; // from holo_memory_take
    size_t       size;
    char         name[];
} File;

static File *files;

static File *file_find(const char *path)
{
    File *file = files;
    while (path[0] == '.' && path[1] == '/') path += 2;
    while (file && strcmp(file->name, path)) file = file->next;
    return file;
}

bool holo_wasm_file_remove(const char *path)
{
    const File *found = file_find(path);
    for (File **at = &files; found && *at; at = &(*at)->next) {
        File *file = *at;
        if (file != found) continue;
        *at = file->next;
        holo_memory_free(file->data, file->size);
        holo_free(file);
        return true;
    }
    return false;
}

void *holo_wasm_file_put(const char *path, size_t size)
{
    size_t length = strlen(path) + 1;
    File  *file   = holo_realloc(NULL, sizeof *file + length);
    char  *data   = file ? holo_memory_take(size ? size : 1, 0) : NULL;
    if (!data) {
        holo_free(file);
        return NULL;
    }
    holo_wasm_file_remove(path);
    file->next = files;
    file->data = data;
    file->size = size ? size : 1;
    memcpy(file->name, path, length);
    files = file;
    return data;
}

static HoloStatus fail_missing(const char *path, HoloError *error)
{
    return holo_fail(error, HOLO_NO_FILE, "cannot open '%s': the only files here are those that the page gives", path);
}

HoloStatus holo_file_map_how(const char *path, uint32_t how, HoloMapping *out, HoloError *error)
{
    (void)how;
    const File *file = file_find(path);
    *out             = (HoloMapping){0};
    if (!file) return fail_missing(path, error);
    *out = (HoloMapping){.data = file->data, .size = file->size, .is_view = true};
    return HOLO_OK;
}

// Names are compared as they are, so none leads out of the folder.
HoloStatus holo_file_map_below(const char *folder, const char *relative, HoloMapping *out, HoloError *error)
{
    size_t size = strlen(folder) + strlen(relative) + 2;
    char  *path = holo_realloc(NULL, size);
    *out        = (HoloMapping){0};
    if (!path) return holo_fail_memory(error);
    strcpy(path, folder);
    if (*folder) strcat(path, "/");
    strcat(path, relative);
    HoloStatus status = holo_file_map_how(path, 0, out, error);
    holo_free(path);
    return status;
}

void holo_file_unmap(HoloMapping *mapping)
{
    if (mapping->is_taken) holo_memory_free((void *)(uintptr_t)mapping->data, mapping->size);
    *mapping = (HoloMapping){0};
}

void holo_file_release(const HoloMapping *mapping, const void *data, size_t size)
{
    (void)mapping, (void)data, (void)size;
}

// ---- writing: a file that is not whole has its temporary name

HoloStatus holo_writer_begin(HoloFileWriter *w, HoloError *error)
{
    holo_writer_name(w, 0);
    w->is_named = true;
    return holo_wasm_file_put(w->temporary, 0) ? HOLO_OK : holo_fail_memory(error);
}

HoloStatus holo_writer_put(HoloFileWriter *w, uint64_t offset, const char *data, size_t size, HoloError *error)
{
    File  *file = file_find(w->temporary);
    size_t end;
    if (!file || offset > SIZE_MAX || !holo_size_add((size_t)offset, size, &end)) return holo_fail_memory(error);
    if (end > file->size) {
        char *more = holo_memory_take(end, 0);
        if (!more) return holo_fail_memory(error);
        memcpy(more, file->data, file->size);
        holo_memory_free(file->data, file->size);
        file->data = more;
        file->size = end;
    }
    memcpy(file->data + offset, data, size);
    return HOLO_OK;
}

HoloStatus holo_writer_view(const HoloFileWriter *w, HoloMapping *out, HoloError *error)
{
    return holo_file_map_how(w->temporary, 0, out, error);
}

HoloStatus holo_writer_end(HoloFileWriter *w, bool commit, HoloError *error)
{
    const File *file = file_find(w->temporary);
    char       *data = file && commit ? holo_wasm_file_put(w->path, file->size) : NULL;
    if (data) memcpy(data, file->data, file->size);
    holo_wasm_file_remove(w->temporary);
    return data || !commit ? HOLO_OK : holo_fail_memory(error);
}

// ---- paths

// A folder is what names of files begin with.
static const char *name_below(const File *file, const char *path)
{
    while (path[0] == '.' && path[1] == '/') path += 2;
    size_t length = strlen(path);
    while (length && path[length - 1] == '/') length--;
    if (!length || strcmp(path, ".") == 0) return file->name;
    return strncmp(file->name, path, length) || file->name[length] != '/' ? NULL : file->name + length + 1;
}

bool holo_path_is_folder(const char *path)
{
    for (const File *file = files; file; file = file->next)
        if (name_below(file, path)) return true;
    return false;
}

bool holo_path_exists(const char *path)
{
    return file_find(path) || holo_path_is_folder(path);
}

bool holo_path_same(const char *a, const char *b)
{
    const File *file = file_find(a);
    return file && file == file_find(b);
}

const char *holo_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

HoloStatus holo_folder_read(const char *path, HoloFolder *out)
{
    for (const File *file = files; file; file = file->next) {
        char        part[256];
        const char *name   = name_below(file, path);
        size_t      length = name ? strcspn(name, "/") : 0;
        if (!name || length >= sizeof part) continue;
        memcpy(part, name, length);
        part[length] = 0;
        bool is_new  = true;
        for (int i = 0; i < out->count; i++) is_new = is_new && strcmp(out->name[i], part);
        if (is_new && !holo_folder_add(out, part)) return HOLO_NO_MEMORY;
    }
    errno = ENOENT;
    return out->count ? HOLO_OK : HOLO_NO_FILE;
}

// ---- memory: a page is as much as weights must be aligned to

enum { PAGE = 64 };

size_t holo_page_size(void)
{
    return PAGE;
}

size_t holo_pages_extent(size_t size)
{
    return holo_align(size ? size : 1, PAGE);
}

char *holo_pages_take(size_t extent, uint32_t how)
{
    (void)how;
    size_t room;
    char  *memory = holo_size_add(extent, PAGE, &room) ? aligned_alloc(PAGE, room) : NULL;
    if (!memory) return NULL;
    memset(memory, 0, room);
    return memory + PAGE;
}

void holo_pages_free(char *pages, size_t extent)
{
    (void)extent;
    free(pages - PAGE);
}

uint64_t holo_machine_memory(uint64_t held)
{
    (void)held;
    return 0;
}

uint64_t holo_memory_peak(void)
{
    return (uint64_t)__builtin_wasm_memory_size(0) << 16;
}
#endif
