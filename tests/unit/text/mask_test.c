// mask_test.c - masks: the tokens that may come next are exactly those whose bytes fit, for random grammars and texts.
#include "support/models.h"

#include "base/base.h"
#include "hologram_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "",   "a",  "b",  "c",  "ab",  "ba",  "abc", "cc",   "aab",   "é",    "\xC3",    "\xA9", "[",    "]",
    "[[", "]]", "][", "\"", "\"a", "a\"", "{\"", "\":",  "\",\"", "1",    "12",      ",",    ", ",   "null",
    "tr", "ue", "]}", "}]", "}",   "{",   "\"]", "a\"]", "a\",",  "b\"}", "[\"ab\"", " ",    "true", "x"};
enum { TOKENS = sizeof words / sizeof *words, END = TOKENS, OTHER = TOKENS + 1, COUNT = TOKENS + 2 };

static HoloTokenTree *tree_of_words(void)
{
    HoloString     list[COUNT] = {0};
    HoloTokenTree *tree;
    for (int i = 0; i < TOKENS; i++) list[i] = (HoloString){words[i], strlen(words[i])};
    list[END]   = (HoloString){"a", 1}; // the end token is one, whatever it is called
    list[OTHER] = (HoloString){"ab", 2};
    EXPECT_OK(holo_token_tree_create_from(list, COUNT, (uint32_t[]){END}, 1, &tree, &error));
    return tree;
}

static const char *text_of(uint32_t token)
{
    return token == OTHER ? "ab" : words[token];
}

static bool bit(const uint64_t *mask, uint32_t token)
{
    return mask[token / 64] >> token % 64 & 1;
}

// Whether the token fits, by its bytes alone. -1: it is beyond the bounds, where masks may promise too much.
static int fits(const HoloGrammarState *state, uint32_t token)
{
    HoloGrammarState *copy;
    HoloError         error = {0}, ignored = {0};
    if (token == END) return holo_grammar_state_is_complete(state);
    if (!*text_of(token)) return false;
    if (holo_grammar_state_copy(state, &copy, &error)) fail_msg("%s", error.text);
    HoloStatus status = HOLO_OK;
    for (const char *c = text_of(token); *c && !status; c++)
        status = holo_grammar_state_accept_bytes(copy, c, 1, NULL, &ignored);
    holo_grammar_state_destroy(copy);
    return status == HOLO_UNSUPPORTED ? -1 : !status;
}

// Goes through the grammar by random tokens; at each place the mask is what fits.
static void check_walks(HoloGrammar *grammar, const char *name, HoloRandom *random, int walks)
{
    HoloGrammarState *state;
    EXPECT_OK(holo_grammar_state_create(grammar, &state, &error));
    for (int walk = 0; walk < walks; walk++) {
        holo_grammar_state_reset(state);
        for (int step = 0; step < 12; step++) {
            uint64_t   mask[1 + COUNT / 64];
            uint32_t   count, allowed[COUNT], found = 0;
            HoloError  error  = {0};
            HoloStatus status = holo_grammar_state_mask(state, mask, &count, &error);
            assert_true(status == HOLO_OK || (status == HOLO_BAD_INPUT && strstr(error.text, "no token")));
            for (uint32_t t = 0; t < COUNT; t++) {
                int known = fits(state, t);
                if (known < 0) goto beyond;
                if (bit(mask, t) != known)
                    fail_msg("%s: token '%s', step %d: the mask says %d", name, t == END ? "END" : text_of(t), step,
                             bit(mask, t));
                if (bit(mask, t)) allowed[found++] = t;
            }
            assert_int_equal(found, count);
            if (!found) break;
            uint32_t next = allowed[holo_random_next(random) % found];
            EXPECT_OK(holo_grammar_state_accept(state, next, &error));
            if (next == END) break;
        }
    beyond:;
    }
    holo_grammar_state_destroy(state);
}

// ---- random grammars

static void random_either(HoloRandom *r, char *out, size_t room, int depth);

static void random_piece(HoloRandom *r, char *out, size_t room, int depth)
{
    static const char *const simple[]  = {"\"a\"", "\"b\"", "\"ab\"", "[a-c]", "[^a\"]", "\"\\\"\"", ".",
                                          "\"[\"", "\"]\"", "\"\"",   "x",     "y",      "root"};
    static const char *const repeats[] = {"", "", "", "*", "+", "?", "{1,3}", "{2}"};
    size_t                   size      = strlen(out);
    if (depth > 0 && holo_random_next(r) % 3 == 0) {
        snprintf(out + size, room - size, "(");
        random_either(r, out, room, depth - 1);
        size = strlen(out);
        snprintf(out + size, room - size, ")");
    } else {
        snprintf(out + size, room - size, "%s", simple[holo_random_next(r) % 13]);
    }
    size = strlen(out);
    snprintf(out + size, room - size, "%s ", repeats[holo_random_next(r) % 8]);
}

