// inputs.c - what --input gives, found and checked by name: files, random numbers, or seeded defaults.

#include "loading.h"

#include <string.h>

static char *list_names(const HoloModel *model)
{
    char *text = cli_format("%s", "");
    for (int i = 0; i < holo_model_input_count(model); i++) {
        const HoloPort *port = holo_model_input(model, i);
        CliText         type;
        text = cli_format("%s%s%s %s", text, i ? ", " : "", port->name, cli_type(&type, &port->type, port->symbol));
    }
    return text;
}

// The input that `text` names before an '=', and what stands behind it. Names and paths may have an '=' too,
// so the names of the model decide. -1: none of them.
static int split(const HoloModel *model, const char *text, const char **out_source)
{
    int found = -1;
    for (int i = 0; i < holo_model_input_count(model); i++) {
        const char *name = holo_model_input(model, i)->name;
        size_t      size = strlen(name);
        if (strncmp(text, name, size) || text[size] != '=') continue;
        *out_source = text + size + 1;
        found       = i;
    }
    return found;
}

// The type of an input with every size a number: by --input-shape, else 1 where the model leaves it open.
static HoloTensor sized(const Cli *cli, const HoloPort *port, bool *out_guessed)
{
    HoloTensor type = port->type;
    CliShape  *shapes;
    int        count;
    if (type.rank < 0) type.rank = 0;
    if (cli_shapes(cli, &shapes, &count)) count = 0; // reported when the model was opened
    for (int i = 0; i < count; i++) {
        if (strcmp(shapes[i].name, port->name)) continue;
        for (int d = 0; d < shapes[i].rank; d++)
            if (shapes[i].dim[d] >= 0) type.dim[d] = shapes[i].dim[d];
        type.rank = (int8_t)shapes[i].rank;
    }
    for (int d = 0; d < type.rank; d++) {
        if (type.dim[d] >= 0) continue;
        type.dim[d]  = 1;
        *out_guessed = true;
    }
    return type;
}

static int seed(const Cli *cli, const HoloModel *model, int index, CliInput *input)
{
    const HoloPort *port   = holo_model_input(model, index);
    HoloTensor      type   = sized(cli, port, &input->guessed);
    HoloError       error  = {0};
    HoloStatus      status = holo_tensors_seeded(&type, (uint64_t)index + 1, &input->tensors, &error);
    if (status) return cli_fail_error(NULL, &error, status);
    input->tensor = holo_tensors_get(input->tensors, 0, NULL);
    return CLI_OK;
}

static int read_one(const HoloModel *model, int index, const char *path, CliInput *input)
{
    const HoloPort *port   = holo_model_input(model, index);
    HoloError       error  = {0};
    HoloStatus      status = holo_tensors_read(path, &port->type, &input->tensors, &error);
    if (status) return cli_fail_error(NULL, &error, status);
    input->tensor = holo_tensors_find(input->tensors, port->name);
    if (!input->tensor && holo_tensors_count(input->tensors) == 1)
        input->tensor = holo_tensors_get(input->tensors, 0, NULL);
    if (!input->tensor) return cli_fail(NULL, "%s has no tensor called '%s'", path, port->name);
    return CLI_OK;
}

// --input FILE.npz without a name: every tensor of it that is called like an input.
static int read_all(const HoloModel *model, const char *path, CliInput *inputs)
{
    HoloError    error = {0};
    HoloTensors *probe;
    HoloStatus   status = holo_tensors_read(path, NULL, &probe, &error);
    if (status) return cli_fail_error(NULL, &error, status);
    int found = 0, result = CLI_OK;
    for (int i = 0; !result && i < holo_model_input_count(model); i++) {
        if (!holo_tensors_find(probe, holo_model_input(model, i)->name)) continue;
        holo_tensors_destroy(inputs[i].tensors);
        result = read_one(model, i, path, &inputs[i]);
        found++;
    }
    holo_tensors_destroy(probe);
    if (!result && !found)
        return cli_fail(NULL, "%s has no tensor called like an input of the model: %s", path, list_names(model));
    return result;
}

static int take(const Cli *cli, const HoloModel *model, const char *text, CliInput *inputs)
{
    const char *source = text;
    int         index = split(model, text, &source), count = holo_model_input_count(model);
    if (index < 0) {
        const char *equals = strchr(text, '='), *dot = strrchr(text, '.');
        if (equals)
            return cli_fail(cli_format("the inputs are: %s", list_names(model)), "the model has no input called '%.*s'",
                            (int)(equals - text), text);
        if (dot && !strcmp(dot, ".npz")) return read_all(model, text, inputs);
        if (count != 1)
            return cli_fail(cli_format("the inputs are: %s", list_names(model)),
                            "--input %s: say for which input: --input NAME=%s", text, text);
        index = 0;
    }
    holo_tensors_destroy(inputs[index].tensors); // given twice: the last one counts
    inputs[index] = (CliInput){0};
    return strcmp(source, "random") ? read_one(model, index, source, &inputs[index])
                                    : seed(cli, model, index, &inputs[index]);
}

int cli_inputs_open(const Cli *cli, const HoloModel *model, bool seed_missing, CliInput **out_inputs)
{
    int         count = holo_model_input_count(model), result = CLI_OK;
    CliInput   *inputs = *out_inputs = cli_take((size_t)count + 1, sizeof *inputs);
    const char *text;
    for (int cursor = 0; !result && (text = cli_option_next(cli, "input", &cursor));)
        result = take(cli, model, text, inputs);
    for (int i = 0; !result && i < count; i++) {
        const HoloPort *port = holo_model_input(model, i);
        CliText         type;
        if (inputs[i].tensor || port->optional) continue;
        if (seed_missing)
            result = seed(cli, model, i, &inputs[i]);
        else
            result =
                cli_fail(cli_format("give --input %s=FILE.npy, or --input %s=random", port->name, port->name),
                         "the input '%s' is not given: %s", port->name, cli_type(&type, &port->type, port->symbol));
    }
    return result;
}

void cli_inputs_close(CliInput *inputs, const HoloModel *model)
{
    for (int i = 0; i < holo_model_input_count(model); i++) holo_tensors_destroy(inputs[i].tensors);
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

const char *cli_inputs_advice(const HoloModel *model, const CliInput *inputs)
{
    const char *given = "";
    for (int i = 0; i < holo_model_input_count(model); i++) {
        if (!inputs[i].guessed) continue;
        given = cli_format("%s --input-shape %s:", given, holo_model_input(model, i)->name);
        for (int d = 0; d < inputs[i].tensor->rank; d++)
            given = cli_format("%s%s%lld", given, d ? "," : "", (long long)inputs[i].tensor->dim[d]);
    }
    return *given ? cli_format("sizes that are not given were taken as 1, as if by%s", given) : NULL;
}
