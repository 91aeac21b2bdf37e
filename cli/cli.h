// cli.h - what the commands of the program `hologram` share.
//
// The program sees the libraries only through include/. A command is a file cmd_NAME.c with one CliCommand; main.c
// lists them. Exit status: 0 it is done, 1 it failed, 2 it was called wrongly.
#ifndef HOLO_CLI_H
#define HOLO_CLI_H

#include "byte_count.h"
#include "hologram.h"
#include "hologram_compiler.h"

#include <stdarg.h>
#include <stdio.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define CLI_COUNT(array)        ((int)(sizeof(array) / sizeof *(array)))

typedef struct Cli        Cli;
typedef struct CliCommand CliCommand;

// ---- commands and their options (options.c)

// Rows of tables leave out fields that do not apply.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { CLI_MODELS = 1, CLI_ARCHIVES = 2, CLI_KERNELS = 4, CLI_TENSORS = 8 }; // kinds of files

// Lists in these are words with a space between them.
typedef struct CliOption {
    const char *name;   // long, without dashes
    char        letter; // short; 0: none
    const char *value;  // name of its value in the help; NULL: a switch
    const char *help;
    bool        many;    // it may be given several times; otherwise an option with a value only once
    bool        writes;  // its value is a file that is written, so it must not be one that is read
    unsigned    files;   // the kinds of files that it is for; 0: any
    const char *choices; // all possible values; NULL: the command knows
    const char *with;    // one of these options must be given with it
    const char *without; // options that cannot be given with it
    const char *verbs;   // verbs that it is for, if the command has verbs
    bool        is_own;  // a setting has its name, but this is something else
} CliOption;

struct CliCommand {
    const char      *name, *purpose;
    const char      *arguments;        // "MODEL", for the synopsis
    const char      *verbs;            // possible first arguments; NULL: anything
    int              arg_min, arg_max; // -1: any number
    const char      *details;          // prose of the help
    const char      *examples;         // lines of the help
    const CliOption *options;          // the last row has no name; options of all commands are not listed
    int (*run)(Cli *cli);
    void (*help)(void); // prints more help; NULL: none
};

typedef struct CliGiven { // an option as it was given
    const CliOption *option;
    const char      *value; // NULL: a switch
} CliGiven;

struct Cli {
    const CliCommand *command;
    const char      **args; // arguments that are not options
    int               arg_count;
    const char      **typed; // the same as they were typed: models of the hub become folders in `args`
    CliGiven         *given;
    int               given_count;
};

// Sorts argv, from the word after the command's name on, into `cli`. Returns CLI_OK, or CLI_USAGE after a message.
int cli_parse(Cli *cli, int argc, char **argv);
// The last value given for an option, or NULL; for a switch, its name.
const char *cli_option(const Cli *cli, const char *name);
// Walks all values given for an option: start with *cursor = 0; NULL at the end.
const char *cli_option_next(const Cli *cli, const char *name, int *cursor);
// Fails if an option is given that is not for this kind of file, one of CLI_MODELS ....
int cli_options_fit(const Cli *cli, const char *path, unsigned kind);
// Fails if an option is given that is neither in this list nor an option of every command.
int  cli_options_only(const Cli *cli, const char *list, const char *path, unsigned kind);
bool cli_has_option(const CliCommand *command, const char *name); // may it be given to the command?
bool cli_has_word(const char *list, const char *word);            // NULL is an empty list
void cli_print_help(const CliCommand *command);
// The word of the list (ended by NULL) that `word` probably means; NULL: none is similar.
const char *cli_nearest(const char *word, const char *const *list);
// What a word of other programs is called here: "bench --profile FILE.json", "input-shape NAME:DIMS"; NULL: not known.
const char *cli_other_command(const char *word);
const char *cli_other_option(const CliCommand *command, const char *word);

extern const CliCommand *const cli_commands[];                     // main.c; ends with NULL
const CliCommand              *cli_command_find(const char *name); // NULL: there is none, and a message says so

// ---- settings: flags, then environment, then .env, then hologram.toml, then defaults (settings.c)

typedef struct CliSetting {
    const char *name; // as in hologram.toml and as a flag; HOLOGRAM_NAME in the environment and in .env
    const char *fallback;
    const char *choices; // "exact|fused", "true|false"; NULL: a number
    double      low, high;
    bool        whole, bytes; // bytes: a number of bytes, such as 64M
    const char *help;
} CliSetting;

typedef struct CliValue {
    const CliSetting *setting;
    const char       *text;
    char              from[160]; // "--threads", "HOLOGRAM_THREADS", ".env:3", "hologram.toml:2", "default"
} CliValue;

