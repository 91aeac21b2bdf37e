// cmd_tokenize.c - hologram tokenize: text to ids, and ids to text.

#include "cli.h"

#include "hologram_compiler.h"
#include "hologram_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- text that grows, and JSON of one line

typedef struct Line {
    char  *data;
    size_t size, room;
} Line;

static void line_add(Line *line, const char *data, size_t size)
{
    if (line->size + size + 1 > line->room) {
        size_t room = (line->room + size + 64) * 2;
        line->data  = cli_grow(line->data, line->room, room, 1);
        line->room  = room;
    }
    if (size) memcpy(line->data + line->size, data, size);
    line->data[line->size += size] = 0;
}

static void line_text(Line *line, const char *text)
{
    line_add(line, text, strlen(text));
}

static void line_number(Line *line, uint32_t number)
{
    char text[16];
    line_add(line, text, (size_t)snprintf(text, sizeof text, "%" PRIu32, number));
}

// A text in JSON, all of it in ASCII. It is UTF-8: decoding gives nothing else.
static void line_quoted(Line *line, const char *text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + size;
    line_text(line, "\"");
    while (s < end) {
        char     escape[16];
        int      bytes = *s < 0x80 ? 1 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : 4;
        uint32_t code  = bytes == 1 ? *s : *s & (0x7Fu >> bytes);
        for (int i = 1; i < bytes && s + i < end; i++) code = code << 6 | (s[i] & 0x3F);
        if (code == '"' || code == '\\')
            line_add(line, (char[]){'\\', (char)code}, 2);
        else if (code >= 32 && code < 127)
            line_add(line, (const char *)s, 1);
        else if (code < 0x10000)
            line_add(line, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", code));
        else
            line_add(line, escape,
                     (size_t)snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xD7C0 + (code >> 10),
                                      0xDC00 + (code & 0x3FF)));
        s += bytes;
    }
    line_text(line, "\"");
}

static void line_code(Line *line, uint32_t c) // in UTF-8
{
    char out[4] = {(char)c};
    int  size   = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = size - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    if (size > 1) out[0] = (char)((0xF00 >> size) | c);
    line_add(line, out, (size_t)size);
}

// Four digits of an escape; false: there are none.
static bool read_unit(const char *at, const char *end, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, at++) {
        if (at >= end || !strchr("0123456789abcdefABCDEF", *at) || !*at) return false;
        *out = *out * 16 + (uint32_t)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
    }
    return true;
}

