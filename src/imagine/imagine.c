// imagine.c - makes a picture from text: runs the text encoder once, the U-Net for each step of a schedule, and the
// decoder once.
//
// It sees only the entries, inputs and metadata of the model, through the public API.
#include "hologram_image.h"

#include "hologram_text.h"
#include "imagine/noise_schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 4096, CHANNELS_MAX = 64, SIDE_MAX = 16384 };

// A picture while it is made.
struct HoloPicture {
    const HoloModel          *model;   // borrowed: lives longer
    const HoloImagineOptions *options; // `kept`
    HoloImagineOptions        kept;    // its texts are read at the beginning alone
    HoloArena                 arena;
    HoloError                *error; // of the call that is going on
    HoloSession              *unet, *decoder;
    int                       sample, time, words; // inputs of the U-Net
    int                       batch;               // 2: with the prompt and without it in one run
    bool                      guides;              // it runs for both
    int64_t                   channels, rows, columns;
    size_t                    count;      // elements of a latent picture
    HoloTensor                context[2]; // f32, [1, tokens, size]: of the negative prompt, of the prompt
    HoloTensor                both;       // the contexts of a run of the U-Net
    HoloSchedule              schedule;
    HoloRandom                random;
    int                       step;             // that comes next
    float                    *x, *input, *made; // the latent picture, what the U-Net takes, and gives
    float                    *seen;             // the latent picture without its noise, as far as it is known
};

// ---- what the model says

static double number_of(const HoloModel *model, const char *key, double otherwise)
{
    const char *text = holo_model_meta_find(model, key);
    char       *end;
    double      number = text ? strtod(text, &end) : 0;
    return text && end != text && number == number ? number : otherwise;
}

static const char *text_of(const HoloModel *model, const char *key, const char *otherwise)
{
    const char *text = holo_model_meta_find(model, key);
    return text ? text : otherwise;
}

static int whole_of(const HoloModel *model, const char *key, int otherwise, int least, int most)
{
    double number = number_of(model, key, otherwise);
    return number >= least && number <= most ? (int)number : otherwise;
}

bool holo_imagine_can(const HoloModel *model)
{
    HoloString bytes;
    return holo_model_entry(model, "unet") && holo_model_entry(model, "text_encoder") &&
           holo_model_entry(model, "vae_decoder") && holo_model_asset(model, "tokenizer", &bytes);
}

// How much larger the picture is than what the U-Net works on: the sizes of the decoder's output tell, if they are
// "8*height" and the like; Stable Diffusion's is 8.
static int enlargement(const HoloModel *model)
{
    const HoloModel *decoder = holo_model_entry(model, "vae_decoder");
    const HoloPort  *in = holo_model_input(decoder, 0), *out = holo_model_output(decoder, 0);
    if (!in || !out || in->type.rank != 4 || out->type.rank != 4) return 8;
    const char *symbol = out->symbol[2] ? out->symbol[2] : "8";
    long long   factor = strtoll(symbol, NULL, 10);
    if (in->type.dim[2] > 0 && out->type.dim[2] > 0) factor = out->type.dim[2] / in->type.dim[2];
    return factor > 0 && factor <= 64 ? (int)factor : 8;
}

void holo_imagine_defaults(const HoloModel *model, HoloImagineOptions *out)
{
    *out = (HoloImagineOptions){.size = sizeof *out, .prompt = "", .negative = "", .steps = 25, .guidance = 7.5f};
    out->scheduler = holo_schedule_of_class(text_of(model, "imagine.scheduler", ""));
    if (!holo_imagine_can(model)) return;
    const HoloPort *sample = holo_model_input(holo_model_entry(model, "unet"), 0);
    int             side   = whole_of(model, "imagine.size", 64, 1, SIDE_MAX / 64);
    bool            is_set = sample && sample->type.rank == 4 && sample->type.dim[2] > 0;
    if (is_set && sample->type.dim[2] <= SIDE_MAX) side = (int)sample->type.dim[2];
    out->width = out->height = side * enlargement(model);
}

