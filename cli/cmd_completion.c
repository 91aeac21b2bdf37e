// cmd_completion.c - hologram completion: what a shell needs to complete command lines, made from the tables of
// options.

#include "quantizing.h"
#include "tables.h"

#include <stdlib.h>
#include <string.h>

// ---- what the tables say

const char *cli_option_choices(const CliOption *option)
{
    if (option->choices) return option->choices;
    if (!option->value) return NULL;
    for (int i = 0; i < cli_setting_count(); i++) {
        const CliSetting *s = cli_setting(i)->setting;
        if (strcmp(s->name, option->name) || !s->choices) continue;
        char *words = cli_format("%s", s->choices);
        for (char *c = words; *c; c++)
            if (*c == '|') *c = ' ';
        return words;
    }
    if (!strcmp(option->name, "quantize")) return cli_quantize_types();
    if (!strcmp(option->name, "ranges")) return cli_quantize_ranges();
    if (strcmp(option->value, "PASS")) return NULL;
    char       *passes = cli_format("%s", strcmp(option->name, "dump") ? "" : "import quantize plan all");
    const char *name;
    for (int i = 0; (name = holo_pass_name(i, NULL)); i++)
        passes = cli_format("%s%s%s", passes, *passes ? " " : "", name);
    return passes;
}

bool cli_option_is_file(const CliOption *option)
{
    static const char *const parts[] = {"FILE", "DIR", ".holo", ".json", "INPUTS"};
    for (int i = 0; option->value && i < CLI_COUNT(parts); i++)
        if (strstr(option->value, parts[i])) return true;
    return false;
}

char *cli_one_line(const char *text)
{
    char *line = cli_format("%s", text);
    for (char *c = line; *c; c++)
        if (*c == '\n') *c = ' ';
    return line;
}

// Are the arguments of a command names of other commands?
static bool takes_commands(const CliCommand *command)
{
    return !strcmp(command->arguments, "[COMMAND]");
}

static char *command_names(void)
{
    char *names = cli_format("%s", "");
    for (int i = 0; cli_commands[i]; i++) names = cli_format("%s%s%s", names, i ? " " : "", cli_commands[i]->name);
    return names;
}

// ---- bash

static void bash_values(const CliCommand *command)
{
    const CliOption *o;
    for (int i = 0; (o = cli_option_at(command, i)); i++) {
        const char *choices = cli_option_choices(o);
        if (!o->value) continue;
        printf("    '%s --%s'", command->name, o->name);
        if (o->letter) printf(" | '%s -%c'", command->name, o->letter);
        if (choices)
            printf(") COMPREPLY=($(compgen -W '%s' -- \"$current\")); return ;;\n", choices);
        else if (cli_option_is_file(o))
            printf(") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n");
        else
            printf(") return ;;\n");
    }
}

static void bash_words(const CliCommand *command)
{
    const CliOption *o;
    printf("    %s)\n        options='", command->name);
    for (int i = 0; (o = cli_option_at(command, i)); i++) printf("%s--%s", i ? " " : "", o->name);
    printf("'\n        words='%s' ;;\n", command->verbs            ? command->verbs
                                         : takes_commands(command) ? command_names()
                                                                   : "");
}

static void bash(void)
{
    printf(
        "# Completion of hologram for bash. Made by: hologram completion bash\n"
        "_hologram() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} first=2\n"
        "    local options words\n"
        "    COMPREPLY=()\n"
        "    case ${COMP_WORDS[0]##*/} in hologram-compile) command=compile first=1 ;; esac\n"
        "    if [ \"$COMP_CWORD\" -lt \"$first\" ]; then\n"
        "        COMPREPLY=($(compgen -W '%s' -- \"$current\"))\n"
        "        return\n"
        "    fi\n"
        "    if [ \"$current\" = = ]; then current=; fi\n"
        "    if [ \"$before\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
        "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
        "        case $before in -*) ;; *) COMPREPLY=($(compgen -f -- \"$current\")); return ;; esac\n"
        "    fi\n"
        "    case \"$command $before\" in\n",
        command_names());
    for (int i = 0; cli_commands[i]; i++) bash_values(cli_commands[i]);
    printf("    esac\n    case $command in\n");
    for (int i = 0; cli_commands[i]; i++) bash_words(cli_commands[i]);
    printf("    *) return ;;\n"
           "    esac\n"
           "    case $current in\n"
           "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
           "    *)\n"
           "        if [ -n \"$words\" ] && [ \"$COMP_CWORD\" = \"$first\" ]; then\n"
           "            COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
           "        else\n"
           "            COMPREPLY=($(compgen -f -- \"$current\"))\n"
           "        fi ;;\n"
           "    esac\n"
           "}\n"
           "complete -o filenames -F _hologram hologram hologram-compile\n");
}

