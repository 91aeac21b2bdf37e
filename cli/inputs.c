// inputs.c - finds and checks what --input gives, by name: files, random numbers, or seeded defaults.

#include "image_input.h"

#include "base/system.h"

#include <string.h>

CliPorts cli_model_ports(const HoloModel *model)
{
    CliPorts ports = {.count = holo_model_input_count(model)};
    ports.port     = cli_take((size_t)ports.count + 1, sizeof *ports.port);
    for (int i = 0; i < ports.count; i++) ports.port[i] = holo_model_input(model, i);
    return ports;
}

CliPorts cli_source_ports(const HoloSource *source)
{
    CliPorts ports = {.count = holo_source_input_count(source)};
    ports.port     = cli_take((size_t)ports.count + 1, sizeof *ports.port);
    for (int i = 0; i < ports.count; i++) ports.port[i] = holo_source_input(source, i);
    return ports;
}

static int port_find(const CliPorts *ports, const char *name)
{
    for (int i = 0; i < ports->count; i++)
        if (!strcmp(ports->port[i]->name, name)) return i;
    return -1;
}

enum { LISTED_MAX = 50 }; // inputs that a message lists

static char *list_names(const CliPorts *ports)
{
    char *text = cli_format("%s", "");
    for (int i = 0; i < ports->count; i++) {
        if (i == LISTED_MAX) return cli_format("%s and %d more", text, ports->count - i);
        const HoloPort *port = ports->port[i];
        CliText         type;
        text = cli_format("%s%s%s %s", text, i ? ", " : "", port->name, cli_type(&type, &port->type, port->symbol));
    }
    return text;
}

// The input that `text` names before an '=', and what follows. Names and paths may contain an '=', too, so the names of
// the model decide. -1: it names none of them.
static int split(const CliPorts *ports, const char *text, const char **out_source)
{
    int found = -1;
    for (int i = 0; i < ports->count; i++) {
        const char *name = ports->port[i]->name;
        size_t      size = strlen(name);
        if (strncmp(text, name, size) || text[size] != '=') continue;
        *out_source = text + size + 1;
        found       = i;
    }
    return found;
}

// ---- sizes that the model leaves open

typedef struct Size { // of a symbol, which several inputs may have
    const char *symbol, *from;
    int64_t     size;
} Size;

typedef struct Sizes {
    CliShape *shapes; // of --input-shape
    int       shape_count;
    Size     *sizes;
    int       count;
} Sizes;

static const Size *size_of(const Sizes *s, const char *symbol)
{
    for (int i = 0; symbol && i < s->count; i++)
        if (!strcmp(s->sizes[i].symbol, symbol)) return &s->sizes[i];
    return NULL;
}

static const CliShape *shape_of(const Sizes *s, const char *name)
{
    for (int i = 0; i < s->shape_count; i++)
        if (!strcmp(s->shapes[i].name, name)) return &s->shapes[i];
    return NULL;
}

// A known symbol stays; an unknown one, "?", is not one size.
static void learn(Sizes *s, const HoloPort *port, int rank, const int64_t *dim, const char *from)
{
    for (int d = 0; d < rank && d < port->type.rank; d++) {
        if (dim[d] < 0 || !port->symbol[d] || !strcmp(port->symbol[d], "?") || size_of(s, port->symbol[d])) continue;
        s->sizes             = cli_grow(s->sizes, (size_t)s->count, (size_t)s->count + 1, sizeof *s->sizes);
        s->sizes[s->count++] = (Size){port->symbol[d], from, dim[d]};
    }
}

static char *shape_text(const CliShape *shape)
{
    char *text = cli_format("%s:", shape->name);
    for (int d = 0; d < shape->rank; d++)
        text = shape->dim[d] < 0 ? cli_format("%s%s?", text, d ? "," : "")
                                 : cli_format("%s%s%lld", text, d ? "," : "", (long long)shape->dim[d]);
    return text;
}

