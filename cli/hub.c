// hub.c - names of models, the environment, the cache's places, and requests to the hub. See hub.h.

#include "hub.h"

#include "base/system.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- names

bool hub_is_commit(const char *text)
{
    return strlen(text) == 40 && strspn(text, "0123456789abcdef") == 40;
}

// One part of a path: not empty, not "." or "..", no character that a system or a shell takes for something else.
static bool is_safe_part(const char *part, size_t size)
{
    if (!size || size > 200 || !strncmp(part, "..", size) || part[size - 1] == '.' || part[size - 1] == ' ')
        return false;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)part[i] < ' ' || (unsigned char)part[i] > '~' || strchr("\\:*?\"<>|", part[i])) return false;
    return true;
}

bool hub_is_safe_path(const char *path)
{
    if (strlen(path) > 800) return false;
    for (;;) {
        size_t size = strcspn(path, "/");
        if (!is_safe_part(path, size)) return false;
        if (!path[size]) return true;
        path += size + 1;
    }
}

// Letters, digits, and . _ - between them.
static bool is_plain(const char *text, size_t size, const char *more)
{
    if (!size || size > 96 || !isalnum((unsigned char)text[0])) return false;
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]) && !strchr(more, text[i])) return false;
    return true;
}

bool hub_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *back = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            back = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++, text++;
        } else if (star) { // the star takes one more
            pattern = star + 1;
            text    = ++back;
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "*")];
}

const char *hub_escape(const char *path, const char *kept)
{
    char *out = cli_take(3 * strlen(path) + 1, 1), *to = out;
    for (; *path; path++)
        if (isalnum((unsigned char)*path) || strchr("-._~", *path) || strchr(kept, *path))
            *to++ = *path;
        else
            to += snprintf(to, 4, "%%%02X", (unsigned char)*path);
    return out;
}

// ---- the environment

static const char *variable(const char *name) // NULL: it is not set, or empty
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool is_on(const char *name)
{
    const char *value = variable(name);
    return value && (!strcasecmp(value, "1") || !strcasecmp(value, "true") || !strcasecmp(value, "yes") ||
                     !strcasecmp(value, "on"));
}

static const char *home_folder(void)
{
    const char *own = variable("HF_HOME"), *cache = variable("XDG_CACHE_HOME"), *home = variable("HOME");
    if (own) return own;
    if (!home) home = variable("USERPROFILE");
    return cache ? cli_format("%s/huggingface", cache) : cli_format("%s/.cache/huggingface", home ? home : ".");
}

// From the environment, or from the file that `hf auth login` writes; NULL: there is none.
static const char *find_token(void)
{
    const char *token = variable("HF_TOKEN"), *why, *path = variable("HF_TOKEN_PATH");
    if (!token) token = variable("HUGGING_FACE_HUB_TOKEN");
    if (!token && !path) path = cli_format("%s/token", home_folder());
    if (!token && holo_path_exists(path)) token = cli_read_text(path, &why);
    if (!token) return NULL;
    token             = token + strspn(token, " \t\r\n");
    const char *found = cli_format("%.*s", (int)strcspn(token, " \t\r\n"), token);
    for (const char *c = found; *c; c++)
        if ((unsigned char)*c < '!' || (unsigned char)*c > '~') return NULL;
    return *found ? found : NULL;
}

static int read_environment(Hub *hub)
{
    const char *endpoint = variable("HF_ENDPOINT"), *cache = variable("HF_HUB_CACHE");
    const char *seconds = variable("HF_HUB_DOWNLOAD_TIMEOUT");
    if (!cache) cache = variable("HUGGINGFACE_HUB_CACHE");
    if (!endpoint) endpoint = "https://huggingface.co";
    size_t size = strlen(endpoint);
    while (size && endpoint[size - 1] == '/') size--;
    hub->endpoint = cli_format("%.*s", (int)size, endpoint);
    if (strncmp(endpoint, "https://", 8) && strncmp(endpoint, "http://", 7))
        return cli_fail(NULL, "HF_ENDPOINT is '%s', which does not begin with https:// or http://", endpoint);
    hub->cache      = cache ? cache : cli_format("%s/hub", home_folder());
    hub->token      = find_token();
    hub->is_offline = is_on("HF_HUB_OFFLINE");
    hub->seconds    = seconds ? atof(seconds) : 0;
    if (!(hub->seconds >= 1 && hub->seconds <= 3600)) hub->seconds = 30;
    return CLI_OK;
}