static void random_either(HoloRandom *r, char *out, size_t room, int depth)
{
    int alternatives = 1 + (int)(holo_random_next(r) % 3);
    for (int i = 0; i < alternatives; i++) {
        int pieces = (int)(holo_random_next(r) % 4);
        if (i) snprintf(out + strlen(out), room - strlen(out), "| ");
        for (int k = 0; k < pieces; k++) random_piece(r, out, room, depth);
    }
}

static void test_random(void **state)
{
    (void)state;
    HoloTokenTree *tree   = tree_of_words();
    HoloRandom     random = {2024};
    int            good   = 0;
    for (int i = 0; i < 500; i++) {
        char         text[4000] = "";
        HoloGrammar *grammar;
        HoloError    error = {0};
        for (int rule = 0; rule < 3; rule++) {
            snprintf(text + strlen(text), sizeof text - strlen(text),
                     "%s ::= ", (const char *[]){"root", "x", "y"}[rule]);
            random_either(&random, text, sizeof text, 2);
            snprintf(text + strlen(text), sizeof text - strlen(text), "\n");
        }
        if (strlen(text) > sizeof text - 10) continue;
        if (holo_grammar_compile(HOLO_GRAMMAR_GBNF, text, strlen(text), 0, &grammar, &error)) {
            if (!strstr(error.text, "begins with itself") && !strstr(error.text, "never end"))
                fail_msg("%s: %s", text, error.text);
            continue;
        }
        good++;
        EXPECT_OK(holo_grammar_set_tokens(grammar, tree, &error));
        check_walks(grammar, text, &random, 4);
        holo_grammar_close(grammar);
    }
    assert_true(good > 100);
    holo_token_tree_destroy(tree);
}

static void test_json(void **state)
{
    (void)state;
    static const char *const schemas[] = {
        "{}",
        "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"ab\",null]},\"maxItems\":2}}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"maxLength\":3},\"b\":{\"type\":\"integer\",\"maximum\":12}},\"required\":[\"a\"]}",
        "{\"type\":\"object\",\"properties\":{\"ab\":true},\"additionalProperties\":true}",
    };
    HoloTokenTree *tree   = tree_of_words();
    HoloRandom     random = {1};
    for (int i = 0; i < 4; i++)
        for (int spaces = 0; spaces < 3; spaces++) {
            HoloGrammar *grammar;
            EXPECT_OK(holo_grammar_compile(HOLO_GRAMMAR_JSON_SCHEMA, schemas[i], strlen(schemas[i]),
                                           (HoloGrammarSpaces)spaces, &grammar, &error));
            EXPECT_OK(holo_grammar_set_tokens(grammar, tree, &error));
            check_walks(grammar, schemas[i], &random, 200);
            holo_grammar_close(grammar);
        }
    holo_token_tree_destroy(tree);
}

// ---- states

