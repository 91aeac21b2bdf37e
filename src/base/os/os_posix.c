// os_posix.c - files, time and CPUs on POSIX systems.
//
// Files are mapped, or read completely if they cannot be mapped. Writing goes to a file without a name, or with a
// temporary one, which is synced to the disk and renamed. A reader sees the old file or the new one, also after a power
// cut. If the system has files without names, a killed process leaves nothing behind.
#if !defined _WIN32 && !defined __wasm__
#include "base/cpu.h"
#include "base/files.h"
#include "base/files_system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined __linux__
#include <linux/openat2.h>
#include <sys/syscall.h>
#if defined __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#elif defined __APPLE__
#include <sys/sysctl.h>
#endif

enum { READ_ALIGN = 64 };

static HoloStatus fail_errno(HoloError *error, const char *what, const char *path)
{
    return holo_fail(error, HOLO_NO_FILE, "cannot %s '%s': %s", what, path, strerror(errno));
}

// ---- reading

// A file that was read lies behind a header that says where its memory begins.
static void *aligned_take(size_t size)
{
    size_t room;
    if (!holo_size_add(size, READ_ALIGN + sizeof(void *), &room)) return NULL;
    char *memory = holo_realloc(NULL, room);
    if (!memory) return NULL;
    char *data = (char *)holo_align((size_t)memory + sizeof(void *), READ_ALIGN);
    memcpy(data - sizeof(void *), &memory, sizeof memory);
    return data;
}

static void aligned_free(const void *data)
{
    void *memory;
    memcpy(&memory, (const char *)data - sizeof(void *), sizeof memory);
    holo_free(memory);
}

// Reads to the end of a file whose size may be unknown (a pipe, a file of /proc).
static HoloStatus read_whole(int fd, const char *path, size_t expected, HoloMapping *out, HoloError *error)
{
    size_t room = expected + 1 > 4096 ? expected + 1 : 4096, size = 0;
    char  *data = aligned_take(room);
    while (data) {
        ssize_t got = read(fd, data + size, room - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            aligned_free(data);
            return fail_errno(error, "read", path);
        }
        if (got == 0) break;
        size += (size_t)got;
        if (size < room) continue;
        char *more = aligned_take(room * 2);
        if (more) memcpy(more, data, size);
        aligned_free(data);
        data = more;
        room *= 2;
    }
    if (!data) return holo_fail_memory(error);
    *out = (HoloMapping){.data = data, .size = size};
    return HOLO_OK;
}

// What is there if it is not a plain file; NULL: it is one.
static const char *other_kind(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

// A pipe that the process already has open, such as a shell's <(command): reading it was asked for.
static bool is_own_pipe(mode_t mode, const char *path)
{
    static const char *const places[] = {"/dev/fd/", "/dev/stdin", "/proc/self/fd/"};
    for (int i = 0; S_ISFIFO(mode) && i < HOLO_COUNT(places); i++)
        if (!strncmp(path, places[i], strlen(places[i]))) return true;
    return false;
}

// `fd` was opened without blocking, because a pipe, a device or a socket could block forever.
static HoloStatus map_descriptor(int fd, const char *path, HoloMapping *out, HoloError *error)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return fail_errno(error, "read", path);
    const char *other = is_own_pipe(st.st_mode, path) ? NULL : other_kind(st.st_mode);
    if (other) return holo_fail(error, HOLO_NO_FILE, "'%s' is %s, not a file", path, other);
    if (S_ISFIFO(st.st_mode)) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    size_t size = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0;
    void  *data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (data == MAP_FAILED) return read_whole(fd, path, size, out, error);
    *out = (HoloMapping){.data = data, .size = size, .is_mapped = true};
    return HOLO_OK;
}

// Reads a file of known size into memory of its own. Leaves `out` empty if that is not possible.
static void read_large(int fd, uint32_t how, HoloMapping *out)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) return;
    size_t size = (size_t)st.st_size, at = 0;
    char  *data = holo_memory_take(size, how);
    while (data && at < size) {
        ssize_t got = pread(fd, data + at, size - at, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        at += (size_t)got;
    }
    if (data && at == size)
        *out = (HoloMapping){.data = data, .size = size, .is_taken = true};
    else
        holo_memory_free(data, size);
}

HoloStatus holo_file_map_how(const char *path, uint32_t how, HoloMapping *out, HoloError *error)
{
    *out   = (HoloMapping){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENXIO)
        return holo_fail(error, HOLO_NO_FILE, "'%s' is a socket or a device, not a file", path);
    if (fd < 0) return fail_errno(error, "open", path);
    if (how & HOLO_MEMORY_HUGE) read_large(fd, how, out);
    HoloStatus status = out->data ? HOLO_OK : map_descriptor(fd, path, out, error);
    close(fd);
#ifdef MADV_POPULATE_READ
    if (!status && how & HOLO_MEMORY_READY && out->is_mapped)
        madvise((void *)(uintptr_t)out->data, out->size, MADV_POPULATE_READ);
#endif
    return status;
}

