// grammar_block.h - a compiled grammar: one block of tables, the same wherever it lies.
//
// A grammar is an automaton with a stack, over classes of bytes. Each rule is a network of nodes from its start to an END.
// The compiler (src/vocabulary/) writes it, and this room reads it. All places are byte offsets from the beginning of the
// block, all numbers little-endian, every list aligned to 8 bytes. Opening checks every number that is later used as a
// place.
#ifndef HOLO_TEXT_GRAMMAR_BLOCK_H
#define HOLO_TEXT_GRAMMAR_BLOCK_H

#include "text/tokenizer_block.h"

#define HOLO_GRAMMAR_MAGIC "HOLORULE"
enum { HOLO_GRAMMAR_VERSION = 1, HOLO_GRAMMAR_NODES_MAX = 1 << 18, HOLO_GRAMMAR_RULES_MAX = 1 << 16 };

typedef enum HoloGrammarNodeKind {
    HOLO_NODE_SET,   // one byte whose class is in set x, then on at y
    HOLO_NODE_SPLIT, // on at x, and at y
    HOLO_NODE_CALL,  // rule x, then on at y
    HOLO_NODE_END,   // of the rule
    HOLO_NODE_KINDS,
} HoloGrammarNodeKind;

typedef struct HoloGrammarNode {
    uint32_t kind, x, y;
} HoloGrammarNode;

typedef struct HoloGrammarRule {
    uint32_t     start; // a node
    HoloTextSpan name;  // bytes
} HoloGrammarRule;

typedef struct HoloGrammarSet { // a bit for each class of bytes
    uint64_t word[4];
} HoloGrammarSet;

typedef struct HoloGrammarHeader {
    char         magic[8];
    uint32_t     version, size; // bytes of the block
    uint32_t     root;          // a rule
    uint32_t     class_count;
    HoloTextSpan classes; // uint8_t[256]: the class of each byte
    HoloTextSpan sets;    // HoloGrammarSet
    HoloTextSpan nodes;   // HoloGrammarNode
    HoloTextSpan rules;   // HoloGrammarRule
    HoloTextSpan text;    // bytes of names
} HoloGrammarHeader;

#endif