const char *holo_imagine_scheduler(int index)
{
    return holo_schedule_name(index);
}

// ---- words

// The ids of a text, as many as the model reads: cut off, or filled up.
static HoloStatus ids_of(HoloPicture *m, HoloTokenizer *tokenizer, const char *text, int64_t *out, size_t room)
{
    uint32_t *ids;
    size_t    count;
    int       pad = whole_of(m->model, "text.pad", 0, 0, INT32_MAX);
    HOLO_TRY(holo_tokenizer_encode(tokenizer, text, strlen(text), HOLO_TEXT_SPECIAL, &ids, &count, m->error));
    for (size_t i = 0; i < room; i++) out[i] = i < count ? (int64_t)ids[i] : pad;
    if (count > room && room) out[room - 1] = ids[count - 1]; // the end token
    holo_ids_free(ids);
    return HOLO_OK;
}

static HoloStatus encode(HoloPicture *m, HoloTokenizer *tokenizer, HoloSession *encoder, const char *text,
                         size_t tokens, HoloTensor *out)
{
    int64_t   *ids    = HOLO_NEW(&m->arena, int64_t, tokens);
    int32_t   *narrow = HOLO_NEW(&m->arena, int32_t, tokens);
    HoloTensor given  = {.dtype = HOLO_I64, .rank = 2, .dim = {1, (int64_t)tokens}}, made;
    if (!ids || !narrow) return holo_fail_memory(m->error);
    HOLO_TRY(ids_of(m, tokenizer, text, ids, tokens));
    for (size_t i = 0; i < tokens; i++) narrow[i] = (int32_t)ids[i];
    const HoloPort *port = holo_model_input(holo_model_entry(m->model, "text_encoder"), 0);
    given.dtype          = port && port->type.dtype == HOLO_I32 ? HOLO_I32 : HOLO_I64;
    given.data           = given.dtype == HOLO_I32 ? (void *)narrow : (void *)ids;
    HOLO_TRY(holo_session_set_input(encoder, 0, &given, m->error));
    HOLO_TRY(holo_session_run(encoder, m->error));
    HOLO_TRY(holo_session_output(encoder, 0, &made, m->error));
    if (made.kind != HOLO_TENSOR || made.dtype != HOLO_F32 || made.rank != 3 || made.dim[0] != 1)
        return holo_fail(m->error, HOLO_BAD_MODEL, "the text encoder does not give vectors of f32 for each token");
    *out      = made;
    out->data = holo_arena_take(&m->arena, holo_tensor_bytes(&made) + 1);
    if (!out->data) return holo_fail_memory(m->error);
    if (made.data) memcpy(out->data, made.data, holo_tensor_bytes(&made));
    return HOLO_OK;
}

static HoloStatus words_with(HoloPicture *m, HoloTokenizer *tokenizer, HoloSession *encoder)
{
    const HoloPort *port   = holo_model_input(holo_model_entry(m->model, "text_encoder"), 0);
    size_t          tokens = (size_t)whole_of(m->model, "text.max_length", 77, 1, TOKENS_MAX);
    if (port && port->type.rank == 2 && port->type.dim[1] > 0 && port->type.dim[1] <= TOKENS_MAX)
        tokens = (size_t)port->type.dim[1];
    HOLO_TRY(encode(m, tokenizer, encoder, m->options->prompt, tokens, &m->context[1]));
    if (!m->guides) return HOLO_OK;
    return encode(m, tokenizer, encoder, m->options->negative ? m->options->negative : "", tokens, &m->context[0]);
}

static HoloStatus words_read(HoloPicture *m)
{
    HoloTokenizer *tokenizer = NULL;
    HoloSession   *encoder   = NULL;
    HoloString     block;
    (void)holo_model_asset(m->model, "tokenizer", &block);
    HoloStatus status = holo_tokenizer_open_memory(block.data, block.size, &tokenizer, m->error);
    if (!status)
        status = holo_session_create(holo_model_entry(m->model, "text_encoder"), m->options->pool, &encoder, m->error);
    if (!status) status = words_with(m, tokenizer, encoder);
    holo_session_destroy(encoder);
    holo_tokenizer_close(tokenizer);
    return status;
}

