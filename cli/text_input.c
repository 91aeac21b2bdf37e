// text_input.c - texts as inputs. See text_input.h.

#include "text_input.h"

#include "language.h"

#include <stdlib.h>
#include <string.h>

// ---- opening

static double meta_number(const HoloModel *model, const char *key)
{
    const char *text = holo_model_meta_find(model, key);
    return text ? strtod(text, NULL) : 0;
}

// The sizes that the model fixes, what its folder says, and --max-length: the smallest.
static int find_length(const Cli *cli, CliReader *r)
{
    static const char *const keys[] = {"text.max_length", "text.context"};
    int                      index  = holo_model_input_find(r->model, "input_ids");
    const HoloPort          *port   = index < 0 ? NULL : holo_model_input(r->model, index);
    double                   given  = 0;
    double                   limits[CLI_COUNT(keys) + 2];
    int                      result = cli_read_whole(cli, "max-length", 1, 1e9, &given), count = 0;
    for (int i = 0; i < CLI_COUNT(keys); i++) limits[count++] = meta_number(r->model, keys[i]);
    limits[count++] = given;
    limits[count++] = port && port->type.rank == 2 ? (double)port->type.dim[1] : 0;
    for (int i = 0; i < count; i++)
        if (limits[i] >= 1 && limits[i] < 1e9 && (!r->max_length || (int64_t)limits[i] < r->max_length))
            r->max_length = (int64_t)limits[i];
    double pad = meta_number(r->model, "text.pad");
    r->pad     = pad >= 0 && pad <= UINT32_MAX ? (uint32_t)pad : 0;
    return result;
}

int cli_reader_open(const Cli *cli, int arg, CliReader *out)
{
    HoloError  error  = {0};
    HoloString block  = {0};
    int        result = cli_model_open(cli, arg, &out->model);
    out->path         = cli->args[arg];
    if (!result) result = find_length(cli, out);
    if (result) return result;
    HoloStatus status = cli_pool(&out->pool, &error);
    if (!status) status = holo_session_create(out->model, out->pool, &out->session, &error);
    if (!status && holo_model_asset(out->model, "tokenizer", &block))
        status = holo_tokenizer_open_memory(block.data, block.size, &out->tokenizer, &error);
    out->data = cli_take((size_t)holo_model_input_count(out->model) + 1, sizeof *out->data);
    return status ? cli_fail_error(out->path, &error, status) : CLI_OK;
}

void cli_reader_close(CliReader *r)
{
    holo_ids_free(r->ids);
    holo_tokenizer_close(r->tokenizer);
    holo_session_destroy(r->session);
    holo_pool_destroy(r->pool);
    holo_model_close(r->model);
}

const char *cli_port_names(const HoloModel *model, bool inputs)
{
    const char *text  = "";
    int         count = inputs ? holo_model_input_count(model) : holo_model_output_count(model);
    for (int i = 0; i < count; i++) {
        const HoloPort *port = inputs ? holo_model_input(model, i) : holo_model_output(model, i);
        text                 = cli_format("%s%s%s", text, i ? ", " : "", port->name);
    }
    return text;
}

int cli_reader_check(const CliReader *r)
{
    const char *why = holo_model_meta_find(r->model, "text.tokenizer"); // why it was left out
    if (holo_model_input_find(r->model, "input_ids") < 0)
        return cli_fail("hologram run gives any inputs to a model",
                        "%s: the model does not read texts: it has no input 'input_ids', but %s", r->path,
                        cli_port_names(r->model, true));
    if (!r->tokenizer)
        return cli_fail("compile a folder that has a tokenizer.json or a vocab.txt beside the model",
                        "%s: the model has no tokenizer%s%s", r->path, why ? ": " : "", why ? why : "");
    return CLI_OK;
}

// ---- ids

// Finds the text itself between its special tokens. A text that is too long is cut; the special tokens around it stay.
static void cut(CliReader *r, const uint32_t *plain, size_t plain_count, size_t count)
{
    size_t limit = (size_t)r->max_length, around = count - plain_count, first = 0;
    while (first < around && memcmp(r->ids + first, plain, plain_count * sizeof *plain) != 0) first++;
    size_t behind = around - first;
    r->first      = (int64_t)first;
    r->end        = (int64_t)(count - behind);
    if (!r->max_length || count <= limit) return;
    if (around < limit) memmove(r->ids + limit - behind, r->ids + count - behind, behind * sizeof *r->ids);
    r->end   = around < limit ? (int64_t)(limit - behind) : r->max_length;
    r->count = r->max_length;
}

