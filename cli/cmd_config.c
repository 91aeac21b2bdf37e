// cmd_config.c - hologram config: the settings in force, and where each comes from.

#include "cli.h"
#include "json.h"

#include "base/system.h"

#include <string.h>

// A misspelled HOLOGRAM_ variable would otherwise be ignored silently.
static void warn_unknown(void)
{
    for (char **entry = holo_environment(); *entry; entry++) {
        if (strncmp(*entry, "HOLOGRAM_", 9)) continue;
        size_t      size    = strcspn(*entry + 9, "=");
        const char *name    = cli_setting_name(cli_format("%.*s", (int)size, *entry + 9));
        const char *nearest = cli_setting_nearest(name);
        if (nearest && !strcmp(nearest, name)) continue;
        fprintf(stderr, "hologram: the environment has %.*s, but there is no setting '%s'%s\n", (int)(size + 9), *entry,
                name, nearest ? cli_format("; did you mean '%s'?", nearest) : "");
    }
}

static void print_json(void)
{
    Json json = {.out = stdout};
    json_open(&json, NULL, '{');
    for (int i = 0; i < cli_setting_count(); i++) {
        const CliValue *value = cli_setting(i);
        json_open(&json, value->setting->name, '{');
        json_text(&json, "value", value->text);
        json_text(&json, "from", value->from);
        json_close(&json, '}');
    }
    json_close(&json, '}');
}

static int config(Cli *cli)
{
    if (cli_option(cli, "json")) {
        print_json();
    } else {
        const char *bold = cli_color(stdout, "bold"), *dim = cli_color(stdout, "dim"),
                   *reset = cli_color(stdout, "reset");
        printf("%s%-12s %-8s %-18s%s %s\n", bold, "setting", "value", "from", reset, "");
        for (int i = 0; i < cli_setting_count(); i++) {
            const CliValue *value = cli_setting(i);
            printf("%-12s %-8s %-18s %s%s%s\n", value->setting->name, value->text, value->from, dim,
                   value->setting->help, reset);
        }
    }
    warn_unknown();
    return CLI_OK;
}

static const CliOption options[] = {
    {"json", 0, NULL, "print JSON"},
    {0},
};

const CliCommand cli_config = {
    .name      = "config",
    .purpose   = "show all settings, their values, and where each comes from",
    .arguments = "",
    .details   = "A setting NAME has the value of the first of these that sets it:\n"
                 "  the flag --NAME of a command,\n"
                 "  the environment variable HOLOGRAM_NAME,\n"
                 "  HOLOGRAM_NAME=value in the file .env of the working folder,\n"
                 "  NAME = value in the file hologram.toml of the working folder,\n"
                 "  the default.",
    .examples  = "  HOLOGRAM_THREADS=2 hologram config\n"
                 "  echo 'numeric = \"exact\"' > hologram.toml && hologram config\n",
    .options   = options,
    .run       = config,
};
