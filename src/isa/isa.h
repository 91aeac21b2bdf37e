// isa.h - portable programs: their parts, and how to build, check, print, store and run them.
//
// A program runs once for each lane of a launch. Lanes have typed registers, read scalar parameters, and read and write
// elements of array parameters, of arrays shared by a block of lanes, and of arrays of their own. docs/isa.md says what
// each instruction does. A program that holo_isa_check accepts can run on any arguments that fit its parameters: an
// index out of range, a division by zero or an endless loop is an error of the run, and nothing worse.
#ifndef HOLO_ISA_H
#define HOLO_ISA_H

#include "base/base.h"

// ---- instructions

// clang-format off
typedef enum HoloIsaOp {
#define OP(id, number, text, types, dst, a, b, c, d, how) HOLO_ISA_##id = number,
#include "isa/isa_ops.def"
#undef OP
    HOLO_ISA_OP_END = 160 // numbers are below
} HoloIsaOp;
// clang-format on

typedef enum HoloIsaKind { // of an operand
    HOLO_ISA_KIND_N,
    HOLO_ISA_KIND_T,
    HOLO_ISA_KIND_S,
    HOLO_ISA_KIND_P,
    HOLO_ISA_KIND_X,
    HOLO_ISA_KIND_G,
    HOLO_ISA_KIND_V,
    HOLO_ISA_KIND_M,
    HOLO_ISA_KIND_L,
} HoloIsaKind;

typedef enum HoloIsaHow { // what HoloIsaInst.how (of BITS, HoloIsaInst.bits) says
    HOLO_ISA_HOW_NONE,
    HOLO_ISA_HOW_TYPE,    // a HoloDtype
    HOLO_ISA_HOW_COND,    // a HoloIsaCond
    HOLO_ISA_HOW_OPER,    // a HoloIsaOper
    HOLO_ISA_HOW_SPECIAL, // a HoloIsaSpecial
    HOLO_ISA_HOW_BITS,
} HoloIsaHow;

#define HOLO_ISA_COND_MAP(X) X(EQ, 0, "eq") X(NE, 1, "ne") X(LT, 2, "lt") X(LE, 3, "le") X(GT, 4, "gt") X(GE, 5, "ge")

// The operations of reductions, scans and atomics. XCHG is only for atomics, and MUL is not for them. AND, OR and XOR
// are for integers and, in reductions, for predicates.
#define HOLO_ISA_OPER_MAP(X) \
    X(ADD, 0, "add")         \
    X(MUL, 1, "mul")         \
    X(MIN, 2, "min") X(MAX, 3, "max") X(AND, 4, "and") X(OR, 5, "or") X(XOR, 6, "xor") X(XCHG, 7, "xchg")

// Where a lane is. Sizes are in lanes (BLOCK_DIM, GLOBAL_DIM) or blocks (GRID_DIM). GLOBAL_X = BLOCK_X * BLOCK_DIM_X +
// LANE_X; GLOBAL_ID = (GLOBAL_Z * GLOBAL_DIM_Y + GLOBAL_Y) * GLOBAL_DIM_X + GLOBAL_X; LANE_ID the same inside a block.
#define HOLO_ISA_SPECIAL_MAP(X)         \
    X(LANE_X, 0, "lane_x")              \
    X(LANE_Y, 1, "lane_y")              \
    X(LANE_Z, 2, "lane_z")              \
    X(BLOCK_X, 3, "block_x")            \
    X(BLOCK_Y, 4, "block_y")            \
    X(BLOCK_Z, 5, "block_z")            \
    X(BLOCK_DIM_X, 6, "block_dim_x")    \
    X(BLOCK_DIM_Y, 7, "block_dim_y")    \
    X(BLOCK_DIM_Z, 8, "block_dim_z")    \
    X(GRID_DIM_X, 9, "grid_dim_x")      \
    X(GRID_DIM_Y, 10, "grid_dim_y")     \
    X(GRID_DIM_Z, 11, "grid_dim_z")     \
    X(GLOBAL_X, 12, "global_x")         \
    X(GLOBAL_Y, 13, "global_y")         \
    X(GLOBAL_Z, 14, "global_z")         \
    X(GLOBAL_DIM_X, 15, "global_dim_x") \
    X(GLOBAL_DIM_Y, 16, "global_dim_y") \
    X(GLOBAL_DIM_Z, 17, "global_dim_z") \
    X(GLOBAL_ID, 18, "global_id")       \
    X(LANE_ID, 19, "lane_id")

