// language.c - opens language models for commands, reads how tokens are chosen, and makes prompts of messages.

#include "language.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- numbers

int cli_read_number(const Cli *cli, const char *option, double low, double high, double *out)
{
    const char *text = cli_option(cli, option);
    char       *end;
    if (!text) return CLI_OK;
    errno         = 0;
    double number = strtod(text, &end);
    if (end == text || *end || errno || !(number >= low && number <= high))
        return cli_fail(NULL, "--%s is '%s', but must be a number from %g to %g", option, text, low, high), CLI_USAGE;
    *out = number;
    return CLI_OK;
}

int cli_read_whole(const Cli *cli, const char *option, double low, double high, double *out)
{
    double number = *out;
    int    result = cli_read_number(cli, option, low, high, &number);
    if (!result && number != floor(number))
        return cli_fail(NULL, "--%s is '%s', but must be a whole number from %g to %g", option, cli_option(cli, option),
                        low, high),
               CLI_USAGE;
    *out = number;
    return result;
}

// An option that sets a field of the sampler: a float, or a whole number.
static int read_sampling(const Cli *cli, HoloSamplerOptions *s)
{
    const struct {
        const char *option;
        double      low, high;
        float      *real;
        uint32_t   *whole;
    } rows[] = {
        {"temperature", 0, 100, &s->temperature, NULL},
        {"top-k", 0, 1e9, NULL, &s->top_k},
        {"top-p", 0, 1, &s->top_p, NULL},
        {"min-p", 0, 1, &s->min_p, NULL},
        {"typical-p", 0, 1, &s->typical_p, NULL},
        {"repetition-penalty", 0.01, 100, &s->repetition_penalty, NULL},
        {"presence-penalty", -100, 100, &s->presence_penalty, NULL},
        {"frequency-penalty", -100, 100, &s->frequency_penalty, NULL},
    };
    for (int i = 0; i < CLI_COUNT(rows); i++) {
        double number = rows[i].real ? *rows[i].real : *rows[i].whole;
        int    result =
            (rows[i].real ? cli_read_number : cli_read_whole)(cli, rows[i].option, rows[i].low, rows[i].high, &number);
        if (result) return result;
        if (rows[i].real) *rows[i].real = (float)number;
        if (rows[i].whole) *rows[i].whole = (uint32_t)number;
    }
    double seed   = 0;
    int    result = cli_read_whole(cli, "seed", 0, 9e15, &seed);
    s->seed       = (uint64_t)seed;
    return result;
}

static int count_of(const Cli *cli, const char *option)
{
    int cursor = 0, count = 0;
    while (cli_option_next(cli, option, &cursor)) count++;
    return count;
}

static int read_bias(const Cli *cli, CliLanguage *l)
{
    int         cursor = 0;
    const char *text;
    l->bias = cli_grow(NULL, 0, (size_t)count_of(cli, "logit-bias") + 1, sizeof *l->bias);
    while ((text = cli_option_next(cli, "logit-bias", &cursor))) {
        char         *end;
        unsigned long token = strtoul(text, &end, 10);
        if (end == text || *end != ':' || token > UINT32_MAX)
            return cli_fail("for example --logit-bias 50256:-100", "--logit-bias is '%s', but must be TOKEN:NUMBER",
                            text),
                   CLI_USAGE;
        const char *number = end + 1;
        float       value  = strtof(number, &end);
        if (end == number || *end)
            return cli_fail(NULL, "--logit-bias is '%s', but must be TOKEN:NUMBER", text), CLI_USAGE;
        l->bias[l->options.sampler.bias_count++] = (HoloTokenBias){(uint32_t)token, value};
    }
    l->options.sampler.bias = l->bias;
    return CLI_OK;
}

static void read_stops(const Cli *cli, CliLanguage *l)
{
    int         cursor = 0;
    const char *text;
    l->stops = cli_grow(NULL, 0, (size_t)count_of(cli, "stop") + 1, sizeof *l->stops);
    while ((text = cli_option_next(cli, "stop", &cursor)))
        l->stops[l->options.stop_count++] = (HoloString){text, strlen(text)};
    l->options.stops = l->stops;
}

// ---- grammars

static int read_grammar(const Cli *cli, CliLanguage *l)
{
    static const struct {
        const char       *option;
        HoloGrammarSource source;
        bool              is_file;
    } rows[] = {{"grammar", HOLO_GRAMMAR_GBNF, true},
                {"json-schema", HOLO_GRAMMAR_JSON_SCHEMA, true},
                {"regex", HOLO_GRAMMAR_REGEX, false}};
    for (int i = 0; i < CLI_COUNT(rows); i++) {
        const char *text  = cli_option(cli, rows[i].option);
        size_t      size  = text ? strlen(text) : 0;
        HoloError   error = {0};
        if (!text) continue;
        if (rows[i].is_file) {
            text = cli_read_file(text, &size);
            if (!text) return CLI_FAILED;
        }
        HoloStatus status = holo_grammar_compile(rows[i].source, text, size, HOLO_SPACES_SOME, &l->grammar, &error);
        if (status) return cli_fail_error(cli_option(cli, rows[i].option), &error, status);
    }
    return CLI_OK;
}

