// hub.h - models on HuggingFace's hub: lists them and downloads files into the cache that the Python library also uses.
//
// All answers of the hub are checked: names of files stay inside the folder, sizes are as announced, and contents have
// the right checksum. The token goes only to the hub, never to a server that it redirects to.
#ifndef HOLO_CLI_HUB_H
#define HOLO_CLI_HUB_H

#include "cli.h"
#include "http.h"

typedef struct HubFile {
    const char *name;              // "onnx/model.onnx"
    int64_t     size;              // -1: not known yet
    bool        is_chosen, is_new; // new: it came from the hub now
    const char *etag;              // by which its contents are known; NULL: not asked yet
} HubFile;

typedef struct Hub {
    const char *endpoint, *token; // token: NULL if there is none
    const char *repo, *revision;  // "owner/name", "main"
    const char *cache, *folder;   // of all models; of this one
    const char *output;           // where the files are to be; NULL: in the cache
    const char *commit;           // 40 digits
    double      seconds;          // of silence until a transfer fails
    bool        is_offline;
    HubFile    *file;
    int         count;
    int64_t     total, done; // bytes of the chosen files
} Hub;

// Reads "OWNER/NAME@REVISION", with or without "hf:", and the environment. Sends nothing.
int hub_open(Hub *hub, const char *name);
// Asks for the commit and the names of its files; offline, or where nothing answers, the cache is asked.
int hub_list(Hub *hub);
// Chooses the files that a compile needs; or with `include`, those that match one of its patterns. Lists end with NULL.
int hub_choose(Hub *hub, const char *const *include, const char *const *exclude);
// Fetches what is chosen and not there yet.
int hub_fetch(Hub *hub);
// The folder that has the files.
const char *hub_place(const Hub *hub);
// All of this for the arguments of a command that are hf:NAME, which become folders.
int hub_arguments(Cli *cli);

// ---- between the files of hub.h

bool        hub_is_commit(const char *text);    // 40 hexadecimal digits
bool        hub_is_safe_path(const char *path); // one that stays below its folder, with ordinary characters
bool        hub_matches(const char *pattern, const char *text);
const char *hub_escape(const char *path, const char *kept);     // for a URL; `kept`: characters that stay
bool        hub_make_parents(const char *path);                 // the folders that a file is in
bool        hub_write_text(const char *path, const char *text); // at once, under its final name
bool        hub_is_own(const Hub *hub, const char *url);        // an address of the hub itself
// Sends a request to an address of the hub. Redirects are followed if `follows`; the token goes to the hub alone.
int hub_send(const Hub *hub, HttpRequest *request, bool follows, HttpReply *out);
// The same again and again, with pauses, while the answer may be another the next time.
int hub_ask(const Hub *hub, HttpRequest *request, bool follows, HttpReply *out);
// Waits before the next attempt, longer each time. False: there were enough.
bool hub_wait(int attempt, const HttpReply *reply);
// Says what is wrong with an answer that is not the one that was wanted.
int hub_fail(const Hub *hub, const char *what, const HttpReply *reply);

#endif
