// cmd_generate.c - hologram generate: continues a prompt.

#include "json.h"
#include "language.h"

#include <string.h>

typedef struct Output { // what comes out
    const Cli *cli;
    uint32_t  *token;
    size_t     count, room;
    char      *text;
    size_t     size, text_room;
    float     *logprob;
    bool       shows, has_text; // has_text: the model has a tokenizer; ids are shown where it has none
} Output;

static bool each(void *state, const HoloGenerated *g)
{
    Output *o = state;
    if (g->token != UINT32_MAX) {
        if (o->count == o->room) {
            size_t room = o->room * 2 + 256;
            o->token    = cli_grow(o->token, o->room, room, sizeof *o->token);
            o->logprob  = cli_grow(o->logprob, o->room, room, sizeof *o->logprob);
            o->room     = room;
        }
        if (o->shows && !o->has_text) printf("%s%u", o->count ? "," : "", g->token), fflush(stdout);
        o->logprob[o->count] = g->sampled.logprob;
        o->token[o->count++] = g->token;
    }
    if (o->size + g->text.size + 1 > o->text_room) {
        size_t room  = (o->size + g->text.size + 256) * 2;
        o->text      = cli_grow(o->text, o->text_room, room, 1);
        o->text_room = room;
    }
    if (g->text.size) memcpy(o->text + o->size, g->text.data, g->text.size);
    o->text[o->size += g->text.size] = 0;
    if (o->shows && g->text.size) {
        printf("%.*s", (int)g->text.size, g->text.data);
        fflush(stdout);
    }
    return true;
}

static void print_json(const Cli *cli, const Output *o, const HoloGenerateResult *r)
{
    static const char *const why[] = {"length", "end", "stop", "asked", "grammar"};
    Json                     json  = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "file", cli->args[0]);
    json_open(&json, "tokens", '[');
    for (size_t i = 0; i < o->count; i++) json_int(&json, NULL, o->token[i]);
    json_close(&json, ']');
    json_text(&json, "text", o->text ? o->text : "");
    if (cli_option(cli, "logprobs")) {
        json_open(&json, "logprobs", '[');
        for (size_t i = 0; i < o->count; i++) json_number(&json, NULL, o->logprob[i]);
        json_close(&json, ']');
    }
    json_text(&json, "finish", why[r->finish]);
    json_int(&json, "prompt_tokens", (int64_t)r->prompt_tokens);
    json_int(&json, "cached_tokens", (int64_t)r->cached_tokens);
    json_int(&json, "generated_tokens", (int64_t)r->tokens);
    json_number(&json, "prompt_seconds", r->prompt_seconds);
    json_number(&json, "generate_seconds", r->seconds);
    if (cli_option(cli, "lookup")) {
        json_int(&json, "guessed", (int64_t)r->guessed);
        json_int(&json, "guessed_right", (int64_t)r->right);
    }
    json_close(&json, '}');
}

// The prompt as ids: given as ids, a text, or a question in the form that the model's chat template gives it.
static int prompt_read(const Cli *cli, const CliLanguage *l, uint32_t **out_ids, size_t *out_count)
{
    const char *tokens = cli_option(cli, "tokens"), *system = cli_option(cli, "system");
    const char *given = cli->arg_count > 1 ? cli->args[1] : "-";
    size_t      size;
    if (tokens && cli->arg_count > 1)
        return cli_fail(NULL, "--tokens and '%s' are both prompts: give one of them", given), CLI_USAGE;
    if (tokens) return cli_read_tokens(tokens, out_ids, out_count);
    char *text = strcmp(given, "-") ? cli_format("%s", given) : cli_read_stream(stdin, &size);
    size       = strlen(text);
    if (!l->chat && system)
        return cli_fail("put it into the prompt", "--system needs a chat template, and the model has none"), CLI_USAGE;
    if (!l->chat || cli_option(cli, "plain")) return cli_language_encode(l, text, size, true, out_ids, out_count);
    CliMessages messages = {0};
    char       *whole;
    if (system) cli_message_add(&messages, "system", system);
    cli_message_add(&messages, "user", text);
    int result = cli_messages_render(l, &messages, &whole, &size);
    if (!result) result = cli_language_encode(l, whole, size, false, out_ids, out_count);
    if (!result) holo_text_free(whole);
    return result;
}

