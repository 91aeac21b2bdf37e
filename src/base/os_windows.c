// os_windows.c - files, memory, threads and libraries on Windows. See files.h, memory.h, threads.h and library.h.
//
// Paths are UTF-8, as everywhere, and longer ones than 260 characters are the caller's to write with \\?\. Files are opened by
// their wide names, always as bytes, and sizes are of 64 bits. A file that is written has a temporary name until it is whole.
#if defined _WIN32
#include "base/cpu.h"
#include "base/files.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

enum { WRITE_BUFFER = 1 << 16, SUFFIX = 40, PATH_ROOM = 32768 };

// ---- names and messages

// A path in the system's letters, for free(); NULL: it is no UTF-8, or there is no memory.
static wchar_t *wide(const char *path)
{
    int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    if (size <= 0 || size > PATH_ROOM) return NULL;
    wchar_t *out = holo_realloc(NULL, (size_t)size * sizeof *out);
    if (out && !MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, size)) {
        holo_free(out);
        return NULL;
    }
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
    wchar_t *name  = wide(path);
    DWORD    found = name ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
    holo_free(name);
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

static HANDLE open_file(const char *path, DWORD access, DWORD share, DWORD how, DWORD flags)
{
    wchar_t *name = wide(path);
    if (!name) return SetLastError(ERROR_INVALID_NAME), INVALID_HANDLE_VALUE;
    HANDLE file = CreateFileW(name, access, share, NULL, how, FILE_ATTRIBUTE_NORMAL | flags, NULL);
    holo_free(name);
    return file;
}

// ---- reading

// Part of a file from a place on. False: GetLastError says why; a file that ends before is an error, too.
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
    if (mapping) CloseHandle(mapping); // the view keeps it
    return view;
}

static HoloStatus map_handle(HANDLE file, const char *path, uint32_t how, HoloMapping *out, HoloError *error)
{
    LARGE_INTEGER size;
    if (GetFileType(file) != FILE_TYPE_DISK)
        return holo_fail(error, HOLO_NO_FILE, "'%s' is a pipe or a device, not a file", path);
    if (!GetFileSizeEx(file, &size)) return fail_system(error, "read", path);
    const void *view = size.QuadPart && !(how & HOLO_MEMORY_HUGE) ? view_of(file, (uint64_t)size.QuadPart) : NULL;
    if (view) {
        *out = (HoloMapping){.data = view, .size = (size_t)size.QuadPart, .is_mapped = true};
        return HOLO_OK;
    }
    char *data = holo_memory_take((size_t)size.QuadPart, how);
    if (!data) return holo_fail_memory(error);
    *out = (HoloMapping){.data = data, .size = (size_t)size.QuadPart, .is_taken = true};
    if (read_at(file, data, out->size, 0)) return HOLO_OK;
    HoloStatus status = fail_system(error, "read", path);
    holo_file_unmap(out);
    return status;
}

HoloStatus holo_file_map_how(const char *path, uint32_t how, HoloMapping *out, HoloError *error)
{
    *out = (HoloMapping){0};
    if (holo_path_is_folder(path)) return holo_fail(error, HOLO_NO_FILE, "'%s' is a folder, not a file", path);
    HANDLE file = open_file(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_EXISTING, 0);
    if (file == INVALID_HANDLE_VALUE) return fail_system(error, "open", path);
    HoloStatus status = map_handle(file, path, how, out, error);
    CloseHandle(file);
    return status;
}

