// os_windows_system.c - folders, temporary files and commands on Windows. See system.h.
//
// Names and texts are UTF-8: the arguments of the program are converted from the wide ones, and the C library is set to
// UTF-8.
#if defined _WIN32
#include "base/files_system.h"
#include "base/os/os_windows.h"
#include "base/system_parts.h"

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/locking.h>
#include <sys/stat.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// must come before the next header
#include <shellapi.h>

enum { FOLDER_ROOM = 1024 };

void holo_local_time(struct tm *out)
{
    time_t now = time(NULL);
    if (localtime_s(out, &now)) *out = (struct tm){.tm_year = 70, .tm_mday = 1};
}

void holo_program_begin(int *argc, char ***argv)
{
    int       count = 0;
    wchar_t **given = CommandLineToArgvW(GetCommandLineW(), &count);
    char    **names = given ? calloc((size_t)count + 1, sizeof *names) : NULL;
    bool      whole = names;
    for (int i = 0; i < count && whole; i++) whole = (names[i] = holo_narrow(given[i]));
    if (whole) {
        *argc = count;
        *argv = names; // lives as long as the program
    }
    LocalFree(given);
    setlocale(LC_CTYPE, ".UTF8");
    SetConsoleOutputCP(CP_UTF8);
    for (int stream = 0; stream < 3; stream++) _setmode(stream, _O_BINARY);
}

void holo_program_replace(const char *name, char **words)
{
    (void)name, (void)words;
    errno = ENOSYS;
}

long holo_process_id(void)
{
    return (long)GetCurrentProcessId();
}

char **holo_environment(void)
{
    return _environ;
}

void holo_time_wait(double seconds)
{
    Sleep((DWORD)(seconds * 1000));
}

// ---- folders

HoloStatus holo_folder_read(const char *path, HoloFolder *out)
{
    size_t room    = strlen(path) + 3;
    char  *pattern = holo_realloc(NULL, room);
    if (pattern) snprintf(pattern, room, "%s/*", path);
    wchar_t *name = pattern ? holo_wide(pattern) : NULL;
    holo_free(pattern);
    if (!name) return HOLO_NO_MEMORY;
    struct _wfinddata_t found;
    intptr_t            list = _wfindfirst(name, &found);
    holo_free(name);
    if (list == -1) return HOLO_NO_FILE;
    bool has_room = true;
    do {
        char *entry = holo_narrow(found.name);
        has_room    = entry && holo_folder_add(out, entry);
        holo_free(entry);
    } while (has_room && _wfindnext(list, &found) == 0);
    _findclose(list);
    return has_room ? HOLO_OK : HOLO_NO_MEMORY;
}

bool holo_folder_make(const char *path, bool is_private)
{
    (void)is_private; // on Windows, folders for temporary files belong to the user
    wchar_t *name    = holo_wide(path);
    bool     is_made = name && _wmkdir(name) == 0;
    holo_free(name);
    return is_made;
}

void holo_folder_remove(const char *path)
{
    wchar_t *name = holo_wide(path);
    if (name) _wrmdir(name);
    holo_free(name);
}

static bool identity(const char *path, BY_HANDLE_FILE_INFORMATION *out)
{
    bool     is_input = !strcmp(path, "/dev/stdin");
    wchar_t *name     = is_input ? NULL : holo_wide(path);
    HANDLE   file     = is_input ? GetStdHandle(STD_INPUT_HANDLE)
                        : name   ? CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                               OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL)
                                 : INVALID_HANDLE_VALUE;
    bool     is_known = file != INVALID_HANDLE_VALUE && GetFileInformationByHandle(file, out);
    if (!is_input && file != INVALID_HANDLE_VALUE) CloseHandle(file);
    holo_free(name);
    return is_known;
}

bool holo_path_same(const char *a, const char *b)
{
    BY_HANDLE_FILE_INFORMATION x, y;
    return identity(a, &x) && identity(b, &y) && x.dwVolumeSerialNumber == y.dwVolumeSerialNumber &&
           x.nFileIndexHigh == y.nFileIndexHigh && x.nFileIndexLow == y.nFileIndexLow;
}

static int open_wide(const char *path, int flags)
{
    wchar_t *name = holo_wide(path);
    int      file = name ? _wopen(name, flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE) : -1;
    if (!name) errno = EINVAL;
    holo_free(name);
    return file;
}

int holo_file_open(const char *path)
{
    return open_wide(path, _O_RDONLY);
}

int holo_file_create(const char *path)
{
    return open_wide(path, _O_WRONLY | _O_CREAT | _O_TRUNC);
}