void holo_file_unmap(HoloMapping *mapping)
{
    if (mapping->is_mapped)
        munmap((void *)mapping->data, mapping->size);
    else if (mapping->is_taken)
        holo_memory_free((void *)(uintptr_t)mapping->data, mapping->size);
    else if (mapping->data && !mapping->is_view)
        aligned_free(mapping->data);
    *mapping = (HoloMapping){0};
}

void holo_file_release(const HoloMapping *mapping, const void *data, size_t size)
{
    if (!mapping->is_mapped || size > mapping->size) return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = holo_align((size_t)data, page), to = ((size_t)data + size) / page * page;
    if (from < to) madvise((void *)from, to - from, MADV_DONTNEED);
}

// Is it a path of plain names: not absolute, without "..", without empty names?
static bool is_plain(const char *relative)
{
    for (size_t length;; relative += length + 1) {
        length = strcspn(relative, "/");
        if (length == 0 || length > 255 || (length == 2 && !memcmp(relative, "..", 2))) return false;
        if (!relative[length]) return true;
    }
}

// If the kernel can, it makes sure that links stay below the folder. -1 with ENOSYS: it cannot.
static int open_beneath(int folder, const char *relative)
{
#ifdef SYS_openat2
    struct open_how how = {.flags   = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, folder, relative, &how, sizeof how);
#else
    (void)folder;
    (void)relative;
    errno = ENOSYS;
    return -1;
#endif
}

// Opens one component after the other, none of which may be a link. So what is opened is below the folder, whatever the
// names are.
static int open_linkless(int folder, const char *relative)
{
    char part[256];
    int  at = dup(folder);
    while (at >= 0) {
        size_t length = strcspn(relative, "/");
        bool   last   = relative[length] == 0;
        memcpy(part, relative, length);
        part[length] = 0;
        int flags    = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
        int next     = openat(at, part, flags);
        int saved    = errno;
        close(at);
        errno = saved;
        if (last) return next;
        at = next;
        relative += length + 1;
    }
    return -1;
}

// The same for a path with links: it is opened where they lead to, if that is below the folder.
static int open_resolved(int at, const char *folder, const char *relative)
{
    char   path[PATH_MAX], root[PATH_MAX], file[PATH_MAX];
    int    size   = snprintf(path, sizeof path, "%s/%s", *folder ? folder : ".", relative);
    bool   is_fit = size < (int)sizeof path && realpath(*folder ? folder : ".", root) && realpath(path, file);
    size_t length = is_fit ? strlen(root) : 0;
    if (!is_fit) return -1;
    if (!strncmp(file, root, length) && file[length] == '/') return open_linkless(at, file + length + 1);
    errno = ELOOP;
    return -1;
}

static int open_below(const char *folder, const char *relative)
{
    int at = open(*folder ? folder : ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (at < 0) return -1;
    int fd = open_beneath(at, relative);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
        fd = open_linkless(at, relative);
        if (fd < 0 && errno == ELOOP) fd = open_resolved(at, folder, relative);
    }
    int saved = errno;
    close(at);
    errno = saved;
    return fd;
}

HoloStatus holo_file_map_below(const char *folder, const char *relative, HoloMapping *out, HoloError *error)
{
    *out = (HoloMapping){0};
    if (!is_plain(relative))
        return holo_fail(error, HOLO_NO_FILE, "'%s' is not a plain path below the model's folder", relative);
    int fd = open_below(folder, relative);
    if (fd < 0 && (errno == ELOOP || errno == EXDEV))
        return holo_fail(error, HOLO_NO_FILE,
                         "'%s' in '%s' is a link that leads out of the folder: copy the file there", relative, folder);
    if (fd < 0)
        return holo_fail(error, HOLO_NO_FILE, "cannot open '%s' in '%s': %s", relative, folder, strerror(errno));
    HoloStatus status = map_descriptor(fd, relative, out, error);
    close(fd);
    return status;
}

// ---- writing

// The folder of `path`, in memory of its own; NULL: none.
static char *folder_of(const char *path)
{
    const char *slash  = strrchr(path, '/');
    size_t      length = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
    char       *folder = holo_realloc(NULL, length + 1);
    if (!folder) return NULL;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = 0;
    return folder;
}

