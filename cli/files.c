// files.c - text files that the program reads itself: plain files of a sensible size, without blocking.

#include "cli.h"

#include "base/system.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

static const char *unfit(int fd)
{
    struct stat st;
    if (fstat(fd, &st)) return strerror(errno);
    if (S_ISDIR(st.st_mode)) return "it is a folder, not a file";
    if (!S_ISREG(st.st_mode)) return "it is a pipe, a socket or a device, not a file";
    return st.st_size > TEXT_MAX ? "it is larger than 1 MiB" : NULL;
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

char *cli_read_file(const char *path, size_t *out_size)
{
    FILE       *file = fopen(path, "rb");
    struct stat st;
    if (!file) return cli_fail(NULL, "%s: it cannot be read: %s", path, strerror(errno)), NULL;
    bool  is_folder = !fstat(fileno(file), &st) && S_ISDIR(st.st_mode);
    char *text      = is_folder ? NULL : cli_read_stream(file, out_size);
    int   problem   = ferror(file) ? errno : 0;
    fclose(file);
    if (text && !problem) return text;
    return cli_fail(NULL, "%s: it cannot be read: %s", path,
                    is_folder ? "it is a folder, not a file" : strerror(problem)),
           NULL;
}

char *cli_read_text(const char *path, const char **out_why)
{
    int fd      = holo_file_open(path);
    *out_why    = fd >= 0 ? unfit(fd) : errno == ENXIO ? "it is a socket or a device, not a file" : strerror(errno);
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
