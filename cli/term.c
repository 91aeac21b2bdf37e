// term.c - what a person sees: colors, messages, the progress bar, numbers in words.
//
// Colors and the bar appear on terminals only. NO_COLOR (https://no-color.org) turns colors off.

#include "json.h"
#include "print.h"

#include "base/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    bool   color[3]; // by file descriptor
    bool   unicode;
    bool   bar_shown;
    double bar_time;

    bool        is_json;   // messages are told as JSON, at the end
    bool        has_begun; // to print JSON, where there is no room for them any more
    int         told;
    const char *said[16][2]; // messages, and what to do next

    const CliCommand *command; // NULL: none yet
} term;

static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < CLI_COUNT(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

void cli_term_init(bool color_always, bool color_never)
{
    const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM");
    bool        wanted = !color_never && !(no_color && *no_color) && !(kind && !strcmp(kind, "dumb"));
    for (int fd = 1; fd <= 2; fd++) term.color[fd] = color_always || (wanted && isatty(fd));
    term.unicode = is_utf8();
}

void cli_term_command(const CliCommand *command)
{
    term.command = command;
}

const char *cli_color(FILE *stream, const char *name)
{
    bool on = stream == stdout ? term.color[1] : stream == stderr ? term.color[2] : false;
    return on ? cli_mark(name) : "";
}

// ---- messages

void cli_json_messages(void)
{
    term.is_json = true;
}

void cli_json_begun(void)
{
    term.has_begun = true;
}

void cli_json_end(int status)
{
    Json json = {.out = term.has_begun ? stderr : stdout};
    if (!term.told) return;
    json_open(&json, NULL, '{');
    json_int(&json, "exit", status);
    json_open(&json, "errors", '[');
    for (int i = 0; i < term.told; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "message", term.said[i][0]);
        json_text(&json, "next", term.said[i][1]);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    term.told = 0;
}

const char *cli_json_message(void)
{
    return term.told ? term.said[--term.told][0] : NULL;
}

static void message(const char *text)
{
    cli_progress_end();
    if (term.is_json) {
        if (term.told == CLI_COUNT(term.said)) return;
        term.said[term.told][0]   = cli_format("%s", text);
        term.said[term.told++][1] = NULL;
        return;
    }
    fflush(stdout);
    fprintf(stderr, "%s%shologram:%s %s\n", cli_color(stderr, "bold"), cli_color(stderr, "red"),
            cli_color(stderr, "reset"), text);
}

void cli_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_progress_end();
    if (term.is_json) {
        char text[2000];
        Json json = {.out = stderr};
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        json_open(&json, NULL, '{');
        json_text(&json, "warning", text);
        json_close(&json, '}');
        return;
    }
    fflush(stdout);
    fprintf(stderr, "%s%shologram: warning:%s ", cli_color(stderr, "bold"), cli_color(stderr, "yellow"),
            cli_color(stderr, "reset"));
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void cli_advice(const char *text)
{
    if (!text) return;
    if (term.is_json && term.told) {
        const char **next = &term.said[term.told - 1][1];
        *next             = *next ? cli_format("%s; %s", *next, text) : cli_format("%s", text);
    }
    if (!term.is_json) fprintf(stderr, "  %s%s%s\n", cli_color(stderr, "dim"), text, cli_color(stderr, "reset"));
}

int cli_fail(const char *next, const char *format, ...)
{
    char    text[5000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    message(text);
    cli_advice(next);
    return CLI_FAILED;
}

// What to do about a failure, where its message does not say all: the first row that fits. An archive has all its
// operators. What fails on a GPU is said by its driver, and has nothing to do with operators, nor with the host's memory.
static const struct Advice {
    HoloStatus  status;
    const char *word;    // in the message; NULL: any
    const char *option;  // that the command has; NULL: none is needed
    bool        limited; // only where the user has set --memory-limit
    const char *text;    // %s: where that was set
} advices[] = {
    {HOLO_BAD_ARCHIVE, "does not start with", NULL, false, "an archive is made by hologram compile MODEL -o FILE.holo"},
    {HOLO_BAD_ARCHIVE, NULL, NULL, false, "compile it again from the model"},
    {HOLO_UNSUPPORTED, "ONNX has no operator", NULL, false, NULL},
    {HOLO_UNSUPPORTED, "operator", NULL, false,
     "`hologram ops` lists the supported operators, docs/formats.md the formats"},
    {HOLO_UNSUPPORTED, "format", NULL, false, "docs/formats.md lists the formats"},
    {HOLO_NO_MEMORY, "memory limit is", NULL, true,
     "%s sets this limit: a higher one, for example 8G, or 0 for what the machine has"},
    {HOLO_NO_MEMORY, NULL, "input-shape", false, "end other programs, or use smaller sizes: --input-shape NAME:DIMS"},
    {HOLO_NO_MEMORY, NULL, NULL, false, "end other programs, or use a machine with more memory"},
    {HOLO_VERIFY, NULL, "no-verify", false,
     "this is a bug in Hologram, please report it; --no-verify skips the comparison"},
    {HOLO_VERIFY, NULL, NULL, false, "this is a bug in Hologram, please report it"},
    {HOLO_INTERNAL, NULL, NULL, false, "this is a bug in Hologram, please report it"},
};

static const char *next_step(const char *path, const char *text, HoloStatus status)
{
    if (!strncmp(text, "cuda: ", 6))
        return status == HOLO_NO_MEMORY ? "use smaller sizes, another GPU (--device cuda:1), or the CPU: an archive of "
                                          "--target cpu,cuda runs there with --device cpu"
                                        : NULL;
    const char *end = path ? strrchr(path, '.') : NULL;
    if (end && !strcmp(end, ".holo") && status == HOLO_UNSUPPORTED) return NULL;
    for (const struct Advice *row = advices; row < advices + CLI_COUNT(advices); row++) {
        if (row->status != status || (row->word && !strstr(text, row->word))) continue;
        if (row->option && !(term.command && cli_has_option(term.command, row->option))) continue;
        if (!row->limited) return row->text;
        if (cli_size("memory-limit")) return cli_format(row->text, cli_setting_source("memory-limit"));
    }
    return NULL;
}

// Does a message name the file? A file called `empty` is not named by the word empty.
static bool names_file(const char *text, const char *path)
{
    size_t size    = strlen(path);
    bool   is_word = !strpbrk(path, "./");
    for (const char *at = text; size && (at = strstr(at, path)); at++) {
        bool is_quoted = at > text && at[-1] == '\'' && at[size] == '\'';
        if (is_quoted || !is_word || (at == text && at[size] == ':')) return true;
    }
    return false;
}

int cli_fail_error(const char *path, const HoloError *error, HoloStatus status)
{
    HoloError why = {0}; // how much memory was asked for, where the call had no way to say it
    if (!error->text[0] && status == HOLO_NO_MEMORY) status = holo_fail_memory(&why);
    const char *text = error->text[0] ? error->text : why.text[0] ? why.text : holo_status_text(status);
    bool        said = !path || names_file(text, path) || status == HOLO_NO_FILE; // such a message names its own file
    message(said ? text : cli_format("%s: %s", path, text));
    cli_advice(next_step(path, text, status));
    return CLI_FAILED;
}

int cli_usage(const Cli *cli, const char *format, ...)
{
    char    text[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    message(text);
    if (cli->command) cli_advice(cli_format("see: hologram %s --help", cli->command->name));
    return CLI_USAGE;
}

// ---- progress

void cli_progress(void *context, const char *stage, double fraction)
{
    (void)context;
    enum { WIDTH = 28 };
    if (!isatty(STDERR_FILENO)) return;
    double now = cli_now();
    if (term.bar_shown && now - term.bar_time < 0.04 && fraction < 1) return; // 25 pictures a second are enough
    if (!(fraction >= 0)) fraction = 0;
    if (fraction > 1) fraction = 1;
    int full = (int)(fraction * WIDTH);
    fprintf(stderr, "%s%s", cli_mark("begin line"), cli_color(stderr, "cyan"));
    for (int i = 0; i < WIDTH; i++) fputs(term.unicode ? (i < full ? "━" : "╌") : (i < full ? "#" : "."), stderr);
    fprintf(stderr, "%s %3d%% %.40s%s", cli_color(stderr, "reset"), (int)(fraction * 100), stage, cli_mark("end line"));
    fflush(stderr);
    term.bar_shown = true;
    term.bar_time  = now;
}

void cli_progress_end(void)
{
    if (term.bar_shown) fprintf(stderr, "%s%s", cli_mark("begin line"), cli_mark("end line"));
    term.bar_shown = false;
}

// ---- numbers in words

const char *cli_bytes(CliText *text, double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int                      unit    = 0;
    while (bytes >= 1024 && unit < CLI_COUNT(units) - 1) bytes /= 1024, unit++;
    snprintf(text->data, sizeof text->data, unit && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text->data;
}

const char *cli_seconds(CliText *text, double seconds)
{
    static const struct {
        double      below, scale;
        const char *unit;
    } units[] = {{1e-3, 1e6, "µs"}, {1, 1e3, "ms"}, {INFINITY, 1, "s"}};
    int i     = 0;
    while (seconds >= units[i].below && i < CLI_COUNT(units) - 1) i++;
    const char *unit  = !term.unicode && i == 0 ? "us" : units[i].unit;
    double      value = seconds * units[i].scale;
    snprintf(text->data, sizeof text->data, value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value, unit);
    return text->data;
}

const char *cli_type(CliText *text, const HoloTensor *type, const char *const *symbols)
{
    static const char *const kinds[] = {"", "sequence of ", "optional ", "map to "};
    const char              *kind    = type->kind < CLI_COUNT(kinds) ? kinds[type->kind] : "";
    const char              *inner = type->kind == HOLO_OPTIONAL && type->inner == HOLO_SEQUENCE ? "sequence of " : "";
    size_t                   room  = sizeof text->data;
    size_t used = (size_t)snprintf(text->data, room, "%s%s%s", kind, inner, holo_dtype_name(type->dtype));
    if (type->kind != HOLO_TENSOR) return text->data;
    if (type->rank < 0) {
        snprintf(text->data + used, room - used, "[...]");
        return text->data;
    }
    used += (size_t)snprintf(text->data + used, room - used, "[");
    for (int i = 0; i < type->rank && used < room; i++) {
        const char *comma  = i ? ", " : "";
        const char *symbol = symbols && symbols[i] ? symbols[i] : "?";
        used += type->dim[i] >= 0
                    ? (size_t)snprintf(text->data + used, room - used, "%s%lld", comma, (long long)type->dim[i])
                    : (size_t)snprintf(text->data + used, room - used, "%s%s", comma, symbol);
    }
    if (used < room) snprintf(text->data + used, room - used, "]");
    return text->data;
}

int cli_utf8_size(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    int size = s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : s[0] >= 0xE0 ? 3 : s[0] >= 0xC2 ? 2 : 0;
    if (s[0] >= 0xF5) return 0;
    for (int i = 1; i < size; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    bool overlong  = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] >= 0xA0;
    bool too_large = s[0] == 0xF4 && s[1] >= 0x90;
    return overlong || surrogate || too_large ? 0 : size;
}

void cli_row(FILE *out, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(out, "  %s%-12s%s ", cli_color(out, "cyan"), name, cli_color(out, "reset"));
    vfprintf(out, format, args);
    fputc('\n', out);
    va_end(args);
}

double cli_now(void)
{
    return holo_time_now();
}
