// system.h - what programs need of a system besides files: folders, temporary places, commands, processes. The one room's
// header, with files.h, that cli/ sees.
#ifndef HOLO_BASE_SYSTEM_H
#define HOLO_BASE_SYSTEM_H

#include "base/files.h"

#include <stdio.h>

// ---- the program itself

// To be called first by a program: names and texts are UTF-8 from then on, and streams are bytes.
void     holo_program_begin(int *argc, char ***argv);
long     holo_process_id(void);
char   **holo_environment(void);  // "NAME=value" and so on, up to a NULL
uint64_t holo_memory_peak(void);  // the most bytes that were resident; 0: not known
bool     holo_memory_leaks(void); // tells on stderr of memory that nothing refers to, in builds that watch it

// ---- folders

typedef struct HoloFolder {
    int    count, room;
    char **name; // all but "." and "..", by their bytes
} HoloFolder;
HoloStatus holo_folder_list(const char *path, HoloFolder *out, HoloError *error); // where it fails, none are listed
void       holo_folder_free(HoloFolder *folder);
bool       holo_folder_make(const char *path, bool is_private); // false: errno says why
void       holo_folder_remove(const char *path);                // an empty one

bool holo_path_same(const char *a, const char *b); // two names of one plain file
int  holo_file_open(const char *path);             // for reading, without waiting for anybody; -1: errno says why
bool holo_file_remove(const char *path);

// ---- temporary places, in the folder that the system or TMPDIR has for them

// A path of this process: FOLDER/name-PID.holo. Nothing is made.
void holo_temporary_path(const char *name, char *out, size_t room);
// New ones, with names of their own; `out` has the name that was tried when they fail: errno says why.
int  holo_temporary_file(char *out, size_t room);   // opened for reading and writing, or -1
int  holo_temporary_stream(char *out, size_t room); // the same, and it is gone when it is closed
bool holo_temporary_folder(char *out, size_t room); // for this user alone

// ---- commands and processes

// Has the system's shell run `command` with one argument behind it, and writes the end of what it prints. Returns its exit
// status; -1: it could not be run.
int holo_command_run(const char *command, const char *argument, char *out, size_t room);

typedef enum HoloEnd { HOLO_END_RETURNED, HOLO_END_EXITED, HOLO_END_CRASHED, HOLO_END_LATE } HoloEnd;

typedef struct HoloEnded { // what became of a piece of work
    HoloEnd how;
    int     code; // the status of HOLO_END_EXITED, the signal of HOLO_END_CRASHED
    double  seconds;
} HoloEnded;

// Pieces of work, each in a copy of this process, some at once. Where a system cannot copy a process, they are done in
// this one, one after the other and without a time limit.
typedef struct HoloWork {
    int    count, at_once;
    double seconds;                                                             // that a piece may take
    size_t result_size;                                                         // of plain bytes
    void (*work)(void *context, int index, void *result);                       // in the copy; result: zeros
    void (*done)(void *context, int index, void *result, const HoloEnded *end); // here, as they end
    void *context;
} HoloWork;
bool        holo_work_run(const HoloWork *work); // false: there was no process for the next piece; errno says why
const char *holo_crash_name(int code);           // of HOLO_END_CRASHED

#endif