static int check_shape(Sizes *s, const HoloPort *port, const CliShape *shape)
{
    char   *text = shape_text(shape);
    CliText type;
    cli_type(&type, &port->type, port->symbol);
    if (port->type.rank >= 0 && port->type.rank != shape->rank)
        return cli_fail(NULL, "--input-shape %s: the input has %d dimensions: %s", text, port->type.rank, type.data);
    for (int d = 0; d < port->type.rank; d++) {
        const Size *known = size_of(s, port->symbol[d]);
        if (shape->dim[d] < 0) continue;
        if (port->type.dim[d] >= 0 && port->type.dim[d] != shape->dim[d])
            return cli_fail(NULL, "--input-shape %s: dimension %d of the input is fixed at %lld: %s", text, d,
                            (long long)port->type.dim[d], type.data);
        if (known && known->size != shape->dim[d])
            return cli_fail(NULL,
                            "--input-shape %s: %s is already %lld because of --input-shape %s, and cannot be %lld here",
                            text, known->symbol, (long long)known->size, known->from, (long long)shape->dim[d]);
    }
    learn(s, port, shape->rank, shape->dim, text);
    return CLI_OK;
}

static int sizes_read(const Cli *cli, const CliPorts *ports, Sizes *out)
{
    int result = cli_shapes(cli, &out->shapes, &out->shape_count);
    for (int i = 0; !result && i < out->shape_count; i++) {
        int index = port_find(ports, out->shapes[i].name);
        result    = index < 0 ? cli_fail(cli_format("the inputs are: %s", list_names(ports)),
                                         "--input-shape %s: the model has no input called '%s'",
                                         shape_text(&out->shapes[i]), out->shapes[i].name)
                              : check_shape(out, ports->port[index], &out->shapes[i]);
    }
    return result;
}

// The type of an input with a number for every size: from --input-shape, from another input with the same symbol, else
// 1.
static HoloTensor sized(const Sizes *s, const HoloPort *port, bool *out_guessed)
{
    HoloTensor      type  = port->type;
    const CliShape *shape = shape_of(s, port->name);
    if (shape) type.rank = (int8_t)shape->rank;
    if (type.rank < 0) type.rank = 0;
    for (int d = 0; d < type.rank; d++) {
        const Size *known = port->type.rank < 0 ? NULL : size_of(s, port->symbol[d]);
        if (shape && (port->type.rank < 0 || shape->dim[d] >= 0)) type.dim[d] = shape->dim[d];
        if (type.dim[d] < 0 && known) type.dim[d] = known->size;
        if (type.dim[d] >= 0) continue;
        type.dim[d]  = 1;
        *out_guessed = true;
    }
    return type;
}

// ---- where they come from

static int seed(const Sizes *sizes, const CliPorts *ports, int index, CliInput *input)
{
    const HoloPort *port   = ports->port[index];
    HoloTensor      type   = sized(sizes, port, &input->guessed);
    HoloError       error  = {0};
    HoloStatus      status = holo_tensors_seeded(&type, (uint64_t)index + 1, &input->tensors, &error);
    if (status) return cli_fail_error(cli_format("the input '%s'", port->name), &error, status);
    input->tensor = holo_tensors_get(input->tensors, 0, NULL);
    return CLI_OK;
}

static int given_twice(const Cli *cli, const CliPorts *ports, int index)
{
    return cli_usage(cli, "the input '%s' is given twice", ports->port[index]->name);
}

static int index_of(const HoloTensors *tensors, const char *wanted)
{
    const char *name;
    for (int i = 0; i < holo_tensors_count(tensors); i++)
        if (holo_tensors_get(tensors, i, &name) && !strcmp(name, wanted)) return i;
    return -1;
}

// The type of an input, with the sizes of --input-shape: for sources without a shape of their own.
static int type_wanted(const Cli *cli, const HoloPort *port, HoloTensor *out)
{
    CliShape *shapes;
    int       count, result = cli_shapes(cli, &shapes, &count);
    *out = port->type;
    for (int i = 0; i < count && !result; i++)
        for (int d = 0; d < out->rank && !strcmp(shapes[i].name, port->name); d++)
            if (shapes[i].dim[d] >= 0) out->dim[d] = shapes[i].dim[d];
    return result;
}

