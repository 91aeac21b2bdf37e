// options.c - the command line: options and help, both from a command's table.

#include "tables.h"

#include "base/system.h"

#include <ctype.h>
#include <string.h>

// Options that every command has.
const CliOption cli_common[] = {
    {"help", 'h', NULL, "show this help"},
    {"color", 0, "WHEN", "colors: auto, always or never"},
    {"memory-limit", 0, "SIZE",
     "limit for memory in use, for example 512M or 4G\n(default 0: what the machine has left)"},
    {0},
};

static const CliOption *find_in(const CliOption *row, const char *name, size_t size, char letter)
{
    for (; row && row->name; row++) {
        if (letter && row->letter == letter) return row;
        if (!letter && strlen(row->name) == size && !memcmp(row->name, name, size)) return row;
    }
    return NULL;
}

static const CliOption *find(const CliCommand *command, const char *name, size_t size, char letter)
{
    const CliOption *row = find_in(command->options, name, size, letter);
    return row ? row : find_in(cli_common, name, size, letter);
}

bool cli_has_option(const CliCommand *command, const char *name)
{
    return find(command, name, strlen(name), 0);
}

// ---- the nearest word

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// How many letters are wrong, missing, too many, or exchanged with the next one. Capitals are the same letters.
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > LONGEST || columns > LONGEST) return LONGEST;
    int d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= rows; i++) d[i][0] = (int)i;
    for (size_t j = 0; j <= columns; j++) d[0][j] = (int)j;
    for (size_t i = 1; i <= rows; i++)
        for (size_t j = 1; j <= columns; j++) {
            bool is_exchanged = i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]);
            int  best         = d[i - 1][j - 1] + !is_same(a[i - 1], b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (is_exchanged && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[rows][columns];
}

const char *cli_nearest(const char *word, const char *const *list)
{
    const char *nearest = NULL, *longer = NULL; // longer: the only one that begins with the word
    int         begin = 0;
    for (const char *const *w = list; *w && strlen(word) > 1; w++)
        if (!strncmp(*w, word, strlen(word))) longer = *w, begin++;
    int limit = (int)(strlen(word) + 1) / 3; // a word that differs more is another word
    for (; *list; list++) {
        int d = distance(word, strncmp(*list, "no-", 3) || !strncmp(word, "no-", 3) ? *list : *list + 3);
        if (d > limit) continue;
        limit   = d - 1;
        nearest = *list;
    }
    return nearest || begin != 1 ? nearest : longer;
}

// The names of the commands that have such an option.
static char *who_has(const char *name, size_t size)
{
    char *text = cli_format("%s", "");
    for (int i = 0; cli_commands[i]; i++)
        if (find_in(cli_commands[i]->options, name, size, 0))
            text = cli_format("%s%s%s", text, *text ? ", " : "", cli_commands[i]->name);
    return text;
}

static int unknown_option(const Cli *cli, const char *name, size_t size)
{
    int count = CLI_COUNT(cli_common);
    for (const CliOption *row = cli->command->options; row && row->name; row++) count++;
    const char **names = cli_take((size_t)count, sizeof *names);
    count              = 0;
    for (const CliOption *row = cli->command->options; row && row->name; row++) names[count++] = row->name;
    for (const CliOption *row = cli_common; row->name; row++) names[count++] = row->name;
    names[count]        = NULL;
    char       *word    = cli_format("%.*s", (int)size, name);
    const char *nearest = cli_nearest(word, names), *others = who_has(name, size);
    const char *ours = cli_other_option(cli->command, word);
    if (ours) return cli_usage(cli, "there is no option --%s; did you mean --%s?", word, ours);
    if (*others) return cli_usage(cli, "%s has no option --%s; it belongs to: %s", cli->command->name, word, others);
    return nearest ? cli_usage(cli, "there is no option --%s; did you mean --%s?", word, nearest)
                   : cli_usage(cli, "there is no option --%s", word);
}

// ---- parsing

typedef struct Words {
    int    count, next;
    char **word;
} Words;

bool cli_has_word(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; at && *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length == size && !memcmp(at, word, size)) return true;
        at += length;
    }
    return false;
}

