// settings.c - settings and where they come from: a flag, the environment, .env, hologram.toml, a default.
//
// .env and hologram.toml are looked for in the working folder. Of TOML only `key = value` lines are read:
// strings, numbers, true and false. What cannot be understood is an error with its line number.

#include "cli.h"

#include "base/system.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const CliSetting table[] = {
    {"threads", "0", NULL, 0, 256, true, false, "threads that a model runs on; 0: one per core"},
    {"numeric", "fused", "fused|exact|bf16|tf32|f16", 0, 0, false, false,
     "fused: in f32; exact: the same bits on every CPU; bf16: products of bf16"},
    {"size", "balanced", "small|balanced|fast", 0, 0, false, false, "how large an archive may become for speed"},
    {"verify", "true", "true|false", 0, 0, false, false, "compare the compiled plan with the model before writing it"},
    {"strict", "false", "true|false", 0, 0, false, false, "fail if a plan could not be verified"},
    {"seconds", "3", NULL, 0.01, 86400, false, false, "how long `hologram bench` measures"},
    {"rtol", "1e-3", NULL, 0, INFINITY, false, false,
     "relative tolerance of `hologram test`; `compare` needs the flag"},
    {"atol", "1e-7", NULL, 0, INFINITY, false, false,
     "absolute tolerance of `hologram test`; `compare` needs the flag"},
    {"jobs", "0", NULL, 0, 1024, true, false, "cases that `hologram test` runs at once; 0: one per core"},
    {"timeout", "60", NULL, 0.1, 86400, false, false, "seconds until `hologram test` gives a case up"},
    {"memory-limit", "0", NULL, 0, 0, false, true, "limit for memory in use, for example 4G; 0: what is left"},
    {"color", "auto", "auto|always|never", 0, 0, false, false, "colors on terminals (NO_COLOR turns them off)"},
};

enum { COUNT = CLI_COUNT(table) };
static CliValue values[COUNT];

static int find(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(table[i].name, name)) return i;
    return -1;
}

static char *environment_name(const char *name)
{
    char *text = cli_format("HOLOGRAM_%s", name);
    for (char *c = text; *c; c++) *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return text;
}

// ---- checking

static bool is_choice(const char *choices, const char *text)
{
    size_t size = strlen(text);
    for (const char *c = choices; size;) {
        size_t length = strcspn(c, "|");
        if (length == size && !memcmp(c, text, size)) return true;
        if (!c[length]) return false;
        c += length + 1;
    }
    return false;
}

// "1" and "0", "yes" and "no" are as good as true and false.
static const char *normal(const CliSetting *setting, const char *text)
{
    static const char *const words[][2] = {{"1", "true"},  {"yes", "true"}, {"on", "true"},
                                           {"0", "false"}, {"no", "false"}, {"off", "false"}};
    if (!setting->choices || strcmp(setting->choices, "true|false")) return text;
    for (int i = 0; i < CLI_COUNT(words); i++)
        if (!strcmp(words[i][0], text)) return words[i][1];
    return text;
}

static int set(int index, const char *text, const char *from)
{
    const CliSetting *setting = &table[index];
    Cli               nobody  = {0};
    uint64_t          bytes;
    text = normal(setting, text);
    if (setting->choices) {
        if (!is_choice(setting->choices, text))
            return cli_usage(&nobody, "%s: '%s' is not one of %s", from, text, setting->choices);
    } else if (setting->bytes) {
        if (!cli_read_bytes(text, &bytes)) return cli_usage(&nobody, "%s: " CLI_BYTES_WRONG, from, text);
    } else {
        char *end;
        errno         = 0;
        double number = strtod(text, &end);
        bool   is_hex = strpbrk(text, "xX"); // which strtod reads, too
        bool   fits   = end != text && !*end && !errno && !is_hex && number >= setting->low && number <= setting->high;
        if (!fits || (setting->whole && number != floor(number)))
            return cli_usage(&nobody, "%s: '%s' is not a %s from %g to %g", from, text,
                             setting->whole ? "whole number" : "number", setting->low, setting->high);
    }
    values[index].text = text;
    snprintf(values[index].from, sizeof values[index].from, "%s", from);
    return CLI_OK;
}

const char *cli_setting_nearest(const char *name)
{
    const char *names[COUNT + 1] = {0};
    for (int i = 0; i < COUNT; i++) names[i] = table[i].name;
    return cli_nearest(name, names);
}

static int unknown(const char *from, const char *name)
{
    const char *nearest = cli_setting_nearest(name);
    Cli         nobody  = {0};
    return nearest ? cli_usage(&nobody, "%s: there is no setting '%s'; did you mean '%s'?", from, name, nearest)
                   : cli_usage(&nobody, "%s: there is no setting '%s'; `hologram config` lists them", from, name);
}

// The same from a line of a file, which may set each setting once.
static int set_once(int index, const char *text, const char *from)
{
    Cli    nobody = {0};
    size_t path   = strcspn(from, ":") + 1;
    if (!strncmp(values[index].from, from, path))
        return cli_usage(&nobody, "%s: the setting '%s' is given twice: see also %s", from, table[index].name,
                         values[index].from);
    return set(index, text, from);
}

// ---- files

static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) *--end = 0;
    return text;
}

