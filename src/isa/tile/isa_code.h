// isa_code.h - the inside of the fast interpreter: a prepared program, and a tile of lanes that runs it.
//
// A tile is a run of lanes: of a line of the grid or, in cooperative programs, of a block. In each tile, a register
// holds one number for all lanes, a run of numbers (base + lane * step), or a vector with a number for each lane, as
// needed. So addresses and counters are computed once for a tile, neighboring elements in memory are read and written
// in place, and only what differs from lane to lane takes a loop.
#ifndef HOLO_ISA_TILE_ISA_CODE_H
#define HOLO_ISA_TILE_ISA_CODE_H

#include "base/stop.h"
#include "isa/isa.h"
#include "kernels/kernels.h"
#include "kernels/tiles/tiles.h"

// ---- code

enum { HOLO_ISA_NEVER = 255 }; // HoloIsaStep.keep

typedef struct HoloIsaStep {
    HoloIsaInst inst;
    int32_t     at;    // the number of the instruction in the program
    uint8_t     width; // log2 of the bytes of the type
    uint8_t
        keep; // lanes of this frame's parent that are not active keep what dst held (HOLO_ISA_NEVER: nobody reads it)
    uint8_t   inputs; // registers that it reads: 1 to 3, in a, b, c, of instructions that have a tile
    bool      lend;   // loads: nothing is written before the last use of dst, which may be the array itself
    bool      join;   // dst is stored by the next step, and used nowhere else: it may be made where it will lie
    bool      is_float, is_signed;
    bool      is_small; // f16 or bf16: `tile` is that of f32
    bool      swaps;    // a comparison of b with a
    bool      is_read;  // dst is read somewhere
    bool      is_plain; // a tile of floats that are not small: no runs, nothing that fails
    bool      dies;     // the next step is the last to see dst
    uint8_t   chain;    // steps from here on that can be done together; at most 1: none
    bool      is_sum;   // adds a product to dst, in a loop
    bool      is_aside; // sums can be put off beyond it
    int32_t   target;   // of control, see holo_isa_targets
    HoloTile *tile;     // NULL: done in another way
} HoloIsaStep;

struct HoloIsaCode {
    char                   name[HOLO_ISA_MAX_NAME + 1];
    HoloArena              arena; // of all that follows
    HoloIsaParam          *params;
    HoloIsaArray          *shared, *local;
    uint8_t               *types;         // of registers
    uint8_t               *width;         // of registers: log2 of their bytes
    uint32_t              *slot;          // of registers: where their vectors are, in bytes for each lane of a tile
    uint16_t              *kept;          // registers that some step keeps
    HoloIsaStep           *steps, *fixed; // fixed: those that give the same in every tile, to be done once in a launch
    const HoloTiles       *tiles;
    const HoloKernelTable *kernels; // for f16 and bf16
    int                    param_count, register_count, count, fixed_count, kept_count, depth;
    uint32_t               slot_bytes, hot_bytes; // for each lane; hot: of registers that are vectors in most tiles
    int                    lanes;                 // of a tile; of one of cooperative programs, at most
    bool                   is_cooperative;
    bool                   is_serial; // the order of blocks shows, in atomics: see docs/isa.md, Order
    bool                   is_flat;   // lanes know only their number in the launch
    bool                   has_block; // lanes know their place in the block
    int32_t                cut_param; // that the number of a lane is divided by (-1: none): tiles end at its multiples
    uint64_t               cut;       // the same, a constant (0: none)
    uint32_t               shared_at[HOLO_ISA_MAX_ARRAYS], shared_count[HOLO_ISA_MAX_ARRAYS], shared_bytes;
    uint32_t local_at[HOLO_ISA_MAX_ARRAYS], local_count[HOLO_ISA_MAX_ARRAYS], local_bytes; // for each lane
};

