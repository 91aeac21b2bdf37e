// grpc_kserve.c - the calls of GRPCInferenceService.
#include "grpc.h"
#include "inference.pb-c.h"
#include "repository.h"
#include "routes.h"
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The message of a call that has one. NULL: the exchange was told what is wrong.
static ProtobufCMessage *message_of(Exchange *e, const ProtobufCMessageDescriptor *type)
{
    const char *message, *why = "the call has no message";
    size_t      size, used;
    int found = grpc_frame(e->body.data ? e->body.data : "", e->body.size, e->server->options.max_body, &message, &size,
                           &used, &why);
    if (found <= 0 || used != e->body.size) return grpc_fail(e, found < 0 ? 413 : 400, why), NULL;
    ProtobufCMessage *m = protobuf_c_message_unpack(type, NULL, size, (const uint8_t *)message);
    if (!m) grpc_fail(e, 400, "the message is not what this call takes");
    return m;
}

// The model that a request names, held. NULL: the exchange was told.
static Model *model_of(Exchange *e, const char *name, const char *version)
{
    int    status;
    char   why[600];
    Model *m = repository_take(e->server->repository, name, *version ? version : NULL, &status, why, sizeof why);
    if (!m) grpc_fail(e, status, why);
    return m;
}

// ---- health and metadata

static void live(Exchange *e)
{
    Inference__ServerLiveResponse r = INFERENCE__SERVER_LIVE_RESPONSE__INIT;
    r.live                          = true;
    grpc_answer(e, &r.base);
}

static void ready(Exchange *e)
{
    Inference__ServerReadyResponse r = INFERENCE__SERVER_READY_RESPONSE__INIT;
    r.ready                          = !e->server->is_draining && repository_is_ready(e->server->repository);
    grpc_answer(e, &r.base);
}

static void model_ready(Exchange *e)
{
    Inference__ModelReadyRequest *q = (void *)message_of(e, &inference__model_ready_request__descriptor);
    Inference__ModelReadyResponse r = INFERENCE__MODEL_READY_RESPONSE__INIT;
    int                           status;
    char                          why[600];
    if (!q) return;
    Model *m =
        repository_take(e->server->repository, q->name, *q->version ? q->version : NULL, &status, why, sizeof why);
    r.ready = m != NULL;
    if (!m && status == 404)
        grpc_fail(e, 404, why);
    else
        grpc_answer(e, &r.base);
    model_release(m);
    protobuf_c_message_free_unpacked(&q->base, NULL);
}

static void server_facts(Exchange *e)
{
    char                             *extensions[] = {"model_repository", "system_shared_memory"};
    Inference__ServerMetadataResponse r            = INFERENCE__SERVER_METADATA_RESPONSE__INIT;
    r.name                                         = "hologram";
    r.version                                      = (char *)holo_version();
    r.extensions                                   = extensions;
    r.n_extensions                                 = e->server->options.shared_memory ? 2 : 1;
    grpc_answer(e, &r.base);
}

typedef Inference__ModelMetadataResponse__TensorMetadata Facts;

static Facts **ports_of(const HoloModel *m, bool inputs, size_t *out_count)
{
    *out_count   = (size_t)(inputs ? holo_model_input_count(m) : holo_model_output_count(m));
    Facts **list = take((*out_count + 1) * sizeof *list), *facts = take((*out_count + 1) * sizeof *facts);
    list[*out_count] = facts; // the last place has the memory of all
    for (size_t i = 0; i < *out_count; i++) {
        const HoloPort *port = inputs ? holo_model_input(m, (int)i) : holo_model_output(m, (int)i);
        inference__model_metadata_response__tensor_metadata__init(&facts[i]);
        facts[i].name     = (char *)port->name;
        facts[i].datatype = (char *)kserve_dtype_name((HoloDtype)port->type.dtype);
        facts[i].n_shape  = port->type.rank > 0 ? (size_t)port->type.rank : 0;
        facts[i].shape    = (int64_t *)port->type.dim;
        list[i]           = &facts[i];
    }
    return list;
}

static void ports_free(Facts **list, size_t count)
{
    free(list[count]);
    free(list);
}

