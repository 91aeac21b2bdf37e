// hub_fetch.c - fetches files: parts that came before are continued, and nothing gets its name before it is checked. See
// hub.h.

#include "hub.h"

#include "base/system.h"
#include "digest.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int64_t file_size(const char *path) // -1: there is none
{
    struct stat info;
    return stat(path, &info) || !S_ISREG(info.st_mode) ? -1 : (int64_t)info.st_size;
}

static const char *address(const Hub *hub, const HubFile *file)
{
    return cli_format("%s/%s/resolve/%s/%s", hub->endpoint, hub->repo, hub->commit, hub_escape(file->name, "/"));
}

// ---- what a file is

// Without quotes and the mark of a weak one. NULL: it cannot be part of a path.
static const char *plain_etag(const char *etag)
{
    if (etag && !strncmp(etag, "W/", 2)) etag += 2;
    if (etag && *etag == '"') etag++;
    size_t size = etag ? strcspn(etag, "\"") : 0;
    if (!size || size > 128 || (etag[size] && etag[size + 1])) return NULL;
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)etag[i]) && !strchr("-_", etag[i])) return NULL;
    return cli_format("%.*s", (int)size, etag);
}

static int64_t number(const char *text) // -1: it is not one
{
    char     *end;
    long long value = -1;
    errno           = 0;
    if (text && isdigit((unsigned char)*text)) value = strtoll(text, &end, 10);
    return value < 0 || errno || *end ? -1 : (int64_t)value;
}

// Asks what the file's contents are known by, and their size.
static int ask_file(const Hub *hub, HubFile *file)
{
    HttpRequest request = {.url = address(hub, file), .is_head = true, .body_max = 1 << 16, .seconds = hub->seconds};
    HttpReply   reply;
    int         result = hub_ask(hub, &request, false, &reply);
    if (result) return result;
    bool is_elsewhere = reply.status >= 301 && reply.status <= 308;
    if (reply.problem || (reply.status != 200 && !is_elsewhere)) return hub_fail(hub, file->name, &reply);
    file->etag   = plain_etag(reply.linked_etag ? reply.linked_etag : reply.etag);
    int64_t size = number(reply.linked_size);
    if (size < 0 && !is_elsewhere) size = number(reply.length);
    if (size < 0) size = file->size;
    if (!file->etag || size < 0)
        return cli_fail("is HF_ENDPOINT right?", "%s: the hub does not say what the file is, or how large", file->name);
    if (reply.commit && strcmp(reply.commit, hub->commit))
        return cli_fail("try again", "%s: the hub answers with another commit, %.40s", file->name, reply.commit);
    file->size = size;
    return CLI_OK;
}

// Do the contents have the checksum that they are known by? Files in Git LFS have the SHA-256 of their bytes, others
// the SHA-1 that git has for them. Of other kinds only the size is known.
static bool is_right(const char *path, const char *etag, int64_t size)
{
    static char buffer[1 << 16];
    Digest      digest;
    char        text[DIGEST_TEXT];
    size_t      digits   = strspn(etag, "0123456789abcdef"), got;
    bool        is_known = !etag[digits] && (digits == 40 || digits == 64);
    if (file_size(path) != size || !is_known) return file_size(path) == size;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    digest_begin(&digest, digits == 64);
    if (digits == 40) {
        const char *head = cli_format("blob %" PRId64, size);
        digest_add(&digest, head, strlen(head) + 1);
    }
    while ((got = fread(buffer, 1, sizeof buffer, file))) digest_add(&digest, buffer, got);
    fclose(file);
    digest_end(&digest, text);
    return !strcmp(text, etag);
}

// ---- getting the bytes

typedef enum Trouble { NO_TROUBLE, CHANGED, TOO_MUCH, WRONG_PART, DISK } Trouble;

typedef struct Download {
    Hub           *hub;
    const HubFile *file;
    HttpRequest   *request;
    const char    *path;
    FILE          *out;
    int64_t        have;
    bool           has_begun;
    Trouble        trouble;
} Download;

