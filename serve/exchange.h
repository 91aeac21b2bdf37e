// exchange.h - one request and its answer, whichever version of HTTP carries them.
//
// All of it happens on the network's thread. Who answers later holds the exchange until then. If the client goes away
// first, `gone` is called, and what is written after that goes nowhere.
#ifndef HOLO_SERVE_EXCHANGE_H
#define HOLO_SERVE_EXCHANGE_H

#include "bytes.h"

typedef struct Server   Server;
typedef struct Exchange Exchange;
typedef struct Client   Client;
typedef struct Route    Route;

typedef struct Header {
    const char *name, *value; // names of requests are in lower case
} Header;

enum { EXCHANGE_HEADERS = 100, EXCHANGE_PARAMS = 2, EXCHANGE_EXTRA = 12 };

typedef struct Wire { // what a version of HTTP does for an exchange
    void (*begin)(Exchange *e, const Header *headers, int count, int64_t size); // size -1: not known
    void (*write)(Exchange *e, const void *data, size_t size);
    void (*end)(Exchange *e, const Header *trailers, int count);
    size_t (*backlog)(const Exchange *e); // bytes that the client has not taken yet
} Wire;

struct Exchange {
    Server     *server;
    const Wire *wire;
    void       *link; // the connection or the stream; NULL: it is gone
    const char *version;

    char   method[16];
    char  *path;  // decoded, without the query
    char  *query; // as it came; "" if there is none
    Header header[EXCHANGE_HEADERS];
    int    header_count;
    Bytes  body;
    char   peer[64];  // address of the client
    char   owner[64]; // name in the client's certificate; "": none

    const Route *route;
    char        *param[EXCHANGE_PARAMS]; // parts of the path
    Client      *client;                 // whose request it is; NULL: not known yet
    bool         is_counted;             // it counts among the requests of its client

    int         status;
    Header      extra[EXCHANGE_EXTRA]; // headers to add to the answer
    int         extra_count;
    bool        has_begun, has_ended;
    int         holds;
    double      began;
    uint64_t    began_unix; // nanoseconds
    uint8_t     trace[16], span[8], parent[8];
    bool        is_traced, has_parent;
    char        model[128]; // for logs
    const char *protocol;   // for metrics
    double      queue_seconds, compute_seconds;
    char        note[256]; // why it failed, for the log
    const char *code;      // of an error, for programs; NULL: its status says enough

    void (*gone)(Exchange *e);                                          // the client went away
    void (*data)(Exchange *e, const char *data, size_t size, bool end); // a body that arrives in pieces
    void (*end)(Exchange *e);                                           // it is about to be freed
    void *state;                                                        // of whoever answers
};

Exchange *exchange_create(Server *server, const Wire *wire, void *link);
// Splits a target into path and query. False: it is not valid.
bool        exchange_target(Exchange *e, const char *target, size_t size);
bool        exchange_header_add(Exchange *e, const char *name, size_t name_size, const char *value, size_t size);
const char *exchange_header(const Exchange *e, const char *name); // NULL: there is none
void        exchange_hold(Exchange *e);
void        exchange_release(Exchange *e);
void        exchange_gone(Exchange *e); // by the wire: the client went away
double      exchange_number(const Exchange *e, const char *header, double otherwise); // a number in a header

// The answer. After exchange_end nothing more may be written.
void exchange_extra(Exchange *e, const char *name, const char *value); // before it begins; the texts are copied
void exchange_begin(Exchange *e, int status, const char *type, int64_t size);
void exchange_write(Exchange *e, const void *data, size_t size);
void exchange_end(Exchange *e, const Header *trailers, int count);
// All at once.
void exchange_send(Exchange *e, int status, const char *type, const void *data, size_t size);
// An error as JSON: {"error": "..."}, or in the form of OpenAI's servers if the route is one of theirs.
void exchange_fail(Exchange *e, int status, const char *format, ...) SERVE_PRINTF(3, 4);

const char *http_reason(int status);

#endif
