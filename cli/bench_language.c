// bench_language.c - hologram bench --prompt --generate: how fast a language model reads and writes.
//
// Both are measured several times, on tokens that are made up, and the best counts: the prompt is read by itself, and
// tokens are generated one by one behind a short text, as llama-bench does it.

#include "bench_language.h"

#include "json.h"
#include "language.h"

#include <stdlib.h>

enum { ROUNDS = 3 };

typedef struct Speed {
    int    prompt, generate, texts;      // tokens; texts that are generated at once
    double prompt_seconds, step_seconds; // the best
    double open_seconds;
} Speed;

static int read_count(const Cli *cli, const char *option, int *out)
{
    const char *text = cli_option(cli, option);
    char       *end;
    *out        = 0;
    long number = text ? strtol(text, &end, 10) : 0;
    if (text && (end == text || *end || number < 0 || number > 1000000))
        return cli_fail(NULL, "--%s is '%s', but must be a number of tokens", option, text), CLI_USAGE;
    *out = (int)number;
    return CLI_OK;
}

// Tokens that differ, without any meaning.
static uint32_t *tokens_make(const HoloLanguage *language, int count)
{
    uint32_t  vocabulary = holo_language_vocabulary(language), state = 12345;
    uint32_t *token = cli_grow(NULL, 0, (size_t)count + 1, sizeof *token);
    for (int i = 0; i < count; i++) {
        state    = state * 1664525u + 1013904223u;
        token[i] = 3 + (state >> 8) % (vocabulary > 8 ? vocabulary - 4 : 1);
    }
    return token;
}

static HoloStatus prompt_time(HoloLanguage *language, const uint32_t *token, int count, double *best, HoloError *error)
{
    const float *logits;
    for (int i = 0; i < ROUNDS; i++) {
        holo_language_forget(language, 0);
        double     start  = cli_now();
        HoloStatus status = holo_language_read(language, 0, token, (size_t)count, &logits, error);
        double     time   = cli_now() - start;
        if (status) return status;
        if (!i || time < *best) *best = time;
    }
    return HOLO_OK;
}

// Each text has other tokens. All of them go on by one token in each run.
static HoloStatus generate_time(HoloLanguage *language, const uint32_t *token, int count, int texts, double *best,
                                HoloError *error)
{
    HoloTextRead *reads = cli_grow(NULL, 0, (size_t)texts, sizeof *reads);
    for (int i = 0; i < ROUNDS; i++) {
        HoloStatus status = HOLO_OK;
        double     start  = 0;
        for (int t = 0; t < texts; t++) {
            holo_language_forget(language, t);
            reads[t] = (HoloTextRead){.text = t, .tokens = token + t};
        }
        for (int k = 1; k <= count + 1 && !status; k++) {
            for (int t = 0; t < texts; t++) reads[t].count = (size_t)k;
            status = holo_language_read_all(language, reads, texts, error);
            if (k == 1) start = cli_now();
        }
        double time = (cli_now() - start) / count;
        if (status) return status;
        if (!i || time < *best) *best = time;
    }
    return HOLO_OK;
}

static void speed_print(const Cli *cli, const Speed *s)
{
    Json   json   = {.out = stdout};
    double prompt = s->prompt ? s->prompt / s->prompt_seconds : 0, made = s->generate ? s->texts / s->step_seconds : 0;
    if (!cli_option(cli, "json")) {
        printf("%s\n", cli->args[0]);
        if (s->prompt) printf("  prompt     %.1f tokens a second (%d tokens)\n", prompt, s->prompt);
        if (s->generate && s->texts == 1) printf("  generate   %.1f tokens a second (%d tokens)\n", made, s->generate);
        if (s->generate && s->texts > 1)
            printf("  generate   %.1f tokens a second (%d tokens of %d texts at once)\n", made, s->generate, s->texts);
        return;
    }
    json_open(&json, NULL, '{');
    json_text(&json, "file", cli->args[0]);
    json_int(&json, "threads", (int64_t)cli_number("threads"));
    if (s->prompt) json_int(&json, "prompt", s->prompt);
    if (s->prompt) json_number(&json, "prompt_tokens_s", prompt);
    if (s->generate) json_int(&json, "generate", s->generate);
    if (s->generate) json_int(&json, "texts", s->texts);
    if (s->generate) json_number(&json, "generate_tokens_s", made);
    json_close(&json, '}');
}

int cli_bench_language(const Cli *cli)
{
    Speed       s      = {0};
    CliLanguage l      = {0};
    HoloError   error  = {0};
    int         result = read_count(cli, "prompt", &s.prompt);
    if (!result) result = read_count(cli, "generate", &s.generate);
    if (!result) result = read_count(cli, "texts", &s.texts);
    if (!s.texts) s.texts = 1;
    l.texts = s.texts;
    if (!result) result = cli_language_open(cli, 0, &l);
    if (!result) {
        uint32_t  *token  = tokens_make(l.language, (s.prompt > s.generate ? s.prompt : s.generate + 1) + s.texts);
        HoloStatus status = HOLO_OK;
        if (s.prompt) status = prompt_time(l.language, token, s.prompt, &s.prompt_seconds, &error);
        if (s.generate && !status)
            status = generate_time(l.language, token, s.generate, s.texts, &s.step_seconds, &error);
        if (status) result = cli_fail_error(cli->args[0], &error, status);
    }
    if (!result) speed_print(cli, &s);
    cli_language_close(&l);
    return result;
}