// ---- the U-Net

static HoloStatus sizes_find(HoloPicture *m)
{
    const HoloModel *unet   = holo_model_entry(m->model, "unet");
    const HoloPort  *sample = holo_model_input(unet, m->sample);
    int              factor = enlargement(m->model), width = m->options->width, height = m->options->height;
    if (sample->type.rank != 4 || sample->type.dtype != HOLO_F32 || sample->type.dim[1] < 1 ||
        sample->type.dim[1] > CHANNELS_MAX)
        return holo_fail(m->error, HOLO_BAD_MODEL, "the U-Net does not take pictures of f32 with known channels");
    if (factor < 1 || width < factor || height < factor || width > SIDE_MAX || height > SIDE_MAX || width % factor ||
        height % factor)
        return holo_fail(m->error, HOLO_BAD_INPUT,
                         "a picture of %d x %d cannot be made: sides are multiples of %d, up to %d", width, height,
                         factor, SIDE_MAX);
    m->channels = sample->type.dim[1];
    m->rows     = height / factor;
    m->columns  = width / factor;
    m->count    = (size_t)(m->channels * m->rows * m->columns);
    m->batch    = m->guides && sample->type.dim[0] != 1 ? 2 : 1;
    return HOLO_OK;
}

static HoloStatus unet_open(HoloPicture *m)
{
    const HoloModel *unet = holo_model_entry(m->model, "unet");
    m->sample             = holo_model_input_find(unet, "sample");
    m->time               = holo_model_input_find(unet, "timestep");
    m->words              = holo_model_input_find(unet, "encoder_hidden_states");
    if (m->sample < 0 || m->time < 0 || m->words < 0)
        return holo_fail(m->error, HOLO_BAD_MODEL,
                         "the U-Net has no inputs sample, timestep and encoder_hidden_states");
    HoloDtype time = (HoloDtype)holo_model_input(unet, m->time)->type.dtype;
    if (time != HOLO_F32 && time != HOLO_I32 && time != HOLO_I64)
        return holo_fail(m->error, HOLO_BAD_MODEL, "the U-Net does not take its step as f32, i32 or i64");
    HOLO_TRY(sizes_find(m));
    return holo_session_create(unet, m->options->pool, &m->unet, m->error);
}

// A step of training, in the type that the U-Net wants.
typedef struct Time {
    int64_t whole;
    int32_t narrow;
    float   real;
} Time;

static HoloTensor time_tensor(const HoloPicture *m, Time *t)
{
    const HoloPort *port = holo_model_input(holo_model_entry(m->model, "unet"), m->time);
    HoloTensor      view = {.dtype = port->type.dtype, .rank = port->type.rank > 0 ? 1 : 0, .dim = {1}};
    view.data = view.dtype == HOLO_F32 ? (void *)&t->real : view.dtype == HOLO_I32 ? (void *)&t->narrow : (void *)t;
    return view;
}

// Runs it for `count` pictures with as many contexts. The result is copied to `out`.
static HoloStatus unet_run(HoloPicture *m, int64_t step, const float *x, const HoloTensor *context, int count,
                           float *out)
{
    Time       t      = {step, (int32_t)step, (float)step};
    HoloTensor sample = {
        .dtype = HOLO_F32, .rank = 4, .dim = {count, m->channels, m->rows, m->columns}, .data = (void *)x};
    HoloTensor time = time_tensor(m, &t), made;
    HOLO_TRY(holo_session_set_input(m->unet, m->sample, &sample, m->error));
    HOLO_TRY(holo_session_set_input(m->unet, m->time, &time, m->error));
    HOLO_TRY(holo_session_set_input(m->unet, m->words, context, m->error));
    HOLO_TRY(holo_session_run(m->unet, m->error));
    HOLO_TRY(holo_session_output(m->unet, 0, &made, m->error));
    if (made.kind != HOLO_TENSOR || made.dtype != HOLO_F32 || holo_tensor_count(&made) != (int64_t)m->count * count)
        return holo_fail(m->error, HOLO_BAD_MODEL, "the U-Net does not give what it takes");
    memcpy(out, made.data, holo_tensor_bytes(&made));
    return HOLO_OK;
}

