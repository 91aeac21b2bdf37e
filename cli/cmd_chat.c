// cmd_chat.c - hologram chat: a conversation in the terminal.

#include "language.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef struct Chat {
    CliLanguage l;
    CliMessages messages;
    const char *system; // NULL: none
    char       *answer;
    size_t      size, room;
} Chat;

static volatile sig_atomic_t is_stopped; // Ctrl-C ends the answer, and not the program

static void stop(int number)
{
    (void)number;
    is_stopped = 1;
}

static bool each(void *state, const HoloGenerated *g)
{
    Chat *c = state;
    if (c->size + g->text.size + 1 > c->room) {
        size_t room = (c->size + g->text.size + 256) * 2;
        c->answer   = cli_grow(c->answer, c->room, room, 1);
        c->room     = room;
    }
    if (g->text.size) memcpy(c->answer + c->size, g->text.data, g->text.size);
    c->answer[c->size += g->text.size] = 0;
    printf("%.*s", (int)g->text.size, g->text.data);
    fflush(stdout);
    return !is_stopped;
}

static void conversation_reset(Chat *c)
{
    c->messages.size = 0;
    if (c->system && *c->system) cli_message_add(&c->messages, "system", c->system);
}

// One question, and its answer.
static int answer(Chat *c, const char *question)
{
    char     *text;
    size_t    size, count = 0;
    uint32_t *ids   = NULL;
    HoloError error = {0};
    cli_message_add(&c->messages, "user", question);
    int result = cli_messages_render(&c->l, &c->messages, &text, &size);
    if (!result) result = cli_language_encode(&c->l, text, size, false, &ids, &count);
    if (result) return result;
    holo_text_free(text);
    is_stopped = 0;
    c->size    = 0;
    if (c->answer) *c->answer = 0;
    HoloStatus status = holo_generate(c->l.language, ids, count, &c->l.options, each, c, NULL, &error);
    holo_ids_free(ids);
    printf("\n");
    if (status) return cli_fail_error(NULL, &error, status);
    cli_message_add(&c->messages, "assistant", c->answer ? c->answer : "");
    return CLI_OK;
}

// ---- commands of the conversation

static int save(Chat *c, const char *path)
{
    CliFile file;
    if (cli_file_begin(path, &file)) return CLI_OK; // the conversation goes on
    fprintf(file.stream, "[%s]\n", c->messages.size ? c->messages.json : "");
    if (!cli_file_end(&file)) printf("saved to %s\n", path);
    return CLI_OK;
}

static int load(Chat *c, const char *path)
{
    size_t size = 0;
    char  *text = cli_read_file(path, &size);
    if (!text) return CLI_OK;
    while (size && (text[size - 1] == '\n' || text[size - 1] == ']')) text[--size] = 0;
    if (!size || *text != '[') return cli_warn("%s: this is not a saved conversation", path), CLI_OK;
    c->messages = (CliMessages){.json = cli_format("%s", text + 1), .size = size - 1, .room = size};
    printf("loaded %s\n", path);
    return CLI_OK;
}

static int forget(Chat *c, const char *rest)
{
    (void)rest;
    conversation_reset(c);
    printf("a new conversation\n");
    return CLI_OK;
}

static int set_system(Chat *c, const char *text)
{
    c->system = cli_format("%s", text);
    return forget(c, text);
}

static int show_help(Chat *c, const char *rest);

static const struct {
    const char *word, *help;
    int (*run)(Chat *c, const char *rest);
} commands[] = {
    {"/system", "TEXT: what the model is told first; begins a new conversation", set_system},
    {"/save", "FILE: write the conversation to a file", save},
    {"/load", "FILE: go on with a conversation that was saved", load},
    {"/new", "begin a new conversation", forget},
    {"/help", "show this", show_help},
};

static int show_help(Chat *c, const char *rest)
{
    (void)c;
    (void)rest;
    for (int i = 0; i < CLI_COUNT(commands); i++) printf("%-8s %s\n", commands[i].word, commands[i].help);
    printf("%-8s %s\n", "/bye", "end; so does Ctrl-D. Ctrl-C ends an answer");
    return CLI_OK;
}

static int command_run(Chat *c, char *line)
{
    size_t size = strcspn(line, " ");
    for (int i = 0; i < CLI_COUNT(commands); i++)
        if (strlen(commands[i].word) == size && !strncmp(line, commands[i].word, size))
            return commands[i].run(c, line[size] ? line + size + 1 : "");
    cli_warn("there is no command %.*s; /help lists them", (int)size, line);
    return CLI_OK;
}

// The next line of the standard input, without its end; NULL: there is none.
static char *next_line(char **line, size_t *room)
{
    size_t size = 0;
    int    byte;
    while ((byte = getc(stdin)) != EOF && byte != '\n') {
        if (size + 2 > *room) *line = cli_grow(*line, *room, *room * 2 + 256, 1), *room = *room * 2 + 256;
        (*line)[size++] = (char)byte;
    }
    if (byte == EOF && !size) return NULL;
    if (!*room) *line = cli_grow(NULL, 0, 256, 1), *room = 256;
    while (size && (*line)[size - 1] == '\r') size--;
    (*line)[size] = 0;
    return *line;
}

static int converse(Chat *c)
{
    char  *line        = NULL, *next;
    size_t room        = 0;
    bool   is_terminal = isatty(STDIN_FILENO);
    int    result      = CLI_OK;
    if (is_terminal)
        printf("%s/help lists what else you can do%s\n", cli_color(stdout, "dim"), cli_color(stdout, "reset"));
    while (!result) {
        if (is_terminal) printf("%s> %s", cli_color(stdout, "bold"), cli_color(stdout, "reset"));
        fflush(stdout);
        next = next_line(&line, &room);
        if (!next || !strcmp(next, "/bye")) break;
        if (!*next) continue;
        result = *next == '/' ? command_run(c, next) : answer(c, next);
    }
    return result;
}

static int chat(Cli *cli)
{
    Chat c      = {.system = cli_option(cli, "system")};
    int  result = cli_language_open(cli, 0, &c.l);
    if (!result && !c.l.chat)
        result = cli_fail("use hologram generate, which generates text", "the model has no chat template");
    if (!result && !c.l.tokenizer)
        result = cli_fail("compile a folder that has a tokenizer.json", "the model has no tokenizer");
    signal(SIGINT, stop);
    conversation_reset(&c);
    if (!result) result = converse(&c);
    cli_language_close(&c.l);
    return result;
}

static const CliOption options[] = {
    {"system", 0, "TEXT", "the system prompt"}, CLI_OPTIONS_SAMPLING, CLI_OPTION_DEVICE, CLI_OPTION_THREADS, {0},
};

const CliCommand cli_chat = {
    .name      = "chat",
    .purpose   = "talk with a language model in the terminal",
    .arguments = "FILE",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "FILE is an archive of a language model that was trained on conversations, or the model itself.\n"
                 "Each line is a question. /help lists what else you can type: /system, /save, /load, /new.\n"
                 "Ctrl-C stops an answer, and Ctrl-D ends the conversation. Earlier text is not computed again.",
    .examples  = "  hologram chat model.holo\n"
                 "  hologram chat model.holo --system 'Answer in one sentence.' --temperature 0\n",
    .options   = options,
    .run       = chat,
};
