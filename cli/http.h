// http.h - requests to web servers, by libcurl, which is loaded when the first is sent: only `pull` and hf: need it.
#ifndef HOLO_CLI_HTTP_H
#define HOLO_CLI_HTTP_H

#include "cli.h"

typedef struct HttpReply {
    int         status;    // 200 ...; 0: no answer came
    const char *problem;   // why the transfer failed; NULL: it did not
    bool        may_retry; // it may work later
    // Headers; NULL: not there.
    const char *location, *etag, *linked_etag, *linked_size, *length, *range, *commit, *error_code, *retry_after;
    char       *body; // of a request without `sink`, or that failed: ends with a 0
    size_t      size, room;
} HttpReply;

typedef struct HttpRequest {
    const char *url;
    const char *token;    // NULL: none is sent
    const char *linked;   // the linked etag of a redirect that led here; NULL: there was none
    bool        is_head;  // headers alone
    uint64_t    from;     // the first byte that is wanted
    size_t      body_max; // of a body that is kept
    double      seconds;  // without a byte, after which it fails
    // Gets the bytes of an answer 200 or 206. False: the transfer is to end. NULL: the body is kept.
    bool (*sink)(void *context, const HttpReply *reply, const void *data, size_t size);
    void *context;
} HttpRequest;

// Sends one request; redirects are not followed. Returns CLI_FAILED, after a message, only if there is no libcurl.
int http_send(const HttpRequest *request, HttpReply *out);

#endif