// What the U-Net sees in x, with the prompt and without it: what the prompt changes is made larger.
static HoloStatus see(HoloPicture *m, int step, const float *input, const HoloTensor *both, float *made)
{
    int64_t time = m->schedule.time[step];
    float  *with = made + m->count;
    if (!m->guides) return unet_run(m, time, input, &m->context[1], 1, made);
    if (m->batch == 2) {
        HOLO_TRY(unet_run(m, time, input, both, 2, made));
    } else {
        HOLO_TRY(unet_run(m, time, input, &m->context[0], 1, made));
        HOLO_TRY(unet_run(m, time, input, &m->context[1], 1, with));
    }
    for (size_t k = 0; k < m->count; k++) made[k] += m->options->guidance * (with[k] - made[k]);
    return HOLO_OK;
}

// The contexts of both, behind each other.
static HoloStatus join(HoloPicture *m, HoloTensor *out)
{
    size_t size = holo_tensor_bytes(&m->context[1]);
    *out        = m->context[1];
    if (m->batch < 2) return HOLO_OK;
    if (holo_tensor_bytes(&m->context[0]) != size)
        return holo_fail(m->error, HOLO_BAD_MODEL, "the text encoder gives vectors for %lld tokens, and then for %lld",
                         (long long)m->context[1].dim[1], (long long)m->context[0].dim[1]);
    char *data = holo_arena_take(&m->arena, 2 * size + 1);
    if (!data) return holo_fail_memory(m->error);
    memcpy(data, m->context[0].data, size);
    memcpy(data + size, m->context[1].data, size);
    out->data   = data;
    out->dim[0] = 2;
    return HOLO_OK;
}

static HoloStatus schedule_open(HoloPicture *m)
{
    const HoloModel    *model = m->model;
    const char         *kind  = text_of(model, "imagine.prediction", "epsilon");
    HoloScheduleOptions o     = {
            .scheduler    = m->options->scheduler ? m->options->scheduler : "ddim",
            .spacing      = text_of(model, "imagine.spacing", ""),
            .curve        = text_of(model, "imagine.beta_schedule", "scaled_linear"),
            .beta_start   = number_of(model, "imagine.beta_start", 0.00085),
            .beta_end     = number_of(model, "imagine.beta_end", 0.012),
            .train_steps  = whole_of(model, "imagine.train_steps", 1000, 1, 100000),
            .steps        = m->options->steps,
            .offset       = whole_of(model, "imagine.steps_offset", 0, 0, 1000),
            .alpha_to_one = number_of(model, "imagine.alpha_to_one", 1) != 0,
            .prediction   = !strcmp(kind, "v_prediction") ? HOLO_PREDICT_VELOCITY
                            : !strcmp(kind, "sample")     ? HOLO_PREDICT_PICTURE
                                                          : HOLO_PREDICT_NOISE,
    };
    return holo_schedule_init(&m->schedule, &o, m->count, &m->arena, m->error);
}

// Noise, from which all begins.
static HoloStatus begin(HoloPicture *m)
{
    m->x     = HOLO_NEW(&m->arena, float, m->count);
    m->seen  = HOLO_NEW(&m->arena, float, m->count);
    m->input = HOLO_NEW(&m->arena, float, 2 * m->count);
    m->made  = HOLO_NEW(&m->arena, float, 2 * m->count);
    if (!m->x || !m->seen || !m->input || !m->made) return holo_fail_memory(m->error);
    m->random.state = m->options->seed;
    for (size_t k = 0; k < m->count; k++) m->seen[k] = m->x[k] = (float)holo_random_normal(&m->random);
    holo_schedule_begin(&m->schedule, m->x);
    return join(m, &m->both);
}

