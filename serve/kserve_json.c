// kserve_json.c - KServe's requests in JSON. See kserve_json.h.
#include "kserve_json.h"
#include "shared.h"
#include "tensor_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_ = 256 };

typedef struct InputText { // an input as it is written
    char             name[NAME_MAX_], type[16];
    int64_t          dim[HOLO_MAX_RANK];
    int              rank; // -1: none was given
    const char      *data; // NULL: none
    size_t           size;
    KserveParameters p;
} InputText;

typedef struct Reading {
    JsonReader  r;
    Infer      *infer;
    const char *binary; // what is left of it
    size_t      binary_size;
    char       *why;
    size_t      room;
} Reading;

// ---- pieces

static bool read_name(JsonReader *r, char *to, size_t room)
{
    Bytes b  = {0};
    bool  is = reader_string(r, &b);
    if (is && (b.size >= room || memchr(b.data, 0, b.size))) is = reader_wrong(r, "a name is too long");
    if (is) memcpy(to, b.data, b.size + 1);
    bytes_free(&b);
    return is;
}

static bool read_size(JsonReader *r, uint64_t *out)
{
    bool negative;
    return reader_integer(r, &negative, out) &&
           ((!negative && *out <= INT64_MAX) || reader_wrong(r, "a size is negative"));
}

static bool read_parameters(JsonReader *r, KserveParameters *p)
{
    char key[64];
    bool unused;
    if (!reader_open(r, '{')) return false;
    while (reader_key(r, key, sizeof key)) {
        const struct {
            const char *name;
            uint64_t   *size;
            bool       *is, *has;
        } rows[]      = {{"binary_data", NULL, &p->is_binary, &p->has_binary},
                         {"binary_data_output", NULL, &p->all_binary, &unused},
                         {"binary_data_size", &p->binary_size, NULL, &p->has_binary_size},
                         {"shared_memory_offset", &p->offset, NULL, &unused},
                         {"shared_memory_byte_size", &p->byte_size, NULL, &unused},
                         {"priority", &p->priority, NULL, &unused},
                         {"timeout", &p->timeout, NULL, &unused},
                         {"classification", NULL, NULL, &p->has_classes}};
        bool is_known = false;
        for (int i = 0; i < SERVE_COUNT(rows) && !is_known; i++) {
            if (strcmp(rows[i].name, key)) continue;
            is_known     = true;
            *rows[i].has = true;
            if (rows[i].size ? !read_size(r, rows[i].size)
                : rows[i].is ? !reader_bool(r, rows[i].is)
                             : !reader_skip(r, NULL, NULL))
                return false;
        }
        if (!strcmp(key, "shared_memory_region") ? !read_name(r, p->region, sizeof p->region)
                                                 : !is_known && !reader_skip(r, NULL, NULL))
            return false;
    }
    return !r->why;
}

static bool read_shape(JsonReader *r, InputText *t)
{
    t->rank = 0;
    if (!reader_open(r, '[')) return false;
    while (reader_element(r)) {
        uint64_t size;
        if (t->rank == HOLO_MAX_RANK) return reader_wrong(r, "a shape has too many dimensions");
        if (!read_size(r, &size)) return false;
        t->dim[t->rank++] = (int64_t)size;
    }
    return !r->why;
}

// ---- inputs

static bool data_from(Reading *g, const InputText *t, HoloTensor *tensor, void **out_owned)
{
    if (*t->p.region) {
        *out_owned = malloc(t->p.byte_size ? t->p.byte_size : 1);
        if (!*out_owned) return snprintf(g->why, g->room, "out of memory"), false;
        void *parts = NULL;
        if (t->p.byte_size > g->infer->exchange->server->options.max_body)
            return snprintf(g->why, g->room, "the tensor is larger than --max-body allows"), false;
        if (!shared_read(g->infer->exchange->server->shared, t->p.region, t->p.offset, *out_owned, t->p.byte_size,
                         g->why, g->room))
            return false;
        if (tensor->dtype == HOLO_STRING)
            return snprintf(g->why, g->room, "BYTES are not taken from shared memory"), false;
        return tensor_from_bytes(tensor, *out_owned, t->p.byte_size, &parts, g->why, g->room);
    }
    if (t->p.has_binary_size) {
        const char *data = g->binary;
        if (t->p.binary_size > g->binary_size)
            return snprintf(g->why, g->room, "the body has less binary data than its inputs say"), false;
        g->binary += t->p.binary_size;
        g->binary_size -= t->p.binary_size;
        return tensor_from_bytes(tensor, data, t->p.binary_size, out_owned, g->why, g->room);
    }
    if (!t->data) return snprintf(g->why, g->room, "it has no data"), false;
    return tensor_from_json(tensor, t->data, t->size, out_owned, g->why, g->room);
}

