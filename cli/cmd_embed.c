// cmd_embed.c - hologram embed: turns texts into vectors.

#include "json.h"
#include "text_input.h"

#include <math.h>
#include <string.h>

// ---- pooling: the vectors of the tokens become one

typedef struct Tokens { // what the model gives for the tokens of a text
    const double *x;    // [count, size]
    int64_t       count, size;
} Tokens;

static void pool_cls(const Tokens *t, double *out)
{
    memcpy(out, t->x, (size_t)t->size * sizeof *out);
}

static void pool_last(const Tokens *t, double *out)
{
    memcpy(out, t->x + (t->count - 1) * t->size, (size_t)t->size * sizeof *out);
}

static void pool_max(const Tokens *t, double *out)
{
    pool_cls(t, out);
    for (int64_t i = 0; i < t->count * t->size; i++) out[i % t->size] = fmax(out[i % t->size], t->x[i]);
}

// Adds up, with the weight 1 or, if `is_rising`, 1, 2, 3 ..., and divides by `divisor`.
static void add_up(const Tokens *t, bool is_rising, double divisor, double *out)
{
    for (int64_t k = 0; k < t->size; k++) {
        double sum = 0;
        for (int64_t i = 0; i < t->count; i++) sum += t->x[i * t->size + k] * (is_rising ? (double)(i + 1) : 1);
        out[k] = sum / divisor;
    }
}

static void pool_mean(const Tokens *t, double *out)
{
    add_up(t, false, (double)t->count, out);
}

static void pool_mean_sqrt(const Tokens *t, double *out)
{
    add_up(t, false, sqrt((double)t->count), out);
}

static void pool_weighted(const Tokens *t, double *out)
{
    add_up(t, true, (double)t->count * (double)(t->count + 1) / 2, out);
}

static const struct Pooling {
    const char *name;
    void (*pool)(const Tokens *t, double *out);
} poolings[] = {
    {"mean", pool_mean},           {"cls", pool_cls},           {"max", pool_max}, {"last", pool_last},
    {"mean_sqrt", pool_mean_sqrt}, {"weighted", pool_weighted},
};

enum { POOLINGS_MAX = 8 }; // put behind each other

typedef struct Embedder {
    CliReader             reader;
    const char           *names; // of the ways to pool, as they were given; NULL: the model does it
    const struct Pooling *pooling[POOLINGS_MAX];
    int                   pooling_count;
    bool                  normalizes;
    int64_t               size;   // of a vector; 0: not known yet
    float                *vector; // of each text
    int64_t              *tokens; // of each text
} Embedder;

// ---- what the options and the model say

static int read_pooling(Embedder *e)
{
    for (const char *at = e->names; *at; at += *at == ',') {
        size_t size  = strcspn(at, ",");
        int    found = -1;
        for (int i = 0; i < CLI_COUNT(poolings); i++)
            if (strlen(poolings[i].name) == size && !memcmp(poolings[i].name, at, size)) found = i;
        if (found < 0 || e->pooling_count == POOLINGS_MAX)
            return cli_fail("--pooling mean, cls, max, last, mean_sqrt or weighted",
                            "there is no way to pool named '%.*s'", (int)size, at),
                   CLI_USAGE;
        e->pooling[e->pooling_count++] = &poolings[found];
        at += size;
    }
    return CLI_OK;
}

// The vectors of tokens, and what a model gives that has pooled them itself.
static const char *const token_outputs[]  = {"last_hidden_state", "token_embeddings", "hidden_states", NULL};
static const char *const pooled_outputs[] = {"sentence_embedding", "text_embeds", "pooler_output", "embeddings", NULL};

static bool has_any(const HoloModel *model, const char *const *names)
{
    for (; *names; names++)
        if (holo_model_output_find(model, *names) >= 0) return true;
    return false;
}