// clang-format off
#define X(id, value, text) HOLO_ISA_COND_##id = value,
typedef enum HoloIsaCond { HOLO_ISA_COND_MAP(X) HOLO_ISA_CONDS } HoloIsaCond;
#undef X
#define X(id, value, text) HOLO_ISA_OPER_##id = value,
typedef enum HoloIsaOper { HOLO_ISA_OPER_MAP(X) HOLO_ISA_OPERS } HoloIsaOper;
#undef X
#define X(id, value, text) HOLO_ISA_SPECIAL_##id = value,
typedef enum HoloIsaSpecial { HOLO_ISA_SPECIAL_MAP(X) HOLO_ISA_SPECIALS } HoloIsaSpecial;
#undef X
// clang-format on

// One instruction. Operands are numbers of registers, parameters or arrays, as the kinds of the instruction say.
// Operands that it does not have are 0.
typedef struct HoloIsaInst {
    uint16_t op;   // HoloIsaOp
    uint8_t  type; // HoloDtype; HOLO_BOOL is a predicate; HOLO_NONE: the instruction has no type
    uint8_t  how;
    uint16_t dst, a, b, c, d;
    uint64_t bits; // of a CONST: the number in the lowest bits, in its type
} HoloIsaInst;

enum { HOLO_ISA_OPERANDS = 5 }; // dst, a, b, c, d

// The table of instructions.
typedef struct HoloIsaOpInfo {
    const char *text;                    // NULL: there is no such instruction
    uint64_t    types;                   // a set of HOLO_BIT(..); 0: without a type
    uint8_t     kind[HOLO_ISA_OPERANDS]; // HoloIsaKind of dst, a, b, c, d
    uint8_t     how;                     // HoloIsaHow
} HoloIsaOpInfo;

const HoloIsaOpInfo *holo_isa_op(unsigned op);                  // NULL: there is none
HoloIsaOp            holo_isa_op_find(const char *text, int n); // the first n bytes; 0: there is none
const char          *holo_isa_how_text(HoloIsaHow how, int of); // "lt", "add", "global_id", "f32"; NULL: there is none
int                  holo_isa_how_find(HoloIsaHow how, const char *text, int n); // -1: there is none
uint16_t             holo_isa_operand(const HoloIsaInst *inst, int i);
void                 holo_isa_set_operand(HoloIsaInst *inst, int i, uint16_t value);
static inline bool   holo_isa_is_register(int kind)
{
    return kind >= HOLO_ISA_KIND_T && kind <= HOLO_ISA_KIND_X;
}

// ---- programs

enum {
    HOLO_ISA_MAX_PARAMS    = 64,
    HOLO_ISA_MAX_ARRAYS    = 64,    // shared ones, and local ones
    HOLO_ISA_MAX_SHARED    = 65536, // bytes of all shared arrays; each begins at a multiple of 64
    HOLO_ISA_MAX_LOCAL     = 4096,  // bytes of all local arrays of a lane
    HOLO_ISA_MAX_REGISTERS = 4096,
    HOLO_ISA_MAX_CODE      = 65535,
    HOLO_ISA_MAX_DEPTH     = 64,
    HOLO_ISA_MAX_NAME      = 63,
    HOLO_ISA_MAX_BLOCK     = 1024, // lanes of a block in cooperative programs
};

typedef enum HoloIsaAccess {
    HOLO_ISA_VALUE = 0, // a scalar
    HOLO_ISA_IN    = 1, // an array that is read
    HOLO_ISA_OUT   = 2, // written
    HOLO_ISA_INOUT = 3, // both
} HoloIsaAccess;

typedef struct HoloIsaParam {
    const char *name;
    uint8_t     type;   // HoloDtype: a number or HOLO_BOOL
    uint8_t     access; // HoloIsaAccess
} HoloIsaParam;

typedef struct HoloIsaArray { // shared or local
    const char *name;
    uint8_t     type;
    uint32_t    count;
} HoloIsaArray;