// The text of a JSON string, which is all of the line. False: it is none.
static bool read_quoted(const char *at, const char *end, Line *out)
{
    static const char letters[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    out->size = 0;
    line_add(out, "", 0);
    if (at == end || *at++ != '"') return false;
    while (at < end && *at != '"') {
        uint32_t    code, low;
        const char *found;
        if (*at != '\\') {
            line_add(out, at++, 1);
        } else if (at + 1 < end && at[1] && (found = strchr(letters, at[1]))) {
            line_add(out, &codes[found - letters], 1);
            at += 2;
        } else if (at + 1 < end && at[1] == 'u' && read_unit(at + 2, end, &code)) {
            at += 6;
            bool is_pair = code - 0xD800 < 0x400 && at + 1 < end && at[0] == '\\' && at[1] == 'u' &&
                           read_unit(at + 2, end, &low) && low - 0xDC00 < 0x400;
            if (is_pair) at += 6;
            line_code(out, is_pair ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : code);
        } else {
            return false;
        }
    }
    if (at == end) return false;
    for (at++; at < end; at++)
        if (*at != ' ' && *at != '\t' && *at != '\r') return false;
    return true;
}

// Numbers with commas, spaces or brackets between them. The number of ids; -1: something else is there.
static ptrdiff_t read_ids(const char *at, const char *end, uint32_t **out)
{
    size_t count = 0, room = 0;
    while (at < end) {
        char *behind;
        if (strchr(" ,\t\r\n[]", *at)) {
            at++;
            continue;
        }
        errno                = 0;
        unsigned long number = strtoul(at, &behind, 10);
        if (behind == at || *at == '-' || *at == '+' || errno || number > UINT32_MAX) return -1;
        if (count == room) *out = cli_grow(*out, room, room * 2 + 16, sizeof **out), room = room * 2 + 16;
        (*out)[count++] = (uint32_t)number;
        at              = behind;
    }
    return (ptrdiff_t)count;
}

// ---- one text, one line of output

static void line_ids(Line *line, const uint32_t *ids, size_t count, const char *between)
{
    for (size_t i = 0; i < count; i++) {
        if (i) line_text(line, between);
        line_number(line, ids[i]);
    }
}

static HoloStatus encoded(HoloTokenizer *tokenizer, const Line *text, bool json, Line *out, HoloError *error)
{
    uint32_t  *ids = NULL, *plain = NULL;
    size_t     count = 0, plain_count = 0, size = 0;
    char      *back = NULL;
    HoloStatus status =
        holo_tokenizer_encode(tokenizer, text->data, text->size, HOLO_TEXT_SPECIAL, &ids, &count, error);
    if (!status && json)
        status = holo_tokenizer_encode(tokenizer, text->data, text->size, 0, &plain, &plain_count, error);
    if (!status && json) status = holo_tokenizer_decode(tokenizer, ids, count, 0, &back, &size, error);
    if (!status && !json) line_ids(out, ids, count, " ");
    if (!status && json) {
        line_text(out, "{\"ids\": [");
        line_ids(out, ids, count, ", ");
        line_text(out, "], \"plain\": [");
        line_ids(out, plain, plain_count, ", ");
        line_text(out, "], \"text\": ");
        line_quoted(out, back, size);
        line_text(out, "}");
    }
    line_text(out, "\n");
    holo_ids_free(ids);
    holo_ids_free(plain);
    holo_text_free(back);
    return status;
}

static HoloStatus decoded(HoloTokenizer *tokenizer, const uint32_t *ids, size_t count, bool json, Line *out,
                          HoloError *error)
{
    char      *text   = NULL;
    size_t     size   = 0;
    HoloStatus status = holo_tokenizer_decode(tokenizer, ids, count, 0, &text, &size, error);
    if (!status && json) {
        line_text(out, "{\"text\": ");
        line_quoted(out, text, size);
        line_text(out, "}\n");
    } else if (!status) {
        line_add(out, text, size);
        line_text(out, "\n");
    }
    holo_text_free(text);
    return status;
}

// One text: encodes it or, as ids, decodes it, and prints that.
static int tokenize_one(const Cli *cli, HoloTokenizer *tokenizer, const Line *text, const char *where)
{
    HoloError  error = {0};
    HoloStatus status;
    Line       out  = {0};
    uint32_t  *ids  = NULL;
    bool       json = cli_option(cli, "json");
    if (cli_option(cli, "decode")) {
        ptrdiff_t count = read_ids(text->data, text->data + text->size, &ids);
        if (count < 0)
            return cli_fail("ids are whole numbers with spaces or commas between them: 101 7592 102",
                            "%s has something else than ids", where);
        status = decoded(tokenizer, ids, (size_t)count, json, &out, &error);
    } else {
        status = encoded(tokenizer, text, json, &out, &error);
    }
    if (status) return cli_fail_error(NULL, &error, status);
    if (json) cli_json_begun();
    if (json || !cli_option(cli, "decode"))
        fwrite(out.data, 1, out.size, stdout); // digits and ASCII
    else
        printf("%s", out.data);
    return CLI_OK;
}

// ---- what is read

// The next line of the standard input, without its end. False: there is none.
static bool next_line(Line *line)
{
    int c;
    line->size = 0;
    line_add(line, "", 0);
    while ((c = getc(stdin)) != EOF && c != '\n') line_add(line, (char[]){(char)c}, 1);
    return c != EOF || line->size;
}

static int tokenize_lines(const Cli *cli, HoloTokenizer *tokenizer)
{
    Line line = {0}, text = {0};
    bool decodes = cli_option(cli, "decode");
    for (int number = 1, result; next_line(&line); number++) {
        if (!line.size) continue;
        if (!decodes && !read_quoted(line.data, line.data + line.size, &text))
            return cli_fail("with --json every line of the standard input is one JSON string",
                            "line %d is no JSON string", number);
        result = tokenize_one(cli, tokenizer, decodes ? &line : &text, cli_format("line %d", number));
        if (result) return result;
    }
    return CLI_OK;
}

static int tokenize_input(const Cli *cli, HoloTokenizer *tokenizer)
{
    Line   text = {0};
    char   part[1 << 16];
    size_t count;
    if (cli->arg_count > 1 && strcmp(cli->args[1], "-")) {
        line_text(&text, cli->args[1]);
        return tokenize_one(cli, tokenizer, &text, "the text");
    }
    if (cli_option(cli, "json")) return tokenize_lines(cli, tokenizer);
    line_add(&text, "", 0);
    while ((count = fread(part, 1, sizeof part, stdin)) > 0) line_add(&text, part, count);
    return tokenize_one(cli, tokenizer, &text, "the standard input");
}

// A tokenizer of any format, or that of an archive.
static HoloStatus tokenizer_open(const char *path, HoloTokenizer **out, HoloError *error)
{
    HoloError    ignored = {0}; // what is no model may be a tokenizer
    HoloFileKind kind;
    HoloModel   *model;
    HoloString   block;
    if (holo_file_kind(path, &kind, &ignored) || kind != HOLO_FILE_ARCHIVE)
        return holo_tokenizer_compile(path, out, error);
    HoloStatus status = holo_model_open(path, &model, error);
    if (status) return status;
    if (holo_model_asset(model, "tokenizer", &block)) {
        status = holo_tokenizer_open_memory(block.data, block.size, out, error);
    } else {
        status = HOLO_BAD_INPUT;
        snprintf(error->text, sizeof error->text,
                 "the archive has no tokenizer: its model had none when it was compiled");
    }
    holo_model_close(model);
    return status;
}

static int tokenize(Cli *cli)
{
    HoloError      error     = {0};
    HoloTokenizer *tokenizer = NULL;
    HoloStatus     status    = tokenizer_open(cli->args[0], &tokenizer, &error);
    int            result    = status ? cli_fail_error(cli->args[0], &error, status) : tokenize_input(cli, tokenizer);
    holo_tokenizer_close(tokenizer);
    return result;
}

static const CliOption options[] = {
    {"decode", 0, NULL, "TEXT is a list of ids: print their text"},
    {"json", 0, NULL, "one line of JSON for each text; without TEXT, each line of the standard input is a JSON string"},
    {0},
};

const CliCommand cli_tokenize = {
    .name      = "tokenize",
    .purpose   = "turn text into the ids of a tokenizer, and back",
    .arguments = "FILE [TEXT]",
    .arg_min   = 1,
    .arg_max   = 2,
    .details =
        "FILE is a tokenizer.json, a tokenizer.model, a vocab.json with merges.txt beside it, a vocab.txt, a GGUF\n"
        "file, or a folder that has one of these. Prints the ids of the text, with the special tokens that the\n"
        "model expects around it. Without TEXT, or if it is -, the text is the standard input.\n"
        "With --json, a line has the ids with special tokens, the ids without (plain), and the text that\n"
        "the ids decode to without special tokens.",
    .examples = "  hologram tokenize tokenizer.json 'Hello world'\n"
                "  hologram tokenize model_folder - < letter.txt\n"
                "  hologram tokenize tokenizer.json --decode '101 7592 2088 102'\n"
                "  echo '\"Hello\"' | hologram tokenize tokenizer.json --json\n",
    .options  = options,
    .run      = tokenize,
};
