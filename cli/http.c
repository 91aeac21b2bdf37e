// http.c - requests by libcurl. It is opened by name, so that the program starts, and does all the rest, without it.

#include "http.h"

#include "base/system.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PACKAGE "libcurl4"

#if __has_include(<curl/curl.h>)
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

typedef struct Curl {
    CURLcode (*global_init)(long flags);
    CURL *(*init)(void);
    void (*reset)(CURL *);
    CURLcode (*set)(CURL *, CURLoption, ...);
    CURLcode (*perform)(CURL *);
    struct curl_slist *(*append)(struct curl_slist *, const char *);
    void (*free_list)(struct curl_slist *);
    const char *(*text)(CURLcode);
} Curl;

static const char *const functions[] = {"curl_global_init",    "curl_easy_init",    "curl_easy_reset",
                                        "curl_easy_setopt",    "curl_easy_perform", "curl_slist_append",
                                        "curl_slist_free_all", "curl_easy_strerror"};

static const char *const files[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib", "libcurl-x64.dll",
                                    "libcurl.dll"};

// It stays open until the program ends, with its connections.
static struct {
    Curl  api;
    CURL *handle;
} curl;

static int begin(void)
{
    void *library = NULL;
    if (curl.handle) return CLI_OK;
    for (int i = 0; i < CLI_COUNT(files) && !library; i++)
        library = holo_library_open(&(HoloLibrary){files[i], PACKAGE, functions, CLI_COUNT(functions)}, &curl.api);
    if (!library)
        return cli_fail("install " PACKAGE ", for example: apt install " PACKAGE,
                        "fetching a model needs libcurl (%s), which is not installed", files[0]);
    curl.api.global_init(CURL_GLOBAL_DEFAULT);
    curl.handle = curl.api.init();
    return curl.handle ? CLI_OK : cli_fail(NULL, "libcurl could not start");
}

// ---- what comes

typedef struct Transfer {
    const HttpRequest *request;
    HttpReply         *reply;
    bool               is_over; // the body is larger than it may be
} Transfer;

static const struct {
    const char *name;
    size_t      at;
} headers[] = {
    {"location", offsetof(HttpReply, location)},         {"etag", offsetof(HttpReply, etag)},
    {"x-linked-etag", offsetof(HttpReply, linked_etag)}, {"x-linked-size", offsetof(HttpReply, linked_size)},
    {"content-length", offsetof(HttpReply, length)},     {"content-range", offsetof(HttpReply, range)},
    {"x-repo-commit", offsetof(HttpReply, commit)},      {"x-error-code", offsetof(HttpReply, error_code)},
    {"retry-after", offsetof(HttpReply, retry_after)},
};

static size_t take_header(char *data, size_t one, size_t count, void *context)
{
    HttpReply *reply = ((Transfer *)context)->reply;
    size_t     size = one * count, name = 0;
    if (size > 5 && !memcmp(data, "HTTP/", 5)) { // of the next answer: that of a proxy came before
        char *line = cli_format("%.*s", (int)size, data), *space = strchr(line, ' ');
        *reply = (HttpReply){.status = space ? atoi(space) : 0};
        return size;
    }
    while (name < size && data[name] != ':') name++;
    for (int i = 0; i < CLI_COUNT(headers) && name < size; i++) {
        if (strlen(headers[i].name) != name || strncasecmp(data, headers[i].name, name)) continue;
        const char *begin = data + name + 1, *end = data + size;
        while (begin < end && (*begin == ' ' || *begin == '\t')) begin++;
        while (end > begin && (unsigned char)end[-1] <= ' ') end--;
        *(const char **)((char *)reply + headers[i].at) = cli_format("%.*s", (int)(end - begin), begin);
    }
    return size;
}

static size_t take_body(char *data, size_t one, size_t count, void *context)
{
    Transfer  *t     = context;
    HttpReply *reply = t->reply;
    size_t     size  = one * count;
    if (t->request->sink && (reply->status == 200 || reply->status == 206))
        return t->request->sink(t->request->context, reply, data, size) ? size : 0;
    if (size > t->request->body_max - reply->size) { // what a page of an error says is not needed
        t->is_over = reply->status < 300;
        return t->is_over ? 0 : size;
    }
    if (size >= reply->room - reply->size) {
        reply->room = 2 * (reply->size + size) + 1;
        reply->body = cli_grow(reply->body, reply->size, reply->room, 1);
    }
    memcpy(reply->body + reply->size, data, size);
    reply->size += size;
    reply->body[reply->size] = 0;
    return size;
}

// ---- sending

static bool is_passing(CURLcode code, int status)
{
    static const CURLcode codes[]  = {CURLE_COULDNT_RESOLVE_HOST,
                                      CURLE_COULDNT_RESOLVE_PROXY,
                                      CURLE_COULDNT_CONNECT,
                                      CURLE_OPERATION_TIMEDOUT,
                                      CURLE_PARTIAL_FILE,
                                      CURLE_GOT_NOTHING,
                                      CURLE_SEND_ERROR,
                                      CURLE_RECV_ERROR,
                                      CURLE_HTTP2,
                                      CURLE_HTTP2_STREAM,
                                      CURLE_SSL_CONNECT_ERROR};
    static const int      states[] = {408, 429, 500, 502, 503, 504};
    for (int i = 0; i < CLI_COUNT(codes); i++)
        if (code == codes[i]) return true;
    for (int i = 0; i < CLI_COUNT(states) && code == CURLE_OK; i++)
        if (status == states[i]) return true;
    return false;
}

int http_send(const HttpRequest *request, HttpReply *out)
{
    Transfer           t    = {request, out, false};
    struct curl_slist *list = NULL;
    *out                    = (HttpReply){0};
    if (begin()) return CLI_FAILED;
    list = curl.api.append(list, "Accept-Encoding: identity");
    if (request->token) list = curl.api.append(list, cli_format("Authorization: Bearer %s", request->token));
    if (request->from)
        list = curl.api.append(list, cli_format("Range: bytes=%llu-", (unsigned long long)request->from));
    curl.api.reset(curl.handle);
    curl.api.set(curl.handle, CURLOPT_URL, request->url);
    curl.api.set(curl.handle, CURLOPT_HTTPHEADER, list);
    curl.api.set(curl.handle, CURLOPT_USERAGENT, cli_format("hologram/%s", holo_version()));
    curl.api.set(curl.handle, CURLOPT_NOSIGNAL, 1L);
    curl.api.set(curl.handle, CURLOPT_NOBODY, request->is_head ? 1L : 0L);
    curl.api.set(curl.handle, CURLOPT_CONNECTTIMEOUT, 10L);
    curl.api.set(curl.handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl.api.set(curl.handle, CURLOPT_LOW_SPEED_TIME, (long)request->seconds);
    curl.api.set(curl.handle, CURLOPT_HEADERFUNCTION, take_header);
    curl.api.set(curl.handle, CURLOPT_HEADERDATA, &t);
    curl.api.set(curl.handle, CURLOPT_WRITEFUNCTION, take_body);
    curl.api.set(curl.handle, CURLOPT_WRITEDATA, &t);
    CURLcode code = curl.api.perform(curl.handle);
    curl.api.free_list(list);
    if (code) out->problem = t.is_over ? "the answer is too large" : curl.api.text(code);
    out->may_retry = is_passing(code, out->status);
    return CLI_OK;
}

#else

int http_send(const HttpRequest *request, HttpReply *out)
{
    (void)request;
    *out = (HttpReply){0};
    return cli_fail("build it where libcurl4-openssl-dev is installed",
                    "this program was built without the header of libcurl, and cannot fetch models");
}

#endif
