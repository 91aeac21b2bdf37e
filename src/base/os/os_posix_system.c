// os_posix_system.c - folders, temporary files and commands on POSIX systems. See system.h.
#if !defined _WIN32 && !defined __wasm__
#include "base/files_system.h"
#include "base/system_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined __APPLE__
#include <crt_externs.h>
#endif

void holo_local_time(struct tm *out)
{
    time_t now = time(NULL);
    if (!localtime_r(&now, out)) *out = (struct tm){.tm_year = 70, .tm_mday = 1};
}

void holo_program_begin(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setlocale(LC_CTYPE, "");
}

void holo_program_replace(const char *name, char **words)
{
    char    path[4096];
    ssize_t size              = readlink("/proc/self/exe", path, sizeof path - 1);
    path[size > 0 ? size : 0] = 0;
    char  *slash              = strrchr(path, '/');
    size_t room               = slash ? sizeof path - (size_t)(slash + 1 - path) : 0;
    if (room > strlen(name)) {
        memcpy(slash + 1, name, strlen(name) + 1);
        execv(path, words);
    }
    if (!slash || errno == ENOENT) execvp(name, words);
}

long holo_process_id(void)
{
    return (long)getpid();
}

char **holo_environment(void)
{
#if defined __APPLE__
    return *_NSGetEnviron();
#else
    return environ;
#endif
}

void holo_time_wait(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) && errno == EINTR) continue;
}

// ---- folders

HoloStatus holo_folder_read(const char *path, HoloFolder *out)
{
    DIR *folder = opendir(path);
    if (!folder) return HOLO_NO_FILE;
    bool has_room = true;
    for (struct dirent *entry; has_room && (entry = readdir(folder));) has_room = holo_folder_add(out, entry->d_name);
    closedir(folder);
    return has_room ? HOLO_OK : HOLO_NO_MEMORY;
}

bool holo_folder_make(const char *path, bool is_private)
{
    return mkdir(path, is_private ? 0700 : 0777) == 0;
}

void holo_folder_remove(const char *path)
{
    rmdir(path);
}

bool holo_path_same(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int holo_file_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int holo_file_create(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (file >= 0) fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return file;
}

FILE *holo_file_writer_stream(const HoloFileWriter *writer)
{
    int   file   = fcntl((int)writer->file, F_DUPFD_CLOEXEC, 0);
    FILE *stream = file >= 0 ? fdopen(file, "wb") : NULL;
    if (!stream && file >= 0) close(file);
    return stream;
}

bool holo_file_remove(const char *path)
{
    return unlink(path) == 0;
}

bool holo_file_move(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

bool holo_file_link(const char *target, const char *path)
{
    return symlink(target, path) == 0;
}

int holo_file_lock(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    while (file >= 0 && flock(file, LOCK_EX)) {
        if (errno == EINTR) continue;
        close(file);
        return -1;
    }
    return file;
}

void holo_file_unlock(int lock)
{
    close(lock); // which gives the lock back
}

// ---- temporary files

static const char *temporary_root(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

void holo_temporary_path(const char *name, char *out, size_t room)
{
    snprintf(out, room, "%s/%s-%ld.holo", temporary_root(), name, holo_process_id());
}

static bool template_write(char *out, size_t room)
{
    int size = snprintf(out, room, "%s/hologram-XXXXXX", temporary_root());
    if (size > 0 && (size_t)size < room) return true;
    errno = ENAMETOOLONG;
    return false;
}

int holo_temporary_file(char *out, size_t room)
{
    return template_write(out, room) ? mkstemp(out) : -1;
}

int holo_temporary_stream(char *out, size_t room)
{
    int file = holo_temporary_file(out, room);
    if (file >= 0) unlink(out);
    return file;
}

bool holo_temporary_folder(char *out, size_t room)
{
    return template_write(out, room) && mkdtemp(out);
}

// ---- commands

char *holo_command_line(const char *command, const char *argument)
{
    size_t size = strlen(command) + 4 * strlen(argument) + 4;
    char  *line = holo_realloc(NULL, size), *to = line;
    if (!line) return NULL;
    to += sprintf(to, "%s '", command);
    for (; *argument; argument++)
        if (*argument == '\'')
            to += sprintf(to, "'\\''");
        else
            *to++ = *argument;
    memcpy(to, "'", 2);
    return line;
}

FILE *holo_command_open(const char *line)
{
    return popen(line, "r");
}

int holo_command_close(FILE *pipe)
{
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : status;
}
#endif