static HoloStatus fail_create(const char *path, HoloError *error)
{
    int        why    = errno;
    char      *folder = folder_of(path);
    HoloStatus status;
    if (folder && why == ENOENT && !holo_path_exists(folder))
        status =
            holo_fail(error, HOLO_NO_FILE, "cannot create '%s': there is no folder '%s'; make it first", path, folder);
    else
        status = holo_fail(error, HOLO_NO_FILE, "cannot create '%s': %s", path, strerror(why));
    holo_free(folder);
    return status;
}

// A file in the folder of `path` that disappears when it is closed, unless name_file gives it a name; -1: the system
// has no such files.
static int open_nameless(const char *path)
{
    int fd = -1;
#if defined O_TMPFILE
    char *folder = folder_of(path);
    if (folder && holo_path_exists("/proc/self/fd")) fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    holo_free(folder);
#else
    (void)path;
#endif
    return fd;
}

// Creates the file with the writer's temporary name: the nameless one it has written, or else a new one. False: errno
// says why.
static bool name_file(HoloFileWriter *w)
{
    char nameless[40];
    snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", (int)w->file);
    for (int i = 0; i < 1000; i++) {
        holo_writer_name(w, i);
        if (w->file < 0)
            w->is_named = (w->file = open(w->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) >= 0;
        else
            w->is_named = linkat(AT_FDCWD, nameless, AT_FDCWD, w->temporary, AT_SYMLINK_FOLLOW) == 0;
        if (w->is_named || errno != EEXIST) break;
    }
    return w->is_named;
}

HoloStatus holo_writer_begin(HoloFileWriter *w, HoloError *error)
{
    struct stat st;
    const char *other = stat(w->path, &st) == 0 ? other_kind(st.st_mode) : NULL;
    if (other) return holo_fail(error, HOLO_NO_FILE, "cannot write '%s': %s is there", w->path, other);
    w->file = open_nameless(w->path);
    return w->file < 0 && !name_file(w) ? fail_create(w->path, error) : HOLO_OK;
}

HoloStatus holo_writer_put(HoloFileWriter *w, uint64_t offset, const char *data, size_t size, HoloError *error)
{
    while (size) {
        ssize_t done = pwrite((int)w->file, data, size, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_errno(error, "write", w->temporary);
        data += done;
        offset += (uint64_t)done;
        size -= (size_t)done;
    }
    return HOLO_OK;
}

HoloStatus holo_writer_view(const HoloFileWriter *w, HoloMapping *out, HoloError *error)
{
    void *data = mmap(NULL, (size_t)w->size, PROT_READ, MAP_SHARED, (int)w->file, 0);
    if (data == MAP_FAILED) return fail_errno(error, "map", w->temporary);
    *out = (HoloMapping){.data = data, .size = (size_t)w->size, .is_mapped = true};
    return HOLO_OK;
}

// Not every file or file system can be synced (a pipe, some of FUSE). Such an answer is not an error.
static bool is_synced(int fd)
{
    while (fsync(fd) != 0)
        if (errno != EINTR) return errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS;
    return true;
}

// Syncs the folder, so that the file's name is on the disk, too. If the folder cannot be opened, nobody knows.
static void folder_sync(const char *path)
{
    char *folder = folder_of(path);
    int   fd     = folder ? open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY) : -1;
    if (fd >= 0) {
        (void)is_synced(fd);
        close(fd);
    }
    holo_free(folder);
}

HoloStatus holo_writer_end(HoloFileWriter *w, bool commit, HoloError *error)
{
    HoloStatus status = HOLO_OK;
    if (commit && !is_synced((int)w->file)) status = fail_errno(error, "write", w->temporary);
    if (commit && !status && !w->is_named && !name_file(w)) status = fail_create(w->path, error);
    if (close((int)w->file) != 0 && commit && !status) status = fail_errno(error, "write", w->temporary);
    if (commit && !status && rename(w->temporary, w->path) != 0) status = fail_errno(error, "rename to", w->path);
    if (commit && !status)
        folder_sync(w->path);
    else if (w->is_named)
        unlink(w->temporary);
    return status;
}

// ---- paths, time, CPUs

bool holo_path_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool holo_path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

const char *holo_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

double holo_time_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool holo_cpu_has_dot(void)
{
#if defined __linux__ && defined __aarch64__
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
#elif defined __APPLE__ && defined __aarch64__
    int    has  = 0;
    size_t size = sizeof has;
    return sysctlbyname("hw.optional.arm.FEAT_DotProd", &has, &size, NULL, 0) == 0 && has;
#else
    return false;
#endif
}

int holo_cpu_count(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
#if defined __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) cpus = CPU_COUNT(&set);
    if (cpus > 0 && holo_machine_cpus() < (uint64_t)cpus) cpus = (long)holo_machine_cpus();
#endif
    return cpus > 0 ? (int)cpus : 1;
}
#endif
