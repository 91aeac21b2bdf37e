// kserve.c - the Open Inference Protocol (KServe v2) over HTTP.
#include "coding.h"
#include "journal.h"
#include "json_read.h"
#include "kserve_json.h"
#include "repository.h"
#include "routes.h"
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The model of the path, held; NULL: the exchange was told why.
static Model *model_of(Exchange *e)
{
    int    status;
    char   why[600];
    Model *m = repository_take(e->server->repository, e->param[0], e->param[1], &status, why, sizeof why);
    if (!m) return exchange_fail(e, status, "%s", why), NULL;
    snprintf(e->model, sizeof e->model, "%s", m->name);
    return m;
}

// ---- health and metadata

static void send_json(Exchange *e, Bytes *b)
{
    if (b->failed)
        exchange_fail(e, 503, "out of memory");
    else
        exchange_send(e, 200, "application/json", b->data, b->size);
    bytes_free(b);
}

static void live(Exchange *e)
{
    exchange_send(e, 200, "application/json", "{\"live\":true}", 13);
}

static void ready(Exchange *e)
{
    bool is = !e->server->is_draining && repository_is_ready(e->server->repository);
    exchange_send(e, is ? 200 : 503, "application/json", is ? "{\"ready\":true}" : "{\"ready\":false}", is ? 14 : 15);
}

static void server_facts(Exchange *e)
{
    Bytes b = {0};
    bytes_format(
        &b, "{\"name\":\"hologram\",\"version\":\"%s\",\"extensions\":[\"binary_tensor_data\",\"model_repository\"%s]}",
        holo_version(), e->server->options.shared_memory ? ",\"system_shared_memory\"" : "");
    send_json(e, &b);
}

static void model_ready(Exchange *e)
{
    Model *m = model_of(e);
    if (!m) return;
    Bytes b = {0};
    bytes_add_text(&b, "{\"name\":");
    bytes_json(&b, m->name, strlen(m->name));
    bytes_add_text(&b, ",\"ready\":true}");
    model_release(m);
    send_json(e, &b);
}

static void add_ports(Bytes *b, const HoloModel *m, bool inputs)
{
    int count = inputs ? holo_model_input_count(m) : holo_model_output_count(m);
    bytes_format(b, ",\"%s\":[", inputs ? "inputs" : "outputs");
    for (int i = 0; i < count; i++) {
        const HoloPort *port = inputs ? holo_model_input(m, i) : holo_model_output(m, i);
        bytes_add_text(b, i ? ",{\"name\":" : "{\"name\":");
        bytes_json(b, port->name, strlen(port->name));
        bytes_format(b, ",\"datatype\":\"%s\",\"shape\":[", kserve_dtype_name((HoloDtype)port->type.dtype));
        for (int d = 0; d < port->type.rank; d++) bytes_format(b, "%s%lld", d ? "," : "", (long long)port->type.dim[d]);
        bytes_add_text(b, "]}");
    }
    bytes_add_text(b, "]");
}

typedef struct Versions {
    const char *name;
    Bytes      *out;
    int         count;
} Versions;

static void add_version(void *state, const Listed *l)
{
    Versions *v = state;
    if (l->model && !strcmp(l->name, v->name)) bytes_format(v->out, "%s\"%s\"", v->count++ ? "," : "", l->version);
}

static void model_facts(Exchange *e)
{
    Model *m = model_of(e);
    if (!m) return;
    const char *format = holo_model_meta_find(m->holo, "source.format");
    Bytes       b      = {0};
    bytes_add_text(&b, "{\"name\":");
    bytes_json(&b, m->name, strlen(m->name));
    bytes_add_text(&b, ",\"versions\":[");
    Versions v = {m->name, &b, 0};
    repository_list(e->server->repository, add_version, &v);
    bytes_format(&b, "],\"platform\":\"hologram_%s\"", format ? format : "holo");
    add_ports(&b, m->holo, true);
    add_ports(&b, m->holo, false);
    bytes_add_text(&b, "}");
    model_release(m);
    send_json(e, &b);
}

// ---- runs