// As holo_isa_code_create, for a level of your choice.
HOLO_MUST HoloStatus holo_isa_code_create_for(const HoloIsaProgram *program, const HoloTiles *tiles,
                                              HoloIsaCode **out_code, HoloError *error);

int holo_isa_tile_type(unsigned type); // HoloTileType; of f16 and bf16 that of f32, of bool that of u8
int holo_isa_width(unsigned type);     // log2 of its bytes

// Liveness: fills keep, lend, join, dies and is_read of steps, and slots. False: no memory.
bool holo_isa_live(HoloIsaCode *code);

bool holo_isa_is_link(const HoloIsaStep *step); // it can be done together with others
void holo_isa_find_chains(HoloIsaCode *code);   // fills chain
void holo_isa_find_sums(HoloIsaCode *code);     // fills is_sum and is_aside

// ---- tiles

typedef enum HoloIsaTag {
    HOLO_ISA_ONE,  // base; step is 0
    HOLO_ISA_RUN,  // numbers: base + lane * step modulo the type's range. Predicates: true for base <= lane < step
    HOLO_ISA_EACH, // data[lane]
} HoloIsaTag;

typedef struct HoloIsaRegister {
    uint64_t base, step;
    uint8_t *data; // of lane 0, which need not be there
    uint8_t *own;  // the register's slot
    uint8_t  tag;
} HoloIsaRegister;

typedef struct HoloIsaSet { // of lanes
    int32_t  lo, hi;        // all of it is from lo on and before hi
    int32_t  count;         // how many
    uint8_t *mask;          // which; NULL: all from lo to hi
} HoloIsaSet;

typedef struct HoloIsaScope { // an if or a loop that a tile is in; the first is the whole program
    HoloIsaSet now;
    HoloIsaSet rest;      // of an if: the lanes of its else; of a loop: those that have not left it
    uint8_t   *buffer[2]; // for their masks
    int32_t    next;      // where to go when no lane is left here: ELSE or END
    bool       is_loop;
} HoloIsaScope;

typedef struct HoloIsaSum { // products that are to be added to a register
    int32_t       of;       // the register; -1: there are none
    int32_t       lo, hi;   // lanes
    int           numbers;
    float         number[2 * HOLO_TILE_LINKS]; // factors that are the same for all lanes
    HoloTileChain links;
} HoloIsaSum;

typedef struct HoloIsaTile {
    const HoloIsaCode   *code;
    const HoloIsaLaunch *launch;
    const HoloIsaArg    *args;
    HoloIsaRegister     *r;
    HoloIsaScope        *scope;
    int                  depth;      // the innermost scope
    int32_t              lanes;      // of the tile
    uint8_t             *scratch[4]; // 8 bytes for each lane
    uint8_t             *shared, *local;
    int64_t             *turns;
    HoloStop            *stop; // NULL: nothing ends it
    HoloIsaSum           sum;
    bool                 is_shared_memory; // other threads run, too
    // Where the tile is: for a line, the position of lane 0 in the launch; for a block, its position in the grid.
    uint32_t place[3];
    uint64_t first; // is_flat: the number of lane 0
    // A failure: what, where, which lane.
    const char *why; // NULL: an index is out of range
    int32_t     at, lane;
    uint64_t    index; // that index, of an array of so many elements
    int64_t     count;
} HoloIsaTile;

void holo_isa_tile_begin(HoloIsaTile *tile); // once in a launch: fixed steps
// Runs the tile from the first step to the last. False: it failed.
bool holo_isa_tile_run(HoloIsaTile *tile);

