// compile_pipeline.c - what a folder of Diffusers says beside its networks: the tokenizer, and the numbers of the
// diffusion, which become metadata ("imagine.beta_start" ...).
#include "api/compiling.h"
#include "hologram_text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

// Where a number or a text is, and what it is called here.
static const struct {
    const char *file, *key, *meta;
} facts[] = {
    {"scheduler/scheduler_config.json", "_class_name", "imagine.scheduler"},
    {"scheduler/scheduler_config.json", "beta_start", "imagine.beta_start"},
    {"scheduler/scheduler_config.json", "beta_end", "imagine.beta_end"},
    {"scheduler/scheduler_config.json", "beta_schedule", "imagine.beta_schedule"},
    {"scheduler/scheduler_config.json", "num_train_timesteps", "imagine.train_steps"},
    {"scheduler/scheduler_config.json", "steps_offset", "imagine.steps_offset"},
    {"scheduler/scheduler_config.json", "set_alpha_to_one", "imagine.alpha_to_one"},
    {"scheduler/scheduler_config.json", "prediction_type", "imagine.prediction"},
    {"scheduler/scheduler_config.json", "timestep_spacing", "imagine.spacing"},
    {"vae/config.json", "scaling_factor", "imagine.scale"},
    {"vae/config.json", "shift_factor", "imagine.shift"},
    {"unet/config.json", "sample_size", "imagine.size"},
    {"tokenizer/tokenizer_config.json", "model_max_length", "text.max_length"},
};

static HoloStatus fact_add(HoloCompile *c, const char *meta, const json_t *value)
{
    if (json_is_string(value)) return holo_plan_meta(&c->plan, meta, json_string_value(value), c->error);
    if (json_is_boolean(value)) return holo_plan_meta(&c->plan, meta, json_is_true(value) ? "1" : "0", c->error);
    if (json_is_number(value)) return holo_compile_meta_number(c, meta, json_number_value(value));
    return HOLO_OK;
}

// The id of the token that fills the rest of a text; the end token, if the tokenizer does not say.
static HoloStatus padding_add(HoloCompile *c, const HoloTokenizer *tokenizer)
{
    json_t       *config = holo_compile_json(c->path, "tokenizer/tokenizer_config.json");
    const json_t *token  = json_object_get(config, "pad_token");
    const char   *text   = json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
    uint32_t      id;
    HoloStatus    status = HOLO_OK;
    if (!text) text = "<|endoftext|>";
    if (holo_tokenizer_find(tokenizer, text, strlen(text), &id)) status = holo_compile_meta_number(c, "text.pad", id);
    json_decref(config);
    return status;
}

static HoloStatus words_add(HoloCompile *c)
{
    HoloTokenizer *tokenizer;
    char           path[4096];
    size_t         size;
    int            length = snprintf(path, sizeof path, "%s/tokenizer", c->path);
    if (length < 0 || length >= (int)sizeof path) return holo_fail(c->error, HOLO_NO_FILE, "the path is too long");
    HOLO_TRY(holo_tokenizer_compile(path, &tokenizer, c->error));
    const void *block  = holo_tokenizer_block(tokenizer, &size);
    HoloStatus  status = holo_plan_asset(&c->plan, "tokenizer", block, size, c->error);
    if (!status) status = padding_add(c, tokenizer);
    holo_tokenizer_close(tokenizer);
    return status;
}

HoloStatus holo_compile_pipeline(HoloCompile *c)
{
    json_t *index = holo_compile_json(c->path, "model_index.json");
    bool    is    = json_is_object(index);
    json_decref(index);
    if (!is) return HOLO_OK;
    for (int i = 0; i < HOLO_COUNT(facts); i++) {
        json_t    *file   = holo_compile_json(c->path, facts[i].file);
        HoloStatus status = fact_add(c, facts[i].meta, json_object_get(file, facts[i].key));
        json_decref(file);
        if (status) return status;
    }
    return words_add(c);
}
