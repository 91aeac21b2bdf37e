// language.h - for commands that generate text: a language model, and how its tokens are chosen.
#ifndef HOLO_CLI_LANGUAGE_H
#define HOLO_CLI_LANGUAGE_H

#include "loading.h"

#include "hologram_text.h"

// Rows for the tables of options.
#define CLI_OPTIONS_SAMPLING                                                                                          \
    {"temperature", 0, "T",                                                                                           \
     "how freely tokens are chosen: 0 always takes the most likely one\n(default: the model's setting)"},             \
        {"top-k", 0, "K", "choose only among the K most likely tokens (0: all)"},                                     \
        {"top-p", 0, "P", "choose among the fewest tokens whose probabilities add up to P"},                          \
        {"min-p", 0, "P", "leave out tokens less likely than P times the most likely one"},                           \
        {"typical-p", 0, "P", "like --top-p, but takes the most typical tokens first"},                               \
        {"repetition-penalty", 0, "X", "divide the scores of tokens that have occurred (1: off)"},                    \
        {"presence-penalty", 0, "X", "subtract X from the scores of tokens that were generated"},                     \
        {"frequency-penalty", 0, "X", "the same, for each time that a token was generated"},                          \
        {"seed", 0, "N", "the same seed gives the same text (default 0)"},                                            \
        {"logit-bias", 0, "TOKEN:X", "add X to the score of a token, by its id", .many = true},                       \
        {"max-tokens", 'n', "N", "the most tokens to generate (default: until the text ends)"},                       \
        {"stop", 0, "TEXT", "stop where this text appears; may be given several times", .many = true},                \
        {"grammar", 0, "FILE", "the text must match a grammar in GBNF", .without = "json-schema regex"},              \
        {"json-schema", 0, "FILE", "the text must be JSON that matches a schema", .without = "grammar regex"},        \
        {"regex", 0, "PATTERN", "the text must match a regular expression", .without = "grammar json-schema"},        \
        {"lookup", 0, "N",                                                                                            \
         "guess up to N tokens from earlier text and check them in one\nrun; faster, and the output stays the same"}, \
    {                                                                                                                 \
        "context", 0, "N", "the most tokens of prompt and answer (default: the model's limit)"                        \
    }

typedef struct CliLanguage { // zero-initialize; close it in any case
    HoloModel          *model;
    HoloPool           *pool;
    HoloLanguage       *language;
    HoloTokenizer      *tokenizer; // the language model's; NULL: there is none
    HoloTemplate       *chat;      // NULL: there is none
    HoloGrammar        *grammar;
    int                 texts; // that it keeps at once; 0: one
    HoloGenerateOptions options;
    HoloString         *stops;
    HoloTokenBias      *bias;
} CliLanguage;

// Opens the argument `arg`: an archive, or a model, which is compiled in memory. Reads the options above.
int  cli_language_open(const Cli *cli, int arg, CliLanguage *out);
void cli_language_close(CliLanguage *l);

// Text as ids, with the special tokens that the model expects around it, or without. To be freed by holo_ids_free.
int cli_language_encode(const CliLanguage *l, const char *text, size_t size, bool special, uint32_t **out_ids,
                        size_t *out_count);
// The number that an option gives, in these bounds; `*out` stays as it is if the option is not given.
int cli_read_number(const Cli *cli, const char *option, double low, double high, double *out);
int cli_read_whole(const Cli *cli, const char *option, double low, double high, double *out); // a whole number
// "1,2,3" as ids; in memory of the program.
int cli_read_tokens(const char *text, uint32_t **out_ids, size_t *out_count);

// A conversation as the JSON that templates read.
typedef struct CliMessages {
    char  *json; // the messages so far, without the brackets
    size_t size, room;
} CliMessages;
void cli_message_add(CliMessages *m, const char *role, const char *text);
// The whole conversation as text for the model. To be freed by holo_text_free.
int cli_messages_render(const CliLanguage *l, const CliMessages *m, char **out_text, size_t *out_size);

#endif