int cli_input_read(const Cli *cli, const CliPorts *ports, int index, const char *path, CliInput *input)
{
    input->is_given       = true;
    const HoloPort *port  = ports->port[index];
    HoloError       error = {0};
    HoloTensor      type;
    int             result = type_wanted(cli, port, &type);
    if (result) return result;
    if (holo_is_picture(path)) return cli_image_read(cli, port, &type, path, input);
    HoloStatus status = holo_tensors_open(path, &type, &input->tensors, &error);
    if (status) return cli_fail_error(NULL, &error, status);
    int at = index_of(input->tensors, port->name);
    if (at < 0 && holo_tensors_count(input->tensors) == 1) at = 0;
    if (at < 0) return cli_fail(NULL, "%s has no tensor called '%s'", path, port->name);
    input->tensor = holo_tensors_get(input->tensors, at, NULL);
    status        = holo_port_fits(port, input->tensor, &error); // before its data is read
    if (!status) status = holo_tensors_load(input->tensors, at, &error);
    return status ? cli_fail_error(path, &error, status) : CLI_OK;
}

// --input FILE.npz without a name: every tensor that is named like an input.
int cli_inputs_read_all(const Cli *cli, const CliPorts *ports, const char *path, CliInput *inputs)
{
    HoloError    error = {0};
    HoloTensors *probe;
    HoloStatus   status = holo_tensors_open(path, NULL, &probe, &error);
    if (status) return cli_fail_error(NULL, &error, status);
    int found = 0, result = CLI_OK;
    for (int i = 0; !result && i < ports->count; i++) {
        if (!holo_tensors_find(probe, ports->port[i]->name)) continue;
        result = inputs[i].is_given ? given_twice(cli, ports, i) : cli_input_read(cli, ports, i, path, &inputs[i]);
        found++;
    }
    holo_tensors_destroy(probe);
    if (!result && !found)
        return cli_fail(NULL, "%s has no tensor with the name of an input of the model: %s", path, list_names(ports));
    return result;
}

// --input NAME=1,2,3: the numbers themselves.
static int parse(const Cli *cli, const HoloPort *port, const char *text, CliInput *input)
{
    HoloError  error = {0};
    HoloTensor type;
    int        result = type_wanted(cli, port, &type);
    if (result) return result;
    HoloStatus status = holo_tensors_parse(text, &type, &input->tensors, &error);
    if (status) return cli_fail_error(cli_format("--input %s=%.40s", port->name, text), &error, status);
    input->tensor = holo_tensors_get(input->tensors, 0, NULL);
    return CLI_OK;
}

static bool is_numbers(const char *text)
{
    return strpbrk(text, "0123456789") && !text[strspn(text, "0123456789+-.,; []eE")];
}

// A missing file may mean that the user writes inputs in another way.
static int no_file(const CliPorts *ports, int index, const char *source)
{
    const char *name = ports->port[index]->name, *advice = NULL;
    size_t      size = strlen(name);
    if (!strncmp(source, name, size) && source[size] == ':')
        advice = cli_format("did you mean --input %s=%s?", name, source + size + 1);
    for (int i = 0; i < ports->count && !advice; i++)
        if (strstr(source, cli_format(",%s=", ports->port[i]->name)))
            advice = "give each input its own --input: --input a=FILE --input b=FILE";
    return cli_fail(advice, "the file '%s' for the input '%s' does not exist", source, name);
}

static int take(const Cli *cli, const CliPorts *ports, const char *text, CliInput *inputs)
{
    const char *source = text;
    int         index = split(ports, text, &source), count = ports->count;
    if (index < 0) {
        const char *equals = strchr(text, '='), *dot = strrchr(text, '.');
        if (equals)
            return cli_fail(cli_format("the inputs are: %s", list_names(ports)), "the model has no input called '%.*s'",
                            (int)(equals - text), text);
        if (dot && !strcmp(dot, ".npz")) return cli_inputs_read_all(cli, ports, text, inputs);
        if (count != 1)
            return cli_fail(cli_format("the inputs are: %s", list_names(ports)),
                            "--input %s: the name of the input is missing: --input NAME=%s", text, text);
        index = 0;
    }
    if (inputs[index].is_given) return given_twice(cli, ports, index);
    inputs[index].is_given  = true;
    inputs[index].is_random = !strcmp(source, "random");
    if (inputs[index].is_random) return CLI_OK; // it is made when the sizes of all others are known
    int result = cli_standard_input(&source);
    if (!result && !holo_path_exists(source))
        return is_numbers(source) ? parse(cli, ports->port[index], source, &inputs[index])
                                  : no_file(ports, index, source);
    return result ? result : cli_input_read(cli, ports, index, source, &inputs[index]);
}

