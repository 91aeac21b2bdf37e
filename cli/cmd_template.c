// cmd_template.c - hologram template: messages to the text that a model reads.

#include "cli.h"

#include "hologram_text.h"

#include <string.h>

// All of a stream, with a 0 behind it.
static char *read_all(FILE *stream, size_t *out_size)
{
    size_t room = 1 << 12, count;
    char  *text = cli_take(room, 1);
    *out_size   = 0;
    while ((count = fread(text + *out_size, 1, room - *out_size - 1, stream)) > 0) {
        *out_size += count;
        if (*out_size + 1 < room) continue;
        text = cli_grow(text, room, room * 2, 1);
        room *= 2;
    }
    text[*out_size] = 0;
    return text;
}

static int template_context(const Cli *cli, const char **out_context, size_t *out_size)
{
    const char *given = cli_option(cli, "context"), *why;
    *out_context      = given ? given : "{}";
    if (given && *given == '@') *out_context = cli_read_text(given + 1, &why);
    if (!*out_context) return cli_fail("--context is JSON, @ and the name of a file, or -", "%s: %s", given + 1, why);
    if (given && !strcmp(given, "-")) {
        *out_context = read_all(stdin, out_size);
        return CLI_OK;
    }
    *out_size = strlen(*out_context);
    return CLI_OK;
}

static int render(Cli *cli)
{
    HoloError     error    = {0};
    HoloTemplate *compiled = NULL;
    const char   *context  = NULL;
    char         *text     = NULL;
    size_t        size = 0, text_size = 0;
    int           result = template_context(cli, &context, &size);
    if (result) return result;
    HoloStatus status = holo_template_compile(cli->args[0], cli_option(cli, "name"), &compiled, &error);
    if (!status) status = holo_template_render(compiled, context, size, &text, &text_size, &error);
    if (status)
        result = cli_fail_error(cli->args[0], &error, status);
    else
        printf("%s", text);
    holo_text_free(text);
    holo_template_close(compiled);
    return result;
}

static const CliOption options[] = {
    {"context", 0, "JSON",
     "the variables of the template: a JSON object, @FILE for a file that has one, or - for the standard input"},
    {"name", 0, "NAME", "the template of this name, if a folder has several"},
    {0},
};

const CliCommand cli_template = {
    .name      = "template",
    .purpose   = "render a chat template: turn messages into the text that a model reads",
    .arguments = "FILE",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "FILE is a chat template in the Jinja language, or a HuggingFace folder, whose template and\n"
                 "special tokens are used. Prints the template, filled in with the variables of the context.",
    .examples =
        "  hologram template chat_template.jinja --context @messages.json\n"
        "  hologram template model_folder --context '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}'\n",
    .options = options,
    .run     = render,
};
