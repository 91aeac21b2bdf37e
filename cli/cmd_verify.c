// cmd_verify.c - hologram verify: is every byte of an archive what the compiler wrote?

#include "loading.h"

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
        printf("%s: %sgood%s, %s, structure and checksums hold\n", path, cli_color(stdout, "green"),
               cli_color(stdout, "reset"), cli_bytes(&size, (double)info.file_bytes));
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
    .details   = "Opening an archive checks its structure; this reads every byte and compares every checksum.",
    .examples  = "  hologram verify model.holo\n",
    .run       = verify,
};
