// routes.h - the table of all that can be asked for: a protocol is rows of it.
#ifndef HOLO_SERVE_ROUTES_H
#define HOLO_SERVE_ROUTES_H

#include "exchange.h"

typedef enum RouteAccess {
    ROUTE_KEY  = 0, // a key is needed, if there are any
    ROUTE_OPEN = 1, // for everybody: health
} RouteAccess;

struct Route {
    const char *method;
    const char *pattern; // "/v2/models/*/infer": a star is one part of the path
    void (*answer)(Exchange *e);
    RouteAccess access;
    const char *protocol;    // for metrics
    bool        is_streamed; // `answer` is called when the headers are there; the body comes to Exchange.data
    bool        is_quiet;    // not worth a line in the log: health, metrics
    void (*fail)(Exchange *e, int status, const char *text); // how errors look; NULL: {"error": text}
};

extern const Route *const route_tables[]; // each ends with a row without a method; the last is NULL

// Finds the row and fills in the parts of the path. NULL: there is none, and *out_status is 404 or 405.
const Route *route_find(Exchange *e, int *out_status);

#endif