// Everything belongs to the arena that the program was made in. Names are letters, digits and _, and do not begin with
// a digit; all names of a program differ. A register has one type in the whole program.
typedef struct HoloIsaProgram {
    const char         *name;
    const HoloIsaParam *params;
    const HoloIsaArray *shared, *local;
    const uint8_t      *registers; // their types
    const HoloIsaInst  *code;
    int                 param_count, shared_count, local_count, register_count, count;
} HoloIsaProgram;

int  holo_isa_param_find(const HoloIsaProgram *program, const char *name); // -1: there is none
bool holo_isa_is_type(unsigned type);                                      // one of the 12 types of numbers, or bool
bool holo_isa_is_name(const char *name);
// Do lanes of a block work together: shared memory, barriers, reductions?
bool holo_isa_is_cooperative(const HoloIsaProgram *program);

// The validator: checks everything that a run relies on. The message names the instruction by its number, counted from
// 0, which is also in out_at; -1: it is not about an instruction.
HOLO_MUST HoloStatus holo_isa_check(const HoloIsaProgram *program, int *out_at, HoloError *error);

// ---- building
//
// A builder collects a program. Its functions do not fail: failures are kept and reported by holo_isa_finish, which
// also checks the program. Registers, parameters and arrays are numbered from 0 in the order in which they are made.
typedef struct HoloIsaBuilder {
    HoloArena     *arena;
    HoloIsaProgram program;
    HoloIsaParam  *params;
    HoloIsaArray  *shared, *local;
    uint8_t       *registers;
    HoloIsaInst   *code;
    int            param_room, shared_room, local_room, register_room, room;
    HoloStatus     status; // the first failure
    const char    *why;    // NULL: no memory
    int            at;     // the instruction that holo_isa_finish refuses; -1: none
} HoloIsaBuilder;

void holo_isa_begin(HoloIsaBuilder *b, HoloArena *arena, const char *name); // names are always copied
int  holo_isa_param(HoloIsaBuilder *b, const char *name, HoloDtype type, HoloIsaAccess access);
int  holo_isa_shared(HoloIsaBuilder *b, const char *name, HoloDtype type, uint32_t count);
int  holo_isa_local(HoloIsaBuilder *b, const char *name, HoloDtype type, uint32_t count);
int  holo_isa_register(HoloIsaBuilder *b, HoloDtype type); // a new one

void holo_isa_emit(HoloIsaBuilder *b, HoloIsaInst inst); // any instruction

// These make a new register for the result and return it. Operands that an instruction does not have are 0.
int holo_isa_const_int(HoloIsaBuilder *b, HoloDtype type, int64_t value);  // also for floats; as exactly as possible
int holo_isa_const_float(HoloIsaBuilder *b, HoloDtype type, double value); // also for integers, as CVT does
int holo_isa_value(HoloIsaBuilder *b, HoloIsaOp op, HoloDtype type, int a, int b_, int c);
int holo_isa_convert(HoloIsaBuilder *b, HoloDtype type, HoloDtype from, int a);
int holo_isa_compare(HoloIsaBuilder *b, HoloIsaCond cond, HoloDtype type, int a, int b_);
int holo_isa_special(HoloIsaBuilder *b, HoloDtype type, HoloIsaSpecial special);
int holo_isa_get_param(HoloIsaBuilder *b, int param); // of its type
int holo_isa_length(HoloIsaBuilder *b, HoloDtype type, int param);
int holo_isa_load(HoloIsaBuilder *b, HoloIsaOp op, int array, int index); // LD, LDS, LDL

void holo_isa_move(HoloIsaBuilder *b, int dst, int a);                             // MOV, of the type of dst
void holo_isa_store(HoloIsaBuilder *b, HoloIsaOp op, int array, int index, int a); // ST, STS, STL
void holo_isa_control(HoloIsaBuilder *b, HoloIsaOp op,
                      int predicate); // IF .. EXIT, BARRIER; predicate 0 if there is none

// Checks the program and gives it out. It lives as long as the arena.
HOLO_MUST HoloStatus holo_isa_finish(HoloIsaBuilder *b, HoloIsaProgram *out_program, HoloError *error);

uint64_t holo_isa_bits_of_int(HoloDtype type, int64_t value); // as a CONST holds it; also for floats and bool
uint64_t holo_isa_bits_of_float(HoloDtype type, double value);

// ---- text and bytes