static void model_facts(Exchange *e)
{
    Inference__ModelMetadataRequest *q = (void *)message_of(e, &inference__model_metadata_request__descriptor);
    Inference__ModelMetadataResponse r = INFERENCE__MODEL_METADATA_RESPONSE__INIT;
    if (!q) return;
    Model *m = model_of(e, q->name, q->version);
    if (m) {
        r.name       = m->name;
        r.versions   = &m->version;
        r.n_versions = 1;
        r.platform   = "hologram";
        r.inputs     = ports_of(m->holo, true, &r.n_inputs);
        r.outputs    = ports_of(m->holo, false, &r.n_outputs);
        grpc_answer(e, &r.base);
        ports_free(r.inputs, r.n_inputs);
        ports_free(r.outputs, r.n_outputs);
    }
    model_release(m);
    protobuf_c_message_free_unpacked(&q->base, NULL);
}

// ---- one run

static void infer_failed(Infer *i, int status, const char *text)
{
    grpc_fail(i->exchange, status, text);
}

static void infer_answer(Infer *i)
{
    char                           why[300];
    Inference__ModelInferResponse *r = grpc_response(i, why, sizeof why);
    if (r)
        grpc_answer(i->exchange, &r->base);
    else
        grpc_fail(i->exchange, 400, why);
    grpc_response_free(r);
}

static void infer(Exchange *e)
{
    const char *message, *text = "the call has no message";
    size_t      size, used;
    int         status, found = grpc_frame(e->body.data ? e->body.data : "", e->body.size, e->server->options.max_body,
                                   &message, &size, &used, &text);
    char        why[700];
    if (found <= 0) return grpc_fail(e, found < 0 ? 413 : 400, text);
    Infer *i = grpc_infer_read(e, message, size, NULL, &status, why, sizeof why);
    if (!i) return grpc_fail(e, status, why);
    i->answer = infer_answer;
    i->fail   = infer_failed;
    infer_start(i);
}

// ---- a stream of runs: answers come in the order in which they are computed, with the ids of their requests

typedef struct GrpcStream {
    Bytes   in;
    Infer **run; // those that are open
    int     open, room;
    bool    has_ended;
} GrpcStream;

static void stream_say(Exchange *e, Inference__ModelInferResponse *response, const char *why)
{
    Inference__ModelStreamInferResponse r = INFERENCE__MODEL_STREAM_INFER_RESPONSE__INIT;
    r.error_message                       = why ? (char *)why : (char *)"";
    r.infer_response                      = response;
    if (!e->has_ended) grpc_send(e, &r.base);
}

static void stream_answer(Infer *i)
{
    char                           why[300];
    Inference__ModelInferResponse *r = grpc_response(i, why, sizeof why);
    stream_say(i->exchange, r, r ? NULL : why);
    grpc_response_free(r);
}

static void stream_failed(Infer *i, int status, const char *text)
{
    Inference__ModelInferResponse r = INFERENCE__MODEL_INFER_RESPONSE__INIT;
    (void)status;
    r.id = i->id ? i->id : (char *)"";
    stream_say(i->exchange, &r, text);
}

static void stream_check(Exchange *e)
{
    GrpcStream *s = e->state;
    if (s && s->has_ended && !s->open) grpc_end(e, GRPC_OK, "");
}

static void stream_run_end(Infer *i)
{
    Exchange   *e = i->exchange;
    GrpcStream *s = e->state;
    grpc_infer_end(i);
    for (int k = 0; k < s->open; k++)
        if (s->run[k] == i) {
            s->run[k] = s->run[--s->open];
            break;
        }
    stream_check(e);
}

static void stream_message(Exchange *e, Bytes *message)
{
    GrpcStream *s = e->state;
    int         status;
    char        why[700];
    Infer      *i = grpc_infer_read(e, message->data, message->size, message, &status, why, sizeof why);
    if (!i) return stream_say(e, NULL, why);
    i->end    = stream_run_end;
    i->answer = stream_answer;
    i->fail   = stream_failed;
    if (s->open == s->room) {
        s->room = s->room * 2 + 8;
        s->run  = realloc(s->run, (size_t)s->room * sizeof(Infer *));
        if (!s->run) abort();
    }
    s->run[s->open++] = i;
    infer_start(i);
}

static void stream_free(Exchange *e)
{
    GrpcStream *s = e->state;
    e->state      = NULL;
    if (s) bytes_free(&s->in);
    if (s) free(s->run);
    free(s);
}

