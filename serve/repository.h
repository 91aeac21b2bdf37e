// repository.h - the models that are there: files, and folders that are watched.
//
// A thread of its own looks for models, compiles and opens them. A replaced model takes the place of the old one in one
// step; requests that hold the old one finish with it. A file that cannot be opened changes nothing but what is said of it.
#ifndef HOLO_SERVE_REPOSITORY_H
#define HOLO_SERVE_REPOSITORY_H

#include "model.h"

// Models are opened after it returns. NULL: a path is not there, and `why` says so.
Repository *repository_create(Server *server, char *why, size_t room);
void        repository_destroy(Repository *r);

// The model of that name, held; `version` NULL: the latest. NULL: there is none, and *out_status and `why` say why.
Model *repository_take(Repository *r, const char *name, const char *version, int *out_status, char *why, size_t room);
// The only model that can do something (`can` says so), or NULL: none can, or several can.
Model *repository_only(Repository *r, bool (*can)(const Model *m));

typedef struct Listed {                   // a version of a model, for those who list them
    const char  *name, *version, *reason; // reason: why it, or its newer file, cannot be opened; "": nothing is wrong
    const Model *model;                   // NULL: it is not there
    bool         is_unloaded, is_loading;
} Listed;
// Calls `each` for all versions, sorted by name. The repository is locked meanwhile.
void repository_list(Repository *r, void (*each)(void *state, const Listed *listed), void *state);
bool repository_is_ready(Repository *r); // it has looked at everything, and nothing is being opened for the first time
void repository_metrics(Repository *r, Bytes *out);

// Asks for a model to be opened anew, or closed. `done` is called on the network's thread: with "" or with what went wrong.
void repository_change(Repository *r, const char *name, bool load, void (*done)(void *state, const char *why),
                       void *state);
void repository_look(Repository *r); // looks at the folders again soon

#endif
