// system.h - what programs need from a system besides files: folders, temporary files, commands, processes. This,
// files.h and library.h are the only headers of src/ that cli/ uses.
#ifndef HOLO_BASE_SYSTEM_H
#define HOLO_BASE_SYSTEM_H

#include "base/files.h"
#include "base/library.h"

#include <stdio.h>
#include <time.h>

void holo_local_time(struct tm *out); // now, where this machine is

// ---- the program itself

// A program must call this first. From then on names and texts are UTF-8, and streams are bytes.
void holo_program_begin(int *argc, char ***argv);
long holo_process_id(void);
// Goes on as another program, which lies beside this one or in PATH. Returns only if that fails: errno says why.
void     holo_program_replace(const char *name, char **words);
char   **holo_environment(void); // "NAME=value" and so on, up to a NULL
void     holo_time_wait(double seconds);
uint64_t holo_memory_peak(void);  // the most bytes that were resident; 0: not known
bool     holo_memory_leaks(void); // in builds that watch memory: reports memory that nothing refers to on stderr

// ---- folders

typedef struct HoloFolder {
    int    count, room;
    char **name; // all but "." and "..", sorted by their bytes
} HoloFolder;
HoloStatus holo_folder_list(const char *path, HoloFolder *out, HoloError *error); // after a failure the list is empty
void       holo_folder_free(HoloFolder *folder);
bool       holo_folder_make(const char *path, bool is_private); // false: errno says why
void       holo_folder_remove(const char *path);                // it must be empty

bool holo_path_same(const char *a, const char *b); // do two names refer to one plain file?
int  holo_file_open(const char *path);             // for reading, without blocking; -1: errno says why
// For writing, as an empty file. Fails at once for a pipe that nobody reads. -1: errno says why.
int holo_file_create(const char *path);
// A stream that writes from the begin of the writer's file on. Close it before the writer. NULL: errno says why.
FILE *holo_file_writer_stream(const HoloFileWriter *writer);
bool  holo_file_remove(const char *path);
bool  holo_file_move(const char *from, const char *to);     // replaces a file that is there; false: errno says why
bool  holo_file_link(const char *target, const char *path); // a symbolic link; false: the system may have none
// Waits until no other process has the lock, which is a file that is made if it is missing. Returns a handle; -1: errno
// says why.
int  holo_file_lock(const char *path);
void holo_file_unlock(int lock);

// ---- temporary files, in the folder that the system or TMPDIR names

// A path for this process: FOLDER/name-PID.holo. Nothing is created.
void holo_temporary_path(const char *name, char *out, size_t room);
// These create something with a new name. After a failure `out` has the name that was tried, and errno says why.
int  holo_temporary_file(char *out, size_t room);   // open for reading and writing; -1: failed
int  holo_temporary_stream(char *out, size_t room); // the same, and it disappears when it is closed
bool holo_temporary_folder(char *out, size_t room); // only for this user

// ---- commands and processes

// Lets the system's shell run `command` with one argument. Writes the end of its output to `out`. Returns its exit
// status; -1: it could not be run.
int holo_command_run(const char *command, const char *argument, char *out, size_t room);

typedef enum HoloEnd { HOLO_END_RETURNED, HOLO_END_EXITED, HOLO_END_CRASHED, HOLO_END_LATE } HoloEnd;

typedef struct HoloEnded { // how a piece of work ended
    HoloEnd how;
    int     code; // exit status of HOLO_END_EXITED, signal of HOLO_END_CRASHED
    double  seconds;
} HoloEnded;

// Pieces of work, each in a copy of this process, several at once. If a system cannot copy a process, they run in this
// one, one after the other and without a time limit.
typedef struct HoloWork {
    int    count, at_once;
    double seconds;                                                             // time limit of a piece
    size_t result_size;                                                         // of plain bytes
    void (*work)(void *context, int index, void *result);                       // runs in the copy; zeros at first
    void (*done)(void *context, int index, void *result, const HoloEnded *end); // runs here, when a piece ends
    void *context;
} HoloWork;
bool        holo_work_run(const HoloWork *work); // false: the next process could not start; errno says why
const char *holo_crash_name(int code);           // of HOLO_END_CRASHED

#endif
