// cmd_verify.c - hologram verify: is every byte of an archive what the compiler wrote?

#include "loading.h"

#include <string.h>

// What the compiler found when it compared the plan with its model.
static const char *proof(const HoloModel *model)
{
    const char *status = holo_model_meta_find(model, "verify.status"),
               *why    = holo_model_meta_find(model, "verify.why_not");
    const char *inputs = holo_model_meta_find(model, "verify.inputs");
    if (!status) return "";
    if (strcmp(status, "passed"))
        return cli_format("; %snot verified%s against its model when it was compiled: %s", cli_color(stdout, "yellow"),
                          cli_color(stdout, "reset"), why && *why ? why : status);
    return cli_format("; verified against its model when it was compiled%s%s", inputs && *inputs ? ", on " : "",
                      inputs ? inputs : "");
}

static int verify_one(const Cli *cli, int arg)
{
    HoloError    error = {0};
    HoloModel   *model = NULL;
    HoloFileKind kind;
    int          result = cli_file_kind(cli, arg, &kind);
    const char  *path   = cli->args[arg];
    if (result) return result;
    if (kind == HOLO_FILE_MODEL)
        return cli_fail(cli_format("compile it first: hologram compile %s", path), "%s is a model, not an archive",
                        path);
    HoloStatus status = holo_model_open(path, &model, &error);
    if (!status) status = holo_model_verify(model, &error);
    if (status) {
        result = cli_fail_error(path, &error, status);
    } else {
        HoloModelInfo info;
        CliText       size;
        holo_model_info(model, &info);
        printf("%s: %sgood%s, %s, structure and checksums hold%s\n", path, cli_color(stdout, "green"),
               cli_color(stdout, "reset"), cli_bytes(&size, (double)info.file_bytes), proof(model));
    }
    if (model) holo_model_close(model);
    return result;
}

static int verify(Cli *cli)
{
    int result = CLI_OK;
    for (int i = 0; i < cli->arg_count; i++)
        if (verify_one(cli, i)) result = CLI_FAILED;
    return result;
}

const CliCommand cli_verify = {
    .name      = "verify",
    .purpose   = "check structure and checksums of .holo files",
    .arguments = "FILE...",
    .arg_min   = 1,
    .arg_max   = -1,
    .details   = "Opening an archive checks its structure; this reads every byte and compares every checksum.\n"
                 "It also tells what the compiler wrote down when it compared the plan with its model.",
    .examples  = "  hologram verify model.holo\n",
    .run       = verify,
};
