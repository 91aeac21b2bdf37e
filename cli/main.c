// main.c - the program `hologram`: finds the command, reads options and settings, runs it.

#include "hub.h"

#include "base/system.h"

#include <string.h>

// The commands, in the order in which the help lists them.
// clang-format off
#define COMMANDS(X) \
    X(compile) X(convert) X(pull) X(run) X(test) X(bench) X(inspect) X(explain) X(graph) \
    X(ops) X(verify) X(compare) X(bisect) X(memo_command) X(kernel) X(atlas) X(tokenize) \
    X(template) X(grammar) X(generate) X(chat) X(embed) X(classify) X(transcribe) X(imagine) X(serve) X(config) X(completion) X(help) X(version)
// clang-format on
#define DECLARE(name) extern const CliCommand cli_##name;
#define POINT(name)   &cli_##name,
COMMANDS(DECLARE)
const CliCommand *const cli_commands[] = {COMMANDS(POINT) NULL};

// The usual spellings of commands as options.
static const char *spelling(const char *word)
{
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) return "help";
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) return "version";
    return word;
}

static const CliCommand *command_named(const char *name) // NULL: there is none
{
    for (int i = 0; cli_commands[i]; i++)
        if (!strcmp(cli_commands[i]->name, name)) return cli_commands[i];
    return NULL;
}

const CliCommand *cli_command_find(const char *name)
{
    const char       *names[CLI_COUNT(cli_commands)] = {0};
    const CliCommand *command                        = command_named(name);
    if (command) return command;
    for (int i = 0; cli_commands[i]; i++) names[i] = cli_commands[i]->name;
    const char *nearest = cli_other_command(name);
    if (!nearest) nearest = cli_nearest(name, names);
    if (*name == '-')
        cli_fail("hologram COMMAND [options] [arguments]; see: hologram help", "expected a command, but found '%s'",
                 name);
    else if (holo_path_exists(name))
        cli_fail(cli_format("hologram run %s, hologram compile %s ...; see: hologram help", name, name),
                 "'%s' is a file; put a command before it", name);
    else if (nearest)
        cli_fail("see: hologram help", "there is no command '%s'; did you mean '%s'?", name, nearest);
    else
        cli_fail("see: hologram help", "there is no command '%s'", name);
    return NULL;
}

// Under the name hologram-compile, the program is its command compile.
static bool is_compile(const char *program)
{
    const char *name = holo_path_name(program);
    return !strcmp(name, "hologram-compile") || !strcmp(name, "hologram-compile.exe");
}

// Who asks for JSON gets JSON, even if the command line is wrong. `test --json FILE` writes a file and prints for
// people.
static bool wants_json(const CliCommand *command, int argc, char **argv)
{
    bool takes_value = false;
    for (const CliOption *o = command ? command->options : NULL; o && o->name; o++)
        if (!strcmp(o->name, "json")) takes_value = o->value;
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++) {
        if (!strcmp(argv[i], "--json=-") && takes_value) return true;
        if (strcmp(argv[i], "--json")) continue;
        return !takes_value || (i + 1 < argc && !strcmp(argv[i + 1], "-"));
    }
    return false;
}

static int dispatch(int argc, char **argv)
{
    bool        compiles = argc > 0 && is_compile(argv[0]);
    const char *name     = compiles ? "compile" : argc > 1 ? spelling(argv[1]) : "help";
    Cli         cli      = {0};
    int         words    = compiles ? 1 : 2; // before the command's own
    if (argc > words && wants_json(command_named(name), argc - words, argv + words)) cli_json_messages();
    cli.command = cli_command_find(name);
    if (!cli.command) return CLI_USAGE;
    cli_term_command(cli.command);
    int status = cli_parse(&cli, argc > words ? argc - words : 0, argv + words);
    if (!status) status = cli_settings_load(&cli);
    if (status) return status;
    cli_term_init(cli_is("color", "always"), cli_is("color", "never"));
    holo_memory_set_limit(cli_size("memory-limit"));
    if (cli_option(&cli, "help")) {
        cli_print_help(cli.command);
        return CLI_OK;
    }
    status = cli.command == &cli_pull ? CLI_OK : hub_arguments(&cli);
    return status ? status : cli.command->run(&cli);
}

int main(int argc, char **argv)
{
    holo_program_begin(&argc, &argv);
    cli_term_init(false, false);
    int status = dispatch(argc, argv);
    cli_progress_end();
    if (fflush(stdout) && !status) status = cli_fail(NULL, "cannot write the output");
    cli_json_end(status);
    cli_free_all();
    return status;
}
