// cors.c - requests by web pages of other origins. See cors.h.
#include "cors.h"

#include <string.h>

static bool is_named(const char *list, const char *origin)
{
    size_t size = strlen(origin);
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        if ((n == 1 && *p == '*') || (n == size && !memcmp(p, origin, n))) return true;
        p += n + (p[n] == ',');
    }
    return false;
}

bool cors_answer(Exchange *e)
{
    const char *origin = exchange_header(e, "origin"), *list = e->server->options.cors;
    bool        asks = !strcmp(e->method, "OPTIONS") && exchange_header(e, "access-control-request-method");
    if (!list) return false;
    exchange_extra(e, "vary", "origin");
    if (!origin || !is_named(list, origin)) return false;
    exchange_extra(e, "access-control-allow-origin", origin);
    exchange_extra(e, "access-control-expose-headers", "inference-header-content-length, retry-after");
    if (!asks) return false;
    const char *headers = exchange_header(e, "access-control-request-headers");
    exchange_extra(e, "access-control-allow-methods", "GET, POST");
    if (headers) exchange_extra(e, "access-control-allow-headers", headers);
    exchange_extra(e, "access-control-max-age", "600");
    exchange_send(e, 204, NULL, NULL, 0);
    return true;
}