HoloStatus holo_picture_step(HoloPicture *m, bool *out_done, HoloError *error)
{
    m->error  = error;
    *out_done = m->step >= m->options->steps;
    if (*out_done) return HOLO_OK;
    holo_schedule_input(&m->schedule, m->step, m->x, m->input);
    memcpy(m->input + m->count, m->input, m->count * sizeof *m->input);
    HOLO_TRY(see(m, m->step, m->input, &m->both, m->made));
    holo_schedule_step(&m->schedule, m->step, m->x, m->made, &m->random);
    *out_done = ++m->step == m->options->steps;
    memcpy(m->seen, *out_done ? m->x : m->made, m->count * sizeof *m->seen);
    return HOLO_OK;
}

// ---- the decoder

// A decoder of fixed sizes makes the picture tile by tile.
typedef struct Tiles {
    int64_t  rows, columns; // of a tile that it takes
    int      factor;
    float   *whole;  // the latent picture, as the decoder takes it
    float   *latent; // of a tile
    uint8_t *pixels; // of the picture
} Tiles;

static HoloStatus tiles_find(HoloPicture *m, Tiles *t)
{
    const HoloPort *port = holo_model_input(holo_model_entry(m->model, "vae_decoder"), 0);
    bool            is   = port && port->type.rank == 4;
    t->rows              = is && port->type.dim[2] > 0 ? port->type.dim[2] : m->rows;
    t->columns           = is && port->type.dim[3] > 0 ? port->type.dim[3] : m->columns;
    t->factor            = enlargement(m->model);
    if (m->rows % t->rows || m->columns % t->columns)
        return holo_fail(m->error, HOLO_BAD_INPUT,
                         "the decoder makes pictures of %lld x %lld alone: ask for a multiple of that",
                         (long long)t->columns * t->factor, (long long)t->rows * t->factor);
    t->whole  = malloc(m->count * sizeof *t->whole);
    t->latent = malloc((size_t)(m->channels * t->rows * t->columns) * sizeof *t->latent);
    t->pixels = malloc((size_t)m->options->width * (size_t)m->options->height * 3);
    return t->whole && t->latent && t->pixels ? HOLO_OK : holo_fail_memory(m->error);
}

// Cuts a tile out of the latent picture.
static void tile_cut(const HoloPicture *m, const Tiles *t, const float *x, int64_t row, int64_t column)
{
    float *to = t->latent;
    for (int64_t c = 0; c < m->channels; c++)
        for (int64_t r = 0; r < t->rows; r++, to += t->columns)
            memcpy(to, x + (c * m->rows + row + r) * m->columns + column, (size_t)t->columns * sizeof *to);
}

static uint8_t light(float x)
{
    double byte = (x / 2.0 + 0.5) * 255;
    return (uint8_t)(byte > 0 ? byte < 255 ? byte + 0.5 : 255 : 0); // NaN is black
}

static HoloStatus tile_paint(const HoloPicture *m, const Tiles *t, const HoloTensor *made, int64_t row, int64_t column)
{
    int64_t height = t->rows * t->factor, width = t->columns * t->factor, places = height * width;
    if (made->kind != HOLO_TENSOR || made->dtype != HOLO_F32 || made->rank != 4 || made->dim[0] != 1 ||
        made->dim[1] != 3 || made->dim[2] != height || made->dim[3] != width)
        return holo_fail(m->error, HOLO_BAD_MODEL,
                         "the decoder does not give a picture of %lld x %lld in red, green and blue", (long long)width,
                         (long long)height);
    const float *from = made->data;
    uint8_t     *to   = t->pixels + (row * t->factor * m->options->width + column * t->factor) * 3;
    for (int64_t y = 0; y < height; y++, to += 3 * m->options->width)
        for (int64_t i = 0; i < 3 * width; i++) to[i] = light(from[i % 3 * places + y * width + i / 3]);
    return HOLO_OK;
}

