// server.c - from a request to its row in the table of routes, and what happens when it has ended.
#include "server.h"
#include "clients.h"
#include "coding.h"
#include "cors.h"
#include "grpc.h"
#include "journal.h"
#include "metrics.h"
#include "openai.h"
#include "routes.h"
#include "traces.h"

#include <string.h>

const Route *server_route(Server *server, Exchange *e)
{
    int status;
    (void)server;
    return route_find(e, &status);
}

static void request(Server *server, Exchange *e)
{
    int         status = 0;
    const char *why    = NULL;
    e->route           = route_find(e, &status);
    e->protocol        = e->route ? e->route->protocol : "http";
    traces_begin(e);
    if (cors_answer(e)) return;
    const char *type = exchange_header(e, "content-type");
    if (!e->route && type && !strncmp(type, "application/grpc", 16)) return grpc_fail(e, 501, "there is no such call");
    if (!e->route && !strncmp(e->path, "/v1/", 4)) return openai_lost(e, status);
    if (!e->route && status == 404) return exchange_fail(e, 404, "there is nothing at %.200s", e->path);
    if (!e->route) return exchange_fail(e, 405, "%.200s cannot be asked for by %s", e->path, e->method);
    const char *coding = exchange_header(e, "content-encoding");
    if (coding && !strcmp(coding, "identity")) coding = NULL;
    if (coding && (e->route->is_streamed || !coding_known(coding))) {
        exchange_extra(e, "accept-encoding", "gzip, deflate");
        return exchange_fail(e, 415, "bodies are not taken in the encoding %.30s", coding);
    }
    bool needs_key = e->route->access != ROUTE_OPEN;
    if (server->is_draining && needs_key) return exchange_fail(e, 503, "the server is ending");
    status = clients_admit(server->clients, e, needs_key, &why);
    if (status == 401) exchange_extra(e, "www-authenticate", "Bearer");
    if (status) return exchange_fail(e, status, "%s", why);
    if (coding) return unpack_start(e, coding, e->route->answer);
    e->route->answer(e);
}

void server_request(Server *server, Exchange *e)
{
    exchange_hold(e); // who answers at once may look at it afterwards
    request(server, e);
    exchange_release(e);
}

void server_ended(Server *server, Exchange *e)
{
    clients_leave(server->clients, e);
    metrics_answer(server->metrics, e);
    if (!e->route || !e->route->is_quiet || e->status >= 500) journal_request(e);
    if (server->traces && e->route && !e->route->is_quiet) traces_end(server->traces, e);
}
