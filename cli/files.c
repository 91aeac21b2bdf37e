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