// Takes quotes off, or a comment from an unquoted value. NULL: a quote is not closed, or something follows it.
static char *unquote(char *text)
{
    if (*text != '"' && *text != '\'') {
        for (char *c = text; *c; c++)
            if (*c == '#' && (c == text || isspace((unsigned char)c[-1]))) *c = 0;
        return trim(text);
    }
    char *end = strchr(text + 1, *text);
    if (!end) return NULL;
    char *rest = trim(end + 1);
    if (*rest && *rest != '#') return NULL;
    *end = 0;
    return text + 1;
}

const char *cli_setting_name(const char *variable)
{
    char *name = cli_format("%s", variable);
    for (char *c = name; *c; c++) *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    return name;
}

// One line of .env: lines of other programs, without HOLOGRAM_, are not ours to judge.
static int env_line(char *line, const char *from)
{
    if (!strncmp(line, "export ", 7)) line = trim(line + 7);
    if (strncmp(line, "HOLOGRAM_", 9)) return CLI_OK;
    char *equals = strchr(line, '='), *value;
    Cli   nobody = {0};
    if (!equals) return cli_usage(&nobody, "%s: expected HOLOGRAM_NAME=value", from);
    *equals           = 0;
    const char *name  = cli_setting_name(trim(line + 9));
    int         index = find(name);
    if (index < 0) return unknown(from, name);
    if (!(value = unquote(trim(equals + 1)))) return cli_usage(&nobody, "%s: the quotes do not match", from);
    return set_once(index, cli_format("%s", value), from);
}

static int toml_line(char *line, const char *from)
{
    Cli nobody = {0};
    if (*line == '[') return cli_usage(&nobody, "%s: tables are not supported: write plain lines, key = value", from);
    char *equals = strchr(line, '='), *value;
    if (!equals) return cli_usage(&nobody, "%s: expected key = value", from);
    *equals   = 0;
    int index = find(trim(line));
    if (index < 0) return unknown(from, trim(line));
    if (!(value = unquote(trim(equals + 1)))) return cli_usage(&nobody, "%s: the quotes do not match", from);
    return set_once(index, cli_format("%s", value), from);
}

// A file that others may have for other uses, a folder even or a pipe, is read only where it is one of text.
static int read_lines(const char *path, bool is_ours, int (*take)(char *line, const char *from))
{
    const char *why;
    Cli         nobody = {0};
    char       *text   = cli_read_text(path, &why);
    if (!text && is_ours && holo_path_exists(path)) return cli_usage(&nobody, "cannot read %s: %s", path, why);
    int status = CLI_OK;
    for (int number = 1; text && *text && !status; number++) {
        size_t size = strcspn(text, "\n");
        char  *line = trim(cli_format("%.*s", (int)size, text));
        if (*line && *line != '#') status = take(line, cli_format("%s:%d", path, number));
        text += size + (text[size] != 0);
    }
    return status;
}

// ---- the order of it all

// A variable that nearly has the name of a setting is a mistake, or it is meant for another program.
static void warn_of_variables(void)
{
    for (char **v = holo_environment(); *v; v++) {
        size_t size = strcspn(*v, "=");
        if (strncmp(*v, "HOLOGRAM_", 9) || size == 9) continue;
        const char *name    = cli_setting_name(cli_format("%.*s", (int)size - 9, *v + 9));
        const char *nearest = find(name) < 0 ? cli_setting_nearest(name) : NULL;
        if (nearest)
            cli_warn("%.*s is not the name of a setting; did you mean %s?", (int)size, *v, environment_name(nearest));
    }
}

static int from_environment(void)
{
    int status = CLI_OK;
    for (int i = 0; !status && i < COUNT; i++) {
        const char *name = environment_name(table[i].name), *value = getenv(name);
        if (value && *value) status = set(i, value, name);
    }
    return status;
}

// --name VALUE sets a setting, --no-name sets it to false, and --name of a switch to true.
static int from_flags(const Cli *cli)
{
    int status = CLI_OK;
    for (int i = 0; !status && i < cli->given_count; i++) {
        const CliGiven *given = &cli->given[i];
        const char     *name  = given->option->name;
        bool            off   = !strncmp(name, "no-", 3) && !given->value;
        int             index = find(off ? name + 3 : name);
        if (index >= 0 && !given->option->is_own)
            status = set(index, off ? "false" : given->value ? given->value : "true", cli_format("--%s", name));
    }
    return status;
}

int cli_settings_load(const Cli *cli)
{
    for (int i = 0; i < COUNT; i++) {
        values[i] = (CliValue){.setting = &table[i], .text = table[i].fallback};
        snprintf(values[i].from, sizeof values[i].from, "default");
    }
    int status = read_lines("hologram.toml", true, toml_line); // the later wins
    if (!status) status = read_lines(".env", false, env_line);
    if (strcmp(cli->command->name, "config")) warn_of_variables(); // which says more about them
    if (!status) status = from_environment();
    if (!status) status = from_flags(cli);
    return status;
}

int cli_setting_count(void)
{
    return COUNT;
}

const CliValue *cli_setting(int index)
{
    return &values[index];
}

double cli_number(const char *name)
{
    return strtod(values[find(name)].text, NULL);
}

uint64_t cli_size(const char *name)
{
    uint64_t bytes = 0;
    return cli_read_bytes(values[find(name)].text, &bytes) ? bytes : 0;
}

bool cli_is(const char *name, const char *choice)
{
    return !strcmp(values[find(name)].text, choice);
}

const char *cli_setting_source(const char *name)
{
    return values[find(name)].from;
}