static void answer(Infer *i)
{
    Exchange            *e = i->exchange;
    const KserveRequest *q = i->state;
    char                 size[24];
    snprintf(size, sizeof size, "%zu", q->text.size);
    if (q->is_packed) exchange_extra(e, "content-encoding", "gzip"), exchange_extra(e, "vary", "accept-encoding");
    if (q->binary.size) exchange_extra(e, "inference-header-content-length", size);
    exchange_begin(e, 200, q->binary.size ? "application/octet-stream" : "application/json",
                   (int64_t)(q->text.size + q->binary.size));
    exchange_write(e, q->text.data, q->text.size);
    exchange_write(e, q->binary.data, q->binary.size);
    exchange_end(e, NULL, 0);
}

static bool write_answer(Infer *i, char *why, size_t room)
{
    KserveRequest *q      = i->state;
    Bytes          packed = {0};
    if (!kserve_write(i, why, room)) return false;
    if (q->binary.size || q->text.size < 4096 || !coding_accepts(i->exchange)) return true;
    q->is_packed = coding_pack(q->text.data, q->text.size, &packed);
    bytes_free(q->is_packed ? &q->text : &packed);
    if (q->is_packed) q->text = packed;
    return true;
}

// Bytes of the body that are JSON; negative: the header is no number.
static double text_size(const Exchange *e)
{
    static const char header[] = "inference-header-content-length";
    return exchange_number(e, header, exchange_header(e, header) ? -1 : (double)e->body.size);
}

static bool read_body(Infer *i, char *why, size_t room)
{
    return kserve_read(i, &i->exchange->body, (size_t)text_size(i->exchange), why, room);
}

static void infer(Exchange *e)
{
    if (!e->body.size) return exchange_fail(e, 400, "the request has no body");
    if (text_size(e) < 0) return exchange_fail(e, 400, "inference-header-content-length is not a number of bytes");
    if (text_size(e) > (double)e->body.size)
        return exchange_fail(e, 400, "inference-header-content-length is larger than the body");
    Model *m = model_of(e);
    if (!m) return;
    Infer *i  = infer_create(e, m);
    i->read   = read_body;
    i->write  = write_answer;
    i->answer = answer;
    infer_read(i, (size_t)text_size(e));
}

// ---- the repository

typedef struct Index {
    Bytes *out;
    int    count;
    bool   only_ready;
} Index;

static void add_index(void *state, const Listed *l)
{
    Index *x = state;
    if (x->only_ready && !l->model) return;
    bytes_add_text(x->out, x->count++ ? ",{\"name\":" : "{\"name\":");
    bytes_json(x->out, l->name, strlen(l->name));
    bytes_format(x->out, ",\"version\":\"%s\",\"state\":\"%s\",\"reason\":", l->version,
                 l->model        ? "READY"
                 : l->is_loading ? "LOADING"
                                 : "UNAVAILABLE");
    bytes_json(x->out, l->is_unloaded ? "unloaded" : l->reason, strlen(l->is_unloaded ? "unloaded" : l->reason));
    bytes_add_text(x->out, "}");
}

static void repository_index(Exchange *e)
{
    JsonReader r = reader_of(e->body.data ? e->body.data : "", e->body.size);
    Bytes      b = {0};
    Index      x = {.out = &b};
    char       key[16];
    if (e->body.size && reader_open(&r, '{'))
        while (reader_key(&r, key, sizeof key))
            if (!strcmp(key, "ready") ? !reader_bool(&r, &x.only_ready) : !reader_skip(&r, NULL, NULL)) break;
    if (r.why) return exchange_fail(e, 400, "%s", r.why);
    bytes_add_text(&b, "[");
    repository_list(e->server->repository, add_index, &x);
    bytes_add_text(&b, "]");
    send_json(e, &b);
}

static void changed(void *state, const char *why)
{
    Exchange *e = state;
    if (*why)
        exchange_fail(e, 400, "%s", why);
    else
        exchange_send(e, 200, "application/json", "{}", 2);
    exchange_release(e);
}

static void change(Exchange *e, bool load)
{
    if (e->server->options.no_control) return exchange_fail(e, 403, "clients may not load and unload models here");
    exchange_hold(e);
    snprintf(e->model, sizeof e->model, "%s", e->param[0]);
    repository_change(e->server->repository, e->param[0], load, changed, e);
}

static void load(Exchange *e)
{
    change(e, true);
}

static void unload(Exchange *e)
{
    change(e, false);
}

// ---- shared memory