static void test_states(void **state)
{
    (void)state;
    HoloTokenTree    *tree = tree_of_words();
    HoloGrammar      *grammar;
    HoloGrammarState *one, *two;
    const char        text[] = "root ::= \"abc\" \"def\" (\"x\" | \"yz\")";
    char              forced[20];
    uint64_t          mask[1 + COUNT / 64];
    uint32_t          count;
    float             logits[COUNT] = {0};
    EXPECT_OK(holo_grammar_compile(HOLO_GRAMMAR_GBNF, text, strlen(text), 0, &grammar, &error));
    EXPECT_OK(holo_grammar_state_create(grammar, &one, &error));
    EXPECT_FAIL(holo_grammar_state_mask(one, mask, &count, &error), HOLO_BAD_ARGUMENT, "no tokens");
    EXPECT_FAIL(holo_grammar_set_tokens(grammar, tree, &error), HOLO_BAD_ARGUMENT, "states already");
    holo_grammar_state_destroy(one);
    EXPECT_OK(holo_grammar_set_tokens(grammar, tree, &error));
    EXPECT_OK(holo_grammar_state_create(grammar, &one, &error));
    assert_int_equal(holo_grammar_state_forced(one, forced, sizeof forced), 6);
    assert_memory_equal(forced, "abcdef", 6);
    assert_int_equal(holo_grammar_state_forced(one, forced, 2), 2);
    EXPECT_OK(holo_grammar_state_accept(one, OTHER, &error));
    EXPECT_OK(holo_grammar_state_copy(one, &two, &error));
    EXPECT_FAIL(holo_grammar_state_accept(one, 1, &error), HOLO_BAD_INPUT,
                "byte 2, 'a' (0x61), does not fit the grammar behind 'ab'");
    EXPECT_FAIL(holo_grammar_state_accept(one, END, &error), HOLO_BAD_INPUT, "may not end behind 'ab'");
    EXPECT_FAIL(holo_grammar_state_accept(one, 0, &error), HOLO_BAD_INPUT, "no text");
    EXPECT_FAIL(holo_grammar_state_accept(one, COUNT, &error), HOLO_BAD_ARGUMENT, "does not exist");
    EXPECT_OK(holo_grammar_state_accept_bytes(one, "cdefyz", 6, NULL, &error));
    assert_true(holo_grammar_state_is_complete(one));
    assert_int_equal(holo_grammar_state_forced(one, forced, sizeof forced), 0);
    assert_false(holo_grammar_state_is_complete(two));
    EXPECT_OK(holo_grammar_state_mask(one, mask, &count, &error));
    assert_true(count == 1 && bit(mask, END));
    holo_mask_apply(mask, COUNT, logits);
    assert_true(logits[END] == 0 && logits[1] < -1e38f && logits[OTHER] < -1e38f);
    EXPECT_OK(holo_grammar_state_accept(one, END, &error));
    EXPECT_FAIL(holo_grammar_state_mask(one, mask, &count, &error), HOLO_BAD_INPUT, "ended");
    EXPECT_OK(holo_grammar_state_accept_bytes(two, "cd", 2, NULL, &error));
    EXPECT_FAIL(holo_grammar_state_mask(two, mask, &count, &error), HOLO_BAD_INPUT, "behind 'abcd'");
    holo_grammar_state_reset(one);
    EXPECT_OK(holo_grammar_state_mask(one, mask, &count, &error));
    assert_int_equal(count, 4); // a, ab twice, abc
    holo_grammar_state_destroy(one);
    holo_grammar_state_destroy(two);
    holo_grammar_close(grammar);
    holo_token_tree_destroy(tree);
    EXPECT_FAIL(holo_token_tree_create_from(NULL, 0, (uint32_t[]){3}, 1, &tree, &error), HOLO_BAD_ARGUMENT,
                "end token 3");
}

// Many masks of a huge vocabulary: the machine forgets, again and again, and nothing changes.
// A vocabulary with large branches, of which some have characters that leave a text in quotes, or are cut off, or broken.
enum { MANY = 6000 };
static char       many_text[MANY][32];
static HoloString many[MANY];

static void many_make(void)
{
    static const char *const pieces[] = {"a",
                                         "b",
                                         "c",
                                         "d",
                                         "\xC3\xA9",
                                         "\xE6\x97\xA5",
                                         "\xF0\x9F\x98\x80",
                                         "\"",
                                         "\\",
                                         " ",
                                         "\xED\x80\x80",
                                         "\xC3",
                                         "\xE6\x97",
                                         "\x80",
                                         "\n",
                                         "\xF4\x8F\x80\x80"};
    HoloRandom               random   = {77};
    for (int i = 0; i < MANY; i++) {
        int count       = 1 + (int)(holo_random_next(&random) % 5);
        many_text[i][0] = 0;
        if (i < MANY / 2) strcpy(many_text[i], i % 2 ? "a" : " "); // two large branches
        for (int k = 0; k < count; k++)                            // odd pieces are seldom
            strcat(many_text[i], pieces[holo_random_next(&random) % (holo_random_next(&random) % 40 ? 7 : 16)]);
        many[i] = (HoloString){many_text[i], strlen(many_text[i])};
    }
}