HoloStatus holo_file_map(const char *path, HoloMapping *out, HoloError *error)
{
    return holo_file_map_how(path, 0, out, error);
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

// A path of plain names, none of which has a meaning of its own: not absolute, no "..", no drive, no stream, nothing empty.
static bool is_plain(const char *relative)
{
    if (strpbrk(relative, ":*?\"<>|")) return false;
    for (size_t length;; relative += length + 1) {
        length = strcspn(relative, "/\\");
        if (length == 0 || length > 255 || (length == 2 && !memcmp(relative, "..", 2))) return false;
        if (relative[length - 1] == ' ' || (length > 1 && relative[length - 1] == '.'))
            return false; // the system cuts these
        if (!relative[length]) return true;
    }
}

// Is any part of the path behind the first `from` letters a link?
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

struct HoloFileWriter {
    HANDLE   file;
    uint64_t size;   // bytes written or buffered
    size_t   filled; // of the buffer, which ends at `size`
    char    *path, *temporary;
    char     buffer[WRITE_BUFFER];
};

HoloStatus holo_file_writer_open(const char *path, HoloFileWriter **out, HoloError *error)
{
    size_t length = strlen(path) + 1;
    *out          = NULL;
    if (holo_path_is_folder(path)) return holo_fail(error, HOLO_NO_FILE, "cannot write '%s': a folder is there", path);
    HoloFileWriter *w = holo_realloc(NULL, sizeof *w + 2 * length + SUFFIX);
    if (!w) return holo_fail_memory(error);
    w->size = w->filled = 0;
    w->path             = (char *)(w + 1);
    w->temporary        = w->path + length;
    w->file             = INVALID_HANDLE_VALUE;
    memcpy(w->path, path, length);
    for (int i = 0; i < 1000 && w->file == INVALID_HANDLE_VALUE; i++) {
        snprintf(w->temporary, length + SUFFIX, "%s.%lu.%d.tmp", path, GetCurrentProcessId(), i);
        w->file = open_file(w->temporary, GENERIC_READ | GENERIC_WRITE | DELETE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                            CREATE_NEW, 0);
        if (w->file == INVALID_HANDLE_VALUE && GetLastError() != ERROR_FILE_EXISTS) break;
    }
    if (w->file == INVALID_HANDLE_VALUE) {
        HoloStatus status = fail_system(error, "create", path);
        holo_free(w);
        return status;
    }
    *out = w;
    return HOLO_OK;
}

static HoloStatus write_all(HoloFileWriter *w, uint64_t offset, const char *data, size_t size, HoloError *error)
{
    while (size) {
        DWORD      part = size < 1 << 30 ? (DWORD)size : 1 << 30, done = 0;
        OVERLAPPED place = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
        if (!WriteFile(w->file, data, part, &done, &place)) return fail_system(error, "write", w->temporary);
        data += done;
        offset += done;
        size -= done;
    }
    return HOLO_OK;
}

static HoloStatus flush(HoloFileWriter *w, HoloError *error)
{
    size_t filled = w->filled;
    if (!filled) return HOLO_OK;
    w->filled = 0;
    return write_all(w, w->size - filled, w->buffer, filled, error);
}

HoloStatus holo_file_write(HoloFileWriter *w, const void *data, size_t size, HoloError *error)
{
    if (size > sizeof w->buffer - w->filled) HOLO_TRY(flush(w, error));
    if (size > sizeof w->buffer) {
        HOLO_TRY(write_all(w, w->size, data, size, error));
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
    HOLO_TRY(write_all(w, offset, data, size, error));
    if (offset + size > w->size) w->size = offset + size;
    return HOLO_OK;
}

HoloStatus holo_file_writer_map(HoloFileWriter *w, HoloMapping *out, HoloError *error)
{
    *out = (HoloMapping){0};
    HOLO_TRY(flush(w, error));
    if (w->size == 0) return HOLO_OK;
    const void *view = view_of(w->file, w->size);
    if (!view) return fail_system(error, "map", w->temporary);
    *out = (HoloMapping){.data = view, .size = (size_t)w->size, .is_mapped = true};
    return HOLO_OK;
}

// A file that is still mapped goes when its last view does.
static void temporary_remove(HoloFileWriter *w, const wchar_t *name)
{
    FILE_DISPOSITION_INFO gone = {.DeleteFile = TRUE};
    if (w->file != INVALID_HANDLE_VALUE) SetFileInformationByHandle(w->file, FileDispositionInfo, &gone, sizeof gone);
    if (w->file != INVALID_HANDLE_VALUE) CloseHandle(w->file);
    if (name) DeleteFileW(name);
}

HoloStatus holo_file_writer_close(HoloFileWriter *w, bool commit, HoloError *error)
{
    wchar_t   *from = wide(w->temporary), *to = wide(w->path);
    HoloStatus status = commit ? flush(w, error) : HOLO_OK;
    if (commit && !status && !FlushFileBuffers(w->file)) status = fail_system(error, "write", w->temporary);
    if (commit && !status) {
        CloseHandle(w->file);
        w->file = INVALID_HANDLE_VALUE;
        if (!from || !to || !MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
            status = fail_system(error, "rename to", w->path);
    }
    if (!commit || status) temporary_remove(w, from);
    holo_free(from);
    holo_free(to);
    holo_free(w);
    return status;
}

// ---- memory

size_t holo_page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

size_t holo_pages_extent(size_t size)
{
    return holo_align(size ? size : 1, holo_page_size());
}

char *holo_pages_take(size_t extent, uint32_t how)
{
    size_t page  = holo_page_size();
    char  *start = VirtualAlloc(NULL, extent + page, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (start && how & HOLO_MEMORY_READY)
        for (size_t at = 0; at < extent; at += page) ((volatile char *)start)[page + at] = 0;
    return start ? start + page : NULL;
}

void holo_pages_free(char *pages, size_t extent)
{
    (void)extent;
    VirtualFree(pages - holo_page_size(), 0, MEM_RELEASE);
}

uint64_t holo_machine_memory(uint64_t held)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullAvailPhys + held : 0;
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

void holo_cpu_pause(void)
{
    YieldProcessor();
}

// ---- threads

_Static_assert(sizeof(SRWLOCK) <= sizeof(HoloMutex), "a lock fits");
_Static_assert(sizeof(CONDITION_VARIABLE) <= sizeof(HoloCondition), "a condition fits");

static SRWLOCK *lock_of(HoloMutex *mutex)
{
    return (SRWLOCK *)(void *)mutex->own;
}

static CONDITION_VARIABLE *condition_of(HoloCondition *condition)
{
    return (CONDITION_VARIABLE *)(void *)condition->own;
}

void holo_mutex_init(HoloMutex *mutex)
{
    InitializeSRWLock(lock_of(mutex));
}

void holo_mutex_deinit(HoloMutex *mutex)
{
    (void)mutex;
}

void holo_mutex_lock(HoloMutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

bool holo_mutex_try(HoloMutex *mutex)
{
    return TryAcquireSRWLockExclusive(lock_of(mutex));
}

void holo_mutex_unlock(HoloMutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

void holo_condition_init(HoloCondition *condition)
{
    InitializeConditionVariable(condition_of(condition));
}

void holo_condition_deinit(HoloCondition *condition)
{
    (void)condition;
}

void holo_condition_wait(HoloCondition *condition, HoloMutex *mutex)
{
    SleepConditionVariableSRW(condition_of(condition), lock_of(mutex), INFINITE, 0);
}

void holo_condition_wait_until(HoloCondition *condition, HoloMutex *mutex, double time)
{
    double left = time - holo_time_now();
    if (left <= 0) return;
    DWORD wait = left < 1e6 ? (DWORD)(left * 1e3) + 1 : 1000000000;
    SleepConditionVariableSRW(condition_of(condition), lock_of(mutex), wait, 0);
}

void holo_condition_signal(HoloCondition *condition)
{
    WakeConditionVariable(condition_of(condition));
}

void holo_condition_broadcast(HoloCondition *condition)
{
    WakeAllConditionVariable(condition_of(condition));
}

typedef struct Handle {
    HANDLE thread;
    void (*work)(void *);
    void *arg;
} Handle;
_Static_assert(sizeof(Handle) <= sizeof(HoloThread), "a thread fits");

static Handle *handle_of(HoloThread *thread)
{
    return (Handle *)(void *)thread->own;
}

static DWORD WINAPI thread_main(void *arg)
{
    const Handle *handle = arg;
    handle->work(handle->arg);
    return 0;
}

bool holo_thread_start(HoloThread *thread, void (*work)(void *), void *arg)
{
    Handle *handle = handle_of(thread);
    handle->work   = work;
    handle->arg    = arg;
    handle->thread = CreateThread(NULL, 8 << 20, thread_main, handle, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    return handle->thread;
}

void holo_thread_join(HoloThread *thread)
{
    WaitForSingleObject(handle_of(thread)->thread, INFINITE);
    CloseHandle(handle_of(thread)->thread);
}

HoloStatus holo_thread_bind(HoloThread *thread, int core)
{
    GROUP_AFFINITY where = {0};
    for (int group = 0; core >= 0 && group < GetActiveProcessorGroupCount(); group++) {
        int count = (int)GetActiveProcessorCount((WORD)group);
        if (core >= count) {
            core -= count;
            continue;
        }
        where.Group = (WORD)group;
        where.Mask  = (KAFFINITY)1 << core;
        return SetThreadGroupAffinity(handle_of(thread)->thread, &where, NULL) ? HOLO_OK : HOLO_BAD_ARGUMENT;
    }
    return HOLO_BAD_ARGUMENT;
}

const void *holo_thread_mark(void)
{
    static _Thread_local char mark;
    return &mark;
}

// ---- libraries

void *holo_library_open(const HoloLibrary *library, void *api)
{
    wchar_t *name   = wide(library->file);
    HMODULE  handle = name ? LoadLibraryExW(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS) : NULL;
    holo_free(name);
    for (int i = 0; i < library->count && handle; i++) {
        FARPROC function = GetProcAddress(handle, library->names[i]);
        memcpy((char *)api + (size_t)i * sizeof function, &function, sizeof function);
        if (function) continue;
        FreeLibrary(handle);
        handle = NULL;
    }
    return handle;
}

void holo_library_close(void *handle)
{
    if (handle) FreeLibrary(handle);
}
#endif
