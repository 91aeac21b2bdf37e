// admin.c - health for Kubernetes, metrics for Prometheus, and the page.
#include "clients.h"
#include "metrics.h"
#include "net.h"
#include "repository.h"
#include "routes.h"

#include <string.h>

extern const unsigned char serve_page[]; // page.html
extern const size_t        serve_page_size;

static void healthz(Exchange *e)
{
    exchange_send(e, 200, "text/plain", "ok\n", 3);
}

static void readyz(Exchange *e)
{
    bool is = !e->server->is_draining && repository_is_ready(e->server->repository);
    exchange_send(e, is ? 200 : 503, "text/plain", is ? "ready\n" : "not ready\n", is ? 6 : 10);
}

static void metrics(Exchange *e)
{
    Bytes b = {0};
    metrics_write(e->server->metrics, &b);
    exchange_send(e, 200, "text/plain; version=0.0.4; charset=utf-8", b.data, b.size);
    bytes_free(&b);
}

// ---- the page, and what it asks for

static void page(Exchange *e)
{
    exchange_extra(
        e, "content-security-policy",
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'");
    exchange_extra(e, "x-content-type-options", "nosniff");
    exchange_extra(e, "cache-control", "no-store");
    exchange_send(e, 200, "text/html; charset=utf-8", serve_page, serve_page_size);
}

typedef struct StatusList {
    Server *server;
    Bytes  *out;
    int     count;
} StatusList;

static void add_model(void *state, const Listed *l)
{
    StatusList         *s     = state;
    const ModelMetrics *m     = metrics_model(s->server->metrics, l->name);
    uint64_t            total = 0, failed = 0;
    for (int i = 0; i < METRICS_CODES; i++) {
        total += m->answers[i].count;
        if (m->answers[i].status >= 400) failed += m->answers[i].count;
    }
    bytes_add_text(s->out, s->count++ ? ",{\"name\":" : "{\"name\":");
    bytes_json(s->out, l->name, strlen(l->name));
    bytes_format(s->out, ",\"version\":\"%s\",\"ready\":%s,\"reason\":", l->version, l->model ? "true" : "false");
    bytes_json(s->out, l->reason, strlen(l->reason));
    bytes_format(s->out, ",\"requests\":%llu,\"failed\":%llu,\"p50\":%.6f,\"p99\":%.6f,\"tokens\":%llu",
                 (unsigned long long)total, (unsigned long long)failed, metrics_quantile(m, 0.5),
                 metrics_quantile(m, 0.99), (unsigned long long)m->generated_tokens);
    if (l->model) {
        Model *model = (Model *)l->model;
        bytes_format(s->out, ",\"queue\":%d,\"language\":%s,\"embeds\":%s",
                     queue_waiting(&model->tensors) + queue_waiting(&model->talks),
                     model->is_language ? "true" : "false", model->is_embedder ? "true" : "false");
    }
    bytes_add_text(s->out, "}");
}

static void status(Exchange *e)
{
    Bytes      b    = {0};
    StatusList list = {e->server, &b, 0};
    bytes_format(&b, "{\"uptime\":%.1f,\"connections\":%d,\"open\":%d,\"cores\":%d,\"memory\":%llu,\"models\":[",
                 now() - e->server->began, net_connections(e->server->net), e->server->open,
                 schedule_cores(e->server->schedule), (unsigned long long)metrics_resident());
    repository_list(e->server->repository, add_model, &list);
    bytes_add_text(&b, "]}");
    exchange_send(e, 200, "application/json", b.data, b.size);
    bytes_free(&b);
}

#define ADMIN .protocol = "admin"
const Route routes_admin[] = {
    {"GET", "/healthz", healthz, ROUTE_OPEN, ADMIN, .is_quiet = true},
    {"GET", "/readyz", readyz, ROUTE_OPEN, ADMIN, .is_quiet = true},
    {"GET", "/metrics", metrics, ADMIN, .is_quiet = true},
    {"GET", "/status", status, ADMIN, .is_quiet = true},
    {"GET", "/", page, ROUTE_OPEN, ADMIN, .is_quiet = true},
    {0},
};