// "a, b or c", each after `before`.
static const char *spoken(const char *list, const char *before)
{
    char *text = cli_format("%s", "");
    for (const char *at = list; *at;) {
        int         size = (int)strcspn(at, " ");
        const char *rest = at + size + strspn(at + size, " ");
        text             = cli_format("%s%s%s%.*s", text, !*text ? "" : *rest ? ", " : " or ", before, size, at);
        at               = rest;
    }
    return text;
}

// Is this word an option, and not the value of the one before? What is attached by = is a value, whatever it looks like.
static bool is_option(const Cli *cli, const char *word)
{
    if (word[0] != '-' || !word[1]) return false;
    if (word[1] == '-') return !word[2] || isalpha((unsigned char)word[2]);
    for (word++; *word; word++) {
        const CliOption *option = find(cli->command, NULL, 0, *word);
        if (!option || (option->value && word[1])) return false;
    }
    return true;
}

static int value_of(const Cli *cli, const CliOption *option, const char *attached, Words *words, const char **out)
{
    const char *name = option->name, *value = attached, *next = NULL;
    if (!value && words->next < words->count) next = words->word[words->next];
    if (next && is_option(cli, next))
        return cli_usage(cli, "--%s needs a value (--%s %s), but %s follows; a value like that is written --%s=%s",
                         name, name, option->value, next, name, next);
    if (next) value = next, words->next++;
    if (!value || !*value) return cli_usage(cli, "--%s needs a value: --%s %s", name, name, option->value);
    if (strchr(option->value, '=') && value[strlen(value) - 1] == '=')
        return cli_usage(cli, "--%s %s: nothing stands behind the =: --%s %s", name, value, name, option->value);
    *out = value;
    return CLI_OK;
}

static int give(Cli *cli, const CliOption *option, const char *attached, Words *words)
{
    const char *value = NULL;
    if (option->value) {
        int result = value_of(cli, option, attached, words, &value);
        if (result) return result;
    } else if (attached) {
        return cli_usage(cli, "--%s takes no value", option->name);
    }
    const char *before = option->many || !value ? NULL : cli_option(cli, option->name);
    if (before) return cli_usage(cli, "--%s is given twice: %s and %s", option->name, before, value);
    if (option->choices && !cli_has_word(option->choices, value))
        return cli_usage(cli, "--%s %s: expected %s", option->name, value, spoken(option->choices, ""));
    cli->given[cli->given_count++] = (CliGiven){option, value};
    return CLI_OK;
}

static int take_long(Cli *cli, const char *word, Words *words)
{
    const char      *equals = strchr(word, '=');
    size_t           size   = equals ? (size_t)(equals - word) : strlen(word);
    const CliOption *option = find(cli->command, word, size, 0);
    if (!option) return unknown_option(cli, word, size);
    return give(cli, option, equals ? equals + 1 : NULL, words);
}

// "-o FILE", "-oFILE" and combined switches, "-qv".
static int take_short(Cli *cli, const char *letters, Words *words)
{
    for (; *letters; letters++) {
        const CliOption *option = find(cli->command, NULL, 0, *letters);
        if (!option) return cli_usage(cli, "there is no option -%c", *letters);
        bool takes_rest = option->value && letters[1];
        int  status     = give(cli, option, takes_rest ? letters + 1 : NULL, words);
        if (status || takes_rest) return status;
    }
    return CLI_OK;
}

// ---- what goes together

static const char *const kind_names[] = {
    [CLI_MODELS] = "a model", [CLI_ARCHIVES] = "an archive", [CLI_KERNELS] = "kernels", [CLI_TENSORS] = "tensors"};

