// tiny_bert.c - a BERT with a few random weights. See tiny_bert.h.
#include "support/tiny_bert.h"

#include "base/system.h"
#include "format/dtype.h"
#include "support/models.h"
#include "support/safetensors_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void weights_add(Weights *w, const char *name, int rows, int columns)
{
    Weight *to = &w->list[w->count++];
    snprintf(to->name, sizeof to->name, "%s", name);
    snprintf(to->shape, sizeof to->shape, columns ? "%d,%d" : "%d", rows, columns);
    to->count          = rows * (columns ? columns : 1);
    to->data           = malloc(sizeof(float) * (size_t)to->count);
    HoloRandom random  = {(uint64_t)w->count * 77};
    bool       is_norm = strstr(name, "LayerNorm.weight") != NULL;
    for (int i = 0; i < to->count; i++) to->data[i] = (float)(is_norm + 0.3 * holo_random_normal(&random));
}

void weights_add_linear(Weights *w, const char *name, int in, int out)
{
    char full[96];
    snprintf(full, sizeof full, "%s.weight", name);
    weights_add(w, full, out, in);
    snprintf(full, sizeof full, "%s.bias", name);
    weights_add(w, full, out, 0);
}

void weights_add_norm(Weights *w, const char *name)
{
    char full[96];
    snprintf(full, sizeof full, "%s.weight", name);
    weights_add(w, full, HIDDEN, 0);
    snprintf(full, sizeof full, "%s.bias", name);
    weights_add(w, full, HIDDEN, 0);
}

Weights bert_weights(void)
{
    Weights w = {0};
    char    name[64];
    weights_add(&w, "embeddings.word_embeddings.weight", VOCAB, HIDDEN);
    weights_add(&w, "embeddings.position_embeddings.weight", PLACES, HIDDEN);
    weights_add(&w, "embeddings.token_type_embeddings.weight", KINDS, HIDDEN);
    weights_add_norm(&w, "embeddings.LayerNorm");
    for (int i = 0; i < LAYERS; i++) {
        static const struct {
            const char *name;
            int         in, out; // out 0: a normalization
        } parts[] = {{"attention.self.query", HIDDEN, HIDDEN},  {"attention.self.key", HIDDEN, HIDDEN},
                     {"attention.self.value", HIDDEN, HIDDEN},  {"attention.output.dense", HIDDEN, HIDDEN},
                     {"attention.output.LayerNorm", HIDDEN, 0}, {"intermediate.dense", HIDDEN, INNER},
                     {"output.dense", INNER, HIDDEN},           {"output.LayerNorm", HIDDEN, 0}};
        for (int k = 0; k < HOLO_COUNT(parts); k++) {
            snprintf(name, sizeof name, "encoder.layer.%d.%s", i, parts[k].name);
            if (parts[k].out)
                weights_add_linear(&w, name, parts[k].in, parts[k].out);
            else
                weights_add_norm(&w, name);
        }
    }
    weights_add_linear(&w, "pooler.dense", HIDDEN, HIDDEN);
    return w;
}

void weights_free(Weights *w)
{
    for (int i = 0; i < w->count; i++) free(w->list[i].data);
}

static void save_weight(SafeFile *file, const Weight *weight, const Form *form)
{
    char  name[160];
    char *end = NULL;
    snprintf(name, sizeof name, "%s%s", form->prefix ? form->prefix : "", weight->name);
    if (form->is_old && (end = strstr(name, "LayerNorm.weight"))) strcpy(end, "LayerNorm.gamma");
    if (form->is_old && (end = strstr(name, "LayerNorm.bias"))) strcpy(end, "LayerNorm.beta");
    if (!form->is_f16) {
        safe_add(file, name, "F32", weight->shape, weight->data, sizeof(float) * (size_t)weight->count);
        return;
    }
    uint16_t half[VOCAB * INNER * HIDDEN];
    for (int i = 0; i < weight->count; i++) half[i] = holo_f32_to_f16(weight->data[i]);
    safe_add(file, name, "F16", weight->shape, half, 2 * (size_t)weight->count);
}

const char *path_in(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return temp_path(path);
}

void save_config(const char *folder, const char *architecture, const char *more)
{
    char text[2048];
    int  size =
        snprintf(text, sizeof text,
                 "{\"architectures\": [\"%s\"], \"model_type\": \"bert\", \"vocab_size\": %d, \"hidden_size\": %d,"
                 "\"num_hidden_layers\": %d, \"num_attention_heads\": %d, \"intermediate_size\": %d,"
                 "\"max_position_embeddings\": %d, \"pad_token_id\": null, \"id2label\": {\"0\": \"a\"},"
                 "\"transformers_version\": \"4.1\"%s}",
                 architecture, VOCAB, HIDDEN, LAYERS, HEADS, INNER, PLACES, more ? more : "");
    file_write(path_in(folder, "config.json"), text, (size_t)size);
}

const char *save_folder(const char *folder, const char *architecture, const Weights *w, const Form *form)
{
    SafeFile file[2] = {{0}};
    char     index[16384];
    int      at = snprintf(index, sizeof index, "{\"metadata\": {}, \"weight_map\": {");
    (void)holo_folder_make(temp_path(folder), false);
    save_config(folder, architecture, form->config);
    for (int i = 0; i < w->count; i++) {
        if (form->without && strstr(w->list[i].name, form->without)) continue;
        int shard = form->is_sharded ? i % 2 : 0;
        save_weight(&file[shard], &w->list[i], form);
        at += snprintf(index + at, sizeof index - (size_t)at, "%s\"%s%s\": \"model-0000%d-of-00002.safetensors\"",
                       i ? ", " : "", form->prefix ? form->prefix : "", w->list[i].name, shard + 1);
    }
    at += snprintf(index + at, sizeof index - (size_t)at, "}}");
    if (form->is_sharded) {
        safe_save(&file[0], path_in(folder, "model-00001-of-00002.safetensors"));
        safe_save(&file[1], path_in(folder, "model-00002-of-00002.safetensors"));
        file_write(path_in(folder, "model.safetensors.index.json"), index, (size_t)at);
    } else {
        safe_save(&file[0], path_in(folder, "model.safetensors"));
    }
    return temp_path(folder);
}