int hub_open(Hub *hub, const char *name)
{
    *hub = (Hub){0};
    if (!strncmp(name, "hf:", 3)) name += 3;
    const char *at = strchr(name, '@'), *slash = strchr(name, '/');
    size_t      size = at ? (size_t)(at - name) : strlen(name), owner = slash ? (size_t)(slash - name) : 0;
    hub->repo      = cli_format("%.*s", (int)size, name);
    hub->revision  = at ? at + 1 : "main";
    bool has_owner = slash && owner < size;
    bool is_right =
        has_owner ? is_plain(name, owner, "") && is_plain(slash + 1, size - owner - 1, "") : is_plain(name, size, "");
    if (!is_right || strstr(hub->repo, "..") || strstr(hub->repo, "--"))
        return cli_fail("for example: bert-base-uncased, or owner/name@main",
                        "'%s' is not the name of a model on the hub: expected OWNER/NAME", hub->repo);
    if (!is_plain(hub->revision, strlen(hub->revision), "/") || !hub_is_safe_path(hub->revision))
        return cli_fail("give a branch, a tag or a commit", "'%s' is not the name of a revision", hub->revision);
    int result = read_environment(hub);
    if (result) return result;
    hub->folder = has_owner ? cli_format("%s/models--%.*s--%s", hub->cache, (int)owner, name, hub->repo + owner + 1)
                            : cli_format("%s/models--%s", hub->cache, hub->repo);
    return CLI_OK;
}

const char *hub_place(const Hub *hub)
{
    return hub->output ? hub->output : cli_format("%s/snapshots/%s", hub->folder, hub->commit);
}

bool hub_make_parents(const char *path)
{
    for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
        const char *part = cli_format("%.*s", (int)(slash - path), path);
        if (!holo_path_is_folder(part) && !holo_folder_make(part, false) && errno != EEXIST) return false;
    }
    return true;
}

bool hub_write_text(const char *path, const char *text)
{
    const char *temporary = cli_format("%s.%ld.incomplete", path, holo_process_id());
    FILE       *file      = hub_make_parents(path) ? fopen(temporary, "wb") : NULL;
    if (!file) return false;
    bool is_written = fwrite(text, 1, strlen(text), file) == strlen(text);
    is_written      = !fclose(file) && is_written && holo_file_move(temporary, path);
    if (!is_written) holo_file_remove(temporary);
    return is_written;
}

// ---- requests

// The length of "https://host:port" at the beginning of a URL; 0: it is no URL of the web.
static size_t origin_size(const char *url)
{
    size_t scheme = !strncasecmp(url, "https://", 8) ? 8 : !strncasecmp(url, "http://", 7) ? 7 : 0;
    size_t host   = scheme ? strcspn(url + scheme, "/?#\\") : 0;
    return host && !memchr(url + scheme, '@', host) ? scheme + host : 0;
}

static bool same_origin(const char *a, const char *b)
{
    size_t size = origin_size(a);
    return size && size == origin_size(b) && !strncasecmp(a, b, size);
}

// Where a redirect leads; NULL: nowhere that may be followed.
static const char *redirected(const char *url, const char *to)
{
    const char *next = to;
    if (to[0] == '/' && to[1] == '/')
        next = cli_format("%.*s%s", (int)strcspn(url, "/"), url, to);
    else if (to[0] == '/')
        next = cli_format("%.*s%s", (int)origin_size(url), url, to);
    bool is_worse = !strncasecmp(url, "https:", 6) && strncasecmp(next, "https:", 6); // no way back from encryption
    return origin_size(next) && !is_worse ? next : NULL;
}

