// prepared.c - see prepared.h.
#include "prepared.h"
#include "samples.h"

#include "base/system.h"

#include <stdlib.h>
#include <string.h>

// ---- what was made

static struct {
    const char **path; // files and folders, each behind the folder that it is in
    size_t       count;
} made;

static const char *note(const char *path)
{
    made.path               = cli_grow(made.path, made.count, made.count + 1, sizeof *made.path);
    made.path[made.count++] = path;
    return path;
}

void cli_prepared_remove(void)
{
    while (made.count) {
        const char *path = made.path[--made.count];
        if (cli_is_folder(path))
            holo_folder_remove(path);
        else
            holo_file_remove(path);
    }
}

static int folder_new(const char **out)
{
    char path[CLI_PATH];
    if (!holo_temporary_folder(path, sizeof path)) return cli_temporary_failed(path);
    *out = note(cli_format("%s", path));
    return CLI_OK;
}

// ---- what has to be made

// Is there something at this path, or in the folder, that the compiler does not read? Beside files that it reads, others
// are not samples.
static bool has_others(const char *path, int depth)
{
    HoloFolder entries = {0};
    bool       found = false, is_read = false;
    if (!cli_is_folder(path)) return cli_sample_is_other(path) && holo_path_exists(path);
    if (!depth || holo_folder_list(path, &entries, NULL)) return false;
    for (int i = 0; i < entries.count; i++) {
        const char *entry = cli_format("%s/%s", path, entries.name[i]), *dot = strrchr(entry, '.');
        if (entries.name[i][0] == '.') continue;
        found   = found || has_others(entry, depth - 1);
        is_read = is_read || (dot && (!strcmp(dot, ".npy") || !strcmp(dot, ".npz")));
    }
    holo_folder_free(&entries);
    return found && !is_read;
}

// ---- making it

static int input_write(const char *folder, const HoloPort *port, const CliInput *input, const char **out)
{
    HoloError error = {0};
    char     *name  = cli_format("%s", port->name);
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '_';
    const char *path   = note(cli_format("%s/%s.npy", folder, name));
    HoloStatus  status = holo_tensor_write_npy(path, input->tensor, &error);
    if (out) *out = path;
    return status ? cli_fail_error(path, &error, status) : CLI_OK;
}

static int sample_write(const CliPorts *ports, const CliInput *inputs, const char *folder, const char *name)
{
    int result = CLI_OK;
    folder     = cli_format("%s/%s", folder, name);
    if (!holo_folder_make(folder, true)) return cli_temporary_failed(folder);
    note(folder);
    for (int i = 0; i < ports->count && !result; i++)
        if (inputs[i].tensor) result = input_write(folder, ports->port[i], &inputs[i], NULL);
    return result;
}

static int samples_write(const Cli *cli, const CliPorts *ports, const char *path, const char **out)
{
    CliSamples samples = {0};
    int        result  = cli_samples_find(ports, path, &samples);
    if (!result) result = folder_new(out);
    for (int i = 0; i < samples.count && !result; i++) {
        CliInput *inputs = NULL;
        result           = cli_sample_read(cli, ports, samples.path[i], &inputs);
        if (!result) result = sample_write(ports, inputs, *out, holo_path_name(samples.path[i]));
        if (inputs) cli_inputs_free(inputs, ports->count);
    }
    return result;
}

// NAME=FILE: one input.
static int input_prepare(const Cli *cli, const CliPorts *ports, const char *name, const char *file, const char **out)
{
    CliInput    input  = {0};
    const char *folder = NULL, *path = NULL;
    int         at = 0, result;
    while (at < ports->count && strcmp(ports->port[at]->name, name)) at++;
    if (at == ports->count) return CLI_OK; // the compiler says what is wrong
    result = cli_input_read(cli, ports, at, file, &input);
    if (!result) result = folder_new(&folder);
    if (!result) result = input_write(folder, ports->port[at], &input, &path);
    if (!result) *out = cli_format("%s=%s", name, path);
    cli_inputs_free(&input, 1);
    return result;
}

int cli_prepare(const Cli *cli, const HoloCompiler *compiler, const char *path, const char **out)
{
    HoloError   error  = {0};
    HoloSource *source = NULL;
    const char *equals = path ? strchr(path, '=') : NULL;
    *out               = path;
    if (!path) return CLI_OK;
    bool is_one = equals && !holo_path_exists(path) && has_others(equals + 1, 0);
    if (!is_one && !has_others(path, 2)) return CLI_OK;
    HoloStatus status = holo_source_open_with(compiler, cli->args[0], &source, &error);
    if (status) return cli_fail_error(cli->args[0], &error, status);
    CliPorts ports = cli_source_ports(source);
    int result = is_one ? input_prepare(cli, &ports, cli_format("%.*s", (int)(equals - path), path), equals + 1, out)
                        : samples_write(cli, &ports, path, out);
    holo_source_close(source);
    return result;
}
