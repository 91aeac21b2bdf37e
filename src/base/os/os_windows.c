// os_windows.c - files, time and CPUs on Windows. See files.h.
//
// Paths are UTF-8, as everywhere; callers write paths of more than 260 characters with \\?\. Files are opened by their
// wide names, always as bytes, and sizes have 64 bits. A file has a temporary name until it is complete.
#if defined _WIN32
#include "base/os/os_windows.h"
#include "base/cpu.h"
#include "base/files.h"
#include "base/files_system.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

enum { TEXT_ROOM = 32768 }; // the most that a path or a command may have

// ---- names and messages

wchar_t *holo_wide(const char *text)
{
    int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    if (size <= 0 || size > TEXT_ROOM) return NULL;
    wchar_t *out = holo_realloc(NULL, (size_t)size * sizeof *out);
    if (out) MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, out, size);
    return out;
}

char *holo_narrow(const wchar_t *text)
{
    int   size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *out  = size > 0 ? holo_realloc(NULL, (size_t)size) : NULL;
    if (out) WideCharToMultiByte(CP_UTF8, 0, text, -1, out, size, NULL, NULL);
    return out;
}

static HoloStatus fail_system(HoloError *error, const char *what, const char *path)
{
    DWORD   code = GetLastError();
    wchar_t text[256];
    char    utf8[512] = "";
    DWORD   size =
        FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code, 0, text, 255, NULL);
    while (size && (text[size - 1] == '\n' || text[size - 1] == '\r' || text[size - 1] == '.')) text[--size] = 0;
    if (!size || !WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, sizeof utf8, NULL, NULL))
        snprintf(utf8, sizeof utf8, "error %lu", code);
    return holo_fail(error, HOLO_NO_FILE, "cannot %s '%s': %s", what, path, utf8);
}

static DWORD attributes(const char *path)
{
    wchar_t *name  = holo_wide(path);
    DWORD    found = name ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
    holo_free(name);
    if (found == INVALID_FILE_ATTRIBUTES) errno = ENOENT;
    return found;
}

bool holo_path_is_folder(const char *path)
{
    DWORD found = attributes(path);
    return found != INVALID_FILE_ATTRIBUTES && found & FILE_ATTRIBUTE_DIRECTORY;
}

bool holo_path_exists(const char *path)
{
    return attributes(path) != INVALID_FILE_ATTRIBUTES;
}

const char *holo_path_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/' || *path == '\\' || *path == ':') name = path + 1;
    return name;
}

static HANDLE open_file(const char *path, DWORD access, DWORD share, DWORD how, DWORD flags)
{
    wchar_t *name = holo_wide(path);
    if (!name) return SetLastError(ERROR_INVALID_NAME), INVALID_HANDLE_VALUE;
    HANDLE file = CreateFileW(name, access, share, NULL, how, FILE_ATTRIBUTE_NORMAL | flags, NULL);
    holo_free(name);
    return file;
}

// ---- reading

// Reads part of a file. False: GetLastError says why; a file that is too short is an error, too.
static bool read_at(HANDLE file, char *data, size_t size, uint64_t at)
{
    while (size) {
        DWORD      part = size < 1 << 30 ? (DWORD)size : 1 << 30, got = 0;
        OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
        if (!ReadFile(file, data, part, &got, &place)) return false;
        if (!got) return SetLastError(ERROR_HANDLE_EOF), false;
        data += got;
        at += got;
        size -= got;
    }
    return true;
}

static const void *view_of(HANDLE file, uint64_t size)
{
    HANDLE      mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, (DWORD)(size >> 32), (DWORD)size, NULL);
    const void *view    = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, (SIZE_T)size) : NULL;
    if (mapping) CloseHandle(mapping); // the view keeps it open
    return view;
}

// Reads the first `size` bytes of a file into memory of their own.
static HoloStatus read_taken(HANDLE file, const char *path, uint64_t size, uint32_t how, HoloMapping *out,
                             HoloError *error)
{
    char *data = holo_memory_take((size_t)size, how);
    if (!data) return holo_fail_memory(error);
    *out = (HoloMapping){.data = data, .size = (size_t)size, .is_taken = true};
    if (read_at(file, data, out->size, 0)) return HOLO_OK;
    HoloStatus status = fail_system(error, "read", path);
    holo_file_unmap(out);
    return status;
}

static HoloStatus map_handle(HANDLE file, const char *path, uint32_t how, HoloMapping *out, HoloError *error)
{
    LARGE_INTEGER size;
    if (GetFileType(file) != FILE_TYPE_DISK)
        return holo_fail(error, HOLO_NO_FILE, "'%s' is a pipe or a device, not a file", path);
    if (!GetFileSizeEx(file, &size)) return fail_system(error, "read", path);
    const void *view = size.QuadPart && !(how & HOLO_MEMORY_HUGE) ? view_of(file, (uint64_t)size.QuadPart) : NULL;
    if (!view) return read_taken(file, path, (uint64_t)size.QuadPart, how, out, error);
    *out = (HoloMapping){.data = view, .size = (size_t)size.QuadPart, .is_mapped = true};
    return HOLO_OK;
}

HoloStatus holo_file_map_how(const char *path, uint32_t how, HoloMapping *out, HoloError *error)
{
    *out = (HoloMapping){0};
    if (!strcmp(path, "/dev/stdin")) return map_handle(GetStdHandle(STD_INPUT_HANDLE), path, how, out, error);
    if (holo_path_is_folder(path)) return holo_fail(error, HOLO_NO_FILE, "'%s' is a folder, not a file", path);
    HANDLE file = open_file(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_EXISTING, 0);
    if (file == INVALID_HANDLE_VALUE) return fail_system(error, "open", path);
    HoloStatus status = map_handle(file, path, how, out, error);
    CloseHandle(file);
    return status;
}