// Before the first byte: is it still the same file, and does the answer begin where it was asked to?
static bool begin(Download *d, const HttpReply *reply)
{
    bool        is_own = hub_is_own(d->hub, d->request->url); // other servers have etags of their own
    const char *etag = d->request->linked ? d->request->linked : reply->linked_etag ? reply->linked_etag : reply->etag;
    d->has_begun     = true;
    etag             = is_own || d->request->linked ? plain_etag(etag) : NULL;
    if (etag && strcmp(etag, d->file->etag)) return d->trouble = CHANGED, false;
    if (reply->status == 206) {
        const char *range = reply->range && !strncmp(reply->range, "bytes ", 6) ? reply->range + 6 : "";
        if (strtoll(range, NULL, 10) != d->have || !isdigit((unsigned char)*range))
            return d->trouble = WRONG_PART, false;
        const char *slash = strchr(range, '/');
        if (slash && isdigit((unsigned char)slash[1]) && strtoll(slash + 1, NULL, 10) != d->file->size)
            return d->trouble = CHANGED, false;
        return true;
    }
    if (d->have) { // all of it comes, from the beginning
        fclose(d->out);
        d->out = fopen(d->path, "wb");
    }
    if (!d->out) return d->trouble = DISK, false;
    d->have = 0;
    return true;
}

static bool take(void *context, const HttpReply *reply, const void *data, size_t size)
{
    Download *d = context;
    if (!d->has_begun && !begin(d, reply)) return false;
    if (size > (uint64_t)(d->file->size - d->have)) return d->trouble = TOO_MUCH, false;
    if (fwrite(data, 1, size, d->out) != size) return d->trouble = DISK, false;
    d->have += (int64_t)size;
    double total = (double)(d->hub->total > 0 ? d->hub->total : 1);
    cli_progress(NULL, d->file->name, (double)(d->hub->done + d->have) / total);
    return true;
}

static int fail_with(const Download *d, const char *path, Trouble trouble)
{
    static const char *const words[] = {
        [CHANGED]    = "it changed while it was fetched",
        [TOO_MUCH]   = "more bytes came than were announced",
        [WRONG_PART] = "another part of it came than was asked for",
    };
    if (trouble == DISK) return cli_fail("is the disk full?", "cannot write %s: %s", path, strerror(errno));
    return cli_fail("try again", "%s: %s", d->file->name, words[trouble]);
}

// One request for what is missing.
static int get_part(Hub *hub, const HubFile *file, const char *path, HttpReply *reply, Trouble *out_trouble)
{
    Download    d       = {.hub = hub, .file = file, .path = path, .have = file_size(path)};
    HttpRequest request = {
        .url = address(hub, file), .body_max = 1 << 16, .seconds = hub->seconds, .sink = take, .context = &d};
    if (d.have < 0 || d.have >= file->size) d.have = 0;
    request.from = (uint64_t)d.have;
    d.request    = &request;
    d.out        = fopen(path, d.have ? "ab" : "wb");
    if (!d.out) return fail_with(&d, path, DISK);
    int result = hub_send(hub, &request, true, reply);
    if ((!d.out || fclose(d.out)) && !d.trouble) d.trouble = DISK;
    *out_trouble = d.trouble;
    if (d.trouble == DISK) return fail_with(&d, path, DISK);
    if (d.trouble || reply->status == 416) holo_file_remove(path); // what is there is not of this file
    return result;
}

// Fetches to `path` until all is there and has the right checksum.
static int download(Hub *hub, const HubFile *file, const char *path, Trouble *out_trouble)
{
    HttpReply reply = {0};
    int       wrong = 0;
    for (int attempt = 0;;) {
        int64_t before = file_size(path);
        if (before == file->size && is_right(path, file->etag, file->size)) return CLI_OK;
        if (before >= file->size) holo_file_remove(path);
        if (before == file->size && wrong++)
            return cli_fail("try again later; if it fails again, the file on the hub is damaged",
                            "%s: the checksum is wrong: it should be %.64s", file->name, file->etag);
        int result = get_part(hub, file, path, &reply, out_trouble);
        if (result || *out_trouble) return result;
        bool is_done = !reply.problem && (reply.status == 200 || reply.status == 206);
        if (is_done && file_size(path) == file->size) continue;
        if (file_size(path) > before && before >= 0) attempt = 0;
        if (!is_done && !reply.may_retry && reply.status != 416) return hub_fail(hub, file->name, &reply);
        if (is_done) reply.problem = "fewer bytes came than were announced";
        if (!hub_wait(attempt++, &reply)) return hub_fail(hub, file->name, &reply);
    }
}

// ---- where they go

