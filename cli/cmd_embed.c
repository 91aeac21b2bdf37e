// cmd_embed.c - hologram embed: turns texts into vectors.

#include "json.h"
#include "text_input.h"

#include <string.h>

typedef struct Embedder {
    CliReader   reader;
    const char *names; // of the ways to pool; NULL: the model does it
    bool        normalizes;
    int64_t     size;   // of a vector; 0: not known yet
    float      *vector; // of each text
    int64_t    *tokens; // of each text
} Embedder;

static int vectors_make(Embedder *e, const HoloString *text, int count)
{
    for (int i = 0; i < count; i++) {
        HoloEmbedding one;
        HoloError     error  = {0};
        HoloStatus    status = holo_embed(e->reader.reader, text[i].data, text[i].size, &one, &error);
        if (status) return cli_reader_fail(&e->reader, &error, status);
        if (!e->size) e->vector = cli_take((size_t)count * one.size, sizeof *e->vector);
        if (e->size && e->size != (int64_t)one.size)
            return cli_fail(NULL, "%s: the vectors of two texts have different sizes", e->reader.path);
        e->size       = (int64_t)one.size;
        e->names      = one.pooling;
        e->normalizes = one.is_normalized;
        e->tokens[i]  = (int64_t)one.tokens;
        memcpy(e->vector + i * e->size, one.vector, one.size * sizeof *one.vector);
    }
    return CLI_OK;
}

// ---- what comes out

static void print_json(const Cli *cli, const Embedder *e, const HoloString *text, int count)
{
    Json json = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "file", cli->args[0]);
    json_text(&json, "pooling", e->names);
    json_bool(&json, "normalized", e->normalizes);
    json_int(&json, "size", e->size);
    json_open(&json, "texts", '[');
    for (int i = 0; i < count; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "text", cli_format("%.*s", (int)text[i].size, text[i].data));
        json_int(&json, "tokens", e->tokens[i]);
        json_open(&json, "embedding", '[');
        for (int64_t k = 0; k < e->size; k++) json_number(&json, NULL, e->vector[i * e->size + k]);
        json_close(&json, ']');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static void print_lines(const Embedder *e, int count)
{
    for (int i = 0; i < count; i++)
        for (int64_t k = 0; k < e->size; k++)
            printf("%.9g%c", (double)e->vector[i * e->size + k], k + 1 < e->size ? ' ' : '\n');
}

static int give(const Cli *cli, const Embedder *e, const HoloString *text, int count)
{
    const char *path   = cli_option(cli, "output");
    HoloError   error  = {0};
    HoloTensor  tensor = {.dtype = HOLO_F32, .rank = 2, .dim = {count, e->size}, .data = e->vector};
    HoloStatus  status = path ? holo_tensor_write_npy(path, &tensor, &error) : HOLO_OK;
    if (status) return cli_fail_error(path, &error, status);
    if (cli_option(cli, "json"))
        print_json(cli, e, text, count);
    else if (!path)
        print_lines(e, count);
    return CLI_OK;
}

static int embed(Cli *cli)
{
    Embedder          e       = {0};
    HoloReaderOptions options = {.pooling   = cli_option(cli, "pooling"),
                                 .normalize = cli_option(cli, "normalize")      ? 1
                                              : cli_option(cli, "no-normalize") ? -1
                                                                                : 0};
    int               count = 0, result = cli_reader_open(cli, 0, &options, &e.reader);
    const HoloString *text = NULL;
    if (!result) text = cli_texts(cli, 1, &count);
    if (!result && !count) result = cli_fail("hologram embed FILE 'some words'", "there is no text");
    if (!result) {
        e.tokens = cli_take((size_t)count, sizeof *e.tokens);
        result   = vectors_make(&e, text, count);
    }
    if (!result) result = give(cli, &e, text, count);
    cli_reader_close(&e.reader);
    return result;
}

static const CliOption options[] = {
    {"output", 'o', "FILE.npy", "write the vectors to a file: f32[texts, size]", .writes = true},
    {"pooling", 0, "NAME",
     "how the vectors of tokens become one: mean, cls, max, last,\nmean_sqrt or weighted; several, with commas, are\n"
     "concatenated (default: the model's setting; else mean,\nor last for a model that generates text)"},
    {"normalize", 0, NULL, "scale each vector to length 1", .without = "no-normalize"},
    {"no-normalize", 0, NULL, "do not scale vectors, whatever the model says", .without = "normalize"},
    CLI_OPTION_MAX_LENGTH,
    {"json", 0, NULL, "print the texts, token counts and vectors as JSON"},
    CLI_OPTION_THREADS,
    {0},
};

const CliCommand cli_embed = {
    .name      = "embed",
    .purpose   = "turn texts into vectors (embeddings)",
    .arguments = "FILE [TEXT...]",
    .arg_min   = 1,
    .arg_max   = -1,
    .details   = "FILE is an archive of a model that has a tokenizer, or the model itself: a HuggingFace folder, a\n"
                 "GGUF file. Prints a line of numbers for each text, in order. Without TEXT, or if it is -, each line\n"
                 "of the standard input is a text. Similar texts have similar vectors, if the model was trained for\n"
                 "that.",
    .examples  = "  hologram embed model.holo 'a cat' 'a dog' -o vectors.npy\n"
                 "  hologram embed model_folder - --json < lines.txt\n",
    .options   = options,
    .run       = embed,
};
