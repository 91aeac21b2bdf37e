// files.c - files of the program itself: texts that it reads, of a sensible size and without blocking, and what it writes,
// which is whole or not there.

#include "cli.h"

#include "base/system.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

static const char *unfit(int fd, size_t most)
{
    struct stat st;
    if (fstat(fd, &st)) return strerror(errno);
    if (S_ISDIR(st.st_mode)) return "it is a folder, not a file";
    if (!S_ISREG(st.st_mode)) return "it is a pipe, a socket or a device, not a file";
    return (uint64_t)st.st_size > most ? "it is larger than 1 MiB" : NULL;
}

char *cli_read_stream(FILE *file, size_t *out_size)
{
    size_t size = 0, room = 0, count;
    char  *text = NULL;
    do {
        if (size + 1 >= room) text = cli_grow(text, room, room * 2 + 65536, 1), room = room * 2 + 65536;
        count = fread(text + size, 1, room - size - 1, file);
        size += count;
    } while (count);
    text[size] = 0;
    *out_size  = size;
    return text;
}

// A pipe that the shell made for this command: <(command).
static bool is_given_pipe(const char *path)
{
    struct stat st;
    bool        is_own = !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/self/fd/", 14);
    return is_own && !stat(path, &st) && S_ISFIFO(st.st_mode);
}

char *cli_read_file(const char *path, size_t *out_size)
{
    FILE       *file = is_given_pipe(path) ? fopen(path, "rb") : NULL;
    int         fd   = file ? fileno(file) : holo_file_open(path);
    const char *why  = fd < 0 ? errno == ENXIO ? "it is a socket or a device, not a file" : strerror(errno)
                       : file ? NULL
                              : unfit(fd, SIZE_MAX);
    if (!file && !why && !(file = fdopen(fd, "rb"))) why = strerror(errno);
    char *text = why ? NULL : cli_read_stream(file, out_size);
    if (text && ferror(file)) why = strerror(errno);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return why ? cli_fail(NULL, "%s: it cannot be read: %s", path, why), NULL : text;
}

// A pipe, a device, or what another process has open: it is written as it is, and nothing can take its place.
static bool is_stream(const char *path)
{
    struct stat st;
    bool        is_open = !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
    return !stat(path, &st) && !S_ISDIR(st.st_mode) && (is_open || !S_ISREG(st.st_mode));
}

int cli_file_begin(const char *path, CliFile *out)
{
    HoloError error = {0};
    *out            = (CliFile){.path = path};
    if (!is_stream(path)) {
        HoloStatus status = holo_file_writer_open(path, &out->writer, &error);
        if (status) return cli_fail_error(path, &error, status);
        if ((out->stream = holo_file_writer_stream(out->writer))) return CLI_OK;
        cli_fail(NULL, "cannot write %s: %s", path, strerror(errno));
        return (void)!holo_file_writer_close(out->writer, false, NULL), CLI_FAILED;
    }
    int fd      = holo_file_create(path);
    out->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (out->stream) return CLI_OK;
    const char *why = errno == ENXIO ? "it is a pipe that nobody reads, a socket or a device" : strerror(errno);
    if (fd >= 0) close(fd);
    return cli_fail(NULL, "cannot write %s: %s", path, why);
}

int cli_file_end(CliFile *file)
{
    HoloError error  = {0};
    bool      is_bad = fflush(file->stream) || ferror(file->stream);
    int       why    = errno;
    if (fclose(file->stream) && !is_bad) is_bad = true, why = errno;
    HoloStatus status = file->writer ? holo_file_writer_close(file->writer, !is_bad, &error) : HOLO_OK;
    if (is_bad) return cli_fail(NULL, "cannot write %s: %s", file->path, strerror(why));
    return status ? cli_fail_error(file->path, &error, status) : CLI_OK;
}

char *cli_read_text(const char *path, const char **out_why)
{
    int fd      = holo_file_open(path);
    *out_why    = fd >= 0          ? unfit(fd, TEXT_MAX)
                  : errno == ENXIO ? "it is a socket or a device, not a file"
                                   : strerror(errno);
    char  *text = *out_why ? NULL : cli_take(TEXT_MAX + 1, 1);
    size_t size = 0;
    for (ssize_t got; text && size < TEXT_MAX && (got = read(fd, text + size, TEXT_MAX - size)) != 0;) {
        if (got > 0) size += (size_t)got;
        if (got >= 0 || errno == EINTR) continue;
        *out_why = strerror(errno);
        text     = NULL;
    }
    if (fd >= 0) close(fd);
    return text;
}
