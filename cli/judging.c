// judging.c - see judging.h.
#include "judging.h"
#include "cli.h"

#include "base/system.h"

#include <stdlib.h>
#include <string.h>

static HoloStatus fail(HoloError *error, HoloStatus status, const char *text)
{
    snprintf(error->text, sizeof error->text, "%s", text);
    return status;
}

static char *sample_path(const char *folder, int sample)
{
    return cli_format("%s/%04d", folder, sample);
}

static char *output_path(const char *folder, const HoloOutputs *o, int sample, int output)
{
    char *name = cli_format("%s", o->names[output]);
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '_';
    return cli_format("%s/%s.npy", sample_path(folder, sample), name);
}

static HoloStatus outputs_write(const char *folder, const HoloOutputs *o, HoloError *error)
{
    for (int s = 0; s < o->sample_count; s++) {
        if (!holo_folder_make(sample_path(folder, s), true))
            return fail(error, HOLO_NO_FILE, cli_format("cannot create the folder %s", sample_path(folder, s)));
        for (int i = 0; i < o->output_count; i++) {
            const HoloTensor *t = &o->tensors[s * o->output_count + i];
            HoloStatus status   = t->data ? holo_tensor_write_npy(output_path(folder, o, s, i), t, error) : HOLO_OK;
            if (status) return status;
        }
    }
    return HOLO_OK;
}

static void outputs_remove(const char *folder, const HoloOutputs *o)
{
    for (int s = 0; s < o->sample_count; s++) {
        for (int i = 0; i < o->output_count; i++) holo_file_remove(output_path(folder, o, s, i));
        holo_folder_remove(sample_path(folder, s));
    }
    holo_folder_remove(folder);
}

// Reads the last word of the output as a number.
static bool number_read(char *text, double *out)
{
    size_t size = strlen(text);
    while (size && strchr(" \t\r\n", text[size - 1])) text[--size] = 0;
    while (size && !strchr(" \t\r\n", text[size - 1])) size--;
    char *end;
    *out = strtod(text + size, &end);
    return end != text + size && !*end;
}

static HoloStatus command_run(const char *command, const char *folder, double *out, HoloError *error)
{
    char text[4096];
    int  status = holo_command_run(command, folder, text, sizeof text);
    if (status < 0) return fail(error, HOLO_NO_FILE, cli_format("--accuracy %s: cannot run the command", command));
    if (status)
        return fail(error, HOLO_BAD_ARGUMENT,
                    cli_format("--accuracy %s: the command ended with status %d", command, status));
    if (!number_read(text, out))
        return fail(error, HOLO_BAD_ARGUMENT,
                    cli_format("--accuracy %s: the command must print a number last, but printed: %.200s", command,
                               *text ? text : "nothing"));
    return HOLO_OK;
}

HoloStatus cli_judge(void *command, const HoloOutputs *outputs, double *out_score, HoloError *error)
{
    char folder[CLI_PATH];
    if (!holo_temporary_folder(folder, sizeof folder))
        return fail(error, HOLO_NO_FILE, cli_format("cannot create a folder for outputs: %s", folder));
    HoloStatus status = outputs_write(folder, outputs, error);
    if (!status) status = command_run(command, folder, out_score, error);
    outputs_remove(folder, outputs);
    return status;
}