void holo_file_unmap(HoloMapping *mapping)
{
    if (mapping->is_mapped)
        UnmapViewOfFile(mapping->data);
    else if (mapping->is_taken)
        holo_memory_free((void *)(uintptr_t)mapping->data, mapping->size);
    *mapping = (HoloMapping){0};
}

void holo_file_release(const HoloMapping *mapping, const void *data, size_t size)
{
    (void)mapping, (void)data, (void)size; // the system drops pages of views by itself
}

// Is it a path of plain names without special meaning: not absolute, no "..", no drive, no stream, no empty name?
static bool is_plain(const char *relative)
{
    if (strpbrk(relative, ":*?\"<>|")) return false;
    for (size_t length;; relative += length + 1) {
        length = strcspn(relative, "/\\");
        if (length == 0 || length > 255 || (length == 2 && !memcmp(relative, "..", 2))) return false;
        if (relative[length - 1] == ' ' || (length > 1 && relative[length - 1] == '.'))
            return false; // the system drops these
        if (!relative[length]) return true;
    }
}

// Is any part of the path behind the first `from` characters a link?
static bool has_link(char *path, size_t from)
{
    for (size_t at = from;; at++) {
        char letter = path[at];
        if (letter && letter != '/' && letter != '\\') continue;
        path[at]    = 0;
        DWORD found = attributes(path);
        path[at]    = letter;
        if (found != INVALID_FILE_ATTRIBUTES && found & FILE_ATTRIBUTE_REPARSE_POINT) return true;
        if (!letter) return false;
    }
}

HoloStatus holo_file_map_below(const char *folder, const char *relative, HoloMapping *out, HoloError *error)
{
    *out = (HoloMapping){0};
    if (!is_plain(relative))
        return holo_fail(error, HOLO_NO_FILE, "'%s' is not a plain path below the model's folder", relative);
    size_t length = strlen(*folder ? folder : "."), room = length + strlen(relative) + 2;
    char  *path = holo_realloc(NULL, room);
    if (!path) return holo_fail_memory(error);
    snprintf(path, room, "%s/%s", *folder ? folder : ".", relative);
    HoloStatus status =
        has_link(path, length + 1)
            ? holo_fail(error, HOLO_NO_FILE,
                        "'%s' in '%s' is a link that may lead out of the folder: copy the file there", relative, folder)
            : holo_file_map(path, out, error);
    holo_free(path);
    return status;
}

// ---- writing

static HANDLE handle_of(const HoloFileWriter *w)
{
    return (HANDLE)w->file;
}

HoloStatus holo_writer_begin(HoloFileWriter *w, HoloError *error)
{
    HANDLE file = INVALID_HANDLE_VALUE;
    if (holo_path_is_folder(w->path))
        return holo_fail(error, HOLO_NO_FILE, "cannot write '%s': a folder is there", w->path);
    for (int i = 0; i < 1000 && file == INVALID_HANDLE_VALUE; i++) {
        holo_writer_name(w, i);
        file = open_file(w->temporary, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ, CREATE_NEW, 0);
        if (file == INVALID_HANDLE_VALUE && GetLastError() != ERROR_FILE_EXISTS) break;
    }
    w->file = (intptr_t)file;
    return file == INVALID_HANDLE_VALUE ? fail_system(error, "create", w->path) : HOLO_OK;
}

HoloStatus holo_writer_put(HoloFileWriter *w, uint64_t offset, const char *data, size_t size, HoloError *error)
{
    while (size) {
        DWORD      part = size < 1 << 30 ? (DWORD)size : 1 << 30, done = 0;
        OVERLAPPED place = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
        if (!WriteFile(handle_of(w), data, part, &done, &place)) return fail_system(error, "write", w->temporary);
        data += done;
        offset += done;
        size -= done;
    }
    return HOLO_OK;
}

// It is read, not mapped: a mapped file can be neither removed nor replaced.
HoloStatus holo_writer_view(const HoloFileWriter *w, HoloMapping *out, HoloError *error)
{
    return read_taken(handle_of(w), w->temporary, w->size, 0, out, error);
}

HoloStatus holo_writer_end(HoloFileWriter *w, bool commit, HoloError *error)
{
    wchar_t   *from = holo_wide(w->temporary), *to = holo_wide(w->path);
    HoloStatus status = HOLO_OK;
    if (commit && !FlushFileBuffers(handle_of(w))) status = fail_system(error, "write", w->temporary);
    CloseHandle(handle_of(w));
    if (commit && !status &&
        (!from || !to || !MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)))
        status = fail_system(error, "rename to", w->path);
    if (from && (!commit || status)) DeleteFileW(from);
    holo_free(from);
    holo_free(to);
    return status;
}

// ---- time and CPUs

double holo_time_now(void)
{
    LARGE_INTEGER now, rate;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&rate);
    return (double)(now.QuadPart / rate.QuadPart) + (double)(now.QuadPart % rate.QuadPart) / (double)rate.QuadPart;
}

int holo_cpu_count(void)
{
    DWORD_PTR mine = 0, all = 0;
    DWORD     count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    if (count <= 64 && GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) && mine)
        return __builtin_popcountll((unsigned long long)mine);
    return count ? (int)count : 1;
}

bool holo_cpu_has_dot(void)
{
    return IsProcessorFeaturePresent(43); // PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE
}

#endif