static void test_branches(void **state)
{
    static const struct {
        HoloGrammarSource source;
        const char       *grammar, *before[4];
    } rows[] = {{HOLO_GRAMMAR_JSON_SCHEMA, "{\"type\": \"string\"}", {"", "\"", "\"ab", "\"\\"}},
                {HOLO_GRAMMAR_JSON_SCHEMA, "{}", {"[\"", "{\"a", "{\"a\": [\"\xC3", "[[\"\xE6\x97\xA5"}},
                {HOLO_GRAMMAR_GBNF, "root ::= \"a\" [^b]* \"b\"", {"", "a", "ac", "a\xF0\x9F"}},
                {HOLO_GRAMMAR_GBNF, "root ::= x x\nx ::= \"a\" [a-z ]* \"\\\"\"", {"", "a", "a\"", "a\"ab"}},
                {HOLO_GRAMMAR_GBNF, "root ::= [a-d\xC3\xA9\xE6\x97\xA5]*", {"", "a", "\xC3", "b"}},
                {HOLO_GRAMMAR_REGEX, ".*", {"", "a", "\xE6", "\xC3\xA9"}}};
    uint64_t       mask[MANY / 64 + 1];
    HoloTokenTree *tree;
    uint32_t       count, allowed = 0;
    (void)state;
    many_make();
    EXPECT_OK(holo_token_tree_create_from(many, MANY, NULL, 0, &tree, &error));
    for (int row = 0; row < HOLO_COUNT(rows); row++)
        for (int at = 0; at < 4; at++) {
            HoloGrammar      *grammar;
            HoloGrammarState *now, *copy;
            HoloError         ignored = {0};
            const char       *before  = rows[row].before[at];
            EXPECT_OK(holo_grammar_compile(rows[row].source, rows[row].grammar, strlen(rows[row].grammar), 0, &grammar,
                                           &error));
            EXPECT_OK(holo_grammar_set_tokens(grammar, tree, &error));
            EXPECT_OK(holo_grammar_state_create(grammar, &now, &error));
            EXPECT_OK(holo_grammar_state_accept_bytes(now, before, strlen(before), NULL, &error));
            HoloStatus status = holo_grammar_state_mask(now, mask, &count, &ignored);
            assert_true(status == HOLO_OK || status == HOLO_BAD_INPUT);
            for (uint32_t i = 0; i < MANY; i++) {
                EXPECT_OK(holo_grammar_state_copy(now, &copy, &error));
                bool fits_in = !holo_grammar_state_accept_bytes(copy, many[i].data, many[i].size, NULL, &ignored);
                holo_grammar_state_destroy(copy);
                allowed += fits_in;
                if (fits_in != bit(mask, i)) fail_msg("grammar %d behind '%s': token '%s'", row, before, many_text[i]);
            }
            holo_grammar_state_destroy(now);
            holo_grammar_close(grammar);
        }
    assert_true(allowed > MANY); // not only small branches were allowed
    holo_token_tree_destroy(tree);
}

static void test_forgets(void **state)
{
    (void)state;
    enum { HUGE = 1000000, WORDS = (HUGE + 63) / 64 };
    HoloString       *list = calloc(HUGE, sizeof *list);
    uint64_t         *mask = malloc(WORDS * sizeof *mask), *first = malloc(WORDS * sizeof *mask);
    HoloTokenTree    *tree;
    HoloGrammar      *grammar;
    HoloGrammarState *here, *start;
    const char        text[] = "root ::= (\"[\" root \"]\" | [a-z]{1,4000})*";
    uint32_t          count;
    assert_true(list && mask && first);
    for (int i = 0; i < TOKENS; i++) list[i] = (HoloString){words[i], strlen(words[i])};
    EXPECT_OK(holo_token_tree_create_from(list, HUGE, (uint32_t[]){END}, 1, &tree, &error));
    EXPECT_OK(holo_grammar_compile(HOLO_GRAMMAR_GBNF, text, strlen(text), 0, &grammar, &error));
    EXPECT_OK(holo_grammar_set_tokens(grammar, tree, &error));
    EXPECT_OK(holo_grammar_state_create(grammar, &here, &error));
    EXPECT_OK(holo_grammar_state_create(grammar, &start, &error));
    EXPECT_OK(holo_grammar_state_mask(start, first, &count, &error));
    for (int i = 0; i < 1500; i++) {
        bool opens = i % 100 == 0;
        EXPECT_OK(holo_grammar_state_accept_bytes(here, opens ? "[" : "abcabcabc", opens ? 1 : 9, NULL, &error));
        EXPECT_OK(holo_grammar_state_mask(here, mask, &count, &error));
    }
    assert_true(holo_memory_held() < 200 << 20); // 1500 masks of 122 KiB, and as many of tops
    EXPECT_OK(holo_grammar_state_mask(start, mask, &count, &error));
    assert_memory_equal(mask, first, WORDS * sizeof *mask);
    for (int i = 0; i < 15; i++) EXPECT_OK(holo_grammar_state_accept_bytes(here, "]", 1, NULL, &error));
    assert_true(holo_grammar_state_is_complete(here));
    EXPECT_FAIL(holo_grammar_state_accept_bytes(here, "]", 1, NULL, &error), HOLO_BAD_INPUT, "does not fit");
    holo_grammar_state_destroy(here);
    holo_grammar_state_destroy(start);
    holo_grammar_close(grammar);
    holo_token_tree_destroy(tree);
    free(list);
    free(mask);
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_json),
                                       cmocka_unit_test(test_states), cmocka_unit_test(test_branches),
                                       cmocka_unit_test(test_forgets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
