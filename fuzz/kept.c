// kept.c - fuzzes what is loaded of a text: caches that were saved, by a small language model. Whatever the bytes are, they
// are refused or read, and the model goes on. The first byte says whether the rest gets a head and a hash that fit, so
// that bytes behind these are reached, too.
#include "base/files.h"
#include "base/hash.h"
#include "graph/graph.h"
#include "materialize/materialize.h"
#include "passes/passes.h"
#include "text/language.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    "graph g(input_ids: i64[B,S], cache_rows: i64[B] = index, cache_lengths: i64[B] = 0,\n"
    "        picks: i64[P] = index, keys: f32[slots,context,2] = state[B,S,2]) -> (logits) {\n"
    "    const words: f32[4,2] = {1, 0, 0, 1, 1, 1, -1, 0}\n"
    "    const back: f32[2,4] = {1, 0, 1, -1, 0, 1, 1, 0}\n"
    "    x = Gather@13(words, input_ids)\n"
    "    all = hologram::CacheWrite@1(keys, x, cache_rows, cache_lengths)\n"
    "    y = hologram::CachedAttention@1(x, all, all, cache_rows, cache_lengths) {num_heads=1, scale=1.0}\n"
    "    z = Gather@13(y, picks) {axis=1}\n"
    "    logits = MatMul@13(z, back)\n"
    "}";

static HoloModel *model_make(void)
{
    static HoloArena arena;
    HoloGraph       *graph;
    HoloModel       *model;
    HoloMaterialize  m     = {0};
    HoloError        error = {0};
    m.error                = &error;
    if (holo_graph_parse(&arena, text, &graph, &error) || holo_passes_run(graph, NULL, &error) ||
        holo_materialize_model(graph, &m, &model))
        abort();
    return model;
}

// Offsets in the head: see language_kept.c.
static void head_mend(uint8_t *bytes, size_t size)
{
    enum { HEAD = 64, SIZE = 40, HASH = 48 };
    uint64_t all = size;
    if (size < HEAD) return;
    HoloHash hash = holo_hash(bytes + HEAD, size - HEAD);
    memcpy(bytes, "HOLOKEPT", 8);
    memcpy(bytes + SIZE, &all, sizeof all);
    memcpy(bytes + HASH, hash.word, sizeof hash.word);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static HoloModel    *model;
    static HoloLanguage *language;
    const uint32_t       tokens[] = {1, 2, 3, 0, 1};
    const float         *logits;
    HoloError            error = {0};
    HoloKeptText         kept;
    if (!model) {
        model = model_make();
        if (holo_language_open(model, NULL, NULL, &language, &error)) abort();
    }
    if (!size) return 0;
    uint8_t *copy = malloc(size);
    if (!copy) return 0;
    memcpy(copy, data + 1, size - 1);
    if (data[0] & 1) head_mend(copy, size - 1);
    holo_language_forget(language, 0);
    if (!holo_kept_open(language, copy, size - 1, data[0] & 2, &kept, &error) &&
        !holo_known_set(&language->text[0], &kept, kept.count, &error)) {
        error = (HoloError){0};
        if (holo_language_read(language, 0, tokens, 5, &logits, &error)) abort();
    }
    holo_language_forget(language, 0);
    free(copy);
    return 0;
}
