// scan.h - finds models in files and folders. It opens none of them.
#ifndef HOLO_SERVE_SCAN_H
#define HOLO_SERVE_SCAN_H

#include "bytes.h"

typedef struct Found {
    char    *name, *version, *path;
    uint64_t signature; // of the file's identity, size and times
    bool     is_archive;
} Found;

typedef struct Scan { // zero-initialize
    Found *found;     // sorted by name and version
    int    count, room;
    char **folder; // that are worth watching
    int    folder_count, folder_room;
} Scan;

// Adds what is at `path`: a model, or a folder of models. False: it is neither, or cannot be read, and `why` says so.
bool scan_path(Scan *s, const char *path, char *why, size_t room);
bool scan_is_model(const char *path); // by its content
// And leaves one of several files of one name: the archive. The others are shown to `left_out`, which may be NULL.
void scan_sort(Scan *s, void (*left_out)(const Found *taken, const Found *other));
void scan_free(Scan *s);

#endif