// A file gives sizes to other inputs, and must have the shape that was given for it.
static int check_given(Sizes *sizes, const HoloPort *port, const CliInput *input)
{
    const CliShape   *shape = shape_of(sizes, port->name);
    const HoloTensor *t     = input->tensor;
    CliText           type;
    if (!t || t->kind != HOLO_TENSOR) return CLI_OK;
    bool fits = !shape || shape->rank == t->rank;
    for (int d = 0; fits && shape && d < t->rank; d++) fits = shape->dim[d] < 0 || shape->dim[d] == t->dim[d];
    if (!fits)
        return cli_fail(NULL, "--input-shape %s: the tensor given for that input is %s", shape_text(shape),
                        cli_type(&type, t, NULL));
    learn(sizes, port, t->rank, t->dim, "");
    return CLI_OK;
}

int cli_inputs_read(const Cli *cli, const CliPorts *ports, bool seed_missing, CliInput **out_inputs)
{
    int         count = ports->count, result = CLI_OK;
    CliInput   *inputs = *out_inputs = cli_take((size_t)count + 1, sizeof *inputs);
    const char *text;
    Sizes       sizes = {0};
    result            = sizes_read(cli, ports, &sizes);
    for (int cursor = 0; !result && (text = cli_option_next(cli, "input", &cursor));)
        result = take(cli, ports, text, inputs);
    if (!result) result = cli_images_check(cli);
    for (int i = 0; !result && i < count; i++) result = check_given(&sizes, ports->port[i], &inputs[i]);
    for (int i = 0; !result && i < count; i++) {
        const HoloPort *port = ports->port[i];
        CliText         type;
        if (inputs[i].tensor || (port->optional && !inputs[i].is_random)) continue;
        if (seed_missing || inputs[i].is_random)
            result = seed(&sizes, ports, i, &inputs[i]);
        else
            result = cli_fail(cli_format("give --input %s=FILE.npy, or --input %s=random", port->name, port->name),
                              "the input '%s' is missing: %s", port->name, cli_type(&type, &port->type, port->symbol));
    }
    return result;
}

int cli_inputs_open(const Cli *cli, const HoloModel *model, bool seed_missing, CliInput **out_inputs)
{
    CliPorts ports = cli_model_ports(model);
    return cli_inputs_read(cli, &ports, seed_missing, out_inputs);
}

void cli_inputs_free(CliInput *inputs, int count)
{
    for (int i = 0; inputs && i < count; i++) holo_tensors_destroy(inputs[i].tensors);
}

void cli_inputs_close(CliInput *inputs, const HoloModel *model)
{
    cli_inputs_free(inputs, holo_model_input_count(model));
}

int cli_inputs_set(HoloSession *session, const HoloModel *model, const CliInput *inputs)
{
    for (int i = 0; i < holo_model_input_count(model); i++) {
        HoloError  error  = {0};
        HoloStatus status = inputs[i].tensor ? holo_session_set_input(session, i, inputs[i].tensor, &error) : HOLO_OK;
        if (status) return cli_fail_error(NULL, &error, status);
    }
    return CLI_OK;
}

int cli_fail_run(const char *path, const HoloError *error, HoloStatus status, const char *advice)
{
    bool is_of_sizes = status == HOLO_BAD_INPUT || status == HOLO_BAD_MODEL || status == HOLO_BAD_ARGUMENT ||
                       status == HOLO_UNSUPPORTED;
    cli_fail_error(path, error, status);
    if (is_of_sizes) cli_advice(advice);
    return CLI_FAILED;
}

const char *cli_inputs_advice(const CliPorts *ports, const CliInput *inputs)
{
    const char *given = "";
    for (int i = 0, listed = 0; inputs && i < ports->count; i++) {
        if (!inputs[i].guessed) continue;
        if (listed++ == LISTED_MAX) return cli_format("dynamic sizes were set to 1, as with%s and others", given);
        given = cli_format("%s --input-shape %s:", given, ports->port[i]->name);
        for (int d = 0; d < inputs[i].tensor->rank; d++)
            given = cli_format("%s%s%lld", given, d ? "," : "", (long long)inputs[i].tensor->dim[d]);
    }
    return *given ? cli_format("dynamic sizes were set to 1, as with%s", given) : NULL;
}