static bool has_shared(Exchange *e)
{
    if (!e->server->options.shared_memory) exchange_fail(e, 403, "the server was started without --shared-memory");
    return e->server->options.shared_memory;
}

static void region_status(Exchange *e)
{
    Bytes b     = {0};
    int   count = 0;
    if (!has_shared(e)) return;
    if (e->param[0] && !shared_find(e->server->shared, e->param[0]))
        return exchange_fail(e, 404, "there is no region '%s'", e->param[0]);
    bytes_add_text(&b, "[");
    for (const Region *r = shared_first(e->server->shared); r; r = r->next) {
        if (e->param[0] && strcmp(e->param[0], r->name)) continue;
        bytes_add_text(&b, count++ ? ",{\"name\":" : "{\"name\":");
        bytes_json(&b, r->name, strlen(r->name));
        bytes_add_text(&b, ",\"key\":");
        bytes_json(&b, r->key, strlen(r->key));
        bytes_format(&b, ",\"offset\":%llu,\"byte_size\":%llu}", (unsigned long long)r->offset,
                     (unsigned long long)r->size);
    }
    bytes_add_text(&b, "]");
    send_json(e, &b);
}

static void region_register(Exchange *e)
{
    JsonReader r      = reader_of(e->body.data ? e->body.data : "", e->body.size);
    Bytes      key    = {0};
    uint64_t   offset = 0, size = 0;
    bool       negative = false, other = false;
    char       name[16], why[300];
    if (!has_shared(e)) return;
    if (reader_open(&r, '{'))
        while (reader_key(&r, name, sizeof name))
            if (!strcmp(name, "key")         ? !reader_string(&r, &key)
                : !strcmp(name, "offset")    ? !reader_integer(&r, &negative, &offset)
                : !strcmp(name, "byte_size") ? !reader_integer(&r, &other, &size)
                                             : !reader_skip(&r, NULL, NULL))
                break;
    if (!reader_ended(&r) || negative || other || !key.size || memchr(key.data, 0, key.size))
        exchange_fail(e, 400, "%s", r.why ? r.why : "a region needs key, offset and byte_size");
    else {
        int status = shared_register(e->server->shared, e->param[0], key.data, offset, size, why, sizeof why);
        if (status)
            exchange_fail(e, status, "%s", why);
        else
            exchange_send(e, 200, "application/json", "{}", 2);
    }
    bytes_free(&key);
}

static void region_unregister(Exchange *e)
{
    if (!has_shared(e)) return;
    shared_unregister(e->server->shared, e->param[0]);
    exchange_send(e, 200, "application/json", "{}", 2);
}

#define KSERVE .protocol = "kserve"
const Route routes_kserve[] = {
    {"GET", "/v2/health/live", live, ROUTE_OPEN, KSERVE, .is_quiet = true},
    {"GET", "/v2/health/ready", ready, ROUTE_OPEN, KSERVE, .is_quiet = true},
    {"GET", "/v2", server_facts, ROUTE_KEY, KSERVE},
    {"GET", "/v2/", server_facts, KSERVE},
    {"GET", "/v2/models/*", model_facts, KSERVE},
    {"GET", "/v2/models/*/versions/*", model_facts, KSERVE},
    {"GET", "/v2/models/*/ready", model_ready, KSERVE, .is_quiet = true},
    {"GET", "/v2/models/*/versions/*/ready", model_ready, KSERVE, .is_quiet = true},
    {"POST", "/v2/models/*/infer", infer, KSERVE},
    {"POST", "/v2/models/*/versions/*/infer", infer, KSERVE},
    {"POST", "/v2/repository/index", repository_index, KSERVE},
    {"POST", "/v2/repository/models/*/load", load, KSERVE},
    {"POST", "/v2/repository/models/*/unload", unload, KSERVE},
    {"GET", "/v2/systemsharedmemory/status", region_status, KSERVE},
    {"GET", "/v2/systemsharedmemory/region/*/status", region_status, KSERVE},
    {"POST", "/v2/systemsharedmemory/region/*/register", region_register, KSERVE},
    {"POST", "/v2/systemsharedmemory/region/*/unregister", region_unregister, KSERVE},
    {"POST", "/v2/systemsharedmemory/unregister", region_unregister, KSERVE},
    {0},
};
