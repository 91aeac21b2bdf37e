// grpc_infer.c - requests for runs, and their answers, as messages of protobuf.
#include "grpc.h"
#include "grpc_message.h"
#include "repository.h"
#include "shared.h"
#include "tensor_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef Inference__ModelInferRequest                             Request;
typedef Inference__ModelInferRequest__InferInputTensor           InputMessage;
typedef Inference__ModelInferRequest__InferRequestedOutputTensor OutputMessage;
typedef Inference__InferTensorContents                           Contents;

typedef struct GrpcOutput { // where an output goes
    char     region[64];    // "": into the answer
    uint64_t offset, size;
} GrpcOutput;

typedef struct GrpcState { // of an Infer
    GrpcMessage message;   // inputs use its bytes
    Bytes       bytes;     // of the message, unless they are those of the exchange
    GrpcOutput *output;
    int         output_count;
} GrpcState;

void grpc_infer_end(Infer *i)
{
    GrpcState *s = i->state;
    grpc_message_free(&s->message);
    bytes_free(&s->bytes);
    free(s->output);
    free(s);
}

// ---- parameters

static uint64_t number_of(const Inference__InferParameter *p)
{
    if (!p) return 0;
    if (p->parameter_choice_case == INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_INT64_PARAM)
        return p->int64_param > 0 ? (uint64_t)p->int64_param : 0;
    if (p->parameter_choice_case == INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_UINT64_PARAM) return p->uint64_param;
    return 0;
}

// Entries of the maps have one layout, whichever message they belong to.
typedef Inference__ModelInferRequest__ParametersEntry Entry;

static const Inference__InferParameter *parameter(Entry *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i]->key, name)) return list[i]->value;
    return NULL;
}

static bool region_of(Entry *const *list, size_t count, GrpcOutput *out)
{
    const Inference__InferParameter *region = parameter(list, count, "shared_memory_region");
    if (!region || region->parameter_choice_case != INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_STRING_PARAM)
        return false;
    snprintf(out->region, sizeof out->region, "%s", region->string_param);
    out->offset = number_of(parameter(list, count, "shared_memory_offset"));
    out->size   = number_of(parameter(list, count, "shared_memory_byte_size"));
    return true;
}

// ---- inputs

// Numbers in a field of their type. Types without one of their own use a wider one.
static bool from_contents(HoloTensor *t, const Contents *c, void **out_owned, char *why, size_t room)
{
    int64_t     count = holo_tensor_count(t);
    size_t      size = holo_dtype_size((HoloDtype)t->dtype), given = 0, from_size = 0;
    const void *from = NULL;
#define FROM(field) (given = c->n_##field, from = c->field, from_size = sizeof *c->field)
    switch (t->dtype) {
    case HOLO_F32: FROM(fp32_contents); break;
    case HOLO_F64: FROM(fp64_contents); break;
    case HOLO_I64: FROM(int64_contents); break;
    case HOLO_U64: FROM(uint64_contents); break;
    case HOLO_I8:
    case HOLO_I16:
    case HOLO_I32: FROM(int_contents); break;
    case HOLO_U8:
    case HOLO_U16:
    case HOLO_U32: FROM(uint_contents); break;
    case HOLO_BOOL: FROM(bool_contents); break;
    case HOLO_STRING: FROM(bytes_contents); break;
    default: return snprintf(why, room, "tensors of this datatype are sent in raw_input_contents"), false;
    }
#undef FROM
    if (count < 0 || given != (size_t)count)
        return snprintf(why, room, "it has %zu elements, but the shape says %lld", given, (long long)count), false;
    char *to = malloc((size_t)count * size + 1);
    if (!to) return snprintf(why, room, "out of memory"), false;
    for (size_t i = 0; i < given; i++) {
        const char *one = (const char *)from + i * from_size;
        if (t->dtype == HOLO_STRING) {
            const ProtobufCBinaryData *b = (const void *)one;
            ((HoloString *)to)[i]        = (HoloString){(const char *)b->data, b->len};
        } else if (t->dtype == HOLO_BOOL) {
            to[i] = *(const protobuf_c_boolean *)one != 0;
        } else {
            memcpy(to + i * size, one, size); // little-endian: the low bytes come first
        }
    }
    t->data    = to;
    *out_owned = to;
    return true;
}

