// onnx_writer.c - the wire format of protobuf, and of ONNX on it.
#include "support/onnx_writer.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
    perror(what);
    abort();
}

// ---- protobuf

void pb_raw(Pb *pb, const void *data, size_t size)
{
    if (size > pb->room - pb->size) {
        size_t   room = 2 * (pb->size + size) + 64;
        uint8_t *more = realloc(pb->data, room);
        if (!more) die("onnx_writer");
        pb->data = more;
        pb->room = room;
    }
    if (size) memcpy(pb->data + pb->size, data, size);
    pb->size += size;
}

static void varint(Pb *pb, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        pb_raw(pb, &byte, 1);
        value >>= 7;
    } while (value);
}

static void tag(Pb *pb, int field, int wire)
{
    varint(pb, (uint64_t)field << 3 | (uint64_t)wire);
}

void pb_int(Pb *pb, int field, int64_t value)
{
    tag(pb, field, 0);
    varint(pb, (uint64_t)value);
}

void pb_float(Pb *pb, int field, float value)
{
    tag(pb, field, 5);
    pb_raw(pb, &value, sizeof value);
}

void pb_bytes(Pb *pb, int field, const void *data, size_t size)
{
    tag(pb, field, 2);
    varint(pb, size);
    pb_raw(pb, data, size);
}

void pb_text(Pb *pb, int field, const char *text)
{
    pb_bytes(pb, field, text, strlen(text));
}

void pb_message(Pb *pb, int field, Pb *child)
{
    pb_bytes(pb, field, child->data, child->size);
    pb_deinit(child);
}

void pb_deinit(Pb *pb)
{
    free(pb->data);
    *pb = (Pb){0};
}

// ---- lists in text

