// grammar.c - how long the mask of a grammar takes for each token, with a vocabulary of 128,000 tokens.
//
// The vocabulary is made up: all bytes, then words of letters, numbers, spaces and what stands around values in JSON, as vocabularies of
// that size have them. A text that fits is read in the longest tokens, byte by byte where there is none, and the mask is made in front of
// each. Times are those of a first walk, in which tables of states are made, and of later ones.
#include "hologram_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOKENS = 128000, TEXT_MOST = 4096, ROUNDS = 20, STEPS_MOST = 4096 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void expect(HoloStatus status, const HoloError *error)
{
    if (!status) return;
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

// ---- the vocabulary

static HoloString token[TOKENS];
static char       bytes[TOKENS][16];

static uint32_t random_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void vocabulary_make(void)
{
    static const char *const marks[] = {"{\"", "\": \"", "\", \"", "\"}",    "\": ", "], ",   ", \"", "}}",
                                        "[{",  " {",     "},",     "\n  \"", "true", "false", "null"};
    enum { MARKS = sizeof marks / sizeof *marks };
    uint32_t seed = 7;
    for (int i = 0; i < TOKENS; i++) {
        int size = 1;
        if (i < 256) {
            bytes[i][0] = (char)i;
        } else if (i < 256 + MARKS) {
            size = snprintf(bytes[i], sizeof bytes[i], "%s", marks[i - 256]);
        } else {
            bool is_number = random_next(&seed) % 16 == 0;
            size           = 0;
            if (random_next(&seed) % 2) bytes[i][size++] = ' ';
            for (uint32_t n = 1 + random_next(&seed) % (is_number ? 3 : 9); n; n--)
                bytes[i][size++] = (char)(is_number ? '0' + random_next(&seed) % 10 : 'a' + random_next(&seed) % 26);
        }
        token[i] = (HoloString){bytes[i], (size_t)size};
    }
}

// The longest token that the text begins with.
static uint32_t token_at(const char *text, size_t left)
{
    uint32_t best = (uint8_t)*text;
    for (uint32_t i = 256; i < TOKENS; i++)
        if (token[i].size <= left && token[i].size > token[best].size && !memcmp(token[i].data, text, token[i].size))
            best = i;
    return best;
}

// ---- the walk

static int in_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, const char *schema, const char *text, const HoloTokenTree *tree)
{
    static uint32_t   step[STEPS_MOST];
    static double     took[ROUNDS * STEPS_MOST];
    static uint64_t   mask[TOKENS / 64 + 1];
    HoloError         error = {0};
    HoloGrammar      *grammar;
    HoloGrammarState *state;
    size_t            steps = 0, size = strlen(text), count = 0;
    uint32_t          allowed;
    double            first = 0, most = 0;
    for (size_t at = 0; at < size && steps < STEPS_MOST; at += token[step[steps++]].size)
        step[steps] = token_at(text + at, size - at);
    expect(holo_grammar_compile(HOLO_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), HOLO_SPACES_ANY, &grammar, &error),
           &error);
    expect(holo_grammar_set_tokens(grammar, tree, &error), &error);
    expect(holo_grammar_state_create(grammar, &state, &error), &error);
    for (int round = 0; round <= ROUNDS; round++) {
        holo_grammar_state_reset(state);
        for (size_t i = 0; i < steps; i++) {
            double start = now();
            expect(holo_grammar_state_mask(state, mask, &allowed, &error), &error);
            double time = now() - start;
            if (round)
                took[count++] = time;
            else
                first += time;
            if (!round && time > most) most = time;
            expect(holo_grammar_state_accept(state, step[i], &error), &error);
        }
    }
    qsort(took, count, sizeof *took, in_order);
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += took[i];
    printf(
        "%-10s %4zu tokens  first walk %8.2f us a token, most %8.2f; later: mean %6.2f, median %6.2f, 99 of 100 below %6.2f, most %6.2f us\n",
        name, steps, first / (double)steps, most, sum / (double)count, took[count / 2], took[count * 99 / 100],
        took[count - 1]);
    holo_grammar_state_destroy(state);
    holo_grammar_close(grammar);
}

int main(void)
{
    HoloError      error = {0};
    HoloTokenTree *tree;
    uint32_t       end = 0;
    vocabulary_make();
    double start = now();
    expect(holo_token_tree_create_from(token, TOKENS, &end, 1, &tree, &error), &error);
    printf("the tree of tokens: %.1f ms\n", (now() - start) / 1e3);
    measure(
        "person",
        "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}, \"age\": {\"type\": \"integer\"}, \"likes\": {\"type\": "
        "\"array\", \"items\": {\"enum\": [\"red\", \"green\", \"blue\"]}}}, \"required\": [\"name\", \"age\", \"likes\"]}",
        "{\"name\": \"ada of the far hills and the long river\", \"age\": 36, \"likes\": [\"red\", \"blue\", \"green\"]}",
        tree);
    measure(
        "any JSON", "{}",
        "{\"a list\": [1, 2.5, -3e7, true, null, {\"inner\": {\"deep\": [[], [{}], \"text with words\"]}}], \"more\": \"some text that is "
        "longer than the rest of all\"}",
        tree);
    holo_token_tree_destroy(tree);
    return 0;
}
