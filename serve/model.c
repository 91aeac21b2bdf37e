// model.c - models that are served. See model.h.
#include "model.h"

#include "hologram_image.h"

#include <stdlib.h>
#include <string.h>

static bool has_output(const HoloModel *m, const char *const *names)
{
    for (; *names; names++)
        if (holo_model_output_find(m, *names) >= 0) return true;
    return false;
}

// What it can do, as its inputs, outputs and assets say.
static void abilities_find(Model *m)
{
    static const char *const vectors[] = {
        "last_hidden_state", "token_embeddings", "hidden_states", "sentence_embedding",
        "text_embeds",       "pooler_output",    "embeddings",    NULL};
    const HoloModel *decoder = holo_model_entry(m->holo, "decoder"), *encoder = holo_model_entry(m->holo, "encoder");
    const HoloModel *holo = m->holo;
    HoloString       block;
    bool             has_tokenizer = holo_model_asset(holo, "tokenizer", &block);
    int              logits        = holo_model_output_find(holo, "logits");
    bool             reads_ids     = holo_model_input_find(holo, "input_ids") >= 0;
    m->is_painter                  = holo_imagine_can(holo);
    m->is_listener                 = decoder && encoder && holo_model_input_find(encoder, "input_features") >= 0;
    m->is_language =
        has_tokenizer && !m->is_listener && !m->is_painter &&
        ((reads_ids && logits >= 0 && holo_model_output(holo, logits)->type.rank == 3) || (decoder && encoder));
    m->is_embedder = has_tokenizer && reads_ids && !m->is_painter && has_output(holo, vectors);
}

Model *model_create(Server *server, const char *name, const char *version, const char *path, HoloModel *holo)
{
    Model    *m     = take(sizeof *m);
    HoloError error = {0};
    m->server       = server;
    m->name         = take_text(name);
    m->version      = take_text(version);
    m->path         = take_text(path);
    m->holo         = holo;
    m->holds        = 1;
    m->opened       = now();
    m->metrics      = metrics_model(server->metrics, name);
    queue_init(&m->readings, server->schedule, &reading_queue, m);
    queue_init(&m->tensors, server->schedule, &tensor_queue, m);
    queue_init(&m->talks, server->schedule, &talk_queue, m);
    int cores = schedule_cores(server->schedule);
    if (holo_model_set_runs(holo, NULL, cores < 256 ? cores : 256, &error)) abort(); // it was never run before
    abilities_find(m);
    return m;
}

Model *model_hold(Model *m)
{
    __atomic_add_fetch(&m->holds, 1, __ATOMIC_RELAXED);
    return m;
}

void model_release(Model *m)
{
    if (!m || __atomic_sub_fetch(&m->holds, 1, __ATOMIC_ACQ_REL)) return;
    speaker_destroy(m->speaker);
    holo_model_close(m->holo);
    free(m->name);
    free(m->version);
    free(m->path);
    free(m);
}

void queue_hold_model(Queue *q)
{
    model_hold(q->owner);
}

void queue_release_model(Queue *q)
{
    model_release(q->owner);
}