static int choose(const Cli *cli, Embedder *e)
{
    const HoloModel *model = e->reader.model;
    const char      *given = cli_option(cli, "pooling"), *said = holo_model_meta_find(model, "text.pooling");
    const char      *other      = holo_model_meta_find(model, "text.module_left_out");
    bool             has_tokens = has_any(model, token_outputs);
    e->normalizes               = cli_option(cli, "normalize") ||
                    (!cli_option(cli, "no-normalize") && holo_model_meta_find(model, "text.normalize"));
    if (other && !given)
        return cli_fail("--pooling NAME gives the vectors without it",
                        "%s: the model's vectors go through a module %s, which is not supported", e->reader.path,
                        other);
    if (!has_tokens && !has_any(model, pooled_outputs))
        return cli_fail("hologram run shows any outputs",
                        "%s: the model gives no vectors: its outputs are %s, and not last_hidden_state", e->reader.path,
                        cli_port_names(model, false));
    if (!has_tokens && given)
        return cli_fail("leave out --pooling", "%s: --pooling needs the vectors of tokens, but the model gives %s",
                        e->reader.path, cli_port_names(model, false)),
               CLI_USAGE;
    if (!has_tokens || (!given && holo_model_output_find(model, "sentence_embedding") >= 0)) return CLI_OK;
    e->names = given ? given : said ? said : holo_model_state_count(model) ? "last" : "mean";
    return read_pooling(e);
}

// ---- vectors

static void normalize(double *x, int64_t size)
{
    double sum = 0;
    for (int64_t i = 0; i < size; i++) sum += x[i] * x[i];
    double length = fmax(sqrt(sum), 1e-12);
    for (int64_t i = 0; i < size; i++) x[i] /= length;
}

// The vector of the text that was run, [1, size] or pooled from [1, tokens, size]. `*out_size` gets its size.
static int vector_make(Embedder *e, double **out, int64_t *out_size)
{
    HoloTensor t     = {0};
    bool       pools = e->names != NULL;
    CliText    type;
    if (!cli_reader_output(&e->reader, pools ? token_outputs : pooled_outputs, &t) || t.kind != HOLO_TENSOR ||
        t.rank != (pools ? 3 : 2) || t.dim[0] != 1 || holo_tensor_count(&t) <= 0)
        return cli_fail(NULL, "%s: the output of the model is %s, and should be %s", e->reader.path,
                        cli_type(&type, &t, NULL), pools ? "[1, tokens, size]" : "[1, size]");
    int64_t count = holo_tensor_count(&t), size = t.dim[t.rank - 1];
    double *all   = cli_take((size_t)count, sizeof *all);
    int64_t parts = pools ? e->pooling_count : 1;
    Tokens tokens = {.x = all, .size = size, .count = pools && t.dim[1] < e->reader.count ? t.dim[1] : e->reader.count};
    holo_tensor_numbers(&t, 0, count, all);
    *out      = pools ? cli_take((size_t)(parts * size), sizeof **out) : all;
    *out_size = parts * size;
    for (int i = 0; i < e->pooling_count; i++) e->pooling[i]->pool(&tokens, *out + i * size);
    if (e->normalizes) normalize(*out, *out_size);
    return CLI_OK;
}

static int vectors_make(Embedder *e, const HoloString *text, int count)
{
    for (int i = 0; i < count; i++) {
        double *x      = NULL;
        int64_t size   = 0;
        int     result = cli_reader_run(&e->reader, text[i]);
        if (!result) result = vector_make(e, &x, &size);
        if (result) return result;
        if (!e->size) e->vector = cli_take((size_t)count * (size_t)size, sizeof *e->vector);
        if (e->size && e->size != size)
            return cli_fail(NULL, "%s: the vectors of two texts have different sizes", e->reader.path);
        e->size      = size;
        e->tokens[i] = e->reader.count;
        for (int64_t k = 0; k < size; k++) e->vector[i * size + k] = (float)x[k];
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
    Embedder          e     = {0};
    int               count = 0, result = cli_reader_open(cli, 0, &e.reader);
    const HoloString *text = NULL;
    if (!result) result = cli_reader_check(&e.reader);
    if (!result) result = choose(cli, &e);
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