static int cache_load(const Cli *cli, const CliLanguage *l)
{
    const char *path   = cli_option(cli, "load-cache");
    HoloError   error  = {0};
    HoloStatus  status = path ? holo_language_load(l->language, 0, path, &error) : HOLO_OK;
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

static int cache_save(const Cli *cli, const CliLanguage *l)
{
    const char *path   = cli_option(cli, "save-cache");
    HoloError   error  = {0};
    HoloStatus  status = path ? holo_language_save(l->language, 0, path, &error) : HOLO_OK;
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

// How many beams; 0: no beam search.
static int beams_read(const Cli *cli, double *out)
{
    *out = 0;
    return cli_read_whole(cli, "beams", 1, 256, out);
}

static int beam_options_read(const Cli *cli, double beams, HoloGenerateOptions *o)
{
    static const char *const names[] = {"likely", "first", "never"};
    const char              *stop    = cli_option(cli, "beam-stop");
    double                   penalty = (double)o->length_penalty;
    int                      found   = 0;
    if (cli_read_number(cli, "length-penalty", -100, 100, &penalty)) return CLI_USAGE;
    o->beams          = (uint32_t)beams;
    o->length_penalty = (float)penalty;
    while (stop && found < 3 && strcmp(stop, names[found]) != 0) found++;
    if (found == 3) return cli_fail(NULL, "--beam-stop is '%s', but must be likely, first or never", stop), CLI_USAGE;
    if (stop) o->beam_stop = (HoloBeamStop)found;
    return CLI_OK;
}

static int generate(Cli *cli)
{
    CliLanguage        l     = {0};
    uint32_t          *ids   = NULL;
    size_t             count = 0;
    HoloError          error = {0};
    HoloGenerateResult made  = {0};
    Output             out   = {.cli = cli, .shows = !cli_option(cli, "json")};
    double             beams;
    int                result = beams_read(cli, &beams);
    l.texts                   = (int)beams;
    if (!result) result = cli_language_open(cli, 0, &l);
    if (!result) result = beam_options_read(cli, beams, &l.options);
    if (!result) result = prompt_read(cli, &l, &ids, &count);
    // Without a tokenizer there is no text that could end: ids are all there is.
    if (!result && !l.tokenizer && !l.options.max_tokens)
        result = (cli_fail(NULL, "the model has no tokenizer: say how many tokens to generate, with --max-tokens"),
                  CLI_USAGE);
    out.has_text        = l.tokenizer;
    l.options.keep_ends = !l.tokenizer || cli_option(cli, "ignore-end");
    if (!result) result = cache_load(cli, &l);
    if (!result) {
        l.options.sampler.logprobs = cli_option(cli, "logprobs");
        HoloStatus status          = holo_generate(l.language, ids, count, &l.options, each, &out, &made, &error);
        if (status) result = cli_fail_error(cli->args[0], &error, status);
    }
    if (!result) result = cache_save(cli, &l);
    if (!result && !out.shows) print_json(cli, &out, &made);
    if (!result && out.shows) putchar('\n');
    cli_language_close(&l);
    return result;
}

static const CliOption options[] = {
    {"tokens", 0, "IDS", "the prompt as ids, such as 1,450,7483"},
    {"system", 0, "TEXT", "the system prompt, if the model has a chat template"},
    {"plain", 0, NULL, "continue the prompt as it is, without the chat template"},
    CLI_OPTIONS_SAMPLING,
    {"beams", 0, "N",
     "beam search: let N texts grow at once, and take the one with the\nbest score; the text is printed at its end",
     .without = "temperature top-k top-p min-p typical-p lookup grammar json-schema regex logprobs save-cache"},
    {"length-penalty", 0, "X",
     "divide the scores of beams by their length to the power X\n(default: what the model says, or 1)",
     .with = "beams"},
    {"beam-stop", 0, "WHEN",
     "stop when no beam is likely to become better than the answers found\n(likely), with the first N answers (first), or "
     "when none can (never)",
     .with = "beams"},
    {"save-cache", 0, "FILE", "write the cache of prompt and answer to FILE at the end", .writes = true},
    {"load-cache", 0, "FILE", "read such a FILE first: what the prompt has in common with\nit is not computed again"},
    {"ignore-end", 0, NULL, "continue after tokens that end the text"},
    {"logprobs", 0, NULL, "with --json: the logarithm of each token's probability", .with = "json"},
    {"json", 0, NULL, "print the ids, the text and counts as JSON"},
    CLI_OPTION_DEVICE,
    CLI_OPTION_THREADS,
    {0},
};

const CliCommand cli_generate = {
    .name      = "generate",
    .purpose   = "continue a prompt with a language model",
    .arguments = "FILE [PROMPT]",
    .arg_min   = 1,
    .arg_max   = 2,
    .details   = "FILE is an archive of a language model, or the model itself: a HuggingFace folder, a GGUF file.\n"
                 "Without PROMPT, or if it is -, the prompt is the standard input. If the model has a chat\n"
                 "template, the prompt is a question, and the model answers it. The text is the same for any number\n"
                 "of threads.",
    .examples  = "  hologram generate model.holo 'Why is the sky blue?' --max-tokens 200\n"
                 "  hologram generate model.holo --plain 'Once upon a time' --temperature 0.8 --seed 7\n"
                 "  hologram generate model.holo --tokens 1,450,7483 --max-tokens 24 --temperature 0 --json\n"
                 "  hologram generate model.holo 'A person' --json-schema person.json\n",
    .options   = options,
    .run       = generate,
};