static void stream_gone(Exchange *e)
{
    GrpcStream *s = e->state;
    for (int k = 0; k < s->open; k++) infer_cancel(s->run[k]);
}

static void stream_data(Exchange *e, const char *data, size_t size, bool end)
{
    GrpcStream *s = e->state;
    const char *message, *why;
    size_t      length, used;
    int         found = 0;
    if (!s || e->has_ended) return;
    if (!bytes_add(&s->in, data, size)) return grpc_fail(e, 503, "out of memory");
    while (!e->has_ended && (found = grpc_frame(s->in.data, s->in.size, e->server->options.max_body, &message, &length,
                                                &used, &why)) > 0) {
        Bytes one = {0};
        bytes_add(&one, message, length);
        bytes_drop(&s->in, used);
        stream_message(e, &one);
        bytes_free(&one);
    }
    if (found < 0) return grpc_fail(e, 413, why);
    s->has_ended = s->has_ended || end;
    stream_check(e);
}

static void stream_infer(Exchange *e)
{
    e->state = take(sizeof(GrpcStream));
    e->data  = stream_data;
    e->end   = stream_free;
    e->gone  = stream_gone;
}

// ---- the repository

typedef struct GrpcIndex {
    Inference__RepositoryIndexResponse__ModelIndex **list;
    size_t                                           count, room;
    bool                                             only_ready;
} GrpcIndex;

static void add_index(void *state, const Listed *l)
{
    GrpcIndex *x = state;
    if (x->only_ready && !l->model) return;
    if (x->count == x->room) {
        x->room = x->room * 2 + 16;
        x->list = realloc(x->list, x->room * sizeof *x->list);
        if (!x->list) abort();
    }
    Inference__RepositoryIndexResponse__ModelIndex *m = take(sizeof *m);
    inference__repository_index_response__model_index__init(m);
    m->name             = take_text(l->name); // the list is locked, the answer is not
    m->version          = take_text(l->version);
    m->reason           = take_text(l->is_unloaded ? "unloaded" : l->reason);
    m->state            = l->model ? "READY" : l->is_loading ? "LOADING" : "UNAVAILABLE";
    x->list[x->count++] = m;
}

static void repository_index(Exchange *e)
{
    Inference__RepositoryIndexRequest *q = (void *)message_of(e, &inference__repository_index_request__descriptor);
    Inference__RepositoryIndexResponse r = INFERENCE__REPOSITORY_INDEX_RESPONSE__INIT;
    if (!q) return;
    GrpcIndex x = {.only_ready = q->ready};
    repository_list(e->server->repository, add_index, &x);
    r.models   = x.list;
    r.n_models = x.count;
    grpc_answer(e, &r.base);
    for (size_t i = 0; i < x.count; i++)
        free(x.list[i]->name), free(x.list[i]->version), free(x.list[i]->reason), free(x.list[i]);
    free(x.list);
    protobuf_c_message_free_unpacked(&q->base, NULL);
}

static void changed(void *state, const char *why)
{
    Exchange                              *e = state;
    Inference__RepositoryModelLoadResponse r =
        INFERENCE__REPOSITORY_MODEL_LOAD_RESPONSE__INIT; // that of unload is as empty
    if (*why)
        grpc_fail(e, 400, why);
    else
        grpc_answer(e, &r.base);
    exchange_release(e);
}

// Both requests have their fields at the same numbers.
static void change(Exchange *e, bool load)
{
    if (e->server->options.no_control) return grpc_fail(e, 403, "clients may not load and unload models here");
    Inference__RepositoryModelLoadRequest *q =
        (void *)message_of(e, &inference__repository_model_load_request__descriptor);
    if (!q) return;
    exchange_hold(e);
    repository_change(e->server->repository, q->model_name, load, changed, e);
    protobuf_c_message_free_unpacked(&q->base, NULL);
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
    if (!e->server->options.shared_memory) grpc_fail(e, 403, "the server was started without --shared-memory");
    return e->server->options.shared_memory;
}

