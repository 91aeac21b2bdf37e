// cmd_convert.c - hologram convert: a model of any format as an ONNX model.

#include "cli.h"

#include "base/system.h"

static int convert(Cli *cli)
{
    HoloError   error  = {0};
    HoloSource *source = NULL;
    const char *path   = cli_option(cli, "output");
    if (!path) return cli_usage(cli, "-o says where the ONNX model goes");
    HoloStatus status = holo_source_open(cli->args[0], &source, &error);
    if (!status) status = holo_source_convert(source, path, &error);
    holo_source_close(source);
    if (status) return cli_fail_error(cli->args[0], &error, status);
    return CLI_OK;
}

static const CliOption options[] = {
    {"output", 'o', "FILE", "the ONNX model to write", .writes = true},
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
                 "  hologram convert saved_model/ -o model.onnx\n",
    .options   = options,
    .run       = convert,
};
