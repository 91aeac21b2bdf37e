// openai_image.c - /v1/images/generations: texts become pictures.
#include "openai.h"

#include "hologram_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Painting { // the state of a Talk
    HoloImagineOptions options;
    char              *prompt, *negative, *scheduler;
    int                count;
    Bytes              data; // entries of the answer
    Talk              *talk;
} Painting;

static bool goes_on(void *state, int step, int steps)
{
    (void)step, (void)steps;
    return !job_is_cancelled(&((Painting *)state)->talk->job);
}

// The file that the library writes is read and gone at once.
static bool add_png(const HoloTensor *image, Bytes *out, HoloError *error)
{
    const char *folder = getenv("TMPDIR");
    char       *path   = take_format("%s/hologram-serve-XXXXXX", folder && *folder ? folder : "/tmp"), piece[65536];
    int         fd     = mkstemp(path);
    Bytes       png    = {0};
    HoloStatus  status = fd < 0 ? HOLO_NO_FILE : holo_image_write_png(path, image, error);
    FILE       *file   = status ? NULL : fopen(path, "rb");
    for (size_t n; file && (n = fread(piece, 1, sizeof piece, file));) bytes_add(&png, piece, n);
    if (file) fclose(file);
    if (fd >= 0) close(fd), unlink(path);
    bool is = file && !png.failed && bytes_base64(out, png.data, png.size);
    if (!is && !error->status) error->status = status ? status : HOLO_NO_MEMORY;
    bytes_free(&png);
    free(path);
    return is;
}

static bool paint(Talk *t, HoloError *error)
{
    Painting *p = t->state;
    for (int i = 0; i < p->count; i++) {
        HoloTensor image    = {0};
        p->options.pool     = schedule_pool(t->model->server->schedule);
        p->options.progress = goes_on;
        p->options.state    = p;
        HoloStatus status   = holo_imagine(t->model->holo, &p->options, &image, error);
        if (status) return error->status = status, false;
        bytes_add_text(&p->data, i ? ",{\"b64_json\":\"" : "{\"b64_json\":\"");
        bool is = add_png(&image, &p->data, error);
        bytes_add_text(&p->data, "\"}");
        holo_image_free(&image);
        if (!is) return false;
        p->options.seed++;
    }
    return true;
}

static void painted(Talk *t)
{
    Painting *p = t->state;
    Bytes     b = {0};
    bytes_format(&b, "{\"created\":%llu,\"data\":[", (unsigned long long)(unix_nano() / 1000000000u));
    bytes_add(&b, p->data.data, p->data.size);
    bytes_add_text(&b, "]}");
    if (b.failed)
        exchange_fail(t->exchange, 503, "out of memory");
    else
        exchange_send(t->exchange, 200, "application/json", b.data, b.size);
    bytes_free(&b);
}

static void painting_failed(Talk *t, int status, const char *text)
{
    exchange_fail(t->exchange, status, "%s", text);
}

static void painting_end(Talk *t)
{
    Painting *p = t->state;
    bytes_free(&p->data);
    free(p->prompt);
    free(p->negative);
    free(p->scheduler);
    free(p);
}

static bool is_painter(const Model *m)
{
    return m->is_painter;
}

static bool read_painting(Exchange *e, json_t *body, Painting *p)
{
    const char *size   = json_string_value(json_object_get(body, "size")),
               *format = json_string_value(json_object_get(body, "response_format"));
    json_t *n = json_object_get(body, "n"), *steps = json_object_get(body, "steps"),
           *guidance = json_object_get(body, "guidance"), *seed = json_object_get(body, "seed");
    HoloImagineOptions *o = &p->options;
    if (format && strcmp(format, "b64_json"))
        return exchange_fail(e, 400, "response_format must be b64_json: pictures are not kept for later"), false;
    if (size && strcmp(size, "auto") &&
        (sscanf(size, "%dx%d", &o->width, &o->height) != 2 || o->width < 8 || o->height < 8 || o->width > 4096 ||
         o->height > 4096))
        return exchange_fail(e, 400, "size must be WIDTHxHEIGHT, such as 512x512"), false;
    p->count = n ? (int)json_integer_value(n) : 1;
    if ((n && !json_is_integer(n)) || p->count < 1 || p->count > 10)
        return exchange_fail(e, 400, "n must be a whole number from 1 to 10"), false;
    if (steps) o->steps = (int)json_integer_value(steps);
    if (o->steps < 1 || o->steps > 1000)
        return exchange_fail(e, 400, "steps must be a whole number from 1 to 1000"), false;
    if (guidance) o->guidance = (float)json_number_value(guidance);
    o->seed = seed ? (uint64_t)json_integer_value(seed) : unix_nano();
    return true;
}

static void imagine(Exchange *e, json_t *body)
{
    const char *prompt    = json_string_value(json_object_get(body, "prompt")),
               *negative  = json_string_value(json_object_get(body, "negative_prompt"));
    const char *scheduler = json_string_value(json_object_get(body, "scheduler"));
    if (!prompt) return exchange_fail(e, 400, "there is no prompt");
    Model *m = openai_model(e, json_string_value(json_object_get(body, "model")), is_painter, "makes pictures");
    if (!m) return;
    Talk     *t = talk_create(e, m);
    Painting *p = take(sizeof *p);
    p->talk     = t;
    t->state    = p;
    t->alone    = paint;
    t->done     = painted;
    t->fail     = painting_failed;
    t->end      = painting_end;
    holo_imagine_defaults(m->holo, &p->options);
    p->prompt         = take_text(prompt);
    p->negative       = take_text(negative ? negative : "");
    p->options.prompt = p->prompt;
    if (negative) p->options.negative = p->negative;
    if (scheduler) p->scheduler = take_text(scheduler), p->options.scheduler = p->scheduler;
    if (!read_painting(e, body, p)) return talk_free(t);
    talk_start(t);
}

void openai_images(Exchange *e)
{
    json_t *body = openai_body(e);
    if (body) imagine(e, body);
    json_decref(body);
}