static bool data_of(Infer *i, const GrpcMessage *g, size_t k, HoloTensor *t, void **out_owned, char *why, size_t room)
{
    const InputMessage *m = g->request->inputs[k];
    GrpcOutput          place;
    void               *parts = NULL;
    if (region_of((Entry *const *)m->parameters, m->n_parameters, &place)) {
        if (t->dtype == HOLO_STRING || place.size > i->exchange->server->options.max_body)
            return snprintf(why, room, "BYTES, or too many bytes, are not taken from shared memory"), false;
        *out_owned = malloc(place.size + 1);
        if (!*out_owned) return snprintf(why, room, "out of memory"), false;
        return shared_read(i->exchange->server->shared, place.region, place.offset, *out_owned, place.size, why,
                           room) &&
               tensor_from_bytes(t, *out_owned, place.size, &parts, why, room);
    }
    if (g->raw_count) {
        if (g->raw_count != g->request->n_inputs)
            return snprintf(why, room, "raw_input_contents must have one entry for each input"), false;
        return tensor_from_bytes(t, (const char *)g->raw[k].data, g->raw[k].len, out_owned, why, room);
    }
    if (!m->contents) return snprintf(why, room, "it has no contents"), false;
    return from_contents(t, m->contents, out_owned, why, room);
}

static bool read_input(Infer *i, const GrpcMessage *g, size_t k, char *why, size_t room)
{
    const InputMessage *m     = g->request->inputs[k];
    HoloTensor          t     = {.dtype = (uint8_t)kserve_dtype(m->datatype)};
    void               *owned = NULL;
    char                inner[300];
    if (!t.dtype)
        snprintf(inner, sizeof inner, "'%.15s' is no datatype", m->datatype);
    else if (m->n_shape > HOLO_MAX_RANK || !tensor_shape(&t, m->shape, (int)m->n_shape))
        snprintf(inner, sizeof inner, "its shape is too large");
    else if (data_of(i, g, k, &t, &owned, inner, sizeof inner))
        return infer_input(i, m->name, &t, owned, why, room);
    free(owned);
    snprintf(why, room, "input '%.100s': %s", m->name, inner);
    return false;
}

static bool read_request(Infer *i, GrpcState *s, char *why, size_t room)
{
    const Request *r = s->message.request;
    for (size_t k = 0; k < r->n_inputs; k++)
        if (!read_input(i, &s->message, k, why, room)) return false;
    s->output = take((r->n_outputs + 1) * sizeof *s->output);
    for (size_t k = 0; k < r->n_outputs; k++) {
        const OutputMessage *o = r->outputs[k];
        if (!infer_want(i, o->name, why, room)) return false;
        if (parameter((Entry *const *)o->parameters, o->n_parameters, "classification"))
            return snprintf(why, room, "classification is not supported: ask for the numbers"), false;
        region_of((Entry *const *)o->parameters, o->n_parameters, &s->output[s->output_count++]);
    }
    uint64_t priority = number_of(parameter(r->parameters, r->n_parameters, "priority")),
             timeout  = number_of(parameter(r->parameters, r->n_parameters, "timeout"));
    if (priority) i->job.priority = priority < 1000 ? (int)priority : 1000;
    if (timeout && (double)timeout * 1e-6 < i->timeout) i->timeout = (double)timeout * 1e-6;
    return true;
}