// A link from the snapshot to the contents; where there are no links, the contents themselves.
static int put_link(const Hub *hub, const HubFile *file, const char *blob, const char *path)
{
    const char *up = "../../";
    for (const char *c = file->name; *c; c++)
        if (*c == '/') up = cli_format("../%s", up);
    if (!hub_make_parents(path))
        return cli_fail("set HF_HUB_CACHE to another folder", "cannot write to %s: %s", hub->folder, strerror(errno));
    if (holo_path_exists(path)) return CLI_OK;
    holo_file_remove(path); // a link to nothing
    if (holo_file_link(cli_format("%sblobs/%s", up, file->etag), path) || holo_file_move(blob, path)) return CLI_OK;
    return cli_fail(NULL, "cannot write %s: %s", path, strerror(errno));
}

typedef struct Places {
    const char *final, *lock, *incomplete, *link;
} Places;

static Places places_of(const Hub *hub, const HubFile *file)
{
    const char *path = cli_format("%s/%s", hub_place(hub), file->name), *blob;
    if (hub->output) {
        blob = cli_format("%s.%.16s", path, file->etag);
        return (Places){path, cli_format("%s.lock", blob), cli_format("%s.incomplete", blob), NULL};
    }
    blob = cli_format("%s/blobs/%s", hub->folder, file->etag);
    return (Places){blob, cli_format("%s/.locks/%s/%s.lock", hub->cache, holo_path_name(hub->folder), file->etag),
                    cli_format("%s.incomplete", blob), path};
}

// With the lock: another process may have fetched it meanwhile.
static int fetch_locked(Hub *hub, HubFile *file, const Places *at, Trouble *out_trouble)
{
    *out_trouble  = NO_TROUBLE;
    bool is_there = at->link ? file_size(at->final) == file->size : is_right(at->final, file->etag, file->size);
    if (!is_there) {
        int result = download(hub, file, at->incomplete, out_trouble);
        if (result || *out_trouble) return result;
        if (!holo_file_move(at->incomplete, at->final))
            return cli_fail(NULL, "cannot write %s: %s", at->final, strerror(errno));
        file->is_new = true;
    }
    return at->link ? put_link(hub, file, at->final, at->link) : CLI_OK;
}

static int fetch_once(Hub *hub, HubFile *file, Trouble *out_trouble)
{
    int result = ask_file(hub, file);
    if (result) return result;
    Places at = places_of(hub, file);
    if (!hub_make_parents(at.final) || !hub_make_parents(at.lock))
        return cli_fail("set HF_HUB_CACHE to another folder, or give --output DIR", "cannot make the folder of %s: %s",
                        at.final, strerror(errno));
    int lock = holo_file_lock(at.lock);
    if (lock < 0) return cli_fail(NULL, "cannot lock %s: %s", at.lock, strerror(errno));
    result = fetch_locked(hub, file, &at, out_trouble);
    if (hub->output) holo_file_remove(at.lock);
    holo_file_unlock(lock);
    return result;
}

static int fetch_file(Hub *hub, HubFile *file)
{
    enum { CHANGES = 3 };
    const char *path  = cli_format("%s/%s", hub_place(hub), file->name);
    int64_t     there = hub->output ? -1 : file_size(path), before = file->size;
    Trouble     trouble = NO_TROUBLE;
    if (there >= 0 && (before < 0 || there == before)) { // a commit does not change
        file->size = there;
        return CLI_OK;
    }
    for (int i = 0; i < CHANGES; i++) {
        int result = fetch_once(hub, file, &trouble);
        if (result) return result;
        if (!trouble) break;
        if (trouble == TOO_MUCH) break;
    }
    if (before < 0) hub->total += file->size;
    return trouble ? fail_with(&(Download){.file = file}, path, trouble) : CLI_OK;
}

int hub_fetch(Hub *hub)
{
    for (int i = 0; i < hub->count; i++) {
        HubFile *file = &hub->file[i];
        if (!file->is_chosen || hub->is_offline) continue;
        int result = fetch_file(hub, file);
        cli_progress_end();
        if (result) return result;
        hub->done += file->size;
    }
    return CLI_OK;
}

int hub_arguments(Cli *cli)
{
    static const char *const none[] = {NULL};
    Hub                      hub;
    cli->typed = cli_grow(cli->args, (size_t)cli->arg_count, (size_t)cli->arg_count + 1, sizeof *cli->args);
    for (int i = 0; i < cli->arg_count; i++) {
        if (strncmp(cli->args[i], "hf:", 3)) continue;
        int result = hub_open(&hub, cli->args[i]);
        if (!result) result = hub_list(&hub);
        if (!result && !hub.is_offline) result = hub_choose(&hub, none, none);
        if (!result) result = hub_fetch(&hub);
        if (result) return result;
        cli->args[i] = hub_place(&hub);
    }
    return CLI_OK;
}