bool holo_isa_tile_fail(HoloIsaTile *tile, const HoloIsaStep *step, int32_t lane, const char *why); // false
// A step on registers alone. *out_is_stored: the next step, a store, is done, too.
bool holo_isa_tile_value(HoloIsaTile *tile, const HoloIsaStep *step, bool *out_is_stored);
void holo_isa_tile_floats(HoloIsaTile *tile, const HoloIsaStep *step, bool *out_is_stored); // the same, is_plain
// A chain of steps. Returns how many were done; 0: none. *out_is_stored: a store behind them is done, too.
int holo_isa_tile_chain(HoloIsaTile *tile, const HoloIsaStep *step, bool *out_is_stored);
// Delays a step that is_sum; false: it cannot. And does what was delayed.
bool holo_isa_tile_sum(HoloIsaTile *tile, const HoloIsaStep *step);
void holo_isa_tile_sum_end(HoloIsaTile *tile);
// The most common steps, on integers that are not vectors. False: not done.
bool holo_isa_tile_quick(HoloIsaTile *tile, const HoloIsaStep *step);
bool holo_isa_tile_runs(HoloIsaTile *tile, const HoloIsaStep *step); // false: not done, lanes must be looked at
bool holo_isa_tile_memory(HoloIsaTile *tile, const HoloIsaStep *step);
bool holo_isa_tile_together(HoloIsaTile *tile, const HoloIsaStep *step);
bool holo_isa_tile_special(HoloIsaTile *tile, const HoloIsaStep *step);

// ---- for all of these files

static inline HoloIsaSet *holo_isa_now(HoloIsaTile *t)
{
    return &t->scope[t->depth].now;
}

// Must some inactive lanes keep what the register held?
static inline bool holo_isa_keeps(const HoloIsaTile *t, const HoloIsaStep *step)
{
    return step->keep != HOLO_ISA_NEVER && t->scope[step->keep].now.count != t->scope[t->depth].now.count;
}

// Numbers of all lanes of the set, or one for all (*out_is_one). What is not a vector is expanded in scratch `k`.
const uint8_t *holo_isa_read(HoloIsaTile *t, unsigned r, int k, bool *out_is_one);
// The same for lanes from..to, always as a vector. Returns where lane 0 is.
const uint8_t *holo_isa_read_each(HoloIsaTile *t, unsigned r, int k, int32_t from, int32_t to);

// Where the vector of a step's result goes; points to lane 0. It becomes the register's by holo_isa_done.
uint8_t *holo_isa_begin_each(HoloIsaTile *t, const HoloIsaStep *step);
void     holo_isa_done(HoloIsaTile *t, const HoloIsaStep *step, int width, uint8_t *data);
// A result that is not a vector, as in HoloIsaRegister; and a number, or a run, of the step's type.
void holo_isa_set_value(HoloIsaTile *t, const HoloIsaStep *step, HoloIsaTag tag, uint64_t base, uint64_t by);
void holo_isa_set_run(HoloIsaTile *t, const HoloIsaStep *step, uint64_t base, uint64_t increment);

// Where the next step stores the result of this one, if it can be computed there: the place of lane 0; NULL: it cannot.
uint8_t *holo_isa_joined(HoloIsaTile *t, const HoloIsaStep *step);

static inline uint64_t holo_isa_cut(int width, uint64_t bits) // to the bits of a width
{
    return width == 3 ? bits : bits & ((UINT64_C(1) << (8 << width)) - 1);
}

// The array that a memory step accesses: a parameter or a shared one.
typedef struct HoloIsaSpan {
    uint8_t *data;
    int64_t  count;
} HoloIsaSpan;
HoloIsaSpan holo_isa_span(const HoloIsaTile *t, const HoloIsaStep *step);
// The indices of a step for all lanes from the first of the set on, with 32 or, *out_wide, 64 bits; 0 for inactive
// lanes. They may be in scratch 0. NULL: failed, since one is not below `count`.
const uint8_t *holo_isa_indices(HoloIsaTile *t, const HoloIsaStep *step, int64_t count, int *out_wide);

// The first and the last number of a run over the set, in 64 bits. False: it wraps in its type, or is not a run.
bool holo_isa_ends(HoloIsaTile *t, unsigned r, int64_t *out_first, int64_t *out_last);

#endif
