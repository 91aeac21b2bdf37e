// pipeline.c - archives that may be anything, given to what is made of several networks: texts that are continued, sounds
// that are written down, pictures of texts. Hashes are mended first, or no change would get past them.
#include "archive_mutate.h"
#include "hologram_image.h"
#include "hologram_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool goes_on(void *state, const HoloGenerated *generated)
{
    (void)generated;
    return --*(int *)state > 0;
}

static bool is_heard(void *state, const HoloSpoken *spoken)
{
    (void)spoken;
    return --*(int *)state > 0;
}

// Two texts side by side, one of them longer than what was kept of the other, and then an answer.
static void read_texts(HoloLanguage *l)
{
    static const uint32_t tokens[] = {1, 2, 0, 1, 2, 3};
    HoloError             error    = {0};
    const float          *logits;
    float                 sum = 0;
    for (size_t count = 1; count <= 4; count++) {
        error = (HoloError){0};
        if (holo_language_read_last(l, 0, tokens, count, 1, &logits, &error)) break;
        for (uint32_t i = 0; i < holo_language_vocabulary(l); i++) sum += logits[i];
    }
    error = (HoloError){0};
    (void)!holo_language_copy(l, 0, 1, &error);
    HoloTextRead reads[2] = {{.text = 0, .tokens = tokens, .count = 5}, {.text = 1, .tokens = tokens, .count = 6}};
    error                 = (HoloError){0};
    if (!holo_language_read_all(l, reads, 2, &error))
        for (uint32_t i = 0; i < holo_language_vocabulary(l); i++) sum += reads[0].logits[i] + reads[1].logits[i];
    holo_language_forget(l, 0);
    HoloGenerateOptions options;
    int                 left = 4;
    holo_generate_defaults(l, &options);
    options.max_tokens = 4;
    options.lookup     = 2;
    error              = (HoloError){0};
    (void)!holo_generate(l, tokens, 3, &options, goes_on, &left, NULL, &error);
    if (sum == 12345.678f) abort(); // what was read is used
}

static void listen(HoloLanguage *l)
{
    static float samples[4000];
    HoloError    error = {0};
    int          left  = 3;
    for (int i = 0; i < 4000; i++) samples[i] = (float)(i % 37) / 40 - 0.4f;
    if (holo_language_rate(l)) (void)!holo_transcribe(l, samples, 4000, NULL, is_heard, &left, NULL, &error);
}

static void imagine(const HoloModel *model)
{
    HoloImagineOptions options;
    HoloTensor         image = {0};
    HoloError          error = {0};
    holo_imagine_defaults(model, &options);
    if (!holo_imagine_can(model)) return;
    options.prompt = "a c";
    options.steps  = 2;
    if (options.width > 64) options.width = options.height = 64;
    (void)!holo_imagine(model, &options, &image, &error);
    holo_image_free(&image);
}

// The template of a conversation, and the names of labels.
static void read_assets(const HoloModel *model)
{
    static const char context[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}";
    HoloString        bytes;
    HoloTemplate     *template_;
    HoloError         error = {0};
    char             *text;
    size_t            size;
    if (!holo_model_asset(model, "template", &bytes) ||
        holo_template_open_memory(bytes.data, bytes.size, &template_, &error))
        return;
    if (!holo_template_render(template_, context, sizeof context - 1, &text, &size, &error)) holo_text_free(text);
    holo_template_close(template_);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    holo_memory_set_limit(UINT64_C(1) << 30);
    uint8_t      *bytes = hashes_right(data, size);
    HoloError     error = {0};
    HoloModel    *model;
    HoloLanguage *language;
    if (!bytes) return 0;
    if (!holo_model_open_memory(bytes, size, &model, &error)) {
        HoloLanguageOptions options = {.size = sizeof options, .texts = 2, .context = 64, .chunk = 2};
        read_assets(model);
        imagine(model);
        for (int texts = 2; texts >= 1; texts--) { // models with an encoder continue one
            options.texts = texts;
            error         = (HoloError){0};
            if (holo_language_open(model, NULL, &options, &language, &error)) continue;
            read_texts(language);
            listen(language);
            holo_language_close(language);
        }
        holo_model_close(model);
    }
    free(bytes);
    return 0;
}
