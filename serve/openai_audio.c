// openai_audio.c - /v1/audio/transcriptions and /v1/audio/translations: sounds become text.
#include "infer.h"
#include "multipart.h"
#include "openai.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Hearing { // the state of a Talk
    float               *samples;
    size_t               count;
    char                 language[16], format[24];
    bool                 translates, has_times;
    Bytes                text, pieces; // pieces: as the format has them
    int                  piece_count;
    HoloTranscribeResult result;
    Talk                *talk;
    char                *sound; // the file
    size_t               sound_size;
} Hearing;

static void add_time(Bytes *b, double seconds, char point)
{
    long ms = (long)(seconds * 1000 + 0.5);
    bytes_format(b, "%02ld:%02ld:%02ld%c%03ld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, point, ms % 1000);
}

static bool spoken(void *state, const HoloSpoken *s)
{
    Hearing *h = state;
    bytes_add(&h->text, s->text.data, s->text.size);
    if (!strcmp(h->format, "verbose_json")) {
        bytes_format(&h->pieces, "%s{\"id\":%d,\"start\":%.3f,\"end\":%.3f,\"text\":", h->piece_count ? "," : "",
                     h->piece_count, s->begin, s->end);
        bytes_json(&h->pieces, s->text.data, s->text.size);
        bytes_add_text(&h->pieces, "}");
    } else if (h->has_times) {
        bool is_srt = !strcmp(h->format, "srt");
        if (is_srt) bytes_format(&h->pieces, "%d\n", h->piece_count + 1);
        add_time(&h->pieces, s->begin, is_srt ? ',' : '.');
        bytes_add_text(&h->pieces, " --> ");
        add_time(&h->pieces, s->end, is_srt ? ',' : '.');
        bytes_add_text(&h->pieces, "\n");
        bytes_add(&h->pieces, s->text.data, s->text.size);
        bytes_add_text(&h->pieces, "\n\n");
    }
    h->piece_count++;
    return !job_is_cancelled(&h->talk->job);
}

static bool hear(Talk *t, HoloError *error)
{
    Hearing      *h        = t->state;
    HoloLanguage *language = talk_language(t, error);
    if (!language) return false;
    HoloTranscribeOptions options = {.size       = sizeof options,
                                     .language   = *h->language ? h->language : NULL,
                                     .translate  = h->translates,
                                     .timestamps = h->has_times};
    HoloStatus            status =
        holo_sound_read_memory(h->sound, h->sound_size, holo_language_rate(language), &h->samples, &h->count, error);
    if (!status) status = holo_transcribe(language, h->samples, h->count, &options, spoken, h, &h->result, error);
    if (!status && h->text.failed) status = error->status = HOLO_NO_MEMORY;
    if (status && !error->status) error->status = status;
    return !status;
}

static void heard(Talk *t)
{
    Hearing    *h    = t->state;
    Bytes       b    = {0};
    const char *text = h->text.data ? h->text.data : "";
    size_t      size = h->text.size;
    while (size && *text == ' ') text++, size--;
    if (!strcmp(h->format, "text")) {
        bytes_add(&b, text, size);
        bytes_add_text(&b, "\n");
    } else if (!strcmp(h->format, "srt") || !strcmp(h->format, "vtt")) {
        if (*h->format == 'v') bytes_add_text(&b, "WEBVTT\n\n");
        bytes_add(&b, h->pieces.data, h->pieces.size);
    } else {
        bytes_add_text(&b, "{\"text\":");
        bytes_json(&b, text, size);
        if (!strcmp(h->format, "verbose_json"))
            bytes_format(&b, ",\"task\":\"%s\",\"language\":\"%s\",\"duration\":%.3f,\"segments\":[%s]",
                         h->translates ? "translate" : "transcribe", h->result.language, h->result.sound_seconds,
                         h->pieces.data ? h->pieces.data : "");
        bytes_add_text(&b, "}");
    }
    bool is_json = strstr(h->format, "json") != NULL;
    if (b.failed)
        exchange_fail(t->exchange, 503, "out of memory");
    else
        exchange_send(t->exchange, 200, is_json ? "application/json" : "text/plain; charset=utf-8", b.data, b.size);
    t->model->metrics->generated_tokens += h->result.tokens;
    bytes_free(&b);
}

static void hearing_failed(Talk *t, int status, const char *text)
{
    exchange_fail(t->exchange, status == 500 ? 400 : status, "%s", text);
}

static void hearing_end(Talk *t)
{
    Hearing *h = t->state;
    holo_samples_free(h->samples);
    bytes_free(&h->text);
    bytes_free(&h->pieces);
    free(h->sound);
    free(h);
}

static bool is_listener(const Model *m)
{
    return m->is_listener;
}

static bool is_format(const char *name)
{
    static const char *const names[] = {"json", "text", "srt", "vtt", "verbose_json"};
    for (int i = 0; i < SERVE_COUNT(names); i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static void listen_to(Exchange *e, bool translates)
{
    Form form;
    char name[128], language[16], format[24];
    if (!form_read(exchange_header(e, "content-type"), e->body.data ? e->body.data : "", e->body.size, &form))
        return exchange_fail(e, 400, "the request is no form: content-type must be multipart/form-data");
    const FormField *file = form_find(&form, "file");
    if (!file) return exchange_fail(e, 400, "the form has no file");
    if (!form_text(&form, "model", name, sizeof name) || !form_text(&form, "language", language, sizeof language) ||
        !form_text(&form, "response_format", format, sizeof format))
        return exchange_fail(e, 400, "a field of the form is too long");
    if (!*format) snprintf(format, sizeof format, "json");
    if (!is_format(format))
        return exchange_fail(e, 400, "response_format must be json, text, srt, vtt or verbose_json");
    Model *m = openai_model(e, *name ? name : NULL, is_listener, "listens to sounds");
    if (!m) return;
    Talk    *t    = talk_create(e, m);
    Hearing *h    = take(sizeof *h);
    h->talk       = t;
    h->translates = translates;
    h->has_times  = strcmp(format, "json") && strcmp(format, "text");
    memcpy(h->language, language, sizeof language);
    memcpy(h->format, format, sizeof format);
    h->sound      = take(file->size + 1);
    h->sound_size = file->size;
    memcpy(h->sound, file->data, file->size);
    t->state = h;
    t->alone = hear;
    t->done  = heard;
    t->fail  = hearing_failed;
    t->end   = hearing_end;
    talk_start(t);
}

void openai_transcriptions(Exchange *e)
{
    listen_to(e, false);
}

void openai_translations(Exchange *e)
{
    listen_to(e, true);
}