// Reads the files and checks every setting. Returns CLI_OK, or CLI_USAGE after a message.
int             cli_settings_load(const Cli *cli);
int             cli_setting_count(void);
const CliValue *cli_setting(int index);
double          cli_number(const char *name);
uint64_t        cli_size(const char *name); // of a setting that is a number of bytes
bool            cli_is(const char *name, const char *choice);
const char     *cli_setting_name(const char *variable); // MEMORY_LIMIT as memory-limit
const char     *cli_setting_nearest(const char *name);  // NULL: none is like it
const char     *cli_setting_source(const char *name);   // CliValue.from

// ---- what a person sees (term.c)

void cli_term_init(bool color_always, bool color_never);
void cli_term_command(const CliCommand *command); // whose options advice may name
// Everything that is printed goes through these functions. Names come from files and may contain characters that a
// terminal would obey. On the standard output and in messages such characters are escaped (holo_text_safe), except new
// lines and tabs. Files get the original text.
int cli_printf(FILE *stream, const char *format, ...) CLI_PRINTF(2, 3);
int cli_vprintf(FILE *stream, const char *format, va_list args) CLI_PRINTF(2, 0);
#define printf(...)                    cli_printf(stdout, __VA_ARGS__)
#define fprintf(stream, ...)           cli_printf(stream, __VA_ARGS__)
#define vfprintf(stream, format, args) cli_vprintf(stream, format, args)
#define fputs(text, stream)            cli_printf(stream, "%s", text)
#define fputc(c, stream)               cli_printf(stream, "%c", c)
#define putchar(c)                     cli_printf(stdout, "%c", c)

// Codes for a stream, "" if it is not a terminal: "bold", "dim", "red", "green", "yellow", "blue", "cyan", "reset".
const char *cli_color(FILE *stream, const char *name);

// Prints "hologram: ..." to stderr, and what to do next if `next` is not NULL. Returns CLI_FAILED, CLI_USAGE.
int cli_fail(const char *next, const char *format, ...) CLI_PRINTF(2, 3);
// A failure of the library. `path` (may be NULL) is the file that it is about; it is named if the message does not name
// it.
int  cli_fail_error(const char *path, const HoloError *error, HoloStatus status);
void cli_warn(const char *format, ...) CLI_PRINTF(1, 2); // "hologram: warning: ...", on stderr
void cli_advice(const char *text);                       // what to do next, dim on stderr; NULL: nothing
int  cli_usage(const Cli *cli, const char *format, ...) CLI_PRINTF(2, 3);

// From now on messages are collected and printed at the end as JSON: {"exit": 1, "errors": [{"message": ..., "next":
// ...}]}, on the standard output or, if JSON was begun there, on stderr. Warnings go to stderr, as {"warning": ...}.
void cli_json_messages(void);
void cli_json_begun(void);
void cli_json_end(int status);
// The last collected message. The command puts it into its own JSON, and it is not printed again; NULL: none.
const char *cli_json_message(void);

// A bar on stderr while something takes long; silent if stderr is not a terminal. A HoloProgressFn.
void cli_progress(void *context, const char *stage, double fraction);
void cli_progress_end(void);

// "1.5 MiB", "12.3 ms", "f32[batch, 3]" in the given buffer, which is returned.
typedef struct CliText {
    char data[5200]; // a type of HOLO_MAX_RANK long names of sizes
} CliText;
const char *cli_bytes(CliText *text, double bytes);
const char *cli_seconds(CliText *text, double seconds);
const char *cli_type(CliText *text, const HoloTensor *type, const char *const *symbols); // symbols may be NULL
// The length of a valid UTF-8 sequence at `s`, which ends with a 0; 0: there is none.
int cli_utf8_size(const unsigned char *s);
// A row of a table: a name, padded, and a value.
void cli_row(FILE *out, const char *name, const char *format, ...) CLI_PRINTF(3, 4);

// All of a stream, and of a file that an option names (NULL: after a message that says why it cannot be read); in memory
// of the program, with a 0 behind it.
char *cli_read_stream(FILE *stream, size_t *out_size);
char *cli_read_file(const char *path, size_t *out_size);
// A file that is being written. It takes its place when it is complete; until then, a file that is there stays.
typedef struct CliFile {
    FILE                  *stream;
    const char            *path;
    struct HoloFileWriter *writer; // NULL: a pipe or a device, which is written at once
} CliFile;
int cli_file_begin(const char *path, CliFile *out); // without waiting for anything; CLI_OK, or after a message
int cli_file_end(CliFile *file);                    // also after failures of writing, which it reports
// The text of a plain file; NULL: it cannot be read, and *out_why says why.
char *cli_read_text(const char *path, const char **out_why);
enum { CLI_PATH = 4096 }; // room for a path of a temporary file

// ---- memory: the program ends if there is none; everything is freed at its end (memory.c)

void       *cli_take(size_t count, size_t size); // zeroed
void       *cli_grow(void *old, size_t old_count, size_t count, size_t size);
char       *cli_format(const char *format, ...) CLI_PRINTF(1, 2);
const char *cli_counted(uint64_t count, const char *noun); // "1 step", "2 steps"
void        cli_free_all(void);

double cli_now(void); // seconds, monotonic

#endif
