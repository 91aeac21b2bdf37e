// pieces.h - vocabularies of SentencePiece, as its own files and GGUF have them.
#ifndef HOLO_VOCABULARY_PIECES_H
#define HOLO_VOCABULARY_PIECES_H

#include "vocabulary/vocabulary.h"

typedef enum HoloPieceKind { // as both formats number them
    HOLO_PIECE_NORMAL = 1,
    HOLO_PIECE_UNKNOWN,
    HOLO_PIECE_CONTROL,
    HOLO_PIECE_USER,
    HOLO_PIECE_UNUSED,
    HOLO_PIECE_BYTE,
    HOLO_PIECE_KINDS,
} HoloPieceKind;

typedef struct HoloPieceRules {
    bool is_one_word;   // a text is not cut into words
    bool adds_space;    // a text begins with a space
    bool merges_spaces; // several spaces are one, and none is at the end
    bool is_first_only; // of one word: the space is at the beginning of a text alone, and not behind special tokens
    bool strips;        // text that is decoded has no space at its ends
    bool is_suffix;     // spaces belong to the word before them
} HoloPieceRules;

// The steps before and behind the model; what comes before them, such as a map of characters, must be there already.
HOLO_MUST HoloStatus holo_piece_steps(HoloVocabulary *v, const HoloPieceRules *rules, HoloError *error);
// Makes an added token of one that is found in text as a whole. `strips`: HOLO_ADDED_LSTRIP, HOLO_ADDED_RSTRIP.
HOLO_MUST HoloStatus holo_piece_add_special(HoloVocabulary *v, uint32_t id, HoloPieceKind kind, uint32_t strips,
                                            HoloError *error);

#endif
