// web_speech.c - speech to text for JavaScript.
#include "web.h"

#include "hologram_text.h"

#include <stdlib.h>

// Samples per second that a model hears; 0: it is no speech model.
int WEB(web_language_rate)(const HoloLanguage *language)
{
    return holo_language_rate(language);
}

// The samples of a WAV file are in web_given, whose size is their number; web_samples_free frees them.
HoloStatus WEB(web_sound)(const void *bytes, size_t size, int rate)
{
    float     *samples;
    HoloStatus status = holo_sound_read_memory(bytes, size, rate, &samples, &web_found.size, web_anew());
    web_found.data    = status ? NULL : (const char *)samples;
    return status;
}

void WEB(web_samples_free)(float *samples)
{
    holo_samples_free(samples);
}

static bool collect(void *state, const HoloSpoken *spoken)
{
    Json *json = state;
    write_open(json, '{');
    write_put_number(json, "begin", spoken->begin);
    write_put_number(json, "end", spoken->end);
    write_key(json, "text");
    write_text(json, spoken->text.data, spoken->text.size);
    write_close(json, '}');
    return !json->is_cut;
}

// {pieces: [{begin, end, text}], language, seconds}. `spoken` is the code of the language; NULL: the model finds out.
char *WEB(web_transcribe)(HoloLanguage *language, const float *samples, size_t count, const char *spoken,
                          bool translate, bool timestamps)
{
    HoloTranscribeOptions options = {
        .size = sizeof options, .language = spoken, .translate = translate, .timestamps = timestamps};
    HoloTranscribeResult result;
    Json                 json = {0};
    write_open(&json, '{');
    write_key(&json, "pieces");
    write_open(&json, '[');
    HoloStatus status = holo_transcribe(language, samples, count, &options, collect, &json, &result, web_anew());
    write_close(&json, ']');
    if (!status) {
        write_put(&json, "language", result.language);
        write_put_number(&json, "seconds", result.sound_seconds);
    }
    write_close(&json, '}');
    char *text = write_end(&json);
    if (status) free(text);
    return status ? NULL : text;
}