// ---- zsh and fish

// A text inside single quotes. Characters of `also` get a backslash.
static char *quoted(const char *text, const char *also)
{
    char *line = cli_one_line(text), *out = cli_take(4 * strlen(line) + 1, 1), *to = out;
    for (const char *c = line; *c; c++) {
        if (*c == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
            continue;
        }
        if (strchr(also, *c)) *to++ = '\\';
        *to++ = *c;
    }
    return out;
}

static void zsh_option(const CliOption *o)
{
    const char *choices = cli_option_choices(o);
    char       *help = quoted(o->help, "\\[]:"), *value = "";
    if (o->value)
        value = cli_format(":%s:%s", quoted(o->value, "\\:"),
                           choices                 ? cli_format("(%s)", choices)
                           : cli_option_is_file(o) ? "_files"
                                                   : " ");
    if (!o->letter)
        printf("            '%s--%s[%s]%s'", o->many ? "*" : "", o->name, help, value);
    else
        printf("            '%s'{-%c,--%s}'[%s]%s'", o->many ? "*" : cli_format("(-%c --%s)", o->letter, o->name),
               o->letter, o->name, help, value);
    printf(" \\\n");
}

static void zsh(void)
{
    printf("#compdef hologram hologram-compile\n"
           "# Completion of hologram for zsh. Made by: hologram completion zsh\n"
           "_hologram() {\n"
           "    local -a commands\n"
           "    commands=(\n");
    for (int i = 0; cli_commands[i]; i++)
        printf("        '%s:%s'\n", cli_commands[i]->name, quoted(cli_commands[i]->purpose, "\\:"));
    printf("    )\n"
           "    local command=$words[2]\n"
           "    if [[ $service == hologram-compile ]]; then\n"
           "        command=compile\n"
           "    elif (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    else\n"
           "        shift words\n"
           "        (( CURRENT-- ))\n"
           "    fi\n"
           "    case $command in\n");
    for (int i = 0; cli_commands[i]; i++) {
        const CliCommand *command = cli_commands[i];
        const CliOption  *o;
        printf("    %s)\n        _arguments -s \\\n", command->name);
        for (int k = 0; (o = cli_option_at(command, k)); k++) zsh_option(o);
        if (command->verbs) printf("            '1:verb:(%s)' \\\n", command->verbs);
        printf("            '*:%s' ;;\n",
               takes_commands(command) ? cli_format("command:(%s)", command_names()) : "file:_files");
    }
    printf("    esac\n}\n_hologram \"$@\"\n");
}

static void fish_option(const char *command, const CliOption *o)
{
    const char *choices = cli_option_choices(o);
    printf("complete -c hologram -n '__fish_seen_subcommand_from %s' -l %s", command, o->name);
    if (o->letter) printf(" -s %c", o->letter);
    if (choices)
        printf(" -x -a '%s'", choices);
    else if (o->value)
        printf(cli_option_is_file(o) ? " -r -F" : " -x");
    printf(" -d '%s'\n", quoted(o->help, "\\"));
}

static void fish(void)
{
    printf("# Completion of hologram for fish. Made by: hologram completion fish\n"
           "complete -c hologram-compile -w 'hologram compile'\n");
    for (int i = 0; cli_commands[i]; i++)
        printf("complete -c hologram -n __fish_use_subcommand -f -a %s -d '%s'\n", cli_commands[i]->name,
               quoted(cli_commands[i]->purpose, "\\"));
    for (int i = 0; cli_commands[i]; i++) {
        const CliCommand *command = cli_commands[i];
        const CliOption  *o;
        for (int k = 0; (o = cli_option_at(command, k)); k++) fish_option(command->name, o);
        const char *words = command->verbs ? command->verbs : takes_commands(command) ? command_names() : NULL;
        if (words) printf("complete -c hologram -n '__fish_seen_subcommand_from %s' -a '%s'\n", command->name, words);
    }
}

// ---- the command

static int completion(Cli *cli)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (int i = 0; i < CLI_COUNT(shells); i++)
        if (!strcmp(shells[i].name, cli->args[0])) shells[i].print();
    return CLI_OK;
}

const CliCommand cli_completion = {
    .name      = "completion",
    .purpose   = "print the completion script for a shell",
    .arguments = "bash|zsh|fish",
    .verbs     = "bash zsh fish",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "`make install` installs these scripts where the shells look for them. The examples do it by hand.",
    .examples  = "  source <(hologram completion bash)\n"
                 "  hologram completion zsh > ~/.zfunc/_hologram\n"
                 "  hologram completion fish > ~/.config/fish/completions/hologram.fish\n",
    .run       = completion,
};
