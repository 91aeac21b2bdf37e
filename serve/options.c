// options.c - reads the command line. See options.h.
#include "options.h"

#include "byte_count.h"
#include "serve_options.h"

#include "hologram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum OptionKind { NUMBER, BYTES, TEXT, FLAG } OptionKind;

typedef struct OptionRow {
    const char *name, *value, *fallback, *help;
    OptionKind  kind;
    double      least, most;
    bool        is_given, is_whole;
    const char *text;
    double      number;
} OptionRow;

enum {
#define X(field, ...) ROW_##field,
    SERVE_OPTION_MAP(X)
#undef X
        ROWS
};

static int wrong(const char *format, ...) SERVE_PRINTF(1, 2);
static int wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("hologram-serve: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\nsee: hologram-serve --help\n", stderr);
    va_end(args);
    return 2;
}

static bool read_number(OptionRow *row, const char *text)
{
    char *end;
    row->number = strtod(text, &end);
    return end != text && !*end && row->number >= row->least && row->number <= row->most &&
           (!row->is_whole || row->number == floor(row->number));
}

// As every command of hologram reads them (byte_count.h).
static int set_bytes(OptionRow *row, const char *text)
{
    uint64_t bytes;
    if (!cli_read_bytes(text, &bytes)) return wrong("--%s: " CLI_BYTES_WRONG, row->name, text);
    row->number = (double)bytes;
    if (row->number >= row->least && row->number <= row->most) return 0;
    return wrong("--%s is '%s', but must be from %.0f to %.0f bytes", row->name, text, row->least, row->most);
}

static int set(OptionRow *row, const char *text)
{
    row->text = text;
    if (row->kind == BYTES && text) return set_bytes(row, text);
    if (row->kind == NUMBER && text && !read_number(row, text))
        return wrong("--%s is '%s', but must be a %s from %g to %g", row->name, text,
                     row->is_whole ? "whole number" : "number", row->least, row->most);
    return 0;
}

static void help(const OptionRow *rows)
{
    puts(
        "usage: hologram-serve [options] FOLDER|FILE...\n\nServes models: KServe and OpenAI over HTTP, KServe over gRPC, metrics for Prometheus.\n\noptions");
    for (int i = 0; i < ROWS; i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", rows[i].name, rows[i].value ? " " : "",
                 rows[i].value ? rows[i].value : "");
        printf("  %-26s ", left);
        for (const char *p = rows[i].help; *p; p++) *p == '\n' ? printf("\n%29s", "") : putchar(*p);
        if (rows[i].fallback && !strstr(rows[i].help, "default")) printf(" (default %s)", rows[i].fallback);
        putchar('\n');
    }
    puts("  --help                     this text\n  --version                  the version");
}

static int read_words(int argc, char **argv, OptionRow *rows, Options *out)
{
    bool only_paths = false;
    out->paths      = take((size_t)argc * sizeof *out->paths);
    for (int i = 1, k; i < argc; i++) {
        char *word = argv[i], *equal = strchr(word, '=');
        if (only_paths || word[0] != '-' || word[1] != '-') {
            out->paths[out->path_count++] = word;
            continue;
        }
        if (!word[2]) {
            only_paths = true;
            continue;
        }
        size_t size = equal ? (size_t)(equal - word) - 2 : strlen(word) - 2;
        for (k = 0; k < ROWS && (strlen(rows[k].name) != size || memcmp(rows[k].name, word + 2, size)); k++) {
        }
        if (k == ROWS) return wrong("there is no option '%.*s'", (int)size + 2, word);
        if (rows[k].is_given) return wrong("--%s is given twice", rows[k].name);
        rows[k].is_given = true;
        if (rows[k].kind == FLAG && equal) return wrong("--%s takes no value", rows[k].name);
        if (rows[k].kind == FLAG) continue;
        const char *value = equal ? equal + 1 : i + 1 < argc ? argv[++i] : "", *name = rows[k].name;
        if (!*value) return wrong("--%s needs a value: --%s %s", name, name, rows[k].value);
        if (!equal && value[0] == '-' && value[1] == '-')
            return wrong("--%s needs a value (--%s %s), but %s follows; a value like that is written --%s=%s", name,
                         name, rows[k].value, value, name, value);
        int status = set(&rows[k], value);
        if (status) return status;
    }
    return out->path_count ? 0 : wrong("which models? Give a folder, or files");
}

// What a field gets from its row, by the field's type.
static void fill(Options *o, const OptionRow *rows)
{
#define X(field, ...)                             \
    __typeof__(o->field) *to_##field = &o->field; \
    _Generic(o->field, const char * : *(const char **)to_##field = rows[ROW_##field].text,                             \
             bool : *(bool *)to_##field          = rows[ROW_##field].is_given,                                         \
             int : *(int *)to_##field            = (int)rows[ROW_##field].number,                                      \
             int64_t : *(int64_t *)to_##field    = (int64_t)rows[ROW_##field].number,                                  \
             uint64_t : *(uint64_t *)to_##field  = (uint64_t)rows[ROW_##field].number,                                 \
             double : *(double *)to_##field      = rows[ROW_##field].number);
    SERVE_OPTION_MAP(X)
#undef X
}

int options_read(int argc, char **argv, Options *out, bool *out_done)
{
#define X(field, option, kind_, value_, least_, most_, fallback_, help_) \
    {.name     = option,                                                 \
     .value    = value_,                                                 \
     .fallback = fallback_,                                              \
     .help     = help_,                                                  \
     .kind     = kind_,                                                  \
     .least    = least_,                                                 \
     .most     = most_,                                                  \
     .is_whole = _Generic(out->field, double                             \
                          : false, default                               \
                          : true)},
    OptionRow rows[ROWS] = {SERVE_OPTION_MAP(X)};
#undef X
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) return help(rows), *out_done = true, 0;
        if (!strcmp(argv[i], "--version")) return printf("hologram-serve %s\n", holo_version()), *out_done = true, 0;
    }
    for (int i = 0; i < ROWS; i++)
        if (set(&rows[i], rows[i].fallback)) return 2;
    int status = read_words(argc, argv, rows, out);
    if (status) return status;
    fill(out, rows);
    if ((out->tls_key || out->tls_client_ca) && !out->tls_cert)
        return wrong("--tls-key and --tls-client-ca go with --tls-cert");
    return 0;
}