static HoloStatus tiles_decode(HoloPicture *m, const Tiles *t)
{
    HoloTensor latent = {.dtype = HOLO_F32, .rank = 4, .dim = {1, m->channels, t->rows, t->columns}, .data = t->latent};
    HoloTensor made;
    for (int64_t row = 0; row < m->rows; row += t->rows)
        for (int64_t column = 0; column < m->columns; column += t->columns) {
            tile_cut(m, t, t->whole, row, column);
            HOLO_TRY(holo_session_set_input(m->decoder, 0, &latent, m->error));
            HOLO_TRY(holo_session_run(m->decoder, m->error));
            HOLO_TRY(holo_session_output(m->decoder, 0, &made, m->error));
            HOLO_TRY(tile_paint(m, t, &made, row, column));
        }
    return HOLO_OK;
}

HoloStatus holo_picture_see(HoloPicture *m, HoloTensor *out, HoloError *error)
{
    double     scale = number_of(m->model, "imagine.scale", 0.18215), shift = number_of(m->model, "imagine.shift", 0);
    Tiles      t      = {0};
    HoloStatus status = HOLO_OK;
    *out              = (HoloTensor){0};
    m->error          = error;
    if (!m->decoder)
        status = holo_session_create(holo_model_entry(m->model, "vae_decoder"), m->options->pool, &m->decoder, error);
    if (!status) status = tiles_find(m, &t);
    for (size_t k = 0; k < m->count && !status; k++) t.whole[k] = (float)(m->seen[k] / scale + shift);
    if (!status) status = tiles_decode(m, &t);
    free(t.whole);
    free(t.latent);
    if (status) return free(t.pixels), status;
    *out =
        (HoloTensor){.dtype = HOLO_U8, .rank = 3, .dim = {m->options->height, m->options->width, 3}, .data = t.pixels};
    return HOLO_OK;
}

// ---- all of it

static HoloStatus picture_init(HoloPicture *m)
{
    if (!m->options->prompt) return holo_fail(m->error, HOLO_BAD_INPUT, "there is no prompt");
    if (!holo_imagine_can(m->model))
        return holo_fail(m->error, HOLO_BAD_INPUT,
                         "this model makes no pictures of texts: it does not have the entries unet, text_encoder and "
                         "vae_decoder and a tokenizer. Compile a folder of Diffusers");
    HOLO_TRY(unet_open(m));
    HOLO_TRY(schedule_open(m));
    HOLO_TRY(words_read(m));
    return begin(m);
}

HoloStatus holo_picture_create(const HoloModel *model, const HoloImagineOptions *options, HoloPicture **out,
                               HoloError *error)
{
    HoloPicture *m = calloc(1, sizeof *m);
    *out           = NULL;
    if (!m) return holo_fail_memory(error);
    *m         = (HoloPicture){.model = model, .kept = *options, .error = error, .guides = options->guidance > 1};
    m->options = &m->kept;
    HoloStatus status = picture_init(m);
    if (status)
        holo_picture_destroy(m);
    else
        *out = m;
    return status;
}

void holo_picture_destroy(HoloPicture *m)
{
    if (!m) return;
    holo_session_destroy(m->unet);
    holo_session_destroy(m->decoder);
    holo_arena_deinit(&m->arena);
    free(m);
}

static HoloStatus progress(const HoloImagineOptions *o, int step, HoloError *error)
{
    if (!o->progress || o->progress(o->state, step, o->steps)) return HOLO_OK;
    return holo_fail(error, HOLO_CANCELLED, "the picture was cancelled in step %d of %d", step, o->steps);
}

HoloStatus holo_imagine(const HoloModel *model, const HoloImagineOptions *options, HoloTensor *out, HoloError *error)
{
    HoloPicture *picture;
    bool         is_done = false;
    *out                 = (HoloTensor){0};
    HoloStatus status    = holo_picture_create(model, options, &picture, error);
    for (int step = 0; !status && !is_done; step++) {
        status = progress(options, step, error);
        if (!status) status = holo_picture_step(picture, &is_done, error);
    }
    if (!status) status = progress(options, options->steps, error);
    if (!status) status = holo_picture_see(picture, out, error);
    holo_picture_destroy(picture);
    return status;
}

void holo_image_free(HoloTensor *image)
{
    if (image) free(image->data);
    if (image) image->data = NULL;
}
