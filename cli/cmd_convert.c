// cmd_convert.c - hologram convert: a model of any format as an ONNX model.

#include "loading.h"

#include <stdio.h>
#include <string.h>

// Makes the entry that --entry names the one to write.
static int choose(const Cli *cli, HoloSource *source)
{
    const char *name = cli_option(cli, "entry"), *names = "";
    HoloError   error = {0};
    for (int i = 0; i < holo_source_entry_count(source); i++) {
        const char *entry = holo_source_entry_name(source, i);
        names             = cli_format("%s%s%s", names, i ? ", " : "", entry);
        if (!name || strcmp(name, entry)) continue;
        HoloStatus status = holo_source_choose(source, i, &error);
        return status ? cli_fail_error(cli->args[0], &error, status) : CLI_OK;
    }
    if (name) return cli_fail(cli_format("entries: %s", names), "%s has no entry '%s'", cli->args[0], name);
    if (holo_source_entry_count(source) == 1) return CLI_OK;
    return cli_fail(cli_format("choose one with --entry: %s", names),
                    "%s has several entries, and an ONNX model has one", cli->args[0]);
}

// The ending of a format that is not written; NULL: it has none of these.
static const char *other_format(const char *path)
{
    static const char *const endings[] = {".tflite", ".pb",  ".pbtxt", ".h5",   ".keras",       ".pt",  ".pt2",
                                          ".pth",    ".xml", ".nnef",  ".gguf", ".safetensors", ".holo"};
    const char              *point     = strrchr(path, '.');
    for (size_t i = 0; point && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(point, endings[i])) return endings[i];
    return NULL;
}

static int convert(Cli *cli)
{
    HoloError     error    = {0};
    HoloSource   *source   = NULL;
    HoloCompiler *compiler = NULL;
    const char   *path     = cli_option(cli, "output");
    if (!path) return cli_usage(cli, "-o says where the ONNX model goes");
    if (other_format(path))
        return cli_fail(!strcmp(other_format(path), ".holo") ? "hologram compile makes archives"
                                                             : "name the file like this: -o model.onnx",
                        "convert writes ONNX, not %s", other_format(path));
    int result = cli_compiler(cli, &compiler);
    if (result) return result;
    HoloStatus status = holo_source_open_with(compiler, cli->args[0], &source, &error);
    if (!status) result = choose(cli, source);
    if (!status && !result) status = holo_source_convert(source, path, &error);
    holo_source_close(source);
    holo_compiler_destroy(compiler);
    return status ? cli_fail_error(cli->args[0], &error, status) : result;
}

static const CliOption options[] = {
    {"output", 'o', "FILE", "the ONNX model to write", .writes = true},
    CLI_OPTION_SHAPE,
    {"entry", 0, "NAME", "of a model with several entries, the one to write: see inspect"},
    {0},
};

const CliCommand cli_convert = {
    .name      = "convert",
    .purpose   = "write a model of any format as an ONNX model",
    .arguments = "MODEL",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "The graph is written as it was imported, without optimization. A model of more than\n"
                 "2 GiB gets a file of weights beside it, FILE.data.",
    .examples  = "  hologram convert model.h5 -o model.onnx\n"
                 "  hologram convert script.pt -o model.onnx --input-shape x:1,3,224,224\n"
                 "  hologram convert saved_model/ -o model.onnx\n",
    .options   = options,
    .run       = convert,
};