// The next part of "a,b,c", copied into `part`; false at the end. *list is NULL after the last.
static bool next_part(const char **list, char *part, size_t room)
{
    if (!*list) return false;
    size_t length = strcspn(*list, ",");
    snprintf(part, room, "%.*s", (int)length, *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

static bool is_number(const char *text)
{
    return *text == '-' || (*text >= '0' && *text <= '9');
}

// ---- types and tensors: field numbers are those of onnx.proto

static Pb type_of(int dtype, const char *shape)
{
    Pb   type = {0}, tensor = {0}, dims = {0};
    char part[64];
    pb_int(&tensor, 1, dtype);
    for (const char *rest = shape && *shape ? shape : NULL; next_part(&rest, part, sizeof part);) {
        Pb dim = {0};
        if (is_number(part))
            pb_int(&dim, 1, strtoll(part, NULL, 10));
        else if (*part)
            pb_text(&dim, 2, part);
        pb_message(&dims, 1, &dim);
    }
    if (shape) pb_message(&tensor, 2, &dims);
    pb_message(&type, 1, &tensor);
    return type;
}

static void value_info(OnnxGraph *graph, int field, const char *name, int dtype, const char *shape)
{
    Pb info = {0}, type = type_of(dtype, shape);
    pb_text(&info, 1, name);
    pb_message(&info, 2, &type);
    pb_message(&graph->message, field, &info);
}

void onnx_input(OnnxGraph *graph, const char *name, int dtype, const char *shape)
{
    value_info(graph, 11, name, dtype, shape);
}

void onnx_output(OnnxGraph *graph, const char *name, int dtype, const char *shape)
{
    value_info(graph, 12, name, dtype, shape);
}

// A TensorProto without data; returns its count of elements.
static int64_t tensor_begin(Pb *tensor, const char *name, int dtype, const char *shape)
{
    char    part[64];
    int64_t count = 1;
    for (const char *rest = *shape ? shape : NULL; next_part(&rest, part, sizeof part);) {
        int64_t size = strtoll(part, NULL, 10);
        count *= size;
        pb_int(tensor, 1, size);
    }
    pb_int(tensor, 2, dtype);
    pb_text(tensor, 8, name);
    return count;
}

void onnx_constant(OnnxGraph *graph, const char *name, int dtype, const char *shape, const void *data, size_t size)
{
    Pb tensor = {0};
    tensor_begin(&tensor, name, dtype, shape);
    pb_bytes(&tensor, 9, data, size);
    pb_message(&graph->message, 5, &tensor);
}

void onnx_weights(OnnxGraph *graph, const char *name, const char *shape, uint64_t seed, float scale)
{
    Pb         tensor = {0}, data = {0};
    HoloRandom random = {seed};
    int64_t    count  = tensor_begin(&tensor, name, HOLO_F32, shape);
    for (int64_t i = 0; i < count; i++) {
        float x = scale * (float)(2 * holo_random_unit(&random) - 1);
        pb_raw(&data, &x, sizeof x);
    }
    pb_message(&tensor, 9, &data);
    pb_message(&graph->message, 5, &tensor);
}

void onnx_ints(OnnxGraph *graph, const char *name, const char *shape, const int64_t *data)
{
    Pb      tensor = {0};
    int64_t count  = tensor_begin(&tensor, name, HOLO_I64, shape);
    pb_bytes(&tensor, 9, data, (size_t)count * sizeof *data);
    pb_message(&graph->message, 5, &tensor);
}

static void entry(Pb *pb, int field, const char *key, const char *value)
{
    Pb pair = {0};
    if (!value) return;
    pb_text(&pair, 1, key);
    pb_text(&pair, 2, value);
    pb_message(pb, field, &pair);
}

void onnx_external(OnnxGraph *graph, const char *name, int dtype, const char *shape, const char *location,
                   const char *offset, const char *length)
{
    Pb tensor = {0};
    tensor_begin(&tensor, name, dtype, shape);
    entry(&tensor, 13, "location", location);
    entry(&tensor, 13, "offset", offset);
    entry(&tensor, 13, "length", length);
    pb_int(&tensor, 14, 1);
    pb_message(&graph->message, 5, &tensor);
}

// ---- nodes

enum { ATTR_FLOAT = 1, ATTR_INT = 2, ATTR_STRING = 3, ATTR_GRAPH = 5, ATTR_FLOATS = 6, ATTR_INTS = 7 };

static void attribute_value(Pb *attr, char *value)
{
    if (*value == '\'') {
        value[strlen(value) - 1] = 0;
        pb_text(attr, 4, value + 1);
        pb_int(attr, 20, ATTR_STRING);
        return;
    }
    bool is_list = *value == '[', is_float = strchr(value, '.') != NULL;
    if (is_list) {
        value[strlen(value) - 1] = 0;
        value++;
    }
    char        part[64];
    const char *rest = *value ? value : NULL;
    while (next_part(&rest, part, sizeof part)) {
        if (is_float)
            pb_float(attr, is_list ? 7 : 2, strtof(part, NULL));
        else
            pb_int(attr, is_list ? 8 : 3, strtoll(part, NULL, 10));
    }
    pb_int(attr, 20, is_float ? (is_list ? ATTR_FLOATS : ATTR_FLOAT) : is_list ? ATTR_INTS : ATTR_INT);
}

static void attributes_add(Pb *node, const char *attributes)
{
    char copy[512], *state, *word;
    snprintf(copy, sizeof copy, "%s", attributes);
    for (word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        char *equals = strchr(word, '=');
        Pb    attr   = {0};
        *equals      = 0;
        pb_text(&attr, 1, word);
        attribute_value(&attr, equals + 1);
        pb_message(node, 5, &attr);
    }
}

void onnx_node_with(OnnxGraph *graph, const char *op, const char *inputs, const char *outputs, const char *attributes,
                    const char *body_name, OnnxGraph *body)
{
    Pb          node = {0};
    char        part[128];
    const char *colons = strstr(op, "::"), *rest = *inputs ? inputs : NULL;
    while (next_part(&rest, part, sizeof part)) pb_text(&node, 1, part);
    for (rest = outputs; next_part(&rest, part, sizeof part);) pb_text(&node, 2, part);
    pb_text(&node, 4, colons ? colons + 2 : op);
    if (colons) pb_bytes(&node, 7, op, (size_t)(colons - op));
    attributes_add(&node, attributes);
    if (body) {
        Pb attr = {0};
        pb_text(&attr, 1, body_name);
        pb_int(&attr, 20, ATTR_GRAPH);
        pb_text(&body->message, 2, body_name);
        pb_message(&attr, 6, &body->message);
        pb_message(&node, 5, &attr);
    }
    pb_message(&graph->message, 1, &node);
}

void onnx_node(OnnxGraph *graph, const char *op, const char *inputs, const char *outputs, const char *attributes)
{
    onnx_node_with(graph, op, inputs, outputs, attributes, NULL, NULL);
}

// ---- models

void onnx_opset(OnnxModel *model, const char *domain, int64_t version)
{
    Pb opset = {0};
    pb_text(&opset, 1, domain);
    pb_int(&opset, 2, version);
    pb_message(&model->rest, 8, &opset);
    model->opsets++;
}

void onnx_metadata(OnnxModel *model, const char *key, const char *value)
{
    entry(&model->rest, 14, key, value);
}

Pb onnx_finish(OnnxModel *model)
{
    Pb all = {0};
    if (!model->opsets) onnx_opset(model, "", 17);
    pb_text(&model->graph.message, 2, "test");
    pb_int(&all, 1, model->ir_version ? model->ir_version : 8);
    pb_text(&all, 2, "hologram tests");
    pb_message(&all, 7, &model->graph.message);
    pb_raw(&all, model->rest.data, model->rest.size);
    pb_deinit(&model->rest);
    *model = (OnnxModel){0};
    return all;
}

void onnx_save(OnnxModel *model, const char *path)
{
    Pb    all  = onnx_finish(model);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(all.data, 1, all.size, file) != all.size || fclose(file)) die(path);
    pb_deinit(&all);
}