FILE *holo_file_writer_stream(const HoloFileWriter *writer)
{
    HANDLE self = GetCurrentProcess(), copy;
    if (!DuplicateHandle(self, (HANDLE)writer->file, self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
        errno = EMFILE;
        return NULL;
    }
    int   file   = _open_osfhandle((intptr_t)copy, _O_BINARY);
    FILE *stream = file >= 0 ? _fdopen(file, "wb") : NULL;
    if (file < 0)
        CloseHandle(copy);
    else if (!stream)
        _close(file);
    return stream;
}

bool holo_file_remove(const char *path)
{
    wchar_t *name    = holo_wide(path);
    bool     is_gone = name && _wunlink(name) == 0;
    holo_free(name);
    return is_gone;
}

bool holo_file_move(const char *from, const char *to)
{
    wchar_t *a = holo_wide(from), *b = holo_wide(to);
    bool     is_moved = a && b && MoveFileExW(a, b, MOVEFILE_REPLACE_EXISTING);
    if (!is_moved) errno = EACCES;
    holo_free(a);
    holo_free(b);
    return is_moved;
}

bool holo_file_link(const char *target, const char *path)
{
    (void)target, (void)path; // they need a right that users do not have
    errno = ENOSYS;
    return false;
}

int holo_file_lock(const char *path)
{
    wchar_t *name = holo_wide(path);
    int      file = name ? _wopen(name, _O_RDWR | _O_CREAT | _O_BINARY, _S_IREAD | _S_IWRITE) : -1;
    holo_free(name);
    while (file >= 0 && _locking(file, _LK_LOCK, 1)) { // it waits ten seconds
        if (errno == EDEADLOCK) continue;
        _close(file);
        return -1;
    }
    return file;
}

void holo_file_unlock(int lock)
{
    _lseek(lock, 0, SEEK_SET);
    _locking(lock, _LK_UNLCK, 1);
    _close(lock);
}

// ---- temporary files

// The folder for temporary files, without a slash at its end.
static void temporary_root(char *out, size_t room)
{
    wchar_t     wide[FOLDER_ROOM];
    const char *given = getenv("TMPDIR");
    DWORD       size  = GetTempPathW(FOLDER_ROOM, wide);
    char       *own   = size && size < FOLDER_ROOM ? holo_narrow(wide) : NULL;
    snprintf(out, room, "%s", given && *given ? given : own ? own : ".");
    holo_free(own);
    for (size_t end = strlen(out); end > 1 && strchr("/\\", out[end - 1]);) out[--end] = 0;
}

void holo_temporary_path(const char *name, char *out, size_t room)
{
    char folder[3 * FOLDER_ROOM];
    temporary_root(folder, sizeof folder);
    snprintf(out, room, "%s/%s-%ld.holo", folder, name, holo_process_id());
}

// Creates something with a name that does not exist yet. False: errno says why.
static bool make_new(char *out, size_t room, bool (*make)(const char *path, void *to), void *to)
{
    char folder[3 * FOLDER_ROOM];
    temporary_root(folder, sizeof folder);
    for (int i = 0; i < 1000; i++) {
        snprintf(out, room, "%s/hologram-%ld-%d", folder, holo_process_id(), i);
        if (make(out, to)) return true;
        if (errno != EEXIST) return false;
    }
    return false;
}

static bool make_file(const char *path, void *file)
{
    *(int *)file = open_wide(path, _O_RDWR | _O_CREAT | _O_EXCL);
    return *(int *)file >= 0;
}

static bool make_stream(const char *path, void *file)
{
    *(int *)file = open_wide(path, _O_RDWR | _O_CREAT | _O_EXCL | _O_TEMPORARY);
    return *(int *)file >= 0;
}

static bool make_folder(const char *path, void *nothing)
{
    (void)nothing;
    return holo_folder_make(path, true);
}

int holo_temporary_file(char *out, size_t room)
{
    int file = -1;
    return make_new(out, room, make_file, &file) ? file : -1;
}

int holo_temporary_stream(char *out, size_t room)
{
    int file = -1;
    return make_new(out, room, make_stream, &file) ? file : -1;
}

bool holo_temporary_folder(char *out, size_t room)
{
    return make_new(out, room, make_folder, NULL);
}

// ---- commands

// A path cannot contain quotes here. The shell removes the outermost quotes of a line.
char *holo_command_line(const char *command, const char *argument)
{
    size_t size = strlen(command) + strlen(argument) + 6;
    char  *line = holo_realloc(NULL, size);
    if (line) snprintf(line, size, "\"%s \"%s\"\"", command, argument);
    return line;
}

FILE *holo_command_open(const char *line)
{
    wchar_t *wide = holo_wide(line);
    FILE    *pipe = wide ? _wpopen(wide, L"rb") : NULL;
    holo_free(wide);
    return pipe;
}

int holo_command_close(FILE *pipe)
{
    return _pclose(pipe);
}
#endif