bool hub_is_own(const Hub *hub, const char *url)
{
    return same_origin(url, hub->endpoint);
}

int hub_send(const Hub *hub, HttpRequest *request, bool follows, HttpReply *out)
{
    enum { HOPS = 8 };
    for (int hop = 0; hop < HOPS; hop++) {
        request->token = hub_is_own(hub, request->url) ? hub->token : NULL;
        int  result    = http_send(request, out);
        bool moved     = !result && out->status >= 301 && out->status <= 308 && out->status != 304 && out->location;
        if (!moved || out->problem) return result;
        const char *next = redirected(request->url, out->location);
        // Of a file elsewhere, the headers of the hub itself say what it is.
        if (!follows && (!next || out->linked_etag || !hub_is_own(hub, next))) return CLI_OK;
        if (!next) {
            out->problem = "it redirects to an address that cannot be followed";
            return CLI_OK;
        }
        if (out->linked_etag) request->linked = out->linked_etag;
        request->url = next;
    }
    out->problem = "it redirects again and again";
    return CLI_OK;
}

bool hub_wait(int attempt, const HttpReply *reply)
{
    enum { ATTEMPTS = 5 };
    double seconds = 0.25 * (double)(1 << attempt), asked = reply->retry_after ? atof(reply->retry_after) : 0;
    if (attempt + 1 >= ATTEMPTS) return false;
    if (asked > seconds && asked <= 60) seconds = asked;
    holo_time_wait(seconds);
    return true;
}

int hub_ask(const Hub *hub, HttpRequest *request, bool follows, HttpReply *out)
{
    const char *url = request->url;
    for (int attempt = 0;; attempt++) {
        request->url = url;
        int result   = hub_send(hub, request, follows, out);
        if (result || !out->may_retry || !hub_wait(attempt, out)) return result;
    }
}

int hub_fail(const Hub *hub, const char *what, const HttpReply *reply)
{
    static const struct {
        const char *code;
        int         status;
        const char *words, *next;
    } rows[] = {
        {"GatedRepo", 0, "the model is gated: its owner asks you to accept conditions",
         "accept them at %s/%s, and set HF_TOKEN to a token of your account"},
        {"RepoNotFound", 0, "the hub has no such model, or it is private",
         "check the name at %s/%s; for a private model set HF_TOKEN"},
        {"RevisionNotFound", 0, "the model has no such revision", "its branches and tags are at %s/%s/tree/main"},
        {"EntryNotFound", 0, "the model has no such file", "its files are at %s/%s/tree/main"},
        {NULL, 401, "the hub does not let you see it",
         "check the name at %s/%s; for a private or gated model set HF_TOKEN"},
        {NULL, 403, "the hub does not let you have it",
         "accept its conditions at %s/%s, and set HF_TOKEN to a token of your account"},
        {NULL, 404, "the hub has no such model, revision or file", "check the name at %s/%s"},
        {NULL, 429, "the hub says that these are too many requests",
         "wait a while; with a token in HF_TOKEN it allows more (%s/%s)"},
    };
    for (int i = 0; i < CLI_COUNT(rows) && !reply->problem; i++) {
        bool fits = rows[i].code ? reply->error_code && !strcmp(reply->error_code, rows[i].code)
                                 : reply->status == rows[i].status;
        if (!fits) continue;
        cli_fail(NULL, "%s: %s (HTTP %d)", what, rows[i].words, reply->status);
        const char *part = strstr(rows[i].next, "%s/%s");
        cli_advice(
            cli_format("%.*s%s/%s%s", (int)(part - rows[i].next), rows[i].next, hub->endpoint, hub->repo, part + 5));
        return CLI_FAILED;
    }
    if (reply->problem)
        return cli_fail("check the connection; what is in the cache can be used with HF_HUB_OFFLINE=1", "%s: %s", what,
                        reply->problem);
    return cli_fail("try again later", "%s: the hub answers with HTTP %d", what, reply->status);
}