// The text of a program that holo_isa_check accepts; holo_isa_parse reads it back as the same program. It ends with a 0
// byte and belongs to the arena; NULL: no memory. out_size may be NULL.
char *holo_isa_print(HoloArena *arena, const HoloIsaProgram *program, size_t *out_size);
// A message names the line of the mistake. The program is checked.
HOLO_MUST HoloStatus holo_isa_parse(HoloArena *arena, const char *text, size_t size, HoloIsaProgram *out_program,
                                    HoloError *error);

// The same as bytes, little-endian, with a magic and a version.
HOLO_MUST HoloStatus holo_isa_encode(HoloArena *arena, const HoloIsaProgram *program, uint8_t **out_bytes,
                                     size_t *out_size, HoloError *error);
// Reads bytes that may be anything. The program is checked and does not refer to the bytes.
HOLO_MUST HoloStatus holo_isa_decode(HoloArena *arena, const uint8_t *bytes, size_t size, HoloIsaProgram *out_program,
                                     HoloError *error);

// ---- running

// Blocks of lanes, and lanes of a block. Programs that are not cooperative take any block. There are at most 2^40
// lanes.
struct HoloStop;

typedef struct HoloIsaLaunch {
    uint32_t grid[3], block[3];
    int64_t  turns; // turns of loops that a lane may take in all; 0: any number
} HoloIsaLaunch;

typedef struct HoloIsaArg {
    void    *data;  // arrays: aligned as their elements are; arrays may overlap if the program allows it
    int64_t  count; // arrays: elements
    uint64_t bits;  // scalars, as in a CONST
} HoloIsaArg;

// Threads: run(team, count, work, arg) calls work(arg, i, worker) once for each 0 <= i < count, in any order. worker <
// threads differs between calls that run at the same time.
typedef struct HoloIsaTeam {
    void (*run)(void *team, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg);
    void *team;
    int   threads;
} HoloIsaTeam;

// How many lanes a kernel asks for. `rule` is a program of its scalars, in order, that writes one i64 behind them; if
// it has no instructions, the first whole number among the arguments counts. Gives a launch of at least so many lanes,
// in blocks of `block` lanes (0: any size); a grid of 0 blocks if there are none.
HOLO_MUST HoloStatus holo_isa_lanes(const HoloIsaProgram *program, const HoloIsaProgram *rule, const HoloIsaArg *args,
                                    int64_t *out_lanes, HoloError *error);
HOLO_MUST HoloStatus holo_isa_grid(int64_t lanes, const uint32_t block[3], HoloIsaLaunch *out, HoloError *error);

// The plain way: one lane after the other, each to the next barrier. The fast way is judged by it.
HOLO_MUST HoloStatus holo_isa_reference(const HoloIsaProgram *program, const HoloIsaLaunch *launch,
                                        const HoloIsaArg *args, HoloError *error);

// A checked program prepared for the fast way. Any number of threads may run it at the same time. It does not refer to
// `program`.
typedef struct HoloIsaCode HoloIsaCode;
HOLO_MUST HoloStatus holo_isa_code_create(const HoloIsaProgram *program, HoloIsaCode **out_code, HoloError *error);
void                 holo_isa_code_destroy(HoloIsaCode *code);

// The memory of one run at a time. It is kept between runs.
typedef struct HoloIsaFrame HoloIsaFrame;
HOLO_MUST HoloStatus        holo_isa_frame_create(const HoloIsaCode *code, int threads, HoloIsaFrame **out_frame,
                                                  HoloError *error);
void                        holo_isa_frame_destroy(HoloIsaFrame *frame);
int holo_isa_frame_failed(const HoloIsaFrame *frame); // the instruction that ended the last run; -1: none
// Runs in the frame check this between tiles and turns of loops from now on, and skip the rest once it is due: see
// base/stop.h. NULL: nothing ends them.
void holo_isa_frame_set_stop(HoloIsaFrame *frame, struct HoloStop *stop);
// Gives the same results as holo_isa_reference, bit for bit except for NaN, with any team (NULL: this thread alone),
// for programs without races.
HOLO_MUST HoloStatus holo_isa_run(const HoloIsaCode *code, HoloIsaFrame *frame, const HoloIsaTeam *team,
                                  const HoloIsaLaunch *launch, const HoloIsaArg *args, HoloError *error);

#endif
