// grammar.h - a grammar that is open, and the machine that runs it.
//
// A machine state is a set of places: nodes with the stack of calls that led there. Stacks are trees of frames, each there
// once. States, too, are there once, and their steps are kept: what was done before is a look into a table. When the
// machine has grown too large, what no state of the program needs is forgotten.
#ifndef HOLO_TEXT_GRAMMAR_H
#define HOLO_TEXT_GRAMMAR_H

#include "base/base.h"
#include "base/threads.h"
#include "hologram_text.h"
#include "text/grammar_block.h"
#include "text/unicode.h"

// ---- the vocabulary as a tree

typedef struct HoloTokenNode { // in the order of their bytes, children behind their parent
    uint32_t behind;           // the first node that is not below this one
    uint32_t first, own_end;   // in `order`: the tokens that end here; those below follow
    uint32_t sum;              // 1 + the number of what is known of all tokens from here on; 0: nothing is
    uint16_t depth;            // from 1
    uint8_t  byte;
} HoloTokenNode;

typedef struct HoloTokenSum { // of the tokens of a branch, from the byte of its node on
    uint64_t ascii[2];        // the characters below 128 that they have
    uint32_t bits;            // 1 + the number of a mask of these tokens; 0: there is none
    bool     has_wide;        // they have characters of several bytes, of which the last may be cut off
    bool     is_odd;          // some are not UTF-8
} HoloTokenSum;

enum { HOLO_TOKEN_BYTES_MAX = 1024 }; // a longer token is never allowed

struct HoloTokenTree {
    uint32_t       count; // ids are below it
    uint8_t       *text;
    size_t        *text_at; // [count + 1]
    uint32_t      *order;   // tokens by their bytes
    uint32_t       order_count;
    HoloTokenNode *node; // the last is behind all others
    uint32_t       node_count;
    HoloTokenSum  *sum;
    uint32_t       sum_count, sum_room;
    uint64_t      *bits; // masks of large branches
    uint32_t       bits_count;
    uint32_t      *end; // tokens that end a text
    size_t         end_count;
};

// In `order`: behind the tokens of a branch.
static inline uint32_t holo_tree_end(const HoloTokenTree *t, const HoloTokenNode *n)
{
    return n->behind < t->node_count ? t->node[n->behind].first : t->order_count;
}

// Finds the sums of branches. False: no memory.
bool holo_tree_sums(HoloTokenTree *t);

static inline HoloString holo_tree_token(const HoloTokenTree *t, uint32_t id)
{
    return (HoloString){(const char *)t->text + t->text_at[id], t->text_at[id + 1] - t->text_at[id]};
}

// Appends the bytes of a token. `spare` is memory for it.
void holo_token_bytes_add(const HoloTokenizer *t, uint32_t id, HoloGrowing *spare, HoloGrowing *out);

// ---- the machine

enum {
    HOLO_MACHINE_DEAD = 0, // the state that nothing fits
    HOLO_MACHINE_OVER = 1, // the same, because there are too many ways or too deep ones
    HOLO_PLACES_MAX   = 4096,
    HOLO_VISITS_MAX   = 1 << 16,
    HOLO_DEPTH_MAX    = 4000,
};
#define HOLO_UNKNOWN_STATE UINT32_MAX

typedef struct HoloGrammarPlace {
    uint32_t node, frame;
} HoloGrammarPlace;
typedef struct HoloGrammarFrame { // on at node `back`, with the stack `parent`; frame 0 is the bottom
    uint32_t back, parent, depth;
} HoloGrammarFrame;

typedef struct HoloMachineMask { // of a state, or of the top of its stack alone
    uint64_t *bit;
    uint32_t *open; // nodes of the tree that depend on what is below
    uint32_t  open_count, open_room, count;
} HoloMachineMask;

typedef struct HoloMachineState {
    uint32_t         first, count; // of its places
    uint32_t         row;          // of steps; HOLO_UNKNOWN_STATE: none yet
    uint32_t         hash;
    bool             can_end;
    bool             has_loops, loops_wide; // `loop` is known; characters of several bytes lead back to this state
    uint64_t         loop[2];               // and characters below 128
    HoloMachineMask *mask, *local;
} HoloMachineState;

typedef struct HoloMachineTable { // of numbers, by hash
    uint32_t *slot;               // 1 + number; 0: empty
    uint32_t  slots, used;
} HoloMachineTable;

typedef struct HoloMachine {
    HoloGrammarPlace *place;
    uint32_t          place_count, place_room;
    HoloGrammarFrame *frame;
    uint32_t          frame_count, frame_room;
    HoloMachineState *state;
    uint32_t          state_count, state_room;
    uint32_t         *row;
    uint32_t          row_count, row_room; // rows of class_count
    HoloMachineTable  states, frames;
    HoloGrammarPlace *result, *todo; // of the step that is being made
    uint32_t          result_count, result_room, todo_count, todo_room;
    HoloMachineTable  seen;
    bool              result_ends, is_over;
    size_t            bytes;     // held, about
    uint64_t          work;      // done since the call began
    bool              is_failed; // out of memory, or out of the bounds for work
} HoloMachine;

struct HoloGrammar {
    uint8_t                 *block;
    const HoloGrammarHeader *header;
    const uint8_t           *class_of;
    const HoloGrammarSet    *set;
    const HoloGrammarNode   *node;
    const HoloGrammarRule   *rule;
    const HoloTokenTree     *tree;
    HoloMutex                lock; // of all below
    HoloMachine              machine;
    uint32_t                 start; // the state at the beginning of a text
    HoloGrammarState        *states;
};

enum { HOLO_SHOWN_BYTES = 64 }; // of the text so far, for messages

struct HoloGrammarState {
    HoloGrammar      *grammar;
    HoloGrammarState *before, *behind; // in the list of the grammar
    uint32_t          now, moved;      // moved: while the machine is tidied
    bool              is_ended;        // by an end token
    uint8_t           shown[HOLO_SHOWN_BYTES];
    size_t            size; // of the text so far
};

// Empties the machine, and makes the start state. False: no memory.
bool holo_machine_begin(HoloGrammar *g);
void holo_machine_deinit(HoloMachine *m);
// The state that a byte of the class leads to.
uint32_t holo_machine_step_slow(HoloGrammar *g, uint32_t state, uint32_t class);
// The state without what all its stacks have in common, and how deep that is; itself, if that is nothing.
uint32_t holo_machine_top(HoloGrammar *g, uint32_t state, uint32_t *out_depth);
// Forgets what no state of the program needs, if there is much. False: out of memory.
bool holo_machine_tidy(HoloGrammar *g);

static inline bool holo_machine_is_dead(uint32_t state)
{
    return state <= HOLO_MACHINE_OVER;
}
static inline uint32_t holo_machine_step(HoloGrammar *g, uint32_t state, uint8_t byte)
{
    const HoloMachine *m = &g->machine;
    uint32_t class = g->class_of[byte], row = m->state[state].row;
    uint32_t next = row == HOLO_UNKNOWN_STATE ? row : m->row[(size_t)row * g->header->class_count + class];
    return next == HOLO_UNKNOWN_STATE ? holo_machine_step_slow(g, state, class) : next;
}

// Is the machine in the same state behind each of these tokens, or in the middle of a character?
bool holo_machine_stays(HoloGrammar *g, uint32_t state, const HoloTokenSum *sum);

// The mask of a state; NULL: machine.is_failed.
const HoloMachineMask *holo_machine_mask(HoloGrammar *g, uint32_t state);

#endif