static void region_register(Exchange *e)
{
    Inference__SystemSharedMemoryRegisterRequest *q =
        has_shared(e) ? (void *)message_of(e, &inference__system_shared_memory_register_request__descriptor) : NULL;
    Inference__SystemSharedMemoryRegisterResponse r = INFERENCE__SYSTEM_SHARED_MEMORY_REGISTER_RESPONSE__INIT;
    char                                          why[300];
    if (!q) return;
    int status = shared_register(e->server->shared, q->name, q->key, q->offset, q->byte_size, why, sizeof why);
    if (status)
        grpc_fail(e, status, why);
    else
        grpc_answer(e, &r.base);
    protobuf_c_message_free_unpacked(&q->base, NULL);
}

static void region_unregister(Exchange *e)
{
    Inference__SystemSharedMemoryUnregisterRequest *q =
        has_shared(e) ? (void *)message_of(e, &inference__system_shared_memory_unregister_request__descriptor) : NULL;
    Inference__SystemSharedMemoryUnregisterResponse r = INFERENCE__SYSTEM_SHARED_MEMORY_UNREGISTER_RESPONSE__INIT;
    if (!q) return;
    shared_unregister(e->server->shared, *q->name ? q->name : NULL);
    grpc_answer(e, &r.base);
    protobuf_c_message_free_unpacked(&q->base, NULL);
}

static void region_status(Exchange *e)
{
    typedef Inference__SystemSharedMemoryStatusResponse__RegionsEntry Entry;
    typedef Inference__SystemSharedMemoryStatusResponse__RegionStatus Status;
    Inference__SystemSharedMemoryStatusRequest                       *q =
        has_shared(e) ? (void *)message_of(e, &inference__system_shared_memory_status_request__descriptor) : NULL;
    Inference__SystemSharedMemoryStatusResponse r     = INFERENCE__SYSTEM_SHARED_MEMORY_STATUS_RESPONSE__INIT;
    size_t                                      count = 0;
    if (!q) return;
    for (const Region *x = shared_first(e->server->shared); x; x = x->next) count++;
    Entry  *entries = take((count + 1) * sizeof *entries);
    Status *states  = take((count + 1) * sizeof *states);
    r.regions       = take((count + 1) * sizeof *r.regions);
    for (const Region *x = shared_first(e->server->shared); x; x = x->next) {
        if (*q->name && strcmp(q->name, x->name)) continue;
        Entry  *entry = &entries[r.n_regions];
        Status *s     = &states[r.n_regions];
        inference__system_shared_memory_status_response__regions_entry__init(entry);
        inference__system_shared_memory_status_response__region_status__init(s);
        s->name = entry->key     = x->name;
        s->key                   = x->key;
        s->offset                = x->offset;
        s->byte_size             = x->size;
        entry->value             = s;
        r.regions[r.n_regions++] = entry;
    }
    grpc_answer(e, &r.base);
    free(entries), free(states), free(r.regions);
    protobuf_c_message_free_unpacked(&q->base, NULL);
}

#define CALL(name) "POST", "/inference.GRPCInferenceService/" name
#define GRPC       .protocol = "grpc", .fail = grpc_fail
const Route routes_grpc[] = {
    {CALL("ServerLive"), live, ROUTE_OPEN, GRPC, .is_quiet = true},
    {CALL("ServerReady"), ready, ROUTE_OPEN, GRPC, .is_quiet = true},
    {CALL("ModelReady"), model_ready, ROUTE_KEY, GRPC, .is_quiet = true},
    {CALL("ServerMetadata"), server_facts, ROUTE_KEY, GRPC},
    {CALL("ModelMetadata"), model_facts, ROUTE_KEY, GRPC},
    {CALL("ModelInfer"), infer, ROUTE_KEY, GRPC},
    {CALL("ModelStreamInfer"), stream_infer, ROUTE_KEY, GRPC, .is_streamed = true},
    {CALL("RepositoryIndex"), repository_index, ROUTE_KEY, GRPC},
    {CALL("RepositoryModelLoad"), load, ROUTE_KEY, GRPC},
    {CALL("RepositoryModelUnload"), unload, ROUTE_KEY, GRPC},
    {CALL("SystemSharedMemoryStatus"), region_status, ROUTE_KEY, GRPC},
    {CALL("SystemSharedMemoryRegister"), region_register, ROUTE_KEY, GRPC},
    {CALL("SystemSharedMemoryUnregister"), region_unregister, ROUTE_KEY, GRPC},
    {0},
};
