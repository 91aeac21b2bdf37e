// cmd_transcribe.c - hologram transcribe: turns recorded speech into text.

#include "json.h"
#include "language.h"

#include <string.h>

typedef struct Piece {
    double begin, end;
    char  *text;
} Piece;

typedef struct Heard { // what is said in a sound
    const Cli           *cli;
    Piece               *piece;
    size_t               count, room;
    HoloTranscribeResult result;
    bool                 shows;
} Heard;

// Minutes and seconds, and hours where there are any.
static const char *clock_of(double seconds)
{
    int whole = (int)seconds, thousandths = (int)((seconds - whole) * 1000 + 0.5);
    if (thousandths == 1000) thousandths = 999;
    if (whole >= 3600) return cli_format("%d:%02d:%02d.%03d", whole / 3600, whole / 60 % 60, whole % 60, thousandths);
    return cli_format("%02d:%02d.%03d", whole / 60, whole % 60, thousandths);
}

static const char *trimmed(const char *text)
{
    return text + strspn(text, " ");
}

static bool each(void *state, const HoloSpoken *spoken)
{
    Heard *h     = state;
    Piece  piece = {spoken->begin, spoken->end, cli_format("%.*s", (int)spoken->text.size, spoken->text.data)};
    if (h->count == h->room) {
        h->piece = cli_grow(h->piece, h->room, h->room * 2 + 64, sizeof *h->piece);
        h->room  = h->room * 2 + 64;
    }
    h->piece[h->count++] = piece;
    if (!h->shows) return true;
    if (cli_option(h->cli, "timestamps")) printf("[%s --> %s] ", clock_of(piece.begin), clock_of(piece.end));
    printf("%s\n", trimmed(piece.text));
    fflush(stdout);
    return true;
}

static void sound_json(Json *json, const char *path, const Heard *h)
{
    char *text = "";
    for (size_t i = 0; i < h->count; i++) text = cli_format("%s%s", text, h->piece[i].text);
    json_open(json, NULL, '{');
    json_text(json, "sound", path);
    json_number(json, "sound_seconds", h->result.sound_seconds);
    json_text(json, "language", h->result.language);
    json_text(json, "text", trimmed(text));
    json_open(json, "segments", '[');
    for (size_t i = 0; i < h->count; i++) {
        json_open(json, NULL, '{');
        json_number(json, "start", h->piece[i].begin);
        json_number(json, "end", h->piece[i].end);
        json_text(json, "text", trimmed(h->piece[i].text));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_int(json, "windows", h->result.windows);
    json_int(json, "generated_tokens", (int64_t)h->result.tokens);
    json_number(json, "seconds", h->result.seconds);
    json_close(json, '}');
}

static int sound_transcribe(const Cli *cli, const CliLanguage *l, const char *path, Heard *h)
{
    HoloError             error   = {0};
    float                *samples = NULL;
    size_t                count;
    const char           *task    = cli_option(cli, "task");
    HoloTranscribeOptions options = {.size       = sizeof options,
                                     .language   = cli_option(cli, "language"),
                                     .translate  = task && !strcmp(task, "translate"),
                                     .timestamps = cli_option(cli, "timestamps") || cli_option(cli, "json")};
    HoloStatus            status  = holo_sound_read(path, holo_language_rate(l->language), &samples, &count, &error);
    if (status) return cli_fail_error(path, &error, status);
    status = holo_transcribe(l->language, samples, count, &options, each, h, &h->result, &error);
    holo_samples_free(samples);
    return status ? cli_fail_error(cli->args[0], &error, status) : CLI_OK;
}

static int sounds_transcribe(const Cli *cli, const CliLanguage *l)
{
    Json json    = {.out = stdout};
    bool as_json = cli_option(cli, "json");
    int  result  = CLI_OK;
    if (as_json) {
        json_open(&json, NULL, '{');
        json_text(&json, "file", cli->args[0]);
        json_open(&json, "sounds", '[');
    }
    for (int i = 1; i < cli->arg_count && !result; i++) {
        Heard h = {.cli = cli, .shows = !as_json};
        if (!as_json && cli->arg_count > 2) printf("%s%s:\n", i > 1 ? "\n" : "", cli->args[i]);
        result = sound_transcribe(cli, l, cli->args[i], &h);
        if (as_json && !result) sound_json(&json, cli->args[i], &h);
    }
    if (as_json) {
        json_close(&json, ']');
        json_close(&json, '}');
    }
    return result;
}

static int transcribe(Cli *cli)
{
    CliLanguage l      = {0};
    int         result = cli_language_open(cli, 0, &l);
    if (!result && !holo_language_rate(l.language))
        result = cli_fail("models that do are compiled from an architecture such as WhisperForConditionalGeneration",
                          "%s does not listen to sounds", cli->args[0]);
    if (!result) result = sounds_transcribe(cli, &l);
    cli_language_close(&l);
    return result;
}

static const CliOption options[] = {
    {"language", 0, "CODE", "the spoken language, such as en (default: the model detects\nit)"},
    {"task", 0, "TASK", "transcribe (default), or translate into English", .choices = "transcribe translate"},
    {"timestamps", 0, NULL, "show when each segment begins and ends"},
    {"json", 0, NULL, "print the language, the text and the segments with times as JSON"},
    CLI_OPTION_THREADS,
    {0},
};

const CliCommand cli_transcribe = {
    .name      = "transcribe",
    .purpose   = "turn recorded speech into text",
    .arguments = "FILE SOUND.wav...",
    .arg_min   = 2,
    .arg_max   = -1,
    .details   = "FILE is an archive of a Whisper model, or the model itself: a HuggingFace folder. Sounds\n"
                 "are WAV files: PCM or floats, of any rate, any number of channels, any length.",
    .examples  = "  hologram transcribe whisper.holo talk.wav\n"
                 "  hologram transcribe whisper.holo talk.wav --timestamps --language de\n"
                 "  hologram transcribe whisper_folder *.wav --json\n",
    .options   = options,
    .run       = transcribe,
};
