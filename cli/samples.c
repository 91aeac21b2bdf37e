// samples.c - inputs of many runs. See samples.h.

#include "samples.h"

#include "image_input.h"

#include "base/system.h"

#include <string.h>
#include <strings.h>

static const char *const endings[] = {".npy", ".npz",  ".pb",  ".csv",  ".txt", ".png", ".jpg", ".jpeg",
                                      ".bmp", ".webp", ".tif", ".tiff", ".jp2", ".ppm", ".pgm"};
enum { OTHERS = 2, PICTURES = 5 }; // the first that the compiler does not read, and the first picture

bool cli_is_folder(const char *path)
{
    return holo_path_is_folder(path);
}

char *cli_sample_name(const char *path)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    size_t start = size;
    while (start && path[start - 1] != '/') start--;
    char       *name = cli_format("%.*s", (int)(size - start), path + start);
    const char *dot  = strrchr(name, '.');
    for (int i = 0; dot && dot > name && i < CLI_COUNT(endings); i++)
        if (!strcasecmp(dot, endings[i])) return cli_format("%.*s", (int)(dot - name), name);
    return name;
}

static bool has_ending(const char *name, int first) // cameras write capitals
{
    const char *dot = strrchr(name, '.');
    for (int i = first; dot && i < CLI_COUNT(endings); i++)
        if (!strcasecmp(dot, endings[i])) return true;
    return false;
}

bool cli_sample_is_other(const char *path)
{
    return has_ending(path, OTHERS);
}

// The file of an input in a folder; NULL: there is none.
static char *input_file(const char *folder, const char *input)
{
    char *name = cli_format("%s", input);
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '_';
    for (int i = 0; i < CLI_COUNT(endings); i++) {
        char *path = cli_format("%s/%s%s", folder, name, endings[i]);
        if (holo_path_exists(path)) return path;
    }
    return NULL;
}

int cli_samples_find(const CliPorts *ports, const char *path, CliSamples *out)
{
    HoloFolder entries = {0};
    bool       is_one = !cli_is_folder(path), has_pictures = false;
    *out = (CliSamples){0};
    for (int i = 0; i < ports->count && !is_one; i++) is_one = input_file(path, ports->port[i]->name);
    if (!is_one) (void)holo_folder_list(path, &entries, NULL);
    out->path = cli_take((size_t)entries.count + 1, sizeof *out->path);
    if (is_one) out->path[out->count++] = path;
    for (int i = 0; i < entries.count; i++) has_pictures |= has_ending(entries.name[i], PICTURES);
    for (int i = 0; i < entries.count; i++) {
        char       *entry = cli_format("%s/%s", path, entries.name[i]);
        const char *dot   = strrchr(entry, '.');
        bool        fits  = ports->count == 1 ? has_ending(entry, 0) : dot && !strcmp(dot, ".npz");
        if (has_pictures && dot && (!strcasecmp(dot, ".txt") || !strcasecmp(dot, ".csv"))) continue; // about them
        if (entries.name[i][0] != '.' && (fits || cli_is_folder(entry))) out->path[out->count++] = entry;
    }
    holo_folder_free(&entries);
    return out->count ? CLI_OK
                      : cli_fail("a sample is a .npz file, or a folder of files named after the inputs",
                                 "the folder %s has no samples", path);
}

int cli_sample_read(const Cli *cli, const CliPorts *ports, const char *path, CliInput **out_inputs)
{
    CliInput *inputs = *out_inputs = cli_take((size_t)ports->count + 1, sizeof *inputs);
    bool      is_folder            = cli_is_folder(path);
    int       result               = CLI_OK;
    if (!is_folder && ports->count != 1) result = cli_inputs_read_all(cli, ports, path, inputs);
    for (int i = 0; i < ports->count && !result; i++) {
        const HoloPort *port = ports->port[i];
        const char     *file = is_folder ? input_file(path, port->name) : path;
        if (!inputs[i].tensor && file && (is_folder || ports->count == 1))
            result = cli_input_read(cli, ports, i, file, &inputs[i]);
        if (!result && !inputs[i].tensor && !port->optional)
            result = cli_fail(NULL, "the sample %s has no tensor for the input '%s'", path, port->name);
    }
    return result ? result : cli_images_check(cli);
}
