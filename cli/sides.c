// sides.c - what an archive, a model or files of tensors give, by name. See sides.h.

#include "sides.h"

#include "samples.h"

#include "base/system.h"

#include <stdlib.h>
#include <string.h>

// ---- opening

// A folder of tensors, not one that is a model.
static bool is_tensors_folder(const char *path)
{
    HoloFileKind kind;
    return cli_is_folder(path) && (holo_file_kind(path, &kind, NULL) || kind != HOLO_FILE_MODEL);
}

int side_open(const Cli *cli, int arg, bool compiles, HoloPool *pool, Side *out)
{
    HoloError    error = {0};
    HoloFileKind kind;
    *out = (Side){.kind = SIDE_TENSORS, .path = cli->args[arg], .what = "tensors"};
    if (is_tensors_folder(out->path)) return CLI_OK;
    int result = cli_file_kind(cli, arg, &kind);
    out->path  = cli->args[arg];
    if (result || kind == HOLO_FILE_OTHER) return result;
    HoloStatus status = HOLO_OK;
    out->kind         = kind == HOLO_FILE_ARCHIVE || compiles ? SIDE_COMPILED : SIDE_PLAIN;
    if (out->kind == SIDE_PLAIN) {
        out->what = "model, by the reference implementations";
        status    = holo_source_open(out->path, &out->source, &error);
        if (!status) out->ports = cli_source_ports(out->source);
    } else {
        out->what = kind == HOLO_FILE_ARCHIVE ? "archive" : "model, compiled";
        result    = cli_model_open(cli, arg, &out->model);
        if (!result) status = holo_session_create(out->model, pool, &out->session, &error);
        if (!result) out->ports = cli_model_ports(out->model);
    }
    return status ? cli_fail_error(out->path, &error, status) : result;
}

void side_close(Side *side)
{
    side_clear(side);
    holo_session_destroy(side->session);
    if (side->model) holo_model_close(side->model);
    holo_source_close(side->source);
}

// ---- values

void side_clear(Side *side)
{
    for (int i = 0; i < side->count; i++)
        if (side->values[i].is_copy) free(side->values[i].tensor.data);
    for (int i = 0; i < side->owner_count; i++) holo_tensors_destroy(side->owners[i]);
    side->count = side->owner_count = 0;
}

static SideValue *add(Side *side, const char *name, const HoloTensor *tensor)
{
    if (side->count == side->room) {
        side->room   = side->room ? side->room * 2 : 64;
        side->values = cli_grow(side->values, (size_t)side->count, (size_t)side->room, sizeof *side->values);
    }
    SideValue *value = &side->values[side->count++];
    *value           = (SideValue){.name = name, .tensor = *tensor};
    return value;
}

// An output that is a list becomes several values: NAME.0, NAME.1 ...
static void add_output(Side *side, const char *name, const HoloTensor *t, bool is_random)
{
    if (t->kind == HOLO_TENSOR) {
        SideValue *value = add(side, name, t);
        value->is_output = true;
        value->is_random = is_random;
        return;
    }
    const HoloTensor *items = t->data;
    int64_t           count = t->kind == HOLO_MAP ? 2 : t->dim[0];
    for (int64_t i = 0; i < count; i++)
        add_output(side, t->kind == HOLO_OPTIONAL ? name : cli_format("%s.%lld", name, (long long)i), &items[i],
                   is_random);
}

// A HoloWatchFn: keeps what a node gave.
static void keep(void *context, const char *step, const char *name, const HoloTensor *view)
{
    Side  *side  = context;
    size_t bytes = view->kind == HOLO_TENSOR && view->dtype != HOLO_STRING ? holo_tensor_bytes(view) : 0;
    (void)step;
    if (!bytes || !*name || !view->data) return;
    HoloTensor copy = *view;
    copy.data       = malloc(bytes);
    if (!copy.data) return; // one node less to compare
    memcpy(copy.data, view->data, bytes);
    SideValue *value = add(side, cli_format("%s", name), &copy);
    value->is_copy   = true;
}

// ---- running

// The inputs in this side's order, NULL where one is left out.
static int arrange(const Side *side, const CliPorts *ports, const CliInput *inputs, const HoloTensor ***out)
{
    *out = cli_take((size_t)side->ports.count + 1, sizeof **out);
    for (int i = 0; i < side->ports.count; i++) {
        const HoloPort *port = side->ports.port[i];
        int             at   = 0;
        while (at < ports->count && strcmp(ports->port[at]->name, port->name)) at++;
        if (at < ports->count)
            (*out)[i] = inputs[at].tensor;
        else if (!port->optional)
            return cli_fail(NULL, "%s has an input '%s' that the other side does not have", side->path, port->name);
    }
    return CLI_OK;
}

