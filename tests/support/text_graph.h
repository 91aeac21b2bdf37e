// text_graph.h - language models of a few numbers, from graph text, for tests of generation.
#ifndef HOLO_TESTS_TEXT_GRAPH_H
#define HOLO_TESTS_TEXT_GRAPH_H

#include "support/models.h"

#include "graph/graph.h"
#include "passes/passes.h"
#include "text/language.h"

// The model that a graph describes, compiled.
static inline HoloModel *text_model_make(const char *source)
{
    HoloArena  arena = {0};
    HoloGraph *graph;
    HoloModel *model;
    uint32_t   kernels;
    EXPECT_OK(holo_graph_parse(&arena, source, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, NULL, &error));
    EXPECT_OK(model_of(graph, HOLO_FUSED, &model, &kernels, &error));
    holo_arena_deinit(&arena);
    return model;
}

// It, opened for so many texts at once.
static inline HoloLanguage *text_language_open(const HoloModel *model, int texts)
{
    HoloLanguageOptions options = {.size = sizeof options, .texts = texts};
    HoloLanguage       *language;
    EXPECT_OK(holo_language_open(model, NULL, &options, &language, &error));
    return language;
}

#endif