static bool input_set(Reading *g, const InputText *t)
{
    HoloTensor tensor = {.dtype = (uint8_t)kserve_dtype(t->type)};
    void      *owned  = NULL;
    char       why[400];
    Reading    inner = *g;
    inner.why        = why;
    inner.room       = sizeof why;
    if (!tensor.dtype)
        snprintf(why, sizeof why, "'%.15s' is no datatype", t->type);
    else if (t->rank < 0 || !tensor_shape(&tensor, t->dim, t->rank))
        snprintf(why, sizeof why, "it has no shape, or one that is too large");
    else if (data_from(&inner, t, &tensor, &owned)) {
        g->binary      = inner.binary;
        g->binary_size = inner.binary_size;
        return infer_input(g->infer, t->name, &tensor, owned, g->why, g->room);
    }
    free(owned);
    snprintf(g->why, g->room, "input '%.100s': %s", t->name, why);
    return false;
}

static bool read_input(Reading *g)
{
    JsonReader *r = &g->r;
    InputText   t = {.rank = -1};
    char        key[32];
    if (!reader_open(r, '{')) return false;
    while (reader_key(r, key, sizeof key))
        if (!strcmp(key, "name")         ? !read_name(r, t.name, sizeof t.name)
            : !strcmp(key, "datatype")   ? !read_name(r, t.type, sizeof t.type)
            : !strcmp(key, "shape")      ? !read_shape(r, &t)
            : !strcmp(key, "parameters") ? !read_parameters(r, &t.p)
            : !strcmp(key, "data")       ? !reader_skip(r, &t.data, &t.size)
                                         : !reader_skip(r, NULL, NULL))
            return false;
    return !r->why && input_set(g, &t);
}

// ---- outputs

static bool read_output(Reading *g)
{
    JsonReader      *r = &g->r;
    KserveRequest   *q = g->infer->state;
    KserveParameters p = {0};
    char             key[32], name[NAME_MAX_] = "";
    if (!reader_open(r, '{')) return false;
    while (reader_key(r, key, sizeof key))
        if (!strcmp(key, "name")         ? !read_name(r, name, sizeof name)
            : !strcmp(key, "parameters") ? !read_parameters(r, &p)
                                         : !reader_skip(r, NULL, NULL))
            return false;
    if (r->why || !infer_want(g->infer, name, g->why, g->room)) return false;
    if (p.has_classes)
        return snprintf(g->why, g->room, "output '%.100s': classification is not supported: ask for the numbers", name),
               false;
    if (!q->output) q->output = take((size_t)holo_model_output_count(g->infer->model->holo) * sizeof *q->output);
    KserveOutput *o = &q->output[q->count++];
    *o              = (KserveOutput){
                     .is_binary = p.has_binary ? p.is_binary : q->all_binary, .offset = p.offset, .size = p.byte_size};
    memcpy(o->region, p.region, sizeof o->region);
    return true;
}

static bool read_list(Reading *g, bool (*read)(Reading *))
{
    if (!reader_open(&g->r, '[')) return false;
    while (reader_element(&g->r))
        if (!read(g)) return false;
    return !g->r.why;
}

// ---- the whole

static bool read_top(Reading *g)
{
    JsonReader      *r       = &g->r;
    KserveParameters p       = {0};
    KserveRequest   *q       = g->infer->state;
    const char      *outputs = NULL;
    size_t           size    = 0;
    char             key[32], id[256];
    if (!reader_open(r, '{')) return false;
    while (reader_key(r, key, sizeof key)) {
        if (!strcmp(key, "id")) {
            if (!read_name(r, id, sizeof id)) return false;
            free(g->infer->id);
            g->infer->id = take_text(id);
        } else if (!strcmp(key, "outputs")      ? !reader_skip(r, &outputs, &size)
                   : !strcmp(key, "inputs")     ? !read_list(g, read_input)
                   : !strcmp(key, "parameters") ? !read_parameters(r, &p)
                                                : !reader_skip(r, NULL, NULL)) {
            return false;
        }
    }
    if (!reader_ended(r)) return false;
    q->all_binary = p.all_binary;
    if (p.priority) g->infer->job.priority = p.priority < 1000 ? (int)p.priority : 1000;
    if (p.timeout && (double)p.timeout * 1e-6 < g->infer->timeout) g->infer->timeout = (double)p.timeout * 1e-6;
    if (g->binary_size) return snprintf(g->why, g->room, "the body has more binary data than its inputs say"), false;
    if (!outputs) return true;
    *r = reader_of(outputs, size); // last: their form depends on the parameters
    return read_list(g, read_output);
}

