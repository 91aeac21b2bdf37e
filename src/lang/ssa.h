// ssa.h - a kernel as typed values: what types and names were resolved to, and what is optimized.
//
// Values that only depend on other values (PURE) have no place: equal ones are one, constants are folded when they are
// made, and schedule.c puts them where they are needed, outside of loops where it can. What reads memory or may fail
// (PINNED) and what does something (EFFECT) stands in the list of its region. Regions are the branches of an IF and the
// bodies of a LOOP, which are effects themselves. A variable that is assigned in branches or in a loop is a PHI there.
//
// A value's operands are made before it; only what a loop gives back to its PHI comes later.
#ifndef HOLO_LANG_SSA_H
#define HOLO_LANG_SSA_H

#include "isa/isa.h"
#include "lang/ast.h"

enum { HOLO_SSA_NODES = 60000 }; // of one kernel; what helpers and unrolled loops come to

typedef enum HoloSsaKind {
    HOLO_SSA_PURE,
    HOLO_SSA_PINNED,   // has a place and a value, and is left out where nobody needs that
    HOLO_SSA_EFFECT,   // has a place; `op` says what it does. IF, LOOP: `region` and `other`
    HOLO_SSA_PHI,      // in[0] and in[1] of the two branches of `owner`
    HOLO_SSA_LOOP_PHI, // in[0] before the loop `owner`, in[1] at the end of each turn
    HOLO_SSA_LOOP_OUT, // what the LOOP_PHI in[0] is behind the loop
    HOLO_SSA_COPY,     // an effect: gives the LOOP_PHI `owner` the value in[0], before leaving a turn
} HoloSsaKind;

typedef struct HoloSsaNode {
    uint16_t        op; // HoloIsaOp
    uint8_t         kind, type, how;
    uint16_t        array; // number of the array or parameter of the instruction
    int             in[3]; // operands; -1: none
    uint64_t        bits;
    int             region; // PURE: the innermost region that an operand is from; else where it stands
    int             owner;  // see HoloSsaKind; -1: none
    int             body, other;
    int             epoch; // of what reads memory: equal only if nothing was written between
    int             same;  // the next node of its hash; -1: none
    HoloSourcePlace where; // in the source
    // schedule.c
    bool needed;
    int  uses;             // by needed nodes
    int  place, at, after; // where a PURE one is computed: before effect `at` of region `place`; the next such
    int  back_of;          // the LOOP_PHI that it is given to at the end of a turn; -1: none
    int  reg;              // register; -1: none yet
} HoloSsaNode;

typedef struct HoloSsaRegion {
    int  parent, owner; // -1: the kernel itself
    int  at;            // of the owner in its region
    int  depth, loops;  // regions and loops around
    int *list;          // effects and pinned values, in order
    int  count, room;
    int *first; // schedule.c: PURE nodes before each effect, and behind the last
} HoloSsaRegion;

typedef struct HoloSsa {
    HoloArena      *arena;
    HoloSsaNode    *node;
    int             count, room;
    HoloSsaRegion  *region;
    int             region_count, region_room;
    int             here;  // region that grows
    int             epoch; // of memory
    int            *hash;  // heads of chains
    bool            full;  // too many nodes, or no memory: what follows means nothing
    bool            fused; // a * b + c may be rounded once
    HoloSourcePlace where; // in the source, of nodes that are made now
} HoloSsa;

HOLO_MUST bool holo_ssa_init(HoloSsa *s, HoloArena *arena); // false: no memory

// Each gives a node's number, or 0 when s->full is set: nodes can be made without looking at each.
int holo_ssa_const(HoloSsa *s, HoloDtype type, uint64_t bits);
int holo_ssa_int(HoloSsa *s, HoloDtype type, int64_t value); // floats too
int holo_ssa_float(HoloSsa *s, HoloDtype type, double value);
int holo_ssa_pure(HoloSsa *s, HoloIsaOp op, HoloDtype type, int a, int b, int c);
int holo_ssa_convert(HoloSsa *s, HoloDtype type, int a);
int holo_ssa_compare(HoloSsa *s, HoloIsaCond cond, int a, int b);
int holo_ssa_select(HoloSsa *s, int condition, int a, int b);
int holo_ssa_not(HoloSsa *s, int a);
// Any other node: PURE ones and PINNED ones that are there already are not made again.
int holo_ssa_add(HoloSsa *s, HoloSsaNode node);
int holo_ssa_effect(HoloSsa *s, HoloIsaOp op, int a); // control, barriers

int  holo_ssa_region(HoloSsa *s, int owner, bool is_loop); // a new one inside of the current one
void holo_ssa_writes(HoloSsa *s);                          // memory is not what it was
bool holo_ssa_is_const(const HoloSsa *s, int n, uint64_t *out_bits);
bool holo_ssa_int_value(const HoloSsa *s, int n, int64_t *out); // of a constant of an integer type
// The type of its value: of a comparison bool, though its `type` is that of what is compared.
static inline HoloDtype holo_ssa_type(const HoloSsa *s, int n)
{
    return s->node[n].op == HOLO_ISA_SET ? HOLO_BOOL : (HoloDtype)s->node[n].type;
}

// ssa_fold.c: the number of an equal, simpler node; -1: there is none.
int holo_ssa_fold(HoloSsa *s, const HoloSsaNode *node);

// schedule.c and emit.c: to a checked program. The builder has its parameters and arrays already. out_where: of each
// instruction, in the source.
HOLO_MUST HoloStatus holo_ssa_schedule(HoloSsa *s, HoloError *error);
HOLO_MUST HoloStatus holo_ssa_emit(HoloSsa *s, HoloIsaBuilder *b, const HoloSourcePlace **out_where, HoloError *error);

#endif
