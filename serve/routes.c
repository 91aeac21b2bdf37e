// routes.c - finds the row of a request. See routes.h.
#include "routes.h"

#include <stdlib.h>
#include <string.h>

extern const Route routes_admin[], routes_kserve[], routes_openai[], routes_grpc[];

const Route *const route_tables[] = {routes_kserve, routes_openai, routes_grpc, routes_admin, NULL};

// Does the path fit the pattern? Parts for its stars go to `part`, as places in the path.
static int fits(const char *pattern, const char *path, const char **part, size_t *size)
{
    int count = 0;
    while (*pattern && *path) {
        if (*pattern == '*') {
            size_t n = strcspn(path, "/");
            if (!n || count == EXCHANGE_PARAMS) return -1;
            part[count]   = path;
            size[count++] = n;
            path += n;
            pattern++;
        } else if (*pattern++ != *path++) {
            return -1;
        }
    }
    return *pattern || *path ? -1 : count;
}

const Route *route_find(Exchange *e, int *out_status)
{
    *out_status = 404;
    for (int t = 0; route_tables[t]; t++)
        for (const Route *r = route_tables[t]; r->method; r++) {
            const char *part[EXCHANGE_PARAMS];
            size_t      size[EXCHANGE_PARAMS];
            int         count = fits(r->pattern, e->path, part, size);
            if (count < 0) continue;
            *out_status = 405;
            if (strcmp(r->method, e->method) && (strcmp(e->method, "HEAD") || strcmp(r->method, "GET"))) continue;
            for (int i = 0; i < EXCHANGE_PARAMS; i++) free(e->param[i]), e->param[i] = NULL;
            for (int i = 0; i < count; i++) {
                e->param[i] = take(size[i] + 1);
                memcpy(e->param[i], part[i], size[i]);
            }
            return r;
        }
    return NULL;
}
