// cmd_grammar.c - hologram grammar: whether a text fits a grammar, and at which byte it does not.

#include "cli.h"

#include "hologram_text.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *path, const char *end)
{
    size_t size = strlen(path), end_size = strlen(end);
    return size >= end_size && !strcmp(path + size - end_size, end);
}

// The source by the option, or by the name of the file.
static HoloGrammarSource source_of(const Cli *cli)
{
    if (cli_option(cli, "json-schema")) return HOLO_GRAMMAR_JSON_SCHEMA;
    if (cli_option(cli, "regex")) return HOLO_GRAMMAR_REGEX;
    if (cli_option(cli, "gbnf")) return HOLO_GRAMMAR_GBNF;
    return ends_with(cli->args[0], ".json") ? HOLO_GRAMMAR_JSON_SCHEMA : HOLO_GRAMMAR_GBNF;
}

static HoloGrammarSpaces spaces_of(const Cli *cli)
{
    const char *word = cli_option(cli, "spaces");
    if (!word || !strcmp(word, "any")) return HOLO_SPACES_ANY;
    return strcmp(word, "none") ? HOLO_SPACES_SOME : HOLO_SPACES_NONE;
}

static int check(HoloGrammar *grammar, const char *text, size_t size)
{
    HoloGrammarState *state;
    HoloError         error  = {0};
    size_t            fit    = 0;
    HoloStatus        status = holo_grammar_state_create(grammar, &state, &error);
    if (!status) status = holo_grammar_state_accept_bytes(state, text, size, &fit, &error);
    bool is_complete = !status && holo_grammar_state_is_complete(state);
    holo_grammar_state_destroy(state);
    if (status) return cli_fail(NULL, "%s", error.text);
    if (!is_complete)
        return cli_fail(NULL, "the text matches so far, but is not complete: more must follow byte %zu", size);
    printf("the text fits: %zu bytes\n", size);
    return CLI_OK;
}

static int grammar_command(Cli *cli)
{
    HoloError    error   = {0};
    HoloGrammar *grammar = NULL;
    size_t       size, text_size;
    char        *source = cli_read_file(cli->args[0], &size);
    if (!source) return CLI_FAILED;
    HoloGrammarSource kind = source_of(cli);
    if (kind == HOLO_GRAMMAR_REGEX) // the end of the line is the editor's
        while (size && (source[size - 1] == '\n' || source[size - 1] == '\r')) size--;
    HoloStatus status = holo_grammar_compile(kind, source, size, spaces_of(cli), &grammar, &error);
    if (status) return cli_fail("docs/grammars.md says what a grammar may have", "%s: %s", cli->args[0], error.text);
    int result = CLI_OK;
    if (cli->arg_count == 1) {
        holo_grammar_block(grammar, &size);
        printf("the grammar is good: %zu bytes compiled\n", size);
    } else {
        const char *text      = cli->args[1];
        bool        is_stream = !strcmp(text, "-");
        if (is_stream) text = cli_read_stream(stdin, &text_size);
        result = check(grammar, text, is_stream ? text_size : strlen(text));
    }
    holo_grammar_close(grammar);
    return result;
}

static const CliOption options[] = {
    {"gbnf", 0, NULL, "FILE has rules in GBNF", .without = "json-schema regex"},
    {"json-schema", 0, NULL, "FILE is a JSON schema", .without = "gbnf regex"},
    {"regex", 0, NULL, "FILE has a regular expression", .without = "gbnf json-schema"},
    {"spaces", 0, "WHERE", "white space in JSON: any (the default), some (one space after commas and colons) or none",
     .choices = "any some none"},
    {0},
};

const CliCommand cli_grammar = {
    .name      = "grammar",
    .purpose   = "check whether a text matches a grammar",
    .arguments = "FILE [TEXT]",
    .arg_min   = 1,
    .arg_max   = 2,
    .details   = "FILE is a JSON schema if its name ends with .json; otherwise it has rules in GBNF. Options override\n"
                 "this. Without TEXT, only the grammar is checked. If TEXT is -, the text is the standard input.\n"
                 "Exit status 0 means that the text matches and is complete. Otherwise, the message shows where it\n"
                 "fails.",
    .examples  = "  hologram grammar person.json '{\"name\": \"Ada\"}'\n"
                 "  hologram grammar --gbnf rules.gbnf - < answer.txt\n",
    .options   = options,
    .run       = grammar_command,
};
