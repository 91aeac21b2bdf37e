// grammar.c - fuzzes grammars: GBNF, regular expressions, and compiled blocks. The first byte chooses which; a line of ====
// ends the grammar, and the text behind it goes through it.
#include "base/bytes.h"
#include "hologram_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {"a", "ab", "b", "\"", "{", "}", "[\"", "1", " ", ",", "\xC3", "\xA9", "xyz"};
enum { TOKENS = sizeof words / sizeof *words, END = TOKENS };

static HoloTokenTree *tree_of_words(void)
{
    HoloString     list[TOKENS + 1] = {0};
    HoloError      error            = {0};
    HoloTokenTree *tree;
    for (int i = 0; i < TOKENS; i++) list[i] = (HoloString){words[i], strlen(words[i])};
    if (holo_token_tree_create_from(list, TOKENS + 1, (uint32_t[]){END}, 1, &tree, &error)) abort();
    return tree;
}

// Follows masks: every token that one allows is accepted, unless it is beyond the bounds.
static void follow(HoloGrammarState *state, const uint8_t *choice, size_t size)
{
    char forced[64];
    for (size_t i = 0; i < size && i < 40; i++) {
        uint64_t  mask;
        uint32_t  count, token = 0;
        HoloError error = {0};
        if (holo_grammar_state_mask(state, &mask, &count, &error)) {
            if (!error.text[0]) abort();
            return;
        }
        for (uint32_t skip = choice[i] % count; !(mask >> token & 1) || skip--;) token++;
        if (holo_grammar_state_accept(state, token, &error) == HOLO_BAD_INPUT) abort();
        if (error.status) return;
        holo_grammar_state_forced(state, forced, sizeof forced);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static HoloTokenTree *tree;
    HoloGrammar          *grammar = NULL;
    HoloGrammarState     *state   = NULL;
    HoloError             error   = {0};
    size_t                fit;
    if (!tree) tree = tree_of_words();
    if (!size) return 0;
    const uint8_t *end = holo_bytes_find(data, size, "\n====\n", 6), *text = end ? end + 6 : data + size;
    size_t         rest = (size_t)(data + size - text), front = (size_t)((end ? end : data + size) - data) - 1;
    HoloStatus     status = data[0] == 'b'
                                ? holo_grammar_open_memory(data + 1, size - 1, &grammar, &error)
                                : holo_grammar_compile(data[0] == 'r' ? HOLO_GRAMMAR_REGEX : HOLO_GRAMMAR_GBNF,
                                                   (const char *)data + 1, front, HOLO_SPACES_SOME, &grammar, &error);
    if (status && !error.text[0]) abort(); // a failure comes with words
    if (status) return 0;
    if (holo_grammar_set_tokens(grammar, tree, &error)) abort();
    if (!holo_grammar_state_create(grammar, &state, &error)) {
        if (!holo_grammar_state_accept_bytes(state, (const char *)text, rest, &fit, &error)) fit = rest;
        if (fit > rest) abort();
        holo_grammar_state_reset(state);
        follow(state, text, rest);
    }
    holo_grammar_state_destroy(state);
    holo_grammar_close(grammar);
    return 0;
}