static HoloStatus encode(CliReader *r, HoloString text, HoloError *error)
{
    uint32_t *plain = NULL;
    size_t    count = 0, plain_count = 0;
    holo_ids_free(r->ids);
    r->ids            = NULL;
    HoloStatus status = holo_tokenizer_encode(r->tokenizer, text.data, text.size, 0, &plain, &plain_count, error);
    if (!status)
        status = holo_tokenizer_encode(r->tokenizer, text.data, text.size, HOLO_TEXT_SPECIAL, &r->ids, &count, error);
    r->count = r->end = status ? 0 : (int64_t)count;
    r->first          = 0;
    if (!status && count >= plain_count) cut(r, plain, plain_count, count);
    holo_ids_free(plain);
    return status;
}

// ---- inputs

// What an input holds for each token: of those that fill up a fixed size it is `beyond`.
static bool number_of(const CliReader *r, const char *name, int64_t at, double *out)
{
    bool is_token = at < r->count;
    if (!strcmp(name, "input_ids"))
        *out = is_token ? r->ids[at] : r->pad;
    else if (!strcmp(name, "attention_mask"))
        *out = is_token;
    else if (!strcmp(name, "token_type_ids"))
        *out = 0;
    else if (!strcmp(name, "position_ids"))
        *out = (double)at;
    else
        return false;
    return true;
}

static void grow(CliReader *r, int64_t size)
{
    if (size <= r->room) return;
    r->numbers = cli_grow(r->numbers, (size_t)r->room, (size_t)size * 2, sizeof *r->numbers);
    for (int i = 0; i < holo_model_input_count(r->model); i++)
        r->data[i] = cli_grow(r->data[i], (size_t)r->room, (size_t)size * 2, sizeof(double)); // of any type
    r->room = size * 2;
}

static int set_input(CliReader *r, int index)
{
    const HoloPort *port  = holo_model_input(r->model, index);
    HoloTensor      t     = port->type;
    HoloError       error = {0};
    double          first;
    if (!number_of(r, port->name, 0, &first)) {
        if (port->optional || port->any_shape) return CLI_OK;
        return cli_fail("hologram run gives any inputs to a model",
                        "%s: the model needs the input '%s', which a text does not give", r->path, port->name);
    }
    if (t.rank < 0) t.rank = 2;
    if (t.rank != 1 && t.rank != 2)
        return cli_fail("hologram run gives any inputs to a model",
                        "%s: the input '%s' has %d dimensions, but texts have [batch, tokens]", r->path, port->name,
                        t.rank);
    int64_t size = t.rank == 2 && t.dim[1] > 0 ? t.dim[1] : r->count;
    grow(r, size);
    for (int64_t i = 0; i < size; i++) (void)number_of(r, port->name, i, &r->numbers[i]);
    t.dim[0]           = 1;
    t.dim[t.rank == 2] = size;
    t.data             = r->data[index];
    HoloStatus status  = holo_port_fits(port, &t, &error);
    if (!status) holo_tensor_set_numbers(&t, 0, size, r->numbers);
    if (!status) status = holo_session_set_input(r->session, index, &t, &error);
    return status ? cli_fail_error(r->path, &error, status) : CLI_OK;
}

int cli_reader_run(CliReader *r, HoloString text)
{
    HoloError  error  = {0};
    int        result = CLI_OK;
    HoloStatus status = encode(r, text, &error);
    if (status) return cli_fail_error(r->path, &error, status);
    if (!r->count) return cli_fail("leave it out", "%s: '%.*s' has no tokens", r->path, (int)text.size, text.data);
    for (int i = 0; i < holo_model_input_count(r->model) && !result; i++) result = set_input(r, i);
    if (result) return result;
    status = holo_session_run(r->session, &error);
    return status ? cli_fail_error(r->path, &error, status) : CLI_OK;
}

bool cli_reader_output(const CliReader *r, const char *const *names, HoloTensor *out)
{
    HoloError error = {0};
    for (; *names; names++) {
        int index = holo_model_output_find(r->model, *names);
        if (index >= 0 && !holo_session_output(r->session, index, out, &error)) return true;
    }
    return false;
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
