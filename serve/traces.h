// traces.h - spans of requests, sent to a collector by OTLP over HTTP, as JSON, by a thread of their own.
#ifndef HOLO_SERVE_TRACES_H
#define HOLO_SERVE_TRACES_H

#include "server.h"

Traces  *traces_create(const char *url, char *why, size_t room); // NULL: `why` says why not
void     traces_destroy(Traces *t);                              // sends what is left
uint64_t traces_dropped(const Traces *t);                        // NULL: 0
// Reads the header traceparent of a request, and gives it a span.
void traces_begin(Exchange *e);
void traces_end(Traces *t, const Exchange *e);

#endif
