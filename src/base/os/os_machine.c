// os_machine.c - how much memory the machine has left for this process, and the most that the process used.
#include "base/memory.h"
#include "base/system.h"

#if !defined __wasm__ // os_wasm.c
#if defined  _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// must come before the next header
#include <psapi.h>
#else
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#if defined __linux__

typedef struct Text { // the beginning of a system file; it must not use the heap, because the heap asks
    char data[8192];
} Text;

static bool text_read(const char *path, Text *out)
{
    int     fd   = open(path, O_RDONLY | O_CLOEXEC);
    size_t  size = 0;
    ssize_t got  = 0;
    if (fd < 0) return false;
    while (size < sizeof out->data - 1 && (got = read(fd, out->data + size, sizeof out->data - 1 - size)) > 0)
        size += (size_t)got;
    close(fd);
    out->data[size] = 0;
    return size > 0;
}

// The number behind `key` at the beginning of a line; 0: there is none.
static uint64_t number_of(const Text *text, const char *key)
{
    size_t size = strlen(key);
    for (const char *line = text->data; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (!strncmp(line, key, size)) return strtoull(line + size, NULL, 10);
    }
    return 0;
}

static bool number_read(const char *folder, const char *file, uint64_t *out)
{
    char path[4200], *end;
    Text text;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (!text_read(path, &text)) return false;
    *out = strtoull(text.data, &end, 10); // "max": there is none
    return end != text.data;
}

// What a control group leaves: its limit minus what its processes hold. Pages of files can be dropped.
static uint64_t group_left(const char *folder, const char *limit_file, const char *usage_file)
{
    uint64_t limit, usage;
    char     path[4200];
    Text     stat;
    if (!number_read(folder, limit_file, &limit) || !number_read(folder, usage_file, &usage)) return UINT64_MAX;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    uint64_t files = text_read(path, &stat) ? number_of(&stat, "inactive_file ") + number_of(&stat, "active_file ") : 0;
    usage -= files < usage ? files : usage;
    return limit > usage ? limit - usage : 0;
}

// The least that the groups of a path leave, from the innermost outwards.
static uint64_t groups_left(const char *root, const char *inner, const char *limit_file, const char *usage_file)
{
    char     folder[4096];
    uint64_t least = UINT64_MAX;
    snprintf(folder, sizeof folder, "%s%s", root, inner);
    for (size_t size = strlen(folder); size >= strlen(root); size--) {
        if (folder[size] && folder[size] != '/') continue;
        folder[size]  = 0;
        uint64_t left = group_left(folder, limit_file, usage_file);
        if (left < least) least = left;
    }
    return least;
}

// A line of /proc/self/cgroup: "0::/a/b" of version 2, "4:memory:/a/b" of version 1.
static uint64_t group_line(char *line)
{
    char *kinds = strchr(line, ':'), *path = kinds ? strchr(kinds + 1, ':') : NULL;
    if (!path) return UINT64_MAX;
    *path++ = 0;
    if (!strcmp(path, "/")) path++;
    if (!kinds[1]) return groups_left("/sys/fs/cgroup", path, "memory.max", "memory.current");
    if (strcmp(kinds + 1, "memory")) return UINT64_MAX;
    return groups_left("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes");
}

uint64_t holo_machine_memory(uint64_t held)
{
    Text     text;
    uint64_t left = 0, resident = 0;
    if (text_read("/proc/meminfo", &text)) left = number_of(&text, "MemAvailable:") << 10;
    if (!left) return 0;
    if (text_read("/proc/self/cgroup", &text))
        for (char *line = text.data, *next; *line; line = next) {
            next = line + strcspn(line, "\n");
            if (*next) *next++ = 0;
            uint64_t least = group_line(line);
            if (least < left) left = least;
        }
    if (text_read("/proc/self/statm", &text)) { // "size resident shared ...", in pages
        unsigned long long pages = 0, shared = 0;
        if (sscanf(text.data, "%*u %llu %llu", &pages, &shared) == 2 && pages > shared)
            resident = (pages - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    return left + (resident < held ? resident : held);
}

// getrusage may give the peak of the process that started this one.
uint64_t holo_memory_peak(void)
{
    Text          text;
    struct rusage usage;
    uint64_t      kib = text_read("/proc/self/status", &text) ? number_of(&text, "VmHWM:") : 0;
    if (!kib && !getrusage(RUSAGE_SELF, &usage)) kib = (uint64_t)usage.ru_maxrss;
    return kib << 10;
}

#elif defined _WIN32

uint64_t holo_machine_memory(uint64_t held)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullAvailPhys + held : 0;
}

uint64_t holo_memory_peak(void)
{
    PROCESS_MEMORY_COUNTERS counters;
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.PeakWorkingSetSize : 0;
}

#else

uint64_t holo_machine_memory(uint64_t held)
{
    (void)held;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

uint64_t holo_memory_peak(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (uint64_t)usage.ru_maxrss; // in bytes on macOS
}

#endif
#endif
