// cors.h - requests by web pages of other origins.
#ifndef HOLO_SERVE_CORS_H
#define HOLO_SERVE_CORS_H

#include "server.h"

// Adds to the answer that the page may read it, if --cors names its origin. True: the browser only asks whether it may send
// its request, and has its answer.
bool cors_answer(Exchange *e);

#endif
