// cmd_pull.c - hologram pull: fetches a model from HuggingFace's hub.

#include "hub.h"
#include "json.h"

#include "base/system.h"

#include <string.h>

// The values of an option that may be given several times, and NULL.
static const char **values(const Cli *cli, const char *name)
{
    const char **list  = cli_take((size_t)cli->given_count + 1, sizeof *list), *value;
    int          count = 0;
    for (int cursor = 0; (value = cli_option_next(cli, name, &cursor));) list[count++] = value;
    return list;
}

static void print_json(const Hub *hub)
{
    Json json = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", hub->repo);
    json_text(&json, "revision", hub->revision);
    json_text(&json, "commit", hub->commit);
    json_text(&json, "folder", hub_place(hub));
    json_open(&json, "files", '[');
    for (int i = 0; i < hub->count; i++) {
        const HubFile *file = &hub->file[i];
        if (!file->is_chosen) continue;
        json_open(&json, NULL, '{');
        json_text(&json, "name", file->name);
        if (file->size >= 0) json_int(&json, "bytes", file->size);
        json_bool(&json, "fetched", file->is_new);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static void print_text(const Hub *hub)
{
    CliText text;
    int     count = 0, fresh = 0;
    int64_t bytes = 0;
    for (int i = 0; i < hub->count; i++) {
        const HubFile *file = &hub->file[i];
        count += file->is_chosen;
        fresh += file->is_new;
        if (file->is_new) bytes += file->size;
    }
    printf("%s\n", hub_place(hub));
    if (hub->is_offline)
        printf("  %s at %.12s, from the cache\n", hub->repo, hub->commit);
    else
        printf("  %s at %.12s: %d file%s, %d fetched (%s)\n", hub->repo, hub->commit, count, count == 1 ? "" : "s",
               fresh, cli_bytes(&text, (double)bytes));
}

static int pull(Cli *cli)
{
    Hub hub;
    int result = hub_open(&hub, cli->args[0]);
    hub.output = cli_option(cli, "output");
    if (!result && hub.output && hub.is_offline)
        return cli_fail("unset HF_HUB_OFFLINE", "--output downloads files, but HF_HUB_OFFLINE is set");
    if (!result) result = hub_list(&hub);
    if (!result) result = hub_choose(&hub, values(cli, "include"), values(cli, "exclude"));
    if (!result) result = hub_fetch(&hub);
    if (result) return result;
    if (cli_option(cli, "json"))
        print_json(&hub);
    else if (!cli_option(cli, "quiet"))
        print_text(&hub);
    return CLI_OK;
}

static const CliOption options[] = {
    {"include", 0, "PATTERN",
     "download the files that match, such as '*.onnx', instead of\nthose that compile needs; may be given several times",
     .many = true},
    {"exclude", 0, "PATTERN", "leave out the files that match; may be given several times", .many = true},
    {"output", 'o', "DIR", "put the files into this folder instead of the cache"},
    {"json", 0, NULL, "print the folder and its files as JSON", .without = "quiet"},
    {"quiet", 'q', NULL, "print nothing"},
    {0},
};

const CliCommand cli_pull = {
    .name      = "pull",
    .purpose   = "download a model from HuggingFace's hub",
    .arguments = "OWNER/NAME[@REVISION]",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "Downloads what `hologram compile` needs: the config, the tokenizer, and the weights as safetensors\n"
                 "or, if there are none, as PyTorch checkpoints. The files go to the cache that HuggingFace's Python\n"
                 "library uses too, so nothing is downloaded twice. An interrupted download resumes where it stopped.\n"
                 "Every command that takes a model also takes hf:OWNER/NAME, and downloads it first.\n"
                 "In patterns, * matches any characters and ? matches one.\n"
                 "Environment variables: HF_TOKEN (or the file of `hf auth login`) for private and gated models,\n"
                 "HF_HOME or HF_HUB_CACHE for the cache, HF_ENDPOINT for another hub, HF_HUB_OFFLINE=1 to use\n"
                 "only the cache.",
    .examples  = "  hologram pull google-bert/bert-base-uncased\n"
                 "  hologram pull google-bert/bert-base-uncased@main --include '*.onnx' -o bert\n"
                 "  hologram compile hf:google-bert/bert-base-uncased\n",
    .options   = options,
    .run       = pull,
};