static int check_verb(const Cli *cli)
{
    const char *list = cli->command->verbs, *verb = cli->args[0];
    if (!list || cli_has_word(list, verb)) return CLI_OK;
    const char *names[16] = {0};
    int         count     = 0;
    for (const char *at = list; *at; at += strspn(at, " ")) {
        names[count++] = cli_format("%.*s", (int)strcspn(at, " "), at);
        at += strcspn(at, " ");
    }
    const char *nearest = cli_nearest(verb, names), *command = cli->command->name;
    return nearest ? cli_usage(cli, "there is no '%s %s'; did you mean '%s'?", command, verb, nearest)
                   : cli_usage(cli, "there is no '%s %s'; expected %s", command, verb, spoken(list, ""));
}

static bool any_given(const Cli *cli, const char *list, const char **out_name)
{
    for (int i = 0; i < cli->given_count; i++) {
        *out_name = cli->given[i].option->name;
        if (cli_has_word(list, *out_name)) return true;
    }
    return false;
}

static bool same_file(const char *a, const char *b)
{
    return holo_path_same(a, strcmp(b, "-") ? b : "/dev/stdin");
}

// Is a file that is written also an argument, or the value of another option, maybe behind a name?
static bool is_read(const Cli *cli, const char *path)
{
    for (int i = 0; i < cli->arg_count; i++)
        if (same_file(path, cli->args[i])) return true;
    for (int i = 0; i < cli->given_count; i++) {
        const CliGiven *given  = &cli->given[i];
        const char     *equals = given->value ? strchr(given->value, '=') : NULL;
        if (!given->value || given->option->writes) continue;
        if (same_file(path, given->value) || (equals && same_file(path, equals + 1))) return true;
    }
    return false;
}

static int check_together(const Cli *cli)
{
    const char *other, *command = cli->command->name;
    for (int i = 0; i < cli->given_count; i++) {
        const CliOption *o = cli->given[i].option;
        if (o->verbs && !cli_has_word(o->verbs, cli->args[0]))
            return cli_usage(cli, "--%s works with %s, not with '%s %s'", o->name,
                             spoken(o->verbs, cli_format("%s ", command)), command, cli->args[0]);
        if (o->with && !any_given(cli, o->with, &other))
            return cli_usage(cli, "--%s also needs %s", o->name, spoken(o->with, "--"));
        if (o->writes && is_read(cli, cli->given[i].value))
            return cli_usage(cli, "--%s %s would overwrite an input file", o->name, cli->given[i].value);
        if (any_given(cli, o->without, &other))
            return cli_usage(cli, "--%s and --%s exclude each other: give one of them", o->name, other);
    }
    return CLI_OK;
}

int cli_options_fit(const Cli *cli, const char *path, unsigned kind)
{
    for (int i = 0; i < cli->given_count; i++) {
        const CliOption *o = cli->given[i].option;
        if (!o->files || o->files & kind) continue;
        const char *want = kind_names[o->files & CLI_MODELS     ? CLI_MODELS
                                      : o->files & CLI_ARCHIVES ? CLI_ARCHIVES
                                                                : CLI_KERNELS];
        return cli_usage(cli, "--%s is for %s, but %s is %s", o->name, want, path, kind_names[kind]);
    }
    return CLI_OK;
}

int cli_options_only(const Cli *cli, const char *list, const char *path, unsigned kind)
{
    for (int i = 0; i < cli->given_count; i++) {
        const CliOption *o = cli->given[i].option;
        if (!cli_has_word(list, o->name) && !find_in(cli_common, o->name, strlen(o->name), 0))
            return cli_usage(cli, "--%s is not for %s: %s is %s", o->name, kind_names[kind], path, kind_names[kind]);
    }
    return CLI_OK;
}

// ---- how many arguments

static int missing(const Cli *cli)
{
    const CliCommand *command = cli->command;
    const char       *at      = command->arguments;
    if (command->verbs && !cli->arg_count)
        return cli_usage(cli, "the arguments are missing: hologram %s %s", command->name, command->arguments);
    if (command->verbs && cli_has_word(command->verbs, cli->args[0]))
        return cli_usage(cli, "an argument of '%s %s' is missing", command->name, cli->args[0]);
    for (int i = 0; i < cli->arg_count && strchr(at, ' '); i++) at = strchr(at, ' ') + 1;
    return cli_usage(cli, "%.*s is missing", (int)strcspn(at, " "), at);
}

