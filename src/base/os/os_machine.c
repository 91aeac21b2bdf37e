// os_machine.c - how much memory and how many CPUs the machine has left for this process, and the most memory that the
// process used.
#include "base/cpu.h"
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
#include <stdatomic.h>
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

// ---- control groups

typedef uint64_t GroupFn(const char *folder); // what the group at `folder` leaves; UINT64_MAX: it sets no limit

// Its limit minus what its processes hold. Pages of files can be dropped.
static uint64_t memory_left(const char *folder, const char *limit_file, const char *usage_file)
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

static uint64_t memory_of_1(const char *folder)
{
    return memory_left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes");
}

static uint64_t memory_of_2(const char *folder)
{
    return memory_left(folder, "memory.max", "memory.current");
}

// The CPUs that keep busy those microseconds of each period, rounded up.
static uint64_t cpus_for(uint64_t quota, uint64_t period)
{
    return quota && period ? (quota - 1) / period + 1 : UINT64_MAX;
}

static uint64_t cpus_of_1(const char *folder)
{
    uint64_t quota, period;
    if (!number_read(folder, "cpu.cfs_quota_us", &quota) || quota > INT64_MAX) return UINT64_MAX; // -1: no limit
    return number_read(folder, "cpu.cfs_period_us", &period) ? cpus_for(quota, period) : UINT64_MAX;
}

static uint64_t cpus_of_2(const char *folder)
{
    char               path[4200];
    unsigned long long quota, period;
    Text               text;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (!text_read(path, &text) || sscanf(text.data, "%llu %llu", &quota, &period) != 2) return UINT64_MAX; // "max"
    return cpus_for(quota, period);
}

static const struct GroupKind {
    const char *name, *root; // of version 1
    GroupFn    *of_1, *of_2;
} group_memory = {"memory", "/sys/fs/cgroup/memory", memory_of_1, memory_of_2},
  group_cpus   = {"cpu", "/sys/fs/cgroup/cpu", cpus_of_1, cpus_of_2};

// The least that the groups of a path leave, from the innermost outwards.
static uint64_t groups_least(const char *root, const char *inner, GroupFn *left)
{
    char     folder[4096];
    uint64_t least = UINT64_MAX;
    snprintf(folder, sizeof folder, "%s%s", root, inner);
    for (size_t size = strlen(folder); size >= strlen(root); size--) {
        if (folder[size] && folder[size] != '/') continue;
        folder[size]  = 0;
        uint64_t here = left(folder);
        if (here < least) least = here;
    }
    return least;
}

// Is `name` in a list with commas?
static bool is_listed(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
        if (!strncmp(list, name, size) && (!list[size] || list[size] == ',')) return true;
    return false;
}

// A line of /proc/self/cgroup: "0::/a/b" of version 2, "4:memory:/a/b" of version 1.
static uint64_t group_line(char *line, const struct GroupKind *kind)
{
    char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
    if (!path) return UINT64_MAX;
    *path++ = 0;
    if (!strcmp(path, "/")) path++;
    if (!names[1]) return groups_least("/sys/fs/cgroup", path, kind->of_2);
    return is_listed(names + 1, kind->name) ? groups_least(kind->root, path, kind->of_1) : UINT64_MAX;
}

// The least that the groups of this process leave.
static uint64_t groups_left(const struct GroupKind *kind)
{
    Text     text;
    uint64_t least = UINT64_MAX;
    if (!text_read("/proc/self/cgroup", &text)) return least;
    for (char *line = text.data, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        uint64_t left = group_line(line, kind);
        if (left < least) least = left;
    }
    return least;
}

// ---- the machine

uint64_t holo_machine_cpus(void)
{
    static _Atomic uint64_t found; // 0: not looked for yet
    uint64_t                cpus = atomic_load_explicit(&found, memory_order_relaxed);
    if (!cpus) atomic_store_explicit(&found, cpus = groups_left(&group_cpus), memory_order_relaxed);
    return cpus;
}

uint64_t holo_machine_memory(uint64_t held)
{
    Text     text;
    uint64_t left = 0, resident = 0;
    if (text_read("/proc/meminfo", &text)) left = number_of(&text, "MemAvailable:") << 10;
    if (!left) return 0;
    uint64_t groups = groups_left(&group_memory);
    if (groups < left) left = groups;
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