// ---- opening

static int options_read(const Cli *cli, CliLanguage *l)
{
    double number = 0;
    int    result = read_sampling(cli, &l->options.sampler);
    if (!result) result = cli_read_whole(cli, "max-tokens", 1, 1e9, &number);
    l->options.max_tokens = (uint32_t)number;
    number                = 0;
    if (!result) result = cli_read_whole(cli, "lookup", 0, 64, &number);
    l->options.lookup = (uint32_t)number;
    if (!result) result = read_bias(cli, l);
    if (!result) read_stops(cli, l);
    return result;
}

static HoloStatus parts_open(const Cli *cli, CliLanguage *l, double context, HoloError *error)
{
    HoloLanguageOptions options = {.size = sizeof options, .texts = l->texts, .context = (int64_t)context};
    HoloString          block;
    HoloStatus          status = cli_pool(&l->pool, error);
    (void)cli;
    if (!status) status = holo_language_open(l->model, l->pool, &options, &l->language, error);
    if (status) return status;
    l->tokenizer = holo_language_tokenizer(l->language);
    if (holo_model_asset(l->model, "template", &block))
        status = holo_template_open_memory(block.data, block.size, &l->chat, error);
    return status;
}

int cli_language_open(const Cli *cli, int arg, CliLanguage *out)
{
    HoloError error   = {0};
    double    context = 0;
    int       result  = read_grammar(cli, out); // before the model, which may take long
    if (!result) result = cli_read_whole(cli, "context", 1, 1e9, &context);
    if (!result) result = cli_model_open(cli, arg, &out->model);
    if (result) return result;
    HoloStatus status = parts_open(cli, out, context, &error);
    if (status) return cli_fail_error(cli->args[arg], &error, status);
    holo_generate_defaults(out->language, &out->options);
    out->options.grammar = out->grammar;
    return options_read(cli, out);
}

void cli_language_close(CliLanguage *l)
{
    holo_language_close(l->language);
    holo_grammar_close(l->grammar);
    holo_template_close(l->chat);
    holo_pool_destroy(l->pool);
    holo_model_close(l->model);
}

// ---- prompts

int cli_language_encode(const CliLanguage *l, const char *text, size_t size, bool special, uint32_t **out_ids,
                        size_t *out_count)
{
    HoloError error = {0};
    if (!l->tokenizer)
        return cli_fail("give the prompt as ids: --tokens 1,2,3; or compile a folder that has a tokenizer.json",
                        "the model has no tokenizer");
    HoloStatus status =
        holo_tokenizer_encode(l->tokenizer, text, size, special ? HOLO_TEXT_SPECIAL : 0, out_ids, out_count, &error);
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

int cli_read_tokens(const char *text, uint32_t **out_ids, size_t *out_count)
{
    size_t count = 0, room = 0;
    for (const char *at = text; *at;) {
        char         *end;
        unsigned long id = strtoul(at, &end, 10);
        if (end == at || *at == '-' || id > UINT32_MAX || (*end && *end != ',' && *end != ' '))
            return cli_fail("for example --tokens 1,450,7483", "--tokens is '%s', but must be ids with commas", text),
                   CLI_USAGE;
        if (count == room) *out_ids = cli_grow(*out_ids, room, room * 2 + 64, sizeof **out_ids), room = room * 2 + 64;
        (*out_ids)[count++] = (uint32_t)id;
        at                  = *end ? end + 1 : end;
    }
    *out_count = count;
    return count ? CLI_OK : (cli_fail(NULL, "--tokens has no id"), CLI_USAGE);
}

static void json_add(CliMessages *m, const char *text, size_t size)
{
    if (m->size + size + 1 > m->room) {
        size_t room = (m->size + size + 256) * 2;
        m->json     = cli_grow(m->json, m->room, room, 1);
        m->room     = room;
    }
    memcpy(m->json + m->size, text, size);
    m->json[m->size += size] = 0;
}

static void json_quoted(CliMessages *m, const char *text)
{
    json_add(m, "\"", 1);
    for (const char *c = text; *c; c++) {
        char escape[8];
        if (*c == '"' || *c == '\\')
            json_add(m, (char[]){'\\', *c}, 2);
        else if ((unsigned char)*c < 32)
            json_add(m, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*c));
        else
            json_add(m, c, 1);
    }
    json_add(m, "\"", 1);
}

void cli_message_add(CliMessages *m, const char *role, const char *text)
{
    const char *parts[] = {m->size ? ", {\"role\": " : "{\"role\": ", ", \"content\": ", "}"};
    json_add(m, parts[0], strlen(parts[0]));
    json_quoted(m, role);
    json_add(m, parts[1], strlen(parts[1]));
    json_quoted(m, text);
    json_add(m, parts[2], strlen(parts[2]));
}

int cli_messages_render(const CliLanguage *l, const CliMessages *m, char **out_text, size_t *out_size)
{
    HoloError  error  = {0};
    char      *json   = cli_format("{\"messages\": [%s], \"add_generation_prompt\": true}", m->size ? m->json : "");
    HoloStatus status = holo_template_render(l->chat, json, strlen(json), out_text, out_size, &error);
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}
