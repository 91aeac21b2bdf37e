// man.c - manual pages, made from the same tables as --help.

#include "tables.h"

#include <ctype.h>
#include <string.h>

// ---- text

// A line of text in roff: no dash becomes a hyphen, and no line becomes a request.
static void put(const char *text, size_t size)
{
    if (size && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '-' || text[i] == '\\') putchar('\\');
        fputc(text[i] == '\\' ? 'e' : text[i], stdout);
    }
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

// Is a line printed unchanged: a table, or an example?
static bool is_set(const char *line, size_t size)
{
    if (size && isspace((unsigned char)*line)) return true;
    for (size_t i = 0; i + 2 < size; i++)
        if (line[i] == ' ' && line[i + 1] == ' ' && line[i + 2] == ' ') return true;
    return false;
}

static void put_prose(const char *text)
{
    bool as_is = false;
    while (*text) {
        size_t size = strcspn(text, "\n");
        if (is_set(text, size) != as_is) {
            as_is = !as_is;
            puts(as_is ? ".nf" : ".fi");
        }
        if (size)
            put(text, size);
        else
            fputs(".PP", stdout);
        putchar('\n');
        text += size + (text[size] == '\n');
    }
    if (as_is) puts(".fi");
}

// ---- options

static void put_list(const char *before, const char *list, const char *dashes)
{
    printf(".br\n%s", before);
    for (const char *at = list; *at;) {
        size_t size = strcspn(at, " ");
        printf("%s\\fB", at == list ? " " : ", ");
        put_text(dashes);
        put(at, size);
        printf("\\fR");
        at += size + strspn(at + size, " ");
    }
    printf(".\n");
}

static void put_option(const CliOption *o)
{
    puts(".TP");
    if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
    printf("\\fB\\-\\-");
    put_text(o->name);
    printf("\\fR");
    if (o->value) {
        printf(" \\fI");
        put_text(o->value);
        printf("\\fR");
    }
    putchar('\n');
    put_prose(o->help);
    if (o->many && !strstr(o->help, "several")) puts(".br\nMay be given several times.");
    if (o->files) {
        printf(".br\nFor %s.\n", o->files & CLI_MODELS ? "models" : o->files & CLI_ARCHIVES ? "archives" : "kernels");
    }
    if (o->verbs) put_list("Of", o->verbs, "");
    if (o->with) put_list("With", o->with, "--");
    if (o->without) put_list("Not with", o->without, "--");
}

static void put_options(const CliCommand *command)
{
    const CliOption *o;
    puts(".SH OPTIONS");
    for (int i = 0; (o = cli_option_at(command, i)); i++) put_option(o);
}

// ---- pages

static void put_head(const char *name, const char *purpose)
{
    printf(".TH ");
    for (const char *c = name; *c; c++) putchar(toupper((unsigned char)*c));
    printf(" 1 \"\" \"Hologram %s\" \"User Commands\"\n.SH NAME\n", holo_version());
    put_text(name);
    printf(" \\- ");
    put_text(purpose);
    printf("\n.SH SYNOPSIS\n");
}

static void put_page(const CliCommand *command)
{
    put_head(cli_format("hologram-%s", command->name), command->purpose);
    printf(".B hologram %s\n[\\fIoptions\\fR] ", command->name);
    put_text(command->arguments);
    putchar('\n');
    if (command->details) {
        puts(".SH DESCRIPTION");
        put_prose(command->details);
    }
    put_options(command);
    if (command->help) {
        puts(".SH MORE\n.nf");
        command->help();
        puts(".fi");
    }
    if (command->examples) {
        puts(".SH EXAMPLES");
        put_prose(command->examples);
    }
    puts(".SH SEE ALSO\n.BR hologram (1)");
}

static void put_settings(void)
{
    puts(
        ".SH SETTINGS\nA setting comes from its flag, from \\fBHOLOGRAM_\\fINAME\\fR in the environment or in the "
        "file \\fI.env\\fR, or from \\fINAME\\fR = \\fIvalue\\fR in the file \\fIhologram.toml\\fR, both in the working folder, "
        "in this order.");
    for (int i = 0; i < cli_setting_count(); i++) {
        const CliSetting *s = cli_setting(i)->setting;
        printf(".TP\n.B %s\n", s->name);
        put_prose(s->help);
        printf("Default: \\fB");
        put_text(s->fallback);
        printf("\\fR.\n");
    }
}

void cli_print_man(const CliCommand *command)
{
    if (command) {
        put_page(command);
        return;
    }
    put_head("hologram", "turn a trained model into one file that opens in microseconds, and run it");
    puts(".B hologram\n.I COMMAND\n[\\fIoptions\\fR] [\\fIarguments\\fR]\n.SH DESCRIPTION");
    put_prose(
        "hologram compiles a model (of ONNX, HuggingFace or GGUF) into one .holo archive, and runs such archives. It decides everything that it can\n"
        "when it compiles, before the first input. Each command has its own page, for example: man hologram-compile.");
    puts(".SH COMMANDS");
    for (int i = 0; cli_commands[i]; i++) {
        printf(".TP\n\\fBhologram %s\\fR ", cli_commands[i]->name);
        put_text(cli_commands[i]->arguments);
        putchar('\n');
        put_prose(cli_commands[i]->purpose);
    }
    put_settings();
    puts(
        ".SH EXIT STATUS\n.TP\n.B 0\nsuccess; for compare: the outputs agree\n.TP\n.B 1\nfailure; for compare: the outputs do not agree\n.TP\n.B 2\n"
        "wrong use; for compare: the outputs could not be compared\n.SH SEE ALSO");
    for (int i = 0; cli_commands[i]; i++)
        printf(".BR hologram\\-%s (1)%s\n", cli_commands[i]->name, cli_commands[i + 1] ? "," : "");
}