static HoloStatus run_compiled(Side *side, const HoloTensor **inputs, HoloError *error)
{
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < side->ports.count && !status; i++)
        if (inputs[i]) status = holo_session_set_input(side->session, i, inputs[i], error);
    holo_session_watch(side->session, side->wants_nodes ? keep : NULL, side);
    if (!status) status = holo_session_run(side->session, error);
    for (int i = 0; i < holo_model_output_count(side->model) && !status; i++) {
        HoloTensor view;
        status = holo_session_output(side->session, i, &view, error);
        if (!status) add_output(side, holo_model_output(side->model, i)->name, &view, false);
    }
    return status;
}

static void own(Side *side, HoloTensors *tensors)
{
    side->owners =
        cli_grow(side->owners, (size_t)side->owner_count, (size_t)side->owner_count + 1, sizeof *side->owners);
    side->owners[side->owner_count++] = tensors;
}

static HoloStatus run_plain(Side *side, const HoloTensor **inputs, HoloError *error)
{
    HoloTensors *outputs;
    HoloStatus   status = holo_reference_watch(side->source, inputs, side->ports.count, side->wants_nodes ? keep : NULL,
                                               side, &outputs, error);
    if (status) return status;
    own(side, outputs);
    for (int i = 0; i < holo_tensors_count(outputs); i++) {
        const char       *name;
        const HoloTensor *t = holo_tensors_get(outputs, i, &name);
        add_output(side, name, t, holo_source_is_random(side->source, i, NULL, NULL));
    }
    return HOLO_OK;
}

// ---- files

static int read_file(Side *side, const char *path)
{
    HoloError    error = {0};
    HoloTensors *tensors;
    HoloStatus   status = holo_tensors_read(path, NULL, &tensors, &error);
    if (status) return cli_fail_error(path, &error, status);
    own(side, tensors);
    for (int i = 0; i < holo_tensors_count(tensors); i++) {
        const char       *name;
        const HoloTensor *t = holo_tensors_get(tensors, i, &name);
        add_output(side, *name ? name : cli_sample_name(path), t, false);
    }
    return CLI_OK;
}

static bool is_tensor_file(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && name[0] != '.' && (!strcmp(dot, ".npy") || !strcmp(dot, ".npz") || !strcmp(dot, ".pb"));
}

static int read_folder(Side *side, const char *sample)
{
    const char *folder = sample ? cli_format("%s/%s", side->path, sample) : side->path;
    if (!cli_is_folder(folder) && side->has_samples)
        return cli_fail("put the tensors of each sample into a folder named after it", "there is no folder %s", folder);
    if (!cli_is_folder(folder)) folder = side->path;
    HoloFolder entries;
    int        result = CLI_OK, count = 0;
    (void)holo_folder_list(folder, &entries, NULL);
    for (int i = 0; i < entries.count && !result; i++) {
        if (!is_tensor_file(entries.name[i])) continue;
        result = read_file(side, cli_format("%s/%s", folder, entries.name[i]));
        count++;
    }
    holo_folder_free(&entries);
    return count > 0 ? result
                     : cli_fail("each output is a file named after it, for example logits.npy",
                                "the folder %s has no tensors: no .npy, .npz or .pb file", folder);
}

int side_run(Side *side, const CliPorts *ports, const CliInput *inputs, const char *sample)
{
    const HoloTensor **list;
    HoloError          error = {0};
    if (side->kind == SIDE_TENSORS && cli_is_folder(side->path)) return read_folder(side, sample);
    if (side->kind == SIDE_TENSORS && side->has_samples)
        return cli_fail("give a folder with one folder per sample, named after it",
                        "%s is one file, but there are several samples", side->path);
    if (side->kind == SIDE_TENSORS) return read_file(side, side->path);
    int result = arrange(side, ports, inputs, &list);
    if (result) return result;
    HoloStatus status = side->kind == SIDE_PLAIN ? run_plain(side, list, &error) : run_compiled(side, list, &error);
    return status ? cli_fail_run(side->path, &error, status, cli_inputs_advice(ports, inputs)) : CLI_OK;
}
