// cmd_verify.c - hologram verify: is every byte of an archive what the compiler wrote?

#include "json.h"
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
    const char *device = holo_model_meta_find(model, "verify.device"); // of an archive for a device and for the CPU
    if (device && !strcmp(device, "passed")) device = NULL;
    return cli_format("; verified against its model when it was compiled%s%s%s%s", inputs && *inputs ? ", on " : "",
                      inputs ? inputs : "", device ? "; the plan for devices: " : "", device ? device : "");
}

static void print_json(Json *json, const char *path, const HoloModel *model, const HoloModelInfo *info)
{
    json_open(json, NULL, '{');
    json_text(json, "file", path);
    json_bool(json, "good", true);
    json_int(json, "file_bytes", (int64_t)info->file_bytes);
    json_text(json, "verified", holo_model_meta_find(model, "verify.status"));
    json_text(json, "why_not", holo_model_meta_find(model, "verify.why_not"));
    json_text(json, "inputs", holo_model_meta_find(model, "verify.inputs"));
    if (holo_model_meta_find(model, "verify.device"))
        json_text(json, "device_verified", holo_model_meta_find(model, "verify.device"));
    json_close(json, '}');
}

static int verify_one(const Cli *cli, int arg, Json *json)
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
        if (json)
            print_json(json, path, model, &info);
        else
            printf("%s: %sgood%s, %s, structure and checksums hold%s\n", path, cli_color(stdout, "green"),
                   cli_color(stdout, "reset"), cli_bytes(&size, (double)info.file_bytes), proof(model));
    }
    if (model) holo_model_close(model);
    return result;
}

static int verify(Cli *cli)
{
    int  result = CLI_OK;
    Json json = {.out = stdout}, *as_json = cli_option(cli, "json") ? &json : NULL;
    if (as_json) {
        json_open(as_json, NULL, '{');
        json_open(as_json, "files", '[');
    }
    for (int i = 0; i < cli->arg_count; i++) {
        if (!verify_one(cli, i, as_json)) continue;
        result = CLI_FAILED;
        if (!as_json) continue;
        json_open(as_json, NULL, '{');
        json_text(as_json, "file", cli->args[i]);
        json_bool(as_json, "good", false);
        json_text(as_json, "error", cli_json_message());
        json_close(as_json, '}');
    }
    if (as_json) {
        json_close(as_json, ']');
        json_close(as_json, '}');
    }
    return result;
}

static const CliOption options[] = {
    {"json", 0, NULL, "print JSON, with the error of each broken file"},
    {0},
};

const CliCommand cli_verify = {
    .name      = "verify",
    .purpose   = "check the structure and checksums of .holo files",
    .arguments = "FILE...",
    .arg_min   = 1,
    .arg_max   = -1,
    .details = "Opening an archive checks its structure. This command also reads every byte and checks all checksums.\n"
               "It prints what the compiler recorded when it compared the plan with its model.",
    .examples = "  hologram verify model.holo\n",
    .options  = options,
    .run      = verify,
};
