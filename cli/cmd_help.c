// cmd_help.c - hologram help, hologram version.

#include "json.h"
#include "tables.h"

#include <string.h>

static void overview(void)
{
    const char *bold = cli_color(stdout, "bold"), *reset = cli_color(stdout, "reset");
    printf("%shologram%s turns a trained model into one file that opens in microseconds and runs fast.\n\n", bold,
           reset);
    printf("%susage:%s hologram COMMAND [options] [arguments]\n\n%scommands:%s\n", bold, reset, bold, reset);
    for (int i = 0; cli_commands[i]; i++)
        printf("  %s%-10s%s  %s\n", cli_color(stdout, "cyan"), cli_commands[i]->name, reset, cli_commands[i]->purpose);
    printf("\n%sa first use:%s\n"
           "  hologram compile model.onnx -o model.holo\n"
           "  hologram inspect model.holo\n"
           "  hologram run model.holo --input x=image.npy --output results\n\n"
           "`hologram help COMMAND` explains a command.\n",
           bold, reset);
}

static int help(Cli *cli)
{
    const CliCommand *command = cli->arg_count ? cli_command_find(cli->args[0]) : NULL;
    if (cli->arg_count && !command) return CLI_USAGE;
    if (cli_option(cli, "man"))
        cli_print_man(command);
    else if (command)
        cli_print_help(command);
    else
        overview();
    return CLI_OK;
}

static const CliOption options[] = {
    {"man", 0, NULL, "print it as a manual page"},
    {0},
};

const CliCommand cli_help = {
    .name      = "help",
    .purpose   = "list the commands, or explain one",
    .arguments = "[COMMAND]",
    .arg_max   = 1,
    .examples  = "  hologram help compile\n"
                 "  hologram help --man compile | man -l -\n",
    .options   = options,
    .run       = help,
};

static int version(Cli *cli)
{
    Json json = {.out = stdout};
    if (!cli_option(cli, "json")) {
        printf("hologram %s (%s)\n", holo_version(), holo_cpu_level());
        return CLI_OK;
    }
    json_open(&json, NULL, '{');
    json_text(&json, "version", holo_version());
    json_text(&json, "cpu", holo_cpu_level());
    json_close(&json, '}');
    return CLI_OK;
}

static const CliOption version_options[] = {
    {"json", 0, NULL, "print JSON"},
    {0},
};

const CliCommand cli_version = {
    .name      = "version",
    .purpose   = "show the version and the CPU level in use",
    .arguments = "",
    .options   = version_options,
    .run       = version,
};
