// json_schema.c - fuzzes the compiler of JSON Schema. What its masks allow must be JSON, as jansson reads it.
#include "hologram_text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { END = 256, BYTES_MAX = 300 };

static HoloTokenTree *tree_of_bytes(void)
{
    static uint8_t bytes[256];
    HoloString     list[257] = {0};
    HoloError      error     = {0};
    HoloTokenTree *tree;
    for (int i = 0; i < 256; i++) {
        bytes[i] = (uint8_t)i;
        list[i]  = (HoloString){(const char *)&bytes[i], 1};
    }
    if (holo_token_tree_create_from(list, 257, (uint32_t[]){END}, 1, &tree, &error)) abort();
    return tree;
}

// Whether a complete text is JSON. Numbers of any size and \u0000 are JSON that jansson does not take.
static bool is_json(const char *text, size_t size)
{
    json_error_t problem;
    json_t      *json = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &problem);
    if (json) return json_decref(json), true;
    return json_error_code(&problem) == json_error_numeric_overflow;
}

static void generate(HoloGrammarState *state, const uint8_t *choice, size_t size)
{
    char   text[BYTES_MAX];
    size_t count = 0;
    for (; count < BYTES_MAX; count++) {
        uint64_t  mask[5];
        uint32_t  allowed, token = 0;
        HoloError error = {0};
        if (holo_grammar_state_mask(state, mask, &allowed, &error)) return;
        for (uint32_t skip = choice[count % size] % allowed; !(mask[token / 64] >> token % 64 & 1) || skip--;) token++;
        if (mask[4] & 1 && !is_json(text, count)) abort();
        if (token == END || holo_grammar_state_accept(state, token, &error)) return;
        text[count] = (char)token;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static HoloTokenTree *tree;
    HoloGrammar          *grammar;
    HoloGrammarState     *state = NULL;
    HoloError             error = {0};
    if (!tree) tree = tree_of_bytes();
    if (!size) return 0;
    HoloStatus status = holo_grammar_compile(HOLO_GRAMMAR_JSON_SCHEMA, (const char *)data, size,
                                             (HoloGrammarSpaces)(size % 3), &grammar, &error);
    if (status && !error.text[0]) abort(); // a failure comes with words
    if (status) return 0;
    if (holo_grammar_set_tokens(grammar, tree, &error)) abort();
    if (!holo_grammar_state_create(grammar, &state, &error)) generate(state, data, size);
    holo_grammar_state_destroy(state);
    holo_grammar_close(grammar);
    return 0;
}
