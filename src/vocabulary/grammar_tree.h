// grammar_tree.h - grammars while they are compiled: rules as trees, then as the networks of a block.
//
// Every source becomes trees: GBNF, regular expressions and JSON Schema. The builder turns them into nodes over bytes, refuses
// left recursion, drops what can never end, and writes the block (text/grammar_block.h).
#ifndef HOLO_VOCABULARY_GRAMMAR_TREE_H
#define HOLO_VOCABULARY_GRAMMAR_TREE_H

#include "hologram_text.h"
#include "text/grammar_block.h"
#include "vocabulary/pattern.h"
#include "vocabulary/vocabulary.h"

typedef enum HoloTreeKind {
    HOLO_TREE_TEXT,   // these bytes
    HOLO_TREE_SET,    // one code point
    HOLO_TREE_AND,    // children one after the other; none: nothing
    HOLO_TREE_OR,     // one of its children
    HOLO_TREE_REPEAT, // its child, `min` to `max` times (-1: any number)
    HOLO_TREE_RULE,   // the rule of this number
    HOLO_TREE_WORDS,  // one of many texts
    HOLO_TREE_CHAIN,  // children in order, with commas between those that are there; see HoloTreeMember
    HOLO_TREE_BUT,    // what is left of a JSON string behind its first quote, if it is none of these texts
} HoloTreeKind;

typedef enum HoloTreeMember { HOLO_MEMBER_REQUIRED, HOLO_MEMBER_OPTIONAL, HOLO_MEMBER_MANY } HoloTreeMember;

typedef struct HoloTree HoloTree;
struct HoloTree {
    HoloTreeKind   kind;
    HoloString     text;
    HoloCodeSet    set;
    bool           is_quoted; // SET: as it is written in a JSON string
    int            min, max;
    uint32_t       rule;
    HoloTreeMember member;              // of a child of CHAIN
    HoloString    *words;               // of WORDS and BUT
    size_t         word_count;          //
    HoloTree      *between;             // of CHAIN
    HoloTree      *child, *last, *next; // first and last child; next sibling
};

typedef struct HoloGrammarRuleText {
    HoloString name;
    HoloTree  *tree; // NULL: not defined
    uint32_t   start;
} HoloGrammarRuleText;

typedef struct HoloGrammarBuilder { // zero-initialize, with an arena
    HoloArena           *arena;
    HoloError           *error;
    HoloGrammarRuleText *rule;
    int                  rule_count, rule_room;
    HoloGrammarNode     *node;
    int                  node_count, node_room;
    HoloGrammarSet      *set; // bytes, until classes are known
    int                  set_count, set_room;
    uint64_t             work;   // pieces of trees that were put
    HoloStatus           status; // the first failure; all functions do nothing behind it
} HoloGrammarBuilder;

// ---- trees. NULL: builder->status

HoloTree *holo_tree_new(HoloGrammarBuilder *b, HoloTreeKind kind);
HoloTree *holo_tree_text(HoloGrammarBuilder *b, const char *text);
HoloTree *holo_tree_bytes(HoloGrammarBuilder *b, HoloString text);
HoloTree *holo_tree_rule(HoloGrammarBuilder *b, uint32_t rule);
HoloTree *holo_tree_repeat(HoloGrammarBuilder *b, HoloTree *child, int min, int max);
void      holo_tree_add(HoloTree *parent, HoloTree *child); // accepts NULL

// A rule of this name, new if there is none. UINT32_MAX: builder->status.
uint32_t             holo_grammar_rule(HoloGrammarBuilder *b, HoloString name);
HOLO_MUST HoloStatus holo_grammar_fail(HoloGrammarBuilder *b, HoloStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// A regular expression as a tree. `is_search`: it may match a part of the text, and then anything may be around it.
// `is_quoted`: the text is the inside of a JSON string. `where` names it in errors.
HoloTree *holo_tree_of_pattern(HoloGrammarBuilder *b, HoloString pattern, bool is_search, bool is_quoted,
                               const char *where);

// ---- nodes (grammar_nodes.c): each is put in front of `next`

uint32_t holo_node_put(HoloGrammarBuilder *b, uint32_t kind, uint32_t x, uint32_t y);
uint32_t holo_node_either(HoloGrammarBuilder *b, uint32_t x, uint32_t y); // UINT32_MAX: nothing
uint32_t holo_node_text(HoloGrammarBuilder *b, HoloString text, uint32_t next);
uint32_t holo_node_codes(HoloGrammarBuilder *b, const HoloCodeSet *set, uint32_t next);
uint32_t holo_node_words(HoloGrammarBuilder *b, HoloString *words, size_t count, uint32_t next);
uint32_t holo_node_but(HoloGrammarBuilder *b, HoloString *words, size_t count, uint32_t any_rest, uint32_t next);

// ---- the block: the first rule is the root

HOLO_MUST HoloStatus holo_grammar_finish(HoloGrammarBuilder *b, HoloVocabularyBytes *out);
// Checks that rules end, and do not begin with themselves (grammar_checks.c).
void holo_grammar_check_rules(HoloGrammarBuilder *b);

// ---- the sources

// Adds rules in GBNF.
HOLO_MUST HoloStatus holo_grammar_add_gbnf(HoloGrammarBuilder *b, HoloString text);
HOLO_MUST HoloStatus holo_grammar_read_gbnf(HoloGrammarBuilder *b, HoloString text, HoloGrammarSpaces spaces);
HOLO_MUST HoloStatus holo_grammar_read_regex(HoloGrammarBuilder *b, HoloString text, HoloGrammarSpaces spaces);
HOLO_MUST HoloStatus holo_grammar_read_schema(HoloGrammarBuilder *b, HoloString text, HoloGrammarSpaces spaces);

#endif