bool kserve_read(Infer *i, const Bytes *body, size_t json, char *why, size_t room)
{
    Reading g = {.infer = i, .binary = body->data + json, .binary_size = body->size - json, .why = why, .room = room};
    i->state  = take(sizeof(KserveRequest));
    i->end    = kserve_end;
    g.r       = reader_of(body->data, json);
    *why      = 0;
    if (read_top(&g)) return true;
    if (g.r.why) snprintf(why, room, "the request is not what KServe asks for: %s", g.r.why);
    return false;
}

void kserve_end(Infer *i)
{
    KserveRequest *q = i->state;
    if (q) free(q->output), bytes_free(&q->text), bytes_free(&q->binary);
    free(q);
    i->state = NULL;
}

static bool write_output(Infer *i, int k, Bytes *out, Bytes *binary, char *why, size_t room)
{
    const KserveRequest *q         = i->state;
    const HoloTensor    *t         = &i->output[k];
    const char          *name      = holo_model_output(i->model->holo, i->wanted[k])->name;
    const KserveOutput  *o         = k < q->count ? &q->output[k] : NULL;
    bool                 is_binary = o ? o->is_binary : q->all_binary;
    if (t->kind != HOLO_TENSOR)
        return snprintf(why, room, "the output '%.100s' is no tensor, and KServe has nothing else", name), false;
    bytes_add_text(out, "{\"name\":");
    bytes_json(out, name, strlen(name));
    bytes_format(out, ",\"datatype\":\"%s\",\"shape\":[", kserve_dtype_name((HoloDtype)t->dtype));
    for (int d = 0; d < t->rank; d++) bytes_format(out, "%s%lld", d ? "," : "", (long long)t->dim[d]);
    bytes_add_text(out, "]");
    if (o && *o->region) {
        if (t->dtype == HOLO_STRING || holo_tensor_bytes(t) > o->size)
            return snprintf(why, room, "the output '%.100s' does not fit its shared memory", name), false;
        if (!shared_write(i->exchange->server->shared, o->region, o->offset, t->data, holo_tensor_bytes(t), why, room))
            return false;
        bytes_add_text(out, ",\"parameters\":{\"shared_memory_region\":");
        bytes_json(out, o->region, strlen(o->region));
        bytes_format(out, ",\"shared_memory_offset\":%llu,\"shared_memory_byte_size\":%zu}",
                     (unsigned long long)o->offset, holo_tensor_bytes(t));
    } else if (is_binary) {
        bytes_format(out, ",\"parameters\":{\"binary_data_size\":%zu}", tensor_wire_size(t));
        if (!tensor_to_bytes(t, binary)) return snprintf(why, room, "out of memory"), false;
    } else {
        bytes_add_text(out, ",\"data\":");
        if (!tensor_to_json(t, out))
            return snprintf(why, room,
                            "the output '%.100s' is of a type that JSON has no numbers for: ask for binary data", name),
                   false;
    }
    return bytes_add_text(out, "}");
}

bool kserve_write(Infer *i, char *why, size_t room)
{
    KserveRequest *q   = i->state;
    Bytes         *out = &q->text, *binary = &q->binary;
    bytes_add_text(out, "{\"model_name\":");
    bytes_json(out, i->model->name, strlen(i->model->name));
    bytes_format(out, ",\"model_version\":\"%s\"", i->model->version);
    if (i->id) bytes_add_text(out, ",\"id\":"), bytes_json(out, i->id, strlen(i->id));
    bytes_add_text(out, ",\"outputs\":[");
    for (int k = 0; k < i->wanted_count; k++) {
        if (k) bytes_add(out, ",", 1);
        if (!write_output(i, k, out, binary, why, room)) return false;
    }
    bytes_add_text(out, "]}");
    if (out->failed || binary->failed) return snprintf(why, room, "out of memory"), false;
    return true;
}
