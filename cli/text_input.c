// text_input.c - a model that reads texts, and the texts. See text_input.h.

#include "text_input.h"

#include "language.h"

#include <string.h>

int cli_reader_open(const Cli *cli, int arg, HoloReaderOptions *options, CliReader *out)
{
    HoloError error  = {0};
    double    length = 0;
    int       result = cli_model_open(cli, arg, &out->model);
    out->path        = cli->args[arg];
    if (!result) result = cli_read_whole(cli, "max-length", 1, 1e9, &length);
    if (result) return result;
    options->size       = sizeof *options;
    options->max_length = (int64_t)length;
    HoloStatus status   = cli_pool(&out->pool, &error);
    if (!status) status = holo_reader_create(out->model, out->pool, options, &out->reader, &error);
    return status ? cli_fail_error(out->path, &error, status) : CLI_OK;
}

void cli_reader_close(CliReader *r)
{
    holo_reader_destroy(r->reader);
    holo_pool_destroy(r->pool);
    holo_model_close(r->model);
}

int cli_reader_fail(const CliReader *r, const HoloError *error, HoloStatus status)
{
    if (status == HOLO_UNSUPPORTED)
        return cli_fail("hologram run gives a model any inputs, and shows all outputs", "%s: %s", r->path, error->text);
    int result = cli_fail_error(r->path, error, status);
    return status == HOLO_BAD_ARGUMENT ? CLI_USAGE : result;
}

// ---- texts

typedef struct Texts {
    HoloString *text;
    int         count, room;
} Texts;

static void text_add(Texts *t, const char *data, size_t size)
{
    if (t->count == t->room) {
        int room = t->room * 2 + 16;
        t->text  = cli_grow(t->text, (size_t)t->room, (size_t)room, sizeof *t->text);
        t->room  = room;
    }
    t->text[t->count++] = (HoloString){data, size};
}

static void lines_add(Texts *t)
{
    size_t size;
    char  *text = cli_read_stream(stdin, &size);
    for (char *line = text, *end; line < text + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        if (!end) end = text + size;
        size_t length = (size_t)(end - line);
        text_add(t, line, length && line[length - 1] == '\r' ? length - 1 : length);
    }
}

HoloString *cli_texts(const Cli *cli, int first, int *out_count)
{
    Texts t = {0};
    for (int i = first; i < cli->arg_count; i++) {
        if (strcmp(cli->args[i], "-"))
            text_add(&t, cli->args[i], strlen(cli->args[i]));
        else
            lines_add(&t);
    }
    if (cli->arg_count <= first) lines_add(&t);
    *out_count = t.count;
    return t.text;
}