static int check_count(const Cli *cli)
{
    const CliCommand *command = cli->command;
    for (int i = 0; i < cli->arg_count && !command->verbs; i++) // no file has such a name
        if (!*cli->args[i]) return cli_usage(cli, "argument %d is empty: is a shell variable unset?", i + 1);
    if (cli->arg_count < command->arg_min) return missing(cli);
    if (command->arg_max < 0 || cli->arg_count <= command->arg_max) return CLI_OK;
    const char *extra  = cli->args[command->arg_max];
    int         result = cli_usage(cli, "too many arguments: '%s'", extra);
    if (find_in(command->options, "input", 5, 0)) cli_advice(cli_format("is it an input? --input %s", extra));
    return result;
}

int cli_parse(Cli *cli, int argc, char **argv)
{
    // A word of switches, "-vvv", gives as many options as it has letters.
    size_t room = 0;
    for (int i = 0; i < argc; i++) room += strlen(argv[i]) + 1;
    cli->args  = cli_take((size_t)argc + 1, sizeof *cli->args);
    cli->given = cli_take(room, sizeof *cli->given);

    Words words        = {argc, 0, argv};
    bool  options_over = false;
    while (words.next < words.count) {
        const char *word   = words.word[words.next++];
        int         status = CLI_OK;
        if (options_over || word[0] != '-' || !word[1])
            cli->args[cli->arg_count++] = word;
        else if (!strcmp(word, "--"))
            options_over = true;
        else if (word[1] == '-')
            status = take_long(cli, word + 2, &words);
        else
            status = take_short(cli, word + 1, &words);
        if (status) return status;
    }
    if (cli_option(cli, "help")) return CLI_OK;
    int status = check_count(cli);
    if (!status) status = check_verb(cli);
    return status ? status : check_together(cli);
}

const char *cli_option(const Cli *cli, const char *name)
{
    for (int i = cli->given_count; i-- > 0;)
        if (!strcmp(cli->given[i].option->name, name)) return cli->given[i].value ? cli->given[i].value : name;
    return NULL;
}

const char *cli_option_next(const Cli *cli, const char *name, int *cursor)
{
    while (*cursor < cli->given_count) {
        const CliGiven *given = &cli->given[(*cursor)++];
        if (!strcmp(given->option->name, name)) return given->value;
    }
    return NULL;
}

// ---- help

const CliOption *cli_option_at(const CliCommand *command, int index)
{
    int count = 0;
    for (const CliOption *o = command->options; o && o->name; o++)
        if (count++ == index) return o;
    for (const CliOption *o = cli_common; o->name; o++)
        if (!find_in(command->options, o->name, strlen(o->name), 0) && count++ == index) return o;
    return NULL;
}

static void print_options(const CliCommand *command)
{
    const CliOption *row;
    for (int i = 0; (row = cli_option_at(command, i)); i++) {
        char letter[8] = "    ";
        if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
        char *left = cli_format("%s--%s%s%s", letter, row->name, row->value ? " " : "", row->value ? row->value : "");
        printf("  %-28s ", left);
        if (strlen(left) > 28) printf("\n%31s", "");
        for (const char *line = row->help;;) { // later lines of a help text are below the first
            size_t size = strcspn(line, "\n");
            printf("%.*s\n", (int)size, line);
            if (!line[size]) break;
            printf("%31s", "");
            line += size + 1;
        }
    }
}

void cli_print_help(const CliCommand *command)
{
    const char *bold = cli_color(stdout, "bold"), *reset = cli_color(stdout, "reset");
    printf("%shologram %s%s - %s\n\n", bold, command->name, reset, command->purpose);
    printf("%susage:%s hologram %s [options]%s%s\n", bold, reset, command->name, *command->arguments ? " " : "",
           command->arguments);
    if (command->details) printf("\n%s\n", command->details);
    printf("\n%soptions:%s\n", bold, reset);
    print_options(command);
    if (command->help) command->help();
    if (command->examples) printf("\n%sexamples:%s\n%s", bold, reset, command->examples);
}
