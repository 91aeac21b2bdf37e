// grammars.c - holo_grammar_compile: a grammar from its source, compiled and opened.
#include "hologram_text.h"

#include "vocabulary/grammar_tree.h"

enum { SOURCE_MAX = 1 << 20 }; // bytes

static const struct {
    HoloGrammarSource source;
    HoloStatus (*read)(HoloGrammarBuilder *b, HoloString text, HoloGrammarSpaces spaces);
} sources[] = {
    {HOLO_GRAMMAR_GBNF, holo_grammar_read_gbnf},
    {HOLO_GRAMMAR_REGEX, holo_grammar_read_regex},
    {HOLO_GRAMMAR_JSON_SCHEMA, holo_grammar_read_schema},
};

static HoloStatus compile(int row, HoloString text, HoloGrammarSpaces spaces, HoloGrammar **out_grammar,
                          HoloError *error)
{
    HoloArena           arena = {0};
    HoloGrammarBuilder  b     = {.arena = &arena, .error = error};
    HoloVocabularyBytes block;
    HoloStatus          status = sources[row].read(&b, text, spaces);
    if (!status) status = holo_grammar_finish(&b, &block);
    if (!status) status = holo_grammar_open_memory(block.data, block.size, out_grammar, error);
    holo_arena_deinit(&arena);
    return status;
}

HoloStatus holo_grammar_compile(HoloGrammarSource source, const char *text, size_t size, HoloGrammarSpaces spaces,
                                HoloGrammar **out_grammar, HoloError *error)
{
    *out_grammar = NULL;
    if (size > SOURCE_MAX)
        return holo_fail(error, HOLO_UNSUPPORTED, "the grammar has %zu bytes: it may have %d", size, SOURCE_MAX);
    if ((unsigned)spaces > HOLO_SPACES_ANY)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "spaces is %d, which is not a HoloGrammarSpaces", (int)spaces);
    for (int i = 0; i < HOLO_COUNT(sources); i++)
        if (sources[i].source == source)
            return compile(i, (HoloString){size ? text : "", size}, spaces, out_grammar, error);
    return holo_fail(error, HOLO_BAD_ARGUMENT, "source is %d, which is not a HoloGrammarSource", (int)source);
}
