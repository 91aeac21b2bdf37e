// files.c - text files that the program reads itself: plain ones of a sensible size, without waiting for anybody.

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
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

FILE *cli_open_text(const char *path, const char **out_why)
{
    int fd     = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *out_why   = fd >= 0 ? unfit(fd) : errno == ENXIO ? "it is a socket or a device, not a file" : strerror(errno);
    FILE *file = fd >= 0 && !*out_why ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !file) close(fd);
    return file;
}