bool grpc_infer_fill(Infer *i, GrpcMessage *message, Bytes *bytes, char *why, size_t room)
{
    GrpcState *s = take(sizeof *s);
    s->message   = *message;
    if (bytes) s->bytes = *bytes, *bytes = (Bytes){0};
    i->state = s;
    i->end   = grpc_infer_end;
    if (*s->message.request->id) i->id = take_text(s->message.request->id);
    return read_request(i, s, why, room);
}

Infer *grpc_infer_read(Exchange *e, const char *message, size_t size, Bytes *bytes, int *out_status, char *why,
                       size_t room)
{
    GrpcMessage g;
    *out_status = 400;
    if (!grpc_message_read(message, size, &g)) return snprintf(why, room, "the message is no ModelInferRequest"), NULL;
    const Request *r = g.request;
    Model *m = repository_take(e->server->repository, r->model_name, *r->model_version ? r->model_version : NULL,
                               out_status, why, room);
    if (!m) return grpc_message_free(&g), NULL;
    snprintf(e->model, sizeof e->model, "%s", m->name);
    Infer *i    = infer_create(e, m);
    i->timeout  = grpc_timeout(e, i->timeout);
    *out_status = 400;
    if (grpc_infer_fill(i, &g, bytes, why, room)) return i;
    infer_free(i);
    return NULL;
}

// ---- answers

void grpc_response_free(Inference__ModelInferResponse *r)
{
    if (!r) return;
    for (size_t k = 0; k < r->n_outputs; k++) free(r->outputs[k]);
    for (size_t k = 0; k < r->n_raw_output_contents; k++) free(r->raw_output_contents[k].data);
    free(r->outputs);
    free(r->raw_output_contents);
    free(r);
}

static bool write_output(Infer *i, Inference__ModelInferResponse *r, int k, char *why, size_t room)
{
    const GrpcState  *s    = i->state;
    HoloTensor       *t    = &i->output[k];
    const GrpcOutput *o    = k < s->output_count && *s->output[k].region ? &s->output[k] : NULL;
    const char       *name = holo_model_output(i->model->holo, i->wanted[k])->name;
    Bytes             b    = {0};
    if (t->kind != HOLO_TENSOR)
        return snprintf(why, room, "the output '%.100s' is no tensor, and KServe has nothing else", name), false;
    Inference__ModelInferResponse__InferOutputTensor *m = take(sizeof *m);
    inference__model_infer_response__infer_output_tensor__init(m);
    m->name                    = (char *)name;
    m->datatype                = (char *)kserve_dtype_name((HoloDtype)t->dtype);
    m->shape                   = t->dim;
    m->n_shape                 = (size_t)t->rank;
    r->outputs[r->n_outputs++] = m;
    if (o) {
        if (t->dtype == HOLO_STRING || holo_tensor_bytes(t) > o->size)
            return snprintf(why, room, "the output '%.100s' does not fit its shared memory", name), false;
        if (!shared_write(i->exchange->server->shared, o->region, o->offset, t->data, holo_tensor_bytes(t), why, room))
            return false;
    } else if (!tensor_to_bytes(t, &b)) {
        return bytes_free(&b), snprintf(why, room, "out of memory"), false;
    }
    r->raw_output_contents[r->n_raw_output_contents++] = (ProtobufCBinaryData){b.size, (uint8_t *)b.data};
    return true;
}

Inference__ModelInferResponse *grpc_response(Infer *i, char *why, size_t room)
{
    Inference__ModelInferResponse *r = take(sizeof *r);
    inference__model_infer_response__init(r);
    r->model_name          = i->model->name;
    r->model_version       = i->model->version;
    r->id                  = i->id ? i->id : (char *)"";
    r->outputs             = take((size_t)i->wanted_count * sizeof *r->outputs);
    r->raw_output_contents = take((size_t)i->wanted_count * sizeof *r->raw_output_contents);
    for (int k = 0; k < i->wanted_count; k++)
        if (!write_output(i, r, k, why, room)) return grpc_response_free(r), NULL;
    return r;
}
